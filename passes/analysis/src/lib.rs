//! Analyses of tensor programs: the iteration space of a set of ops and the price of running it as one kernel.
//!
//! Reading order: `axes` (which loops are the same), `cost` (how a set of ops runs as one kernel, and the bytes that it moves),
//! `executors` (who runs an op as a whole), `targets` (the options of passes that name the machine and the extents to decide for).
//!
//! Asked by all passes. Decides nothing and never edits the IR.
#![forbid(unsafe_code)]

pub mod axes;
pub mod cost;
pub mod executors;
pub mod targets;
