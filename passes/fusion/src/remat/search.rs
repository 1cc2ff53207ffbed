//! The search for the values to be written to memory: descent from two starts, by removing or adding one value at a time.
//!
//! Starts are the values written now, and those that cannot be recomputed. A step is taken only if the whole price falls.
//! The solution of each kernel is kept up to date (`local.rs`), so a step costs what it touches: in the kernel that writes
//! the value, and in those that load it or compute what makes or reads it, the values whose state changes. All values are
//! tried until that finds nothing, a few times at most. All work is counted, and a budget bounds it.

use std::cmp::Reverse;
use std::rc::Rc;

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::local::{Change, Dirty, Given, Local};
use super::problem::{Kernel, Problem, Solution};
use crate::budget::Budget;

/// Foreign ops that a kernel computes when everything that may be recomputed is; what is further away is written.
const START_REACH: usize = 24;
/// Times that all values are tried.
const MAX_PASSES: usize = 8;

/// Bound and counters of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Search {
    /// Values, ops and nodes of networks that may be examined.
    pub budget: Budget,
    /// Steps tried.
    pub steps: u64,
}

impl Search {
    /// A search that tried nothing.
    pub const fn new(budget: Budget) -> Self {
        Self { budget, steps: 0 }
    }
}

/// The best choice found; at worst what `now` says. `now` lists what is written today.
pub fn solve(problem: &Problem, now: &[bool], search: &mut Search) -> Option<Solution> {
    let mut starts = vec![now.to_vec(), unavoidable(problem, search)];
    starts.dedup();
    let mut walks = Vec::with_capacity(starts.len());
    for start in starts {
        if let Some(mut walk) = Walk::new(problem, start, search) {
            walk.descend(problem, search);
            walks.push(walk);
        }
    }
    // Of equal ones the first.
    let best = walks.iter().min_by_key(|w| w.cost);
    best.map(|w| w.solution(problem))
}

/// The price of writing `written`; `None` where some kernel cannot get what it needs.
#[cfg(test)]
pub(super) fn evaluate(
    problem: &Problem,
    written: &[bool],
    search: &mut Search,
) -> Option<Solution> {
    let walk = Walk::new(problem, written.to_vec(), search);
    walk.map(|w| w.solution(problem))
}

/// The values that have to be written if everything that may be recomputed is: outputs, and results that kernels need
/// and may compute only at home. Results that are too far away count among these.
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

/// Kernels that may know a value; some may have forgotten it since.
#[derive(Clone, Debug, Default)]
struct Near {
    kernels: SmallVec<[u32; 2]>,
    limit: usize,
}

impl Near {
    fn push(&mut self, kernel: u32) {
        if self.kernels.last() == Some(&kernel) {
            return;
        }
        self.kernels.push(kernel);
        if self.kernels.len() > self.limit {
            self.kernels.sort_unstable();
            self.kernels.dedup();
            self.limit = 2 * self.kernels.len().max(8);
        }
    }
}

/// A choice under way.
#[derive(Debug)]
struct Walk {
    written: Vec<bool>,
    kernels: Vec<Local>,
    /// The price of all of it.
    cost: u128,
    near: Vec<Near>,
    dirty: Dirty,
}

impl Walk {
    /// `None` where some kernel cannot have what it needs.
    fn new(problem: &Problem, written: Vec<bool>, search: &mut Search) -> Option<Self> {
        let mut walk = Self {
            near: vec![Near::default(); problem.values.len()],
            kernels: Vec::with_capacity(problem.kernels as usize),
            cost: 0,
            dirty: Dirty::default(),
            written,
        };
        let all = walk.written.iter().zip(0u32..).filter(|(w, _)| **w);
        walk.cost = all.map(|(_, v)| u128::from(problem.write_price(v))).sum();
        for kernel in 0..problem.kernels {
            let mut dirty = std::mem::take(&mut walk.dirty);
            let local = Local::new(walk.given(problem, kernel), &mut dirty);
            let possible = local.is_possible();
            walk.kernels.push(local);
            walk.note(problem, kernel, &mut dirty, search);
            walk.dirty = dirty;
            walk.cost += walk.price(problem, kernel);
            if !possible {
                return None;
            }
        }
        Some(walk)
    }
    fn given<'a>(&'a self, problem: &'a Problem, kernel: u32) -> Given<'a> {
        Given {
            problem,
            written: &self.written,
            kernel,
        }
    }
    /// The price of a kernel but for its writes; 0 for one that writes nothing.
    fn price(&self, problem: &Problem, kernel: u32) -> u128 {
        let local = &self.kernels[kernel as usize];
        match local.is_alive() {
            true => local.cost() + u128::from(problem.launch_of(kernel)),
            false => 0,
        }
    }
    /// Enters a kernel in the lists of the values that it knows now, and ends a change.
    fn note(&mut self, problem: &Problem, kernel: u32, dirty: &mut Dirty, search: &mut Search) {
        for &value in dirty.entered.iter().filter(|&&v| may_flip(problem, v)) {
            self.near[value as usize].push(kernel);
        }
        search.budget.spend(std::mem::take(&mut dirty.work));
        dirty.clear();
    }

