//! The pattern of `canonicalize` for scatters whose indices are known: a box of the tensor is set, added to or the like.
//!
//! ```text
//! %y = fusion.index_put %x, %i, %u dim 0 combine add      // %x: tensor<8x5xf32>, %u: tensor<6x5xf32>, %i is 1, 2, ... 6
//!   =>
//! %p = fusion.pad %u, 0 low [1, 0] high [1, 0]
//! %y = fusion.add %x, %p
//! ```
//!
//! So `x.at[1:-1, ::2].add(u)` and its like, which come as index arithmetic, share kernels with what stands around them. Where several axes
//! were made one for an index, they part again. Every index must be inside and come once. A tensor that is updated in place stays a scatter:
//! of it only the box moves.

mod affine;

use fuser_analysis::cost::overwrites;
use fuser_dialects::fusion::build::{Built, FusionBuilder};
use fuser_dialects::fusion::{self, FLIP, PAD, PERMUTE, RESHAPE, SLICE};
use fuser_ir::build::Builder;
use fuser_ir::def::OpError;
use fuser_ir::rewrite::{Pattern, Rewriter};
use fuser_ir::types::{Dim, Extent};
use fuser_ir::{DType, Ir, Op, Value};

use affine::{Affine, Digit};

pub static KNOWN_INDICES: Pattern = Pattern {
    name: "known-indices",
    summary: "a scatter to indices that are known is a choice, or arithmetic with a pad",
    roots: &["fusion.index_put", "fusion.scatter"],
    benefit: 1,
    rewrite: known_indices,
};

fn known_indices(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(put) = Put::of(rw.ir(), op) else {
        return false;
    };
    let ty = rw.ir().value_type(rw.ir().result(op, 0));
    let before = rw.ir().prev_op(op);
    let mut b = Builder::before(rw.ir_mut(), op);
    let made = put.made(&mut b).ok();
    match made.filter(|&made| rw.ir().value_type(made) == ty) {
        Some(made) => {
            rw.replace(op, &[made]);
            true
        }
        None => {
            // Left behind, they would be made anew in each round.
            while let Some(part) = rw.ir().prev_op(op).filter(|&part| Some(part) != before) {
                rw.ir_mut().erase(part);
            }
            false
        }
    }
}

/// The part of an axis that is written.
#[derive(Clone, Copy, Debug)]
struct Part {
    start: i64,
    count: i64,
    step: i64,
    length: i64,
    /// The digit of the updates that iterates over it; `None` for a single element.
    digit: Option<usize>,
    /// True if that digit walks it from its end.
    flipped: bool,
}

impl Part {
    const fn is_whole(&self) -> bool {
        self.count == self.length && self.step == 1
    }
    const fn is_stepped(&self) -> bool {
        self.count != 1 && self.step != 1
    }
}

/// A scatter to a box.
struct Put {
    /// The tensor, with the axes that the indexed one was made of.
    dest: Value,
    updates: Value,
    combine: String,
    /// The indexed axis.
    dim: usize,
    /// The axes of the result before the indexed one was parted.
    dims: Vec<Dim>,
    /// The digits of the updates along it.
    digits: Vec<Digit>,
    /// The parts of `dest` along the axes in its place.
    parts: Vec<Part>,
    dtype: DType,
}

