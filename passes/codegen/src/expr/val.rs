//! The core of [`Val`]: types, constants, integer and bit operations, conversions, comparison, choice.

use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValueEnum, InstructionOpcode as Op};
use inkwell::{FloatPredicate, IntPredicate};

use super::{Elem, Emit, Operand, Val};
use crate::error::CodegenError;

impl<'e, 'ctx> Val<'e, 'ctx> {
    /// The LLVM value.
    pub fn raw(self) -> BasicValueEnum<'ctx> {
        self.raw
    }

    /// The module that it is built in.
    pub fn emit(self) -> &'e Emit<'ctx> {
        self.emit
    }

    /// The number of lanes; `None` for a scalar.
    pub fn lanes(self) -> Option<u32> {
        match self.raw {
            BasicValueEnum::VectorValue(v) => Some(v.get_type().get_size()),
            _ => None,
        }
    }

    fn scalar_type(self) -> BasicTypeEnum<'ctx> {
        match self.raw {
            BasicValueEnum::VectorValue(v) => v.get_type().get_element_type(),
            other => other.get_type(),
        }
    }

    /// The element type.
    pub fn elem(self) -> Elem {
        let context = self.emit.context;
        match self.scalar_type() {
            BasicTypeEnum::IntType(ty) => Elem::Int(ty.get_bit_width()),
            BasicTypeEnum::FloatType(ty) if ty == context.f16_type() => Elem::F16,
            BasicTypeEnum::FloatType(ty) if ty == context.bf16_type() => Elem::Bf16,
            BasicTypeEnum::FloatType(ty) if ty == context.f64_type() => Elem::F64,
            _ => Elem::F32,
        }
    }

    /// True if elements are `f64`.
    pub fn is_f64(self) -> bool {
        self.elem() == Elem::F64
    }

    /// The type of this shape with another element.
    pub fn shaped(self, elem: Elem) -> BasicTypeEnum<'ctx> {
        self.emit.shaped_type(elem, self.lanes())
    }

    /// A constant of this value's type.
    pub fn float(self, value: f64) -> Self {
        self.emit.constant_float(self.elem(), self.lanes(), value)
    }

    /// An integer constant of this value's type.
    pub fn int(self, value: i64) -> Self {
        self.emit
            .constant_int(self.elem().bits(), self.lanes(), value)
    }

    pub(super) fn binary(self, op: Op, other: impl Operand<'e, 'ctx>) -> Self {
        let other = other.like(self);
        if let Some(same) = self.unchanged(op, other) {
            return same;
        }
        self.emit.built(
            self.emit.builder.build_binop(op, self.raw, other.raw, ""),
            self.raw,
        )
    }

    /// The result of the integer operation `self op other` if an operand is 0, or 1 as a factor: index arithmetic often
    /// has such operands.
    fn unchanged(self, op: Op, other: Val<'e, 'ctx>) -> Option<Self> {
        let [a, b] = [self, other].map(|value| match value.raw {
            BasicValueEnum::IntValue(value) => value.get_zero_extended_constant(),
            _ => None,
        });
        match (op, a, b) {
            (Op::Add, Some(0), _) | (Op::Mul, Some(1), _) | (Op::Mul, _, Some(0)) => Some(other),
            (Op::Add | Op::Sub, _, Some(0)) | (Op::Mul, _, Some(1)) | (Op::Mul, Some(0), _) => {
                Some(self)
            }
            _ => None,
        }
    }

    /// Division: IEEE on floats, signed truncating on integers (where the divisor must not be zero, nor `MIN / -1`).
    pub fn over(self, other: impl Operand<'e, 'ctx>) -> Self {
        self.binary(
            if self.elem().is_float() {
                Op::FDiv
            } else {
                Op::SDiv
            },
            other,
        )
    }

    /// Remainder with the sign of the dividend, under the same conditions as [`Val::over`].
    pub fn remainder(self, other: impl Operand<'e, 'ctx>) -> Self {
        self.binary(
            if self.elem().is_float() {
                Op::FRem
            } else {
                Op::SRem
            },
            other,
        )
    }

    /// Unsigned division of integers by a divisor that is not zero.
    pub fn udiv(self, other: impl Operand<'e, 'ctx>) -> Self {
        self.binary(Op::UDiv, other)
    }

    /// Unsigned remainder of integers by a divisor that is not zero.
    pub fn urem(self, other: impl Operand<'e, 'ctx>) -> Self {
        self.binary(Op::URem, other)
    }

    pub fn and(self, other: impl Operand<'e, 'ctx>) -> Self {
        self.binary(Op::And, other)
    }

    pub fn or(self, other: impl Operand<'e, 'ctx>) -> Self {
        self.binary(Op::Or, other)
    }

    pub fn xor(self, other: impl Operand<'e, 'ctx>) -> Self {
        self.binary(Op::Xor, other)
    }

    /// Shifts left; the count must be below the width.
    pub fn shift_left(self, other: impl Operand<'e, 'ctx>) -> Self {
        self.binary(Op::Shl, other)
    }

    /// Shifts right, filling with zeros; the count must be below the width.
    pub fn lshr(self, other: impl Operand<'e, 'ctx>) -> Self {
        self.binary(Op::LShr, other)
    }

    /// Shifts right, filling with the sign; the count must be below the width.
    pub fn ashr(self, other: impl Operand<'e, 'ctx>) -> Self {
        self.binary(Op::AShr, other)
    }

    /// Flips every bit; logical not on `i1`.
    pub fn flip(self) -> Self {
        self.xor(-1)
    }

    fn cast(self, op: Op, elem: Elem) -> Self {
        if self.elem() == elem {
            return self;
        }
        let to = self.shaped(elem);
        self.emit
            .built(self.emit.builder.build_cast(op, self.raw, to, ""), self.raw)
    }

    /// Reinterprets the bits as an element of the same width.
    pub fn bits_as(self, elem: Elem) -> Self {
        self.cast(Op::BitCast, elem)
    }

    /// The bits as an integer of the same width.
    pub fn to_bits(self) -> Self {
        self.bits_as(Elem::Int(self.elem().bits()))
    }

    /// Reinterprets the whole value, lanes included, as another type of the same size.
    pub fn reinterpret(self, to: BasicTypeEnum<'ctx>) -> Self {
        self.emit
            .built(self.emit.builder.build_bit_cast(self.raw, to, ""), self.raw)
    }

    /// Widens or narrows an integer, extending with the sign.
    pub fn sext_or_trunc(self, bits: u32) -> Self {
        self.cast(
            if bits < self.elem().bits() {
                Op::Trunc
            } else {
                Op::SExt
            },
            Elem::Int(bits),
        )
    }

    /// Widens or narrows an integer, extending with zeros.
    pub fn zext_or_trunc(self, bits: u32) -> Self {
        self.cast(
            if bits < self.elem().bits() {
                Op::Trunc
            } else {
                Op::ZExt
            },
            Elem::Int(bits),
        )
    }

    /// Converts a signed integer, rounding to nearest even.
    pub fn signed_to_float(self, elem: Elem) -> Self {
        self.cast(Op::SIToFP, elem)
    }

    /// Converts an unsigned integer, rounding to nearest even.
    pub fn unsigned_to_float(self, elem: Elem) -> Self {
        self.cast(Op::UIToFP, elem)
    }

    /// Widens a float; exact.
    pub fn extend(self, elem: Elem) -> Self {
        self.cast(Op::FPExt, elem).fenced()
    }

    /// Narrows a float, rounding to nearest even; see `convert` for the 16-bit types.
    pub fn round_to(self, elem: Elem) -> Self {
        self.fenced().cast(Op::FPTrunc, elem)
    }

    /// This float behind a fence that hides its origin from the optimizer. LLVM 22 turns `x > 0 ? 0 : convert(x)` into
    /// a minimum, which yields 0.0 for `x = -0.0`. The fence separates a conversion from the operations on its wide
    /// result.
    fn fenced(self) -> Self {
        if self.constant().is_some() {
            return self;
        }
        match self.emit.gpu {
            Some(gpu) => gpu.fence(self),
            None => self.with_fence(),
        }
    }

    /// This float behind LLVM's own fence.
    pub fn with_fence(self) -> Self {
        let ty = [self.raw.get_type()];
        let raw = self.emit.intrinsic("llvm.arithmetic.fence", &ty, &[self]);
        raw.map_or(self, |raw| self.emit.val(raw))
    }

    fn compare(
        self,
        float: FloatPredicate,
        int: IntPredicate,
        other: impl Operand<'e, 'ctx>,
    ) -> Self {
        use BasicValueEnum::{FloatValue, IntValue, VectorValue};
        let (builder, other) = (&self.emit.builder, other.like(self));
        let result: Result<BasicValueEnum<'ctx>, CodegenError> = match (self.raw, other.raw) {
            (FloatValue(a), FloatValue(b)) => builder
                .build_float_compare(float, a, b, "")
                .map(Into::into)
                .map_err(Into::into),
            (IntValue(a), IntValue(b)) => builder
                .build_int_compare(int, a, b, "")
                .map(Into::into)
                .map_err(Into::into),
            (VectorValue(a), VectorValue(b)) if self.elem().is_float() => builder
                .build_float_compare(float, a, b, "")
                .map(Into::into)
                .map_err(Into::into),
            (VectorValue(a), VectorValue(b)) => builder
                .build_int_compare(int, a, b, "")
                .map(Into::into)
                .map_err(Into::into),
            _ => Err(CodegenError::Internal("comparison of unlike values".into())),
        };
        self.emit.built(result, self.raw)
    }

    /// Equal; false where either is NaN.
    pub fn eq(self, other: impl Operand<'e, 'ctx>) -> Self {
        self.compare(FloatPredicate::OEQ, IntPredicate::EQ, other)
    }

    /// Not equal; true where either is NaN.
    pub fn ne(self, other: impl Operand<'e, 'ctx>) -> Self {
        self.compare(FloatPredicate::UNE, IntPredicate::NE, other)
    }

    /// Less than: signed on integers, false if either float is NaN. The same holds for the next three.
    pub fn lt(self, other: impl Operand<'e, 'ctx>) -> Self {
        self.compare(FloatPredicate::OLT, IntPredicate::SLT, other)
    }

    pub fn le(self, other: impl Operand<'e, 'ctx>) -> Self {
        self.compare(FloatPredicate::OLE, IntPredicate::SLE, other)
    }

    pub fn gt(self, other: impl Operand<'e, 'ctx>) -> Self {
        self.compare(FloatPredicate::OGT, IntPredicate::SGT, other)
    }

    pub fn ge(self, other: impl Operand<'e, 'ctx>) -> Self {
        self.compare(FloatPredicate::OGE, IntPredicate::SGE, other)
    }

    /// Unsigned less, of integers.
    pub fn ult(self, other: impl Operand<'e, 'ctx>) -> Self {
        self.compare(FloatPredicate::OLT, IntPredicate::ULT, other)
    }

    /// An `i1` that is set if a float is NaN.
    pub fn is_nan(self) -> Self {
        self.unordered(self)
    }

    /// An `i1` that is set if either of two floats is NaN.
    pub fn unordered(self, other: impl Operand<'e, 'ctx>) -> Self {
        self.compare(FloatPredicate::UNO, IntPredicate::NE, other)
    }

    /// Selects, for each lane of this condition, `yes` or `no`; at least one must be a value.
    pub fn select(self, yes: Val<'e, 'ctx>, no: impl Operand<'e, 'ctx>) -> Val<'e, 'ctx> {
        let (no, builder) = (no.like(yes), &self.emit.builder);
        let result: Result<BasicValueEnum<'ctx>, CodegenError> = match self.raw {
            BasicValueEnum::IntValue(c) => builder
                .build_select(c, yes.raw, no.raw, "")
                .map_err(Into::into),
            BasicValueEnum::VectorValue(c) => builder
                .build_select(c, yes.raw, no.raw, "")
                .map_err(Into::into),
            _ => Err(CodegenError::Internal("a condition must be i1".into())),
        };
        self.emit.built(result, yes.raw)
    }

    /// This value, but `other` where the condition holds.
    pub fn except(self, condition: Val<'e, 'ctx>, other: impl Operand<'e, 'ctx>) -> Self {
        condition.select(other.like(self), self)
    }
}
