//! The choice of loops for one sweep: order, tiles, vector width. The heuristics live in this file; their figures come
//! from the target.
//!
//! The plan decides the roles of axes, including which axes are resident, because the bytes depend on them. This file
//! makes the choices that cost no bytes:
//!
//! - the axis of the lanes,
//! - the axes that are collapsed into one loop,
//! - the tile size of a long axis,
//! - the number of partial sums.
//!
//! Never changes which reductions finish inside a step: an axis that the plan made resident stays resident as a whole.

use fuser_analysis::axes::{Axes, AxisId};
use fuser_analysis::cost::{Bindings, LIGHT, Staged, staged_tile};
use fuser_dialects::fusion::lambda;
use fuser_ir::def::Computes;
use fuser_ir::types::ExtentExpr;
use fuser_ir::{DType, Ir, Op, Value};

use fuser_target::Target;
use rustc_hash::FxHashSet;

use crate::spec::{LoopAxis, Role, product};

/// The number of short rows in a step, and the maximum number of elements of such a row.
const SHORT_ROWS: u64 = 16;
const SHORT: u64 = 32;

/// A sweep before its loops are chosen.
pub struct Draft<'a> {
    /// The program.
    pub ir: &'a Ir,
    /// Axes of the sweep's own ops.
    pub axes: &'a Axes,
    /// Lengths of named extents.
    pub bindings: &'a Bindings,
    /// Role of each axis in the plan, outermost first.
    pub roles: Vec<(AxisId, Role)>,
    /// Its ops.
    pub ops: &'a [Op],
    /// Elements of its narrow tiles, at most.
    pub narrow: u64,
    /// The axis along which the lanes run, where the plan chose it.
    pub lanes: Option<AxisId>,
    /// Values that it loads from and stores to global memory.
    pub memory: Vec<Value>,
}

/// The chosen loops.
#[derive(Clone, Debug)]
pub struct Loops {
    /// Loop axes: grid, stream, tile; lanes run along the last tile loop.
    pub loops: Vec<LoopAxis>,
    /// Lanes.
    pub vector: u64,
    /// The number of workers with a partial result of their own; 0 if nothing accumulates over the grid.
    pub partials: i64,
    /// Threads per worker.
    pub threads: i64,
    /// Groups of them.
    pub groups: i64,
}

