//! Swaps operands, splits reductions, repeats and moves ops, adds unused ones.

use std::collections::BTreeSet;

use fuser_dialects::fusion;
use fuser_ir::clone::Mapping;
use fuser_ir::def::{OpDef, Traits};
use fuser_ir::types::{Dim, Extent};
use fuser_ir::{Builder, DType, Ir, Op, Value};

use super::rewire::{erase, ops, tensor, terminator};
use crate::Source;
use crate::generate::{Case, Tier};

/// Predicates, each with its mirror for swapped operands.
const MIRRORED: [(&str, &str); 6] = [
    ("eq", "eq"),
    ("ne", "ne"),
    ("lt", "gt"),
    ("gt", "lt"),
    ("le", "ge"),
    ("ge", "le"),
];

/// The operands of some commutative ops, and of some comparisons.
pub fn swap_operands(case: &mut Case, source: &mut Source) -> bool {
    let mut swapped = false;
    for op in ops(case) {
        let commutes = case.ir.has(op, Traits::COMMUTATIVE);
        if !(commutes || case.ir.is(op, &fusion::COMPARE)) || !source.chance(3, 4) {
            continue;
        }
        if !commutes {
            let predicate = case.ir.str_of(op, "predicate").unwrap_or_default();
            let Some((_, mirrored)) = MIRRORED.iter().find(|(word, _)| *word == predicate) else {
                continue;
            };
            let mirrored = case.ir.string_attr(mirrored);
            case.ir.set_attr(op, "predicate", mirrored);
        }
        let mut operands: Vec<Value> = case.ir.operands(op).collect();
        operands.reverse();
        case.ir.set_operands(op, &operands);
        swapped = true;
    }
    swapped
}

/// Reductions, each with the op that combines two of their results.
static REDUCTIONS: [(&OpDef, &OpDef); 4] = [
    (&fusion::SUM, &fusion::ADD),
    (&fusion::PROD, &fusion::MUL),
    (&fusion::MAX, &fusion::MAXIMUM),
    (&fusion::MIN, &fusion::MINIMUM),
];

/// Splits a reduction into reductions of two parts.
pub fn split_reduction(case: &mut Case, source: &mut Source) -> bool {
    let all: Vec<Op> = ops(case)
        .into_iter()
        .filter(|op| combining(case, *op).is_some() && !long_axes(case, *op).is_empty())
        .collect();
    let Some(&op) = source.pick(&all) else {
        return false;
    };
    let before = ops(case);
    if split(case, source, op).is_some() {
        return true;
    }
    let new: Vec<Op> = ops(case)
        .into_iter()
        .filter(|op| !before.contains(op))
        .collect();
    erase(&mut case.ir, &new);
    false
}

/// The op that combines the results of a reduction of parts, if any order gives the same bits.
fn combining(case: &Case, op: Op) -> Option<&'static OpDef> {
    let (reduction, by) = REDUCTIONS
        .iter()
        .find(|(reduction, _)| case.ir.is(op, reduction))?;
    let dtype = tensor(&case.ir, case.ir.operand(op, 0))?.dtype;
    // A product of complex numbers has zeros whose signs depend on its order.
    if dtype.is_complex() && std::ptr::eq(*reduction, &fusion::PROD) {
        return None;
    }
    let exact = match (
        dtype.part(),
        std::ptr::eq(*reduction, &fusion::MAX) || std::ptr::eq(*reduction, &fusion::MIN),
    ) {
        (_, true) => true,
        (DType::I1, _) => false,
        (DType::F32 | DType::F64, _) => case.tier == Tier::Exact,
        _ => dtype.is_int(),
    };
    exact.then_some(*by)
}

/// The reduced axes that can be split in two: an empty part has no greatest element.
fn long_axes(case: &Case, op: Op) -> Vec<usize> {
    let Some(of) = tensor(&case.ir, case.ir.operand(op, 0)) else {
        return Vec::new();
    };
    let reduced = case.ir.i64s_of(op, "dims").unwrap_or(&[]).iter();
    let long = |i: &usize| matches!(of.dims[*i].extent, Extent::Static(n) if n > 1);
    reduced.map(|i| *i as usize).filter(long).collect()
}

