//! Sums over the blocks of a GPU: each block computes the sums of its share, and the last block to finish combines all
//! shares (a threadfence reduction).
//!
//! ```text
//! grid loop                          for each place in the kept grid loops, a block for each share of the others
//!   accumulators = identity
//!   the share's steps                add to them
//!   partial results -> memory        of groups of threads, with a share each, those of all put together
//!   kernel.last at the place         results = those of all shares in their order, whichever block is the last
//! ```
//!
//! If a place has many shares of many elements, groups of neighboring blocks combine their shares first. The last block
//! of each group does so, and the last block of all combines the groups. A single block would read all shares at the
//! speed of one multiprocessor, some 100 GB/s.
//!
//! A grid loop is *shared* if no sum over the grid varies along it; a share is a range of the steps of these loops. A
//! block has one index of every other loop. A *place* is an index of the loops that a sum varies along: the sum is
//! complete when all blocks of its place have finished. Sums that vary along the same loops are combined together. If
//! every place has a single block, its sums are already complete.
//!
//! The order of additions follows from the shape alone. A share is empty where there are fewer steps than shares.

use fuser_analysis::cost::blocks;
use fuser_dialects::kernel::WARP;
use fuser_dialects::kernel::bounds::multiple;
use fuser_ir::types::ExtentExpr;
use fuser_ir::{DType, Op, Value};
use rustc_hash::FxHashMap;

use super::build::{Idx, KernelBuilder, Map};
use super::effects::Effect;
use super::sweep::{Accumulator, SweepLowering, Unsupported};
use crate::spec::{LoopAxis, Role, SweepSpec};

/// The elements that a thread of a group's last block processes at a time.
const GROUP_LANES: i64 = 4;

/// A tile in which threads hand on what they put together.
struct CombiningTile {
    dtype: DType,
    size: i64,
    memory: Value,
}

/// The grid loops of a sweep that has sums over the grid: `shared` loops are reduced by every sum, `own` loops index
/// some sum.
pub(super) struct GridLoops {
    /// The number of blocks in a group, where groups combine partial results before the last block does.
    group: Option<i64>,
    shared: Vec<usize>,
    own: Vec<usize>,
    /// Those of the others that some sum does not vary along.
    mixed: Vec<usize>,
}

impl GridLoops {
    /// The loops of `grid`, for sums that vary along these loops each.
    pub(super) fn new(spec: &SweepSpec, grid: &[usize], sums: &[Vec<usize>]) -> Self {
        let (own, shared): (Vec<usize>, Vec<usize>) = grid
            .iter()
            .partition(|l| sums.iter().any(|varies| varies.contains(l)));
        let mixed = |l: &usize| sums.iter().any(|varies| !varies.contains(l));
        let length = |l: &usize| spec.loops[*l].extent.as_constant();
        let length = |l| length(l).map(i64::unsigned_abs);
        let lengths = sums.iter().map(|varies| varies.iter().map(length));
        let group = blocks::group(blocks_of_place(spec).unsigned_abs(), lengths);
        Self {
            group: group.filter(|_| own.is_empty()).map(|group| group as i64),
            mixed: own.iter().copied().filter(mixed).collect(),
            shared,
            own,
        }
    }
    /// Splits the `own` loops into those that a sum varies along and those that it does not.
    fn split(&self, varies: &[usize]) -> (Vec<usize>, Vec<usize>) {
        self.own.iter().partition(|l| varies.contains(l))
    }
    /// True if each block has all of its sums.
    pub(super) fn complete(&self, spec: &SweepSpec) -> bool {
        blocks_of_place(spec) == 1 && self.mixed.is_empty()
    }
    /// The number of block groups that combine partial results before the last block does.
    fn number_of_groups(&self, spec: &SweepSpec) -> i64 {
        self.group.map_or(0, |group| blocks_of_place(spec) / group)
    }
    /// The minimum number of partial results per element of a sum: one for each block of a place and each index of the
    /// loops along which only other sums vary. One row for each group of blocks follows. `None` if the number is not a
    /// polynomial of extents.
    pub(super) fn rows(&self, spec: &SweepSpec, varies: &[usize]) -> Option<ExtentExpr> {
        let shares = ExtentExpr::constant(blocks_of_place(spec) + self.number_of_groups(spec));
        let (_, along) = self.split(varies);
        let mut loops = along.into_iter().map(|l| &spec.loops[l]);
        loops.try_fold(shares, |rows, l| match (l.tile, l.extent.as_constant()) {
            (tile, Some(extent)) => {
                let steps = (extent + tile - 1) / tile;
                rows.mul(&ExtentExpr::constant(steps.max(1)))
            }
            // A loop that may be empty has a step.
            (1, None) => rows.mul(&l.extent.add(&ExtentExpr::constant(1))?),
            (_, None) => None,
        })
    }
}

