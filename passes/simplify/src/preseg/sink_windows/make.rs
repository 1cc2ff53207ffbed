//! The ops that a plan requires.
//!
//! Every op is inserted before the slice or the pad. Inference checks each op; a refused op leaves dead ops behind and
//! the slice or the pad unchanged.

use fuser_dialects::fusion::build::FusionBuilder;
use fuser_dialects::fusion::{self, lambda};
use fuser_ir::build::{Builder, Clause};
use fuser_ir::def::OpError;
use fuser_ir::types::{Dim, ExtentExpr};
use fuser_ir::{AttrId, DType, Ir, Op, OpDef, Sym, Value};

use super::moves::{Move, amounts, dims, is_pad};

/// The slice itself, on what nothing passes. For a pad, the value has a border first, of any value.
pub fn leaf(ir: &mut Ir, window: Op, value: Value, own: &Move) -> Result<Value, OpError> {
    let unknown = || OpError::new("a start may be negative");
    let whole = dims(ir, value);
    let mut b = Builder::before(ir, window);
    let shape: Vec<Dim> = own.shape.iter().map(|&e| Dim::new(e)).collect();
    let (mut value, mut starts) = (value, own.starts.clone());
    let mut takes_all = false;
    if is_pad(b.ir, window) {
        let borders = own.borders(b.ir, &whole).ok_or_else(unknown)?;
        if borders.iter().any(|border| *border != [0, 0]) {
            let border = zero(&mut b, value)?;
            let [low, high] = [0, 1].map(|side| borders.iter().map(|b| b[side]).collect());
            let low: Vec<i64> = low;
            let clauses = [b.ints("low", &low), b.ints("high", &high)];
            value = b.value(&fusion::PAD, &[value, border], &clauses)?;
            for (start, low) in starts.iter_mut().zip(low) {
                let moved = start.add(&ExtentExpr::constant(low));
                *start = moved.ok_or_else(unknown)?;
            }
            let from_zero = starts.iter().all(|s| s.as_constant() == Some(0));
            let extents = dims(b.ir, value).into_iter().map(|d| d.extent);
            takes_all = from_zero && extents.eq(own.shape.iter().copied());
        }
    }
    if takes_all {
        return Ok(value);
    }
    let starts = b.amounts("starts", &starts);
    let starts = starts.ok_or_else(unknown)?;
    let mut clauses = vec![starts, b.shape("shape", &shape)];
    if own.steps.iter().any(|&s| s != 1) {
        clauses.push(b.ints("strides", &own.steps));
    }
    b.value(&fusion::SLICE, &[value], &clauses)
}

fn zero(b: &mut Builder<'_>, like: Value) -> Result<Value, OpError> {
    let unknown = || OpError::new("has no elements");
    let dtype = b.ir.value_kind(like).dtype().ok_or_else(unknown)?;
    let ty = b.ir.scalar(dtype);
    match dtype.is_float() {
        true => b.constant_float(0.0, ty),
        false => b.constant_int(0, ty),
    }
}

/// The border of a pad around `inside`, which is as large as the result of the pad: a choice by a padded truth.
pub fn border(ir: &mut Ir, pad: Op, inside: Value) -> Result<Value, OpError> {
    let [operand, value] = [0, 1].map(|operand| ir.operand(pad, operand));
    let shape: Vec<Dim> = dims(ir, operand)
        .iter()
        .map(|d| Dim::new(d.extent))
        .collect();
    let unknown = || OpError::new("an amount has a name");
    let sides = ["low", "high"].map(|side| amounts(ir, pad, side));
    let [low, high] = sides.map(|side| side.ok_or_else(unknown));
    let mut b = Builder::before(ir, pad);
    let ty = b.ir.scalar(DType::I1);
    let [outside, taken] = [b.constant_int(0, ty)?, b.constant_int(1, ty)?];
    let shape = [b.shape("shape", &shape)];
    let taken = b.value(&fusion::FULL, &[taken], &shape)?;
    let clauses = [b.ints("low", &low?), b.ints("high", &high?)];
    let taken = b.value(&fusion::PAD, &[taken, outside], &clauses)?;
    b.choose(taken, inside, value)
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
