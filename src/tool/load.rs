//! From a text to a module.

use std::sync::Arc;

use fuser_ir::def::Registry;
use fuser_ir::limits::Limits;
use fuser_ir::parse::{self, ParseOptions};
use fuser_ir::{Diagnostic, Diagnostics, Ir, Op};

use super::foreign;

/// Makes modules of texts, each in a context of its own.
#[derive(Clone)]
pub struct Reader {
    /// The dialects that are known.
    pub registry: Arc<Registry>,
    /// Keeps ops of other dialects, in generic form.
    pub allow_unregistered: bool,
    /// The limits on a text.
    pub limits: Limits,
}

impl Reader {
    /// A reader of programs: all dialects, no others, the usual limits.
    pub fn new(registry: Arc<Registry>) -> Self {
        Self {
            registry,
            allow_unregistered: false,
            limits: Limits::default(),
        }
    }
    /// Parses source `file`, which starts at line `first_line` of the file `name`. The module is present if there was
    /// no error.
    pub fn parse(
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
        if result.module.is_none()
            && let Some(told) = foreign::of_text(&self.registry, file, name, text)
        {
            // Mistakes of a text of another system say nothing.
            return (ir, None, vec![told]);
        }
        (ir, result.module, result.diagnostics.items)
    }
    /// Parses text that we printed.
    pub fn parse_again(&self, text: &str) -> Result<(Ir, Op), Vec<Diagnostic>> {
        let (ir, module, found) = self.parse(u32::MAX, "<printed>", 1, text);
        match module {
            Some(module) if !found.iter().any(Diagnostic::is_error) => Ok((ir, module)),
            _ => Err(found),
        }
    }
    /// Parses and verifies source `file`, called `name`. Warnings come with the module.
    pub fn load(
        &self,
        file: u32,
        name: &str,
        text: &str,
    ) -> Result<(Ir, Op, Diagnostics), Diagnostics> {
        let (mut ir, module, items) = self.parse(file, name, 1, text);
        let mut found = Diagnostics { items };
        let Some(module) = module.filter(|_| !found.has_errors()) else {
            return Err(found);
        };
        found.items.extend(fuser_ir::verify(&mut ir, module).items);
        match found.has_errors() {
            true => Err(found),
            false => Ok((ir, module, found)),
        }
    }
}

/// The name of the file at `path` in messages.
pub fn display_name(path: &str) -> &str {
    if path == "-" { "<stdin>" } else { path }
}
