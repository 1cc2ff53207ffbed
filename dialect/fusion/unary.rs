//! Unary elementwise ops. Conventions on floats, NaN and 16-bit types are in the dialect's doc.

use fuser_ir::def::{OpDef, Traits};

use super::elementwise::*;
use super::fold;

const UNARY: OpDef = OpDef {
    fold: Some(fold::unary),
    ..ELEMENTWISE
};
const UNARY_FLOAT: OpDef = OpDef {
    operands: FLOAT_IN,
    traits: NAN,
    ..UNARY
};
const UNARY_FUNCTION: OpDef = OpDef {
    traits: NAN.union(Traits::APPROXIMATE),
    ..UNARY_FLOAT
};
const UNARY_NUMERIC: OpDef = OpDef {
    operands: NUMERIC_IN,
    traits: NAN,
    ..UNARY
};
const UNARY_TEST: OpDef = OpDef {
    operands: ANALYTIC_IN,
    ..UNARY
};
const NAN: Traits = UNARY.traits.union(Traits::PROPAGATES_NAN);
const IDEMPOTENT: Traits = NAN.union(Traits::IDEMPOTENT);

/// The ops of this table, in the order of the manual.
pub const UNARY_OPS: &[&OpDef] = &[
    &NEG,
    &ABS,
    &SIGN,
    &CEIL,
    &FLOOR,
    &ROUND,
    &TRUNC,
    &EXP,
    &EXP2,
    &EXPM1,
    &LOG,
    &LOG2,
    &LOG10,
    &LOG1P,
    &SQRT,
    &RSQRT,
    &RECIPROCAL,
    &SIN,
    &COS,
    &TAN,
    &ASIN,
    &ACOS,
    &ATAN,
    &SINH,
    &COSH,
    &TANH,
    &ASINH,
    &ACOSH,
    &ATANH,
    &ERF,
    &ERFC,
    &ERFINV,
    &ERFCINV,
    &LGAMMA,
    &SIGMOID,
    &SILU,
    &RELU,
    &NOT,
    &ISNAN,
    &ISFINITE,
];

/// `fusion.neg`
pub static NEG: OpDef = OpDef {
    name: "fusion.neg",
    summary: "negation",
    doc: "`-x`. Floats: flips the sign bit, of zeros, infinities and NaN too. Integers wrap: the least signed value is its \
          own negation; on an unsigned type of `n` bits it is `2^n - x` modulo `2^n`. Complex: both parts.",
    operands: FIELD_IN,
    example: "// %x: tensor<4xf32>\n%0 = fusion.neg %x : tensor<4xf32>",
    ..UNARY_NUMERIC
};

/// `fusion.abs`
pub static ABS: OpDef = OpDef {
    name: "fusion.abs",
    summary: "absolute value",
    doc: "`|x|`. Floats: clears the sign bit, of zeros and NaN too. Integers wrap: the absolute value of the least signed \
          value is that value. Unsigned values are unchanged. Complex: a real number, `h sqrt(1 + r^2)` with `h = \
          maximum(|a|, |b|)`, infinite where a part is, and `r = minimum(|a|, |b|) / h`, 0 where h is zero or \
          infinite. It neither overflows nor underflows but where the result does.",
    operands: FIELD_IN,
    infer: Some(super::complex::infer_part),
    example: "// %x: tensor<4xf32>\n%0 = fusion.abs %x : tensor<4xf32>",
    traits: IDEMPOTENT,
    ..UNARY_NUMERIC
};

/// `fusion.sign`
pub static SIGN: OpDef = OpDef {
    name: "fusion.sign",
    summary: "sign",
    doc: "`-1` below zero, `1` above, and zero itself where `x` is zero: `-0.0` gives `-0.0`. NaN gives NaN.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.sign %x : tensor<4xf32>",
    traits: IDEMPOTENT,
    ..UNARY_NUMERIC
};

/// `fusion.ceil`
pub static CEIL: OpDef = OpDef {
    name: "fusion.ceil",
    summary: "round up",
    doc: "The least integer not below `x`. `x` in (-1, 0) gives `-0.0`. Zeros, infinities and NaN are unchanged.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.ceil %x : tensor<4xf32>",
    traits: IDEMPOTENT,
    ..UNARY_FLOAT
};

