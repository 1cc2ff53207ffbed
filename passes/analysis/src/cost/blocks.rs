//! Mapping of a loop nest to the blocks and threads of a GPU: enough blocks for its multiprocessors, and work for all
//! threads.
//!
//! If a reduction goes along a streamed axis, the number of blocks is bounded by the axes that it keeps. If these are
//! fewer than the multiprocessors, the reduced axis is distributed too, provided that each block keeps little of the
//! result. Otherwise the tiles of the kept axes become narrower. A share of a distributed reduction is one tile, so
//! that its threads combine their partial results once.
//!
//! Knows loops by number, and of each op only the loops that it reduces and stores along. `nest.rs` uses it to evaluate
//! a plan, scheduling to write the loops. Both therefore get the same mapping.

use fuser_target::Target;

use super::roles::Role;

/// The most elements of a result of which every block keeps a partial result.
const MOST_KEPT: u64 = 1024;
/// Vectors of a row for each thread, if the row is long enough: the number of loads in flight.
const VECTORS: u64 = 4;
/// The least number of elements for each thread, for vectors of few elements.
const ELEMENTS: u64 = 8;
/// Up to this number of threads, a block has a thread for each vector.
const FEW_THREADS: u64 = 128;
/// Registers of each thread in a block that has its multiprocessor alone.
const REGISTERS: u64 = 128;
/// Threads that reduce a share of unknown length.
const SUMMING: u64 = 512;
/// Threads that scan a row of unknown length. Several such blocks fit on a multiprocessor, so that one computes while
/// another waits.
const SCANNING: u64 = 256;
const WARP: u64 = fuser_dialects::kernel::WARP as u64;
/// The most vectors of a row that a thread keeps in registers.
const ROUNDS: u64 = fuser_dialects::kernel::rounds::MOST_ROUNDS as u64;
/// Warps of a block that share the rows of a column reduction.
const WARPS: u64 = 8;
/// The least number of rows for each of these warps.
const ROWS: u64 = 8;
/// The longest row, in elements, for which a thread takes several vectors of a row before it continues with the next
/// row.
const LONGEST_ROW: u64 = 1 << 14;
/// The most elements of a row for each thread, if a warp has the row.
const MOST_OF_ROW: u64 = 32;
/// Rows that a thread loads at once, if it has no more.
pub(super) const ROWS_AT_ONCE: u64 = 16;
/// The most simple operations of a thread over all its rows, if rows share loaded elements: the loop over these rows is
/// unrolled.
const WRITTEN: u64 = 512;
/// Vectors of a cache line; blocks load whole lines.
const LINE: u64 = 8;
/// The least number of rows for each thread if groups of threads share the rows of a block: the partial results of the
/// groups are then combined.
const ROWS_OF_GROUP: u64 = 4;
/// The most threads of a block whose groups share rows.
const GROUPED: u64 = 512;
/// Cost for a thread to add the partial result of one more group, in simple operations: it loads several at once and
/// adds them one after the other.
const HAND_ON: u64 = 4;

/// The least number of partial results of a reduction for which groups of blocks combine theirs first. The last block
/// alone would read half a mebibyte in some 5 µs, at the 100 GB/s of one multiprocessor (measured on an H100: 40 µs for
/// 4 MiB). A group takes 1.5 µs.
const LEAST_GROUPED: u64 = 1 << 17;
/// The assumed number of indices of a loop of unknown length.
const UNKNOWN: u64 = 1024;

/// The most threads that combine partial results.
const COMBINING: u64 = 256;
/// Vector width for loading partial results.
const COMBINING_LANES: u64 = 4;
/// Threads that combine neighbouring elements, if the number of elements is unknown.
const NEIGHBOURS: u64 = 32;

/// The threads of a block that combine partial results, and their shares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Combining {
    /// The threads, a power of two.
    pub threads: u64,
    /// Threads that take neighbouring vectors of a row, a power of two; `threads / width` threads share the rows.
    pub width: u64,
    /// Lanes of a vector.
    pub lanes: u64,
}

/// The combining threads of a block of `threads` for `elements` partial results in rows of `row`; `None` for lengths
/// that are not constant.
pub fn combining(elements: Option<u64>, row: Option<u64>, threads: u64) -> Combining {
    let threads = 1 << threads.clamp(1, COMBINING).ilog2();
    let whole = row.is_some_and(|row| row.is_multiple_of(COMBINING_LANES));
    let lanes = match elements {
        Some(_) if whole => COMBINING_LANES,
        _ => 1,
    };
    let width = elements.map_or(NEIGHBOURS, |elements| elements / lanes);
    Combining {
        threads,
        width: width.clamp(1, threads).next_power_of_two(),
        lanes,
    }
}

