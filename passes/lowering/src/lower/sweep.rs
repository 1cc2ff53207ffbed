//! Lowers one sweep to the body of one kernel function: outer loops, accumulators, phases.
//!
//! ```text
//! grid loop                      one iteration per worker
//!   accumulators over the grid = identity          (only where the sweep accumulates over grid axes)
//!   worker loop                  the share of grid indices of this worker
//!     stream loops               accumulators over a stream axis begin before its loop and are written after it
//!       phase 0, phase 1, ...    nests of tile loops (see `nest`)
//!   partial results of this worker are written     (a CPU's second kernel puts them together, see `launch`; a GPU's last block, see
//!                                                  `last_block`)
//! ```
//!
//! Guarantees: each sweep output is written exactly once for each element. Partial sums belong to a worker, which
//! depends on the shape alone, so the result is independent of the number of threads. Never reads a value that was not
//! loaded, computed or kept in the step. Refuses unsupported programs with a reason.

use fuser_analysis::axes::Axes;
use fuser_analysis::axes::window::Guard;
use fuser_analysis::cost::NEAR;
use fuser_ir::types::{Extent, ExtentExpr};
use fuser_ir::{DType, Ir, Op, Value};
use fuser_target::Target;
use rustc_hash::{FxHashMap, FxHashSet};

use super::build::{Idx, KernelBuilder, Map};
use super::combine::Combine;
use super::hoisted::{HoistedPhase, Outside};
use crate::spec::{Along, SweepSpec};

/// The help for clauses of a sweep that cannot be lowered.
pub const CHOOSE_ANEW: &str = "'--inline-tasks=kinds=sweep --schedule' has the clauses chosen anew";

/// The reason that a sweep cannot be lowered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsupported {
    /// The op that stands in the way.
    pub op: Op,
    /// The message.
    pub reason: String,
    /// Advice on the correction.
    pub help: String,
}

/// A sweep, flat: phases dissolved.
pub struct FlatSweep {
    /// The sweep op, for diagnostics.
    pub op: Op,
    /// Its ops in order, each with the number of its phase.
    pub ops: Vec<(Op, usize)>,
    /// Values that it yields, without repeats, in order.
    pub outputs: Vec<Value>,
    /// The `before` clause of each phase; empty for a phase inside all loops.
    pub before: Vec<Vec<String>>,
    /// True for each phase that runs after loops of the grid.
    pub after: Vec<bool>,
}

/// Memory that holds a value for the rest of the step.
#[derive(Clone, Debug)]
pub struct Resident {
    /// The memory.
    pub memory: Value,
    /// Loop axes along which it is indexed, outermost first, with their sizes.
    pub dims: Vec<(usize, Idx)>,
    /// The loop axis of which the memory holds only a part, and the first index of that part.
    pub part: Option<(usize, Idx)>,
    /// Element type in memory.
    pub dtype: DType,
}

/// An accumulator that lives across steps.
#[derive(Clone, Debug)]
pub struct Accumulator {
    /// The reduction.
    pub op: Op,
    /// The type, identity and op of its combination.
    pub combine: Combine,
    /// The position of the outermost loop that it reduces, in the order of outer loops.
    pub start: usize,
    /// True if it reduces a grid axis: the kernel then yields partial results for each worker.
    pub cross_grid: bool,
    /// The memory.
    pub memory: Value,
    /// The number of consecutive copies in memory. They are combined when the accumulator is written out.
    pub copies: i64,
    /// Kept loop axes, in the order of the result's axes.
    pub dims: Vec<AccDim>,
}

/// One axis of an accumulator.
#[derive(Clone, Copy, Debug)]
pub struct AccDim {
    /// The loop axis.
    pub axis: usize,
    /// Its length in the accumulator.
    pub size: Idx,
    /// True if the memory covers the whole axis; false if it holds only the indices of the current step.
    pub whole: bool,
}

