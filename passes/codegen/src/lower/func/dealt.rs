//! Deinterleaved vectors: the even lanes come first, then the odd lanes.
//!
//! A register of 32 bf16 holds 16 pairs. A shift widens the even elements to f32, and a mask the odd ones. Widening in
//! order takes two cross-lane moves and two shifts. Elementwise ops work in any lane order, so vectors stay
//! deinterleaved until the op that rounds to 16 bits. One move then restores the order of its lanes:
//!
//! ```text
//! %x = load : vector<32xbf16>            a0 b0 a1 b1 ... a15 b15
//! %f = cast %x to f32                    a0 a1 ... a15 | b0 b1 ... b15      dealt
//! %g = mul %f, %w                        dealt, so %w is, too
//! %y = cast %g to bf16                   a0 b0 a1 b1 ... a15 b15
//! ```
//!
//! Private memory of the kernel stays deinterleaved if only such vectors access it, at multiples of their lanes. All
//! other memory keeps its order, and each conversion between the orders takes a move for each register. A function in
//! which these moves outnumber the saved ones uses no deinterleaving.

use fuser_dialects::kernel;
use fuser_ir::def::Computes;
use fuser_ir::{DType, Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Lowering;
use crate::error::CodegenError;
use crate::expr::{Elem, Val};
use crate::lower::arith;
use crate::lower::types::shape;

/// Lanes of a vector that may be dealt: bf16 that fill a register.
const LANES: u32 = 32;
/// The maximum number of rounds of the analysis; each level of a loop nest takes one. If they do not suffice, nothing
/// is deinterleaved.
const ROUNDS: usize = 16;
/// Steps that a loop is taken to have where moves are counted.
const STEPS: i64 = 16;
/// The deepest loop that counts for more than the one around it.
const DEEPEST: u32 = 8;

/// The vectors that are dealt in a function, and the memory that holds such.
#[derive(Default)]
pub(super) struct Dealt {
    values: FxHashSet<Value>,
    /// Allocations that hold dealt vectors.
    memory: FxHashSet<Value>,
}

impl Dealt {
    pub(super) fn has(&self, value: Value) -> bool {
        self.values.contains(&value)
    }
}

impl<'a, 'ctx> Lowering<'a, 'ctx> {
    /// Chooses what is dealt; expects the divisors of all indices.
    pub(super) fn deal(&mut self) {
        if !self.emit.x86.is_some_and(|x86| x86.avx512bf16) {
            return;
        }
        let ops = self.ir.walk(self.func);
        let unmoved = self.unmoved(&ops);
        let own: FxHashSet<Value> = self.own_memory(&ops);
        let known = |dealt: &Dealt| dealt.values.len() + dealt.memory.len();
        let mut settled = false;
        for _ in 0..ROUNDS {
            let before = known(&self.dealt);
            for &op in &ops {
                self.deal_forward(op, &own);
            }
            for &op in ops.iter().rev() {
                let result = self.ir.results(op).first().copied();
                let Some(result) = result.filter(|r| unmoved.contains(r)) else {
                    continue;
                };
                let read = |user| self.ir.results(user).iter().any(|&r| self.dealt.has(r));
                if self.elementwise(op) && self.ir.users(result).any(read) {
                    self.dealt.values.insert(result);
                }
            }
            settled = before == known(&self.dealt);
            if settled {
                break;
            }
        }
        if !settled || self.moves(&ops, &unmoved) >= 0 {
            self.dealt = Dealt::default();
        }
    }

    /// Values with the same form in both orders or without a cost: uniform vectors, lane numbers, and elementwise
    /// functions of these.
    fn unmoved(&self, ops: &[Op]) -> FxHashSet<Value> {
        let mut unmoved = FxHashSet::default();
        for &op in ops {
            let [result] = self.ir.results(op) else {
                continue;
            };
            let made = [&kernel::SPLAT, &kernel::IOTA].map(|def| self.ir.is(op, def));
            let made = made.contains(&true) || self.ir.computes(op) == Some(Computes::Constant);
            let mut vectors = self.ir.operands(op).filter(|&v| self.is_wide(v));
            let follows =
                arith::rule(self.ir, op).is_some() && vectors.all(|v| unmoved.contains(&v));
            if self.is_wide(*result) && (made || follows) {
                unmoved.insert(*result);
            }
        }
        unmoved
    }

    /// The allocations that only vectors of `LANES` elements touch, each at a multiple of `LANES`.
    fn own_memory(&self, ops: &[Op]) -> FxHashSet<Value> {
        let allocated = ops.iter().filter(|&&op| self.ir.is(op, &kernel::ALLOC));
        let allocated = allocated.filter_map(|&op| self.ir.results(op).first().copied());
        let whole = |memory: Value, user: Op| {
            if self.ir.int_of(user, "stride").is_some() {
                return false;
            }
            let operands: Vec<Value> = self.ir.operands(user).collect();
            let (value, index) = match operands[..] {
                [of, index] if self.ir.is(user, &kernel::LOAD) && of == memory => {
                    (self.ir.results(user).first().copied(), index)
                }
                [value, of, index] if self.ir.is(user, &kernel::STORE) && of == memory => {
                    (Some(value), index)
                }
                _ => return false,
            };
            value.is_some_and(|v| self.is_wide(v))
                && self.divisor(index).is_multiple_of(u64::from(LANES))
        };
        let whole = |&memory: &Value| self.ir.users(memory).all(|user| whole(memory, user));
        allocated.filter(whole).collect()
    }

    /// True for a vector of `LANES` elements.
    fn is_wide(&self, value: Value) -> bool {
        let shape = shape(self.ir, value);
        shape.is_some_and(|s| s.lanes == Some(LANES))
    }

    fn is_half(&self, value: Value) -> bool {
        let dtype = shape(self.ir, value).map(|s| s.dtype);
        dtype.is_some_and(|d| d.bits() == 16)
    }

    /// True for an op whose single wide result depends lane by lane on its operands.
    fn elementwise(&self, op: Op) -> bool {
        let wide = matches!(self.ir.results(op), [result] if self.is_wide(*result));
        wide && arith::rule(self.ir, op).is_some()
    }

    /// True for the op that makes floats of bf16.
    pub(super) fn widens(&self, op: Op) -> bool {
        let from = self.ir.operands(op).next();
        let from = from.and_then(|v| shape(self.ir, v));
        let to = self.ir.results(op).first();
        let to = to.and_then(|&v| shape(self.ir, v));
        self.ir.computes(op) == Some(Computes::Cast)
            && from.is_some_and(|s| s.dtype == DType::BF16 && s.lanes == Some(LANES))
            && to.is_some_and(|s| s.dtype == DType::F32)
    }

    /// Notes what `op` makes of what is dealt so far.
    fn deal_forward(&mut self, op: Op, own: &FxHashSet<Value>) {
        let ir = self.ir;
        if ir.is(op, &kernel::FOR) {
            let Some(block) = ir.body(op, 0) else { return };
            let yielded = ir.terminator(block).map(|t| ir.operands(t).collect());
            let yielded: Vec<Value> = yielded.unwrap_or_default();
            for (index, next) in yielded.into_iter().enumerate() {
                let carried = ir.args(block).get(index + 1).copied();
                let result = ir.results(op).get(index).copied();
                if self.dealt.has(next) {
                    self.dealt.values.extend(carried.into_iter().chain(result));
                }
            }
        } else if ir.is(op, &kernel::STORE) {
            let operands: Vec<Value> = ir.operands(op).collect();
            if let [value, memory, _] = operands[..]
                && own.contains(&memory)
                && self.dealt.has(value)
            {
                self.dealt.memory.insert(memory);
            }
        } else if ir.is(op, &kernel::LOAD) {
            let memory = ir.operands(op).next();
            if memory.is_some_and(|m| self.dealt.memory.contains(&m)) {
                self.dealt.values.extend(ir.results(op));
            }
        } else if self.elementwise(op) {
            let dealt = self.widens(op) || ir.operands(op).any(|v| self.dealt.has(v));
            let result = ir.result(op, 0);
            if dealt && !self.is_half(result) {
                self.dealt.values.insert(result);
            }
        }
    }

    /// The number of moves that deinterleaving adds over all steps of the function, minus the number that it saves.
    fn moves(&self, ops: &[Op], unmoved: &FxHashSet<Value>) -> i64 {
        let carries = |op| {
            [&kernel::FOR, &kernel::YIELD]
                .iter()
                .any(|d| self.ir.is(op, d))
        };
        let mut depths: FxHashMap<Op, u32> = FxHashMap::default();
        let mut moves: i64 = 0;
        for &op in ops {
            let around = self.ir.parent_op(op).and_then(|p| depths.get(&p).copied());
            let depth = around.unwrap_or(0) + u32::from(self.ir.is(op, &kernel::FOR));
            depths.insert(op, depth);
            let registers = |v: Value| match shape(self.ir, v) {
                Some(shape) => i64::from(shape.dtype.bits().div_ceil(16)),
                None => 0,
            };
            let result = self.ir.results(op).first().copied();
            let dealt = result.is_some_and(|r| self.dealt.has(r));
            let mut here = 0;
            let operands = || self.ir.operands(op).filter(|&v| self.is_wide(v));
            let reads = operands().any(|v| self.dealt.has(v));
            if self.widens(op) && dealt {
                here -= result.map_or(0, registers);
            } else if self.elementwise(op) && (dealt || reads) {
                let moved = |v: &Value| !self.dealt.has(*v) && !unmoved.contains(v);
                here += operands().filter(moved).map(registers).sum::<i64>();
                here += i64::from(!dealt);
            } else if self.ir.is(op, &kernel::STORE) {
                let operands: Vec<Value> = self.ir.operands(op).collect();
                let held = operands
                    .get(1)
                    .is_some_and(|m| self.dealt.memory.contains(m));
                let value = operands.first().copied();
                let differs = |v: &Value| self.dealt.has(*v) != held && !unmoved.contains(v);
                here += value.filter(differs).map_or(0, registers);
            } else if !carries(op) && !self.elementwise(op) {
                let operands = self.ir.operands(op).filter(|&v| self.dealt.has(v));
                here += operands.map(registers).sum::<i64>();
            }
            moves = moves.saturating_add(here.saturating_mul(STEPS.pow(depth.min(DEEPEST))));
        }
        moves
    }

    /// A value as dealt or in order.
    pub(super) fn value_as(
        &self,
        value: Value,
        dealt: bool,
    ) -> Result<Val<'a, 'ctx>, CodegenError> {
        let raw = self.raw(value)?;
        let def = self.ir.def_op(value);
        let same = def.is_some_and(|op| self.ir.is(op, &kernel::SPLAT));
        Ok(match (raw.lanes(), self.dealt.has(value), dealt) {
            (Some(LANES), false, true) if !same => raw.dealt(),
            (Some(LANES), true, false) => raw.in_order(),
            _ => raw,
        })
    }

    /// True if the memory `memory` holds dealt vectors.
    pub(super) fn holds_dealt(&self, memory: Value) -> bool {
        self.dealt.memory.contains(&memory)
    }
}

impl<'e, 'ctx> Val<'e, 'ctx> {
    /// These lanes, those of even number first.
    fn dealt(self) -> Self {
        let half = LANES / 2;
        self.shuffle((0..LANES).map(|at| 2 * (at % half) + at / half).collect())
    }

    /// Dealt lanes in order.
    pub(super) fn in_order(self) -> Self {
        let half = LANES / 2;
        self.shuffle((0..LANES).map(|lane| lane / 2 + lane % 2 * half).collect())
    }

    /// The floats of 32 bf16, dealt.
    pub(super) fn bf16_to_dealt(self) -> Self {
        let pairs = self.emit().shaped_type(Elem::Int(32), Some(LANES / 2));
        let pairs = self.reinterpret(pairs);
        let (even, odd) = (pairs.shift_left(16), pairs.and(0xffff_0000));
        even.concat(odd).bits_as(Elem::F32)
    }
}
