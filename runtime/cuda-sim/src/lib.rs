//! A simulated NVIDIA GPU: a shared library with the entry points of CUDA's driver, which runs PTX on the CPU.
//!
//! A program that uses the driver runs completely without a GPU: modules, attributes, streams, events, copies,
//! launches. Kernels run in blocks, in warps of 32 lanes, in an order chosen by the options, and every memory access is
//! checked. Mistakes of a kernel (races, accesses out of bounds or misaligned, reads of uninitialized shared memory,
//! barriers and shuffles that not all threads reach) are errors with their location. Its work is counted.
//! `docs/gpu-simulator.md` is the manual.
//!
//! Reading order: `text` (PTX as statements), `compute` (the table of instructions), `decode` (kernels as steps),
//! `demanded` (the demanded bytes of a load), `memory` (allocations and the last accesses to each byte), `execute`
//! (blocks, warps, lanes), `matrix` (tensor cores), `count`, `finding`, `order`, `cublaslt` (products by a library),
//! `device` (limits, modules, launches), `driver` (the entry points, and all unsafe code).
//!
//! Independent of the IR and the compiler, except for the figures of targets. Reads no environment variables: the
//! loader of the library passes the options.

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
