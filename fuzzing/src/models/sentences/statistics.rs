//! Statistics: moments, extremes, counts.

use fuser_ir::DType;

use super::{Sentence, row};
use crate::models::program::{Data, V};
use crate::models::types::Dim;
use crate::models::writer::Writer;

pub const ALL: &[Sentence] = &[
    row("moments", 3, moments),
    row("standard scores", 3, scores),
    row("range", 3, range),
    row("extremes without NaN", 3, without_nan),
    row("covariance", 2, covariance),
    row("counts", 3, counts),
    row("product", 2, product),
    row("first greatest", 2, first_greatest),
    row("index of an extreme", 3, extreme_index),
    row("mean", 3, mean),
    row("running sums", 2, running),
    row("scans", 3, scans),
    row("several reductions", 3, several),
    row("lambdas", 3, lambdas),
];

fn moments(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(1);
    let dims = w.some_dims(x);
    let (correction, keepdim) = (w.source.below(3), w.maybe(2));
    let (var, mean) = w.var_mean(x, &dims, correction, keepdim);
    let deviation = w.un("sqrt", var);
    w.offer(mean);
    w.offer(deviation);
    Some(())
}

fn scores(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(1);
    let dims = w.some_dims(x);
    let (var, mean) = w.var_mean(x, &dims, 0, true);
    let shifted = w.with("add", var, 1e-2);
    let deviation = w.un("sqrt", shifted);
    let (mean, deviation) = (w.spread(mean, x, &dims), w.spread(deviation, x, &dims));
    let centered = w.bin("sub", x, mean);
    let z = w.bin("div", centered, deviation);
    w.expect(z, -200.0, 200.0);
    w.offer(z);
    let far = w.un("abs", z);
    let far = w.compare_with("gt", far, 3.0);
    w.offer(far);
    Some(())
}

fn range(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let dims = w.some_dims(x);
    let keepdim = w.maybe(2);
    let most = w.reduce("max", x, &dims, keepdim);
    let least = w.reduce("min", x, &dims, keepdim);
    let width = w.bin("sub", most, least);
    w.offer(width);
    if w.maybe(2) {
        let (l, d) = (w.spread(least, x, &dims), w.spread(width, x, &dims));
        let d = w.with("add", d, 0.5);
        let size = w.size(x);
        w.expect(d, 0.5, 2.0 * size + 1.0);
        let shifted = w.bin("sub", x, l);
        let y = w.bin("div", shifted, d);
        w.expect(y, 0.0, 1.01);
        w.offer(y);
    }
    Some(())
}

fn without_nan(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let dims = w.some_dims(x);
    let x = match w.maybe(2) {
        true => {
            let l = w.with("maximum", x, -1.0);
            w.un("log1p", l)
        }
        false => x,
    };
    let size = w.size(x).min(1e3);
    w.expect(x, -size, size);
    let keepdim = w.maybe(2);
    let most = w.reduce("max_num", x, &dims, keepdim);
    let least = w.reduce("min_num", x, &dims, keepdim);
    let y = w.bin("fmax", most, least);
    let z = w.bin("fmin", most, least);
    for v in [most, y, z] {
        w.offer(v);
    }
    Some(())
}

fn covariance(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(1);
    let x = w.tame(x, 50.0);
    let y = w.beside(x, -2.0, 2.0);
    let y = w.tame(y, 50.0);
    let last = w.last(x);
    let centered = |w: &mut Writer, v: V| {
        let m = w.mean(v, &[last], true);
        let m = w.spread(m, v, &[last]);
        w.bin("sub", v, m)
    };
    let (a, b) = (centered(w, x), centered(w, y));
    let p = w.bin("mul", a, b);
    let c = w.mean(p, &[last], false);
    w.offer(c);
    Some(())
}

