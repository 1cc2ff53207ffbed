//! Fuser for C: programs from text, compiled for this machine, run on the caller's memory.
//!
//! The header `include/fuser.h` is generated from this file; a test compares the two. Each function checks everything
//! that can be checked: a null pointer, an index out of range, text that is not UTF-8 and unaligned memory are errors.
//! A panic is an error of code `FIR0699` and never leaves the library. Each function states the promises that only its
//! caller can make, such as that a pointer is from the library, or that memory has its bytes.
//!
//! Functions that can fail return an error, or null on success. The function of its type frees an object; null may be
//! freed. Several threads may use an object at the same time, except for a call, which belongs to one thread.
#![deny(unsafe_op_in_unsafe_fn)]

use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use fuser::program::{Axis, DType};

/// The version of this interface. It grows with each change that affects callers compiled before; `fuser_interface`
/// returns the library's version.
pub const FUSER_INTERFACE: u32 = 1;

/// The reason why a call failed.
pub struct FuserError {
    code: CString,
    message: CString,
    text: CString,
}

/// A verified program.
pub struct FuserProgram {
    program: fuser::Program,
    inputs: Vec<CString>,
    results: Vec<CString>,
}

/// A program with code for this machine.
pub struct FuserCompiled(Arc<fuser::Compiled>);

/// A compiled program bound to the shapes of its inputs, with memory for temporaries. One thread uses it at a time.
pub struct FuserCall {
    compiled: Arc<fuser::Compiled>,
    /// None once it is being freed.
    bound: Option<fuser::Bound>,
    results: Vec<Result>,
}

/// A result as C reads it.
struct Result {
    dtype: CString,
    shape: Vec<i64>,
    bytes: usize,
    align: usize,
}

/// The options of a compilation. Zero is the default of every option.
#[repr(C)]
pub struct FuserOptions {
    /// `sizeof(FuserOptions)`, which tells the library which fields exist.
    pub struct_size: usize,
    /// The machine to compile for, such as "cpu"; null for this one.
    pub target: *const c_char,
    /// The folder that caches code across processes; null for FUSER_CACHE_DIR or the user's cache folder, "" for no
    /// cache.
    pub cache: *const c_char,
    /// The number of threads; 0 for the number that the machine runs at a time.
    pub threads: usize,
}

/// A tensor, row-major, without its elements.
#[repr(C)]
pub struct FuserTensor {
    /// The type of its elements as programs write it, such as "f32" or "bf16".
    pub dtype: *const c_char,
    /// The number of axes.
    pub rank: usize,
    /// The extent of each axis.
    pub shape: *const i64,
    /// The bytes of its elements; ignored for inputs.
    pub bytes: usize,
    /// The alignment of its memory in bytes; ignored for inputs, which begin at any multiple of their elements' size.
    pub align: usize,
}

/// An error on the way to C.
struct Failure {
    code: String,
    message: String,
    text: String,
}

impl From<fuser::Error> for Failure {
    fn from(error: fuser::Error) -> Self {
        Self {
            code: error.code().to_owned(),
            message: error.message().to_owned(),
            text: error.to_string(),
        }
    }
}

/// A mistake of the caller that concerns no text.
fn wrong(message: impl Into<String>) -> Failure {
    let (code, message) = (fuser::session::error::INPUT.code, message.into());
    Failure {
        code: code.to_owned(),
        text: format!("error: [{code}] {message}"),
        message,
    }
}

/// Text as C reads it, up to its first NUL.
fn c_text(text: &str) -> CString {
    let text = text.split('\0').next().unwrap_or_default();
    CString::new(text).unwrap_or_default()
}

/// Runs fallible work, and turns a panic into an error.
fn guarded(work: impl FnOnce() -> std::result::Result<(), Failure>) -> *mut FuserError {
    let failure = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return std::ptr::null_mut(),
        Ok(Err(failure)) => failure,
        Err(_) => Failure {
            code: fuser::INTERNAL.code.to_owned(),
            message: "a panic in Fuser".to_owned(),
            text: format!("error: [{}] a panic in Fuser", fuser::INTERNAL.code),
        },
    };
    Box::into_raw(Box::new(FuserError {
        code: c_text(&failure.code),
        message: c_text(&failure.message),
        text: c_text(&failure.text),
    }))
}

/// Frees an object; a panic of its destructor stays here.
///
/// # Safety
/// `object` is null, or was made by `Box::into_raw` and is freed once.
unsafe fn free<T>(object: *mut T) {
    if !object.is_null() {
        // SAFETY: see above.
        let object = unsafe { Box::from_raw(object) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(object)));
    }
}

