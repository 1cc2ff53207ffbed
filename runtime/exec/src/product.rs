//! Products of matrices: their loops as numbers, and the calls that compute them.
//!
//! The result is cut into tiles by its extents alone, and each tile is one call on one worker, over all terms: the same bits however many
//! threads run. Where the processor has AVX-512 micro-kernels of our own compute it (`gemm`), of bf16 in tiles of AMX if it has these and the
//! factors allow it, which each call decides by its own rows and columns. Else, and for f64, a library does: elements of 16 bits are widened for it
//! a piece of the terms at a time, into a worker's scratch memory, and the sums are rounded once.
//!
//! Sound by the plan, which has compared every extent and every size with its buffer.

use fuser_artifact::{DType, Factor};
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

use crate::execute::Address;
use crate::gemm::Units;
#[cfg(target_arch = "x86_64")]
use crate::gemm::{self, Amx, Fma, Kernel, Lines, Stored};
use crate::tensor::{Axis, strides};

/// Rows of the result that one call computes at most, and at least where there are as many.
const ROWS: [usize; 2] = [512, 64];
/// Calls that the rows are cut into, as far as they leave so many.
const SHARES: usize = 2;
/// Columns of the result that one call computes at most: the left factor is packed anew for each call beside another.
const COLUMNS: usize = 1024;
/// Terms of 16 bits that are widened at a time.
const TERMS: usize = 256;

/// One loop: its length, and how far each step moves in the factors and in the result, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    pub extent: usize,
    pub strides: [usize; 3],
}

impl Loop {
    const ONCE: Loop = Loop {
        extent: 1,
        strides: [0; 3],
    };
}

/// A product with numbers for sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product {
    /// The factors' buffers and the result's.
    pub buffers: [usize; 3],
    /// The element types of the factors and of the result.
    pub dtypes: [DType; 2],
    /// Loops around the calls.
    pub batch: Vec<Loop>,
    pub rows: Loop,
    pub columns: Loop,
    pub terms: Loop,
    units: Units,
}

impl Product {
    /// The loops of a product of tensors with these axes; `None` where they disagree about a loop.
    pub fn new(tensors: [(&Factor, &[Axis]); 3]) -> Option<Product> {
        let result = tensors[2].0;
        let rank = result.loops.len();
        let mut loops: Vec<Option<Loop>> = vec![None; rank + 1];
        let mut once = vec![false; rank + 1];
        for (which, (factor, axes)) in tensors.iter().enumerate() {
            let order: Vec<usize> = factor.tensor.order.iter().map(|&a| a as usize).collect();
            let steps = strides(axes, &order);
            for ((&number, axis), step) in factor.loops.iter().zip(*axes).zip(steps) {
                let slot = loops.get_mut(number as usize)?;
                let own = slot.get_or_insert(Loop {
                    extent: axis.extent,
                    strides: [0; 3],
                });
                if own.extent != axis.extent {
                    return None;
                }
                own.strides[which] = if axis.broadcast { 0 } else { step };
                once[number as usize] |= which == 2 && axis.broadcast;
            }
        }
        let mut loops = loops.into_iter().collect::<Option<Vec<Loop>>>()?;
        // Along a broadcast axis of the result there is one element.
        let single = loops.iter_mut().zip(once).filter(|(_, once)| *once);
        single.for_each(|(own, _)| own.extent = own.extent.min(1));
        let terms = loops.pop()?;
        let of = |which: usize, number: usize| tensors[which].0.loops.contains(&(number as u32));
        let [mut batch, mut rows, mut columns] = [Vec::new(), Vec::new(), Vec::new()];
        for (number, own) in loops.into_iter().enumerate() {
            match (of(0, number), of(1, number)) {
                (true, false) => rows.push(own),
                (false, true) => columns.push(own),
                _ => batch.push(own),
            }
        }
        let rows = longest(rows, &mut batch);
        let columns = longest(columns, &mut batch);
        Some(Product {
            buffers: tensors.map(|(factor, _)| factor.tensor.buffer as usize),
            dtypes: [tensors[0].0.tensor.dtype, result.tensor.dtype],
            batch,
            rows,
            columns,
            terms,
            units: Units::detect(),
        })
    }

