//! log, log2, log10, log1p.
//!
//! `x = 2^e m` with `sqrt(1/2) <= m < sqrt(2)`, so that `e = 0` around one and no cancellation follows. `log m` is kept as
//! `f + tail` with `f = m - 1` exact; the tail is a polynomial (f32), or the `s = f / (2 + f)` series (f64), whose degree
//! would be too high without the division. Constants like `log2 e` come in two parts and the products are exact by FMA.

use super::coefficients as c;
use crate::expr::{Elem, Val};

/// A constant in two parts: `high` has so few bits that an exponent times it is exact, or is just the nearest value.
struct Parts {
    high: f64,
    low: f64,
}

/// The result of the argument reduction: `log x = e ln 2 + f + tail`.
struct Reduced<'e, 'ctx> {
    e: Val<'e, 'ctx>,
    f: Val<'e, 'ctx>,
}

fn mantissa_bits(x: Val<'_, '_>) -> i64 {
    if x.is_f64() { 52 } else { 23 }
}

/// Bits of `sqrt(1/2)`, rounded down.
fn half_root_bits(x: Val<'_, '_>) -> i64 {
    if x.is_f64() {
        0x3fe6_a09e_667f_3bcc
    } else {
        0x3f35_04f3
    }
}

/// Exponent (as an integer) and significand of a normal positive number.
fn split<'e, 'ctx>(x: Val<'e, 'ctx>) -> (Val<'e, 'ctx>, Val<'e, 'ctx>) {
    let (bits, width) = (x.to_bits(), mantissa_bits(x));
    let e = (bits - half_root_bits(x)).ashr(width);
    (e, (bits - e.shift_left(width)).bits_as(x.elem()))
}

/// As [`split`], for subnormals too; the exponent as a float.
fn reduce<'e, 'ctx>(x: Val<'e, 'ctx>) -> Reduced<'e, 'ctx> {
    let (tiny, lift, by) = if x.is_f64() {
        (f64::MIN_POSITIVE, 2f64.powi(54), 54.0)
    } else {
        (f64::from(f32::MIN_POSITIVE), 2f64.powi(25), 25.0)
    };
    let subnormal = x.lt(tiny);
    let (e, m) = split(x.except(subnormal, x * lift));
    let e = e.signed_to_float(x.elem());
    Reduced {
        e: e.except(subnormal, e - by),
        f: m - 1.0,
    }
}

/// `log(1 + f) - f`.
fn tail<'e, 'ctx>(f: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    if !f.is_f64() {
        return (f * f) * f.poly(&c::LOG_TAIL_F32);
    }
    let half_square = f * f * 0.5;
    let s = f.over(f + 2.0);
    let z = s * s;
    let r = z * z.poly(&c::ATANH_TAIL_F64);
    // log(1+f) = f - (hfsq - s (hfsq + R)).
    s.fma(half_square + r, -half_square)
}

/// `e ln 2 + f + tail`, smallest first.
fn natural<'e, 'ctx>(reduced: &Reduced<'e, 'ctx>) -> Val<'e, 'ctx> {
    let ln2 = if reduced.f.is_f64() {
        Parts {
            high: 0.693_147_180_369_123_8,
            low: 1.908_214_929_270_587_7e-10,
        }
    } else {
        Parts {
            high: 0.693_145_751_953_125,
            low: 1.428_606_820_309_417_3e-6,
        }
    };
    let small = reduced.e.fma(ln2.low, tail(reduced.f));
    reduced.e.fma(ln2.high, reduced.f + small)
}

/// `e scale_of_e + (f + tail) factor`, the product carried in two parts.
fn in_base<'e, 'ctx>(reduced: &Reduced<'e, 'ctx>, of_e: &Parts, factor: &Parts) -> Val<'e, 'ctx> {
    let (e, f) = (reduced.e, reduced.f);
    let tail = tail(f);
    let high = f + tail;
    let low = (f - high) + tail;
    let product = high * factor.high;
    let rest = high.fma(factor.high, -product) + high.fma(factor.low, low * factor.high);
    let whole = e * of_e.high;
    let sum = whole + product;
    // Exact where `e` is not zero, since then it is the greater; where it is zero so is this.
    let lost = (whole - sum) + product;
    sum + (lost + e.fma(of_e.low, rest))
}

/// The results at zero, below it, and at infinity; NaN stays.
fn with_edges<'e, 'ctx>(x: Val<'e, 'ctx>, result: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let through = x.eq(f64::INFINITY).or(x.is_nan());
    result
        .except(through, x)
        .except(x.lt(0.0), f64::NAN)
        .except(x.eq(0.0), f64::NEG_INFINITY)
}

pub fn log<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    with_edges(x, natural(&reduce(x)))
}

