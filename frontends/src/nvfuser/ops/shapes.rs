//! Ops of `fd.ops` that make or move elements, and lengths.

use fuser_dialects::fusion::{self, build::FusionBuilder};
use fuser_ir::Value;
use fuser_ir::types::{DType, Dim, Extent, ExtentExpr};

use super::index::agree;
use super::one;
use crate::nvfuser::args::{Args, axis_of};
use crate::nvfuser::value::{Number, Val};
use crate::nvfuser::{Reader, order_in_memory};
use crate::program::{Fault, Made};

/// New axes of extent 1 where the list is true.
pub fn broadcast<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    let Val::List(flags) = args.value(1, &["is_broadcast_dim"])? else {
        return Err(Fault::form("`is_broadcast_dim` is no list"));
    };
    let own = r.extents(x);
    let mut next = own.iter();
    let (mut dims, mut shape) = (Vec::new(), Vec::new());
    for (at, flag) in flags.iter().enumerate() {
        if matches!(flag, Val::Number(number, _) if number.float() != 0.0) {
            shape.push(Extent::Static(1));
        } else {
            let own = next
                .next()
                .ok_or_else(|| Fault::form("has more axes to keep than its operand"))?;
            shape.push(*own);
            dims.push(at as i64);
        }
    }
    one(r.draft.broadcast(x, &dims, &shape))
}

pub fn broadcast_in_dim<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = match args.value(0, &["arg"])? {
        Val::Tensor(value) => *value,
        number => {
            let (_, dtype) = r.class(number)?;
            let dtype = if dtype == DType::F64 {
                DType::F32
            } else {
                dtype
            };
            r.typed(number, dtype)?
        }
    };
    let shape = known(args.shape(1, &["shape", "output_shape"])?)?;
    let mut dims = Vec::new();
    for dim in args.ints(2, &["broadcast_dims"])? {
        dims.push(axis_of(dim, shape.len())?);
    }
    let mut own = r.draft.dims(x);
    if own.len() != dims.len() {
        return Err(Fault::form(format!(
            "places {} axes, its operand has {}",
            dims.len(),
            own.len()
        )));
    }
    for (dim, to) in own.iter_mut().zip(&dims) {
        if dim.extent != Extent::Static(1) {
            dim.extent = r.unify(dim.extent, shape[*to as usize])?;
        }
    }
    r.settle(x, own);
    // The order of the list does not reorder axes.
    dims.sort_unstable();
    let shape: Vec<Extent> = shape.into_iter().map(|extent| r.root(extent)).collect();
    one(r.draft.broadcast(x, &dims, &shape))
}

/// A copy whose axes have the stated order in memory.
pub fn stride_order<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    let order = args.ints(1, &["stride_order"])?;
    match order_in_memory(&order, r.draft.dims(x).len())? {
        Some(order) => one(r.copy_in_order(x, &order)),
        None => one(r.copy_like(x, x)),
    }
}

/// A shape without `-1`.
fn known(shape: Vec<Option<Extent>>) -> Made<Vec<Extent>> {
    let all: Option<Vec<Extent>> = shape.into_iter().collect();
    all.ok_or_else(|| Fault::form("leaves an extent open (-1)"))
}

pub fn expand<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    let shape = args.shape(1, &["shape"])?;
    let own = r.extents(x);
    if own.len() != shape.len() {
        return Err(Fault::form(format!(
            "has {} extents, its operand {} axes",
            shape.len(),
            own.len()
        )));
    }
    let kept = shape
        .iter()
        .zip(&own)
        .map(|(extent, own)| extent.unwrap_or(*own));
    let shape: Vec<Extent> = kept.collect();
    one(r.expanded(x, &shape))
}

pub fn squeeze<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    let dims = args.axes(1, &["dims"], r.draft.dims(x).len())?;
    let mut b = r.draft.builder();
    let clause = [b.ints("dims", &dims)];
    one(Ok(b.value(&fusion::SQUEEZE, &[x], &clause)?))
}

