//! Compositions of ops: bit counts, bit casts to wider and narrower elements, roundings to other formats, and the cube
//! root.
//!
//! Counts are exact, for integers of any width and sign. The cube root is computed in `f64` and rounded to its type; 0,
//! infinities and NaN map to themselves. Other types are refused.

use fuser_dialects::fusion::{self, build::FusionBuilder};
use fuser_ir::Value;
use fuser_ir::def::OpDef;
use fuser_ir::types::{DType, Dim};

use super::Importer;
use super::index::index_part;
use super::op::{Reading, atom};
use super::ops::{bitcast_to, one};
use super::shape::{extents, lengths};
use crate::program::{Draft, Fault, Made};

/// The field widths whose neighbors are added, and the masks of the kept fields, each of 32 bits: an `f64` can
/// represent any of them.
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

/// The population count of `x`, in halves of 32 bits: each field of 2, 4, 8, ... bits becomes the sum of its halves.
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

/// `stablehlo.count_leading_zeros`: sets all bits below the highest set bit, and counts the remaining zeros.
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

/// `stablehlo.cbrt`: `sign(x) * pow(abs(x), 1/3)` in `f64` and one step of Newton's method, which squares the relative
/// error of `pow` and of 1/3. The remaining error is a third of the roundings of a square and a quotient, and the
/// rounding of the result: less than one unit in the last place.
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

/// The bits of floats as integers of equal order, `-0 < +0` and a NaN beyond all numbers of its sign: for negative floats,
/// all bits except the sign are flipped.
pub fn in_total_order(draft: &mut Draft, x: Value) -> Made {
    let x = match draft.dtype(x).bits() {
        16 | 32 | 64 => x,
        _ => draft.cast(x, DType::F32)?,
    };
    let (signed, last) = match draft.dtype(x).bits() {
        16 => (DType::I16, 15),
        32 => (DType::I32, 31),
        _ => (DType::I64, 63),
    };
    let bits = bitcast_to(draft, x, signed)?;
    let scalar = draft.ir.scalar(signed);
    let mut b = draft.builder();
    let (last, magnitude) = (
        b.constant_int(last, scalar)?,
        b.constant_int(signed.int_range().1, scalar)?,
    );
    let sign = draft.make(&fusion::SHR, &[bits, last])?;
    let turned = draft.make(&fusion::AND, &[sign, magnitude])?;
    draft.make(&fusion::XOR, &[bits, turned])
}

/// `chlo.next_after`: one step of the bits, away from zero or towards it, for floats of 16 bits.
pub fn next_after(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    /// The bits of the number next to zero, below it.
    const BELOW_ZERO: i128 = -0x7fff;
    let (x, to) = (r.operand(0)?, r.operand(1)?);
    let draft = &mut im.draft;
    let dtype = draft.dtype(x);
    if !matches!(dtype, DType::F16 | DType::BF16) {
        return one(draft.make(&fusion::NEXTAFTER, &[x, to]));
    }
    let scalar = draft.ir.scalar(dtype);
    let zero = draft.number(0.0, scalar)?;
    let signed = draft.ir.scalar(DType::I16);
    let bits = bitcast_to(draft, x, DType::I16)?;
    let mut b = draft.builder();
    let (up, below) = (b.compare("lt", x, to)?, b.compare("lt", x, zero)?);
    let (forth, back) = (b.constant_int(1, signed)?, b.constant_int(-1, signed)?);
    let least = b.constant_int(BELOW_ZERO, signed)?;
    // Bits of greater magnitude are greater integers, whatever their sign.
    let away = b.value(&fusion::XOR, &[up, below], &[])?;
    let step = b.value(&fusion::WHERE, &[away, forth, back], &[])?;
    let next = b.value(&fusion::ADD, &[bits, step], &[])?;
    let first = b.value(&fusion::WHERE, &[up, forth, least], &[])?;
    let none = b.compare("eq", x, zero)?;
    let next = b.value(&fusion::WHERE, &[none, first, next], &[])?;
    let next = bitcast_to(draft, next, dtype)?;
    let same = draft.builder().compare("eq", x, to)?;
    let next = draft.make(&fusion::WHERE, &[same, to, next])?;
    let sum = draft.make(&fusion::ADD, &[x, to])?;
    let mut b = draft.builder();
    let (one_nan, other) = (b.compare("ne", x, x)?, b.compare("ne", to, to)?);
    let nan = b.value(&fusion::OR, &[one_nan, other], &[])?;
    one(draft.make(&fusion::WHERE, &[nan, sum, next]))
}

/// The unsigned type of so many bits.
fn unsigned(bits: u32) -> Option<DType> {
    let types = [DType::U8, DType::U16, DType::U32, DType::U64];
    types.into_iter().find(|dtype| dtype.bits() == bits)
}

/// An op of a value and an integer of its type.
fn with_int(draft: &mut Draft, def: &'static OpDef, x: Value, number: i128) -> Made {
    let ty = draft.dtype(x);
    let ty = draft.ir.scalar(ty);
    let number = draft.builder().constant_int(number, ty)?;
    draft.make(def, &[x, number])
}

