//! Floats of 8 bits, held as their bits: from and to f32, by integer arithmetic that every target has and every vector takes.
//!
//! Processors that convert them by an instruction differ in what they do with values out of range, so none is asked to.

use super::to_f32 as wider_to_f32;
use crate::expr::{Elem, Val};

/// The f32 of an element; exact. Signs and payloads of NaN are not kept.
pub fn to_f32<'e, 'ctx>(bits: Val<'e, 'ctx>, elem: Elem) -> Val<'e, 'ctx> {
    match elem {
        Elem::F8E5M2 => wider_to_f32(bits.zext_or_trunc(16).shift_left(8), Elem::F16),
        Elem::F8E4M3FN => e4m3fn_to_f32(bits),
        _ => e8m0fnu_to_f32(bits),
    }
}

/// The fields moved to their places in an f16 are the value divided by 2^8, subnormals too; but for NaN, which has the bits of 480.
fn e4m3fn_to_f32<'e, 'ctx>(bits: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let wide = bits.zext_or_trunc(16);
    let sign = wide.and(0x80).shift_left(8);
    let small = sign.or(wide.and(0x7f).shift_left(7));
    let value = wider_to_f32(small, Elem::F16) * 256.0;
    let is_nan = bits.and(0x7f).eq(0x7f);
    value.except(is_nan, value.float(f64::NAN))
}

/// Places the code in the exponent field of f32. Two codes differ: 2^-127 is subnormal, and NaN would read as infinity.
/// Both have the upper bit of the fraction set.
fn e8m0fnu_to_f32<'e, 'ctx>(bits: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let wide = bits.zext_or_trunc(32).shift_left(23);
    let special = bits.eq(0).or(bits.eq(-1));
    wide.except(special, wide.or(1 << 22)).bits_as(Elem::F32)
}

/// The bits of the element nearest to an f32.
pub fn from_f32<'e, 'ctx>(x: Val<'e, 'ctx>, elem: Elem) -> Val<'e, 'ctx> {
    match elem {
        Elem::F8E4M3FN => rounded(x, 3, 7, [0x7e, 0x7f]),
        Elem::F8E5M2 => rounded(x, 2, 15, [0x7c, 0x7f]),
        _ => e8m0fnu_from_f32(x),
    }
}

/// Ties go to even. Rounding as in `f16_from_f32`: below the least normal number the bits are those of the sum with one whose last
/// place is the least subnormal. What rounds to more than `most`, infinity or the greatest number, is `most`.
fn rounded<'e, 'ctx>(
    x: Val<'e, 'ctx>,
    fraction: i64,
    bias: i64,
    [most, nan]: [i64; 2],
) -> Val<'e, 'ctx> {
    let cut = 23 - fraction;
    let bits = x.to_bits();
    let magnitude = bits.and(0x7fff_ffff);
    let odd = magnitude.lshr(cut).and(1);
    let half = (1 << (cut - 1)) - 1;
    let normal = (magnitude - ((127 - bias) << 23) + half + odd).lshr(cut);
    let aligned = x.float(2f64.powi((24 - bias - fraction) as i32));
    let subnormal = (magnitude.bits_as(Elem::F32) + aligned).to_bits() - aligned.to_bits();
    let rounded = normal
        .smin(most)
        .except(magnitude.lt((128 - bias) << 23), subnormal)
        .except(x.is_nan(), nan);
    rounded.or(bits.lshr(24).and(0x80)).zext_or_trunc(8)
}

/// The exponent field, rounded up from half-way to the next power of two. For subnormals above 2^-127, half-way is
/// measured to the bits of 2^-126. Inputs that are not positive numbers have integer bits below 1, or above those of
/// infinity.
fn e8m0fnu_from_f32<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let bits = x.to_bits();
    let half = bits.int(1 << 22) - bits.lt(1 << 23).zext_or_trunc(32);
    let exponent = (bits + half).lshr(23);
    let none = bits.le(0).or(x.is_nan());
    exponent.except(none, 0xff).zext_or_trunc(8)
}
