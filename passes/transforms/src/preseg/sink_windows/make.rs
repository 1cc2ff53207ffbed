//! The ops that a plan asks for.
//!
//! Every op goes before the window. Inference checks each; what it refuses leaves dead ops behind and the window where it is.

use fuser_dialects::fusion;
use fuser_dialects::fusion::build::FusionBuilder;
use fuser_ir::build::{Builder, Clause};
use fuser_ir::def::OpError;
use fuser_ir::types::Dim;
use fuser_ir::{AttrId, DType, Ir, Op, OpDef, Sym, Value};

use super::plan::{Move, Point, dims};

/// The window itself, on what lies in memory.
pub fn leaf(ir: &mut Ir, window: Op, value: Value, own: &Move) -> Result<Value, OpError> {
    let dtype = ir.value_kind(value).dtype().unwrap_or(DType::F32);
    let mut b = Builder::before(ir, window);
    if own.pads {
        let zero = zero(&mut b, dtype)?;
        return pad(&mut b, value, zero, own);
    }
    let shape: Vec<Dim> = own.shape.iter().map(|&e| Dim::new(e)).collect();
    let mut clauses = vec![b.ints("starts", &own.low), b.shape("shape", &shape)];
    if own.high.iter().any(|&s| s != 1) {
        clauses.push(b.ints("strides", &own.high));
    }
    b.value(&fusion::SLICE, &[value], &clauses)
}

fn pad(b: &mut Builder<'_>, value: Value, fill: Value, own: &Move) -> Result<Value, OpError> {
    let clauses = [b.ints("low", &own.low), b.ints("high", &own.high)];
    b.value(&fusion::PAD, &[value, fill], &clauses)
}

fn zero(b: &mut Builder<'_>, dtype: DType) -> Result<Value, OpError> {
    let ty = b.ir.scalar(dtype);
    match dtype.is_float() {
        true => b.constant_float(0.0, ty),
        false => b.constant_int(0, ty),
    }
}

/// The op once more, on other operands and for another shape.
pub fn copy(
    ir: &mut Ir,
    window: Op,
    maker: Op,
    operands: &[Value],
    own: &Move,
) -> Result<Value, OpError> {
    let unknown = || OpError::new("no table has it");
    let def: &'static OpDef = ir.def(maker).ok_or_else(unknown)?;
    let attrs: Vec<(Sym, AttrId)> = ir.attrs(maker).to_vec();
    let attrs: Vec<(String, AttrId)> = attrs
        .iter()
        .map(|(n, a)| (ir.str(*n).to_string(), *a))
        .collect();
    let loc = ir.op_loc(maker);
    let name = ir.value_name_sym(ir.result(maker, 0));
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
    let value = b.value(def, operands, &clauses)?;
    ir.set_value_name(value, name);
    Ok(value)
}

/// The moved operands of a window, put together.
pub fn join(ir: &mut Ir, window: Op, parts: &[Point], moved: &[Value]) -> Result<Value, OpError> {
    let missing = || OpError::new("a window has no operands");
    let (&last, others) = moved.split_last().ok_or_else(missing)?;
    if ir.is(window, &fusion::SLICE) {
        return Ok(last);
    }
    let mut value = last;
    if ir.is(window, &fusion::PAD) {
        let fill = ir.operand(window, 1);
        let mask = mask(ir, window, &parts[0])?;
        let mut b = Builder::before(ir, window);
        return b.choose(mask, value, fill);
    }
    for (part, &other) in parts.iter().zip(others).rev() {
        let mask = mask(ir, window, part)?;
        let mut b = Builder::before(ir, window);
        value = b.choose(mask, other, value)?;
    }
    Ok(value)
}

/// True where the operand has elements.
fn mask(ir: &mut Ir, window: Op, (value, own): &Point) -> Result<Value, OpError> {
    let shape: Vec<Dim> = dims(ir, *value)
        .iter()
        .map(|d| Dim::new(d.extent))
        .collect();
    let mut b = Builder::before(ir, window);
    let ty = b.ir.scalar(DType::I1);
    let (yes, no) = (b.constant_int(1, ty)?, b.constant_int(0, ty)?);
    let shape = b.shape("shape", &shape);
    let all = b.value(&fusion::FULL, &[yes], &[shape])?;
    pad(&mut b, all, no, own)
}
