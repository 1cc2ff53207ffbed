//! Scatters: updates written at indices given as data, as by `x.at[i].set(u)` and similar, and gradients of gathers.
//!
//! An update outside of the operand is dropped, as with `fusion.index_put`, and so is a window that is not entirely
//! inside.

use fuser_dialects::fusion::{self, build::FusionBuilder};
use fuser_ir::Value;
use fuser_ir::types::DType;

use super::Importer;
use super::index::{count, index_part, ranged};
use super::op::{Reading, atom};
use super::ops::{applied, one, spread};
use super::reduce;
use super::shape::{extents, lengths};
use crate::program::{Draft, Fault, Made};

const HELP: &str = "bodies are `add`, `subtract`, `multiply`, `maximum`, `minimum`, the update, or a function of the element";

/// The maximum number of times that a scatter applies a function to one element.
const MAX_TIMES: i64 = 64;

/// Not a word of an op: the updates are negated and added.
const SUBTRACT: &str = "subtract";

/// The dimension numbers of a scatter.
struct Numbers {
    /// Axes of the updates that correspond to axes of the operand.
    windows: Vec<usize>,
    /// Axes of the operand without a corresponding axis of the updates.
    inserted: Vec<usize>,
    /// Batch axes of the operand, which correspond to axes of the indices.
    batch: Vec<usize>,
    /// These axes of the indices.
    index_batch: Vec<usize>,
    /// The indexed axes of the operand, one for each index component.
    axes: Vec<usize>,
    /// The axis of the indices that holds the parts.
    vector: usize,
}

impl Numbers {
    fn of(r: &Reading<'_>) -> Made<Self> {
        let field = |name: &str| -> Made<Vec<usize>> {
            let numbers = r.field(&["scatter_dimension_numbers", "dimension_numbers"], name)?;
            let axes = numbers.into_iter().map(usize::try_from);
            let axes: Result<Vec<usize>, _> = axes.collect();
            axes.map_err(|_| Fault::form(format!("has a negative axis in `{name}`")))
        };
        Ok(Self {
            windows: field("update_window_dims")?,
            inserted: field("inserted_window_dims")?,
            batch: field("input_batching_dims")?,
            index_batch: field("scatter_indices_batching_dims")?,
            axes: field("scatter_dims_to_operand_dims")?,
            vector: field("index_vector_dim")?.first().copied().unwrap_or(0),
        })
    }
}

/// A scatter whose numbers fit its operands.
struct Scatter {
    dest: Value,
    updates: Value,
    /// The index components, one for each indexed axis, each of the shape of `places`.
    parts: Vec<Value>,
    /// The shape of the indices without their parts.
    places: Vec<i64>,
    /// The axes of the updates that correspond to those.
    scattered: Vec<usize>,
    /// The corresponding axis of the updates for each axis of the operand.
    window: Vec<Option<usize>>,
    numbers: Numbers,
    combine: &'static str,
}

/// `stablehlo.scatter`
pub fn scatter<'s>(im: &mut Importer<'s>, r: &Reading<'s>) -> Made<Vec<Value>> {
    let [dest, indices, mut updates] = r.operands[..] else {
        return Err(Fault::form("scatters into several tensors at once").help(HELP));
    };
    if let [body] = reduce::pair(r, HELP)?.as_slice()
        && !body.contains("b0")
    {
        return one(apply(im, r, [dest, indices, updates]));
    }
    let mut combine = combine(im, r, dest)?;
    let draft = &mut im.draft;
    if combine == SUBTRACT {
        (combine, updates) = ("add", draft.make(&fusion::NEG, &[updates])?);
    }
    let numbers = Numbers::of(r)?;
    if numbers.axes.is_empty() && lengths(draft, dest) == lengths(draft, updates) {
        return one(everywhere(draft, dest, updates, combine));
    }
    let scatter = Scatter::of(draft, [dest, indices, updates], numbers, combine)?;
    match scatter.along(draft)? {
        Some(made) => Ok(vec![made]),
        None => one(scatter.put(draft)),
    }
}

