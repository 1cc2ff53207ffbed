//! What is written to memory: descent from three starts, by removing, adding and exchanging one value at a time.
//!
//! Starts are what is written now, what cannot be recomputed, and both together. A step is taken only if the whole price
//! falls; only kernels that the step can concern are solved again. Work is bounded by a number of steps tried.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::cut::cheapest;
use super::problem::{Kernel, Problem, Solution};

/// Bounds and counters of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Search {
    /// Steps that may be tried.
    pub budget: u64,
    /// Kernels solved.
    pub cuts: u64,
}

impl Search {
    /// A search that tries at most `budget` steps.
    pub fn new(budget: u64) -> Self {
        Self { budget, cuts: 0 }
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
    cheapest(problem, kernel, written).map(|k| Some(Rc::new(k)))
}

fn finish(problem: &Problem, written: Vec<bool>, kernels: Vec<Option<Rc<Kernel>>>) -> Solution {
    let costs = kernels.iter().flatten();
    let cost = costs.fold(problem.write_bytes(&written), |sum, k| {
        sum.saturating_add(k.cost).saturating_add(problem.launch)
    });
    Solution {
        written,
        kernels,
        cost,
    }
}

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
            match problem.may_compute(op, kernel) {
                true => stack.extend(problem.ops[op as usize].reads.iter().copied()),
                false => written[value as usize] = true,
            }
        }
    }
    written
}

/// Takes steps while one lowers the price.
fn descend(problem: &Problem, mut at: Solution, search: &mut Search) -> Solution {
    loop {
        let removed = remove_all(problem, &mut at, search);
        let changed = removed || add_one(problem, &mut at, search);
        if !changed || search.budget == 0 {
            return at;
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

fn remove_all(problem: &Problem, at: &mut Solution, search: &mut Search) -> bool {
    let mut changed = false;
    for value in removable(problem, at) {
        changed |= step(problem, at, &[value], search);
        let swaps = exchanges(problem, at, value);
        for other in swaps {
            if !at.written[value as usize] {
                break;
            }
            changed |= step(problem, at, &[value, other], search);
        }
    }
    changed
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
    let users = users.filter(|o| o.homes.contains(&kernel));
    near.extend(users.flat_map(|o| o.writes.iter().copied()));
    near.retain(|&v| !at.written[v as usize] && problem.values[v as usize].maker.is_some());
    near
}

/// One value more in memory, where that lowers the price: what foreign ops make or read.
fn add_one(problem: &Problem, at: &mut Solution, search: &mut Search) -> bool {
    let mut candidates = std::collections::BTreeSet::new();
    for (kernel, number) in at.kernels.iter().zip(0..) {
        let computed = kernel.iter().flat_map(|k| k.computes.iter().copied());
        for op in computed.filter(|&op| !problem.is_native(op, number)) {
            candidates.extend(problem.ops[op as usize].writes.iter().copied());
        }
    }
    let fresh = candidates.into_iter().filter(|&v| !at.written[v as usize]);
    let fresh: Vec<u32> = fresh.collect();
    fresh
        .into_iter()
        .any(|value| step(problem, at, &[value], search))
}

/// Flips the values and keeps it where the price falls.
fn step(problem: &Problem, at: &mut Solution, flips: &[u32], search: &mut Search) -> bool {
    if search.budget == 0 {
        return false;
    }
    search.budget -= 1;
    let mut written = at.written.clone();
    for &value in flips {
        written[value as usize] = !written[value as usize];
    }
    let first = flips
        .iter()
        .map(|&v| problem.values[v as usize].writer)
        .min();
    let first = first.unwrap_or(0) as usize;
    // Kernels before the writer never see the difference.
    let mut kernels = at.kernels[..first.min(at.kernels.len())].to_vec();
    for kernel in first as u32..problem.kernels {
        let old = &at.kernels[kernel as usize];
        let solved = match concerned(problem, old, kernel, flips) {
            true => solve_kernel(problem, kernel, &written, search),
            false => Some(old.clone()),
        };
        let Some(solved) = solved else { return false };
        kernels.push(solved);
    }
    let new = finish(problem, written, kernels);
    let falls = new.cost < at.cost;
    if falls {
        *at = new;
    }
    falls
}

/// Whether flipping could change what a kernel does: it writes one of the values, or could load one.
fn concerned(problem: &Problem, old: &Option<Rc<Kernel>>, kernel: u32, flips: &[u32]) -> bool {
    let writes = |v: &u32| problem.values[*v as usize].writer == kernel;
    let touches = |v: &u32| {
        let Some(old) = old else { return false };
        let makes = |op: &u32| {
            let info = &problem.ops[*op as usize];
            info.writes.contains(v) || info.reads.contains(v)
        };
        old.loads.binary_search(v).is_ok() || old.computes.iter().any(makes)
    };
    flips.iter().any(|v| writes(v) || touches(v))
}
