//! The search for the values to be written to memory: descent from three starts, by removing, adding and exchanging one
//! value at a time.
//!
//! Starts are the values written now, those that cannot be recomputed, and both together. A step is taken only if the
//! whole price falls. The solution of each kernel is kept up to date (`local.rs`), so a step costs what it touches: in
//! the kernel that writes the value, and in those that load it or compute what makes or reads it, the values whose
//! state changes. Values to try stand in a queue; a step that is taken puts back those near what it changed. When the
//! queue is empty all are tried once more, until that finds nothing, a few times at most. All work is counted, and a
//! budget bounds it.
//!
//! When ops are barred from kernels later, the choices are mended where that concerns them, and the descents go on from
//! there. The result of the first start is available before the others: if the cost model refuses it, they had better
//! wait for the ops that it bars.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::local::{Change, Dirty, Given, Local};
use super::problem::{Kernel, Problem, Solution};

/// Work that a search may do in a program of any size.
const ROOM: u64 = 1 << 18;
/// Foreign ops that a kernel computes when everything that may be recomputed is; what is further away is written.
const START_REACH: usize = 24;
/// Times that all values are tried.
const MAX_PASSES: usize = 8;
/// Users of a value that are tried again when something about it changed; of one with more the next pass sees to that.
const MAX_NEAR: usize = 64;

/// Bound and counters of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Search {
    /// The steps left: values, ops and nodes of networks that may still be examined.
    pub room: u64,
    /// The steps taken.
    pub work: u64,
    /// Steps tried.
    pub steps: u64,
}

impl Search {
    /// A search that may look at `per_op` values for each of `ops` ops, and at some more.
    pub fn new(per_op: u64, ops: usize) -> Self {
        Self {
            room: ROOM.saturating_add(per_op.saturating_mul(ops as u64)),
            work: 0,
            steps: 0,
        }
    }
    /// As much room as at the start.
    pub fn refill(&mut self, per_op: u64, ops: usize) {
        self.room = Self::new(per_op, ops).room;
    }
    /// True if nothing may be tried any more.
    pub const fn is_spent(&self) -> bool {
        self.room == 0
    }
    fn spend(&mut self, work: u64) {
        self.room = self.room.saturating_sub(work);
        self.work = self.work.saturating_add(work);
    }
}

