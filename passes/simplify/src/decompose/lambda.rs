//! A fold with a lambda, by the scan of which it is the last step.
//!
//! ```text
//! %s, %n = fusion.fold %x dim 1 init [0.0, 0] { ... }
//!   =>
//! %a, %b = fusion.scan %x dim 1 init [0.0, 0] { ... }
//! %s     = fusion.last %a dim 1 otherwise 0.0
//! %n     = fusion.last %b dim 1 otherwise 0
//! ```
//!
//! Both are of one walk: what the scan hands on is in registers, and no step of it is written.
//!
//! An associative fold of integers along a long axis, with too little beside it to occupy workers, is taken in parts, in their order:
//!
//! ```text
//! %s = fusion.fold %x dim 0 init [0] associative { ... }     // of 65536
//!   =>
//! %p = fusion.reshape %x shape [64, 1024]
//! %q = fusion.fold %p dim 1 init [0] { ... }
//! %s = fusion.fold %q dim 0 init [0] { ... }
//! ```
//!
//! Floats round, so that no lambda that computes with them is associative to the bit.

use fuser_dialects::fusion::lambda::{copies, init, lambda};
use fuser_dialects::fusion::{self, fold::constants};
use fuser_ir::build::Builder;
use fuser_ir::def::OpError;
use fuser_ir::{AttrId, Block, DType, Dim, Extent, Ir, Op, Value};

use super::Parts;

/// The shortest axis that is taken in parts.
const LONG: u64 = 1 << 14;
/// The most parts of an axis. As many elements beside it occupy the workers without them.
const MOST_PARTS: u64 = 64;
/// The fewest parts that are worth a second walk.
const FEWEST_PARTS: u64 = 4;

/// `fusion.fold`
pub fn fold(ir: &mut Ir, op: Op) -> Parts {
    let missing = || OpError::new("it has no lambda");
    let (body, _) = lambda(ir, op).ok_or_else(missing)?;
    match parts(ir, op, body) {
        Some((dim, parts)) => in_parts(ir, op, dim, parts),
        None => last_step(ir, op),
    }
}

/// The axis of an associative fold of integers and the number of its parts, where it is long and little lies beside it.
fn parts(ir: &Ir, op: Op, body: Block) -> Option<(usize, u64)> {
    ir.get_attr(op, "associative")?;
    let whole = |&value: &Value| ir.value_kind(value).dtype().is_some_and(DType::is_int);
    let inside = ir.block_ops(body).flat_map(|inner| ir.results(inner));
    if !ir.args(body).iter().chain(inside).all(whole) {
        return None;
    }
    let dim = usize::try_from(ir.int_of(op, "dim")?).ok()?;
    let mut beside = 1u64;
    let mut length = 0;
    for operand in ir.operands(op) {
        let dims = &ir.value_kind(operand).as_tensor()?.dims;
        let extents = dims.iter().map(|d| match d.extent {
            Extent::Static(extent) if !d.broadcast => Some(extent),
            _ => None,
        });
        let extents: Vec<u64> = extents.collect::<Option<_>>()?;
        length = *extents.get(dim)?;
        let all = extents.iter().try_fold(1u64, |n, e| n.checked_mul(*e))?;
        beside = all.checked_div(length)?;
    }
    let mut counts = (FEWEST_PARTS..=MOST_PARTS).rev();
    let count = counts.find(|n| length.is_multiple_of(*n))?;
    (length >= LONG && beside < MOST_PARTS).then_some((dim, count))
}

/// The fold of each part, and then of these.
fn in_parts(ir: &mut Ir, op: Op, dim: usize, parts: u64) -> Parts {
    let init = ir.get_attr(op, "init");
    let init = init.ok_or_else(|| OpError::new("it has no `init`"))?;
    let mut values: Vec<Value> = ir.operands(op).collect();
    let [inner, outer] = [copies(ir, op), copies(ir, op)];
    let mut b = Builder::before(ir, op);
    for value in &mut values {
        let tensor = b.ir.value_kind(*value).as_tensor();
        let mut dims = tensor.map_or_else(Vec::new, |t| t.dims.clone());
        if let Some(Dim {
            extent: Extent::Static(length),
            ..
        }) = dims.get(dim).copied()
        {
            dims[dim] = Dim::fixed(length / parts);
            dims.insert(dim, Dim::fixed(parts));
        }
        let shape = b.shape("shape", &dims);
        *value = b.value(&fusion::RESHAPE, &[*value], &[shape])?;
    }
    for (regions, dim) in [(inner, dim + 1), (outer, dim)] {
        let clauses = [b.int("dim", dim as i64), ("init", init)];
        let fold = b.build(&fusion::FOLD, &values, &clauses, &regions, None)?;
        values = b.ir.results(fold).to_vec();
    }
    Ok(values)
}

/// The last step of a scan.
fn last_step(ir: &mut Ir, op: Op) -> Parts {
    let numbers = init(ir, op);
    let operands: Vec<Value> = ir.operands(op).collect();
    let names = ["dim", "init", "associative"];
    let clauses = names.map(|name| ir.get_attr(op, name).map(|attr| (name, attr)));
    let clauses: Vec<_> = clauses.into_iter().flatten().collect();
    let dim = ir.int_of(op, "dim").unwrap_or(0);
    let regions = copies(ir, op);

    let mut b = Builder::before(ir, op);
    let scan = b.build(&fusion::SCAN, &operands, &clauses, &regions, None)?;
    let steps = b.ir.results(scan).to_vec();
    let mut ends = Vec::new();
    for (step, number) in steps.into_iter().zip(numbers) {
        let otherwise = otherwise(b.ir, step, number)?;
        let clauses = [b.int("dim", dim), ("otherwise", otherwise)];
        ends.push(b.value(&fusion::LAST, &[step], &clauses)?);
    }
    Ok(ends)
}

/// A number of `init` as one of the elements of `step`.
fn otherwise(ir: &mut Ir, step: Value, number: AttrId) -> Result<AttrId, OpError> {
    let unfit = || OpError::new("a number of `init` is no element");
    let dtype = ir.value_kind(step).dtype().ok_or_else(unfit)?;
    let number = constants::number(ir.attr_kind(number), dtype).ok_or_else(unfit)?;
    let ty = ir.scalar(dtype);
    Ok(constants::attribute(ir, number, ty))
}
