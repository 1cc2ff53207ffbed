//! Routines: matrices of operands, one after the other, by the textbook.
//!
//! Eigenvectors and singular vectors are found by rotations (Jacobi 1846, Hestenes 1958) in f64, a transform by its definition.
//!
//! A sum is that of a product (`product.rs`): its bounds hold for every order, so for factors that are computed block by block. Where a
//! decision lies within the bounds of what it compares, nothing is known of what follows.

use super::code::{Reduce, Routine};
use super::elementwise::chunks;
use super::with_lane;
use crate::error::{InterpError, Result};
use crate::machine::Machine;
use crate::number::Rules;
use crate::number::math::{Predicate, Test};
use crate::number::reduce::Reducible;
use crate::number::{Env, Int, math};
use crate::site::Site;
use crate::tensor::{Axis, Lane, Tensor, product};
use fuser_ir::DType;

/// A matrix, row by row.
struct Matrix<L> {
    rows: usize,
    columns: usize,
    lanes: Vec<L>,
}

impl<L: Copy + Default> Matrix<L> {
    fn zeros(rows: usize, columns: usize) -> Self {
        let lanes = vec![L::default(); rows * columns];
        Self {
            rows,
            columns,
            lanes,
        }
    }
    fn at(&self, row: usize, column: usize) -> L {
        self.lanes[row * self.columns + column]
    }
    fn set(&mut self, row: usize, column: usize, lane: L) {
        self.lanes[row * self.columns + column] = lane;
    }
    fn transposed(&self) -> Self {
        let mut made = Self::zeros(self.columns, self.rows);
        for row in 0..self.rows {
            for column in 0..self.columns {
                made.set(column, row, self.at(row, column));
            }
        }
        made
    }
    /// The transpose where `turned`, else the same.
    fn turned(&self, turned: bool) -> Self {
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
struct Arithmetic {
    env: Env,
    /// The roundings of products are small beside those of their sums.
    precise: Rules,
}

impl Arithmetic {
    /// `x - sum of terms`, in any order.
    fn less<L: Reducible>(&self, x: L, terms: impl Iterator<Item = (L, L)>) -> L {
        let zero = L::default();
        let rules = &self.env.rules;
        let mut sum = L::start(Reduce::Sum, zero, zero);
        L::push(Reduce::Sum, &mut sum, x, rules);
        for (a, b) in terms {
            let term = L::term(L::sub(zero, a, &self.precise), b, &self.precise);
            L::push(Reduce::Sum, &mut sum, term, rules);
        }
        L::end(Reduce::Sum, sum, rules)
    }
    fn sum<L: Reducible>(&self, terms: impl Iterator<Item = (L, L)>) -> L {
        let zero = L::default();
        let rules = &self.env.rules;
        let mut sum = L::start(Reduce::Sum, zero, zero);
        for (a, b) in terms {
            L::push(Reduce::Sum, &mut sum, L::term(a, b, &self.precise), rules);
        }
        L::end(Reduce::Sum, sum, rules)
    }
    fn sub<L: Reducible>(&self, a: L, b: L) -> L {
        L::sub(a, b, &self.env.rules)
    }
    fn mul<L: Reducible>(&self, a: L, b: L) -> L {
        L::mul(a, b, &self.env.rules)
    }
    fn div<L: Reducible>(&self, a: L, b: L) -> L {
        self.inexact(L::div(a, b, &self.env.rules))
    }
    fn root<L: Reducible>(&self, x: L) -> L {
        let mut lane = [x];
        L::unary(math::Unary::Sqrt, &mut lane, &self.env);
        self.inexact(lane[0])
    }
    /// A quotient or a root that may be off by a unit in the last place besides: a library divides by multiplying with a reciprocal.
    fn inexact<L: Reducible>(&self, lane: L) -> L {
        let rules = &self.env.rules;
        let known = lane.to_bounded(self.env.dtype, &self.precise);
        if known.v == 0.0 || !known.v.is_finite() {
            return lane;
        }
        let ulp = rules.computing_ulp(known.v);
        lane.moved(ulp, rules).loosened(known.e + ulp)
    }
}

/// The lower triangular factor.
fn cholesky<L: Reducible>(a: &Matrix<L>, own: &Arithmetic) -> Matrix<L> {
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
fn solve<L: Reducible>(
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
    x
}

fn undecided<L: Reducible>(mut matrix: Matrix<L>, unsure: bool) -> Matrix<L> {
    if unsure {
        matrix
            .lanes
            .iter_mut()
            .for_each(|lane| *lane = lane.undecided());
    }
    matrix
}

/// True where all elements are numbers and finite.
fn is_finite<L: Reducible>(x: &Matrix<L>) -> bool {
    x.lanes
        .iter()
        .all(|lane| L::test(Test::Finite, *lane).v != 0)
}

/// `count` elements that are no number.
fn none<L: Reducible>(rows: usize, columns: usize) -> Matrix<L> {
    let mut made = Matrix::zeros(rows, columns);
    made.lanes.fill(L::constant(f64::NAN, 0));
    made
}

/// The magnitude.
fn size<L: Reducible>(x: L, own: &Arithmetic) -> L {
    let mut lane = [x];
    L::unary(math::Unary::Abs, &mut lane, &own.env);
    lane[0]
}

/// Both factors, and the rows that are exchanged.
fn lu<L: Reducible>(a: &Matrix<L>, own: &Arithmetic) -> (Matrix<L>, Vec<Int>) {
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
fn qr<L: Reducible>(a: &Matrix<L>, own: &Arithmetic) -> (Matrix<L>, Matrix<L>) {
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
        let (mut all, mut open) = (true, false);
        for same in same {
            all &= same.v != 0;
            open |= same.unsure;
        }
        // Others that are not zero decide alone.
        unsure |= all && open;
        if all {
            continue;
        }
        let head = f.at(step, step);
        let norm = own.sum((step..m).map(|row| (f.at(row, step), f.at(row, step))));
        let norm = own.root(norm);
        let above = L::compare(Predicate::Ge, head, zero);
        unsure |= above.unsure;
        let beta = if above.v != 0 {
            own.sub(zero, norm)
        } else {
            norm
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

/// Reflects columns of a matrix, from row `step` on, where the vector is 1.
fn reflect<L: Reducible>(
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
fn householder_product<L: Reducible>(
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

/// A matrix in f64, with the norm of the error that a backward stable algorithm and its operand have together; in a sample it is off by that.
struct Backward {
    x: Vec<Vec<f64>>,
    error: f64,
    /// False where an element is not finite.
    finite: bool,
    /// True where nothing is known of an element.
    open: bool,
}

impl Backward {
    /// The errors of such an algorithm are those of an operand whose elements are off by a rounding of its norm each.
    fn of<L: Reducible>(a: &Matrix<L>, own: &Arithmetic) -> Self {
        let dtype = own.env.dtype;
        let rules = &own.env.rules;
        let bounded: Vec<_> = a
            .lanes
            .iter()
            .map(|lane| lane.to_bounded(dtype, &own.precise))
            .collect();
        let norm = bounded.iter().map(|b| b.v * b.v).sum::<f64>().sqrt();
        let given = bounded.iter().map(|b| b.e * b.e).sum::<f64>().sqrt();
        let each = norm * rules.unit();
        let count = a.rows.max(a.columns) as f64;
        // Lengths grow or shrink with each reflection and rotation, which is orthogonal within a rounding.
        let drift = rules.varied(0.25).moved(1.0, count * rules.unit());
        let mut x = vec![vec![0.0; a.columns]; a.rows];
        for (at, b) in bounded.iter().enumerate() {
            let (row, column) = (at / a.columns.max(1), at % a.columns.max(1));
            x[row][column] = rules.varied(at as f64 + 0.5).moved(b.v * drift, each);
        }
        Self {
            x,
            error: count * each + given,
            finite: bounded.iter().all(|b| b.v.is_finite()),
            open: bounded.iter().any(|b| b.is_undecided()),
        }
    }
}

/// A value with a bound; nothing is known of it where that is not finite.
fn bounded<L: Reducible>(v: f64, e: f64, rules: &Rules) -> L {
    let lane = L::constant(v, 0);
    match e.is_finite() {
        true => lane.loosened(rules.unrounded(v, e + v.abs() * 2.0 * rules.unit()).e),
        false => lane.undecided(),
    }
}

/// A unit vector with the sign that is defined, where its neighbours in the spectrum are `gap` away and all is off by `error`: it turns by no more
/// than their ratio (Davis and Kahan 1970; for singular vectors Wedin 1972).
fn settled<L: Reducible>(
    vector: &mut [f64],
    partner: Option<&mut [f64]>,
    error: f64,
    gap: f64,
    rules: &Rules,
) -> (Vec<L>, Vec<L>) {
    let turned = 2.0 * error / (gap - 2.0 * error);
    let near = if gap > 4.0 * error && turned < 1.0 {
        turned
    } else {
        f64::INFINITY
    };
    let most = vector.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let deciding = vector.iter().position(|x| 2.0 * x.abs() > most);
    // The choice is open where an element may be the one or not, or of either sign.
    let open = vector
        .iter()
        .take(deciding.map_or(0, |at| at + 1))
        .any(|x| (2.0 * x.abs() - most).abs() <= 3.0 * near);
    let sign = if deciding.is_some_and(|at| vector[at] < 0.0) {
        -1.0
    } else {
        1.0
    };
    let lanes = |vector: &mut [f64]| {
        let lane = |x: &mut f64| {
            *x *= sign;
            // An element of a vector of length 1.
            let most = 1.0 + x.abs();
            let e = if open { most } else { near.min(most) };
            bounded(*x, e, rules)
        };
        vector.iter_mut().map(lane).collect()
    };
    let own = lanes(vector);
    (own, partner.map(lanes).unwrap_or_default())
}

/// Eigenvectors as columns and eigenvalues of a symmetric matrix, of which the lower triangle is given.
fn eigh<L: Reducible>(a: &Matrix<L>, own: &Arithmetic) -> (Matrix<L>, Matrix<L>) {
    let n = a.rows;
    let mut lower = Matrix::zeros(n, n);
    for row in 0..n {
        for column in 0..n {
            lower.set(row, column, a.at(row.max(column), row.min(column)));
        }
    }
    let mut given = Backward::of(&lower, own);
    for row in 0..n {
        for column in 0..row {
            given.x[column][row] = given.x[row][column];
        }
    }
    if !given.finite && !given.open {
        return (none(n, n), none(n, 1));
    }
    let (values, mut vectors) = rotated(given.x);
    let rules = &own.env.rules;
    let (mut made, mut found) = (Matrix::zeros(n, n), Matrix::zeros(n, 1));
    for at in 0..n {
        let others = (0..n).filter(|other| *other != at);
        let gap = others
            .map(|other| (values[at] - values[other]).abs())
            .fold(f64::INFINITY, f64::min);
        let (lanes, _) = settled(&mut vectors[at], None, given.error, gap, rules);
        lanes
            .into_iter()
            .enumerate()
            .for_each(|(row, lane)| made.set(row, at, lane));
        found.set(at, 0, bounded(values[at], given.error, rules));
    }
    (undecided(made, given.open), undecided(found, given.open))
}

/// Sweeps of rotations after which no f64 matrix has elements left beside its diagonal.
const SWEEPS: usize = 60;

/// Rotates row `p` and row `q`, which stands behind it, by an angle of this cosine and sine.
fn rotate(rows: &mut [Vec<f64>], [p, q]: [usize; 2], [c, s]: [f64; 2]) {
    let (head, tail) = rows.split_at_mut(q);
    for (a, b) in head[p].iter_mut().zip(&mut tail[0]) {
        (*a, *b) = (c * *a - s * *b, s * *a + c * *b);
    }
}

/// Eigenvalues, ascending, and the eigenvector of each.
fn rotated(mut a: Vec<Vec<f64>>) -> (Vec<f64>, Vec<Vec<f64>>) {
    let n = a.len();
    let mut v: Vec<Vec<f64>> = (0..n)
        .map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect())
        .collect();
    for _ in 0..SWEEPS {
        let mut still = true;
        for p in 0..n {
            for q in p + 1..n {
                let scale = a[p][p].abs().max(a[q][q].abs());
                if a[p][q] == 0.0 || a[p][q].abs() <= f64::EPSILON * 1e-3 * scale {
                    continue;
                }
                still = false;
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let c = 1.0 / t.hypot(1.0);
                let s = t * c;
                for row in &mut a {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
                // Vectors are rows here.
                rotate(&mut a, [p, q], [c, s]);
                rotate(&mut v, [p, q], [c, s]);
            }
        }
        if still {
            break;
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| a[i][i].total_cmp(&a[j][j]));
    let values = order.iter().map(|&i| a[i][i]).collect();
    (values, order.iter().map(|&i| v[i].clone()).collect())
}

/// Left vectors as columns, singular values, right vectors as rows.
fn svd<L: Reducible>(a: &Matrix<L>, full: bool, own: &Arithmetic) -> [Matrix<L>; 3] {
    let (m, n) = (a.rows, a.columns);
    let count = m.min(n);
    let (left, right) = if full { (m, n) } else { (count, count) };
    let rules = &own.env.rules;
    let given = Backward::of(a, own);
    if !given.finite && !given.open {
        return [none(m, left), none(count, 1), none(right, n)];
    }
    // Vectors as rows: those of the longer side, and those of the shorter one.
    let wide = n > m;
    let columns: Vec<Vec<f64>> = match wide {
        true => given.x.clone(),
        false => (0..n)
            .map(|j| given.x.iter().map(|row| row[j]).collect())
            .collect(),
    };
    let (values, mut long, mut short) = orthogonal(columns, m.max(n), rules);
    if full {
        complete(&mut long, m.max(n), m.max(n), rules);
    }
    let (mut u, mut v) = if wide {
        (short, long)
    } else {
        (std::mem::take(&mut long), std::mem::take(&mut short))
    };
    let (mut us, mut ss, mut vts) = (
        Matrix::zeros(m, left),
        Matrix::zeros(count, 1),
        Matrix::zeros(right, n),
    );
    for at in 0..left.max(right) {
        let value = values.get(at).copied();
        let gap = match value {
            Some(value) => {
                let others = (0..count).filter(|other| *other != at);
                let near = others.map(|other| (value - values[other]).abs());
                // The longer side has vectors of no singular value, too.
                let beyond = if m == n { 2.0 * value } else { value };
                near.fold(beyond, f64::min)
            }
            None => 0.0,
        };
        let (own, other) = match (u.get_mut(at), v.get_mut(at)) {
            (Some(own), Some(other)) => settled(own, Some(other), given.error, gap, rules),
            (Some(own), None) => settled(own, None, given.error, gap, rules),
            (None, Some(other)) => {
                let (lanes, _) = settled(other, None, given.error, gap, rules);
                (Vec::new(), lanes)
            }
            (None, None) => continue,
        };
        own.into_iter()
            .enumerate()
            .for_each(|(row, lane)| us.set(row, at, lane));
        other
            .into_iter()
            .enumerate()
            .for_each(|(column, lane)| vts.set(at, column, lane));
        if let Some(value) = value {
            ss.set(at, 0, bounded(value, given.error, rules));
        }
    }
    [us, ss, vts].map(|made| undecided(made, given.open))
}

/// Rotates vectors until they are orthogonal: their lengths, descending, the vectors at length 1, and the rotations, a row for each.
fn orthogonal(
    mut x: Vec<Vec<f64>>,
    length: usize,
    rules: &Rules,
) -> (Vec<f64>, Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let n = x.len();
    let mut v: Vec<Vec<f64>> = (0..n)
        .map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect())
        .collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    for _ in 0..SWEEPS {
        let mut still = true;
        for p in 0..n {
            for q in p + 1..n {
                let (pp, qq, pq) = (dot(&x[p], &x[p]), dot(&x[q], &x[q]), dot(&x[p], &x[q]));
                if pq == 0.0 || pq.abs() <= f64::EPSILON * (pp * qq).sqrt() {
                    continue;
                }
                still = false;
                let theta = (qq - pp) / (2.0 * pq);
                let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let c = 1.0 / t.hypot(1.0);
                let s = t * c;
                rotate(&mut x, [p, q], [c, s]);
                rotate(&mut v, [p, q], [c, s]);
            }
        }
        if still {
            break;
        }
    }
    let lengths: Vec<f64> = x.iter().map(|x| dot(x, x).sqrt()).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| lengths[j].total_cmp(&lengths[i]));
    let most = order.first().map_or(0.0, |&i| lengths[i]);
    let mut vectors: Vec<Vec<f64>> = Vec::new();
    for &i in &order {
        // What is left of a vector beside the greatest one may be roundings.
        if lengths[i] > most * f64::EPSILON {
            vectors.push(x[i].iter().map(|e| e / lengths[i]).collect());
        }
    }
    complete(&mut vectors, length, n, rules);
    let values = order.iter().map(|&i| lengths[i]).collect();
    (
        values,
        vectors,
        order.iter().map(|&i| v[i].clone()).collect(),
    )
}

/// Adds vectors of so many elements that are orthogonal to all before, until there are `count`; in a sample any others.
fn complete(vectors: &mut Vec<Vec<f64>>, length: usize, count: usize, rules: &Rules) {
    for at in 0..length {
        if vectors.len() >= count {
            return;
        }
        let element = |i: usize| {
            let random = rules.varied((at * length + i) as f64 + 0.75);
            random.moved(f64::from(u8::from(i == at)), 1.0)
        };
        let mut own: Vec<f64> = (0..length).map(element).collect();
        // Twice is enough.
        for _ in 0..2 {
            for other in &*vectors {
                let dot: f64 = own.iter().zip(other).map(|(a, b)| a * b).sum();
                own.iter_mut().zip(other).for_each(|(a, b)| *a -= dot * b);
            }
        }
        let norm = own.iter().map(|e| e * e).sum::<f64>().sqrt();
        // Of some unit vector at least this much is left, as there are fewer vectors than elements.
        if norm * (2.0 * length as f64).sqrt() > 1.0 {
            vectors.push(own.into_iter().map(|e| e / norm).collect());
        }
    }
}

/// The transform of a line, by its definition.
///
/// Steps of a fast one lose no more than 7 roundings of the norm of all each (Higham, Accuracy and Stability of Numerical Algorithms, 2002, theorem
/// 24.2), and lines of any length take at most three transforms of at most four times the length (Bluestein 1970).
fn fft<L: Reducible>([re, im]: [&Matrix<L>; 2], inverse: bool, own: &Arithmetic) -> [Matrix<L>; 2] {
    let n = re.rows;
    let (dtype, rules) = (own.env.dtype, &own.env.rules);
    let line = |x: &Matrix<L>| -> Vec<_> {
        x.lanes
            .iter()
            .map(|lane| lane.to_bounded(dtype, &own.precise))
            .collect()
    };
    let (re, im) = (line(re), line(im));
    let open = re.iter().chain(&im).any(|b| b.is_undecided());
    if !open && !re.iter().chain(&im).all(|b| b.v.is_finite()) {
        return [none(n, 1), none(n, 1)];
    }
    let norm = re.iter().chain(&im).map(|b| b.v * b.v).sum::<f64>().sqrt();
    let given: f64 = re.iter().chain(&im).map(|b| b.e).sum();
    let count = n as f64;
    let steps = (4.0 * count).log2();
    let scale = if inverse { count.recip() } else { 1.0 };
    let error = scale * (given + 21.0 * steps * rules.unit() * count.sqrt() * norm);
    // Errors of steps are of either sign.
    let strays = scale * steps * rules.unit() * norm;
    let circle: Vec<(f64, f64)> = (0..n)
        .map(|at| {
            let angle = 2.0 * std::f64::consts::PI * at as f64 / count;
            let sin = libm::sin(angle);
            (libm::cos(angle), if inverse { sin } else { -sin })
        })
        .collect();
    let (mut real, mut imaginary) = (Matrix::zeros(n, 1), Matrix::zeros(n, 1));
    for k in 0..n {
        let (mut a, mut b) = (0.0, 0.0);
        for j in 0..n {
            let (c, s) = circle[j * k % n];
            a += re[j].v * c - im[j].v * s;
            b += re[j].v * s + im[j].v * c;
        }
        let own = rules.varied(k as f64 + 0.5);
        real.set(k, 0, bounded(own.moved(a * scale, strays), error, rules));
        imaginary.set(
            k,
            0,
            bounded(
                own.varied(k as f64 + 0.25).moved(b * scale, strays),
                error,
                rules,
            ),
        );
    }
    [real, imaginary].map(|made| undecided(made, open))
}

/// The elements of a matrix, a vector or a line of a tensor.
struct Place {
    /// From one to the next, along each axis of the batch.
    batch: Vec<(usize, usize)>,
    /// Rows and columns, each with the distance of neighbours; a vector or a line is one column.
    rows: (usize, usize),
    columns: (usize, usize),
}

impl Place {
    /// That of a tensor, whose last `own` axes are those of a matrix or a vector, or axis `dim` that of a line.
    fn of(axes: &[Axis], strides: &[usize], own: usize, dim: Option<usize>) -> Option<Self> {
        let mut all: Vec<(usize, usize)> = axes
            .iter()
            .map(|axis| axis.extent)
            .zip(strides.iter().copied())
            .collect();
        if let Some(dim) = dim.filter(|dim| *dim < all.len()) {
            let line = all.remove(dim);
            all.push(line);
        }
        let before = all.len().checked_sub(own)?;
        let inner = all.split_off(before);
        Some(Self {
            batch: all,
            rows: *inner.first()?,
            columns: inner.get(1).copied().unwrap_or((1, 0)),
        })
    }
    /// The place of each element of number `number`, row by row.
    fn walk(&self, number: usize) -> impl Iterator<Item = usize> {
        let mut rest = number;
        let first = self.batch.iter().rev().fold(0, |at, (extent, stride)| {
            let index = rest % (*extent).max(1);
            rest /= (*extent).max(1);
            at + index * stride
        });
        let (rows, columns) = (self.rows, self.columns);
        let row = move |row: usize| {
            (0..columns.0).map(move |column| first + row * rows.1 + column * columns.1)
        };
        (0..rows.0).flat_map(row)
    }
}

/// The results that a routine makes of the matrices of its operands.
struct Outcome<L> {
    matrices: Vec<Matrix<L>>,
    /// Indices, the second result where there are some.
    indices: Option<Vec<Int>>,
}

impl<L> From<Vec<Matrix<L>>> for Outcome<L> {
    fn from(matrices: Vec<Matrix<L>>) -> Self {
        Self {
            matrices,
            indices: None,
        }
    }
}

/// Does a routine on matrices.
fn compute<L: Reducible>(
    routine: Routine,
    flag: &dyn Fn(&str) -> bool,
    own: &Arithmetic,
    operands: &[Matrix<L>],
) -> Option<Outcome<L>> {
    Some(match (routine, operands) {
        (Routine::Cholesky, [a]) => {
            let upper = flag("upper");
            vec![cholesky(&a.turned(upper), own).turned(upper)].into()
        }
        (Routine::TriangularSolve, [a, b]) => {
            let (right, transpose) = (flag("right"), flag("transpose"));
            let turned = right != transpose;
            let triangle = [flag("upper") != turned, flag("unit")];
            vec![solve(&a.turned(turned), triangle, &b.turned(right), own).turned(right)].into()
        }
        (Routine::Lu, [a]) => {
            let (factors, pivots) = lu(a, own);
            Outcome {
                matrices: vec![factors],
                indices: Some(pivots),
            }
        }
        (Routine::Qr, [a]) => {
            let (factors, taus) = qr(a, own);
            vec![factors, taus].into()
        }
        (Routine::Product, [v, taus]) => vec![householder_product(v, taus, own)].into(),
        (Routine::Eigh, [a]) => {
            let (vectors, values) = eigh(&a.turned(flag("upper")), own);
            vec![vectors, values].into()
        }
        (Routine::Svd, [a]) => svd(a, flag("full"), own)
            .into_iter()
            .collect::<Vec<_>>()
            .into(),
        (Routine::Fft, [re, im]) => fft([re, im], flag("inverse"), own)
            .into_iter()
            .collect::<Vec<_>>()
            .into(),
        _ => return None,
    })
}

/// The axes that a matrix or a vector has of each operand, and of each result.
fn axes(routine: Routine) -> (&'static [usize], &'static [usize]) {
    match routine {
        Routine::Cholesky => (&[2], &[2]),
        Routine::TriangularSolve => (&[2, 2], &[2]),
        Routine::Lu | Routine::Qr | Routine::Eigh => (&[2], &[2, 1]),
        Routine::Product => (&[2, 1], &[2]),
        Routine::Svd => (&[2], &[2, 1, 2]),
        Routine::Fft => (&[1, 1], &[1, 1]),
    }
}

impl Machine<'_> {
    /// The results of a routine.
    pub(crate) fn routine(
        &mut self,
        routine: Routine,
        site: Site<'_>,
        operands: &[Tensor],
    ) -> Result<Vec<Tensor>> {
        let odd = || InterpError::invalid("the operands are no matrices or lines");
        let first = operands.first().ok_or_else(odd)?;
        let env = self.env("sqrt", first.dtype());
        let own = Arithmetic {
            precise: env.rules.computing().precise(),
            env,
        };
        let (taken, made) = axes(routine);
        let dim = match routine {
            Routine::Fft => Some(crate::machine::extent(site.int("dim")?)?),
            _ => None,
        };
        let place = |x: &Tensor, own| Place::of(x.axes(), &x.strides(), own, dim);
        let from = operands.iter().zip(taken).map(|(x, own)| place(x, *own));
        let from: Vec<Place> = from.collect::<Option<_>>().ok_or_else(odd)?;
        let results: Vec<(DType, Vec<Axis>)> = (0..made.len())
            .map(|index| site.result(index))
            .collect::<Result<_>>()?;
        let to = results.iter().zip(made).map(|((_, axes), own)| {
            let strides = dense(axes);
            Place::of(axes, &strides, *own, dim)
        });
        let to: Vec<Place> = to.collect::<Option<_>>().ok_or_else(odd)?;
        let whole = |place: &Place| place.rows.0.saturating_mul(place.columns.0);
        let count = product(
            from.first()
                .ok_or_else(odd)?
                .batch
                .iter()
                .map(|axis| axis.0),
        );
        let count = count.ok_or_else(odd)?;
        let longest = from
            .iter()
            .map(|place| place.rows.0.max(place.columns.0))
            .max()
            .unwrap_or(0);
        let work = from
            .iter()
            .chain(&to)
            .map(whole)
            .fold(0, usize::saturating_add);
        let work = work
            .saturating_mul(longest.saturating_mul(rounds(routine)))
            .max(1);
        self.budget.burn(work.saturating_mul(count))?;
        let lengths = results
            .iter()
            .map(|(_, axes)| product(axes.iter().map(|axis| axis.extent)));
        let lengths: Vec<usize> = lengths.collect::<Option<_>>().ok_or_else(odd)?;
        let bytes = lengths
            .iter()
            .fold(0u64, |sum, length| sum.saturating_add(16 * *length as u64));
        let _charge = self.budget.take(bytes)?;
        let flag = |name: &str| site.flag(name);
        with_lane!(self.kind(first.dtype()), L => {
            let mut lists: Vec<Vec<L>> = lengths.iter().map(|length| vec![L::default(); *length]).collect();
            let mut indices = vec![Int::sure(0); lengths.get(1).copied().unwrap_or(0)];
            for number in 0..count {
                let read = |(x, place): (&Tensor, &Place)| {
                    let mut own = Matrix::zeros(place.rows.0, place.columns.0);
                    let lanes = own.lanes.iter_mut().zip(place.walk(number));
                    lanes.for_each(|(lane, at)| L::load(x, at, 1, std::slice::from_mut(lane)));
                    own
                };
                let matrices: Vec<Matrix<L>> = operands.iter().zip(&from).map(read).collect();
                let outcome = compute(routine, &flag, &own, &matrices).ok_or_else(odd)?;
                for ((list, place), matrix) in lists.iter_mut().zip(&to).zip(outcome.matrices) {
                    place.walk(number).zip(matrix.lanes).for_each(|(at, lane)| list[at] = lane);
                }
                let found = outcome.indices.into_iter().flatten();
                let second = to.get(1).into_iter().flat_map(|place| place.walk(number));
                second.zip(found).for_each(|(at, index)| indices[at] = index);
            }
            let mut tensors = Vec::new();
            for ((dtype, axes), list) in results.into_iter().zip(lists) {
                let draft = self.draft(dtype, axes)?;
                tensors.push(match dtype.is_float() {
                    true => self.fill(draft, |part| copied(part, &list))?,
                    false => self.fill(draft, |part| copied(part, &indices))?,
                });
            }
            Ok(tensors)
        })
    }
}

/// Passes over a matrix for each of its rows.
fn rounds(routine: Routine) -> usize {
    match routine {
        // Each sweep rotates all pairs; ten or so are enough.
        Routine::Eigh | Routine::Svd => 40,
        _ => 1,
    }
}

fn copied<L: Lane>(part: crate::machine::Portion<'_>, list: &[L]) {
    chunks::<L>(part, |begin, row| {
        row.iter_mut()
            .zip(&list[begin..])
            .for_each(|(to, lane)| *to = *lane);
    });
}

/// Distances of neighbours, row-major.
fn dense(axes: &[Axis]) -> Vec<usize> {
    let mut strides = vec![1; axes.len()];
    for axis in (1..axes.len()).rev() {
        strides[axis - 1] = strides[axis] * axes[axis].extent;
    }
    strides
}
