//! Ops that change shape or layout only: no arithmetic, and mostly no data movement.

use fuser_ir::Ir;
use fuser_ir::def::{
    At, ClauseKind, DTypes, OpClass, OpDef, OpError, OpParts, OperandDef, ResultDef, ResultTypes,
    Shape, Traits, TypeConstraint, clause, operand, optional, result,
};
use fuser_ir::describe;
use fuser_ir::types::{Dim, Extent};

use super::codes::*;
use super::{fold, maps, shape};

const TENSOR: TypeConstraint = TypeConstraint::new(Shape::Tensor, DTypes::ANY);
pub(super) const INPUT: &[OperandDef] = &[operand("input", TENSOR, "the tensor")];
pub(super) const OUTPUT: &[ResultDef] = &[result("output", TENSOR, "the tensor in its new shape")];
pub(super) const SHAPE_OP: OpDef = OpDef {
    class: OpClass::Shape,
    operands: INPUT,
    results: OUTPUT,
    traits: Traits::PURE,
    ..OpDef::EMPTY
};

/// The ops of this table, in the order of the manual.
pub const RESHAPE_OPS: &[&OpDef] = &[
    &BROADCAST,
    &EXPAND,
    &SQUEEZE,
    &PERMUTE,
    &RESHAPE,
    &COPY,
    &SEGMENT_SET,
];

/// `fusion.broadcast`
pub static BROADCAST: OpDef = OpDef {
    name: "fusion.broadcast",
    summary: "adds axes that repeat the operand",
    doc: "Result axis `dims[k]` is operand axis `k`: it has the same extent in `shape` and stays a `b` axis if it is one. \
          Every other result axis is a new `b` axis: the result does not change along it, and it is stored once. `dims` \
          ascends and has one entry per operand axis; a scalar or rank-0 operand has `dims []`. New axes may have extent 0 \
          or 1; they need a known extent. The `b` of a result axis may be written in `shape` and need not be.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.broadcast %x dims [1] shape [8, 4] : tensor<b8x4xf32>",
    operands: &[operand(
        "input",
        TypeConstraint::new(Shape::TensorOrScalar, DTypes::ANY),
        "the tensor, or a scalar as rank 0",
    )],
    clauses: &[
        clause(
            "dims",
            ClauseKind::I64Array,
            "the result axes that the operand's axes become, ascending",
        ),
        clause("shape", ClauseKind::Extents, "the extents of the result"),
    ],
    maps: Some(&maps::BROADCAST),
    infer: Some(infer_broadcast),
    fold: Some(fold::same_type),
    ..SHAPE_OP
};

/// `fusion.expand`
pub static EXPAND: OpDef = OpDef {
    name: "fusion.expand",
    summary: "repeats axes of extent 1",
    doc: "`shape` has one extent per operand axis. Where it differs from the operand's, the operand's extent is 1 and the axis \
          becomes a `b` axis of the new extent (0 included); where it is the same, the axis stays as it is.",
    example: "// %x: tensor<4x1xf32>\n%0 = fusion.expand %x shape [4, 8] : tensor<4xb8xf32>",
    clauses: &[clause(
        "shape",
        ClauseKind::Extents,
        "the extents of the result",
    )],
    maps: Some(&maps::EXPAND),
    infer: Some(infer_expand),
    fold: Some(fold::same_type),
    ..SHAPE_OP
};

/// `fusion.squeeze`
pub static SQUEEZE: OpDef = OpDef {
    name: "fusion.squeeze",
    summary: "removes axes of extent 1",
    doc: "The axes `dims`, each of extent exactly 1, vanish; the others keep their order. Squeezing every axis gives a tensor of \
          rank 0.",
    example: "// %x: tensor<4x1xf32>\n%0 = fusion.squeeze %x dims [1] : tensor<4xf32>",
    clauses: &[clause(
        "dims",
        ClauseKind::I64Array,
        "the axes to remove, ascending",
    )],
    maps: Some(&maps::SQUEEZE),
    infer: Some(infer_squeeze),
    fold: Some(fold::squeeze),
    ..SHAPE_OP
};

/// `fusion.permute`
pub static PERMUTE: OpDef = OpDef {
    name: "fusion.permute",
    summary: "reorders axes",
    doc: "Result axis `i` is operand axis `dims[i]`; `dims` holds every axis once. `b` axes stay `b` axes.",
    example: "// %x: tensor<4x8xf32>\n%0 = fusion.permute %x dims [1, 0] : tensor<8x4xf32>",
    clauses: &[clause(
        "dims",
        ClauseKind::I64Array,
        "a permutation of the operand's axes",
    )],
    maps: Some(&maps::PERMUTE),
    infer: Some(infer_permute),
    fold: Some(fold::permute),
    ..SHAPE_OP
};

