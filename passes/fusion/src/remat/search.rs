//! The search for the values to be written to memory: descent from two starts, by removing or adding one value at a time.
//!
//! Starts are the values written now, and those that cannot be recomputed. A step is taken only if the whole price falls.
//! A step solves anew (`cut.rs`) the kernel that writes the value and those that load it or looked at it. All values are tried until
//! that finds nothing, a few times at most. All work is counted, and a budget bounds it.

use std::cmp::Reverse;
use std::rc::Rc;

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::cut::{Cutter, Given, Solved};
use super::problem::{Problem, Solution};
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
    /// Kernels that were solved; others looked the same as one of them.
    pub solved: u64,
}

impl Search {
    /// A search that tried nothing.
    pub const fn new(budget: Budget) -> Self {
        Self {
            budget,
            steps: 0,
            solved: 0,
        }
    }
}

/// The best choice found; at worst what `now` says. `now` lists what is written today.
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
    // Of equal ones the first.
    let best = walks.iter().min_by_key(|w| w.cost);
    best.map(|w| w.solution())
}

/// The price of writing `written`; `None` where some kernel cannot get what it needs.
#[cfg(test)]
pub(super) fn evaluate(
    problem: &Problem,
    written: &[bool],
    search: &mut Search,
) -> Option<Solution> {
    let walk = Walk::new(problem, written.to_vec(), Cutter::default(), search);
    walk.map(|w| w.solution())
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

/// A choice under way.
#[derive(Debug)]
struct Walk {
    written: Vec<bool>,
    kernels: Vec<Solved>,
    /// The price of all of it.
    cost: u128,
    /// Of each value the kernels that looked at it once; some may not have the last time.
    near: Vec<SmallVec<[u32; 2]>>,
    /// The step that last changed what a kernel does or could do, and that which last tried a value.
    changed: Vec<u64>,
    tried: Vec<u64>,
    cutter: Cutter,
}

impl Walk {
    /// `None` where some kernel cannot have what it needs.
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
    /// Solves a kernel, after a step on `value`.
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
    /// Enters a kernel in the lists of the values that it looked at.
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
        let info = &problem.values[value as usize];
        let known = self.written[value as usize] || !self.near[value as usize].is_empty();
        known && info.producer.is_some() && !info.is_output
    }
    /// True if some kernel that is not its home computes `value`.
    fn is_repeated(&self, problem: &Problem, value: u32) -> bool {
        let Some(op) = problem.values[value as usize].producer else {
            return false;
        };
        let mut near = self.near[value as usize].iter();
        near.any(|&k| !problem.is_native(op, k) && self.kernels[k as usize].has(op))
    }

    /// Writes a value, or writes it no more, and keeps it so where the price falls.
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
        // Users first: it is most often there that a step turns out to be too dear.
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
    /// The price of writing a value; 0 where it is not written.
    fn write_price(&self, problem: &Problem, value: u32) -> u128 {
        match self.written[value as usize] {
            true => u128::from(problem.write_price(value)),
            false => 0,
        }
    }
    /// The kernels for which a step could change what they do, ascending: the one that writes the value, and of those behind it
    /// those that load what is written no more, or compute what is written now.
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

/// The price of a kernel but for its writes; 0 for one that writes nothing.
fn price(problem: &Problem, kernel: u32, solved: &Solved) -> u128 {
    match solved.is_alive() {
        true => u128::from(solved.cost) + u128::from(problem.launch_of(kernel)),
        false => 0,
    }
}
