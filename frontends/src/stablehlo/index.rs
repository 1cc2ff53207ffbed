//! Ops that read at indices given as data: gathers that are `take` or `take_along`, and slices with starts known at run
//! time.
//!
//! StableHLO clamps an index that is out of range, as `fusion.take` does.

use fuser_dialects::fusion::{self, build::FusionBuilder};
use fuser_ir::Value;
use fuser_ir::types::{DType, Dim};

use super::Importer;
use super::op::Reading;
use super::ops::one;
use super::shape::{extents, lengths};
use crate::program::{Draft, Fault, Made};

const HELP: &str = "gathers are read where they index one axis, `x[i]`, `jnp.take`, `jnp.take_along_axis`, embeddings, parts `x[i:i + n]`, or take elements at indices of several, `x[i, j]`";

/// The dimension numbers of a gather.
struct Numbers {
    offsets: Vec<i64>,
    collapsed: Vec<i64>,
    operand_batch: Vec<i64>,
    index_batch: Vec<i64>,
    axis: i64,
    vector: i64,
}

/// `stablehlo.gather`
pub fn gather(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let field = |name: &str| r.field(&["dimension_numbers"], name);
    let other = |text: &str| Fault::form(text).help(HELP);
    let axes = field("start_index_map")?;
    // A number that is 0 is not printed.
    let vector = field("index_vector_dim")?.first().copied().unwrap_or(0);
    let numbers = Numbers {
        offsets: field("offset_dims")?,
        collapsed: field("collapsed_slice_dims")?,
        operand_batch: field("operand_batching_dims")?,
        index_batch: field("start_indices_batching_dims")?,
        axis: 0,
        vector,
    };
    let sizes = r.ints(&["slice_sizes"])?;
    let (x, indices) = (r.operand(0)?, r.operand(1)?);
    let (axes, indices) = without_whole(&mut im.draft, axes, [x, indices], &numbers, &sizes)?;
    let numbers = Numbers {
        axis: *axes.first().unwrap_or(&0),
        ..numbers
    };
    if !is_simple(&lengths(&im.draft, x), &axes, &numbers, &sizes) {
        return one(windows(
            &mut im.draft,
            [x, indices],
            &axes,
            &numbers,
            &sizes,
        ));
    }
    let (x, indices, numbers, sizes) = match axes.as_slice() {
        [_] => (x, indices, numbers, sizes),
        _ => as_one_axis(&mut im.draft, [x, indices], &axes, numbers, sizes)?,
    };
    let axis = &numbers.axis;
    let own = lengths(&im.draft, x);
    let inside = |axis: &i64| (0..own.len() as i64).contains(axis);
    let listed = [&numbers.collapsed, &numbers.operand_batch];
    if sizes.len() != own.len() || !inside(axis) || !listed.into_iter().flatten().all(inside) {
        return Err(other("names axes that its operand does not have"));
    }
    let single = |at: i64| numbers.collapsed.contains(&at) || numbers.operand_batch.contains(&at);
    let part = !single(*axis);
    let whole = (0..own.len()).all(|at| match single(at as i64) {
        true => sizes[at] == 1,
        false if part && at as i64 == *axis => (0..=own[at]).contains(&sizes[at]),
        false => sizes[at] == own[at],
    });
    if !whole {
        return Err(other("takes parts of axes"));
    }
    let indices = scalars(&mut im.draft, indices, numbers.vector)?;
    let indices = ranged(&mut im.draft, indices)?;
    let (indices, inner) = match part {
        true => {
            let at = *axis as usize;
            (parts(&mut im.draft, indices, sizes[at], own[at])?, 1)
        }
        false => (indices, 0),
    };
    if numbers.collapsed.iter().any(|at| at != axis) {
        return Err(other("drops an axis that it does not index"));
    }
    let of = match numbers.operand_batch.is_empty() {
        true => take,
        false => along,
    };
    one(of(&mut im.draft, x, indices, inner, &numbers))
}

