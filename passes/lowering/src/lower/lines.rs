//! Cache-line alignment of stores: vectors start at a line of memory.
//!
//! A row of odd length starts anywhere in a line. Vectors counted from its start store to two lines each, and cannot
//! bypass the caches. A long row that is only stored is therefore processed in short steps up to its first line
//! boundary:
//!
//! ```text
//! for j in 0..4080 step 16               h = -4095 * r mod 16
//!   store(f(x[r, j]), y, 4095 * r + j)   for j in 0..h step 4, 1 { ... }
//! for j in 4080..4095 step 4, 1 { ... }  for j in h..e step 16
//!                                    =>    store(f(x[r, j]), y, 4095 * r + j) align 64
//!                                        for j in e..4095 step 4, 1 { ... }
//! ```
//!
//! On processors with masked stores, the short steps are one masked vector. Each element is still stored exactly once.
//! Never changes the order of a reduction: a nest with one is processed from its start.

use fuser_ir::Value;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::build::{Idx, Interval, widths};
use super::effects::{Effect, Nest};
use super::prefetch::LINE;
use super::sweep::{SweepLowering, Unsupported};

/// The minimum number of vectors in a row for line alignment to pay: beside so many, the cost of the short steps is
/// small.
const LEAST: i64 = 12;

/// A row of which vectors begin at lines.
pub(super) struct ByLines {
    /// Its intervals in order.
    pub(super) parts: SmallVec<[Interval; 2]>,
    /// The results whose full vectors are stored from a line boundary on.
    pub(super) stored: Vec<Value>,
}

impl SweepLowering<'_> {
    /// The intervals of the row `from..to`, aligned to cache lines; `None` if it is walked from its start.
    pub(super) fn by_lines(
        &mut self,
        nest: &Nest,
        ivs: &FxHashMap<usize, Idx>,
        [from, to]: [Idx; 2],
        (lanes, masked): (Option<u64>, bool),
    ) -> Result<Option<ByLines>, Unsupported> {
        let (Some(lanes), Idx::Const(0)) = (lanes, from) else {
            return Ok(None);
        };
        let (step, stored) = (lanes as i64, self.whole_lines(nest, lanes));
        let Some(&first) = stored.first() else {
            return Ok(None);
        };
        let odd = match to {
            Idx::Const(count) => count % step != 0 && count / step >= LEAST,
            Idx::Value(_) => true,
        };
        if !odd || !self.target.abilities().vectors || Some(lanes) != self.lanes() {
            return Ok(None);
        }
        let step = Idx::Const(step);
        let at = self.offset(first, ivs)?;
        let beyond = self.k.rem(at, step);
        let before = self.k.sub(step, beyond);
        let head = self.k.rem(before, step);
        let head = match to {
            Idx::Const(_) => head,
            Idx::Value(_) => self.k.min(head, to),
        };
        let rest = self.k.sub(to, head);
        let rest = self.k.rem(rest, step);
        let end = self.k.sub(to, rest);
        let mut parts = SmallVec::new();
        self.short_steps(&mut parts, [from, head], lanes, masked);
        parts.push(Interval {
            from: head,
            to: end,
            lanes: Some(lanes),
            some: false,
        });
        self.short_steps(&mut parts, [end, to], lanes, masked);
        Ok(Some(ByLines { parts, stored }))
    }
    /// The results that a nest stores in whole cache lines and whose rows start alike. Empty if the nest has any other
    /// effect.
    fn whole_lines(&self, nest: &Nest, lanes: u64) -> Vec<Value> {
        let stored = nest.effects.iter().map(|effect| match effect {
            Effect::Store(value) => Some(*value),
            _ => None,
        });
        let stored: Option<Vec<Value>> = stored.collect();
        let mut stored = stored.filter(|_| nest.scans.is_empty()).unwrap_or_default();
        let bytes = |v: Value| self.ir().value_kind(v).dtype().map_or(0, |d| d.bytes());
        let along = |v: Value| nest.loops.last().is_some_and(|&l| self.stride_is_one(v, l));
        let lines = |v: Value| (lanes * bytes(v)).is_multiple_of(LINE) && along(v);
        stored.retain(|&v| lines(v));
        if let Some(&first) = stored.first() {
            stored.retain(|v| self.layouts.get(v) == self.layouts.get(&first));
        }
        stored
    }
    /// Appends the intervals of `from..to`, which is shorter than a vector: one masked vector, or shorter vectors and
    /// single elements.
    fn short_steps(
        &mut self,
        list: &mut SmallVec<[Interval; 2]>,
        [mut from, to]: [Idx; 2],
        lanes: u64,
        masked: bool,
    ) {
        if masked {
            return list.push(Interval {
                from,
                to,
                lanes: Some(lanes),
                some: true,
            });
        }
        for width in widths(lanes, true).skip(1) {
            let count = self.k.sub(to, from);
            let rest = self.k.rem(count, Idx::Const(width as i64));
            let end = self.k.sub(to, rest);
            list.push(Interval {
                from,
                to: end,
                lanes: Some(width),
                some: false,
            });
            from = end;
        }
        list.push(Interval {
            from,
            to,
            lanes: None,
            some: false,
        });
    }
}
