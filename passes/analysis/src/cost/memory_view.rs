//! Views: ops that only give memory another shape.
//!
//! The result of such an op costs nothing outside of kernels: its result is its operand's memory. A `copy` is none,
//! whatever its type: a copy has memory of its own by definition.
//!
//! ```text
//! %p = fusion.permute %x dims [1, 0] : tensor<8x4xf32, [1, 0]>     // %x: tensor<4x8xf32>: the same memory
//! ```
//!
//! Answers from types alone, layouts included, so that axes that factor in different ways do not matter.

use fuser_dialects::fusion::maps;
use fuser_ir::def::OpClass;
use fuser_ir::layout::{self, Order};
use fuser_ir::maps::Map;
use fuser_ir::{Ir, Op, OpDef, Traits};

/// True if the stored elements of the op's result are those of its operand, at the same places.
pub fn keeps_memory(ir: &Ir, op: Op) -> bool {
    let Some(def) = ir
        .def(op)
        .filter(|d| d.class == OpClass::Shape && !d.shifts())
    else {
        return false;
    };
    let tensor = |value| ir.value_kind(value).as_tensor();
    let Some(to) = tensor(ir.result(op, 0)).filter(|_| !copies(def)) else {
        return false;
    };
    // A scalar has no order.
    let Some(from) = tensor(ir.operand(op, 0)) else {
        return true;
    };
    let Some(maps) = ir.maps(op) else {
        return false;
    };
    if maps.operands.contains(&Map::RowMajor) {
        return layout::is_row_major(ir, from) && layout::is_row_major(ir, to);
    }
    // New axes are stored once; axes that vanish have one index; elements stay in their order.
    let order = moved(ir, op, &layout::stored(ir, from));
    order.is_some_and(|order| order == layout::stored(ir, to))
}

/// True for a shape op that asks for memory of its own: its elements stay where they are, and it is no boundary.
pub fn copies(def: &OpDef) -> bool {
    def.has_maps(&maps::POINTWISE) && !def.traits.contains(Traits::BARRIER)
}

/// Axes of a shape op's operand as axes of its result, in the order given; `None` where one is gone.
pub fn moved(ir: &Ir, op: Op, order: &[usize]) -> Option<Order> {
    let places = ir.maps(op)?.operand_axes(0)?;
    order.iter().map(|&axis| *places.get(axis)?).collect()
}
