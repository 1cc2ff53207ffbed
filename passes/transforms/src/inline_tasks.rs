//! Dissolves the borders that the compiler drew.
//!
//! The ops of a segment, sweep, phase (or pattern) move to where the task stood, its results become what it yielded. It is
//! the inverse of drawing a border: ops are moved, never rewritten.
//!
//! ```text
//! %y = task.segment @s {
//!   %e = fusion.exp %x             %e = fusion.exp %x
//!   %y = fusion.neg %e       =>    %y = fusion.neg %e
//!   task.yield %y
//! }
//! ```
//!
//! Never changes, adds or reorders an op that is not a border. Linear; does not recurse.

use fuser_dialects::task;
use fuser_ir::{Ir, Op, Value};
use fuser_pass::{OptionDef, OptionKind, PassContext, PassDef, StatDef};

/// `inline-tasks`
pub static INLINE_TASKS: PassDef = PassDef {
    name: "inline-tasks",
    summary: "dissolve segments, sweeps and phases",
    doc: "Moves the ops of each task of the listed kinds to the place of the task and erases the task. Inner tasks of other \
          kinds stay, as ops of the outer one. Patterns are dissolved only if `kinds` says so.",
    options: &[OptionDef {
        name: "kinds",
        kind: OptionKind::List,
        default: "segment,sweep,phase",
        doc: "which tasks: segment, sweep, phase, pattern",
    }],
    statistics: &[StatDef {
        name: "dissolved",
        doc: "tasks dissolved",
    }],
    run: |ctx| {
        run(ctx);
        Ok(())
    },
    ..PassDef::EMPTY
};

/// Whether `op` only draws a border around its ops: a segment, sweep, phase or pattern.
pub fn is_border(ir: &Ir, op: Op) -> bool {
    BORDERS.iter().any(|def| ir.is(op, def))
}

static BORDERS: [&fuser_ir::OpDef; 4] =
    [&task::SEGMENT, &task::SWEEP, &task::PHASE, &task::PATTERN];

fn run(ctx: &mut PassContext<'_>) {
    let kinds = ctx.options.list("kinds");
    let wanted = |ir: &Ir, op: Op| {
        let kind = ir.name(op).strip_prefix("task.");
        is_border(ir, op) && kinds.iter().any(|k| Some(k.as_str()) == kind)
    };
    let mut dissolved = 0;
    for op in ctx.ir.walk_post(ctx.op) {
        if op != ctx.op && wanted(ctx.ir, op) && dissolve(ctx.ir, op) {
            dissolved += 1;
        }
    }
    ctx.count("dissolved", dissolved);
    if dissolved == 0 {
        ctx.preserve_all();
    }
}

/// Moves the ops of `task` before it and erases it; `false` where it has no body that ends in a yield.
pub fn dissolve(ir: &mut Ir, task: Op) -> bool {
    let Some(body) = ir.body(task, 0) else {
        return false;
    };
    let Some(end) = ir.terminator(body) else {
        return false;
    };
    let yielded: Vec<Value> = ir.operands(end).collect();
    ir.erase(end);
    ir.inline_block_before(body, task);
    let results = ir.results(task).to_vec();
    for (from, to) in results.into_iter().zip(yielded) {
        ir.replace_all_uses(from, to);
    }
    ir.erase(task);
    true
}
