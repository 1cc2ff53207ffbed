//! `+`, `-` and `*` on [`Val`]: floating point or wrapping, by the element type.

use std::ops::{Add, Mul, Neg, Sub};

use inkwell::values::{BasicValueEnum, InstructionOpcode as Op};

use super::{Operand, Val};

impl<'e, 'ctx, O: Operand<'e, 'ctx>> Add<O> for Val<'e, 'ctx> {
    type Output = Self;
    fn add(self, other: O) -> Self {
        self.binary(
            if self.elem().is_float() {
                Op::FAdd
            } else {
                Op::Add
            },
            other,
        )
    }
}

impl<'e, 'ctx, O: Operand<'e, 'ctx>> Sub<O> for Val<'e, 'ctx> {
    type Output = Self;
    fn sub(self, other: O) -> Self {
        self.binary(
            if self.elem().is_float() {
                Op::FSub
            } else {
                Op::Sub
            },
            other,
        )
    }
}

impl<'e, 'ctx, O: Operand<'e, 'ctx>> Mul<O> for Val<'e, 'ctx> {
    type Output = Self;
    fn mul(self, other: O) -> Self {
        self.binary(
            if self.elem().is_float() {
                Op::FMul
            } else {
                Op::Mul
            },
            other,
        )
    }
}

impl<'e, 'ctx> Neg for Val<'e, 'ctx> {
    type Output = Self;
    fn neg(self) -> Self {
        if !self.elem().is_float() {
            return self.int(0) - self;
        }
        use BasicValueEnum::{FloatValue, VectorValue};
        let builder = &self.emit.builder;
        let result = match self.raw {
            FloatValue(v) => builder.build_float_neg(v, "").map(Into::into),
            VectorValue(v) => builder.build_float_neg(v, "").map(Into::into),
            other => Ok(other),
        };
        self.emit.built(result, self.raw)
    }
}
