//! Every way in which a run can fail, as one type.

use std::fmt;

use fuser_artifact::ArtifactError;

use crate::bind::BindError;
use crate::binding::CallError;
use crate::checks::CheckError;
use crate::devices::MeshError;
use crate::load::LoadError;
use crate::memory::MemoryError;
use crate::npy::NpyError;
use crate::run_plan::PlanError;
use crate::spec::SpecError;
use crate::tensor::TensorError;
use crate::workers::WorkersError;

/// The reason that an artifact could not be run.
#[derive(Debug)]
pub enum RuntimeError {
    Artifact(ArtifactError),
    Bind(BindError),
    Plan(PlanError),
    Memory(MemoryError),
    Load(LoadError),
    Workers(WorkersError),
    Npy(NpyError),
    Check(CheckError),
    Call(CallError),
    /// A program of several devices.
    Mesh(MeshError),
    /// The error of one rank of several.
    Rank {
        rank: usize,
        error: Box<RuntimeError>,
    },
    /// A description of an input, with the input's name.
    Spec {
        input: String,
        error: SpecError,
    },
    /// A tensor given for an input, with the input's name.
    Input {
        input: String,
        error: TensorError,
    },
    /// A description for an input that the program does not have.
    UnknownInput {
        name: String,
        known: Vec<String>,
    },
    /// An artifact for one kind of device given to another.
    Target {
        expected: &'static str,
        found: &'static str,
    },
    /// There is no GPU, or none that can be used.
    NoDevice {
        reason: String,
    },
    /// The artifact is for a newer GPU.
    Capability {
        needed: u32,
        found: u32,
    },
    /// A call of the GPU's driver failed.
    Device {
        call: &'static str,
        message: String,
    },
    /// A step of a run failed on a GPU.
    Step {
        step: StepName,
        error: Box<RuntimeError>,
    },
    /// A run whose steps depend on data cannot be recorded.
    Recorded,
    /// A GPU has too little memory.
    DeviceMemory {
        /// Bytes that were asked for.
        requested: u64,
        /// Bytes that are free, and those that there are.
        free: u64,
        total: u64,
        /// Bytes that the program takes in all.
        planned: u64,
    },
    /// A kernel requires more shared memory for a block than the device has.
    SharedMemory {
        kernel: String,
        bytes: u64,
        limit: u64,
        /// The driver's words, where it is the driver that refuses.
        message: Option<String>,
    },
    /// A kernel's grid is larger than the device takes.
    Grid {
        kernel: String,
        grid: i64,
        limit: i64,
    },
}

/// A step of a run, as messages name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepName {
    /// The kernel; `None` for a copy or a fill.
    pub kernel: Option<String>,
    /// The product that a library computes instead of the kernel: its shape and its types.
    pub product: Option<String>,
    /// Its place among the steps, counted from 1, and how many there are.
    pub number: usize,
    pub steps: usize,
    /// The number of blocks, the threads of a block, and the dynamic shared memory of a block; all 0 if nothing is
    /// launched.
    pub grid: i64,
    pub block: u32,
    pub shared_bytes: u32,
}

impl fmt::Display for StepName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StepName {
            number,
            steps,
            grid,
            block,
            shared_bytes,
            ..
        } = self;
        write!(f, "step {number} of {steps}, ")?;
        match &self.kernel {
            Some(kernel) if let Some(product) = &self.product => {
                write!(f, "cuBLASLt in place of kernel `{kernel}`: {product}")
            }
            Some(kernel) => write!(
                f,
                "kernel `{kernel}` with {grid} blocks of {block} threads and {shared_bytes} bytes of shared memory"
            ),
            None => f.write_str("which moves bytes"),
        }
    }
}