/// `fusion.floor`
pub static FLOOR: OpDef = OpDef {
    name: "fusion.floor",
    summary: "round down",
    doc: "The greatest integer not above `x`. Zeros, infinities and NaN are unchanged.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.floor %x : tensor<4xf32>",
    traits: IDEMPOTENT,
    ..UNARY_FLOAT
};

/// `fusion.round`
pub static ROUND: OpDef = OpDef {
    name: "fusion.round",
    summary: "round to nearest, halves to even",
    doc: "The nearest integer; of two equally near ones the even one: 0.5 gives 0, 1.5 gives 2, -0.5 gives `-0.0`. The sign \
          of `x` is kept on zeros. Infinities and NaN are unchanged.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.round %x : tensor<4xf32>",
    traits: IDEMPOTENT,
    ..UNARY_FLOAT
};

/// `fusion.trunc`
pub static TRUNC: OpDef = OpDef {
    name: "fusion.trunc",
    summary: "round toward zero",
    doc: "The integer part; the sign of `x` is kept on zeros. Infinities and NaN are unchanged.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.trunc %x : tensor<4xf32>",
    traits: IDEMPOTENT,
    ..UNARY_FLOAT
};

/// `fusion.exp`
pub static EXP: OpDef = OpDef {
    name: "fusion.exp",
    summary: "e to the power of x",
    doc: "`e^x`. `exp(0) = 1` exactly, `exp(-inf) = +0`, `exp(+inf) = +inf`; overflow gives `+inf`, underflow a subnormal \
          or `+0`. NaN gives NaN. \
          Complex: `e^a (cos b + i sin b)`, and `e^a + ib` where `b` is zero. Where `b` is infinite or NaN, `a = \
          +inf` gives `inf + i NaN`, and `a = -inf` a zero with one of the sign of `b`.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.exp %x : tensor<4xf32>",
    flops: 10,
    operands: ANALYTIC_IN,
    ..UNARY_FUNCTION
};

/// `fusion.exp2`
pub static EXP2: OpDef = OpDef {
    name: "fusion.exp2",
    summary: "2 to the power of x",
    doc: "`2^x`; exact for integral `x`. Limits as for `fusion.exp`. \
          Complex: `exp(z ln 2)`.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.exp2 %x : tensor<4xf32>",
    flops: 8,
    operands: ANALYTIC_IN,
    ..UNARY_FLOAT
};

/// `fusion.expm1`
pub static EXPM1: OpDef = OpDef {
    name: "fusion.expm1",
    summary: "e to the power of x, less 1",
    doc: "`e^x - 1` without cancellation near 0. Zeros keep their sign, `expm1(-inf) = -1`, `expm1(+inf) = +inf`, NaN gives \
          NaN. \
          Complex: `expm1 a cos b - 2 sin^2(b/2) + i e^a sin b`, and `expm1 a + i b` where `b` is 0. Where `b` is \
          infinite or NaN, infinities `a` give what they give in `fusion.exp`, less 1.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.expm1 %x : tensor<4xf32>",
    flops: 12,
    operands: ANALYTIC_IN,
    ..UNARY_FUNCTION
};

/// `fusion.log`
pub static LOG: OpDef = OpDef {
    name: "fusion.log",
    summary: "natural logarithm",
    doc: "`ln x`. `log(1) = +0`, `log(+-0) = -inf`, `log(+inf) = +inf`; below zero and for NaN it is NaN. \
          Complex: `log h + log1p(r^2) / 2 + i atan2(b, a)`, with h and r as for `fusion.abs`: from `-pi` to `pi` \
          around the origin.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.log %x : tensor<4xf32>",
    flops: 10,
    operands: ANALYTIC_IN,
    ..UNARY_FUNCTION
};

/// `fusion.log2`
pub static LOG2: OpDef = OpDef {
    name: "fusion.log2",
    summary: "logarithm to base 2",
    doc: "`log2 x`; exact for powers of two. Limits as for `fusion.log`. \
          Complex: both parts of `log z` divided by `ln 2`.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.log2 %x : tensor<4xf32>",
    flops: 10,
    operands: ANALYTIC_IN,
    ..UNARY_FUNCTION
};

