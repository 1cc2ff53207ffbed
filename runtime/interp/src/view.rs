//! Index arithmetic: a walk over a shape in row-major order with any strides into stored elements.

use crate::tensor::{Lane, Tensor};

/// How the elements of a shape, in row-major order, lie in another tensor's storage.
#[derive(Clone, Debug)]
pub(crate) struct View {
    /// Extents, innermost last; never empty.
    extents: Vec<usize>,
    strides: Vec<usize>,
    offset: usize,
}

impl View {
    /// A view of `extents`, each step of axis `i` moving `strides[i]` elements, from `offset` on.
    pub fn new(extents: &[usize], strides: &[usize], offset: usize) -> Self {
        let mut view = Self {
            extents: vec![1],
            strides: vec![0],
            offset,
        };
        for (&extent, &stride) in extents.iter().zip(strides) {
            view.push(extent, stride);
        }
        view
    }
    /// Adds an inner axis, as part of the one before where they make one run.
    fn push(&mut self, extent: usize, stride: usize) {
        if extent == 1 {
            return;
        }
        if let (Some(e), Some(s)) = (self.extents.last_mut(), self.strides.last_mut()) {
            if *e == 1 {
                (*e, *s) = (extent, stride);
                return;
            }
            if *s == stride.saturating_mul(extent) {
                (*e, *s) = (e.saturating_mul(extent), stride);
                return;
            }
        }
        self.extents.push(extent);
        self.strides.push(stride);
    }
    /// Calls `run(storage index, step, at, length)` for each piece of the elements `begin..begin + count` that has one
    /// step; `at` counts from 0.
    pub fn runs(
        &self,
        begin: usize,
        count: usize,
        mut run: impl FnMut(usize, usize, usize, usize),
    ) {
        let inner = self.extents.len() - 1;
        let (length, step) = (self.extents[inner], self.strides[inner]);
        if length == 0 {
            return;
        }
        let mut index = self.unravel(begin);
        let mut at = 0;
        while at < count {
            let first = index[inner];
            let piece = (length - first).min(count - at);
            run(self.position(&index), step, at, piece);
            at += piece;
            index[inner] += piece;
            self.carry(&mut index);
        }
    }
    fn unravel(&self, mut linear: usize) -> Vec<usize> {
        let mut index = vec![0; self.extents.len()];
        for (slot, &extent) in index.iter_mut().zip(&self.extents).rev() {
            let extent = extent.max(1);
            *slot = linear % extent;
            linear /= extent;
        }
        index
    }
    fn position(&self, index: &[usize]) -> usize {
        let steps = index.iter().zip(&self.strides).map(|(i, s)| i * s);
        self.offset + steps.sum::<usize>()
    }
    fn carry(&self, index: &mut [usize]) {
        for axis in (1..index.len()).rev() {
            if index[axis] < self.extents[axis] {
                return;
            }
            index[axis] = 0;
            index[axis - 1] += 1;
        }
    }
    /// The storage index of element `linear`.
    pub fn at(&self, linear: usize) -> usize {
        self.position(&self.unravel(linear))
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
        let view = View::new(extents, strides, 0);
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
        let view = View::new(&[4, 5, 6], &[30, 6, 1], 0);
        assert_eq!((view.extents, view.strides), (vec![120], vec![1]));
        let view = View::new(&[4, 5, 6], &[0, 0, 0], 0);
        assert_eq!((view.extents, view.strides), (vec![120], vec![0]));
    }

    #[test]
    fn empty_axes_have_no_runs() {
        let view = View::new(&[3, 0], &[0, 1], 0);
        view.runs(0, 0, |_, _, _, _| panic!("there is nothing to walk"));
    }
}
