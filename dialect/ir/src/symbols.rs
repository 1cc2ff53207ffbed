//! Symbols: `@name` declared by the ops directly inside a symbol table, and the references to them in attributes.
//!
//! A [`SymbolTable`] is a snapshot with exact lookups; [`SymbolTable::insert`] keeps names unique by a suffix `_N`.
//! Knows no dialect: an op declares a symbol if it has `sym_name`. Attributes nest at most as deep as the parser
//! admits, and are walked with an explicit stack.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::attr::{AttrId, AttrKind};
use crate::intern::Sym;
use crate::ir::{Ir, Op};

/// The symbols that the ops directly inside one op declare.
#[derive(Clone, Debug, Default)]
pub struct SymbolTable {
    ops: BTreeMap<Sym, Op>,
}

impl SymbolTable {
    /// The symbols inside `table`. The first declaration of a name wins (the verifier rejects a second).
    pub fn of(ir: &Ir, table: Op) -> Self {
        let mut ops = BTreeMap::new();
        for op in ir.children(table) {
            if let Some(sym) = ir.attr_of(op, "sym_name").and_then(AttrKind::as_string) {
                ops.entry(sym).or_insert(op);
            }
        }
        Self { ops }
    }
    /// The op that declares `name`.
    pub fn get(&self, name: Sym) -> Option<Op> {
        self.ops.get(&name).copied()
    }
    /// The op that declares the symbol with this text.
    pub fn find(&self, ir: &Ir, name: &str) -> Option<Op> {
        self.get(ir.strings.lookup(name)?)
    }
    /// All names, sorted by text, for "did you mean".
    pub fn names<'a>(&self, ir: &'a Ir) -> Vec<&'a str> {
        let mut names: Vec<&str> = self.ops.keys().map(|&s| ir.str(s)).collect();
        names.sort_unstable();
        names
    }
    /// Gives `op` the name `wanted`, or `wanted_N` where that is taken; returns the name given.
    pub fn insert(&mut self, ir: &mut Ir, op: Op, wanted: &str) -> Sym {
        let mut name = ir.sym(wanted);
        let mut suffix = 0_u64;
        while self.ops.contains_key(&name) {
            name = ir.sym(&format!("{wanted}_{suffix}"));
            suffix += 1;
        }
        let attr = ir.attr(AttrKind::String(name));
        ir.set_attr(op, "sym_name", attr);
        self.ops.insert(name, op);
        name
    }
    /// Forgets a symbol, when its op goes.
    pub fn remove(&mut self, name: Sym) -> Option<Op> {
        self.ops.remove(&name)
    }
}

/// A reference `@a::@b` in an attribute of an op.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SymbolUse {
    /// The op that refers.
    pub op: Op,
    /// The attribute that contains the reference, possibly inside arrays and dictionaries.
    pub attr: Sym,
    /// The path; its first part is looked up in the nearest symbol table.
    pub path: Vec<Sym>,
}

/// All symbol references under `root`, in program order.
pub fn symbol_uses(ir: &Ir, root: Op) -> Vec<SymbolUse> {
    let mut uses = Vec::new();
    for op in ir.walk(root) {
        for &(key, attr) in ir.attrs(op) {
            for path in references(ir, attr) {
                let path = path.to_vec();
                uses.push(SymbolUse {
                    op,
                    attr: key,
                    path,
                });
            }
        }
    }
    uses
}

/// Replaces the first part `from` of all references under `root` by `to`; returns the number of attributes changed.
pub fn rename_references(ir: &mut Ir, root: Op, from: Sym, to: Sym) -> usize {
    let mut renamed = FxHashMap::default();
    let mut changed = 0;
    for op in ir.walk(root) {
        for (key, attr) in ir.attrs(op).to_vec() {
            let new = rename_in(ir, attr, from, to, &mut renamed);
            if new != attr {
                let key = ir.str(key).to_owned();
                ir.set_attr(op, &key, new);
                changed += 1;
            }
        }
    }
    changed
}

/// The references inside `attr`, left to right.
fn references(ir: &Ir, attr: AttrId) -> Vec<&[Sym]> {
    let mut found = Vec::new();
    let mut stack = vec![attr];
    while let Some(attr) = stack.pop() {
        match ir.attr_kind(attr) {
            AttrKind::SymbolRef(path) => found.push(path.as_slice()),
            other => stack.extend(parts(other).into_iter().rev()),
        }
    }
    found
}

