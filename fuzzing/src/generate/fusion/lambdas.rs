//! Folds and scans with a lambda of random ops on scalars, and the last element of an axis.

use fuser_dialects::fusion;
use fuser_dialects::fusion::fold::constants::attribute;
use fuser_dialects::fusion::fold::scalar::Scalar;
use fuser_ir::build::Builder;
use fuser_ir::def::{DTypes, OpDef, Traits};
use fuser_ir::{AttrId, AttrKind, Block, DType, Value};

use super::maker::{Clause, Maker};
use super::ops::{elementwise_clauses, tensor};
use super::products::like;
use super::{drawable, facts, shapes};

/// Accumulators of a lambda at most.
const MAX_ACCUMULATORS: u64 = 3;
/// Ops of a lambda at most.
const MAX_OPS: u64 = 6;
/// Ops that are associative on integers, each with its neutral element.
const ASSOCIATIVE: [(&OpDef, i128); 3] = [(&fusion::ADD, 0), (&fusion::MUL, 1), (&fusion::XOR, 0)];

/// A lambda being made: the values that it has so far.
struct Lambda {
    block: Block,
    values: Vec<(Value, DType)>,
}

/// Appends an op of the table to the program; `None` if that is not possible.
pub fn draw(maker: &mut Maker<'_>, def: &'static OpDef) -> Option<usize> {
    if def.regions.is_empty() {
        return last(maker, def);
    }
    let first = tensor(maker, def, true)?;
    let source = maker.slots[first].clone();
    let dim = (!source.axes.is_empty()).then(|| maker.source.index(source.axes.len()))?;
    let mut operands = vec![first];
    while operands.len() < 3 && maker.source.chance(1, 3) {
        let dtype = shapes::dtype(maker.source);
        operands.push(like(maker, &source.axes, dtype));
    }
    let elements: Vec<DType> = operands.iter().map(|i| maker.slots[*i].dtype).collect();
    let dim = ("dim", maker.ir.int_attr(dim as i64));
    let integers = elements.len() == 1 && DTypes::INT.contains(elements[0]);
    match integers && maker.source.chance(1, 3) {
        true => associative(maker, def, first, dim),
        false => with_lambda(maker, def, &operands, &elements, dim),
    }
}

/// A lambda that is a single op, which is declared associative.
fn associative(
    maker: &mut Maker<'_>,
    def: &'static OpDef,
    slot: usize,
    dim: Clause,
) -> Option<usize> {
    let dtype = maker.slots[slot].dtype;
    let (way, neutral) = maker.source.one(&ASSOCIATIVE);
    let ty = maker.ir.scalar(dtype);
    let (region, block) = maker.build().region(&[ty, ty]);
    let args = maker.ir.args(block).to_vec();
    let mut b = Builder::at_end(&mut maker.ir, block);
    let after = b.value(way, &args, &[]).ok()?;
    b.op(&fusion::YIELD, &[after], &[]).ok()?;
    let init = maker.ir.int_attr(neutral as i64);
    let init = ("init", maker.ir.attr(AttrKind::Array(vec![init])));
    let clauses = [dim, init, maker.flag_clause("associative")];
    maker.emit_lambda(def, &[slot], &clauses, region)
}

fn with_lambda(
    maker: &mut Maker<'_>,
    def: &'static OpDef,
    operands: &[usize],
    elements: &[DType],
    dim: Clause,
) -> Option<usize> {
    let count = 1 + maker.source.below(MAX_ACCUMULATORS);
    let accumulators: Vec<DType> = (0..count)
        .map(|_| match maker.source.chance(2, 3) {
            true => maker.source.one(elements),
            false => shapes::dtype(maker.source),
        })
        .collect();
    let numbers: Vec<AttrId> = accumulators.iter().map(|d| number(maker, *d)).collect();
    let dtypes: Vec<DType> = accumulators.iter().chain(elements).copied().collect();
    let types: Vec<_> = dtypes.iter().map(|d| maker.ir.scalar(*d)).collect();
    let (region, block) = maker.build().region(&types);
    let args = maker.ir.args(block).iter().copied();
    let values = args.zip(dtypes).collect();
    let mut lambda = Lambda { block, values };
    let ops = drawable(&maker.config);
    for _ in 0..1 + maker.source.below(MAX_OPS) {
        let Some(&op) = maker.source.pick(&ops) else {
            break;
        };
        add_op(maker, &mut lambda, op);
    }
    let ends: Option<Vec<Value>> = accumulators
        .iter()
        .map(|&dtype| yielded(maker, &lambda, dtype))
        .collect();
    let mut b = Builder::at_end(&mut maker.ir, block);
    b.op(&fusion::YIELD, &ends?, &[]).ok()?;
    let init = ("init", maker.ir.attr(AttrKind::Array(numbers)));
    maker.emit_lambda(def, operands, &[dim, init], region)
}

