//! The `remat` pass.

use fuser_dialects::task;
use fuser_ir::{Diagnostics, Ir, Op};
use fuser_pass::{OptionDef, OptionKind, PassContext, PassDef, Remark, RemarkKind, StatDef};

use super::apply::apply;
use super::extract::{Extract, Prices};
use super::problem::Solution;
use super::search::{Search, solve};
use crate::axes::Axes;
use crate::cost::{Cost, Kind, Machine, Model, Plan, plan};

/// Rounds in which kernels that the cost model refuses are closed to foreign ops; then all are.
const MAX_ROUNDS: usize = 4;

/// `remat`
pub static REMAT: PassDef = PassDef {
    name: "remat",
    summary: "recomputes in a kernel what is dearer to load",
    doc: "Chooses which values segments write to memory and what each loads or computes again, so that bytes, arithmetic \
          (as bytes that move meanwhile) and launches cost least in all: a minimum cut per kernel, and a descent over what is \
          written. Equal ops of a segment become one; segments that nothing needs vanish. Reductions, pinned ops and \
          barriers are never recomputed; program results stay written once. What is accepted costs strictly less.",
    anchor: &["task.program"],
    options: &[
        OptionDef {
            name: "machine",
            kind: OptionKind::Text,
            default: "cpu",
            doc: "the machine description",
        },
        OptionDef {
            name: "shape",
            kind: OptionKind::List,
            default: "",
            doc: "lengths of named extents, for decisions: B=64,S=128; others count as 1024",
        },
        OptionDef {
            name: "launch-bytes",
            kind: OptionKind::Int {
                min: -1,
                max: i64::MAX,
            },
            default: "-1",
            doc: "price of a kernel in bytes; -1: by the machine description",
        },
        OptionDef {
            name: "arithmetic",
            kind: OptionKind::COUNT,
            default: "100",
            doc: "price of arithmetic, per cent of the machine description's",
        },
        OptionDef {
            name: "max-steps",
            kind: OptionKind::COUNT,
            default: "20000",
            doc: "steps that the descent may try",
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
            name: "cuts",
            doc: "minimum cuts solved",
        },
    ],
    run,
    ..PassDef::EMPTY
};

fn run(ctx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
    let bindings = crate::segment::bindings(ctx, &ctx.options.list("shape"))?;
    let machine = Machine::by_name(ctx.options.text("machine"));
    let model = Model {
        machine: machine.copied().unwrap_or_default(),
        bindings,
        ..Model::default()
    };
    if !improve(ctx, &model) {
        ctx.preserve_all();
    }
    crate::report::emit(ctx, &model);
    Ok(())
}

/// Whether something became cheaper.
fn improve(ctx: &mut PassContext<'_>, model: &Model) -> bool {
    let prices = prices(ctx, model);
    let Some(mut extract) = Extract::build(ctx.ir, ctx.op, model, prices) else {
        return false;
    };
    if extract.segments.is_empty() {
        return false;
    }
    let before = costs(ctx.ir, &extract.segments, model);
    for round in 0..=MAX_ROUNDS {
        let mut search = Search::new(ctx.options.count("max-steps"));
        let solution = solve(&extract.problem, &extract.written, &mut search);
        ctx.count("cuts", search.cuts);
        let Some(solution) = solution.filter(|s| s.cost < extract.cost) else {
            return false;
        };
        // On a copy first: the cost model has to accept every kernel as it becomes.
        let mut trial = ctx.ir.clone();
        let made = apply(&mut trial, &extract, &solution);
        for &segment in made.iter().flatten() {
            let kind = kind_of(&trial, segment, model);
            let kind = trial.string_attr(kind.name());
            trial.set_attr(segment, "kind", kind);
        }
        let refused = refused(&trial, &made, &before, model);
        if refused.is_empty() {
            tell(
                ctx,
                &extract,
                &solution,
                &before,
                &costs_of(&trial, &made, model),
            );
            *ctx.ir = trial;
            return true;
        }
        let all = round + 1 >= MAX_ROUNDS;
        for kernel in 0..extract.problem.closed.len() {
            extract.problem.closed[kernel] |= all || refused.contains(&kernel);
        }
    }
    false
}

