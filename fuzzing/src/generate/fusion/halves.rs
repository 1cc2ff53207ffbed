//! Templates that split a tensor along an axis and concatenate the parts again.

use fuser_dialects::fusion::{self, ADD, MUL};
use fuser_ir::types::{Dim, Extent};
use fuser_ir::{AttrKind, DType};

use super::maker::Maker;
use super::shapes::{self, Axis};
use super::templates::{binary, stored, unary};

/// An activation whose axis has a known, even length, and that axis.
fn divisible(maker: &mut Maker<'_>) -> Option<(usize, usize)> {
    let even = |a: &Axis| matches!(a.dim.extent, Extent::Static(n) if n > 0 && n % 2 == 0);
    let fits = |s: &super::maker::Slot| {
        s.dtype.is_computed_float() && shapes::is_known(&s.axes) && s.axes.iter().any(even)
    };
    let slot = match maker.slot_where(fits) {
        Some(slot) => slot,
        None => {
            let rows = shapes::axis(maker.source, &mut maker.ir, &mut maker.names, 64);
            let length = maker.source.one(&[4, 2, 8, 32]);
            let dim = Dim::fixed(length);
            let dtype = maker.source.one(&[DType::BF16, DType::F32]);
            maker.input(vec![rows, Axis { dim, length }], dtype, false)
        }
    };
    let at = maker.slots[slot].axes.iter().rposition(even)?;
    Some((slot, at))
}

/// A half of `x` along an axis of even, known length.
fn half(maker: &mut Maker<'_>, x: usize, at: usize, second: bool) -> Option<usize> {
    let length = maker.slots[x].axes[at].length / 2;
    let start = if second { length } else { 0 };
    part(maker, x, at, start, length)
}

/// The indices from `start` on of an axis of known length.
pub fn part(maker: &mut Maker<'_>, x: usize, at: usize, start: u64, length: u64) -> Option<usize> {
    let mut axes = maker.slots[x].axes.clone();
    let dim = Dim {
        extent: Extent::Static(length),
        ..axes[at].dim
    };
    axes[at] = Axis { dim, length };
    let mut starts = vec![0; axes.len()];
    starts[at] = start as i64;
    let shape = axes.iter().map(|a| Dim::new(a.dim.extent)).collect();
    let clauses = [
        maker.ints_clause("starts", &starts),
        ("shape", maker.ir.attr(AttrKind::Extents(shape))),
    ];
    let fact = maker.slots[x].fact;
    maker.emit(&fusion::SLICE, &[x], &clauses, Some(axes), fact)
}

/// `fusion.cat`
pub fn joined(maker: &mut Maker<'_>, parts: &[usize], at: usize) -> Option<usize> {
    let facts: Option<Vec<u64>> = parts.iter().map(|p| maker.slots[*p].fact).collect();
    let fact = facts.and_then(|f| f.into_iter().max());
    let dim = ("dim", maker.ir.int_attr(at as i64));
    maker.emit(&fusion::CAT, parts, &[dim], None, fact)
}

/// Repeats a value beside itself; or splits it and concatenates the parts again, in order or not, sometimes after a
/// change of one part.
pub fn parts(maker: &mut Maker<'_>) -> Option<usize> {
    let (x, at) = divisible(maker)?;
    if maker.source.chance(1, 3) {
        let twice = joined(maker, &[x, x], at)?;
        return match maker.source.chance(1, 2) {
            true => unary(maker, &fusion::NEG, twice),
            false => Some(twice),
        };
    }
    let mut parts = vec![half(maker, x, at, false)?, half(maker, x, at, true)?];
    if maker.source.chance(1, 3) {
        parts[0] = unary(maker, &fusion::RELU, parts[0])?;
    }
    if maker.source.chance(1, 4) {
        parts.swap(0, 1);
    }
    joined(maker, &parts, at)
}

/// Rotary embedding: `x cos + cat(-x2, x1) sin`.
pub fn rope(maker: &mut Maker<'_>) -> Option<usize> {
    let (x, at) = divisible(maker)?;
    let to = maker.slots[x].dtype.compute();
    let x = maker.cast(x, to)?;
    let (first, second) = (half(maker, x, at, false)?, half(maker, x, at, true)?);
    let second = unary(maker, &fusion::NEG, second)?;
    let turned = joined(maker, &[second, first], at)?;
    let axes = maker.slots[x].axes.clone();
    let cosine = maker.spread(&axes, to)?;
    let sine = maker.spread(&axes, to)?;
    let a = binary(maker, &MUL, x, cosine)?;
    let b = binary(maker, &MUL, turned, sine)?;
    let y = binary(maker, &ADD, a, b)?;
    stored(maker, y)
}
