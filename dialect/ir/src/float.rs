//! Floating-point literals: decimal text to the bits of an element type and back, without loss.
//!
//! Attributes keep every float as the bits of an f64 that holds the value exactly; NaN payloads move with their most
//! significant bits. Parsing rounds once, to nearest even, straight to the element type; printing gives the shortest
//! decimal that parses back to the same bits. Never prints a NaN or an infinity as a decimal.

use std::cmp::Ordering;

use crate::types::DType;

/// The bits of a float type with a sign.
#[derive(Clone, Copy)]
struct Layout {
    exponent_bits: u32,
    fraction_bits: u32,
    specials: Specials,
}

/// The values of a float type that are no finite numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Specials {
    /// The top exponent is for infinity and NaN.
    Ieee,
    /// Every bit set is NaN, and there is no infinity.
    Nan,
    /// There are none.
    None,
}

/// The layout of a float type; `None` for other types and for the type of powers of two.
const fn layout(dtype: DType) -> Option<Layout> {
    let (exponent_bits, fraction_bits, specials) = match dtype {
        DType::F64 => (11, 52, Specials::Ieee),
        DType::F32 => (8, 23, Specials::Ieee),
        DType::F16 => (5, 10, Specials::Ieee),
        DType::BF16 => (8, 7, Specials::Ieee),
        DType::F8E4M3FN => (4, 3, Specials::Nan),
        DType::F8E5M2 => (5, 2, Specials::Ieee),
        DType::F4E2M1FN => (2, 1, Specials::None),
        _ => return None,
    };
    Some(Layout {
        exponent_bits,
        fraction_bits,
        specials,
    })
}

/// The f64 bits of a value given by its bits in `dtype`. Exact.
pub fn widen(dtype: DType, bits: u64) -> u64 {
    if dtype == DType::F8E8M0FNU {
        return widen_power(bits);
    }
    let Some(layout) = layout(dtype).filter(|_| dtype != DType::F64) else {
        return bits;
    };
    let Layout {
        exponent_bits,
        fraction_bits,
        specials,
    } = layout;
    let sign = (bits >> (exponent_bits + fraction_bits)) & 1;
    let top = (1u64 << exponent_bits) - 1;
    let exponent = (bits >> fraction_bits) & top;
    let fraction = bits & ((1 << fraction_bits) - 1);
    let ones = exponent == top && fraction == (1 << fraction_bits) - 1;
    let magnitude = if specials == Specials::Nan && ones {
        QUIET_NAN
    } else if specials == Specials::Ieee && exponent == top {
        0x7ff << 52 | fraction << (52 - fraction_bits)
    } else {
        let bias = (top >> 1) as i32;
        let scale = exponent.max(1) as i32 - bias - fraction_bits as i32;
        let hidden = u64::from(exponent != 0) << fraction_bits;
        ((hidden | fraction) as f64 * power_of_two(scale)).to_bits()
    };
    sign << 63 | magnitude
}

/// The f64 bits of a power of two that is held as its exponent.
fn widen_power(bits: u64) -> u64 {
    match bits {
        0xff => QUIET_NAN,
        _ => power_of_two(bits as i32 - 127).to_bits(),
    }
}

/// The f64 for the NaN of types with a single NaN.
const QUIET_NAN: u64 = 0x7ff << 52 | 1 << 51;

/// 2^exponent for exponents of normal f64.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The bits in `dtype` of the value with the given f64 bits, rounded to nearest even. A value that is too large becomes
/// infinity, or the greatest number of its sign in a type without infinity. NaN becomes -0 in a type without NaN. In
/// `f8E8M0FNU` only powers of two have bits: a value half-way between two gives the greater, as does every value
/// between the two least. A value that is not positive, or too large, gives NaN.
pub fn narrow(dtype: DType, bits: u64) -> u64 {
    rounded(dtype, bits).0
}

/// The f64 bits of the element of `dtype` nearest to a value, which attributes hold.
pub fn nearest(dtype: DType, value: f64) -> u64 {
    widen(dtype, narrow(dtype, value.to_bits()))
}

/// The rounded bits, and whether the value lay exactly between two neighbours.
fn rounded(dtype: DType, bits: u64) -> (u64, bool) {
    match layout(dtype) {
        _ if dtype == DType::F8E8M0FNU => round_power(bits),
        Some(layout) if dtype != DType::F64 => round(bits, layout),
        _ => (bits, false),
    }
}

