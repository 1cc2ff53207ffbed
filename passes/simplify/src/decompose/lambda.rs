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

use fuser_dialects::fusion::lambda::{init, lambda};
use fuser_dialects::fusion::{self, fold::constants};
use fuser_ir::build::Builder;
use fuser_ir::clone::Mapping;
use fuser_ir::def::OpError;
use fuser_ir::{Block, Ir, Op, Region, Value};

use super::Parts;

/// `fusion.fold`
pub fn fold(ir: &mut Ir, op: Op) -> Parts {
    let missing = || OpError::new("it has no lambda");
    let (body, _) = lambda(ir, op).ok_or_else(missing)?;
    let numbers = init(ir, op);
    let operands: Vec<Value> = ir.operands(op).collect();
    let names = ["dim", "init", "associative"];
    let clauses = names.map(|name| ir.get_attr(op, name).map(|attr| (name, attr)));
    let clauses: Vec<_> = clauses.into_iter().flatten().collect();
    let dim = ir.int_of(op, "dim").unwrap_or(0);
    let region = copy(ir, body);

    let mut b = Builder::before(ir, op);
    let scan = b.build(&fusion::SCAN, &operands, &clauses, &[region], None)?;
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
    number: fuser_ir::AttrId,
) -> Result<fuser_ir::AttrId, OpError> {
    let unfit = || OpError::new("a number of `init` is no element");
    let dtype = ir.value_kind(step).dtype().ok_or_else(unfit)?;
    let number = constants::number(ir.attr_kind(number), dtype).ok_or_else(unfit)?;
    let ty = ir.scalar(dtype);
    Ok(constants::attribute(ir, number, ty))
}

/// A region with a copy of the block.
fn copy(ir: &mut Ir, from: Block) -> Region {
    let region = ir.new_region();
    let to = ir.append_block(region);
    let mut map = Mapping::default();
    for arg in ir.args(from).to_vec() {
        let (ty, name) = (ir.value_type(arg), ir.value_name_sym(arg));
        let own = ir.append_arg(to, ty, name);
        map.insert(arg, own);
    }
    for op in ir.block_ops(from).collect::<Vec<_>>() {
        let own = ir.clone_op(op, &mut map);
        ir.append_op(to, own);
    }
    region
}
