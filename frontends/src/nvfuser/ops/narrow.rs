//! Floats of 8 bits and of 4: casts as NVIDIA's instructions make them, and tensors quantized in blocks.

use fuser_dialects::fusion::{self, build::FusionBuilder};
use fuser_ir::types::{DType, Extent};
use fuser_ir::{OpDef, Value};

use super::super::Reader;
use super::super::args::Args;
use super::super::value::Val;
use crate::codes::UNSUPPORTED;
use crate::program::{Draft, Fault, Made};

/// The greatest magnitudes.
const GREATEST_E2M1: f64 = 6.0;
const GREATEST_E4M3: f32 = 448.0;
pub const GREATEST_E5M2: f64 = 57344.0;
/// The greatest power of two that a scale can be, as its biased exponent, and NaN.
const GREATEST_EXPONENT: f64 = 254.0;
const NO_EXPONENT: f64 = 255.0;
/// The least scale of a block of floats of 4 bits, 2^-6.
const LEAST_SCALE: f64 = 0.015625;

/// The tensor with elements of another type, saturated where that is a float of 8 bits, as `cvt.satfinite` does it.
pub fn cast(draft: &mut Draft, x: Value, to: DType) -> Made {
    let from = draft.dtype(x);
    match to {
        _ if from == to => Ok(x),
        DType::F8E5M2 => {
            let x = in_float(draft, x)?;
            let [low, high] = [-GREATEST_E5M2, GREATEST_E5M2].map(|n| beside(draft, x, n));
            let limited = draft.make(&fusion::CLAMP, &[x, low?, high?])?;
            draft.cast(limited, to)
        }
        DType::F8E8M0FNU => {
            let x = in_float(draft, x)?;
            let x = draft.cast(x, DType::F32)?;
            let exponent = exponent(draft, x)?;
            scale(draft, exponent)
        }
        _ => draft.cast(x, to),
    }
}

/// The tensor in a type that has arithmetic of floats.
fn in_float(draft: &mut Draft, x: Value) -> Made {
    match draft.dtype(x).is_computed_float() {
        true => Ok(x),
        false => draft.cast(x, DType::F32),
    }
}

/// A number of the element type of `x`.
fn beside(draft: &mut Draft, x: Value, number: f64) -> Made {
    let scalar = draft.ir.scalar(draft.dtype(x));
    draft.number(number, scalar)
}

/// The biased exponent of each f32, which is its power of two rounded toward zero, as an i32; the sign is passed over.
fn exponent(draft: &mut Draft, x: Value) -> Made {
    let bits = bitcast(draft, x, DType::I32)?;
    let [mask, fraction, most, none] = [f64::from(i32::MAX), 23.0, GREATEST_EXPONENT, NO_EXPONENT]
        .map(|number| beside(draft, bits, number));
    let magnitude = draft.make(&fusion::AND, &[bits, mask?])?;
    let exponent = draft.make(&fusion::LSHR, &[magnitude, fraction?])?;
    let finite = draft.make(&fusion::MINIMUM, &[exponent, most?])?;
    let nan = draft.make(&fusion::ISNAN, &[x])?;
    draft.make(&fusion::WHERE, &[nan, none?, finite])
}

/// The scale of a biased exponent.
fn scale(draft: &mut Draft, exponent: Value) -> Made {
    let byte = draft.cast(exponent, DType::U8)?;
    bitcast(draft, byte, DType::F8E8M0FNU)
}

/// The reciprocal of the scale of a biased exponent; 1 for the least.
fn reciprocal(draft: &mut Draft, exponent: Value) -> Made {
    let [most, fraction, zero] =
        [GREATEST_EXPONENT, 23.0, 0.0].map(|number| beside(draft, exponent, number));
    let mirrored = draft.make(&fusion::SUB, &[most?, exponent])?;
    let bits = draft.make(&fusion::SHL, &[mirrored, fraction?])?;
    let value = bitcast(draft, bits, DType::F32)?;
    let least = draft.builder().compare("eq", exponent, zero?)?;
    let one = beside(draft, value, 1.0)?;
    draft.make(&fusion::WHERE, &[least, one, value])
}

