//! Numeric functions of the elementwise ops, for floats in their compute type and for integers.
//!
//! Every function is total: operands for which LLVM's instruction is undefined or poison are replaced first.

use crate::expr::Val;
use crate::lower::arith::extremes::maximum;
use crate::lower::gcd::gcd;
use crate::lower::remainder::remainder;

/// `maximum(x, +0)`: one instruction where `max` has this definition (AArch64, some GPUs).
pub fn relu_float<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    if x.emit().has_extremes() && !x.is_f64() {
        return maximum(x, x.float(0.0));
    }
    x.except(x.le(0.0), 0.0)
}

pub fn sign_float<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    x.float(1.0).copysign(x).except(x.eq(0.0).or(x.is_nan()), x)
}

pub fn sign_int<'e, 'ctx>(x: Val<'e, 'ctx>, signed: bool) -> Val<'e, 'ctx> {
    let bits = x.elem().bits();
    let nonzero = x.ne(0).zext_or_trunc(bits);
    if signed {
        nonzero.or(x.ashr(i64::from(bits - 1)))
    } else {
        nonzero
    }
}

pub fn abs_int<'e, 'ctx>(x: Val<'e, 'ctx>, signed: bool) -> Val<'e, 'ctx> {
    if signed { x.except(x.lt(0), -x) } else { x }
}

pub fn max_int<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>, signed: bool) -> Val<'e, 'ctx> {
    if a.elem().bits() == 1 {
        return a.or(b);
    }
    a.intrinsic2(if signed { "llvm.smax" } else { "llvm.umax" }, b)
}

pub fn min_int<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>, signed: bool) -> Val<'e, 'ctx> {
    if a.elem().bits() == 1 {
        return a.and(b);
    }
    a.intrinsic2(if signed { "llvm.smin" } else { "llvm.umin" }, b)
}

/// A divisor that is safe for LLVM: 1 replaces zero, and -1 if the dividend is the least value (whose quotient wraps to
/// itself).
fn safe_divisor<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>, signed: bool) -> Val<'e, 'ctx> {
    let zero = b.eq(0);
    if !signed {
        return b.except(zero, 1);
    }
    let least = a.int(1).shift_left(i64::from(a.elem().bits() - 1));
    b.except(zero.or(b.eq(-1).and(a.eq(least))), 1)
}

/// Truncating; `x / 0 = 0`.
pub fn div_int<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>, signed: bool) -> Val<'e, 'ctx> {
    let safe = safe_divisor(a, b, signed);
    let quotient = if signed { a.over(safe) } else { a.udiv(safe) };
    quotient.except(b.eq(0), 0)
}

/// `rem(x, 0) = x`.
pub fn rem_int<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>, signed: bool) -> Val<'e, 'ctx> {
    let safe = safe_divisor(a, b, signed);
    let rest = if signed {
        a.remainder(safe)
    } else {
        a.urem(safe)
    };
    rest.except(b.eq(0), a)
}

/// The remainder with the sign of the divisor.
pub fn remainder_floored<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let rest = remainder(a, b);
    let apart = rest.ne(0.0).and(rest.lt(0.0).xor(b.lt(0.0)));
    rest.except(apart, rest + b)
}

/// `remainder(x, 0) = x`.
pub fn remainder_int<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>, signed: bool) -> Val<'e, 'ctx> {
    let rest = rem_int(a, b, signed);
    if !signed {
        return rest;
    }
    let apart = rest.ne(0).and(rest.lt(0).xor(b.lt(0)));
    rest.except(apart.and(b.ne(0)), rest + b)
}

/// The next float toward another one: the bits plus or minus one, since they count away from zero.
pub fn next_after<'e, 'ctx>(x: Val<'e, 'ctx>, y: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let bits = x.to_bits();
    let inward = x.lt(y).xor(x.gt(0.0));
    let moved = (bits + 1).except(inward, bits - 1).bits_as(x.elem());
    let least = bits.int(1).bits_as(x.elem()).copysign(y);
    let next = moved.except(x.eq(0.0), least).except(x.eq(y), y);
    next.except(x.unordered(y), f64::NAN)
}

/// The greatest common divisor; the magnitude of the least value wraps.
pub fn gcd_int<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>, signed: bool) -> Val<'e, 'ctx> {
    gcd(abs_int(a, signed), abs_int(b, signed))
}

/// The shift count limited to the width, and whether the given count exceeded it: a negative count is a large one as
/// unsigned.
fn shift_count<'e, 'ctx>(count: Val<'e, 'ctx>) -> (Val<'e, 'ctx>, Val<'e, 'ctx>) {
    let bits = i64::from(count.elem().bits());
    let beyond = count.ult(bits).flip();
    (count.except(beyond, bits - 1), beyond)
}

pub fn shift_left<'e, 'ctx>(a: Val<'e, 'ctx>, count: Val<'e, 'ctx>, _: bool) -> Val<'e, 'ctx> {
    let (count, beyond) = shift_count(count);
    a.shift_left(count).except(beyond, 0)
}

pub fn shift_right<'e, 'ctx>(
    a: Val<'e, 'ctx>,
    count: Val<'e, 'ctx>,
    signed: bool,
) -> Val<'e, 'ctx> {
    let (count, beyond) = shift_count(count);
    // Signed: the greatest count within the width already fills with the sign.
    if signed {
        a.ashr(count)
    } else {
        a.lshr(count).except(beyond, 0)
    }
}