pub fn log2<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let factor = if x.is_f64() {
        Parts {
            high: std::f64::consts::LOG2_E,
            low: 2.035_527_374_093_103_3e-17,
        }
    } else {
        Parts {
            high: 1.442_695_021_629_333_5,
            low: 1.925_962_991_126_617_5e-8,
        }
    };
    with_edges(
        x,
        in_base(
            &reduce(x),
            &Parts {
                high: 1.0,
                low: 0.0,
            },
            &factor,
        ),
    )
}

pub fn log10<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let (factor, of_e) = if x.is_f64() {
        (
            Parts {
                high: std::f64::consts::LOG10_E,
                low: 1.098_319_650_216_765e-17,
            },
            // Few enough bits that an exponent times it is exact.
            Parts {
                high: LOG10_2_HIGH_F64,
                low: 1.420_502_322_726_61e-13,
            },
        )
    } else {
        (
            Parts {
                high: 0.434_294_492_006_301_9,
                low: -1.010_305_005_223_168_3e-8,
            },
            Parts {
                high: LOG10_2_HIGH_F32,
                low: 4.605_038_981_195_214e-6,
            },
        )
    };
    with_edges(x, in_base(&reduce(x), &of_e, &factor))
}

/// log10(2) to 41 bits and to 13 bits.
const LOG10_2_HIGH_F64: f64 = 1_323_943_922_167.0 / 4_398_046_511_104.0;
const LOG10_2_HIGH_F32: f64 = 4_932.0 / 16_384.0;

/// The exponent comes from the rounded `1 + x`. The significand is `x 2^-e + (2^-e - 1)`, which loses no bits of `x`.
pub fn log1p<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let width = mantissa_bits(x);
    let bias = if x.is_f64() { 1023 } else { 127 };
    let (e, m) = split(x + 1.0);
    // Beyond 2^60 one is nothing beside x, and 2^-e would leave the range.
    let large = e.gt(60);
    let e_or_zero = e.except(large, 0);
    let down = (e.int(bias) - e_or_zero)
        .shift_left(width)
        .bits_as(x.elem());
    let f = down.fma(x, down - 1.0).except(large, m - 1.0);
    let result = natural(&Reduced {
        e: e.signed_to_float(x.elem()),
        f,
    });
    let shifted = with_edges(x + 1.0, result);
    // Also keeps the sign of zero.
    shifted.except(x.abs().lt(if x.is_f64() { 1e-17 } else { 1e-8 }), x)
}

/// `log x` in two parts, whose sum is good to about 2^-64, for positive finite `x`: what `pow` needs.
pub(super) fn log_in_two_parts<'e, 'ctx>(x: Val<'e, 'ctx>) -> (Val<'e, 'ctx>, Val<'e, 'ctx>) {
    debug_assert_eq!(x.elem(), Elem::F64);
    let Reduced { e, f } = reduce(x);
    // s = f / (2 + f) in two parts.
    let d = f + 2.0;
    let d_low = f - (d - 2.0);
    let s = f.over(d);
    let s_low = ((-s).fma(d, f) - s * d_low).over(d);
    // z = s^2 in two parts.
    let z = s * s;
    let z_low = s.fma(s, -z) + s * s_low * 2.0;
    // The cubic term 2/3 s z in two parts, the rest in one.
    let cube = s * z;
    let cube_low = s.fma(z, -cube) + (s * z_low + s_low * z);
    let third = cube * TWO_THIRDS;
    let third_low = cube.fma(TWO_THIRDS, -third) + (cube_low * TWO_THIRDS + cube * TWO_THIRDS_LOW);
    // The fifth power's coefficient and what follows: the sum's error is that of this polynomial alone.
    let fifth = cube * z;
    let fifth_low = cube.fma(z, -fifth) + (cube_low * z + cube * z_low);
    let p = z.poly(&c::ATANH_TAIL_F64[1..]);
    let rest = fifth * p;
    let rest_low = fifth.fma(p, -rest) + fifth_low * p;
    let (tail, tail_low) = fast_two_sum(third, rest);
    let whole = e * LN2_HIGH_32;
    let (a, a_low) = fast_two_sum(s * 2.0, tail);
    // `e ln 2` is the greater where it is not zero; where it is, this is exact as well.
    let (h, h_low) = two_sum(whole, a);
    let small = e.fma(LN2_LOW_32, tail_low + (third_low + rest_low)) + s_low * 2.0;
    let low = h_low + (a_low + small);
    fast_two_sum(h, low)
}

const TWO_THIRDS: f64 = 2.0 / 3.0;
const TWO_THIRDS_LOW: f64 = 3.700_743_415_417_188e-17;
/// ln 2 to 32 bits, and the rest.
const LN2_HIGH_32: f64 = 0.693_147_180_369_123_8;
const LN2_LOW_32: f64 = 1.908_214_929_270_587_7e-10;

fn fast_two_sum<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>) -> (Val<'e, 'ctx>, Val<'e, 'ctx>) {
    let sum = a + b;
    (sum, b - (sum - a))
}

fn two_sum<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>) -> (Val<'e, 'ctx>, Val<'e, 'ctx>) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}
