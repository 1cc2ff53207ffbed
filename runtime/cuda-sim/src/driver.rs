//! The entry points of CUDA's driver that the runtime calls, by their names in the shared library, and two of our own.
//!
//! Like CUDA's driver there is one for a process, which is why it has a global of its own: callers of a C interface have nothing else to share.
//! Streams run in the order of calls. `cuGetErrorString` describes the last error, with the place in the kernel.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

use crate::cublaslt::Descriptions;
use crate::device::{Device, Failure, MEMORY, Options, Work};
use crate::finding::Code;

/// Declares entry points: functions of a state and of arguments, whose result is a code, with errors of a type.
macro_rules! entry_points {
    ($error:ty; $($(#[$doc:meta])* fn $name:ident($state:ident $(, $argument:ident: $type:ty)*) $body:block)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// Pointers are valid as NVIDIA's manual of the function asks.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, unused_unsafe)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> u32 {
            call(stringify!($name), |$state| -> Result<(), $error> {
                // SAFETY: the caller keeps the contract of this function.
                unsafe { $body }
            })
        }
    )*};
}

mod library;

/// The handle of the context of the first device; the others follow.
const CONTEXT: usize = 0x10;

/// The prefix of Fuser's own entry points, which are not counted.
const OWN: &str = "fuser_";

#[derive(Default)]
struct State {
    options: Options,
    /// Empty before `cuInit`.
    devices: Vec<Device>,
    /// Descriptions of cuBLASLt's callers.
    library: Descriptions,
    /// The device whose context is current for a thread.
    current: HashMap<ThreadId, usize>,
    /// The number of calls of each entry point.
    calls: BTreeMap<&'static str, u64>,
    /// The last error, and its description.
    last: Option<(Code, CString)>,
    report: CString,
}

/// The state of the process.
struct Driver(Mutex<Option<State>>);

static DRIVER: Driver = Driver(Mutex::new(None));