    fn solution(&self, problem: &Problem) -> Solution {
        let kernels = self.kernels.iter().map(|local| {
            let alive = local.is_alive();
            alive.then(|| Rc::new(local.kernel()))
        });
        let kernels: Vec<Option<Rc<Kernel>>> = kernels.collect();
        debug_assert_eq!(kernels.len(), problem.kernels as usize);
        Solution {
            written: self.written.clone(),
            kernels,
            cost: u64::try_from(self.cost).unwrap_or(u64::MAX),
        }
    }

    /// Takes steps while one lowers the price: on values that are written and need not be, the largest first; then on others
    /// that are computed again somewhere.
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
            for value in order {
                let tried = self.written[value as usize] || self.is_repeated(problem, value);
                changed |= tried && self.step(problem, value, search);
            }
            if !changed {
                return;
            }
        }
    }
    /// True if a value may be written or not, and some kernel could know it.
    fn may_step(&self, problem: &Problem, value: u32) -> bool {
        let known = !self.near[value as usize].kernels.is_empty();
        (self.written[value as usize] || known) && may_flip(problem, value)
    }
    /// True if some kernel that is not its home computes `value`.
    fn is_repeated(&mut self, problem: &Problem, value: u32) -> bool {
        let Some(op) = problem.values[value as usize].producer else {
            return false;
        };
        let mut near = self.kernels_near(value).into_iter();
        near.any(|k| !problem.is_native(op, k) && self.kernels[k as usize].computes(value, op))
    }
    /// The kernels that know a value, ascending.
    fn kernels_near(&mut self, value: u32) -> SmallVec<[u32; 8]> {
        let kernels = &self.kernels;
        let near = &mut self.near[value as usize];
        near.kernels.sort_unstable();
        near.kernels.dedup();
        near.kernels.retain(|k| kernels[*k as usize].knows(value));
        near.kernels.iter().copied().collect()
    }

    /// Writes a value, or writes it no more, and keeps it so where the price falls.
    fn step(&mut self, problem: &Problem, value: u32, search: &mut Search) -> bool {
        if search.budget.is_spent() {
            return false;
        }
        search.steps += 1;
        let kernels = self.concerned(problem, value);
        let prices = kernels.iter().map(|&k| self.price(problem, k));
        let before = prices.sum::<u128>() + self.write_price(problem, value);
        self.written[value as usize] ^= true;
        let mut after = self.write_price(problem, value);
        let mut done = SmallVec::<[(u32, Option<Change>); 4]>::new();
        // Users first: it is most often there that a step turns out to be too dear.
        for &kernel in kernels.iter().rev() {
            let change = self.change(problem, kernel, search, |local, given, dirty| {
                local.update(given, value, dirty)
            });
            let possible = change.is_some();
            done.push((kernel, change));
            after += self.price(problem, kernel);
            if !possible || after >= before {
                self.written[value as usize] ^= true;
                for (kernel, change) in done.into_iter().rev() {
                    self.change(problem, kernel, search, |local, given, dirty| {
                        local.undo(given, value, change, dirty);
                    });
                }
                return false;
            }
        }
        self.cost -= before - after;
        true
    }
    /// The price of writing a value; 0 where it is not written.
    fn write_price(&self, problem: &Problem, value: u32) -> u128 {
        match self.written[value as usize] {
            true => u128::from(problem.write_price(value)),
            false => 0,
        }
    }
    /// The kernels for which a step could change what they do, ascending. Those before the writer never see it; those that do
    /// not take what is written no more do as before.
    fn concerned(&mut self, problem: &Problem, value: u32) -> SmallVec<[u32; 8]> {
        let writer = problem.values[value as usize].writer;
        let mut all = self.kernels_near(value);
        let written = self.written[value as usize];
        let takes = |k: u32| !written || self.kernels[k as usize].takes(value);
        all.retain(|k| *k > writer && takes(*k));
        all.insert(0, writer);
        all
    }
    /// Changes the state of a kernel.
    fn change<T>(
        &mut self,
        problem: &Problem,
        kernel: u32,
        search: &mut Search,
        make: impl FnOnce(&mut Local, Given<'_>, &mut Dirty) -> T,
    ) -> T {
        let mut dirty = std::mem::take(&mut self.dirty);
        let given = Given {
            problem,
            written: &self.written,
            kernel,
        };
        let made = make(&mut self.kernels[kernel as usize], given, &mut dirty);
        self.note(problem, kernel, &mut dirty, search);
        self.dirty = dirty;
        made
    }
}

/// True if a value may be written or not: an op makes it, and it is no output.
fn may_flip(problem: &Problem, value: u32) -> bool {
    let info = &problem.values[value as usize];
    info.producer.is_some() && !info.is_output
}
