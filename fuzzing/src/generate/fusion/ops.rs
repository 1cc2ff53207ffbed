//! One op, by the family of its indexing maps: the family determines the operands and clauses that make sense, the
//! table the rest.
//!
//! An op of a family or with a clause that is not known here is never generated; a test sees that.

use fuser_dialects::fusion;
use fuser_ir::def::{ClauseKind, DTypes, OpDef, Traits};
use fuser_ir::types::{Dim, Extent};
use fuser_ir::{AttrKind, DType};

use super::attention;
use super::composites;
use super::convolution;
use super::facts;
use super::gather;
use super::lambdas;
use super::maker::{Clause, Maker};
use super::operands::plain;
use super::products;
use super::scatter;
use super::shapes::{self, Axis};
use super::sort;
use super::windows;

/// Axes that a broadcast adds at most.
const MAX_NEW_AXES: u64 = 2;
/// The chance of a domain guard before an op that is undefined for most arguments.
const GUARDS: (u64, u64) = (3, 4);

const FLOATS: [DType; 4] = [DType::F64, DType::F32, DType::F16, DType::BF16];

/// Appends an op of the table to the program; `None` if that is not possible.
pub fn draw(maker: &mut Maker<'_>, def: &'static OpDef) -> Option<usize> {
    match def.maps?.name {
        "pointwise" if def.traits.contains(Traits::ELEMENTWISE) => elementwise(maker, def),
        "pointwise" => identity(maker, def),
        "broadcast" => broadcast(maker),
        "reduce" if def.clause("dim").is_some() => arg(maker, def),
        "reduce" => reduce(maker, def),
        "scan" if def.regions.is_empty() => scan(maker, def),
        "scan" | "fold" => lambdas::draw(maker, def),
        "permute" => permute(maker),
        "squeeze" => squeeze(maker),
        "expand" => expand(maker),
        "reshape" => reshape(maker),
        "slice" | "flip" | "pad" | "cat" => windows::draw(maker, def),
        "take" | "take-along" => gather::draw(maker, def),
        "dynamic-slice" | "dynamic-update-slice" => gather::draw_part(maker, def),
        "matmul" | "linear" => products::draw(maker, def),
        "convolution" => convolution::draw(maker, def),
        "sdpa" => attention::draw(maker, def),
        "index-put" | "scatter" => scatter::draw(maker, def),
        "sort" => sort::draw(maker, def),
        "roll" => composites::roll(maker, def),
        "one-hot" => composites::one_hot(maker),
        "create" => create(maker, def),
        _ => None,
    }
}

fn elementwise(maker: &mut Maker<'_>, def: &'static OpDef) -> Option<usize> {
    let dtype = maker.common_dtype(def)?;
    let mut operands: Vec<usize> = Vec::with_capacity(def.operands.len());
    for (index, operand) in def.operands.iter().enumerate() {
        let wanted = if operand.ty.dtypes == DTypes::BOOL {
            DType::I1
        } else {
            dtype
        };
        let next = match operands.first() {
            None => maker.leading(operand.ty, wanted, false)?,
            Some(first)
                if wanted == dtype
                    && maker.source.chance(1, 12)
                    && maker.slots[*first].dtype == dtype =>
            {
                *first
            }
            Some(_) => {
                let axes = widest(maker, &operands);
                maker.beside(&axes, wanted)?
            }
        };
        operands.push(guarded(maker, def, index, next));
    }
    let clauses = elementwise_clauses(maker, def, dtype)?;
    maker.pointwise(def, &operands, &clauses)
}

fn widest(maker: &Maker<'_>, operands: &[usize]) -> Vec<Axis> {
    let axes = operands.iter().map(|i| &maker.slots[*i].axes);
    axes.max_by_key(|a| a.len()).cloned().unwrap_or_default()
}

/// The clauses of an elementwise op on elements of type `dtype`.
pub fn elementwise_clauses(
    maker: &mut Maker<'_>,
    def: &'static OpDef,
    dtype: DType,
) -> Option<Vec<Clause>> {
    let mut clauses = Vec::new();
    for clause in def.clauses {
        clauses.push(match clause.kind {
            ClauseKind::Keyword(words) => {
                let word = maker.source.one(words);
                (clause.name, maker.ir.string_attr(word))
            }
            ClauseKind::DType => {
                let to = target(maker, def, dtype)?;
                maker.dtype_clause(clause.name, to)
            }
            _ => return None,
        });
    }
    Some(clauses)
}

