//! exp, exp2, expm1, and the functions made of them: sigmoid, tanh, sinh, cosh.
//!
//! The reduction is `x = n ln 2 + r` with `|r| <= ln(2)/2`; FMA subtracts `n ln 2` in two parts. The integer `n` comes
//! from adding 1.5 * 2^mantissa, whose low bits then hold it. This avoids a float-to-int conversion, so NaN stays NaN
//! and never becomes poison. The scale `2^n` is applied in two factors, so that results round once into the subnormals
//! and overflow to infinity exactly at the limit. The same addition adds twice the exponent's bias: half of the low
//! bits, shifted into place, is then one factor.

use std::f64::consts::LOG2_E;

use super::coefficients as c;
use super::quotient;
use crate::expr::{Operand, Val};

/// The constants of a format that the reduction needs.
struct Format {
    mantissa: i64,
    bias: i64,
    /// 1.5 * 2^mantissa: adding it leaves the nearest integer in the low bits.
    magic: f64,
    ln2_high: f64,
    ln2_low: f64,
}

const F32: Format = Format {
    mantissa: 23,
    bias: 127,
    magic: 12_582_912.0,
    ln2_high: 0.693_145_751_953_125,
    ln2_low: 1.428_606_820_309_417_3e-6,
};

const F64: Format = Format {
    mantissa: 52,
    bias: 1023,
    magic: 6_755_399_441_055_744.0,
    ln2_high: 0.693_147_180_369_123_8,
    ln2_low: 1.908_214_929_270_587_7e-10,
};

fn format(x: Val<'_, '_>) -> &'static Format {
    if x.is_f64() { &F64 } else { &F32 }
}

/// A sign, as far as it is known.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Sign {
    Any,
    /// It is no more than zero.
    Nonpositive,
}

/// An integer below 2^22 in magnitude, in two forms. `float` is its value as a float. The low bits of `bits` are the
/// integer plus twice the exponent bias, minus one if it is known to be at most zero; the high bits are arbitrary and
/// vanish when a power of two is formed.
#[derive(Clone, Copy)]
struct Exponent<'e, 'ctx> {
    float: Val<'e, 'ctx>,
    bits: Val<'e, 'ctx>,
    sign: Sign,
}

impl<'e, 'ctx> Exponent<'e, 'ctx> {
    /// `2^n` for an `n` in the normal range of `like`'s type.
    fn power(self, like: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
        let biased = self.bits - format(like).bias;
        biased
            .shift_left(format(like).mantissa)
            .bits_as(like.elem())
    }

    /// `n - 1`.
    fn below(self) -> Self {
        Exponent {
            float: self.float - 1.0,
            bits: self.bits - 1,
            ..self
        }
    }
    /// Two powers of two whose product is `2^n`. Exponents of any sign split into halves. For nonpositive exponents,
    /// the first factor is raised into the normal range, and the constant second factor lowers the product again.
    fn factors(self, like: Val<'e, 'ctx>) -> [Val<'e, 'ctx>; 2] {
        match self.sign {
            Sign::Any => halves(self.bits, like),
            Sign::Nonpositive => {
                let up = self.bits.shift_left(format(like).mantissa);
                let down = (1.0 - format(like).bias as f64).exp2();
                [up.bits_as(like.elem()), like.float(down)]
            }
        }
    }
}

/// Two powers of two whose product is `2^n`, for any `n` within twice the exponent range of `like`'s type; `biased` has
/// the form of [`Exponent::bits`].
fn halves<'e, 'ctx>(biased: Val<'e, 'ctx>, like: Val<'e, 'ctx>) -> [Val<'e, 'ctx>; 2] {
    let half = biased.lshr(1);
    [half, biased - half].map(|n| n.shift_left(format(like).mantissa).bits_as(like.elem()))
}

/// The nearest integer to `factor x`, with the sign of x; it must be below 2^22 in magnitude.
fn nearest<'e, 'ctx>(x: Val<'e, 'ctx>, factor: f64, sign: Sign) -> Exponent<'e, 'ctx> {
    let less = i64::from(sign == Sign::Nonpositive);
    let magic = format(x).magic + (2 * format(x).bias - less) as f64;
    let shifted = x.fma(factor, magic);
    Exponent {
        float: shifted - magic,
        bits: shifted.to_bits(),
        sign,
    }
}

/// `x * 2^n`, rounded once, for any `n` within twice the exponent range.
pub fn scale<'e, 'ctx>(x: Val<'e, 'ctx>, n: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let [first, second] = halves(n + 2 * format(x).bias, x);
    x * first * second
}

