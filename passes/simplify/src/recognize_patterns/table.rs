//! The ops that executors know, the ops that they are made of, and how one takes their place.
//!
//! | op | made of | besides |
//! |---|---|---|
//! | `sdpa` | products of queries and keys, scaled, with a bias, a mask or keys behind the query left out; their softmax; its product with values | one batch of heads; the sum of the weights divides them, or what they weigh |
//! | `linear` | a product, and a bias along its last axis | the weights are a matrix |
//! | `matmul` | two factors multiplied and summed along one axis | each factor has an axis of its own, or one has rank 1 |
//!
//! Axes stand in any order: a factor is permuted to the order of the op, and the result back. A factor that lacks an axis of the batch repeats along
//! it. Elements are of the narrowest type that all operands have behind casts which lose nothing.
//!
//! Scores that a mask replaces by a number of at most `-1e4` become scores with a bias, if each other score is above half of that number; keys behind
//! the query are left out then, as each query has its own key.

use fuser_analysis::axes::value_text;
use fuser_dialects::fusion;
use fuser_dialects::fusion::build::{FusionBuilder, float_attr};
use fuser_ir::build::Builder;
use fuser_ir::def::OpError;
use fuser_ir::{DType, Dim, Extent, Ir, Op, OpDef, Value};

use super::matching::{Axis, Found, Reading, Slot, Term, constant, leaf, number, source};

/// A row of the table.
pub struct Row {
    /// The name of the op, for people.
    pub name: &'static str,
    /// The patterns that it may be: a `linear` without a bias is a product.
    pub names: &'static [&'static str],
    /// The op.
    pub op: &'static OpDef,
    /// The ops that it is made of.
    pub term: &'static Term,
    /// Creates the op before the root, and returns the replacement of the root's result.
    pub make: fn(&mut Builder<'_>, Op, &Found) -> Made,
}

/// The created value; an error without text means that the row does not apply.
pub type Made = Result<Value, Option<String>>;

/// Every row; the first that fits is taken.
pub static ROWS: &[Row] = &[
    Row {
        name: "sdpa",
        names: &["sdpa"],
        op: &fusion::SDPA,
        term: &ATTENDED,
        make: sdpa,
    },
    Row {
        name: "linear",
        names: &["linear"],
        op: &fusion::LINEAR,
        term: &LINEAR,
        make: linear,
    },
    Row {
        name: "matmul",
        names: &["matmul", "linear"],
        op: &fusion::MATMUL,
        term: &MATMUL,
        make: matmul,
    },
];

static MATMUL: Term = Term::Along(
    &fusion::SUM,
    Axis::Terms,
    &Term::Of(&fusion::MUL, &[&FIRST, &SECOND]),
);
static LINEAR: Term = Term::Of(&fusion::ADD, &[&PRODUCT, &Term::Operand(Slot::Bias)]);

static FIRST: Term = Term::Operand(Slot::First);
static SECOND: Term = Term::Operand(Slot::Second);
static PRODUCT: Term = Term::Product(Axis::Terms, [&FIRST, &SECOND]);
static NOTHING: Term = Term::Exactly(f64::NEG_INFINITY);
static ZERO: Term = Term::Exactly(0.0);

