//! Expressions over LLVM values that read like arithmetic, for the math library and the lowering.
//!
//! A [`Val`] is an SSA value, scalar or vector, with the [`Emit`] that builds into the current block. Operators follow
//! the element type: `+` on floats is `fadd`, on integers `add` (wrapping). Constants splat themselves.
//!
//! Building never fails where it is written: the first failure is kept and [`Emit::finish`] returns it. All floating
//! point is strict: no fast-math flag is ever set here.

mod float;
mod lanes;
mod operators;
mod transpose;
mod val;

use std::cell::RefCell;

use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::intrinsics::Intrinsic;
use inkwell::module::Module;
use inkwell::types::{BasicTypeEnum, FloatType, IntType};
use inkwell::values::{
    BasicMetadataValueEnum, BasicValueEnum, FunctionValue, InstructionValue, PhiValue, ValueKind,
};

use crate::cpu::x86::X86;
use crate::error::CodegenError;
use crate::gpu::Gpu;
use crate::math::Unary;
use crate::target::Target;
pub use transpose::transposed;

/// The element type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Elem {
    F16,
    Bf16,
    /// Floats of 8 bits. LLVM has no such type, so their values are integers.
    F8E4M3FN,
    F8E5M2,
    F8E8M0FNU,
    F32,
    F64,
    /// An integer of this many bits; LLVM's integers carry no sign.
    Int(u32),
}

impl Elem {
    /// True if arithmetic on it is floating point.
    pub fn is_float(self) -> bool {
        !matches!(self, Elem::Int(_))
    }

    /// Width in bits.
    pub fn bits(self) -> u32 {
        match self {
            Elem::F8E4M3FN | Elem::F8E5M2 | Elem::F8E8M0FNU => 8,
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
    /// The instructions of a GPU, if the module is for one: its code runs on the threads of a block.
    pub gpu: Option<&'static dyn Gpu>,
    /// True if the target adds, multiplies and compares bf16.
    pub has_bf16: bool,
    /// True if elementary functions of f32 may be the approximations of a GPU.
    pub approximate: bool,
    /// True if products may be fused into sums: see [`Val::contracted`].
    pub contract: bool,
    /// The features of the x86 processor, if the module is for one.
    pub x86: Option<X86>,
    failure: RefCell<Option<CodegenError>>,
}

/// A value and the place where instructions on it go.
#[derive(Clone, Copy, Debug)]
pub struct Val<'e, 'ctx> {
    pub(crate) emit: &'e Emit<'ctx>,
    pub(crate) raw: BasicValueEnum<'ctx>,
}

/// The right operand of an operator: a value, or a constant that is splatted to the type of the left operand.
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
    /// An empty module of this name, for `target`.
    pub fn new(context: &'ctx Context, name: &str, target: &Target) -> Self {
        let (module, builder) = (context.create_module(name), context.create_builder());
        Emit {
            context,
            module,
            builder,
            gpu: target.gpu(),
            has_bf16: target.has_bf16(),
            approximate: false,
            contract: false,
            x86: target.x86(),
            failure: RefCell::new(None),
        }
    }

    /// A unique name for a symbol of the module. Modules of several kernels may share a file of PTX: the kernel's name
    /// distinguishes their symbols, and the point distinguishes them from kernels.
    pub fn own_name(&self, name: &str) -> String {
        format!("{}.{name}", self.module.get_name().to_string_lossy())
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
    pub(crate) fn built<'e, E: Into<CodegenError>>(
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
            Elem::F8E4M3FN | Elem::F8E5M2 | Elem::F8E8M0FNU => self.int_type(8).into(),
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

    /// Calls an intrinsic, overloaded on `types`. A name unknown to LLVM is an error, never an external call.
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

    /// The numbers of a vector's lanes, integers of so many bits.
    pub fn lane_numbers(&self, bits: u32, lanes: u32) -> Val<'_, 'ctx> {
        let zero = self.constant_int(bits, Some(lanes), 0);
        (0..lanes).fold(zero, |numbers, lane| {
            numbers.with_lane(lane, self.constant_int(bits, None, i64::from(lane)))
        })
    }

    /// True if the code runs on the threads of a block.
    pub fn has_threads(&self) -> bool {
        self.gpu.is_some()
    }

    /// True if the maximum and the minimum that keep NaN are instructions, as on AArch64 and on some GPUs.
    pub fn has_extremes(&self) -> bool {
        self.x86.is_none() && self.gpu.is_none_or(|gpu| gpu.has_extremes())
    }

    /// The approximation of the function `name` for elements of type `elem`, if there is one and the target requests
    /// it.
    pub fn approximation(&self, name: &str, elem: Elem) -> Option<Unary> {
        let wanted = self.approximate && elem != Elem::F64;
        self.gpu.filter(|_| wanted)?.approximation(name)
    }

    /// The number of the thread in its block, `i64`; 0 on a CPU.
    pub fn thread_number(&self) -> Val<'_, 'ctx> {
        self.gpu
            .map_or(self.constant_int(64, None, 0), |gpu| gpu.thread(self))
    }

    /// The number of the block, `i64`; 0 on a CPU.
    pub fn block_number(&self) -> Val<'_, 'ctx> {
        self.gpu
            .map_or(self.constant_int(64, None, 0), |gpu| gpu.block(self))
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

    /// Continues in `block`. On a GPU the block moves behind all others, because that backend never inverts branches:
    /// blocks stay in the order of emission, and each falls through to the next.
    pub fn begin(&self, block: BasicBlock<'ctx>) {
        let last = block
            .get_parent()
            .and_then(FunctionValue::get_last_basic_block);
        if let Some(last) = last.filter(|&last| self.has_threads() && last != block) {
            // Fails for a block without a function only.
            let _ = block.move_after(last);
        }
        self.builder.position_at_end(block);
    }

    /// `usually`, or the result of `handle` if `rare` (an `i1`) holds. `handle` runs in a separate block.
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
            let branch =
                self.builder
                    .build_conditional_branch(rare.raw.into_int_value(), slow, done)?;
            self.expect_otherwise(branch)?;
            self.begin(slow);
            let handled = handle();
            let slow_end = self.builder.get_insert_block().unwrap_or(slow);
            self.builder.build_unconditional_branch(done)?;
            self.begin(done);
            let phi = self.builder.build_phi(usually.raw.get_type(), "")?;
            phi.add_incoming(&[(&usually.raw, before), (&handled.raw, slow_end)]);
            Ok::<_, CodegenError>(phi.as_basic_value())
        })();
        self.built(result, usually.raw)
    }

