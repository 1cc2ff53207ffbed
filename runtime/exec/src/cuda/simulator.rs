//! A library with the driver's entry points that simulates a GPU in place of the driver.
//!
//! The binding looks up the driver by name. The simulator is loaded earlier, by its path, with the driver's name as its
//! `DT_SONAME`; the loader then resolves the binding's request to it. On systems other than Linux, where libraries are
//! identified by file alone, this fails with an error.

use std::ffi::{CStr, CString, c_char};
use std::path::PathBuf;

use cudarc::driver::sys;
use libloading::Library;

use super::{CudaDevice, describe};
use crate::error::RuntimeError;

/// A simulated GPU.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Simulator {
    /// The library.
    pub library: PathBuf,
    /// Its options: `sm_90,order=reverse`.
    pub options: String,
}

/// The simulator's own entry points.
const CONFIGURE: &[u8] = b"fuser_cuda_sim_configure";
const REPORT: &[u8] = b"fuser_cuda_sim_report";
type Configure = unsafe extern "C" fn(*const c_char) -> sys::CUresult;
type Report = unsafe extern "C" fn(*mut *const c_char) -> sys::CUresult;

impl CudaDevice {
    /// Opens the simulated GPU with this number. A process has one driver: from now on it is the simulator, with these
    /// options.
    ///
    /// # Errors
    /// [`RuntimeError::NoDevice`] if the library cannot be loaded, refuses the options, is in use with other options,
    /// or has no such GPU.
    pub fn open_simulated(
        simulator: &Simulator,
        ordinal: usize,
    ) -> Result<CudaDevice, RuntimeError> {
        let no_device = |reason: String| RuntimeError::NoDevice { reason };
        // SAFETY: the library runs no code when it is loaded.
        let library = unsafe { Library::new(&simulator.library) };
        let library = library.map_err(|error| no_device(error.to_string()))?;
        // SAFETY: a library that has a function of this name has it with these arguments.
        let configure = unsafe { library.get::<Configure>(CONFIGURE) };
        let configure = configure.map_err(|error| no_device(error.to_string()))?;
        if !is_simulated() {
            return Err(no_device(
                "the driver of this process is not the simulator".to_string(),
            ));
        }
        let options = CString::new(simulator.options.as_str());
        let options = options.map_err(|error| no_device(error.to_string()))?;
        // SAFETY: the text ends in zero.
        let configured = unsafe { configure(options.as_ptr()) };
        configured
            .result()
            .map_err(|error| no_device(describe(error)))?;
        // The driver stays in use to the end of the process.
        std::mem::forget(library);
        CudaDevice::start(ordinal)
    }
}

impl CudaDevice {
    /// The simulator's counters since the start of the process, as JSON (docs/gpu-simulator.md); `None` for a real GPU.
    pub fn simulated_counts(&self) -> Option<String> {
        report()
    }
}

/// True if the driver that the binding finds is the simulator.
pub(super) fn is_simulated() -> bool {
    // SAFETY: loads the driver's library, whose initialisation is trusted; a symbol is looked for and not called.
    unsafe { sys::is_culib_present() && sys::culib().get::<Report>(REPORT).is_ok() }
}

/// The simulator's counts as JSON; none of a driver.
pub(super) fn report() -> Option<String> {
    if !is_simulated() {
        return None;
    }
    let mut text = std::ptr::null();
    // SAFETY: the library is there; a function of this name has these arguments.
    let code = unsafe { sys::culib().get::<Report>(REPORT).ok()?(&mut text) };
    if code.result().is_err() || text.is_null() {
        return None;
    }
    // SAFETY: the text ends in zero, and is good until the next report, which this thread would ask for.
    let text = unsafe { CStr::from_ptr(text) };
    Some(text.to_string_lossy().into_owned())
}
