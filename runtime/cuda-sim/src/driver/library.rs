//! The entry points of cuBLASLt that the runtime calls. They are part of the driver's library, and active only if the
//! options enable them: otherwise `cublasLtCreate` fails.

use std::ffi::c_void;

use super::{Error, State, bytes, call, handle, pointer, put};
use crate::cublaslt::{Algorithm, Described, Layout, Multiply, Operation, Preference, Status};
use crate::device::{Failure, Work};

type Result<T, E = Status> = std::result::Result<T, E>;

impl From<Failure> for Status {
    fn from(failure: Failure) -> Self {
        match failure.code {
            crate::finding::Code::InvalidValue => Status::InvalidValue,
            _ => Status::ExecutionFailed,
        }
    }
}

impl Error for Status {
    fn code(self, _state: &mut State) -> u32 {
        self as u32
    }
}

/// The result of `cublasLtMatmulAlgoGetHeuristic` (`cublasLtMatmulHeuristicResult_t`).
#[repr(C)]
pub struct Choice {
    algorithm: [u64; 8],
    workspace: usize,
    state: u32,
    waves: f32,
    reserved: [i32; 4],
}

fn is_operation(described: &Described) -> bool {
    matches!(described, Described::Operation(Operation { .. }))
}

fn is_layout(described: &Described) -> bool {
    matches!(described, Described::Layout(Layout { .. }))
}

fn is_preference(described: &Described) -> bool {
    matches!(described, Described::Preference(Preference { .. }))
}

entry_points! {
    Status;
    /// Starts the library for the device whose context is current.
    fn cublasLtCreate(state, to: *mut *mut c_void) {
        let there = state.context().is_ok() && state.options.cublaslt;
        there.then_some(()).ok_or(Status::NotInitialized)?;
        Ok(put(to, pointer(state.library.add(Described::Library)))?)
    }
    /// Ends the library.
    fn cublasLtDestroy(state, library: *mut c_void) {
        state.library.remove(handle(library), |described| matches!(described, Described::Library))
    }
    /// A new operation.
    fn cublasLtMatmulDescCreate(state, to: *mut *mut c_void, compute: u32, scale: u32) {
        let operation = state.library.operation(compute, scale)?;
        Ok(put(to, pointer(operation))?)
    }
    /// Sets an attribute of an operation.
    fn cublasLtMatmulDescSetAttribute(
        state, operation: *mut c_void, attribute: u32, from: *const c_void, size: usize
    ) {
        state.library.set(handle(operation), is_operation, attribute, bytes(from, size)?)
    }
    /// Ends an operation.
    fn cublasLtMatmulDescDestroy(state, operation: *mut c_void) {
        state.library.remove(handle(operation), is_operation)
    }
    /// A new matrix.
    fn cublasLtMatrixLayoutCreate(state, to: *mut *mut c_void, dtype: u32, rows: u64, columns: u64, apart: i64) {
        let layout = state.library.layout(dtype, rows, columns, apart)?;
        Ok(put(to, pointer(layout))?)
    }
    /// Sets an attribute of a matrix.
    fn cublasLtMatrixLayoutSetAttribute(
        state, layout: *mut c_void, attribute: u32, from: *const c_void, size: usize
    ) {
        state.library.set(handle(layout), is_layout, attribute, bytes(from, size)?)
    }
    /// Ends a matrix.
    fn cublasLtMatrixLayoutDestroy(state, layout: *mut c_void) {
        state.library.remove(handle(layout), is_layout)
    }
    /// New preferences.
    fn cublasLtMatmulPreferenceCreate(state, to: *mut *mut c_void) {
        let preference = Described::Preference(Preference::default());
        Ok(put(to, pointer(state.library.add(preference)))?)
    }
    /// Sets an attribute of preferences.
    fn cublasLtMatmulPreferenceSetAttribute(
        state, preference: *mut c_void, attribute: u32, from: *const c_void, size: usize
    ) {
        state.library.set(handle(preference), is_preference, attribute, bytes(from, size)?)
    }
    /// Ends preferences.
    fn cublasLtMatmulPreferenceDestroy(state, preference: *mut c_void) {
        state.library.remove(handle(preference), is_preference)
    }
    /// The one algorithm for a product.
    fn cublasLtMatmulAlgoGetHeuristic(
        state,
        library: *mut c_void,
        operation: *mut c_void,
        left: *mut c_void, right: *mut c_void, addend: *mut c_void, result: *mut c_void,
        preference: *mut c_void,
        most: i32,
        to: *mut Choice,
        found: *mut i32
    ) {
        let described = [operation, left, right, addend, result].map(handle);
        let algorithm = state.library.choose(handle(library), described, handle(preference))?;
        (most > 0).then_some(()).ok_or(Status::InvalidValue)?;
        put(to, Choice {
            algorithm: algorithm.words(),
            workspace: algorithm.workspace as usize,
            state: 0,
            waves: 1.0,
            reserved: [0; 4],
        })?;
        Ok(put(found, 1)?)
    }
    /// Lets a stream compute a product.
    fn cublasLtMatmul(
        state,
        library: *mut c_void,
        operation: *mut c_void,
        scale: *const c_void,
        left: *const c_void, left_layout: *mut c_void,
        right: *const c_void, right_layout: *mut c_void,
        addend_scale: *const c_void,
        addend: *const c_void, addend_layout: *mut c_void,
        result: *mut c_void, result_layout: *mut c_void,
        algorithm: *const [u64; 8],
        workspace: *mut c_void, workspace_bytes: usize,
        stream: *mut c_void
    ) {
        let described = [operation, left_layout, right_layout, addend_layout, result_layout];
        let product = state.library.product(handle(library), described.map(handle))?;
        let size = product.scale_bytes();
        let scales = [bytes(scale, size)?, bytes(addend_scale, size)?];
        // Without an algorithm the library would choose one for each call.
        let words = (!algorithm.is_null()).then(|| algorithm.read()).ok_or(Status::InvalidValue)?;
        let pointers = [left, right, addend, result.cast_const()].map(|pointer| pointer.addr() as u64);
        let room = [workspace.addr() as u64, workspace_bytes as u64];
        let multiply = Multiply::new(product, Algorithm::of(words)?, scales, pointers, room)?;
        Ok(state.context()?.submit(handle(stream), Work::Multiply(Box::new(multiply)))?)
    }
}
