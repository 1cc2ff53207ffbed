//! Scatters: a scatter accepted by an executor stays a call, any other compares every index with every position.
//!
//! ```text
//! %y = fusion.index_put %x, %i, %u dim 0 combine add     // [V, D], [N], [N, D]
//!   =>
//! %p = fusion.broadcast %i dims [1] shape [V, N, D]
//! %h = fusion.compare %p, iota eq
//! %q = fusion.broadcast %u dims [1, 2] shape [V, N, D]
//! %w = fusion.where %h, %q, 0
//! %s = fusion.sum %w dims [1]
//! %m = fusion.max %h dims [1]                             // of floats, whose zeros have signs
//! %y = fusion.where %m, fusion.add %x, %s, %x
//! ```
//!
//! The elements of that space are never stored, but all are computed, so this form suits short axes. For `set`, the
//! last matching index wins. 16-bit elements are widened before they are added or multiplied, even before a call, and
//! the result is rounded once.

use fuser_dialects::fusion;
use fuser_dialects::fusion::build::{Built, FusionBuilder};
use fuser_ir::build::Builder;
use fuser_ir::def::{OpDef, OpError};
use fuser_ir::{DType, Dim, Ir, Op, TensorType, Value};

use super::{COMBINES, Combining, Parts};

/// A scatter that stays whole; what it accumulates is widened first.
pub fn called(ir: &mut Ir, op: Op) -> Parts {
    let put = Put::of(ir, op)?;
    if put.dtype == put.wide {
        return Ok(Vec::new());
    }
    let def = ir.def(op).ok_or_else(|| OpError::new("is not known"))?;
    let mut b = Builder::before(ir, op);
    let dest = b.cast(put.dest, put.wide)?;
    let updates = b.cast(put.updates, put.wide)?;
    let clauses = [b.int("dim", put.dim as i64), b.word("combine", put.combine)];
    let sums = b.value(def, &[dest, put.indices, updates], &clauses)?;
    Ok(vec![b.cast(sums, put.dtype)?])
}

/// A scatter as a reduction along an axis that all updates have and the destination lacks.
pub fn compared(ir: &mut Ir, op: Op) -> Parts {
    let put = Put::of(ir, op)?;
    let mut b = Builder::before(ir, op);
    let value = match put.reduction {
        None => put.last(&mut b)?,
        Some((reduce, join)) => put.reduced(&mut b, reduce, join)?,
    };
    Ok(vec![value])
}

/// The parts of a scatter.
struct Put {
    dest: Value,
    indices: Value,
    updates: Value,
    dim: usize,
    combine: &'static str,
    /// The reduction of all updates at a position, and the op that combines it with `dest`; `None` if the last update
    /// wins.
    reduction: Option<Combining>,
    dtype: DType,
    /// The type in which elements are put together.
    wide: DType,
    /// The axes of the result, with the axis of the updates inserted after the indexed one.
    space: Vec<Dim>,
    /// True if the indices have that axis alone.
    whole: bool,
}

