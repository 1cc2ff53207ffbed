//! Which ops only give memory another shape.
//!
//! What such an op makes costs nothing outside of kernels: its result is its operand's memory. A `copy` is none, whatever its
//! type: whoever asks for a copy wants memory of its own.
//!
//! Answers from types alone, so that axes that factor in different ways do not matter.

use fuser_ir::def::{AxisRule, OpClass};
use fuser_ir::types::Extent;
use fuser_ir::{Ir, Op, Traits, Value};

/// Whether the stored elements of the op's result are those of its operand, in the same order.
pub fn keeps_memory(ir: &Ir, op: Op) -> bool {
    let Some(def) = ir.def(op).filter(|d| d.class == OpClass::Shape) else {
        return false;
    };
    match def.axes {
        // New axes are stored once; axes that vanish have one index; elements stay in row-major order.
        AxisRule::Broadcast | AxisRule::Expand | AxisRule::Squeeze | AxisRule::Reshape => {
            layouts_agree(ir, op)
        }
        AxisRule::Permute => layouts_agree(ir, op) && stays_as_wide(ir, op) && keeps_order(ir, op),
        AxisRule::Pointwise => {
            ir.has(op, Traits::BARRIER) && layouts_agree(ir, op) && stays_as_wide(ir, op)
        }
        AxisRule::None | AxisRule::Window | AxisRule::Create | AxisRule::Reduce => false,
    }
}

/// Whether a `permute` leaves the axes that matter in memory in their order: those stored more than once.
fn keeps_order(ir: &Ir, op: Op) -> bool {
    let Some(from) = ir.value_kind(ir.operand(op, 0)).as_tensor() else {
        return false;
    };
    let matters = |&axis: &usize| {
        let dim = from.dims.get(axis);
        dim.is_some_and(|d| !d.broadcast && d.extent != Extent::Static(1))
    };
    let dims = ir.i64s_of(op, "dims").unwrap_or_default().iter();
    let dims = dims.filter_map(|&d| usize::try_from(d).ok());
    dims.filter(matters).is_sorted()
}

/// Whether as many axes are stored of the result as of the operand.
fn stays_as_wide(ir: &Ir, op: Op) -> bool {
    let stored = |v: Value| {
        let tensor = ir.value_kind(v).as_tensor();
        tensor.map(|t| t.dims.iter().filter(|d| !d.broadcast).count())
    };
    stored(ir.operand(op, 0)) == stored(ir.result(op, 0))
}

fn layouts_agree(ir: &Ir, op: Op) -> bool {
    let layout = |v: Value| ir.value_kind(v).as_tensor().and_then(|t| t.encoding);
    layout(ir.operand(op, 0)).is_none() && layout(ir.result(op, 0)).is_none()
}