impl Driver {
    fn lock(&self) -> MutexGuard<'_, Option<State>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type Result<T, E = Failure> = std::result::Result<T, E>;

/// Runs a call, and notes it and its error.
fn call<E: Error>(name: &'static str, run: impl FnOnce(&mut State) -> Result<(), E>) -> u32 {
    let mut driver = DRIVER.lock();
    let state = driver.get_or_insert_with(State::default);
    if !name.starts_with(OWN) {
        *state.calls.entry(name).or_default() += 1;
    }
    run(state).map_or_else(|error| error.code(state), |()| 0)
}

/// An error of an entry point.
trait Error {
    /// The error code that the call returns. Also records the details that the caller may query later.
    fn code(self, state: &mut State) -> u32;
}

impl Error for Failure {
    fn code(self, state: &mut State) -> u32 {
        if !self.text.is_empty() {
            let text = CString::new(self.text.replace('\0', " ")).unwrap_or_default();
            state.last = Some((self.code, text));
        }
        self.code as u32
    }
}

impl State {
    fn started(&self) -> Result<()> {
        let started = !self.devices.is_empty();
        started.then_some(()).ok_or(Code::NotInitialized.into())
    }
    /// The number of the device whose context is current for this thread.
    fn current(&self) -> Option<usize> {
        self.current.get(&std::thread::current().id()).copied()
    }
    /// The device, for calls that need a current context.
    fn context(&mut self) -> Result<&mut Device> {
        self.started()?;
        let device = self.current().and_then(|n| self.devices.get_mut(n));
        device.ok_or(Code::InvalidContext.into())
    }
    fn ordinal(&mut self, ordinal: i32) -> Result<&mut Device> {
        self.started()?;
        let device = usize::try_from(ordinal).ok();
        let device = device.and_then(|n| self.devices.get_mut(n));
        device.ok_or(Code::InvalidDevice.into())
    }
}

/// Attributes of a pool, in `CUmemPool_attribute`.
const THRESHOLD: i32 = 4;
const RESERVED: i32 = 5;
const USED: i32 = 7;

/// Writes a result.
///
/// # Safety
/// `to` is null or may be written.
unsafe fn put<T>(to: *mut T, value: T) -> Result<()> {
    if to.is_null() {
        return Err(Code::InvalidValue.into());
    }
    // SAFETY: not null, and the caller's word that it may be written.
    unsafe { to.write(value) };
    Ok(())
}

/// The text at a pointer.
///
/// # Safety
/// `from` is null or points to characters that end in zero, and which nobody changes while the text is in use.
unsafe fn text<'a>(from: *const c_char) -> Result<&'a str> {
    if from.is_null() {
        return Err(Code::InvalidValue.into());
    }
    // SAFETY: not null, and the caller's word that it ends.
    let text = unsafe { CStr::from_ptr(from) };
    text.to_str().map_err(|_| Code::InvalidValue.into())
}

/// Copies `bytes` into memory of the caller's, cut off at `size`.
///
/// # Safety
/// `to` is null or has `size` bytes that may be written.
unsafe fn put_bytes(to: *mut u8, bytes: &[u8], size: usize) -> Result<()> {
    if to.is_null() && size > 0 {
        return Err(Code::InvalidValue.into());
    }
    if size > 0 {
        // SAFETY: not null, not the device's own memory, and no more than the caller has.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len().min(size)) };
    }
    Ok(())
}

/// The bytes at a pointer.
///
/// # Safety
/// `from` is null or has `size` bytes, which nobody changes while they are in use.
unsafe fn bytes<'a>(from: *const c_void, size: usize) -> Result<&'a [u8]> {
    match from.is_null() {
        true if size == 0 => Ok(&[]),
        true => Err(Code::InvalidValue.into()),
        // SAFETY: not null, and the caller's word that it has so many bytes.
        false => Ok(unsafe { std::slice::from_raw_parts(from.cast(), size) }),
    }
}

/// The handle in a pointer.
fn handle(pointer: *mut c_void) -> u64 {
    pointer.addr() as u64
}

/// The pointer that stands for a handle.
fn pointer(handle: u64) -> *mut c_void {
    std::ptr::without_provenance_mut(handle as usize)
}

/// A row of a pattern.
fn fill(to: u64, pattern: &[u8], width: usize) -> Work {
    Work::Set {
        to,
        pitch: 0,
        pattern: pattern.to_vec(),
        width,
        height: 1,
    }
}

/// Options of `cuModuleLoadDataEx` that are heeded: where the log goes, and its size.
const ERROR_LOG: i32 = 5;
const ERROR_LOG_BYTES: i32 = 6;
/// The attribute of `cuFuncSetAttribute` that is heeded.
const MOST_DYNAMIC_SHARED: i32 = 8;

entry_points! {
    Failure;
    /// Starts the driver.
    fn cuInit(state, _flags: u32) {
        let options = state.options;
        if state.devices.is_empty() {
            let devices = (0..options.devices).map(|n| Device::numbered(options, n));
            state.devices = devices.collect();
        }
        Ok(())
    }
    /// The number of devices.
    fn cuDeviceGetCount(state, to: *mut i32) {
        state.started()?;
        put(to, state.devices.len() as i32)
    }
    /// The device of a number.
    fn cuDeviceGet(state, to: *mut i32, ordinal: i32) {
        state.ordinal(ordinal)?;
        put(to, ordinal)
    }
    /// An attribute of the device.
    fn cuDeviceGetAttribute(state, to: *mut i32, attribute: i32, device: i32) {
        let value = state.ordinal(device)?.attribute(attribute)?;
        put(to, value)
    }
    /// The device's name.
    fn cuDeviceGetName(state, to: *mut c_char, length: i32, device: i32) {
        let mut name = state.ordinal(device)?.name().into_bytes();
        let length = usize::try_from(length).unwrap_or(0);
        name.truncate(length.saturating_sub(1));
        name.push(0);
        put_bytes(to.cast(), &name, length)
    }
    /// The context.
    fn cuDevicePrimaryCtxRetain(state, to: *mut *mut c_void, device: i32) {
        state.ordinal(device)?;
        put(to, pointer((CONTEXT + device as usize) as u64))
    }
    /// Gives the context back.
    fn cuDevicePrimaryCtxRelease_v2(state, device: i32) {
        state.ordinal(device).map(|_| ())
    }
    /// The context that is current for this thread, or null.
    fn cuCtxGetCurrent(state, to: *mut *mut c_void) {
        let context = state.current().map(|n| pointer((CONTEXT + n) as u64));
        put(to, context.unwrap_or(std::ptr::null_mut()))
    }
    /// Makes a context current for this thread.
    fn cuCtxSetCurrent(state, context: *mut c_void) {
        state.started()?;
        let thread = std::thread::current().id();
        let device = context.addr().checked_sub(CONTEXT).filter(|n| *n < state.devices.len());
        match device {
            Some(device) => state.current.insert(thread, device),
            None if context.is_null() => state.current.remove(&thread),
            None => return Err(Code::InvalidContext.into()),
        };
        Ok(())
    }
    /// Waits for all that was started.
    fn cuCtxSynchronize(state) {
        state.context()?.synchronize()
    }
    /// The name of an error.
    fn cuGetErrorName(_state, error: u32, to: *mut *const c_char) {
        let found = Code::ALL.into_iter().find(|code| *code as u32 == error);
        put(to, found.ok_or(Code::InvalidValue)?.name().as_ptr())
    }
    /// The description of an error, with details if it is the last error. The pointer is valid until the next error.
    fn cuGetErrorString(state, error: u32, to: *mut *const c_char) {
        let found = Code::ALL.into_iter().find(|code| *code as u32 == error);
        let name = found.ok_or(Code::InvalidValue)?.name();
        let last = state.last.as_ref().filter(|(code, _)| *code as u32 == error);
        put(to, last.map_or(name, |(_, text)| text).as_ptr())
    }
    /// A new stream.
    fn cuStreamCreate(state, to: *mut *mut c_void, _flags: u32) {
        let stream = state.context()?.create_stream()?;
        put(to, pointer(stream))
    }
    /// Ends a stream.
    fn cuStreamDestroy_v2(state, stream: *mut c_void) {
        state.context()?.destroy_stream(handle(stream))
    }
    /// Waits for a stream.
    fn cuStreamSynchronize(state, stream: *mut c_void) {
        state.context()?.stream(handle(stream))
    }
    /// Lets a stream wait for an event, which has been already.
    fn cuStreamWaitEvent(state, stream: *mut c_void, _event: *mut c_void, _flags: u32) {
        state.context()?.stream(handle(stream))
    }
    /// A new event.
    fn cuEventCreate(state, to: *mut *mut c_void, _flags: u32) {
        let event = state.context()?.create_event()?;
        put(to, pointer(event))
    }
    /// Ends an event.
    fn cuEventDestroy_v2(state, event: *mut c_void) {
        state.context()?.destroy_event(handle(event))
    }
    /// Records an event.
    fn cuEventRecord(state, event: *mut c_void, stream: *mut c_void) {
        let device = state.context()?;
        device.stream(handle(stream))?;
        device.record(handle(event))
    }
    /// Waits for an event.
    fn cuEventSynchronize(state, _event: *mut c_void) {
        state.context()?.synchronize()
    }
    /// Milliseconds between two events.
    fn cuEventElapsedTime(state, to: *mut f32, from: *mut c_void, until: *mut c_void) {
        let time = state.context()?.elapsed(handle(from), handle(until))?;
        put(to, time)
    }
    /// Free bytes and all.
    fn cuMemGetInfo_v2(state, free: *mut usize, total: *mut usize) {
        let bytes = state.context()?.free_bytes() as usize;
        put(free, bytes)?;
        put(total, MEMORY as usize)
    }
    /// A pool of memory.
    fn cuMemPoolCreate(state, to: *mut *mut c_void, properties: *const c_void) {
        if properties.is_null() {
            return Err(Code::InvalidValue.into());
        }
        let pool = state.context()?.create_pool()?;
        put(to, pointer(pool))
    }
    /// Destroys a pool.
    fn cuMemPoolDestroy(state, pool: *mut c_void) {
        state.context()?.destroy_pool(handle(pool))
    }
    /// Sets the release threshold of a pool; values of other attributes are accepted and ignored.
    fn cuMemPoolSetAttribute(state, pool: *mut c_void, attribute: i32, value: *const c_void) {
        let pool = state.context()?.pool(handle(pool))?;
        if attribute == THRESHOLD {
            let value = bytes(value, size_of::<u64>())?;
            pool.threshold = value.try_into().map_or(0, u64::from_ne_bytes);
        }
        Ok(())
    }
    /// Bytes that a pool has, or that it has given.
    fn cuMemPoolGetAttribute(state, pool: *mut c_void, attribute: i32, value: *mut u64) {
        let pool = state.context()?.pool(handle(pool))?;
        match attribute {
            RESERVED => put(value, pool.used() + pool.kept),
            USED => put(value, pool.used()),
            _ => Err(Code::InvalidValue.into()),
        }
    }
    /// Releases the cached memory of a pool beyond `bytes` bytes, which include the memory in use.
    fn cuMemPoolTrimTo(state, pool: *mut c_void, bytes: usize) {
        let pool = state.context()?.pool(handle(pool))?;
        pool.kept = pool.kept.min((bytes as u64).saturating_sub(pool.used()));
        Ok(())
    }
    /// Allocates memory of a pool.
    fn cuMemAllocFromPoolAsync(state, to: *mut u64, size: usize, pool: *mut c_void, stream: *mut c_void) {
        let device = state.context()?;
        device.stream(handle(stream))?;
        let address = device.allocate_of(handle(pool), size)?;
        put(to, address)
    }
    /// Frees memory.
    fn cuMemFreeAsync(state, address: u64, _stream: *mut c_void) {
        state.context()?.free(address)
    }
    /// Allocates memory.
    fn cuMemAlloc_v2(state, to: *mut u64, size: usize) {
        let address = state.context()?.allocate(size)?;
        put(to, address)
    }
    /// Frees memory.
    fn cuMemFree_v2(state, address: u64) {
        state.context()?.free(address)
    }
    /// Copies to the device.
    fn cuMemcpyHtoDAsync_v2(state, to: u64, from: *const c_void, size: usize, stream: *mut c_void) {
        let device = state.context()?;
        device.stream(handle(stream))?;
        device.bytes(to, size)?.copy_from_slice(bytes(from, size)?);
        Ok(())
    }
    /// Copies from the device.
    fn cuMemcpyDtoHAsync_v2(state, to: *mut c_void, from: u64, size: usize, stream: *mut c_void) {
        let device = state.context()?;
        device.stream(handle(stream))?;
        put_bytes(to.cast(), device.bytes(from, size)?, size)
    }
    /// Copies on the device.
    fn cuMemcpyDtoDAsync_v2(state, to: u64, from: u64, size: usize, stream: *mut c_void) {
        state.context()?.submit(handle(stream), Work::Copy { to, from, size })
    }
    /// Fills with a byte.
    fn cuMemsetD8Async(state, to: u64, bits: u8, count: usize, stream: *mut c_void) {
        state.context()?.submit(handle(stream), fill(to, &[bits], count))
    }
    /// Fills with two bytes.
    fn cuMemsetD16Async(state, to: u64, bits: u16, count: usize, stream: *mut c_void) {
        state.context()?.submit(handle(stream), fill(to, &bits.to_le_bytes(), count))
    }
    /// Fills with four bytes.
    fn cuMemsetD32Async(state, to: u64, bits: u32, count: usize, stream: *mut c_void) {
        state.context()?.submit(handle(stream), fill(to, &bits.to_le_bytes(), count))
    }
    /// Fills rows with four bytes.
    fn cuMemsetD2D32Async(
        state, to: u64, pitch: usize, bits: u32, width: usize, height: usize, stream: *mut c_void
    ) {
        let pattern = bits.to_le_bytes().to_vec();
        state.context()?.submit(handle(stream), Work::Set { to, pitch, pattern, width, height })
    }
    /// Begins to record a stream.
    fn cuStreamBeginCapture_v2(state, stream: *mut c_void, _mode: i32) {
        state.context()?.begin_capture(handle(stream))
    }
    /// Ends the record of a stream.
    fn cuStreamEndCapture(state, stream: *mut c_void, to: *mut *mut c_void) {
        let graph = state.context()?.end_capture(handle(stream))?;
        put(to, pointer(graph))
    }
    /// A graph that can be launched.
    fn cuGraphInstantiateWithFlags(state, to: *mut *mut c_void, graph: *mut c_void, _flags: u64) {
        let executable = state.context()?.instantiate(handle(graph))?;
        put(to, pointer(executable))
    }
    /// Launches a graph.
    fn cuGraphLaunch(state, executable: *mut c_void, stream: *mut c_void) {
        state.context()?.launch_graph(handle(executable), handle(stream))
    }
    /// Ends a graph that can be launched.
    fn cuGraphExecDestroy(state, executable: *mut c_void) {
        state.context()?.destroy_executable(handle(executable))
    }
    /// Ends a graph.
    fn cuGraphDestroy(state, graph: *mut c_void) {
        state.context()?.destroy_graph(handle(graph))
    }
    /// Loads PTX.
    fn cuModuleLoadDataEx(
        state, to: *mut *mut c_void, image: *const c_char, count: u32, options: *const i32, values: *const *mut c_void
    ) {
        let loaded = state.context()?.load(text(image)?);
        let count = if options.is_null() || values.is_null() { 0 } else { count as usize };
        let value = |option: i32| {
            let at = (0..count).find(|n| options.add(*n).read() == option)?;
            Some(values.add(at).read())
        };
        if let (Err(failure), Some(log), Some(size)) = (&loaded, value(ERROR_LOG), value(ERROR_LOG_BYTES)) {
            let mut said = failure.text.clone().into_bytes();
            said.truncate(size.addr().saturating_sub(1));
            said.push(0);
            put_bytes(log.cast(), &said, size.addr())?;
        }
        put(to, pointer(loaded?))
    }
    /// A kernel by its name.
    fn cuModuleGetFunction(state, to: *mut *mut c_void, module: *mut c_void, name: *const c_char) {
        let function = state.context()?.function(handle(module), text(name)?)?;
        put(to, pointer(function))
    }
    /// Unloads a module.
    fn cuModuleUnload(state, module: *mut c_void) {
        state.context()?.unload(handle(module))
    }
    /// An attribute of a kernel.
    fn cuFuncGetAttribute(state, to: *mut i32, attribute: i32, function: *mut c_void) {
        let value = state.context()?.function_attribute(handle(function), attribute)?;
        put(to, value)
    }
    /// Blocks of a kernel that a multiprocessor has at a time.
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        state, to: *mut i32, function: *mut c_void, block: i32, shared_bytes: usize
    ) {
        let blocks = state.context()?.occupancy(handle(function), block, shared_bytes)?;
        put(to, blocks)
    }
    /// Sets an attribute of a kernel.
    fn cuFuncSetAttribute(state, function: *mut c_void, attribute: i32, value: i32) {
        match attribute {
            MOST_DYNAMIC_SHARED => state.context()?.allow_shared(handle(function), value),
            _ => Err(Code::InvalidValue.into()),
        }
    }
    /// Runs a kernel.
    fn cuLaunchKernel(
        state,
        function: *mut c_void,
        grid_x: u32, grid_y: u32, grid_z: u32,
        block_x: u32, block_y: u32, block_z: u32,
        shared_bytes: u32,
        stream: *mut c_void,
        parameters: *mut *mut c_void,
        _extra: *mut *mut c_void
    ) {
        let device = state.context()?;
        let sizes = match device.counts_only() {
            true => Vec::new(),
            false => device.parameters(handle(function))?,
        };
        if parameters.is_null() && !sizes.is_empty() {
            return Err(Code::InvalidValue.into());
        }
        let values = sizes.iter().enumerate().map(|(n, size)| {
            let from: *const c_void = parameters.add(n).read();
            Ok(bytes(from, *size)?.to_vec())
        });
        device.submit(handle(stream), Work::Launch {
            function: handle(function),
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            shared_bytes: shared_bytes.into(),
            parameters: values.collect::<Result<_>>()?,
        })
    }
    /// Sets the options of the device: `sm_90,order=random,seed=3`. `cuGetErrorString` says what is wrong with them. Once the device is in use
    /// they stay as they are.
    fn fuser_cuda_sim_configure(state, options: *const c_char) {
        let failed = |text: String| Failure { code: Code::InvalidValue, text };
        let options = Options::read(text(options)?).map_err(|error| failed(error.to_string()))?;
        if !state.devices.is_empty() && state.options != options {
            return Err(failed("the device is in use with other options".to_owned()));
        }
        state.options = options;
        Ok(())
    }
    /// The counts of all calls, and of all kernels on the device whose context is current, or the first, as JSON; good until the next call of this.
    fn fuser_cuda_sim_report(state, to: *mut *const c_char) {
        let device = state.devices.get(state.current().unwrap_or(0));
        let mut report = device.ok_or(Code::NotInitialized)?.report();
        report["calls"] = serde_json::json!(state.calls);
        state.report = CString::new(report.to_string()).unwrap_or_default();
        put(to, state.report.as_ptr())
    }
}
