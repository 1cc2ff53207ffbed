//! Infers layouts for results without a stated one.
//!
//! ```text
//! task.program @f(%x: tensor<4x8xf32>) -> tensor<8x4xf32>          task.program @f(%x: ...) -> tensor<8x4xf32, [1, 0]>
//!   %p = fusion.permute %x dims [1, 0]                       =>      %p = ... : tensor<8x4xf32, [1, 0]>     // x's memory
//! ```
//!
//! A result gets the storage order in which its producer has the elements: the order of the producer's operands. A
//! `permute` of an input then is that input's memory and costs nothing. A computed result that is permuted is written
//! in the order in which its operands are read.
//!
//! Every value has such an order of its stored axes, propagated from the arguments:
//!
//! | op | order of the result |
//! |---|---|
//! | elementwise, cat | that of the operand with the most axes; row-major where several such operands disagree |
//! | reduction | the operand's, without the reduced axes |
//! | `permute`, `broadcast`, `expand`, `squeeze`, `segment_set` | the operand's, its axes where the op puts them |
//! | slice, flip, pad | the operand's |
//! | `copy`, a value whose type states a layout | what the type says |
//! | creation | any: it has no say |
//! | `reshape`, everything else | row-major |
//!
//! Axes that the order lacks, because the operand is stored once along them, come outermost.
//!
//! Stated choices stay: a result whose type in the signature, or whose value's type, states a layout, including
//! row-major (`[0, 1]`); a result that overwrites an argument; an operand of a loop; a returned argument; 4-bit floats.
//! A result that a `reshape` reads stays row-major, since otherwise the reshape could not be a view. Row-major orders
//! are not written.
//!
//! The pass changes the layout that callers receive but no element: the tools follow the type. Among values that are
//! not returned, only the sources of views that are results get a layout, so that the view is the same memory. One walk
//! over the program.

use fuser_analysis::cost::{copies, moved};
use fuser_dialects::fusion::maps;
use fuser_dialects::task::verify::signature;
use fuser_dialects::task::{calls, packed, updates};
use fuser_ir::attr::AttrKind;
use fuser_ir::def::OpClass;
use fuser_ir::layout::{self, Order};
use fuser_ir::{Diagnostics, Ir, Op, TypeId, Value};
use fuser_pass::{PassContext, PassDef, StatDef};
use rustc_hash::FxHashMap;

use super::body_and_end;

/// `infer-layouts`
pub static INFER_LAYOUTS: PassDef = PassDef {
    name: "infer-layouts",
    summary: "lays results out in the order in which they are computed",
    doc: "A result whose type states no layout gets the order of axes of what it is computed from, so that permuted results \
          are views or are written as they are read. Results whose type states a layout, row-major included, keep it.",
    anchor: &["task.program"],
    statistics: &[StatDef {
        name: "layouts",
        doc: "results given a layout",
    }],
    run,
    ..PassDef::EMPTY
};

fn run(ctx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
    let program = ctx.op;
    let Some((_, end)) = body_and_end(ctx.ir, program) else {
        return Ok(());
    };
    let orders = orders(ctx.ir, program);
    let results: Vec<Value> = ctx.ir.operands(end).collect();
    let turned = |value: &Value| orders.get(value).is_some_and(|order| !order.is_sorted());
    if !results.iter().any(turned) {
        return Ok(());
    }
    // Loops and branches determine the layouts of their programs' results.
    let module = ctx.ir.parent_op(program);
    if module.is_some_and(|m| calls::is_run_as(ctx.ir, m, program, &calls::CALLEES)) {
        return Ok(());
    }
    let mut types = signature(ctx.ir, program)
        .map(|(inputs, results)| (inputs.to_vec(), results.to_vec()))
        .unwrap_or_default();
    let mut given = 0;
    for (index, &value) in results.iter().enumerate() {
        let Some(order) = orders.get(&value) else {
            continue;
        };
        if order.is_sorted() || !is_open(ctx.ir, program, &results, &types.1, index) {
            continue;
        }
        let ty = laid_out(ctx.ir, value, order);
        ctx.ir.set_value_type(value, ty);
        lay_out_sources(ctx.ir, value, &results, &orders);
        for (other, stated) in results.iter().zip(&mut types.1) {
            if *other == value {
                *stated = ty;
            }
        }
        given += 1;
    }
    ctx.count("layouts", given);
    if given == 0 {
        return Ok(());
    }
    let ty = ctx.ir.function_type(types.0, types.1);
    let ty = ctx.ir.attr(AttrKind::Type(ty));
    ctx.ir.set_attr(program, "function_type", ty);
    Ok(())
}

/// Gives the sources of a view `value` the matching layout, so that the view is the same memory.
fn lay_out_sources(ir: &mut Ir, mut value: Value, results: &[Value], orders: &Orders) {
    while let Some(op) = ir.def_op(value).filter(|&op| carries(ir, op)) {
        value = ir.operand(op, 0);
        let made = ir
            .def_op(value)
            .is_some_and(|op| ir.op_regions(op).is_empty());
        let open = made && !layout::is_stated(ir, value) && !results.contains(&value);
        let open = open && !is_carried(ir, value);
        let order = orders.get(&value).filter(|o| open && !o.is_sorted());
        let Some(order) = order else {
            return;
        };
        let ty = laid_out(ir, value, order);
        ir.set_value_type(value, ty);
    }
}

