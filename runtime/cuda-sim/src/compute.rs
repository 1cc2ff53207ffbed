//! Instructions that compute: a table from names, modifiers included, to functions of at most three operands.
//!
//! Operands and results are bits, zero-extended to 64; an instruction reads the low bits that its type has. Definitions are those of
//! the PTX ISA (version 8.6, sections 9.7.1 to 9.7.9): integers wrap, shifts by too much give zeros or signs, a division by zero gives all
//! ones, `f32` and narrower results that are no number are the one canonical NaN, minima and maxima take -0 for less than +0, and
//! conversions to integers saturate. Only instructions whose result is defined to the bit are here; `ex2.approx` and its like are in `approximate`.

use std::cmp::Ordering;

use half::{bf16, f16};

use crate::approximate;
use crate::demanded::Reads;

/// The bits of a result from those of three operands; unused operands are 0.
pub type Compute = fn(u64, u64, u64) -> u64;

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The function.
    pub compute: Compute,
    /// The number of operands that it uses.
    pub operands: usize,
    /// The bits of them that bits of its result depend on.
    pub reads: Reads,
}

impl Row {
    /// A function of so many operands that reads these bits of them.
    pub const fn of(compute: Compute, operands: usize, reads: Reads) -> Row {
        Row {
            compute,
            operands,
            reads,
        }
    }
}

fn one(compute: Compute) -> Option<Row> {
    Some(Row::of(compute, 1, Reads::All))
}
fn two(compute: Compute) -> Option<Row> {
    Some(Row::of(compute, 2, Reads::All))
}
fn three(compute: Compute) -> Option<Row> {
    Some(Row::of(compute, 3, Reads::All))
}

/// Comparisons of floats: ordered ones, and with `u` the unordered ones, which hold for NaN as well.
macro_rules! compared {
    ($read:ident, $comparison:expr) => {
        compared!(@ $comparison, |$read|
            "setp.eq" is_some_and is_eq, "setp.ne" is_some_and is_ne, "setp.lt" is_some_and is_lt,
            "setp.le" is_some_and is_le, "setp.gt" is_some_and is_gt, "setp.ge" is_some_and is_ge,
            "setp.equ" is_none_or is_eq, "setp.neu" is_none_or is_ne, "setp.ltu" is_none_or is_lt,
            "setp.leu" is_none_or is_le, "setp.gtu" is_none_or is_gt, "setp.geu" is_none_or is_ge)
    };
    (@ $comparison:expr, |$read:ident| $($name:literal $nan:ident $holds:ident),*) => {
        match $comparison {
            $($name => two(|a, b, _| {
                u64::from($read(a).partial_cmp(&$read(b)).$nan(Ordering::$holds))
            }),)*
            "setp.num" => two(|a, b, _| u64::from($read(a).partial_cmp(&$read(b)).is_some())),
            "setp.nan" => two(|a, b, _| u64::from($read(a).partial_cmp(&$read(b)).is_none())),
            _ => None,
        }
    };
}

/// The row of an instruction; `None` if the table lacks the name.
pub fn find(name: &str) -> Option<Row> {
    let (root, kind) = name.rsplit_once('.')?;
    let row = match root.strip_prefix("cvt.") {
        Some(to) => conversion(to, kind)?,
        None => arithmetic(root, kind)?,
    };
    Some(Row {
        reads: Reads::of(root, kind),
        ..row
    })
}

fn arithmetic(root: &str, kind: &str) -> Option<Row> {
    match kind {
        "pred" => predicate(root),
        "b16" => logical_16(root),
        "b32" => bits_32(root).or_else(|| logical_32(root)),
        "f4e" if root == "prmt.b32" => three(extract_forward),
        "b64" => logical_64(root),
        "s16" => integer_s16(root).or_else(|| wide_s16(root)),
        "u16" => integer_u16(root).or_else(|| wide_u16(root)),
        "s32" => integer_s32(root)
            .or_else(|| wide_s32(root))
            .or_else(|| rectified(root)),
        "u32" => integer_u32(root).or_else(|| wide_u32(root)),
        "s64" => integer_s64(root),
        "u64" => integer_u64(root),
        "f32" => float_32(root),
        "f64" => float_64(root),
        "f32x2" => float_32_pair(root),
        "f16" => signs::<0x8000>(root)
            .or_else(|| compared!(half, root))
            .or_else(|| narrow::<Half, 1>(root))
            .or_else(|| mixed_with::<Half>(root)),
        "bf16" => signs::<0x8000>(root)
            .or_else(|| compared!(brain, root))
            .or_else(|| narrow::<Brain, 1>(root))
            .or_else(|| mixed_with::<Brain>(root)),
        "f16x2" => signs::<0x8000_8000>(root).or_else(|| narrow::<Half, 2>(root)),
        "bf16x2" => signs::<0x8000_8000>(root).or_else(|| narrow::<Brain, 2>(root)),
        "s16x2" => pair_s16(root).or_else(|| rectified_pair(root)),
        "u16x2" => pair_u16(root),
        _ => None,
    }
}

/// The operand itself: a move.
pub const SAME: Row = Row::of(|a, _, _| a, 1, Reads::Parts(1));
/// `a + b + c`, and the carry out of it: a 64-bit add in a chain.
pub const ADD_WITH_CARRY: Row = Row::of(add_with_carry, 3, Reads::Carry);
pub const CARRY: Row = Row::of(carry, 3, Reads::All);
/// `a - b - c`, and its borrow.
pub const SUBTRACT_WITH_BORROW: Row = Row::of(subtract_with_borrow, 3, Reads::Carry);
pub const BORROW: Row = Row::of(borrow, 3, Reads::All);
/// 16 or 32 bits of `a` from bit `b` on.
pub const PART_16: Row = Row::of(part::<16>, 2, Reads::Part(16));
pub const PART_32: Row = Row::of(part::<32>, 2, Reads::Part(32));
/// `c` with the low 16 or 32 bits of `a` at bit `b`.
pub const JOINED_16: Row = Row::of(joined::<16>, 3, Reads::Join(16));
pub const JOINED_32: Row = Row::of(joined::<32>, 3, Reads::Join(32));
/// The mask of `b` bits from bit `a` on.
pub const FIELD_32: Row = Row::of(field::<32>, 2, Reads::All);
pub const FIELD_64: Row = Row::of(field::<64>, 2, Reads::All);
/// `a`, `b & 255` bits up.
pub const RAISED: Row = Row::of(raised, 2, Reads::Left(64));
/// The bits of `a` where `c` has ones, else those of `b`.
pub const MIXED: Row = Row::of(mixed, 3, Reads::Mix);

