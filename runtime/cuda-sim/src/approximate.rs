//! Approximate instructions, as bad as the PTX ISA allows.
//!
//! The ISA bounds the error of these (version 8.6, sections 9.7.3.7 to 9.7.3.21) and leaves their bits open. Here a finite result that is not zero is
//! as far from the exact one as the bound lets it be, away from zero or towards it by a bit of the operand: a kernel whose results are right with
//! these is right with what hardware computes. Operands of zero, infinities and NaN give what the ISA says.

use crate::compute::{Row, f, of_f32};
use crate::demanded::Reads;

/// The row of an instruction on `f32`; `None` if the table lacks the name.
pub fn find(root: &str) -> Option<Row> {
    let (compute, operands): (crate::compute::Compute, usize) = match root {
        "ex2.approx" => (|a, _, _| ulps(a, f64::from(f(a)).exp2(), 2), 1),
        "rcp.approx" => (|a, _, _| ulps(a, 1.0 / f64::from(f(a)), 1), 1),
        "rcp.approx.ftz" => (|a, _, _| flushed(a, 1.0 / f64::from(f(a)), 1), 1),
        "rsqrt.approx" => (
            |a, _, _| relative(a, 1.0 / f64::from(f(a)).sqrt(), -22.9),
            1,
        ),
        "tanh.approx" => (|a, _, _| relative(a, f64::from(f(a)).tanh(), -11.0), 1),
        "div.full" => (|a, b, _| ulps(a, f64::from(f(a)) / f64::from(f(b)), 2), 2),
        _ => return None,
    };
    Some(Row::of(compute, operands, Reads::All))
}

/// A result that is off by `most` units in the last place; rounding never exceeds that distance.
fn ulps(operand: u64, exact: f64, most: u32) -> u64 {
    let near = exact as f32;
    if near == 0.0 || !near.is_finite() || near.abs() >= f32::MAX / 2.0 {
        return of_f32(near);
    }
    // Half a unit is lost by rounding.
    let off = most - u32::from(f64::from(near) != exact);
    let bits = near.to_bits();
    of_f32(f32::from_bits(match operand & 1 == 0 {
        true => bits + off,
        false => bits - off.min(bits & 0x7FFF_FFFF),
    }))
}

/// The same, with zeros in the place of subnormals.
fn flushed(operand: u64, exact: f64, most: u32) -> u64 {
    if f(operand).is_subnormal() {
        return of_f32(f32::INFINITY.copysign(f(operand)));
    }
    let result = ulps(operand, exact, most);
    match f(result).is_subnormal() {
        true => of_f32(0.0_f32.copysign(f(result))),
        false => result,
    }
}

/// A result with a relative error of `2^power`.
fn relative(operand: u64, exact: f64, power: f64) -> u64 {
    if exact == 0.0 || !exact.is_finite() {
        return of_f32(exact as f32);
    }
    // What rounding to f32 adds stays below the bound.
    let off = power.exp2() - f64::exp2(-24.0);
    let factor = if operand & 1 == 0 {
        1.0 + off
    } else {
        1.0 - off
    };
    of_f32((exact * factor) as f32)
}
