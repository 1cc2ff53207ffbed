//! The cheapest work of one kernel, given what is in memory: what it loads and what it computes, by a minimum cut.
//!
//! The outputs are followed back. A value that is not in memory is computed, whatever that costs, and needs the operands of its op;
//! a value that no op may make here is loaded. A value that could be either is a *choice*. From the choices a network extends
//! back over ops that may be computed here, up to values that the kernel has in any case, by the least price of the ops on a
//! path; beyond the price of all loads at stake, those of choices that meet, nothing is to be gained.
//!
//! Every value is an edge `in -> out` with the bytes of a load as capacity (unbounded if it is not in memory), every op a node
//! between its operands and its results; the source feeds each op with the price of computing it here (nothing for the
//! kernel's own ops), and choices lead to the sink. The severed edges are paid: loads, and foreign ops. Of equal cuts the one
//! nearest the sink counts: less is recomputed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use petgraph::unionfind::UnionFind;
use rustc_hash::FxHashSet;

use super::flow::Flow;
use super::problem::{Kernel, Problem};
use super::trace::{Outcome, Traces};

/// Capacity that no cut pays. Finite capacities are clamped far below, so that sums do not reach it.
const UNBOUNDED: u64 = 1 << 60;
/// Foreign ops that a kernel may have to compute: more than a few never pay.
const MAX_FOREIGN: usize = 96;
/// Foreign ops that a kernel may consider for each choice, besides the first [`MAX_FOREIGN`].
const FOREIGN_PER_CHOICE: usize = 8;
/// Values in memory that one goes back through, the choice itself included: each saves no more than its load.
const MAX_DEPTH: u32 = 3;

/// A kernel and the contents of memory.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub problem: &'a Problem,
    pub written: &'a [bool],
    pub kernel: u32,
}

impl Given<'_> {
    pub fn may_load(&self, value: u32) -> bool {
        self.problem.may_load(value, self.kernel, self.written)
    }
    pub fn load_price(&self, value: u32) -> u64 {
        self.problem.load_bytes(value, self.kernel)
    }
    /// The op that may make `value` here.
    pub fn producer(&self, value: u32) -> Option<u32> {
        let producer = self.problem.values[value as usize].producer;
        producer.filter(|&op| self.problem.may_compute(op, self.kernel))
    }
    pub fn is_native(&self, op: u32) -> bool {
        self.problem.is_native(op, self.kernel)
    }
    /// The price of computing `op` here.
    pub fn price(&self, op: u32) -> u64 {
        match self.is_native(op) {
            true => 0,
            false => self.problem.ops[op as usize].price,
        }
    }
}

/// The ops of a kernel that are its own and computed in any case, and what follows from them alone. It stays the same while the kernel
/// writes the same, and what it could load of its own results too.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Core {
    /// Ascending.
    pub ops: Vec<u32>,
    /// The values that these ops make and are needed, and the inputs of the program that they read, ascending.
    pub values: Vec<u32>,
    /// These inputs.
    inputs: Vec<u32>,
    /// The other values that they read, ascending.
    pub reads: Vec<u32>,
    /// Bytes of the loads of these inputs.
    cost: u64,
    /// True if the kernel writes anything.
    is_alive: bool,
}

impl Core {
    /// The core of a kernel that writes more than one whose core is `base`.
    fn new(given: Given<'_>, base: &Self) -> Self {
        let mut open = given.problem.wanted(given.kernel, given.written);
        let mut core = base.clone();
        core.is_alive = !open.is_empty();
        let (mut seen, mut ops) = (FxHashSet::default(), FxHashSet::default());
        while let Some(value) = open.pop() {
            if base.values.binary_search(&value).is_ok() || !seen.insert(value) {
                continue;
            }
            let producer = given.problem.values[value as usize].producer;
            let own = producer.filter(|&op| given.is_native(op) && !given.may_load(value));
            match own {
                Some(op) => {
                    core.values.push(value);
                    if base.ops.binary_search(&op).is_err() && ops.insert(op) {
                        open.extend(&given.problem.ops[op as usize].reads);
                    }
                }
                None if producer.is_none() => {
                    core.inputs.push(value);
                    core.values.push(value);
                    core.cost = core.cost.saturating_add(given.load_price(value));
                }
                None => core.reads.push(value),
            }
        }
        core.ops.extend(ops);
        core.values.sort_unstable();
        core.ops.sort_unstable();
        core.reads.sort_unstable();
        core.reads.dedup();
        core
    }
}

/// The work of a kernel besides its core, and what it was chosen from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Choice {
    /// Values that it loads, ascending.
    pub loads: Vec<u32>,
    /// Ops that it computes, ascending.
    pub computes: Vec<u32>,
    /// Bytes of the loads and the price of foreign ops.
    pub cost: u64,
    /// All values that were looked at: whether one of them is written concerns the kernel.
    pub region: Vec<u32>,
}