fn carry(a: u64, b: u64, c: u64) -> u64 {
    ((u128::from(a) + u128::from(b) + u128::from(c)) >> 64) as u64
}
fn add_with_carry(a: u64, b: u64, c: u64) -> u64 {
    a.wrapping_add(b).wrapping_add(c)
}
fn borrow(a: u64, b: u64, c: u64) -> u64 {
    u64::from(u128::from(a) < u128::from(b) + u128::from(c))
}
fn subtract_with_borrow(a: u64, b: u64, c: u64) -> u64 {
    a.wrapping_sub(b).wrapping_sub(c)
}
fn part<const BITS: u32>(a: u64, b: u64, _: u64) -> u64 {
    (a >> b) & low(BITS)
}
fn joined<const BITS: u32>(a: u64, b: u64, c: u64) -> u64 {
    c | (a & low(BITS)) << b
}
fn field<const BITS: u32>(a: u64, b: u64, _: u64) -> u64 {
    let length = (b as u32 & 255).min(64);
    low(length).checked_shl(a as u32 & 255).unwrap_or(0) & low(BITS)
}
fn raised(a: u64, b: u64, _: u64) -> u64 {
    a.checked_shl(b as u32 & 255).unwrap_or(0)
}
fn mixed(a: u64, b: u64, c: u64) -> u64 {
    a & c | b & !c
}

/// So many low bits.
fn low(bits: u32) -> u64 {
    u64::MAX.checked_shr(64 - bits).unwrap_or(0)
}

fn predicate(root: &str) -> Option<Row> {
    match root {
        "mov" => Some(SAME),
        "not" => one(|a, _, _| a ^ 1),
        "and" => two(|a, b, _| a & b),
        "or" => two(|a, b, _| a | b),
        "xor" => two(|a, b, _| a ^ b),
        _ => None,
    }
}

/// Instructions on bits, which `b32` and its like name.
macro_rules! logical {
    ($function:ident $type:ident) => {
        fn $function(root: &str) -> Option<Row> {
            type T = $type;
            match root {
                "mov" => one(|a, _, _| u64::from(a as T)),
                "selp" => three(|a, b, c| u64::from(if c & 1 != 0 { a as T } else { b as T })),
                "not" => one(|a, _, _| u64::from(!(a as T))),
                "and" => two(|a, b, _| u64::from(a as T & b as T)),
                "or" => two(|a, b, _| u64::from(a as T | b as T)),
                "xor" => two(|a, b, _| u64::from(a as T ^ b as T)),
                "shl" => two(|a, b, _| u64::from((a as T).checked_shl(b as u32).unwrap_or(0))),
                "shr" => two(|a, b, _| u64::from((a as T).checked_shr(b as u32).unwrap_or(0))),
                "clz" => one(|a, _, _| u64::from((a as T).leading_zeros())),
                "popc" => one(|a, _, _| u64::from((a as T).count_ones())),
                "brev" => one(|a, _, _| u64::from((a as T).reverse_bits())),
                "setp.eq" => two(|a, b, _| u64::from(a as T == b as T)),
                "setp.ne" => two(|a, b, _| u64::from(a as T != b as T)),
                _ => None,
            }
        }
    };
}
logical!(logical_16 u16);
logical!(logical_32 u32);
logical!(logical_64 u64);

/// Instructions that there are for 32 bits only.
fn bits_32(root: &str) -> Option<Row> {
    match root {
        "prmt" => three(permute),
        "shf.l.wrap" => three(|a, b, c| ((a & low(32) | b << 32) << (c & 31)) >> 32),
        "shf.r.wrap" => three(|a, b, c| ((a & low(32) | b << 32) >> (c & 31)) & low(32)),
        "shf.l.clamp" => three(|a, b, c| {
            let both = u128::from(a & low(32) | b << 32);
            ((both << (c & low(32)).min(32)) >> 32) as u64 & low(32)
        }),
        "shf.r.clamp" => {
            three(|a, b, c| (a & low(32) | b << 32) >> (c & low(32)).min(32) & low(32))
        }
        _ => None,
    }
}

/// Four bytes of the eight of `b` and `a`, from byte `c & 3` on.
fn extract_forward(a: u64, b: u64, c: u64) -> u64 {
    (a & low(32) | b << 32) >> (8 * (c & 3)) & low(32)
}

/// Four bytes out of the eight of `b` and `a`, each chosen by four bits of `c`; the fourth of them repeats the byte's sign.
fn permute(a: u64, b: u64, c: u64) -> u64 {
    let bytes = a & low(32) | b << 32;
    let byte = |n: u64| {
        let choice = c >> (4 * n) & 15;
        let byte = bytes >> (8 * (choice & 7)) & 255;
        let byte = match choice & 8 {
            0 => byte,
            _ => (byte >> 7) * 255,
        };
        byte << (8 * n)
    };
    byte(0) | byte(1) | byte(2) | byte(3)
}

/// Arithmetic on integers. `$bits` is the unsigned type of the same size.
macro_rules! integer {
    ($function:ident $type:ident $bits:ident) => {
        fn $function(root: &str) -> Option<Row> {
            type T = $type;
            /// The bits of a result.
            fn of(value: T) -> u64 {
                u64::from(value as $bits)
            }
            match root {
                "mov" => one(|a, _, _| of(a as T)),
                "selp" => three(|a, b, c| of(if c & 1 != 0 { a as T } else { b as T })),
                "add" => two(|a, b, _| of((a as T).wrapping_add(b as T))),
                "sub" => two(|a, b, _| of((a as T).wrapping_sub(b as T))),
                "mul.lo" => two(|a, b, _| of((a as T).wrapping_mul(b as T))),
                "mul.hi" => two(|a, b, _| {
                    let product = i128::from(a as T).wrapping_mul(i128::from(b as T));
                    of((product >> T::BITS) as T)
                }),
                "mad.lo" => three(|a, b, c| of((a as T).wrapping_mul(b as T).wrapping_add(c as T))),
                "div" => two(|a, b, _| match b as T {
                    0 => of(!0),
                    b => of((a as T).wrapping_div(b)),
                }),
                "rem" => two(|a, b, _| match b as T {
                    0 => of(a as T),
                    b => of((a as T).wrapping_rem(b)),
                }),
                "min" => two(|a, b, _| of((a as T).min(b as T))),
                "max" => two(|a, b, _| of((a as T).max(b as T))),
                "neg" => one(|a, _, _| of((0 as T).wrapping_sub(a as T))),
                "abs" => one(|a, _, _| match i128::from(a as T) < 0 {
                    true => of((0 as T).wrapping_sub(a as T)),
                    false => of(a as T),
                }),
                "shr" => two(|a, b, _| {
                    let most = T::BITS - 1;
                    let (a, b) = (a as T, b as u32);
                    match b > most {
                        true => of(a >> most >> 1),
                        false => of(a >> b),
                    }
                }),
                "bfe" => three(|a, b, c| {
                    let (at, length) = (b as u32 & 255, c as u32 & 255);
                    let up = T::BITS.saturating_sub(at + length);
                    let kept = length.min(T::BITS.saturating_sub(at));
                    let all = a as T;
                    match kept {
                        0 if length == 0 => 0,
                        0 => of(all >> (T::BITS - 1) >> 1),
                        _ => of((all << up) >> (up + at)),
                    }
                }),
                "setp.eq" => two(|a, b, _| u64::from(a as T == b as T)),
                "setp.ne" => two(|a, b, _| u64::from(a as T != b as T)),
                "setp.lt" | "setp.lo" => two(|a, b, _| u64::from((a as T) < (b as T))),
                "setp.le" | "setp.ls" => two(|a, b, _| u64::from(a as T <= b as T)),
                "setp.gt" | "setp.hi" => two(|a, b, _| u64::from(a as T > b as T)),
                "setp.ge" | "setp.hs" => two(|a, b, _| u64::from(a as T >= b as T)),
                _ => None,
            }
        }
    };
}
integer!(integer_s16 i16 u16);
integer!(integer_u16 u16 u16);
integer!(integer_s32 i32 u32);
integer!(integer_u32 u32 u32);
integer!(integer_s64 i64 u64);
integer!(integer_u64 u64 u64);

