//! Limits on the content of an artifact, each with its reason. Exceeding one is an error, never a crash.

/// Most tokens in one size expression. Sizes are products of a few extents; a kernel's byte count adds some dozens of
/// them.
pub const MAX_SIZE_OPS: usize = 4096;

/// The most axes of a tensor, as in the IR.
pub const MAX_RANK: usize = 32;

/// Most axes of a product's factor that are read through windows: a convolution with more axes is decomposed.
pub const MAX_WINDOWS: usize = 4;

/// Most threads of a block that any NVIDIA GPU takes.
pub const MAX_BLOCK: u32 = 1024;

/// Most versions of a program. Each is for extents of another size class; there are few.
pub const MAX_VERSIONS: usize = 8;

/// Most devices of a mesh: far beyond any machine, and few enough that tables of all of them are small.
pub const MAX_DEVICES: usize = 1 << 20;

/// Alignment in bytes of every buffer and scratch area that a kernel is handed: a cache line, and the widest vector.
pub const BUFFER_ALIGN: usize = 64;
