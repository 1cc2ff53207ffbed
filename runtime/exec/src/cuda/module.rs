//! A module is PTX that the driver has compiled for a device.
//!
//! A device caches the most recently loaded modules by their text, so a program that is loaded again or shares kernels
//! with another needs no compilation. Across processes, the driver caches compiled code on disk.

use std::collections::VecDeque;
use std::ffi::{CString, c_void};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::{CudaContext, DriverError, result, sys};
use fuser_artifact::{Code, KernelCode};

use super::{CudaDevice, describe_code};
use crate::error::RuntimeError;
use crate::load::LoadError;

/// Bytes that are kept of what the driver's compiler says.
const LOG_BYTES: usize = 16 * 1024;

/// Modules that a device keeps, those in use apart: a few large programs.
const MOST_MODULES: usize = 256;

/// A loaded module; its functions are good for as long as it lives.
pub(super) struct Module {
    handle: sys::CUmodule,
    context: Arc<CudaContext>,
}

// SAFETY: a handle that any thread may use for which the context is current.
unsafe impl Send for Module {}
// SAFETY: as above; the driver locks what it must.
unsafe impl Sync for Module {}

impl Drop for Module {
    fn drop(&mut self) {
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: loaded by `load`, unloaded once. An error here has nobody to go to.
            let _ = unsafe { result::module::unload(self.handle) };
        }
    }
}

/// The loaded modules of a device, the most recently used last.
#[derive(Default)]
pub(super) struct Modules(Mutex<VecDeque<(String, Arc<Module>)>>);

impl fmt::Debug for Modules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Modules")
    }
}

/// A kernel that can be launched.
#[derive(Clone)]
pub(super) struct Function {
    pub handle: sys::CUfunction,
    /// Keeps the handle good.
    _module: Arc<Module>,
}

// SAFETY: a handle that any thread may use for which the context is current.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

impl CudaDevice {
    /// The function of a kernel in code of it.
    pub(super) fn function(
        &self,
        kernel: &KernelCode,
        code: &Code,
    ) -> Result<Function, RuntimeError> {
        let ptx = match code {
            Code::Ptx(text) => text.as_str(),
            Code::Object(_) => "",
        };
        let module = self.module(&kernel.name, ptx)?;
        let missing = || LoadError::NoSymbol {
            kernel: kernel.name.clone(),
            symbol: kernel.symbol.clone(),
        };
        let symbol = CString::new(kernel.symbol.as_str()).map_err(|_| missing())?;
        // SAFETY: the module is loaded, and stays so for as long as the function lives.
        let handle = unsafe { result::module::get_function(module.handle, symbol) };
        Ok(Function {
            handle: handle.map_err(|_| missing())?,
            _module: module,
        })
    }

    fn module(&self, kernel: &str, ptx: &str) -> Result<Arc<Module>, RuntimeError> {
        let mut kept = self
            .modules
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let known = kept.iter().position(|(text, _)| text == ptx);
        let entry = match known.and_then(|at| kept.remove(at)) {
            Some(entry) => entry,
            None => (ptx.to_string(), Arc::new(self.load(kernel, ptx)?)),
        };
        let module = Arc::clone(&entry.1);
        kept.push_back(entry);
        while kept.len() > MOST_MODULES {
            kept.pop_front();
        }
        Ok(module)
    }

    /// Compiles PTX; the error has the compiler's log.
    fn load(&self, kernel: &str, ptx: &str) -> Result<Module, RuntimeError> {
        let refused = |log: String| LoadError::Refused {
            kernel: Some(kernel.to_string()),
            log,
        };
        let text =
            CString::new(ptx).map_err(|_| refused("the PTX holds a zero byte".to_string()))?;
        self.bind()?;
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
                context: self.context.clone(),
            }),
            Err(error) => {
                let said = log.split(|byte| *byte == 0).next().unwrap_or_default();
                let said = String::from_utf8_lossy(said);
                let hint = hint(error);
                let log = format!("{}: {}{hint}", describe_code(error), said.trim());
                Err(refused(log).into())
            }
        }
    }

    /// Permits launches of a function to use all shared memory of a block that its static `own` bytes leave. Launches
    /// within the default limit need no such call.
    pub(super) fn allow_shared(&self, function: &Function, own: u64) -> Result<(), DriverError> {
        let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let value = i32::try_from(self.shared_optin.saturating_sub(own)).unwrap_or(i32::MAX);
        // SAFETY: the function is loaded.
        unsafe { result::function::set_function_attribute(function.handle, attribute, value) }
    }
}

/// Advice on the error of the driver's compiler.
fn hint(error: DriverError) -> &'static str {
    match error.0 {
        sys::CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => {
            " (the driver is older than the PTX: update it, or compile for an older GPU, --target=cuda:sm_80)"
        }
        _ => "",
    }
}

impl Function {
    /// Registers of a thread; 0 where the driver does not say.
    pub fn registers(&self) -> Result<i32, DriverError> {
        let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS;
        // SAFETY: the function is loaded.
        unsafe { result::function::get_function_attribute(self.handle, attribute) }
    }

    /// The number of resident blocks on a multiprocessor, for `block` threads and `shared_bytes` bytes of dynamic
    /// shared memory.
    pub fn blocks_per_multiprocessor(
        &self,
        block: u32,
        shared_bytes: u32,
    ) -> Result<i32, DriverError> {
        let block = i32::try_from(block).unwrap_or(i32::MAX);
        // SAFETY: the function is loaded.
        unsafe {
            let occupancy = result::occupancy::max_active_block_per_multiprocessor;
            occupancy(self.handle, block, shared_bytes as usize)
        }
    }
}
