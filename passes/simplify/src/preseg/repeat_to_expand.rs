//! A tensor that stands several times beside itself becomes a broadcast.
//!
//! ```text
//! %y = fusion.cat %x, %x dim 0              %b = fusion.broadcast %x dims [1] shape [2, 4]
//!                                     =>    %c = fusion.copy %b dense
//!                                           %y = fusion.reshape %c shape [8]
//! ```
//!
//! Each element of the result is the same element of x as before. A broadcast, a copy and a reshape have axes like all other
//! ops, so the repeat shares a kernel with what surrounds it, reads x once, and needs no window.
//!
//! Only for a `cat` of two operands or more that are all one value, and only where every axis of the result is a plain one, as
//! `copy dense` makes them. Never touches what carries a hint.

use fuser_dialects::fusion;
use fuser_ir::attr::AttrKind;
use fuser_ir::rewrite::{Pattern, Rewriter};
use fuser_ir::types::{Dim, Extent};
use fuser_ir::{Op, TypeId, Value};
use fuser_pass::{PassDef, StatDef};

use super::{is_free, make, run_patterns};

/// `repeat-to-expand`
pub static REPEAT_TO_EXPAND: PassDef = PassDef {
    name: "repeat-to-expand",
    summary: "turns a cat of one tensor with itself into a broadcast",
    doc: "A `cat` whose operands are all one tensor becomes a `broadcast` along a new axis, a dense `copy`, and a `reshape` that \
          joins the new axis and the old one.",
    statistics: &[StatDef {
        name: "rewrites",
        doc: "cats replaced",
    }],
    run: |ctx| run_patterns(ctx, &[&REPEAT]),
    ..PassDef::EMPTY
};

static REPEAT: Pattern = Pattern {
    name: "repeat",
    summary: "cat(x, x, ...) => reshape(copy(broadcast(x)))",
    roots: &["fusion.cat"],
    benefit: 1,
    rewrite: repeat,
};

fn repeat(rw: &mut Rewriter<'_>, cat: Op) -> bool {
    let ir = rw.ir();
    let count = ir.operand_count(cat) as u64;
    let x = ir.operand(cat, 0);
    let same = ir.operands(cat).all(|v| v == x);
    if count < 2 || !same || !is_free(ir, cat) {
        return false;
    }
    let result = ir.result(cat, 0);
    let dims = |v: Value| {
        let tensor = ir.value_kind(v).as_tensor();
        let dense = tensor.filter(|t| t.encoding.is_none());
        dense.map(|t| t.dims.clone())
    };
    let (Some(from), Some(to)) = (dims(x), dims(result)) else {
        return false;
    };
    let dim = ir.int_of(cat, "dim").and_then(|d| usize::try_from(d).ok());
    let Some(dim) = dim.filter(|&d| d < from.len()) else {
        return false;
    };
    // Inference says no to an unknown extent, but only after ops were made.
    let odd = |d: &Dim| d.broadcast || d.extent == Extent::Unknown;
    if from.iter().chain(&to).any(odd) {
        return false;
    }
    let wanted = ir.value_type(result);
    match repeated(rw, cat, x, (dim, count), &to, wanted) {
        Some(new) => {
            rw.replace(cat, &[new]);
            true
        }
        None => false,
    }
}

/// `count` copies of `x` concatenated along `dim`, a tensor of shape `to` and type `wanted`, inserted before `anchor`.
pub(super) fn repeated(
    rw: &mut Rewriter<'_>,
    anchor: Op,
    x: Value,
    (dim, count): (usize, u64),
    to: &[Dim],
    wanted: TypeId,
) -> Option<Value> {
    let mut wide = rw.ir().value_kind(x).as_tensor()?.dims.clone();
    wide.insert(dim, Dim::fixed(count));
    let places = (0..wide.len()).filter(|&i| i != dim).map(|i| i as i64);
    let places: Vec<i64> = places.collect();
    let ir = rw.ir_mut();
    let places = ir.i64_array_attr(&places);
    let wide = ir.attr(AttrKind::Extents(wide));
    let dense = ir.attr(AttrKind::Unit);
    let shape = ir.attr(AttrKind::Extents(to.to_vec()));
    let clauses = [("dims", places), ("shape", wide)];
    let spread = make(rw, anchor, &fusion::BROADCAST, &[x], &clauses, None)?;
    let stored = make(
        rw,
        anchor,
        &fusion::COPY,
        &[spread],
        &[("dense", dense)],
        None,
    )?;
    make(
        rw,
        anchor,
        &fusion::RESHAPE,
        &[stored],
        &[("shape", shape)],
        Some(wanted),
    )
}
