//! Cost of a group of ops as one kernel: the one model behind segmentation, scheduling and explanation.
//!
//! [`plan`] takes ops and their axes and answers how they run as one kernel: which axes are resident in fast memory, in how
//! many sweeps over slow memory and phases over the tile, what each sweep loads and stores, and so how many bytes move; or
//! it refuses, with a typed reason and its numbers. Segmentation compares plans, scheduling writes the plan down as IR.
//!
//! The rules, in the words of the design:
//! - A reduction whose axes all lie in the tile finishes inside the step: what needs it is the next *phase*.
//! - A reduction over other axes accumulates: what needs it on its own small space is the *epilogue* of the sweep, what
//!   needs it elsewhere belongs to the next *sweep*, which loads its inputs again and recomputes what is cheap.
//! - Bytes are stored bytes: an axis that is broadcast counts once.
//!
//! Reading order: `sizes.rs` (stored bytes), `refusal.rs`, `reasons.rs`, `body.rs` (the
//! group as a dense graph), `memory_view.rs` (what needs no kernel), `units.rs` (which sweep and phase each op belongs to under a
//! choice of tile), `epilogues.rs` (the walks behind a sweep), `resident.rs` (what stays from phase to phase), `roles.rs` (grid,
//! stream, tile), `blocks.rs` (what a GPU's blocks and threads share), `nest.rs` (the memory that this takes), `plan.rs` (the choice), `pinned.rs`
//! (what is computed once), `call.rs` (what may be a call), `product.rs` (products), `attention.rs` (attention).
//!
//! Guarantees: a pure function of its arguments; near linear in the number of ops; nothing recurses. Never edits the IR.

mod attention;
pub mod blocks;
mod body;
mod call;
mod epilogues;
mod memory_view;
mod nest;
mod pinned;
mod plan;
mod product;
mod reasons;
mod refusal;
mod render;
mod resident;
mod roles;
mod sizes;
#[cfg(test)]
mod tests;
mod tiles;
mod units;
mod words;

pub use crate::axes::Copies;
pub use attention::Attention;
pub use body::{boundary, flops, made_of_nothing, operations};
pub use call::{Call, is_call, overwrites};
pub use memory_view::{copies, keeps_memory, moved};
pub use pinned::is_pinned;
pub use plan::{Cost, Kind, Limits, Model, Objective, Plan, Sweep, plan, plan_ops, plan_with};
pub use product::Product;
pub use reasons::{REASONS, ReasonDef};
pub use refusal::Refusal;
pub use roles::Role;
pub use sizes::{Bindings, stored_bytes_expr};
pub use tiles::{LIGHT, MAX_STAGE_BYTES, NEAR, Staged, staged_tile};
