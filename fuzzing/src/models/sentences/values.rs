//! Numbers and their special values: guards against NaN and infinities, remainders, constants.

use fuser_ir::DType;

use super::{Sentence, row};
use crate::models::program::Data;
use crate::models::types::Dim;
use crate::models::writer::Writer;

pub const ALL: &[Sentence] = &[
    row("no NaN", 3, no_nan),
    row("all finite", 2, all_finite),
    row("greater and less", 4, extremes),
    row("remainders", 3, remainders),
    row("roundings", 3, roundings),
    row("logarithms", 3, logarithms),
    row("roots and inverses", 3, roots),
    row("powers", 2, powers),
    row("constants", 4, constants),
    row("tables", 2, tables),
    row("whole numbers", 3, whole),
];

fn no_nan(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let bad = w.un("isnan", x);
    let zero = w.constant(0.0, w.dtype_of(x));
    let y = w.choose(bad, zero, x);
    w.offer(y);
    Some(())
}

fn all_finite(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let fine = w.un("isfinite", x);
    w.offer(fine);
    let ones = w.cast(fine, DType::I32);
    let dims: Vec<usize> = (0..w.ty(x).rank()).collect();
    let all = w.reduce("min", ones, &dims, false);
    let all = w.compare_with("ne", all, 0.0);
    let zero = w.constant(0.0, w.dtype_of(x));
    let y = w.choose(all, x, zero);
    w.offer(y);
    Some(())
}

fn extremes(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let y = w.beside(x, -2.0, 2.0);
    let mut last = x;
    for _ in 0..1 + w.source.below(3) {
        let name = w.source.one(&["maximum", "minimum", "fmax", "fmin"]);
        last = match w.source.below(3) {
            0 => w.with(name, last, 1.0),
            1 => w.bin(name, y, last),
            _ => w.bin(name, last, y),
        };
    }
    w.offer(last);
    Some(())
}

fn remainders(w: &mut Writer) -> Option<()> {
    let rank = 1 + w.source.index(2);
    let dims = w.shape(rank);
    let x = w.reals("x", dims, -20.0, 20.0);
    let by = w.source.one(&[1.0, 2.5, 0.75, 3.0]);
    let name = w.source.one(&["rem", "remainder"]);
    let r = w.with(name, x, by);
    w.offer(r);
    let q = w.bin("sub", x, r);
    w.offer(q);
    Some(())
}

fn roundings(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let name = w.source.one(&["ceil", "floor", "round", "trunc"]);
    let y = w.un(name, x);
    w.offer(y);
    let rest = w.bin("sub", x, y);
    w.offer(rest);
    Some(())
}

fn logarithms(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(1);
    let size = w.un("abs", x);
    let shifted = w.with("add", size, 0.25);
    let name = w.source.one(&["log", "log2", "log1p"]);
    let l = w.un(name, shifted);
    w.offer(l);
    let l = w.tame(l, 20.0);
    let name = w.source.one(&["exp", "exp2", "expm1"]);
    let e = w.un(name, l);
    w.offer(e);
    Some(())
}

fn roots(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(1);
    let x = w.tame(x, 1e3);
    let square = w.bin("mul", x, x);
    let size = w.size(x);
    w.expect(square, 0.0, size * size);
    let shifted = w.with("add", square, 0.125);
    let name = w.source.one(&["sqrt", "rsqrt", "reciprocal"]);
    let y = w.un(name, shifted);
    w.offer(y);
    Some(())
}

fn powers(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(1);
    let x = w.tame(x, 6.0);
    let base = w.un("abs", x);
    let base = w.with("add", base, 0.5);
    let exponent = w.source.one(&[0.5, 2.0, 1.5, -1.0, 0.0, 3.0]);
    let y = w.with("pow", base, exponent);
    w.offer(y);
    Some(())
}

/// A constant that is used and returned, and one that fills a tensor.
fn constants(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let dtype = w.dtype_of(x);
    let number = w.source.one(&[2.0, 0.5, -1.0, 0.1]);
    let c = w.constant(number, dtype);
    let y = w.bin("mul", x, c);
    w.offer(y);
    if w.maybe(2) {
        w.offer(c);
    }
    let dims = w.dims(x);
    if w.maybe(2) {
        let f = w.full(c, &dims);
        let z = w.bin("add", x, f);
        w.offer(z);
    }
    if w.maybe(3) {
        let n = w.count(&dims);
        w.offer(n);
        let f = w.cast(n, dtype);
        w.expect(f, 0.0, 20_000.0);
        let shifted = w.with("add", f, 1.0);
        let z = w.bin("div", y, shifted);
        w.offer(z);
    }
    Some(())
}

/// A tensor with a small table.
fn tables(w: &mut Writer) -> Option<()> {
    let n = w.source.one(&[1, 2, 3, 5, 8]);
    let mut dims = w.shape(2);
    dims[1] = Dim::fixed(n);
    let x = w.reals("x", dims.clone(), -2.0, 2.0);
    let dtype = w.dtype;
    let numbers: Vec<f64> = (0..n).map(|i| i as f64 * 0.5 - 1.0).collect();
    let t = w.table(&numbers, dtype);
    if w.maybe(4) {
        w.offer(t);
    }
    let t = w.broadcast(t, &[1], &dims);
    let y = w.bin("mul", x, t);
    w.offer(y);
    Some(())
}

/// Whole numbers in floats, whose sums are exact.
fn whole(w: &mut Writer) -> Option<()> {
    let rank = 1 + w.source.index(3);
    let dims = w.shape(rank);
    let dtype = w.dtype;
    let x = w.input("x", dtype, dims, Data::Whole(-4, 4));
    let y = match w.source.below(3) {
        0 => w.bin("mul", x, x),
        1 => w.with("sub", x, 1.0),
        _ => w.un("neg", x),
    };
    let dims = w.some_dims(y);
    let r = w.reduced("sum", y, &dims);
    w.offer(r);
    let z = w.bin("sub", y, r);
    w.offer(z);
    Some(())
}
