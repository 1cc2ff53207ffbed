//! Long sums in blocks: a sum of n floats adds blocks of about sqrt(n), then the results of the blocks.
//!
//! ```text
//! for i in 0..n                for b in 0..n step 512
//!   sum += x[i]           =>     for i in b..min(b + 512, n)
//!                                  sum += x[i]
//!                                total += sum ; sum = 0
//!                              sum = total
//! ```
//!
//! The totals are local memory, apart from the tile: the end of a block alone touches them, once in 64 steps or more.
//!
//! The rounding error of a sum grows with its additions in sequence: 2 sqrt(n) instead of n. Running sums are in
//! registers, in memory of a step, or in accumulators. Loops of a GPU stay unchanged, since threads share them.

use fuser_ir::types::MemSpace;
use fuser_ir::{DType, Op, Value};

use super::build::{Idx, Map};
use super::combine::Combine;
use super::effects::{Nest, Reduction};
use super::jam::MAX_ROWS;
use super::sweep::{Accumulator, SweepLowering, Unsupported};

/// Additions in sequence up to which a sum stays one block.
const LONGEST: i64 = 256;
/// Additions of a block where their number is known when the kernel runs.
const USUAL: i64 = 512;
/// The least number of additions of a block: the end of a block costs little beside it.
const LEAST: i64 = 64;

/// A running sum in memory, and the memory for the sum of completed blocks.
pub(super) struct Running {
    op: Op,
    combine: Combine,
    memory: Value,
    total: Value,
    size: Idx,
}

/// The steps of a block in a loop of `steps`, each of which makes `inside` additions in sequence. `None` if the loop
/// is one block, or if loops inside have blocks.
fn block(steps: Idx, inside: Idx) -> Option<i64> {
    let Idx::Const(inside @ ..=LONGEST) = inside else {
        return None;
    };
    let inside = inside.max(1);
    let additions = match steps {
        Idx::Const(steps) => steps.saturating_mul(inside),
        Idx::Value(_) => return Some((USUAL / inside).max(1)),
    };
    let root = (additions.max(0) as u64).isqrt().next_power_of_two() as i64;
    (additions > LONGEST).then_some((root.max(LEAST) / inside).max(1))
}

