//! Arguments and results of a program that its callers see as complex: tensors of reals whose last axis holds the two
//! parts.
//!
//! ```text
//! task.program @f(%x: tensor<8x2xf32> {pairs}) -> (tensor<8x2xf32> {pairs})
//! ```
//!
//! The caller gives and gets `tensor<8xcomplex<f32>>`, which is the same memory. `split-complex` leaves the mark.

use fuser_ir::attr::AttrKind;
use fuser_ir::def::OpError;
use fuser_ir::types::{DType, Dim, TensorType};
use fuser_ir::{Ir, Op, TypeId, describe, layout};

use super::verify::signature;
use super::{PAIRS, marks};

/// The key of the mark among the attributes of an argument or a result.
pub const MARK: &str = "pairs";

pub use super::marks::LISTS;

/// True if the entry at `index` of a list has the mark.
pub fn is_marked(ir: &Ir, program: Op, list: &str, index: usize) -> bool {
    marks::has(ir, program, list, index, MARK)
}

/// Marks entries of a list that has `count` of them.
pub fn mark(ir: &mut Ir, program: Op, list: &str, count: usize, indices: &[usize]) {
    let unit = ir.attr(AttrKind::Unit);
    let marked: Vec<_> = indices.iter().map(|&index| (index, unit)).collect();
    marks::put(ir, program, list, count, &marked, MARK);
}

/// The complex type that callers see for a marked argument or result of type `ty`, and its axis order in memory. `None`
/// if the last axis is not a pair of parts.
pub fn outside(ir: &Ir, ty: TypeId) -> Option<(Vec<Dim>, DType, Vec<usize>)> {
    let tensor: &TensorType = ir.ty(ty).as_tensor()?;
    let (last, dims) = tensor.dims.split_last()?;
    let mut order = layout::order(ir, tensor);
    let innermost = order.pop() == Some(dims.len());
    let dtype = tensor.dtype.complex()?;
    (innermost && *last == Dim::fixed(2)).then(|| (dims.to_vec(), dtype, order.to_vec()))
}

/// Verifies that marks are on tensors of pairs.
pub fn verify(ir: &Ir, program: Op, errors: &mut Vec<OpError>) {
    let Some((inputs, results)) = signature(ir, program) else {
        return;
    };
    for (list, what, types) in [
        (LISTS[0], "argument", inputs),
        (LISTS[1], "result", results),
    ] {
        for (index, &ty) in types.iter().enumerate() {
            if is_marked(ir, program, list, index) && outside(ir, ty).is_none() {
                let ty = describe::ty(ir, ty);
                let text = format!("{what} {index} is a `{ty}`, which holds no pairs of parts");
                let help = "`pairs` stands at tensors of f32 or f64 whose last axis, innermost in memory, has extent 2";
                errors.push(OpError::new(text).code(&PAIRS).help(help));
            }
        }
    }
}
