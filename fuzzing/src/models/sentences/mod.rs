//! Sentences: pieces of programs as people write them, each a few ops on values that are there.
//!
//! A sentence is a row of [`SENTENCES`]. It takes operands from the pool of values or as new inputs, and offers its
//! results to the sentences after it. `None`: no operands fit.

mod activations;
mod attention;
mod complex;
mod integers;
mod losses;
mod movement;
mod norms;
mod optimizers;
mod order;
mod products;
mod random;
mod softmax;
mod statistics;
mod values;
mod wholes;

use fuser_ir::DType;

use super::program::{Data, V};
use super::types::{Dim, Extent, Type};
use super::writer::{MOST, Writer};

/// A piece of a program.
pub struct Sentence {
    /// For statistics.
    pub name: &'static str,
    /// The frequency of being drawn, relative to the others.
    pub weight: u64,
    /// Writes it.
    pub write: fn(&mut Writer) -> Option<()>,
}

/// All sentences.
pub const SENTENCES: &[&[Sentence]] = &[
    norms::ALL,
    softmax::ALL,
    losses::ALL,
    optimizers::ALL,
    activations::ALL,
    attention::ALL,
    products::ALL,
    movement::ALL,
    order::ALL,
    statistics::ALL,
    integers::ALL,
    random::ALL,
    values::ALL,
    complex::ALL,
    wholes::ALL,
];

/// A row.
const fn row(name: &'static str, weight: u64, write: fn(&mut Writer) -> Option<()>) -> Sentence {
    Sentence {
        name,
        weight,
        write,
    }
}

/// Draws a sentence.
pub fn draw(w: &mut Writer) -> &'static Sentence {
    let all = || SENTENCES.iter().copied().flatten();
    let mut at = w.source.below(all().map(|s| s.weight).sum());
    for sentence in all() {
        match at.checked_sub(sentence.weight) {
            Some(rest) => at = rest,
            None => return sentence,
        }
    }
    &SENTENCES[0][0]
}

