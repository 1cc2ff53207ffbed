//! The result of a compilation as plain data: kernels, a launch plan, a buffer plan, names and sizes.
//!
//! An [`Artifact`] is all that a runtime needs to run a program. Sizes that depend on the shapes of the inputs are
//! [`SizeExpr`]s over the program's named extents, so that one artifact serves every shape.
//!
//! ```
//! use fuser_artifact::{Artifact, SizeExpr, Target};
//!
//! let mut artifact = Artifact::new("double", Target::Cuda { sm: 80 });
//! artifact.extents.push("B".to_string());
//! let elements = SizeExpr::extent(0) * SizeExpr::constant(1024);
//! assert_eq!(elements.to_string(), "$0 1024 *");
//! assert_eq!(elements.evaluate(&[3]).unwrap(), 3072);
//!
//! let text = artifact.to_json().unwrap();
//! assert_eq!(Artifact::from_json(&text).unwrap(), artifact);
//! ```
//!
//! This crate knows no IR, no LLVM, no device and no file. Reading one never panics: [`Artifact::validate`] has checked
//! every index and every expression of an artifact that [`Artifact::from_json`] accepts. The machine code inside is
//! beyond checking: an artifact is to be trusted as much as an executable.

#![forbid(unsafe_code)]

pub mod abi;
mod artifact;
mod binary;
mod dtype;
mod error;
mod hex;
mod json;
mod jumps;
pub mod limits;
mod mesh;
mod size;
mod validate;

pub use artifact::{
    Artifact, Bound, BufferKind, BufferSpec, Code, Collective, Combine, DimSpec, Direction, Factor,
    GpuProduct, KernelCode, Multiple, Routine, SegmentInfo, SegmentKind, SegmentValue, Step,
    Target, TensorSpec, VERSION, Window,
};
pub use dtype::{DType, Kind, UnknownDType};
pub use error::{ArtifactError, Entry, Problem};
pub use mesh::{Mesh, MeshAxis, Sharding};
pub use size::{ParseSizeError, SizeError, SizeExpr, SizeFault, SizeOp};
