//! A program under reduction: the IR and its text.
//!
//! The text is the printed IR, and the IR is the parsed text, so the final output is exactly what a test has seen.
//! Source locations are dropped, since no two candidates share them.

use fuser_ir::print::{self, PrintOptions};
use fuser_ir::{Diagnostic, Ir, Op, verify};

use crate::tool::load::Reader;

/// The requirements on a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rules {
    /// It need not verify (it must parse all the same).
    pub allow_invalid: bool,
    /// Locations are printed, and so kept.
    pub locations: bool,
}

/// A program and its text.
#[derive(Clone, Debug)]
pub struct Program {
    /// The storage.
    pub ir: Ir,
    /// The module.
    pub module: Op,
    /// The module as printed.
    pub text: String,
}

impl Program {
    /// Reads and checks `text`; the errors if it is no program.
    pub fn read(file: &str, text: &str, rules: Rules) -> Result<Self, Vec<Diagnostic>> {
        let reader = Reader {
            allow_unregistered: true,
            ..Reader::new(fuser_dialects::registry())
        };
        let (mut ir, module, found) = reader.parse(0, file, 1, text);
        let Some(module) = module else {
            return Err(found);
        };
        let found = verify(&mut ir, module);
        if found.has_errors() && !rules.allow_invalid {
            return Err(found.items);
        }
        ir.spans.clear();
        let text = text_of(&ir, module, rules);
        Ok(Self { ir, module, text })
    }
    /// Number of ops, the module not counted.
    pub fn ops(&self) -> usize {
        self.ir.walk(self.module).len() - 1
    }
}

/// An edited module as a program of its own, if it is one.
pub fn rebuilt(mut ir: Ir, module: Op, rules: Rules) -> Option<Program> {
    // Before printing: an edit may have left a value without a definition.
    if !rules.allow_invalid && verify(&mut ir, module).has_errors() {
        return None;
    }
    let text = text_of(&ir, module, rules);
    Program::read("candidate.fir", &text, rules).ok()
}

fn text_of(ir: &Ir, module: Op, rules: Rules) -> String {
    let options = PrintOptions {
        debuginfo: rules.locations,
        ..PrintOptions::default()
    };
    print::print(ir, module, &options)
}
