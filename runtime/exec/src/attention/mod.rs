//! Attention: its loops as numbers, and the blocks of queries that calls compute.
//!
//! A call processes a block of queries and iterates over blocks of keys. A product gives their scores, the softmax
//! turns these into weights relative to the greatest score so far, and a second product adds the weighted values. A new
//! greatest score rescales the earlier sums. A worker holds one tile of scores, whatever the number of keys. The split
//! of queries depends on their number alone, and one worker computes each block with keys in order, so results are
//! independent of the number of threads.
//!
//! On processors with AVX-512, micro-kernels compute a block (`panels.rs`), for bf16 in AMX tiles if available.
//! Otherwise a library multiplies and `softmax.rs` computes the weights; 16-bit elements are widened one block at a
//! time, and the result is rounded once.
//!
//! Sound by the plan, which has compared every extent and every size with its buffer.

#[cfg(target_arch = "x86_64")]
mod panels;
mod softmax;

use fuser_artifact::{DType, Factor};
use half::{bf16, f16};

use crate::execute::Address;
use crate::gemm::Units;
#[cfg(target_arch = "x86_64")]
use crate::gemm::{Amx, Avx512};
use crate::product::{Narrow, widen};
use crate::tensor::{Axis, strides};
use softmax::{LANES, Row, Vectors};

/// Queries of a call at most.
const QUERIES: usize = 256;
/// The maximum number of keys in a tile: with as many queries, the scores fit into a core's second-level cache, and the
/// products are long.
const KEYS: usize = 256;

const Q: usize = 0;
const K: usize = 1;
const V: usize = 2;
const BIAS: usize = 3;
const OUT: usize = 4;
const SUMS: usize = 5;

/// One loop: its length, and the distance of a step in queries, keys, values, bias, result and logarithms of the sums,
/// in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Loop {
    extent: usize,
    strides: [usize; 6],
}

/// Attention with numbers for sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attention {
    /// The buffers of queries, keys, values, bias, result and the logarithms of the sums. A missing bias has the buffer
    /// of the queries, missing logarithms that of the result.
    pub buffers: [usize; 6],
    /// True where the logarithms of the sums are stored.
    log_sums: bool,
    /// The element type of the bias.
    bias: Option<DType>,
    dtype: DType,
    /// The bits of the factor of the scores.
    scale: u32,
    causal: bool,
    batch: Vec<Loop>,
    queries: Loop,
    columns: Loop,
    keys: Loop,
    terms: Loop,
    vectors: Vectors,
    units: Units,
}

impl Attention {
    /// The loops of an attention over tensors with these axes: the operands, then the result. `sums` receives the
    /// logarithms of the sums, if given. `None` if the tensors disagree about a loop.
    pub fn new(
        scale: Option<u32>,
        causal: bool,
        tensors: &[Factor],
        sums: Option<&Factor>,
        axes: &[Vec<Axis>],
    ) -> Option<Attention> {
        let (result, operands) = tensors.split_last()?;
        let rank = result.loops.len();
        let mut loops: Vec<Option<Loop>> = vec![None; rank + 2];
        let slots = (0..operands.len()).chain([OUT, SUMS]);
        for ((slot, factor), axes) in slots.zip(tensors.iter().chain(sums)).zip(axes) {
            let order: Vec<usize> = factor.tensor.order.iter().map(|&a| a as usize).collect();
            let steps = strides(axes, &order);
            for ((&number, axis), step) in factor.loops.iter().zip(axes).zip(steps) {
                let own = loops.get_mut(number as usize)?.get_or_insert(Loop {
                    extent: axis.extent,
                    ..Loop::default()
                });
                if own.extent != axis.extent {
                    return None;
                }
                own.strides[slot] = if axis.broadcast { 0 } else { step };
            }
        }
        let mut loops = loops.into_iter().collect::<Option<Vec<Loop>>>()?;
        let (terms, keys) = (loops.pop()?, loops.pop()?);
        let (columns, queries) = (loops.pop()?, loops.pop()?);
        let buffer = |which: usize| Some(tensors.get(which)?.tensor.buffer as usize);
        let bias = (operands.len() > BIAS).then_some(BIAS);
        let implied = || (1.0 / (terms.extent.max(1) as f64).sqrt()) as f32;
        Some(Attention {
            buffers: [
                buffer(Q)?,
                buffer(K)?,
                buffer(V)?,
                buffer(bias.unwrap_or(Q))?,
                result.tensor.buffer as usize,
                sums.unwrap_or(result).tensor.buffer as usize,
            ],
            log_sums: sums.is_some(),
            bias: bias.map(|which| tensors[which].tensor.dtype),
            dtype: result.tensor.dtype,
            scale: scale.unwrap_or_else(|| implied().to_bits()),
            causal,
            batch: loops,
            queries,
            columns,
            keys,
            terms,
            vectors: Vectors::detect(),
            units: Units::detect(),
        })
    }

