//! The elementwise ops of the `fusion` dialect on scalars and vectors.
//!
//! [`RULES`] is the table: the legality check refuses ops without a rule, so the lowering never sees them. On 16-bit
//! floats a rule converts to f32, computes, and rounds once; sign changes, selections and bit casts preserve bits.

mod combine;
mod constant;
mod extremes;
mod numeric;
mod philox;

use fuser_dialects::{fusion, kernel};
use fuser_ir::{DType, Ir, Op, OpDef, TypeKind};

pub use combine::Combiner;
use constant::constant;
pub use extremes::{Extreme, Way, extreme};
use extremes::{maximum, maximum_number, minimum, minimum_number};
use numeric::*;

use super::remainder::remainder;
use super::types::{Shape, format, register};
use crate::convert::{convert, from_f32, widen_float};
use crate::error::CodegenError;
use crate::expr::{Elem, Emit, Val};
use crate::math::{self, Emitter, Unary, gamma, quotient};

/// A function of two values that serves every lifetime.
type Binary = for<'e, 'ctx> fn(Val<'e, 'ctx>, Val<'e, 'ctx>) -> Val<'e, 'ctx>;
/// The flag says whether the integers are signed.
type IntUnary = for<'e, 'ctx> fn(Val<'e, 'ctx>, bool) -> Val<'e, 'ctx>;
type IntBinary = for<'e, 'ctx> fn(Val<'e, 'ctx>, Val<'e, 'ctx>, bool) -> Val<'e, 'ctx>;

