//! Fuser as a library: what the programs in `bin/` are made of.
//!
//! `driver` is `fuser-opt`; `compile` turns a module into an artifact; `session` loads, runs and checks programs; `run` is the
//! program `fuser-run`; `tool` is what the tools do alike; `split` takes a program apart into its segments and runs them as the whole. Files, arguments and the
//! environment are read here and in no other crate.
#![forbid(unsafe_code)]

pub mod compile;
pub mod driver;
pub mod reduce;
pub mod run;
pub mod session;
pub mod split;
pub mod tool;
pub mod translate;

use fuser_ir::diag::CodeDef;
use fuser_pass::Catalog;

/// A bug of ours, caught.
pub const INTERNAL: CodeDef = CodeDef {
    code: "FIR0699",
    title: "internal error",
    explanation: "A pass panicked or left a program that does not verify. That is a bug in Fuser, whatever the input. \
                  `fuser-opt` writes a reproducer: attach it to the report.",
    example: "$ fuser-run x.fir --passes=test-crash\n\
              task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
              %y = fusion.exp %x\n  \
              task.return %y\n\
              }",
};

/// What pipeline text may name: all passes, all named pipelines, the ops that passes are anchored on.
pub fn catalog() -> Catalog<'static> {
    Catalog {
        passes: fuser_passes::PASSES,
        pipelines: fuser_passes::PIPELINES,
        anchors: &[
            "builtin.module",
            "task.program",
            "task.segment",
            "task.sweep",
            "kernel.func",
        ],
    }
}