/// Products of 16- and 32-bit integers with all their bits.
macro_rules! wide {
    ($function:ident $type:ident $wide:ident $bits:ident) => {
        fn $function(root: &str) -> Option<Row> {
            fn product(a: u64, b: u64) -> $wide {
                $wide::from(a as $type) * $wide::from(b as $type)
            }
            match root {
                "mul.wide" => two(|a, b, _| product(a, b) as $bits as u64),
                "mad.wide" => {
                    three(|a, b, c| product(a, b).wrapping_add(c as $wide) as $bits as u64)
                }
                _ => None,
            }
        }
    };
}
wide!(wide_s16 i16 i32 u32);
wide!(wide_u16 u16 u32 u32);
wide!(wide_s32 i32 i64 u64);
wide!(wide_u32 u32 u64 u64);

/// The canonical NaN of `f32`.
const NAN_32: u64 = 0x7FFF_FFFF;
/// The canonical NaN of `f16` and of `bf16`.
const NAN_16: u64 = 0x7FFF;

pub fn f(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}
fn d(bits: u64) -> f64 {
    f64::from_bits(bits)
}
fn half(bits: u64) -> f32 {
    f16::from_bits(bits as u16).to_f32()
}
fn brain(bits: u64) -> f32 {
    bf16::from_bits(bits as u16).to_f32()
}
/// The bits of an `f32` result.
pub fn of_f32(value: f32) -> u64 {
    match value.is_nan() {
        true => NAN_32,
        false => u64::from(value.to_bits()),
    }
}
/// The bits of an `f64` result: a NaN among the operands passes through with its payload, made quiet; else NaN is the default one.
fn of_f64(value: f64, operands: [u64; 3]) -> u64 {
    if !value.is_nan() {
        return value.to_bits();
    }
    let given = operands.into_iter().find(|bits| d(*bits).is_nan());
    given.map_or(0xFFF8 << 48, |bits| bits | 1 << 51)
}

/// The lesser of two floats, -0 less than +0; the other one where one is NaN.
macro_rules! chosen {
    ($name:ident $type:ty, $sign:ident) => {
        fn $name(a: $type, b: $type) -> $type {
            match (a.is_nan(), b.is_nan()) {
                (true, _) => b,
                (_, true) => a,
                _ if a == b && a.$sign() => a,
                _ if a == b => b,
                _ if (a < b) == (<$type>::NEG_INFINITY.$sign()) => a,
                _ => b,
            }
        }
    };
}
chosen!(min_32 f32, is_sign_negative);
chosen!(max_32 f32, is_sign_positive);
chosen!(min_64 f64, is_sign_negative);
chosen!(max_64 f64, is_sign_positive);

/// A type of floats with 16 bits. A sum, a difference or a product of two of them is rounded alike whether it was one of `f32` before or not:
/// 24 bits are enough for the second rounding to change nothing.
trait Narrow {
    /// The number that 16 bits are.
    fn wide(bits: u64) -> f32;
    /// The bits of the nearest number.
    fn nearest(value: f32) -> u64;
}

/// `f16`
struct Half;
/// `bf16`
struct Brain;

impl Narrow for Half {
    fn wide(bits: u64) -> f32 {
        half(bits)
    }
    fn nearest(value: f32) -> u64 {
        match value.is_nan() {
            true => NAN_16,
            false => f16::from_f32(value).to_bits().into(),
        }
    }
}
impl Narrow for Brain {
    fn wide(bits: u64) -> f32 {
        brain(bits)
    }
    fn nearest(value: f32) -> u64 {
        match value.is_nan() {
            true => NAN_16,
            false => bf16::from_f32(value).to_bits().into(),
        }
    }
}

/// The `f32` toward zero of a number, its last bit set where it is not the number itself: what is rounded again, to 22 bits or fewer, is as
/// if the number were.
fn odd_f32(value: f64) -> f32 {
    let near = value as f32;
    if !value.is_finite() || f64::from(near) == value {
        return near;
    }
    let beyond = f64::from(near).abs() > value.abs();
    f32::from_bits((near.to_bits() - u32::from(beyond)) | 1)
}
/// The same of an integer.
fn odd_f32_of_integer(value: i128) -> f32 {
    let near = value as f32;
    let whole = near as i128;
    if whole == value {
        return near;
    }
    let beyond = whole.abs() > value.abs();
    f32::from_bits((near.to_bits() - u32::from(beyond)) | 1)
}
/// `a * b + c`, rounded so, of floats with 16 bits each.
fn odd_fma(a: f32, b: f32, c: f32) -> f32 {
    // Exact: the significands have 22 bits together.
    let (product, c) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = product + c;
    let part = sum - product;
    let lost = (product - (sum - part)) + (c - part);
    if !sum.is_finite() || lost == 0.0 {
        return odd_f32(sum);
    }
    let beyond = (lost > 0.0) != (sum > 0.0);
    odd_f32(f64::from_bits((sum.to_bits() - u64::from(beyond)) | 1))
}

/// Arithmetic on so many floats of 16 bits, one or two.
fn narrow<N: Narrow, const COUNT: u32>(root: &str) -> Option<Row> {
    macro_rules! each {
        ($operands:ident, $operation:expr) => {
            $operands(|a, b, c| {
                let one = |at: u32| {
                    let operation: fn(f32, f32, f32) -> f32 = $operation;
                    N::nearest(operation(
                        N::wide(a >> at),
                        N::wide(b >> at),
                        N::wide(c >> at),
                    ))
                };
                (0..COUNT).fold(0, |all, n| all | one(16 * n) << (16 * n))
            })
        };
    }
    match root {
        "add" | "add.rn" => each!(two, |a, b, _| a + b),
        "sub" | "sub.rn" => each!(two, |a, b, _| a - b),
        "mul" | "mul.rn" => each!(two, |a, b, _| a * b),
        "fma.rn" => each!(three, odd_fma),
        "min" => each!(two, |a, b, _| min_32(a, b)),
        "max" => each!(two, |a, b, _| max_32(a, b)),
        "min.NaN" => each!(two, |a, b, _| of_numbers(min_32, a, b)),
        "max.NaN" => each!(two, |a, b, _| of_numbers(max_32, a, b)),
        _ => None,
    }
}

/// A function of two numbers, and NaN where one of them is.
fn of_numbers(function: fn(f32, f32) -> f32, a: f32, b: f32) -> f32 {
    match a.is_nan() || b.is_nan() {
        true => f32::NAN,
        false => function(a, b),
    }
}

