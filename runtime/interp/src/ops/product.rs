//! Products: sums of products along an axis of both operands, element by element.

use super::code::Reduce;
use super::elementwise::chunks;
use super::with_lane;
use crate::error::{InterpError, Result};
use crate::machine::{CHUNK, Machine};
use crate::number::Rules;
use crate::number::reduce::Reducible;
use crate::tensor::{Axis, Lane, Tensor, product};
use crate::view::View;
use fuser_ir::DType;

/// An operand of a product.
struct Factor<'a> {
    x: &'a Tensor,
    /// The first term of each element of the result.
    first: View,
    /// The distance from a term to the next.
    step: usize,
}

impl<'a> Factor<'a> {
    /// `x` for a result with these axes; `places` are their axes in `x`, and `terms` is the summed axis.
    fn new(x: &'a Tensor, axes: &[Axis], places: &[Option<usize>], terms: usize) -> Self {
        Self {
            x,
            first: Self::first(x, axes, places.iter().copied()),
            step: x.strides()[terms],
        }
    }
    /// The place of an element of `x` for each element of a result with these axes.
    fn first(x: &Tensor, axes: &[Axis], places: impl Iterator<Item = Option<usize>>) -> View {
        let strides = x.strides();
        let steps: Vec<usize> = places.map(|p| p.map_or(0, |p| strides[p])).collect();
        View::new(axes.iter().map(|a| a.stored()), &steps, 0)
    }
    /// Reads `lanes.len()` terms of result element `at`, from term `from` on.
    fn read<L: Lane>(&self, at: usize, from: usize, lanes: &mut [L]) {
        let first = self.first.at(at) + from * self.step;
        L::load(self.x, first, self.step, lanes);
    }
}

/// The axes of a product: those of the result, each with the corresponding axes of the operands, and the summed axis of
/// each operand.
struct Shape {
    axes: Vec<Axis>,
    places: [Vec<Option<usize>>; 2],
    terms: [usize; 2],
}

impl Shape {
    fn push(&mut self, axis: Axis, left: Option<usize>, right: Option<usize>) {
        self.axes.push(axis);
        self.places[0].push(left);
        self.places[1].push(right);
    }
    /// An axis of the result is stored once only if that of a tensor that is added is. The last axes of both are the
    /// same.
    fn add(&mut self, c: Option<&Tensor>) -> Result<()> {
        let own = c.map_or(&[][..], Tensor::axes);
        if own.len() > self.axes.len() {
            return Err(InterpError::invalid("the third operand has too many axes"));
        }
        let axes = self.axes.iter_mut().rev();
        for (axis, own) in axes.zip(own.iter().rev()) {
            axis.broadcast &= own.broadcast;
        }
        Ok(())
    }
}

