//! Simplifications: passes that make a program smaller or simpler without a decision about kernels.
//!
//! - `canonicalize`, `cse` and `dce` work on any IR.
//! - `hoist` moves ops in front of loops.
//! - `preseg` runs once before ops are grouped.
//! - `decompose` decomposes composite ops; `recognize_patterns` replaces groups of ops by composite ones.
//! - `split_complex` turns complex numbers into pairs of reals, `unpack_floats` turns 4-bit floats into codes in bytes.
//! - `label_patterns` and `inline_tasks` turn regions into attributes of their ops, and dissolve them.
//!
//! Never changes a bit of a result (except the payload of a NaN and the order of a
//! product's sum, which no op specifies). Independent of segmentation
//! and lowering.
#![forbid(unsafe_code)]

pub mod canonicalize;
pub mod cse;
pub mod dce;
pub mod decompose;
pub mod hoist;
pub mod inline_tasks;
pub mod label_patterns;
pub mod preseg;
pub mod recognize_patterns;
pub mod split_complex;
pub mod unpack_floats;
pub mod update_in_place;