/// Arithmetic in `f32` whose first operand, or factors, have 16 bits.
fn mixed_with<N: Narrow>(root: &str) -> Option<Row> {
    match root {
        "add.f32" | "add.rn.f32" => two(|a, b, _| of_f32(N::wide(a) + f(b))),
        "sub.f32" | "sub.rn.f32" => two(|a, b, _| of_f32(N::wide(a) - f(b))),
        "fma.rn.f32" => three(|a, b, c| of_f32(N::wide(a).mul_add(N::wide(b), f(c)))),
        _ => None,
    }
}

fn float_32(root: &str) -> Option<Row> {
    const SIGN: u64 = 1 << 31;
    match root {
        "mov" => one(|a, _, _| a & low(32)),
        "selp" => three(|a, b, c| if c & 1 != 0 { a } else { b } & low(32)),
        "add" | "add.rn" => two(|a, b, _| of_f32(f(a) + f(b))),
        "sub" | "sub.rn" => two(|a, b, _| of_f32(f(a) - f(b))),
        "mul" | "mul.rn" => two(|a, b, _| of_f32(f(a) * f(b))),
        "div.rn" => two(|a, b, _| of_f32(f(a) / f(b))),
        "fma.rn" => three(|a, b, c| of_f32(f(a).mul_add(f(b), f(c)))),
        "rcp.rn" => one(|a, _, _| of_f32(1.0 / f(a))),
        "sqrt.rn" => one(|a, _, _| of_f32(f(a).sqrt())),
        "neg" => one(|a, _, _| (a ^ SIGN) & low(32)),
        "abs" => one(|a, _, _| a & (SIGN - 1)),
        "copysign" => two(|a, b, _| a & SIGN | b & (SIGN - 1)),
        "min" => two(|a, b, _| of_f32(min_32(f(a), f(b)))),
        "max" => two(|a, b, _| of_f32(max_32(f(a), f(b)))),
        "min.NaN" => two(|a, b, _| of_f32(of_numbers(min_32, f(a), f(b)))),
        "max.NaN" => two(|a, b, _| of_f32(of_numbers(max_32, f(a), f(b)))),
        "testp.infinite" => one(|a, _, _| u64::from(f(a).is_infinite())),
        other => compared!(f, other).or_else(|| approximate::find(other)),
    }
}

fn float_64(root: &str) -> Option<Row> {
    const SIGN: u64 = 1 << 63;
    match root {
        "mov" => Some(SAME),
        "selp" => three(|a, b, c| if c & 1 != 0 { a } else { b }),
        "add" | "add.rn" => two(|a, b, _| of_f64(d(a) + d(b), [a, b, 0])),
        "sub" | "sub.rn" => two(|a, b, _| of_f64(d(a) - d(b), [a, b, 0])),
        "mul" | "mul.rn" => two(|a, b, _| of_f64(d(a) * d(b), [a, b, 0])),
        "div.rn" => two(|a, b, _| of_f64(d(a) / d(b), [a, b, 0])),
        "fma.rn" => three(|a, b, c| of_f64(d(a).mul_add(d(b), d(c)), [a, b, c])),
        "rcp.rn" => one(|a, _, _| of_f64(1.0 / d(a), [a, 0, 0])),
        "sqrt.rn" => one(|a, _, _| of_f64(d(a).sqrt(), [a, 0, 0])),
        "neg" => one(|a, _, _| a ^ SIGN),
        "abs" => one(|a, _, _| a & (SIGN - 1)),
        "copysign" => two(|a, b, _| a & SIGN | b & (SIGN - 1)),
        "min" => two(|a, b, _| of_f64(min_64(d(a), d(b)), [a, b, 0])),
        "max" => two(|a, b, _| of_f64(max_64(d(a), d(b)), [a, b, 0])),
        "testp.infinite" => one(|a, _, _| u64::from(d(a).is_infinite())),
        comparison => compared!(d, comparison),
    }
}

/// Arithmetic on two `f32` at a time.
fn float_32_pair(root: &str) -> Option<Row> {
    /// The results of the low and of the high halves.
    fn both(low: f32, high: f32) -> u64 {
        of_f32(high) << 32 | of_f32(low)
    }
    /// The high half.
    fn h(bits: u64) -> f32 {
        f(bits >> 32)
    }
    match root {
        "add.rn" => two(|a, b, _| both(f(a) + f(b), h(a) + h(b))),
        "sub.rn" => two(|a, b, _| both(f(a) - f(b), h(a) - h(b))),
        "mul.rn" => two(|a, b, _| both(f(a) * f(b), h(a) * h(b))),
        "fma.rn" => three(|a, b, c| both(f(a).mul_add(f(b), f(c)), h(a).mul_add(h(b), h(c)))),
        _ => None,
    }
}

/// Arithmetic on two integers of 16 bits at a time.
macro_rules! pair {
    ($function:ident $type:ident) => {
        fn $function(root: &str) -> Option<Row> {
            match root {
                "add" => two(|a, b, _| each_16(a, b, |a, b| a.wrapping_add(b))),
                "min" => two(|a, b, _| each_16(a, b, |a, b| (a as $type).min(b as $type) as u16)),
                "max" => two(|a, b, _| each_16(a, b, |a, b| (a as $type).max(b as $type) as u16)),
                _ => None,
            }
        }
    };
}
pair!(pair_s16 i16);
pair!(pair_u16 u16);

/// A function of the low halves, and of the high halves.
fn each_16(a: u64, b: u64, function: fn(u16, u16) -> u16) -> u64 {
    let one = |at: u32| u64::from(function((a >> at) as u16, (b >> at) as u16));
    one(16) << 16 | one(0)
}

/// The lesser or the greater of two integers, and 0 where that is less than 0.
fn rectified(root: &str) -> Option<Row> {
    match root {
        "min.relu" => two(|a, b, _| (a as i32).min(b as i32).max(0) as u64),
        "max.relu" => two(|a, b, _| (a as i32).max(b as i32).max(0) as u64),
        _ => None,
    }
}
/// The same of two integers of 16 bits at a time.
fn rectified_pair(root: &str) -> Option<Row> {
    match root {
        "min.relu" => two(|a, b, _| each_16(a, b, |a, b| (a as i16).min(b as i16).max(0) as u16)),
        "max.relu" => two(|a, b, _| each_16(a, b, |a, b| (a as i16).max(b as i16).max(0) as u16)),
        _ => None,
    }
}

/// Instructions that change nothing but signs, those of the bits in `SIGNS`.
fn signs<const SIGNS: u64>(root: &str) -> Option<Row> {
    match root {
        "neg" => one(|a, _, _| (a ^ SIGNS) & (u64::MAX >> SIGNS.leading_zeros())),
        "abs" => one(|a, _, _| a & !SIGNS & (u64::MAX >> SIGNS.leading_zeros())),
        _ => None,
    }
}

/// Expands to a match on the name of an integer type; `$body` has the type as `$type` and the unsigned one of its size as `$bits`.
macro_rules! by_integer {
    ($name:expr, |$type:ident, $bits:ident| $body:expr) => {
        by_integer!(@ $name, $type, $bits, $body,
            "s8" i8 u8, "u8" u8 u8, "s16" i16 u16, "u16" u16 u16, "s32" i32 u32, "u32" u32 u32, "s64" i64 u64, "u64" u64 u64)
    };
    (@ $name:expr, $t:ident, $b:ident, $body:expr, $($text:literal $type:ident $bits:ident),*) => {
        match $name {
            $($text => {
                #[allow(dead_code)]
                type $t = $type;
                #[allow(dead_code)]
                type $b = $bits;
                $body
            })*
            _ => None,
        }
    };
}

