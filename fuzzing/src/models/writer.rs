//! Writes programs op by op: each method writes one op and derives the type of its result from the op's definition.
//!
//! Each value carries a range, an estimate of its elements. Sentences use it to keep arguments where functions are
//! meaningful: it affects which programs are written, and never which results are right.

use fuser_ir::DType;

use super::program::{Clause, Data, Info, Op, Program, V};
use super::types::{Dim, Extent, Type, elements};
use super::{ranges, render};
use crate::Source;

/// The most elements of a value.
pub const MOST: u64 = 20_000;

/// A program under way, and where its choices come from.
pub struct Writer<'s> {
    /// The program so far.
    pub program: Program,
    /// Choices.
    pub source: &'s mut Source,
    /// The element type of inputs.
    pub dtype: DType,
    /// The axes that tensors have.
    pub axes: Vec<Dim>,
    /// Puts edge values of the definitions into inputs.
    pub edges: bool,
    /// Values that sentences go on from.
    pub pool: Vec<V>,
    counter: usize,
}

impl<'s> Writer<'s> {
    /// An empty program.
    pub fn new(source: &'s mut Source, dtype: DType, axes: Vec<Dim>) -> Self {
        Self {
            program: Program::default(),
            source,
            dtype,
            axes,
            edges: false,
            pool: Vec::new(),
            counter: 0,
        }
    }
    /// The type of a value.
    pub fn ty(&self, v: V) -> &Type {
        self.program.ty(v)
    }
    /// The axes of a value.
    pub fn dims(&self, v: V) -> Vec<Dim> {
        self.ty(v).dims.clone()
    }
    /// The element type of a value.
    pub fn dtype_of(&self, v: V) -> DType {
        self.ty(v).dtype
    }
    /// The range that its elements are expected in.
    pub fn range(&self, v: V) -> (f64, f64) {
        let info = &self.program.values[v];
        (info.low, info.high)
    }
    /// The greatest magnitude that is expected.
    pub fn size(&self, v: V) -> f64 {
        let (low, high) = self.range(v);
        low.abs().max(high.abs())
    }
    /// Says more of a value than its ops do.
    pub fn expect(&mut self, v: V, low: f64, high: f64) -> V {
        let info = &mut self.program.values[v];
        (info.low, info.high) = (low, high);
        v
    }
    /// Sentences go on from this value.
    pub fn offer(&mut self, v: V) -> V {
        self.pool.push(v);
        v
    }

    pub(super) fn value(&mut self, hint: &str, ty: Type, (low, high): (f64, f64)) -> V {
        let name = match hint {
            "" => self.counter.to_string(),
            hint => format!("{hint}{}", self.counter),
        };
        self.counter += 1;
        self.program.values.push(Info {
            name,
            ty,
            low,
            high,
        });
        self.program.values.len() - 1
    }
    /// An input.
    pub fn parameter(&mut self, hint: &str, ty: Type, data: Data) -> V {
        let range = match data {
            Data::Reals(low, high) => (low, high),
            Data::Whole(low, high) => (low as f64, high as f64),
            Data::Full | Data::Edges => (-8.0, 8.0),
        };
        let v = self.value(hint, ty, range);
        self.program.parameters.push((v, data));
        v
    }
    pub(super) fn write(
        &mut self,
        name: &'static str,
        operands: &[V],
        clauses: Vec<Clause>,
        ty: Type,
        range: (f64, f64),
    ) -> V {
        let hint = match self.source.below(3) {
            0 => "",
            1 => "t",
            _ => name.get(..1).unwrap_or("v"),
        };
        let v = self.value(hint, ty, range);
        self.program.ops.push(Op {
            name,
            operands: operands.to_vec(),
            clauses,
            results: vec![v],
            lambda: None,
        });
        v
    }

    // --- elementwise

