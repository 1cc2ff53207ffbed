//! Ops that move elements and compute nothing.

use fuser_dialects::fusion;
use fuser_ir::Value;
use fuser_ir::types::{Dim, Extent, ExtentExpr};

use super::Importer;
use super::ast::{Attr, Item};
use super::op::Reading;
use super::ops::one;
use crate::program::{Draft, Fault, Made};

/// The extents of the stated result.
pub fn output_shape(im: &Importer<'_>, r: &Reading<'_>) -> Made<Vec<Extent>> {
    let ty = r.output()?;
    let tensor = im.draft.ir.ty(ty).as_tensor();
    let tensor = tensor.ok_or_else(|| Fault::form("states no tensor"))?;
    Ok(tensor.dims.iter().map(|dim| dim.extent).collect())
}

/// The extents of a tensor, all of which are known.
pub fn lengths(draft: &Draft, value: Value) -> Vec<i64> {
    known(&draft.dims(value))
}

/// The extents of axes, all of which are known.
pub fn known(dims: &[Dim]) -> Vec<i64> {
    let length = |dim: &Dim| match dim.extent {
        Extent::Static(n) => i64::try_from(n).unwrap_or(i64::MAX),
        _ => 0,
    };
    dims.iter().map(length).collect()
}

/// Extents of known lengths.
pub fn extents(lengths: &[i64]) -> Vec<Extent> {
    let known = lengths.iter().map(|n| Extent::Static((*n).max(0) as u64));
    known.collect()
}

/// `stablehlo.broadcast_in_dim`
pub fn broadcast_in_dim(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let dims = r.ints(&["dims", "broadcast_dimensions"])?;
    let shape = output_shape(im, r)?;
    one(im.draft.broadcast(r.operand(0)?, &dims, &shape))
}

/// `stablehlo.broadcast`: new axes before those of the operand.
pub fn broadcast(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let (x, shape) = (r.operand(0)?, output_shape(im, r)?);
    let rank = im.draft.dims(x).len().min(shape.len());
    let dims: Vec<i64> = ((shape.len() - rank) as i64..shape.len() as i64).collect();
    one(im.draft.broadcast(x, &dims, &shape))
}

/// `stablehlo.dynamic_broadcast_in_dim`, whose result has a stated shape.
pub fn dynamic_broadcast_in_dim(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    broadcast_in_dim(im, r)
}

/// `stablehlo.get_dimension_size`
pub fn dimension_size(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let (axis, ty) = (r.int(&["dim", "dimension"])?, r.output()?);
    let own = lengths(&im.draft, r.operand(0)?);
    let length = usize::try_from(axis).ok().and_then(|axis| own.get(axis));
    let length =
        length.ok_or_else(|| Fault::form("names an axis that its operand does not have"))?;
    one(im.draft.number(*length as f64, ty))
}

/// `tensor.from_elements`: numbers in row-major order.
pub fn from_elements(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let shape = output_shape(im, r)?;
    let mut line = Vec::new();
    for value in &r.operands {
        line.push(im.draft.reshape(*value, &extents(&[1]))?);
    }
    let line = match line.as_slice() {
        &[value] => value,
        line => {
            let mut b = im.draft.builder();
            let clause = [b.int("dim", 0)];
            b.value(&fusion::CAT, line, &clause)?
        }
    };
    one(im.draft.reshape(line, &shape))
}

/// `stablehlo.reshape`
pub fn reshape(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let shape = output_shape(im, r)?;
    one(im.draft.reshape(r.operand(0)?, &shape))
}

/// `stablehlo.transpose`
pub fn transpose(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let dims = r.ints(&["dims", "permutation"])?;
    one(im.draft.permute(r.operand(0)?, &dims))
}

/// `stablehlo.concatenate`
pub fn concatenate(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let dim = r.int(&["dim", "dimension"])?;
    if let Some((whole, shift)) = rolled(&im.draft, &r.operands, dim) {
        let mut b = im.draft.builder();
        let clauses = [b.int("dim", dim), b.int("shift", shift)];
        return Ok(vec![b.value(&fusion::ROLL, &[whole], &clauses)?]);
    }
    let mut b = im.draft.builder();
    let clause = [b.int("dim", dim)];
    Ok(vec![b.value(&fusion::CAT, &r.operands, &clause)?])
}

