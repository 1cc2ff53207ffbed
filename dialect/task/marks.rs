//! Marks at the arguments and results of a program: entries of their dictionaries that say what callers see in place of the type.

use fuser_ir::attr::{AttrId, AttrKind};
use fuser_ir::{Ir, Op};

/// The two lists of attributes: of arguments, of results.
pub const LISTS: [&str; 2] = ["arg_attrs", "res_attrs"];

/// True if the entry at `index` of a list carries the mark `name`.
pub fn has(ir: &Ir, program: Op, list: &str, index: usize, name: &str) -> bool {
    let Some(AttrKind::Array(items)) = ir.attr_of(program, list) else {
        return false;
    };
    let entry = items.get(index).map(|&item| ir.attr_kind(item));
    matches!(entry, Some(AttrKind::Dict(keys)) if keys.iter().any(|(key, _)| ir.str(*key) == name))
}

/// Marks entries of a list that has `count` of them with `name`. Without one to mark nothing changes.
pub fn put(ir: &mut Ir, program: Op, list: &str, count: usize, indices: &[usize], name: &str) {
    if indices.is_empty() {
        return;
    }
    let mut items: Vec<AttrId> = match ir.attr_of(program, list) {
        Some(AttrKind::Array(items)) => items.clone(),
        _ => Vec::new(),
    };
    let empty = ir.attr(AttrKind::Dict(Vec::new()));
    items.resize(count, empty);
    let (key, unit) = (ir.sym(name), ir.attr(AttrKind::Unit));
    for &index in indices {
        let Some(item) = items.get_mut(index) else {
            continue;
        };
        let mut entries = match ir.attr_kind(*item) {
            AttrKind::Dict(entries) => entries.clone(),
            _ => Vec::new(),
        };
        entries.push((key, unit));
        entries.sort_by(|a, b| ir.str(a.0).cmp(ir.str(b.0)));
        *item = ir.attr(AttrKind::Dict(entries));
    }
    let items = ir.attr(AttrKind::Array(items));
    ir.set_attr(program, list, items);
}
