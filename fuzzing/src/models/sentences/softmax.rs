//! Softmax and its kin, with masks and without.

use fuser_ir::DType;

use super::{Sentence, row};
use crate::models::program::{Data, V};
use crate::models::types::Dim;
use crate::models::writer::Writer;

pub const ALL: &[Sentence] = &[
    row("softmax", 5, softmax),
    row("masked softmax", 4, masked),
    row("causal softmax", 3, causal),
    row("log softmax", 4, log_softmax),
    row("softmax backward", 3, backward),
    row("log sum exp", 3, log_sum_exp),
];

/// The values of a mask where it does not hold.
const BARRED: [f64; 3] = [-1e4, f64::NEG_INFINITY, -100.0];

/// `e^(x - max)` and its sum along `axis`, both of the shape of `x`.
pub fn weights(w: &mut Writer, x: V, axis: usize) -> (V, V) {
    let most = w.reduced("max", x, &[axis]);
    let (low, high) = w.range(x);
    let shifted = w.bin("sub", x, most);
    let shifted = w.expect(shifted, low - high, 0.0);
    let e = match w.maybe(6) {
        true => {
            let scaled = w.with("mul", shifted, std::f64::consts::LOG2_E);
            w.un("exp2", scaled)
        }
        false => w.un("exp", shifted),
    };
    let e = w.expect(e, 0.0, 1.0);
    let sum = w.reduced("sum", e, &[axis]);
    let n = w.ty(x).dims[axis].length.max(1) as f64;
    (e, w.expect(sum, 0.99, n))
}

/// Softmax along one axis.
pub fn along(w: &mut Writer, x: V, axis: usize) -> V {
    let (e, sum) = weights(w, x, axis);
    let y = match w.maybe(4) {
        true => {
            let inverse = w.un("reciprocal", sum);
            w.bin("mul", e, inverse)
        }
        false => w.bin("div", e, sum),
    };
    w.expect(y, 0.0, 1.01)
}

fn logits(w: &mut Writer) -> V {
    let x = w.pick_wide(1);
    let x = w.tame(x, 40.0);
    match w.maybe(4) {
        true => {
            let t = w.scalar(0.5, w.dtype_of(x));
            w.bin("mul", x, t)
        }
        false => x,
    }
}

fn softmax(w: &mut Writer) -> Option<()> {
    let x = logits(w);
    let axis = match w.maybe(4) {
        true => w.source.index(w.ty(x).rank()),
        false => w.last(x),
    };
    let y = along(w, x, axis);
    let y = w.back(y);
    w.offer(y);
    Some(())
}

/// With a boolean mask, or an additive one.
fn masked(w: &mut Writer) -> Option<()> {
    let x = logits(w);
    let last = w.last(x);
    let dims = w.dims(x);
    let plain: Vec<Dim> = match w.maybe(2) {
        true => vec![dims[last].plain()],
        false => dims.iter().map(Dim::plain).collect(),
    };
    let whole = plain.len() == dims.len();
    let dtype = w.dtype_of(x);
    let y = match w.maybe(3) {
        true => {
            let m = w.input("mask", dtype, plain, Data::Whole(0, 1));
            let m = w.with("sub", m, 1.0);
            let m = w.with("mul", m, 64.0);
            let m = if whole {
                m
            } else {
                w.broadcast(m, &[last], &dims)
            };
            w.bin("add", x, m)
        }
        false => {
            let m = w.input("mask", DType::I1, plain, Data::Whole(0, 1));
            let m = if whole {
                m
            } else {
                w.broadcast(m, &[last], &dims)
            };
            let barred = w.source.one(&BARRED);
            let barred = w.constant(barred, dtype);
            let size = w.size(x);
            let y = w.choose(m, x, barred);
            w.expect(y, -size, size)
        }
    };
    let y = along(w, y, last);
    let y = w.back(y);
    w.offer(y);
    Some(())
}

fn causal(w: &mut Writer) -> Option<()> {
    let x = logits(w);
    let rank = w.ty(x).rank();
    if rank < 2 {
        return None;
    }
    let dims: Vec<Dim> = w.dims(x)[rank - 2..].to_vec();
    let of = w.source.one(&[DType::I32, DType::I64, DType::Index]);
    let rows = w.iota(0, &dims, of);
    let columns = w.iota(1, &dims, of);
    let allowed = w.compare("le", columns, rows);
    let all = w.dims(x);
    let allowed = match rank {
        2 => allowed,
        _ => w.broadcast(allowed, &[rank - 2, rank - 1], &all),
    };
    let barred = w.source.one(&BARRED);
    let barred = w.constant(barred, w.dtype_of(x));
    let size = w.size(x);
    let y = w.choose(allowed, x, barred);
    w.expect(y, -size, size);
    let y = along(w, y, rank - 1);
    w.offer(y);
    Some(())
}

/// Log softmax along the last axis.
pub fn log(w: &mut Writer, x: V) -> V {
    let last = w.last(x);
    let most = w.reduced("max", x, &[last]);
    let shifted = w.bin("sub", x, most);
    let size = w.size(x);
    let shifted = w.expect(shifted, -2.0 * size, 0.0);
    let e = w.un("exp", shifted);
    let keepdim = w.maybe(2);
    let sum = w.reduce("sum", e, &[last], keepdim);
    let n = w.ty(x).dims[last].length.max(1) as f64;
    let sum = w.expect(sum, 0.99, n);
    let log = w.un("log", sum);
    let log = w.spread(log, x, &[last]);
    let y = w.bin("sub", shifted, log);
    w.expect(y, -2.0 * size - 10.0, 0.01)
}

fn log_softmax(w: &mut Writer) -> Option<()> {
    let x = logits(w);
    let y = log(w, x);
    let y = w.back(y);
    w.offer(y);
    Some(())
}

fn backward(w: &mut Writer) -> Option<()> {
    let dy = w.pick_wide(1);
    let dy = w.tame(dy, 100.0);
    let y = w.beside(dy, 0.0, 1.0);
    let last = w.last(y);
    let product = w.bin("mul", dy, y);
    let sum = w.reduced("sum", product, &[last]);
    let inner = w.bin("sub", dy, sum);
    let dx = w.bin("mul", inner, y);
    w.offer(dx);
    Some(())
}

fn log_sum_exp(w: &mut Writer) -> Option<()> {
    let x = logits(w);
    let dims = w.some_dims(x);
    let most = w.reduce("max", x, &dims, true);
    let again = w.spread(most, x, &dims);
    let shifted = w.bin("sub", x, again);
    let size = w.size(x);
    w.expect(shifted, -2.0 * size, 0.0);
    let e = w.un("exp", shifted);
    let sum = w.reduce("sum", e, &dims, true);
    let n = w.ty(x).elements().max(1) as f64;
    w.expect(sum, 0.99, n);
    let log = w.un("log", sum);
    let y = w.bin("add", log, most);
    let y = if w.maybe(2) { w.squeeze(y, &dims) } else { y };
    w.offer(y);
    Some(())
}
