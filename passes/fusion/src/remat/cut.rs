//! The cheapest work of one kernel for given contents of memory: a minimum cut decides which values it loads and which
//! it computes.
//!
//! The search starts from the outputs and goes back. A value that is not in memory is computed at any cost, and needs
//! the operands of its op. A value that no op may compute here is loaded. A value that may be either is a *choice*.
//! From the choices a network extends back over ops that may be computed here, up to values that the kernel has in any
//! case, in the order of the least price of the ops on a path. It stops where this price reaches the sum of the loads
//! at stake, those of all connected choices: nothing can be gained there.
//!
//! Every value is an edge `in -> out` with the bytes of a load as capacity (unbounded if it is not in memory). Every op
//! is a node between its operands and its results. The source feeds each op with the price of computing it here
//! (nothing for the kernel's own ops), and choices lead to the sink. The severed edges are paid for: loads, and foreign
//! ops. Among equal cuts the one nearest the sink is chosen, which recomputes less.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use petgraph::unionfind::UnionFind;
use rustc_hash::FxHashSet;

use super::flow::Flow;
use super::problem::{Kernel, Problem};
use super::trace::{Outcome, Traces};

/// Capacity of edges that no cut severs. Finite capacities are clamped far below, so that their sums stay less.
const UNBOUNDED: u64 = 1 << 60;
/// The most foreign ops that a kernel may be forced to compute; more than a few never pay.
const MAX_FOREIGN: usize = 96;
/// Foreign ops that a kernel may consider for each choice, besides the first [`MAX_FOREIGN`].
const FOREIGN_PER_CHOICE: usize = 8;
/// The most values in memory on a path back, the choice itself included: each saves at most its load.
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
    /// The op that may compute `value` here.
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

/// The kernel's own ops that it computes in any case, and facts that follow from them alone. The core is unchanged as
/// long as the kernel writes the same values and may load the same of its own results.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Core {
    /// Ascending.
    pub ops: Vec<u32>,
    /// The needed results of these ops, and the inputs of the program that they read, ascending.
    pub values: Vec<u32>,
    /// The inputs of the program among `values`.
    inputs: Vec<u32>,
    /// The other values that they read, ascending.
    pub reads: Vec<u32>,
    /// Bytes of the loads of `inputs`.
    cost: u64,
    /// True if the kernel writes a value.
    is_alive: bool,
}

impl Core {
    /// Extends `base` to a kernel with additional outputs.
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

/// The work of a kernel besides its core, and the values examined for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Choice {
    /// Values that it loads, ascending.
    pub loads: Vec<u32>,
    /// Ops that it computes, ascending.
    pub computes: Vec<u32>,
    /// Bytes of the loads and the price of foreign ops.
    pub cost: u64,
    /// All values examined: writing or not writing one of them concerns the kernel.
    pub region: Vec<u32>,
}

impl Choice {
    /// The choice with other numbers of values and ops.
    pub fn map(&self, value: impl Fn(&u32) -> u32, op: impl Fn(&u32) -> u32) -> Self {
        Self {
            loads: self.loads.iter().map(&value).collect(),
            computes: self.computes.iter().map(op).collect(),
            cost: self.cost,
            region: self.region.iter().map(&value).collect(),
        }
    }
}

/// The work of a kernel, and the values examined for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Solved {
    core: Rc<Core>,
    /// Values that it loads besides inputs of its core, ascending.
    pub loads: Vec<u32>,
    /// Ops that it computes besides its core, ascending.
    computes: Vec<u32>,
    /// Bytes of the loads and the price of foreign ops.
    pub cost: u64,
    /// All values examined: writing or not writing one of them concerns the kernel.
    pub region: Vec<u32>,
}

impl Solved {
    /// True if the kernel writes a value.
    pub fn is_alive(&self) -> bool {
        self.core.is_alive
    }
    /// True if the kernel computes `op`.
    pub fn has(&self, op: u32) -> bool {
        let own = || self.core.ops.binary_search(&op).is_ok();
        self.computes.binary_search(&op).is_ok() || own()
    }
    /// The core, if it stays the same or grows when writing `value` becomes `written`.
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
    /// The whole work of the kernel.
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
    /// No part: the kernel has the value in any case.
    Had,
    /// A choice: the kernel needs the value.
    Choice,
    /// A value from which others may be computed.
    Passed,
}

#[derive(Clone, Copy, Debug)]
struct Found {
    value: u32,
    role: Role,
    /// The choice from which it was first found.
    choice: usize,
    /// Values in memory on the path to it, itself included.
    depth: u32,
    /// True if its op was followed.
    done: bool,
    /// Its two nodes in the network: where it is computed or loaded, and where it is available.
    nodes: (u32, u32),
}

/// The position of a value or an op that was not found.
pub(super) const NOWHERE: u32 = u32::MAX;

/// Solves kernels one after the other; its buffers are reused.
#[derive(Debug, Default)]
pub(super) struct Cutter {
    /// Values in order of discovery.
    found: Vec<Found>,
    /// The position of every value of the problem in that list; [`NOWHERE`] if not found.
    place: Vec<u32>,
    /// Ops in order of discovery: first the ops computed in any case, then those that may be computed.
    ops: Vec<u32>,
    /// The position of every op of the problem in that list.
    op_place: Vec<u32>,
    /// Number of ops computed in any case.
    forced: usize,
    /// Values in the order of the least price of the foreign ops on a path to them, including their own op, then in
    /// order of discovery.
    heap: BinaryHeap<Reverse<(u128, usize)>>,
    flow: Flow,
    traces: Traces,
    /// Search steps: values, ops and network nodes examined.
    pub work: u64,
    /// Kernels solved by a cut, without those answered from a trace.
    pub solved: u64,
}

impl Cutter {
    /// The cheapest work of a kernel, whose core may be `known`; `None` if a value that it needs is unavailable.
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
    /// The cheapest work besides the core, and the search steps taken to find it.
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
    /// Clears the discoveries, in time linear in their number.
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

    /// Finds the ops computed and the values loaded in any case, and the choices; false if a needed value is
    /// unavailable.
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
    /// Visits a value that an op reads or computes; returns its position, unless the kernel has it in any case.
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
    /// Queues the op of a value, with the price of the path that ends with this op.
    fn reach(&mut self, given: Given<'_>, at: usize, price: u128) {
        let found = &self.found[at];
        if let Some(op) = given.producer(found.value).filter(|_| !found.done) {
            let price = price + u128::from(given.price(op));
            self.heap.push(Reverse((price, at)));
        }
    }

    /// The work of the kernel, by the minimum cut of the network.
    fn cut(&mut self, given: Given<'_>) -> Choice {
        self.flow.clear();
        let (source, sink) = (self.flow.node(), self.flow.node());
        for found in self.found.iter_mut().filter(|f| f.role != Role::Had) {
            let (inner, outer) = (self.flow.node(), self.flow.node());
            let capacity = match given.may_load(found.value) {
                true => clamp(given.load_price(found.value)),
                false => UNBOUNDED,
            };
            // To cut this arc is to load the value.
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
                // To cut this arc is to compute the op.
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
