//! Programs as people write them, from the documentation alone, and an evaluator that shares nothing with the compiler.
//!
//! | module | what |
//! |---|---|
//! | `sentences/` | pieces of models: norms, losses, optimizers, attention, ... |
//! | `writer` | writes them op by op |
//! | `types`, `program`, `ranges` | what it knows of a program |
//! | `draw` | a whole program from a source of choices |
//! | `render` | its text, in many ways |
//! | `rewrite` | the same program, written differently |
//! | `data` | inputs |
//! | `evaluator` | the process that evaluates programs with NumPy |
//! | `check` | compiled, run, compared |
//!
//! Knows the language and the ops as docs/ has them; never looks into the op tables. Deterministic in the source.

pub mod check;
pub mod data;
pub mod draw;
pub mod evaluator;
mod lambdas;
pub mod program;
mod ranges;
pub mod render;
pub mod rewrite;
pub mod sentences;
pub mod types;
pub mod writer;