/// The state while a sweep is lowered.
pub struct SweepLowering<'a> {
    /// Emits ops.
    pub k: KernelBuilder<'a>,
    /// Axes of the sweep.
    pub axes: &'a Axes,
    /// Its loops.
    pub spec: &'a SweepSpec,
    /// The sweep.
    pub flat: &'a FlatSweep,
    /// Target family.
    pub target: &'a Target,
    /// Global memory of inputs and outputs.
    pub global: FxHashMap<Value, Value>,
    /// Global memory of the partial results of a GPU's blocks.
    pub partials: FxHashMap<Value, Value>,
    /// The tables of non-uniform constants. A constant that is also a result has memory for the result in addition to
    /// its table.
    pub tables: FxHashMap<Value, Value>,
    /// Element offset of the partial results of the current worker, per accumulator op.
    pub partial: Idx,
    /// Current index of each outer loop.
    pub outer: Vec<Idx>,
    /// First index of the current step along each loop axis.
    pub base: Vec<Idx>,
    /// Extent of each loop axis.
    pub extent: Vec<Idx>,
    /// The innermost loop of the present nest: lanes run along it.
    pub innermost: Option<usize>,
    /// The loop axis along which the current step has several tiles, and the index of the tile.
    pub range: Option<(usize, Idx)>,
    /// Values without tile axes, computed in this step.
    pub scalars: FxHashMap<Value, Value>,
    /// The running results of the scans that an enclosing loop carries.
    pub carries: FxHashMap<Op, Vec<Value>>,
    /// Values with tile axes, kept for later phases.
    pub resident: FxHashMap<Value, Resident>,
    /// Values that the current nest writes to tile memory: readable once it is complete.
    pub pending: Vec<(Value, Resident)>,
    /// Memory of this step that nobody reads any more.
    pub free: Vec<Resident>,
    /// Accumulators over outer loops.
    pub accumulators: Vec<Accumulator>,
    /// Position of each op in the sweep.
    pub order: FxHashMap<Op, usize>,
    /// The ops that read each value at the point of the walk.
    pub users: FxHashMap<Value, Vec<Op>>,
    /// The variation of each value along each loop axis.
    pub layouts: FxHashMap<Value, Vec<Option<Along>>>,
    /// The guards of windows that are known at the point of the walk.
    pub known: Vec<(Guard, bool)>,
    /// The copies of the current code that splits of loops make.
    pub copies: usize,
    /// Tile memory that was taken so far.
    pub taken: Vec<Resident>,
    /// Phases that run before outer loops.
    pub hoisted: Vec<HoistedPhase>,
    /// Inputs that the next vector loop prefetches for the next step.
    pub ahead: Vec<Value>,
    /// Results whose stores in the current loop start at a cache-line boundary.
    pub on_lines: Vec<Value>,
    /// The number of active lanes of the masked tail vector; `None` for full vectors.
    pub some: Option<Idx>,
    /// The values that hoisted phases made: they live through the loops.
    pub outside: Outside,
}

