//! Tensors made from nothing: they cost no memory read.

use fuser_ir::Ir;
use fuser_ir::attr::{AttrId, AttrKind};
use fuser_ir::def::{
    At, ClauseKind, Computes, DTypes, OpClass, OpDef, OpError, OpParts, ResultTypes, Shape, Traits,
    TypeConstraint, clause, operand, result,
};
use fuser_ir::types::{DType, Dim, Extent, TypeId};

use super::codes::*;
use super::elementwise::ew;
use super::{fold, maps, shape};

const CREATION: OpDef = OpDef {
    class: OpClass::Creation,
    maps: Some(&maps::CREATE),
    traits: Traits::PURE,
    ..OpDef::EMPTY
};
const TENSOR: TypeConstraint = TypeConstraint::new(Shape::Tensor, DTypes::ANY);

/// The ops of this table, in the order of the manual.
pub const CREATION_OPS: &[&OpDef] = &[&CONSTANT, &FULL, &IOTA, &SIZE];

/// `fusion.constant`
pub static CONSTANT: OpDef = OpDef {
    name: "fusion.constant",
    computes: Some(Computes::Constant),
    summary: "a constant scalar, vector or tensor",
    doc: "Every element is `value`, or the elements are those of `value dense<...>`, row-major. The written result type says \
          what it is; without one, the value's own type does (`0.5 : f32`).\n\n\
          A number is converted to the element type once, to nearest even. Integers must be in range; an integer may \
          stand for a float, never the reverse; `true` and `false` are `i1`. Every extent is known. A complex \
          constant is `fusion.complex` of two.",
    example: "%0 = fusion.constant value 0.5 : f32\n%1 = fusion.constant value dense<[1, 2, 3]> : tensor<3xi32>",
    clauses: &[clause(
        "value",
        ClauseKind::Number,
        "a number for all elements, or `dense<...>`",
    )],
    results: &[result("output", ew(DTypes::REAL), "the constant")],
    infer: Some(infer_constant),
    ..CREATION
};

/// `fusion.full`
pub static FULL: OpDef = OpDef {
    name: "fusion.full",
    computes: Some(Computes::Full),
    summary: "a tensor that holds one scalar everywhere",
    doc: "A tensor of `shape` in which every element is `value`, a scalar or a tensor of rank 0. Its axes are plain ones.",
    example: "// %v: f32\n%0 = fusion.full %v shape [4, 8] : tensor<4x8xf32>",
    operands: &[operand(
        "value",
        TypeConstraint::new(Shape::TensorOrScalar, DTypes::ANY),
        "scalar or rank-0 tensor",
    )],
    clauses: &[clause(
        "shape",
        ClauseKind::Extents,
        "the extents of the result",
    )],
    results: &[result("output", TENSOR, "the tensor")],
    infer: Some(infer_full),
    fold: Some(fold::full),
    ..CREATION
};

/// `fusion.size`
pub static SIZE: OpDef = OpDef {
    name: "fusion.size",
    computes: Some(Computes::Size),
    summary: "the number of elements of a shape",
    doc: "The product of the extents of `shape`, as an `index` scalar: 1 for `[]`. Named extents have the lengths that the program's \
          inputs give them. A product beyond 64 bits wraps.",
    example: "task.program @f(%x: tensor<[B]x8xf32>) -> tensor<[B]x8xf32> {\n  %n = fusion.size shape [[B], 8] : index\n  task.return %x\n}",
    clauses: &[clause(
        "shape",
        ClauseKind::Extents,
        "the extents that are multiplied",
    )],
    results: &[result(
        "output",
        TypeConstraint::new(Shape::Scalar, DTypes::INDEX),
        "the number of elements",
    )],
    infer: Some(infer_size),
    ..CREATION
};

fn infer_size(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    plain_shape(ir, parts)?;
    shape::one(ir.scalar(DType::Index))
}

/// `fusion.iota`
pub static IOTA: OpDef = OpDef {
    name: "fusion.iota",
    computes: Some(Computes::Index),
    summary: "each element is its index along one axis",
    doc: "Element `[i0, i1, ...]` is `i_dim`, converted from `i64` to `of` as `fusion.cast` does. The other axes are plain.",
    example: "%0 = fusion.iota dim 1 shape [4, 8] of i32 : tensor<4x8xi32>",
    clauses: &[
        clause("dim", ClauseKind::Int, "the axis that counts"),
        clause("shape", ClauseKind::Extents, "the extents of the result"),
        clause("of", ClauseKind::DType, "the element type: a number"),
    ],
    results: &[result(
        "output",
        TypeConstraint::new(Shape::Tensor, DTypes::NUMERIC),
        "the tensor",
    )],
    infer: Some(infer_iota),
    fold: Some(fold::iota),
    ..CREATION
};

