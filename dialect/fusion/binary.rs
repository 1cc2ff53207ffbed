//! Binary elementwise ops. Operands have one element type; shapes join as the dialect's doc says.

use fuser_ir::def::{Computes, OpDef, Traits};

use super::elementwise::*;
use super::fold;

const BINARY: OpDef = OpDef {
    operands: NUMERIC_PAIR,
    fold: Some(fold::binary),
    ..ELEMENTWISE
};
const COMMUTATIVE: Traits = BINARY.traits.union(Traits::COMMUTATIVE);
const NAN: Traits = BINARY.traits.union(Traits::PROPAGATES_NAN);
const COMMUTATIVE_NAN: Traits = COMMUTATIVE.union(Traits::PROPAGATES_NAN);

/// The ops of this table, in the order of the manual.
pub const BINARY_OPS: &[&OpDef] = &[
    &ADD, &SUB, &MUL, &DIV, &REM, &REMAINDER, &POW, &ATAN2, &NEXTAFTER, &MAXIMUM, &MINIMUM, &FMAX,
    &FMIN, &GCD, &AND, &OR, &XOR, &SHL, &SHR, &LSHR,
];

/// `fusion.add`
pub static ADD: OpDef = OpDef {
    name: "fusion.add",
    computes: Some(Computes::Add),
    summary: "sum",
    doc: "`lhs + rhs`. Floats: IEEE 754, rounded to nearest even; `inf - inf` is NaN, `+0 + -0 = +0`, `-0 + -0 = -0`. \
          Integers wrap. Complex: part by part.",
    operands: FIELD_PAIR,
    example: "// %x: tensor<4xf32>, %y: tensor<4xf32>\n%0 = fusion.add %x, %y : tensor<4xf32>",
    traits: COMMUTATIVE_NAN,
    ..BINARY
};

/// `fusion.sub`
pub static SUB: OpDef = OpDef {
    name: "fusion.sub",
    computes: Some(Computes::Sub),
    summary: "difference",
    doc: "`lhs - rhs`. Floats: IEEE 754, rounded to nearest even; `x - x = +0` for finite `x`. Integers wrap. \
          Complex: part by part.",
    operands: FIELD_PAIR,
    example: "// %x: tensor<4xf32>, %y: tensor<4xf32>\n%0 = fusion.sub %x, %y : tensor<4xf32>",
    traits: NAN,
    ..BINARY
};

/// `fusion.mul`
pub static MUL: OpDef = OpDef {
    name: "fusion.mul",
    computes: Some(Computes::Mul),
    summary: "product",
    doc: "`lhs * rhs`. Floats: IEEE 754, rounded to nearest even; `0 * inf` is NaN. Integers wrap. Complex: \
          `(a c - b d) + i (a d + b c)` with a right operand `c + id`, without a second look at infinities (as PyTorch; C's Annex G has one).",
    operands: FIELD_PAIR,
    example: "// %x: tensor<4xf32>, %y: tensor<4xf32>\n%0 = fusion.mul %x, %y : tensor<4xf32>",
    traits: COMMUTATIVE_NAN,
    ..BINARY
};

/// `fusion.div`
pub static DIV: OpDef = OpDef {
    name: "fusion.div",
    computes: Some(Computes::Div),
    summary: "quotient",
    doc: "Floats: `lhs / rhs`, IEEE 754, rounded to nearest even; `x / 0` is an infinity, `0 / 0` is NaN. Integers: \
          truncated toward zero; `x / 0 = 0`; the least value divided by -1 wraps to itself. Complex: R. Smith's formula (1962), as NumPy and \
          PyTorch: with a divisor `c + id`, where `|c| >= |d|`, `r = d / c` and `s = 1 / (c + d r)`, it is `(a + b r) s + i (b - a r) s`; else with \
          `r = c / d` and `s = 1 / (c r + d)`, `(a r + b) s + i (b r - a) s`. A divisor of zero gives `a / |c| + i b / |c|`.",
    operands: FIELD_PAIR,
    example: "// %x: tensor<4xf32>, %y: tensor<4xf32>\n%0 = fusion.div %x, %y : tensor<4xf32>",
    flops: 4,
    traits: NAN,
    ..BINARY
};

/// `fusion.rem`
pub static REM: OpDef = OpDef {
    name: "fusion.rem",
    computes: Some(Computes::Rem),
    summary: "remainder of the truncated quotient",
    doc: "`lhs - trunc(lhs / rhs) * rhs`, exact, with the sign of `lhs` (C's `fmod` and `%`). Floats: `rem(x, +-inf) = x` for \
          finite `x`, a zero `lhs` keeps its sign, `rem(x, 0)` and `rem(+-inf, y)` are NaN. 16-bit floats: the f32 remainder, rounded \
          once. Integers: `rem(x, 0) = x`; the least value and -1 give 0.",
    example: "// %x: tensor<4xi32>, %y: tensor<4xi32>\n%0 = fusion.rem %x, %y : tensor<4xi32>",
    flops: 8,
    traits: NAN,
    ..BINARY
};

