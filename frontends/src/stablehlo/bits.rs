//! Compositions: counts of bits, and the cube root, which no op of the fusion dialect is.
//!
//! Counts are exact, for integers of any width and sign. The cube root is computed in `f64` and rounded to its type; 0, infinities and NaN give
//! themselves. Neither is made for other types: that is refused.

use fuser_dialects::fusion;
use fuser_ir::Value;
use fuser_ir::def::OpDef;
use fuser_ir::types::DType;

use super::Importer;
use super::op::Reading;
use super::ops::one;
use crate::program::{Draft, Fault, Made};

/// Sums of neighbours in fields of so many bits, and the fields that are kept. 32 bits each: an `f64` holds any of them.
const FIELDS: [(u64, f64); 5] = [
    (1, 0x5555_5555_u32 as f64),
    (2, 0x3333_3333_u32 as f64),
    (4, 0x0f0f_0f0f_u32 as f64),
    (8, 0x00ff_00ff_u32 as f64),
    (16, 0x0000_ffff_u32 as f64),
];

/// An op of a value and a number of its type.
fn with(draft: &mut Draft, def: &'static OpDef, x: Value, number: f64) -> Made {
    let ty = draft.dtype(x);
    let ty = draft.ir.scalar(ty);
    let number = draft.number(number, ty)?;
    draft.make(def, &[x, number])
}

/// The operand and its bits.
fn integer(im: &Importer<'_>, r: &Reading<'_>) -> Made<(Value, u64)> {
    let x = r.operand(0)?;
    let dtype = im.draft.dtype(x);
    let whole = dtype.is_int() && dtype != DType::I1;
    let bits = whole.then(|| u64::from(dtype.bits()));
    let bits = bits.ok_or_else(|| Fault::form("counts bits of what is no integer"))?;
    Ok((x, bits))
}

/// The number of bits of `x` that are set: of halves of 32 bits, each field of 2, 4, 8, ... bits the sum of its halves.
fn ones(draft: &mut Draft, x: Value, bits: u64) -> Made {
    if bits > 32 {
        let high = with(draft, &fusion::LSHR, x, 32.0)?;
        let low = with(draft, &fusion::AND, x, f64::from(u32::MAX))?;
        let (high, low) = (ones(draft, high, 32)?, ones(draft, low, 32)?);
        return draft.make(&fusion::ADD, &[high, low]);
    }
    let mut x = x;
    for (shift, kept) in FIELDS.into_iter().filter(|(shift, _)| *shift < bits) {
        // The mask within the type.
        let kept = kept.rem_euclid((bits as f64).exp2());
        let shifted = with(draft, &fusion::LSHR, x, shift as f64)?;
        let (even, odd) = (
            with(draft, &fusion::AND, x, kept)?,
            with(draft, &fusion::AND, shifted, kept)?,
        );
        x = draft.make(&fusion::ADD, &[even, odd])?;
    }
    Ok(x)
}

/// `stablehlo.popcnt`
pub fn population(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let (x, bits) = integer(im, r)?;
    one(ones(&mut im.draft, x, bits))
}

/// `stablehlo.count_leading_zeros`: the bits below the highest that is set are set too, and the others counted.
pub fn leading_zeros(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let (mut x, bits) = integer(im, r)?;
    let draft = &mut im.draft;
    for shift in [1, 2, 4, 8, 16, 32]
        .into_iter()
        .filter(|shift| *shift < bits)
    {
        let shifted = with(draft, &fusion::LSHR, x, shift as f64)?;
        x = draft.make(&fusion::OR, &[x, shifted])?;
    }
    let rest = draft.make(&fusion::NOT, &[x])?;
    one(ones(draft, rest, bits))
}

/// `stablehlo.cbrt`: `sign(x) * pow(abs(x), 1/3)` in `f64` and a step of Newton's method, which squares the relative error of `pow` and of 1/3.
/// The roundings of a square and a quotient are left, of which a third counts, and that of the result: less than one unit in the last place.
pub fn cube_root(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let x = r.operand(0)?;
    let draft = &mut im.draft;
    let dtype = draft.dtype(x);
    if !dtype.is_float() {
        return Err(Fault::form("takes the root of what is no real number"));
    }
    let wide = draft.cast(x, DType::F64)?;
    let size = draft.make(&fusion::ABS, &[wide])?;
    let root = with(draft, &fusion::POW, size, 1.0 / 3.0)?;
    // `root - (root - size / root^2) / 3`, but for 0, infinities and NaN.
    let square = draft.make(&fusion::MUL, &[root, root])?;
    let other = draft.make(&fusion::DIV, &[size, square])?;
    let off = draft.make(&fusion::SUB, &[root, other])?;
    let off = with(draft, &fusion::DIV, off, 3.0)?;
    let better = draft.make(&fusion::SUB, &[root, off])?;
    let usual = draft.make(&fusion::ISFINITE, &[better])?;
    let root = draft.make(&fusion::WHERE, &[usual, better, root])?;
    let sign = draft.make(&fusion::SIGN, &[wide])?;
    let made = draft.make(&fusion::MUL, &[root, sign])?;
    one(draft.cast(made, dtype))
}
