//! Attention: for each query the scores of all keys, their softmax, and the values that it weighs.

use fuser_ir::DType;

use super::code::Reduce;
use super::elementwise::chunks;
use super::with_lane;
use crate::error::{InterpError, Result};
use crate::machine::{CHUNK, Machine};
use crate::number::lanes::Env;
use crate::number::math::{Binary, Predicate, Test, Unary};
use crate::number::reduce::Reducible;
use crate::number::{Int, Number, Rules, round};
use crate::tensor::{Axis, Lane, Tensor, product};
use crate::view::View;

/// An operand whose batch axes (all before the last two) are those of the queries, or which has no batch axes.
struct Matrices<'a> {
    x: &'a Tensor,
    /// The first element of each query's matrix, or row.
    first: View,
    /// From row to row and from column to column.
    steps: [usize; 2],
}

impl<'a> Matrices<'a> {
    /// `x` for queries with these axes before the last; its own rows are the queries where `by_query` says so.
    fn new(x: &'a Tensor, lines: &[Axis], by_query: bool) -> Result<Self> {
        let strides = x.strides();
        let odd = || InterpError::invalid("the operands are no matrices of one shape");
        let (batch, last) = strides
            .split_at_checked(strides.len().wrapping_sub(2))
            .ok_or_else(odd)?;
        let before = lines.len() - 1;
        let batch = match batch.len() {
            0 => vec![0; before],
            own if own == before => batch.to_vec(),
            _ => return Err(odd()),
        };
        let query = if by_query { last[0] } else { 0 };
        let steps = [batch, vec![query]].concat();
        Ok(Self {
            x,
            first: View::new(lines.iter().map(|axis| axis.extent), &steps, 0),
            steps: [last[0], last[1]],
        })
    }
    fn extents(&self) -> [usize; 2] {
        let axes = self.x.axes();
        [axes[axes.len() - 2].extent, axes[axes.len() - 1].extent]
    }
    /// Reads `lanes.len()` elements of a row of line `line`'s matrix, from column `from` on.
    fn row<L: Lane>(&self, line: usize, row: usize, from: usize, lanes: &mut [L]) {
        let at = self.first.at(line) + row * self.steps[0] + from * self.steps[1];
        L::load(self.x, at, self.steps[1], lanes);
    }
}

/// An attention.
struct Attention<'a> {
    q: Matrices<'a>,
    k: Matrices<'a>,
    v: Matrices<'a>,
    bias: Option<Matrices<'a>>,
    /// The factor of the scores, and how far a program's may be off.
    scale: (f64, f64),
    causal: bool,
    queries: usize,
    keys: usize,
    terms: usize,
    /// Arithmetic in the type that accumulates.
    env: Env,
    /// That of scores.
    scores: Rules,
}

