//! Quotients of floats with a single rounding on every target.
//!
//! A GPU's `div.rn` is no machine instruction but ten: a reciprocal, five multiplications and additions, a check of the
//! operands, and a branch to a general function. That branch also handles zeros, and the assembler schedules nothing
//! across it.
//!
//! For restricted operands, a quotient here is a hardware reciprocal, accurate to 1 ulp, corrected by residuals (P.
//! Markstein, Computation of elementary functions on the IBM RISC System/6000 processor, IBM Journal of Research and
//! Development 34, 1990). It has the bits of a division: `tests/quotients.rs` verifies all operands that could differ,
//! with each reciprocal that the ISA permits. f64, and CPUs, use a division.

use crate::expr::{Elem, Val};

/// `a / b`: approximated where the target asks for it, else rounded once.
pub fn quotient<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let near = a.emit().gpu.filter(|_| a.emit().approximate && !a.is_f64());
    near.map_or_else(|| a.over(b), |gpu| gpu.near_quotient(a, b))
}

/// `a / b` for operands for which one residual for the reciprocal and one for the quotient give the bits of a division.
/// Each use has a test that verifies this.
pub(super) fn tested<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let near = a.emit().gpu.filter(|_| !a.is_f64());
    let Some(y) = near.and_then(|gpu| gpu.near_reciprocal(b)) else {
        return a.over(b);
    };
    let y = (-b).fma(y, 1.0).fma(y, y);
    let q = a * y;
    (-b).fma(q, a).fma(y, q)
}

/// The maximum divisor and dividend in [`by_one`]; their inverses are the minimum. In between, no residual underflows
/// and no quotient overflows. 2^24 and 2^100.
const MOST_DIVISOR: f64 = 16_777_216.0;
const MOST_DIVIDEND: f64 = 1_267_650_600_228_229_401_496_703_205_376.0;
/// The bits of a mantissa of f32.
const MANTISSA: i64 = (1 << 23) - 1;

/// `a / b` for a divisor `b` with equal lanes. On a GPU it computes the reciprocal once for all lanes. Two residuals
/// give the correctly rounded reciprocal unless the mantissa of `b` is all ones; one more residual then gives the
/// correctly rounded quotient. Other divisors, negative divisors, and nonzero dividends of extreme magnitude use
/// `div.rn`.
pub fn by_one<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let emit = a.emit();
    let exact = emit.gpu.filter(|_| !emit.approximate && !a.is_f64());
    let (Some(gpu), Some(lanes)) = (exact, a.lanes()) else {
        return quotient(a, b);
    };
    let one = b.lane(0);
    let bits = |x: Val<'e, 'ctx>| x.bits_as(Elem::Int(32));
    let y = match b.constant() {
        // Rounded to f64 and then to f32 it is rounded once (Figueroa, When is double rounding innocuous?, 1995).
        Some(constant) => one.float(f64::from((1.0 / constant) as f32)),
        None => {
            let Some(near) = gpu.near_reciprocal(one) else {
                return quotient(a, b);
            };
            (0..2).fold(near, |y, _| (-one).fma(y, 1.0).fma(y, y))
        }
    };
    let inside = one.ge(1.0 / MOST_DIVISOR).and(one.le(MOST_DIVISOR));
    let divisor = inside.flip().or(bits(one).and(MANTISSA).eq(MANTISSA));
    // Without their sign and less one, bits of zeros are the greatest.
    let least = bits(a).shift_left(1) - 1;
    let least = (1..lanes).fold(least.lane(0), |all, n| {
        all.intrinsic2("llvm.umin", least.lane(n))
    });
    let greatest = a.abs();
    let greatest = (1..lanes).fold(greatest.lane(0), |all, n| {
        all.intrinsic2("llvm.maxnum", greatest.lane(n))
    });
    let tiny = i64::from(((1.0 / MOST_DIVIDEND) as f32).to_bits()) * 2 - 1;
    let rare = least.ult(tiny).or(greatest.gt(MOST_DIVIDEND)).or(divisor);
    let q = a * y.splat(Some(lanes));
    // With this sign zeros keep theirs.
    let residual = b.fma(q, -a);
    let q = (-residual).fma(y.splat(Some(lanes)), q);
    emit.unless_rare(rare, q, || a.over(b))
}