impl Choice {
    /// The same with other numbers of values and ops.
    pub fn map(&self, value: impl Fn(&u32) -> u32, op: impl Fn(&u32) -> u32) -> Self {
        Self {
            loads: self.loads.iter().map(&value).collect(),
            computes: self.computes.iter().map(op).collect(),
            cost: self.cost,
            region: self.region.iter().map(&value).collect(),
        }
    }
}

/// The work of a kernel, and what it was chosen from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Solved {
    core: Rc<Core>,
    /// Values that it loads besides inputs of its core, ascending.
    pub loads: Vec<u32>,
    /// Ops that it computes besides its core, ascending.
    computes: Vec<u32>,
    /// Bytes of the loads and the price of foreign ops.
    pub cost: u64,
    /// All values that were looked at: whether one of them is written concerns the kernel.
    pub region: Vec<u32>,
}

impl Solved {
    /// True if the kernel writes anything.
    pub fn is_alive(&self) -> bool {
        self.core.is_alive
    }
    /// True if the kernel computes `op`.
    pub fn has(&self, op: u32) -> bool {
        let own = || self.core.ops.binary_search(&op).is_ok();
        self.computes.binary_search(&op).is_ok() || own()
    }
    /// The core, if it is the same or more after `value` is `written`, or is written no more.
    pub fn core(
        &self,
        problem: &Problem,
        value: u32,
        kernel: u32,
        written: bool,
    ) -> Option<&Rc<Core>> {
        let info = &problem.values[value as usize];
        let same = match info.writer == kernel {
            true => written,
            false => !info
                .producer
                .is_some_and(|op| problem.is_native(op, kernel)),
        };
        same.then_some(&self.core)
    }
    /// All of it.
    pub fn kernel(&self) -> Kernel {
        let all = |a: &[u32], b: &[u32]| {
            let mut all = [a, b].concat();
            all.sort_unstable();
            all
        };
        Kernel {
            loads: all(&self.core.inputs, &self.loads),
            computes: all(&self.core.ops, &self.computes),
            cost: self.cost,
        }
    }
}

/// The part of a value in the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    /// None: the kernel has it in any case.
    Had,
    /// An end: it is needed.
    Choice,
    /// Others may be computed from it.
    Passed,
}

#[derive(Clone, Copy, Debug)]
struct Found {
    value: u32,
    role: Role,
    /// The choice that it was first found from.
    choice: usize,
    /// Values in memory on the way to it, itself included.
    depth: u32,
    /// True if its op was followed.
    done: bool,
    /// Its place in the network: where it is made or loaded, and where it is had.
    nodes: (u32, u32),
}

/// A value or an op that was not found.
pub(super) const NOWHERE: u32 = u32::MAX;

/// Solves one kernel after the other; its lists are kept from one to the next.
#[derive(Debug, Default)]
pub(super) struct Cutter {
    /// Values in order of discovery.
    found: Vec<Found>,
    /// The place of every value of the problem in that list; [`NOWHERE`]: not found.
    place: Vec<u32>,
    /// Ops in order of discovery: first those that are computed in any case, then those that may be.
    ops: Vec<u32>,
    /// The place of every op of the problem in that list.
    op_place: Vec<u32>,
    /// Ops that are computed in any case.
    forced: usize,
    /// Values by the least price of the foreign ops on a path to them, their own included, then in order of discovery.
    heap: BinaryHeap<Reverse<(u128, usize)>>,
    flow: Flow,
    traces: Traces,
    /// Values, ops and nodes of networks looked at.
    pub work: u64,
    /// Kernels that were solved; others looked the same.
    pub solved: u64,
}