    /// Scratch memory of a worker.
    pub fn scratch_bytes(&self) -> usize {
        let [m, n] = self.tile();
        #[cfg(target_arch = "x86_64")]
        {
            // Either factor may be the left one.
            let own = |units: Units| match units {
                Units::Library => 0,
                Units::Fma => gemm::scratch_bytes::<f32, Fma>([m, n, self.terms.extent])
                    .max(gemm::scratch_bytes::<f32, Fma>([n, m, self.terms.extent])),
                Units::Amx => gemm::scratch_bytes::<bf16, Amx>([m, n, self.terms.extent])
                    .max(gemm::scratch_bytes::<bf16, Amx>([n, m, self.terms.extent])),
            };
            match (self.units, self.dtypes[0]) {
                (Units::Library, _) | (_, DType::F64) => {}
                (Units::Amx, DType::Bf16) => return own(Units::Amx).max(own(Units::Fma)),
                _ => return own(Units::Fma),
            }
        }
        match self.dtypes[0].bytes() {
            2 => {
                let k = self.terms.extent.min(TERMS);
                (m * k + k * n + m * n) * size_of::<f32>()
            }
            _ => 0,
        }
    }

    /// The number of calls; `None` where it does not fit.
    pub fn calls(&self) -> Option<i64> {
        let [rows, columns] = self.tiles();
        let batch = self.batch.iter().map(|own| own.extent);
        let all = batch.chain([rows, columns]);
        let count = all.into_iter().try_fold(1usize, usize::checked_mul)?;
        i64::try_from(count).ok()
    }

    /// Rows and columns of one call, by how many there are.
    fn tile(&self) -> [usize; 2] {
        let [most, least] = ROWS;
        let share = self.rows.extent.div_ceil(SHARES).next_multiple_of(16);
        [
            share.clamp(least, most),
            self.columns.extent.clamp(1, COLUMNS),
        ]
    }

    fn tiles(&self) -> [usize; 2] {
        let [rows, columns] = self.tile();
        [
            self.rows.extent.div_ceil(rows),
            self.columns.extent.div_ceil(columns),
        ]
    }

    /// Makes call number `call`.
    ///
    /// # Safety
    /// The addresses are those of the buffers, which have the elements that the plan has checked; the scratch memory is as large as
    /// [`Product::scratch_bytes`] says, and nobody else uses it.
    pub(crate) unsafe fn call(&self, call: i64, addresses: [Address; 3], scratch: Address) {
        let ([tall, wide], [rows, columns]) = (self.tiles(), self.tile());
        let mut rest = usize::try_from(call).unwrap_or(0);
        let column = rest % wide.max(1) * columns;
        rest /= wide.max(1);
        let row = rest % tall.max(1) * rows;
        rest /= tall.max(1);
        let mut at = [0; 3];
        for own in self.batch.iter().rev() {
            let index = rest % own.extent.max(1);
            rest /= own.extent.max(1);
            step(&mut at, own, index);
        }
        step(&mut at, &self.rows, row);
        step(&mut at, &self.columns, column);
        let matrix = Matrix {
            m: rows.min(self.rows.extent - row),
            n: columns.min(self.columns.extent - column),
            k: self.terms.extent,
            left: [self.rows.strides[0], self.terms.strides[0]],
            right: [self.terms.strides[1], self.columns.strides[1]],
            result: [self.rows.strides[2], self.columns.strides[2]],
        };
        let bytes = [self.dtypes[0], self.dtypes[0], self.dtypes[1]].map(DType::bytes);
        let place = |which: usize| addresses[which].at(at[which] * bytes[which]);
        let (a, b, c) = (place(0), place(1), place(2));
        #[cfg(target_arch = "x86_64")]
        {
            let scratch = scratch.at(0);
            // SAFETY: the caller's word.
            let done = unsafe {
                match self.dtypes {
                    [DType::F64, _] => false,
                    [DType::Bf16, DType::F32] => {
                        matrix.bf16::<f32>(self.units, a.cast(), b.cast(), c.cast(), scratch)
                    }
                    [DType::Bf16, _] => {
                        matrix.bf16::<bf16>(self.units, a.cast(), b.cast(), c.cast(), scratch)
                    }
                    [DType::F16, DType::F32] => {
                        matrix.fma::<f16, f32>(self.units, a.cast(), b.cast(), c.cast(), scratch)
                    }
                    [DType::F16, _] => {
                        matrix.fma::<f16, f16>(self.units, a.cast(), b.cast(), c.cast(), scratch)
                    }
                    _ => matrix.fma::<f32, f32>(self.units, a.cast(), b.cast(), c.cast(), scratch),
                }
            };
            if done {
                return;
            }
        }
        // SAFETY: the caller's word.
        unsafe {
            match self.dtypes {
                [DType::F64, _] => matrix.f64(a.cast(), b.cast(), c.cast()),
                [DType::Bf16, to] => {
                    matrix.narrow::<bf16>(a.cast(), b.cast(), c, to, scratch.at(0).cast())
                }
                [DType::F16, to] => {
                    matrix.narrow::<f16>(a.cast(), b.cast(), c, to, scratch.at(0).cast())
                }
                _ => matrix.f32(a.cast(), b.cast(), c.cast(), 0.0),
            }
        }
    }
}