/// True if a gather indexes one axis, or takes single elements at indices of several axes, and takes all other axes
/// whole.
fn is_simple(own: &[i64], axes: &[i64], numbers: &Numbers, sizes: &[i64]) -> bool {
    let mut sorted = axes.to_vec();
    sorted.sort_unstable();
    let elements = sorted == numbers.collapsed && numbers.operand_batch.is_empty();
    let one = axes.len() == 1 && numbers.collapsed.iter().all(|at| axes.contains(at));
    let alone = |axis: &i64| axes.contains(axis) || numbers.operand_batch.contains(axis);
    let whole = (0..own.len()).all(|at| alone(&(at as i64)) || sizes.get(at) == own.get(at));
    (one || elements && !axes.is_empty()) && whole
}

/// Any gather, as one `take` along the axes that it does not take whole, collapsed into one. The indices are row-major
/// indices of each window's elements. Windows are clamped to the operand, as StableHLO defines it.
fn windows(
    draft: &mut Draft,
    [x, indices]: [Value; 2],
    axes: &[i64],
    numbers: &Numbers,
    sizes: &[i64],
) -> Made {
    let other = |text: &str| Fault::form(text).help(HELP);
    let (own, held) = (lengths(draft, x), lengths(draft, indices));
    let rank = own.len() as i64;
    let vector = usize::try_from(numbers.vector).unwrap_or(usize::MAX);
    let listed = [axes, &numbers.collapsed, &numbers.operand_batch];
    let mut named: Vec<i64> = [axes, &numbers.operand_batch].concat();
    named.sort_unstable();
    let distinct = named.windows(2).all(|pair| pair[0] < pair[1]);
    let inside = listed
        .into_iter()
        .flatten()
        .all(|axis| (0..rank).contains(axis));
    if sizes.len() != own.len() || !inside || !distinct {
        return Err(other("names axes that its operand does not have"));
    }
    let fits = sizes
        .iter()
        .zip(&own)
        .all(|(size, own)| (0..=*own).contains(size));
    let parts = if vector == held.len() {
        1
    } else {
        *held.get(vector).unwrap_or(&0)
    };
    if !fits || parts != axes.len() as i64 && !(axes.is_empty() && parts == 0) {
        return Err(other("has windows or indices that do not fit its operand"));
    }
    let mut places = held.clone();
    if vector < held.len() {
        places.remove(vector);
    }
    let single =
        |axis: &i64| numbers.collapsed.contains(axis) || numbers.operand_batch.contains(axis);
    // The axes that become one, in the order of the operand; their windows are axes after the places.
    let taken: Vec<i64> = (0..rank)
        .filter(|axis| {
            named.contains(axis) || single(axis) || sizes[*axis as usize] != own[*axis as usize]
        })
        .collect();
    let kept: Vec<i64> = (0..rank).filter(|axis| !taken.contains(axis)).collect();
    let mut shape = places.clone();
    shape.extend(
        taken
            .iter()
            .filter(|axis| !single(axis))
            .map(|axis| sizes[*axis as usize]),
    );
    let shape = extents(&shape);
    let every: Vec<i64> = (0..places.len() as i64).collect();
    let indices = ranged(draft, indices)?;
    let indices = draft.cast(indices, DType::I64)?;
    let scalar = draft.ir.scalar(DType::I64);
    let mut window = places.len() as i64;
    let mut flat = draft.builder().constant_int(0, scalar)?;
    flat = draft.broadcast(flat, &[], &shape)?;
    for axis in &taken {
        let length = own[*axis as usize];
        let length = draft.builder().constant_int(length, scalar)?;
        flat = draft.make(&fusion::MUL, &[flat, length])?;
        if let Some(part) = axes.iter().position(|indexed| indexed == axis) {
            let start = match vector < held.len() {
                true => index_part(draft, indices, vector, part)?,
                false => indices,
            };
            let start = draft.reshape(start, &extents(&places))?;
            let last = own[*axis as usize] - sizes[*axis as usize];
            let start = brought_inside(draft, start, last)?;
            let start = draft.broadcast(start, &every, &shape)?;
            flat = draft.make(&fusion::ADD, &[flat, start])?;
        }
        let batch = numbers.operand_batch.iter().position(|batch| batch == axis);
        let along = match batch.map(|pair| numbers.index_batch.get(pair).copied()) {
            Some(place) => {
                let place = place.ok_or_else(|| other("has batches of one operand alone"))?;
                Some(place - i64::from(place > numbers.vector))
            }
            None if single(axis) => None,
            None => {
                window += 1;
                Some(window - 1)
            }
        };
        if let Some(along) = along {
            let size = if batch.is_some() {
                own[*axis as usize]
            } else {
                sizes[*axis as usize]
            };
            let steps = count(draft, size)?;
            let steps = draft.broadcast(steps, &[along], &shape)?;
            flat = draft.make(&fusion::ADD, &[flat, steps])?;
        }
    }
    let order = [taken.as_slice(), &kept].concat();
    let moved = draft.permute(x, &order)?;
    let of = |axes: &[i64]| -> Vec<i64> { axes.iter().map(|axis| own[*axis as usize]).collect() };
    let together = of(&taken).into_iter().try_fold(1i64, i64::checked_mul);
    let together = together.ok_or_else(|| other("indexes too many elements"))?;
    let moved = draft.reshape(moved, &extents(&[vec![together], of(&kept)].concat()))?;
    let made = self::taken(draft, moved, flat, 0)?;
    // Axes of the result: places, windows of the merged axes, and axes that are whole.
    let behind: Vec<i64> = taken
        .iter()
        .copied()
        .filter(|axis| !single(axis))
        .chain(kept)
        .collect();
    let mut ascending = behind.clone();
    ascending.sort_unstable();
    let mut offsets = ascending.iter().map(|axis| {
        let at = behind.iter().position(|behind| behind == axis)?;
        Some((places.len() + at) as i64)
    });
    let mut index = every.into_iter();
    let rank = draft.dims(made).len() as i64;
    let order = (0..rank).map(|at| match numbers.offsets.contains(&at) {
        true => offsets.next().flatten(),
        false => index.next(),
    });
    let order: Option<Vec<i64>> = order.collect();
    let wrong = || other("has other `offset_dims` than its operand has axes");
    draft.permute(made, &order.ok_or_else(wrong)?)
}

