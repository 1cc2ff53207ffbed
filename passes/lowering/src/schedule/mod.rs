//! Scheduling: writes down, as sweeps and phases, the walk of a segment over its space.
//!
//! ```text
//! task.segment @s { ops }
//!   =>
//! task.segment @s {
//!   task.sweep axes ["a0", "a1"] extents [[B], 1024] roles ["grid", "tile"] tile [1, 1] vector 16 {
//!     task.phase { ops }
//!     task.phase { ops }
//!   }
//! }
//! ```
//!
//! The resident axes, and with them the number of sweeps and phases, are those of the cost model's plan (`cost`), the one on
//! which the segmenter decided. Choices that cost no bytes (order of loops, tiles, lanes, partial sums) are made in
//! `loops.rs`, for the blocks and threads of a GPU in `blocks.rs`. Both are written as clauses that a user may edit before `lower-to-kernel`. Loop-invariant values are a
//! phase before the loops (`hoist.rs`).
//!
//! A plan that cannot be lowered is given up for the next one, and at the last the segment is cut (`apart.rs`). Of segments of one
//! form the first is planned (`repeat.rs`).
//!
//! Guarantees: no op is rewritten; an op that a later sweep recomputes is copied into it, as the plan says. Never touches a
//! segment that has sweeps or launches already, nor one that is a view.

mod apart;
mod arrange;
mod blocks;
mod hoist;
pub mod loops;
mod pass;
mod repeat;

pub use pass::{CODES, OTHER_PLAN, SCHEDULE};
