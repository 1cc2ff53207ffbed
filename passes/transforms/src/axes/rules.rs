//! What each op says about axes, from the `AxisRule` of its table.
//!
//! Never trusts a clause: an index out of range is `Unsupported`, not a panic.

use fuser_dialects::fusion;
use fuser_ir::def::AxisRule;
use fuser_ir::{Ir, Op, Value};
use smallvec::SmallVec;

use super::refusal::AxisRefusal;
use super::union::{AxisUnion, DimNode, Node};

type Dims = SmallVec<[DimNode; 4]>;

/// Adds the facts of `op`.
pub(super) fn apply(union: &mut AxisUnion, ir: &Ir, op: Op) -> Result<(), AxisRefusal> {
    let rule = ir.def(op).map_or(AxisRule::None, |def| def.axes);
    let result = ir.results(op).first();
    if rule != AxisRule::Window && result.is_some_and(|&v| union.is_unwalked(v)) {
        return Ok(());
    }
    match rule {
        AxisRule::None => Err(AxisRefusal::Unsupported { op }),
        AxisRule::Window => window(union, ir, op),
        AxisRule::Create => create(union, ir, op),
        AxisRule::Pointwise => pointwise(union, ir, op),
        AxisRule::Broadcast => broadcast(union, ir, op),
        AxisRule::Reduce => reduce(union, ir, op),
        AxisRule::Permute => permute(union, ir, op),
        AxisRule::Squeeze => squeeze(union, ir, op),
        AxisRule::Expand => expand(union, ir, op),
        AxisRule::Reshape => reshape(union, ir, op),
    }
}

fn create(union: &mut AxisUnion, ir: &Ir, op: Op) -> Result<(), AxisRefusal> {
    for &result in ir.results(op) {
        union.tensor(ir, result);
    }
    Ok(())
}

/// Tensors of rank 0 and scalars mix with any shape and have no axes.
fn pointwise(union: &mut AxisUnion, ir: &Ir, op: Op) -> Result<(), AxisRefusal> {
    let mut first: Option<Dims> = None;
    for value in ir.operands(op).chain(ir.results(op).iter().copied()) {
        let Some(dims) = union.tensor(ir, value).filter(|d| !d.is_empty()) else {
            continue;
        };
        match &first {
            None => first = Some(dims),
            Some(known) if known.len() == dims.len() => same(union, op, known, &dims)?,
            Some(_) => return Err(AxisRefusal::Unsupported { op }),
        }
    }
    Ok(())
}

fn broadcast(union: &mut AxisUnion, ir: &Ir, op: Op) -> Result<(), AxisRefusal> {
    let (from, to) = unary(union, ir, op)?;
    let places = indices(ir, op, to.len())?;
    if places.len() != from.len() {
        return Err(AxisRefusal::Unsupported { op });
    }
    for (&(node, _), place) in from.iter().zip(places) {
        union.unify(op, node, to[place].0)?;
    }
    Ok(())
}

fn permute(union: &mut AxisUnion, ir: &Ir, op: Op) -> Result<(), AxisRefusal> {
    let (from, to) = unary(union, ir, op)?;
    let places = indices(ir, op, from.len())?;
    if places.len() != to.len() {
        return Err(AxisRefusal::Unsupported { op });
    }
    for (&(node, _), place) in to.iter().zip(places) {
        union.unify(op, from[place].0, node)?;
    }
    Ok(())
}

fn squeeze(union: &mut AxisUnion, ir: &Ir, op: Op) -> Result<(), AxisRefusal> {
    let (from, to) = unary(union, ir, op)?;
    let gone = indices(ir, op, from.len())?;
    let kept = without(&from, &gone);
    same(union, op, &kept, &to)
}

fn expand(union: &mut AxisUnion, ir: &Ir, op: Op) -> Result<(), AxisRefusal> {
    let (from, to) = unary(union, ir, op)?;
    if from.len() != to.len() {
        return Err(AxisRefusal::Unsupported { op });
    }
    for (&(a, _), &(b, _)) in from.iter().zip(&to) {
        let grows = union.leaves(a).is_empty() && !union.leaves(b).is_empty();
        if !grows {
            union.unify(op, a, b)?;
        }
    }
    Ok(())
}

