//! lgamma, the logarithm of the absolute value of the gamma function, in f64.
//!
//! The method uses `a = abs(x)`, shifted up by eight if it is below eight (Abramowitz and Stegun, 6.1.15). Eight terms
//! of Stirling's series (6.1.40) follow, which omit less than 10^-16. Below zero it applies the reflection formula
//! (6.1.17). The total rounding error is below 2^-46 of the result, or of 1 if the result is smaller. Near the roots
//! the error is absolute, so no bound in units in the last place holds. At the roots 1 and 2 the result is 0.

use std::f64::consts::PI;

use super::log::log;
use super::trig::sin;
use crate::expr::{Elem, Val};

/// The least argument for which the series applies directly. Lesser arguments are shifted by this amount.
const FAR: f64 = 8.0;
/// `B(2k) / (2k (2k - 1))`
const SERIES: [f64; 8] = [
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1260.0,
    -1.0 / 1680.0,
    1.0 / 1188.0,
    -691.0 / 360_360.0,
    1.0 / 156.0,
    -3617.0 / 122_400.0,
];
/// The least argument, near zero, for which the difference `2 gamma x` between the two sides is negligible.
const BESIDE_ZERO: f64 = -1.0 / (1_u64 << 60) as f64;
/// `log(2 pi) / 2`
const HALF_LOG_TAU: f64 = 0.918_938_533_204_672_7;
/// `log(pi)`
const LOG_PI: f64 = 1.144_729_885_849_400_2;

/// Infinite at 0, at negative integers and at both infinities.
pub fn lgamma<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    if !x.is_f64() {
        return lgamma(x.extend(Elem::F64)).round_to(Elem::F32);
    }
    let a = x.abs();
    let above = above_zero(a);
    let y = above.except(x.lt(BESIDE_ZERO), reflected(a, above));
    let roots = x.eq(1.0).or(x.eq(2.0));
    let y = y.except(roots, 0.0);
    y.except(x.eq(f64::NEG_INFINITY), f64::INFINITY)
}

/// lgamma of what is not negative.
fn above_zero<'e, 'ctx>(a: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let near = a.lt(FAR);
    let steps = (1..FAR as i32).map(f64::from);
    let product = steps.fold(a, |product, step| product * (a + step));
    let product = a.float(1.0).except(near, product);
    let z = a.except(near, a + FAR);
    // (z - 1/2) (log z - 1) - 1/2 + log(2 pi) / 2, and the series in 1/z.
    let main = (z - 0.5) * (log(z) - 1.0);
    let inverse = z.float(1.0).over(z);
    let series = inverse * (inverse * inverse).poly(&SERIES);
    main + (series + (HALF_LOG_TAU - 0.5)) - log(product)
}

/// lgamma of `-a`: `log(pi / (a abs(sin(pi a)))) - lgamma(a)`.
fn reflected<'e, 'ctx>(a: Val<'e, 'ctx>, above: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let rest = a - a.round_even();
    let sine = sin(rest * PI).abs();
    let y = -(log(sine) + log(a) + above) + LOG_PI;
    // Where `above` is infinite, too.
    y.except(sine.eq(0.0), f64::INFINITY)
}
