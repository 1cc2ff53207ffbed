//! Programs that run once on each of several devices: ranks, and their communication.
//!
//! An [`Engine`] has one primitive: each rank of a set sends a block of bytes to each other rank and receives one from
//! it. All communications of a program are built on it, in one place (`collective`). Reductions combine operands in
//! ascending order of ranks, each part on one rank, so every engine gives the same bits on every rank.
//!
//! | file | holds |
//! |---|---|
//! | `collective.rs` | a communication with numbers for sizes, and its exchanges |
//! | `reduce.rs` | one tensor of several, element by element |
//! | `walk.rs` | the blocks of a tensor, whatever the order of its axes in memory |
//! | `link.rs` | a rank's place in its groups; the comparison of programs before the first message |
//! | `local.rs` | the engine whose ranks are threads of this process |
//! | `mpi.rs` | the engine whose ranks are processes of an MPI job, with the feature `mpi` |
//! | `run.rs` | a run on all devices of a mesh: inputs are cut, outputs joined |
//!
//! A rank never waits longer than its engine's limit, and none waits for one that has ended: what goes wrong on one rank is an error on every
//! other one that communicates, and it names the rank and the communication.

#[allow(unsafe_code)]
mod collective;
mod fault;
mod link;
#[allow(unsafe_code)]
mod local;
#[cfg(feature = "mpi")]
#[allow(unsafe_code)]
mod mpi;
#[allow(unsafe_code)]
mod reduce;
mod run;
#[allow(unsafe_code)]
mod walk;

pub(crate) use collective::Body;
pub use collective::Collective;
pub use fault::{Communication, Fault, MeshError};
pub(crate) use link::{Link, Seat};
pub use local::{Local, MAX_LOCAL, local_ranks};
#[cfg(feature = "mpi")]
pub use mpi::Mpi;
pub use run::{MeshRun, gather, part_of};

use std::time::Duration;

/// The default time that a rank waits for another rank: several times the duration of a step of a large program.
pub const DEFAULT_LIMIT: Duration = Duration::from_secs(600);

/// The identity of an exchange: all its participants use the same tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// The step of the program.
    pub step: u32,
    /// The number of the exchange in its group, counted from the first run on.
    pub number: u32,
}

/// The bytes to send to a peer, and the memory for bytes from it. An empty slice means no transfer in that direction.
#[derive(Debug)]
pub struct Block<'a> {
    pub peer: usize,
    pub send: &'a [u8],
    pub receive: &'a mut [u8],
}

/// A rank's connection to all others. After an error there are errors only.
pub trait Engine {
    /// The number of this rank, from 0.
    fn rank(&self) -> usize;

    /// The number of all ranks.
    fn ranks(&self) -> usize;

    /// Exchanges a block with each of several peers, which are different from this rank and listed once; returns when
    /// all transfers are done. Each peer must call with the same tag and with matching lengths. Two ranks perform their
    /// exchanges in the same order.
    fn exchange(&mut self, tag: Tag, blocks: &mut [Block<'_>]) -> Result<(), Fault>;

    /// Informs all other ranks that this rank ends, with the reason. An engine may end them at once.
    fn fail(&mut self, reason: &str);
}

/// The engine of a program for one device.
#[derive(Debug)]
pub(crate) struct Solo;

impl Engine for Solo {
    fn rank(&self) -> usize {
        0
    }

    fn ranks(&self) -> usize {
        1
    }

    fn exchange(&mut self, _: Tag, _: &mut [Block<'_>]) -> Result<(), Fault> {
        Ok(())
    }

    fn fail(&mut self, _: &str) {}
}

#[cfg(test)]
#[path = "tests.rs"]
#[allow(unsafe_code)]
mod tests;