/// The indexed axes and the indices, without axes that are taken whole: such a slice starts at 0.
fn without_whole(
    draft: &mut Draft,
    axes: Vec<i64>,
    [x, indices]: [Value; 2],
    numbers: &Numbers,
    sizes: &[i64],
) -> Made<(Vec<i64>, Value)> {
    let (own, held) = (lengths(draft, x), lengths(draft, indices));
    let vector = usize::try_from(numbers.vector).unwrap_or(usize::MAX);
    let part = |axis: &i64| {
        let length = usize::try_from(*axis)
            .ok()
            .and_then(|at| own.get(at).zip(sizes.get(at)));
        numbers.collapsed.contains(axis) || length.is_none_or(|(own, size)| own != size)
    };
    let kept: Vec<usize> = (0..axes.len()).filter(|&at| part(&axes[at])).collect();
    let fits = held.get(vector) == Some(&(axes.len() as i64));
    if kept.is_empty() || kept.len() == axes.len() || !fits {
        return Ok((axes, indices));
    }
    let mut parts = Vec::new();
    for &at in &kept {
        parts.push(index_part(draft, indices, vector, at)?);
    }
    let indices = match parts.as_slice() {
        &[part] => part,
        parts => {
            let mut b = draft.builder();
            let clause = [b.int("dim", vector as i64)];
            b.value(&fusion::CAT, parts, &clause)?
        }
    };
    Ok((kept.into_iter().map(|at| axes[at]).collect(), indices))
}