/// The object behind a pointer of the caller.
///
/// # Safety
/// `pointer` is null or points to an object that lives as long as the reference.
unsafe fn given<'a, T>(pointer: *const T, what: &str) -> std::result::Result<&'a T, Failure> {
    // SAFETY: see above.
    unsafe { pointer.as_ref() }.ok_or_else(|| wrong(format!("{what} is null")))
}

/// A list of the caller as a slice.
///
/// # Safety
/// `pointer` is null, or points to `count` objects that live as long as the slice.
unsafe fn list<'a, T>(
    pointer: *const T,
    count: usize,
    what: &str,
) -> std::result::Result<&'a [T], Failure> {
    if count == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() || count > isize::MAX as usize / size_of::<T>().max(1) {
        return Err(wrong(format!("{what} is null, or longer than memory")));
    }
    // SAFETY: see above.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// NUL-terminated text of the caller; `None` for null.
///
/// # Safety
/// `pointer` is null, or points to text that ends with NUL and lives as long as the reference.
unsafe fn text<'a>(
    pointer: *const c_char,
    what: &str,
) -> std::result::Result<Option<&'a str>, Failure> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: see above.
    let text = unsafe { CStr::from_ptr(pointer) };
    let text = text.to_str();
    text.map(Some)
        .map_err(|_| wrong(format!("{what} is not UTF-8")))
}

/// Gives an object to the caller.
///
/// # Safety
/// `place` is null or may be written to.
unsafe fn give<T>(place: *mut *mut T, object: T) -> std::result::Result<(), Failure> {
    if place.is_null() {
        return Err(wrong("the place of the result is null"));
    }
    // SAFETY: see above.
    unsafe { place.write(Box::into_raw(Box::new(object))) };
    Ok(())
}

/// The version of the library's interface: FUSER_INTERFACE of its header.
// SAFETY: no other function of a program has this prefix.
#[unsafe(no_mangle)]
pub extern "C" fn fuser_interface() -> u32 {
    FUSER_INTERFACE
}

/// The version of Fuser, such as "0.1.0".
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn fuser_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The code of an error, such as "FIR1001"; it lives as long as the error. Null for null.
///
/// # Safety
/// `error` is null or an error that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuser_error_code(error: *const FuserError) -> *const c_char {
    // SAFETY: see above.
    unsafe { error.as_ref() }.map_or(std::ptr::null(), |error| error.code.as_ptr())
}

/// The message of an error, without code and place; it lives as long as the error. Null for null.
///
/// # Safety
/// `error` is null or an error that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuser_error_message(error: *const FuserError) -> *const c_char {
    // SAFETY: see above.
    unsafe { error.as_ref() }.map_or(std::ptr::null(), |error| error.message.as_ptr())
}

/// The complete report of an error, with lines of the text and carets; it lives as long as the error. Null for null.
///
/// # Safety
/// `error` is null or an error that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuser_error_text(error: *const FuserError) -> *const c_char {
    // SAFETY: see above.
    unsafe { error.as_ref() }.map_or(std::ptr::null(), |error| error.text.as_ptr())
}

/// Frees an error.
///
/// # Safety
/// `error` is null, or an error that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuser_error_free(error: *mut FuserError) {
    // SAFETY: see above.
    unsafe { free(error) }
}

/// Reads a program, whose text has `length` bytes.
///
/// # Safety
/// `text` points to `length` bytes; `program` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuser_program_parse(
    text: *const c_char,
    length: usize,
    program: *mut *mut FuserProgram,
) -> *mut FuserError {
    // SAFETY: see above.
    unsafe { read(text, length, program, fuser::Program::parse) }
}

/// Reads a program in StableHLO's text form.
///
/// # Safety
/// As for fuser_program_parse.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuser_program_import_stablehlo(
    text: *const c_char,
    length: usize,
    program: *mut *mut FuserProgram,
) -> *mut FuserError {
    // SAFETY: see above.
    unsafe { read(text, length, program, fuser::Program::import_stablehlo) }
}

/// # Safety
/// As for [`fuser_program_parse`].
unsafe fn read(
    text: *const c_char,
    length: usize,
    program: *mut *mut FuserProgram,
    read: fn(&str) -> fuser::program::Result<fuser::Program>,
) -> *mut FuserError {
    guarded(|| {
        // SAFETY: see above.
        let bytes = unsafe { list(text.cast::<u8>(), length, "the text") }?;
        let text = std::str::from_utf8(bytes).map_err(|_| wrong("the text is not UTF-8"))?;
        let made = read(text)?;
        let signature = made.signature();
        let inputs = signature.inputs.iter().map(|spec| c_text(&spec.name));
        let results = signature.output_names.iter().map(|name| c_text(name));
        let made = FuserProgram {
            inputs: inputs.collect(),
            results: results.collect(),
            program: made,
        };
        // SAFETY: see above.
        unsafe { give(program, made) }
    })
}

