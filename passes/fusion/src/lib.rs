//! Fusion: which ops become one kernel, and what kernels hand to each other.
//!
//! Reading order: `planner` (the cost of a group, known by its structure), `budget` (what searches may look at), `segment` (groups of
//! ops), `remat` (what is written and what is computed again), `report` (the bytes that result), `boundary_patterns` (boundaries that a
//! user asks for by name).
//!
//! `segment` asks `remat` by one interface, [`remat`]'s own; nothing goes the other way. Decides which ops share a kernel and not how
//! it runs: knows nothing of schedules or loops.
#![forbid(unsafe_code)]

pub mod boundary_patterns;
mod budget;
mod planner;
pub mod remat;
pub mod report;
pub mod segment;

/// The kind of file that has an explanation as a list of [`ExplainEntry`], in JSON; the first is about all of it.
pub const EXPLAIN_ENTRIES: &str = "explain-entries";

/// The kind of file that has the prices of other groupings, in JSON.
pub const WHAT_IF: &str = "what-if";

/// A part of an explanation that can be left out by itself.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct ExplainEntry {
    /// Bytes that are moved and need not be.
    pub lost: u64,
    /// One or two lines.
    pub text: String,
}

/// The kind of file in which a pass tells what it changed of segments that were explained before it.
pub const EXPLAIN_LATER: &str = "explain-later";
/// The same as data: an object of the list [`EXPLAIN_LATER_LIST`], which the explanation leaves empty.
pub const EXPLAIN_LATER_JSON: &str = "explain-later-json";
/// That list, the last field of an explanation as data.
pub const EXPLAIN_LATER_LIST: &str = "\"later\": []";
