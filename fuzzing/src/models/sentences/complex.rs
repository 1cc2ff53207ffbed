//! Complex numbers: spectra, filters, rotations, functions and their identities.

use fuser_ir::DType;

use super::{Sentence, row};
use crate::models::program::{Data, V};
use crate::models::types::Dim;
use crate::models::writer::Writer;

pub const ALL: &[Sentence] = &[
    row("complex arithmetic", 3, arithmetic),
    row("rotary pairs", 2, rotary),
    row("power spectrum", 2, spectrum),
    row("complex functions", 4, functions),
    row("complex comparison", 2, comparison),
    row("complex movement", 3, movement),
    row("complex reductions", 3, reductions),
    row("complex scatter", 1, scatter),
];

/// The complex type that the program computes with.
fn dtype(w: &Writer) -> DType {
    match w.dtype {
        DType::F64 => DType::C128,
        _ => DType::C64,
    }
}

/// A new complex input, or a value of the pool.
fn numbers(w: &mut Writer, least: usize) -> V {
    let of = dtype(w);
    let fits = |v: &V| w.dtype_of(*v) == of && w.ty(*v).rank() >= least && w.size(*v) < 8.0;
    let found: Vec<V> = w.pool.iter().copied().filter(fits).collect();
    if !found.is_empty() && w.maybe(2) {
        return found[w.source.index(found.len())];
    }
    let rank = least.max(1 + w.source.index(2));
    let dims = w.shape(rank);
    let data = match w.maybe(4) {
        true => Data::Whole(-3, 3),
        false => Data::Reals(-2.0, 2.0),
    };
    w.input("z", of, dims, data)
}

/// Another one of the same shape.
fn like(w: &mut Writer, z: V) -> V {
    let dims: Vec<Dim> = w.dims(z).iter().map(Dim::plain).collect();
    w.input("u", w.dtype_of(z), dims, Data::Reals(-2.0, 2.0))
}

/// A number as a constant.
fn number(w: &mut Writer, re: f64, im: f64) -> V {
    let part = dtype(w).part();
    let (re, im) = (w.constant(re, part), w.constant(im, part));
    w.complex(re, im)
}

fn arithmetic(w: &mut Writer) -> Option<()> {
    let z = numbers(w, 1);
    let u = match w.source.below(3) {
        0 => number(w, 0.5, -1.0),
        1 => z,
        _ => like(w, z),
    };
    let name = w.source.one(&["add", "sub", "mul", "div"]);
    let y = w.bin(name, z, u);
    let y = w.expect(y, -20.0, 20.0);
    w.offer(y);
    let back = w.source.one(&["conj", "neg", "real", "imag", "abs"]);
    let y = w.un(back, y);
    w.offer(y);
    Some(())
}

/// Rotary embedding as frontends write it: pairs as complex numbers, turned by angles.
fn rotary(w: &mut Writer) -> Option<()> {
    let part = dtype(w).part();
    let mut dims = w.shape(2);
    dims[1] = Dim::fixed(w.source.one(&[1, 2, 4, 8]));
    let [a, b] = ["a", "b"].map(|hint| w.input(hint, part, dims.clone(), Data::Reals(-2.0, 2.0)));
    let angle = w.input("angle", part, dims.clone(), Data::Reals(-3.0, 3.0));
    let (cos, sin) = (w.un("cos", angle), w.un("sin", angle));
    let (z, turn) = (w.complex(a, b), w.complex(cos, sin));
    let y = w.bin("mul", z, turn);
    let y = w.expect(y, -4.0, 4.0);
    if w.maybe(2) {
        w.offer(y);
    }
    for name in ["real", "imag"] {
        let own = w.un(name, y);
        w.offer(own);
    }
    Some(())
}

/// The squared magnitude, and the logarithm of the magnitude.
fn spectrum(w: &mut Writer) -> Option<()> {
    let z = numbers(w, 1);
    let conj = w.un("conj", z);
    let power = w.bin("mul", z, conj);
    let power = w.un("real", power);
    let power = w.expect(power, 0.0, 64.0);
    w.offer(power);
    let size = w.un("abs", z);
    let size = w.with("add", size, 0.25);
    let level = w.un("log", size);
    w.offer(level);
    Some(())
}

