//! Scatters: ops that write elements into a tensor at computed indices.

use fuser_ir::Ir;
use fuser_ir::attr::AttrKind;
use fuser_ir::def::{
    At, ClauseKind, Computes, DTypes, OpClass, OpDef, OpError, OpParts, OperandDef, Placement,
    ResultDef, ResultTypes, Shape, Traits, TypeConstraint, clause, result,
};
use fuser_ir::types::{DType, Dim};

use super::codes::{BAD_SHAPE, DTYPES_DISAGREE};
use super::{maps, shape};

/// The words of `combine`.
pub const COMBINES: &[&str] = &["set", "add", "mul", "max", "min"];

const VALUES: TypeConstraint = TypeConstraint::new(Shape::Tensor, DTypes::ANY);
const INDICES: TypeConstraint =
    TypeConstraint::new(Shape::Tensor, DTypes::of(&[DType::I64, DType::I32]));

const fn from_memory(name: &'static str, ty: TypeConstraint, doc: &'static str) -> OperandDef {
    OperandDef {
        name,
        ty,
        variadic: false,
        placement: Placement::Memory,
        doc,
    }
}

const SCATTERED: OpDef = OpDef {
    class: OpClass::Scatter,
    computes: Some(Computes::Composite),
    operands: &[
        from_memory("dest", VALUES, "the tensor into which elements are put"),
        from_memory("indices", INDICES, "an index along `dim` for each part"),
        from_memory("updates", VALUES, "the parts"),
    ],
    clauses: &[
        clause("dim", ClauseKind::Int, "the axis that is indexed"),
        clause(
            "combine",
            ClauseKind::Keyword(COMBINES),
            "how an element and what is put there become one: set, add, mul, max or min",
        ),
    ],
    results: &[ResultDef {
        placement: Placement::Memory,
        ..result("output", VALUES, "`dest` with the elements in it")
    }],
    traits: Traits::PURE,
    flops: 1,
    ..OpDef::EMPTY
};

/// The ops of this table, in the order of the manual.
pub const SCATTER_OPS: &[&OpDef] = &[&INDEX_PUT, &SCATTER];

/// `fusion.index_put`
pub static INDEX_PUT: OpDef = OpDef {
    name: "fusion.index_put",
    summary: "a tensor with parts put into it at indices along an axis",
    doc: "`updates` has the axes of `dest`, but axis `dim` has an element for each of `indices`, which has rank 1. With `dim 1` the updates \
          `[i, j, k]` are put at `[i, indices[j], k]`, in ascending order of j; an index below 0 or beyond the axis puts nothing anywhere. \
          With `combine set` a result element is the last update that is put there, else that of `dest`, bits kept. With `add`, `mul`, `max` \
          and `min` it is the `fusion.sum`, `prod`, `max` or `min` of the element of `dest` and all updates that are put there: so sums are \
          formed in f32 (f64 for f64) in an unspecified order, are rounded once, and a sum that is exactly zero is `+0`. An element \
          where nothing is put keeps its bits. `i1` is neither \
          added nor multiplied, and floats of 8 bits are set only. An axis of the result is a `b` axis where `dest` and `updates` have it so, axis `dim` never. The gradient \
          of `fusion.take` from a table is this op into zeros, with `add`.",
    example: "// %x: tensor<[V]x64xf32>, %i: tensor<[N]xi64>, %u: tensor<[N]x64xf32>\n\
              %0 = fusion.index_put %x, %i, %u dim 0 combine add : tensor<[V]x64xf32>",
    maps: Some(&maps::INDEX_PUT),
    infer: Some(infer_index_put),
    ..SCATTERED
};

