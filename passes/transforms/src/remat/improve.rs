//! The whole of rematerialization on a program: read, search, write on a copy, ask the cost model, keep or close kernels.

use std::rc::Rc;

use fuser_dialects::task;
use fuser_ir::{Ir, Op, Value};
use rustc_hash::FxHashMap;

use super::apply::apply;
use super::extract::{Extract, Prices};
use super::problem::Solution;
use super::search::{Search, solve};
use crate::axes::{AxisUnion, value_text};
use crate::cost::{Cost, Kind, Model, Plan, plan_ops};

/// Rounds in which foreign ops that the cost model refuses in a kernel are barred from it; then it is closed to all of them.
const MAX_ROUNDS: usize = 8;
/// Rounds after which a kernel that is refused for what no single op is the cause of is closed; then all are.
const MAX_CLOSING: usize = 4;

/// Prices and bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Config {
    /// Price of a kernel in bytes; `None`: by the machine description.
    pub launch_bytes: Option<u64>,
    /// Price of arithmetic, per cent of the machine description's.
    pub arithmetic: u64,
    /// Steps that the descent may try.
    pub steps: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            launch_bytes: None,
            arithmetic: 100,
            steps: 20_000,
        }
    }
}

/// What came of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Outcome {
    /// Whether something became cheaper; without it only `cuts` and `closed` below are filled, and the program is as before.
    pub changed: bool,
    /// Bytes read and written before.
    pub bytes_before: u64,
    /// Bytes read and written after.
    pub bytes_after: u64,
    /// Ops computed again in a foreign kernel.
    pub recomputed: u64,
    /// Segments that nothing needs any more.
    pub vanished: u64,
    /// Minimum cuts solved.
    pub cuts: u64,
    /// Kernels that the cost model refused as they would become: they computed nothing foreign after that.
    pub closed: u64,
    /// Values that a segment computes again, by name, and the segment's.
    pub again: Vec<(String, String)>,
    /// Segments that vanished, by name.
    pub gone: Vec<String>,
    /// Foreign ops that had no iteration space in common with a kernel, times kernels.
    pub barred: u64,
}

/// Rematerializes the segments of `program`.
pub(crate) fn improve(ir: &mut Ir, program: Op, model: &Model, config: &Config) -> Outcome {
    let mut outcome = Outcome::default();
    let prices = prices(model, config);
    let Some(mut extract) = Extract::build(ir, program, model, prices) else {
        return outcome;
    };
    if extract.segments.is_empty() {
        return outcome;
    }
    let plans: Vec<Option<Plan>> = extract
        .segments
        .iter()
        .map(|&s| plan_of(ir, s, model))
        .collect();
    // One that only hands inputs on has nothing to keep.
    let views = extract.segments.iter().zip(&plans).map(|(&s, plan)| {
        let view = plan.as_ref().is_some_and(|p| p.kind == Kind::View);
        view && ir.children(s).len() > 1
    });
    let views = views.collect();
    extract.set_views(ir, views);
    let before: Vec<Option<Cost>> = plans.into_iter().map(|p| p.map(|p| p.cost)).collect();
    // All rounds share the room of one search.
    let mut room = Search::new(config.steps).bounded(extract.problem.ops.len());
    for round in 0..=MAX_ROUNDS + MAX_CLOSING {
        let mut search = Search {
            room: room.room,
            ..Search::new(config.steps)
        };
        let solution = solve(&extract.problem, &extract.written, &mut search);
        outcome.cuts += search.cuts;
        room.room = search.room;
        let Some(solution) = solution.filter(|s| s.cost < extract.cost) else {
            return outcome;
        };
        // On a copy first: the cost model has to accept every kernel as it becomes.
        let mut trial = ir.clone();
        let made = apply(&mut trial, &extract, &solution);
        let plans: Vec<Option<Option<Plan>>> = made
            .iter()
            .map(|s| s.map(|s| plan_of(&trial, s, model)))
            .collect();
        for (segment, plan) in made.iter().zip(&plans) {
            let Some(segment) = *segment else { continue };
            let kind = plan.as_ref().and_then(Option::as_ref);
            let kind = trial.string_attr(kind.map_or(Kind::Kernel, |p| p.kind).name());
            trial.set_attr(segment, "kind", kind);
        }
        let costs = plans.into_iter().map(|p| p.map(|p| p.map(|p| p.cost)));
        let after: Vec<Option<Option<Cost>>> = costs.collect();
        let refused = refused(&before, &after);
        if refused.is_empty() {
            let after: Vec<Option<Cost>> = after.into_iter().flatten().collect();
            fill(&mut outcome, ir, &extract, &solution, &before, &after);
            *ir = trial;
            return outcome;
        }
        if round + 1 >= MAX_ROUNDS + MAX_CLOSING {
            extract.problem.closed.fill(true);
        }
        // Kernels know one value under several names: one of each class stands for all.
        let names = Rc::new(extract.stand_ins());
        for kernel in refused {
            let culprits = match round < MAX_ROUNDS {
                true => culprits(ir, &extract, &solution, kernel, &names),
                false => Vec::new(),
            };
            if culprits.is_empty() {
                extract.problem.closed[kernel] = true;
            }
            let barred = culprits.into_iter().map(|op| (op, kernel as u32));
            extract.problem.barred.extend(barred);
        }
        let closed = extract.problem.closed.iter().zip(&extract.problem.views);
        outcome.closed = closed.filter(|(c, v)| **c && !**v).count() as u64;
        outcome.barred = extract.problem.barred.len() as u64;
    }
    outcome
}

