//! Reductions inside nests: carried through loops, combined across lanes and threads, accumulated in memory.

use fuser_dialects::kernel;
use fuser_ir::def::Computes;
use fuser_ir::{DType, Ir, Op, Value};
use rustc_hash::FxHashMap;

use super::build::{Idx, Map};
use super::combine::Combine;
use super::effects::{Nest, Reduction};
use super::sweep::{SweepLowering, Unsupported};

/// The number of independent accumulators of a short loop: about the latency of an addition in cycles, so that
/// additions overlap.
const CHAINS: usize = 4;
/// The largest loop body, in operations, whose time is bound by the latency of its sums and not by its own work.
const SHORT_BODY: u32 = 8;

impl SweepLowering<'_> {
    /// The loops over a range of vectors, each with its number of accumulators. A loop with little other work would
    /// wait for its previous sum with a single one.
    pub(super) fn chained(
        &mut self,
        nest: &Nest,
        inner: &[Reduction],
        [start, end]: [Idx; 2],
        lanes: u64,
    ) -> Vec<(Idx, Idx, usize)> {
        let deepest = |op: &&Op| self.depth(nest, self.ir().result(**op, 0)) == nest.loops.len();
        let flops = |op: &Op| self.ir().def(*op).map_or(0, |d| d.flops);
        let work: u32 = nest.ops.iter().filter(deepest).map(flops).sum();
        let mut list = Vec::new();
        let mut from = start;
        if !inner.is_empty() && work <= SHORT_BODY {
            let count = self.k.sub(end, start);
            let rest = self.k.rem(count, Idx::Const(lanes as i64 * CHAINS as i64));
            let to = self.k.sub(end, rest);
            list.push((start, to, CHAINS));
            from = to;
        }
        list.push((from, end, 1));
        list.retain(|(from, to, _)| from != to);
        list
    }
    /// Combines the accumulators of interleaved reduction chains in pairs until one is left for each reduction.
    pub(super) fn join_chains(&mut self, inner: &[Reduction], mut ends: Vec<Value>) -> Vec<Value> {
        while ends.len() > inner.len() {
            let (first, second) = ends.split_at(ends.len() / 2);
            let pairs = first.iter().zip(second).zip(inner.iter().cycle());
            let joined = pairs.map(|((&a, &b), r)| r.combine.apply(&mut self.k, a, b));
            ends = joined.collect();
        }
        ends
    }
    /// Opens a reduction that accumulates in tile memory, element by element.
    pub(super) fn begin_memory_reduction(&mut self, r: &Reduction) -> Result<(), Unsupported> {
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
        self.settle();
        Ok(())
    }
    /// The initial values of a loop. A thread loop starts each thread from a value that preserves every bit, and its
    /// result is combined with the state afterwards if that differs. A sequential loop continues from the state.
    pub(super) fn loop_inits(
        &mut self,
        inner: &[Reduction],
        state: &[Value],
        map: Map,
    ) -> Vec<Value> {
        if map != Map::Thread {
            return state.to_vec();
        }
        let dtypes: Vec<DType> = inner.iter().map(|r| self.result_dtype(r.op)).collect();
        inner
            .iter()
            .zip(dtypes)
            .map(|(r, dtype)| r.combine.start(&mut self.k, dtype))
            .collect()
    }
    pub(super) fn join_thread_results(
        &mut self,
        inner: &[Reduction],
        (state, inits): (Vec<Value>, Vec<Value>),
        after: Vec<Value>,
        map: Map,
    ) -> Vec<Value> {
        if map != Map::Thread {
            return after;
        }
        let number = |ir: &Ir, value| {
            let by = ir.made_as(value, Computes::Constant)?;
            ir.get_attr(by, "value")
        };
        let pairs = state.into_iter().zip(inits).zip(after);
        let joined = inner.iter().zip(pairs).map(|(r, ((before, init), got))| {
            let known = number(self.k.ir, before);
            if known.is_some() && known == number(self.k.ir, init) {
                return got;
            }
            r.combine.apply(&mut self.k, before, got)
        });
        joined.collect()
    }
    /// All lanes of a vector put together.
    pub(super) fn across_lanes(&mut self, combine: Combine, vector: Value) -> Value {
        if !self.k.is_vector(vector) {
            return vector;
        }
        let dtype = self.k.ir.value_kind(vector).dtype().unwrap_or(DType::F32);
        let ty = self.k.ir.scalar(dtype);
        let kind = self.k.ir.string_attr(combine.name());
        self.k
            .value(&kernel::REDUCE, &[vector], &[("combine", kind)], ty)
    }
    pub(super) fn finish_reduction(
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
    pub(super) fn update_accumulator(
        &mut self,
        at: usize,
        value: Value,
        ivs: &FxHashMap<usize, Idx>,
        lanes: Option<u64>,
    ) -> Result<(), Unsupported> {
        let again = self.added_again(at)?;
        let acc = self.accumulators[at].clone();
        self.guarded(self.ir().result(acc.op, 0), &again, |s| {
            let index = s.accumulator_index(&acc.dims, ivs);
            s.update_memory(acc.memory, index, acc.combine, value, lanes);
            Ok(())
        })
    }
    /// The loops inside the accumulator's scope along which its operand is constant. Each iteration of such a loop
    /// would add the operand again.
    fn added_again(&self, at: usize) -> Result<Vec<usize>, Unsupported> {
        let acc = &self.accumulators[at];
        let order = self.outer_order();
        let input = self.ir().operand(acc.op, 0);
        let again = self
            .missing_loops(input, &self.reduced(acc.op)?)
            .into_iter();
        let inside = |l: &usize| order.iter().position(|o| o == l) > Some(acc.start);
        Ok(again.filter(|l| acc.cross_grid || inside(l)).collect())
    }
    /// As `added_again`, of a reduction; none of one that accumulates within a step.
    pub(super) fn counted_again(&self, r: &Reduction) -> Result<Vec<usize>, Unsupported> {
        r.accumulator
            .map_or(Ok(Vec::new()), |at| self.added_again(at))
    }
    /// The memory in which a reduction accumulates, and the offset of the element at `ivs`.
    pub(super) fn sum_in_memory(
        &mut self,
        r: &Reduction,
        ivs: &FxHashMap<usize, Idx>,
    ) -> Option<(Value, Idx)> {
        if let Some(at) = r.accumulator {
            let acc = self.accumulators[at].clone();
            return Some((acc.memory, self.accumulator_index(&acc.dims, ivs)));
        }
        let resident = self.resident.get(&self.ir().result(r.op, 0)).cloned()?;
        Some((resident.memory, self.resident_index(&resident, ivs)))
    }
    pub(super) fn update_memory(
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
        let old = self.load_lanes(memory, at, lanes);
        let new = combine.apply(&mut self.k, old, value);
        self.store_lanes(new, memory, at);
    }
    pub(super) fn carry(
        &mut self,
        r: &Reduction,
        old: Value,
        value: Value,
        lanes: Option<u64>,
    ) -> Value {
        let dtype = self.k.ir.value_kind(old).dtype().unwrap_or(DType::F32);
        let value = self.k.cast(value, dtype);
        let value = self.k.splat(value, lanes);
        let value = if self.k.is_vector(old) {
            value
        } else {
            self.across_lanes(r.combine, value)
        };
        let new = r.combine.apply(&mut self.k, old, value);
        self.where_some(new, old)
    }
    pub(super) fn reduce_into_memory(
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
        let Some((memory, at)) = self.sum_in_memory(r, ivs) else {
            return self.refuse(
                r.op,
                "its accumulator was not allocated",
                "report this program",
            );
        };
        self.update_memory(memory, at, r.combine, value, lanes);
        Ok(())
    }
}
