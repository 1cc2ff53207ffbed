//! Edits shared by several strategies: signatures, results of regions, and replacement values.
//!
//! Each edit keeps the structure consistent (use lists, dependent counts). No edit preserves the meaning of the
//! program.

use fuser_dialects::{fusion, kernel, task};
use fuser_ir::def::Syntax;
use fuser_ir::{AttrId, AttrKind, Block, Ir, NewOp, Op, TypeId, TypeKind, Value};

/// The replacement of a removed value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StandIn {
    /// An argument of the program that has the type, else a new one.
    Argument,
    /// A new argument of the program.
    Fresh,
    /// A constant.
    Constant,
}

/// The custom form extras of an op; none for ops without a table.
pub fn syntax(ir: &Ir, op: Op) -> Syntax {
    ir.def(op).map(|d| d.syntax).unwrap_or_default()
}

/// The innermost op with a signature around `op`.
pub fn owner(ir: &Ir, op: Op) -> Option<Op> {
    std::iter::successors(ir.parent_op(op), |&o| ir.parent_op(o)).find(|&o| syntax(ir, o).signature)
}

/// A value of type `ty` that `op` and later ops can use; `None` if none can be created.
pub fn stand_in(ir: &mut Ir, op: Op, ty: TypeId, how: StandIn) -> Option<Value> {
    let entry = owner(ir, op).and_then(|owner| Some((owner, ir.body(owner, 0)?)));
    let (Some((owner, entry)), false) = (entry, how == StandIn::Constant) else {
        return constant(ir, op, ty);
    };
    let mut args = ir.args(entry).iter().copied();
    match args.find(|&a| ir.value_type(a) == ty) {
        Some(argument) if how == StandIn::Argument => Some(argument),
        _ if ir.is(owner, &task::PROGRAM) => Some(append_argument(ir, owner, entry, ty)),
        // The parameters of a kernel are a convention with its caller.
        _ => constant(ir, op, ty),
    }
}

fn constant(ir: &mut Ir, before: Op, ty: TypeId) -> Option<Value> {
    let kind = ir.ty(ty);
    let takes_constants = matches!(
        kind,
        TypeKind::Scalar(_) | TypeKind::Tensor(_) | TypeKind::Vector { .. }
    );
    let dtype = kind.dtype().filter(|_| takes_constants)?;
    let value = number(ir, dtype, 0);
    let key = ir.sym("value");
    let new = NewOp {
        results: [(ty, None)].into_iter().collect(),
        attrs: [(key, value)].into_iter().collect(),
        ..NewOp::default()
    };
    let op = ir.create_op(&fusion::CONSTANT, new);
    ir.insert_before(before, op);
    Some(ir.result(op, 0))
}

/// `value` as an attribute of an element type.
pub fn number(ir: &mut Ir, dtype: fuser_ir::DType, value: i8) -> AttrId {
    let ty = ir.scalar(dtype);
    let kind = match dtype {
        fuser_ir::DType::I1 => AttrKind::Bool(value != 0),
        d if d.is_float() => AttrKind::Float {
            bits: fuser_ir::float::nearest(dtype, value.into()),
            ty,
        },
        _ => AttrKind::Int {
            value: value.into(),
            ty,
        },
    };
    ir.attr(kind)
}

// --- signatures --------------------------------------------------------------------------------------------------------

fn append_argument(ir: &mut Ir, owner: Op, entry: Block, ty: TypeId) -> Value {
    let value = ir.append_arg(entry, ty, None);
    if let Some(AttrKind::Array(items)) = ir.attr_of(owner, "arg_attrs") {
        let mut items = items.clone();
        items.push(ir.attr(AttrKind::Dict(vec![])));
        let items = ir.attr(AttrKind::Array(items));
        ir.set_attr(owner, "arg_attrs", items);
    }
    refresh_signature(ir, owner);
    value
}

/// Drops argument `index` of an op with a signature; nothing may use it.
pub fn drop_argument(ir: &mut Ir, owner: Op, index: usize) {
    let Some(entry) = ir.body(owner, 0) else {
        return;
    };
    ir.remove_arg(entry, index);
    drop_entry(ir, owner, "arg_attrs", index);
    renumber_aliases(ir, owner, index);
    refresh_signature(ir, owner);
}

/// Drops result `index` of an op with a signature.
pub fn drop_returned(ir: &mut Ir, owner: Op, index: usize) {
    let Some(end) = ir.body(owner, 0).and_then(|b| ir.terminator(b)) else {
        return;
    };
    drop_operand(ir, end, index);
    drop_entry(ir, owner, "res_attrs", index);
    refresh_signature(ir, owner);
}

