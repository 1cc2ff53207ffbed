//! Ops that move a window along axes: slice, flip, pad, cat.

use fuser_dialects::fusion::{self, window};
use fuser_ir::AttrKind;
use fuser_ir::def::OpDef;
use fuser_ir::types::{Dim, Extent, ExtentExpr};

use super::maker::Maker;
use super::operands::plain;
use super::ops::tensor;
use super::shapes::{self, Axis};

/// The most elements that padding adds on one side.
const MAX_PAD: u64 = 5;
/// The most that padding by a named extent adds.
const MAX_NAMED_PAD: u64 = 33;
/// The most operands of a concatenation.
const MAX_PARTS: u64 = 4;

/// Appends an op of the table to the program; `None` if that is not possible.
pub fn draw(maker: &mut Maker<'_>, def: &'static OpDef) -> Option<usize> {
    match def.name {
        "fusion.slice" => slice(maker),
        "fusion.flip" => flip(maker),
        "fusion.pad" => pad(maker),
        "fusion.cat" => cat(maker),
        _ => None,
    }
}

fn slice(maker: &mut Maker<'_>) -> Option<usize> {
    let slot = tensor(maker, &fusion::SLICE, false)?;
    let source = maker.slots[slot].clone();
    let (mut starts, mut steps, mut axes) = (Vec::new(), Vec::new(), Vec::new());
    for axis in &source.axes {
        let (start, step, taken) = part(maker, *axis);
        starts.push(start);
        steps.push(step);
        axes.push(taken);
    }
    let mut clauses = vec![maker.amounts_clause("starts", &starts)?];
    let shape = axes.iter().map(|a| Dim::new(a.dim.extent)).collect();
    clauses.push(("shape", maker.ir.attr(AttrKind::Extents(shape))));
    if steps.iter().any(|s| *s != 1) || maker.source.chance(1, 4) {
        clauses.push(maker.ints_clause("strides", &steps));
    }
    maker.emit(&fusion::SLICE, &[slot], &clauses, Some(axes), source.fact)
}

/// Start, step and the resulting part of an axis.
fn part(maker: &mut Maker<'_>, axis: Axis) -> (ExtentExpr, i64, Axis) {
    let all = (ExtentExpr::constant(0), 1, axis);
    if maker.source.chance(1, 3) {
        return all;
    }
    let Extent::Static(whole) = axis.dim.extent else {
        let part = named_part(maker, axis);
        return part.map_or(all, |(start, taken)| (start, 1, taken));
    };
    let start = maker.source.below(whole.min(8));
    let step = 1 + maker.source.below(3);
    let most = whole.saturating_sub(start).div_ceil(step);
    let length = match maker.source.chance(1, 3) {
        true => most,
        false => maker.source.below(most + 1),
    };
    let dim = Dim {
        extent: Extent::Static(length),
        ..axis.dim
    };
    let start = ExtentExpr::constant(start as i64);
    (start, step as i64, Axis { dim, length })
}

/// Start and the resulting part of an axis whose length has names: for each term of the length, a random multiple is
/// before the part, and another in it.
fn named_part(maker: &mut Maker<'_>, axis: Axis) -> Option<(ExtentExpr, Axis)> {
    let whole = maker.ir.extent_as_expr(axis.dim.extent)?;
    let (mut start, mut taken) = (ExtentExpr::constant(0), ExtentExpr::constant(0));
    for (names, coefficient) in whole.terms {
        let coefficient = u64::try_from(coefficient).ok()?;
        let before = maker.source.below(coefficient + 1);
        let within = maker.source.below(coefficient - before + 1);
        let term = |count: u64| {
            let mut term = ExtentExpr::constant(count as i64);
            for name in &names {
                term = term.mul(&ExtentExpr::name(*name))?;
            }
            Some(term)
        };
        start = start.add(&term(before)?)?;
        taken = taken.add(&term(within)?)?;
    }
    let extent = maker.ir.extent(taken)?;
    let length = maker.names.length(&maker.ir, extent)?;
    let dim = Dim { extent, ..axis.dim };
    Some((start, Axis { dim, length }))
}

/// The length of a named axis with at most `most` elements; `None` if there is no such axis.
fn named_amount(maker: &mut Maker<'_>, most: u64) -> Option<ExtentExpr> {
    let axes = maker.slots.iter().flat_map(|slot| &slot.axes);
    let short = axes.filter(|axis| axis.length <= most);
    let named = short.filter_map(|axis| maker.ir.extent_as_expr(axis.dim.extent)?.as_name());
    let named: Vec<_> = named.collect();
    maker.source.pick(&named).copied().map(ExtentExpr::name)
}