/// The best choice found; at worst what `now` says. `now` lists what is written today.
pub fn solve(problem: &Problem, now: &[bool], search: &mut Search) -> Option<Solution> {
    Descents::new(problem, now, search).best(problem)
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

/// A descent from each start.
#[derive(Debug)]
pub(super) struct Descents {
    now: Vec<bool>,
    walks: Vec<Walk>,
}

impl Descents {
    /// Descends from all starts that differ.
    pub fn new(problem: &Problem, now: &[bool], search: &mut Search) -> Self {
        let mut descents = Self::first(problem, now, search);
        descents.complete(problem, search);
        descents
    }
    /// Descends from what is written now.
    pub fn first(problem: &Problem, now: &[bool], search: &mut Search) -> Self {
        let mut descents = Self {
            now: now.to_vec(),
            walks: Vec::new(),
        };
        descents.descend(problem, now.to_vec(), search);
        descents
    }
    /// Descends from the other starts, where they differ.
    pub fn complete(&mut self, problem: &Problem, search: &mut Search) {
        let pinned = unavoidable(problem, search);
        let both: Vec<bool> = self
            .now
            .iter()
            .zip(&pinned)
            .map(|(a, b)| *a || *b)
            .collect();
        let differs = both != pinned && both != self.now;
        if pinned != self.now {
            self.descend(problem, pinned, search);
        }
        if differs {
            self.descend(problem, both, search);
        }
    }
    fn descend(&mut self, problem: &Problem, start: Vec<bool>, search: &mut Search) {
        if let Some(mut walk) = Walk::new(problem, start, search) {
            walk.descend(problem, search);
            self.walks.push(walk);
        }
    }
    /// Goes on after kernels were closed, or ops barred from them.
    pub fn mend(&mut self, problem: &Problem, kernels: &BTreeSet<u32>, search: &mut Search) {
        let walks = std::mem::take(&mut self.walks);
        for mut walk in walks {
            if walk.mend(problem, kernels, search) {
                walk.settle_queue(problem, search);
                self.walks.push(walk);
            }
        }
        if self.walks.is_empty() {
            self.descend(problem, self.now.clone(), search);
        }
    }
    /// The cheapest; of equal ones the first.
    pub fn best(&self, problem: &Problem) -> Option<Solution> {
        let best = self.walks.iter().min_by_key(|w| w.cost);
        best.map(|w| w.solution(problem))
    }
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
        search.spend(seen.len() as u64);
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

/// Values to try: written ones that need not be, the largest first; then others that are computed again somewhere.
#[derive(Debug, Default)]
struct Queue {
    written: BTreeSet<(Reverse<u64>, u32)>,
    others: BTreeSet<u32>,
}

impl Queue {
    fn pop(&mut self) -> Option<u32> {
        let written = self.written.pop_first().map(|(_, value)| value);
        written.or_else(|| self.others.pop_first())
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
    queue: Queue,
    dirty: Dirty,
}

impl Walk {
    /// `None` where some kernel cannot have what it needs.
    fn new(problem: &Problem, written: Vec<bool>, search: &mut Search) -> Option<Self> {
        let mut walk = Self {
            near: vec![Near::default(); problem.values.len()],
            kernels: Vec::with_capacity(problem.kernels as usize),
            cost: 0,
            queue: Queue::default(),
            dirty: Dirty::default(),
            written,
        };
        let all = walk.written.iter().zip(0u32..).filter(|(w, _)| **w);
        walk.cost = all.map(|(_, v)| u128::from(problem.write_price(v))).sum();
        for kernel in 0..problem.kernels {
            walk.kernels.push(Local::default());
            walk.renew(problem, kernel, search);
            if !walk.kernels[kernel as usize].is_possible() {
                return None;
            }
        }
        Some(walk)
    }
    /// Finds the state of a kernel anew, from nothing.
    fn renew(&mut self, problem: &Problem, kernel: u32, search: &mut Search) {
        self.cost -= self.price(problem, kernel);
        let mut dirty = std::mem::take(&mut self.dirty);
        let local = Local::new(self.given(problem, kernel), &mut dirty);
        self.kernels[kernel as usize] = local;
        self.note(problem, kernel, &mut dirty, search);
        self.dirty = dirty;
        self.cost += self.price(problem, kernel);
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
        search.spend(std::mem::take(&mut dirty.work));
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

    /// Takes steps while one lowers the price.
    fn descend(&mut self, problem: &Problem, search: &mut Search) {
        for _ in 0..MAX_PASSES {
            for value in 0..problem.values.len() as u32 {
                self.enqueue(problem, value);
            }
            search.spend(problem.values.len() as u64);
            if !self.settle_queue(problem, search) {
                return;
            }
        }
    }
    /// Tries what is in the queue; says whether a step was taken.
    fn settle_queue(&mut self, problem: &Problem, search: &mut Search) -> bool {
        let mut changed = false;
        while !search.is_spent() {
            let Some(value) = self.queue.pop() else {
                return changed;
            };
            changed |= match self.written[value as usize] {
                true => self.remove(problem, value, search),
                false => self.is_repeated(problem, value) && self.step(problem, &[value], search),
            };
        }
        false
    }
    fn enqueue(&mut self, problem: &Problem, value: u32) {
        let idle = !self.written[value as usize] && self.near[value as usize].kernels.is_empty();
        if idle || !may_flip(problem, value) {
            return;
        }
        match self.written[value as usize] {
            true => {
                let bytes = problem.values[value as usize].bytes;
                self.queue.written.insert((Reverse(bytes), value));
            }
            false => {
                self.queue.others.insert(value);
            }
        }
    }
    /// Writes `value` no more, or another one in its place.
    fn remove(&mut self, problem: &Problem, value: u32, search: &mut Search) -> bool {
        let mut changed = self.step(problem, &[value], search);
        for other in exchanges(problem, &self.written, value) {
            if !self.written[value as usize] {
                break;
            }
            changed |= self.step(problem, &[value, other], search);
        }
        changed
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

    /// Flips the values and keeps it where the price falls.
    fn step(&mut self, problem: &Problem, flips: &[u32], search: &mut Search) -> bool {
        if search.is_spent() {
            return false;
        }
        search.steps += 1;
        let kernels = self.concerned(problem, flips);
        let prices = kernels.iter().map(|&k| self.price(problem, k));
        let before = prices.sum::<u128>() + self.writes(problem, flips);
        self.flip(flips);
        let mut after = self.writes(problem, flips);
        let mut done = SmallVec::<[(u32, Option<Change>); 4]>::new();
        // Users first: it is most often there that a step turns out to be too dear.
        for &kernel in kernels.iter().rev() {
            let change = self.update(problem, kernel, flips, search);
            let possible = change.is_some();
            done.push((kernel, change));
            after += self.price(problem, kernel);
            if !possible || after >= before {
                self.flip(flips);
                self.undo(problem, flips, done, search);
                return false;
            }
        }
        self.cost -= before - after;
        self.requeue(problem, flips, &done, search);
        true
    }
    /// Bytes of the writes among `flips`.
    fn writes(&self, problem: &Problem, flips: &[u32]) -> u128 {
        let written = flips.iter().filter(|&&v| self.written[v as usize]);
        written.map(|&v| u128::from(problem.write_price(v))).sum()
    }
    fn flip(&mut self, flips: &[u32]) {
        for &value in flips {
            let written = &mut self.written[value as usize];
            *written = !*written;
        }
    }
    /// The kernels for which flipping could change what they do, ascending. Those before the writer never see it; those that do
    /// not take what is written no more do as before.
    fn concerned(&mut self, problem: &Problem, flips: &[u32]) -> SmallVec<[u32; 8]> {
        let mut all = SmallVec::<[u32; 8]>::new();
        for &value in flips {
            let writer = problem.values[value as usize].writer;
            let near = self.kernels_near(value);
            let written = self.written[value as usize];
            let takes = |k: &u32| !written || self.kernels[*k as usize].takes(value);
            let near = near.into_iter().filter(|&k| k > writer);
            all.push(writer);
            all.extend(near.filter(takes));
        }
        all.sort_unstable();
        all.dedup();
        all
    }
    fn update(
        &mut self,
        problem: &Problem,
        kernel: u32,
        flips: &[u32],
        search: &mut Search,
    ) -> Option<Change> {
        let mut dirty = std::mem::take(&mut self.dirty);
        let given = Given {
            problem,
            written: &self.written,
            kernel,
        };
        let change = self.kernels[kernel as usize].update(given, flips, &mut dirty);
        self.note(problem, kernel, &mut dirty, search);
        self.dirty = dirty;
        change
    }
    fn undo(
        &mut self,
        problem: &Problem,
        flips: &[u32],
        done: SmallVec<[(u32, Option<Change>); 4]>,
        search: &mut Search,
    ) {
        let mut dirty = std::mem::take(&mut self.dirty);
        for (kernel, change) in done.into_iter().rev() {
            let given = Given {
                problem,
                written: &self.written,
                kernel,
            };
            self.kernels[kernel as usize].undo(given, flips, change, &mut dirty);
            self.note(problem, kernel, &mut dirty, search);
        }
        self.dirty = dirty;
    }
    /// Puts back into the queue what a step may have made worth another try.
    fn requeue(
        &mut self,
        problem: &Problem,
        flips: &[u32],
        done: &[(u32, Option<Change>)],
        search: &mut Search,
    ) {
        let mut near = BTreeSet::new();
        for &value in flips {
            let info = &problem.values[value as usize];
            if let Some(op) = info.producer {
                near.extend(&problem.ops[op as usize].reads);
            }
            for &user in info.users.iter().take(MAX_NEAR) {
                near.extend(&problem.ops[user as usize].writes);
            }
        }
        for (kernel, change) in done {
            if let Some(change) = change {
                near.extend(change.values(&self.kernels[*kernel as usize]));
            }
        }
        search.spend(near.len() as u64);
        for value in near {
            self.enqueue(problem, value);
        }
    }

    /// Makes up for what kernels may not compute any more; `false` where something cannot be had.
    fn mend(&mut self, problem: &Problem, kernels: &BTreeSet<u32>, search: &mut Search) -> bool {
        let mut open = kernels.clone();
        for &kernel in kernels {
            self.renew(problem, kernel, search);
        }
        while let Some(kernel) = open.pop_last() {
            let missing = self.kernels[kernel as usize].missing_values();
            for &value in &missing {
                let writer = problem.values[value as usize].writer;
                if self.written[value as usize] || !may_flip(problem, value) || writer >= kernel {
                    return false;
                }
                let concerned = self.concerned(problem, &[value]);
                self.flip(&[value]);
                self.cost += u128::from(problem.write_price(value));
                for &other in concerned.iter().filter(|&&k| k != kernel) {
                    match self.kernels[other as usize].is_possible() {
                        true => {
                            self.cost -= self.price(problem, other);
                            self.update(problem, other, &[value], search);
                            self.cost += self.price(problem, other);
                        }
                        false => self.renew(problem, other, search),
                    }
                    open.insert(other);
                }
            }
            if !missing.is_empty() {
                self.renew(problem, kernel, search);
                open.insert(kernel);
                continue;
            }
            for value in self.kernels[kernel as usize].known() {
                self.enqueue(problem, value);
            }
        }
        true
    }
}

/// True if a value may be written or not: an op makes it, and it is no output.
fn may_flip(problem: &Problem, value: u32) -> bool {
    let info = &problem.values[value as usize];
    info.producer.is_some() && !info.is_output
}

/// Values that could be written instead of `value`: what makes it, and what is made of it.
fn exchanges(problem: &Problem, written: &[bool], value: u32) -> SmallVec<[u32; 8]> {
    let mut near = SmallVec::<[u32; 8]>::new();
    let info = &problem.values[value as usize];
    if let Some(op) = info.producer {
        near.extend(problem.ops[op as usize].reads.iter().copied());
    }
    let users = info.users.iter().map(|&o| &problem.ops[o as usize]);
    let users = users.filter(|o| o.homes.binary_search(&info.writer).is_ok());
    near.extend(users.flat_map(|o| o.writes.iter().copied()).take(MAX_NEAR));
    near.retain(|v| !written[*v as usize] && problem.values[*v as usize].producer.is_some());
    near
}
