//! Expressions over LLVM values that read like arithmetic: what the math library and the lowering are written in.
//!
//! A [`Val`] is an SSA value, scalar or vector, with the [`Emit`] that builds into the current block. Operators follow
//! the element type: `+` on floats is `fadd`, on integers `add` (wrapping). Constants splat themselves.
//!
//! Building never fails where it is written: the first failure is kept and [`Emit::finish`] returns it. All floating
//! point is strict: no fast-math flag is ever set here.

use std::cell::RefCell;
use std::ops::{Add, Mul, Neg, Sub};

use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::intrinsics::Intrinsic;
use inkwell::module::Module;
use inkwell::types::{BasicTypeEnum, FloatType, IntType};
use inkwell::values::{
    BasicMetadataValueEnum, BasicValueEnum, FunctionValue, InstructionOpcode as Op, PhiValue,
    ValueKind,
};
use inkwell::{FloatPredicate, IntPredicate};

use crate::error::CodegenError;

/// The element type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Elem {
    F16,
    Bf16,
    F32,
    F64,
    /// An integer of this many bits; LLVM's integers carry no sign.
    Int(u32),
}

impl Elem {
    /// Whether arithmetic on it is floating point.
    pub fn is_float(self) -> bool {
        !matches!(self, Elem::Int(_))
    }

    /// Width in bits.
    pub fn bits(self) -> u32 {
        match self {
            Elem::F16 | Elem::Bf16 => 16,
            Elem::F32 => 32,
            Elem::F64 => 64,
            Elem::Int(bits) => bits,
        }
    }
}

/// A module under construction and the place where instructions go.
#[derive(Debug)]
pub struct Emit<'ctx> {
    pub context: &'ctx Context,
    pub module: Module<'ctx>,
    pub builder: Builder<'ctx>,
    /// Whether the module is for NVPTX, where a few operations are spelled differently.
    pub gpu: bool,
    failure: RefCell<Option<CodegenError>>,
}

/// A value and the place where instructions on it go.
#[derive(Clone, Copy, Debug)]
pub struct Val<'e, 'ctx> {
    emit: &'e Emit<'ctx>,
    raw: BasicValueEnum<'ctx>,
}

/// What may stand on the right of an operator: a value, or a constant that splats to the left side's type.
pub trait Operand<'e, 'ctx> {
    fn like(self, model: Val<'e, 'ctx>) -> Val<'e, 'ctx>;
}

impl<'e, 'ctx> Operand<'e, 'ctx> for Val<'e, 'ctx> {
    fn like(self, _model: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
        self
    }
}

impl<'e, 'ctx> Operand<'e, 'ctx> for f64 {
    fn like(self, model: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
        model.float(self)
    }
}

impl<'e, 'ctx> Operand<'e, 'ctx> for i64 {
    fn like(self, model: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
        model.int(self)
    }
}

impl<'ctx> Emit<'ctx> {
    /// An empty module of this name.
    pub fn new(context: &'ctx Context, name: &str, gpu: bool) -> Self {
        let (module, builder) = (context.create_module(name), context.create_builder());
        Emit {
            context,
            module,
            builder,
            gpu,
            failure: RefCell::new(None),
        }
    }

    /// The first failure since the last call, if there was one.
    pub fn finish(&self) -> Result<(), CodegenError> {
        self.failure.borrow_mut().take().map_or(Ok(()), Err)
    }

    /// Keeps a failure for [`Emit::finish`].
    pub fn fail(&self, error: impl Into<CodegenError>) {
        self.failure.borrow_mut().get_or_insert(error.into());
    }

    /// Gives a raw value the operators.
    pub fn val(&self, raw: impl Into<BasicValueEnum<'ctx>>) -> Val<'_, 'ctx> {
        Val {
            emit: self,
            raw: raw.into(),
        }
    }

