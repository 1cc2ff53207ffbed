//! Ops of `fd.ops` that read or write at indices, sorts, and products of matrices.

use fuser_dialects::fusion::{self, build::FusionBuilder};
use fuser_ir::Value;
use fuser_ir::def::OpDef;
use fuser_ir::types::{DType, Dim, Extent};

use super::one;
use crate::nvfuser::Reader;
use crate::nvfuser::args::{Args, axis_of};
use crate::nvfuser::value::{Number, Val};
use crate::program::{Fault, Made};

/// Indices of a type that ops read.
fn indices(r: &mut Reader<'_>, index: Value) -> Made {
    match r.draft.dtype(index) {
        DType::I32 | DType::I64 => Ok(index),
        _ => r.draft.cast(index, DType::I64),
    }
}

/// `take` along an axis, at indices of a type that it reads.
fn taken<'s>(
    r: &mut Reader<'s>,
    def: &'static OpDef,
    x: Value,
    index: Value,
    dim: i64,
) -> Made<Vec<Val<'s>>> {
    let index = indices(r, index)?;
    let mut b = r.draft.builder();
    let clause = [b.int("dim", dim)];
    one(Ok(b.value(def, &[x, index], &clause)?))
}

pub fn index_select<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let (x, index) = (args.tensor(0, &["arg"])?, args.tensor(1, &["index"])?);
    let dim = args.axis(2, &["dim"], r.draft.dims(x).len())?;
    // One index is a list of one.
    let index = match r.draft.dims(index).is_empty() {
        true => r.draft.broadcast(index, &[], &[Extent::Static(1)])?,
        false => index,
    };
    taken(r, &fusion::TAKE, x, index, dim)
}

pub fn select<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    let index = r.typed(args.value(1, &["index"])?, DType::I64)?;
    let dim = args.axis(2, &["dim"], r.draft.dims(x).len())?;
    taken(r, &fusion::TAKE, x, index, dim)
}

pub fn embedding<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let (input, weight) = (args.tensor(0, &["input"])?, args.tensor(1, &["weight"])?);
    let rows = taken(r, &fusion::TAKE, weight, input, 0)?;
    let limit = args.get(3, &["max_norm"]);
    match (limit, rows.as_slice()) {
        (Some(Val::Tensor(_) | Val::Number(..)), [Val::Tensor(rows)]) => {
            one(limited(r, *rows, args))
        }
        _ => Ok(rows),
    }
}

/// Rows with a norm above `max_norm`, scaled down to it. `torch.embedding_renorm_` does this to the accessed rows of a
/// table (ATen/native/cuda/Embedding.cu). The table itself stays unchanged.
fn limited<'s>(r: &mut Reader<'s>, rows: Value, args: &Args<'s>) -> Made {
    let narrow = r.draft.dtype(rows);
    let wide = narrow.accumulate();
    let extents = r.extents(rows);
    let x = r.draft.cast(rows, wide)?;
    let norm = norm(r, x, args.get(4, &["norm_type"]))?;
    let limit = r.typed(args.value(3, &["max_norm"])?, wide)?;
    let scalar = r.draft.ir.scalar(wide);
    let [least, one] = [1e-7, 1.0].map(|number| r.draft.number(number, scalar));
    let divisor = r.draft.make(&fusion::ADD, &[norm, least?])?;
    let factor = r.draft.make(&fusion::DIV, &[limit, divisor])?;
    let above = r.draft.builder().compare("gt", norm, limit)?;
    let factor = r.draft.builder().choose(above, factor, one?)?;
    let factor = r.draft.cast(factor, narrow)?;
    let kept: Vec<i64> = (0..extents.len() as i64 - 1).collect();
    let factor = r.draft.broadcast(factor, &kept, &extents)?;
    r.draft.make(&fusion::MUL, &[rows, factor])
}

