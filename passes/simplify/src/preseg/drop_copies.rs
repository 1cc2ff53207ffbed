//! Removes copies without effect, and duplicate boundaries.
//!
//! ```text
//! %1 = fusion.copy %0
//! %2 = fusion.exp %1       =>    %2 = fusion.exp %0
//! ```
//!
//! Two `segment_set` of one value are one boundary: the value is stored once for all users.
//!
//! A copy whose result has the operand's type is the identity on values. Frontends emit such copies freely, and they
//! hide shape ops that would compose. A copy that the program returns stays, because its user wants separate memory. A
//! copy with a hint stays too.
//!
//! ```text
//! %1 = fusion.exp %0 : tensor<4x8xf32>
//! %2 = fusion.copy %1 : tensor<4x8xf32, [1, 0]>    =>    %2 = fusion.exp %0 : tensor<4x8xf32, [1, 0]>
//! ```
//!
//! A copy states how a computed value lies in memory. The value has that layout itself, if all its readers read any
//! order of axes: no reshape reads it, and the program does not return it.

use fuser_dialects::fusion::maps;
use fuser_ir::def::OpClass;
use fuser_ir::rewrite::{Pattern, Rewriter};
use fuser_ir::{Ir, Op, Traits, layout};
use fuser_pass::{PassDef, StatDef};

use super::{is_free, made_near, run_patterns};

/// `drop-copies`
pub static DROP_COPIES: PassDef = PassDef {
    name: "drop-copies",
    summary: "drops copies that change nothing",
    doc: "A `copy` whose result has the type of its operand, and which the program does not return, is its operand. A \
          computed value that a `copy` and ops of any order read has the layout of the copy. A second `segment_set` of one value is the \
          first.",
    statistics: &[StatDef {
        name: "rewrites",
        doc: "copies dropped",
    }],
    run: |ctx| run_patterns(ctx, &[&IDENTITY_COPY, &LAID_OUT_COPY, &SAME_BOUNDARY]),
    ..PassDef::EMPTY
};

static IDENTITY_COPY: Pattern = Pattern {
    name: "identity-copy",
    summary: "copy(x) => x, of the same type",
    roots: &["fusion.copy"],
    benefit: 1,
    rewrite: identity_copy,
};

static LAID_OUT_COPY: Pattern = Pattern {
    name: "laid-out-copy",
    summary: "copy(f(x)) of a stated layout => f(x) of that layout",
    roots: &["fusion.copy"],
    benefit: 1,
    rewrite: laid_out_copy,
};

static SAME_BOUNDARY: Pattern = Pattern {
    name: "same-boundary",
    summary: "segment_set(x), segment_set(x) => one",
    roots: &["fusion.segment_set"],
    benefit: 1,
    rewrite: same_boundary,
};

fn same_boundary(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = rw.ir_mut();
    let source = ir.operand(op, 0);
    let plain =
        |ir: &Ir, op: Op| ir.has(op, Traits::BARRIER) && ir.inherent_attrs(op).next().is_none();
    let beside = |&u: &Op| u != op && plain(ir, u) && ir.parent_block(u) == ir.parent_block(op);
    let Some(first) = ir.users(source).find(beside).filter(|_| plain(ir, op)) else {
        return false;
    };
    let (kept, gone) = (ir.result(first, 0), ir.result(op, 0));
    if !ir.is_before(first, op) || ir.value_type(kept) != ir.value_type(gone) {
        return false;
    }
    rw.replace(op, &[kept]);
    true
}

fn identity_copy(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = rw.ir();
    let (source, result) = (ir.operand(op, 0), ir.result(op, 0));
    let same = ir.value_type(source) == ir.value_type(result);
    if !same || !is_free(ir, op) || is_returned(ir, op) {
        return false;
    }
    rw.replace(op, &[source]);
    true
}

fn laid_out_copy(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = rw.ir();
    let (source, result) = (ir.operand(op, 0), ir.result(op, 0));
    let free = |made: &Op| is_free(ir, op) && ir.op_regions(*made).is_empty();
    let Some(made) = made_near(ir, source, op).filter(free) else {
        return false;
    };
    let (given, wanted) = (ir.value_kind(source), ir.value_kind(result));
    let (Some(given), Some(wanted)) = (given.as_tensor(), wanted.as_tensor()) else {
        return false;
    };
    let dims = given.dims == wanted.dims && given.dtype == wanted.dtype;
    let open = wanted.encoding.is_some() && (given.encoding.is_none() || given == wanted);
    let order = layout::order(ir, wanted);
    // Calls store rows or columns without gaps.
    let inner = match ir.def(made).map(|def| def.class) {
        Some(OpClass::Elementwise | OpClass::Reduction | OpClass::Scan) => order.len(),
        Some(OpClass::Contraction | OpClass::Attention) => 2,
        Some(OpClass::Convolution) => order.len().saturating_sub(1),
        _ => return false,
    };
    let fits = order.last().is_none_or(|&axis| axis + inner >= order.len());
    let reads = |user: Op| user == op || reads_any_order(ir, user);
    if !(dims && open && fits && ir.users(source).all(reads)) {
        return false;
    }
    let ty = ir.value_type(result);
    rw.ir_mut().set_value_type(source, ty);
    rw.replace(op, &[source]);
    true
}

/// True for an op that reads an operand in any order of axes.
fn reads_any_order(ir: &Ir, op: Op) -> bool {
    let class = ir.def(op).map(|def| def.class);
    let reshapes = ir.def(op).is_some_and(|def| def.has_maps(&maps::RESHAPE));
    let shapes = class == Some(OpClass::Shape) && !reshapes;
    let computes = matches!(
        class,
        Some(
            OpClass::Elementwise | OpClass::Reduction | OpClass::Contraction | OpClass::Convolution
        )
    );
    is_free(ir, op) && (shapes || computes)
}

fn is_returned(ir: &Ir, op: Op) -> bool {
    let mut users = ir.results(op).iter().flat_map(|&r| ir.users(r));
    users.any(|user| ir.has(user, Traits::TERMINATOR))
}