    /// The type of an elementwise op on these values.
    fn joined(&self, operands: &[V], dtype: DType) -> Option<Type> {
        let shaped: Vec<&Type> = operands.iter().map(|v| self.ty(*v)).collect();
        let Some(first) = shaped.iter().find(|t| t.rank() > 0) else {
            let scalar = shaped.iter().all(|t| t.scalar);
            let ty = Type::tensor(dtype, Vec::new());
            return Some(Type { scalar, ..ty });
        };
        let mut dims = first.dims.clone();
        let several = shaped.iter().filter(|t| t.rank() > 0).count() > 1;
        for other in shaped.iter().filter(|t| t.rank() > 0) {
            if several && !other.agrees(first) {
                return None;
            }
            for (dim, theirs) in dims.iter_mut().zip(&other.dims) {
                dim.broadcast &= theirs.broadcast;
            }
        }
        Some(Type::tensor(dtype, dims))
    }
    /// Any elementwise op whose result has the operands' shape.
    ///
    /// # Panics
    /// If the shapes do not agree: the sentence is wrong.
    fn elementwise(
        &mut self,
        name: &'static str,
        operands: &[V],
        clauses: Vec<Clause>,
        dtype: DType,
    ) -> V {
        let Some(ty) = self.joined(operands, dtype) else {
            let types: Vec<String> = operands.iter().map(|v| self.ty(*v).to_string()).collect();
            panic!("{name} of {}", types.join(", "));
        };
        let known: Vec<(f64, f64)> = operands.iter().map(|v| self.range(*v)).collect();
        let range = ranges::of(name, &known, dtype);
        self.write(name, operands, clauses, ty, range)
    }
    /// One operand.
    pub fn un(&mut self, name: &'static str, x: V) -> V {
        let dtype = match name {
            "isnan" | "isfinite" => DType::I1,
            "real" | "imag" | "abs" => self.dtype_of(x).part(),
            _ => self.dtype_of(x),
        };
        self.elementwise(name, &[x], Vec::new(), dtype)
    }
    /// Two operands.
    pub fn bin(&mut self, name: &'static str, a: V, b: V) -> V {
        let dtype = self.dtype_of(a);
        self.elementwise(name, &[a, b], Vec::new(), dtype)
    }
    /// `complex`, of parts in f32 or f64.
    ///
    /// # Panics
    /// Of parts of another type: a sentence is wrong.
    pub fn complex(&mut self, re: V, im: V) -> V {
        let dtype = self.dtype_of(re).complex();
        let dtype = dtype.expect("parts are f32 or f64");
        self.elementwise("complex", &[re, im], Vec::new(), dtype)
    }
    /// An op with a constant as second operand.
    pub fn with(&mut self, name: &'static str, x: V, number: f64) -> V {
        let c = self.constant(number, self.dtype_of(x));
        self.bin(name, x, c)
    }
    /// A constant less or over a value.
    pub fn of(&mut self, name: &'static str, number: f64, x: V) -> V {
        let c = self.constant(number, self.dtype_of(x));
        self.bin(name, c, x)
    }
    /// `compare`
    pub fn compare(&mut self, predicate: &'static str, a: V, b: V) -> V {
        let clause = Clause::Word("predicate", predicate);
        self.elementwise("compare", &[a, b], vec![clause], DType::I1)
    }
    /// `compare` with a constant.
    pub fn compare_with(&mut self, predicate: &'static str, x: V, number: f64) -> V {
        let c = self.constant(number, self.dtype_of(x));
        self.compare(predicate, x, c)
    }
    /// `where`
    pub fn choose(&mut self, condition: V, a: V, b: V) -> V {
        let dtype = self.dtype_of(a);
        self.elementwise("where", &[condition, a, b], Vec::new(), dtype)
    }
    /// `clamp` with constants.
    pub fn clamp(&mut self, x: V, low: f64, high: f64) -> V {
        let dtype = self.dtype_of(x);
        let (l, h) = (self.constant(low, dtype), self.constant(high, dtype));
        self.elementwise("clamp", &[x, l, h], Vec::new(), dtype)
    }
    /// `cast`, if that changes anything.
    pub fn cast(&mut self, x: V, to: DType) -> V {
        if self.dtype_of(x) == to {
            return x;
        }
        self.elementwise("cast", &[x], vec![Clause::Element("to", to)], to)
    }
    /// `bitcast`
    pub fn bitcast(&mut self, x: V, to: DType) -> V {
        self.elementwise("bitcast", &[x], vec![Clause::Element("to", to)], to)
    }

    // --- values from nothing

