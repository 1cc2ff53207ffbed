//! Conversion between floats of at most 8 bits and their codes, and access to codes that share a byte.
//!
//! Rounds once, to nearest even. Overflow becomes infinity in `f8E5M2`, and the greatest number in `f8E4M3FN` and
//! `f4E2M1FN`. In those two, NaN becomes -0. In `f8E8M0FNU`, a number half-way between two powers of two rounds up, as
//! does any number between the two least ones. Numbers that are not positive or out of range become NaN there.

use fuser_artifact::DType;

/// Bits of the fraction, bias of the exponent, and the code of the greatest magnitude, infinity included.
fn format(dtype: DType) -> (u32, i32, u8) {
    match dtype {
        DType::F8E4M3FN => (3, 7, 0x7e),
        DType::F8E5M2 => (2, 15, 0x7c),
        DType::F4E2M1FN => (1, 1, 0x7),
        _ => (0, 127, 0xfe),
    }
}

/// The bit of the sign.
fn sign_bit(dtype: DType) -> u8 {
    match dtype {
        DType::F4E2M1FN => 0x8,
        _ => 0x80,
    }
}

/// The code at place `at` of a byte, the lowest bits first.
pub fn part(dtype: DType, byte: u8, at: usize) -> u8 {
    let bits = 8 / dtype.per_byte();
    byte >> (at * bits) & (u8::MAX >> (8 - bits))
}

/// The byte of codes, the first in the lowest bits.
pub fn together(dtype: DType, codes: &[u8]) -> u8 {
    let bits = 8 / dtype.per_byte();
    let places = codes.iter().enumerate();
    places.fold(0, |byte, (at, code)| byte | code << (at * bits))
}

/// The value; exact. Signs and payloads of NaN are not kept.
pub fn to_f64(dtype: DType, code: u8) -> f64 {
    let (fraction_bits, bias, most) = format(dtype);
    if dtype == DType::F8E8M0FNU {
        return match code <= most {
            true => 2f64.powi(i32::from(code) - bias),
            false => f64::NAN,
        };
    }
    let sign = code & sign_bit(dtype);
    let magnitude = code - sign;
    let exponent = i32::from(magnitude >> fraction_bits);
    let fraction = i32::from(magnitude) & ((1 << fraction_bits) - 1);
    let hidden = i32::from(exponent > 0) << fraction_bits;
    let value = match magnitude {
        _ if magnitude > most => f64::NAN,
        0x7c if dtype == DType::F8E5M2 => f64::INFINITY,
        _ => {
            f64::from(hidden + fraction) * 2f64.powi(exponent.max(1) - bias - fraction_bits as i32)
        }
    };
    if sign != 0 { -value } else { value }
}

/// The code of the nearest element.
pub fn from_f64(dtype: DType, value: f64) -> u8 {
    let (fraction_bits, bias, most) = format(dtype);
    let exponent = (value.abs().to_bits() >> 52) as i32 - 1023;
    if dtype == DType::F8E8M0FNU {
        let fraction = value.to_bits() << 12;
        let up = match exponent + bias {
            0 => fraction > 0,
            _ => fraction >= 1 << 63,
        };
        return match value > 0.0 {
            true => (exponent + bias + i32::from(up)).clamp(0, 0xff) as u8,
            false => 0xff,
        };
    }
    let sign = match value.is_sign_negative() {
        true => sign_bit(dtype),
        false => 0,
    };
    if value.is_nan() && dtype == DType::F4E2M1FN {
        return sign_bit(dtype);
    }
    if value.is_nan() {
        return sign | 0x7f;
    }
    // Units in the last place of the value's binade, and the binade's own number.
    let binade = exponent.max(1 - bias);
    let unit = 2f64.powi(binade - fraction_bits as i32);
    let units = (value.abs() / unit).round_ties_even() as i64;
    let below = i64::from(binade - (1 - bias)) << fraction_bits;
    sign | (below.saturating_add(units)).min(most.into()) as u8
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
    fn every_code_comes_back() {
        for dtype in ALL {
            for byte in 0..=u8::MAX >> (8 - 8 / dtype.per_byte()) {
                let value = to_f64(dtype, byte);
                match value.is_nan() {
                    true => assert!(to_f64(dtype, from_f64(dtype, value)).is_nan()),
                    false => assert_eq!(from_f64(dtype, value), byte, "{dtype} {value}"),
                }
            }
        }
    }

    #[test]
    fn codes_of_numbers() {
        for (dtype, value, byte) in [
            (DType::F8E4M3FN, 448.0, 0x7e),
            (DType::F8E4M3FN, 464.1, 0x7e),
            (DType::F8E4M3FN, f64::NEG_INFINITY, 0xfe),
            (DType::F8E4M3FN, 2f64.powi(-10), 0x00),
            (DType::F8E4M3FN, 1.5 * 2f64.powi(-9), 0x02),
            (DType::F8E4M3FN, 17.0, 0x58),
            (DType::F8E4M3FN, 19.0, 0x5a),
            (DType::F8E4M3FN, -0.0, 0x80),
            (DType::F8E5M2, 61440.0, 0x7c),
            (DType::F8E5M2, 61439.0, 0x7b),
            (DType::F8E5M2, 1e300, 0x7c),
            (DType::F8E5M2, -5e-324, 0x80),
            (DType::F8E8M0FNU, 1.5, 0x80),
            (DType::F8E8M0FNU, 1.49, 0x7f),
            (DType::F8E8M0FNU, 1e-300, 0x00),
            (DType::F8E8M0FNU, 2f64.powi(-127), 0x00),
            (DType::F8E8M0FNU, 1.25 * 2f64.powi(-127), 0x01),
            (DType::F8E8M0FNU, 1e300, 0xff),
            (DType::F8E8M0FNU, f64::NAN, 0xff),
            (DType::F8E8M0FNU, 0.0, 0xff),
            (DType::F4E2M1FN, 0.25, 0x0),
            (DType::F4E2M1FN, 0.26, 0x1),
            (DType::F4E2M1FN, 0.75, 0x2),
            (DType::F4E2M1FN, -1.25, 0xa),
            (DType::F4E2M1FN, 2.5, 0x4),
            (DType::F4E2M1FN, 5.0, 0x6),
            (DType::F4E2M1FN, -1e300, 0xf),
            (DType::F4E2M1FN, f64::INFINITY, 0x7),
            (DType::F4E2M1FN, -f64::NAN, 0x8),
        ] {
            assert_eq!(from_f64(dtype, value), byte, "{dtype} {value}");
        }
    }
}