/// A gather with several indexed axes as one with a single collapsed axis: for `x[i, j]`, index `i * n + j`, with each
/// component clamped to its axis first.
fn as_one_axis(
    draft: &mut Draft,
    [x, indices]: [Value; 2],
    axes: &[i64],
    numbers: Numbers,
    sizes: Vec<i64>,
) -> Made<(Value, Value, Numbers, Vec<i64>)> {
    let other = |text: &str| Fault::form(text).help(HELP);
    let (own, held) = (lengths(draft, x), lengths(draft, indices));
    let vector = usize::try_from(numbers.vector).unwrap_or(usize::MAX);
    let whole = sizes.len() == own.len() && held.get(vector) == Some(&(axes.len() as i64));
    let mut sorted = axes.to_vec();
    sorted.sort_unstable();
    if !whole || sorted != numbers.collapsed || !numbers.operand_batch.is_empty() || axes.is_empty()
    {
        return Err(other(
            "indexes several axes, and takes more than elements of them",
        ));
    }
    let inside = |axis: &i64| (0..own.len() as i64).contains(axis);
    let distinct = sorted.windows(2).all(|pair| pair[0] < pair[1]);
    if !distinct || !axes.iter().all(inside) {
        return Err(other("names axes that its operand does not have"));
    }
    let left: Vec<i64> = (0..own.len() as i64)
        .filter(|axis| !axes.contains(axis))
        .collect();
    // The indexed axes come first, in the order of the index vector, and become one axis.
    let order = [axes, &left].concat();
    let of = |axes: &[i64], list: &[i64]| -> Vec<i64> {
        axes.iter().map(|&a| list[a as usize]).collect()
    };
    let together = of(axes, &own).into_iter().try_fold(1i64, i64::checked_mul);
    let together = together.ok_or_else(|| other("indexes too many elements"))?;
    let shape = [vec![together], of(&left, &own)].concat();
    let moved = draft.permute(x, &order)?;
    let moved = draft.reshape(moved, &extents(&shape))?;
    let indices = ranged(draft, indices)?;
    let indices = draft.cast(indices, DType::I64)?;
    // The row-major index in that axis, by Horner's rule.
    let mut flat: Option<Value> = None;
    for (part, &axis) in axes.iter().enumerate() {
        let own_part = index_part(draft, indices, vector, part)?;
        let i64_type = draft.ir.scalar(DType::I64);
        let mut b = draft.builder();
        let length = b.constant_int(own[axis as usize], i64_type)?;
        let index = brought_inside(draft, own_part, (own[axis as usize] - 1).max(0))?;
        let mut b = draft.builder();
        flat = Some(match flat {
            Some(before) => {
                let before = b.mul(before, length)?;
                b.add(before, index)?
            }
            None => index,
        });
    }
    let flat = flat.ok_or_else(|| other("indexes no axis"))?;
    let numbers = Numbers {
        collapsed: vec![0],
        axis: 0,
        ..numbers
    };
    let sizes = [vec![1], of(&left, &sizes)].concat();
    Ok((moved, flat, numbers, sizes))
}

/// Component `at` of each index, along axis `vector`, which keeps extent 1.
pub fn index_part(draft: &mut Draft, indices: Value, vector: usize, at: usize) -> Made {
    let mut shape = lengths(draft, indices);
    let mut starts = vec![0; shape.len()];
    (starts[vector], shape[vector]) = (at as i64, 1);
    let shape: Vec<Dim> = extents(&shape).into_iter().map(Dim::new).collect();
    let mut b = draft.builder();
    let clauses = [b.ints("starts", &starts), b.shape("shape", &shape)];
    Ok(b.value(&fusion::SLICE, &[indices], &clauses)?)
}

/// The nearest number from 0 to `last` for each of some `i64`.
fn brought_inside(draft: &mut Draft, index: Value, last: i64) -> Made {
    let scalar = draft.ir.scalar(DType::I64);
    let mut b = draft.builder();
    let (least, most) = (b.constant_int(0, scalar)?, b.constant_int(last, scalar)?);
    let index = b.maximum(index, least)?;
    Ok(b.minimum(index, most)?)
}

/// The indices without the axis of index components, which has length 1.
fn scalars(draft: &mut Draft, indices: Value, vector: i64) -> Made {
    let mut own = lengths(draft, indices);
    let at = usize::try_from(vector).unwrap_or(usize::MAX);
    if at == own.len() {
        return Ok(indices);
    }
    if own.get(at) != Some(&1) {
        return Err(Fault::form("has indices of several parts").help(HELP));
    }
    own.remove(at);
    draft.reshape(indices, &extents(&own))
}

/// Indices of a type that `take` reads.
pub fn ranged(draft: &mut Draft, indices: Value) -> Made {
    match draft.dtype(indices) {
        DType::I32 | DType::I64 => Ok(indices),
        // Numbers beyond `i64` are beyond every axis.
        DType::U64 => {
            let scalar = draft.ir.scalar(DType::U64);
            let most = draft.builder().constant_int(i64::MAX, scalar)?;
            let least = draft.make(&fusion::MINIMUM, &[indices, most])?;
            draft.cast(least, DType::I64)
        }
        _ => draft.cast(indices, DType::I64),
    }
}

