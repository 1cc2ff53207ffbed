//! Programs whose callers see 4-bit elements, two in each byte: the layout of the bytes, and the extents that must be
//! even.
//!
//! Tensors of such elements hold one code in each byte here. An argument or a result marked `packed` is a tensor of
//! bytes inside the program, with half the extent along the marked axis, the innermost in memory. Without marks nothing
//! changes, except that this axis must be even so that bytes are complete.

use fuser_ir::attr::AttrKind;
use fuser_ir::types::{DType, TypeKind};
use fuser_ir::{Ir, Op, Sym, TypeId, Value, layout};

use crate::error::{ErrorKind, InterpError, Result};
use crate::pairs::mark;
use crate::tensor::{Axis, Tensor};

const ELEMENTS: DType = DType::F4E2M1FN;

/// The innermost stored axis in memory of a tensor of this type.
fn axis(ir: &Ir, ty: TypeId) -> Option<usize> {
    let tensor = ir.ty(ty).as_tensor()?;
    let order = layout::order(ir, tensor);
    let stored = |axis: &usize| tensor.dims.get(*axis).is_some_and(|dim| !dim.broadcast);
    order.into_iter().rev().find(stored)
}

/// The axis of bytes given by the mark `packed` of an argument or a result.
fn marked_axis(ir: &Ir, op: Op, list: &str, index: usize) -> Option<usize> {
    let axis = mark(ir, op, list, index, "packed")?;
    usize::try_from(axis.as_int()?).ok()
}

/// Inputs as the program takes them; `parameters` are its own.
pub(crate) fn inside(
    ir: &Ir,
    op: Op,
    parameters: &[Value],
    inputs: Vec<Tensor>,
) -> Result<Vec<Tensor>> {
    let each = inputs.into_iter().enumerate().map(|(index, input)| {
        let parameter = parameters.get(index).copied();
        let axis = parameter.and_then(|value| axis(ir, ir.value_type(value)));
        let name = parameter.and_then(|value| ir.value_name(value));
        let name = name.map_or_else(|| index.to_string(), str::to_string);
        let marked = marked_axis(ir, op, "arg_attrs", index);
        check(&input, marked.or(axis), &format!("input `{name}`"))?;
        let bytes = marked.filter(|_| input.dtype() == ELEMENTS);
        let bytes = bytes.and_then(|axis| packed(&input, axis));
        Ok(bytes.unwrap_or(input))
    });
    each.collect()
}

/// Results as callers see them.
pub(crate) fn outside(ir: &Ir, op: Op, values: Vec<Tensor>) -> Result<Vec<Tensor>> {
    let types = match ir.attr_of(op, "function_type").and_then(|a| a.as_type()) {
        Some(ty) => match ir.ty(ty) {
            TypeKind::Function { results, .. } => results.as_slice(),
            _ => &[],
        },
        None => &[],
    };
    let invalid = || InterpError::invalid("a result is marked as packed and holds no bytes");
    let each = values.into_iter().enumerate().map(|(index, value)| {
        if let Some(axis) = marked_axis(ir, op, "res_attrs", index) {
            return unpacked(&value, axis).ok_or_else(invalid);
        }
        let axis = types.get(index).and_then(|&ty| axis(ir, ty));
        check(&value, axis, &format!("result {index}"))?;
        Ok(value)
    });
    each.collect()
}

/// Refuses a tensor that callers see with half a byte.
fn check(tensor: &Tensor, axis: Option<usize>, what: &str) -> Result<()> {
    let extent = axis.and_then(|axis| tensor.axes().get(axis));
    match extent.map_or(1, |axis| axis.extent) {
        odd if tensor.dtype() == ELEMENTS && odd % 2 == 1 => {
            Err(InterpError::new(ErrorKind::HalfByte(what.into(), odd)))
        }
        _ => Ok(()),
    }
}

/// The stored elements before an axis, along it, and behind it.
fn around(axes: &[Axis], axis: usize) -> [usize; 3] {
    let stored = |axes: &[Axis]| axes.iter().map(|axis| axis.stored()).product();
    [
        stored(&axes[..axis]),
        axes[axis].extent,
        stored(&axes[axis + 1..]),
    ]
}

/// The bytes of a tensor of elements.
fn packed(elements: &Tensor, axis: usize) -> Option<Tensor> {
    let mut axes = elements.axes().to_vec();
    axes.get(axis)?;
    let ([outer, own, inner], codes) = (around(&axes, axis), elements.to_bytes());
    let mut bytes = Vec::with_capacity(codes.len() / 2);
    for at in 0..outer * (own / 2) {
        for behind in 0..inner {
            let low = codes.get(2 * at * inner + behind)?;
            let high = codes.get((2 * at + 1) * inner + behind)?;
            bytes.push(low | high << 4);
        }
    }
    axes[axis].extent = own / 2;
    Tensor::from_bytes(DType::U8, axes, &bytes)
}

/// The elements of a tensor of bytes.
fn unpacked(bytes: &Tensor, axis: usize) -> Option<Tensor> {
    let mut axes = bytes.axes().to_vec();
    axes.get(axis)?;
    let ([outer, own, inner], pairs) = (around(&axes, axis), bytes.to_bytes());
    let mut codes = Vec::with_capacity(2 * pairs.len());
    for at in 0..outer * own * 2 {
        for behind in 0..inner {
            let pair = pairs.get(at / 2 * inner + behind)?;
            codes.push(if at % 2 == 0 { pair & 15 } else { pair >> 4 });
        }
    }
    axes[axis].extent = own * 2;
    Tensor::from_bytes(ELEMENTS, axes, &codes)
}

/// Extents that are halves of others, each with the other.
pub(crate) fn halves(ir: &Ir, op: Op) -> Vec<(Sym, Sym)> {
    let Some(AttrKind::Dict(entries)) = ir.attr_of(op, "task.halves") else {
        return Vec::new();
    };
    let whole = |attr| ir.strings.lookup(ir.str(ir.attr_kind(attr).as_string()?));
    let pairs = entries.iter();
    pairs
        .filter_map(|(half, attr)| Some((*half, whole(*attr)?)))
        .collect()
}