    /// The value that was built, or a stand-in once something failed.
    fn built<'e, E: Into<CodegenError>>(
        &'e self,
        result: Result<BasicValueEnum<'ctx>, E>,
        stand_in: BasicValueEnum<'ctx>,
    ) -> Val<'e, 'ctx> {
        let raw = result.unwrap_or_else(|error| {
            self.fail(error);
            stand_in
        });
        Val { emit: self, raw }
    }

    /// LLVM's scalar type for an element.
    pub fn scalar_type(&self, elem: Elem) -> BasicTypeEnum<'ctx> {
        match elem {
            Elem::Int(bits) => self.int_type(bits).into(),
            float => self.float_type(float).into(),
        }
    }

    fn int_type(&self, bits: u32) -> IntType<'ctx> {
        match bits {
            1 => self.context.bool_type(),
            8 => self.context.i8_type(),
            16 => self.context.i16_type(),
            32 => self.context.i32_type(),
            64 => self.context.i64_type(),
            _ => self.context.i128_type(),
        }
    }

    fn float_type(&self, elem: Elem) -> FloatType<'ctx> {
        match elem {
            Elem::F16 => self.context.f16_type(),
            Elem::Bf16 => self.context.bf16_type(),
            Elem::F64 => self.context.f64_type(),
            _ => self.context.f32_type(),
        }
    }

    /// LLVM's type for `lanes` elements: a scalar where `lanes` is `None`.
    pub fn shaped_type(&self, elem: Elem, lanes: Option<u32>) -> BasicTypeEnum<'ctx> {
        match (self.scalar_type(elem), lanes) {
            (scalar, None) => scalar,
            (BasicTypeEnum::IntType(ty), Some(lanes)) => ty.vec_type(lanes).into(),
            (BasicTypeEnum::FloatType(ty), Some(lanes)) => ty.vec_type(lanes).into(),
            (other, _) => other,
        }
    }

    /// A constant of this shape.
    pub fn constant_int(&self, bits: u32, lanes: Option<u32>, value: i64) -> Val<'_, 'ctx> {
        let scalar = self.int_type(bits).const_int(value as u64, true);
        self.val(splat_constant(scalar.into(), lanes))
    }

    /// A constant of this shape, rounded to the element type to nearest even.
    pub fn constant_float(&self, elem: Elem, lanes: Option<u32>, value: f64) -> Val<'_, 'ctx> {
        let scalar = self.float_type(elem).const_float(value);
        self.val(splat_constant(scalar.into(), lanes))
    }

    /// Calls a function with a result.
    pub fn call(
        &self,
        function: FunctionValue<'ctx>,
        args: &[Val<'_, 'ctx>],
    ) -> Option<BasicValueEnum<'ctx>> {
        let args: Vec<BasicMetadataValueEnum> = args.iter().map(|arg| arg.raw.into()).collect();
        let call = match self.builder.build_call(function, &args, "") {
            Ok(call) => call,
            Err(error) => {
                self.fail(error);
                return None;
            }
        };
        match call.try_as_basic_value() {
            ValueKind::Basic(value) => Some(value),
            ValueKind::Instruction(_) => None,
        }
    }

    /// Calls an intrinsic, overloaded on `types`; a name that LLVM does not know is a failure, not an external call.
    pub fn intrinsic(
        &self,
        name: &str,
        types: &[BasicTypeEnum<'ctx>],
        args: &[Val<'_, 'ctx>],
    ) -> Option<BasicValueEnum<'ctx>> {
        let declared =
            Intrinsic::find(name).and_then(|found| found.get_declaration(&self.module, types));
        match declared {
            Some(function) => self.call(function, args),
            None => {
                self.fail(CodegenError::Internal(format!("no intrinsic `{name}`")));
                None
            }
        }
    }

    /// The function that the builder stands in.
    pub fn function(&self) -> Option<FunctionValue<'ctx>> {
        self.builder
            .get_insert_block()
            .and_then(BasicBlock::get_parent)
    }

    /// Appends a block to the current function.
    pub fn block(&self, name: &str) -> Option<BasicBlock<'ctx>> {
        let function = self.function();
        if function.is_none() {
            self.fail(CodegenError::Internal(
                "no function to put a block in".into(),
            ));
        }
        function.map(|function| self.context.append_basic_block(function, name))
    }

    /// `usually`, or where `rare` (an `i1`) holds, what `handle` makes of it in a block of its own.
    pub fn unless_rare<'e>(
        &'e self,
        rare: Val<'e, 'ctx>,
        usually: Val<'e, 'ctx>,
        handle: impl FnOnce() -> Val<'e, 'ctx>,
    ) -> Val<'e, 'ctx> {
        let (Some(before), Some(slow), Some(done)) = (
            self.builder.get_insert_block(),
            self.block("rare"),
            self.block("usual"),
        ) else {
            return usually;
        };
        let result = (|| {
            self.builder
                .build_conditional_branch(rare.raw.into_int_value(), slow, done)?;
            self.builder.position_at_end(slow);
            let handled = handle();
            let slow_end = self.builder.get_insert_block().unwrap_or(slow);
            self.builder.build_unconditional_branch(done)?;
            self.builder.position_at_end(done);
            let phi = self.builder.build_phi(usually.raw.get_type(), "")?;
            phi.add_incoming(&[(&usually.raw, before), (&handled.raw, slow_end)]);
            Ok::<_, CodegenError>(phi.as_basic_value())
        })();
        self.built(result, usually.raw)
    }

    /// A phi of this type at the builder's place.
    pub fn phi(&self, ty: BasicTypeEnum<'ctx>) -> Result<PhiValue<'ctx>, CodegenError> {
        Ok(self.builder.build_phi(ty, "")?)
    }
}