impl Machine<'_> {
    /// Rows of `a` times columns of `b`, for each index of the axes before them, plus the element of `c`.
    pub(crate) fn matmul(
        &mut self,
        a: &Tensor,
        b: &Tensor,
        c: Option<&Tensor>,
        to: DType,
    ) -> Result<Tensor> {
        let (left, right) = (a.axes(), b.axes());
        let (rank_a, rank_b) = (left.len(), right.len());
        let (batch_a, batch_b) = (rank_a.saturating_sub(2), rank_b.saturating_sub(2));
        let batch = batch_a.max(batch_b);
        let fits = |own: usize| own == 0 || own == batch;
        if rank_a == 0 || rank_b == 0 || !fits(batch_a) || !fits(batch_b) {
            return Err(InterpError::invalid("the operands are no matrices"));
        }
        let mut shape = Shape {
            axes: Vec::new(),
            places: [Vec::new(), Vec::new()],
            terms: [rank_a - 1, batch_b],
        };
        for k in 0..batch {
            let (own, other) = ((batch_a > 0).then_some(k), (batch_b > 0).then_some(k));
            let axes = [own.map(|k| left[k]), other.map(|k| right[k])];
            let found: Vec<Axis> = axes.into_iter().flatten().collect();
            let broadcast = found.iter().all(|axis| axis.broadcast);
            shape.push(
                Axis {
                    broadcast,
                    ..found[0]
                },
                own,
                other,
            );
        }
        if rank_a > 1 {
            shape.push(left[batch_a], Some(batch_a), None);
        }
        if rank_b > 1 {
            shape.push(right[rank_b - 1], None, Some(rank_b - 1));
        }
        shape.add(c)?;
        self.contract([a, b], c, &shape, to)
    }

    /// Rows of `x` times rows of `weight`, plus an element of `bias` for each row of `weight` or of the result.
    pub(crate) fn linear(
        &mut self,
        x: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
        to: DType,
    ) -> Result<Tensor> {
        let (from, own) = (x.axes(), weight.axes());
        let Some(last) = from.len().checked_sub(1).filter(|_| own.len() == 2) else {
            return Err(InterpError::invalid("the operands are no rows and weights"));
        };
        let mut shape = Shape {
            axes: Vec::new(),
            places: [Vec::new(), Vec::new()],
            terms: [last, 1],
        };
        for (k, axis) in from[..last].iter().enumerate() {
            shape.push(*axis, Some(k), None);
        }
        shape.push(own[0], None, Some(0));
        shape.add(bias)?;
        self.contract([x, weight], bias, &shape, to)
    }

    /// The rules of a sum of products of factors of a type.
    pub(crate) fn sum_of_products(&self, factors: DType, rules: Rules) -> Rules {
        match self.options.tensor_cores && matches!(factors, DType::BF16 | DType::F16) {
            true => rules.cutting(),
            false => rules,
        }
    }

    /// For each element of the result, the sum of all products of terms, and the element of `added` at its last indices.
    fn contract(
        &mut self,
        [a, b]: [&Tensor; 2],
        added: Option<&Tensor>,
        shape: &Shape,
        to: DType,
    ) -> Result<Tensor> {
        let [own, other] = [(a, 0), (b, 1)].map(|(x, k)| x.axes()[shape.terms[k]].extent);
        if own != other {
            return Err(InterpError::invalid("the operands do not agree"));
        }
        let steps = product(shape.axes.iter().map(|axis| axis.extent).chain([own]));
        self.budget.burn(steps.unwrap_or(usize::MAX))?;
        let factor = |x, k: usize| Factor::new(x, &shape.axes, &shape.places[k], shape.terms[k]);
        let (left, right) = (factor(a, 0), factor(b, 1));
        let added = added.map(|x| {
            let missing = shape.axes.len() - x.axes().len();
            let places = (0..shape.axes.len()).map(|axis| axis.checked_sub(missing));
            (x, Factor::first(x, &shape.axes, places))
        });
        let draft = self.draft(to, shape.axes.clone())?;
        let rules = self.rules(to);
        let rules = self.sum_of_products(a.dtype(), rules);
        // The roundings of products are small beside those of their sums.
        let compute = rules.computing().precise();
        with_lane!(self.kind(a.dtype()), L => self.fill(draft, |part| {
            let (mut xs, mut ys) = (vec![L::default(); CHUNK], vec![L::default(); CHUNK]);
            let zero = L::default();
            chunks::<L>(part, |begin, row| {
                for (i, lane) in row.iter_mut().enumerate() {
                    let mut sum = L::start(Reduce::Sum, zero, zero);
                    for from in (0..own).step_by(CHUNK) {
                        let count = CHUNK.min(own - from);
                        left.read(begin + i, from, &mut xs[..count]);
                        right.read(begin + i, from, &mut ys[..count]);
                        for (x, y) in xs[..count].iter().zip(&ys) {
                            L::push(Reduce::Sum, &mut sum, L::term(*x, *y, &compute), &rules);
                        }
                    }
                    if let Some((x, first)) = &added {
                        L::load(x, first.at(begin + i), 1, &mut xs[..1]);
                        L::push(Reduce::Sum, &mut sum, xs[0], &rules);
                    }
                    *lane = L::end(Reduce::Sum, sum, &rules).stored(&rules);
                }
            });
        }))
    }
}
