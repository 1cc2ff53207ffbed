//! Scans along an axis, in index order. Their error bounds also hold if a compiled program combines elements in groups.

use crate::error::{InterpError, Result};
use crate::machine::{CHUNK, Machine};
use crate::number::reduce::Reducible;
use crate::ops::code::Reduce;
use crate::ops::elementwise::view_of;
use crate::ops::with_lane;
use crate::tensor::{Lane, Tensor, product};

impl Machine<'_> {
    /// Along axis `dim` the first element of `x`, then each time what was last and the next element together, in the
    /// accumulating type.
    pub(crate) fn scan(&mut self, op: Reduce, x: &Tensor, dim: usize) -> Result<Tensor> {
        let mut axes = x.axes().to_vec();
        let invalid = || InterpError::invalid("`dim` is no axis of the operand");
        let axis = axes.get_mut(dim).ok_or_else(invalid)?;
        axis.broadcast = false;
        let extent = axis.extent;
        // The stored elements from one index of the axis to the next.
        let inner = product(axes[dim + 1..].iter().map(|a| a.stored())).unwrap_or(0);
        let row = inner.saturating_mul(extent).max(1);
        let view = view_of(x, &axes);
        let draft = self.draft(x.dtype(), axes)?;
        self.budget.burn(x.logical_len())?;
        let rules = self.rules(x.dtype());
        with_lane!(self.kind(x.dtype()), L => self.fill(draft, |mut part| {
            let mut last = vec![L::first(op, L::default()); inner];
            let mut lanes = vec![L::default(); CHUNK];
            // A part may begin within a row: what leads to its first element is computed too.
            let (start, end) = (part.range.start, part.range.end);
            for begin in (start - start % row..end).step_by(CHUNK) {
                let chunk = &mut lanes[..CHUNK.min(end - begin)];
                view.gather(x, begin, chunk);
                for (at, lane) in (begin..).zip(chunk.iter_mut()) {
                    let last = &mut last[at % inner];
                    if at % row < inner {
                        *last = L::first(op, *lane);
                    } else {
                        L::push(op, last, *lane, &rules);
                    }
                    *lane = L::end(op, *last, &rules).stored(&rules);
                }
                let before = start.saturating_sub(begin).min(chunk.len());
                let at = (begin + before).saturating_sub(start);
                <L as Lane>::store(&chunk[before..], &mut part.data, part.bounds, at);
            }
        }))
    }
}
