//! Segmentation: the grouping of ops into kernels.
//!
//! The search has six steps, each of which lowers the price of what the one before it left:
//!
//! 1. *Seeds*: everything that shares values and is not separated by a boundary (a user's `segment_set`, a hint, a placement
//!    that an op's table demands) is a component. The cost model is asked whether a component runs as one kernel; where that
//!    moves no byte twice, it is one group. Any other is taken apart: into single ops, or into intervals that a kernel can
//!    hold, where it is longer than that.
//! 2. *Merging*: groups merge, the best merge first, under an order of groups that stays acyclic; a small component is merged
//!    under several orders of equal gains, unless the first makes one group of it. In the end groups merge across components too.
//! 3. *Windows*: a window of few ops slides over the groups in run order, and what is inside is put together in the best way.
//! 4. *Refinement*: single ops move, or are copied, across the cuts that are left.
//! 5. *Horizontal merging*: kernels of equal shape that have nothing in common become one launch.
//! 6. *Rounds*: what crosses is rematerialized, and steps 2 to 5 go on from what that leaves, while the total falls.
//!
//! A program of 16 equal layers or more is searched with 8 of them, and the others are drawn as those in the middle (`layers.rs`).
//!
//! All steps ask one planner, which knows the price of what was asked before and spends from one pot of work.
//!
//! If a frontend labelled ops as one thing, merging begins a second time from those groups, and its result is taken if
//! it costs no more. The worth of each step is measured by `examples/ablate_segment.rs`.
//!
//! ```text
//! %h = fusion.exp %x                          %h = task.segment @s0 kind "kernel" {
//! %s = fusion.segment_set %h            =>      %h = fusion.exp %x
//! %y = fusion.neg %s                            %s = fusion.segment_set %h ... }
//!                                             %y = task.segment @s1 kind "kernel" { %y = fusion.neg %s ... }
//! ```
//!
//! Reading order: `graph.rs` (the program as dense indices), `boundaries.rs` (levels and components), `order.rs` (the quotient
//! graph's topological order), `chunks.rs` (components longer than a kernel), `labels.rs` (groups that a frontend proposes),
//! `bottom_up.rs` (merges), `at_once.rs` (several with one question), `views.rs` (views come first), `candidates.rs` (the pairs to merge), `horizontal.rs` (unrelated ones), `lower_bound.rs` (what no
//! grouping can do without), `exact.rs` (the optimum over few ops), `regroup.rs` (a window in which it is taken), `refine.rs` (moves
//! and copies), `search.rs` (steps 1 to 5 together), `rounds.rs` (step 6), `layers.rs` (equal layers), `record.rs` (why), `explain` (why, in words), `explicit.rs` (groups from a
//! file), `apply.rs` (drawing the boundaries), `named.rs` (values by name), `pass.rs`.
//!
//! Guarantees: every group is convex and the groups have an order in which they run; each decision is a record before it
//! is an action; the same program gives the same groups. Never rewrites an op; creation ops, and what is
//! cheaper to compute again than to load, are copied into each group that uses them.

mod apply;
mod at_once;
mod bottom_up;
mod boundaries;
mod candidates;
mod chunks;
mod exact;
mod explain;
mod explicit;
mod graph;
mod horizontal;
mod labels;
mod layers;
mod lower_bound;
mod named;
mod order;
mod pass;
mod record;
mod refine;
mod regroup;
mod rounds;
mod search;
#[cfg(test)]
mod tests;
mod views;

pub use crate::planner::{CostResult, Planner};
pub use apply::{Draw, draw};
pub use boundaries::Hint;
pub use explicit::{ExplicitSegment, GroupingError};
pub use graph::Graph;
pub use named::producer;
pub use pass::{BROKEN_HINT, CODES, GROUPING, SEGMENT};
pub use record::{Action, Record};
pub use search::{Group, Options, Segmentation, segment};
