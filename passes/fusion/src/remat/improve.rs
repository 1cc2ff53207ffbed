//! Rematerialization of a program: builds the problem, searches, evaluates the changed kernels, and accepts, or closes
//! kernels and repeats.

use std::rc::Rc;

use fuser_analysis::axes::{AxisUnion, value_text};
use fuser_analysis::cost::{Cost, Kind, Model};
use fuser_ir::{Ir, Op, Value};
use rustc_hash::FxHashMap;

use super::apply::apply;
use super::cost_cache::{CostCache, drawn};
use super::extract::{Extract, Prices};
use super::problem::{Kernel, Solution};
use super::search::Search;
use super::solutions::Contents;
use crate::budget::Budget;
use crate::planner::{CostResult, Planner};

/// Rounds in which foreign ops that the cost model refuses in a kernel are barred from it. After that the kernel is
/// closed to all foreign ops.
const MAX_ROUNDS: usize = 8;
/// Further rounds, in which refused kernels are closed; in the last one all kernels are.
const MAX_CLOSING: usize = 4;

/// Prices and bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Config {
    /// Price of a launch in bytes; `None`: from the target's figures.
    pub launch_bytes: Option<u64>,
    /// Price of arithmetic, in per cent of the target's figures.
    pub arithmetic: u64,
    /// Search steps (values, ops and network nodes) for each op of the program, in addition to a constant.
    pub work: u64,
}

impl Config {
    /// The default prices and bounds. Rounds of segmentation look ahead with them, so that the pass finds the same
    /// solutions.
    pub const DEFAULT: Self = Self {
        launch_bytes: None,
        arithmetic: 100,
        work: 256,
    };
}

/// The outcome of an improvement.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Outcome {
    /// True if the cost fell. If false, only the counters below are set, and the program is unchanged.
    pub changed: bool,
    /// Bytes read and written before.
    pub bytes_before: u64,
    /// Bytes read and written after.
    pub bytes_after: u64,
    /// Ops recomputed in a foreign kernel.
    pub recomputed: u64,
    /// Segments removed because no value of theirs is needed.
    pub vanished: u64,
    /// Search steps: values, ops and network nodes examined.
    pub work: u64,
    /// Changes tried.
    pub steps: u64,
    /// Kernels solved by a cut, without those answered from a trace or from a known problem.
    pub solved: u64,
    /// Ops in the kernels about which the cost model was queried.
    pub planned_ops: u64,
    /// True if the budget ended the search.
    pub spent: bool,
    /// The cost of all segments now, as far as the cost model accepts them.
    pub cost: Cost,
    /// Kernels refused by the cost model with foreign ops, and therefore closed to these.
    pub closed: u64,
    /// Recomputed values, each with the segment that recomputes it, by name.
    pub again: Vec<(String, String)>,
    /// Removed segments, by name.
    pub gone: Vec<String>,
    /// Foreign ops barred from a kernel because they have no common iteration space with it, counted per kernel.
    pub barred: u64,
}

