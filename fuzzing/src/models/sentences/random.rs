//! Random numbers: dropout forward and backward, noise, initial weights.

use fuser_ir::DType;

use super::{Sentence, row};
use crate::models::program::{Data, V};
use crate::models::types::Dim;
use crate::models::writer::Writer;

pub const ALL: &[Sentence] = &[
    row("dropout of a seed", 3, dropout),
    row("noise", 3, noise),
    row("random bits", 2, bits),
];

/// Seed and offset: inputs or numbers.
fn key(w: &mut Writer) -> [V; 2] {
    let seed = match w.maybe(3) {
        true => w.constant(2718.0, DType::I64),
        false => w.input("seed", DType::I64, Vec::new(), Data::Full),
    };
    let offset = match w.maybe(2) {
        true => w.constant(7.0, DType::I64),
        false => w.input("offset", DType::I64, Vec::new(), Data::Whole(0, 1 << 40)),
    };
    [seed, offset]
}

fn plain(w: &Writer, x: V) -> Vec<Dim> {
    w.dims(x).iter().map(Dim::plain).collect()
}

/// Dropout forward and backward, with one mask or with random numbers drawn twice.
fn dropout(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let (dims, dtype) = (plain(w, x), w.dtype_of(x));
    let key = key(w);
    let keep = match w.maybe(2) {
        true => {
            let p = w.constant(0.75, DType::F32);
            w.bernoulli(p, key, &dims)
        }
        false => {
            let u = w.random("uniform", key, &dims, dtype);
            w.compare_with("ge", u, 0.25)
        }
    };
    let scaled = w.with("mul", x, 1.0 / 0.75);
    let zero = w.constant(0.0, dtype);
    let y = w.choose(keep, scaled, zero);
    w.offer(y);
    if w.maybe(2) {
        let dy = w.beside(x, -1.0, 1.0);
        let dy = w.with("mul", dy, 1.0 / 0.75);
        let dx = w.choose(keep, dy, zero);
        w.offer(dx);
    }
    Some(())
}

fn noise(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(1);
    let x = w.tame(x, 20.0);
    let dims = plain(w, x);
    let key = key(w);
    let z = w.random("normal", key, &dims, w.dtype_of(x));
    let z = w.with("mul", z, 0.125);
    let y = w.bin("add", x, z);
    w.offer(y);
    Some(())
}

/// Words of blocks at indices that are counted or given.
fn bits(w: &mut Writer) -> Option<()> {
    let rank = 1 + w.source.index(2);
    let dims = w.shape(rank);
    let [seed, offset] = key(w);
    let index = match w.maybe(2) {
        true => w.iota(rank - 1, &dims, DType::I64),
        false => w.input("n", DType::I64, dims, Data::Full),
    };
    let word = w.source.one(&["x", "y", "z", "w"]);
    let bits = w.philox(index, seed, offset, word);
    w.offer(bits);
    Some(())
}
