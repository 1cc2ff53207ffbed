//! The loops of a sweep, and on a GPU the memory for its reductions: fast memory of a block, and partial results of
//! blocks.
//!
//! ```text
//! [4096, 64] summed to [64]   loops: rows stream, columns tile 64  =>  rows grid, 132 shares; columns grid, tiles of 32
//! ```
//!
//! A loop is one axis, or several axes that are neighbours in all memory and are iterated as one. `blocks.rs` maps the
//! loops to blocks. This file computes the resulting memory, as `lower/last_block.rs` allocates it: for each reduction
//! over the grid the partial results of all shares, and a tile in which threads combine them.

use fuser_ir::{DType, Op};
use fuser_target::Target;
use rustc_hash::FxHashSet;

use super::blocks::{self, Blocks, Loop, Member, Walk};
use super::body::{Body, Mask, Node, Source};
use super::loops::{LoopNest, named};
use super::roles::{self, Role};
use super::tiles::{self, LIGHT, Tiles};
use super::units::Draft;
use super::{body, epilogues};

/// A tile through which threads exchange partial results.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Tile {
    dtype: Option<DType>,
    size: u64,
}

/// The loops of a sweep, mapped to blocks and threads.
pub(super) struct Nest {
    /// The axes of each loop.
    axes: Vec<Mask>,
    /// The same, outermost first.
    order: Vec<Vec<usize>>,
    blocks: Blocks,
}

impl Nest {
    /// The loops of a sweep with these tiles; `None` on a CPU.
    pub fn of(body: &Body, draft: &Draft, tiles: &Tiles, target: &Target) -> Option<Self> {
        let (axes, _) = roles::assign(body, draft, target);
        Self::with_roles(body, draft, (&axes, &[]), tiles, target)
    }
    /// The loops of a sweep whose axes have these roles, and whose last block computes `folded`; `None` on a CPU.
    pub fn with_roles(
        body: &Body,
        draft: &Draft,
        (axes, folded): (&[(usize, Role)], &[u32]),
        tiles: &Tiles,
        target: &Target,
    ) -> Option<Self> {
        if !target.abilities().block_threads {
            return None;
        }
        let (order, axes, loops) = loops(body, draft, (axes, folded), tiles);
        // An op that a later phase computes again is counted again.
        let again = draft.residents.again.iter().map(|(_, n)| n);
        let members = draft.body.iter().chain(again);
        let members = members.map(|n| (n, &body.nodes[*n as usize]));
        let writes = |n| draft.stores.contains(n) || draft.keeps.contains(n);
        let read = read_sums(body, draft);
        let members = members.map(|(n, node)| Member {
            reduced: numbers(&axes, node.reduced),
            stored: numbers(&axes, node.stored),
            written: numbers(&axes, if writes(n) { node.stored } else { 0 }),
            scanned: numbers(&axes, node.scanned),
            windows: node.touches.is_some(),
            flops: node.flops,
            read: read.contains(n),
        });
        let memory = tiles::memory(body, draft);
        let walk = Walk {
            members: members.collect(),
            memory: memory.map(|m| numbers(&axes, m.stored)).collect(),
            vector: vector(body, draft, target),
            loops,
        };
        let blocks = walk.spread(target);
        Some(Self {
            axes,
            order,
            blocks,
        })
    }
    /// The loops as a schedule has them.
    pub fn loop_nest(self) -> LoopNest {
        LoopNest {
            loops: named(&self.order, &self.blocks.loops),
            vector: self.blocks.vector,
            partials: self.blocks.shares,
            threads: self.blocks.threads,
            groups: self.blocks.groups,
        }
    }
    /// The axes that a step covers entirely.
    pub fn whole(&self) -> Mask {
        let loops = self.axes.iter().zip(&self.blocks.loops);
        let whole = loops.filter(|(_, l)| l.role == Role::Tile);
        whole.fold(0, |m, (axes, _)| m | axes)
    }
    /// Indices of a step along the lanes.
    pub fn lanes(&self) -> Option<u64> {
        self.blocks.loops.last().map(|l| l.tile)
    }
    /// Bytes of fast memory for a block's reductions: the results of its steps, the partial results that its groups of
    /// threads exchange, and the tiles in which threads combine partial results.
    pub fn bytes(&self, body: &Body, draft: &Draft) -> u64 {
        let sums = draft.accumulators.iter();
        let sums = sums.map(|&a| self.accumulator_bytes(&body.nodes[a as usize]));
        let sums = sums.fold(0, u64::saturating_add);
        let copies = match self.blocks.groups {
            groups @ 2.. => groups,
            _ => 0,
        };
        let copies = self.shared(body, draft).into_iter().map(|sum| {
            let one = self.accumulator_bytes(sum);
            one.saturating_mul(copies)
        });
        let copies = copies.fold(0, u64::saturating_add);
        sums.saturating_add(copies)
            .saturating_add(self.combining_bytes(body, draft))
    }
    /// Bytes of partial results of the reductions over the grid, each written and read.
    pub fn partial_bytes(&self, body: &Body, draft: &Draft) -> u64 {
        let sums = self.shared(body, draft);
        if self.complete(&sums) {
            return 0;
        }
        let blocks = self.blocks_of_place();
        let rows = blocks + self.group(&sums).map_or(0, |group| blocks / group);
        let bytes = sums.iter().map(|sum| {
            let (_, along) = self.split(&sums, sum);
            let steps = along.iter().map(|&n| self.blocks.loops[n].steps().max(1));
            let rows = steps.fold(rows, u64::saturating_mul);
            let one = sum.accumulating.saturating_mul(body.elements(sum.stored));
            one.saturating_mul(rows).saturating_mul(2)
        });
        bytes.fold(0, u64::saturating_add)
    }
    /// Size of a block group in two-level combination; only if reductions vary along no loop of the grid.
    fn group(&self, sums: &[&Node]) -> Option<u64> {
        let lengths = sums.iter().map(|sum| {
            let loops = numbers(&self.axes, sum.stored).into_iter();
            loops.map(|n| self.blocks.loops[n].constant)
        });
        let varies = sums.iter().fold(0, |m, n| m | n.stored);
        let shared = self.grid().all(|n| self.axes[n] & varies == 0);
        blocks::group(self.blocks_of_place(), lengths).filter(|_| shared)
    }
    fn blocks_of_place(&self) -> u64 {
        let groups = self.blocks.groups.max(1);
        self.blocks.shares.max(1).div_ceil(groups)
    }
    /// True if each block computes its reductions completely.
    fn complete(&self, sums: &[&Node]) -> bool {
        let apart = |sum: &&Node| self.split(sums, sum).1.is_empty();
        self.blocks_of_place() == 1 && sums.iter().all(apart)
    }
    /// A reduction over the grid with one partial result for each tile along an extent that is not constant.
    pub fn uncounted(&self, body: &Body, draft: &Draft) -> Option<Op> {
        let sums = self.shared(body, draft);
        let cut = |&n: &usize| {
            let own = &self.blocks.loops[n];
            own.constant.is_none() && own.tile > 1
        };
        let uncounted = |sum: &&&Node| self.split(&sums, sum).1.iter().any(cut);
        sums.iter().find(uncounted).map(|sum| sum.op)
    }

