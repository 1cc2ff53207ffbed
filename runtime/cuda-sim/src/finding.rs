//! A finding is something that a kernel must not do, with its place: kernel, line of the PTX, block and thread.

use std::fmt;

use crate::decode::Space;

/// A finding with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The kernel.
    pub kernel: String,
    /// The line of the PTX, counted from 1.
    pub line: u32,
    /// The block.
    pub block: [u32; 3],
    /// The thread, counted over all axes.
    pub thread: u32,
    /// The mistake.
    pub kind: FindingKind,
}

/// The party that a thread meets in a race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Other {
    /// The other thread; `None` for several threads, and for a thread of another block.
    pub thread: Option<u32>,
    /// True if it is in another block.
    pub block: bool,
    /// True if it wrote.
    pub wrote: bool,
}

/// The mistakes that are found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FindingKind {
    /// Two threads access the same byte without an order, and at least one of them writes.
    Race {
        /// The memory.
        space: Space,
        /// The byte's address.
        address: u64,
        /// True if this thread writes.
        writes: bool,
        /// The other thread.
        other: Other,
    },
    /// Shared memory is read that no thread of the block wrote.
    Uninitialized {
        /// The byte's address.
        address: u64,
    },
    /// An access outside of all allocations, or over the end of one.
    OutOfBounds {
        /// The memory.
        space: Space,
        /// The first byte's address.
        address: u64,
        /// Bytes of the access.
        size: u64,
    },
    /// An access whose address is no multiple of its size.
    Misaligned {
        /// The memory.
        space: Space,
        /// The address.
        address: u64,
        /// Bytes of the access.
        size: u64,
    },
    /// Shared memory of another block that may have ended: no barrier of the cluster follows.
    EndedBlock,
    /// A barrier that some threads of the block never reach, or that they reach elsewhere.
    DivergentBarrier,
    /// A shuffle that some lanes which take part in it never reach.
    DivergentShuffle,
    /// A matrix instruction that not all 32 lanes of a warp reach.
    DivergentMatrix,
    /// A shuffle from a lane that does not take part.
    AbsentLane {
        /// The lane.
        lane: u32,
    },
    /// A launch that takes more steps than any is given.
    Endless,
}

impl FindingKind {
    /// The error that a driver reports: its own where the hardware finds the mistake too, else a failed launch.
    pub fn code(&self) -> Code {
        match self {
            FindingKind::OutOfBounds { .. } => Code::IllegalAddress,
            FindingKind::Misaligned { .. } => Code::MisalignedAddress,
            FindingKind::Endless => Code::LaunchTimeout,
            FindingKind::Race { .. }
            | FindingKind::Uninitialized { .. }
            | FindingKind::EndedBlock
            | FindingKind::DivergentBarrier
            | FindingKind::DivergentShuffle
            | FindingKind::DivergentMatrix
            | FindingKind::AbsentLane { .. } => Code::LaunchFailed,
        }
    }
}

fn name(space: Space) -> &'static str {
    match space {
        Space::Global => "global",
        Space::Shared => "shared",
        Space::Cluster => "the cluster's shared",
        Space::Constant => "constant",
        Space::Parameter => "parameter",
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FindingKind::Race {
                space,
                address,
                writes,
                other,
            } => {
                let own = if *writes { "writes" } else { "reads" };
                write!(
                    f,
                    "race in {} memory: {own} byte {address:#x}, which ",
                    name(*space)
                )?;
                match other.thread {
                    _ if other.block => write!(f, "another block")?,
                    Some(thread) => write!(f, "thread {thread}")?,
                    None => write!(f, "several threads")?,
                }
                let has = if other.wrote { "wrote" } else { "read" };
                write!(f, " {has} with no barrier between")
            }
            FindingKind::Uninitialized { address } => {
                write!(
                    f,
                    "shared memory that nobody wrote is read at byte {address:#x}"
                )
            }
            FindingKind::OutOfBounds {
                space,
                address,
                size,
            } => {
                write!(
                    f,
                    "{size} bytes at {address:#x} are out of bounds in {} memory",
                    name(*space)
                )
            }
            FindingKind::Misaligned {
                space,
                address,
                size,
            } => {
                write!(
                    f,
                    "{size} bytes at {address:#x} are misaligned in {} memory",
                    name(*space)
                )
            }
            FindingKind::EndedBlock => {
                write!(
                    f,
                    "shared memory of another block is read, which may have ended"
                )
            }
            FindingKind::DivergentBarrier => {
                write!(
                    f,
                    "divergent barrier: not all threads of the block reach it"
                )
            }
            FindingKind::DivergentShuffle => {
                write!(f, "divergent shuffle: not all lanes of the warp reach it")
            }
            FindingKind::DivergentMatrix => {
                write!(
                    f,
                    "divergent matrix instruction: not all 32 lanes of the warp reach it"
                )
            }
            FindingKind::AbsentLane { lane } => {
                write!(f, "shuffle from lane {lane}, which takes no part")
            }
            FindingKind::Endless => write!(f, "the launch takes too many steps"),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.block;
        write!(
            f,
            "{} (kernel '{}', line {}, block ({x}, {y}, {z}), thread {})",
            self.kind, self.kernel, self.line, self.thread
        )
    }
}

