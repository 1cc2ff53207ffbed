//! Marks on arguments and results of a program: entries of their dictionaries that describe how callers see the type.

use fuser_ir::attr::{AttrId, AttrKind};
use fuser_ir::{Ir, Op, TypeId};

/// The two lists of attributes: of arguments, of results.
pub const LISTS: [&str; 2] = ["arg_attrs", "res_attrs"];

/// True if the entry at `index` of a list has the mark `name`.
pub fn has(ir: &Ir, program: Op, list: &str, index: usize, name: &str) -> bool {
    value(ir, program, list, index, name).is_some()
}

/// The value of the mark `name` of the entry at `index` of a list.
pub fn value<'a>(
    ir: &'a Ir,
    program: Op,
    list: &str,
    index: usize,
    name: &str,
) -> Option<&'a AttrKind> {
    let AttrKind::Array(items) = ir.attr_of(program, list)? else {
        return None;
    };
    let AttrKind::Dict(keys) = ir.attr_kind(*items.get(index)?) else {
        return None;
    };
    let (_, value) = keys.iter().find(|(key, _)| ir.str(*key) == name)?;
    Some(ir.attr_kind(*value))
}

/// Marks entries of a list of `count` entries: each entry in `marked` gets its value under `name`. Does nothing if
/// `marked` is empty.
pub fn put(
    ir: &mut Ir,
    program: Op,
    list: &str,
    count: usize,
    marked: &[(usize, AttrId)],
    name: &str,
) {
    if marked.is_empty() {
        return;
    }
    let mut items: Vec<AttrId> = match ir.attr_of(program, list) {
        Some(AttrKind::Array(items)) => items.clone(),
        _ => Vec::new(),
    };
    let empty = ir.attr(AttrKind::Dict(Vec::new()));
    items.resize(count, empty);
    let key = ir.sym(name);
    for &(index, value) in marked {
        let Some(item) = items.get_mut(index) else {
            continue;
        };
        let mut entries = match ir.attr_kind(*item) {
            AttrKind::Dict(entries) => entries.clone(),
            _ => Vec::new(),
        };
        entries.push((key, value));
        entries.sort_by(|a, b| ir.str(a.0).cmp(ir.str(b.0)));
        *item = ir.attr(AttrKind::Dict(entries));
    }
    let items = ir.attr(AttrKind::Array(items));
    ir.set_attr(program, list, items);
}

/// Takes the mark `name` away from all entries of a list.
pub fn remove(ir: &mut Ir, program: Op, list: &str, name: &str) {
    let Some(AttrKind::Array(items)) = ir.attr_of(program, list) else {
        return;
    };
    let mut items = items.clone();
    for item in &mut items {
        if let AttrKind::Dict(entries) = ir.attr_kind(*item) {
            let mut entries = entries.clone();
            entries.retain(|(key, _)| ir.str(*key) != name);
            *item = ir.attr(AttrKind::Dict(entries));
        }
    }
    let says = |item: &AttrId| !matches!(ir.attr_kind(*item), AttrKind::Dict(entries) if entries.is_empty());
    if !items.iter().any(says) {
        ir.remove_attr(program, list);
        return;
    }
    let items = ir.attr(AttrKind::Array(items));
    ir.set_attr(program, list, items);
}

/// Writes the signature of a program from its arguments and returned values. Marks of new ones are empty.
pub fn sign(ir: &mut Ir, program: Op) {
    let Some(body) = ir.body(program, 0) else {
        return;
    };
    let Some(end) = ir.terminator(body) else {
        return;
    };
    let inputs: Vec<TypeId> = ir.args(body).iter().map(|&a| ir.value_type(a)).collect();
    let results: Vec<TypeId> = ir.operands(end).map(|v| ir.value_type(v)).collect();
    let counts = [inputs.len(), results.len()];
    let function = ir.function_type(inputs, results);
    let function = ir.attr(AttrKind::Type(function));
    ir.set_attr(program, "function_type", function);
    for (list, count) in LISTS.into_iter().zip(counts) {
        if let Some(AttrKind::Array(items)) = ir.attr_of(program, list) {
            let mut items = items.clone();
            let none = ir.attr(AttrKind::Dict(Vec::new()));
            items.resize(count, none);
            let items = ir.attr(AttrKind::Array(items));
            ir.set_attr(program, list, items);
        }
    }
}
