//! Convolutions: a convolution accepted by an executor stays a call, any other becomes a matrix product.
//!
//! ```text
//! %y = fusion.convolution %x, %w      // [N, C, S] by [O, C, K]
//!   =>
//! parts of %x, one for each place of the kernel    [N, R, 1, C] each
//! one beside the other                             [N, R, K, C]
//! %p = fusion.matmul                               [N, R, K*C] by [K*C, O]
//! ```
//!
//! A kernel may have more places than the result, as in the gradient of a kernel. One part for each place of the result
//! then gives the same rows. If both numbers are large, rows are taken at computed indices. Along one axis alone, from
//! 9 on, they are read from a skewed tensor: each of its rows begins one element further on. With groups, the product
//! has a batch axis of groups. A kernel with one place costs no more than its product, so no executor is considered for
//! it.

use fuser_dialects::fusion;
use fuser_dialects::fusion::build::{Built, FusionBuilder};
use fuser_dialects::fusion::convolution::{Window, is_grouped, space, windows};
use fuser_dialects::fusion::maps;
use fuser_ir::build::Builder;
use fuser_ir::def::OpError;
use fuser_ir::types::ExtentExpr;
use fuser_ir::{DType, Dim, Extent, Ir, Op, Traits, Value, layout};

use super::Parts;
use super::product::{read_as_it_lies, store_as_it_is_read};

/// Parts of an operand at most that are read by a slice each.
const MAX_PARTS: i64 = 1024;
/// The most parts where windows move along one axis alone. Beyond them, windows are rows of a skewed tensor.
const MAX_PARTS_OF_AXIS: i64 = 8;

/// The fewest places of a kernel, and the fewest channels, for which a copy with channels innermost is read: 4 images
/// of 64 channels of 56x56 and a kernel of 3x3 took 14.1 ms without it, and 12.4 with it (AMD EPYC, one thread).
const MIN_COPIED: [i64; 2] = [4, 16];

/// A convolution that stays whole: operands are read as they lie, the first one from a copy with channels innermost
/// where that is faster. The result is stored as permutations read it, else by [`store_channels_inward`].
pub fn called(ir: &mut Ir, op: Op) -> Parts {
    for index in 0..ir.operand_count(op) {
        read_as_it_lies(ir, op, index);
    }
    copy_channels_inward(ir, op)?;
    // Any axis but that of batches may be the innermost one.
    let result = ir.result(op, 0);
    store_as_it_is_read(ir, op, ir.rank(result).saturating_sub(1));
    store_channels_inward(ir, op);
    Ok(Vec::new())
}

/// Lets the convolution read a copy of its first operand with channels innermost. Windows then have runs of terms that
/// are neighbors in memory, which micro-kernels read in place.
fn copy_channels_inward(ir: &mut Ir, op: Op) -> Result<(), OpError> {
    let (x, kernel) = (ir.operand(op, 0), ir.operand(op, 1));
    let (Some(places), Some(order)) = (
        space(ir, op, kernel),
        ir.value_kind(x).as_tensor().map(|x| layout::order(ir, x)),
    ) else {
        return Ok(());
    };
    let channels = 1 + usize::from(is_grouped(ir, op));
    let least = [places.iter().product::<i64>(), length(ir, x, channels)];
    if order.last() == Some(&channels) || least.iter().zip(MIN_COPIED).any(|(n, min)| *n < min) {
        return Ok(());
    }
    let rows: Vec<usize> = (0..order.len()).collect();
    let ty = layout::with(ir, ir.value_type(x), &inward(&rows, channels));
    let mut b = Builder::before(ir, op);
    let copy = b.value(&fusion::COPY, &[x], &[])?;
    ir.set_value_type(copy, ty);
    ir.set_operand(op, 0, copy);
    Ok(())
}

