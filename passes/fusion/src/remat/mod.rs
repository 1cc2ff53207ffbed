//! Rematerialization: a kernel recomputes values whose loads cost more.
//!
//! For given kernels in run order the pass chooses the values that are written to memory at all (the outer search). For
//! each kernel by itself it then chooses the values to load and the values to recompute: a minimum cut whose capacities
//! are stored bytes and prices of recomputation. A kernel without values to write is removed.
//!
//! ```text
//! %h = task.segment @s0 { %h = fusion.cast %x to f32 ; ... }      (f32, 4 bytes, written and read)
//! %y = task.segment @s1 { %y = fusion.exp %h }
//!   =>
//! %y = task.segment @s1 { %h = fusion.cast %x to f32 ; %y = fusion.exp %h }      (bf16, 2 bytes, read once)
//! ```
//!
//! Never recomputes a reduction, a pinned op, a barrier, or a value that must be in memory; never moves work from a
//! kernel to an earlier one; never changes a program's result, which is still written once. An accepted change strictly
//! lowers the cost, so the pass terminates, and running it again changes nothing. The cost model must accept every
//! changed kernel; a kernel that it refuses is left unchanged.
//!
//! Reading order: `problem.rs` (the problem as plain data, and prices), `cut.rs` (the loads and ops of one kernel by a
//! minimum cut), `flow.rs` (maximum flow), `trace.rs` (kernels solved before), `search.rs` (the values to write),
//! `solutions.rs` (problems solved before), `extract.rs` (from IR), `apply.rs` (to IR), `cost_cache.rs` (costs of
//! kernels), `improve.rs` (the driver), `pass.rs`.

mod apply;
mod cost_cache;
mod cut;
mod extract;
mod flow;
mod improve;
mod pass;
mod problem;
mod search;
mod solutions;
#[cfg(test)]
mod tests;
mod trace;

pub(crate) use cost_cache::drawn;
pub(crate) use improve::{Config, improve};
pub use pass::REMAT;
pub use problem::{Kernel, OpInfo, Problem, Solution, ValueInfo};
pub use search::{Search, solve};
pub(crate) use solutions::{Contents, Foreseen, Solutions};