/// `fusion.remainder`
pub static REMAINDER: OpDef = OpDef {
    name: "fusion.remainder",
    summary: "remainder of the quotient rounded down",
    doc: "The remainder with the sign of `rhs` (`%` of PyTorch and Python): by definition `r = rem(lhs, rhs)` and, where `r` is not \
          zero and its sign is not that of `rhs`, `r + rhs`, both in the computation type. So `remainder(-1, +inf) = +inf`, a zero has \
          the sign of `lhs`, and `remainder(x, 0)` and `remainder(+-inf, y)` are NaN. Integers: `remainder(x, 0) = x`; the least \
          value and -1 give 0.",
    example: "// %x: tensor<4xi32>, %y: tensor<4xi32>\n%0 = fusion.remainder %x, %y : tensor<4xi32>",
    flops: 10,
    traits: NAN,
    ..BINARY
};

/// `fusion.pow`
pub static POW: OpDef = OpDef {
    name: "fusion.pow",
    summary: "power",
    doc: "`lhs ^ rhs` with the special values of IEEE 754 `pow` (C99 annex F): `pow(x, +-0) = 1` and `pow(1, y) = 1` even \
          for NaN; a negative finite `lhs` with a finite, non-integral `rhs` gives NaN; `pow(+-0, y)` for `y < 0` is an \
          infinity, negative for `-0` with odd integral `y`. Complex: `exp(rhs * log(lhs))`, each as defined; 1 where `rhs` is zero, and else 0 where \
          `lhs` is zero and the real part of `rhs` positive. Not of integers.",
    example: "// %x: tensor<4xf32>, %y: tensor<4xf32>\n%0 = fusion.pow %x, %y : tensor<4xf32>",
    operands: ANALYTIC_PAIR,
    flops: 30,
    traits: BINARY.traits.union(Traits::APPROXIMATE),
    ..BINARY
};

/// `fusion.atan2`
pub static ATAN2: OpDef = OpDef {
    name: "fusion.atan2",
    summary: "angle of a point",
    doc: "The angle in radians, from `-pi` to `pi`, between the positive x axis and the point with y `lhs` and x `rhs`, with the \
          special values of IEEE 754 `atan2` (C99 annex F). It has the sign of `lhs`: `atan2(+-0, x)` is a zero of that sign for \
          `x > 0` and `x = +0`, and `+-pi` for `x < 0` and `x = -0`; `atan2(y, +-0)` is `+-pi/2`. Infinities stand for the directions \
          that they are: `atan2(+inf, -inf) = 3/4 pi`. NaN if either is NaN. Floats only.",
    example: "// %y: tensor<4xf32>, %x: tensor<4xf32>\n%0 = fusion.atan2 %y, %x : tensor<4xf32>",
    operands: FLOAT_PAIR,
    flops: 30,
    traits: NAN.union(Traits::APPROXIMATE),
    ..BINARY
};

/// `fusion.nextafter`
pub static NEXTAFTER: OpDef = OpDef {
    name: "fusion.nextafter",
    summary: "the next float toward another",
    doc: "The float of the element type that is next to `lhs` on the way to `rhs` (C's `nextafter`): `rhs` where the two are equal, so that \
          `nextafter(-0, +0) = +0`; from a zero the least subnormal, of the sign of `rhs`; from the greatest finite number upwards \
          `+inf`. NaN if either is NaN. f32 and f64 only.",
    example: "// %x: tensor<4xf32>, %y: tensor<4xf32>\n%0 = fusion.nextafter %x, %y : tensor<4xf32>",
    operands: WIDE_FLOAT_PAIR,
    flops: 8,
    traits: NAN,
    ..BINARY
};

/// `fusion.maximum`
pub static MAXIMUM: OpDef = OpDef {
    name: "fusion.maximum",
    computes: Some(Computes::Max),
    summary: "the greater, NaN if either is NaN",
    doc: "The greater operand. NaN if either is NaN; `-0 < +0`. (IEEE 754-2019 `maximum`.) On `i1`, `or`.",
    example: "// %x: tensor<4xf32>, %y: tensor<4xf32>\n%0 = fusion.maximum %x, %y : tensor<4xf32>",
    operands: ANY_PAIR,
    traits: COMMUTATIVE_NAN,
    ..BINARY
};

/// `fusion.minimum`
pub static MINIMUM: OpDef = OpDef {
    name: "fusion.minimum",
    computes: Some(Computes::Min),
    summary: "the smaller, NaN if either is NaN",
    doc: "The smaller operand. NaN if either is NaN; `-0 < +0`. (IEEE 754-2019 `minimum`.) On `i1`, `and`.",
    example: "// %x: tensor<4xf32>, %y: tensor<4xf32>\n%0 = fusion.minimum %x, %y : tensor<4xf32>",
    operands: ANY_PAIR,
    traits: COMMUTATIVE_NAN,
    ..BINARY
};

