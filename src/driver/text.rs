//! From IR to text, as the flags say.

use std::fmt;

use fuser_ir::print::{self, PrintOptions};
use fuser_ir::{Ir, Op};

use super::config::Printing;

/// Prints `op` with all inside; no line break at the end.
pub fn print(ir: &Ir, op: Op, printing: &Printing) -> String {
    let mut text = print::print(ir, op, &options(printing));
    text.truncate(text.trim_end().len());
    text
}

/// Prints to `out` in blocks, with the line break at the end.
pub fn print_to(out: &mut dyn fmt::Write, ir: &Ir, op: Op, printing: &Printing) -> fmt::Result {
    print::print_to(out, ir, op, &options(printing))
}

fn options(printing: &Printing) -> PrintOptions {
    PrintOptions {
        generic: printing.generic,
        debuginfo: printing.debuginfo,
        types: printing.types,
        anonymous: printing.anonymous,
        elide: printing.elide_larger,
        ..PrintOptions::default()
    }
}

/// The form that shows everything there is.
pub fn exact(ir: &Ir, op: Op) -> String {
    print::print(ir, op, &PrintOptions::canonical())
}
