//! The tiles of a sweep: the number of indices of a stepping axis that one step covers.
//!
//! Lanes run along the axis along which most of the memory is contiguous. On a GPU, where lanes are threads, they avoid
//! an axis that a lambda scans in order, if there is another. The axis of the lanes is tiled. If other memory is
//! contiguous along another axis (a transposition), that axis is tiled too, and memory read across the lanes is
//! *staged*: copied in storage order into fast memory. A value that a step keeps has an element for each index of its
//! tiles. On a CPU, a fold along the lanes is a transposition too. It takes the elements of a row one by one, and
//! processes several rows in SIMD lanes, from a staged square tile.
//!
//! Computes sizes only: `roles.rs` decides which axes step, and `loops.rs` has the loops with the tiles chosen here.

use fuser_target::Target;
use rustc_hash::FxHashSet;

use super::body::{Body, Mask, Node, Source, bits};
use super::nest::Nest;
use super::roles::{self, Role};
use super::units::Draft;

/// The shortest tile tried: 64 bytes of f32.
const LEAST: u64 = 16;
/// Columns of a step with a vector of f32 for each thread of a warp.
const ALL_COLUMNS: u64 = 128;
/// The least number of blocks that fit on a multiprocessor at a time, where blocks could be smaller.
const BLOCKS: u64 = 4;
/// Bytes of a word in a bank of shared memory.
pub const WORD: u64 = 4;
/// The most bytes that lowering stages of one value: a quarter of a second-level cache of 1 MiB.
pub const MAX_STAGE_BYTES: u64 = 256 << 10;

/// The largest stride, in elements, between lanes that a CPU loads and stores directly: the elements between lie in the
/// same cache lines.
pub const NEAR: u64 = 15;
/// The most operations per element of a sweep that is bound by its loads and stores.
pub(super) const LIGHT: u64 = 8;
/// Tiles of short rows that a step accumulates before it combines their lanes.
const SUMMED: u64 = 4;
/// Bytes of the shortest vectors, which the rows of a light sweep fill.
const PART: u64 = 16;

/// Facts about one value in memory for [`staged_tile`].
#[derive(Clone, Copy, Debug)]
struct Staged {
    /// Bytes of an element.
    pub element: u64,
    /// Elements along its axes that a step holds whole, if it is staged and their number is known; else 1.
    pub whole: u64,
}

/// The longest tile, at most `tile`, along each of `cut` axes of a transposition. A tile of all `memory` takes at most
/// half of the scratch memory of a kernel, and a tile of one value at most [`MAX_STAGE_BYTES`], its whole axes
/// included. If not even the shortest tile fits beside whole axes, these are ignored: nothing is staged then.
fn staged_tile(tile: u64, cut: u32, memory: impl Iterator<Item = Staged>, target: &Target) -> u64 {
    let (mut all, mut most, mut beside) = (0u64, 0, 0);
    for one in memory {
        all = all.saturating_add(one.element);
        most = most.max(one.element);
        beside = beside.max(one.element.saturating_mul(one.whole));
    }
    let room = target.scratch_limit().map_or(u64::MAX, |limit| limit / 2);
    let longest = |most: u64| {
        let fits = |tile: u64| {
            let elements = tile.saturating_pow(cut);
            all.saturating_mul(elements) <= room && most.saturating_mul(elements) <= MAX_STAGE_BYTES
        };
        let halves = std::iter::successors(Some(tile), |tile| Some(tile / 2));
        let mut halves = halves.take_while(|&tile| tile > 0);
        halves.find(|&tile| fits(tile)).unwrap_or(1)
    };
    let beside = longest(beside);
    if beside >= LEAST {
        beside
    } else {
        longest(most)
    }
}

/// The tiles of one sweep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tiles {
    lanes: Option<usize>,
    /// True for a CPU, which loads lanes with a small stride directly.
    near: bool,
    /// Contiguous axes of memory that is read or written across the lanes.
    crossed: Mask,
    /// The axis whose indices folds along the lanes process in SIMD lanes; it is in `crossed`.
    side: Option<usize>,
    outer: Mask,
    /// Elements along the lanes if they step; 0 if narrow tiles apply.
    long: u64,
    /// Elements along the lanes, and along crossed axes.
    pub narrow: u64,
    /// True if staged rows are padded to an odd number of words, since a GPU's threads access them across.
    padded: bool,
}

