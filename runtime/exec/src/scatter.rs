//! Scatters: their loops as numbers, and the walk over the updates.
//!
//! The result is cut by its extents alone into parts that each one worker makes: it copies its part of `dest`, then walks all updates in order
//! and puts those that fall into its part. So each element meets its updates in order, however many threads run. A result in the memory of
//! `dest` is there already: nothing is copied.
//!
//! Sound by the plan, which has compared every extent and every size with its buffer; indices are compared with the extent as they are read.

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
/// Indices of the axis that a call serves at least: each call reads all indices.
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

    /// True if a call is a few elements' work: another worker would hear of it when it is done.
    pub(crate) fn is_small(&self) -> bool {
        let in_place = self.buffers[DEST] == self.buffers[RESULT];
        let written = match in_place && self.combine != Combine::Add {
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
                Combine::Set => self.put::<T>(places, bounds, None, |_, update| update),
                Combine::Add => self.put::<T>(places, bounds, T::PLUS_ZERO, T::add),
                Combine::Mul => self.put::<T>(places, bounds, None, T::mul),
                Combine::Max => self.put::<T>(places, bounds, None, T::max),
                Combine::Min => self.put::<T>(places, bounds, None, T::min),
            }
        }
    }

    /// `first` is done to each element before updates; without it elements of `dest` are the result's as they are.
    ///
    /// # Safety
    /// As for `of`.
    unsafe fn put<T: Element>(
        &self,
        places: &[*mut u8; 4],
        bounds: Bounds,
        first: Option<fn(T) -> T>,
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
        for index in rows {
            let from = dest.wrapping_add(index * line[DEST]);
            let to = result.wrapping_add(index * line[RESULT]);
            // SAFETY: the plan has checked that the elements are there, and this call alone uses these of the result; in place, those of `dest`
            // are the same (`new`).
            unsafe {
                match first {
                    None if in_place => break,
                    None => row(to, from, length, steps, |to, x| *to = x),
                    Some(first) if in_place => {
                        for i in 0..length {
                            let to = to.wrapping_add(i * steps[0]);
                            to.write(first(to.read()));
                        }
                    }
                    Some(first) => row(to, from, length, steps, |to, x| *to = first(x)),
                }
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

    /// Joins the updates, whose indices are of type `I`, with the elements of the result.
    ///
    /// # Safety
    /// As for `of`.
    unsafe fn walk<T: Element, I: Copy + Into<i64>>(
        &self,
        places: &[*mut u8; 4],
        Bounds { count, low, high }: Bounds,
        join: impl Fn(T, T) -> T,
    ) {
        let indices: *const I = places[INDICES].cast();
        let updates: *const T = places[UPDATES].cast();
        let result: *mut T = places[RESULT].cast();
        let (line, inner) = (self.line.strides[RESULT], self.inner.strides);
        let walked = self.updates.strides;
        let index = |at: usize| {
            // SAFETY: the plan has checked that the index is there.
            let index: i64 = unsafe { indices.wrapping_add(at).read() }.into();
            // Below 0 it is beyond every extent.
            let inside = (index as u64).wrapping_sub(low as u64) < (high - low) as u64;
            inside.then_some(index as usize)
        };
        if count == 1 {
            for update in 0..self.updates.extent {
                let Some(index) = index(update * walked[INDICES]) else {
                    continue;
                };
                let to = result.wrapping_add(index * line);
                let from = updates.wrapping_add(update * walked[UPDATES]);
                // SAFETY: as above; the index is below the extent.
                unsafe { to.write(join(to.read(), from.read())) }
            }
            return;
        }
        let joined = [inner[RESULT], inner[UPDATES]];
        let one_for_all = inner[INDICES] == 0;
        let (rows, length) = if one_for_all { (1, count) } else { (count, 1) };
        for update in 0..self.updates.extent {
            let from = updates.wrapping_add(update * walked[UPDATES]);
            let own = update * walked[INDICES];
            for at in 0..rows {
                let Some(index) = index(own + at * inner[INDICES]) else {
                    continue;
                };
                let to = result.wrapping_add(index * line + at * inner[RESULT]);
                let from = from.wrapping_add(at * inner[UPDATES]);
                // SAFETY: as above; the index is below the extent.
                unsafe { row(to, from, length, joined, |to, x| *to = join(*to, x)) }
            }
        }
    }
}

/// The part of a scatter in one call: `count` neighbors, at indices of the axis from `low` to `high`.
#[derive(Clone, Copy)]
struct Bounds {
    count: usize,
    low: usize,
    high: usize,
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
    /// `0 + x`, where that is not `x`: a zero that is summed is `+0`.
    const PLUS_ZERO: Option<fn(Self) -> Self> = None;
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
            const PLUS_ZERO: Option<fn(Self) -> Self> = Some(|x| $zero + x);
            fn add(self, other: Self) -> Self {
                self + other
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
