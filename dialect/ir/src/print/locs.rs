//! Locations as text.

use std::fmt::Write;

use super::ops::Printer;
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
            LocKind::Fused(fused) => {
                self.later_list("fused[", fused.parts.iter().map(|p| Piece::Loc(*p)), "]");
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
        LocKind::Fused(fused) => fused.parts.clone(),
    }
}

impl Printer<'_> {
    pub(super) fn location(&mut self, loc: LocId) {
        if self.options.local_scope || !is_nested(self.ir, loc) {
            return self.writer.loc(loc);
        }
        let id = self.location_id(loc);
        self.text(&format!("loc(#loc{id})"));
    }
    fn location_id(&mut self, loc: LocId) -> usize {
        let next = self.locations.len();
        let id = *self.location_ids.entry(loc).or_insert(next);
        if id == next {
            self.locations.push(loc);
        }
        id
    }
    /// The definitions of location aliases; parts that nest get aliases of their own.
    pub(super) fn location_aliases(&mut self) {
        let mut index = 0;
        while let Some(&loc) = self.locations.get(index) {
            self.text(&format!("#loc{index} = loc("));
            self.aliased_location(loc);
            self.text(")\n");
            index += 1;
        }
    }
    fn aliased_location(&mut self, loc: LocId) {
        let ir = self.ir;
        let children = children(ir, loc);
        let (open, between, close) = match ir.loc_kind(loc) {
            LocKind::CallSite { .. } => ("callsite(", " at ", ")"),
            LocKind::Fused(_) => ("fused[", ", ", "]"),
            LocKind::Name { name, .. } => {
                quote(&mut self.writer.out, ir.str(*name));
                ("(", "", ")")
            }
            _ => return self.writer.bare_loc(loc),
        };
        self.text(open);
        for (index, child) in children.into_iter().enumerate() {
            if index > 0 {
                self.text(between);
            }
            if is_nested(ir, child) {
                let id = self.location_id(child);
                self.text(&format!("#loc{id}"));
            } else {
                self.writer.bare_loc(child);
            }
        }
        self.text(close);
    }
}
