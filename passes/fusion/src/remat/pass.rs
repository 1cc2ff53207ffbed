//! The `remat` pass.

use fuser_analysis::targets::{self, SHAPE, TARGET};
use fuser_dialects::task::positions;
use fuser_ir::Diagnostics;
use fuser_pass::{OptionDef, OptionKind, PassContext, PassDef, Remark, RemarkKind, StatDef};
use serde::Serialize;

use super::improve::{Config, Outcome, improve};
use super::solutions::Foreseen;
use crate::planner::Planner;

/// `remat`
pub static REMAT: PassDef = PassDef {
    name: "remat",
    summary: "recomputes in a kernel what is dearer to load",
    doc: "Chooses which values segments write to memory and what each loads or computes again, so that bytes, arithmetic \
          (as bytes that move meanwhile) and launches cost least in all: a minimum cut per kernel, and a descent over what is \
          written. Equal ops of a segment become one; segments that nothing needs vanish. Reductions, pinned ops and \
          barriers are never recomputed; program results stay written once. What is accepted costs strictly less.",
    works_on: "task.segment",
    anchor: &["task.program"],
    options: &[
        TARGET,
        SHAPE,
        OptionDef {
            name: "launch-bytes",
            kind: OptionKind::Int {
                min: -1,
                max: i64::MAX,
            },
            default: "-1",
            doc: "price of a launch in bytes; -1: by the target's figures",
        },
        OptionDef {
            name: "arithmetic",
            kind: OptionKind::COUNT,
            default: "100",
            doc: "price of arithmetic, per cent of the target's",
        },
        OptionDef {
            name: "max-work",
            kind: OptionKind::COUNT,
            default: "256",
            doc: "values, ops and nodes of networks that the search may look at for each op of the program, besides 262144; twice where the cost model refuses something",
        },
    ],
    statistics: &[
        StatDef {
            name: "bytes-before",
            doc: "bytes read and written before",
        },
        StatDef {
            name: "bytes-after",
            doc: "bytes read and written after",
        },
        StatDef {
            name: "recomputed",
            doc: "ops computed again in a foreign kernel",
        },
        StatDef {
            name: "vanished",
            doc: "segments that nothing needs any more",
        },
        StatDef {
            name: "work",
            doc: "values, ops and nodes of networks that the search looked at",
        },
        StatDef {
            name: "steps",
            doc: "changes of what is written that were tried",
        },
        StatDef {
            name: "solved",
            doc: "kernels whose loads and ops were found by a cut: others look the same as one of them, or segment looked ahead at them",
        },
        StatDef {
            name: "planned-ops",
            doc: "ops in the segments that the cost model was asked about",
        },
        StatDef {
            name: "spent",
            doc: "searches that max-work ended",
        },
        StatDef {
            name: "closed",
            doc: "segments that the cost model refused as they would become, and that got nothing to recompute",
        },
        StatDef {
            name: "barred",
            doc: "ops that a segment did not get because they have no iteration space in common with its own",
        },
    ],
    run,
    ..PassDef::EMPTY
};

fn run(ctx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
    let mut planner = Planner::new(targets::model(ctx)?);
    planner.progress = ctx.progress.clone();
    planner.solutions = ctx.kept.take().unwrap_or_default();
    recompute(ctx, &mut planner);
    crate::report::emit(ctx, &planner.model);
    Ok(())
}

fn recompute(ctx: &mut PassContext<'_>, planner: &mut Planner) {
    let config = Config {
        launch_bytes: u64::try_from(ctx.options.int("launch-bytes")).ok(),
        arithmetic: ctx.options.count("arithmetic"),
        work: ctx.options.count("max-work"),
    };
    let foreseen = planner.solutions.foreseen(ctx.ir, &planner.model);
    let contents = match foreseen.filter(|_| config == Config::DEFAULT) {
        Some(Foreseen::Nothing) => return,
        Some(Foreseen::Computes(contents)) => Some(contents),
        None => None,
    };
    positions::note(ctx.ir, ctx.op);
    let outcome = improve(ctx.ir, ctx.op, planner, &config, contents.as_ref());
    positions::settle(ctx.ir, ctx.op);
    ctx.count("work", outcome.work);
    ctx.count("steps", outcome.steps);
    ctx.count("solved", outcome.solved);
    ctx.count("planned-ops", outcome.planned_ops);
    ctx.count("spent", u64::from(outcome.spent));
    ctx.count("closed", outcome.closed);
    ctx.count("barred", outcome.barred);
    if outcome.changed {
        tell(ctx, &outcome);
    }
}

/// The changes since segments were explained, as text.
fn explanation(outcome: &Outcome) -> String {
    let (before, after) = (outcome.bytes_before, outcome.bytes_after);
    let mut text = format!(
        "then remat changed what segments load, write and compute: {before} bytes read and written became {after}\n"
    );
    for (value, segment) in &outcome.again {
        text += &format!("  {value} is computed again in @{segment}\n");
    }
    for segment in &outcome.gone {
        text += &format!("  @{segment} is gone: nothing needs what it wrote\n");
    }
    text
}

/// The changes since segments were explained, as data.
fn data(outcome: &Outcome) -> Later<'_> {
    let again = outcome.again.iter();
    Later {
        pass: REMAT.name,
        bytes_before: outcome.bytes_before,
        bytes_after: outcome.bytes_after,
        again: again
            .map(|(value, segment)| Again { value, segment })
            .collect(),
        gone: &outcome.gone,
        spent: outcome.spent,
    }
}

/// The report of a rematerialization.
#[derive(Serialize)]
struct Later<'a> {
    pass: &'static str,
    /// Bytes read and written before.
    bytes_before: u64,
    bytes_after: u64,
    /// The recomputed values, and the segments that recompute them.
    again: Vec<Again<'a>>,
    /// Segments removed because no value of theirs is needed.
    gone: &'a [String],
    /// True if the budget ended the search.
    spent: bool,
}

#[derive(Serialize)]
struct Again<'a> {
    value: &'a str,
    segment: &'a str,
}

fn tell(ctx: &mut PassContext<'_>, outcome: &Outcome) {
    let (before, after) = (outcome.bytes_before, outcome.bytes_after);
    ctx.count("bytes-before", before);
    ctx.count("bytes-after", after);
    ctx.count("vanished", outcome.vanished);
    ctx.count("recomputed", outcome.recomputed);
    if ctx.wants_file("explain") || ctx.wants_file("explain-pair") {
        ctx.emit_file(crate::EXPLAIN_LATER, explanation(outcome));
    }
    if ctx.wants_file("explain-json") {
        // Serializing plain strings and numbers cannot fail.
        let json = serde_json::to_string(&data(outcome)).unwrap_or_default();
        ctx.emit_file(crate::EXPLAIN_LATER_JSON, json);
    }
    let place = ctx.place(ctx.op);
    let text = format!(
        "remat accepted bytes {before} -> {after}, {} ops computed again, {} segments gone",
        outcome.recomputed, outcome.vanished
    );
    let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    let remark = Remark::new(RemarkKind::Passed, "Remat", place, text);
    let remark = remark.int("BytesBefore", number(before));
    ctx.remark(remark.int("BytesAfter", number(after)));
}