impl<'a> SweepLowering<'a> {
    /// Emits the whole body, or nothing if all outputs are known to be empty.
    pub fn emit(&mut self) -> Result<(), Unsupported> {
        let is_empty = |value: &Value| {
            let tensor = self.ir().value_kind(*value).as_tensor();
            let mut stored = tensor
                .into_iter()
                .flat_map(|t| t.dims.iter().filter(|d| !d.broadcast));
            stored.any(|d| d.extent == Extent::Static(0))
        };
        if self.flat.outputs.iter().all(is_empty) {
            return Ok(());
        }
        self.extent = self.extents()?;
        self.outer = vec![Idx::ZERO; self.spec.loops.len()];
        self.base = vec![Idx::ZERO; self.spec.loops.len()];
        self.order = self
            .flat
            .ops
            .iter()
            .enumerate()
            .map(|(i, (op, _))| (*op, i))
            .collect();
        self.users = self.users();
        self.layouts = self.lay_out();
        self.make_tables();
        self.allocate_accumulators()?;
        self.place_hoisted()?;
        self.emit_grid()
    }
    /// A refusal at `op`.
    pub fn refuse<T>(
        &self,
        op: Op,
        reason: impl Into<String>,
        help: impl Into<String>,
    ) -> Result<T, Unsupported> {
        Err(Unsupported {
            op,
            reason: reason.into(),
            help: help.into(),
        })
    }
    /// A refusal at the sweep itself.
    pub fn refuse_sweep<T>(&self, reason: impl Into<String>) -> Result<T, Unsupported> {
        self.refuse(self.flat.op, reason, CHOOSE_ANEW)
    }
    /// The IR.
    pub fn ir(&self) -> &Ir {
        self.k.ir
    }
    pub(super) fn extents(&mut self) -> Result<Vec<Idx>, Unsupported> {
        let spec = self.spec;
        spec.loops.iter().map(|l| self.eval(&l.extent)).collect()
    }
    /// The value of an extent inside the kernel.
    pub fn eval(&mut self, expr: &ExtentExpr) -> Result<Idx, Unsupported> {
        match self.k.extent(expr) {
            Some(idx) => Ok(idx),
            None => self.refuse(
                self.flat.op,
                "an extent of the sweep is not known to the kernel",
                "name every extent that kernels depend on",
            ),
        }
    }

    // --- which loops --------------------------------------------------------------------------------------------------

    /// Loops around the steps, outermost first: grid, then stream.
    pub fn outer_order(&self) -> Vec<usize> {
        self.spec.outer()
    }
    pub(super) fn grid_count(&self) -> usize {
        self.spec.grid_count()
    }
    /// Loop axes along which `value` varies.
    pub fn varies(&self, value: Value) -> Vec<usize> {
        self.spec.varies(self.axes, value)
    }
    /// The operation by which `op` reduces axes; `None` for other ops, and for reductions of axes of extent 1 only.
    /// A reduction of axes of extent 1 works like an elementwise op.
    pub fn combine_of(&self, op: Op) -> Option<Combine> {
        Combine::of(self.ir(), op).filter(|_| !self.axes.reduced(op).is_empty())
    }
    /// Loop axes that a reduction reduces.
    pub fn reduced(&self, op: Op) -> Result<Vec<usize>, Unsupported> {
        let reduced = self.axes.reduced(op);
        let mut list = Vec::new();
        for (i, axis) in self.spec.loops.iter().enumerate() {
            let hit = axis.axes.iter().filter(|a| reduced.contains(a)).count();
            if hit == axis.axes.len() {
                list.push(i);
            } else if hit > 0 {
                return self.refuse(
                    op,
                    "axes that are walked as one loop are reduced only in part",
                    "walk them apart",
                );
            }
        }
        Ok(list)
    }

    // --- small helpers --------------------------------------------------------------------------------------------

    /// Element type of an op's first result.
    pub fn result_dtype(&self, op: Op) -> DType {
        self.ir()
            .value_kind(self.ir().result(op, 0))
            .dtype()
            .unwrap_or(DType::F32)
    }
    /// The neutral element of a reduction op, in its accumulator type.
    pub fn identity(&mut self, combine: Combine, op: Op) -> Value {
        let dtype = self.result_dtype(op);
        combine.identity(&mut self.k, dtype)
    }
    /// Runs `body` for `0..count`, vectorized and distributed over threads as far as the target supports it.
    pub fn copy_loop(
        &mut self,
        count: Idx,
        body: impl Fn(&mut KernelBuilder, Idx, Option<u64>) -> Result<(), Unsupported>,
    ) -> Result<(), Unsupported> {
        if count.is(1) {
            return body(&mut self.k, Idx::ZERO, None);
        }
        let map = self.inner_map();
        let lanes = self.lanes();
        for part in self.k.intervals(Idx::ZERO, count, lanes, map) {
            self.k.for_loop(part.bounds(), &[], map, &[], |k, iv, _| {
                body(k, Idx::Value(iv), part.lanes).map(|()| vec![])
            })?;
        }
        Ok(())
    }
    /// Lanes of vector loops, `None` where there is but one.
    pub fn lanes(&self) -> Option<u64> {
        Some(self.spec.vector).filter(|&v| v > 1)
    }
    /// The mapping of innermost tile loops to workers.
    pub fn inner_map(&self) -> Map {
        if self.target.abilities().block_threads {
            Map::Thread
        } else {
            Map::Seq
        }
    }

