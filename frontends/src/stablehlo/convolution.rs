//! Import of `convolution`: its axes are put in the order of the op, `[N, C, S...]` by `[O, C, K...]`.
//!
//! The op has a separate axis for groups, of features or of the batch: an axis that contains them is split before the
//! permutation.

use fuser_dialects::fusion;
use fuser_ir::{DType, Value};

use super::Importer;
use super::ast::{Attr, Item};
use super::dot::exact;
use super::op::{self, Reading};
use super::ops::{one, output_dtype};
use super::shape::{extents, lengths};
use super::window::pairs;
use crate::program::{Draft, Fault, Made};

/// The axes of a tensor: two that are denoted by letters, and the spatial ones in order.
struct Layout {
    letters: [i64; 2],
    space: Vec<i64>,
    /// True for a kernel: groups come before filters.
    filters: bool,
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
            filters: false,
        })
    }
    /// The axes in the order of the op: both letters, space.
    fn order(&self) -> Vec<i64> {
        [&self.letters[..], &self.space].concat()
    }
    /// A kernel's layout with filters before features.
    fn turned(&self) -> Self {
        let [features, filters] = self.letters;
        Self {
            letters: [filters, features],
            space: self.space.clone(),
            filters: true,
        }
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
    let (own, sizes) = (lengths(draft, x), lengths(draft, kernel));
    let length = |list: &[i64], axis: i64| list[axis as usize];
    let [batch, features] = left.letters.map(|axis| length(&own, axis));
    let [inputs, outputs] = right.letters.map(|axis| length(&sizes, axis));
    let divides = |n: i64, by: i64| n.checked_rem(by) == Some(0);
    let fits = of_features > 0
        && of_batch > 0
        && (of_features == 1 || of_batch == 1)
        && inputs.checked_mul(of_features) == Some(features)
        && divides(batch, of_batch)
        && divides(outputs, groups);
    if !fits {
        let text = format!(
            "has {groups} groups, which do not fit a batch of {batch} with {features} features, and {inputs} features for {outputs} results"
        );
        return Err(Fault::form(text));
    }
    let (x, kernel) = (draft.computed(x)?, draft.computed(kernel)?);
    let common = draft.dtype(x);
    let to = match stated.is_storage() {
        true => stated.compute(),
        false => stated,
    };
    let terms = right.space.iter().map(|&axis| length(&sizes, axis));
    let terms = terms.fold(inputs, i64::saturating_mul).unsigned_abs();
    let whole = exact(draft, [x, kernel], terms, stated);
    let to = whole.map_or(to, |(float, _)| float);
    let fits = |dtype: DType| dtype == to || dtype.accumulate() == to;
    let wide = match common == draft.dtype(kernel) && fits(common) {
        true => common,
        false => to,
    };
    let (x, kernel) = (draft.cast(x, wide)?, draft.cast(kernel, wide)?);
    let dims: Vec<i64> = (right.space.iter().zip(&mirrored))
        .filter_map(|(axis, mirrored)| mirrored.then_some(*axis))
        .collect();
    let kernel = match dims.is_empty() {
        true => kernel,
        false => {
            let mut sorted = dims;
            sorted.sort_unstable();
            let mut b = draft.builder();
            let clause = [b.ints("dims", &sorted)];
            b.value(&fusion::FLIP, &[kernel], &clause)?
        }
    };
    // An axis of groups splits the features, the batch and the filters; it comes before the remainder of each.
    let grouped = groups != 1;
    let x = match (of_features, of_batch) {
        (1, 1) => draft.permute(x, &left.order())?,
        (1, _) => split(draft, x, &left, 0, groups)?,
        _ => split(draft, x, &left, 1, groups)?,
    };
    let kernel = match grouped {
        true => split(draft, kernel, &right.turned(), 0, groups)?,
        false => draft.permute(kernel, &right.turned().order())?,
    };
    let mut b = draft.builder();
    let lists = [
        ("strides", &strides, 1),
        ("low", &low, 0),
        ("high", &high, 0),
        ("dilation", &dilations, 1),
        ("base_dilation", &spread, 1),
    ];
    let mut clauses = Vec::new();
    if grouped {
        clauses.push(b.flag("groups"));
    }
    for (name, list, default) in lists {
        if list.iter().any(|n| *n != default) {
            clauses.push(b.ints(name, list));
        }
    }
    if wide != to {
        clauses.push(b.dtype("to", to));
    }
    let mut made = b.value(&fusion::CONVOLUTION, &[x, kernel], &clauses)?;
    if let Some((_, between)) = whole {
        made = draft.cast(made, between)?;
    }
    let mut order = vec![0; rank + 2];
    let around = [&out.letters[..], &out.space].concat();
    for (from, to) in around.into_iter().enumerate() {
        order[to as usize] = from as i64;
    }
    if !grouped {
        made = draft.permute(made, &order)?;
        return one(super::ops::converted(draft, made, stated));
    }
    // [N, G, O, R...]: filters of a group come after the group, and the axes are reordered before the two are merged.
    let shape = lengths(draft, made);
    let mut apart = Vec::new();
    for axis in &order {
        match axis {
            0 => apart.push(0),
            1 => apart.extend([1, 2]),
            axis => apart.push(axis + 1),
        }
    }
    made = draft.permute(made, &apart)?;
    let merged = order.iter().map(|axis| match axis {
        0 => shape[0],
        1 => shape[1] * shape[2],
        axis => shape[*axis as usize + 1],
    });
    let merged: Vec<i64> = merged.collect();
    made = draft.reshape(made, &extents(&merged))?;
    one(super::ops::converted(draft, made, stated))
}

/// `[N, G, C, S...]` for a tensor whose axis with letter `which` contains the groups; `[G, O, C, K...]` for a kernel
/// with the letters of filters and features.
fn split(draft: &mut Draft, x: Value, layout: &Layout, which: usize, groups: i64) -> Made {
    let own = lengths(draft, x);
    let axis = layout.letters[which];
    let mut shape = own.clone();
    shape.splice(
        axis as usize..=axis as usize,
        [groups, own[axis as usize] / groups],
    );
    let x = draft.reshape(x, &extents(&shape))?;
    // The groups take the position of the axis, and its remainder comes after them.
    let place = |at: i64| at + i64::from(at > axis);
    let [first, second] = layout.letters.map(place);
    let rest = [first, second].map(|at| at + i64::from(at == axis));
    let space = layout.space.iter().map(|at| place(*at));
    let front = match layout.filters {
        true => [axis, rest[0], rest[1]],
        false => [rest[0], axis, rest[1]],
    };
    draft.permute(x, &front.into_iter().chain(space).collect::<Vec<_>>())
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
