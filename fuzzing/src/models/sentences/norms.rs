//! Normalizations, forward and backward.

use super::{Sentence, row};
use crate::models::program::{Data, V};
use crate::models::types::{Dim, Type};
use crate::models::writer::Writer;
use fuser_ir::DType;

pub const ALL: &[Sentence] = &[
    row("layer norm", 4, layer_norm),
    row("layer norm by sums", 3, by_sums),
    row("layer norm backward", 3, backward),
    row("rms norm", 4, rms_norm),
    row("rms norm backward", 2, rms_backward),
    row("batch norm", 3, batch_norm),
    row("batch norm with running statistics", 2, running),
    row("batch norm backward", 2, batch_backward),
    row("group norm", 3, group_norm),
    row("instance norm", 2, instance_norm),
    row("unit vectors", 2, unit),
    row("scale by the greatest", 2, greatest),
];

const EPS: [f64; 4] = [1e-5, 1e-3, 1e-6, 0.1];

/// `(x - mean) / sqrt(var + eps)` from reductions along `dims`.
fn normalized(w: &mut Writer, x: V, var: V, mean: V, dims: &[usize]) -> (V, V) {
    let eps = w.source.one(&EPS);
    let eps = w.scalar(eps, w.dtype_of(x));
    let shifted = w.bin("add", var, eps);
    let inverse = match w.source.below(3) {
        0 => {
            let root = w.un("sqrt", shifted);
            w.un("reciprocal", root)
        }
        _ => w.un("rsqrt", shifted),
    };
    let mean = w.spread(mean, x, dims);
    let centered = w.bin("sub", x, mean);
    let scale = w.spread(inverse, x, dims);
    let y = w.bin("mul", centered, scale);
    (w.expect(y, -20.0, 20.0), inverse)
}

fn affine(w: &mut Writer, y: V, axis: usize) -> V {
    let weight = w.along("gamma", y, axis, 0.5, 1.5);
    let scaled = w.bin("mul", y, weight);
    if w.maybe(4) {
        return scaled;
    }
    let bias = w.along("beta", y, axis, -1.0, 1.0);
    w.bin("add", scaled, bias)
}

fn layer_norm(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(1);
    let last = w.last(x);
    let dims: Vec<usize> = match last > 1 && w.maybe(4) {
        true => vec![last - 1, last],
        false => vec![last],
    };
    let (correction, keepdim) = (w.source.below(2), w.maybe(2));
    let (var, mean) = w.var_mean(x, &dims, correction, keepdim);
    let (y, inverse) = normalized(w, x, var, mean, &dims);
    let y = if w.maybe(4) { y } else { affine(w, y, last) };
    let y = w.back(y);
    w.offer(y);
    if w.maybe(3) {
        w.offer(mean);
        w.offer(inverse);
    }
    Some(())
}

/// A norm whose variance is the mean of squares minus the square of the mean.
fn by_sums(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(1);
    let x = w.tame(x, 16.0);
    let last = w.last(x);
    let keepdim = w.maybe(2);
    let mean = w.mean(x, &[last], keepdim);
    let squares = w.bin("mul", x, x);
    let second = w.mean(squares, &[last], keepdim);
    let square = w.bin("mul", mean, mean);
    let var = w.bin("sub", second, square);
    let var = w.un("relu", var);
    let (y, _) = normalized(w, x, var, mean, &[last]);
    let y = affine(w, y, last);
    let y = w.back(y);
    w.offer(y);
    Some(())
}

fn backward(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(2);
    let last = w.last(x);
    let dy = w.beside(x, -1.0, 1.0);
    let dims = w.dims(x);
    let rest: Vec<Dim> = dims[..last].iter().map(Dim::plain).collect();
    let dtype = w.dtype_of(x);
    let mean = w.input("mean", dtype, rest.clone(), Data::Reals(-0.5, 0.5));
    let inverse = w.input("rstd", dtype, rest, Data::Reals(0.5, 1.5));
    let mean = w.spread(mean, x, &[last]);
    let inverse = w.spread(inverse, x, &[last]);
    let centered = w.bin("sub", x, mean);
    let xhat = w.bin("mul", centered, inverse);
    let weight = w.along("gamma", x, last, 0.5, 1.5);
    let scaled = w.bin("mul", dy, weight);
    let a = mean_again(w, scaled, last);
    let product = w.bin("mul", scaled, xhat);
    let b = mean_again(w, product, last);
    let part = w.bin("mul", xhat, b);
    let inner = w.bin("sub", scaled, a);
    let inner = w.bin("sub", inner, part);
    let dx = w.bin("mul", inner, inverse);
    let leading: Vec<usize> = (0..last).collect();
    let weights = w.bin("mul", dy, xhat);
    let dweight = w.reduce("sum", weights, &leading, false);
    let dbias = w.reduce("sum", dy, &leading, false);
    let dx = w.back(dx);
    for v in [dweight, dbias, dx] {
        w.offer(v);
    }
    Some(())
}

