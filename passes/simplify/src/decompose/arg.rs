//! The index of an extreme, computed from the extreme itself.
//!
//! ```text
//! %i = fusion.argmax %x dim 1 of i64
//!   =>
//! %m = fusion.max %x dims [1] keepdim        // a NaN where there is one
//! %h = fusion.compare %x, %m eq              // `or` isnan %x
//! %c = fusion.where %h, iota, the greatest i64
//! %i = fusion.min %c dims [1]
//! ```
//!
//! The axis is read twice, as in a softmax: a row that stays in fast memory is loaded once.

use fuser_dialects::fusion;
use fuser_dialects::fusion::build::{Built, FusionBuilder};
use fuser_ir::build::Builder;
use fuser_ir::def::OpError;
use fuser_ir::{Dim, Ir, Op, OpDef};

use super::Parts;

/// `fusion.argmax`
pub fn argmax(ir: &mut Ir, op: Op) -> Parts {
    Ok(vec![make(ir, op, &fusion::MAX)?])
}

/// `fusion.argmin`
pub fn argmin(ir: &mut Ir, op: Op) -> Parts {
    Ok(vec![make(ir, op, &fusion::MIN)?])
}

/// The first index whose element is the `extreme` of the axis.
fn make(ir: &mut Ir, op: Op, extreme: &'static OpDef) -> Built {
    let x = ir.operand(op, 0);
    let missing = || OpError::new("its types are no tensors");
    let of = ir
        .value_kind(ir.result(op, 0))
        .dtype()
        .ok_or_else(missing)?;
    let tensor = ir.value_kind(x).as_tensor().ok_or_else(missing)?.clone();
    let dim = ir.int_of(op, "dim").unwrap_or(0);
    let keeps = ir.get_attr(op, "keepdim").is_some();
    let shape: Vec<Dim> = tensor.dims.iter().map(|d| Dim::new(d.extent)).collect();
    let kept: Vec<i64> = (0..shape.len() as i64).filter(|d| *d != dim).collect();

    let mut b = Builder::before(ir, op);
    let found = b.reduce(extreme, x, &[dim])?;
    let wide = b.broadcast(found, &kept, &shape)?;
    let mut hit = b.compare("eq", x, wide)?;
    if tensor.dtype.is_float() {
        let nan = b.unary(&fusion::ISNAN, x)?;
        hit = b.binary(&fusion::OR, hit, nan)?;
    }
    // Along the other axes the index is stored once: the result has `b` axes where the operand has them.
    let length = b.shape("shape", &shape[dim as usize..][..1]);
    let clauses = [b.int("dim", 0), length, b.dtype("of", of)];
    let index = b.value(&fusion::IOTA, &[], &clauses)?;
    let index = b.broadcast(index, &[dim], &shape)?;
    let index_ty = b.ir.scalar(of);
    let none = b.constant_int(of.int_range().1, index_ty)?;
    let index = b.choose(hit, index, none)?;
    let dims = b.ints("dims", &[dim]);
    let keepdim = b.flag("keepdim");
    let clauses = [dims, keepdim];
    b.value(&fusion::MIN, &[index], &clauses[..1 + usize::from(keeps)])
}
