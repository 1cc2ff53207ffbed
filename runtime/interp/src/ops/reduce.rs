//! Reductions along axes, in index order.

use fuser_ir::DType;

use super::code::Reduce;
use super::with_lane;
use crate::error::{InterpError, Result};
use crate::machine::{CHUNK, Machine, Portion};
use crate::number::math::{Predicate, Test};
use crate::number::reduce::Reducible;
use crate::number::{Int, Rules, round};
use crate::tensor::{Axis, Lane, Tensor};
use crate::view::View;

/// A reduction of one operand: which elements become which result.
struct Reduction<'a> {
    x: &'a Tensor,
    /// The result's stored elements, each the place of its first operand element.
    kept: View,
    /// The operand's elements of one result, relative to the first.
    reduced: View,
    /// The number of elements per result.
    count: usize,
    /// True if neighbouring results come from neighbouring elements of the operand.
    rows: bool,
}

fn kept_axes(x: &Tensor, dims: &[usize], keep: bool) -> Vec<Axis> {
    let axes = x.axes().iter().enumerate();
    axes.filter_map(|(i, axis)| match (dims.contains(&i), keep) {
        (false, _) => Some(*axis),
        (true, true) => Some(Axis::plain(1)),
        (true, false) => None,
    })
    .collect()
}

fn reduction<'a>(x: &'a Tensor, dims: &[usize]) -> Result<Reduction<'a>> {
    let strides = x.strides();
    let (mut kept, mut reduced) = ((vec![], vec![]), (vec![], vec![]));
    for (i, axis) in x.axes().iter().enumerate() {
        let (list, extent) = match dims.contains(&i) {
            true => (&mut reduced, axis.extent),
            false => (&mut kept, axis.stored()),
        };
        list.0.push(extent);
        list.1.push(strides[i]);
    }
    let count = crate::tensor::product(reduced.0.iter().copied());
    let last_stored = x.axes().iter().rposition(|a| !a.broadcast && a.extent != 1);
    Ok(Reduction {
        x,
        kept: View::new(kept.0, &kept.1, 0),
        reduced: View::new(reduced.0, &reduced.1, 0),
        count: count.ok_or_else(|| InterpError::invalid("the number of elements overflows"))?,
        rows: last_stored.is_some_and(|i| !dims.contains(&i)),
    })
}

impl Reduction<'_> {
    /// Calls `each(result, lane)` for all elements of the results `begin..begin + results`, for each in index order.
    fn scan<L: Lane>(
        &self,
        begin: usize,
        results: usize,
        lanes: &mut [L],
        mut each: impl FnMut(usize, L),
    ) {
        if self.rows {
            return self.scan_rows(begin, results, lanes, each);
        }
        for result in 0..results {
            let base = self.kept.at(begin + result);
            for at in (0..self.count).step_by(CHUNK) {
                let row = &mut lanes[..CHUNK.min(self.count - at)];
                self.reduced.runs(at, row.len(), |from, step, i, length| {
                    L::load(self.x, base + from, step, &mut row[i..i + length]);
                });
                row.iter().for_each(|x| each(result, *x));
            }
        }
    }
    fn scan_rows<L: Lane>(
        &self,
        begin: usize,
        results: usize,
        lanes: &mut [L],
        mut each: impl FnMut(usize, L),
    ) {
        self.kept.runs(begin, results, |base, step, at, length| {
            let row = &mut lanes[..length];
            self.reduced.runs(0, self.count, |from, stride, _, steps| {
                for k in 0..steps {
                    L::load(self.x, base + from + k * stride, step, row);
                    row.iter().enumerate().for_each(|(i, x)| each(at + i, *x));
                }
            });
        });
    }
    /// Reduces the elements of some results, each first changed by `f`.
    fn reduce<L: Lane + Reducible>(
        &self,
        op: Reduce,
        (begin, out): (usize, &mut [L]),
        lanes: &mut [L],
        rules: &Rules,
        f: impl Fn(usize, L) -> L,
    ) {
        let (lowest, highest) = limits::<L>(rules.dtype);
        let mut states = vec![L::start(op, lowest, highest); out.len()];
        self.scan(begin, out.len(), lanes, |i, x| {
            L::push(op, &mut states[i], f(i, x), rules)
        });
        for (o, state) in out.iter_mut().zip(states) {
            *o = L::end(op, state, rules);
        }
    }
}

