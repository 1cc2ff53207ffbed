//! The search for the values to write to memory: a descent from two starts that removes or adds one value at a time.
//!
//! The starts are the values currently written, and the values that cannot be recomputed. A step is taken only if the
//! total price falls. A step solves again (`cut.rs`) the kernel that writes the value, and the kernels that load it or
//! examined it. All values are tried until no step succeeds, at most a few times. All work is counted, and a budget
//! bounds it.

use std::cmp::Reverse;
use std::rc::Rc;

use fuser_pass::ProgressSink;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::cut::{Cutter, Given, Solved};
use super::problem::{Problem, Solution};
use crate::budget::Budget;

/// Foreign ops that a kernel computes in the start that recomputes as much as possible; values that need more are
/// written.
const START_REACH: usize = 24;
/// The most passes over all values.
const MAX_PASSES: usize = 8;

/// Bound and counters of a search.
#[derive(Clone, PartialEq, Debug)]
pub struct Search {
    /// Takes the progress.
    pub progress: ProgressSink,
    /// The budget, in values, ops and network nodes examined.
    pub budget: Budget,
    /// Changes tried.
    pub steps: u64,
    /// Kernels solved by a cut, without those answered from a trace.
    pub solved: u64,
}

impl Search {
    /// A search without steps so far.
    pub fn new(budget: Budget) -> Self {
        Self {
            progress: ProgressSink::default(),
            budget,
            steps: 0,
            solved: 0,
        }
    }
}

/// The best solution found, at worst that of `now`, the values currently written.
pub fn solve(problem: &Problem, now: &[bool], search: &mut Search) -> Option<Solution> {
    let mut starts = vec![now.to_vec(), unavoidable(problem, search)];
    starts.dedup();
    let mut walks = Vec::with_capacity(starts.len());
    let mut cutter = Cutter::default();
    for start in starts {
        if let Some(mut walk) = Walk::new(problem, start, std::mem::take(&mut cutter), search) {
            walk.descend(problem, search);
            cutter = std::mem::take(&mut walk.cutter);
            walks.push(walk);
        }
    }
    // Among equal solutions the first is taken.
    let best = walks.iter().min_by_key(|w| w.cost);
    best.map(|w| w.solution())
}

/// The solution that writes `written`; `None` if a value that some kernel needs is unavailable.
#[cfg(test)]
pub(super) fn evaluate(
    problem: &Problem,
    written: &[bool],
    search: &mut Search,
) -> Option<Solution> {
    let walk = Walk::new(problem, written.to_vec(), Cutter::default(), search);
    walk.map(|w| w.solution())
}

/// The values written if everything is recomputed that may be: outputs, and results that kernels need but may compute
/// only at home. Results that need too many foreign ops count as such.
fn unavoidable(problem: &Problem, search: &mut Search) -> Vec<bool> {
    let outputs = problem.values.iter().map(|v| v.is_output);
    let mut written: Vec<bool> = outputs.collect();
    for kernel in (0..problem.kernels).rev() {
        let mut stack = problem.wanted(kernel, &written);
        let mut seen = FxHashSet::default();
        let mut foreign = FxHashSet::default();
        while let Some(value) = stack.pop() {
            if !seen.insert(value) {
                continue;
            }
            let Some(op) = problem.values[value as usize].producer else {
                continue;
            };
            let native = problem.is_native(op, kernel);
            let near = native || foreign.contains(&op) || foreign.len() < START_REACH;
            if !near || !problem.may_compute(op, kernel) {
                written[value as usize] = true;
                continue;
            }
            if !native {
                foreign.insert(op);
            }
            stack.extend(problem.ops[op as usize].reads.iter().copied());
        }
        search.budget.spend(seen.len() as u64);
    }
    written
}

/// The state of a descent.
#[derive(Debug)]
struct Walk {
    written: Vec<bool>,
    kernels: Vec<Solved>,
    /// The total price.
    cost: u128,
    /// For each value, the kernels that have examined it at some time; some may not have done so the last time.
    near: Vec<SmallVec<[u32; 2]>>,
    /// The last step that changed the work or the options of a kernel, and the last step that tried a value.
    changed: Vec<u64>,
    tried: Vec<u64>,
    cutter: Cutter,
}

impl Walk {
    /// A state for `written`; `None` if a value that some kernel needs is unavailable.
    fn new(
        problem: &Problem,
        written: Vec<bool>,
        cutter: Cutter,
        search: &mut Search,
    ) -> Option<Self> {
        let mut walk = Self {
            near: vec![SmallVec::new(); problem.values.len()],
            changed: vec![search.steps + 1; problem.kernels as usize],
            tried: vec![0; problem.values.len()],
            kernels: Vec::with_capacity(problem.kernels as usize),
            cost: 0,
            cutter,
            written,
        };
        let all = walk.written.iter().zip(0u32..).filter(|(w, _)| **w);
        walk.cost = all.map(|(_, v)| u128::from(problem.write_price(v))).sum();
        for kernel in 0..problem.kernels {
            let solved = walk.solve(problem, kernel, None, search)?;
            walk.cost += price(problem, kernel, &solved);
            walk.note(kernel, &solved);
            walk.kernels.push(solved);
        }
        Some(walk)
    }
    /// Solves a kernel after a step on `value`.
    fn solve(
        &mut self,
        problem: &Problem,
        kernel: u32,
        value: Option<u32>,
        search: &mut Search,
    ) -> Option<Solved> {
        let known = value.and_then(|v| {
            self.kernels[kernel as usize].core(problem, v, kernel, self.written[v as usize])
        });
        let given = Given {
            problem,
            written: &self.written,
            kernel,
        };
        let solved = self.cutter.solve(given, known);
        search.budget.spend(std::mem::take(&mut self.cutter.work));
        search.solved += std::mem::take(&mut self.cutter.solved);
        solved
    }
    /// Records the values that a kernel examined.
    fn note(&mut self, kernel: u32, solved: &Solved) {
        for &value in &solved.region {
            let near = &mut self.near[value as usize];
            if let Err(at) = near.binary_search(&kernel) {
                near.insert(at, kernel);
            }
        }
    }

