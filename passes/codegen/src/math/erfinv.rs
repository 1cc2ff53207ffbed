//! erfinv and erfcinv.
//!
//! A start within 2^-20 comes from two fits in `w = -log(1 - x^2)`, which is nearly the square of the result; one step of Halley's
//! method cubes its error. What the step takes for the start's own error is the difference of two numbers near each other: of erf and `x`
//! near zero; of erfcx and `(1 - x) e^(z^2)` beyond, where neither underflows. There the result hardly feels their errors.

use super::coefficients as c;
use super::erf::{erf_near_zero, erfcx};
use super::exp::{Sign, exp_of_sum};
use super::log::log;
use crate::expr::Val;

/// `sqrt(pi) / 2`, one over the slope of erf at zero.
const HALF_SQRT_PI: f64 = 0.886_226_925_452_758;
/// The end of the first fit.
const TAIL: f64 = 5.0;
/// The argument of erf up to which the inverse uses erf, and beyond which it uses erfc. The result there is 0.81.
const NEAR: f64 = 0.75;

/// The number whose erf is `a` and whose erfc is `v`, `a + v = 1`; NaN where `v` is negative.
fn inverse<'e, 'ctx>(a: Val<'e, 'ctx>, v: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let w = -log(v * (v.float(2.0) - v));
    let t = w.float(1.0).over(w.sqrt());
    let tail = t.poly(&c::ERFINV_TAIL_F64).over(t);
    let start = a * w.poly(&c::ERFINV_HEAD_F64).except(w.gt(TAIL), tail);
    let square = start * start;
    let rest = start.fma(start, -square);
    let growth = exp_of_sum(square * 0.5, rest * 0.5, 1.0, Sign::Any);
    let near = (erf_near_zero(start) - a) * growth * growth;
    let far = v * growth * growth - erfcx(start);
    let off = far.except(a.lt(NEAR), near) * HALF_SQRT_PI;
    let z = start - off.over(start.fma(off, 1.0));
    z.except(v.eq(0.0), f64::INFINITY)
}

pub fn erfinv<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let a = x.abs();
    inverse(a, x.float(1.0) - a).copysign(x)
}

pub fn erfcinv<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let above = x.gt(1.0);
    let v = x.except(above, x.float(2.0) - x);
    let z = inverse(x.float(1.0) - v, v);
    z.except(above, -z)
}
