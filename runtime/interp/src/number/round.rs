//! Rounding between formats: once, to nearest even, for any pair of formats.
//!
//! Guarantees the correctly rounded result, even where hardware would round twice (f64 to f16 through f32).

use fuser_ir::{DType, float};
use half::{bf16, f16};

use super::small;

/// `x` as f32, rounded to odd: an inexact result has its last bit set. A second rounding to a narrower format then
/// equals a single rounding of `x`.
pub fn f32_to_odd(x: f64) -> f32 {
    let nearest = x as f32;
    if nearest as f64 == x || x.is_nan() {
        return nearest;
    }
    let away = (nearest as f64).abs() > x.abs();
    f32::from_bits((nearest.to_bits() - u32::from(away)) | 1)
}

/// `x` as f64, rounded to odd.
pub fn f64_to_odd(x: i128) -> f64 {
    let nearest = x as f64;
    let back = nearest as i128;
    if back == x {
        return nearest;
    }
    let away = back.abs() > x.abs();
    f64::from_bits((nearest.to_bits() - u64::from(away)) | 1)
}

/// `x` as f32, rounded once. A NaN keeps its upper bits, which instructions would make quiet: moving data must preserve
/// them.
pub fn f32_from(x: f64) -> f32 {
    if x.is_nan() {
        return f32::from_bits(float::narrow(DType::F32, x.to_bits()) as u32);
    }
    x as f32
}

/// `x` as f16, rounded once; a NaN as by [`f32_from`].
pub fn f16_from(x: f64) -> f16 {
    if x.is_nan() {
        return f16::from_bits(float::narrow(DType::F16, x.to_bits()) as u16);
    }
    f16::from_f32(f32_to_odd(x))
}

/// `x` as bf16, rounded once; a NaN as by [`f32_from`].
pub fn bf16_from(x: f64) -> bf16 {
    if x.is_nan() {
        return bf16::from_bits(float::narrow(DType::BF16, x.to_bits()) as u16);
    }
    bf16::from_f32(f32_to_odd(x))
}

/// The f32 with the value of a 16-bit float; a NaN keeps its bits.
pub fn f32_of(dtype: DType, bits: u16) -> f32 {
    f32_from(widened(dtype, bits.into()))
}

/// The exact value of `bits` as a float of type `dtype`; a NaN keeps its bits.
pub fn widened(dtype: DType, bits: u64) -> f64 {
    f64::from_bits(float::widen(dtype, bits))
}

/// `x` rounded once to the float type `dtype`. Other types leave `x` unchanged, and types with NaN leave a NaN
/// unchanged.
pub fn to_dtype(x: f64, dtype: DType) -> f64 {
    match dtype {
        // The only type without NaN.
        DType::F4E2M1FN => small::value(dtype, small::rounded(dtype, x)),
        _ if x.is_nan() => x,
        DType::F32 => f64::from(x as f32),
        DType::F16 => f16_from(x).to_f64(),
        DType::BF16 => bf16_from(x).to_f64(),
        _ if dtype.is_storage() => small::value(dtype, small::rounded(dtype, x)),
        _ => x,
    }
}

/// `x` rounded once to the float type `dtype`.
pub fn int_to_dtype(x: i128, dtype: DType) -> f64 {
    match dtype {
        DType::F64 => x as f64,
        DType::F32 => f64::from(x as f32),
        _ => to_dtype(f64_to_odd(x), dtype),
    }
}

/// `x` modulo two to the width of the integer type `dtype`, interpreted in that type.
pub fn wrap(x: i128, dtype: DType) -> i128 {
    let unused = 128 - dtype.bits();
    match dtype.is_signed() {
        true => x << unused >> unused,
        false => ((x as u128) << unused >> unused) as i128,
    }
}

/// `x` truncated toward zero and clamped to the integer type `dtype`; NaN gives 0.
pub fn saturate(x: f64, dtype: DType) -> i128 {
    let (low, high) = dtype.int_range();
    (x as i128).clamp(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f64_to_narrow_rounds_once() {
        // 1 + 2^-11 is half way between two f16; the last bit of the f64 decides.
        let tie = 1.0 + 2f64.powi(-11);
        let above = f64::from_bits(tie.to_bits() + 1);
        assert_eq!(f16_from(tie).to_bits(), 0x3c00);
        assert_eq!(f16_from(above).to_bits(), 0x3c01);
        let tie = 1.0 + 2f64.powi(-8);
        let above = f64::from_bits(tie.to_bits() + 1);
        assert_eq!(bf16_from(tie).to_bits(), 0x3f80);
        assert_eq!(bf16_from(above).to_bits(), 0x3f81);
    }

    #[test]
    fn edges_of_the_narrow_formats() {
        assert_eq!(f16_from(65519.999).to_f64(), 65504.0);
        assert_eq!(f16_from(65520.0).to_f64(), f64::INFINITY);
        assert_eq!(f16_from(2f64.powi(-25)).to_bits(), 0);
        assert_eq!(f16_from(2f64.powi(-25) * 1.0001).to_bits(), 1);
        assert_eq!(f16_from(-1e-300).to_bits(), 0x8000);
        assert_eq!(f16_from(1e300).to_f64(), f64::INFINITY);
        assert!(f16_from(f64::NAN).is_nan() && bf16_from(f64::NAN).is_nan());
    }

    #[test]
    fn integers_round_once() {
        // 2^60 + 2^52 is a tie of bf16; plus one it is above, which f64 cannot tell.
        let tie = (1i128 << 60) + (1 << 52);
        assert_eq!(int_to_dtype(tie, DType::BF16), 2f64.powi(60));
        assert_eq!(
            int_to_dtype(tie + 1, DType::BF16),
            2f64.powi(60) + 2f64.powi(53)
        );
        assert_eq!(int_to_dtype(i64::MIN.into(), DType::BF16), -(2f64.powi(63)));
        assert_eq!(int_to_dtype(i64::MAX.into(), DType::F32), 2f64.powi(63));
        assert_eq!(int_to_dtype(70000, DType::F16), f64::INFINITY);
    }

    #[test]
    fn integers_wrap_and_saturate() {
        assert_eq!(wrap(128, DType::I8), -128);
        assert_eq!(wrap(-1, DType::U8), 255);
        assert_eq!(wrap(3, DType::I1), 1);
        assert_eq!(wrap(-1, DType::U64), u64::MAX.into());
        assert_eq!(wrap(1 << 63, DType::I64), i64::MIN.into());
        assert_eq!(wrap(i64::MIN.into(), DType::I32), 0);
        assert_eq!(saturate(1e300, DType::I8), 127);
        assert_eq!(saturate(-1e300, DType::I64), i64::MIN.into());
        assert_eq!(saturate(-0.9, DType::U8), 0);
        assert_eq!(saturate(2f64.powi(63), DType::U64), 1 << 63);
        assert_eq!(saturate(2f64.powi(64), DType::U64), u64::MAX.into());
        assert_eq!(saturate(f64::NAN, DType::I32), 0);
    }
}
