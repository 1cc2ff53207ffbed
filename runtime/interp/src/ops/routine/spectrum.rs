//! Eigenvectors and singular vectors: rotations in f64 (Jacobi 1846, Hestenes 1958), with the bounds of perturbation theory.

use super::matrix::{Arithmetic, Matrix, none, undecided};
use crate::number::Rules;
use crate::number::reduce::Reducible;

/// A matrix in f64, with the norm of the error that a backward stable algorithm and its operand have together; in a sample it is off by that.
pub(super) struct Backward {
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

/// A value with an error bound; undecided if the bound is not finite.
pub(super) fn bounded<L: Reducible>(v: f64, e: f64, rules: &Rules) -> L {
    let lane = L::constant(v, 0);
    match e.is_finite() {
        true => lane.loosened(rules.unrounded(v, e + v.abs() * 2.0 * rules.unit()).e),
        false => lane.undecided(),
    }
}

/// A unit vector with the sign that is defined, where its neighbours in the spectrum are `gap` away and all is off by `error`: it turns by no more
/// than their ratio (Davis and Kahan 1970; for singular vectors Wedin 1972).
pub(super) fn settled<L: Reducible>(
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

/// Eigenvectors as columns, and eigenvalues, of a symmetric matrix given by its lower triangle.
pub(super) fn eigh<L: Reducible>(a: &Matrix<L>, own: &Arithmetic) -> (Matrix<L>, Matrix<L>) {
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

/// The maximum number of sweeps of rotations: after them, no f64 matrix has off-diagonal elements left.
const SWEEPS: usize = 60;

/// Rotates row `p` and the later row `q` by an angle with this cosine and sine.
pub(super) fn rotate(rows: &mut [Vec<f64>], [p, q]: [usize; 2], [c, s]: [f64; 2]) {
    let (head, tail) = rows.split_at_mut(q);
    for (a, b) in head[p].iter_mut().zip(&mut tail[0]) {
        (*a, *b) = (c * *a - s * *b, s * *a + c * *b);
    }
}

/// Eigenvalues, ascending, and the eigenvector of each.
pub(super) fn rotated(mut a: Vec<Vec<f64>>) -> (Vec<f64>, Vec<Vec<f64>>) {
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
pub(super) fn svd<L: Reducible>(a: &Matrix<L>, full: bool, own: &Arithmetic) -> [Matrix<L>; 3] {
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
pub(super) fn orthogonal(
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
pub(super) fn complete(vectors: &mut Vec<Vec<f64>>, length: usize, count: usize, rules: &Rules) {
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
