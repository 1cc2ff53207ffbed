//! Ops that combine the elements along an axis in order, and keep every partial result. A GPU combines groups of
//! neighbours first.

use fuser_ir::Ir;
use fuser_ir::def::{
    ClauseKind, Computes, DTypes, OpClass, OpDef, OpError, OpParts, ResultTypes, Shape, Traits,
    TypeConstraint, clause, operand, result,
};

use super::{fold, maps, shape};

const NUMBERS: TypeConstraint = TypeConstraint::new(Shape::Tensor, DTypes::NUMERIC);

const FIELD: TypeConstraint = TypeConstraint::new(Shape::Tensor, DTypes::FIELD);

const SCAN: OpDef = OpDef {
    class: OpClass::Scan,
    maps: Some(&maps::SCAN),
    operands: &[operand("input", NUMBERS, "the tensor")],
    clauses: &[clause("dim", ClauseKind::Int, "the axis, walked in order")],
    results: &[result("output", FIELD, "as many elements as the operand")],
    traits: Traits::PURE.union(Traits::PROPAGATES_NAN),
    flops: 1,
    infer: Some(infer),
    fold: Some(fold::scan),
    ..OpDef::EMPTY
};

/// The ops of this table, in the order of the manual.
pub const SCAN_OPS: &[&OpDef] = &[&CUMSUM, &CUMPROD, &CUMMAX, &CUMMIN];

/// `fusion.cumsum`
pub static CUMSUM: OpDef = OpDef {
    name: "fusion.cumsum",
    computes: Some(Computes::Add),
    summary: "sums of the elements up to each index of an axis",
    doc: "Along `dim`, the first element is that of the operand, `-0` too, and each later one the sum of the one before it and \
          the operand's element. Floats accumulate in f32 (f64 for f64), every sum rounded there, and each \
          result is rounded to the element type once; integers wrap in their own type. So from a NaN on all are NaN. A CPU adds floats in this \
          order. On a GPU neighbours are added to each other first, in groups that are not specified but the same each time, so that threads \
          share a row: what is computed differs as a `fusion.sum` in another order does. An empty \
          axis gives an empty one. A `b` axis of extent n counts its element n times, and is no `b` axis in the result. Complex: part by part.",
    operands: &[operand("input", FIELD, "the tensor")],
    example: "// %x: tensor<4x8xf32>\n%0 = fusion.cumsum %x dim 1 : tensor<4x8xf32>",
    ..SCAN
};

/// `fusion.cumprod`
pub static CUMPROD: OpDef = OpDef {
    name: "fusion.cumprod",
    computes: Some(Computes::Mul),
    summary: "products of the elements up to each index of an axis",
    doc: "Along `dim`, the first element is that of the operand, and each later one the product of the one before it and the operand's \
          element; types, rounding, groups of floats on a GPU, empty and `b` axes as for `fusion.cumsum`. Complex: from 1 on, in the order of the indices, each \
          product that of `fusion.mul`.",
    operands: &[operand("input", FIELD, "the tensor")],
    example: "// %x: tensor<4x8xf32>\n%0 = fusion.cumprod %x dim 1 : tensor<4x8xf32>",
    ..SCAN
};

/// `fusion.cummax`
pub static CUMMAX: OpDef = OpDef {
    name: "fusion.cummax",
    computes: Some(Computes::Max),
    summary: "greatest of the elements up to each index of an axis",
    doc: "Along `dim`, the greatest of the elements up to each index, NaN from the first NaN on; `-0 < +0`. Exact. An empty axis gives \
          an empty one; a `b` axis is no `b` axis in the result.",
    example: "// %x: tensor<4x8xf32>\n%0 = fusion.cummax %x dim 1 : tensor<4x8xf32>",
    ..SCAN
};

/// `fusion.cummin`
pub static CUMMIN: OpDef = OpDef {
    name: "fusion.cummin",
    computes: Some(Computes::Min),
    summary: "smallest of the elements up to each index of an axis",
    doc: "Along `dim`, the smallest of the elements up to each index, NaN from the first NaN on; `-0 < +0`. Exact. An empty axis gives \
          an empty one; a `b` axis is no `b` axis in the result.",
    example: "// %x: tensor<4x8xf32>\n%0 = fusion.cummin %x dim 1 : tensor<4x8xf32>",
    ..SCAN
};

fn infer(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let (mut dims, dtype) = shape::tensor(ir, parts, 0)?;
    let axis = shape::int(ir, parts, "dim").unwrap_or(0);
    let axis = shape::checked_axis(axis, "dim", dims.len())?;
    dims[axis].broadcast = false;
    shape::one(ir.tensor(dims, dtype))
}
