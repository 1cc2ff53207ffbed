//! Attention: values weighted by the softmax of the products of queries and keys.

use fuser_ir::attr::AttrKind;
use fuser_ir::def::{
    At, ClauseKind, Computes, DTypes, OpClass, OpDef, OpError, OpParts, OperandDef, Placement,
    ResultDef, ResultTypes, Shape, Traits, TypeConstraint, optional, result, results,
};
use fuser_ir::describe;
use fuser_ir::types::{DType, Dim, Extent};
use fuser_ir::{Ir, Op};

use super::codes::{BAD_CONSTANT, BAD_SHAPE, DTYPES_DISAGREE, EXTENTS_DISAGREE};
use super::{maps, shape};

const FLOATS: TypeConstraint = TypeConstraint::new(Shape::Tensor, DTypes::FLOAT);
const SCORES: TypeConstraint = TypeConstraint::new(
    Shape::Tensor,
    DTypes::of(&[DType::F64, DType::F32, DType::F16, DType::BF16, DType::I1]),
);

const fn in_memory(name: &'static str, ty: TypeConstraint, doc: &'static str) -> OperandDef {
    OperandDef {
        name,
        ty,
        variadic: false,
        placement: Placement::Memory,
        doc,
    }
}

/// The ops of this table, in the order of the manual.
pub const ATTENTION_OPS: &[&OpDef] = &[&SDPA];

/// `fusion.sdpa`
pub static SDPA: OpDef = OpDef {
    name: "fusion.sdpa",
    class: OpClass::Attention,
    computes: Some(Computes::Composite),
    summary: "scaled dot-product attention",
    doc: "Result element `[..., s, e]` is the sum over t of `p[..., s, t] * v[..., t, e]`, where the weights `p[..., s, ...]` are the softmax \
          along t of the scores `scale * (sum over d of q[..., s, d] * k[..., t, d])`. The axes before the last two are batch axes, the same in \
          `q`, `k` and `v`; heads that share keys and values are operands with `b` axes, as `fusion.broadcast` makes them. `scale` is a float; \
          without a type it has that of the elements, and left out it is `1 / sqrt(D)` in the type that accumulates (1 where there is no d). \
          A `bias` of `q`'s element type is added to the scores; one of `i1` leaves out the keys where it is false. \
          `causal` leaves out the keys with `t > s`. The weight of a key that is left out is 0.\n\n\
          A row whose scores are all `-inf`, that leaves out all keys, or that has none, gives 0. Otherwise with m the greatest score `p` is \
          `exp(score - m)` divided by the sum of all; a NaN among the scores, or `+inf`, gives NaN in the whole row. Where an element of `v` is no \
          finite number and its weight is 0 or not above `2^-126`, its products are NaN, infinite or 0. All is computed in f32 (f64 for f64) and \
          rounded to the element type once. The sums come in any order and are divided before or behind the sum over t, and a weight may be computed from a \
          smaller m and corrected when a greater one is met, as is done where no row is ever held whole: with T keys an exponential is within \
          `(4 + T/16 + 2 |score - m|) u` of itself, u the half unit of that type, besides the error of `exp` and that of the score.\n\n\
          With `logsumexp` there is a second result, in the type that accumulates: for each query the logarithm of the sum over t of `exp(score)`, \
          `-inf` where all keys are left out, which gradients are computed from.\n\n\
          No axis of a result is a `b` axis. Attention is one call of an executor, which holds no matrix of scores, or is taken apart by `--decompose`.",
    example: "// %q: tensor<8x[S]x64xbf16>, %k: tensor<8x[T]x64xbf16>, %v: tensor<8x[T]x64xbf16>\n\
              %0 = fusion.sdpa %q, %k, %v causal : tensor<8x[S]x64xbf16>",
    operands: &[
        in_memory("q", FLOATS, "queries: `[..., S, D]`"),
        in_memory("k", FLOATS, "keys: `[..., T, D]`"),
        in_memory("v", FLOATS, "values: `[..., T, E]`"),
        OperandDef {
            variadic: true,
            ..in_memory("bias", SCORES, "`[..., S, T]` or `[S, T]`, at most one")
        },
    ],
    clauses: &[
        optional("scale", ClauseKind::Number, "the factor of the scores"),
        optional(
            "causal",
            ClauseKind::Unit,
            "keys behind their query are left out",
        ),
        optional(
            "logsumexp",
            ClauseKind::Unit,
            "the logarithms of the sums are a result",
        ),
    ],
    results: &[
        ResultDef {
            placement: Placement::Memory,
            ..result("output", FLOATS, "the weighted values: `[..., S, E]`")
        },
        ResultDef {
            placement: Placement::Memory,
            ..results(
                "sums",
                FLOATS,
                "the logarithms of the sums: `[..., S]`; only with `logsumexp`",
            )
        },
    ],
    traits: Traits::PURE.union(Traits::APPROXIMATE),
    flops: 4,
    maps: Some(&maps::SDPA),
    infer: Some(infer),
    ..OpDef::EMPTY
};

