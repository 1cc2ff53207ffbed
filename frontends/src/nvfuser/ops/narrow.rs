//! Floats of 8 and 4 bits: casts with the semantics of NVIDIA's instructions, and tensors quantized in blocks.

use fuser_dialects::fusion::{self, build::FusionBuilder};
use fuser_ir::Value;
use fuser_ir::types::{DType, Dim, Extent};

use super::super::Reader;
use super::super::args::Args;
use super::super::value::Val;
use crate::codes::UNSUPPORTED;
use crate::program::{Draft, Fault, Made};

/// The greatest magnitudes.
const GREATEST_E2M1: f64 = 6.0;
const GREATEST_E4M3: f32 = 448.0;
pub const GREATEST_E5M2: f64 = 57344.0;
/// The biased exponent of the greatest scale, a power of two, and that of NaN.
const GREATEST_EXPONENT: f64 = 254.0;
const NO_EXPONENT: f64 = 255.0;
/// The bits of the least scale, 2^-127, as an f32.
const LEAST_SCALE: f64 = (1 << 22) as f64;

/// The tensor with elements of another type; 8-bit floats saturate, as by `cvt.satfinite`.
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
            let toward = match from {
                DType::BF16 => Toward::Zero,
                _ => Toward::Infinity,
            };
            let x = in_float(draft, x)?;
            let x = draft.cast(x, DType::F32)?;
            let exponent = exponent(draft, x, toward)?;
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

/// The rounding direction to a power of two: `cvt.rz` and `cvt.rp` of the magnitude.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Toward {
    Zero,
    Infinity,
}

/// The biased exponent of the power of two to which the magnitude of each f32 is rounded, as an i32.
fn exponent(draft: &mut Draft, x: Value, toward: Toward) -> Made {
    let bits = bitcast(draft, x, DType::I32)?;
    let [mask, fraction, most, none] = [f64::from(i32::MAX), 23.0, GREATEST_EXPONENT, NO_EXPONENT]
        .map(|number| beside(draft, bits, number));
    let fraction = fraction?;
    let mut magnitude = draft.make(&fusion::AND, &[bits, mask?])?;
    if toward == Toward::Infinity {
        let [rest, least, zero] =
            [f64::from((1 << 23) - 1), LEAST_SCALE, 0.0].map(|number| beside(draft, bits, number));
        let next = draft.make(&fusion::ADD, &[magnitude, rest?])?;
        let above = draft.builder().compare("gt", magnitude, least?)?;
        magnitude = draft.make(&fusion::WHERE, &[above, next, zero?])?;
    }
    let exponent = draft.make(&fusion::LSHR, &[magnitude, fraction])?;
    let finite = draft.make(&fusion::MINIMUM, &[exponent, most?])?;
    let nan = draft.make(&fusion::ISNAN, &[x])?;
    draft.make(&fusion::WHERE, &[nan, none?, finite])
}

/// The scale of a biased exponent.
fn scale(draft: &mut Draft, exponent: Value) -> Made {
    let byte = draft.cast(exponent, DType::U8)?;
    bitcast(draft, byte, DType::F8E8M0FNU)
}

/// The reciprocal of the scale with a biased exponent; 1 for the least exponent.
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

/// A tensor, and how it is quantized.
pub struct Quantization {
    /// The tensor.
    pub x: Value,
    /// The scale of all elements.
    pub global: Option<Value>,
    /// True for scales as tensor cores read them.
    pub turned: bool,
    /// The number of elements that have a scale.
    pub block: i64,
    /// The type of the elements.
    pub dtype: DType,
}

impl Quantization {
    /// The parameters of a call: its first argument, and a global scale, a swizzle, a block length and a type at these
    /// positions.
    pub fn read<'s>(r: &mut Reader<'s>, args: &Args<'s>, places: [usize; 4]) -> Made<Self> {
        let [global, turned, block, dtype] = places;
        let global = match args.get(global, &["global_scale"]) {
            None | Some(Val::Nothing) => None,
            Some(value) => Some(r.typed(value, DType::F32)?),
        };
        Ok(Self {
            x: args.tensor(0, &["input"])?,
            global,
            turned: args.flag(turned, &["swizzle_block_scales"]),
            block: args.int(block, &["block_size"], 16)?,
            dtype: args.dtype(dtype, &["dtype"])?.unwrap_or(DType::F4E2M1FN),
        })
    }
}

pub fn block_quantize<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let wanted = Quantization::read(r, args, [1, 2, 3, 4])?;
    Ok(quantized(r, &wanted)?.map(Val::Tensor).into())
}

/// The former name of `nv_block_quantize`, without a swizzle.
pub fn block_quantize_to_nvfp4<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let wanted = Quantization::read(r, args, [1, usize::MAX, 2, 3])?;
    Ok(quantized(r, &wanted)?.map(Val::Tensor).into())
}