/// A scatter without an index: each element has its update.
fn everywhere(draft: &mut Draft, dest: Value, updates: Value, combine: &str) -> Made {
    let def = match combine {
        "add" => &fusion::ADD,
        "mul" => &fusion::MUL,
        "max" => &fusion::MAXIMUM,
        "min" => &fusion::MINIMUM,
        _ => return Ok(updates),
    };
    draft.make(def, &[dest, updates])
}

/// A scatter whose body reads elements alone, `x.at[i].apply(f)`: elements become `f` of them, as many times as they
/// are indexed.
fn apply<'s>(im: &mut Importer<'s>, r: &Reading<'s>, [x, indices, updates]: [Value; 3]) -> Made {
    let unique = r.attr(&["unique_indices"]).and_then(atom);
    let unique = unique.is_some_and(|span| r.text(span) == "true");
    let numbers = Numbers::of(r)?;
    let draft = &mut im.draft;
    let (shape, updated) = (lengths(draft, x), lengths(draft, updates));
    let (most, times) = match numbers.axes.is_empty() && shape == updated {
        true => (1, None),
        false => {
            let ty = draft.ir.tensor(Vec::new(), DType::I32);
            let (zero, one) = (draft.number(0.0, ty)?, draft.number(1.0, ty)?);
            let zeros = draft.broadcast(zero, &[], &extents(&shape))?;
            let ones = draft.broadcast(one, &[], &extents(&updated))?;
            let counts = Scatter::of(draft, [zeros, indices, ones], numbers, "add")?;
            let most = if unique {
                1
            } else {
                counts.most_at_one_place()
            };
            let times = match counts.along(draft)? {
                Some(times) => times,
                None => counts.put(draft)?,
            };
            (most, Some(times))
        }
    };
    if most > MAX_TIMES {
        let text = format!("applies a function to an element up to {most} times");
        let help = format!(
            "up to {MAX_TIMES} updates are read, and any number with `unique_indices=True`"
        );
        return Err(Fault::form(text).help(help));
    }
    let block = r.region().ok_or_else(|| Fault::form("has no body"))?;
    let mut all = x;
    for so_far in 0..most {
        let mut names = r.captured.clone();
        for ((name, ..), value) in block.args.iter().zip([all, updates]) {
            names.insert(r.text(*name), value);
        }
        let made = applied(im, r, block, names, (false, 0))?;
        let made = made.first().copied();
        let made = made.ok_or_else(|| Fault::form("has a body without a result"))?;
        let made = spread(im, made, x)?;
        let draft = &mut im.draft;
        all = match times {
            Some(times) => {
                let scalar = draft.ir.scalar(DType::I32);
                let mut b = draft.builder();
                let so_far = b.constant_int(i128::from(so_far), scalar)?;
                let more = b.compare("gt", times, so_far)?;
                draft.make(&fusion::WHERE, &[more, made, all])?
            }
            None => made,
        };
    }
    Ok(all)
}

/// The word for the combination of an element and its update.
fn combine(im: &Importer<'_>, r: &Reading<'_>, dest: Value) -> Made<&'static str> {
    let bodies = reduce::pair(r, HELP)?;
    let [body] = bodies.as_slice() else {
        return Err(Fault::form("has a body of several results").help(HELP));
    };
    let truth = im.draft.dtype(dest) == DType::I1;
    let named = |name: &str| *body == format!("{name}(a0,b0)") || *body == format!("{name}(b0,a0)");
    let known: [(&str, &'static str, bool); 8] = [
        ("add", "max", true),
        ("or", "max", true),
        ("multiply", "min", true),
        ("and", "min", true),
        ("add", "add", false),
        ("multiply", "mul", false),
        ("maximum", "max", truth),
        ("minimum", "min", truth),
    ];
    match body.as_str() {
        "b0" => return Ok("set"),
        "subtract(a0,b0)" => return Ok(SUBTRACT),
        _ => {}
    }
    let found = known
        .into_iter()
        .find(|(name, _, of)| *of == truth && named(name));
    found.map(|(_, word, _)| word).ok_or_else(|| {
        let shown = reduce::shown(body);
        Fault::form(format!("combines by `{shown}`")).help(HELP)
    })
}