/// Stores channels innermost: those of an operand that has them there, and many filters of few channels, which vectors
/// of later kernels then read. A result that is returned or reshaped stays row-major, which its reader needs.
fn store_channels_inward(ir: &mut Ir, op: Op) {
    let (x, result) = (ir.operand(op, 0), ir.result(op, 0));
    let Some(order) = ir.value_kind(x).as_tensor().map(|x| layout::order(ir, x)) else {
        return;
    };
    let channels = 1 + usize::from(is_grouped(ir, op));
    let reshapes = |user| ir.def(user).is_some_and(|def| def.has_maps(&maps::RESHAPE));
    let bound = |user| ir.has(user, Traits::TERMINATOR) || reshapes(user);
    if layout::is_stated(ir, result) || ir.users(result).any(bound) {
        return;
    }
    let [_, many] = MIN_COPIED;
    let order = match order.last() == Some(&channels) {
        true => order,
        false
            if (1..many).contains(&length(ir, x, channels))
                && length(ir, result, channels) >= many =>
        {
            inward(&order, channels).into()
        }
        false => return,
    };
    let ty = layout::with(ir, ir.value_type(result), &order);
    ir.set_value_type(result, ty);
}

/// The constant length of an axis; 0 for another one.
fn length(ir: &Ir, value: Value, axis: usize) -> i64 {
    let tensor = ir.value_kind(value).as_tensor();
    match tensor
        .and_then(|tensor| tensor.dims.get(axis))
        .map(|dim| dim.extent)
    {
        Some(Extent::Static(length)) => i64::try_from(length).unwrap_or(i64::MAX),
        _ => 0,
    }
}

/// An order of axes with groups and channels innermost.
fn inward(order: &[usize], channels: usize) -> Vec<usize> {
    let inner = 1..=channels;
    let outer = order.iter().copied().filter(|axis| !inner.contains(axis));
    outer.chain(inner.clone()).collect()
}

/// True if a convolution is already a matrix product: each window is one element, and each element one window.
pub fn is_product(ir: &Ir, op: Op) -> bool {
    let still = Window {
        stride: 1,
        low: 0,
        high: 0,
        dilation: 1,
        base_dilation: 1,
    };
    let single = |window: &Window| {
        Window {
            dilation: 1,
            ..*window
        } == still
    };
    let places = ir
        .operands(op)
        .nth(1)
        .and_then(|kernel| space(ir, op, kernel));
    windows(ir, op).is_some_and(|windows| windows.iter().all(single))
        && places.is_some_and(|places| places.iter().all(|&places| places == 1))
}

