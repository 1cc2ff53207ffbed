//! Segmentation: which ops share a kernel.
//!
//! Top-down first: everything that shares values and is not separated by a border (a user's `segment_set`, a hint, a
//! placement that an op's table demands) is one group, and the cost model is asked whether the group runs as one kernel
//! that moves no byte twice. What does is kept and not asked again, but together with what reads the same. Only what fails is taken apart, into single ops, and
//! put together bottom-up: the best merge first, siblings too, under an acyclic order of groups that is kept up to date.
//! Where a frontend labelled ops as one thing, that is done a second time from those groups, and taken where it costs no more.
//! The better of the two answers wins; components of few ops, or of few parts, get the optimum. Then single ops move, or are
//! copied, across the cuts that are left, and rematerialization and merging take turns while the total falls.
//!
//! ```text
//! %h = fusion.exp %x                          %h = task.segment @s0 kind "kernel" {
//! %s = fusion.segment_set %h            =>      %h = fusion.exp %x
//! %y = fusion.neg %s                            %s = fusion.segment_set %h ... }
//!                                             %y = task.segment @s1 kind "kernel" { %y = fusion.neg %s ... }
//! ```
//!
//! Reading order: `graph.rs` (the program as dense indices), `borders.rs` (levels and components: the top-down groups),
//! `verdict.rs` (what the cost model says, cached by structure), `order.rs` (the quotient graph's topological order),
//! `stretches.rs` (components longer than a kernel), `bottom_up.rs` (merges), `labels.rs` (groups that a frontend proposes), `floor.rs` (what no grouping can do without),
//! `exact.rs` (the optimum over few parts), `polish.rs` (where that is taken), `refine.rs` (moves and copies), `search.rs` (all of it together),
//! `rounds.rs` (turns with rematerialization), `record.rs` (why), `explain` (why, in words), `forced.rs` (groups from a file),
//! `apply.rs` (drawing the borders), `pass.rs`.
//!
//! Guarantees: every group is convex and the groups have an order in which they run; each decision is a record before it
//! is an action; the same program gives the same groups. Never rewrites an op; creation ops, and what is
//! cheaper to compute again than to load, are copied into each group that uses them.

mod apply;
mod borders;
mod bottom_up;
mod exact;
mod explain;
mod floor;
mod forced;
mod graph;
mod labels;
mod order;
mod pass;
mod polish;
mod record;
mod refine;
mod rounds;
mod search;
mod stretches;
#[cfg(test)]
mod tests;
mod verdict;

pub use apply::{Draw, draw};
pub use forced::{Forced, GroupingError};
pub use graph::Graph;
pub(crate) use pass::bindings;
pub use pass::{CODES, GROUPING, SEGMENT};
pub use record::{Action, Record};
pub use search::{Group, Options, Segmentation, segment};
pub use verdict::{Planner, Verdict};