impl Draft<'_> {
    /// Chooses the loops; `None` where an extent is unknown.
    pub fn choose(&self, target: &Target) -> Option<Loops> {
        let lanes_along = self.lanes.or_else(|| self.contiguous_axis(target));
        let mut loops = Vec::new();
        for group in self.groups(&self.roles) {
            let role = role_of(&self.roles, group[0]);
            loops.push(LoopAxis {
                extent: product(self.axes, &group)?,
                axes: group,
                role,
                tile: 1,
            });
        }
        let mut crossed = self.crossed_axes(lanes_along);
        if crossed.is_empty() {
            crossed.extend(self.side_by_side(lanes_along, target));
        }
        self.cut(&mut loops, lanes_along, &crossed, target);
        self.share_rows(&mut loops, lanes_along, target);
        self.alternate_rows(&mut loops, lanes_along, target);
        // The lanes' loop comes last whatever its role: tile loops nest in this order.
        loops.sort_by_key(|l| {
            (
                lanes_along.is_some_and(|a| l.axes.contains(&a)),
                rank(l.role),
            )
        });
        let vector = self.lanes(lanes_along, target);
        if target.abilities().block_threads {
            let blocks = self.spread(&mut loops, vector, target);
            return Some(Loops {
                vector: blocks.vector,
                partials: count(blocks.shares),
                threads: count(blocks.threads),
                groups: count(blocks.groups),
                loops,
            });
        }
        let accumulates = loops
            .iter()
            .any(|l| l.role == Role::Grid && l.axes.iter().any(|&a| self.is_reduced(a)));
        Some(Loops {
            vector,
            partials: if accumulates {
                self.partials(&loops, target)
            } else {
                0
            },
            threads: count(target.threads),
            groups: 1,
            loops,
        })
    }

    /// The axis along which the most bytes of memory are contiguous and which threads can share. An axis whose elements
    /// a lambda takes one by one does not qualify.
    fn contiguous_axis(&self, target: &Target) -> Option<AxisId> {
        let one_by_one = |op: &&Op| target.threads > 1 && lambda::has_lambda(self.ir, **op);
        let ordered = self.ops.iter().filter(one_by_one);
        let ordered = ordered.filter_map(|&op| self.axes.scanned(op));
        let free = self.most_contiguous(&ordered.collect::<Vec<_>>());
        free.or_else(|| self.most_contiguous(&[]))
    }
    /// The axis along which the most bytes of memory are contiguous, ignoring the axes `except`.
    fn most_contiguous(&self, except: &[AxisId]) -> Option<AxisId> {
        let last = |value: Value| {
            let axes = self.axes.stored(value).filter(|a| !except.contains(a));
            axes.last()
        };
        let mut weights: Vec<(AxisId, u64)> = Vec::new();
        // Outputs first: where loads and stores disagree, loads can be staged.
        let windows = self.ops.iter().filter(|&&op| self.is_contiguous_window(op));
        let windows: Vec<Value> = windows.map(|&op| self.ir.result(op, 0)).collect();
        for &value in self.memory.iter().rev().chain(&windows) {
            let Some(axis) = last(value) else {
                continue;
            };
            let bytes = self.weight(value);
            match weights.iter_mut().find(|(a, _)| *a == axis) {
                Some((_, sum)) => *sum = sum.saturating_add(bytes),
                None => weights.push((axis, bytes)),
            }
        }
        let best = weights.iter().map(|(_, w)| *w).max()?;
        weights
            .into_iter()
            .find(|(_, w)| *w == best)
            .map(|(a, _)| a)
    }
    /// True if a slice, flip, pad or cat reads contiguous elements of memory along its last axis.
    fn is_contiguous_window(&self, op: Op) -> bool {
        let last = self.innermost(self.ir.result(op, 0));
        let window = self.axes.window(op).zip(last);
        window.is_some_and(|(window, axis)| window.is_contiguous(self.axes, axis))
    }
    fn innermost(&self, value: Value) -> Option<AxisId> {
        self.axes.stored(value).last()
    }
    /// Stored bytes under the bindings.
    fn weight(&self, value: Value) -> u64 {
        let extent = |axis| {
            let extent = self.axes.extent(axis);
            extent.map_or(self.bindings.nominal, |e| self.bindings.eval(e))
        };
        let dtype = self.ir.value_kind(value).dtype().unwrap_or(DType::F32);
        self.axes
            .stored(value)
            .fold(dtype.bytes(), |n, axis| n.saturating_mul(extent(axis)))
    }
    fn is_reduced(&self, axis: AxisId) -> bool {
        self.ops
            .iter()
            .any(|&op| self.axes.reduced(op).contains(&axis))
    }
    /// Groups of axes that are collapsed into one loop. Their axes are adjacent in all memory and all sums, have one
    /// role, are reduced by the same ops, and are not scanned. An `inner` value, which the loops compute and no memory
    /// holds, has all axes of a group or none.
    fn groups(&self, roles: &[(AxisId, Role)]) -> Vec<Vec<AxisId>> {
        let computed = self.ops.iter().copied();
        let computed = computed.filter(|&op| self.axes.reduced(op).is_empty());
        let mut inner: FxHashSet<Value> = computed
            .flat_map(|op| self.ir.results(op).iter().copied())
            .collect();
        for value in &self.memory {
            inner.remove(value);
        }
        let mut groups: Vec<Vec<AxisId>> = Vec::new();
        for &(axis, role) in roles {
            match groups.last_mut() {
                Some(group)
                    if self.joins(group, axis, &inner) && role_of(roles, group[0]) == role =>
                {
                    group.push(axis)
                }
                _ => groups.push(vec![axis]),
            }
        }
        groups
    }
    fn joins(&self, group: &[AxisId], axis: AxisId, inner: &FxHashSet<Value>) -> bool {
        let Some(&before) = group.last() else {
            return false;
        };
        let adjacent = |value: &Value| {
            let stored: Vec<AxisId> = self.axes.stored(*value).collect();
            match (
                stored.iter().position(|&a| a == before),
                stored.iter().position(|&a| a == axis),
            ) {
                (None, None) => true,
                (Some(b), Some(a)) => a == b + 1 || inner.contains(value),
                _ => false,
            }
        };
        let alike = |op: &Op| {
            let reduced = self.axes.reduced(*op);
            let scanned = self.axes.scanned(*op);
            reduced.contains(&before) == reduced.contains(&axis)
                && scanned.is_none_or(|s| s != before && s != axis)
        };
        let indexed = |op: &Op| {
            let counts = self.ir.computes(*op) == Some(Computes::Index);
            let mut axes = self.axes.stored(self.ir.result(*op, 0));
            counts && axes.any(|a| a == before || a == axis)
        };
        self.axes.values().iter().all(adjacent)
            && self.ops.iter().all(alike)
            && self
                .ops
                .iter()
                .all(|&op| self.axes.window_joins(op, before, axis))
            && !self.ops.iter().any(indexed)
    }
    /// Tiles the loop along the lanes, and the loops along which other memory is contiguous.
    fn cut(
        &self,
        loops: &mut [LoopAxis],
        lanes_along: Option<AxisId>,
        crossed: &[AxisId],
        target: &Target,
    ) {
        let resident = loops.iter().any(|l| l.role == Role::Tile);
        let narrow = self.narrow_tile(loops, lanes_along, crossed, target);
        for axis in loops.iter_mut().filter(|l| l.role != Role::Tile) {
            let along = lanes_along.is_some_and(|a| axis.axes.contains(&a));
            if along {
                axis.tile = if resident || !crossed.is_empty() {
                    narrow
                } else {
                    count(target.tile)
                };
            } else if axis.axes.iter().any(|a| crossed.contains(a)) {
                axis.tile = narrow;
            }
        }
    }
    /// Gives the loop directly around the lanes several indices in each step. It applies to a light sweep that reads,
    /// or adds to, the same elements with each index: a CPU then keeps these in registers for all rows of the step. It
    /// also applies to scans along the lanes, where the scans of several rows overlap. Rows must lie far apart and
    /// suffice for a step.
    fn share_rows(&self, loops: &mut [LoopAxis], lanes_along: Option<AxisId>, target: &Target) {
        let Some(lanes) = lanes_along.filter(|_| target.abilities().vectors) else {
            return;
        };
        let flops = |op: &Op| self.ir.def(*op).map_or(0, |d| u64::from(d.flops));
        let in_lanes =
            |op: &Op| self.axes.scanned(*op) == Some(lanes) && !lambda::has_lambda(self.ir, *op);
        let scans = self.ops.iter().any(in_lanes);
        let apart = |op: &Op| {
            let (scanned, reduced) = (self.axes.scanned(*op), self.axes.reduced(*op));
            (scanned.is_none() || in_lanes(op))
                && !reduced.contains(&lanes)
                && self.axes.window(*op).is_none()
        };
        let whole = |l: &LoopAxis| l.role == Role::Tile && !l.axes.contains(&lanes);
        let light = self.ops.iter().map(flops).sum::<u64>() <= LIGHT;
        if !light || !self.ops.iter().all(apart) || loops.iter().any(whole) {
            return;
        }
        let row = loops.iter().find(|l| l.axes.contains(&lanes));
        let length = row.map_or(0, |l| self.bindings.eval(&l.extent));
        let around = |l: &&mut LoopAxis| l.role != Role::Tile && !l.axes.contains(&lanes);
        let Some(rows) = loops.iter_mut().filter(around).max_by_key(|l| rank(l.role)) else {
            return;
        };
        let stored = |v: &Value, axes: &[AxisId]| self.axes.stored(*v).any(|a| axes.contains(&a));
        let shared = |v: &&Value| stored(v, &[lanes]) && !stored(v, &rows.axes);
        let of_row = self.memory.iter().filter(|v| stored(v, &rows.axes));
        let bytes = |v: &Value| self.ir.value_kind(*v).dtype().map_or(1, DType::bytes);
        let far = of_row
            .map(bytes)
            .min()
            .is_some_and(|b| length.saturating_mul(b) >= target.row_distance);
        let summed = rows.axes.iter().any(|&a| self.is_reduced(a));
        let least = if summed {
            target.shared_rows * target.partials
        } else {
            target.shared_rows
        };
        let many = self.bindings.eval(&rows.extent) >= least;
        if rows.tile == 1 && many && far && (scans || self.memory.iter().any(|v| shared(&v))) {
            rows.tile = count(target.shared_rows);
        }
    }
    /// Gives a step several short rows if a reduction ends along the lanes. A row's epilogue waits for its own sums,
    /// and the next row lies beyond the processor's window of about a hundred instructions. With several rows in a
    /// step, the same phase of the next row overlaps with that wait.
    fn alternate_rows(&self, loops: &mut [LoopAxis], lanes_along: Option<AxisId>, target: &Target) {
        let Some(lanes) = lanes_along.filter(|_| target.abilities().vectors) else {
            return;
        };
        let plain = |op: &Op| {
            self.axes.scanned(*op).is_none()
                && self.axes.window(*op).is_none()
                && !lambda::has_lambda(self.ir, *op)
        };
        let mut whole = loops.iter().filter(|l| l.role == Role::Tile);
        let length = match (whole.next(), whole.next()) {
            (Some(row), None) if row.axes.contains(&lanes) => row.extent.as_constant(),
            _ => None,
        };
        let length = length.and_then(|length| u64::try_from(length).ok());
        let around = |l: &&mut LoopAxis| l.role != Role::Tile;
        let rows = loops.iter_mut().filter(around).max_by_key(|l| rank(l.role));
        let (true, Some(rows)) = (length.is_some_and(|length| length <= SHORT), rows) else {
            return;
        };
        let summed = rows.axes.iter().any(|&a| self.is_reduced(a));
        let many = self.bindings.eval(&rows.extent) >= SHORT_ROWS * target.partials;
        let ends = self.is_reduced(lanes) && !summed;
        if ends && many && rows.tile == 1 && self.ops.iter().all(plain) {
            rows.tile = count(SHORT_ROWS);
        }
    }
    /// The elements of a transposition tile along each axis, by the rule of the plan.
    fn narrow_tile(
        &self,
        loops: &[LoopAxis],
        lanes_along: Option<AxisId>,
        crossed: &[AxisId],
        target: &Target,
    ) -> i64 {
        let is_cut = |a: &AxisId| crossed.contains(a) || lanes_along == Some(*a);
        let walked = loops.iter().filter(|l| l.role != Role::Tile);
        let cut = walked.filter(|l| l.axes.iter().any(is_cut)).count() as u32;
        if crossed.is_empty() {
            return count(self.narrow);
        }
        let whole = |v: Value| {
            let crosses = self.axes.stored(v).any(|a| crossed.contains(&a))
                && self.axes.stored(v).any(|a| lanes_along == Some(a));
            let kept = |a: &AxisId| {
                loops
                    .iter()
                    .any(|l| l.role == Role::Tile && l.axes.contains(a))
            };
            let mut kept = self.axes.stored(v).filter(|a| crosses && kept(a));
            let extent = |a: AxisId| self.axes.extent(a)?.as_constant()?.try_into().ok();
            kept.try_fold(1u64, |all, a| Some(all.saturating_mul(extent(a)?)))
        };
        let memory = self.memory.iter().filter_map(|&v| {
            let element = self.ir.value_kind(v).dtype()?.bytes();
            let whole = whole(v).unwrap_or(1);
            Some(Staged { element, whole })
        });
        count(staged_tile(self.narrow, cut, memory, target))
    }
    /// The axes of transpositions: some value in memory is contiguous along them and varies along the lanes too.
    fn crossed_axes(&self, lanes_along: Option<AxisId>) -> Vec<AxisId> {
        let Some(lanes) = lanes_along else {
            return Vec::new();
        };
        let varies = |v: &&Value| self.axes.stored(**v).any(|a| a == lanes);
        let memory = self.memory.iter().filter(varies);
        let windows = self.ops.iter().filter_map(|&op| self.axes.window(op));
        memory
            .filter_map(|&v| self.innermost(v))
            .chain(windows.flat_map(|window| window.crossed(lanes)))
            .filter(|&a| a != lanes)
            .collect()
    }
    /// The axis whose rows are vectorized for folds along the lanes, by the rule of the plan (`Tiles`).
    fn side_by_side(&self, lanes_along: Option<AxisId>, target: &Target) -> Option<AxisId> {
        let along = lanes_along.filter(|_| target.abilities().vectors)?;
        let is_fold =
            |op: Op| self.axes.scanned(op) == Some(along) && lambda::has_lambda(self.ir, op);
        if !self.ops.iter().any(|&op| is_fold(op)) {
            return None;
        }
        let mut grid = self.roles.iter().rev().filter(|r| r.1 == Role::Grid);
        let rows = grid.next().map(|r| r.0)?;
        let ends =
            |op: Op| self.axes.reduced(op) == [along] && self.axes.scanned(op) == Some(along);
        let step = |v: Value| {
            self.ir
                .def_op(v)
                .is_some_and(|op| self.ops.contains(&op) && is_fold(op))
        };
        let fits = |op: Op| match is_fold(op) {
            true => self
                .ir
                .results(op)
                .iter()
                .all(|v| self.axes.stored(*v).any(|a| a == rows) && !self.memory.contains(v)),
            false => ends(op) || !self.ir.operands(op).any(step),
        };
        let plain = |op: Op| {
            let mut ended = self
                .axes
                .reduced(op)
                .iter()
                .copied()
                .chain(self.axes.scanned(op));
            ended.all(|a| a == along) && self.axes.window(op).is_none()
        };
        let tiles = self.roles.iter().all(|r| r.1 != Role::Tile || r.0 == along);
        let extent = self.axes.extent(rows).map_or(0, |e| self.bindings.eval(e));
        let all = self.ops.iter().all(|&op| plain(op) && fits(op));
        (tiles && extent >= self.narrow && all).then_some(rows)
    }
    /// The lanes of a vector: as many elements of the widest type as the target's vectors hold. If lanes are counted on
    /// memory, a CPU's lanes fill a vector of the narrowest contiguous type, which then moves in whole lines. Wider
    /// types use at most two vectors.
    fn lanes(&self, lanes_along: Option<AxisId>, target: &Target) -> u64 {
        const NARROW: u64 = 2;
        let bytes = |v: &Value| self.ir.value_kind(*v).dtype().map(DType::bytes);
        let room = |bytes: Option<u64>| target.vector_bytes / bytes.unwrap_or(4).max(1);
        let along = |v: &&Value| self.axes.stored(**v).any(|a| lanes_along == Some(a));
        let lanes = match (target.lanes_by_memory, target.abilities().block_threads) {
            (0, _) => {
                let all = self.axes.values().iter();
                let all = all.filter_map(|&v| self.ir.value_kind(v).dtype());
                room(all.map(|d| d.compute().bytes()).max())
            }
            (_, true) => room(self.memory.iter().filter_map(bytes).max()),
            (_, false) => {
                let moved = || self.memory.iter().filter(along).filter_map(bytes);
                let narrowest = moved().filter(|b| *b >= NARROW).min();
                room(narrowest).min(2 * room(moved().max()))
            }
        };
        lanes.clamp(1, 32)
    }
    fn partials(&self, loops: &[LoopAxis], target: &Target) -> i64 {
        let grid = loops.iter().filter(|l| l.role == Role::Grid);
        let grid: Vec<Option<u64>> = grid.map(|l| static_value(&l.extent)).collect();
        let most = count(target.partials);
        if grid.contains(&Some(0)) {
            return 1;
        }
        let mut total = grid.into_iter();
        let total = total.try_fold(1u64, |all, n| Some(all.saturating_mul(n?)));
        total.map_or(most, |n| most.min(count(n)).max(1))
    }
}

/// The value of an extent that names nothing.
pub(super) fn static_value(expr: &ExtentExpr) -> Option<u64> {
    expr.as_constant().and_then(|n| u64::try_from(n).ok())
}

/// A figure as a length.
pub(super) fn count(figure: u64) -> i64 {
    i64::try_from(figure).unwrap_or(i64::MAX)
}

fn role_of(roles: &[(AxisId, Role)], axis: AxisId) -> Role {
    roles
        .iter()
        .find(|(a, _)| *a == axis)
        .map_or(Role::Stream, |(_, r)| *r)
}

fn rank(role: Role) -> u8 {
    match role {
        Role::Grid => 0,
        Role::Stream => 1,
        Role::Tile => 2,
    }
}
