//! Merges kernels that are equal except for their names.
//!
//! The layers of a network produce equal kernels. Two kernels are equal if their ops, operands, attributes, types and
//! regions are equal, in order; names of values are ignored. The first kernel in the module stays, and launches of the
//! others call it.
//!
//! ```text
//! %a = kernel.launch %x callee @f_s0_0      %a = kernel.launch %x callee @f_s0_0
//! %b = kernel.launch %a callee @f_s1_0  =>  %b = kernel.launch %a callee @f_s0_0
//! kernel.func @f_s0_0(...) { ... }          kernel.func @f_s0_0(...) { ... }
//! kernel.func @f_s1_0(...) { ... }
//! ```
//!
//! Never erases a kernel that is named by anything other than a launch. Linear in the number of ops; does not recurse.

use fuser_dialects::kernel;
use fuser_ir::attr::AttrKind;
use fuser_ir::intern::Sym;
use fuser_ir::symbols::symbol_uses;
use fuser_ir::{Ir, Op};
use fuser_pass::{PassContext, PassDef, StatDef};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::form::{Form, form};

const CALLEE: &str = "callee";
const NAME: &str = "sym_name";

/// `merge-kernels`
pub static MERGE_KERNELS: PassDef = PassDef {
    name: "merge-kernels",
    summary: "merges kernels that are equal but for their names",
    doc: "Kernels with the same ops, operands, attributes, types and regions, in the same order, become one, the first; launches of the \
          others call it. Each is then compiled once: equal layers of a network cost one.",
    works_on: "kernel.func",
    anchor: &["builtin.module"],
    statistics: &[StatDef {
        name: "merged",
        doc: "kernels replaced by an equal one",
    }],
    run: |ctx| {
        run(ctx);
        Ok(())
    },
    ..PassDef::EMPTY
};

fn run(ctx: &mut PassContext<'_>) {
    let ops = ctx.ir.children(ctx.op).into_iter();
    let kernels = ops.filter(|&op| ctx.ir.is(op, &kernel::FUNC));
    let mut known: FxHashMap<Form, Sym> = FxHashMap::default();
    let mut merged: FxHashMap<Sym, (Op, Sym)> = FxHashMap::default();
    for func in kernels {
        let Some(name) = ctx.ir.attr_of(func, NAME).and_then(AttrKind::as_string) else {
            continue;
        };
        let first = *known.entry(form(ctx.ir, func, &[NAME])).or_insert(name);
        if first != name {
            merged.insert(name, (func, first));
        }
    }
    if merged.is_empty() {
        return;
    }
    let count = redirect(ctx.ir, ctx.op, &merged);
    ctx.count("merged", count);
}

/// Redirects launches under `module` to the first of equal kernels, and erases kernels that nothing names any more;
/// returns the number of erased kernels. `merged` maps the name of a kernel to its op and to the name of the first.
fn redirect(ir: &mut Ir, module: Op, merged: &FxHashMap<Sym, (Op, Sym)>) -> u64 {
    let mut kept = FxHashSet::default();
    for reference in symbol_uses(ir, module) {
        let Some(&name) = reference.path.first() else {
            continue;
        };
        let Some(&(_, first)) = merged.get(&name) else {
            continue;
        };
        if ir.is(reference.op, &kernel::LAUNCH) && ir.str(reference.attr) == CALLEE {
            let callee = ir.attr(AttrKind::SymbolRef(vec![first]));
            ir.set_attr(reference.op, CALLEE, callee);
        } else {
            kept.insert(name);
        }
    }
    let unused = merged.iter().filter(|(name, _)| !kept.contains(name));
    let unused: Vec<Op> = unused.map(|(_, &(func, _))| func).collect();
    for &func in &unused {
        ir.erase(func);
    }
    unused.len() as u64
}
