//! Matrices of a routine, and their arithmetic.

use crate::number::math::{self, Predicate, Test};
use crate::number::reduce::Reducible;
use crate::number::{Env, Int, Rules};
use crate::ops::code::Reduce;

/// A matrix, row by row.
pub(super) struct Matrix<L> {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) lanes: Vec<L>,
}

impl<L: Copy + Default> Matrix<L> {
    pub(super) fn zeros(rows: usize, columns: usize) -> Self {
        let lanes = vec![L::default(); rows * columns];
        Self {
            rows,
            columns,
            lanes,
        }
    }
    pub(super) fn at(&self, row: usize, column: usize) -> L {
        self.lanes[row * self.columns + column]
    }
    pub(super) fn set(&mut self, row: usize, column: usize, lane: L) {
        self.lanes[row * self.columns + column] = lane;
    }
    pub(super) fn transposed(&self) -> Self {
        let mut made = Self::zeros(self.columns, self.rows);
        for row in 0..self.rows {
            for column in 0..self.columns {
                made.set(column, row, self.at(row, column));
            }
        }
        made
    }
    /// The transpose where `turned`, else the same.
    pub(super) fn turned(&self, turned: bool) -> Self {
        if turned {
            return self.transposed();
        }
        Self {
            lanes: self.lanes.clone(),
            ..*self
        }
    }
}

/// The arithmetic of a routine.
pub(super) struct Arithmetic {
    pub(super) env: Env,
    /// The roundings of products are small beside those of their sums.
    pub(super) precise: Rules,
}

impl Arithmetic {
    /// `x - sum of terms`, in any order. A zero `x` keeps its sign where every term is zero, and is the zero of an open
    /// sign where terms cancel each other.
    pub(super) fn less<L: Reducible>(&self, x: L, terms: impl Iterator<Item = (L, L)>) -> L {
        let rules = &self.env.rules;
        let mut sum = L::first(Reduce::Sum, x);
        let mut nothing = true;
        for (a, b) in terms {
            let term = L::term(self.negated(a), b, &self.precise);
            nothing &= is_zero(term);
            L::push(Reduce::Sum, &mut sum, term, rules);
        }
        if nothing {
            return x;
        }
        let left = L::end(Reduce::Sum, sum, rules);
        match is_zero(x) {
            true => of_any_sign(left),
            false => left,
        }
    }
    fn negated<L: Reducible>(&self, x: L) -> L {
        let mut lane = [x];
        L::unary(math::Unary::Neg, &mut lane, &self.env);
        lane[0]
    }
    /// True if the sign of `x` is set, also for a zero.
    pub(super) fn negative<L: Reducible>(&self, x: L) -> Int {
        let zero = L::default();
        let side = match is_zero(x) {
            true => L::div(L::constant(1.0, 1), x, &self.env.rules),
            false => x,
        };
        L::compare(Predicate::Lt, side, zero)
    }
    pub(super) fn sum<L: Reducible>(&self, terms: impl Iterator<Item = (L, L)>) -> L {
        let zero = L::default();
        let rules = &self.env.rules;
        let mut sum = L::start(Reduce::Sum, zero, zero);
        for (a, b) in terms {
            L::push(Reduce::Sum, &mut sum, L::term(a, b, &self.precise), rules);
        }
        L::end(Reduce::Sum, sum, rules)
    }
    pub(super) fn sub<L: Reducible>(&self, a: L, b: L) -> L {
        L::sub(a, b, &self.env.rules)
    }
    pub(super) fn mul<L: Reducible>(&self, a: L, b: L) -> L {
        L::mul(a, b, &self.env.rules)
    }
    pub(super) fn div<L: Reducible>(&self, a: L, b: L) -> L {
        self.inexact(L::div(a, b, &self.env.rules))
    }
    pub(super) fn root<L: Reducible>(&self, x: L) -> L {
        let mut lane = [x];
        L::unary(math::Unary::Sqrt, &mut lane, &self.env);
        self.inexact(lane[0])
    }
    /// A quotient or a root with an additional error of a unit in the last place, since a library may multiply by a
    /// reciprocal.
    pub(super) fn inexact<L: Reducible>(&self, lane: L) -> L {
        let rules = &self.env.rules;
        let known = lane.to_bounded(self.env.dtype, &self.precise);
        if known.v == 0.0 || !known.v.is_finite() {
            return lane;
        }
        let ulp = rules.computing_ulp(known.v);
        lane.moved(ulp, rules).loosened(known.e + ulp)
    }
}

/// True if a value is certainly zero, whatever its sign.
fn is_zero<L: Reducible>(x: L) -> bool {
    let same = L::compare(Predicate::Eq, x, L::default());
    same.v != 0 && !same.unsure
}

/// The value; a zero may have either sign.
pub(super) fn of_any_sign<L: Reducible>(x: L) -> L {
    match is_zero(x) {
        true => x.loosened(f64::from_bits(1)),
        false => x,
    }
}

pub(super) fn undecided<L: Reducible>(mut matrix: Matrix<L>, unsure: bool) -> Matrix<L> {
    if unsure {
        matrix
            .lanes
            .iter_mut()
            .for_each(|lane| *lane = lane.undecided());
    }
    matrix
}

/// True where all elements are numbers and finite.
pub(super) fn is_finite<L: Reducible>(x: &Matrix<L>) -> bool {
    x.lanes
        .iter()
        .all(|lane| L::test(Test::Finite, *lane).v != 0)
}

/// `count` elements that are no number.
pub(super) fn none<L: Reducible>(rows: usize, columns: usize) -> Matrix<L> {
    let mut made = Matrix::zeros(rows, columns);
    made.lanes.fill(L::constant(f64::NAN, 0));
    made
}
