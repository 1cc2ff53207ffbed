//! AMD's GPUs: intrinsics of the AMDGPU backend, for wavefronts of 64 threads.
//!
//! Orders of memory follow LLVM's "User Guide for AMDGPU Backend", Memory Model. A barrier is a release fence of the
//! workgroup, the instruction, and an acquire fence. The counter of blocks is an atomic of the agent, which is the whole
//! GPU. LLVM generates and checks the code; no part of Fuser runs it.

use std::ffi::CStr;

use inkwell::context::AsContextRef;
use inkwell::types::BasicType;
use inkwell::values::{AsValueRef, FunctionValue, IntValue, PointerValue};
use llvm_sys::core::{LLVMBuildAtomicRMWSyncScope, LLVMBuildFenceSyncScope, LLVMGetSyncScopeID};
use llvm_sys::{LLVMAtomicOrdering as Ordering, LLVMAtomicRMWBinOp};

use super::{Gpu, Source, returns, says};
use crate::error::CodegenError;
use crate::expr::{Emit, Val};

/// The family of AMD's GPUs.
#[derive(Debug)]
pub struct Amdgpu;

const BARRIER: &str = "llvm.amdgcn.s.barrier";

/// The threads of a workgroup.
const WORKGROUP: &CStr = c"workgroup";
/// The threads of the GPU.
const AGENT: &CStr = c"agent";

impl Gpu for Amdgpu {
    fn triple(&self) -> &'static str {
        "amdgcn-amd-amdhsa"
    }

    fn convention(&self) -> u32 {
        91
    }

    fn launch_bounds(&self, emit: &Emit<'_>, function: FunctionValue<'_>, threads: u32, _: u32) {
        let size = format!("{threads},{threads}");
        says(emit, function, "amdgpu-flat-work-group-size", &size);
        says(emit, function, "uniform-work-group-size", "true");
    }

    /// LLVM itself chooses the registers of a wavefront by the threads and the static memory of its workgroup.
    fn resident_blocks(&self, _: &Emit<'_>, _: FunctionValue<'_>, _: u64) {}

    fn thread<'e, 'ctx>(&self, emit: &'e Emit<'ctx>) -> Val<'e, 'ctx> {
        word(emit, "llvm.amdgcn.workitem.id.x", &[]).zext_or_trunc(64)
    }

    fn block<'e, 'ctx>(&self, emit: &'e Emit<'ctx>) -> Val<'e, 'ctx> {
        word(emit, "llvm.amdgcn.workgroup.id.x", &[]).zext_or_trunc(64)
    }

    fn barrier(&self, emit: &Emit<'_>) {
        fence(emit, Ordering::LLVMAtomicOrderingRelease);
        emit.intrinsic(BARRIER, &[], &[]);
        returns(emit, BARRIER);
        fence(emit, Ordering::LLVMAtomicOrderingAcquire);
    }

    /// The intrinsic takes four times the number of a thread in the wavefront.
    fn shuffle<'e, 'ctx>(&self, word: Val<'e, 'ctx>, from: Source<'e, 'ctx>) -> Val<'e, 'ctx> {
        let emit = word.emit();
        let bytes = other(lane(emit), from).shift_left(2);
        self::word(emit, "llvm.amdgcn.ds.bpermute", &[bytes, word])
    }

    fn count<'e, 'ctx>(
        &self,
        place: PointerValue<'ctx>,
        last: Val<'e, 'ctx>,
    ) -> Result<Val<'e, 'ctx>, CodegenError> {
        let emit = last.emit();
        Ok(emit.val(increment(emit, place, last.raw().into_int_value())))
    }

    /// The bound of `v_rcp_f32` is known for single arguments, not proved for all.
    fn near_reciprocal<'e, 'ctx>(&self, _: Val<'e, 'ctx>) -> Option<Val<'e, 'ctx>> {
        None
    }

    /// An empty instruction on each lane. LLVM 22 has no code for `llvm.arithmetic.fence` of a value that all threads
    /// share: "illegal VGPR to SGPR copy".
    fn fence<'e, 'ctx>(&self, value: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
        value.per_lane(hidden)
    }

    /// CDNA 3 compares and selects; `v_maximum3_f32` comes with CDNA 4.
    fn has_extremes(&self) -> bool {
        false
    }

    /// CDNA 3 rounds by integers; `v_cvt_pk_bf16_f32` comes with CDNA 4.
    fn rounds_to_bf16(&self) -> bool {
        false
    }
}

