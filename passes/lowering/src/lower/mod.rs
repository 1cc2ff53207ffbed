//! Lowering: scheduled segments to kernels.
//!
//! Every `task.sweep` of a program becomes one `kernel.func` (two where partial results are put together) and the
//! `kernel.launch` that runs it. Segments stay, with launches inside, so that reports keep naming them.
//!
//! Reading order: `../spec.rs` (the loops of a sweep), `build.rs` (emitting kernel ops), `combine.rs` (how reductions
//! accumulate), `sweep.rs` (outer loops), `accumulate.rs` (what lives across steps), `last_block.rs` (sums over the blocks of a GPU), `effects.rs` (what a phase is for), `hoisted.rs` (phases before loops), `nest.rs` (tile
//! loops), `spread.rs` (several of them as one, for threads), `index_set.rs` (loops without guards), `jam.rs` (several rows at
//! once), `pure.rs`, `window.rs` and `reduce.rs` (what stands in them), `nonpositive.rs` (what is known of a sign), `prefetch.rs` (what the next row will read), `stage.rs`
//! (transposition through tile memory), `side.rs` (folds of several rows in lanes), `scan.rs` (what is handed on along an axis), `launch.rs` (one
//! sweep to one function), `lower_to_kernel.rs` (the pass).
//!
//! Guarantees: what cannot be lowered is a reason at an op, and the program is left as it was up to that sweep. Never
//! chooses a schedule: everything it needs stands in the clauses of the sweep.

mod accumulate;
pub mod build;
pub mod combine;
mod effects;
mod hoisted;
mod index_set;
mod jam;
mod last_block;
pub mod launch;
mod lines;
pub mod lower_to_kernel;
mod masks;
pub mod nest;
mod nonpositive;
mod prefetch;
mod pure;
mod reduce;
mod scan;
mod side;
mod spread;
mod stage;
pub mod sweep;
mod window;
