//! Residuals of results: each within a multiple of `n u |A|`, the backward error of these algorithms (Higham 2002,
//! chapters 8 to 10 and 19).

use crate::factor::eliminate;
use crate::{
    Lines, Real, cholesky, eigh, fourier, householder_product, lu, qr, svd, triangular_solve,
};

const SIDES: [usize; 8] = [0, 1, 2, 3, 7, 16, 37, 70];

/// Numbers from -1 to 1.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
    fn matrix(&mut self, rows: usize, columns: usize) -> Vec<f64> {
        (0..rows * columns).map(|_| self.next()).collect()
    }
}

/// A product of matrices that lie column by column.
fn product(a: &[f64], b: &[f64], [rows, terms, columns]: [usize; 3]) -> Vec<f64> {
    let mut made = vec![0.0; rows * columns];
    for column in 0..columns {
        for term in 0..terms {
            for row in 0..rows {
                made[column * rows + row] += a[term * rows + row] * b[column * terms + term];
            }
        }
    }
    made
}

fn transposed(a: &[f64], rows: usize) -> Vec<f64> {
    let columns = a.len().checked_div(rows).unwrap_or(0);
    (0..a.len())
        .map(|at| a[at % columns.max(1) * rows + at / columns.max(1)])
        .collect()
}

