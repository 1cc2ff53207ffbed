//! Scatters: their loops as numbers, and the walk over the updates.
//!
//! The result is split by its extents alone into parts, each written by one worker. The worker copies its part of
//! `dest`, then processes all updates in order and writes those inside its part. Each element therefore receives its
//! updates in order, for any number of threads. A result in the memory of `dest` needs no copy.
//!
//! Sound by the plan, which has compared every extent and every size with its buffer; indices are compared with the extent as they are read.

use std::hint::{black_box, select_unpredictable};

use fuser_artifact::{Combine, DType, Factor};
use half::{bf16, f16};

use crate::execute::Address;
use crate::tensor::{Axis, strides};

/// The minimum number of adjacent elements that one call writes at an index, if there are that many.
const CHUNK: usize = 64;
/// The number of calls that a scatter is split into, as far as its extents allow.
const SHARES: usize = 8;
/// The maximum number of elements for which one call processes a line with all its neighbors.
const SMALL: usize = 4096;
/// The minimum number of indices of the axis that a call serves, since each call reads all indices.
const PART: usize = 256;

/// The tensors, in the order of the step.
const DEST: usize = 0;
const INDICES: usize = 1;
const UPDATES: usize = 2;
const RESULT: usize = 3;

/// One loop: its length, and the distance of a step in each tensor, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Loop {
    extent: usize,
    strides: [usize; 4],
}

const ONCE: Loop = Loop {
    extent: 1,
    strides: [0; 4],
};

/// A scatter with numbers for sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scatter {
    /// The buffers of the tensors.
    pub buffers: [usize; 4],
    combine: Combine,
    /// The element types of the tensor and of the indices.
    dtypes: [DType; 2],
    /// Loops around the calls.
    batch: Vec<Loop>,
    /// Neighbours in the result that a call walks.
    inner: Loop,
    /// The axis that is indexed.
    line: Loop,
    /// The updates of a line.
    updates: Loop,
}

impl Scatter {
    /// The loops of a scatter of tensors with these axes; `None` if they disagree about a loop.
    pub fn new(combine: Combine, tensors: &[Factor], axes: &[Vec<Axis>]) -> Option<Scatter> {
        let [_, indices, updates, result] = tensors else {
            return None;
        };
        let rank = result.loops.len();
        let mut loops: Vec<Option<Loop>> = vec![None; rank + 1];
        for (which, (factor, axes)) in tensors.iter().zip(axes).enumerate() {
            let order: Vec<usize> = factor.tensor.order.iter().map(|&a| a as usize).collect();
            let steps = strides(axes, &order);
            for ((&number, axis), step) in factor.loops.iter().zip(axes).zip(steps) {
                let slot = loops.get_mut(number as usize)?;
                let own = slot.get_or_insert(Loop {
                    extent: axis.extent,
                    strides: [0; 4],
                });
                if own.extent != axis.extent {
                    return None;
                }
                own.strides[which] = if axis.broadcast { 0 } else { step };
            }
        }
        let mut loops = loops.into_iter().collect::<Option<Vec<Loop>>>()?;
        let buffers: Vec<usize> = tensors.iter().map(|f| f.tensor.buffer as usize).collect();
        let buffers: [usize; 4] = buffers.try_into().ok()?;
        // In place, each element of the result lies where it lay in `dest`.
        let moved = |own: &Loop| own.strides[DEST] != own.strides[RESULT];
        if buffers[DEST] == buffers[RESULT] && loops.iter().any(moved) {
            return None;
        }
        // Along a broadcast axis of the result there is one element.
        for (own, axis) in loops.iter_mut().zip(axes.last()?) {
            if axis.broadcast {
                own.extent = own.extent.min(1);
            }
        }
        let walked = loops.pop()?;
        let dim = (0..rank).find(|&l| !updates.loops.contains(&(l as u32)))?;
        let line = loops.remove(dim);
        let mut batch = runs(loops);
        let neighbours = batch.iter().position(|own| own.strides[RESULT] == 1);
        let inner = neighbours.map_or(ONCE, |at| batch.remove(at));
        Some(Scatter {
            buffers,
            combine,
            dtypes: [result.tensor.dtype, indices.tensor.dtype],
            batch,
            inner,
            line,
            updates: walked,
        })
    }

    /// The number of calls; `None` where it does not fit.
    pub fn calls(&self) -> Option<i64> {
        let [chunk, part] = self.pieces();
        let pieces = [
            self.inner.extent.div_ceil(chunk),
            self.line.extent.div_ceil(part),
        ];
        let count = self
            .around()?
            .checked_mul(pieces[0])?
            .checked_mul(pieces[1])?;
        i64::try_from(count).ok()
    }

