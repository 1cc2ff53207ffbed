//! Reductions by arbitrary elementwise ops as `fusion.fold`: the body is the lambda, and elements are combined in
//! order.
//!
//! ```text
//! reduce(%x init: 0) { xor }      fusion.fold %x dim 0 init [0] associative { fusion.xor }
//! ```
//!
//! Initial values must be constants, as in the accumulators of `fusion.fold`.

use std::collections::HashMap;

use fuser_dialects::fusion;
use fuser_ir::def::OpDef;
use fuser_ir::types::DType;
use fuser_ir::{AttrId, AttrKind, Block, Region, Value};

use super::op::Reading;
use super::ops::{applied, make, meaning};
use super::shape::{extents, lengths};
use super::{Importer, reduce as bodies};
use crate::program::{Draft, Fault, Made};

/// The element of a type that changes no other one.
type Neutral = fn(DType) -> f64;

/// Associative integer ops, each with its neutral initial value.
const ASSOCIATIVE: [(&str, Neutral); 3] = [
    ("xor", |_| 0.0),
    ("or", |_| 0.0),
    ("and", |dtype| match dtype.is_signed() {
        true => -1.0,
        false => dtype.int_range().1 as f64,
    }),
];

/// The results of a reduction of `inputs` along `dims`, each from its `inits`, by the body described by `texts`.
pub fn reduce<'s>(
    im: &mut Importer<'s>,
    r: &Reading<'s>,
    [inputs, inits]: [&[Value]; 2],
    dims: &[i64],
    texts: &[String],
) -> Made<Vec<Value>> {
    let mut numbers = Vec::new();
    for init in inits {
        let number = constant(&im.draft, *init);
        numbers.push(number.ok_or_else(|| {
            let fault = Fault::form("starts from what is no constant, by a body of its own");
            fault
                .help("start from a constant, and combine with the other afterwards")
                .about(*init)
        })?);
    }
    let mut lines = Vec::new();
    for x in inputs {
        lines.push(line(&mut im.draft, *x, dims)?);
    }
    let axis = im.draft.dims(lines[0]).len() as i64 - 1;
    let types: Vec<DType> = inputs.iter().map(|x| im.draft.dtype(*x)).collect();
    let region = region(im, r, &types)?;
    let neutral = |(name, neutral): &(&str, fn(DType) -> f64)| {
        texts == [format!("{name}(a0,b0)")] && im.draft.is_number(inits[0], neutral(types[0]))
    };
    let associative = ASSOCIATIVE.iter().any(neutral);
    let clauses = (axis, numbers, associative);
    along(&mut im.draft, &fusion::FOLD, &lines, region, clauses)
}

/// The results of the same along one axis after each element of it; nothing where initial values are no constants.
pub fn scan<'s>(
    im: &mut Importer<'s>,
    r: &Reading<'s>,
    [inputs, inits]: [&[Value]; 2],
    axis: i64,
) -> Made<Option<Vec<Value>>> {
    let numbers = inits.iter().map(|init| constant(&im.draft, *init));
    let Some(numbers) = numbers.collect::<Option<Vec<AttrId>>>() else {
        return Ok(None);
    };
    let types: Vec<DType> = inputs.iter().map(|x| im.draft.dtype(*x)).collect();
    let region = region(im, r, &types)?;
    let clauses = (axis, numbers, false);
    along(&mut im.draft, &fusion::SCAN, inputs, region, clauses).map(Some)
}

/// The body as a region for elements of these types.
fn region<'s>(im: &mut Importer<'s>, r: &Reading<'s>, types: &[DType]) -> Made<Region> {
    let draft = &mut im.draft;
    let region = draft.ir.new_region();
    let block = draft.ir.append_block(region);
    for dtype in types.iter().chain(types) {
        let ty = draft.ir.scalar(*dtype);
        draft.ir.append_arg(block, ty, None);
    }
    let around = draft.enter(block);
    let made = lambda(im, r, block);
    im.draft.enter(around);
    made.map(|()| region)
}