/// The norms of lines along the last axis, Euclidean or with another exponent.
fn norm<'s>(r: &mut Reader<'s>, x: Value, kind: Option<&Val<'s>>) -> Made {
    let two = Val::Number(Number::Float(2.0), None);
    let kind = match kind {
        None | Some(Val::Nothing) => &two,
        Some(kind) => kind,
    };
    let known = match kind {
        Val::Number(number, _) => number.float(),
        _ => f64::NAN,
    };
    if known == 2.0 {
        let squares = r.draft.make(&fusion::MUL, &[x, x])?;
        let sum = folded(r, &fusion::SUM, squares)?;
        return r.draft.make(&fusion::SQRT, &[sum]);
    }
    let size = r.draft.make(&fusion::ABS, &[x])?;
    if known == f64::INFINITY {
        return folded(r, &fusion::MAX, size);
    }
    let kind = r.typed(kind, r.draft.dtype(x))?;
    let powers = r.draft.make(&fusion::POW, &[size, kind])?;
    let sum = folded(r, &fusion::SUM, powers)?;
    let root = r.draft.make(&fusion::RECIPROCAL, &[kind])?;
    r.draft.make(&fusion::POW, &[sum, root])
}

/// A reduction along the last axis.
fn folded(r: &mut Reader<'_>, def: &'static OpDef, x: Value) -> Made {
    let last = r.draft.dims(x).len() as i64 - 1;
    let mut b = r.draft.builder();
    let clause = [b.ints("dims", &[last])];
    Ok(b.value(def, &[x], &clause)?)
}

/// The tensor with axes of extent 1, except `dim`, broadcast to `shape`.
fn stretched(r: &mut Reader<'_>, x: Value, shape: &[Extent], dim: i64) -> Made {
    let mut own = r.extents(x);
    for (axis, (own, wanted)) in own.iter_mut().zip(shape).enumerate() {
        if axis as i64 != dim && *own == Extent::Static(1) {
            *own = *wanted;
        }
    }
    r.draft.expand(x, &own)
}

/// Axes of extent 1 but `dim` stretch in both.
pub fn take_along_axis<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let (x, index) = (args.tensor(0, &["arg"])?, args.tensor(1, &["index"])?);
    let shapes = [x, index].map(|value| r.extents(value));
    let dim = args.axis(2, &["dim"], shapes[0].len())?;
    let x = stretched(r, x, &shapes[1], dim)?;
    let index = stretched(r, index, &shapes[0], dim)?;
    along(r, x, index, dim)
}

/// `take_along`, of tensors whose other axes are equal.
fn along<'s>(r: &mut Reader<'s>, x: Value, index: Value, dim: i64) -> Made<Vec<Val<'s>>> {
    let mut own = r.draft.dims(x);
    for (axis, (own, index)) in own.iter_mut().zip(r.draft.dims(index)).enumerate() {
        if axis as i64 != dim {
            own.extent = r.unify(own.extent, index.extent)?;
        }
    }
    r.settle(x, own);
    taken(r, &fusion::TAKE_ALONG, x, index, dim)
}

/// The leading part of a tensor that is longer than `shape` along some axes. Axes with an unknown length stay whole.
fn first(r: &mut Reader<'_>, x: Value, shape: &[Extent]) -> Made {
    let own = r.extents(x);
    let part = own
        .iter()
        .zip(shape)
        .map(|(own, wanted)| match (own, wanted) {
            (Extent::Static(own), Extent::Static(wanted)) => Extent::Static(*own.min(wanted)),
            (own, _) => *own,
        });
    let part: Vec<Extent> = part.collect();
    if part == own || shape.len() != own.len() {
        return Ok(x);
    }
    let dims: Vec<Dim> = part.into_iter().map(Dim::new).collect();
    let mut b = r.draft.builder();
    let clauses = [
        b.ints("starts", &vec![0; dims.len()]),
        b.shape("shape", &dims),
    ];
    Ok(b.value(&fusion::SLICE, &[x], &clauses)?)
}

