//! Operands, constraints and type inference that all elementwise ops share.

use fuser_ir::Ir;
use fuser_ir::def::{
    DTypes, OpClass, OpDef, OpError, OpParts, OperandDef, ResultDef, ResultTypes, Shape, Traits,
    TypeConstraint, operand, result,
};
use fuser_ir::types::DType;

use super::{maps, shape};

/// Integers that are numbers and have bits to shift: all but `i1`.
pub const SHIFTABLE: DTypes = DTypes::INTEGRAL.without(DType::I1);

/// Tensor, vector or scalar of these element types.
pub const fn ew(dtypes: DTypes) -> TypeConstraint {
    TypeConstraint::new(Shape::Elementwise, dtypes)
}

/// The one result of an elementwise op.
pub const OUTPUT: &[ResultDef] = &[result(
    "output",
    ew(DTypes::ANY),
    "the common shape of the operands",
)];
/// One float operand.
pub const FLOAT_IN: &[OperandDef] = &[operand("input", ew(DTypes::FLOAT), "a float")];
/// One float or complex operand.
pub const ANALYTIC_IN: &[OperandDef] = &[operand(
    "input",
    ew(DTypes::ANALYTIC),
    "a float or a complex number",
)];
/// One operand that adds and multiplies.
pub const FIELD_IN: &[OperandDef] = &[operand("input", ew(DTypes::FIELD), "a number")];
/// Two operands that add and multiply.
pub const FIELD_PAIR: &[OperandDef] = &[
    operand("lhs", ew(DTypes::FIELD), "left operand"),
    operand("rhs", ew(DTypes::FIELD), "right operand"),
];
/// Two float or complex operands.
pub const ANALYTIC_PAIR: &[OperandDef] = &[
    operand("lhs", ew(DTypes::ANALYTIC), "left operand"),
    operand("rhs", ew(DTypes::ANALYTIC), "right operand"),
];
/// One operand that has arithmetic and an order.
pub const NUMERIC_IN: &[OperandDef] = &[operand("input", ew(DTypes::NUMERIC), "a number")];
/// One integer operand.
pub const INTEGRAL_IN: &[OperandDef] = &[operand(
    "input",
    ew(DTypes::INTEGRAL),
    "an integer or truth value",
)];
/// Two operands that have arithmetic.
pub const NUMERIC_PAIR: &[OperandDef] = &[
    operand("lhs", ew(DTypes::NUMERIC), "left operand"),
    operand("rhs", ew(DTypes::NUMERIC), "right operand"),
];
/// Two operands that have an order.
pub const ANY_PAIR: &[OperandDef] = &[
    operand("lhs", ew(DTypes::COMPUTED), "left operand"),
    operand("rhs", ew(DTypes::COMPUTED), "right operand"),
];
/// Two float operands.
pub const FLOAT_PAIR: &[OperandDef] = &[
    operand("lhs", ew(DTypes::FLOAT), "left operand"),
    operand("rhs", ew(DTypes::FLOAT), "right operand"),
];
/// Two float operands that compute in their own type.
pub const WIDE_FLOAT_PAIR: &[OperandDef] = &[
    operand(
        "lhs",
        ew(DTypes::of(&[DType::F64, DType::F32])),
        "left operand",
    ),
    operand(
        "rhs",
        ew(DTypes::of(&[DType::F64, DType::F32])),
        "right operand",
    ),
];
/// Two integer operands.
pub const INTEGRAL_PAIR: &[OperandDef] = &[
    operand("lhs", ew(DTypes::INTEGRAL), "left operand"),
    operand("rhs", ew(DTypes::INTEGRAL), "right operand"),
];
/// Two integer operands that are numbers.
pub const COUNT_PAIR: &[OperandDef] = &[
    operand("lhs", ew(SHIFTABLE), "left operand"),
    operand("rhs", ew(SHIFTABLE), "right operand"),
];
/// A value and a shift count.
pub const SHIFT_PAIR: &[OperandDef] = &[
    operand("lhs", ew(SHIFTABLE), "what is shifted"),
    operand("rhs", ew(SHIFTABLE), "by how many bits"),
];

/// The base of every elementwise table.
pub const ELEMENTWISE: OpDef = OpDef {
    class: OpClass::Elementwise,
    maps: Some(&maps::POINTWISE),
    results: OUTPUT,
    traits: Traits::PURE.union(Traits::ELEMENTWISE),
    flops: 1,
    infer: Some(infer_same),
    ..OpDef::EMPTY
};

/// Common shape, common element type.
pub fn infer_same(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let dtype = shape::same_dtype(ir, parts.operands, 0)?;
    let form = shape::join(ir, parts.operands)?;
    shape::one(form.with(ir, dtype))
}

/// Common shape, `i1`.
pub fn infer_test(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    shape::same_dtype(ir, parts.operands, 0)?;
    let form = shape::join(ir, parts.operands)?;
    shape::one(form.with(ir, DType::I1))
}
