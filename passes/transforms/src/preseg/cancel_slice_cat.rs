//! Cancels a `cat` of all slices of one tensor.
//!
//! ```text
//! %a = fusion.slice %x starts [0, 0] shape [4, 3]
//! %b = fusion.slice %x starts [0, 3] shape [4, 5]     =>     %x itself, where %x is tensor<4x8xf32>
//! %y = fusion.cat %a, %b dim 1
//! ```
//!
//! The parts must be the whole tensor: of one tensor, in order, without a gap or an overlap along the axis, with step 1,
//! and whole along all other axes. Extents along the axis must be static.

use fuser_dialects::fusion;
use fuser_ir::rewrite::{Pattern, Rewriter};
use fuser_ir::types::Extent;
use fuser_ir::{Ir, Op, Value};
use fuser_pass::{PassDef, StatDef};

use super::{is_free, made_by, run_patterns};

/// `cancel-slice-cat`
pub static CANCEL_SLICE_CAT: PassDef = PassDef {
    name: "cancel-slice-cat",
    summary: "cancels a cat of all slices of one tensor",
    doc: "A `cat` whose operands are slices of one tensor, in order and complete along the axis, is that tensor.",
    statistics: &[StatDef {
        name: "rewrites",
        doc: "cats removed",
    }],
    run: |ctx| run_patterns(ctx, &[&CAT_OF_SLICES]),
    ..PassDef::EMPTY
};

static CAT_OF_SLICES: Pattern = Pattern {
    name: "cat-of-slices",
    summary: "cat(slice(x), slice(x)) => x",
    roots: &["fusion.cat"],
    benefit: 1,
    rewrite: cat_of_slices,
};

fn cat_of_slices(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = rw.ir();
    let Some(source) = whole(ir, op).filter(|_| is_free(ir, op)) else {
        return false;
    };
    rw.replace(op, &[source]);
    true
}

/// The tensor that the operands of `cat` are all parts of, in order.
fn whole(ir: &Ir, cat: Op) -> Option<Value> {
    let dim = usize::try_from(ir.int_of(cat, "dim")?).ok()?;
    let mut source = None;
    let mut at = 0i64;
    for part in ir.operands(cat) {
        let slice = made_by(ir, part, &fusion::SLICE, cat)?;
        let from = ir.operand(slice, 0);
        let starts = ir.i64s_of(slice, "starts")?;
        let steps = ir.i64s_of(slice, "strides").unwrap_or_default();
        let expected = |(axis, &start): (usize, &i64)| start == if axis == dim { at } else { 0 };
        let in_order = starts.iter().enumerate().all(expected) && steps.iter().all(|&s| s == 1);
        if *source.get_or_insert(from) != from || !in_order {
            return None;
        }
        let extent = ir.value_kind(part).as_tensor()?.dims.get(dim)?.extent;
        let Extent::Static(length) = extent else {
            return None;
        };
        at = at.checked_add(i64::try_from(length).ok()?)?;
    }
    // The very type: so nothing is missing, along no axis.
    source.filter(|&s| ir.value_type(s) == ir.value_type(ir.result(cat, 0)))
}