pub fn permute<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    let rank = r.draft.dims(x).len();
    let dims = args
        .ints(1, &["dims"])?
        .into_iter()
        .map(|dim| axis_of(dim, rank));
    let dims = dims.collect::<Made<Vec<i64>>>()?;
    one(r.draft.permute(x, &dims))
}

pub fn reshape<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    let shape = args.shape(1, &["new_shape", "shape"])?;
    let own = r.extents(x);
    let whole = product(r, &own);
    let given: Vec<Extent> = shape.iter().flatten().copied().collect();
    let part = product(r, &given);
    // The open extent is the quotient.
    let rest = whole
        .zip(part)
        .and_then(|(whole, part)| whole.div_exact(&part));
    let mut filled = Vec::new();
    let open = shape.len() - given.len();
    for extent in shape {
        let missing = || {
            let expr = rest.clone().filter(|_| open == 1)?;
            match expr.as_constant() {
                Some(n) => u64::try_from(n).ok().map(Extent::Static),
                None => r.draft.ir.extent(expr),
            }
        };
        let extent = extent.or_else(missing);
        filled.push(
            extent.ok_or_else(|| Fault::form("leaves an extent open that does not follow (-1)"))?,
        );
    }
    one(r.draft.reshape(x, &filled))
}

/// The product of extents.
fn product(r: &Reader<'_>, extents: &[Extent]) -> Option<ExtentExpr> {
    let one = ExtentExpr::constant(1);
    extents.iter().try_fold(one, |product, extent| {
        product.mul(&r.draft.ir.extent_as_expr(*extent)?)
    })
}

pub fn cat<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let Val::List(items) = args.value(0, &["tensors"])? else {
        return Err(Fault::form("`tensors` is no list"));
    };
    let tensors = items.iter().map(|item| match item {
        Val::Tensor(value) => Ok(*value),
        _ => Err(Fault::form("puts together what is no tensor")),
    });
    let tensors = tensors.collect::<Made<Vec<Value>>>()?;
    let rank = tensors
        .first()
        .map_or(0, |first| r.draft.dims(*first).len());
    let dim = axis_of(args.int(1, &["dim"], 0)?, rank)?;
    for (&first, &second) in tensors.iter().zip(tensors.iter().skip(1)) {
        for axis in (0..rank).filter(|axis| *axis as i64 != dim) {
            agree(r, (first, axis), (second, axis))?;
        }
    }
    let mut b = r.draft.builder();
    let clause = [b.int("dim", dim)];
    one(Ok(b.value(&fusion::CAT, &tensors, &clause)?))
}

/// Pads a tensor. The amounts are pairs, the last axis first. A negative amount removes elements before others are
/// added.
pub fn pad<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    let widths = args.ints(1, &["pad_widths"])?;
    let rank = r.draft.dims(x).len();
    if widths.len() > 2 * rank || widths.len() % 2 != 0 {
        return Err(Fault::form("has widths that are no pairs for its axes"));
    }
    let (mut low, mut high) = (vec![0; rank], vec![0; rank]);
    for (at, pair) in widths.chunks(2).enumerate() {
        (low[rank - 1 - at], high[rank - 1 - at]) = (pair[0], pair[1]);
    }
    let zero = Val::Number(Number::Int(0), None);
    let value = match args.get(2, &["value"]) {
        None | Some(Val::Nothing) => &zero,
        Some(value) => value,
    };
    let dtype = r.draft.dtype(x);
    let stated = match value {
        Val::Tensor(value) => Some(r.draft.dtype(*value)),
        Val::Number(_, stated) => *stated,
        _ => None,
    };
    if stated.is_some_and(|stated| stated.is_complex() != dtype.is_complex()) {
        return Err(Fault::form(
            "has a value that is complex where its operand is not, or the reverse",
        ));
    }
    let value = r.typed(value, dtype)?;
    let x = without(r, x, &low, &high)?;
    for width in low.iter_mut().chain(&mut high) {
        *width = (*width).max(0);
    }
    let adds = low.iter().chain(&high).any(|width| *width > 0);
    if !adds && widths.iter().any(|width| *width < 0) {
        return one(Ok(x));
    }
    let mut b = r.draft.builder();
    let clauses = [b.ints("low", &low), b.ints("high", &high)];
    one(Ok(b.value(&fusion::PAD, &[x, value], &clauses)?))
}

