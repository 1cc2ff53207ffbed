//! The decision between loading and computing some values in a kernel, by a minimum cut over their neighbourhood.
//!
//! From a value that could be loaded or computed the neighbourhood extends back over ops that may be computed here, up
//! to values that the kernel has in any case, by the least price of the ops on a path; beyond the price of all loads at
//! stake nothing is to be gained. Choices that share something on the way make one cluster. Every value is an edge
//! `in -> out` with the bytes of a load as capacity (unbounded if it is not in memory), every op a node between its operands
//! and its results; the source feeds each op with the price of computing it here (nothing for the kernel's own ops),
//! and values that are needed lead to the sink. The severed edges are paid: loads, and foreign ops. Of equal cuts the
//! one nearest the sink counts: less is recomputed.
//!

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::flow::Flow;
use super::local::{Given, Local, MAX_FOREIGN, State};

/// Capacity that no cut pays. Finite capacities are clamped far below, so that sums do not reach it.
const UNBOUNDED: u64 = 1 << 60;
/// Foreign ops that a cluster may consider for each choice in it, besides the first [`MAX_FOREIGN`].
const FOREIGN_PER_CHOICE: usize = 8;
/// Values in memory that one goes back through, the choice itself included: each saves no more than its load.
const MAX_DEPTH: u32 = 3;

/// Choices that share something, settled.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Cluster {
    /// The choices.
    pub terminals: Vec<u32>,
    /// All values that were looked at, the choices among them: what is written of them concerns the cluster.
    pub region: Vec<u32>,
    /// Values that the kernel has in any case and that ops of the cluster read.
    pub relies: Vec<u32>,
    /// Values that are loaded.
    pub loads: Vec<u32>,
    /// Ops that are computed.
    pub computes: Vec<u32>,
    /// Bytes of the loads and the price of foreign ops.
    pub cost: u128,
}

impl Cluster {
    /// The cluster of the choices `starts`, with the numbers of other clusters that it reaches. The choices of those before `fresh`
    /// become its own; where it reaches another, it goes no further and is not settled.
    pub fn around(
        given: Given<'_>,
        local: &Local,
        starts: &[u32],
        fresh: u32,
        scratch: &mut Scratch,
        work: &mut u64,
    ) -> (Self, BTreeSet<u32>) {
        let mut search = Neighbourhood::new(given, local, fresh, scratch);
        for &start in starts {
            search.meet(start, 0, 0);
        }
        search.explore();
        let met = std::mem::take(&mut search.met);
        let lists = &mut *search.lists;
        *work += (lists.found.len() + lists.ops.len()) as u64;
        lists.had.sort_unstable();
        lists.had.dedup();
        let mut cluster = Cluster {
            region: lists.found.clone(),
            relies: lists.had.clone(),
            ..Cluster::default()
        };
        let found = lists.found.iter().zip(&lists.terminal);
        cluster.terminals = found.filter(|(_, t)| **t).map(|(&v, _)| v).collect();
        if met.last().is_none_or(|&last| last < fresh) {
            let mut ops = std::mem::take(&mut lists.ops);
            ops.sort_unstable();
            match ops.is_empty() {
                true => cluster.load_all(given),
                false => *work += 2 * ops.len() as u64 * search.cut(&ops, &mut cluster),
            }
            search.lists.ops = ops;
        }
        search.lists.clear();
        (cluster, met)
    }
    fn load_all(&mut self, given: Given<'_>) {
        self.loads.clone_from(&self.terminals);
        let prices = self.loads.iter().map(|&v| u128::from(given.load_price(v)));
        self.cost = prices.sum();
    }
}