    fn grid(&self) -> impl Iterator<Item = usize> + '_ {
        self.with(Role::Grid)
    }
    fn with(&self, role: Role) -> impl Iterator<Item = usize> + '_ {
        let loops = 0..self.axes.len();
        loops.filter(move |&n| self.blocks.loops[n].role == role)
    }
    /// The reductions over loops of the grid.
    fn shared<'a>(&self, body: &'a Body, draft: &Draft) -> Vec<&'a Node> {
        let grid = self.grid().fold(0, |m, n| m | self.axes[n]);
        let sums = draft.accumulators.iter().map(|&a| &body.nodes[a as usize]);
        sums.filter(|n| n.reduced & grid != 0).collect()
    }
    /// Splits the grid loops of which a block has one index into those that `sum` varies along and the others.
    fn split(&self, sums: &[&Node], sum: &Node) -> (Vec<usize>, Vec<usize>) {
        let varies = sums.iter().fold(0, |m, n| m | n.stored);
        let own = self.grid().filter(|&n| self.axes[n] & varies != 0);
        own.partition(|&n| self.axes[n] & sum.stored != 0)
    }
    /// Bytes of fast memory for an accumulator. A loop that the block iterates fully inside counts with its length; a
    /// loop of which the block holds one tile counts with the tile size.
    fn accumulator_bytes(&self, sum: &Node) -> u64 {
        let outer: Vec<usize> = self.grid().chain(self.with(Role::Stream)).collect();
        let grid = self.grid().count();
        let stored = numbers(&self.axes, sum.stored).into_iter();
        let Some(start) = outer.iter().position(|&n| self.axes[n] & sum.reduced != 0) else {
            return self.completed_bytes(sum);
        };
        let sizes = stored.map(|n| {
            let position = outer.iter().position(|&o| o == n);
            let whole = match start < grid {
                true => position.is_none_or(|p| p >= grid),
                false => position.is_none_or(|p| p > start),
            };
            match whole {
                true => self.blocks.loops[n].length,
                false => self.blocks.loops[n].tile,
            }
        });
        sizes.fold(sum.accumulating, u64::saturating_mul)
    }
    /// Bytes of fast memory for a reduction that a step completes: 0 for a single element. It is as wide as it
    /// accumulates if a loop that it keeps lies inside one that it reduces.
    fn completed_bytes(&self, sum: &Node) -> u64 {
        let inner = |n: &usize| self.blocks.loops[*n].has_inner();
        let loops = (0..self.axes.len()).filter(inner);
        let loops = loops.filter(|&n| self.axes[n] & sum.space != 0);
        let reduced = loops.map(|n| self.axes[n] & sum.reduced != 0);
        let element = match reduced.is_sorted() {
            true => sum.element,
            false => sum.accumulating,
        };
        let mut kept = numbers(&self.axes, sum.stored)
            .into_iter()
            .filter(inner)
            .peekable();
        match kept.peek() {
            None => 0,
            Some(_) => kept.fold(element, |bytes, n| {
                bytes.saturating_mul(self.blocks.loops[n].size())
            }),
        }
    }
    /// Bytes of the tiles with an element for each thread that combines partial results, if several threads add up the
    /// results of one element. Reductions that complete at the same position reuse the tiles in turn.
    fn combining_bytes(&self, body: &Body, draft: &Draft) -> u64 {
        let sums = self.shared(body, draft);
        if self.complete(&sums) {
            return 0;
        }
        let mut places: Vec<Vec<usize>> = Vec::new();
        // For each position: the reductions of equal loops, with the tiles of each type that they need.
        let mut tiles: Vec<(usize, Vec<usize>, Tile, u64)> = Vec::new();
        for sum in &sums {
            let (kept, _) = self.split(&sums, sum);
            let place = places.iter().position(|p| *p == kept);
            let place = place.unwrap_or_else(|| {
                places.push(kept);
                places.len() - 1
            });
            let dims = self.dims(sum);
            let row = dims.last().and_then(|&row| self.elements(&[row]));
            let by = blocks::combining(self.elements(&dims), row, self.blocks.threads);
            if by.width == by.threads {
                continue;
            }
            let tile = Tile {
                dtype: sum.accumulator,
                size: by.threads * by.lanes,
            };
            let key = (place, &dims, tile);
            match tiles.iter_mut().find(|(p, d, t, _)| (*p, d, *t) == key) {
                Some((.., number)) => *number += 1,
                None => tiles.push((place, dims, tile, 1)),
            }
        }
        let mut most: Vec<(usize, Tile, u64)> = Vec::new();
        for (place, _, tile, number) in tiles {
            match most.iter_mut().find(|m| (m.0, m.1) == (place, tile)) {
                Some(known) => known.2 = known.2.max(number),
                None => most.push((place, tile, number)),
            }
        }
        let bytes = most.into_iter().map(|(_, tile, number)| {
            let element = tile.dtype.map_or(0, DType::bytes);
            element.saturating_mul(tile.size).saturating_mul(number)
        });
        bytes.fold(0, u64::saturating_add)
    }
    /// The inner loops of a block's share of a reduction over the grid, in storage order.
    fn dims(&self, sum: &Node) -> Vec<usize> {
        let mut dims: Vec<usize> = Vec::new();
        for axis in sum.order() {
            let number = self.axes.iter().position(|axes| axes >> axis & 1 == 1);
            let inner = |n: &usize| {
                let own = &self.blocks.loops[*n];
                own.role != Role::Grid || own.has_inner()
            };
            dims.extend(number.filter(|n| inner(n) && !dims.contains(n)));
        }
        dims
    }
    /// The elements of a block's share along some loops, if all shares are equally large.
    fn elements(&self, dims: &[usize]) -> Option<u64> {
        let mut sizes = dims.iter().map(|&n| {
            let own = &self.blocks.loops[n];
            match (own.role, own.constant?) {
                (Role::Grid, length) if length <= own.tile => Some(length),
                (Role::Grid, length) => length.is_multiple_of(own.tile).then_some(own.tile),
                (_, length) => Some(length),
            }
        });
        sizes.try_fold(1u64, |all, size| Some(all.saturating_mul(size?)))
    }
}

