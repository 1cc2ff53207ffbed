//! Whole-line stores: stores that write each cache line that they touch from end to end. Only such stores stream.
//!
//! Buffers start at a cache line, so the index must be a multiple of the lanes unless the store states its alignment.
//! The greatest known power-of-two divisor of each index follows from those of its operands.

use fuser_dialects::kernel;
use fuser_dialects::kernel::rounds::literal;
use fuser_ir::def::Computes;
use fuser_ir::{AttrKind, DType, Op, TypeKind, Value};

use super::Lowering;
use crate::error::CodegenError;
use crate::expr::Val;
pub(super) use crate::lower::shared_lines::LINE;
use crate::lower::shared_lines::SharedLine;
use inkwell::values::PointerValue;

/// The divisor that is given to zero.
const MOST: u64 = 1 << 62;

impl<'a, 'ctx> Lowering<'a, 'ctx> {
    /// A power of two that divides an index.
    pub(super) fn divisor(&self, value: Value) -> u64 {
        let constant = self
            .ir
            .def_op(value)
            .and_then(|op| self.ir.attr_of(op, "value"));
        match constant {
            Some(AttrKind::Int { value: 0, .. }) => MOST,
            Some(AttrKind::Int { value, .. }) => 1 << value.trailing_zeros().min(62),
            _ => self.divisors.get(&value).copied().unwrap_or(1),
        }
    }

    /// Notes the divisors of all indices of a CPU's function.
    pub(super) fn note_divisors(&mut self) {
        for op in self.ir.walk(self.func) {
            let counter = self.ir.body(op, 0).and_then(|b| self.ir.args(b).first());
            match counter.filter(|_| self.ir.is(op, &kernel::FOR)) {
                Some(&counter) => self.note_counter(op, counter),
                None => self.note_divisor(op),
            }
        }
    }

    /// Records a divisor of the result of `op`, if an aligned store may need it.
    fn note_divisor(&mut self, op: Op) {
        let computes = self.ir.computes(op);
        use Computes::{Add, And, Max, Min, Mul, Rem, Sub};
        let known = [Add, Sub, Mul, And, Min, Max, Rem].map(Some);
        if self.emit.has_threads() || !known.contains(&computes) {
            return;
        }
        let [a, b] = [0, 1].map(|index| self.divisor(self.ir.operand(op, index)));
        let divisor = match computes {
            Some(Mul) => a.saturating_mul(b).min(MOST),
            Some(And) => a.max(b),
            Some(Rem) if self.leaves_nothing(op) => MOST,
            _ => a.min(b),
        };
        self.divisors.insert(self.ir.result(op, 0), divisor);
    }

    /// True for a remainder of an index that is zero.
    pub(super) fn leaves_nothing(&self, op: Op) -> bool {
        let ir = self.ir;
        if ir.computes(op) != Some(Computes::Rem)
            || ir.value_kind(ir.result(op, 0)) != &TypeKind::Scalar(DType::Index)
        {
            return false;
        }
        let by = literal(ir, ir.operand(op, 1)).and_then(|by| u64::try_from(by).ok());
        by.is_some_and(|by| by > 0 && self.divisor(ir.operand(op, 0)).is_multiple_of(by))
    }

    /// Records a divisor of the counter of the loop `op`, derived from its first value and its step.
    fn note_counter(&mut self, op: Op, counter: Value) {
        let [lower, step] = [0, 2].map(|index| self.divisor(self.ir.operand(op, index)));
        self.divisors.insert(counter, lower.min(step));
    }

    /// True if the store `op` of `value` writes whole lines to a streamed buffer.
    pub(super) fn streams(&self, op: Op, value: Val<'a, 'ctx>) -> bool {
        let lanes = value.lanes().unwrap_or(1);
        let next = self.ir.int_of(op, "stride").is_none();
        let whole = next && (lanes * value.elem().bits()).is_multiple_of(8 * LINE);
        let [memory, index] = [1, 2].map(|operand| self.ir.operand(op, operand));
        whole
            && self.streamed.contains(&memory)
            && (self.divisor(index).is_multiple_of(u64::from(lanes))
                || self.ir.int_of(op, "align") >= Some(i64::from(LINE)))
    }

    /// Reserves a place for the shared lines of each streamed buffer whose stores state their alignment: its rows are
    /// aligned to lines.
    pub(super) fn share_lines(&mut self) -> Result<(), CodegenError> {
        let says = |&store: &Op| self.ir.int_of(store, "align") >= Some(i64::from(LINE));
        let mut shared: Vec<Value> = self.streamed.iter().copied().collect();
        shared.retain(|&memory| self.ir.users(memory).any(|store| says(&store)));
        shared.sort_unstable();
        for memory in shared {
            let line = SharedLine::new(self.emit)?;
            self.shared_lines.push((memory, line));
        }
        Ok(())
    }

    /// True for a buffer in which parts of lines are stored elsewhere first.
    pub(super) fn shares_lines(&self, memory: Value) -> bool {
        self.shared_lines.iter().any(|(of, _)| *of == memory)
    }

    /// The address at which to store `bytes` bytes of an incomplete line that belong at `address`.
    pub(super) fn in_its_line(
        &self,
        memory: Value,
        bytes: Val<'a, 'ctx>,
        address: PointerValue<'ctx>,
    ) -> Result<PointerValue<'ctx>, CodegenError> {
        let line = self.shared_lines.iter().find(|(of, _)| *of == memory);
        let Some((_, line)) = line else {
            return Ok(address);
        };
        line.part(self.emit, address, bytes)
    }
}
