//! Pieces of attention: scores, values, heads, positions.

use fuser_ir::DType;

use super::{Sentence, row, softmax};
use crate::models::program::V;
use crate::models::types::Dim;
use crate::models::writer::Writer;

pub const ALL: &[Sentence] = &[
    row("attention", 4, attention),
    row("heads", 3, heads),
    row("rotary by halves", 3, by_halves),
    row("rotary by pairs", 3, by_pairs),
    row("rotary by strides", 3, by_strides),
    row("positions", 2, positions),
    row("linear bias of positions", 2, slopes),
    row("outer product", 3, outer),
    row("matrix product", 3, product),
];

/// `a` times `b` along their last axes: `[.., m, k]` and `[.., n, k]` give `[.., m, n]`, by way of all products.
fn scores(w: &mut Writer, a: V, b: V) -> Option<V> {
    let (ad, bd) = (w.dims(a), w.dims(b));
    let rank = ad.len();
    let mut all: Vec<Dim> = ad[..rank - 1].to_vec();
    all.push(bd[rank - 2].clone());
    all.push(ad[rank - 1].clone());
    let all: Vec<Dim> = all.iter().map(Dim::plain).collect();
    if !w.fits(&all) {
        return None;
    }
    let mut at: Vec<usize> = (0..rank).collect();
    at[rank - 1] = rank;
    let wide_a = w.broadcast(a, &at, &all);
    let mut at: Vec<usize> = (0..rank).collect();
    (at[rank - 2], at[rank - 1]) = (rank - 1, rank);
    let wide_b = w.broadcast(b, &at, &all);
    let products = w.bin("mul", wide_a, wide_b);
    Some(w.reduce("sum", products, &[rank], false))
}

fn attention(w: &mut Writer) -> Option<()> {
    let batch = w.source.index(2);
    let mut dims = w.shape(1 + batch);
    let width = w.source.one(&[1, 2, 4, 5, 8]);
    dims.push(Dim::fixed(width));
    if dims[batch].length > 40 {
        dims[batch] = Dim::fixed(7);
    }
    let n = dims[batch].length.max(1);
    if !w.fits(&dims) || dims.iter().map(|d| d.length).product::<u64>() * n > 20_000 {
        dims[batch] = Dim::fixed(5);
    }
    let one = |w: &mut Writer, hint| {
        let v = w.reals(hint, dims.clone(), -1.5, 1.5);
        match w.dtype_of(v) {
            DType::F64 => v,
            _ => w.cast(v, DType::F32),
        }
    };
    let (q, k, v) = (one(w, "q"), one(w, "k"), one(w, "v"));
    let s = scores(w, q, k)?;
    let scale = w.scalar((width as f64).sqrt().recip(), w.dtype_of(s));
    let s = w.bin("mul", s, scale);
    let s = w.tame(s, 40.0);
    let last = w.last(s);
    let p = softmax::along(w, s, last);
    w.offer(p);
    let rank = w.ty(v).rank();
    let mut order: Vec<usize> = (0..rank).collect();
    order.swap(rank - 2, rank - 1);
    let turned = w.permute(v, &order);
    let y = scores(w, p, turned)?;
    w.expect(y, -2.0, 2.0);
    let y = w.back(y);
    w.offer(y);
    Some(())
}

/// Into heads and back.
fn heads(w: &mut Writer) -> Option<()> {
    let (h, d) = (w.source.one(&[1, 2, 3, 4]), w.source.one(&[1, 2, 3, 8]));
    let mut dims = w.shape(3);
    dims[2] = Dim::fixed(h * d);
    if !w.fits(&dims) {
        dims[1] = Dim::fixed(3);
    }
    if !w.fits(&dims) {
        dims[0] = Dim::fixed(2);
    }
    let x = w.reals("x", dims.clone(), -2.0, 2.0);
    let x = w.stored(x);
    let split = [
        dims[0].clone(),
        dims[1].clone(),
        Dim::fixed(h),
        Dim::fixed(d),
    ];
    let y = w.reshape(x, &split);
    let y = w.permute(y, &[0, 2, 1, 3]);
    w.offer(y);
    let y = match w.maybe(2) {
        true => {
            let s = w.constant(0.125, w.dtype_of(y));
            w.bin("mul", y, s)
        }
        false => {
            let last = w.last(y);
            softmax::along(w, y, last)
        }
    };
    let y = w.permute(y, &[0, 2, 1, 3]);
    let y = w.stored(y);
    let y = w.reshape(y, &dims);
    w.offer(y);
    Some(())
}

