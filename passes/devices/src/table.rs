//! The ops with properties beyond their indexing maps: linear ops, means, lookups, and ops whose elements depend on
//! their position.

use fuser_dialects::fusion;
use fuser_ir::attr::AttrKind;
use fuser_ir::def::{Computes, OpDef};
use fuser_ir::{Ir, Op};

use crate::rule::Combine;

/// Sets of operands: if all operands of one set are summands of values, so are the results.
type Sets = &'static [&'static [usize]];

/// The ops that are linear. Products of two factors are too, by their class.
static LINEAR: &[(&OpDef, Sets)] = &[
    (&fusion::ADD, &[&[0, 1]]),
    (&fusion::SUB, &[&[0, 1]]),
    (&fusion::MUL, &[&[0], &[1]]),
    (&fusion::DIV, &[&[0]]),
    (&fusion::NEG, &[&[0]]),
    (&fusion::SUM, &[&[0]]),
    (&fusion::PERMUTE, &[&[0]]),
    (&fusion::RESHAPE, &[&[0]]),
    (&fusion::SQUEEZE, &[&[0]]),
    (&fusion::BROADCAST, &[&[0]]),
    (&fusion::EXPAND, &[&[0]]),
    (&fusion::SLICE, &[&[0]]),
];

/// The ops whose elements depend on their place along the axis `dim`.
static PLACED: &[&OpDef] = &[&fusion::IOTA, &fusion::ROLL, &fusion::ONE_HOT];

/// The ops whose elements depend on their place in the whole tensor.
static DRAWN: &[&OpDef] = &[&fusion::UNIFORM, &fusion::NORMAL, &fusion::BERNOULLI];

/// The ops that look elements up in their first operand.
static LOOKUPS: &[&OpDef] = &[&fusion::TAKE, &fusion::TAKE_ALONG];

fn of(ir: &Ir, op: Op, list: &[&'static OpDef]) -> Option<&'static OpDef> {
    list.iter().copied().find(|def| ir.is(op, def))
}

/// The sets of operands in which an op is linear.
pub fn linear(ir: &Ir, op: Op) -> Sets {
    let row = LINEAR.iter().find(|(def, _)| ir.is(op, def));
    row.map_or(&[], |(_, sets)| sets)
}

/// True if elements depend on their place along the axis `dim`.
pub fn is_placed(ir: &Ir, op: Op) -> bool {
    of(ir, op, PLACED).is_some()
}

/// True if an axis moves along itself.
pub fn is_rolled(ir: &Ir, op: Op) -> bool {
    ir.is(op, &fusion::ROLL)
}

/// True if elements depend on their place in the whole tensor.
pub fn is_drawn(ir: &Ir, op: Op) -> bool {
    of(ir, op, DRAWN).is_some()
}

/// The definition of an op that looks elements up.
pub fn lookup(ir: &Ir, op: Op) -> Option<&'static OpDef> {
    of(ir, op, LOOKUPS)
}

/// True if a lookup has an index for each element of its result.
pub fn looks_along(def: &OpDef) -> bool {
    std::ptr::eq(def, &fusion::TAKE_ALONG)
}

/// True for a constant.
pub fn is_constant(ir: &Ir, op: Op) -> bool {
    ir.is(op, &fusion::CONSTANT)
}

/// True if an op makes a tensor of one value.
pub fn is_splat(ir: &Ir, op: Op) -> bool {
    let many = matches!(
        ir.attr_of(op, "value"),
        Some(AttrKind::Dense { splat: false, .. })
    );
    ir.is(op, &fusion::FULL) || is_constant(ir, op) && !many
}

/// True for means, of which the sum is divided.
pub fn is_mean(ir: &Ir, op: Op) -> bool {
    ir.is(op, &fusion::MEAN)
}

/// The function that combines partial results of a reduction, and the op that reduces a part.
pub fn reduction(ir: &Ir, op: Op) -> Option<(Combine, &'static OpDef)> {
    if is_mean(ir, op) {
        return Some((Combine::Sum, &fusion::SUM));
    }
    Some(match ir.def(op)?.computes? {
        Computes::Add => (Combine::Sum, &fusion::SUM),
        Computes::Mul => (Combine::Prod, &fusion::PROD),
        Computes::Max => (Combine::Max, &fusion::MAX),
        Computes::Min => (Combine::Min, &fusion::MIN),
        _ => return None,
    })
}

/// True for the name of a pattern that is attention.
pub fn is_attention(pattern: &str) -> bool {
    fusion::SDPA.name.strip_prefix("fusion.") == Some(pattern)
}

/// True for an op whose elements are their indices along `axis`.
pub fn counts_along(ir: &Ir, op: Op, axis: usize) -> bool {
    let own = ir
        .int_of(op, "dim")
        .and_then(|dim| usize::try_from(dim).ok());
    ir.computes(op) == Some(Computes::Index) && own == Some(axis)
}
