//! Which of some choices a kernel loads and which it computes: a minimum cut over their neighbourhood.
//!
//! Around a value that could be loaded or computed one goes back over ops that may be computed here, up to what the kernel has
//! in any case, by the least price of the ops on a path; where that is more than all loads at stake nothing is to be gained.
//! Choices that share something on the way make one part. Every value is an edge `in -> out` with the bytes of a load
//! as capacity (unbounded where it is not in memory), every op a node between what it reads and what it makes; the source feeds
//! each op with the price of computing it here (nothing for the kernel's own ops), and what is needed leads to the sink. What
//! the cut severs is paid: loads, and foreign ops. Of equal cuts the one nearest the sink counts: less is recomputed.
//!
//! What cannot be had without what is neither in memory nor computable, and what costs too much by its dearest operand alone,
//! is left out before; most parts are settled by that.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use petgraph::algo::dinics;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use rustc_hash::{FxHashMap, FxHashSet};

use super::local::{Given, Local, MAX_FOREIGN, State};

/// Capacity that no cut pays. Finite capacities are clamped far below, so that sums do not reach it.
const UNBOUNDED: u64 = 1 << 60;
/// Foreign ops that a part may consider for each choice in it, besides the first [`MAX_FOREIGN`].
const FOREIGN_PER_CHOICE: usize = 8;
/// Values in memory that one goes back through, the choice itself included: each saves no more than its load.
const MAX_DEPTH: u32 = 3;

/// Choices that share something, settled.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Part {
    /// The choices.
    pub terminals: Vec<u32>,
    /// All values that were looked at, the choices among them: what is written of them concerns the part.
    pub region: Vec<u32>,
    /// What ops among it read and the kernel has in any case.
    pub relies: Vec<u32>,
    /// What is loaded.
    pub loads: Vec<u32>,
    /// What is computed.
    pub computes: Vec<u32>,
    /// Bytes of the loads and the price of foreign ops.
    pub cost: u128,
}

impl Part {
    /// The part of the choice `start`. Other parts that it reaches are `absorbed`, by their numbers.
    pub fn around(
        given: Given<'_>,
        local: &Local,
        start: u32,
        absorbed: &mut FxHashSet<u32>,
        work: &mut u64,
    ) -> Self {
        let mut search = Neighbourhood::new(given, local);
        search.meet(start, 0, 0, absorbed);
        search.explore(absorbed);
        *work += (search.found.len() + search.ops.len()) as u64;
        let mut part = Part {
            region: search.found.clone(),
            relies: search.had.iter().copied().collect(),
            ..Part::default()
        };
        let found = search.found.iter().zip(&search.terminal);
        part.terminals = found.filter(|(_, t)| **t).map(|(&v, _)| v).collect();
        let network = search.worthwhile();
        if network.is_empty() {
            part.load_all(given);
            return part;
        }
        *work += 4 * network.len() as u64;
        let network = Network::build(&search, &network);
        network.solve(given, &mut part);
        part
    }
    fn load_all(&mut self, given: Given<'_>) {
        self.loads.clone_from(&self.terminals);
        let prices = self.loads.iter().map(|&v| u128::from(given.load_price(v)));
        self.cost = prices.sum();
    }
}

/// What lies behind a choice.
struct Neighbourhood<'a> {
    given: Given<'a>,
    local: &'a Local,
    /// Values in order of discovery.
    found: Vec<u32>,
    terminal: Vec<bool>,
    done: Vec<bool>,
    /// Of each the values in memory on the way to it.
    depth: Vec<u32>,
    place: FxHashMap<u32, usize>,
    /// Values read that the kernel has in any case.
    had: BTreeSet<u32>,
    /// Ops that may be computed.
    ops: Vec<u32>,
    seen_ops: FxHashSet<u32>,
    foreign: usize,
    choices: usize,
    /// Values by the least price of the foreign ops on a path to them, their own included, then in order of discovery.
    heap: BinaryHeap<Reverse<(u128, usize)>>,
    /// Bytes of all loads at stake.
    bound: u128,
}

impl<'a> Neighbourhood<'a> {
    fn new(given: Given<'a>, local: &'a Local) -> Self {
        Self {
            given,
            local,
            found: Vec::new(),
            terminal: Vec::new(),
            done: Vec::new(),
            depth: Vec::new(),
            place: FxHashMap::default(),
            had: BTreeSet::new(),
            ops: Vec::new(),
            seen_ops: FxHashSet::default(),
            foreign: 0,
            choices: 0,
            heap: BinaryHeap::new(),
            bound: 0,
        }
    }

