//! Ops that only one kernel computes and no other recomputes: reductions, scans, and ops pinned by the user or by their
//! op table.

use fuser_dialects::fusion::window::is_placed;
use fuser_ir::def::{OpClass, Placement};
use fuser_ir::{Ir, Op, Traits};

/// True if the op is computed in its own kernel only.
pub fn is_pinned(ir: &Ir, op: Op) -> bool {
    let Some(def) = ir.def(op) else { return true };
    let in_memory = def
        .operands
        .iter()
        .any(|o| o.placement == Placement::Memory)
        || def.results.iter().any(|r| r.placement == Placement::Memory);
    !def.traits.contains(Traits::PURE)
        || def.traits.contains(Traits::BARRIER)
        || matches!(def.class, OpClass::Reduction | OpClass::Scan)
        || in_memory
        || is_placed(ir, op)
        || ir.get_attr(op, "fusion.hint").is_some()
}
