//! Arithmetic on one element, exactly as the op tables define it.
//!
//! Folds only functions that are exact or correctly rounded by definition: no transcendental function, and no NaN
//! result, whose bits no op specifies.

use fuser_ir::float;
use fuser_ir::types::DType;

/// One element: an integer (`i1` as 0 or 1), or a float held exactly.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// A value in the range of its type.
    Int(i128),
    /// A value of its float type, widened.
    Float(f64),
}

/// An element and its type.
#[derive(Clone, Copy, Debug)]
pub struct Scalar {
    /// The value.
    pub number: Number,
    /// The element type.
    pub dtype: DType,
}

/// Above this, an integer may not fit f32 exactly.
const EXACT_IN_F32: i128 = 1 << 24;

impl Scalar {
    /// A truth value.
    pub fn truth(value: bool) -> Self {
        Self::int(i128::from(value), DType::I1)
    }
    /// An integer, wrapped to its type.
    pub fn int(value: i128, dtype: DType) -> Self {
        let number = Number::Int(wrap(value, dtype));
        Self { number, dtype }
    }
    /// A float, rounded once to its type.
    pub fn float(value: f64, dtype: DType) -> Self {
        let number = Number::Float(round(value, dtype));
        Self { number, dtype }
    }
    /// The integer, if it is one.
    pub fn as_int(self) -> Option<i128> {
        match self.number {
            Number::Int(v) => Some(v),
            Number::Float(_) => None,
        }
    }
    /// The float, if it is one.
    pub fn as_float(self) -> Option<f64> {
        match self.number {
            Number::Float(v) => Some(v),
            Number::Int(_) => None,
        }
    }
    /// True if the scalar is this integer, or the float with exactly these bits.
    pub fn is(self, int: i128, float: f64) -> bool {
        match self.number {
            Number::Int(v) => v == int,
            Number::Float(v) => v.to_bits() == float.to_bits(),
        }
    }
}

/// The low bits of `value`, read as `dtype`.
pub fn wrap(value: i128, dtype: DType) -> i128 {
    let bits = dtype.bits();
    let low = value & ((1 << bits) - 1);
    let negative = dtype.is_signed() && low >> (bits - 1) == 1;
    if negative { low - (1 << bits) } else { low }
}

/// `value` rounded once, to nearest even, to a float type.
pub fn round(value: f64, dtype: DType) -> f64 {
    match dtype {
        DType::F32 => f64::from(value as f32),
        DType::F16 => half::f16::from_f32(to_odd(value)).to_f64(),
        DType::BF16 => half::bf16::from_f32(to_odd(value)).to_f64(),
        _ if dtype.is_storage() => f64::from_bits(float::nearest(dtype, value)),
        _ => value,
    }
}

/// `value` truncated to f32, with the last bit set if the truncation was inexact (round to odd). A later rounding to
/// fewer bits then gives the correctly rounded `value`.
fn to_odd(value: f64) -> f32 {
    let near = value as f32;
    let back = f64::from(near);
    if back == value || value.is_nan() {
        return near;
    }
    let toward_zero = match back.abs() > value.abs() {
        true => near.to_bits() - 1,
        false => near.to_bits(),
    };
    f32::from_bits(toward_zero | 1)
}

/// Evaluates a float op in the computation type of `dtype`; `None` if the result is a NaN.
fn compute(
    dtype: DType,
    in_f64: impl FnOnce() -> f64,
    in_f32: impl FnOnce() -> f32,
) -> Option<Scalar> {
    let value = match dtype {
        DType::F64 => in_f64(),
        _ => f64::from(in_f32()),
    };
    (!value.is_nan()).then(|| Scalar::float(value, dtype))
}

/// A binary op by its short name, on operands of one type.
pub fn binary(op: &str, a: Scalar, b: Scalar) -> Option<Scalar> {
    match (a.number, b.number) {
        (Number::Int(x), Number::Int(y)) => int_binary(op, x, y, a.dtype),
        (Number::Float(x), Number::Float(y)) => float_binary(op, x, y, a.dtype),
        _ => None,
    }
}

fn int_binary(op: &str, x: i128, y: i128, dtype: DType) -> Option<Scalar> {
    let count = u32::try_from(y).ok().filter(|&count| count < dtype.bits());
    let value = match op {
        "add" => x + y,
        "sub" => x - y,
        "mul" => x.wrapping_mul(y),
        "div" => x.checked_div(y).unwrap_or(0),
        "rem" => x.checked_rem(y).unwrap_or(x),
        "maximum" => x.max(y),
        "minimum" => x.min(y),
        "and" => x & y,
        "or" => x | y,
        "xor" => x ^ y,
        "shl" => count.map_or(0, |count| x << count),
        "shr" => x >> count.unwrap_or(127),
        _ => return None,
    };
    Some(Scalar::int(value, dtype))
}

