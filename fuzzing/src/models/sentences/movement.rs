//! Data movement: transposes, reshapes, slices, pads and joins, alone and between ops.

use fuser_ir::DType;

use super::{Sentence, row};
use crate::models::program::{Data, V};
use crate::models::types::{Dim, Type};
use crate::models::writer::Writer;

pub const ALL: &[Sentence] = &[
    row("transpose", 4, transpose),
    row("flatten", 3, flatten),
    row("split an axis", 3, split),
    row("pad and cut", 3, pad_and_cut),
    row("shift", 2, shift),
    row("roll", 2, roll),
    row("from the end", 2, from_the_end),
    row("rows of a table", 4, rows_of_a_table),
    row("picked along an axis", 3, picked),
    row("from a start on", 3, from_a_start),
    row("joined parts", 3, joined),
    row("twice along", 2, twice),
    row("strides", 2, strides),
    row("pooling", 3, pooling),
    row("upsampling", 2, upsampling),
    row("windows", 2, windows),
    row("unsqueeze and squeeze", 3, unsqueezed),
    row("copies and boundaries", 4, copies),
    row("another layout", 3, layout),
    row("a row for all", 2, one_row),
    row("space to depth", 2, depth),
];

fn transpose(w: &mut Writer) -> Option<()> {
    let x = w.pick(2);
    let order = w.order(w.ty(x).rank());
    let y = w.permute(x, &order);
    w.offer(y);
    if w.maybe(3) {
        let e = w.with("mul", y, 0.5);
        let back: Vec<usize> = (0..order.len())
            .filter_map(|d| order.iter().position(|o| *o == d))
            .collect();
        let z = w.permute(e, &back);
        w.offer(z);
    }
    Some(())
}

pub(super) fn plain(dims: &[Dim]) -> Vec<Dim> {
    dims.iter().map(Dim::plain).collect()
}

fn flatten(w: &mut Writer) -> Option<()> {
    let x = w.pick(2);
    let x = w.stored(x);
    let dims = plain(&w.dims(x));
    let from = w.source.index(dims.len() - 1);
    let mut flat = dims[..from].to_vec();
    flat.push(dims[from].times(&dims[from + 1]));
    flat.extend_from_slice(&dims[from + 2..]);
    let y = w.reshape(x, &flat);
    w.offer(y);
    if w.maybe(2) {
        let y = w.un("neg", y);
        let z = w.reshape(y, &dims);
        w.offer(z);
    }
    Some(())
}

fn split(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let x = w.stored(x);
    let dims = w.dims(x);
    let axis = (0..dims.len()).find(|d| w.is_fixed(x, *d, 4))?;
    let n = dims[axis].extent.number()?;
    let part = [2, 3, 4, 8].into_iter().find(|p| n.is_multiple_of(*p))?;
    let mut cut = dims[..axis].to_vec();
    let (a, b) = match w.maybe(2) {
        true => (part, n / part),
        false => (n / part, part),
    };
    cut.extend([Dim::fixed(a), Dim::fixed(b)]);
    cut.extend_from_slice(&dims[axis + 1..]);
    if cut.len() > 4 {
        return None;
    }
    let y = w.reshape(x, &cut);
    w.offer(y);
    if w.maybe(2) {
        let mut order: Vec<usize> = (0..cut.len()).collect();
        order.swap(axis, axis + 1);
        let y = w.permute(y, &order);
        let y = w.reshape(y, &dims);
        w.offer(y);
    }
    Some(())
}

fn zero(w: &mut Writer, x: V) -> V {
    let number = w.source.one(&[0.0, 0.0, 1.0, -1.0]);
    w.scalar(number, w.dtype_of(x))
}

fn pad_and_cut(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let dims = w.dims(x);
    let mut amounts = || -> Vec<u64> { dims.iter().map(|_| w.source.below(3)).collect() };
    let (low, high) = (amounts(), amounts());
    let value = zero(w, x);
    let y = w.pad(x, value, &low, &high);
    if w.ty(y).elements() > crate::models::writer::MOST {
        return None;
    }
    w.offer(y);
    if w.maybe(2) {
        let y = w.with("add", y, 1.0);
        let z = w.slice(y, &low, &dims, &vec![1; dims.len()]);
        w.offer(z);
    }
    Some(())
}

/// Each element less the one before.
fn shift(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let last = w.last(x);
    if !w.is_fixed(x, last, 2) {
        return None;
    }
    let n = w.ty(x).dims[last].length;
    let (a, b) = (w.part(x, last, 1, n - 1, 1), w.part(x, last, 0, n - 1, 1));
    let d = w.bin("sub", a, b);
    w.offer(d);
    if w.maybe(2) {
        let value = zero(w, x);
        let (mut low, high) = (vec![0; last + 1], vec![0; last + 1]);
        low[last] = 1;
        let y = w.pad(d, value, &low, &high);
        w.offer(y);
    }
    Some(())
}

