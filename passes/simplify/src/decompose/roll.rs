//! Decompositions of roll and one_hot: the two parts of a line swapped, and a comparison with the index along the new
//! axis.
//!
//! ```text
//! %y = fusion.roll %x dim 0 shift 1                  // [8]
//!   =>
//! %a = fusion.slice %x starts [7] shape [1]
//! %b = fusion.slice %x starts [0] shape [7]
//! %y = fusion.cat %a, %b dim 0
//! ```
//!
//! For a line of named length, the decomposition takes elements at the remainder of the shifted index.

use fuser_dialects::fusion;
use fuser_dialects::fusion::build::{Built, FusionBuilder};
use fuser_ir::build::Builder;
use fuser_ir::def::OpError;
use fuser_ir::{DType, Dim, Extent, Ir, Op, Value};

use super::Parts;
use super::scatter::index_along;

fn odd() -> OpError {
    OpError::new("its operand is no tensor")
}

/// The axes of a value.
fn dims(ir: &Ir, value: Value) -> Result<Vec<Dim>, OpError> {
    let tensor = ir.value_kind(value).as_tensor();
    tensor.map(|t| t.dims.clone()).ok_or_else(odd)
}

/// The clause `dim`.
fn axis(ir: &Ir, op: Op) -> Result<usize, OpError> {
    let dim = ir.int_of(op, "dim").and_then(|d| usize::try_from(d).ok());
    dim.ok_or_else(odd)
}

/// `fusion.roll`
pub fn roll(ir: &mut Ir, op: Op) -> Parts {
    let (x, axis) = (ir.operand(op, 0), axis(ir, op)?);
    let dims = dims(ir, x)?;
    let own = *dims.get(axis).ok_or_else(odd)?;
    let shift = ir.int_of(op, "shift").unwrap_or(0);
    let mut b = Builder::before(ir, op);
    let length = match own.extent {
        _ if own.broadcast => 1,
        Extent::Static(length) => i64::try_from(length).map_err(|_| odd())?,
        Extent::Symbolic(_) | Extent::Unknown => {
            return Ok(vec![taken(&mut b, x, axis, own, shift)?]);
        }
    };
    let shift = shift.rem_euclid(length.max(1));
    if shift == 0 {
        return Ok(vec![b.value(&fusion::COPY, &[x], &[])?]);
    }
    let mut parts = Vec::new();
    for (start, count) in [(length - shift, shift), (0, length - shift)] {
        let mut starts = vec![0; dims.len()];
        let mut shape: Vec<Dim> = dims.iter().map(|d| Dim::new(d.extent)).collect();
        (starts[axis], shape[axis]) = (start, Dim::fixed(count as u64));
        let clauses = [b.ints("starts", &starts), b.shape("shape", &shape)];
        parts.push(b.value(&fusion::SLICE, &[x], &clauses)?);
    }
    let dim = b.int("dim", axis as i64);
    Ok(vec![b.value(&fusion::CAT, &parts, &[dim])?])
}

/// Axis `axis` of `x` at the remainder of each index less `shift`.
fn taken(b: &mut Builder<'_>, x: Value, axis: usize, own: Dim, shift: i64) -> Built {
    let index = index_along(b, &[Dim::new(own.extent)], 0)?;
    let ty = b.ir.scalar(DType::I64);
    let shift = b.constant_int(shift, ty)?;
    let shape = b.shape("shape", &[own]);
    let length = b.value(&fusion::SIZE, &[], &[shape])?;
    let length = b.cast(length, DType::I64)?;
    // The remainder first: a shift may be as far from 0 as integers are.
    let shift = b.binary(&fusion::REMAINDER, shift, length)?;
    let moved = b.sub(index, shift)?;
    let index = b.binary(&fusion::REMAINDER, moved, length)?;
    let dim = b.int("dim", axis as i64);
    b.value(&fusion::TAKE, &[x, index], &[dim])
}

/// `fusion.one_hot`
pub fn one_hot(ir: &mut Ir, op: Op) -> Parts {
    let (indices, axis) = (ir.operand(op, 0), axis(ir, op)?);
    let result = ir.result(op, 0);
    let of = ir.value_kind(result).dtype().ok_or_else(odd)?;
    let space = dims(ir, result)?.into_iter();
    let space: Vec<Dim> = space.map(|d| Dim::new(d.extent)).collect();
    let others = (0..space.len()).filter(|&a| a != axis).map(|a| a as i64);
    let others: Vec<i64> = others.collect();
    let mut b = Builder::before(ir, op);
    let index = index_along(&mut b, &space, axis as i64)?;
    // In the narrower type, where that holds every index.
    let narrow = match space[axis].extent {
        Extent::Static(length) => i32::try_from(length).is_ok(),
        _ => false,
    };
    let dtype = match b.ir.value_kind(indices).dtype() {
        Some(DType::I32) if narrow => DType::I32,
        _ => DType::I64,
    };
    let (index, indices) = (b.cast(index, dtype)?, b.cast(indices, dtype)?);
    let held = b.broadcast(indices, &others, &space)?;
    let here = b.compare("eq", held, index)?;
    Ok(vec![b.cast(here, of)?])
}