/// `fusion.fmax`
pub static FMAX: OpDef = OpDef {
    name: "fusion.fmax",
    computes: Some(Computes::MaxNum),
    summary: "the greater, ignoring NaN",
    doc: "The greater operand; where one is NaN, the other; NaN only if both are. `-0 < +0`. (IEEE 754-2019 `maximumNumber`.)",
    example: "// %x: tensor<4xf32>, %y: tensor<4xf32>\n%0 = fusion.fmax %x, %y : tensor<4xf32>",
    operands: FLOAT_PAIR,
    traits: COMMUTATIVE,
    ..BINARY
};

/// `fusion.fmin`
pub static FMIN: OpDef = OpDef {
    name: "fusion.fmin",
    computes: Some(Computes::MinNum),
    summary: "the smaller, ignoring NaN",
    doc: "The smaller operand; where one is NaN, the other; NaN only if both are. `-0 < +0`. (IEEE 754-2019 `minimumNumber`.)",
    example: "// %x: tensor<4xf32>, %y: tensor<4xf32>\n%0 = fusion.fmin %x, %y : tensor<4xf32>",
    operands: FLOAT_PAIR,
    traits: COMMUTATIVE,
    ..BINARY
};

/// `fusion.gcd`
pub static GCD: OpDef = OpDef {
    name: "fusion.gcd",
    summary: "greatest common divisor",
    doc: "The greatest integer that divides both, `gcd(x, 0) = |x|` and `gcd(0, 0) = 0`. Never negative, but where it is the magnitude of \
          the least signed value, which wraps to that value. Integers only.",
    example: "// %x: tensor<4xi32>, %y: tensor<4xi32>\n%0 = fusion.gcd %x, %y : tensor<4xi32>",
    operands: COUNT_PAIR,
    flops: 200,
    traits: COMMUTATIVE,
    ..BINARY
};

/// `fusion.and`
pub static AND: OpDef = OpDef {
    name: "fusion.and",
    computes: Some(Computes::And),
    summary: "bitwise or logical and",
    doc: "Bit by bit; on `i1`, logical.",
    example: "// %x: tensor<4xi32>, %y: tensor<4xi32>\n%0 = fusion.and %x, %y : tensor<4xi32>",
    operands: INTEGRAL_PAIR,
    traits: COMMUTATIVE,
    ..BINARY
};

/// `fusion.or`
pub static OR: OpDef = OpDef {
    name: "fusion.or",
    summary: "bitwise or logical or",
    doc: "Bit by bit; on `i1`, logical.",
    example: "// %x: tensor<4xi32>, %y: tensor<4xi32>\n%0 = fusion.or %x, %y : tensor<4xi32>",
    operands: INTEGRAL_PAIR,
    traits: COMMUTATIVE,
    ..BINARY
};

/// `fusion.xor`
pub static XOR: OpDef = OpDef {
    name: "fusion.xor",
    summary: "bitwise or logical exclusive or",
    doc: "Bit by bit; on `i1`, logical.",
    example: "// %x: tensor<4xi32>, %y: tensor<4xi32>\n%0 = fusion.xor %x, %y : tensor<4xi32>",
    operands: INTEGRAL_PAIR,
    traits: COMMUTATIVE,
    ..BINARY
};

/// `fusion.shl`
pub static SHL: OpDef = OpDef {
    name: "fusion.shl",
    summary: "shift left",
    doc: "Shifts the bits of `lhs` up by `rhs`, filling with zeros. A count of at least the width gives 0, and so does a \
          negative one: as in PyTorch, JAX and PTX, which read it as unsigned.",
    example: "// %x: tensor<4xi32>, %y: tensor<4xi32>\n%0 = fusion.shl %x, %y : tensor<4xi32>",
    operands: SHIFT_PAIR,
    ..BINARY
};

/// `fusion.shr`
pub static SHR: OpDef = OpDef {
    name: "fusion.shr",
    summary: "shift right",
    doc: "Shifts the bits of `lhs` down by `rhs`, filling with the sign bit of signed types and with zeros on unsigned ones. A count \
          of at least the width gives the fill everywhere, and so does a negative one: as in PyTorch, JAX and PTX.",
    example: "// %x: tensor<4xi32>, %y: tensor<4xi32>\n%0 = fusion.shr %x, %y : tensor<4xi32>",
    operands: SHIFT_PAIR,
    ..BINARY
};

/// `fusion.lshr`
pub static LSHR: OpDef = OpDef {
    name: "fusion.lshr",
    summary: "shift right, filling with zeros",
    doc: "Shifts the bits of `lhs` down by `rhs`, filling with zeros on every type: `fusion.shr` of the same bits read without a \
          sign. A count of at least the width gives 0, and so does a negative one.",
    example: "// %x: tensor<4xi32>, %y: tensor<4xi32>\n%0 = fusion.lshr %x, %y : tensor<4xi32>",
    operands: SHIFT_PAIR,
    ..BINARY
};
