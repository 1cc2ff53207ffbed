//! Moves slices, pads and cats before the elementwise ops that make their operands.
//!
//! A kernel reads memory at any index, but what it computes it has only at the point of its walk. So a window of a computed
//! value would need the value in memory, and a kernel more. Computed again for the elements of the window, it does not:
//!
//! ```text
//! %s = fusion.sin %x                                      %a = fusion.slice %x starts [50] shape [50]
//! %y = fusion.slice %s starts [50] shape [50]       =>    %y = fusion.sin %a
//!
//! %s = fusion.sin %x                                      %a = fusion.pad %x, %zero low [2] high [0]
//! %y = fusion.pad %s, %v low [2] high [0]           =>    %b = fusion.sin %a
//!                                                         %m = fusion.pad %true, %false low [2] high [0]
//!                                                         %y = fusion.where %m, %b, %v
//! ```
//!
//! A cat is its first operand where that has elements, and else the next one: the same masks. Windows pass elementwise ops,
//! broadcasts, permutes, expands and squeezes, slices compose, and along axes that a reduction keeps a slice passes it too.
//! The recomputation is ops of the program from here on, so every price and every report has it.
//!
//! A window stays where it is, which makes a border of segments, if
//! - it would pass what cannot be computed again at another place: an op with a hint, a border, a reshape of something
//!   computed, or a reduction that others use as well;
//! - the value is a result of the program, in memory anyway, and reading it there touches fewer bytes than its operands would;
//! - more than [`MAX_COPIES`] ops would be computed again, or a cat has more than [`MAX_PARTS`] operands;
//! - a border's width is not a number, as it is for a cat along an axis of named extents.
//!
//! Reading order: this file (one window after the other), `plan.rs` (what moves and whether it pays), `make.rs` (the ops).
//!
//! Never changes a bit: each element is computed by the same ops from the same elements. What is computed for the elements of
//! a border is thrown away; no op has effects or fails.

mod make;
mod plan;

use fuser_ir::def::OpError;
use fuser_ir::{Diagnostics, Ir, Op, Traits, Value};
use fuser_pass::{PassContext, PassDef, StatDef};
use rustc_hash::FxHashMap;

use super::is_free;
use crate::axes::window::{Window, is_window};
use make::{copy, join, leaf};
use plan::{Plan, Point, Way, parts};

/// The most ops that are computed again for one window: beyond, the copies cost more time than the border they save.
pub const MAX_COPIES: usize = 128;
/// The most operands of a cat that are computed beside each other: every element computes all of them.
pub const MAX_PARTS: usize = 8;
/// Copies in one program, per op of it: windows of windows of windows would double the program at each level.
const COPIES_PER_OP: usize = 8;

/// `sink-windows`
pub static SINK_WINDOWS: PassDef = PassDef {
    name: "sink-windows",
    summary: "moves slices, pads and cats before the ops that make their operands",
    doc: "A slice, pad or cat of a value that elementwise ops compute from memory becomes the same ops on slices and pads of \
          what lies in memory, so that one kernel serves. The program computes the elements of the window again; where that \
          would touch more bytes than storing the value, or needs what cannot be computed twice, the window stays.",
    anchor: &["task.program"],
    statistics: &[
        StatDef {
            name: "sunk",
            doc: "slices, pads and cats moved",
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
    let windows: Vec<Op> = ops
        .iter()
        .copied()
        .filter(|&op| is_window(ctx.ir, op))
        .collect();
    let mut sinker = Sinker {
        made: FxHashMap::default(),
        budget: ops.len().saturating_mul(COPIES_PER_OP),
        copies: 0,
    };
    for window in windows {
        if !is_free(ctx.ir, window) || is_reached(ctx.ir, window) {
            continue;
        }
        // Inference refuses what does not fit; what was made until then is dead.
        if let Ok(Some(value)) = sinker.sink(ctx.ir, window) {
            replace(ctx.ir, window, value);
            ctx.count("sunk", 1);
        }
    }
    ctx.count("copies", sinker.copies as u64);
    Ok(())
}

/// Whether index arithmetic leads from the window to memory as it is.
fn is_reached(ir: &Ir, window: Op) -> bool {
    let beside = |op: Op| ir.parent_block(op) == ir.parent_block(window);
    Window::resolve(ir, window, |op| beside(op) && !ir.has(op, Traits::BARRIER)).is_ok()
}

/// Puts `value` in the place of a window's result, and erases what nothing needs any more.
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
        let mut makers: Vec<Op> = ir.operands(op).filter_map(|v| ir.def_op(v)).collect();
        makers.sort();
        makers.dedup();
        ir.erase(op);
        dead.extend(makers);
    }
}

struct Sinker {
    /// What the window at hand has made.
    made: FxHashMap<Point, Value>,
    budget: usize,
    copies: usize,
}

impl Sinker {
    /// A value equal to the result of `window` that needs no window of anything computed; `None` where it stays.
    fn sink(&mut self, ir: &mut Ir, window: Op) -> Result<Option<Value>, OpError> {
        let result = ir.result(window, 0);
        let Some(parts) = parts(ir, window) else {
            return Ok(None);
        };
        let mut plan = Plan::default();
        for (value, own) in &parts {
            if !plan.add(ir, window, (*value, own.clone())) {
                return Ok(None);
            }
        }
        let copies = plan.copies();
        if self.copies + copies > self.budget || !plan.pays(ir, window, &parts) {
            return Ok(None);
        }
        self.made.clear();
        let mut moved = Vec::with_capacity(parts.len());
        for point in &plan.order {
            let value = self.make(ir, window, point, &plan.ways[point])?;
            self.made.insert(point.clone(), value);
        }
        for part in &parts {
            moved.push(self.made[part]);
        }
        self.copies += copies;
        let value = join(ir, window, &parts, &moved)?;
        Ok(Some(value).filter(|&v| ir.value_type(v) == ir.value_type(result)))
    }

    fn make(&self, ir: &mut Ir, window: Op, point: &Point, way: &Way) -> Result<Value, OpError> {
        let (value, own) = point;
        match way {
            Way::Same => Ok(*value),
            Way::Leaf => leaf(ir, window, *value, own),
            Way::Other(other, way) => Ok(self.made[&(*other, way.clone())]),
            Way::Copy(moves) => {
                let Some(maker) = ir.def_op(*value) else {
                    return Ok(*value);
                };
                let operands: Vec<Value> = ir
                    .operands(maker)
                    .zip(moves)
                    .map(|(v, m)| match m {
                        Some(m) => self.made[&(v, m.clone())],
                        None => v,
                    })
                    .collect();
                copy(ir, window, maker, &operands, own)
            }
        }
    }
}