impl Tiles {
    pub fn of(body: &Body, draft: &Draft, target: &Target) -> Self {
        let along = contiguous_axis(body, draft, target);
        let rows = along.and_then(|along| rows_of_short(body, draft, target, along));
        let mut tiles = Self {
            lanes: rows.or(along),
            near: target.abilities().vectors,
            crossed: 0,
            side: None,
            outer: draft.outer,
            long: target.tile,
            narrow: target.narrow_tile,
            padded: target.abilities().block_threads,
        };
        let nodes = || draft.body.iter().map(|&n| &body.nodes[n as usize]);
        if rows.is_some_and(|rows| nodes().any(|n| n.reduced >> rows & 1 == 1)) {
            tiles.narrow *= SUMMED;
        }
        tiles.crossed = tiles.lanes.map_or(0, |lanes| crossed(body, draft, lanes));
        if tiles.crossed == 0 {
            tiles.side = side_by_side(body, draft, target, tiles.lanes);
            tiles.crossed = tiles.side.map_or(0, |axis| 1 << axis);
        }
        if let Some(rows) = tiles.side {
            // Vectorizing rows may leave no worker idle, and its tiles are full.
            let workers = draft.outer & !roles::ordered(body, draft);
            let few = |t: &Self| t.steps(body, workers) < target.workers;
            while tiles.narrow > body.extents[rows] || tiles.narrow > LEAST && few(&tiles) {
                tiles.narrow /= 2;
            }
        }
        if tiles.crossed != 0 || draft.space & !draft.outer != 0 {
            tiles.long = 0;
        }
        let cut = tiles.lanes.map_or(0, |lanes| 1 << lanes) | tiles.crossed;
        let cut = (cut & draft.outer).count_ones();
        if tiles.crossed != 0 && target.abilities().block_threads {
            // A thread with several vectors computes fewer addresses; no multiprocessor may be idle for it.
            let wide = tiles.with_narrow(2 * tiles.narrow);
            if wide.steps(body, draft.outer) >= target.workers {
                tiles = wide;
            }
        }
        let along = tiles.lanes.filter(|&axis| draft.outer >> axis & 1 == 1);
        if let Some(axis) =
            along.filter(|_| tiles.holds_columns() && target.abilities().block_threads)
        {
            // All threads of a warp get columns, but no multiprocessor may be idle for it.
            let most = ALL_COLUMNS.min(columns(body, draft, axis));
            let full =
                |t: &Self| t.narrow <= most && t.steps(body, t.outer) >= BLOCKS * target.workers;
            while full(&tiles.with_narrow(2 * tiles.narrow)) {
                tiles.narrow *= 2;
            }
        }
        if tiles.crossed != 0 {
            let staged = memory(body, draft).map(|m| tiles.staged(body, &m));
            tiles.narrow = staged_tile(tiles.narrow, cut, staged, target);
        }
        tiles
    }
    fn staged(&self, body: &Body, memory: &Memory<'_>) -> Staged {
        let along = self.lanes.map_or(0, |lanes| 1 << lanes);
        let both = memory.stored & along != 0 && memory.stored & self.crossed != 0;
        let whole = if both { memory.stored & !self.outer } else { 0 };
        let known = whole & body.named == 0;
        let extents = bits(if known { whole } else { 0 }).map(|axis| body.extents[axis]);
        Staged {
            element: memory.element,
            whole: extents.fold(1, u64::saturating_mul),
        }
    }
    /// The tiles with half the length, if that is allowed and makes a difference.
    pub fn shorter(mut self) -> Option<Self> {
        let cut = self.lanes.map_or(0, |lanes| 1 << lanes) | self.crossed;
        let matters = self.long == 0 && cut & self.outer != 0;
        self.narrow /= 2;
        (matters && self.narrow >= LEAST).then_some(self)
    }
    /// True for a step with whole axes beside the lanes, and with all memory accessed along the lanes.
    fn holds_columns(&self) -> bool {
        self.crossed == 0 && self.long == 0
    }
    /// Bytes of fast memory that a step may use, at most `limit`. A step longer than the target's default leaves room
    /// for other blocks.
    pub fn limit(&self, limit: u64, target: &Target) -> u64 {
        match self.holds_columns() && self.narrow > target.narrow_tile {
            true => limit.min(target.shared_per_sm / BLOCKS),
            false => limit,
        }
    }
    /// True if memory is read or written across the lanes, so that some of it may be staged.
    pub fn crosses(&self) -> bool {
        self.crossed != 0
    }
    /// Elements of padding for each staged row of `row` elements of `element` bytes.
    pub fn padding(&self, row: u64, element: u64) -> u64 {
        match self.padded {
            true => padded_row(row, element) - row,
            false => 0,
        }
    }
    /// True for a CPU, which loads lanes with a small stride directly.
    pub fn is_near(&self) -> bool {
        self.near
    }
    /// True if the lanes run along `axis`.
    pub fn runs_along(&self, axis: usize) -> bool {
        self.lanes == Some(axis)
    }
    /// Indices of an axis within a step.
    pub fn size(&self, body: &Body, axis: usize) -> u64 {
        match (self.outer >> axis & 1, self.lanes == Some(axis)) {
            (0, _) => body.extents[axis],
            (_, true) if self.long != 0 => self.long,
            (_, true) => self.narrow,
            _ if self.crossed >> axis & 1 == 1 => self.narrow,
            _ => 1,
        }
    }
    /// The axis whose indices folds along the lanes process in SIMD lanes.
    pub fn side(&self) -> Option<usize> {
        self.side
    }
    /// True if the lanes run along one of `axes`.
    pub fn runs_within(&self, axes: Mask) -> bool {
        self.lanes.is_some_and(|lanes| axes >> lanes & 1 == 1)
    }
    /// True if a step covers an axis entirely.
    pub fn holds(&self, axis: usize) -> bool {
        self.outer >> axis & 1 == 0
    }
    /// Indices of a step of a loop over `axes`.
    pub fn of_loop(&self, axes: Mask) -> u64 {
        let steps = self.outer & axes != 0;
        match steps && self.runs_within(axes) {
            true if self.long != 0 => self.long,
            true => self.narrow,
            false if steps && self.crossed & axes != 0 => self.narrow,
            false => 1,
        }
    }
    /// The tiles after the mapping to blocks of a GPU; unchanged on a CPU.
    pub fn spread(mut self, body: &Body, draft: &Draft, target: &Target) -> Self {
        if let Some(nest) = Nest::of(body, draft, &self, target) {
            self.outer &= !nest.whole();
            let wider = |lanes: &u64| self.long != 0 || *lanes > self.narrow;
            self.long = nest.lanes().filter(wider).unwrap_or(self.long);
        }
        self
    }
    /// The tiles with narrow tiles of `narrow` elements.
    pub fn with_narrow(mut self, narrow: u64) -> Self {
        self.narrow = narrow.max(1);
        self
    }
    /// Grid steps over the axes `grid`. With long tiles, loops are merged with those around them, and each index counts
    /// as a step.
    pub fn steps(&self, body: &Body, grid: Mask) -> u64 {
        let size = |axis| {
            if self.long != 0 {
                1
            } else {
                self.size(body, axis).max(1)
            }
        };
        let steps = bits(grid).map(|axis| body.extents[axis].div_ceil(size(axis)));
        steps.fold(1u64, u64::saturating_mul)
    }
    /// The axes of `axes` with a loop inside the step.
    pub fn inner(&self, body: &Body, axes: Mask) -> Mask {
        let steps = |&axis: &usize| self.outer >> axis & 1 == 0 || self.size(body, axis) > 1;
        bits(axes).filter(steps).fold(0, |m, axis| m | 1 << axis)
    }
    /// Elements of a step along `axes`.
    pub fn elements(&self, body: &Body, axes: Mask) -> u64 {
        bits(axes).fold(1u64, |n, axis| n.saturating_mul(self.size(body, axis)))
    }
    /// The number of jumps of a sweep within memory: at the end of each tile along the contiguous axis, if other axes
    /// are iterated before the next tile.
    pub fn jumps(&self, body: &Body, draft: &Draft) -> u64 {
        let jumps = memory(body, draft).map(|m| {
            let Some(&last) = m.order.last() else {
                return 0;
            };
            let size = self.size(body, last);
            let around = self.inner(body, m.stored & !(1 << last));
            match around == 0 || size >= body.extents[last] {
                true => 0,
                false => m.bytes / m.element.saturating_mul(size).max(1),
            }
        });
        jumps.fold(0, u64::saturating_add)
    }
    /// True if memory with these axes, outermost first, is staged for a loop nest with innermost axis `lanes`.
    pub fn stages(&self, body: &Body, order: &[usize], element: u64, lanes: Option<usize>) -> bool {
        let distance = lanes.and_then(|lanes| distance(body, order, lanes));
        let near = self.near && distance.is_some_and(|d| d <= NEAR);
        !near && self.crosses_lanes(body, order, element, lanes)
    }
    /// True if memory with these axes, contiguous along the last, is read along that axis for a loop nest with
    /// innermost axis `lanes`.
    fn crosses_lanes(
        &self,
        body: &Body,
        order: &[usize],
        element: u64,
        lanes: Option<usize>,
    ) -> bool {
        let (Some(lanes), Some(&last)) = (lanes, order.last()) else {
            return false;
        };
        let axes = order.iter().fold(0, |m, axis| m | 1 << axis);
        let walked = self.inner(body, axes);
        let bytes = element.saturating_mul(self.elements(body, axes));
        let both = (1 << lanes) | (1 << last);
        // Whole axes must have a known size.
        let known = axes & body.named & !self.outer == 0;
        last != lanes && walked & both == both && known && bytes <= MAX_STAGE_BYTES
    }
    /// True if the result of the window `index` is staged.
    pub fn stages_window(&self, body: &Body, index: u32) -> bool {
        let node = &body.nodes[index as usize];
        let near = node.crossed.iter().filter(|c| Some(c.0) == self.lanes);
        let mut order: Vec<usize> = node.order().to_vec();
        near.map(|c| c.1).any(|last| {
            order.retain(|&a| a != last);
            order.push(last);
            node.plain && self.crosses_lanes(body, &order, node.element, self.lanes)
        })
    }
}