/// `stablehlo.bitcast_convert`: the parts of a wider element form a last axis, the lowest bits first.
pub fn bitcast(draft: &mut Draft, x: Value, to: DType) -> Made {
    let from = draft.dtype(x);
    if from.bits() == to.bits() {
        return bitcast_to(draft, x, to);
    }
    let wrong = || Fault::form("reads bits of types that have not 8, 16, 32 or 64 of them");
    let (own, other) = (
        unsigned(from.bits()).ok_or_else(wrong)?,
        unsigned(to.bits()).ok_or_else(wrong)?,
    );
    let bits = bitcast_to(draft, x, own)?;
    let shape = lengths(draft, x);
    if own.bits() > other.bits() {
        let parts = i64::from(own.bits() / other.bits());
        let apart = [shape.as_slice(), &[1]].concat();
        let whole = [shape.as_slice(), &[parts]].concat();
        let bits = draft.reshape(bits, &extents(&apart))?;
        let mut b = draft.builder();
        let clauses = [
            b.int("dim", 0),
            b.shape("shape", &[Dim::fixed(parts as u64)]),
            b.dtype("of", own),
        ];
        let steps = b.value(&fusion::IOTA, &[], &clauses)?;
        let steps = with_int(draft, &fusion::MUL, steps, other.bits().into())?;
        let steps = draft.broadcast(steps, &[shape.len() as i64], &extents(&whole))?;
        let bits = draft.expand(bits, &extents(&whole))?;
        let bits = draft.make(&fusion::LSHR, &[bits, steps])?;
        let bits = draft.cast(bits, other)?;
        return bitcast_to(draft, bits, to);
    }
    let parts = i64::from(other.bits() / own.bits());
    let Some((last, rest)) = shape.split_last().filter(|(last, _)| **last == parts) else {
        return Err(Fault::form(format!(
            "reads elements of {} bits of what has no last axis of {parts}",
            to.bits()
        )));
    };
    let mut all: Option<Value> = None;
    for part in 0..*last {
        let bits = index_part(draft, bits, rest.len(), part as usize)?;
        let bits = draft.reshape(bits, &extents(rest))?;
        let bits = draft.cast(bits, other)?;
        let bits = with_int(
            draft,
            &fusion::SHL,
            bits,
            i128::from(part) * i128::from(own.bits()),
        )?;
        all = Some(match all {
            Some(all) => draft.make(&fusion::OR, &[all, bits])?,
            None => bits,
        });
    }
    let all = all.ok_or_else(wrong)?;
    bitcast_to(draft, all, to)
}

/// `stablehlo.reduce_precision`: rounds the mantissa to nearest even. A greater exponent gives infinity, an exponent
/// below normal numbers gives zero. NaN stays.
pub fn reduce_precision(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let x = r.operand(0)?;
    let dtype = im.draft.dtype(x);
    let (exponent, mantissa) = format(r)?;
    // The bits of an exponent and of a mantissa.
    let (own_exponent, own_mantissa) = match dtype {
        DType::F16 => (5, 10),
        DType::BF16 => (8, 7),
        DType::F32 => (8, 23),
        DType::F64 => (11, 52),
        _ => {
            return Err(Fault::form(
                "rounds what are no floats of 16, 32 or 64 bits",
            ));
        }
    };
    if exponent < 1 || mantissa < 0 {
        return Err(Fault::form("rounds to a format without an exponent"));
    }
    let draft = &mut im.draft;
    let word = unsigned(dtype.bits()).ok_or_else(|| Fault::form("rounds no floats"))?;
    let mut bits = bitcast_to(draft, x, word)?;
    if mantissa < own_mantissa {
        let dropped = own_mantissa - mantissa;
        let last = with_int(draft, &fusion::LSHR, bits, dropped.into())?;
        let odd = with_int(draft, &fusion::AND, last, 1)?;
        let half = (1i128 << (dropped - 1)) - 1;
        let up = with_int(draft, &fusion::ADD, odd, half)?;
        bits = draft.make(&fusion::ADD, &[bits, up])?;
        let kept = ((1i128 << dtype.bits()) - 1) ^ ((1i128 << dropped) - 1);
        bits = with_int(draft, &fusion::AND, bits, kept)?;
    }
    if exponent < own_exponent {
        let bias = |bits: i64| (1i128 << (bits - 1)) - 1;
        let (own, new) = (bias(own_exponent), bias(exponent));
        let sign = with_int(draft, &fusion::AND, bits, 1i128 << (dtype.bits() - 1))?;
        let all = ((1i128 << own_exponent) - 1) << own_mantissa;
        let held = with_int(draft, &fusion::AND, bits, all)?;
        let infinite = with_int(draft, &fusion::OR, sign, all)?;
        let scalar = draft.ir.scalar(word);
        let mut b = draft.builder();
        let most = b.constant_int((own + new) << own_mantissa, scalar)?;
        let least = b.constant_int((own - new) << own_mantissa, scalar)?;
        let (over, under) = (b.compare("gt", held, most)?, b.compare("le", held, least)?);
        bits = draft.make(&fusion::WHERE, &[over, infinite, bits])?;
        bits = draft.make(&fusion::WHERE, &[under, sign, bits])?;
    }
    let made = bitcast_to(draft, bits, dtype)?;
    let number = draft.builder().compare("eq", x, x)?;
    one(draft.make(&fusion::WHERE, &[number, made, x]))
}

/// The bits of exponent and mantissa: `format = e5m10`, or each by itself.
fn format(r: &Reading<'_>) -> Made<(i64, i64)> {
    let Some(format) = r.attr(&["format"]).and_then(atom) else {
        return Ok((r.int(&["exponent_bits"])?, r.int(&["mantissa_bits"])?));
    };
    let numbers = r.text(format).strip_prefix('e').and_then(|rest| {
        let (exponent, mantissa) = rest.split_once('m')?;
        Some((exponent.parse().ok()?, mantissa.parse().ok()?))
    });
    numbers.ok_or_else(|| Fault::form("has a format that is not of the form e5m10"))
}
