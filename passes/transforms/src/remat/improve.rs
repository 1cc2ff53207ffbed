//! The whole of rematerialization on a program: read, search, write on a copy, ask the cost model, keep or close kernels.

use fuser_dialects::task;
use fuser_ir::{Ir, Op};

use super::apply::apply;
use super::extract::{Extract, Prices};
use super::problem::Solution;
use super::search::{Search, solve};
use crate::cost::{Cost, Kind, Model, Plan, plan_ops};

/// Rounds in which kernels that the cost model refuses are closed to foreign ops; then all are.
const MAX_ROUNDS: usize = 4;

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
    let before = costs(ir, &extract.segments, model);
    for round in 0..=MAX_ROUNDS {
        let mut search = Search::new(config.steps);
        let solution = solve(&extract.problem, &extract.written, &mut search);
        outcome.cuts += search.cuts;
        let Some(solution) = solution.filter(|s| s.cost < extract.cost) else {
            return outcome;
        };
        // On a copy first: the cost model has to accept every kernel as it becomes.
        let mut trial = ir.clone();
        let made = apply(&mut trial, &extract, &solution);
        for &segment in made.iter().flatten() {
            let kind = plan_of(&trial, segment, model).map_or(Kind::Kernel, |p| p.kind);
            let kind = trial.string_attr(kind.name());
            trial.set_attr(segment, "kind", kind);
        }
        let after = made
            .iter()
            .map(|s| s.map(|s| plan_of(&trial, s, model).map(|p| p.cost)));
        let after: Vec<Option<Option<Cost>>> = after.collect();
        let refused = refused(&before, &after);
        if refused.is_empty() {
            let after: Vec<Option<Cost>> = after.into_iter().flatten().collect();
            fill(&mut outcome, &extract, &solution, &before, &after);
            *ir = trial;
            return outcome;
        }
        let all = round + 1 >= MAX_ROUNDS;
        for closed in extract.problem.closed.iter_mut().filter(|_| all) {
            *closed = true;
        }
        for kernel in refused {
            extract.problem.closed[kernel] = true;
        }
        let closed = extract.problem.closed.iter().filter(|c| **c);
        outcome.closed = closed.count() as u64;
    }
    outcome
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

fn costs(ir: &Ir, segments: &[Op], model: &Model) -> Vec<Option<Cost>> {
    let plans = segments.iter().map(|&s| plan_of(ir, s, model));
    plans.map(|p| p.map(|p| p.cost)).collect()
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
        let ops = kernel.iter().flat_map(|k| k.computes.iter());
        let foreign = ops.filter(|&&op| !extract.problem.is_native(op, number));
        outcome.recomputed += foreign.count() as u64;
    }
}