fn round_power(bits: u64) -> (u64, bool) {
    let value = f64::from_bits(bits);
    let (exponent, fraction) = ((bits >> 52) as i64 - 1023 + 127, bits << 12);
    let tie = exponent > 0 && fraction == 1 << 63;
    // A value above the least power rounds up to the next; a value that f64 cannot distinguish from the least power
    // equals it.
    let up = match exponent {
        0 => fraction > 0,
        _ => fraction >= 1 << 63,
    };
    let nearest = exponent + i64::from(up);
    match value > 0.0 && nearest < 0xff {
        true => (nearest.max(0) as u64, tie),
        false => (0xff, tie && nearest == 0xff),
    }
}

/// Like [`rounded`], for a type with a sign.
fn round(bits: u64, layout: Layout) -> (u64, bool) {
    let Layout {
        exponent_bits,
        fraction_bits,
        specials,
    } = layout;
    let sign = (bits >> 63) << (exponent_bits + fraction_bits);
    let ones = (1u64 << (exponent_bits + fraction_bits)) - 1;
    let fraction = bits & ((1 << 52) - 1);
    let exponent = ((bits >> 52) & 0x7ff) as i64;
    let infinity = match specials {
        Specials::Ieee => ones >> fraction_bits << fraction_bits,
        Specials::Nan => ones - 1,
        Specials::None => ones,
    };
    if exponent == 0x7ff && specials == Specials::Nan {
        let nan = u64::from(fraction != 0);
        return (sign | (infinity + nan), false);
    }
    if exponent == 0x7ff && specials == Specials::None {
        let nan = fraction != 0;
        return (if nan { ones + 1 } else { sign | ones }, false);
    }
    if exponent == 0x7ff {
        let payload = fraction >> (52 - fraction_bits);
        let lost = fraction != 0 && payload == 0;
        return (
            sign | infinity | payload | u64::from(lost) << (fraction_bits - 1),
            false,
        );
    }
    let bias = (1i64 << (exponent_bits - 1)) - 1;
    let target = exponent - 1023 + bias;
    let shift = i64::from(52 - fraction_bits) + (1 - target).max(0);
    if exponent == 0 || shift > 62 {
        return (sign, false);
    }
    let full = fraction | 1 << 52;
    let (kept, rest, half) = (
        full >> shift,
        full & ((1 << shift) - 1),
        1u64 << (shift - 1),
    );
    let up = rest > half || (rest == half && kept & 1 == 1);
    let base = ((target - 1).max(0) as u64) << fraction_bits;
    let magnitude = (base + kept + u64::from(up)).min(infinity);
    (sign | magnitude, rest == half)
}

/// The f64 bits of the decimal literal `text` rounded once to `dtype`; `None` if it is no decimal number.
pub fn parse(dtype: DType, text: &str) -> Option<u64> {
    let value: f64 = text.parse().ok()?;
    match dtype {
        DType::F64 => Some(value.to_bits()),
        DType::F32 => Some(f64::from(text.parse::<f32>().ok()?).to_bits()),
        _ => Some(widen(dtype, parse_small(dtype, text, value)?)),
    }
}

/// Rounds through f64. That is correct unless the f64 lies exactly between two neighbours: then the decimal text
/// decides.
fn parse_small(dtype: DType, text: &str, value: f64) -> Option<u64> {
    let (bits, tie) = rounded(dtype, value.to_bits());
    if !tie {
        return Some(bits);
    }
    let nudge = |step: i64| narrow(dtype, value.to_bits().wrapping_add_signed(step));
    let middle = format!("{value:.160}");
    Some(match decimal(text).cmp_magnitude(&decimal(&middle)) {
        Ordering::Less => nudge(-1),
        Ordering::Equal => bits,
        Ordering::Greater => nudge(1),
    })
}

/// A decimal number: its significant digits, and the position of the point relative to the first.
struct Decimal {
    digits: Vec<u8>,
    point: i64,
}

fn decimal(text: &str) -> Decimal {
    let text = text.trim_start_matches(['-', '+']);
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all: Vec<u8> = whole.bytes().chain(part.bytes()).collect();
    let leading = all.iter().take_while(|d| **d == b'0').count();
    let mut digits = all[leading..].to_vec();
    while digits.last() == Some(&b'0') {
        digits.pop();
    }
    let exponent: i64 = exponent.parse().unwrap_or(0);
    let point = (whole.len() as i64 - leading as i64).saturating_add(exponent);
    Decimal { digits, point }
}

