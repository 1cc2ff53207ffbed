//! Draws the segments: moves the ops of each group into a `task.segment`.
//!
//! An op that several groups list stays with the first and is copied into the others; so are the ops that create values
//! from nothing. Values keep their names: a segment's results are named like the values that it yields.

use fuser_dialects::task;
use fuser_ir::clone::Mapping;
use fuser_ir::{Block, Ir, NewOp, Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::Graph;
use super::search::Group;

/// One segment to draw.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Draw {
    /// The symbol, without `@`.
    pub name: String,
    /// `kernel`, `view`, ...
    pub kind: &'static str,
    /// Its ops, each after its operands. An op listed twice is computed twice.
    pub ops: Vec<Op>,
}

impl Draw {
    /// The segment to draw for each of `groups`, given in run order.
    pub(super) fn all(graph: &Graph, groups: &[Group]) -> Vec<Self> {
        let draw = |(number, group): (usize, &Group)| Self {
            name: format!("s{number}"),
            kind: group
                .cost_result
                .as_ref()
                .map_or("kernel", |v| v.kind.name()),
            ops: graph.ops_at(&graph.with_free(&group.computed())),
        };
        groups.iter().enumerate().map(draw).collect()
    }
}

/// Draws `segments`, given in run order, before the terminator of `block`. Ops in `shared`, given in program order,
/// belong to no segment: each segment gets a copy. Returns the segment ops.
pub fn draw(ir: &mut Ir, block: Block, segments: &[Draw], shared: &[Op]) -> Vec<Op> {
    let copied: FxHashSet<Op> = shared.iter().copied().collect();
    let mut owned = FxHashSet::default();
    let mut drawn = Vec::with_capacity(segments.len());
    // All copies come first, while an op still reads its original operands.
    let contents: Vec<Content> = segments
        .iter()
        .map(|segment| Content::of(ir, segment, &copied, &mut owned))
        .collect();
    let bodies: Vec<Block> = contents.into_iter().map(|c| c.fill(ir)).collect();
    for (segment, body) in segments.iter().zip(bodies) {
        drawn.push(close(ir, block, segment, body));
    }
    for &op in shared.iter().rev() {
        if ir.results(op).iter().all(|&r| ir.is_unused(r)) {
            ir.erase(op);
        }
    }
    drawn
}

/// The content of a segment.
#[derive(Default)]
struct Content {
    /// The ops in order; for a copy with the original.
    ops: Vec<(Op, Option<Op>)>,
}

impl Content {
    fn of(ir: &mut Ir, segment: &Draw, shared: &FxHashSet<Op>, owned: &mut FxHashSet<Op>) -> Self {
        let mut content = Self::default();
        let mut map = Mapping::default();
        for &op in &segment.ops {
            if !shared.contains(&op) && owned.insert(op) {
                content.ops.push((op, None));
                continue;
            }
            let copy = ir.clone_op(op, &mut map);
            content.ops.push((copy, Some(op)));
        }
        content
    }

    /// Moves the ops into a detached body.
    fn fill(self, ir: &mut Ir) -> Block {
        let region = ir.new_region();
        let body = ir.append_block(region);
        // An op reads the last copy before it.
        let mut copied = FxHashMap::default();
        for (op, original) in self.ops {
            if let Some(original) = original {
                ir.append_op(body, op);
                let results = ir.results(original).iter().copied();
                copied.extend(results.zip(ir.results(op).iter().copied()));
            } else {
                ir.move_to_end(op, body);
                redirect(ir, op, &copied);
            }
        }
        body
    }
}

fn redirect(ir: &mut Ir, op: Op, copied: &FxHashMap<Value, Value>) {
    for index in 0..ir.operand_count(op) {
        if let Some(&copy) = copied.get(&ir.operand(op, index)) {
            ir.set_operand(op, index, copy);
        }
    }
}

/// Creates the segment op around a filled body, and redirects uses outside to its results.
fn close(ir: &mut Ir, block: Block, segment: &Draw, body: Block) -> Op {
    let inside: FxHashSet<Op> = ir.block_ops(body).collect();
    let results = inside_results(ir, body);
    let outputs: Vec<Value> = results
        .into_iter()
        .filter(|&v| ir.users(v).any(|user| !inside.contains(&user)))
        .collect();
    let yielded = NewOp {
        operands: outputs.iter().copied().collect(),
        ..NewOp::default()
    };
    let end = ir.create_op(&task::YIELD, yielded);
    ir.append_op(body, end);
    let attrs = [("sym_name", segment.name.as_str()), ("kind", segment.kind)];
    let attrs = attrs.map(|(key, text)| (ir.sym(key), ir.string_attr(text)));
    let types = outputs
        .iter()
        .map(|&v| (ir.value_type(v), ir.value_name_sym(v)));
    let new = NewOp {
        results: types.collect(),
        attrs: attrs.into_iter().collect(),
        regions: ir.block_region(body).into_iter().collect(),
        ..NewOp::default()
    };
    let op = ir.create_op(&task::SEGMENT, new);
    match ir.terminator(block) {
        Some(end) => ir.insert_before(end, op),
        None => ir.append_op(block, op),
    }
    for (index, &value) in outputs.iter().enumerate() {
        let result = ir.result(op, index);
        ir.replace_uses_if(value, result, |ir, slot| {
            let (user, _) = ir.use_owner(slot);
            !inside.contains(&user) && user != end
        });
    }
    op
}

fn inside_results(ir: &Ir, body: Block) -> Vec<Value> {
    let ops = ir.block_ops(body);
    ops.flat_map(|op| ir.results(op).iter().copied()).collect()
}
