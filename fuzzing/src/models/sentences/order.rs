//! Reordered lines, and elements written at computed indices.

use fuser_ir::DType;

use super::movement::{indices, plain};
use super::{Sentence, row};
use crate::models::program::Data;
use crate::models::types::Dim;
use crate::models::writer::Writer;

pub const ALL: &[Sentence] = &[
    row("in order", 3, sorted),
    row("the greatest", 2, greatest),
    row("rolled", 2, rolled),
    row("classes", 2, classes),
    row("put at indices", 3, put),
];

/// A tensor of whole numbers, so that comparisons are exact.
fn whole(w: &mut Writer) -> crate::models::program::V {
    let (dims, dtype) = (w.shape(2), w.dtype);
    w.input("keys", dtype, dims, Data::Whole(-5, 5))
}

fn sorted(w: &mut Writer) -> Option<()> {
    let x = whole(w);
    let dim = w.source.index(w.ty(x).rank());
    let first = w.source.one(&[1, 2, 5, 1 << 20]);
    let descending = w.maybe(2);
    let y = w.sort(x, dim, None, first, descending);
    w.offer(y);
    if w.maybe(2) {
        let of = w.source.one(&[DType::I64, DType::I32]);
        let places = w.sort(x, dim, Some(of), first, descending);
        let again = w.take_along(x, places, dim);
        w.offer(places);
        w.offer(again);
    }
    Some(())
}

fn greatest(w: &mut Writer) -> Option<()> {
    let x = whole(w);
    let dim = w.source.index(w.ty(x).rank());
    if !w.is_fixed(x, dim, 1) {
        return None;
    }
    let length = w.ty(x).dims[dim].length;
    let first = w.source.one(&[1, 2, 8]).min(length);
    let of = w.source.one(&[DType::I64, DType::I32]);
    let smallest = w.maybe(2);
    let (values, places) = w.topk(x, dim, first, of, smallest);
    w.offer(values);
    w.offer(places);
    Some(())
}

fn rolled(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let dim = w.source.index(w.ty(x).rank());
    if !w.is_fixed(x, dim, 1) {
        return None;
    }
    let shift = w.source.one(&[0, 1, 3, 200]);
    let y = w.roll(x, dim, shift);
    w.offer(y);
    Some(())
}

fn classes(w: &mut Writer) -> Option<()> {
    let dims = w.shape(1);
    let length = w.source.one(&[1, 3, 10]);
    let mut all = plain(&dims);
    all.push(Dim::fixed(length));
    if !w.fits(&all) {
        return None;
    }
    let at = indices(w, &dims, length);
    let (dim, of) = (w.source.index(all.len()), w.dtype);
    let y = w.one_hot(at, dim, length, of);
    w.offer(y);
    Some(())
}

/// The gradient of an embedding, and its like.
fn put(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let dim = w.source.index(w.ty(x).rank());
    let mut dims = plain(&w.dims(x));
    let length = dims[dim].length;
    let parts = Dim::fixed(w.source.one(&[0, 1, 3, 9]));
    dims[dim] = parts.clone();
    if !w.fits(&dims) {
        return None;
    }
    let name = w.source.one(&["index_put", "scatter"]);
    let at = match name {
        "scatter" => indices(w, &dims, length),
        _ => indices(w, &[parts], length),
    };
    let dtype = w.dtype_of(x);
    let updates = w.input("updates", dtype, dims, Data::Whole(-3, 3));
    let how = w.source.one(&["set", "add", "max", "min"]);
    let y = w.put(name, [x, at, updates], dim, how);
    w.offer(y);
    Some(())
}
