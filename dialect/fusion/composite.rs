//! Roll and one_hot: composite ops, which no other class of maps covers.

use fuser_ir::Ir;
use fuser_ir::def::{
    At, ClauseKind, Computes, DTypes, OpClass, OpDef, OpError, OpParts, ResultTypes, Shape, Traits,
    TypeConstraint, clause, operand, result,
};
use fuser_ir::types::{DType, Extent};

use super::codes::BAD_SHAPE;
use super::creation::plain_shape;
use super::{maps, shape};

const ANY: TypeConstraint = TypeConstraint::new(Shape::Tensor, DTypes::ANY);
const REAL: TypeConstraint = TypeConstraint::new(Shape::Tensor, DTypes::REAL);
const INDICES: TypeConstraint =
    TypeConstraint::new(Shape::Tensor, DTypes::of(&[DType::I64, DType::I32]));

const COMPOSITE: OpDef = OpDef {
    class: OpClass::Composite,
    computes: Some(Computes::Composite),
    traits: Traits::PURE,
    flops: 1,
    ..OpDef::EMPTY
};

/// The ops of this table, in the order of the manual.
pub const COMPOSITE_OPS: &[&OpDef] = &[&ROLL, &ONE_HOT];

/// `fusion.roll`
pub static ROLL: OpDef = OpDef {
    name: "fusion.roll",
    summary: "an axis moved along itself: what leaves it at one end comes in at the other",
    doc: "Along `dim` result element `i` is the operand's element `(i - shift) mod n`, n the axis's extent, the remainder never negative: \
          with `shift 1` the last element comes first. The result has the operand's shape; `b` axes stay `b` axes. The axis needs a known \
          extent. Bits are kept.",
    example: "// %x: tensor<4x[B]xf32>\n%0 = fusion.roll %x dim 1 shift -2 : tensor<4x[B]xf32>",
    operands: &[operand("input", ANY, "the tensor")],
    clauses: &[
        clause("dim", ClauseKind::Int, "the axis that moves"),
        clause(
            "shift",
            ClauseKind::Int,
            "by how many indices; below 0 toward the beginning",
        ),
    ],
    results: &[result("output", ANY, "the same elements elsewhere")],
    maps: Some(&maps::ROLL),
    infer: Some(infer_roll),
    ..COMPOSITE
};

/// `fusion.one_hot`
pub static ONE_HOT: OpDef = OpDef {
    name: "fusion.one_hot",
    summary: "for each index a line that is 1 there and 0 elsewhere",
    doc: "The axes of `indices`, and as axis `dim` a new one of the one extent that `shape` has: with `dim 1` element `[i, k, j]` is 1 of \
          type `of` where `indices[i, j]` is k, else 0. An index below 0 or beyond the axis gives a line of zeros. The other axes keep the \
          `b` that they have.",
    example: "// %i: tensor<[B]xi64>\n%0 = fusion.one_hot %i dim 1 shape [10] of f32 : tensor<[B]x10xf32>",
    operands: &[operand("indices", INDICES, "the indices")],
    clauses: &[
        clause("dim", ClauseKind::Int, "the new axis"),
        clause("shape", ClauseKind::Extents, "the extent of the new axis"),
        clause("of", ClauseKind::DType, "the element type of the result"),
    ],
    results: &[result("output", REAL, "zeros and ones")],
    maps: Some(&maps::ONE_HOT),
    infer: Some(infer_one_hot),
    ..COMPOSITE
};

fn infer_roll(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let (dims, dtype) = shape::tensor(ir, parts, 0)?;
    let axis = shape::int(ir, parts, "dim").unwrap_or(0);
    let axis = shape::checked_axis(axis, "dim", dims.len())?;
    if dims[axis].extent == Extent::Unknown {
        return Err(shape::unknown(At::Operand(0), axis));
    }
    shape::one(ir.tensor(dims, dtype))
}

fn infer_one_hot(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let (mut dims, _) = shape::tensor(ir, parts, 0)?;
    let of = shape::dtype_clause(ir, parts, "of")?;
    let axis = shape::int(ir, parts, "dim").unwrap_or(0);
    let axis = shape::checked_axis(axis, "dim", dims.len() + 1)?;
    let own = plain_shape(ir, parts)?;
    let [own] = own[..] else {
        let text = format!("has {} extents, must have 1", own.len());
        return Err(OpError::at(At::Clause("shape"), text).code(&BAD_SHAPE));
    };
    dims.insert(axis, own);
    shape::one(ir.tensor(dims, of))
}