    /// The number of calls; `None` where it does not fit.
    pub fn calls(&self) -> Option<i64> {
        let batch = self.batch.iter().map(|own| own.extent);
        let mut all = batch.chain([self.queries.extent.div_ceil(QUERIES)]);
        let count = all.try_fold(1usize, usize::checked_mul)?;
        i64::try_from(count).ok()
    }

    /// Scratch memory of a worker.
    pub fn scratch_bytes(&self) -> usize {
        #[cfg(target_arch = "x86_64")]
        {
            let fma = || panels::scratch_bytes::<f32, Avx512>(self);
            match self.units {
                Units::Library | Units::Avx2 => {}
                Units::Avx512 => return fma(),
                Units::Amx if self.in_tiles() => {
                    return fma().max(panels::scratch_bytes::<bf16, Amx>(self));
                }
                Units::Amx => return fma(),
            }
        }
        let parts = self.parts().into_iter();
        parts
            .fold(0, usize::saturating_add)
            .saturating_mul(size_of::<f32>())
    }

    /// True if AMX tiles may be used: with few keys, only f32 weights are within the error bound.
    #[cfg(target_arch = "x86_64")]
    fn in_tiles(&self) -> bool {
        self.dtype == DType::Bf16 && self.keys.extent >= panels::SPLIT_KEYS
    }

    /// The sizes, in numbers, of a worker's scratch areas if the library multiplies: the scores, the sums, the row
    /// states, and widened queries, keys, values and bias.
    fn parts(&self) -> [usize; 7] {
        let queries = self.queries.extent.min(QUERIES);
        let keys = self.keys.extent.min(KEYS).next_multiple_of(LANES);
        let (terms, columns) = (self.terms.extent, self.columns.extent);
        let wide = match self.dtype {
            DType::F32 => [0; 3],
            _ => [
                queries.saturating_mul(terms),
                keys.saturating_mul(terms),
                keys.saturating_mul(columns),
            ],
        };
        let [q, k, v] = wide;
        [
            queries * keys,
            queries.saturating_mul(columns),
            2 * queries,
            q,
            k,
            v,
            keys,
        ]
    }

    /// Runs call number `call`.
    ///
    /// # Safety
    /// The addresses are those of the buffers, which have the elements that the plan has checked. The scratch memory
    /// has [`Attention::scratch_bytes`] bytes, is aligned for numbers, and is used by nobody else.
    pub(crate) unsafe fn call(&self, call: i64, addresses: [Address; 6], scratch: Address) {
        let mut rest = usize::try_from(call).unwrap_or(0);
        let blocks = self.queries.extent.div_ceil(QUERIES).max(1);
        let first = rest % blocks * QUERIES;
        rest /= blocks;
        let mut at = self.queries.strides.map(|stride| first * stride);
        for own in self.batch.iter().rev() {
            let index = rest % own.extent.max(1);
            rest /= own.extent.max(1);
            let steps = at.iter_mut().zip(own.strides);
            steps.for_each(|(at, stride)| *at += index * stride);
        }
        let mut sizes = [self.dtype.bytes(); 6];
        sizes[BIAS] = self.bias.map_or(0, DType::bytes);
        sizes[SUMS] = size_of::<f32>();
        let places =
            [Q, K, V, BIAS, OUT, SUMS].map(|which| addresses[which].at(at[which] * sizes[which]));
        let block = Block {
            of: self,
            places,
            first,
            count: QUERIES.min(self.queries.extent - first),
        };
        #[cfg(target_arch = "x86_64")]
        if let (Units::Avx512 | Units::Amx, Some(fma)) = (self.units, Avx512::detect()) {
            let scratch = scratch.at(0);
            // SAFETY: as below; there are these units where the processor has the instructions.
            unsafe {
                if let (Units::Amx, true, Some(amx)) = (self.units, self.in_tiles(), Amx::detect())
                    && amx.with_tiles(|amx| block.panels::<bf16, Amx, true>(amx, scratch))
                {
                    return;
                }
                match self.dtype {
                    DType::Bf16 => block.panels::<bf16, Avx512, false>(&fma, scratch),
                    DType::F16 => block.panels::<f16, Avx512, false>(&fma, scratch),
                    _ => block.panels::<f32, Avx512, false>(&fma, scratch),
                };
            }
            return;
        }
        let mut begin = 0;
        let scratch = self.parts().map(|length| {
            // SAFETY: the caller's word; the parts do not overlap.
            let part =
                unsafe { std::slice::from_raw_parts_mut(scratch.at(begin * 4).cast(), length) };
            begin += length;
            part
        });
        // SAFETY: the caller's word; the element type is that of the buffers.
        unsafe {
            match self.dtype {
                DType::Bf16 => block.run::<bf16>(scratch),
                DType::F16 => block.run::<f16>(scratch),
                _ => block.run::<f32>(scratch),
            }
        }
    }
}

