//! Scheduling: writes the iteration of a segment over its space as sweeps and phases.
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
//! The resident axes, and with them the number of sweeps and phases, come from the cost model's plan (`cost`), on which
//! the segmenter based its decision. Choices that cost no bytes (order of loops, tiles, lanes, partial sums) are made
//! in `loops.rs`, and for the blocks and threads of a GPU in `blocks.rs`. All are written as clauses, which a user may
//! edit before `lower-to-kernel`. Loop-invariant values form a phase before the loops (`hoist.rs`).
//!
//! If a plan cannot be lowered, the next one is tried, and finally the segment is split (`apart.rs`). Among segments of
//! equal form, only the first is planned (`repeat.rs`).
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
