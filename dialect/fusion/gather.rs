//! Take and take_along: an axis is read at indices that are data.

use fuser_ir::Ir;
use fuser_ir::def::{
    At, ClauseKind, DTypes, OpDef, OpError, OpParts, OperandDef, ResultTypes, Shape,
    TypeConstraint, clause, operand,
};

use fuser_ir::types::{DType, Dim, Extent};

use super::codes::EXTENTS_DISAGREE;
use super::reshape::SHAPE_OP;
use super::{maps, shape};

/// The ops of this table, in the order of the manual.
pub const GATHER_OPS: &[&OpDef] = &[&TAKE, &TAKE_ALONG];

const TABLE: OperandDef = operand(
    "input",
    TypeConstraint::new(Shape::Tensor, DTypes::ANY),
    "the tensor that is read",
);

const INDICES: DTypes = DTypes::of(&[DType::I64, DType::I32]);

/// `fusion.take`
pub static TAKE: OpDef = OpDef {
    name: "fusion.take",
    summary: "parts of a tensor at indices along an axis",
    doc: "The axes of `indices` stand in the result in place of axis `dim` of `input`: with `dim 1` result element `[i, j, k, l]` is \
          `input[i, indices[j, k], l]`. Rows of an embedding are `take` of the table with `dim 0`; one index, a scalar or of rank 0, \
          selects, and axis `dim` is gone. An index below 0 reads the first element of the axis and one beyond the axis the last \
          one: nothing is counted from the end, and no index is an error. Where the axis has no elements the result is 0. Axes keep \
          the extents and the `b` that they have in their operand. Bits are kept.",
    example: "// %x: tensor<[V]x64xbf16>, %i: tensor<[B]x8xi64>\n%0 = fusion.take %x, %i dim 0 : tensor<[B]x8x64xbf16>",
    operands: &[
        TABLE,
        operand(
            "indices",
            TypeConstraint::new(Shape::TensorOrScalar, INDICES),
            "an index along `dim` for each part",
        ),
    ],
    clauses: &[clause("dim", ClauseKind::Int, "the axis that is indexed")],
    infer: Some(infer_take),
    maps: Some(&maps::TAKE),
    ..SHAPE_OP
};

/// `fusion.take_along`
pub static TAKE_ALONG: OpDef = OpDef {
    name: "fusion.take_along",
    summary: "an element at an index along an axis for each element of the result",
    doc: "With `dim 1` result element `[i, j, k]` is `input[i, indices[i, j, k], k]`. Both operands have one rank, and agree on all \
          axes but `dim` (which join as for elementwise ops); the result has the extents of `indices`. An index below 0 reads the \
          first element of the axis and one beyond the axis the last one, as in `fusion.take`; where the axis has no elements the \
          result is 0. Bits are kept.",
    example: "// %x: tensor<[B]x64xf32>, %i: tensor<[B]x1xi64>\n%0 = fusion.take_along %x, %i dim 1 : tensor<[B]x1xf32>",
    operands: &[
        TABLE,
        operand(
            "indices",
            TypeConstraint::new(Shape::Tensor, INDICES),
            "an index along `dim` for each element",
        ),
    ],
    clauses: &[clause("dim", ClauseKind::Int, "the axis that is indexed")],
    infer: Some(infer_take_along),
    maps: Some(&maps::TAKE_ALONG),
    ..SHAPE_OP
};

fn infer_take(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let (mut dims, dtype) = shape::tensor(ir, parts, 0)?;
    let (indices, _) = shape::tensor(ir, parts, 1)?;
    let axis = shape::int(ir, parts, "dim").unwrap_or(0);
    let axis = shape::checked_axis(axis, "dim", dims.len())?;
    dims.splice(axis..=axis, indices);
    shape::one(ir.tensor(dims, dtype))
}

fn infer_take_along(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let (mut dims, dtype) = shape::tensor(ir, parts, 0)?;
    let (indices, _) = shape::tensor(ir, parts, 1)?;
    let axis = shape::int(ir, parts, "dim").unwrap_or(0);
    let axis = shape::checked_axis(axis, "dim", dims.len())?;
    if indices.len() != dims.len() {
        let text = format!("has {} axes, operand 0 has {}", indices.len(), dims.len());
        return Err(OpError::at(At::Operand(1), text).code(&EXTENTS_DISAGREE));
    }
    let along = indices[axis];
    let mut others = indices;
    (dims[axis], others[axis]) = (Dim::new(Extent::Static(1)), Dim::new(Extent::Static(1)));
    let mut dims = shape::join_dims(ir, dims, others, 0, 1)?;
    dims[axis] = along;
    shape::one(ir.tensor(dims, dtype))
}
