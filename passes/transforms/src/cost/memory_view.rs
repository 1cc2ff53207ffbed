//! Which ops only give memory another shape.
//!
//! What such an op makes costs nothing outside of kernels: its result is its operand's memory. A `copy` is none, whatever its
//! type: whoever asks for a copy wants memory of its own.
//!
//! ```text
//! %p = fusion.permute %x dims [1, 0] : tensor<8x4xf32, [1, 0]>     // %x: tensor<4x8xf32>: the same memory
//! ```
//!
//! Answers from types alone, layouts included, so that axes that factor in different ways do not matter.

use fuser_ir::def::{AxisRule, OpClass};
use fuser_ir::layout::{self, Order};
use fuser_ir::{Ir, Op, TensorType, Traits};

/// Whether the stored elements of the op's result are those of its operand, at the same places.
pub fn keeps_memory(ir: &Ir, op: Op) -> bool {
    let Some(def) = ir.def(op).filter(|d| d.class == OpClass::Shape) else {
        return false;
    };
    let tensor = |value| ir.value_kind(value).as_tensor();
    let Some(to) = tensor(ir.result(op, 0)) else {
        return false;
    };
    // A scalar has no order.
    let Some(from) = tensor(ir.operand(op, 0)) else {
        return def.axes == AxisRule::Broadcast;
    };
    let stays = match def.axes {
        // New axes are stored once; axes that vanish have one index; elements stay in their order.
        AxisRule::Broadcast | AxisRule::Expand | AxisRule::Squeeze => true,
        AxisRule::Permute => is_as_wide(from, to),
        AxisRule::Pointwise => ir.has(op, Traits::BARRIER) && is_as_wide(from, to),
        AxisRule::Reshape => {
            return layout::is_row_major(ir, from) && layout::is_row_major(ir, to);
        }
        AxisRule::None | AxisRule::Window | AxisRule::Create | AxisRule::Reduce => false,
    };
    let order = moved(ir, op, def.axes, &layout::stored(ir, from));
    stays && order.is_some_and(|order| order == layout::stored(ir, to))
}

/// Axes of a shape op's operand as axes of its result, in the order given; `None` where one is gone.
pub fn moved(ir: &Ir, op: Op, rule: AxisRule, order: &[usize]) -> Option<Order> {
    let dims = ir.i64s_of(op, "dims").unwrap_or_default();
    let place = |axis: usize| match rule {
        AxisRule::Permute => dims.iter().position(|&d| d == axis as i64),
        AxisRule::Broadcast => usize::try_from(*dims.get(axis)?).ok(),
        AxisRule::Squeeze => {
            let gone = dims.iter().filter(|&&d| d < axis as i64).count();
            (!dims.contains(&(axis as i64))).then_some(axis - gone)
        }
        _ => Some(axis),
    };
    order.iter().map(|&axis| place(axis)).collect()
}

/// Whether as many axes are stored of the result as of the operand.
fn is_as_wide(from: &TensorType, to: &TensorType) -> bool {
    let stored = |t: &TensorType| t.dims.iter().filter(|d| !d.broadcast).count();
    stored(from) == stored(to)
}
