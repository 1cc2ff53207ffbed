//! A long line of a scan on a GPU, taken in parts: blocks scan a part each, behind what all parts before it have together.
//!
//! ```text
//! %y = fusion.cumsum %x dim 0                                // 16777216
//!   =>
//! %p = fusion.reshape %x shape [512, 32768]
//! %t = fusion.sum %p dims [1]                                // what each part has together
//! %s = fusion.slice %t starts [0] shape [511]
//! %e = fusion.pad %s, -0.0 low [1] high [0]
//! %b = fusion.cumsum %e dim 0                                // and the parts before it
//! %c = fusion.cumsum %p dim 1
//! %a = fusion.add (fusion.broadcast %b dims [0] shape [512, 32768]), %c
//! %y = fusion.reshape %a shape [16777216]
//! ```
//!
//! It is read twice and written once, by all multiprocessors instead of one. Only where the lines beside it occupy few of them, and its length is a
//! number that parts of whole vectors make up. A CPU keeps the order of the elements.

use fuser_dialects::fusion;
use fuser_dialects::fusion::build::{Built, FusionBuilder};
use fuser_ir::build::Builder;
use fuser_ir::def::{Computes, OpClass, OpError};
use fuser_ir::{DType, Dim, Extent, Ir, Op, OpDef, Value, layout};
use fuser_target::Target;

use super::Parts;

/// The shortest line that is taken in parts: what a cluster of blocks scans in registers is shorter.
const LONG: u64 = 1 << 18;
/// The shortest part.
const PART: u64 = 1 << 10;
/// Parts are multiples of so many elements: their vectors lie as those of the line.
const VECTOR: u64 = 8;
/// Parts for each multiprocessor, where there are as many; how many times more there may be, and the fewest of a line.
const EACH: u64 = 2;
const MORE: u64 = 8;
const FEWEST: u64 = 16;

/// The function by which a scan puts elements together, where its op tells.
fn function(ir: &Ir, op: Op) -> Option<Computes> {
    let def = ir.def(op).filter(|def| def.class == OpClass::Scan)?;
    let four = [Computes::Add, Computes::Mul, Computes::Max, Computes::Min];
    def.computes.filter(|function| four.contains(function))
}

/// The reduction by that function.
fn reduction(function: Computes) -> &'static OpDef {
    match function {
        Computes::Add => &fusion::SUM,
        Computes::Mul => &fusion::PROD,
        Computes::Max => &fusion::MAX,
        _ => &fusion::MIN,
    }
}

/// The function of two elements.
fn join(function: Computes) -> &'static OpDef {
    match function {
        Computes::Add => &fusion::ADD,
        Computes::Mul => &fusion::MUL,
        Computes::Max => &fusion::MAXIMUM,
        _ => &fusion::MINIMUM,
    }
}

/// The number that keeps every bit of the element that it is joined to.
fn neutral(b: &mut Builder<'_>, function: Computes, dtype: DType) -> Built {
    let ty = b.ir.scalar(dtype);
    let (least, most) = dtype.int_range();
    let (float, int) = match function {
        Computes::Add => (-0.0, 0),
        Computes::Mul => (1.0, 1),
        Computes::Max => (f64::NEG_INFINITY, least),
        _ => (f64::INFINITY, most),
    };
    match dtype.is_float() {
        true => b.constant_float(float, ty),
        false => b.constant_int(int, ty),
    }
}

