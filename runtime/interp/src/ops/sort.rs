//! Sorts along an axis: elements in order, or where they stood.

use std::cmp::Ordering;

use fuser_ir::DType;

use super::elementwise::chunks;
use super::window::unravel;
use super::with_lane;
use crate::error::{InterpError, Result};
use crate::machine::Machine;
use crate::number::math::{Predicate, Test};
use crate::number::{Bounded, Int, Number, round};
use crate::tensor::{Axis, Lane, Tensor, product};

/// The lines of a tensor along an axis, each sorted.
struct Lines {
    /// The axes of the operand, the one that is sorted with one element.
    axes: Vec<Axis>,
    /// For each line the indices of its elements in order.
    order: Vec<usize>,
    /// For each line and place the bound on the element there, in reference mode: infinite where another type than a float is unsure.
    bounds: Vec<f64>,
    /// For each line and place whether another element may stand there.
    unsure: Vec<bool>,
}

/// `a` against `b`: a NaN is greater than every number and equal to every NaN.
fn compare<L: Number>(a: L, b: L) -> Ordering {
    let nan = |x: L| L::test(Test::Nan, x).v != 0;
    match (nan(a), nan(b)) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) if L::compare(Predicate::Lt, a, b).v != 0 => Ordering::Less,
        (false, false) if L::compare(Predicate::Gt, a, b).v != 0 => Ordering::Greater,
        (false, false) => Ordering::Equal,
    }
}

/// For each position of a sorted line, whether another element may belong there: the error bound of an inexact element
/// reaches a neighbor.
fn unsettled(line: &[Bounded]) -> Vec<bool> {
    let ends = |x: &Bounded| match x.v.is_nan() {
        true => (f64::INFINITY, f64::INFINITY),
        false => x.ends(),
    };
    let mut unsure = vec![false; line.len()];
    // The greatest end so far of all elements and of those that are not exact.
    let mut mark = |order: &mut dyn Iterator<Item = usize>, sign: f64| {
        let (mut all, mut loose) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        for at in order {
            let (low, high) = ends(&line[at]);
            let (near, far) = if sign > 0.0 {
                (low, high)
            } else {
                (-high, -low)
            };
            let exact = line[at].e == 0.0;
            unsure[at] |= if exact { loose >= near } else { all >= near };
            all = all.max(far);
            if !exact {
                loose = loose.max(far);
            }
        }
    };
    mark(&mut (0..line.len()), 1.0);
    mark(&mut (0..line.len()).rev(), -1.0);
    unsure
}

impl Machine<'_> {
    /// The first elements of each line along axis `dim`, `first` or all, in ascending or descending order; or of type `of` their indices.
    pub(crate) fn sort(
        &mut self,
        x: &Tensor,
        dim: usize,
        of: Option<DType>,
        first: Option<usize>,
        descending: bool,
    ) -> Result<Tensor> {
        let Some(length) = x.axes().get(dim).map(|axis| axis.extent) else {
            return Err(InterpError::invalid("`dim` is no axis"));
        };
        let kept = first.unwrap_or(length);
        if kept > length {
            return Err(InterpError::invalid("`first` is beyond the axis"));
        }
        let lines = self.lines(x, dim, descending)?;
        let mut axes = x.axes().to_vec();
        axes[dim] = Axis::plain(kept);
        let draft = self.draft(of.unwrap_or(x.dtype()), axes.clone())?;
        let strides = x.strides();
        let place = |linear: usize, index: &mut [usize]| {
            unravel(&axes, linear, index);
            let at = std::mem::take(&mut index[dim]);
            let stored = index.iter().zip(&lines.axes);
            let line = stored.fold(0, |line, (i, axis)| line * axis.stored() + i);
            line * length + at
        };
        match of {
            Some(of) => self.fill(draft, |part| {
                let mut index = vec![0; axes.len()];
                chunks::<Int>(part, |begin, row| {
                    for (i, lane) in row.iter_mut().enumerate() {
                        let at = place(begin + i, &mut index);
                        *lane = Int {
                            v: round::wrap(lines.order[at] as i128, of),
                            unsure: lines.unsure[at],
                        };
                    }
                });
            }),
            None => with_lane!(self.kind(x.dtype()), L => self.fill(draft, |part| {
                let mut index = vec![0; axes.len()];
                chunks::<L>(part, |begin, row| {
                    for (i, lane) in row.iter_mut().enumerate() {
                        let at = place(begin + i, &mut index);
                        let from: usize = index.iter().zip(&strides).map(|(i, s)| i * s).sum();
                        let from = from + lines.order[at] * strides[dim];
                        L::load(x, from, 1, std::slice::from_mut(lane));
                        *lane = lane.loosened(lines.bounds[at]);
                    }
                });
            })),
        }
    }

    fn lines(&mut self, x: &Tensor, dim: usize, descending: bool) -> Result<Lines> {
        let (length, strides) = (x.axes()[dim].extent, x.strides());
        let mut axes = x.axes().to_vec();
        axes[dim] = Axis::plain(1);
        let count = product(axes.iter().map(|axis| axis.stored())).unwrap_or(0);
        let all = count.saturating_mul(length);
        let steps = length.max(1).ilog2() as usize + 1;
        self.budget.burn(all.saturating_mul(steps))?;
        let _charge = self.budget.take((all as u64).saturating_mul(17))?;
        let mut lines = Lines {
            axes,
            order: Vec::new(),
            bounds: Vec::new(),
            unsure: Vec::new(),
        };
        let mut index = vec![0; lines.axes.len()];
        for line in 0..count {
            unravel(&lines.axes, line, &mut index);
            let base: usize = index.iter().zip(&strides).map(|(i, s)| i * s).sum();
            let mut order: Vec<usize> = (0..length).collect();
            with_lane!(self.kind(x.dtype()), L => {
                let mut lanes = vec![L::default(); length];
                L::load(x, base, strides[dim], &mut lanes);
                if strides[dim] == 0 {
                    let one = lanes.first().copied().unwrap_or_default();
                    lanes.fill(one);
                }
                order.sort_by(|&a, &b| match descending {
                    true => compare(lanes[b], lanes[a]),
                    false => compare(lanes[a], lanes[b]),
                });
            });
            let found = order.iter().map(|k| {
                let at = base + k * strides[dim];
                let exact = x.bounds().is_none_or(|bounds| bounds[at] == 0.0);
                let v = x.data().float(at);
                let v = if descending { -v } else { v };
                match exact {
                    true => Bounded::exact(v),
                    false => Bounded::new(v, x.bounded(at).e),
                }
            });
            let mut found: Vec<Bounded> = found.collect();
            if descending {
                // The greatest of all, a NaN comes first there.
                found
                    .iter_mut()
                    .filter(|x| x.v.is_nan())
                    .for_each(|x| x.v = f64::NEG_INFINITY);
            }
            // An order statistic moves by no more than the elements do.
            let most = found.iter().fold(0.0, |most: f64, x| most.max(x.e));
            let most = if most > 0.0 && x.dtype().is_int() {
                f64::INFINITY
            } else {
                most
            };
            lines.bounds.extend(std::iter::repeat_n(most, length));
            lines.unsure.extend(unsettled(&found));
            lines.order.extend(order);
        }
        Ok(lines)
    }
}
