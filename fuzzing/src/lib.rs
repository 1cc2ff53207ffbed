//! Random programs, and oracles that find bugs in their compilation.
//!
//! A **generator** (`generate/`) turns a [`Source`] (a seed, or the bytes of a fuzzing engine) into a case. An
//! **oracle** (`oracle/`) takes a case through some part of the compiler and reports if a promise was broken. Both know
//! nothing of the engine that drives them: the same cases serve `cargo test`, the soak, `cargo fuzz` and the reduction
//! of a failure.
//!
//! Generators follow the op tables, so that a new op is generated as soon as it is declared; `tests/` fail where a
//! generator has gone blind. `docs/fuzzing.md` is the manual.
//!
//! Deterministic: the same source gives the same case, on every machine.
#![forbid(unsafe_code)]

pub mod campaign;
pub mod generate;
pub mod models;
pub mod modules;
pub mod mutate;
pub mod oracle;
pub mod power;
pub mod reduce;
pub mod soak;
pub mod source;
pub mod stats;
pub mod targets;

pub use source::Source;
pub use stats::Stats;