/// Gathers as `take_along_axis` does, from the leading part along axes on which the index is shorter.
pub fn gather<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let (x, index) = (args.tensor(0, &["arg"])?, args.tensor(1, &["index"])?);
    let own = r.extents(x);
    let dim = args.axis(2, &["dim"], own.len())?;
    let mut shape = r.extents(index);
    if let (Some(own), Some(wanted)) = (own.get(dim as usize), shape.get_mut(dim as usize)) {
        *wanted = *own;
    }
    let x = first(r, x, &shape)?;
    along(r, x, index, dim)
}

/// Writes the elements of `src`, a tensor or one scalar, at their indices; the last element wins among those with equal
/// indices. If the index is shorter along other axes, the rest stays unchanged.
pub fn scatter<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let (x, index) = (args.tensor(0, &["arg"])?, args.tensor(1, &["index"])?);
    let dtype = r.draft.dtype(x);
    let mut source = r.typed(args.value(2, &["src"])?, dtype)?;
    let (own, at) = (r.extents(x), r.extents(index));
    let dim = args.axis(3, &["dim"], own.len())?;
    let mut more = vec![0; at.len()];
    for (axis, (own, at)) in own.iter().zip(&at).enumerate() {
        match (own, at) {
            _ if axis as i64 == dim => {}
            (Extent::Static(own), Extent::Static(at)) if at < own => {
                more[axis] = (own - at) as i64;
            }
            _ => agree(r, (x, axis), (index, axis))?,
        }
    }
    let whole = r.draft.ir.value_kind(source).as_tensor().is_some();
    if whole {
        source = first(r, source, &at)?;
        for axis in 0..at.len() {
            agree(r, (source, axis), (index, axis))?;
        }
    }
    let mut index = indices(r, index)?;
    if more.iter().any(|more| *more > 0) {
        // An index below 0 puts nothing anywhere.
        index = behind(r, index, &more, -1.0)?;
        if whole {
            source = behind(r, source, &more, 0.0)?;
        }
    }
    if !whole {
        let dims = r.draft.dims(index);
        let mut b = r.draft.builder();
        let clause = [b.shape("shape", &dims)];
        source = b.value(&fusion::FULL, &[source], &clause)?;
    }
    let mut b = r.draft.builder();
    let clauses = [b.int("dim", dim), b.word("combine", "set")];
    let operands = [x, index, source];
    one(Ok(b.value(&fusion::SCATTER, &operands, &clauses)?))
}

/// The tensor padded with `number` by `more` elements at the end of each axis.
fn behind(r: &mut Reader<'_>, x: Value, more: &[i64], number: f64) -> Made {
    let scalar = r.draft.ir.scalar(r.draft.dtype(x));
    let number = r.draft.number(number, scalar)?;
    let mut b = r.draft.builder();
    let clauses = [b.ints("low", &vec![0; more.len()]), b.ints("high", more)];
    Ok(b.value(&fusion::PAD, &[x, number], &clauses)?)
}

/// Adds rows to the rows of a tensor at given indices; rows with equal indices are all added.
pub fn index_put_accumulate<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let (x, mut index) = (args.tensor(0, &["acc"])?, args.tensor(1, &["index"])?);
    let dtype = r.draft.dtype(x);
    let rows = r.typed(args.value(2, &["value"])?, dtype)?;
    // A second axis, of extent 1, was asked for once.
    if let [length, Extent::Static(1)] = r.extents(index)[..] {
        index = r.draft.reshape(index, &[length])?;
    }
    agree(r, (rows, 0), (index, 0))?;
    for axis in 1..r.draft.dims(x).len() {
        agree(r, (rows, axis), (x, axis))?;
    }
    let index = indices(r, index)?;
    let mut b = r.draft.builder();
    let clauses = [b.int("dim", 0), b.word("combine", "add")];
    let operands = [x, index, rows];
    one(Ok(b.value(&fusion::INDEX_PUT, &operands, &clauses)?))
}

