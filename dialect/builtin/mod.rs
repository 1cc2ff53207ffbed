//! The `builtin` dialect: the module that a file is.

use fuser_ir::def::{DialectDef, OpDef, Syntax, Traits, region};

/// The dialect.
pub static DIALECT: DialectDef = DialectDef {
    name: "builtin",
    doc: "What every file has: a module. Types, attributes and locations are described in docs/language.md.",
    ops: &[&MODULE],
    discardable: &[],
};

/// `builtin.module`
pub static MODULE: OpDef = OpDef {
    name: "builtin.module",
    summary: "holds programs and kernels",
    doc: "The top of every file, made by the parser where it is not written. Its one block holds `task.program` and \
          `kernel.func` ops in any order; their symbols are unique. A module may have a name. It computes nothing.",
    example: "module @m {\n  task.program @f(%x: f32) -> f32 {\n    task.return %x\n  }\n}",
    regions: &[region("body", "the ops of the module")],
    syntax: Syntax {
        symbol: true,
        ..OpDef::EMPTY.syntax
    },
    traits: Traits::ISOLATED
        .union(Traits::SYMBOL_TABLE)
        .union(Traits::SINGLE_BLOCK)
        .union(Traits::NO_TERMINATOR)
        .union(Traits::GRAPH_REGION),
    verify: Some(crate::task::calls::module),
    ..OpDef::EMPTY
};
