//! Sentences about a program as a whole: unnamed axes, islands, long chains.

use super::{Sentence, row};
use crate::models::types::Dim;
use crate::models::writer::Writer;

pub const ALL: &[Sentence] = &[
    row("an axis without a name", 1, vague),
    row("an island", 2, island),
    row("a chain", 3, chain),
    row("a scalar for all", 2, scalar),
];

/// An input with an unknown extent: every value that depends on it has an unknown extent, too.
fn vague(w: &mut Writer) -> Option<()> {
    let x = w.vague();
    if w.maybe(4) {
        return Some(());
    }
    let name = w.source.one(&["neg", "tanh", "relu", "abs", "floor"]);
    let y = w.un(name, x);
    let y = w.with("mul", y, 0.5);
    w.program.results.push((y, None));
    if w.maybe(2) {
        let dims = w.some_dims(y);
        let name = w.source.one(&["sum", "max"]);
        let r = w.reduce(name, y, &dims, false);
        let e = w.un("sigmoid", r);
        w.program.results.push((e, None));
    }
    if w.maybe(3) {
        let order = w.order(w.ty(y).rank());
        let z = w.permute(y, &order);
        w.program.results.push((z, None));
    }
    Some(())
}

/// New inputs that nothing else has to do with.
fn island(w: &mut Writer) -> Option<()> {
    let rank = 1 + w.source.index(3);
    let dims = w.shape(rank);
    let x = w.reals("i", dims, -2.0, 2.0);
    let y = w.un("sigmoid", x);
    let dims = w.some_dims(y);
    let r = w.reduce("max", y, &dims, true);
    w.program.results.push((r, None));
    w.program.results.push((y, None));
    Some(())
}

fn chain(w: &mut Writer) -> Option<()> {
    let mut x = w.pick(1);
    for _ in 0..3 + w.source.below(6) {
        let name = w
            .source
            .one(&["tanh", "sigmoid", "neg", "abs", "sin", "relu", "erf"]);
        x = w.un(name, x);
        if w.maybe(3) {
            x = w.with("add", x, 0.25);
        }
    }
    w.offer(x);
    Some(())
}

/// Reduces everything to one number, and combines that number with everything.
fn scalar(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let x = w.tame(x, 20.0);
    let dims: Vec<usize> = (0..w.ty(x).rank()).collect();
    let name = w.source.one(&["max", "min", "sum"]);
    let y = match w.maybe(3) {
        true => {
            // The longer way: one axis, then the others, then all of them again.
            let first = w.reduce(name, x, &dims[..1], true);
            let all = w.reduce(name, first, &dims, true);
            let shape: Vec<Dim> = w.dims(x);
            let r = w.expand(all, &shape);
            w.bin("sub", x, r)
        }
        false => {
            let r = w.reduce(name, x, &dims, false);
            w.offer(r);
            w.bin("sub", x, r)
        }
    };
    w.offer(y);
    Some(())
}
