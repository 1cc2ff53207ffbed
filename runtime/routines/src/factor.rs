//! Triangular factors, and systems with triangular matrices.

use faer::dyn_stack::MemBuffer;
use faer::linalg::cholesky::llt::factor as llt;
use faer::linalg::lu::partial_pivoting::factor as pivoted;
use faer::linalg::triangular_solve as triangle;
use faer::{MatMut, MatRef, Par, Spec};

use crate::{Real, fits, negative_zero, subtracted};
use faer::dyn_stack::MemStack;

/// Replaces a symmetric matrix, of which only the lower triangle is read, by its Cholesky factor: the lower triangular
/// matrix whose product with its transpose is the matrix. Returns false, with all elements NaN, if a pivot is not a
/// number above zero.
pub fn cholesky<T: Real>(n: usize, a: &mut [T]) -> bool {
    if !fits(a, [n, n]) {
        return false;
    }
    let lower = |column: usize| column * n + column..(column + 1) * n;
    if !(0..n).flat_map(lower).all(|at| a[at].finite()) {
        return by_columns(n, a);
    }
    let signed: Vec<usize> = (0..n)
        .flat_map(lower)
        .filter(|&at| negative_zero(a[at]))
        .collect();
    let params: Spec<llt::LltParams, T> = Spec::default();
    let mut memory = MemBuffer::new(llt::cholesky_in_place_scratch::<T>(n, Par::Seq, params));
    let matrix = MatMut::from_column_major_slice_mut(a, n, n);
    let stack = MemStack::new(&mut memory);
    let made = llt::cholesky_in_place(matrix, Default::default(), Par::Seq, stack, params);
    if made.is_err() {
        a.fill(T::NAN);
        return false;
    }
    for column in 1..n {
        a[column * n..][..column].fill(T::zero());
    }
    // The crate loses the sign of a zero from which zeros are subtracted. The pivot is above zero.
    for at in signed {
        if a[at] == T::zero() {
            a[at] = -T::zero();
        }
    }
    true
}

/// The Cholesky factor column by column, in the order of the op's definition, for matrices with infinities: block
/// products would give NaN for them.
fn by_columns<T: Real>(n: usize, a: &mut [T]) -> bool {
    let less = |a: &[T], [row, other]: [usize; 2]| {
        let known = (0..other).map(|k| a[k * n + row] * a[k * n + other]);
        known.fold(a[other * n + row], subtracted)
    };
    for column in 0..n {
        let square = less(a, [column, column]);
        let positive = square > T::zero();
        if !positive {
            a.fill(T::NAN);
            return false;
        }
        let root = square.root();
        for row in column + 1..n {
            a[column * n + row] = less(a, [row, column]) / root;
        }
        a[column * n + column] = root;
        a[column * n..][..column].fill(T::zero());
    }
    true
}

/// Solves `a x = b` for the triangular matrix `a` of n rows and each of the columns of `b`, and leaves x there.
pub fn triangular_solve<T: Real>(n: usize, [upper, unit]: [bool; 2], a: &[T], b: &mut [T]) {
    if !fits(a, [n, n]) || n == 0 || !b.len().is_multiple_of(n) {
        return;
    }
    let columns = b.len() / n;
    let a = MatRef::from_column_major_slice(a, n, n);
    let b = MatMut::from_column_major_slice_mut(b, n, columns);
    match (upper, unit) {
        (false, false) => triangle::solve_lower_triangular_in_place(a, b, Par::Seq),
        (false, true) => triangle::solve_unit_lower_triangular_in_place(a, b, Par::Seq),
        (true, false) => triangle::solve_upper_triangular_in_place(a, b, Par::Seq),
        (true, true) => triangle::solve_unit_upper_triangular_in_place(a, b, Par::Seq),
    }
}

