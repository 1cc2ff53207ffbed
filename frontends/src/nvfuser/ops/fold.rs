//! Arithmetic on known numbers, by which a definition computes extents and amounts and chooses between them.
//!
//! The type of a result is that of the op on scalars; an f32 result is rounded to f32. Operations that would overflow,
//! divide by zero or need another type are never folded: they stay ops of the program.

use std::cmp::Ordering;

use fuser_ir::types::DType;

use crate::nvfuser::args::Args;
use crate::nvfuser::value::{Config, Number, Val, common};

/// An op on integers, and on floats.
struct Rule {
    name: &'static str,
    config: Config,
    ints: fn(i128, i128) -> Option<i128>,
    floats: fn(f64, f64) -> f64,
}

/// The ops on two numbers; for ops on one number, the second is 1.
const RULES: &[Rule] = &[
    rule(
        "abs",
        Config::Default,
        |a, _| a.checked_abs(),
        |a, _| a.abs(),
    ),
    rule("add", Config::Default, i128::checked_add, |a, b| a + b),
    rule("ceil", Config::Keep, |a, _| Some(a), |a, _| a.ceil()),
    rule("div", Config::Default, i128::checked_div, |a, b| a / b),
    rule("floor", Config::Keep, |a, _| Some(a), |a, _| a.floor()),
    rule("fmod", Config::Default, i128::checked_rem, |a, b| a % b),
    rule("maximum", Config::Default, |a, b| Some(a.max(b)), greater),
    rule(
        "minimum",
        Config::Default,
        |a, b| Some(a.min(b)),
        |a, b| -greater(-a, -b),
    ),
    rule("mod", Config::Default, i128::checked_rem, |a, b| a % b),
    rule("mul", Config::Default, i128::checked_mul, |a, b| a * b),
    rule("neg", Config::Default, |a, _| a.checked_neg(), |a, _| -a),
    rule("reciprocal", Config::Float, |_, _| None, |a, _| 1.0 / a),
    rule(
        "round",
        Config::Keep,
        |a, _| Some(a),
        |a, _| a.round_ties_even(),
    ),
    rule("sub", Config::Default, i128::checked_sub, |a, b| a - b),
    rule("truediv", Config::Float, |_, _| None, |a, b| a / b),
    rule("trunc", Config::Keep, |a, _| Some(a), |a, _| a.trunc()),
];

const fn rule(
    name: &'static str,
    config: Config,
    ints: fn(i128, i128) -> Option<i128>,
    floats: fn(f64, f64) -> f64,
) -> Rule {
    Rule {
        name,
        config,
        ints,
        floats,
    }
}

