//! Moves slices before reductions.
//!
//! A pointwise value is computed at its point of use, so a kernel computes only the part that a slice reads. A
//! reduction must be complete first. If only slices of its result are used, along axes that it keeps, only those parts
//! need to be reduced:
//!
//! ```text
//! %s = fusion.sum %x dims [1]                             %a = fusion.slice %x starts [2, 0] shape [4, 16]
//! %y = fusion.slice %s starts [2] shape [4]         =>    %y = fusion.sum %a dims [1]
//! ```
//!
//! On the way the slice passes pointwise ops, broadcasts, permutes, expands and squeezes, and slices compose. It reads
//! the result of any other op. The recomputation consists of ops of the program, so every price and every report
//! includes it.
//!
//! A slice stays where it is, and becomes a segment boundary, if
//! - an op to pass carries a hint, or has other users and would be reduced twice;
//! - more than [`MAX_COPIES`] ops would be recomputed.
//!
//! Reading order: this file (one slice after the other), `moves.rs` (what moves and whether it pays), `make.rs` (the ops).
//!
//! Never changes a bit: each element is computed by the same ops from the same elements. No op has effects or fails.

mod make;
mod moves;

use fuser_dialects::fusion::maps;
use fuser_ir::def::OpError;
use fuser_ir::{Diagnostics, Ir, Op, Traits, Value};
use fuser_pass::{PassContext, PassDef, StatDef};
use rustc_hash::FxHashMap;

use super::{has_family, is_free};
use make::{copy, leaf};
use moves::{Moves, Point, Way, part};

/// The most ops that are computed again for one slice: beyond, the copies cost more time than the boundary they save.
pub const MAX_COPIES: usize = 128;
/// Copies in one program, per op of it: slices of slices of slices would double the program at each level.
const COPIES_PER_OP: usize = 8;

/// `sink-windows`
pub static SINK_WINDOWS: PassDef = PassDef {
    name: "sink-windows",
    summary: "moves slices before the reductions that make their operands",
    doc: "A slice of what a reduction makes, along axes that it keeps, becomes the reduction of a slice, so that one kernel serves \
          and only the parts that are wanted are reduced. Where something else needs the reduction as well, the slice stays.",
    anchor: &["task.program"],
    statistics: &[
        StatDef {
            name: "sunk",
            doc: "slices moved",
        },
        StatDef {
            name: "copies",
            doc: "ops computed again",
        },
    ],
    run,
    ..PassDef::EMPTY
};

fn run(ctx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
    let ops = ctx.ir.children(ctx.op);
    let slices = ops.iter().copied();
    let slices: Vec<Op> = slices
        .filter(|&op| has_family(ctx.ir, op, &maps::SLICE))
        .collect();
    let mut sinker = Sinker {
        made: FxHashMap::default(),
        budget: ops.len().saturating_mul(COPIES_PER_OP),
        copies: 0,
    };
    for slice in slices
        .into_iter()
        .filter(|&op| is_free(ctx.ir, op))
        .collect::<Vec<_>>()
    {
        // Inference refuses what does not fit; what was made until then is dead.
        if let Ok(Some(value)) = sinker.sink(ctx.ir, slice) {
            replace(ctx.ir, slice, value);
            ctx.count("sunk", 1);
        }
    }
    ctx.count("copies", sinker.copies as u64);
    Ok(())
}

/// Replaces a slice's result by `value`, and erases all ops that become unused.
fn replace(ir: &mut Ir, window: Op, value: Value) {
    let result = ir.result(window, 0);
    let name = ir.value_name_sym(result);
    ir.set_value_name(result, None);
    ir.set_value_name(value, name);
    ir.replace_all_uses(result, value);
    let mut dead = vec![window];
    while let Some(op) = dead.pop() {
        let unused = ir.results(op).iter().all(|&v| ir.is_unused(v));
        let pure = ir.has(op, Traits::PURE) && ir.op_regions(op).is_empty();
        if !unused || !pure || ir.parent_block(op).is_none() {
            continue;
        }
        let mut producers: Vec<Op> = ir.operands(op).filter_map(|v| ir.def_op(v)).collect();
        producers.sort();
        producers.dedup();
        ir.erase(op);
        dead.extend(producers);
    }
}

struct Sinker {
    /// The values that the slice at hand has made.
    made: FxHashMap<Point, Value>,
    budget: usize,
    copies: usize,
}

impl Sinker {
    /// A value equal to the result of `window` without a slice of a reduction; `None` if the slice stays.
    fn sink(&mut self, ir: &mut Ir, window: Op) -> Result<Option<Value>, OpError> {
        let result = ir.result(window, 0);
        let Some(part) = part(ir, window) else {
            return Ok(None);
        };
        let mut plan = Moves::default();
        if !plan.add(ir, window, part.clone()) {
            return Ok(None);
        }
        let copies = plan.copies();
        if self.copies + copies > self.budget || !plan.pays(ir, window) {
            return Ok(None);
        }
        self.made.clear();
        for point in &plan.order {
            let value = self.make(ir, window, point, &plan.ways[point])?;
            self.made.insert(point.clone(), value);
        }
        self.copies += copies;
        let value = self.made[&part];
        Ok(Some(value).filter(|&v| ir.value_type(v) == ir.value_type(result)))
    }

    fn make(&self, ir: &mut Ir, window: Op, point: &Point, way: &Way) -> Result<Value, OpError> {
        let (value, own) = point;
        match way {
            Way::Same => Ok(*value),
            Way::Leaf => leaf(ir, window, *value, own),
            Way::Other(other, way) => Ok(self.made[&(*other, way.clone())]),
            Way::Copy(moves) => {
                let Some(producer) = ir.def_op(*value) else {
                    return Ok(*value);
                };
                let operands: Vec<Value> = ir
                    .operands(producer)
                    .zip(moves)
                    .map(|(v, m)| match m {
                        Some(m) => self.made[&(v, m.clone())],
                        None => v,
                    })
                    .collect();
                copy(ir, window, producer, &operands, own)
            }
        }
    }
}
