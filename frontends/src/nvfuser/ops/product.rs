//! Grouped and scaled products, each a composition of several ops.
//!
//! ```text
//! a[m, k]      b[g, k, n]    c[m, n] = sum over k of a[m, k] * b[group(m), k, n]
//! a[g, m, k]   b[k, n]       c[m, n] = sum over k of a[group(n), m, k] * b[k, n]
//! a[m, k]      b[k, n]       c[g, m, n] = sum over the k of group g of a[m, k] * b[k, n]
//! ```
//!
//! `offsets` are the ends of the groups, in ascending order: `group(i)` is the number of offsets that are at most i.
//! Each factor is multiplied by its scale, block by block for a `scaled_mm` with a tensor of 8-bit float scales. The
//! product is multiplied by `alpha`, and `bias` times `beta` is added. All of this is computed in f32 (f64 for f64),
//! and the result is rounded once.

use fuser_dialects::fusion::{self, build::FusionBuilder};
use fuser_ir::Value;
use fuser_ir::types::{DType, Dim, Extent};

use super::{index::agree, narrow};
use crate::codes::{EXTENTS, UNSUPPORTED};
use crate::nvfuser::Reader;
use crate::nvfuser::args::Args;
use crate::nvfuser::value::Val;
use crate::program::{Fault, Made};

/// A factor of a product.
#[derive(Clone, Copy)]
pub struct Factor {
    /// Its elements.
    pub value: Value,
    /// The scale of the factor, shared by all elements along axes on which it has extent 1.
    pub scale: Option<Value>,
}

impl Factor {
    /// The operand with its value and its scale changed.
    fn map(self, mut change: impl FnMut(Value) -> Made) -> Made<Self> {
        Ok(Self {
            value: change(self.value)?,
            scale: self.scale.map(change).transpose()?,
        })
    }
    /// With the last two axes exchanged.
    fn turned(self, r: &mut Reader<'_>) -> Made<Self> {
        self.map(|x| {
            let rank = r.draft.dims(x).len() as i64;
            let kept = 0..(rank - 2).max(0);
            let order: Vec<i64> = kept.chain((0..rank).rev().take(2)).collect();
            r.draft.permute(x, &order)
        })
    }
    /// The value times its scale, possibly one scale for each block of a row or column.
    fn scaled_of(self, r: &mut Reader<'_>, columns: bool) -> Made {
        let Some(scale) = self.scale.filter(|&scale| narrow::in_blocks(r, scale)) else {
            return self.scaled(r);
        };
        if !columns {
            return narrow::scaled_in_blocks(r, self.value, scale);
        }
        let rows = r.draft.permute(self.value, &[1, 0])?;
        let rows = narrow::scaled_in_blocks(r, rows, scale)?;
        r.draft.permute(rows, &[1, 0])
    }
    /// The value times its scale, in the type that computes.
    fn scaled(self, r: &mut Reader<'_>) -> Made {
        let dtype = r.draft.dtype(self.value).compute();
        let value = r.draft.cast(self.value, dtype)?;
        match self.scale {
            Some(scale) => with(r, &fusion::MUL, value, scale),
            None => Ok(value),
        }
    }
}

/// An op on a tensor and a tensor of at most the same rank, which is broadcast along the leading axes.
fn with(r: &mut Reader<'_>, def: &'static fuser_ir::OpDef, x: Value, other: Value) -> Made {
    let [rank, more] = [x, other].map(|value| r.draft.dims(value).len());
    if more > rank {
        let text = format!("operand 0 has {rank} axes, another one {more}");
        return Err(Fault::new(&EXTENTS, text));
    }
    let other = r.draft.cast(other, r.draft.dtype(x))?;
    let operands = r.joined(vec![x, other])?;
    r.draft.make(def, &operands)
}

fn factor(
    r: &Reader<'_>,
    args: &Args<'_>,
    (at, name): (usize, &str),
    scale: (usize, &str),
) -> Made<Factor> {
    let scale = match args.get(scale.0, &[scale.1]) {
        None | Some(Val::Nothing) => None,
        Some(_) => Some(args.tensor(scale.0, &[scale.1])?),
    };
    let value = args.tensor(at, &[name])?;
    match r.draft.dtype(value).is_float() {
        true => Ok(Factor { value, scale }),
        false => Err(Fault::form(format!("`{name}` has no elements of floats"))),
    }
}