/// The indices of slices of `size` elements of an axis of `length`, each from its start on, along a last axis.
fn parts(draft: &mut Draft, first: Value, size: i64, length: i64) -> Made {
    let first = draft.cast(first, DType::I64)?;
    let first = brought_inside(draft, first, length - size)?;
    let own = lengths(draft, first);
    let (axes, shape): (Vec<i64>, _) = (
        (0..own.len() as i64).collect(),
        [own.as_slice(), &[size]].concat(),
    );
    let first = draft.broadcast(first, &axes, &extents(&shape))?;
    let steps = count(draft, size)?;
    let steps = draft.broadcast(steps, &[own.len() as i64], &extents(&shape))?;
    draft.make(&fusion::ADD, &[first, steps])
}

/// A `take`, which puts the index axes in place of the axis, followed by a move to the gather's positions. The last
/// `inner` of the index axes lie within the slice.
fn take(draft: &mut Draft, x: Value, indices: Value, inner: usize, numbers: &Numbers) -> Made {
    let count = draft.dims(indices).len() - inner;
    let made = taken(draft, x, indices, numbers.axis)?;
    let rank = draft.dims(made).len();
    let axis = numbers.axis as usize;
    // The remaining axes of the operand, in order, are those of `offset_dims`; the others are those of the indices.
    let mut kept = (0..axis).chain(axis + count..rank);
    let mut index = axis..axis + count;
    let order = (0..rank as i64).map(|at| match numbers.offsets.contains(&at) {
        true => kept.next(),
        false => index.next(),
    });
    let order: Option<Vec<i64>> = order.map(|at| at.map(|at| at as i64)).collect();
    let order = order.ok_or_else(|| {
        Fault::form("has other `offset_dims` than its operand has axes").help(HELP)
    })?;
    draft.permute(made, &order)
}

/// `stablehlo.torch_index_select`: the indices of each batch along an axis.
pub fn select(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let (axis, batches) = (r.int(&["dim"])?, r.int(&["batch_dims"])?);
    if batches != 0 {
        let fault = Fault::form("selects with batches, which have no `take`");
        return Err(fault.help(HELP));
    }
    let indices = ranged(&mut im.draft, r.operand(1)?)?;
    one(taken(&mut im.draft, r.operand(0)?, indices, axis))
}

/// `fusion.take`
fn taken(draft: &mut Draft, x: Value, indices: Value, axis: i64) -> Made {
    let mut b = draft.builder();
    let clause = [b.int("dim", axis)];
    Ok(b.value(&fusion::TAKE, &[x, indices], &clause)?)
}

/// A `take_along` with indices broadcast to the axes of the operand: batch axes are matched with the operand's, the
/// other index axes are collapsed in place of the indexed axis. The last `inner` of the latter lie within the slice.
fn along(draft: &mut Draft, x: Value, indices: Value, inner: usize, numbers: &Numbers) -> Made {
    let other =
        || Fault::form("indexes with batches in a form that is no `take_along_axis`").help(HELP);
    let (own, held) = (lengths(draft, x), lengths(draft, indices));
    let count = held.len() - inner;
    let (batch, places) = (&numbers.operand_batch, &numbers.index_batch);
    let axis = numbers.axis as usize;
    let inside = |at: &i64| (0..count as i64).contains(at);
    let free: Vec<i64> = (0..held.len() as i64)
        .filter(|at| !places.contains(at))
        .collect();
    let distinct = free.len() + places.len() == held.len();
    let indexed = batch.contains(&numbers.axis);
    if batch.len() != places.len() || !places.iter().all(inside) || !distinct || indexed {
        return Err(other());
    }
    let order = [places.as_slice(), &free].concat();
    let indices = draft.permute(indices, &order)?;
    let length = |at: &i64| held[*at as usize];
    let run = free.iter().map(length).try_fold(1i64, i64::checked_mul);
    let run = run.ok_or_else(other)?;
    let one: Vec<i64> = places.iter().map(length).chain([run]).collect();
    let indices = draft.reshape(indices, &extents(&one))?;
    let mut shape = own.clone();
    shape[axis] = run;
    for (place, to) in places.iter().zip(batch) {
        shape[*to as usize] = length(place);
    }
    let to = [batch.as_slice(), &[numbers.axis]].concat();
    let indices = draft.broadcast(indices, &to, &extents(&shape))?;
    let mut b = draft.builder();
    let clause = [b.int("dim", numbers.axis)];
    let made = b.value(&fusion::TAKE_ALONG, &[x, indices], &clause)?;
    // The index axes that were merged along the indexed axis are split again.
    shape.splice(axis..=axis, free.iter().map(length));
    let made = draft.reshape(made, &extents(&shape))?;
    let place = |at: usize| if at > axis { at + free.len() - 1 } else { at };
    // The remaining axes of the operand, in order, are those of `offset_dims`; the others are those of the indices.
    let within = axis + free.len() - inner..axis + free.len();
    let kept = (0..own.len()).filter(|at| *at == axis || !batch.contains(&(*at as i64)));
    let mut offsets = kept.flat_map(|at| match at == axis {
        true => within.clone(),
        false => place(at)..place(at) + 1,
    });
    let mut index = (0..count as i64).map(|at| match places.iter().position(|p| *p == at) {
        Some(pair) => place(batch[pair] as usize),
        None => axis + free.iter().position(|f| *f == at).unwrap_or(0),
    });
    let order = (0..shape.len() as i64).map(|at| match numbers.offsets.contains(&at) {
        true => offsets.next(),
        false => index.next(),
    });
    let order: Option<Vec<i64>> = order.map(|at| at.map(|at| at as i64)).collect();
    draft.permute(made, &order.ok_or_else(other)?)
}