fn roll(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let axis = w.source.index(w.ty(x).rank());
    if !w.is_fixed(x, axis, 2) {
        return None;
    }
    let n = w.ty(x).dims[axis].length;
    let k = 1 + w.source.below(n - 1);
    let (a, b) = (w.part(x, axis, k, n - k, 1), w.part(x, axis, 0, k, 1));
    let y = w.cat(&[a, b], axis);
    w.offer(y);
    Some(())
}

/// A reversed axis, by itself or subtracted from the original.
fn from_the_end(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let axis = w.source.index(w.ty(x).rank());
    let e = w.with("mul", x, 0.5);
    let y = w.flip(e, &[axis]);
    w.offer(y);
    if w.maybe(2) {
        let z = w.bin("sub", x, y);
        w.offer(z);
    }
    Some(())
}

fn joined(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let y = w.beside(x, -2.0, 2.0);
    let axis = w.source.index(w.ty(x).rank());
    let parts: Vec<V> = match w.maybe(3) {
        true => {
            let z = w.un("neg", x);
            vec![x, y, z]
        }
        false => vec![x, y],
    };
    if !w.room(x, 3) {
        return None;
    }
    let y = w.cat(&parts, axis);
    w.offer(y);
    Some(())
}

/// Integers from just before the start of an axis of `length` to just after its end.
pub(super) fn indices(w: &mut Writer, dims: &[Dim], length: u64) -> V {
    let of = w.source.one(&[DType::I64, DType::I32]);
    let indices = w.input(
        "indices",
        of,
        plain(dims),
        Data::Whole(-2, length as i64 + 1),
    );
    match w.maybe(3) {
        true => w.with("add", indices, 1.0),
        false => indices,
    }
}

/// A part that begins at data, and an update of that part.
fn from_a_start(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let axis = w.source.index(w.ty(x).rank());
    if !w.is_fixed(x, axis, 1) {
        return None;
    }
    let length = w.ty(x).dims[axis].length;
    let size = 1 + w.source.below(length);
    let start = indices(w, &[], length);
    let part = w.dynamic_slice(x, start, axis, size);
    w.offer(part);
    let half = w.with("mul", part, 0.5);
    let y = w.dynamic_update_slice(x, half, start, axis);
    w.offer(y);
    Some(())
}

/// An embedding, in the shape of the value to which it is added.
fn rows_of_a_table(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let dims = plain(&w.dims(x));
    let (width, rest) = dims.split_last()?;
    let length = w.source.one(&[1, 2, 5, 17, 33]);
    let dtype = w.dtype_of(x);
    let table = [Dim::fixed(length), width.clone()].to_vec();
    let table = w.input("table", dtype, table, Data::Reals(-2.0, 2.0));
    let table = match w.maybe(3) {
        true => w.with("mul", table, 0.5),
        false => table,
    };
    let at = indices(w, rest, length);
    let rows = w.take(table, at, 0);
    w.offer(rows);
    let y = w.bin("add", x, rows);
    w.offer(y);
    Some(())
}

/// Elements at indices along an axis, as a loss selects those of its labels.
fn picked(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let axis = w.source.index(w.ty(x).rank());
    let mut dims = plain(&w.dims(x));
    let length = dims[axis].length;
    dims[axis] = Dim::fixed(w.source.one(&[1, 1, 3, 8]));
    if !w.fits(&dims) {
        return None;
    }
    let at = indices(w, &dims, length);
    let y = w.take_along(x, at, axis);
    w.offer(y);
    Some(())
}

/// Joined with itself and cut.
fn twice(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let axis = w.source.index(w.ty(x).rank());
    if !w.is_fixed(x, axis, 1) || !w.room(x, 2) {
        return None;
    }
    let n = w.ty(x).dims[axis].length;
    let both = w.cat(&[x, x], axis);
    w.offer(both);
    let start = w.source.below(n + 1);
    let y = w.part(both, axis, start, n, 1);
    w.offer(y);
    Some(())
}

fn strides(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let axis = w.source.index(w.ty(x).rank());
    if !w.is_fixed(x, axis, 3) {
        return None;
    }
    let n = w.ty(x).dims[axis].length;
    let stride = 2 + w.source.below(2);
    let start = w.source.below(stride.min(n));
    let length = (n - start).div_ceil(stride);
    let y = w.part(x, axis, start, length, stride);
    w.offer(y);
    Some(())
}