/// `fusion.log10`
pub static LOG10: OpDef = OpDef {
    name: "fusion.log10",
    summary: "logarithm to base 10",
    doc: "`log10 x`; of powers of ten other than 1 exact within the bound only. Limits as for `fusion.log`. \
          Complex: both parts of `log z` divided by `ln 10`.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.log10 %x : tensor<4xf32>",
    flops: 10,
    operands: ANALYTIC_IN,
    ..UNARY_FUNCTION
};

/// `fusion.log1p`
pub static LOG1P: OpDef = OpDef {
    name: "fusion.log1p",
    summary: "logarithm of 1 + x",
    doc: "`ln(1 + x)` without cancellation near 0. Zeros keep their sign, `log1p(-1) = -inf`, `log1p(+inf) = +inf`; below \
          -1 and for NaN it is NaN. \
          Complex: `log1p(a (2 + a) + b^2) / 2 + i atan2(b, 1 + a)` where both parts are nearer to 0 than 1/2, elsewhere `log(1 + z)`.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.log1p %x : tensor<4xf32>",
    flops: 12,
    operands: ANALYTIC_IN,
    ..UNARY_FUNCTION
};

/// `fusion.sqrt`
pub static SQRT: OpDef = OpDef {
    name: "fusion.sqrt",
    summary: "square root",
    doc: "The correctly rounded square root (IEEE 754). Zeros keep their sign, `sqrt(+inf) = +inf`; below zero and for NaN \
          it is NaN. \
          Complex: with h and r as for `fusion.abs` and `t = sqrt(h) sqrt((|a| / h + sqrt(1 + r^2)) / 2)`: `t + i b/(2t)` for `a >= 0`, and \
          `|b|/(2t)` with `t`, of the sign of `b`, for others (the root whose real part is not negative). A zero h gives `0 + ib`, an infinite b `inf + ib`, an infinite a alone the same with `t = inf`.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.sqrt %x : tensor<4xf32>",
    flops: 4,
    operands: ANALYTIC_IN,
    ..UNARY_FLOAT
};

/// `fusion.rsqrt`
pub static RSQRT: OpDef = OpDef {
    name: "fusion.rsqrt",
    summary: "1 over the square root",
    doc: "`1 / sqrt(x)`, by definition a correctly rounded square root and then a correctly rounded division, both in the \
          computation type. `rsqrt(+0) = +inf`, `rsqrt(-0) = -inf`, `rsqrt(+inf) = +0`; below zero and for NaN it is NaN. \
          Complex: `1 / sqrt z`, each as defined.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.rsqrt %x : tensor<4xf32>",
    flops: 5,
    operands: ANALYTIC_IN,
    ..UNARY_FLOAT
};

/// `fusion.reciprocal`
pub static RECIPROCAL: OpDef = OpDef {
    name: "fusion.reciprocal",
    summary: "1 / x",
    doc: "`1 / x`, correctly rounded. Zeros give infinities of their sign and infinities give zeros of theirs; NaN gives \
          NaN. \
          Complex: `1 / z` as `fusion.div`.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.reciprocal %x : tensor<4xf32>",
    flops: 4,
    operands: ANALYTIC_IN,
    ..UNARY_FLOAT
};

/// `fusion.sin`
pub static SIN: OpDef = OpDef {
    name: "fusion.sin",
    summary: "sine",
    doc: "The sine of `x` in radians, reduced exactly for arguments of any size. Zeros keep their sign; infinities and NaN \
          give NaN. \
          Complex: `sin a cosh b + i cos a sinh b`, where a factor is zero or infinite as in `fusion.sinh`, its \
          parts exchanged.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.sin %x : tensor<4xf32>",
    flops: 15,
    operands: ANALYTIC_IN,
    ..UNARY_FUNCTION
};

/// `fusion.cos`
pub static COS: OpDef = OpDef {
    name: "fusion.cos",
    summary: "cosine",
    doc: "The cosine of `x` in radians, reduced exactly for arguments of any size. `cos(+-0) = 1`; infinities and NaN give \
          NaN. \
          Complex: `cosh(iz)`, which is `cos a cosh b - i sin a sinh b`.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.cos %x : tensor<4xf32>",
    flops: 15,
    operands: ANALYTIC_IN,
    ..UNARY_FUNCTION
};