/// The loops of a sweep and the axes of each, in order and as a set; the loop of the lanes comes last.
pub(super) fn loops(
    body: &Body,
    draft: &Draft,
    (axes, folded): (&[(usize, Role)], &[u32]),
    tiles: &Tiles,
) -> (Vec<Vec<usize>>, Vec<Mask>, Vec<Loop>) {
    let loops = groups(body, draft, axes, folded)
        .into_iter()
        .map(|(order, role)| {
            let axes = mask(&order);
            let length = body.elements(axes);
            let known = body.named & axes == 0 || body.elements(axes & !body.named) == 0;
            let one = Loop {
                constant: known.then_some(length),
                most: (known || body.named & !body.longest & axes == 0).then_some(length),
                length,
                role,
                tile: tiles.of_loop(axes),
            };
            (order, axes, one)
        });
    let mut loops: Vec<(Vec<usize>, Mask, Loop)> = loops.collect();
    loops.sort_by_key(|(_, axes, l)| (tiles.runs_within(*axes), l.role));
    let order = loops.iter_mut().map(|l| std::mem::take(&mut l.0)).collect();
    let (axes, loops) = loops.into_iter().map(|(_, axes, one)| (axes, one)).unzip();
    (order, axes, loops)
}

/// A set of axes.
fn mask(axes: &[usize]) -> Mask {
    axes.iter().fold(0, |m, axis| m | 1 << axis)
}