pub fn grouped_mm<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let a = factor(r, args, (0, "mat1"), (3, "scale1"))?;
    let b = factor(r, args, (1, "mat2"), (4, "scale2"))?;
    let offsets = args.tensor(2, &["offsets"])?;
    if r.draft.dims(offsets).len() != 1 {
        return Err(Fault::form("`offsets` has not one axis"));
    }
    let product = match [a, b].map(|x| r.draft.dims(x.value).len()) {
        [2, 3] => of_ends(r, a, b, offsets)?,
        [3, 2] => {
            let (a, b) = (a.turned(r)?, b.turned(r)?);
            let turned = of_ends(r, b, a, offsets)?;
            r.draft.permute(turned, &[1, 0])?
        }
        [2, 2] => by_terms(r, a, b, offsets)?,
        [a, b] => {
            let text =
                format!("its factors have {a} and {b} axes, not 2 and 3, 3 and 2, or 2 and 2");
            return Err(Fault::form(text));
        }
    };
    if a.scale.is_some() || b.scale.is_some() {
        return finished(r, args, 5, a.value, product);
    }
    let dtype = r.draft.dtype(a.value);
    super::one(narrow::cast(&mut r.draft, product, dtype))
}

pub fn scaled_mm<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let a = factor(r, args, (0, "mat1"), (2, "scale1"))?;
    let b = factor(r, args, (1, "mat2"), (3, "scale2"))?;
    let like = a.value;
    agree(r, (a.value, 1), (b.value, 0))?;
    // Blocks are along the terms: along rows of the first factor, and columns of the second one.
    let factors = [a.scaled_of(r, false)?, b.scaled_of(r, true)?];
    let product = r.draft.make(&fusion::MATMUL, &factors)?;
    finished(r, args, 4, like, product)
}

/// The product with `alpha`, `bias` and `beta`, the arguments from `first` on, in the type of the result, which has no
/// scales.
fn finished<'s>(
    r: &mut Reader<'s>,
    args: &Args<'s>,
    first: usize,
    like: Value,
    mut product: Value,
) -> Made<Vec<Val<'s>>> {
    let given = |at: usize, name: &str| match args.get(at, &[name]) {
        None | Some(Val::Nothing) => Ok(None),
        Some(_) => args.tensor(at, &[name]).map(Some),
    };
    let size = args.int(first + 4, &["output_block_scale_size"], 0)?;
    if size != 0 || args.flag(first + 6, &["output_gamma"]) {
        let fault = Fault::new(
            &UNSUPPORTED,
            "a result with scales has no counterpart in Fuser",
        );
        return Err(fault.help("leave out `output_block_scale_size` and `output_gamma`"));
    }
    if let Some(alpha) = given(first, "alpha")? {
        product = with(r, &fusion::MUL, product, alpha)?;
    }
    if let Some(bias) = given(first + 1, "bias")? {
        let scale = given(first + 2, "beta")?;
        let bias = Factor { value: bias, scale }.scaled(r)?;
        product = with(r, &fusion::ADD, product, bias)?;
    }
    let to = match args.get(first + 3, &["dtype"]) {
        None => DType::BF16,
        Some(_) => args
            .dtype(first + 3, &["dtype"])?
            .unwrap_or(r.draft.dtype(like)),
    };
    let result = narrow::cast(&mut r.draft, product, to)?;
    Ok(vec![Val::Tensor(result), Val::Nothing, Val::Nothing])
}

/// Numbers from 0 on along an axis.
pub fn places(r: &mut Reader<'_>, length: Extent) -> Made {
    let mut b = r.draft.builder();
    let clauses = [
        b.int("dim", 0),
        b.shape("shape", &[Dim::new(length)]),
        b.dtype("of", DType::I64),
    ];
    Ok(b.value(&fusion::IOTA, &[], &clauses)?)
}

