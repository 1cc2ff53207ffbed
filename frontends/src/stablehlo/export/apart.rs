//! Pairs of float ops that XLA rewrites to other ops with different results: `x / 3` to `x * (1 / 3)`, likewise a
//! division by a broadcast tensor, `log(exp(x))` to `x`, and `x * float(b)` to a select between `x` and 0.
//!
//! In our semantics each of these ops rounds and overflows separately. An operand of such a pair passes through an
//! `optimization_barrier`, which keeps the two ops separate, as long as the ops between them only move elements. Tested
//! with XLA of JAX 0.10.2.

use std::collections::HashSet;

use fuser_dialects::fusion;
use fuser_ir::def::{OpClass, OpDef};
use fuser_ir::types::DType;
use fuser_ir::{AttrKind, Ir, Op, Value};

/// An op, and the ops before it that it is written together with.
static PAIRS: &[(&OpDef, &[&OpDef])] = &[
    (&fusion::DIV, QUOTIENTS),
    (&fusion::RECIPROCAL, QUOTIENTS),
    (&fusion::MUL, POWERS),
    (&fusion::LOG, POWERS),
    (&fusion::POW, POWERS),
    (&fusion::SQRT, POWERS),
];

const QUOTIENTS: &[&OpDef] = &[
    &fusion::DIV,
    &fusion::RECIPROCAL,
    &fusion::SQRT,
    &fusion::RSQRT,
    &fusion::EXP,
    &fusion::POW,
];

const POWERS: &[&OpDef] = &[&fusion::EXP, &fusion::POW, &fusion::SQRT, &fusion::RSQRT];

/// Ops that XLA reassociates if two of them in sequence have constant operands.
const CHAINED: &[&OpDef] = &[&fusion::ADD, &fusion::SUB, &fusion::MUL];

/// Ops whose formulas in XLA begin with the sum of a constant.
const EXPANDED: &[&OpDef] = &[
    &fusion::LOG1P,
    &fusion::ASIN,
    &fusion::ACOS,
    &fusion::ASINH,
    &fusion::ACOSH,
    &fusion::ATANH,
    &fusion::ERFINV,
    &fusion::LGAMMA,
];

/// Ops that repeat elements.
const SPREADS: &[&OpDef] = &[&fusion::FULL, &fusion::BROADCAST, &fusion::EXPAND];

/// Ops that move elements only.
const MOVES: &[&OpDef] = &[
    &fusion::FULL,
    &fusion::BROADCAST,
    &fusion::EXPAND,
    &fusion::RESHAPE,
    &fusion::SQUEEZE,
    &fusion::PERMUTE,
    &fusion::COPY,
    &fusion::SLICE,
    &fusion::FLIP,
];

/// The facts about the values so far.
#[derive(Default)]
pub struct Known {
    /// The values that no parameter decides.
    fixed: HashSet<Value>,
    /// Tensors with repeated elements, whose reciprocals are therefore cheaper to compute.
    spread: HashSet<Value>,
}

impl Known {
    /// Notes the results of an op.
    pub fn note(&mut self, ir: &Ir, op: Op) {
        let operands: Vec<Value> = ir.operands(op).collect();
        let rank = |value: &Value| {
            ir.ty(ir.value_type(*value))
                .as_tensor()
                .map_or(0, |t| t.dims.len())
        };
        let results = ir.results(op);
        if operands.iter().all(|value| self.fixed.contains(value)) {
            self.fixed.extend(results);
        }
        let few = |value: &Value| {
            self.spread.contains(value) || self.fixed.contains(value) || rank(value) == 0
        };
        let elementwise = ir
            .def(op)
            .is_some_and(|def| def.class == OpClass::Elementwise);
        let stays = elementwise || is_one(ir, op, MOVES);
        let few = stays && operands.iter().all(few) && operands.iter().any(|value| rank(value) > 0);
        if few || is_one(ir, op, SPREADS) {
            self.spread.extend(results);
        }
    }
    /// True if XLA would rewrite an op together with the producer of this operand, so that the two need a barrier.
    pub fn is_rewritten(&self, ir: &Ir, op: Op, index: usize) -> bool {
        let operands: Vec<Value> = ir.operands(op).collect();
        let Some(value) = operands.get(index).copied() else {
            return false;
        };
        let dtype = ir.value_kind(value).dtype();
        if !dtype.is_some_and(|dtype| dtype.is_computed_float()) {
            return false;
        }
        let maker = maker(ir, value);
        let paired = PAIRS.iter().filter(|(outer, _)| ir.is(op, outer));
        let mut paired = paired.map(|(_, inner)| *inner);
        if maker.is_some_and(|maker| paired.any(|inner| is_one(ir, maker, inner))) {
            return true;
        }
        // A product with 0 or 1 would be a choice, which has no NaN of an infinity.
        if ir.is(op, &fusion::MUL) && maker.is_some_and(|maker| is_of_truth(ir, maker)) {
            return true;
        }
        if ir.is(op, &fusion::DIV) && index == 1 {
            let scalar = ir
                .ty(ir.value_type(value))
                .as_tensor()
                .is_none_or(|t| t.dims.is_empty());
            let few = scalar || self.spread.contains(&value) || self.fixed.contains(&value);
            return few && !maker.is_some_and(|maker| is_power_of_two(ir, maker));
        }
        let others = || {
            operands
                .iter()
                .any(|other| *other != value && self.fixed.contains(other))
        };
        let has_fixed = |op: Op| ir.operands(op).any(|operand| self.fixed.contains(&operand));
        let chained = |maker: Op| is_one(ir, maker, CHAINED) && has_fixed(maker);
        let adds = is_one(ir, op, EXPANDED) || is_one(ir, op, CHAINED) && others();
        adds && maker.is_some_and(chained)
    }
}

fn is_one(ir: &Ir, op: Op, list: &[&'static OpDef]) -> bool {
    list.iter().any(|def| ir.is(op, def))
}

/// True for a cast of truth values.
fn is_of_truth(ir: &Ir, op: Op) -> bool {
    let mut operands = ir.operands(op);
    let of = operands
        .next()
        .and_then(|value| ir.value_kind(value).dtype());
    ir.is(op, &fusion::CAST) && of == Some(DType::I1)
}

/// The op that computes a value, before the ops that only move its elements.
pub fn maker(ir: &Ir, mut value: Value) -> Option<Op> {
    loop {
        let op = ir.def_op(value)?;
        if !MOVES.iter().any(|def| ir.is(op, def)) {
            return Some(op);
        }
        value = ir.operands(op).next()?;
    }
}

/// True for a constant whose reciprocal is exact, so that division by it equals a product for any dividend.
fn is_power_of_two(ir: &Ir, op: Op) -> bool {
    const SIGNIFICAND: u64 = (1 << 52) - 1;
    let value = match ir.attr_of(op, "value") {
        Some(AttrKind::Float { bits, .. }) => f64::from_bits(*bits),
        Some(AttrKind::Int { value, .. }) => *value as f64,
        _ => return false,
    };
    value.is_normal() && value.to_bits() & SIGNIFICAND == 0 && value.abs().log2().abs() < 14.0
}
