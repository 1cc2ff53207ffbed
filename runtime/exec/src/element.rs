//! Single elements of any type as numbers, and their conversion from and to bytes.
//!
//! Conversions round once, to nearest even. Nothing here is for bulk work inside kernels; it serves inputs, files and tests.

use fuser_artifact::{DType, Kind};
use half::{bf16, f16};

use crate::small;

/// The element as `f64`; for a complex number, its real part. Exact except for integers beyond 2^53, which round.
pub fn to_f64(dtype: DType, bytes: &[u8]) -> Option<f64> {
    match dtype {
        DType::C64 | DType::C128 if bytes.len() != dtype.bytes() => None,
        DType::C64 | DType::C128 => to_f64(dtype.part(), &bytes[..dtype.part().bytes()]),
        DType::F64 => Some(f64::from_le_bytes(bytes.try_into().ok()?)),
        DType::F32 => Some(f32::from_le_bytes(bytes.try_into().ok()?).into()),
        DType::F16 => Some(f16::from_le_bytes(bytes.try_into().ok()?).into()),
        DType::Bf16 => Some(bf16::from_le_bytes(bytes.try_into().ok()?).into()),
        _ if dtype.is_storage() => bytes.first().map(|bits| small::to_f64(dtype, *bits)),
        _ => to_int(dtype, bytes).map(|value| value as f64),
    }
}

/// The element as an integer; `None` for floating-point types.
pub fn to_int(dtype: DType, bytes: &[u8]) -> Option<i128> {
    if bytes.len() != dtype.bytes() {
        return None;
    }
    let mut wide = [0; 16];
    wide[..bytes.len()].copy_from_slice(bytes);
    let bits = i128::from_le_bytes(wide);
    let unused = 128 - 8 * bytes.len() as u32;
    match dtype.kind() {
        Kind::Float | Kind::Complex => None,
        Kind::Signed => Some(bits << unused >> unused),
        Kind::Unsigned => Some(bits),
        Kind::Truth => Some(i128::from(bits != 0)),
    }
}

/// The element in the fewest digits that parse back to it; for a complex number, both parts.
pub fn text(dtype: DType, bytes: &[u8]) -> Option<String> {
    Some(match dtype.kind() {
        Kind::Truth => (to_int(dtype, bytes)? != 0).to_string(),
        Kind::Signed | Kind::Unsigned => to_int(dtype, bytes)?.to_string(),
        Kind::Complex => {
            let (real, imaginary) = bytes.split_at_checked(dtype.part().bytes())?;
            let imaginary = text(dtype.part(), imaginary)?;
            let sign = if imaginary.starts_with('-') { "" } else { "+" };
            format!("{}{sign}{imaginary}j", text(dtype.part(), real)?)
        }
        Kind::Float if dtype == DType::F64 => format!("{:?}", to_f64(dtype, bytes)?),
        // All others are values of f32.
        Kind::Float => format!("{:?}", to_f64(dtype, bytes)? as f32),
    })
}

/// The bytes of an element, in an array of the widest type's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoded {
    bytes: [u8; 16],
    len: usize,
}

