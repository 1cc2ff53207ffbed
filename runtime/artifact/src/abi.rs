//! The calling convention of kernels: the contract between code generation and the runtimes.
//!
//! # CPU
//! [`CpuEntry`] runs the grid iterations `begin..end` of `0..grid`.
//! - `buffers` points to one address per entry of the launch's `buffers`, in that order. The buffer of a program's
//!   input is aligned to the size of its elements. So is the buffer of an output, unless
//!   [`lines`](crate::KernelCode::lines) is set. Any other buffer is aligned to
//!   [`BUFFER_ALIGN`](crate::limits::BUFFER_ALIGN) bytes. Buffers do not overlap unless the launch names one twice.
//! - `extents` points to the values of the launch's `extents`, in that order.
//! - `scratch` points to the launch's `scratch_bytes` bytes, aligned likewise, private to the calling worker, with
//!   arbitrary contents. It may be dangling (but aligned) if `scratch_bytes` is 0.
//!
//! Calls for disjoint ranges may run at the same time, in any order. Any split of `0..grid` must leave the same bytes:
//! partial results belong to a grid index, never to a worker.
//!
//! # CUDA
//! `.entry name(.u64 pointer ..., .s64 extent ...)`. Pointers are aligned as above, or, for the kernel's `any_address`
//! pointers, to the size of their elements. A block computes the grid iteration `blockIdx.y * gridDim.x + blockIdx.x`,
//! and does nothing if there is no such iteration. `block.x` is the launch's `block`; `scratch_bytes` is the dynamic
//! shared memory of a block.

/// A CPU kernel: `(buffers, extents, begin, end, scratch)`. The module's doc states the requirements on each.
pub type CpuEntry = unsafe extern "C" fn(
    buffers: *const *mut u8,
    extents: *const i64,
    begin: i64,
    end: i64,
    scratch: *mut u8,
);
