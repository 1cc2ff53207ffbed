//! What is written to memory: descent from three starts, by removing, adding and exchanging one value at a time.
//!
//! Starts are what is written now, what cannot be recomputed, and both together. A step is taken only if the whole price
//! falls; only kernels that the step can concern are solved again: those that write the value, load it, or compute what
//! makes or reads it, kept in a list for each value. So a step costs what it touches, whatever the size of the program. Work
//! is bounded by a number of steps tried.

use std::rc::Rc;

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::cut::cheapest;
use super::problem::{Kernel, Problem, Solution};

/// Nodes that may be looked at for steps, in a program of any size.
const ROOM: u64 = 1 << 20;
/// The same for each op.
const ROOM_PER_OP: u64 = 32;

/// Bounds and counters of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Search {
    /// Steps that may be tried.
    pub budget: u64,
    /// Nodes of the networks that may be solved for steps, and values looked at between them.
    pub room: u64,
    /// Kernels solved.
    pub cuts: u64,
}

impl Search {
    /// A search that tries at most `budget` steps.
    pub fn new(budget: u64) -> Self {
        Self {
            budget,
            room: u64::MAX,
            cuts: 0,
        }
    }
    /// The same for a program of so many ops, with work in proportion to it whatever the steps are.
    pub fn bounded(self, ops: usize) -> Self {
        let ops = ops as u64;
        Self {
            room: ROOM.saturating_add(ROOM_PER_OP.saturating_mul(ops)),
            ..self
        }
    }
    fn spend(&mut self, work: u64) {
        self.room = self.room.saturating_sub(work);
    }
    /// Whether nothing may be tried any more.
    const fn is_spent(&self) -> bool {
        self.budget == 0 || self.room == 0
    }
}

/// The best choice found; at worst what `now` says. `now` lists what is written today.
pub fn solve(problem: &Problem, now: &[bool], search: &mut Search) -> Option<Solution> {
    let today = evaluate(problem, now, search)?;
    let pinned = unavoidable(problem);
    let both: Vec<bool> = now.iter().zip(&pinned).map(|(a, b)| *a || *b).collect();
    let mut best = descend(problem, today, search);
    for start in [pinned, both] {
        if let Some(start) = evaluate(problem, &start, search) {
            let found = descend(problem, start, search);
            if found.cost < best.cost {
                best = found;
            }
        }
    }
    Some(best)
}

/// The price of writing `written`; `None` where some kernel cannot get what it needs.
pub(super) fn evaluate(
    problem: &Problem,
    written: &[bool],
    search: &mut Search,
) -> Option<Solution> {
    let mut kernels = Vec::with_capacity(problem.kernels as usize);
    for kernel in 0..problem.kernels {
        kernels.push(solve_kernel(problem, kernel, written, search)?);
    }
    Some(finish(problem, written.to_vec(), kernels))
}

/// `Some(None)` for a kernel that writes nothing.
fn solve_kernel(
    problem: &Problem,
    kernel: u32,
    written: &[bool],
    search: &mut Search,
) -> Option<Option<Rc<Kernel>>> {
    if problem.wanted(kernel, written).is_empty() {
        return Some(None);
    }
    search.cuts += 1;
    let mut work = 0;
    let kernel = cheapest(problem, kernel, written, &mut work);
    search.spend(work);
    kernel.map(|k| Some(Rc::new(k)))
}

fn finish(problem: &Problem, written: Vec<bool>, kernels: Vec<Option<Rc<Kernel>>>) -> Solution {
    let costs = kernels.iter().zip(0..).map(|(k, n)| price(problem, n, k));
    let cost = costs.fold(problem.write_bytes(&written), u64::saturating_add);
    Solution {
        written,
        kernels,
        cost,
    }
}

/// What a kernel costs but for its writes.
fn price(problem: &Problem, number: u32, kernel: &Option<Rc<Kernel>>) -> u64 {
    let own = |k: &Rc<Kernel>| k.cost.saturating_add(problem.launch_of(number));
    kernel.as_ref().map_or(0, own)
}

/// Values that one kernel may reach back to from what it writes before foreign ones count as written.
const MAX_REACH: usize = 4096;

/// What has to be written if everything that may be recomputed is: results that kernels need and may compute only at home.
fn unavoidable(problem: &Problem) -> Vec<bool> {
    let outputs = problem.values.iter().map(|v| v.is_output);
    let mut written: Vec<bool> = outputs.collect();
    for kernel in (0..problem.kernels).rev() {
        let mut stack = problem.wanted(kernel, &written);
        let mut seen = FxHashSet::default();
        while let Some(value) = stack.pop() {
            if !seen.insert(value) {
                continue;
            }
            let Some(op) = problem.values[value as usize].maker else {
                continue;
            };
            let near = seen.len() <= MAX_REACH || problem.is_native(op, kernel);
            match near && problem.may_compute(op, kernel) {
                true => stack.extend(problem.ops[op as usize].reads.iter().copied()),
                false => written[value as usize] = true,
            }
        }
    }
    written
}

/// A choice under way.
struct Walk<'a> {
    problem: &'a Problem,
    at: Solution,
    /// Of each value the kernels, but for its writer, that load it or compute what makes or reads it, ascending.
    near: Vec<SmallVec<[u32; 2]>>,
}

