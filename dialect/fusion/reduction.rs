//! Ops that reduce axes. The order of a floating-point reduction is not specified; integer reductions are exact modulo
//! 2^64.

use fuser_ir::Ir;
use fuser_ir::def::{
    ClauseDef, ClauseKind, Computes, DTypes, OpClass, OpDef, OpError, OpParts, OperandDef,
    ResultDef, ResultTypes, Shape, Traits, TypeConstraint, clause, operand, optional, result,
};
use fuser_ir::types::{DType, Dim};
use smallvec::smallvec;

use super::{fold, maps, shape};

const DIMS: ClauseDef = clause(
    "dims",
    ClauseKind::I64Array,
    "the axes to reduce, ascending",
);
const KEEPDIM: ClauseDef = optional(
    "keepdim",
    ClauseKind::Unit,
    "reduced axes stay, with extent 1",
);
const FIELD: TypeConstraint = TypeConstraint::new(Shape::Tensor, DTypes::FIELD);
const ANALYTIC: TypeConstraint = TypeConstraint::new(Shape::Tensor, DTypes::ANALYTIC);
const FLOATS: TypeConstraint = TypeConstraint::new(Shape::Tensor, DTypes::FLOAT);
const FLOAT_IN: &[OperandDef] = &[operand("input", FLOATS, "the tensor")];

const ANY: TypeConstraint = TypeConstraint::new(Shape::Tensor, DTypes::COMPUTED);
const ANY_IN: &[OperandDef] = &[operand("input", ANY, "the tensor")];
const ANY_OUT: &[ResultDef] = &[result("output", ANY, "what remains")];

const REDUCTION: OpDef = OpDef {
    class: OpClass::Reduction,
    maps: Some(&maps::REDUCE),
    operands: &[operand("input", FIELD, "the tensor")],
    clauses: &[DIMS, KEEPDIM],
    results: &[result("output", FIELD, "what remains")],
    traits: Traits::PURE.union(Traits::PROPAGATES_NAN),
    flops: 1,
    infer: Some(infer_reduce),
    fold: Some(fold::reduction),
    ..OpDef::EMPTY
};

/// The ops of this table, in the order of the manual.
pub const REDUCTION_OPS: &[&OpDef] = &[
    &SUM, &PROD, &MAX, &MIN, &MAX_NUM, &MIN_NUM, &MEAN, &VAR_MEAN,
];

/// `fusion.sum`
pub static SUM: OpDef = OpDef {
    name: "fusion.sum",
    computes: Some(Computes::Add),
    summary: "sum along axes",
    doc: "Adds the elements along `dims`. Floats accumulate in f32 (f64 for f64) in an unspecified order and are rounded to \
          the element type once at the end; integers accumulate in 64 bits, wrapping, and keep their low bits at the end. An \
          empty axis gives `+0`. A `b` axis of extent n counts its element n times. `dims []` reduces nothing and gives the \
          operand.",
    example: "// %x: tensor<4x8xf32>\n%0 = fusion.sum %x dims [1] : tensor<4xf32>",
    ..REDUCTION
};

/// `fusion.prod`
pub static PROD: OpDef = OpDef {
    name: "fusion.prod",
    computes: Some(Computes::Mul),
    summary: "product along axes",
    doc: "Multiplies the elements along `dims`; accumulation, order and rounding as for `fusion.sum`. An empty axis gives 1. A \
          `b` axis of extent n counts its element n times.",
    example: "// %x: tensor<4x8xf32>\n%0 = fusion.prod %x dims [1] : tensor<4xf32>",
    ..REDUCTION
};

/// `fusion.max`
pub static MAX: OpDef = OpDef {
    name: "fusion.max",
    computes: Some(Computes::Max),
    summary: "greatest element along axes",
    doc: "The greatest element along `dims`, NaN if there is a NaN; `-0 < +0`. An empty axis gives `-inf`, or the least value \
          of an integer type. Exact, whatever the order. On `i1`, true where any element is.",
    operands: ANY_IN,
    results: ANY_OUT,
    example: "// %x: tensor<4x8xf32>\n%0 = fusion.max %x dims [1] keepdim : tensor<4x1xf32>",
    ..REDUCTION
};

/// `fusion.min`
pub static MIN: OpDef = OpDef {
    name: "fusion.min",
    computes: Some(Computes::Min),
    summary: "smallest element along axes",
    doc: "The smallest element along `dims`, NaN if there is a NaN; `-0 < +0`. An empty axis gives `+inf`, or the greatest \
          value of an integer type. Exact, whatever the order. On `i1`, true where all elements are.",
    operands: ANY_IN,
    results: ANY_OUT,
    example: "// %x: tensor<4x8xf32>\n%0 = fusion.min %x dims [0, 1] : tensor<f32>",
    ..REDUCTION
};

