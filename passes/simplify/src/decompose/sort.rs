//! Sorts: a sort accepted by an executor stays a call; any other counts, for each element, the elements that precede
//! it.
//!
//! ```text
//! %y = fusion.argsort %x dim 0 of i64                         // [N]
//!   =>
//! %b = %x broadcast along j before %x broadcast along i       // [N, N], equal ones by their indices
//! %r = fusion.sum %b dims [1]                                 // the place of element i
//! %y = fusion.max of the i whose place is p, dims [1]         // [N, N]
//! ```
//!
//! The two spaces of all pairs are iterated over, never stored, so this form suits short axes. `sort` takes the
//! elements at these indices, and `topk` returns both.

use fuser_dialects::fusion;
use fuser_dialects::fusion::build::{Built, FusionBuilder};
use fuser_ir::build::{Builder, Clause};
use fuser_ir::def::OpError;
use fuser_ir::{DType, Dim, Ir, Op, Value};

use super::Parts;
use super::scatter::index_along;

/// The greatest or smallest elements: their indices, and what stands there.
pub fn topk(ir: &mut Ir, op: Op) -> Parts {
    let x = ir.operand(op, 0);
    let smallest = ir.get_attr(op, "smallest").is_some();
    let of = indices_of(ir, op)?.unwrap_or(DType::I64);
    let (dim, first) = (ir.int_of(op, "dim"), ir.int_of(op, "first"));
    let mut b = Builder::before(ir, op);
    let dim = b.int("dim", dim.unwrap_or(0));
    let clauses = [
        dim,
        b.dtype("of", of),
        b.int("first", first.unwrap_or(0)),
        b.flag("descending"),
    ];
    let kept = clauses.len() - usize::from(smallest);
    let indices = b.value(&fusion::ARGSORT, &[x], &clauses[..kept])?;
    let values = b.value(&fusion::TAKE_ALONG, &[x, indices], &[dim])?;
    Ok(vec![values, indices])
}

/// The type of the indices that an op returns; `None` if it returns elements.
fn indices_of(ir: &Ir, op: Op) -> Result<Option<DType>, OpError> {
    let Some(_) = ir.get_attr(op, "of") else {
        return Ok(None);
    };
    let last = ir.results(op).last();
    let dtype = last.and_then(|&value| ir.value_kind(value).dtype());
    dtype
        .map(Some)
        .ok_or_else(|| OpError::new("its result is no tensor"))
}

/// A sort by comparing all pairs.
pub fn counted(ir: &mut Ir, op: Op) -> Parts {
    let odd = || OpError::new("its operand is no tensor");
    let x = ir.operand(op, 0);
    let dim = ir.int_of(op, "dim").and_then(|d| usize::try_from(d).ok());
    let dim = dim.ok_or_else(odd)?;
    let tensor = ir.value_kind(x).as_tensor().ok_or_else(odd)?;
    let float = tensor.dtype.is_float();
    let shape: Vec<Dim> = tensor.dims.iter().map(|d| Dim::new(d.extent)).collect();
    let length = *shape.get(dim).ok_or_else(odd)?;
    let kept = ir
        .value_kind(ir.result(op, 0))
        .as_tensor()
        .ok_or_else(odd)?;
    let kept = Dim::new(kept.dims.get(dim).ok_or_else(odd)?.extent);
    let descending = ir.get_attr(op, "descending").is_some();
    let of = indices_of(ir, op)?;

    let mut b = Builder::before(ir, op);
    let pairs = Pairs {
        space: with(&shape, dim, length, length),
        dim,
    };
    let (own, other) = (
        pairs.broadcast(&mut b, x, 0)?,
        pairs.broadcast(&mut b, x, 1)?,
    );
    // The other one is no greater, and no smaller.
    let mut below = b.compare("le", other, own)?;
    let mut above = b.compare("le", own, other)?;
    if float {
        let nan = b.unary(&fusion::ISNAN, own)?;
        below = b.binary(&fusion::OR, below, nan)?;
        let nan = b.unary(&fusion::ISNAN, other)?;
        above = b.binary(&fusion::OR, above, nan)?;
    }
    let (before, behind) = if descending {
        (above, below)
    } else {
        (below, above)
    };
    let (i, j) = (
        index_along(&mut b, &pairs.space, dim as i64)?,
        index_along(&mut b, &pairs.space, dim as i64 + 1)?,
    );
    let earlier = b.compare("lt", j, i)?;
    let strictly = b.unary(&fusion::NOT, behind)?;
    let precedes = b.choose(earlier, before, strictly)?;
    let one = b.cast(precedes, DType::I64)?;
    let place = b.reduce(&fusion::SUM, one, &[dim as i64 + 1])?;

    let pairs = Pairs {
        space: with(&shape, dim, kept, length),
        dim,
    };
    let place = pairs.broadcast(&mut b, place, 1)?;
    let wanted = index_along(&mut b, &pairs.space, dim as i64)?;
    let here = b.compare("eq", place, wanted)?;
    let index = index_along(&mut b, &pairs.space, dim as i64 + 1)?;
    let ty = b.ir.scalar(DType::I64);
    let none = b.constant_int(0, ty)?;
    let found = b.choose(here, index, none)?;
    let index = b.reduce(&fusion::MAX, found, &[dim as i64 + 1])?;
    let dim = b.int("dim", dim as i64);
    let value = match of {
        Some(of) => b.cast(index, of)?,
        None => taken(&mut b, x, index, dim)?,
    };
    Ok(vec![value])
}

fn taken(b: &mut Builder<'_>, x: Value, index: Value, dim: Clause<'_>) -> Built {
    b.value(&fusion::TAKE_ALONG, &[x, index], &[dim])
}

/// The axes of `shape` with two in place of axis `dim`.
fn with(shape: &[Dim], dim: usize, first: Dim, second: Dim) -> Vec<Dim> {
    [&shape[..dim], &[first, second], &shape[dim + 1..]].concat()
}

/// A space with two axes in place of axis `dim`.
struct Pairs {
    space: Vec<Dim>,
    dim: usize,
}

impl Pairs {
    /// `x`, whose axis `dim` is the first or second of the two.
    fn broadcast(&self, b: &mut Builder<'_>, x: Value, which: usize) -> Built {
        let missing = self.dim + 1 - which;
        let axes = (0..self.space.len()).filter(|&axis| axis != missing);
        let axes: Vec<i64> = axes.map(|axis| axis as i64).collect();
        b.broadcast(x, &axes, &self.space)
    }
}
