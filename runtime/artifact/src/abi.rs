//! The calling convention of kernels: the contract between code generation and the runtimes.
//!
//! # CPU
//! [`CpuEntry`] runs the grid iterations `begin..end` of `0..grid`.
//! - `buffers` points to one address per entry of the launch's `buffers`, in that order. A buffer of the program's
//!   inputs is aligned to its elements' size, and so is one of its outputs, unless [`lines`](crate::KernelCode::lines)
//!   stands; any other one to [`BUFFER_ALIGN`](crate::limits::BUFFER_ALIGN) bytes. Buffers do not overlap unless the
//!   launch names one twice.
//! - `extents` points to the values of the launch's `extents`, in that order.
//! - `scratch` points to the launch's `scratch_bytes` bytes, aligned likewise, private to the calling worker, with
//!   arbitrary contents. It may be dangling (but aligned) where `scratch_bytes` is 0.
//!
//! Calls for disjoint ranges may run at the same time, in any order. Any split of `0..grid` must leave the same bytes:
//! partial results belong to a grid index, never to a worker.
//!
//! # CUDA
//! `.entry name(.u64 pointer ..., .s64 extent ...)`, pointers aligned as above, or in a kernel's `any_address` to their
//! elements' size: a block does the grid iteration `blockIdx.y * gridDim.x + blockIdx.x`, and nothing where that is
//! none; `block.x` is the launch's `block`; `scratch_bytes` is the dynamic shared memory of a block.

/// A CPU kernel: `(buffers, extents, begin, end, scratch)`. The module's doc states the requirements on each.
pub type CpuEntry = unsafe extern "C" fn(
    buffers: *const *mut u8,
    extents: *const i64,
    begin: i64,
    end: i64,
    scratch: *mut u8,
);
