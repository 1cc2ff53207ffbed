//! Losses and their gradients.

use fuser_ir::DType;

use super::{Sentence, row, softmax};
use crate::models::program::{Data, V};
use crate::models::types::Dim;
use crate::models::writer::Writer;

pub const ALL: &[Sentence] = &[
    row("cross entropy", 4, cross_entropy),
    row("cross entropy of labels", 3, of_labels),
    row("mean squared error", 3, squared),
    row("huber loss", 3, huber),
    row("divergence", 3, divergence),
    row("binary cross entropy", 3, binary),
    row("hinge loss", 2, hinge),
    row("cosine similarity", 2, cosine),
];

/// All of a tensor in one number: at once, or axis by axis.
fn total(w: &mut Writer, x: V, mean: bool) -> V {
    let dims: Vec<usize> = (0..w.ty(x).rank()).collect();
    let n = w.n_of(x, &dims, w.dtype_of(x));
    let sum = match w.maybe(4) && dims.len() > 1 {
        true => {
            let last = w.last(x);
            let part = w.reduce("sum", x, &[last], false);
            w.reduce("sum", part, &dims[..last], false)
        }
        false => w.reduce("sum", x, &dims, false),
    };
    match mean {
        true => w.bin("div", sum, n),
        false => sum,
    }
}

/// One-hot rows of labels in the shape of `x`, whose last axis is the classes'.
pub fn one_hot(w: &mut Writer, x: V) -> V {
    let dims = w.dims(x);
    let last = dims.len() - 1;
    let of = w.source.one(&[DType::I64, DType::I32, DType::Index]);
    let rest: Vec<Dim> = dims[..last].iter().map(Dim::plain).collect();
    let classes = dims[last].length as i64;
    // -1 is no class: ignored rows.
    let labels = w.input("labels", of, rest, Data::Whole(-1, (classes - 1).max(0)));
    let kept: Vec<usize> = (0..last).collect();
    let labels = w.broadcast(labels, &kept, &dims);
    let columns = match w.maybe(2) {
        true => {
            let line = w.iota(0, &dims[last..], of);
            w.broadcast(line, &[last], &dims)
        }
        false => w.iota(last, &dims, of),
    };
    w.compare("eq", labels, columns)
}

fn cross_entropy(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(2);
    let x = w.tame(x, 30.0);
    let hit = one_hot(w, x);
    let logs = softmax::log(w, x);
    let dtype = w.dtype_of(x);
    let chosen = match w.maybe(2) {
        true => {
            let zero = w.constant(0.0, dtype);
            w.choose(hit, logs, zero)
        }
        false => {
            let m = w.cast(hit, dtype);
            w.bin("mul", logs, m)
        }
    };
    let last = w.last(x);
    let rows = w.reduce("sum", chosen, &[last], false);
    let rows = w.un("neg", rows);
    w.offer(rows);
    let mean = w.maybe(2);
    let loss = total(w, rows, mean);
    w.offer(loss);
    if w.maybe(2) {
        let (e, sum) = softmax::weights(w, x, last);
        let p = w.bin("div", e, sum);
        let m = w.cast(hit, dtype);
        let dx = w.bin("sub", p, m);
        w.expect(dx, -1.01, 1.01);
        w.offer(dx);
    }
    Some(())
}

/// Cross entropy that picks the elements of its labels.
fn of_labels(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(2);
    let x = w.tame(x, 30.0);
    let logs = softmax::log(w, x);
    let last = w.last(x);
    let mut dims: Vec<Dim> = w.dims(x).iter().map(Dim::plain).collect();
    let classes = dims[last].length as i64;
    dims[last] = Dim::fixed(1);
    let of = w.source.one(&[DType::I64, DType::I32]);
    let labels = w.input("labels", of, dims, Data::Whole(-1, classes));
    let chosen = w.take_along(logs, labels, last);
    let rows = w.squeeze(chosen, &[last]);
    let rows = w.un("neg", rows);
    w.offer(rows);
    let mean = w.maybe(2);
    let loss = total(w, rows, mean);
    w.offer(loss);
    Some(())
}

