//! Transforms of lines, by their definition.

use super::matrix::{Arithmetic, Matrix, none, undecided};
use super::spectrum::bounded;
use crate::number::reduce::Reducible;

/// The transform of a line, by its definition.
///
/// The steps of a fast transform lose at most 7 roundings of the total norm each (Higham, Accuracy and Stability of
/// Numerical Algorithms, 2002, theorem 24.2). Lines of any length need at most three transforms of at most four times
/// the length (Bluestein 1970).
pub(super) fn fft<L: Reducible>(
    [re, im]: [&Matrix<L>; 2],
    inverse: bool,
    own: &Arithmetic,
) -> [Matrix<L>; 2] {
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