impl Cutter {
    /// The cheapest work of a kernel, whose core may be `known`; `None` where it cannot have all that it needs.
    pub fn solve(&mut self, given: Given<'_>, known: Option<&Rc<Core>>) -> Option<Solved> {
        self.place.resize(given.problem.values.len(), NOWHERE);
        self.op_place.resize(given.problem.ops.len(), NOWHERE);
        let none = Rc::default();
        let base = known.unwrap_or(&none);
        let core = Rc::new(Core::new(given, base));
        self.work += (core.values.len() + core.ops.len()) as u64;
        self.work -= (base.values.len() + base.ops.len()) as u64;
        let (choice, work) = match self.traces.find(given, &core) {
            Some(outcome) => outcome,
            None => self.choose(given, &core),
        };
        self.work += work;
        let mut choice = choice?;
        if core.values.len() > base.values.len() {
            choice.region.extend(&core.values);
        }
        Some(Solved {
            cost: core.cost.saturating_add(choice.cost),
            core,
            loads: choice.loads,
            computes: choice.computes,
            region: choice.region,
        })
    }
    /// The cheapest work besides the core, and the work of finding it.
    fn choose(&mut self, given: Given<'_>, core: &Core) -> Outcome {
        self.solved += 1;
        let before = std::mem::take(&mut self.work);
        let choice = self.force(given, core).then(|| {
            self.explore(given, core);
            self.cut(given)
        });
        self.work += 1 + (core.reads.len() + self.found.len() + self.ops.len()) as u64;
        let outcome = (choice, std::mem::replace(&mut self.work, before));
        let entered = |op: u32| self.op_place[op as usize] != NOWHERE;
        self.traces.keep(given, core, entered, &outcome);
        self.clear();
        outcome
    }
    /// Forgets what was found, in time that takes no longer than finding it did.
    fn clear(&mut self) {
        for found in self.found.drain(..) {
            self.place[found.value as usize] = NOWHERE;
        }
        for op in self.ops.drain(..) {
            self.op_place[op as usize] = NOWHERE;
        }
        self.heap.clear();
    }
    fn place(&self, value: u32) -> Option<usize> {
        let place = self.place[value as usize];
        (place != NOWHERE).then_some(place as usize)
    }
    fn enter(&mut self, value: u32, role: Role, choice: usize, depth: u32) -> usize {
        let at = self.found.len();
        self.place[value as usize] = at as u32;
        self.found.push(Found {
            value,
            role,
            choice,
            depth,
            done: false,
            nodes: (NOWHERE, NOWHERE),
        });
        at
    }
    fn enter_op(&mut self, op: u32) {
        self.op_place[op as usize] = self.ops.len() as u32;
        self.ops.push(op);
    }
    /// True if an op is computed in any case.
    fn is_forced(&self, core: &Core, op: u32) -> bool {
        (self.op_place[op as usize] as usize) < self.forced || core.ops.binary_search(&op).is_ok()
    }

    /// Finds what is computed and loaded in any case, and the choices; false where something is missing.
    fn force(&mut self, given: Given<'_>, core: &Core) -> bool {
        let mut foreign = 0;
        let mut open = core.reads.clone();
        while let Some(value) = open.pop() {
            if self.place(value).is_some() || core.values.binary_search(&value).is_ok() {
                continue;
            }
            let producer = given.producer(value);
            let role = match (given.may_load(value), producer) {
                (true, Some(_)) => Role::Choice,
                (false, None) => return false,
                _ => Role::Had,
            };
            self.enter(value, role, 0, 1);
            let Some(op) = producer.filter(|_| role == Role::Had) else {
                continue;
            };
            if self.op_place[op as usize] == NOWHERE && core.ops.binary_search(&op).is_err() {
                self.enter_op(op);
                foreign += usize::from(!given.is_native(op));
                if foreign > MAX_FOREIGN {
                    return false;
                }
                open.extend(&given.problem.ops[op as usize].reads);
            }
        }
        self.forced = self.ops.len();
        for at in 0..self.found.len() {
            let Found { value, role, .. } = self.found[at];
            let made = given
                .producer(value)
                .is_some_and(|op| self.is_forced(core, op));
            if role == Role::Choice && made {
                self.found[at].role = Role::Had;
            }
        }
        true
    }

