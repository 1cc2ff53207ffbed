//! `dot_general` as a matrix product: batch axes first, then rows and terms of the left operand, terms and columns of
//! the right one.
//!
//! ```text
//! dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [3] x [2]
//!   a: [B, S, H, K] -> permute, reshape -> [B, S*H, K]
//!   b: [B, T, K]    -> permute          -> [B, K, T]       matmul -> [B, S*H, T] -> reshape -> [B, S, H, T]
//! ```
//!
//! Products of small integers that floats compute exactly are products of floats. Those of complex numbers are four
//! products of parts. Other integers, short sides and products without terms become a `mul` of broadcast operands and a
//! `sum`, which share a kernel.

use fuser_dialects::fusion;
use fuser_ir::types::DType;
use fuser_ir::{Extent, Value};

use super::Importer;
use super::ast::{Attr, Item};
use super::op::Reading;
use super::ops::{one, output_dtype};
use crate::program::{Draft, Fault, Made};

/// The axes of an operand.
struct Axes {
    batch: Vec<i64>,
    terms: Vec<i64>,
    free: Vec<i64>,
    extents: Vec<Extent>,
}

impl Axes {
    fn new(draft: &Draft, value: Value, batch: Vec<i64>, terms: Vec<i64>) -> Made<Self> {
        let dims = draft.dims(value);
        let extents: Vec<Extent> = dims.iter().map(|dim| dim.extent).collect();
        let mut used = vec![false; extents.len()];
        for axis in batch.iter().chain(&terms) {
            let seen = usize::try_from(*axis)
                .ok()
                .and_then(|axis| used.get_mut(axis));
            match seen {
                Some(seen) if !*seen => *seen = true,
                _ => {
                    return Err(Fault::form(format!(
                        "axis {axis} is beyond the operand, or is named twice"
                    )));
                }
            }
        }
        let free = (0..extents.len()).filter(|axis| !used[*axis]);
        let free = free.map(|axis| axis as i64).collect();
        Ok(Self {
            batch,
            terms,
            free,
            extents,
        })
    }
    fn of(&self, axes: &[i64]) -> Vec<Extent> {
        axes.iter()
            .map(|axis| self.extents[*axis as usize])
            .collect()
    }
    /// The product of the extents of `axes`.
    fn product(&self, axes: &[i64]) -> Extent {
        let known = self.of(axes).into_iter().map(|extent| match extent {
            Extent::Static(n) => n,
            _ => 0,
        });
        Extent::Static(known.fold(1, u64::saturating_mul))
    }
}

/// `stablehlo.dot`: contracts the last axis of the left operand with the first of the right one.
pub fn dot(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let last = im.draft.dims(r.operand(0)?).len() as i64 - 1;
    product(im, r, [Vec::new(), Vec::new()], [vec![last], vec![0]])
}

/// `stablehlo.dot_general`
pub fn dot_general(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    if r.attr(&["dot_dimension_numbers"]).is_some() {
        let field = |name: &str| r.field(&["dot_dimension_numbers"], name);
        let batch = [
            field("lhs_batching_dimensions")?,
            field("rhs_batching_dimensions")?,
        ];
        let terms = [
            field("lhs_contracting_dimensions")?,
            field("rhs_contracting_dimensions")?,
        ];
        return product(im, r, batch, terms);
    }
    let batch = pair(r, "batching_dims")?;
    let terms = pair(r, "contracting_dims")?;
    product(im, r, batch, terms)
}

/// `name = [0] x [1]`; empty lists if it is omitted.
fn pair(r: &Reading<'_>, name: &str) -> Made<[Vec<i64>; 2]> {
    let items = &r.op.items;
    let is = |item: &Item| matches!(item, Item::Named(key, _) if r.text(*key) == name);
    let Some(at) = items.iter().position(is) else {
        return Ok([Vec::new(), Vec::new()]);
    };
    let list = |attr: Option<&Attr>| attr.and_then(|attr| r.numbers(attr));
    let left = match &items[at] {
        Item::Named(_, attr) => Some(attr),
        _ => None,
    };
    let right = match items.get(at + 2) {
        Some(Item::Attr(attr)) => Some(attr),
        _ => None,
    };
    match (list(left), list(right)) {
        (Some(left), Some(right)) => Ok([left, right]),
        _ => Err(Fault::form(format!(
            "`{name}` is not of the form `[0] x [1]`"
        ))),
    }
}

