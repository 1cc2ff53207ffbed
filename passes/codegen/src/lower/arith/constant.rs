//! Constants: numbers for all lanes, or a list of elements.

use fuser_ir::attr::AttrKind;
use fuser_ir::{DType, Ir, Op, float};

use super::malformed;
use crate::error::CodegenError;
use crate::expr::{Elem, Emit, Val};
use crate::lower::types::{Shape, format, register};

/// A float for all lanes, rounded once to the element type.
pub fn float_constant<'e, 'ctx>(emit: &'e Emit<'ctx>, value: f64, shape: Shape) -> Val<'e, 'ctx> {
    if shape.dtype.is_storage() {
        let bits = float::narrow(shape.dtype, value.to_bits());
        return emit.constant_int(shape.dtype.bits(), shape.lanes, bits as i64);
    }
    let elem = format(shape.dtype).elem;
    let constant = emit.constant_float(elem, shape.lanes, value);
    match elem {
        Elem::F16 | Elem::Bf16 => constant.to_bits(),
        _ => constant,
    }
}

/// The value of a `fusion.constant`.
pub fn constant<'e, 'ctx>(
    emit: &'e Emit<'ctx>,
    ir: &Ir,
    op: Op,
    shape: Shape,
) -> Result<Val<'e, 'ctx>, CodegenError> {
    let splat = |value: i64| emit.constant_int(shape.dtype.bits(), shape.lanes, value);
    Ok(match ir.attr_of(op, "value") {
        Some(AttrKind::Float { bits, .. }) => float_constant(emit, f64::from_bits(*bits), shape),
        Some(AttrKind::Int { value, .. }) if shape.dtype.is_float() => {
            float_constant(emit, nearest_float(*value, shape.dtype), shape)
        }
        Some(AttrKind::Int { value, .. }) => splat(*value as i64),
        Some(AttrKind::Bool(value)) => splat(i64::from(*value)),
        Some(AttrKind::Dense {
            dtype,
            splat,
            bytes,
            ..
        }) => dense(emit, shape, *dtype, *splat, bytes),
        _ => return Err(malformed(ir, op)),
    })
}

/// An integer as the nearest float of the type, or one that rounds to it.
fn nearest_float(value: i128, dtype: DType) -> f64 {
    let near = value as f64;
    let lost = value - near as i128;
    match dtype {
        DType::F32 => f64::from(value as f32),
        DType::F64 => near,
        _ if lost == 0 => near,
        // Towards zero and odd, so that one more rounding sees what was lost.
        _ if (lost < 0) == (value > 0) => f64::from_bits((near.to_bits() - 1) | 1),
        _ => f64::from_bits(near.to_bits() | 1),
    }
}

/// Little-endian elements, or one for all lanes.
fn dense<'e, 'ctx>(
    emit: &'e Emit<'ctx>,
    shape: Shape,
    dtype: DType,
    splat: bool,
    bytes: &[u8],
) -> Val<'e, 'ctx> {
    let width = dtype.bytes() as usize;
    let element = |index: usize| {
        let mut word = [0u8; 8];
        let from = if splat { 0 } else { index * width };
        if let Some(found) = bytes.get(from..from + width) {
            word[..width].copy_from_slice(found);
        }
        let elem = register(dtype);
        emit.constant_int(elem.bits(), None, i64::from_le_bytes(word))
            .bits_as(elem)
    };
    match shape.lanes {
        None => element(0),
        Some(lanes) => (0..lanes).fold(
            emit.undefined(register(dtype), shape.lanes),
            |vector, lane| vector.with_lane(lane, element(lane as usize)),
        ),
    }
}
