//! The dialects of Fuser, as tables: `builtin` (module), `fusion` (tensor ops), `task` (programs, segments, sweeps,
//! phases), `kernel` (loops and memory).
//!
//! An op is declared once, as a `static` [`OpDef`](fuser_ir::OpDef) whose `doc` is its definition; parser, printer,
//! verifier, docs and tests follow from it. The file of a table also has the op's type inference, its verifier and its
//! folds.
//!
//! Knows nothing of passes, code generation or the interpreter.
#![forbid(unsafe_code)]

pub mod builtin;
pub mod docs;
mod foreign;
pub mod fusion;
pub mod kernel;
pub mod task;

use std::sync::Arc;

use fuser_ir::def::{DialectDef, Foreign, Registry};
use fuser_ir::diag::CodeDef;

/// All dialects, in the order of the docs.
pub static DIALECTS: &[&DialectDef] = &[
    &builtin::DIALECT,
    &fusion::DIALECT,
    &task::DIALECT,
    &kernel::DIALECT,
];

/// A registry of [`DIALECTS`].
pub fn registry() -> Arc<Registry> {
    Arc::new(Registry::new(DIALECTS).with_foreign(Foreign {
        names: foreign::NAMES,
        composed: foreign::COMPOSED,
        absent: foreign::ABSENT,
        clauses: foreign::CLAUSES,
        second: foreign::SECOND,
    }))
}

/// The diagnostic codes of the dialects: FIR03xx, FIR04xx, FIR05xx.
pub fn codes() -> impl Iterator<Item = &'static CodeDef> {
    let tables = [fusion::codes::CODES, task::CODES, kernel::CODES];
    tables.into_iter().flatten()
}
