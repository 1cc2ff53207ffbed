//! Execution of artifacts on an NVIDIA GPU through the driver alone: no toolkit is needed to build or to run.
//!
//! The driver is searched when a device is opened. Without a driver or a GPU, [`CudaDevice::open`] returns an error
//! that says `unsupported: no device (...)`. It never panics: all symbols used later are looked up first, since a
//! missing one would panic in the binding. PTX refused by the driver's compiler is an error with the compiler's log.
//!
//! A [`CudaProgram`] is code on a device; a [`CudaExecutable`] is one with its extents and memory, and runs on the
//! caller's pointers and stream. Runs on host tensors use it as well: they allocate, copy, and measure times by events.
//!
//! Reading order: this file (the device), `pool`, `memory`, `module`, `library` (products by cuBLASLt), `steps`, `executable`, `graph`, `program`; `simulator` puts a simulated GPU in the driver's place.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream, DriverError, sys};

use crate::error::RuntimeError;
use library::Libraries;
use module::Modules;
use pool::Pool;

mod executable;
mod graph;
mod library;
mod memory;
mod module;
mod pool;
mod program;
mod simulator;
mod steps;

pub use executable::CudaExecutable;
pub use graph::CudaGraph;
pub use memory::DeviceMemory;
pub use program::CudaProgram;
pub use simulator::Simulator;

/// Every driver function that this file, or what it calls, may come to.
const SYMBOLS: [&str; 50] = [
    "cuInit",
    "cuDeviceGet",
    "cuDeviceGetCount",
    "cuDeviceGetAttribute",
    "cuDeviceGetName",
    "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxRelease_v2",
    "cuCtxGetCurrent",
    "cuCtxSetCurrent",
    "cuCtxSynchronize",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuStreamCreate",
    "cuStreamDestroy_v2",
    "cuStreamSynchronize",
    "cuStreamWaitEvent",
    "cuStreamBeginCapture_v2",
    "cuStreamEndCapture",
    "cuGraphInstantiateWithFlags",
    "cuGraphLaunch",
    "cuGraphExecDestroy",
    "cuGraphDestroy",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuEventElapsedTime",
    "cuMemGetInfo_v2",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuMemPoolCreate",
    "cuMemPoolDestroy",
    "cuMemPoolGetAttribute",
    "cuMemPoolSetAttribute",
    "cuMemAllocFromPoolAsync",
    "cuMemFreeAsync",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyDtoDAsync_v2",
    "cuMemsetD8Async",
    "cuMemsetD16Async",
    "cuMemsetD32Async",
    "cuMemsetD2D32Async",
    "cuModuleLoadDataEx",
    "cuModuleGetFunction",
    "cuModuleUnload",
    "cuFuncGetAttribute",
    "cuFuncSetAttribute",
    "cuOccupancyMaxActiveBlocksPerMultiprocessor",
    "cuLaunchKernel",
];

/// A GPU that is ready for use.
#[derive(Clone, Debug)]
pub struct CudaDevice {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    /// The modules that it loaded last.
    modules: Arc<Modules>,
    libraries: Arc<Libraries>,
    /// The pool of its memory; none of a device that has no pools.
    pool: Option<Arc<Pool>>,
    sm: u32,
    /// Shared memory of any block, and of one that asks for it.
    shared: u64,
    shared_optin: u64,
    threads_per_multiprocessor: u32,
}

impl PartialEq for CudaDevice {
    /// True for the same device of the same driver.
    fn eq(&self, other: &CudaDevice) -> bool {
        self.context == other.context
    }
}

impl CudaDevice {
    /// Opens the GPU with this number, counted from 0 as the driver does (`CUDA_VISIBLE_DEVICES` restricts the visible
    /// ones).
    ///
    /// # Errors
    /// [`RuntimeError::NoDevice`] without a driver, with one that is too old, or without such a GPU.
    pub fn open(ordinal: usize) -> Result<CudaDevice, RuntimeError> {
        if simulator::is_simulated() {
            let reason = "the driver is a simulator that was not asked for".to_string();
            return Err(RuntimeError::NoDevice { reason });
        }
        CudaDevice::start(ordinal)
    }

    fn start(ordinal: usize) -> Result<CudaDevice, RuntimeError> {
        find_driver()?;
        let no_device = |error: DriverError| RuntimeError::NoDevice {
            reason: describe(error),
        };
        let count = CudaContext::device_count().map_err(no_device)?;
        if !usize::try_from(count).is_ok_and(|count| ordinal < count) {
            let reason =
                format!("there is no GPU {ordinal}, the driver has {count}, counted from 0");
            return Err(RuntimeError::NoDevice { reason });
        }
        let context = CudaContext::new(ordinal).map_err(no_device)?;
        // SAFETY: everything here runs on one stream, so that no slice is used by two.
        unsafe { context.disable_event_tracking() };
        let (major, minor) = context.compute_capability().map_err(no_device)?;
        use sys::CUdevice_attribute as Attribute;
        let attribute = |attribute| context.attribute(attribute).map_err(no_device);
        let shared = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?;
        let optin = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
        let threads = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?;
        let stream = context.new_stream().map_err(no_device)?;
        let pool = Pool::new(&context).map_err(no_device)?;
        let sm = u32::try_from(major * 10 + minor).unwrap_or(0);
        Ok(CudaDevice {
            context,
            stream,
            modules: Arc::default(),
            libraries: Arc::default(),
            pool: pool.map(Arc::new),
            sm,
            shared: u64::try_from(shared).unwrap_or(0),
            shared_optin: u64::try_from(optin).unwrap_or(0),
            threads_per_multiprocessor: u32::try_from(threads).unwrap_or(0),
        })
    }

