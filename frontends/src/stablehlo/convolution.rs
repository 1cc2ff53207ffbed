//! `convolution` as a product of matrices: the elements under each window are a row, the kernel is a matrix.
//!
//! ```text
//! x: [b, 9, 9, f], kernel 3x3, stride 2   ->  9 parts [b, 4, 4, f], one of each place of the kernel
//! one beside the other                        [b, 4, 4, 9*f]
//! kernel                                      [9*f, o]                  matmul -> [b, 4, 4, o]
//! ```
//!
//! A kernel with more places than the result has, as in the gradient of a kernel, gives one part for each place of the result:
//! the rows are the same.
//!
//! With groups, of features or of the batch, the product has a batch axis of groups. A kernel with one place costs no more than its product; one with many
//! reads the input as often as it has places.

use fuser_dialects::fusion;
use fuser_ir::Value;

use super::Importer;
use super::ast::{Attr, Item};
use super::dot::{Side, contracted};
use super::op::{self, Reading};
use super::ops::{one, output_dtype};
use super::shape::{self, extents, lengths};
use super::window::{Along, Windows, few, pairs};
use crate::program::{Fault, Made};

/// The axes of a tensor: two that have a letter, and those of space in order.
struct Layout {
    letters: [i64; 2],
    space: Vec<i64>,
}

impl Layout {
    /// `[b, 0, 1, f]` with the letters `b` and `f`.
    fn new(labels: &[&str], letters: [&str; 2]) -> Option<Self> {
        let find = |label: &str| Some(labels.iter().position(|l| *l == label)? as i64);
        let rank = labels.len().checked_sub(2)?;
        let space: Option<Vec<i64>> = (0..rank).map(|at| find(&at.to_string())).collect();
        Some(Self {
            letters: [find(letters[0])?, find(letters[1])?],
            space: space?,
        })
    }
    /// The axes in the order of the first letter, space, the second letter.
    fn around(&self) -> Vec<i64> {
        let [first, last] = self.letters;
        [&[first][..], &self.space, &[last]].concat()
    }
}

/// The three lists of labels, `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.
fn labels<'s>(r: &Reading<'s>) -> Option<Vec<Vec<&'s str>>> {
    if let Some(text) = r.attr(&["dimension_numbers"]).and_then(op::atom) {
        let lists = r.text(text).split('[').skip(1);
        let inside = lists.map(|list| list.split(']').next().unwrap_or(""));
        return Some(
            inside
                .map(|l| l.split(',').map(str::trim).collect())
                .collect(),
        );
    }
    let lists = r.op.items.iter().filter_map(|item| match item {
        Item::Named(_, Attr::List(list)) | Item::Attr(Attr::List(list)) => Some(list),
        _ => None,
    });
    let texts = lists.map(|list| list.iter().map(|a| Some(r.text(op::atom(a)?))).collect());
    texts.collect()
}