/// Updates the signature to match the arguments and the returned values. A layout stated only in the signature is kept.
pub fn refresh_signature(ir: &mut Ir, owner: Op) {
    let Some(entry) = ir.body(owner, 0) else {
        return;
    };
    let old = ir.attr_of(owner, "function_type").and_then(|a| a.as_type());
    let Some(TypeKind::Function { results, .. }) = old.map(|t| ir.ty(t).clone()) else {
        return;
    };
    let inputs = ir.args(entry).iter().map(|&a| ir.value_type(a)).collect();
    let returned: Vec<Value> = match ir.terminator(entry) {
        Some(end) => ir.operands(end).collect(),
        None => vec![],
    };
    let same_count = results.len() == returned.len();
    let typed = returned.iter().enumerate().map(|(i, &value)| {
        let ty = ir.value_type(value);
        let stated = results.get(i).filter(|_| same_count);
        match stated {
            Some(&stated) if fuser_ir::check::same_but_layout(ir, stated, ty) => stated,
            _ => ty,
        }
    });
    let results = typed.collect();
    let ty = ir.function_type(inputs, results);
    let attr = ir.attr(AttrKind::Type(ty));
    ir.set_attr(owner, "function_type", attr);
}

/// Drops entry `index` of an array attribute, where there is one.
fn drop_entry(ir: &mut Ir, op: Op, name: &str, index: usize) {
    if let Some(AttrKind::Array(items)) = ir.attr_of(op, name) {
        let mut items = items.clone();
        if index < items.len() {
            items.remove(index);
        }
        let items = ir.attr(AttrKind::Array(items));
        ir.set_attr(op, name, items);
    }
}

/// After argument `dropped` went: `{alias = i}` of results follow their arguments, or go with them.
fn renumber_aliases(ir: &mut Ir, owner: Op, dropped: usize) {
    let Some(AttrKind::Array(items)) = ir.attr_of(owner, "res_attrs") else {
        return;
    };
    let items = items.clone();
    let items = items.into_iter().map(|item| renumbered(ir, item, dropped));
    let items = items.collect();
    let items = ir.attr(AttrKind::Array(items));
    ir.set_attr(owner, "res_attrs", items);
}

fn renumbered(ir: &mut Ir, item: AttrId, dropped: usize) -> AttrId {
    let AttrKind::Dict(entries) = ir.attr_kind(item) else {
        return item;
    };
    let (mut entries, dropped) = (entries.clone(), dropped as i128);
    let alias = |ir: &Ir, entry: &(fuser_ir::Sym, AttrId)| match ir.str(entry.0) {
        "alias" => ir.attr_kind(entry.1).as_int(),
        _ => None,
    };
    entries.retain(|entry| alias(ir, entry) != Some(dropped));
    for entry in &mut entries {
        if let Some(after) = alias(ir, entry).filter(|i| *i > dropped)
            && let Ok(after) = i64::try_from(after)
        {
            entry.1 = ir.int_attr(after - 1);
        }
    }
    ir.attr(AttrKind::Dict(entries))
}

// --- operands and yields -----------------------------------------------------------------------------------------------

/// Drops operand `index` of an op without successors.
pub fn drop_operand(ir: &mut Ir, op: Op, index: usize) {
    let mut operands: Vec<Value> = ir.operands(op).collect();
    if index < operands.len() {
        operands.remove(index);
        ir.set_operands(op, &operands);
    }
}

/// True if each region of `op` yields as many values as `op` has results.
pub fn yields_results(ir: &Ir, op: Op) -> bool {
    let count = ir.results(op).len();
    let regions = ir.op_regions(op);
    let fits = |end: Op| ir.operand_count(end) == count;
    let ends = regions.iter().map(|&r| ir.entry_block(r));
    let mut ends = ends.map(|b| b.and_then(|b| ir.terminator(b)));
    count > 0 && !regions.is_empty() && ends.all(|end| end.is_some_and(fits))
}

/// Drops result `index` (unused) of an op whose regions yield its results, and what belongs to it.
pub fn drop_yielded(ir: &mut Ir, op: Op, index: usize) {
    for region in 0..ir.op_regions(op).len() {
        let end = ir.body(op, region).and_then(|b| ir.terminator(b));
        if let Some(end) = end {
            drop_operand(ir, end, index);
        }
    }
    ir.remove_result(op, index);
    if ir.is(op, &kernel::FOR) {
        drop_carried(ir, op, index);
    }
}

/// Operands of `kernel.for` before the initial values, and arguments of its block before the carried ones.
pub const FOR_BOUNDS: usize = 3;
pub const FOR_INDUCTION: usize = 1;

/// Drops the carried value `index` of a loop: its argument is the initial value ever after.
fn drop_carried(ir: &mut Ir, op: Op, index: usize) {
    let Some(body) = ir.body(op, 0) else { return };
    let (argument, initial) = (FOR_INDUCTION + index, FOR_BOUNDS + index);
    if argument >= ir.args(body).len() || initial >= ir.operand_count(op) {
        return;
    }
    ir.replace_all_uses(ir.args(body)[argument], ir.operand(op, initial));
    ir.remove_arg(body, argument);
    drop_operand(ir, op, initial);
    drop_entry(ir, op, "combine", index);
    if matches!(ir.attr_of(op, "combine"), Some(AttrKind::Array(items)) if items.is_empty()) {
        ir.remove_attr(op, "combine");
    }
}
