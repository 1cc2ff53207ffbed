//! Ops of `fd.ops` that are compositions of elementwise ops, or have clauses of their own.

use fuser_dialects::fusion::{self, build::FusionBuilder};
use fuser_ir::Value;
use fuser_ir::def::OpDef;
use fuser_ir::types::{DType, Dim};

use super::{Config::*, one};
use crate::nvfuser::Reader;
use crate::nvfuser::args::Args;
use crate::nvfuser::value::{Number, Val};
use crate::program::{Fault, Made};

/// Variance and mean, with their clauses.
fn moments<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<[Value; 2]> {
    let x = args.tensor(0, &["arg"])?;
    let dims = args.axes(1, &["dims", "axes"], r.draft.dims(x).len())?;
    let correction = args.int(2, &["correction"], 1)?;
    let mut b = r.draft.builder();
    let mut clauses = vec![b.ints("dims", &dims), b.int("correction", correction)];
    if args.flag(3, &["keepdim"]) {
        clauses.push(b.flag("keepdim"));
    }
    let op = b.op(&fusion::VAR_MEAN, &[x], &clauses)?;
    Ok([0, 1].map(|at| r.draft.ir.result(op, at)))
}

pub fn var_mean<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    Ok(moments(r, args)?.map(Val::Tensor).into())
}

pub fn var<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let [var, _] = moments(r, args)?;
    one(Ok(var))
}

/// Mean, sum of squared distances to it, and number of elements.
pub fn welford<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    let own = r.extents(x);
    let dims = args.axes(1, &["dims", "axes"], own.len())?;
    let mut b = r.draft.builder();
    let clauses = [b.ints("dims", &dims), b.int("correction", 0)];
    let op = b.op(&fusion::VAR_MEAN, &[x], &clauses)?;
    let [var, mean] = [0, 1].map(|at| r.draft.ir.result(op, at));
    let reduced: Vec<Dim> = dims.iter().map(|at| Dim::new(own[*at as usize])).collect();
    let kept = r.draft.dims(mean);
    let mut b = r.draft.builder();
    let clause = [b.shape("shape", &reduced)];
    let count = b.value(&fusion::SIZE, &[], &clause)?;
    let count = r.draft.cast(count, DType::I64)?;
    let mut b = r.draft.builder();
    let clause = [b.shape("shape", &kept)];
    let count = b.value(&fusion::FULL, &[count], &clause)?;
    let dtype = r.draft.dtype(var);
    let factor = r.draft.cast(count, dtype)?;
    let sum = r.draft.make(&fusion::MUL, &[var, factor])?;
    Ok([mean, sum, count].map(Val::Tensor).into())
}

pub fn cast<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let to = args
        .dtype(1, &["dtype"])?
        .ok_or_else(|| Fault::form("has no type"))?;
    match args.value(0, &["arg"])? {
        Val::Number(number, _) => Ok(vec![Val::Number(*number, Some(to))]),
        value => one(r.typed(value, to)),
    }
}

pub fn set<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    one(r.copy_like(x, x))
}

pub fn segment_set<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    one(r.draft.make(&fusion::SEGMENT_SET, &[x]))
}

/// Selects elements. The condition keeps its type, and the alternatives are promoted to a common type, which may be a
/// 16-bit float.
pub fn choose<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let condition = args.value(0, &["condition", "a"])?;
    let (x, y) = (args.value(1, &["x", "b"])?, args.value(2, &["y", "c"])?);
    if let Val::Tensor(tensor) = condition
        && r.draft.dtype(*tensor) != DType::I1
    {
        return Err(Fault::form("has a condition that is no truth value"));
    }
    let condition = r.typed(condition, DType::I1)?;
    let values = r.operands(&[x, y], Keep)?;
    let values = r.joined(vec![condition, values[0], values[1]])?;
    one(r.draft.make(&fusion::WHERE, &values))
}

/// `start + weight * (end - start)`
pub fn lerp<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let given = [
        args.value(0, &["start"])?,
        args.value(1, &["end"])?,
        args.value(2, &["weight"])?,
    ];
    let [start, end, weight] = three(r.operands(&given, Default)?)?;
    let distance = r.draft.make(&fusion::SUB, &[end, start])?;
    let part = r.draft.make(&fusion::MUL, &[weight, distance])?;
    one(r.draft.make(&fusion::ADD, &[start, part]))
}

/// `x + value * (a * b)`
pub fn addcmul<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let number = Val::Number(Number::Int(1), None);
    let value = args.get(3, &["value"]).unwrap_or(&number);
    let given = [
        args.value(0, &["x"])?,
        args.value(1, &["tensor1"])?,
        args.value(2, &["tensor2"])?,
        value,
    ];
    let values = r.operands(&given, Default)?;
    let product = r.draft.make(&fusion::MUL, &[values[1], values[2]])?;
    let part = r.draft.make(&fusion::MUL, &[values[3], product])?;
    one(r.draft.make(&fusion::ADD, &[values[0], part]))
}

