//! Oracles: each takes a case through some part of the compiler and reports broken promises.
//!
//! | module | promise |
//! |---|---|
//! | `verify` | what a generator calls valid, the verifier accepts |
//! | `execute` | the interpreter runs it; what all other comparisons refer to |
//! | `passes` | after every pass the program verifies and means the same |
//! | `compiled` | compiled code computes what the interpreter does, on any number of threads, within its buffers |
//! | `partner` | a case changed without changing its meaning gives the same results |
//! | `ptx` | what is compiled for a GPU is assembled |
//! | `text` | printed and parsed again it is the same program, in every form |
//! | `guard` | nothing panics |
//!
//! A refusal is a finding as a wrong result is (`refusal`): a program that verifies compiles.

pub mod compiled;
pub mod execute;
pub mod guard;
pub mod parse;
pub mod partner;
pub mod passes;
pub mod ptx;
pub mod refusal;
pub mod text;
pub mod verify;

use std::fmt;

use fuser_ir::Diagnostics;

/// A broken promise.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The oracle and the stage: `passes: canonicalize`.
    pub stage: String,
    /// A sentence on the broken promise.
    pub what: String,
}

impl Finding {
    /// A finding.
    pub fn new(stage: impl Into<String>, what: impl Into<String>) -> Self {
        let (stage, what) = (stage.into(), what.into());
        Self { stage, what }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.stage, self.what)
    }
}

/// The first lines of diagnostics, with codes.
pub fn summary(diagnostics: &Diagnostics) -> String {
    let lines = diagnostics.items.iter().take(3);
    let lines: Vec<String> = lines.map(|d| format!("{} {}", d.code, d.message)).collect();
    lines.join("; ")
}
