//! Epilogue walks of a sweep: loop nests over small iteration spaces that compute from the sweep's accumulated results.
//!
//! ```text
//! %s = sum %x dims [0] ; %r = sqrt %s ; %m = max %x dims [1] ; %n = neg %m    sweep: %s, %m    epilogues: %r and %n
//! ```
//!
//! Ops share a walk if they have the same axes and are connected by values. Unconnected ops would get different axes
//! from the axis analysis, and one walk over both would iterate the product of their spaces. Part of each walk that uses
//! them are: a scalar constant, a shape op on a scalar, and an op computed for windows alone.

use petgraph::unionfind::UnionFind;
use rustc_hash::FxHashMap;

use fuser_ir::def::OpClass;
use fuser_target::Target;

use super::body::{Body, Mask, Source};
use super::units::Draft;

/// A walk under construction: its axes, its connected component, and its ops.
type Walk = (Mask, usize, Vec<u32>);

/// True if an op of an epilogue is a boundary on a reduction of its sweep: an alias, which is written where the
/// reduction is.
pub(super) fn is_name(body: &Body, draft: &Draft, index: u32) -> bool {
    let mut sums = producers(body, index);
    body.nodes[index as usize].renames && sums.all(|p| draft.accumulators.contains(&p))
}

/// True if each walk that uses an op recomputes it. On a GPU a shape op on a scalar has a walk of its own: plans without
/// it were not measured there.
fn is_inner(body: &Body, index: u32, target: &Target) -> bool {
    let node = &body.nodes[index as usize];
    let moves = node.class == OpClass::Shape && !target.abilities().last_block;
    node.is_unwalked() || (node.stored == 0 && (node.sources.is_empty() || moves))
}

/// The ops of an epilogue walk whose results it writes: not those of windows, nor constants of other ops.
pub(super) fn written(body: &Body, walk: &[u32]) -> Vec<u32> {
    let inner = |index: &u32| {
        let node = &body.nodes[*index as usize];
        let constant = node.sources.is_empty() && node.stored == 0;
        node.is_unwalked() || walk.len() > 1 && constant
    };
    walk.iter().copied().filter(|index| !inner(index)).collect()
}

/// The epilogue walks of a sweep.
pub(super) struct Walks {
    /// The ops of each walk, in program order. Walks are listed in run order.
    pub(super) all: Vec<Vec<u32>>,
    /// The number of walks, from the first, that the last block of a GPU runs after it has combined the partial results
    /// of all blocks.
    pub(super) folded: usize,
}

impl Walks {
    /// The epilogue walks of `draft`, given the axes mapped to the grid. Walks that the last block can run come first;
    /// `folded` counts them.
    pub(super) fn of(body: &Body, draft: &Draft, grid: Mask, target: &Target) -> Walks {
        let all = walks(body, draft, target);
        if !target.abilities().last_block {
            return Walks { all, folded: 0 };
        }
        let (mut first, rest) = in_last_block(body, draft, grid, all);
        let folded = first.len();
        first.extend(rest);
        Walks { all: first, folded }
    }
}

/// The epilogue walks in run order; the ops of each in program order.
fn walks(body: &Body, draft: &Draft, target: &Target) -> Vec<Vec<u32>> {
    let own = draft.epilogue.iter().copied();
    let ops: Vec<u32> = own.filter(|&i| !is_name(body, draft, i)).collect();
    let mut walks: Vec<Walk> = Vec::new();
    let mut home: FxHashMap<u32, usize> = FxHashMap::default();
    for (&index, component) in ops.iter().zip(components(body, &ops)) {
        let node = &body.nodes[index as usize];
        if is_inner(body, index, target) && !node.is_output {
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
                entering.extend(producers(body, index).filter(|&p| is_inner(body, p, target)));
            }
        }
    }
    let sorted = walks.into_iter().map(|(_, _, mut ops)| {
        ops.sort_unstable();
        ops
    });
    sorted.collect()
}

/// Splits the walks into those that the last block can run, and the others. The last block runs elementwise ops on
/// reductions with the same elements, which are complete together, and on results of earlier sweeps.
fn in_last_block(
    body: &Body,
    draft: &Draft,
    grid: Mask,
    all: Vec<Vec<u32>>,
) -> (Vec<Vec<u32>>, Vec<Vec<u32>>) {
    // For each reduction over the grid, and each op already in the last block: the elements of which the last block has
    // the value.
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

/// The component number of each op: ops that touch a common value with axes are connected.
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
