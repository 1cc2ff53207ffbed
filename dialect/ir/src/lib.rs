//! The IR of Fuser: storage, types, attributes, op tables, verifier, printer, lexer, parser, diagnostics, rewriting.
//!
//! Guarantees: ids are deterministic; nothing recurses on the depth of the input; use lists are exact.
//! Knows nothing of any dialect (they come in as tables), of files, of the environment or of passes.
#![forbid(unsafe_code)]

pub mod attr;
pub mod build;
pub mod check;
pub mod clone;
pub mod codes;
pub mod def;
pub mod describe;
pub mod diag;
pub mod dominance;
mod elements;
pub mod entity;
pub mod equal;
pub mod float;
pub mod intern;
pub mod ir;
pub mod layout;
pub mod lex;
pub mod limits;
mod lists;
pub mod loc;
pub mod maps;
pub mod parse;
mod part;
pub mod print;
pub mod render;
pub mod rewrite;
pub mod source;
pub mod span;
pub mod suggest;
pub mod symbols;
pub mod types;
pub mod verify;
pub mod walk;

pub use attr::{AttrId, AttrKind};
pub use build::Builder;
pub use def::{OpDef, Registry, Traits};
pub use diag::{Diagnostic, Diagnostics, Place, Severity};
pub use dominance::Dominance;
pub use intern::Sym;
pub use ir::{Block, Def, Ir, NewOp, Op, Region, Use, Value};
pub use loc::{LocId, LocKind};
pub use types::{DType, Dim, Extent, TensorType, TypeId, TypeKind};
pub use verify::verify;

/// The attribute of a module that keeps a file's resource section (`{-# ... #-}`), as text.
pub const RESOURCES: &str = "builtin.resources";

/// All diagnostic codes of this crate: lexer, parser, limits, and an op against its table.
pub fn codes() -> impl Iterator<Item = &'static diag::CodeDef> {
    codes::CODES
        .iter()
        .chain(check::CODES)
        .chain(verify::codes::CODES)
}
