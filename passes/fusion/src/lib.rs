//! Fusion: decides which ops form one kernel, and which values cross between kernels.
//!
//! Reading order: `planner` (the cost of a group, cached by its structure), `budget` (bounds on searches), `segment`
//! (groups of ops), `remat` (values written and values recomputed), `report` (the resulting bytes), `boundary_patterns`
//! (boundaries requested by pattern name).
//!
//! `segment` uses `remat` through one interface, [`remat`]'s own; `remat` does not use `segment`. Decides which ops
//! share a kernel, and not how the kernel runs: knows nothing of schedules or loops.
#![forbid(unsafe_code)]

pub mod boundary_patterns;
mod budget;
mod planner;
pub mod remat;
pub mod report;
pub mod segment;

/// The kind of file with an explanation as a list of [`ExplainEntry`], in JSON; the first entry is about the whole
/// program.
pub const EXPLAIN_ENTRIES: &str = "explain-entries";

/// The kind of file that has the prices of other groupings, in JSON.
pub const WHAT_IF: &str = "what-if";

/// An entry of an explanation that can be omitted by itself.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct ExplainEntry {
    /// Bytes moved that need not move.
    pub lost: u64,
    /// One or two lines.
    pub text: String,
}

/// The kind of file in which a pass reports its changes to segments that were explained before it.
pub const EXPLAIN_LATER: &str = "explain-later";
/// The kind of file with these changes as data: an object of the list [`EXPLAIN_LATER_LIST`], which the explanation
/// leaves empty.
pub const EXPLAIN_LATER_JSON: &str = "explain-later-json";
/// The empty list, which is the last field of an explanation as data.
pub const EXPLAIN_LATER_LIST: &str = "\"later\": []";
