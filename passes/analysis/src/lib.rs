//! Analyses of tensor programs: the iteration space of a set of ops and the price of running it as one kernel.
//!
//! Reading order: `axes` (the dimensions that share one loop), `cost` (how a set of ops runs as one kernel, and the
//! bytes that it moves), `executors` (the means to run an op as a whole), `targets` (pass options that name the machine
//! and the extents to decide for).
//!
//! Used by all passes. `cost` alone decides the loop nest of a sweep, from the roles and tiles that it prices, and
//! `schedule` writes it. Never edits the IR.
#![forbid(unsafe_code)]

pub mod axes;
pub mod cost;
pub mod executors;
pub mod targets;
