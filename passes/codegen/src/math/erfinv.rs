//! erfinv and erfcinv.
//!
//! The starting value, accurate to 2^-20, comes from two fits in `w = -log(1 - x^2)`, which is nearly the square of the
//! result. One step of Halley's method cubes its error. The step estimates the starting value's error as the difference
//! of two close numbers. Near zero these are erf and `x`. Elsewhere they are erfcx and `(1 - x) e^(z^2)`, neither of
//! which underflows; there their errors hardly affect the result.

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

/// The number with erf `a` and erfc `v`, where `a + v = 1`; NaN if `v` is negative.
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
