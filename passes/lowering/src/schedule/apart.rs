//! The fallback for a segment whose plan cannot be lowered: the next plan, and finally two segments in its place.
//!
//! ```text
//! %b = task.segment @s0 { %a = ...  %b = ... }   =>   %a = task.segment @s0a { %a = ... }
//!                                                     %b = task.segment @s0b { %b = ... }
//! ```
//!
//! A segment created by `segment` is tested before it is committed: its sweeps are lowered on a copy
//! ([`trial`](crate::trial)). If that fails, the cost model accepted a plan that lowering does not support, and the
//! user cannot change it. The segment is then halved until each part has a kernel, in the extreme one op each. A
//! segment of `n` ops is tried at most `2 log2(n) + 2` times.
//!
//! A segment written in the text, or demanded by a given grouping, belongs to the user ([`is_drawn`]): it is never
//! split.

use fuser_analysis::cost::keeps_memory;
use fuser_dialects::task;
use fuser_dialects::task::outline::{dissolve, outline};
use fuser_ir::clone::Mapping;
use fuser_ir::def::OpClass;
use fuser_ir::{Ir, Op, Place, Value};
use fuser_pass::place_of;
use rustc_hash::{FxHashMap, FxHashSet};

/// True if a pass created the segment: its location is unknown because it appears in no source text.
pub fn is_drawn(ir: &Ir, segment: Op) -> bool {
    place_of(ir, segment) == Place::Unknown
}

/// The ops of a segment without the one that ends it.
pub fn ops_of(ir: &Ir, segment: Op) -> Vec<Op> {
    let children = ir.children(segment).into_iter();
    children.filter(|&op| !ir.is(op, &task::YIELD)).collect()
}

/// A copy of `segment` that is in no block.
pub fn copy(ir: &mut Ir, segment: Op) -> Op {
    ir.clone_op(segment, &mut Mapping::default())
}

/// Puts `copy` in the place of `segment`, which is gone then.
pub fn restore(ir: &mut Ir, segment: Op, copy: Op) {
    ir.insert_before(segment, copy);
    for index in 0..ir.results(segment).len() {
        let (from, to) = (ir.result(segment, index), ir.result(copy, index));
        ir.replace_all_uses(from, to);
    }
    ir.erase(segment);
}

/// Splits `segment` into one for the first half of its ops and one for the second; `None` for a single op. Both get
/// copies of the scalar constants that they use.
pub fn halve(ir: &mut Ir, segment: Op) -> Option<[Op; 2]> {
    let (shared, own): (Vec<Op>, Vec<Op>) = ops_of(ir, segment)
        .into_iter()
        .partition(|&op| is_inner_constant(ir, op));
    if own.len() < 2 {
        return None;
    }
    let name = ir.symbol_name(segment).unwrap_or("s").to_owned();
    if !dissolve(ir, segment) {
        return None;
    }
    let (first, second) = own.split_at(own.len() / 2);
    let first = give_constants(ir, first, &shared);
    let second = give_constants(ir, second, &shared);
    for op in shared {
        ir.erase(op);
    }
    let first = draw(ir, &first, &format!("{name}a"))?;
    let second = draw(ir, &second, &format!("{name}b"))?;
    Some([first, second])
}

/// True if `op` is a constant of one element that only ops of its segment use.
fn is_inner_constant(ir: &Ir, op: Op) -> bool {
    let creates = ir.def(op).is_some_and(|d| d.class == OpClass::Creation);
    let single = |&v: &Value| {
        let tensor = ir.value_kind(v).as_tensor();
        tensor.is_none_or(|t| t.dims.is_empty()) && !ir.users(v).any(|u| ir.is(u, &task::YIELD))
    };
    creates && ir.operand_count(op) == 0 && ir.results(op).iter().all(single)
}

/// Copies the ops of `shared` that `ops` use to before their first use; returns all ops in order.
fn give_constants(ir: &mut Ir, ops: &[Op], shared: &[Op]) -> Vec<Op> {
    let shared: FxHashSet<Op> = shared.iter().copied().collect();
    let mut copies: FxHashMap<Op, Op> = FxHashMap::default();
    let mut given = Vec::new();
    for &op in ops {
        for index in 0..ir.operand_count(op) {
            let producer = ir.def_op(ir.operand(op, index));
            let Some(producer) = producer.filter(|producer| shared.contains(producer)) else {
                continue;
            };
            let own = copies
                .get(&producer)
                .copied()
                .unwrap_or_else(|| copy(ir, producer));
            if copies.insert(producer, own).is_none() {
                ir.insert_before(ops[0], own);
                given.push(own);
            }
            let value = ir.result(own, 0);
            ir.set_operand(op, index, value);
        }
    }
    given.extend(ops);
    given
}

fn draw(ir: &mut Ir, ops: &[Op], name: &str) -> Option<Op> {
    let view = ops.iter().all(|&op| keeps_memory(ir, op));
    let segment = outline(ir, ops, &task::SEGMENT, Some(name)).ok()?;
    // Its ops may stand in a text; it does not.
    let nowhere = ir.unknown_loc();
    ir.set_loc(segment, nowhere);
    let kind = ir.string_attr(if view { "view" } else { "kernel" });
    ir.set_attr(segment, "kind", kind);
    Some(segment)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fuser_ir::parse::parse_str;

    #[test]
    fn halves_stand_in_no_text() {
        let text = "task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {
          %y = task.segment @s kind \"kernel\" {
            %a = fusion.exp %x loc(\"model.py\":1:2)
            %y = fusion.neg %a loc(\"model.py\":2:2)
            task.yield %y
          }
          task.return %y
        }";
        let mut ir = Ir::new(fuser_dialects::registry());
        let module = parse_str(&mut ir, text).module.unwrap();
        let program = ir.children(module)[0];
        let segment = ir.children(program)[0];
        assert!(!is_drawn(&ir, segment));
        let halves = halve(&mut ir, segment).unwrap();
        assert!(halves.into_iter().all(|half| is_drawn(&ir, half)));
    }
}
