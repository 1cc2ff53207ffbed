//! Optimizers: the update of a parameter and of its state, whose new values overwrite the old.

use super::{Sentence, row};
use crate::models::program::{Data, V};
use crate::models::types::{Dim, Type};
use crate::models::writer::Writer;
use fuser_ir::DType;

pub const ALL: &[Sentence] = &[
    row("adam", 3, adam),
    row("momentum", 3, momentum),
    row("plain descent", 2, descent),
    row("clip by norm", 2, clip),
    row("moving average", 2, average),
];

/// A parameter of the program that is overwritten, with its type.
fn state(w: &mut Writer, hint: &str, like: V, low: f64, high: f64) -> V {
    let dims = w.dims(like).iter().map(Dim::plain).collect();
    let ty = Type::tensor(w.dtype_of(like), dims);
    w.parameter(hint, ty, Data::Reals(low, high))
}

/// `new` is returned and overwrites `old`, if it has its type.
fn overwrite(w: &mut Writer, new: V, old: V) {
    let taken = w.program.results.iter().any(|(_, a)| *a == Some(old));
    let place = (w.ty(new) == w.ty(old) && !taken).then_some(old);
    w.program.results.push((new, place));
    w.offer(new);
}

fn gradient(w: &mut Writer) -> V {
    let dtype = w.dtype;
    let g = match w.maybe(2) {
        true => w.pick_wide(1),
        false => {
            let rank = 1 + w.source.index(2);
            let dims = w.shape(rank);
            let g = w.input("g", dtype, dims, Data::Reals(-1.0, 1.0));
            match w.maybe(2) {
                true => w.cast(g, DType::F32),
                false => g,
            }
        }
    };
    let g = w.tame(g, 10.0);
    w.stored(g)
}

fn adam(w: &mut Writer) -> Option<()> {
    let g = gradient(w);
    let p = state(w, "p", g, -1.0, 1.0);
    let (m, v) = (state(w, "m", g, -0.1, 0.1), state(w, "v", g, 0.0, 0.1));
    let kept = w.with("mul", m, 0.9);
    let part = w.with("mul", g, 0.1);
    let m1 = w.bin("add", kept, part);
    let kept = w.with("mul", v, 0.999);
    let square = w.bin("mul", g, g);
    let size = w.size(g);
    w.expect(square, 0.0, size * size);
    let part = w.with("mul", square, 0.001);
    let v1 = w.bin("add", kept, part);
    let dtype = w.dtype_of(g);
    let step = w.scalar(3.0, dtype);
    let beta = w.scalar(0.9, dtype);
    let power = w.bin("pow", beta, step);
    let bias = w.of("sub", 1.0, power);
    let mhat = w.bin("div", m1, bias);
    let root = w.un("sqrt", v1);
    let shifted = w.with("add", root, 1e-3);
    let ratio = w.bin("div", mhat, shifted);
    let scaled = w.with("mul", ratio, 0.001);
    let decayed = match w.maybe(2) {
        true => w.with("mul", p, 0.999),
        false => p,
    };
    let p1 = w.bin("sub", decayed, scaled);
    for (new, old) in [(p1, p), (m1, m), (v1, v)] {
        overwrite(w, new, old);
    }
    Some(())
}

fn momentum(w: &mut Writer) -> Option<()> {
    let g = gradient(w);
    let (p, v) = (state(w, "p", g, -1.0, 1.0), state(w, "v", g, -1.0, 1.0));
    let mu = w.scalar(0.9, w.dtype_of(g));
    let kept = w.bin("mul", v, mu);
    let v1 = w.bin("add", kept, g);
    let direction = match w.maybe(3) {
        true => {
            let ahead = w.bin("mul", v1, mu);
            w.bin("add", g, ahead)
        }
        false => v1,
    };
    let step = w.with("mul", direction, 0.01);
    let p1 = w.bin("sub", p, step);
    overwrite(w, p1, p);
    overwrite(w, v1, v);
    Some(())
}

fn descent(w: &mut Writer) -> Option<()> {
    let g = gradient(w);
    let p = state(w, "p", g, -1.0, 1.0);
    let decay = w.with("mul", p, 0.01);
    let d = w.bin("add", g, decay);
    let rate = w.scalar(0.125, w.dtype_of(g));
    let step = w.bin("mul", d, rate);
    let p1 = w.bin("sub", p, step);
    overwrite(w, p1, p);
    Some(())
}

fn clip(w: &mut Writer) -> Option<()> {
    let g = gradient(w);
    let dims: Vec<usize> = (0..w.ty(g).rank()).collect();
    let squares = w.bin("mul", g, g);
    let size = w.size(g);
    w.expect(squares, 0.0, size * size);
    let sum = w.reduce("sum", squares, &dims, false);
    let norm = w.un("sqrt", sum);
    let shifted = w.with("add", norm, 1e-3);
    let ratio = w.of("div", 1.0, shifted);
    let factor = w.with("minimum", ratio, 1.0);
    w.expect(factor, 0.0, 1.0);
    let clipped = w.bin("mul", g, factor);
    w.offer(clipped);
    w.offer(norm);
    Some(())
}

fn average(w: &mut Writer) -> Option<()> {
    let x = gradient(w);
    let old = state(w, "ema", x, -1.0, 1.0);
    let d = w.bin("sub", x, old);
    let part = w.with("mul", d, 0.25);
    let new = w.bin("add", old, part);
    overwrite(w, new, old);
    Some(())
}