fn step(at: &mut [usize; 3], own: &Loop, index: usize) {
    at.iter_mut()
        .zip(own.strides)
        .for_each(|(at, stride)| *at += index * stride);
}

/// The longest of these loops, once neighbours that are one run have been made one; the others run around the calls.
pub(crate) fn longest(loops: Vec<Loop>, others: &mut Vec<Loop>) -> Loop {
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
    let best = (0..runs.len()).max_by_key(|&i| runs[i].extent);
    let found = best.map_or(Loop::ONCE, |best| runs.remove(best));
    others.extend(runs);
    found
}

/// One call: sizes, and the strides from row to row and from column to column.
struct Matrix {
    m: usize,
    n: usize,
    k: usize,
    left: [usize; 2],
    right: [usize; 2],
    result: [usize; 2],
}

#[cfg(target_arch = "x86_64")]
impl Matrix {
    /// Multiplies bf16, in tiles where processor and factors allow it; false, and nothing is done, where the processor has no kernel of ours.
    ///
    /// # Safety
    /// As for `f32`; `scratch` is as large as that of the product.
    unsafe fn bf16<O: Stored>(
        &self,
        units: Units,
        a: *const bf16,
        b: *const bf16,
        c: *mut O,
        scratch: *mut u8,
    ) -> bool {
        if let (Units::Amx, Some(mut amx)) = (units, Amx::detect()) {
            // SAFETY: the caller's word.
            if amx.with_tiles(|amx| unsafe { self.run(amx, a, b, c, scratch) }) {
                return true;
            }
        }
        // SAFETY: the caller's word.
        unsafe { self.fma(units, a, b, c, scratch) }
    }

    /// The same by fused multiply-adds of f32.
    ///
    /// # Safety
    /// As for `bf16`.
    unsafe fn fma<T: gemm::Element, O: Stored>(
        &self,
        units: Units,
        a: *const T,
        b: *const T,
        c: *mut O,
        scratch: *mut u8,
    ) -> bool {
        match (units, Fma::detect()) {
            // SAFETY: the caller's word.
            (Units::Fma | Units::Amx, Some(mut fma)) => unsafe {
                self.run(&mut fma, a, b, c, scratch)
            },
            _ => false,
        }
    }

    /// Multiplies with a micro-kernel; false where it cannot multiply these factors.
    ///
    /// # Safety
    /// As for `bf16`.
    unsafe fn run<T: Copy, K: Kernel<T>, O: Stored>(
        &self,
        kernel: &mut K,
        a: *const T,
        b: *const T,
        c: *mut O,
        scratch: *mut u8,
    ) -> bool {
        let left = Lines {
            first: a,
            lines: self.m,
            terms: self.k,
            strides: self.left,
        };
        let right = Lines {
            first: b,
            lines: self.n,
            terms: self.k,
            strides: [self.right[1], self.right[0]],
        };
        // Rows of the result that lie in memory as columns are computed as such.
        let (factors, [down, across]) = match self.result {
            [1, across] if across != 1 => ([right, left], [across, 1]),
            strides => ([left, right], strides),
        };
        // SAFETY: the caller's word.
        unsafe {
            gemm::product(kernel, factors, scratch, |[row, column], size, sums| {
                let to = c.wrapping_add(row * down + column * across);
                gemm::store(sums, K::TALL, size, to, [down, across]);
            })
        }
    }
}

impl Matrix {
    /// # Safety
    /// All elements that sizes and strides lead to are there, and nobody else uses those of the result.
    unsafe fn f32(&self, a: *const f32, b: *const f32, c: *mut f32, beta: f32) {
        let ([ra, ca], [rb, cb], [rc, cc]) = self.strides();
        // SAFETY: the caller's word.
        unsafe {
            matrixmultiply::sgemm(
                self.m, self.k, self.n, 1.0, a, ra, ca, b, rb, cb, beta, c, rc, cc,
            )
        }
    }