/// Takes steps while one lowers the price.
fn descend(problem: &Problem, at: Solution, search: &mut Search) -> Solution {
    let mut walk = Walk {
        problem,
        near: vec![SmallVec::new(); problem.values.len()],
        at,
    };
    for number in 0..problem.kernels {
        walk.attend(number, true);
    }
    loop {
        let removed = walk.remove_all(search);
        let changed = removed || walk.add_all(search);
        search.spend(problem.values.len() as u64 / 4);
        if !changed || search.is_spent() {
            return walk.at;
        }
    }
}

/// Values written that need not be, the largest first.
fn removable(problem: &Problem, at: &Solution) -> Vec<u32> {
    let written = at.written.iter().zip(&problem.values).zip(0u32..);
    let removable = written.filter(|((w, v), _)| **w && !v.is_output && v.maker.is_some());
    let mut list: Vec<u32> = removable.map(|(_, n)| n).collect();
    list.sort_by_key(|&v| (std::cmp::Reverse(problem.values[v as usize].bytes), v));
    list
}

/// Values that could be written instead of `value`: what makes it, and what is made of it.
fn exchanges(problem: &Problem, at: &Solution, value: u32) -> Vec<u32> {
    let mut near = Vec::new();
    let maker = problem.values[value as usize].maker;
    if let Some(op) = maker {
        near.extend(problem.ops[op as usize].reads.iter().copied());
    }
    let kernel = problem.values[value as usize].writer;
    let readers = problem.values[value as usize].readers.iter();
    let users = readers.map(|&o| &problem.ops[o as usize]);
    let users = users.filter(|o| o.homes.binary_search(&kernel).is_ok());
    near.extend(users.flat_map(|o| o.writes.iter().copied()));
    near.retain(|&v| !at.written[v as usize] && problem.values[v as usize].maker.is_some());
    near
}

impl Walk<'_> {
    fn remove_all(&mut self, search: &mut Search) -> bool {
        let mut changed = false;
        for value in removable(self.problem, &self.at) {
            changed |= self.step(&[value], search);
            let swaps = exchanges(self.problem, &self.at, value);
            for other in swaps {
                if !self.at.written[value as usize] {
                    break;
                }
                changed |= self.step(&[value, other], search);
            }
        }
        changed
    }

    /// Values more in memory, each where that lowers the price: what foreign ops make.
    fn add_all(&mut self, search: &mut Search) -> bool {
        let mut candidates = std::collections::BTreeSet::new();
        for (kernel, number) in self.at.kernels.iter().zip(0..) {
            let computed = kernel.iter().flat_map(|k| k.computes.iter().copied());
            for op in computed.filter(|&op| !self.problem.is_native(op, number)) {
                candidates.extend(self.problem.ops[op as usize].writes.iter().copied());
            }
        }
        let mut changed = false;
        for value in candidates {
            if !self.at.written[value as usize] {
                changed |= self.step(&[value], search);
            }
        }
        changed
    }

    /// Flips the values and keeps it where the price falls.
    fn step(&mut self, flips: &[u32], search: &mut Search) -> bool {
        if search.is_spent() {
            return false;
        }
        search.budget -= 1;
        let writes = |walk: &Self| {
            let written = flips.iter().filter(|&&v| walk.at.written[v as usize]);
            let prices = written.map(|&v| walk.problem.write_price(v));
            prices.fold(0u64, u64::saturating_add)
        };
        let mut before = writes(self);
        self.flip(flips);
        let mut after = writes(self);
        let mut solved = SmallVec::<[(u32, Option<Rc<Kernel>>); 4]>::new();
        for kernel in self.concerned(flips) {
            let new = solve_kernel(self.problem, kernel, &self.at.written, search);
            let Some(new) = new else {
                self.flip(flips);
                return false;
            };
            let old = &self.at.kernels[kernel as usize];
            before = before.saturating_add(price(self.problem, kernel, old));
            after = after.saturating_add(price(self.problem, kernel, &new));
            solved.push((kernel, new));
        }
        if after >= before {
            self.flip(flips);
            return false;
        }
        for (kernel, new) in solved {
            self.attend(kernel, false);
            self.at.kernels[kernel as usize] = new;
            self.attend(kernel, true);
        }
        self.at.cost = self.at.cost.saturating_sub(before - after);
        true
    }
    fn flip(&mut self, flips: &[u32]) {
        for &value in flips {
            let written = &mut self.at.written[value as usize];
            *written = !*written;
        }
    }

    /// The kernels for which flipping could change what they do, ascending. Those before the writer never see it.
    fn concerned(&self, flips: &[u32]) -> SmallVec<[u32; 8]> {
        let writers = flips
            .iter()
            .map(|&v| self.problem.values[v as usize].writer);
        let first = writers.clone().min().unwrap_or(0);
        let near = flips.iter().flat_map(|&v| &self.near[v as usize]).copied();
        let mut all: SmallVec<[u32; 8]> = writers.chain(near).filter(|&k| k >= first).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
    /// Enters a kernel in the lists of the values that it touches, or takes it out.
    fn attend(&mut self, number: u32, enter: bool) {
        let Some(kernel) = self.at.kernels[number as usize].clone() else {
            return;
        };
        let ops = kernel
            .computes
            .iter()
            .map(|&o| &self.problem.ops[o as usize]);
        let values = ops.flat_map(|o| o.writes.iter().chain(&o.reads));
        for &value in kernel.loads.iter().chain(values) {
            let list = &mut self.near[value as usize];
            match (list.binary_search(&number), enter) {
                (Err(at), true) => list.insert(at, number),
                (Ok(at), false) => {
                    list.remove(at);
                }
                _ => {}
            }
        }
    }
}
