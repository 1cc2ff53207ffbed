//! A GPU that compiled programs run on.

use std::path::Path;

use fuser_ir::source::SourceMap;
use fuser_ir::{Diagnostic, Ir, Place};
use fuser_runtime::cuda::{CudaDevice, DeviceMemory};

use super::{Error, Options, Result};
use crate::session;
use crate::tool::gpu;

/// A GPU of this machine, or a simulated one.
#[derive(Clone, Debug)]
pub struct Gpu {
    device: CudaDevice,
    number: usize,
}

impl Gpu {
    /// Opens the GPU `number`, counted from 0 as the driver does. `FUSER_CUDA=sim:sm_90` in the environment selects a
    /// simulated one (docs/gpu-simulator.md), whose library lies beside the file `tool`.
    ///
    /// # Errors
    /// A machine without a driver or without such a GPU; a value of `FUSER_CUDA` that names none.
    pub fn open(number: usize, tool: &Path) -> Result<Self> {
        let simulator = gpu::simulator().map_err(|message| {
            let error = Diagnostic::error(&session::error::INPUT, Place::Unknown, message);
            Error::of(vec![error], &SourceMap::default())
        })?;
        let device = gpu::open_beside(tool, simulator, number)?;
        Ok(Self::of(device, number))
    }

    /// A device that is open, and its number.
    pub fn of(device: CudaDevice, number: usize) -> Self {
        Self { device, number }
    }

    /// Its number, as DLPack and other libraries have it.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The driver's device: memory, streams.
    pub fn device(&self) -> &CudaDevice {
        &self.device
    }

    /// New memory of the device, which any stream may use.
    ///
    /// # Errors
    /// Too little memory.
    pub fn allocate(&self, bytes: usize) -> Result<DeviceMemory> {
        let memory = self.device.allocate(bytes)?;
        self.device.synchronize()?;
        Ok(memory)
    }
}

impl Options {
    /// Programs run on this GPU. The target is the one that [`compile`](Self::compile) names if that is a GPU, else the
    /// newest one that the device runs. Kernels accept tensors at any multiple of their elements' size.
    ///
    /// # Errors
    /// A GPU for which no code is made.
    pub fn with_gpu(mut self, gpu: Gpu) -> Result<Self> {
        let target = session::for_device(&self.compile.target, gpu.device.sm());
        let empty = || Ir::new(fuser_dialects::registry());
        self.compile.target = target
            .map_err(|error| Error::of(error.diagnostics(&empty()), &SourceMap::default()))?;
        self.compile.any_address = true;
        self.gpu = Some(gpu);
        Ok(self)
    }
}
