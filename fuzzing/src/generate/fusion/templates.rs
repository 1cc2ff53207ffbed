//! Fragments of real models, inserted whole: the programs that segmentation, scheduling and the cost model target.
//!
//! Each template takes existing values or new inputs and adds one or more results to the values. In the exact tier a
//! template ends before its first inexact op.

use fuser_dialects::fusion::{
    self, ADD, DIV, ERF, EXP, MAX, MAXIMUM, MUL, RSQRT, SIGMOID, SUB, SUM, TANH, VAR_MEAN,
};
use fuser_ir::DType;
use fuser_ir::def::OpDef;
use fuser_ir::types::Dim;

use super::flat;
use super::halves;
use super::maker::Maker;
use super::ops::{permute_to, reduce_axes};
use super::shapes::{self, Axis};

/// A template.
pub type Template = fn(&mut Maker<'_>) -> Option<usize>;

/// All of them, with the names under which they are counted.
pub const TEMPLATES: &[(&str, Template)] = &[
    ("softmax", softmax),
    ("layer_norm", layer_norm),
    ("layer_norm_backward", layer_norm_backward),
    ("rms_norm", rms_norm),
    ("gelu", gelu),
    ("silu", silu),
    ("bias_residual", bias_residual),
    ("transposes", transposes),
    ("reduce_broadcast", reduce_broadcast),
    ("column_sums", column_sums),
    ("diamond", diamond),
    ("long_skip", long_skip),
    ("cast_chain", cast_chain),
    ("cast_shapes", cast_shapes),
    ("broadcast_chain", broadcast_chain),
    ("parts", halves::parts),
    ("rope", halves::rope),
    ("flat", flat::flat),
    ("batch_norm", batch_norm),
    ("attention", attention),
    ("residual_backward", residual_backward),
];

/// One of them.
pub fn any(maker: &mut Maker<'_>) -> Option<usize> {
    let (_, template) = maker.source.one(TEMPLATES);
    template(maker)
}

/// An elementwise op of two operands.
pub fn binary(maker: &mut Maker<'_>, def: &'static OpDef, x: usize, y: usize) -> Option<usize> {
    maker.pointwise(def, &[x, y], &[])
}
/// An elementwise op of one operand.
pub fn unary(maker: &mut Maker<'_>, def: &'static OpDef, x: usize) -> Option<usize> {
    maker.pointwise(def, &[x], &[])
}

/// A float tensor of at least one axis, and its last axis.
fn activation(maker: &mut Maker<'_>) -> Option<(usize, usize)> {
    let fits = |s: &super::maker::Slot| {
        s.dtype.is_computed_float() && !s.axes.is_empty() && shapes::is_known(&s.axes)
    };
    if maker.source.chance(2, 3)
        && let Some(slot) = maker.slot_where(fits)
    {
        return Some((slot, maker.slots[slot].axes.len() - 1));
    }
    let dtype = maker
        .source
        .one(&[DType::BF16, DType::F32, DType::F16, DType::F64]);
    let most = maker.config.elements;
    let mut axes = Vec::new();
    let mut room = most;
    for _ in 0..1 + maker.source.below(3) {
        let axis = shapes::axis(maker.source, &mut maker.ir, &mut maker.names, room);
        room /= axis.length.max(1);
        axes.push(axis);
    }
    let slot = maker.input(axes, dtype, false);
    Some((slot, maker.slots[slot].axes.len() - 1))
}

/// An activation in the type in which models compute.
fn computed(maker: &mut Maker<'_>) -> Option<(usize, usize)> {
    let (x, last) = activation(maker)?;
    let to = maker.slots[x].dtype.compute();
    Some((maker.cast(x, to)?, last))
}

/// The value reduced along `axis`, spread again over the axes of `x`.
fn reduced(maker: &mut Maker<'_>, def: &'static OpDef, x: usize, axis: usize) -> Option<usize> {
    let axes = maker.slots[x].axes.clone();
    let reduction = reduce_axes(maker, def, x, &[axis as i64])?;
    spread_reduction(maker, reduction, &axes, axis)
}

/// A reduction, with or without `keepdim`, broadcast back to all axes.
pub fn spread_reduction(
    maker: &mut Maker<'_>,
    reduction: usize,
    axes: &[Axis],
    axis: usize,
) -> Option<usize> {
    if maker.slots[reduction].axes.len() == axes.len() {
        let shape = maker.plain_clause("shape", axes);
        let fact = maker.slots[reduction].fact;
        return maker.emit(&fusion::EXPAND, &[reduction], &[shape], None, fact);
    }
    let kept: Vec<usize> = (0..axes.len()).filter(|i| *i != axis).collect();
    maker.broadcast(reduction, &kept, axes)
}

fn softmax(maker: &mut Maker<'_>) -> Option<usize> {
    let (x, last) = computed(maker)?;
    let m = reduced(maker, &MAX, x, last)?;
    let d = binary(maker, &SUB, x, m)?;
    let e = unary(maker, &EXP, d)?;
    let s = reduced(maker, &SUM, e, last)?;
    let q = binary(maker, &DIV, e, s)?;
    stored(maker, q)
}

/// The value in a storage type, as a model would store it.
pub fn stored(maker: &mut Maker<'_>, x: usize) -> Option<usize> {
    let to = maker.source.one(&[DType::BF16, DType::F32, DType::F16]);
    maker.cast(x, to)
}

/// A vector along the last axis of `x`, spread over all axes.
fn weight(maker: &mut Maker<'_>, x: usize, axis: usize) -> Option<usize> {
    let axes = maker.slots[x].axes.clone();
    let dtype = maker.slots[x].dtype;
    let own = super::operands::plain(axes[axis]);
    let w = maker.input(vec![own], dtype, false);
    maker.broadcast(w, &[axis], &axes)
}

/// `(x - mean) * rsqrt(var + eps)`, and the broadcast `rsqrt`.
fn normalized(maker: &mut Maker<'_>, x: usize, axis: usize) -> Option<(usize, usize)> {
    let axes = maker.slots[x].axes.clone();
    let var = reduce_axes(maker, &VAR_MEAN, x, &[axis as i64])?;
    let mean = spread_reduction(maker, var + 1, &axes, axis)?;
    let d = binary(maker, &SUB, x, mean)?;
    let dtype = maker.slots[x].dtype;
    let eps = maker.constant(dtype, None)?;
    let eps = maker.pointwise(&fusion::ABS, &[eps], &[])?;
    let v = binary(maker, &ADD, var, eps)?;
    let r = unary(maker, &RSQRT, v)?;
    let r = spread_reduction(maker, r, &axes, axis)?;
    Some((binary(maker, &MUL, d, r)?, r))
}

fn layer_norm(maker: &mut Maker<'_>) -> Option<usize> {
    let (x, last) = computed(maker)?;
    let (n, _) = normalized(maker, x, last)?;
    let w = weight(maker, x, last)?;
    let b = weight(maker, x, last)?;
    let s = binary(maker, &MUL, n, w)?;
    let y = binary(maker, &ADD, s, b)?;
    stored(maker, y)
}

fn layer_norm_backward(maker: &mut Maker<'_>) -> Option<usize> {
    let (x, last) = computed(maker)?;
    let (axes, dtype) = (maker.slots[x].axes.clone(), maker.slots[x].dtype);
    let dy = maker.input(axes.clone(), dtype, false);
    let (n, r) = normalized(maker, x, last)?;
    let w = weight(maker, x, last)?;
    let dn = binary(maker, &MUL, dy, w)?;
    let inner = binary(maker, &MUL, dn, n)?;
    let a = reduced(maker, &SUM, inner, last)?;
    let b = reduced(maker, &SUM, dn, last)?;
    let na = binary(maker, &MUL, n, a)?;
    let t = binary(maker, &SUB, dn, na)?;
    let t = binary(maker, &SUB, t, b)?;
    let outer: Vec<i64> = (0..last as i64).collect();
    let dyn_ = binary(maker, &MUL, dy, n)?;
    reduce_axes(maker, &SUM, dyn_, &outer)?;
    reduce_axes(maker, &SUM, dy, &outer)?;
    let dx = binary(maker, &MUL, t, r)?;
    stored(maker, dx)
}

fn rms_norm(maker: &mut Maker<'_>) -> Option<usize> {
    let (x, last) = computed(maker)?;
    let q = binary(maker, &MUL, x, x)?;
    let s = reduced(maker, &SUM, q, last)?;
    let dtype = maker.slots[x].dtype;
    let eps = maker.constant(dtype, None)?;
    let s = binary(maker, &ADD, s, eps)?;
    let r = unary(maker, &RSQRT, s)?;
    let n = binary(maker, &MUL, x, r)?;
    let w = weight(maker, x, last)?;
    let y = binary(maker, &MUL, n, w)?;
    stored(maker, y)
}

fn gelu(maker: &mut Maker<'_>) -> Option<usize> {
    let (x, _) = computed(maker)?;
    let inner = maker.source.one(&[&ERF, &TANH]);
    let e = unary(maker, inner, x)?;
    let one = maker.constant(maker.slots[x].dtype, None)?;
    let s = binary(maker, &ADD, e, one)?;
    let y = binary(maker, &MUL, x, s)?;
    stored(maker, y)
}

fn silu(maker: &mut Maker<'_>) -> Option<usize> {
    let (x, _) = computed(maker)?;
    let s = unary(maker, &SIGMOID, x)?;
    let y = binary(maker, &MUL, x, s)?;
    stored(maker, y)
}

fn bias_residual(maker: &mut Maker<'_>) -> Option<usize> {
    let (x, last) = computed(maker)?;
    let b = weight(maker, x, last)?;
    let y = binary(maker, &ADD, x, b)?;
    let (axes, dtype) = (maker.slots[x].axes.clone(), maker.slots[x].dtype);
    let residual = maker.input(axes, dtype, false);
    let y = binary(maker, &ADD, y, residual)?;
    stored(maker, y)
}

/// A chain of transposes with something between each pair.
fn transposes(maker: &mut Maker<'_>) -> Option<usize> {
    let (mut x, _) = activation(maker)?;
    for _ in 0..1 + maker.source.below(4) {
        let mut order: Vec<usize> = (0..maker.slots[x].axes.len()).collect();
        maker.source.shuffle(&mut order);
        x = permute_to(maker, x, &order)?;
        let (axes, dtype) = (maker.slots[x].axes.clone(), maker.slots[x].dtype);
        let other = maker.beside(&axes, dtype)?;
        x = binary(maker, &ADD, x, other)?;
    }
    Some(x)
}

/// A reduction, broadcast again, with the operand and with the result of a further op.
fn reduce_broadcast(maker: &mut Maker<'_>) -> Option<usize> {
    let (x, _) = activation(maker)?;
    let axis = maker.source.index(maker.slots[x].axes.len());
    let def = maker.source.one(&[&SUM, &MAX, &fusion::MIN]);
    let f = reduced(maker, def, x, axis)?;
    let y = binary(maker, &SUB, x, f)?;
    if maker.source.chance(1, 2) {
        let g = reduced(maker, &MAX, y, axis)?;
        return binary(maker, &MAXIMUM, y, g);
    }
    Some(y)
}

/// Sums over several sets of axes of related tensors, together with an elementwise result.
fn column_sums(maker: &mut Maker<'_>) -> Option<usize> {
    let (x, last) = computed(maker)?;
    let other = maker.beside(&maker.slots[x].axes.clone(), maker.slots[x].dtype)?;
    let y = binary(maker, &MUL, x, other)?;
    let outer: Vec<i64> = (0..last as i64).collect();
    reduce_axes(maker, &SUM, y, &outer);
    reduce_axes(maker, &SUM, x, &outer);
    reduce_axes(maker, &SUM, y, &[last as i64]);
    reduce_axes(maker, &SUM, x, &[0]);
    stored(maker, y)
}

fn diamond(maker: &mut Maker<'_>) -> Option<usize> {
    let (x, _) = activation(maker)?;
    let left = unary(maker, &fusion::RELU, x)?;
    let right = unary(maker, &fusion::NEG, x)?;
    let right = unary(maker, &fusion::ABS, right)?;
    binary(maker, &ADD, left, right)
}

/// A value used again far below.
fn long_skip(maker: &mut Maker<'_>) -> Option<usize> {
    let (x, _) = activation(maker)?;
    let (axes, dtype) = (maker.slots[x].axes.clone(), maker.slots[x].dtype);
    let mut y = x;
    for _ in 0..3 + maker.source.below(6) {
        let def = maker.source.one(&[&ADD, &SUB, &MAXIMUM, &fusion::MINIMUM]);
        let other = maker.beside(&axes, dtype)?;
        y = binary(maker, def, y, other)?;
    }
    binary(maker, &ADD, y, x)
}

/// Casts one after another, up and down.
fn cast_chain(maker: &mut Maker<'_>) -> Option<usize> {
    let (mut x, _) = activation(maker)?;
    for _ in 0..2 + maker.source.below(4) {
        let to = shapes::dtype(maker.source);
        x = maker.cast(x, to)?;
    }
    Some(x)
}

/// Shape ops between a widening and a narrowing cast.
fn cast_shapes(maker: &mut Maker<'_>) -> Option<usize> {
    let (mut x, _) = computed(maker)?;
    for _ in 0..1 + maker.source.below(2) {
        let mut order: Vec<usize> = (0..maker.slots[x].axes.len()).collect();
        maker.source.shuffle(&mut order);
        x = permute_to(maker, x, &order)?;
        if maker.source.chance(1, 2) {
            x = unary(maker, &fusion::NEG, x)?;
        }
    }
    stored(maker, x)
}

/// An axis of extent 1.
fn unit() -> Axis {
    Axis {
        dim: Dim::fixed(1),
        length: 1,
    }
}

/// Consecutive broadcasts, and axes of extent 1 that are added and removed, as frontends emit them for weights and
/// means.
fn broadcast_chain(maker: &mut Maker<'_>) -> Option<usize> {
    let (x, last) = activation(maker)?;
    let axes = maker.slots[x].axes.clone();
    let dtype = maker.slots[x].dtype;
    let w = maker.input(vec![super::operands::plain(axes[last])], dtype, false);
    let narrow = [unit(), axes[last]];
    let wide = maker.broadcast(w, &[1], &narrow)?;
    let wide = match maker.source.below(3) {
        0 => {
            let dims = maker.ints_clause("dims", &[0]);
            let fact = maker.slots[wide].fact;
            let back = maker.emit(&fusion::SQUEEZE, &[wide], &[dims], None, fact)?;
            maker.broadcast(back, &[last], &axes)?
        }
        1 if axes.len() == 2 => {
            let shape = maker.plain_clause("shape", &axes);
            let fact = maker.slots[wide].fact;
            maker.emit(&fusion::EXPAND, &[wide], &[shape], None, fact)?
        }
        _ => {
            let one = maker.broadcast(w, &[0], &[axes[last], unit()])?;
            let dims = maker.ints_clause("dims", &[1]);
            let fact = maker.slots[one].fact;
            let back = maker.emit(&fusion::SQUEEZE, &[one], &[dims], None, fact)?;
            maker.broadcast(back, &[last], &axes)?
        }
    };
    binary(maker, &ADD, x, wide)
}

/// Statistics over all axes but one; of three axes, the middle one is kept.
fn batch_norm(maker: &mut Maker<'_>) -> Option<usize> {
    let (x, last) = computed(maker)?;
    let axes = maker.slots[x].axes.clone();
    let channel = last.min(1);
    let reduced: Vec<i64> = (0..axes.len())
        .filter(|i| *i != channel)
        .map(|i| i as i64)
        .collect();
    let var = plain_reduce(maker, &VAR_MEAN, x, &reduced)?;
    let mean = maker.broadcast(var + 1, &[channel], &axes)?;
    let d = binary(maker, &SUB, x, mean)?;
    let eps = maker.constant(maker.slots[x].dtype, None)?;
    let eps = maker.pointwise(&fusion::ABS, &[eps], &[])?;
    let v = binary(maker, &ADD, var, eps)?;
    let r = unary(maker, &RSQRT, v)?;
    let r = maker.broadcast(r, &[channel], &axes)?;
    let n = binary(maker, &MUL, d, r)?;
    let w = weight(maker, n, channel)?;
    let b = weight(maker, n, channel)?;
    let y = binary(maker, &MUL, n, w)?;
    let y = binary(maker, &ADD, y, b)?;
    stored(maker, y)
}

/// A reduction that does not keep the axes.
fn plain_reduce(
    maker: &mut Maker<'_>,
    def: &'static OpDef,
    x: usize,
    reduced: &[i64],
) -> Option<usize> {
    let made = reduce_axes(maker, def, x, reduced)?;
    let rank = maker.slots[x].axes.len() - reduced.len();
    (maker.slots[made].axes.len() == rank).then_some(made)
}

/// Scores, a causal mask by indices, softmax, and the weighted sum, as products that are spread and reduced.
fn attention(maker: &mut Maker<'_>) -> Option<usize> {
    let dtype = maker.source.one(&[DType::F32, DType::F64]);
    let mut axis = |most| shapes::axis(maker.source, &mut maker.ir, &mut maker.names, most);
    let (rows, columns, width) = (axis(8), axis(33), axis(4));
    let all = [rows, columns, width];
    let q = maker.input(vec![rows, width], dtype, false);
    let k = maker.input(vec![columns, width], dtype, false);
    let q = maker.broadcast(q, &[0, 2], &all)?;
    let k = maker.broadcast(k, &[1, 2], &all)?;
    let products = binary(maker, &MUL, q, k)?;
    let scores = plain_reduce(maker, &SUM, products, &[2])?;
    let at = |maker: &mut Maker<'_>, dim: i64| {
        let dim = ("dim", maker.ir.int_attr(dim));
        let of = maker.dtype_clause("of", DType::I32);
        let shape = maker.plain_clause("shape", &[rows, columns]);
        maker.emit(&fusion::IOTA, &[], &[dim, shape, of], None, Some(64))
    };
    let (i, j) = (at(maker, 0)?, at(maker, 1)?);
    let order = ("predicate", maker.ir.string_attr("ge"));
    let mask = maker.pointwise(&fusion::COMPARE, &[i, j], &[order])?;
    let low = maker.constant(dtype, None)?;
    let masked = maker.pointwise(&fusion::WHERE, &[mask, scores, low], &[])?;
    let m = reduced(maker, &MAX, masked, 1)?;
    let d = binary(maker, &SUB, masked, m)?;
    let e = unary(maker, &EXP, d)?;
    let s = reduced(maker, &SUM, e, 1)?;
    let p = binary(maker, &DIV, e, s)?;
    let p = maker.broadcast(p, &[0, 1], &all)?;
    let v = maker.input(vec![columns, width], dtype, false);
    let v = maker.broadcast(v, &[1, 2], &all)?;
    let weighted = binary(maker, &MUL, p, v)?;
    plain_reduce(maker, &SUM, weighted, &[1])
}