/// Cosines and sines of positions times frequencies: tables of `[s, n]`, from `iota`, in f32 at least.
fn tables(w: &mut Writer, s: &Dim, n: u64, dtype: DType) -> (V, V) {
    let dims = [s.plain(), Dim::fixed(n)];
    if w.maybe(2) {
        let cos = w.reals("cos", dims.to_vec(), -1.0, 1.0);
        let sin = w.reals("sin", dims.to_vec(), -1.0, 1.0);
        return (w.cast(cos, dtype), w.cast(sin, dtype));
    }
    let (rows, columns) = (w.iota(0, &dims, dtype), w.iota(1, &dims, dtype));
    let exponent = w.with("mul", columns, -1.0 / n as f64);
    let frequency = match w.maybe(2) {
        true => {
            let scaled = w.with("mul", exponent, 13.0);
            w.un("exp2", scaled)
        }
        false => w.of("pow", 10_000.0, exponent),
    };
    w.expect(frequency, 0.0, 1.0);
    let angle = w.bin("mul", rows, frequency);
    let (cos, sin) = (w.un("cos", angle), w.un("sin", angle));
    (cos, sin)
}

/// A tensor `[.., s, d]` with even `d`, its position axis, and tables along both.
fn rotary(w: &mut Writer, n: impl Fn(u64) -> u64) -> (V, V, V) {
    let x = w.halves(2);
    let x = match w.dtype_of(x) {
        DType::F64 => x,
        _ => w.cast(x, DType::F32),
    };
    let dims = w.dims(x);
    let last = dims.len() - 1;
    let width = n(dims[last].length);
    let dtype = w.dtype_of(x);
    let (cos, sin) = tables(w, &dims[last - 1], width, dtype);
    (x, cos, sin)
}

/// Broadcasts a table to a tensor with the same last two axes.
fn fit(w: &mut Writer, table: V, like: V) -> V {
    let dims = w.dims(like);
    match dims.len() {
        2 => table,
        n => w.broadcast(table, &[n - 2, n - 1], &dims),
    }
}

/// `x cos + rotate(x) sin` with halves that change places.
fn by_halves(w: &mut Writer) -> Option<()> {
    let (x, cos, sin) = rotary(w, |d| d);
    let last = w.last(x);
    let n = w.ty(x).dims[last].length / 2;
    let (a, b) = (w.part(x, last, 0, n, 1), w.part(x, last, n, n, 1));
    let minus = w.un("neg", b);
    let turned = w.cat(&[minus, a], last);
    let (cos, sin) = (fit(w, cos, x), fit(w, sin, x));
    let (l, r) = (w.bin("mul", x, cos), w.bin("mul", turned, sin));
    let y = w.bin("add", l, r);
    let y = w.back(y);
    w.offer(y);
    Some(())
}

/// Pairs of neighbours as an axis of their own.
fn by_pairs(w: &mut Writer) -> Option<()> {
    let (x, cos, sin) = rotary(w, |d| d / 2);
    let dims = w.dims(x);
    let last = dims.len() - 1;
    if dims.len() > 3 {
        return None;
    }
    let n = dims[last].length / 2;
    let mut split = dims[..last].to_vec();
    split.extend([Dim::fixed(n), Dim::fixed(2)]);
    let pairs = w.reshape(x, &split);
    let (a, b) = (
        w.part(pairs, last + 1, 0, 1, 1),
        w.part(pairs, last + 1, 1, 1, 1),
    );
    let (a, b) = (w.squeeze(a, &[last + 1]), w.squeeze(b, &[last + 1]));
    let (cos, sin) = (fit(w, cos, a), fit(w, sin, a));
    let (y, z) = turned(w, a, b, cos, sin);
    let mut ones = w.dims(y);
    ones.push(Dim::fixed(1));
    let (y, z) = (w.stored(y), w.stored(z));
    let (y, z) = (w.reshape(y, &ones), w.reshape(z, &ones));
    let both = w.cat(&[y, z], last + 1);
    let y = w.reshape(both, &dims.iter().map(Dim::plain).collect::<Vec<_>>());
    let y = w.back(y);
    w.offer(y);
    Some(())
}

