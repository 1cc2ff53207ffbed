//! Tensors of random numbers: functions of a seed, an offset and the index of each element, so that programs stay pure.
//!
//! Each element has its own block: the block of `fusion.philox` at the element's row-major position in the result. So
//! numbers do not depend on schedules, threads and devices, and can be recomputed anywhere.

use fuser_ir::Ir;
use fuser_ir::def::{
    At, ClauseDef, ClauseKind, Computes, DTypes, OpClass, OpDef, OpError, OpParts, OperandDef,
    ResultTypes, Shape, Traits, TypeConstraint, clause, operand, result,
};
use fuser_ir::types::DType;

use super::codes::*;
use super::creation::plain_shape;
use super::{maps, shape};

const KEY: TypeConstraint = TypeConstraint::new(Shape::TensorOrScalar, DTypes::of(&[DType::I64]));
const PROBABILITY: TypeConstraint = TypeConstraint::new(Shape::TensorOrScalar, DTypes::FLOAT);
const SEED: OperandDef = operand("seed", KEY, "scalar or rank-0 tensor: the key");
const OFFSET: OperandDef = operand(
    "offset",
    KEY,
    "scalar or rank-0 tensor: another one gives other numbers",
);
const SHAPE: ClauseDef = clause("shape", ClauseKind::Extents, "the extents of the result");
const OF: ClauseDef = clause("of", ClauseKind::DType, "the element type: a float");
const FLOATS: TypeConstraint = TypeConstraint::new(Shape::Tensor, DTypes::FLOAT);
const TRUTHS: TypeConstraint = TypeConstraint::new(Shape::Tensor, DTypes::BOOL);

const RANDOM: OpDef = OpDef {
    class: OpClass::Creation,
    computes: Some(Computes::Composite),
    maps: Some(&maps::CREATE),
    operands: &[SEED, OFFSET],
    clauses: &[SHAPE, OF],
    results: &[result("output", FLOATS, "the numbers")],
    traits: Traits::PURE,
    infer: Some(infer_floats),
    ..OpDef::EMPTY
};

/// The ops of this table, in the order of the manual.
pub const RANDOM_OPS: &[&OpDef] = &[&UNIFORM, &NORMAL, &BERNOULLI];

/// `fusion.uniform`
pub static UNIFORM: OpDef = OpDef {
    name: "fusion.uniform",
    summary: "random numbers, evenly distributed from 0 to 1",
    doc: "Multiples of `2^-k` from 0 on and below 1, each as likely: `k` is the number of bits of the type's significand, 53 for f64, 24 \
          for f32, 11 for f16, 8 for bf16. An element is the upper `k` bits of word `x` of its block, times `2^-k`; in f64 the upper 27 \
          bits of word `x` with the upper 26 bits of word `y` below them. The block is that of `fusion.philox` at the element's row-major \
          position, `seed` and `offset`. Exact: the same bits everywhere. Numbers from `a` to `b` are `a + (b - a) * u`.",
    example: "// %seed: i64, %offset: i64\n%0 = fusion.uniform %seed, %offset shape [4, 8] of f32 : tensor<4x8xf32>",
    flops: 110,
    ..RANDOM
};

/// `fusion.normal`
pub static NORMAL: OpDef = OpDef {
    name: "fusion.normal",
    summary: "random numbers, normally distributed around 0 with variance 1",
    doc: "`sqrt(-2 * log(u)) * cos(c * v)` (Box and Muller), each op as it is defined, `c` the number nearest to 2 pi, all in f32 (f64 for \
          f64) and rounded to the element type once. `v` is made as by `fusion.uniform`, from word `y` of the element's block (f64: from \
          words `z` and `w`), `u` likewise from word `x` (f64: from words `x` and `y`), but with its last bit set: it is neither 0 nor 1. \
          So no number is beyond 5.77 (f64: 8.58). Numbers of mean `m` and deviation `s` are `m + s * z`.",
    example: "// %seed: i64, %offset: i64\n%0 = fusion.normal %seed, %offset shape [4, 8] of f32 : tensor<4x8xf32>",
    flops: 140,
    traits: RANDOM.traits.union(Traits::APPROXIMATE),
    ..RANDOM
};

/// `fusion.bernoulli`
pub static BERNOULLI: OpDef = OpDef {
    name: "fusion.bernoulli",
    summary: "random truth values, true with a given probability",
    doc: "`u < p`, `u` as `fusion.uniform` makes it of the same seed and offset, in f32 (f64 where `p` is). So `p` of 1 and more is always \
          true; 0, less and NaN never are. Where each element has a probability of its own: `fusion.compare` with a `fusion.uniform`.",
    example: "// %p: f32, %seed: i64, %offset: i64\n%0 = fusion.bernoulli %p, %seed, %offset shape [4, 8] : tensor<4x8xi1>",
    operands: &[
        operand("p", PROBABILITY, "scalar or rank-0 tensor: the probability"),
        SEED,
        OFFSET,
    ],
    clauses: &[SHAPE],
    results: &[result("output", TRUTHS, "the truth values")],
    flops: 110,
    infer: Some(infer_truths),
    ..RANDOM
};

fn infer_floats(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let dtype = shape::dtype_clause(ir, parts, "of")?;
    infer_random(ir, parts, dtype)
}

fn infer_truths(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    infer_random(ir, parts, DType::I1)
}

/// A tensor of the clause `shape`; operands have one element.
fn infer_random(ir: &mut Ir, parts: OpParts<'_>, dtype: DType) -> Result<ResultTypes, OpError> {
    for index in 0..parts.operands.len() {
        let (dims, _) = shape::tensor(ir, parts, index)?;
        if !dims.is_empty() {
            let text = format!("must be a scalar or have rank 0, has {} axes", dims.len());
            return Err(OpError::at(At::Operand(index), text).code(&BAD_SHAPE));
        }
    }
    let dims = plain_shape(ir, parts)?;
    shape::one(ir.tensor(dims, dtype))
}
