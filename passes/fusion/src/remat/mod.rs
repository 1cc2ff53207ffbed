//! Rematerialization: a kernel recomputes values that are dearer to load.
//!
//! For given kernels in run order the pass chooses which values are written to memory at all (the outer search) and,
//! for each kernel alone, the values that it loads and those that it computes again (a minimum cut whose capacities are
//! stored bytes and whose price of recomputation is part of the same cut). A kernel that has nothing left to write
//! vanishes.
//!
//! ```text
//! %h = task.segment @s0 { %h = fusion.cast %x to f32 ; ... }      (f32, 4 bytes, written and read)
//! %y = task.segment @s1 { %y = fusion.exp %h }
//!   =>
//! %y = task.segment @s1 { %h = fusion.cast %x to f32 ; %y = fusion.exp %h }      (bf16, 2 bytes, read once)
//! ```
//!
//! Never recomputes a reduction, a pinned op, a barrier, or what must lie in memory; never moves work from a kernel to
//! an earlier one; never changes a program's result, which stays written once. An accepted change lowers the cost
//! strictly, so the pass ends, and running it again changes nothing. The cost model must accept every kernel as it
//! becomes; a kernel that it refuses stays as it was.
//!
//! Reading order: `problem.rs` (the choice as plain data, and its price), `cut.rs` (what one kernel had better
//! load: a minimum cut), `flow.rs` (that cut), `trace.rs` (kernels that were solved before), `search.rs` (what is written), `solutions.rs` (what was solved before), `extract.rs` (from IR), `apply.rs` (to IR),
//! `cost_cache.rs` (what kernels cost), `improve.rs` (all of it), `pass.rs`.

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
