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

use fuser_dialects::fusion::lambda::{copies, init, lambda};
use fuser_dialects::fusion::{self, fold::constants};
use fuser_ir::build::Builder;
use fuser_ir::def::OpError;
use fuser_ir::{AttrId, Ir, Op, Value};

use super::Parts;

/// `fusion.fold`
pub fn fold(ir: &mut Ir, op: Op) -> Parts {
    let missing = || OpError::new("it has no lambda");
    lambda(ir, op).ok_or_else(missing)?;
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
fn otherwise(
    ir: &mut Ir,
    step: Value,
    number: AttrId,
) -> Result<AttrId, OpError> {
    let unfit = || OpError::new("a number of `init` is no element");
    let dtype = ir.value_kind(step).dtype().ok_or_else(unfit)?;
    let number = constants::number(ir.attr_kind(number), dtype).ok_or_else(unfit)?;
    let ty = ir.scalar(dtype);
    Ok(constants::attribute(ir, number, ty))
}
