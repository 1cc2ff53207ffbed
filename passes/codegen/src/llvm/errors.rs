//! Errors that LLVM reports through its context.

use std::cell::RefCell;
use std::ffi::{CStr, c_void};
use std::ptr;

use inkwell::context::{AsContextRef, Context};
use llvm_sys::LLVMDiagnosticSeverity;
use llvm_sys::core::{
    LLVMContextSetDiagnosticHandler, LLVMDisposeMessage, LLVMGetDiagInfoDescription,
    LLVMGetDiagInfoSeverity,
};
use llvm_sys::prelude::LLVMDiagnosticInfoRef;

use crate::error::CodegenError;

/// The first error of a context.
type First = RefCell<Option<String>>;

/// Runs `run`, whose error is the first that LLVM reports to `context` meanwhile, if it reports one. Without a handler,
/// LLVM prints errors and ends the process.
pub fn caught<R>(
    context: &Context,
    run: impl FnOnce() -> Result<R, CodegenError>,
) -> Result<R, CodegenError> {
    let first = First::default();
    let place = ptr::from_ref(&first).cast_mut().cast::<c_void>();
    // SAFETY: a live context; `place` is a `First` until the handler is removed below.
    unsafe { LLVMContextSetDiagnosticHandler(context.as_ctx_ref(), Some(keep), place) };
    let result = run();
    // SAFETY: a live context; the handler is LLVM's own again.
    unsafe { LLVMContextSetDiagnosticHandler(context.as_ctx_ref(), None, ptr::null_mut()) };
    match first.into_inner() {
        Some(message) => Err(CodegenError::Internal(message)),
        None => result,
    }
}

/// Keeps the first error; warnings and remarks are dropped.
extern "C" fn keep(info: LLVMDiagnosticInfoRef, place: *mut c_void) {
    // SAFETY: LLVM passes a live diagnostic and the pointer that `caught` gave it, to a `First` that outlives the call.
    // The description is a string of LLVM's that is freed once.
    unsafe {
        if LLVMGetDiagInfoSeverity(info) != LLVMDiagnosticSeverity::LLVMDSError {
            return;
        }
        let text = LLVMGetDiagInfoDescription(info);
        let message = CStr::from_ptr(text).to_string_lossy().trim().to_owned();
        LLVMDisposeMessage(text);
        if let Ok(mut first) = (*place.cast::<First>()).try_borrow_mut() {
            first.get_or_insert(message);
        }
    }
}