/// `fusion.scatter`
pub static SCATTER: OpDef = OpDef {
    name: "fusion.scatter",
    summary: "a tensor with elements put into it, each at its index along an axis",
    doc: "`indices` and `updates` have the axes of `dest`, but axis `dim` has an extent of its own, the same in both. With `dim 1` the update \
          `[i, j, k]` is put at `[i, indices[i, j, k], k]`, in ascending order of j; indices out of range and `combine` as for \
          `fusion.index_put`. An axis of the result is a `b` axis where all operands have it so, axis `dim` never.",
    example: "// %x: tensor<[B]x64xf32>, %i: tensor<[B]x8xi64>, %u: tensor<[B]x8xf32>\n\
              %0 = fusion.scatter %x, %i, %u dim 1 combine set : tensor<[B]x64xf32>",
    maps: Some(&maps::SCATTER),
    infer: Some(infer_scatter),
    ..SCATTERED
};

fn infer_index_put(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    infer(ir, parts, Some(1))
}

fn infer_scatter(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    infer(ir, parts, None)
}

/// Infers `dest` with updates. `indices` has `own` axes; `None`: as many as `dest`.
fn infer(ir: &mut Ir, parts: OpParts<'_>, own: Option<usize>) -> Result<ResultTypes, OpError> {
    let (dims, dtype) = shape::tensor(ir, parts, 0)?;
    let (indices, _) = shape::tensor(ir, parts, 1)?;
    let (updates, found) = shape::tensor(ir, parts, 2)?;
    let axis = shape::int(ir, parts, "dim").unwrap_or(0);
    let axis = shape::checked_axis(axis, "dim", dims.len())?;
    if found != dtype {
        let (found, wanted) = (found.name(), dtype.name());
        let text = format!("has elements {found}, operand 0 has {wanted}");
        let help = format!("cast it: `fusion.cast ... to {wanted}`");
        let error = OpError::at(At::Operand(2), text);
        return Err(error.code(&DTYPES_DISAGREE).help(help));
    }
    let word = parts.attr(ir, "combine").map(|a| ir.attr_kind(a));
    let word = word.and_then(AttrKind::as_string).map(|w| ir.str(w));
    if dtype == DType::I1 && matches!(word, Some("add" | "mul")) {
        let error = OpError::at(At::Clause("combine"), "adds or multiplies i1");
        let help = "`max` is or, `min` is and; to count, cast to i64";
        return Err(error.code(&DTYPES_DISAGREE).help(help));
    }
    if dtype.is_storage() && word != Some("set") {
        let text = format!("computes with {}, which has no arithmetic", dtype.name());
        let error = OpError::at(At::Clause("combine"), text);
        let help = "cast to f32 first, `fusion.cast %x to f32`; `set` takes it as it is";
        return Err(error.code(&DTYPES_DISAGREE).help(help));
    }
    if dtype.is_complex() && !matches!(word, Some("set" | "add")) {
        let text = format!(
            "combines {} otherwise than by `set` and `add`",
            dtype.name()
        );
        let help = "compute with the parts, `fusion.real %x` and `fusion.imag %x`";
        let error = OpError::at(At::Clause("combine"), text);
        return Err(error.code(&DTYPES_DISAGREE).help(help));
    }
    let ranks = [
        (1, indices.len(), own.unwrap_or(dims.len())),
        (2, updates.len(), dims.len()),
    ];
    for (operand, found, wanted) in ranks {
        if found != wanted {
            let text = format!("has {found} axes, must have {wanted}");
            let error = OpError::at(At::Operand(operand), text);
            let help = "`fusion.reshape` splits and merges axes";
            return Err(error.code(&BAD_SHAPE).help(help));
        }
    }
    // Along `dim` indices and updates agree with each other, along the other axes with `dest`.
    let along = if own.is_some() { 0 } else { axis };
    shape::join_dims(ir, vec![indices[along]], vec![updates[axis]], 1, 2)?;
    let others = |dims: &[Dim]| {
        let mut others = dims.to_vec();
        others[axis] = Dim::fixed(1);
        others
    };
    let mut joined = shape::join_dims(ir, others(&dims), others(&updates), 0, 2)?;
    if own.is_none() {
        joined = shape::join_dims(ir, joined, others(&indices), 0, 1)?;
    }
    joined[axis] = Dim::new(dims[axis].extent);
    shape::one(ir.tensor(joined, dtype))
}