/// The convolution as a product.
pub fn multiplied(ir: &mut Ir, op: Op) -> Parts {
    let odd = || OpError::new("its clauses do not fit its operands");
    let [x, kernel] = [0, 1].map(|operand| ir.operand(op, operand));
    let windows = windows(ir, op).ok_or_else(odd)?;
    let [own, places] = [x, kernel].map(|value| space(ir, op, value));
    let (own, places) = (own.ok_or_else(odd)?, places.ok_or_else(odd)?);
    let counts = (windows.iter().zip(&own).zip(&places))
        .map(|((window, own), places)| Some(window.count(*own, *places)?.max(0)));
    let counts = counts.collect::<Option<Vec<i64>>>().ok_or_else(odd)?;
    let grouped = is_grouped(ir, op);
    let result = ir.result(op, 0);
    let to = ir.value_kind(result).dtype().ok_or_else(odd)?;
    let made = dims(ir, result)?;
    let mut b = Builder::before(ir, op);
    if counts.contains(&0) {
        let zero = zero(&mut b, to)?;
        let clause = [b.shape("shape", &made)];
        return Ok(vec![b.value(&fusion::FULL, &[zero], &clause)?]);
    }
    let rank = made.len() as i64;
    let space = windows.len() as i64;
    let front = rank - space;
    // Windows of [N, S..., (G), C], and a kernel of [K..., C, (G), O].
    let inner = |order: [&[i64]; 3]| order.concat();
    let of_space: Vec<i64> = (front..rank).collect();
    let groups: &[i64] = if grouped { &[1] } else { &[] };
    let x = dense(&mut b, x)?;
    let x = permuted(
        &mut b,
        x,
        &inner([&[0], &of_space, &[groups, &[front - 1]].concat()]),
    )?;
    let mut kernel = dense(&mut b, kernel)?;
    let mut of_kernel = of_space.as_slice();
    if places.iter().all(|&places| places == 1) {
        // Without its axes of space a kernel is read as it lies.
        kernel = without_space(&mut b, kernel, front as usize)?;
        of_kernel = &[];
    }
    let groups: &[i64] = if grouped { &[0] } else { &[] };
    let order = inner([of_kernel, &[front - 1], &[groups, &[front - 2]].concat()]);
    let kernel = permuted(&mut b, kernel, &order)?;
    let x = bordered(&mut b, x, &windows)?;
    let walk = Walk {
        windows: &windows,
        counts: &counts,
        places: &places,
    };
    // [N, R..., P, (G), C]
    let rows = walk.rows(&mut b, x)?;
    let axes = dims(b.ir, rows)?;
    let filters = *dims(b.ir, kernel)?.last().ok_or_else(odd)?;
    let place = 1 + space as usize;
    let features = *axes.last().ok_or_else(odd)?;
    let terms = times(b.ir, &[axes[place], features])?;
    if !grouped {
        let rows = reshaped(&mut b, rows, &[&axes[..place], &[terms]].concat())?;
        let kernel = reshaped(&mut b, kernel, &[terms, filters])?;
        let product = product(&mut b, [rows, kernel], to)?;
        let order = inner([&[0], &[space + 1], &(1..=space).collect::<Vec<_>>()]);
        return Ok(vec![permuted(&mut b, product, &order)?]);
    }
    let group = axes[place + 1];
    let outer: Vec<i64> = (0..place as i64).collect();
    let last = place as i64;
    let rows = permuted(
        &mut b,
        rows,
        &inner([&[last + 1], &outer, &[last, last + 2]]),
    )?;
    let count = times(b.ir, &axes[..place])?;
    let rows = reshaped(&mut b, rows, &[group, count, terms])?;
    let places = of_kernel.len() as i64;
    let order = inner([
        &[places + 1],
        &(0..=places).collect::<Vec<_>>(),
        &[places + 2],
    ]);
    let kernel = permuted(&mut b, kernel, &order)?;
    let kernel = reshaped(&mut b, kernel, &[group, terms, filters])?;
    let product = product(&mut b, [rows, kernel], to)?;
    let product = reshaped(
        &mut b,
        product,
        &[&[group], &axes[..place], &[filters]].concat(),
    )?;
    let order = inner([&[1, 0], &[space + 2], &(2..space + 2).collect::<Vec<_>>()]);
    Ok(vec![permuted(&mut b, product, &order)?])
}

/// The product of matrices, of integers as a sum.
fn product(b: &mut Builder<'_>, [left, right]: [Value; 2], to: DType) -> Built {
    let (rows, columns) = (dims(b.ir, left)?, dims(b.ir, right)?);
    if to.is_float() {
        let clause = [b.dtype("to", to)];
        let own = b.ir.value_kind(left).dtype() == Some(to);
        return b.value(
            &fusion::MATMUL,
            &[left, right],
            if own { &[] } else { &clause },
        );
    }
    let (left, right) = (b.cast(left, to)?, b.cast(right, to)?);
    let last = rows.len() as i64;
    let batch = columns.len() as i64 - 2;
    let space = [&rows[..], &columns[columns.len() - 1..]].concat();
    let left = b.broadcast(left, &(0..last).collect::<Vec<_>>(), &space)?;
    let place: Vec<i64> = (0..batch).chain([last - 1, last]).collect();
    let right = b.broadcast(right, &place, &space)?;
    let product = b.mul(left, right)?;
    b.reduce(&fusion::SUM, product, &[last - 1])
}

fn zero(b: &mut Builder<'_>, dtype: DType) -> Built {
    let ty = b.ir.scalar(dtype);
    match dtype.is_float() {
        true => b.constant_float(0.0, ty),
        false => b.constant_int(0, ty),
    }
}

