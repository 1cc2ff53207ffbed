//! Chunking of a component of more ops than a kernel may have, before any evaluation.
//!
//! In a run order in which each op is near its operands, any cut leaves two parts that run one after the other. The
//! component is split into intervals of this order, each as long as a kernel may be, at the position in its second half
//! where the fewest bytes cross. Parts of an interval that share no value are separated as well. Then parts are merged
//! again, by their numbers of ops alone, if one is the only user of another, or has no other producer. Such a merge
//! closes no cycle, and a group that one kernel can hold is evaluated once instead of piece by piece. Without chunking,
//! one op more than a kernel may have would cost a search from single ops.
//!
//! ```text
//! a tree of 3000 ops, depth first:  | subtree of 1023 | add, subtree of 511 ... | ...  cuts: ends of large subtrees
//!                                   the add is the only user of the subtree before it: one chunk of 1024
//! ```
//!
//! Guarantees: chunks come in run order, and so do the parts of each; each op is in one chunk; work is near linear in
//! the component. No kernel can hold two chunks that are neighbours in this way. Decides nothing: refused chunks are
//! split into their parts, these into ops, and accepted chunks may still grow.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::{Graph, Index};
use super::order::run_order;

/// Parts of intervals that one kernel can hold, in run order.
pub(super) type Chunk = Vec<Vec<Index>>;

/// The chunks of `order` in run order, each of at most `limit` ops including the free ops that they use; ops of each
/// part ascending.
pub(super) fn chunks(graph: &Graph, order: &[Index], limit: usize) -> Vec<Chunk> {
    let mut parts: Vec<Option<Vec<Index>>> = intervals(graph, order, limit)
        .into_iter()
        .map(Some)
        .collect();
    let mut quotient = Quotient::new(graph, &parts);
    quotient.contract(limit);
    let chunks = quotient.in_run_order().into_iter();
    let parts = |chunk: Vec<Part>| chunk.iter().filter_map(|&p| parts[p].take()).collect();
    chunks.map(parts).collect()
}

/// A part, by its position among all.
type Part = usize;

/// A chunk under construction: its parts, and the neighbouring parts.
#[derive(Clone, Debug, Default)]
struct Node {
    /// Ascending, which is a valid run order.
    parts: Vec<Part>,
    /// Ops, free ones included; free ops of several parts count for each.
    ops: usize,
    producers: BTreeSet<Part>,
    users: BTreeSet<Part>,
}

/// Merged parts, each named by one of them. `None` for a part merged into another.
struct Quotient {
    nodes: Vec<Option<Node>>,
}

impl Quotient {
    fn new(graph: &Graph, parts: &[Option<Vec<Index>>]) -> Self {
        let all = || {
            parts
                .iter()
                .zip(0..)
                .map(|(part, n)| (part.iter().flatten(), n))
        };
        let mut home = FxHashMap::<Index, Part>::default();
        for (part, number) in all() {
            home.extend(part.map(|&op| (op, number)));
        }
        let mut nodes: Vec<Node> = vec![Node::default(); parts.len()];
        for (part, number) in all() {
            let ops: Vec<Index> = part.copied().collect();
            let producers = ops.iter().flat_map(|&op| graph.producers(op));
            let producers = producers.filter_map(|(producer, _)| home.get(&producer).copied());
            for producer in producers.filter(|&m| m != number).collect::<BTreeSet<_>>() {
                nodes[producer].users.insert(number);
                nodes[number].producers.insert(producer);
            }
            nodes[number].ops = graph.with_free(&ops).len();
            nodes[number].parts.push(number);
        }
        Self {
            nodes: nodes.into_iter().map(Some).collect(),
        }
    }

    /// Merges parts that fit and are connected by an edge without a parallel path: one end has no other user, or the
    /// other end no other producer.
    fn contract(&mut self, limit: usize) {
        let mut open: BTreeSet<Part> = (0..self.nodes.len()).collect();
        while let Some(name) = open.pop_first() {
            let Some(other) = self.partner(name, limit) else {
                continue;
            };
            let name = self.join(name, other);
            if let Some(node) = &self.nodes[name] {
                open.extend(node.producers.iter().chain(&node.users));
                open.insert(name);
            }
        }
    }
    /// The part that `name` may merge with: its only user, or else its only producer.
    fn partner(&self, name: Part, limit: usize) -> Option<Part> {
        let node = self.nodes[name].as_ref()?;
        let only = |set: &BTreeSet<Part>| set.first().copied().filter(|_| set.len() == 1);
        let fits = |other: &Part| {
            let other = self.nodes[*other].as_ref();
            other.is_some_and(|o| o.ops + node.ops <= limit)
        };
        let user = only(&node.users).filter(fits);
        user.or_else(|| only(&node.producers).filter(fits))
    }
    /// Merges two parts under the name of the one with more neighbours; returns that name.
    fn join(&mut self, a: Part, b: Part) -> Part {
        let degree = |name: Part| {
            let node = self.nodes[name].as_ref();
            node.map_or(0, |n| n.producers.len() + n.users.len())
        };
        let (into, from) = if degree(a) >= degree(b) {
            (a, b)
        } else {
            (b, a)
        };
        let gone = self.nodes[from].take().unwrap_or_default();
        for &producer in gone.producers.iter().filter(|&&m| m != into) {
            if let Some(node) = &mut self.nodes[producer] {
                node.users.remove(&from);
                node.users.insert(into);
            }
        }
        for &user in gone.users.iter().filter(|&&r| r != into) {
            if let Some(node) = &mut self.nodes[user] {
                node.producers.remove(&from);
                node.producers.insert(into);
            }
        }
        if let Some(node) = &mut self.nodes[into] {
            node.producers.extend(gone.producers);
            node.users.extend(gone.users);
            for name in [into, from] {
                node.producers.remove(&name);
                node.users.remove(&name);
            }
            node.ops += gone.ops;
            node.parts.extend(gone.parts);
        }
        into
    }