/// Conversions; `to` is the text between `cvt.` and the source type, such as `rn.f32`.
fn conversion(to: &str, from: &str) -> Option<Row> {
    let (rounding, to) = to.rsplit_once('.').unwrap_or(("", to));
    match (from, to, rounding) {
        ("f32", "f32", _) => rounded_f32(rounding),
        ("f64", "f64", _) => rounded_f64(rounding),
        ("f32", "f64", "") => one(|a, _, _| of_f64(f64::from(f(a)), [0; 3])),
        ("f64", "f32", "rn") => one(|a, _, _| of_f32(d(a) as f32)),
        ("f32", "f16x2", "rn") => two(|a, b, _| to_narrow::<Half>(a) << 16 | to_narrow::<Half>(b)),
        ("f32", "bf16x2", "rn") => {
            two(|a, b, _| to_narrow::<Brain>(a) << 16 | to_narrow::<Brain>(b))
        }
        ("f16", _, _) if to != "bf16" => from_narrow::<Half>(to, rounding),
        ("bf16", _, _) if to != "f16" => from_narrow::<Brain>(to, rounding),
        (_, "f16", "rn") => narrow_of::<Half>(from),
        (_, "bf16", "rn") => narrow_of::<Brain>(from),
        ("f32", _, "rzi") => integer_of_f32(to),
        ("f64", _, "rzi") => integer_of_f64(to),
        (_, "f32", "rn") => f32_of_integer(from),
        (_, "f64", "rn") => f64_of_integer(from),
        (_, _, "") => integer_of_integer(from, to),
        _ => None,
    }
}

fn to_narrow<N: Narrow>(a: u64) -> u64 {
    N::nearest(f(a))
}

/// Conversions of floats with 16 bits, to themselves with a rounding to integers.
fn from_narrow<N: Narrow>(to: &str, rounding: &str) -> Option<Row> {
    match (to, rounding) {
        ("f32", "") => one(|a, _, _| of_f32(N::wide(a))),
        ("f64", "") => one(|a, _, _| of_f64(f64::from(N::wide(a)), [0; 3])),
        ("f16" | "bf16", "rni") => one(|a, _, _| N::nearest(N::wide(a).round_ties_even())),
        ("f16" | "bf16", "rzi") => one(|a, _, _| N::nearest(N::wide(a).trunc())),
        ("f16" | "bf16", "rmi") => one(|a, _, _| N::nearest(N::wide(a).floor())),
        ("f16" | "bf16", "rpi") => one(|a, _, _| N::nearest(N::wide(a).ceil())),
        (_, "rzi") => by_integer!(to, |T, B| one(|a, _, _| {
            let value = N::wide(a);
            match value.is_nan() {
                true => nan_as_integer(B::BITS, false),
                false => bits(value as T as B),
            }
        })),
        _ => None,
    }
}

/// Conversions to floats with 16 bits, rounded once.
fn narrow_of<N: Narrow>(from: &str) -> Option<Row> {
    match from {
        "f32" => one(|a, _, _| to_narrow::<N>(a)),
        "f64" => one(|a, _, _| N::nearest(odd_f32(d(a)))),
        _ => by_integer!(from, |T, B| one(|a, _, _| {
            N::nearest(odd_f32_of_integer(i128::from(a as T)))
        })),
    }
}

fn rounded_f32(rounding: &str) -> Option<Row> {
    match rounding {
        "rni" => one(|a, _, _| of_f32(f(a).round_ties_even())),
        "rzi" => one(|a, _, _| of_f32(f(a).trunc())),
        "rmi" => one(|a, _, _| of_f32(f(a).floor())),
        "rpi" => one(|a, _, _| of_f32(f(a).ceil())),
        _ => None,
    }
}

fn rounded_f64(rounding: &str) -> Option<Row> {
    match rounding {
        "rni" => one(|a, _, _| of_f64(d(a).round_ties_even(), [a, 0, 0])),
        "rzi" => one(|a, _, _| of_f64(d(a).trunc(), [a, 0, 0])),
        "rmi" => one(|a, _, _| of_f64(d(a).floor(), [a, 0, 0])),
        "rpi" => one(|a, _, _| of_f64(d(a).ceil(), [a, 0, 0])),
        _ => None,
    }
}

/// The bits of an unsigned integer.
fn bits(value: impl Into<u64>) -> u64 {
    value.into()
}

/// The integer that NaN becomes: the sign bit of 64-bit integers and of those that an `f64` becomes, else 0.
fn nan_as_integer(size: u32, wide_source: bool) -> u64 {
    match wide_source || size == 64 {
        true => 1 << (size - 1),
        false => 0,
    }
}

fn integer_of_f32(to: &str) -> Option<Row> {
    by_integer!(to, |T, B| one(|a, _, _| match f(a).is_nan() {
        true => nan_as_integer(B::BITS, false),
        false => bits(f(a) as T as B),
    }))
}

fn integer_of_f64(to: &str) -> Option<Row> {
    by_integer!(to, |T, B| one(|a, _, _| match d(a).is_nan() {
        true => nan_as_integer(B::BITS, true),
        false => bits(d(a) as T as B),
    }))
}

fn f32_of_integer(from: &str) -> Option<Row> {
    by_integer!(from, |T, B| one(|a, _, _| of_f32(a as T as f32)))
}

fn f64_of_integer(from: &str) -> Option<Row> {
    by_integer!(from, |T, B| one(|a, _, _| (a as T as f64).to_bits()))
}