fn parts(attr: &AttrKind) -> Vec<AttrId> {
    match attr {
        AttrKind::Array(items) => items.clone(),
        AttrKind::Dict(entries) => entries.iter().map(|e| e.1).collect(),
        _ => Vec::new(),
    }
}

/// `attr` with the reference renamed. `done` caches shared parts; parts are renamed before the attribute that contains
/// them.
fn rename_in(
    ir: &mut Ir,
    attr: AttrId,
    from: Sym,
    to: Sym,
    done: &mut FxHashMap<AttrId, AttrId>,
) -> AttrId {
    let mut stack = vec![attr];
    while let Some(&top) = stack.last() {
        if done.contains_key(&top) {
            stack.pop();
            continue;
        }
        let open: Vec<AttrId> = parts(ir.attr_kind(top));
        let open: Vec<AttrId> = open.into_iter().filter(|p| !done.contains_key(p)).collect();
        if !open.is_empty() {
            stack.extend(open);
            continue;
        }
        let new = renamed_kind(ir.attr_kind(top), from, to, done);
        let new = new.map_or(top, |kind| ir.attr(kind));
        done.insert(top, new);
        stack.pop();
    }
    done[&attr]
}

fn renamed_kind(
    kind: &AttrKind,
    from: Sym,
    to: Sym,
    done: &FxHashMap<AttrId, AttrId>,
) -> Option<AttrKind> {
    match kind {
        AttrKind::SymbolRef(path) if path.first() == Some(&from) => {
            let rest = path.iter().skip(1).copied();
            Some(AttrKind::SymbolRef(
                std::iter::once(to).chain(rest).collect(),
            ))
        }
        AttrKind::Array(items) => {
            let new: Vec<AttrId> = items.iter().map(|i| done[i]).collect();
            (new != *items).then_some(AttrKind::Array(new))
        }
        AttrKind::Dict(entries) => {
            let new: Vec<(Sym, AttrId)> = entries.iter().map(|(k, v)| (*k, done[v])).collect();
            (new != *entries).then_some(AttrKind::Dict(new))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::def::Registry;
    use crate::ir::NewOp;
    use std::sync::Arc;

    fn module() -> (Ir, Op, crate::ir::Block) {
        let mut ir = Ir::new(Arc::new(Registry::default()));
        let name = ir.op_name("t.module");
        let module = ir.create(name, NewOp::default());
        let region = ir.new_region();
        ir.push_region(module, region);
        let block = ir.append_block(region);
        (ir, module, block)
    }
    fn child(ir: &mut Ir, block: crate::ir::Block) -> Op {
        let name = ir.op_name("t.f");
        let op = ir.create(name, NewOp::default());
        ir.append_op(block, op);
        op
    }

    #[test]
    fn taken_names_get_a_suffix() {
        let (mut ir, module, block) = module();
        let mut table = SymbolTable::of(&ir, module);
        for expected in ["f", "f_0", "f_1"] {
            let op = child(&mut ir, block);
            let name = table.insert(&mut ir, op, "f");
            assert_eq!(ir.str(name), expected);
        }
        let again = SymbolTable::of(&ir, module);
        assert_eq!(again.names(&ir), ["f", "f_0", "f_1"]);
    }
    #[test]
    fn references_are_renamed_at_any_depth() {
        let (mut ir, module, block) = module();
        let user = child(&mut ir, block);
        let (f, g, k) = (ir.sym("f"), ir.sym("g"), ir.sym("k"));
        let mut attr = ir.attr(AttrKind::SymbolRef(vec![f, k]));
        for _ in 0..1000 {
            attr = ir.attr(AttrKind::Array(vec![attr]));
            attr = ir.attr(AttrKind::Dict(vec![(k, attr)]));
        }
        ir.set_attr(user, "callee", attr);
        assert_eq!(rename_references(&mut ir, module, f, g), 1);
        let uses = symbol_uses(&ir, module);
        assert_eq!(uses.len(), 1);
        assert_eq!(uses[0].path, [g, k]);
    }
}
