//! Uses named extents that are known to be multiples of a power of two, or to lie in a range.

use fuser_analysis::targets::{self, MULTIPLES, UNKNOWN_OPTION};
use fuser_dialects::kernel::bounds::multiple_of;
use fuser_dialects::{fusion, kernel};
use fuser_ir::def::Computes;
use fuser_ir::types::Extent;
use fuser_ir::{AttrKind, DType, Diagnostics, Ir, NewOp, Op, OpDef, Sym, Value};
use fuser_pass::{OptionDef, OptionKind, PassContext, PassDef, StatDef};
use rustc_hash::FxHashMap;

/// The option that says between which lengths extents lie.
pub const LENGTHS: OptionDef = OptionDef {
    name: "lengths",
    kind: OptionKind::List,
    default: "",
    doc: "named extents of `multiples`, and the least and the greatest length that they have: N=784..1024",
};

/// `use-multiples`
pub static USE_MULTIPLES: PassDef = PassDef {
    name: "use-multiples",
    summary: "folds what follows from extents that are multiples of a power of two",
    doc: "In each `kernel.func` that is launched with an extent of `multiples`: the extent is masked, so that later passes and code \
          generation see its low bits, remainders of it are folded to 0, and loops that run nothing then are erased. One that has \
          `lengths` is held between these.",
    works_on: "kernel.func",
    anchor: &["builtin.module"],
    options: &[MULTIPLES, LENGTHS],
    statistics: &[
        StatDef {
            name: "extents",
            doc: "extents masked",
        },
        StatDef {
            name: "loops",
            doc: "loops erased",
        },
    ],
    run,
    ..PassDef::EMPTY
};

fn run(ctx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
    let known = targets::multiples(ctx)?;
    let lengths = lengths(ctx, &known)?;
    if known.is_empty() {
        return Ok(());
    }
    for (func, launch) in launched_once(ctx.ir, ctx.op) {
        let masked = mask(ctx.ir, func, launch, &known, &lengths);
        ctx.count("extents", masked.len() as u64);
        let loops = fold(ctx.ir, func, masked);
        ctx.count("loops", loops);
    }
    Ok(())
}

/// The ranges given by the option, restricted to extents with a known multiple.
fn lengths(
    ctx: &PassContext<'_>,
    multiples: &FxHashMap<Sym, i64>,
) -> Result<FxHashMap<Sym, [i64; 2]>, Diagnostics> {
    let mut known = FxHashMap::default();
    for item in ctx.options.list(LENGTHS.name) {
        let range = item.split_once('=').and_then(|(name, range)| {
            let (least, most) = targets::lengths(range.split_once("..")?)?;
            Some((name.trim(), [least, most].map(|n| i64::try_from(n).ok())))
        });
        let Some((name, [Some(least), Some(most)])) = range else {
            let message = format!("'{item}' is not of the form NAME=LEAST..MOST");
            let error = ctx.error_at(ctx.op, &UNKNOWN_OPTION, message);
            return Err(Diagnostics { items: vec![error] });
        };
        if let Some(extent) = ctx.ir.strings.lookup(name) {
            if !multiples.contains_key(&extent) {
                let message = format!(
                    "'{name}' has lengths but is not among the multiples: add {name}=1 there"
                );
                let error = ctx.error_at(ctx.op, &UNKNOWN_OPTION, message);
                return Err(Diagnostics { items: vec![error] });
            }
            known.insert(extent, [least, most]);
        }
    }
    Ok(known)
}

/// The kernels with exactly one launch, and that launch. A kernel with several launches may have different extents in
/// each.
fn launched_once(ir: &Ir, module: Op) -> Vec<(Op, Op)> {
    let mut launches: FxHashMap<Sym, Vec<Op>> = FxHashMap::default();
    for op in ir.walk(module) {
        if let (true, Some(AttrKind::SymbolRef(path))) =
            (ir.is(op, &kernel::LAUNCH), ir.attr_of(op, "callee"))
        {
            launches.entry(path[0]).or_default().push(op);
        }
    }
    let funcs = ir.children(module).into_iter();
    let funcs = funcs.filter(|&op| ir.is(op, &kernel::FUNC));
    let launched = funcs.filter_map(|func| {
        let name = ir.attr_of(func, "sym_name")?.as_string()?;
        match launches.get(&name)?.as_slice() {
            [launch] => Some((func, *launch)),
            _ => None,
        }
    });
    launched.collect()
}