impl Put {
    fn of(ir: &Ir, op: Op) -> Option<Self> {
        let [mut dest, indices, updates] = ir.operands(op).collect::<Vec<Value>>()[..] else {
            return None;
        };
        let tensor = ir.value_kind(dest).as_tensor()?;
        let dtype = tensor.dtype;
        if dtype.is_complex() || overwrites(ir, op) {
            return None;
        }
        let dim = usize::try_from(ir.int_of(op, "dim")?).ok()?;
        let dims = tensor.dims.to_vec();
        let length = fixed(dims.get(dim)?)?;
        let mut known = Affine::of(ir, indices)?;
        let is_vector = known.axes.len() == 1 && dims.len() != 1;
        let axis = if is_vector { 0 } else { dim };
        let digits = std::mem::take(known.axes.get_mut(axis)?);
        // Beside the indexed axis all elements have the same index.
        if known.axes.iter().flatten().any(|digit| digit.step != 0) {
            return None;
        }
        let mut lengths = vec![length];
        if let Some((source, own)) = parted(ir, dest, &dims, dim) {
            (dest, lengths) = (source, own);
        }
        let digits = refined(digits, &lengths);
        let parts = parts(known.start, &digits, &lengths)?;
        Some(Self {
            dest,
            updates,
            combine: ir.str_of(op, "combine")?.to_owned(),
            dim,
            dims,
            digits,
            parts,
            dtype,
        })
    }
    fn made(&self, b: &mut Builder<'_>) -> Built {
        let wide = match self.combine.as_str() {
            "add" | "mul" => self.dtype.compute(),
            _ => self.dtype,
        };
        let dest = b.cast(self.dest, wide)?;
        let updates = self.boxed(b)?;
        let updates = b.cast(updates, wide)?;
        let number = |b: &mut Builder<'_>, value: i64| {
            let ty = b.ir.scalar(wide);
            match wide.is_float() {
                true => b.constant_float(value as f64, ty),
                false => b.constant_int(value, ty),
            }
        };
        let made = match self.combine.as_str() {
            "add" => {
                let zero = number(b, 0)?;
                // A zero that is summed is +0.
                let updates = match wide.is_float() {
                    true => b.add(updates, zero)?,
                    false => updates,
                };
                let updates = self.alone(b, updates, zero)?;
                b.add(dest, updates)?
            }
            "mul" => {
                let one = number(b, 1)?;
                let updates = self.alone(b, updates, one)?;
                b.mul(dest, updates)?
            }
            word => {
                // Of these elements none is read.
                let filler = number(b, 1)?;
                let updates = self.placed(b, updates, self.dim, filler)?;
                let joined = match word {
                    "max" => b.maximum(dest, updates)?,
                    "min" => b.minimum(dest, updates)?,
                    _ => updates,
                };
                self.chosen(b, joined, dest)?
            }
        };
        let made = b.cast(made, self.dtype)?;
        let mut shape = self.dims.clone();
        shape[self.dim].broadcast = false;
        reshaped(b, made, &shape)
    }
    /// The updates with an axis for each part, ascending along it.
    fn boxed(&self, b: &mut Builder<'_>) -> Built {
        let own = dims_of(b.ir, self.updates)?;
        let (before, after) = (&own[..self.dim], &own[self.dim + 1..]);
        let around = |middle: Vec<Dim>| [before, &middle, after].concat();
        let mut value = self.updates;
        if own[self.dim].broadcast {
            // One element for all: it lies wherever it is wanted.
            let counts = self.parts.iter().map(|part| length(part.count));
            let shape = around(counts.collect());
            let (starts, mut first) = (vec![0; own.len()], own.clone());
            first[self.dim] = length(1);
            let clauses = [b.ints("starts", &starts), b.shape("shape", &first)];
            let one = b.value(&SLICE, &[value], &clauses)?;
            let ones = around(vec![length(1); self.parts.len()]);
            let ones = reshaped(b, one, &ones)?;
            let clause = [b.shape("shape", &shape)];
            return b.value(&fusion::EXPAND, &[ones], &clause);
        }
        let counts = self.digits.iter().map(|digit| length(digit.count as i64));
        value = reshaped(b, value, &around(counts.collect()))?;
        let walked: Vec<&Part> = self.parts.iter().filter(|p| p.digit.is_some()).collect();
        let turned = walked.iter().filter(|part| part.flipped);
        let mut turned: Vec<i64> = turned
            .filter_map(|part| Some((self.dim + part.digit?) as i64))
            .collect();
        turned.sort_unstable();
        if !turned.is_empty() {
            let clause = [b.ints("dims", &turned)];
            value = b.value(&FLIP, &[value], &clause)?;
        }
        let order = walked.iter().filter_map(|part| part.digit);
        let order: Vec<i64> = (0..self.dim)
            .chain(order.map(|digit| self.dim + digit))
            .chain((0..after.len()).map(|axis| self.dim + walked.len() + axis))
            .map(|axis| axis as i64)
            .collect();
        let clause = [b.ints("dims", &order)];
        value = b.value(&PERMUTE, &[value], &clause)?;
        let counts = self.parts.iter().map(|part| length(part.count));
        reshaped(b, value, &around(counts.collect()))
    }
    /// A box of elements in its place, with `filler` around it; its parts lie along the axes from `at` on. Along an axis with steps each
    /// element fills its step, and the first and the last one what is left.
    fn placed(&self, b: &mut Builder<'_>, mut value: Value, at: usize, filler: Value) -> Built {
        for (axis, part) in self.parts.iter().enumerate() {
            if part.is_stepped() {
                let [index, step] = index_and_step(b, part)?;
                let own = b.div(index, step)?;
                let first = b.constant_int(part.start / part.step, b.ir.value_type(step))?;
                let own = b.sub(own, first)?;
                let clause = [b.int("dim", (at + axis) as i64)];
                value = b.value(&fusion::TAKE, &[value, own], &clause)?;
            }
        }
        let rank = dims_of(b.ir, value)?.len();
        let (mut low, mut high) = (vec![0; rank], vec![0; rank]);
        for (axis, part) in self.parts.iter().enumerate() {
            if !part.is_stepped() {
                low[at + axis] = part.start;
                high[at + axis] = part.length - part.start - part.count;
            }
        }
        let clauses = [b.ints("low", &low), b.ints("high", &high)];
        b.value(&PAD, &[value, filler], &clauses)
    }
    /// The value at its place, with `neutral` around and between its elements.
    fn alone(&self, b: &mut Builder<'_>, value: Value, neutral: Value) -> Built {
        let placed = self.placed(b, value, self.dim, neutral)?;
        match self.parts.iter().any(Part::is_stepped) {
            true => self.chosen(b, placed, neutral),
            false => Ok(placed),
        }
    }
    /// `inside` at the elements of the box, `outside` at others.
    fn chosen(&self, b: &mut Builder<'_>, inside: Value, outside: Value) -> Built {
        if self.parts.iter().all(Part::is_whole) {
            let dims = dims_of(b.ir, inside)?;
            if dims.iter().all(|dim| !dim.broadcast) {
                return Ok(inside);
            }
            let dense = b.flag("dense");
            return b.value(&fusion::COPY, &[inside], &[dense]);
        }
        let ty = b.ir.scalar(DType::I1);
        let (yes, no) = (b.constant_int(1, ty)?, b.constant_int(0, ty)?);
        // Along an axis with steps each index is told by itself.
        let counts = self.parts.iter().map(|part| match part.is_stepped() {
            true => length(part.length),
            false => length(part.count),
        });
        let shape = [b.shape("shape", &counts.collect::<Vec<Dim>>())];
        let whole = b.value(&fusion::FULL, &[yes], &shape)?;
        let (mut low, mut high) = (Vec::new(), Vec::new());
        for part in &self.parts {
            let plain = !part.is_stepped();
            low.push(if plain { part.start } else { 0 });
            high.push(if plain {
                part.length - part.start - part.count
            } else {
                0
            });
        }
        let clauses = [b.ints("low", &low), b.ints("high", &high)];
        let mut mask = b.value(&PAD, &[whole, no], &clauses)?;
        let lengths: Vec<Dim> = self.parts.iter().map(|part| length(part.length)).collect();
        for (axis, part) in self.parts.iter().enumerate() {
            if !part.is_stepped() {
                continue;
            }
            let [index, step] = index_and_step(b, part)?;
            let ty = b.ir.value_type(step);
            let digit = b.rem(index, step)?;
            let first = b.constant_int(part.start % part.step, ty)?;
            let mut hits = b.compare("eq", digit, first)?;
            let last = part.start + (part.count - 1) * part.step;
            for (predicate, bound, tells) in [
                ("ge", part.start, part.start >= part.step),
                ("le", last, last + part.step < part.length),
            ] {
                if tells {
                    let bound = b.constant_int(bound, ty)?;
                    let inside = b.compare(predicate, index, bound)?;
                    hits = b.binary(&fusion::AND, hits, inside)?;
                }
            }
            let hits = b.broadcast(hits, &[axis as i64], &lengths)?;
            mask = b.binary(&fusion::AND, mask, hits)?;
        }
        let axes: Vec<i64> = (0..self.parts.len())
            .map(|axis| (self.dim + axis) as i64)
            .collect();
        let mut shape = dims_of(b.ir, inside)?;
        shape.iter_mut().for_each(|dim| dim.broadcast = false);
        let mask = b.broadcast(mask, &axes, &shape)?;
        b.choose(mask, inside, outside)
    }
}

