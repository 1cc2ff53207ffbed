//! Keys: unsigned integers that order as the elements of a tensor do.
//!
//! ```text
//! f32   negative      all bits inverted       -1.0 0xbf800000 => 0x407fffff
//!       positive      the sign bit set         1.0 0x3f800000 => 0xbf800000
//!       zero          as +0; NaN: all bits set
//! i32   the sign bit inverted;  ui32, i1   as they are
//! ```

use fuser_dialects::fusion;
use fuser_ir::{AttrKind, DType, Value};

use crate::lower::build::KernelBuilder;

/// The type of the keys of elements of type `dtype`.
pub(super) const fn key_type(dtype: DType) -> DType {
    match dtype.bits() {
        64 => DType::U64,
        _ => DType::U32,
    }
}

/// Bits of a key.
pub(super) const fn key_bits(dtype: DType) -> u32 {
    dtype.bits()
}

/// The unsigned type of the width of `dtype`.
pub(super) const fn unsigned(dtype: DType) -> DType {
    match dtype.bits() {
        33.. => DType::U64,
        17.. => DType::U32,
        16 => DType::U16,
        _ => DType::U8,
    }
}

/// Stored bits of the fraction of a float.
const fn fraction(dtype: DType) -> u32 {
    match dtype {
        DType::F64 => 52,
        DType::F32 => 23,
        DType::F16 => 10,
        _ => 7,
    }
}

/// The key of an element: smaller keys come first.
pub(super) fn key(
    k: &mut KernelBuilder<'_>,
    element: Value,
    dtype: DType,
    descending: bool,
) -> Value {
    let wide = key_type(dtype);
    let bits = key_bits(dtype);
    let number = |k: &mut KernelBuilder<'_>, n: u64| k.int_constant(n, wide);
    let raw = match dtype {
        DType::I1 => k.cast(element, wide),
        DType::Index => {
            let signed = k.cast(element, DType::I64);
            cast_bits(k, signed, wide)
        }
        _ => {
            let bits = cast_bits(k, element, unsigned(dtype));
            k.cast(bits, wide)
        }
    };
    let all = u64::MAX >> (64 - bits);
    let sign = (all >> 1) + 1;
    let ordered = if dtype.is_float() {
        let (every, top) = (number(k, all), number(k, sign));
        let magnitude = number(k, sign - 1);
        let magnitude = k.binary(&fusion::AND, raw, magnitude);
        let infinity = number(k, sign - (1 << fraction(dtype)));
        let nan = k.compare("gt", magnitude, infinity);
        let none = number(k, 0);
        let zero = k.compare("eq", magnitude, none);
        let negative = k.compare("ge", raw, top);
        let inverted = k.binary(&fusion::XOR, raw, every);
        let raised = k.binary(&fusion::OR, raw, top);
        let sided = k.select(negative, inverted, raised);
        let number = k.select(zero, top, sided);
        k.select(nan, every, number)
    } else if dtype.is_signed() {
        let top = number(k, sign);
        k.binary(&fusion::XOR, raw, top)
    } else {
        raw
    };
    if !descending {
        return ordered;
    }
    let every = number(k, all);
    k.binary(&fusion::XOR, ordered, every)
}

fn cast_bits(k: &mut KernelBuilder<'_>, value: Value, dtype: DType) -> Value {
    if k.ir.value_kind(value).dtype() == Some(dtype) {
        return value;
    }
    let ty = k.ir.scalar(dtype);
    let to = k.ir.attr(AttrKind::Type(ty));
    k.value(&fusion::BITCAST, &[value], &[("to", to)], ty)
}
