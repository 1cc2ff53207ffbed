//! The elementwise ops of the `fusion` dialect on scalars and vectors.
//!
//! [`RULES`] is the table: an op that is not in it is refused by the legality check, so that the lowering never meets it.
//! On 16-bit floats a rule converts to f32, computes, and rounds once; sign changes, choices and bit casts keep bits.

use fuser_dialects::fusion;
use fuser_ir::attr::AttrKind;
use fuser_ir::{DType, Ir, Op, OpDef};

use super::remainder::remainder;
use super::types::{Shape, format, register};
use crate::convert::{convert, from_f32, widen_float};
use crate::error::CodegenError;
use crate::expr::{Elem, Emit, Val};
use crate::math::{self, Emitter};

/// A function of one value that serves every lifetime.
type Unary = for<'e, 'ctx> fn(Val<'e, 'ctx>) -> Val<'e, 'ctx>;
type Binary = for<'e, 'ctx> fn(Val<'e, 'ctx>, Val<'e, 'ctx>) -> Val<'e, 'ctx>;
/// The flag says whether the integers are signed.
type IntUnary = for<'e, 'ctx> fn(Val<'e, 'ctx>, bool) -> Val<'e, 'ctx>;
type IntBinary = for<'e, 'ctx> fn(Val<'e, 'ctx>, Val<'e, 'ctx>, bool) -> Val<'e, 'ctx>;

/// How an op is computed.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// A function of the math library, by name.
    Math(&'static str),
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
    /// What needs the op itself: see [`emit`].
    Compare,
    Where,
    Clamp,
    Cast,
    Bitcast,
    Constant,
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
    (&fusion::LOG1P, Rule::Math("log1p")),
    (&fusion::SQRT, Rule::Math("sqrt")),
    (&fusion::RSQRT, Rule::Math("rsqrt")),
    (&fusion::RECIPROCAL, Rule::Math("reciprocal")),
    (&fusion::SIN, Rule::Math("sin")),
    (&fusion::COS, Rule::Math("cos")),
    (&fusion::TAN, Rule::Math("tan")),
    (&fusion::TANH, Rule::Math("tanh")),
    (&fusion::ERF, Rule::Math("erf")),
    (&fusion::SIGMOID, Rule::Math("sigmoid")),
    (
        &fusion::RELU,
        Rule::Numeric(relu_float, |x, signed| max_int(x, x.int(0), signed)),
    ),
    (&fusion::NOT, Rule::Bits(|x| x.flip())),
    (&fusion::ISNAN, Rule::Test(|x| x.is_nan())),
    (&fusion::ISFINITE, Rule::Test(|x| x.abs().lt(f64::INFINITY))),
    (
        &fusion::ADD,
        Rule::NumericPair(|a, b| a + b, |a, b, _| a + b),
    ),
    (
        &fusion::SUB,
        Rule::NumericPair(|a, b| a - b, |a, b, _| a - b),
    ),
    (
        &fusion::MUL,
        Rule::NumericPair(|a, b| a * b, |a, b, _| a * b),
    ),
    (&fusion::DIV, Rule::NumericPair(|a, b| a.over(b), div_int)),
    (&fusion::REM, Rule::NumericPair(remainder, rem_int)),
    (&fusion::POW, Rule::Math("pow")),
    (&fusion::MAXIMUM, Rule::NumericPair(maximum, max_int)),
    (&fusion::MINIMUM, Rule::NumericPair(minimum, min_int)),
    (
        &fusion::FMAX,
        Rule::FloatPair(|a, b| number_first(a, b, maximum)),
    ),
    (
        &fusion::FMIN,
        Rule::FloatPair(|a, b| number_first(a, b, minimum)),
    ),
    (&fusion::AND, Rule::BitsPair(|a, b, _| a.and(b))),
    (&fusion::OR, Rule::BitsPair(|a, b, _| a.or(b))),
    (&fusion::XOR, Rule::BitsPair(|a, b, _| a.xor(b))),
    (&fusion::SHL, Rule::BitsPair(shift_left)),
    (&fusion::SHR, Rule::BitsPair(shift_right)),
    (&fusion::COMPARE, Rule::Compare),
    (&fusion::WHERE, Rule::Where),
    (&fusion::CLAMP, Rule::Clamp),
    (&fusion::CAST, Rule::Cast),
    (&fusion::BITCAST, Rule::Bitcast),
    (&fusion::CONSTANT, Rule::Constant),
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
        (Rule::Clamp, [x, low, high]) => clamp(*x, *low, *high, dtype),
        (Rule::Cast, [x]) => convert(*x, format(dtype), format(result.dtype)),
        (Rule::Bitcast, [x]) => x.bits_as(register(result.dtype)),
        (rule, [x]) => unary(rule, *x, dtype).ok_or_else(|| malformed(ir, op))?,
        (rule, [a, b]) => binary(rule, *a, *b, dtype).ok_or_else(|| malformed(ir, op))?,
        _ => return Err(malformed(ir, op)),
    };
    Ok(value)
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

