//! Eigenvectors of symmetric matrices and singular vectors, with the sign that the ops define.
//!
//! Computed in double precision, on a matrix scaled so that its greatest element is near one: in single precision the
//! crate loses values of graded matrices, and in any precision it squares elements. Elements negligible beside the
//! greatest one become zero, which is less than a rounding error.

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{self, ComputeEigenvectors};
use faer::linalg::svd::{self, ComputeSvdVectors};
use faer::{MatMut, MatRef, Par, Spec};

use crate::{Real, fits};

/// The eigenvectors of a symmetric matrix, one in each column, and the eigenvalues, ascending. Only the lower triangle
/// is read. NaN if an element is NaN or infinite.
pub fn eigh<T: Real>(n: usize, a: &[T], vectors: &mut [T], values: &mut [T]) {
    if !fits(a, [n, n]) || !fits(vectors, [n, n]) || values.len() != n || n == 0 {
        return;
    }
    let params: Spec<evd::SelfAdjointEvdParams, f64> = Spec::default();
    let scratch =
        evd::self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, params);
    let lower = |place: usize| place % n >= place / n;
    let made = scaled(a, lower).is_some_and(|(wide, scale)| {
        let mut memory = MemBuffer::new(scratch);
        let (mut found, mut own) = (vec![0.0; n * n], vec![0.0; n]);
        let made = evd::self_adjoint_evd(
            MatRef::from_column_major_slice(&wide, n, n),
            DiagMut::from_slice_mut(&mut own),
            Some(MatMut::from_column_major_slice_mut(&mut found, n, n)),
            Par::Seq,
            MemStack::new(&mut memory),
            params,
        );
        let order = sorted(&own, |a, b| a.total_cmp(b));
        for (to, &from) in order.iter().enumerate() {
            values[to] = T::narrow(own[from] * scale);
            narrowed(
                &found[from * n..(from + 1) * n],
                &mut vectors[to * n..(to + 1) * n],
            );
        }
        made.is_ok()
    });
    match made {
        true => vectors.chunks_exact_mut(n).for_each(|vector| {
            if is_turned(vector) {
                turn(vector);
            }
        }),
        false => {
            vectors.fill(T::NAN);
            values.fill(T::NAN);
        }
    }
}

