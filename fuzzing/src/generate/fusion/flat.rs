//! Templates in which two axes are one: a value computed on a flat tensor is read as a matrix, so that lanes and loops
//! go along a part of an axis.

use fuser_dialects::fusion::{self, ADD, MAX, SUM};
use fuser_ir::DType;
use fuser_ir::types::Dim;

use super::facts;
use super::maker::Maker;
use super::ops::{permute_to, reduce_axes};
use super::shapes::{Axis, elements};
use super::templates::{binary, stored};

fn fixed(length: u64) -> Axis {
    Axis {
        dim: Dim::fixed(length),
        length,
    }
}

/// Ascending numbers or an input, of one axis; sometimes a concatenation of two of half the length.
fn line(maker: &mut Maker<'_>, length: u64, dtype: DType) -> Option<usize> {
    if length.is_multiple_of(2) && maker.source.chance(1, 3) {
        let first = numbers(maker, length / 2, dtype)?;
        let second = match maker.source.chance(1, 2) {
            true => first,
            false => numbers(maker, length / 2, dtype)?,
        };
        let fact = maker.slots[first].fact;
        let fact = fact.zip(maker.slots[second].fact);
        let dim = ("dim", maker.ir.int_attr(0));
        let fact = fact.map(|(a, b)| a.max(b));
        return maker.emit(&fusion::CAT, &[first, second], &[dim], None, fact);
    }
    numbers(maker, length, dtype)
}

fn numbers(maker: &mut Maker<'_>, length: u64, dtype: DType) -> Option<usize> {
    if maker.source.chance(1, 3) {
        return Some(maker.input(vec![fixed(length)], dtype, false));
    }
    let dim = ("dim", maker.ir.int_attr(0));
    let of = maker.dtype_clause("of", dtype);
    let shape = maker.plain_clause("shape", &[fixed(length)]);
    let fact = facts::rounded(dtype, length);
    maker.emit(&fusion::IOTA, &[], &[dim, shape, of], None, fact)
}

/// A flat tensor as a matrix, perhaps transposed, reduced along rows or columns or both, one after the other.
pub fn flat(maker: &mut Maker<'_>) -> Option<usize> {
    let axes = [
        fixed(maker.source.one(&[2, 3, 4, 8, 32, 33, 64])),
        fixed(maker.source.one(&[2, 3, 5, 8, 16])),
    ];
    let dtype = maker
        .source
        .one(&[DType::F32, DType::I64, DType::F64, DType::I32]);
    let x = line(maker, elements(&axes), dtype)?;
    let shape = maker.plain_clause("shape", &axes);
    let fact = maker.slots[x].fact;
    let mut x = maker.emit(&fusion::RESHAPE, &[x], &[shape], Some(axes.to_vec()), fact)?;
    if maker.source.chance(1, 3) {
        x = permute_to(maker, x, &[1, 0])?;
    }
    if maker.source.chance(1, 2) {
        let axes = maker.slots[x].axes.clone();
        let other = maker.beside(&axes, dtype)?;
        x = binary(maker, &ADD, x, other)?;
    }
    let reduction = maker.source.one(&[&MAX, &fusion::MIN, &SUM]);
    let first = maker.source.below(2) as i64;
    let result = reduce_axes(maker, reduction, x, &[first]);
    if maker.source.chance(1, 3) {
        reduce_axes(maker, reduction, x, &[1 - first]);
    }
    match maker.source.chance(1, 4) {
        true => stored(maker, x),
        false => result,
    }
}
