//! The spreading of a walk over the blocks and threads of a GPU: enough blocks for its multiprocessors, and threads that all have
//! work.
//!
//! A walk whose sums go along a streamed axis has as many blocks as the axes that it keeps allow. Where these are fewer than there
//! are multiprocessors, the summed axis is spread too, if what each block keeps of the result is small; else the tiles of the kept
//! axes become narrower. A share of a spread sum is one tile, so that its threads put their sums together once.

use fuser_target::Target;

use super::loops::{Draft, count, static_value};
use crate::spec::{LoopAxis, Role};

/// Most elements of a result that every block keeps a part of.
const MOST_KEPT: u64 = 1024;
/// Vectors of a row that each thread takes, where the row is long enough: as many loads are under way.
const VECTORS: u64 = 4;
/// Threads below which a block has a thread for each vector.
const FEW_THREADS: u64 = 128;
const WARP: u64 = fuser_dialects::kernel::WARP as u64;
/// Warps of a block that share the rows of a sum of columns.
const WARPS: u64 = 8;
/// Rows that each of them has at least.
const ROWS: u64 = 8;

impl Draft<'_> {
    /// Changes roles and tiles, the lanes' loop last among them, for the blocks of a GPU.
    pub(super) fn spread(&self, loops: &mut [LoopAxis], vector: u64, target: &Target) {
        if target.is_gpu() {
            let whole = |l: &&mut LoopAxis| {
                let extent = static_value(&l.extent);
                l.role == Role::Stream && extent.is_some_and(|n| n <= l.tile.unsigned_abs())
            };
            // One step is no stream: what it reduces is complete there.
            for one_step in loops.iter_mut().rev().take(1).filter(whole) {
                one_step.role = Role::Tile;
            }
        }
        if !target.is_gpu() || !self.sums_leave() {
            return;
        }
        let columns = self.columns(loops, vector);
        let cut = |l: &LoopAxis| l.role == Role::Tile || l.tile == count(target.tile);
        if let Some((last, tile)) = loops.last_mut().filter(|l| cut(l)).zip(columns) {
            (last.role, last.tile) = (Role::Grid, tile);
            // With a warp of a block for each of so many tiles, or few rows, none needs a share of these.
            let most = 2 * target.workers * WARPS;
            if self.blocks(loops) < most && self.rows(loops) >= 2 * ROWS {
                let streams = loops.iter_mut().filter(|l| l.role == Role::Stream);
                streams.for_each(|l| l.role = Role::Grid);
            }
            return;
        }
        if loops.iter().any(|l| l.role == Role::Tile) {
            return;
        }
        if self.blocks(loops) < target.workers && self.keeps_little(loops) {
            for stream in loops.iter_mut().filter(|l| l.role == Role::Stream) {
                stream.role = Role::Grid;
            }
        }
        let streams = loops.iter().any(|l| l.role == Role::Stream);
        let Some((last, others)) = loops.split_last_mut() else {
            return;
        };
        let summed = last.axes.iter().any(|&axis| self.is_reduced(axis));
        if last.role != Role::Grid || last.tile != count(target.tile) {
            return;
        }
        let around = self.blocks(others);
        if summed && let Some(extent) = static_value(&last.extent) {
            let shares = (target.partials / around.max(1)).max(1);
            let share = extent.div_ceil(shares).next_multiple_of(vector * WARP);
            last.tile = last.tile.max(count(share));
        }
        let extent = self.bindings.eval(&last.extent);
        let blocks = |tile: i64| around.saturating_mul(extent.div_ceil(tile.unsigned_abs().max(1)));
        while !summed
            && streams
            && blocks(last.tile) < 2 * target.workers
            && last.tile.unsigned_abs() > vector * WARP
        {
            last.tile /= 2;
        }
    }
    /// The threads of a block: one for each vector of the tile or row that they share, a quarter of that where these are many.
    pub(super) fn threads(&self, loops: &[LoopAxis], vector: u64, target: &Target) -> i64 {
        if target.threads < 2 {
            return count(target.threads);
        }
        // Loops over narrow tiles are spread as one.
        let last = loops.len().saturating_sub(1);
        let inner = loops.iter().enumerate().filter(|(n, l)| {
            let narrow = l.role != Role::Tile && l.tile > 1;
            *n == last && l.has_inner() || narrow
        });
        let inner = inner.map(|(_, l)| l);
        let size = |l: &LoopAxis| match (l.role, static_value(&l.extent)) {
            (Role::Tile, extent) => extent,
            (_, Some(extent)) => Some(extent.min(l.tile.unsigned_abs())),
            (_, None) => Some(l.tile.unsigned_abs()),
        };
        let sizes: Option<Vec<u64>> = inner.map(size).collect();
        let Some(sizes) = sizes else {
            return count(target.threads);
        };
        let elements = sizes.into_iter().fold(1u64, u64::saturating_mul);
        let vectors = elements.div_ceil(vector);
        let wanted = vectors.div_ceil(VECTORS).max(vectors.min(FEW_THREADS));
        let most = target.block_threads.min(1 << 10);
        count(wanted.min(most).next_power_of_two().clamp(WARP, most))
    }
    /// Groups of the threads of a block, and all of these: rows of no more vectors than a warp has threads share a block.
    pub(super) fn thread_groups(
        &self,
        loops: &[LoopAxis],
        threads: i64,
        vector: u64,
        target: &Target,
    ) -> (i64, i64) {
        let columns = loops
            .last()
            .filter(|_| target.is_gpu() && self.sums_leave());
        let columns = columns.filter(|l| self.columns(loops, vector) == Some(l.tile));
        if let Some(columns) = columns {
            let size = columns
                .tile
                .unsigned_abs()
                .div_ceil(vector)
                .next_power_of_two();
            // Warps with few rows have more to put together than to add.
            let least = 2 * target.workers * ROWS;
            let all: Vec<LoopAxis> = loops.iter().cloned().map(in_grid).collect();
            let enough = |warps: &u64| self.blocks(&all) * size >= least * warps * WARP;
            let halves = std::iter::successors(Some(WARPS), |warps| Some(warps / 2));
            let warps = halves
                .take_while(|&warps| warps > 1)
                .find(enough)
                .unwrap_or(1);
            return (count(warps * WARP / size), count(warps * WARP));
        }
        let row = loops.split_last().filter(|(last, rows)| {
            let plain = |l: &LoopAxis| {
                l.role == Role::Grid && l.tile == 1 && !l.axes.iter().any(|&a| self.is_reduced(a))
            };
            last.role == Role::Tile && rows.iter().all(plain) && target.is_gpu()
        });
        let length = row.and_then(|(last, _)| static_value(&last.extent));
        let size = length.map(|n| n.div_ceil(vector).max(1).next_power_of_two());
        let Some(size) = size.filter(|&size| size <= WARP) else {
            return (1, threads);
        };
        let mut all = FEW_THREADS;
        while all > WARP && self.blocks(loops).saturating_mul(size) / all < 2 * target.workers {
            all /= 2;
        }
        match all / size {
            0 | 1 => (1, threads),
            groups => (count(groups), count(all)),
        }
    }
    /// The tile of the last loop where sums keep it and go along others, of no tiles, in any order: as many whole vectors as the threads of a
    /// warp have one of, most of them. A warp then has its sums in registers.
    fn columns(&self, loops: &[LoopAxis], vector: u64) -> Option<i64> {
        let (last, rows) = loops.split_last()?;
        let summed = |l: &LoopAxis| l.axes.iter().any(|&a| self.is_reduced(a));
        let walked = |l: &LoopAxis| l.role != Role::Tile && l.tile == 1;
        let along = |op: &fuser_ir::Op| {
            let reduced = self.axes.reduced(*op);
            let mut streams = loops.iter().filter(|l| l.role == Role::Stream);
            reduced.is_empty() || streams.all(|l| l.axes.iter().all(|a| reduced.contains(a)))
        };
        let ordered = |op: &fuser_ir::Op| self.axes.scanned(*op).is_some();
        let elsewhere = |op: &fuser_ir::Op| self.axes.window(*op).is_some();
        let kept = |op: &fuser_ir::Op| {
            let stored: Vec<_> = self.axes.stored(self.ir.result(*op, 0)).collect();
            self.axes.reduced(*op).is_empty() || last.axes.iter().all(|a| stored.contains(a))
        };
        let fits = last.role != Role::Stream
            && !summed(last)
            && !self.ops.iter().any(elsewhere)
            && self.ops.iter().all(kept)
            && rows.iter().all(walked)
            && rows.iter().any(summed)
            && self.ops.iter().all(along)
            && !self.ops.iter().any(ordered);
        let vectors = static_value(&last.extent).filter(|n| fits && n % vector == 0)? / vector;
        let least = vectors.clamp(1, WARP / 2);
        let mut divisors = (least..=vectors.min(WARP)).rev();
        let threads = divisors.find(|n| vectors.is_multiple_of(*n))?;
        let groups = WARP / threads.next_power_of_two();
        (self.rows(rows) >= ROWS * groups).then_some(count(threads * vector))
    }
    /// Steps along the loops that are summed.
    fn rows(&self, loops: &[LoopAxis]) -> u64 {
        let summed = |l: &&LoopAxis| l.axes.iter().any(|&a| self.is_reduced(a));
        let rows = loops.iter().filter(summed);
        let rows = rows.map(|l| self.bindings.eval(&l.extent));
        rows.fold(1, u64::saturating_mul)
    }
    /// Shares of the grid loops along which no sum varies: as many as there are blocks for each index of the others, but none without a
    /// step.
    pub(super) fn shares(
        &self,
        loops: &[LoopAxis],
        groups: u64,
        vector: u64,
        target: &Target,
    ) -> i64 {
        let grid = |l: &&LoopAxis| l.role == Role::Grid;
        let crosses = |op: &fuser_ir::Op| {
            let reduced = self.axes.reduced(*op);
            let mut loops = loops.iter().filter(grid);
            loops.any(|l| l.axes.iter().any(|a| reduced.contains(a)))
        };
        let sums: Vec<fuser_ir::Op> = self.ops.iter().copied().filter(crosses).collect();
        let varies = |l: &&LoopAxis| {
            let results = sums.iter().flat_map(|&op| self.ir.results(op));
            let mut axes = results.flat_map(|&v| self.axes.stored(v));
            axes.any(|a| l.axes.contains(&a))
        };
        let grid = loops.iter().filter(grid).cloned();
        let (own, shared): (Vec<LoopAxis>, Vec<LoopAxis>) = grid.partition(|l| varies(&l));
        let workers = target.partials.saturating_mul(groups);
        let most = (workers / self.blocks(&own).max(1)).max(1);
        let known = shared.iter().all(|l| static_value(&l.extent).is_some());
        let steps = match known {
            true if self.columns(loops, vector).is_some() => self.blocks(&shared) / ROWS,
            true => self.blocks(&shared),
            false => most,
        };
        count(steps.clamp(1, most).next_multiple_of(groups))
    }
    /// Steps of the grid.
    fn blocks(&self, loops: &[LoopAxis]) -> u64 {
        let grid = loops.iter().filter(|l| l.role == Role::Grid);
        let steps = grid.map(|l| {
            let extent = self.bindings.eval(&l.extent);
            extent.div_ceil(l.tile.unsigned_abs().max(1))
        });
        steps.fold(1, u64::saturating_mul)
    }
    /// True if no op of the walk reads what another one reduces.
    fn sums_leave(&self) -> bool {
        let reduces = |op: &&fuser_ir::Op| !self.axes.reduced(**op).is_empty();
        let results = |op: &fuser_ir::Op| self.ir.results(*op).to_vec();
        let sums: Vec<fuser_ir::Value> =
            self.ops.iter().filter(reduces).flat_map(results).collect();
        let mut read = self.ops.iter().flat_map(|&op| self.ir.operands(op));
        !read.any(|value| sums.contains(&value))
    }
    /// True if there is one streamed loop, every reduction goes along it, and their results are few elements.
    fn keeps_little(&self, loops: &[LoopAxis]) -> bool {
        let mut streams = loops.iter().filter(|l| l.role == Role::Stream);
        let (Some(stream), None) = (streams.next(), streams.next()) else {
            return false;
        };
        let scanned = self.ops.iter().any(|&op| self.axes.scanned(op).is_some());
        let mut sums = self
            .ops
            .iter()
            .filter(|&&op| !self.axes.reduced(op).is_empty());
        let few = |op: &fuser_ir::Op| {
            let reduced = self.axes.reduced(*op);
            let along = stream.axes.iter().all(|a| reduced.contains(a));
            let kept = self
                .axes
                .stored(self.ir.result(*op, 0))
                .try_fold(1u64, |n, axis| {
                    n.checked_mul(static_value(self.axes.extent(axis)?)?)
                });
            along && kept.is_some_and(|n| n <= MOST_KEPT)
        };
        !scanned && sums.all(few) && self.ops.iter().any(|&op| !self.axes.reduced(op).is_empty())
    }
}

/// A streamed loop as one of the grid.
fn in_grid(mut walked: LoopAxis) -> LoopAxis {
    if walked.role == Role::Stream {
        walked.role = Role::Grid;
    }
    walked
}
