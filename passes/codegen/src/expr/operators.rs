//! Operators `+`, `-` and `*` on [`Val`]: floating point or wrapping, by the element type.

use std::ops::{Add, Mul, Neg, Sub};

use inkwell::values::{BasicValueEnum, FastMathFlags, InstructionOpcode as Op};

use super::{Elem, Operand, Val};
use crate::error::CodegenError;

/// The sign of each byte of a word.
const SIGNS: i64 = 0x8080_8080_u32 as i32 as i64;

impl<'e, 'ctx> Val<'e, 'ctx> {
    /// The sum or the difference of bytes, four at a time in a word, since a GPU has no byte arithmetic. `None` if the
    /// lanes do not fill whole words.
    fn by_words(self, other: Self, adds: bool) -> Option<Self> {
        let lanes = self.lanes().filter(|lanes| lanes.is_multiple_of(4))?;
        if !self.emit.has_threads() || self.elem() != Elem::Int(8) {
            return None;
        }
        let count = (lanes > 4).then_some(lanes / 4);
        let words = self.emit.shaped_type(Elem::Int(32), count);
        let [a, b] = [self, other].map(|value| value.reinterpret(words));
        // Without its sign no byte hands anything on to the next one.
        let (rest, signs) = match adds {
            true => (a.and(!SIGNS) + b.and(!SIGNS), a.xor(b)),
            false => (a.or(SIGNS) - b.and(!SIGNS), a.xor(b).flip()),
        };
        let whole = rest.xor(signs.and(SIGNS));
        Some(whole.reinterpret(self.raw.get_type()))
    }
}

impl<'e, 'ctx> Val<'e, 'ctx> {
    /// Marks this sum, difference or product as contractible, if the target requests it: a product may be fused with a
    /// sum, with one rounding for both. Operations inside math functions are never marked, because their error bounds
    /// assume each rounding.
    pub fn contracted(self) -> Self {
        use BasicValueEnum::{FloatValue, VectorValue};
        let made = match self.raw {
            _ if !self.emit.contract || !matches!(self.elem(), Elem::F32 | Elem::F64) => None,
            FloatValue(value) => value.as_instruction(),
            VectorValue(value) => value.as_instruction(),
            _ => None,
        };
        let contract = FastMathFlags::AllowContract;
        if let Some(Err(error)) = made.map(|made| made.set_fast_math_flags(contract)) {
            self.emit.fail(CodegenError::internal(error));
        }
        self
    }
}

impl<'e, 'ctx, O: Operand<'e, 'ctx>> Add<O> for Val<'e, 'ctx> {
    type Output = Self;
    fn add(self, other: O) -> Self {
        let other = other.like(self);
        let op = match self.elem().is_float() {
            true => Op::FAdd,
            false => Op::Add,
        };
        let words = self.by_words(other, true);
        words.unwrap_or_else(|| self.binary(op, other))
    }
}

impl<'e, 'ctx, O: Operand<'e, 'ctx>> Sub<O> for Val<'e, 'ctx> {
    type Output = Self;
    fn sub(self, other: O) -> Self {
        let other = other.like(self);
        let op = match self.elem().is_float() {
            true => Op::FSub,
            false => Op::Sub,
        };
        let words = self.by_words(other, false);
        words.unwrap_or_else(|| self.binary(op, other))
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