static SCALE: Term = Term::Number(Slot::Scale);
static DIVISOR: Term = Term::Number(Slot::Divisor);
/// A number of terms that has a name.
static ROOT: Term = Term::Of(&fusion::SQRT, &[&Term::Length(Axis::Terms)]);
static OVER_ROOT: Term = Term::Either(&[
    &Term::Of(&fusion::RSQRT, &[&Term::Length(Axis::Terms)]),
    &Term::Of(&fusion::DIV, &[&Term::Exactly(1.0), &ROOT]),
    &Term::Of(&fusion::RECIPROCAL, &[&ROOT]),
]);
static BY_ROOT: Term = Term::Beside(&Term::Named(Slot::Root, &ROOT));
static BY_OVER_ROOT: Term = Term::Beside(&Term::Named(Slot::Root, &OVER_ROOT));
/// The scale may be applied to the queries or to the keys; the scaled value may have other users.
static SCALED_FIRST: Term = Term::Beside(&Term::Either(&[
    &Term::Of(&fusion::MUL, &[&FIRST, &SCALE]),
    &Term::Of(&fusion::DIV, &[&FIRST, &DIVISOR]),
    &Term::Of(&fusion::MUL, &[&FIRST, &BY_OVER_ROOT]),
    &Term::Of(&fusion::DIV, &[&FIRST, &BY_ROOT]),
]));
static SCALED: Term = Term::Either(&[
    &Term::Of(&fusion::MUL, &[&PRODUCT, &SCALE]),
    &Term::Of(&fusion::DIV, &[&PRODUCT, &DIVISOR]),
    &Term::Of(&fusion::MUL, &[&PRODUCT, &BY_OVER_ROOT]),
    &Term::Of(&fusion::DIV, &[&PRODUCT, &BY_ROOT]),
    &Term::Product(Axis::Terms, [&SCALED_FIRST, &SECOND]),
    &PRODUCT,
]);
/// Some frontends have a number in the place of `-inf`.
static LEFT_OUT: Term = Term::Either(&[&NOTHING, &Term::Number(Slot::Low)]);
static LEFT_BEHIND: Term = Term::Either(&[&NOTHING, &Term::Number(Slot::LowBehind)]);
static BIASED: Term = Term::Either(&[
    &Term::Of(
        &fusion::WHERE,
        &[&Term::Operand(Slot::Mask), &SCALED, &LEFT_OUT],
    ),
    &Term::Of(
        &fusion::WHERE,
        &[&Term::Operand(Slot::Hidden), &LEFT_OUT, &SCALED],
    ),
    &Term::Of(&fusion::ADD, &[&SCALED, &Term::Operand(Slot::Bias)]),
    &SCALED,
]);
/// JAX adds 0 to one of them.
static QUERY: Term = Term::Beside(&Term::Either(&[
    &Term::Index(Slot::Query),
    &Term::Of(&fusion::ADD, &[&Term::Index(Slot::Query), &ZERO]),
]));
static KEY: Term = Term::Index(Slot::Key);
static IS_SEEN: Term = Term::Either(&[
    &Term::Compared("le", [&KEY, &QUERY]),
    &Term::Compared("ge", [&QUERY, &KEY]),
]);
static IS_BEHIND: Term = Term::Either(&[
    &Term::Compared("gt", [&KEY, &QUERY]),
    &Term::Compared("lt", [&QUERY, &KEY]),
]);
static TRUE: Term = Term::Exactly(1.0);
static FALSE: Term = Term::Exactly(0.0);
/// A triangle cut out of truth values, and one among several masks.
static TRIANGLE: Term = Term::Either(&[
    &IS_SEEN,
    &Term::Beside(&Term::Of(&fusion::WHERE, &[&IS_SEEN, &TRUE, &FALSE])),
]);
static SEEN: Term = Term::Either(&[
    &TRIANGLE,
    &Term::Beside(&Term::Of(&fusion::AND, &[&TRIANGLE, &TRUE])),
]);
static BEHIND: Term = Term::Either(&[
    &IS_BEHIND,
    &Term::Beside(&Term::Of(&fusion::WHERE, &[&IS_SEEN, &FALSE, &TRUE])),
]);
static CAUSAL: Term = Term::Either(&[
    &Term::Of(&fusion::WHERE, &[&SEEN, &BIASED, &LEFT_BEHIND]),
    &Term::Of(&fusion::WHERE, &[&BEHIND, &LEFT_BEHIND, &BIASED]),
    &BIASED,
]);
static SCORES: Term = Term::Named(Slot::Scores, &CAUSAL);
static MAX: Term = Term::Along(&fusion::MAX, Axis::Keys, &SCORES);
/// Some frontends reduce from `-inf` on, and say so.
static GREATEST: Term = Term::Either(&[&Term::Of(&fusion::MAXIMUM, &[&MAX, &NOTHING]), &MAX]);
static IS_LOWEST: Term = Term::Named(Slot::Lowest, &Term::Compared("eq", [&GREATEST, &NOTHING]));
static BASE: Term = Term::Either(&[
    &Term::Of(&fusion::WHERE, &[&IS_LOWEST, &ZERO, &GREATEST]),
    &GREATEST,
]);
static WEIGHTS: Term = Term::Named(
    Slot::Weights,
    &Term::Of(&fusion::EXP, &[&Term::Alike(&BELOW)]),
);
static BELOW: Term = Term::Of(&fusion::SUB, &[&SCORES, &BASE]);
static TOTAL: Term = Term::Along(&fusion::SUM, Axis::Keys, &WEIGHTS);
static IS_EMPTY: Term = Term::Named(Slot::Empty, &Term::Compared("eq", [&TOTAL, &ZERO]));
static VALUES: Term = Term::Operand(Slot::Values);
/// Divided before the values are weighted.
static SOFTMAX: Term = Term::Of(&fusion::DIV, &[&WEIGHTS, &TOTAL]);
static GUARDED: Term = Term::Either(&[
    &Term::Of(&fusion::WHERE, &[&IS_EMPTY, &ZERO, &SOFTMAX]),
    &SOFTMAX,
]);
/// Divided behind that.
static QUOTIENT: Term = Term::Of(
    &fusion::DIV,
    &[&Term::Product(Axis::Keys, [&WEIGHTS, &VALUES]), &TOTAL],
);
static ATTENDED: Term = Term::Either(&[
    &Term::Product(Axis::Keys, [&GUARDED, &VALUES]),
    &Term::Of(&fusion::WHERE, &[&IS_EMPTY, &ZERO, &QUOTIENT]),
    &QUOTIENT,
]);

