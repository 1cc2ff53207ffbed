//! Products: two tensors are multiplied element by element along an axis that they share, and summed along it. A third
//! one may be added to the sums.

use fuser_ir::Ir;
use fuser_ir::def::{
    At, ClauseDef, ClauseKind, Computes, DTypes, OpClass, OpDef, OpError, OpParts, OperandDef,
    Placement, ResultDef, ResultTypes, Shape, Traits, TypeConstraint, optional, result,
};
use fuser_ir::describe;
use fuser_ir::types::{DType, Dim, Extent};

use super::codes::{BAD_SHAPE, DTYPES_DISAGREE, EXTENTS_DISAGREE};
use super::{maps, shape};

const FLOATS: TypeConstraint = TypeConstraint::new(Shape::Tensor, DTypes::FLOAT);
pub(super) const TO: ClauseDef = optional(
    "to",
    ClauseKind::DType,
    "the element type of the result: that of the operands, or the one in which they accumulate",
);

/// An operand of a product. The product is a kernel or a library call of its own, so it reads the operand from memory.
pub(super) const fn factor(name: &'static str, doc: &'static str) -> OperandDef {
    OperandDef {
        name,
        ty: FLOATS,
        variadic: false,
        placement: Placement::Memory,
        doc,
    }
}

const PRODUCT: OpDef = OpDef {
    class: OpClass::Contraction,
    computes: Some(Computes::Composite),
    clauses: &[TO],
    results: &[ResultDef {
        placement: Placement::Memory,
        ..result("output", FLOATS, "the product")
    }],
    traits: Traits::PURE,
    flops: 2,
    ..OpDef::EMPTY
};

/// The ops of this table, in the order of the manual.
pub const PRODUCT_OPS: &[&OpDef] = &[&MATMUL, &LINEAR];

/// `fusion.matmul`
pub static MATMUL: OpDef = OpDef {
    name: "fusion.matmul",
    summary: "product of matrices",
    doc: "Result element `[..., i, j]` is the sum over k of `a[..., i, k] * b[..., k, j]`, plus `c[..., i, j]` where there is a `c`. \
          The axes before the last two are batch \
          axes: the same in both operands, or one operand has none and takes part in every product. An operand of rank 1 is a \
          row on the left and a column on the right, whose axis is not in the result. Floats only, all operands of one type. `a` and `b` \
          are multiplied and summed in f32 (f64 for f64), in an unspecified order, each product rounded or not, and the sum is rounded to \
          the element type once. `c` is added in the type that accumulates, before that rounding. A sum that is exactly zero, as without terms, is `+0`. NaN and infinities as in \
          `fusion.mul` and `fusion.sum`. `to` states the type that accumulates as the result's, which leaves the last rounding \
          out. An axis of the result is a `b` axis where every operand that \
          has it has it so. A product is one call of a library or one kernel of a GPU, or is taken apart by `--decompose`.",
    example: "// %a: tensor<[B]x4x8xf32>, %b: tensor<8x16xf32>\n%0 = fusion.matmul %a, %b : tensor<[B]x4x16xf32>",
    operands: &[
        factor("a", "rows: `[..., M, K]` or `[K]`"),
        factor("b", "columns: `[..., K, N]` or `[K]`"),
        OperandDef {
            variadic: true,
            ..factor("c", "of the result's shape, at most one")
        },
    ],
    maps: Some(&maps::MATMUL),
    infer: Some(infer_matmul),
    ..PRODUCT
};

/// `fusion.linear`
pub static LINEAR: OpDef = OpDef {
    name: "fusion.linear",
    summary: "product with a transposed matrix of weights, and a bias",
    doc: "Result element `[..., j]` is the sum over k of `x[..., k] * weight[j, k]`, plus `bias[j]` where there is a bias, or `bias[..., j]` where it has all axes of the result. Operands, \
          accumulation and `to` as for `fusion.matmul`; the bias is added in the type that accumulates, before the one rounding.",
    example: "// %x: tensor<[B]x8xbf16>, %w: tensor<16x8xbf16>, %c: tensor<16xbf16>\n\
              %0 = fusion.linear %x, %w, %c : tensor<[B]x16xbf16>",
    operands: &[
        factor("x", "rows: `[..., K]`"),
        factor("weight", "`[N, K]`"),
        OperandDef {
            variadic: true,
            ..factor("bias", "`[N]`, or of the result's shape, at most one")
        },
    ],
    maps: Some(&maps::LINEAR),
    infer: Some(infer_linear),
    ..PRODUCT
};

/// The element type of a product of operands that are all of one type.
pub(super) fn element(ir: &Ir, parts: OpParts<'_>) -> Result<DType, OpError> {
    let dtype = shape::same_dtype(ir, parts.operands, 0)?;
    if !shape::flag(ir, parts, "to") {
        return Ok(dtype);
    }
    let to = shape::dtype_clause(ir, parts, "to")?;
    if to == dtype || to == dtype.accumulate() {
        return Ok(to);
    }
    let (own, wide) = (dtype.name(), dtype.accumulate().name());
    let text = format!(
        "is {}, the operands have {own} and accumulate in {wide}",
        to.name()
    );
    let help = "cast the result";
    Err(OpError::at(At::Clause("to"), text)
        .code(&DTYPES_DISAGREE)
        .help(help))
}

