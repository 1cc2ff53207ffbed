//! From element types of the IR to LLVM elements.
//!
//! Registers hold a float of 16 or 8 bits as its bits (an `i16`, an `i8`), converted when arithmetic needs it; in
//! memory an `i1` is a byte. LLVM integers have no sign, so each use takes the sign from the [`DType`].

use fuser_ir::def::DTypes;
use fuser_ir::types::TypeKind;
use fuser_ir::{DType, Ir, Value};

use crate::convert::Format;
use crate::expr::Elem;

/// The maximum number of lanes of a vector value: far beyond any register, and small enough to unroll over.
pub const MAX_LANES: u64 = 1024;

/// The shape of a value in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub dtype: DType,
    /// `None` for a scalar.
    pub lanes: Option<u32>,
}

/// The shape of a scalar or vector value; `None` for anything else.
pub fn shape(ir: &Ir, value: Value) -> Option<Shape> {
    match ir.value_kind(value) {
        kind if kind.dtype().is_some_and(|d| !DTypes::KERNEL.contains(d)) => None,
        TypeKind::Scalar(dtype) => Some(Shape {
            dtype: *dtype,
            lanes: None,
        }),
        TypeKind::Vector { shape, dtype } => match shape.as_slice() {
            [lanes] if (1..=MAX_LANES).contains(lanes) => Some(Shape {
                dtype: *dtype,
                lanes: u32::try_from(*lanes).ok(),
            }),
            _ => None,
        },
        _ => None,
    }
}

/// The element type that holds a value in a register.
pub fn register(dtype: DType) -> Elem {
    match dtype {
        DType::F64 => Elem::F64,
        DType::F32 => Elem::F32,
        other => Elem::Int(other.bits()),
    }
}

/// The element type that holds a value in memory.
pub fn stored(dtype: DType) -> Elem {
    match dtype {
        DType::I1 => Elem::Int(8),
        other => register(other),
    }
}

/// The number format of an element type, as conversions see it.
pub fn format(dtype: DType) -> Format {
    match dtype {
        DType::F64 => Format::float(Elem::F64),
        DType::F32 => Format::float(Elem::F32),
        DType::F16 => Format::float(Elem::F16),
        DType::BF16 => Format::float(Elem::Bf16),
        DType::F8E4M3FN => Format::float(Elem::F8E4M3FN),
        DType::F8E5M2 => Format::float(Elem::F8E5M2),
        DType::F8E8M0FNU => Format::float(Elem::F8E8M0FNU),
        other if other.is_signed() => Format::signed(other.bits()),
        other => Format::unsigned(other.bits()),
    }
}