/// Ops that give an element of one of their operands.
static CHOOSING: [&OpDef; 3] = [&fusion::MAX, &fusion::MAXIMUM, &fusion::WHERE];

/// True of an op of a pattern that rounds nothing, as it chooses.
pub fn is_a_choice(ir: &Ir, op: Op) -> bool {
    CHOOSING.iter().any(|def| ir.is(op, def))
}

/// True of a factor or divisor that is a power of two, of a type with the range of the one that accumulates.
pub fn scales_exactly(ir: &Ir, op: Op, dtype: DType) -> bool {
    let scales = ir.is(op, &fusion::MUL) || ir.is(op, &fusion::DIV);
    let is_power = |value: Value| {
        let number = constant(ir, op, value);
        number.is_some_and(|x| x != 0.0 && x.is_finite() && x.to_bits() << 12 == 0)
    };
    let second = ir.operands(op).skip(1).any(is_power);
    scales
        && dtype == DType::BF16
        && (second || ir.is(op, &fusion::MUL) && is_power(ir.operand(op, 0)))
}

/// The greatest number that counts as `-inf`. A key with such a score has weight zero, also in f64, next to any score
/// above half of it.
const LOW: f64 = -1e4;
/// `-2^120`: scores above `-2^66` vanish beside it in f64, and scores above `-2^95` in f32.
const LOWEST: f64 = -1.329_227_995_784_916e36;

fn built<T>(result: Result<T, OpError>) -> Result<T, Option<String>> {
    result.map_err(|error| Some(error.message))
}

fn because<T>(text: &str) -> Result<T, Option<String>> {
    Err(Some(text.into()))
}

fn dtype(ir: &Ir, value: Value) -> Option<DType> {
    ir.value_kind(value).dtype()
}

/// The operands in the narrowest type that all of them have and from which `to` is computed without another rounding.
fn operands<const N: usize>(
    ir: &Ir,
    root: Op,
    found: &Found,
    (slots, widened): ([Slot; N], bool),
) -> Result<(DType, [Reading; N]), Option<String>> {
    let to = dtype(ir, ir.result(root, 0)).ok_or(None)?;
    if !to.is_computed_float() {
        return because("its result is no float");
    }
    for own in [DType::BF16, DType::F16, DType::F32, DType::F64] {
        if own != to && !(widened && own.accumulate() == to) {
            continue;
        }
        let read = |slot: Slot| leaf(ir, root, found.get(slot)?, own);
        let all: Option<Vec<Reading>> = slots.iter().map(|&slot| read(slot)).collect();
        let Some(all) = all.and_then(|all| <[Reading; N]>::try_from(all).ok()) else {
            continue;
        };
        let wide = own.accumulate().bits();
        let wider = found.inner.iter().flat_map(|&op| ir.results(op));
        let wider = wider.filter_map(|&value| dtype(ir, value));
        return match wider.filter(|d| d.is_float()).any(|d| d.bits() > wide) {
            true => because(&format!(
                "computes in a wider type than {}",
                own.accumulate().name()
            )),
            false => Ok((own, all)),
        };
    }
    let name = to.name();
    because(&format!(
        "its operands are not all {name}, as its result is"
    ))
}

