//! Windows: `reduce_window` as a scan, or as reductions of blocks and of shifted parts.
//!
//! A window is a product of ranges, one of each axis, so what reduces it reduces one axis after the other. Windows that meet without a gap or
//! an overlap are an axis of their own, which a reduction takes; those that overlap are parts of the tensor, shifted against each other, which
//! an elementwise op combines.
//!
//! ```text
//! window 2, stride 2   %x: 8  -> reshape 4x2 -> max dims [1]                        4
//! window 3, stride 1   %x: 8  -> maximum(maximum(%x[0:6], %x[1:7]), %x[2:8])        6
//! ```

use fuser_ir::Value;
use fuser_ir::def::OpDef;

use super::Importer;
use super::ast::Attr;
use super::op::{self, Reading};
use super::ops::one;
use super::reduce::{self, Row};
use super::shape::{self, extents, lengths};
use crate::program::{Draft, Fault, Made};

/// The shifted parts that one axis of overlapping windows may be.
const MAX_SHIFTS: i64 = 64;

/// Windows along one axis: elements of each, from one window to the next, and from one element to the next.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Along {
    size: i64,
    stride: i64,
    dilation: i64,
}

/// `stablehlo.reduce_window`
pub fn reduce_window(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let (x, init) = (r.operand(0)?, r.operand(1)?);
    let bodies = reduce::body(r)?;
    let [body] = bodies.as_slice() else {
        return Err(Fault::form("reduces several operands").help("reduce each by itself"));
    };
    let row = reduce::row(&im.draft, x, body, 0)?;
    let rank = lengths(&im.draft, x).len();
    let each = |name: &str| -> Made<Vec<i64>> {
        let list = match r.attr(&[name]) {
            Some(_) => r.ints(&[name])?,
            None => vec![1; rank],
        };
        let positive = list.len() == rank && list.iter().all(|n| *n > 0);
        let wrong = || {
            Fault::form(format!(
                "`{name}` is not a positive number for each of {rank} axes"
            ))
        };
        positive.then_some(list).ok_or_else(wrong)
    };
    let (sizes, strides) = (each("window_dimensions")?, each("window_strides")?);
    let (dilations, spread) = (each("window_dilations")?, each("base_dilations")?);
    let [low, high] = pairs(r, &["padding"], rank)?;
    let along = (0..rank).map(|at| Along {
        size: sizes[at],
        stride: strides[at],
        dilation: dilations[at],
    });
    let along: Vec<Along> = along.collect();
    if spread.iter().all(|n| *n == 1)
        && let Some((dim, def)) = scan(row, &lengths(&im.draft, x), &along, [&low, &high])
    {
        let mut b = im.draft.builder();
        let clause = [b.int("dim", dim)];
        let scanned = b.value(def, &[x], &clause)?;
        return one(reduce::started(&mut im.draft, row, scanned, init));
    }
    let between: Vec<i64> = spread.iter().map(|n| n - 1).collect();
    let neutral = (row.neutral)(im.draft.dtype(x));
    let pads = [&low, &high, &between]
        .into_iter()
        .flatten()
        .any(|n| *n != 0);
    if pads && !im.draft.is_number(init, neutral) {
        // The definition pads with it, XLA leaves out what is beyond the tensor.
        let text =
            "pads with what is not neutral: XLA and the definition of StableHLO differ on it";
        return Err(Fault::form(text)
            .help("reduce from the neutral element, and combine with the other afterwards"));
    }
    let mut x = shape::padded(&mut im.draft, x, init, [&low, &high, &between])?;
    for (axis, along) in along.into_iter().enumerate() {
        x = reduced(&mut im.draft, row, x, axis, along)?;
    }
    one(reduce::started(&mut im.draft, row, x, init))
}