/// The axes of a value.
fn dims(ir: &Ir, value: Value) -> Result<Vec<Dim>, OpError> {
    let tensor = ir.value_kind(value).as_tensor();
    let dims = tensor.map(|tensor| tensor.dims.clone());
    dims.ok_or_else(|| OpError::new("an operand is no tensor"))
}

/// One axis in place of several.
fn times(ir: &mut Ir, axes: &[Dim]) -> Result<Dim, OpError> {
    let product = axes.iter().try_fold(ExtentExpr::constant(1), |all, axis| {
        all.mul(&ir.extent_as_expr(axis.extent)?)
    });
    let extent = product.and_then(|product| ir.extent(product));
    let extent = extent.ok_or_else(|| OpError::new("its rows are too long"))?;
    Ok(Dim::new(extent))
}

/// The tensor with every element stored.
fn dense(b: &mut Builder<'_>, x: Value) -> Built {
    if !dims(b.ir, x)?.iter().any(|dim| dim.broadcast) {
        return Ok(x);
    }
    let dense = b.flag("dense");
    b.value(&fusion::COPY, &[x], &[dense])
}

fn permuted(b: &mut Builder<'_>, x: Value, order: &[i64]) -> Built {
    let (x, order) = match unpermuted(b.ir, x) {
        Some((source, first)) => (source, order.iter().map(|&d| first[d as usize]).collect()),
        None => (x, order.to_vec()),
    };
    if order.is_sorted() {
        return Ok(x);
    }
    let clause = [b.ints("dims", &order)];
    b.value(&fusion::PERMUTE, &[x], &clause)
}

/// The operand and the axes of the permutation that makes a value stored as it likes.
fn unpermuted(ir: &Ir, x: Value) -> Option<(Value, Vec<i64>)> {
    let own = |&op: &Op| ir.def(op).is_some_and(|def| def.has_maps(&maps::PERMUTE));
    let made = ir.def_op(x).filter(own)?;
    let order = ir.i64s_of(made, "dims")?.to_vec();
    (!layout::is_stated(ir, x)).then(|| (ir.operand(made, 0), order))
}

/// A kernel of one place without its axes of space, the ones from `front` on. Those of a permuted kernel are removed
/// before the permutation, where its memory has them.
fn without_space(b: &mut Builder<'_>, kernel: Value, front: usize) -> Built {
    let shape = dims(b.ir, kernel)?;
    let lies = unpermuted(b.ir, kernel).filter(|(source, _)| {
        let tensor = b.ir.value_kind(*source).as_tensor();
        tensor.is_some_and(|tensor| layout::is_row_major(b.ir, tensor))
    });
    let Some((source, order)) = lies else {
        return reshaped(b, kernel, &shape[..front]);
    };
    let mut kept = order[..front].to_vec();
    let mut axes = kept.clone();
    axes.sort_unstable();
    let own = dims(b.ir, source)?;
    let shape: Vec<Dim> = axes.iter().map(|&axis| own[axis as usize]).collect();
    for axis in &mut kept {
        *axis = axes.partition_point(|other| other < axis) as i64;
    }
    let source = reshaped(b, source, &shape)?;
    permuted(b, source, &kept)
}

fn reshaped(b: &mut Builder<'_>, x: Value, shape: &[Dim]) -> Built {
    if dims(b.ir, x)? == shape {
        return Ok(x);
    }
    let clause = [b.shape("shape", shape)];
    b.value(&fusion::RESHAPE, &[x], &clause)
}

/// The elements from the first one along each axis on.
fn from_start(b: &mut Builder<'_>, x: Value, shape: &[Dim], strides: Option<&[i64]>) -> Built {
    if dims(b.ir, x)? == shape {
        return Ok(x);
    }
    let mut clauses = vec![
        b.ints("starts", &vec![0; shape.len()]),
        b.shape("shape", shape),
    ];
    clauses.extend(strides.map(|strides| b.ints("strides", strides)));
    b.value(&fusion::SLICE, &[x], &clauses)
}

