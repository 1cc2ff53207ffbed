//! Memory layout of tensors: the order of their axes in memory.
//!
//! ```text
//! tensor<2x3x4xf32>               row-major: axis 0 outermost, axis 2 innermost
//! tensor<2x3x4xf32, [1, 0, 2]>    neighbours along axis 2 are 1 element apart, along axis 0 4, along axis 1 8
//! tensor<2x3x4xf32, [0, 1, 2]>    row-major, and said so: no pass chooses another
//! ```
//!
//! A layout is the type's encoding: a list of all axes, outermost in memory first. Memory is dense in that order. Axes
//! that are stored once (`b`) or have extent 1 are in the list too, and their position has no effect. The layout
//! belongs to the value, for all its memory; results do not depend on it. Says nothing about values that are not in
//! memory.

use smallvec::SmallVec;

use crate::attr::{AttrId, AttrKind};
use crate::ir::{Ir, Value};
use crate::types::{Dim, Extent, TensorType, TypeId, TypeKind};

/// Axes, outermost in memory first.
pub type Order = SmallVec<[usize; 4]>;

/// The order that the type states; `None` if it states no order or an invalid one.
pub fn stated(ir: &Ir, tensor: &TensorType) -> Option<Order> {
    let AttrKind::Array(items) = ir.attr_kind(tensor.encoding?) else {
        return None;
    };
    let axis = |&item: &AttrId| usize::try_from(ir.attr_kind(item).as_int()?).ok();
    let order: Order = items.iter().map(axis).collect::<Option<_>>()?;
    is_order(&order, tensor.dims.len()).then_some(order)
}

/// True if the type states no layout, or a valid one.
pub fn is_valid(ir: &Ir, tensor: &TensorType) -> bool {
    tensor.encoding.is_none() || stated(ir, tensor).is_some()
}

/// The order in memory: the one that the type states, or else row-major.
pub fn order(ir: &Ir, tensor: &TensorType) -> Order {
    stated(ir, tensor).unwrap_or_else(|| (0..tensor.dims.len()).collect())
}

/// The axes with an effect in memory, outermost first: those stored more than once.
pub fn stored(ir: &Ir, tensor: &TensorType) -> Order {
    let matters = |&axis: &usize| tensor.dims.get(axis).is_some_and(matters);
    order(ir, tensor).into_iter().filter(matters).collect()
}

/// True if an axis has several elements in memory, so that its position in the order matters.
pub fn matters(dim: &Dim) -> bool {
    !dim.broadcast && dim.extent != Extent::Static(1)
}

/// True if the elements lie in row-major order.
pub fn is_row_major(ir: &Ir, tensor: &TensorType) -> bool {
    stored(ir, tensor).is_sorted()
}

/// True if values of the two types have their elements at the same offsets: equal shapes, and the axes with an effect
/// in the same order.
pub fn agree(ir: &Ir, a: TypeId, b: TypeId) -> bool {
    match (ir.ty(a), ir.ty(b)) {
        _ if a == b => true,
        (TypeKind::Tensor(a), TypeKind::Tensor(b)) => {
            a.dims == b.dims && a.dtype == b.dtype && stored(ir, a) == stored(ir, b)
        }
        _ => false,
    }
}

/// True if the type of `value` states a layout.
pub fn is_stated(ir: &Ir, value: Value) -> bool {
    let tensor = ir.value_kind(value).as_tensor();
    tensor.is_some_and(|t| t.encoding.is_some())
}

/// The type with this layout; other types as they are.
pub fn with(ir: &mut Ir, ty: TypeId, order: &[usize]) -> TypeId {
    let TypeKind::Tensor(mut tensor) = ir.ty(ty).clone() else {
        return ty;
    };
    let items: Vec<AttrId> = order.iter().map(|&a| ir.int_attr(a as i64)).collect();
    tensor.encoding = Some(ir.attr(AttrKind::Array(items)));
    ir.type_id(TypeKind::Tensor(tensor))
}

/// True if `order` lists the axes of a tensor of this rank, each once.
fn is_order(order: &[usize], rank: usize) -> bool {
    let mut seen = SmallVec::<[bool; 8]>::from_elem(false, rank);
    let fresh = |&axis: &usize| {
        let slot = seen.get_mut(axis);
        slot.is_some_and(|slot| !std::mem::replace(slot, true))
    };
    order.len() == rank && order.iter().all(fresh)
}