    fn solution(&self) -> Solution {
        let kernels = self.kernels.iter();
        let kernels = kernels.map(|k| k.is_alive().then(|| Rc::new(k.kernel())));
        Solution {
            written: self.written.clone(),
            kernels: kernels.collect(),
            cost: u64::try_from(self.cost).unwrap_or(u64::MAX),
        }
    }

    /// Takes steps as long as one lowers the price: first on written values that need not be written, the largest
    /// first, then on values that some kernel recomputes.
    fn descend(&mut self, problem: &Problem, search: &mut Search) {
        for _ in 0..MAX_PASSES {
            search.budget.spend(problem.values.len() as u64);
            let all = 0..problem.values.len() as u32;
            let mut order: Vec<u32> = all.filter(|&v| self.may_step(problem, v)).collect();
            order.sort_by_key(|&v| match self.written[v as usize] {
                true => (0, Reverse(problem.values[v as usize].bytes)),
                false => (1, Reverse(0)),
            });
            let mut changed = false;
            for (done, &value) in order.iter().enumerate() {
                search.progress.tell("remat: values", done, order.len());
                let tried = self.written[value as usize] || self.is_repeated(problem, value);
                changed |= tried && self.step(problem, value, search);
            }
            if !changed {
                return;
            }
        }
    }
    /// True if a value may be written or not, and is written or was examined by a kernel.
    fn may_step(&self, problem: &Problem, value: u32) -> bool {
        let info = &problem.values[value as usize];
        let known = self.written[value as usize] || !self.near[value as usize].is_empty();
        known && info.producer.is_some() && !info.is_output
    }
    /// True if a kernel other than its home computes `value`.
    fn is_repeated(&self, problem: &Problem, value: u32) -> bool {
        let Some(op) = problem.values[value as usize].producer else {
            return false;
        };
        let mut near = self.near[value as usize].iter();
        near.any(|&k| !problem.is_native(op, k) && self.kernels[k as usize].has(op))
    }

    /// Toggles whether a value is written; keeps the change if the price falls.
    fn step(&mut self, problem: &Problem, value: u32, search: &mut Search) -> bool {
        if search.budget.is_spent() {
            return false;
        }
        let kernels = self.concerned(problem, value);
        let changed = kernels.iter().map(|&k| self.changed[k as usize]).max();
        if changed.is_some_and(|changed| changed < self.tried[value as usize]) {
            return false;
        }
        search.steps += 1;
        self.tried[value as usize] = search.steps + 1;
        let prices = kernels
            .iter()
            .map(|&k| price(problem, k, &self.kernels[k as usize]));
        let before = prices.sum::<u128>() + self.write_price(problem, value);
        self.written[value as usize] ^= true;
        let mut after = self.write_price(problem, value);
        let mut solved = SmallVec::<[(u32, Solved); 4]>::new();
        // Users come first, since a step most often fails there.
        for &kernel in kernels.iter().rev() {
            let new = self.solve(problem, kernel, Some(value), search);
            let new = new.filter(|new| {
                after += price(problem, kernel, new);
                after < before
            });
            let Some(new) = new else {
                self.written[value as usize] ^= true;
                return false;
            };
            solved.push((kernel, new));
        }
        for &kernel in &self.near[value as usize] {
            self.changed[kernel as usize] = search.steps + 1;
        }
        for (kernel, new) in solved {
            self.changed[kernel as usize] = search.steps + 1;
            self.note(kernel, &new);
            self.kernels[kernel as usize] = new;
        }
        self.cost -= before - after;
        true
    }
    /// The price of writing a value; 0 if it is not written.
    fn write_price(&self, problem: &Problem, value: u32) -> u128 {
        match self.written[value as usize] {
            true => u128::from(problem.write_price(value)),
            false => 0,
        }
    }
    /// The kernels affected by toggling `value`, ascending: its writer, and later kernels that load it (if it is
    /// written now) or compute it (if it is not).
    fn concerned(&self, problem: &Problem, value: u32) -> SmallVec<[u32; 8]> {
        let info = &problem.values[value as usize];
        let written = self.written[value as usize];
        let near = self.near[value as usize].iter().copied();
        let concerned = |&k: &u32| {
            let kernel = &self.kernels[k as usize];
            k > info.writer
                && match written {
                    true => kernel.loads.binary_search(&value).is_ok(),
                    false => info.producer.is_some_and(|op| kernel.has(op)),
                }
        };
        let others = near.filter(concerned);
        std::iter::once(info.writer).chain(others).collect()
    }
}

/// The price of a kernel except its writes; 0 for a kernel that writes nothing.
fn price(problem: &Problem, kernel: u32, solved: &Solved) -> u128 {
    match solved.is_alive() {
        true => u128::from(solved.cost) + u128::from(problem.launch_of(kernel)),
        false => 0,
    }
}
