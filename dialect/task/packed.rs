//! Arguments and results of a program with elements of 4 bits: its callers pass two elements in each byte.
//!
//! ```text
//! task.program @f(%x: tensor<4x[2*N_half]xf4E2M1FN>)      =>      task.program @f(%x: tensor<4x[N_half]xui8> {packed = 1})
//! ```
//!
//! Two neighbours along the innermost axis in memory share a byte, and the first has its low bits. This axis has an even
//! number of elements. `unpack-floats` makes the bytes visible, as tensors of `ui8` with the mark. The mark gives
//! the axis, since the order of axes does not determine an axis with a single byte. If an axis of bytes is half of a
//! named extent, the name becomes twice another name, and the program records the name that it is half of.

use fuser_ir::attr::AttrKind;
use fuser_ir::def::OpError;
use fuser_ir::types::{DType, Extent, ExtentExpr, Names, TensorType, TypeKind};
use fuser_ir::{Ir, Op, Sym, TypeId, describe, layout};

use super::marks::{self, LISTS};
use super::verify::signature;
use super::{PACKED, SHARED_BYTE};

/// The key of the mark among the attributes of an argument or a result.
pub const MARK: &str = "packed";

/// The attribute of a program that names extents which are halves of others: `{N_half = "N"}`.
pub const HALVES: &str = "task.halves";

/// The element type with two elements per byte for callers.
pub const DTYPE: DType = DType::F4E2M1FN;

/// The axis of bytes with two elements each, if the entry at `index` of a list has the mark.
pub fn marked_axis(ir: &Ir, program: Op, list: &str, index: usize) -> Option<usize> {
    let axis = marks::value(ir, program, list, index, MARK)?;
    usize::try_from(axis.as_int()?).ok()
}

/// The axis along which two elements share a byte: the innermost stored axis in memory.
pub fn axis(ir: &Ir, tensor: &TensorType) -> Option<usize> {
    let order = layout::order(ir, tensor);
    let stored = |axis: &usize| tensor.dims.get(*axis).is_some_and(|dim| !dim.broadcast);
    order.into_iter().rev().find(stored)
}

/// Half of an extent; `None` if the extent is unknown or not certainly even.
pub fn half(ir: &mut Ir, extent: Extent) -> Option<Extent> {
    let two = ExtentExpr::constant(2);
    let half = ir.extent_as_expr(extent)?.div_exact(&two)?;
    ir.extent(half)
}

/// The bytes along the marked axis of an argument or a result of type `ty`, and the memory order of the axes of the
/// elements that callers see; `None` if there are no bytes along it.
pub fn outside(ir: &Ir, ty: TypeId, axis: usize) -> Option<(Extent, Vec<usize>)> {
    let tensor = ir.ty(ty).as_tensor().filter(|t| t.dtype == DType::U8)?;
    let dim = tensor.dims.get(axis).filter(|dim| !dim.broadcast)?;
    let innermost = layout::stored(ir, tensor).last().copied();
    if layout::matters(dim) && innermost != Some(axis) {
        return None;
    }
    let order = layout::order(ir, tensor).into_iter();
    let order = order.filter(|&other| other != axis).chain([axis]);
    Some((dim.extent, order.collect()))
}

/// The names of extents that are halves, each with the name of the whole.
pub fn halves(ir: &Ir, program: Op) -> Vec<(Sym, Sym)> {
    let Some(AttrKind::Dict(entries)) = ir.attr_of(program, HALVES) else {
        return Vec::new();
    };
    let pair = |(half, whole): &(Sym, _)| Some((*half, ir.attr_kind(*whole).as_string()?));
    entries.iter().filter_map(pair).collect()
}

/// The types of a program's arguments and of its results, each with the word for one of them.
fn boundary(ir: &Ir, program: Op) -> [(&'static str, &[TypeId]); 2] {
    let (inputs, results) = signature(ir, program).unwrap_or_default();
    [("argument", inputs), ("result", results)]
}

/// The extents along which callers see two elements in a byte.
fn shared(ir: &Ir, types: &[TypeId]) -> Vec<Extent> {
    let tensors = types.iter().filter_map(|&ty| ir.ty(ty).as_tensor());
    let tensors = tensors.filter(|tensor| tensor.dtype == DTYPE);
    tensors
        .filter_map(|tensor| Some(tensor.dims[axis(ir, tensor)?].extent))
        .collect()
}

/// The names that are by themselves extents with two elements per byte for callers: even in every call. In order of
/// appearance.
pub fn even_names(ir: &Ir, program: Op) -> Vec<Sym> {
    let mut names = Vec::new();
    for (_, types) in boundary(ir, program) {
        for extent in shared(ir, types) {
            let name = ir.extent_as_expr(extent).and_then(|expr| expr.as_name());
            names.extend(name.filter(|name| !names.contains(name)));
        }
    }
    names
}

/// True if an extent is even whenever the names `even` are, or if it has no name yet.
fn is_even(ir: &Ir, extent: Extent, even: &[Sym]) -> bool {
    let term = |(names, coefficient): &(Names, i64)| {
        coefficient % 2 == 0 || names.iter().any(|name| even.contains(name))
    };
    let expr = ir.extent_as_expr(extent);
    expr.is_none_or(|expr| expr.terms.iter().all(term))
}

/// Verifies packed elements: an axis along which two elements share a byte has an even number of them, and marks are on
/// tensors of bytes.
pub fn verify(ir: &Ir, program: Op, errors: &mut Vec<OpError>) {
    let even = even_names(ir, program);
    for ((what, types), list) in boundary(ir, program).into_iter().zip(LISTS) {
        for (index, &ty) in types.iter().enumerate() {
            if let Some(fault) = fault(ir, ty, &even) {
                let name = describe::ty(ir, ty);
                let text = format!("{what} {index} is a `{name}`, {fault}");
                let help = "two elements share a byte along the innermost axis in memory: let it have an even extent";
                errors.push(OpError::new(text).code(&SHARED_BYTE).help(help));
            }
            let axis = marked_axis(ir, program, list, index);
            let bytes = axis.and_then(|axis| outside(ir, ty, axis));
            if marks::has(ir, program, list, index, MARK) && bytes.is_none() {
                let ty = describe::ty(ir, ty);
                let text = format!(
                    "{what} {index} is a `{ty}`, which holds no bytes along the axis of the mark"
                );
                let help = "`packed = 1` stands at tensors of ui8 whose axis 1, innermost in memory, is of bytes of two elements each";
                errors.push(OpError::new(text).code(&PACKED).help(help));
            }
        }
    }
}

/// The reason that callers cannot see a value of a type as bytes.
fn fault(ir: &Ir, ty: TypeId, even: &[Sym]) -> Option<String> {
    let tensor = match ir.ty(ty) {
        TypeKind::Tensor(tensor) if tensor.dtype == DTYPE => tensor,
        TypeKind::Scalar(DTYPE) => return Some("one element, which is half a byte".into()),
        _ => return None,
    };
    let Some(axis) = axis(ir, tensor) else {
        return Some("which stores one element, half a byte".into());
    };
    let extent = tensor.dims[axis].extent;
    (!is_even(ir, extent, even)).then(|| {
        let extent = describe::extent(ir, extent);
        format!("axis {axis} of which, {extent}, is not known to be even")
    })
}