impl Scatter {
    fn of(
        draft: &mut Draft,
        [dest, indices, updates]: [Value; 3],
        numbers: Numbers,
        combine: &'static str,
    ) -> Made<Self> {
        let wrong = || Fault::form("has axes that do not fit its operands").help(HELP);
        let rank = lengths(draft, dest).len();
        let own = lengths(draft, updates);
        let listed = [&numbers.inserted, &numbers.batch, &numbers.axes];
        let inside = listed.into_iter().flatten().all(|axis| *axis < rank);
        if !inside || numbers.windows.iter().any(|at| *at >= own.len()) || numbers.axes.is_empty() {
            return Err(wrong());
        }
        let mut windows = numbers.windows.iter().copied();
        let alone = |axis: &usize| numbers.inserted.contains(axis) || numbers.batch.contains(axis);
        let mut window = Vec::with_capacity(rank);
        for axis in 0..rank {
            window.push(match alone(&axis) {
                true => None,
                false => Some(windows.next().ok_or_else(wrong)?),
            });
        }
        let scattered = (0..own.len()).filter(|at| !numbers.windows.contains(at));
        let scattered: Vec<usize> = scattered.collect();
        let (parts, places) = parts(draft, indices, &numbers)?;
        let fits = scattered
            .iter()
            .map(|at| own[*at])
            .eq(places.iter().copied());
        let batches = numbers.batch.len() == numbers.index_batch.len()
            && numbers
                .index_batch
                .iter()
                .all(|at| *at <= places.len() && *at != numbers.vector);
        if !fits || !batches || windows.next().is_some() {
            return Err(wrong());
        }
        Ok(Self {
            dest,
            updates,
            parts,
            places,
            scattered,
            window,
            numbers,
            combine,
        })
    }

    /// `fusion.scatter`, if every axis except the indexed one corresponds to an index axis: the gradient of
    /// `take_along_axis`.
    fn along(&self, draft: &mut Draft) -> Made<Option<Value>> {
        let rank = self.window.len();
        let numbers = &self.numbers;
        let [axis] = numbers.axes.as_slice() else {
            return Ok(None);
        };
        let simple = numbers.windows.is_empty()
            && numbers.inserted == [*axis]
            && numbers.batch.len() + 1 == rank
            && self.places.len() <= rank;
        if !simple {
            return Ok(None);
        }
        let batches = self.batches();
        let free: Vec<usize> = (0..self.places.len())
            .filter(|at| !batches.contains(at))
            .collect();
        let mut order = Vec::new();
        for own in 0..rank {
            match numbers.batch.iter().position(|batch| *batch == own) {
                Some(pair) => order.push(batches[pair] as i64),
                None => order.extend(free.iter().map(|at| *at as i64)),
            }
        }
        let mut arranged = Vec::new();
        for value in [self.parts[0], self.updates] {
            let value = draft.permute(value, &order)?;
            let mut shape = lengths(draft, value);
            if free.is_empty() {
                shape.insert(*axis, 1);
            }
            arranged.push(draft.reshape(value, &extents(&shape))?);
        }
        let mut b = draft.builder();
        let clauses = [b.int("dim", *axis as i64), b.word("combine", self.combine)];
        let operands = [self.dest, arranged[0], arranged[1]];
        Ok(Some(b.value(&fusion::SCATTER, &operands, &clauses)?))
    }

    /// The number of updates that one element may have.
    fn most_at_one_place(&self) -> i64 {
        let batches = self.batches();
        let free = (0..self.places.len()).filter(|at| !batches.contains(at));
        let free: Vec<i64> = free.map(|at| self.places[at]).collect();
        product(&free)
    }