/// A residual block's backward pass: dropout, layer norm, several sums over the outer axes, and a sum over the last
/// one.
fn residual_backward(maker: &mut Maker<'_>) -> Option<usize> {
    let mut axis = |most| shapes::axis(maker.source, &mut maker.ir, &mut maker.names, most);
    let axes = vec![axis(4), axis(8), axis(64)];
    let dtype = maker.source.one(&[DType::BF16, DType::F16, DType::F32]);
    let wide = dtype.compute();
    let input = |maker: &mut Maker<'_>, axes: Vec<Axis>, of: DType| {
        let slot = maker.input(axes, of, false);
        maker.cast(slot, wide)
    };
    let dy = input(maker, axes.clone(), dtype)?;
    let x = input(maker, axes.clone(), dtype)?;
    let mask = maker.input(axes.clone(), DType::I1, false);
    let mask = maker.cast(mask, wide)?;
    let mean = input(maker, axes[..2].to_vec(), wide)?;
    let rstd = input(maker, axes[..2].to_vec(), wide)?;
    let mean = maker.broadcast(mean, &[0, 1], &axes)?;
    let rstd = maker.broadcast(rstd, &[0, 1], &axes)?;
    let d = binary(maker, &SUB, x, mean)?;
    let n = binary(maker, &MUL, d, rstd)?;
    let w = weight(maker, n, 2)?;
    let dn = binary(maker, &MUL, dy, w)?;
    let gamma = binary(maker, &MUL, dy, n)?;
    reduce_axes(maker, &SUM, gamma, &[0, 1])?;
    reduce_axes(maker, &SUM, dy, &[0, 1])?;
    let inner = binary(maker, &MUL, dn, n)?;
    let a = reduced(maker, &SUM, inner, 2)?;
    let b = reduced(maker, &SUM, dn, 2)?;
    let na = binary(maker, &MUL, n, a)?;
    let t = binary(maker, &SUB, dn, na)?;
    let t = binary(maker, &SUB, t, b)?;
    let dx = binary(maker, &MUL, t, rstd)?;
    let dropped = binary(maker, &MUL, dx, mask)?;
    reduce_axes(maker, &SUM, dropped, &[0, 1])?;
    stored(maker, dropped)
}
