//! What one kernel loads and what it computes, for given contents of memory: a minimum cut.
//!
//! Every value is an edge `in -> out` with the bytes of a load as capacity (unbounded where it is not in memory), every op
//! a node between what it reads and what it makes; the source feeds each op with the price of computing it here (nothing
//! for the kernel's own ops, unbounded for what it may not compute), and what the kernel must write leads to the sink. What
//! the cut severs is paid: loads, and foreign ops. Foreign ops come in by what it costs at least to get to them; where that is
//! more than the kernel pays without any, they stay outside. Of equal cuts the one nearest the sink counts: less is recomputed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use petgraph::algo::dinics;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use rustc_hash::{FxHashMap, FxHashSet};

use super::problem::{Kernel, Problem};

/// Capacity that no cut pays. Finite capacities are clamped far below, so that sums do not reach it.
const UNBOUNDED: u64 = 1 << 60;
/// Foreign ops that one kernel may consider: they are the nearest to its own, and recomputing more than a few never pays.
const MAX_FOREIGN: usize = 96;

/// What `kernel` does at least price to write its share of `written`; `None` where it cannot, or writes nothing. Adds the nodes
/// of the network to `work`.
pub(super) fn cheapest(
    problem: &Problem,
    kernel: u32,
    written: &[bool],
    work: &mut u64,
) -> Option<Kernel> {
    let wanted = problem.wanted(kernel, written);
    if wanted.is_empty() {
        return None;
    }
    let network = Network::build(problem, kernel, written, &wanted);
    *work += network.graph.node_count() as u64;
    if network.is_unbounded() {
        return None;
    }
    Some(network.solve(problem, kernel))
}

struct Network {
    graph: DiGraph<(), u64>,
    source: NodeIndex,
    sink: NodeIndex,
    /// In and out node of each value, in order of discovery.
    values: Vec<(u32, NodeIndex, NodeIndex)>,
    ops: Vec<(u32, NodeIndex)>,
}

impl Network {
    fn build(problem: &Problem, kernel: u32, written: &[bool], wanted: &[u32]) -> Self {
        let mut graph = DiGraph::new();
        let (source, sink) = (graph.add_node(()), graph.add_node(()));
        let mut network = Self {
            graph,
            source,
            sink,
            values: Vec::new(),
            ops: Vec::new(),
        };
        let bound = plain_price(problem, kernel, written, wanted).unwrap_or(u64::MAX);
        let mut seen = FxHashMap::<u32, usize>::default();
        let mut seen_ops = FxHashMap::<u32, NodeIndex>::default();
        // Values by the least price of the foreign ops on a path to them, then in order of discovery.
        let mut queue = BinaryHeap::new();
        let mut done = Vec::new();
        for &value in wanted {
            let at = network.value(problem, kernel, written, value, &mut seen);
            queue.push(Reverse((0, at)));
            network
                .graph
                .add_edge(network.values[at].2, sink, UNBOUNDED);
        }
        let mut foreign = 0;
        while let Some(Reverse((price, at))) = queue.pop() {
            done.resize(network.values.len(), false);
            if std::mem::replace(&mut done[at], true) {
                continue;
            }
            let (value, inner, _) = network.values[at];
            let maker = problem.values[value as usize].maker;
            let Some(op) = maker.filter(|&op| problem.may_compute(op, kernel)) else {
                network.graph.add_edge(source, inner, UNBOUNDED);
                continue;
            };
            if let Some(&node) = seen_ops.get(&op) {
                network.graph.add_edge(node, inner, UNBOUNDED);
                continue;
            }
            let native = problem.is_native(op, kernel);
            let info = &problem.ops[op as usize];
            let price: u64 = match native {
                true => price,
                false => price.saturating_add(info.price),
            };
            foreign += usize::from(!native);
            if !native && (foreign > MAX_FOREIGN || price > bound) {
                network.graph.add_edge(source, inner, UNBOUNDED);
                continue;
            }
            let node = network.graph.add_node(());
            seen_ops.insert(op, node);
            network.ops.push((op, node));
            network.graph.add_edge(node, inner, UNBOUNDED);
            if !native && info.price > 0 {
                network.graph.add_edge(source, node, clamp(info.price));
            }
            for &read in &info.reads {
                let at = network.value(problem, kernel, written, read, &mut seen);
                queue.push(Reverse((price, at)));
                network
                    .graph
                    .add_edge(network.values[at].2, node, UNBOUNDED);
            }
        }
        network
    }

    fn value(
        &mut self,
        problem: &Problem,
        kernel: u32,
        written: &[bool],
        value: u32,
        seen: &mut FxHashMap<u32, usize>,
    ) -> usize {
        if let Some(&at) = seen.get(&value) {
            return at;
        }
        let (inner, outer) = (self.graph.add_node(()), self.graph.add_node(()));
        let capacity = match problem.may_load(value, kernel, written) {
            true => clamp(problem.load_bytes(value, kernel)),
            false => UNBOUNDED,
        };
        self.graph.add_edge(inner, outer, capacity);
        let at = self.values.len();
        self.values.push((value, inner, outer));
        seen.insert(value, at);
        at
    }

    /// Whether a path of unbounded edges leads from source to sink: something wanted cannot be had.
    fn is_unbounded(&self) -> bool {
        let mut seen = vec![false; self.graph.node_count()];
        let mut stack = vec![self.source];
        while let Some(node) = stack.pop() {
            if std::mem::replace(&mut seen[node.index()], true) {
                continue;
            }
            let open = self.graph.edges(node).filter(|e| *e.weight() >= UNBOUNDED);
            stack.extend(open.map(|e| e.target()));
        }
        seen[self.sink.index()]
    }

    fn solve(&self, problem: &Problem, kernel: u32) -> Kernel {
        let (_, flows) = dinics(&self.graph, self.source, self.sink);
        let late = self.reaches_sink(&flows);
        let mut result = Kernel::default();
        for &(value, inner, outer) in &self.values {
            if !late[inner.index()] && late[outer.index()] {
                result.loads.push(value);
                let bytes = problem.load_bytes(value, kernel);
                result.cost = result.cost.saturating_add(bytes);
            }
        }
        for &(op, _) in self.ops.iter().filter(|(_, n)| late[n.index()]) {
            result.computes.push(op);
            if !problem.is_native(op, kernel) {
                result.cost = result.cost.saturating_add(problem.ops[op as usize].price);
            }
        }
        result.loads.sort_unstable();
        result.computes.sort_unstable();
        result
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

/// What a kernel loads if it computes nothing foreign; `None` where it could not have it all.
fn plain_price(problem: &Problem, kernel: u32, written: &[bool], wanted: &[u32]) -> Option<u64> {
    let mut price = 0u64;
    let mut seen = FxHashSet::default();
    let mut stack = wanted.to_vec();
    while let Some(value) = stack.pop() {
        if !seen.insert(value) {
            continue;
        }
        let maker = problem.values[value as usize].maker;
        match maker.filter(|&op| problem.is_native(op, kernel)) {
            Some(op) => stack.extend(&problem.ops[op as usize].reads),
            None if problem.may_load(value, kernel, written) => {
                price = price.saturating_add(problem.load_bytes(value, kernel));
            }
            None => return None,
        }
    }
    Some(price)
}

fn clamp(capacity: u64) -> u64 {
    capacity.min(1 << 48)
}
