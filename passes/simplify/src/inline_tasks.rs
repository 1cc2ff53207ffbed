//! Removes the boundaries that the compiler created.
//!
//! The ops of a segment, sweep, phase or pattern move to the place of the task, and the yielded values replace its
//! results. This is the inverse of creating a boundary: ops are moved, never rewritten.
//!
//! ```text
//! %y = task.segment @s {
//!   %e = fusion.exp %x             %e = fusion.exp %x
//!   %y = fusion.neg %e       =>    %y = fusion.neg %e
//!   task.yield %y
//! }
//! ```
//!
//! Ops that were gathered or copied when the boundaries were drawn remember their place in the program (`task::positions`): once all
//! boundaries around them are gone they stand in that order again, each once, and the program is what it was before.
//!
//! Patterns that `label-patterns` or `segment` turned into labels are drawn again, once no other boundary is left.
//!
//! Never changes or adds an op that is not a boundary. Linear; does not recurse.

use fuser_dialects::task::outline::{dissolve, is_boundary};
use fuser_dialects::task::{labels, positions};
use fuser_ir::{Ir, Op};
use fuser_pass::{OptionDef, OptionKind, PassContext, PassDef, StatDef};

/// `inline-tasks`
pub static INLINE_TASKS: PassDef = PassDef {
    name: "inline-tasks",
    summary: "dissolve segments, sweeps and phases",
    doc: "Moves the ops of each task of the listed kinds to the place of the task and erases the task. Tasks of lower levels \
          go with it: sweeps stand in segments only, and phases in sweeps. What drawing the boundaries gathered or copied goes \
          back to its place. Patterns are dissolved only if `kinds` says so; those that became labels (`label-patterns`) are drawn again once a program has \
          no other boundary.",
    options: &[OptionDef {
        name: "kinds",
        kind: OptionKind::Checked {
            what: "<kind,...>",
            check: check_kinds,
        },
        default: "segment,sweep,phase",
        doc: "which tasks: segment, sweep, phase, pattern",
    }],
    statistics: &[
        StatDef {
            name: "dissolved",
            doc: "tasks dissolved",
        },
        StatDef {
            name: "patterns",
            doc: "patterns drawn again from labels",
        },
    ],
    run: |ctx| {
        run(ctx);
        Ok(())
    },
    ..PassDef::EMPTY
};

/// The levels of boundaries, the outermost first: each stands only in the one before it.
const LEVELS: [&str; 3] = ["segment", "sweep", "phase"];
/// The kind that stands at any level.
const PATTERN: &str = "pattern";

fn check_kinds(text: &str) -> Result<(), String> {
    let mut words = text.split(',').map(str::trim).filter(|w| !w.is_empty());
    let known = |word: &&str| LEVELS.contains(word) || *word == PATTERN;
    match words.find(|word| !known(word)) {
        Some(word) => Err(format!(
            "'{word}' is no kind of task: {}, {PATTERN}",
            LEVELS.join(", ")
        )),
        None => Ok(()),
    }
}

fn run(ctx: &mut PassContext<'_>) {
    let kinds = ctx.options.list("kinds");
    let is_listed = |kind: &str| kinds.iter().any(|k| k == kind);
    let levels = LEVELS.into_iter().skip_while(|level| !is_listed(level));
    let dissolved_kinds: Vec<&str> = levels
        .chain(Some(PATTERN).filter(|kind| is_listed(kind)))
        .collect();
    let wanted = |ir: &Ir, op: Op| {
        let kind = ir.name(op).strip_prefix("task.").unwrap_or_default();
        is_boundary(ir, op) && dissolved_kinds.contains(&kind)
    };
    let mut dissolved = 0;
    for op in ctx.ir.walk_post(ctx.op) {
        if op != ctx.op && wanted(ctx.ir, op) && dissolve(ctx.ir, op) {
            dissolved += 1;
        }
    }
    ctx.count("dissolved", dissolved);
    if dissolved > 0 {
        positions::restore(ctx.ir, ctx.op);
    }
    if is_listed(PATTERN) {
        labels::forget(ctx.ir, ctx.op);
    } else {
        let patterns = labels::restore(ctx.ir, ctx.op);
        ctx.count("patterns", patterns);
    }
}