/// The clause numbers of a slice or pad: those of `space` for the spatial axes, which follow the first axis, and
/// `other` elsewhere.
fn along(rank: usize, other: i64, space: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut numbers = vec![other; rank];
    numbers[1..]
        .iter_mut()
        .zip(space)
        .for_each(|(slot, n)| *slot = n);
    numbers
}

/// Elements `starts + i * strides` along the axes of space.
fn sliced(b: &mut Builder<'_>, x: Value, [starts, counts, strides]: [&[i64]; 3]) -> Built {
    let mut shape = dims(b.ir, x)?;
    let each = |numbers: &[i64], other| along(shape.len(), other, numbers.iter().copied());
    let (starts, strides) = (each(starts, 0), each(strides, 1));
    for (dim, count) in shape[1..].iter_mut().zip(counts) {
        *dim = Dim::fixed((*count).max(0) as u64);
    }
    if shape == dims(b.ir, x)? && strides.iter().all(|stride| *stride == 1) {
        return Ok(x);
    }
    let clauses = [
        b.ints("starts", &starts),
        b.shape("shape", &shape),
        b.ints("strides", &strides),
    ];
    let steps = strides.iter().any(|stride| *stride != 1);
    b.value(&fusion::SLICE, &[x], &clauses[..2 + usize::from(steps)])
}

/// Zeros before and behind the axes of space.
fn padded(b: &mut Builder<'_>, x: Value, low: &[i64], high: &[i64]) -> Built {
    let rank = dims(b.ir, x)?.len();
    let dtype = b.ir.value_kind(x).dtype().unwrap_or(DType::F32);
    let zero = zero(b, dtype)?;
    let each = |numbers: &[i64]| along(rank, 0, numbers.iter().map(|n| (*n).max(0)));
    let (low, high) = (each(low), each(high));
    let clauses = [b.ints("low", &low), b.ints("high", &high)];
    b.value(&fusion::PAD, &[x, zero], &clauses)
}

/// `x` of axes `[N, S..., ...]` with zeros between its elements, then with padding; negative padding removes elements.
fn bordered(b: &mut Builder<'_>, mut x: Value, windows: &[Window]) -> Built {
    let mut own = known(b.ir, x, windows.len())?;
    for (dim, window) in windows.iter().enumerate() {
        let between = window.base_dilation - 1;
        if between == 0 || own[dim] <= 1 {
            continue;
        }
        let (axis, axes) = (1 + dim, dims(b.ir, x)?);
        let whole = window.base_dilation * own[dim];
        let mut apart = axes.clone();
        apart.insert(axis + 1, Dim::fixed(1));
        x = reshaped(b, x, &apart)?;
        let mut high = vec![0; axis + 1];
        high[axis] = between;
        x = padded(b, x, &[], &high)?;
        let mut shape = axes;
        shape[axis] = Dim::fixed(whole as u64);
        x = reshaped(b, x, &shape)?;
        own[dim] = whole;
        let mut counts = own.clone();
        counts[dim] = whole - between;
        x = sliced(b, x, [&[], &counts, &[]])?;
        own = counts;
    }
    let cut = |n: i64| (-n).max(0);
    let cuts = windows
        .iter()
        .any(|window| window.low < 0 || window.high < 0);
    let borders = windows
        .iter()
        .any(|window| window.low > 0 || window.high > 0);
    let [low, high]: [Vec<i64>; 2] = [
        windows.iter().map(|window| window.low).collect(),
        windows.iter().map(|window| window.high).collect(),
    ];
    if borders {
        x = padded(b, x, &low, &high)?;
    }
    if cuts {
        let starts: Vec<i64> = low.iter().map(|low| cut(*low)).collect();
        let lengths = (own.iter().zip(windows)).map(|(own, window)| own + window.low + window.high);
        let lengths: Vec<i64> = lengths.collect();
        x = sliced(b, x, [&starts, &lengths, &[]])?;
    }
    Ok(x)
}

