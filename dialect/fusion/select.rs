//! Comparison, choice and conversion, element by element.

use fuser_ir::Ir;
use fuser_ir::def::{
    At, ClauseKind, Computes, DTypes, OpDef, OpError, OpParts, OperandDef, ResultTypes, Traits,
    clause, operand,
};
use fuser_ir::types::DType;

use super::codes::{COMPLEX_VALUE, NO_SUCH_CAST};
use super::complex::keeps_parts;
use super::elementwise::*;
use super::{fold, shape};

/// The words of the clause `predicate`.
pub const PREDICATES: &[&str] = &["eq", "ne", "lt", "le", "gt", "ge"];

/// Everything that `eq` compares.
const EQUATED: DTypes = DTypes::COMPUTED.with(DTypes::COMPLEX);
const ANY_IN: &[OperandDef] = &[operand("input", ew(DTypes::ANY), "what is converted")];

/// The ops of this table, in the order of the manual.
pub const SELECT_OPS: &[&OpDef] = &[&COMPARE, &WHERE, &CLAMP, &CAST, &BITCAST];

/// `fusion.compare`
pub static COMPARE: OpDef = OpDef {
    name: "fusion.compare",
    summary: "comparison",
    doc: "Whether `lhs` stands to `rhs` as `predicate` says: `eq ne lt le gt ge`. The result has elements `i1`. Floats: \
          `-0 == +0`; with NaN every predicate is false but `ne`. `i1`: false < true. Complex numbers are equal where both \
          parts are, and have no order: `eq` and `ne` only.",
    example: "// %x: tensor<4xf32>, %y: tensor<4xf32>\n%0 = fusion.compare %x, %y predicate lt : tensor<4xi1>",
    operands: &[
        operand("lhs", ew(EQUATED), "left operand"),
        operand("rhs", ew(EQUATED), "right operand"),
    ],
    clauses: &[clause(
        "predicate",
        ClauseKind::Keyword(PREDICATES),
        "the relation: eq, ne, lt, le, gt or ge",
    )],
    infer: Some(infer_compare),
    fold: Some(fold::compare),
    ..ELEMENTWISE
};

/// `fusion.where`
pub static WHERE: OpDef = OpDef {
    name: "fusion.where",
    computes: Some(Computes::Choice),
    summary: "choice",
    doc: "`then` where `condition` holds, else `otherwise`, bit for bit (a NaN keeps its payload). The three shapes join; \
          each of them may be a scalar.",
    example: "// %c: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>\n%0 = fusion.where %c, %x, %y : tensor<4xf32>",
    operands: &[
        operand("condition", ew(DTypes::BOOL), "what decides"),
        operand("then", ew(DTypes::ANY), "the value where it holds"),
        operand("otherwise", ew(DTypes::ANY), "the value where it does not"),
    ],
    infer: Some(infer_where),
    fold: Some(fold::choice),
    ..ELEMENTWISE
};

/// `fusion.clamp`
pub static CLAMP: OpDef = OpDef {
    name: "fusion.clamp",
    summary: "limits from both sides",
    doc: "`minimum(maximum(input, low), high)`: NaN in any operand gives NaN; where `low > high`, `high`.",
    example: "// %x: tensor<4xf32>, %l: f32, %h: f32\n%0 = fusion.clamp %x, %l, %h : tensor<4xf32>",
    operands: &[
        operand("input", ew(DTypes::NUMERIC), "what is limited"),
        operand("low", ew(DTypes::NUMERIC), "lower limit"),
        operand("high", ew(DTypes::NUMERIC), "upper limit"),
    ],
    flops: 2,
    fold: Some(fold::clamp),
    traits: ELEMENTWISE.traits.union(Traits::PROPAGATES_NAN),
    ..ELEMENTWISE
};

