//! Import and export of programs of other systems: StableHLO text, as JAX prints it, and definitions that nvFuser
//! prints.
//!
//! ```text
//! text -> tokens -> syntax tree -> ops of the fusion dialect, by a table of each format
//! ```
//!
//! Each format has its own lexer (logos) and grammar (lalrpop). A construct that Fuser cannot compute is refused by
//! name, at its location, and the rest is still read. The resulting program is verified; names and locations of the
//! text are kept. Never panics, whatever the text; recursion has stated depth limits. Does no file input or output and
//! runs nothing.
#![forbid(unsafe_code)]

pub mod codes;
pub mod nvfuser;
mod power;
mod program;
pub mod stablehlo;

use std::collections::BTreeMap;
use std::sync::Arc;

use fuser_ir::def::Registry;
use fuser_ir::{Diagnostics, Ir, Op};

/// The formats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// StableHLO in MLIR's text form.
    StableHlo,
    /// The Python definition of a fusion.
    NvFuser,
}

/// The formats by name.
pub const FORMATS: &[(&str, Format)] = &[
    ("stablehlo", Format::StableHlo),
    ("nvfuser-python", Format::NvFuser),
];

/// The module that `text` describes, with warnings; or its mistakes. `file` is the number of the text in the caller's
/// source map, `name` the name of its file. `numbers` gives lengths of extents and values of scalar inputs that a
/// definition of nvFuser leaves open, by name; a module of StableHLO has none.
pub fn import(
    format: Format,
    registry: &Arc<Registry>,
    file: u32,
    name: &str,
    text: &str,
    numbers: &BTreeMap<String, nvfuser::Number>,
) -> Result<(Ir, Op, Diagnostics), Diagnostics> {
    let draft = program::Draft::new(registry.clone(), file, name, text)?;
    match format {
        Format::StableHlo => stablehlo::import(draft, text),
        Format::NvFuser => nvfuser::import(draft, text, numbers),
    }
}

/// True if `module` has ops on complex numbers with another meaning in the format, so that their parts must be
/// exported.
pub fn needs_parts(format: Format, ir: &Ir, module: Op) -> bool {
    format == Format::StableHlo && stablehlo::needs_parts(ir, module)
}

/// The text of the only program of `module` in a format; or the errors of ops that the format cannot express.
pub fn export(format: Format, ir: &Ir, module: Op) -> Result<String, Diagnostics> {
    match format {
        Format::StableHlo => stablehlo::export(ir, module),
        Format::NvFuser => nvfuser::export(ir, module),
    }
}