/// The number of inputs; 0 for null.
///
/// # Safety
/// `program` is null or a program that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuser_program_inputs(program: *const FuserProgram) -> usize {
    // SAFETY: see above.
    unsafe { program.as_ref() }.map_or(0, |program| program.inputs.len())
}

/// The number of results; 0 for null.
///
/// # Safety
/// `program` is null or a program that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuser_program_results(program: *const FuserProgram) -> usize {
    // SAFETY: see above.
    unsafe { program.as_ref() }.map_or(0, |program| program.results.len())
}

/// The name of an input; it lives as long as the program. Null if there is no such input.
///
/// # Safety
/// `program` is null or a program that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuser_program_input_name(
    program: *const FuserProgram,
    index: usize,
) -> *const c_char {
    // SAFETY: see above.
    let program = unsafe { program.as_ref() };
    let name = program.and_then(|program| program.inputs.get(index));
    name.map_or(std::ptr::null(), |name| name.as_ptr())
}

/// The name of a result; it lives as long as the program. Null if there is no such result.
///
/// # Safety
/// `program` is null or a program that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuser_program_result_name(
    program: *const FuserProgram,
    index: usize,
) -> *const c_char {
    // SAFETY: see above.
    let program = unsafe { program.as_ref() };
    let name = program.and_then(|program| program.results.get(index));
    name.map_or(std::ptr::null(), |name| name.as_ptr())
}

/// Compiles a program for this machine. Code is made when shapes first need it. `options` may be null.
///
/// # Safety
/// `program` is a program that is not freed, `options` null or such a structure, whose texts end with NUL; `compiled`
/// may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuser_program_compile(
    program: *const FuserProgram,
    options: *const FuserOptions,
    compiled: *mut *mut FuserCompiled,
) -> *mut FuserError {
    guarded(|| {
        // SAFETY: see above.
        let program = unsafe { given(program, "the program") }?;
        // SAFETY: see above.
        let wanted = unsafe { options_of(options) }?;
        let made = program.program.compile(&wanted)?;
        // SAFETY: see above.
        unsafe { give(compiled, FuserCompiled(Arc::new(made))) }
    })
}

/// # Safety
/// As for [`fuser_program_compile`].
unsafe fn options_of(options: *const FuserOptions) -> std::result::Result<fuser::Options, Failure> {
    let wanted = fuser::Options::default();
    // SAFETY: see above.
    let Some(given) = (unsafe { options.as_ref() }) else {
        return Ok(wanted.with_cache(None));
    };
    if given.struct_size != size_of::<FuserOptions>() {
        return Err(wrong("`struct_size` is not sizeof(FuserOptions)"));
    }
    // SAFETY: see above.
    let (target, cache) = unsafe {
        (
            text(given.target, "`target`")?,
            text(given.cache, "`cache`")?,
        )
    };
    let mut wanted = match cache {
        Some("") => wanted,
        cache => wanted.with_cache(cache.map(Into::into)),
    };
    if let Some(name) = target {
        wanted.compile.target = fuser::Options::target(name)?;
    }
    wanted.threads = (given.threads > 0).then_some(given.threads);
    Ok(wanted)
}

/// Frees a program. Programs compiled from it remain valid.
///
/// # Safety
/// `program` is null, or a program that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuser_program_free(program: *mut FuserProgram) {
    // SAFETY: see above.
    unsafe { free(program) }
}

