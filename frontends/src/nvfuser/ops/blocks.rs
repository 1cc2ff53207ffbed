//! Grouped products of rows with 4-bit floats in blocks with scales, and the layout of such scales.
//!
//! ```text
//! a[m, k]   b[g, k, n]   c[m, n] = alpha[g] * sum over k of a[m, k] * s[row, k / 16] * b[g, k, n] * t[g, n, k / 16]
//!
//! g is the group of row m    row = scale_starts[g] + m - starts[g]
//! ```
//!
//! `starts` are the first rows of the groups, ascending from 0, and `scale_starts` the rows at which their scales
//! start, each in a separate tile. The sizes of the products, which nvFuser also receives, follow from these.

use fuser_dialects::fusion::{self, build::FusionBuilder};
use fuser_ir::Value;
use fuser_ir::types::{DType, Dim, Extent};

use super::index::agree;
use super::narrow::{self, Quantization, TILE};
use super::product::{self, Factor, at, passed, places};
use crate::nvfuser::Reader;
use crate::nvfuser::args::Args;
use crate::nvfuser::value::Val;
use crate::program::{Fault, Made};

/// The number of elements that have a scale.
const BLOCK: u64 = 16;

pub fn nvfp4_grouped_mm<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let (a, b) = (args.tensor(0, &["mat1"])?, args.tensor(1, &["mat2"])?);
    let scales = [args.tensor(2, &["scale1"])?, args.tensor(3, &["scale2"])?];
    let alpha = args.tensor(4, &["alpha"])?;
    let starts = args.tensor(6, &["expert_offsets"])?;
    let scale_starts = args.tensor(7, &["sf_offsets"])?;
    agree(r, (a, 1), (b, 1))?;
    for list in [alpha, starts, scale_starts] {
        agree(r, (list, 0), (b, 0))?;
    }
    let (own, other) = (r.extents(a), r.extents(b));
    let (&[rows, _], &[groups, Extent::Static(terms), Extent::Static(columns)]) =
        (own.as_slice(), other.as_slice())
    else {
        let fault = Fault::form("has factors of other than 2 and 3 axes, or of extents not known");
        return Err(fault.help("`--shape` says what extents are that a definition leaves open"));
    };
    if !terms.is_multiple_of(BLOCK) {
        let text = format!("has {terms} terms, which are no blocks of {BLOCK}");
        return Err(Fault::form(text));
    }
    let blocks = terms / BLOCK;
    let row = places(r, rows)?;
    let group = group(r, starts, row)?;
    let row = moved(r, row, group, [starts, scale_starts])?;
    let own = scales_of_rows(r, scales[0], blocks)?;
    let own = at(r, own, row)?;
    let [in_blocks, block, once] = [blocks, BLOCK, 1].map(Extent::Static);
    let a = Factor {
        value: r.draft.reshape(a, &[rows, in_blocks, block])?,
        scale: Some(r.draft.reshape(own, &[rows, in_blocks, once])?),
    };
    let columns = Extent::Static(columns);
    let own = scales_of_columns(r, scales[1], [groups, columns, in_blocks])?;
    let own = r.draft.permute(own, &[0, 2, 1])?;
    let b = Factor {
        value: r.draft.reshape(b, &[groups, in_blocks, block, columns])?,
        scale: Some(r.draft.reshape(own, &[groups, in_blocks, once, columns])?),
    };
    let product = product::by_rows(r, a, b, group)?;
    let alpha = at(r, alpha, group)?;
    let alpha = r.draft.broadcast(alpha, &[0], &[rows, columns])?;
    let product = r.draft.make(&fusion::MUL, &[product, alpha])?;
    let to = args.dtype(8, &["dtype"])?.unwrap_or(DType::BF16);
    super::one(narrow::cast(&mut r.draft, product, to))
}

/// The group of each of `rows`, of groups with these first rows.
fn group(r: &mut Reader<'_>, starts: Value, rows: Value) -> Made {
    let passed = passed(r, starts, rows)?;
    let scalar = r.draft.ir.scalar(DType::I64);
    let one = r.draft.number(1.0, scalar)?;
    r.draft.make(&fusion::SUB, &[passed, one])
}

/// The position of each row, shifted from the first offsets of its group, `starts[0]`, to the second ones, `starts[1]`.
fn moved(r: &mut Reader<'_>, rows: Value, group: Value, starts: [Value; 2]) -> Made {
    let mut moved = rows;
    for (def, starts) in [&fusion::SUB, &fusion::ADD].into_iter().zip(starts) {
        let start = at(r, starts, group)?;
        let start = r.draft.cast(start, DType::I64)?;
        moved = r.draft.make(def, &[moved, start])?;
    }
    Ok(moved)
}