/// Elements of a padded row of `row` elements of `element` bytes: an odd number of words of a bank, so that the elements
/// of a column lie in different banks of shared memory.
pub fn padded_row(row: u64, element: u64) -> u64 {
    let word = (WORD / element.max(1)).max(1);
    match row {
        0 => 0,
        _ => (row.div_ceil(word) | 1) * word,
    }
}

/// A value in memory that a sweep loads or stores.
pub(super) struct Memory<'a> {
    order: &'a [usize],
    /// Its axes.
    pub stored: Mask,
    bytes: u64,
    /// Bytes of an element.
    pub element: u64,
}

/// The memory that a sweep loads and stores: results first, from the last to the first, then operands. Among axes of
/// equal weight, the axis of the last result therefore comes first.
pub(super) fn memory<'a>(body: &'a Body, draft: &'a Draft) -> impl Iterator<Item = Memory<'a>> {
    let mut written: Vec<u32> = [&draft.stores, &draft.keeps, &draft.accumulators]
        .into_iter()
        .flatten()
        .copied()
        .filter(|n| draft.body.binary_search(n).is_ok())
        .collect();
    written.sort_unstable();
    written.dedup();
    let made = |n: u32| {
        let node = &body.nodes[n as usize];
        node.results.iter().rev().map(|result| Memory {
            order: &result.order,
            stored: node.stored,
            bytes: result.bytes,
            element: result.element,
        })
    };
    let loads = draft.loads.iter().rev().map(|&l| {
        let input = &body.inputs[l as usize];
        Memory {
            order: &input.order,
            stored: input.stored,
            bytes: input.bytes,
            element: input.element,
        }
    });
    // Memory that windows read has no axes of the loop nest.
    let nodes = draft.body.iter().map(|&n| &body.nodes[n as usize]);
    let elsewhere: FxHashSet<u32> = nodes.flat_map(|n| &n.elsewhere).map(|e| e.0).collect();
    let fetches = draft.fetches.iter().rev().copied();
    let fetches = fetches
        .filter(move |n| !elsewhere.contains(n))
        .flat_map(made);
    let written = written.into_iter().rev().flat_map(made);
    // A value read only by windows may have axes of another loop nest.
    let own = |m: &Memory<'_>| m.stored & !draft.space == 0;
    written.chain(loads).chain(fetches).filter(own)
}