fn reduce(union: &mut AxisUnion, ir: &Ir, op: Op) -> Result<(), AxisRefusal> {
    let operand = ir.operands(op).next();
    let from = operand.and_then(|v| union.tensor(ir, v));
    let from = from.ok_or(AxisRefusal::Unsupported { op })?;
    let gone = indices(ir, op, from.len())?;
    let keeps = ir.get_attr(op, "keepdim").is_some();
    let kept = without(&from, &gone);
    let results: SmallVec<[Value; 2]> = ir.results(op).iter().copied().collect();
    for result in results {
        // A full reduction may give a scalar.
        let to = union.tensor(ir, result).unwrap_or_default();
        let to = if keeps { without(&to, &gone) } else { to };
        same(union, op, &kept, &to)?;
    }
    union.reduce(op, gone.iter().map(|&g| from[g].0).collect());
    Ok(())
}

fn reshape(union: &mut AxisUnion, ir: &Ir, op: Op) -> Result<(), AxisRefusal> {
    let (from, to) = unary(union, ir, op)?;
    let nodes = |dims: &Dims| -> SmallVec<[Node; 4]> { dims.iter().map(|d| d.0).collect() };
    union.align(op, &nodes(&from), &nodes(&to))
}

/// Where no index moves, operand and result have one axis; elsewhere the result has one of its own.
fn window(union: &mut AxisUnion, ir: &Ir, op: Op) -> Result<(), AxisRefusal> {
    let refusal = AxisRefusal::Unsupported { op };
    let result = *ir.results(op).first().ok_or(refusal.clone())?;
    let to = union.tensor(ir, result).ok_or(refusal.clone())?;
    let operands: SmallVec<[Value; 4]> = match ir.is(op, &fusion::CAT) {
        true => ir.operands(op).collect(),
        false => ir.operands(op).take(1).collect(),
    };
    for operand in operands {
        let from = union.aside(ir, operand).ok_or(refusal.clone())?;
        if from.len() != to.len() {
            return Err(refusal);
        }
        for (dim, (&(a, _), &(b, _))) in from.iter().zip(&to).enumerate() {
            if stays(ir, op, operand, result, dim) {
                union.unify(op, a, b)?;
            }
        }
    }
    Ok(())
}

/// Whether the index along `dim` is the same in operand and result of a window.
fn stays(ir: &Ir, op: Op, operand: Value, result: Value, dim: usize) -> bool {
    let entry = |name: &str, missing: i64| {
        ir.i64s_of(op, name)
            .map_or(missing, |l| l.get(dim).copied().unwrap_or(missing))
    };
    let extent = |value: Value| {
        ir.value_kind(value)
            .as_tensor()
            .and_then(|t| Some(t.dims.get(dim)?.extent))
    };
    let moves = if ir.is(op, &fusion::CAT) {
        ir.int_of(op, "dim") == Some(dim as i64)
    } else {
        (entry("starts", 0), entry("strides", 1)) != (0, 1)
            || (entry("low", 0), entry("high", 0)) != (0, 0)
    };
    !moves && extent(operand) == extent(result)
}

/// The dimensions of the only tensor operand and of the first result.
fn unary(union: &mut AxisUnion, ir: &Ir, op: Op) -> Result<(Dims, Dims), AxisRefusal> {
    let refusal = || AxisRefusal::Unsupported { op };
    let operand = ir.operands(op).next().ok_or_else(refusal)?;
    let result = *ir.results(op).first().ok_or_else(refusal)?;
    // A scalar may be broadcast: it has no axes.
    let from = union.tensor(ir, operand).unwrap_or_default();
    Ok((from, union.tensor(ir, result).unwrap_or_default()))
}

/// The clause `dims`, each index below `rank` and no index twice.
fn indices(ir: &Ir, op: Op, rank: usize) -> Result<SmallVec<[usize; 4]>, AxisRefusal> {
    let refusal = AxisRefusal::Unsupported { op };
    let mut list = SmallVec::new();
    for &index in ir.i64s_of(op, "dims").unwrap_or(&[]) {
        match usize::try_from(index) {
            Ok(index) if index < rank && !list.contains(&index) => list.push(index),
            _ => return Err(refusal),
        }
    }
    Ok(list)
}

fn same(union: &mut AxisUnion, op: Op, a: &[DimNode], b: &[DimNode]) -> Result<(), AxisRefusal> {
    if a.len() != b.len() {
        return Err(AxisRefusal::Unsupported { op });
    }
    for (&(x, _), &(y, _)) in a.iter().zip(b) {
        union.unify(op, x, y)?;
    }
    Ok(())
}

fn without(dims: &[DimNode], gone: &[usize]) -> Dims {
    let kept = dims.iter().enumerate().filter(|(i, _)| !gone.contains(i));
    kept.map(|(_, &d)| d).collect()
}
