//! Slice, flip, pad, cat: indices shift within an axis.

use fuser_ir::def::{
    At, ClauseKind, DTypes, OpDef, OpError, OpParts, ResultTypes, Shape, TypeConstraint, clause,
    operand, operands, optional,
};
use fuser_ir::describe;
use fuser_ir::types::{Dim, Extent, ExtentExpr};
use fuser_ir::{Ir, Op, layout};

use super::codes::*;
use super::reshape::SHAPE_OP;
use super::{fold, maps, shape};

const TENSOR: TypeConstraint = TypeConstraint::new(Shape::Tensor, DTypes::ANY);

/// The ops of this table, in the order of the manual.
pub const WINDOW_OPS: &[&OpDef] = &[&SLICE, &FLIP, &PAD, &CAT];

/// `fusion.slice`
pub static SLICE: OpDef = OpDef {
    name: "fusion.slice",
    summary: "a part of a tensor",
    doc: "Result element `[i0, i1, ...]` is operand element `[starts[k] + ik * strides[k], ...]`; `shape` gives the extents of \
          the result, `strides` are 1 where the clause is left out. A start may be named, `starts [0, [M]]`. The slice must lie \
          inside the operand for every value of the named extents, and this must be provable: otherwise the op is an error. `b` axes stay `b` axes. An axis of extent \
          `?` can only be taken whole.",
    example: "// %x: tensor<[B]x8xf32>\n%0 = fusion.slice %x starts [0, 1] shape [[B], 3] strides [1, 2] : tensor<[B]x3xf32>",
    clauses: &[
        clause(
            "starts",
            ClauseKind::Amounts,
            "the first index along each axis",
        ),
        clause("shape", ClauseKind::Extents, "the extents of the result"),
        optional(
            "strides",
            ClauseKind::I64Array,
            "the step along each axis, at least 1",
        ),
    ],
    infer: Some(infer_slice),
    fold: Some(fold::same_type),
    maps: Some(&maps::SLICE),
    ..SHAPE_OP
};

/// `fusion.flip`
pub static FLIP: OpDef = OpDef {
    name: "fusion.flip",
    summary: "axes from their ends to their beginnings",
    doc: "Result element `[i0, i1, ...]` is the operand element whose index along each axis `k` of `dims` is `n - 1 - ik`, `n` the \
          axis's extent, and `ik` along the others. `dims` ascends. The result has the operand's shape; `b` axes stay `b` axes. An \
          axis of `dims` needs a known extent.",
    example: "// %x: tensor<4x[B]xf32>\n%0 = fusion.flip %x dims [1] : tensor<4x[B]xf32>",
    clauses: &[clause(
        "dims",
        ClauseKind::I64Array,
        "the axes that are turned round",
    )],
    infer: Some(infer_flip),
    fold: Some(fold::flip),
    maps: Some(&maps::FLIP),
    ..SHAPE_OP
};

/// `fusion.pad`
pub static PAD: OpDef = OpDef {
    name: "fusion.pad",
    summary: "a border of one value around a tensor",
    doc: "Adds `low[k]` elements before and `high[k]` after axis `k`, all equal to `value` (a scalar or rank-0 tensor of the \
          same element type). Amounts are not negative and may be named, `low [0, [M]]`. An axis that grows becomes a plain one; an axis that does not stays as it \
          is, `b` and `?` included.",
    example: "// %x: tensor<4x8xf32>, %v: f32\n%0 = fusion.pad %x, %v low [0, 1] high [2, 0] : tensor<6x9xf32>",
    operands: &[
        operand("input", TENSOR, "the tensor"),
        operand(
            "value",
            TypeConstraint::new(Shape::TensorOrScalar, DTypes::ANY),
            "what the border holds",
        ),
    ],
    clauses: &[
        clause(
            "low",
            ClauseKind::Amounts,
            "elements added before each axis",
        ),
        clause(
            "high",
            ClauseKind::Amounts,
            "elements added after each axis",
        ),
    ],
    infer: Some(infer_pad),
    fold: Some(fold::same_type),
    maps: Some(&maps::PAD),
    ..SHAPE_OP
};

/// `fusion.cat`
pub static CAT: OpDef = OpDef {
    name: "fusion.cat",
    summary: "tensors one after another along an axis",
    doc: "The operands, in order, along axis `dim`. They have one element type and one rank, and agree on all other axes (which \
          join as for elementwise ops). The extent along `dim` is the sum; the axis is a plain one. One operand alone gives a \
          tensor like it; empty operands add nothing. With `placed` the op runs as a whole, on a CPU: whoever makes an operand writes \
          it where it lies in the result, and other operands are copied there. All extents are then numbers, no axis is a `b` axis, \
          memory is row-major, and axes before `dim` have one element. `decompose` adds the clause to cats of more parts than a \
          kernel tells apart.",
    example: "// %x: tensor<4x8xf32>, %y: tensor<4x3xf32>\n%0 = fusion.cat %x, %y dim 1 : tensor<4x11xf32>",
    operands: &[
        operand("first", TENSOR, "the first tensor"),
        operands("rest", TENSOR, "the others"),
    ],
    clauses: &[
        clause("dim", ClauseKind::Int, "the axis along which they stand"),
        optional(
            PLACED,
            ClauseKind::Unit,
            "each operand is written where it lies in the result",
        ),
    ],
    infer: Some(infer_cat),
    verify: Some(verify_cat),
    maps: Some(&maps::CAT),
    ..SHAPE_OP
};