    /// A scalar constant.
    pub fn constant(&mut self, number: f64, dtype: DType) -> V {
        let text = render::literal(number, dtype);
        let ty = Type::scalar(dtype);
        let clauses = vec![Clause::Number(text)];
        self.write("constant", &[], clauses, ty, (number, number))
    }
    /// A constant tensor, element by element.
    pub fn table(&mut self, numbers: &[f64], dtype: DType) -> V {
        let items: Vec<String> = numbers.iter().map(|n| render::literal(*n, dtype)).collect();
        let clause = Clause::Number(format!("dense<[{}]>", items.join(", ")));
        let ty = Type::tensor(dtype, vec![Dim::fixed(numbers.len() as u64)]);
        let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.write("constant", &[], vec![clause], ty, (low, high))
    }
    /// `full`
    pub fn full(&mut self, v: V, dims: &[Dim]) -> V {
        let dims: Vec<Dim> = dims.iter().map(Dim::plain).collect();
        let ty = Type::tensor(self.dtype_of(v), dims.clone());
        let range = self.range(v);
        self.write("full", &[v], vec![Clause::Shape(dims)], ty, range)
    }
    /// `iota`
    pub fn iota(&mut self, dim: usize, dims: &[Dim], of: DType) -> V {
        let dims: Vec<Dim> = dims.iter().map(Dim::plain).collect();
        let range = (0.0, dims[dim].length as f64);
        let clauses = vec![
            Clause::Int("dim", dim as u64),
            Clause::Shape(dims.clone()),
            Clause::Element("of", of),
        ];
        self.write("iota", &[], clauses, Type::tensor(of, dims), range)
    }
    /// `philox`
    pub fn philox(&mut self, index: V, seed: V, offset: V, word: &'static str) -> V {
        let clauses = vec![Clause::Word("word", word)];
        self.elementwise("philox", &[index, seed, offset], clauses, DType::I32)
    }
    /// `uniform` or `normal`
    pub fn random(&mut self, name: &'static str, key: [V; 2], dims: &[Dim], of: DType) -> V {
        let dims: Vec<Dim> = dims.iter().map(Dim::plain).collect();
        let range = if name == "uniform" {
            (0.0, 1.0)
        } else {
            (-9.0, 9.0)
        };
        let clauses = vec![Clause::Shape(dims.clone()), Clause::Element("of", of)];
        self.write(name, &key, clauses, Type::tensor(of, dims), range)
    }
    /// `bernoulli`
    pub fn bernoulli(&mut self, p: V, [seed, offset]: [V; 2], dims: &[Dim]) -> V {
        let dims: Vec<Dim> = dims.iter().map(Dim::plain).collect();
        let clauses = vec![Clause::Shape(dims.clone())];
        let ty = Type::tensor(DType::I1, dims);
        self.write("bernoulli", &[p, seed, offset], clauses, ty, (0.0, 1.0))
    }
    /// `size`
    pub fn count(&mut self, dims: &[Dim]) -> V {
        let dims: Vec<Dim> = dims.iter().map(Dim::plain).collect();
        let n = elements(&dims) as f64;
        let ty = Type::scalar(DType::Index);
        self.write("size", &[], vec![Clause::Shape(dims)], ty, (n, n))
    }

    // --- values elsewhere

