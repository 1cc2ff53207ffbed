//! Activations and their gradients, elementwise chains of all kinds.

use fuser_ir::DType;

use super::{Sentence, row};
use crate::models::program::{Data, V};
use crate::models::types::Dim;
use crate::models::writer::Writer;

pub const ALL: &[Sentence] = &[
    row("gelu", 3, gelu),
    row("gelu by tanh", 3, gelu_tanh),
    row("gelu backward", 2, gelu_backward),
    row("silu", 3, silu),
    row("silu backward", 2, silu_backward),
    row("relu and its gradient", 3, relu),
    row("leaky relu", 2, leaky),
    row("elu", 2, elu),
    row("softplus", 2, softplus),
    row("mish", 1, mish),
    row("hard swish", 2, hard_swish),
    row("gated halves", 3, gated),
    row("dropout", 3, dropout),
    row("residual", 4, residual),
    row("waves", 2, waves),
    row("bases", 2, bases),
    row("inverses", 4, inverses),
];

/// An operand of moderate size.
fn operand(w: &mut Writer) -> V {
    let x = w.pick_wide(1);
    w.tame(x, 20.0)
}

fn done(w: &mut Writer, y: V) -> Option<()> {
    let y = w.back(y);
    w.offer(y);
    Some(())
}

fn gelu(w: &mut Writer) -> Option<()> {
    let x = operand(w);
    let scaled = w.with("mul", x, std::f64::consts::FRAC_1_SQRT_2);
    let e = w.un("erf", scaled);
    let shifted = w.with("add", e, 1.0);
    let half = w.with("mul", x, 0.5);
    let y = w.bin("mul", half, shifted);
    done(w, y)
}

fn gelu_tanh(w: &mut Writer) -> Option<()> {
    let x = operand(w);
    let cube = match w.maybe(3) {
        true => w.with("pow", x, 3.0),
        false => {
            let square = w.bin("mul", x, x);
            w.bin("mul", square, x)
        }
    };
    let size = w.size(x).powi(3);
    w.expect(cube, -size, size);
    let part = w.with("mul", cube, 0.044715);
    let sum = w.bin("add", x, part);
    let scaled = w.with("mul", sum, 0.797_884_560_802_865_4);
    let t = w.un("tanh", scaled);
    let t = w.with("add", t, 1.0);
    let half = w.of("mul", 0.5, x);
    let y = w.bin("mul", half, t);
    done(w, y)
}

fn gelu_backward(w: &mut Writer) -> Option<()> {
    let x = operand(w);
    let dy = w.beside(x, -1.0, 1.0);
    let scaled = w.with("mul", x, std::f64::consts::FRAC_1_SQRT_2);
    let e = w.un("erf", scaled);
    let e = w.with("add", e, 1.0);
    let cdf = w.with("mul", e, 0.5);
    let square = w.bin("mul", x, x);
    let exponent = w.with("mul", square, -0.5);
    let size = w.size(x);
    w.expect(exponent, -size * size, 0.0);
    let bell = w.un("exp", exponent);
    let pdf = w.with("mul", bell, 0.398_942_280_401_432_7);
    let part = w.bin("mul", x, pdf);
    let slope = w.bin("add", cdf, part);
    let dx = w.bin("mul", dy, slope);
    done(w, dx)
}

fn silu(w: &mut Writer) -> Option<()> {
    let x = operand(w);
    let s = match w.source.below(4) {
        3 => {
            let y = w.un("silu", x);
            return done(w, y);
        }
        0 => {
            let n = w.un("neg", x);
            let e = w.un("exp", n);
            let d = w.with("add", e, 1.0);
            let s = w.un("reciprocal", d);
            w.expect(s, 0.0, 1.0)
        }
        _ => w.un("sigmoid", x),
    };
    let y = w.bin("mul", x, s);
    done(w, y)
}

fn silu_backward(w: &mut Writer) -> Option<()> {
    let x = operand(w);
    let dy = w.beside(x, -1.0, 1.0);
    let s = w.un("sigmoid", x);
    let rest = w.of("sub", 1.0, s);
    let part = w.bin("mul", x, rest);
    let inner = w.with("add", part, 1.0);
    let slope = w.bin("mul", s, inner);
    let dx = w.bin("mul", dy, slope);
    done(w, dx)
}

fn relu(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let dy = w.beside(x, -1.0, 1.0);
    let dtype = w.dtype_of(x);
    let y = w.un("relu", x);
    let positive = w.compare_with("gt", x, 0.0);
    let zero = w.constant(0.0, dtype);
    let dx = match w.maybe(2) {
        true => w.choose(positive, dy, zero),
        false => {
            let m = w.cast(positive, dtype);
            w.bin("mul", dy, m)
        }
    };
    w.offer(y);
    w.offer(dx);
    if w.maybe(4) {
        w.offer(positive);
    }
    Some(())
}

fn leaky(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let slope = w.scalar(0.01, w.dtype_of(x));
    let small = w.bin("mul", x, slope);
    let y = match w.maybe(2) {
        true => w.bin("maximum", x, small),
        false => {
            let c = w.compare_with("ge", x, 0.0);
            w.choose(c, x, small)
        }
    };
    done(w, y)
}

