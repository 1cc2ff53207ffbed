//! Products of matrices. They accumulate in f32 or f64, and are rounded once.

use fuser_dialects::fusion::convolution::{self, Window};
use fuser_ir::Op;

use super::reduce::without_negative_zero;
use super::{Form, Tensor, Writer};
use crate::program::{Fault, Made};

/// Batch axes of both operands become batching dimensions. Batch axes of only one operand become rows or columns.
pub fn matmul(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    let (a, b) = (w.operand(op, 0)?, w.operand(op, 1)?);
    let sum = multiplied(w, [&a, &b], to);
    let sum = added(w, op, sum)?;
    Ok(w.convert(&sum, to.dtype))
}

/// A product in the type that accumulates, in the shape of the result.
fn multiplied(w: &mut Writer<'_>, [a, b]: [&Tensor; 2], to: &Form) -> Tensor {
    let (left, right) = (a.shape.len(), b.shape.len());
    let both = if left > 2 && right > 2 { left - 2 } else { 0 };
    let batch: Vec<usize> = (0..both).collect();
    let batch = format!("batching_dims = {batch:?} x {batch:?}, ");
    let terms = (left.saturating_sub(1), right.saturating_sub(2));
    if left != 2 || right < 3 {
        return contracted(w, [a, b], &batch, terms, &to.shape);
    }
    // The rows of the left operand come before the batch axes of the right one.
    let rows = to.shape.len() - 2;
    let order: Vec<usize> = (1..=rows).chain([0, rows + 1]).collect();
    let mut shape = to.shape.clone();
    let row = shape.remove(rows);
    shape.insert(0, row);
    let product = contracted(w, [a, b], "", terms, &shape);
    let turned = w.inner(&to.shape, product.dtype);
    let dims = format!(", dims = {order:?}");
    w.emit(&turned, "stablehlo.transpose", &[&product], &dims);
    turned
}

/// A sum and the third operand of `op`, if it has one, at the last indices of the result.
fn added(w: &mut Writer<'_>, op: Op, sum: Tensor) -> Made<Tensor> {
    if w.ir.operand_count(op) < 3 {
        return Ok(sum);
    }
    let c = w.operand(op, 2)?;
    let c = w.convert(&c, sum.dtype);
    let first = sum.shape.len().saturating_sub(c.shape.len());
    let spread = match first {
        0 => c,
        _ => w.broadcast(&c, &[first], &sum.shape),
    };
    Ok(w.same("add", &[&sum, &spread]))
}

/// A product in the type that accumulates, in the precision of its operands.
fn contracted(
    w: &mut Writer<'_>,
    [a, b]: [&Tensor; 2],
    batch: &str,
    terms: (usize, usize),
    shape: &[u64],
) -> Tensor {
    let product = w.inner(shape, a.dtype.accumulate());
    let types = format!("({}, {}) -> {}", a.ty(), b.ty(), product.ty());
    let operands = format!("{}, {}", a.name, b.name);
    let line = format!(
        "stablehlo.dot_general {operands}, {batch}contracting_dims = [{}] x [{}], precision = [HIGHEST, HIGHEST] : {types}",
        terms.0, terms.1
    );
    w.line(&product, &line);
    match a.shape.get(terms.0) {
        // XLA replaces a sum of one product by the product, which may be `-0`.
        Some(1) => without_negative_zero(w, &product),
        _ => product,
    }
}

/// A product with a transposed matrix; the bias is added before the one rounding.
pub fn linear(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    let (x, weight) = (w.operand(op, 0)?, w.operand(op, 1)?);
    let terms = (x.shape.len().saturating_sub(1), 1);
    let sum = contracted(w, [&x, &weight], "", terms, &to.shape);
    let sum = added(w, op, sum)?;
    Ok(w.convert(&sum, to.dtype))
}

/// A convolution. Its groups, a separate axis in our op, become part of the features and the filters.
pub fn convolution(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    let missing = || Fault::form("has clauses that do not fit its operands");
    let (x, kernel) = (w.operand(op, 0)?, w.operand(op, 1)?);
    let windows = convolution::windows(w.ir, op).ok_or_else(missing)?;
    let front = convolution::front(w.ir, op);
    let merged = |shape: &[u64], at: usize| match front {
        2 => shape.to_vec(),
        _ => [&shape[..at], &[shape[at] * shape[at + 1]], &shape[at + 2..]].concat(),
    };
    let groups = match front {
        2 => 1,
        _ => x.shape[1],
    };
    let x = w.reshaped(&x, &merged(&x.shape, 1));
    let kernel = w.reshaped(&kernel, &merged(&kernel.shape, 0));
    let sum = w.inner(
        &merged(&to.shape, 1),
        match x.dtype.is_float() {
            true => x.dtype.accumulate(),
            false => to.dtype,
        },
    );
    let list = |number: fn(&Window) -> i64| windows.iter().map(number).collect::<Vec<_>>();
    let pads: Vec<[i64; 2]> = windows.iter().map(|own| [own.low, own.high]).collect();
    let axes: String = (0..windows.len()).map(|dim| format!(", {dim}")).collect();
    let line = format!(
        "stablehlo.convolution({}, {}) dim_numbers = [b, f{axes}]x[o, i{axes}]->[b, f{axes}], \
         window = {{stride = {:?}, pad = {pads:?}, lhs_dilate = {:?}, rhs_dilate = {:?}}} \
         {{batch_group_count = 1 : i64, feature_group_count = {groups} : i64, \
         precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]}} : ({}, {}) -> {}",
        x.name,
        kernel.name,
        list(|own| own.stride),
        list(|own| own.base_dilation),
        list(|own| own.dilation),
        x.ty(),
        kernel.ty(),
        sum.ty()
    );
    w.line(&sum, &line);
    let sum = match kernel.shape[1..].iter().product::<u64>() {
        // As for a product with one term.
        1 => without_negative_zero(w, &sum),
        _ => sum,
    };
    let sum = w.convert(&sum, to.dtype);
    Ok(w.reshaped(&sum, &to.shape))
}