/// The greatest or the mean of pairs of neighbours.
fn pooling(w: &mut Writer) -> Option<()> {
    let x = w.halves(1);
    let dims = w.dims(x);
    let last = dims.len() - 1;
    let n = dims[last].length / 2;
    let mut split = dims[..last].to_vec();
    split.extend([Dim::fixed(n), Dim::fixed(2)]);
    let pairs = w.reshape(x, &split);
    let y = match w.maybe(2) {
        true => w.reduce("max", pairs, &[last + 1], false),
        false => w.mean(pairs, &[last + 1], false),
    };
    w.offer(y);
    Some(())
}

/// Each element several times.
fn upsampling(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let x = w.stored(x);
    let dims = w.dims(x);
    let last = dims.len() - 1;
    let k = w.source.one(&[2, 3]);
    if !w.room(x, k) {
        return None;
    }
    let mut more = dims.clone();
    more.push(Dim::fixed(k));
    let at: Vec<usize> = (0..dims.len()).collect();
    let wide = w.broadcast(x, &at, &more);
    let wide = w.copy(wide, true);
    let mut flat = dims[..last].to_vec();
    flat.push(dims[last].times(&Dim::fixed(k)));
    let y = w.reshape(wide, &flat);
    w.offer(y);
    Some(())
}

/// Sums of three neighbours, as a convolution does it.
fn windows(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let last = w.last(x);
    if !w.is_fixed(x, last, 1) {
        return None;
    }
    let n = w.ty(x).dims[last].length;
    let (mut low, mut high) = (vec![0; last + 1], vec![0; last + 1]);
    (low[last], high[last]) = (1, 1);
    let value = w.constant(0.0, w.dtype_of(x));
    let wide = w.pad(x, value, &low, &high);
    let mut sum = None;
    for (start, weight) in [(0, 0.25), (1, 0.5), (2, 0.25)] {
        let part = w.part(wide, last, start, n, 1);
        let part = w.with("mul", part, weight);
        sum = Some(match sum {
            None => part,
            Some(sum) => w.bin("add", sum, part),
        });
    }
    w.offer(sum?);
    Some(())
}

fn unsqueezed(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let dims = w.dims(x);
    if dims.len() > 3 {
        return None;
    }
    let at = w.source.index(dims.len() + 1);
    let mut more = dims.clone();
    more.insert(at, Dim::fixed(1));
    let y = match w.maybe(2) && dims.iter().all(|d| !d.broadcast) {
        true => w.reshape(x, &more),
        false => {
            let kept: Vec<usize> = (0..more.len()).filter(|d| *d != at).collect();
            w.broadcast(x, &kept, &more)
        }
    };
    w.offer(y);
    let y = match w.maybe(2) {
        true => w.un("abs", y),
        false => y,
    };
    let z = w.squeeze(y, &[at]);
    w.offer(z);
    Some(())
}

fn copies(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let y = match w.source.below(3) {
        0 => w.boundary(x),
        1 => w.copy(x, false),
        _ => w.copy(x, true),
    };
    w.offer(y);
    Some(())
}

/// An op whose result lies in another order.
fn layout(w: &mut Writer) -> Option<()> {
    let x = w.pick(2);
    let order = w.order(w.ty(x).rank());
    let name = w.source.one(&["neg", "abs", "relu", "sigmoid", "floor"]);
    let y = w.un(name, x);
    w.lay_out(y, order);
    w.offer(y);
    Some(())
}

/// The first row, for all.
fn one_row(w: &mut Writer) -> Option<()> {
    let x = w.pick(2);
    if !w.is_fixed(x, 0, 1) {
        return None;
    }
    let first = w.part(x, 0, 0, 1, 1);
    let dims = w.dims(x);
    let all = w.expand(first, &dims);
    let y = w.bin("sub", x, all);
    w.offer(y);
    Some(())
}

fn depth(w: &mut Writer) -> Option<()> {
    let c = w.source.one(&[1, 2, 3]);
    let b = w.shape(1)[0].clone();
    let b = if b.length > 40 { Dim::fixed(2) } else { b };
    let dtype = w.dtype;
    let (h, v) = (Dim::fixed(4), Dim::fixed(6));
    let ty = Type::tensor(dtype, vec![b.clone(), Dim::fixed(c), h, v]);
    let data = crate::models::program::Data::Reals(-2.0, 2.0);
    let x = w.parameter("x", ty, data);
    let split = [
        b.times(&Dim::fixed(c)),
        Dim::fixed(2),
        Dim::fixed(2),
        Dim::fixed(3),
        Dim::fixed(2),
    ];
    let y = w.reshape(x, &split);
    let y = w.permute(y, &[0, 2, 4, 1, 3]);
    let y = w.reshape(y, &[b, Dim::fixed(4 * c), Dim::fixed(2), Dim::fixed(3)]);
    w.offer(y);
    Some(())
}