/// Lists that are kept from one cluster to the next.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// Values in order of discovery.
    found: Vec<u32>,
    /// Of each of these whether it is a choice,
    terminal: Vec<bool>,
    /// whether its op was followed,
    done: Vec<bool>,
    /// the values in memory on the way to it,
    depth: Vec<u32>,
    /// and its place in the network, once it has one: where it is made or loaded, and where it is had.
    nodes: Vec<Option<(u32, u32)>>,
    /// The place in these lists of every value of the problem; [`NOWHERE`]: not found.
    place: Vec<u32>,
    /// Values read that the kernel has in any case.
    had: Vec<u32>,
    /// Ops that may be computed.
    ops: Vec<u32>,
    /// Membership of each op of the problem.
    seen: Vec<bool>,
    /// Values by the least price of the foreign ops on a path to them, their own included, then in order of discovery.
    heap: BinaryHeap<Reverse<(u128, usize)>>,
    flow: Flow,
}

/// A value that was not found.
const NOWHERE: u32 = u32::MAX;

impl Scratch {
    /// Forgets what was found, in time that takes no longer than finding it did.
    fn clear(&mut self) {
        for &value in &self.found {
            self.place[value as usize] = NOWHERE;
        }
        for &op in &self.ops {
            self.seen[op as usize] = false;
        }
        self.found.clear();
        self.terminal.clear();
        self.done.clear();
        self.depth.clear();
        self.nodes.clear();
        self.had.clear();
        self.ops.clear();
        self.heap.clear();
    }
    fn place(&self, value: u32) -> Option<usize> {
        let place = self.place[value as usize];
        (place != NOWHERE).then_some(place as usize)
    }
}

/// The neighbourhood of a choice, as it is explored.
struct Neighbourhood<'a> {
    given: Given<'a>,
    local: &'a Local,
    lists: &'a mut Scratch,
    /// Clusters before this one are taken in.
    fresh: u32,
    /// Clusters that were reached.
    met: BTreeSet<u32>,
    foreign: usize,
    choices: usize,
    /// Bytes of all loads at stake.
    bound: u128,
}

impl<'a> Neighbourhood<'a> {
    fn new(given: Given<'a>, local: &'a Local, fresh: u32, lists: &'a mut Scratch) -> Self {
        let problem = given.problem;
        lists.place.resize(problem.values.len(), NOWHERE);
        lists.seen.resize(problem.ops.len(), false);
        Self {
            given,
            local,
            lists,
            fresh,
            met: BTreeSet::new(),
            foreign: 0,
            choices: 0,
            bound: 0,
        }
    }

    /// Comes to a value by a path of this price, through so many values in memory.
    fn meet(&mut self, value: u32, price: u128, depth: u32) {
        if self.local.has(self.given, value) {
            self.lists.had.push(value);
            return;
        }
        if let Some(at) = self.lists.place(value) {
            self.reach(at, price);
            return;
        }
        if let Some((number, cluster)) = self.local.cluster_with(value) {
            let new = self.met.insert(number);
            if number >= self.fresh {
                return;
            }
            for &choice in cluster.terminals.iter().filter(|_| new) {
                self.enter(choice, 0, 0);
            }
        }
        self.enter(value, price, depth);
    }
    fn enter(&mut self, value: u32, price: u128, depth: u32) {
        let lists = &mut *self.lists;
        if lists.place(value).is_some() {
            return;
        }
        let at = lists.found.len();
        lists.place[value as usize] = at as u32;
        let terminal = self.local.state(value) == State::Choice;
        lists.found.push(value);
        lists.terminal.push(terminal);
        lists.done.push(false);
        let depth = if terminal { 0 } else { depth };
        let stored = u32::from(self.given.may_load(value));
        lists.depth.push(depth + stored);
        if terminal {
            self.choices += 1;
            self.bound += u128::from(self.given.load_price(value));
        }
        self.reach(at, if terminal { 0 } else { price });
    }
    /// Puts the op of a value on the list, with the price of the path that it ends.
    fn reach(&mut self, at: usize, price: u128) {
        if self.lists.done[at] {
            return;
        }
        if let Some(op) = self.given.producer(self.lists.found[at]) {
            let price = price + u128::from(self.given.price(op));
            self.lists.heap.push(Reverse((price, at)));
        }
    }