    /// Comes to a value by a path of this price, through so many values in memory.
    fn meet(&mut self, value: u32, price: u128, depth: u32, absorbed: &mut FxHashSet<u32>) {
        if self.local.has(self.given, value) {
            self.had.insert(value);
            return;
        }
        if let Some(&at) = self.place.get(&value) {
            self.reach(at, price);
            return;
        }
        if let Some((number, part)) = self.local.part_with(value)
            && absorbed.insert(number)
        {
            for &choice in &part.terminals {
                self.enter(choice, 0, 0);
            }
        }
        self.enter(value, price, depth);
    }
    fn enter(&mut self, value: u32, price: u128, depth: u32) {
        let at = self.found.len();
        if *self.place.entry(value).or_insert(at) != at {
            return;
        }
        let terminal = self.local.state(value) == State::Choice;
        self.found.push(value);
        self.terminal.push(terminal);
        self.done.push(false);
        let depth = if terminal { 0 } else { depth };
        self.depth
            .push(depth + u32::from(self.given.may_load(value)));
        if terminal {
            self.choices += 1;
            self.bound += u128::from(self.given.load_price(value));
        }
        self.reach(at, if terminal { 0 } else { price });
    }
    /// Puts the op of a value on the list, with the price of the path that it ends.
    fn reach(&mut self, at: usize, price: u128) {
        if let Some(op) = self.given.maker(self.found[at]).filter(|_| !self.done[at]) {
            let price = price + u128::from(self.given.price(op));
            self.heap.push(Reverse((price, at)));
        }
    }

    fn explore(&mut self, absorbed: &mut FxHashSet<u32>) {
        while let Some(Reverse((price, at))) = self.heap.pop() {
            if price >= self.bound {
                return;
            }
            if std::mem::replace(&mut self.done[at], true) {
                continue;
            }
            let Some(op) = self.given.maker(self.found[at]) else {
                continue;
            };
            if self.seen_ops.contains(&op) {
                continue;
            }
            let depth = self.depth[at];
            let native = self.given.is_native(op);
            if depth > MAX_DEPTH {
                continue;
            }
            let most = MAX_FOREIGN as usize + FOREIGN_PER_CHOICE * self.choices;
            if !native && self.foreign >= most {
                continue;
            }
            self.foreign += usize::from(!native);
            self.seen_ops.insert(op);
            self.ops.push(op);
            let info = &self.given.problem.ops[op as usize];
            for &read in &info.reads {
                self.meet(read, price, depth, absorbed);
            }
            for &other in &info.writes {
                if self.local.state(other) == State::Choice {
                    self.meet(other, 0, 0, absorbed);
                }
            }
        }
    }

    /// The ops, ascending, that could be part of something cheaper than loading all choices.
    fn worthwhile(&mut self) -> Vec<u32> {
        self.ops.sort_unstable();
        // Of each value what it costs at least.
        let load = |&v: &u32| {
            self.given
                .may_load(v)
                .then(|| u128::from(self.given.load_price(v)))
        };
        let mut least: Vec<Option<u128>> = self.found.iter().map(load).collect();
        let mut possible = Vec::new();
        for &op in &self.ops {
            let info = &self.given.problem.ops[op as usize];
            let reads = info.reads.iter().filter_map(|r| self.place.get(r));
            let mut dearest = reads.map(|&at| least[at]);
            let dearest = dearest.try_fold(0u128, |max, cost| Some(max.max(cost?)));
            let Some(dearest) = dearest else { continue };
            let cost = dearest + u128::from(self.given.price(op));
            if cost >= self.bound {
                continue;
            }
            possible.push(op);
            for write in &info.writes {
                if let Some(&at) = self.place.get(write) {
                    least[at] = Some(least[at].map_or(cost, |l| l.min(cost)));
                }
            }
        }
        // Of these the ones that a choice leads to.
        let mut wanted = self.terminal.clone();
        let mut ops = Vec::new();
        for &op in possible.iter().rev() {
            let info = &self.given.problem.ops[op as usize];
            let place = |v: &u32| self.place.get(v).copied();
            if info.writes.iter().filter_map(place).any(|at| wanted[at]) {
                ops.push(op);
                for at in info.reads.iter().filter_map(place) {
                    wanted[at] = true;
                }
            }
        }
        ops.reverse();
        ops
    }
}