/// The clause `scale`; none where it follows from the keys.
pub fn scale_of(ir: &Ir, op: Op) -> Option<f64> {
    match ir.attr_of(op, "scale") {
        Some(AttrKind::Float { bits, .. }) => Some(f64::from_bits(*bits)),
        _ => None,
    }
}

fn infer(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let dtype = shape::same_dtype(ir, &parts.operands[..parts.operands.len().min(3)], 0)?;
    let scale = parts.attr(ir, "scale").map(|attr| ir.attr_kind(attr));
    if scale.is_some_and(|scale| !matches!(scale, AttrKind::Float { .. })) {
        let error = OpError::at(At::Clause("scale"), "is no float").code(&BAD_CONSTANT);
        return Err(error.help("write a number of a float type: `0.125 : f32`"));
    }
    let (q, k, v) = (
        matrices(ir, parts, 0)?,
        matrices(ir, parts, 1)?,
        matrices(ir, parts, 2)?,
    );
    let rank = q.len();
    for (index, own) in [(1, &k), (2, &v)] {
        if own.len() != rank {
            return Err(ranks(index, own.len(), rank));
        }
        batch(ir, (index, own), &q)?;
    }
    same(ir, (1, rank - 1), (&k, &q), (0, rank - 1))?;
    same(ir, (2, rank - 2), (&v, &k), (1, rank - 2))?;
    if parts.operands.len() > 4 {
        let text = "is one too many: there is one bias";
        return Err(OpError::at(At::Operand(4), text));
    }
    if parts.operands.len() == 4 {
        bias(ir, parts, dtype, &q, &k)?;
    }
    let own = [&q[..rank - 1], &v[rank - 1..]].concat();
    let plain: Vec<Dim> = own.iter().map(|dim| Dim::new(dim.extent)).collect();
    let sums = shape::flag(ir, parts, "logsumexp")
        .then(|| ir.tensor(plain[..rank - 1].to_vec(), dtype.accumulate()));
    let weighted = ir.tensor(plain, dtype);
    Ok([weighted].into_iter().chain(sums).collect())
}

/// Checks the bias.
fn bias(ir: &Ir, parts: OpParts<'_>, dtype: DType, q: &[Dim], k: &[Dim]) -> Result<(), OpError> {
    let own = matrices(ir, parts, 3)?;
    let (rank, last) = (q.len(), own.len() - 1);
    if own.len() != rank && own.len() != 2 {
        return Err(ranks(3, own.len(), rank));
    }
    if own.len() == rank {
        batch(ir, (3, &own), q)?;
    }
    same(ir, (3, last - 1), (&own, q), (0, rank - 2))?;
    same(ir, (3, last), (&own, k), (1, rank - 2))?;
    let found = shape::dtype_of(ir, parts.operands[3], 3)?;
    if found == dtype || found == DType::I1 {
        return Ok(());
    }
    let text = format!("has {}, the queries have {}", found.name(), dtype.name());
    let error = OpError::at(At::Operand(3), text).code(&DTYPES_DISAGREE);
    Err(error.help("cast it, or give a mask of i1"))
}

/// The axes of operand `index`, two at least.
fn matrices(ir: &Ir, parts: OpParts<'_>, index: usize) -> Result<Vec<Dim>, OpError> {
    let (dims, _) = shape::tensor(ir, parts, index)?;
    if dims.len() >= 2 {
        return Ok(dims);
    }
    let text = format!("has {} axes, must have 2 or more", dims.len());
    Err(OpError::at(At::Operand(index), text).code(&BAD_SHAPE))
}

fn ranks(index: usize, found: usize, wanted: usize) -> OpError {
    let text = format!("has {found} axes, the queries have {wanted}");
    let error = OpError::at(At::Operand(index), text).code(&EXTENTS_DISAGREE);
    error.help("add the missing axes with `fusion.broadcast`")
}

/// Checks that the batch axes of an operand equal those of the queries.
fn batch(ir: &Ir, (index, own): (usize, &[Dim]), q: &[Dim]) -> Result<(), OpError> {
    (0..q.len() - 2).try_for_each(|axis| same(ir, (index, axis), (own, q), (0, axis)))
}

/// Checks that two axes of operands have equal extents; each is given as operand and axis.
fn same(
    ir: &Ir,
    own: (usize, usize),
    (dims, others): (&[Dim], &[Dim]),
    wanted: (usize, usize),
) -> Result<(), OpError> {
    let (extent, other) = (dims[own.1].extent, others[wanted.1].extent);
    if shape::agree(extent, other) {
        return Ok(());
    }
    for (place, extent) in [(wanted, other), (own, extent)] {
        if extent == Extent::Unknown {
            return Err(shape::unknown(At::Operand(place.0), place.1));
        }
    }
    let (found, needed) = (describe::extent(ir, extent), describe::extent(ir, other));
    let text = format!(
        "axis {} has extent {found}, axis {} of operand {} has {needed}",
        own.1, wanted.1, wanted.0
    );
    Err(OpError::at(At::Operand(own.0), text).code(&EXTENTS_DISAGREE))
}
