//! The maximum and minimum of two floats, with defined results for NaN and the signs of zero.
//!
//! AArch64 and NVPTX have instructions with these definitions, behind LLVM's intrinsics. x86 and CDNA 3 have none, and
//! LLVM's own expansion is wrong if it knows that one operand is not NaN. In scalar code for AVX-512, LLVM 22 turns
//! `maximumnum(maximumnum(a, 1.0), b)` into NaN for a NaN `b`, and `maximum(1.0, b)` into 1.0 for a signalling one. There
//! both operations are therefore comparisons and selects, which leave nothing to infer. `a > b ? a : b` is one
//! instruction on x86: it gives `b` if the two are equal or unordered.

use fuser_ir::def::Computes;
use fuser_ir::{Ir, Op};

use crate::expr::Val;

/// The greater; NaN if either is, and `-0 < +0`.
pub fn maximum<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    propagating(a, b, Way::Up)
}

/// The lesser; NaN if either is, and `-0 < +0`.
pub fn minimum<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    propagating(a, b, Way::Down)
}

/// The greater, the other where one is NaN; `-0 < +0`.
pub fn maximum_number<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    ignoring(a, b, Way::Up)
}

/// The lesser, the other where one is NaN; `-0 < +0`.
pub fn minimum_number<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    ignoring(a, b, Way::Down)
}

/// The greater or the lesser of two, and its answer to NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extreme {
    pub way: Way,
    /// True if the result of NaN and a number is the number; false if it is NaN.
    pub ignores_nan: bool,
}

/// The extreme that an op computes, if it is one.
pub fn extreme(ir: &Ir, op: Op) -> Option<Extreme> {
    let (way, ignores_nan) = match ir.computes(op)? {
        Computes::Max => (Way::Up, false),
        Computes::Min => (Way::Down, false),
        Computes::MaxNum => (Way::Up, true),
        Computes::MinNum => (Way::Down, true),
        _ => return None,
    };
    Some(Extreme { way, ignores_nan })
}

/// The direction of an extreme: maximum or minimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Up,
    Down,
}

impl Way {
    /// An `i1` that is set if `a` lies beyond `b`; clear if either is NaN.
    fn beyond<'e, 'ctx>(self, a: Val<'e, 'ctx>, b: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
        match self {
            Way::Up => a.gt(b),
            Way::Down => a.lt(b),
        }
    }

    /// An `i1` that is set if `a` lies beyond `b` or is equal; clear if either is NaN.
    fn reaches<'e, 'ctx>(self, a: Val<'e, 'ctx>, b: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
        match self {
            Way::Up => a.ge(b),
            Way::Down => a.le(b),
        }
    }

    /// `a` where it lies beyond `b`, else `b`: one instruction on x86.
    pub fn choose<'e, 'ctx>(self, a: Val<'e, 'ctx>, b: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
        self.beyond(a, b).select(a, b)
    }

    /// True if `zero` is the zero that this direction prefers.
    fn is_preferred_zero(self, zero: f64) -> bool {
        zero == 0.0 && zero.is_sign_positive() == (self == Way::Up)
    }

    /// True if `zero` is the zero of the other sign.
    fn is_other_zero(self, zero: f64) -> bool {
        zero == 0.0 && !self.is_preferred_zero(zero)
    }
}

/// The operand that is a constant other than NaN, and the other operand; `None` if neither is.
fn with_number<'e, 'ctx>(
    a: Val<'e, 'ctx>,
    b: Val<'e, 'ctx>,
) -> Option<(f64, Val<'e, 'ctx>, Val<'e, 'ctx>)> {
    let number = |v: Val<'e, 'ctx>| v.constant().filter(|c| !c.is_nan());
    match (number(a), number(b)) {
        (_, Some(c)) => Some((c, b, a)),
        (Some(c), None) => Some((c, a, b)),
        (None, None) => None,
    }
}

fn propagating<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>, way: Way) -> Val<'e, 'ctx> {
    if a.emit().has_extremes() {
        let name = match way {
            Way::Up => "llvm.maximum",
            Way::Down => "llvm.minimum",
        };
        return a.intrinsic2(name, b);
    }
    if let Some((value, number, x)) = with_number(a, b) {
        // An equal zero must be the preferred one: the constant, if it is that, else `x`. NaN is `x`.
        return if way.is_preferred_zero(value) {
            way.reaches(number, x).select(number, x)
        } else {
            way.choose(number, x)
        };
    }
    // Both orders agree but for zeros and NaN, where each gives its second operand: the preferred zero is in the bits of both.
    let (one, other) = (way.choose(a, b).to_bits(), way.choose(b, a).to_bits());
    match way {
        Way::Up => {
            let unordered = a.unordered(b);
            one.and(other).except(unordered, -1).bits_as(a.elem())
        }
        // NaN has all bits of its exponent, whatever is added.
        Way::Down => one.or(other).bits_as(a.elem()),
    }
}

fn ignoring<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>, way: Way) -> Val<'e, 'ctx> {
    if a.emit().has_extremes() {
        let name = match way {
            Way::Up => "llvm.maximumnum",
            Way::Down => "llvm.minimumnum",
        };
        return a.intrinsic2(name, b);
    }
    if let Some((value, number, x)) = with_number(a, b) {
        // As above, but NaN is the constant.
        return if way.is_other_zero(value) {
            way.reaches(x, number).select(x, number)
        } else {
            way.choose(x, number)
        };
    }
    // The preferred zero is the second operand, which an equal pair gives; a NaN there gives way to the first.
    let negative = a.to_bits().lt(0);
    let (low, high) = (negative.select(a, b), negative.select(b, a));
    let (first, second) = match way {
        Way::Up => (low, high),
        Way::Down => (high, low),
    };
    let chosen = way.choose(first, second);
    chosen.except(chosen.is_nan(), first)
}