/// Rematerializes the segments of `program`. With known final `contents` of the segments, nothing is searched.
pub(crate) fn improve(
    ir: &mut Ir,
    program: Op,
    planner: &mut Planner,
    config: &Config,
    contents: Option<&Contents>,
) -> Outcome {
    let mut outcome = Outcome::default();
    let prices = prices(&planner.model, config);
    let Some(mut extract) = Extract::build(ir, program, &planner.model, prices) else {
        return outcome;
    };
    if extract.segments.is_empty() {
        return outcome;
    }
    let planned_before = planner.planned_ops;
    let segments = extract.segments.iter();
    let current: Vec<Option<CostResult>> = segments.map(|&s| drawn(ir, s, planner)).collect();
    let mut costs = CostCache::new(planner);
    // A view that only passes inputs on has no op to keep.
    let views = extract.segments.iter().zip(&current).map(|(&s, plan)| {
        let view = plan.as_ref().is_some_and(|p| p.kind == Kind::View);
        view && ir.children(s).len() > 1
    });
    let views = views.collect();
    let launches = current
        .iter()
        .map(|plan| plan.as_ref().map_or(1, |p| p.cost.launches.max(1)));
    extract.set_kinds(ir, views, launches.collect());
    let before: Vec<Option<Cost>> = current.iter().map(|p| p.as_ref().map(|p| p.cost)).collect();
    outcome.cost = sum(&before);
    let budget = Budget::remat(config.work, extract.problem.ops.len());
    let mut search = Search::new(budget);
    search.progress = costs.planner.progress.clone();
    let mut made = Made::new(extract.segments.len());
    let known = contents.and_then(|contents| extract.solution(ir, contents));
    let mut known = known.filter(|solution| solution.cost < extract.cost);
    // Kernels have one value under several names: one value of each class stands for all.
    let mut names = None;
    for round in 0..=MAX_ROUNDS + MAX_CLOSING {
        let solutions = &mut costs.planner.solutions;
        let solution = known
            .take()
            .or_else(|| solutions.solve(&extract.problem, &extract.written, &mut search));
        outcome.work = search.budget.spent();
        outcome.steps = search.steps;
        outcome.solved = search.solved;
        outcome.planned_ops = costs.planner.planned_ops - planned_before;
        outcome.spent = search.budget.is_spent();
        let Some(solution) = solution.filter(|s| s.cost < extract.cost) else {
            return outcome;
        };
        let solution = made.price(ir, &extract, &mut costs, solution);
        outcome.planned_ops = costs.planner.planned_ops - planned_before;
        let after = made.costs();
        let refused = refused(&before, &after);
        if refused.is_empty() {
            accept(ir, &extract, &solution, &made.kernels);
            let after: Vec<Option<Cost>> = after.into_iter().flatten().collect();
            fill(&mut outcome, ir, &extract, &solution, &before, &after);
            return outcome;
        }
        if round + 1 >= MAX_ROUNDS + MAX_CLOSING {
            extract.problem.closed.fill(true);
        }
        if names.is_none() {
            search.budget.refill(&budget);
        }
        let names = names.get_or_insert_with(|| Rc::new(extract.stand_ins()));
        for &kernel in &refused {
            let culprits = match round < MAX_ROUNDS && !search.budget.is_spent() {
                true => culprits(ir, &extract, &solution, kernel, names),
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

/// The cost results of the kernels after the change; recomputed only for kernels that changed.
struct Made {
    /// `None` if the kernel is removed; `Some(None)` if the model has no plan for it.
    kernels: Vec<Option<Option<CostResult>>>,
    last: Option<Rc<Solution>>,
}

impl Made {
    fn new(kernels: usize) -> Self {
        Self {
            kernels: vec![None; kernels],
            last: None,
        }
    }
    /// Evaluates the kernels of `solution` that differ from the previous solution.
    fn price(
        &mut self,
        ir: &Ir,
        extract: &Extract,
        costs: &mut CostCache<'_>,
        solution: Solution,
    ) -> Rc<Solution> {
        for (kernel, number) in solution.kernels.iter().zip(0..) {
            let wanted = extract.problem.wanted(number, &solution.written);
            let known = self.last.as_ref().is_some_and(|last| {
                last.kernels[number as usize] == *kernel
                    && extract.problem.wanted(number, &last.written) == wanted
            });
            if !known {
                let price = |k: &Kernel| costs.changed(ir, extract, number, k, &wanted);
                self.kernels[number as usize] = kernel.as_deref().map(price);
            }
        }
        let solution = Rc::new(solution);
        self.last = Some(Rc::clone(&solution));
        solution
    }
    fn costs(&self) -> Vec<Option<Option<Cost>>> {
        let costs = self
            .kernels
            .iter()
            .map(|p| p.as_ref().map(|p| p.as_ref().map(|p| p.cost)));
        costs.collect()
    }
}

/// Writes a solution to the IR, with the kinds of its kernels.
fn accept(
    ir: &mut Ir,
    extract: &Extract,
    solution: &Solution,
    made: &[Option<Option<CostResult>>],
) {
    let segments = apply(ir, extract, solution);
    for (segment, priced) in segments.into_iter().zip(made) {
        if let Some(segment) = segment {
            let kind = priced
                .as_ref()
                .and_then(Option::as_ref)
                .map_or(Kind::Kernel, |p| p.kind);
            let kind = ir.string_attr(kind.name());
            ir.set_attr(segment, "kind", kind);
        }
    }
}

/// The sum of the costs of all kernels that the model accepts.
fn sum(costs: &[Option<Cost>]) -> Cost {
    let known = costs.iter().flatten();
    known.fold(Cost::default(), |sum, cost| sum.plus(cost))
}

/// The foreign ops of a kernel that have no common iteration space with its own ops. The ops nearest to these are tried
/// first, and each is added to those that fit.
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
    let fits = |classes: &mut AxisUnion, op: u32| {
        let op = extract.instance(op, number);
        classes.add(ir, op).is_ok()
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
    let target = &model.target;
    let by_target = || target.launch_ns.saturating_mul(target.bytes_per_us) / 1000;
    Prices {
        launch: config.launch_bytes.unwrap_or_else(by_target),
        arithmetic: config.arithmetic,
    }
}

/// The kernels that lost their plan. If there are none and the whole change moves more bytes, or as many in more
/// launches, the kernels whose price rose.
fn refused(before: &[Option<Cost>], after: &[Option<Option<Cost>>]) -> Vec<usize> {
    let lost = |(kernel, after): (usize, &Option<Option<Cost>>)| {
        (before[kernel].is_some() && *after == Some(None)).then_some(kernel)
    };
    let refused: Vec<usize> = after.iter().enumerate().filter_map(lost).collect();
    if !refused.is_empty() {
        return refused;
    }
    let price = |c: &Cost| (c.price(), c.launches);
    let total = |costs: &mut dyn Iterator<Item = &Cost>| {
        price(&costs.fold(Cost::default(), |sum, c| sum.plus(c)))
    };
    let total_before = total(&mut before.iter().flatten());
    if total(&mut after.iter().flatten().flatten()) <= total_before {
        return Vec::new();
    }
    let grew = |(kernel, after): (usize, &Option<Option<Cost>>)| {
        let (Some(before), Some(Some(after))) = (before[kernel], after) else {
            return None;
        };
        (price(after) > price(&before)).then_some(kernel)
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
    outcome.cost = sum(after);
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
