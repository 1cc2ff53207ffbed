//! Moves slices and pads before reductions.
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
//! A pad moves the same way, and a choice keeps its border. Rows of the border are reduced too, of any elements, so
//! that one loop nest walks all rows: otherwise a second one reads again what the first one has reduced.
//!
//! ```text
//! %s = fusion.sum %x dims [1]                             %a = fusion.pad %x, %0 low [0, 0] high [1, 0]
//! %b = fusion.broadcast %s dims [0] shape [8, 16]         %s = fusion.sum %a dims [1]
//! %d = fusion.div %x, %b                            =>    %b = fusion.broadcast %s dims [0] shape [9, 16]
//! %y = fusion.pad %d, %v low [0, 0] high [1, 0]           %d = fusion.div %a, %b
//!                                                         %t = fusion.pad %true, %false low [0, 0] high [1, 0]
//!                                                         %y = fusion.where %t, %d, %v
//! ```
//!
//! A slice or a pad stays where it is, and becomes a segment boundary, if
//! - an op to pass carries a hint, or has other users and would be reduced twice;
//! - more than [`MAX_COPIES`] ops would be recomputed;
//! - a pad adds more than a quarter of the elements, has named amounts, or reads less than what is reduced.
//!
//! Reading order: this file (one op after the other), `moves.rs` (what moves and whether it pays), `make.rs` (the ops).
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
use make::{border, copy, leaf};
use moves::{Moves, Point, Way, is_pad, part};

/// The maximum number of ops recomputed for one slice or pad: beyond it, the copies cost more time than the saved
/// boundary.
pub const MAX_COPIES: usize = 128;
/// The maximum number of copies in one program, for each of its ops: slices of slices of slices would double the
/// program at each level.
const COPIES_PER_OP: usize = 8;

/// `sink-windows`
pub static SINK_WINDOWS: PassDef = PassDef {
    name: "sink-windows",
    summary: "moves slices and pads before the reductions that make their operands",
    doc: "A slice of what a reduction makes, along axes that it keeps, becomes the reduction of a slice, so that one kernel serves \
          and only the parts that are wanted are reduced. A small pad becomes a choice between the reduction of a pad and the border. \
          Where something else needs the reduction as well, the slice or the pad stays.",
    anchor: &["task.program"],
    statistics: &[
        StatDef {
            name: "sunk",
            doc: "slices and pads moved",
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
    let is_root = |op: &Op| has_family(ctx.ir, *op, &maps::SLICE) || is_pad(ctx.ir, *op);
    let windows: Vec<Op> = ops.iter().copied().filter(is_root).collect();
    let mut sinker = Sinker {
        made: FxHashMap::default(),
        budget: ops.len().saturating_mul(COPIES_PER_OP),
        copies: 0,
    };
    for window in windows
        .into_iter()
        .filter(|&op| is_free(ctx.ir, op))
        .collect::<Vec<_>>()
    {
        // Inference refuses what does not fit; what was made until then is dead.
        if let Ok(Some(value)) = sinker.sink(ctx.ir, window) {
            replace(ctx.ir, window, value);
            ctx.count("sunk", 1);
        }
    }
    ctx.count("copies", sinker.copies as u64);
    Ok(())
}

/// Replaces the result of a slice or a pad by `value`, and erases all ops that become unused.
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
    /// The values that the op at hand has made.
    made: FxHashMap<Point, Value>,
    budget: usize,
    copies: usize,
}

impl Sinker {
    /// A value equal to the result of `window` without a slice or a pad of a reduction; `None` if `window` stays.
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
        let mut value = self.made[&part];
        if is_pad(ir, window) {
            value = border(ir, window, value)?;
        }
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