/// The source of `dest`, if `dest` is a reshape that merges several axes into axis `dim`, and the lengths of these
/// axes.
fn parted(ir: &Ir, dest: Value, dims: &[Dim], dim: usize) -> Option<(Value, Vec<i64>)> {
    let op = ir.def_op(dest).filter(|&op| ir.is(op, &RESHAPE))?;
    let source = ir.operands(op).next()?;
    let own = &ir.value_kind(source).as_tensor()?.dims;
    let behind = dims.len() - dim - 1;
    let end = own.len().checked_sub(behind).filter(|&end| end > dim)?;
    let same = own[..dim] == dims[..dim] && own[end..] == dims[dim + 1..];
    let lengths: Option<Vec<i64>> = own[dim..end].iter().map(fixed).collect();
    let plain = own[dim..end].iter().all(|axis| !axis.broadcast);
    lengths
        .filter(|_| same && plain)
        .map(|lengths| (source, lengths))
}

/// Splits digits so that each stays within one axis: a digit that continues along the next axis becomes two.
fn refined(digits: Vec<Digit>, lengths: &[i64]) -> Vec<Digit> {
    let mut refined = Vec::new();
    for mut digit in digits {
        let at = refined.len();
        let mut inner = 1i128;
        for &length in lengths.iter().rev() {
            let outer = inner * i128::from(length);
            // Steps from one end of the axis to the other.
            let through = outer / digit.step.abs().max(1);
            let cut =
                digit.step.abs() >= inner && digit.step * through == outer * digit.step.signum();
            if cut && through > 1 && digit.count > through && digit.count % through == 0 {
                refined.insert(
                    at,
                    Digit {
                        count: through,
                        ..digit
                    },
                );
                digit = Digit {
                    count: digit.count / through,
                    step: digit.step * through,
                };
            }
            inner = outer;
        }
        refined.insert(at, digit);
    }
    refined
}

