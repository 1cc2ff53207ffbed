//! Lowering: scheduled segments to kernels.
//!
//! Every `task.sweep` of a program becomes one `kernel.func` (two if partial results are combined by a kernel of their
//! own) and the `kernel.launch` that runs it. Segments stay, with launches inside, so that reports keep their names.
//!
//! Reading order:
//!
//! - `../spec.rs`: the loops of a sweep.
//! - `build.rs`: the builder of kernel ops.
//! - `combine.rs`: the accumulation of reductions.
//! - `sweep.rs`: outer loops.
//! - `accumulate.rs`: accumulators that live across steps.
//! - `blocks.rs`: long sums in blocks.
//! - `last_block.rs`: sums over the blocks of a GPU.
//! - `effects.rs`: the effects of a phase.
//! - `hoisted.rs`: phases before loops.
//! - `nest.rs`: tile loops.
//! - `spread.rs`: several tile loops as one, for threads.
//! - `index_set.rs`: loops split at guards.
//! - `jam.rs`: unroll and jam.
//! - `pure.rs`, `window.rs` and `reduce.rs`: the bodies of nests.
//! - `nonpositive.rs`: known signs.
//! - `prefetch.rs`: prefetching of the next row.
//! - `stage.rs`: transposition through tile memory.
//! - `side.rs`: row-vectorized folds.
//! - `scan.rs`: values carried along an axis.
//! - `launch.rs`: one sweep to one function.
//! - `lower_to_kernel.rs`: the pass.
//!
//! Guarantees: an unsupported construct is reported with a reason at its op, and the program is left unchanged up to
//! that sweep. Never chooses a schedule: the clauses of the sweep contain everything it needs.

mod accumulate;
mod blocks;
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
