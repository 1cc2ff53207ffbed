//! Tensor cores: the product of a matrix of 16 rows and one of 8 columns of 16-bit floats, 16 terms each, added to a matrix of f32.
//!
//! The PTX ISA guarantees that sums have at least the precision of f32, and leaves order and rounding open. The
//! behavior of hardware was measured (Fasi, Higham, Mikaitis, Pranesh: Numerical behavior of NVIDIA tensor cores, PeerJ
//! Computer Science 7, 2021, e330). Products are exact. The products of a block of terms and the addend are aligned to
//! their greatest exponent and truncated after its last place. Their sum is exact, and is truncated to 24 bits. Newer
//! hardware keeps a few more places. The simulator keeps none and uses blocks of eight terms, so that a program that
//! relies on rounding to nearest fails.

use half::{bf16, f16};

use crate::execute::{LANES, Values};

/// The type of the factors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Half {
    /// `bf16`
    Bf16,
    /// `f16`
    F16,
}

impl Half {
    /// The value of a float of these bits.
    fn value(self, bits: u16) -> f32 {
        match self {
            Half::Bf16 => bf16::from_bits(bits).to_f32(),
            Half::F16 => f16::from_bits(bits).to_f32(),
        }
    }
}

/// Terms of a product, and those that are added at a time.
const TERMS: usize = 16;
const BLOCK: usize = 8;

/// The bits of an f32 significand, and the exponent of its last place in the least numbers.
const SIGNIFICAND: i32 = 24;
const LEAST: i32 = -149;

/// The one NaN of results.
const NAN: u32 = 0x7FFF_FFFF;

/// The registers of the sum, from those of the factors and of the addend, as the PTX ISA deals elements of `mma.m16n8k16` to lanes: with `g` a lane's number divided by 4
/// and `t` the rest, registers of the left factor have rows `g`, `g + 8`, and again, of terms `2 t`, `2 t + 1` and then 8 further; those of the right
/// one column `g` of the same terms; those of the sum columns `2 t`, `2 t + 1` of row `g` and of row `g + 8`.
pub fn multiply(
    half: Half,
    left: [&Values; 4],
    right: [&Values; 2],
    addend: [&Values; 4],
) -> [Values; 4] {
    let value = |register: &Values, lane: usize, term: usize| {
        half.value((register[lane] >> (16 * (term % 2))) as u16)
    };
    let lane_of = |line: usize, term: usize| line % 8 * 4 + term % 8 / 2;
    let rows: [[f32; TERMS]; 16] = std::array::from_fn(|row| {
        std::array::from_fn(|term| value(left[row / 8 + term / 8 * 2], lane_of(row, term), term))
    });
    let columns: [[f32; TERMS]; 8] = std::array::from_fn(|column| {
        std::array::from_fn(|term| value(right[term / 8], lane_of(column, term), term))
    });
    std::array::from_fn(|register| {
        std::array::from_fn::<u64, LANES, _>(|lane| {
            let (row, column) = (lane / 4 + register / 2 * 8, lane % 4 * 2 + register % 2);
            let terms = rows[row].iter().zip(&columns[column]);
            let terms: Vec<(f32, f32)> = terms.map(|(a, b)| (*a, *b)).collect();
            let blocks = terms.chunks(BLOCK);
            blocks.fold(addend[register][lane], |sum, block| {
                accumulate(sum as u32, block).into()
            })
        })
    })
}

/// A number as `significand * 2^exponent`.
type Exact = (i64, i32);

fn exact(value: f32) -> Exact {
    let bits = value.to_bits();
    let (exponent, fraction) = ((bits >> 23 & 0xFF) as i32, i64::from(bits & 0x7F_FFFF));
    let magnitude = match exponent {
        0 => (fraction, LEAST),
        _ => (fraction | 1 << 23, exponent - 1 + LEAST),
    };
    match value.is_sign_negative() {
        true => (-magnitude.0, magnitude.1),
        false => magnitude,
    }
}

/// The exponent of the first bit.
fn leading((significand, exponent): Exact) -> i32 {
    (i64::BITS - 1 - significand.unsigned_abs().leading_zeros()) as i32 + exponent
}

/// `significand` with its bits moved up, or down and off, toward zero.
fn shifted(significand: i64, by: i32) -> i64 {
    let magnitude = significand.unsigned_abs();
    let magnitude = match by {
        0.. => magnitude << by,
        _ => magnitude.checked_shr(by.unsigned_abs()).unwrap_or(0),
    };
    significand.signum() * magnitude as i64
}