/// Masks the extents of `func` that are multiples and clamps those in `lengths`; returns the known multiple of each
/// value.
fn mask(
    ir: &mut Ir,
    func: Op,
    launch: Op,
    known: &FxHashMap<Sym, i64>,
    lengths: &FxHashMap<Sym, [i64; 2]>,
) -> FxHashMap<Value, i64> {
    let mut masked = FxHashMap::default();
    let (Some(AttrKind::Extents(dims)), Some(body)) =
        (ir.attr_of(launch, "extents"), ir.body(func, 0))
    else {
        return masked;
    };
    let names: Vec<Extent> = dims.iter().map(|dim| dim.extent).collect();
    let params = ir.args(body).to_vec();
    let first = params.len().saturating_sub(names.len());
    for (&param, extent) in params[first..].iter().zip(names) {
        let name = name_of(ir, extent);
        let Some(&of) = name.and_then(|name| known.get(&name)) else {
            continue;
        };
        let mut made = Vec::new();
        let (mut value, loc) = (param, ir.op_loc(func));
        let mut add = |ir: &mut Ir, op: Op, bound: Op| {
            ir.set_loc(op, loc);
            made.extend([bound, op]);
            ir.result(op, 0)
        };
        if let Some(&[least, most]) = name.and_then(|name| lengths.get(&name)) {
            let (least, most) = (constant(ir, least), constant(ir, most));
            let op = index_op(ir, &fusion::MAXIMUM, [value, ir.result(least, 0)]);
            value = add(ir, op, least);
            let op = index_op(ir, &fusion::MINIMUM, [value, ir.result(most, 0)]);
            value = add(ir, op, most);
        }
        // Low bits last, where whatever asks for them sees them first.
        let low = constant(ir, -of);
        let op = index_op(ir, &fusion::AND, [value, ir.result(low, 0)]);
        value = add(ir, op, low);
        let own = ir.operand_uses(made[1])[0];
        ir.replace_uses_if(param, value, |_, slot| slot != own);
        for op in made.into_iter().rev() {
            ir.prepend_op(body, op);
        }
        masked.insert(value, of);
    }
    masked
}

/// The name, where an extent is one.
fn name_of(ir: &Ir, extent: Extent) -> Option<Sym> {
    match ir.extent_as_expr(extent)?.terms.as_slice() {
        [(names, 1)] if names.len() == 1 => Some(names[0]),
        _ => None,
    }
}

/// An op on two indices that stands nowhere yet.
fn index_op(ir: &mut Ir, def: &'static OpDef, operands: [Value; 2]) -> Op {
    let ty = ir.scalar(DType::Index);
    let new = NewOp {
        operands: operands.into_iter().collect(),
        results: [(ty, None)].into_iter().collect(),
        ..NewOp::default()
    };
    ir.create_op(def, new)
}

/// A constant index that stands nowhere yet.
fn constant(ir: &mut Ir, value: i64) -> Op {
    let ty = ir.scalar(DType::Index);
    let attr = ir.attr(AttrKind::Int {
        value: value.into(),
        ty,
    });
    let new = NewOp {
        results: [(ty, None)].into_iter().collect(),
        attrs: [(ir.sym("value"), attr)].into_iter().collect(),
        ..NewOp::default()
    };
    ir.create_op(&fusion::CONSTANT, new)
}

/// Folds ops that follow from the multiples, in program order; returns the number of erased loops.
fn fold(ir: &mut Ir, func: Op, mut multiples: FxHashMap<Value, i64>) -> u64 {
    if multiples.is_empty() {
        return 0;
    }
    let mut erased = 0;
    for op in ir.walk(func) {
        if ir.is_erased(op) {
            continue;
        }
        if ir.is(op, &kernel::FOR) && ir.operand(op, 0) == ir.operand(op, 1) {
            let values: Vec<Value> = ir.operands(op).skip(3).collect();
            let results = ir.results(op).to_vec();
            for (result, value) in results.into_iter().zip(values) {
                ir.replace_all_uses(result, value);
            }
            ir.erase(op);
            erased += 1;
        } else if ir.operand_count(op) == 2 && ir.results(op).len() == 1 {
            fold_index(ir, op, &mut multiples);
        }
    }
    erased
}

/// Folds one op of index arithmetic, or derives a multiple of its result.
fn fold_index(ir: &mut Ir, op: Op, multiples: &mut FxHashMap<Value, i64>) {
    let Some(computes) = ir.computes(op) else {
        return;
    };
    let (a, b, result) = (ir.operand(op, 0), ir.operand(op, 1), ir.result(op, 0));
    let known = |value: Value| match literal(ir, value) {
        Some(value) => 1 << value.trailing_zeros().min(62),
        None => multiples.get(&value).copied().unwrap_or(1),
    };
    let of = match computes {
        Computes::Rem if literal(ir, b).is_some_and(|by| by > 0 && known(a) % by == 0) => {
            let zero = constant(ir, 0);
            ir.insert_before(op, zero);
            let zero = ir.result(zero, 0);
            ir.replace_all_uses(result, zero);
            return ir.erase(op);
        }
        Computes::Sub if literal(ir, b) == Some(0) => {
            ir.replace_all_uses(result, a);
            return ir.erase(op);
        }
        _ => multiple_of(computes, known(a), known(b)),
    };
    if of > 1 {
        multiples.insert(result, of);
    }
}

/// The value of a constant.
fn literal(ir: &Ir, value: Value) -> Option<i64> {
    ir.made_as(value, Computes::Constant)
        .and_then(|by| ir.int_of(by, "value"))
}
