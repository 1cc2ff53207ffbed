//! Swaps casts and shape ops so that fewer bytes change shape.
//!
//! A narrowing cast goes before the shape op that feeds it, a widening one after the shape op that it feeds, where nothing
//! else uses the value between them. Casts work element by element and shape ops move elements, so they commute bit for
//! bit. Widening casts sink towards their arithmetic and segments read the narrow tensor.
//!
//! ```text
//! %1 = fusion.cast %0 to f32                      // bf16 in
//! %2 = fusion.permute %1 dims [1, 0]        =>    %1 = fusion.permute %0 dims [1, 0]
//!                                                 %2 = fusion.cast %1 to f32
//! ```
//!
//! Never touches `copy` and `segment_set` (a user's wish), nor casts between types of one size.

use fuser_dialects::fusion::maps;
use fuser_ir::def::{Computes, OpClass};
use fuser_ir::rewrite::{Pattern, Rewriter};
use fuser_ir::{Ir, Op, Value};
use fuser_pass::{PassDef, StatDef};

use super::{borrowed, clauses, is_free, is_single, made_as, made_near, make, run_patterns};

/// `swap-casts`
pub static SWAP_CASTS: PassDef = PassDef {
    name: "swap-casts",
    summary: "swaps casts and shape ops so that fewer bytes change shape",
    doc: "A narrowing cast of the result of `broadcast`, `expand`, `permute`, `reshape` or `squeeze` goes before it; a \
          widening cast that feeds one goes after it; both only where nothing else uses the value between them.",
    statistics: &[StatDef {
        name: "rewrites",
        doc: "pairs swapped",
    }],
    run: |ctx| run_patterns(ctx, &[&NARROW_FIRST, &WIDEN_LAST]),
    ..PassDef::EMPTY
};

static NARROW_FIRST: Pattern = Pattern {
    name: "narrow-first",
    summary: "cast(shape(x)) => shape(cast(x)) for a narrowing cast",
    roots: &["fusion.cast"],
    benefit: 1,
    rewrite: narrow_first,
};
static WIDEN_LAST: Pattern = Pattern {
    name: "widen-last",
    summary: "shape(cast(x)) => cast(shape(x)) for a widening cast",
    roots: &[],
    benefit: 1,
    rewrite: widen_last,
};

/// True if an op only moves elements, so that it commutes with casts. Copies are a user's request, and windows are
/// recomputed at their users later.
fn moves(ir: &Ir, op: Op) -> bool {
    ir.def(op).is_some_and(|def| {
        def.class == OpClass::Shape && !def.shifts() && !def.has_maps(&maps::POINTWISE)
    })
}

fn narrow_first(rw: &mut Rewriter<'_>, cast: Op) -> bool {
    let ir = rw.ir();
    let middle = ir.operand(cast, 0);
    let shape = made_near(ir, middle, cast).filter(|&op| moves(ir, op));
    let Some(shape) = shape.filter(|_| is_free(ir, cast) && is_single(ir, middle)) else {
        return false;
    };
    let result = ir.result(cast, 0);
    if width(ir, result) >= width(ir, middle) {
        return false;
    }
    swap(rw, shape, cast)
}

fn widen_last(rw: &mut Rewriter<'_>, shape: Op) -> bool {
    let ir = rw.ir();
    if !moves(ir, shape) {
        return false;
    }
    let middle = ir.operand(shape, 0);
    let cast = made_as(ir, middle, Computes::Cast, shape);
    let Some(cast) = cast.filter(|_| is_free(ir, shape) && is_single(ir, middle)) else {
        return false;
    };
    let source = ir.operand(cast, 0);
    // A scalar has no axes to move.
    let tensor = ir.value_kind(source).as_tensor().is_some();
    if !tensor || width(ir, source) >= width(ir, middle) {
        return false;
    }
    swap(rw, cast, shape)
}

fn width(ir: &Ir, value: Value) -> u64 {
    ir.value_kind(value).dtype().map_or(0, |d| d.bytes())
}

/// Replaces `second(first(x))` by `first(second(x))`.
fn swap(rw: &mut Rewriter<'_>, first: Op, second: Op) -> bool {
    let (a, b) = (clauses(rw.ir(), first), clauses(rw.ir(), second));
    let (Some(outer), Some(inner)) = (rw.ir().def(first), rw.ir().def(second)) else {
        return false;
    };
    let wanted = rw.ir().value_type(rw.ir().result(second, 0));
    let source = rw.ir().operand(first, 0);
    let name = rw.ir().value_name_sym(rw.ir().operand(second, 0));
    // Inference gives dense layouts; with another one the pair stays.
    let dense = |ty| {
        rw.ir()
            .ty(ty)
            .as_tensor()
            .is_none_or(|t| t.encoding.is_none())
    };
    if !dense(wanted) || !dense(rw.ir().value_type(source)) {
        return false;
    }
    let Some(middle) = make(rw, second, inner, &[source], &borrowed(&b), None) else {
        return false;
    };
    rw.ir_mut().set_value_name(middle, name);
    match make(rw, second, outer, &[middle], &borrowed(&a), Some(wanted)) {
        Some(new) => {
            rw.replace(second, &[new]);
            true
        }
        None => false,
    }
}
