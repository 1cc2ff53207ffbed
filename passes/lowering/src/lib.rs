//! Lowering: from segments to loops over memory, for both targets.
//!
//! Reading order: `spec` (the loops of a sweep, as its clauses say), `schedule` (chooses them and writes the clauses),
//! `protect_updates` (which results overwrite their argument), `lower` (makes kernels of sweeps), `trial` (whether a schedule can be
//! lowered: what `schedule` asks of `lower`, and all of it), `use_multiples` (extents of which more is known), `merge_kernels` (equal kernels
//! become one), `share_rows` (groups of threads that share the rows of a block), `peel_rows` (vectors of long rows of odd lengths), `form` (what makes segments and kernels equal), `form_clusters` (how many blocks share an iteration), `stride_grids` (how many iterations a block takes), `keep_in_registers` and `place_barriers` (what the threads of a block share).
//!
//! Never decides which ops share a kernel, but where a segment has none; generates no code.
#![forbid(unsafe_code)]

pub mod form;
pub mod form_clusters;
pub mod keep_in_registers;
pub mod lower;
pub mod merge_kernels;
pub mod peel_rows;
pub mod place_barriers;
pub mod protect_updates;
pub mod schedule;
pub mod share_rows;
pub mod spec;
pub mod stride_grids;
mod trial;
pub mod use_multiples;