/// A name, and the orders for which the comparison holds.
type Test = (&'static str, fn(Option<Ordering>) -> bool);

/// A name, and the op of two truth values.
type Truth = (&'static str, fn(bool, bool) -> bool);

/// The comparisons, each as a predicate on the order of two numbers; the order is `None` if either is NaN.
const TESTS: &[Test] = &[
    ("eq", |order| order == Some(Ordering::Equal)),
    ("ge", |order| order.is_some_and(Ordering::is_ge)),
    ("gt", |order| order.is_some_and(Ordering::is_gt)),
    ("le", |order| order.is_some_and(Ordering::is_le)),
    ("lt", |order| order.is_some_and(Ordering::is_lt)),
    ("ne", |order| order != Some(Ordering::Equal)),
];

/// The ops on booleans; for ops on one boolean, the second is the same.
const TRUTHS: &[Truth] = &[
    ("logical_and", |a, b| a && b),
    ("logical_not", |a, _| !a),
    ("logical_or", |a, b| a || b),
];

/// A name, and a bitwise operation on two integers or booleans.
type Bits = (&'static str, fn(i128, i128) -> i128);

/// The ops of bits.
const BITS: &[Bits] = &[
    ("bitwise_and", |a, b| a & b),
    ("bitwise_or", |a, b| a | b),
    ("bitwise_xor", |a, b| a ^ b),
];

/// The greater float; a NaN wins, and `-0` is below `+0`.
fn greater(a: f64, b: f64) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => a,
        (_, true) => b,
        _ if a.total_cmp(&b).is_ge() => a,
        _ => b,
    }
}

/// A number and its type.
type Typed = (Number, DType);

/// The number that `fd.ops.NAME` makes of numbers, if it is known.
pub fn known<'s>(name: &str, args: &Args<'s>) -> Option<Val<'s>> {
    let number = |value: &Val<'s>| match value {
        Val::Number(number, stated) => Some((*number, stated.unwrap_or(number.dtype()))),
        _ => None,
    };
    if name == "cast" {
        let to = args.dtype(1, &["dtype"]).ok()??;
        let (number, _) = number(args.get(0, &["arg"])?)?;
        return of(number, to).map(|number| Val::Number(number, Some(to)));
    }
    let given = args.all().map(number).collect::<Option<Vec<_>>>()?;
    let (a, b) = match *given.as_slice() {
        [condition, a, b] if name == "where" => {
            let dtype = common(&[(2, a.1), (2, b.1)], Config::Keep);
            let chosen = if truth(condition.0)? { a } else { b };
            return of(chosen.0, dtype).map(|number| Val::Number(number, Some(dtype)));
        }
        [a] => (a, None),
        [a, b] => (a, Some(b)),
        _ => return None,
    };
    let truth = decided(name, a, b);
    if let Some(truth) = truth {
        return Some(Val::Number(Number::Bool(truth), Some(DType::I1)));
    }
    if let Some((_, bits)) = BITS.iter().find(|(known, _)| *known == name) {
        let dtype = common(&[(2, a.1), (2, b?.1)], Config::Default);
        let whole = |number| match of(number, dtype)? {
            Number::Int(n) => Some(n),
            Number::Bool(truth) => Some(truth.into()),
            _ => None,
        };
        let made = of(Number::Int(bits(whole(a.0)?, whole(b?.0)?)), dtype);
        return made.map(|number| Val::Number(number, Some(dtype)));
    }
    let rule = RULES.iter().find(|rule| rule.name == name)?;
    let b = b.unwrap_or((Number::Int(1), a.1));
    let dtype = common(&[(2, a.1), (2, b.1)], rule.config);
    let made = match (of(a.0, dtype)?, of(b.0, dtype)?) {
        (Number::Bool(_), _) => return None,
        (Number::Int(a), Number::Int(b)) => Number::Int((rule.ints)(a, b)?),
        (a, b) => Number::Float((rule.floats)(a.float(), b.float())),
    };
    of(made, dtype).map(|number| Val::Number(number, Some(dtype)))
}

/// The outcome of a comparison, or of an op of truth values.
fn decided(name: &str, a: Typed, b: Option<Typed>) -> Option<bool> {
    if let Some((_, holds)) = TRUTHS.iter().find(|(known, _)| *known == name) {
        return Some(holds(truth(a.0)?, truth(b.unwrap_or(a).0)?));
    }
    if name == "signbit" && b.is_none() {
        return truth(a.0).map(|_| a.0.float().is_sign_negative());
    }
    let (_, holds) = TESTS.iter().find(|(known, _)| *known == name)?;
    let b = b?;
    let dtype = common(&[(2, a.1), (2, b.1)], Config::Default);
    let order = match (of(a.0, dtype)?, of(b.0, dtype)?) {
        (Number::Int(a), Number::Int(b)) => Some(a.cmp(&b)),
        (a, b) => a.float().partial_cmp(&b.float()),
    };
    Some(holds(order))
}

/// The truth value of a real number.
fn truth(number: Number) -> Option<bool> {
    let real = !matches!(number, Number::Complex(..));
    real.then(|| number.float() != 0.0)
}

/// A number in a type: booleans, integers of 32 and 64 bits, `f32` and `f64`.
fn of(number: Number, dtype: DType) -> Option<Number> {
    let number = match number {
        Number::Complex(..) => return None,
        Number::Bool(_) if dtype == DType::I1 => return Some(number),
        Number::Bool(value) => Number::Int(value.into()),
        number => number,
    };
    match (dtype, number) {
        (DType::I1, number) => truth(number).map(Number::Bool),
        (DType::I32 | DType::I64, number) => {
            let int = match number {
                Number::Int(n) => n,
                number => Some(number.float()).filter(|n| n.abs() < 1e18)? as i128,
            };
            let fits = match dtype {
                DType::I32 => i32::try_from(int).is_ok(),
                _ => i64::try_from(int).is_ok(),
            };
            fits.then_some(Number::Int(int))
        }
        (DType::F32, number) => Some(Number::Float(f64::from(number.float() as f32))),
        (DType::F64, number) => Some(Number::Float(number.float())),
        _ => None,
    }
}