/// The number of the thread from which thread `own` of a wavefront takes a value; both are `i32`.
pub fn other<'e, 'ctx>(own: Val<'e, 'ctx>, from: Source<'e, 'ctx>) -> Val<'e, 'ctx> {
    match from {
        Source::Across(distance) => own.xor(distance),
        Source::Lane { lane, width } => {
            let within = i64::from(width - 1);
            own.and(!within).or(lane.and(within))
        }
        Source::Earlier { distance, width } => {
            let first = own.and(i64::from(width - 1)).lt(distance);
            first.select(own, own + -distance)
        }
    }
}

/// An intrinsic whose result is an `i32`.
fn word<'e, 'ctx>(emit: &'e Emit<'ctx>, name: &str, args: &[Val<'e, 'ctx>]) -> Val<'e, 'ctx> {
    let result = emit.intrinsic(name, &[], args);
    result.map_or(emit.constant_int(32, None, 0), |raw| emit.val(raw))
}

/// A scalar that has passed through a vector register.
fn hidden<'e, 'ctx>(value: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let (emit, ty) = (value.emit(), value.raw().get_type());
    let of = ty.fn_type(&[ty.into()], false);
    let (text, operands) = (String::new(), "=v,0".to_owned());
    let code = (emit.context).create_inline_asm(of, text, operands, false, false, None, false);
    let call = (emit.builder).build_indirect_call(of, code, &[value.raw().into()], "");
    match call.map(|call| call.try_as_basic_value().basic()) {
        Ok(Some(result)) => emit.val(result),
        Ok(None) => value,
        Err(error) => {
            emit.fail(error);
            value
        }
    }
}

/// The number of the thread in its wavefront.
fn lane<'e, 'ctx>(emit: &'e Emit<'ctx>) -> Val<'e, 'ctx> {
    let all = emit.constant_int(32, None, -1);
    let low = word(
        emit,
        "llvm.amdgcn.mbcnt.lo",
        &[all, emit.constant_int(32, None, 0)],
    );
    word(emit, "llvm.amdgcn.mbcnt.hi", &[all, low])
}

/// LLVM's number of a set of threads.
fn scope(emit: &Emit<'_>, name: &CStr) -> u32 {
    // SAFETY: a live context, and a string with its length.
    unsafe { LLVMGetSyncScopeID(emit.context.as_ctx_ref(), name.as_ptr(), name.count_bytes()) }
}

/// Orders the accesses of the workgroup.
fn fence(emit: &Emit<'_>, ordering: Ordering) {
    if emit.builder.get_insert_block().is_none() {
        return emit.fail(CodegenError::Internal("a fence has no block".into()));
    }
    let scope = scope(emit, WORKGROUP);
    // SAFETY: the builder stands in a block, the ordering is one of a fence, and the name is a string.
    unsafe {
        LLVMBuildFenceSyncScope(emit.builder.as_mut_ptr(), ordering, scope, c"".as_ptr());
    }
}

/// Increments the word at an address, to zero from `last` on.
fn increment<'ctx>(
    emit: &Emit<'ctx>,
    place: PointerValue<'ctx>,
    last: IntValue<'ctx>,
) -> IntValue<'ctx> {
    if emit.builder.get_insert_block().is_none() {
        emit.fail(CodegenError::Internal("a count has no block".into()));
        return last;
    }
    let scope = scope(emit, AGENT);
    // SAFETY: the builder stands in a block; the operands are a pointer and an `i32` of its context; the result has the
    // type of the second one.
    unsafe {
        IntValue::new(LLVMBuildAtomicRMWSyncScope(
            emit.builder.as_mut_ptr(),
            LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpUIncWrap,
            place.as_value_ref(),
            last.as_value_ref(),
            Ordering::LLVMAtomicOrderingAcquireRelease,
            scope,
        ))
    }
}
