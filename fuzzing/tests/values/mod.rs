//! Special values of every element type, as bits.

pub mod lines;

use fuser_fuzzing::generate::Input;
use fuser_ir::DType;

/// Significand bits of a float, without the one that is not stored, and exponent bits.
fn format(dtype: DType) -> (u32, u32) {
    match dtype {
        DType::F64 => (52, 11),
        DType::F32 => (23, 8),
        DType::F16 => (10, 5),
        _ => (7, 8),
    }
}

/// True if an element is NaN.
pub fn is_nan(dtype: DType, bits: u64) -> bool {
    let (mantissa, exponent) = format(dtype);
    let magnitude = bits & ((1 << (mantissa + exponent)) - 1);
    dtype.is_float() && magnitude > ((1 << exponent) - 1) << mantissa
}

/// A quiet NaN.
pub fn nan(dtype: DType) -> u64 {
    let (mantissa, exponent) = format(dtype);
    ((1 << (exponent + 1)) - 1) << (mantissa - 1)
}

/// The infinity below all numbers.
pub fn negative_infinity(dtype: DType) -> u64 {
    let (mantissa, exponent) = format(dtype);
    ((1 << (exponent + 1)) - 1) << mantissa
}

/// The values at which definitions and formats have their edges.
pub fn elements(dtype: DType) -> Vec<u64> {
    match dtype.is_float() {
        true => floats(dtype),
        false => integers(dtype),
    }
}

fn floats(dtype: DType) -> Vec<u64> {
    let (mantissa, exponent) = format(dtype);
    let bias = (1i64 << (exponent - 1)) - 1;
    // The number 2^power with this fraction.
    let number = |power: i64, fraction: u64| (((power + bias) as u64) << mantissa) | fraction;
    let infinity = number(bias + 1, 0);
    let whole = (1u64 << mantissa) - 1;
    let half = 1u64 << (mantissa - 1);
    let places = i64::from(mantissa);
    let mut magnitudes = vec![
        0,
        1,
        whole,
        whole + 1,
        infinity - 1,
        infinity,
        infinity | half,
        infinity | 1,
        number(0, 0),
        number(0, 1),
        number(-1, whole),
        number(-1, 0),
        number(0, half),
        number(1, half >> 1),
        number(-2, half),
        // The last halves, and the first numbers that have none.
        number(places - 1, 1),
        number(places, 1),
        number(3, half),
    ];
    // The limits of conversions to narrower floats and to integers, and ties between those floats.
    let powers: &[i64] = match dtype {
        DType::F64 => &[-149, -126, -25, -14, 15, 31, 63, 127],
        DType::F32 => &[-25, -14, 15, 31, 63],
        _ => &[-14, 7],
    };
    for &power in powers.iter().filter(|p| (1 - bias..=bias).contains(*p)) {
        magnitudes.extend([number(power, 0), number(power, whole)]);
        let ties = [10, 7, 23].into_iter().filter(|kept| *kept < mantissa);
        magnitudes.extend(ties.map(|kept| number(power, 3u64 << (mantissa - kept - 1) & whole)));
    }
    let sign = 1u64 << (mantissa + exponent);
    magnitudes.into_iter().flat_map(|m| [m, m | sign]).collect()
}

fn integers(dtype: DType) -> Vec<u64> {
    if dtype == DType::I1 {
        return vec![0, 1];
    }
    let top = 1i64.wrapping_shl(dtype.bits() - 1);
    let bits = i64::from(dtype.bits());
    let list = [
        0,
        1,
        -1,
        2,
        -2,
        3,
        7,
        8,
        -8,
        bits - 1,
        bits,
        bits + 1,
        100,
        -100,
        top,
        top.wrapping_add(1),
        top.wrapping_sub(1),
        top.wrapping_sub(2),
        // More digits than f32 and f64 hold, just beyond a tie.
        (1 << 24) + 3,
        (1 << 53) + 3,
        0x1001,
        0x0801_0001,
    ];
    list.map(|value| value as u64).to_vec()
}

/// The first `count` elements of a list that repeats, little-endian.
pub fn cycled(dtype: DType, list: &[u64], count: usize) -> Vec<u8> {
    let size = dtype.bytes() as usize;
    let repeated = list.iter().cycle().take(count);
    repeated
        .flat_map(|bits| bits.to_le_bytes()[..size].to_vec())
        .collect()
}

/// Elements as bits.
pub fn bits(dtype: DType, bytes: &[u8]) -> Vec<u64> {
    let element = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    };
    bytes.chunks(dtype.bytes() as usize).map(element).collect()
}

/// An element of an input, for a message.
pub fn shown(input: &Input, at: usize) -> String {
    let bits = bits(input.dtype, &input.bytes);
    bits.get(at)
        .map_or(String::new(), |bits| format!("{bits:#x}"))
}