fn unary<'e, 'ctx>(rule: Rule, x: Val<'e, 'ctx>, dtype: DType) -> Option<Val<'e, 'ctx>> {
    let float = |f: Unary| in_compute_type(&[x], dtype, |v| f(v[0]));
    Some(match rule {
        Rule::Math(name) => match math::find(name)?.emit {
            Emitter::Unary(f) => float(f),
            Emitter::Binary(_) => return None,
        },
        Rule::Float(f) => float(f),
        Rule::Test(f) => f(widen_float(x, format(dtype).elem)),
        Rule::Numeric(f, _) if dtype.is_float() => float(f),
        Rule::Numeric(_, f) => f(x, dtype.is_signed()),
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
        Rule::NumericPair(_, f) | Rule::BitsPair(f) => f(a, b, dtype.is_signed()),
        _ => return None,
    })
}

/// How partial results are put together, and what leaves any result unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combiner {
    Add,
    Mul,
    Max,
    Min,
}

impl Combiner {
    /// The combiner of a word of the `combine` clause.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "add" => Combiner::Add,
            "mul" => Combiner::Mul,
            "max" => Combiner::Max,
            "min" => Combiner::Min,
            _ => return None,
        })
    }

    fn rule(self) -> Rule {
        match self {
            Combiner::Add => Rule::NumericPair(|a, b| a + b, |a, b, _| a + b),
            Combiner::Mul => Rule::NumericPair(|a, b| a * b, |a, b, _| a * b),
            Combiner::Max => Rule::NumericPair(maximum, max_int),
            Combiner::Min => Rule::NumericPair(minimum, min_int),
        }
    }

    /// Two partial results as one.
    pub fn apply<'e, 'ctx>(
        self,
        a: Val<'e, 'ctx>,
        b: Val<'e, 'ctx>,
        dtype: DType,
    ) -> Val<'e, 'ctx> {
        binary(self.rule(), a, b, dtype).unwrap_or(a)
    }

    /// The neutral element: `-0.0` for sums, so that a sum of negative zeros keeps its sign.
    pub fn identity<'e, 'ctx>(self, emit: &'e Emit<'ctx>, shape: Shape) -> Val<'e, 'ctx> {
        let (dtype, lanes) = (shape.dtype, shape.lanes);
        if dtype.is_float() {
            let value = match self {
                Combiner::Add => -0.0,
                Combiner::Mul => 1.0,
                Combiner::Max => f64::NEG_INFINITY,
                Combiner::Min => f64::INFINITY,
            };
            return float_constant(emit, value, shape);
        }
        let (least, most) = range(dtype);
        let value = match self {
            Combiner::Add => 0,
            Combiner::Mul => 1,
            Combiner::Max => least,
            Combiner::Min => most,
        };
        emit.constant_int(dtype.bits(), lanes, value)
    }
}

/// The least and greatest value of an integer type, as bits.
fn range(dtype: DType) -> (i64, i64) {
    match (dtype.is_signed(), dtype.bits()) {
        (true, 64) => (i64::MIN, i64::MAX),
        (true, bits) => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        (false, bits) => (0, (1 << bits) - 1),
    }
}

fn float_constant<'e, 'ctx>(emit: &'e Emit<'ctx>, value: f64, shape: Shape) -> Val<'e, 'ctx> {
    // Converted as an f64 is, which folds: the constant is rounded once.
    convert(
        emit.constant_float(Elem::F64, shape.lanes, value),
        format(DType::F64),
        format(shape.dtype),
    )
}

fn constant<'e, 'ctx>(
    emit: &'e Emit<'ctx>,
    ir: &Ir,
    op: Op,
    shape: Shape,
) -> Result<Val<'e, 'ctx>, CodegenError> {
    let splat = |value: i64| emit.constant_int(shape.dtype.bits(), shape.lanes, value);
    Ok(match ir.attr_of(op, "value") {
        Some(AttrKind::Float { bits, .. }) => float_constant(emit, f64::from_bits(*bits), shape),
        Some(AttrKind::Int { value, .. }) if shape.dtype.is_float() => {
            float_constant(emit, nearest_float(*value, shape.dtype), shape)
        }
        Some(AttrKind::Int { value, .. }) => splat(*value as i64),
        Some(AttrKind::Bool(value)) => splat(i64::from(*value)),
        Some(AttrKind::Dense {
            dtype,
            splat,
            bytes,
            ..
        }) => dense(emit, shape, *dtype, *splat, bytes),
        _ => return Err(malformed(ir, op)),
    })
}

/// An integer as the nearest float of the type, in one rounding.
fn nearest_float(value: i128, dtype: DType) -> f64 {
    if dtype == DType::F32 {
        f64::from(value as f32)
    } else {
        value as f64
    }
}