/// `fusion.tan`
pub static TAN: OpDef = OpDef {
    name: "fusion.tan",
    summary: "tangent",
    doc: "The tangent of `x` in radians, reduced exactly for arguments of any size. Zeros keep their sign; infinities and \
          NaN give NaN. \
          Complex: `-i tanh(iz)`.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.tan %x : tensor<4xf32>",
    flops: 20,
    operands: ANALYTIC_IN,
    ..UNARY_FUNCTION
};

/// `fusion.asin`
pub static ASIN: OpDef = OpDef {
    name: "fusion.asin",
    summary: "arc sine",
    doc: "The angle in radians, from `-pi/2` to `pi/2`, whose sine is `x`. Zeros keep their sign; beyond [-1, 1] and for \
          NaN it is NaN. \
          Complex: with `p = sqrt(1 - z)` and `q = sqrt(1 + z)`, `atan2(a, Re p q) + i asinh(Im conj(p) q)`; where a \
          part is 2^30 or more, `atan2(a, |b|) + i s (ln |z| + ln 2)`, `s` the sign of `b`. The real part of a zero \
          `a` is `a`.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.asin %x : tensor<4xf32>",
    flops: 20,
    operands: ANALYTIC_IN,
    ..UNARY_FUNCTION
};

/// `fusion.acos`
pub static ACOS: OpDef = OpDef {
    name: "fusion.acos",
    summary: "arc cosine",
    doc: "The angle in radians, from 0 to `pi`, whose cosine is `x`. `acos(1) = +0`; beyond [-1, 1] and for NaN it is NaN. \
          Complex: with `p = sqrt(1 - z)` and `q = sqrt(1 + z)`, `2 atan2(Re p, Re q) + i asinh(Im conj(q) p)`; \
          where a part is 2^30 or more, `atan2(|b|, a) - i s (ln |z| + ln 2)`, `s` the sign of `b`. The real part of \
          a zero `a` is `pi/2`.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.acos %x : tensor<4xf32>",
    flops: 20,
    operands: ANALYTIC_IN,
    ..UNARY_FUNCTION
};

/// `fusion.atan`
pub static ATAN: OpDef = OpDef {
    name: "fusion.atan",
    summary: "arc tangent",
    doc: "The angle in radians, from `-pi/2` to `pi/2`, whose tangent is `x`. Zeros keep their sign, infinities give the \
          float nearest to `pi/2`, of their sign, NaN gives NaN. \
          Complex: `i atanh(-iz)`.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.atan %x : tensor<4xf32>",
    flops: 20,
    operands: ANALYTIC_IN,
    ..UNARY_FUNCTION
};

/// `fusion.sinh`
pub static SINH: OpDef = OpDef {
    name: "fusion.sinh",
    summary: "hyperbolic sine",
    doc: "`(e^x - e^-x) / 2` without cancellation near 0. Zeros and infinities are unchanged; overflow gives an infinity \
          of the sign of `x`, NaN gives NaN. \
          Complex: `sinh a cos b + i cosh a sin b`. The imaginary part of a zero `b` is `b`. Where `b` is infinite \
          or NaN, the real part of a zero `a` is `a`, that of an infinite one `inf`.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.sinh %x : tensor<4xf32>",
    flops: 18,
    operands: ANALYTIC_IN,
    ..UNARY_FUNCTION
};

/// `fusion.cosh`
pub static COSH: OpDef = OpDef {
    name: "fusion.cosh",
    summary: "hyperbolic cosine",
    doc: "`(e^x + e^-x) / 2`. `cosh(+-0) = 1`, infinities and overflow give `+inf`, NaN gives NaN. \
          Complex: `cosh a cos b + i sinh a sin b`. The imaginary part of a zero `b` is `b`, or `-b` where `a` is \
          negative or `-0`. Where `b` is infinite or NaN, the real part of an infinite `a` is `inf`, the imaginary \
          part of a zero one 0.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.cosh %x : tensor<4xf32>",
    flops: 14,
    operands: ANALYTIC_IN,
    ..UNARY_FUNCTION
};

