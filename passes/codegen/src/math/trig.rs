//! sin, cos, tan.
//!
//! Arguments up to a threshold are reduced by `n pi/2` in three parts with FMA (Cody and Waite). The first subtraction
//! is exact, and the rounding errors of the second one and of its product are kept exactly as a correction. This
//! suffices even for arguments next to a multiple of pi/2. Beyond the threshold, where precision would run out, each
//! lane calls a scalar reduction by the bits of 2/pi (Payne and Hanek), in a block that usual arguments never enter. In
//! both cases the reduced argument has more bits than the result, for every finite argument.

use inkwell::AddressSpace;
use inkwell::module::Linkage;
use inkwell::types::BasicType;
use inkwell::values::FunctionValue;

use super::coefficients as c;
use crate::error::CodegenError;
use crate::expr::{Elem, Emit, Val};
use crate::gpu::CONSTANT_SPACE;
use crate::memory;

/// The function of the reduced argument that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Sin,
    Cos,
    Tan,
}

/// The decomposition `x = quadrant pi/2 + r + low`, with `|r|` at most slightly above pi/4.
struct Reduced<'e, 'ctx> {
    r: Val<'e, 'ctx>,
    low: Val<'e, 'ctx>,
    /// An integer; only its last two bits count.
    quadrant: Val<'e, 'ctx>,
}

/// The greatest argument that the three-part reduction takes.
fn threshold(x: Val<'_, '_>) -> f64 {
    if x.is_f64() { 1e9 } else { 1e5 }
}

fn half_pi(x: Val<'_, '_>) -> [f64; 3] {
    if x.is_f64() {
        [
            std::f64::consts::FRAC_PI_2,
            6.123_233_995_736_766e-17,
            -1.497_384_904_859_169_8e-33,
        ]
    } else {
        [
            1.570_796_370_506_286_6,
            -4.371_138_828_673_793e-8,
            -1.715_124_510_005_882e-15,
        ]
    }
}

fn reduce<'e, 'ctx>(x: Val<'e, 'ctx>) -> Reduced<'e, 'ctx> {
    // 1.5 * 2^mantissa: the sum's last bits are the nearest integer, and NaN makes no poison.
    let magic = if x.is_f64() {
        6_755_399_441_055_744.0
    } else {
        12_582_912.0
    };
    let [first, second, third] = half_pi(x);
    let shifted = x.fma(std::f64::consts::FRAC_2_PI, magic);
    let n = shifted - magic;
    // Exact: a multiple of the last place of `first`, below one.
    let coarse = n.fma(-first, x);
    // `second` has all its bits, so its product rounds. Taking the rounded one makes `coarse - r` exact (Fast2Sum: `coarse`
    // is a multiple of the product's last place) and the FMA finds what both roundings lost. Had `r` come from an FMA,
    // `coarse - r` would round where the two cancel, and the correction would miss that.
    let r = coarse - n * second;
    let lost = n.fma(-second, coarse - r);
    Reduced {
        r,
        low: n.fma(-third, lost),
        quadrant: shifted.to_bits(),
    }
}

fn sin_reduced<'e, 'ctx>(reduced: &Reduced<'e, 'ctx>) -> Val<'e, 'ctx> {
    let r = reduced.r;
    let z = r * r;
    let tail = if r.is_f64() {
        z.poly(&c::SIN_TAIL_F64)
    } else {
        z.poly(&c::SIN_TAIL_F32)
    };
    // sin(r + low) = sin r + low cos r, of which 1 - z/2 is cosine enough.
    let correction = z.fma(-0.5, 1.0) * reduced.low;
    r + (r * z).fma(tail, correction)
}

fn cos_reduced<'e, 'ctx>(reduced: &Reduced<'e, 'ctx>) -> Val<'e, 'ctx> {
    let r = reduced.r;
    let z = r * r;
    let tail = if r.is_f64() {
        z.poly(&c::COS_TAIL_F64)
    } else {
        z.poly(&c::COS_TAIL_F32)
    };
    let half = z * 0.5;
    let head = r.float(1.0) - half;
    let lost = (r.float(1.0) - head) - half;
    head + (z * z).fma(tail, lost - r * reduced.low)
}

fn of_reduced<'e, 'ctx>(reduced: &Reduced<'e, 'ctx>, wanted: Wanted) -> Val<'e, 'ctx> {
    let (sin, cos) = (sin_reduced(reduced), cos_reduced(reduced));
    let odd = reduced.quadrant.and(1).ne(0);
    let (numerator, denominator) = (sin.except(odd, cos), cos.except(odd, sin));
    match wanted {
        Wanted::Sin => numerator.except(reduced.quadrant.and(2).ne(0), -numerator),
        Wanted::Cos => denominator.except((reduced.quadrant + 1).and(2).ne(0), -denominator),
        Wanted::Tan => {
            let ratio = numerator.over(denominator);
            ratio.except(odd, -ratio)
        }
    }
}

pub fn sin<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    circular(x, Wanted::Sin)
}

