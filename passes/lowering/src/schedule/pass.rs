//! The `schedule` pass.

use fuser_analysis::axes::{Axes, value_text};
use fuser_analysis::cost::{self, Bindings, Kind, Model, Refusal};
use fuser_analysis::targets::{self, SHAPE, TARGET};
use fuser_dialects::fusion::window::is_placed;
use fuser_dialects::task::{labels, positions};
use fuser_dialects::{kernel, task};
use fuser_ir::diag::CodeDef;
use fuser_ir::{Diagnostic, Diagnostics, Ir, Op, Place};
use fuser_pass::{PassContext, PassDef, Remark, RemarkKind, StatDef};
use fuser_target::Target;

use super::apart;
use super::arrange::{Arranged, arrange};
use super::repeat::{Before, Repeats};
use crate::trial;

/// The codes of scheduling.
pub static CODES: &[CodeDef] = &[NO_SCHEDULE];

/// A segment that cannot be scheduled.
pub const NO_SCHEDULE: CodeDef = CodeDef {
    code: "FIR0730",
    title: "a segment has no schedule",
    explanation: "Every segment becomes one or more walks over a single iteration space. A segment that was drawn by hand may \
                  have none: its ops factor an axis in two ways, or depend on an extent that nothing names. Split the segment, \
                  or run `--segment`: what it draws and cannot be scheduled is cut until it can. Then the error stands at a \
                  single op, which the message names.",
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
    doc: "For each `task.segment` without sweeps: plans it with the cost model, which decides sweeps, phases, loops, tiles, lanes \
          and partial sums for the target. The result is `task.sweep` and `task.phase` \
          ops whose clauses may be edited before `lower-to-kernel`. Where a segment that `segment` drew has a plan that cannot be \
          lowered, the next one is taken: without a tile in fast memory, then cut in halves, at the last one op in each; a \
          remark says so. A segment of the text, or of a given grouping, is an error instead.",
    works_on: "task.segment",
    makes: "task.sweep",
    anchor: &["task.program"],
    options: &[TARGET, SHAPE],
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
        StatDef {
            name: "replanned",
            doc: "segments whose best plan cannot be lowered, run without a tile in fast memory",
        },
        StatDef {
            name: "cut",
            doc: "segments without a plan that can be lowered, cut in two",
        },
    ],
    run,
    ..PassDef::EMPTY
};

fn run(ctx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
    let mut goal = Goal {
        target: targets::of(ctx),
        bindings: targets::bindings(ctx)?,
        repeats: Repeats::default(),
    };
    labels::note(ctx.ir, ctx.op);
    positions::note(ctx.ir, ctx.op);
    let segments = ctx.ir.children(ctx.op);
    for (done, &segment) in segments.iter().enumerate() {
        ctx.progress
            .tell("schedule: segments", done, segments.len());
        if ctx.ir.is(segment, &task::SEGMENT) && !is_written(ctx.ir, segment) {
            schedule_all(ctx, segment, &mut goal);
        }
    }
    positions::settle(ctx.ir, ctx.op);
    Ok(())
}

/// The target and the extents that are scheduled for.
struct Goal {
    target: Target,
    bindings: Bindings,
    repeats: Repeats,
}

/// The reason that a segment has no schedule.
struct Refused {
    /// The location and name of the op at fault; `None` if the reason concerns all ops.
    at: Option<(Place, String)>,
    reason: String,
    help: Option<String>,
}

/// True if the segment already has a schedule: it contains a sweep or a launch.
fn is_written(ir: &Ir, segment: Op) -> bool {
    let written = |op: &Op| ir.is(*op, &task::SWEEP) || ir.is(*op, &kernel::LAUNCH);
    ir.children(segment).iter().any(written)
}

/// Schedules a segment, or the parts into which it has to be cut.
fn schedule_all(ctx: &mut PassContext<'_>, segment: Op, goal: &mut Goal) {
    let mut waiting = vec![segment];
    while let Some(mut segment) = waiting.pop() {
        let ops = apart::ops_of(ctx.ir, segment);
        // Views and calls have no loops.
        let kind = ctx.ir.str_of(segment, "kind");
        let called = [Kind::Library, Kind::Control]
            .iter()
            .any(|called| kind == Some(called.name()));
        let placed = ops.iter().any(|&op| is_placed(ctx.ir, op));
        let view = ops.iter().all(|&op| cost::keeps_memory(ctx.ir, op));
        if called || placed || view {
            ctx.count("segments", 1);
            continue;
        }
        // What has to be decomposed first has no kernel under any plan: lowering says so, and nothing is cut for it.
        let whole = ops.iter().any(|&op| ctx.ir.is_composite(op));
        let drawn = apart::is_drawn(ctx.ir, segment) && !whole;
        let arranged = match drawn {
            true => settle(ctx, &mut segment, goal),
            false => attempt(ctx, segment, goal),
        };
        match arranged {
            Ok(arranged) => {
                ctx.count("segments", 1);
                ctx.count("sweeps", arranged.sweeps as u64);
                ctx.count("hoisted", arranged.hoisted.len() as u64);
                tell(ctx, segment, &arranged);
            }
            Err(refused) => {
                let name = symbol(ctx.ir, segment);
                match drawn.then(|| apart::halve(ctx.ir, segment)).flatten() {
                    Some([first, second]) => {
                        ctx.count("cut", 1);
                        let text = format!("@{name} is cut into @{name}a and @{name}b");
                        tell_other_plan(ctx, text, &refused, ops.len());
                        waiting.extend([second, first]);
                    }
                    None => refuse(ctx, segment, refused),
                }
            }
        }
    }
}

fn symbol(ir: &Ir, segment: Op) -> String {
    ir.symbol_name(segment).unwrap_or("s").to_owned()
}