impl Decimal {
    fn cmp_magnitude(&self, other: &Self) -> Ordering {
        let key = |d: &Self| (!d.digits.is_empty(), d.point);
        key(self)
            .cmp(&key(other))
            .then_with(|| self.digits.cmp(&other.digits))
    }
}

/// The shortest literal of a value of `dtype`, given by its f64 bits: a decimal, or hexadecimal bits for NaN and
/// infinities. For types of 8 bits or fewer it is the literal of the same f64.
pub fn print(dtype: DType, bits: u64) -> String {
    let value = f64::from_bits(bits);
    if !value.is_finite() {
        return hex(dtype, narrow(dtype, bits));
    }
    let shortest = match dtype {
        DType::F64 => format!("{value:?}"),
        DType::F32 => format!("{:?}", value as f32),
        // With so few distinct values the shortest decimal would be far off: 450 for 448.
        _ if dtype.is_storage() => format!("{value:?}"),
        _ => shortest_small(dtype, value),
    };
    with_point(shortest)
}

fn shortest_small(dtype: DType, value: f64) -> String {
    let same = |text: &String| parse(dtype, text) == Some(value.to_bits());
    let short = (0..10).map(|p| format!("{value:.p$e}")).find(same);
    let near = short.and_then(|text| text.parse().ok()).unwrap_or(value);
    format!("{near:?}")
}

/// Writes `1e-5` as `1.0e-5`: a float literal has a point.
fn with_point(text: String) -> String {
    match text.split_once('e') {
        Some((mantissa, exponent)) if !mantissa.contains('.') => format!("{mantissa}.0e{exponent}"),
        _ => text,
    }
}

