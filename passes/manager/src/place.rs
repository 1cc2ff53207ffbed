//! Where an op stands, for diagnostics and remarks.

use fuser_ir::{Ir, LocId, LocKind, Op, Place};

/// The source text of `op` where it was parsed, else what its location says.
pub fn place_of(ir: &Ir, op: Op) -> Place {
    match &ir.spans[op] {
        Some(spans) => Place::Span {
            file: spans.file,
            span: spans.name,
        },
        None => loc_place(ir, ir.op_loc(op)),
    }
}

/// The file place that a location leads to, looking through names, call sites and the first of fused ones.
fn loc_place(ir: &Ir, loc: LocId) -> Place {
    let mut next = Some(loc);
    while let Some(loc) = next {
        next = match ir.loc_kind(loc) {
            LocKind::File { file, line, column } => {
                let file = ir.str(*file).to_owned();
                let (line, column) = (*line, *column);
                return Place::Line { file, line, column };
            }
            LocKind::Name { child, .. } => *child,
            LocKind::CallSite { callee, .. } => Some(*callee),
            LocKind::Fused(parts) => parts.first().copied(),
            LocKind::Unknown => None,
        };
    }
    Place::Unknown
}