/// The value of `at` with one axis for each of these iterators, in their order.
fn fitted(b: &mut Builder<'_>, found: &Found, at: &Reading, wanted: &[usize]) -> Made {
    let of = |iter: usize| wanted.iter().position(|&own| own == iter);
    let gone = (0..at.axes.len()).filter(|&axis| at.axes[axis].is_none());
    let gone: Vec<i64> = gone.map(|axis| axis as i64).collect();
    let places = at.axes.iter().flatten().map(|&iter| of(iter));
    let Some(places) = places.collect::<Option<Vec<usize>>>() else {
        return because("an operand varies along an axis of others");
    };
    let mut value = at.value;
    if !gone.is_empty() {
        let dims = b.ints("dims", &gone);
        value = built(b.value(&fusion::SQUEEZE, &[value], &[dims]))?;
    }
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|&axis| places[axis]);
    value = permuted(b, value, &order)?;
    if places.len() == wanted.len() {
        return Ok(value);
    }
    let mut dims: Vec<i64> = places.iter().map(|&place| place as i64).collect();
    dims.sort_unstable();
    let shape: Vec<Dim> = wanted.iter().map(|&iter| found.extents[iter]).collect();
    built(b.broadcast(value, &dims, &shape))
}

fn permuted(b: &mut Builder<'_>, value: Value, order: &[usize]) -> Made {
    if order.is_sorted() {
        return Ok(value);
    }
    let dims: Vec<i64> = order.iter().map(|&axis| axis as i64).collect();
    let dims = b.ints("dims", &dims);
    built(b.value(&fusion::PERMUTE, &[value], &[dims]))
}

/// `value`, whose axes are these iterators of the result, with all of the result's axes in their order.
fn restored(b: &mut Builder<'_>, root: Op, found: &Found, value: Value, own: &[usize]) -> Made {
    let axes = own.iter().map(|&iter| Some(iter)).collect();
    let all: Vec<usize> = (0..b.ir.rank(b.ir.result(root, 0))).collect();
    fitted(b, found, &Reading { value, axes }, &all)
}

/// The iterators of the result along which some operand varies; iterators of extent 1 are omitted.
fn varying(
    b: &Builder<'_>,
    root: Op,
    found: &Found,
    operands: &[&Reading],
) -> Result<Vec<usize>, Option<String>> {
    let all = 0..b.ir.rank(b.ir.result(root, 0));
    let has = |iter: usize| operands.iter().any(|at| at.has(iter));
    let (own, idle): (Vec<usize>, Vec<usize>) = all.partition(|&iter| has(iter));
    match idle
        .iter()
        .all(|&iter| found.extents[iter].extent == Extent::Static(1))
    {
        true => Ok(own),
        false => because("its result repeats along an axis that no operand has"),
    }
}

/// The clause `to`, where the result is in the type that accumulates.
fn product(
    b: &mut Builder<'_>,
    root: Op,
    def: &'static OpDef,
    operands: &[Value],
    own: DType,
) -> Made {
    let to = dtype(b.ir, b.ir.result(root, 0)).ok_or(None)?;
    let wide = b.dtype("to", to);
    let clauses = if to == own {
        &[][..]
    } else {
        std::slice::from_ref(&wide)
    };
    built(b.value(def, operands, clauses))
}

/// The last of the longest of these iterators; an unknown length counts as the longest.
fn longest(found: &Found, own: &[usize]) -> Option<usize> {
    let length = |iter: usize| match found.extents[iter].extent {
        Extent::Static(length) => length,
        _ => u64::MAX,
    };
    own.iter().copied().max_by_key(|&iter| length(iter))
}

/// The axes of the result by the factors that have them.
struct Axes {
    rows: Vec<usize>,
    columns: Vec<usize>,
    shared: Vec<usize>,
}

impl Axes {
    fn of(all: &[usize], left: &Reading, right: &Reading) -> Self {
        let of = |in_left, in_right| {
            let is_own = |&iter: &usize| left.has(iter) == in_left && right.has(iter) == in_right;
            all.iter().copied().filter(is_own).collect()
        };
        Self {
            rows: of(true, false),
            columns: of(false, true),
            shared: of(true, true),
        }
    }
}