    fn around(&self) -> Option<usize> {
        let mut extents = self.batch.iter().map(|own| own.extent);
        extents.try_fold(1usize, usize::checked_mul)
    }

    /// True if a call has so few elements that another worker could not start before it is done.
    pub(crate) fn is_small(&self) -> bool {
        let in_place = self.buffers[DEST] == self.buffers[RESULT];
        let written = match in_place {
            true => 0,
            false => self.line.extent,
        };
        let line = self.updates.extent.saturating_add(written);
        line.saturating_mul(self.inner.extent) <= SMALL
    }

    /// The neighbors of one call, and its indices of the axis. The axis is split only while a call copies more elements
    /// than it reads indices.
    fn pieces(&self) -> [usize; 2] {
        if self.is_small() {
            return [self.inner.extent.max(1), self.line.extent.max(1)];
        }
        let around = self.around().unwrap_or(usize::MAX).max(1);
        let shares = SHARES.div_ceil(around);
        let chunk = self.inner.extent.div_ceil(shares).max(CHUNK);
        let shares = shares.div_ceil(self.inner.extent.div_ceil(chunk).max(1));
        let copied = self
            .line
            .extent
            .saturating_mul(self.inner.extent.min(chunk));
        let worth = copied / self.updates.extent.max(1);
        let shares = shares.min(worth.max(1));
        [chunk, self.line.extent.div_ceil(shares).max(PART)]
    }

    /// Runs call number `call`.
    ///
    /// # Safety
    /// The addresses are those of the buffers, which have the elements that the plan has checked.
    pub(crate) unsafe fn call(&self, call: i64, addresses: [Address; 4]) {
        let [chunk, part] = self.pieces();
        let mut rest = usize::try_from(call).unwrap_or(0);
        let mut digit = |extent: usize| {
            let index = rest % extent.max(1);
            rest /= extent.max(1);
            index
        };
        let from = digit(self.inner.extent.div_ceil(chunk)) * chunk;
        let low = digit(self.line.extent.div_ceil(part)) * part;
        let mut at = self.inner.strides.map(|stride| from * stride);
        for own in self.batch.iter().rev() {
            let index = digit(own.extent);
            let steps = at.iter_mut().zip(own.strides);
            steps.for_each(|(at, stride)| *at += index * stride);
        }
        let sizes = [0, 1, 0, 0].map(|which: usize| self.dtypes[which].bytes());
        let places = [0, 1, 2, 3].map(|which| addresses[which].at(at[which] * sizes[which]));
        let bounds = Bounds {
            count: chunk.min(self.inner.extent - from),
            low,
            high: self.line.extent.min(low + part),
        };
        // SAFETY: the caller's word; the element types are those of the buffers.
        unsafe {
            match self.dtypes[0] {
                DType::F64 => self.of::<f64>(&places, bounds),
                DType::F32 => self.of::<f32>(&places, bounds),
                DType::F16 => self.of::<f16>(&places, bounds),
                DType::Bf16 => self.of::<bf16>(&places, bounds),
                DType::I64 | DType::Index => self.of::<i64>(&places, bounds),
                DType::I32 => self.of::<i32>(&places, bounds),
                DType::I16 => self.of::<i16>(&places, bounds),
                DType::I8 => self.of::<i8>(&places, bounds),
                DType::U64 => self.of::<u64>(&places, bounds),
                DType::U32 => self.of::<u32>(&places, bounds),
                DType::U16 => self.of::<u16>(&places, bounds),
                // Artifacts compute with pairs of reals.
                DType::C64 | DType::C128 => {}
                // Floats of 8 bits are set, not computed with.
                DType::U8
                | DType::I1
                | DType::F8E4M3FN
                | DType::F8E5M2
                | DType::F8E8M0FNU
                | DType::F4E2M1FN => self.of::<u8>(&places, bounds),
            }
        }
    }

    /// # Safety
    /// As for `call`; `places` are the first elements of the call.
    unsafe fn of<T: Element>(&self, places: &[*mut u8; 4], bounds: Bounds) {
        // SAFETY: the caller's word.
        unsafe {
            match self.combine {
                Combine::Set => self.put::<T>(places, bounds, |_, update| update),
                Combine::Add => self.put::<T>(places, bounds, T::add),
                Combine::Mul => self.put::<T>(places, bounds, T::mul),
                Combine::Max => self.put::<T>(places, bounds, T::max),
                Combine::Min => self.put::<T>(places, bounds, T::min),
            }
        }
    }