fn norm(a: &[f64]) -> f64 {
    a.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Two matrices differ by no more than rounding: ten times `n u |A|`.
#[track_caller]
fn near(a: &[f64], b: &[f64], side: usize, size: f64) {
    let apart: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let bound = 10.0 * side.max(1) as f64 * f64::EPSILON / 2.0 * size;
    assert_eq!(a.len(), b.len());
    assert!(norm(&apart) <= bound, "{} beyond {bound}", norm(&apart));
}

fn one(n: usize) -> Vec<f64> {
    (0..n * n)
        .map(|at| f64::from(u8::from(at / n == at % n)))
        .collect()
}

#[test]
fn a_factor_times_its_transpose_is_the_matrix() {
    let mut numbers = Numbers(1);
    for n in SIDES {
        let x = numbers.matrix(n, n);
        let mut a = product(&x, &transposed(&x, n), [n, n, n]);
        (0..n).for_each(|at| a[at * n + at] += 1.0);
        let mut l = a.clone();
        assert!(cholesky(n, &mut l));
        near(&product(&l, &transposed(&l, n), [n, n, n]), &a, n, norm(&a));
        let b = numbers.matrix(n, 3);
        let mut y = b.clone();
        triangular_solve(n, [false, false], &l, &mut y);
        near(&product(&l, &y, [n, n, 3]), &b, n, norm(&l) * norm(&y));
    }
    let mut none = vec![1.0f32, 2.0, 2.0, 1.0];
    assert!(!cholesky(2, &mut none) && none.iter().all(|x| x.is_nan()));
    let mut infinite = [1.0, 0.0, f64::NAN, f64::INFINITY];
    assert!(cholesky(2, &mut infinite));
    assert_eq!(infinite, [1.0, 0.0, 0.0, f64::INFINITY]);
    let mut infinite = [f64::INFINITY, 0.0, 0.0, 1.0];
    assert!(cholesky(2, &mut infinite) && infinite == [f64::INFINITY, 0.0, 0.0, 1.0]);
    let mut none = [1.0, f64::INFINITY, 0.0, 1.0];
    assert!(!cholesky(2, &mut none) && none.iter().all(|x| x.is_nan()));
}

#[test]
fn triangular_factors_are_the_matrix_with_rows_exchanged() {
    let mut numbers = Numbers(2);
    for (m, n) in SIDES
        .into_iter()
        .flat_map(|m| [(m, m), (m, m / 2), (m / 2, m)])
    {
        let a = numbers.matrix(m, n);
        let steps = m.min(n);
        let (mut f, mut pivots) = (a.clone(), vec![0; steps]);
        lu([m, n], &mut f, &mut pivots);
        let (mut l, mut u, mut exchanged) = (vec![0.0; m * steps], vec![0.0; steps * n], a.clone());
        for (row, column) in (0..m).flat_map(|row| (0..n).map(move |column| (row, column))) {
            let at = f[column * m + row];
            match row > column {
                true => {
                    assert!(at.abs() <= 1.0);
                    l[column * m + row] = at;
                }
                false => u[column * steps + row] = at,
            }
        }
        (0..steps).for_each(|at| l[at * m + at] = 1.0);
        for (step, &pivot) in pivots.iter().enumerate() {
            (0..n)
                .for_each(|column| exchanged.swap(column * m + step, column * m + pivot as usize));
        }
        near(
            &product(&l, &u, [m, steps, n]),
            &exchanged,
            steps,
            norm(&l) * norm(&u),
        );
    }
    // The first column is zero, and so is the pivot.
    let (mut f, mut pivots) = (vec![0.0, 0.0, 3.0, 4.0], [0; 2]);
    lu([2, 2], &mut f, &mut pivots);
    assert_eq!((f, pivots), (vec![0.0, 0.0, 3.0, 4.0], [0, 1]));
}

/// Bits, so that zeros of either sign differ.
fn bits(a: &[f64]) -> Vec<u64> {
    a.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn a_zero_less_zeros_keeps_its_sign() {
    // Column by column.
    let mut a = [1.0, -0.0, 0.0, 0.0, -0.0, 0.0, -0.0, -0.0, -0.0];
    let given = a;
    lu([3, 3], &mut a, &mut [0; 3]);
    assert_eq!(bits(&a), bits(&given));
    let mut a = [4.0, -0.0, 0.0, -0.0, 4.0, -0.0, 0.0, -0.0, 4.0];
    assert!(cholesky(3, &mut a));
    assert_eq!(
        bits(&a),
        bits(&[2.0, -0.0, 0.0, 0.0, 2.0, -0.0, 0.0, 0.0, 2.0])
    );
    let (mut row, mut tau) = ([-0.0, 3.0], [1.0]);
    qr([1, 2], &mut row, &mut tau);
    assert_eq!((bits(&row), tau), (bits(&[-0.0, 3.0]), [0.0]));
    // LAPACK's `larfg`: the sign of the head is set.
    let (mut column, mut tau) = ([-0.0, 1.0], [0.0]);
    qr([2, 1], &mut column, &mut tau);
    assert_eq!((column, tau), ([1.0, -1.0], [1.0]));
    let mut column = [0.0, 1.0];
    qr([2, 1], &mut column, &mut tau);
    assert_eq!((column, tau), ([-1.0, 1.0], [1.0]));
}

#[test]
fn a_column_of_zeros_is_not_reflected() {
    // Columns, the first of which is zero.
    let mut a = [0.0, 0.0, 1.0, 2.0, 1.0, -1.0];
    let (given, mut taus) = (a, [1.0; 2]);
    qr([2, 3], &mut a, &mut taus);
    assert_eq!((a, taus), (given, [0.0; 2]));
    let mut a = [1.0, 0.0, 2.0, 0.0, 3.0, 4.0];
    let given = a;
    qr([2, 3], &mut a, &mut taus);
    assert_eq!((a, taus), (given, [0.0; 2]));
}

#[test]
fn zeros_keep_their_signs_in_blocks() {
    // A matrix beside its negative: blocks, and one column after the other.
    let n = 40;
    let mut a: Vec<f64> = (0..n * n).map(|at| (at * 7 % 5) as f64 - 2.0).collect();
    (0..n).for_each(|at| a[at * n + at] = 90.0);
    (0..n * n)
        .filter(|at| at % 3 == 1)
        .for_each(|at| a[at] = -0.0);
    (0..n).for_each(|row| a[5 * n + row] = if row == 5 { -7.0 } else { -0.0 });
    let (mut blocks, mut steps) = (a.clone(), a.clone());
    let (mut pivots, mut own) = (vec![0; n], vec![0; n]);
    lu([n, n], &mut blocks, &mut pivots);
    eliminate([n, n], &mut steps, &mut own);
    assert_eq!(pivots, own);
    let zeros = |a: &[f64]| -> Vec<(usize, bool)> {
        let signs = a.iter().enumerate().filter(|(_, x)| **x == 0.0);
        signs.map(|(at, x)| (at, x.is_sign_negative())).collect()
    };
    assert_eq!(zeros(&blocks), zeros(&steps));
    assert!(zeros(&blocks).iter().any(|(_, negative)| *negative));
    let near = |(x, y): (&f64, &f64)| (x - y).abs() <= 1e-12 * (1.0 + y.abs());
    assert!(blocks.iter().zip(&steps).all(near));
}

/// The orthogonal factor, and the triangular one.
fn factors(a: &[f64], [m, n]: [usize; 2]) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let steps = m.min(n);
    let (mut f, mut taus) = (a.to_vec(), vec![0.0; steps]);
    qr([m, n], &mut f, &mut taus);
    let mut q = vec![0.0; m * steps];
    householder_product([m, steps], &f[..m * steps], &taus, &mut q);
    let mut r = vec![0.0; steps * n];
    for (row, column) in (0..steps).flat_map(|row| (row..n).map(move |column| (row, column))) {
        r[column * steps + row] = f[column * m + row];
    }
    (q, r, taus)
}

#[test]
fn reflections_are_those_of_lapack() {
    let mut numbers = Numbers(3);
    for (m, n) in SIDES
        .into_iter()
        .flat_map(|m| [(m, m), (m, m / 2), (m / 2, m)])
    {
        let a = numbers.matrix(m, n);
        let steps = m.min(n);
        let (q, r, _) = factors(&a, [m, n]);
        near(&product(&q, &r, [m, steps, n]), &a, n, norm(&a));
        near(
            &product(&transposed(&q, m), &q, [steps, m, steps]),
            &one(steps),
            m,
            steps as f64,
        );
    }
    // `scipy.linalg.lapack.dgeqrf` of SciPy 1.17.1: nothing is reflected where a column is zero below its diagonal.
    let (_, r, taus) = factors(&[3.0, 4.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 2.0], [3, 3]);
    let wanted = [-5.0, 0.0, 0.0, 0.0, 0.0, 0.0, -2.2, 0.4, 2.0];
    near(&r, &wanted, 3, 10.0);
    near(&taus, &[1.6, 0.0, 0.0], 3, 2.0);
}

#[test]
fn vectors_and_values_are_those_of_the_matrix() {
    let mut numbers = Numbers(4);
    for n in SIDES {
        let x = numbers.matrix(n, n);
        let a: Vec<f64> = x
            .iter()
            .zip(transposed(&x, n))
            .map(|(a, b)| a + b)
            .collect();
        let (mut v, mut w) = (vec![0.0; n * n], vec![0.0; n]);
        eigh(n, &a, &mut v, &mut w);
        assert!(w.is_sorted());
        let scaled: Vec<f64> = (0..n * n).map(|at| v[at] * w[at / n]).collect();
        near(&product(&a, &v, [n, n, n]), &scaled, n, norm(&a));
        near(
            &product(&transposed(&v, n), &v, [n, n, n]),
            &one(n),
            n,
            n as f64,
        );
        v.chunks_exact(n.max(1)).for_each(has_its_sign);
    }
    let (mut v, mut w) = ([0.0; 4], [0.0; 2]);
    eigh(2, &[f64::INFINITY, 0.0, 0.0, 1.0], &mut v, &mut w);
    assert!(v.iter().chain(&w).all(|x| x.is_nan()));
}

fn has_its_sign(vector: &[f64]) {
    let most = vector.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    assert!(
        vector
            .iter()
            .find(|x| 2.0 * x.abs() > most)
            .is_none_or(|x| *x > 0.0)
    );
}

#[test]
fn singular_vectors_and_values_are_those_of_the_matrix() {
    let mut numbers = Numbers(5);
    for (m, n) in SIDES
        .into_iter()
        .flat_map(|m| [(m, m), (m, m / 2), (m / 2, m)])
    {
        let a = numbers.matrix(m, n);
        let count = m.min(n);
        for (left, right) in [(count, count), (m, n)] {
            let (mut u, mut s, mut vt) =
                (vec![0.0; m * left], vec![0.0; count], vec![0.0; right * n]);
            svd([m, n], &a, (&mut u, &mut s, &mut vt));
            assert!(s.is_sorted_by(|a, b| a >= b) && s.iter().all(|s| *s >= 0.0));
            let us: Vec<f64> = (0..m * count).map(|at| u[at] * s[at / m]).collect();
            let first: Vec<f64> = (0..count * n)
                .map(|at| vt[at / count * right + at % count])
                .collect();
            near(&product(&us, &first, [m, count, n]), &a, m.max(n), norm(&a));
            near(
                &product(&transposed(&u, m), &u, [left, m, left]),
                &one(left),
                m,
                m as f64,
            );
            near(
                &product(&vt, &transposed(&vt, right), [right, n, right]),
                &one(right),
                n,
                n as f64,
            );
            u.chunks_exact(m.max(1)).for_each(has_its_sign);
        }
    }
}

/// By the definition.
fn transform(re: &[f64], im: &[f64], sign: f64) -> (Vec<f64>, Vec<f64>) {
    let n = re.len();
    let sum = |k: usize| {
        (0..n).fold((0.0, 0.0), |(a, b), j| {
            let (s, c) =
                (sign * 2.0 * std::f64::consts::PI * (j * k % n) as f64 / n as f64).sin_cos();
            (a + re[j] * c - im[j] * s, b + re[j] * s + im[j] * c)
        })
    };
    (0..n).map(sum).unzip()
}

#[test]
fn transforms_are_those_of_the_definition() {
    let mut numbers = Numbers(6);
    for n in [1, 2, 3, 4, 5, 8, 12, 17, 30, 64, 97, 101, 128, 360] {
        let (x, y) = (numbers.matrix(n, 1), numbers.matrix(n, 1));
        let size = (n as f64).sqrt() * norm(&x).hypot(norm(&y));
        for inverse in [false, true] {
            let (mut a, mut b) = (x.clone(), y.clone());
            fourier(&Lines::new(n, inverse), &mut a, &mut b);
            let (re, im) = transform(&x, &y, if inverse { 1.0 } else { -1.0 });
            let by = if inverse { n as f64 } else { 1.0 };
            let wanted = |x: Vec<f64>| x.into_iter().map(|x| x / by).collect::<Vec<_>>();
            near(&a, &wanted(re), n, size / by);
            near(&b, &wanted(im), n, size / by);
        }
    }
    let (mut a, mut b) = ([1.0f32, f32::NAN], [0.0; 2]);
    fourier(&Lines::new(2, false), &mut a, &mut b);
    assert!(a.iter().chain(&b).all(|x| !x.finite()));
}

/// Two matrices differ by no more than rounding to single precision: ten times `n u |A|`.
#[track_caller]
fn near_single(a: &[f64], b: &[f64], side: usize, size: f64) {
    let apart: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let bound = 10.0 * side.max(1) as f64 * f64::from(f32::EPSILON) / 2.0 * size;
    assert!(norm(&apart) <= bound, "{} beyond {bound}", norm(&apart));
}

fn wide(list: &[f32]) -> Vec<f64> {
    list.iter().map(|x| f64::from(*x)).collect()
}

/// Matrices of every magnitude, and graded ones, whose rows fall to subnormal numbers.
#[test]
fn spectra_have_their_digits_at_every_magnitude() {
    let mut numbers = Numbers(6);
    for n in [2, 3, 20, 130] {
        for grade in [0.0, -0.1, -0.3, -0.5] {
            for scale in [1.0, 1e-35, 1e-30, 1e30] {
                let of = |(at, x): (usize, &f64)| {
                    (x * scale * 10f64.powf(grade * (at % n) as f64)) as f32
                };
                let a: Vec<f32> = numbers.matrix(n, n).iter().enumerate().map(of).collect();
                let size = norm(&wide(&a).iter().map(|x| x / scale).collect::<Vec<_>>());
                let (mut u, mut s, mut vt) = (vec![0.0; n * n], vec![0.0; n], vec![0.0; n * n]);
                svd([n, n], &a, (&mut u[..], &mut s[..], &mut vt[..]));
                assert!(s.is_sorted_by(|a, b| a >= b));
                let us: Vec<f64> = (0..n * n)
                    .map(|at| f64::from(u[at]) * f64::from(s[at / n]) / scale)
                    .collect();
                let a: Vec<f64> = wide(&a).iter().map(|x| x / scale).collect();
                near_single(&product(&us, &wide(&vt), [n, n, n]), &a, n, size);
                // A symmetric matrix, graded on both sides.
                let both = |at: usize| 10f64.powf(grade * (at % n + at / n) as f64);
                let draw = numbers.matrix(n, n);
                let a: Vec<f32> = (0..n * n)
                    .map(|at| ((draw[at] + draw[at % n * n + at / n]) * scale * both(at)) as f32)
                    .collect();
                let (mut v, mut w) = (vec![0.0; n * n], vec![0.0; n]);
                eigh(n, &a, &mut v, &mut w);
                let a: Vec<f64> = wide(&a).iter().map(|x| x / scale).collect();
                let vw: Vec<f64> = (0..n * n)
                    .map(|at| f64::from(v[at]) * f64::from(w[at / n]) / scale)
                    .collect();
                let made = product(&vw, &transposed(&wide(&v), n), [n, n, n]);
                near_single(&made, &a, n, norm(&a));
            }
        }
    }
}

/// Factors of matrices of rank one, whose columns fall to subnormal numbers, and as many reflections as rows.
#[test]
fn reflections_are_orthogonal_whatever_the_rank() {
    fn of<T: Real + std::fmt::Debug>(n: usize, unit: f64) {
        let mut a = vec![T::of(1); n * n];
        let mut taus = vec![T::of(0); n];
        qr([n, n], &mut a, &mut taus);
        let mut q = vec![T::of(0); n * n];
        householder_product([n, n], &a, &taus, &mut q);
        let q: Vec<f64> = q.iter().map(|x| x.wide()).collect();
        let apart = product(&transposed(&q, n), &q, [n, n, n]);
        let apart: Vec<f64> = apart.iter().zip(one(n)).map(|(a, b)| a - b).collect();
        let bound = 10.0 * n as f64 * unit * n as f64;
        assert!(
            norm(&apart) <= bound,
            "{n}: {} beyond {bound}",
            norm(&apart)
        );
    }
    for n in [1, 2, 5, 16, 20, 32, 33, 64, 100] {
        of::<f32>(n, f64::from(f32::EPSILON) / 2.0);
        of::<f64>(n, f64::EPSILON / 2.0);
    }
    // 1 - 2 e e' turns the last element.
    for n in [1, 2, 5, 7, 20] {
        let v = vec![0.0; n * n];
        let mut taus = vec![0.0; n];
        taus[n - 1] = 2.0;
        let mut q = vec![0.0; n * n];
        householder_product([n, n], &v, &taus, &mut q);
        let mut expected = one(n);
        expected[n * n - 1] = -1.0;
        assert_eq!(q, expected, "{n}");
    }
}
