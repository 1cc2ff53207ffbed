//! Execution of artifacts: memory, inputs and files, the plan of a run, and the CPU and GPU that execute it.
//!
//! A run has these stages: [`inputs::resolve`] reads or generates the inputs, [`bind`] gives the named extents their
//! values, and [`run_plan`] turns every size into a number and gives every buffer a place. A device ([`cpu`], [`cuda`])
//! then executes the steps. The memory of a run is known before any allocation.
//!
//! This crate sees artifacts and never the IR: it does not know the meaning of a program. It contains no linker;
//! kernels for the CPU come through a [`CodeLoader`]. It reads no environment variables, and two [`Runtime`]s share
//! nothing.
//!
//! Unsafe code is in `memory` (aligned allocation), `execute` (calling kernels, copying), `product` (calling a library), `gemm` (instructions that not every processor has, assembly, walking tensors), `attention` (both), `scatter`, `sort` and `routine` (walking tensors),
//! `executable` (copying), `bound` (the calls of any device), `devices` (blocks that other threads read, walking tensors), `team` (threads that call what lies on another's stack), `cuda` (driver calls) and `streams`
//! (a look at the process before Rust's start-up).

#![deny(unsafe_code)]

#[allow(unsafe_code)]
mod attention;
pub mod bind;
mod binding;
#[allow(unsafe_code)]
mod bound;
pub mod checks;
mod copy;
pub mod cpu;
#[cfg(feature = "cuda")]
#[allow(unsafe_code)]
pub mod cuda;
pub mod devices;
pub mod element;
mod error;
#[allow(unsafe_code)]
pub mod executable;
#[allow(unsafe_code)]
mod execute;
mod frame;
#[allow(unsafe_code)]
mod gemm;
pub mod inputs;
mod load;
#[allow(unsafe_code)]
pub mod memory;
pub mod npy;
mod npy_header;
pub mod npz;
pub mod plan;
#[allow(unsafe_code)]
mod product;
mod random;
mod report;
#[allow(unsafe_code)]
mod routine;
pub mod run_plan;
mod runtime;
#[allow(unsafe_code)]
mod scatter;
mod small;
#[allow(unsafe_code)]
mod sort;
pub mod spec;
#[allow(unsafe_code)]
pub mod streams;
#[allow(unsafe_code)]
mod team;
pub mod tensor;
#[cfg(test)]
mod testing;
mod timeline;
mod workers;

pub use bind::{BindError, Explicit};
pub use binding::{CallError, Operand};
pub use bound::BoundProgram;
pub use checks::CheckError;
pub use copy::{CopyTime, copy_bandwidth};
pub use cpu::{CpuProgram, RunResult};
pub use devices::{Engine, MeshError, MeshRun};
pub use error::{RuntimeError, StepName};
pub use executable::Executable;
pub use inputs::{Inputs, resolve};
pub use load::{CodeLoader, CpuEntry, LoadError, LoadedCode};
pub use memory::{Heap, MemoryError, Pool, Reservation};
pub use npy::NpyError;
pub use report::{GpuReport, LaunchReport, RunReport, SegmentReport, ValueReport};
pub use run_plan::{PlanError, RunPlan};
pub use runtime::{RunOptions, Runtime, RuntimeConfig};
pub use spec::{Generator, InputSpec, SpecError};
pub use team::Effort;
pub use tensor::{Axis, HostTensor, Shape, TensorError};
pub use timeline::WorkSpan;
pub use workers::{MAX_WORKERS, Workers, WorkersError};