/// Little-endian elements, or one for all lanes.
fn dense<'e, 'ctx>(
    emit: &'e Emit<'ctx>,
    shape: Shape,
    dtype: DType,
    splat: bool,
    bytes: &[u8],
) -> Val<'e, 'ctx> {
    let width = dtype.bytes() as usize;
    let element = |index: usize| {
        let mut word = [0u8; 8];
        let from = if splat { 0 } else { index * width };
        if let Some(found) = bytes.get(from..from + width) {
            word[..width].copy_from_slice(found);
        }
        let elem = register(dtype);
        emit.constant_int(elem.bits(), None, i64::from_le_bytes(word))
            .bits_as(elem)
    };
    match shape.lanes {
        None => element(0),
        Some(lanes) => (0..lanes).fold(
            emit.undefined(register(dtype), shape.lanes),
            |vector, lane| vector.with_lane(lane, element(lane as usize)),
        ),
    }
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

/// The greater; NaN if either is, and `-0 < +0`.
fn maximum<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    a.intrinsic2("llvm.maximum", b)
}

fn minimum<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    a.intrinsic2("llvm.minimum", b)
}

/// `choose`, but where one operand is NaN the other.
fn number_first<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>, choose: Binary) -> Val<'e, 'ctx> {
    choose(a, b).except(b.is_nan(), a).except(a.is_nan(), b)
}

fn relu_float<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    x.except(x.le(0.0), 0.0)
}

fn sign_float<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    x.float(1.0).copysign(x).except(x.eq(0.0).or(x.is_nan()), x)
}

fn sign_int<'e, 'ctx>(x: Val<'e, 'ctx>, signed: bool) -> Val<'e, 'ctx> {
    let bits = x.elem().bits();
    let nonzero = x.ne(0).zext_or_trunc(bits);
    if signed {
        nonzero.or(x.ashr(i64::from(bits - 1)))
    } else {
        nonzero
    }
}

fn abs_int<'e, 'ctx>(x: Val<'e, 'ctx>, signed: bool) -> Val<'e, 'ctx> {
    if signed { x.except(x.lt(0), -x) } else { x }
}

fn max_int<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>, signed: bool) -> Val<'e, 'ctx> {
    a.intrinsic2(if signed { "llvm.smax" } else { "llvm.umax" }, b)
}

fn min_int<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>, signed: bool) -> Val<'e, 'ctx> {
    a.intrinsic2(if signed { "llvm.smin" } else { "llvm.umin" }, b)
}

/// A divisor that LLVM may divide by: 1 in place of zero, and of -1 beside the least value (whose quotient wraps to itself).
fn safe_divisor<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>, signed: bool) -> Val<'e, 'ctx> {
    let zero = b.eq(0);
    if !signed {
        return b.except(zero, 1);
    }
    let least = a.int(1).shift_left(i64::from(a.elem().bits() - 1));
    b.except(zero.or(b.eq(-1).and(a.eq(least))), 1)
}

/// Truncating; `x / 0 = 0`.
fn div_int<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>, signed: bool) -> Val<'e, 'ctx> {
    let safe = safe_divisor(a, b, signed);
    let quotient = if signed { a.over(safe) } else { a.udiv(safe) };
    quotient.except(b.eq(0), 0)
}

/// `rem(x, 0) = x`.
fn rem_int<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>, signed: bool) -> Val<'e, 'ctx> {
    let safe = safe_divisor(a, b, signed);
    let rest = if signed {
        a.remainder(safe)
    } else {
        a.urem(safe)
    };
    rest.except(b.eq(0), a)
}

/// A count within the width, and whether the given one was beyond it; negative counts as zero.
fn shift_count<'e, 'ctx>(count: Val<'e, 'ctx>, signed: bool) -> (Val<'e, 'ctx>, Val<'e, 'ctx>) {
    let count = if signed {
        count.except(count.lt(0), 0)
    } else {
        count
    };
    let bits = i64::from(count.elem().bits());
    let beyond = count.ult(bits).flip();
    (count.except(beyond, bits - 1), beyond)
}

fn shift_left<'e, 'ctx>(a: Val<'e, 'ctx>, count: Val<'e, 'ctx>, signed: bool) -> Val<'e, 'ctx> {
    let (count, beyond) = shift_count(count, signed);
    a.shift_left(count).except(beyond, 0)
}

fn shift_right<'e, 'ctx>(a: Val<'e, 'ctx>, count: Val<'e, 'ctx>, signed: bool) -> Val<'e, 'ctx> {
    let (count, beyond) = shift_count(count, signed);
    // Signed: the greatest count within the width already fills with the sign.
    if signed {
        a.ashr(count)
    } else {
        a.lshr(count).except(beyond, 0)
    }
}