/// `fusion.tanh`
pub static TANH: OpDef = OpDef {
    name: "fusion.tanh",
    summary: "hyperbolic tangent",
    doc: "`tanh x`. Zeros keep their sign, infinities give 1 of their sign, NaN gives NaN. \
          Complex: with `t = tanh a`, `u = tan b` and `d = 1 + t^2 u^2`, `t (1 + u^2) / d + i (u / cosh^2 a) / d`. \
          The imaginary part of a zero `b` is `b`. Where `b` is infinite or NaN, the real part of a zero `a` is `a`, \
          and an infinite `a` gives 1 of its sign and a zero of the sign of `b`.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.tanh %x : tensor<4xf32>",
    flops: 15,
    operands: ANALYTIC_IN,
    ..UNARY_FUNCTION
};

/// `fusion.asinh`
pub static ASINH: OpDef = OpDef {
    name: "fusion.asinh",
    summary: "inverse hyperbolic sine",
    doc: "`ln(x + sqrt(x^2 + 1))` without cancellation and overflow. Zeros and infinities are unchanged, NaN gives NaN. \
          Complex: `-i asin(iz)`.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.asinh %x : tensor<4xf32>",
    flops: 25,
    operands: ANALYTIC_IN,
    ..UNARY_FUNCTION
};

/// `fusion.acosh`
pub static ACOSH: OpDef = OpDef {
    name: "fusion.acosh",
    summary: "inverse hyperbolic cosine",
    doc: "`ln(x + sqrt(x^2 - 1))` without overflow. `acosh(1) = +0`, `acosh(+inf) = +inf`; below 1 and for NaN it is NaN. \
          Complex: with `p = sqrt(z - 1)` and `q = sqrt(z + 1)`, `asinh(Re conj(p) q) + 2 i atan2(Im p, Re q)`; \
          where a part is 2^30 or more, `ln |z| + ln 2 + i atan2(b, a)`. The imaginary part of a zero `a` is `pi/2` \
          of the sign of `b`.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.acosh %x : tensor<4xf32>",
    flops: 25,
    operands: ANALYTIC_IN,
    ..UNARY_FUNCTION
};

/// `fusion.atanh`
pub static ATANH: OpDef = OpDef {
    name: "fusion.atanh",
    summary: "inverse hyperbolic tangent",
    doc: "`ln((1 + x) / (1 - x)) / 2` without cancellation near 0. Zeros keep their sign, `atanh(+-1)` is an infinity of \
          its sign; beyond [-1, 1] and for NaN it is NaN. \
          Complex: `s x + i atan2(2b, (1 - a)(1 + a) - b^2) / 2`, `s` the sign of `a`, `m = |a|` and `x = log1p(4m / \
          ((1 - m)^2 + b^2)) / 4`, but `(ln |1 + m + ib| - ln |1 - m + ib|) / 2` where `m` is nearer to 1 and `b` to \
          0 than 1/2. Where a part is 2^30 or more, `x` is `m / |z|^2`, and the imaginary part `pi/2` of the sign of \
          `b`, NaN of a NaN. The real part of a zero `a` is `a`.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.atanh %x : tensor<4xf32>",
    flops: 20,
    operands: ANALYTIC_IN,
    ..UNARY_FUNCTION
};

/// `fusion.erf`
pub static ERF: OpDef = OpDef {
    name: "fusion.erf",
    summary: "error function",
    doc: "`2/sqrt(pi) * integral of e^(-t^2) from 0 to x`. Zeros keep their sign, infinities give 1 of their sign, NaN gives \
          NaN.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.erf %x : tensor<4xf32>",
    flops: 20,
    ..UNARY_FUNCTION
};

/// `fusion.erfc`
pub static ERFC: OpDef = OpDef {
    name: "fusion.erfc",
    summary: "complementary error function",
    doc: "`1 - erf(x)` without cancellation for large `x`. `erfc(+-0) = 1`, `erfc(-inf) = 2`, `erfc(+inf) = +0`; underflow \
          gives a subnormal or `+0`, NaN gives NaN.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.erfc %x : tensor<4xf32>",
    flops: 30,
    ..UNARY_FUNCTION
};