fn infer_constant(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let missing = || OpError::new("has no value");
    let value = parts.attr(ir, "value").ok_or_else(missing)?;
    let own = own_type(ir, value);
    let ty = match parts.stated {
        Some([ty]) => *ty,
        _ => own,
    };
    if let AttrKind::Dense { splat: false, .. } = ir.attr_kind(value)
        && !fuser_ir::check::same_but_layout(ir, ty, own)
    {
        let text = format!("holds a `{}`", fuser_ir::describe::ty(ir, own));
        return Err(OpError::at(At::Clause("value"), text).code(&BAD_CONSTANT));
    }
    holds(ir, ty, value)?;
    let tensor = ir.ty(ty).as_tensor();
    if tensor.is_some_and(|t| !fuser_ir::layout::is_row_major(ir, t)) {
        let text = "is row-major: a `fusion.copy` may lay it out otherwise";
        return Err(OpError::at(At::Result(0), text).code(&BAD_CONSTANT));
    }
    let dims = ir.ty(ty).as_tensor().map_or(&[][..], |t| &t.dims);
    match dims.iter().position(|d| d.extent == Extent::Unknown) {
        Some(axis) => Err(shape::unknown(At::Result(0), axis)),
        None => shape::one(ty),
    }
}

fn own_type(ir: &mut Ir, value: AttrId) -> TypeId {
    match ir.attr_kind(value) {
        AttrKind::Int { ty, .. } | AttrKind::Float { ty, .. } | AttrKind::Dense { ty, .. } => *ty,
        _ => ir.scalar(DType::I1),
    }
}

/// Checks that elements of type `ty` can represent the number `value` (integers: in range).
pub fn holds(ir: &Ir, ty: TypeId, value: AttrId) -> Result<(), OpError> {
    let fault = |text: String| Err(OpError::at(At::Clause("value"), text).code(&BAD_CONSTANT));
    let Some(dtype) = ir.ty(ty).dtype() else {
        return fault("needs a scalar, vector or tensor type".into());
    };
    match ir.attr_kind(value) {
        AttrKind::Int { value, .. } if dtype.is_int() && !in_range(*value, dtype) => {
            fault(format!("{value} is out of the range of {}", dtype.name()))
        }
        AttrKind::Float { .. } if dtype.is_int() => {
            fault(format!("a float cannot be a constant of {}", dtype.name()))
        }
        AttrKind::Bool(_) if dtype != DType::I1 => fault(format!(
            "a truth value cannot be a constant of {}",
            dtype.name()
        )),
        AttrKind::Dense { dtype: own, .. } if *own != dtype => fault(format!(
            "holds {}, the type has {}",
            own.name(),
            dtype.name()
        )),
        _ => Ok(()),
    }
}

/// True if `value` is in the range of an integer type; the range of `i1` is 0 and 1.
pub fn in_range(value: i128, dtype: DType) -> bool {
    let (low, high) = dtype.int_range();
    (low..=high).contains(&value)
}

fn infer_full(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let (dims, dtype) = shape::tensor(ir, parts, 0)?;
    if !dims.is_empty() {
        let text = format!("must be a scalar or have rank 0, has {} axes", dims.len());
        return Err(OpError::at(At::Operand(0), text).code(&BAD_SHAPE));
    }
    let dims = plain_shape(ir, parts)?;
    shape::one(ir.tensor(dims, dtype))
}

fn infer_iota(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let dims = plain_shape(ir, parts)?;
    let dtype = shape::dtype_clause(ir, parts, "of")?;
    let axis = shape::int(ir, parts, "dim").unwrap_or(0);
    shape::checked_axis(axis, "dim", dims.len())?;
    shape::one(ir.tensor(dims, dtype))
}

/// Clause `shape`, of plain axes with known extents.
pub(super) fn plain_shape(ir: &Ir, parts: OpParts<'_>) -> Result<Vec<Dim>, OpError> {
    let dims = shape::shape_clause(ir, parts, "shape");
    for (axis, dim) in dims.iter().enumerate() {
        if dim.broadcast {
            let text =
                format!("axis {axis} is written as a broadcast axis; this op makes plain ones");
            return Err(OpError::at(At::Clause("shape"), text).code(&BROADCAST_AXIS));
        }
        if dim.extent == Extent::Unknown {
            return Err(shape::unknown(At::Clause("shape"), axis));
        }
    }
    Ok(dims)
}
