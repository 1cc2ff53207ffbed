//! Reductions to an index: the position of a greatest or smallest element.

use fuser_ir::Ir;
use fuser_ir::def::{
    ClauseKind, Computes, DTypes, OpClass, OpDef, OpError, OpParts, ResultTypes, Shape, Traits,
    TypeConstraint, clause, operand, optional, result,
};
use fuser_ir::types::{DType, Dim};

use super::{maps, shape};

const NUMBERS: TypeConstraint = TypeConstraint::new(Shape::Tensor, DTypes::NUMERIC);
const INDICES: TypeConstraint =
    TypeConstraint::new(Shape::Tensor, DTypes::of(&[DType::I64, DType::I32]));

const ARG: OpDef = OpDef {
    class: OpClass::Reduction,
    computes: Some(Computes::Composite),
    maps: Some(&maps::REDUCE),
    operands: &[operand("input", NUMBERS, "the tensor")],
    clauses: &[
        clause("dim", ClauseKind::Int, "the axis to reduce"),
        clause(
            "of",
            ClauseKind::DType,
            "the element type of the indices: i64 or i32",
        ),
        optional("keepdim", ClauseKind::Unit, "the axis stays, with extent 1"),
    ],
    results: &[result("output", INDICES, "the indices")],
    traits: Traits::PURE,
    flops: 4,
    infer: Some(infer_arg),
    ..OpDef::EMPTY
};

/// The ops of this table, in the order of the manual.
pub const ARG_OPS: &[&OpDef] = &[&ARGMAX, &ARGMIN];

/// `fusion.argmax`
pub static ARGMAX: OpDef = OpDef {
    name: "fusion.argmax",
    summary: "index of the greatest element along an axis",
    doc: "The first index along `dim` whose element no other one exceeds. A NaN exceeds every number, so that the first NaN wins; zeros of \
          either sign are equal. The index is converted to `of` as `fusion.cast` does. An empty axis gives the greatest value of `of`.",
    example: "// %x: tensor<4x8xf32>\n%0 = fusion.argmax %x dim 1 of i64 : tensor<4xi64>",
    ..ARG
};

/// `fusion.argmin`
pub static ARGMIN: OpDef = OpDef {
    name: "fusion.argmin",
    summary: "index of the smallest element along an axis",
    doc: "The first index along `dim` whose element exceeds no other one. A NaN is below every number, so that the first NaN wins; zeros of \
          either sign are equal. The index is converted to `of` as `fusion.cast` does. An empty axis gives the greatest value of `of`.",
    example: "// %x: tensor<4x8xf32>\n%0 = fusion.argmin %x dim 1 of i32 keepdim : tensor<4x1xi32>",
    ..ARG
};

fn infer_arg(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let (mut dims, _) = shape::tensor(ir, parts, 0)?;
    let of = shape::dtype_clause(ir, parts, "of")?;
    let axis = shape::int(ir, parts, "dim").unwrap_or(0);
    let axis = shape::checked_axis(axis, "dim", dims.len())?;
    match shape::flag(ir, parts, "keepdim") {
        true => dims[axis] = Dim::fixed(1),
        false => drop(dims.remove(axis)),
    }
    shape::one(ir.tensor(dims, of))
}
