//! Floats of 8 and 4 bits by the definitions of their formats: each value from its fields, each rounding by a search
//! among all values.
//!
//! The code is slow, but short enough to be compared with the definitions by eye.

use fuser_ir::{DType, float};

/// Declares a type that holds the bits of one element.
macro_rules! small {
    ($($name:ident)*) => {
        $(
            /// One element, as its bits.
            #[derive(Clone, Copy, PartialEq, Eq, Debug)]
            pub struct $name(pub u8);

            impl $name {
                /// `x`, rounded once.
                pub fn from_f64(x: f64) -> Self {
                    Self(rounded(DType::$name, x))
                }
                /// The value; a NaN keeps its bits.
                pub fn to_f64(self) -> f64 {
                    value(DType::$name, self.0)
                }
                /// The element that one byte holds.
                pub fn from_le_bytes(bytes: [u8; 1]) -> Self {
                    Self(bytes[0])
                }
                /// The byte that holds the element.
                pub fn to_le_bytes(self) -> [u8; 1] {
                    [self.0]
                }
            }
        )*
    };
}

small! { F8E4M3FN F8E5M2 F8E8M0FNU F4E2M1FN }

/// Bits of the exponent's field, of the fraction's field, and the sign's.
fn fields(dtype: DType) -> (i32, i32, u8) {
    match dtype {
        DType::F8E4M3FN => (4, 3, 0x80),
        DType::F8E5M2 => (5, 2, 0x80),
        DType::F4E2M1FN => (2, 1, 0x8),
        _ => (8, 0, 0),
    }
}

/// The greatest bits without a sign that are a number.
fn last(dtype: DType) -> u8 {
    match dtype {
        DType::F8E4M3FN => 0x7e,
        DType::F8E5M2 => 0x7b,
        DType::F4E2M1FN => 0x7,
        _ => 0xfe,
    }
}

/// The number encoded by the fields of `magnitude`, even if the format uses these bits otherwise.
fn number(dtype: DType, magnitude: u8) -> f64 {
    let (exponent_bits, fraction_bits, _) = fields(dtype);
    let bias = (1 << (exponent_bits - 1)) - 1;
    let exponent = i32::from(magnitude) >> fraction_bits;
    let fraction = f64::from(i32::from(magnitude) & ((1 << fraction_bits) - 1));
    let fraction = fraction / f64::from(1 << fraction_bits);
    match exponent {
        0 if dtype != DType::F8E8M0FNU => fraction * 2f64.powi(1 - bias),
        _ => (1.0 + fraction) * 2f64.powi(exponent - bias),
    }
}

/// The value of an element; a NaN keeps its bits.
pub fn value(dtype: DType, bits: u8) -> f64 {
    let sign = bits & fields(dtype).2;
    let magnitude = bits - sign;
    let value = match magnitude <= last(dtype) {
        true => number(dtype, magnitude),
        false if dtype == DType::F8E5M2 && magnitude == 0x7c => f64::INFINITY,
        false => return f64::from_bits(float::widen(dtype, bits.into())),
    };
    if sign == 0 { value } else { -value }
}

/// The element nearest to `x`. Among two equally near ones, the even one; among two powers of two, the greater. Between
/// the two least powers, the greater for everything except the least itself. A NaN keeps its upper bits; in a type
/// without NaN it becomes -0.
pub fn rounded(dtype: DType, x: f64) -> u8 {
    let powers = dtype == DType::F8E8M0FNU;
    if x.is_nan() {
        return float::narrow(dtype, x.to_bits()) as u8;
    }
    if powers && x <= 0.0 {
        return last(dtype) + 1;
    }
    let sign = match x.is_sign_negative() {
        true => fields(dtype).2,
        false => 0,
    };
    let up = |below: u8| {
        let (low, high) = (number(dtype, below), number(dtype, below + 1));
        match powers {
            true if below == 0 => x > low,
            true => x >= (low + high) / 2.0,
            false if below % 2 == 1 => x.abs() >= (low + high) / 2.0,
            false => x.abs() > (low + high) / 2.0,
        }
    };
    // Beyond the last number stands infinity or NaN; where it is NaN beside numbers with a sign, or nothing, the last number stays.
    let end = match dtype {
        DType::F8E4M3FN | DType::F4E2M1FN => last(dtype),
        _ => last(dtype) + 1,
    };
    let climb = |bits: u8, step: u8| match bits.checked_add(step) {
        Some(next) if next <= end && up(next - 1) => next,
        _ => bits,
    };
    sign | [128, 64, 32, 16, 8, 4, 2, 1].into_iter().fold(0, climb)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [DType; 4] = [
        DType::F8E4M3FN,
        DType::F8E5M2,
        DType::F8E8M0FNU,
        DType::F4E2M1FN,
    ];

    #[test]
    fn every_element_comes_back() {
        for dtype in ALL {
            for bits in 0..=u8::MAX >> (8 - dtype.bits()) {
                assert_eq!(
                    rounded(dtype, value(dtype, bits)),
                    bits,
                    "{dtype:?} {bits:#x}"
                );
            }
        }
    }

    #[test]
    fn numbers_ascend_and_round_at_the_middle() {
        for dtype in ALL {
            for bits in u8::from(dtype == DType::F8E8M0FNU)..last(dtype) {
                let (low, high) = (value(dtype, bits), value(dtype, bits + 1));
                assert!(low < high);
                let middle = (low + high) / 2.0;
                let even = match dtype {
                    DType::F8E8M0FNU => bits + 1,
                    _ => bits + bits % 2,
                };
                let beside = |step| f64::from_bits(middle.to_bits().wrapping_add_signed(step));
                let three = [beside(-1), middle, beside(1)].map(|x| rounded(dtype, x));
                assert_eq!(three, [bits, even, bits + 1], "{dtype:?} {bits:#x}");
            }
        }
    }

    #[test]
    fn what_has_no_number_near() {
        for (dtype, x, bits) in [
            (DType::F8E4M3FN, 1e9, 0x7e),
            (DType::F8E4M3FN, f64::NEG_INFINITY, 0xfe),
            (DType::F8E4M3FN, f64::NAN, 0x7f),
            (DType::F8E5M2, 61440.0, 0x7c),
            (DType::F8E5M2, -61439.0, 0xfb),
            (DType::F8E5M2, f64::NEG_INFINITY, 0xfc),
            (DType::F8E8M0FNU, 0.0, 0xff),
            (DType::F8E8M0FNU, -2.0, 0xff),
            (DType::F8E8M0FNU, 5e-324, 0x00),
            (DType::F8E8M0FNU, 2f64.powi(-127), 0x00),
            (DType::F8E8M0FNU, 2f64.powi(-127).next_up(), 0x01),
            (DType::F8E8M0FNU, f64::INFINITY, 0xff),
            (DType::F4E2M1FN, 1e300, 0x7),
            (DType::F4E2M1FN, f64::NEG_INFINITY, 0xf),
            (DType::F4E2M1FN, f64::NAN, 0x8),
            (DType::F4E2M1FN, -f64::NAN, 0x8),
            (DType::F4E2M1FN, -0.1, 0x8),
        ] {
            assert_eq!(rounded(dtype, x), bits, "{dtype:?} {x}");
        }
    }
}
