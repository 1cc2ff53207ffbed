//! In-place updates: the argument that a result of a program overwrites, and the mark of a result written into its
//! memory.
//!
//! ```text
//! task.program @f(%x: tensor<8xf32>) -> (tensor<8xf32> {alias = 0 : i64, in_place})
//! ```
//!
//! The user says `alias`; `protect-updates` decides which of these results are `in_place`.

use fuser_ir::attr::{AttrId, AttrKind};
use fuser_ir::{Ir, Op, Sym, Value};

use super::verify::{alias, signature};

/// The key of the argument that a result overwrites, in its attributes.
const ALIAS: &str = "alias";

/// The key of the mark in a result's attributes.
pub const MARK: &str = "in_place";

/// The argument that a result overwrites.
pub fn argument(ir: &Ir, program: Op, result: usize) -> Option<usize> {
    usize::try_from(alias(ir, program, result)?).ok()
}

/// True if a result carries the mark.
pub fn is_in_place(ir: &Ir, program: Op, result: usize) -> bool {
    entries(ir, program, result).is_some_and(|entries| {
        let mut keys = entries.iter().map(|(key, _)| ir.str(*key));
        keys.any(|key| key == MARK)
    })
}

/// True if any result of any program of the module around `op` has the mark and is computed. A kernel, which programs may
/// share, may then have one buffer under two names. A result that is an argument itself is written by no kernel.
pub fn any_in_place(ir: &Ir, op: Op) -> bool {
    let module = std::iter::successors(Some(op), |&op| ir.parent_op(op)).last();
    let programs = module.into_iter().flat_map(|module| ir.children(module));
    let mut programs = programs.filter(|&op| ir.is(op, &super::PROGRAM));
    programs.any(|program| {
        let yields = ir.body(program, 0).and_then(|body| ir.terminator(body));
        let results: Vec<Value> = yields.map_or(Vec::new(), |op| ir.operands(op).collect());
        let computed = |&(_, value): &(usize, &Value)| ir.def_op(*value).is_some();
        let mut results = results.iter().enumerate().filter(computed);
        results.any(|(result, _)| is_in_place(ir, program, result))
    })
}

/// Makes each result of a program overwrite the argument of the same number; removes all other updates.
pub fn overwrite_all(ir: &mut Ir, program: Op) {
    let count = signature(ir, program).map_or(0, |(_, results)| results.len());
    let old = match ir.attr_of(program, "res_attrs") {
        Some(AttrKind::Array(items)) => items.clone(),
        _ => Vec::new(),
    };
    let (alias, mark) = (ir.sym(ALIAS), ir.sym(MARK));
    let mut items = Vec::with_capacity(count);
    for index in 0..count {
        let entries = old.get(index).map(|&item| ir.attr_kind(item));
        let mut entries = match entries {
            Some(AttrKind::Dict(entries)) => entries.clone(),
            _ => Vec::new(),
        };
        entries.retain(|(key, _)| *key != alias && *key != mark);
        let argument = ir.int_attr(index as i64);
        entries.push((alias, argument));
        entries.sort_by(|a, b| ir.str(a.0).cmp(ir.str(b.0)));
        items.push(ir.attr(AttrKind::Dict(entries)));
    }
    let items = ir.attr(AttrKind::Array(items));
    ir.set_attr(program, "res_attrs", items);
}

fn entries(ir: &Ir, program: Op, result: usize) -> Option<&[(Sym, AttrId)]> {
    let AttrKind::Array(items) = ir.attr_of(program, "res_attrs")? else {
        return None;
    };
    match ir.attr_kind(*items.get(result)?) {
        AttrKind::Dict(entries) => Some(entries),
        _ => None,
    }
}

/// Sets or removes the mark of a result.
pub fn mark(ir: &mut Ir, program: Op, result: usize, in_place: bool) {
    let Some(mut entries) = entries(ir, program, result).map(<[_]>::to_vec) else {
        return;
    };
    let key = ir.sym(MARK);
    entries.retain(|(k, _)| *k != key);
    if in_place {
        let unit = ir.attr(AttrKind::Unit);
        entries.push((key, unit));
        entries.sort_by(|a, b| ir.str(a.0).cmp(ir.str(b.0)));
    }
    let dict = ir.attr(AttrKind::Dict(entries));
    let Some(AttrKind::Array(items)) = ir.attr_of(program, "res_attrs") else {
        return;
    };
    let mut items = items.clone();
    if let Some(item) = items.get_mut(result) {
        *item = dict;
    }
    let items = ir.attr(AttrKind::Array(items));
    ir.set_attr(program, "res_attrs", items);
}
