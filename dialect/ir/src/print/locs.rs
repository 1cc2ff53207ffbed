//! Locations as text.

use std::fmt::Write;

use super::text::{Piece, Writer, quote};
use crate::ir::Ir;
use crate::loc::{LocId, LocKind};

impl Writer<'_> {
    /// Writes a location without `loc(`; what nests in it goes on the stack.
    pub fn loc_piece(&mut self, loc: LocId) {
        let ir = self.ir;
        match ir.loc_kind(loc) {
            LocKind::Unknown => self.text("unknown"),
            LocKind::File { file, line, column } => {
                quote(&mut self.out, ir.str(*file));
                let _ = write!(self.out, ":{line}:{column}");
            }
            LocKind::Name { name, child } => {
                quote(&mut self.out, ir.str(*name));
                if let Some(child) = child {
                    self.later(
                        [Piece::Text("("), Piece::Loc(*child), Piece::Text(")")].into_iter(),
                    );
                }
            }
            LocKind::CallSite { callee, caller } => self.later(
                [
                    Piece::Text("callsite("),
                    Piece::Loc(*callee),
                    Piece::Text(" at "),
                    Piece::Loc(*caller),
                    Piece::Text(")"),
                ]
                .into_iter(),
            ),
            LocKind::Fused(parts) => {
                self.later_list("fused[", parts.iter().map(|p| Piece::Loc(*p)), "]");
            }
        }
    }
}

/// Whether a location has others in it, so that it prints as an alias.
pub fn is_nested(ir: &Ir, loc: LocId) -> bool {
    match ir.loc_kind(loc) {
        LocKind::Unknown | LocKind::File { .. } => false,
        LocKind::Name { child, .. } => child.is_some(),
        LocKind::CallSite { .. } | LocKind::Fused(_) => true,
    }
}

/// The locations directly inside one.
pub fn children(ir: &Ir, loc: LocId) -> Vec<LocId> {
    match ir.loc_kind(loc) {
        LocKind::Unknown | LocKind::File { .. } => Vec::new(),
        LocKind::Name { child, .. } => child.iter().copied().collect(),
        LocKind::CallSite { callee, caller } => vec![*callee, *caller],
        LocKind::Fused(parts) => parts.clone(),
    }
}