/// Size of a block group in two-level combination of partial results: at most sqrt(`blocks`) and a divisor of it;
/// `None` if one level is enough or no size divides. `sums` has the lengths of the loops that each reduction varies
/// along; `None` for lengths that are not constant.
pub fn group<S: IntoIterator<Item = Option<u64>>>(
    blocks: u64,
    sums: impl IntoIterator<Item = S>,
) -> Option<u64> {
    let elements = sums.into_iter().map(|sum| {
        let lengths = sum.into_iter().map(|length| length.unwrap_or(UNKNOWN));
        lengths.fold(1, u64::saturating_mul)
    });
    let many = elements.max()?.saturating_mul(blocks) >= LEAST_GROUPED;
    let mut sizes = (4..=blocks.isqrt()).rev();
    sizes
        .find(|size| blocks.is_multiple_of(*size))
        .filter(|_| many)
}

/// A loop of a loop nest: one axis, or several axes iterated as one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loop {
    /// The number of indices, if it is constant.
    pub constant: Option<u64>,
    /// The largest possible number of indices, if known.
    pub most: Option<u64>,
    /// The number of indices under the lengths that decisions are made for.
    pub length: u64,
    /// The role of the loop around the steps.
    pub role: Role,
    /// Indices of a step; meaningless for [`Role::Tile`].
    pub tile: u64,
}

impl Loop {
    /// Steps of the loop.
    pub fn steps(&self) -> u64 {
        self.length.div_ceil(self.tile.max(1))
    }
    /// Indices of a step.
    pub fn size(&self) -> u64 {
        match self.role {
            Role::Tile => self.length,
            _ => self.tile,
        }
    }
    /// True if the step contains a loop over the axis.
    pub fn has_inner(&self) -> bool {
        self.role == Role::Tile || self.tile > 1
    }
    fn in_grid(mut self) -> Self {
        if self.role == Role::Stream {
            self.role = Role::Grid;
        }
        self
    }
}

/// An op of a loop nest; loops are given by number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Member {
    /// The loops that it reduces.
    pub reduced: Vec<usize>,
    /// The loops along which its results are stored.
    pub stored: Vec<usize>,
    /// The loops along which the op writes to memory.
    pub written: Vec<usize>,
    /// The loops that the op scans in order.
    pub scanned: Vec<usize>,
    /// True if the op reads at indices other than the current point.
    pub windows: bool,
    /// Simple operations per element.
    pub flops: u64,
    /// True if the op is a reduction that another op of the loop nest reads.
    pub read: bool,
}

/// A loop nest with roles and tiles, not yet mapped to a GPU's blocks.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Walk {
    /// Its loops; the loop of the lanes is last.
    pub loops: Vec<Loop>,
    /// Its ops.
    pub members: Vec<Member>,
    /// The loops along which each value that it loads or stores varies.
    pub memory: Vec<Vec<usize>>,
    /// The most lanes of a vector.
    pub vector: u64,
}

/// The columns of a block, if reductions keep the loop of the lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Columns {
    /// Elements of a row.
    tile: u64,
    /// Threads that share a row.
    size: u64,
    /// Groups of `size` threads that together have all rows, so that no other block has partial results; `None` if
    /// blocks share rows.
    groups: Option<u64>,
}

/// The mapping of a loop nest to a GPU's blocks and threads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Blocks {
    /// The loops.
    pub loops: Vec<Loop>,
    /// Lanes of a vector.
    pub vector: u64,
    /// Shares of the grid loops along which no reduction varies; 0 if no reduction goes along the grid.
    pub shares: u64,
    /// Threads of a block.
    pub threads: u64,
    /// Groups of these threads; each group has its own indices of the grid.
    pub groups: u64,
}

