//! IR to text.
//!
//! The custom form follows the op's table, as the parser does; an op that it cannot express (unknown, or against its
//! table) is printed in generic form, so everything prints. There are two passes: [`names`] gives every value a name
//! that is unique where it is visible, and [`ops`] writes. Both walk with explicit stacks; time is near-linear in the
//! size of the text. Long parts that occur in many places get an alias ([`shared`]), so that the length of the text is
//! in proportion to the program.
//!
//! Guarantees: the same IR gives the same text; `parse(print(m))` is `m`, names included, and locations with
//! `debuginfo`. Never fails, never changes the IR.

mod attrs;
mod custom;
mod locs;
mod names;
mod ops;
mod shared;
mod text;
mod types;

use std::fmt;

use crate::attr::AttrId;
use crate::ir::{Ir, Op, Value};
use crate::loc::LocId;
use crate::types::TypeId;

pub use names::{clean, distinct, name_values};
pub use text::{is_bare_name, quote};
pub use types::expr as print_expr;

/// Options of the printer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PrintOptions {
    /// Print every op in generic form.
    pub generic: bool,
    /// Print locations.
    pub debuginfo: bool,
    /// Write all result types; otherwise only those that the parser would not infer.
    pub types: bool,
    /// Number all values instead of printing their names.
    pub anonymous: bool,
    /// Leave out the elements of dense attributes that have more than so many. Such text is for reading.
    pub elide: Option<usize>,
    /// Writes nested locations in place instead of as aliases at the end, unless they are long and occur in many
    /// places.
    pub local_scope: bool,
}

impl Default for PrintOptions {
    fn default() -> Self {
        Self {
            generic: false,
            debuginfo: false,
            types: true,
            anonymous: false,
            elide: None,
            local_scope: false,
        }
    }
}

impl PrintOptions {
    /// Generic form with locations: text that differs exactly where programs differ.
    pub fn canonical() -> Self {
        Self {
            generic: true,
            debuginfo: true,
            ..Self::default()
        }
    }
}

/// The text of `op` and everything in it.
pub fn print(ir: &Ir, op: Op, options: &PrintOptions) -> String {
    let mut text = String::new();
    // A `String` takes everything.
    let _ = print_to(&mut text, ir, op, options);
    text
}

/// Writes the text of `op` to `out`.
pub fn print_to(out: &mut dyn fmt::Write, ir: &Ir, op: Op, options: &PrintOptions) -> fmt::Result {
    ops::Printer::new(ir, *options, out).program(op)
}

/// The text of a type.
pub fn print_type(ir: &Ir, ty: TypeId) -> String {
    let mut writer = text::Writer::new(ir, None);
    writer.ty(ty);
    writer.out
}

/// The text of a type, or a prefix of a longer one: at least `most` bytes.
pub fn print_type_start(ir: &Ir, ty: TypeId, most: usize) -> String {
    let mut writer = text::Writer::new(ir, None);
    writer.most = most;
    writer.ty(ty);
    writer.out
}

/// The text of an attribute.
pub fn print_attr(ir: &Ir, attr: AttrId) -> String {
    let mut writer = text::Writer::new(ir, None);
    writer.attr(attr);
    writer.out
}

/// The text of a location, without aliases: `loc(...)`.
pub fn print_loc(ir: &Ir, loc: LocId) -> String {
    let mut writer = text::Writer::new(ir, None);
    writer.loc(loc);
    writer.out
}

/// The name of a value as it prints in the whole program: `%x`, `%3#1`. Names the isolated region around it; for
/// messages.
pub fn print_value(ir: &Ir, value: Value) -> String {
    let block = ir.def_block(value);
    let mut root = block.and_then(|b| ir.block_parent_op(b));
    let isolated = |op: &Op| names::is_isolated(ir, *op);
    while let Some(parent) = root
        .filter(|op| !isolated(op))
        .and_then(|op| ir.parent_op(op))
    {
        root = Some(parent);
    }
    let around = root.as_ref().is_some_and(isolated);
    let root = root.or(ir.def_op(value));
    let mut names = names::Names::new(ir, false);
    match root {
        Some(op) if around => names.enter(op),
        Some(op) => names.outside(op),
        None => {}
    }
    names.text(value)
}