    /// `broadcast` to these axes; `at` says which of them the operand's become.
    pub fn broadcast(&mut self, x: V, at: &[usize], dims: &[Dim]) -> V {
        let have = self.dims(x);
        let mut result: Vec<Dim> = dims.iter().map(Dim::once).collect();
        for (axis, place) in at.iter().enumerate() {
            result[*place] = have[axis].clone();
        }
        let mut written = result.clone();
        if self.source.chance(2, 3) {
            // The `b` of a result axis need not be written.
            written = written.iter().map(Dim::plain).collect();
        }
        let at = at.iter().map(|d| *d as u64).collect();
        let clauses = vec![Clause::Ints("dims", at), Clause::Shape(written)];
        let ty = Type::tensor(self.dtype_of(x), result);
        let range = self.range(x);
        self.write("broadcast", &[x], clauses, ty, range)
    }
    /// `expand`: axes of extent 1 become those of `dims`.
    pub fn expand(&mut self, x: V, dims: &[Dim]) -> V {
        let had = self.dims(x);
        let grown =
            had.iter()
                .zip(dims)
                .map(|(have, want)| match have.is_one() && !want.is_one() {
                    true => want.once(),
                    false => have.clone(),
                });
        let grown: Vec<Dim> = grown.collect();
        let clause = Clause::Shape(dims.iter().map(Dim::plain).collect());
        let ty = Type::tensor(self.dtype_of(x), grown);
        let range = self.range(x);
        self.write("expand", &[x], vec![clause], ty, range)
    }
    /// `squeeze`
    pub fn squeeze(&mut self, x: V, dims: &[usize]) -> V {
        let ty = self.ty(x);
        let kept = ty
            .dims
            .iter()
            .enumerate()
            .filter(|(d, _)| !dims.contains(d));
        let ty = Type::tensor(ty.dtype, kept.map(|(_, dim)| dim.clone()).collect());
        let range = self.range(x);
        self.write("squeeze", &[x], vec![ints("dims", dims)], ty, range)
    }
    /// `permute`
    pub fn permute(&mut self, x: V, order: &[usize]) -> V {
        let ty = self.ty(x);
        let dims = order.iter().map(|d| ty.dims[*d].clone()).collect();
        let ty = Type::tensor(ty.dtype, dims);
        let range = self.range(x);
        self.write("permute", &[x], vec![ints("dims", order)], ty, range)
    }
    /// `reshape`
    pub fn reshape(&mut self, x: V, dims: &[Dim]) -> V {
        let ty = Type::tensor(self.dtype_of(x), dims.to_vec());
        let range = self.range(x);
        let clause = Clause::Shape(dims.to_vec());
        self.write("reshape", &[x], vec![clause], ty, range)
    }
    /// `copy`; `dense` stores every element.
    pub fn copy(&mut self, x: V, dense: bool) -> V {
        let mut ty = self.ty(x).clone();
        ty.layout = None;
        if dense {
            ty.dims = ty.dims.iter().map(Dim::plain).collect();
        }
        let clauses = dense.then_some(Clause::Flag("dense")).into_iter().collect();
        let range = self.range(x);
        self.write("copy", &[x], clauses, ty, range)
    }
    /// `segment_set`
    pub fn boundary(&mut self, x: V) -> V {
        let mut ty = self.ty(x).clone();
        ty.layout = None;
        let range = self.range(x);
        self.write("segment_set", &[x], Vec::new(), ty, range)
    }
    /// `slice` from `starts` by `strides`; `dims` is what remains.
    pub fn slice(&mut self, x: V, starts: &[u64], dims: &[Dim], strides: &[u64]) -> V {
        let had = self.dims(x);
        let kept = had.iter().zip(dims).map(|(have, want)| Dim {
            broadcast: have.broadcast,
            ..want.clone()
        });
        let kept: Vec<Dim> = kept.collect();
        let mut clauses = vec![
            Clause::Ints("starts", starts.to_vec()),
            Clause::Shape(dims.iter().map(Dim::plain).collect()),
        ];
        if strides.iter().any(|s| *s != 1) || self.source.chance(1, 8) {
            clauses.push(Clause::Ints("strides", strides.to_vec()));
        }
        let ty = Type::tensor(self.dtype_of(x), kept);
        let range = self.range(x);
        self.write("slice", &[x], clauses, ty, range)
    }
    /// A part of one axis with a number for an extent.
    pub fn part(&mut self, x: V, axis: usize, start: u64, length: u64, stride: u64) -> V {
        let mut dims = self.dims(x);
        let (mut starts, mut strides) = (vec![0; dims.len()], vec![1; dims.len()]);
        (starts[axis], strides[axis]) = (start, stride);
        dims[axis] = Dim {
            broadcast: dims[axis].broadcast,
            ..Dim::fixed(length)
        };
        self.slice(x, &starts, &dims, &strides)
    }
    /// `flip`
    pub fn flip(&mut self, x: V, dims: &[usize]) -> V {
        let ty = Type::tensor(self.dtype_of(x), self.dims(x));
        let range = self.range(x);
        self.write("flip", &[x], vec![ints("dims", dims)], ty, range)
    }
    /// `pad`
    pub fn pad(&mut self, x: V, value: V, low: &[u64], high: &[u64]) -> V {
        let grown = self.dims(x).into_iter().zip(low.iter().zip(high));
        let grown = grown.map(|(dim, (l, h))| match l + h {
            0 => dim,
            more => dim.plus(&Dim::fixed(more)),
        });
        let ty = Type::tensor(self.dtype_of(x), grown.collect());
        let clauses = vec![
            Clause::Ints("low", low.to_vec()),
            Clause::Ints("high", high.to_vec()),
        ];
        let range = ranges::hull(&[self.range(x), self.range(value)]);
        self.write("pad", &[x, value], clauses, ty, range)
    }
    /// `cat`
    pub fn cat(&mut self, parts: &[V], dim: usize) -> V {
        let mut dims = self.dims(parts[0]);
        for part in &parts[1..] {
            for (d, theirs) in self.dims(*part).iter().enumerate() {
                dims[d] = match d == dim {
                    true => dims[d].plus(theirs),
                    false => Dim {
                        broadcast: dims[d].broadcast && theirs.broadcast,
                        ..dims[d].clone()
                    },
                };
            }
        }
        let ranges: Vec<_> = parts.iter().map(|v| self.range(*v)).collect();
        let ty = Type::tensor(self.dtype_of(parts[0]), dims);
        let clauses = vec![Clause::Int("dim", dim as u64)];
        self.write("cat", parts, clauses, ty, ranges::hull(&ranges))
    }