/// A matrix of numbers: its first element, and the strides between rows and between columns.
#[derive(Clone, Copy)]
struct Matrix {
    first: *const f32,
    strides: [usize; 2],
}

/// The queries of a call.
struct Block<'a> {
    of: &'a Attention,
    /// The first elements of queries, keys, values, bias, result and the logarithms of the sums.
    places: [*mut u8; 6],
    /// The position of the first query in its sequence, and the number of queries.
    first: usize,
    count: usize,
}

impl Block<'_> {
    /// # Safety
    /// All elements addressed by the sizes and strides are there and of type `T`; nobody else uses those of the result.
    unsafe fn run<T: Element>(&self, scratch: [&mut [f32]; 7]) {
        let [scores, sums, rows, q, k, v, bias] = scratch;
        let of = self.of;
        let (terms, columns) = (of.terms, of.columns);
        let (greatest, totals) = rows.split_at_mut(rows.len() / 2);
        greatest.fill(Row::EMPTY.greatest);
        totals.fill(Row::EMPTY.sum);
        sums.fill(0.0);
        let strides =
            |rows: Loop, columns: Loop, which: usize| [rows.strides[which], columns.strides[which]];
        let matrix = |which: usize| self.places[which].cast_const().cast::<T>();
        // SAFETY: the caller's word.
        let queries = unsafe {
            let sizes = [self.count, terms.extent];
            T::wide(matrix(Q), sizes, strides(of.queries, terms, Q), q)
        };
        // Behind the last query no key takes part.
        let end = match of.causal {
            true => of.keys.extent.min(self.first + self.count),
            false => of.keys.extent,
        };
        let width = of.keys.extent.min(KEYS).next_multiple_of(LANES);
        for begin in (0..end).step_by(KEYS) {
            let count = KEYS.min(end - begin);
            // SAFETY: the caller's word; the tile is within the keys.
            let (keys, values) = unsafe {
                let keys = matrix(K).wrapping_add(begin * of.keys.strides[K]);
                let values = matrix(V).wrapping_add(begin * of.keys.strides[V]);
                let sizes = [[count, terms.extent], [count, columns.extent]];
                (
                    T::wide(keys, sizes[0], strides(of.keys, terms, K), k),
                    T::wide(values, sizes[1], strides(of.keys, columns, V), v),
                )
            };
            let [across, along] = keys.strides;
            let turned = Matrix {
                strides: [along, across],
                ..keys
            };
            // SAFETY: the matrices have these sizes, and the scores have room for whole rows.
            unsafe {
                let sizes = [self.count, terms.extent, count];
                multiply(
                    sizes,
                    f32::from_bits(of.scale),
                    queries,
                    turned,
                    0.0,
                    scores,
                    width,
                );
            }
            for query in 0..self.count {
                let tile = &mut scores[query * width..][..width];
                // SAFETY: the caller's word.
                unsafe { self.prepare::<T>(query, begin, count, tile, bias) };
                let row = Row {
                    greatest: greatest[query],
                    sum: totals[query],
                };
                let steps = count.next_multiple_of(LANES);
                let (row, factor) = of.vectors.weigh(&mut tile[..steps], row);
                (greatest[query], totals[query]) = (row.greatest, row.sum);
                if factor != 1.0 {
                    let own = &mut sums[query * columns.extent..][..columns.extent];
                    own.iter_mut().for_each(|x| *x *= factor);
                }
            }
            let weights = Matrix {
                first: scores.as_ptr(),
                strides: [width, 1],
            };
            // SAFETY: as above; the sums have room for a row of the result for each query.
            unsafe {
                let sizes = [self.count, count, columns.extent];
                multiply(sizes, 1.0, weights, values, 1.0, sums, columns.extent);
            }
        }
        for query in 0..self.count {
            let own = &sums[query * columns.extent..][..columns.extent];
            let total = totals[query];
            // SAFETY: the caller's word.
            unsafe { self.store_sum(query, greatest[query] + total.ln()) };
            let to: *mut T = self.places[OUT].cast();
            for (column, &x) in own.iter().enumerate() {
                // Without a key the sum is 0, and so is the result.
                let weighted = if total == 0.0 { 0.0 } else { x / total };
                let at = query * of.queries.strides[OUT] + column * columns.strides[OUT];
                // SAFETY: the caller's word.
                unsafe { to.wrapping_add(at).write(T::rounded(weighted)) };
            }
        }
    }

    /// Stores the logarithm of a query's sum, if it is requested.
    ///
    /// # Safety
    /// As for `run`.
    unsafe fn store_sum(&self, query: usize, log: f32) {
        if self.of.log_sums {
            let at = query * self.of.queries.strides[SUMS];
            // SAFETY: the caller's word.
            unsafe { self.places[SUMS].cast::<f32>().wrapping_add(at).write(log) };
        }
    }

    /// Adds the bias to a row of scores, masks keys, and pads the last step.
    ///
    /// # Safety
    /// As for `run`.
    unsafe fn prepare<T: Element>(
        &self,
        query: usize,
        begin: usize,
        count: usize,
        tile: &mut [f32],
        bias: &mut [f32],
    ) {
        let of = self.of;
        let left_out = f32::NEG_INFINITY;
        let step = of.keys.strides[BIAS];
        let place = query * of.queries.strides[BIAS] + begin * step;
        match of.bias {
            None => {}
            Some(DType::I1) => {
                let mask = self.places[BIAS].cast_const().wrapping_add(place);
                for (i, x) in tile[..count].iter_mut().enumerate() {
                    // SAFETY: the caller's word.
                    if unsafe { *mask.wrapping_add(i * step) } == 0 {
                        *x = left_out;
                    }
                }
            }
            Some(_) => {
                let from = self.places[BIAS]
                    .cast_const()
                    .cast::<T>()
                    .wrapping_add(place);
                // SAFETY: the caller's word; there is room for a row.
                let own = unsafe { T::wide(from, [1, count], [0, step], bias) };
                for (i, x) in tile[..count].iter_mut().enumerate() {
                    // SAFETY: a row was made.
                    *x += unsafe { *own.first.wrapping_add(i * own.strides[1]) };
                }
            }
        }
        let kept = match of.causal {
            true => (self.first + query + 1).saturating_sub(begin).min(count),
            false => count,
        };
        tile[kept..].fill(left_out);
    }
}

