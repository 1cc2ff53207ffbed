//! Windows: `reduce_window` as a scan, or as reductions of blocks and of shifted parts.
//!
//! A window is a product of ranges, one for each axis, so its reduction proceeds axis by axis. Adjacent windows without
//! a gap or an overlap form a separate axis, which a reduction takes. Overlapping windows are shifted parts of the
//! tensor, which an elementwise op combines: one part for each element of a short window, windows of half the length
//! for a long one. A body of several ops, or of several operands, is applied to one part for each element of a window.
//!
//! ```text
//! window 2, stride 2   %x: 8  -> reshape 4x2 -> max dims [1]                        4
//! window 3, stride 1   %x: 8  -> maximum(maximum(%x[0:6], %x[1:7]), %x[2:8])        6
//! ```

use fuser_dialects::fusion;
use fuser_dialects::fusion::build::FusionBuilder;
use fuser_ir::Value;
use fuser_ir::types::DType;

use super::Importer;
use super::ast::Attr;
use super::lambda;
use super::op::{self, Reading};
use super::ops::{self, applied, one};
use super::reduce::{self, Row};
use super::shape::{self, extents, lengths};
use crate::program::{Draft, Fault, Made};

/// The maximum length of an overlapping window that is combined element by element.
const MAX_SHIFTS: i64 = 64;
/// The maximum number of parts of a tensor, one for each element of a window or one for each window.
const MAX_PARTS: i64 = 1024;

/// Windows along one axis: the number of elements, the distance between windows, and the distance between elements.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Along {
    pub size: i64,
    pub stride: i64,
    pub dilation: i64,
}

impl Along {
    /// The number of windows along an axis of `length`.
    fn count(self, length: i64) -> Made<i64> {
        let reach = (self.size - 1).checked_mul(self.dilation);
        let reach = reach.ok_or_else(|| Fault::form("has windows that are too large"))?;
        Ok(match length > reach {
            true => (length - reach - 1) / self.stride + 1,
            false => 0,
        })
    }
}

/// The windows of a tensor.
pub struct Windows {
    along: Vec<Along>,
    /// The windows along each axis.
    pub counts: Vec<i64>,
    /// The elements of a window.
    pub places: i64,
}

impl Windows {
    /// Windows over a tensor of lengths `own`, each of at least one element.
    pub fn new(own: &[i64], along: Vec<Along>) -> Made<Self> {
        let places = along
            .iter()
            .try_fold(1i64, |all, a| all.checked_mul(a.size));
        let wrong = || Fault::form("has a window that is too large, or empty");
        let counts = along.iter().zip(own).map(|(a, length)| a.count(*length));
        Ok(Self {
            counts: counts.collect::<Made<_>>()?,
            along,
            places: places.filter(|n| *n > 0).ok_or_else(wrong)?,
        })
    }
    /// The first index of the element at `place` of each window, where `place` counts in the order of a window's
    /// elements.
    fn starts(&self, place: i64) -> Vec<i64> {
        let mut rest = place;
        let mut starts = vec![0; self.along.len()];
        for (start, a) in starts.iter_mut().zip(&self.along).rev() {
            *start = rest % a.size * a.dilation;
            rest /= a.size;
        }
        starts
    }
    /// The element at `place` of each window.
    pub fn part(&self, draft: &mut Draft, x: Value, place: i64) -> Made {
        let rank = self.along.len();
        if self.counts.contains(&0) {
            return shape::part(draft, x, &vec![0; rank], &self.counts, &vec![1; rank]);
        }
        let starts = self.starts(place);
        let ends = starts.iter().zip(&self.counts).zip(&self.along);
        let limits = ends.map(|((start, count), a)| start + (count - 1) * a.stride + 1);
        let limits: Vec<i64> = limits.collect();
        let strides: Vec<i64> = self.along.iter().map(|a| a.stride).collect();
        shape::part(draft, x, &starts, &limits, &strides)
    }
}

/// Refuses more parts than [`MAX_PARTS`].
fn few(parts: i64) -> Made<()> {
    let help = format!("up to {MAX_PARTS} elements are read, or as many windows of more");
    let wrong = || Fault::form("has a window that is too large").help(help);
    (parts <= MAX_PARTS).then_some(()).ok_or_else(wrong)
}