/// The least and greatest value of a type: what an empty maximum and minimum are.
pub(super) fn limits<L: Reducible>(dtype: DType) -> (L, L) {
    let (low, high) = dtype.int_range();
    let infinity = f64::INFINITY;
    (L::constant(-infinity, low), L::constant(infinity, high))
}

/// Fills a part with results, block by block.
fn blocks<L: Lane>(mut part: Portion<'_>, f: impl Fn(usize, &mut [L], &mut [L])) {
    let (mut results, mut lanes) = (vec![L::default(); CHUNK], vec![L::default(); CHUNK]);
    let start = part.range.start;
    for begin in part.range.clone().step_by(CHUNK) {
        let count = CHUNK.min(part.range.end - begin);
        f(begin, &mut results[..count], &mut lanes);
        L::store(
            &results[..count],
            &mut part.data,
            part.bounds,
            begin - start,
        );
    }
}

impl Machine<'_> {
    pub(crate) fn reduce(
        &mut self,
        op: Reduce,
        x: &Tensor,
        dims: &[usize],
        keep: bool,
    ) -> Result<Tensor> {
        // Reducing nothing is the identity: `-0` stays `-0`, which a sum that begins at `+0` would not keep.
        if dims.is_empty() {
            return Ok(x.clone());
        }
        let reduction = reduction(x, dims)?;
        self.budget.burn(x.logical_len())?;
        let draft = self.draft(x.dtype(), kept_axes(x, dims, keep))?;
        let rules = self.rules(x.dtype());
        with_lane!(self.kind(x.dtype()), L => self.fill(draft, |part| {
            blocks::<L>(part, |begin, out, lanes| {
                reduction.reduce(op, (begin, out), lanes, &rules, |_, x| x);
                // A greatest or smallest element is an element: there is nothing to round.
                if matches!(op, Reduce::Sum | Reduce::Prod) {
                    out.iter_mut().for_each(|x| *x = x.stored(&rules));
                }
            });
        }))
    }

    /// `sum / n`, rounded once.
    pub(crate) fn mean(&mut self, x: &Tensor, dims: &[usize], keep: bool) -> Result<Tensor> {
        if dims.is_empty() {
            return Ok(x.clone());
        }
        let reduction = reduction(x, dims)?;
        self.budget.burn(x.logical_len())?;
        let draft = self.draft(x.dtype(), kept_axes(x, dims, keep))?;
        let rules = self.rules(x.dtype());
        with_lane!(self.kind(x.dtype()), L => self.fill(draft, |part| {
            blocks::<L>(part, |begin, out, lanes| {
                reduction.mean((begin, out), lanes, &rules);
                out.iter_mut().for_each(|x| *x = x.stored(&rules));
            });
        }))
    }

    /// The first index along `dim` of a greatest element, or of a smallest; a NaN is either.
    pub(crate) fn arg(
        &mut self,
        greatest: bool,
        x: &Tensor,
        dim: usize,
        keep: bool,
        of: DType,
    ) -> Result<Tensor> {
        if dim >= x.axes().len() {
            return Err(InterpError::invalid("`dim` is no axis"));
        }
        let reduction = reduction(x, &[dim])?;
        self.budget.burn(x.logical_len().saturating_mul(2))?;
        let draft = self.draft(of, kept_axes(x, &[dim], keep))?;
        let beyond = match greatest {
            true => Predicate::Gt,
            false => Predicate::Lt,
        };
        with_lane!(self.kind(x.dtype()), L => self.fill(draft, |part| {
            blocks::<Int>(part, |begin, out, _| {
                let mut lanes = vec![L::default(); CHUNK];
                reduction.arg(beyond, (begin, out), &mut lanes);
                let none = of.int_range().1;
                out.iter_mut().for_each(|i| i.v = if i.v < 0 { none } else { round::wrap(i.v, of) });
            });
        }))
    }

    /// Variance and mean: two passes, both from the unrounded mean.
    pub(crate) fn var_mean(
        &mut self,
        x: &Tensor,
        dims: &[usize],
        keep: bool,
        correction: i64,
    ) -> Result<(Tensor, Tensor)> {
        let reduction = reduction(x, dims)?;
        self.budget.burn(x.logical_len().saturating_mul(3))?;
        let axes = kept_axes(x, dims, keep);
        let (variance, mean) = (
            self.draft(x.dtype(), axes.clone())?,
            self.draft(x.dtype(), axes)?,
        );
        // Variances are put together from those of parts, by their means.
        let rules = self.rules(x.dtype()).of_parts();
        with_lane!(self.kind(x.dtype()), L => {
            let variance = self.fill(variance, |part| {
                blocks::<L>(part, |begin, out, lanes| {
                    reduction.variance((begin, out), lanes, &rules, correction);
                });
            })?;
            // The sum of one element, over no axes, is the element: `-0` too.
            if dims.is_empty() {
                return Ok((variance, x.clone()));
            }
            let mean = self.fill(mean, |part| {
                blocks::<L>(part, |begin, out, lanes| {
                    reduction.mean((begin, out), lanes, &rules);
                    out.iter_mut().for_each(|x| *x = x.stored(&rules));
                });
            })?;
            Ok((variance, mean))
        })
    }
}

