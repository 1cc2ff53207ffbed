//! Islands of equal shape walk together: parts of a set of ops that have nothing in common share axes all the same.
//!
//! An *island* is what hangs together by values or by axes. Where two islands have axes of the same lengths, of which the same
//! are reduced and the same scanned, the axes of the second become those of the first, one by one, in the order in which the value with the most
//! axes has them: it is the same in whatever order the ops stand. One walk serves both, where each would else have a walk, and so a launch, of its
//! own.
//!
//! ```text
//! %a = fusion.exp %x        // %x: tensor<[B]x64xf32>    %a: [0, 1]
//! %b = fusion.sin %z        // %z: tensor<[B]x64xf32>    %b: [2, 3]  =>  [0, 1]
//! ```
//!
//! Never joins axes of one island, nor of ops of which one needs the other. What windows read is part of their island; memory that they
//! read at indices of their own has no axes, and may be read by several.

use fuser_ir::def::OpClass;
use fuser_ir::entity::Entity;
use fuser_ir::types::ExtentExpr;
use fuser_ir::{Ir, Op, Value};
use petgraph::unionfind::UnionFind;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Axes, AxisId};

/// Axes of an island: of each its length, whether anything differs along it, and whether an op reduces or scans it.
type Shape = Vec<(ExtentExpr, [bool; 3])>;

impl Axes {
    /// For each axis the one that it becomes where islands of equal shape share theirs; `None` where all stay.
    pub(super) fn shared_by_islands(&self, ir: &Ir, ops: &[Op]) -> Option<Vec<AxisId>> {
        let islands = self.islands(ir, ops);
        if islands.len() < 2 {
            return None;
        }
        let reduced: FxHashSet<AxisId> = self.reduced.values().flatten().copied().collect();
        let scanned: FxHashSet<AxisId> = self.scanned.values().copied().collect();
        let axis = |&a: &AxisId| {
            let length = self.extent(a)?.clone();
            let facts = [
                self.is_walked(a),
                reduced.contains(&a),
                scanned.contains(&a),
            ];
            Some((length, facts))
        };
        let mut first = FxHashMap::<Shape, &[AxisId]>::default();
        let mut same: Vec<AxisId> = self.ids().collect();
        for island in &islands {
            let Some(shape) = island.iter().map(axis).collect::<Option<Shape>>() else {
                continue;
            };
            for (&a, &to) in island.iter().zip(*first.entry(shape).or_insert(island)) {
                same[a.index()] = to;
            }
        }
        self.ids().any(|a| same[a.index()] != a).then_some(same)
    }

    /// The axes of each island: those of its value with the most, the first such, then the others in order of first appearance.
    fn islands(&self, ir: &Ir, ops: &[Op]) -> Vec<Vec<AxisId>> {
        // Axes first, then the values that have none.
        let mut places = FxHashMap::<Value, usize>::default();
        let mut sets = UnionFind::<usize>::new(self.len() + ops.len());
        for dims in self.values.values() {
            let mut axes = dims.iter().flat_map(|d| d.axes.iter().map(|a| a.index()));
            if let Some(first) = axes.next() {
                axes.for_each(|other| {
                    sets.union(first, other);
                });
            }
        }
        let connected = self.ids().all(|a| sets.equiv(a.index(), 0));
        if connected {
            return Vec::new();
        }
        for (&op, own) in ops.iter().zip(self.len()..) {
            let mut join = |place: usize| sets.union(own, place);
            for value in ir.operands(op).chain(ir.results(op).iter().copied()) {
                let axis = self.logical(value).next();
                axis.iter().for_each(|a| _ = join(a.index()));
                if let (None, Some(&producer)) = (axis, places.get(&value)) {
                    join(producer);
                }
            }
            // A constant is anybody's.
            if ir.def(op).is_some_and(|d| d.class != OpClass::Creation) {
                places.extend(ir.results(op).iter().map(|&v| (v, own)));
            }
        }
        let mut islands = std::collections::BTreeMap::<usize, Vec<AxisId>>::new();
        for axis in self.ids() {
            islands
                .entry(sets.find(axis.index()))
                .or_default()
                .push(axis);
        }
        let mut widest = FxHashMap::<usize, Vec<AxisId>>::default();
        for &value in &self.order {
            let axes: Vec<AxisId> = self.logical(value).collect();
            let Some(first) = axes.first() else { continue };
            let known = widest.entry(sets.find(first.index())).or_default();
            if axes.len() > known.len() {
                *known = axes;
            }
        }
        let mut islands: Vec<Vec<AxisId>> = islands
            .into_iter()
            .map(|(set, rest)| {
                let mut axes = widest.remove(&set).unwrap_or_default();
                let others = rest.into_iter().filter(|axis| !axes.contains(axis));
                let others: Vec<AxisId> = others.collect();
                axes.extend(others);
                axes
            })
            .collect();
        // The first to appear gives the others its axes.
        islands.sort_by_key(|axes| axes.iter().min().copied());
        islands
    }

    /// Makes each axis the one that `same` says, and numbers what is left. Windows are made of axes: they are the caller's to find anew.
    pub(super) fn rename(&mut self, same: &[AxisId]) {
        let kept: Vec<AxisId> = self.ids().filter(|a| same[a.index()] == *a).collect();
        let place = |a: &AxisId| AxisId::from_index(kept.partition_point(|k| k < &same[a.index()]));
        let dims = self.values.values_mut().flatten();
        for axis in dims
            .flat_map(|d| d.axes.iter_mut())
            .chain(self.reduced.values_mut().flatten())
            .chain(self.scanned.values_mut())
        {
            *axis = place(axis);
        }
        self.extents = kept
            .iter()
            .map(|a| self.extents[a.index()].clone())
            .collect();
        self.walked = kept.iter().map(|a| self.walked[a.index()]).collect();
    }
}