/// `stablehlo.reduce_window`
pub fn reduce_window<'s>(im: &mut Importer<'s>, r: &Reading<'s>) -> Made<Vec<Value>> {
    let (x, init) = (r.operand(0)?, r.operand(1)?);
    let bodies = reduce::body(r).unwrap_or_default();
    let row = match bodies.as_slice() {
        [body] => reduce::row(&im.draft, x, body, 0).ok(),
        _ => None,
    };
    let Some(row) = row else {
        return by_body(im, r);
    };
    let rank = lengths(&im.draft, x).len();
    let spread = each(r, "base_dilations", rank)?;
    let [low, high] = pairs(r, &["padding"], rank)?;
    let along = along(r, rank)?;
    if spread.iter().all(|n| *n == 1)
        && let Some(def) = row.scan
        && let Some((dim, direction)) = scanned(&lengths(&im.draft, x), &along, [&low, &high])
    {
        let x = direction.turned(&mut im.draft, x, dim)?;
        let mut b = im.draft.builder();
        let clause = [b.int("dim", dim)];
        let scanned = b.value(def, &[x], &clause)?;
        let scanned = direction.turned(&mut im.draft, scanned, dim)?;
        return one(reduce::started(&mut im.draft, row, scanned, init));
    }
    let between: Vec<i64> = spread.iter().map(|n| n - 1).collect();
    let neutral = (row.neutral)(im.draft.dtype(x));
    let pads = [&low, &high, &between]
        .into_iter()
        .flatten()
        .any(|n| *n != 0);
    if pads && !im.draft.is_number(init, neutral) {
        // The definition pads with the initial value, while XLA leaves out elements beyond the tensor.
        let text =
            "pads with what is not neutral: XLA and the definition of StableHLO differ on it";
        return Err(Fault::form(text)
            .help("reduce from the neutral element, and combine with the other afterwards")
            .about(init));
    }
    let mut x = shape::padded(&mut im.draft, x, init, [&low, &high, &between])?;
    for (axis, along) in along.into_iter().enumerate() {
        x = reduced(&mut im.draft, row, x, axis, along)?;
    }
    one(reduce::started(&mut im.draft, row, x, init))
}

/// The numbers of an attribute; all 1 if it is omitted.
fn each(r: &Reading<'_>, name: &str, rank: usize) -> Made<Vec<i64>> {
    let list = match r.attr(&[name]) {
        Some(_) => r.ints(&[name])?,
        None => vec![1; rank],
    };
    let positive = list.len() == rank && list.iter().all(|n| *n > 0);
    let text = || format!("`{name}` is not a positive number for each of {rank} axes");
    positive.then_some(list).ok_or_else(|| Fault::form(text()))
}

/// The windows that the attributes describe.
fn along(r: &Reading<'_>, rank: usize) -> Made<Vec<Along>> {
    let (sizes, strides) = (
        each(r, "window_dimensions", rank)?,
        each(r, "window_strides", rank)?,
    );
    let dilations = each(r, "window_dilations", rank)?;
    let along = sizes.into_iter().zip(strides).zip(dilations);
    let along = along.map(|((size, stride), dilation)| Along {
        size,
        stride,
        dilation,
    });
    Ok(along.collect())
}

