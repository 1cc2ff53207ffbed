//! The ways in which programs of several devices fail.

use std::fmt;
use std::time::Duration;

use super::Tag;

/// An exchange that did not take place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A rank did not come within the limit.
    Late { rank: usize, limit: Duration },
    /// A rank is in another exchange.
    Elsewhere {
        rank: usize,
        expected: Tag,
        /// None where the engine does not know.
        found: Option<Tag>,
    },
    /// A rank sends another number of bytes.
    Bytes {
        rank: usize,
        expected: usize,
        found: usize,
    },
    /// A rank has ended.
    Ended { rank: usize, reason: String },
    /// The engine's library failed.
    Engine { message: String },
}

impl Fault {
    /// The rank at fault, where it is known.
    pub fn rank(&self) -> Option<usize> {
        match self {
            Fault::Late { rank, .. }
            | Fault::Elsewhere { rank, .. }
            | Fault::Bytes { rank, .. }
            | Fault::Ended { rank, .. } => Some(*rank),
            Fault::Engine { .. } => None,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Late { rank, limit } => {
                write!(
                    f,
                    "rank {rank} did not come within {} s",
                    limit.as_secs_f64()
                )
            }
            Fault::Elsewhere {
                rank,
                expected,
                found,
            } => {
                let Tag { step, number } = expected;
                let here = format!("in step {step} here, number {number}");
                write!(f, "rank {rank} is in another communication: {here}")?;
                match found {
                    Some(Tag { step, number }) => {
                        write!(f, ", in step {step} there, number {number}")
                    }
                    None => Ok(()),
                }
            }
            Fault::Bytes {
                rank,
                expected,
                found,
            } => {
                write!(f, "rank {rank} sends {found} bytes, expected {expected}")
            }
            Fault::Ended { rank, reason } => write!(f, "rank {rank} has ended: {reason}"),
            Fault::Engine { message } => f.write_str(message),
        }
    }
}

impl std::error::Error for Fault {}

/// A communication of a run, as messages name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Communication {
    /// The name of the op.
    pub kind: &'static str,
    /// The segment that it belongs to.
    pub segment: String,
    /// Its number in the run of this rank, counted from 1.
    pub number: u64,
}

impl fmt::Display for Communication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Communication {
            kind,
            segment,
            number,
        } = self;
        write!(f, "communication {number}, `{kind}` of segment `{segment}`")
    }
}

/// The reason that a program of several devices did not run on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MeshError {
    /// A program of several devices on one.
    NoEngine { devices: usize },
    /// A program of another number of devices than there are ranks.
    Ranks { devices: usize, ranks: usize },
    /// More devices than an engine has ranks.
    TooMany { devices: usize, limit: usize },
    /// A program without a mesh.
    NoMesh,
    /// A rank runs another program than rank 0 does.
    Program { rank: usize },
    /// A rank runs the program with other shapes.
    Shapes { rank: usize },
    /// The ranks could not compare their programs.
    Meeting(Fault),
    /// The outputs could not be brought to one rank.
    Outputs(Fault),
    /// A communication that did not take place.
    Broken {
        at: Box<Communication>,
        fault: Fault,
    },
    /// A rank panicked.
    Panicked { message: String },
}

impl fmt::Display for MeshError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MeshError::NoEngine { devices } => write!(
                f,
                "the program is for {devices} devices, and runs on one here"
            ),
            MeshError::Ranks { devices, ranks } => {
                write!(
                    f,
                    "the program is for {devices} devices, there are {ranks} ranks"
                )
            }
            MeshError::TooMany { devices, limit } => write!(
                f,
                "the program is for {devices} devices, at most {limit} can be threads of one process"
            ),
            MeshError::NoMesh => f.write_str("the program is for one device: it has no mesh"),
            MeshError::Program { rank } => write!(
                f,
                "rank {rank} runs another program than rank 0: each must compile the same text, for the same processor, with the same options"
            ),
            MeshError::Shapes { rank } => write!(
                f,
                "rank {rank} runs the program with other lengths of named extents than rank 0"
            ),
            MeshError::Meeting(fault) => {
                write!(
                    f,
                    "before the first communication, comparing programs: {fault}"
                )
            }
            MeshError::Outputs(fault) => {
                write!(
                    f,
                    "after the last communication, collecting outputs: {fault}"
                )
            }
            MeshError::Broken { at, fault } => write!(f, "{at}: {fault}"),
            MeshError::Panicked { message } => write!(f, "it panicked: {message}"),
        }
    }
}

impl std::error::Error for MeshError {}
