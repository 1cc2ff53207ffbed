//! Where a component of more ops than a kernel may have is taken apart, before anything is asked.
//!
//! In an order in which ops can run and each stands near what it reads, any cut leaves two parts that run one after the
//! other. So the component is cut into stretches of this order, each as long as a kernel may be, at the place in its second
//! half where the fewest bytes cross; what of a stretch shares no value is parted as well. Each part is asked about as a
//! whole, as a component is. Without this, one op more than a kernel may have would cost a search from single ops.
//!
//! ```text
//! a tree of 3000 ops, depth first:  | subtree of 511 + ... |  ...     a cut lies where a large subtree ends
//! ```
//!
//! Guarantees: stretches come in run order, each op is in one; work is linear in the component. Decides nothing: stretches
//! that are refused are taken apart into ops, and those that are kept may still grow.

use rustc_hash::FxHashMap;

use super::graph::{Graph, Index};

/// The stretches of `order`, of at most `limit` ops with the free ops that they use, in run order; ops of each ascending.
pub(super) fn stretches(graph: &Graph, order: &[Index], limit: usize) -> Vec<Vec<Index>> {
    let most = limit.max(1);
    let crossing = crossing(graph, order, most);
    let mut found = Vec::new();
    let mut start = 0;
    while start < order.len() {
        let own = most.min(order.len() - start);
        let free = graph.with_free(&order[start..start + own]).len() - own;
        let all = own.min(most.saturating_sub(free).max(1));
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

/// For each op of the order what a cut behind it costs: values from elsewhere are read once more, those made before it are
/// read and, where nobody else needs them, written. What is used further apart than `most` ops crosses in any case and
/// counts nothing.
fn crossing(graph: &Graph, order: &[Index], most: usize) -> Vec<u64> {
    let place: FxHashMap<Index, usize> = order.iter().copied().zip(0..).collect();
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
            let written = edge.maker.is_some() && !edge.escapes;
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
            // What an op of the order makes was noted there.
            let maker = graph.edges[edge as usize].maker;
            if maker.is_none_or(|m| !graph.free[m as usize] && !place.contains_key(&m)) {
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

/// The parts of a stretch that share values, by their first op.
fn connected(graph: &Graph, stretch: &[Index]) -> Vec<Vec<Index>> {
    let mut sets = petgraph::unionfind::UnionFind::<usize>::new(stretch.len());
    let mut first = FxHashMap::<u32, usize>::default();
    for (&op, at) in stretch.iter().zip(0..) {
        let (reads, writes) = (&graph.reads[op as usize], &graph.writes[op as usize]);
        for &number in reads.iter().chain(writes) {
            let edge = &graph.edges[number as usize];
            if edge.bytes > 0 || edge.maker.is_some_and(|m| !graph.free[m as usize]) {
                let other = *first.entry(number).or_insert(at);
                sets.union(other, at);
            }
        }
    }
    let mut parts = std::collections::BTreeMap::<Index, Vec<Index>>::new();
    let mut names = FxHashMap::<usize, Index>::default();
    for (&op, at) in stretch.iter().zip(0..) {
        let name = *names.entry(sets.find(at)).or_insert(op);
        parts.entry(name).or_default().push(op);
    }
    let mut parts: Vec<Vec<Index>> = parts.into_values().collect();
    parts.iter_mut().for_each(|part| part.sort_unstable());
    parts
}
