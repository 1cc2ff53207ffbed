//! Dominance of blocks and values, through nested regions.
//!
//! A value dominates an op if it is defined on every path to it: earlier in the same block, in a block that dominates
//! the op's block, or so for an op that encloses it. Regions that are isolated see nothing of the outside; in graph
//! regions every value of the region dominates every op. An unreachable block is dominated by everything.
//!
//! Trees are computed once per region of several blocks (Cooper, Harvey, Kennedy: "A simple, fast dominance
//! algorithm"), and queries on them take constant time. An edit of blocks or successors makes them stale: call
//! [`Dominance::forget`].

use rustc_hash::FxHashMap;

use crate::def::Traits;
use crate::ir::{Block, Def, Ir, Op, Region, Value};

/// Answers questions about dominance; keeps the trees it has made.
#[derive(Clone, Debug, Default)]
pub struct Dominance {
    trees: FxHashMap<Region, DomTree>,
}

/// The interval of a block in the dominator tree: `a` dominates `b` exactly if `b`'s interval is contained in `a`'s.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Interval {
    enter: u32,
    leave: u32,
}

#[derive(Clone, Debug, Default)]
struct DomTree {
    intervals: FxHashMap<Block, Interval>,
}

impl Dominance {
    /// True if every path from the entry of their common region to `b` passes `a` (`a == b` included). False for blocks
    /// of different regions; true if `b` is unreachable.
    pub fn block_dominates(&mut self, ir: &Ir, a: Block, b: Block) -> bool {
        if a == b {
            return true;
        }
        let (Some(region), Some(other)) = (ir.block_region(a), ir.block_region(b)) else {
            return false;
        };
        region == other && self.tree(ir, region).dominates(a, b)
    }
    /// True if `user` may use `value`. Takes time in the number of regions between them.
    pub fn value_dominates(&mut self, ir: &mut Ir, value: Value, user: Op) -> bool {
        let Some(block) = ir.def_block(value) else {
            return false;
        };
        let region = ir.block_region(block);
        let mut at = user;
        while ir.parent_block(at).and_then(|b| ir.block_region(b)) != region {
            match ir.parent_op(at) {
                Some(parent) if !ir.has(parent, Traits::ISOLATED) => at = parent,
                _ => return false,
            }
        }
        let Some(used_in) = ir.parent_block(at) else {
            return false;
        };
        if in_graph_region(ir, used_in) {
            return true;
        }
        match ir.value_def(value) {
            Def::Result(def, _) if used_in == block => def != at && ir.is_before(def, at),
            _ => self.block_dominates(ir, block, used_in),
        }
    }
    /// Drops the cached tree of `region`, after an edit of its blocks.
    pub fn forget(&mut self, region: Region) {
        self.trees.remove(&region);
    }
    fn tree(&mut self, ir: &Ir, region: Region) -> &DomTree {
        let make = || DomTree::new(ir, region);
        self.trees.entry(region).or_insert_with(make)
    }
}

/// True if the op around `block` is a graph region: its values may be read in any order.
pub fn in_graph_region(ir: &Ir, block: Block) -> bool {
    let parent = ir.block_parent_op(block);
    parent.is_some_and(|p| ir.has(p, Traits::GRAPH_REGION))
}

impl DomTree {
    fn new(ir: &Ir, region: Region) -> Self {
        let Some(entry) = ir.entry_block(region) else {
            return Self::default();
        };
        let order = reverse_post_order(ir, entry);
        let parents = immediate_dominators(ir, &order);
        let intervals = number(&parents);
        let intervals = order.into_iter().zip(intervals).collect();
        Self { intervals }
    }
    fn dominates(&self, a: Block, b: Block) -> bool {
        match (self.intervals.get(&a), self.intervals.get(&b)) {
            (Some(a), Some(b)) => a.enter <= b.enter && b.leave <= a.leave,
            (_, None) => true,
            (None, Some(_)) => false,
        }
    }
}

/// The blocks that the last op of `block` may go to.
pub fn successor_blocks(ir: &Ir, block: Block) -> Vec<Block> {
    let last = ir.last_op(block).filter(|op| ir.successor_count(*op) > 0);
    let successors = last.map_or_else(Vec::new, |op| ir.successors(op));
    successors.into_iter().map(|(block, _)| block).collect()
}

/// The blocks reachable from `entry` in reverse post-order.
fn reverse_post_order(ir: &Ir, entry: Block) -> Vec<Block> {
    let mut seen = rustc_hash::FxHashSet::from_iter([entry]);
    let mut stack = vec![(entry, successor_blocks(ir, entry))];
    let mut order = Vec::new();
    while let Some((block, pending)) = stack.last_mut() {
        match pending.pop() {
            Some(next) if seen.insert(next) => stack.push((next, successor_blocks(ir, next))),
            Some(_) => {}
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

/// The index of the immediate dominator of each block of `order`; the entry's is its own.
fn immediate_dominators(ir: &Ir, order: &[Block]) -> Vec<usize> {
    let index: FxHashMap<Block, usize> = order.iter().enumerate().map(|(i, b)| (*b, i)).collect();
    let mut predecessors = vec![Vec::new(); order.len()];
    for (from, &block) in order.iter().enumerate() {
        for to in successor_blocks(ir, block) {
            predecessors[index[&to]].push(from);
        }
    }
    let mut idom: Vec<Option<usize>> = vec![None; order.len()];
    idom[0] = Some(0);
    let mut changed = true;
    while changed {
        changed = false;
        for block in 1..order.len() {
            let known = predecessors[block]
                .iter()
                .copied()
                .filter(|p| idom[*p].is_some());
            let new = known.reduce(|a, b| common(&idom, a, b));
            changed |= new != idom[block];
            idom[block] = new;
        }
    }
    idom.into_iter().map(|d| d.unwrap_or(0)).collect()
}

/// The nearest common ancestor of two blocks in the tree so far; ancestors have lower numbers.
fn common(idom: &[Option<usize>], mut a: usize, mut b: usize) -> usize {
    while a != b {
        let higher = a.max(b);
        let up = idom[higher].unwrap_or(0);
        (a, b) = (a.min(b), up);
    }
    a
}

/// The intervals of a tree given by parents; each parent has a lower number than its children.
fn number(parents: &[usize]) -> Vec<Interval> {
    let mut children = vec![Vec::new(); parents.len()];
    for (child, &parent) in parents.iter().enumerate().skip(1) {
        children[parent].push(child);
    }
    let mut intervals = vec![Interval::default(); parents.len()];
    let mut clock = 0;
    let mut stack = vec![(0, false)];
    while let Some((node, done)) = stack.pop() {
        clock += 1;
        if done {
            intervals[node].leave = clock;
            continue;
        }
        intervals[node].enter = clock;
        stack.push((node, true));
        stack.extend(children[node].iter().map(|c| (*c, false)));
    }
    intervals
}
