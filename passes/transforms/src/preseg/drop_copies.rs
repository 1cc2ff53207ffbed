//! Drops copies that change nothing.
//!
//! ```text
//! %1 = fusion.copy %0
//! %2 = fusion.exp %1       =>    %2 = fusion.exp %0
//! ```
//!
//! A copy whose result has the operand's type is the identity on values; frontends emit them freely, and they hide from
//! each other the shape ops that would compose. A copy that the program returns stays: its user wants memory of its own. So
//! does one with a hint, and `segment_set`.

use fuser_ir::Traits;
use fuser_ir::rewrite::{Pattern, Rewriter};
use fuser_ir::{Ir, Op};
use fuser_pass::{PassDef, StatDef};

use super::{is_free, run_patterns};

/// `drop-copies`
pub static DROP_COPIES: PassDef = PassDef {
    name: "drop-copies",
    summary: "drops copies that change nothing",
    doc: "A `copy` whose result has the type of its operand, and which the program does not return, is its operand.",
    statistics: &[StatDef {
        name: "rewrites",
        doc: "copies dropped",
    }],
    run: |ctx| run_patterns(ctx, &[&IDENTITY_COPY]),
    ..PassDef::EMPTY
};

static IDENTITY_COPY: Pattern = Pattern {
    name: "identity-copy",
    summary: "copy(x) => x, of the same type",
    roots: &["fusion.copy"],
    benefit: 1,
    rewrite: identity_copy,
};

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

fn is_returned(ir: &Ir, op: Op) -> bool {
    let mut users = ir.results(op).iter().flat_map(|&r| ir.users(r));
    users.any(|user| ir.has(user, Traits::TERMINATOR))
}
