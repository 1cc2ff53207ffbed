//! Views: ops that only give memory another shape.
//!
//! The result of a view costs nothing outside of kernels: it is its operand's memory. A `copy` is no view for any type:
//! a copy has its own memory by definition.
//!
//! ```text
//! %p = fusion.permute %x dims [1, 0] : tensor<8x4xf32, [1, 0]>     // %x: tensor<4x8xf32>: the same memory
//! ```
//!
//! Decides from types alone, layouts included, so incompatible factorings of axes do not matter.

use fuser_dialects::fusion::maps;
use fuser_ir::def::OpClass;
use fuser_ir::layout::{self, Order};
use fuser_ir::maps::Map;
use fuser_ir::{Ir, Op, OpDef, Traits};

/// True if the stored elements of the op's result are those of its operand, at the same addresses.
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
    // New axes are stored once, removed axes have one index, and elements keep their order.
    let order = moved(ir, op, &layout::stored(ir, from));
    order.is_some_and(|order| order == layout::stored(ir, to))
}

/// True for a shape op that copies into its own memory, and is no boundary.
pub fn copies(def: &OpDef) -> bool {
    def.has_maps(&maps::POINTWISE) && !def.traits.contains(Traits::BARRIER)
}

/// Axes of a shape op's operand as axes of its result, in the given order; `None` if an axis is removed.
pub fn moved(ir: &Ir, op: Op, order: &[usize]) -> Option<Order> {
    let places = ir.maps(op)?.operand_axes(0)?;
    order.iter().map(|&axis| *places.get(axis)?).collect()
}