impl Put {
    fn of(ir: &Ir, op: Op) -> Result<Self, OpError> {
        let odd = || OpError::new("its operands are no tensors");
        let tensor = |index: usize| -> Result<&TensorType, OpError> {
            let value = ir.operands(op).nth(index).ok_or_else(odd)?;
            ir.value_kind(value).as_tensor().ok_or_else(odd)
        };
        let dim = ir.int_of(op, "dim").and_then(|d| usize::try_from(d).ok());
        let dim = dim.ok_or_else(odd)?;
        let word = ir.str_of(op, "combine").unwrap_or_default();
        let combine = COMBINES.iter().find(|(known, _)| *known == word);
        let (combine, reduction) = *combine.ok_or_else(odd)?;
        let (dest, updates) = (tensor(0)?, tensor(2)?);
        let dims = |tensor: &TensorType| -> Vec<Dim> {
            tensor.dims.iter().map(|d| Dim::new(d.extent)).collect()
        };
        let (mut space, walked) = (dims(dest), dims(updates));
        space.insert(dim + 1, *walked.get(dim).ok_or_else(odd)?);
        let sums = matches!(combine, "add" | "mul") && dest.dtype.is_float();
        Ok(Self {
            dest: ir.operand(op, 0),
            indices: ir.operand(op, 1),
            updates: ir.operand(op, 2),
            dim,
            combine,
            reduction,
            dtype: dest.dtype,
            wide: if sums {
                dest.dtype.compute()
            } else {
                dest.dtype
            },
            space,
            whole: ir.rank(ir.operand(op, 1)) != ir.rank(ir.operand(op, 0)),
        })
    }
    /// The axes of `space` that the updates have.
    fn places(&self) -> Vec<i64> {
        let axes = (0..self.space.len()).filter(|&axis| axis != self.dim);
        axes.map(|axis| axis as i64).collect()
    }
    /// The condition for an update to be written at a position: the indices match along the axes of positions and
    /// updates, and for `scatter` along all axes.
    fn hits(&self, b: &mut Builder<'_>) -> Result<(Value, Vec<Dim>), OpError> {
        let own = match self.whole {
            true => self.space[self.dim..=self.dim + 1].to_vec(),
            false => self.space.clone(),
        };
        let dim = if self.whole { 0 } else { self.dim as i64 };
        let places = match self.whole {
            true => vec![1],
            false => self.places(),
        };
        let wide = b.cast(self.indices, DType::I64)?;
        let indices = b.broadcast(wide, &places, &own)?;
        let place = index_along(b, &own, dim)?;
        Ok((b.compare("eq", indices, place)?, own))
    }
    /// `dest` and the updates of each place, reduced.
    fn reduced(&self, b: &mut Builder<'_>, reduce: &'static OpDef, join: &'static OpDef) -> Built {
        let (mut hits, own) = self.hits(b)?;
        if own.len() != self.space.len() {
            let dim = self.dim as i64;
            hits = b.broadcast(hits, &[dim, dim + 1], &self.space)?;
        }
        let updates = b.cast(self.updates, self.wide)?;
        let updates = b.broadcast(updates, &self.places(), &self.space)?;
        let neutral = neutral(b, self.combine, self.wide)?;
        let met = b.choose(hits, updates, neutral)?;
        let along = [self.dim as i64 + 1];
        let all = b.reduce(reduce, met, &along)?;
        let dest = b.cast(self.dest, self.wide)?;
        let joined = b.binary(join, dest, all)?;
        let joined = b.cast(joined, self.dtype)?;
        if self.combine != "add" || !self.dtype.is_float() {
            return Ok(joined);
        }
        // A sum makes a zero positive, but an element without updates keeps its bits.
        let any = b.reduce(&fusion::MAX, hits, &along)?;
        b.choose(any, joined, self.dest)
    }
    /// The last update of each place, else `dest`.
    fn last(&self, b: &mut Builder<'_>) -> Built {
        let (hits, own) = self.hits(b)?;
        let behind = if self.whole { 1 } else { self.dim as i64 + 1 };
        let walked = index_along(b, &own, behind)?;
        let ty = b.ir.scalar(DType::I64);
        let none = b.constant_int(-1, ty)?;
        let met = b.choose(hits, walked, none)?;
        let last = b.reduce(&fusion::MAX, met, &[behind])?;
        let found = b.compare("gt", last, none)?;
        let dim = b.int("dim", self.dim as i64);
        let (taken, found) = match self.whole {
            true => {
                let mut shape = self.space.clone();
                shape.remove(self.dim + 1);
                let taken = b.value(&fusion::TAKE, &[self.updates, last], &[dim])?;
                (taken, b.broadcast(found, &[self.dim as i64], &shape)?)
            }
            false => (
                b.value(&fusion::TAKE_ALONG, &[self.updates, last], &[dim])?,
                found,
            ),
        };
        b.choose(found, taken, self.dest)
    }
}

/// The index along axis `dim` of a space.
pub fn index_along(b: &mut Builder<'_>, space: &[Dim], dim: i64) -> Built {
    let length = b.shape("shape", &space[dim as usize..][..1]);
    let clauses = [b.int("dim", 0), length, b.dtype("of", DType::I64)];
    let index = b.value(&fusion::IOTA, &[], &clauses)?;
    b.broadcast(index, &[dim], space)
}

/// The element that changes nothing.
fn neutral(b: &mut Builder<'_>, combine: &str, dtype: DType) -> Built {
    let ty = b.ir.scalar(dtype);
    let (low, high) = dtype.int_range();
    let (float, int) = match combine {
        "mul" => (1.0, 1),
        "max" => (f64::NEG_INFINITY, low),
        "min" => (f64::INFINITY, high),
        _ => (0.0, 0),
    };
    match dtype.is_float() {
        true => b.constant_float(float, ty),
        false => b.constant_int(int, ty),
    }
}