/// The parts of the last axis of a scan, and the axes of its operand, where it is taken in parts.
pub fn parts(ir: &Ir, op: Op, target: &Target) -> Option<(u64, Vec<Dim>)> {
    function(ir, op).filter(|_| target.is_gpu())?;
    let tensor = ir.value_kind(ir.operand(op, 0)).as_tensor()?;
    let lengths = tensor.dims.iter().map(|dim| match dim.extent {
        Extent::Static(length) if !dim.broadcast => Some(length),
        _ => None,
    });
    let lengths: Vec<u64> = lengths.collect::<Option<_>>()?;
    let (&length, beside) = lengths.split_last()?;
    let last = ir.int_of(op, "dim") == i64::try_from(beside.len()).ok();
    let lines = beside.iter().try_fold(1u64, |n, l| n.checked_mul(*l))?;
    let few = lines > 0 && lines.saturating_mul(EACH) <= target.workers;
    let real = !tensor.dtype.is_complex();
    if !last || !few || !real || length < LONG || !layout::is_row_major(ir, tensor) {
        return None;
    }
    let wanted = (EACH * target.workers).div_ceil(lines);
    let whole = |parts: &u64| length.is_multiple_of(parts * VECTOR) && length / parts >= PART;
    let mut counts = (wanted..=MORE * wanted).chain((FEWEST..wanted).rev());
    let parts = counts.find(whole)?;
    Some((parts, tensor.dims.clone()))
}

/// The result of a scan whose last axis, of these, is taken in so many parts.
pub fn in_parts(ir: &mut Ir, op: Op, count: u64, dims: &[Dim]) -> Parts {
    let odd = || OpError::new("it is no scan of a line");
    let (scan, function) = ir.def(op).zip(function(ir, op)).ok_or_else(odd)?;
    let x = ir.operand(op, 0);
    let dtype = ir.value_kind(x).dtype().ok_or_else(odd)?;
    let (last, lines) = dims.split_last().ok_or_else(odd)?;
    let Extent::Static(length) = last.extent else {
        return Err(odd());
    };
    let axis = lines.len() as i64;
    let [firsts, before, whole] =
        [count - 1, count, count].map(|parts| [lines, &[Dim::fixed(parts)]].concat());
    let whole = [whole, vec![Dim::fixed(length / count)]].concat();

    let mut b = Builder::before(ir, op);
    let shape = b.shape("shape", &whole);
    let parts = b.value(&fusion::RESHAPE, &[x], &[shape])?;
    let parts = b.cast(parts, dtype.compute())?;
    let totals = totals(&mut b, function, parts, axis + 1)?;
    let starts = b.ints("starts", &vec![0; before.len()]);
    let shape = b.shape("shape", &firsts);
    let totals = b.value(&fusion::SLICE, &[totals], &[starts, shape])?;
    let mut low = vec![0; before.len()];
    let high = b.ints("high", &low);
    low[lines.len()] = 1;
    let low = b.ints("low", &low);
    let none = neutral(&mut b, function, dtype.compute())?;
    let totals = b.value(&fusion::PAD, &[totals, none], &[low, high])?;
    let [outer, inner] = [axis, axis + 1].map(|axis| b.int("dim", axis));
    let before = b.value(scan, &[totals], &[outer])?;
    let kept: Vec<i64> = (0..=axis).collect();
    let before = b.broadcast(before, &kept, &whole)?;
    let own = b.value(scan, &[parts], &[inner])?;
    let all = b.binary(join(function), before, own)?;
    let all = b.cast(all, dtype)?;
    let shape = b.shape("shape", dims);
    Ok(vec![b.value(&fusion::RESHAPE, &[all], &[shape])?])
}

/// The elements of each part together. A sum of nothing but `-0` is `-0`, as the last step of a scan is: then the greatest element is.
fn totals(b: &mut Builder<'_>, function: Computes, parts: Value, axis: i64) -> Built {
    let total = b.reduce(reduction(function), parts, &[axis])?;
    let float = b.ir.value_kind(parts).dtype().is_some_and(DType::is_float);
    if !float || function != Computes::Add {
        return Ok(total);
    }
    let greatest = b.reduce(&fusion::MAX, parts, &[axis])?;
    let ty = b.ir.value_type(total);
    let zero = b.constant_float(0.0, ty)?;
    let [a, z] = [total, greatest].map(|value| b.compare("eq", value, zero));
    let zeros = b.binary(&fusion::AND, a?, z?)?;
    let least = b.minimum(total, greatest)?;
    b.choose(zeros, least, total)
}