/// The rule by which an op is lowered.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// A function of the math library, by name.
    Math(&'static str),
    /// The operand times a function of the math library.
    TimesMath(&'static str),
    /// A float function of one operand.
    Float(Unary),
    /// A float function of two operands.
    FloatPair(Binary),
    /// A property of a float, `i1`.
    Test(Unary),
    /// Floats and integers, one operand.
    Numeric(Unary, IntUnary),
    /// Floats and integers, two operands.
    NumericPair(Binary, IntBinary),
    /// As the two before, for functions that commute with rounding: the f32 result, rounded to bf16, equals the result
    /// of native bf16 arithmetic.
    Close(Unary, IntUnary),
    ClosePair(Binary, IntBinary),
    /// Sign bits of floats; integers likewise.
    Sign {
        float: Unary,
        bits16: Unary,
        int: IntUnary,
    },
    /// Bits of integers.
    Bits(Unary),
    /// Bits of two integers.
    BitsPair(IntBinary),
    /// Ops that depend on their clauses or several types: see [`emit`].
    Compare,
    Where,
    Clamp,
    Cast,
    Bitcast,
    Constant,
    Philox,
}

/// The elementwise ops that kernels may contain.
pub static RULES: &[(&OpDef, Rule)] = &[
    (
        &fusion::NEG,
        Rule::Sign {
            float: |x| -x,
            bits16: |x| x.xor(0x8000),
            int: |x, _| -x,
        },
    ),
    (
        &fusion::ABS,
        Rule::Sign {
            float: |x| x.abs(),
            bits16: |x| x.and(0x7fff),
            int: abs_int,
        },
    ),
    (&fusion::SIGN, Rule::Numeric(sign_float, sign_int)),
    (&fusion::CEIL, Rule::Float(|x| x.ceil())),
    (&fusion::FLOOR, Rule::Float(|x| x.floor())),
    (&fusion::ROUND, Rule::Float(|x| x.round_even())),
    (&fusion::TRUNC, Rule::Float(|x| x.trunc())),
    (&fusion::EXP, Rule::Math("exp")),
    (&fusion::EXP2, Rule::Math("exp2")),
    (&fusion::EXPM1, Rule::Math("expm1")),
    (&fusion::LOG, Rule::Math("log")),
    (&fusion::LOG2, Rule::Math("log2")),
    (&fusion::LOG10, Rule::Math("log10")),
    (&fusion::LOG1P, Rule::Math("log1p")),
    (&fusion::SQRT, Rule::Math("sqrt")),
    (&fusion::RSQRT, Rule::Math("rsqrt")),
    (&fusion::RECIPROCAL, Rule::Math("reciprocal")),
    (&fusion::SIN, Rule::Math("sin")),
    (&fusion::COS, Rule::Math("cos")),
    (&fusion::TAN, Rule::Math("tan")),
    (&fusion::ASIN, Rule::Math("asin")),
    (&fusion::ACOS, Rule::Math("acos")),
    (&fusion::ATAN, Rule::Math("atan")),
    (&fusion::SINH, Rule::Math("sinh")),
    (&fusion::COSH, Rule::Math("cosh")),
    (&fusion::TANH, Rule::Math("tanh")),
    (&fusion::ASINH, Rule::Math("asinh")),
    (&fusion::ACOSH, Rule::Math("acosh")),
    (&fusion::ATANH, Rule::Math("atanh")),
    (&fusion::ERF, Rule::Math("erf")),
    (&fusion::ERFC, Rule::Math("erfc")),
    (&fusion::ERFINV, Rule::Math("erfinv")),
    (&fusion::ERFCINV, Rule::Math("erfcinv")),
    (&fusion::LGAMMA, Rule::Float(gamma::lgamma)),
    (&fusion::SIGMOID, Rule::Math("sigmoid")),
    (&fusion::SILU, Rule::TimesMath("sigmoid")),
    (
        &fusion::RELU,
        Rule::Close(relu_float, |x, signed| max_int(x, x.int(0), signed)),
    ),
    (&fusion::NOT, Rule::Bits(|x| x.flip())),
    (&fusion::ISNAN, Rule::Test(|x| x.is_nan())),
    (&fusion::ISFINITE, Rule::Test(|x| x.abs().lt(f64::INFINITY))),
    (
        &fusion::ADD,
        Rule::ClosePair(|a, b| (a + b).contracted(), |a, b, _| a + b),
    ),
    (
        &fusion::SUB,
        Rule::ClosePair(|a, b| (a - b).contracted(), |a, b, _| a - b),
    ),
    (
        &fusion::MUL,
        Rule::ClosePair(|a, b| (a * b).contracted(), |a, b, _| a * b),
    ),
    (&fusion::DIV, Rule::NumericPair(quotient::quotient, div_int)),
    (&fusion::REM, Rule::NumericPair(remainder, rem_int)),
    (
        &fusion::REMAINDER,
        Rule::NumericPair(remainder_floored, remainder_int),
    ),
    (&fusion::POW, Rule::Math("pow")),
    (&fusion::ATAN2, Rule::Math("atan2")),
    (&fusion::NEXTAFTER, Rule::FloatPair(next_after)),
    (&fusion::GCD, Rule::BitsPair(gcd_int)),
    (&fusion::MAXIMUM, Rule::ClosePair(maximum, max_int)),
    (&fusion::MINIMUM, Rule::ClosePair(minimum, min_int)),
    (&fusion::FMAX, Rule::FloatPair(maximum_number)),
    (&fusion::FMIN, Rule::FloatPair(minimum_number)),
    (&fusion::AND, Rule::BitsPair(|a, b, _| a.and(b))),
    (&fusion::OR, Rule::BitsPair(|a, b, _| a.or(b))),
    (&fusion::XOR, Rule::BitsPair(|a, b, _| a.xor(b))),
    (&fusion::SHL, Rule::BitsPair(shift_left)),
    (&fusion::SHR, Rule::BitsPair(shift_right)),
    (
        &fusion::LSHR,
        Rule::BitsPair(|a, b, _| shift_right(a, b, false)),
    ),
    (&fusion::COMPARE, Rule::Compare),
    (&fusion::WHERE, Rule::Where),
    (&fusion::CLAMP, Rule::Clamp),
    (&fusion::CAST, Rule::Cast),
    (&fusion::BITCAST, Rule::Bitcast),
    (&fusion::CONSTANT, Rule::Constant),
    (&fusion::PHILOX, Rule::Philox),
];

/// The rule of an op, if kernels may contain it.
pub fn rule(ir: &Ir, op: Op) -> Option<Rule> {
    RULES
        .iter()
        .find(|(def, _)| ir.is(op, def))
        .map(|(_, rule)| *rule)
}

/// Computes one elementwise op. `operands` are in registers, with the operand element types `dtypes`.
pub fn emit<'e, 'ctx>(
    emit: &'e Emit<'ctx>,
    ir: &Ir,
    op: Op,
    operands: &[(Val<'e, 'ctx>, DType)],
    result: Shape,
) -> Result<Val<'e, 'ctx>, CodegenError> {
    let rule = rule(ir, op).ok_or_else(|| malformed(ir, op))?;
    // A scalar beside a vector stands for all lanes.
    let spread: Vec<Val<'e, 'ctx>> = operands
        .iter()
        .map(|(value, _)| {
            if value.lanes().is_none() {
                value.splat(result.lanes)
            } else {
                *value
            }
        })
        .collect();
    let dtype = operands.first().map_or(result.dtype, |(_, dtype)| *dtype);
    let value = match (rule, spread.as_slice()) {
        (Rule::Constant, []) => constant(emit, ir, op, result)?,
        (Rule::Compare, [a, b]) => compare(
            *a,
            *b,
            dtype,
            ir.str_of(op, "predicate").unwrap_or_default(),
        ),
        (Rule::Where, [condition, yes, no]) => condition.select(*yes, *no),
        (Rule::Philox, [index, seed, offset]) => {
            let word = ir.str_of(op, "word");
            let place = fusion::WORDS.iter().position(|name| word == Some(name));
            philox::block(*index, *seed, *offset)[place.ok_or_else(|| malformed(ir, op))?]
        }
        (Rule::Clamp, [x, low, high]) => clamp(*x, *low, *high, dtype),
        (Rule::Cast, [x]) => convert(*x, format(dtype), format(result.dtype)),
        (Rule::Bitcast, [x]) => x.bits_as(register(result.dtype)),
        // Where products are rounded with sums, what is computed again as its greatest was may be greater.
        (Rule::Math("exp"), [x])
            if ir.get_attr(op, kernel::NONPOSITIVE).is_some() && !emit.contract =>
        {
            let own = math::exp::exp_of_nonpositive;
            let function = emit.approximation("exp", format(dtype).elem).unwrap_or(own);
            in_compute_type(&[*x], dtype, |v| function(v[0]))
        }
        (Rule::NumericPair(..), [a, b])
            if ir.is(op, &fusion::DIV) && dtype.is_float() && is_one(ir, op, 1) =>
        {
            in_compute_type(&[*a, *b], dtype, |v| quotient::by_one(v[0], v[1]))
        }
        (rule, [x]) => unary(rule, *x, dtype).ok_or_else(|| malformed(ir, op))?,
        (rule, [a, b]) => binary(rule, *a, *b, dtype).ok_or_else(|| malformed(ir, op))?,
        _ => return Err(malformed(ir, op)),
    };
    Ok(value)
}

/// True if all lanes of an operand are one scalar.
fn is_one(ir: &Ir, op: Op, operand: usize) -> bool {
    let value = ir.operand(op, operand);
    let scalar = !matches!(ir.value_kind(value), TypeKind::Vector { .. });
    scalar
        || ir
            .def_op(value)
            .is_some_and(|def| ir.is(def, &kernel::SPLAT))
}

fn malformed(ir: &Ir, op: Op) -> CodegenError {
    CodegenError::Internal(format!("`{}` does not look as its table says", ir.name(op)))
}

/// Widens, computes and rounds once.
fn in_compute_type<'e, 'ctx>(
    operands: &[Val<'e, 'ctx>],
    dtype: DType,
    compute: impl FnOnce(&[Val<'e, 'ctx>]) -> Val<'e, 'ctx>,
) -> Val<'e, 'ctx> {
    let elem = format(dtype).elem;
    let wide: Vec<Val<'e, 'ctx>> = operands.iter().map(|x| widen_float(*x, elem)).collect();
    let result = compute(&wide);
    if matches!(elem, Elem::F16 | Elem::Bf16) {
        from_f32(result, elem)
    } else {
        result
    }
}

/// Computes as [`in_compute_type`], or natively in bf16 if the target has such instructions. Sums, differences and
/// products of 8-bit significands round identically with an intermediate rounding to 24 bits and without one (Figueroa,
/// "When is double rounding innocuous?", 1995).
fn close<'e, 'ctx>(
    operands: &[Val<'e, 'ctx>],
    dtype: DType,
    compute: impl FnOnce(&[Val<'e, 'ctx>]) -> Val<'e, 'ctx>,
) -> Val<'e, 'ctx> {
    let own = |x: &&Val<'e, 'ctx>| dtype == DType::BF16 && x.emit().has_bf16;
    if operands.first().filter(own).is_none() {
        return in_compute_type(operands, dtype, compute);
    }
    let floats = operands.iter().map(|x| x.bits_as(Elem::Bf16));
    compute(&floats.collect::<Vec<_>>()).to_bits()
}

fn unary<'e, 'ctx>(rule: Rule, x: Val<'e, 'ctx>, dtype: DType) -> Option<Val<'e, 'ctx>> {
    let float = |f: Unary| in_compute_type(&[x], dtype, |v| f(v[0]));
    let function = |name| match math::find(name)?.emit {
        Emitter::Unary(f) => Some(
            x.emit()
                .approximation(name, format(dtype).elem)
                .unwrap_or(f),
        ),
        Emitter::Binary(_) => None,
    };
    Some(match rule {
        Rule::Math(name) => float(function(name)?),
        Rule::TimesMath(name) => {
            let f = function(name)?;
            in_compute_type(&[x], dtype, |v| v[0] * f(v[0]))
        }
        Rule::Float(f) => float(f),
        Rule::Test(f) => f(widen_float(x, format(dtype).elem)),
        Rule::Numeric(f, _) if dtype.is_float() => float(f),
        Rule::Close(f, _) if dtype.is_float() => close(&[x], dtype, |v| f(v[0])),
        Rule::Numeric(_, f) | Rule::Close(_, f) => f(x, dtype.is_signed()),
        Rule::Sign { bits16, .. } if matches!(dtype, DType::F16 | DType::BF16) => bits16(x),
        Rule::Sign { float, .. } if dtype.is_float() => float(x),
        Rule::Sign { int, .. } => int(x, dtype.is_signed()),
        Rule::Bits(f) => f(x),
        _ => return None,
    })
}

fn binary<'e, 'ctx>(
    rule: Rule,
    a: Val<'e, 'ctx>,
    b: Val<'e, 'ctx>,
    dtype: DType,
) -> Option<Val<'e, 'ctx>> {
    let float = |f: Binary| in_compute_type(&[a, b], dtype, |v| f(v[0], v[1]));
    Some(match rule {
        Rule::Math(name) => match math::find(name)?.emit {
            Emitter::Binary(f) => float(f),
            Emitter::Unary(_) => return None,
        },
        Rule::FloatPair(f) => float(f),
        Rule::NumericPair(f, _) if dtype.is_float() => float(f),
        Rule::ClosePair(f, _) if dtype.is_float() => close(&[a, b], dtype, |v| f(v[0], v[1])),
        Rule::NumericPair(_, f) | Rule::ClosePair(_, f) | Rule::BitsPair(f) => {
            f(a, b, dtype.is_signed())
        }
        _ => return None,
    })
}

fn compare<'e, 'ctx>(
    a: Val<'e, 'ctx>,
    b: Val<'e, 'ctx>,
    dtype: DType,
    predicate: &str,
) -> Val<'e, 'ctx> {
    let elem = format(dtype).elem;
    let (a, b) = (widen_float(a, elem), widen_float(b, elem));
    // Unsigned order is signed order with the sign bits flipped.
    let flip = |x: Val<'e, 'ctx>| {
        if dtype.is_float() || dtype.is_signed() {
            x
        } else {
            x.xor(x.int(-1).shift_left(i64::from(x.elem().bits() - 1)))
        }
    };
    let (a, b) = (flip(a), flip(b));
    match predicate {
        "eq" => a.eq(b),
        "ne" => a.ne(b),
        "lt" => a.lt(b),
        "le" => a.le(b),
        "gt" => a.gt(b),
        _ => a.ge(b),
    }
}

fn clamp<'e, 'ctx>(
    x: Val<'e, 'ctx>,
    low: Val<'e, 'ctx>,
    high: Val<'e, 'ctx>,
    dtype: DType,
) -> Val<'e, 'ctx> {
    if !dtype.is_float() {
        return min_int(max_int(x, low, dtype.is_signed()), high, dtype.is_signed());
    }
    in_compute_type(&[x, low, high], dtype, |v| {
        minimum(maximum(v[0], v[1]), v[2])
    })
}
