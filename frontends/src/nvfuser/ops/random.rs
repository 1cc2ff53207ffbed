//! Random numbers by `fusion.uniform` and `fusion.normal`, whose sequences differ from nvFuser's.
//!
//! A draw without a seed takes one from an input: `rng_seed` and `rng_offset` become inputs at the first such draw.
//! Each later draw continues the sequence of the previous one.

use fuser_dialects::fusion::{self, build::FusionBuilder};
use fuser_ir::Value;
use fuser_ir::def::OpDef;
use fuser_ir::types::{DType, Dim};

use super::one;
use crate::nvfuser::Reader;
use crate::nvfuser::args::Args;
use crate::nvfuser::value::{Number, Val};
use crate::program::{Fault, Made};

const SEED: &str = "rng_seed";
const OFFSET: &str = "rng_offset";

pub fn uniform<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let (low, high) = (args.value(0, &["minval"])?, args.value(1, &["maxval"])?);
    let (x, dtype) = shaped(r, &fusion::UNIFORM, args)?;
    let low = r.typed(low, dtype.compute())?;
    let high = r.typed(high, dtype.compute())?;
    let width = r.draft.make(&fusion::SUB, &[high, low])?;
    let x = moved(r, x, (width, low), dtype)?;
    if dtype == dtype.compute() {
        return one(Ok(x));
    }
    // Rounding may give the end of the range, which is excluded. nvFuser's kernels return the beginning then
    // (runtime/random_numbers.cu).
    let [low, high] = [r.draft.cast(low, dtype)?, r.draft.cast(high, dtype)?];
    let end = r.draft.builder().compare("eq", x, high)?;
    one(Ok(r.draft.builder().choose(end, low, x)?))
}

pub fn normal<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let (mean, deviation) = (args.value(0, &["mean"])?, args.value(1, &["std"])?);
    let (x, dtype) = shaped(r, &fusion::NORMAL, args)?;
    let mean = r.typed(mean, dtype.compute())?;
    let deviation = r.typed(deviation, dtype.compute())?;
    one(moved(r, x, (deviation, mean), dtype))
}

pub fn uniform_like<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    one(like(r, &fusion::UNIFORM, args))
}

pub fn normal_like<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    one(like(r, &fusion::NORMAL, args))
}

/// Random numbers of the stated shape in the computing type, and the stated type.
fn shaped<'s>(r: &mut Reader<'s>, def: &'static OpDef, args: &Args<'s>) -> Made<(Value, DType)> {
    let shape: Option<Vec<_>> = args.shape(2, &["shape"])?.into_iter().collect();
    let shape = shape.ok_or_else(|| Fault::form("leaves an extent open (-1)"))?;
    let dims: Vec<Dim> = shape.into_iter().map(|e| Dim::new(r.root(e))).collect();
    let dtype = args.dtype(usize::MAX, &["dtype"])?.unwrap_or(DType::F32);
    Ok((drawn(r, def, args, &dims, dtype.compute())?, dtype))
}

/// Numbers of the operand's shape and type.
fn like<'s>(r: &mut Reader<'s>, def: &'static OpDef, args: &Args<'s>) -> Made {
    let x = args.tensor(0, &["arg"])?;
    let dims: Vec<Dim> = r.extents(x).into_iter().map(Dim::new).collect();
    let dtype = r.draft.dtype(x);
    drawn(r, def, args, &dims, dtype)
}

fn drawn<'s>(
    r: &mut Reader<'s>,
    def: &'static OpDef,
    args: &Args<'s>,
    dims: &[Dim],
    dtype: DType,
) -> Made {
    let state = [SEED, OFFSET].map(|name| match args.get(usize::MAX, &[name]) {
        None | Some(Val::Nothing) => None,
        Some(value) => Some(value.clone()),
    });
    let [seed, offset] = match state {
        [Some(seed), Some(offset)] => [r.typed(&seed, DType::I64)?, r.typed(&offset, DType::I64)?],
        [None, None] => next(r)?,
        _ => {
            return Err(Fault::form(
                "has `rng_seed` without `rng_offset`, or that without it",
            ));
        }
    };
    let mut b = r.draft.builder();
    let clauses = [b.shape("shape", dims), b.dtype("of", dtype)];
    Ok(b.value(def, &[seed, offset], &clauses)?)
}

/// Seed and offset of a draw that states none.
pub fn next(r: &mut Reader<'_>) -> Made<[Value; 2]> {
    let [seed, offset] = r.random_inputs([SEED, OFFSET]);
    let number = Val::Number(Number::Int(r.draws.into()), None);
    r.draws += 1;
    let behind = r.typed(&number, DType::I64)?;
    Ok([seed, r.draft.make(&fusion::ADD, &[offset, behind])?])
}

/// `x * factor + start`, rounded to its type once.
fn moved(r: &mut Reader<'_>, x: Value, (factor, start): (Value, Value), dtype: DType) -> Made {
    let x = r.draft.make(&fusion::MUL, &[x, factor])?;
    let x = r.draft.make(&fusion::ADD, &[x, start])?;
    r.draft.cast(x, dtype)
}
