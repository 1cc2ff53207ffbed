//! Errors that LLVM reports through its context.

use std::cell::RefCell;
use std::ffi::{CStr, c_void};
use std::ptr;

use inkwell::context::{AsContextRef, Context};
use llvm_sys::core::{
    LLVMContextGetDiagnosticContext, LLVMContextGetDiagnosticHandler,
    LLVMContextSetDiagnosticHandler, LLVMDisposeMessage, LLVMGetDiagInfoDescription,
    LLVMGetDiagInfoSeverity,
};
use llvm_sys::prelude::{LLVMContextRef, LLVMDiagnosticInfoRef};
use llvm_sys::{LLVMDiagnosticHandler, LLVMDiagnosticSeverity};

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
    let of = context.as_ctx_ref();
    // SAFETY: a live context. `Before` sets its handler again before `first` goes, even where `run` unwinds.
    let before = unsafe {
        let before = Before {
            context: of,
            handler: LLVMContextGetDiagnosticHandler(of),
            place: LLVMContextGetDiagnosticContext(of),
        };
        LLVMContextSetDiagnosticHandler(of, Some(keep), place);
        before
    };
    let result = run();
    drop(before);
    match first.into_inner() {
        Some(message) => Err(CodegenError::Internal(message)),
        None => result,
    }
}

/// The handler that a context had.
struct Before {
    context: LLVMContextRef,
    handler: LLVMDiagnosticHandler,
    place: *mut c_void,
}

impl Drop for Before {
    fn drop(&mut self) {
        // SAFETY: the context outlives `caught`, which makes and drops this.
        unsafe { LLVMContextSetDiagnosticHandler(self.context, self.handler, self.place) }
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