/// As [`scale`], by one instruction if the target has it. `x` and `x 2^(n/2)` must be in the normal range.
fn scale_normal<'e, 'ctx>(x: Val<'e, 'ctx>, n: Exponent<'e, 'ctx>) -> Val<'e, 'ctx> {
    x.scalef(n.float).unwrap_or_else(|| {
        let [first, second] = n.factors(x);
        x * first * second
    })
}

/// `n` and `r` with `x = n ln 2 + r`.
fn reduce<'e, 'ctx>(x: Val<'e, 'ctx>, sign: Sign) -> (Exponent<'e, 'ctx>, Val<'e, 'ctx>) {
    let n = nearest(x, LOG2_E, sign);
    let r = n.float.fma(-format(x).ln2_high, x);
    (n, n.float.fma(-format(x).ln2_low, r))
}

/// `e^r - 1` for a reduced argument.
fn expm1_reduced<'e, 'ctx>(r: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    (r * r).fma(exp_tail(r), r)
}

/// `e^r` for a reduced argument, by Horner's rule.
fn exp_reduced<'e, 'ctx>(r: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    r.fma(r.fma(exp_tail(r), 1.0), 1.0)
}

fn exp_tail<'e, 'ctx>(r: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    if r.is_f64() {
        r.poly(&c::EXP_TAIL_F64)
    } else {
        r.poly(&c::EXP_TAIL_F32)
    }
}

pub fn exp<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    exp_of(x, Sign::Any)
}

/// `e^x`, bit for bit, for an `x` that is at most zero, or NaN.
pub fn exp_of_nonpositive<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    exp_of(x, Sign::Nonpositive)
}

fn exp_of<'e, 'ctx>(x: Val<'e, 'ctx>, sign: Sign) -> Val<'e, 'ctx> {
    let [low, high] = ends(x);
    let low = match (x.has_scalef(), x.is_f64()) {
        (true, true) => FAR_F64,
        (true, false) => FAR_F32,
        (false, _) => low,
    };
    let (n, r) = reduce(between(x, [low, high], sign), sign);
    scale_normal(exp_reduced(r), n)
}

/// The least arguments for which `scalef` runs at full speed; both results are zero: 2^-1010, and 2^-8656.
const FAR_F32: f64 = -700.0;
const FAR_F64: f64 = -6000.0;

/// The arguments beyond which `e^x` is zero or infinite. Intel processors take 30 to 50 ns for a product just below the
/// normal range, even if it rounds to zero. Products that are zero by a wide margin, from 2^-158 on in f32, are fast,
/// and masked elements give such products. The lower ends are 2^-166 and 2^-1154.
fn ends(x: Val<'_, '_>) -> [f64; 2] {
    match x.is_f64() {
        true => [-800.0, 710.0],
        false => [-115.0, 89.0],
    }
}

/// `x`, or an end beyond which `e^x` is zero or infinite.
fn in_range<'e, 'ctx>(x: Val<'e, 'ctx>, sign: Sign) -> Val<'e, 'ctx> {
    between(x, ends(x), sign)
}

/// `x`, clamped to the bounds that its sign does not already imply.
fn between<'e, 'ctx>(x: Val<'e, 'ctx>, [low, high]: [f64; 2], sign: Sign) -> Val<'e, 'ctx> {
    match sign {
        Sign::Any => x.clamp(low, high),
        Sign::Nonpositive => x.at_least(low),
    }
}

/// `e^x` of f32, less precise than `exp` and with shorter chains of steps, for arguments for which the result and half of
/// it are in the normal range.
pub(super) fn exp_within_range<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let (n, r) = reduce(x, Sign::Any);
    let all = [&[1.0, 1.0], &c::EXP_TAIL_F32[..]].concat();
    r.poly_by_pairs(&all) * n.power(x)
}

/// `factor * e^(high + low)`, where `low` is a correction below the last bits of `high`, and `sign` is the sign of
/// `high`. Results round once into the subnormals.
pub(super) fn exp_of_sum<'e, 'ctx>(
    high: Val<'e, 'ctx>,
    low: Val<'e, 'ctx>,
    factor: impl Operand<'e, 'ctx>,
    sign: Sign,
) -> Val<'e, 'ctx> {
    let clamped = in_range(high, sign);
    let n = nearest(clamped, LOG2_E, sign);
    let coarse = n.float.fma(-format(clamped).ln2_high, clamped);
    // Both small parts before the one rounding, which the tail makes up for.
    let fine = n.float.fma(-format(clamped).ln2_low, low);
    let r = coarse + fine;
    let lost = fine - (r - coarse);
    // Others compute on with this result, so that its errors add to theirs: f32 takes one more term than `exp` itself.
    let tail = match r.is_f64() {
        true => exp_tail(r),
        false => r.poly(&c::EXP_LONG_TAIL_F32),
    };
    let p = r + (r * r).fma(tail, lost);
    let factor = factor.like(p);
    scale_normal(p.fma(factor, factor), n)
}

