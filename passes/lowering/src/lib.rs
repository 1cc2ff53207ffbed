//! Lowering: from segments to loops over memory, for both targets.
//!
//! Reading order:
//!
//! - `spec`: the loops of a sweep, read from its clauses.
//! - `schedule`: writes the plan of a segment as sweeps, phases and their clauses.
//! - `protect_updates`: decides which results overwrite their argument.
//! - `lower`: turns sweeps into kernels.
//! - `trial`: checks that a schedule can be lowered. It is all that `schedule` uses of `lower`.
//! - `lower_calls`: turns calls of a GPU into kernels.
//! - `turns`: makes one kernel of all turns of a loop.
//! - `use_multiples`: exploits known multiples and ranges of extents.
//! - `merge_kernels`: merges equal kernels.
//! - `share_rows`: splits the rows of a block among groups of threads.
//! - `peel_rows`: vectorizes long rows of odd length.
//! - `form`: the equality of segments and of kernels.
//! - `form_clusters`: chooses how many blocks share a grid iteration.
//! - `stride_grids`: chooses how many grid iterations a block runs.
//! - `keep_in_registers` and `place_barriers`: the sharing of values among the threads of a block.
//!
//! Never generates code. Never decides which ops share a kernel, except to split a segment that no single kernel can
//! compute.
#![forbid(unsafe_code)]

pub mod form;
pub mod form_clusters;
pub mod keep_in_registers;
pub mod lower;
pub mod lower_calls;
pub mod merge_kernels;
pub mod peel_rows;
pub mod place_barriers;
pub mod protect_updates;
pub mod schedule;
pub mod share_rows;
pub mod spec;
pub mod stride_grids;
mod trial;
pub mod turns;
pub mod use_multiples;