    /// The parts of each chunk, in a valid run order of all; among ready chunks the one with the first part comes
    /// first.
    fn in_run_order(mut self) -> Vec<Vec<Part>> {
        for node in self.nodes.iter_mut().flatten() {
            node.parts.sort_unstable();
        }
        let needs = self.nodes.iter().map(|node| {
            let producers = node.iter().flat_map(|node| &node.producers);
            producers.copied().collect()
        });
        let first = |name: usize| {
            self.nodes[name]
                .as_ref()
                .and_then(|n| n.parts.first().copied())
        };
        let order = run_order(&needs.collect::<Vec<_>>(), first);
        let parts = order.into_iter().filter_map(|name| self.nodes[name].take());
        parts.map(|node| node.parts).collect()
    }
}

/// The intervals of `order`, each of at most `limit` ops including the free ops that they use, in run order; ops of
/// each ascending.
fn intervals(graph: &Graph, order: &[Index], limit: usize) -> Vec<Vec<Index>> {
    let most = limit.max(1);
    let crossing = crossing(graph, order, most);
    let mut found = Vec::new();
    let mut start = 0;
    while start < order.len() {
        let all = fitting(graph, &order[start..], most);
        let end = match start + all == order.len() {
            true => start + all,
            false => {
                let ends = start + all.div_ceil(2)..=start + all;
                let best = ends.min_by_key(|&end| (crossing[end - 1], std::cmp::Reverse(end)));
                best.unwrap_or(start + all)
            }
        };
        found.extend(connected(graph, &order[start..end]));
        start = end;
    }
    found
}

/// The length of the longest prefix of `order` with at most `most` ops including the free ops that they use; at least
/// 1.
fn fitting(graph: &Graph, order: &[Index], most: usize) -> usize {
    let mut free = FxHashSet::default();
    for (&op, at) in order.iter().zip(0..) {
        let mut open = vec![op];
        while let Some(op) = open.pop() {
            let reads = graph.reads[op as usize].iter();
            let producers = reads.filter_map(|&e| graph.edges[e as usize].producer);
            open.extend(producers.filter(|&m| graph.free[m as usize] && free.insert(m)));
        }
        if at + 1 + free.len() > most {
            return at.max(1);
        }
    }
    order.len()
}

/// The cost of a cut after each op of the order. Values from outside are read once more. Values computed before the cut
/// are read, and written if nothing else needs them in memory. Values whose uses are `most` ops or more apart cross in
/// any case and do not count.
fn crossing(graph: &Graph, order: &[Index], most: usize) -> Vec<u64> {
    let position: FxHashMap<Index, usize> = order.iter().copied().zip(0..).collect();
    let mut last = FxHashMap::<u32, usize>::default();
    for (&op, at) in order.iter().zip(0..) {
        for &edge in &graph.reads[op as usize] {
            last.insert(edge, at);
        }
    }
    let mut crossing = vec![0i128; order.len()];
    let mut note = |number: u32, first: usize| {
        if let Some(last) = last.remove(&number).filter(|last| last - first < most) {
            let edge = &graph.edges[number as usize];
            let written = edge.producer.is_some() && !edge.escapes;
            let bytes = i128::from(edge.bytes) * (1 + i128::from(written));
            crossing[first] += bytes;
            crossing[last] -= bytes;
        }
    };
    for (&op, at) in order.iter().zip(0..) {
        for &edge in &graph.writes[op as usize] {
            note(edge, at);
        }
        for &edge in &graph.reads[op as usize] {
            // Results of ops in the order were counted at their producers.
            let producer = graph.edges[edge as usize].producer;
            if producer.is_none_or(|m| !graph.free[m as usize] && !position.contains_key(&m)) {
                note(edge, at);
            }
        }
    }
    let sums = crossing.into_iter().scan(0i128, |sum, change| {
        *sum += change;
        Some(u64::try_from(*sum).unwrap_or(u64::MAX))
    });
    sums.collect()
}

/// The parts of an interval that share values, in the order of their first ops.
fn connected(graph: &Graph, interval: &[Index]) -> Vec<Vec<Index>> {
    let mut sets = petgraph::unionfind::UnionFind::<usize>::new(interval.len());
    let mut first = FxHashMap::<u32, usize>::default();
    for (&op, at) in interval.iter().zip(0..) {
        let (reads, writes) = (&graph.reads[op as usize], &graph.writes[op as usize]);
        for &number in reads.iter().chain(writes) {
            let edge = &graph.edges[number as usize];
            if edge.bytes > 0 || edge.producer.is_some_and(|m| !graph.free[m as usize]) {
                let other = *first.entry(number).or_insert(at);
                sets.union(other, at);
            }
        }
    }
    let mut parts = std::collections::BTreeMap::<Index, Vec<Index>>::new();
    let mut names = FxHashMap::<usize, Index>::default();
    for (&op, at) in interval.iter().zip(0..) {
        let name = *names.entry(sets.find(at)).or_insert(op);
        parts.entry(name).or_default().push(op);
    }
    let mut parts: Vec<Vec<Index>> = parts.into_values().collect();
    parts.iter_mut().for_each(|part| part.sort_unstable());
    parts
}
