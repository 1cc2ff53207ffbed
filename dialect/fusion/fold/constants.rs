//! Constants of folds: the number that a value is known to hold everywhere, and attributes for computed numbers.

use fuser_ir::attr::AttrKind;
use fuser_ir::types::{DType, TypeId};
use fuser_ir::{AttrId, Ir, Value, float};

use super::scalar::{Number, Scalar, int_to_float};
use crate::fusion::CONSTANT;
use crate::fusion::build::{float_attr, int_attr};

/// The one element that `value` holds everywhere, if a `fusion.constant` makes it from a number.
pub fn uniform(ir: &Ir, value: Value) -> Option<Scalar> {
    let op = ir.def_op(value).filter(|op| ir.is(*op, &CONSTANT))?;
    let dtype = ir.value_kind(value).dtype()?;
    number(ir.attr_of(op, "value")?, dtype)
}

/// A number attribute as an element of `dtype`.
pub fn number(attr: &AttrKind, dtype: DType) -> Option<Scalar> {
    match attr {
        // No attribute is a pair.
        _ if dtype.is_complex() => None,
        AttrKind::Bool(b) => Some(Scalar::truth(*b)),
        AttrKind::Int { value, .. } if dtype.is_int() => Some(Scalar::int(*value, dtype)),
        AttrKind::Int { value, .. } => int_to_float(*value, dtype),
        AttrKind::Float { bits, .. } if dtype.is_float() => {
            Some(Scalar::float(f64::from_bits(*bits), dtype))
        }
        AttrKind::Dense {
            splat: true, bytes, ..
        } => element(bytes, dtype),
        _ => None,
    }
}

/// One little-endian element.
fn element(bytes: &[u8], dtype: DType) -> Option<Scalar> {
    if bytes.len() as u64 != dtype.bytes() {
        return None;
    }
    let bits = bytes
        .iter()
        .rev()
        .fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
    let float = match dtype {
        DType::F64 => f64::from_bits(bits),
        DType::F32 => f64::from(f32::from_bits(bits as u32)),
        DType::F16 => half::f16::from_bits(bits as u16).to_f64(),
        DType::BF16 => half::bf16::from_bits(bits as u16).to_f64(),
        _ if dtype.is_storage() => f64::from_bits(float::widen(dtype, bits)),
        _ => return Some(Scalar::int(bits.into(), dtype)),
    };
    Some(Scalar::float(float, dtype))
}

/// The attribute of a constant of type `ty` that holds `scalar` everywhere.
pub fn attribute(ir: &mut Ir, scalar: Scalar, ty: TypeId) -> AttrId {
    match scalar.number {
        Number::Int(v) if scalar.dtype == DType::I1 => ir.attr(AttrKind::Bool(v != 0)),
        Number::Int(v) => int_attr(ir, v, ty),
        Number::Float(v) => float_attr(ir, v, ty),
    }
}