/// `to = beta * to + scale * a * b`, for `m` rows, `k` terms and `n` columns; rows of `to` are `width` apart.
///
/// # Safety
/// The matrices have these sizes, and `to` has room for the result.
unsafe fn multiply(
    [m, k, n]: [usize; 3],
    scale: f32,
    a: Matrix,
    b: Matrix,
    beta: f32,
    to: &mut [f32],
    width: usize,
) {
    let [[ra, ca], [rb, cb]] = [a, b].map(|x| x.strides.map(|stride| stride as isize));
    let (to, width) = (to.as_mut_ptr(), width as isize);
    // SAFETY: the caller's word.
    unsafe {
        matrixmultiply::sgemm(
            m, k, n, scale, a.first, ra, ca, b.first, rb, cb, beta, to, width, 1,
        );
    }
}

/// An element of queries, keys and values.
trait Element: Copy {
    fn rounded(x: f32) -> Self;
    /// A matrix of elements as f32: the matrix itself, or a widened copy in `room`.
    ///
    /// # Safety
    /// All elements addressed by the sizes and strides are there, and `room` can hold them unless they are f32.
    unsafe fn wide(
        from: *const Self,
        sizes: [usize; 2],
        strides: [usize; 2],
        room: &mut [f32],
    ) -> Matrix;
}

impl Element for f32 {
    fn rounded(x: f32) -> f32 {
        x
    }
    // SAFETY: as the trait says; nothing is read here.
    unsafe fn wide(first: *const f32, _: [usize; 2], strides: [usize; 2], _: &mut [f32]) -> Matrix {
        Matrix { first, strides }
    }
}

macro_rules! narrow {
    ($($ty:ty)*) => {$(
        impl Element for $ty {
            fn rounded(x: f32) -> Self {
                <Self as Narrow>::rounded(x)
            }
            // SAFETY: as the trait says.
            unsafe fn wide(from: *const Self, sizes: [usize; 2], strides: [usize; 2], room: &mut [f32]) -> Matrix {
                // SAFETY: the caller's word.
                let strides = unsafe { widen(from, sizes, strides, room.as_mut_ptr()) };
                Matrix { first: room.as_ptr(), strides }
            }
        }
    )*};
}
narrow!(bf16 f16);

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