fn matmul(b: &mut Builder<'_>, root: Op, found: &Found) -> Made {
    let terms = found.axis(Axis::Terms).ok_or(None)?;
    let all: Vec<usize> = (0..b.ir.rank(b.ir.result(root, 0))).collect();
    let slots = [Slot::First, Slot::Second];
    let read = slots.map(|slot| found.get(slot).map(|at| source(b.ir, root, at)));
    let [Some(left), Some(right)] = &read else {
        return Err(None);
    };
    // A factor by a factor, a row by a row: a sum, and no product of matrices.
    let axes = Axes::of(&all, left, right);
    let is_thin = axes.rows.is_empty() || axes.columns.is_empty();
    if !left.has(terms) || !right.has(terms) || (is_thin && !axes.shared.is_empty()) {
        return Err(None);
    }
    let (own, [mut left, mut right]) = operands(b.ir, root, found, (slots, true))?;
    let all = varying(b, root, found, &[&left, &right])?;
    // The last axis of the result is one of the columns if it is of one factor only.
    if all.last().is_some_and(|&last| !right.has(last)) {
        std::mem::swap(&mut left, &mut right);
    }
    let Axes { rows, columns, .. } = Axes::of(&all, &left, &right);
    let (row, column) = (longest(found, &rows), longest(found, &columns));
    let is_batch = |iter: &usize| Some(*iter) != row && Some(*iter) != column;
    let batch: Vec<usize> = all.into_iter().filter(is_batch).collect();
    let varies = |at: &Reading| batch.iter().any(|&iter| at.has(iter));
    let (varies_left, varies_right) = (varies(&left), varies(&right));
    // Where both vary along the batch, each has all of it.
    let both = varies_left && varies_right;
    let of = |varies: bool| if both || varies { &batch[..] } else { &[] };
    let a = [of(varies_left), row.as_slice(), &[terms]].concat();
    let c = [of(varies_right), &[terms], column.as_slice()].concat();
    let factors = [fitted(b, found, &left, &a)?, fitted(b, found, &right, &c)?];
    let value = product(b, root, &fusion::MATMUL, &factors, own)?;
    restored(
        b,
        root,
        found,
        value,
        &[&batch[..], row.as_slice(), column.as_slice()].concat(),
    )
}

fn linear(b: &mut Builder<'_>, root: Op, found: &Found) -> Made {
    let terms = found.axis(Axis::Terms).ok_or(None)?;
    let bias = found.get(Slot::Bias).ok_or(None)?;
    let along = leaf(b.ir, root, bias, dtype(b.ir, bias.value).ok_or(None)?);
    // A sum with a tensor or a number is no bias.
    let [Some(column)] = along.ok_or(None)?.axes[..] else {
        return Err(None);
    };
    let slots = [Slot::First, Slot::Second, Slot::Bias];
    let (own, [left, right, bias]) = operands(b.ir, root, found, (slots, true))?;
    let is_weight = |at: &&Reading| at.axes.len() == 2 && at.has(column) && at.has(terms);
    let (x, weight) = match (is_weight(&&left), is_weight(&&right)) {
        (true, false) => (right, left),
        (false, true) => (left, right),
        _ => return because("its weights are no matrix of the bias's axis and the terms"),
    };
    let others = varying(b, root, found, &[&x, &weight])?;
    let others: Vec<usize> = others.into_iter().filter(|&iter| iter != column).collect();
    let operands = [
        fitted(b, found, &x, &[&others[..], &[terms]].concat())?,
        fitted(b, found, &weight, &[column, terms])?,
        fitted(b, found, &bias, &[column])?,
    ];
    let value = product(b, root, &fusion::LINEAR, &operands, own)?;
    restored(b, root, found, value, &[&others[..], &[column]].concat())
}

