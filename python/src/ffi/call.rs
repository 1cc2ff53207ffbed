//! The handler: a call of XLA's, from its frame to the program and back.

use std::ffi::{CString, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use fuser::program::{Axis, DType, Memory, RuntimeError};

use super::abi::{
    self, Args, Buffer, CallFrame, Error, ErrorCreate, MetadataExtension, Rets, StateGet, StateSet,
};
use super::{Ready, ready, xla};

/// The alignment that programs ask of results.
const ALIGN: usize = 64;

/// The element types by their numbers in XLA.
const DTYPES: [(c_int, DType); 19] = [
    (1, DType::I1),
    (2, DType::I8),
    (3, DType::I16),
    (4, DType::I32),
    (5, DType::I64),
    (6, DType::U8),
    (7, DType::U16),
    (8, DType::U32),
    (9, DType::U64),
    (10, DType::F16),
    (11, DType::F32),
    (12, DType::F64),
    (15, DType::C64),
    (16, DType::Bf16),
    (18, DType::C128),
    (19, DType::F8E5M2),
    (20, DType::F8E4M3FN),
    (32, DType::F4E2M1FN),
    (33, DType::F8E8M0FNU),
];

/// The reason that a call fails: a code of XLA's and a message.
struct Failure(c_int, String);

impl From<fuser::Error> for Failure {
    fn from(error: fuser::Error) -> Self {
        Self(abi::INTERNAL, error.to_string())
    }
}

impl Failure {
    fn wrong(message: impl Into<String>) -> Self {
        Self(abi::INVALID_ARGUMENT, message.into())
    }
}

/// `XLA_FFI_Handler`
///
/// # Safety
/// `frame` is a call's, as XLA makes it.
pub unsafe extern "C" fn handle(frame: *mut CallFrame) -> *mut Error {
    // SAFETY: XLA's frame, which nobody writes meanwhile but this call.
    let frame = unsafe { &mut *frame };
    if asks_for_metadata(frame) {
        return std::ptr::null_mut();
    }
    let stage = match frame.stage {
        abi::INSTANTIATE => instantiate,
        abi::EXECUTE => execute,
        _ => return std::ptr::null_mut(),
    };
    match catch_unwind(AssertUnwindSafe(|| stage(frame))) {
        Ok(Ok(error)) => error,
        Ok(Err(failure)) => failed(frame, failure),
        Err(_) => failed(frame, Failure(abi::INTERNAL, "panic in Fuser".to_owned())),
    }
}

/// Drops the state of a call.
///
/// # Safety
/// `state` is what [`instantiate`] gave XLA, and is given back once.
pub unsafe extern "C" fn delete(state: *mut c_void) {
    // SAFETY: see above.
    let state = unsafe { Box::from_raw(state.cast::<Arc<Ready>>()) };
    // A panic of a destructor must not reach XLA.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(state)));
}

/// Answers a query for the handler's metadata, if that is the purpose of the call.
fn asks_for_metadata(frame: &mut CallFrame) -> bool {
    let mut extension = frame.extension_start;
    let mut asked = false;
    while !extension.is_null() {
        // SAFETY: XLA's list of extensions, each of the type that it states.
        unsafe {
            if (*extension).r#type == abi::METADATA {
                let metadata = (*extension.cast::<MetadataExtension>()).metadata;
                (*metadata).api_version.major_version = abi::MAJOR;
                (*metadata).api_version.minor_version = abi::MINOR;
                (*metadata).state_type_id.type_id = (*xla().id.0.get()).type_id;
                asked = true;
            }
            extension = (*extension).next;
        }
    }
    asked
}

/// An error of XLA's.
fn failed(frame: &CallFrame, failure: Failure) -> *mut Error {
    let Failure(errc, message) = failure;
    let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
    let mut create = ErrorCreate {
        struct_size: size_of::<ErrorCreate>(),
        extension_start: std::ptr::null_mut(),
        message: message.as_ptr(),
        errc,
    };
    // SAFETY: XLA's function, which copies the message.
    unsafe { ((*frame.api).XLA_FFI_Error_Create)(&raw mut create) }
}