/// The clause of a cat whose operands are written where they lie in the result.
pub const PLACED: &str = "placed";

/// True for a cat with the clause [`PLACED`].
pub fn is_placed(ir: &Ir, op: Op) -> bool {
    ir.is(op, &CAT) && ir.get_attr(op, PLACED).is_some()
}

/// The reason that the operands of a cat along `dim` do not lie one behind the other in the memory of its result.
pub fn refuse_placed(ir: &Ir, op: Op) -> Option<String> {
    let dim = usize::try_from(ir.int_of(op, "dim")?).ok()?;
    let result = ir.result(op, 0);
    let mut all = ir.operands(op).chain([result]);
    all.find_map(|value| {
        let tensor = ir.value_kind(value).as_tensor()?;
        let number = |dim: &Dim| matches!(dim.extent, Extent::Static(_)) && !dim.broadcast;
        let mut before = tensor.dims.iter().take(dim);
        if let Some(axis) = tensor.dims.iter().position(|dim| !number(dim)) {
            return Some(format!("axis {axis} has no number of elements of its own"));
        }
        if before.any(|dim| dim.extent != Extent::Static(1)) {
            return Some(format!("an axis before {dim} has more than one element"));
        }
        (!layout::is_row_major(ir, tensor)).then(|| "a tensor is not row-major".into())
    })
}

fn verify_cat(ir: &Ir, op: Op, errors: &mut Vec<OpError>) {
    if let Some(reason) = refuse_placed(ir, op).filter(|_| is_placed(ir, op)) {
        let text = format!("'placed' needs operands that lie one behind the other: {reason}");
        let error = OpError::at(At::Clause(PLACED), text).code(&BAD_SHAPE);
        errors.push(error.help("leave the clause out"));
    }
}

/// The amounts of clause `name`, one per axis.
fn per_axis(
    ir: &Ir,
    parts: OpParts<'_>,
    name: &'static str,
    rank: usize,
    least: i64,
) -> Result<Vec<ExtentExpr>, OpError> {
    let list = parts.attr(ir, name).map(|a| ir.attr_kind(a));
    let list = list.and_then(|a| ir.amounts(a)).unwrap_or_default();
    if list.len() != rank {
        let text = format!("has {} entries, the operand has {rank} axes", list.len());
        return Err(OpError::at(At::Clause(name), text).code(&BAD_SHAPE));
    }
    let enough = |amount: &ExtentExpr| {
        let over = ExtentExpr::constant(-least);
        amount.add(&over).is_some_and(|o| shape::never_negative(&o))
    };
    if let Some(axis) = list.iter().position(|amount| !enough(amount)) {
        let own = describe::amount(ir, &list[axis]);
        let text = format!("entry {axis} is {own}, must be at least {least}");
        return Err(OpError::at(At::Clause(name), text).code(&OUT_OF_BOUNDS));
    }
    Ok(list)
}

fn infer_slice(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let (from, dtype) = shape::tensor(ir, parts, 0)?;
    let to = shape::shape_clause(ir, parts, "shape");
    if to.len() != from.len() {
        let text = format!(
            "has {} extents, the operand has {} axes",
            to.len(),
            from.len()
        );
        return Err(OpError::at(At::Clause("shape"), text).code(&BAD_SHAPE));
    }
    let starts = per_axis(ir, parts, "starts", from.len(), 0)?;
    let strides = match shape::flag(ir, parts, "strides") {
        true => per_axis(ir, parts, "strides", from.len(), 1)?,
        false => vec![ExtentExpr::constant(1); from.len()],
    };
    let mut result = Vec::with_capacity(from.len());
    for (axis, (operand, written)) in from.into_iter().zip(to).enumerate() {
        let (start, stride) = (&starts[axis], &strides[axis]);
        let still = (start.as_constant(), stride.as_constant()) == (Some(0), Some(1));
        let whole = still && operand.extent == written.extent;
        if !whole {
            inside(ir, axis, operand.extent, start, written.extent, stride)?;
        }
        result.push(Dim {
            extent: written.extent,
            broadcast: operand.broadcast,
        });
    }
    shape::one(ir.tensor(result, dtype))
}