/// Sorts stably in all cases, since an unstable sort accepts any order of equal elements. A tensor of rank 0 is sorted
/// as a line of one element.
pub fn argsort<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let mut x = args.tensor(0, &["arg"])?;
    let rank = r.draft.dims(x).len();
    let dim = args.axis(1, &["dim"], rank.max(1))?;
    if rank == 0 {
        x = r.draft.reshape(x, &[Extent::Static(1)])?;
    }
    let descending = args.flag(2, &["descending"]);
    let mut b = r.draft.builder();
    let mut clauses = vec![b.int("dim", dim), b.dtype("of", DType::I64)];
    if descending {
        clauses.push(b.flag("descending"));
    }
    let order = b.value(&fusion::ARGSORT, &[x], &clauses)?;
    match rank {
        0 => one(r.draft.reshape(order, &[])),
        _ => one(Ok(order)),
    }
}

/// The result is always sorted: a call that does not request an order accepts any.
pub fn topk<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    let rank = r.draft.dims(x).len();
    let first = args.int(1, &["k"], -1)?;
    if first < 0 {
        return Err(Fault::form("its `k` is no number of elements"));
    }
    let dim = axis_of(args.int(2, &["dim"], -1)?, rank)?;
    let largest = args.get(3, &["largest"]).is_none() || args.flag(3, &["largest"]);
    let mut b = r.draft.builder();
    let mut clauses = vec![
        b.int("dim", dim),
        b.int("first", first),
        b.dtype("of", DType::I64),
    ];
    if !largest {
        clauses.push(b.flag("smallest"));
    }
    let op = b.op(&fusion::TOPK, &[x], &clauses)?;
    Ok([0, 1]
        .map(|at| Val::Tensor(r.draft.ir.result(op, at)))
        .into())
}

/// Makes two axes of operands one extent.
pub fn agree(r: &mut Reader<'_>, a: (Value, usize), b: (Value, usize)) -> Made<()> {
    let (mut own, mut other) = (r.draft.dims(a.0), r.draft.dims(b.0));
    if let (Some(first), Some(second)) = (own.get_mut(a.1), other.get_mut(b.1)) {
        let extent = r.unify(first.extent, second.extent)?;
        (first.extent, second.extent) = (extent, extent);
        r.settle(a.0, own);
        r.settle(b.0, other);
    }
    Ok(())
}

pub fn matmul<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let (a, b) = (
        args.tensor(0, &["a", "arg1"])?,
        args.tensor(1, &["b", "arg2"])?,
    );
    let ranks = [a, b].map(|value| r.draft.dims(value).len());
    agree(
        r,
        (a, ranks[0].saturating_sub(1)),
        (b, ranks[1].saturating_sub(2)),
    )?;
    let operands = match ranks.iter().all(|rank| *rank > 2) {
        true => batched(r, [a, b])?,
        false => [a, b],
    };
    one(r.draft.make(&fusion::MATMUL, &operands))
}

/// Factors of equal rank, whose batch axes of extent 1 are broadcast to those of the other factor.
fn batched(r: &mut Reader<'_>, factors: [Value; 2]) -> Made<[Value; 2]> {
    let rank = factors.map(|value| r.draft.dims(value).len());
    let rank = rank[0].max(rank[1]);
    let [a, b] = factors.map(|value| r.leading(value, rank));
    let (a, b) = (a?, b?);
    let shapes = [a, b].map(|value| r.extents(value));
    let batch = rank - 2;
    let a = stretched(r, a, &shapes[1][..batch], -1)?;
    let b = stretched(r, b, &shapes[0][..batch], -1)?;
    for axis in 0..batch {
        agree(r, (a, axis), (b, axis))?;
    }
    Ok([a, b])
}

pub fn linear<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let mut operands = vec![
        args.tensor(0, &["a", "arg1"])?,
        args.tensor(1, &["b", "arg2"])?,
    ];
    if let Some(Val::Tensor(bias)) = args.get(2, &["bias"]) {
        agree(r, (*bias, 0), (operands[1], 0))?;
        operands.push(*bias);
    }
    let last = r.draft.dims(operands[0]).len().saturating_sub(1);
    agree(r, (operands[0], last), (operands[1], 1))?;
    one(r.draft.make(&fusion::LINEAR, &operands))
}
