//! The original positions of ops, kept so that dissolving the boundaries drawn around them gives the program back.
//!
//! Drawing segments gathers separate ops and copies some; scheduling gathers and copies inside a segment. A gathered or
//! copied op keeps its position in the program as an attribute, `task.position`: copies of one op have one position.
//! Dissolving the boundaries merges the copies again and restores the order.
//!
//! ```text
//! %a = fusion.exp %x                  %a = task.segment @s0 { %a = fusion.exp %x {task.position = 0} ... }
//! %b = fusion.exp %y             =>   %b = task.segment @s1 { %b = fusion.exp %y {task.position = 1} ... }
//! %c = fusion.neg %a                  (with %c in @s0: out of order, so every op remembers its position)
//! ```
//!
//! A program whose ops are in their original order, each once, has no such attributes. Never changes the results of a
//! program: copies that are no longer equal are kept, and an order that no longer fits the operands is left unchanged.
//! Linear.

use fuser_ir::{Ir, Op, Traits};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::task;

/// The attribute.
pub const POSITION: &str = "task.position";

/// True if `op` is a boundary that passes draw.
fn is_drawn(ir: &Ir, op: Op) -> bool {
    let drawn = [&task::SEGMENT, &task::SWEEP, &task::PHASE];
    drawn.iter().any(|def| ir.is(op, def))
}

/// The ops of `program` that are neither boundaries nor terminators, in order.
fn leaves(ir: &Ir, program: Op) -> Vec<Op> {
    let ops = ir.walk(program).into_iter().skip(1);
    let inner = |op: &Op| {
        let parent = ir.parent_op(*op);
        parent == Some(program) || parent.is_some_and(|p| is_drawn(ir, p))
    };
    ops.filter(|&op| !is_drawn(ir, op) && !ir.has(op, Traits::TERMINATOR))
        .filter(inner)
        .collect()
}

/// Before a pass that may gather or copy: notes each op's position, unless the program has positions already.
pub fn note(ir: &mut Ir, program: Op) {
    let ops = leaves(ir, program);
    if ops.iter().any(|&op| ir.get_attr(op, POSITION).is_some()) {
        return;
    }
    for (op, position) in ops.into_iter().zip(0..) {
        let position = ir.int_attr(position);
        ir.set_attr(op, POSITION, position);
    }
}

/// Removes the positions again if every op is still in order, and unique.
pub fn settle(ir: &mut Ir, program: Op) {
    let ops = leaves(ir, program);
    let positions: Vec<Option<i64>> = ops.iter().map(|&op| ir.int_of(op, POSITION)).collect();
    let known: Vec<i64> = positions.iter().flatten().copied().collect();
    if known.windows(2).all(|pair| pair[0] < pair[1]) {
        for op in ops {
            ir.remove_attr(op, POSITION);
        }
    }
}

/// After boundaries under `root` were dissolved: in each block merges copies and puts the ops in order. A program
/// without boundaries forgets the positions.
pub fn restore(ir: &mut Ir, root: Op) {
    let ops = ir.walk(root);
    for &op in &ops {
        if ir.is(op, &task::PROGRAM) || is_drawn(ir, op) {
            restore_body(ir, op);
        }
    }
    let drawn = |ir: &Ir, program: Op| ir.walk(program).into_iter().any(|op| is_drawn(ir, op));
    for program in ops {
        if !ir.is_erased(program) && ir.is(program, &task::PROGRAM) && !drawn(ir, program) {
            for op in leaves(ir, program) {
                ir.remove_attr(op, POSITION);
            }
        }
    }
}

fn restore_body(ir: &mut Ir, owner: Op) {
    let Some(block) = ir.body(owner, 0) else {
        return;
    };
    let ops: Vec<Op> = ir.block_ops(block).collect();
    let ops: Vec<Op> = ops
        .into_iter()
        .filter(|&op| !ir.has(op, Traits::TERMINATOR))
        .collect();
    if ops.iter().all(|&op| ir.get_attr(op, POSITION).is_none()) {
        return;
    }
    let ordered = in_order(ir, &ops);
    if !stands(ir, &ordered) {
        return;
    }
    if let Some(end) = ir.terminator(block).filter(|_| ordered != ops) {
        for &op in &ordered {
            ir.move_before(op, end);
        }
    }
    merge(ir, &ordered);
}

/// Ops by position; an op without a position stays after the one before it.
fn in_order(ir: &Ir, ops: &[Op]) -> Vec<Op> {
    let mut last = -1;
    let mut keyed: Vec<(i64, Op)> = Vec::with_capacity(ops.len());
    for &op in ops {
        last = ir.int_of(op, POSITION).unwrap_or(last);
        keyed.push((last, op));
    }
    keyed.sort_by_key(|(position, _)| *position);
    keyed.into_iter().map(|(_, op)| op).collect()
}

/// True if every op comes after its operands.
fn stands(ir: &Ir, ordered: &[Op]) -> bool {
    let position: FxHashMap<Op, usize> = ordered.iter().copied().zip(0..).collect();
    ordered.iter().enumerate().all(|(at, &op)| {
        let inner = ir.walk(op);
        let reads = inner.iter().flat_map(|&o| ir.operands(o));
        let mut producers = reads.filter_map(|v| position.get(&ir.def_op(v)?));
        producers.all(|&producer| producer <= at)
    })
}

/// Merges equal ops of one position, each into the first.
fn merge(ir: &mut Ir, ordered: &[Op]) {
    let mut kept: Option<Op> = None;
    let mut gone = FxHashSet::default();
    for &op in ordered {
        let position = ir.int_of(op, POSITION);
        let first = kept.filter(|&k| position.is_some() && ir.int_of(k, POSITION) == position);
        match first {
            Some(first) if equal(ir, first, op) => {
                for index in 0..ir.results(op).len() {
                    let (from, to) = (ir.result(op, index), ir.result(first, index));
                    ir.replace_all_uses(from, to);
                }
                gone.insert(op);
            }
            _ => kept = Some(op),
        }
    }
    for &op in ordered.iter().rev() {
        if gone.contains(&op) {
            ir.erase(op);
        }
    }
}

fn equal(ir: &Ir, a: Op, b: Op) -> bool {
    let types = |op: Op| ir.results(op).iter().map(|&r| ir.value_type(r));
    ir.op_regions(a).is_empty()
        && ir.op_regions(b).is_empty()
        && ir.name_id(a) == ir.name_id(b)
        && ir.attrs(a) == ir.attrs(b)
        && ir.operands(a).eq(ir.operands(b))
        && types(a).eq(types(b))
}