/// Scales of rows, so many for each, out of their tiles.
fn scales_of_rows(r: &mut Reader<'_>, scale: Value, blocks: u64) -> Made {
    let [rows, columns] = narrow::scale_extents(r, scale)?;
    if !rows.is_multiple_of(TILE[0]) || columns != narrow::whole(blocks, TILE[1])? {
        let text = format!("has {rows} x {columns} scales, which are no tiles for {blocks} blocks");
        return Err(Fault::form(text));
    }
    narrow::unswizzled(r, scale, [rows, blocks])
}

/// The scales of the columns of matrices, unpacked from their tiles: `[group, column, block]`.
fn scales_of_columns(r: &mut Reader<'_>, scale: Value, shape: [Extent; 3]) -> Made {
    let tile = [1, TILE[0], TILE[1]];
    let mut dims = Vec::new();
    let mut lengths = [0; 3];
    let own = r.extents(scale);
    if own.len() != shape.len() {
        return Err(Fault::form(
            "has scales of columns of other than three axes",
        ));
    }
    for (axis, own) in own.into_iter().enumerate() {
        let Extent::Static(wanted) = shape[axis] else {
            return Err(Fault::form("has groups of a number that is not known"));
        };
        lengths[axis] = narrow::whole(wanted, tile[axis])?;
        dims.push(Dim::new(r.unify(own, Extent::Static(lengths[axis]))?));
    }
    r.settle(scale, dims);
    // Tiles consist of whole rows of a group, so tiles of all groups are consecutive.
    let rows = lengths[0].checked_mul(lengths[1]);
    let rows = rows.ok_or_else(|| Fault::form("has too great an extent"))?;
    let flat = r
        .draft
        .reshape(scale, &[rows, lengths[2]].map(Extent::Static))?;
    let flat = narrow::unswizzled(r, flat, [rows, lengths[2]])?;
    let whole = r.draft.reshape(flat, &lengths.map(Extent::Static))?;
    let dims = shape.map(Dim::new);
    let mut b = r.draft.builder();
    let clauses = [b.ints("starts", &[0, 0, 0]), b.shape("shape", &dims)];
    Ok(b.value(&fusion::SLICE, &[whole], &clauses)?)
}

/// The scales of rows in tiles; the tiles of each group start at a new tile.
pub fn grouped_scales<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["input"])?;
    super::one(laid_out(r, x, args))
}

/// Elements quantized in blocks, with their scales in the layout of groups.
pub fn grouped_block_quantize<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let wanted = Quantization::read(r, args, [3, usize::MAX, 4, 5])?;
    let [x, scales] = narrow::quantized(r, &wanted)?;
    let scales = laid_out(r, scales, args)?;
    Ok([x, scales].map(Val::Tensor).into())
}

/// Arranges rows of scales in tiles, as many as groups of any sizes can need; positions without a row are 0.
fn laid_out(r: &mut Reader<'_>, scales: Value, args: &Args<'_>) -> Made {
    let starts = args.tensor(1, &["input_offsets"])?;
    let scale_starts = args.tensor(2, &["output_offsets"])?;
    agree(r, (starts, 0), (scale_starts, 0))?;
    let [rows, _] = narrow::scale_extents(r, scales)?;
    let [Extent::Static(groups)] = r.extents(starts)[..] else {
        let fault = Fault::form("has groups of a number that is not known");
        return Err(fault.help("`--shape` says what extents are that a definition leaves open"));
    };
    let most = groups
        .checked_mul(TILE[0] - 1)
        .and_then(|more| more.checked_add(rows))
        .ok_or_else(|| Fault::form("has too many groups"))?;
    let place = places(r, Extent::Static(most / TILE[0] * TILE[0]))?;
    let own = group(r, scale_starts, place)?;
    let row = moved(r, place, own, [scale_starts, starts])?;
    let there = group(r, starts, row)?;
    let same = r.draft.builder().compare("eq", own, there)?;
    let int = r.draft.ir.scalar(DType::I64);
    let end = r.draft.builder().constant_int(rows, int)?;
    let inside = r.draft.builder().compare("lt", row, end)?;
    let kept = r.draft.make(&fusion::AND, &[same, inside])?;
    let found = at(r, scales, row)?;
    let shape = r.extents(found);
    let kept = r.draft.broadcast(kept, &[0], &shape)?;
    let scalar = r.draft.ir.scalar(r.draft.dtype(scales));
    let zero = r.draft.number(0.0, scalar)?;
    let found = r.draft.make(&fusion::WHERE, &[kept, found, zero])?;
    narrow::swizzled(r, found)
}