/// An operand of a product: its batch axes, and its contracting axes.
pub struct Side {
    value: Value,
    batch: Vec<i64>,
    terms: Vec<i64>,
}

impl Side {
    pub fn new(value: Value, batch: &[i64], terms: &[i64]) -> Self {
        Self {
            value,
            batch: batch.to_vec(),
            terms: terms.to_vec(),
        }
    }
}

fn product(
    im: &mut Importer<'_>,
    r: &Reading<'_>,
    [left_batch, right_batch]: [Vec<i64>; 2],
    [left_terms, right_terms]: [Vec<i64>; 2],
) -> Made<Vec<Value>> {
    let stated = output_dtype(im, r)?;
    let left = Side::new(r.operand(0)?, &left_batch, &left_terms);
    let right = Side::new(r.operand(1)?, &right_batch, &right_terms);
    one(contracted(&mut im.draft, left, right, stated))
}

/// The product of two tensors with elements of type `stated`: batch axes, then the free axes of the left operand, then
/// those of the right.
pub fn contracted(draft: &mut Draft, left: Side, right: Side, stated: DType) -> Made {
    let mut a = draft.computed(left.value)?;
    let mut b = draft.computed(right.value)?;
    if left.terms.len() != right.terms.len() {
        return Err(Fault::form("multiplies along axes of different extents"));
    }
    // Terms are paired in the order of the right operand, so that weights need no permutation.
    let mut terms: Vec<(i64, i64)> = right.terms.into_iter().zip(left.terms).collect();
    terms.sort_unstable();
    let (right_terms, left_terms) = terms.into_iter().unzip();
    let left = Axes::new(draft, a, left.batch, left_terms)?;
    let right = Axes::new(draft, b, right.batch, right_terms)?;
    let equal = |x: &[i64], y: &[i64]| left.of(x) == right.of(y);
    if !equal(&left.batch, &right.batch) || !equal(&left.terms, &right.terms) {
        return Err(Fault::form("multiplies along axes of different extents"));
    }
    let wide = wide_enough(&left, &right);
    let terms = match left.product(&left.terms) {
        Extent::Static(terms) => terms,
        _ => 0,
    };
    let whole = exact(draft, [a, b], terms, stated).filter(|_| wide && terms > 0);
    if let Some((float, between)) = whole {
        let (a, b) = (draft.cast(a, float)?, draft.cast(b, float)?);
        let made = matrices(draft, (a, &left), (b, &right), float)?;
        let made = draft.cast(made, between)?;
        return draft.cast(made, stated);
    }
    if draft.dtype(a).is_complex() && draft.dtype(b).is_complex() && wide {
        let made = complex(draft, (a, &left), (b, &right), stated);
        return super::ops::converted(draft, made?, stated);
    }
    let to = match stated.is_storage() {
        true => stated.compute(),
        false => stated,
    };
    let common = draft.dtype(a);
    let fits = |dtype: DType| dtype == to || dtype.accumulate() == to;
    if common != draft.dtype(b) || !fits(common) {
        (a, b) = (draft.cast(a, to)?, draft.cast(b, to)?);
    }
    let made = if draft.dtype(a).is_float() && !left.terms.is_empty() {
        matrices(draft, (a, &left), (b, &right), to)
    } else {
        elements(draft, (a, &left), (b, &right), to)
    };
    super::ops::converted(draft, made?, stated)
}

/// The least extent of rows and columns for which a product of matrices beats sums that read operands as they are.
const WIDE: u64 = 16;

fn wide_enough(left: &Axes, right: &Axes) -> bool {
    let wide = |axes: &Axes| matches!(axes.product(&axes.free), Extent::Static(n) if n >= WIDE);
    wide(left) && wide(right) && !left.terms.is_empty()
}

/// The float type that computes a product of integers exactly, and the type to which its result is cast first, so that
/// it wraps as integers do. `None` if a sum of terms may be too large for all.
pub fn exact(
    draft: &Draft,
    operands: [Value; 2],
    terms: u64,
    stated: DType,
) -> Option<(DType, DType)> {
    let mut most = i128::from(terms);
    for value in operands {
        let dtype = draft.dtype(value);
        if !dtype.is_int() && dtype != DType::I1 {
            return None;
        }
        let (low, high) = dtype.int_range();
        most = most.checked_mul(high.max(-low))?;
    }
    let floats = [(DType::F32, 24), (DType::F64, 53)];
    let mut floats = floats.into_iter().filter(|_| stated.is_int());
    let (float, _) = floats.find(|(_, bits)| most <= 1 << bits)?;
    let fits = most <= stated.int_range().1;
    Some((float, if fits { stated } else { DType::I64 }))
}