impl Machine<'_> {
    /// The values of each query, by the softmax of its scores; with `sums` the logarithms of the sums of their exponentials, too.
    pub(crate) fn sdpa(
        &mut self,
        operands: &[Tensor],
        scale: Option<f64>,
        causal: bool,
        sums: bool,
    ) -> Result<Vec<Tensor>> {
        let odd = || InterpError::invalid("the operands are no queries, keys and values");
        let ([q, k, v], bias) = operands.split_first_chunk::<3>().ok_or_else(odd)?;
        let (lines, _) = q
            .axes()
            .split_at_checked(q.axes().len().wrapping_sub(1))
            .ok_or_else(odd)?;
        if lines.is_empty() {
            return Err(odd());
        }
        let wide = q.dtype().compute();
        let own = Attention {
            q: Matrices::new(q, lines, true)?,
            k: Matrices::new(k, lines, false)?,
            v: Matrices::new(v, lines, false)?,
            bias: bias
                .first()
                .map(|bias| Matrices::new(bias, lines, true))
                .transpose()?,
            scale: factor(scale, q.axes().last().map_or(0, |axis| axis.extent), wide),
            causal,
            queries: lines.last().map_or(0, |axis| axis.extent),
            keys: v.axes()[lines.len() - 1].extent,
            terms: q.axes()[lines.len()].extent,
            env: self.env("exp", wide),
            scores: {
                let rules = self.rules(wide);
                self.sum_of_products(q.dtype(), rules)
            },
        };
        let [[queries, terms], [keys, columns]] = [own.q.extents(), own.v.extents()];
        let agree = own.k.extents() == [keys, terms]
            && own
                .bias
                .as_ref()
                .is_none_or(|bias| bias.extents() == [queries, keys]);
        if !agree {
            return Err(odd());
        }
        let axes = lines.iter().map(|axis| axis.extent).chain([columns]);
        let axes: Vec<Axis> = axes.map(Axis::plain).collect();
        let rows = axes[..lines.len()].to_vec();
        let steps = axes
            .iter()
            .map(|axis| axis.extent)
            .chain([keys, terms.max(1)]);
        self.budget.burn(product(steps).unwrap_or(usize::MAX))?;
        let (dtype, draft) = (q.dtype(), self.draft(q.dtype(), axes)?);
        let rules = self.rules(dtype);
        let weighted = with_lane!(self.kind(dtype), L => self.fill(draft, |part| {
            let mut found: Option<(usize, Weights<L>)> = None;
            chunks::<L>(part, |begin, row| {
                for (i, lane) in row.iter_mut().enumerate() {
                    let (line, column) = ((begin + i) / columns.max(1), (begin + i) % columns.max(1));
                    if found.as_ref().is_none_or(|(own, _)| *own != line) {
                        found = Some((line, own.weights::<L>(line)));
                    }
                    if let Some((_, weights)) = &found {
                        *lane = own.weighted(line, column, weights).stored(&rules);
                    }
                }
            });
        }))?;
        if !sums {
            return Ok(vec![weighted]);
        }
        let steps = rows
            .iter()
            .map(|axis| axis.extent)
            .chain([keys, terms.max(1)]);
        self.budget.burn(product(steps).unwrap_or(usize::MAX))?;
        let (log, draft) = (self.env("log", wide), self.draft(wide, rows)?);
        let rules = self.rules(wide);
        let sums = with_lane!(self.kind(wide), L => self.fill(draft, |part| {
            chunks::<L>(part, |begin, row| {
                for (i, lane) in row.iter_mut().enumerate() {
                    *lane = own.weights::<L>(begin + i).log_sum(&log).stored(&rules);
                }
            });
        }))?;
        Ok(vec![weighted, sums])
    }
}

/// The factor of the scores, as the type that accumulates holds it.
fn factor(scale: Option<f64>, terms: usize, wide: DType) -> (f64, f64) {
    match scale {
        Some(scale) => (round::to_dtype(scale, wide), 0.0),
        None => {
            let scale = 1.0 / (terms.max(1) as f64).sqrt();
            // A root and a quotient.
            (scale, 4.0 * Rules::of(wide).unit() * scale)
        }
    }
}

/// The weights of a query's keys.
struct Weights<L> {
    each: Vec<L>,
    sum: L,
    /// 1 where no key takes part.
    none: Int,
    /// The greatest score; 0 where no key takes part.
    base: L,
}

impl<L: Lane + Reducible> Weights<L> {
    /// The logarithm of the sum of the exponentials of all scores.
    fn log_sum(&self, log: &Env) -> L {
        let mut own = [self.sum];
        L::unary(Unary::Log, &mut own, log);
        L::binary(Binary::Add, &mut own, &[self.base], log);
        let [all] = own;
        // Weights may be relative to a number that the greatest score is rounded to.
        let moved = 2.0 * self.base.to_f64().abs() * log.rules.unit();
        L::select(
            self.none,
            L::constant(f64::NEG_INFINITY, 0),
            all.moved(moved, &log.rules),
        )
    }
}