    /// The compute capability: 80 for 8.0.
    pub fn sm(&self) -> u32 {
        self.sm
    }

    /// The device's name, for reports.
    pub fn name(&self) -> Result<String, RuntimeError> {
        self.context.name().map_err(failed("cuDeviceGetName"))
    }

    /// A stream of the device's own, as a `CUstream` in a number.
    pub fn stream(&self) -> u64 {
        self.stream.cu_stream().addr() as u64
    }

    /// Waits for all work of the device's own stream.
    ///
    /// # Errors
    /// An error of the driver, which may come from a kernel.
    pub fn synchronize(&self) -> Result<(), RuntimeError> {
        let done = self.stream.synchronize();
        done.map_err(failed("cuStreamSynchronize"))
    }

    /// Waits for all work of a stream, a `CUstream` as a number.
    ///
    /// # Errors
    /// An error of the driver, which may come from a kernel.
    ///
    /// # Safety
    /// The stream belongs to the device's primary context.
    pub unsafe fn wait_for(&self, stream: u64) -> Result<(), RuntimeError> {
        self.bind()?;
        let stream: sys::CUstream = std::ptr::without_provenance_mut(stream as usize);
        // SAFETY: the caller's word.
        let done = unsafe { cudarc::driver::result::stream::synchronize(stream) };
        done.map_err(failed("cuStreamSynchronize"))
    }

    /// Makes the device's context current for this thread.
    fn bind(&self) -> Result<(), RuntimeError> {
        let bound = self.context.bind_to_thread();
        bound.map_err(failed("cuCtxSetCurrent"))
    }
}

/// Refuses a machine without the driver, or with one that is too old.
fn find_driver() -> Result<(), RuntimeError> {
    let no_device = |reason: String| Err(RuntimeError::NoDevice { reason });
    // SAFETY: loads the driver's library, whose initialisation is trusted.
    if !unsafe { sys::is_culib_present() } {
        return no_device("the NVIDIA driver library libcuda was not found".to_string());
    }
    // SAFETY: the library is there, so this does not panic; the symbol is looked for and not called.
    let missing = |symbol: &&&str| unsafe {
        sys::culib()
            .get::<unsafe extern "C" fn()>(symbol.as_bytes())
            .is_err()
    };
    match SYMBOLS.iter().find(missing) {
        Some(symbol) => no_device(format!(
            "the NVIDIA driver has no `{symbol}`: it is too old"
        )),
        None => Ok(()),
    }
}

/// The error's name.
fn describe_code(error: DriverError) -> String {
    let name = error
        .error_name()
        .map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|_| format!("error {}", error.0 as u32))
}

/// The error's name, and the driver's sentence on it.
fn describe(error: DriverError) -> String {
    let name = describe_code(error);
    match error.error_string() {
        Ok(text) if text.to_bytes() != name.as_bytes() => {
            format!("{name}: {}", text.to_string_lossy())
        }
        _ => name,
    }
}

fn failed(call: &'static str) -> impl Fn(DriverError) -> RuntimeError {
    move |error| RuntimeError::Device {
        call,
        message: describe(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Opening a device succeeds on a machine with a GPU; everywhere else it is an error with this text, and never a
    /// panic.
    #[test]
    fn no_device_is_an_error() {
        match CudaDevice::open(0) {
            Ok(device) => assert!(device.sm() >= 50),
            Err(error) => {
                let text = error.to_string();
                assert!(text.starts_with("unsupported: no device ("), "{text}");
            }
        }
        let error = CudaDevice::open(usize::MAX).unwrap_err().to_string();
        assert!(error.starts_with("unsupported: no device ("), "{error}");
    }

    /// Threads may share programs, and hand executables and graphs on.
    #[test]
    fn threads_may_have_what_is_theirs() {
        fn sent<T: Send>() {}
        fn shared<T: Send + Sync>() {}
        shared::<CudaDevice>();
        shared::<CudaProgram>();
        shared::<DeviceMemory>();
        sent::<CudaExecutable>();
        sent::<CudaGraph>();
    }

    #[test]
    fn symbols_are_listed_once() {
        let unique: std::collections::BTreeSet<&str> = SYMBOLS.into_iter().collect();
        assert_eq!(unique.len(), SYMBOLS.len());
    }
}