/// A product of complex numbers, of products of their parts.
fn complex(
    draft: &mut Draft,
    (a, left): (Value, &Axes),
    (b, right): (Value, &Axes),
    to: DType,
) -> Made {
    let part = to.part();
    let mut parts = |value: Value| -> Made<[Value; 2]> {
        let real = draft.make(&fusion::REAL, &[value])?;
        let imag = draft.make(&fusion::IMAG, &[value])?;
        Ok([draft.cast(real, part)?, draft.cast(imag, part)?])
    };
    let ([a, c], [b, d]) = (parts(a)?, parts(b)?);
    let mut times = |x: Value, y: Value| matrices(draft, (x, left), (y, right), part);
    let (ab, cd, ad, cb) = (times(a, b)?, times(c, d)?, times(a, d)?, times(c, b)?);
    let real = draft.make(&fusion::SUB, &[ab, cd])?;
    let imag = draft.make(&fusion::ADD, &[ad, cb])?;
    draft.make(&fusion::COMPLEX, &[real, imag])
}

fn matrices(
    draft: &mut Draft,
    (a, left): (Value, &Axes),
    (b, right): (Value, &Axes),
    to: DType,
) -> Made {
    // A right operand without batch axes is a factor of every product, so the row axes of the left one need no merging.
    let apart = left.batch.is_empty() && left.terms.len() == 1 && !left.free.is_empty();
    let merged = |axes: &Axes, list: &[i64]| vec![axes.product(list)];
    let batch = left.of(&left.batch);
    let rows = match apart {
        true => left.of(&left.free),
        false => merged(left, &left.free),
    };
    let columns = merged(right, &right.free);
    let terms = left.product(&left.terms);
    let a = draft.permute(a, &[&left.batch[..], &left.free, &left.terms].concat())?;
    let a = draft.reshape(a, &[&batch[..], &rows, &[terms]].concat())?;
    let b = draft.permute(b, &[&right.batch[..], &right.terms, &right.free].concat())?;
    let b = draft.reshape(b, &[&batch[..], &[terms], &columns].concat())?;
    let own = draft.dtype(a);
    let mut builder = draft.builder();
    let clause = [builder.dtype("to", to)];
    let clauses = if own == to { &[][..] } else { &clause };
    let made = builder.value(&fusion::MATMUL, &[a, b], clauses)?;
    let shape = [batch, left.of(&left.free), right.of(&right.free)].concat();
    draft.reshape(made, &shape)
}

fn elements(
    draft: &mut Draft,
    (a, left): (Value, &Axes),
    (b, right): (Value, &Axes),
    to: DType,
) -> Made {
    let batch = left.of(&left.batch);
    let shape = [
        batch,
        left.of(&left.free),
        right.of(&right.free),
        left.of(&left.terms),
    ]
    .concat();
    // The axes of the elementwise product: batch, rows, columns, terms.
    let counts = [
        left.batch.len(),
        left.free.len(),
        right.free.len(),
        left.terms.len(),
    ];
    let mut next = 0;
    let ranges = counts.map(|count| {
        let range = next..next + count as i64;
        next = range.end;
        range
    });
    let [batch, rows, columns, terms] = ranges;
    let place = |axes: &Axes, free: std::ops::Range<i64>| {
        let mut dims = vec![0; axes.extents.len()];
        let lists = [&axes.batch, &axes.free, &axes.terms];
        for (list, range) in lists.into_iter().zip([batch.clone(), free, terms.clone()]) {
            for (axis, to) in list.iter().zip(range) {
                dims[*axis as usize] = to;
            }
        }
        dims
    };
    let a = draft.broadcast(a, &place(left, rows), &shape)?;
    let b = draft.broadcast(b, &place(right, columns.clone()), &shape)?;
    let (a, b) = (draft.cast(a, to)?, draft.cast(b, to)?);
    let def = if to == DType::I1 {
        &fusion::AND
    } else {
        &fusion::MUL
    };
    let made = draft.make(def, &[a, b])?;
    if terms.is_empty() {
        return Ok(made);
    }
    let def = if to == DType::I1 {
        &fusion::MAX
    } else {
        &fusion::SUM
    };
    let dims: Vec<i64> = terms.collect();
    let mut builder = draft.builder();
    let clause = [builder.ints("dims", &dims)];
    Ok(builder.value(def, &[made], &clause)?)
}