/// `value` where `x <= threshold`, else `x`
pub fn threshold<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let given = [
        args.value(0, &["x", "arg"])?,
        args.value(1, &["threshold"])?,
        args.value(2, &["value"])?,
    ];
    let [x, limit, value] = three(r.operands(&given, Default)?)?;
    let below = r.draft.builder().compare("le", x, limit)?;
    one(r.draft.make(&fusion::WHERE, &[below, value, x]))
}

fn three(values: Vec<Value>) -> Made<[Value; 3]> {
    let wrong = |_| Fault::form("has other than three operands");
    values.try_into().map_err(wrong)
}

pub fn frac<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    let whole = r.draft.make(&fusion::TRUNC, &[x])?;
    one(r.draft.make(&fusion::SUB, &[x, whole]))
}

/// True where the operand, or its absolute value, is the infinity.
fn infinite<'s>(
    r: &mut Reader<'s>,
    args: &Args<'s>,
    number: f64,
    size: bool,
) -> Made<Vec<Val<'s>>> {
    let mut x = r.operands(&[args.value(0, &["arg"])?], Default)?[0];
    if let Some(none) = of_no_float(r, x, "ne")? {
        return one(Ok(none));
    }
    if size {
        x = r.draft.make(&fusion::ABS, &[x])?;
    }
    let dtype = r.draft.dtype(x);
    let scalar = r.draft.ir.scalar(dtype);
    let number = r.draft.number(number, scalar)?;
    one(Ok(r.draft.builder().compare("eq", x, number)?))
}

pub fn is_inf<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    infinite(r, args, f64::INFINITY, true)
}

pub fn is_pos_inf<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    infinite(r, args, f64::INFINITY, false)
}

pub fn is_neg_inf<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    infinite(r, args, f64::NEG_INFINITY, false)
}

pub fn is_nan<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    tested(r, args, &fusion::ISNAN, "ne")
}

pub fn is_finite<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    tested(r, args, &fusion::ISFINITE, "eq")
}

/// Ops like isfinite: `test` for floats; for other types the comparison of a value with itself, which is constant.
fn tested<'s>(
    r: &mut Reader<'s>,
    args: &Args<'s>,
    def: &'static OpDef,
    predicate: &str,
) -> Made<Vec<Val<'s>>> {
    let x = r.operands(&[args.value(0, &["arg"])?], Default)?[0];
    match of_no_float(r, x, predicate)? {
        Some(known) => one(Ok(known)),
        None => one(r.draft.make(def, &[x])),
    }
}

/// The comparison of integers or booleans with themselves, since these are always finite; `None` for floats and complex
/// numbers.
fn of_no_float(r: &mut Reader<'_>, x: Value, predicate: &str) -> Made<Option<Value>> {
    let dtype = r.draft.dtype(x);
    if dtype.is_float() || dtype.is_complex() {
        return Ok(None);
    }
    let x = r.draft.cast(x, DType::I64)?;
    Ok(Some(r.draft.builder().compare(predicate, x, x)?))
}

/// True if the sign bit is set, including -0 and NaN.
pub fn sign_bit<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let mut x = r.operands(&[args.value(0, &["arg"])?], Default)?[0];
    let bits = match r.draft.dtype(x) {
        DType::F64 => Some(DType::I64),
        DType::F32 => Some(DType::I32),
        _ => None,
    };
    if let Some(bits) = bits {
        let mut b = r.draft.builder();
        let clause = [b.dtype("to", bits)];
        x = b.value(&fusion::BITCAST, &[x], &clause)?;
    }
    let scalar = r.draft.dtype(x);
    let scalar = r.draft.ir.scalar(scalar);
    let zero = r.draft.number(0.0, scalar)?;
    one(Ok(r.draft.builder().compare("lt", x, zero)?))
}

/// The real part; of real numbers the numbers.
pub fn real<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    match r.draft.dtype(x).is_complex() {
        true => one(r.draft.make(&fusion::REAL, &[x])),
        false => set(r, args),
    }
}

/// True if the imaginary part is 0; always true for real numbers.
pub fn is_real<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    if r.draft.dtype(x).is_complex() {
        let part = r.draft.make(&fusion::IMAG, &[x])?;
        let ty = r.draft.ir.scalar(r.draft.dtype(part));
        let zero = r.draft.number(0.0, ty)?;
        return one(Ok(r.draft.builder().compare("eq", part, zero)?));
    }
    let dims: Vec<Dim> = r.extents(x).into_iter().map(Dim::new).collect();
    let truth = r.draft.ir.scalar(DType::I1);
    let truth = r.draft.number(1.0, truth)?;
    let mut b = r.draft.builder();
    let clause = [b.shape("shape", &dims)];
    one(Ok(b.value(&fusion::FULL, &[truth], &clause)?))
}
