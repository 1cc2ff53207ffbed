//! Lowers the phases of a step: nests of tile loops, one for each set of loops that some effect of the phase needs.
//!
//! The innermost loop is vectorized where every access along it is contiguous. Its remainder is one masked vector on
//! processors with `masks`; elsewhere it runs in shorter vectors, then in single elements. `effects.rs` describes the
//! nests; `pure.rs` and `reduce.rs` emit their bodies.

use fuser_analysis::cost::padded_row;
use fuser_ir::{DType, Value};
use rustc_hash::FxHashMap;

use super::build::{Idx, Interval, Map};
use super::effects::{Effect, Nest, Reduction, carried_from};
use super::prefetch::LINE;
use super::sweep::{Resident, SweepLowering, Unsupported};

/// Values computed so far inside the loops of a nest, one map per depth.
pub(super) type Scopes = Vec<FxHashMap<Value, Value>>;

impl SweepLowering<'_> {
    /// Emits all phases of the current step.
    pub fn emit_phases(&mut self) -> Result<(), Unsupported> {
        self.begin_step();
        let phases = self.flat.ops.iter().map(|(_, p)| p + 1).max().unwrap_or(0);
        let inside = (0..phases).filter(|&p| !self.is_hoisted(p) && !self.is_after(p));
        let inside: Vec<usize> = inside.collect();
        let mut asked = self.target.abilities().block_threads;
        for (number, phase) in inside.into_iter().enumerate() {
            if number > 0 && !asked && self.stores_nothing(phase) {
                self.look_ahead();
            }
            let waits = !self.ahead.is_empty();
            self.emit_phase(phase)?;
            asked |= waits && self.ahead.is_empty();
            self.ahead.clear();
        }
        self.store_inputs_yielded()
    }
    /// Refuses a sweep that yields a value which it did not compute.
    pub(super) fn store_inputs_yielded(&mut self) -> Result<(), Unsupported> {
        let foreign = self
            .flat
            .outputs
            .iter()
            .find(|v| !self.is_internal(**v))
            .copied();
        match foreign {
            Some(_) => self.refuse_sweep("the sweep yields a value that it does not compute"),
            None => Ok(()),
        }
    }
    pub(super) fn is_internal(&self, value: Value) -> bool {
        self.ir()
            .def_op(value)
            .is_some_and(|op| self.order.contains_key(&op))
    }
    pub(super) fn emit_phase(&mut self, phase: usize) -> Result<(), Unsupported> {
        self.release(phase);
        for (loops, effects) in self.group_effects(phase)? {
            let (side, effects): (Vec<Effect>, Vec<Effect>) = effects
                .into_iter()
                .partition(|effect| self.goes_across(&loops, effect));
            if !side.is_empty() {
                let mut order = loops.clone();
                order.swap(loops.len() - 2, loops.len() - 1);
                self.emit_effects_nest(order, side)?;
            }
            let (apart, together): (Vec<Effect>, Vec<Effect>) = effects
                .into_iter()
                .partition(|effect| self.races(&loops, effect));
            for effect in apart {
                let reduced =
                    |l: &usize| matches!(&effect, Effect::Reduce(r) if r.inner.contains(l));
                let (mut order, kept): (Vec<usize>, Vec<usize>) =
                    loops.iter().partition(|&l| reduced(l));
                order.extend(kept);
                self.emit_effects_nest(order, vec![effect])?;
            }
            if !together.is_empty() {
                self.emit_effects_nest(loops, together)?;
            }
        }
        Ok(())
    }
    /// True if several threads would add to one element of memory: the shared innermost loop is reduced by a reduction
    /// in memory. A reduction with an inner loop of its own keeps its result there.
    fn races(&self, loops: &[usize], effect: &Effect) -> bool {
        let Effect::Reduce(r) = effect else {
            return false;
        };
        let innermost = loops.last().is_some_and(|last| r.inner.contains(last));
        self.target.abilities().block_threads
            && innermost
            && carried_from(loops, &r.inner).is_none()
    }
    /// Frees the memory of values that no phase from `phase` on reads, so that later values can reuse it.
    fn release(&mut self, phase: usize) {
        let outside = &self.outside;
        let over = |value: &Value| {
            let last = self.last_read(*value);
            last.is_none_or(|last| last < phase) && !outside.keeps(*value)
        };
        let mut values: Vec<Value> = self.resident.keys().copied().filter(over).collect();
        values.sort_unstable();
        let memory = values.iter().filter_map(|v| self.resident.remove(v));
        self.free.extend(memory);
    }
    pub(super) fn emit_effects_nest(
        &mut self,
        loops: Vec<usize>,
        mut effects: Vec<Effect>,
    ) -> Result<(), Unsupported> {
        let mut later = Vec::new();
        let across = self.keep_crossing(&loops, &mut effects);
        for effect in &mut effects {
            if let Effect::Reduce(r) = effect {
                r.carried_from = carried_from(&loops, &r.inner);
                if r.carried_from.is_none() && r.accumulator.is_none() {
                    self.begin_memory_reduction(r)?;
                    if self.output_set().contains(&self.ir().result(r.op, 0)) {
                        later.push(Effect::Store(self.ir().result(r.op, 0)));
                    }
                }
            }
        }
        let nest = self.plan_nest(loops, effects)?;
        self.emit_nest(nest)?;
        for (value, along) in across {
            self.store_crossing(value, along)?;
        }
        for effect in later {
            let Effect::Store(value) = effect else {
                continue;
            };
            let loops = self.inner_loops(&self.varies(value));
            let nest = self.plan_nest(loops, vec![Effect::Store(value)])?;
            self.emit_nest(nest)?;
        }
        Ok(())
    }

    pub(super) fn emit_nest(&mut self, mut nest: Nest) -> Result<(), Unsupported> {
        let around = std::mem::replace(&mut self.innermost, nest.loops.last().copied());
        if !self.is_across(&nest.loops) {
            self.stage_crossing(&nest.loops, &mut nest.loads)?;
            self.stage_windows(&nest.loops, &mut nest.ops)?;
        }
        nest.scans = self.begin_scans(&nest)?;
        let nest = &nest;
        self.allocate_kept(nest)?;
        let mut scopes: Scopes = Vec::new();
        self.emit_level(nest, 0, &mut scopes, &mut FxHashMap::default(), &[], None)?;
        self.innermost = around;
        Ok(())
    }
    pub(super) fn allocate_kept(&mut self, nest: &Nest) -> Result<(), Unsupported> {
        for effect in &nest.effects {
            let (value, loops) = match effect {
                Effect::Keep(value) => (*value, nest.loops.clone()),
                Effect::Reduce(Reduction {
                    op,
                    carried_from: Some(from @ 1..),
                    accumulator: None,
                    ..
                }) => (self.ir().result(*op, 0), nest.loops[..*from].to_vec()),
                _ => continue,
            };
            let dtype = self.ir().value_kind(value).dtype().unwrap_or(DType::F32);
            self.allocate_resident(value, &loops, dtype);
        }
        Ok(())
    }
    pub(super) fn allocate_resident(
        &mut self,
        value: Value,
        loops: &[usize],
        dtype: DType,
    ) -> Value {
        let dims = loops.iter().map(|&l| (l, self.inner_size(l))).collect();
        self.allocate_dims(value, dims, dtype)
    }
    /// As [`Self::allocate_resident`], for a tile that GPU threads write along one axis and read along another. Rows
    /// are padded to an odd number of 4-byte words, so that the elements of a column lie in different banks.
    pub(super) fn allocate_padded(&mut self, value: Value, loops: &[usize], dtype: DType) -> Value {
        let mut dims: Vec<(usize, Idx)> = loops.iter().map(|&l| (l, self.inner_size(l))).collect();
        if let Some((_, Idx::Const(size))) = dims
            .last_mut()
            .filter(|_| self.target.abilities().block_threads)
        {
            *size = padded_row(size.unsigned_abs(), dtype.bytes()) as i64;
        }
        self.allocate_dims(value, dims, dtype)
    }
    pub(super) fn allocate_dims(
        &mut self,
        value: Value,
        dims: Vec<(usize, Idx)>,
        dtype: DType,
    ) -> Value {
        let sizes: Vec<Idx> = dims.iter().map(|d| d.1).collect();
        let alike =
            |r: &Resident| r.dtype == dtype && r.dims.iter().map(|d| d.1).eq(sizes.iter().copied());
        let memory = match self.free.iter().position(alike) {
            Some(at) => self.free.remove(at).memory,
            None => self.k.alloc(&sizes, dtype),
        };
        let resident = Resident {
            memory,
            dims,
            part: None,
            dtype,
        };
        if !self.taken.iter().any(|r| r.memory == memory) {
            self.taken.push(resident.clone());
        }
        self.pending.push((value, resident));
        memory
    }
    pub(super) fn size_of(&mut self, loops: &[usize]) -> Idx {
        let sizes: Vec<Idx> = loops.iter().map(|&l| self.inner_size(l)).collect();
        sizes
            .into_iter()
            .fold(Idx::Const(1), |a, b| self.k.mul(a, b))
    }
    /// Makes values that were being written available to later nests.
    pub(super) fn settle(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        self.resident.extend(pending);
    }
    /// Emits ops, loops and effects from `depth` on; the depth is bounded by the rank. Returns the carried values.
    pub(super) fn emit_level(
        &mut self,
        nest: &Nest,
        depth: usize,
        scopes: &mut Scopes,
        ivs: &mut FxHashMap<usize, Idx>,
        carried: &[Value],
        lanes: Option<u64>,
    ) -> Result<Vec<Value>, Unsupported> {
        scopes.push(FxHashMap::default());
        self.emit_pure(nest, depth, scopes, ivs, lanes)?;
        let result = if depth == nest.loops.len() {
            self.emit_effects(nest, scopes, ivs, carried, lanes)
        } else if depth == 0 && self.spreads(nest) {
            self.emit_spread(nest, scopes, ivs).map(|()| Vec::new())
        } else {
            self.emit_tile_loop(nest, depth, scopes, ivs, carried)
        };
        scopes.pop();
        if depth == 0 {
            self.settle();
        }
        result
    }
    pub(super) fn emit_tile_loop(
        &mut self,
        nest: &Nest,
        depth: usize,
        scopes: &mut Scopes,
        ivs: &mut FxHashMap<usize, Idx>,
        carried: &[Value],
    ) -> Result<Vec<Value>, Unsupported> {
        if let Some(rows) = self.jammed_rows(nest, depth) {
            return self.emit_rows(nest, depth, scopes, ivs, rows);
        }
        if depth + 2 == nest.loops.len() && self.is_across(&nest.loops) {
            self.emit_squares(nest, depth, scopes, ivs)?;
            return Ok(Vec::new());
        }
        let axis = nest.loops[depth];
        let outer: Vec<Reduction> = nest.carried_before(depth).cloned().collect();
        let inner: Vec<Reduction> = nest.carried_before(depth + 1).cloned().collect();
        // Reductions that begin here start from the identity; the others go on with what they have.
        let mut state = Vec::new();
        for r in &inner {
            state.push(match outer.iter().position(|o| o.op == r.op) {
                Some(at) => carried[at],
                None => self.identity(r.combine, r.op),
            });
        }
        let ranges = self.tile_ranges(nest, axis);
        self.load_carries(nest, depth, ivs);
        for range in &ranges {
            let bounds = self.range_inside(axis, range)?;
            state = self.within(range, ranges.len(), |s| {
                let planned = match ranges.len() {
                    1 => None,
                    _ => Some(s.plan_nest(nest.loops.clone(), nest.effects.clone())?),
                };
                let nest = planned.as_ref().unwrap_or(nest);
                s.emit_range(nest, depth, scopes, ivs, &inner, state, bounds)
            })?;
        }
        self.store_carries(nest, depth, ivs);
        self.close_reductions(nest, depth, ivs, &outer, &inner, state)
    }
    /// Emits the loops over a range of the tile loop at `depth`: a vector loop if possible, and a loop over the
    /// remainder.
    #[allow(clippy::too_many_arguments)]
    fn emit_range(
        &mut self,
        nest: &Nest,
        depth: usize,
        scopes: &mut Scopes,
        ivs: &mut FxHashMap<usize, Idx>,
        inner: &[Reduction],
        mut state: Vec<Value>,
        [from, to]: [Idx; 2],
    ) -> Result<Vec<Value>, Unsupported> {
        let axis = nest.loops[depth];
        let innermost = depth + 1 == nest.loops.len();
        let lanes = if innermost {
            self.nest_lanes(nest)
        } else {
            None
        };
        let ordered = (nest.scans.iter()).any(|scan| scan.axis == axis && !scan.shared)
            || nest
                .reductions()
                .any(|r| r.combine.is_ordered() && r.inner.contains(&axis));
        let map = if innermost && !ordered {
            self.inner_map()
        } else {
            Map::Seq
        };
        let plain = innermost && inner.is_empty() && map == Map::Seq;
        let masked = innermost && map == Map::Seq && self.is_masked(nest, lanes);
        let by_lines = match plain {
            true => self.by_lines(nest, ivs, [from, to], (lanes, masked))?,
            false => None,
        };
        let (parts, on_lines) = match (by_lines, lanes.filter(|_| masked)) {
            (Some(row), _) => (row.parts, row.stored),
            (None, Some(lanes)) => (self.k.masked_intervals(from, to, lanes), Vec::new()),
            (None, None) => (self.k.intervals(from, to, lanes, map), Vec::new()),
        };
        // What some lanes of a vector give goes on from what whole ones gave.
        for alike in parts.chunk_by(|a, b| a.some || b.some) {
            let Some(part) = alike.first() else { continue };
            if part.lanes == lanes {
                self.on_lines.clone_from(&on_lines);
            } else {
                self.on_lines.clear();
            }
            state = match part.lanes {
                Some(lanes) => self
                    .emit_vector_loop(nest, depth, scopes, ivs, inner, state, alike, lanes, map)?,
                None => {
                    let range = [part.from, part.to];
                    self.emit_scalar_loop(nest, depth, scopes, ivs, inner, state, range, map)?
                }
            };
        }
        self.on_lines.clear();
        Ok(state)
    }
    #[allow(clippy::too_many_arguments)]
    pub(super) fn emit_scalar_loop(
        &mut self,
        nest: &Nest,
        depth: usize,
        scopes: &mut Scopes,
        ivs: &mut FxHashMap<usize, Idx>,
        inner: &[Reduction],
        state: Vec<Value>,
        [start, end]: [Idx; 2],
        map: Map,
    ) -> Result<Vec<Value>, Unsupported> {
        let names: Vec<&str> = if map == Map::Thread {
            inner.iter().map(|r| r.combine.name()).collect()
        } else {
            vec![]
        };
        let inits = self.loop_inits(inner, &state, map);
        let axis = nest.loops[depth];
        let bounds = [start, end, Idx::Const(1)];
        let body = |s: &mut Self, iv, args: &[Value]| {
            ivs.insert(axis, iv);
            s.emit_level(nest, depth + 1, scopes, ivs, args, None)
        };
        let after = match map {
            Map::Seq => self.summing_loop(nest, depth, bounds, &inits, inner, None, map, body)?,
            _ => self.scanning_loop(nest, depth, bounds, &inits, map, &names, body)?,
        };
        ivs.remove(&axis);
        Ok(self.join_thread_results(inner, (state, inits), after, map))
    }
    #[allow(clippy::too_many_arguments)]
    pub(super) fn emit_vector_loop(
        &mut self,
        nest: &Nest,
        depth: usize,
        scopes: &mut Scopes,
        ivs: &mut FxHashMap<usize, Idx>,
        inner: &[Reduction],
        state: Vec<Value>,
        parts: &[Interval],
        lanes: u64,
        map: Map,
    ) -> Result<Vec<Value>, Unsupported> {
        let axis = nest.loops[depth];
        if let Some(part) = parts
            .first()
            .filter(|_| self.target.abilities().block_threads)
        {
            let bounds = part.bounds();
            let threads = inner.iter().filter(|_| map == Map::Thread);
            let names: Vec<&str> = threads.map(|r| r.combine.name()).collect();
            let inits = self.loop_inits(inner, &state, map);
            let after =
                self.scanning_loop(nest, depth, bounds, &inits, map, &names, |s, iv, args| {
                    ivs.insert(axis, iv);
                    s.emit_level(nest, depth + 1, scopes, ivs, args, Some(lanes))
                })?;
            ivs.remove(&axis);
            return Ok(self.join_thread_results(inner, (state, inits), after, map));
        }
        let mut after = Vec::new();
        for r in inner {
            let identity = self.identity(r.combine, r.op);
            after.push(self.k.splat(identity, Some(lanes)));
        }
        let full = nest.loops.len() == depth + 1 && Some(lanes) == self.lanes();
        let walks = |l: usize| nest.loops.contains(&l) || !self.spec.loops[l].has_inner();
        let mut rows = self.ahead.iter().flat_map(|&v| self.varies(v));
        let full = full && rows.all(walks);
        let ahead = if full {
            std::mem::take(&mut self.ahead)
        } else {
            Vec::new()
        };
        let mut loops = Vec::new();
        for part in parts {
            let range = [part.from, part.to];
            match part.some {
                true => loops.push((range, 1, Some(self.k.sub(part.to, part.from)))),
                false => {
                    let chained = self.chained(nest, inner, range, lanes).into_iter();
                    loops.extend(chained.map(|(from, to, chains)| ([from, to], chains, None)));
                }
            }
        }
        let on_lines = std::mem::take(&mut self.on_lines);
        for ([from, to], chains, some) in loops {
            self.some = some;
            if some.is_none() {
                self.on_lines.clone_from(&on_lines);
            }
            let inits = after.repeat(chains);
            let step = lanes as i64 * chains as i64;
            let bounds = [from, to, Idx::Const(step)];
            let ends = self.summing_loop(
                nest,
                depth,
                bounds,
                &inits,
                inner,
                Some(lanes),
                map,
                |s, iv, args| {
                    let mut next = Vec::new();
                    for chain in 0..chains {
                        let at = s.k.add(iv, Idx::Const(lanes as i64 * chain as i64));
                        ivs.insert(axis, at);
                        s.ask_ahead(&ahead, axis, ivs, lanes)?;
                        let own = &args[chain * inner.len()..][..inner.len()];
                        next.extend(s.emit_level(
                            nest,
                            depth + 1,
                            scopes,
                            ivs,
                            own,
                            Some(lanes),
                        )?);
                    }
                    Ok(next)
                },
            )?;
            after = self.join_chains(inner, ends);
            self.on_lines.clear();
        }
        self.some = None;
        ivs.remove(&axis);
        let mut joined = Vec::new();
        for ((r, before), vector) in inner.iter().zip(state).zip(after) {
            let scalar = self.across_lanes(r.combine, vector);
            joined.push(r.combine.apply(&mut self.k, before, scalar));
        }
        Ok(joined)
    }
    /// Completes the reductions that began at the loop at `depth`, after that loop.
    pub(super) fn close_reductions(
        &mut self,
        nest: &Nest,
        depth: usize,
        ivs: &mut FxHashMap<usize, Idx>,
        outer: &[Reduction],
        inner: &[Reduction],
        state: Vec<Value>,
    ) -> Result<Vec<Value>, Unsupported> {
        let mut going_on = Vec::new();
        for (r, value) in inner.iter().zip(state) {
            if outer.iter().any(|o| o.op == r.op) {
                going_on.push(value);
            } else {
                self.finish_reduction(nest, depth, r, value, ivs)?;
            }
        }
        Ok(going_on)
    }
    pub(super) fn resident_index(
        &mut self,
        resident: &Resident,
        ivs: &FxHashMap<usize, Idx>,
    ) -> Idx {
        let mut index = Idx::ZERO;
        for (axis, size) in &resident.dims {
            index = self.k.mul(index, *size);
            let mut at = ivs.get(axis).copied().unwrap_or(Idx::ZERO);
            if let Some((_, first)) = resident.part.filter(|(of, _)| of == axis) {
                at = self.k.sub(at, first);
            }
            index = self.k.add(index, at);
        }
        index
    }
    pub(super) fn store_output(
        &mut self,
        output: Value,
        value: Value,
        ivs: &FxHashMap<usize, Idx>,
        reduced: &[usize],
    ) -> Result<(), Unsupported> {
        let Some(&memory) = self.global.get(&output) else {
            return self.refuse_sweep("an output of the sweep has no memory");
        };
        let missing = self.missing_loops(output, reduced);
        let at = self.offset(output, ivs)?;
        let on_line = self.on_lines.contains(&output);
        let stride = self
            .innermost
            .and_then(|axis| self.lane_stride(output, axis));
        let stride = stride.unwrap_or(1);
        self.guarded(output, &missing, |s| {
            match on_line {
                true => s.k.store_aligned(value, memory, at, LINE),
                false if s.some.is_some() => s.store_lanes(value, memory, at),
                false => s.k.store_strided(value, memory, at, stride),
            }
            Ok(())
        })
    }
    pub(super) fn emit_effects(
        &mut self,
        nest: &Nest,
        scopes: &mut Scopes,
        ivs: &mut FxHashMap<usize, Idx>,
        carried: &[Value],
        lanes: Option<u64>,
    ) -> Result<Vec<Value>, Unsupported> {
        let mut next = Vec::new();
        let mut carried = carried.iter();
        for effect in &nest.effects {
            let value = self.get(effect.needs(), scopes, ivs, lanes)?;
            match effect {
                Effect::Store(output) => {
                    let value = if self.varies_in(*output, nest) {
                        self.k.splat(value, lanes)
                    } else {
                        value
                    };
                    self.store_output(*output, value, ivs, &[])?;
                }
                Effect::Keep(kept) => {
                    let value = self.k.splat(value, lanes);
                    if let Some((_, resident)) =
                        self.pending.iter().find(|(v, _)| v == kept).cloned()
                    {
                        let at = self.resident_index(&resident, ivs);
                        self.store_lanes(value, resident.memory, at);
                    }
                }
                Effect::Reduce(r) if r.carried_from.is_some() => {
                    let Some(&old) = carried.next() else { continue };
                    next.push(self.carry(r, old, value, lanes));
                }
                Effect::Reduce(r) => self.reduce_into_memory(nest, r, value, ivs, lanes)?,
            }
        }
        Ok(next)
    }
    pub(super) fn varies_in(&self, value: Value, nest: &Nest) -> bool {
        nest.loops
            .last()
            .is_some_and(|l| self.varies(value).contains(l))
    }
}
