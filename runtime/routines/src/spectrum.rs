//! Eigenvectors of symmetric matrices and singular vectors, with the sign that the ops define.

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{self, ComputeEigenvectors};
use faer::linalg::svd::{self, ComputeSvdVectors};
use faer::{MatMut, MatRef, Par, Spec};

use crate::{Real, fits};

/// The eigenvectors of a symmetric matrix, of which the lower triangle is read, one in each column, and the eigenvalues, ascending. NaN where an
/// element is no number or infinite.
pub fn eigh<T: Real>(n: usize, a: &[T], vectors: &mut [T], values: &mut [T]) {
    if !fits(a, [n, n]) || !fits(vectors, [n, n]) || values.len() != n || n == 0 {
        return;
    }
    let params: Spec<evd::SelfAdjointEvdParams, T> = Spec::default();
    let scratch = evd::self_adjoint_evd_scratch::<T>(n, ComputeEigenvectors::Yes, Par::Seq, params);
    let lower = (0..n).all(|column| {
        a[column * n + column..(column + 1) * n]
            .iter()
            .all(|x| x.finite())
    });
    let made = lower && {
        let mut memory = MemBuffer::new(scratch);
        let made = evd::self_adjoint_evd(
            MatRef::from_column_major_slice(a, n, n),
            DiagMut::from_slice_mut(values),
            Some(MatMut::from_column_major_slice_mut(vectors, n, n)),
            Par::Seq,
            MemStack::new(&mut memory),
            params,
        );
        made.is_ok()
    };
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

/// The left singular vectors, one in each column, the singular values, descending, and the right singular vectors, one in each row of `vt`. There are as
/// many as rows or columns, or with longer results a basis. NaN where an element is no number or infinite.
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
    let made = a.iter().all(|x| x.finite()) && {
        let params: Spec<svd::SvdParams, T> = Spec::default();
        let scratch = svd::svd_scratch::<T>(rows, columns, wanted, wanted, Par::Seq, params);
        let mut memory = MemBuffer::new(scratch);
        let made = svd::svd(
            MatRef::from_column_major_slice(a, rows, columns),
            DiagMut::from_slice_mut(values),
            Some(MatMut::from_column_major_slice_mut(u, rows, left)),
            Some(MatMut::from_column_major_slice_mut(&mut v, columns, right)),
            Par::Seq,
            MemStack::new(&mut memory),
            params,
        );
        made.is_ok()
    };
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
        // A pair has the sign of its left vector; what is beyond the pairs has its own.
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

/// True if the element that decides the sign is negative: the first one whose magnitude is more than half of the greatest.
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
