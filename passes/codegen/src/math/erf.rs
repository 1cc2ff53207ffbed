//! erf and erfc.
//!
//! Near zero, erf is `x + x P(x^2)`. Elsewhere both functions come from `erfcx(x) = e^(x^2) erfc(x)`. That function is
//! smooth enough for one polynomial in `(x - 4) / (x + 4)` over the whole range; `e^(-x^2)` uses the square in two
//! parts. erf of f32, which is 1 from 4 on, avoids the divisions: `1 - e^(-x Q(x))`.

use super::coefficients as c;
use super::exp::{Sign, exp_of_sum, exp_within_range};
use crate::expr::Val;

/// Beyond this erfc is zero in either format.
const FAR: f64 = 28.0;

/// `e^(a^2) erfc(a)` for `0 <= a <= 28`.
pub(super) fn erfcx<'e, 'ctx>(a: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let t = (a - 4.0).over(a + 4.0);
    let q = if a.is_f64() {
        t.poly(&c::ERFCX_F64)
    } else {
        t.poly(&c::ERFCX_F32)
    };
    q.over(a.fma(2.0, 1.0))
}

/// `erfc(a)` for `a >= 0`, with relative accuracy down into the subnormals.
fn erfc_of_magnitude<'e, 'ctx>(a: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let a = a.except(a.gt(FAR), FAR);
    let square = a * a;
    let lost = -a.fma(a, -square);
    exp_of_sum(-square, lost, erfcx(a), Sign::Nonpositive)
}

/// `erfc(a)` of f32 for `a >= 1`, as precise as one minus it needs. It is less than a sixth, so that roundings here count
/// little, and the chains of steps are kept short.
fn erfc_to_f32_precision_of_one<'e, 'ctx>(a: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let a = a.except(a.gt(4.0), 4.0);
    exp_within_range(-(a * a.poly_by_pairs(&c::ERFC_LOG_F32)))
}

/// `erf(x)` for `|x| <= 1`.
pub(super) fn erf_near_zero<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let z = x * x;
    let head = if x.is_f64() {
        z.poly(&c::ERF_HEAD_F64)
    } else {
        z.poly(&c::ERF_HEAD_F32)
    };
    x.fma(head, x)
}

pub fn erf<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let a = x.abs();
    let z = x * x;
    let head = if x.is_f64() {
        z.poly(&c::ERF_HEAD_F64)
    } else {
        z.poly(&c::ERF_HEAD_F32)
    };
    let erfc = if x.is_f64() {
        erfc_of_magnitude(a)
    } else {
        erfc_to_f32_precision_of_one(a)
    };
    let far = (x.float(1.0) - erfc).copysign(x);
    far.except(a.lt(1.0), x.fma(head, x))
}

pub fn erfc<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let of_magnitude = erfc_of_magnitude(x.abs());
    let far = of_magnitude.except(x.lt(0.0), x.float(2.0) - of_magnitude);
    far.except(x.abs().lt(0.5), x.float(1.0) - erf_near_zero(x))
}