/// The axis along which most bytes of memory are contiguous and which threads can share: a lambda does not take its
/// elements one by one.
pub(super) fn contiguous_axis(body: &Body, draft: &Draft, target: &Target) -> Option<usize> {
    let nodes = draft.body.iter().map(|&n| &body.nodes[n as usize]);
    let one_by_one = nodes.filter(|n| n.one_by_one && target.threads > 1);
    let ordered = one_by_one.fold(0, |m, n| m | n.scanned);
    most_contiguous(body, draft, ordered).or_else(|| most_contiguous(body, draft, 0))
}

/// The number of consecutive indices of `axis`, and of the stepping axes around it, in all memory that is contiguous
/// along `axis`.
fn columns(body: &Body, draft: &Draft, axis: usize) -> u64 {
    let along = memory(body, draft).filter(|m| m.order.last() == Some(&axis));
    let columns = along.map(|m| {
        let order = m.order.iter().rev();
        let outer = order.take_while(|&&a| draft.outer >> a & 1 == 1);
        outer.fold(1u64, |all, &a| all.saturating_mul(body.extents[a]))
    });
    columns.min().unwrap_or(1)
}

/// The axis along which most bytes of memory are contiguous, ignoring the axes `except`.
fn most_contiguous(body: &Body, draft: &Draft, except: Mask) -> Option<usize> {
    let last = |order: &[usize]| {
        let mut order = order.iter().rev().copied();
        order.find(|axis| except >> axis & 1 == 0)
    };
    let windows = draft.body.iter().map(|&n| &body.nodes[n as usize]);
    let windows = windows.filter(|n| n.contiguous);
    let windows = windows.map(|n| (last(n.order()), n.bytes));
    let plain = memory(body, draft).map(|m| (last(m.order), m.bytes));
    let mut weights: Vec<(usize, u64)> = Vec::new();
    for (axis, bytes) in plain.chain(windows) {
        let Some(axis) = axis else { continue };
        match weights.iter_mut().find(|(a, _)| *a == axis) {
            Some((_, sum)) => *sum = sum.saturating_add(bytes),
            None => weights.push((axis, bytes)),
        }
    }
    let best = weights.iter().map(|(_, w)| *w).max()?;
    let mut weights = weights.into_iter();
    weights.find(|(_, w)| *w == best).map(|(a, _)| a)
}

