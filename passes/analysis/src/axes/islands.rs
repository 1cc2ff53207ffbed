//! Islands: parts of a set of ops that share no computed value. They share axes where their lengths allow it.
//!
//! An *island* is a set of ops connected by values that ops of the set compute. The value with the most axes (the last
//! such value, mostly a result) gives the order of its axes. If the axes of two islands have a common refinement, and
//! both reduce and scan the same axes of it, they become that refinement. One loop nest then serves both islands,
//! instead of one loop nest and so one launch each. Islands may read the same arguments. An axis that both already have
//! stays itself, at any position. Since one loop nest reads such an argument once, those islands may reduce different
//! axes.
//!
//! ```text
//! %a = fusion.exp %x        // %x: tensor<[B]x64xf32>                           %a: [0, 1]
//! %b = fusion.sin %z        // %z: tensor<[B]x64xf32>                           %b: [2, 3]  =>  [0, 1]
//! %c = fusion.slice %w      // %w: tensor<[B]x192xf32>, columns 0 to 64         %c: [4, 5]  =>  [0, 1]
//! %d = fusion.slice %w      // columns 64 to 128                                %d: [4, 6]  =>  [0, 1]
//! %q = mul %v, %table       // %v: tensor<8x[S]xf32>, %table: tensor<[S]xf32>   %q: [7, 8]  =>  [9, 10, 8]
//! %k = mul %u, %table       // %u: tensor<2x4x[S]xf32>, summed along 4 later    %k: [9, 10, 8]
//! ```
//!
//! Never joins two axes of one island, axes of dependent ops, or axes that both occur in a third island.

use fuser_ir::def::OpClass;
use fuser_ir::entity::Entity;
use fuser_ir::types::ExtentExpr;
use fuser_ir::{Ir, Op, Value};
use petgraph::unionfind::UnionFind;
use rustc_hash::{FxHashMap, FxHashSet};

use super::union::{AxisUnion, Node, is_factor};
use super::{Axes, AxisId};

/// The most islands of one size that an island is compared with.
const MOST_ALIKE: usize = 4;

/// Facts that islands must share to be joined: the number of indices iterated, and whether they scan an axis.
type Size = (ExtentExpr, bool);

/// Ops connected by the values that they compute.
#[derive(Default)]
struct Island {
    axes: Vec<AxisId>,
    reduced: FxHashSet<AxisId>,
    scanned: FxHashSet<AxisId>,
}

/// A part of an axis of an island: the axis, its node, its length, and whether it is iterated, scanned and reduced.
#[derive(Clone)]
struct Part {
    axis: AxisId,
    node: Node,
    length: ExtentExpr,
    facts: [bool; 3],
}

impl Axes {
    /// Joins the axes of islands where allowed; `leaves` has the node of each axis. Returns true if anything changed.
    pub(super) fn join_islands(
        &self,
        ir: &Ir,
        ops: &[Op],
        union: &mut AxisUnion,
        leaves: &[Node],
    ) -> bool {
        let islands = self.islands(ir, ops);
        let mut owners = FxHashMap::<AxisId, Vec<usize>>::default();
        for (island, number) in islands.iter().zip(0..) {
            let axes = island.axes.iter();
            axes.for_each(|&axis| owners.entry(axis).or_default().push(number));
        }
        let beside =
            |a: AxisId, b: AxisId| owners[&a].iter().any(|island| owners[&b].contains(island));
        let mut alike = FxHashMap::<Size, Vec<&Island>>::default();
        let mut changed = false;
        for island in islands.iter().filter(|_| islands.len() > 1) {
            let Some(size) = self.size(island) else {
                continue;
            };
            let others = alike.entry(size).or_default();
            let own = self.parts(union, leaves, island);
            let facts = |parts: &[Part]| -> Vec<(Node, [bool; 3])> {
                parts.iter().map(|p| (p.node, p.facts)).collect()
            };
            let joined = others.iter().find_map(|other| {
                let other = self.parts(union, leaves, other);
                let all = own.len();
                let like = facts(&own) == facts(&other);
                let (own, other) = (unshared(&own, &other)?, unshared(&other, &own)?);
                // An island with the same axes that reduces others could join an island that this one cannot.
                if own.is_empty() && !like {
                    return None;
                }
                let pairs = matched(&own, &other, own.len() < all)?;
                let nodes = |parts: &[Part]| parts.iter().map(|p| p.node).collect();
                let apart = !pairs.into_iter().any(|(a, b)| beside(a, b));
                apart.then(|| -> [Vec<Node>; 2] { [nodes(&own), nodes(&other)] })
            });
            match joined {
                Some([own, other]) => {
                    let mark = union.mark();
                    match own.is_empty() || union.align(ops[0], &own, &other).is_err() {
                        true => union.rollback(mark),
                        false => changed = true,
                    }
                }
                None if others.len() < MOST_ALIKE => others.push(island),
                None => {}
            }
        }
        changed
    }

