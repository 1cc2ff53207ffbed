//! Index-set splitting: a loop with guards becomes several loops, in each of which every guard is known.
//!
//! A guard on one loop axis changes at two indices, its cuts. Between two cuts, the window of a cat or pad has a single
//! active arm, and the nest computes no other. An axis inside the step is split into several loops. If each step lies
//! inside one range, because it has a single index or all cuts are multiples of its tile, each range becomes a branch
//! around the step.
//!
//! ```text
//! for i in 0..8                                           for i in 0..3 { store(load(a, i)) }
//!   store(load_within(a, i, load_within(b, i - 3)))   =>  for i in 3..8 { store(load(b, i - 3)) }
//! ```
//!
//! Cuts with named extents are used if their order holds for all lengths; other guards stay. Never makes more than
//! [`MAX_COPIES`] copies of a step, and splits no loop that would take many more steps because of short vectors. GPU
//! loops stay whole, since threads share them, and so do loops around a scan.

use std::borrow::Cow;

use fuser_analysis::axes::window::{Guard, Window, at_least, minus};
use fuser_dialects::fusion;
use fuser_ir::types::ExtentExpr;
use fuser_ir::{DType, Op, Value};

use super::build::{Idx, widths};
use super::effects::Nest;
use super::sweep::{SweepLowering, Unsupported};

/// The most copies of a step that the splits of nested loops make.
const MAX_COPIES: usize = 16;
/// The maximum growth of the number of steps by a split: about the cost of the guards in each step.
const MAX_GROWTH: i64 = 3;

/// The indices of a loop axis between two cuts.
pub(super) struct Range {
    /// The first index.
    pub(super) from: ExtentExpr,
    /// One past the last.
    pub(super) to: ExtentExpr,
    /// The guards that are known there.
    known: Vec<(Guard, bool)>,
}

