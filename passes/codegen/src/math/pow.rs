//! pow, with the special cases of IEEE 754-2019 (and of C).
//!
//! f32 goes through f64, whose logarithm leaves bits to spare. f64 takes its logarithm in two parts, good to about 2^-64,
//! because an exponent of 700 multiplies the error. A small constant exponent is products, with the same special cases.

use super::exp::{Sign, exp, exp_of_sum};
use super::log::{log, log_in_two_parts};
use crate::expr::{Elem, Val};

pub fn pow<'e, 'ctx>(x: Val<'e, 'ctx>, y: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    if let Some(product) = y.constant().and_then(|y| small_power(x, y)) {
        return product;
    }
    let a = x.abs();
    let magnitude = if x.is_f64() {
        power_f64(a, y)
    } else {
        power_f32(a, y)
    };
    with_edges(x, y, magnitude)
}

/// The powers whose products round once, or once in f64 and once to f32: the f64 square of an f32 is exact. In f64 only
/// the square qualifies.
fn small_power<'e, 'ctx>(x: Val<'e, 'ctx>, exponent: f64) -> Option<Val<'e, 'ctx>> {
    if exponent == 2.0 {
        return Some(x * x);
    }
    let power: fn(Val<'e, 'ctx>) -> Val<'e, 'ctx> = match exponent {
        3.0 => |x| x * x * x,
        4.0 => |x| (x * x) * (x * x),
        _ => return None,
    };
    let wide = (!x.is_f64()).then(|| x.extend(Elem::F64))?;
    Some(power(wide).round_to(Elem::F32))
}

fn power_f32<'e, 'ctx>(a: Val<'e, 'ctx>, y: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let exponent = log(a.extend(Elem::F64)) * y.extend(Elem::F64);
    exp(exponent).round_to(Elem::F32)
}

fn power_f64<'e, 'ctx>(a: Val<'e, 'ctx>, y: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let (log_high, log_low) = log_in_two_parts(a);
    let high = y * log_high;
    let low = y.fma(log_high, -high) + y * log_low;
    // Out of this range the result overflows or vanishes, and the correction may be infinity minus infinity.
    let out_of_range = high.abs().gt(800.0);
    exp_of_sum(high, low.except(out_of_range, 0.0), 1.0, Sign::Any)
}

fn with_edges<'e, 'ctx>(
    x: Val<'e, 'ctx>,
    y: Val<'e, 'ctx>,
    magnitude: Val<'e, 'ctx>,
) -> Val<'e, 'ctx> {
    let a = x.abs();
    let integral = y.trunc().eq(y);
    let half = y * 0.5;
    let odd = integral
        .and(half.trunc().ne(half))
        .and(y.abs().lt(f64::INFINITY));
    let infinity = x.float(f64::INFINITY);
    let y_infinite = y.abs().eq(f64::INFINITY);
    let x_extreme = a.eq(0.0).or(a.eq(f64::INFINITY));
    // Zero and infinity to a power, and anything to an infinite power, are zero or infinity by the signs alone.
    let grows = a.gt(1.0).xor(y.lt(0.0));
    let extreme = grows.select(infinity, 0.0);
    let result = magnitude.except(x_extreme.or(y_infinite), extreme);
    let no_root = x.lt(0.0).and(a.lt(f64::INFINITY)).and(integral.flip());
    let result = result.except(no_root, f64::NAN);
    let negative = x.to_bits().lt(0).and(odd);
    let result = result.except(negative, -result);
    let result = result.except(x.is_nan().or(y.is_nan()), f64::NAN);
    let minus_one_to_infinity = x.eq(-1.0).and(y_infinite);
    result.except(x.eq(1.0).or(y.eq(0.0)).or(minus_one_to_infinity), 1.0)
}