/// True if the op's result is its operand's memory, as far as the types allow it: each axis is an axis of the operand
/// or a repetition, and the op requires no memory of its own.
fn carries(ir: &Ir, op: Op) -> bool {
    let Some(def) = ir
        .def(op)
        .filter(|d| d.class == OpClass::Shape && !d.shifts())
    else {
        return false;
    };
    !copies(def) && !def.has_maps(&maps::RESHAPE)
}

/// True if the value is an operand of a loop or a branch, whose programs determine its layout.
fn is_carried(ir: &Ir, value: Value) -> bool {
    ir.users(value).any(|op| calls::runs_programs(ir, op))
}

/// True if nothing says how result `index` lies in memory.
fn is_open(ir: &Ir, program: Op, results: &[Value], types: &[TypeId], index: usize) -> bool {
    let value = results[index];
    let made = ir
        .def_op(value)
        .is_some_and(|op| ir.op_regions(op).is_empty());
    let states = |ty: &TypeId| ir.ty(*ty).as_tensor().is_some_and(|t| t.encoding.is_some());
    let said = |(i, ty): (usize, &TypeId)| {
        let overwrites = updates::argument(ir, program, i).is_some();
        results[i] == value && (states(ty) || overwrites)
    };
    let reshapes = |op| ir.def(op).is_some_and(|d| d.has_maps(&maps::RESHAPE));
    // Two elements of four bits share a byte of the axis that is innermost in the text.
    let packed = ir.value_kind(value).dtype() == Some(packed::DTYPE);
    made && !packed
        && !layout::is_stated(ir, value)
        && !is_carried(ir, value)
        && !ir.users(value).any(reshapes)
        && types.len() == results.len()
        && !types.iter().enumerate().any(said)
}

/// The type of `value` with the stored axes in this order, and the other axes before them.
fn laid_out(ir: &mut Ir, value: Value, order: &[usize]) -> TypeId {
    let ty = ir.value_type(value);
    let rank = ir.ty(ty).as_tensor().map_or(0, |t| t.dims.len());
    let others = (0..rank).filter(|axis| !order.contains(axis));
    let all: Order = others.chain(order.iter().copied()).collect();
    layout::with(ir, ty, &all)
}

type Orders = FxHashMap<Value, Order>;

/// The order of each tensor that has one.
fn orders(ir: &Ir, program: Op) -> Orders {
    let mut orders = Orders::default();
    let body = ir.body(program, 0);
    for &arg in body.map_or(&[][..], |b| ir.args(b)) {
        if let Some(tensor) = ir.value_kind(arg).as_tensor() {
            orders.insert(arg, layout::stored(ir, tensor));
        }
    }
    for op in ir.children(program) {
        let natural = natural(ir, op, &orders);
        for &result in ir.results(op) {
            let Some(tensor) = ir.value_kind(result).as_tensor() else {
                continue;
            };
            let stored = layout::stored(ir, tensor);
            // What is made from nothing has its elements in any order.
            let made = ir.def(op).is_some_and(|d| d.class == OpClass::Creation);
            if made && tensor.encoding.is_none() {
                continue;
            }
            let known = natural.as_ref().filter(|_| tensor.encoding.is_none());
            let order = match known {
                None => stored,
                Some(order) => {
                    let missing = stored.iter().filter(|axis| !order.contains(axis));
                    let mine = order.iter().filter(|axis| stored.contains(axis));
                    missing.chain(mine).copied().collect()
                }
            };
            orders.insert(result, order);
        }
    }
    orders
}

/// The storage order in which an op naturally produces its elements; `None` if it has no preference.
fn natural(ir: &Ir, op: Op, orders: &Orders) -> Option<Order> {
    let def = ir.def(op)?;
    if !ir.op_regions(op).is_empty() {
        return None;
    }
    let first = || orders.get(&ir.operand(op, 0));
    match def.class {
        OpClass::Elementwise | OpClass::Scan => widest(ir, op, orders),
        OpClass::Reduction => {
            let places = ir.maps(op)?.operand_axes(0)?;
            let place = |&axis: &usize| *places.get(axis)?;
            Some(first()?.iter().filter_map(place).collect())
        }
        OpClass::Shape if def.shifts() => {
            let maps = ir.maps(op)?;
            widest(ir, op, orders).filter(|_| maps.index_operands().is_empty())
        }
        OpClass::Shape if carries(ir, op) => moved(ir, op, first()?),
        _ => None,
    }
}

/// The storage order of the operand with the highest rank, if all operands of that rank agree.
fn widest(ir: &Ir, op: Op, orders: &Orders) -> Option<Order> {
    let known = || ir.operands(op).filter_map(|v| orders.get(&v));
    let most = known().map(|order| order.len()).max()?;
    let mut widest = known().filter(|order| order.len() == most);
    let first = widest.next()?;
    widest.all(|order| order == first).then(|| first.clone())
}