    fn explore(&mut self) {
        while let Some(Reverse((price, at))) = self.lists.heap.pop() {
            if price >= self.bound {
                return;
            }
            if std::mem::replace(&mut self.lists.done[at], true) {
                continue;
            }
            let Some(op) = self.given.producer(self.lists.found[at]) else {
                continue;
            };
            if self.lists.seen[op as usize] {
                continue;
            }
            let depth = self.lists.depth[at];
            let native = self.given.is_native(op);
            if depth > MAX_DEPTH {
                continue;
            }
            let most = MAX_FOREIGN as usize + FOREIGN_PER_CHOICE * self.choices;
            if !native && self.foreign >= most {
                continue;
            }
            self.foreign += usize::from(!native);
            self.lists.seen[op as usize] = true;
            self.lists.ops.push(op);
            let info = &self.given.problem.ops[op as usize];
            for &read in &info.reads {
                self.meet(read, price, depth);
            }
            for &other in &info.writes {
                if self.local.state(other) == State::Choice {
                    self.meet(other, 0, 0);
                }
            }
        }
    }

    /// Fills in what `cluster` loads and computes where it may compute `ops`; gives how often the network was gone through.
    fn cut(&mut self, ops: &[u32], cluster: &mut Cluster) -> u64 {
        let given = self.given;
        let flow = &mut self.lists.flow;
        flow.clear();
        let (source, sink) = (flow.node(), flow.node());
        self.lists.nodes.resize(self.lists.found.len(), None);
        let mut made = vec![false; self.lists.found.len()];
        for at in 0..self.lists.found.len() {
            if self.lists.terminal[at] {
                let (_, outer) = self.node(at);
                self.lists.flow.arc(outer, sink, UNBOUNDED);
            }
        }
        let mut op_nodes = Vec::with_capacity(ops.len());
        for &op in ops {
            let node = self.lists.flow.node();
            op_nodes.push(node);
            let price = given.price(op);
            if price > 0 {
                self.lists.flow.arc(source, node, clamp(price));
            }
            let info = &given.problem.ops[op as usize];
            for &read in &info.reads {
                if let Some(at) = self.lists.place(read) {
                    let (_, outer) = self.node(at);
                    self.lists.flow.arc(outer, node, UNBOUNDED);
                }
            }
            for &write in &info.writes {
                if let Some(at) = self.lists.place(write) {
                    let (inner, _) = self.node(at);
                    self.lists.flow.arc(node, inner, UNBOUNDED);
                    made[at] = true;
                }
            }
        }
        let lists = &mut *self.lists;
        for (nodes, made) in lists.nodes.iter().zip(made) {
            if let (Some((inner, _)), false) = (nodes, made) {
                lists.flow.arc(source, *inner, UNBOUNDED);
            }
        }
        lists.flow.maximize(source, sink);
        let late = lists.flow.reaches(sink);
        for (&value, nodes) in lists.found.iter().zip(&lists.nodes) {
            let loaded = |(inner, outer): (u32, u32)| !late[inner as usize] && late[outer as usize];
            if nodes.is_some_and(loaded) {
                cluster.loads.push(value);
                cluster.cost += u128::from(given.load_price(value));
            }
        }
        for (&op, &node) in ops.iter().zip(&op_nodes) {
            if late[node as usize] {
                cluster.computes.push(op);
                cluster.cost += u128::from(given.price(op));
            }
        }
        lists.flow.phases
    }
    /// The place of a value in the network.
    fn node(&mut self, at: usize) -> (u32, u32) {
        let lists = &mut *self.lists;
        if let Some(nodes) = lists.nodes[at] {
            return nodes;
        }
        let value = lists.found[at];
        let (inner, outer) = (lists.flow.node(), lists.flow.node());
        let capacity = match self.given.may_load(value) {
            true => clamp(self.given.load_price(value)),
            false => UNBOUNDED,
        };
        lists.flow.arc(inner, outer, capacity);
        lists.nodes[at] = Some((inner, outer));
        (inner, outer)
    }
}

fn clamp(capacity: u64) -> u64 {
    capacity.min(1 << 48)
}