    /// The batch axes of the indices, as axes of `places`.
    fn batches(&self) -> Vec<usize> {
        let numbers = &self.numbers;
        let behind = |at: &usize| at - usize::from(*at > numbers.vector);
        numbers.index_batch.iter().map(behind).collect()
    }

    /// `fusion.index_put` along the axes that are indexed, made one.
    fn put(&self, draft: &mut Draft) -> Made {
        let own = lengths(draft, self.dest);
        let sizes = lengths(draft, self.updates);
        let long = |axis: &usize| self.window[*axis].is_some_and(|at| sizes[at] > own[*axis]);
        if (0..own.len()).any(|axis| long(&axis)) {
            return Err(Fault::form("has windows longer than its operand").help(HELP));
        }
        // A window that is a part of an axis begins at its first element where nothing indexes it.
        let part = |axis: &usize| self.window[*axis].is_some_and(|at| sizes[at] < own[*axis]);
        let mut indexed: Vec<usize> = self.numbers.axes.clone();
        indexed.extend(&self.numbers.batch);
        indexed.extend((0..own.len()).filter(part));
        indexed.sort_unstable();
        indexed.dedup();
        let kept: Vec<usize> = (0..own.len()).filter(|at| !indexed.contains(at)).collect();
        // Axes of an update: the kept axes, and instead of the indexed axes the axes of the indices and of windows
        // along them.
        let first = indexed[0];
        let block = indexed.iter().copied().eq(first..first + indexed.len());
        let front = if block { first } else { 0 };
        let (before, after) = kept.split_at(front);
        let beside = |axes: &[usize]| -> Vec<usize> {
            axes.iter().filter_map(|axis| self.window[*axis]).collect()
        };
        let windows = beside(&indexed);
        let order = [
            beside(before),
            self.scattered.clone(),
            windows.clone(),
            beside(after),
        ]
        .concat();
        let order: Vec<i64> = order.into_iter().map(|at| at as i64).collect();
        let updates = draft.permute(self.updates, &order)?;
        let mut shape = self.places.clone();
        shape.extend(windows.iter().map(|at| sizes[*at]));
        let count = product(&shape);
        let place = self.place(draft, &indexed, &own, &sizes, &shape)?;
        let place = draft.reshape(place, &extents(&[count]))?;
        let lengths = |axes: &[usize]| -> Vec<i64> { axes.iter().map(|axis| own[*axis]).collect() };
        let around = |length: i64| [lengths(before), vec![length], lengths(after)].concat();
        let updates = draft.reshape(updates, &extents(&around(count)))?;
        let arranged = [before, &indexed, after].concat();
        let order: Vec<i64> = arranged.iter().map(|at| *at as i64).collect();
        let dest = draft.permute(self.dest, &order)?;
        let length = product(&lengths(&indexed));
        let dest = draft.reshape(dest, &extents(&around(length)))?;
        let mut b = draft.builder();
        let clauses = [b.int("dim", front as i64), b.word("combine", self.combine)];
        let made = b.value(&fusion::INDEX_PUT, &[dest, place, updates], &clauses)?;
        let made = draft.reshape(made, &extents(&lengths(&arranged)))?;
        let mut back = vec![0; arranged.len()];
        for (from, to) in arranged.iter().enumerate() {
            back[*to] = from as i64;
        }
        draft.permute(made, &back)
    }

