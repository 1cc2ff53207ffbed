//! Compiled kernels of an artifact as callable code, for the runtime's loader.

use fuser_artifact::abi::CpuEntry;
use fuser_artifact::{Code, KernelCode};

use crate::error::CodegenError;
use crate::link::Loaded;

/// The kernels of an artifact, linked into this process. Dropping it unmaps them, so it must outlive every call.
#[derive(Debug)]
pub struct Library {
    code: Loaded,
}

impl Library {
    /// Links all object-code kernels. PTX is refused: a driver loads that.
    pub fn load(kernels: &[KernelCode]) -> Result<Self, CodegenError> {
        let object = |kernel: &'_ KernelCode| match &kernel.code {
            Code::Object(bytes) => Ok(bytes.clone()),
            Code::Ptx(_) => Err(CodegenError::Load(format!(
                "`{}` is PTX, not object code",
                kernel.name
            ))),
        };
        let objects: Vec<Vec<u8>> = kernels.iter().map(object).collect::<Result<_, _>>()?;
        let borrowed: Vec<&[u8]> = objects.iter().map(Vec::as_slice).collect();
        let code = Loaded::new(&borrowed)?;
        // Linking is lazy: ask for every entry now, so that what is missing shows before anything runs.
        for kernel in kernels {
            code.lookup(&kernel.symbol)?;
        }
        Ok(Library { code })
    }

    /// The kernel with that entry name.
    pub fn entry(&self, symbol: &str) -> Result<CpuEntry, CodegenError> {
        self.code.cpu_entry(symbol)
    }
}
