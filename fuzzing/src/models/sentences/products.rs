//! Products of matrices: layers, batches, vectors.

use fuser_ir::DType;

use super::{Sentence, row};
use crate::models::program::{Data, V};
use crate::models::types::Dim;
use crate::models::writer::Writer;

pub const ALL: &[Sentence] = &[
    row("layer", 3, layer),
    row("matrices", 3, matrices),
    row("attention whole", 3, attend),
];

/// Multiplications of a product at most.
const WORK: u64 = 1 << 16;

/// A float tensor of rank at least `least` with elements small enough for sums, and its axes.
fn factor(w: &mut Writer, least: usize) -> (V, Vec<Dim>) {
    let x = w.pick(least);
    let x = w.tame(x, 8.0);
    (x, w.dims(x))
}

/// A number of columns for a result with these axes; `None` if the result would be too large.
fn columns(w: &mut Writer, dims: &[Dim]) -> Option<Dim> {
    let new = Dim::fixed(w.source.one(&[1, 2, 5, 9, 16, 33]));
    let (_, before) = dims.split_last()?;
    let result = [before, std::slice::from_ref(&new)].concat();
    let all = dims.iter().chain([&new]).map(|d| d.length.max(1));
    let work = all.fold(1u64, u64::saturating_mul);
    (w.fits(&result) && work <= WORK).then_some(new)
}

/// The element type of a product: mostly that of its operands.
fn element(w: &mut Writer, x: V) -> DType {
    match w.maybe(3) {
        true => w.dtype_of(x).accumulate(),
        false => w.dtype_of(x),
    }
}

/// The axis of a result for equal axes of two tensors.
fn both(a: &Dim, b: &Dim) -> Dim {
    Dim {
        broadcast: a.broadcast && b.broadcast,
        ..a.clone()
    }
}

/// Weights, perhaps a bias, perhaps an activation.
fn layer(w: &mut Writer) -> Option<()> {
    let (x, mut dims) = factor(w, 1);
    let dtype = w.dtype_of(x);
    let new = columns(w, &dims)?;
    let terms = dims.pop()?;
    let weights = w.input(
        "w",
        dtype,
        vec![new.clone(), terms.plain()],
        Data::Reals(-0.5, 0.5),
    );
    let mut column = w.dims(weights)[0].clone();
    let mut operands = vec![x, weights];
    if w.maybe(2) {
        let bias = w.input("c", dtype, vec![new], Data::Reals(-1.0, 1.0));
        column = both(&column, &w.dims(bias)[0]);
        operands.push(bias);
    }
    dims.push(column);
    let to = element(w, x);
    let y = w.product("linear", &operands, dims, to);
    let y = w.tame(y, 40.0);
    let y = match w.source.below(3) {
        0 => w.un("silu", y),
        1 => w.un("relu", y),
        _ => y,
    };
    let y = w.back(y);
    w.offer(y);
    Some(())
}

/// Products with a matrix, with a batch of matrices, transposed or not, or with a vector.
fn matrices(w: &mut Writer) -> Option<()> {
    let (a, dims) = factor(w, 2);
    let (dtype, rank) = (w.dtype_of(a), dims.len());
    let new = columns(w, &dims)?;
    let (before, terms) = (&dims[..rank - 2], dims[rank - 1].plain());
    let batch = match w.maybe(2) {
        true => before.iter().map(Dim::plain).collect(),
        false => Vec::new(),
    };
    let vector = batch.is_empty() && w.maybe(5);
    let turned = !vector && w.maybe(2);
    let own = match (vector, turned) {
        (true, _) => vec![terms],
        (false, false) => vec![terms, new],
        (false, true) => vec![new, terms],
    };
    let own = [batch, own].concat();
    let mut b = w.input("m", dtype, own, Data::Reals(-1.0, 1.0));
    let rank_b = w.dims(b).len();
    if turned {
        let mut order: Vec<usize> = (0..rank_b).collect();
        order.swap(rank_b - 2, rank_b - 1);
        b = w.permute(b, &order);
    }
    let have = w.dims(b);
    let mut result: Vec<Dim> = match rank_b > 2 {
        true => before.iter().zip(&have).map(|(a, b)| both(a, b)).collect(),
        false => before.to_vec(),
    };
    result.push(dims[rank - 2].clone());
    result.extend(have.last().filter(|_| !vector).cloned());
    let to = element(w, a);
    let y = w.product("matmul", &[a, b], result, to);
    let y = w.back(y);
    w.offer(y);
    Some(())
}

/// Attention as one op: keys and values for each index of the axes before.
fn attend(w: &mut Writer) -> Option<()> {
    let (q, dims) = factor(w, 2);
    let dtype = w.dtype_of(q);
    let dims: Vec<Dim> = dims.iter().map(Dim::plain).collect();
    let (before, [queries, terms]) = dims.split_last_chunk()?;
    let keys = Dim::fixed(w.source.one(&[1, 2, 5, 9, 16, 33]));
    let columns = Dim::fixed(w.source.one(&[1, 3, 8]));
    let of = |last: [&Dim; 2]| [before, &last.map(Dim::clone)].concat();
    let (k, v) = (of([&keys, terms]), of([&keys, &columns]));
    let result = of([queries, &columns]);
    let all = dims.iter().chain([&keys, &columns]);
    let work = all.map(|d| d.length.max(1)).fold(1u64, u64::saturating_mul);
    if work > WORK || ![&k, &v, &result].into_iter().all(|dims| w.fits(dims)) {
        return None;
    }
    let k = w.input("k", dtype, k, Data::Reals(-1.0, 1.0));
    let v = w.input("v", dtype, v, Data::Reals(-1.0, 1.0));
    let causal = w.maybe(2);
    let y = w.attention(&[q, k, v], result, causal);
    w.offer(y);
    Some(())
}
