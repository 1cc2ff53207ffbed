//! A simulated NVIDIA GPU: a shared library with the entry points of CUDA's driver, which runs PTX on the CPU.
//!
//! A program that uses the driver goes its whole way without a GPU: modules, attributes, streams, events, copies, launches. Kernels run in blocks, in
//! warps of 32 lanes, in an order that the options say, and every memory access is checked. What a kernel does wrong (races, accesses out of
//! bounds or misaligned, shared memory that nobody wrote, barriers and shuffles that not all threads reach) is an error with its place; what
//! it does is counted. `docs/gpu-simulator.md` is the manual.
//!
//! Reading order: `text` (PTX as statements), `compute` (the table of instructions), `decode` (kernels as steps), `demanded` (which bytes of a load matter), `memory` (allocations and who used
//! which byte), `execute` (blocks, warps, lanes), `matrix` (tensor cores), `count`, `finding`, `order`, `cublaslt` (products by a library), `device` (limits, modules, launches),
//! `driver` (the entry points, and all unsafe code).
//!
//! Knows neither IR nor the compiler; of targets only their figures. Reads no environment: whoever loads the library gives the options.

#![deny(unsafe_op_in_unsafe_fn)]

pub mod approximate;
pub mod compute;
pub mod count;
pub mod cublaslt;
pub mod decode;
pub mod demanded;
pub mod device;
pub mod driver;
pub mod error;
pub mod execute;
pub mod finding;
pub mod matrix;
pub mod memory;
pub mod order;
pub mod text;
