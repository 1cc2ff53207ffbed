//! Segmentation: the grouping of ops into kernels.
//!
//! The search has six steps. Each lowers the cost of the groups that the step before it found:
//!
//! 1. *Seeds*: a component is a set of ops connected by values, with no boundary between them (a user's `segment_set`,
//!    a hint, a placement that an op's table demands). The cost model evaluates each component as one kernel. If that
//!    moves no byte twice, the component is one group. Any other is split: into single ops, or, if it is longer than a
//!    kernel may be, into intervals that a kernel can hold.
//! 2. *Merging*: groups merge, the best merge first, under an order of groups that stays acyclic. A small component is
//!    merged under several orders of equal gains, unless the first makes one group of it. Finally groups merge across
//!    components.
//! 3. *Windows*: a window of few ops slides over the groups in run order; its ops are grouped optimally.
//! 4. *Refinement*: single ops are moved or copied across the remaining cuts.
//! 5. *Horizontal merging*: kernels of equal shape that have nothing in common become one launch.
//! 6. *Rounds*: the drawn program is rematerialized, and steps 2 to 5 continue from the result, as long as the total
//!    falls.
//!
//! A program of 16 equal layers or more is searched with 8 of them; the others are drawn like the middle ones
//! (`layers.rs`).
//!
//! All steps query one planner, which caches answers and spends from one budget of work.
//!
//! If a frontend labelled ops, merging runs a second time starting from the labelled groups, and its result is taken if
//! it costs no more. `examples/ablate_segment.rs` measures the worth of each step.
//!
//! ```text
//! %h = fusion.exp %x                          %h = task.segment @s0 kind "kernel" {
//! %s = fusion.segment_set %h            =>      %h = fusion.exp %x
//! %y = fusion.neg %s                            %s = fusion.segment_set %h ... }
//!                                             %y = task.segment @s1 kind "kernel" { %y = fusion.neg %s ... }
//! ```
//!
//! Reading order: `graph.rs` (the program as dense indices), `boundaries.rs` (levels and components), `order.rs` (the
//! topological order of groups), `chunks.rs` (components longer than a kernel), `labels.rs` (groups proposed by a
//! frontend), `bottom_up.rs` (merges), `at_once.rs` (several merges with one query), `views.rs` (merges of views),
//! `candidates.rs` (the pairs to merge), `horizontal.rs` (unrelated kernels), `lower_bound.rs` (bytes that every
//! grouping moves), `exact.rs` (the optimum over few ops), `regroup.rs` (windows that use it),
//! `refine.rs` (moves and copies),
//! `search.rs` (steps 1 to 5 together), `rounds.rs` (step 6), `layers.rs` (equal layers), `record.rs` (decisions),
//! `explain` (decisions in words), `explicit.rs` (groups from a file), `apply.rs` (drawing the segments), `named.rs`
//! (values by name), `pass.rs`.
//!
//! Guarantees: every group is convex and the groups have a valid run order; each decision is recorded before it
//! is carried out; the same program gives the same groups. Never rewrites an op. Creation ops, and ops that are
//! cheaper to recompute than to load, are copied into each group that uses them.

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