/// 0, 1, ... `length - 1`.
pub fn count(draft: &mut Draft, length: i64) -> Made {
    let mut b = draft.builder();
    let clauses = [
        b.int("dim", 0),
        b.shape("shape", &[Dim::fixed(length as u64)]),
        b.dtype("of", DType::I64),
    ];
    Ok(b.value(&fusion::IOTA, &[], &clauses)?)
}

/// The axes along which a slice of these sizes is shorter than the operand, and their start indices, operands from
/// `first` on.
fn starts(
    im: &mut Importer<'_>,
    r: &Reading<'_>,
    first: usize,
    [sizes, own]: [&[i64]; 2],
) -> Made<(Vec<i64>, Vec<Value>)> {
    let (mut dims, mut starts) = (Vec::new(), Vec::new());
    for (axis, _) in (sizes.iter().zip(own).enumerate()).filter(|(_, (size, own))| size != own) {
        let start = r.operand(first + axis)?;
        dims.push(axis as i64);
        starts.push(ranged(&mut im.draft, start)?);
    }
    Ok((dims, starts))
}

/// `stablehlo.dynamic_slice`
pub fn dynamic_slice(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let sizes = r.ints(&["sizes", "slice_sizes"])?;
    let x = r.operand(0)?;
    let own = lengths(&im.draft, x);
    let fits = |(size, length): (&i64, &i64)| (0..=*length).contains(size);
    if sizes.len() != own.len() || !sizes.iter().zip(&own).all(fits) {
        return Err(Fault::form("has sizes that its operand does not have"));
    }
    let (dims, starts) = starts(im, r, 1, [&sizes, &own])?;
    if dims.is_empty() {
        return Ok(vec![x]);
    }
    let operands = [&[x][..], &starts].concat();
    let mut b = im.draft.builder();
    let shape: Vec<Dim> = sizes.iter().map(|&size| Dim::fixed(size as u64)).collect();
    let clauses = [b.ints("dims", &dims), b.shape("shape", &shape)];
    one(b
        .value(&fusion::DYNAMIC_SLICE, &operands, &clauses)
        .map_err(Into::into))
}

/// `stablehlo.dynamic_update_slice`
pub fn dynamic_update_slice(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let (x, update) = (r.operand(0)?, r.operand(1)?);
    let (own, sizes) = (lengths(&im.draft, x), lengths(&im.draft, update));
    let fits = |(size, length): (&i64, &i64)| size <= length;
    if sizes.len() != own.len() || !sizes.iter().zip(&own).all(fits) {
        return Err(Fault::form("has an update that is larger than its operand"));
    }
    let (dims, starts) = starts(im, r, 2, [&sizes, &own])?;
    if dims.is_empty() {
        return Ok(vec![update]);
    }
    let operands = [&[x, update][..], &starts].concat();
    let mut b = im.draft.builder();
    let clauses = [b.ints("dims", &dims)];
    one(b
        .value(&fusion::DYNAMIC_UPDATE_SLICE, &operands, &clauses)
        .map_err(Into::into))
}