/// Elements in blocks along the last axis, and the scale of each block. A block of `Float8_e4m3fn` has 32 elements; its
/// scale is the least power of two not below the greatest magnitude divided by 448. A block of `Float4_e2m1fn` has 16
/// elements; its scale is the `Float8_e4m3fn` nearest to the greatest magnitude divided by 6, times the global scale if
/// given. Elements are multiplied by the reciprocal of their scale, or by the greatest f32 if the scale is 0.
pub fn quantized(r: &mut Reader<'_>, wanted: &Quantization) -> Made<[Value; 2]> {
    let Quantization {
        x,
        global,
        turned,
        dtype,
        ..
    } = *wanted;
    let refused = |what: &str| {
        let fault = Fault::new(&UNSUPPORTED, format!("{what} has no counterpart in Fuser"));
        Err(fault.help("blocks of 32 of `DataType.Float8_e4m3fn` and of 16 of `DataType.Float4_e2m1fn` are read, those of 16 with a global scale or swizzled"))
    };
    let block = match dtype {
        DType::F8E4M3FN => 32,
        DType::F4E2M1FN => 16,
        _ => return refused("a result of this type"),
    };
    if dtype != DType::F4E2M1FN && (global.is_some() || turned) {
        return refused("a global scale or a swizzle of scales that are powers of two");
    }
    if wanted.block != block as i64 {
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
    let (factor, mut scales) = match dtype {
        DType::F8E4M3FN => power_scales(draft, greatest)?,
        _ => float_scales(draft, greatest, global)?,
    };
    let kept: Vec<i64> = (0..=outer.len() as i64).collect();
    let factor = draft.broadcast(factor, &kept, &blocks)?;
    let quantized = draft.make(&fusion::MUL, &[x, factor])?;
    let quantized = draft.cast(quantized, dtype)?;
    let quantized = draft.reshape(quantized, &shape)?;
    if turned {
        scales = swizzled(r, scales)?;
    }
    Ok([quantized, scales])
}

/// The factors of the elements, and the scales.
type Scales = Made<(Value, Value)>;

/// Scales that are powers of two, and their reciprocals.
fn power_scales(draft: &mut Draft, greatest: Value) -> Scales {
    let unit = beside(draft, greatest, f64::from(1.0 / GREATEST_E4M3))?;
    let scaled = draft.make(&fusion::MUL, &[greatest, unit])?;
    let exponent = exponent(draft, scaled, Toward::Infinity)?;
    let factor = reciprocal(draft, exponent)?;
    Ok((factor, scale(draft, exponent)?))
}

/// Scales as 8-bit floats, and their reciprocals in f32, without the global scale. A block with a NaN gets the greatest
/// scale.
fn float_scales(draft: &mut Draft, greatest: Value, global: Option<Value>) -> Scales {
    let [unit, most, one, largest] = [
        GREATEST_E2M1,
        f64::from(GREATEST_E4M3),
        1.0,
        f32::MAX.into(),
    ]
    .map(|number| beside(draft, greatest, number));
    let one = one?;
    let global = global.map(|global| scalar(draft, global)).transpose()?;
    let mut scaled = draft.make(&fusion::DIV, &[greatest, unit?])?;
    if let Some(global) = global {
        scaled = draft.make(&fusion::MUL, &[scaled, global])?;
    }
    let scaled = draft.make(&fusion::FMIN, &[scaled, most?])?;
    let scales = draft.cast(scaled, DType::F8E4M3FN)?;
    let mut divisor = draft.cast(scales, DType::F32)?;
    if let Some(global) = global {
        let decoded = draft.make(&fusion::DIV, &[one, global])?;
        divisor = draft.make(&fusion::MUL, &[divisor, decoded])?;
    }
    let factor = draft.make(&fusion::DIV, &[one, divisor])?;
    let factor = draft.make(&fusion::FMIN, &[factor, largest?])?;
    Ok((factor, scales))
}

/// A tile of scales for tensor cores: its rows and columns, and the number of rows between neighbors of a column in
/// memory.
pub const TILE: [u64; 2] = [128, 4];
const STRIDE: u64 = 32;

/// An extent of scales rounded up to complete tiles; an error on overflow.
pub fn whole(extent: u64, tile: u64) -> Made<u64> {
    let whole = extent.checked_next_multiple_of(tile);
    whole.ok_or_else(|| Fault::form("has too great an extent"))
}

/// The row and column extents of scales; an error if they are named.
pub fn scale_extents(r: &mut Reader<'_>, x: Value) -> Made<[u64; 2]> {
    match r.extents(x)[..] {
        [Extent::Static(rows), Extent::Static(columns)] => Ok([rows, columns]),
        _ => {
            let fault = Fault::form("has scales in tiles, of other than two known extents");
            Err(fault.help("`--shape` says what extents are that a definition leaves open"))
        }
    }
}

/// The second and the fourth of five parts of two axes exchanged.
fn tiles_turned(r: &mut Reader<'_>, x: Value, parts: [u64; 5], extents: [u64; 2]) -> Made {
    let x = r.draft.reshape(x, &parts.map(Extent::Static))?;
    let x = r.draft.permute(x, &[0, 3, 2, 1, 4])?;
    r.draft.reshape(x, &extents.map(Extent::Static))
}

/// Scales in complete tiles, one after the other. A tile holds its rows 0, 32, 64 and 96 next to each other, then rows
/// 1, 33, 65 and 97. The padding of a tile is 0.
pub fn swizzled(r: &mut Reader<'_>, x: Value) -> Made {
    let own = scale_extents(r, x)?;
    let whole = [whole(own[0], TILE[0])?, whole(own[1], TILE[1])?];
    let mut x = x;
    if whole != own {
        let zero = beside(&mut r.draft, x, 0.0)?;
        let high = [0, 1].map(|axis| (whole[axis] - own[axis]) as i64);
        let mut b = r.draft.builder();
        let clauses = [b.ints("low", &[0, 0]), b.ints("high", &high)];
        x = b.value(&fusion::PAD, &[x, zero], &clauses)?;
    }
    let tiles = [0, 1].map(|axis| whole[axis] / TILE[axis]);
    let parts = [tiles[0], TILE[0] / STRIDE, STRIDE, tiles[1], TILE[1]];
    tiles_turned(r, x, parts, whole)
}

/// The scales of so many rows and columns that tiles hold.
pub fn unswizzled(r: &mut Reader<'_>, x: Value, extents: [u64; 2]) -> Made {
    let whole = scale_extents(r, x)?;
    let tiles = [0, 1].map(|axis| whole[axis] / TILE[axis]);
    let parts = [tiles[0], tiles[1], STRIDE, TILE[0] / STRIDE, TILE[1]];
    let x = tiles_turned(r, x, parts, whole)?;
    if whole == extents {
        return Ok(x);
    }
    let dims = extents.map(|extent| Dim::new(Extent::Static(extent)));
    let mut b = r.draft.builder();
    let clauses = [b.ints("starts", &[0, 0]), b.shape("shape", &dims)];
    Ok(b.value(&fusion::SLICE, &[x], &clauses)?)
}

/// True for block scales: 8-bit floats in tiles. Other scales are shared along an axis of extent 1.
pub fn in_blocks(r: &mut Reader<'_>, scale: Value) -> bool {
    let small = matches!(r.draft.dtype(scale), DType::F8E4M3FN | DType::F8E8M0FNU);
    let extents = r.extents(scale);
    small && extents.len() == 2 && !extents.contains(&Extent::Static(1))
}

/// The rows of a factor in f32, with each block multiplied by its scale: blocks of 16 terms for `Float8_e4m3fn` scales,
/// of 32 for powers of two.
pub fn scaled_in_blocks(r: &mut Reader<'_>, x: Value, scale: Value) -> Made {
    let block = match r.draft.dtype(scale) {
        DType::F8E8M0FNU => 32,
        _ => 16,
    };
    let [rows, terms] = scale_extents(r, x)?;
    if !terms.is_multiple_of(block) {
        let text = format!("has {terms} terms, which are no blocks of {block}");
        return Err(Fault::form(text));
    }
    let own = [rows, terms / block];
    let found = r.extents(scale);
    let mut dims = Vec::new();
    for (axis, &extent) in found.iter().enumerate() {
        let whole = whole(own[axis], TILE[axis])?;
        dims.push(Dim::new(r.unify(extent, Extent::Static(whole))?));
    }
    r.settle(scale, dims);
    let scale = unswizzled(r, scale, own)?;
    let blocks = [rows, terms / block, block].map(Extent::Static);
    let scale = r.draft.cast(scale, DType::F32)?;
    let scale = r.draft.broadcast(scale, &[0, 1], &blocks)?;
    let x = r.draft.cast(x, DType::F32)?;
    let x = r.draft.reshape(x, &blocks)?;
    let x = r.draft.make(&fusion::MUL, &[x, scale])?;
    r.draft.reshape(x, &[rows, terms].map(Extent::Static))
}

/// The element of a tensor of one element.
fn scalar(draft: &mut Draft, x: Value) -> Made {
    match draft.dims(x).len() {
        0 => Ok(x),
        _ => draft.reshape(x, &[]),
    }
}