struct Network {
    graph: DiGraph<(), u64>,
    source: NodeIndex,
    sink: NodeIndex,
    /// In and out node of each value.
    values: Vec<(u32, NodeIndex, NodeIndex)>,
    ops: Vec<(u32, NodeIndex)>,
}

impl Network {
    fn build(search: &Neighbourhood<'_>, ops: &[u32]) -> Self {
        let mut graph = DiGraph::new();
        let (source, sink) = (graph.add_node(()), graph.add_node(()));
        let mut network = Self {
            graph,
            source,
            sink,
            values: Vec::new(),
            ops: Vec::new(),
        };
        let given = search.given;
        let mut nodes: Vec<Option<(NodeIndex, NodeIndex)>> = vec![None; search.found.len()];
        let mut made = vec![false; search.found.len()];
        for (at, _) in search.terminal.iter().enumerate().filter(|(_, t)| **t) {
            let (_, outer) = network.value(search, at, &mut nodes);
            network.graph.add_edge(outer, sink, UNBOUNDED);
        }
        for &op in ops {
            let node = network.graph.add_node(());
            network.ops.push((op, node));
            let price = given.price(op);
            if price > 0 {
                network.graph.add_edge(source, node, clamp(price));
            }
            let info = &given.problem.ops[op as usize];
            for read in &info.reads {
                if let Some(&at) = search.place.get(read) {
                    let (_, outer) = network.value(search, at, &mut nodes);
                    network.graph.add_edge(outer, node, UNBOUNDED);
                }
            }
            for write in &info.writes {
                if let Some(&at) = search.place.get(write) {
                    let (inner, _) = network.value(search, at, &mut nodes);
                    network.graph.add_edge(node, inner, UNBOUNDED);
                    made[at] = true;
                }
            }
        }
        for (at, nodes) in nodes.iter().enumerate() {
            if let (Some((inner, _)), false) = (nodes, made[at]) {
                network.graph.add_edge(source, *inner, UNBOUNDED);
            }
        }
        network
    }
    fn value(
        &mut self,
        search: &Neighbourhood<'_>,
        at: usize,
        nodes: &mut [Option<(NodeIndex, NodeIndex)>],
    ) -> (NodeIndex, NodeIndex) {
        if let Some(nodes) = nodes[at] {
            return nodes;
        }
        let value = search.found[at];
        let (inner, outer) = (self.graph.add_node(()), self.graph.add_node(()));
        let capacity = match search.given.may_load(value) {
            true => clamp(search.given.load_price(value)),
            false => UNBOUNDED,
        };
        self.graph.add_edge(inner, outer, capacity);
        self.values.push((value, inner, outer));
        nodes[at] = Some((inner, outer));
        (inner, outer)
    }

    fn solve(&self, given: Given<'_>, part: &mut Part) {
        let (_, flows) = dinics(&self.graph, self.source, self.sink);
        let late = self.reaches_sink(&flows);
        for &(value, inner, outer) in &self.values {
            if !late[inner.index()] && late[outer.index()] {
                part.loads.push(value);
                part.cost += u128::from(given.load_price(value));
            }
        }
        for &(op, _) in self.ops.iter().filter(|(_, n)| late[n.index()]) {
            part.computes.push(op);
            part.cost += u128::from(given.price(op));
        }
    }

    /// The nodes from which flow could still reach the sink: the smallest side of a minimum cut.
    fn reaches_sink(&self, flows: &[u64]) -> Vec<bool> {
        use petgraph::Direction::{Incoming, Outgoing};
        let mut seen = vec![false; self.graph.node_count()];
        let mut stack = vec![self.sink];
        while let Some(node) = stack.pop() {
            if std::mem::replace(&mut seen[node.index()], true) {
                continue;
            }
            let forward = self.graph.edges_directed(node, Incoming);
            let open = forward.filter(|e| flows[e.id().index()] < *e.weight());
            stack.extend(open.map(|e| e.source()));
            let backward = self.graph.edges_directed(node, Outgoing);
            let returned = backward.filter(|e| flows[e.id().index()] > 0);
            stack.extend(returned.map(|e| e.target()));
        }
        seen
    }
}

fn clamp(capacity: u64) -> u64 {
    capacity.min(1 << 48)
}