impl Encoded {
    fn new<const N: usize>(value: [u8; N]) -> Encoded {
        let mut bytes = [0; 16];
        bytes
            .iter_mut()
            .zip(value)
            .for_each(|(to, from)| *to = from);
        Encoded { bytes, len: N }
    }

    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

/// A real number as an element. A complex type gets the imaginary part 0, a floating-point type rounds, and an integer
/// type saturates (NaN becomes 0).
pub fn from_f64(dtype: DType, value: f64) -> Encoded {
    match dtype {
        DType::F64 => Encoded::new(value.to_le_bytes()),
        DType::F32 => Encoded::new((value as f32).to_le_bytes()),
        DType::F16 => Encoded::new(f16::from_f32(round_to_odd(value)).to_le_bytes()),
        DType::Bf16 => Encoded::new(bf16::from_f32(round_to_odd(value)).to_le_bytes()),
        _ if dtype.is_storage() => Encoded::new([small::from_f64(dtype, value)]),
        DType::C64 | DType::C128 => Encoded {
            len: dtype.bytes(),
            ..from_f64(dtype.part(), value)
        },
        _ => from_int(dtype, value as i128),
    }
}

/// An integer as an element: rounded to a floating-point type, saturated to an integer type.
pub fn from_int(dtype: DType, value: i128) -> Encoded {
    match dtype.integer_range() {
        Some((low, high)) => {
            let mut encoded = Encoded::new((value.clamp(low, high) as i64).to_le_bytes());
            encoded.len = dtype.bytes();
            encoded
        }
        None if dtype.is_complex() => Encoded {
            len: dtype.bytes(),
            ..from_int(dtype.part(), value)
        },
        None if dtype == DType::F32 => Encoded::new((value as f32).to_le_bytes()),
        // Generated integers are far below 2^53, where the way over f64 is exact.
        None => from_f64(dtype, value as f64),
    }
}

/// Rounds to `f32` towards zero, with the last bit set if the result is inexact. A second rounding to a narrower type
/// then equals a single rounding (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
fn round_to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) == value || value.is_nan() {
        return nearest;
    }
    let away = f64::from(nearest).abs() > value.abs();
    let towards_zero = nearest.to_bits() - u32::from(away);
    f32::from_bits(towards_zero | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_type_holds_round_trips() {
        for dtype in DType::ALL {
            let positive = dtype == DType::F8E8M0FNU;
            for value in [i128::from(positive), 1] {
                let encoded = from_int(dtype, value);
                assert_eq!(encoded.as_bytes().len(), dtype.bytes());
                assert_eq!(to_f64(dtype, encoded.as_bytes()), Some(value as f64));
            }
            let Some((low, high)) = dtype.integer_range() else {
                continue;
            };
            for value in [low, high] {
                let encoded = from_int(dtype, value);
                assert_eq!(to_int(dtype, encoded.as_bytes()), Some(value), "{dtype}");
            }
        }
        assert_eq!(to_f64(DType::F32, &[0; 3]), None);
    }

    #[test]
    fn every_half_round_trips() {
        for bits in 0..=u16::MAX {
            for dtype in [DType::F16, DType::Bf16] {
                let value = to_f64(dtype, &bits.to_le_bytes()).unwrap();
                if !value.is_nan() {
                    let encoded = from_f64(dtype, value);
                    assert_eq!(encoded.as_bytes(), bits.to_le_bytes());
                }
            }
        }
        let nan = from_f64(DType::Bf16, f64::NAN);
        assert!(to_f64(DType::Bf16, nan.as_bytes()).unwrap().is_nan());
    }

    #[test]
    fn rounding_to_a_half_happens_once() {
        // Just above the midpoint of 1 and its successor: rounding to f32 first would land on the midpoint and go down.
        for (dtype, ulp) in [(DType::F16, 2f64.powi(-10)), (DType::Bf16, 2f64.powi(-7))] {
            let round = |value| to_f64(dtype, from_f64(dtype, value).as_bytes()).unwrap();
            let midpoint = 1.0 + ulp / 2.0;
            assert_eq!(round(midpoint), 1.0);
            assert_eq!(round(midpoint + 2f64.powi(-40)), 1.0 + ulp);
            assert_eq!(round(-midpoint - 2f64.powi(-40)), -1.0 - ulp);
            assert_eq!(round(1.0 + 1.5 * ulp - 2f64.powi(-40)), 1.0 + ulp);
            assert_eq!(round(1e300), f64::INFINITY);
            assert_eq!(round(-1e-300), 0.0);
        }
    }

    #[test]
    fn integers_saturate() {
        for (dtype, value, expected) in [
            (DType::U8, -3.0, 0),
            (DType::U8, 300.0, 255),
            (DType::I8, f64::NAN, 0),
            (DType::I1, 9.0, 1),
            (DType::U64, 1e300, u64::MAX.into()),
            (DType::U64, 2f64.powi(63), 1 << 63),
            (DType::I16, -1e9, i16::MIN.into()),
            (DType::I32, f64::INFINITY, i32::MAX.into()),
        ] {
            let encoded = from_f64(dtype, value);
            assert_eq!(to_int(dtype, encoded.as_bytes()), Some(expected));
        }
    }
}
