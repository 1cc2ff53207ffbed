//! Arithmetic on numbers that are known: a definition computes extents and amounts with it.
//!
//! The type of a result is that of the op on scalars; one of f32 is rounded to it. Never folds what would overflow its type, divide by zero
//! or need another type: that stays an op of the program.

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

/// The ops of two numbers; of one number the second is 1.
const RULES: &[Rule] = &[
    rule("add", Config::Default, i128::checked_add, |a, b| a + b),
    rule("div", Config::Default, i128::checked_div, |a, b| a / b),
    rule("fmod", Config::Default, i128::checked_rem, |a, b| a % b),
    rule("mod", Config::Default, i128::checked_rem, |a, b| a % b),
    rule("mul", Config::Default, i128::checked_mul, |a, b| a * b),
    rule("neg", Config::Default, |a, _| a.checked_neg(), |a, _| -a),
    rule("reciprocal", Config::Float, |_, _| None, |a, _| 1.0 / a),
    rule("sub", Config::Default, i128::checked_sub, |a, b| a - b),
    rule("truediv", Config::Float, |_, _| None, |a, b| a / b),
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
    let rule = RULES.iter().find(|rule| rule.name == name)?;
    let given = args.all().map(number).collect::<Option<Vec<_>>>()?;
    let (a, b) = match given.as_slice() {
        [a] => (*a, (Number::Int(1), a.1)),
        [a, b] => (*a, *b),
        _ => return None,
    };
    let dtype = common(&[(2, a.1), (2, b.1)], rule.config);
    let made = match (of(a.0, dtype)?, of(b.0, dtype)?) {
        (Number::Int(a), Number::Int(b)) => Number::Int((rule.ints)(a, b)?),
        (a, b) => Number::Float((rule.floats)(a.float(), b.float())),
    };
    of(made, dtype).map(|number| Val::Number(number, Some(dtype)))
}

/// A number in a type: integers of 32 and 64 bits, `f32` and `f64`.
fn of(number: Number, dtype: DType) -> Option<Number> {
    match (dtype, number) {
        (_, Number::Complex(..) | Number::Bool(_)) => None,
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