/// The number of shares of the shared loops: as many in each block as it has groups.
fn number_of_shares(spec: &SweepSpec) -> i64 {
    let groups = spec.groups.max(1);
    (spec.partials.max(1) + groups - 1) / groups * groups
}

/// Blocks of each place.
pub(super) fn blocks_of_place(spec: &SweepSpec) -> i64 {
    number_of_shares(spec) / spec.groups.max(1)
}

/// Sums that vary along the same grid loops.
struct Together {
    kept: Vec<usize>,
    /// Loops of which each block has one index, and along which these sums do not vary.
    along: Vec<usize>,
    /// The places, and the blocks of each.
    places: Idx,
    count: Idx,
    /// The sums, those together whose elements lie alike.
    sums: Vec<Vec<Accumulator>>,
}

/// The steps of the grid loops and the shares of them.
struct Shares {
    loops: GridLoops,
    /// The steps of each grid loop.
    steps: FxHashMap<usize, Idx>,
    /// The steps of the shared loops in total and for each share; true if every share is one step.
    total: Idx,
    share: Idx,
    one_step: bool,
}

impl Shares {
    fn product(&self, k: &mut KernelBuilder, loops: &[usize]) -> Idx {
        let steps = loops.iter().map(|l| self.steps[l]);
        steps.fold(Idx::Const(1), |all, steps| k.mul(all, steps))
    }
}