/// The numbers of the loops that iterate axes of `set`.
fn numbers(loops: &[Mask], set: Mask) -> Vec<usize> {
    let numbers = 0..loops.len();
    numbers.filter(|&n| loops[n] & set != 0).collect()
}

/// Groups of axes that are iterated as one: neighbours in all memory and in all reductions, with one role, reduced by
/// the same ops, and scanned by none. A value that is not in memory has both axes or neither.
fn groups(
    body: &Body,
    draft: &Draft,
    axes: &[(usize, Role)],
    folded: &[u32],
) -> Vec<(Vec<usize>, Role)> {
    let nodes = || draft.body.iter().map(|&n| &body.nodes[n as usize]);
    let apart = nodes().fold(0, |all, n| all | n.apart);
    let in_memory = |n: &u32| draft.stores.contains(n) || draft.keeps.contains(n);
    let made = draft.body.iter().map(|n| {
        let node = &body.nodes[*n as usize];
        (node.order(), node.reduced != 0 || in_memory(n))
    });
    let inputs = draft
        .loads
        .iter()
        .map(|&l| &body.inputs[l as usize].order[..]);
    let fetched = draft
        .fetches
        .iter()
        .map(|&n| body.nodes[n as usize].order());
    // The last block reads and writes memory too.
    let late = folded.iter().map(|&n| &body.nodes[n as usize]);
    let read = late.clone().flat_map(|n| &n.sources);
    let read = read.map(|source| match *source {
        Source::Input(input) => &body.inputs[input as usize].order[..],
        Source::Node(node) => body.nodes[node as usize].order(),
    });
    let written = late.filter(|n| n.is_output).map(Node::order);
    let lies = inputs.chain(fetched).chain(read).chain(written);
    let orders: Vec<_> = made.chain(lies.map(|order| (order, true))).collect();
    let joins = |before: usize, axis: usize| {
        let mut near = orders.iter().map(|(order, ordered)| {
            let place = |axis: usize| order.iter().position(|&a| a == axis);
            match (place(before), place(axis)) {
                (None, None) => true,
                (Some(before), Some(axis)) => axis == before + 1 || !ordered,
                _ => false,
            }
        });
        let both: Mask = 1 << before | 1 << axis;
        // A window distinguishes axes that are no neighbours in its result.
        let apart_in_window = |n: &Node| {
            let place = |axis: usize| n.order().iter().position(|&a| a == axis);
            let neighbours = match (place(before), place(axis)) {
                (None, None) => true,
                (Some(before), Some(axis)) => axis == before + 1,
                _ => false,
            };
            n.touches.is_some() && !n.is_unwalked() && !neighbours
        };
        let computed = |p: &u32| draft.body.binary_search(p).is_ok();
        let fetches = |n: &Node| !n.elsewhere.iter().any(|(p, _)| computed(p));
        let alike = |n: &Node| {
            let reduced = n.reduced & both;
            (reduced == 0 || reduced == both)
                && n.scanned & both == 0
                && !apart_in_window(n)
                && !n
                    .splits
                    .iter()
                    .any(|split| split.axes == (before, axis) && (split.in_memory || !fetches(n)))
        };
        apart & both == 0 && nodes().all(alike) && near.all(|near| near)
    };
    let mut groups: Vec<(Vec<usize>, Role)> = Vec::new();
    let mut before = None;
    for &(axis, role) in axes {
        match groups.last_mut().zip(before) {
            Some((group, before)) if group.1 == role && joins(before, axis) => group.0.push(axis),
            _ => groups.push((vec![axis], role)),
        }
        before = Some(axis);
    }
    groups
}