/// Schedules a segment created by a pass, using the best plan that can be lowered. `segment` may become a copy of
/// itself.
fn settle(
    ctx: &mut PassContext<'_>,
    segment: &mut Op,
    goal: &mut Goal,
) -> Result<Arranged, Refused> {
    // What a remark names is no copy.
    let before = (!ctx.wants_remarks()).then(|| Before::of(ctx.ir, *segment));
    let repeated = before.as_ref();
    let repeated = repeated.and_then(|before| goal.repeats.repeat(ctx.ir, *segment, before));
    if let Some(arranged) = repeated {
        return Ok(arranged);
    }
    let refused = match settle_by(ctx, segment, goal) {
        Err(refused) => refused,
        Ok(arranged) => {
            if let Some(before) = before {
                goal.repeats.learn(before, *segment, &arranged);
            }
            return Ok(arranged);
        }
    };
    // Without fast memory nothing is resident: each reduction ends a sweep.
    let mut other = Goal {
        target: goal.target,
        bindings: goal.bindings.clone(),
        repeats: Repeats::default(),
    };
    other.target.tile_bytes = 0;
    let Ok(arranged) = settle_by(ctx, segment, &other) else {
        return Err(refused);
    };
    ctx.count("replanned", 1);
    let text = format!("@{} keeps no tile in fast memory", symbol(ctx.ir, *segment));
    let ops = apart::ops_of(ctx.ir, *segment).len();
    tell_other_plan(ctx, text, &refused, ops);
    Ok(arranged)
}

/// Schedules `segment` by the best plan for `goal`; on failure, replaces it by an unscheduled copy.
fn settle_by(
    ctx: &mut PassContext<'_>,
    segment: &mut Op,
    goal: &Goal,
) -> Result<Arranged, Refused> {
    let before = apart::copy(ctx.ir, *segment);
    let arranged = attempt(ctx, *segment, goal).and_then(|arranged| {
        let lowered = trial::check(ctx.ir, *segment, &goal.target);
        lowered.map(|()| arranged).map_err(|fault| Refused {
            at: Some((fault.place, fault.op)),
            reason: fault.reason,
            help: Some(fault.help),
        })
    });
    match arranged {
        Ok(_) => ctx.ir.erase(before),
        Err(_) => {
            apart::restore(ctx.ir, *segment, before);
            *segment = before;
        }
    }
    arranged
}

/// Draws the sweeps of the cost model's plan.
fn attempt(ctx: &mut PassContext<'_>, segment: Op, goal: &Goal) -> Result<Arranged, Refused> {
    let ops = apart::ops_of(ctx.ir, segment);
    let refused = |ctx: &PassContext<'_>, refusal: Refusal| {
        let op = refusal.op(ctx.ir);
        Refused {
            at: op.map(|op| (ctx.place(op), ctx.ir.name(op).to_owned())),
            reason: refusal.render(ctx.ir),
            help: None,
        }
    };
    let model = Model {
        target: goal.target,
        bindings: goal.bindings.clone(),
        ..Model::default()
    };
    let axes = Axes::build(ctx.ir, &ops).map_err(|r| refused(ctx, Refusal::Axes(r)))?;
    let plan = cost::plan(ctx.ir, &ops, &axes, &model).map_err(|r| refused(ctx, r))?;
    if plan.kind == Kind::View {
        return Ok(Arranged::default());
    }
    arrange(ctx.ir, segment, &plan, &axes, &model).map_err(|reason| Refused {
        at: None,
        reason,
        help: None,
    })
}

/// An error at the segment if the text contains it, else at the op at fault, or at the first op.
fn refuse(ctx: &mut PassContext<'_>, segment: Op, refused: Refused) {
    let message = format!("the segment has no schedule: {}", refused.reason);
    let diagnostic = ctx.error_at(segment, &NO_SCHEDULE, message);
    if !apart::is_drawn(ctx.ir, segment) {
        return ctx.report(diagnostic.help("split the segment, or let '--segment' draw segments"));
    }
    let first = apart::ops_of(ctx.ir, segment).first().copied();
    let first = first.map(|op| (ctx.place(op), ctx.ir.name(op).to_owned()));
    let (place, op) = refused
        .at
        .or(first)
        .unwrap_or((Place::Unknown, String::new()));
    let message = format!("'{op}' has no schedule: {}", refused.reason);
    let diagnostic = Diagnostic::error(&NO_SCHEDULE, place, message).with_op(op);
    let help = refused
        .help
        .unwrap_or_else(|| "the interpreter runs it".into());
    ctx.report(diagnostic.help(help));
}

/// The name of the remark about a segment whose chosen plan cannot be lowered.
pub const OTHER_PLAN: &str = "OtherPlan";

/// Emits a remark about a chosen plan that cannot be lowered, and about the replacement.
fn tell_other_plan(ctx: &mut PassContext<'_>, text: String, refused: &Refused, ops: usize) {
    let place = refused
        .at
        .as_ref()
        .map_or(Place::Unknown, |at| at.0.clone());
    let reason = match &refused.at {
        Some((_, op)) if !op.is_empty() => format!("'{op}': {}", refused.reason),
        _ => refused.reason.clone(),
    };
    let remark = Remark::new(RemarkKind::Missed, OTHER_PLAN, place, text).reason(reason);
    ctx.remark(remark.int("Ops", i64::try_from(ops).unwrap_or(i64::MAX)));
}

/// A remark for each value that is computed before loops.
fn tell(ctx: &mut PassContext<'_>, segment: Op, arranged: &Arranged) {
    if !ctx.wants_remarks() {
        return;
    }
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
        let remark = remark.int("Work", kept.work.into()).int("TileBytes", bytes);
        ctx.remark(remark.text("Segment", symbol(ctx.ir, segment)));
    }
}
