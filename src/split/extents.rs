//! Named extents of a program and of its parts.

use fuser_ir::types::ExtentExpr;
use fuser_ir::{AttrKind, Dim, Extent, Ir, Op, Sym, TypeId, TypeKind, Value};
use rustc_hash::FxHashSet;

use super::map;
use crate::compile;

/// The named extents of a program: first those of input axes, in order, then those that the caller gives.
pub fn of(ir: &Ir, program: Op) -> Vec<map::Extent> {
    let mut list: Vec<map::Extent> = Vec::new();
    let mut add = |name: &str, input: Option<String>, axis: Option<usize>| {
        if list.iter().all(|e| e.name != name) {
            list.push(map::Extent {
                index: -(list.len() as i64) - 1,
                name: name.to_owned(),
                input,
                axis,
            });
        }
    };
    let args = ir.body(program, 0).map_or(&[][..], |b| ir.args(b));
    for &arg in args {
        for (axis, dim) in dims(ir, ir.value_type(arg)).iter().enumerate() {
            if let Some(name) = plain_name(ir, dim) {
                add(ir.str(name), Some(name_of(ir, arg)), Some(axis));
            }
        }
    }
    for name in compile::plan::extent_names(ir, program) {
        add(&name, None, None);
    }
    list
}

fn dims(ir: &Ir, ty: TypeId) -> &[Dim] {
    match ir.ty(ty) {
        TypeKind::Tensor(tensor) => &tensor.dims,
        _ => &[],
    }
}

/// The name of an axis whose extent is that name and nothing else.
fn plain_name(ir: &Ir, dim: &Dim) -> Option<Sym> {
    match dim.extent {
        Extent::Symbolic(id) => ir.extent_expr(id).as_name(),
        _ => None,
    }
}

/// The names that a program uses and that no axis of its inputs is, in order of their names.
pub fn missing(ir: &Ir, program: Op) -> Vec<String> {
    let mut used = FxHashSet::default();
    for op in ir.walk(program) {
        for &result in ir.results(op) {
            names_of_dims(ir, dims(ir, ir.value_type(result)), &mut used);
        }
        for &(_, attr) in ir.attrs(op) {
            match ir.attr_kind(attr) {
                AttrKind::Type(ty) => names_of_dims(ir, dims(ir, *ty), &mut used),
                kind => names_of_dims(ir, kind.as_dims().unwrap_or_default(), &mut used),
            }
        }
    }
    let args = ir.body(program, 0).map_or(&[][..], |b| ir.args(b));
    for &arg in args {
        names_of_dims(ir, dims(ir, ir.value_type(arg)), &mut used);
    }
    for &arg in args {
        for dim in dims(ir, ir.value_type(arg)) {
            if let Some(name) = plain_name(ir, dim) {
                used.remove(&name);
            }
        }
    }
    let mut names: Vec<String> = used.into_iter().map(|n| ir.str(n).to_owned()).collect();
    names.sort_unstable();
    names
}

fn names_of_dims(ir: &Ir, dims: &[Dim], used: &mut FxHashSet<Sym>) {
    for dim in dims {
        let expr: Option<ExtentExpr> = ir.extent_as_expr(dim.extent);
        let terms = expr.iter().flat_map(|e| e.terms.iter());
        used.extend(terms.flat_map(|(names, _)| names.iter().copied()));
    }
}

/// A value's name, with `%`.
pub fn name_of(ir: &Ir, value: Value) -> String {
    format!("%{}", ir.value_name(value).unwrap_or_default())
}
