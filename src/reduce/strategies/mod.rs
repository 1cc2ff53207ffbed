//! The strategies, one per file. Each keeps use lists consistent and leaves the meaning to the search.

pub mod arguments;
pub mod attributes;
pub mod constants;
pub mod extents;
pub mod ops;
pub mod programs;
pub mod results;
pub mod tasks;
