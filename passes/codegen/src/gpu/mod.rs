//! Families of GPUs: the instructions in which they differ, a file or a folder for each family.
//!
//! Kernels of all families have the same form: a block of threads for each iteration of the grid, warps of
//! [`WARP`] threads that exchange registers, barriers, shared memory, a counter of the blocks that are done. Everything
//! else in this crate asks the [`Gpu`] of the module for these. LLVM gives NVPTX and AMDGPU the same numbers for global,
//! shared and constant memory.

pub mod amdgpu;
mod nvptx;

use std::fmt::Debug;

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Module;
use inkwell::values::{FunctionValue, PointerValue};

use crate::error::CodegenError;
use crate::expr::{Emit, Val};
use crate::math::Unary;
pub use amdgpu::Amdgpu;
pub use nvptx::Nvptx;
pub(crate) use nvptx::product;

/// Threads that exchange registers. A wavefront of 64 threads holds two such groups.
pub const WARP: u32 = fuser_dialects::kernel::WARP as u32;

/// LLVM's number of global memory.
pub const GLOBAL_SPACE: u16 = 1;
/// LLVM's number of shared memory.
pub const SHARED_SPACE: u16 = 3;
/// LLVM's number of constant memory.
pub const CONSTANT_SPACE: u16 = 4;

/// The thread of a warp from which a thread takes a value.
#[derive(Clone, Copy, Debug)]
pub enum Source<'e, 'ctx> {
    /// The thread whose number differs in the bits of this distance.
    Across(i64),
    /// Thread `lane` (i32) among `width` adjacent threads, a power of two; bits of `lane` from `width` on are ignored.
    Lane { lane: Val<'e, 'ctx>, width: u32 },
    /// The thread `distance` positions earlier among `width` adjacent threads, a power of two. The first `distance`
    /// threads keep their own value.
    Earlier { distance: i64, width: u32 },
}

/// A family of GPUs.
pub trait Gpu: Debug + Sync {
    /// LLVM's triple.
    fn triple(&self) -> &'static str;
    /// LLVM's number of the calling convention of kernels.
    fn convention(&self) -> u32;
    /// Tells LLVM the number of threads of a block, and of blocks of a cluster.
    fn launch_bounds(
        &self,
        emit: &Emit<'_>,
        function: FunctionValue<'_>,
        threads: u32,
        cluster: u32,
    );
    /// Requests that so many blocks fit on a multiprocessor.
    fn resident_blocks(&self, emit: &Emit<'_>, function: FunctionValue<'_>, blocks: u64);
    /// The number of the thread in its block, `i64`.
    fn thread<'e, 'ctx>(&self, emit: &'e Emit<'ctx>) -> Val<'e, 'ctx>;
    /// The number of the block, `i64`. A launch has exactly as many blocks as its kernel requires.
    fn block<'e, 'ctx>(&self, emit: &'e Emit<'ctx>) -> Val<'e, 'ctx>;
    /// Waits for all threads of the block; what they stored before is visible after.
    fn barrier(&self, emit: &Emit<'_>);
    /// The `i32` that another thread of the warp passes for `word`.
    fn shuffle<'e, 'ctx>(&self, word: Val<'e, 'ctx>, from: Source<'e, 'ctx>) -> Val<'e, 'ctx>;
    /// True if the greatest and the least `i32` of a warp are an instruction.
    fn has_warp_extremes(&self) -> bool {
        false
    }
    /// The greatest or least `i32` of a warp, by that instruction.
    fn warp_extreme<'e, 'ctx>(&self, word: Val<'e, 'ctx>, _greatest: bool) -> Val<'e, 'ctx> {
        word
    }
    /// Waits for all threads of all blocks of the cluster. Kernels with clusters are refused for a family without them.
    fn cluster_barrier(&self, _emit: &Emit<'_>) {}
    /// Shared memory of this block, as it is in block number `rank` of its cluster.
    fn in_block<'ctx>(
        &self,
        _emit: &Emit<'ctx>,
        room: PointerValue<'ctx>,
        _rank: Val<'_, 'ctx>,
    ) -> PointerValue<'ctx> {
        room
    }
    /// Increments the `i32` at a global address, to zero from `last` on, and returns the value before. What the block
    /// stored before is visible to the block that sees `last`.
    fn count<'e, 'ctx>(
        &self,
        place: PointerValue<'ctx>,
        last: Val<'e, 'ctx>,
    ) -> Result<Val<'e, 'ctx>, CodegenError>;
    /// The reciprocal of an f32 that is not subnormal and has no subnormal reciprocal, within 1 ulp, in one
    /// instruction; `None` if such an instruction is not known to have that bound.
    fn near_reciprocal<'e, 'ctx>(&self, x: Val<'e, 'ctx>) -> Option<Val<'e, 'ctx>>;
    /// A float behind a fence that hides its origin from the optimizer.
    fn fence<'e, 'ctx>(&self, value: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
        value.with_fence()
    }
    /// The approximation of the function `name` for f32, where the instruction set has one.
    fn approximation(&self, _name: &str) -> Option<Unary> {
        None
    }
    /// `a / b` of f32 within 2 ulp, where that takes fewer instructions than a division.
    fn near_quotient<'e, 'ctx>(&self, a: Val<'e, 'ctx>, b: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
        a.over(b)
    }
    /// Rewrites instructions of an optimized module for which LLVM has no code.
    fn repair(&self, _module: &Module<'_>) -> Result<(), CodegenError> {
        Ok(())
    }
    /// True if the maximum and the minimum of f32 that keep NaN are instructions.
    fn has_extremes(&self) -> bool;
    /// True if rounding an f32 to bf16 is an instruction.
    fn rounds_to_bf16(&self) -> bool;
}

/// Declares that an intrinsic returns, since all threads reach it. Code after it in a loop is then known to execute, so
/// LLVM can hoist loop-invariant loads.
fn returns(emit: &Emit<'_>, name: &str) {
    if let Some(function) = emit.module.get_function(name) {
        let kind = Attribute::get_named_enum_kind_id("willreturn");
        let attribute = emit.context.create_enum_attribute(kind, 0);
        function.add_attribute(AttributeLoc::Function, attribute);
    }
}

/// Sets an attribute of a function to a text.
fn says(emit: &Emit<'_>, function: FunctionValue<'_>, key: &str, text: &str) {
    let attribute = emit.context.create_string_attribute(key, text);
    function.add_attribute(AttributeLoc::Function, attribute);
}
