//! Factorizations and solutions that take a fixed number of steps; their sums are those of the op definitions, with
//! running error bounds.

use super::matrix::{Arithmetic, Matrix, is_finite, none, of_any_sign, undecided};
use crate::number::Int;
use crate::number::math::{self, Predicate};
use crate::number::reduce::Reducible;

/// The lower triangular factor.
pub(super) fn cholesky<L: Reducible>(a: &Matrix<L>, own: &Arithmetic) -> Matrix<L> {
    let n = a.rows;
    let mut l = Matrix::zeros(n, n);
    let mut unsure = false;
    for column in 0..n {
        for row in column..n {
            let terms = (0..column).map(|k| (l.at(row, k), l.at(column, k)));
            let left = own.less(a.at(row, column), terms);
            let lane = if row > column {
                own.div(left, l.at(column, column))
            } else {
                let above = L::compare(Predicate::Gt, left, L::default());
                unsure |= above.unsure;
                if above.v == 0 {
                    l.lanes.fill(L::constant(f64::NAN, 0));
                    return undecided(l, unsure);
                }
                own.root(left)
            };
            l.set(row, column, lane);
        }
    }
    undecided(l, unsure)
}

/// Solves `a x = b` for a triangular `a`.
pub(super) fn solve<L: Reducible>(
    a: &Matrix<L>,
    [upper, unit]: [bool; 2],
    b: &Matrix<L>,
    own: &Arithmetic,
) -> Matrix<L> {
    let n = a.rows;
    let mut x = Matrix::zeros(n, b.columns);
    for column in 0..b.columns {
        for step in 0..n {
            let row = if upper { n - 1 - step } else { step };
            let known = if upper { row + 1..n } else { 0..row };
            let terms = known.map(|k| (a.at(row, k), x.at(k, column)));
            let left = own.less(b.at(row, column), terms);
            let lane = if unit {
                left
            } else {
                own.div(left, a.at(row, row))
            };
            x.set(row, column, lane);
        }
    }
    // A library may multiply by reciprocals before it subtracts.
    x.lanes
        .iter_mut()
        .for_each(|lane| *lane = of_any_sign(*lane));
    x
}

/// The magnitude.
pub(super) fn size<L: Reducible>(x: L, own: &Arithmetic) -> L {
    let mut lane = [x];
    L::unary(math::Unary::Abs, &mut lane, &own.env);
    lane[0]
}

/// Both factors, and the rows that are exchanged.
pub(super) fn lu<L: Reducible>(a: &Matrix<L>, own: &Arithmetic) -> (Matrix<L>, Vec<Int>) {
    let (m, n) = (a.rows, a.columns);
    let steps = m.min(n);
    if !is_finite(a) {
        let still = (0..steps).map(|row| Int::sure(row as i128));
        return (none(m, n), still.collect());
    }
    let mut f = Matrix::zeros(m, n);
    f.lanes.copy_from_slice(&a.lanes);
    let mut pivots = Vec::new();
    let mut unsure = false;
    // Each element is what was given less a sum, which is formed at once.
    for step in 0..steps {
        for row in step..m {
            let terms = (0..step).map(|k| (f.at(row, k), f.at(k, step)));
            let left = own.less(f.at(row, step), terms);
            f.set(row, step, left);
        }
        let mut from = step;
        for row in step + 1..m {
            let sizes = [row, from].map(|row| size(f.at(row, step), own));
            let greater = L::compare(Predicate::Gt, sizes[0], sizes[1]);
            unsure |= greater.unsure;
            if greater.v != 0 {
                from = row;
            }
        }
        pivots.push(Int {
            v: from as i128,
            unsure,
        });
        for column in 0..n {
            f.lanes.swap(step * n + column, from * n + column);
        }
        for column in step + 1..n {
            let terms = (0..step).map(|k| (f.at(step, k), f.at(k, column)));
            let left = own.less(f.at(step, column), terms);
            f.set(step, column, left);
        }
        let by = f.at(step, step);
        let zero = L::compare(Predicate::Eq, by, L::default());
        unsure |= zero.unsure;
        if zero.v == 0 {
            for row in step + 1..m {
                let lane = own.div(f.at(row, step), by);
                f.set(row, step, lane);
            }
        }
    }
    (undecided(f, unsure), pivots)
}

/// The triangular factor with reflections below it, and their factors.
pub(super) fn qr<L: Reducible>(a: &Matrix<L>, own: &Arithmetic) -> (Matrix<L>, Matrix<L>) {
    let (m, n) = (a.rows, a.columns);
    let steps = m.min(n);
    if !is_finite(a) {
        return (none(m, n), none(steps, 1));
    }
    let zero = L::default();
    let mut f = Matrix::zeros(m, n);
    f.lanes.copy_from_slice(&a.lanes);
    let mut taus = Matrix::zeros(steps, 1);
    let mut unsure = false;
    for step in 0..steps {
        let same = (step + 1..m).map(|row| L::compare(Predicate::Eq, f.at(row, step), zero));
        let (mut all, mut open, mut decided) = (true, false, false);
        for same in same {
            all &= same.v != 0;
            open |= same.unsure;
            decided |= same.v == 0 && !same.unsure;
        }
        // One that is certainly not zero decides alone.
        unsure |= open && !decided;
        if all {
            continue;
        }
        let head = f.at(step, step);
        let norm = own.sum((step..m).map(|row| (f.at(row, step), f.at(row, step))));
        let norm = own.root(norm);
        let below = own.negative(head);
        unsure |= below.unsure;
        let beta = match below.v != 0 {
            true => norm,
            false => own.sub(zero, norm),
        };
        let tau = own.div(own.sub(beta, head), beta);
        let below = own.sub(head, beta);
        for row in step + 1..m {
            let lane = own.div(f.at(row, step), below);
            f.set(row, step, lane);
        }
        f.set(step, step, beta);
        taus.set(step, 0, tau);
        reflect(
            &mut f,
            step + 1..n,
            |f, row| f.at(row, step),
            step,
            tau,
            own,
        );
    }
    (undecided(f, unsure), undecided(taus, unsure))
}

/// Reflects columns of a matrix from row `step` on, where the vector has the element 1.
pub(super) fn reflect<L: Reducible>(
    x: &mut Matrix<L>,
    columns: std::ops::Range<usize>,
    vector: impl Fn(&Matrix<L>, usize) -> L,
    step: usize,
    tau: L,
    own: &Arithmetic,
) {
    let one = L::constant(1.0, 1);
    for column in columns {
        let first = std::iter::once((one, x.at(step, column)));
        let rest = (step + 1..x.rows).map(|row| (vector(x, row), x.at(row, column)));
        let dot = own.sum(first.chain(rest));
        let by = own.mul(tau, dot);
        let lane = own.sub(x.at(step, column), by);
        x.set(step, column, lane);
        for row in step + 1..x.rows {
            let lane = own.less(x.at(row, column), std::iter::once((vector(x, row), by)));
            x.set(row, column, lane);
        }
    }
}

/// The first columns of the product of reflections.
pub(super) fn householder_product<L: Reducible>(
    v: &Matrix<L>,
    taus: &Matrix<L>,
    own: &Arithmetic,
) -> Matrix<L> {
    let mut q = Matrix::zeros(v.rows, v.columns);
    for at in 0..v.columns {
        q.set(at, at, L::constant(1.0, 1));
    }
    for step in (0..taus.rows).rev() {
        reflect(
            &mut q,
            0..v.columns,
            |_, row| v.at(row, step),
            step,
            taus.at(step, 0),
            own,
        );
    }
    q
}