impl<'a> SweepLowering<'a> {
    /// The window of `op` at the point of the walk, without the guards that are known there.
    pub(super) fn window(&self, op: Op) -> Option<Cow<'a, Window>> {
        let window = self.axes.window(op)?;
        if self.known.is_empty() {
            return Some(Cow::Borrowed(window));
        }
        let known = |guard: &Guard| {
            let entry = self.known.iter().find(|k| k.0 == *guard);
            entry.map(|k| k.1)
        };
        Some(Cow::Owned(window.where_known(known)))
    }
    /// Emits the step once for each range of the axes whose steps lie inside one range, in branches.
    pub(super) fn emit_step(&mut self) -> Result<(), Unsupported> {
        let axes = self.outer_order();
        self.emit_branches(&axes)
    }
    /// Branches on the ranges of `axes`, one axis after the other; the depth is bounded by the rank.
    fn emit_branches(&mut self, axes: &[usize]) -> Result<(), Unsupported> {
        let Some((&axis, rest)) = axes.split_first() else {
            return self.emit_phases();
        };
        let steps = self.flat.ops.iter().filter(|(_, p)| !self.is_hoisted(*p));
        let ops: Vec<Op> = steps.map(|(op, _)| *op).collect();
        let ranges = self.ranges(axis, &ops);
        if ranges.len() < 2 || !self.holds_steps(axis, &ranges) {
            return self.emit_branches(rest);
        }
        for range in &ranges {
            let holds = self.is_in(axis, range)?;
            let open = self.k.open_if();
            self.within(range, ranges.len(), |s| s.emit_branches(rest))?;
            self.k.close_if(open, holds);
        }
        Ok(())
    }
    /// True if each step of `axis`, which begins at a multiple of its tile, lies inside one of the ranges.
    fn holds_steps(&self, axis: usize, ranges: &[Range]) -> bool {
        let spec = &self.spec.loops[axis];
        let step = spec.tile.max(1);
        let aligned = |range: &Range| range.from.as_constant().is_some_and(|cut| cut % step == 0);
        !spec.has_inner() || !self.is_one_step(axis) && ranges.iter().all(aligned)
    }
    /// True if the first index of a step lies in `range`.
    fn is_in(&mut self, axis: usize, range: &Range) -> Result<Value, Unsupported> {
        let at = self.k.index(self.base[axis]);
        let (none, extent) = (ExtentExpr::default(), &self.spec.loops[axis].extent);
        let sides = [("ge", &range.from, &none), ("lt", &range.to, extent)];
        let mut holds = None;
        for (predicate, bound, _) in sides.into_iter().filter(|(_, bound, end)| bound != end) {
            let bound = self.eval(bound)?;
            let bound = self.k.index(bound);
            let side = self.k.compare(predicate, at, bound);
            holds = Some(match holds {
                Some(other) => self.k.binary(&fusion::AND, other, side),
                None => side,
            });
        }
        Ok(holds.unwrap_or_else(|| self.k.int_constant(1, DType::I1)))
    }
    /// The ranges that the tile loop over `axis` is split into.
    pub(super) fn tile_ranges(&self, nest: &Nest, axis: usize) -> Vec<Range> {
        let ranges = self.ranges(axis, &nest.ops);
        let lanes = match nest.loops.last() == Some(&axis) {
            true => self.nest_lanes(nest).unwrap_or(1),
            false => 1,
        };
        let steps = |length: i64| {
            let (mut rest, mut steps) = (length, 0);
            for width in widths(lanes, true) {
                steps += rest / width as i64;
                rest %= width as i64;
            }
            steps + rest
        };
        let length = |range: &Range| minus(&range.to, &range.from)?.as_constant();
        let lengths: Option<Vec<i64>> = ranges.iter().map(length).collect();
        let taken = match (self.inner_size(axis), self.extent[axis]) {
            (_, Idx::Const(extent)) if self.is_one_step(axis) => {
                lengths.map(|all| [steps(extent), all.into_iter().map(steps).sum()])
            }
            // Of a tile that begins anywhere.
            (Idx::Const(tile), _) => {
                let more = (ranges.len() as i64 - 1).saturating_mul(lanes as i64);
                Some([steps(tile), steps(tile).saturating_add(more)])
            }
            _ => None,
        };
        let pays = taken.is_none_or(|[whole, split]| split <= whole.saturating_mul(MAX_GROWTH));
        match pays {
            true => ranges,
            false => vec![self.whole(axis)],
        }
    }
    /// The indices of `range` inside the step.
    pub(super) fn range_inside(
        &mut self,
        axis: usize,
        range: &Range,
    ) -> Result<[Idx; 2], Unsupported> {
        let count = self.inner_count(axis);
        let bounds = [(&range.from, Idx::ZERO), (&range.to, count)];
        let ends = [ExtentExpr::default(), self.spec.loops[axis].extent.clone()];
        let mut inside = [Idx::ZERO; 2];
        for (n, (bound, end)) in bounds.into_iter().enumerate() {
            inside[n] = end;
            if *bound != ends[n] {
                let bound = self.eval(bound)?;
                inside[n] = self.clamped(axis, bound, count);
            }
        }
        Ok(inside)
    }
    fn clamped(&mut self, axis: usize, bound: Idx, count: Idx) -> Idx {
        if self.is_one_step(axis) {
            return bound;
        }
        let inside = self.k.sub(bound, self.base[axis]);
        let inside = self.k.max(inside, Idx::ZERO);
        self.k.min(inside, count)
    }
    /// Runs `body` with the guards of `range` known. `copies` is the number of copies in which the split emits this
    /// code.
    pub(super) fn within<T>(
        &mut self,
        range: &Range,
        copies: usize,
        body: impl FnOnce(&mut Self) -> Result<T, Unsupported>,
    ) -> Result<T, Unsupported> {
        let (known, before) = (self.known.len(), self.copies);
        self.known.extend(range.known.iter().cloned());
        self.copies = before.saturating_mul(copies);
        let result = body(self);
        self.known.truncate(known);
        self.copies = before;
        result
    }
    fn whole(&self, axis: usize) -> Range {
        Range {
            from: ExtentExpr::default(),
            to: self.spec.loops[axis].extent.clone(),
            known: Vec::new(),
        }
    }
    /// The ranges of `axis` between the cuts of the guards of `ops`, in order.
    fn ranges(&self, axis: usize, ops: &[Op]) -> Vec<Range> {
        let extent = &self.spec.loops[axis].extent;
        let mut cuts = vec![ExtentExpr::default(), extent.clone()];
        let mut admitted: Vec<(Guard, [ExtentExpr; 2])> = Vec::new();
        let most = MAX_COPIES / self.copies;
        // A scan goes through all indices, whether or not its result is chosen there.
        if ops.iter().any(|&op| self.axes.scanned(op).is_some()) {
            return vec![self.whole(axis)];
        }
        for &op in ops
            .iter()
            .filter(|_| !self.target.abilities().block_threads && most > 1)
        {
            let window = self
                .window(op)
                .filter(|_| self.check_joined(op, axis).is_ok());
            for guard in window.iter().flat_map(|w| w.guards()) {
                let fresh = admitted.iter().all(|(g, _)| g != guard);
                let Some(ends) = self.admitted(axis, guard).filter(|_| fresh) else {
                    continue;
                };
                let mut more = cuts.clone();
                if ends.iter().all(|cut| place(&mut more, cut)) && more.len() <= most + 1 {
                    cuts = more;
                    admitted.push((guard.clone(), ends));
                }
            }
        }
        let known = |from: &ExtentExpr, to: &ExtentExpr| {
            let inside =
                |[first, end]: &[ExtentExpr; 2]| at_least(from, first) && at_least(end, to);
            let all = admitted.iter();
            all.map(|(guard, ends)| (guard.clone(), inside(ends)))
                .collect()
        };
        let pairs = cuts.windows(2).map(|pair| Range {
            from: pair[0].clone(),
            to: pair[1].clone(),
            known: known(&pair[0], &pair[1]),
        });
        pairs.collect()
    }
    /// The first index of `axis` that a guard on this axis alone admits, and the first index after the admitted ones.
    fn admitted(&self, axis: usize, guard: &Guard) -> Option<[ExtentExpr; 2]> {
        let parts = &self.spec.loops[axis].axes;
        let step = guard.at.along(*parts.last()?)?.as_constant();
        let alone = guard
            .at
            .terms
            .iter()
            .all(|(v, _)| !v.mirrored && v.axis().is_some_and(|a| parts.contains(&a)));
        let first = minus(&ExtentExpr::default(), &guard.at.offset)?;
        let end = minus(&guard.extent, &guard.at.offset)?;
        (step == Some(1) && alone).then_some([first, end])
    }
}

/// Inserts a cut into the sorted list `cuts`, unless it lies outside of their range. Returns false if its position is
/// unknown.
fn place(cuts: &mut Vec<ExtentExpr>, cut: &ExtentExpr) -> bool {
    let mut at = 0;
    for (n, other) in cuts.iter().enumerate() {
        match (at_least(cut, other), at_least(other, cut)) {
            (true, true) => return true,
            (true, false) => at = n + 1,
            (false, true) => {}
            (false, false) => return false,
        }
    }
    if at > 0 && at < cuts.len() {
        cuts.insert(at, cut.clone());
    }
    true
}
