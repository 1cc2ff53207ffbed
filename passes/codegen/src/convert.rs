//! Conversions between number formats, as instruction sequences with the same result on every target.
//!
//! bf16 and f16 are storage formats: their values are 16-bit integers up to [`to_f32`] and after [`from_f32`], so no
//! backend rounds to them by a library call. Narrowing rounds once, to nearest even; overflow gives infinity, and NaN
//! becomes a quiet NaN. Float to integer saturates and maps NaN to zero. Integer to integer wraps. A conversion to `i1`
//! compares with zero (NaN is not zero).
//!
//! Floats of 8 bits are storage formats likewise, see [`small`].

mod small;

use crate::expr::{Elem, Val};

/// The signedness of the integers that a conversion reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    Signed,
    Unsigned,
}

/// A number format: an element and, for integers, the sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    pub elem: Elem,
    pub sign: Sign,
}

impl Format {
    pub const fn float(elem: Elem) -> Self {
        Format {
            elem,
            sign: Sign::Signed,
        }
    }

    pub const fn signed(bits: u32) -> Self {
        Format {
            elem: Elem::Int(bits),
            sign: Sign::Signed,
        }
    }

    pub const fn unsigned(bits: u32) -> Self {
        Format {
            elem: Elem::Int(bits),
            sign: Sign::Unsigned,
        }
    }
}

/// Converts between any two formats.
pub fn convert<'e, 'ctx>(x: Val<'e, 'ctx>, from: Format, to: Format) -> Val<'e, 'ctx> {
    if from == to {
        return x;
    }
    match (from.elem, to.elem) {
        (Elem::Int(_), Elem::Int(1)) => x.ne(0),
        (Elem::Int(_), Elem::Int(bits)) => widen(x, from, bits),
        (Elem::Int(_), float) => integer_to_float(x, from, float),
        (float, Elem::Int(_)) => float_to_integer(widen_float(x, float), to),
        (from, to) => narrow_float(widen_float(x, from), to),
    }
}

fn widen<'e, 'ctx>(x: Val<'e, 'ctx>, from: Format, bits: u32) -> Val<'e, 'ctx> {
    // `true` is one, not minus one.
    if from.sign == Sign::Unsigned || from.elem == Elem::Int(1) {
        x.zext_or_trunc(bits)
    } else {
        x.sext_or_trunc(bits)
    }
}

/// A float of 16 or 8 bits becomes f32; all else stays.
pub fn widen_float<'e, 'ctx>(x: Val<'e, 'ctx>, elem: Elem) -> Val<'e, 'ctx> {
    match elem {
        Elem::F32 | Elem::F64 | Elem::Int(_) => x,
        narrow => to_f32(x, narrow),
    }
}

/// Rounds an f32 or f64 to `to`, once.
pub fn narrow_float<'e, 'ctx>(x: Val<'e, 'ctx>, to: Elem) -> Val<'e, 'ctx> {
    match (x.elem(), to) {
        (Elem::F32, Elem::F64) => x.extend(Elem::F64),
        (Elem::F64, Elem::F32) => x.round_to(Elem::F32),
        (from, to) if from == to => x,
        (Elem::F64, narrow) => from_f32(round_to_odd(x), narrow),
        (_, narrow) => from_f32(x, narrow),
    }
}

/// Converts f64 to f32 with rounding to odd: inexact results get an odd last bit. A second rounding to at most 16 bits
/// then equals a single rounding.
fn round_to_odd<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let near = x.round_to(Elem::F32);
    let back = near.extend(Elem::F64);
    let bits = near.to_bits();
    // Step back to the neighbour towards zero where rounding went away from zero, then set the last bit.
    let away = back.abs().gt(x.abs());
    let toward = bits - away.zext_or_trunc(32);
    let odd = toward.or(1).bits_as(Elem::F32);
    near.except(back.ne(x).and(x.is_nan().flip()), odd)
}

/// The f32 of a narrow float that is held as its bits; exact.
pub fn to_f32<'e, 'ctx>(bits: Val<'e, 'ctx>, elem: Elem) -> Val<'e, 'ctx> {
    match elem {
        Elem::Bf16 => {
            let wide = bits.loaded_to_upper_halves();
            let wide = wide.or_else(|| bits.pairs_to_upper_halves());
            let wide = wide.unwrap_or_else(|| bits.zext_or_trunc(32).shift_left(16));
            wide.bits_as(Elem::F32)
        }
        Elem::F8E4M3FN | Elem::F8E5M2 | Elem::F8E8M0FNU => small::to_f32(bits, elem),
        _ if converts_f16(bits) => bits.bits_as(Elem::F16).extend(Elem::F32),
        _ => f16_to_f32(bits),
    }
}

/// True if the target has instructions between f16 and f32: all but x86 without F16C, for which LLVM would call out.
fn converts_f16(x: Val<'_, '_>) -> bool {
    x.emit().x86.is_none_or(|x86| x86.f16c)
}

/// Moves the fields into place and corrects the exponent's bias by a multiplication, which is exact and handles
/// subnormals. Infinity and NaN get their exponent separately.
fn f16_to_f32<'e, 'ctx>(bits: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let wide = bits.zext_or_trunc(32);
    let magnitude = wide.and(0x7fff).shift_left(13);
    let finite = (magnitude.bits_as(Elem::F32) * 2f64.powi(112)).to_bits();
    let special = magnitude.or(0x7f80_0000);
    let quiet = magnitude
        .and(0x7f_ffff)
        .ne(0)
        .select(special.or(0x40_0000), special);
    let is_special = magnitude.ge(0x0f80_0000);
    let sign = wide.and(0x8000).shift_left(16);
    finite.except(is_special, quiet).or(sign).bits_as(Elem::F32)
}