/// A number that an accumulator may begin with.
fn number(maker: &mut Maker<'_>, dtype: DType) -> AttrId {
    let number = match dtype.is_float() {
        true => Scalar::float(
            maker.source.one(&[0.0, -0.0, 1.0, -2.5, f64::INFINITY]),
            dtype,
        ),
        false => Scalar::int(maker.source.below(2).into(), dtype),
    };
    let ty = maker.ir.scalar(dtype);
    attribute(&mut maker.ir, number, ty)
}

/// Appends an elementwise op or a constant to a lambda. Does nothing if no operands fit the op, or if it makes a
/// complex number: lambdas compute with reals.
fn add_op(maker: &mut Maker<'_>, lambda: &mut Lambda, def: &'static OpDef) {
    if !def.traits.contains(Traits::ELEMENTWISE) {
        return;
    }
    let Some(&(_, dtype)) = maker.source.pick(&lambda.values) else {
        return;
    };
    let unknown = vec![None; def.operands.len()];
    if maker.is_exact() && !facts::admits(def, dtype, &unknown) {
        return;
    }
    let operands: Option<Vec<Value>> = (def.operands.iter())
        .map(|operand| {
            let wanted = match operand.ty.dtypes == DTypes::BOOL {
                true => DType::I1,
                false => dtype,
            };
            let fits = operand.ty.dtypes.contains(wanted);
            fits.then(|| operand_of(maker, lambda, wanted)).flatten()
        })
        .collect();
    let clauses = elementwise_clauses(maker, def, dtype);
    let (Some(operands), Some(clauses)) = (operands, clauses) else {
        return;
    };
    let mut b = Builder::at_end(&mut maker.ir, lambda.block);
    let Ok(made) = b.value(def, &operands, &clauses) else {
        return;
    };
    let own = maker.ir.value_kind(made).dtype().unwrap_or(dtype);
    match maker.ir.def_op(made) {
        Some(op) if own.is_complex() => maker.ir.erase(op),
        _ => lambda.values.push((made, own)),
    }
}

/// A value of the lambda of this type, or a constant.
fn operand_of(maker: &mut Maker<'_>, lambda: &Lambda, dtype: DType) -> Option<Value> {
    let all = lambda.values.iter().filter(|(_, own)| *own == dtype);
    let all: Vec<Value> = all.map(|(value, _)| *value).collect();
    if !all.is_empty() && !maker.source.chance(1, 6) {
        return maker.source.pick(&all).copied();
    }
    let value = number(maker, dtype);
    let ty = maker.ir.scalar(dtype);
    let mut b = Builder::at_end(&mut maker.ir, lambda.block);
    b.typed(&fusion::CONSTANT, &[], &[("value", value)], ty)
        .ok()
}

/// The next value of an accumulator: mostly the last value of its type, otherwise the last value of all, converted.
fn yielded(maker: &mut Maker<'_>, lambda: &Lambda, dtype: DType) -> Option<Value> {
    let own = lambda.values.iter().rev().find(|(_, own)| *own == dtype);
    if let Some((value, _)) = own.filter(|_| !maker.source.chance(1, 6)) {
        return Some(*value);
    }
    let (last, from) = *lambda.values.last()?;
    if from == dtype {
        return Some(last);
    }
    let to = maker.dtype_clause("to", dtype);
    let mut b = Builder::at_end(&mut maker.ir, lambda.block);
    b.value(&fusion::CAST, &[last], &[to]).ok()
}

fn last(maker: &mut Maker<'_>, def: &'static OpDef) -> Option<usize> {
    let slot = tensor(maker, def, false)?;
    let source = maker.slots[slot].clone();
    let mut axes = source.axes;
    let dim = (!axes.is_empty()).then(|| maker.source.index(axes.len()))?;
    let ty = maker.ir.scalar(source.dtype);
    let otherwise = match source.dtype.is_float() {
        true => Scalar::float(1.0, source.dtype),
        false => Scalar::int(1, source.dtype),
    };
    let otherwise = attribute(&mut maker.ir, otherwise, ty);
    let clauses = [
        ("dim", maker.ir.int_attr(dim as i64)),
        ("otherwise", otherwise),
    ];
    axes.remove(dim);
    let fact = source.fact.map(|m| m.max(1));
    maker.emit(def, &[slot], &clauses, Some(axes), fact)
}
