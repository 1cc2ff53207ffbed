//! Sorts: the elements along an axis in ascending or descending order, or their original indices in that order.

use fuser_ir::Ir;
use fuser_ir::def::{
    At, ClauseDef, ClauseKind, Computes, DTypes, OpClass, OpDef, OpError, OpParts, OperandDef,
    Placement, ResultDef, ResultTypes, Shape, Traits, TypeConstraint, clause, optional, result,
};
use fuser_ir::describe;
use fuser_ir::types::{DType, Dim, Extent, ExtentExpr};
use smallvec::smallvec;

use super::codes::OUT_OF_BOUNDS;
use super::{maps, shape};

const VALUES: TypeConstraint = TypeConstraint::new(Shape::Tensor, DTypes::COMPUTED);
const INDICES: TypeConstraint =
    TypeConstraint::new(Shape::Tensor, DTypes::of(&[DType::I64, DType::I32]));

const fn to_memory(name: &'static str, ty: TypeConstraint, doc: &'static str) -> ResultDef {
    ResultDef {
        placement: Placement::Memory,
        ..result(name, ty, doc)
    }
}

const DIM: ClauseDef = clause("dim", ClauseKind::Int, "the axis that is sorted");
const OF: ClauseDef = clause(
    "of",
    ClauseKind::DType,
    "the element type of the indices: i64 or i32",
);
const FIRST: ClauseDef = optional(
    "first",
    ClauseKind::Int,
    "how many elements from the beginning are kept: all, where it is left out",
);
const DESCENDING: ClauseDef = optional(
    "descending",
    ClauseKind::Unit,
    "the greatest element comes first",
);

const SORTED: OpDef = OpDef {
    class: OpClass::Sort,
    computes: Some(Computes::Composite),
    maps: Some(&maps::SORT),
    operands: &[OperandDef {
        name: "input",
        ty: VALUES,
        variadic: false,
        placement: Placement::Memory,
        doc: "the tensor",
    }],
    traits: Traits::PURE,
    flops: 10,
    infer: Some(infer),
    ..OpDef::EMPTY
};

/// The ops of this table, in the order of the manual.
pub const SORT_OPS: &[&OpDef] = &[&SORT, &ARGSORT, &TOPK];

/// `fusion.sort`
pub static SORT: OpDef = OpDef {
    name: "fusion.sort",
    summary: "the elements along an axis in order",
    doc: "Along `dim` the elements of the operand from the smallest to the greatest, or with `descending` from the greatest to the smallest. \
          Equal elements keep the order in which they stood, in either direction. A NaN is greater than every number and equal to every NaN; \
          zeros of either sign are equal; `i1` sorts false before true. With `first n` the result has the first n of them: n is at most \
          the axis's extent, provably. Bits are kept. Axis `dim` of the result is no `b` axis, the others are as in the operand.",
    example: "// %x: tensor<[B]x64xf32>\n%0 = fusion.sort %x dim 1 descending : tensor<[B]x64xf32>",
    clauses: &[DIM, FIRST, DESCENDING],
    results: &[to_memory("output", VALUES, "the elements in order")],
    ..SORTED
};

/// `fusion.argsort`
pub static ARGSORT: OpDef = OpDef {
    name: "fusion.argsort",
    summary: "where the elements along an axis stood before they were sorted",
    doc: "Along `dim` the index at which each element of `fusion.sort` stands in the operand, converted to `of` as `fusion.cast` does; \
          order, `first` and axes as there.",
    example: "// %x: tensor<[B]x64xf32>\n%0 = fusion.argsort %x dim 1 of i64 first 8 : tensor<[B]x8xi64>",
    clauses: &[DIM, OF, FIRST, DESCENDING],
    results: &[to_memory("output", INDICES, "the indices")],
    ..SORTED
};

/// `fusion.topk`
pub static TOPK: OpDef = OpDef {
    name: "fusion.topk",
    summary: "the greatest elements along an axis, and where they stand",
    doc: "Along `dim` the `first` greatest elements, the greatest first, and their indices, of type `of`; with `smallest` the smallest ones, \
          the smallest first. Values and indices are those of `fusion.sort` and `fusion.argsort`, `descending` or not: of equal elements \
          the first come first, and a NaN is the greatest.",
    example: "// %x: tensor<[B]x64xf32>\n%0, %1 = fusion.topk %x dim 1 first 8 of i64 : tensor<[B]x8xf32>, tensor<[B]x8xi64>",
    clauses: &[
        DIM,
        clause("first", ClauseKind::Int, "how many elements"),
        OF,
        optional("smallest", ClauseKind::Unit, "the smallest elements"),
    ],
    results: &[
        to_memory("values", VALUES, "the elements"),
        to_memory("indices", INDICES, "their indices"),
    ],
    infer: Some(infer_topk),
    ..SORTED
};

/// The axes of the kept elements, and the element type of the operand.
fn kept(ir: &Ir, parts: OpParts<'_>) -> Result<(Vec<Dim>, DType), OpError> {
    let (mut dims, dtype) = shape::tensor(ir, parts, 0)?;
    let axis = shape::int(ir, parts, "dim").unwrap_or(0);
    let axis = shape::checked_axis(axis, "dim", dims.len())?;
    dims[axis].broadcast = false;
    if shape::flag(ir, parts, "first") {
        let extent = dims[axis].extent;
        if extent == Extent::Unknown {
            return Err(shape::unknown(At::Operand(0), axis));
        }
        let first = shape::int(ir, parts, "first").unwrap_or(-1);
        let taken = first.checked_neg().map(ExtentExpr::constant);
        let room = ir
            .extent_as_expr(extent)
            .zip(taken)
            .and_then(|(extent, taken)| extent.add(&taken));
        let inside = first >= 0 && (first == 0 || room.is_some_and(|r| shape::never_negative(&r)));
        if !inside {
            let extent = describe::extent(ir, extent);
            let text = format!(
                "{first} elements are not provably there along axis {axis} of extent {extent}"
            );
            let error = OpError::at(At::Clause("first"), text).code(&OUT_OF_BOUNDS);
            return Err(error.help("a number of 0 or more, at most the extent, which is a number"));
        }
        dims[axis] = Dim::fixed(first as u64);
    }
    Ok((dims, dtype))
}

/// The element type of the indices; `None` if the op returns elements.
fn of(ir: &Ir, parts: OpParts<'_>) -> Result<Option<DType>, OpError> {
    match shape::flag(ir, parts, "of") {
        true => shape::dtype_clause(ir, parts, "of").map(Some),
        false => Ok(None),
    }
}

fn infer(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let (dims, dtype) = kept(ir, parts)?;
    let dtype = of(ir, parts)?.unwrap_or(dtype);
    shape::one(ir.tensor(dims, dtype))
}

fn infer_topk(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let (dims, dtype) = kept(ir, parts)?;
    let indices = shape::dtype_clause(ir, parts, "of")?;
    Ok(smallvec![
        ir.tensor(dims.clone(), dtype),
        ir.tensor(dims, indices)
    ])
}
