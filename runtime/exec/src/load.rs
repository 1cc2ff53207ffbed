//! Access to the machine code of CPU kernels.
//!
//! The runtime contains neither a linker nor LLVM: its owner supplies a [`CodeLoader`]. An entry from a loader must be
//! code for the ABI of [`fuser_artifact::abi`], and must stay callable as long as its [`LoadedCode`] lives. The
//! runtime's unsafe calls rely on that contract.

use std::fmt;

pub use fuser_artifact::abi::CpuEntry;
use fuser_artifact::{KernelCode, Target};

/// Turns object code into callable code.
pub trait CodeLoader {
    /// Loads kernels compiled for `target`; refuses them if this processor lacks a feature of the target.
    fn load(
        &self,
        target: &Target,
        kernels: &[KernelCode],
    ) -> Result<Box<dyn LoadedCode>, LoadError>;
}

/// Code in memory; dropping it frees the code.
pub trait LoadedCode: Send + Sync {
    /// The kernel of that symbol.
    fn entry(&self, symbol: &str) -> Option<CpuEntry>;
}

/// Code that cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// The linker or driver refused; `log` is what it said.
    Refused { kernel: Option<String>, log: String },
    /// The code is for a CPU that has what this one lacks.
    OtherCpu { cpu: String, missing: Vec<String> },
    /// The code has no such symbol.
    NoSymbol { kernel: String, symbol: String },
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Refused {
                kernel: Some(kernel),
                log,
            } => {
                write!(f, "cannot load kernel `{kernel}`: {log}")
            }
            LoadError::Refused { kernel: None, log } => write!(f, "cannot load the kernels: {log}"),
            LoadError::OtherCpu { cpu, missing } => write!(
                f,
                "the code is for the processor '{cpu}', this one lacks {}",
                missing.join(", ")
            ),
            LoadError::NoSymbol { kernel, symbol } => {
                write!(f, "the code of kernel `{kernel}` has no symbol `{symbol}`")
            }
        }
    }
}

impl std::error::Error for LoadError {}
