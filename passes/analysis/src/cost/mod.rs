//! Cost of a group of ops as one kernel: the one model behind segmentation, scheduling and explanation.
//!
//! [`plan`] takes ops and their axes and returns how they run as one kernel: the axes resident in fast memory, the
//! sweeps over slow memory, the phases over the tile, the loads and stores of each sweep, and so the bytes moved. Or it
//! refuses, with a typed reason and its numbers. Segmentation compares plans, and scheduling writes the plan as IR.
//!
//! The rules, in the words of the design:
//! - A reduction whose axes all lie in the tile finishes inside the step: its users are in the next *phase*.
//! - A reduction over other axes accumulates. Its users over its own small space form the *epilogue* of the sweep. Its
//!   other users belong to the next *sweep*, which loads its inputs again and recomputes cheap values.
//! - Bytes are stored bytes: a broadcast axis counts once.
//!
//! Reading order: `sizes.rs` (stored bytes), `refusal.rs`, `reasons.rs`, `body.rs` (the group as a dense graph),
//! `memory_view.rs` (ops that need no kernel), `units.rs` (the sweep and phase of each op for a choice of tile),
//! `epilogues.rs` (the loop nests after a sweep), `resident.rs` (values kept from phase to phase), `roles.rs` (grid,
//! stream, tile), `blocks.rs` (the mapping to a GPU's blocks and threads), `nest.rs` (the memory of that mapping),
//! `loops.rs` (the loop nest that a schedule writes), `plan.rs` (the choice), `pinned.rs` (ops computed only once),
//! `call.rs` (ops that may be calls), `product.rs` (products), `attention.rs` (attention).
//!
//! Guarantees: a pure function of its arguments; near linear in the number of ops; nothing recurses. Never edits the
//! IR.

mod attention;
pub mod blocks;
mod body;
mod call;
mod epilogues;
mod loops;
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
pub use body::{boundary, carried_type, made_of_nothing, operations};
pub use call::{Call, DIGIT_BITS, LONGEST_TILE, NAMED_BITS, is_call, overwrites, placed};
pub use loops::{LoopNest, NestLoop};
pub use memory_view::{copies, keeps_memory, moved};
pub use pinned::is_pinned;
pub use plan::{
    Cost, Epilogue, Kind, Limits, Model, Objective, Plan, Sweep, plan, plan_ops, plan_with,
};
pub use product::Product;
pub use reasons::{REASONS, ReasonDef};
pub use refusal::Refusal;
pub use roles::Role;
pub use sizes::{Bindings, stored_bytes_expr};
pub use tiles::{MAX_STAGE_BYTES, NEAR, WORD, padded_row};