/// `fusion.reshape`
pub static RESHAPE: OpDef = OpDef {
    name: "fusion.reshape",
    summary: "the same elements in another shape",
    doc: "The elements in row-major order stay the same, the axes are cut anew. The number of elements must be the same for \
          every value of the named extents: the products are compared as polynomials. An extent `?` cannot be reshaped.\n\n\
          A `b` axis stays whole: `shape` writes it as `bN` between the same neighbours, and the plain axes between two `b` \
          axes have the same product before and after. Empty tensors may be reshaped to any empty shape.",
    example: "// %x: tensor<[B]x24xf32>\n%0 = fusion.reshape %x shape [[B], 6, 4] : tensor<[B]x6x4xf32>",
    clauses: &[clause(
        "shape",
        ClauseKind::Extents,
        "the extents of the result, `b` axes marked",
    )],
    maps: Some(&maps::RESHAPE),
    infer: Some(infer_reshape),
    fold: Some(fold::reshape),
    ..SHAPE_OP
};

/// `fusion.copy`
pub static COPY: OpDef = OpDef {
    name: "fusion.copy",
    summary: "the same tensor, stored densely",
    doc: "The identity on values; the result is dense row-major. `b` axes are kept, unless `dense` stands: then they become \
          plain axes and every element is stored.",
    example: "// %x: tensor<b4x8xf32>\n%0 = fusion.copy %x dense : tensor<4x8xf32>",
    clauses: &[optional(
        "dense",
        ClauseKind::Unit,
        "store `b` axes element by element",
    )],
    maps: Some(&maps::POINTWISE),
    infer: Some(infer_copy),
    ..SHAPE_OP
};

/// `fusion.segment_set`
pub static SEGMENT_SET: OpDef = OpDef {
    name: "fusion.segment_set",
    summary: "a boundary between segments, set by hand",
    doc: "The identity on values. What uses the result is never in one segment with what makes the operand.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.segment_set %x : tensor<4xf32>",
    maps: Some(&maps::POINTWISE),
    traits: Traits::PURE.union(Traits::BARRIER),
    infer: Some(infer_identity),
    ..SHAPE_OP
};

fn infer_broadcast(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let (from, dtype) = shape::tensor(ir, parts, 0)?;
    let to = shape::shape_clause(ir, parts, "shape");
    let dims = shape::axes(ir, parts, "dims", to.len())?;
    if dims.len() != from.len() {
        let text = format!("lists {} axes, the operand has {}", dims.len(), from.len());
        return Err(OpError::at(At::Clause("dims"), text).code(&BAD_AXIS));
    }
    let mut result = Vec::with_capacity(to.len());
    for (axis, dim) in to.into_iter().enumerate() {
        let source = dims.iter().position(|d| *d == axis);
        result.push(match source {
            Some(k) => kept(ir, axis, dim, from[k])?,
            None if dim.extent == Extent::Unknown => {
                return Err(shape::unknown(At::Clause("shape"), axis));
            }
            None => Dim::broadcast(dim.extent),
        });
    }
    shape::one(ir.tensor(result, dtype))
}

/// The operand's axis, if `written` is it.
fn kept(ir: &Ir, axis: usize, written: Dim, operand: Dim) -> Result<Dim, OpError> {
    if written.extent != operand.extent {
        let (w, o) = (
            describe::extent(ir, written.extent),
            describe::extent(ir, operand.extent),
        );
        let text = format!("axis {axis} is {w}, the operand's axis has extent {o}");
        return Err(OpError::at(At::Clause("shape"), text).code(&BAD_SHAPE));
    }
    if written.broadcast && !operand.broadcast {
        let text =
            format!("axis {axis} is written as a broadcast axis, the operand's is a plain one");
        return Err(OpError::at(At::Clause("shape"), text).code(&BROADCAST_AXIS));
    }
    Ok(operand)
}

fn infer_expand(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let (from, dtype) = shape::tensor(ir, parts, 0)?;
    let to = shape::shape_clause(ir, parts, "shape");
    if to.len() != from.len() {
        let text = format!(
            "has {} extents, the operand has {} axes",
            to.len(),
            from.len()
        );
        let error = OpError::at(At::Clause("shape"), text).code(&BAD_SHAPE);
        let Some(added) = to.len().checked_sub(from.len()) else {
            return Err(error.help("`fusion.squeeze` removes axes of extent 1"));
        };
        let axes: Vec<String> = (added..to.len()).map(|axis| axis.to_string()).collect();
        let (axes, dims) = (axes.join(", "), describe::dims(ir, &to));
        return Err(error.help(format!(
            "`fusion.broadcast` adds axes: `dims [{axes}] shape {dims}`, where `dims` are the operand's"
        )));
    }
    let mut result = Vec::with_capacity(to.len());
    for (axis, (written, operand)) in to.into_iter().zip(from).enumerate() {
        let stretches = operand.extent == Extent::Static(1) && written.extent != operand.extent;
        result.push(match (stretches, written.extent) {
            (true, Extent::Unknown) => return Err(shape::unknown(At::Clause("shape"), axis)),
            (true, extent) => Dim::broadcast(extent),
            (false, _) => kept(ir, axis, written, operand)?,
        });
    }
    shape::one(ir.tensor(result, dtype))
}

