//! Lowers the phases of a step: nests of tile loops, one for each set of loops that some effect of the phase needs.
//!
//! An *effect* is a reduction, a store of a sweep output, or keeping a value in tile memory for a later phase. All effects
//! with the same loops share a nest. Pure ops have no place of their own: each nest computes what its effects need, from
//! global memory, from resident values, or again, at the depth of the loops along which they vary.
//!
//! The innermost loop runs in vectors where every access along it is contiguous; what is left over runs one by one.

use fuser_dialects::{fusion, kernel};
use fuser_ir::def::{AxisRule, OpClass};
use fuser_ir::ir::NewOp;
use fuser_ir::{AttrKind, DType, Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::build::{Idx, Map};
use super::combine::Combine;
use super::sweep::{Flavor, Resident, SweepLowering, Unsupported};

/// Recomputing is preferred to keeping a value up to this many simple operations and loads.
const CHEAP_FLOPS: u32 = 3;
const CHEAP_LOADS: usize = 2;

/// What a nest is for.
#[derive(Clone, Debug)]
enum Effect {
    /// A sweep output is written to global memory.
    Store(Value),
    /// A value is kept for later phases.
    Keep(Value),
    /// A reduction.
    Reduce(Reduction),
}

#[derive(Clone, Debug)]
struct Reduction {
    op: Op,
    input: Value,
    combine: Combine,
    /// Loop axes with tile loops that it reduces.
    inner: Vec<usize>,
    /// First loop of the nest from which on all loops are reduced: results are carried from there. `None`: it accumulates
    /// in memory, element by element.
    carried_from: Option<usize>,
    /// Index into the accumulators where it also reduces outer loops.
    accumulator: Option<usize>,
}

struct Nest {
    /// Loop axes, outermost first.
    loops: Vec<usize>,
    effects: Vec<Effect>,
    /// Pure ops to compute, in program order.
    ops: Vec<Op>,
    /// Values to load from global memory, in order of first use.
    loads: Vec<Value>,
}

/// Values computed so far inside the loops of a nest, one map per depth.
type Scopes = Vec<FxHashMap<Value, Value>>;

impl SweepLowering<'_> {
    /// Emits all phases of the current step.
    pub fn emit_phases(&mut self) -> Result<(), Unsupported> {
        self.scalars.clear();
        self.resident.clear();
        let phases = self.flat.ops.iter().map(|(_, p)| p + 1).max().unwrap_or(0);
        for phase in 0..phases {
            self.emit_phase(phase)?;
        }
        self.store_inputs_yielded()
    }
    /// A sweep may yield a value that it did not compute; nothing to do but refuse.
    fn store_inputs_yielded(&mut self) -> Result<(), Unsupported> {
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
    fn is_internal(&self, value: Value) -> bool {
        self.ir()
            .def_op(value)
            .is_some_and(|op| self.order.contains_key(&op))
    }
    fn emit_phase(&mut self, phase: usize) -> Result<(), Unsupported> {
        for (loops, effects) in self.group_effects(phase)? {
            self.emit_effects_nest(loops, effects)?;
        }
        Ok(())
    }
    fn emit_effects_nest(
        &mut self,
        loops: Vec<usize>,
        mut effects: Vec<Effect>,
    ) -> Result<(), Unsupported> {
        let mut later = Vec::new();
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

    // --- effects ------------------------------------------------------------------------------------------------------

    fn group_effects(
        &mut self,
        phase: usize,
    ) -> Result<Vec<(Vec<usize>, Vec<Effect>)>, Unsupported> {
        let outputs = self.output_set();
        let mut groups: Vec<(Vec<usize>, Vec<Effect>)> = Vec::new();
        let mut add = |loops: Vec<usize>, effect| match groups.iter_mut().find(|g| g.0 == loops) {
            Some(group) => group.1.push(effect),
            None => groups.push((loops, vec![effect])),
        };
        for op in self.phase_ops(phase) {
            if let Some(combine) = self.fold_of(op) {
                let reduction = self.reduction(op, combine)?;
                let mut loops = self.varies(reduction.input);
                loops.extend(&reduction.inner);
                add(self.inner_loops(&loops), Effect::Reduce(reduction));
                continue;
            }
            for &value in self.ir().results(op) {
                let loops = self.inner_loops(&self.varies(value));
                if outputs.contains(&value) {
                    add(loops.clone(), Effect::Store(value));
                }
                if !loops.is_empty() && self.needed_after(value, phase) && !self.is_cheap(value) {
                    add(loops, Effect::Keep(value));
                }
            }
        }
        Ok(groups)
    }
    fn phase_ops(&self, phase: usize) -> Vec<Op> {
        self.flat
            .ops
            .iter()
            .filter(|(_, p)| *p == phase)
            .map(|(op, _)| *op)
            .collect()
    }
    fn reduction(&self, op: Op, combine: Combine) -> Result<Reduction, Unsupported> {
        let reduced = self.reduced(op)?;
        let inner = reduced
            .into_iter()
            .filter(|&l| self.spec.loops[l].has_inner())
            .collect();
        let accumulator = self.accumulators.iter().position(|a| a.op == op);
        let input = self.ir().operand(op, 0);
        Ok(Reduction {
            op,
            input,
            combine,
            inner,
            carried_from: None,
            accumulator,
        })
    }
    /// Those of `loops` that have a tile loop, in nesting order, without repeats.
    fn inner_loops(&self, loops: &[usize]) -> Vec<usize> {
        (0..self.spec.loops.len())
            .filter(|l| loops.contains(l) && self.spec.loops[*l].has_inner())
            .collect()
    }
    /// Whether an op of a later phase reads `value` (looking through pure shape ops costs nothing and is not needed: they
    /// are recomputed from it).
    fn needed_after(&self, value: Value, phase: usize) -> bool {
        let mut stack = vec![value];
        let mut seen = FxHashSet::default();
        while let Some(v) = stack.pop() {
            for user in self.ir().users(v) {
                let Some(&at) = self.order.get(&user) else {
                    continue;
                };
                if self.flat.ops[at].1 > phase {
                    return true;
                }
                if self.is_shape(user) && seen.insert(user) {
                    stack.extend(self.ir().results(user));
                }
            }
        }
        false
    }
    fn is_shape(&self, op: Op) -> bool {
        self.ir().def(op).is_some_and(|d| d.class == OpClass::Shape)
    }
    /// Whether it takes less to compute `value` again than to keep it.
    fn is_cheap(&self, value: Value) -> bool {
        let (mut flops, mut loads) = (0, FxHashSet::default());
        let mut stack = vec![value];
        let mut seen = FxHashSet::default();
        while let Some(v) = stack.pop() {
            if !seen.insert(v) || self.scalars.contains_key(&v) {
                continue;
            }
            let Some(op) = self.ir().def_op(v).filter(|op| self.order.contains_key(op)) else {
                loads.insert(v);
                continue;
            };
            if self.fold_of(op).is_some() {
                continue;
            }
            flops += self.ir().def(op).map_or(1, |d| d.flops);
            if flops > CHEAP_FLOPS || loads.len() > CHEAP_LOADS {
                return false;
            }
            stack.extend(self.ir().operands(op));
        }
        loads.len() <= CHEAP_LOADS
    }

    // --- planning a nest ----------------------------------------------------------------------------------------------

    fn plan_nest(&self, loops: Vec<usize>, effects: Vec<Effect>) -> Result<Nest, Unsupported> {
        let mut stack: Vec<Value> = effects.iter().rev().map(Effect::needs).collect();
        let (mut ops, mut loads, mut seen) = (Vec::new(), Vec::new(), FxHashSet::default());
        while let Some(value) = stack.pop() {
            if !seen.insert(value)
                || self.scalars.contains_key(&value)
                || self.resident.contains_key(&value)
            {
                continue;
            }
            let Some(op) = self
                .ir()
                .def_op(value)
                .filter(|op| self.order.contains_key(op))
            else {
                loads.push(value);
                continue;
            };
            if self.fold_of(op).is_some() {
                return self.refuse(
                    op,
                    "its result is needed in the phase that computes it",
                    "move its users to a later phase",
                );
            }
            ops.push(op);
            stack.extend(self.ir().operands(op));
        }
        ops.sort_by_key(|op| self.order[op]);
        ops.dedup();
        loads.sort();
        Ok(Nest {
            loops,
            effects,
            ops,
            loads,
        })
    }
    /// Number of loops that must be open before `value` can be computed.
    fn depth(&self, nest: &Nest, value: Value) -> usize {
        let varies = self.varies(value);
        nest.loops
            .iter()
            .rposition(|l| varies.contains(l))
            .map_or(0, |p| p + 1)
    }
    /// Lanes of the innermost loop: one where an access along it is not contiguous.
    fn nest_lanes(&self, nest: &Nest) -> Option<u64> {
        let &last = nest.loops.last()?;
        let global = nest
            .loads
            .iter()
            .copied()
            .chain(nest.effects.iter().filter_map(|e| match e {
                Effect::Store(v) => Some(*v),
                _ => None,
            }));
        let contiguous = |v: Value| !self.varies(v).contains(&last) || self.stride_is_one(v, last);
        let memory = |r: &Resident| {
            r.dims.iter().all(|d| d.0 != last) || r.dims.last().is_some_and(|d| d.0 == last)
        };
        let needed = nest
            .ops
            .iter()
            .flat_map(|&op| self.ir().operands(op))
            .chain(nest.effects.iter().map(Effect::needs));
        let resident_ok = needed.filter_map(|v| self.resident.get(&v)).all(memory);
        let accumulators_ok = nest.effects.iter().all(|e| match e {
            Effect::Reduce(r) if r.carried_from.is_none() => match r.accumulator {
                Some(a) => self.accumulators[a]
                    .dims
                    .iter()
                    .rposition(|d| d.axis == last)
                    .is_none_or(|p| p + 1 == self.accumulators[a].dims.len()),
                None => self
                    .resident
                    .get(&self.ir().result(r.op, 0))
                    .is_none_or(memory),
            },
            _ => true,
        });
        self.lanes()
            .filter(|_| global.into_iter().all(contiguous) && resident_ok && accumulators_ok)
    }

    // --- emission -----------------------------------------------------------------------------------------------------

    fn emit_nest(&mut self, mut nest: Nest) -> Result<(), Unsupported> {
        self.stage_crossing(&nest.loops, &mut nest.loads)?;
        let nest = &nest;
        self.allocate_kept(nest)?;
        let mut scopes: Scopes = Vec::new();
        self.emit_level(nest, 0, &mut scopes, &mut FxHashMap::default(), &[], None)?;
        if nest.effects.iter().any(Effect::writes_tile) {
            self.barrier();
        }
        Ok(())
    }
    fn allocate_kept(&mut self, nest: &Nest) -> Result<(), Unsupported> {
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
        let dims: Vec<(usize, Idx)> = loops.iter().map(|&l| (l, self.inner_size(l))).collect();
        let sizes: Vec<Idx> = dims.iter().map(|d| d.1).collect();
        let memory = self.k.alloc(&sizes, dtype);
        self.pending.push((
            value,
            Resident {
                memory,
                dims,
                dtype,
            },
        ));
        memory
    }
    /// Opens a reduction that accumulates in tile memory, element by element.
    fn begin_memory_reduction(&mut self, r: &Reduction) -> Result<(), Unsupported> {
        let result = self.ir().result(r.op, 0);
        let loops = self.inner_loops(&self.varies(result));
        let dtype = r.combine.accumulator(self.result_dtype(r.op));
        let memory = self.allocate_resident(result, &loops, dtype);
        let size = self.size_of(&loops);
        let identity = self.identity(r.combine, r.op);
        self.copy_loop(size, |k, at, lanes| {
            let value = k.splat(identity, lanes);
            k.store(value, memory, at);
            Ok(())
        })?;
        self.barrier();
        self.settle();
        Ok(())
    }
    fn size_of(&mut self, loops: &[usize]) -> Idx {
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
    /// Ops, loops and effects from `depth` on; the depth is bounded by the rank. Returns the carried values.
    fn emit_level(
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
        } else {
            self.emit_tile_loop(nest, depth, scopes, ivs, carried)
        };
        scopes.pop();
        if depth == 0 {
            self.settle();
        }
        result
    }
    fn emit_tile_loop(
        &mut self,
        nest: &Nest,
        depth: usize,
        scopes: &mut Scopes,
        ivs: &mut FxHashMap<usize, Idx>,
        carried: &[Value],
    ) -> Result<Vec<Value>, Unsupported> {
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
        let count = self.inner_count(axis);
        let innermost = depth + 1 == nest.loops.len();
        let lanes = if innermost {
            self.nest_lanes(nest)
        } else {
            None
        };
        let mut start = Idx::ZERO;
        if let Some(lanes) = lanes {
            let rest = self.k.rem(count, Idx::Const(lanes as i64));
            let end = self.k.sub(count, rest);
            if !end.is(0) {
                state =
                    self.emit_vector_loop(nest, depth, scopes, ivs, &inner, state, end, lanes)?;
            }
            start = end;
        }
        if start != count {
            let map = if innermost {
                self.inner_map()
            } else {
                Map::Seq
            };
            state = self.emit_scalar_loop(
                nest,
                depth,
                scopes,
                ivs,
                &inner,
                state,
                [start, count],
                map,
            )?;
        }
        self.close_reductions(nest, depth, ivs, &outer, &inner, state)
    }
    #[allow(clippy::too_many_arguments)]
    fn emit_scalar_loop(
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
        let after = self.carried_loop(
            [start, end, Idx::Const(1)],
            &inits,
            map,
            &names,
            |s, iv, args| {
                ivs.insert(axis, iv);
                s.emit_level(nest, depth + 1, scopes, ivs, args, None)
            },
        )?;
        ivs.remove(&axis);
        Ok(self.join_thread_results(inner, state, after, map))
    }
    #[allow(clippy::too_many_arguments)]
    fn emit_vector_loop(
        &mut self,
        nest: &Nest,
        depth: usize,
        scopes: &mut Scopes,
        ivs: &mut FxHashMap<usize, Idx>,
        inner: &[Reduction],
        state: Vec<Value>,
        end: Idx,
        lanes: u64,
    ) -> Result<Vec<Value>, Unsupported> {
        let map = self.inner_map();
        let axis = nest.loops[depth];
        let bounds = [Idx::ZERO, end, Idx::Const(lanes as i64)];
        if self.flavor == Flavor::Gpu {
            let names: Vec<&str> = inner.iter().map(|r| r.combine.name()).collect();
            let inits = self.loop_inits(inner, &state, map);
            let after = self.carried_loop(bounds, &inits, map, &names, |s, iv, args| {
                ivs.insert(axis, iv);
                s.emit_level(nest, depth + 1, scopes, ivs, args, Some(lanes))
            })?;
            ivs.remove(&axis);
            return Ok(self.join_thread_results(inner, state, after, map));
        }
        let mut inits = Vec::new();
        for r in inner {
            let identity = self.identity(r.combine, r.op);
            inits.push(self.k.splat(identity, Some(lanes)));
        }
        let after = self.carried_loop(bounds, &inits, map, &[], |s, iv, args| {
            ivs.insert(axis, iv);
            s.emit_level(nest, depth + 1, scopes, ivs, args, Some(lanes))
        })?;
        ivs.remove(&axis);
        let mut joined = Vec::new();
        for ((r, before), vector) in inner.iter().zip(state).zip(after) {
            let scalar = self.across_lanes(r.combine, vector);
            joined.push(r.combine.apply(&mut self.k, before, scalar));
        }
        Ok(joined)
    }
    /// A thread loop starts each thread from the identity; a sequential one goes on from the state.
    fn loop_inits(&mut self, inner: &[Reduction], state: &[Value], map: Map) -> Vec<Value> {
        if map != Map::Thread {
            return state.to_vec();
        }
        inner
            .iter()
            .map(|r| self.identity(r.combine, r.op))
            .collect()
    }
    fn join_thread_results(
        &mut self,
        inner: &[Reduction],
        state: Vec<Value>,
        after: Vec<Value>,
        map: Map,
    ) -> Vec<Value> {
        if map != Map::Thread {
            return after;
        }
        let pairs = inner.iter().zip(state.into_iter().zip(after));
        pairs
            .map(|(r, (before, got))| r.combine.apply(&mut self.k, before, got))
            .collect()
    }
    /// All lanes of a vector put together.
    fn across_lanes(&mut self, combine: Combine, vector: Value) -> Value {
        if !self.k.is_vector(vector) {
            return vector;
        }
        let dtype = self.k.ir.value_kind(vector).dtype().unwrap_or(DType::F32);
        let ty = self.k.ir.scalar(dtype);
        let kind = self.k.ir.string_attr(combine.name());
        self.k
            .value(&kernel::REDUCE, &[vector], &[("combine", kind)], ty)
    }
    /// After the loop at `depth`: results of the reductions that began there are complete for this nest.
    fn close_reductions(
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
    fn finish_reduction(
        &mut self,
        _nest: &Nest,
        depth: usize,
        r: &Reduction,
        value: Value,
        ivs: &mut FxHashMap<usize, Idx>,
    ) -> Result<(), Unsupported> {
        if let Some(at) = r.accumulator {
            return self.update_accumulator(at, value, ivs, None);
        }
        let result = self.ir().result(r.op, 0);
        let value = self.k.cast(value, self.result_dtype(r.op));
        if depth == 0 {
            self.scalars.insert(result, value);
        } else if let Some((_, resident)) = self.pending.iter().find(|(v, _)| *v == result).cloned()
        {
            let at = self.resident_index(&resident, ivs);
            self.k.store(value, resident.memory, at);
        }
        if self.output_set().contains(&result) {
            let reduced = self.reduced(r.op)?;
            self.store_output(result, value, ivs, &reduced)?;
        }
        Ok(())
    }
    pub(super) fn resident_index(
        &mut self,
        resident: &Resident,
        ivs: &FxHashMap<usize, Idx>,
    ) -> Idx {
        let mut index = Idx::ZERO;
        for (axis, size) in &resident.dims {
            index = self.k.mul(index, *size);
            index = self
                .k
                .add(index, ivs.get(axis).copied().unwrap_or(Idx::ZERO));
        }
        index
    }
    fn store_output(
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
        self.guarded(&missing, |s| {
            s.k.store(value, memory, at);
            Ok(())
        })
    }
    fn update_accumulator(
        &mut self,
        at: usize,
        value: Value,
        ivs: &FxHashMap<usize, Idx>,
        lanes: Option<u64>,
    ) -> Result<(), Unsupported> {
        let acc = self.accumulators[at].clone();
        let order = self.outer_order();
        let input = self.ir().operand(acc.op, 0);
        let reduced = self.reduced(acc.op)?;
        // Loops inside the accumulator's life along which the operand does not vary would count it again.
        let again = self.missing_loops(input, &reduced).into_iter();
        let again: Vec<usize> = again
            .filter(|l| acc.cross_grid || order.iter().position(|o| o == l) > Some(acc.start))
            .collect();
        self.guarded(&again, |s| {
            let index = s.accumulator_index(&acc.dims, ivs);
            s.update_memory(acc.memory, index, acc.combine, value, lanes);
            Ok(())
        })
    }
    fn update_memory(
        &mut self,
        memory: Value,
        at: Idx,
        combine: Combine,
        value: Value,
        lanes: Option<u64>,
    ) {
        let dtype = self.k.ir.value_kind(memory).dtype().unwrap_or(DType::F32);
        let value = self.k.cast(value, dtype);
        let value = if lanes.is_some() {
            self.k.splat(value, lanes)
        } else {
            value
        };
        let old = self.k.load(memory, at, lanes);
        let new = combine.apply(&mut self.k, old, value);
        self.k.store(new, memory, at);
    }
    fn emit_effects(
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
                        self.k.store(value, resident.memory, at);
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
    fn varies_in(&self, value: Value, nest: &Nest) -> bool {
        nest.loops
            .last()
            .is_some_and(|l| self.varies(value).contains(l))
    }
    fn carry(&mut self, r: &Reduction, old: Value, value: Value, lanes: Option<u64>) -> Value {
        let dtype = self.k.ir.value_kind(old).dtype().unwrap_or(DType::F32);
        let value = self.k.cast(value, dtype);
        let value = self.k.splat(value, lanes);
        let value = if self.k.is_vector(old) {
            value
        } else {
            self.across_lanes(r.combine, value)
        };
        r.combine.apply(&mut self.k, old, value)
    }
    fn reduce_into_memory(
        &mut self,
        nest: &Nest,
        r: &Reduction,
        value: Value,
        ivs: &FxHashMap<usize, Idx>,
        lanes: Option<u64>,
    ) -> Result<(), Unsupported> {
        let last_is_reduced = nest.loops.last().is_some_and(|l| r.inner.contains(l));
        let (value, lanes) = if last_is_reduced && lanes.is_some() {
            let dtype = r.combine.accumulator(self.result_dtype(r.op));
            let value = self.k.cast(value, dtype);
            let value = self.k.splat(value, lanes);
            (self.across_lanes(r.combine, value), None)
        } else {
            (value, lanes)
        };
        if let Some(at) = r.accumulator {
            return self.update_accumulator(at, value, ivs, lanes);
        }
        let result = self.ir().result(r.op, 0);
        let Some(resident) = self.resident.get(&result).cloned() else {
            return self.refuse(
                r.op,
                "its accumulator was not allocated",
                "report this program",
            );
        };
        let at = self.resident_index(&resident, ivs);
        self.update_memory(resident.memory, at, r.combine, value, lanes);
        Ok(())
    }

    // --- pure values --------------------------------------------------------------------------------------------------

    fn emit_pure(
        &mut self,
        nest: &Nest,
        depth: usize,
        scopes: &mut Scopes,
        ivs: &FxHashMap<usize, Idx>,
        lanes: Option<u64>,
    ) -> Result<(), Unsupported> {
        for &value in &nest.loads {
            if self.depth(nest, value) == depth {
                let loaded = self.load_global(value, ivs, lanes)?;
                self.put(value, loaded, depth, scopes);
            }
        }
        for &op in &nest.ops {
            let result = self.ir().result(op, 0);
            if self.depth(nest, result) == depth && !self.scalars.contains_key(&result) {
                let value = self.emit_op(op, scopes, ivs, lanes)?;
                self.put(result, value, depth, scopes);
            }
        }
        Ok(())
    }
    fn put(&mut self, value: Value, computed: Value, depth: usize, scopes: &mut Scopes) {
        if depth == 0 {
            self.scalars.insert(value, computed);
        } else if let Some(scope) = scopes.last_mut() {
            scope.insert(value, computed);
        }
    }
    pub(super) fn load_global(
        &mut self,
        value: Value,
        ivs: &FxHashMap<usize, Idx>,
        lanes: Option<u64>,
    ) -> Result<Value, Unsupported> {
        let Some(&memory) = self.global.get(&value) else {
            return self.refuse_sweep("a value of another sweep was not kept in memory");
        };
        let at = self.offset(value, ivs)?;
        Ok(self.k.load(memory, at, lanes))
    }
    /// A value at the current point: computed, or read from tile memory.
    fn get(
        &mut self,
        value: Value,
        scopes: &Scopes,
        ivs: &FxHashMap<usize, Idx>,
        lanes: Option<u64>,
    ) -> Result<Value, Unsupported> {
        if let Some(found) = scopes
            .iter()
            .rev()
            .find_map(|s| s.get(&value))
            .or(self.scalars.get(&value))
        {
            return Ok(*found);
        }
        let Some(resident) = self.resident.get(&value).cloned() else {
            return self.refuse_sweep("a value is used before the step computes it");
        };
        let vector = resident
            .dims
            .last()
            .is_some_and(|(axis, _)| self.is_vector_axis(*axis, ivs, lanes));
        let at = self.resident_index(&resident, ivs);
        let loaded = self.k.load(resident.memory, at, lanes.filter(|_| vector));
        let dtype = self.k.ir.value_kind(value).dtype().unwrap_or(DType::F32);
        Ok(self.k.cast(loaded, dtype))
    }
    /// Whether the lanes run along `axis`: they run along the last loop opened.
    fn is_vector_axis(&self, axis: usize, ivs: &FxHashMap<usize, Idx>, lanes: Option<u64>) -> bool {
        lanes.is_some() && ivs.keys().max() == Some(&axis)
    }
    fn emit_op(
        &mut self,
        op: Op,
        scopes: &Scopes,
        ivs: &FxHashMap<usize, Idx>,
        lanes: Option<u64>,
    ) -> Result<Value, Unsupported> {
        let Some(def) = self.ir().def(op) else {
            return self.refuse(
                op,
                "no dialect defines it",
                "only known ops can be compiled",
            );
        };
        if def.axes == AxisRule::Create {
            return self.emit_creation(op, scopes, ivs, lanes);
        }
        let mut operands = Vec::new();
        for operand in self.ir().operands(op).collect::<Vec<_>>() {
            operands.push(self.get(operand, scopes, ivs, lanes)?);
        }
        match def.class {
            OpClass::Reduction if Combine::of(self.ir(), op).is_some() => {
                Ok(self.emit_trivial_reduction(op, operands[0]))
            }
            OpClass::Shape => Ok(operands[0]),
            OpClass::Elementwise => Ok(self.emit_elementwise(op, operands)),
            _ => self.refuse(
                op,
                format!("'{}' has no code generation", def.name),
                "use the interpreter, or rewrite it in terms of other ops",
            ),
        }
    }
    /// A reduction over axes of extent 1: each element is put together with the identity, once.
    fn emit_trivial_reduction(&mut self, op: Op, operand: Value) -> Value {
        let Some(combine) = Combine::of(self.ir(), op) else {
            return operand;
        };
        let identity = self.identity(combine, op);
        let dtype = self.result_dtype(op);
        let wide = self.k.cast(operand, combine.accumulator(dtype));
        let value = combine.apply(&mut self.k, identity, wide);
        self.k.cast(value, dtype)
    }
    fn emit_elementwise(&mut self, op: Op, operands: Vec<Value>) -> Value {
        let lanes = operands.iter().find_map(|&v| self.k.lanes_of(v));
        let operands: Vec<Value> = operands
            .into_iter()
            .map(|v| self.k.splat(v, lanes))
            .collect();
        let dtype = self.result_dtype(op);
        let ty = self.k.lane_type(dtype, lanes);
        let attrs = self
            .k
            .ir
            .attrs(op)
            .iter()
            .filter(|(name, _)| !self.k.ir.str(*name).contains('.'))
            .copied()
            .collect();
        let name = self.k.ir.name_id(op);
        let loc = Some(self.k.ir.op_loc(op));
        let hint = self.k.ir.value_name_sym(self.k.ir.result(op, 0));
        let new = NewOp {
            operands: operands.into_iter().collect(),
            results: [(ty, hint)].into_iter().collect(),
            attrs,
            loc,
            ..NewOp::default()
        };
        let new = self.k.ir.create(name, new);
        self.k.ir.append_op(self.k.block, new);
        self.k.ir.result(new, 0)
    }
    fn emit_creation(
        &mut self,
        op: Op,
        scopes: &Scopes,
        ivs: &FxHashMap<usize, Idx>,
        lanes: Option<u64>,
    ) -> Result<Value, Unsupported> {
        if self.ir().is(op, &fusion::FULL) {
            let operand = self.ir().operand(op, 0);
            return self.get(operand, scopes, ivs, lanes);
        }
        if self.ir().is(op, &fusion::CONSTANT) {
            return self.emit_constant(op);
        }
        if self.ir().is(op, &fusion::IOTA) {
            return self.emit_iota(op, ivs, lanes);
        }
        if self.ir().is(op, &fusion::SIZE) {
            return self.emit_size(op);
        }
        let name = self.ir().name(op).to_string();
        self.refuse(
            op,
            format!("'{name}' has no code generation"),
            "use the interpreter",
        )
    }
    fn emit_constant(&mut self, op: Op) -> Result<Value, Unsupported> {
        let dtype = self.result_dtype(op);
        match self.k.ir.attr_of(op, "value").cloned() {
            Some(AttrKind::Float { bits, .. }) => {
                Ok(self.k.float_constant(f64::from_bits(bits), dtype))
            }
            Some(kind) if kind.as_int().is_some() => {
                let value = kind.as_int().unwrap_or(0) as i64;
                Ok(if dtype.is_float() {
                    self.k.float_constant(value as f64, dtype)
                } else {
                    self.k.int_constant(value, dtype)
                })
            }
            _ => self.refuse(
                op,
                "a constant with more than one distinct element has no code generation",
                "pass it as a program input",
            ),
        }
    }
    fn emit_size(&mut self, op: Op) -> Result<Value, Unsupported> {
        let dims = match self.ir().attr_of(op, "shape") {
            Some(AttrKind::Extents(dims)) => dims.clone(),
            _ => Vec::new(),
        };
        let mut product = Idx::Const(1);
        for dim in dims {
            let Some(expr) = self.ir().extent_as_expr(dim.extent) else {
                return self.refuse(op, "one of its extents is `?`", "name the extent, `[N]`");
            };
            let extent = self.eval(&expr)?;
            product = self.k.mul(product, extent);
        }
        Ok(self.k.index(product))
    }
    /// The index along axis `dim`, in mixed radix over the loop axes that make it up.
    fn emit_iota(
        &mut self,
        op: Op,
        ivs: &FxHashMap<usize, Idx>,
        lanes: Option<u64>,
    ) -> Result<Value, Unsupported> {
        let result = self.ir().result(op, 0);
        let dim = self.ir().int_of(op, "dim").unwrap_or(0) as usize;
        let Some(list) = self.axes.value(result).get(dim).map(|d| d.axes.to_vec()) else {
            return self.refuse(op, "its axis does not exist", "choose an axis of the shape");
        };
        let mut index = Idx::ZERO;
        let mut vector = false;
        for axis in list {
            let Some(at) = self
                .spec
                .loop_of(axis)
                .filter(|&l| self.spec.loops[l].axes.len() == 1)
            else {
                return self.refuse(
                    op,
                    "its axis is walked together with another one",
                    "walk it as a loop of its own",
                );
            };
            let inner = ivs.get(&at).copied().unwrap_or(Idx::ZERO);
            let here = self.k.add(self.base[at], inner);
            let extent = self.extent[at];
            index = self.k.mul(index, extent);
            index = self.k.add(index, here);
            vector = self.is_vector_axis(at, ivs, lanes);
        }
        let dtype = self.result_dtype(op);
        let scalar = self.k.index(index);
        let value = match lanes.filter(|_| vector) {
            Some(n) => {
                let ty = self.k.ir.vector(n, DType::Index);
                let lane = self.k.value(&kernel::IOTA, &[], &[], ty);
                self.k.binary(&fusion::ADD, lane, scalar)
            }
            None => scalar,
        };
        Ok(self.k.cast(value, dtype))
    }
}

impl Effect {
    /// The value that the effect consumes.
    fn needs(&self) -> Value {
        match self {
            Effect::Store(v) | Effect::Keep(v) => *v,
            Effect::Reduce(r) => r.input,
        }
    }
    fn writes_tile(&self) -> bool {
        !matches!(self, Effect::Store(_))
    }
}

impl Nest {
    /// The reductions carried through the loop at `depth - 1`, in the order of the effects.
    fn carried_before(&self, depth: usize) -> impl Iterator<Item = &Reduction> {
        self.effects.iter().filter_map(move |e| match e {
            Effect::Reduce(r) if r.carried_from.is_some_and(|from| from < depth) => Some(r),
            _ => None,
        })
    }
}

/// The loop of the nest from which on every loop is reduced, if the reduced loops are the innermost ones.
fn carried_from(loops: &[usize], reduced: &[usize]) -> Option<usize> {
    if reduced.is_empty() {
        return None;
    }
    let from = loops.iter().position(|l| reduced.contains(l))?;
    loops[from..]
        .iter()
        .all(|l| reduced.contains(l))
        .then_some(from)
}