fn mean_again(w: &mut Writer, x: V, axis: usize) -> V {
    let keepdim = w.maybe(2);
    let m = w.mean(x, &[axis], keepdim);
    w.spread(m, x, &[axis])
}

fn rms_norm(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(1);
    let x = w.tame(x, 100.0);
    let last = w.last(x);
    let squares = match w.maybe(3) {
        true => w.with("pow", x, 2.0),
        false => w.bin("mul", x, x),
    };
    let size = w.size(x);
    let squares = w.expect(squares, 0.0, size * size);
    let keepdim = w.maybe(2);
    let mean = w.mean(squares, &[last], keepdim);
    let eps = w.source.one(&EPS);
    let shifted = w.with("add", mean, eps);
    let inverse = w.un("rsqrt", shifted);
    let inverse = w.spread(inverse, x, &[last]);
    let y = w.bin("mul", x, inverse);
    let y = w.expect(y, -20.0, 20.0);
    let weight = w.along("w", y, last, 0.5, 1.5);
    let y = w.bin("mul", y, weight);
    let y = w.back(y);
    w.offer(y);
    Some(())
}

fn rms_backward(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(2);
    let x = w.tame(x, 16.0);
    let last = w.last(x);
    let dy = w.beside(x, -1.0, 1.0);
    let squares = w.bin("mul", x, x);
    let mean = w.mean(squares, &[last], true);
    let mean = w.expect(mean, 0.0, 256.0);
    let shifted = w.with("add", mean, 1e-2);
    let r = w.un("rsqrt", shifted);
    let weight = w.along("w", x, last, 0.5, 1.5);
    let g = w.bin("mul", dy, weight);
    let gx = w.bin("mul", g, x);
    let dot = w.mean(gx, &[last], true);
    let r2 = w.bin("mul", r, r);
    let r3 = w.bin("mul", r2, r);
    let factor = w.bin("mul", dot, r3);
    let factor = w.spread(factor, x, &[last]);
    let correction = w.bin("mul", x, factor);
    let rs = w.spread(r, x, &[last]);
    let direct = w.bin("mul", g, rs);
    let dx = w.bin("sub", direct, correction);
    let dx = w.expect(dx, -1e3, 1e3);
    w.offer(dx);
    Some(())
}

/// All axes but the channel's.
fn but(x: V, channel: usize, w: &Writer) -> Vec<usize> {
    (0..w.ty(x).rank()).filter(|d| *d != channel).collect()
}

fn batch_norm(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(2);
    let channel = if w.maybe(3) { w.last(x) } else { 1 };
    let dims = but(x, channel, w);
    let keepdim = w.maybe(2);
    let (var, mean) = w.var_mean(x, &dims, 0, keepdim);
    let (y, _) = normalized(w, x, var, mean, &dims);
    let y = affine(w, y, channel);
    let y = w.back(y);
    w.offer(y);
    w.offer(mean);
    Some(())
}

/// Training: the running statistics move a little toward the batch's, in place.
fn running(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(2);
    let channel = 1;
    let dims = but(x, channel, w);
    let (var, mean) = w.var_mean(x, &dims, 1, false);
    for (statistic, hint) in [(var, "rv"), (mean, "rm")] {
        let ty = Type::tensor(w.dtype_of(x), vec![w.dims(x)[channel].plain()]);
        let old = w.parameter(hint, ty, Data::Reals(0.5, 1.5));
        let kept = w.with("mul", old, 0.9);
        let part = w.with("mul", statistic, 0.1);
        let new = w.bin("add", kept, part);
        if *w.ty(new) == *w.ty(old) {
            w.program.results.push((new, Some(old)));
        }
    }
    let (y, _) = normalized(w, x, var, mean, &dims);
    w.offer(y);
    Some(())
}