fn flip(maker: &mut Maker<'_>) -> Option<usize> {
    let slot = tensor(maker, &fusion::FLIP, true)?;
    let source = maker.slots[slot].clone();
    let rank = source.axes.len() as i64;
    let dims: Vec<i64> = (0..rank).filter(|_| maker.source.chance(1, 2)).collect();
    let dims = maker.ints_clause("dims", &dims);
    maker.emit(&fusion::FLIP, &[slot], &[dims], None, source.fact)
}

fn pad(maker: &mut Maker<'_>) -> Option<usize> {
    let slot = tensor(maker, &fusion::PAD, true)?;
    let source = maker.slots[slot].clone();
    let rank = source.axes.len();
    let amounts = |maker: &mut Maker<'_>| -> Vec<ExtentExpr> {
        let number = |maker: &mut Maker<'_>| match maker.source.chance(1, 2) {
            true => ExtentExpr::constant(maker.source.below(MAX_PAD + 1) as i64),
            false => ExtentExpr::constant(0),
        };
        let amount = |maker: &mut Maker<'_>| match maker.source.chance(1, 8) {
            true => named_amount(maker, MAX_NAMED_PAD).unwrap_or_else(|| number(maker)),
            false => number(maker),
        };
        (0..rank).map(|_| amount(maker)).collect()
    };
    let (low, high) = (amounts(maker), amounts(maker));
    let value = match maker.slot_where(|s| s.axes.is_empty() && s.dtype == source.dtype) {
        Some(value) => value,
        None => maker.constant(source.dtype, None)?,
    };
    let fact = both(source.fact, maker.slots[value].fact);
    let clauses = [
        maker.amounts_clause("low", &low)?,
        maker.amounts_clause("high", &high)?,
    ];
    maker.emit(&fusion::PAD, &[slot, value], &clauses, None, fact)
}

fn both(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    Some(a?.max(b?))
}

fn cat(maker: &mut Maker<'_>) -> Option<usize> {
    let first = tensor(maker, &fusion::CAT, true)?;
    let source = maker.slots[first].clone();
    if source.axes.is_empty() {
        return None;
    }
    let at = maker.source.index(source.axes.len());
    let (mut parts, mut fact) = (vec![first], source.fact);
    for _ in 0..maker.source.below(MAX_PARTS) {
        let part = other_part(maker, first, at);
        fact = both(fact, maker.slots[part].fact);
        parts.push(part);
    }
    let dim = ("dim", maker.ir.int_attr(at as i64));
    let slot = maker.emit(&fusion::CAT, &parts, &[dim], None, fact)?;
    let made = maker.ir.def_op(maker.slots[slot].value);
    if let Some(op) = made.filter(|&op| window::refuse_placed(&maker.ir, op).is_none())
        && maker.source.chance(1, 2)
    {
        let (name, unit) = maker.flag_clause(window::PLACED);
        maker.ir.set_attr(op, name, unit);
    }
    Some(slot)
}

/// The first operand again, a value that agrees with it on all axes but `at`, or a new input.
fn other_part(maker: &mut Maker<'_>, first: usize, at: usize) -> usize {
    let like = maker.slots[first].clone();
    let agrees = |s: &super::maker::Slot| {
        let rest = |axes: &[Axis]| {
            let mut rest: Vec<Extent> = axes.iter().map(|a| a.dim.extent).collect();
            rest.remove(at);
            rest
        };
        s.dtype == like.dtype
            && s.axes.len() == like.axes.len()
            && shapes::is_known(&s.axes)
            && rest(&s.axes) == rest(&like.axes)
    };
    if maker.source.chance(1, 2)
        && let Some(slot) = maker.slot_where(agrees)
    {
        return slot;
    }
    let mut axes: Vec<Axis> = like.axes.iter().copied().map(plain).collect();
    let rest = shapes::elements(&axes) / axes[at].length.max(1);
    let room = (maker.config.elements / rest.max(1) / MAX_PARTS).max(1);
    axes[at] = shapes::axis(maker.source, &mut maker.ir, &mut maker.names, room);
    maker.input(axes, like.dtype, false)
}