    /// The size of an island; `None` if a length is unknown.
    fn size(&self, island: &Island) -> Option<Size> {
        let mut axes = island.axes.iter();
        let all = axes.try_fold(ExtentExpr::constant(1), |all, &a| all.mul(self.extent(a)?))?;
        Some((all, !island.scanned.is_empty()))
    }

    /// The current axes of an island, outermost first.
    fn parts(&self, union: &AxisUnion, leaves: &[Node], island: &Island) -> Vec<Part> {
        let parts = island.axes.iter().flat_map(|&axis| {
            let facts = [
                self.is_walked(axis) || island.reduced.contains(&axis),
                island.scanned.contains(&axis),
                island.reduced.contains(&axis),
            ];
            let leaves = union.leaves(leaves[axis.index()]).into_iter();
            leaves.filter_map(move |leaf| {
                Some(Part {
                    axis,
                    node: leaf,
                    length: union.leaf_extent(leaf)?.clone(),
                    facts,
                })
            })
        });
        parts.collect()
    }

    /// The islands that have axes, in order of first appearance.
    fn islands(&self, ir: &Ir, ops: &[Op]) -> Vec<Island> {
        let mut sets = UnionFind::<usize>::new(ops.len());
        let mut producers = FxHashMap::<Value, usize>::default();
        for (&op, own) in ops.iter().zip(0..) {
            for producer in ir.operands(op).filter_map(|v| producers.get(&v)) {
                sets.union(own, *producer);
            }
            // Constants connect nothing: any island may use one.
            if ir.def(op).is_some_and(|d| d.class != OpClass::Creation) {
                producers.extend(ir.results(op).iter().map(|&v| (v, own)));
            }
        }
        let mut numbers = FxHashMap::<usize, usize>::default();
        let mut islands = Vec::<(Island, Vec<Value>)>::new();
        for (&op, own) in ops.iter().zip(0..) {
            let number = *numbers.entry(sets.find(own)).or_insert(islands.len());
            if number == islands.len() {
                islands.push(Default::default());
            }
            let (island, values) = &mut islands[number];
            island.reduced.extend(self.reduced(op));
            island.scanned.extend(self.scanned(op));
            values.extend(ir.operands(op).chain(ir.results(op).iter().copied()));
        }
        let islands = islands.into_iter().map(|(mut island, values)| {
            island.axes = self.in_order(&values);
            island
        });
        islands.filter(|island| !island.axes.is_empty()).collect()
    }

    /// The axes of the value with the most axes (the last such value), then the axes of the other values.
    fn in_order(&self, values: &[Value]) -> Vec<AxisId> {
        let mut known = FxHashSet::default();
        let widest = values.iter().max_by_key(|&&v| self.logical(v).count());
        let values = widest.into_iter().chain(values);
        let axes = values.flat_map(|&v| self.logical(v));
        axes.filter(|&axis| known.insert(axis)).collect()
    }
}

/// The parts of one island that another does not have, outermost first. `None` if the innermost part of one is an outer
/// part of the other: one of the islands would then be read with a stride.
fn unshared(one: &[Part], other: &[Part]) -> Option<Vec<Part>> {
    let has = |parts: &[Part], part: &Part| parts.iter().any(|p| p.node == part.node);
    let (inner, other_inner) = (one.last()?, other.last()?);
    let along = inner.node == other_inner.node || !has(other, inner);
    let own = one.iter().filter(|p| !has(other, p));
    along.then(|| own.cloned().collect())
}

/// Pairs of axes of two islands that are joined in their common refinement; `None` if they have none. Islands that
/// `read` one argument may reduce different axes: one loop nest reads the argument once.
fn matched(one: &[Part], other: &[Part], read: bool) -> Option<Vec<(AxisId, AxisId)>> {
    let agreed = if read { 2 } else { 3 };
    let rest = |of: Part, length: ExtentExpr| Part { length, ..of };
    let (mut one, mut other) = (one.iter().rev().cloned(), other.iter().rev().cloned());
    let (mut left, mut right): (Option<Part>, Option<Part>) = (None, None);
    let mut pairs = Vec::new();
    loop {
        let x = left.take().or_else(|| one.next());
        let y = right.take().or_else(|| other.next());
        let (x, y) = match (x, y) {
            (None, None) => return Some(pairs),
            (x, y) => (x?, y?),
        };
        if x.facts[..agreed] != y.facts[..agreed] {
            return None;
        }
        pairs.push((x.axis, y.axis));
        if x.length == y.length {
            continue;
        }
        // A scanned axis is iterated in order and must stay whole.
        if x.facts[1] {
            return None;
        }
        match y.length.div_exact(&x.length).filter(is_factor) {
            Some(outer) => right = Some(rest(y, outer)),
            None => {
                let outer = x.length.div_exact(&y.length).filter(is_factor)?;
                left = Some(rest(x, outer));
            }
        }
    }
}