fn bitcast(draft: &mut Draft, x: Value, to: DType) -> Made {
    let mut b = draft.builder();
    let clause = [b.dtype("to", to)];
    Ok(b.value(&fusion::BITCAST, &[x], &clause)?)
}

/// Elements in blocks along the last axis, each with a scale. Of `Float8_e4m3fn` a block has 32, and its scale is the power of two not
/// above the greatest magnitude divided by 448; of `Float4_e2m1fn` it has 16, and its scale is the `Float8_e4m3fn` nearest to the greatest
/// magnitude divided by 6.
pub fn block_quantize<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["input"])?;
    let refused = |what: &str| {
        let fault = Fault::new(&UNSUPPORTED, format!("{what} has no counterpart in Fuser"));
        Err(fault.help("blocks of 32 of `DataType.Float8_e4m3fn` and of 16 of `DataType.Float4_e2m1fn`, without a global scale and not swizzled, are read"))
    };
    let dtype = args.dtype(4, &["dtype"])?.unwrap_or(DType::F4E2M1FN);
    let block = match dtype {
        DType::F8E4M3FN => 32,
        DType::F4E2M1FN => 16,
        _ => return refused("a result of this type"),
    };
    let global = args.get(1, &["global_scale"]);
    if !matches!(global, None | Some(Val::Nothing)) || args.flag(2, &["swizzle_block_scales"]) {
        return refused("a global scale or a swizzle of scales");
    }
    if args.int(3, &["block_size"], 16)? != block as i64 {
        return refused("a block of another length");
    }
    let shape = r.extents(x);
    let Some((Extent::Static(length), outer)) = shape.split_last() else {
        return refused("a last axis of no known length");
    };
    if !length.is_multiple_of(block) {
        return Err(Fault::form(format!(
            "has a last axis that is no multiple of {block}"
        )));
    }
    let draft = &mut r.draft;
    let blocks = [
        outer,
        &[Extent::Static(length / block), Extent::Static(block)],
    ]
    .concat();
    let x = draft.cast(x, DType::F32)?;
    let x = draft.reshape(x, &blocks)?;
    let magnitude = draft.make(&fusion::ABS, &[x])?;
    let mut b = draft.builder();
    let clause = [b.ints("dims", &[outer.len() as i64 + 1])];
    let greatest = b.value(&fusion::MAX_NUM, &[magnitude], &clause)?;
    let (by, factor, scales) = match dtype {
        DType::F8E4M3FN => power_scales(draft, greatest)?,
        _ => float_scales(draft, greatest)?,
    };
    let kept: Vec<i64> = (0..=outer.len() as i64).collect();
    let factor = draft.broadcast(factor, &kept, &blocks)?;
    let quantized = draft.make(by, &[x, factor])?;
    let quantized = draft.cast(quantized, dtype)?;
    let quantized = draft.reshape(quantized, &shape)?;
    Ok([quantized, scales].map(Val::Tensor).into())
}

/// The op that takes elements to what is rounded, its other operand, and the scales.
type Scales = Made<(&'static OpDef, Value, Value)>;

/// Scales that are powers of two, and their reciprocals.
fn power_scales(draft: &mut Draft, greatest: Value) -> Scales {
    let unit = beside(draft, greatest, f64::from(1.0 / GREATEST_E4M3))?;
    let scaled = draft.make(&fusion::MUL, &[greatest, unit])?;
    let exponent = exponent(draft, scaled)?;
    let factor = reciprocal(draft, exponent)?;
    Ok((&fusion::MUL, factor, scale(draft, exponent)?))
}

/// Scales that are floats of 8 bits, and these in f32. A block of NaN has the least.
fn float_scales(draft: &mut Draft, greatest: Value) -> Scales {
    let [unit, least, most] = [GREATEST_E2M1, LEAST_SCALE, f64::from(GREATEST_E4M3)]
        .map(|number| beside(draft, greatest, number));
    let scaled = draft.make(&fusion::DIV, &[greatest, unit?])?;
    let scaled = draft.make(&fusion::FMAX, &[scaled, least?])?;
    let scaled = draft.make(&fusion::FMIN, &[scaled, most?])?;
    let scales = draft.cast(scaled, DType::F8E4M3FN)?;
    let factor = draft.cast(scales, DType::F32)?;
    Ok((&fusion::DIV, factor, scales))
}