/// `fusion.fold` or `fusion.scan` of `lines`.
fn along(
    draft: &mut Draft,
    def: &'static OpDef,
    lines: &[Value],
    region: Region,
    (axis, numbers, associative): (i64, Vec<AttrId>, bool),
) -> Made<Vec<Value>> {
    let init = draft.ir.attr(AttrKind::Array(numbers));
    let mut b = draft.builder();
    let mut clauses = vec![b.int("dim", axis), ("init", init)];
    if associative {
        clauses.push(b.flag("associative"));
    }
    let made = b.build(def, lines, &clauses, &[region], None)?;
    Ok(draft.ir.results(made).to_vec())
}

/// The tensor with the reduced axes merged into one, which comes last.
fn line(draft: &mut Draft, x: Value, dims: &[i64]) -> Made {
    let own = lengths(draft, x);
    let mut reduced = dims.to_vec();
    reduced.sort_unstable();
    let kept = (0..own.len() as i64).filter(|axis| !reduced.contains(axis));
    let order: Vec<i64> = kept.chain(reduced.iter().copied()).collect();
    let x = draft.permute(x, &order)?;
    let (kept, reduced) = order.split_at(own.len().saturating_sub(reduced.len()));
    let length = |axis: &i64| own.get(*axis as usize).copied().unwrap_or(0);
    let together = reduced.iter().map(length).try_fold(1i64, i64::checked_mul);
    let together = together.ok_or_else(|| Fault::form("reduces too many elements"))?;
    let shape: Vec<i64> = kept.iter().map(length).chain([together]).collect();
    draft.reshape(x, &extents(&shape))
}

/// The number that a constant is everywhere.
fn constant(draft: &Draft, value: Value) -> Option<AttrId> {
    let op = draft.ir.def_op(value)?;
    let attr = draft.ir.get_attr(op, "value")?;
    let known = draft.ir.is(op, &fusion::CONSTANT)
        && matches!(
            draft.ir.attr_kind(attr),
            AttrKind::Int { .. } | AttrKind::Float { .. } | AttrKind::Bool(_)
        );
    known.then_some(attr)
}

/// Fills a block with the body of a reduction; the block's arguments are the accumulators, then the elements.
fn lambda<'s>(im: &mut Importer<'s>, r: &Reading<'s>, block: Block) -> Made<()> {
    let arguments = im.draft.ir.args(block).to_vec();
    let count = arguments.len() / 2;
    if let Some(applied) = r.words().find(|word| word.contains('.')) {
        let reading = Reading {
            op: r.op,
            operands: arguments,
            outputs: Vec::new(),
            captured: HashMap::new(),
            source: r.source,
        };
        let made = make(im, meaning(applied)?, &reading)?;
        return yielded(&mut im.draft, &made);
    }
    let body = r.region().ok_or_else(|| Fault::form("has no body"))?;
    let mut names: HashMap<&str, Value> = HashMap::new();
    for (name, (second, at)) in bodies::arguments(r, body) {
        let index = if second { at + count } else { at };
        names.extend(arguments.get(index).map(|value| (name, *value)));
    }
    for (name, value) in &r.captured {
        names.extend(inside(&mut im.draft, *value)?.map(|value| (*name, value)));
    }
    let made = applied(im, r, body, names, (true, 0))?;
    yielded(&mut im.draft, &made)
}

/// A copy, inside the lambda, of a constant outside; `None` for any other value.
fn inside(draft: &mut Draft, value: Value) -> Made<Option<Value>> {
    let Some(attr) = constant(draft, value) else {
        return Ok(None);
    };
    let dtype = draft.dtype(value);
    let ty = draft.ir.scalar(dtype);
    let clause = [("value", attr)];
    let made = draft.builder().typed(&fusion::CONSTANT, &[], &clause, ty)?;
    Ok(Some(made))
}

fn yielded(draft: &mut Draft, values: &[Value]) -> Made<()> {
    draft
        .builder()
        .build(&fusion::YIELD, values, &[], &[], None)?;
    Ok(())
}