fn infer_squeeze(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let (from, dtype) = shape::tensor(ir, parts, 0)?;
    let dims = shape::axes(ir, parts, "dims", from.len())?;
    for &axis in &dims {
        if from[axis].extent != Extent::Static(1) {
            let extent = describe::extent(ir, from[axis].extent);
            let text = format!("axis {axis} has extent {extent}; only axes of extent 1 vanish");
            return Err(OpError::at(At::Clause("dims"), text).code(&BAD_SHAPE));
        }
    }
    let rest = from
        .into_iter()
        .enumerate()
        .filter(|(i, _)| !dims.contains(i));
    let rest = rest.map(|(_, d)| d).collect();
    shape::one(ir.tensor(rest, dtype))
}

fn infer_permute(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let (from, dtype) = shape::tensor(ir, parts, 0)?;
    let list = shape::ints(ir, parts, "dims");
    let mut seen = vec![false; from.len()];
    let mut result = Vec::with_capacity(from.len());
    for &axis in &list {
        let axis = shape::checked_axis(axis, "dims", from.len())?;
        if std::mem::replace(&mut seen[axis], true) {
            let text = format!("axis {axis} stands twice");
            return Err(OpError::at(At::Clause("dims"), text).code(&BAD_AXIS));
        }
        result.push(from[axis]);
    }
    if result.len() != from.len() {
        let text = format!(
            "lists {} axes, the operand has {}",
            result.len(),
            from.len()
        );
        return Err(OpError::at(At::Clause("dims"), text).code(&BAD_AXIS));
    }
    shape::one(ir.tensor(result, dtype))
}

fn infer_reshape(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let (from, dtype) = shape::tensor(ir, parts, 0)?;
    let to = shape::shape_clause(ir, parts, "shape");
    if from != to {
        same_elements(ir, &from, &to)?;
    }
    shape::one(ir.tensor(to, dtype))
}

/// `b` axes in the same order with the same extents, and equal products of the plain axes between them.
fn same_elements(ir: &Ir, from: &[Dim], to: &[Dim]) -> Result<(), OpError> {
    let broadcast =
        |dims: &[Dim]| -> Vec<Dim> { dims.iter().copied().filter(|d| d.broadcast).collect() };
    let at = At::Clause("shape");
    if let Some(axis) = to.iter().position(|d| d.extent == Extent::Unknown) {
        return Err(shape::unknown(at, axis));
    }
    if let Some(axis) = from.iter().position(|d| d.extent == Extent::Unknown) {
        return Err(shape::unknown(At::Operand(0), axis));
    }
    let (f, t) = (describe::dims(ir, from), describe::dims(ir, to));
    if broadcast(from) != broadcast(to) {
        let text = format!("{t} does not keep the broadcast axes of {f} whole");
        let help = "make them plain first: `fusion.copy ... dense`";
        return Err(OpError::at(at, text).code(&BROADCAST_AXIS).help(help));
    }
    let runs = |dims: &[Dim]| -> Vec<_> {
        let runs = dims.split(|d| d.broadcast);
        runs.map(|run| shape::elements(ir, run)).collect()
    };
    for (before, after) in runs(from).into_iter().zip(runs(to)) {
        if before.is_none() || before != after {
            let count = |e: Option<_>| e.map_or("too many".into(), |e| describe::expr(ir, &e));
            let text = format!(
                "{t} has {} elements where {f} has {}",
                count(after),
                count(before)
            );
            return Err(OpError::at(at, text).code(&ELEMENT_COUNT));
        }
    }
    Ok(())
}

fn infer_copy(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let (mut dims, dtype) = shape::tensor(ir, parts, 0)?;
    if shape::flag(ir, parts, "dense") {
        dims.iter_mut().for_each(|d| d.broadcast = false);
    }
    shape::one(ir.tensor(dims, dtype))
}

fn infer_identity(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let (dims, dtype) = shape::tensor(ir, parts, 0)?;
    shape::one(ir.tensor(dims, dtype))
}