    // --- loops --------------------------------------------------------------------------------------------------------

    /// A loop without carried values whose body gets the whole state.
    pub fn for_loop(
        &mut self,
        bounds: [Idx; 3],
        map: Map,
        body: impl FnOnce(&mut Self, Idx) -> Result<(), Unsupported>,
    ) -> Result<(), Unsupported> {
        self.carried_loop(bounds, &[], map, &[], |s, iv, _| {
            body(s, iv).map(|()| vec![])
        })
        .map(|_| ())
    }
    /// A loop with carried values whose body gets the whole state.
    pub fn carried_loop(
        &mut self,
        bounds: [Idx; 3],
        inits: &[Value],
        map: Map,
        combine: &[&str],
        body: impl FnOnce(&mut Self, Idx, &[Value]) -> Result<Vec<Value>, Unsupported>,
    ) -> Result<Vec<Value>, Unsupported> {
        let open = self.k.open_loop(bounds, inits);
        let next = body(self, Idx::Value(open.iv), &open.args)?;
        Ok(self.k.close_loop(open, &next, map, combine))
    }
    pub(super) fn emit_grid(&mut self) -> Result<(), Unsupported> {
        let grid: Vec<usize> = self
            .outer_order()
            .into_iter()
            .take(self.grid_count())
            .collect();
        let mut total = Idx::Const(1);
        let mut steps = Vec::new();
        for &axis in &grid {
            let count = self
                .k
                .ceil_div(self.extent[axis], Idx::Const(self.spec.loops[axis].tile));
            steps.push(count);
            total = self.k.mul(total, count);
        }
        let shared = self.accumulators.iter().any(|a| a.cross_grid);
        if shared && self.target.abilities().last_block {
            return self.emit_shares(&grid);
        }
        if self.flat.after.contains(&true) {
            return self
                .refuse_sweep("a phase runs after the grid, and no last block of a GPU does");
        }
        if shared {
            return self.emit_partials(&grid, &steps, total);
        }
        if !grid.is_empty() {
            self.emit_hoisted(0)?;
        }
        if self.spec.groups > 1 {
            let groups = self.spec.groups;
            let blocks = self.k.ceil_div(total, Idx::Const(groups));
            return self.for_loop([Idx::ZERO, blocks, Idx::Const(1)], Map::Grid, |s, block| {
                let from = s.k.mul(block, Idx::Const(groups));
                let to = s.k.add(from, Idx::Const(groups));
                let to = s.k.min(to, total);
                let bounds = [from, to, Idx::Const(1)];
                s.for_loop(bounds, Map::Group(groups), |s, iv| {
                    s.decode(&grid, &steps, iv);
                    s.emit_outer(grid.len())
                })
            });
        }
        self.for_loop([Idx::ZERO, total, Idx::Const(1)], Map::Grid, |s, iv| {
            s.decode(&grid, &steps, iv);
            s.emit_outer(grid.len())
        })
    }
    pub(super) fn emit_partials(
        &mut self,
        grid: &[usize],
        steps: &[Idx],
        total: Idx,
    ) -> Result<(), Unsupported> {
        let partials = Idx::Const(self.spec.partials.max(1));
        let share = self.k.ceil_div(total, partials);
        self.for_loop(
            [Idx::ZERO, partials, Idx::Const(1)],
            Map::Grid,
            |s, worker| {
                s.partial = worker;
                s.init_accumulators(|a| a.cross_grid)?;
                s.emit_hoisted(0)?;
                if share.is(1) && total == partials {
                    s.decode(grid, steps, worker);
                    s.emit_outer(grid.len())?;
                    return s.flush_accumulators(|a| a.cross_grid);
                }
                let from = s.k.mul(worker, share);
                let end = s.k.add(from, share);
                let end = s.k.min(end, total);
                let from = s.k.min(from, end);
                s.accumulating_loop(None, [from, end], share, |s, iv| {
                    s.decode(grid, steps, iv);
                    s.emit_outer(grid.len())
                })?;
                s.flush_accumulators(|a| a.cross_grid)
            },
        )
    }
    pub(super) fn decode(&mut self, grid: &[usize], steps: &[Idx], flat: Idx) {
        let mut rest = flat;
        for (n, (&axis, &count)) in grid.iter().zip(steps).enumerate().rev() {
            let index = if n == 0 {
                rest
            } else {
                self.k.rem(rest, count)
            };
            if n > 0 {
                rest = self.k.div(rest, count);
            }
            self.set_outer(axis, index);
        }
    }
    pub(super) fn set_outer(&mut self, axis: usize, index: Idx) {
        self.outer[axis] = index;
        self.base[axis] = match self.is_one_step(axis) {
            true => Idx::ZERO,
            false => self.k.mul(index, Idx::Const(self.spec.loops[axis].tile)),
        };
    }
    /// Emits the stream loops from `position` on, then the phases; the depth is bounded by the rank.
    pub(super) fn emit_outer(&mut self, position: usize) -> Result<(), Unsupported> {
        let Some(&axis) = self.outer_order().get(position) else {
            return self.emit_step();
        };
        self.init_accumulators(|a| a.start == position && !a.cross_grid)?;
        self.emit_hoisted(position)?;
        let count = self
            .k
            .ceil_div(self.extent[axis], Idx::Const(self.spec.loops[axis].tile));
        self.accumulating_loop(Some(position), [Idx::ZERO, count], count, |s, iv| {
            s.set_outer(axis, iv);
            s.emit_outer(position + 1)
        })?;
        self.flush_accumulators(|a| a.start == position && !a.cross_grid)
    }
    /// True if a loop axis is known to fit into one step.
    pub(super) fn is_one_step(&self, axis: usize) -> bool {
        let spec = &self.spec.loops[axis];
        let one = |extent| extent <= spec.tile;
        !spec.has_outer() || matches!(self.extent[axis], Idx::Const(extent) if one(extent))
    }
    /// The number of indices of a loop axis in the current step.
    pub fn inner_count(&mut self, axis: usize) -> Idx {
        if let Some((_, count)) = self.range.filter(|(of, _)| *of == axis) {
            return count;
        }
        let spec = &self.spec.loops[axis];
        if self.is_one_step(axis) {
            return self.extent[axis];
        }
        if let Idx::Const(extent) = self.extent[axis]
            && extent % spec.tile == 0
        {
            return Idx::Const(spec.tile);
        }
        let left = self.k.sub(self.extent[axis], self.base[axis]);
        self.k.min(Idx::Const(spec.tile), left)
    }
    /// The most indices of a loop axis in one step.
    pub fn inner_size(&self, axis: usize) -> Idx {
        let spec = &self.spec.loops[axis];
        if spec.has_outer() {
            Idx::Const(spec.tile)
        } else {
            self.extent[axis]
        }
    }

