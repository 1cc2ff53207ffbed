//! Halves of named extents: an extent that is even in every call becomes twice another name.

use fuser_dialects::task::packed;
use fuser_ir::attr::AttrKind;
use fuser_ir::def::OpError;
use fuser_ir::types::{Dim, Extent, ExtentExpr, TypeKind};
use fuser_ir::{Block, Ir, Op, Sym, TypeId, Value};
use rustc_hash::FxHashMap;

/// Writes `[2*N_half]` for each named extent `[N]` that callers see packed with two elements in a byte. Records the
/// extent of which the new name is the half.
pub fn halve_extents(ir: &mut Ir, program: Op) -> Result<(), OpError> {
    let (names, body) = (packed::even_names(ir, program), ir.body(program, 0));
    let Some(body) = body.filter(|_| !names.is_empty()) else {
        return Ok(());
    };
    let mut notes = match ir.attr_of(program, packed::HALVES) {
        Some(AttrKind::Dict(entries)) => entries.clone(),
        _ => Vec::new(),
    };
    let mut twice = FxHashMap::default();
    for name in names {
        let half = fresh(ir, name);
        let double = ExtentExpr::constant(2).mul(&ExtentExpr::name(half));
        twice.insert(name, double.unwrap_or_default());
        let whole = ir.str(name).to_string();
        notes.push((half, ir.string_attr(&whole)));
    }
    notes.sort_by(|a, b| ir.str(a.0).cmp(ir.str(b.0)));
    rename(ir, program, body, &twice)?;
    let notes = ir.attr(AttrKind::Dict(notes));
    ir.set_attr(program, packed::HALVES, notes);
    write_signature(ir, program, body);
    Ok(())
}

/// A name that no text of the module has.
fn fresh(ir: &mut Ir, whole: Sym) -> Sym {
    let base = format!("{}_half", ir.str(whole));
    let mut name = base.clone();
    let mut suffix = 0;
    while ir.strings.lookup(&name).is_some() {
        suffix += 1;
        name = format!("{base}_{suffix}");
    }
    ir.sym(&name)
}

/// Puts expressions in the place of names, in the types of all values and in all shapes.
fn rename(
    ir: &mut Ir,
    program: Op,
    body: Block,
    by: &FxHashMap<Sym, ExtentExpr>,
) -> Result<(), OpError> {
    let mut values: Vec<Value> = ir.args(body).to_vec();
    for op in ir.walk(program).into_iter().skip(1) {
        let args = ir.body(op, 0).map_or(&[][..], |body| ir.args(body));
        values.extend(args.iter().chain(ir.results(op)));
        for (key, attr) in ir.attrs(op).to_vec() {
            if let AttrKind::Extents(dims) = ir.attr_kind(attr).clone() {
                let dims = renamed(ir, &dims, by)?;
                let dims = ir.attr(AttrKind::Extents(dims));
                let key = ir.str(key).to_string();
                ir.set_attr(op, &key, dims);
            }
        }
    }
    for value in values {
        let ty = ir.value_type(value);
        if let TypeKind::Tensor(mut tensor) = ir.ty(ty).clone() {
            tensor.dims = renamed(ir, &tensor.dims, by)?;
            let ty = ir.type_id(TypeKind::Tensor(tensor));
            ir.set_value_type(value, ty);
        }
    }
    Ok(())
}

fn renamed(
    ir: &mut Ir,
    dims: &[Dim],
    by: &FxHashMap<Sym, ExtentExpr>,
) -> Result<Vec<Dim>, OpError> {
    let too_great = || OpError::new("has an extent with a coefficient beyond 64 bits");
    let mut all = dims.to_vec();
    for dim in &mut all {
        let Extent::Symbolic(id) = dim.extent else {
            continue;
        };
        let expr = replaced(ir.extent_expr(id), by).ok_or_else(too_great)?;
        dim.extent = ir.extent(expr).ok_or_else(too_great)?;
    }
    Ok(all)
}

/// The expression with others in the place of names.
fn replaced(expr: &ExtentExpr, by: &FxHashMap<Sym, ExtentExpr>) -> Option<ExtentExpr> {
    let mut sum = ExtentExpr::default();
    for (names, coefficient) in &expr.terms {
        let mut term = ExtentExpr::constant(*coefficient);
        for &name in names {
            let factor = by.get(&name).cloned();
            term = term.mul(&factor.unwrap_or_else(|| ExtentExpr::name(name)))?;
        }
        sum = sum.add(&term)?;
    }
    Some(sum)
}

/// The signature as the types of the arguments and of what is returned say.
pub(super) fn write_signature(ir: &mut Ir, program: Op, body: Block) {
    let inputs: Vec<TypeId> = ir.args(body).iter().map(|&a| ir.value_type(a)).collect();
    let results: Vec<TypeId> = match ir.terminator(body) {
        Some(end) => ir.operands(end).map(|v| ir.value_type(v)).collect(),
        None => Vec::new(),
    };
    let function = ir.function_type(inputs, results);
    let function = ir.attr(AttrKind::Type(function));
    ir.set_attr(program, "function_type", function);
}
