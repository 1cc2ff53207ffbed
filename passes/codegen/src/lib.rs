//! Kernel IR to LLVM, and LLVM to machine code and PTX: the only crate that depends on LLVM.
//!
//! Reading order: [`llvm`] (on-demand loading of the library), [`target`] (targets), [`cpu`] and [`gpu`] (families of
//! processors: their instructions, and workarounds for LLVM's instruction selection), [`expr`] and [`memory`] (IR
//! construction), [`math`] (elementary functions), [`convert`] (number formats), [`lower`] (kernels to code). Then
//! [`link`] and [`load`] (object code into the process), and [`cache`] (compiled kernels).
//!
//! Accesses no files except LLVM's own, no environment variables and no devices. Never aborts on any input, since
//! constructs that LLVM cannot select are refused before LLVM sees them.
#![deny(unsafe_code)]

pub mod cache;
pub mod convert;
pub mod cpu;
pub mod error;
pub mod expr;
#[allow(unsafe_code)]
pub mod gpu;
#[allow(unsafe_code)]
mod host;
#[allow(unsafe_code)]
pub mod link;
#[allow(unsafe_code)]
pub mod llvm;
pub mod load;
pub mod lower;
pub mod math;
pub mod memory;
mod strided;
pub mod target;

pub use cache::Cache;
pub use error::CodegenError;
pub use load::Library;
pub use lower::{
    Around, BufferBytes, Emission, Kernels, Options, buffer_bytes, compile_kernels, emit, functions,
};
pub use target::Target;