/// `fusion.erfinv`
pub static ERFINV: OpDef = OpDef {
    name: "fusion.erfinv",
    summary: "inverse error function",
    doc: "The number whose `erf` is `x`. Zeros keep their sign, `erfinv(+-1)` is an infinity of its sign; beyond [-1, 1] and for NaN it \
          is NaN.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.erfinv %x : tensor<4xf32>",
    flops: 90,
    ..UNARY_FUNCTION
};

/// `fusion.erfcinv`
pub static ERFCINV: OpDef = OpDef {
    name: "fusion.erfcinv",
    summary: "inverse complementary error function",
    doc: "The number whose `erfc` is `x`. `erfcinv(1) = +0`, `erfcinv(+-0) = +inf`, `erfcinv(2) = -inf`; beyond [0, 2] and for NaN it is \
          NaN.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.erfcinv %x : tensor<4xf32>",
    flops: 90,
    ..UNARY_FUNCTION
};

/// `fusion.lgamma`
pub static LGAMMA: OpDef = OpDef {
    name: "fusion.lgamma",
    summary: "logarithm of the absolute value of the gamma function",
    doc: "`log(|gamma(x)|)`. At 1 and 2 it is `+0`; at zeros, at negative integers and at both infinities `+inf`; NaN gives NaN. Within 2^-46 of \
          the result, or of 1 where the result is smaller (near its roots), and rounded to the element type.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.lgamma %x : tensor<4xf32>",
    flops: 120,
    ..UNARY_FUNCTION
};

/// `fusion.sigmoid`
pub static SIGMOID: OpDef = OpDef {
    name: "fusion.sigmoid",
    summary: "logistic function",
    doc: "`1 / (1 + e^-x)`. `sigmoid(-inf) = +0`, `sigmoid(+inf) = 1`, `sigmoid(+-0) = 0.5`; NaN gives NaN. No intermediate \
          overflow shows: large negative `x` gives small numbers, at last `+0`. \
          Complex: `1 / (1 + exp(-z))` for `a >= 0`, elsewhere `exp z / (1 + exp z)`.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.sigmoid %x : tensor<4xf32>",
    flops: 14,
    operands: ANALYTIC_IN,
    ..UNARY_FUNCTION
};

/// `fusion.silu`
pub static SILU: OpDef = OpDef {
    name: "fusion.silu",
    summary: "x times its logistic function",
    doc: "`x * sigmoid(x)`: by definition the function, then a multiplication, both in the computation type. Zeros keep their \
          sign, `silu(+inf) = +inf`; `silu(-inf)` is NaN, as `-inf * 0` is, and NaN gives NaN. \
          Complex: `z * sigmoid(z)`.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.silu %x : tensor<4xf32>",
    flops: 15,
    operands: ANALYTIC_IN,
    ..UNARY_FUNCTION
};

/// `fusion.relu`
pub static RELU: OpDef = OpDef {
    name: "fusion.relu",
    summary: "x where positive, else 0",
    doc: "`maximum(x, +0)`: `-0.0` gives `+0.0`, NaN gives NaN. Integers: `max(x, 0)`.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.relu %x : tensor<4xf32>",
    traits: IDEMPOTENT,
    ..UNARY_NUMERIC
};

/// `fusion.not`
pub static NOT: OpDef = OpDef {
    name: "fusion.not",
    summary: "bitwise or logical complement",
    doc: "Flips every bit; on `i1`, swaps true and false.",
    example: "// %x: tensor<4xi1>\n%0 = fusion.not %x : tensor<4xi1>",
    operands: INTEGRAL_IN,
    ..UNARY
};

/// `fusion.isnan`
pub static ISNAN: OpDef = OpDef {
    name: "fusion.isnan",
    summary: "whether x is NaN",
    doc: "True exactly for NaN; of a complex number, where a part is one. The result has elements `i1`.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.isnan %x : tensor<4xi1>",
    infer: Some(infer_test),
    ..UNARY_TEST
};

/// `fusion.isfinite`
pub static ISFINITE: OpDef = OpDef {
    name: "fusion.isfinite",
    summary: "whether x is neither NaN nor infinite",
    doc: "False exactly for NaN and the infinities; of a complex number, where a part is one. The result has elements `i1`.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.isfinite %x : tensor<4xi1>",
    infer: Some(infer_test),
    ..UNARY_TEST
};
