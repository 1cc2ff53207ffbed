//! Accumulators that live across steps. A reduction over grid or stream axes adds the contribution of each step to
//! memory. That memory is set to the identity before the outermost such loop and written out after it.

use fuser_ir::{DType, Op, Value};
use rustc_hash::FxHashMap;

use super::build::{Idx, Map};
use super::sweep::{AccDim, Accumulator, SweepLowering, Unsupported};

impl SweepLowering<'_> {
    pub(super) fn allocate_accumulators(&mut self) -> Result<(), Unsupported> {
        for (op, _) in self.flat.ops.clone() {
            let Some(combine) = self.combine_of(op) else {
                continue;
            };
            let reduced = self.reduced(op)?;
            let order = self.outer_order();
            let start = order.iter().position(|axis| reduced.contains(axis));
            let Some(start) = start else { continue };
            let cross_grid = start < self.grid_count();
            let dims = self.accumulator_dims(op, &order, start, cross_grid)?;
            let sizes: Vec<Idx> = dims.iter().map(|d| d.size).collect();
            let dtype = combine.accumulator(self.result_dtype(op));
            let memory = self.k.alloc(&sizes, dtype);
            self.accumulators.push(Accumulator {
                op,
                combine,
                start,
                cross_grid,
                memory,
                copies: 1,
                dims,
            });
        }
        Ok(())
    }
    pub(super) fn accumulator_dims(
        &mut self,
        op: Op,
        order: &[usize],
        start: usize,
        cross_grid: bool,
    ) -> Result<Vec<AccDim>, Unsupported> {
        let result = self.ir().result(op, 0);
        let mut dims = Vec::new();
        for axis in self.in_value_order(result) {
            let spec = &self.spec.loops[axis];
            let position = order.iter().position(|&o| o == axis);
            let own = self.target.abilities().last_block
                && position.is_some_and(|p| p < self.grid_count());
            let behind = position.is_none_or(|p| p > start);
            let whole = if cross_grid { !own } else { behind };
            if whole {
                dims.push(AccDim {
                    axis,
                    size: self.extent[axis],
                    whole: true,
                });
            } else if spec.has_inner() {
                dims.push(AccDim {
                    axis,
                    size: Idx::Const(spec.tile),
                    whole: false,
                });
            }
        }
        Ok(dims)
    }
    /// The loop axes of `value` in storage order, since partial results are combined in storage order.
    pub(super) fn in_value_order(&self, value: Value) -> Vec<usize> {
        let mut list = Vec::new();
        for axis in self.axes.stored(value) {
            let Some(index) = self.spec.loop_of(axis) else {
                continue;
            };
            if !list.contains(&index) && self.varies(value).contains(&index) {
                list.push(index);
            }
        }
        list
    }
    /// Position in an accumulator at tile indices `ivs` (by loop axis).
    pub(super) fn accumulator_index(
        &mut self,
        dims: &[AccDim],
        ivs: &FxHashMap<usize, Idx>,
    ) -> Idx {
        let mut index = Idx::ZERO;
        for dim in dims {
            let inner = ivs.get(&dim.axis).copied().unwrap_or(Idx::ZERO);
            let at = if dim.whole {
                self.k.add(self.base[dim.axis], inner)
            } else {
                inner
            };
            index = self.k.mul(index, dim.size);
            index = self.k.add(index, at);
        }
        index
    }
    pub(super) fn init_accumulators(
        &mut self,
        wanted: impl Fn(&Accumulator) -> bool,
    ) -> Result<(), Unsupported> {
        let begun = self.accumulators_where(wanted);
        for acc in &begun {
            let identity = self.identity(acc.combine, acc.op);
            let size = self.used_size(acc);
            self.copy_loop(size, |k, at, lanes| {
                let value = k.splat(identity, lanes);
                k.store(value, acc.memory, at);
                Ok(())
            })?;
        }
        Ok(())
    }
    /// The elements of an accumulator that are in use. For a single axis this excludes elements beyond an incomplete
    /// tile, so that all loops over the accumulator have equal distributions.
    pub(super) fn used_size(&mut self, acc: &Accumulator) -> Idx {
        match acc.dims.as_slice() {
            [dim] if !dim.whole => self.inner_count(dim.axis),
            _ => self.whole_size(acc),
        }
    }
    fn whole_size(&mut self, acc: &Accumulator) -> Idx {
        let sizes = acc.dims.iter().map(|dim| dim.size);
        sizes.fold(Idx::Const(1), |all, size| self.k.mul(all, size))
    }
    /// A copy of the accumulator `acc` in shared memory for each of `copies` groups of threads.
    pub(super) fn allocate_copies(&mut self, acc: &Accumulator, copies: i64) -> Accumulator {
        let dtype = acc.combine.accumulator(self.result_dtype(acc.op));
        let sizes = acc.dims.iter().map(|dim| dim.size);
        let sizes: Vec<Idx> = sizes.chain([Idx::Const(copies)]).collect();
        Accumulator {
            memory: self.k.alloc(&sizes, dtype),
            copies,
            ..acc.clone()
        }
    }
    /// The element of the copies of an accumulator at tile indices, put together.
    pub(super) fn sum_copies(&mut self, acc: &Accumulator, ivs: &FxHashMap<usize, Idx>) -> Value {
        let at = self.accumulator_index(&acc.dims, ivs);
        let mut sum = self.k.load(acc.memory, at, None);
        let size = self.whole_size(acc);
        for copy in 1..acc.copies {
            let before = self.k.mul(size, Idx::Const(copy));
            let at = self.k.add(before, at);
            let next = self.k.load(acc.memory, at, None);
            sum = acc.combine.apply(&mut self.k, sum, next);
        }
        sum
    }
    /// Copies an accumulator to the place of this number in `to`.
    pub(super) fn copy_accumulator(
        &mut self,
        acc: &Accumulator,
        to: &Accumulator,
        number: Idx,
    ) -> Result<(), Unsupported> {
        let (size, whole) = (self.used_size(acc), self.whole_size(acc));
        let first = self.k.mul(number, whole);
        let (from, to) = (acc.memory, to.memory);
        self.copy_loop(size, |k, at, lanes| {
            let value = k.load(from, at, lanes);
            let at = k.add(first, at);
            k.store(value, to, at);
            Ok(())
        })
    }
    fn accumulators_where(&self, wanted: impl Fn(&Accumulator) -> bool) -> Vec<Accumulator> {
        let all = self.accumulators.iter();
        all.filter(|a| wanted(a)).cloned().collect()
    }
    pub(super) fn flush_accumulators(
        &mut self,
        wanted: impl Fn(&Accumulator) -> bool,
    ) -> Result<(), Unsupported> {
        let complete = self.accumulators_where(wanted);
        for acc in &complete {
            if acc.cross_grid {
                self.flush_partial(acc)?
            } else {
                self.flush_result(acc)?
            }
        }
        Ok(())
    }
    pub(super) fn flush_partial(&mut self, acc: &Accumulator) -> Result<(), Unsupported> {
        let result = self.ir().result(acc.op, 0);
        let Some(&memory) = self.global.get(&result) else {
            return Ok(());
        };
        let size = acc
            .dims
            .iter()
            .fold(Idx::Const(1), |s, d| self.k.mul(s, d.size));
        let start = self.k.mul(self.partial, size);
        self.copy_loop(size, |k, at, lanes| {
            let value = k.load(acc.memory, at, lanes);
            let to = k.add(start, at);
            k.store(value, memory, to);
            Ok(())
        })
    }
    pub(super) fn flush_result(&mut self, acc: &Accumulator) -> Result<(), Unsupported> {
        let result = self.ir().result(acc.op, 0);
        let Some(&memory) = self.global.get(&result) else {
            return Ok(());
        };
        let order = self.outer_order();
        let missing = self.missing_loops(result, &self.reduced(acc.op)?);
        let guards: Vec<usize> = missing
            .into_iter()
            .filter(|l| order.iter().position(|o| o == l) < Some(acc.start))
            .collect();
        let dtype = self.result_dtype(acc.op);
        let acc = acc.clone();
        let to = (memory, Idx::ZERO, dtype);
        self.guarded(result, &guards, |s| {
            s.flush_dims(&acc, to, &mut FxHashMap::default(), 0)
        })
    }
    /// Writes out dims `depth..` of an accumulator, one loop each, to memory from an element on, converted to a type.
    /// `depth` is bounded by the rank.
    pub(super) fn flush_dims(
        &mut self,
        acc: &Accumulator,
        to: (Value, Idx, DType),
        ivs: &mut FxHashMap<usize, Idx>,
        depth: usize,
    ) -> Result<(), Unsupported> {
        let result = self.ir().result(acc.op, 0);
        let Some(dim) = acc.dims.get(depth).copied() else {
            return self.flush_element(acc, to, ivs, None);
        };
        let count = if dim.whole {
            dim.size
        } else {
            self.inner_count(dim.axis)
        };
        let last = depth + 1 == acc.dims.len();
        let contiguous = last && self.stride_is_one(result, dim.axis);
        let saved = self.base[dim.axis];
        if dim.whole {
            self.base[dim.axis] = Idx::ZERO;
        }
        let lanes = self.lanes().filter(|_| contiguous);
        let map = if last { self.inner_map() } else { Map::Seq };
        for part in self.k.intervals(Idx::ZERO, count, lanes, map) {
            self.for_loop(part.bounds(), map, |s, iv| {
                ivs.insert(dim.axis, iv);
                if last {
                    s.flush_element(acc, to, ivs, part.lanes)
                } else {
                    s.flush_dims(acc, to, ivs, depth + 1)
                }
            })?;
        }
        self.base[dim.axis] = saved;
        Ok(())
    }
    pub(super) fn flush_element(
        &mut self,
        acc: &Accumulator,
        (memory, first, dtype): (Value, Idx, DType),
        ivs: &FxHashMap<usize, Idx>,
        lanes: Option<u64>,
    ) -> Result<(), Unsupported> {
        let at = self.accumulator_index(&acc.dims, ivs);
        let value = self.k.load(acc.memory, at, lanes);
        let value = self.k.cast(value, dtype);
        let result = self.ir().result(acc.op, 0);
        let to = self.offset(result, ivs)?;
        let to = self.k.add(first, to);
        self.k.store(value, memory, to);
        Ok(())
    }
}