impl Writer<'_> {
    /// True in one of so many cases.
    pub fn maybe(&mut self, out_of: u64) -> bool {
        self.source.chance(1, out_of)
    }
    /// Axes of a new tensor.
    pub fn shape(&mut self, rank: usize) -> Vec<Dim> {
        let mut places: Vec<usize> = (0..self.axes.len()).collect();
        while places.len() > rank {
            let away = self.source.index(places.len());
            places.remove(away);
        }
        let mut dims: Vec<Dim> = places.into_iter().map(|i| self.axes[i].clone()).collect();
        while dims.len() < rank {
            dims.push(Dim::fixed(2));
        }
        while !self.fits(&dims) {
            let longest = (0..dims.len()).max_by_key(|d| dims[*d].length);
            dims[longest.unwrap_or(0)] = Dim::fixed(3);
        }
        dims
    }
    /// A new tensor of reals.
    pub fn reals(&mut self, hint: &str, dims: Vec<Dim>, low: f64, high: f64) -> V {
        let dtype = self.dtype;
        self.input(hint, dtype, dims, Data::Reals(low, high))
    }
    /// A new input, here and there with a layout, b axes or edges.
    pub fn input(&mut self, hint: &str, dtype: DType, dims: Vec<Dim>, data: Data) -> V {
        let mut ty = Type::tensor(dtype, dims);
        if ty.rank() >= 2 && self.maybe(8) {
            ty.layout = Some(self.order(ty.rank()));
        }
        if ty.rank() >= 2 && self.maybe(16) {
            let d = self.source.index(ty.rank());
            ty.dims[d] = ty.dims[d].once();
        }
        let data = match data {
            Data::Reals(low, _) if self.edges && low < 0.0 => Data::Edges,
            other => other,
        };
        self.parameter(hint, ty, data)
    }
    /// A permutation.
    pub fn order(&mut self, rank: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..rank).collect();
        self.source.shuffle(&mut order);
        order
    }
    /// A float tensor of at least this rank to go on from.
    pub fn pick(&mut self, least: usize) -> V {
        let fits = |v: &V| {
            let ty = self.ty(*v);
            ty.dtype.is_computed_float() && ty.rank() >= least && !ty.is_vague() && ty.rank() <= 4
        };
        let found: Vec<V> = self.pool.iter().copied().filter(fits).collect();
        if found.is_empty() || self.maybe(4) {
            let rank = least.max(1 + self.source.index(3));
            let dims = self.shape(rank);
            return self.reals("x", dims, -2.0, 2.0);
        }
        // The latest twice as often as the others together.
        match self.source.chance(2, 3) {
            true => found[found.len() - 1],
            false => found[self.source.index(found.len())],
        }
    }
    /// Like `pick`, but in the type in which the sentence computes: half of the time wider than 16 bits.
    pub fn pick_wide(&mut self, least: usize) -> V {
        let x = self.pick(least);
        match self.dtype_of(x) {
            DType::F16 | DType::BF16 if self.source.chance(2, 3) => self.cast(x, DType::F32),
            _ => x,
        }
    }
    /// Sometimes converts a value that was computed in a wider type back to the element type of the program.
    pub fn back(&mut self, x: V) -> V {
        let dtype = self.dtype;
        match self.dtype_of(x).is_float() && self.source.chance(1, 2) {
            true => self.cast(x, dtype),
            false => x,
        }
    }
    /// A value that agrees with `x` in shape and element type: another of the pool, or an input.
    pub fn beside(&mut self, x: V, low: f64, high: f64) -> V {
        let ty = self.ty(x).clone();
        let same = |v: &V| {
            let other = self.ty(*v);
            *v != x && other.dtype == ty.dtype && other.agrees(&ty) && ty.rank() > 0
        };
        let found: Vec<V> = self.pool.iter().copied().filter(same).collect();
        if !found.is_empty() && self.maybe(2) {
            let v = found[self.source.index(found.len())];
            let (l, h) = self.range(v);
            if l >= low - 1e3 && h <= high + 1e3 && (low < 0.0 || l > 0.0) {
                return v;
            }
        }
        let dims = ty.dims.iter().map(Dim::plain).collect();
        self.input("y", ty.dtype, dims, Data::Reals(low, high))
    }
    /// A vector along one axis of `x`, along all of it.
    pub fn along(&mut self, hint: &str, x: V, axis: usize, low: f64, high: f64) -> V {
        let dims = self.dims(x);
        let dtype = self.dtype_of(x);
        let v = self.input(
            hint,
            dtype,
            vec![dims[axis].plain()],
            Data::Reals(low, high),
        );
        if self.maybe(4) && dims.len() > 1 {
            // Like a frontend: first a value of ones, then `expand`.
            let mut ones = vec![Dim::fixed(1); dims.len()];
            ones[axis] = dims[axis].plain();
            let shaped = self.reshape(v, &ones);
            return self.expand(shaped, &dims);
        }
        self.broadcast(v, &[axis], &dims)
    }
    /// A scalar of one element type: a constant, an input, or a tensor of rank 0.
    pub fn scalar(&mut self, number: f64, dtype: DType) -> V {
        match self.source.below(6) {
            0 => self.parameter("s", Type::scalar(dtype), Data::Reals(number, number)),
            1 => {
                let ty = Type::tensor(dtype, Vec::new());
                self.parameter("s", ty, Data::Reals(number, number))
            }
            _ => self.constant(number, dtype),
        }
    }
    /// A value whose elements are no greater than `most`.
    pub fn tame(&mut self, x: V, most: f64) -> V {
        let size = self.size(x);
        if size <= most {
            return x;
        }
        if !size.is_finite() || size > 1e4 || self.maybe(4) {
            let limited = self.clamp(x, -most, most);
            return self.expect(limited, -most, most);
        }
        let factor = (most / size).log2().floor().exp2();
        self.with("mul", x, factor)
    }
    /// The last axis.
    pub fn last(&self, x: V) -> usize {
        self.ty(x).rank().saturating_sub(1)
    }
    /// Some axes to reduce: the last, or any.
    pub fn some_dims(&mut self, x: V) -> Vec<usize> {
        let rank = self.ty(x).rank();
        if self.maybe(2) {
            return vec![rank - 1];
        }
        let dims: Vec<usize> = (0..rank).filter(|_| self.source.chance(1, 2)).collect();
        match dims.is_empty() {
            true => vec![self.source.index(rank)],
            false => dims,
        }
    }
    /// The number of elements along `dims`, in a float type: a constant where it is one, else a cast size.
    pub fn n_of(&mut self, x: V, dims: &[usize], dtype: DType) -> V {
        let along: Vec<Dim> = dims.iter().map(|d| self.ty(x).dims[*d].clone()).collect();
        let fixed: Option<u64> = along.iter().map(|d| d.extent.number()).product();
        match fixed {
            Some(n) if n < 128 && self.source.chance(3, 4) => self.constant(n as f64, dtype),
            _ => {
                let n = self.count(&along);
                self.cast(n, dtype)
            }
        }
    }
    /// A reduction, broadcast back along the reduced axes.
    pub fn reduced(&mut self, name: &'static str, x: V, dims: &[usize]) -> V {
        let keepdim = self.maybe(2);
        let r = self.reduce(name, x, dims, keepdim);
        self.spread(r, x, dims)
    }
    /// The mean along `dims`.
    pub fn mean(&mut self, x: V, dims: &[usize], keepdim: bool) -> V {
        let sum = self.reduce("sum", x, dims, keepdim);
        let range = self.range(x);
        let dtype = self.dtype_of(x);
        let n = self.n_of(x, dims, dtype);
        let mean = self.bin("div", sum, n);
        self.expect(mean, range.0, range.1)
    }
    /// True if an axis has a constant extent of at least `least`.
    pub fn is_fixed(&self, x: V, axis: usize, least: u64) -> bool {
        let dim = self.ty(x).dims.get(axis);
        dim.is_some_and(|d| d.extent.number().is_some_and(|n| n >= least) && !d.broadcast)
    }
    /// A tensor without b axes.
    pub fn stored(&mut self, x: V) -> V {
        match self.ty(x).dims.iter().any(|d| d.broadcast) {
            true => self.copy(x, true),
            false => x,
        }
    }
    /// A plain float tensor whose last axis has an even number for an extent.
    pub fn halves(&mut self, least: usize) -> V {
        let x = self.pick(least);
        let last = self.last(x);
        let even = self.is_fixed(x, last, 2)
            && self.ty(x).dims[last]
                .extent
                .number()
                .is_some_and(|n| n % 2 == 0);
        if even {
            return self.stored(x);
        }
        let mut dims = self.shape(least.max(2));
        let n = self.source.one(&[2, 4, 6, 8, 16, 34]);
        let last = dims.len() - 1;
        dims[last] = Dim::fixed(n);
        if !self.fits(&dims) {
            dims[last] = Dim::fixed(2);
        }
        let v = self.reals("x", dims, -2.0, 2.0);
        self.stored(v)
    }
    /// A tensor with an axis of unknown extent.
    pub fn vague(&mut self) -> V {
        let dims = 1 + self.source.index(3);
        let mut dims = self.shape(dims);
        let at = self.source.index(dims.len());
        dims[at].extent = Extent::Unknown;
        let dtype = self.dtype;
        self.parameter("u", Type::tensor(dtype, dims), Data::Reals(-2.0, 2.0))
    }
    /// True if the axes and one more of this length are few enough.
    pub fn room(&self, x: V, more: u64) -> bool {
        self.ty(x).elements().saturating_mul(more) <= MOST
    }
}
