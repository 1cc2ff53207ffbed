//! Factors of reflections: `H = 1 - tau v v'`, where `v` is one at its diagonal and stands below it.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::householder;
use faer::linalg::qr::no_pivoting::factor as plain;
use faer::{Conj, MatMut, MatRef, Par, Spec};

use crate::{Real, fits};

/// Makes of a matrix an upper triangular one and below it the reflections that give the matrix from that, with their factors.
pub fn qr<T: Real>([rows, columns]: [usize; 2], a: &mut [T], taus: &mut [T]) {
    let steps = rows.min(columns);
    if !fits(a, [rows, columns]) || taus.len() != steps || steps == 0 {
        return;
    }
    let whole = a.iter().all(|x| x.finite());
    if !whole {
        a.fill(T::NAN);
        taus.fill(T::NAN);
        return;
    }
    let block = plain::recommended_block_size::<T>(rows, columns).max(1);
    let params: Spec<plain::QrParams, T> = Spec::default();
    let scratch = plain::qr_in_place_scratch::<T>(rows, columns, block, Par::Seq, params);
    let mut memory = MemBuffer::new(scratch);
    let mut factors = vec![T::zero(); block * steps];
    let given = a.to_vec();
    let found = plain::qr_in_place(
        MatMut::from_column_major_slice_mut(a, rows, columns),
        MatMut::from_column_major_slice_mut(&mut factors, block, steps),
        Par::Seq,
        MemStack::new(&mut memory),
        params,
    );
    if found.rank < steps {
        // The crate passes over columns that are zero from their diagonal on.
        a.copy_from_slice(&given);
        return reflected([rows, columns], a, taus);
    }
    for (step, tau) in taus.iter_mut().enumerate() {
        // The crate divides by its factor.
        *tau = T::one() / factors[step * block + step % block];
    }
}

/// The same, one column after the other.
fn reflected<T: Real>([rows, columns]: [usize; 2], a: &mut [T], taus: &mut [T]) {
    for (step, tau) in taus.iter_mut().enumerate() {
        let (own, rest) = a[step * rows..].split_at_mut(rows);
        let (head, tail) = own[step..].split_at_mut(1);
        let most = tail
            .iter()
            .fold(T::zero(), |most, x| match x.magnitude() > most {
                true => x.magnitude(),
                false => most,
            });
        *tau = T::zero();
        if most == T::zero() {
            continue;
        }
        // Squares neither overflow nor vanish.
        let scale = if head[0].magnitude() > most {
            head[0].magnitude()
        } else {
            most
        };
        let square = |x: T| (x / scale) * (x / scale);
        let sum = tail.iter().fold(square(head[0]), |sum, x| sum + square(*x));
        let norm = scale * sum.root();
        let beta = if head[0] >= T::zero() { -norm } else { norm };
        *tau = (beta - head[0]) / beta;
        let below = head[0] - beta;
        tail.iter_mut().for_each(|x| *x /= below);
        head[0] = beta;
        for column in 0..columns - step - 1 {
            let other = &mut rest[column * rows + step..(column + 1) * rows];
            let dot = tail
                .iter()
                .zip(&other[1..])
                .fold(other[0], |dot, (v, x)| dot + *v * *x);
            let by = *tau * dot;
            other[0] -= by;
            let pairs = other[1..].iter_mut().zip(&*tail);
            pairs.for_each(|(x, v)| *x -= by * *v);
        }
    }
}

/// The first columns of the product of the reflections in the columns of `v`, as many as there are columns.
pub fn householder_product<T: Real>([rows, columns]: [usize; 2], v: &[T], taus: &[T], q: &mut [T]) {
    let count = taus.len();
    if !fits(v, [rows, columns]) || !fits(q, [rows, columns]) || count > columns || columns > rows {
        return;
    }
    q.fill(T::zero());
    for column in 0..columns {
        q[column * rows + column] = T::one();
    }
    if count == 0 {
        return;
    }
    let block = plain::recommended_block_size::<T>(rows, count).max(1);
    let mut factors = vec![T::zero(); block * count];
    for (step, &tau) in taus.iter().enumerate() {
        let first = step - step % block;
        factors[step * block + step % block] = T::one() / tau;
        let own = &v[step * rows..(step + 1) * rows];
        for before in first..step {
            let other = &v[before * rows..(before + 1) * rows];
            let pairs = own[step + 1..].iter().zip(&other[step + 1..]);
            factors[step * block + before - first] =
                pairs.fold(other[step], |dot, (x, y)| dot + *x * *y);
        }
    }
    let scratch = householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<T>(
        rows, block, columns,
    );
    let mut memory = MemBuffer::new(scratch);
    householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
        MatRef::from_column_major_slice(&v[..rows * count], rows, count),
        MatRef::from_column_major_slice(&factors, block, count),
        Conj::No,
        MatMut::from_column_major_slice_mut(q, rows, columns),
        Par::Seq,
        MemStack::new(&mut memory),
    );
}
