//! asin, acos, atan, atan2, asinh, acosh, atanh.

use std::f64::consts::{FRAC_PI_2, LN_2, PI};

use super::coefficients as c;
use super::log::{log, log1p};
use crate::expr::Val;

/// pi/2, pi/4 and pi in a format: the nearest value and the rest.
fn rest_of(x: Val<'_, '_>, value: f64, rest_f64: f64) -> f64 {
    if x.is_f64() {
        rest_f64
    } else {
        value - f64::from(value as f32)
    }
}

const PI_REST: f64 = 1.224_646_799_147_353_2e-16;

fn atan_tail<'e, 'ctx>(z: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    if z.is_f64() {
        z.poly(&c::ATAN_TAIL_F64)
    } else {
        z.poly(&c::ATAN_TAIL_F32)
    }
}

/// `atan(n / d)` for `n, d >= 0`, not both zero or both infinite, rotated by 0, 45 or 90 degrees so that the quotient
/// stays below tan(pi/8).
fn atan_of_ratio<'e, 'ctx>(n: Val<'e, 'ctx>, d: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    const TAN_EIGHTH: f64 = 0.414_213_562_373_095;
    let quarter = d.gt(n * TAN_EIGHTH);
    let none = n.le(d * TAN_EIGHTH);
    let top = (-d).except(quarter, n - d).except(none, n);
    let bottom = n.except(quarter, n + d).except(none, d);
    let r = top.over(bottom);
    let of = |value: f64| {
        n.float(value)
            .except(quarter, value / 2.0)
            .except(none, 0.0)
    };
    let z = r * r;
    let low = (z * r).fma(atan_tail(z), of(rest_of(n, FRAC_PI_2, PI_REST / 2.0)));
    of(FRAC_PI_2) + (r + low)
}

pub fn atan<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    // A finite stand-in for infinity: its quotient has the same angle.
    let a = x.abs();
    let huge = if x.is_f64() { 1e300 } else { 1e30 };
    atan_of_ratio(a.except(a.gt(huge), huge), x.float(1.0)).copysign(x)
}

pub fn atan2<'e, 'ctx>(y: Val<'e, 'ctx>, x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let (n, d) = (y.abs(), x.abs());
    let both_zero = n.eq(0.0).and(d.eq(0.0));
    let both_infinite = n.eq(f64::INFINITY).and(d.eq(f64::INFINITY));
    // Scaled by a power of two, so that the sum stays in range and small operands have all their bits.
    let (large, small, up) = if x.is_f64() {
        (1e307, 1e-150, 2f64.powi(400))
    } else {
        (1e38, 1e-18, 2f64.powi(48))
    };
    let shrink = n.gt(large).or(d.gt(large));
    let grow = n.lt(small).and(d.lt(small));
    let factor = x.float(1.0).except(shrink, 0.25).except(grow, up);
    let n = (n * factor).except(both_infinite, 1.0);
    let d = (d * factor).except(both_infinite.or(both_zero), 1.0);
    // Beside an infinite operand the other is as good as zero.
    let (n_infinite, d_infinite) = (n.eq(f64::INFINITY), d.eq(f64::INFINITY));
    let n = n.except(n_infinite, 1.0).except(d_infinite, 0.0);
    let d = d.except(d_infinite, 1.0).except(n_infinite, 0.0);
    let acute = atan_of_ratio(n, d);
    let obtuse = (x.float(PI) - acute) + rest_of(x, PI, PI_REST);
    let angle = acute.except(x.to_bits().lt(0), obtuse);
    angle
        .copysign(y)
        .except(x.is_nan().or(y.is_nan()), f64::NAN)
}

fn asin_tail<'e, 'ctx>(z: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    if z.is_f64() {
        z.poly(&c::ASIN_TAIL_F64)
    } else {
        z.poly(&c::ASIN_TAIL_F32)
    }
}

/// `(r, t)` with `asin(a) = r + t` for `a <= 1/2`, else `pi/2 - 2 (r + t)`; `far` says which.
struct ArcSine<'e, 'ctx> {
    far: Val<'e, 'ctx>,
    r: Val<'e, 'ctx>,
    tail: Val<'e, 'ctx>,
}

fn arc_sine<'e, 'ctx>(a: Val<'e, 'ctx>) -> ArcSine<'e, 'ctx> {
    let far = a.gt(0.5);
    let z_far = (a.float(1.0) - a) * 0.5;
    let z = (a * a).except(far, z_far);
    let root = z_far.sqrt();
    let r = a.except(far, root);
    // The rounding error of the square root: (z - r^2) / 2r, and zero at a = 1.
    let lost = (-root)
        .fma(root, z_far)
        .over(root * 2.0)
        .except(root.eq(0.0), 0.0);
    let correction = a.float(0.0).except(far, lost);
    ArcSine {
        far,
        r,
        tail: (r * z).fma(asin_tail(z), correction),
    }
}

pub fn asin<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let ArcSine { far, r, tail } = arc_sine(x.abs());
    let low = rest_of(x, FRAC_PI_2, PI_REST / 2.0);
    let beyond = (x.float(FRAC_PI_2) - r * 2.0) - (tail * 2.0 - low);
    (r + tail).except(far, beyond).copysign(x)
}

pub fn acos<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let ArcSine { far, r, tail } = arc_sine(x.abs());
    let negative = x.lt(0.0);
    let (half_low, low) = (
        rest_of(x, FRAC_PI_2, PI_REST / 2.0),
        rest_of(x, PI, PI_REST),
    );
    let (r_signed, tail_signed) = (r.except(negative, -r), tail.except(negative, -tail));
    let near = x.float(FRAC_PI_2) - (r_signed - (x.float(half_low) - tail_signed));
    let small = (r + tail) * 2.0;
    let large = (x.float(PI) - r * 2.0) - (tail * 2.0 - low);
    near.except(far, small.except(negative, large))
}

/// `log1p(a + a^2 / (1 + sqrt(a^2 + 1)))`, and for large arguments `log a + log 2`.
pub fn asinh<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let a = x.abs();
    let large = a.gt(if x.is_f64() { 1e100 } else { 1e15 });
    let b = a.except(large, 1.0);
    let square = b * b;
    let near = log1p(b + square.over((square + 1.0).sqrt() + 1.0));
    near.except(large, log(a) + LN_2).copysign(x)
}

pub fn acosh<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let large = x.gt(if x.is_f64() { 1e100 } else { 1e15 });
    let t = x.except(large, 2.0) - 1.0;
    let near = log1p(t + t.fma(t, t * 2.0).sqrt());
    near.except(large, log(x) + LN_2)
        .except(x.lt(1.0), f64::NAN)
}

pub fn atanh<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let a = x.abs();
    let result = log1p((a * 2.0).over(a.float(1.0) - a)) * 0.5;
    // Halving a result near the subnormals would lose its last bit; there atanh x = x.
    result
        .except(a.lt(if x.is_f64() { 1e-9 } else { 1e-5 }), a)
        .copysign(x)
}
