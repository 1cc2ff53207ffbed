//! Places of ops, for diagnostics and remarks.

use fuser_ir::{Ir, Op, Place, check};

/// The source text of `op` where it was parsed, else what its location says.
pub fn place_of(ir: &Ir, op: Op) -> Place {
    match ir.spans.get(op) {
        Some(spans) => Place::Span {
            file: spans.file,
            span: spans.name,
        },
        None => check::loc_place(ir, ir.op_loc(op)),
    }
}