    /// `take`
    pub fn take(&mut self, x: V, indices: V, dim: usize) -> V {
        let mut dims = self.dims(x);
        dims.splice(dim..=dim, self.dims(indices));
        self.gathered("take", x, indices, dim, dims)
    }
    /// `dynamic_slice` of `length` elements along `axis`
    pub fn dynamic_slice(&mut self, x: V, start: V, axis: usize, length: u64) -> V {
        let mut dims = self.dims(x);
        dims[axis] = Dim {
            broadcast: dims[axis].broadcast,
            ..Dim::fixed(length)
        };
        let ty = Type::tensor(self.dtype_of(x), dims.clone());
        let shape = dims.iter().map(Dim::plain).collect();
        let clauses = vec![ints("dims", &[axis]), Clause::Shape(shape)];
        self.write("dynamic_slice", &[x, start], clauses, ty, self.range(x))
    }
    /// `dynamic_update_slice` along `axis`
    pub fn dynamic_update_slice(&mut self, x: V, part: V, start: V, axis: usize) -> V {
        let own = self.dims(part);
        let mut dims = self.dims(x);
        for (d, dim) in dims.iter_mut().enumerate() {
            dim.broadcast &= own[d].broadcast && d != axis;
        }
        let ty = Type::tensor(self.dtype_of(x), dims);
        let range = ranges::hull(&[self.range(x), self.range(part)]);
        let clauses = vec![ints("dims", &[axis])];
        self.write(
            "dynamic_update_slice",
            &[x, part, start],
            clauses,
            ty,
            range,
        )
    }
    /// `take_along`
    pub fn take_along(&mut self, x: V, indices: V, dim: usize) -> V {
        let pairs = self.dims(x).into_iter().zip(self.dims(indices)).enumerate();
        let dims = pairs.map(|(d, (have, own))| Dim {
            broadcast: own.broadcast && (d == dim || have.broadcast),
            ..own
        });
        let dims = dims.collect();
        self.gathered("take_along", x, indices, dim, dims)
    }
    fn gathered(&mut self, name: &'static str, x: V, indices: V, dim: usize, dims: Vec<Dim>) -> V {
        let ty = Type::tensor(self.dtype_of(x), dims);
        let range = ranges::hull(&[self.range(x), (0.0, 0.0)]);
        let clauses = vec![Clause::Int("dim", dim as u64)];
        self.write(name, &[x, indices], clauses, ty, range)
    }