pub fn exp2<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let x = if x.is_f64() {
        x.clamp(-1154.0, 1025.0)
    } else {
        x.clamp(-166.0, 129.0)
    };
    let n = nearest(x, 1.0, Sign::Any);
    let r = x - n.float;
    let tail = if x.is_f64() {
        r.poly(&c::EXP2_TAIL_F64)
    } else {
        r.poly(&c::EXP2_TAIL_F32)
    };
    scale_normal(r.fma(tail, 1.0), n)
}

/// `e^x - 1` as `2 (2^(n-1) (e^r - 1) + (2^(n-1) - 1/2))`. The halved form keeps `n` at the top of the range from
/// overflowing early. For `n = 1` the two terms nearly cancel. There `r` is first added to the sum, which is then
/// exact, and the rounding error of `r` joins the rest of `e^r - 1`.
pub fn expm1<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let clamped = x.clamp(-40.0, if x.is_f64() { 710.0 } else { 89.0 });
    let n = nearest(clamped, LOG2_E, Sign::Any);
    let coarse = n.float.fma(-format(x).ln2_high, clamped);
    let r = n.float.fma(-format(x).ln2_low, coarse);
    let lost = n.float.fma(-format(x).ln2_low, coarse - r);
    let rest = r.fma(r.fma(exp_tail(r), lost), lost);
    let half_scale = n.below().power(x);
    let head = r.fma(half_scale, half_scale - 0.5);
    let result = rest.fma(half_scale, head) * 2.0;
    // Below this `e^x - 1` rounds to `x`; it also keeps the sign of zero.
    result.except(x.abs().lt(if x.is_f64() { 1e-17 } else { 1e-8 }), x)
}

/// `1 / (1 + e^-x)`, from `e^-|x|` so that neither side overflows.
pub fn sigmoid<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let e = exp_of_nonpositive(-x.abs());
    let numerator = x.float(1.0).except(x.lt(0.0), e);
    numerator.over(e + 1.0)
}

pub fn tanh<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let a = x.abs();
    let magnitude = if x.is_f64() {
        tanh_from_expm1(a)
    } else {
        tanh_f32(a)
    };
    magnitude.copysign(x)
}

/// `tanh a` for `a >= 0` as `t / (t + 2)`, where `t = e^(2a) - 1 = 2^n (e^r - 1) + (2^n - 1)`; it is 1 from 9.1 on.
fn tanh_f32<'e, 'ctx>(a: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let (n, r) = reduce(a.except(a.gt(9.1), 9.1) * 2.0, Sign::Any);
    let scale = n.power(a);
    let t = expm1_reduced(r).fma(scale, scale - 1.0);
    quotient::tested(t, t + 2.0)
}

/// `tanh a` for `a >= 0` from `t = e^(2a) - 1`: `t / (t + 2)` near zero, `1 - 2 / (t + 2)` beyond; one division serves both.
fn tanh_from_expm1<'e, 'ctx>(a: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let t = expm1((a * 2.0).except(a.gt(40.0), 40.0));
    let small = a.lt(0.5);
    let q = t.except(small.flip(), -2.0).over(t + 2.0);
    (q + 1.0).except(small, q)
}

/// `e^a / 2` for large `a`, without premature overflow. `e^(a/2) / 2 * e^(a/2)` would round twice, so the scale is
/// lowered by one instead.
fn half_exp<'e, 'ctx>(a: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let a = a.clamp(-40.0, if a.is_f64() { 711.0 } else { 90.0 });
    let (n, r) = reduce(a, Sign::Any);
    scale_normal(exp_reduced(r), n.below())
}

pub fn sinh<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let a = x.abs();
    let t = expm1(a.except(a.gt(20.0), 20.0));
    let near = (t + t.over(t + 1.0)) * 0.5;
    near.except(a.gt(20.0), half_exp(a)).copysign(x)
}

pub fn cosh<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let a = x.abs();
    let half = half_exp(a);
    half + x.float(0.25).over(half)
}