/// The tensor whose end and start along `dim` are swapped, and the shift: the form in which JAX writes `jnp.roll`.
fn rolled(draft: &Draft, parts: &[Value], dim: i64) -> Option<(Value, i64)> {
    let &[end, beginning] = parts else {
        return None;
    };
    let dim = usize::try_from(dim).ok()?;
    let ir = &draft.ir;
    let slice = |part: Value| {
        let op = ir.def_op(part).filter(|&op| ir.is(op, &fusion::SLICE))?;
        let strides = ir.i64s_of(op, "strides").unwrap_or(&[]);
        let starts = ir.amounts_of(op, "starts")?;
        let starts: Option<Vec<i64>> = starts.iter().map(ExtentExpr::as_constant).collect();
        let starts = starts.filter(|_| strides.iter().all(|&step| step == 1))?;
        Some((ir.operand(op, 0), *starts.get(dim)?))
    };
    let ((whole, start), (other, 0)) = (slice(end)?, slice(beginning)?) else {
        return None;
    };
    let all = lengths(draft, whole);
    let shift = all.get(dim)? - start;
    // A part with the full extent along all other axes begins at 0 in them.
    let is_part = |part: Value, length: i64| {
        let mut wanted = all.clone();
        wanted[dim] = length;
        lengths(draft, part) == wanted
    };
    let complete = whole == other && is_part(end, shift) && is_part(beginning, start);
    let known = all.iter().all(|&length| length > 0);
    let nearer = if shift > start { -start } else { shift };
    (complete && known).then_some((whole, nearer))
}

/// `stablehlo.reverse`
pub fn reverse(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let mut dims = r.ints(&["dims", "dimensions"])?;
    dims.sort_unstable();
    let mut b = im.draft.builder();
    let clause = [b.ints("dims", &dims)];
    Ok(vec![b.value(&fusion::FLIP, &[r.operand(0)?], &clause)?])
}

/// `stablehlo.iota`
pub fn iota(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let (dim, ty) = (r.int(&["dim", "iota_dimension"])?, r.output()?);
    let tensor = im.draft.ir.ty(ty).as_tensor().cloned();
    let tensor = tensor.ok_or_else(|| Fault::form("states no tensor"))?;
    let mut b = im.draft.builder();
    let of = match tensor.dtype.is_complex() {
        true => tensor.dtype.part(),
        false => tensor.dtype,
    };
    let clauses = [
        b.int("dim", dim),
        b.shape("shape", &tensor.dims),
        b.dtype("of", of),
    ];
    let counted = b.value(&fusion::IOTA, &[], &clauses)?;
    Ok(vec![im.draft.cast(counted, tensor.dtype)?])
}

/// The part of `value` from `starts` to `limits`.
pub fn part(
    draft: &mut Draft,
    value: Value,
    starts: &[i64],
    limits: &[i64],
    strides: &[i64],
) -> Made {
    let rank = draft.dims(value).len();
    if [starts.len(), limits.len(), strides.len()] != [rank; 3] {
        let text = format!("has {} ranges, its operand {rank} axes", starts.len());
        return Err(Fault::form(text));
    }
    let mut shape = Vec::with_capacity(rank);
    for ((start, limit), stride) in starts.iter().zip(limits).zip(strides) {
        let length = limit.checked_sub(*start).filter(|n| *n >= 0 && *stride > 0);
        let length = length.ok_or_else(|| Fault::form("has a range without a direction"))?;
        // Rounded up without overflow.
        let steps = length / stride + i64::from(length % stride != 0);
        shape.push(steps);
    }
    let dims: Vec<Dim> = draft
        .dims(value)
        .iter()
        .zip(&shape)
        .map(|(own, length)| Dim {
            extent: Extent::Static(*length as u64),
            ..*own
        })
        .collect();
    let mut b = draft.builder();
    let mut clauses = vec![b.ints("starts", starts), b.shape("shape", &dims)];
    if strides.iter().any(|stride| *stride != 1) {
        clauses.push(b.ints("strides", strides));
    }
    Ok(b.value(&fusion::SLICE, &[value], &clauses)?)
}

/// `stablehlo.slice`
pub fn slice(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let list = r.op.items.iter().find_map(|item| match item {
        Item::Attr(Attr::List(ranges)) => Some(ranges),
        _ => None,
    });
    let mut lists = [Vec::new(), Vec::new(), Vec::new()];
    match list {
        Some(ranges) => {
            for range in ranges {
                let Attr::Range(parts) = range else {
                    return Err(Fault::form("has a range without `:`"));
                };
                for (at, list) in lists.iter_mut().enumerate() {
                    let number = match parts.get(at) {
                        Some(part) => r.text(*part).parse().ok(),
                        None => Some(1),
                    };
                    list.push(number.ok_or_else(|| Fault::form("has a number that is too large"))?);
                }
            }
        }
        None => {
            let names = ["start_indices", "limit_indices", "strides"];
            for (list, name) in lists.iter_mut().zip(names) {
                *list = r.ints(&[name])?;
            }
        }
    }
    let [starts, limits, strides] = lists;
    one(part(
        &mut im.draft,
        r.operand(0)?,
        &starts,
        &limits,
        &strides,
    ))
}