impl Walk {
    /// Maps the loop nest to blocks and threads.
    pub fn spread(mut self, target: &Target) -> Blocks {
        self.vector = self.lanes();
        self.cut(target);
        self.share_vectors(target);
        self.fill_warps();
        let threads = self.threads(target);
        let (groups, threads) = match self.share_rows(target) {
            Some(shared) => shared,
            None => self.thread_groups(threads, target),
        };
        let summed = |(n, l): (usize, &Loop)| l.role == Role::Grid && self.is_reduced(n);
        let shares = match self.loops.iter().enumerate().any(summed) {
            true => self.shares(groups, target),
            false => 0,
        };
        Blocks {
            loops: self.loops,
            vector: self.vector,
            shares,
            threads,
            groups,
        }
    }
    /// The vector width that divides rows, since rows are stored one after the other: in other rows, vectors would be
    /// misaligned and their loads would split. Tiles of a transposition have rows along two loops.
    fn lanes(&self) -> u64 {
        let last = self.loops.len().wrapping_sub(1);
        let has_rows = |(n, l): &(usize, &Loop)| *n == last || l.role != Role::Tile && l.tile > 1;
        let rows = self.loops.iter().enumerate().filter(|_| last > 0);
        rows.filter(has_rows).fold(self.vector, |lanes, (_, row)| {
            let whole = |lanes: &u64| row.length.is_multiple_of(*lanes);
            let halves = std::iter::successors(Some(lanes), |lanes| Some(lanes / 2));
            halves
                .take_while(|&lanes| lanes > 1)
                .find(whole)
                .unwrap_or(1)
        })
    }
    /// Chooses the roles of loops, and the tile of the loop of the lanes.
    fn cut(&mut self, target: &Target) {
        if self.scans_row()
            && let Some(row) = self.loops.last_mut().filter(|l| l.role == Role::Stream)
        {
            // Its threads take turns along the row; a kernel passes the running value from turn to turn in registers.
            row.role = Role::Tile;
        }
        // A loop of one step is no stream: its reductions are complete after the step.
        let whole = |l: &&mut Loop| {
            l.role == Role::Stream && l.constant.is_some_and(|length| length <= l.tile)
        };
        if let Some(one_step) = self.loops.last_mut().filter(whole) {
            one_step.role = Role::Tile;
        }
        // With enough rows, a row of one step is not split either. Short rows then share a block.
        if let Some((row, rows)) = self.loops.split_last_mut() {
            let one_step = row.constant.is_some_and(|length| length <= row.tile);
            if row.role == Role::Grid && one_step && grid_steps(rows) >= 2 * target.workers {
                row.role = Role::Tile;
            }
        }
        let wide = self.wide_columns(target);
        if let Some((last, tile)) = self.loops.last_mut().zip(wide) {
            last.tile = last.tile.max(tile);
            return;
        }
        if !self.sums_leave() {
            return;
        }
        let columns = self.columns(target);
        let in_parts = self.part().is_some();
        let is_cut = |l: &&mut Loop| in_parts || l.role == Role::Tile || l.tile == target.tile;
        if let Some((last, columns)) = self.loops.last_mut().filter(is_cut).zip(columns) {
            (last.role, last.tile) = (Role::Grid, columns.tile);
            // With a warp for each tile, or with few rows, no block needs a share of the rows.
            let most = 2 * target.workers * WARPS;
            let several = grid_steps(&self.loops) < most && self.rows(self.loops.len()) >= 2 * ROWS;
            if columns.groups.is_some() || several {
                self.loops.iter_mut().for_each(|l| *l = l.in_grid());
            }
            return;
        }
        if let Some((rows, role, tile)) = self.whole_shares(target) {
            (self.loops[rows].role, self.loops[rows].tile) = (role, tile);
            let last = self.loops.len() - 1;
            self.loops[last].role = Role::Tile;
            return;
        }
        if self.loops.iter().any(|l| l.role == Role::Tile) {
            return;
        }
        if grid_steps(&self.loops) < target.workers && self.keeps_little() {
            self.loops.iter_mut().for_each(|l| *l = l.in_grid());
            let last = self.loops.len().wrapping_sub(1);
            let kept = !self.is_reduced(last);
            let named = |l: &&mut Loop| kept && l.role == Role::Grid && l.constant.is_none();
            if let Some(row) = self.loops.last_mut().filter(named) {
                // With an unknown number of tiles, partial results would have no size: each block takes whole rows.
                row.role = Role::Tile;
                return;
            }
        }
        let streams = self.loops.iter().any(|l| l.role == Role::Stream);
        let summed = self.is_reduced(self.loops.len().wrapping_sub(1));
        let vector = self.vector;
        let Some((last, others)) = self.loops.split_last_mut() else {
            return;
        };
        if last.role != Role::Grid || last.tile != target.tile {
            return;
        }
        let around = grid_steps(others);
        if summed && last.constant.is_none() {
            // A share is one step of any length, with as many threads as may have work.
            last.tile = last.tile.max(vector * SUMMING * VECTORS);
        }
        if summed && let Some(length) = last.constant {
            let shares = (target.partials / around.max(1)).max(1);
            let share = length.div_ceil(shares).next_multiple_of(vector * WARP);
            last.tile = last.tile.max(share);
        }
        let narrows = !summed && (streams || last.constant.is_some());
        while narrows
            && around.saturating_mul(last.steps()) < 2 * target.workers
            && last.tile > vector * WARP
        {
            last.tile /= 2;
        }
    }
    /// The loop over rows that blocks share, with its role and tile, if reductions go along both that loop and the last
    /// one. All threads of a block take the rows of its share as one tile, and combine their partial results once.
    fn whole_shares(&self, target: &Target) -> Option<(usize, Role, u64)> {
        let (last, others) = self.loops.split_last()?;
        let at = others.len();
        let whole = |length: &u64| *length <= LONGEST_ROW && length.is_multiple_of(self.vector);
        last.constant.filter(whole)?;
        let mut reduced = (0..at).filter(|&n| self.is_reduced(n));
        let rows = reduced.next().filter(|_| reduced.next().is_none())?;
        let length = others[rows].constant.filter(|&length| length > 1)?;
        let of_both = |m: &Member| {
            let along = |n: usize| m.reduced.contains(&n);
            m.scanned.is_empty() && !m.windows && along(rows) == along(at)
        };
        let plain = |(n, l): (usize, &Loop)| {
            l.tile == 1 && l.role != Role::Tile && (n == rows || l.role == Role::Grid)
        };
        let fits = self.is_reduced(at)
            && self.members.iter().all(of_both)
            && others.iter().enumerate().all(plain);
        let own = others.iter().enumerate().filter(|(n, _)| *n != rows);
        let own = own.fold(1u64, |all, (_, l)| all.saturating_mul(l.length));
        let most = target.partials / own.max(1);
        if most < 2 {
            return fits.then_some((rows, Role::Tile, 1));
        }
        let shares = (1..=most).rev().find(|n| length.is_multiple_of(*n))?;
        let many = own.saturating_mul(shares) >= target.workers;
        (fits && many).then_some((rows, Role::Grid, length / shares))
    }
    /// The tile of the last loop if each thread reduces all rows of its own columns and computes the ops after the
    /// reduction, so that no row is kept. There is a vector for each of 128 threads, or fewer if multiprocessors would
    /// be idle.
    fn wide_columns(&self, target: &Target) -> Option<u64> {
        let (last, rows) = self.loops.split_last()?;
        let at = rows.len();
        let in_tile = |n: &usize| self.loops[*n].role == Role::Tile;
        let of_columns = |m: &Member| {
            let own = m.reduced.iter().all(|n| *n < at && in_tile(n));
            own && m.stored.contains(&at)
        };
        let first = self.members.iter().position(|m| !m.reduced.is_empty())?;
        let behind = self.members[first..].iter();
        let kept = behind
            .filter(|m| m.reduced.is_empty())
            .any(|m| m.stored.iter().any(in_tile));
        let all = |(n, l): (usize, &Loop)| match l.role {
            Role::Tile => self.is_reduced(n),
            Role::Grid => l.tile == 1,
            Role::Stream => false,
        };
        let fits = last.role == Role::Grid
            && !kept
            && rows.iter().enumerate().all(all)
            && self
                .members
                .iter()
                .all(|m| m.scanned.is_empty() && !m.windows)
            && self
                .members
                .iter()
                .all(|m| m.reduced.is_empty() || of_columns(m));
        let mut tile = self.vector * FEW_THREADS;
        while tile > self.vector * WARP
            && grid_steps(rows).saturating_mul(last.length.div_ceil(tile)) < 2 * target.workers
        {
            tile /= 2;
        }
        fits.then_some(tile)
    }
    /// True if reductions go along all loops of a tile of known lengths, in whole vectors.
    fn sums_tile(&self) -> bool {
        let tile = |n: &usize| self.loops[*n].role == Role::Tile;
        let all = (0..self.loops.len()).filter(tile);
        let all: Vec<usize> = all.collect();
        let known = all.iter().all(|&n| self.loops[n].constant.is_some());
        let last = all.last().and_then(|&n| self.loops[n].constant);
        let of_all = |m: &Member| {
            let along = m.reduced.iter().filter(|&n| tile(n)).count();
            m.scanned.is_empty() && (m.reduced.is_empty() || along == all.len())
        };
        let whole = last.is_some_and(|length| length.is_multiple_of(self.vector));
        let sums = self.members.iter().any(|m| !m.reduced.is_empty());
        all.len() > 1 && known && whole && sums && self.members.iter().all(of_all)
    }
    /// True if threads cooperate in a scan along the last loop.
    fn scans_row(&self) -> bool {
        let last = self.loops.len().wrapping_sub(1);
        self.members.iter().any(|m| m.scanned.contains(&last))
    }
    /// Threads that cooperate in the scan of a row of unknown length: more threads if no other block computes while
    /// they wait.
    fn scanning_threads(&self, target: &Target) -> u64 {
        let threads = match grid_steps(&self.loops) <= target.workers {
            true => SCANNING.max(target.registers / REGISTERS),
            false => SCANNING,
        };
        threads.min(target.block_threads).max(1)
    }
    /// The threads of a block: one for each vector of the tile or row that they share. Long rows get a quarter of that,
    /// or half if no other block computes while the threads wait.
    fn threads(&self, target: &Target) -> u64 {
        if target.threads < 2 {
            return target.threads;
        }
        // Loops over narrow tiles are distributed as one loop, and so are the loops of a tile that is reduced as a
        // whole.
        let last = self.loops.len().saturating_sub(1);
        let whole = self.sums_tile();
        let inner = self.loops.iter().enumerate().filter(|(n, l)| {
            let narrow = l.role != Role::Tile && l.tile > 1;
            *n == last && l.has_inner() || narrow || whole && l.role == Role::Tile
        });
        let size = |(_, l): (usize, &Loop)| match (l.role, l.most) {
            (Role::Tile, length) => length,
            (_, Some(length)) => Some(length.min(l.tile)),
            (_, None) => Some(l.tile),
        };
        let sizes: Option<Vec<u64>> = inner.map(size).collect();
        let Some(sizes) = sizes else {
            return match self.scans_row() {
                true => self.scanning_threads(target),
                false => target.threads,
            };
        };
        let one = sizes.len() == 1;
        let elements = sizes.into_iter().fold(1u64, u64::saturating_mul);
        let vectors = elements.div_ceil(self.vector);
        let of_thread = VECTORS.max(ELEMENTS / self.vector);
        let mut wanted = vectors.div_ceil(of_thread).max(vectors.min(FEW_THREADS));
        if one && grid_steps(&self.loops) <= target.workers {
            wanted = wanted.max((vectors / 2).min(target.registers / REGISTERS));
        }
        let mut most = target.block_threads;
        if self.scans_row() {
            // More threads would wait longer for each other, with few registers each.
            most = most.min(target.registers / REGISTERS).max(WARP);
        }
        wanted.min(most).next_power_of_two().clamp(WARP, most)
    }
    /// Halves the vectors of rows that groups of a warp's threads reduce, if all threads of the grid are resident at
    /// once. Then the work of one thread is the time of all. Halving pays if it saves more than one additional exchange
    /// for each reduction.
    fn share_vectors(&mut self, target: &Target) {
        let last = self.loops.len().wrapping_sub(1);
        let along = |m: &&Member| m.reduced.contains(&last) || m.stored.contains(&last);
        let flops = self.members.iter().filter(along).map(|m| m.flops);
        let flops = flops.fold(0, u64::saturating_add);
        let sums = self.members.iter().filter(|m| m.reduced.contains(&last));
        let sums = sums.count() as u64;
        let rows = grid_steps(&self.loops);
        while let Some(size) = self.row_threads().filter(|&size| sums > 0 && size < WARP) {
            let saved = (self.vector / 2).saturating_mul(flops);
            let threads = rows.saturating_mul(2 * size);
            if saved <= sums * target.exchange || threads > target.workers * target.resident_threads
            {
                return;
            }
            self.vector /= 2;
        }
    }
    /// Halves the vectors of lines that threads fold, one thread for each line, until all threads of a warp have a
    /// line. A step costs an instruction for each element of a thread's vector, even if other threads have no line.
    /// Folds that write their steps keep their vectors, which are transposed.
    fn fill_warps(&mut self) {
        let last = self.loops.len().wrapping_sub(1);
        let walked = |n: &usize| self.members.iter().any(|m| m.scanned.contains(n));
        let written = |n: &usize| self.members.iter().any(|m| m.written.contains(n));
        let mut folds = (0..last).filter(walked);
        if self.loops.is_empty() || folds.clone().any(|n| written(&n)) || folds.next().is_none() {
            return;
        }
        let lines = self.loops[last].size();
        while self.vector > 1 && lines.div_ceil(self.vector) < WARP {
            self.vector /= 2;
        }
    }
    /// Threads of a group for a row, with at most one vector each, if each grid index is a row of constant length.
    fn row_threads(&self) -> Option<u64> {
        let (last, rows) = self.loops.split_last()?;
        let plain =
            |(n, l): (usize, &Loop)| l.role == Role::Grid && l.tile == 1 && !self.is_reduced(n);
        let fits = last.role == Role::Tile && rows.iter().enumerate().all(plain);
        let length = last.constant.filter(|_| fits)?;
        Some(length.div_ceil(self.vector).max(1).next_power_of_two())
    }
    /// The groups of a block's threads, and the number of threads: rows that need at most a warp share a block.
    fn thread_groups(&self, threads: u64, target: &Target) -> (u64, u64) {
        if let Some(Columns { size, groups, .. }) = self.cut_columns(target) {
            if let Some(groups) = groups {
                return (groups, groups * size);
            }
            // Warps with few rows would spend more on combining than on adding.
            let least = 2 * target.workers * ROWS;
            let all: Vec<Loop> = self.loops.iter().map(|l| l.in_grid()).collect();
            let rows = grid_steps(&all).saturating_mul(self.part().unwrap_or(1));
            let work = rows.saturating_mul(size);
            let halves = std::iter::successors(Some(WARPS), |warps| Some(warps / 2));
            let warps = halves
                .take_while(|&warps| warps > 1)
                .find(|warps| work >= least * warps * WARP)
                .unwrap_or(1);
            return (warps * WARP / size, warps * WARP);
        }
        let size = self.row_threads().map(|size| {
            let turns = size / WARP;
            let standing = grid_steps(&self.loops).saturating_mul(2 * WARP)
                >= target.workers * target.resident_threads;
            let resident = turns.saturating_mul(self.vector) <= MOST_OF_ROW && turns <= ROUNDS;
            match turns > 1 && resident && standing {
                true => WARP,
                false => size,
            }
        });
        let Some(size) = size.filter(|&size| size <= WARP) else {
            return (1, threads);
        };
        let mut all = FEW_THREADS;
        while all > WARP && grid_steps(&self.loops).saturating_mul(size) / all < 2 * target.workers
        {
            all /= 2;
        }
        match all / size {
            0 | 1 => (1, threads),
            groups => (groups, all),
        }
    }
    /// Gives each thread several rows if all of them read the same elements: these stay in registers, and the loads of
    /// its rows are in flight at once. Each multiprocessor gets a block, and no warp has idle threads. Returns the
    /// groups of threads and the number of threads.
    fn share_rows(&mut self, target: &Target) -> Option<(u64, u64)> {
        let (last, others) = self.loops.split_last()?;
        let (rows, around) = others.split_last()?;
        let (along, at) = (others.len(), others.len() - 1);
        let plain = |m: &Member| m.reduced.is_empty() && m.scanned.is_empty() && !m.windows;
        let shared = |varies: &Vec<usize>| varies.contains(&along) && !varies.contains(&at);
        let fits = last.role != Role::Stream
            && others.iter().all(|l| l.role == Role::Grid && l.tile == 1)
            && self.members.iter().all(plain)
            && self.memory.iter().any(shared);
        let vectors = last.constant.filter(|_| fits)?;
        let vectors = Some(vectors).filter(|n| n.is_multiple_of(self.vector))? / self.vector;
        let full = |n: &u64| vectors.is_multiple_of(*n) && 8 * n >= 7 * n.next_power_of_two();
        let threads = (LINE..=vectors.min(WARP)).rev().find(full)?;
        let flops = self.members.iter().map(|m| m.flops);
        let row = flops.fold(0, u64::saturating_add).max(1) * self.vector;
        let warps = grid_steps(around).saturating_mul(rows.length) * vectors / WARP;
        let most = (WRITTEN / row).min(warps / (target.workers * WARPS));
        let most = most.min(ROWS_AT_ONCE).min(rows.length);
        let even = |n: &u64| {
            rows.constant
                .is_some_and(|length| length.is_multiple_of(*n))
        };
        let share = (most / 2..=most).rev().find(even).unwrap_or(most);
        if share < 2 {
            return None;
        }
        let size = threads.next_power_of_two();
        (self.loops[along].role, self.loops[along].tile) = (Role::Grid, threads * self.vector);
        self.loops[at].tile = share;
        Some((WARPS * WARP / size, WARPS * WARP))
    }
    /// The columns by which the last loop is split, if it is.
    fn cut_columns(&self, target: &Target) -> Option<Columns> {
        let last = self.loops.last().filter(|_| self.sums_leave())?;
        self.columns(target)
            .filter(|columns| columns.tile == last.tile)
    }
    /// The tile of the last loop if reductions keep it and go along other loops, without tiles, in any order: as many
    /// whole vectors as most threads of a warp have one each. A warp then has its partial results in registers.
    fn columns(&self, target: &Target) -> Option<Columns> {
        let (last, rows) = self.loops.split_last()?;
        let at = rows.len();
        let streams: Vec<usize> = (0..self.loops.len())
            .filter(|&n| self.loops[n].role == Role::Stream)
            .collect();
        let part = self.part();
        let along = |m: &Member| {
            m.reduced.is_empty()
                || part.is_some() && self.is_own(m)
                || streams.iter().all(|stream| m.reduced.contains(stream))
        };
        let kept = |m: &Member| m.reduced.is_empty() || m.stored.contains(&at);
        let fits = last.role != Role::Stream
            && !self.is_reduced(at)
            && rows
                .iter()
                .all(|l| (l.role != Role::Tile || part.is_some()) && l.tile == 1)
            && (0..at).any(|n| self.is_reduced(n))
            && self
                .members
                .iter()
                .all(|m| !m.windows && m.scanned.is_empty())
            && self.members.iter().all(|m| kept(m) && along(m));
        let whole = |length: &u64| fits && length.is_multiple_of(self.vector);
        let Some(length) = last.constant else {
            // An unknown number of vectors ends with a partial tile.
            let long = fits && last.length >= WARP * self.vector;
            return long.then_some(Columns {
                tile: WARP * self.vector,
                size: WARP,
                groups: None,
            });
        };
        let vectors = Some(length).filter(whole)? / self.vector;
        let of = |threads: u64| Columns {
            tile: threads * self.vector,
            size: threads.next_power_of_two(),
            groups: None,
        };
        let complete = self.complete(vectors, target);
        if let Some(complete) = complete.filter(|_| part.is_none()) {
            return Some(complete);
        }
        let least = vectors.clamp(1, WARP / 2);
        let mut divisors = (least..=vectors.min(WARP)).rev();
        let columns = of(divisors.find(|n| vectors.is_multiple_of(*n))?);
        (self.rows(at) >= ROWS * WARP / columns.size).then_some(columns)
    }
    /// Columns of which a block has all rows, few enough that each thread loads all its rows at once: exchanging
    /// partial results through memory takes longer than reading. Half of the multiprocessors saturate memory bandwidth.
    /// The number of groups minimizes a thread's time for its rows and for the partial results. `None` if reductions
    /// keep different loops.
    fn complete(&self, vectors: u64, target: &Target) -> Option<Columns> {
        let (_, rows) = self.loops.split_last()?;
        let mut sums = self.members.iter().filter(|m| !m.reduced.is_empty());
        let kept = &sums.next()?.stored;
        let constant = |n: usize| rows[n].constant;
        let summed = (0..rows.len()).filter(|&n| self.is_reduced(n));
        let summed = summed.map(constant).product::<Option<u64>>()?;
        let others = (0..rows.len()).filter(|&n| !self.is_reduced(n));
        let others = others.map(constant).product::<Option<u64>>()?;
        if !sums.all(|sum| sum.stored == *kept) {
            return None;
        }
        let flops = self.members.iter().map(|m| m.flops);
        let flops = flops.fold(0, u64::saturating_add).max(1);
        let work = self.vector.saturating_mul(flops).saturating_mul(summed);
        let best = 1 << ((work / HAND_ON).max(1).ilog2() / 2);
        let least = summed.div_ceil(ROWS_AT_ONCE).next_power_of_two();
        let mut divisors = (LINE..=vectors.min(WARP)).rev();
        divisors.find_map(|threads| {
            let size = threads.next_power_of_two();
            let groups = best.min(WARPS * WARP / size).max(least).max(WARP / size);
            let blocks = others.saturating_mul(vectors / threads);
            let fits = vectors.is_multiple_of(threads)
                && 2 * blocks >= target.workers
                && summed >= 2 * ROWS
                && groups.saturating_mul(size) <= WARPS * WARP;
            fits.then_some(Columns {
                tile: threads * self.vector,
                size,
                groups: Some(groups),
            })
        })
    }
    /// True if no op reads a reduction of this loop nest, except reductions of a part.
    fn sums_leave(&self) -> bool {
        self.members.iter().all(|m| !m.read) || self.part().is_some()
    }
    /// The rows of a part, if column reductions are over parts that a thread loads at once. Each thread has the
    /// reduction of its part, and other reductions read and combine these.
    fn part(&self) -> Option<u64> {
        let (_, rows) = self.loops.split_last()?;
        let tiles = rows.iter().filter(|l| l.role == Role::Tile);
        let part = tiles.map(|l| l.constant).product::<Option<u64>>()?;
        let of_parts = |m: &Member| m.reduced.iter().any(|&n| self.loops[n].role != Role::Tile);
        let fits = (2..=ROWS_AT_ONCE).contains(&part)
            && self.members.iter().any(|m| m.read)
            && self.members.iter().all(|m| !m.read || self.is_own(m))
            && self.members.iter().any(of_parts);
        fits.then_some(part)
    }
    /// True for a reduction within a step, separately for each lane.
    fn is_own(&self, sum: &Member) -> bool {
        let last = self.loops.len().wrapping_sub(1);
        let inside = |&n: &usize| n < last && self.loops[n].role == Role::Tile;
        !sum.reduced.is_empty() && sum.reduced.iter().all(inside) && sum.stored.contains(&last)
    }
    /// The number of indices of the reduced loops among the first `count`.
    fn rows(&self, count: usize) -> u64 {
        let rows = (0..count).filter(|&n| self.is_reduced(n));
        rows.fold(1, |all, n| all.saturating_mul(self.loops[n].length))
    }
    /// Shares of the grid loops along which no reduction varies: one for each block per index of the other grid loops,
    /// and at least one step for each share.
    fn shares(&self, groups: u64, target: &Target) -> u64 {
        let grid = |n: &usize| self.loops[*n].role == Role::Grid;
        let sums = self.members.iter().filter(|m| m.reduced.iter().any(grid));
        let sums: Vec<&Member> = sums.collect();
        let varies = |n: &usize| sums.iter().any(|sum| sum.stored.contains(n));
        let loops = (0..self.loops.len()).filter(grid);
        let (own, shared): (Vec<usize>, Vec<usize>) = loops.partition(varies);
        let of = |list: Vec<usize>| list.into_iter().map(|n| self.loops[n]).collect::<Vec<_>>();
        let (own, shared) = (of(own), of(shared));
        let columns = self.cut_columns(target);
        if let Some(groups) = columns.and_then(|columns| columns.groups) {
            return groups;
        }
        let workers = target.partials.saturating_mul(groups);
        let most = (workers / grid_steps(&own).max(1)).max(1);
        let known = shared.iter().all(|l| l.constant.is_some())
            || shared.iter().any(|l| l.constant == Some(0));
        let steps = grid_steps(&shared);
        let of_columns = known && self.columns(target).is_some();
        let streamed = self.loops.iter().filter(|l| l.role == Role::Stream);
        let inside = streamed.fold(self.part().unwrap_or(1), |all, l| {
            all.saturating_mul(l.length)
        });
        let rows = steps.saturating_mul(inside);
        let some = match (known, of_columns) {
            (true, true) => steps.min(rows / ROWS),
            (true, false) => steps,
            (false, _) => most,
        };
        let shares = some.clamp(1, most).next_multiple_of(groups);
        // If rows are few, and so their number is known, a thread loads all of its rows at once.
        let few = of_columns && rows <= shares.saturating_mul(ROWS_AT_ONCE);
        let even = |shares: &u64| few && steps.is_multiple_of(*shares);
        let mut more = (shares..2 * shares).step_by(groups as usize);
        more.find(even).unwrap_or(shares)
    }
    fn is_reduced(&self, number: usize) -> bool {
        self.members.iter().any(|m| m.reduced.contains(&number))
    }
    /// True if there is one streamed loop, every reduction goes along it, and the results have few elements.
    fn keeps_little(&self) -> bool {
        let mut streams = (0..self.loops.len()).filter(|&n| self.loops[n].role == Role::Stream);
        let (Some(stream), None) = (streams.next(), streams.next()) else {
            return false;
        };
        let few = |sum: &Member| {
            let lengths = sum.stored.iter().map(|&n| self.loops[n].most);
            let mut lengths = lengths.chain([Some(1)]);
            let kept = lengths.try_fold(1u64, |n, length| n.checked_mul(length?));
            sum.reduced.contains(&stream) && kept.is_some_and(|n| n <= MOST_KEPT)
        };
        let mut sums = self.members.iter().filter(|m| !m.reduced.is_empty());
        let scanned = self.members.iter().any(|m| !m.scanned.is_empty());
        !scanned && self.members.iter().any(|m| !m.reduced.is_empty()) && sums.all(few)
    }
}

/// The number of steps of the grid loops among `loops`.
fn grid_steps(loops: &[Loop]) -> u64 {
    let grid = loops.iter().filter(|l| l.role == Role::Grid);
    grid.fold(1, |all, l| all.saturating_mul(l.steps()))
}

/// Threads of a block whose groups of `width` share `count * each` rows (`share-rows`).
pub fn row_threads(width: u64, count: u64, each: u64, target: &Target) -> u64 {
    let groups = count.saturating_mul(each) / ROWS_OF_GROUP;
    let most = count.checked_next_power_of_two().unwrap_or(u64::MAX);
    let groups = groups.min(most).max(1);
    let most = GROUPED.min(target.block_threads);
    let threads = width.saturating_mul(1 << groups.ilog2());
    1 << threads.min(most).max(1).ilog2()
}