/// Conversions between integers go through 64 bits: first the source is extended as its type says.
fn integer_of_integer(from: &str, to: &str) -> Option<Row> {
    macro_rules! cut {
        ($source:ident) => {
            match to {
                "u8" => one(|a, _, _| u64::from(a as $source as u8)),
                // The registers for bytes have 16 bits, to which a signed one is extended.
                "s8" => one(|a, _, _| u64::from(a as $source as i8 as u16)),
                "s16" | "u16" => one(|a, _, _| u64::from(a as $source as u16)),
                "s32" | "u32" => one(|a, _, _| u64::from(a as $source as u32)),
                "s64" | "u64" => one(|a, _, _| a as $source as u64),
                _ => None,
            }
        };
    }
    match from {
        "s8" => cut!(i8),
        "u8" => cut!(u8),
        "s16" => cut!(i16),
        "u16" => cut!(u16),
        "s32" => cut!(i32),
        "u32" => cut!(u32),
        "s64" => cut!(i64),
        "u64" => cut!(u64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fuser_random::SplitMix;

    fn run(name: &str, operands: [u64; 3]) -> u64 {
        let row = find(name).unwrap_or_else(|| panic!("{name}"));
        (row.compute)(operands[0], operands[1], operands[2])
    }
    fn s(value: f32) -> u64 {
        value.to_bits().into()
    }

    #[test]
    fn two_of_16_bits_are_two() {
        let pair = |a: f32, b: f32| Brain::nearest(a) | Brain::nearest(b) << 16;
        for (name, a, b, expected) in [
            (
                "add.bf16x2",
                pair(1.0, -3.0),
                pair(2.0, 0.5),
                pair(3.0, -2.5),
            ),
            // Ties go to even.
            (
                "add.bf16x2",
                pair(256.0, 258.0),
                pair(1.0, 1.0),
                pair(256.0, 260.0),
            ),
            (
                "sub.bf16x2",
                pair(1.0, f32::INFINITY),
                pair(2.0, 0.5),
                pair(-1.0, f32::INFINITY),
            ),
            (
                "mul.rn.bf16x2",
                pair(1.5, 0.0),
                pair(-2.0, f32::INFINITY),
                pair(-3.0, f32::NAN),
            ),
            (
                "max.bf16x2",
                pair(-0.0, f32::NAN),
                pair(0.0, 1.0),
                pair(0.0, 1.0),
            ),
            (
                "max.NaN.bf16x2",
                pair(-0.0, f32::NAN),
                pair(0.0, 1.0),
                pair(0.0, f32::NAN),
            ),
            (
                "add.rn.bf16",
                pair(1.0, 5.0),
                pair(2.0, 7.0),
                pair(3.0, 0.0),
            ),
            (
                "min.NaN.bf16",
                pair(f32::NAN, 5.0),
                pair(2.0, 7.0),
                pair(f32::NAN, 0.0),
            ),
            (
                "min.bf16x2",
                pair(-0.0, 2.0),
                pair(0.0, 1.0),
                pair(-0.0, 1.0),
            ),
        ] {
            assert_eq!(run(name, [a, b, 0]), expected, "{name}");
        }
    }

    #[test]
    fn integers_wrap_and_have_edges() {
        let minus = |n: i64| n as u64;
        let m32 = |n: i32| u64::from(n as u32);
        for (name, operands, result) in [
            ("add.s32", [m32(-1), 1, 0], 0),
            ("add.s32", [m32(i32::MAX), 1, 0], m32(i32::MIN)),
            ("sub.s64", [0, 1, 0], u64::MAX),
            ("mul.wide.u32", [m32(-1), m32(-1), 0], 0xFFFF_FFFE_0000_0001),
            ("mul.wide.s32", [m32(-1), m32(-1), 0], 1),
            ("mul.wide.u16", [0xFFFF, 0xFFFF, 0], 0xFFFE_0001),
            ("mul.wide.s16", [0xFFFF, 2, 0], 0xFFFF_FFFE),
            ("mad.wide.s16", [0xFFFF, 2, 3], 1),
            ("mul.hi.u64", [u64::MAX, u64::MAX, 0], u64::MAX - 1),
            ("mul.hi.s64", [u64::MAX, 1, 0], u64::MAX),
            ("mad.lo.s32", [m32(-2), 3, 7], 1),
            ("div.s64", [minus(-7), 2, 0], minus(-3)),
            ("div.s32", [m32(i32::MIN), m32(-1), 0], m32(i32::MIN)),
            ("div.u32", [7, 0, 0], m32(-1)),
            ("rem.s32", [m32(-7), 2, 0], m32(-1)),
            ("rem.u64", [7, 0, 0], 7),
            ("min.s64", [minus(-1), 1, 0], minus(-1)),
            ("min.u64", [minus(-1), 1, 0], 1),
            ("shl.b32", [1, 32, 0], 0),
            ("shl.b32", [3, 31, 0], 1 << 31),
            ("shr.s32", [m32(-8), 40, 0], m32(-1)),
            ("shr.u32", [m32(-8), 40, 0], 0),
            ("shr.s32", [m32(-8), 1, 0], m32(-4)),
            ("bfe.u32", [0xABCD, 4, 8], 0xBC),
            ("bfe.u32", [m32(-1), 32, 8], 0),
            ("bfe.s32", [m32(-1), 32, 8], m32(-1)),
            ("bfe.s32", [0xABCD, 4, 8], m32(-68)),
            ("bfe.u64", [u64::MAX, 60, 8], 15),
            ("clz.b64", [1, 0, 0], 63),
            ("not.pred", [1, 0, 0], 0),
            ("prmt.b32", [0x3322_1100, 0x7766_5544, 0x5410], 0x5544_1100),
            ("prmt.b32", [0x0180, 0, 0x1118], 0x0101_01FF),
            ("shf.l.wrap.b32", [0x8000_0000, 1, 1], 3),
            ("setp.lt.s32", [m32(-1), 0, 0], 1),
            ("setp.lt.u32", [m32(-1), 0, 0], 0),
            ("cvt.s16.s8", [0x80, 0, 0], 0xFF80),
            ("cvt.s64.s32", [m32(-5), 0, 0], minus(-5)),
            ("cvt.u64.u32", [m32(-5), 0, 0], 0xFFFF_FFFB),
            ("add.s16x2", [0x7FFF_FFFF, 0x0001_0002, 0], 0x8000_0001),
            ("add.u16x2", [0xFF_FFFF_8000, 0x0001_8000, 0], 0),
            ("neg.bf16x2", [0xFF_BF80_3F81, 0, 0], 0x3F80_BF81),
            ("neg.bf16", [0x3F80, 0, 0], 0xBF80),
            ("abs.f16x2", [0xBF80_8001, 0, 0], 0x3F80_0001),
        ] {
            assert_eq!(run(name, operands), result, "{name} {operands:x?}");
        }
        assert_eq!(
            (field::<32>(4, 8, 0), field::<32>(28, 8, 0)),
            (0xFF0, 0xF000_0000)
        );
        assert_eq!(
            (field::<64>(0, 200, 0), field::<64>(64, 1, 0)),
            (u64::MAX, 0)
        );
        assert_eq!(mixed(raised(0xABC, 4, 0), 0x1234_5678, 0xFF0), 0x1234_5BC8);
        // 2^64 - 1 + 1 in two halves, and back.
        assert_eq!(
            (carry(u64::MAX, 1, 0), add_with_carry(u64::MAX, 1, 0)),
            (1, 0)
        );
        assert_eq!(
            (carry(u64::MAX, u64::MAX, 1), borrow(0, u64::MAX, 1)),
            (1, 1)
        );
        assert_eq!(
            (borrow(1, 1, 0), subtract_with_borrow(0, 0, 1)),
            (0, u64::MAX)
        );
    }

    #[test]
    fn floats_are_exact_to_the_bit() {
        let (nan, infinity) = (u64::from(f32::NAN.to_bits()), s(f32::INFINITY));
        let tiny = s(f32::from_bits(1));
        for (name, operands, result) in [
            ("add.rn.f32", [infinity, s(f32::NEG_INFINITY), 0], NAN_32),
            ("add.rn.f32", [s(-0.0), s(-0.0), 0], s(-0.0)),
            ("mul.rn.f32", [tiny, s(0.5), 0], 0),
            // One rounding, not two: (1 + 2^-23)^2 - 1 keeps 2^-46.
            (
                "fma.rn.f32",
                [s(1.0 + f32::EPSILON), s(1.0 + f32::EPSILON), s(-1.0)],
                s(2.0_f32.powi(-22) + 2.0_f32.powi(-46)),
            ),
            ("min.f32", [nan, s(1.0), 0], s(1.0)),
            ("max.f32", [s(1.0), nan, 0], s(1.0)),
            ("max.f32", [nan, nan, 0], NAN_32),
            ("min.NaN.f32", [nan, s(1.0), 0], NAN_32),
            ("max.NaN.f32", [s(2.0), s(1.0), 0], s(2.0)),
            ("min.f32", [s(0.0), s(-0.0), 0], s(-0.0)),
            ("max.f32", [s(-0.0), s(0.0), 0], s(0.0)),
            ("min.f32", [s(-3.0), s(2.0), 0], s(-3.0)),
            ("max.f32", [s(-3.0), s(2.0), 0], s(2.0)),
            ("copysign.f32", [s(-1.0), s(3.0), 0], s(-3.0)),
            ("setp.ne.f32", [nan, nan, 0], 0),
            ("setp.neu.f32", [nan, nan, 0], 1),
            ("setp.ltu.f32", [s(1.0), nan, 0], 1),
            ("setp.equ.f32", [s(1.0), s(2.0), 0], 0),
            ("setp.neu.bf16", [0x8000, 0, 0], 0),
            ("setp.neu.bf16", [0x7FC0, 0x7FC0, 0], 1),
            ("setp.lt.f16", [0xC000, 0x3C00, 0], 1),
            ("cvt.rn.bf16x2.f32", [s(1.0), s(-2.0), 0], 0x3F80_C000),
            ("cvt.rn.f16x2.f32", [s(1.0), nan, 0], 0x3C00_7FFF),
            // A tie goes to the even one.
            ("cvt.rn.bf16.f32", [0x3F80_8000, 0, 0], 0x3F80),
            ("cvt.rn.bf16.f32", [0x3F81_8000, 0, 0], 0x3F82),
            ("cvt.rzi.s32.f32", [s(-2.9), 0, 0], 0xFFFF_FFFE),
            ("cvt.rzi.s32.f32", [s(3e9), 0, 0], 0x7FFF_FFFF),
            ("cvt.rzi.u16.f32", [s(-1.0), 0, 0], 0),
            ("cvt.rzi.s32.f32", [nan, 0, 0], 0),
            ("cvt.rzi.s64.f32", [nan, 0, 0], 1 << 63),
            ("cvt.rzi.s32.f64", [f64::NAN.to_bits(), 0, 0], 1 << 31),
            ("cvt.rni.f32.f32", [s(2.5), 0, 0], s(2.0)),
            ("cvt.rn.f32.u64", [u64::MAX, 0, 0], s(2.0_f32.powi(64))),
            ("cvt.rn.f32.s64", [u64::MAX, 0, 0], s(-1.0)),
            ("cvt.rn.f64.s32", [0xFFFF_FFFF, 0, 0], (-1.0_f64).to_bits()),
            ("cvt.rn.f32.f64", [1e300_f64.to_bits(), 0, 0], infinity),
        ] {
            assert_eq!(run(name, operands), result, "{name} {operands:x?}");
        }
        let pair = |low: f32, high: f32| s(high) << 32 | s(low);
        let (a, b) = (pair(1.5, -2.0), pair(0.25, f32::NAN));
        assert_eq!(run("sub.rn.f32x2", [a, b, 0]), NAN_32 << 32 | s(1.25));
        assert_eq!(run("fma.rn.f32x2", [a, a, a]), pair(3.75, 2.0));
        let payload = 0x7FF0_0000_0000_0001;
        assert_eq!(run("add.rn.f64", [payload, 0, 0]), payload | 1 << 51);
        assert_eq!(
            run("mul.rn.f64", [f64::INFINITY.to_bits(), 0, 0]),
            0xFFF8 << 48
        );
    }

    /// Paired 16-bit integer operations, with and without clamping at 0, equal single ones in wider arithmetic.
    #[test]
    fn pairs_and_rectified_integers_are_what_each_is_alone() {
        let mut random = SplitMix(3);
        for case in 0..20_000 {
            let edge = [0, 0x7FFF_8000, 0x8000_7FFF, 0xFFFF_0001][case % 4];
            let mut word = || random.word() >> 32;
            let (a, b) = (if case % 3 == 0 { edge } else { word() }, word());
            let signed = |bits: u64| i64::from(bits as u16) - i64::from(bits as u16 >> 15) * 65536;
            let lesser = |a: i64, b: i64| if a < b { a } else { b };
            let greater = |a: i64, b: i64| if a < b { b } else { a };
            let pair = |of: &dyn Fn(u64, u64) -> i64| {
                let one = |at: u32| of(a >> at & 0xFFFF, b >> at & 0xFFFF) as u64 & 0xFFFF;
                one(16) << 16 | one(0)
            };
            let word_of = |bits: u64| bits as i64 - (bits as i64 >> 31) * (1 << 32);
            let low = |value: i64| value as u64 & 0xFFFF_FFFF;
            let (wa, wb) = (word_of(a), word_of(b));
            for (name, expected) in [
                ("min.s16x2", pair(&|a, b| lesser(signed(a), signed(b)))),
                ("max.s16x2", pair(&|a, b| greater(signed(a), signed(b)))),
                ("min.u16x2", pair(&|a, b| lesser(a as i64, b as i64))),
                ("max.u16x2", pair(&|a, b| greater(a as i64, b as i64))),
                ("add.s16x2", pair(&|a, b| a as i64 + b as i64)),
                (
                    "min.relu.s16x2",
                    pair(&|a, b| greater(lesser(signed(a), signed(b)), 0)),
                ),
                (
                    "max.relu.s16x2",
                    pair(&|a, b| greater(greater(signed(a), signed(b)), 0)),
                ),
                ("min.relu.s32", low(greater(lesser(wa, wb), 0))),
                ("max.relu.s32", low(greater(greater(wa, wb), 0))),
            ] {
                assert_eq!(run(name, [a, b, 0]), expected, "{name} {a:x} {b:x}");
            }
        }
    }

    /// The number `significand * 2^exponent` that finite bits of 16 are, of a type with so many bits of fraction.
    fn exact_16(bits: u64, fraction: u32) -> (i128, i32) {
        let bias = (1 << (14 - fraction)) - 1;
        let exponent = (bits >> fraction) as i32 & (2 * bias + 1);
        let low = (bits & ((1 << fraction) - 1)) as i128;
        let magnitude = match exponent {
            0 => low,
            _ => low | 1 << fraction,
        };
        let sign = if bits >> 15 & 1 == 0 { 1 } else { -1 };
        (sign * magnitude, exponent.max(1) - bias - fraction as i32)
    }

    /// True if no number of the type is nearer to `value * 2^-scale` than `bits`, and of two the even one was taken.
    fn is_nearest(value: i128, scale: i32, bits: u64, fraction: u32) -> bool {
        let infinity = 0x7FFF & !((1 << fraction) - 1);
        // What stands in the place of infinity is one more step.
        let at = |bits: u64| {
            let (significand, exponent) = exact_16(bits, fraction);
            match exponent + scale {
                up @ 0.. => significand << up,
                // Far below what `value` has a place for.
                down => significand >> down.unsigned_abs().min(127),
            }
        };
        let distance = |bits: u64| (at(bits) - value).abs();
        let magnitude = bits & 0x7FFF;
        let below = magnitude.checked_sub(1).map(|low| bits & 0x8000 | low);
        let above = (magnitude < infinity).then(|| bits + 1);
        // Next to zero stands the least one of the other sign, too.
        let across = (magnitude == 0).then_some((bits ^ 0x8000) + 1);
        let others = [below, above, across].into_iter().flatten();
        others
            .into_iter()
            .all(|other| match distance(other).cmp(&distance(bits)) {
                Ordering::Less => false,
                Ordering::Equal => bits & 1 == 0,
                Ordering::Greater => true,
            })
    }

    /// Single, paired and fused 16-bit results are correctly rounded, checked by integers that hold exact sums and
    /// products.
    #[test]
    fn narrow_floats_are_rounded_once() {
        let mut random = SplitMix(5);
        for case in 0..60_000_u64 {
            let (name, fraction) = [("f16", 10), ("bf16", 7)][case as usize % 2];
            let mut number = || {
                // Exponents around 1, and those of subnormal f16.
                let bits = random.word() & 0xFFFF;
                match fraction {
                    10 if case % 3 == 0 => bits & 0x8FFF,
                    10 => bits & 0xBFFF | if bits & 0x4000 == 0 { 0x2000 } else { 0 },
                    _ => bits & 0x87FF | 0x3C00,
                }
            };
            let [a, b, c] = [number(), number(), number()];
            let [x, y, z] = [a, b, c].map(|bits| exact_16(bits, fraction));
            let at = |(significand, exponent): (i128, i32)| significand << (exponent + 80);
            let product = |(s, e): (i128, i32), (t, f): (i128, i32)| (s * t, e + f);
            for (operation, value) in [
                ("add.rn", at(x) + at(y)),
                ("sub.rn", at(x) - at(y)),
                ("mul.rn", at(product(x, y))),
                ("fma.rn", at(product(x, y)) + at(z)),
            ] {
                let result = run(&format!("{operation}.{name}"), [a, b, c]);
                assert!(
                    is_nearest(value, 80, result, fraction),
                    "{operation}.{name} {a:x} {b:x} {c:x}: {result:x}"
                );
                let pair = run(
                    &format!("{operation}.{name}x2"),
                    [a << 16, b << 16, c << 16],
                );
                assert_eq!(pair >> 16, result, "{operation}.{name}x2");
            }
        }
    }

    /// Conversions from 64 bits, at ties and a last bit beside them.
    #[test]
    fn narrow_conversions_are_rounded_once() {
        let mut random = SplitMix(6);
        for case in 0..20_000_u64 {
            let (name, fraction) = [("f16", 10), ("bf16", 7)][case as usize % 2];
            let bits = random.word();
            // As many leading bits as are kept, half of the next place, and something far below.
            let short = (bits >> 52 & 0xFFF | 1) as i64;
            let places = if fraction == 10 { bits % 4 } else { bits % 50 };
            let tie = (short << places) ^ (bits as i64 >> 8 & 1);
            let signed = if bits & 4 == 0 { tie } else { -tie };
            if signed.unsigned_abs() < 65_000 || fraction == 7 {
                let result = run(&format!("cvt.rn.{name}.s64"), [signed as u64, 0, 0]);
                let value = i128::from(signed) << 40;
                assert!(
                    is_nearest(value, 40, result, fraction),
                    "{signed} {result:x}"
                );
            }
            let part = f64::exp2(-(40.0 + (bits % 8) as f64));
            let value = (short as f64 + part * f64::from(bits & 1 == 0)) * f64::exp2(-10.0);
            let value = if bits & 2 == 0 { value } else { -value };
            let result = run(&format!("cvt.rn.{name}.f64"), [value.to_bits(), 0, 0]);
            let whole = (value * f64::exp2(60.0)) as i128;
            assert!(
                is_nearest(whole << 20, 80, result, fraction),
                "{value} {result:x}"
            );
        }
        let half_more = 1.0 + f64::exp2(-11.0) + f64::exp2(-50.0);
        assert_eq!(run("cvt.rn.f16.f64", [half_more.to_bits(), 0, 0]), 0x3C01);
        let half_more = 1.0 + f64::exp2(-8.0) + f64::exp2(-50.0);
        assert_eq!(run("cvt.rn.bf16.f64", [half_more.to_bits(), 0, 0]), 0x3F81);
        assert_eq!(
            run("cvt.rn.bf16.u64", [0x8080_0000_0000_0001, 0, 0]),
            0x5F01
        );
    }

    #[test]
    fn what_else_llvm_emits_has_the_values_of_the_isa() {
        let infinity = u64::from(f32::INFINITY.to_bits());
        for (name, operands, result) in [
            ("testp.infinite.f32", [infinity | 1 << 31, 0, 0], 1),
            ("testp.infinite.f32", [infinity | 1, 0, 0], 0),
            ("testp.infinite.f64", [f64::INFINITY.to_bits(), 0, 0], 1),
            ("testp.infinite.f64", [f64::MAX.to_bits(), 0, 0], 0),
            ("prmt.b32.f4e", [0x3322_1100, 0x7766_5544, 5], 0x4433_2211),
            ("prmt.b32.f4e", [0x3322_1100, 0x7766_5544, 3], 0x6655_4433),
            ("shf.l.clamp.b32", [0x8000_0000, 1, 1], 3),
            ("shf.l.clamp.b32", [0x8000_0000, 1, 40], 0x8000_0000),
            ("shf.r.clamp.b32", [0x8000_0000, 1, 1], 0xC000_0000),
            ("shf.r.clamp.b32", [0x8000_0000, 1, 32], 1),
            ("sub.rn.f32.bf16", [0x4040, s(1.5), 0], s(1.5)),
            (
                "add.rn.f32.f16",
                [0x3C00, s(2.0_f32.powi(-23)), 0],
                s(1.0 + f32::EPSILON),
            ),
            ("fma.rn.f32.bf16", [0x4000, 0x4040, s(-1.0)], s(5.0)),
            ("cvt.rni.f16.f16", [0x3E00, 0, 0], 0x4000),
            ("cvt.rpi.bf16.bf16", [0xBF00, 0, 0], 0x8000),
            ("cvt.rzi.s32.f16", [0xC100, 0, 0], 0xFFFF_FFFE),
            ("cvt.rzi.u64.bf16", [0x7FC0, 0, 0], 1 << 63),
            ("cvt.f64.bf16", [0x3FC0, 0, 0], 1.5_f64.to_bits()),
            ("cvt.rn.f16.u32", [65_519, 0, 0], 0x7BFF),
            ("cvt.rn.f16.u32", [65_520, 0, 0], 0x7C00),
        ] {
            assert_eq!(run(name, operands), result, "{name} {operands:x?}");
        }
    }

    #[test]
    fn names_that_are_not_in_the_table_are_not_guessed() {
        for name in [
            "ex2.approx.f64",
            "add.rz.f32",
            "add",
            "fma.rz.f16",
            "cvt.rz.f32.f64",
            "cvt.u32",
            "setp.lt.b32",
            "",
        ] {
            assert!(find(name).is_none(), "{name}");
        }
    }
}