/// An axis of an operand: operand number, axis number, and extent.
pub(super) type Place = (usize, usize, Extent);

/// Checks that two axes that are one in the op have one extent.
pub(super) fn agreeing(ir: &Ir, own: Place, wanted: Place) -> Result<(), OpError> {
    if shape::agree(own.2, wanted.2) {
        return Ok(());
    }
    let unknown = |place: &Place| place.2 == Extent::Unknown;
    if let Some((operand, axis, _)) = [wanted, own].into_iter().find(unknown) {
        return Err(shape::unknown(At::Operand(operand), axis));
    }
    let (extent, other) = (describe::extent(ir, own.2), describe::extent(ir, wanted.2));
    let text = format!(
        "axis {} has extent {extent}, axis {} of operand {} has {other}",
        own.1, wanted.1, wanted.0
    );
    Err(OpError::at(At::Operand(own.0), text).code(&EXTENTS_DISAGREE))
}

/// The axes of operand `index`, at least `least` of them.
fn axes(ir: &Ir, parts: OpParts<'_>, index: usize, least: usize) -> Result<Vec<Dim>, OpError> {
    let (dims, _) = shape::tensor(ir, parts, index)?;
    if dims.len() >= least {
        return Ok(dims);
    }
    Err(rank(index, dims.len(), &format!("at least {least}")))
}

fn rank(index: usize, found: usize, wanted: &str) -> OpError {
    let text = format!("has {found} axes, must have {wanted}");
    OpError::at(At::Operand(index), text).code(&BAD_SHAPE)
}

fn infer_matmul(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let dtype = element(ir, parts)?;
    let (a, b) = (axes(ir, parts, 0, 1)?, axes(ir, parts, 1, 1)?);
    let (batch_a, own_a) = a.split_at(a.len().saturating_sub(2));
    let (batch_b, own_b) = b.split_at(b.len().saturating_sub(2));
    let (last, terms) = (a.len() - 1, batch_b.len());
    agreeing(ir, (1, terms, b[terms].extent), (0, last, a[last].extent))?;
    let batch = match (batch_a, batch_b) {
        ([], only) | (only, []) => only.to_vec(),
        (a, b) if a.len() != b.len() => {
            let text = format!("has {} batch axes, operand 0 has {}", b.len(), a.len());
            let help =
                "operands have the same batch axes, or one has none: `fusion.broadcast` adds axes";
            return Err(OpError::at(At::Operand(1), text)
                .code(&EXTENTS_DISAGREE)
                .help(help));
        }
        (a, b) => shape::join_dims(ir, a.to_vec(), b.to_vec(), 0, 1)?,
    };
    let mut dims = [&batch, &own_a[..own_a.len() - 1], &own_b[1..]].concat();
    at_most_one(parts, "`c`")?;
    if parts.operands.len() > 2 {
        added(ir, parts, &mut dims)?;
    }
    shape::one(ir.tensor(dims, dtype))
}

fn infer_linear(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let dtype = element(ir, parts)?;
    let (x, weight) = (axes(ir, parts, 0, 1)?, axes(ir, parts, 1, 2)?);
    if weight.len() != 2 {
        return Err(rank(1, weight.len(), "2"));
    }
    let last = x.len() - 1;
    agreeing(ir, (1, 1, weight[1].extent), (0, last, x[last].extent))?;
    let mut dims = [&x[..last], &weight[..1]].concat();
    at_most_one(parts, "bias")?;
    if parts.operands.len() > 2 {
        let bias = axes(ir, parts, 2, 1)?;
        match bias.len() {
            1 => {
                agreeing(ir, (2, 0, bias[0].extent), (1, 0, dims[last].extent))?;
                dims[last].broadcast &= bias[0].broadcast;
            }
            own if own == dims.len() => added(ir, parts, &mut dims)?,
            own => return Err(rank(2, own, &format!("1 or {}", dims.len()))),
        }
    }
    shape::one(ir.tensor(dims, dtype))
}

/// Refuses a fourth operand.
fn at_most_one(parts: OpParts<'_>, name: &str) -> Result<(), OpError> {
    let text = format!("is one too many: there is one {name}");
    match parts.operands.len() {
        ..=3 => Ok(()),
        _ => Err(OpError::at(At::Operand(3), text)),
    }
}

/// Checks a third operand of the result's shape. An axis of the result is stored once only if that of the operand is.
fn added(ir: &Ir, parts: OpParts<'_>, dims: &mut [Dim]) -> Result<(), OpError> {
    let (own, _) = shape::tensor(ir, parts, 2)?;
    if own.len() != dims.len() {
        return Err(rank(2, own.len(), &dims.len().to_string()));
    }
    for (axis, (dim, own)) in dims.iter_mut().zip(own).enumerate() {
        if !shape::agree(own.extent, dim.extent) {
            let wanted = describe::extent(ir, dim.extent);
            let text = format!(
                "axis {axis} has extent {}, that of the product has {wanted}",
                describe::extent(ir, own.extent)
            );
            return Err(OpError::at(At::Operand(2), text).code(&EXTENTS_DISAGREE));
        }
        dim.broadcast &= own.broadcast;
    }
    Ok(())
}