fn squared(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(1);
    let x = w.tame(x, 50.0);
    let y = w.beside(x, -2.0, 2.0);
    let d = w.bin("sub", x, y);
    let squares = w.bin("mul", d, d);
    let loss = total(w, squares, true);
    let dx = w.with("mul", d, 2.0);
    w.offer(dx);
    w.offer(loss);
    Some(())
}

fn huber(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(1);
    let x = w.tame(x, 50.0);
    let y = w.beside(x, -2.0, 2.0);
    let d = w.bin("sub", x, y);
    let size = w.un("abs", d);
    let near = w.compare_with("lt", size, 1.0);
    let square = w.bin("mul", d, d);
    let square = w.with("mul", square, 0.5);
    let line = w.with("sub", size, 0.5);
    let loss = w.choose(near, square, line);
    w.offer(loss);
    let sum = total(w, loss, false);
    w.offer(sum);
    let slope = w.clamp(d, -1.0, 1.0);
    w.offer(slope);
    Some(())
}

/// KL divergence of two distributions, one of them in logarithms.
fn divergence(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(2);
    let x = w.tame(x, 20.0);
    let y = w.beside(x, -2.0, 2.0);
    let y = w.tame(y, 20.0);
    let q = softmax::log(w, x);
    let last = w.last(x);
    let p = softmax::along(w, y, last);
    let log_p = softmax::log(w, y);
    let d = w.bin("sub", log_p, q);
    let terms = w.bin("mul", p, d);
    let rows = w.reduce("sum", terms, &[last], false);
    w.offer(rows);
    let loss = total(w, rows, true);
    w.offer(loss);
    Some(())
}

/// Binary cross-entropy with logits: `max(x, 0) - x t + log1p(e^-|x|)`.
fn binary(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(1);
    let x = w.tame(x, 30.0);
    let t = w.beside(x, 0.0, 1.0);
    let positive = w.un("relu", x);
    let product = w.bin("mul", x, t);
    let a = w.bin("sub", positive, product);
    let size = w.un("abs", x);
    let n = w.un("neg", size);
    let e = w.un("exp", n);
    let l = w.un("log1p", e);
    let loss = w.bin("add", a, l);
    let mean = total(w, loss, true);
    w.offer(mean);
    let s = w.un("sigmoid", x);
    let dx = w.bin("sub", s, t);
    w.offer(dx);
    Some(())
}

fn hinge(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let y = w.beside(x, -1.0, 1.0);
    let side = w.un("sign", y);
    let product = w.bin("mul", x, side);
    let margin = w.of("sub", 1.0, product);
    let loss = w.un("relu", margin);
    let rows = match w.ty(x).rank() {
        0 | 1 => loss,
        _ => {
            let last = w.last(x);
            w.reduce("sum", loss, &[last], false)
        }
    };
    w.offer(rows);
    Some(())
}

fn cosine(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(1);
    let x = w.tame(x, 20.0);
    let y = w.beside(x, -2.0, 2.0);
    let y = w.tame(y, 20.0);
    let last = w.last(x);
    let product = w.bin("mul", x, y);
    let dot = w.reduce("sum", product, &[last], false);
    let norm = |w: &mut Writer, v: V| {
        let squares = w.bin("mul", v, v);
        let size = w.size(v);
        w.expect(squares, 0.0, size * size);
        let sum = w.reduce("sum", squares, &[last], false);
        let shifted = w.with("add", sum, 1e-2);
        w.un("rsqrt", shifted)
    };
    let (a, b) = (norm(w, x), norm(w, y));
    let scale = w.bin("mul", a, b);
    let y = w.bin("mul", dot, scale);
    w.expect(y, -1.01, 1.01);
    w.offer(y);
    Some(())
}