fn elu(w: &mut Writer) -> Option<()> {
    let x = operand(w);
    let negative = w.with("minimum", x, 0.0);
    let e = w.un("expm1", negative);
    let alpha = w.scalar(1.5, w.dtype_of(x));
    let scaled = w.bin("mul", e, alpha);
    let c = w.compare_with("gt", x, 0.0);
    let y = w.choose(c, x, scaled);
    done(w, y)
}

/// `max(x, 0) + log1p(e^-|x|)`
fn softplus(w: &mut Writer) -> Option<()> {
    let x = operand(w);
    let size = w.un("abs", x);
    let n = w.un("neg", size);
    let e = w.un("exp", n);
    let e = w.expect(e, 0.0, 1.0);
    let l = w.un("log1p", e);
    let positive = w.un("relu", x);
    let y = w.bin("add", positive, l);
    done(w, y)
}

fn mish(w: &mut Writer) -> Option<()> {
    let x = operand(w);
    let x = w.tame(x, 8.0);
    let e = w.un("exp", x);
    let l = w.un("log1p", e);
    let t = w.un("tanh", l);
    let y = w.bin("mul", x, t);
    done(w, y)
}

fn hard_swish(w: &mut Writer) -> Option<()> {
    let x = operand(w);
    let shifted = w.with("add", x, 3.0);
    let limited = w.clamp(shifted, 0.0, 6.0);
    let product = w.bin("mul", x, limited);
    let y = w.with("div", product, 6.0);
    done(w, y)
}

/// One half of the last axis gates the other.
fn gated(w: &mut Writer) -> Option<()> {
    let x = w.halves(1);
    let last = w.last(x);
    let n = w.ty(x).dims[last].length / 2;
    let (a, b) = (w.part(x, last, 0, n, 1), w.part(x, last, n, n, 1));
    let a = w.tame(a, 20.0);
    let gate = match w.source.below(3) {
        0 => w.un("sigmoid", a),
        1 => {
            let s = w.un("sigmoid", a);
            w.bin("mul", a, s)
        }
        _ => w.un("tanh", a),
    };
    let y = w.bin("mul", gate, b);
    done(w, y)
}

fn dropout(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let dims: Vec<Dim> = w.dims(x).iter().map(Dim::plain).collect();
    let dtype = w.dtype_of(x);
    let y = match w.maybe(2) {
        true => {
            let keep = w.input("keep", DType::I1, dims, Data::Whole(0, 1));
            let zero = w.constant(0.0, dtype);
            let kept = w.choose(keep, x, zero);
            w.with("mul", kept, 2.0)
        }
        false => {
            let noise = w.input("noise", dtype, dims, Data::Reals(0.0, 1.0));
            let keep = w.compare_with("ge", noise, 0.25);
            let keep = w.cast(keep, dtype);
            let kept = w.bin("mul", x, keep);
            w.with("mul", kept, 1.0 / 0.75)
        }
    };
    w.offer(y);
    Some(())
}

fn residual(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let last = w.last(x);
    let other = w.beside(x, -2.0, 2.0);
    let y = match w.maybe(2) {
        true => {
            let bias = w.along("bias", x, last, -1.0, 1.0);
            let y = w.bin("add", x, bias);
            w.bin("add", y, other)
        }
        false => w.bin("add", other, x),
    };
    w.offer(y);
    Some(())
}

fn waves(w: &mut Writer) -> Option<()> {
    let x = operand(w);
    let f = w.with("mul", x, std::f64::consts::TAU);
    let (s, c) = (w.un("sin", f), w.un("cos", f));
    let a = w.bin("mul", s, c);
    let narrow = w.clamp(x, -1.0, 1.0);
    let t = w.un("tan", narrow);
    w.expect(t, -1.6, 1.6);
    let y = w.bin("add", a, t);
    done(w, y)
}

/// Powers and logarithms to other bases.
fn bases(w: &mut Writer) -> Option<()> {
    let x = operand(w);
    let x = w.tame(x, 8.0);
    let p = w.un("exp2", x);
    let shifted = w.with("add", p, 0.5);
    let l = w.un("log2", shifted);
    let root = w.scalar(0.75, w.dtype_of(x));
    let q = w.bin("pow", shifted, root);
    let y = w.bin("mul", l, q);
    let y = w.expect(y, -600.0, 600.0);
    done(w, y)
}

/// Inverse and hyperbolic functions, each where it is defined and does not grow steep.
fn inverses(w: &mut Writer) -> Option<()> {
    let x = operand(w);
    let distance = w.un("abs", x);
    let beyond = w.with("add", distance, 1.5);
    let y = match w.source.below(5) {
        0 => {
            let narrow = w.clamp(x, -0.9, 0.9);
            let name = w.source.one(&["asin", "acos", "atanh", "erfinv"]);
            w.un(name, narrow)
        }
        1 if w.maybe(2) => {
            let inside = w.clamp(distance, 0.0625, 1.9);
            w.un("erfcinv", inside)
        }
        1 => {
            let name = w.source.one(&["acosh", "log10", "lgamma"]);
            w.un(name, beyond)
        }
        2 => {
            let small = w.tame(x, 4.0);
            let name = w.source.one(&["sinh", "cosh", "asinh", "atan", "erfc"]);
            w.un(name, small)
        }
        3 if matches!(w.dtype_of(x), DType::F32 | DType::F64) => w.bin("nextafter", x, beyond),
        _ => w.bin("atan2", x, beyond),
    };
    done(w, y)
}
