//! Bad programs: each op has at least one, with the code that it must give at that op. An op without an entry fails the
//! test.
//!
//! Texts are as in the tables' examples: a first line `// %x: T` declares parameters.

use std::collections::BTreeSet;

use fuser_dialects::docs::complete;
use fuser_ir::parse::{ParseOptions, parse};
use fuser_ir::{Diagnostics, Ir};

/// Op, code, program.
type Case = (&'static str, &'static str, &'static str);

/// Unary float ops: an integer operand.
const FLOAT_UNARY: &[&str] = &[
    "ceil",
    "floor",
    "round",
    "trunc",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sqrt",
    "rsqrt",
    "reciprocal",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "erf",
    "erfc",
    "erfinv",
    "erfcinv",
    "lgamma",
    "sigmoid",
    "silu",
    "isnan",
    "isfinite",
];
/// Unary ops on numbers: a truth value.
const NUMBER_UNARY: &[&str] = &["neg", "abs", "sign", "relu"];
/// Binary ops on numbers: extents that disagree.
const NUMBER_BINARY: &[&str] = &["add", "sub", "mul", "div", "rem", "remainder"];
/// Binary ops on all types: extents that disagree.
const ANY_BINARY: &[&str] = &["maximum", "minimum"];
/// Binary ops on floats: integers.
const FLOAT_BINARY: &[&str] = &["pow", "atan2", "fmax", "fmin"];
/// Binary ops on integers: floats.
const INTEGER_BINARY: &[&str] = &["gcd", "and", "or", "xor", "shl", "shr", "lshr"];
/// Reductions: an axis out of range, an axis twice, no axes, a misspelt clause.
const REDUCTIONS: &[&str] = &["sum", "prod", "max", "min", "max_num", "min_num", "mean"];
/// Scans: an axis out of range, no axes to walk, truth values, no clause.
const SCANS: &[&str] = &["cumsum", "cumprod", "cummax", "cummin"];
/// Reductions of floats: integers.
const FLOAT_REDUCTIONS: &[&str] = &["max_num", "min_num", "mean"];

/// Folds and scans: what fits neither the operands nor the lambda.
const LAMBDAS: &[&str] = &["fold", "scan"];
/// A lambda of one accumulator and one element, and the program's other parts.
const BAD_LAMBDAS: &[(&str, &str)] = &[
    // An axis out of range, and none at all.
    (
        "FIR0304",
        "// %x: tensor<4xf32>\n%0 = fusion.OP %x dim 1 init [0.0] {\n^bb0(%a: f32, %e: f32):\n  fusion.yield %a\n}",
    ),
    (
        "FIR0212",
        "// %x: tensor<4xf32>\n%0 = fusion.OP %x init [0.0] {\n^bb0(%a: f32, %e: f32):\n  fusion.yield %a\n}",
    ),
    // Operands of other extents.
    (
        "FIR0301",
        "// %x: tensor<4xf32>, %y: tensor<5xf32>\n%0 = fusion.OP %x, %y dim 0 init [0.0] {\n^bb0(%a: f32, %e: f32, %f: f32):\n  fusion.yield %a\n}",
    ),
    (
        "FIR0301",
        "// %x: tensor<4xf32>, %y: tensor<f32>\n%0 = fusion.OP %x, %y dim 0 init [0.0] {\n^bb0(%a: f32, %e: f32, %f: f32):\n  fusion.yield %a\n}",
    ),
    // No accumulator, no list, no number; numbers that the accumulator cannot hold.
    (
        "FIR0312",
        "// %x: tensor<4xf32>\nfusion.OP %x dim 0 init [] {\n^bb0(%e: f32):\n  fusion.yield\n}",
    ),
    (
        "FIR0312",
        "// %x: tensor<4xf32>\n%0 = fusion.OP %x dim 0 init 0.0 {\n^bb0(%a: f32, %e: f32):\n  fusion.yield %a\n}",
    ),
    (
        "FIR0312",
        "// %x: tensor<4xf32>\n%0 = fusion.OP %x dim 0 init [\"0\"] {\n^bb0(%a: f32, %e: f32):\n  fusion.yield %a\n}",
    ),
    (
        "FIR0308",
        "// %x: tensor<4xi8>\n%0 = fusion.OP %x dim 0 init [300] {\n^bb0(%a: i8, %e: i8):\n  fusion.yield %a\n}",
    ),
    (
        "FIR0308",
        "// %x: tensor<4xi8>\n%0 = fusion.OP %x dim 0 init [0.5] {\n^bb0(%a: i8, %e: i8):\n  fusion.yield %a\n}",
    ),
    // Too few arguments, one that is no scalar, one of another type than the element.
    (
        "FIR0312",
        "// %x: tensor<4xf32>\n%0 = fusion.OP %x dim 0 init [0.0] {\n^bb0(%a: f32):\n  fusion.yield %a\n}",
    ),
    (
        "FIR0312",
        "// %x: tensor<4xf32>\n%0 = fusion.OP %x dim 0 init [0.0] {\n^bb0(%a: tensor<f32>, %e: f32):\n  fusion.yield %a\n}",
    ),
    (
        "FIR0312",
        "// %x: tensor<4xf32>\n%0 = fusion.OP %x dim 0 init [0.0] {\n^bb0(%a: f32, %e: f64):\n  fusion.yield %a\n}",
    ),
    // Accumulators of other types than the elements do not associate with them.
    (
        "FIR0312",
        "// %x: tensor<4xf32>\n%0 = fusion.OP %x dim 0 init [0] associative {\n^bb0(%a: i32, %e: f32):\n  fusion.yield %a\n}",
    ),
    // No lambda; one that does not end.
    (
        "FIR0216",
        "// %x: tensor<4xf32>\n%0 = fusion.OP %x dim 0 init [0.0] : tensor<4xf32>",
    ),
    // Another type than it has.
    (
        "FIR0218",
        "// %x: tensor<4xf32>\n%0 = fusion.OP %x dim 0 init [0.0] {\n^bb0(%a: f32, %e: f32):\n  fusion.yield %a\n} : tensor<9xf32>",
    ),
];

const CASES: &[Case] = &[
    // fusion, complex numbers
    (
        "fusion.complex",
        "FIR0211",
        "// %x: tensor<4xi32>\n%0 = fusion.complex %x, %x",
    ),
    (
        "fusion.complex",
        "FIR0302",
        "// %x: tensor<4xf32>, %y: tensor<4xf64>\n%0 = fusion.complex %x, %y",
    ),
    (
        "fusion.real",
        "FIR0211",
        "// %x: tensor<4xf32>\n%0 = fusion.real %x",
    ),
    (
        "fusion.imag",
        "FIR0211",
        "// %x: tensor<4xf32>\n%0 = fusion.imag %x",
    ),
    (
        "fusion.conj",
        "FIR0211",
        "// %x: tensor<4xf32>\n%0 = fusion.conj %x",
    ),
    (
        "fusion.cast",
        "FIR0313",
        "// %x: tensor<4xcomplex<f32>>\n%0 = fusion.cast %x to f32",
    ),
    (
        "fusion.compare",
        "FIR0313",
        "// %x: tensor<4xcomplex<f64>>\n%0 = fusion.compare %x, %x predicate lt",
    ),
    (
        "fusion.bitcast",
        "FIR0311",
        "// %x: tensor<4xcomplex<f32>>\n%0 = fusion.bitcast %x to i64",
    ),
    (
        "fusion.maximum",
        "FIR0211",
        "// %x: tensor<4xcomplex<f32>>\n%0 = fusion.maximum %x, %x",
    ),
    (
        "fusion.scatter",
        "FIR0302",
        "// %x: tensor<4xcomplex<f32>>, %i: tensor<4xi64>\n%0 = fusion.scatter %x, %i, %x dim 0 combine mul",
    ),
    // fusion, elementwise
    (
        "fusion.not",
        "FIR0211",
        "// %x: tensor<4xf32>\n%0 = fusion.not %x",
    ),
    (
        "fusion.not",
        "FIR0210",
        "// %x: tensor<4xi1>\n%0 = fusion.not %x, %x",
    ),
    (
        "fusion.add",
        "FIR0302",
        "// %x: tensor<4xf32>, %y: tensor<4xbf16>\n%0 = fusion.add %x, %y",
    ),
    (
        "fusion.add",
        "FIR0303",
        "// %x: tensor<?xf32>, %y: tensor<?xf32>\n%0 = fusion.add %x, %y",
    ),
    (
        "fusion.add",
        "FIR0310",
        "// %x: tensor<4xf32>, %y: vector<4xf32>\n%0 = fusion.add %x, %y",
    ),
    (
        "fusion.add",
        "FIR0218",
        "// %x: tensor<4xf32>\n%0 = fusion.add %x, %x : tensor<5xf32>",
    ),
    (
        "fusion.add",
        "FIR0210",
        "// %x: tensor<4xf32>\n%0 = fusion.add %x",
    ),
    (
        "fusion.add",
        "FIR0214",
        "// %x: tensor<4xf32>\n%0 = fusion.add %x, %x {rounding = 3}",
    ),
    (
        "fusion.compare",
        "FIR0212",
        "// %x: f32\n%0 = fusion.compare %x, %x",
    ),
    (
        "fusion.compare",
        "FIR0302",
        "// %x: f32, %y: f64\n%0 = fusion.compare %x, %y predicate lt",
    ),
    (
        "fusion.where",
        "FIR0211",
        "// %x: tensor<4xf32>\n%0 = fusion.where %x, %x, %x",
    ),
    (
        "fusion.where",
        "FIR0301",
        "// %c: tensor<3xi1>, %x: tensor<4xf32>\n%0 = fusion.where %c, %x, %x",
    ),
    (
        "fusion.clamp",
        "FIR0302",
        "// %x: tensor<4xf32>, %y: f64\n%0 = fusion.clamp %x, %y, %y",
    ),
    ("fusion.cast", "FIR0212", "// %x: f32\n%0 = fusion.cast %x"),
    (
        "fusion.cast",
        "FIR0218",
        "// %x: f32\n%0 = fusion.cast %x to bf16 : f16",
    ),
    (
        "fusion.bitcast",
        "FIR0311",
        "// %x: f32\n%0 = fusion.bitcast %x to f16",
    ),
    (
        "fusion.bitcast",
        "FIR0311",
        "// %x: i8\n%0 = fusion.bitcast %x to i1",
    ),
    // fusion, lambdas: an op that is none of elements, a constant that is no scalar, too many values, one of another
    // type
    (
        "fusion.full",
        "FIR0312",
        "// %x: tensor<4xf32>\n%0 = fusion.fold %x dim 0 init [0.0] {\n^bb0(%a: f32, %e: f32):\n  %s = fusion.full %e shape [2]\n  fusion.yield %a\n}",
    ),
    (
        "fusion.constant",
        "FIR0312",
        "// %x: tensor<4xf32>\n%0 = fusion.scan %x dim 0 init [0.0] {\n^bb0(%a: f32, %e: f32):\n  %c = fusion.constant value 1.0 : tensor<f32>\n  fusion.yield %a\n}",
    ),
    (
        "fusion.yield",
        "FIR0312",
        "// %x: tensor<4xf32>\n%0 = fusion.fold %x dim 0 init [0.0] {\n^bb0(%a: f32, %e: f32):\n  fusion.yield %a, %e\n}",
    ),
    (
        "fusion.yield",
        "FIR0312",
        "// %x: tensor<4xf32>\n%0 = fusion.scan %x dim 0 init [0.0] {\n^bb0(%a: f32, %e: f32):\n  %b = fusion.isnan %e\n  fusion.yield %b\n}",
    ),
    (
        "fusion.yield",
        "FIR0224",
        "// %x: tensor<4xf32>\n%y = task.pattern @p {\n  fusion.yield %x\n} : tensor<4xf32>",
    ),
    (
        "fusion.last",
        "FIR0304",
        "// %x: tensor<4xf32>\n%0 = fusion.last %x dim 1 otherwise 0.0",
    ),
    (
        "fusion.last",
        "FIR0212",
        "// %x: tensor<4xf32>\n%0 = fusion.last %x dim 0",
    ),
    (
        "fusion.last",
        "FIR0308",
        "// %x: tensor<4xi8>\n%0 = \"fusion.last\"(%x) {dim = 0 : i64, otherwise = 0.5 : f32} : (tensor<4xi8>) -> tensor<i8>",
    ),
    (
        "fusion.last",
        "FIR0312",
        "// %x: tensor<4xi8>\n%0 = fusion.last %x dim 0 otherwise dense<1> : tensor<i8>",
    ),
    // fusion, creation
    ("fusion.constant", "FIR0212", "%0 = fusion.constant : f32"),
    (
        "fusion.constant",
        "FIR0308",
        "%0 = fusion.constant value true : f32",
    ),
    (
        "fusion.constant",
        "FIR0308",
        "%0 = \"fusion.constant\"() {value = 300 : i64} : () -> ui8",
    ),
    (
        "fusion.constant",
        "FIR0308",
        "%0 = \"fusion.constant\"() {value = 0.5 : f32} : () -> i32",
    ),
    (
        "fusion.full",
        "FIR0305",
        "// %x: tensor<4xf32>\n%0 = fusion.full %x shape [4]",
    ),
    (
        "fusion.full",
        "FIR0303",
        "// %x: f32\n%0 = fusion.full %x shape [?]",
    ),
    (
        "fusion.full",
        "FIR0307",
        "// %x: f32\n%0 = fusion.full %x shape [b4]",
    ),
    (
        "fusion.nextafter",
        "FIR0211",
        "// %x: bf16\n%0 = fusion.nextafter %x, %x",
    ),
    (
        "fusion.nextafter",
        "FIR0302",
        "// %x: f32, %y: f64\n%0 = fusion.nextafter %x, %y",
    ),
    (
        "fusion.philox",
        "FIR0211",
        "// %i: tensor<4xi32>, %s: i64\n%0 = fusion.philox %i, %s, %s word x",
    ),
    (
        "fusion.philox",
        "FIR0212",
        "// %i: tensor<4xi64>, %s: i64\n%0 = fusion.philox %i, %s, %s",
    ),
    (
        "fusion.uniform",
        "FIR0305",
        "// %s: tensor<4xi64>\n%0 = fusion.uniform %s, %s shape [4] of f32",
    ),
    (
        "fusion.uniform",
        "FIR0218",
        "// %s: i64\n%0 = fusion.uniform %s, %s shape [4] of i32",
    ),
    (
        "fusion.uniform",
        "FIR0303",
        "// %s: i64\n%0 = fusion.uniform %s, %s shape [?] of f32",
    ),
    (
        "fusion.normal",
        "FIR0211",
        "// %s: i32\n%0 = fusion.normal %s, %s shape [4] of f32",
    ),
    (
        "fusion.bernoulli",
        "FIR0307",
        "// %p: f32, %s: i64\n%0 = fusion.bernoulli %p, %s, %s shape [b4]",
    ),
    (
        "fusion.bernoulli",
        "FIR0305",
        "// %p: tensor<4xf32>, %s: i64\n%0 = fusion.bernoulli %p, %s, %s shape [4]",
    ),
    ("fusion.size", "FIR0303", "%0 = fusion.size shape [?]"),
    (
        "fusion.iota",
        "FIR0304",
        "%0 = fusion.iota dim 1 shape [4] of i32",
    ),
    (
        "fusion.iota",
        "FIR0218",
        "%0 = fusion.iota dim 0 shape [4] of i1",
    ),
    // fusion, shape
    (
        "fusion.broadcast",
        "FIR0304",
        "// %x: tensor<4xf32>\n%0 = fusion.broadcast %x dims [] shape [4, 8]",
    ),
    (
        "fusion.broadcast",
        "FIR0305",
        "// %x: tensor<4xf32>\n%0 = fusion.broadcast %x dims [0] shape [5, 8]",
    ),
    (
        "fusion.broadcast",
        "FIR0307",
        "// %x: tensor<4xf32>\n%0 = fusion.broadcast %x dims [0] shape [b4, 8]",
    ),
    (
        "fusion.expand",
        "FIR0305",
        "// %x: tensor<4xf32>\n%0 = fusion.expand %x shape [8]",
    ),
    (
        "fusion.squeeze",
        "FIR0305",
        "// %x: tensor<4xf32>\n%0 = fusion.squeeze %x dims [0]",
    ),
    (
        "fusion.permute",
        "FIR0304",
        "// %x: tensor<4x5xf32>\n%0 = fusion.permute %x dims [0, 0]",
    ),
    (
        "fusion.reshape",
        "FIR0306",
        "// %x: tensor<[B]x4xf32>\n%0 = fusion.reshape %x shape [[B], 5]",
    ),
    (
        "fusion.reshape",
        "FIR0307",
        "// %x: tensor<4xb2xf32>\n%0 = fusion.reshape %x shape [8]",
    ),
    ("fusion.copy", "FIR0211", "// %x: f32\n%0 = fusion.copy %x"),
    (
        "fusion.segment_set",
        "FIR0211",
        "// %x: f32\n%0 = fusion.segment_set %x",
    ),
    (
        "fusion.slice",
        "FIR0309",
        "// %x: tensor<5xf32>\n%0 = fusion.slice %x starts [2] shape [4]",
    ),
    (
        "fusion.slice",
        "FIR0309",
        "// %x: tensor<[B]xf32>\n%0 = fusion.slice %x starts [0] shape [1]",
    ),
    (
        "fusion.flip",
        "FIR0304",
        "// %x: tensor<5x4xf32>\n%0 = fusion.flip %x dims [1, 0]",
    ),
    (
        "fusion.flip",
        "FIR0303",
        "// %x: tensor<?x4xf32>\n%0 = fusion.flip %x dims [0]",
    ),
    (
        "fusion.pad",
        "FIR0309",
        "// %x: tensor<5xf32>, %v: f32\n%0 = fusion.pad %x, %v low [-1] high [0]",
    ),
    (
        "fusion.pad",
        "FIR0302",
        "// %x: tensor<5xf32>, %v: f64\n%0 = fusion.pad %x, %v low [1] high [0]",
    ),
    (
        "fusion.cat",
        "FIR0301",
        "// %x: tensor<5x4xf32>, %y: tensor<5x3xf32>\n%0 = fusion.cat %x, %y dim 0",
    ),
    (
        "fusion.cat",
        "FIR0304",
        "// %x: tensor<5xf32>\n%0 = fusion.cat %x dim 1",
    ),
    (
        "fusion.cat",
        "FIR0305",
        "// %x: tensor<5x4xf32>\n%0 = fusion.cat %x, %x dim 1 placed",
    ),
    (
        "fusion.cat",
        "FIR0305",
        "// %x: tensor<b5xf32>\n%0 = fusion.cat %x dim 0 placed",
    ),
    (
        "fusion.cat",
        "FIR0305",
        "// %x: tensor<1x5xf32, [1, 0]>, %y: tensor<[N]x5xf32>\n%0 = fusion.cat %x, %y dim 0 placed",
    ),
    (
        "fusion.take",
        "FIR0304",
        "// %x: tensor<5x4xf32>, %i: tensor<3xi64>\n%0 = fusion.take %x, %i dim 2",
    ),
    (
        "fusion.take",
        "FIR0211",
        "// %x: tensor<5x4xf32>, %i: tensor<3xf32>\n%0 = fusion.take %x, %i dim 0",
    ),
    (
        "fusion.take_along",
        "FIR0301",
        "// %x: tensor<5x4xf32>, %i: tensor<3x2xi32>\n%0 = fusion.take_along %x, %i dim 0",
    ),
    (
        "fusion.take_along",
        "FIR0301",
        "// %x: tensor<5x4xf32>, %i: tensor<4xi64>\n%0 = fusion.take_along %x, %i dim 1",
    ),
    (
        "fusion.take_along",
        "FIR0304",
        "// %x: tensor<5xf32>, %i: tensor<4xi64>\n%0 = fusion.take_along %x, %i dim -1",
    ),
    (
        "fusion.dynamic_slice",
        "FIR0309",
        "// %x: tensor<5x4xf32>, %i: tensor<i64>\n%0 = fusion.dynamic_slice %x, %i dims [0] shape [6, 4]",
    ),
    (
        "fusion.dynamic_slice",
        "FIR0309",
        "// %x: tensor<[N]x4xf32>, %i: tensor<i64>\n%0 = fusion.dynamic_slice %x, %i dims [0] shape [2, 4]",
    ),
    (
        "fusion.dynamic_slice",
        "FIR0301",
        "// %x: tensor<5x4xf32>, %i: tensor<i64>\n%0 = fusion.dynamic_slice %x, %i dims [0] shape [2, 3]",
    ),
    (
        "fusion.dynamic_slice",
        "FIR0305",
        "// %x: tensor<5x4xf32>, %i: tensor<i64>\n%0 = fusion.dynamic_slice %x, %i dims [0, 1] shape [2, 3]",
    ),
    (
        "fusion.dynamic_slice",
        "FIR0305",
        "// %x: tensor<5x4xf32>, %i: tensor<1xi64>\n%0 = fusion.dynamic_slice %x, %i dims [0] shape [2, 4]",
    ),
    (
        "fusion.dynamic_slice",
        "FIR0303",
        "// %x: tensor<?x4xf32>, %i: tensor<i64>\n%0 = fusion.dynamic_slice %x, %i dims [0] shape [2, 4]",
    ),
    (
        "fusion.dynamic_slice",
        "FIR0304",
        "// %x: tensor<5x4xf32>, %i: tensor<i64>\n%0 = fusion.dynamic_slice %x, %i dims [2] shape [5, 4]",
    ),
    (
        "fusion.dynamic_slice",
        "FIR0211",
        "// %x: tensor<5x4xf32>, %i: f32\n%0 = fusion.dynamic_slice %x, %i dims [0] shape [2, 4]",
    ),
    (
        "fusion.dynamic_update_slice",
        "FIR0302",
        "// %x: tensor<5x4xf32>, %u: tensor<2x4xf16>, %i: i64\n%0 = fusion.dynamic_update_slice %x, %u, %i dims [0]",
    ),
    (
        "fusion.dynamic_update_slice",
        "FIR0309",
        "// %x: tensor<5x4xf32>, %u: tensor<6x4xf32>, %i: i64\n%0 = fusion.dynamic_update_slice %x, %u, %i dims [0]",
    ),
    (
        "fusion.dynamic_update_slice",
        "FIR0305",
        "// %x: tensor<5x4xf32>, %u: tensor<4xf32>, %i: i64\n%0 = fusion.dynamic_update_slice %x, %u, %i dims [0]",
    ),
    (
        "fusion.dynamic_update_slice",
        "FIR0301",
        "// %x: tensor<5x4xf32>, %u: tensor<2x3xf32>, %i: i64\n%0 = fusion.dynamic_update_slice %x, %u, %i dims [0]",
    ),
    (
        "fusion.dynamic_update_slice",
        "FIR0303",
        "// %x: tensor<?x4xf32>, %u: tensor<?x2xf32>, %i: i64\n%0 = fusion.dynamic_update_slice %x, %u, %i dims [1]",
    ),
    // fusion, products
    (
        "fusion.matmul",
        "FIR0301",
        "// %a: tensor<4x5xf32>, %b: tensor<4x3xf32>\n%0 = fusion.matmul %a, %b",
    ),
    (
        "fusion.matmul",
        "FIR0301",
        "// %a: tensor<2x4x5xf32>, %b: tensor<3x5x3xf32>\n%0 = fusion.matmul %a, %b",
    ),
    (
        "fusion.matmul",
        "FIR0301",
        "// %a: tensor<2x2x4x5xf32>, %b: tensor<2x5x3xf32>\n%0 = fusion.matmul %a, %b",
    ),
    (
        "fusion.matmul",
        "FIR0302",
        "// %a: tensor<4x5xf32>, %b: tensor<5x3xbf16>\n%0 = fusion.matmul %a, %b",
    ),
    (
        "fusion.matmul",
        "FIR0302",
        "// %a: tensor<4x5xf32>, %b: tensor<5x3xf32>\n%0 = fusion.matmul %a, %b to f64",
    ),
    (
        "fusion.matmul",
        "FIR0303",
        "// %a: tensor<4x?xf32>, %b: tensor<?x3xf32>\n%0 = fusion.matmul %a, %b",
    ),
    (
        "fusion.matmul",
        "FIR0305",
        "// %a: tensor<f32>, %b: tensor<5xf32>\n%0 = fusion.matmul %a, %b",
    ),
    (
        "fusion.matmul",
        "FIR0211",
        "// %a: tensor<4x5xi32>, %b: tensor<5x3xi32>\n%0 = fusion.matmul %a, %b",
    ),
    (
        "fusion.matmul",
        "FIR0301",
        "// %a: tensor<4x5xf32>, %b: tensor<5x3xf32>, %c: tensor<3x3xf32>\n%0 = fusion.matmul %a, %b, %c",
    ),
    (
        "fusion.matmul",
        "FIR0302",
        "// %a: tensor<4x5xbf16>, %b: tensor<5x3xbf16>, %c: tensor<4x3xf32>\n%0 = fusion.matmul %a, %b, %c to f32",
    ),
    (
        "fusion.matmul",
        "FIR0305",
        "// %a: tensor<4x5xf32>, %b: tensor<5x3xf32>, %c: tensor<3xf32>\n%0 = fusion.matmul %a, %b, %c",
    ),
    (
        "fusion.linear",
        "FIR0301",
        "// %x: tensor<4x5xf32>, %w: tensor<5x3xf32>\n%0 = fusion.linear %x, %w",
    ),
    (
        "fusion.linear",
        "FIR0305",
        "// %x: tensor<4x5xf32>, %w: tensor<2x3x5xf32>\n%0 = fusion.linear %x, %w",
    ),
    (
        "fusion.linear",
        "FIR0301",
        "// %x: tensor<4x5xf32>, %w: tensor<3x5xf32>, %c: tensor<5xf32>\n%0 = fusion.linear %x, %w, %c",
    ),
    (
        "fusion.linear",
        "FIR0301",
        "// %x: tensor<4x5xf32>, %w: tensor<3x5xf32>, %c: tensor<5x3xf32>\n%0 = fusion.linear %x, %w, %c",
    ),
    (
        "fusion.linear",
        "FIR0305",
        "// %x: tensor<4x5xf32>, %w: tensor<3x5xf32>, %c: tensor<2x4x3xf32>\n%0 = fusion.linear %x, %w, %c",
    ),
    // fusion, attention
    (
        "fusion.sdpa",
        "FIR0301",
        "// %q: tensor<2x4x5xf32>, %k: tensor<2x7x6xf32>, %v: tensor<2x7x3xf32>\n%0 = fusion.sdpa %q, %k, %v",
    ),
    (
        "fusion.sdpa",
        "FIR0301",
        "// %q: tensor<2x4x5xf32>, %k: tensor<7x5xf32>, %v: tensor<2x7x3xf32>\n%0 = fusion.sdpa %q, %k, %v",
    ),
    (
        "fusion.sdpa",
        "FIR0301",
        "// %q: tensor<4x5xf32>, %k: tensor<7x5xf32>, %v: tensor<7x3xf32>, %b: tensor<7x4xf32>\n%0 = fusion.sdpa %q, %k, %v, %b",
    ),
    (
        "fusion.sdpa",
        "FIR0302",
        "// %q: tensor<4x5xbf16>, %k: tensor<7x5xbf16>, %v: tensor<7x3xf32>\n%0 = fusion.sdpa %q, %k, %v",
    ),
    (
        "fusion.sdpa",
        "FIR0302",
        "// %q: tensor<4x5xbf16>, %k: tensor<7x5xbf16>, %v: tensor<7x3xbf16>, %b: tensor<4x7xf32>\n%0 = fusion.sdpa %q, %k, %v, %b",
    ),
    (
        "fusion.sdpa",
        "FIR0303",
        "// %q: tensor<4x5xf32>, %k: tensor<?x5xf32>, %v: tensor<?x3xf32>\n%0 = fusion.sdpa %q, %k, %v",
    ),
    (
        "fusion.sdpa",
        "FIR0305",
        "// %q: tensor<5xf32>, %k: tensor<7x5xf32>, %v: tensor<7x3xf32>\n%0 = fusion.sdpa %q, %k, %v",
    ),
    (
        "fusion.sdpa",
        "FIR0308",
        "// %q: tensor<4x5xf32>, %k: tensor<7x5xf32>, %v: tensor<7x3xf32>\n%0 = fusion.sdpa %q, %k, %v scale 1 : i64",
    ),
    // fusion, scatters
    (
        "fusion.index_put",
        "FIR0304",
        "// %x: tensor<5x4xf32>, %i: tensor<3xi64>, %u: tensor<5x3xf32>\n%0 = fusion.index_put %x, %i, %u dim 2 combine set",
    ),
    (
        "fusion.index_put",
        "FIR0305",
        "// %x: tensor<5x4xf32>, %i: tensor<3x1xi64>, %u: tensor<3x4xf32>\n%0 = fusion.index_put %x, %i, %u dim 0 combine set",
    ),
    (
        "fusion.index_put",
        "FIR0301",
        "// %x: tensor<5x4xf32>, %i: tensor<3xi64>, %u: tensor<2x4xf32>\n%0 = fusion.index_put %x, %i, %u dim 0 combine set",
    ),
    (
        "fusion.index_put",
        "FIR0301",
        "// %x: tensor<5x4xf32>, %i: tensor<3xi64>, %u: tensor<3x5xf32>\n%0 = fusion.index_put %x, %i, %u dim 0 combine set",
    ),
    (
        "fusion.index_put",
        "FIR0302",
        "// %x: tensor<5x4xf32>, %i: tensor<3xi64>, %u: tensor<3x4xbf16>\n%0 = fusion.index_put %x, %i, %u dim 0 combine set",
    ),
    (
        "fusion.index_put",
        "FIR0303",
        "// %x: tensor<5xf32>, %i: tensor<?xi64>, %u: tensor<?xf32>\n%0 = fusion.index_put %x, %i, %u dim 0 combine set",
    ),
    (
        "fusion.scatter",
        "FIR0211",
        "// %x: tensor<5xf32>, %i: tensor<3xf32>, %u: tensor<3xf32>\n%0 = fusion.scatter %x, %i, %u dim 0 combine set",
    ),
    (
        "fusion.scatter",
        "FIR0302",
        "// %x: tensor<5xf8E5M2>, %i: tensor<3xi64>, %u: tensor<3xf8E5M2>\n%0 = fusion.scatter %x, %i, %u dim 0 combine max",
    ),
    (
        "fusion.scatter",
        "FIR0302",
        "// %x: tensor<5xi1>, %i: tensor<3xi64>, %u: tensor<3xi1>\n%0 = fusion.scatter %x, %i, %u dim 0 combine add",
    ),
    (
        "fusion.scatter",
        "FIR0305",
        "// %x: tensor<5x4xf32>, %i: tensor<3xi64>, %u: tensor<3x4xf32>\n%0 = fusion.scatter %x, %i, %u dim 0 combine set",
    ),
    (
        "fusion.scatter",
        "FIR0301",
        "// %x: tensor<5x4xf32>, %i: tensor<3x2xi64>, %u: tensor<3x4xf32>\n%0 = fusion.scatter %x, %i, %u dim 0 combine set",
    ),
    // fusion, composites
    (
        "fusion.roll",
        "FIR0304",
        "// %x: tensor<5x4xf32>\n%0 = fusion.roll %x dim 2 shift 1",
    ),
    (
        "fusion.roll",
        "FIR0303",
        "// %x: tensor<?xf32>\n%0 = fusion.roll %x dim 0 shift 1",
    ),
    (
        "fusion.one_hot",
        "FIR0305",
        "// %i: tensor<5xi64>\n%0 = fusion.one_hot %i dim 1 shape [2, 3] of f32",
    ),
    (
        "fusion.one_hot",
        "FIR0307",
        "// %i: tensor<5xi64>\n%0 = fusion.one_hot %i dim 1 shape [b4] of f32",
    ),
    (
        "fusion.one_hot",
        "FIR0211",
        "// %i: tensor<5xf32>\n%0 = fusion.one_hot %i dim 1 shape [3] of f32",
    ),
    // fusion, sorts
    (
        "fusion.sort",
        "FIR0304",
        "// %x: tensor<5x4xf32>\n%0 = fusion.sort %x dim 2",
    ),
    (
        "fusion.sort",
        "FIR0309",
        "// %x: tensor<[B]x4xf32>\n%0 = fusion.sort %x dim 0 first 3",
    ),
    (
        "fusion.argsort",
        "FIR0309",
        "// %x: tensor<5x4xf32>\n%0 = fusion.argsort %x dim 0 of i64 first -1",
    ),
    (
        "fusion.argsort",
        "FIR0218",
        "// %x: tensor<5x4xf32>\n%0 = fusion.argsort %x dim 0 of i8",
    ),
    (
        "fusion.topk",
        "FIR0309",
        "// %x: tensor<5x4xf32>\n%0, %1 = fusion.topk %x dim 1 first 5 of i64",
    ),
    (
        "fusion.topk",
        "FIR0303",
        "// %x: tensor<?xf32>\n%0, %1 = fusion.topk %x dim 0 first 0 of i32",
    ),
    (
        "fusion.topk",
        "FIR0212",
        "// %x: tensor<5xf32>\n%0, %1 = fusion.topk %x dim 0 of i64",
    ),
    // fusion, convolution
    (
        "fusion.convolution",
        "FIR0305",
        "// %x: tensor<2x8x5xf32>, %w: tensor<4x8x3x3xf32>\n%0 = fusion.convolution %x, %w",
    ),
    (
        "fusion.convolution",
        "FIR0302",
        "// %x: tensor<2x8x5xf32>, %w: tensor<4x8x3xf16>\n%0 = fusion.convolution %x, %w",
    ),
    (
        "fusion.convolution",
        "FIR0303",
        "// %x: tensor<2x8x[H]xf32>, %w: tensor<4x8x3xf32>\n%0 = fusion.convolution %x, %w",
    ),
    (
        "fusion.convolution",
        "FIR0301",
        "// %x: tensor<2x8x5xf32>, %w: tensor<4x7x3xf32>\n%0 = fusion.convolution %x, %w",
    ),
    (
        "fusion.convolution",
        "FIR0305",
        "// %x: tensor<2x8x5xf32>, %w: tensor<4x8x3xf32>\n%0 = fusion.convolution %x, %w strides [1, 1]",
    ),
    (
        "fusion.convolution",
        "FIR0309",
        "// %x: tensor<2x8x5xf32>, %w: tensor<4x8x3xf32>\n%0 = fusion.convolution %x, %w dilation [0]",
    ),
    (
        "fusion.convolution",
        "FIR0309",
        "// %x: tensor<2x8x5xf32>, %w: tensor<4x8x3xf32>\n%0 = fusion.convolution %x, %w low [9223372036854775807]",
    ),
    (
        "fusion.convolution",
        "FIR0211",
        "// %x: tensor<2x8x5xi1>, %w: tensor<4x8x3xi1>\n%0 = fusion.convolution %x, %w",
    ),
    // fusion, routines
    (
        "fusion.cholesky",
        "FIR0301",
        "// %a: tensor<2x4x5xf32>\n%0 = fusion.cholesky %a",
    ),
    (
        "fusion.cholesky",
        "FIR0211",
        "// %a: tensor<4x4xbf16>\n%0 = fusion.cholesky %a",
    ),
    (
        "fusion.triangular_solve",
        "FIR0301",
        "// %a: tensor<4x4xf32>, %b: tensor<3x4xf32>\n%0 = fusion.triangular_solve %a, %b",
    ),
    (
        "fusion.triangular_solve",
        "FIR0302",
        "// %a: tensor<4x4xf32>, %b: tensor<4x3xf64>\n%0 = fusion.triangular_solve %a, %b",
    ),
    (
        "fusion.triangular_solve",
        "FIR0301",
        "// %a: tensor<2x4x4xf32>, %b: tensor<3x4x4xf32>\n%0 = fusion.triangular_solve %a, %b right",
    ),
    (
        "fusion.lu",
        "FIR0303",
        "// %a: tensor<[N]x4xf32>\n%0, %1 = fusion.lu %a",
    ),
    (
        "fusion.qr",
        "FIR0301",
        "// %a: tensor<4xf32>\n%0, %1 = fusion.qr %a",
    ),
    (
        "fusion.householder_product",
        "FIR0301",
        "// %v: tensor<3x4xf32>, %t: tensor<3xf32>\n%0 = fusion.householder_product %v, %t",
    ),
    (
        "fusion.householder_product",
        "FIR0301",
        "// %v: tensor<4x3xf32>, %t: tensor<4xf32>\n%0 = fusion.householder_product %v, %t",
    ),
    (
        "fusion.eigh",
        "FIR0301",
        "// %a: tensor<4x3xf32>\n%0, %1 = fusion.eigh %a",
    ),
    (
        "fusion.svd",
        "FIR0211",
        "// %a: tensor<4x3xi32>\n%0, %1, %2 = fusion.svd %a",
    ),
    (
        "fusion.fft",
        "FIR0304",
        "// %x: tensor<4x3xf32>\n%0, %1 = fusion.fft %x, %x dim 2",
    ),
    (
        "fusion.fft",
        "FIR0301",
        "// %x: tensor<4x3xf32>, %y: tensor<4x4xf32>\n%0, %1 = fusion.fft %x, %y dim 0",
    ),
    // fusion, reductions
    (
        "fusion.sum",
        "FIR0211",
        "// %x: tensor<4xi1>\n%0 = fusion.sum %x dims [0]",
    ),
    (
        "fusion.argmax",
        "FIR0304",
        "// %x: tensor<4xf32>\n%0 = fusion.argmax %x dim -1 of i64",
    ),
    (
        "fusion.argmax",
        "FIR0218",
        "// %x: tensor<4xf32>\n%0 = fusion.argmax %x dim 0 of f32",
    ),
    (
        "fusion.argmin",
        "FIR0211",
        "// %x: tensor<4xi1>\n%0 = fusion.argmin %x dim 0 of i64",
    ),
    (
        "fusion.argmin",
        "FIR0212",
        "// %x: tensor<4xf32>\n%0 = fusion.argmin %x of i64",
    ),
    (
        "fusion.var_mean",
        "FIR0211",
        "// %x: tensor<4xi32>\n%0, %1 = fusion.var_mean %x dims [0] correction 0",
    ),
    (
        "fusion.var_mean",
        "FIR0212",
        "// %x: tensor<4xf32>\n%0, %1 = fusion.var_mean %x dims [0]",
    ),
    // task
    (
        "task.program",
        "FIR0230",
        "module {\n  \"task.program\"() ({\n    task.return\n  }) {function_type = () -> ()} : () -> ()\n}",
    ),
    (
        "task.program",
        "FIR0229",
        "task.program @f() {\n}\ntask.program @f() {\n}",
    ),
    (
        "task.program",
        "FIR0404",
        "task.program @f(%x: tensor<4xf32>) -> (tensor<4xf32> {alias = 1 : i64}) {\n  task.return %x\n}",
    ),
    (
        "task.return",
        "FIR0401",
        "task.program @f(%x: tensor<4xf32>) -> tensor<5xf32> {\n  task.return %x\n}",
    ),
    (
        "task.return",
        "FIR0401",
        "task.program @f(%x: tensor<4xf32>) {\n  task.return %x\n}",
    ),
    (
        "task.segment",
        "FIR0403",
        "// %x: tensor<4xf32>\ntask.segment @s kind \"kernle\" {\n  task.yield\n}",
    ),
    ("task.segment", "FIR0230", "task.segment {\n  task.yield\n}"),
    (
        "task.sweep",
        "FIR0402",
        "task.sweep axes [\"i\"] roles [\"grid\", \"tile\"] {\n  task.yield\n}",
    ),
    (
        "task.sweep",
        "FIR0402",
        "task.sweep axes [\"i\"] roles [\"gird\"] {\n  task.yield\n}",
    ),
    (
        "task.sweep",
        "FIR0402",
        "task.sweep vector 0 {\n  task.yield\n}",
    ),
    ("task.phase", "FIR0231", "task.phase {\n  task.yield\n}"),
    (
        "task.phase",
        "FIR0222",
        "// %x: f32\ntask.sweep {\n  \"task.phase\"() ({\n    %0 = fusion.exp %x\n  }) : () -> ()\n  task.yield\n}",
    ),
    (
        "task.program",
        "FIR0406",
        "task.program @f(%x: tensor<4xf32> {pairs}) -> tensor<4xf32> {\n  task.return %x\n}",
    ),
    (
        "task.program",
        "FIR0407",
        "task.program @f(%x: tensor<4x5xf4E2M1FN>) {\n  task.return\n}",
    ),
    (
        "task.program",
        "FIR0407",
        "task.program @f(%x: tensor<b4xf4E2M1FN>) {\n  task.return\n}",
    ),
    (
        "task.program",
        "FIR0407",
        "task.program @f(%x: f4E2M1FN) {\n  task.return\n}",
    ),
    (
        "task.program",
        "FIR0407",
        "task.program @f(%x: tensor<[N]x4xf4E2M1FN, [1, 0]>, %y: tensor<[N+1]xf4E2M1FN>) {\n  task.return\n}",
    ),
    (
        "task.program",
        "FIR0407",
        "task.program @f(%x: tensor<[M]x[N]xf32>) -> tensor<[M*N]xf4E2M1FN> {\n  %r = fusion.reshape %x shape [[M*N]]\n  \
         %y = fusion.cast %r to f4E2M1FN\n  task.return %y\n}",
    ),
    (
        "task.program",
        "FIR0408",
        "task.program @f(%x: tensor<4xf32> {packed = 0}) {\n  task.return\n}",
    ),
    (
        "task.program",
        "FIR0408",
        "task.program @f(%x: tensor<4x2xui8> {packed = 0}) {\n  task.return\n}",
    ),
    (
        "task.program",
        "FIR0408",
        "task.program @f(%x: tensor<4x2xui8> {packed}) {\n  task.return\n}",
    ),
    (
        "task.mesh",
        "FIR0412",
        "module {\n  task.mesh axes [\"x\", \"x\"] sizes [2, 2]\n}",
    ),
    (
        "task.mesh",
        "FIR0412",
        "module {\n  task.mesh axes [\"x\"] sizes [2, 2]\n}",
    ),
    (
        "task.mesh",
        "FIR0412",
        "module {\n  task.mesh axes [\"x\"] sizes [0]\n}",
    ),
    (
        "task.mesh",
        "FIR0412",
        "module {\n  task.mesh axes [\"x\", \"y\", \"z\"] sizes [4611686018427387904, 4, 2]\n}",
    ),
    (
        "task.mesh",
        "FIR0412",
        "module {\n  task.mesh axes [\"x\"] sizes [2]\n  task.mesh axes [\"y\"] sizes [2]\n}",
    ),
    (
        "task.shard",
        "FIR0413",
        "// %x: tensor<4xf32>\n%y = task.shard %x to [[\"x\"]]",
    ),
    (
        "task.shard",
        "FIR0413",
        "module {\n  task.mesh axes [\"x\"] sizes [2]\n  task.program @f(%x: tensor<3x4xf32>) {\n    %y = task.shard %x to [[\"x\"], []]\n    task.return\n  }\n}",
    ),
    (
        "task.shard",
        "FIR0413",
        "module {\n  task.mesh axes [\"x\"] sizes [2]\n  task.program @f(%x: tensor<3x4xf32>) {\n    %y = task.shard %x to [[], [\"y\"]]\n    task.return\n  }\n}",
    ),
    (
        "task.shard",
        "FIR0413",
        "module {\n  task.mesh axes [\"x\"] sizes [2]\n  task.program @f(%x: tensor<3x4xf32>) {\n    %y = task.shard %x to [[]]\n    task.return\n  }\n}",
    ),
    (
        "task.shard",
        "FIR0413",
        "module {\n  task.mesh axes [\"x\"] sizes [2]\n  task.program @f(%x: tensor<3x4xf32>) {\n    %y = task.shard %x to \"x\"\n    task.return\n  }\n}",
    ),
    (
        "task.shard",
        "FIR0413",
        "module {\n  task.mesh axes [\"x\"] sizes [2]\n  task.program @f(%x: tensor<3x4xf32>) {\n    %y = task.shard %x to [[\"x\"], [\"x\"]]\n    task.return\n  }\n}",
    ),
    (
        "task.shard",
        "FIR0413",
        "module {\n  task.mesh axes [\"x\"] sizes [2]\n  task.program @f(%x: tensor<3x4xf32>) {\n    %y = task.shard %x to [[], [\"x\"]] partial [\"x\"]\n    task.return\n  }\n}",
    ),
    (
        "task.shard",
        "FIR0413",
        "module {\n  task.mesh axes [\"x\"] sizes [2]\n  task.program @f(%x: tensor<[B]xf32>) {\n    %y = task.shard %x to [[\"x\"]]\n    task.return\n  }\n}",
    ),
    (
        "task.program",
        "FIR0413",
        "module {\n  task.mesh axes [\"x\"] sizes [2]\n  task.program @f(%x: tensor<3xf32> {shard = [[\"x\"]]}) {\n    task.return\n  }\n}",
    ),
    (
        "task.program",
        "FIR0413",
        "task.program @f(%x: tensor<4xf32> {shard = [[\"x\"]]}) {\n  task.return\n}",
    ),
    (
        "task.program",
        "FIR0413",
        "module {\n  task.mesh axes [\"x\"] sizes [2]\n  task.program @f(%x: tensor<4xf32> {shard = [[\"x\"]]}, %z: tensor<4xcomplex<f32>>) {\n    task.return\n  }\n}",
    ),
    (
        "task.devices",
        "FIR0412",
        "task.program @f(%x: tensor<4xf32>) {\n  %y = task.devices %x body @f in [[[]]] out [[[]]] : tensor<4xf32>\n  task.return\n}",
    ),
    (
        "task.devices",
        "FIR0234",
        "module {\n  task.mesh axes [\"x\"] sizes [2]\n  task.program @f(%x: tensor<3x4xf32>) {\n    %y = task.devices %x body @g in [[[], []]] out [[[], []]] : tensor<3x4xf32>\n    task.return\n  }\n}",
    ),
    (
        "task.devices",
        "FIR0414",
        "module {\n  task.mesh axes [\"x\"] sizes [2]\n  task.program @g(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {\n    task.return %x\n  }\n  task.program @f(%x: tensor<3x4xf32>) {\n    %y = task.devices %x body @g in [[[], [\"x\"]]] out [[[], [\"x\"]]] : tensor<3x4xf32>\n    task.return\n  }\n}",
    ),
    (
        "task.devices",
        "FIR0414",
        "module {\n  task.mesh axes [\"x\"] sizes [2]\n  task.program @g(%x: tensor<3x2xf32>) -> tensor<3x2xf32> attributes {task.device} {\n    task.return %x\n  }\n  task.program @f(%x: tensor<3x4xf32>) attributes {task.device} {\n    %y = task.devices %x body @g in [[[], [\"x\"]]] out [[[], [\"x\"]]] : tensor<3x4xf32>\n    task.return\n  }\n}",
    ),
    (
        "task.devices",
        "FIR0413",
        "module {\n  task.mesh axes [\"x\"] sizes [2]\n  task.program @g(%x: tensor<3x2xf32>) -> tensor<3x2xf32> attributes {task.device} {\n    task.return %x\n  }\n  task.program @f(%x: tensor<3x4xf32>) {\n    %y = task.devices %x body @g in [[[], []]] out [[[], [\"x\"]]] : tensor<3x4xf32>\n    task.return\n  }\n}",
    ),
    (
        "task.devices",
        "FIR0413",
        "module {\n  task.mesh axes [\"x\"] sizes [2]\n  task.program @g(%x: tensor<3x2xf32>) -> tensor<3x2xf32> attributes {task.device} {\n    task.return %x\n  }\n  task.program @f(%x: tensor<3x4xf32>) {\n    %y = task.devices %x body @g in [[[], [\"x\"]]] out [[[], []]] : tensor<3x4xf32>\n    task.return\n  }\n}",
    ),
    (
        "task.devices",
        "FIR0413",
        "module {\n  task.mesh axes [\"x\"] sizes [2]\n  task.program @g(%x: tensor<3x2xf32>) -> tensor<3x2xf32> attributes {task.device} {\n    task.return %x\n  }\n  task.program @f(%x: tensor<3x4xf32>) {\n    %y = task.devices %x body @g in [[[], [\"x\"]], [[]]] out [[[], [\"x\"]]] : tensor<3x4xf32>\n    task.return\n  }\n}",
    ),
    (
        "task.devices",
        "FIR0413",
        "module {\n  task.mesh axes [\"x\"] sizes [2]\n  task.program @g(%x: tensor<3x2xf32>) -> tensor<3x2xf32> attributes {task.device} {\n    task.return %x\n  }\n  task.program @f(%x: tensor<3x4xf32>) {\n    %y = task.devices %x body @g in 3 out [[[], [\"x\"]]] : tensor<3x4xf32>\n    task.return\n  }\n}",
    ),
    (
        "task.devices",
        "FIR0413",
        "module {\n  task.mesh axes [\"x\"] sizes [2]\n  task.program @g(%x: tensor<3x2xf32>) -> tensor<3x2xf32> attributes {task.device} {\n    task.return %x\n  }\n  task.program @f(%x: tensor<3x4xf32>) {\n    %y = task.devices %x body @g in [[[], [\"x\"]]] out [[[], [\"x\"]]] : tensor<3x4xf64>\n    task.return\n  }\n}",
    ),
    (
        "task.loop",
        "FIR0414",
        "module {\n  task.mesh axes [\"x\"] sizes [2]\n  task.program @step(%x: tensor<4xf32>) -> tensor<4xf32> attributes {task.device} {\n    task.return %x\n  }\n  \
         task.program @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n    %y = task.loop %x turns 3 body @step\n    task.return %y\n  }\n}",
    ),
    (
        "task.loop",
        "FIR0409",
        "task.program @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = task.loop %x body @step\n  task.return %y\n}\n\
         task.program @step(%x: tensor<4xf32>) -> tensor<4xf32> {\n  task.return %x\n}",
    ),
    (
        "task.loop",
        "FIR0409",
        "task.program @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = task.loop %x turns -1 body @step\n  task.return %y\n}\n\
         task.program @step(%x: tensor<4xf32>) -> tensor<4xf32> {\n  task.return %x\n}",
    ),
    (
        "task.loop",
        "FIR0409",
        "task.program @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = task.loop %x turns 3 condition @step body @step\n  task.return %y\n}\n\
         task.program @step(%x: tensor<4xf32>) -> tensor<4xf32> {\n  task.return %x\n}",
    ),
    (
        "task.loop",
        "FIR0409",
        "task.program @f(%x: tensor<?xf32>) -> tensor<?xf32> {\n  %y = task.loop %x turns 3 body @step\n  task.return %y\n}\n\
         task.program @step(%x: tensor<?xf32>) -> tensor<?xf32> {\n  task.return %x\n}",
    ),
    (
        "task.loop",
        "FIR0410",
        "task.program @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = task.loop %x turns 3 body @other\n  task.return %y\n}\n\
         kernel.func @other(%x: memref<?xf32>) {\n  kernel.return\n}",
    ),
    (
        "task.loop",
        "FIR0410",
        "task.program @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = task.loop %x turns 3 body @step\n  task.return %y\n}\n\
         task.program @step(%x: tensor<5xf32>) -> tensor<5xf32> {\n  task.return %x\n}",
    ),
    (
        "task.loop",
        "FIR0410",
        "task.program @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = task.loop %x turns 3 body @step\n  task.return %y\n}\n\
         task.program @step(%x: tensor<4xf32>) -> tensor<2xf32> {\n  %y = fusion.slice %x starts [0] shape [2]\n  task.return %y\n}",
    ),
    (
        "task.loop",
        "FIR0410",
        "task.program @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = task.loop %x condition @step body @step\n  task.return %y\n}\n\
         task.program @step(%x: tensor<4xf32>) -> tensor<4xf32> {\n  task.return %x\n}",
    ),
    (
        "task.if",
        "FIR0409",
        "task.program @f(%x: tensor<4xf32>, %p: tensor<4xi1>) -> tensor<4xf32> {\n  %y = task.if %p, %x then @g else @g : tensor<4xf32>\n  task.return %y\n}\n\
         task.program @g(%x: tensor<4xf32>) -> tensor<4xf32> {\n  task.return %x\n}",
    ),
    (
        "task.if",
        "FIR0409",
        "task.program @f(%x: tensor<?xf32>, %p: tensor<i1>) -> tensor<?xf32> {\n  %y = task.if %p, %x then @g else @g : tensor<?xf32>\n  task.return %y\n}\n\
         task.program @g(%x: tensor<?xf32>) -> tensor<?xf32> {\n  task.return %x\n}",
    ),
    (
        "task.if",
        "FIR0410",
        "task.program @f(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {\n  %y = task.if %p, %x then @g else @h : tensor<4xf32>\n  task.return %y\n}\n\
         task.program @g(%x: tensor<4xf32>) -> tensor<4xf32> {\n  task.return %x\n}\n\
         kernel.func @h(%x: memref<?xf32>) {\n  kernel.return\n}",
    ),
    (
        "task.if",
        "FIR0410",
        "task.program @f(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {\n  %y = task.if %p then @g else @g : tensor<4xf32>\n  task.return %y\n}\n\
         task.program @g(%x: tensor<4xf32>) -> tensor<4xf32> {\n  task.return %x\n}",
    ),
    (
        "task.if",
        "FIR0410",
        "task.program @f(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<5xf32> {\n  %y = task.if %p, %x then @g else @g : tensor<5xf32>\n  task.return %y\n}\n\
         task.program @g(%x: tensor<4xf32>) -> tensor<4xf32> {\n  task.return %x\n}",
    ),
    (
        "builtin.module",
        "FIR0411",
        "task.program @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = task.loop %x turns 3 body @g\n  task.return %y\n}\n\
         task.program @g(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = task.loop %x turns 3 body @f\n  task.return %y\n}",
    ),
    (
        "builtin.module",
        "FIR0411",
        "task.program @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = task.loop %x turns 3 body @f\n  task.return %y\n}",
    ),
    (
        "builtin.module",
        "FIR0411",
        "task.program @f(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {\n  %y = task.if %p, %x, %p then @g else @f : tensor<4xf32>\n  task.return %y\n}\n\
         task.program @g(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {\n  task.return %x\n}",
    ),
    ("task.pattern", "FIR0405", "task.pattern {\n  task.yield\n}"),
    (
        "task.pattern",
        "FIR0218",
        "// %x: f32\n%0 = task.pattern @p {\n  task.yield %x\n} : f64",
    ),
    (
        "task.yield",
        "FIR0224",
        "task.program @f() {\n  task.yield\n}",
    ),
    // kernel
    ("kernel.func", "FIR0501", "kernel.func @k(%x: f32) {\n}"),
    (
        "kernel.func",
        "FIR0501",
        "kernel.func @k(%n: index, %x: memref<?xf32>) {\n}",
    ),
    ("kernel.func", "FIR0502", "kernel.func @k() threads 0 {\n}"),
    (
        "kernel.launch",
        "FIR0234",
        "// %x: tensor<4xf32>\n%y = kernel.launch %x callee @missing : tensor<4xf32>",
    ),
    (
        "kernel.launch",
        "FIR0219",
        "kernel.func @k() {\n}\ntask.program @f() {\n  %0 = kernel.launch callee @k\n  task.return\n}",
    ),
    (
        "kernel.for",
        "FIR0211",
        "// %i: index, %x: f32\nkernel.for %i, %i, %x {\n^bb0(%j: index):\n  kernel.yield\n}",
    ),
    (
        "kernel.for",
        "FIR0502",
        "// %i: index\nkernel.for %i, %i, %i map \"warp\" {\n^bb0(%j: index):\n  kernel.yield\n}",
    ),
    (
        "kernel.for",
        "FIR0502",
        "// %i: index\nkernel.for %i, %i, %i map \"grid\" {\n^bb0(%j: index):\n  kernel.yield\n}",
    ),
    (
        "kernel.for",
        "FIR0502",
        "// %i: index, %x: f32\n%r = kernel.for %i, %i, %i, %x map \"thread\" {\n^bb0(%j: index, %a: f32):\n  kernel.yield %a\n}",
    ),
    (
        "kernel.for",
        "FIR0503",
        "// %i: index, %x: f32\n%r = kernel.for %i, %i, %i, %x {\n^bb0(%j: index, %a: f32):\n  kernel.yield\n}",
    ),
    (
        "kernel.for",
        "FIR0503",
        "// %i: index\nkernel.for %i, %i, %i {\n  kernel.yield\n}",
    ),
    (
        "kernel.if",
        "FIR0211",
        "// %i: index\nkernel.if %i {\n  kernel.yield\n}",
    ),
    (
        "kernel.if",
        "FIR0503",
        "// %c: i1, %x: f32\n%r = kernel.if %c {\n  kernel.yield %x\n}",
    ),
    (
        "kernel.if",
        "FIR0503",
        "// %c: i1, %x: f32, %y: f64\n%r = kernel.if %c {\n  kernel.yield %x\n} else {\n  kernel.yield %y\n}",
    ),
    (
        "kernel.last",
        "FIR0211",
        "// %i: index, %x: f32\nkernel.last %i, %i, %x {\n  kernel.yield\n}",
    ),
    ("kernel.alloc", "FIR0219", "%m = kernel.alloc"),
    (
        "kernel.alloc",
        "FIR0506",
        "%m = kernel.alloc : memref<?xf32, tile>",
    ),
    (
        "kernel.alloc",
        "FIR0506",
        "%m = kernel.alloc : memref<4xf32>",
    ),
    (
        "kernel.alloc",
        "FIR0506",
        "%m = kernel.alloc : memref<4x4xf32, tile>",
    ),
    (
        "kernel.table",
        "FIR0506",
        "// %c: tensor<3xf32>\n%m = kernel.table %c : memref<3xf32, global>",
    ),
    (
        "kernel.table",
        "FIR0506",
        "%c = fusion.constant value dense<[1.0, 2.0]> : tensor<2xf32>\n%m = kernel.table %c : memref<3xf32, global>",
    ),
    (
        "kernel.load",
        "FIR0218",
        "// %m: memref<?xf32>, %i: index\n%v = kernel.load %m, %i : f64",
    ),
    (
        "kernel.load",
        "FIR0504",
        "// %m: memref<4x4xf32>, %i: index\n%v = kernel.load %m, %i",
    ),
    (
        "kernel.load",
        "FIR0504",
        "// %m: memref<?xf32>, %i: index\n%v = kernel.load %m, %i align 3",
    ),
    (
        "kernel.load",
        "FIR0504",
        "// %m: memref<?xf32>, %i: index\n%v = kernel.load %m, %i stride 2",
    ),
    (
        "kernel.load",
        "FIR0504",
        "// %m: memref<?xf32>, %i: index\n%v = kernel.load %m, %i stride 0 : vector<4xf32>",
    ),
    (
        "kernel.store",
        "FIR0504",
        "// %v: vector<4xf32>, %m: memref<?xf32>, %i: index\nkernel.store %v, %m, %i stride 2147483648",
    ),
    (
        "kernel.store",
        "FIR0504",
        "// %v: f32, %m: memref<?xf32>, %i: index\nkernel.store %v, %m, %i, %i",
    ),
    (
        "kernel.store",
        "FIR0504",
        "// %v: vector<4xf32>, %m: memref<?xf32>, %i: index\nkernel.store %v, %m, %i, %i, %i",
    ),
    (
        "kernel.store",
        "FIR0504",
        "// %v: vector<4xf32>, %m: memref<?xf32>, %i: index\nkernel.store %v, %m, %i, %i stride 2",
    ),
    (
        "kernel.load",
        "FIR0505",
        "// %m: memref<?xf32>, %i: index\n%v = kernel.load %m, %i : vector<2x2xf32>",
    ),
    (
        "kernel.load_within",
        "FIR0504",
        "// %m: memref<4x4xf32>, %i: index, %f: f32\n%v = kernel.load_within %m, %i, %f, %i, %i",
    ),
    (
        "kernel.load_within",
        "FIR0504",
        "// %m: memref<?xf32>, %i: index, %f: f64\n%v = kernel.load_within %m, %i, %f, %i, %i",
    ),
    (
        "kernel.store",
        "FIR0504",
        "// %v: f64, %m: memref<?xf32>, %i: index\nkernel.store %v, %m, %i",
    ),
    (
        "kernel.store",
        "FIR0210",
        "// %v: f32, %m: memref<?xf32>\nkernel.store %v, %m",
    ),
    (
        "kernel.prefetch",
        "FIR0504",
        "// %m: memref<4x4xf32>, %i: index\nkernel.prefetch %m, %i",
    ),
    ("kernel.barrier", "FIR0210", "// %x: f32\nkernel.barrier %x"),
    (
        "kernel.splat",
        "FIR0219",
        "// %x: f32\n%v = kernel.splat %x",
    ),
    (
        "kernel.splat",
        "FIR0505",
        "// %x: f32\n%v = kernel.splat %x : vector<4xf64>",
    ),
    (
        "kernel.splat",
        "FIR0505",
        "// %x: f32\n%v = kernel.splat %x : vector<2x2xf32>",
    ),
    ("kernel.iota", "FIR0218", "%v = kernel.iota : vector<4xf32>"),
    (
        "kernel.extract",
        "FIR0505",
        "// %v: vector<4xf32>\n%x = kernel.extract %v lane 4",
    ),
    (
        "kernel.extract",
        "FIR0505",
        "// %v: vector<4xf32>\n%x = kernel.extract %v lane -1",
    ),
    (
        "kernel.transpose_lanes",
        "FIR0505",
        "// %a: vector<4xf32>, %b: vector<4xf32>\n%c, %d = kernel.transpose_lanes %a, %b",
    ),
    (
        "kernel.transpose_lanes",
        "FIR0505",
        "// %a: vector<3xf32>\n%c, %d, %e = kernel.transpose_lanes %a, %a, %a",
    ),
    (
        "kernel.transpose_lanes",
        "FIR0505",
        "// %a: vector<2xf32>, %b: vector<2xbf16>\n%c, %d = kernel.transpose_lanes %a, %b",
    ),
    (
        "kernel.for",
        "FIR0502",
        "// %lo: index, %hi: index, %st: index, %z: f8E5M2\n%s = kernel.for %lo, %hi, %st, %z map \"thread\" combine [\"add\"] {\n^bb0(%i: index, %acc: f8E5M2):\n  kernel.yield %acc\n}",
    ),
    (
        "kernel.for",
        "FIR0502",
        "// %lo: index, %hi: index, %st: index, %z: f32, %v: vector<2xf32>\n%s = kernel.for %lo, %hi, %st, %z map \"thread\" combine [\"scan\"] {\n^bb0(%i: index, %a: f32):\n  kernel.yield %a\n}",
    ),
    (
        "kernel.for",
        "FIR0502",
        "// %lo: index, %hi: index, %st: index, %z: f32, %v: vector<2xf32>\n%s = kernel.for %lo, %hi, %st, %z map \"thread\" combine [\"scan\"] {\n^bb0(%i: index, %a: f32):\n  %w = kernel.scan %v, %a combine add\n  %l = kernel.extract %w lane 0\n  kernel.yield %l\n}",
    ),
    (
        "kernel.for",
        "FIR0502",
        "// %lo: index, %hi: index, %st: index, %z: f32, %v: vector<2xf32>\n%s = kernel.for %lo, %hi, %st, %z map \"thread\" combine [\"scan\"] {\n^bb0(%i: index, %a: f32):\n  %w = kernel.scan %v, %a combine add\n  %l = kernel.extract %w lane 1\n  %m = fusion.neg %a\n  kernel.yield %l\n}",
    ),
    (
        "kernel.for",
        "FIR0502",
        "// %lo: index, %hi: index, %st: index, %z: f32, %v: vector<2xf32>\n%s = kernel.for %lo, %hi, %st, %z map \"thread\" combine [\"scan\"] {\n^bb0(%i: index, %a: f32):\n  %w = kernel.scan %a, %a combine add\n  kernel.yield %w\n}",
    ),
    (
        "kernel.reduce",
        "FIR0211",
        "// %v: vector<4xf8E4M3FN>\n%x = kernel.reduce %v combine max",
    ),
    (
        "kernel.scan",
        "FIR0211",
        "// %v: vector<4xf8E4M3FN>, %b: f8E4M3FN\n%x = kernel.scan %v, %b combine max",
    ),
    (
        "kernel.reduce",
        "FIR0211",
        "// %v: f32\n%x = kernel.reduce %v combine add",
    ),
    (
        "kernel.reduce",
        "FIR0505",
        "// %v: vector<2x2xf32>\n%x = kernel.reduce %v combine add",
    ),
    (
        "kernel.scan",
        "FIR0505",
        "// %v: vector<2x2xf32>, %b: f32\n%x = kernel.scan %v, %b combine add",
    ),
    (
        "kernel.scan",
        "FIR0505",
        "// %v: vector<4xf32>, %b: f64\n%x = kernel.scan %v, %b combine add",
    ),
    (
        "kernel.return",
        "FIR0224",
        "// %c: i1\nkernel.if %c {\n  kernel.return\n}",
    ),
    (
        "kernel.yield",
        "FIR0224",
        "kernel.func @k() {\n  kernel.yield\n}",
    ),
    (
        "fusion.axis_index",
        "FIR0413",
        "// device, %x: tensor<4x6xf32>\n%y = fusion.axis_index over [\"z\"]",
    ),
    (
        "fusion.axis_index",
        "FIR0413",
        "// device, %x: tensor<4x6xf32>\n%y = fusion.axis_index over [\"x\", \"x\"]",
    ),
    (
        "fusion.axis_index",
        "FIR0414",
        "module {\n  task.mesh axes [\"x\"] sizes [2]\n  task.program @f(%x: tensor<3x4xf32>) {\n    %y = fusion.axis_index over [\"x\"]\n    task.return\n  }\n}",
    ),
    (
        "fusion.all_reduce",
        "FIR0414",
        "// %x: tensor<4xf32>\n%y = fusion.all_reduce %x over [\"x\"] combine sum",
    ),
    (
        "fusion.all_reduce",
        "FIR0414",
        "task.program @f(%x: tensor<4xf32>) attributes {task.device} {\n  %y = fusion.all_reduce %x over [\"x\"] combine sum\n  task.return\n}",
    ),
    (
        "fusion.all_gather",
        "FIR0414",
        "// device, %x: tensor<4x6xf32>\n%y = fusion.all_gather %x over [\"x\"] dim 0 shape [4, 6]",
    ),
    (
        "fusion.all_gather",
        "FIR0414",
        "// device, %x: tensor<4x6xf32>\n%y = fusion.all_gather %x over [\"x\"] dim 2 shape [4, 6]",
    ),
    (
        "fusion.all_gather",
        "FIR0414",
        "// device, %x: tensor<[B]x6xf32>\n%y = fusion.all_gather %x over [\"x\"] dim 0 shape [[B], 6]",
    ),
    (
        "fusion.reduce_scatter",
        "FIR0414",
        "// device, %x: tensor<3xf32>\n%y = fusion.reduce_scatter %x over [\"x\"] combine sum dim 0 shape [1]",
    ),
    (
        "fusion.reduce_scatter",
        "FIR0414",
        "// device, %x: tensor<4x6xf32>\n%y = fusion.reduce_scatter %x over [\"x\"] combine sum dim -1 shape [4, 3]",
    ),
    (
        "fusion.all_to_all",
        "FIR0414",
        "// device, %x: tensor<4x6xf32>\n%y = fusion.all_to_all %x over [\"x\"] split 0 concat 1 shape [8, 3]",
    ),
    (
        "fusion.all_to_all",
        "FIR0414",
        "// device, %x: tensor<3x4xf32>\n%y = fusion.all_to_all %x over [\"x\"] split 0 concat 1 shape [3, 4]",
    ),
    (
        "fusion.collective_permute",
        "FIR0414",
        "// device, %x: tensor<4x6xf32>\n%y = fusion.collective_permute %x over [\"x\"] pairs [0]",
    ),
    (
        "fusion.collective_permute",
        "FIR0414",
        "// device, %x: tensor<4x6xf32>\n%y = fusion.collective_permute %x over [\"x\"] pairs [0, 2]",
    ),
    (
        "fusion.collective_permute",
        "FIR0414",
        "// device, %x: tensor<4x6xf32>\n%y = fusion.collective_permute %x over [\"x\"] pairs [0, 1, 0, 0]",
    ),
    (
        "fusion.collective_permute",
        "FIR0414",
        "// device, %x: tensor<4x6xf32>\n%y = fusion.collective_permute %x over [\"x\"] pairs [0, 1, 1, 1]",
    ),
    (
        "fusion.collective_broadcast",
        "FIR0414",
        "// device, %x: tensor<4x6xf32>\n%y = fusion.collective_broadcast %x over [\"x\"] root 2",
    ),
    // builtin
    (
        "builtin.module",
        "FIR0221",
        "\"builtin.module\"() ({\n}) : () -> ()",
    ),
];

/// Everything said about a program by parser and verifier.
fn found(text: &str) -> Diagnostics {
    let mut ir = Ir::new(fuser_dialects::registry());
    let options = ParseOptions {
        allow_unregistered: true,
        ..ParseOptions::default()
    };
    let parsed = parse(&mut ir, 0, text, &options);
    match parsed.module {
        Some(module) if !parsed.diagnostics.has_errors() => fuser_ir::verify(&mut ir, module),
        _ => parsed.diagnostics,
    }
}

fn check(op: &str, code: &str, text: &str) -> Result<(), String> {
    let text = complete(text);
    let found = found(&text);
    let hit = |d: &fuser_ir::Diagnostic| d.code == code && d.op.as_deref() == Some(op);
    if found.items.iter().any(hit) {
        return Ok(());
    }
    let said: Vec<String> = found
        .items
        .iter()
        .map(|d| format!("  {} at {:?}: {}", d.code, d.op, d.message))
        .collect();
    Err(format!(
        "{op} should give {code}:\n{text}\n{}",
        said.join("\n")
    ))
}

/// The cases of whole families.
fn families() -> Vec<(String, &'static str, String)> {
    let mut cases = Vec::new();
    let mut family = |names: &[&str], code: &'static str, form: &str| {
        for name in names {
            cases.push((format!("fusion.{name}"), code, form.replace("OP", name)));
        }
    };
    family(
        FLOAT_UNARY,
        "FIR0211",
        "// %x: tensor<4xi32>\n%0 = fusion.OP %x",
    );
    family(
        FLOAT_UNARY,
        "FIR0214",
        "// %x: tensor<4xf32>\n%0 = fusion.OP %x {fast = true}",
    );
    family(
        NUMBER_UNARY,
        "FIR0211",
        "// %x: tensor<4xi1>\n%0 = fusion.OP %x",
    );
    family(NUMBER_UNARY, "FIR0210", "// %x: f32\n%0 = fusion.OP %x, %x");
    family(
        NUMBER_BINARY,
        "FIR0301",
        "// %x: tensor<4xf32>, %y: tensor<1xf32>\n%0 = fusion.OP %x, %y",
    );
    family(
        ANY_BINARY,
        "FIR0301",
        "// %x: tensor<4xi1>, %y: tensor<1xi1>\n%0 = fusion.OP %x, %y",
    );
    family(NUMBER_BINARY, "FIR0211", "// %x: i1\n%0 = fusion.OP %x, %x");
    for ops in [NUMBER_BINARY, ANY_BINARY] {
        family(ops, "FIR0211", "// %x: f8E5M2\n%0 = fusion.OP %x, %x");
    }
    family(FLOAT_BINARY, "FIR0211", "// %x: i32\n%0 = fusion.OP %x, %x");
    family(
        FLOAT_BINARY,
        "FIR0302",
        "// %x: f32, %y: f16\n%0 = fusion.OP %x, %y",
    );
    family(
        INTEGER_BINARY,
        "FIR0211",
        "// %x: f32\n%0 = fusion.OP %x, %x",
    );
    family(
        INTEGER_BINARY,
        "FIR0302",
        "// %x: i32, %y: i64\n%0 = fusion.OP %x, %y",
    );
    family(
        REDUCTIONS,
        "FIR0304",
        "// %x: tensor<4x5xf32>\n%0 = fusion.OP %x dims [2]",
    );
    family(
        REDUCTIONS,
        "FIR0304",
        "// %x: tensor<4x5xf32>\n%0 = fusion.OP %x dims [1, 1]",
    );
    family(
        REDUCTIONS,
        "FIR0212",
        "// %x: tensor<4x5xf32>\n%0 = fusion.OP %x",
    );
    family(
        REDUCTIONS,
        "FIR0211",
        "// %x: tensor<4xf8E4M3FN>\n%0 = fusion.OP %x dims [0]",
    );
    family(
        FLOAT_REDUCTIONS,
        "FIR0211",
        "// %x: tensor<4xi32>\n%0 = fusion.OP %x dims [0]",
    );
    for (code, text) in [
        ("FIR0304", "// %x: tensor<4xf32>\n%0 = fusion.OP %x dim 1"),
        ("FIR0304", "// %x: tensor<f32>\n%0 = fusion.OP %x dim 0"),
        ("FIR0211", "// %x: tensor<4xi1>\n%0 = fusion.OP %x dim 0"),
        ("FIR0212", "// %x: tensor<4xf32>\n%0 = fusion.OP %x"),
    ] {
        family(SCANS, code, text);
    }
    for (code, text) in BAD_LAMBDAS {
        family(LAMBDAS, code, text);
    }
    cases
}

