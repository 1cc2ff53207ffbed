//! Drawing a boundary around ops, and taking it away.
//!
//! [`outline`] moves ops into a new segment, sweep, phase or pattern; [`dissolve`] moves them back. Neither rewrites an
//! op: ops in a sequence before are in the same sequence after both, with the same operands and names.
//!
//! ```text
//! %a = fusion.exp %x                %b = task.segment @s {
//! %b = fusion.neg %a       <=>        %a = fusion.exp %x
//! task.return %b                      %b = fusion.neg %a
//!                                     task.yield %b
//!                                   }
//!                                   task.return %b
//! ```
//!
//! Takes time linear in the block's range from the first to the last of the ops.

use fuser_ir::def::OpDef;
use fuser_ir::{Builder, Ir, NewOp, Op, Traits, Value};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::interface::{Task, outputs};
use super::{PATTERN, PHASE, SEGMENT, SWEEP, YIELD};

/// The ops that are boundaries and nothing else.
pub static BOUNDARIES: [&OpDef; 4] = [&SEGMENT, &SWEEP, &PHASE, &PATTERN];

/// The reason that ops cannot become one task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// No ops were given.
    Empty,
    /// The table is none of [`BOUNDARIES`].
    NoBoundary,
    /// An op does not come after the previous one in its block, or is listed twice.
    NotInOrder {
        /// The number of ops found in order.
        found: usize,
    },
    /// An op ends its block.
    Terminator {
        /// The op.
        op: Op,
    },
    /// A cycle: an op in the task needs the result of an op outside that needs a result of the task.
    NotConvex {
        /// The op inside.
        op: Op,
    },
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::Empty => write!(f, "a task needs at least one op"),
            Refusal::NoBoundary => write!(f, "this op is no boundary of a task"),
            Refusal::NotInOrder { found } => {
                write!(f, "only {found} of the ops stand in order in one block")
            }
            Refusal::Terminator { .. } => write!(f, "the op that ends a block stays in it"),
            Refusal::NotConvex { .. } => {
                write!(f, "an op outside would come both before and after the task")
            }
        }
    }
}

/// True if `op` only draws a boundary around its ops.
pub fn is_boundary(ir: &Ir, op: Op) -> bool {
    BOUNDARIES.iter().any(|def| ir.is(op, def))
}

/// Moves `ops`, which are in this order in one block, into a new task of table `kind`, at the position of the last op.
/// Ops between them that need a result of the task are moved after it; if there are none, no other op moves. The
/// results are the values with users outside, in order, with their names.
pub fn outline(
    ir: &mut Ir,
    ops: &[Op],
    kind: &'static OpDef,
    name: Option<&str>,
) -> Result<Op, Refusal> {
    if !BOUNDARIES.iter().any(|def| std::ptr::eq(*def, kind)) {
        return Err(Refusal::NoBoundary);
    }
    let last = *ops.last().ok_or(Refusal::Empty)?;
    if let Some(&op) = ops.iter().find(|op| ir.has(**op, Traits::TERMINATOR)) {
        return Err(Refusal::Terminator { op });
    }
    let later = dependents(ir, ops)?;
    let results = outputs(ir, Task::Ops(ops));
    let task = make(ir, kind, name, &results, last);
    let mut after = task;
    for op in later {
        ir.detach(op);
        ir.insert_after(after, op);
        after = op;
    }
    fill(ir, task, ops, &results);
    Ok(task)
}

/// The ops between the first and the last of `ops` that need a result of one of them, in order.
fn dependents(ir: &Ir, ops: &[Op]) -> Result<Vec<Op>, Refusal> {
    let mut tainted: FxHashSet<Op> = FxHashSet::default();
    let mut outside: FxHashSet<Op> = FxHashSet::default();
    let mut later = Vec::new();
    let mut found = 0;
    let mut next = ops.first().copied();
    while found < ops.len() {
        let op = next.ok_or(Refusal::NotInOrder { found })?;
        if op == ops[found] {
            found += 1;
            if uses_any(ir, op, &outside) {
                return Err(Refusal::NotConvex { op });
            }
            tainted.insert(op);
        } else if uses_any(ir, op, &tainted) {
            tainted.insert(op);
            outside.insert(op);
            later.push(op);
        }
        next = ir.next_op(op);
    }
    Ok(later)
}

/// True if `op`, or an op inside it, uses a result of one of `set`.
fn uses_any(ir: &Ir, op: Op, set: &FxHashSet<Op>) -> bool {
    if set.is_empty() {
        return false;
    }
    let hit = |v: Value| ir.def_op(v).is_some_and(|def| set.contains(&def));
    ir.walk(op).into_iter().any(|o| ir.operands(o).any(hit))
}

/// Makes the empty task after `last`.
fn make(ir: &mut Ir, kind: &'static OpDef, name: Option<&str>, results: &[Value], last: Op) -> Op {
    let region = ir.new_region();
    ir.append_block(region);
    let mut attrs = SmallVec::new();
    if let Some(name) = name {
        attrs.push((ir.sym("sym_name"), ir.string_attr(name)));
    }
    let results = results
        .iter()
        .map(|v| (ir.value_type(*v), ir.value_name_sym(*v)));
    let new = NewOp {
        results: results.collect(),
        attrs,
        regions: SmallVec::from_elem(region, 1),
        loc: Some(ir.op_loc(last)),
        ..NewOp::default()
    };
    let task = ir.create_op(kind, new);
    ir.insert_after(last, task);
    task
}

/// Moves `ops` into `task`, yields `results`, and points the outside at the task's results.
fn fill(ir: &mut Ir, task: Op, ops: &[Op], results: &[Value]) {
    let Some(body) = ir.body(task, 0) else { return };
    let inside: FxHashSet<Op> = Task::Ops(ops).ops(ir).into_iter().collect();
    for &op in ops {
        ir.move_to_end(op, body);
    }
    let outer = ir.results(task).to_vec();
    for (&from, to) in results.iter().zip(outer) {
        ir.replace_uses_if(from, to, |ir, slot| !inside.contains(&ir.use_owner(slot).0));
    }
    let loc = ir.op_loc(task);
    let mut builder = Builder::at_end(ir, body);
    builder.loc = loc;
    let end = builder.op(&YIELD, results, &[]);
    debug_assert!(end.is_ok(), "a yield takes any values");
}

/// Moves the ops of `task` to its position and erases it. Returns `false`, without changes, if `task` is no boundary or
/// has no body of one block that ends in `task.yield` with a value for each result.
pub fn dissolve(ir: &mut Ir, task: Op) -> bool {
    let body = ir
        .body(task, 0)
        .filter(|b| is_boundary(ir, task) && ir.next_block(*b).is_none());
    let end = body
        .and_then(|b| ir.terminator(b))
        .filter(|end| ir.is(*end, &YIELD));
    let (Some(body), Some(end)) = (body, end) else {
        return false;
    };
    let yielded: Vec<Value> = ir.operands(end).collect();
    let results = ir.results(task).to_vec();
    if yielded.len() != results.len() || ir.parent_block(task).is_none() {
        return false;
    }
    ir.erase(end);
    ir.inline_block_before(body, task);
    for (from, to) in results.into_iter().zip(yielded) {
        ir.replace_all_uses(from, to);
    }
    ir.erase(task);
    true
}
