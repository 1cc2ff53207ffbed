//! The ops that a plan requires.
//!
//! Every op is inserted before the slice. Inference checks each op; a refused op leaves dead ops behind and the slice
//! unchanged.

use fuser_dialects::fusion::{self, lambda};
use fuser_ir::build::{Builder, Clause};
use fuser_ir::def::OpError;
use fuser_ir::types::Dim;
use fuser_ir::{AttrId, Ir, Op, OpDef, Sym, Value};

use super::moves::Move;

/// The slice itself, on what nothing passes.
pub fn leaf(ir: &mut Ir, window: Op, value: Value, own: &Move) -> Result<Value, OpError> {
    let mut b = Builder::before(ir, window);
    let shape: Vec<Dim> = own.shape.iter().map(|&e| Dim::new(e)).collect();
    let starts = b.amounts("starts", &own.starts);
    let starts = starts.ok_or_else(|| OpError::new("a start may be negative"))?;
    let mut clauses = vec![starts, b.shape("shape", &shape)];
    if own.steps.iter().any(|&s| s != 1) {
        clauses.push(b.ints("strides", &own.steps));
    }
    b.value(&fusion::SLICE, &[value], &clauses)
}

/// The op once more, on other operands and for another shape.
pub fn copy(
    ir: &mut Ir,
    window: Op,
    producer: Op,
    operands: &[Value],
    own: &Move,
) -> Result<Value, OpError> {
    let unknown = || OpError::new("no table has it");
    let def: &'static OpDef = ir.def(producer).ok_or_else(unknown)?;
    let attrs: Vec<(Sym, AttrId)> = ir.attrs(producer).to_vec();
    let attrs: Vec<(String, AttrId)> = attrs
        .iter()
        .map(|(n, a)| (ir.str(*n).to_string(), *a))
        .collect();
    let loc = ir.op_loc(producer);
    let name = ir.value_name_sym(ir.result(producer, 0));
    let regions = lambda::copies(ir, producer);
    let mut b = Builder::before(ir, window);
    b.loc = loc;
    let shape: Vec<Dim> = own.shape.iter().map(|&e| Dim::new(e)).collect();
    let shape = b.shape("shape", &shape);
    let clauses: Vec<Clause<'_>> = attrs
        .iter()
        .map(|(n, a)| {
            if n == "shape" {
                shape
            } else {
                (n.as_str(), *a)
            }
        })
        .collect();
    let made = b.build(def, operands, &clauses, &regions, None)?;
    let value = ir.result(made, 0);
    ir.set_value_name(value, name);
    Ok(value)
}