/// The stride of memory with these axes, outermost first, along `axis`, if it is known.
fn distance(body: &Body, order: &[usize], axis: usize) -> Option<u64> {
    let at = order.iter().position(|&a| a == axis)?;
    let inner = order[at + 1..].iter();
    let mut known = inner.map(|&a| Some(body.extents[a]).filter(|_| body.named >> a & 1 == 0));
    known.try_fold(1u64, |product, extent| product.checked_mul(extent?))
}

/// The axis of the rows along which the lanes of a CPU run if rows are too short for a vector: rows have a few elements
/// along the contiguous axis `along`, stored next to those of the next row. Steps go over the rows, or hold them all.
/// `None` if rows are iterated as one with their elements and so fill vectors. Also `None` if shuffling costs more than
/// it saves: in a light sweep whose rows have sixteen bytes, or have no reduction or scan while a vector has fewer than
/// sixteen elements.
fn rows_of_short(body: &Body, draft: &Draft, target: &Target, along: usize) -> Option<usize> {
    let known = body.named >> along & 1 == 0;
    if !target.abilities().vectors || !known || !(2..=NEAR).contains(&body.extents[along]) {
        return None;
    }
    let short = |m: &Memory<'_>| m.order.last() == Some(&along);
    // Among several row axes, the first of the largest memory counts.
    let around = |m: Memory<'_>| Some((*m.order.iter().rev().nth(1)?, m.bytes));
    let first = |a: (usize, u64), b: (usize, u64)| if b.1 > a.1 { b } else { a };
    let mut around = memory(body, draft).filter(short).filter_map(around);
    let (rows, _) = around.next().map(|one| around.fold(one, first))?;
    let [row, element] = [rows, along].map(|axis| 1 << axis);
    let nodes = || draft.body.iter().map(|&n| &body.nodes[n as usize]);
    let inside = nodes().filter(|n| n.space & element != 0);
    let light = inside.map(|n| n.flops).sum::<u64>() <= LIGHT;
    let ends = nodes().any(|n| (n.reduced | n.scanned) & element != 0);
    let widest = memory(body, draft).filter(short).map(|m| m.element).max();
    let widest = widest.unwrap_or(0).max(1);
    let summed = nodes().any(|n| n.reduced & row != 0);
    let filled = body.extents[along].saturating_mul(widest);
    // A row that is added to an accumulator waits for the row before it.
    let fills = filled > PART || filled == PART && !summed;
    // Memory that is contiguous along the rows would be written or read element by element.
    let turned =
        memory(body, draft).any(|m| m.order.last() == Some(&rows) && m.stored & element != 0);
    if light && !turned && (fills || !ends && target.vector_bytes / widest < LEAST) {
        return None;
    }
    let near = |m: Memory<'_>| {
        let distance = distance(body, m.order, rows);
        m.stored & row == 0 || distance.is_some_and(|d| d <= NEAR)
    };
    // Rows may be reduced within a step, which combines their lanes. In rows that a step does not hold whole, each lane
    // adds to the accumulator.
    let free = |n: &Node| n.scanned & row == 0 && n.touches.is_none();
    let fits = body.extents[rows] >= LEAST;
    if !fits || !memory(body, draft).all(near) || !nodes().all(free) {
        return None;
    }
    let one = |axes: Mask| (axes & row == 0) != (axes & element == 0);
    let told = |n: &Node| {
        n.apart & (row | element) != 0 || one(n.stored) || (n.reduced | n.scanned) & element != 0
    };
    let apart = nodes().any(told) || memory(body, draft).any(|m| one(m.stored));
    let held = draft.outer & element == 0;
    (apart || held || turned).then_some(rows)
}