/// The result type of a cast or a bit cast of `dtype`.
fn target(maker: &mut Maker<'_>, def: &'static OpDef, dtype: DType) -> Option<DType> {
    if std::ptr::eq(def, &fusion::BITCAST) {
        let same = |d: &DType| d.bits() == dtype.bits() && *d != DType::I1 && dtype != DType::I1;
        let all: Vec<DType> = DType::REAL.into_iter().filter(same).collect();
        return maker.source.pick(&all).copied();
    }
    Some(maker.dtype())
}

/// Operands of logarithms, roots and divisions are mostly made positive, and operands of exponentials and inverse
/// functions small: results that are NaN or infinite everywhere test little.
fn guarded(maker: &mut Maker<'_>, def: &'static OpDef, index: usize, slot: usize) -> usize {
    if !maker.slots[slot].dtype.is_computed_float() || !maker.source.chance(GUARDS.0, GUARDS.1) {
        return slot;
    }
    let guard = match (def.name, index) {
        ("fusion.log" | "fusion.log2" | "fusion.log10" | "fusion.acosh", 0) => positive,
        ("fusion.sqrt" | "fusion.rsqrt" | "fusion.pow", 0) => positive,
        ("fusion.div" | "fusion.rem" | "fusion.remainder", 1) | ("fusion.reciprocal", 0) => {
            positive
        }
        ("fusion.exp" | "fusion.exp2" | "fusion.expm1", 0) if !maker.is_exact() => small,
        ("fusion.sinh" | "fusion.cosh" | "fusion.erfc", 0) => small,
        ("fusion.asin" | "fusion.acos" | "fusion.atanh" | "fusion.erfinv", 0) => small,
        _ => return slot,
    };
    guard(maker, slot).unwrap_or(slot)
}

/// `|x| + 1`
fn positive(maker: &mut Maker<'_>, slot: usize) -> Option<usize> {
    let magnitude = maker.pointwise(&fusion::ABS, &[slot], &[])?;
    let dtype = maker.slots[slot].dtype;
    let ty = maker.ir.scalar(dtype);
    let bits = 1f64.to_bits();
    let value = maker.ir.attr(AttrKind::Float { bits, ty });
    let one = maker.emit_typed(
        &fusion::CONSTANT,
        &[],
        &[("value", value)],
        None,
        Some(1),
        Some(ty),
    )?;
    maker.pointwise(&fusion::ADD, &[magnitude, one], &[])
}

/// `tanh x`
fn small(maker: &mut Maker<'_>, slot: usize) -> Option<usize> {
    maker.pointwise(&fusion::TANH, &[slot], &[])
}

/// A tensor that is there, or a new one.
pub fn tensor(maker: &mut Maker<'_>, def: &OpDef, known: bool) -> Option<usize> {
    let constraint = def.operands.first()?.ty;
    let dtypes = constraint.dtypes;
    let fits = |s: &super::maker::Slot| {
        !s.scalar && dtypes.contains(s.dtype) && (!known || shapes::is_known(&s.axes))
    };
    if maker.source.chance(7, 8)
        && let Some(slot) = maker.slot_where(fits)
    {
        return Some(slot);
    }
    let dtype = maker.common_dtype(def)?;
    let fresh = maker.fresh(dtype);
    fits(&maker.slots[fresh]).then_some(fresh)
}

/// Ops that keep value and shape: copies and boundaries.
fn identity(maker: &mut Maker<'_>, def: &'static OpDef) -> Option<usize> {
    let slot = tensor(maker, def, false)?;
    let mut clauses = Vec::new();
    for clause in def.clauses {
        if clause.kind == ClauseKind::Unit && maker.source.chance(1, 2) {
            clauses.push(maker.flag_clause(clause.name));
        }
    }
    let (axes, fact) = (maker.slots[slot].axes.clone(), maker.slots[slot].fact);
    let dense = axes.iter().copied().map(plain).collect();
    let axes = if clauses.is_empty() { axes } else { dense };
    maker.emit(def, &[slot], &clauses, Some(axes), fact)
}

