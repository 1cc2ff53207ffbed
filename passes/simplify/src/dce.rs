//! Removes ops that nothing needs.
//!
//! The definition of *needed*, from the ends backwards:
//! - an op that is not pure and draws no boundary (`task.return`, a store, an unknown op) is needed;
//! - the operands of a needed op are needed, and so is the op that makes a needed value;
//! - a task (segment, sweep, phase, pattern) is as needed as its contents: result `i` needs what its yield gives for `i`,
//!   and only that.
//!
//! All else is erased: ops, results of tasks with what they yield, tasks of which nothing is left.
//!
//! ```text
//! %a, %b = task.segment @s {          %a = task.segment @s {
//!   %a = fusion.exp %x                  %a = fusion.exp %x
//!   %b = fusion.log %x          =>      task.yield %a
//!   task.yield %a, %b                 }
//! }                                   task.return %a
//! task.return %a
//! ```
//!
//! Never removes an op with an effect, nor an argument or result of a program. One walk forwards, one backwards.

use fuser_dialects::task::outline::is_boundary;
use fuser_ir::entity::SecondaryMap;
use fuser_ir::ir::Def;
use fuser_ir::{Ir, Op, Traits, Value};
use fuser_pass::{PassContext, PassDef, StatDef};

/// `dce`
pub static DCE: PassDef = PassDef {
    name: "dce",
    summary: "remove ops and task results that nothing needs",
    doc: "Erases pure ops whose results nothing needs, results of tasks that nothing needs together with what computes them \
          inside, and tasks that are left empty. An op with an effect is always needed; so are the results of a program.",
    statistics: &[
        StatDef {
            name: "ops-erased",
            doc: "ops erased",
        },
        StatDef {
            name: "results-erased",
            doc: "results of tasks erased",
        },
    ],
    run: |ctx| {
        run(ctx);
        Ok(())
    },
    ..PassDef::EMPTY
};

fn run(ctx: &mut PassContext<'_>) {
    let needed = Needed::of(ctx.ir, ctx.op);
    let (ops, results) = sweep(ctx.ir, ctx.op, &needed);
    ctx.count("ops-erased", ops);
    ctx.count("results-erased", results);
}

/// The ops and results that are needed under one op.
struct Needed {
    ops: SecondaryMap<Op, bool>,
    /// Results of tasks; for all other ops the op decides.
    results: SecondaryMap<Value, bool>,
    pending: Vec<Op>,
}

impl Needed {
    fn of(ir: &Ir, root: Op) -> Self {
        let mut needed = Self {
            ops: SecondaryMap::default(),
            results: SecondaryMap::default(),
            pending: Vec::new(),
        };
        needed.ops[root] = true;
        // A pure op with regions is needed as a whole, or not at all: its inside is no end.
        let mut stack = ir.children(root);
        while let Some(op) = stack.pop() {
            if is_boundary(ir, op) {
                stack.extend(ir.children(op));
            } else if !ir.has(op, Traits::PURE) && !ends_boundary(ir, op, root) {
                needed.op(ir, op);
                stack.extend(ir.children(op));
            }
        }
        while let Some(op) = needed.pending.pop() {
            for value in ir.operands(op) {
                needed.value(ir, value);
            }
            if ir.has(op, Traits::PURE) {
                ir.children(op).into_iter().for_each(|c| needed.op(ir, c));
            }
        }
        needed
    }
    fn op(&mut self, ir: &Ir, op: Op) {
        if self.ops[op] {
            return;
        }
        self.ops[op] = true;
        if !is_boundary(ir, op) {
            self.pending.push(op);
        }
        self.around(ir, op);
    }
    /// Marks the ops around a needed op: they stay as well.
    fn around(&mut self, ir: &Ir, op: Op) {
        let mut parent = ir.parent_op(op);
        while let Some(op) = parent.filter(|&p| !self.ops[p]) {
            self.ops[op] = true;
            if !is_boundary(ir, op) {
                self.pending.push(op);
            }
            parent = ir.parent_op(op);
        }
    }
    /// Follows one value through the yields of tasks to what computes it.
    fn value(&mut self, ir: &Ir, value: Value) {
        let mut next = Some(value);
        while let Some(value) = next.take() {
            let Def::Result(op, index) = ir.value_def(value) else {
                return;
            };
            self.op(ir, op);
            if is_boundary(ir, op) && !self.results[value] {
                self.results[value] = true;
                next = yielded(ir, op, index as usize);
            }
        }
    }
}

/// The value that a task yields for result `index`.
fn yielded(ir: &Ir, task: Op, index: usize) -> Option<Value> {
    let last = ir.last_op(ir.body(task, 0)?)?;
    ir.operands(last).nth(index)
}

/// True if `op` is the yield of a task inside `root`. The yield of `root` itself is not ours to judge: it is needed.
fn ends_boundary(ir: &Ir, op: Op, root: Op) -> bool {
    let parent = ir.parent_op(op).filter(|&p| p != root);
    ir.has(op, Traits::TERMINATOR) && parent.is_some_and(|p| is_boundary(ir, p))
}

/// Erases all unneeded ops and task results; returns the number of each.
fn sweep(ir: &mut Ir, root: Op, needed: &Needed) -> (u64, u64) {
    let (mut ops, mut results) = (0, 0);
    // Users stand after what they use, inner ops after the op that holds them: backwards, nothing erased is still used.
    for op in ir.walk(root).into_iter().rev() {
        if op == root {
            continue;
        }
        if needed.ops[op] {
            if is_boundary(ir, op) {
                results += drop_results(ir, op, needed);
            }
        } else if !ends_boundary(ir, op, root) {
            ops += 1;
            ir.erase(op);
        }
    }
    (ops, results)
}

fn drop_results(ir: &mut Ir, task: Op, needed: &Needed) -> u64 {
    let kept = |ir: &Ir, i: usize| needed.results[ir.result(task, i)];
    let dead: Vec<usize> = (0..ir.results(task).len())
        .filter(|&i| !kept(ir, i))
        .collect();
    let Some(end) = ir.body(task, 0).and_then(|b| ir.last_op(b)) else {
        return 0;
    };
    if !dead.is_empty() {
        let yields = ir.operands(end).enumerate();
        let left: Vec<Value> = yields
            .filter(|(i, _)| !dead.contains(i))
            .map(|y| y.1)
            .collect();
        ir.set_operands(end, &left);
    }
    for &index in dead.iter().rev() {
        ir.remove_result(task, index);
    }
    dead.len() as u64
}