impl Reduction<'_> {
    /// The index of the first extreme element, where NaN exceeds all numbers; -1 for an empty line.
    fn arg<L: Lane + Reducible>(
        &self,
        beyond: Predicate,
        (begin, out): (usize, &mut [Int]),
        lanes: &mut [L],
    ) {
        let mut best: Vec<Option<(i128, L)>> = vec![None; out.len()];
        let mut at = vec![0; out.len()];
        self.scan(begin, out.len(), lanes, |i, x| {
            let is_nan = |x: L| L::test(Test::Nan, x).v != 0;
            let wins =
                |found: L| !is_nan(found) && (is_nan(x) || L::compare(beyond, x, found).v != 0);
            if best[i].is_none_or(|(_, found)| wins(found)) {
                best[i] = Some((at[i], x));
            }
            at[i] += 1;
        });
        for (o, found) in out.iter_mut().zip(&best) {
            *o = Int::sure(found.map_or(-1, |(at, _)| at));
        }
        // An element that may lie beyond the best, or be its equal before it.
        at.fill(0);
        self.scan(begin, out.len(), lanes, |i, x| {
            if let Some((own, found)) = best[i].filter(|(own, _)| *own != at[i]) {
                let order = if own < at[i] { (x, found) } else { (found, x) };
                out[i].unsure |= L::compare(beyond, order.0, order.1).unsure;
                out[i].unsure |= L::test(Test::Nan, x).unsure | L::test(Test::Nan, found).unsure;
            }
            at[i] += 1;
        });
    }
    /// Means, unrounded.
    fn mean<L: Lane + Reducible>(
        &self,
        (begin, out): (usize, &mut [L]),
        lanes: &mut [L],
        rules: &Rules,
    ) {
        let compute = rules.computing();
        let count = L::whole(self.count as i64, &compute);
        self.reduce(Reduce::Sum, (begin, out), lanes, rules, |_, x| x);
        out.iter_mut()
            .for_each(|x| *x = L::div(*x, count, &compute));
    }
    fn variance<L: Lane + Reducible>(
        &self,
        (begin, out): (usize, &mut [L]),
        lanes: &mut [L],
        rules: &Rules,
        correction: i64,
    ) {
        let compute = rules.computing();
        let mut means = vec![L::default(); out.len()];
        self.mean((begin, &mut means), lanes, rules);
        self.reduce(Reduce::Sum, (begin, out), lanes, rules, |i, x| {
            // Means of parts are off by their own errors.
            let own = compute.unit() * means[i].to_f64().abs();
            let mean = means[i].moved(own, &compute.varied(x.to_f64()));
            let distance = L::sub(x, mean, &compute);
            L::mul(distance, distance, &compute)
        });
        let degrees = (self.count as i64).saturating_sub(correction);
        let nothing = L::constant(f64::NAN, 0);
        let divisor = L::whole(degrees, &compute);
        for x in out {
            let variance = if degrees <= 0 {
                nothing
            } else {
                L::div(*x, divisor, &compute)
            };
            *x = variance.stored(rules);
        }
    }
}