/// `fusion.cast`
pub static CAST: OpDef = OpDef {
    name: "fusion.cast",
    computes: Some(Computes::Cast),
    summary: "conversion of the value",
    doc: "Converts each element to `to`.\n\n\
          * float to float: rounds once to nearest even (f64 to f16 or bf16 directly, not by way of f32); overflow gives an \
          infinity; NaN stays NaN where the type has one. `f8E4M3FN` has no infinity: what rounds to more than 448, infinities too, gives 448 with its sign.\n\
          * to `f8E8M0FNU`, which holds the powers of two from 2^-127 to 2^127 and NaN: the nearest, of two equally near ones the \
          greater; 2^-126 for all between 2^-127 and that, 2^-127 for what is positive and less. Zeros, negative numbers, infinities and what rounds to 2^128 give NaN.\n\
          * to `f4E2M1FN`, which has neither infinity nor NaN: what rounds to more than 6, infinities too, gives 6 with its sign, and NaN gives -0.\n\
          * float to integer: truncates toward zero and saturates; NaN gives 0.\n\
          * integer to float: rounds to nearest even.\n\
          * integer to integer: keeps the low bits, extends by the source's signedness.\n\
          * to `i1`: `x != 0` (NaN gives true). From `i1`: 0 or 1.\n\
          * `index` converts as `i64`.\n\
          * to a complex type: each part of a complex number; a real one is the real part, and `+0` the imaginary one. A complex number converts to \
          complex types only: `fusion.real` drops a part.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.cast %x to bf16 : tensor<4xbf16>",
    operands: ANY_IN,
    clauses: &[clause(
        "to",
        ClauseKind::DType,
        "the element type of the result",
    )],
    infer: Some(infer_cast),
    fold: Some(fold::cast),
    traits: ELEMENTWISE.traits.union(Traits::PROPAGATES_NAN),
    ..ELEMENTWISE
};

/// `fusion.bitcast`
pub static BITCAST: OpDef = OpDef {
    name: "fusion.bitcast",
    summary: "the same bits read as another type",
    doc: "Keeps the bits of each element and reads them as `to`, which has the same width. `i1` and complex types take no part.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.bitcast %x to i32 : tensor<4xi32>",
    operands: ANY_IN,
    clauses: &[clause(
        "to",
        ClauseKind::DType,
        "the element type of the result",
    )],
    infer: Some(infer_bitcast),
    flops: 0,
    fold: Some(fold::bitcast),
    ..ELEMENTWISE
};

fn infer_compare(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let dtype = shape::same_dtype(ir, parts.operands, 0)?;
    let word = parts.attr(ir, "predicate").map(|a| ir.attr_kind(a));
    let word = word.and_then(|a| a.as_string()).map(|s| ir.str(s));
    if dtype.is_complex() && !matches!(word, Some("eq" | "ne")) {
        let text = "complex numbers have no order: `eq` and `ne` are their only predicates";
        let help = "compare `fusion.abs` or a part, `fusion.real`, `fusion.imag`";
        let error = OpError::at(At::Clause("predicate"), text);
        return Err(error.code(&COMPLEX_VALUE).help(help));
    }
    infer_test(ir, parts)
}

fn infer_where(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let dtype = shape::same_dtype(ir, parts.operands, 1)?;
    let form = shape::join(ir, parts.operands)?;
    shape::one(form.with(ir, dtype))
}

fn infer_cast(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let dtype = shape::dtype_clause(ir, parts, "to")?;
    keeps_parts(shape::same_dtype(ir, parts.operands, 0)?, dtype)?;
    let form = shape::join(ir, parts.operands)?;
    shape::one(form.with(ir, dtype))
}

fn infer_bitcast(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let from = shape::same_dtype(ir, parts.operands, 0)?;
    let to = shape::dtype_clause(ir, parts, "to")?;
    let odd = |dtype: DType| dtype == DType::I1 || dtype.is_complex();
    if from.bits() != to.bits() || odd(from) || odd(to) {
        let text = format!(
            "cannot read the {} bits of {} as {} ({} bits)",
            from.bits(),
            from.name(),
            to.name(),
            to.bits()
        );
        return Err(OpError::at(At::Clause("to"), text).code(&NO_SUCH_CAST));
    }
    let form = shape::join(ir, parts.operands)?;
    shape::one(form.with(ir, to))
}