/// `stablehlo.convolution`
pub fn convolution(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let form = |text: &str| Fault::form(text.to_owned());
    let (x, kernel) = (r.operand(0)?, r.operand(1)?);
    let labels = labels(r).unwrap_or_default();
    let [left, right, out, ..] = labels.as_slice() else {
        return Err(form(
            "has no `dim_numbers` of the form `[b, 0, f]x[0, i, o]->[b, 0, f]`",
        ));
    };
    let layouts = (
        Layout::new(left, ["b", "f"]),
        Layout::new(right, ["i", "o"]),
        Layout::new(out, ["b", "f"]),
    );
    let (Some(left), Some(right), Some(out)) = layouts else {
        return Err(form("labels axes twice, or not all of them"));
    };
    let ranks = [(&left, x), (&right, kernel)];
    let rank = left.space.len();
    if ranks
        .iter()
        .any(|(l, v)| l.space.len() != rank || im.draft.dims(*v).len() != rank + 2)
        || out.space.len() != rank
    {
        return Err(form("labels axes that its operands have not"));
    }
    let numbers = |names: &[&str], default: i64| -> Made<Vec<i64>> {
        let found = match r.attr(names) {
            Some(attr) => r.numbers(attr),
            None => Some(vec![default; rank]),
        };
        let found = found.filter(|list| list.len() == rank && list.iter().all(|n| *n >= default));
        found.ok_or_else(|| {
            Fault::form(format!(
                "`{}` has not {rank} numbers from {default} on",
                names[0]
            ))
        })
    };
    let strides = numbers(&["stride", "window_strides"], 1)?;
    let spread = numbers(&["lhs_dilate", "lhs_dilation"], 1)?;
    let dilations = numbers(&["rhs_dilate", "rhs_dilation"], 1)?;
    let [low, high] = pairs(r, &["pad", "padding"], rank)?;
    let group = |name: &str| r.attr(&[name]).map_or(Ok(1), |_| r.int(&[name]));
    let of_features = group("feature_group_count")?;
    let of_batch = group("batch_group_count")?;
    let groups = of_features.saturating_mul(of_batch);
    let mirrored = mirrored(r, rank).ok_or_else(|| form("`reverse` is no list of truth values"))?;

    let stated = output_dtype(im, r)?;
    let draft = &mut im.draft;
    let zero = draft.ir.scalar(draft.dtype(x));
    let zero = draft.number(0.0, zero)?;
    let x = draft.permute(x, &left.around())?;
    let kernel = draft.permute(kernel, &[&right.space[..], &right.letters].concat())?;
    let dims: Vec<i64> = (0..rank as i64)
        .filter(|at| mirrored[*at as usize])
        .collect();
    let kernel = match dims.is_empty() {
        true => kernel,
        false => {
            let mut b = draft.builder();
            let clause = [b.ints("dims", &dims)];
            b.value(&fusion::FLIP, &[kernel], &clause)?
        }
    };
    let around = |list: &[i64], edge: i64| [&[edge][..], list, &[edge]].concat();
    let between: Vec<i64> = spread.iter().map(|n| n - 1).collect();
    let pads = [around(&low, 0), around(&high, 0), around(&between, 0)];
    let x = shape::padded(draft, x, zero, [&pads[0], &pads[1], &pads[2]])?;

    let (own, sizes) = (lengths(draft, x), lengths(draft, kernel));
    let (features, inputs, outputs) = (own[rank + 1], sizes[rank], sizes[rank + 1]);
    let divides = |n: i64, by: i64| n.checked_rem(by) == Some(0);
    let fits = of_features > 0
        && of_batch > 0
        && (of_features == 1 || of_batch == 1)
        && inputs.checked_mul(of_features) == Some(features)
        && divides(own[0], of_batch)
        && divides(outputs, groups);
    if !fits {
        let text = format!(
            "has {groups} groups, which do not fit a batch of {} with {features} features, and {inputs} features for {outputs} results",
            own[0]
        );
        return Err(Fault::form(text));
    }
    let edge = |size: i64| Along {
        size,
        stride: 1,
        dilation: 1,
    };
    let along = (0..rank).map(|at| Along {
        size: sizes[at],
        stride: strides[at],
        dilation: dilations[at],
    });
    let along: Vec<Along> = along.collect();
    let windows = |edges: [i64; 2]| {
        let [first, last] = edges.map(edge);
        let all = [&[first], along.as_slice(), &[last]].concat();
        Windows::new(&own, all)
    };
    let by_place = windows([1, 1])?;
    let (places, space) = (by_place.places, &by_place.counts[1..=rank]);
    let results = space.iter().fold(1i64, |all, n| all.saturating_mul(*n));
    // A window has the whole batch and all features.
    let by_window = match (1..places).contains(&results) && !own.contains(&0) {
        true => Some(windows([own[0], own[rank + 1]])?),
        false => None,
    };
    few(by_window.as_ref().map_or(places, |_| results))?;
    let terms = places.checked_mul(inputs);
    let terms = terms.ok_or_else(|| form("has a kernel that is too large"))?;
    let batch = match of_batch {
        1 => vec![own[0]],
        groups => vec![groups, own[0] / groups],
    };
    let group = match of_features {
        1 => vec![inputs],
        groups => vec![groups, inputs],
    };
    // Parts for each place of the kernel, in the order of its elements, or for each window.
    let place = (batch.len() + rank) as i64;
    let ones = vec![1; rank];
    let (parts, outer, inner, along) = match &by_window {
        None => (places, space, 1, place),
        Some(_) => (results, ones.as_slice(), places, batch.len() as i64),
    };
    let shape = [&batch[..], outer, &[inner], &group].concat();
    let part = |number: i64| {
        let part = match &by_window {
            None => by_place.part(draft, x, number)?,
            Some(windows) => windows.window(draft, x, number)?,
        };
        draft.reshape(part, &extents(&shape))
    };
    let parts: Vec<Value> = (0..parts).map(part).collect::<Made<_>>()?;
    // Rows of places and features; the kernel has the same in front.
    let rows = match parts.as_slice() {
        [part] => *part,
        parts => {
            let mut b = draft.builder();
            let clause = [b.int("dim", along)];
            b.value(&fusion::CAT, parts, &clause)?
        }
    };
    let rows = draft.reshape(
        rows,
        &extents(&[&batch[..], space, &[places], &group].concat()),
    )?;
    let rows = match (groups, of_batch) {
        (1, _) => {
            let shape = [&batch[..], space, &[terms]].concat();
            Side::new(draft.reshape(rows, &extents(&shape))?, &[], &[place])
        }
        (_, 1) => Side::new(rows, &[place + 1], &[place, place + 2]),
        _ => Side::new(rows, &[0], &[place, place + 1]),
    };
    let kernel = match groups {
        1 => Side::new(
            draft.reshape(kernel, &extents(&[terms, outputs]))?,
            &[],
            &[0],
        ),
        _ => {
            let shape = [places, inputs, groups, outputs / groups];
            Side::new(draft.reshape(kernel, &extents(&shape))?, &[2], &[0, 1])
        }
    };
    let mut made = contracted(draft, rows, kernel, stated)?;
    if groups != 1 {
        // The groups stand in front.
        let free = rank as i64 + 1;
        let order: Vec<i64> = (1..=free).chain([0, free + 1]).collect();
        made = draft.permute(made, &order)?;
        let shape = [&[own[0] / of_batch][..], space, &[outputs]].concat();
        made = draft.reshape(made, &extents(&shape))?;
    }
    let mut order = vec![0; rank + 2];
    for (from, to) in out.around().into_iter().enumerate() {
        order[to as usize] = from as i64;
    }
    one(draft.permute(made, &order))
}

/// For each axis of space, whether the kernel is mirrored along it.
fn mirrored(r: &Reading<'_>, rank: usize) -> Option<Vec<bool>> {
    let Some(attr) = r.attr(&["reverse", "window_reversal"]) else {
        return Some(vec![false; rank]);
    };
    let text = match attr {
        Attr::List(list) => list
            .iter()
            .map(|a| Some(r.text(op::atom(a)?)))
            .collect::<Option<Vec<_>>>()?,
        attr => {
            let text = r.text(op::atom(attr)?).trim_end_matches('>');
            let list = text.split_once(':').map_or("", |(_, list)| list);
            list.split(',').map(str::trim).collect()
        }
    };
    let flags: Option<Vec<bool>> = text.into_iter().map(|word| word.parse().ok()).collect();
    flags.filter(|flags| flags.len() == rank)
}