    /// Extends the network back from the choices.
    fn explore(&mut self, given: Given<'_>, core: &Core) {
        let choices = (0..self.found.len()).filter(|&at| self.found[at].role == Role::Choice);
        let choices: Vec<usize> = choices.collect();
        let mut at_stake = Vec::with_capacity(choices.len());
        for (&at, number) in choices.iter().zip(0..) {
            self.found[at].choice = number;
            at_stake.push(u128::from(given.load_price(self.found[at].value)));
            self.reach(given, at, 0);
        }
        let mut clusters = UnionFind::<usize>::new(choices.len());
        let mut foreign = MAX_FOREIGN + FOREIGN_PER_CHOICE * choices.len();
        let mut late = Vec::new();
        while let Some(Reverse((price, at))) = self.heap.pop() {
            let Found {
                value,
                choice,
                depth,
                ..
            } = self.found[at];
            if price >= at_stake[clusters.find(choice)] {
                late.push(Reverse((price, at)));
                continue;
            }
            let done = std::mem::replace(&mut self.found[at].done, true);
            let op = given.producer(value).filter(|&op| {
                let known = self.op_place[op as usize] != NOWHERE;
                !done && !known && depth <= MAX_DEPTH && (given.is_native(op) || foreign > 0)
            });
            let Some(op) = op else { continue };
            foreign -= usize::from(!given.is_native(op));
            self.enter_op(op);
            let info = &given.problem.ops[op as usize];
            for &value in info.reads.iter().chain(&info.writes) {
                let Some(other) =
                    self.meet(given, core, value, &info.reads, (choice, depth, price))
                else {
                    continue;
                };
                let (a, b) = (
                    clusters.find(choice),
                    clusters.find(self.found[other].choice),
                );
                if clusters.union(a, b) {
                    at_stake[clusters.find(a)] = at_stake[a] + at_stake[b];
                    self.heap.extend(late.drain(..));
                }
            }
        }
    }
    /// Comes to a value that an op reads or makes; gives its place, unless the kernel has it in any case.
    fn meet(
        &mut self,
        given: Given<'_>,
        core: &Core,
        value: u32,
        reads: &[u32],
        (choice, depth, price): (usize, u32, u128),
    ) -> Option<usize> {
        let made = given.problem.values[value as usize].producer;
        let at = match self.place(value) {
            Some(at) => at,
            None if !reads.contains(&value) || core.values.binary_search(&value).is_ok() => {
                return None;
            }
            None if made.is_some_and(|op| self.is_forced(core, op)) => return None,
            None => {
                let depth = depth + u32::from(given.may_load(value));
                self.enter(value, Role::Passed, choice, depth)
            }
        };
        if self.found[at].role == Role::Passed {
            self.reach(given, at, price);
        }
        (self.found[at].role != Role::Had).then_some(at)
    }
    /// Puts the op of a value on the list, with the price of the path that it ends.
    fn reach(&mut self, given: Given<'_>, at: usize, price: u128) {
        let found = &self.found[at];
        if let Some(op) = given.producer(found.value).filter(|_| !found.done) {
            let price = price + u128::from(given.price(op));
            self.heap.push(Reverse((price, at)));
        }
    }

    /// The work of the kernel, by the cut through the network.
    fn cut(&mut self, given: Given<'_>) -> Choice {
        self.flow.clear();
        let (source, sink) = (self.flow.node(), self.flow.node());
        for found in self.found.iter_mut().filter(|f| f.role != Role::Had) {
            let (inner, outer) = (self.flow.node(), self.flow.node());
            let capacity = match given.may_load(found.value) {
                true => clamp(given.load_price(found.value)),
                false => UNBOUNDED,
            };
            self.flow.arc(inner, outer, capacity);
            if found.role == Role::Choice {
                self.flow.arc(outer, sink, UNBOUNDED);
            }
            let made = given.problem.values[found.value as usize].producer;
            if made.is_none_or(|op| self.op_place[op as usize] == NOWHERE) {
                self.flow.arc(source, inner, UNBOUNDED);
            }
            found.nodes = (inner, outer);
        }
        let optional = self.ops[self.forced..].to_vec();
        let nodes: Vec<u32> = optional.iter().map(|_| self.flow.node()).collect();
        for (&op, &node) in optional.iter().zip(&nodes) {
            let info = &given.problem.ops[op as usize];
            if given.price(op) > 0 {
                self.flow.arc(source, node, clamp(given.price(op)));
            }
            let place = |value: &u32| {
                let at = self.place(*value)?;
                let found = &self.found[at];
                (found.role != Role::Had).then_some(found.nodes)
            };
            let (reads, writes) = (info.reads.iter(), info.writes.iter());
            let reads: Vec<(u32, u32)> = reads.filter_map(place).collect();
            let writes: Vec<(u32, u32)> = writes.filter_map(place).collect();
            for (_, outer) in reads {
                self.flow.arc(outer, node, UNBOUNDED);
            }
            for (inner, _) in writes {
                self.flow.arc(node, inner, UNBOUNDED);
            }
        }
        self.flow.maximize(source, sink);
        self.work += 2 * optional.len() as u64 * self.flow.phases;
        let late = self.flow.reaches(sink);
        let loads = self.found.iter().filter(|found| match found.role {
            Role::Had => given.producer(found.value).is_none(),
            _ => !late[found.nodes.0 as usize] && late[found.nodes.1 as usize],
        });
        let mut loads: Vec<u32> = loads.map(|found| found.value).collect();
        let forced = self.ops[..self.forced].iter().copied();
        let chosen = optional.into_iter().zip(nodes);
        let chosen = chosen.filter(|(_, node)| late[*node as usize]);
        let mut computes: Vec<u32> = forced.chain(chosen.map(|(op, _)| op)).collect();
        loads.sort_unstable();
        computes.sort_unstable();
        let prices = loads.iter().map(|&value| given.load_price(value));
        let prices = prices.chain(computes.iter().map(|&op| given.price(op)));
        Choice {
            cost: prices.fold(0, u64::saturating_add),
            loads,
            computes,
            region: self.found.iter().map(|found| found.value).collect(),
        }
    }
}

fn clamp(capacity: u64) -> u64 {
    capacity.min(1 << 48)
}