    /// # Safety
    /// As for `f32`.
    unsafe fn f64(&self, a: *const f64, b: *const f64, c: *mut f64) {
        let ([ra, ca], [rb, cb], [rc, cc]) = self.strides();
        // SAFETY: the caller's word.
        unsafe {
            matrixmultiply::dgemm(
                self.m, self.k, self.n, 1.0, a, ra, ca, b, rb, cb, 0.0, c, rc, cc,
            )
        }
    }

    /// The same on elements of 16 bits, in `scratch`; the result is of type `to`.
    ///
    /// # Safety
    /// As for `f32`; `scratch` has room for one piece of both factors and for the result.
    unsafe fn narrow<T: Narrow>(
        &self,
        a: *const T,
        b: *const T,
        c: *mut u8,
        to: DType,
        scratch: *mut f32,
    ) {
        let piece = self.k.min(TERMS);
        let (wide_b, sums) = (
            scratch.wrapping_add(self.m * piece),
            scratch.wrapping_add((self.m + self.n) * piece),
        );
        for from in (0..self.k.max(1)).step_by(TERMS) {
            let k = TERMS.min(self.k - from);
            let (a, b) = (
                a.wrapping_add(from * self.left[1]),
                b.wrapping_add(from * self.right[0]),
            );
            // SAFETY: the caller's word; the three parts of the scratch memory do not overlap.
            unsafe {
                let left = widen(a, [self.m, k], self.left, scratch);
                let right = widen(b, [k, self.n], self.right, wide_b);
                let own = Matrix {
                    k,
                    left,
                    right,
                    result: [self.n, 1],
                    ..*self
                };
                own.f32(scratch, wide_b, sums, if from == 0 { 0.0 } else { 1.0 });
            }
        }
        for row in 0..self.m {
            // SAFETY: the sums of a row are there.
            let sums =
                unsafe { std::slice::from_raw_parts(sums.wrapping_add(row * self.n), self.n) };
            for (column, &sum) in sums.iter().enumerate() {
                let at = row * self.result[0] + column * self.result[1];
                // SAFETY: the caller's word.
                unsafe {
                    match to {
                        DType::F32 => c.cast::<f32>().wrapping_add(at).write(sum),
                        _ => c.cast::<T>().wrapping_add(at).write(T::rounded(sum)),
                    }
                }
            }
        }
    }

    fn strides(&self) -> ([isize; 2], [isize; 2], [isize; 2]) {
        let signed = |strides: [usize; 2]| strides.map(|stride| stride as isize);
        (signed(self.left), signed(self.right), signed(self.result))
    }
}

/// A float of 16 bits.
pub(crate) trait Narrow: Copy {
    fn rounded(x: f32) -> Self;
    /// Widens as many elements as both slices have.
    fn widen(from: &[Self], to: &mut [f32]);
}

macro_rules! narrow {
    ($($ty:ty)*) => {$(
        impl Narrow for $ty {
            fn rounded(x: f32) -> Self {
                <$ty>::from_f32(x)
            }
            fn widen(from: &[Self], to: &mut [f32]) {
                from.convert_to_f32_slice(to);
            }
        }
    )*};
}
narrow!(bf16 f16);

/// Widens a matrix, contiguous along the axis along which it was; gives the strides of the copy.
///
/// # Safety
/// All elements that sizes and strides lead to are there, and `to` has room for as many.
pub(crate) unsafe fn widen<T: Narrow>(
    from: *const T,
    sizes: [usize; 2],
    strides: [usize; 2],
    to: *mut f32,
) -> [usize; 2] {
    let inner = usize::from(strides[0] != 1);
    let outer = 1 - inner;
    let (length, stride) = (sizes[inner], strides[inner]);
    for index in 0..sizes[outer] {
        let from = from.wrapping_add(index * strides[outer]);
        // SAFETY: the caller's word.
        let to = unsafe { std::slice::from_raw_parts_mut(to.wrapping_add(index * length), length) };
        if stride == 1 {
            // SAFETY: the caller's word: the elements are neighbours.
            T::widen(unsafe { std::slice::from_raw_parts(from, length) }, to);
            continue;
        }
        for (i, slot) in to.iter_mut().enumerate() {
            // SAFETY: the caller's word.
            let element = unsafe { *from.wrapping_add(i * stride) };
            T::widen(&[element], std::slice::from_mut(slot));
        }
    }
    match inner {
        1 => [length, 1],
        _ => [1, length],
    }
}

#[cfg(test)]
#[path = "product_tests.rs"]
mod tests;
