//! Islands of a set of ops, parts that share no computed value: they share axes all the same, where their lengths allow it.
//!
//! An *island* is what hangs together by values that ops of the set compute. Its axes are in the order in which the value with the most axes,
//! the last such, has them: mostly a result. Where the axes of two islands have a common refinement, in which both reduce and scan the same
//! axes, they become that refinement. One walk serves both, where each would else have a walk, and so a launch, of its own. Islands may
//! read the same arguments: an axis that both have already stays itself, whatever its place, and as one walk reads such an argument once,
//! those islands may reduce different axes.
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
//! Never joins axes of one island, nor of ops of which one needs the other, nor axes that a third island has beside each other.

use fuser_ir::def::OpClass;
use fuser_ir::entity::Entity;
use fuser_ir::types::ExtentExpr;
use fuser_ir::{Ir, Op, Value};
use petgraph::unionfind::UnionFind;
use rustc_hash::{FxHashMap, FxHashSet};

use super::union::{AxisUnion, Node, is_factor};
use super::{Axes, AxisId};

/// The islands of one size that an island is compared with, at most.
const MOST_ALIKE: usize = 4;

/// The facts in which islands agree that share axes: how many indices they walk, and whether they scan some.
type Size = (ExtentExpr, bool);

/// Ops that hang together by what they compute.
#[derive(Default)]
struct Island {
    axes: Vec<AxisId>,
    reduced: FxHashSet<AxisId>,
    scanned: FxHashSet<AxisId>,
}

/// A part of an axis of an island: the axis, its node, its length, and whether it is walked, scanned and reduced.
#[derive(Clone)]
struct Part {
    axis: AxisId,
    node: Node,
    length: ExtentExpr,
    facts: [bool; 3],
}

impl Axes {
    /// Makes the axes of islands one where they may be; `leaves` has the node of each axis. Gives whether anything changed.
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
                // What has the same axes and reduces others may be joined to what this one may not.
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

    /// The size of an island; `None` where a length is not known.
    fn size(&self, island: &Island) -> Option<Size> {
        let mut axes = island.axes.iter();
        let all = axes.try_fold(ExtentExpr::constant(1), |all, &a| all.mul(self.extent(a)?))?;
        Some((all, !island.scanned.is_empty()))
    }

    /// The axes of an island as they are now, outermost first.
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

    /// The islands that have axes, the first to appear first.
    fn islands(&self, ir: &Ir, ops: &[Op]) -> Vec<Island> {
        let mut sets = UnionFind::<usize>::new(ops.len());
        let mut producers = FxHashMap::<Value, usize>::default();
        for (&op, own) in ops.iter().zip(0..) {
            for producer in ir.operands(op).filter_map(|v| producers.get(&v)) {
                sets.union(own, *producer);
            }
            // A constant is anybody's.
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

    /// The axes of the value with the most, the last such, then those of the others.
    fn in_order(&self, values: &[Value]) -> Vec<AxisId> {
        let mut known = FxHashSet::default();
        let widest = values.iter().max_by_key(|&&v| self.logical(v).count());
        let values = widest.into_iter().chain(values);
        let axes = values.flat_map(|&v| self.logical(v));
        axes.filter(|&axis| known.insert(axis)).collect()
    }
}

/// The parts of an island that another has not, outermost first; `None` where the innermost of one is an outer one of the other: one of
/// them would be walked across its memory.
fn unshared(one: &[Part], other: &[Part]) -> Option<Vec<Part>> {
    let has = |parts: &[Part], part: &Part| parts.iter().any(|p| p.node == part.node);
    let (inner, other_inner) = (one.last()?, other.last()?);
    let along = inner.node == other_inner.node || !has(other, inner);
    let own = one.iter().filter(|p| !has(other, p));
    along.then(|| own.cloned().collect())
}

/// The axes of two islands that become one in their common refinement; `None` where they have none. Islands that `read` one argument may
/// differ in what they reduce: one walk reads it once.
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
        // An axis that is walked in order stays whole.
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