/// `fusion.max_num`
pub static MAX_NUM: OpDef = OpDef {
    name: "fusion.max_num",
    computes: Some(Computes::MaxNum),
    summary: "greatest element along axes, ignoring NaN",
    doc: "The greatest of the elements along `dims` that are not NaN; `-0 < +0`. Where there is none (an empty axis, nothing but \
          NaN), `-inf`. Floats only. Exact, whatever the order: elements are combined as `fusion.fmax` does it (IEEE 754-2019 \
          `maximumNumber`), from `-inf` on. `dims []` reduces nothing and gives the operand, NaN too.",
    example: "// %x: tensor<4x8xf32>\n%0 = fusion.max_num %x dims [1] : tensor<4xf32>",
    operands: FLOAT_IN,
    traits: Traits::PURE,
    ..REDUCTION
};

/// `fusion.min_num`
pub static MIN_NUM: OpDef = OpDef {
    name: "fusion.min_num",
    computes: Some(Computes::MinNum),
    summary: "smallest element along axes, ignoring NaN",
    doc: "The smallest of the elements along `dims` that are not NaN; `-0 < +0`. Where there is none (an empty axis, nothing but \
          NaN), `+inf`. Floats only. Exact, whatever the order: elements are combined as `fusion.fmin` does it (IEEE 754-2019 \
          `minimumNumber`), from `+inf` on. `dims []` reduces nothing and gives the operand, NaN too.",
    example: "// %x: tensor<4x8xf32>\n%0 = fusion.min_num %x dims [1] : tensor<4xf32>",
    operands: FLOAT_IN,
    traits: Traits::PURE,
    ..REDUCTION
};

/// `fusion.mean`
pub static MEAN: OpDef = OpDef {
    name: "fusion.mean",
    computes: Some(Computes::Composite),
    summary: "mean along axes",
    doc: "`sum(x) / n` with n elements along `dims`, both computed in f32 (f64 for f64), and rounded to the element type once; `n = 0` \
          gives NaN. Complex: of each part. Floats and complex numbers only. The order of the sum is not specified. `dims []` reduces nothing and gives the operand.",
    example: "// %x: tensor<4x8xf32>\n%0 = fusion.mean %x dims [1] : tensor<4xf32>",
    operands: &[operand("input", ANALYTIC, "the tensor")],
    results: &[result("output", ANALYTIC, "the mean")],
    flops: 2,
    traits: REDUCTION.traits.union(Traits::APPROXIMATE),
    ..REDUCTION
};

/// `fusion.var_mean`
pub static VAR_MEAN: OpDef = OpDef {
    name: "fusion.var_mean",
    computes: Some(Computes::Composite),
    summary: "variance and mean along axes",
    doc: "With n elements along `dims`: `mean = sum(x) / n` and `var = sum((x - mean)^2) / (n - correction)`, both computed in \
          f32 (f64 for f64) from the unrounded mean, and rounded to the element type once. `n <= correction` makes the variance \
          NaN; `n = 0` makes both NaN. The order of the sums is not specified. Complex: the mean part by part, and the sum of the variances of the parts, which is real.",
    example: "// %x: tensor<4x8xf32>\n%var, %mean = fusion.var_mean %x dims [1] correction 1 : tensor<4xf32>, tensor<4xf32>",
    operands: &[operand("input", ANALYTIC, "the tensor")],
    clauses: &[
        DIMS,
        clause(
            "correction",
            ClauseKind::Int,
            "what is taken off the count: 0, or 1 for the unbiased estimate",
        ),
        KEEPDIM,
    ],
    results: &[
        result("var", FLOATS, "the variance"),
        result("mean", ANALYTIC, "the mean"),
    ],
    flops: 4,
    infer: Some(infer_var_mean),
    fold: None,
    traits: REDUCTION.traits.union(Traits::APPROXIMATE),
    ..REDUCTION
};

fn reduced(ir: &Ir, parts: OpParts<'_>) -> Result<(Vec<Dim>, DType), OpError> {
    let (dims, dtype) = shape::tensor(ir, parts, 0)?;
    let reduced = shape::axes(ir, parts, "dims", dims.len())?;
    let keep = shape::flag(ir, parts, "keepdim");
    let mut rest = Vec::with_capacity(dims.len());
    for (axis, dim) in dims.into_iter().enumerate() {
        match (reduced.contains(&axis), keep) {
            (false, _) => rest.push(dim),
            (true, true) => rest.push(Dim::fixed(1)),
            (true, false) => {}
        }
    }
    Ok((rest, dtype))
}

fn infer_reduce(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let (dims, dtype) = reduced(ir, parts)?;
    shape::one(ir.tensor(dims, dtype))
}

fn infer_var_mean(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let (dims, dtype) = reduced(ir, parts)?;
    let var = ir.tensor(dims.clone(), dtype.part());
    Ok(smallvec![var, ir.tensor(dims, dtype)])
}
