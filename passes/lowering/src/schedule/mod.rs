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
//! Sweeps, phases and their loop nests come from the cost model's plan (`cost`), on which the segmenter based its
//! decision. `loops.rs` translates a loop nest to the axes of its sweep. All is written as clauses, which a user may edit
//! before `lower-to-kernel`. Loop-invariant values form a phase before the loops (`hoist.rs`).
//!
//! If a plan cannot be lowered, the next one is tried, and finally the segment is split (`apart.rs`). Among segments of
//! equal form, only the first is planned (`repeat.rs`).
//!
//! Guarantees: no op is rewritten; an op that a later sweep recomputes is copied into it, as the plan says. Never touches a
//! segment that has sweeps or launches already, nor one that is a view.

mod apart;
mod arrange;
mod hoist;
mod loops;
mod pass;
mod repeat;

pub use pass::{CODES, OTHER_PLAN, SCHEDULE};