fn split(case: &mut Case, source: &mut Source, op: Op) -> Option<()> {
    let by = combining(case, op)?;
    let operand = case.ir.operand(op, 0);
    let of = tensor(&case.ir, operand)?;
    let at = *source.pick(&long_axes(case, op))?;
    let Extent::Static(length) = of.dims[at].extent else {
        return None;
    };
    let cut = 1 + source.below(length - 1);
    let mut reductions = Vec::new();
    for (start, length) in [(0, cut), (cut, length - cut)] {
        let mut dims: Vec<Dim> = of.dims.iter().map(|d| Dim::new(d.extent)).collect();
        let mut starts = vec![0; dims.len()];
        dims[at] = Dim::fixed(length);
        starts[at] = start as i64;
        let mut builder = Builder::before(&mut case.ir, op);
        let clauses = [
            builder.ints("starts", &starts),
            builder.shape("shape", &dims),
        ];
        let part = builder.value(&fusion::SLICE, &[operand], &clauses).ok()?;
        let reduction = case.ir.clone_op(op, &mut Mapping::default());
        case.ir.set_operand(reduction, 0, part);
        case.ir.insert_before(op, reduction);
        reductions.push(case.ir.result(reduction, 0));
    }
    let whole = Builder::before(&mut case.ir, op)
        .value(by, &reductions, &[])
        .ok()?;
    let result = case.ir.result(op, 0);
    if case.ir.value_type(whole) != case.ir.value_type(result) {
        return None;
    }
    case.ir.replace_all_uses(result, whole);
    Some(())
}

/// A copy of an op, after it.
fn copied(ir: &mut Ir, op: Op) -> Op {
    let copy = ir.clone_op(op, &mut Mapping::default());
    ir.insert_after(op, copy);
    copy
}

/// One use of some op's result takes a copy's.
pub fn duplicate(case: &mut Case, source: &mut Source) -> bool {
    let used = |op: &Op| case.ir.results(*op).iter().any(|r| !case.ir.is_unused(*r));
    let all: Vec<Op> = ops(case).into_iter().filter(used).collect();
    let Some(&op) = source.pick(&all) else {
        return false;
    };
    let copy = copied(&mut case.ir, op);
    for index in 0..case.ir.results(op).len() {
        let (result, other) = (case.ir.result(op, index), case.ir.result(copy, index));
        let only = source.index(case.ir.uses(result).count());
        let mut at = 0;
        case.ir.replace_uses_if(result, other, |_, _| {
            at += 1;
            at - 1 == only
        });
    }
    true
}

/// A copy of some op that only ops without a use see.
pub fn dead_code(case: &mut Case, source: &mut Source) -> bool {
    let Some(&op) = source.pick(&ops(case)) else {
        return false;
    };
    let copy = copied(&mut case.ir, op);
    let Some(&result) = case.ir.results(copy).first() else {
        return true;
    };
    // It may not take these types; the copy alone is dead code too.
    let dims: Vec<i64> =
        tensor(&case.ir, result).map_or(Vec::new(), |t| (0..t.dims.len() as i64).collect());
    let mut builder = Builder::after(&mut case.ir, copy);
    let _ = builder.value(&fusion::NEG, &[result], &[]);
    let dims = builder.ints("dims", &dims);
    let _ = builder.value(&fusion::SUM, &[result], &[dims]);
    true
}

/// Another order of the ops.
pub fn reorder(case: &mut Case, source: &mut Source) -> bool {
    let all = ops(case);
    let Some(end) = terminator(case) else {
        return false;
    };
    let mut waiting: BTreeSet<usize> = (0..all.len()).collect();
    let mut placed: BTreeSet<Op> = BTreeSet::new();
    let mut order = Vec::new();
    while !waiting.is_empty() {
        let ready = |i: &usize| {
            let mut operands = case.ir.operands(all[*i]);
            operands.all(|v| case.ir.def_op(v).is_none_or(|op| placed.contains(&op)))
        };
        let ready: Vec<usize> = waiting.iter().copied().filter(ready).collect();
        let Some(&next) = source.pick(&ready) else {
            return false;
        };
        waiting.remove(&next);
        placed.insert(all[next]);
        order.push(all[next]);
    }
    for op in &order {
        case.ir.move_before(*op, end);
    }
    order != all
}