/// `0x7FC0`: the bits, in as many digits as the type has.
pub fn hex(dtype: DType, bits: u64) -> String {
    let digits = dtype.bits() as usize / 4;
    format!("0x{bits:0digits$X}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_narrow_float_round_trips() {
        let narrow_types = DType::ALL
            .into_iter()
            .filter(|d| d.is_float() && d.bits() <= 16);
        for dtype in narrow_types {
            for bits in 0..1 << dtype.bits() {
                let wide = widen(dtype, bits);
                assert_eq!(narrow(dtype, wide), bits, "{dtype:?} {bits:#x}");
                let text = print(dtype, wide);
                if !text.starts_with("0x") {
                    assert_eq!(parse(dtype, &text), Some(wide), "{dtype:?} {text}");
                }
            }
        }
    }

    #[test]
    fn narrowing_to_f32_is_that_of_the_hardware() {
        let samples: [f64; 8] = [1.0, 0.1, 1e-40, 1e-46, 3.5e38, 1e300, -7.3e-39, 16777217.0];
        for value in samples {
            let expected = u64::from((value as f32).to_bits());
            assert_eq!(narrow(DType::F32, value.to_bits()), expected, "{value}");
            let wide = f64::from(value as f32).to_bits();
            assert_eq!(widen(DType::F32, expected), wide);
        }
    }

    #[test]
    fn nan_payloads_survive() {
        for bits in [0x7fc0_0001_u64, 0x7f80_0001, 0xffff_ffff] {
            assert_eq!(narrow(DType::F32, widen(DType::F32, bits)), bits);
        }
        assert_eq!(print(DType::F32, f64::INFINITY.to_bits()), "0x7F800000");
    }

    #[test]
    fn rounds_once() {
        // 1 + 2^-11 is halfway between two f16; a little more must round up although f64 cannot tell.
        let above = "1.00048828125000000000000000000000000001";
        assert_eq!(
            parse(DType::F16, above),
            Some((1.0f64 + 1.0 / 1024.0).to_bits())
        );
        assert_eq!(parse(DType::F16, "1.00048828125"), Some(1.0f64.to_bits()));
        let below = "1.00048828124999999999999999999999999999";
        assert_eq!(parse(DType::F16, below), Some(1.0f64.to_bits()));
        let third = "1.00146484374999999999999999999999999999";
        assert_eq!(
            parse(DType::F16, third),
            Some((1.0f64 + 1.0 / 1024.0).to_bits())
        );
    }

    #[test]
    fn small_floats_are_what_their_names_say() {
        let value = |dtype, bits| f64::from_bits(widen(dtype, bits));
        for (dtype, bits, expected) in [
            (DType::F8E4M3FN, 0x7e, 448.0),
            (DType::F8E4M3FN, 0x01, 1.0 / 512.0),
            (DType::F8E4M3FN, 0x08, 1.0 / 64.0),
            (DType::F8E4M3FN, 0xb8, -1.0),
            (DType::F8E4M3FN, 0x80, -0.0),
            (DType::F8E5M2, 0x7b, 57344.0),
            (DType::F8E5M2, 0x01, 1.0 / 65536.0),
            (DType::F8E5M2, 0xfc, f64::NEG_INFINITY),
            (DType::F8E8M0FNU, 0x00, power_of_two(-127)),
            (DType::F8E8M0FNU, 0x7f, 1.0),
            (DType::F8E8M0FNU, 0xfe, power_of_two(127)),
            (DType::F4E2M1FN, 0x1, 0.5),
            (DType::F4E2M1FN, 0x3, 1.5),
            (DType::F4E2M1FN, 0x7, 6.0),
            (DType::F4E2M1FN, 0x8, -0.0),
            (DType::F4E2M1FN, 0xe, -4.0),
        ] {
            assert_eq!(value(dtype, bits).to_bits(), f64::to_bits(expected));
        }
        for (dtype, bits) in [
            (DType::F8E4M3FN, 0x7f),
            (DType::F8E4M3FN, 0xff),
            (DType::F8E5M2, 0x7d),
            (DType::F8E8M0FNU, 0xff),
        ] {
            assert!(value(dtype, bits).is_nan(), "{dtype:?} {bits:#x}");
        }
    }

    #[test]
    fn what_is_too_great_for_a_small_float() {
        let bits = |dtype, value: f64| narrow(dtype, value.to_bits());
        for (dtype, value, expected) in [
            (DType::F8E4M3FN, 464.0, 0x7e),
            (DType::F8E4M3FN, 1e300, 0x7e),
            (DType::F8E4M3FN, f64::NEG_INFINITY, 0xfe),
            (DType::F8E4M3FN, -f64::NAN, 0xff),
            (DType::F8E5M2, 61439.9, 0x7b),
            (DType::F8E5M2, 61440.0, 0x7c),
            (DType::F8E5M2, f64::NEG_INFINITY, 0xfc),
            (DType::F8E8M0FNU, 1.5, 0x80),
            (DType::F8E8M0FNU, 3.0, 0x81),
            (DType::F8E8M0FNU, 2.999, 0x80),
            (DType::F8E8M0FNU, 1e-300, 0x00),
            (DType::F8E8M0FNU, power_of_two(-127), 0x00),
            (DType::F8E8M0FNU, power_of_two(-127).next_up(), 0x01),
            (DType::F8E8M0FNU, power_of_two(-126), 0x01),
            (DType::F8E8M0FNU, 0.0, 0xff),
            (DType::F8E8M0FNU, -1.0, 0xff),
            (DType::F8E8M0FNU, f64::INFINITY, 0xff),
            (DType::F8E8M0FNU, 1.5 * power_of_two(127), 0xff),
            (DType::F4E2M1FN, 5.0, 0x6),
            (DType::F4E2M1FN, 5.0f64.next_up(), 0x7),
            (DType::F4E2M1FN, -1e300, 0xf),
            (DType::F4E2M1FN, f64::INFINITY, 0x7),
            (DType::F4E2M1FN, 0.25, 0x0),
            (DType::F4E2M1FN, -0.25f64.next_up(), 0x9),
            (DType::F4E2M1FN, 0.75, 0x2),
            (DType::F4E2M1FN, f64::NAN, 0x8),
            (DType::F4E2M1FN, -f64::NAN, 0x8),
        ] {
            assert_eq!(bits(dtype, value), expected, "{dtype:?} {value}");
        }
        let below = "1.49999999999999999999999999";
        let tie = |text| parse(DType::F8E8M0FNU, text).map(f64::from_bits);
        assert_eq!([tie(below), tie("1.5")], [Some(1.0), Some(2.0)]);
    }

    #[test]
    fn literals_have_a_point() {
        assert_eq!(print(DType::F64, 1e-5f64.to_bits()), "1.0e-5");
        assert_eq!(print(DType::F32, f64::from(0.1f32).to_bits()), "0.1");
        assert_eq!(print(DType::F8E4M3FN, 448f64.to_bits()), "448.0");
        assert_eq!(print(DType::F64, (-0.0f64).to_bits()), "-0.0");
        assert_eq!(print(DType::F32, 1e30f64.to_bits()), "1.0e30");
    }
}