    /// `index_put` and `scatter`
    pub fn put(
        &mut self,
        name: &'static str,
        operands: [V; 3],
        dim: usize,
        how: &'static str,
    ) -> V {
        let [dest, indices, updates] = operands;
        let mut theirs = self.dims(updates);
        if name == "scatter" {
            let own = self.dims(indices);
            let both = theirs.iter_mut().zip(&own);
            both.for_each(|(dim, own)| dim.broadcast &= own.broadcast);
        }
        let dims = self.dims(dest).into_iter().zip(theirs).enumerate();
        let dims = dims.map(|(d, (have, own))| Dim {
            broadcast: d != dim && have.broadcast && own.broadcast,
            ..have
        });
        let ty = Type::tensor(self.dtype_of(dest), dims.collect());
        let terms = self.dims(updates)[dim].length as f64 + 1.0;
        let most = self.size(dest).max(self.size(updates));
        let most = if how == "add" { most * terms } else { most };
        let clauses = vec![Clause::Int("dim", dim as u64), Clause::Word("combine", how)];
        self.write(name, &operands, clauses, ty, (-most, most))
    }
    /// `sort`, and with a type `argsort`: the first elements of lines in order, or their places.
    pub fn sort(&mut self, x: V, dim: usize, of: Option<DType>, first: u64, descending: bool) -> V {
        let mut dims = self.dims(x);
        let length = dims[dim].length;
        let whole = dims[dim].extent.number().is_none_or(|n| first >= n);
        dims[dim] = if whole {
            dims[dim].plain()
        } else {
            Dim::fixed(first)
        };
        let mut clauses = vec![Clause::Int("dim", dim as u64)];
        clauses.extend(of.map(|of| Clause::Element("of", of)));
        clauses.extend((!whole).then_some(Clause::Int("first", first)));
        clauses.extend(descending.then_some(Clause::Flag("descending")));
        let ty = Type::tensor(of.unwrap_or(self.dtype_of(x)), dims);
        match of {
            None => self.write("sort", &[x], clauses, ty, self.range(x)),
            Some(_) => self.write("argsort", &[x], clauses, ty, (0.0, length as f64)),
        }
    }
    /// `topk`: values and places.
    pub fn topk(&mut self, x: V, dim: usize, first: u64, of: DType, smallest: bool) -> (V, V) {
        let mut dims = self.dims(x);
        let length = dims[dim].length as f64;
        dims[dim] = Dim::fixed(first);
        let mut clauses = vec![
            Clause::Int("dim", dim as u64),
            Clause::Int("first", first),
            Clause::Element("of", of),
        ];
        clauses.extend(smallest.then_some(Clause::Flag("smallest")));
        let ty = Type::tensor(self.dtype_of(x), dims.clone());
        let values = self.write("topk", &[x], clauses, ty, self.range(x));
        let places = self.value("places", Type::tensor(of, dims), (0.0, length));
        if let Some(op) = self.program.ops.last_mut() {
            op.results.push(places);
        }
        (values, places)
    }
    /// `roll`
    pub fn roll(&mut self, x: V, dim: usize, shift: u64) -> V {
        let ty = Type::tensor(self.dtype_of(x), self.dims(x));
        let clauses = vec![Clause::Int("dim", dim as u64), Clause::Int("shift", shift)];
        self.write("roll", &[x], clauses, ty, self.range(x))
    }
    /// `one_hot`
    pub fn one_hot(&mut self, indices: V, dim: usize, length: u64, of: DType) -> V {
        let mut dims = self.dims(indices);
        dims.insert(dim, Dim::fixed(length));
        let clauses = vec![
            Clause::Int("dim", dim as u64),
            Clause::Shape(vec![Dim::fixed(length)]),
            Clause::Element("of", of),
        ];
        let ty = Type::tensor(of, dims);
        self.write("one_hot", &[indices], clauses, ty, (0.0, 1.0))
    }

    // --- reductions

