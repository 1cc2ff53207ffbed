//! A shared library by which other languages run programs on a GPU: text in, then calls on device pointers and on a stream.
//!
//! ```text
//! cargo build --release --example gpu_library        # target/release/examples/libgpu_library.so
//! scripts/gpu_peers.py                               # calls it from Python, on PyTorch's tensors
//! ```
//!
//! The functions are C's. A program is bound with its extents once and then run as often as wanted; a run waits for nothing, so that it may be recorded into a graph of
//! the caller's. What [`gpu_call`](../gpu_call/index.html) says of pointers holds: tensors are stored as the program's types say, at multiples of their elements' size (at multiples of 64 bytes they are faster).

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char};

use fuser::compile::CompileOptions;
use fuser::session::{Session, SessionError};
use fuser::tool::gpu;
use fuser_runtime::cuda::{CudaDevice, CudaExecutable};

/// A program with known extents.
pub struct Bound(CudaExecutable);

fn open(number: usize) -> Result<CudaDevice, String> {
    let simulator = gpu::simulator()?;
    gpu::open(simulator, number).map_err(|e| e.to_string())
}

fn bind(device: &CudaDevice, text: &str, extents: &str) -> Result<Bound, String> {
    let pairs = extents.split(',').filter(|pair| !pair.is_empty());
    let length = |pair: &str| {
        let (name, length) = pair.split_once('=')?;
        Some((name.to_string(), length.parse().ok()?))
    };
    let wrong = |pair: &str| format!("'{pair}' is no length of an extent, as in B=64");
    let extents: Result<BTreeMap<String, i64>, _> = pairs
        .map(|pair| length(pair).ok_or_else(|| wrong(pair)))
        .collect();
    let extents = extents?;
    let session = Session::new(Default::default()).map_err(|e| format!("{e:?}"))?;
    let reasons = |error: SessionError| {
        let items = error.diagnostics(&session.empty_ir()).into_iter();
        let lines = items.map(|item| [vec![item.message], item.helps].concat().join("; "));
        lines.collect::<Vec<_>>().join("\n")
    };
    let parsed = session.parse(0, "program.fir", text);
    let (ir, module, _) = parsed.map_err(|e| reasons(e.into()))?;
    let loaded = session.load(ir, module, None).map_err(reasons)?;
    let options = CompileOptions {
        any_address: true,
        ..CompileOptions::default()
    };
    let bound = session.prepare_cuda(device, &loaded, &extents, &options);
    bound.map(Bound).map_err(reasons)
}

/// A pointer to the made, on the heap, or null with the reason at `error`.
///
/// # Safety
/// `error` is memory of `bytes` bytes, one at least.
unsafe fn given<T>(made: Result<T, String>, error: *mut c_char, bytes: usize) -> *mut T {
    match made {
        Ok(made) => Box::into_raw(Box::new(made)),
        Err(reason) => {
            // SAFETY: the caller's promise.
            unsafe { tell(&reason, error, bytes) };
            std::ptr::null_mut()
        }
    }
}

/// Opens the GPU of this number, for as long as the process runs. Null where there is none, with the reason in the `bytes` bytes at `error`, cut where it is longer.
///
/// # Safety
/// `error` is memory of `bytes` bytes, one at least.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuser_open(
    number: usize,
    error: *mut c_char,
    bytes: usize,
) -> *const CudaDevice {
    // SAFETY: the caller's promise.
    unsafe { given(open(number), error, bytes) }
}

/// Binds the program of `text` to `extents`, such as `B=64,S=128`. Null where it cannot be, with the reason at `error`.
///
/// # Safety
/// `device` is [`fuser_open`]'s, `text` and `extents` end with a zero, `error` as there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuser_bind(
    device: *const CudaDevice,
    text: *const c_char,
    extents: *const c_char,
    error: *mut c_char,
    bytes: usize,
) -> *mut Bound {
    // SAFETY: the caller's promise.
    let device = unsafe { &*device };
    // SAFETY: the caller's promise.
    let [text, extents] = [text, extents].map(|at| unsafe { CStr::from_ptr(at) }.to_string_lossy());
    // SAFETY: the caller's promise.
    unsafe { given(bind(device, &text, &extents), error, bytes) }
}

/// Runs a bound program on the device addresses of its inputs and outputs, so many of each, in the program's order, on a `CUstream` (0 for the default one). 0 where all was
/// started, else 1 with the reason at `error`.
///
/// # Safety
/// `program` is [`fuser_bind`]'s, and called by one thread at a time; addresses are those of memory with the tensor's bytes, which is alive until the stream has come past the
/// run; `error` as in [`fuser_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuser_run(
    program: *mut Bound,
    inputs: *const u64,
    input_count: usize,
    outputs: *const u64,
    output_count: usize,
    stream: u64,
    error: *mut c_char,
    bytes: usize,
) -> i32 {
    // SAFETY: the caller's promise.
    let program = unsafe { &mut (*program).0 };
    let [inputs, outputs] = [(inputs, input_count), (outputs, output_count)]
        // SAFETY: the caller's promise.
        .map(|(at, count)| unsafe { std::slice::from_raw_parts(at, count) });
    // SAFETY: the caller's promise.
    let run = unsafe { program.run(inputs, outputs, stream) };
    let Err(reason) = run else { return 0 };
    // SAFETY: the caller's promise.
    unsafe { tell(&reason.to_string(), error, bytes) };
    1
}

/// The number of kernels that a run starts.
///
/// # Safety
/// `program` is [`fuser_bind`]'s.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuser_launches(program: *const Bound) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { (*program).0.launches() as u64 }
}

/// Gives a bound program up. Its runs have to have ended.
///
/// # Safety
/// `program` is [`fuser_bind`]'s, and not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuser_free(program: *mut Bound) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(program) });
}

/// Writes a text of C.
///
/// # Safety
/// `at` is memory of `bytes` bytes, one at least.
unsafe fn tell(text: &str, at: *mut c_char, bytes: usize) {
    let text: Vec<u8> = text.bytes().filter(|b| *b != 0).take(bytes - 1).collect();
    // SAFETY: the caller's promise.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), at.cast(), text.len());
        *at.add(text.len()) = 0;
    }
}