/// Compiles the program of a call, or finds it, and leaves it with XLA as the call's state.
fn instantiate(frame: &mut CallFrame) -> Result<*mut Error, Failure> {
    let text =
        program_text(frame).ok_or_else(|| Failure::wrong("a call without the text `program`"))?;
    let ready = Box::into_raw(Box::new(ready(text)?));
    let mut set = StateSet {
        struct_size: size_of::<StateSet>(),
        extension_start: std::ptr::null_mut(),
        ctx: frame.ctx,
        stage: abi::INSTANTIATE,
        type_id: xla().id.0.get(),
        state: ready.cast(),
    };
    // SAFETY: XLA's function, which takes over the state unless it gives an error.
    let error = unsafe { ((*frame.api).XLA_FFI_State_Set)(&raw mut set) };
    if !error.is_null() {
        // SAFETY: not taken over.
        drop(unsafe { Box::from_raw(ready) });
    }
    Ok(error)
}

/// The attribute `program`.
fn program_text(frame: &CallFrame) -> Option<&str> {
    let attrs = &frame.attrs;
    (0..usize::try_from(attrs.size).ok()?)
        .find_map(|i| {
            // SAFETY: XLA's lists of that length; an attribute is of the type that is stated.
            unsafe {
                let name = bytes(&**attrs.names.add(i));
                let is_text = *attrs.types.add(i) == abi::STRING;
                let found = name == b"program" && is_text;
                found.then(|| bytes(&*(*attrs.attrs.add(i)).cast::<abi::Span>()))
            }
        })
        .and_then(|text| std::str::from_utf8(text).ok())
}

/// # Safety
/// The span's memory lives as long as the span.
unsafe fn bytes(span: &abi::Span) -> &[u8] {
    match span.ptr.is_null() {
        true => &[],
        // SAFETY: see above.
        false => unsafe { std::slice::from_raw_parts(span.ptr.cast(), span.len) },
    }
}

/// Runs the program of a call.
fn execute(frame: &mut CallFrame) -> Result<*mut Error, Failure> {
    let mut get = StateGet {
        struct_size: size_of::<StateGet>(),
        extension_start: std::ptr::null_mut(),
        ctx: frame.ctx,
        stage: abi::INSTANTIATE,
        type_id: xla().id.0.get(),
        state: std::ptr::null_mut(),
    };
    // SAFETY: XLA's function.
    let error = unsafe { ((*frame.api).XLA_FFI_State_Get)(&raw mut get) };
    if !error.is_null() {
        return Ok(error);
    }
    // SAFETY: the state that `instantiate` set, which lives as long as the executable.
    let ready = unsafe { &*get.state.cast::<Arc<Ready>>() };
    let (arguments, results) = (arguments(&frame.args)?, results(&frame.rets)?);
    run(ready, &arguments, &results)?;
    Ok(std::ptr::null_mut())
}

fn arguments(args: &Args) -> Result<Vec<&Buffer>, Failure> {
    let count = usize::try_from(args.size).unwrap_or(0);
    // SAFETY: XLA's lists of that length; each is a tensor if its type says so.
    let each = (0..count).map(|i| unsafe { (*args.types.add(i), &**args.args.add(i)) });
    each.map(tensor).collect()
}

fn results(rets: &Rets) -> Result<Vec<&Buffer>, Failure> {
    let count = usize::try_from(rets.size).unwrap_or(0);
    // SAFETY: as above.
    let each = (0..count).map(|i| unsafe { (*rets.types.add(i), &**rets.rets.add(i)) });
    each.map(tensor).collect()
}

fn tensor((ty, buffer): (c_int, &Buffer)) -> Result<&Buffer, Failure> {
    match ty {
        abi::BUFFER => Ok(buffer),
        _ => Err(Failure::wrong("an argument or a result is no tensor")),
    }
}

impl Buffer {
    fn dtype(&self) -> Result<DType, Failure> {
        let row = DTYPES.iter().find(|row| row.0 == self.dtype);
        row.map(|row| row.1).ok_or_else(|| {
            Failure::wrong(format!(
                "element type {} of XLA's is not known here",
                self.dtype
            ))
        })
    }