impl Attention<'_> {
    /// The scores of line `line`, with the bias, and `-inf` for what is left out.
    fn scores<L: Lane + Reducible>(&self, line: usize) -> Vec<L> {
        let rules = &self.env.rules;
        let zero = L::default();
        let scale = L::constant(self.scale.0, 0).loosened(self.scale.1);
        let scale = scale.moved(self.scale.1, rules);
        let precise = rules.precise();
        let left_out = L::constant(f64::NEG_INFINITY, 0);
        let (mut xs, mut ys) = (vec![zero; CHUNK], vec![zero; CHUNK]);
        let mut scores = vec![zero; self.keys];
        for (key, score) in scores.iter_mut().enumerate() {
            let mut sum = L::start(Reduce::Sum, zero, zero);
            for from in (0..self.terms).step_by(CHUNK) {
                let count = CHUNK.min(self.terms - from);
                self.q.row(line, 0, from, &mut xs[..count]);
                self.k.row(line, key, from, &mut ys[..count]);
                for (x, y) in xs[..count].iter().zip(&ys) {
                    let term = L::term(*x, *y, &precise);
                    L::push(Reduce::Sum, &mut sum, term, &self.scores);
                }
            }
            *score = L::mul(L::end(Reduce::Sum, sum, &self.scores), scale, rules);
        }
        match &self.bias {
            Some(mask) if mask.x.dtype() == DType::I1 => {
                let mut kept = vec![Int::default(); self.keys];
                mask.row(line, 0, 0, &mut kept);
                for (score, kept) in scores.iter_mut().zip(kept) {
                    *score = L::select(kept, *score, left_out);
                }
            }
            Some(bias) => {
                let mut added = vec![zero; self.keys];
                bias.row(line, 0, 0, &mut added);
                L::binary(Binary::Add, &mut scores, &added, &self.env);
            }
            None => {}
        }
        if self.causal {
            let behind = line % self.queries.max(1) + 1;
            scores
                .iter_mut()
                .skip(behind)
                .for_each(|score| *score = left_out);
        }
        scores
    }
    fn weights<L: Lane + Reducible>(&self, line: usize) -> Weights<L> {
        let rules = &self.env.rules;
        let (zero, lowest) = (L::constant(0.0, 0), L::constant(f64::NEG_INFINITY, 0));
        let mut each = self.scores::<L>(line);
        let mut greatest = L::start(Reduce::Max, lowest, lowest);
        each.iter()
            .for_each(|x| L::push(Reduce::Max, &mut greatest, *x, rules));
        let greatest = L::end(Reduce::Max, greatest, rules);
        let none = L::compare(Predicate::Eq, greatest, lowest);
        let base = L::select(none, zero, greatest);
        each.iter_mut().for_each(|x| *x = L::sub(*x, base, rules));
        let below = each.clone();
        L::unary(Unary::Exp, &mut each, &self.env);
        let mut sum = L::start(Reduce::Sum, zero, zero);
        for (weight, below) in each.iter_mut().zip(below) {
            *weight = self.corrected(*weight, below);
            L::push(Reduce::Sum, &mut sum, *weight, rules);
        }
        let sum = L::end(Reduce::Sum, sum, rules);
        Weights {
            each,
            sum,
            none,
            base,
        }
    }
    /// A weight with the errors of an online softmax: it may have been rescaled from earlier maxima, and flushed to 0
    /// if subnormal.
    fn corrected<L: Number>(&self, weight: L, below: L) -> L {
        let Env { dtype, rules, .. } = self.env;
        let own = weight.to_bounded(dtype, &rules);
        let distance = below.to_f64().abs();
        let distance = if own.v > 0.0 { distance } else { 0.0 };
        let (once, blocks) = (4.0 + 2.0 * distance, self.keys as f64 / 16.0);
        // Rescalings of blocks are roundings that know nothing of each other.
        let typical = own.v * (once + blocks.sqrt()) * rules.unit() + rules.least_normal();
        let most = own.v * (once + blocks) * rules.unit() + rules.least_normal();
        weight.loosened(own.e + most).moved(typical, &rules)
    }
    fn weighted<L: Lane + Reducible>(&self, line: usize, column: usize, weights: &Weights<L>) -> L {
        let rules = &self.env.rules;
        let zero = L::constant(0.0, 0);
        let mut sum = L::start(Reduce::Sum, zero, zero);
        let mut value = [zero];
        let precise = rules.precise();
        for (key, weight) in weights.each.iter().enumerate() {
            self.v.row(line, key, column, &mut value);
            let [value] = value;
            let term = L::term(*weight, value, &precise);
            let ignored =
                L::test(Test::Finite, value).v == 0 && weight.to_f64() <= rules.least_normal();
            L::push(
                Reduce::Sum,
                &mut sum,
                if ignored {
                    term.undecided().open(rules)
                } else {
                    term
                },
                rules,
            );
        }
        let sum = L::end(Reduce::Sum, sum, rules);
        // Products are rounded, a reciprocal of the sum may be: errors that one weight alone has, too.
        let quotient = L::div(sum, weights.sum, rules);
        let own = 2.0 * quotient.to_f64().abs() * rules.unit();
        L::select(weights.none, zero, quotient.moved(own, rules))
    }
}
