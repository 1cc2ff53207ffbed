//! A program for arrays that lie otherwise than its types say: permuted, or stored once along some axes.
//!
//! ```text
//! task.program @f(%x: tensor<4x8xf32>, ...)   =>   task.program @f(%x: tensor<4x8xf32, [1, 0]>, ...)
//! task.program @f(%x: tensor<4x8xf32>, ...)   =>   task.program @f(%x: tensor<b4x8xf32>, ...) { %0 = fusion.copy %x dense ... }
//! ```
//!
//! Ops take operands of any layout, so that a parameter only gets another type. One that is stored once along an axis changes the types of
//! what is computed from it; a copy stands between, which is fused into the kernel that reads it. A result states its layout, and one that
//! overwrites a parameter has that of the parameter. Never changes an element.

use fuser_dialects::fusion::reshape::COPY;
use fuser_dialects::task::updates;
use fuser_dialects::task::verify::signature;
use fuser_ir::Builder;
use fuser_ir::layout;
use fuser_ir::{AttrKind, Block, Dim, Ir, TensorType, TypeId, TypeKind, Value, verify};

use crate::session::{Loaded, Session};

/// The memory of a dense array.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Layout {
    /// The axes from the outermost to the innermost.
    pub order: Vec<u32>,
    /// True for each axis along which all elements are one.
    pub once: Vec<bool>,
}

impl Layout {
    /// The layout of an array with these extents and strides, in elements; none where it has gaps, or runs backward. Axes of extent 1 lie anywhere.
    pub fn of(shape: &[i64], strides: &[i64]) -> Option<Self> {
        let matters = |axis: usize| shape[axis] > 1;
        let once: Vec<bool> = (0..shape.len())
            .map(|axis| matters(axis) && strides[axis] == 0)
            .collect();
        let stored = |axis: &usize| matters(*axis) && !once[*axis];
        let mut inner: Vec<usize> = (0..shape.len()).filter(stored).collect();
        inner.sort_by_key(|&axis| std::cmp::Reverse(strides[axis]));
        let mut step = 1i64;
        for &axis in inner.iter().rev() {
            if strides[axis] != step {
                return None;
            }
            step = step.checked_mul(shape[axis])?;
        }
        // Axes that do not matter keep their places, so that a row-major array has the order 0, 1, ...
        let mut next = inner.into_iter();
        let order = (0..shape.len()).map(|axis| match stored(&axis) {
            true => next.next().unwrap_or(axis) as u32,
            false => axis as u32,
        });
        Some(Self {
            order: order.collect(),
            once,
        })
    }

    /// The layout that the strides alone imply: axes sorted by stride. Among equal strides, the later axis is the inner
    /// one.
    pub fn of_strides(strides: &[i64]) -> Option<Self> {
        let mut order: Vec<u32> = (0..strides.len() as u32).collect();
        order.sort_by_key(|&axis| std::cmp::Reverse(strides[axis as usize]));
        let once = vec![false; strides.len()];
        strides
            .iter()
            .all(|&step| step >= 0)
            .then_some(Self { order, once })
    }
}

/// The program with other layouts of inputs and outputs; `None` if types cannot express them.
pub(super) fn with(
    loaded: &Loaded,
    inputs: &[Option<Layout>],
    outputs: &[Option<Vec<u32>>],
) -> Option<Loaded> {
    let (module, program) = (loaded.module, loaded.program);
    let mut ir = loaded.ir.clone();
    let (mut parameters, mut results) =
        signature(&ir, program).map(|(inputs, results)| (inputs.to_vec(), results.to_vec()))?;
    let block = ir.body(program, 0)?;
    let args = ir.args(block).to_vec();
    let end = ir.last_op(block)?;
    for (number, (&arg, wanted)) in args.iter().zip(inputs).enumerate() {
        let Some(wanted) = wanted else { continue };
        parameters[number] = lay_out(&mut ir, block, arg, wanted)?;
        for (result, ty) in results.iter_mut().enumerate() {
            if updates::argument(&ir, program, result) == Some(number) {
                *ty = parameters[number];
            }
        }
    }
    for (number, wanted) in outputs.iter().enumerate() {
        let overwrites = updates::argument(&ir, program, number).is_some();
        if let (Some(order), Some(ty), false) = (wanted, results.get_mut(number), overwrites) {
            *ty = ordered(&mut ir, *ty, order)?;
        }
    }
    let name = ir.symbol_name(program)?.to_owned();
    for (number, &ty) in results.iter().enumerate() {
        let value = ir.operand(end, number);
        if ir.value_type(value) == ty {
            continue;
        }
        let made = ir.def_op(value);
        let made = made.is_some_and(|op| ir.op_regions(op).is_empty());
        if made && ir.uses(value).count() == 1 {
            ir.set_value_type(value, ty);
            continue;
        }
        let name = ir.value_name_sym(value);
        let mut builder = Builder::before(&mut ir, end);
        let copy = builder.typed(&COPY, &[value], &[], ty).ok()?;
        ir.set_value_name(copy, name);
        ir.set_operand(end, number, copy);
    }
    let ty = ir.function_type(parameters, results);
    let ty = ir.attr(AttrKind::Type(ty));
    ir.set_attr(program, "function_type", ty);
    match verify(&mut ir, module).has_errors() {
        true => None,
        false => Session::load_module(ir, module, Some(&name)).ok(),
    }
}

/// Gives a parameter the layout `wanted`; its users receive a value of the original type.
fn lay_out(ir: &mut Ir, block: Block, arg: Value, wanted: &Layout) -> Option<TypeId> {
    let old = ir.value_type(arg);
    let tensor = ir.ty(old).as_tensor()?.clone();
    let repeats = |(dim, once): (&Dim, &bool)| *once && !dim.broadcast;
    let changes = tensor.dims.iter().zip(&wanted.once).any(repeats);
    let mut dims = tensor.dims.clone();
    for (dim, once) in dims.iter_mut().zip(&wanted.once) {
        dim.broadcast |= once;
    }
    if !changes {
        let ty = ordered(ir, old, &wanted.order)?;
        ir.set_value_type(arg, ty);
        return Some(ty);
    }
    // A dense copy stores every axis, so that no axis of the type may be stored once.
    if tensor.dims.iter().any(|dim| dim.broadcast) || tensor.encoding.is_some() {
        return None;
    }
    let ty = ir.type_id(TypeKind::Tensor(TensorType { dims, ..tensor }));
    let ty = ordered(ir, ty, &wanted.order)?;
    let first = ir.first_op(block)?;
    ir.set_value_type(arg, ty);
    let mut builder = Builder::before(ir, first);
    let dense = [builder.flag("dense")];
    let copy = builder.typed(&COPY, &[arg], &dense, old).ok()?;
    let made = ir.def_op(copy);
    ir.replace_uses_if(arg, copy, |ir, slot| Some(ir.use_owner(slot).0) != made);
    Some(ty)
}

/// The type with its axes in this order in memory, and said so.
fn ordered(ir: &mut Ir, ty: TypeId, order: &[u32]) -> Option<TypeId> {
    let rank = ir.ty(ty).as_tensor()?.dims.len();
    let order: layout::Order = order.iter().map(|&axis| axis as usize).collect();
    (order.len() == rank && rank > 1)
        .then(|| layout::with(ir, ty, &order))
        .or(Some(ty))
}