/// `start + (size - 1) * stride < extent`, or `size` is 0.
fn inside(
    ir: &Ir,
    axis: usize,
    extent: Extent,
    start: &ExtentExpr,
    size: Extent,
    stride: &ExtentExpr,
) -> Result<(), OpError> {
    if extent == Extent::Unknown || size == Extent::Unknown {
        return Err(shape::unknown(At::Clause("shape"), axis));
    }
    if size == Extent::Static(0)
        || room(ir, extent, start, size, stride).is_some_and(|r| shape::never_negative(&r))
    {
        return Ok(());
    }
    let (e, s) = (describe::extent(ir, extent), describe::extent(ir, size));
    let [start, stride] = [start, stride].map(|own| describe::amount(ir, own));
    let text = format!(
        "{s} elements from {start} by {stride} are not provably inside axis {axis} of extent {e}"
    );
    Err(OpError::at(At::Clause("shape"), text).code(&OUT_OF_BOUNDS))
}

/// The number of indices left above the last one taken.
fn room(
    ir: &Ir,
    extent: Extent,
    start: &ExtentExpr,
    size: Extent,
    stride: &ExtentExpr,
) -> Option<ExtentExpr> {
    let one = ExtentExpr::constant(-1);
    let last = ir.extent_as_expr(size)?.add(&one)?.mul(stride)?;
    let taken = last.add(start)?.mul(&one)?.add(&one)?;
    ir.extent_as_expr(extent)?.add(&taken)
}

fn infer_flip(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let (dims, dtype) = shape::tensor(ir, parts, 0)?;
    let turned = shape::axes(ir, parts, "dims", dims.len())?;
    let unknown = |&&axis: &&usize| dims[axis].extent == Extent::Unknown;
    match turned.iter().find(unknown) {
        Some(&axis) => Err(shape::unknown(At::Operand(0), axis)),
        None => shape::one(ir.tensor(dims, dtype)),
    }
}

fn infer_pad(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let (from, _) = shape::tensor(ir, parts, 0)?;
    let (value, _) = shape::tensor(ir, parts, 1)?;
    let dtype = shape::same_dtype(ir, parts.operands, 0)?;
    if !value.is_empty() {
        let text = format!("must be a scalar or have rank 0, has {} axes", value.len());
        return Err(OpError::at(At::Operand(1), text).code(&BAD_SHAPE));
    }
    let low = per_axis(ir, parts, "low", from.len(), 0)?;
    let high = per_axis(ir, parts, "high", from.len(), 0)?;
    let mut result = Vec::with_capacity(from.len());
    for (axis, dim) in from.into_iter().enumerate() {
        let by = [&low[axis], &high[axis]];
        result.push(match by.map(ExtentExpr::as_constant) {
            [Some(0), Some(0)] => dim,
            _ => Dim::new(grown(ir, dim.extent, by, axis)?),
        });
    }
    shape::one(ir.tensor(result, dtype))
}

fn grown(
    ir: &mut Ir,
    extent: Extent,
    by: [&ExtentExpr; 2],
    axis: usize,
) -> Result<Extent, OpError> {
    if extent == Extent::Unknown {
        return Err(shape::unknown(At::Operand(0), axis));
    }
    let start = ir.extent_as_expr(extent);
    let sum = by.iter().fold(start, |sum, n| sum?.add(n));
    let too_large = || {
        let text = format!("axis {axis} would be too long");
        OpError::at(At::Operand(0), text).code(&OUT_OF_BOUNDS)
    };
    sum.and_then(|s| ir.extent(s)).ok_or_else(too_large)
}

fn infer_cat(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let (mut result, _) = shape::tensor(ir, parts, 0)?;
    let dtype = shape::same_dtype(ir, parts.operands, 0)?;
    let axis = shape::int(ir, parts, "dim").unwrap_or(0);
    let axis = shape::checked_axis(axis, "dim", result.len())?;
    for index in 1..parts.operands.len() {
        let (dims, _) = shape::tensor(ir, parts, index)?;
        result = beside(ir, result, dims, axis, index)?;
    }
    result[axis].broadcast = false;
    shape::one(ir.tensor(result, dtype))
}

/// The shape of `a` followed by operand `index` of shape `b` along `axis`.
fn beside(
    ir: &mut Ir,
    mut a: Vec<Dim>,
    mut b: Vec<Dim>,
    axis: usize,
    index: usize,
) -> Result<Vec<Dim>, OpError> {
    if a.len() != b.len() {
        let text = format!("has {} axes, operand 0 has {}", b.len(), a.len());
        return Err(OpError::at(At::Operand(index), text).code(&EXTENTS_DISAGREE));
    }
    let sum = match (
        ir.extent_as_expr(a[axis].extent),
        ir.extent_as_expr(b[axis].extent),
    ) {
        (Some(x), Some(y)) => x.add(&y).and_then(|s| ir.extent(s)),
        _ => None,
    };
    let Some(sum) = sum else {
        return Err(shape::unknown(At::Operand(index), axis));
    };
    (a[axis], b[axis]) = (Dim::new(sum), Dim::new(sum));
    shape::join_dims(ir, a, b, 0, index)
}