fn float_binary(op: &str, x: f64, y: f64, dtype: DType) -> Option<Scalar> {
    let (p, q) = (x as f32, y as f32);
    match op {
        "add" => compute(dtype, || x + y, || p + q),
        "sub" => compute(dtype, || x - y, || p - q),
        "mul" => compute(dtype, || x * y, || p * q),
        "div" => compute(dtype, || x / y, || p / q),
        "rem" => compute(dtype, || x % y, || p % q),
        "maximum" if x.is_nan() || y.is_nan() => None,
        "minimum" if x.is_nan() || y.is_nan() => None,
        "fmax" if x.is_nan() || y.is_nan() => None,
        "fmin" if x.is_nan() || y.is_nan() => None,
        "maximum" | "fmax" => Some(Scalar::float(if below(x, y) { y } else { x }, dtype)),
        "minimum" | "fmin" => Some(Scalar::float(if below(x, y) { x } else { y }, dtype)),
        _ => None,
    }
}

/// `x < y`, with `-0 < +0`.
fn below(x: f64, y: f64) -> bool {
    x < y || (x == y && x.is_sign_negative() && y.is_sign_positive())
}

/// A unary op by its short name.
pub fn unary(op: &str, x: Scalar) -> Option<Scalar> {
    match x.number {
        Number::Int(v) => int_unary(op, v, x.dtype),
        Number::Float(v) => float_unary(op, v, x.dtype),
    }
}

fn int_unary(op: &str, x: i128, dtype: DType) -> Option<Scalar> {
    let value = match op {
        "neg" => -x,
        "abs" => x.abs(),
        "sign" => x.signum(),
        "relu" => x.max(0),
        "not" => !x,
        _ => return None,
    };
    Some(Scalar::int(value, dtype))
}

fn float_unary(op: &str, x: f64, dtype: DType) -> Option<Scalar> {
    let p = x as f32;
    match op {
        "isnan" => Some(Scalar::truth(x.is_nan())),
        "isfinite" => Some(Scalar::truth(x.is_finite())),
        _ if x.is_nan() => None,
        "neg" => compute(dtype, || -x, || -p),
        "abs" => compute(dtype, || x.abs(), || p.abs()),
        "sign" if x == 0.0 => compute(dtype, || x, || p),
        "sign" => compute(dtype, || x.signum(), || p.signum()),
        "ceil" => compute(dtype, || x.ceil(), || p.ceil()),
        "floor" => compute(dtype, || x.floor(), || p.floor()),
        "round" => compute(dtype, || x.round_ties_even(), || p.round_ties_even()),
        "trunc" => compute(dtype, || x.trunc(), || p.trunc()),
        "sqrt" => compute(dtype, || x.sqrt(), || p.sqrt()),
        "reciprocal" => compute(dtype, || 1.0 / x, || 1.0 / p),
        "relu" => Some(Scalar::float(if x > 0.0 { x } else { 0.0 }, dtype)),
        _ => None,
    }
}

/// `fusion.compare`
pub fn compare(predicate: &str, a: Scalar, b: Scalar) -> Option<Scalar> {
    let order = match (a.number, b.number) {
        (Number::Int(x), Number::Int(y)) => Some(x.cmp(&y)),
        (Number::Float(x), Number::Float(y)) => x.partial_cmp(&y),
        _ => return None,
    };
    let holds = match predicate {
        "eq" => order.is_some_and(|o| o.is_eq()),
        "ne" => order.is_none_or(|o| o.is_ne()),
        "lt" => order.is_some_and(|o| o.is_lt()),
        "le" => order.is_some_and(|o| o.is_le()),
        "gt" => order.is_some_and(|o| o.is_gt()),
        "ge" => order.is_some_and(|o| o.is_ge()),
        _ => return None,
    };
    Some(Scalar::truth(holds))
}

/// `fusion.cast`; `None` where the result is a NaN.
pub fn cast(x: Scalar, to: DType) -> Option<Scalar> {
    match x.number {
        Number::Int(v) if to == DType::I1 => Some(Scalar::truth(v != 0)),
        Number::Int(v) if to.is_int() => Some(Scalar::int(v, to)),
        Number::Int(v) => int_to_float(v, to),
        Number::Float(v) if to == DType::I1 => Some(Scalar::truth(v != 0.0)),
        Number::Float(v) if to.is_int() => Some(Scalar::int(saturate(v, to), to)),
        Number::Float(v) => (!round(v, to).is_nan()).then(|| Scalar::float(v, to)),
    }
}

/// An integer as a float, rounded once; `None` for a 16-bit float of an integer that f32 may not hold.
pub fn int_to_float(value: i128, to: DType) -> Option<Scalar> {
    let number = match to {
        DType::F64 => value as f64,
        DType::F32 => f64::from(value as f32),
        _ if value.abs() <= EXACT_IN_F32 => value as f64,
        _ => return None,
    };
    (!round(number, to).is_nan()).then(|| Scalar::float(number, to))
}

fn saturate(value: f64, to: DType) -> i128 {
    let cut = value.trunc() as i128;
    let (low, high) = to.int_range();
    cut.clamp(low, high)
}
