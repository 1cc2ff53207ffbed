//! Routines: the matrices and lines of operands, one after the other, by textbook algorithms.
//!
//! | file | |
//! |---|---|
//! | `matrix.rs` | matrices and their arithmetic |
//! | `direct.rs` | factors, triangular systems, reflections |
//! | `spectrum.rs` | eigenvectors, singular vectors |
//! | `fourier.rs` | transforms |
//!
//! A sum is that of a product (`product.rs`): its bounds hold for every order, so for factors that are computed block by block. Where a
//! decision lies within the bounds of what it compares, nothing is known of what follows.

mod direct;
mod fourier;
mod matrix;
mod spectrum;

use super::code::Routine;
use super::elementwise::chunks;
use super::with_lane;
use crate::error::{InterpError, Result};
use crate::machine::Machine;
use crate::number::Int;
use crate::number::reduce::Reducible;
use crate::site::Site;
use crate::tensor::{Axis, Lane, Tensor, product};
use direct::{cholesky, householder_product, lu, qr, solve};
use fourier::fft;
use fuser_ir::DType;
use matrix::{Arithmetic, Matrix};
use spectrum::{eigh, svd};

/// The elements of a matrix, a vector or a line of a tensor.
struct Place {
    /// From one to the next, along each axis of the batch.
    batch: Vec<(usize, usize)>,
    /// The number of rows and of columns, each with its stride; a vector or a line is one column.
    rows: (usize, usize),
    columns: (usize, usize),
}

impl Place {
    /// The position of a tensor: its last `own` axes are those of a matrix or a vector, or axis `dim` is that of a
    /// line.
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