/// The singular value decomposition: left singular vectors in the columns of `u`, singular values in descending order,
/// right singular vectors in the rows of `vt`. There are `min(rows, columns)` vectors, or full bases if `u` and `vt`
/// are square. All results are NaN if an element is infinite or NaN.
pub fn svd<T: Real>(
    [rows, columns]: [usize; 2],
    a: &[T],
    (u, values, vt): (&mut [T], &mut [T], &mut [T]),
) {
    let count = rows.min(columns);
    let full =
        rows.checked_mul(rows) == Some(u.len()) && columns.checked_mul(columns) == Some(vt.len());
    let (left, right) = if full {
        (rows, columns)
    } else {
        (count, count)
    };
    let fitting = fits(a, [rows, columns]) && fits(u, [rows, left]) && fits(vt, [right, columns]);
    if !fitting || values.len() != count {
        return;
    }
    let wanted = if full {
        ComputeSvdVectors::Full
    } else {
        ComputeSvdVectors::Thin
    };
    let mut v = vec![T::zero(); vt.len()];
    let made = scaled(a, |_| true).is_some_and(|(wide, scale)| {
        let params: Spec<svd::SvdParams, f64> = Spec::default();
        let scratch = svd::svd_scratch::<f64>(rows, columns, wanted, wanted, Par::Seq, params);
        let mut memory = MemBuffer::new(scratch);
        let (mut own, mut other) = (vec![0.0; u.len()], vec![0.0; v.len()]);
        let mut found = vec![0.0; count];
        let made = svd::svd(
            MatRef::from_column_major_slice(&wide, rows, columns),
            DiagMut::from_slice_mut(&mut found),
            Some(MatMut::from_column_major_slice_mut(&mut own, rows, left)),
            Some(MatMut::from_column_major_slice_mut(
                &mut other, columns, right,
            )),
            Par::Seq,
            MemStack::new(&mut memory),
            params,
        );
        let mut order = sorted(&found, |a, b| b.total_cmp(a));
        for (to, &from) in order.iter().enumerate() {
            values[to] = T::narrow(found[from] * scale);
        }
        order.extend(count..left.max(right));
        for (to, &from) in order.iter().enumerate() {
            if to < left {
                narrowed(
                    &own[from * rows..(from + 1) * rows],
                    &mut u[to * rows..(to + 1) * rows],
                );
            }
            if to < right {
                let (from, to) = (from * columns, to * columns);
                narrowed(&other[from..from + columns], &mut v[to..to + columns]);
            }
        }
        made.is_ok()
    });
    if !made {
        [u, values, vt]
            .into_iter()
            .for_each(|list| list.fill(T::NAN));
        return;
    }
    for at in 0..left.max(right) {
        let own = u.get_mut(at * rows..(at + 1) * rows).filter(|_| at < left);
        let other = v
            .get_mut(at * columns..(at + 1) * columns)
            .filter(|_| at < right);
        // A pair has the sign of its left vector; vectors beyond the pairs have their own sign.
        let turned = own.as_deref().or(other.as_deref()).is_some_and(is_turned);
        let alone = at >= count;
        match (own, other) {
            (Some(own), Some(other)) if alone => {
                if turned {
                    turn(own);
                }
                if is_turned(other) {
                    turn(other);
                }
            }
            (own, other) if turned => [own, other].into_iter().flatten().for_each(turn),
            _ => {}
        }
    }
    for at in 0..right {
        for place in 0..columns {
            vt[place * right + at] = v[at * columns + place];
        }
    }
}

/// The matrix in double precision, divided by a power of two, and that power. `None` if an element for which `counts`
/// is true is infinite or NaN.
fn scaled<T: Real>(a: &[T], counts: impl Fn(usize) -> bool) -> Option<(Vec<f64>, f64)> {
    let counted = |(place, x): (usize, &T)| counts(place).then(|| x.wide());
    let counting = a.iter().enumerate().filter_map(counted);
    let most = counting.fold(0.0f64, |most, x| match x.is_finite() {
        true => most.max(x.abs()),
        false => f64::INFINITY,
    });
    if !most.is_finite() {
        return None;
    }
    // Bits of the exponent alone; a subnormal number has none.
    let power = f64::from_bits(most.to_bits() & (0x7ff << 52));
    let scale = if power > 0.0 {
        power
    } else {
        f64::MIN_POSITIVE
    };
    let of = |x: &T| {
        let x = x.wide() / scale;
        if x.abs() < 1e-140 { 0.0 } else { x }
    };
    Some((a.iter().map(of).collect(), scale))
}

/// The positions of the values in sorted order; equal values stay in their order.
fn sorted(values: &[f64], order: impl Fn(&f64, &f64) -> std::cmp::Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..values.len()).collect();
    places.sort_by(|&a, &b| order(&values[a], &values[b]));
    places
}

fn narrowed<T: Real>(from: &[f64], to: &mut [T]) {
    let pairs = from.iter().zip(to);
    pairs.for_each(|(from, to)| *to = T::narrow(*from));
}

/// True if the element that decides the sign is negative: the first one whose magnitude is more than half of the
/// greatest.
fn is_turned<T: Real>(vector: &[T]) -> bool {
    let most = vector
        .iter()
        .fold(T::zero(), |most, x| match x.magnitude() > most {
            true => x.magnitude(),
            false => most,
        });
    let deciding = vector.iter().find(|x| x.magnitude() + x.magnitude() > most);
    deciding.is_some_and(|x| *x < T::zero())
}

fn turn<T: Real>(vector: &mut [T]) {
    vector.iter_mut().for_each(|x| *x = -*x);
}
