//! The spreading of a walk over the blocks and threads of a GPU: enough blocks for its multiprocessors, and threads that all have
//! work.
//!
//! A walk whose sums go along a streamed axis has as many blocks as the axes that it keeps allow. Where these are fewer than there
//! are multiprocessors, the summed axis is spread too, if what each block keeps of the result is small; else the tiles of the kept
//! axes become narrower. A share of a spread sum is one tile, so that its threads put their sums together once.
//!
//! Knows loops by number, and of ops only along which loops they sum and store: `nest.rs` asks for the price of a plan, scheduling for
//! the loops that it writes down. Both get the same answer.

use fuser_target::Target;

use super::roles::Role;

/// Most elements of a result that every block keeps a part of.
const MOST_KEPT: u64 = 1024;
/// Vectors of a row that each thread takes, where the row is long enough: as many loads are under way.
const VECTORS: u64 = 4;
/// Elements that it takes at least, where vectors have few.
const ELEMENTS: u64 = 8;
/// Threads below which a block has a thread for each vector.
const FEW_THREADS: u64 = 128;
/// Registers of each thread of a block that has more of them because it has its multiprocessor alone.
const REGISTERS: u64 = 128;
/// Threads that sum a share of a length that nobody knows.
const SUMMING: u64 = 512;
/// Threads that scan a row of a length that nobody knows: blocks of as many stand on a multiprocessor beside each other, so that one computes while another waits.
const SCANNING: u64 = 256;
const WARP: u64 = fuser_dialects::kernel::WARP as u64;
/// Vectors of a row that a thread keeps in registers, at most.
const ROUNDS: u64 = fuser_dialects::kernel::rounds::MOST_ROUNDS as u64;
/// Warps of a block that share the rows of a sum of columns.
const WARPS: u64 = 8;
/// Rows that each of them has at least.
const ROWS: u64 = 8;
/// Elements of a row, at most, with several of which a thread goes on to the next row.
const LONGEST_ROW: u64 = 1 << 14;
/// Elements of a row that a thread has, at most, where a warp has the row.
const MOST_OF_ROW: u64 = 32;
/// Rows that a thread asks for at once, where they are all that it has.
pub(super) const ROWS_AT_ONCE: u64 = 16;
/// Simple operations of a thread for all rows that it has, where it reads the same elements with several: their code is written out.
const WRITTEN: u64 = 512;
/// Vectors of a line of memory, of which a block reads no part.
const LINE: u64 = 8;
/// Rows of a thread at least, where groups of threads share those of a block: what each group has is put together once more.
const ROWS_OF_GROUP: u64 = 4;
/// Threads of a block at most, whose groups share rows.
const GROUPED: u64 = 512;
/// Threads that stand on a multiprocessor at once.
pub(super) const STANDING: u64 = 1536;
/// Simple operations in the time of an exchange between the threads of a warp: it takes 24 cycles, and four operations, one behind the other in
/// two or three chains, take nine.
const EXCHANGE: u64 = 11;
/// Simple operations in the time in which a thread adds what one more group hands on: it loads what several do, and adds one behind the other.
const HAND_ON: u64 = 4;
/// Most threads of a block, whatever the GPU.
const MOST_THREADS: u64 = 1 << 10;

/// Partial results of a sum from which on groups of blocks put theirs together first: the last block alone would read half a mebibyte, at the 100 GB/s of one
/// multiprocessor (measured on an H100: 40 µs for 4 MiB) some 5 µs, and a group takes 1.5 µs.
const LEAST_GROUPED: u64 = 1 << 17;
/// Indices that a loop of a length that nobody knows counts as there.
const UNKNOWN: u64 = 1024;

/// Threads that put partial results together, at most.
const COMBINING: u64 = 256;
/// Elements of a vector of them.
const COMBINING_LANES: u64 = 4;
/// Threads of them that take neighbouring elements, where the number of these is not known.
const NEIGHBOURS: u64 = 32;

/// The threads of a block that put partial results together, and the shares that they have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Combining {
    /// The threads, a power of two.
    pub threads: u64,
    /// Threads that take neighbouring vectors of a row, a power of two: so many of them share its rows.
    pub width: u64,
    /// Lanes of a vector.
    pub lanes: u64,
}

/// The threads of a block of so many that put partial results together, of so many elements in rows of so many, where these are constants.
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

/// The blocks of a group that puts its partial results together before the last of all blocks does, given the lengths of the loops that each sum varies along, where these are constants.
/// About as many as there are groups; `None` where there are none.
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

/// A loop of a walk: one axis, or several that are walked as one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loop {
    /// Its indices, where their number is a constant.
    pub constant: Option<u64>,
    /// The most that there are, where it is known.
    pub most: Option<u64>,
    /// Their number under the lengths that decisions are made for.
    pub length: u64,
    /// The role of the loop around the steps.
    pub role: Role,
    /// Indices of a step; of no meaning for [`Role::Tile`].
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
    /// True if there is a loop inside of the step.
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

