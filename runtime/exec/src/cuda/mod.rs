//! Runs artifacts on an NVIDIA GPU, through the driver alone: no toolkit is needed, to build or to run.
//!
//! The driver is looked for when a device is opened. Without a driver or a GPU, [`CudaDevice::open`] is an error that
//! says `unsupported: no device (...)`; it never panics: all symbols that are used later are looked up first, as a
//! missing one would panic in the binding. PTX that the driver's compiler refuses is an error with its log.
//!
//! Steps run in order on one stream; times come from events on it. Buffers are allocated for each run.

use std::ffi::{CString, c_void};
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream, DriverError, result, sys};

use crate::error::RuntimeError;
use crate::load::LoadError;

mod program;
mod simulator;

pub use program::CudaProgram;
pub use simulator::Simulator;

/// Bytes that are kept of what the driver's compiler says.
const LOG_BYTES: usize = 16 * 1024;

/// Every driver function that this file, or what it calls, may come to.
const SYMBOLS: [&str; 33] = [
    "cuInit",
    "cuDeviceGet",
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
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuEventElapsedTime",
    "cuMemGetInfo_v2",
    "cuMemAllocAsync",
    "cuMemFreeAsync",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyDtoDAsync_v2",
    "cuModuleLoadDataEx",
    "cuModuleGetFunction",
    "cuModuleUnload",
    "cuFuncSetAttribute",
    "cuLaunchKernel",
];

/// A GPU that is ready for use.
#[derive(Clone, Debug)]
pub struct CudaDevice {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    sm: u32,
    /// Shared memory of a block that asks for it.
    shared: u64,
}

impl CudaDevice {
    /// Opens the GPU of that number.
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
        let context = CudaContext::new(ordinal).map_err(no_device)?;
        // SAFETY: everything here runs on one stream, so that no slice is used by two.
        unsafe { context.disable_event_tracking() };
        let (major, minor) = context.compute_capability().map_err(no_device)?;
        let attribute =
            sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
        let shared = context.attribute(attribute).map_err(no_device)?;
        let stream = context.new_stream().map_err(no_device)?;
        let sm = u32::try_from(major * 10 + minor).unwrap_or(0);
        Ok(CudaDevice {
            context,
            stream,
            sm,
            shared: u64::try_from(shared).unwrap_or(0),
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

/// A loaded module; its functions are good for as long as it lives.
struct Module {
    handle: sys::CUmodule,
    context: Arc<CudaContext>,
}

impl Drop for Module {
    fn drop(&mut self) {
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: loaded by `load_module`, unloaded once. An error here has nobody to go to.
            let _ = unsafe { result::module::unload(self.handle) };
        }
    }
}

/// Compiles PTX; the error has the compiler's log.
fn load_module(device: &CudaDevice, kernel: &str, ptx: &str) -> Result<Module, RuntimeError> {
    let refused = |log: String| LoadError::Refused {
        kernel: Some(kernel.to_string()),
        log,
    };
    let text = CString::new(ptx).map_err(|_| refused("the PTX holds a zero byte".to_string()))?;
    device
        .context
        .bind_to_thread()
        .map_err(failed("cuCtxSetCurrent"))?;
    let mut log = vec![0u8; LOG_BYTES];
    let mut options = [
        sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    let mut values = [
        log.as_mut_ptr().cast::<c_void>(),
        std::ptr::without_provenance_mut(LOG_BYTES),
    ];
    let mut handle = std::ptr::null_mut();
    // SAFETY: the text ends in a zero byte, the options are two, and the log has the length that they say.
    let loaded = unsafe {
        let (options, values) = (options.as_mut_ptr(), values.as_mut_ptr());
        sys::cuModuleLoadDataEx(&mut handle, text.as_ptr().cast(), 2, options, values).result()
    };
    match loaded {
        Ok(()) => Ok(Module {
            handle,
            context: device.context.clone(),
        }),
        Err(error) => {
            let said = log.split(|byte| *byte == 0).next().unwrap_or_default();
            let said = String::from_utf8_lossy(said);
            Err(refused(format!("{}: {}", describe_code(error), said.trim())).into())
        }
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

    #[test]
    fn symbols_are_listed_once() {
        let unique: std::collections::BTreeSet<&str> = SYMBOLS.into_iter().collect();
        assert_eq!(unique.len(), SYMBOLS.len());
    }
}
