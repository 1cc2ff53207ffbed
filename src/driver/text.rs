//! Between text and IR: parse and print as the flags say.

use std::sync::Arc;

use fuser_ir::def::Registry;
use fuser_ir::limits::Limits;
use fuser_ir::parse::{self, ParseOptions};
use fuser_ir::print::{self, PrintOptions};
use fuser_ir::{Diagnostic, Ir, Op};

use super::config::{Config, Printing};

/// Parses texts in fresh contexts.
#[derive(Clone)]
pub struct Reader {
    registry: Arc<Registry>,
    allow_unregistered: bool,
    limits: Limits,
}

impl Reader {
    /// A reader as the flags say.
    pub fn new(registry: Arc<Registry>, config: &Config) -> Self {
        Self {
            registry,
            allow_unregistered: config.allow_unregistered,
            limits: config.source_limits,
        }
    }
    /// Parses source `file`, which begins at line `first_line` of the file called `name`. The module is there if there was
    /// no error.
    pub fn read(
        &self,
        file: u32,
        name: &str,
        first_line: u32,
        text: &str,
    ) -> (Ir, Option<Op>, Vec<Diagnostic>) {
        let options = ParseOptions {
            file_name: name.to_owned(),
            first_line,
            allow_unregistered: self.allow_unregistered,
            limits: self.limits,
        };
        let mut ir = Ir::new(self.registry.clone());
        let result = parse::parse(&mut ir, file, text, &options);
        (ir, result.module, result.diagnostics.items)
    }
    /// Parses text that we printed.
    pub fn read_again(&self, text: &str) -> Result<(Ir, Op), Vec<Diagnostic>> {
        let (ir, module, found) = self.read(u32::MAX, "<printed>", 1, text);
        match module {
            Some(module) if !found.iter().any(Diagnostic::is_error) => Ok((ir, module)),
            _ => Err(found),
        }
    }
}

/// Prints `op` with all inside; no line break at the end.
pub fn print(ir: &Ir, op: Op, printing: &Printing) -> String {
    let options = PrintOptions {
        generic: printing.generic,
        debuginfo: printing.debuginfo,
        types: printing.types,
        anonymous: printing.anonymous,
        elide: printing.elide_larger,
        ..PrintOptions::default()
    };
    print::print(ir, op, &options).trim_end().to_owned()
}

/// The form that shows everything there is.
pub fn exact(ir: &Ir, op: Op) -> String {
    print::print(ir, op, &PrintOptions::canonical())
}