/// Even and odd elements by strides.
fn by_strides(w: &mut Writer) -> Option<()> {
    let (x, cos, sin) = rotary(w, |d| d / 2);
    let last = w.last(x);
    let n = w.ty(x).dims[last].length / 2;
    let (a, b) = (w.part(x, last, 0, n, 2), w.part(x, last, 1, n, 2));
    let (cos, sin) = (fit(w, cos, a), fit(w, sin, a));
    let (y, z) = turned(w, a, b, cos, sin);
    let y = w.cat(&[y, z], last);
    let y = w.back(y);
    w.offer(y);
    Some(())
}

fn turned(w: &mut Writer, a: V, b: V, cos: V, sin: V) -> (V, V) {
    let (ac, bs) = (w.bin("mul", a, cos), w.bin("mul", b, sin));
    let (as_, bc) = (w.bin("mul", a, sin), w.bin("mul", b, cos));
    (w.bin("sub", ac, bs), w.bin("add", as_, bc))
}

/// Sines and cosines of positions, added.
fn positions(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(2);
    let dims = w.dims(x);
    let last = dims.len() - 1;
    let dtype = w.dtype_of(x);
    let n = w.source.one(&[1, 3, 8]);
    let (cos, sin) = tables(w, &dims[last - 1], n, dtype);
    let both = w.cat(&[sin, cos], 1);
    let sum = w.reduce("sum", both, &[1], false);
    let p = w.broadcast(sum, &[last - 1], &dims);
    let y = w.bin("add", x, p);
    w.offer(y);
    Some(())
}

fn slopes(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(2);
    let dims = w.dims(x);
    let rank = dims.len();
    let square = &dims[rank - 2..];
    let (rows, columns) = (w.iota(0, square, DType::I32), w.iota(1, square, DType::I32));
    let far = w.bin("sub", columns, rows);
    let far = w.cast(far, w.dtype_of(x));
    let length = square.iter().map(|d| d.length).max().unwrap_or(1) as f64;
    w.expect(far, -length, length);
    let slope = w.scalar(-0.0625, w.dtype_of(x));
    let bias = w.bin("mul", far, slope);
    let bias = fit(w, bias, x);
    let y = w.bin("add", x, bias);
    w.offer(y);
    Some(())
}

fn outer(w: &mut Writer) -> Option<()> {
    let dims = w.shape(2);
    let (a, b) = (
        w.reals("a", vec![dims[0].clone()], -2.0, 2.0),
        w.reals("b", vec![dims[1].clone()], -2.0, 2.0),
    );
    let (a, b) = (w.broadcast(a, &[0], &dims), w.broadcast(b, &[1], &dims));
    let name = w.source.one(&["mul", "add", "sub", "maximum"]);
    let y = w.bin(name, a, b);
    w.offer(y);
    Some(())
}

fn product(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(2);
    let x = w.tame(x, 20.0);
    let dims = w.dims(x);
    let rank = dims.len();
    let n = w.source.one(&[1, 2, 3, 5, 16]);
    if !w.room(x, n) || rank > 2 {
        return None;
    }
    let weights = [Dim::fixed(n), dims[rank - 1].plain()];
    let weights = w.input(
        "w",
        w.dtype_of(x),
        weights.to_vec(),
        crate::models::program::Data::Reals(-1.0, 1.0),
    );
    let y = scores(w, x, weights)?;
    let last = w.last(y);
    let y = match w.maybe(2) {
        true => {
            let bias = w.along("bias", y, last, -1.0, 1.0);
            w.bin("add", y, bias)
        }
        false => y,
    };
    w.offer(y);
    Some(())
}