#[test]
fn each_bad_program_gives_its_code_at_its_op() {
    let own = CASES.iter().map(|(op, code, text)| check(op, code, text));
    let families = families();
    let families = families
        .iter()
        .map(|(op, code, text)| check(op, code, text));
    let failed: Vec<String> = own.chain(families).filter_map(Result::err).collect();
    assert!(
        failed.is_empty(),
        "{} cases:\n\n{}",
        failed.len(),
        failed.join("\n\n")
    );
}

#[test]
fn every_op_has_a_bad_program() {
    let own = CASES.iter().map(|(op, ..)| op.to_string());
    let covered: BTreeSet<String> = own
        .chain(families().into_iter().map(|(op, ..)| op))
        .collect();
    let all = fuser_dialects::DIALECTS.iter().flat_map(|d| d.ops);
    let missing: Vec<&str> = all
        .map(|op| op.name)
        .filter(|n| !covered.contains(*n))
        .collect();
    assert!(missing.is_empty(), "no bad program for {missing:?}");
}

/// A code's example gives the code.
#[test]
fn examples_of_codes_give_them() {
    let codes = fuser_dialects::codes().chain(fuser_ir::check::CODES);
    let codes = codes.chain(fuser_ir::verify::codes::CODES);
    let mut failed = Vec::new();
    for code in codes.filter(|c| !c.example.is_empty()) {
        let items = found(&complete(code.example)).items;
        if !items.iter().any(|d| d.code == code.code) {
            let said: Vec<String> = items
                .iter()
                .map(|d| format!("{} {}", d.code, d.message))
                .collect();
            failed.push(format!("{}: {said:?}\n{}", code.code, code.example));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

/// Every code of the dialects is given by one of the bad programs.
#[test]
fn every_code_has_a_bad_program() {
    let own = CASES.iter().map(|(_, code, _)| *code);
    let covered: BTreeSet<&str> = own
        .chain(families().into_iter().map(|(_, code, _)| code))
        .collect();
    let missing: Vec<&str> = fuser_dialects::codes()
        .map(|c| c.code)
        .filter(|c| !covered.contains(c))
        .collect();
    assert!(missing.is_empty(), "no bad program for {missing:?}");
}