impl std::error::Error for Finding {}

/// The error codes of CUDA's driver that the simulator gives, with their numbers and names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    /// No error.
    Success = 0,
    /// An argument is out of range.
    InvalidValue = 1,
    /// The memory does not suffice.
    OutOfMemory = 2,
    /// `cuInit` was not called.
    NotInitialized = 3,
    /// There is no device of that number.
    InvalidDevice = 101,
    /// There is no such context, or none is current.
    InvalidContext = 201,
    /// The PTX is refused.
    InvalidPtx = 218,
    /// There is no such module, function, stream or event.
    InvalidHandle = 400,
    /// A stream that is, or is not, recorded into a graph.
    IllegalState = 401,
    /// There is no function of that name.
    NotFound = 500,
    /// An access out of bounds.
    IllegalAddress = 700,
    /// A launch that runs for too long.
    LaunchTimeout = 702,
    /// A misaligned access.
    MisalignedAddress = 716,
    /// Another mistake of a kernel.
    LaunchFailed = 719,
    /// A feature that the device does not have.
    NotSupported = 801,
    /// A call that a graph cannot hold.
    CaptureUnsupported = 900,
}

impl Code {
    /// All codes.
    pub const ALL: [Code; 16] = [
        Code::Success,
        Code::InvalidValue,
        Code::OutOfMemory,
        Code::NotInitialized,
        Code::InvalidDevice,
        Code::InvalidContext,
        Code::InvalidPtx,
        Code::InvalidHandle,
        Code::IllegalState,
        Code::NotFound,
        Code::IllegalAddress,
        Code::LaunchTimeout,
        Code::MisalignedAddress,
        Code::LaunchFailed,
        Code::NotSupported,
        Code::CaptureUnsupported,
    ];
    /// The name, as `cuGetErrorName` has it.
    pub const fn name(self) -> &'static std::ffi::CStr {
        match self {
            Code::Success => c"CUDA_SUCCESS",
            Code::InvalidValue => c"CUDA_ERROR_INVALID_VALUE",
            Code::OutOfMemory => c"CUDA_ERROR_OUT_OF_MEMORY",
            Code::NotInitialized => c"CUDA_ERROR_NOT_INITIALIZED",
            Code::InvalidDevice => c"CUDA_ERROR_INVALID_DEVICE",
            Code::InvalidContext => c"CUDA_ERROR_INVALID_CONTEXT",
            Code::InvalidPtx => c"CUDA_ERROR_INVALID_PTX",
            Code::InvalidHandle => c"CUDA_ERROR_INVALID_HANDLE",
            Code::IllegalState => c"CUDA_ERROR_ILLEGAL_STATE",
            Code::NotFound => c"CUDA_ERROR_NOT_FOUND",
            Code::IllegalAddress => c"CUDA_ERROR_ILLEGAL_ADDRESS",
            Code::LaunchTimeout => c"CUDA_ERROR_LAUNCH_TIMEOUT",
            Code::MisalignedAddress => c"CUDA_ERROR_MISALIGNED_ADDRESS",
            Code::LaunchFailed => c"CUDA_ERROR_LAUNCH_FAILED",
            Code::NotSupported => c"CUDA_ERROR_NOT_SUPPORTED",
            Code::CaptureUnsupported => c"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
        }
    }
}