/// The tensor without the elements at the ends of its axes that negative widths remove.
fn without(r: &mut Reader<'_>, x: Value, low: &[i64], high: &[i64]) -> Made {
    if low.iter().chain(high).all(|width| *width >= 0) {
        return Ok(x);
    }
    let mut dims = r.draft.dims(x);
    let mut starts = vec![0; dims.len()];
    for (axis, own) in r.extents(x).into_iter().enumerate() {
        let [first, last] = [low[axis], high[axis]].map(|width| width.min(0).unsigned_abs());
        starts[axis] = first as i64;
        let taken = first.saturating_add(last);
        let left = match own {
            _ if taken == 0 => Some(own),
            Extent::Static(n) => n.checked_sub(taken).map(Extent::Static),
            named => {
                let taken = i64::try_from(taken).ok().map(|n| ExtentExpr::constant(-n));
                let expr = r.draft.ir.extent_as_expr(named).zip(taken);
                let left = expr.and_then(|(own, taken)| own.add(&taken));
                left.and_then(|left| r.draft.ir.extent(left))
            }
        };
        let none = || {
            Fault::form(format!(
                "takes {taken} elements from axis {axis}, which has fewer"
            ))
        };
        dims[axis].extent = left.ok_or_else(none)?;
    }
    let mut b = r.draft.builder();
    let clauses = [b.ints("starts", &starts), b.shape("shape", &dims)];
    Ok(b.value(&fusion::SLICE, &[x], &clauses)?)
}

/// Ends are clamped to the axis, as in Python.
pub fn slice<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    let starts = args.ints(1, &["start_indices"])?;
    let ends = known(args.shape(2, &["end_indices"])?)?;
    let own = r.extents(x);
    if matches!(args.get(3, &["strides"]), Some(Val::List(_))) {
        let strides = args.ints(3, &["strides"])?;
        if strides.len() != own.len() || strides.iter().any(|stride| *stride != 1) {
            return Err(Fault::form("has strides other than a 1 for each axis"));
        }
    }
    if [starts.len(), ends.len()] != [own.len(); 2] || starts.iter().any(|n| *n < 0) {
        return Err(Fault::form(
            "needs a start and an end for each axis, none negative",
        ));
    }
    let (mut first, mut dims) = (Vec::new(), Vec::new());
    for ((start, end), (own, dim)) in starts.iter().zip(ends).zip(own.iter().zip(r.draft.dims(x))) {
        if matches!(end, Extent::Static(end) if end < *start as u64) {
            return Err(Fault::form("has an end before its start"));
        }
        let (start, extent) = match (own, end) {
            (Extent::Static(n), Extent::Static(end)) => {
                let start = (*start as u64).min(*n);
                (
                    start as i64,
                    Extent::Static(end.min(*n).saturating_sub(start)),
                )
            }
            (own, end) if *own == end && *start == 0 => (0, *own),
            (_, Extent::Static(end)) => (*start, Extent::Static(end.saturating_sub(*start as u64))),
            _ => {
                return Err(Fault::form(
                    "has an end that is a named extent of another axis",
                ));
            }
        };
        first.push(start);
        dims.push(Dim { extent, ..dim });
    }
    let mut b = r.draft.builder();
    let clauses = [b.ints("starts", &first), b.shape("shape", &dims)];
    one(Ok(b.value(&fusion::SLICE, &[x], &clauses)?))
}

pub fn size<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    let own = r.extents(x);
    let dim = args.axis(1, &["dim"], own.len())?;
    Ok(vec![length(own[dim as usize])])
}