    /// Marks the second target of a conditional branch as the likely one. A CPU then falls through to it, and LLVM does
    /// not turn the branch into a select.
    fn expect_otherwise(&self, branch: InstructionValue<'ctx>) -> Result<(), CodegenError> {
        let (context, word) = (self.context, self.context.i32_type());
        let name = context.metadata_string("branch_weights").into();
        let weights = [1, 1 << 20].map(|weight| word.const_int(weight, false).into());
        let node = context.metadata_node(&[name, weights[0], weights[1]]);
        branch
            .set_metadata(node, context.get_kind_id("prof"))
            .map_err(CodegenError::internal)
    }

    /// The value of `then` if `condition` (an `i1`) holds, else that of `otherwise`; each is computed in separate
    /// blocks.
    pub fn either<'e>(
        &'e self,
        condition: Val<'e, 'ctx>,
        then: impl FnOnce() -> Val<'e, 'ctx>,
        otherwise: impl FnOnce() -> Val<'e, 'ctx>,
    ) -> Val<'e, 'ctx> {
        let (Some(yes), Some(no), Some(done)) =
            (self.block("then"), self.block("else"), self.block("merge"))
        else {
            return then();
        };
        let branch = self
            .builder
            .build_conditional_branch(condition.raw.into_int_value(), yes, no);
        if let Err(error) = branch {
            self.fail(error);
        }
        let (a, from_a) = self.arm(yes, done, then);
        let (b, from_b) = self.arm(no, done, otherwise);
        self.begin(done);
        let phi = self.phi(a.raw.get_type()).map(|phi| {
            phi.add_incoming(&[(&a.raw, from_a), (&b.raw, from_b)]);
            phi.as_basic_value()
        });
        self.built(phi, a.raw)
    }

    /// Fills `block` with the code of `make` and a branch to `done`. Returns the value and the last block of the code.
    fn arm<'e>(
        &'e self,
        block: BasicBlock<'ctx>,
        done: BasicBlock<'ctx>,
        make: impl FnOnce() -> Val<'e, 'ctx>,
    ) -> (Val<'e, 'ctx>, BasicBlock<'ctx>) {
        self.begin(block);
        let value = make();
        let end = self.builder.get_insert_block().unwrap_or(block);
        if let Err(error) = self.builder.build_unconditional_branch(done) {
            self.fail(error);
        }
        (value, end)
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

impl<'ctx> Emit<'ctx> {
    /// A value of which nothing is read before it is written.
    pub fn undefined(&self, elem: Elem, lanes: Option<u32>) -> Val<'_, 'ctx> {
        match self.shaped_type(elem, lanes) {
            BasicTypeEnum::VectorType(ty) => self.val(ty.get_poison()),
            BasicTypeEnum::IntType(ty) => self.val(ty.get_poison()),
            BasicTypeEnum::FloatType(ty) => self.val(ty.get_poison()),
            other => self.val(other.const_zero()),
        }
    }
}