fn sdpa(b: &mut Builder<'_>, root: Op, found: &Found) -> Made {
    let axis = |axis| found.axis(axis).ok_or(None);
    let (terms, keys) = (axis(Axis::Terms)?, axis(Axis::Keys)?);
    let slots = [Slot::First, Slot::Second, Slot::Values];
    let (own, [mut q, mut k, v]) = operands(b.ir, root, found, (slots, false))?;
    if q.has(keys) {
        std::mem::swap(&mut q, &mut k);
    }
    if q.has(keys) || !k.has(keys) || !v.has(keys) {
        return because("keys and values do not share one axis");
    }
    let all = varying(b, root, found, &[&q, &k, &v])?;
    // Of axes that only one operand has, the longest one; the others are batch axes along which the operands without them repeat.
    let only = |own: &Reading, others: [&Reading; 2]| {
        let is_own = |&iter: &usize| own.has(iter) && others.iter().all(|at| !at.has(iter));
        all.iter().copied().filter(is_own).collect::<Vec<usize>>()
    };
    let (mut queries, values) = (only(&q, [&k, &v]), only(&v, [&q, &k]));
    let seen = found.get(Slot::Query).and_then(|at| at.axes[0]);
    if let Some(seen) = seen {
        queries.retain(|&iter| iter == seen);
    }
    let (query, value) = (longest(found, &queries), longest(found, &values));
    let (Some(query), Some(value)) = (query, value) else {
        return because("queries and values have no axis of their own");
    };
    let is_batch = |&iter: &usize| iter != query && iter != value;
    let batch: Vec<usize> = all.into_iter().filter(is_batch).collect();
    let with = |last: [usize; 2]| [&batch[..], &last].concat();
    let mut operands = vec![
        fitted(b, found, &q, &with([query, terms]))?,
        fitted(b, found, &k, &with([keys, terms]))?,
        fitted(b, found, &v, &with([keys, value]))?,
    ];
    for slot in [Slot::Low, Slot::LowBehind] {
        let Some(at) = found.get(slot) else { continue };
        if number(b.ir, at.value).is_none_or(|number| number > LOW) {
            return because(&format!("{} is not -inf", value_text(b.ir, at.value)));
        }
    }
    operands.extend(bias(b, root, (found, own), (&batch, query, keys))?);
    let is_masked = found.get(Slot::Mask).or(found.get(Slot::Hidden)).is_some();
    let is_guarded = found
        .get(Slot::Empty)
        .and(found.get(Slot::Lowest))
        .is_some();
    if is_masked && !is_guarded && found.get(Slot::Low).is_none() {
        return because("a row that its mask leaves out is NaN, not 0");
    }
    let is_biased = is_masked || found.get(Slot::Bias).is_some();
    if let Some(at) = found.get(Slot::LowBehind).filter(|_| is_biased) {
        return because(&format!(
            "keys behind the query count where no score is above {}",
            value_text(b.ir, at.value)
        ));
    }
    if let Some(at) = found
        .get(Slot::Key)
        .filter(|at| at.axes[..] != [Some(keys)])
    {
        let at = value_text(b.ir, at.value);
        return because(&format!("{at} is not the index of the keys"));
    }
    let mut clauses = Vec::new();
    // Without a scale it is one over the root of the number of terms.
    if found.get(Slot::Root).is_none() {
        let (factor, compute) = (scale(b.ir, found), b.ir.scalar(own.accumulate()));
        clauses.push(("scale", float_attr(b.ir, factor, compute)));
    }
    clauses.extend(seen.map(|_| b.flag("causal")));
    let made = built(b.value(&fusion::SDPA, &operands, &clauses))?;
    restored(b, root, found, made, &with([query, value]))
}

/// The bias or mask of attention, if it has one.
fn bias(
    b: &mut Builder<'_>,
    root: Op,
    (found, to): (&Found, DType),
    (batch, query, keys): (&[usize], usize, usize),
) -> Result<Option<Value>, Option<String>> {
    let slots = [
        (Slot::Bias, to),
        (Slot::Mask, DType::I1),
        (Slot::Hidden, DType::I1),
    ];
    for (slot, own) in slots {
        let Some(at) = found.get(slot) else { continue };
        let Some(at) = leaf(b.ir, root, at, own) else {
            return because(&format!(
                "its bias is no {}, as the queries are",
                own.name()
            ));
        };
        let wanted = match batch.iter().any(|&iter| at.has(iter)) {
            true => [batch, &[query, keys]].concat(),
            false => vec![query, keys],
        };
        let value = fitted(b, found, &at, &wanted)?;
        if slot != Slot::Bias && found.get(Slot::Low).is_some() {
            return lowered(b, value, slot == Slot::Hidden, to).map(Some);
        }
        return match slot {
            Slot::Hidden => built(b.unary(&fusion::NOT, value)).map(Some),
            _ => Ok(Some(value)),
        };
    }
    Ok(None)
}

/// A bias that leaves out what a mask of a number in the place of `-inf` does: added to a score it is itself, so that a row which leaves out
/// all keys is their mean here, too.
fn lowered(b: &mut Builder<'_>, mask: Value, hides: bool, to: DType) -> Made {
    if to == DType::F16 {
        return because(
            "a row that its mask leaves out is a mean, and no f16 is low enough for that",
        );
    }
    let ty = b.ir.scalar(to);
    let zero = built(b.constant_float(0.0, ty))?;
    let lowest = built(b.constant_float(LOWEST, ty))?;
    let [shown, hidden] = if hides {
        [lowest, zero]
    } else {
        [zero, lowest]
    };
    built(b.choose(mask, shown, hidden))
}

/// The factor of the scores.
fn scale(ir: &Ir, found: &Found) -> f64 {
    let of = |slot| found.get(slot).and_then(|at| number(ir, at.value));
    match (of(Slot::Scale), of(Slot::Divisor)) {
        (Some(factor), _) => factor,
        (_, Some(divisor)) => 1.0 / divisor,
        _ => 1.0,
    }
}
