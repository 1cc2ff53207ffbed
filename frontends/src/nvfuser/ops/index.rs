//! Ops of `fd.ops` that read or write at indices, sorts, and products of matrices.

use fuser_dialects::fusion;
use fuser_ir::Value;
use fuser_ir::def::OpDef;
use fuser_ir::types::{DType, Dim, Extent};

use super::one;
use crate::nvfuser::Reader;
use crate::nvfuser::args::{Args, axis_of};
use crate::nvfuser::value::Val;
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
    if !matches!(args.get(3, &["max_norm"]), None | Some(Val::Nothing)) {
        return Err(Fault::form("changes rows of the table (`max_norm`)"));
    }
    taken(r, &fusion::TAKE, weight, input, 0)
}

pub fn take_along_axis<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let (x, index) = (args.tensor(0, &["arg"])?, args.tensor(1, &["index"])?);
    let dim = args.axis(2, &["dim"], r.draft.dims(x).len())?;
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

/// As `take_along_axis`, of the first elements along the axes on which the index is shorter.
pub fn gather<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let (mut x, index) = (args.tensor(0, &["arg"])?, args.tensor(1, &["index"])?);
    let dim = args.axis(2, &["dim"], r.draft.dims(x).len())?;
    let (own, at) = (r.extents(x), r.extents(index));
    let first = |(axis, (own, at)): (usize, (&Extent, &Extent))| match (own, at) {
        (Extent::Static(own), Extent::Static(at)) if axis as i64 != dim => {
            Extent::Static(*own.min(at))
        }
        (own, _) => *own,
    };
    let part: Vec<Extent> = own.iter().zip(&at).enumerate().map(first).collect();
    if part != own {
        let dims: Vec<Dim> = part.into_iter().map(Dim::new).collect();
        let mut b = r.draft.builder();
        let clauses = [
            b.ints("starts", &vec![0; dims.len()]),
            b.shape("shape", &dims),
        ];
        x = b.value(&fusion::SLICE, &[x], &clauses)?;
    }
    along(r, x, index, dim)
}

/// The elements of `src`, a tensor or one for all, put at their indices; of those at one index the last.
pub fn scatter<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let (x, index) = (args.tensor(0, &["arg"])?, args.tensor(1, &["index"])?);
    let (mut own, at) = (r.draft.dims(x), r.draft.dims(index));
    let dim = args.axis(3, &["dim"], own.len())?;
    for (axis, (own, index)) in own.iter_mut().zip(&at).enumerate() {
        if axis as i64 != dim {
            own.extent = r.unify(own.extent, index.extent)?;
        }
    }
    r.settle(x, own);
    let dtype = r.draft.dtype(x);
    let source = r.typed(args.value(2, &["src"])?, dtype)?;
    let source = match r.draft.ir.value_kind(source).as_tensor() {
        Some(_) => {
            for axis in 0..at.len() {
                agree(r, (source, axis), (index, axis))?;
            }
            source
        }
        None => {
            let mut b = r.draft.builder();
            let clause = [b.shape("shape", &at)];
            b.value(&fusion::FULL, &[source], &clause)?
        }
    };
    let index = indices(r, index)?;
    let mut b = r.draft.builder();
    let clauses = [b.int("dim", dim), b.word("combine", "set")];
    one(Ok(b.value(
        &fusion::SCATTER,
        &[x, index, source],
        &clauses,
    )?))
}

/// Always a stable sort: what asks for none takes any order of equal elements.
pub fn argsort<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    let dim = args.axis(1, &["dim"], r.draft.dims(x).len())?;
    let descending = args.flag(2, &["descending"]);
    let mut b = r.draft.builder();
    let mut clauses = vec![b.int("dim", dim), b.dtype("of", DType::I64)];
    if descending {
        clauses.push(b.flag("descending"));
    }
    one(Ok(b.value(&fusion::ARGSORT, &[x], &clauses)?))
}

/// Always in order: what asks for none takes any.
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
    one(r.draft.make(&fusion::MATMUL, &[a, b]))
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
