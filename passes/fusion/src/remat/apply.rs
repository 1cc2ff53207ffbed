//! Writes a solution to the IR: replaces the segments by new ones with the ops of the solution, in the same order.
//!
//! A kernel has each class of equal ops once, so equal ops of one segment are merged.

use fuser_dialects::task;
use fuser_ir::clone::Mapping;
use fuser_ir::{Block, Ir, NewOp, Op, Value};
use rustc_hash::FxHashMap;

use super::extract::Extract;
use super::problem::{Kernel, Solution};

/// Replaces the segments; returns the new ones.
pub(super) fn apply(ir: &mut Ir, extract: &Extract, solution: &Solution) -> Vec<Option<Op>> {
    let mut memory = FxHashMap::<u32, Value>::default();
    let mut new = Vec::with_capacity(extract.segments.len());
    for (kernel, number) in solution.kernels.iter().zip(0..) {
        let made = kernel
            .as_ref()
            .map(|k| make(ir, extract, solution, k, number, &mut memory));
        new.push(made);
    }
    for &old in &extract.segments {
        for index in 0..ir.results(old).len() {
            let result = ir.result(old, index);
            let class = extract.class[&result];
            // A value that no kernel writes is an input that the segment only passed on.
            let input = extract.sample[class as usize];
            let value = memory.get(&class).copied().unwrap_or(input);
            ir.replace_all_uses(result, value);
        }
    }
    for &old in extract.segments.iter().rev() {
        ir.erase(old);
    }
    new
}

fn make(
    ir: &mut Ir,
    extract: &Extract,
    solution: &Solution,
    kernel: &Kernel,
    number: u32,
    memory: &mut FxHashMap<u32, Value>,
) -> Op {
    let region = ir.new_region();
    let body = ir.append_block(region);
    let wanted = extract.problem.wanted(number, &solution.written);
    let own = Own::Moved;
    let outputs = fill_body(ir, extract, kernel, number, &wanted, body, own, memory);
    let old = extract.segments[number as usize];
    let types = outputs
        .iter()
        .map(|o| (ir.value_type(o.1), ir.value_name_sym(o.1)));
    let new = NewOp {
        results: types.collect(),
        attrs: ir.attrs(old).iter().copied().collect(),
        regions: ir.block_region(body).into_iter().collect(),
        loc: Some(ir.op_loc(old)),
        ..NewOp::default()
    };
    let segment = ir.create_op(&task::SEGMENT, new);
    ir.insert_before(old, segment);
    for (index, (class, _)) in outputs.into_iter().enumerate() {
        memory.insert(class, ir.result(segment, index));
    }
    segment
}

/// The treatment of the ops that a kernel already has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Own {
    /// They move into the new kernel.
    Moved,
    /// They stay, and the new kernel gets copies.
    Copied,
}

/// Fills `body` with the ops of a kernel and its terminator; returns the values that it writes. A value computed
/// elsewhere is read from `memory`, if it is there, and else from the sample of its class.
#[allow(clippy::too_many_arguments)] // The kernel is four of them.
pub(super) fn fill_body(
    ir: &mut Ir,
    extract: &Extract,
    kernel: &Kernel,
    number: u32,
    wanted: &[u32],
    body: Block,
    own: Own,
    memory: &FxHashMap<u32, Value>,
) -> Vec<(u32, Value)> {
    let mut local = FxHashMap::<u32, Value>::default();
    for &class in &kernel.computes {
        let source = extract.instance(class, number);
        let moves = own == Own::Moved && extract.own(class, number).is_some();
        let op = match moves {
            true => {
                ir.move_to_end(source, body);
                source
            }
            false => {
                let copy = ir.clone_op(source, &mut Mapping::default());
                ir.append_op(body, copy);
                copy
            }
        };
        for index in 0..ir.operand_count(op) {
            let read = extract.class_of_operand(source, index);
            let value = local.get(&read).or(memory.get(&read)).copied();
            ir.set_operand(op, index, value.unwrap_or(extract.sample[read as usize]));
        }
        let writes = &extract.problem.ops[class as usize].writes;
        for (index, &write) in writes.iter().enumerate() {
            local.insert(write, ir.result(op, index));
        }
    }
    let outputs = wanted.iter();
    let outputs = outputs.filter_map(|w| Some((*w, *local.get(w)?)));
    let outputs: Vec<(u32, Value)> = outputs.collect();
    let yielded = NewOp {
        operands: outputs.iter().map(|o| o.1).collect(),
        ..NewOp::default()
    };
    let end = ir.create_op(&task::YIELD, yielded);
    ir.append_op(body, end);
    outputs
}