/// The axes of the row loop of which a CPU's step takes several indices for a scan along the lanes, by the same rule as
/// `loops.rs`. It is the innermost loop around the lanes, in a light sweep of elementwise ops and scans along the
/// lanes, if its rows lie far apart and fill a step.
pub(super) fn rows_of_scan(
    body: &Body,
    draft: &Draft,
    axes: &[(usize, Role)],
    along: Mask,
    target: &Target,
) -> Option<Mask> {
    let nodes = || draft.body.iter().map(|&n| &body.nodes[n as usize]);
    let plain = |n: &Node| {
        let walks = n.scanned == 0 || n.scanned == along && !n.one_by_one;
        walks && n.reduced & along == 0 && n.touches.is_none()
    };
    let light = nodes().map(|n| n.flops).sum::<u64>() <= LIGHT;
    let held = draft.space & !draft.outer & !along != 0;
    if !target.abilities().vectors || !light || held || !nodes().all(plain) {
        return None;
    }
    let around = groups(body, draft, axes, &[]).into_iter();
    let around = around.map(|(axes, role)| (mask(&axes), role));
    let around = around.filter(|(axes, role)| *role != Role::Tile && axes & along == 0);
    let (rows, _) = around.max_by_key(|(_, role)| *role)?;
    let of_row = tiles::memory(body, draft).filter(|m| m.stored & rows != 0);
    let row = of_row
        .map(|m| body.elements(along).saturating_mul(m.element))
        .min()?;
    let least = match nodes().any(|n| n.reduced & rows != 0) {
        true => target.shared_rows.saturating_mul(target.partials),
        false => target.shared_rows,
    };
    let many = body.elements(rows) >= least;
    (many && row >= target.row_distance).then_some(rows)
}

/// Lanes of a vector: as many elements of the widest type as the target's vectors hold. The target decides if the type
/// is that in memory or that of the computation.
pub(super) fn vector(body: &Body, draft: &Draft, target: &Target) -> u64 {
    let node = |&n: &u32| &body.nodes[n as usize];
    let input = |&l: &u32| &body.inputs[l as usize];
    let bytes = match target.lanes_by_memory {
        0 => {
            // Values of windows are at other indices than the lanes.
            let made = draft.body.iter().chain(&draft.fetches).map(node);
            let made = made.filter(|n| !n.is_unwalked()).map(|n| n.computes);
            let read = draft.loads.iter().map(input).filter(|i| i.stored != 0);
            let all = made.chain(read.map(|i| i.computes));
            all.filter(|bytes| *bytes > 0).max()
        }
        _ => {
            let written = [&draft.stores, &draft.keeps, &draft.accumulators];
            let written = written.into_iter().flatten();
            let written = written.filter(|n| draft.body.binary_search(n).is_ok());
            let made = written.chain(&draft.fetches).map(node).map(|n| n.lane);
            made.chain(draft.loads.iter().map(input).map(|i| i.lane))
                .max()
        }
    };
    body::lanes(bytes, target)
}

/// The reductions of a sweep that its ops read or that have an alias.
fn read_sums(body: &Body, draft: &Draft) -> FxHashSet<u32> {
    let names = draft.epilogue.iter().copied();
    let names = names.filter(|&i| epilogues::is_name(body, draft, i));
    let ops = draft.body.iter().copied().chain(names);
    let read = ops.flat_map(|n| &body.nodes[n as usize].sources);
    let sum = |p: &u32| body.nodes[*p as usize].reduced != 0;
    read.filter_map(|source| source.node())
        .filter(sum)
        .collect()
}
