//! The transformations of Fuser and the analyses that they share.
//!
//! Reading order: `axes` (which loops are the same), then what stands on it. One pass is one file or one folder.
//! Knows nothing of files, arguments or the environment; never sees LLVM.
#![forbid(unsafe_code)]

pub mod axes;
pub mod cost;
pub mod decompose;
pub mod lower;
pub mod schedule;
#[cfg(test)]
mod testing;
