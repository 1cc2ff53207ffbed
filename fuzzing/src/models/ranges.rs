//! Guesses at the ranges of values, op by op, which keep the arguments of functions where results are not all alike.

use fuser_ir::DType;

/// From the least to the greatest of several ranges.
pub fn hull(ranges: &[(f64, f64)]) -> (f64, f64) {
    let low = ranges.iter().map(|r| r.0).fold(f64::INFINITY, f64::min);
    let high = ranges.iter().map(|r| r.1).fold(f64::NEG_INFINITY, f64::max);
    (low, high)
}

fn corners(a: (f64, f64), b: (f64, f64), f: fn(f64, f64) -> f64) -> (f64, f64) {
    let all = [f(a.0, b.0), f(a.0, b.1), f(a.1, b.0), f(a.1, b.1)];
    hull(&all.map(|v| (v, v)))
}

fn rising(x: (f64, f64), f: fn(f64) -> f64) -> (f64, f64) {
    (f(x.0), f(x.1))
}

/// The range of an elementwise op's result for these ranges of operands.
pub fn of(name: &str, operands: &[(f64, f64)], dtype: DType) -> (f64, f64) {
    let x = operands.first().copied().unwrap_or((0.0, 1.0));
    let y = operands.get(1).copied().unwrap_or(x);
    let z = operands.get(2).copied().unwrap_or(y);
    match name {
        "add" => (x.0 + y.0, x.1 + y.1),
        "sub" => (x.0 - y.1, x.1 - y.0),
        "mul" => corners(x, y, |a, b| a * b),
        "div" if y.0 > 0.0 || y.1 < 0.0 => corners(x, y, |a, b| a / b),
        "neg" => (-x.1, -x.0),
        "abs" if x.0 < 0.0 && x.1 > 0.0 => (0.0, x.1.max(-x.0)),
        "abs" => (x.0.abs().min(x.1.abs()), x.0.abs().max(x.1.abs())),
        "exp" => rising(x, f64::exp),
        "exp2" => rising(x, f64::exp2),
        "expm1" => rising(x, f64::exp_m1),
        "log" if x.0 > 0.0 => rising(x, f64::ln),
        "log2" if x.0 > 0.0 => rising(x, f64::log2),
        "log10" if x.0 > 0.0 => rising(x, f64::log10),
        "log1p" if x.0 > -1.0 => rising(x, f64::ln_1p),
        "sqrt" if x.0 >= 0.0 => rising(x, f64::sqrt),
        "rsqrt" if x.0 > 0.0 => (1.0 / x.1.sqrt(), 1.0 / x.0.sqrt()),
        "reciprocal" if x.0 > 0.0 => (1.0 / x.1, 1.0 / x.0),
        "sigmoid" => rising(x, |v| 1.0 / (1.0 + (-v).exp())),
        "silu" => (-0.28, x.1.max(0.0)),
        "tanh" => rising(x, f64::tanh),
        "sin" | "cos" | "erf" | "sign" => (-1.0, 1.0),
        "asin" | "atan" => (-1.6, 1.6),
        "acos" => (0.0, 3.2),
        "atan2" => (-3.2, 3.2),
        "erfc" => (0.0, 2.0),
        "erfinv" | "erfcinv" => (-4.0, 4.0),
        // From 1.5 on, where it rises.
        "lgamma" => (-0.13, x.1 * x.1),
        "sinh" => rising(x, f64::sinh),
        "cosh" => (1.0, x.0.cosh().max(x.1.cosh())),
        "asinh" => rising(x, f64::asinh),
        "acosh" if x.0 >= 1.0 => rising(x, f64::acosh),
        "atanh" if x.0 > -1.0 && x.1 < 1.0 => rising(x, f64::atanh),
        "relu" => rising(x, |v| v.max(0.0)),
        "ceil" | "floor" | "round" | "trunc" => (x.0.floor(), x.1.ceil()),
        "maximum" | "fmax" => (x.0.max(y.0), x.1.max(y.1)),
        "minimum" | "fmin" => (x.0.min(y.0), x.1.min(y.1)),
        "clamp" => (y.0, z.1),
        "where" => hull(&[y, z]),
        "rem" | "remainder" => (-y.0.abs().max(y.1.abs()), y.0.abs().max(y.1.abs())),
        "pow" if x.0 >= 0.0 => corners(x, y, f64::powf),
        "compare" | "isnan" | "isfinite" => (0.0, 1.0),
        "cast" => cast(x, dtype),
        _ => (
            -x.1.abs().max(x.0.abs()) - 1e3,
            x.1.abs().max(x.0.abs()) + 1e3,
        ),
    }
}

fn cast(x: (f64, f64), to: DType) -> (f64, f64) {
    if to.is_float() {
        return x;
    }
    let (low, high) = to.int_range();
    let (low, high) = (low as f64, high as f64);
    match x.0 >= low && x.1 <= high {
        true => x,
        false => (low, high),
    }
}

/// The range of a reduction of `n` elements.
pub fn reduction(name: &str, x: (f64, f64), n: u64) -> (f64, f64) {
    let n = n as f64;
    match name {
        "sum" => (x.0.min(0.0) * n, x.1.max(0.0) * n),
        "prod" => {
            let most = x.0.abs().max(x.1.abs()).powf(n).max(1.0);
            (if x.0 >= 0.0 { 0.0 } else { -most }, most)
        }
        _ => x,
    }
}