impl fmt::Display for RuntimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RuntimeError::Artifact(error) => error.fmt(f),
            RuntimeError::Bind(error) => error.fmt(f),
            RuntimeError::Plan(error) => error.fmt(f),
            RuntimeError::Memory(error) => error.fmt(f),
            RuntimeError::Load(error) => error.fmt(f),
            RuntimeError::Workers(error) => error.fmt(f),
            RuntimeError::Npy(error) => error.fmt(f),
            RuntimeError::Check(error) => error.fmt(f),
            RuntimeError::Call(error) => error.fmt(f),
            RuntimeError::Mesh(error) => error.fmt(f),
            RuntimeError::Rank { rank, error } => write!(f, "rank {rank}: {error}"),
            RuntimeError::Step { step, error } => write!(f, "{step}: {error}"),
            RuntimeError::DeviceMemory {
                requested,
                free,
                total,
                planned,
            } => write!(
                f,
                "too little memory on the GPU: asked for {requested} bytes, {free} of {total} are free; the program takes {planned} in all"
            ),
            RuntimeError::Spec { input, error } => write!(f, "input `{input}`: {error}"),
            RuntimeError::Input { input, error } => write!(f, "input `{input}`: {error}"),
            RuntimeError::UnknownInput { name, known } if known.is_empty() => {
                write!(f, "the program has no input `{name}`, nor any other")
            }
            RuntimeError::UnknownInput { name, known } => {
                write!(
                    f,
                    "the program has no input `{name}` (it has {})",
                    known.join(", ")
                )
            }
            RuntimeError::Target { expected, found } => {
                write!(f, "the artifact is for {found}, this device is {expected}")
            }
            RuntimeError::Recorded => f.write_str(
                "a loop or a branch of the program goes where its data says: its runs cannot be recorded",
            ),
            RuntimeError::NoDevice { reason } => write!(f, "unsupported: no device ({reason})"),
            RuntimeError::Capability { needed, found } => {
                write!(
                    f,
                    "the artifact is for sm_{needed}, this device is sm_{found}: compile for an older GPU, --target=cuda:sm_{found}"
                )
            }
            RuntimeError::Device { call, message } => write!(f, "{call} failed: {message}"),
            RuntimeError::SharedMemory {
                kernel,
                bytes,
                limit,
                message,
            } => {
                write!(
                    f,
                    "a block of kernel `{kernel}` asks for {bytes} bytes of shared memory, the device has {limit} for one"
                )?;
                match message {
                    Some(message) => write!(f, " (cuFuncSetAttribute failed: {message})"),
                    None => Ok(()),
                }
            }
            RuntimeError::Grid {
                kernel,
                grid,
                limit,
            } => {
                write!(
                    f,
                    "kernel `{kernel}` has a grid of {grid}, the device takes at most {limit}"
                )
            }
        }
    }
}

impl std::error::Error for RuntimeError {}

macro_rules! from {
    ($($variant:ident($error:ty)),*) => {
        $(impl From<$error> for RuntimeError {
            fn from(error: $error) -> RuntimeError {
                RuntimeError::$variant(error)
            }
        })*
    };
}

from!(
    Artifact(ArtifactError),
    Bind(BindError),
    Plan(PlanError),
    Memory(MemoryError),
    Load(LoadError),
    Workers(WorkersError),
    Npy(NpyError),
    Check(CheckError),
    Call(CallError),
    Mesh(MeshError)
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_no_other_test_shows() {
        let error = RuntimeError::UnknownInput {
            name: "q".to_string(),
            known: vec!["x".to_string(), "w".to_string()],
        };
        assert_eq!(
            error.to_string(),
            "the program has no input `q` (it has x, w)"
        );
        let error = RuntimeError::Grid {
            kernel: "k".to_string(),
            grid: 9,
            limit: 8,
        };
        assert_eq!(
            error.to_string(),
            "kernel `k` has a grid of 9, the device takes at most 8"
        );
        let call = "cuLaunchKernel";
        let message = "CUDA_ERROR_INVALID_VALUE".to_string();
        let error = RuntimeError::Device { call, message };
        assert_eq!(
            error.to_string(),
            "cuLaunchKernel failed: CUDA_ERROR_INVALID_VALUE"
        );
        let error = RuntimeError::Capability {
            needed: 90,
            found: 80,
        };
        let text = "the artifact is for sm_90, this device is sm_80: compile for an older GPU, --target=cuda:sm_80";
        assert_eq!(error.to_string(), text);
        let error = RuntimeError::SharedMemory {
            kernel: "k".to_string(),
            bytes: 9,
            limit: 8,
            message: Some("CUDA_ERROR_INVALID_VALUE".to_string()),
        };
        assert_eq!(
            error.to_string(),
            "a block of kernel `k` asks for 9 bytes of shared memory, the device has 8 for one (cuFuncSetAttribute failed: CUDA_ERROR_INVALID_VALUE)"
        );
        let reason = "CUDA_ERROR_NO_DEVICE".to_string();
        let error = RuntimeError::NoDevice { reason };
        let text = "unsupported: no device (CUDA_ERROR_NO_DEVICE)";
        assert_eq!(error.to_string(), text);
        let error = RuntimeError::Target {
            expected: "a CPU",
            found: "a GPU",
        };
        assert_eq!(
            error.to_string(),
            "the artifact is for a GPU, this device is a CPU"
        );
    }
}
