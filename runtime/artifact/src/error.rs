//! Errors of reading, writing and validating an artifact.

use std::fmt;

use crate::limits::{MAX_BLOCK, MAX_DEVICES, MAX_RANK, MAX_VERSIONS};
use crate::size::SizeError;

/// The reason that an artifact cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArtifactError {
    /// The text is not JSON of an artifact.
    Json { message: String },
    /// The artifact is of a format that this version does not know.
    Version { found: u32, supported: u32 },
    /// The data do not match the checksum.
    Damaged,
    /// The data contradict themselves.
    Invalid { entry: Entry, problem: Problem },
}

/// An entry of an artifact, with its index in its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    Extent(usize),
    Input(usize),
    Output(usize),
    Buffer(usize),
    Kernel(usize),
    Step(usize),
    Segment(usize),
    Update(usize),
    /// A bound of a version, or the version itself.
    Bound(usize),
    Multiple(usize),
    Version(usize),
    Mesh,
}

/// A contradiction at an entry of an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    Size(SizeError),
    EmptyName,
    /// A name that the list has already.
    Duplicate {
        name: String,
    },
    /// A position beyond the end of a list.
    Index {
        list: &'static str,
        index: u32,
        len: usize,
    },
    Rank {
        rank: usize,
    },
    /// The order of a tensor's axes in memory does not list each of them once.
    Order {
        rank: usize,
    },
    /// A tensor and its buffer, or the two sides of a copy, differ in their element type.
    DType {
        expected: &'static str,
        found: &'static str,
    },
    /// An input's buffer is not declared as that input's.
    NotItsBuffer {
        buffer: u32,
    },
    /// A buffer claims to be the memory of a tensor that has another buffer.
    NotItsTensor {
        tensor: u32,
    },
    /// The code is for another kind of machine than the target.
    CodeForOtherTarget,
    Block {
        threads: u32,
    },
    /// A temporary whose last step is before its first, or is no step.
    Lifetime {
        first: u32,
        last: u32,
        steps: usize,
    },
    /// An output that lives in a temporary.
    TempOutput {
        buffer: u32,
    },
    /// A part of a buffer that is neither a temporary nor an output.
    NoParts {
        buffer: u32,
    },
    /// A step uses a temporary outside its lifetime.
    Dead {
        buffer: u32,
        first: u32,
        last: u32,
    },
    /// A step that jumps into a loop or a side of a branch, or out of one, or one that makes neither.
    Jump {
        to: u32,
    },
    /// A copy of a buffer to itself.
    SelfCopy {
        buffer: u32,
    },
    /// A copy or fill of an input that no output updates.
    WritesInput {
        buffer: u32,
    },
    /// The axes of a product's tensors do not match its loops.
    Loops,
    /// A call with a type that it does not support, or on a GPU, or with a result that is an operand.
    NoCall,
    /// A version with inputs, outputs or updates that differ from those of the first version, or with another target.
    OtherProgram,
    /// More versions than there may be.
    TooManyVersions,
    /// A mesh without devices along an axis, or with more than there may be.
    Devices,
    /// Axes of a mesh that are unknown or listed twice, or other tensors than the program has.
    Sharding,
    /// A communication of a program that has no mesh, or one of devices that the group has not.
    Group,
    /// An input that is overwritten, and no output lives in its buffer.
    NoUpdate {
        buffer: u32,
    },
}

impl fmt::Display for ArtifactError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArtifactError::Json { message } => write!(f, "not an artifact: {message}"),
            ArtifactError::Version { found, supported } => write!(
                f,
                "artifact of format version {found}, this program reads versions 1 to {supported}"
            ),
            ArtifactError::Damaged => {
                f.write_str("damaged artifact: it is not what its checksum was made of")
            }
            ArtifactError::Invalid { entry, problem } => {
                write!(f, "invalid artifact: {entry}: {problem}")
            }
        }
    }
}

impl std::error::Error for ArtifactError {}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Entry::Extent(index) => write!(f, "extents[{index}]"),
            Entry::Input(index) => write!(f, "inputs[{index}]"),
            Entry::Output(index) => write!(f, "outputs[{index}]"),
            Entry::Buffer(index) => write!(f, "buffers[{index}]"),
            Entry::Kernel(index) => write!(f, "kernels[{index}]"),
            Entry::Step(index) => write!(f, "steps[{index}]"),
            Entry::Segment(index) => write!(f, "segments[{index}]"),
            Entry::Update(index) => write!(f, "updates[{index}]"),
            Entry::Bound(index) => write!(f, "requires[{index}]"),
            Entry::Multiple(index) => write!(f, "multiples[{index}]"),
            Entry::Version(index) => write!(f, "version {index}"),
            Entry::Mesh => f.write_str("mesh"),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Size(error) => error.fmt(f),
            Problem::EmptyName => f.write_str("empty name"),
            Problem::Duplicate { name } => write!(f, "second `{name}`"),
            Problem::Index { list, index, len } => write!(f, "{list}[{index}] of {len}"),
            Problem::Rank { rank } => write!(f, "{rank} axes, at most {MAX_RANK} are possible"),
            Problem::Order { rank } => write!(f, "its order does not list {rank} axes once each"),
            Problem::DType { expected, found } => {
                write!(f, "element type {found}, expected {expected}")
            }
            Problem::NotItsBuffer { buffer } => {
                write!(f, "buffers[{buffer}] is not the memory of this input")
            }
            Problem::NotItsTensor { tensor } => {
                write!(f, "tensor {tensor} of that kind lives in another buffer")
            }
            Problem::CodeForOtherTarget => f.write_str("code for another kind of target"),
            Problem::Block { threads } => {
                write!(
                    f,
                    "{threads} threads in a block, possible are 1 to {MAX_BLOCK}"
                )
            }
            Problem::Lifetime { first, last, steps } => {
                write!(f, "live from step {first} to {last} of {steps} steps")
            }
            Problem::Dead {
                buffer,
                first,
                last,
            } => write!(
                f,
                "uses buffers[{buffer}], which lives from step {first} to {last}"
            ),
            Problem::NoParts { buffer } => write!(
                f,
                "buffers[{buffer}] has no parts: it is no temporary and no output"
            ),
            Problem::TempOutput { buffer } => {
                write!(
                    f,
                    "buffers[{buffer}] is a temporary, it cannot hold an output"
                )
            }
            Problem::Jump { to } => write!(f, "it makes no loop or branch with step {to}"),
            Problem::SelfCopy { buffer } => write!(f, "copies buffers[{buffer}] to itself"),
            Problem::Loops => f.write_str("its axes are not the loops of its call"),
            Problem::NoCall => f.write_str("no call computes this"),
            Problem::OtherProgram => f.write_str("it is no version of this program"),
            Problem::TooManyVersions => write!(f, "at most {MAX_VERSIONS} versions are possible"),
            Problem::Devices => {
                write!(f, "its axes do not have 1 to {MAX_DEVICES} devices in all")
            }
            Problem::Sharding => f.write_str(
                "its axes do not cut each tensor of the program, each axis at most once",
            ),
            Problem::Group => f.write_str("it communicates with devices that the mesh has not"),
            Problem::NoUpdate { buffer } => {
                write!(f, "no output lives in buffers[{buffer}]")
            }
            Problem::WritesInput { buffer } => {
                write!(
                    f,
                    "writes to buffers[{buffer}], an input that no output updates"
                )
            }
        }
    }
}