pub fn cos<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    circular(x, Wanted::Cos)
}

pub fn tan<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    circular(x, Wanted::Tan)
}

fn circular<'e, 'ctx>(x: Val<'e, 'ctx>, wanted: Wanted) -> Val<'e, 'ctx> {
    let emit = x.emit();
    let usual = of_reduced(&reduce(x), wanted);
    let large = x.abs().gt(threshold(x));
    let result = emit.unless_rare(large.any(), usual, || {
        let call = |x: Val<'e, 'ctx>| match large_function(emit, x, wanted) {
            Ok(function) => emit.call(function, &[x]).map_or(x, |raw| emit.val(raw)),
            Err(error) => {
                emit.fail(error);
                x
            }
        };
        // A GPU's threads pass scalars.
        let slow = match emit.has_threads() {
            true => x.per_lane(call),
            false => call(x),
        };
        usual.except(large, slow)
    });
    let finite = result.except(x.abs().eq(f64::INFINITY), f64::NAN);
    if wanted == Wanted::Cos {
        finite
    } else {
        finite.except(x.eq(0.0), x)
    }
}

/// The function for large arguments of the type of `x`, emitted into the module at its first use. One of vectors calls
/// that of scalars for each lane: a kernel with many such calls stays small.
fn large_function<'ctx>(
    emit: &Emit<'ctx>,
    x: Val<'_, 'ctx>,
    wanted: Wanted,
) -> Result<FunctionValue<'ctx>, CodegenError> {
    let (width, lanes) = (x.elem().bits(), x.lanes());
    let lanes_name = lanes.map_or(String::new(), |lanes| format!("x{lanes}"));
    let name = format!("{wanted:?}.large.f{width}{lanes_name}").to_lowercase();
    let name = emit.own_name(&name);
    if let Some(function) = emit.module.get_function(&name) {
        return Ok(function);
    }
    let of_lanes = match lanes {
        Some(_) => Some(large_function(emit, x.lane(0), wanted)?),
        None => None,
    };
    let ty = x.raw().get_type();
    let function = emit.module.add_function(
        &name,
        ty.fn_type(&[ty.into()], false),
        Some(Linkage::Internal),
    );
    for attribute in ["noinline", "nounwind", "cold"] {
        let kind = inkwell::attributes::Attribute::get_named_enum_kind_id(attribute);
        let attribute = emit.context.create_enum_attribute(kind, 0);
        function.add_attribute(inkwell::attributes::AttributeLoc::Function, attribute);
    }
    let caller = emit.builder.get_insert_block();
    emit.builder
        .position_at_end(emit.context.append_basic_block(function, "entry"));
    if let Some(parameter) = function.get_first_param() {
        let x = emit.val(parameter);
        let result = match of_lanes {
            Some(of_lane) => x.per_lane(|lane| {
                emit.call(of_lane, &[lane])
                    .map_or(lane, |raw| emit.val(raw))
            }),
            None if x.is_f64() => of_reduced(&reduce_large_f64(x), wanted),
            None => of_reduced(&reduce_large_f32(x), wanted),
        };
        emit.builder.build_return(Some(&result.raw()))?;
    }
    if let Some(caller) = caller {
        emit.builder.position_at_end(caller);
    }
    Ok(function)
}

/// 64 bits of 2/pi, the first of which has the weight `2^(1 - first_bit)`. Bits are counted from two words of zeros
/// before the point.
fn two_over_pi_bits<'e, 'ctx>(first_bit: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let emit = first_bit.emit();
    let word = first_bit.lshr(5);
    let shift = first_bit.and(31);
    let [a, b, c] = [0, 1, 2].map(|i| table_word(emit, word + i));
    let high = a.shift_left(32).or(b);
    // Two shifts, so that a count of 64 never arises.
    high.shift_left(shift).or(c.lshr(shift.int(32) - shift))
}

/// A word of the table, widened to 64 bits. The index is masked, so no argument reads past the table.
fn table_word<'e, 'ctx>(emit: &'e Emit<'ctx>, index: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let address = memory::element(emit, two_over_pi_table(emit), Elem::Int(32), index.and(63));
    memory::load(emit, address, Elem::Int(32), None, 4).zext_or_trunc(64)
}

/// The table as a constant of 64 words: two of zeros, then 2/pi, then zeros that no finite argument reaches.
fn two_over_pi_table<'ctx>(emit: &Emit<'ctx>) -> inkwell::values::PointerValue<'ctx> {
    let name = emit.own_name("two_over_pi");
    if let Some(global) = emit.module.get_global(&name) {
        return global.as_pointer_value();
    }
    let ty = emit.context.i32_type();
    let words = [0u32; 2]
        .iter()
        .chain(&c::TWO_OVER_PI)
        .chain(std::iter::repeat(&0))
        .take(64);
    let values: Vec<_> = words
        .map(|&word| ty.const_int(u64::from(word), false))
        .collect();
    let space = if emit.has_threads() {
        AddressSpace::from(CONSTANT_SPACE)
    } else {
        AddressSpace::default()
    };
    let global = emit
        .module
        .add_global(ty.array_type(64), Some(space), &name);
    global.set_initializer(&ty.const_array(&values));
    global.set_constant(true);
    global.set_linkage(Linkage::Internal);
    global.set_unnamed_addr(true);
    global.as_pointer_value()
}

