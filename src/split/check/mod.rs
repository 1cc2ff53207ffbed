//! Checks of a folder with the parts of a program, before anything runs.
//!
//! | file | what is compared |
//! |---|---|
//! | `map.rs` | the map with itself, and with the hash in it |
//! | `original.rs` | the map with the original program |
//! | `part.rs` | the map with the program of a segment |
//!
//! Every mistake is reported, in the file in which it has to be mended, at the field or the word that is wrong.

mod map;
mod original;
mod part;

use fuser_ir::span::Span;
use fuser_ir::{Diagnostic, Ir, Place, Value};

pub(super) use map::{map, rest};
pub(super) use original::original;
pub(super) use part::part;

use super::BAD_MAP;
use super::locate::{self, Step};
use super::parts::Text;

/// Mistakes of a map.
pub(super) struct Mistakes<'a> {
    text: &'a Text,
    pub found: Vec<Diagnostic>,
}

impl<'a> Mistakes<'a> {
    pub fn of(text: &'a Text) -> Self {
        let found = Vec::new();
        Self { text, found }
    }
    /// A mistake in the field at `path`.
    pub fn at(&mut self, path: &[Step<'_>], message: String) {
        let error = Diagnostic::error(&BAD_MAP, field(self.text, path), message);
        self.found.push(error);
    }
}

/// The place of a field of a map.
pub(super) fn field(text: &Text, path: &[Step<'_>]) -> Place {
    let found = locate::find(&text.text, path);
    Place::Span {
        file: text.file,
        span: Span::new(found.start as u32, found.end as u32),
    }
}

/// A value's name as maps write it.
fn name(ir: &Ir, value: Value) -> String {
    format!("%{}", ir.value_name(value).unwrap_or_default())
}

/// True if two types, as text, are equal, or are tensor types that differ in their layout only.
fn same_but_layout(a: &str, b: &str) -> bool {
    let shape = |ty: &str| match ty.strip_prefix("tensor<") {
        Some(inside) => format!("tensor<{}", inside.split([',', '>']).next().unwrap_or("")),
        None => ty.to_owned(),
    };
    shape(a) == shape(b)
}