fn broadcast(maker: &mut Maker<'_>) -> Option<usize> {
    let slot = match maker.source.chance(1, 8) {
        true => maker.slot_where(|s| s.axes.is_empty()),
        false => None,
    };
    let slot = match slot {
        Some(slot) => slot,
        None => tensor(maker, &fusion::BROADCAST, true)?,
    };
    let mut axes: Vec<Axis> = maker.slots[slot].axes.iter().copied().map(plain).collect();
    let mut kept: Vec<usize> = (0..axes.len()).collect();
    for _ in 0..1 + maker.source.below(MAX_NEW_AXES) {
        let room = maker.config.elements / shapes::elements(&axes).max(1);
        let at = maker.source.index(axes.len() + 1);
        let axis = shapes::axis(maker.source, &mut maker.ir, &mut maker.names, room);
        axes.insert(at, axis);
        kept.iter_mut().filter(|k| **k >= at).for_each(|k| *k += 1);
    }
    maker.broadcast(slot, &kept, &axes)
}

/// Some of `rank` axes, ascending.
fn some_axes(maker: &mut Maker<'_>, rank: usize) -> Vec<i64> {
    match maker.source.below(4) {
        0 if rank > 0 => vec![rank as i64 - 1],
        1 if rank > 0 => vec![maker.source.index(rank) as i64],
        2 => (0..rank as i64).collect(),
        _ => (0..rank as i64)
            .filter(|_| maker.source.chance(1, 2))
            .collect(),
    }
}

fn reduce(maker: &mut Maker<'_>, def: &'static OpDef) -> Option<usize> {
    let slot = tensor(maker, def, false)?;
    let reduced = some_axes(maker, maker.slots[slot].axes.len());
    reduce_axes(maker, def, slot, &reduced)
}

/// A reduction of `slot` along `reduced`; `None` if the exact tier excludes it.
pub fn reduce_axes(
    maker: &mut Maker<'_>,
    def: &'static OpDef,
    slot: usize,
    reduced: &[i64],
) -> Option<usize> {
    let keep = maker.source.chance(1, 4);
    let source = maker.slots[slot].clone();
    let is_reduced = |i: usize| reduced.contains(&(i as i64));
    let gone: Vec<Axis> = (0..source.axes.len())
        .filter(|i| is_reduced(*i))
        .map(|i| source.axes[i])
        .collect();
    let count = shapes::elements(&gone);
    let fact = maker.reduced(def, source.dtype, source.fact, count)?;
    let one = Axis {
        dim: Dim::fixed(1),
        length: 1,
    };
    let axes = (0..source.axes.len()).filter_map(|i| match is_reduced(i) {
        true => keep.then_some(one),
        false => Some(source.axes[i]),
    });
    let axes = axes.collect();
    let mut clauses = vec![maker.ints_clause("dims", reduced)];
    for clause in def.clauses {
        match clause.kind {
            ClauseKind::Unit if keep => clauses.push(maker.flag_clause(clause.name)),
            ClauseKind::Int => {
                let value = maker.source.range(0, 2);
                clauses.push((clause.name, maker.ir.int_attr(value)));
            }
            _ => {}
        }
    }
    maker.emit(def, &[slot], &clauses, Some(axes), fact)
}

/// The index of an extreme along some axis.
fn arg(maker: &mut Maker<'_>, def: &'static OpDef) -> Option<usize> {
    let slot = tensor(maker, def, false)?;
    let mut axes = maker.slots[slot].axes.clone();
    let at = (!axes.is_empty()).then(|| maker.source.index(axes.len()))?;
    let of = maker.source.one(&[DType::I64, DType::I32]);
    let fact = match axes[at].length {
        0 => facts::full_range(of),
        length => length,
    };
    let dim = ("dim", maker.ir.int_attr(at as i64));
    let mut clauses = vec![dim, maker.dtype_clause("of", of)];
    axes.remove(at);
    if maker.source.chance(1, 4) {
        let dim = Dim::fixed(1);
        axes.insert(at, Axis { dim, length: 1 });
        clauses.push(maker.flag_clause("keepdim"));
    }
    maker.emit(def, &[slot], &clauses, Some(axes), Some(fact))
}

/// A scan along some axis; `None` if the exact tier excludes it, since a GPU combines groups of elements first. No
/// partial result has more elements than the last one.
fn scan(maker: &mut Maker<'_>, def: &'static OpDef) -> Option<usize> {
    let slot = tensor(maker, def, false)?;
    let source = maker.slots[slot].clone();
    let at = (!source.axes.is_empty()).then(|| maker.source.index(source.axes.len()))?;
    let count = source.axes[at].length.max(1);
    let fact = maker.reduced(def, source.dtype, source.fact, count)?;
    let mut axes = source.axes;
    axes[at] = plain(axes[at]);
    let dim = ("dim", maker.ir.int_attr(at as i64));
    maker.emit(def, &[slot], &[dim], Some(axes), fact)
}

