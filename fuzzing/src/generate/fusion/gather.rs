//! Gathers: an axis is read at indices that are values, within the axis or beyond it.

use fuser_dialects::fusion;
use fuser_ir::DType;
use fuser_ir::def::OpDef;
use fuser_ir::types::Extent;

use super::maker::{Maker, Slot};
use super::operands::plain;
use super::ops::tensor;
use super::shapes::{self, Axis};

/// The most axes of a result.
const MAX_AXES: usize = 5;

/// Appends an op of the table to the program; `None` if that is not possible.
pub fn draw(maker: &mut Maker<'_>, def: &'static OpDef) -> Option<usize> {
    let along = std::ptr::eq(def, &fusion::TAKE_ALONG);
    let slot = tensor(maker, def, along)?;
    let source = maker.slots[slot].clone();
    if source.axes.is_empty() {
        return None;
    }
    let dim = maker.source.index(source.axes.len());
    let rest = shapes::elements(&source.axes) / source.axes[dim].length.max(1);
    let room = (maker.config.elements / rest.max(1)).max(1);
    let mut axes = source.axes;
    let indices = match along {
        true => {
            axes = axes.into_iter().map(plain).collect();
            axes[dim] = shapes::axis(maker.source, &mut maker.ir, &mut maker.names, room);
            beside(maker, &axes)
        }
        false => {
            let indices = indices(maker, room, MAX_AXES.saturating_sub(axes.len() - 1));
            axes.splice(dim..=dim, maker.slots[indices].axes.clone());
            indices
        }
    };
    let dim = ("dim", maker.ir.int_attr(dim as i64));
    maker.emit(def, &[slot, indices], &[dim], Some(axes), source.fact)
}

/// Appends a part of a tensor that begins at data, or an update of one, to the program; `None` if that is not possible.
pub fn draw_part(maker: &mut Maker<'_>, def: &'static OpDef) -> Option<usize> {
    let slot = tensor(maker, def, false)?;
    let source = maker.slots[slot].clone();
    let (mut dims, mut part) = (Vec::new(), source.axes.clone());
    for (dim, axis) in part.iter_mut().enumerate() {
        if axis.dim.extent == Extent::Unknown || maker.source.chance(1, 2) {
            continue;
        }
        dims.push(dim);
        if matches!(axis.dim.extent, Extent::Static(_)) && maker.source.chance(5, 6) {
            axis.length = maker.source.below(axis.length + 1);
            axis.dim.extent = Extent::Static(axis.length);
        }
    }
    let mut operands = vec![slot];
    let places: Vec<i64> = dims.iter().map(|&dim| dim as i64).collect();
    let mut clauses = vec![maker.ints_clause("dims", &places)];
    let (mut axes, mut fact) = (source.axes, source.fact);
    if std::ptr::eq(def, &fusion::DYNAMIC_SLICE) {
        clauses.push(maker.plain_clause("shape", &part));
        axes = part;
    } else {
        let wanted = shapes::dims(&part);
        let fits =
            |s: &Slot| s.dtype == source.dtype && !s.scalar && shapes::dims(&s.axes) == wanted;
        let updates = match maker.slot_where(fits) {
            Some(slot) => slot,
            None => maker.input(part.into_iter().map(plain).collect(), source.dtype, false),
        };
        let own = maker.slots[updates].clone();
        fact = fact.zip(own.fact).map(|(a, b)| a.max(b));
        operands.push(updates);
        for (dim, axis) in axes.iter_mut().enumerate() {
            axis.dim.broadcast &= own.axes[dim].dim.broadcast && !dims.contains(&dim);
        }
    }
    for _ in dims {
        operands.push(indices(maker, 1, 0));
    }
    maker.emit(def, &operands, &clauses, Some(axes), fact)
}

fn is_index(slot: &Slot) -> bool {
    matches!(slot.dtype, DType::I64 | DType::I32)
}

fn dtype(maker: &mut Maker<'_>) -> DType {
    maker.source.one(&[DType::I64, DType::I32])
}

/// Indices with these axes: a value that is there, or a new input.
pub fn beside(maker: &mut Maker<'_>, axes: &[Axis]) -> usize {
    let dims = shapes::dims(axes);
    let fits = |s: &Slot| is_index(s) && !s.scalar && shapes::dims(&s.axes) == dims;
    match maker.slot_where(fits) {
        Some(slot) => slot,
        None => {
            let dtype = dtype(maker);
            maker.input(axes.to_vec(), dtype, false)
        }
    }
}

/// Indices of at most `most` elements and `rank` axes.
fn indices(maker: &mut Maker<'_>, most: u64, rank: usize) -> usize {
    let fits = |s: &Slot| is_index(s) && shapes::elements(&s.axes) <= most && s.axes.len() <= rank;
    if maker.source.chance(1, 2)
        && let Some(slot) = maker.slot_where(fits)
    {
        return slot;
    }
    let axes = match maker.source.chance(3, 4) && rank > 0 {
        true => vec![shapes::axis(
            maker.source,
            &mut maker.ir,
            &mut maker.names,
            most,
        )],
        false => Vec::new(),
    };
    let dtype = dtype(maker);
    maker.input(axes, dtype, false)
}