    /// Writes the result's elements: those of `dest`, unless they lie there, and then the updates.
    ///
    /// # Safety
    /// As for `of`.
    unsafe fn put<T: Element>(
        &self,
        places: &[*mut u8; 4],
        bounds: Bounds,
        join: impl Fn(T, T) -> T,
    ) {
        let Bounds { count, low, high } = bounds;
        if low == high {
            return;
        }
        let dest: *const T = places[DEST].cast();
        let result: *mut T = places[RESULT].cast();
        let line = self.line.strides;
        let inner = self.inner.strides;
        let copied = [inner[RESULT], inner[DEST]];
        let in_place = self.buffers[DEST] == self.buffers[RESULT];
        // Single elements are neighbours along the axis, if along any.
        let (rows, length, steps) = match count {
            1 => (low..low + 1, high - low, [line[RESULT], line[DEST]]),
            _ => (low..high, count, copied),
        };
        for index in rows.filter(|_| !in_place) {
            let from = dest.wrapping_add(index * line[DEST]);
            let to = result.wrapping_add(index * line[RESULT]);
            // SAFETY: the plan has checked that the elements are there, and this call alone uses these of the result.
            unsafe {
                row(to, from, length, steps, |to, x| *to = x);
            }
        }
        // SAFETY: the caller's word.
        unsafe {
            match self.dtypes[1] {
                DType::I32 => self.walk::<T, i32>(places, bounds, join),
                _ => self.walk::<T, i64>(places, bounds, join),
            }
        }
    }

    /// Combines the updates, whose indices are of type `I`, with the elements of the result.
    ///
    /// # Safety
    /// As for `of`.
    unsafe fn walk<T: Element, I: Copy + Into<i64>>(
        &self,
        places: &[*mut u8; 4],
        bounds: Bounds,
        join: impl Fn(T, T) -> T,
    ) {
        let line = self.line.strides[RESULT];
        let neighbours = Loop {
            extent: bounds.count,
            ..self.inner
        };
        let loops = match bounds.count {
            1 => [ONCE, self.updates],
            _ => [self.updates, neighbours],
        };
        // SAFETY: the caller's word.
        unsafe {
            match neighbours.strides[INDICES] {
                0 if bounds.count > 1 => rows::<T, I>(places, bounds, line, loops, join),
                _ => elements::<T, I>(places, bounds, line, loops, join),
            }
        }
    }
}

/// Combines updates of which each has an index of its own: those of two loops, the inner one second.
///
/// An update whose index is outside is combined with itself and put into a place apart. A branch would cost more: where
/// such updates come in no order, the processor predicts half of them wrongly. In a function by itself, all addresses
/// stay in registers.
///
/// # Safety
/// As for `of`.
#[inline(never)]
unsafe fn elements<T: Element, I: Copy + Into<i64>>(
    places: &[*mut u8; 4],
    bounds: Bounds,
    line: usize,
    [outer, inner]: [Loop; 2],
    join: impl Fn(T, T) -> T,
) {
    if outer.extent == 0 || inner.extent == 0 {
        return;
    }
    let indices: *const I = places[INDICES].cast();
    let updates: *const T = places[UPDATES].cast();
    let result: *mut T = places[RESULT].cast();
    // SAFETY: the plan has checked that the first update is there.
    let mut unused = unsafe { updates.read() };
    // The optimizer would make a branch of a store to a place that it knows to be unused.
    let unused: *mut T = black_box(&mut unused);
    for own in 0..outer.extent {
        let [_, mut index, mut from, mut to] = outer.strides.map(|stride| stride * own);
        for _ in 0..inner.extent {
            // SAFETY: the plan has checked that the index and the update are there; the element is read and written
            // only where its index is below the extent.
            unsafe {
                let at: i64 = indices.wrapping_add(index).read().into();
                let inside = bounds.has(at);
                let place = result.wrapping_add(to.wrapping_add((at as usize).wrapping_mul(line)));
                let update = updates.wrapping_add(from);
                let old = select_unpredictable(inside, place.cast_const(), update).read();
                let new = join(old, update.read());
                select_unpredictable(inside, place, unused).write(new);
            }
            index += inner.strides[INDICES];
            from += inner.strides[UPDATES];
            to += inner.strides[RESULT];
        }
    }
}