/// As `bf16_from_f32`, with a shifted exponent bias. Below the least normal f16, the bits come from an addition of a
/// number whose last place is f16's least subnormal. From 2^16 on the result is infinity.
fn f16_from_f32<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    const LEAST_NORMAL: i64 = (127 - 14) << 23;
    const BEYOND: i64 = (127 + 16) << 23;
    let bits = x.to_bits();
    let magnitude = bits.and(0x7fff_ffff);
    let odd = magnitude.lshr(13).and(1);
    let normal = (magnitude - ((127 - 15) << 23) + 0xfff + odd).lshr(13);
    let half = x.float(0.5);
    let subnormal = (magnitude.bits_as(Elem::F32) + half).to_bits() - half.to_bits();
    let quiet = magnitude.lshr(13).and(0x3ff).or(0x7e00);
    let rounded = normal
        .except(magnitude.lt(LEAST_NORMAL), subnormal)
        .except(magnitude.ge(BEYOND), 0x7c00)
        .except(x.is_nan(), quiet);
    rounded.or(bits.lshr(16).and(0x8000)).zext_or_trunc(16)
}

/// The bits of the narrow float nearest to an f32, ties to even.
pub fn from_f32<'e, 'ctx>(x: Val<'e, 'ctx>, elem: Elem) -> Val<'e, 'ctx> {
    match elem {
        Elem::Bf16 => bf16_from_f32(x),
        Elem::F8E4M3FN | Elem::F8E5M2 | Elem::F8E8M0FNU => small::from_f32(x, elem),
        _ if converts_f16(x) => x.round_to(Elem::F16).to_bits(),
        _ => f16_from_f32(x),
    }
}

/// Uses one instruction if the target has it. On NVIDIA's GPUs (cvt.rn.bf16) it differs only for NaN, which it makes canonical.
/// On x86 (vcvtneps2bf16) it differs only for subnormals; vectors that contain one take the integer path.
fn bf16_from_f32<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let by_instruction = || x.round_to(Elem::Bf16).to_bits();
    if x.emit().gpu.is_some_and(|gpu| gpu.rounds_to_bf16()) {
        return by_instruction();
    }
    match x.subnormals_beside_bf16() {
        Some(subnormal) => {
            let usual = x.two_registers_to_bf16().unwrap_or_else(by_instruction);
            x.emit()
                .unless_rare(subnormal.any(), usual, || bf16_by_integers(x))
        }
        None => bf16_by_integers(x),
    }
}

/// Adds just under half a unit, one more if the last kept bit is odd, and truncates. The carry correctly propagates
/// into the exponent and up to infinity. NaN is handled separately, since the carry could turn it into infinity. Its
/// bits are all ones: if a comparison yields these too, the selection is one instruction.
fn bf16_by_integers<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let bits = x.to_bits();
    let odd = bits.lshr(16).and(1);
    let rounded = bits + odd + 0x7fff;
    rounded.except(x.is_nan(), -1).lshr(16).zext_or_trunc(16)
}

fn integer_to_float<'e, 'ctx>(x: Val<'e, 'ctx>, from: Format, to: Elem) -> Val<'e, 'ctx> {
    let signed = from.sign == Sign::Signed && from.elem != Elem::Int(1);
    let direct = |elem| {
        if signed {
            x.signed_to_float(elem)
        } else {
            x.unsigned_to_float(elem)
        }
    };
    match to {
        Elem::F32 | Elem::F64 => direct(to),
        // Up to 16 bits f32 is exact, up to 32 f64 is; wider integers round to odd on the way, so that the result rounds once.
        _ if from.elem.bits() <= 16 => from_f32(direct(Elem::F32), to),
        _ if from.elem.bits() <= 32 => narrow_float(direct(Elem::F64), to),
        _ => narrow_float(wide_integer_to_odd_f64(x, signed), to),
    }
}

/// Converts a 64-bit integer to an f64 so that a second rounding to at most 16 bits is unaffected: bits beyond f64's
/// precision are collected in a sticky bit.
fn wide_integer_to_odd_f64<'e, 'ctx>(x: Val<'e, 'ctx>, signed: bool) -> Val<'e, 'ctx> {
    let negative = if signed { x.lt(0) } else { x.ne(x) };
    let magnitude = x.except(negative, -x);
    let sticky = magnitude.and(0x7ff).ne(0).zext_or_trunc(64).shift_left(11);
    let large = magnitude.lshr(53).ne(0);
    let exact = magnitude.except(large, magnitude.and(!0x7ff).or(sticky));
    let float = exact.unsigned_to_float(Elem::F64);
    float.except(negative, -float)
}

/// Converts with saturation; NaN becomes zero. LLVM's plain conversions yield poison for values out of range.
fn float_to_integer<'e, 'ctx>(x: Val<'e, 'ctx>, to: Format) -> Val<'e, 'ctx> {
    let Elem::Int(bits) = to.elem else { return x };
    if bits == 1 {
        return x.ne(0.0);
    }
    let name = if to.sign == Sign::Signed {
        "llvm.fptosi.sat"
    } else {
        "llvm.fptoui.sat"
    };
    let wanted = x.shaped(to.elem);
    let result = x
        .emit()
        .intrinsic(name, &[wanted, x.raw().get_type()], &[x]);
    result.map_or(x, |raw| x.emit().val(raw))
}