/// Solves a triangular system one unknown after the other, in the order of the op's definition.
pub fn substitute<T: Real>(n: usize, [upper, unit]: [bool; 2], a: &[T], b: &mut [T]) {
    if !fits(a, [n, n]) || n == 0 {
        return;
    }
    for x in b.chunks_exact_mut(n) {
        for step in 0..n {
            let row = if upper { n - 1 - step } else { step };
            let known = if upper { row + 1..n } else { 0..row };
            let left = known.fold(x[row], |left, k| left - a[k * n + row] * x[k]);
            x[row] = if unit { left } else { left / a[row * n + row] };
        }
    }
}

/// Replaces a matrix by its LU factors, a unit lower triangular one below the diagonal and an upper triangular one.
/// `pivots` gets for each step the row that was exchanged with the row of the step's number.
pub fn lu<T: Real>([rows, columns]: [usize; 2], a: &mut [T], pivots: &mut [i32]) {
    let steps = rows.min(columns);
    if !fits(a, [rows, columns]) || pivots.len() != steps {
        return;
    }
    if !a.iter().all(|x| x.finite()) {
        a.fill(T::NAN);
        let rows = pivots.iter_mut().zip(0..);
        return rows.for_each(|(pivot, row)| *pivot = row);
    }
    let given = a.to_vec();
    let params: Spec<pivoted::PartialPivLuParams, T> = Spec::default();
    let scratch = pivoted::lu_in_place_scratch::<usize, T>(rows, columns, Par::Seq, params);
    let mut memory = MemBuffer::new(scratch);
    let (mut forward, mut back) = (vec![0usize; rows], vec![0usize; rows]);
    let matrix = MatMut::from_column_major_slice_mut(a, rows, columns);
    let stack = MemStack::new(&mut memory);
    pivoted::lu_in_place(matrix, &mut forward, &mut back, Par::Seq, stack, params);
    if !a.iter().all(|x| x.finite()) {
        // The crate divides by a pivot that is zero.
        a.copy_from_slice(&given);
        return eliminate([rows, columns], a, pivots);
    }
    // The exchanges that bring each row to its position: `held[at]` is the row now at `at`, `place` the inverse.
    let (mut held, mut place): (Vec<usize>, Vec<usize>) =
        ((0..rows).collect(), (0..rows).collect());
    for (step, pivot) in pivots.iter_mut().enumerate() {
        let from = place[forward[step]];
        *pivot = i32::try_from(from).unwrap_or(i32::MAX);
        held.swap(step, from);
        place[held[step]] = step;
        place[held[from]] = from;
    }
    // The crate loses the sign of a zero from which zeros are subtracted. No pivot by which it divides is zero.
    for (at, &x) in given.iter().enumerate().filter(|(_, x)| negative_zero(**x)) {
        let (column, row) = (at / rows, place[at % rows]);
        let own = column * rows + row;
        if a[own] == T::zero() {
            a[own] = if row > column {
                x / a[column * rows + column]
            } else {
                x
            };
        }
    }
}

/// The LU factors one column after the other, in the order of the op's definition.
pub(crate) fn eliminate<T: Real>([rows, columns]: [usize; 2], a: &mut [T], pivots: &mut [i32]) {
    for (step, pivot) in pivots.iter_mut().enumerate() {
        let mut from = step;
        for row in step + 1..rows {
            if a[step * rows + row].magnitude() > a[step * rows + from].magnitude() {
                from = row;
            }
        }
        *pivot = i32::try_from(from).unwrap_or(i32::MAX);
        (0..columns).for_each(|column| a.swap(column * rows + step, column * rows + from));
        let by = a[step * rows + step];
        if by == T::zero() {
            continue;
        }
        for row in step + 1..rows {
            a[step * rows + row] /= by;
        }
        for column in step + 1..columns {
            let above = a[column * rows + step];
            for row in step + 1..rows {
                let by = a[step * rows + row] * above;
                let left = &mut a[column * rows + row];
                *left = subtracted(*left, by);
            }
        }
    }
}