/// Counts of the elements beyond a limit.
fn counts(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let dims = w.some_dims(x);
    let predicate = w.source.one(&["gt", "lt", "ge", "le", "ne", "eq"]);
    let limit = w.source.one(&[0.0, 0.5, 1.0]);
    let hit = w.compare_with(predicate, x, limit);
    let of = w
        .source
        .one(&[DType::I64, DType::I32, DType::F32, DType::I8, DType::Index]);
    let ones = w.cast(hit, of);
    let n = w.reduce("sum", ones, &dims, false);
    w.offer(n);
    let any = match w.maybe(2) {
        true => {
            let any = w.reduce("max", ones, &dims, false);
            w.cast(any, DType::I1)
        }
        false => {
            let name = w.source.one(&["max", "min"]);
            w.reduce(name, hit, &dims, false)
        }
    };
    w.offer(any);
    if !of.is_float() {
        let number = w.n_of(x, &dims, of);
        let share = w.bin("sub", number, n);
        w.offer(share);
    }
    Some(())
}

fn product(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(1);
    let x = w.tame(x, 1.0);
    let last = w.last(x);
    let p = match w.ty(x).dims[last].length > 40 {
        true => {
            let s = w.un("sign", x);
            w.reduce("prod", s, &[last], false)
        }
        false => {
            let small = w.with("mul", x, 0.25);
            let near = w.with("add", small, 1.0);
            w.reduce("prod", near, &[last], false)
        }
    };
    w.expect(p, -1e4, 1e4);
    w.offer(p);
    Some(())
}

/// The place of the first greatest element, and its one-hot row.
fn first_greatest(w: &mut Writer) -> Option<()> {
    let dims = w.shape(2);
    let dtype = w.dtype;
    let x = w.input("x", dtype, dims, Data::Whole(-8, 8));
    let last = w.last(x);
    let most = w.reduced("max", x, &[last]);
    let hit = w.compare("eq", x, most);
    let dims = w.dims(x);
    let of = w.source.one(&[DType::I64, DType::I32]);
    let places = w.iota(last, &dims, of);
    let beyond = w.constant(1e6, of);
    let candidates = w.choose(hit, places, beyond);
    let keepdim = w.maybe(2);
    let place = w.reduce("min", candidates, &[last], keepdim);
    w.offer(place);
    let again = w.spread(place, x, &[last]);
    let row = w.compare("eq", again, places);
    w.offer(row);
    Some(())
}

/// An argmax or argmin, on whole numbers with ties, or on any numbers.
fn extreme_index(w: &mut Writer) -> Option<()> {
    let x = match w.maybe(2) {
        true => w.pick(1),
        false => {
            let dims = w.shape(2);
            let dtype = w.dtype;
            w.input("x", dtype, dims, Data::Whole(-3, 3))
        }
    };
    let name = w.source.one(&["argmax", "argmin"]);
    let of = w.source.one(&[DType::I64, DType::I32]);
    let (dim, keepdim) = (w.source.index(w.ty(x).rank()), w.maybe(2));
    let place = w.arg(name, x, dim, of, keepdim);
    w.offer(place);
    if keepdim && w.maybe(2) {
        let found = w.take_along(x, place, dim);
        w.offer(found);
    }
    Some(())
}

fn mean(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(1);
    let dims = w.some_dims(x);
    let keepdim = w.maybe(2);
    let mean = w.reduce("mean", x, &dims, keepdim);
    w.offer(mean);
    let spread = w.spread(mean, x, &dims);
    let centered = w.bin("sub", x, spread);
    w.offer(centered);
    Some(())
}

/// Sums of everything before, by a triangle of ones.
fn running(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(1);
    let dims = w.dims(x);
    let last = dims.len() - 1;
    let n = dims[last].length;
    if dims.len() > 2 || !w.room(x, n) {
        return None;
    }
    let square = [dims[last].plain(), dims[last].plain()];
    let (to, from) = (
        w.iota(0, &square, DType::I32),
        w.iota(1, &square, DType::I32),
    );
    let before = w.compare("ge", to, from);
    let mut all: Vec<Dim> = dims[..last].iter().map(Dim::plain).collect();
    all.extend(square);
    let rank = all.len();
    let before = w.broadcast(before, &[rank - 2, rank - 1], &all);
    let mut at: Vec<usize> = (0..last).collect();
    at.push(rank - 1);
    let wide = w.broadcast(x, &at, &all);
    let zero = w.constant(0.0, w.dtype_of(x));
    let terms = w.choose(before, wide, zero);
    let y = w.reduce("sum", terms, &[rank - 1], false);
    w.offer(y);
    Some(())
}