impl SweepLowering<'_> {
    /// The grid loop of a sweep with sums over the grid.
    pub(super) fn emit_shares(&mut self, grid: &[usize]) -> Result<(), Unsupported> {
        let crossing = self.accumulators.iter().filter(|a| a.cross_grid);
        let crossing: Vec<Accumulator> = crossing.cloned().collect();
        let groups = self.spec.groups;
        let blocks = blocks_of_place(self.spec);
        let shares = self.shares(grid, &crossing);
        let together = self.together(&shares, crossing.clone(), blocks);
        let mut copies = crossing.clone();
        if groups > 1 {
            for copy in &mut copies {
                *copy = self.allocate_copies(copy, groups);
            }
        }
        let places = shares.product(&mut self.k, &shares.loops.own);
        let all = self.k.mul(places, Idx::Const(blocks));
        self.for_loop([Idx::ZERO, all, Idx::Const(1)], Map::Grid, |s, block| {
            let place = s.k.div(block, Idx::Const(blocks));
            let number = s.k.rem(block, Idx::Const(blocks));
            s.decode_loops(&shares, &shares.loops.own, place);
            if groups > 1 {
                let from = s.k.mul(number, Idx::Const(groups));
                let to = s.k.add(from, Idx::Const(groups));
                let bounds = [from, to, Idx::Const(1)];
                s.for_loop(bounds, Map::Group(groups), |s, number| {
                    s.emit_share(&shares, number)?;
                    let group = s.k.rem(number, Idx::Const(groups));
                    let mut sums = crossing.iter().zip(&copies);
                    sums.try_for_each(|(sum, copy)| s.copy_accumulator(sum, copy, group))
                })?;
            } else {
                s.emit_share(&shares, number)?;
            }
            if shares.loops.complete(s.spec) {
                let copy = |sum: &Accumulator| copies.iter().find(|copy| copy.op == sum.op);
                let mut sums = together.iter().flat_map(|together| &together.sums);
                return sums.try_for_each(|sums| {
                    let copies: Vec<Accumulator> = sums.iter().filter_map(copy).cloned().collect();
                    s.finish_share(&copies)
                });
            }
            s.flush_share(&shares, &copies, number)?;
            if let Some(group) = shares.loops.group {
                s.emit_group(&crossing, number, group)?;
            }
            together.iter().try_for_each(|sums| {
                s.unless_empty(&shares.loops, &sums.kept, |s| s.emit_last(&shares, sums))
            })
        })
    }
    fn shares(&mut self, grid: &[usize], sums: &[Accumulator]) -> Shares {
        let number = Idx::Const(number_of_shares(self.spec));
        let results = sums.iter().map(|sum| self.ir().result(sum.op, 0));
        let varies: Vec<Vec<usize>> = results.map(|v| self.varies(v)).collect();
        let mut shares = Shares {
            loops: GridLoops::new(self.spec, grid, &varies),
            steps: FxHashMap::default(),
            total: Idx::Const(1),
            share: Idx::ZERO,
            one_step: false,
        };
        for &axis in grid {
            let tile = Idx::Const(self.spec.loops[axis].tile);
            let mut steps = self.k.ceil_div(self.extent[axis], tile);
            if shares.loops.mixed.contains(&axis) {
                // Sums that do not vary along an empty loop are to be computed: it has a step, in which there is nothing.
                let some = self.k.min(self.extent[axis], Idx::Const(1));
                shares.total = self.k.mul(shares.total, some);
                steps = self.k.max(steps, Idx::Const(1));
            }
            shares.steps.insert(axis, steps);
        }
        let steps = shares.product(&mut self.k, &shares.loops.shared);
        shares.total = self.k.mul(shares.total, steps);
        shares.share = self.k.ceil_div(shares.total, number);
        shares.one_step = shares.share.is(1) && shares.total == number;
        shares
    }
    fn decode_loops(&mut self, shares: &Shares, loops: &[usize], flat: Idx) {
        let steps: Vec<Idx> = loops.iter().map(|l| shares.steps[l]).collect();
        self.decode(loops, &steps, flat);
    }
    /// The index of the present step in loops that are walked as one.
    fn place(&mut self, shares: &Shares, loops: &[usize]) -> Idx {
        loops.iter().fold(Idx::ZERO, |place, axis| {
            let place = self.k.mul(place, shares.steps[axis]);
            self.k.add(place, self.outer[*axis])
        })
    }
    fn together(&mut self, shares: &Shares, sums: Vec<Accumulator>, blocks: i64) -> Vec<Together> {
        let mut list: Vec<Together> = Vec::new();
        for sum in sums {
            let varies = self.varies(self.ir().result(sum.op, 0));
            let (kept, along) = shares.loops.split(&varies);
            if let Some(known) = list.iter_mut().find(|t| t.kept == kept) {
                let axes = |sum: &Accumulator| sum.dims.iter().map(|d| d.axis).collect::<Vec<_>>();
                let alike = |list: &&mut Vec<Accumulator>| axes(&list[0]) == axes(&sum);
                match known.sums.iter_mut().find(alike) {
                    Some(list) => list.push(sum),
                    None => known.sums.push(vec![sum]),
                }
                continue;
            }
            let places = shares.product(&mut self.k, &kept);
            let steps = shares.product(&mut self.k, &along);
            list.push(Together {
                kept,
                along,
                places,
                count: self.k.mul(steps, Idx::Const(blocks)),
                sums: vec![vec![sum]],
            });
        }
        list
    }
    /// Runs `body` unless one of the loops `some` is empty while other sums still iterate over it.
    fn unless_empty(
        &mut self,
        loops: &GridLoops,
        some: &[usize],
        body: impl FnOnce(&mut Self) -> Result<(), Unsupported>,
    ) -> Result<(), Unsupported> {
        let mixed = loops.mixed.iter().filter(|l| some.contains(l));
        let lengths = mixed.map(|&axis| self.extent[axis]);
        let lengths: Vec<Idx> = lengths.filter(|l| !matches!(l, Idx::Const(1..))).collect();
        let least = lengths.into_iter().reduce(|a, b| self.k.min(a, b));
        match least {
            Some(least) => self.where_less(Idx::ZERO, least, body),
            None => body(self),
        }
    }
    /// A share of the steps of the shared loops.
    fn emit_share(&mut self, shares: &Shares, number: Idx) -> Result<(), Unsupported> {
        self.partial = number;
        self.init_accumulators(|a| a.cross_grid)?;
        self.emit_hoisted(0)?;
        let loops = &shares.loops;
        let inside = loops.shared.len() + loops.own.len();
        if shares.one_step {
            self.decode_loops(shares, &loops.shared, number);
            self.emit_outer(inside)?;
        } else {
            let from = self.k.mul(number, shares.share);
            let to = self.k.add(from, shares.share);
            let to = self.k.min(to, shares.total);
            match self.range_axis(loops) {
                Some(axis) => self.emit_whole_share(axis, from, to, inside)?,
                None => self.for_loop([from, to, Idx::Const(1)], Map::Seq, |s, step| {
                    s.decode_loops(shares, &loops.shared, step);
                    s.emit_outer(inside)
                })?,
            }
        }
        Ok(())
    }
    /// The partial results of the block of this number at its place.
    fn flush_share(
        &mut self,
        shares: &Shares,
        sums: &[Accumulator],
        number: Idx,
    ) -> Result<(), Unsupported> {
        let loops = &shares.loops;
        for sum in sums {
            let result = self.ir().result(sum.op, 0);
            let Some(&memory) = self.partials.get(&result) else {
                continue;
            };
            let (kept, along) = loops.split(&self.varies(result));
            let row = self.place(shares, &along);
            let row = self.k.mul(row, Idx::Const(blocks_of_place(self.spec)));
            let row = self.k.add(row, number);
            let elements = self.elements(result);
            let first = self.k.mul(row, elements);
            let dtype = sum.combine.accumulator(self.result_dtype(sum.op));
            self.unless_empty(loops, &kept, |s| match sum.copies {
                1 => s.flush_dims(sum, (memory, first, dtype), &mut FxHashMap::default(), 0),
                _ => s.flush_copies(sum, memory, first),
            })?;
        }
        Ok(())
    }
    /// Combines the copies of complete sums and runs the phases that depend on them: one thread for each element.
    fn finish_share(&mut self, sums: &[Accumulator]) -> Result<(), Unsupported> {
        let behind = self.behind(sums)?;
        let sizes = sums.first().map(|sum| self.sizes_of(sum));
        self.each_element(&sizes.unwrap_or_default(), |s, ivs| {
            let values = sums.iter().map(|sum| s.sum_copies(sum, ivs)).collect();
            s.finish(sums, values, &behind, ivs)
        })
    }
    /// Combines the copies of a sum and stores the results to `memory` from element `first` on: one thread for each
    /// element.
    fn flush_copies(
        &mut self,
        sum: &Accumulator,
        memory: Value,
        first: Idx,
    ) -> Result<(), Unsupported> {
        let result = self.ir().result(sum.op, 0);
        let sizes = self.sizes_of(sum);
        self.each_element(&sizes, |s, ivs| {
            let value = s.sum_copies(sum, ivs);
            let to = s.offset(result, ivs)?;
            let to = s.k.add(first, to);
            s.k.store(value, memory, to);
            Ok(())
        })
    }
    /// Runs `body` for each element of loops with these sizes, outermost first, one element for each thread.
    fn each_element(
        &mut self,
        sizes: &[(usize, Idx)],
        body: impl Fn(&mut Self, &FxHashMap<usize, Idx>) -> Result<(), Unsupported>,
    ) -> Result<(), Unsupported> {
        let count = sizes.iter();
        let count = count.fold(Idx::Const(1), |all, (_, size)| self.k.mul(all, *size));
        let threads = self.spec.threads;
        let flush = |s: &mut Self, at| {
            let ivs = s.indices_of(sizes, at);
            body(s, &ivs)
        };
        match count {
            // One condition for all copies.
            Idx::Const(some) if some < threads => {
                let bounds = [Idx::ZERO, Idx::Const(threads), Idx::Const(1)];
                self.for_loop(bounds, Map::Thread, |s, at| {
                    s.where_less(at, count, |s| flush(s, at))
                })
            }
            _ => self.for_loop([Idx::ZERO, count, Idx::Const(1)], Map::Thread, flush),
        }
    }
    /// The shared loop whose tiles in a share can form a single step, so that threads combine their sums once. Only the
    /// lanes' loop qualifies. No step may index another shared loop, and the sweep must have a single phase without
    /// kept values.
    fn range_axis(&self, loops: &GridLoops) -> Option<usize> {
        let &[axis] = loops.shared.as_slice() else {
            return None;
        };
        let alone = |(n, l): (usize, &LoopAxis)| n == axis || l.role == Role::Grid && l.tile == 1;
        let mut inside = self.flat.ops.iter().filter(|(_, p)| !self.is_after(*p));
        let plain = |(op, phase): &(Op, usize)| {
            *phase == 0 && self.axes.scanned(*op).is_none() && self.axes.window(*op).is_none()
        };
        // A step of one index has no loop along the axis.
        let fits = axis + 1 == self.spec.loops.len()
            && self.spec.loops[axis].tile > 1
            && !self.is_one_step(axis)
            && self.spec.loops.iter().enumerate().all(alone)
            && self.hoisted.is_empty()
            && inside.all(plain);
        fits.then_some(axis)
    }
    /// Emits the tiles `from..to` of a loop as one step; the range may be empty.
    fn emit_whole_share(
        &mut self,
        axis: usize,
        from: Idx,
        to: Idx,
        inside: usize,
    ) -> Result<(), Unsupported> {
        self.set_outer(axis, from);
        let tile = Idx::Const(self.spec.loops[axis].tile);
        let end = self.k.mul(to, tile);
        let end = self.k.min(end, self.extent[axis]);
        let count = self.k.sub(end, self.base[axis]);
        self.range = Some((axis, self.k.max(count, Idx::ZERO)));
        let done = self.emit_outer(inside);
        self.range = None;
        done
    }
    /// The number of stored elements of a sum.
    fn elements(&mut self, result: Value) -> Idx {
        let loops = self.in_value_order(result).into_iter();
        loops.fold(Idx::Const(1), |all, axis| {
            self.k.mul(all, self.extent[axis])
        })
    }
    /// Emits the work of the last block of a group: it combines the partial results of the group's blocks. The result
    /// goes to a row after those of all blocks.
    fn emit_group(
        &mut self,
        sums: &[Accumulator],
        number: Idx,
        group: i64,
    ) -> Result<(), Unsupported> {
        let blocks = blocks_of_place(self.spec);
        let [size, groups] = [group, blocks / group].map(Idx::Const);
        let at = self.k.div(number, size);
        let open = self.k.open_if();
        let first = self.k.mul(at, size);
        let to = self.k.add(Idx::Const(blocks), at);
        for sum in sums {
            let result = self.ir().result(sum.op, 0);
            let Some(&memory) = self.partials.get(&result) else {
                continue;
            };
            let elements = self.elements(result);
            let known = match elements {
                Idx::Const(count) => count,
                Idx::Value(count) => multiple(self.k.ir, count, &self.k.multiples),
            };
            let (lanes, step) = match known % GROUP_LANES {
                0 => (Some(GROUP_LANES.unsigned_abs()), GROUP_LANES),
                _ => (None, 1),
            };
            let bounds = [Idx::ZERO, elements, Idx::Const(step)];
            self.for_loop(bounds, Map::Thread, |s, element| {
                let place = |s: &mut Self, row| {
                    let row = s.k.mul(row, elements);
                    s.k.add(row, element)
                };
                let values = (0..group).map(|n| {
                    let row = s.k.add(first, Idx::Const(n));
                    let from = place(s, row);
                    s.k.load(memory, from, lanes)
                });
                let values: Vec<Value> = values.collect();
                let all = values.into_iter();
                let value = all.reduce(|all, value| sum.combine.apply(&mut s.k, all, value));
                let to = place(s, to);
                if let Some(value) = value {
                    s.k.store(value, memory, to);
                }
                Ok(())
            })?;
        }
        self.k.close_last(open, [at, groups, size]);
        Ok(())
    }
    /// The work of the last block of a place.
    fn emit_last(&mut self, shares: &Shares, together: &Together) -> Result<(), Unsupported> {
        let at = self.place(shares, &together.kept);
        let open = self.k.open_if();
        let steps = shares.product(&mut self.k, &together.along);
        let blocks = blocks_of_place(self.spec);
        let rows = match shares.loops.number_of_groups(self.spec) {
            0 => [Idx::ZERO, self.k.mul(steps, Idx::Const(blocks))],
            groups => [blocks, groups].map(Idx::Const),
        };
        // Of steps that are over nothing is known here.
        self.scalars.clear();
        self.resident.clear();
        let mut tiles = Vec::new();
        for sums in &together.sums {
            self.combine(sums, rows, &mut tiles)?;
        }
        self.k
            .close_last(open, [at, together.places, together.count]);
        Ok(())
    }
    /// True if a phase runs when the loops of the grid have ended.
    pub(super) fn is_after(&self, phase: usize) -> bool {
        self.flat.after.get(phase).copied().unwrap_or(false)
    }
    /// The phases that run once `sums` are complete. A phase that depends on one of them must depend on no other sum.
    fn behind(&self, sums: &[Accumulator]) -> Result<Vec<usize>, Unsupported> {
        let (mut phases, all) = (Vec::new(), 0..self.flat.after.len());
        for phase in all.filter(|&p| self.is_after(p)) {
            let (mut own, mut other) = (false, None);
            let mut stack = self.phase_ops(phase);
            while let Some(op) = stack.pop() {
                for value in self.computed_operands(op) {
                    let Some(by) = self.ir().def_op(value) else {
                        continue;
                    };
                    if self.accumulators.iter().any(|a| a.op == by) {
                        let mine = sums.iter().any(|sum| sum.op == by);
                        own |= mine;
                        other = other.or((!mine).then_some(op));
                    } else if self.order.contains_key(&by) && by != op {
                        stack.push(by);
                    }
                }
            }
            match other.filter(|_| own) {
                Some(op) => {
                    return self.refuse(
                        op,
                        "its phase runs after sums that are complete at different places",
                        "put it into a sweep of its own",
                    );
                }
                None if own => phases.push(phase),
                None => {}
            }
        }
        Ok(phases)
    }
    /// The loops over a sum's elements in the current place, and the number of elements along each.
    fn sizes_of(&mut self, sum: &Accumulator) -> Vec<(usize, Idx)> {
        let mut sizes = Vec::new();
        for dim in &sum.dims {
            if dim.whole {
                self.base[dim.axis] = Idx::ZERO;
            }
            let size = match dim.whole {
                true => dim.size,
                false => self.inner_count(dim.axis),
            };
            sizes.push((dim.axis, size));
        }
        sizes
    }
    /// Combines the partial results of the current place, `count` rows from the first on. A few elements get one warp
    /// each. For more elements, groups of threads each add a share of the rows, and one group combines the shares. With
    /// enough elements for all threads, one thread adds all rows of an element. Threads use vectors if each row
    /// consists of full ones.
    fn combine(
        &mut self,
        sums: &[Accumulator],
        [from, rows]: [Idx; 2],
        tiles: &mut Vec<CombiningTile>,
    ) -> Result<(), Unsupported> {
        let behind = self.behind(sums)?;
        let sizes = sums.first().map(|sum| self.sizes_of(sum));
        let sizes = sizes.unwrap_or_default();
        let count = sizes.iter();
        let count = count.fold(Idx::Const(1), |all, (_, size)| self.k.mul(all, *size));
        let known = |idx: Idx| match idx {
            Idx::Const(size) => Some(size.unsigned_abs()),
            Idx::Value(_) => None,
        };
        let row = sizes.last().and_then(|(_, size)| known(*size));
        let by = blocks::combining(known(count), row, self.spec.threads.unsigned_abs());
        let [threads, width, lanes] = [by.threads, by.width, by.lanes].map(|n| n as i64);
        let vector = (lanes > 1).then_some(by.lanes);
        let groups = threads / width;
        let share = self.k.ceil_div(rows, Idx::Const(groups));
        if groups == 1 {
            let bounds = [Idx::ZERO, count, Idx::Const(lanes)];
            return self.for_loop(bounds, Map::Thread, |s, at| {
                let ivs = s.indices_of(&sizes, at);
                let (range, by) = ([Idx::ZERO, rows], (Map::Seq, vector));
                let partials = sums
                    .iter()
                    .map(|sum| s.sum_partials(sum, from, range, &ivs, by));
                let partials: Vec<Value> = partials.collect::<Result<_, _>>()?;
                (0..lanes).try_for_each(|lane| {
                    let at = s.k.add(at, Idx::Const(lane));
                    let ivs = s.indices_of(&sizes, at);
                    let elements = partials.iter().map(|&value| match vector {
                        Some(_) => s.extract(value, lane),
                        None => value,
                    });
                    let values = elements.collect();
                    s.finish(sums, values, &behind, &ivs)
                })
            });
        }
        let tiles = self.combining_tiles(sums, tiles, threads * lanes);
        let ordered = sums.iter().any(|sum| sum.combine.is_ordered());
        if let Idx::Const(few) = count
            && few <= self.spec.threads / WARP
            && !ordered
        {
            self.combine_by_warps(sums, &tiles, &sizes, [from, rows, count])?;
            return self.for_loop([Idx::ZERO, count, Idx::Const(1)], Map::Thread, |s, at| {
                let loads = tiles.iter().map(|&tile| s.k.load(tile, at, None));
                let values = loads.collect();
                let ivs = s.indices_of(&sizes, at);
                s.finish(sums, values, &behind, &ivs)
            });
        }
        let columns = width * lanes;
        let bounds = [Idx::ZERO, count, Idx::Const(columns)];
        self.for_loop(bounds, Map::Seq, |s, start| {
            let bounds = [Idx::ZERO, Idx::Const(threads), Idx::Const(1)];
            s.for_loop(bounds, Map::Thread, |s, thread| {
                let column = s.k.rem(thread, Idx::Const(width));
                let column = s.k.mul(column, Idx::Const(lanes));
                let at = s.k.add(start, column);
                s.where_less(at, count, |s| {
                    let ivs = s.indices_of(&sizes, at);
                    let group = s.k.div(thread, Idx::Const(width));
                    let first = s.k.mul(group, share);
                    let last = s.k.add(first, share);
                    let last = s.k.min(last, rows);
                    let to = s.k.mul(thread, Idx::Const(lanes));
                    for (sum, &tile) in sums.iter().zip(&tiles) {
                        let (range, by) = ([first, last], (Map::Seq, vector));
                        let value = s.sum_partials(sum, from, range, &ivs, by)?;
                        s.k.store(value, tile, to);
                    }
                    Ok(())
                })
            })?;
            let bounds = [Idx::ZERO, Idx::Const(columns), Idx::Const(1)];
            s.for_loop(bounds, Map::Thread, |s, column| {
                let at = s.k.add(start, column);
                s.where_less(at, count, |s| {
                    let ivs = s.indices_of(&sizes, at);
                    let mut values = Vec::new();
                    for (sum, &tile) in sums.iter().zip(&tiles) {
                        let (range, by) = ([Idx::ZERO, Idx::Const(groups)], (Map::Seq, None));
                        values.push(s.sum_rows(sum, range, by, |s, group| {
                            let place = s.k.mul(group, Idx::Const(columns));
                            let place = s.k.add(place, column);
                            s.k.load(tile, place, None)
                        })?);
                    }
                    s.finish(sums, values, &behind, &ivs)
                })
            })
        })
    }
    /// Combines the rows of each element by one warp; there are at most as many rows as warps.
    fn combine_by_warps(
        &mut self,
        sums: &[Accumulator],
        tiles: &[Value],
        sizes: &[(usize, Idx)],
        [from, rows, count]: [Idx; 3],
    ) -> Result<(), Unsupported> {
        let groups = Map::Group(self.spec.threads / WARP);
        let bounds = [Idx::ZERO, count, Idx::Const(1)];
        self.for_loop(bounds, groups, |s, at| {
            let ivs = s.indices_of(sizes, at);
            sums.iter().zip(tiles).try_for_each(|(sum, &tile)| {
                let (range, by) = ([Idx::ZERO, rows], (Map::Thread, None));
                let value = s.sum_partials(sum, from, range, &ivs, by)?;
                s.k.store(value, tile, at);
                Ok(())
            })
        })
    }
    /// Returns a tile of `size` elements for each sum. Tiles of earlier sums are reused.
    fn combining_tiles(
        &mut self,
        sums: &[Accumulator],
        tiles: &mut Vec<CombiningTile>,
        size: i64,
    ) -> Vec<Value> {
        let mut own: Vec<Value> = Vec::new();
        for sum in sums {
            let dtype = sum.combine.accumulator(self.result_dtype(sum.op));
            let mut free = tiles
                .iter()
                .filter(|t| (t.dtype, t.size) == (dtype, size) && !own.contains(&t.memory));
            let memory = match free.next() {
                Some(tile) => tile.memory,
                None => self.k.alloc(&[Idx::Const(size)], dtype),
            };
            tiles.push(CombiningTile {
                dtype,
                size,
                memory,
            });
            own.push(memory);
        }
        own
    }
    /// The combined partial results of one element over a range of rows, starting at `first`.
    fn sum_partials(
        &mut self,
        sum: &Accumulator,
        first: Idx,
        range: [Idx; 2],
        ivs: &FxHashMap<usize, Idx>,
        by: (Map, Option<u64>),
    ) -> Result<Value, Unsupported> {
        let result = self.ir().result(sum.op, 0);
        let Some(&from) = self.partials.get(&result) else {
            return self.refuse_sweep("a sum over the grid has no partial results");
        };
        let stride = self.elements(result);
        let offset = self.offset(result, ivs)?;
        self.sum_rows(sum, range, by, |s, row| {
            let row = s.k.add(first, row);
            let place = s.k.mul(row, stride);
            let place = s.k.add(place, offset);
            s.k.load(from, place, by.1)
        })
    }
    /// Stores complete sums at an element, and what phases behind them compute there.
    fn finish(
        &mut self,
        sums: &[Accumulator],
        values: Vec<Value>,
        behind: &[usize],
        ivs: &FxHashMap<usize, Idx>,
    ) -> Result<(), Unsupported> {
        for (sum, value) in sums.iter().zip(values) {
            let result = self.ir().result(sum.op, 0);
            let value = self.k.cast(value, self.result_dtype(sum.op));
            self.scalars.insert(result, value);
            if self.flat.outputs.contains(&result) {
                self.store_at(result, value, ivs)?;
            }
        }
        let ops = behind.iter().flat_map(|&phase| self.phase_ops(phase));
        let results = ops.flat_map(|op| self.ir().results(op).to_vec());
        let outputs: Vec<Value> = results.filter(|v| self.flat.outputs.contains(v)).collect();
        let effects = outputs.iter().map(|&v| Effect::Store(v)).collect();
        let nest = self.plan_nest(Vec::new(), effects)?;
        let mut scopes = vec![FxHashMap::default()];
        self.emit_pure(&nest, 0, &mut scopes, ivs, None)?;
        for output in outputs {
            let value = self.get(output, &scopes, ivs, None)?;
            self.store_at(output, value, ivs)?;
        }
        self.scalars.clear();
        Ok(())
    }
    fn store_at(
        &mut self,
        output: Value,
        value: Value,
        ivs: &FxHashMap<usize, Idx>,
    ) -> Result<(), Unsupported> {
        let Some(&memory) = self.global.get(&output) else {
            return self.refuse_sweep("an output of the sweep has no memory");
        };
        let at = self.offset(output, ivs)?;
        self.k.store(value, memory, at);
        Ok(())
    }
    /// Runs `body` where `at` is below `end`.
    fn where_less(
        &mut self,
        at: Idx,
        end: Idx,
        body: impl FnOnce(&mut Self) -> Result<(), Unsupported>,
    ) -> Result<(), Unsupported> {
        let [at, end] = [at, end].map(|idx| self.k.index(idx));
        let condition = self.k.compare("lt", at, end);
        let open = self.k.open_if();
        body(self)?;
        self.k.close_if(open, condition);
        Ok(())
    }
    /// The tile indices of element `at` of the current place, for loops of these sizes, outermost first.
    fn indices_of(&mut self, sizes: &[(usize, Idx)], at: Idx) -> FxHashMap<usize, Idx> {
        let (mut ivs, mut rest) = (FxHashMap::default(), at);
        for (n, &(axis, size)) in sizes.iter().enumerate().rev() {
            let index = if n == 0 { rest } else { self.k.rem(rest, size) };
            ivs.insert(axis, index);
            if n > 0 {
                rest = self.k.div(rest, size);
            }
        }
        ivs
    }
    /// The combined results of `load` over a range of vectors or elements: in order, unless threads share the range.
    fn sum_rows(
        &mut self,
        sum: &Accumulator,
        [from, to]: [Idx; 2],
        (map, lanes): (Map, Option<u64>),
        load: impl FnOnce(&mut Self, Idx) -> Value,
    ) -> Result<Value, Unsupported> {
        let init = self.identity(sum.combine, sum.op);
        let init = self.k.splat(init, lanes);
        let bounds = [from, to, Idx::Const(1)];
        let name = [sum.combine.name()];
        let combine: &[&str] = if map == Map::Thread { &name } else { &[] };
        let sums = self.carried_loop(bounds, &[init], map, combine, |s, row, args| {
            let value = load(s, row);
            Ok(vec![sum.combine.apply(&mut s.k, args[0], value)])
        })?;
        sums.first().copied().ok_or_else(|| Unsupported {
            op: sum.op,
            reason: "its partial results have no sum".into(),
            help: "report this program".into(),
        })
    }
}
