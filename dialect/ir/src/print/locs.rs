//! Locations as text.

use std::fmt::{self, Write};

use super::ops::Printer;
use super::text::{Piece, Writer, quote};
use crate::ir::Ir;
use crate::loc::{LocId, LocKind};
use crate::part::Part;

impl Writer<'_> {
    /// Writes a location without `loc(`; nested ones go on the stack.
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

/// True if a location contains others, so that it prints as an alias.
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
        self.text("loc(");
        self.inner_location(loc);
        self.text(")");
    }
    /// Writes a location without `loc(`; one with others inside as an alias.
    fn inner_location(&mut self, loc: LocId) {
        match !self.options.local_scope && is_nested(self.ir, loc) {
            true => self.writer.alias(loc.into()),
            false => self.writer.bare_loc(loc),
        }
    }
    /// Writes the definitions of aliases; parts that have aliases too are defined after them.
    pub(super) fn aliases(&mut self) -> fmt::Result {
        let mut index = 0;
        while let Some(part) = self.writer.aliased(index) {
            self.writer.alias(part);
            self.text(" = ");
            match part {
                Part::Loc(loc) => {
                    self.text("loc(");
                    self.aliased_location(loc);
                    self.text(")");
                }
                part => self.writer.whole(part),
            }
            self.text("\n");
            self.flush_chunk()?;
            index += 1;
        }
        Ok(())
    }
    fn aliased_location(&mut self, loc: LocId) {
        let ir = self.ir;
        let children = children(ir, loc);
        let (open, between, close) = match ir.loc_kind(loc) {
            LocKind::CallSite { .. } => ("callsite(", " at ", ")"),
            LocKind::Fused(_) => ("fused[", ", ", "]"),
            LocKind::Name {
                name,
                child: Some(_),
            } => {
                quote(&mut self.writer.out, ir.str(*name));
                ("(", "", ")")
            }
            _ => return self.writer.whole(loc.into()),
        };
        self.text(open);
        for (index, child) in children.into_iter().enumerate() {
            if index > 0 {
                self.text(between);
            }
            self.inner_location(child);
        }
        self.text(close);
    }
}
