//! The walks behind a sweep: what is computed from its accumulated results, each in a walk over its own small space.
//!
//! ```text
//! %s = sum %x dims [0] ; %r = sqrt %s ; %m = max %x dims [1] ; %n = neg %m        sweep: %s, %m    walks behind it: %r and %n
//! ```
//!
//! Ops share a walk where they have the same axes and are connected by values. Alone, the analysis of axes would give others axes of
//! their own, and one walk over the product of their spaces would be as long as the two spaces multiplied. A constant of one element,
//! and what is computed for windows alone, is part of each walk that uses it.

use petgraph::unionfind::UnionFind;
use rustc_hash::FxHashMap;

use fuser_target::Target;

use super::body::{Body, Mask, Source};
use super::units::Draft;

/// A walk under construction: its axes, what its values are connected with, and its ops.
type Walk = (Mask, usize, Vec<u32>);

/// True if an op of an epilogue is a boundary on a sum of its sweep: that sum under another name, which is written where the sum is.
pub(super) fn is_name(body: &Body, draft: &Draft, index: u32) -> bool {
    let mut sums = producers(body, index);
    body.nodes[index as usize].renames && sums.all(|p| draft.accumulators.contains(&p))
}

/// True if each walk that uses an op computes it for itself.
pub(super) fn is_inner(body: &Body, index: u32) -> bool {
    let node = &body.nodes[index as usize];
    node.is_unwalked() || (node.sources.is_empty() && node.stored == 0)
}

/// The walks behind a sweep.
pub(super) struct Walks {
    /// The ops of each, in program order; walks in run order.
    pub(super) all: Vec<Vec<u32>>,
    /// The number of them, the first ones, that the last block of a GPU does where it puts the sums over the blocks together.
    pub(super) folded: usize,
}

impl Walks {
    /// Those of a sweep whose loops of the grid these are. Of the walks that are no part of others a last block does what it can, ahead of the others.
    pub(super) fn of(body: &Body, draft: &Draft, grid: Mask, target: &Target) -> Walks {
        let all = walks(body, draft);
        if !target.is_gpu() {
            return Walks { all, folded: 0 };
        }
        let (mut first, rest) = in_last_block(body, draft, grid, all);
        let folded = first.len();
        first.extend(rest);
        Walks { all: first, folded }
    }
}

/// The walks behind a sweep, in run order; ops of each in program order.
fn walks(body: &Body, draft: &Draft) -> Vec<Vec<u32>> {
    let own = draft.epilogue.iter().copied();
    let ops: Vec<u32> = own.filter(|&i| !is_name(body, draft, i)).collect();
    let mut walks: Vec<Walk> = Vec::new();
    let mut home: FxHashMap<u32, usize> = FxHashMap::default();
    for (&index, component) in ops.iter().zip(components(body, &ops)) {
        let node = &body.nodes[index as usize];
        if is_inner(body, index) && !node.is_output {
            continue;
        }
        let first = producers(body, index).filter_map(|p| home.get(&p));
        let first = first.max().copied().unwrap_or(0);
        let mut later = walks.iter().enumerate().skip(first);
        let found = later.find(|(_, walk)| (walk.0, walk.1) == (node.stored, component));
        let number = found.map_or(walks.len(), |(number, _)| number);
        if number == walks.len() {
            walks.push((node.stored, component, Vec::new()));
        }
        home.insert(index, number);
        let members = &mut walks[number].2;
        let mut entering = vec![index];
        while let Some(index) = entering.pop() {
            if !members.contains(&index) {
                members.push(index);
                entering.extend(producers(body, index).filter(|&p| is_inner(body, p)));
            }
        }
    }
    let sorted = walks.into_iter().map(|(_, _, mut ops)| {
        ops.sort_unstable();
        ops
    });
    sorted.collect()
}

/// Walks that a last block does, and others: elementwise ops at the elements of sums that lie alike, and so are complete together, and of what earlier sweeps computed.
fn in_last_block(
    body: &Body,
    draft: &Draft,
    grid: Mask,
    all: Vec<Vec<u32>>,
) -> (Vec<Vec<u32>>, Vec<Vec<u32>>) {
    // Of each sum over the blocks, and of each op that folds, the elements at which the last block has it.
    let sums = draft
        .accumulators
        .iter()
        .map(|&i| (i, &body.nodes[i as usize]));
    let sums = sums.filter(|(_, node)| node.reduced & grid != 0);
    let sums: FxHashMap<u32, &[usize]> = sums.map(|(i, node)| (i, node.order())).collect();
    let mut known = sums.clone();
    all.into_iter().partition(|walk| {
        let read = walk.iter().flat_map(|&i| producers(body, i));
        let Some(elements) = read.filter_map(|p| sums.get(&p).copied()).next() else {
            return false;
        };
        let stored = elements.iter().fold(0, |all, axis| all | 1 << axis);
        let at_hand = |p: u32| walk.contains(&p) || known.get(&p) == Some(&elements);
        let folds = walk.iter().all(|&i| {
            let node = &body.nodes[i as usize];
            let simple = node.reduced == 0 && node.scanned == 0 && node.touches.is_none();
            simple
                && (node.stored == 0 || node.stored == stored)
                && node.elsewhere.is_empty()
                && node.crossed.is_empty()
                && producers(body, i).all(|p| at_hand(p) || draft.epilogue_ready.contains(&p))
        });
        if folds {
            known.extend(walk.iter().map(|&i| (i, elements)));
        }
        folds
    })
}

fn producers(body: &Body, index: u32) -> impl Iterator<Item = u32> + '_ {
    body.nodes[index as usize]
        .sources
        .iter()
        .filter_map(Source::node)
}

/// For each op the number of its component: ops that touch a common value with axes are connected.
fn components(body: &Body, ops: &[u32]) -> Vec<usize> {
    let mut union = UnionFind::<usize>::new(ops.len());
    let mut first: FxHashMap<Source, usize> = FxHashMap::default();
    for (at, &index) in ops.iter().enumerate() {
        let sources = body.nodes[index as usize].sources.iter().copied();
        for value in sources.chain([Source::Node(index)]) {
            let connects = match value {
                Source::Input(i) => !body.inputs[i as usize].logical.is_empty(),
                Source::Node(n) => !body.nodes[n as usize].logical.is_empty(),
            };
            if connects {
                union.union(at, *first.entry(value).or_insert(at));
            }
        }
    }
    (0..ops.len()).map(|at| union.find_mut(at)).collect()
}