    // --- addresses and guards -----------------------------------------------------------------------------------------

    fn lay_out(&self) -> FxHashMap<Value, Vec<Option<Along>>> {
        let loops = 0..self.spec.loops.len();
        let layout = |v: Value| loops.clone().map(move |l| self.spec.along(self.axes, v, l));
        let values = self.axes.values().iter();
        values.map(|&v| (v, layout(v).collect())).collect()
    }
    /// The variation of `value` along a loop axis; a value without axes is constant along all.
    pub(super) fn along(&self, value: Value, axis: usize) -> Option<&Along> {
        match self.layouts.get(&value) {
            Some(layout) => layout.get(axis)?.as_ref(),
            None => Some(&Along::Constant),
        }
    }
    /// Element offset of `value` in its own memory at tile indices `ivs`.
    pub fn offset(
        &mut self,
        value: Value,
        ivs: &FxHashMap<usize, Idx>,
    ) -> Result<Idx, Unsupported> {
        let mut sum = Idx::ZERO;
        for axis in 0..self.spec.loops.len() {
            let stride = match self.along(value, axis) {
                Some(Along::Stride(stride)) => stride.clone(),
                Some(Along::Constant) => continue,
                None => {
                    let reason = "axes that are walked as one loop are not adjacent in memory";
                    return self.refuse_sweep(reason);
                }
            };
            let stride = self.eval(&stride)?;
            let inner = ivs.get(&axis).copied().unwrap_or(Idx::ZERO);
            let index = self.k.add(self.base[axis], inner);
            let term = self.k.mul(index, stride);
            sum = self.k.add(sum, term);
        }
        Ok(sum)
    }
    /// True if neighbours of `value` along a loop axis are neighbours in memory.
    pub fn stride_is_one(&self, value: Value, axis: usize) -> bool {
        let one = ExtentExpr::constant(1);
        matches!(self.along(value, axis), Some(Along::Stride(stride)) if *stride == one)
    }
    /// The distance between neighbors of `value` along a loop axis, in elements; `None` if vectors are not accessed so.
    pub fn lane_stride(&self, value: Value, axis: usize) -> Option<i64> {
        let Some(Along::Stride(stride)) = self.along(value, axis) else {
            return None;
        };
        let most = if !self.target.abilities().vectors {
            1
        } else {
            NEAR as i64
        };
        stride.as_constant().filter(|s| (1..=most).contains(s))
    }
    /// Outer loops along which `value` does not vary, except those in `except`.
    pub fn missing_loops(&self, value: Value, except: &[usize]) -> Vec<usize> {
        let varies = self.varies(value);
        self.outer_order()
            .into_iter()
            .filter(|l| !varies.contains(l) && !except.contains(l))
            .collect()
    }
    /// Runs `body`, which computes `value`, only in the first iteration of `loops`. Refused if one of them may be
    /// empty: `value` does not vary along it and would stay uncomputed.
    pub fn guarded(
        &mut self,
        value: Value,
        loops: &[usize],
        body: impl FnOnce(&mut Self) -> Result<(), Unsupported>,
    ) -> Result<(), Unsupported> {
        let empty = |l: &&usize| {
            let extent = self.spec.loops[**l].extent.as_constant();
            extent.is_none_or(|length| length < 1)
        };
        if let (Some(&axis), Some(op)) = (loops.iter().find(empty), self.ir().def_op(value)) {
            let name = self.spec.loops[axis].name();
            return self.refuse(
                op,
                format!("it does not vary along '{name}', which may be empty: it would never be computed"),
                "compute it in a sweep without that axis",
            );
        }
        self.at_start(loops, body)
    }
    /// Runs `body` only in the first iteration of the given outer loops.
    pub(super) fn at_start(
        &mut self,
        loops: &[usize],
        body: impl FnOnce(&mut Self) -> Result<(), Unsupported>,
    ) -> Result<(), Unsupported> {
        let mut condition: Option<Value> = None;
        for &axis in loops {
            let Some(first) = self.k.equals(self.outer[axis], Idx::ZERO) else {
                continue;
            };
            condition = Some(match condition {
                Some(c) => self.k.binary(&fuser_dialects::fusion::AND, c, first),
                None => first,
            });
        }
        let Some(condition) = condition else {
            return body(self);
        };
        let open = self.k.open_if();
        body(self)?;
        self.k.close_if(open, condition);
        Ok(())
    }
    /// Values that the sweep yields.
    pub fn output_set(&self) -> FxHashSet<Value> {
        self.flat.outputs.iter().copied().collect()
    }
}