    /// The row-major index of each update among the `indexed` axes, -1 outside of them, in the shape of the places
    /// followed by the windows.
    fn place(
        &self,
        draft: &mut Draft,
        indexed: &[usize],
        own: &[i64],
        sizes: &[i64],
        shape: &[i64],
    ) -> Made {
        // An index out of range is ignored anyway.
        if let ([axis], [part]) = (indexed, self.parts.as_slice())
            && self.window[*axis].is_none()
        {
            return Ok(*part);
        }
        let whole = extents(shape);
        let every: Vec<i64> = (0..self.places.len() as i64).collect();
        let mut windows = self.places.len() as i64..;
        let (mut sum, mut inside): (Option<Value>, Option<Value>) = (None, None);
        for axis in indexed {
            let part = self.numbers.axes.iter().position(|indexed| indexed == axis);
            let size = self.window[*axis].map_or(1, |at| sizes[at]);
            let mut at = match part {
                Some(part) => {
                    let start = draft.broadcast(self.parts[part], &every, &whole)?;
                    let low = compared(draft, "ge", start, 0)?;
                    let high = compared(draft, "le", start, own[*axis] - size)?;
                    for here in [low, high] {
                        inside = Some(match inside {
                            Some(inside) => draft.make(&fusion::AND, &[inside, here])?,
                            None => here,
                        });
                    }
                    Some(start)
                }
                None => None,
            };
            let pair = self.numbers.batch.iter().position(|batch| batch == axis);
            let mut steps = Vec::new();
            if let Some(pair) = pair {
                steps.push((self.batches()[pair] as i64, own[*axis]));
            }
            if self.window[*axis].is_some() {
                steps.extend(windows.next().map(|window| (window, size)));
            }
            for (to, length) in steps {
                let step = count(draft, length)?;
                let step = draft.broadcast(step, &[to], &whole)?;
                at = Some(added(draft, at, step)?);
            }
            let at = at.ok_or_else(|| Fault::form("indexes no axis").help(HELP))?;
            let sum_so_far = match sum {
                Some(sum) => Some(times(draft, sum, own[*axis])?),
                None => None,
            };
            sum = Some(added(draft, sum_so_far, at)?);
        }
        let (Some(sum), Some(inside)) = (sum, inside) else {
            return Err(Fault::form("indexes no axis").help(HELP));
        };
        let scalar = draft.ir.scalar(DType::I64);
        let nowhere = draft.number(-1.0, scalar)?;
        draft.make(&fusion::WHERE, &[inside, sum, nowhere])
    }
}

/// The index components as i64, one for each indexed axis, and their shape.
fn parts(draft: &mut Draft, indices: Value, numbers: &Numbers) -> Made<(Vec<Value>, Vec<i64>)> {
    let own = lengths(draft, indices);
    let indices = ranged(draft, indices)?;
    let indices = draft.cast(indices, DType::I64)?;
    let count = numbers.axes.len();
    if numbers.vector == own.len() && count == 1 {
        return Ok((vec![indices], own));
    }
    if own.get(numbers.vector).copied() != i64::try_from(count).ok() {
        return Err(Fault::form("has indices of other parts than axes").help(HELP));
    }
    let mut places = own.clone();
    places.remove(numbers.vector);
    let mut found = Vec::new();
    for part in 0..count {
        let value = match count {
            1 => indices,
            _ => index_part(draft, indices, numbers.vector, part)?,
        };
        found.push(draft.reshape(value, &extents(&places))?);
    }
    Ok((found, places))
}

/// The number of elements of a shape, saturated at 64 bits, since no tensor is larger.
fn product(lengths: &[i64]) -> i64 {
    let product = lengths
        .iter()
        .try_fold(1_i64, |n, length| n.checked_mul(*length));
    product.unwrap_or(i64::MAX)
}

fn compared(draft: &mut Draft, predicate: &str, x: Value, with: i64) -> Made {
    let scalar = draft.ir.scalar(DType::I64);
    let mut b = draft.builder();
    let with = b.constant_int(with, scalar)?;
    Ok(b.compare(predicate, x, with)?)
}

fn added(draft: &mut Draft, sum: Option<Value>, x: Value) -> Made {
    match sum {
        Some(sum) => draft.make(&fusion::ADD, &[sum, x]),
        None => Ok(x),
    }
}

fn times(draft: &mut Draft, x: Value, factor: i64) -> Made {
    let scalar = draft.ir.scalar(DType::I64);
    let factor = draft.builder().constant_int(factor, scalar)?;
    draft.make(&fusion::MUL, &[x, factor])
}