impl SweepLowering<'_> {
    fn is_float_sum(&self, combine: Combine, op: Op) -> bool {
        let dtype = combine.accumulator(self.result_dtype(op));
        matches!(combine, Combine::Add) && dtype.is_float()
    }
    /// A loop over grid or stream indices, in blocks if accumulators sum along it; `most` indices at most. `position`
    /// is that of the loop among the outer loops; `None` for the loop over the grid indices of one worker.
    pub(super) fn accumulating_loop(
        &mut self,
        position: Option<usize>,
        [from, to]: [Idx; 2],
        most: Idx,
        body: impl FnOnce(&mut Self, Idx) -> Result<(), Unsupported>,
    ) -> Result<(), Unsupported> {
        let order = self.outer_order();
        let mut inside = Idx::Const(1);
        for (at, &axis) in order.iter().enumerate() {
            let tile = self.spec.loops[axis].tile;
            if at >= position.map_or(self.grid_count(), |p| p + 1) {
                let steps = self.k.ceil_div(self.extent[axis], Idx::Const(tile));
                inside = self.k.mul(inside, steps);
            }
            // Longer tiles are summed in registers.
            if tile <= MAX_ROWS {
                inside = self.k.mul(inside, Idx::Const(tile));
            }
        }
        let block = block(most, inside).filter(|_| !self.target.abilities().block_threads);
        let mut sums = Vec::new();
        for acc in self.accumulators.clone() {
            let along = match position {
                Some(at) => acc.start <= at && self.reduced(acc.op)?.contains(&order[at]),
                None => acc.cross_grid,
            };
            // All of its memory changes in each step.
            let whole = acc
                .dims
                .iter()
                .all(|d| !d.whole || self.is_one_step(d.axis));
            if block.is_some() && along && whole && self.is_float_sum(acc.combine, acc.op) {
                sums.push(self.running_accumulator(&acc));
            }
        }
        let Some(block) = block.filter(|_| !sums.is_empty()) else {
            return self.for_loop([from, to, Idx::Const(1)], Map::Seq, body);
        };
        self.begin_blocks(&sums)?;
        self.for_loop([from, to, Idx::Const(block)], Map::Seq, |s, first| {
            let end = s.k.add(first, Idx::Const(block));
            let end = s.k.min(end, to);
            s.for_loop([first, end, Idx::Const(1)], Map::Seq, body)?;
            s.end_block(&sums)
        })?;
        self.end_blocks(&sums)
    }
    /// A tile loop with the running results `inits` of the reductions `inner`, of `lanes` lanes. The loop runs in
    /// blocks if they, or sums in memory, add along it.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn summing_loop(
        &mut self,
        nest: &Nest,
        depth: usize,
        [from, to, step]: [Idx; 3],
        inits: &[Value],
        inner: &[Reduction],
        lanes: Option<u64>,
        map: Map,
        body: impl FnOnce(&mut Self, Idx, &[Value]) -> Result<Vec<Value>, Unsupported>,
    ) -> Result<Vec<Value>, Unsupported> {
        let blocked = map == Map::Seq && !self.target.abilities().block_threads;
        let count = self.k.sub(to, from);
        let steps = self.k.div(count, step);
        let wanted = |s: &Self, r: &Reduction| s.is_float_sum(r.combine, r.op);
        let registers = inner.iter().any(|r| wanted(self, r));
        let inside = self.adds_in_registers(nest, depth);
        let mut size = block(steps, inside).filter(|_| blocked && registers);
        let mut sums = Vec::new();
        if blocked && inner.is_empty() {
            let all: Vec<Reduction> = nest.reductions().cloned().collect();
            for r in all {
                let (inside, along) = self.adds_in_memory(nest, depth, &r);
                let own = block(steps, inside).filter(|_| along && wanted(self, &r));
                if own.is_some() {
                    sums.extend(self.running_resident(&r));
                    size = size.max(own);
                }
            }
        }
        let bounds = [from, to, step];
        let Some(size) = size else {
            return self.scanning_loop(nest, depth, bounds, inits, map, &[], body);
        };
        let size = self.k.mul(step, Idx::Const(size));
        self.begin_blocks(&sums)?;
        let each = || inner.iter().cycle();
        let bounds = [from, to, size];
        let after =
            self.scanning_loop(nest, depth, bounds, inits, map, &[], |s, first, before| {
                let end = s.k.add(first, size);
                let end = s.k.min(end, to);
                let mut fresh = before.to_vec();
                for (value, r) in fresh.iter_mut().zip(each()) {
                    if wanted(s, r) {
                        let identity = s.identity(r.combine, r.op);
                        *value = s.k.splat(identity, lanes);
                    }
                }
                let ends =
                    s.scanning_loop(nest, depth, [first, end, step], &fresh, map, &[], body)?;
                let mut next = Vec::new();
                for ((&before, end), r) in before.iter().zip(ends).zip(each()) {
                    next.push(match wanted(s, r) {
                        true => r.combine.apply(&mut s.k, before, end),
                        false => end,
                    });
                }
                s.end_block(&sums)?;
                Ok(next)
            })?;
        self.end_blocks(&sums)?;
        Ok(after)
    }
    /// The additions in sequence that running results in registers go through inside the loop at `depth`. A vector loop
    /// begins anew, and adds its result to theirs.
    fn adds_in_registers(&mut self, nest: &Nest, depth: usize) -> Idx {
        let vectors = usize::from(self.nest_lanes(nest).is_some());
        let end = (nest.loops.len() - vectors).max(depth + 1);
        let loops = nest.loops[depth + 1..end].iter();
        loops.fold(Idx::Const(1), |all, &axis| {
            let count = self.inner_count(axis);
            self.k.mul(all, count)
        })
    }
    /// The additions in sequence that a reduction makes inside the loop at `depth`, and whether it adds to the same
    /// memory of a step in each iteration of that loop.
    fn adds_in_memory(&mut self, nest: &Nest, depth: usize, r: &Reduction) -> (Idx, bool) {
        let (around, behind) = (&nest.loops[..depth], &nest.loops[depth + 1..]);
        let result = self.varies(self.ir().result(r.op, 0));
        let along = r.inner.contains(&nest.loops[depth])
            && r.carried_from.is_none()
            && r.accumulator.is_none()
            && !around.iter().any(|axis| result.contains(axis));
        let inside = behind.iter().filter(|axis| r.inner.contains(axis));
        let inside = inside.fold(Idx::Const(1), |all, &axis| {
            let count = self.inner_count(axis);
            self.k.mul(all, count)
        });
        (inside, along)
    }
    fn running_accumulator(&mut self, acc: &Accumulator) -> Running {
        let dtype = acc.combine.accumulator(self.result_dtype(acc.op));
        let sizes: Vec<Idx> = acc.dims.iter().map(|d| d.size).collect();
        Running {
            op: acc.op,
            combine: acc.combine,
            memory: acc.memory,
            total: self.total(&sizes, dtype),
            size: self.used_size(acc),
        }
    }
    fn running_resident(&mut self, r: &Reduction) -> Option<Running> {
        let result = self.ir().result(r.op, 0);
        let memory = self.resident.get(&result)?.memory;
        let dtype = r.combine.accumulator(self.result_dtype(r.op));
        let loops = self.inner_loops(&self.varies(result));
        let sizes: Vec<Idx> = loops.iter().map(|&l| self.inner_size(l)).collect();
        Some(Running {
            op: r.op,
            combine: r.combine,
            memory,
            total: self.total(&sizes, dtype),
            size: self.size_of(&loops),
        })
    }
    fn total(&mut self, sizes: &[Idx], dtype: DType) -> Value {
        let memory = self.k.alloc_in(MemSpace::Local, sizes, dtype);
        let name = self.k.ir.sym("totals");
        self.k.ir.set_value_name(memory, Some(name));
        memory
    }
    /// Turns each running sum into the sum of the blocks before.
    fn begin_blocks(&mut self, sums: &[Running]) -> Result<(), Unsupported> {
        for sum in sums {
            let identity = self.identity(sum.combine, sum.op);
            let (memory, total) = (sum.memory, sum.total);
            self.copy_loop(sum.size, |k, at, lanes| {
                let value = k.load(memory, at, lanes);
                k.store(value, total, at);
                let identity = k.splat(identity, lanes);
                k.store(identity, memory, at);
                Ok(())
            })?;
        }
        Ok(())
    }
    /// Adds each running sum to the sum of the blocks before, and begins another.
    fn end_block(&mut self, sums: &[Running]) -> Result<(), Unsupported> {
        for sum in sums {
            let identity = self.identity(sum.combine, sum.op);
            let (memory, total, combine) = (sum.memory, sum.total, sum.combine);
            self.copy_loop(sum.size, |k, at, lanes| {
                let before = k.load(total, at, lanes);
                let own = k.load(memory, at, lanes);
                let both = combine.apply(k, before, own);
                k.store(both, total, at);
                let identity = k.splat(identity, lanes);
                k.store(identity, memory, at);
                Ok(())
            })?;
        }
        Ok(())
    }
    fn end_blocks(&mut self, sums: &[Running]) -> Result<(), Unsupported> {
        for sum in sums {
            let (memory, total) = (sum.memory, sum.total);
            self.copy_loop(sum.size, |k, at, lanes| {
                let value = k.load(total, at, lanes);
                k.store(value, memory, at);
                Ok(())
            })?;
        }
        Ok(())
    }
}