/// The axis and the scan where each window is all of an axis up to an element.
fn scan(
    row: &Row,
    own: &[i64],
    along: &[Along],
    [low, high]: [&[i64]; 2],
) -> Option<(i64, &'static OpDef)> {
    let axis = along.iter().position(|a| a.size != 1)?;
    let expected = |at: usize| match at == axis {
        true => (own[at], own[at] - 1),
        false => (1, 0),
    };
    let is = |(at, a): (usize, &Along)| {
        (a.size, low[at]) == expected(at) && (a.stride, a.dilation, high[at]) == (1, 1, 0)
    };
    let scans = along.iter().enumerate().all(is);
    row.scan.filter(|_| scans).map(|def| (axis as i64, def))
}

/// The windows along one axis, each reduced to an element.
fn reduced(draft: &mut Draft, row: &Row, x: Value, axis: usize, along: Along) -> Made {
    let Along {
        size,
        stride,
        dilation,
    } = along;
    if (size, stride) == (1, 1) {
        return Ok(x);
    }
    let own = lengths(draft, x);
    let large = || Fault::form("has windows that are too large");
    let reach = (size - 1).checked_mul(dilation).ok_or_else(large)?;
    let count = match own[axis] > reach {
        true => (own[axis] - reach - 1) / stride + 1,
        false => 0,
    };
    let range = |draft: &mut Draft, start: i64, limit: i64, stride: i64| {
        let (mut starts, mut limits) = (vec![0; own.len()], own.clone());
        let mut strides = vec![1; own.len()];
        (starts[axis], limits[axis], strides[axis]) = (start, limit, stride);
        shape::part(draft, x, &starts, &limits, &strides)
    };
    if dilation == 1 && (stride == size || count <= 1) {
        let x = range(draft, 0, count * size, 1)?;
        let mut blocks = own.clone();
        blocks.splice(axis..=axis, [count, size]);
        let x = draft.reshape(x, &extents(&blocks))?;
        let mut b = draft.builder();
        let clause = [b.ints("dims", &[axis as i64 + 1])];
        return Ok(b.value(row.reduction, &[x], &clause)?);
    }
    if size > MAX_SHIFTS {
        let text = format!("has windows of {size} elements that overlap");
        let help = format!(
            "up to {MAX_SHIFTS} along an axis are read; a `pad` and a cumulative sum give the sums of longer ones"
        );
        return Err(Fault::form(text).help(help));
    }
    let last = (count - 1).max(0) * stride;
    let shifted = |draft: &mut Draft, at: i64| {
        let start = at * dilation;
        let limit = start + if count == 0 { 0 } else { last + 1 };
        range(draft, start.min(own[axis]), limit.min(own[axis]), stride)
    };
    let mut all = shifted(draft, 0)?;
    for at in 1..size {
        let next = shifted(draft, at)?;
        all = draft.make(row.combine, &[all, next])?;
    }
    Ok(all)
}

/// The numbers before and behind each axis, `[[1, 0], [0, 0]]`, also as `dense<[[1, 0], [0, 0]]>`, or one number for all.
pub fn pairs(r: &Reading<'_>, names: &[&str], rank: usize) -> Made<[Vec<i64>; 2]> {
    let wrong = || {
        Fault::form(format!(
            "`{}` is not two numbers for each of {rank} axes",
            names[0]
        ))
    };
    let numbers: Option<Vec<i64>> = match r.attr(names) {
        None => Some(vec![0]),
        Some(Attr::List(pairs)) => {
            let pairs = pairs.iter().map(|pair| r.numbers(pair));
            pairs
                .collect::<Option<Vec<_>>>()
                .map(|pairs| pairs.concat())
        }
        Some(attr) => {
            let text = r.text(op::atom(attr).ok_or_else(wrong)?);
            let text = text.split_once('<').map_or(text, |(_, inside)| inside);
            let numbers = text.split(|c: char| !c.is_ascii_digit() && c != '-');
            let numbers = numbers.filter(|n| !n.is_empty());
            numbers.map(|n| n.parse().ok()).collect()
        }
    };
    match numbers.ok_or_else(wrong)?.as_slice() {
        [all] => Ok([vec![*all; rank], vec![*all; rank]]),
        pairs if pairs.len() == 2 * rank => {
            let (low, high) = pairs.chunks(2).map(|pair| (pair[0], pair[1])).unzip();
            Ok([low, high])
        }
        _ => Err(wrong()),
    }
}
