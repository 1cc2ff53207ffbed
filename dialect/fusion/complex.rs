//! Complex numbers: ops that build them from two reals, split them and conjugate them. All other ops on complex numbers
//! are in the tables of their real forms.
//!
//! An element is a real part `a` and an imaginary part `b`, stored in this order as NumPy and PyTorch do. An op on
//! complex numbers is defined by a formula in real ops, each of which rounds, so that it means the same in the
//! interpreter and in kernels, which know pairs of reals only (`--split-complex`).

use fuser_ir::Ir;
use fuser_ir::def::{
    At, DTypes, OpDef, OpError, OpParts, OperandDef, ResultTypes, Traits, operand,
};

use super::codes::COMPLEX_VALUE;
use super::elementwise::*;
use super::shape;

/// f32 and f64: the types of a part.
pub const PARTS: DTypes = DTypes::of(&[fuser_ir::DType::F32, fuser_ir::DType::F64]);

/// The ops of this table, in the order of the manual.
pub const COMPLEX_OPS: &[&OpDef] = &[&COMPLEX, &REAL, &IMAG, &CONJ];

const COMPLEX_IN: &[OperandDef] = &[operand("input", ew(DTypes::COMPLEX), "a complex number")];
const NAN: Traits = ELEMENTWISE.traits.union(Traits::PROPAGATES_NAN);

/// `fusion.complex`
pub static COMPLEX: OpDef = OpDef {
    name: "fusion.complex",
    summary: "a complex number of two parts",
    doc: "The number with real part `real` and imaginary part `imaginary`, bit for bit. Constants are made so, too: no attribute has \
          complex elements.",
    example: "// %a: tensor<4xf32>, %b: tensor<4xf32>\n%0 = fusion.complex %a, %b : tensor<4xcomplex<f32>>",
    operands: &[
        operand("real", ew(PARTS), "the real part"),
        operand("imaginary", ew(PARTS), "the imaginary part"),
    ],
    flops: 0,
    infer: Some(infer_complex),
    ..ELEMENTWISE
};

/// `fusion.real`
pub static REAL: OpDef = OpDef {
    name: "fusion.real",
    summary: "real part",
    doc: "The real part, bit for bit.",
    example: "// %x: tensor<4xcomplex<f32>>\n%0 = fusion.real %x : tensor<4xf32>",
    operands: COMPLEX_IN,
    flops: 0,
    infer: Some(infer_part),
    ..ELEMENTWISE
};

/// `fusion.imag`
pub static IMAG: OpDef = OpDef {
    name: "fusion.imag",
    summary: "imaginary part",
    doc: "The imaginary part, bit for bit.",
    example: "// %x: tensor<4xcomplex<f32>>\n%0 = fusion.imag %x : tensor<4xf32>",
    operands: COMPLEX_IN,
    flops: 0,
    infer: Some(infer_part),
    ..ELEMENTWISE
};

/// `fusion.conj`
pub static CONJ: OpDef = OpDef {
    name: "fusion.conj",
    summary: "complex conjugate",
    doc: "`a - ib`: flips the sign bit of the imaginary part.",
    example: "// %x: tensor<4xcomplex<f32>>\n%0 = fusion.conj %x : tensor<4xcomplex<f32>>",
    operands: COMPLEX_IN,
    traits: NAN,
    ..ELEMENTWISE
};

fn infer_complex(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let dtype = shape::same_dtype(ir, parts.operands, 0)?;
    let none = || OpError::at(At::Operand(0), "is no part of a complex number");
    let dtype = dtype.complex().ok_or_else(none)?;
    let form = shape::join(ir, parts.operands)?;
    shape::one(form.with(ir, dtype))
}

/// Common shape, and the element type of the parts.
pub fn infer_part(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let dtype = shape::same_dtype(ir, parts.operands, 0)?;
    let form = shape::join(ir, parts.operands)?;
    shape::one(form.with(ir, dtype.part()))
}

/// Refuses a cast from complex to real, which would lose a part.
pub fn keeps_parts(from: fuser_ir::DType, to: fuser_ir::DType) -> Result<(), OpError> {
    if !from.is_complex() || to.is_complex() {
        return Ok(());
    }
    let text = format!(
        "a {} is no {}: its imaginary part would vanish",
        from.name(),
        to.name()
    );
    let help = "take what is meant: `fusion.real`, `fusion.imag`, `fusion.abs`, `fusion.compare %x, %zero predicate ne`";
    Err(OpError::at(At::Clause("to"), text)
        .code(&COMPLEX_VALUE)
        .help(help))
}
