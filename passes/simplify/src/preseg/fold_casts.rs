//! Folds chains of casts.
//!
//! `cast(cast(x to B) to C)` becomes `cast(x to C)`
//! - where `B` holds every value of x's type: the inner cast changed nothing. Not where an integer goes by way of a float to an
//!   integer that does not hold it: from the float it saturates, directly it would keep low bits;
//! - where all three are integers, none is `i1` in the middle or at the end, and `C` is not wider than `B`: both keep low
//!   bits. Then only if nothing else uses the middle, as it may be narrower than x.
//!
//! A cast that gives x's own type back vanishes; one that gives it back in another layout reads x, as only the layout changes.
//!
//! ```text
//! %1 = fusion.cast %0 to f32          // f16 in
//! %2 = fusion.cast %1 to f64    =>    %2 = fusion.cast %0 to f64
//! ```
//!
//! Never folds a rounding away: `f64 -> f32 -> f16` rounds twice and stays.

use fuser_ir::def::Computes;
use fuser_ir::rewrite::{Pattern, Rewriter};
use fuser_ir::types::Kind;
use fuser_ir::{DType, Op};
use fuser_pass::{PassDef, StatDef};

use super::{is_free, is_single, made_as, run_patterns};

/// `fold-casts`
pub static FOLD_CASTS: PassDef = PassDef {
    name: "fold-casts",
    summary: "folds chains of casts where no bit changes",
    doc: "A cast of a cast becomes one cast where the type between holds every value of the source, or where both only keep \
          low bits of integers. A cast back to the source's type vanishes. A rounding is never folded away.",
    statistics: &[StatDef {
        name: "rewrites",
        doc: "casts folded",
    }],
    run: |ctx| run_patterns(ctx, &[&CAST_OF_CAST]),
    ..PassDef::EMPTY
};

static CAST_OF_CAST: Pattern = Pattern {
    name: "cast-of-cast",
    summary: "cast(cast(x)) => cast(x) or x",
    roots: &["fusion.cast"],
    benefit: 1,
    rewrite: cast_of_cast,
};

fn cast_of_cast(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = rw.ir();
    let middle = ir.operand(op, 0);
    let Some(inner) = made_as(ir, middle, Computes::Cast, op).filter(|_| is_free(ir, op)) else {
        return false;
    };
    let source = ir.operand(inner, 0);
    let result = ir.result(op, 0);
    let dtype = |v| ir.value_kind(v).dtype();
    let (Some(a), Some(b), Some(c)) = (dtype(source), dtype(middle), dtype(result)) else {
        return false;
    };
    let low_bits = keeps_low_bits(a, b, c) && is_single(ir, middle);
    let saturates = a.is_int() && b.is_float() && c.is_int() && c != DType::I1 && !holds(c, a);
    if saturates || (!holds(b, a) && !low_bits) {
        return false;
    }
    if ir.value_type(source) == ir.value_type(result) {
        rw.replace(op, &[source]);
    } else {
        rw.set_operand(op, 0, source);
    }
    true
}

/// True if every value of `inner` is a value of `outer`.
pub(super) fn holds(outer: DType, inner: DType) -> bool {
    use Kind::{Float, Signed, Unsigned};
    match (outer.kind(), inner.kind()) {
        _ if outer == inner => true,
        (Float, Float) if inner == DType::F8E8M0FNU => outer.bits() > 8 && outer != DType::F16,
        // Only powers of two, none of them negative.
        (Float, Float) if outer == DType::F8E8M0FNU => false,
        (Float, Float) => outer.bits() > inner.bits(),
        // Magnitudes of up to so many bits; those of integers of 8 bits, the only ones for which it matters, are in the range of all floats.
        (Float, Signed) => inner.bits() - 1 <= precision(outer),
        (Float, Unsigned) => inner.bits() <= precision(outer),
        (_, Float) => false,
        _ => {
            let ((low, high), (least, most)) = (outer.int_range(), inner.int_range());
            low <= least && most <= high
        }
    }
}

/// The number of bits of a float's significand.
fn precision(float: DType) -> u32 {
    match float {
        DType::F64 => 53,
        DType::F32 => 24,
        DType::F16 => 11,
        DType::F8E4M3FN => 4,
        DType::F8E5M2 => 3,
        DType::F4E2M1FN => 2,
        DType::F8E8M0FNU => 0,
        _ => 8,
    }
}

/// True if both casts only truncate or extend integers, and the last result has at most as many bits as the first.
fn keeps_low_bits(a: DType, b: DType, c: DType) -> bool {
    let all_integers = [a, b, c].iter().all(|d| d.is_int());
    all_integers && b != DType::I1 && c != DType::I1 && c.bits() <= b.bits()
}
