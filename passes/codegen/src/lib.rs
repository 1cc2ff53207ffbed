//! Kernel IR to LLVM, and LLVM to machine code and PTX: the only crate that knows LLVM.
//!
//! Reading order: [`llvm`] (the library is loaded when it is needed), [`target`] (what code is for), [`expr`] and [`memory`] (how IR is built), [`math`] (the elementary
//! functions), [`convert`] (number formats), [`lower`] (kernels to code), `product` (products of matrices on a GPU).
//! Then `byte_swaps` and `one_lane` (what LLVM cannot select, or selects wrongly), [`link`] and [`load`] (object code into the process), and
//! [`cache`] (what was compiled before).
//!
//! Knows nothing of files (but LLVM's own), environment or devices; never aborts on input, since whatever LLVM could not select is
//! refused before LLVM sees it.
#![deny(unsafe_code)]

mod byte_swaps;
pub mod cache;
pub mod convert;
pub mod error;
pub mod expr;
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
mod one_lane;
mod product;
mod strided;
pub mod target;

pub use cache::Cache;
pub use error::CodegenError;
pub use load::Library;
pub use lower::{BufferBytes, Emission, Options, buffer_bytes, compile_kernels, emit};
pub use target::Target;