fn functions(w: &mut Writer) -> Option<()> {
    let z = numbers(w, 1);
    let name = w.source.one(&[
        "exp",
        "exp2",
        "log",
        "log2",
        "log10",
        "sqrt",
        "rsqrt",
        "reciprocal",
        "sin",
        "cos",
        "tan",
        "sinh",
        "cosh",
        "tanh",
        "sigmoid",
        "silu",
        "pow",
    ]);
    let y = match name {
        "pow" => {
            let exponent = match w.maybe(2) {
                true => number(w, 2.0, 0.0),
                false => number(w, 0.5, 1.0),
            };
            w.bin("pow", z, exponent)
        }
        name => w.un(name, z),
    };
    w.expect(y, -3000.0, 3000.0);
    w.offer(y);
    Some(())
}

fn comparison(w: &mut Writer) -> Option<()> {
    let z = numbers(w, 1);
    let dims: Vec<Dim> = w.dims(z).iter().map(Dim::plain).collect();
    let u = w.input("u", w.dtype_of(z), dims, Data::Whole(-1, 1));
    let predicate = w.source.one(&["eq", "ne"]);
    let same = w.compare(predicate, z, u);
    w.offer(same);
    let test = w.source.one(&["isnan", "isfinite"]);
    let test = w.un(test, z);
    let y = w.choose(test, z, u);
    w.offer(y);
    let y = w.choose(same, u, z);
    w.offer(y);
    Some(())
}

fn movement(w: &mut Writer) -> Option<()> {
    let z = numbers(w, 2);
    let rank = w.ty(z).rank();
    let order = w.order(rank);
    let y = match w.source.below(6) {
        0 => w.permute(z, &order),
        1 => w.flip(z, &[0]),
        2 => {
            let value = number(w, 1.0, -1.0);
            w.pad(z, value, &vec![1; rank], &vec![0; rank])
        }
        3 => w.roll(z, rank - 1, 1),
        4 => w.cat(&[z, z], 0),
        _ => {
            let to = match w.dtype_of(z) {
                DType::C64 => DType::C128,
                _ => DType::C64,
            };
            w.cast(z, to)
        }
    };
    if !w.fits(&w.dims(y)) {
        return None;
    }
    w.offer(y);
    if w.maybe(2) {
        let one = number(w, 0.0, 1.0);
        let dims = w.dims(z);
        let filled = w.full(one, &dims);
        let x = w.bin("mul", z, filled);
        w.offer(x);
    }
    if w.maybe(3) {
        let of = dtype(w);
        let dims = w.dims(z).iter().map(Dim::plain).collect();
        let x = w.reals("x", dims, -2.0, 2.0);
        let x = w.cast(x, of);
        w.offer(x);
    }
    Some(())
}

fn reductions(w: &mut Writer) -> Option<()> {
    let z = numbers(w, 1);
    let dims = w.some_dims(z);
    let keepdim = w.maybe(2);
    let length: u64 = dims.iter().map(|d| w.ty(z).dims[*d].length).product();
    if w.source.below(6) == 0 && w.ty(z).dims[dims[0]].length <= 8 {
        let y = w.scan("prod", z, dims[0]);
        let y = w.expect(y, -1e6, 1e6);
        w.offer(y);
        return Some(());
    }
    if w.source.below(5) == 0 && length > 1 {
        let (var, mean) = w.var_mean(z, &dims, 1, keepdim);
        w.offer(var);
        w.offer(mean);
        return Some(());
    }
    let y = match w.source.below(4) {
        0 => w.reduce("mean", z, &dims, keepdim),
        1 => w.scan("sum", z, dims[0]),
        2 if length <= 8 => {
            let y = w.reduce("prod", z, &dims, keepdim);
            w.expect(y, -1e6, 1e6)
        }
        _ => w.reduce("sum", z, &dims, keepdim),
    };
    w.offer(y);
    Some(())
}

fn scatter(w: &mut Writer) -> Option<()> {
    let z = numbers(w, 1);
    let n = w.ty(z).dims[0].length as i64;
    let mut dims: Vec<Dim> = w.dims(z).iter().map(Dim::plain).collect();
    dims[0] = Dim::fixed(3);
    let at = w.input("at", DType::I32, vec![Dim::fixed(3)], Data::Whole(-1, n));
    let updates = w.input("u", w.dtype_of(z), dims, Data::Reals(-2.0, 2.0));
    let how = w.source.one(&["set", "add"]);
    let y = w.put("index_put", [z, at, updates], 0, how);
    w.offer(y);
    let y = w.take(z, at, 0);
    w.offer(y);
    Some(())
}
