//! Convolution: each element of the result is the sum of all products of a window and the kernel.

use super::code::Reduce;
use super::elementwise::chunks;
use super::with_lane;
use crate::error::{InterpError, Result};
use crate::machine::Machine;
use crate::number::Rules;
use crate::number::reduce::Reducible;
use crate::site::Site;
use crate::tensor::{Axis, Lane, Tensor, product};

/// The clauses along one dimension, and the lengths.
struct Dimension {
    stride: i128,
    low: i128,
    dilation: i128,
    base: i128,
    length: usize,
    places: usize,
    /// From one element to the next in the operand and in the kernel.
    steps: [usize; 2],
}

impl Dimension {
    /// The index into the operand, if there is an element.
    fn index(&self, window: usize, place: usize) -> Option<usize> {
        let place = window as i128 * self.stride + place as i128 * self.dilation - self.low;
        if place < 0 || place % self.base != 0 {
            return None;
        }
        usize::try_from(place / self.base)
            .ok()
            .filter(|&index| index < self.length)
    }
}

/// The row-major index of element `at` of these axes, in storage order.
fn index(axes: &[Axis], mut at: usize) -> Vec<usize> {
    let mut index = vec![0; axes.len()];
    for (slot, axis) in index.iter_mut().zip(axes).rev() {
        let stored = axis.stored().max(1);
        *slot = at % stored;
        at /= stored;
    }
    index
}

impl Machine<'_> {
    pub(crate) fn convolution(
        &mut self,
        site: Site<'_>,
        [x, kernel]: [&Tensor; 2],
    ) -> Result<Tensor> {
        let (to, axes) = site.result(0)?;
        let groups = usize::from(site.flag("groups"));
        let front = 2 + groups;
        let invalid = || InterpError::invalid("the operands are no tensor and kernel");
        let space = axes.len().checked_sub(front).ok_or_else(invalid)?;
        if x.axes().len() != axes.len() || kernel.axes().len() != axes.len() {
            return Err(invalid());
        }
        let [strides, low, dilation, base] = [
            ("strides", 1),
            ("low", 0),
            ("dilation", 1),
            ("base_dilation", 1),
        ]
        .map(|(clause, default)| site.numbers(clause, default, space));
        let [strides, low, dilation, base] = [strides?, low?, dilation?, base?];
        let dimensions: Vec<Dimension> = (0..space)
            .map(|dim| Dimension {
                stride: strides[dim],
                low: low[dim],
                dilation: dilation[dim],
                base: base[dim].max(1),
                length: x.axes()[front + dim].extent,
                places: kernel.axes()[front + dim].extent,
                steps: [x.strides()[front + dim], kernel.strides()[front + dim]],
            })
            .collect();
        let features = kernel.axes()[front - 1].extent;
        let places = product(dimensions.iter().map(|own| own.places));
        let terms = places.and_then(|places| places.checked_mul(features));
        let all = axes.iter().map(|axis| axis.extent).chain(terms);
        self.budget.burn(product(all).unwrap_or(usize::MAX))?;
        let steps = [x, kernel].map(|tensor| tensor.strides()[front - 1]);
        let (from, of) = (x.strides(), kernel.strides());
        let draft = self.draft(to, axes.clone())?;
        let rules: Rules = self.rules(to);
        let rules = self.sum_of_products(x.dtype(), rules);
        let compute = rules.computing().precise();
        with_lane!(self.kind(x.dtype()), L => self.fill(draft, |part| {
            let (mut xs, mut ys) = (vec![L::default(); features], vec![L::default(); features]);
            let zero = L::default();
            chunks::<L>(part, |begin, row| {
                for (i, lane) in row.iter_mut().enumerate() {
                    let at = index(&axes, begin + i);
                    let group = if groups == 1 { at[1] } else { 0 };
                    let first = at[0] * from[0] + group * from[1] * groups;
                    let weights = group * of[0] * groups + at[front - 1] * of[front - 2];
                    let mut sum = L::start(Reduce::Sum, zero, zero);
                    for place in 0..places.unwrap_or(0) {
                        let (mut rest, mut read, mut weight) = (place, Some(first), weights);
                        for (dim, own) in dimensions.iter().enumerate().rev() {
                            let k = rest % own.places;
                            rest /= own.places;
                            weight += k * own.steps[1];
                            let index = own.index(at[front + dim], k);
                            read = read.zip(index).map(|(read, index)| read + index * own.steps[0]);
                        }
                        match read {
                            Some(read) => L::load(x, read, steps[0], &mut xs),
                            None => xs.fill(zero),
                        }
                        L::load(kernel, weight, steps[1], &mut ys);
                        for (x, y) in xs.iter().zip(&ys) {
                            L::push(Reduce::Sum, &mut sum, L::term(*x, *y, &compute), &rules);
                        }
                    }
                    *lane = L::end(Reduce::Sum, sum, &rules).stored(&rules);
                }
            });
        }))
    }
}
