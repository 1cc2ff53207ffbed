//! From IR to text, as the flags say.

use fuser_ir::print::{self, PrintOptions};
use fuser_ir::{Ir, Op};

use super::config::Printing;

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