/// The bits of a sum and one block of products.
pub(crate) fn accumulate(sum: u32, block: &[(f32, f32)]) -> u32 {
    let sum = f32::from_bits(sum);
    let special = block
        .iter()
        .map(|(a, b)| match a.is_finite() && b.is_finite() {
            true => 0.0,
            false => a * b,
        });
    let special = special.fold(if sum.is_finite() { 0.0 } else { sum }, |all, one| {
        all + one
    });
    if special.is_nan() {
        return NAN;
    }
    if special != 0.0 {
        return special.to_bits();
    }
    let products = block.iter().map(|&(a, b)| {
        let ((a, up), (b, down)) = (exact(a), exact(b));
        (a * b, up + down)
    });
    let addends: Vec<Exact> = products
        .chain([exact(sum)])
        .filter(|addend| addend.0 != 0)
        .collect();
    let Some(greatest) = addends.iter().map(|&addend| leading(addend)).max() else {
        return 0;
    };
    let unit = greatest - (SIGNIFICAND - 1);
    let aligned = addends
        .iter()
        .map(|&(significand, exponent)| shifted(significand, exponent - unit));
    truncated((aligned.sum(), unit))
}

/// The next f32 toward zero from a number, as bits; infinity on overflow.
fn truncated(value: Exact) -> u32 {
    if value.0 == 0 {
        return 0;
    }
    let sign = u32::from(value.0 < 0) << 31;
    let place = (leading(value) - (SIGNIFICAND - 1)).max(LEAST);
    let significand = shifted(value.0, value.1 - place).unsigned_abs() as u32;
    let exponent = place - LEAST + 1;
    let bits = match significand >> (SIGNIFICAND - 1) {
        0 => significand,
        _ if exponent > 254 => f32::INFINITY.to_bits(),
        _ => (exponent as u32) << 23 | significand & 0x7F_FFFF,
    };
    sign | bits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(addend: f32, block: &[(f32, f32)]) -> f32 {
        f32::from_bits(accumulate(addend.to_bits(), block))
    }

    #[test]
    fn sums_are_cut_off_at_the_greatest_exponent() {
        let half_a_place = 2.0_f32.powi(-24);
        let two = [(half_a_place, 1.0), (half_a_place, 1.0)];
        // Together they are the last place of 1, rounded to nearest; alone each of them falls off.
        assert_eq!(sum(1.0, &two), 1.0);
        assert_eq!(sum(0.0, &two), 2.0_f32.powi(-23));
        assert_eq!(
            sum(1.0, &[(2.0 * half_a_place, 1.0)]),
            1.0 + 2.0_f32.powi(-23)
        );
        assert_eq!(sum(-1.0, &[(-1.9 * half_a_place, 1.0)]), -1.0);
        // A carry cuts the place that it has no more.
        assert_eq!(sum(1.0 + 2.0_f32.powi(-23), &[(1.0, 1.0)]), 2.0);
        // Cancellation leaves what was not cut off.
        assert_eq!(sum(1.0, &[(-1.0, 1.0), (half_a_place, 1.0)]), 0.0);
        assert_eq!(sum(0.0, &[(3.0, 5.0), (-7.0, 2.0)]), 1.0);
    }

    #[test]
    fn the_ends_of_the_range() {
        let (least, greatest) = (f32::from_bits(1), f32::MAX);
        assert_eq!(
            sum(least, &[(2.0_f32.powi(-75), 2.0_f32.powi(-74))]),
            2.0 * least
        );
        assert_eq!(sum(0.0, &[(2.0_f32.powi(-75), 2.0_f32.powi(-75))]), 0.0);
        assert_eq!(sum(least, &[(-least, 1.0)]).to_bits(), 0);
        assert_eq!(sum(-0.0, &[(-0.0, 1.0)]).to_bits(), 0);
        assert_eq!(sum(greatest, &[(greatest, 1.0)]), f32::INFINITY);
        assert_eq!(
            sum(-greatest, &[(2.0_f32.powi(64), -(2.0_f32.powi(64)))]),
            f32::NEG_INFINITY
        );
        assert_eq!(sum(1.0, &[(f32::INFINITY, -1.0)]), f32::NEG_INFINITY);
        let none = [(f32::INFINITY, 0.0)];
        assert_eq!(accumulate(0, &none), NAN);
        assert_eq!(
            accumulate(f32::INFINITY.to_bits(), &[(f32::NEG_INFINITY, 1.0)]),
            NAN
        );
        assert_eq!(accumulate(0, &[(f32::NAN, 1.0)]), NAN);
    }
}