/// `stablehlo.pad`: inserts interior elements first, then removes elements at the ends, then adds padding.
pub fn pad(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let low = r.ints(&["low", "edge_padding_low"])?;
    let high = r.ints(&["high", "edge_padding_high"])?;
    let interior = r.ints(&["interior", "interior_padding"])?;
    let (x, value) = (r.operand(0)?, r.operand(1)?);
    one(padded(&mut im.draft, x, value, [&low, &high, &interior]))
}

/// `x` with `value` before and after each axis and between its elements; a negative number removes elements at that
/// end.
pub fn padded(
    draft: &mut Draft,
    mut x: Value,
    value: Value,
    [low, high, interior]: [&[i64]; 3],
) -> Made {
    let rank = draft.dims(x).len();
    if [low.len(), high.len(), interior.len()] != [rank; 3] {
        return Err(Fault::form(format!("needs {rank} amounts of each kind")));
    }
    for (axis, between) in interior.iter().enumerate() {
        if *between != 0 {
            x = spread(draft, x, value, axis, *between)?;
        }
    }
    let own = lengths(draft, x);
    let (mut low, mut high) = (low.to_vec(), high.to_vec());
    // The amount cut off beyond the axis is cut off the padding at its other end.
    for ((low, high), length) in low.iter_mut().zip(&mut high).zip(&own) {
        (*low, *high) = within(*low, *high, *length);
        (*high, *low) = within(*high, *low, *length);
    }
    let (low, high) = (low.as_slice(), high.as_slice());
    if low.iter().chain(high).any(|n| *n < 0) {
        let cut = |n: &i64| n.checked_neg().unwrap_or(i64::MAX).max(0);
        let starts: Vec<i64> = low.iter().map(cut).collect();
        let limits = own.iter().zip(high).map(|(n, high)| n - cut(high));
        let limits: Vec<i64> = limits.collect();
        x = part(draft, x, &starts, &limits, &vec![1; rank])?;
    }
    let grow = |list: &[i64]| -> Vec<i64> { list.iter().map(|n| (*n).max(0)).collect() };
    let (low, high) = (grow(low), grow(high));
    if low.iter().chain(&high).all(|n| *n == 0) {
        return Ok(x);
    }
    border(draft, x, value, &low, &high)
}

/// The amount removed at one end of an axis, limited to its length, and the amount at the other end plus the excess,
/// which is negative.
fn within(cut: i64, other: i64, length: i64) -> (i64, i64) {
    let beyond = cut.saturating_add(length).min(0);
    (cut.saturating_sub(beyond), other.saturating_add(beyond))
}

fn border(draft: &mut Draft, x: Value, value: Value, low: &[i64], high: &[i64]) -> Made {
    let mut b = draft.builder();
    let clauses = [b.ints("low", low), b.ints("high", high)];
    Ok(b.value(&fusion::PAD, &[x, value], &clauses)?)
}

/// Inserts `between` elements after each element along `axis`, except the last one: by padding a separate axis and
/// merging it again.
fn spread(draft: &mut Draft, x: Value, value: Value, axis: usize, between: i64) -> Made {
    let own = lengths(draft, x);
    let step = between.checked_add(1).filter(|step| *step > 1);
    let whole = step.and_then(|step| own[axis].checked_mul(step));
    let (Some(step), Some(whole)) = (step, whole) else {
        return Err(Fault::form(
            "has an amount between elements that is negative or too large",
        ));
    };
    let mut apart = own.clone();
    apart.insert(axis + 1, 1);
    let x = draft.reshape(x, &extents(&apart))?;
    let mut high = vec![0; apart.len()];
    high[axis + 1] = step - 1;
    let x = border(draft, x, value, &vec![0; apart.len()], &high)?;
    let mut shape = own.clone();
    shape[axis] = whole;
    let x = draft.reshape(x, &extents(&shape))?;
    let mut limits = shape;
    limits[axis] = (whole - between).max(0);
    part(draft, x, &vec![0; own.len()], &limits, &vec![1; own.len()])
}