/// The unsigned significand, and the exponent `e` with `|x| = significand 2^e`, as 64-bit integers.
fn significand<'e, 'ctx>(x: Val<'e, 'ctx>) -> (Val<'e, 'ctx>, Val<'e, 'ctx>) {
    let (mantissa, bias) = if x.is_f64() { (52, 1023) } else { (23, 127) };
    let bits = x.abs().to_bits().zext_or_trunc(64);
    let one = 1i64 << mantissa;
    let significand = bits.and(one - 1).or(one);
    (significand, bits.lshr(mantissa) - (bias + mantissa))
}

/// 2^-64 of a turn is `2 pi 2^-64`.
const TURN_64: f64 = 2.0 * std::f64::consts::PI / 18_446_744_073_709_551_616.0;

/// `|x| / 2 pi` mod 1 in 64 bits: the significand times 96 bits of 2/pi. Its higher bits only add full turns.
fn reduce_large_f32<'e, 'ctx>(x: Val<'e, 'ctx>) -> Reduced<'e, 'ctx> {
    let (m, e) = significand(x);
    // Bit j of 2/pi weighs 2^-j; m 2^e 2^-j is a whole number of turns (4 quadrants) for j <= e - 2. Table bit 64 is j = 1.
    let first = e + (64 - 2);
    let high = two_over_pi_bits(first);
    let low = two_over_pi_bits(first + 64).lshr(32);
    let turns = m * high + (m * low).lshr(32);
    let quadrant = (turns + (1i64 << 61)).lshr(62);
    let fraction = turns - quadrant.shift_left(62);
    let exact = fraction.signed_to_float(Elem::F64) * TURN_64;
    let r = exact.round_to(Elem::F32);
    let low = (exact - r.extend(Elem::F64)).round_to(Elem::F32);
    signed(x, r, low, quadrant.zext_or_trunc(32))
}

/// The same in 128 bits, with 192 bits of 2/pi.
fn reduce_large_f64<'e, 'ctx>(x: Val<'e, 'ctx>) -> Reduced<'e, 'ctx> {
    let (m, e) = significand(x);
    let first = e + (64 - 2);
    let wide = m.zext_or_trunc(128);
    let [a, b, c] =
        [0, 64, 128].map(|skip| wide * two_over_pi_bits(first + skip).zext_or_trunc(128));
    let turns = a.shift_left(64) + b + c.lshr(64);
    let quadrant = (turns + quarter_turn_half(turns)).lshr(126);
    let fraction = turns - quadrant.shift_left(126);
    let negative = fraction.lt(0);
    let magnitude = fraction.except(negative, -fraction);
    // Two floats from the leading 106 bits or so: normalize, then take 53 and what is left.
    let lead = magnitude.or(1).leading_zeros();
    let normal = magnitude.shift_left(lead);
    let top = normal
        .lshr(75)
        .zext_or_trunc(64)
        .unsigned_to_float(Elem::F64);
    let next = normal
        .shift_left(53)
        .lshr(75)
        .zext_or_trunc(64)
        .unsigned_to_float(Elem::F64);
    // `top` weighs 2^-53 of the leading bit's 2^(-lead), in turns.
    let weight = power(-lead.zext_or_trunc(64) - 53);
    let (h, l) = (top * weight, next * weight * 2f64.powi(-53));
    let (pi2, pi2_low) = (2.0 * std::f64::consts::PI, 2.449_293_598_294_706_4e-16);
    let r = h * pi2;
    let low = h.fma(pi2, -r) + h.fma(pi2_low, l * pi2);
    let flip = |v: Val<'e, 'ctx>| v.except(negative, -v);
    signed(x, flip(r), flip(low), quadrant.zext_or_trunc(64))
}

/// 2^125 as a 128-bit constant.
fn quarter_turn_half<'e, 'ctx>(like: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    like.int(1).shift_left(125)
}

/// `2^n` for a 64-bit integer in the normal range.
fn power<'e, 'ctx>(n: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    (n + 1023).shift_left(52).bits_as(Elem::F64)
}

/// Applies the sign of the argument: `-(q pi/2 + r)` has quadrant `-q` and rest `-r`.
fn signed<'e, 'ctx>(
    x: Val<'e, 'ctx>,
    r: Val<'e, 'ctx>,
    low: Val<'e, 'ctx>,
    quadrant: Val<'e, 'ctx>,
) -> Reduced<'e, 'ctx> {
    let negative = x.lt(0.0);
    Reduced {
        r: r.except(negative, -r),
        low: low.except(negative, -low),
        quadrant: quadrant.except(negative, -quadrant),
    }
}