pub fn shape<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    let own = r.extents(x);
    Ok(vec![Val::List(own.into_iter().map(length).collect())])
}

fn length<'s>(extent: Extent) -> Val<'s> {
    match extent {
        Extent::Static(n) => Val::Number(Number::Int(n.into()), None),
        other => Val::Extent(other),
    }
}

pub fn full<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let shape = known(args.shape(0, &["shape"])?)?;
    let value = args.value(1, &["fill_value"])?;
    let dtype = match args.dtype(2, &["dtype"])? {
        Some(dtype) => dtype,
        None => r.class(value)?.1,
    };
    let value = r.typed(value, dtype)?;
    let dims: Vec<Dim> = shape
        .into_iter()
        .map(|extent| Dim::new(r.root(extent)))
        .collect();
    let mut b = r.draft.builder();
    let clause = [b.shape("shape", &dims)];
    one(Ok(b.value(&fusion::FULL, &[value], &clause)?))
}

/// `start + i * step`
pub fn iota<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let length = match args.value(0, &["length"])? {
        Val::Extent(extent) => r.root(*extent),
        Val::Number(Number::Int(n), _) if u64::try_from(*n).is_ok() => Extent::Static(*n as u64),
        _ => return Err(Fault::form("has a length that is no known extent")),
    };
    let dtype = args.dtype(3, &["dtype"])?.unwrap_or(DType::I64);
    let mut b = r.draft.builder();
    let clauses = [
        b.int("dim", 0),
        b.shape("shape", &[Dim::new(length)]),
        b.dtype("of", dtype),
    ];
    let mut made = b.value(&fusion::IOTA, &[], &clauses)?;
    for (at, name, def, neutral) in [
        (2, "step", &fusion::MUL, 1.0),
        (1, "start", &fusion::ADD, 0.0),
    ] {
        match args.get(at, &[name]) {
            None | Some(Val::Nothing) => {}
            Some(Val::Number(number, _)) if number.float() == neutral => {}
            Some(Val::Number(number, _)) if at == 2 && number.float() == 0.0 => {
                return Err(Fault::form("has a step of 0"));
            }
            Some(value) => {
                let value = r.typed(value, dtype)?;
                made = r.draft.make(def, &[made, value])?;
            }
        }
    }
    one(Ok(made))
}

/// `x` where the column is at or right of the diagonal, else 0.
pub fn triu<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    let diagonal = args.int(1, &["diagonal"], 0)?;
    let dtype = r.draft.dtype(x);
    let kept = triangle(r, x, "ge", diagonal)?;
    let scalar = r.draft.ir.scalar(dtype);
    let zero = r.draft.number(0.0, scalar)?;
    one(r.draft.make(&fusion::WHERE, &[kept, x, zero]))
}

/// Booleans of the shape of `x`: true if the column minus the row has the relation `predicate` to `diagonal`.
pub fn triangle(r: &mut Reader<'_>, x: Value, predicate: &str, diagonal: i64) -> Made {
    let dims: Vec<Dim> = r.extents(x).into_iter().map(Dim::new).collect();
    let Some(row) = dims.len().checked_sub(2) else {
        return Err(Fault::form("its operand has fewer than two axes"));
    };
    let int = r.draft.ir.scalar(DType::I64);
    let mut b = r.draft.builder();
    let shape = &dims[row..];
    let mut places = Vec::new();
    for dim in 0..2 {
        let clauses = [
            b.int("dim", dim),
            b.shape("shape", shape),
            b.dtype("of", DType::I64),
        ];
        places.push(b.value(&fusion::IOTA, &[], &clauses)?);
    }
    let distance = b.value(&fusion::SUB, &[places[1], places[0]], &[])?;
    let diagonal = b.constant_int(diagonal, int)?;
    let kept = b.compare(predicate, distance, diagonal)?;
    let extents: Vec<Extent> = dims.iter().map(|dim| dim.extent).collect();
    r.draft
        .broadcast(kept, &[row as i64, row as i64 + 1], &extents)
}