/// The axis of the rows that folds along the lanes process in SIMD lanes on a CPU: the innermost grid axis. `None` if
/// its tile is not full, if steps of a fold are read or written, or if the sweep has other ops than elementwise ones
/// and reductions along the lanes.
fn side_by_side(
    body: &Body,
    draft: &Draft,
    target: &Target,
    lanes: Option<usize>,
) -> Option<usize> {
    let along = 1 << lanes.filter(|_| target.abilities().vectors)?;
    let nodes = || draft.body.iter().map(|&n| &body.nodes[n as usize]);
    let written = |n: &u32| body.nodes[*n as usize].one_by_one;
    let fold = |n: &Node| n.one_by_one && n.scanned == along;
    if !nodes().any(fold) || draft.keeps.iter().any(written) {
        return None;
    }
    let (axes, _) = roles::assign(body, draft, target);
    let rows = axes.iter().rev().find(|(_, role)| *role == Role::Grid);
    let rows = rows.map(|(axis, _)| *axis)?;
    let step =
        |source: &Source| matches!(source, Source::Node(p) if body.nodes[*p as usize].one_by_one);
    let fits = |n: &Node| match fold(n) {
        true => n.space >> rows & 1 == 1 && !n.is_output,
        false => n.reduced & n.scanned == along || !n.sources.iter().any(step),
    };
    let plain = |n: &Node| (n.reduced | n.scanned) & !along == 0 && n.touches.is_none();
    let tiles = draft.space & !draft.outer & !along == 0;
    let full = body.extents[rows] >= LEAST;
    (tiles && full && nodes().all(|n| plain(n) && fits(n))).then_some(rows)
}

/// Contiguous axes of memory that varies along the lanes too.
fn crossed(body: &Body, draft: &Draft, lanes: usize) -> Mask {
    let varies = memory(body, draft).filter(|m| m.stored >> lanes & 1 == 1);
    let plain = varies.filter_map(|m| m.order.last().copied());
    let windows = draft
        .body
        .iter()
        .flat_map(|&n| &body.nodes[n as usize].crossed);
    let windows = windows.filter(|c| c.0 == lanes).map(|c| c.1);
    let axes = plain.chain(windows).filter(|&axis| axis != lanes);
    axes.fold(0, |m, axis| m | 1 << axis)
}
