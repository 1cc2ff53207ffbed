//! Creation of tensors, and ops that move elements.

use fuser_ir::types::{DType, Extent};
use fuser_ir::{AttrKind, Op, float};

use super::{Form, Tensor, Writer, literal, refuse};
use crate::program::Made;

pub fn constant(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    let text = match w.ir.attr_of(op, "value") {
        Some(AttrKind::Float { bits, .. }) => float::print(to.dtype, *bits),
        Some(AttrKind::Int { value, .. }) if to.dtype.is_int() => value.to_string(),
        Some(AttrKind::Int { value, .. }) => literal(*value as f64, to.dtype),
        Some(AttrKind::Bool(value)) => value.to_string(),
        Some(AttrKind::Dense {
            bytes,
            splat: false,
            dtype,
            ..
        }) => {
            // Elements are written one by one, rows and all.
            let width = dtype.bytes() as usize;
            let elements: Vec<String> = bytes
                .chunks(width)
                .map(|bytes| element(bytes, *dtype))
                .collect();
            nested(&elements, &to.shape)
        }
        Some(AttrKind::Dense { bytes, dtype, .. }) => element(bytes, *dtype),
        _ => return refuse("has a value of another kind"),
    };
    Ok(w.filled(&to.shape, &text, to.dtype))
}

/// One element from its bytes.
fn element(bytes: &[u8], dtype: DType) -> String {
    let mut word = [0; 8];
    for (to, from) in word.iter_mut().zip(bytes) {
        *to = *from;
    }
    let bits = u64::from_le_bytes(word);
    let shift = 64 - 8 * dtype.bytes();
    match dtype {
        DType::I1 => (bits & 1 != 0).to_string(),
        dtype if !dtype.is_signed() => bits.to_string(),
        dtype if dtype.is_int() => ((bits << shift) as i64 >> shift).to_string(),
        dtype => float::print(dtype, float::widen(dtype, bits)),
    }
}

/// Elements in brackets, an axis inside the other.
fn nested(elements: &[String], shape: &[u64]) -> String {
    let mut rows = elements.to_vec();
    for length in shape.iter().rev() {
        let length = (*length as usize).max(1);
        rows = rows
            .chunks(length)
            .map(|row| format!("[{}]", row.join(", ")))
            .collect();
    }
    rows.join("")
}

pub fn full(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    let x = w.operand(op, 0)?;
    Ok(w.broadcast(&x, &[], &to.shape))
}

/// The number of elements of a shape, which is known.
pub fn size(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    let list = match w.ir.attr_of(op, "shape") {
        Some(AttrKind::Extents(dims)) => dims,
        _ => return refuse("has no shape"),
    };
    let lengths = list.iter().map(|dim| match dim.extent {
        Extent::Static(n) => Some(n),
        _ => None,
    });
    let Some(lengths) = lengths.collect::<Option<Vec<u64>>>() else {
        return refuse("has an extent that is no number");
    };
    let product = lengths.into_iter().fold(1, u64::wrapping_mul) as i64;
    Ok(w.filled(&to.shape, &product.to_string(), to.dtype))
}

/// Indices of 64 bits, converted: StableHLO leaves an index beyond a narrower type undefined.
pub fn iota(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    let dim = w.axis(op);
    let least = match to.dtype.is_int() {
        true => to.dtype.int_range().1,
        // Every float holds the integers up to 256, as many as bf16.
        false => 256,
    };
    let last = to.shape.get(dim).copied().unwrap_or(0);
    if i128::from(last) <= least {
        return Ok(w.iota(dim, &to.shape, to.dtype));
    }
    let indices = w.iota(dim, &to.shape, DType::I64);
    Ok(w.convert(&indices, to.dtype))
}

fn dims(w: &Writer<'_>, op: Op) -> Vec<usize> {
    w.ints(op, "dims").into_iter().map(|d| d as usize).collect()
}

pub fn broadcast(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    let (x, dims) = (w.operand(op, 0)?, dims(w, op));
    Ok(w.broadcast(&x, &dims, &to.shape))
}