    fn axes(&self) -> impl Iterator<Item = Axis> {
        let rank = usize::try_from(self.rank).unwrap_or(0);
        // SAFETY: XLA's list of that length.
        let extents = (0..rank).map(|i| unsafe { *self.dims.add(i) });
        extents.map(|extent| Axis {
            extent: usize::try_from(extent).unwrap_or(0),
            broadcast: false,
        })
    }

    /// The bytes of its elements, if their number is the one that the program expects.
    fn bytes(&self, expected: usize, what: &str) -> Result<usize, Failure> {
        let count = self
            .axes()
            .try_fold(1usize, |n, axis| n.checked_mul(axis.extent));
        let found = count.and_then(|count| self.dtype().ok()?.size_of(count));
        match found == Some(expected) {
            true => Ok(expected),
            false => Err(Failure::wrong(format!(
                "{what} has another size than the program's"
            ))),
        }
    }
}

/// Results where the program cannot write into XLA's memory.
struct Detour {
    result: usize,
    memory: Memory,
}

fn run(ready: &Ready, arguments: &[&Buffer], results: &[&Buffer]) -> Result<(), Failure> {
    let compiled = &ready.compiled;
    let signature = compiled.signature();
    if arguments.len() != signature.inputs.len() || results.len() != signature.output_names.len() {
        return Err(Failure::wrong(
            "the program has other numbers of arguments and results",
        ));
    }
    let extents = match signature.extents.is_empty() {
        true => Vec::new(),
        false => extents(compiled, arguments)?,
    };
    let mut bound = compiled.bind(&extents, compiled.own_stream())?;
    let mut read: Vec<*const u8> = Vec::with_capacity(arguments.len());
    for (buffer, &expected) in arguments.iter().zip(bound.input_bytes()) {
        buffer.bytes(expected, "an argument")?;
        read.push(buffer.data.cast());
    }
    let outputs = Arc::clone(bound.outputs());
    let heap = compiled.session().runtime().heap();
    let mut detours = Vec::new();
    for (result, (buffer, output)) in results.iter().zip(outputs.iter()).enumerate() {
        buffer.bytes(output.bytes, "a result")?;
        // A result may have the memory of the argument that it overwrites, and of no other.
        let mut others = arguments.iter().enumerate();
        let shared = others.any(|(number, argument)| {
            output.bytes > 0 && argument.data == buffer.data && output.overwrites != Some(number)
        });
        if shared || !buffer.data.addr().is_multiple_of(ALIGN) {
            let memory = heap.allocate(output.bytes);
            let memory = memory.map_err(|error| fuser::Error::from(RuntimeError::Memory(error)))?;
            detours.push(Detour { result, memory });
        }
    }
    let mut aside = detours.iter_mut().peekable();
    let mut written: Vec<*mut u8> = Vec::with_capacity(results.len());
    for (result, buffer) in results.iter().enumerate() {
        written.push(match aside.next_if(|detour| detour.result == result) {
            Some(detour) => detour.memory[..].as_mut_ptr(),
            None => buffer.data.cast(),
        });
    }
    // SAFETY: XLA's memory of tensors, of the sizes checked above, which nobody else uses during the call. A result
    // overlaps no argument but the one that it overwrites.
    let done = unsafe { bound.program().start(&read, &written, 0) };
    done.map_err(fuser::Error::from)?;
    compiled.release(bound);
    for detour in &detours {
        let to = results[detour.result].data.cast::<u8>();
        // SAFETY: both have the result's bytes; the arguments are not read any more.
        unsafe { std::ptr::copy_nonoverlapping(detour.memory.as_ptr(), to, detour.memory.len()) }
    }
    Ok(())
}

/// The values of named extents.
fn extents(compiled: &fuser::Compiled, arguments: &[&Buffer]) -> Result<Vec<i64>, Failure> {
    let types = arguments
        .iter()
        .map(|buffer| Ok((buffer.dtype()?, buffer.axes().collect())));
    let types = types.collect::<Result<Vec<(DType, Vec<Axis>)>, Failure>>()?;
    let types: Vec<(DType, &[Axis])> = types
        .iter()
        .map(|(dtype, axes)| (*dtype, &axes[..]))
        .collect();
    Ok(compiled.extents(&types)?)
}
