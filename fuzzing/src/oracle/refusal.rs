//! The refusals that keep the promise that a program which verifies compiles.
//!
//! Every refusal of the compiler is a finding, except for those in [`STATED`]: documented limits on which a user can
//! act.

use fuser_ir::Diagnostics;

use super::{Finding, summary};

/// The author of the compiled kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Written {
    /// The compiler chose kernels for a program of tensor ops.
    Program,
    /// Kernels were written by hand, that is by a generator.
    Kernels,
}

/// A limit that is stated.
struct Limit {
    /// The author of the kernels that it is about.
    of: Written,
    /// The code of the diagnostic.
    code: &'static str,
    /// Text that its message contains.
    text: &'static str,
}

/// The limits: GPU kernels whose author exceeds the resources of the GPU.
static STATED: &[Limit] = &[
    Limit {
        of: Written::Kernels,
        code: "FIR0815",
        text: "allocates local memory of a dynamic size",
    },
    Limit {
        of: Written::Kernels,
        code: "FIR0814",
        text: "is reduced over",
    },
];

/// The refusal as text if every error is a stated limit; otherwise a finding.
pub fn judge(
    stage: impl Into<String>,
    diagnostics: &Diagnostics,
    written: Written,
) -> Result<String, Finding> {
    let stated = |d: &fuser_ir::Diagnostic| {
        let limits = STATED.iter().filter(|limit| limit.of == written);
        !d.is_error()
            || limits
                .into_iter()
                .any(|l| d.code == l.code && d.message.contains(l.text))
    };
    let text = summary(diagnostics);
    match diagnostics.items.iter().all(stated) {
        true => Ok(text),
        false => Err(Finding::new(stage, format!("refused: {text}"))),
    }
}
