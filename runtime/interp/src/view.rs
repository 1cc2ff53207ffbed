//! Index arithmetic: a walk over a shape in row-major order with any strides into stored elements.

use crate::tensor::{Lane, Tensor};

/// One axis of a walk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stride {
    extent: usize,
    step: usize,
}

/// A walk over the elements of a shape, in row-major order, through another tensor's storage.
#[derive(Clone, Debug)]
pub(crate) struct View {
    /// All axes except the innermost; usually empty, so nothing is allocated.
    outer: Vec<Stride>,
    inner: Stride,
    offset: usize,
}

impl View {
    /// A view of `extents`, each step of axis `i` moving `strides[i]` elements, from `offset` on.
    pub fn new(extents: impl IntoIterator<Item = usize>, strides: &[usize], offset: usize) -> Self {
        let mut view = Self {
            outer: Vec::new(),
            inner: Stride { extent: 1, step: 0 },
            offset,
        };
        for (extent, &step) in extents.into_iter().zip(strides) {
            view.push(Stride { extent, step });
        }
        view
    }
    /// Adds an inner axis; an axis contiguous with the previous one is merged into it.
    fn push(&mut self, axis: Stride) {
        let run = axis.step.saturating_mul(axis.extent);
        match (axis.extent, self.inner) {
            (1, _) => {}
            (_, Stride { extent: 1, .. }) => self.inner = axis,
            (_, Stride { extent, step }) if step == run => {
                let extent = extent.saturating_mul(axis.extent);
                self.inner = Stride { extent, ..axis };
            }
            _ => self.outer.push(std::mem::replace(&mut self.inner, axis)),
        }
    }
    /// Calls `run(storage index, step, at, length)` for each piece of the elements `begin..begin + count` that has one
    /// step; `at` counts from 0.
    pub fn runs(
        &self,
        begin: usize,
        count: usize,
        mut run: impl FnMut(usize, usize, usize, usize),
    ) {
        let Stride { extent, step } = self.inner;
        if count == 0 || extent == 0 {
            return;
        }
        if self.outer.is_empty() {
            return run(self.offset + begin * step, step, 0, count);
        }
        let (mut first, mut index) = (begin % extent, self.unravel(begin / extent));
        let mut at = 0;
        while at < count {
            let piece = (extent - first).min(count - at);
            run(self.position(&index) + first * step, step, at, piece);
            at += piece;
            first = 0;
            self.advance(&mut index);
        }
    }
    /// The indices along the outer axes.
    fn unravel(&self, mut linear: usize) -> Vec<usize> {
        let mut index = vec![0; self.outer.len()];
        for (slot, axis) in index.iter_mut().zip(&self.outer).rev() {
            let extent = axis.extent.max(1);
            *slot = linear % extent;
            linear /= extent;
        }
        index
    }
    fn position(&self, index: &[usize]) -> usize {
        let steps = index.iter().zip(&self.outer).map(|(i, axis)| i * axis.step);
        self.offset + steps.sum::<usize>()
    }
    fn advance(&self, index: &mut [usize]) {
        for (slot, axis) in index.iter_mut().zip(&self.outer).rev() {
            *slot += 1;
            if *slot < axis.extent {
                return;
            }
            *slot = 0;
        }
    }
    /// The storage index of element `linear`.
    pub fn at(&self, linear: usize) -> usize {
        let mut found = self.offset;
        self.runs(linear, 1, |from, _, _, _| found = from);
        found
    }
    /// Reads the elements from `begin` on.
    pub fn gather<L: Lane>(&self, source: &Tensor, begin: usize, out: &mut [L]) {
        self.runs(begin, out.len(), |from, step, at, length| {
            if let Some(piece) = out.get_mut(at..at + length) {
                L::load(source, from, step, piece);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(extents: &[usize], strides: &[usize], begin: usize, count: usize) -> Vec<usize> {
        let view = View::new(extents.iter().copied(), strides, 0);
        let mut list = vec![usize::MAX; count];
        view.runs(begin, count, |from, step, at, length| {
            (0..length).for_each(|i| list[at + i] = from + i * step);
        });
        assert!((0..count).all(|i| list[i] == view.at(begin + i)));
        list
    }

    #[test]
    fn walks_in_row_major_order() {
        assert_eq!(positions(&[2, 3], &[3, 1], 0, 6), [0, 1, 2, 3, 4, 5]);
        assert_eq!(positions(&[3, 2], &[1, 3], 0, 6), [0, 3, 1, 4, 2, 5]);
        assert_eq!(positions(&[2, 1, 3], &[0, 7, 1], 0, 6), [0, 1, 2, 0, 1, 2]);
        assert_eq!(positions(&[2, 2, 2], &[0, 1, 0], 3, 4), [1, 0, 0, 1]);
        assert_eq!(positions(&[], &[], 0, 1), [0]);
    }

    #[test]
    fn merges_what_is_one_run() {
        let view = View::new([4, 5, 6], &[30, 6, 1], 0);
        assert_eq!(
            (view.outer.len(), view.inner),
            (
                0,
                Stride {
                    extent: 120,
                    step: 1
                }
            )
        );
        let view = View::new([4, 5, 6], &[0, 0, 0], 0);
        assert_eq!(
            (view.outer.len(), view.inner),
            (
                0,
                Stride {
                    extent: 120,
                    step: 0
                }
            )
        );
    }

    #[test]
    fn empty_axes_have_no_runs() {
        let view = View::new([3, 0], &[0, 1], 0);
        view.runs(0, 0, |_, _, _, _| panic!("there is nothing to walk"));
    }
}
