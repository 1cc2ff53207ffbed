//! Simplifications: passes that make a program smaller or simpler without a decision about kernels.
//!
//! `canonicalize`, `cse` and `dce` work on any IR; `preseg` is run once before ops are grouped; `decompose` takes composite ops apart, `recognize_patterns` puts one in the place of others;
//! `split_complex` makes pairs of reals of complex numbers, `unpack_floats` codes in bytes of floats of 4 bits; `label_patterns` and `inline_tasks` turn regions into attributes of their ops, and dissolve them.
//!
//! Never changes a bit of a result (the payload of a NaN apart, which no op specifies). Knows nothing of segmentation or lowering.
#![forbid(unsafe_code)]

pub mod canonicalize;
pub mod cse;
pub mod dce;
pub mod decompose;
pub mod inline_tasks;
pub mod label_patterns;
pub mod preseg;
pub mod recognize_patterns;
pub mod split_complex;
pub mod unpack_floats;
pub mod update_in_place;