/// Windows of any number of operands by a body of elementwise ops, which is applied to the elements at one place of all
/// windows at once. Windows that reach from one end of an axis to each of its elements are a `fusion.scan`.
///
/// As in XLA, elements of a border are left out.
fn by_body<'s>(im: &mut Importer<'s>, r: &Reading<'s>) -> Made<Vec<Value>> {
    let (inputs, inits) = r.operands.split_at(r.operands.len() / 2);
    let own = lengths(&im.draft, r.operand(0)?);
    let same = inputs.iter().all(|x| lengths(&im.draft, *x) == own);
    if !same || inputs.len() != inits.len() {
        let text = "has not operands of one shape, each with a value that it starts from";
        return Err(Fault::form(text));
    }
    let rank = own.len();
    let spread = each(r, "base_dilations", rank)?;
    let [low, high] = pairs(r, &["padding"], rank)?;
    let along = along(r, rank)?;
    if spread.iter().all(|n| *n == 1)
        && let Some((dim, direction)) = scanned(&own, &along, [&low, &high])
    {
        let turned = |draft: &mut Draft, all: &[Value]| -> Made<Vec<Value>> {
            let turned = all.iter().map(|x| direction.turned(draft, *x, dim));
            turned.collect()
        };
        let lines = turned(&mut im.draft, inputs)?;
        if let Some(made) = lambda::scan(im, r, [&lines, inits], dim)? {
            return turned(&mut im.draft, &made);
        }
    }
    let between: Vec<i64> = spread.iter().map(|n| n - 1).collect();
    let amounts = [&low, &high, &between].map(Vec::as_slice);
    let draft = &mut im.draft;
    let mut padded = Vec::new();
    for (x, init) in inputs.iter().zip(inits) {
        padded.push(shape::padded(draft, *x, *init, amounts)?);
    }
    let inside = match amounts.into_iter().flatten().any(|n| *n != 0) {
        true => {
            let truth = draft.ir.tensor(Vec::new(), DType::I1);
            let (yes, no) = (draft.number(1.0, truth)?, draft.number(0.0, truth)?);
            let yes = draft.broadcast(yes, &[], &extents(&own))?;
            Some(shape::padded(draft, yes, no, amounts)?)
        }
        false => None,
    };
    let windows = Windows::new(&lengths(draft, padded[0]), along)?;
    few(windows.places)?;
    let counts = extents(&windows.counts);
    let started = inits
        .iter()
        .map(|init| draft.broadcast(*init, &[], &counts));
    let mut all: Vec<Value> = started.collect::<Made<_>>()?;
    if windows.counts.contains(&0) {
        return Ok(all);
    }
    let block = r.region().ok_or_else(|| Fault::form("has no body"))?;
    for place in 0..windows.places {
        let draft = &mut im.draft;
        let parts = padded.iter().map(|x| windows.part(draft, *x, place));
        let parts: Vec<Value> = parts.collect::<Made<_>>()?;
        let mut names = r.captured.clone();
        for (name, (second, at)) in reduce::arguments(r, block) {
            let side = if second { &parts } else { &all };
            names.extend(side.get(at).map(|value| (name, *value)));
        }
        let made = applied(im, r, block, names, (false, 0))?;
        if made.len() != all.len() {
            return Err(Fault::form(
                "has a body of other than a result for each operand",
            ));
        }
        let here = match inside {
            Some(inside) => Some(windows.part(&mut im.draft, inside, place)?),
            None => None,
        };
        for (so_far, next) in all.iter_mut().zip(made) {
            let next = ops::spread(im, next, *so_far)?;
            *so_far = match here {
                Some(here) => im.draft.make(&fusion::WHERE, &[here, next, *so_far])?,
                None => next,
            };
        }
    }
    Ok(all)
}

/// The axis and the direction of a scan, if each window covers an axis from one end to one element.
fn scanned(own: &[i64], along: &[Along], [low, high]: [&[i64]; 2]) -> Option<(i64, Direction)> {
    let axis = along.iter().position(|a| a.size != 1)?;
    let rest = own[axis] - 1;
    let direction = match [low[axis], high[axis]] {
        [before, 0] if before == rest => Direction::Forward,
        [0, behind] if behind == rest => Direction::Backward,
        _ => return None,
    };
    let is = |(at, a): (usize, &Along)| {
        let size = if at == axis { own[at] } else { 1 };
        let bare = at == axis || [low[at], high[at]] == [0, 0];
        bare && [a.size, a.stride, a.dilation] == [size, 1, 1]
    };
    let scans = along.iter().enumerate().all(is);
    scans.then_some((axis as i64, direction))
}

/// The end from which a scan begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

impl Direction {
    /// The tensor with an axis in the order in which a scan walks it.
    fn turned(self, draft: &mut Draft, x: Value, dim: i64) -> Made {
        if self == Self::Forward {
            return Ok(x);
        }
        let mut b = draft.builder();
        let clause = [b.ints("dims", &[dim])];
        Ok(b.value(&fusion::FLIP, &[x], &clause)?)
    }
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
    let count = along.count(own[axis])?;
    if dilation == 1 && (stride == size || count <= 1) {
        let (ones, mut limits) = (vec![1; own.len()], own.clone());
        limits[axis] = count * size;
        let x = shape::part(draft, x, &vec![0; own.len()], &limits, &ones)?;
        let mut blocks = own.clone();
        blocks.splice(axis..=axis, [count, size]);
        let x = draft.reshape(x, &extents(&blocks))?;
        let mut b = draft.builder();
        let clause = [b.ints("dims", &[axis as i64 + 1])];
        return Ok(b.value(row.reduction, &[x], &clause)?);
    }
    let one = Along {
        size: 1,
        stride: 1,
        dilation: 1,
    };
    let mut each = vec![one; own.len()];
    each[axis] = along;
    let windows = Windows::new(&own, each)?;
    if size > MAX_SHIFTS && count > 0 {
        return doubled(draft, row, x, axis, along);
    }
    let mut all = windows.part(draft, x, 0)?;
    for place in 1..size {
        let next = windows.part(draft, x, place)?;
        all = draft.make(row.combine, &[all, next])?;
    }
    Ok(all)
}

