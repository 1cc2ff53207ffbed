//! Running extremes: the greatest or least value in a loop, with a dependence of one instruction between iterations.
//!
//! `fusion.maximum` and `fusion.fmax` take at least five dependent instructions on x86, and the next iteration waits
//! for their result. A loop whose carried value has no other use keeps several independent parts instead. NaN and the
//! signs of zero are resolved after the loop, from these extremes of the bits `b` of its values:

use fuser_ir::{DType, Op, Value};
use inkwell::values::BasicValueEnum;

use super::{Lowering, malformed};
use crate::error::CodegenError;
use crate::expr::{Elem, Val};
use crate::lower::arith::{self, Extreme, Way};

/// A running extreme at some point of its loop, in the parts that [`start`] creates.
pub(super) struct Running<'ctx> {
    extreme: Extreme,
    parts: Vec<BasicValueEnum<'ctx>>,
}

/// The bits of infinity. Those of NaN are greater; those of a negative NaN are greater with the sign bit as well.
const INFINITY: i64 = 0x7f80_0000;
const SIGN: i64 = i32::MIN as i64;

/// The parts before the first step.
fn start<'e, 'ctx>(extreme: Extreme, initial: Val<'e, 'ctx>) -> Vec<Val<'e, 'ctx>> {
    let bits = initial.to_bits();
    if extreme.ignores_nan {
        vec![initial, bits]
    } else {
        vec![bits; 3]
    }
}

/// The parts after one more step, which brings `x`.
fn step<'e, 'ctx>(
    extreme: Extreme,
    parts: &[Val<'e, 'ctx>],
    x: Val<'e, 'ctx>,
) -> Vec<Val<'e, 'ctx>> {
    let bits = x.to_bits();
    match (parts, extreme.way) {
        ([best, zeros], way) => {
            let least = if way == Way::Up {
                "llvm.umin"
            } else {
                "llvm.smin"
            };
            vec![way.choose(x, *best), zeros.intrinsic2(least, bits)]
        }
        ([signed, least, greatest], _) => vec![
            signed.smax(bits),
            least.intrinsic2("llvm.umin", bits),
            greatest.intrinsic2("llvm.umax", bits),
        ],
        _ => Vec::new(),
    }
}

/// The extreme that the parts make up.
fn settled<'e, 'ctx>(extreme: Extreme, parts: &[Val<'e, 'ctx>]) -> Option<Val<'e, 'ctx>> {
    match (parts, extreme.way) {
        ([best, zeros], way) => {
            let (bits, zero) = match way {
                Way::Up => (0, 0.0),
                Way::Down => (SIGN, -0.0),
            };
            Some(best.except(best.eq(0.0).and(zeros.eq(bits)), zero))
        }
        ([signed, least, greatest], way) => {
            let extreme = match way {
                Way::Up => least.except(signed.ge(0), *signed),
                Way::Down => least.except(greatest.lt(0), *greatest),
            };
            let negative_infinity = signed.int(INFINITY | SIGN);
            let nan = signed.gt(INFINITY).or(negative_infinity.ult(*greatest));
            Some(extreme.bits_as(Elem::F32).except(nan, f64::NAN))
        }
        _ => None,
    }
}

impl<'a, 'ctx> Lowering<'a, 'ctx> {
    /// The extreme that the loop `op` carries as value `index`, if the loop uses that value only to advance it.
    pub(super) fn runs(&self, op: Op, index: usize, initial: Val<'a, 'ctx>) -> Option<Extreme> {
        let (ir, block) = (self.ir, self.ir.body(op, 0)?);
        let carried = *ir.args(block).get(index + 1)?;
        let advanced = ir.operands(ir.terminator(block)?).nth(index)?;
        let by = ir.def_op(advanced)?;
        let extreme = arith::extreme(ir, by)?;
        let shape = self.shape(carried).ok()?;
        let alone = ir.parent_block(by) == Some(block)
            && ir.users(carried).eq([by])
            && ir.users(advanced).count() == 1;
        let vector = shape.dtype == DType::F32 && shape.lanes.is_some();
        // NaN is passed over in what is met, so the loop must not begin with it.
        let number = !extreme.ignores_nan || initial.constant().is_some_and(|c| !c.is_nan());
        let has_integers = self.emit.x86.is_some_and(|x86| x86.sse41);
        (has_integers && alone && vector && number).then_some(extreme)
    }

    /// The parts that a loop carries: those of a running extreme, or the value alone.
    pub(super) fn carried_parts(
        &self,
        extreme: Option<Extreme>,
        value: Val<'a, 'ctx>,
    ) -> Vec<BasicValueEnum<'ctx>> {
        let parts = extreme.map_or_else(|| vec![value], |extreme| start(extreme, value));
        parts.into_iter().map(Val::raw).collect()
    }

    /// Gives `value` its parts: it is a running extreme, or a value alone.
    pub(super) fn hold(
        &mut self,
        value: Value,
        extreme: Option<Extreme>,
        parts: Vec<BasicValueEnum<'ctx>>,
    ) {
        match (extreme, parts.as_slice()) {
            (Some(extreme), _) => drop(self.running.insert(value, Running { extreme, parts })),
            (None, [alone]) => drop(self.values.insert(value, *alone)),
            (None, _) => {}
        }
    }

    /// The parts of a value: of a running extreme all, else the value alone.
    pub(super) fn parts(
        &self,
        value: Value,
        dealt: bool,
    ) -> Result<Vec<BasicValueEnum<'ctx>>, CodegenError> {
        match self.running.get(&value) {
            Some(running) => Ok(running.parts.clone()),
            None => Ok(vec![self.value_as(value, dealt)?.raw()]),
        }
    }

    /// The parts of a running extreme as one value; a value alone is that.
    pub(super) fn settle(
        &self,
        extreme: Option<Extreme>,
        parts: &[BasicValueEnum<'ctx>],
    ) -> Result<Val<'a, 'ctx>, CodegenError> {
        let parts: Vec<Val<'a, 'ctx>> = parts.iter().map(|&raw| self.emit.val(raw)).collect();
        let value = match extreme {
            Some(extreme) => settled(extreme, &parts),
            None => parts.first().copied(),
        };
        value.ok_or_else(|| malformed("a loop carries nothing"))
    }

    /// Advances the running extreme among the operands of `op`, if there is one.
    pub(super) fn advance(&mut self, op: Op) -> Result<bool, CodegenError> {
        let (ir, emit) = (self.ir, self.emit);
        let operands: Vec<_> = ir.operands(op).collect();
        let [a, b] = operands[..] else {
            return Ok(false);
        };
        let (running, x) = match (self.running.get(&a), self.running.get(&b)) {
            (Some(running), _) => (running, b),
            (None, Some(running)) => (running, a),
            (None, None) => return Ok(false),
        };
        let dealt = self.dealt.has(ir.result(op, 0));
        let (extreme, x) = (running.extreme, self.value_as(x, dealt)?);
        let parts: Vec<Val<'a, 'ctx>> = running.parts.iter().map(|&p| emit.val(p)).collect();
        let parts = step(extreme, &parts, x).into_iter().map(Val::raw).collect();
        self.hold(ir.result(op, 0), Some(extreme), parts);
        Ok(true)
    }
}