fn permute(maker: &mut Maker<'_>) -> Option<usize> {
    let slot = tensor(maker, &fusion::PERMUTE, false)?;
    let mut order: Vec<usize> = (0..maker.slots[slot].axes.len()).collect();
    maker.source.shuffle(&mut order);
    permute_to(maker, slot, &order)
}

/// `fusion.permute`
pub fn permute_to(maker: &mut Maker<'_>, slot: usize, order: &[usize]) -> Option<usize> {
    let axes = order.iter().map(|i| maker.slots[slot].axes[*i]).collect();
    let order: Vec<i64> = order.iter().map(|i| *i as i64).collect();
    let dims = maker.ints_clause("dims", &order);
    let fact = maker.slots[slot].fact;
    maker.emit(&fusion::PERMUTE, &[slot], &[dims], Some(axes), fact)
}

/// A tensor with an axis of extent 1.
fn with_unit_axis(maker: &mut Maker<'_>) -> Option<usize> {
    let one = |a: &Axis| a.dim.extent == Extent::Static(1);
    if let Some(slot) = maker.slot_where(|s| shapes::is_known(&s.axes) && s.axes.iter().any(one)) {
        return Some(slot);
    }
    let dtype = maker.dtype();
    let fresh = maker.fresh(dtype);
    let mut axes = maker.slots[fresh].axes.clone();
    if !shapes::is_known(&axes) {
        return None;
    }
    let at = maker.source.index(axes.len() + 1);
    let unit = Axis {
        dim: Dim::fixed(1),
        length: 1,
    };
    axes.insert(at, unit);
    Some(maker.input(axes, dtype, false))
}

fn squeeze(maker: &mut Maker<'_>) -> Option<usize> {
    let slot = with_unit_axis(maker)?;
    let axes = maker.slots[slot].axes.clone();
    let units = axes
        .iter()
        .enumerate()
        .filter(|(_, a)| a.dim.extent == Extent::Static(1));
    let mut dims: Vec<i64> = units.map(|(i, _)| i as i64).collect();
    if maker.source.chance(1, 4) {
        dims.truncate(1);
    }
    let fact = maker.slots[slot].fact;
    let dims = maker.ints_clause("dims", &dims);
    maker.emit(&fusion::SQUEEZE, &[slot], &[dims], None, fact)
}

fn expand(maker: &mut Maker<'_>) -> Option<usize> {
    let slot = with_unit_axis(maker)?;
    let mut axes = maker.slots[slot].axes.clone();
    for i in 0..axes.len() {
        if axes[i].dim.extent == Extent::Static(1) && maker.source.chance(3, 4) {
            let room = maker.config.elements / shapes::elements(&axes).max(1);
            axes[i] = shapes::axis(maker.source, &mut maker.ir, &mut maker.names, room);
        }
    }
    let shape = maker.plain_clause("shape", &axes);
    let fact = maker.slots[slot].fact;
    maker.emit(&fusion::EXPAND, &[slot], &[shape], None, fact)
}

/// Merges two neighbours or splits an axis by one of its divisors.
fn reshape(maker: &mut Maker<'_>) -> Option<usize> {
    let slot = tensor(maker, &fusion::RESHAPE, true)?;
    let mut axes = maker.slots[slot].axes.clone();
    for _ in 0..1 + maker.source.below(2) {
        match maker.source.chance(1, 2) {
            true => merge(maker, &mut axes),
            false => split(maker, &mut axes),
        };
    }
    let shape = maker.shape_clause("shape", &axes);
    let fact = maker.slots[slot].fact;
    maker.emit(&fusion::RESHAPE, &[slot], &[shape], None, fact)
}

fn merge(maker: &mut Maker<'_>, axes: &mut Vec<Axis>) -> Option<()> {
    let pairs: Vec<usize> = (1..axes.len())
        .filter(|i| !axes[*i].dim.broadcast && !axes[i - 1].dim.broadcast)
        .collect();
    let at = *maker.source.pick(&pairs)?;
    let left = maker.ir.extent_as_expr(axes[at - 1].dim.extent)?;
    let right = maker.ir.extent_as_expr(axes[at].dim.extent)?;
    let extent = maker.ir.extent(left.mul(&right)?)?;
    let length = axes[at - 1].length * axes[at].length;
    let dim = Dim::new(extent);
    axes.splice(at - 1..=at, [Axis { dim, length }]);
    Some(())
}