/// Binds a compiled program to inputs of these types and shapes: compiles code for them if necessary, and allocates
/// memory for temporaries.
///
/// # Safety
/// `compiled` is one that is not freed, `inputs` points to `count` tensors, whose shapes have `rank` extents; `call`
/// may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuser_compiled_bind(
    compiled: *const FuserCompiled,
    inputs: *const FuserTensor,
    count: usize,
    call: *mut *mut FuserCall,
) -> *mut FuserError {
    guarded(|| {
        // SAFETY: see above.
        let (compiled, inputs) = unsafe {
            (
                &given(compiled, "the compiled program")?.0,
                list(inputs, count, "the list of inputs")?,
            )
        };
        let specs = &compiled.signature().inputs;
        if specs.len() != inputs.len() {
            let (found, wanted) = (inputs.len(), specs.len());
            return Err(wrong(format!(
                "{found} inputs given, the program has {wanted}"
            )));
        }
        let axes = inputs.iter().zip(specs).map(|(tensor, spec)| {
            // SAFETY: see above.
            let shape = unsafe { list(tensor.shape, tensor.rank, "a shape") }?;
            let axis = |(i, &extent): (usize, &i64)| {
                let extent = usize::try_from(extent).map_err(|_| wrong("a negative extent"))?;
                let broadcast = spec.dims.get(i).is_some_and(|dim| dim.broadcast);
                Ok::<_, Failure>(Axis { extent, broadcast })
            };
            // SAFETY: see above.
            let dtype = unsafe { text(tensor.dtype, "an element type") }?;
            let dtype = dtype.ok_or_else(|| wrong("an element type is null"))?;
            let dtype: DType = dtype
                .parse()
                .map_err(|_| wrong(format!("there is no element type '{dtype}'")))?;
            let axes = shape.iter().enumerate().map(axis);
            Ok((
                dtype,
                axes.collect::<std::result::Result<Vec<_>, Failure>>()?,
            ))
        });
        let axes = axes.collect::<std::result::Result<Vec<_>, Failure>>()?;
        let types: Vec<_> = axes
            .iter()
            .map(|(dtype, axes)| (*dtype, &axes[..]))
            .collect();
        let bound = compiled.bind(&compiled.extents(&types)?, compiled.own_stream())?;
        let result = |ty: &fuser::OutputType| Result {
            dtype: c_text(ty.dtype.name()),
            shape: ty.axes.iter().map(|axis| axis.extent as i64).collect(),
            bytes: ty.bytes,
            align: ty.align,
        };
        let made = FuserCall {
            compiled: Arc::clone(compiled),
            results: bound.outputs().iter().map(result).collect(),
            bound: Some(bound),
        };
        // SAFETY: see above.
        unsafe { give(call, made) }
    })
}

/// Frees a compiled program. Calls bound from it remain valid.
///
/// # Safety
/// `compiled` is null, or one that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuser_compiled_free(compiled: *mut FuserCompiled) {
    // SAFETY: see above.
    unsafe { free(compiled) }
}

/// Type, shape, bytes and alignment of a result. Type and shape live as long as the call.
///
/// # Safety
/// `call` is one that is not freed; `result` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuser_call_result(
    call: *const FuserCall,
    index: usize,
    result: *mut FuserTensor,
) -> *mut FuserError {
    guarded(|| {
        // SAFETY: see above.
        let call = unsafe { given(call, "the call") }?;
        let found = call.results.get(index);
        let found = found.ok_or_else(|| wrong(format!("there is no result {index}")))?;
        if result.is_null() {
            return Err(wrong("the place of the result is null"));
        }
        let told = FuserTensor {
            dtype: found.dtype.as_ptr(),
            rank: found.shape.len(),
            shape: found.shape.as_ptr(),
            bytes: found.bytes,
            align: found.align,
        };
        // SAFETY: see above.
        unsafe { result.write(told) };
        Ok(())
    })
}

/// Runs the program on the caller's memory: an address for each input, and one for each result.
///
/// # Safety
/// `call` is a call that is not freed and that no other thread uses. The lists have as many addresses as their counts
/// say. Inputs have the types and shapes to which the call was bound, row-major; axes that a program's type stores once
/// are not repeated. Results have the bytes that fuser_call_result gives. No thread writes to inputs during the call.
/// Results overlap no other memory, except that a result may be in the memory of the input that it overwrites.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuser_call_run(
    call: *mut FuserCall,
    inputs: *const *const c_void,
    input_count: usize,
    results: *const *mut c_void,
    result_count: usize,
) -> *mut FuserError {
    guarded(|| {
        // SAFETY: see above.
        let call = unsafe { call.as_mut() }.ok_or_else(|| wrong("the call is null"))?;
        // SAFETY: see above.
        let (inputs, results) = unsafe {
            (
                list(
                    inputs.cast::<*const u8>(),
                    input_count,
                    "the list of inputs",
                )?,
                list(
                    results.cast::<*mut u8>(),
                    result_count,
                    "the list of results",
                )?,
            )
        };
        let bound = call.bound.as_mut();
        let bound = bound.ok_or_else(|| wrong("the call is freed"))?;
        // SAFETY: the caller's promise; numbers, nulls and alignment are checked there.
        let run = unsafe { bound.program().start(inputs, results, 0) };
        run.map_err(|error| wrong(error.to_string()))
    })
}

/// Frees a call.
///
/// # Safety
/// `call` is null, or one that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuser_call_free(call: *mut FuserCall) {
    // SAFETY: see above.
    unsafe { free(call) }
}

impl Drop for FuserCall {
    /// The bound program is kept for the next call of its shapes.
    fn drop(&mut self) {
        if let Some(bound) = self.bound.take() {
            self.compiled.release(bound);
        }
    }
}