    pub(super) fn remains(&self, x: V, dims: &[usize], keepdim: bool) -> Type {
        let ty = self.ty(x);
        let axes = ty.dims.iter().enumerate();
        let axes = axes.filter_map(|(d, dim)| match (dims.contains(&d), keepdim) {
            (false, _) => Some(dim.clone()),
            (true, true) => Some(Dim::fixed(1)),
            (true, false) => None,
        });
        Type::tensor(ty.dtype, axes.collect())
    }
    /// A reduction along `dims`.
    pub fn reduce(&mut self, name: &'static str, x: V, dims: &[usize], keepdim: bool) -> V {
        let ty = self.remains(x, dims, keepdim);
        let n: u64 = dims.iter().map(|d| self.ty(x).dims[*d].length).product();
        let range = ranges::reduction(name, self.range(x), n);
        let mut clauses = vec![ints("dims", dims)];
        if keepdim {
            clauses.push(Clause::Flag("keepdim"));
        }
        self.write(name, &[x], clauses, ty, range)
    }
    /// A product called `name`, with these axes and this element type.
    pub fn product(&mut self, name: &'static str, operands: &[V], dims: Vec<Dim>, to: DType) -> V {
        let own = self.dtype_of(operands[0]);
        let terms = self.dims(operands[0]).last().map_or(1, |d| d.length);
        let bias = operands.get(2).map_or(0.0, |v| self.size(*v));
        let most = self.size(operands[0]) * self.size(operands[1]) * terms as f64 + bias;
        let clause = (to != own).then_some(Clause::Element("to", to));
        let ty = Type::tensor(to, dims);
        let clauses = clause.into_iter().collect();
        self.write(name, operands, clauses, ty, (-most, most))
    }
    /// Attention whole: means of the values.
    pub fn attention(&mut self, operands: &[V; 3], dims: Vec<Dim>, causal: bool) -> V {
        let (most, dtype) = (self.size(operands[2]), self.dtype_of(operands[2]));
        let clauses = causal.then_some(Clause::Flag("causal"));
        let ty = Type::tensor(dtype, dims);
        let clauses = clauses.into_iter().collect();
        self.write("sdpa", operands, clauses, ty, (-most, most))
    }
    /// A scan along `dim`, by the name of its reduction, whose partial results are in its range.
    pub fn scan(&mut self, name: &'static str, x: V, dim: usize) -> V {
        let op = match name {
            "sum" => "cumsum",
            "prod" => "cumprod",
            "max" => "cummax",
            _ => "cummin",
        };
        let n = self.ty(x).dims[dim].length;
        let range = ranges::reduction(name, self.range(x), n);
        let mut dims = self.dims(x);
        // Elements differ along it, even if those of the operand do not.
        dims[dim] = dims[dim].plain();
        let ty = Type::tensor(self.dtype_of(x), dims);
        let clauses = vec![Clause::Int("dim", dim as u64)];
        self.write(op, &[x], clauses, ty, range)
    }
    /// `argmax` or `argmin`
    pub fn arg(&mut self, name: &'static str, x: V, dim: usize, of: DType, keepdim: bool) -> V {
        let n = self.ty(x).dims[dim].length as f64;
        let dims = self.remains(x, &[dim], keepdim).dims;
        let mut clauses = vec![Clause::Int("dim", dim as u64), Clause::Element("of", of)];
        if keepdim {
            clauses.push(Clause::Flag("keepdim"));
        }
        self.write(name, &[x], clauses, Type::tensor(of, dims), (0.0, n))
    }
    /// Variance and mean.
    pub fn var_mean(&mut self, x: V, dims: &[usize], correction: u64, keepdim: bool) -> (V, V) {
        let ty = self.remains(x, dims, keepdim);
        let (low, high) = self.range(x);
        let mut clauses = vec![ints("dims", dims), Clause::Int("correction", correction)];
        if keepdim {
            clauses.push(Clause::Flag("keepdim"));
        }
        let width = high - low;
        let mut real = ty.clone();
        real.dtype = ty.dtype.part();
        // For complex numbers, the sum of the variances of both parts.
        let parts = if real.dtype == ty.dtype { 1.0 } else { 2.0 };
        let most = parts * width * width / 2.0;
        let var = self.write("var_mean", &[x], clauses, real, (0.0, most));
        let mean = self.value("mean", ty, (low, high));
        if let Some(op) = self.program.ops.last_mut() {
            op.results.push(mean);
        }
        (var, mean)
    }
    /// Repeats a reduction of `x` along its reduced `dims`: by `expand` if the axes were kept, else by `broadcast`.
    pub fn spread(&mut self, r: V, x: V, dims: &[usize]) -> V {
        let shape = self.dims(x);
        if self.ty(r).rank() == shape.len() && !dims.is_empty() {
            return self.expand(r, &shape);
        }
        let kept: Vec<usize> = (0..shape.len()).filter(|d| !dims.contains(d)).collect();
        self.broadcast(r, &kept, &shape)
    }
    /// A layout for the result that was written last.
    pub fn lay_out(&mut self, v: V, order: Vec<usize>) {
        self.program.values[v].ty.layout = Some(order);
    }
    /// True if a tensor of these axes is small enough.
    pub fn fits(&self, dims: &[Dim]) -> bool {
        elements(dims) <= MOST && dims.iter().all(|d| d.extent != Extent::Unknown)
    }
}

fn ints(word: &'static str, list: &[usize]) -> Clause {
    Clause::Ints(word, list.iter().map(|n| *n as u64).collect())
}