pub fn expand(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    let x = w.operand(op, 0)?;
    let dims: Vec<usize> = (0..to.shape.len()).collect();
    Ok(w.broadcast(&x, &dims, &to.shape))
}

pub fn reshape(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    let x = w.operand(op, 0)?;
    Ok(w.reshaped(&x, &to.shape))
}

pub fn segment_set(w: &mut Writer<'_>, op: Op, _: &Form) -> Made<Tensor> {
    let x = w.operand(op, 0)?;
    Ok(w.kept(&x))
}

pub fn permute(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    moved(w, op, to, "stablehlo.transpose")
}

pub fn flip(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    moved(w, op, to, "stablehlo.reverse")
}

fn moved(w: &mut Writer<'_>, op: Op, to: &Form, name: &str) -> Made<Tensor> {
    let (x, dims) = (w.operand(op, 0)?, dims(w, op));
    let made = w.inner(&to.shape, to.dtype);
    w.emit(&made, name, &[&x], &format!(", dims = {dims:?}"));
    Ok(made)
}

pub fn slice(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    let x = w.operand(op, 0)?;
    let (starts, strides) = (w.ints(op, "starts"), w.ints(op, "strides"));
    if starts.len() != to.shape.len() {
        return refuse("has starts that are no numbers");
    }
    let ranges = starts.iter().enumerate().map(|(axis, start)| {
        let stride = strides.get(axis).copied().unwrap_or(1);
        let length = to.shape.get(axis).map_or(0, |n| *n as i64);
        let limit = match length {
            0 => *start,
            length => start + (length - 1) * stride + 1,
        };
        format!("{start}:{limit}:{stride}")
    });
    let ranges: Vec<String> = ranges.collect();
    let made = w.inner(&to.shape, to.dtype);
    let attributes = format!(" [{}]", ranges.join(", "));
    w.emit(&made, "stablehlo.slice", &[&x], &attributes);
    Ok(made)
}

pub fn pad(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    let (x, value) = (w.operand(op, 0)?, w.operand(op, 1)?);
    let (low, high) = (w.ints(op, "low"), w.ints(op, "high"));
    if low.len() != to.shape.len() || high.len() != to.shape.len() {
        return refuse("has amounts that are no numbers");
    }
    let interior = vec![0; low.len()];
    let amounts = format!(", low = {low:?}, high = {high:?}, interior = {interior:?}");
    let made = w.inner(&to.shape, to.dtype);
    w.emit(&made, "stablehlo.pad", &[&x, &value], &amounts);
    Ok(made)
}

pub fn cat(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    let (all, dim) = (w.operands(op)?, w.axis(op));
    Ok(w.joined(&all, dim, &to.shape))
}

/// The last elements, then the others.
pub fn roll(w: &mut Writer<'_>, op: Op, _: &Form) -> Made<Tensor> {
    let (x, dim) = (w.operand(op, 0)?, w.axis(op));
    let length = x.shape.get(dim).copied().unwrap_or(0);
    let shift = w.ir.int_of(op, "shift").unwrap_or(0);
    let first = match length as i64 {
        0 => 0,
        length => shift.rem_euclid(length) as u64,
    };
    if first == 0 {
        return Ok(x);
    }
    let parts = [(length - first, length), (0, length - first)].map(|range| {
        let whole = x.shape.iter().map(|n| (0, *n));
        let mut bounds: Vec<(u64, u64)> = whole.collect();
        bounds[dim] = range;
        w.cut(&x, &bounds)
    });
    let shape = x.shape.clone();
    Ok(w.joined(&parts, dim, &shape))
}

/// True where the operand's element is the index along the new axis.
pub fn one_hot(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    let (indices, dim) = (w.operand(op, 0)?, w.axis(op));
    let dims: Vec<usize> = (0..to.shape.len()).filter(|axis| *axis != dim).collect();
    let indices = w.convert(&indices, DType::I64);
    let wide = w.broadcast(&indices, &dims, &to.shape);
    let places = w.iota(dim, &to.shape, DType::I64);
    let here = w.test("EQ", &wide, &places);
    Ok(w.convert(&here, to.dtype))
}
