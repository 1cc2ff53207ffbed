//! The `schedule` pass.

use fuser_dialects::task;
use fuser_ir::diag::CodeDef;
use fuser_ir::{Diagnostics, Op};
use fuser_pass::{OptionDef, OptionKind, PassContext, PassDef, Remark, RemarkKind, StatDef};

use super::arrange::{Arranged, arrange};
use super::loops::{TUNINGS, Tuning};
use crate::axes::{Axes, value_text};
use crate::cost::{self, Kind, MACHINE_NAMES, Machine, Model};
use crate::{label_patterns, places};

/// The codes of scheduling.
pub static CODES: &[CodeDef] = &[NO_SCHEDULE];

/// A segment that cannot be scheduled.
pub const NO_SCHEDULE: CodeDef = CodeDef {
    code: "FIR0730",
    title: "a segment has no schedule",
    explanation: "Every segment becomes one or more walks over a single iteration space. A segment that was drawn by hand may \
                  have none: its ops factor an axis in two ways, or depend on an extent that nothing names. Split the segment, \
                  or run `--segment`, which draws only segments that have a schedule.",
    example: "$ fuser-opt x.fir --schedule\n\
              task.program @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {\n  \
              %y = task.segment @s {\n    \
              %y = fusion.exp %x\n    \
              task.yield %y\n  \
              }\n  \
              task.return %y\n\
              }",
};

/// `schedule`
pub static SCHEDULE: PassDef = PassDef {
    name: "schedule",
    summary: "writes down how each segment walks its space, as sweeps and phases",
    doc: "For each `task.segment` without sweeps: plans it with the cost model (which axes are resident, how many sweeps and \
          phases) and chooses loops, tiles, lanes and partial sums for the target. The result is `task.sweep` and `task.phase` \
          ops whose clauses may be edited before `lower-to-kernel`.",
    anchor: &["task.program"],
    options: &[
        OptionDef {
            name: "target",
            kind: OptionKind::Choice(&["cpu", "cuda"]),
            default: "cpu",
            doc: "for which kind of machine loops and lanes are chosen",
        },
        OptionDef {
            name: "machine",
            kind: OptionKind::Choice(MACHINE_NAMES),
            default: "cpu",
            doc: "the machine description that says how much fast memory a worker has",
        },
    ],
    statistics: &[
        StatDef {
            name: "segments",
            doc: "segments scheduled",
        },
        StatDef {
            name: "sweeps",
            doc: "sweeps written",
        },
        StatDef {
            name: "hoisted",
            doc: "values computed once before loops that do not change them",
        },
    ],
    run,
    ..PassDef::EMPTY
};

fn run(ctx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
    let tuning = Tuning::by_name(ctx.options.text("target")).unwrap_or(&TUNINGS[0]);
    let machine = Machine::by_name(ctx.options.text("machine")).unwrap_or(&cost::MACHINES[0]);
    label_patterns::note(ctx.ir, ctx.op);
    places::note(ctx.ir, ctx.op);
    for segment in ctx.ir.children(ctx.op) {
        if ctx.ir.is(segment, &task::SEGMENT) && !has_sweeps(ctx, segment) {
            schedule_segment(ctx, segment, tuning, machine);
        }
    }
    places::settle(ctx.ir, ctx.op);
    Ok(())
}

fn has_sweeps(ctx: &PassContext<'_>, segment: Op) -> bool {
    ctx.ir
        .children(segment)
        .into_iter()
        .any(|op| ctx.ir.is(op, &task::SWEEP))
}

fn schedule_segment(ctx: &mut PassContext<'_>, segment: Op, tuning: &Tuning, machine: &Machine) {
    let ops: Vec<Op> = ctx
        .ir
        .children(segment)
        .into_iter()
        .filter(|&op| !ctx.ir.is(op, &task::YIELD))
        .collect();
    if ops.iter().all(|&op| cost::keeps_memory(ctx.ir, op)) {
        ctx.count("segments", 1);
        return;
    }
    let planned = Axes::build(ctx.ir, &ops)
        .map_err(|r| r.render(ctx.ir))
        .and_then(|axes| {
            let model = Model {
                machine: *machine,
                ..Model::default()
            };
            let plan = cost::plan(ctx.ir, &ops, &axes, &model);
            plan.map(|p| (axes, p)).map_err(|r| r.render(ctx.ir))
        });
    let result = planned.and_then(|(axes, plan)| match plan.kind {
        Kind::View => Ok(Arranged::default()),
        Kind::Kernel => arrange(ctx.ir, segment, &plan, &axes, tuning, machine.tile_bytes),
    });
    match result {
        Ok(arranged) => {
            ctx.count("segments", 1);
            ctx.count("sweeps", arranged.sweeps as u64);
            ctx.count("hoisted", arranged.hoisted.len() as u64);
            tell(ctx, segment, &arranged);
        }
        Err(reason) => {
            let message = format!("the segment has no schedule: {reason}");
            let diagnostic = ctx.error_at(segment, &NO_SCHEDULE, message);
            ctx.report(diagnostic.help("split the segment, or let '--segment' draw segments"));
        }
    }
}

/// A remark for each value that is computed before loops.
fn tell(ctx: &mut PassContext<'_>, segment: Op, arranged: &Arranged) {
    for (kept, before) in &arranged.hoisted {
        let place = ctx.place(ctx.ir.def_op(kept.value).unwrap_or(segment));
        let text = format!(
            "{} is computed once before the loops along {before}",
            value_text(ctx.ir, kept.value)
        );
        let reason = format!(
            "they do not change it, and it takes {} operations against one load",
            kept.work
        );
        let remark = Remark::new(RemarkKind::Passed, "Hoist", place, text).reason(reason);
        let bytes = i64::try_from(kept.bytes).unwrap_or(i64::MAX);
        ctx.remark(remark.int("Work", kept.work.into()).int("TileBytes", bytes));
    }
}
