//! QR factors as Householder reflections, `H = 1 - tau v v'`. The vector `v` is 1 at the diagonal and stored below it.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::householder;
use faer::linalg::qr::no_pivoting::factor as plain;
use faer::{Conj, MatMut, MatRef, Par, Spec};

use crate::{Real, fits, negative_zero, subtracted};

/// Replaces a matrix by its QR factors: R in the upper triangle, the vectors of the reflections below it. `taus` gets
/// the factors of the reflections.
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
    for (step, tau) in taus.iter_mut().enumerate() {
        // The crate divides by its factor.
        *tau = T::one() / factors[step * block + step % block];
    }
    // The crate passes over columns that are zero from their diagonal on, and loses the factors of columns that are
    // nearly so.
    // It takes a head of -0 for one above zero; the factor of a column whose head is zero is 1, within rounding.
    let is_one = |tau: &T| (*tau - T::one()).magnitude() <= T::of(8) * T::EPSILON;
    let headless = given.iter().any(|x| negative_zero(*x)) && taus.iter().any(is_one);
    // In a wide matrix it reflects another column in the place of one that it passes over, whose diagonal stays zero.
    let whole = (0..steps)
        .all(|step| a[step * rows + step] != T::zero() && reflects(rows, step, a, taus[step]));
    if found.rank < steps || headless || !whole {
        a.copy_from_slice(&given);
        return reflected([rows, columns], a, taus);
    }
    // It loses the sign of a zero from which zeros are subtracted.
    for (at, &x) in given.iter().enumerate().filter(|(_, x)| negative_zero(**x)) {
        let (column, row) = (at / rows, at % rows);
        // Vectors are divided by the head less the diagonal's element, which have opposite signs.
        let divided = row > column && taus[column] != T::zero();
        if a[at] == T::zero() {
            a[at] = if divided {
                x / -a[column * rows + column]
            } else {
                x
            };
        }
    }
}

/// True if `1 - tau v v'` is a reflection: `tau v'v` is two, or `tau` is zero.
fn reflects<T: Real>(rows: usize, step: usize, a: &[T], tau: T) -> bool {
    let tail = &a[step * rows + step + 1..(step + 1) * rows];
    let sum = tail.iter().fold(T::one(), |sum, x| sum + *x * *x);
    let off = (tau * sum - T::of(2)).magnitude();
    tau == T::zero() || off <= T::of(8 * rows) * T::EPSILON
}

/// The reflections, computed one column after the other.
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
        // Squares neither overflow nor vanish, and a column of subnormal numbers has all its digits.
        let scale = if head[0].magnitude() > most {
            head[0].magnitude()
        } else {
            most
        };
        let first = head[0] / scale;
        let square = |x: T| (x / scale) * (x / scale);
        let norm = tail.iter().fold(first * first, |sum, x| sum + square(*x));
        let norm = norm.root();
        let beta = if first.negative() { norm } else { -norm };
        *tau = (beta - first) / beta;
        let below = first - beta;
        tail.iter_mut().for_each(|x| *x = *x / scale / below);
        head[0] = beta * scale;
        for column in 0..columns - step - 1 {
            let other = &mut rest[column * rows + step..(column + 1) * rows];
            let dot = tail
                .iter()
                .zip(&other[1..])
                .fold(T::zero() + other[0], |dot, (v, x)| dot + *v * *x);
            let by = *tau * dot;
            other[0] -= by;
            let pairs = other[1..].iter_mut().zip(&*tail);
            pairs.for_each(|(x, v)| *x = subtracted(*x, by * *v));
        }
    }
}

/// The first columns of the product of the reflections in the columns of `v`; `q` has the number of columns.
pub fn householder_product<T: Real>([rows, columns]: [usize; 2], v: &[T], taus: &[T], q: &mut [T]) {
    let count = taus.len();
    if !fits(v, [rows, columns]) || !fits(q, [rows, columns]) || count > columns || columns > rows {
        return;
    }
    q.fill(T::zero());
    for column in 0..columns {
        q[column * rows + column] = T::one();
    }
    // A reflection of only the last row is a scalar factor, which the crate omits.
    let count = match count == rows {
        true => {
            if let (Some(last), Some(tau)) = (q.last_mut(), taus.last()) {
                *last = T::one() - *tau;
            }
            count.saturating_sub(1)
        }
        false => count,
    };
    if count == 0 {
        return;
    }
    let block = plain::recommended_block_size::<T>(rows, count).max(1);
    let mut factors = vec![T::zero(); block * count];
    for (step, &tau) in taus.iter().take(count).enumerate() {
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
