//! Gathers. Take and take_along read an axis at computed indices. Dynamic_slice and dynamic_update_slice read or
//! replace a part that begins at a computed index.

use fuser_ir::Ir;
use fuser_ir::def::{
    At, ClauseKind, DTypes, OpDef, OpError, OpParts, OperandDef, ResultTypes, Shape,
    TypeConstraint, clause, operand, operands,
};

use fuser_ir::describe;
use fuser_ir::types::{DType, Dim, Extent, ExtentExpr};

use super::codes::{BAD_SHAPE, EXTENTS_DISAGREE, OUT_OF_BOUNDS};
use super::reshape::SHAPE_OP;
use super::{fold, maps, shape};

/// The ops of this table, in the order of the manual.
pub const GATHER_OPS: &[&OpDef] = &[&TAKE, &TAKE_ALONG, &DYNAMIC_SLICE, &DYNAMIC_UPDATE_SLICE];

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

const STARTS: OperandDef = operands(
    "starts",
    TypeConstraint::new(Shape::TensorOrScalar, INDICES),
    "the first index along each axis of `dims`: scalars, or of rank 0",
);

/// `fusion.dynamic_slice`
pub static DYNAMIC_SLICE: OpDef = OpDef {
    name: "fusion.dynamic_slice",
    summary: "a part of a tensor that begins at indices which are data",
    doc: "Result element `[i0, i1, ...]` is operand element `[s0 + i0, s1 + i1, ...]`, where `sk` is 0 for an axis that is not in `dims`, and \
          for those, which ascend, the start that stands in the same place. A start below 0 counts as 0, and one beyond the last at which the part lies \
          inside, the axis's extent less that of `shape`, as that last one: no start is an error. `shape` gives the extents of the result; along \
          `dims` they must be provably no larger than the operand's, along other axes they are the operand's. `b` axes stay `b` axes. Bits are \
          kept.",
    example: "// %x: tensor<[B]x64xf32>, %i: tensor<i32>\n%0 = fusion.dynamic_slice %x, %i dims [1] shape [[B], 8] : tensor<[B]x8xf32>",
    operands: &[TABLE, STARTS],
    clauses: &[
        clause("dims", ClauseKind::I64Array, "the axes that have a start"),
        clause("shape", ClauseKind::Extents, "the extents of the result"),
    ],
    infer: Some(infer_dynamic_slice),
    fold: Some(fold::same_type),
    maps: Some(&maps::DYNAMIC_SLICE),
    ..SHAPE_OP
};

/// `fusion.dynamic_update_slice`
pub static DYNAMIC_UPDATE_SLICE: OpDef = OpDef {
    name: "fusion.dynamic_update_slice",
    summary: "a tensor in which a part that begins at indices which are data is another tensor",
    doc: "Result element `[i0, i1, ...]` is `updates[i0 - s0, i1 - s1, ...]` where that has such an element, else `input[i0, i1, ...]`. The starts \
          `sk` are those of `fusion.dynamic_slice`, brought into the same bounds: the updates lie inside as a whole. Along `dims` their extents must \
          be provably no larger than the input's, along other axes they are the input's. Element types are equal. The axes of `dims` become plain ones, \
          others are `b` axes where they are that in both. Bits are kept.",
    example: "// %x: tensor<[B]x64xf32>, %u: tensor<[B]x8xf32>, %i: i64\n%0 = fusion.dynamic_update_slice %x, %u, %i dims [1] : tensor<[B]x64xf32>",
    operands: &[
        TABLE,
        operand(
            "updates",
            TypeConstraint::new(Shape::Tensor, DTypes::ANY),
            "the part that takes the place of another",
        ),
        STARTS,
    ],
    clauses: &[clause(
        "dims",
        ClauseKind::I64Array,
        "the axes that have a start",
    )],
    infer: Some(infer_dynamic_update_slice),
    maps: Some(&maps::DYNAMIC_UPDATE_SLICE),
    ..SHAPE_OP
};

/// The axes of `dims`, each with a start among the operands from `first` on.
fn started(ir: &Ir, parts: OpParts<'_>, first: usize, rank: usize) -> Result<Vec<usize>, OpError> {
    let axes = shape::axes(ir, parts, "dims", rank)?;
    let starts = parts.operands.len() - first.min(parts.operands.len());
    if starts != axes.len() {
        let text = format!("lists {} axes, but there are {starts} starts", axes.len());
        return Err(OpError::at(At::Clause("dims"), text).code(&BAD_SHAPE));
    }
    for index in first..parts.operands.len() {
        let (own, _) = shape::tensor(ir, parts, index)?;
        if !own.is_empty() {
            let text = format!("must be a scalar or have rank 0, has {} axes", own.len());
            return Err(OpError::at(At::Operand(index), text).code(&BAD_SHAPE));
        }
    }
    Ok(axes)
}

/// Checks that a part of extents `part` lies inside of `whole` along `moved`, and has its extents along other axes.
fn lies_inside(
    ir: &Ir,
    whole: &[Dim],
    part: &[Dim],
    moved: &[usize],
    at: At,
) -> Result<(), OpError> {
    if part.len() != whole.len() {
        let text = format!(
            "has {} extents, operand 0 has {} axes",
            part.len(),
            whole.len()
        );
        return Err(OpError::at(at, text).code(&BAD_SHAPE));
    }
    for (axis, (whole, part)) in whole.iter().zip(part).enumerate() {
        let moves = moved.contains(&axis);
        // In a clause `?` stands for the operand's; that of another operand is another.
        let stands = !moves && matches!(at, At::Clause(_));
        if whole.extent == part.extent && (stands || whole.extent != Extent::Unknown) {
            continue;
        }
        let (Some(extent), Some(size)) = (
            ir.extent_as_expr(whole.extent),
            ir.extent_as_expr(part.extent),
        ) else {
            return Err(shape::unknown(at, axis));
        };
        let (e, s) = (
            describe::extent(ir, whole.extent),
            describe::extent(ir, part.extent),
        );
        if !moves {
            let text = format!("axis {axis} is {s}, not {e} as in operand 0, and is not in `dims`");
            return Err(OpError::at(at, text).code(&EXTENTS_DISAGREE));
        }
        let room = size
            .mul(&ExtentExpr::constant(-1))
            .and_then(|size| extent.add(&size));
        if !room.is_some_and(|room| shape::never_negative(&room)) {
            let text = format!("{s} elements are not provably inside axis {axis} of extent {e}");
            return Err(OpError::at(at, text).code(&OUT_OF_BOUNDS));
        }
    }
    Ok(())
}

fn infer_dynamic_slice(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let (from, dtype) = shape::tensor(ir, parts, 0)?;
    let mut to = shape::shape_clause(ir, parts, "shape");
    let axes = started(ir, parts, 1, from.len())?;
    lies_inside(ir, &from, &to, &axes, At::Clause("shape"))?;
    for (to, from) in to.iter_mut().zip(&from) {
        to.broadcast = from.broadcast;
    }
    shape::one(ir.tensor(to, dtype))
}

fn infer_dynamic_update_slice(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let (mut dims, dtype) = shape::tensor(ir, parts, 0)?;
    let (part, _) = shape::tensor(ir, parts, 1)?;
    shape::same_dtype(ir, &parts.operands[..2], 0)?;
    let axes = started(ir, parts, 2, dims.len())?;
    lies_inside(ir, &dims, &part, &axes, At::Operand(1))?;
    for (axis, dim) in dims.iter_mut().enumerate() {
        dim.broadcast &= part[axis].broadcast && !axes.contains(&axis);
    }
    shape::one(ir.tensor(dims, dtype))
}

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