/// Combines updates of which all neighbours of a call have one index: the second loop is over those.
///
/// # Safety
/// As for `of`.
#[inline(never)]
unsafe fn rows<T: Element, I: Copy + Into<i64>>(
    places: &[*mut u8; 4],
    bounds: Bounds,
    line: usize,
    [outer, inner]: [Loop; 2],
    join: impl Fn(T, T) -> T,
) {
    let indices: *const I = places[INDICES].cast();
    let updates: *const T = places[UPDATES].cast();
    let result: *mut T = places[RESULT].cast();
    let joined = [inner.strides[RESULT], inner.strides[UPDATES]];
    for own in 0..outer.extent {
        let [_, index, from, _] = outer.strides.map(|stride| stride * own);
        // SAFETY: the plan has checked that the index is there.
        let index: i64 = unsafe { indices.wrapping_add(index).read() }.into();
        if !bounds.has(index) {
            continue;
        }
        let to = result.wrapping_add(index as usize * line);
        let from = updates.wrapping_add(from);
        // SAFETY: the plan has checked that the elements are there; the index is below the extent.
        unsafe { row(to, from, inner.extent, joined, |to, x| *to = join(*to, x)) }
    }
}

/// The part of a scatter in one call: `count` neighbors, at indices of the axis from `low` to `high`.
#[derive(Clone, Copy)]
struct Bounds {
    count: usize,
    low: usize,
    high: usize,
}

impl Bounds {
    fn has(self, index: i64) -> bool {
        // Below 0 it is beyond every extent.
        (index as u64).wrapping_sub(self.low as u64) < (self.high - self.low) as u64
    }
}

/// Applies `f` to each of `count` destination elements, `step` apart, and its source element, `stride` apart.
///
/// # Safety
/// The elements are there, those at `to` are initialized or `f` reads none of them, and nobody else uses them.
unsafe fn row<T: Copy>(
    to: *mut T,
    from: *const T,
    count: usize,
    [step, stride]: [usize; 2],
    f: impl Fn(&mut T, T),
) {
    if [step, stride] == [1, 1] {
        // SAFETY: the caller's word: the elements are neighbours.
        let (to, from) = unsafe {
            (
                std::slice::from_raw_parts_mut(to, count),
                std::slice::from_raw_parts(from, count),
            )
        };
        to.iter_mut().zip(from).for_each(|(to, x)| f(to, *x));
        return;
    }
    for i in 0..count {
        let (to, from) = (to.wrapping_add(i * step), from.wrapping_add(i * stride));
        // SAFETY: the caller's word.
        unsafe { f(&mut *to, from.read()) }
    }
}

/// Loops in which neighbours that are one run are one.
fn runs(loops: Vec<Loop>) -> Vec<Loop> {
    let mut runs: Vec<Loop> = Vec::new();
    for own in loops.into_iter().filter(|own| own.extent != 1) {
        match runs.last_mut() {
            Some(outer) if outer.strides == own.strides.map(|stride| stride * own.extent) => {
                let extent = outer.extent * own.extent;
                *outer = Loop { extent, ..own };
            }
            _ => runs.push(own),
        }
    }
    runs
}

/// An element that can be combined with another. Floats of 16 bits and booleans are neither added nor multiplied: no
/// valid artifact has such a scatter.
trait Element: Copy {
    /// The sum; of floats `+0` where it is zero.
    fn add(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// The greater; NaN if either is; `-0 < +0`.
    fn max(self, other: Self) -> Self;
    fn min(self, other: Self) -> Self;
}

macro_rules! integers {
    ($($ty:ty)*) => {$(
        impl Element for $ty {
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            fn max(self, other: Self) -> Self {
                Ord::max(self, other)
            }
            fn min(self, other: Self) -> Self {
                Ord::min(self, other)
            }
        }
    )*};
}
integers!(i64 i32 i16 i8 u64 u32 u16 u8);

macro_rules! floats {
    ($($ty:ty: $zero:expr;)*) => {$(
        impl Element for $ty {
            fn add(self, other: Self) -> Self {
                $zero + (self + other)
            }
            fn mul(self, other: Self) -> Self {
                self * other
            }
            fn max(self, other: Self) -> Self {
                match self.is_nan() || (!other.is_nan() && self.total_cmp(&other).is_ge()) {
                    true => self,
                    false => other,
                }
            }
            fn min(self, other: Self) -> Self {
                match self.is_nan() || (!other.is_nan() && self.total_cmp(&other).is_le()) {
                    true => self,
                    false => other,
                }
            }
        }
    )*};
}
floats! {
    f64: 0.0;
    f32: 0.0;
    f16: f16::ZERO;
    bf16: bf16::ZERO;
}

#[cfg(test)]
#[path = "scatter_tests.rs"]
mod tests;
