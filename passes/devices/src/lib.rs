//! Ops that are cut along an axis: over the devices of a mesh, with the communication between them, or into tiles on one.
//!
//! ```text
//! user's task.shard and marks    shard          decides how each op is cut       task.cut on ops: taken away, the program is as before
//!                                partition      makes the program of one device  collectives where values lie otherwise than they are read
//! products larger than caches    tile-products  makes a loop over tiles          task.loop, and the program of a turn
//! ```
//!
//! | file | what |
//! |---|---|
//! | `rule.rs`, `table.rs` | the ways in which an op can be cut |
//! | `layout.rs` | layouts of values, and moves between them |
//! | `decide.rs` | the decision, by price |
//! | `local.rs` | an op on parts of its operands |
//! | `shard.rs`, `partition.rs`, `tile_products` | the passes |
//!
//! Never changes the meaning of a program. Sums of floats over several devices are added in another order, which
//! reductions permit.
#![forbid(unsafe_code)]

pub mod decide;
pub mod layout;
mod local;
pub mod partition;
pub mod rule;
pub mod shard;
mod table;
pub mod tile_products;

pub use partition::PARTITION;
pub use shard::SHARD;
pub use tile_products::TILE_PRODUCTS;