/// An op of a walk, by the numbers of loops.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Member {
    /// The loops that it reduces.
    pub reduced: Vec<usize>,
    /// The loops along which its results are stored.
    pub stored: Vec<usize>,
    /// The loops along which it writes to memory.
    pub written: Vec<usize>,
    /// The loops that it walks in order.
    pub scanned: Vec<usize>,
    /// True if it reads at other indices than those of the walk.
    pub windows: bool,
    /// Simple operations of an element.
    pub flops: u64,
    /// True if it is a sum that another op of the walk reads.
    pub read: bool,
}

/// A walk whose roles and tiles are chosen, but for what a GPU's blocks share.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Walk {
    /// Its loops; that of the lanes is the last one.
    pub loops: Vec<Loop>,
    /// Its ops.
    pub members: Vec<Member>,
    /// The loops along which each value that it loads or stores varies.
    pub memory: Vec<Vec<usize>>,
    /// Lanes of a vector, at most.
    pub vector: u64,
}

/// The columns of a block, where sums keep the lanes' loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Columns {
    /// Elements of a row.
    tile: u64,
    /// Threads that share a row.
    size: u64,
    /// Groups of so many, where each of them has a share of all rows: no other block has one.
    groups: Option<u64>,
}

/// The decision: how a GPU's blocks and threads share a walk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Blocks {
    /// The loops.
    pub loops: Vec<Loop>,
    /// Lanes of a vector.
    pub vector: u64,
    /// Shares of the loops of the grid along which no sum varies; 0 where none goes along the grid.
    pub shares: u64,
    /// Threads of a block.
    pub threads: u64,
    /// Groups of them, each of which takes indices of the grid of its own.
    pub groups: u64,
}