fn batch_backward(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(2);
    let dims = but(x, 1, w);
    let dy = w.beside(x, -1.0, 1.0);
    let (var, mean) = w.var_mean(x, &dims, 0, true);
    let (xhat, inverse) = normalized(w, x, var, mean, &dims);
    let product = w.bin("mul", dy, xhat);
    let dweight = w.mean(product, &dims, true);
    let dbias = w.mean(dy, &dims, true);
    let again = w.spread(dweight, x, &dims);
    let part = w.bin("mul", xhat, again);
    let mean_dy = w.spread(dbias, x, &dims);
    let inner = w.bin("sub", dy, mean_dy);
    let inner = w.bin("sub", inner, part);
    let scale = w.spread(inverse, x, &dims);
    let dx = w.bin("mul", inner, scale);
    w.expect(dx, -1e3, 1e3);
    w.offer(dx);
    let gone = w.squeeze(dweight, &dims);
    w.offer(gone);
    Some(())
}

fn group_norm(w: &mut Writer) -> Option<()> {
    let (groups, each) = (w.source.one(&[1, 2, 3, 4]), w.source.one(&[1, 2, 3, 8]));
    let mut dims = w.shape(3);
    dims[1] = Dim::fixed(groups * each);
    if !w.fits(&dims) {
        dims[2] = Dim::fixed(5);
    }
    if !w.fits(&dims) {
        dims[0] = Dim::fixed(2);
    }
    let x = w.reals("x", dims.clone(), -2.0, 2.0);
    let x = w.stored(x);
    let x = if w.maybe(2) { w.cast(x, DType::F32) } else { x };
    let split = [
        dims[0].clone(),
        Dim::fixed(groups),
        Dim::fixed(each),
        dims[2].clone(),
    ];
    let g = w.reshape(x, &split);
    let keepdim = w.maybe(2);
    let (var, mean) = w.var_mean(g, &[2, 3], 0, keepdim);
    let (y, _) = normalized(w, g, var, mean, &[2, 3]);
    let y = w.stored(y);
    let y = w.reshape(y, &dims);
    let y = affine(w, y, 1);
    let y = w.back(y);
    w.offer(y);
    Some(())
}

fn instance_norm(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(3);
    let dims: Vec<usize> = (2..w.ty(x).rank()).collect();
    let mean = w.mean(x, &dims, true);
    let again = w.spread(mean, x, &dims);
    let centered = w.bin("sub", x, again);
    let centered = w.tame(centered, 100.0);
    let squares = w.bin("mul", centered, centered);
    let size = w.size(centered);
    let squares = w.expect(squares, 0.0, size * size);
    let var = w.mean(squares, &dims, true);
    let eps = w.source.one(&EPS);
    let shifted = w.with("add", var, eps);
    let root = w.un("sqrt", shifted);
    let root = w.spread(root, x, &dims);
    let y = w.bin("div", centered, root);
    let y = w.expect(y, -20.0, 20.0);
    w.offer(y);
    Some(())
}

fn unit(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(1);
    let x = w.tame(x, 50.0);
    let dims = w.some_dims(x);
    let squares = w.bin("mul", x, x);
    let size = w.size(x);
    let squares = w.expect(squares, 0.0, size * size);
    let keepdim = w.maybe(2);
    let sum = w.reduce("sum", squares, &dims, keepdim);
    let norm = w.un("sqrt", sum);
    let norm = w.with("maximum", norm, 1e-3);
    let norm = w.spread(norm, x, &dims);
    let y = w.bin("div", x, norm);
    let y = w.expect(y, -1.01, 1.01);
    w.offer(y);
    Some(())
}

fn greatest(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let dims = w.some_dims(x);
    let size = w.un("abs", x);
    let most = w.reduced("max", size, &dims);
    let most = w.with("maximum", most, 0.01);
    let y = w.bin("div", x, most);
    let y = w.expect(y, -1.01, 1.01);
    w.offer(y);
    Some(())
}