/// Long overlapping windows along one axis: a window is a sequence of windows whose lengths are powers of two, and each
/// of these is two neighbors of half the length. The number of ops grows with the logarithm of the length.
fn doubled(draft: &mut Draft, row: &Row, x: Value, axis: usize, along: Along) -> Made {
    let count = along.count(lengths(draft, x)[axis])?;
    let part = |draft: &mut Draft, x: Value, start: i64, limit: i64, stride: i64| {
        let mut limits = lengths(draft, x);
        let (mut starts, mut strides) = (vec![0; limits.len()], vec![1; limits.len()]);
        (starts[axis], limits[axis], strides[axis]) = (start, limit, stride);
        shape::part(draft, x, &starts, &limits, &strides)
    };
    let (mut power, mut width, mut covered, mut all) = (x, 1, 0, None);
    loop {
        if along.size & width != 0 {
            let start = covered * along.dilation;
            let limit = start + (count - 1) * along.stride + 1;
            let next = part(draft, power, start, limit, along.stride)?;
            all = Some(match all {
                None => next,
                Some(all) => draft.make(row.combine, &[all, next])?,
            });
            covered += width;
        }
        if let Some(all) = all.filter(|_| covered == along.size) {
            return Ok(all);
        }
        let (apart, length) = (width * along.dilation, lengths(draft, power)[axis]);
        let near = part(draft, power, 0, length - apart, 1)?;
        let far = part(draft, power, apart, length, 1)?;
        power = draft.make(row.combine, &[near, far])?;
        width *= 2;
    }
}

/// `stablehlo.select_and_scatter` as the gradient of a windowed extreme: the update goes to the first extreme element
/// of each window.
pub fn select_and_scatter(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let [x, source, init] = [r.operand(0)?, r.operand(1)?, r.operand(2)?];
    let rank = lengths(&im.draft, x).len();
    let help = "the gradient of a maximum or a minimum over windows is read, as JAX writes it: without a border, and added up from 0";
    let form = |text: &str| Fault::form(text.to_owned()).help(help);
    let [select, scatter] = reduce::pairs_of(r, help)?;
    let directions = ["GE", "GT", "LE", "LT"].into_iter();
    let mut directions = directions.filter(|word| select == format!("compare.{word}(a0,b0)"));
    let direction = directions
        .next()
        .ok_or_else(|| form("selects by another body"))?;
    let adds = ["add(a0,b0)", "add(b0,a0)"].contains(&scatter.as_str());
    let [low, high] = pairs(r, &["padding"], rank)?;
    if !adds || !im.draft.is_number(init, 0.0) || low.iter().chain(&high).any(|n| *n != 0) {
        return Err(form("has a border, or does not add up from 0"));
    }
    let draft = &mut im.draft;
    let own = lengths(draft, x);
    let along = along(r, rank)?;
    let windows = Windows::new(&own, along.clone())?;
    few(windows.places)?;
    if windows.counts != lengths(draft, source) {
        return Err(form("has not one update for each window"));
    }
    if windows.counts.contains(&0) {
        return one(draft.broadcast(init, &[], &extents(&own)));
    }
    // The element that is selected so far, and for each further place whether it stays.
    let mut best = windows.part(draft, x, 0)?;
    let mut keeps = Vec::new();
    for place in 1..windows.places {
        let next = windows.part(draft, x, place)?;
        let keep = draft
            .builder()
            .compare(&direction.to_lowercase(), best, next)?;
        best = draft.make(&fusion::WHERE, &[keep, best, next])?;
        keeps.push(keep);
    }
    // From the last place to the first: updates not taken by later elements go to this one, or further to the front.
    let between: Vec<i64> = along.iter().map(|a| a.stride - 1).collect();
    let (mut left, mut all) = (source, None);
    for place in (0..windows.places).rev() {
        let mut here = left;
        if let Some(keep) = keeps.pop() {
            here = draft.make(&fusion::WHERE, &[keep, init, left])?;
            left = draft.make(&fusion::WHERE, &[keep, left, init])?;
        }
        let starts = windows.starts(place);
        let ends = own
            .iter()
            .zip(&windows.counts)
            .zip(starts.iter().zip(&between));
        let ends = ends
            .map(|((own, count), (start, between))| own - start - (count - 1) * (between + 1) - 1);
        let ends: Vec<i64> = ends.collect();
        let placed = shape::padded(draft, here, init, [&starts, &ends, &between])?;
        all = Some(match all {
            None => placed,
            Some(all) => draft.make(&fusion::ADD, &[all, placed])?,
        });
    }
    one(all.ok_or_else(|| form("has no windows")))
}

/// The amounts before and after each axis, `[[1, 0], [0, 0]]`, also as `dense<[[1, 0], [0, 0]]>`, or one number for
/// all.
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