/// The foreign ops of a kernel that have no iteration space in common with its own ops: those nearest to them are tried
/// first, each beside those that fit.
fn culprits(
    ir: &Ir,
    extract: &Extract,
    solution: &Solution,
    kernel: usize,
    names: &Rc<FxHashMap<Value, Value>>,
) -> Vec<u32> {
    let Some(content) = &solution.kernels[kernel] else {
        return Vec::new();
    };
    let number = kernel as u32;
    let (own, foreign): (Vec<u32>, Vec<u32>) = content
        .computes
        .iter()
        .partition(|&&op| extract.problem.is_native(op, number));
    let mut classes = AxisUnion::tracked().with_names(Rc::clone(names));
    let instance = |op: u32| {
        let any = || extract.instances[op as usize].first().map(|(_, op)| *op);
        extract.own(op, number).or_else(any)
    };
    let fits = |classes: &mut AxisUnion, op: u32| {
        instance(op).is_none_or(|op| classes.add(ir, op).is_ok())
    };
    for op in own {
        if !fits(&mut classes, op) {
            return Vec::new();
        }
    }
    let foreign = foreign.into_iter().rev();
    foreign.filter(|&op| !fits(&mut classes, op)).collect()
}

fn prices(model: &Model, config: &Config) -> Prices {
    let machine = &model.machine;
    let by_machine = || machine.launch_ns.saturating_mul(machine.bytes_per_us) / 1000;
    Prices {
        launch: config.launch_bytes.unwrap_or_else(by_machine),
        arithmetic: config.arithmetic,
    }
}

/// The plan of a segment.
pub(crate) fn plan_of(ir: &Ir, segment: Op, model: &Model) -> Option<Plan> {
    let ops = ir.children(segment).into_iter();
    let ops: Vec<Op> = ops.filter(|&op| !ir.is(op, &task::YIELD)).collect();
    plan_ops(ir, &ops, model, &Default::default()).ok()
}

/// The kernels that have no plan any more, or one with more sweeps' worth of bytes than the whole change saves.
fn refused(before: &[Option<Cost>], after: &[Option<Option<Cost>>]) -> Vec<usize> {
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

fn fill(
    outcome: &mut Outcome,
    ir: &Ir,
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
    outcome.changed = true;
    outcome.bytes_before = bytes(before);
    outcome.bytes_after = bytes(after);
    outcome.vanished = solution.kernels.iter().filter(|k| k.is_none()).count() as u64;
    for (kernel, number) in solution.kernels.iter().zip(0..) {
        let name = ir.symbol_name(extract.segments[number as usize]);
        let name = name.map_or_else(|| format!("s{number}"), String::from);
        let Some(kernel) = kernel else {
            outcome.gone.push(name);
            continue;
        };
        let ops = kernel.computes.iter().copied();
        for op in ops.filter(|&op| !extract.problem.is_native(op, number)) {
            outcome.recomputed += 1;
            let value = extract.problem.ops[op as usize].writes.first();
            let value = value.map(|&v| value_text(ir, extract.sample[v as usize]));
            outcome
                .again
                .push((value.unwrap_or_default(), name.clone()));
        }
    }
}