/// The known lengths of the axes of space.
fn known(ir: &Ir, x: Value, space: usize) -> Result<Vec<i64>, OpError> {
    let length = |dim: &Dim| match dim.extent {
        Extent::Static(length) => i64::try_from(length).ok(),
        _ => None,
    };
    let lengths = dims(ir, x)?[1..].iter().take(space).map(length).collect();
    Option::ok_or_else(lengths, || OpError::new("an axis of space is not known"))
}

/// The windows over a tensor `[N, S..., ...]` that includes its padding.
struct Walk<'a> {
    windows: &'a [Window],
    counts: &'a [i64],
    places: &'a [i64],
}

impl Walk<'_> {
    /// The elements of all windows, `[N, R..., P, ...]`.
    fn rows(&self, b: &mut Builder<'_>, x: Value) -> Built {
        let product = |list: &[i64]| list.iter().fold(1i64, |all, n| all.saturating_mul(*n));
        let (results, places) = (product(self.counts), product(self.places));
        let space = self.windows.len();
        let axes = dims(b.ir, x)?;
        let count = |n: i64| Dim::fixed(n as u64);
        let of_results: Vec<Dim> = self.counts.iter().map(|n| count(*n)).collect();
        let rest = &axes[1 + space..];
        let shape = [&axes[..1], &of_results, &[count(places)], rest].concat();
        let moves = |dim: &usize| self.places[*dim] > 1;
        let mut moving = (0..space).filter(moves);
        if let (Some(dim), None) = (moving.next(), moving.next())
            && places.min(results) > MAX_PARTS_OF_AXIS
        {
            let x = self.skewed(b, x, dim)?;
            return reshaped(b, x, &shape);
        }
        if places.min(results) > MAX_PARTS {
            let x = self.taken(b, x)?;
            return reshaped(b, x, &shape);
        }
        let by_place = places <= results;
        let (parts, along) = match by_place {
            true => (places, 1 + space),
            false => (results, 1),
        };
        let ones = vec![count(1); space];
        let part_shape = match by_place {
            true => [&axes[..1], &of_results, &[count(1)], rest].concat(),
            false => [&axes[..1], &ones, &[count(places)], rest].concat(),
        };
        let mut all = Vec::new();
        for number in 0..parts {
            let part = match by_place {
                true => self.place(b, x, number)?,
                false => self.window(b, x, number)?,
            };
            all.push(reshaped(b, part, &part_shape)?);
        }
        let rows = match all.as_slice() {
            [part] => *part,
            parts => {
                let clause = [b.int("dim", along as i64)];
                b.value(&fusion::CAT, parts, &clause)?
            }
        };
        reshaped(b, rows, &shape)
    }
    /// The digits of a number, the last one first to move.
    fn digits(lengths: &[i64], mut number: i64) -> Vec<i64> {
        let mut digits = vec![0; lengths.len()];
        for (digit, length) in digits.iter_mut().zip(lengths).rev() {
            *digit = number % length.max(&1);
            number /= length.max(&1);
        }
        digits
    }
    /// The element of every window at one position of the kernel, `[N, R..., ...]`.
    fn place(&self, b: &mut Builder<'_>, x: Value, number: i64) -> Built {
        let digits = Self::digits(self.places, number).into_iter();
        let starts: Vec<i64> = (digits.zip(self.windows))
            .map(|(digit, window)| digit * window.dilation)
            .collect();
        let strides: Vec<i64> = self.windows.iter().map(|window| window.stride).collect();
        sliced(b, x, [&starts, self.counts, &strides])
    }
    /// The elements of one window, `[N, K..., ...]`.
    fn window(&self, b: &mut Builder<'_>, x: Value, number: i64) -> Built {
        let digits = Self::digits(self.counts, number).into_iter();
        let starts: Vec<i64> = (digits.zip(self.windows))
            .map(|(digit, window)| digit * window.stride)
            .collect();
        let steps: Vec<i64> = self.windows.iter().map(|window| window.dilation).collect();
        sliced(b, x, [&starts, self.places, &steps])
    }
    /// The elements of all windows that move along axis `dim` of space alone, `[N, R..., K, ...]`. Copies of the axis
    /// lie one behind the other. Rows that are longer by a step begin a step further on, each in its copy.
    ///
    /// ```text
    /// 0 1 2 3, 0 1 2 3, 0 1 2 3, 0 1 2 3  =>  0 1 2 3 0, 1 2 3 0 1, 2 3 0 1 2  =>  windows 0 1, 1 2, 2 3 as columns
    /// ```
    fn skewed(&self, b: &mut Builder<'_>, x: Value, dim: usize) -> Built {
        let (window, space) = (self.windows[dim], self.windows.len());
        let (places, axis) = (self.places[dim], 1 + dim);
        let too_long = || OpError::new("its windows are too long");
        let whole = dims(b.ir, x)?;
        let length = known(b.ir, x, space)?[dim];
        let row = length + window.dilation;
        let needed = places.checked_mul(row).ok_or_else(too_long)?;
        let copies = (needed - 1) / length.max(1) + 1;
        let all = copies.checked_mul(length).ok_or_else(too_long)?;
        let with = |lengths: &[i64]| {
            let own: Vec<Dim> = lengths.iter().map(|&n| Dim::fixed(n as u64)).collect();
            [&whole[..axis], &own, &whole[axis + 1..]].concat()
        };
        let kept: Vec<i64> = (0..=whole.len() as i64)
            .filter(|&a| a != axis as i64)
            .collect();
        let x = b.broadcast(x, &kept, &with(&[copies, length]))?;
        let x = dense(b, x)?;
        let x = reshaped(b, x, &with(&[all]))?;
        let x = from_start(b, x, &with(&[needed]), None)?;
        let x = reshaped(b, x, &with(&[places, row]))?;
        // Every axis of space has its windows now, those that do not move too.
        let mut shape = with(&[places, self.counts[dim]]);
        let mut strides = vec![1; shape.len()];
        for (other, &count) in self.counts.iter().enumerate() {
            let at = 1 + other + usize::from(other >= dim);
            shape[at] = Dim::fixed(count as u64);
            strides[at] = self.windows[other].stride;
        }
        let x = from_start(b, x, &shape, Some(&strides))?;
        let rank = shape.len() as i64;
        let (axis, behind) = (axis as i64, 1 + space as i64);
        let order: Vec<i64> = (0..axis)
            .chain(axis + 1..=behind)
            .chain([axis])
            .chain(behind + 1..rank)
            .collect();
        permuted(b, x, &order)
    }
    /// The elements of all windows at computed indices, `[N, R..., K..., ...]`.
    fn taken(&self, b: &mut Builder<'_>, mut x: Value) -> Built {
        let space = self.windows.len();
        for dim in (0..space).rev() {
            let window = self.windows[dim];
            let shape = [self.counts[dim], self.places[dim]].map(|n| Dim::fixed(n as u64));
            let mut index = None;
            for (axis, step) in [(0, window.stride), (1, window.dilation)] {
                let clauses = [
                    b.int("dim", axis),
                    b.shape("shape", &shape),
                    b.dtype("of", DType::I64),
                ];
                let number = b.value(&fusion::IOTA, &[], &clauses)?;
                let ty = b.ir.scalar(DType::I64);
                let step = b.constant_int(step, ty)?;
                let own = b.mul(number, step)?;
                index = Some(match index {
                    None => own,
                    Some(other) => b.add(other, own)?,
                });
            }
            let index = index.ok_or_else(|| OpError::new("it has no windows"))?;
            let clause = [b.int("dim", 1 + dim as i64)];
            x = b.value(&fusion::TAKE, &[x, index], &clause)?;
        }
        let rank = dims(b.ir, x)?.len() as i64;
        let space = space as i64;
        let order: Vec<i64> = std::iter::once(0)
            .chain((0..space).map(|dim| 1 + 2 * dim))
            .chain((0..space).map(|dim| 2 + 2 * dim))
            .chain(1 + 2 * space..rank)
            .collect();
        permuted(b, x, &order)
    }
}