/// A scan along an axis, together with the value.
fn scans(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(1);
    let dim = w.source.index(w.ty(x).rank());
    let name = ["sum", "prod", "max", "min"][w.source.index(4)];
    let y = match name {
        "prod" => {
            let x = w.tame(x, 1.0);
            let small = match w.ty(x).dims[dim].length > 40 {
                true => w.un("sign", x),
                false => {
                    let small = w.with("mul", x, 0.25);
                    w.with("add", small, 1.0)
                }
            };
            let y = w.scan(name, small, dim);
            w.expect(y, -1e4, 1e4)
        }
        _ => w.scan(name, x, dim),
    };
    w.offer(y);
    if w.maybe(2) {
        let z = w.bin("sub", x, y);
        w.offer(z);
    }
    Some(())
}

/// A lambda of one or two accumulators: the ops before its yield, the yielded values, the initial numbers.
type Lambda = (&'static str, &'static str, &'static [&'static str]);

/// An online softmax: the greatest element, and the sum of the exponentials of the differences to it.
const SOFTMAX: Lambda = (
    "    %n = fusion.maximum %a0, %e\n    %d = fusion.sub %a0, %n\n    %s = fusion.exp %d\n    %l = fusion.mul %a1, %s\n    %f = fusion.sub %e, %n\n    %g = fusion.exp %f\n    %m = fusion.add %l, %g\n",
    "%n, %m",
    &["-64.0", "0.0"],
);
/// A value that decays toward the elements, and how often it was above zero.
const DECAY: Lambda = (
    "    %h = fusion.constant value 0.5 : TYPE\n    %z = fusion.constant value 0.0 : TYPE\n    %one = fusion.constant value 1.0 : TYPE\n    %d = fusion.mul %a0, %h\n    %n = fusion.add %d, %e\n    %t = fusion.compare %e, %z predicate gt\n    %c = fusion.add %a1, %one\n    %k = fusion.where %t, %c, %a1\n",
    "%n, %k",
    &["1.0", "0"],
);
/// The elements in pairs, each with the one before it.
const BEFORE: Lambda = ("", "%e, %a0", &["0", "1"]);

/// Folds and scans with a lambda.
fn lambdas(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(1);
    let x = w.tame(x, 8.0);
    let dtype = w.dtype_of(x);
    if dtype == DType::I1 {
        return None;
    }
    let dim = w.source.index(w.ty(x).rank());
    let n = w.ty(x).dims[dim].length as f64;
    let ways = match dtype.is_float() {
        true => 3,
        false => 1,
    };
    let ((body, yielded, init), ranges) = match w.source.below(ways) {
        0 => (BEFORE, [(-8.0, 8.0), (-8.0, 8.0)]),
        1 => (DECAY, [(-17.0, 17.0), (0.0, n)]),
        _ => (SOFTMAX, [(-64.0, 8.0), (0.0, n.max(1.0))]),
    };
    let steps = w.maybe(2);
    for y in w.lambda(steps, x, dim, init, (body, yielded), &ranges) {
        w.offer(y);
        if steps && w.maybe(2) {
            let end = w.last_along(y, dim);
            w.offer(end);
        }
    }
    Some(())
}

/// Several sets of axes of one value.
fn several(w: &mut Writer) -> Option<()> {
    let x = w.pick(2);
    let x = w.tame(x, 100.0);
    for _ in 0..2 + w.source.below(2) {
        let dims = w.some_dims(x);
        let name = w.source.one(&["sum", "max", "min", "sum"]);
        let keepdim = w.maybe(3);
        let r = w.reduce(name, x, &dims, keepdim);
        w.offer(r);
        if w.maybe(3) {
            let again = w.spread(r, x, &dims);
            let y = w.bin("sub", x, again);
            w.offer(y);
        }
    }
    Some(())
}