fn splat_constant<'ctx>(scalar: BasicValueEnum<'ctx>, lanes: Option<u32>) -> BasicValueEnum<'ctx> {
    use inkwell::types::VectorType;
    match lanes {
        None => scalar,
        Some(lanes) => VectorType::const_vector(&vec![scalar; lanes as usize]).into(),
    }
}

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

    /// Whether elements are `f64`.
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

    fn binary(self, op: Op, other: impl Operand<'e, 'ctx>) -> Self {
        let other = other.like(self);
        self.emit.built(
            self.emit.builder.build_binop(op, self.raw, other.raw, ""),
            self.raw,
        )
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
        self.cast(Op::FPExt, elem)
    }

    /// Narrows a float, rounding to nearest even; see `convert` for the 16-bit types.
    pub fn round_to(self, elem: Elem) -> Self {
        self.cast(Op::FPTrunc, elem)
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

    /// Less; signed on integers, false where either is NaN. The same holds of the next three.
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

    /// Whether a float is NaN.
    pub fn is_nan(self) -> Self {
        self.compare(FloatPredicate::UNO, IntPredicate::NE, self)
    }

    /// Per lane of this condition, `yes` or `no`; at least one must be a value.
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

    fn unary_intrinsic(self, name: &str, others: &[Val<'e, 'ctx>]) -> Self {
        let args: Vec<Val<'e, 'ctx>> = std::iter::once(self)
            .chain(others.iter().copied())
            .collect();
        let result = self.emit.intrinsic(name, &[self.raw.get_type()], &args);
        Val {
            emit: self.emit,
            raw: result.unwrap_or(self.raw),
        }
    }

    /// `self * a + b`, rounded once.
    pub fn fma(self, a: impl Operand<'e, 'ctx>, b: impl Operand<'e, 'ctx>) -> Self {
        self.unary_intrinsic("llvm.fma", &[a.like(self), b.like(self)])
    }

    pub fn abs(self) -> Self {
        self.unary_intrinsic("llvm.fabs", &[])
    }

    pub fn sqrt(self) -> Self {
        self.unary_intrinsic("llvm.sqrt", &[])
    }

    pub fn floor(self) -> Self {
        self.unary_intrinsic("llvm.floor", &[])
    }

    pub fn ceil(self) -> Self {
        self.unary_intrinsic("llvm.ceil", &[])
    }

    pub fn trunc(self) -> Self {
        self.unary_intrinsic("llvm.trunc", &[])
    }

    /// Rounds to an integral value, ties to even.
    pub fn round_even(self) -> Self {
        self.unary_intrinsic("llvm.roundeven", &[])
    }

    /// This magnitude with the sign of `sign`.
    pub fn copysign(self, sign: impl Operand<'e, 'ctx>) -> Self {
        self.unary_intrinsic("llvm.copysign", &[sign.like(self)])
    }

    /// The number of zero bits above the highest one; the width, for zero.
    pub fn leading_zeros(self) -> Self {
        self.unary_intrinsic("llvm.ctlz", &[self.emit.constant_int(1, None, 0)])
    }

    /// The greater of two signed integers.
    pub fn smax(self, other: impl Operand<'e, 'ctx>) -> Self {
        self.unary_intrinsic("llvm.smax", &[other.like(self)])
    }

    /// The lesser of two signed integers.
    pub fn smin(self, other: impl Operand<'e, 'ctx>) -> Self {
        self.unary_intrinsic("llvm.smin", &[other.like(self)])
    }

    /// An intrinsic of two operands of one type, such as `llvm.maximum`.
    pub fn intrinsic2(self, name: &str, other: impl Operand<'e, 'ctx>) -> Self {
        self.unary_intrinsic(name, &[other.like(self)])
    }

    /// No more than `high` and no less than `low`; NaN stays NaN.
    pub fn clamp(self, low: f64, high: f64) -> Self {
        let below = self.except(self.gt(high), high);
        below.except(self.lt(low), low)
    }

    /// Horner's rule with fused steps; `coefficients` start at the constant term.
    pub fn poly(self, coefficients: &[f64]) -> Self {
        let mut rest = coefficients.iter().rev();
        let mut sum = self.float(rest.next().copied().unwrap_or(0.0));
        for &c in rest {
            sum = sum.fma(self, c);
        }
        sum
    }

    /// An `i1`: whether any lane of this condition holds.
    pub fn any(self) -> Self {
        match self.lanes() {
            None => self,
            Some(_) => self.reduce_with("llvm.vector.reduce.or"),
        }
    }

    /// Folds the lanes of a vector with a reduction intrinsic of one operand.
    pub fn reduce_with(self, name: &str) -> Self {
        let result = self.emit.intrinsic(name, &[self.raw.get_type()], &[self]);
        Val {
            emit: self.emit,
            raw: result.unwrap_or(self.raw),
        }
    }

    /// One lane of a vector; a scalar is its own only lane.
    pub fn lane(self, index: u32) -> Self {
        let BasicValueEnum::VectorValue(vector) = self.raw else {
            return self;
        };
        let at = self
            .emit
            .context
            .i32_type()
            .const_int(u64::from(index), false);
        self.emit.built(
            self.emit.builder.build_extract_element(vector, at, ""),
            self.raw,
        )
    }

    /// This vector with one lane replaced; a scalar is replaced whole.
    pub fn with_lane(self, index: u32, value: Val<'e, 'ctx>) -> Self {
        let BasicValueEnum::VectorValue(vector) = self.raw else {
            return value;
        };
        let at = self
            .emit
            .context
            .i32_type()
            .const_int(u64::from(index), false);
        let result = self
            .emit
            .builder
            .build_insert_element(vector, value.raw, at, "")
            .map(Into::into);
        self.emit.built(result, self.raw)
    }

    /// `count` consecutive lanes of a vector, as a vector.
    pub fn slice(self, from: u32, count: u32) -> Self {
        self.shuffle((from..from + count).collect())
    }

    /// This vector with one more lane at its end.
    pub fn append(self, value: Val<'e, 'ctx>) -> Self {
        let count = self.lanes().unwrap_or(1);
        // Lanes from `count` on come from the second operand of the shuffle, which is poison: written right after.
        self.shuffle((0..=count).collect()).with_lane(count, value)
    }

    fn shuffle(self, lanes: Vec<u32>) -> Self {
        let BasicValueEnum::VectorValue(vector) = self.raw else {
            return self;
        };
        let word = self.emit.context.i32_type();
        let lanes: Vec<_> = lanes
            .into_iter()
            .map(|lane| word.const_int(u64::from(lane), false))
            .collect();
        let mask = inkwell::types::VectorType::const_vector(&lanes);
        let poison = vector.get_type().get_poison();
        let result = self
            .emit
            .builder
            .build_shuffle_vector(vector, poison, mask, "")
            .map(Into::into);
        self.emit.built(result, self.raw)
    }

    /// This scalar in every lane.
    pub fn splat(self, lanes: Option<u32>) -> Self {
        let Some(count) = lanes else { return self };
        let poison = match self.emit.shaped_type(self.elem(), lanes) {
            BasicTypeEnum::VectorType(ty) => self.emit.val(ty.get_poison()),
            _ => return self,
        };
        let first = poison.with_lane(0, self);
        let (BasicValueEnum::VectorValue(a), BasicValueEnum::VectorValue(b)) =
            (first.raw, poison.raw)
        else {
            return self;
        };
        let mask = self.emit.context.i32_type().vec_type(count).const_zero();
        let result = self
            .emit
            .builder
            .build_shuffle_vector(a, b, mask, "")
            .map(Into::into);
        self.emit.built(result, self.raw)
    }

    /// Applies a scalar function to the pairs of lanes of two values of one shape.
    pub fn zip_lanes(
        self,
        other: Val<'e, 'ctx>,
        function: impl Fn(Val<'e, 'ctx>, Val<'e, 'ctx>) -> Val<'e, 'ctx>,
    ) -> Self {
        let Some(lanes) = self.lanes() else {
            return function(self, other);
        };
        (0..lanes).fold(self, |result, index| {
            result.with_lane(index, function(self.lane(index), other.lane(index)))
        })
    }

    /// Applies a scalar function to every lane.
    pub fn per_lane(self, function: impl Fn(Val<'e, 'ctx>) -> Val<'e, 'ctx>) -> Self {
        let Some(lanes) = self.lanes() else {
            return function(self);
        };
        let mut result: Option<Val<'e, 'ctx>> = None;
        for index in 0..lanes {
            let value = function(self.lane(index));
            let into = result.unwrap_or_else(|| value.emit.undefined(value.elem(), Some(lanes)));
            result = Some(into.with_lane(index, value));
        }
        result.unwrap_or(self)
    }
}

impl<'ctx> Emit<'ctx> {
    /// A value whose lanes are all to be written before they are read.
    pub fn undefined(&self, elem: Elem, lanes: Option<u32>) -> Val<'_, 'ctx> {
        match self.shaped_type(elem, lanes) {
            BasicTypeEnum::VectorType(ty) => self.val(ty.get_poison()),
            other => self.val(other.const_zero()),
        }
    }
}

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
