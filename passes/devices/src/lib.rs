//! Programs on the devices of a mesh: the distribution of the computation, and the communication between devices.
//!
//! ```text
//! user's task.shard and marks    shard      decides how each op is cut       task.cut on ops: taken away, the program is as before
//!                                partition  makes the program of one device  collectives where values lie otherwise than they are read
//! ```
//!
//! | file | what |
//! |---|---|
//! | `rule.rs`, `table.rs` | the ways in which an op can be cut |
//! | `layout.rs` | layouts of values, and moves between them |
//! | `decide.rs` | the decision, by price |
//! | `shard.rs`, `partition.rs` | the passes |
//!
//! Never changes the meaning of a program. Sums of floats over several devices are added in another order, which
//! reductions permit.
#![forbid(unsafe_code)]

pub mod decide;
pub mod layout;
pub mod partition;
pub mod rule;
pub mod shard;
mod table;

pub use partition::PARTITION;
pub use shard::SHARD;