/// The part of each axis that elements at these indices lie in: every digit walks one axis. `None` where one leaves its axis.
fn parts(start: i128, digits: &[Digit], lengths: &[i64]) -> Option<Vec<Part>> {
    let flips = digits.iter().filter(|digit| digit.step < 0);
    let mut rest = flips.fold(start, |start, digit| start + (digit.count - 1) * digit.step);
    let mut parts = Vec::new();
    let mut inner = 1i128;
    for &length in lengths.iter().rev() {
        let outer = inner.checked_mul(length.into())?;
        let mut part = Part {
            start: 0,
            count: 1,
            step: 1,
            length,
            digit: None,
            flipped: false,
        };
        for (index, digit) in digits.iter().enumerate() {
            let step = digit.step.abs();
            if step < inner || step >= outer {
                continue;
            }
            if step % inner != 0 || part.digit.is_some() {
                return None;
            }
            part = Part {
                count: i64::try_from(digit.count).ok()?,
                step: i64::try_from(step / inner).ok()?,
                digit: Some(index),
                flipped: digit.step < 0,
                ..part
            };
        }
        parts.push(part);
        inner = outer;
    }
    parts.reverse();
    if digits.len() != parts.iter().filter(|part| part.digit.is_some()).count() || rest < 0 {
        return None;
    }
    for part in parts.iter_mut().rev() {
        part.start = i64::try_from(rest % i128::from(part.length)).ok()?;
        rest /= i128::from(part.length);
        let last = (part.count - 1).checked_mul(part.step)?;
        if part.start.checked_add(last)? >= part.length {
            return None;
        }
    }
    (rest == 0).then_some(parts)
}

/// The index along an axis, and its step, in a type that holds both.
fn index_and_step(b: &mut Builder<'_>, part: &Part) -> Result<[Value; 2], OpError> {
    let dtype = match i32::try_from(part.length) {
        Ok(_) => DType::I32,
        Err(_) => DType::I64,
    };
    let shape = b.shape("shape", &[length(part.length)]);
    let clauses = [b.int("dim", 0), shape, b.dtype("of", dtype)];
    let index = b.value(&fusion::IOTA, &[], &clauses)?;
    let ty = b.ir.scalar(dtype);
    Ok([index, b.constant_int(part.step, ty)?])
}

fn reshaped(b: &mut Builder<'_>, value: Value, shape: &[Dim]) -> Built {
    let clause = [b.shape("shape", shape)];
    b.value(&RESHAPE, &[value], &clause)
}

fn dims_of(ir: &Ir, value: Value) -> Result<Vec<Dim>, OpError> {
    let tensor = ir.value_kind(value).as_tensor();
    let tensor = tensor.ok_or_else(|| OpError::new("its operands are no tensors"))?;
    Ok(tensor.dims.to_vec())
}

const fn length(count: i64) -> Dim {
    Dim::fixed(count as u64)
}

fn fixed(dim: &Dim) -> Option<i64> {
    match dim.extent {
        Extent::Static(length) => i64::try_from(length).ok(),
        _ => None,
    }
}
