//! Transposition through tile memory: operands that are contiguous along another axis than the lanes.
//!
//! Before a nest whose lanes run along `i`, an operand that is contiguous along `j` is read along `j` in vectors. It is
//! written to a tile with `i` innermost, in square blocks that a CPU transposes in registers. The nest then reads the
//! tile along `i`. Each element is read from slow memory once, contiguously. The same applies to windows with a single
//! load.
//!
//! A CPU's result that is contiguous along `j` takes the reverse path: the nest writes the tile along `i`, and square
//! blocks of it are stored along `j`.
//!
//! Never stages more than [`MAX_STAGE_BYTES`] per operand: beyond, the nest runs element by element.

use fuser_analysis::cost::MAX_STAGE_BYTES;
use fuser_dialects::fusion::lambda;
use fuser_dialects::kernel;
use fuser_ir::{DType, Op, Value};
use rustc_hash::FxHashMap;

use super::build::{Idx, Map};
use super::effects::Effect;
use super::spread::{Indices, STRIP};
use super::sweep::{Resident, SweepLowering, Unsupported};

impl SweepLowering<'_> {
    /// Stages the `loads` that cross the lanes of a nest over `loops`. They are resident afterwards and are removed
    /// from the list.
    pub fn stage_crossing(
        &mut self,
        loops: &[usize],
        loads: &mut Vec<Value>,
    ) -> Result<(), Unsupported> {
        let Some(&last) = loops.last().filter(|_| self.may_stage(loops)) else {
            return Ok(());
        };
        for value in std::mem::take(loads) {
            match self.crossing_axis(value, loops, last) {
                Some(along) => self.stage(value, loops, along)?,
                None => loads.push(value),
            }
        }
        self.settle();
        Ok(())
    }
    /// Stages the results of `ops` that are windows with a single load across the lanes. They are resident afterwards
    /// and are removed from the list.
    pub fn stage_windows(&mut self, loops: &[usize], ops: &mut Vec<Op>) -> Result<(), Unsupported> {
        let Some(&last) = loops.last().filter(|_| self.may_stage(loops)) else {
            return Ok(());
        };
        for op in std::mem::take(ops) {
            match self.window_crossing(op, loops, last) {
                Some(along) => self.stage(self.ir().result(op, 0), loops, along)?,
                None => ops.push(op),
            }
        }
        self.settle();
        Ok(())
    }
    /// Replaces stores that cross the lanes of a CPU's nest over `loops` by kept values. Returns these values, each
    /// with the loop along which it is contiguous.
    pub(super) fn keep_crossing(
        &self,
        loops: &[usize],
        effects: &mut Vec<Effect>,
    ) -> Vec<(Value, usize)> {
        let plain =
            self.target.abilities().vectors && !self.is_across(loops) && self.may_stage(loops);
        let Some(&last) = loops.last().filter(|_| plain) else {
            return Vec::new();
        };
        let mut across = Vec::new();
        effects.retain(|effect| {
            let along = match effect {
                Effect::Store(value) if !self.is_of_lambda(*value) => self
                    .crossing_axis(*value, loops, last)
                    .map(|along| (*value, along)),
                _ => None,
            };
            across.extend(along);
            along.is_none()
        });
        for &(value, _) in &across {
            let is_kept = |e: &Effect| matches!(e, Effect::Keep(kept) if *kept == value);
            if !effects.iter().any(is_kept) {
                effects.push(Effect::Keep(value));
            }
        }
        across
    }
    /// True if a lambda computes the value. Lambdas take one element at a time in any case.
    fn is_of_lambda(&self, value: Value) -> bool {
        let by = self.ir().def_op(value);
        by.is_some_and(|op| lambda::has_lambda(self.ir(), op))
    }
    /// Stores a kept value along the loop along which it is contiguous.
    pub(super) fn store_crossing(&mut self, value: Value, along: usize) -> Result<(), Unsupported> {
        let Some(resident) = self.resident.get(&value).cloned() else {
            return self.refuse_sweep("a value that is stored across the lanes is not kept");
        };
        let around = self.innermost.replace(along);
        let mut order: Vec<usize> = resident.dims.iter().map(|dim| dim.0).collect();
        let rows = order.pop();
        order.retain(|&axis| axis != along);
        let stored = match rows {
            Some(rows) => self.store_level(
                (value, &resident),
                &order,
                [along, rows],
                &mut Indices::default(),
            ),
            None => Ok(()),
        };
        self.innermost = around;
        stored
    }
    /// Emits loops over `outer`, and inside them the square blocks of two axes; the depth is bounded by the rank.
    fn store_level(
        &mut self,
        kept: (Value, &Resident),
        outer: &[usize],
        inner: [usize; 2],
        ivs: &mut Indices,
    ) -> Result<(), Unsupported> {
        let Some((&axis, rest)) = outer.split_first() else {
            return self.store_squares(kept, inner, ivs);
        };
        let count = self.inner_count(axis);
        self.for_loop([Idx::ZERO, count, Idx::Const(1)], Map::Seq, |s, iv| {
            ivs.insert(axis, iv);
            s.store_level(kept, rest, inner, ivs)
        })
    }
    /// Stores a tile in square blocks that are transposed in registers, and its remainder element by element.
    fn store_squares(
        &mut self,
        (value, resident): (Value, &Resident),
        [along, rows]: [usize; 2],
        ivs: &mut Indices,
    ) -> Result<(), Unsupported> {
        let side = self.square_side(resident, self.lanes()).unwrap_or(1);
        let step = Idx::Const(side);
        let [(width, right), (height, low)] = [along, rows].map(|axis| {
            let count = self.inner_count(axis);
            let rest = self.k.rem(count, step);
            (count, self.k.sub(count, rest))
        });
        if side > 1 && !low.is(0) && !right.is(0) {
            self.for_loop([Idx::ZERO, low, step], Map::Seq, |s, row| {
                s.for_loop([Idx::ZERO, right, step], Map::Seq, |s, at| {
                    let mut vectors = Vec::new();
                    ivs.insert(rows, row);
                    for n in 0..side {
                        let at = s.k.add(at, Idx::Const(n));
                        ivs.insert(along, at);
                        let from = s.resident_index(resident, ivs);
                        vectors.push(s.k.load(resident.memory, from, Some(side as u64)));
                    }
                    let types: Vec<_> = vectors.iter().map(|&v| s.k.ir.value_type(v)).collect();
                    let op = s.k.op(&kernel::TRANSPOSE_LANES, &vectors, &[], &types);
                    ivs.insert(along, at);
                    for (n, column) in s.k.ir.results(op).to_vec().into_iter().enumerate() {
                        let row = s.k.add(row, Idx::Const(n as i64));
                        ivs.insert(rows, row);
                        s.store_output(value, column, ivs, &[])?;
                    }
                    Ok(())
                })
            })?;
        }
        let squares = side > 1;
        let rest = match squares {
            true => vec![
                ([Idx::ZERO, low], [right, width]),
                ([low, height], [Idx::ZERO, width]),
            ],
            false => vec![([Idx::ZERO, height], [Idx::ZERO, width])],
        };
        for ([from, to], [first, end]) in rest {
            if from == to || first == end {
                continue;
            }
            self.for_loop([from, to, Idx::Const(1)], Map::Seq, |s, row| {
                ivs.insert(rows, row);
                s.for_loop([first, end, Idx::Const(1)], Map::Seq, |s, at| {
                    ivs.insert(along, at);
                    let from = s.resident_index(resident, ivs);
                    let element = s.k.load(resident.memory, from, None);
                    s.store_output(value, element, ivs, &[])
                })
            })?;
        }
        Ok(())
    }
    /// The loop along which the only load of a window is contiguous, if that is not the vectorized loop.
    fn window_crossing(&self, op: Op, loops: &[usize], last: usize) -> Option<usize> {
        let inner = *self.spec.loops[last].axes.last()?;
        let window = self.window(op).filter(|w| w.is_plain())?;
        let near = window.crossed(inner);
        let walks = |l: &usize| {
            self.spec.loops[*l]
                .axes
                .last()
                .is_some_and(|a| near.contains(a))
        };
        let along = loops.iter().copied().find(|l| *l != last && walks(l))?;
        self.fits(self.ir().result(op, 0), loops).then_some(along)
    }
    /// The loop along which `value` is contiguous, if it varies along the lanes without being contiguous there.
    fn crossing_axis(&self, value: Value, loops: &[usize], last: usize) -> Option<usize> {
        let varies = self.varies(value);
        if !varies.contains(&last) || self.lane_stride(value, last).is_some() {
            return None;
        }
        let along = loops
            .iter()
            .copied()
            .find(|&l| l != last && self.stride_is_one(value, l))?;
        self.fits(value, loops).then_some(along)
    }
    /// True if the part of `value` inside of `loops` is known to be within the limit for staging.
    fn fits(&self, value: Value, loops: &[usize]) -> bool {
        let dtype = self.ir().value_kind(value).dtype();
        let mut bytes = dtype.map(DType::bytes);
        for axis in self.varies(value).into_iter().filter(|l| loops.contains(l)) {
            bytes = match self.inner_size(axis) {
                Idx::Const(size) => bytes.and_then(|b| b.checked_mul(size.cast_unsigned())),
                Idx::Value(_) => None,
            };
        }
        bytes.is_some_and(|bytes| bytes <= MAX_STAGE_BYTES)
    }
    /// True if values contiguous along another axis are staged: the target has vectors, or threads that read
    /// neighboring elements. A nest known to be empty stages nothing.
    fn may_stage(&self, loops: &[usize]) -> bool {
        let empty = loops.iter().any(|&l| self.inner_size(l).is(0));
        !empty && (self.lanes().is_some() || self.target.abilities().block_threads)
    }
    fn stage(&mut self, value: Value, loops: &[usize], along: usize) -> Result<(), Unsupported> {
        let varies = self.varies(value);
        let dims: Vec<usize> = loops
            .iter()
            .copied()
            .filter(|l| varies.contains(l))
            .collect();
        let dtype = self.ir().value_kind(value).dtype().unwrap_or(DType::F32);
        self.allocate_padded(value, &dims, dtype);
        let Some((_, resident)) = self.pending.last().cloned() else {
            return Ok(());
        };
        let mut order: Vec<usize> = dims.into_iter().filter(|&l| l != along).collect();
        order.push(along);
        // Neighbours that a flip reads from their end are no vector.
        let producer = self.ir().def_op(value);
        let forward = producer.is_none_or(|op| self.is_contiguous_window(op, along));
        let lanes = self.lanes().filter(|_| forward);
        if self.is_small(&order) {
            let stage = &mut |s: &mut Self, ivs: &mut Indices, _: &[Value], lanes| {
                let at = ivs[&along];
                let loaded = s.load_along(value, ivs, along, lanes)?;
                s.stage_lanes(&resident, along, (at, loaded), lanes, ivs);
                Ok(Vec::new())
            };
            let (tile, none) = ((&order[..], STRIP, lanes), (&[][..], &[][..]));
            return (self.spread_tile(tile, &mut Indices::default(), none, stage)).map(|_| ());
        }
        self.stage_level(
            value,
            &resident,
            &order,
            0,
            lanes,
            &mut FxHashMap::default(),
        )?;
        Ok(())
    }
    /// Loops `depth..` of the staging nest; the depth is bounded by the rank.
    fn stage_level(
        &mut self,
        value: Value,
        resident: &Resident,
        order: &[usize],
        depth: usize,
        lanes: Option<u64>,
        ivs: &mut FxHashMap<usize, Idx>,
    ) -> Result<(), Unsupported> {
        let axis = order[depth];
        let count = self.inner_count(axis);
        let side = self.square_side(resident, lanes);
        let ends = |rows| resident.dims.last().is_some_and(|d| d.0 == rows);
        if let (&[rows, along], Some(side)) = (&order[depth..], side)
            && ends(rows)
        {
            return self.stage_squares(value, resident, [rows, along], side, lanes, ivs);
        }
        if depth + 1 < order.len() {
            return self.for_loop([Idx::ZERO, count, Idx::Const(1)], Map::Seq, |s, iv| {
                ivs.insert(axis, iv);
                s.stage_level(value, resident, order, depth + 1, lanes, ivs)
            });
        }
        self.stage_row(value, resident, axis, [Idx::ZERO, count], lanes, ivs)
    }
    /// Stages the elements `from..to` along loop `axis`.
    fn stage_row(
        &mut self,
        value: Value,
        resident: &Resident,
        axis: usize,
        [from, to]: [Idx; 2],
        lanes: Option<u64>,
        ivs: &mut Indices,
    ) -> Result<(), Unsupported> {
        let map = self.inner_map();
        for part in self.k.intervals(from, to, lanes, map) {
            self.for_loop(part.bounds(), map, |s, iv| {
                ivs.insert(axis, iv);
                let loaded = s.load_along(value, ivs, axis, part.lanes)?;
                s.stage_lanes(resident, axis, (iv, loaded), part.lanes, ivs);
                Ok(())
            })?;
        }
        Ok(())
    }
    /// The side of a square block that is transposed in a CPU's registers: the number of elements in a register.
    fn square_side(&self, resident: &Resident, lanes: Option<u64>) -> Option<i64> {
        let room = self.target.vector_bytes / resident.dtype.bytes().max(1);
        let side = lanes.filter(|_| self.target.abilities().vectors)?.min(room);
        (side > 1 && side.is_power_of_two()).then_some(side as i64)
    }
    /// Stages the last two loops of the nest in square blocks, and the remainder in single rows.
    fn stage_squares(
        &mut self,
        value: Value,
        resident: &Resident,
        [rows, along]: [usize; 2],
        side: i64,
        lanes: Option<u64>,
        ivs: &mut Indices,
    ) -> Result<(), Unsupported> {
        let step = Idx::Const(side);
        let [(height, low), (width, right)] = [rows, along].map(|axis| {
            let count = self.inner_count(axis);
            let rest = self.k.rem(count, step);
            (count, self.k.sub(count, rest))
        });
        if !low.is(0) && !right.is(0) {
            self.for_loop([Idx::ZERO, low, step], Map::Seq, |s, row| {
                s.for_loop([Idx::ZERO, right, step], Map::Seq, |s, at| {
                    s.stage_transposed(value, resident, [(rows, row), (along, at)], side, ivs)
                })
            })?;
        }
        let rest = [
            (Idx::ZERO, low, [right, width]),
            (low, height, [Idx::ZERO, width]),
        ];
        for (from, to, columns) in rest {
            if from == to || columns[0] == columns[1] {
                continue;
            }
            self.for_loop([from, to, Idx::Const(1)], Map::Seq, |s, row| {
                ivs.insert(rows, row);
                s.stage_row(value, resident, along, columns, lanes, ivs)
            })?;
        }
        Ok(())
    }
    /// Loads a square block of vectors along the second axis, from one index of the first axis on, and stores them
    /// transposed.
    fn stage_transposed(
        &mut self,
        value: Value,
        resident: &Resident,
        [(rows, row), (along, at)]: [(usize, Idx); 2],
        side: i64,
        ivs: &mut Indices,
    ) -> Result<(), Unsupported> {
        let mut vectors = Vec::new();
        ivs.insert(along, at);
        for n in 0..side {
            let row = self.k.add(row, Idx::Const(n));
            ivs.insert(rows, row);
            vectors.push(self.load_along(value, ivs, along, Some(side as u64))?);
        }
        let types: Vec<_> = vectors.iter().map(|&v| self.k.ir.value_type(v)).collect();
        let op = self.k.op(&kernel::TRANSPOSE_LANES, &vectors, &[], &types);
        ivs.insert(rows, row);
        for (n, column) in self.k.ir.results(op).to_vec().into_iter().enumerate() {
            let at = self.k.add(at, Idx::Const(n as i64));
            ivs.insert(along, at);
            self.store_resident(resident, ivs, column);
        }
        Ok(())
    }
    /// Loads `value`, from memory or as the result of a window, with lanes along loop `axis`.
    fn load_along(
        &mut self,
        value: Value,
        ivs: &FxHashMap<usize, Idx>,
        axis: usize,
        lanes: Option<u64>,
    ) -> Result<Value, Unsupported> {
        let window = self
            .ir()
            .def_op(value)
            .filter(|&op| self.axes.window(op).is_some());
        match window {
            Some(op) => self.emit_plain_window(op, ivs, lanes.map(|n| (axis, n))),
            None => self.load_global(value, ivs, lanes, Some(axis)),
        }
    }
    /// Writes a loaded vector to the tile lane by lane, from index `at` of `axis` on.
    pub(super) fn stage_lanes(
        &mut self,
        resident: &Resident,
        axis: usize,
        (at, loaded): (Idx, Value),
        lanes: Option<u64>,
        ivs: &mut FxHashMap<usize, Idx>,
    ) {
        let Some(lanes) = lanes else {
            return self.store_resident(resident, ivs, loaded);
        };
        for lane in 0..lanes as i64 {
            let place = self.k.add(at, Idx::Const(lane));
            ivs.insert(axis, place);
            let element = self.extract(loaded, lane);
            self.store_resident(resident, ivs, element);
        }
    }
    fn store_resident(&mut self, resident: &Resident, ivs: &FxHashMap<usize, Idx>, element: Value) {
        let at = self.resident_index(resident, ivs);
        self.k.store(element, resident.memory, at);
    }
    pub(super) fn extract(&mut self, vector: Value, lane: i64) -> Value {
        let dtype = self.k.ir.value_kind(vector).dtype().unwrap_or(DType::F32);
        let ty = self.k.ir.scalar(dtype);
        let lane = self.k.ir.int_attr(lane);
        self.k
            .value(&kernel::EXTRACT, &[vector], &[("lane", lane)], ty)
    }
}