fn split(maker: &mut Maker<'_>, axes: &mut Vec<Axis>) -> Option<()> {
    let fixed = |a: &Axis| matches!(a.dim.extent, Extent::Static(n) if n > 0) && !a.dim.broadcast;
    let all: Vec<usize> = (0..axes.len()).filter(|i| fixed(&axes[*i])).collect();
    let at = *maker.source.pick(&all)?;
    let whole = axes[at].length;
    let divisors: Vec<u64> = (1..=whole.min(256))
        .filter(|d| whole.is_multiple_of(*d))
        .collect();
    let divisor = *maker.source.pick(&divisors)?;
    let part = |length| Axis {
        dim: Dim::fixed(length),
        length,
    };
    axes.splice(at..=at, [part(whole / divisor), part(divisor)]);
    Some(())
}

fn create(maker: &mut Maker<'_>, def: &'static OpDef) -> Option<usize> {
    let most = maker.config.elements;
    let mut axes = shapes::shape(maker.source, &mut maker.ir, &mut maker.names, most);
    let wanted = maker.dtype();
    match def.name {
        "fusion.constant" => {
            let axes = maker.source.chance(1, 2).then_some(axes);
            match axes {
                Some(axes) if !wanted.is_complex() && maker.source.chance(1, 3) => {
                    dense(maker, axes, wanted)
                }
                axes => maker.constant(wanted, axes),
            }
        }
        "fusion.full" => {
            let value = match maker.slot_where(|s| s.axes.is_empty()) {
                Some(slot) => slot,
                None => maker.constant(wanted, None)?,
            };
            let fact = maker.slots[value].fact;
            let shape = maker.plain_clause("shape", &axes);
            maker.emit(def, &[value], &[shape], None, fact)
        }
        "fusion.size" => {
            let shape = maker.plain_clause("shape", &axes);
            let fact = Some(shapes::elements(&axes));
            maker.emit(def, &[], &[shape], None, fact)
        }
        "fusion.uniform" | "fusion.normal" | "fusion.bernoulli" => {
            let mut operands = Vec::new();
            let mut clauses = vec![maker.plain_clause("shape", &axes)];
            for operand in def.operands {
                let dtype = match operand.ty.dtypes == DTypes::FLOAT {
                    true => maker.source.one(&FLOATS),
                    false => DType::I64,
                };
                let one = |s: &super::maker::Slot| s.axes.is_empty() && s.dtype == dtype;
                operands.push(match maker.slot_where(one) {
                    Some(slot) => slot,
                    None => maker.input(Vec::new(), dtype, false),
                });
            }
            let of = maker.source.one(&FLOATS);
            if def.clauses.iter().any(|clause| clause.name == "of") {
                clauses.push(maker.dtype_clause("of", of));
            }
            let fact = (def.name == "fusion.bernoulli").then_some(1);
            maker.emit(def, &operands, &clauses, None, fact)
        }
        "fusion.iota" => {
            if axes.is_empty() {
                axes.push(shapes::axis(
                    maker.source,
                    &mut maker.ir,
                    &mut maker.names,
                    most,
                ));
            }
            let at = maker.source.index(axes.len());
            let dim = ("dim", maker.ir.int_attr(at as i64));
            let of = maker.dtype_clause("of", wanted);
            let shape = maker.plain_clause("shape", &axes);
            let fact = facts::rounded(wanted, axes[at].length);
            maker.emit(def, &[], &[dim, shape, of], None, fact)
        }
        _ => None,
    }
}

/// A constant with elements of its own.
fn dense(maker: &mut Maker<'_>, mut axes: Vec<Axis>, dtype: DType) -> Option<usize> {
    const MOST: u64 = 64;
    let fixed = axes
        .iter()
        .all(|a| matches!(a.dim.extent, Extent::Static(_)));
    if !fixed || shapes::elements(&axes) > MOST {
        axes = vec![Axis {
            dim: Dim::fixed(5),
            length: 5,
        }];
    }
    let plan =
        crate::generate::inputs::InputRecipe::draw(maker.source, maker.config.tier, &axes, dtype);
    let bytes = crate::generate::inputs::fill(&plan, maker.source).bytes;
    let ty = maker.tensor_type(&axes, dtype);
    let value = maker.ir.attr(AttrKind::Dense {
        ty,
        dtype,
        splat: false,
        bytes,
    });
    maker.emit_typed(
        &fusion::CONSTANT,
        &[],
        &[("value", value)],
        None,
        plan.fact(),
        Some(ty),
    )
}