impl Walk {
    /// Decides.
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
    /// Lanes of which rows have whole vectors, where rows lie one behind the other: others would begin between two vectors, and their loads come
    /// apart. Tiles of a transposition have rows along two loops.
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
    /// Changes roles, and the tile of the lanes' loop.
    fn cut(&mut self, target: &Target) {
        if self.scans_row()
            && let Some(row) = self.loops.last_mut().filter(|l| l.role == Role::Stream)
        {
            // Its threads take turns, from which a kernel hands on what it has so far in registers.
            row.role = Role::Tile;
        }
        // One step is no stream: what it reduces is complete there.
        let whole = |l: &&mut Loop| {
            l.role == Role::Stream && l.constant.is_some_and(|length| length <= l.tile)
        };
        if let Some(one_step) = self.loops.last_mut().filter(whole) {
            one_step.role = Role::Tile;
        }
        // Nor is it cut where there are rows enough: those that are short share a block then.
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
            // With a warp of a block for each of so many tiles, or few rows, none needs a share of these.
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
                // Of tiles whose number nobody knows, partial results have no size: a block has all of the row.
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
            // A share is a step, whatever its length: it has as many threads as may have work.
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
    /// The loop of the rows of which a block has a share, its role and its tile, where sums go along it and along the last one: all threads of a block
    /// take the rows of its share as one tile, and put their sums together once.
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
    /// The tile of the last loop where each thread sums all rows of its own columns and computes what is behind, so that no row is kept: a vector for each
    /// of many threads, fewer where multiprocessors had no block.
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
    /// True if sums go along all loops of a tile of known lengths, in whole vectors.
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
    /// True if threads scan the last loop together.
    fn scans_row(&self) -> bool {
        let last = self.loops.len().wrapping_sub(1);
        self.members.iter().any(|m| m.scanned.contains(&last))
    }
    /// Threads that scan a row together where its length is not known: more of them where no other block computes while they wait.
    fn scanning_threads(&self, target: &Target) -> u64 {
        let threads = match grid_steps(&self.loops) <= target.workers {
            true => SCANNING.max(target.registers / REGISTERS),
            false => SCANNING,
        };
        threads.min(target.block_threads).max(1)
    }
    /// The threads of a block: one for each vector of the tile or row that they share, a quarter of that where these are many, half of it for a row
    /// where no other block computes while it waits.
    fn threads(&self, target: &Target) -> u64 {
        if target.threads < 2 {
            return target.threads;
        }
        // Loops over narrow tiles are spread as one, and those of a tile that is summed as a whole.
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
        let mut most = target.block_threads.min(MOST_THREADS);
        if self.scans_row() {
            // More of them wait for each other longer, and have few registers each.
            most = most.min(target.registers / REGISTERS).max(WARP);
        }
        wanted.min(most).next_power_of_two().clamp(WARP, most)
    }
    /// Halves the vectors of rows that groups of a warp's threads sum, where all threads of the grid stand on the multiprocessors at once: what one of
    /// them does is the time of all then, and half as many elements may take it less than one more exchange for each sum.
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
            if saved <= sums * EXCHANGE || threads > target.workers * STANDING {
                return;
            }
            self.vector /= 2;
        }
    }
    /// Halves the vectors of lines that threads fold, each of them its own, until all threads of a warp have one: a step is an instruction for each
    /// element of a thread's vector, whether the other threads have lines or not. Steps that are written are turned in vectors.
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
    /// The threads of a group that have a vector each of a row, or fewer, where each index of the grid is a row of constant length.
    fn row_threads(&self) -> Option<u64> {
        let (last, rows) = self.loops.split_last()?;
        let plain =
            |(n, l): (usize, &Loop)| l.role == Role::Grid && l.tile == 1 && !self.is_reduced(n);
        let fits = last.role == Role::Tile && rows.iter().enumerate().all(plain);
        let length = last.constant.filter(|_| fits)?;
        Some(length.div_ceil(self.vector).max(1).next_power_of_two())
    }
    /// Groups of the threads of a block, and all of these: rows of no more vectors than a warp has threads share a block.
    fn thread_groups(&self, threads: u64, target: &Target) -> (u64, u64) {
        if let Some(Columns { size, groups, .. }) = self.cut_columns(target) {
            if let Some(groups) = groups {
                return (groups, groups * size);
            }
            // Warps with few rows have more to put together than to add.
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
            let standing =
                grid_steps(&self.loops).saturating_mul(2 * WARP) >= target.workers * STANDING;
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
    /// Gives each thread several rows where it reads the same elements with all of them: it has these in registers then, and asks for its rows at once.
    /// Each multiprocessor is to have a block, and a warp no idle threads. Groups of threads, and all of these.
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
    /// The columns by which the last loop is cut, if it is.
    fn cut_columns(&self, target: &Target) -> Option<Columns> {
        let last = self.loops.last().filter(|_| self.sums_leave())?;
        self.columns(target)
            .filter(|columns| columns.tile == last.tile)
    }
    /// The tile of the last loop where sums keep it and go along others, of no tiles, in any order: as many whole vectors as the threads of a
    /// warp have one of, most of them. A warp then has its sums in registers.
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
            // One of vectors whose number is not known ends with a tile of fewer.
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
    /// Columns of which a block has all rows, so few that each thread asks for all of its own at once: what blocks hand on in memory takes longer
    /// than reading does. Half of the multiprocessors read as fast as memory gives. Groups are as many as make the time of a thread short, for its
    /// rows and for what they hand on. None where sums keep different loops.
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
    /// True if no op reads what another one reduces, but for sums of a part.
    fn sums_leave(&self) -> bool {
        self.members.iter().all(|m| !m.read) || self.part().is_some()
    }
    /// The rows of a part, where sums of columns are of parts that a thread asks for at once: it has the sums of each for itself, which others
    /// read and put together.
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
    /// True for a sum of what lies in a step for each lane.
    fn is_own(&self, sum: &Member) -> bool {
        let last = self.loops.len().wrapping_sub(1);
        let inside = |&n: &usize| n < last && self.loops[n].role == Role::Tile;
        !sum.reduced.is_empty() && sum.reduced.iter().all(inside) && sum.stored.contains(&last)
    }
    /// Indices of those of the first `count` loops that are summed.
    fn rows(&self, count: usize) -> u64 {
        let rows = (0..count).filter(|&n| self.is_reduced(n));
        rows.fold(1, |all, n| all.saturating_mul(self.loops[n].length))
    }
    /// Shares of the grid loops along which no sum varies: as many as there are blocks for each index of the others, but none without a
    /// step.
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
        // Of few rows, a number that is known then, a thread asks for all at once.
        let few = of_columns && rows <= shares.saturating_mul(ROWS_AT_ONCE);
        let even = |shares: &u64| few && steps.is_multiple_of(*shares);
        let mut more = (shares..2 * shares).step_by(groups as usize);
        more.find(even).unwrap_or(shares)
    }
    fn is_reduced(&self, number: usize) -> bool {
        self.members.iter().any(|m| m.reduced.contains(&number))
    }
    /// True if there is one streamed loop, every reduction goes along it, and their results are few elements.
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

/// Steps of those of some loops that are in the grid.
fn grid_steps(loops: &[Loop]) -> u64 {
    let grid = loops.iter().filter(|l| l.role == Role::Grid);
    grid.fold(1, |all, l| all.saturating_mul(l.steps()))
}

/// Threads of a block whose groups of `width` share `count` times `each` rows (`share-rows`).
pub fn row_threads(width: u64, count: u64, each: u64, target: &Target) -> u64 {
    let groups = count.saturating_mul(each) / ROWS_OF_GROUP;
    let most = count.checked_next_power_of_two().unwrap_or(u64::MAX);
    let groups = groups.min(most).max(1);
    let most = GROUPED.min(target.block_threads);
    let threads = width.saturating_mul(1 << groups.ilog2());
    1 << threads.min(most).max(1).ilog2()
}