fn prices(ctx: &PassContext<'_>, model: &Model) -> Prices {
    let machine = &model.machine;
    let launch = match u64::try_from(ctx.options.int("launch-bytes")) {
        Ok(bytes) => bytes,
        Err(_) => machine.launch_ns.saturating_mul(machine.bytes_per_us) / 1000,
    };
    Prices {
        launch,
        arithmetic: ctx.options.count("arithmetic"),
    }
}

/// The plan of a segment.
fn plan_of(ir: &Ir, segment: Op, model: &Model) -> Option<Plan> {
    let ops = ir.children(segment).into_iter();
    let ops: Vec<Op> = ops.filter(|&op| !ir.is(op, &task::YIELD)).collect();
    let axes = Axes::build(ir, &ops).ok()?;
    plan(ir, &ops, &axes, model).ok()
}

fn costs(ir: &Ir, segments: &[Op], model: &Model) -> Vec<Option<Cost>> {
    let plans = segments.iter().map(|&s| plan_of(ir, s, model));
    plans.map(|p| p.map(|p| p.cost)).collect()
}

fn costs_of(ir: &Ir, segments: &[Option<Op>], model: &Model) -> Vec<Option<Cost>> {
    let segments: Vec<Op> = segments.iter().flatten().copied().collect();
    costs(ir, &segments, model)
}

/// The kernels that have no plan any more, or one with more sweeps' worth of bytes than the whole change saves.
fn refused(trial: &Ir, made: &[Option<Op>], before: &[Option<Cost>], model: &Model) -> Vec<usize> {
    let after: Vec<Option<Option<Cost>>> = made
        .iter()
        .map(|s| s.map(|s| plan_of(trial, s, model).map(|p| p.cost)))
        .collect();
    let lost = |(kernel, after): (usize, &Option<Option<Cost>>)| {
        (before[kernel].is_some() && *after == Some(None)).then_some(kernel)
    };
    let refused: Vec<usize> = after.iter().enumerate().filter_map(lost).collect();
    if !refused.is_empty() {
        return refused;
    }
    let bytes = |costs: &mut dyn Iterator<Item = Cost>| {
        costs.fold(0, |sum: u64, c| sum.saturating_add(c.bytes()))
    };
    let total_before = bytes(&mut before.iter().flatten().copied());
    let total_after = bytes(&mut after.iter().flatten().flatten().copied());
    if total_after <= total_before {
        return Vec::new();
    }
    let grew = |(kernel, after): (usize, &Option<Option<Cost>>)| {
        let (Some(before), Some(Some(after))) = (before[kernel], after) else {
            return None;
        };
        (after.bytes() > before.bytes()).then_some(kernel)
    };
    after.iter().enumerate().filter_map(grew).collect()
}

fn tell(
    ctx: &mut PassContext<'_>,
    extract: &Extract,
    solution: &Solution,
    before: &[Option<Cost>],
    after: &[Option<Cost>],
) {
    let bytes = |costs: &[Option<Cost>]| {
        let moved = costs
            .iter()
            .flatten()
            .map(|c| c.read_bytes.saturating_add(c.write_bytes));
        moved.fold(0, u64::saturating_add)
    };
    let (before, after) = (bytes(before), bytes(after));
    ctx.count("bytes-before", before);
    ctx.count("bytes-after", after);
    let gone = solution.kernels.iter().filter(|k| k.is_none()).count();
    ctx.count("vanished", gone as u64);
    let mut recomputed = 0;
    for (kernel, number) in solution.kernels.iter().zip(0..) {
        let ops = kernel.iter().flat_map(|k| k.computes.iter());
        recomputed += ops
            .filter(|&&op| !extract.problem.is_native(op, number))
            .count() as u64;
    }
    ctx.count("recomputed", recomputed);
    let place = ctx.place(ctx.op);
    let text = format!(
        "remat accepted bytes {before} -> {after}, {recomputed} ops computed again, {gone} segments gone"
    );
    let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    let remark = Remark::new(RemarkKind::Passed, "Remat", place, text);
    let remark = remark.int("BytesBefore", number(before));
    ctx.remark(remark.int("BytesAfter", number(after)));
}

/// What a segment is after its ops changed.
fn kind_of(ir: &Ir, segment: Op, model: &Model) -> Kind {
    plan_of(ir, segment, model).map_or(Kind::Kernel, |p| p.kind)
}