/// The sum along axes.
fn sum(r: &mut Reader<'_>, x: Value, dims: &[i64]) -> Made {
    let mut b = r.draft.builder();
    let dims = [b.ints("dims", dims)];
    Ok(b.value(&fusion::SUM, &[x], &dims)?)
}

/// The elements of a tensor, or its slices along the first axis, at `indices`.
pub fn at(r: &mut Reader<'_>, x: Value, indices: Value) -> Made {
    let mut b = r.draft.builder();
    let dim = [b.int("dim", 0)];
    Ok(b.value(&fusion::TAKE, &[x, indices], &dim)?)
}

/// The number of `offsets` that are not above each of `places`, both lists.
pub fn passed(r: &mut Reader<'_>, offsets: Value, places: Value) -> Made {
    let shape = [r.extents(places)[0], r.extents(offsets)[0]];
    let places = r.draft.broadcast(places, &[0], &shape)?;
    let ends = r.draft.cast(offsets, DType::I64)?;
    let ends = r.draft.broadcast(ends, &[1], &shape)?;
    let passed = r.draft.builder().compare("ge", places, ends)?;
    let passed = r.draft.cast(passed, DType::I64)?;
    sum(r, passed, &[1])
}

/// The group of each place along an axis, of groups with these ends.
fn group(r: &mut Reader<'_>, offsets: Value, length: Extent) -> Made {
    let places = places(r, length)?;
    passed(r, offsets, places)
}

/// Each row of `a` times the matrix of `b` for its group; `offsets` are the ends of the groups.
fn of_ends(r: &mut Reader<'_>, a: Factor, b: Factor, offsets: Value) -> Made {
    agree(r, (a.value, 1), (b.value, 1))?;
    agree(r, (offsets, 0), (b.value, 0))?;
    let rows = r.extents(a.value)[0];
    let group = group(r, offsets, rows)?;
    by_rows(r, a, b, group)
}

/// Each row of `a` times the slice of `b` for its group; terms run along all axes of `a` except the first.
pub fn by_rows(r: &mut Reader<'_>, a: Factor, b: Factor, group: Value) -> Made {
    let b = b.map(|x| at(r, x, group))?;
    let (a, b) = (a.scaled(r)?, b.scaled(r)?);
    let axes: Vec<i64> = (0..r.draft.dims(a).len() as i64).collect();
    let shape = r.extents(b);
    let a = r.draft.broadcast(a, &axes, &shape)?;
    let terms = r.draft.make(&fusion::MUL, &[a, b])?;
    sum(r, terms, axes.get(1..).unwrap_or_default())
}

/// A product for each group of the summed axis; outside of its group both factors are 0.
fn by_terms(r: &mut Reader<'_>, a: Factor, b: Factor, offsets: Value) -> Made {
    agree(r, (a.value, 1), (b.value, 0))?;
    let (terms, groups) = (r.extents(b.value)[0], r.extents(offsets)[0]);
    let shape = [groups, terms];
    let group = group(r, offsets, terms)?;
    let group = r.draft.broadcast(group, &[1], &shape)?;
    let number = places(r, groups)?;
    let number = r.draft.broadcast(number, &[0], &shape)?;
    let own = r.draft.builder().compare("eq", number, group)?;
    let mut parts = Vec::new();
    for (x, axis) in [(a.value, 2), (b.value, 1)] {
        let x = Factor {
            value: x,
            scale: None,
        }
        .scaled(r)?;
        let mut shape = r.extents(x);
        shape.insert(0, groups);
        let x = r.draft.broadcast(x, &[1, 2], &shape)?;
        let own = r.draft.broadcast(own, &[0, axis], &shape)?;
        let zero = r.draft.ir.scalar(r.draft.dtype(x));
        let zero = r.draft.number(0.0, zero)?;
        parts.push(r.draft.make(&fusion::WHERE, &[own, x, zero])?);
    }
    let mut value = r.draft.make(&fusion::MATMUL, &parts)?;
    for scale in [a.scale, b.scale] {
        value = Factor { value, scale }.scaled(r)?;
    }
    Ok(value)
}
