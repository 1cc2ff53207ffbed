//! Matrix products: their loops as numbers, and the calls that compute them.
//!
//! The result is split into tiles by its extents and the number of workers. Each tile is one call on one worker, over
//! all terms in a fixed order, so results are independent of the number of threads.
//!
//! On x86-64 processors with AVX2 or AVX-512, our own micro-kernels compute a tile (`gemm`). bf16 uses AMX tiles, or
//! pairs on AMD's AVX-512, if available and if the factors permit it, a decision made for blocks of rows and columns
//! that tiles never split. A library computes a tile on other processors, and of matrices of f64 where there is
//! AVX-512. 16-bit elements are then widened piece by piece into a worker's scratch memory, and sums are rounded once.
//!
//! Sound by the plan, which has compared every extent and every size with its buffer.

use fuser_artifact::limits::BUFFER_ALIGN;
use fuser_artifact::{DType, Factor, Window};
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

use crate::execute::Address;
use crate::gemm::{
    self, BLOCK, Bound, DIGITS, DIMS, Digit, GRAIN, Lines, MOST, Units, View, Windows,
};
#[cfg(target_arch = "x86_64")]
use crate::gemm::{Amx, Avx2, Avx512, Dot, Kernel, Stores};
use crate::team::Effort;
use crate::tensor::{Axis, strides};

mod added;

use added::Elements;

/// The number of result elements whose computation takes as long as packing a row or column. Measured with AMX tiles,
/// where packing has the greatest share of the time.
const PACKING: usize = 128;
/// The number of multiplications from which on sleeping workers are woken at once: some tens of microseconds of work.
const HEAVY: usize = 1 << 23;
/// Features from which on they are the innermost terms of a convolution, neighbours in memory or not.
const FEW: usize = 8;
/// Terms of 16 bits that are widened at a time.
const TERMS: usize = 256;

/// One loop: its length, and the distance of a step in both factors and in the result, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    pub extent: usize,
    pub strides: [usize; 3],
    /// The distance in the tensor that is added.
    pub added: usize,
}

impl Loop {
    const ONCE: Loop = Loop {
        extent: 1,
        strides: [0; 3],
        added: 0,
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
    /// The windows that the left factor is read through, if it is.
    nest: Option<Box<Nest>>,
    /// Rows and columns of one call.
    tile: [usize; 2],
    units: Units,
    /// The memory in which a factor stays packed from turn to turn of a loop.
    kept: Option<Kept>,
    /// The buffer of the tensor that is added to the sums, of f32 or f64. It may be the result's.
    pub added: Option<usize>,
}

/// Memory for packed factors that turns of a loop share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kept {
    /// The factors that do not change while the program runs.
    fixed: [bool; 2],
    /// The place of the first call's memory, and the distance to the next one's.
    offset: usize,
    stride: usize,
}

/// The most rows or columns that a factor is kept for: for more of them packing takes a small part of the time.
const MOST_KEPT: usize = 256;
/// The most bytes of all packed factors of a program.
const MOST_KEPT_BYTES: usize = 64 << 20;

/// A product whose left factor is read through windows: rows, columns and terms are several loops each. Rows and
/// columns are in the storage order of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Nest {
    /// The factors' lines and terms.
    factors: [View; 2],
    /// The places of row and term 0 along the axes of windows.
    first: [i64; DIMS],
    /// The runs that rows and columns of the result are, outermost first.
    result: [Vec<Run>; 2],
}

/// Lines of a result that are as far from each other each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    extent: usize,
    stride: usize,
}

impl Nest {
    /// The nest of the loops of rows, columns and terms, each with its number; `None` if positions overflow.
    fn new(
        [left, _, _]: [(&Factor, &[Axis]); 3],
        windows: &[Window],
        roles: [Vec<(usize, Loop)>; 3],
    ) -> Option<Nest> {
        let steps = strides(left.1, &order_of(left.0));
        let mut bounds = Vec::new();
        let mut first = [0; DIMS];
        let mut moves: Vec<(usize, usize, i64)> = Vec::new();
        for (at, window) in windows.iter().enumerate() {
            let axis = window.axis as usize;
            let own = left.1.get(axis)?;
            let base = Some(window.base_dilation).filter(|&base| base > 0)?;
            bounds.push(Bound {
                extent: own.extent,
                base,
                stride: if own.broadcast { 0 } else { *steps.get(axis)? },
            });
            *first.get_mut(at)? = window.low.checked_neg()?;
            moves.push((*left.0.loops.get(axis)? as usize, at, window.stride));
            moves.push((window.place as usize, at, window.dilation));
        }
        let digit = |which: usize, part: &Part| {
            let mut digit = Digit {
                extent: part.own.extent,
                offset: part.own.strides[which],
                moves: [0; DIMS],
            };
            if which == 0 {
                let of = moves.iter().filter(|(of, ..)| *of == part.number);
                of.for_each(|&(_, at, by)| digit.moves[at] += by.saturating_mul(part.steps));
            }
            digit
        };
        let whole = |(number, own)| Part {
            number,
            own,
            steps: 1,
        };
        let sizes = roles.each_ref().map(|list| extent(list));
        let [mut rows, columns, terms] =
            roles.map(|list| list.into_iter().map(whole).collect::<Vec<Part>>());
        let terms = in_chunks(terms, sizes[1].saturating_mul(sizes[2]));
        rows.sort_by_key(|part| std::cmp::Reverse(part.own.strides[2]));
        let long = |part: &&Part| part.own.extent != 1;
        let digits = |which: usize, list: &[Part]| -> Vec<Digit> {
            let mut digits: Vec<Digit> = Vec::new();
            for own in list.iter().filter(long).map(|own| digit(which, own)) {
                let still = own.moves == [0; DIMS];
                match digits.last_mut() {
                    Some(outer)
                        if still
                            && outer.moves == own.moves
                            && Some(outer.offset) == own.offset.checked_mul(own.extent) =>
                    {
                        let extent = outer.extent.saturating_mul(own.extent);
                        *outer = Digit { extent, ..own };
                    }
                    _ => digits.push(own),
                }
            }
            digits
        };
        let inner = digits(0, &terms);
        if inner.last().is_some_and(Digit::is_long) {
            let base = |number: usize| {
                windows.iter().find_map(|window| {
                    let of = left.0.loops.get(window.axis as usize)?;
                    (*of as usize == number).then_some([window.base_dilation, window.stride])
                })
            };
            rows = by_phases(rows, base);
        }
        let view = |which: usize, lines: &[Part], bounds: Vec<Bound>| View {
            lines: digits(which, lines),
            terms: digits(which, &terms),
            bounds,
        };
        let factors = [view(0, &rows, bounds), view(1, &columns, Vec::new())];
        let many = |view: &View| view.lines.len().max(view.terms.len()) > DIGITS;
        if factors.iter().any(many) {
            return None;
        }
        // No place is too far to be counted.
        for (at, low) in first.iter().enumerate().take(windows.len()) {
            let all = factors[0].lines.iter().chain(&factors[0].terms);
            all.map(|own| (own.extent.max(1) - 1, own.moves[at]))
                .try_fold(low.checked_abs()?, |far, (steps, by)| {
                    far.checked_add(i64::try_from(steps).ok()?.checked_mul(by)?)
                })?;
        }
        let runs = |list: &[Part]| {
            let mut runs: Vec<Run> = Vec::new();
            for part in list.iter().filter(long) {
                let (extent, stride) = (part.own.extent, part.own.strides[2]);
                match runs.last_mut() {
                    Some(outer) if Some(outer.stride) == stride.checked_mul(extent) => {
                        outer.extent = outer.extent.saturating_mul(extent);
                        outer.stride = stride;
                    }
                    _ => runs.push(Run { extent, stride }),
                }
            }
            runs
        };
        Some(Nest {
            result: [runs(&rows), runs(&columns)],
            factors,
            first,
        })
    }
}

/// A part of a loop of a product.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// The number of the loop.
    number: usize,
    own: Loop,
    /// Steps of the loop that a step of the part is.
    steps: i64,
}

/// Rows in another order: where the elements of an axis are some places apart, rows whose windows have elements at the
/// same places of the kernel stand beside each other. `base` gives the distance of elements and of windows along a
/// loop.
fn by_phases(rows: Vec<Part>, base: impl Fn(usize) -> Option<[i64; 2]>) -> Vec<Part> {
    let (mut outer, mut inner) = (Vec::new(), Vec::new());
    for part in rows {
        let period = base(part.number).and_then(|[base, stride]| {
            let period = base / gcd(base, stride);
            let count = usize::try_from(period).ok()?;
            let extent = part.own.extent;
            let splits = count > 1 && extent >= count && extent.is_multiple_of(count);
            splits.then_some((period, count))
        });
        let Some((period, count)) = period else {
            inner.push(part);
            continue;
        };
        let phases = Loop {
            extent: count,
            ..part.own
        };
        let own = Loop {
            extent: part.own.extent / count,
            strides: part.own.strides.map(|stride| stride * count),
            added: part.own.added * count,
        };
        let steps = part.steps * period;
        outer.push(Part {
            own: phases,
            ..part
        });
        inner.push(Part { own, steps, ..part });
    }
    [outer, inner].concat()
}

/// The fewest elements of a right factor whose features are taken in chunks, and the longest chunk. 512 filters of
/// 512x3x3 on an image of 7x7 took 6.2 ms without chunks, and 5.4 with them (AMD EPYC, one thread).
const CHUNKS: [usize; 2] = [1 << 16, 64];

/// Terms in another order: where the places of the kernel lie inside the features in the right factor's memory, places
/// follow each other within a chunk of features. Each cache line is then read in one go. `elements` counts those of the
/// right factor.
fn in_chunks(mut terms: Vec<Part>, elements: usize) -> Vec<Part> {
    let [least, most] = CHUNKS;
    let Some((features, places)) = terms.split_last() else {
        return terms;
    };
    let (own, step) = (features.own, features.own.strides[1]);
    let inside = |part: &Part| part.own.extent > 1 && part.own.strides[1] < step;
    let mut chunks = (most / 2 + 1..=most).rev();
    let Some(chunk) = chunks.find(|&n| n < own.extent && own.extent.is_multiple_of(n)) else {
        return terms;
    };
    if elements < least || !places.iter().any(inside) {
        return terms;
    }
    let outer = Loop {
        extent: own.extent / chunk,
        strides: own.strides.map(|stride| stride * chunk),
        added: own.added * chunk,
    };
    let (outer, last) = (
        Part {
            own: outer,
            steps: features.steps.saturating_mul(chunk as i64),
            ..*features
        },
        terms.len() - 1,
    );
    terms[last].own.extent = chunk;
    terms.insert(0, outer);
    terms
}

fn gcd(a: i64, b: i64) -> i64 {
    match b {
        0 => a.abs().max(1),
        _ => gcd(b, a % b),
    }
}

/// All steps of several loops.
fn extent(loops: &[(usize, Loop)]) -> usize {
    let extents = loops.iter().map(|(_, own)| own.extent);
    extents.fold(1, usize::saturating_mul)
}

/// The axes of a factor from the outermost to the innermost in memory.
fn order_of(factor: &Factor) -> Vec<usize> {
    factor
        .tensor
        .order
        .iter()
        .map(|&axis| axis as usize)
        .collect()
}

impl Product {
    /// The loops of a product of tensors with these axes, for `workers` workers. `windows` describe axes through which
    /// the left factor is read. `added` is added to the sums. `None` if the tensors disagree about a loop.
    pub fn new(
        tensors: [(&Factor, &[Axis]); 3],
        added: Option<(&Factor, &[Axis])>,
        windows: &[Window],
        workers: usize,
    ) -> Option<Product> {
        let result = tensors[2].0;
        let rank = result.loops.len();
        let mut loops: Vec<Option<Loop>> = vec![None; rank + 1 + windows.len()];
        let mut once = vec![false; rank + 1 + windows.len()];
        for (which, (factor, axes)) in tensors.iter().enumerate() {
            let steps = strides(axes, &order_of(factor));
            let own = factor.loops.iter().zip(*axes).zip(steps).enumerate();
            for (at, ((&number, axis), step)) in own {
                if which == 0 && windows.iter().any(|window| window.axis as usize == at) {
                    continue;
                }
                let slot = loops.get_mut(number as usize)?;
                let own = slot.get_or_insert(Loop {
                    extent: axis.extent,
                    ..Loop::ONCE
                });
                if own.extent != axis.extent {
                    return None;
                }
                own.strides[which] = if axis.broadcast { 0 } else { step };
                once[number as usize] |= which == 2 && axis.broadcast;
            }
        }
        let mut loops = loops.into_iter().collect::<Option<Vec<Loop>>>()?;
        if let Some((factor, axes)) = added {
            let steps = strides(axes, &order_of(factor));
            for ((&number, axis), step) in factor.loops.iter().zip(axes).zip(steps) {
                let own = loops.get_mut(number as usize)?;
                if own.extent != axis.extent {
                    return None;
                }
                own.added = if axis.broadcast { 0 } else { step };
            }
        }
        // Along a broadcast axis of the result there is one element.
        let single = loops.iter_mut().zip(once).filter(|(_, once)| *once);
        single.for_each(|(own, _)| own.extent = own.extent.min(1));
        // Features are the innermost terms, all of them read at one place of the kernel, unless they are few and apart:
        // then places are.
        let ending = loops.split_off(rank);
        let few = ending.first().is_some_and(|own| own.extent < FEW);
        let mut terms: Vec<(usize, Loop)> = (rank..).zip(ending).collect();
        let beside = terms.first().is_some_and(|(_, own)| own.strides[0] == 1);
        if !few || beside {
            terms.rotate_left(1);
        }
        let of = |which: usize, number: usize| tensors[which].0.loops.contains(&(number as u32));
        let (mut batch, mut rows, mut columns) = (Vec::new(), Vec::new(), Vec::new());
        for (number, own) in loops.into_iter().enumerate() {
            match (of(0, number), of(1, number)) {
                (true, false) => rows.push((number, own)),
                (false, true) => columns.push((number, own)),
                _ => batch.push(own),
            }
        }
        let nest = match windows {
            [] => None,
            windows => {
                let roles = [rows.clone(), columns.clone(), terms.clone()];
                Some(Box::new(Nest::new(tensors, windows, roles)?))
            }
        };
        let whole = |loops: &[(usize, Loop)]| Loop {
            extent: extent(loops),
            ..Loop::ONCE
        };
        let plain = |loops: Vec<(usize, Loop)>| loops.into_iter().map(|(_, own)| own).collect();
        let (rows, columns, terms) = match &nest {
            Some(_) => (whole(&rows), whole(&columns), whole(&terms)),
            None => (
                longest(plain(rows), &mut batch),
                longest(plain(columns), &mut batch),
                terms.first()?.1,
            ),
        };
        let count = batch.iter().map(|own| own.extent);
        let count = count.fold(1, usize::saturating_mul);
        Some(Product {
            buffers: tensors.map(|(factor, _)| factor.tensor.buffer as usize),
            dtypes: [tensors[0].0.tensor.dtype, result.tensor.dtype],
            batch,
            rows,
            columns,
            terms,
            nest,
            tile: tile([rows.extent, columns.extent], count, workers),
            units: Units::detect(),
            kept: None,
            added: added.map(|(factor, _)| factor.tensor.buffer as usize),
        })
    }

    /// Scratch memory of a worker: that of the micro-kernels, and a tile of sums where something is added to them.
    pub fn scratch_bytes(&self) -> usize {
        let [m, n] = [
            self.tile[0].min(self.rows.extent),
            self.tile[1].min(self.columns.extent),
        ];
        match self.added {
            Some(_) => self.own_scratch_bytes() + m * n * self.dtypes[1].bytes(),
            None => self.own_scratch_bytes(),
        }
    }

    /// Scratch memory of the micro-kernels.
    fn own_scratch_bytes(&self) -> usize {
        self.kernel_scratch_bytes().next_multiple_of(BUFFER_ALIGN)
    }

    fn kernel_scratch_bytes(&self) -> usize {
        let [m, n] = [
            self.tile[0].min(self.rows.extent),
            self.tile[1].min(self.columns.extent),
        ];
        #[cfg(target_arch = "x86_64")]
        {
            // Either factor may be the left one.
            let sizes = [[m, n, self.terms.extent], [n, m, self.terms.extent]];
            macro_rules! own {
                ($from:ty, $kernel:ty) => {
                    sizes.map(gemm::scratch_bytes::<$from, $kernel>)
                };
            }
            let own = match (self.units, self.dtypes[0]) {
                (Units::Library, _) => None,
                (_, DType::F64) => self.has_own_f64().then(|| own!(f64, Avx2)),
                (Units::Avx2, DType::Bf16 | DType::F16) => Some(own!(f16, Avx2)),
                (Units::Avx2, _) => Some(own!(f32, Avx2)),
                (units, DType::Bf16) => {
                    let [a, b] = own!(f32, Avx512);
                    let narrow = match units {
                        Units::Amx => own!(bf16, Amx),
                        _ => own!(bf16, Dot),
                    };
                    Some(narrow.map(|bytes| bytes.max(a).max(b)))
                }
                _ => Some(own!(f32, Avx512)),
            };
            if let Some([a, b]) = own {
                return a.max(b);
            }
        }
        let k = self.terms.extent.min(TERMS);
        match (self.dtypes[0].bytes(), &self.nest) {
            (2, None) => (m * k + k * n + m * n) * size_of::<f32>(),
            (_, None) => 0,
            // Blocks are gathered, widened, and multiplied a piece of the terms at a time.
            (_, Some(_)) => (BLOCK[0] * BLOCK[1] + m * k + k * n + m * n) * size_of::<f64>(),
        }
    }

    /// Reserves memory from `offset` on for the factors that are `fixed` while a program runs; returns its bytes, 0 where
    /// none is kept.
    pub fn keep(&mut self, fixed: [bool; 2], offset: usize) -> usize {
        let [m, n, k] = [self.rows, self.columns, self.terms].map(|own| own.extent);
        let own = [fixed[0] && n <= MOST_KEPT, fixed[1] && m <= MOST_KEPT];
        let tile = [self.tile[0].min(m), self.tile[1].min(n)];
        let sizes = [[tile[1], tile[0], k], [tile[0], tile[1], k]];
        let bytes = sizes.into_iter().zip(own).filter(|(_, kept)| *kept);
        let stride = bytes.map(|(sizes, _)| self.kept_bytes(sizes)).max();
        let stride = stride.unwrap_or(0).next_multiple_of(BUFFER_ALIGN);
        let calls = self.calls().and_then(|calls| usize::try_from(calls).ok());
        let all = calls.and_then(|calls| calls.checked_mul(stride));
        let room = MOST_KEPT_BYTES.saturating_sub(offset);
        let all = all.filter(|&all| all <= room).unwrap_or(0);
        self.kept = (all > 0).then_some(Kept {
            fixed: own,
            offset,
            stride,
        });
        all
    }

    /// The bytes that keep the packed right factor of a product with this many rows, columns and terms.
    #[cfg(target_arch = "x86_64")]
    fn kept_bytes(&self, sizes: [usize; 3]) -> usize {
        match (self.units, self.dtypes[0]) {
            (Units::Library, _) => 0,
            (_, DType::F64) if !self.has_own_f64() => 0,
            (_, DType::F64) => gemm::kept_bytes::<f64, Avx2>(sizes),
            (Units::Avx2, DType::Bf16 | DType::F16) => gemm::kept_bytes::<f16, Avx2>(sizes),
            (Units::Avx2, _) => gemm::kept_bytes::<f32, Avx2>(sizes),
            (Units::Amx, DType::Bf16) => gemm::kept_bytes::<bf16, Amx>(sizes),
            (_, DType::Bf16) => {
                let [pairs, numbers] = [
                    gemm::kept_bytes::<bf16, Dot>(sizes),
                    gemm::kept_bytes::<bf16, Avx512>(sizes),
                ];
                pairs.max(numbers)
            }
            _ => gemm::kept_bytes::<f32, Avx512>(sizes),
        }
    }

    /// As above, without micro-kernels: nothing is packed.
    #[cfg(not(target_arch = "x86_64"))]
    fn kept_bytes(&self, _sizes: [usize; 3]) -> usize {
        0
    }

    /// Forgets the packed factors of the last run.
    ///
    /// # Safety
    /// `kept` is the memory of all kept factors, which nobody uses now.
    pub(crate) unsafe fn forget(&self, kept: Address) {
        let calls = self.calls().and_then(|calls| usize::try_from(calls).ok());
        if let (Some(own), Some(calls)) = (self.kept, calls) {
            for call in 0..calls {
                let word = kept.at(own.offset + call * own.stride).cast::<u64>();
                // SAFETY: the caller's word; each call has `stride` bytes, aligned for vectors.
                unsafe { word.write(0) };
            }
        }
    }

    /// True where products of f64 are those of AVX2. With AVX-512 the library's vectors are wider, but it reads no
    /// windows.
    #[cfg(target_arch = "x86_64")]
    fn has_own_f64(&self) -> bool {
        match self.units {
            Units::Library => false,
            Units::Avx2 => true,
            Units::Avx512 | Units::Amx => self.nest.is_some(),
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

    fn tiles(&self) -> [usize; 2] {
        let [rows, columns] = self.tile;
        [
            self.rows.extent.div_ceil(rows),
            self.columns.extent.div_ceil(columns),
        ]
    }

    /// The effort of all calls.
    pub fn effort(&self) -> Effort {
        let loops = [self.rows, self.columns, self.terms];
        let extents = self.batch.iter().chain(&loops).map(|own| own.extent);
        match extents.fold(1, usize::saturating_mul) {
            HEAVY.. => Effort::Heavy,
            _ => Effort::Unknown,
        }
    }

    /// Runs call number `call`. The last address is that of the tensor that is added, if there is one.
    ///
    /// # Safety
    /// The addresses are those of the buffers, which have the elements that the plan has checked. The scratch memory
    /// has [`Product::scratch_bytes`] bytes, and nobody else uses it. `kept` is the memory of all kept factors, whose
    /// words [`Product::forget`] has cleared in this run.
    pub(crate) unsafe fn call(
        &self,
        call: i64,
        addresses: [Address; 4],
        [scratch, kept]: [Address; 2],
    ) {
        let ([tall, wide], [rows, columns]) = (self.tiles(), self.tile);
        let mut rest = usize::try_from(call).unwrap_or(0);
        let column = rest % wide.max(1) * columns;
        rest /= wide.max(1);
        let row = rest % tall.max(1) * rows;
        rest /= tall.max(1);
        let mut at = [0; 4];
        for own in self.batch.iter().rev() {
            let index = rest % own.extent.max(1);
            rest /= own.extent.max(1);
            step(&mut at, own, index);
        }
        step(&mut at, &self.rows, row);
        step(&mut at, &self.columns, column);
        let matrix = Matrix {
            nest: self.nest.as_deref().map(|nest| (nest, [row, column])),
            m: rows.min(self.rows.extent - row),
            n: columns.min(self.columns.extent - column),
            k: self.terms.extent,
            left: [self.rows.strides[0], self.terms.strides[0]],
            right: [self.terms.strides[1], self.columns.strides[1]],
            result: [self.rows.strides[2], self.columns.strides[2]],
        };
        let [from, to] = self.dtypes;
        let bytes = [from, from, to, to].map(DType::bytes);
        let place = |which: usize| addresses[which].at(at[which] * bytes[which]);
        let (a, b, c) = (place(0), place(1), place(2));
        if self.added.is_none() {
            // SAFETY: the caller's word.
            return unsafe { self.multiply(call, &matrix, [a, b, c], [scratch, kept]) };
        }
        let (sizes, result) = ([matrix.m, matrix.n], matrix.result);
        let (tile, steps) = (
            scratch.at(self.own_scratch_bytes()),
            added::steps(sizes, result),
        );
        let matrix = Matrix {
            result: steps,
            ..matrix
        };
        // SAFETY: the caller's word; the tile has its own part of the scratch memory.
        unsafe { self.multiply(call, &matrix, [a, b, tile], [scratch, kept]) };
        let other = [self.rows.added, self.columns.added];
        macro_rules! add {
            ($ty:ty) => {
                // SAFETY: the caller's word; the tile was just stored.
                unsafe {
                    added::add::<$ty>(
                        sizes,
                        Elements {
                            first: tile.cast::<$ty>().cast_const(),
                            steps,
                        },
                        Elements {
                            first: place(3).cast::<$ty>().cast_const(),
                            steps: other,
                        },
                        Elements {
                            first: c.cast::<$ty>(),
                            steps: result,
                        },
                    )
                }
            };
        }
        match to {
            DType::F64 => add!(f64),
            _ => add!(f32),
        }
    }

    /// Stores the product of the matrices of a call.
    ///
    /// # Safety
    /// As for [`Product::call`]; `c` is the place of the result.
    unsafe fn multiply(
        &self,
        call: i64,
        matrix: &Matrix<'_>,
        [a, b, c]: [*mut u8; 3],
        [scratch, kept]: [Address; 2],
    ) {
        #[cfg(target_arch = "x86_64")]
        {
            let own = |of: Kept| {
                let at = of.offset + usize::try_from(call).unwrap_or(0) * of.stride;
                (kept.at(at), of.fixed)
            };
            let units = self.units;
            let room = Room {
                scratch: scratch.at(0),
                kept: self.kept.map(own),
            };
            // SAFETY: the caller's word.
            let done = unsafe {
                match self.dtypes {
                    [DType::F64, _] if !self.has_own_f64() => false,
                    [DType::F64, _] => {
                        matrix.avx2::<f64, f64>(units, [a.cast(), b.cast()], c.cast(), room)
                    }
                    [DType::Bf16, DType::F32] => {
                        matrix.bf16::<f32>(units, [a.cast(), b.cast()], c.cast(), room)
                    }
                    [DType::Bf16, _] => {
                        matrix.bf16::<bf16>(units, [a.cast(), b.cast()], c.cast(), room)
                    }
                    [DType::F16, DType::F32] => {
                        matrix.own::<f16, f32>(units, [a.cast(), b.cast()], c.cast(), room)
                    }
                    [DType::F16, _] => {
                        matrix.own::<f16, f16>(units, [a.cast(), b.cast()], c.cast(), room)
                    }
                    _ => matrix.own::<f32, f32>(units, [a.cast(), b.cast()], c.cast(), room),
                }
            };
            if done {
                return;
            }
        }
        if let Some((nest, first)) = matrix.nest {
            let (part, scratch) = ((first, [matrix.m, matrix.n, matrix.k]), scratch.at(0));
            macro_rules! multiply {
                ($from:ty, $wide:ty, $to:ty, $round:expr) => {
                    // SAFETY: the caller's word.
                    unsafe {
                        let factors = [
                            a.cast::<$from>().cast_const(),
                            b.cast::<$from>().cast_const(),
                        ];
                        nest.multiply::<$from, $wide, $to>(part, factors, c.cast(), scratch, $round)
                    }
                };
            }
            return match self.dtypes {
                [DType::F64, _] => multiply!(f64, f64, f64, |sum| sum),
                [DType::Bf16, DType::F32] => multiply!(bf16, f32, f32, |sum| sum),
                [DType::Bf16, _] => multiply!(bf16, f32, bf16, bf16::rounded),
                [DType::F16, DType::F32] => multiply!(f16, f32, f32, |sum| sum),
                [DType::F16, _] => multiply!(f16, f32, f16, f16::rounded),
                _ => multiply!(f32, f32, f32, |sum| sum),
            };
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

fn step(at: &mut [usize; 4], own: &Loop, index: usize) {
    let [a, b, c] = own.strides;
    at.iter_mut()
        .zip([a, b, c, own.added])
        .for_each(|(at, stride)| *at += index * stride);
}

/// The rows and columns of one call: the tile size with which `workers` workers finish first, for a result that occurs
/// `batch` times.
fn tile([m, n]: [usize; 2], batch: usize, workers: usize) -> [usize; 2] {
    let sizes = |extent: usize, most: usize| {
        let blocks = extent.div_ceil(GRAIN).clamp(1, most / GRAIN);
        (1..=blocks).map(|blocks| blocks * GRAIN)
    };
    let time = |&[rows, columns]: &[usize; 2]| {
        let tiles = [batch, m.div_ceil(rows), n.div_ceil(columns)];
        let calls = tiles.into_iter().fold(1, usize::saturating_mul);
        let [rows, columns] = [rows.min(m), columns.min(n)];
        calls
            .div_ceil(workers.max(1))
            .saturating_mul(rows * columns + PACKING * (rows + columns))
    };
    let all = sizes(m, MOST[0])
        .flat_map(|rows| sizes(n, MOST[1]).rev().map(move |columns| [rows, columns]));
    all.min_by_key(time).unwrap_or([GRAIN; 2])
}

/// Collapses adjacent loops and returns the longest one; the others are appended to `others` and run around the calls.
pub(crate) fn longest(loops: Vec<Loop>, others: &mut Vec<Loop>) -> Loop {
    let mut runs: Vec<Loop> = Vec::new();
    for own in loops.into_iter().filter(|own| own.extent != 1) {
        match runs.last_mut() {
            Some(outer)
                if outer.strides == own.strides.map(|stride| stride * own.extent)
                    && outer.added == own.added * own.extent =>
            {
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

/// One call: its sizes, and the strides between rows and between columns.
struct Matrix<'a> {
    /// The windows, and the numbers of the first row and column.
    nest: Option<(&'a Nest, [usize; 2])>,
    m: usize,
    n: usize,
    k: usize,
    left: [usize; 2],
    right: [usize; 2],
    result: [usize; 2],
}

/// The factors of a call and the position of its result, in rows of `steps[0]` elements.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
struct Sides<'a, T, O> {
    factors: [gemm::Factor<'a, T>; 2],
    result: *mut O,
    /// The lines of the result, each beside the number of the first.
    lines: [Spread<'a>; 2],
}

/// The memory of a call: scratch memory, and where a factor stays packed, with the factors that do not change.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
struct Room {
    scratch: *mut u8,
    kept: Option<(*mut u8, [bool; 2])>,
}

/// Lines of a result from a line on.
#[derive(Clone, Copy, Debug)]
enum Spread<'a> {
    /// So far apart each.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    Even(usize),
    /// In runs.
    Runs(&'a [Run], usize),
}

impl Spread<'_> {
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    fn from(self, first: usize) -> (usize, Self) {
        match self {
            Spread::Even(stride) => (first * stride, self),
            Spread::Runs(runs, line) => (0, Spread::Runs(runs, line + first)),
        }
    }

    /// The stride of the innermost run.
    fn stride(self) -> usize {
        match self {
            Spread::Even(stride) => stride,
            Spread::Runs(runs, _) => runs.last().map_or(0, |run| run.stride),
        }
    }

    /// The position of line `first`, the length of the run that starts there (at most `count`), and its stride.
    fn run(self, first: usize, count: usize) -> [usize; 3] {
        let (runs, line) = match self {
            Spread::Even(stride) => return [first * stride, count, stride],
            Spread::Runs(runs, line) => (runs, line),
        };
        let mut number = line + first;
        let (mut place, mut length) = (0, count);
        for (at, run) in runs.iter().enumerate().rev() {
            let own = match at {
                0 => number,
                _ => number % run.extent.max(1),
            };
            if at + 1 == runs.len() && at > 0 {
                length = count.min(run.extent - own);
            }
            place += own * run.stride;
            number /= run.extent.max(1);
        }
        [place, length, self.stride()]
    }
}

#[cfg(target_arch = "x86_64")]
impl<'a, T: Copy + Default, O> Sides<'a, T, O> {
    fn new(of: &Matrix<'a>, [a, b]: [*const T; 2], result: *mut O) -> Sides<'a, T, O> {
        if let Some((nest, first)) = of.nest {
            let factors = nest.factors(first, [of.m, of.n, of.k], [a, b]);
            let lines = [0, 1].map(|side| Spread::Runs(&nest.result[side], first[side]));
            return Sides {
                factors,
                result,
                lines,
            };
        }
        let lines = |first: *const T, lines: usize, strides: [usize; 2]| Lines {
            first,
            lines,
            terms: of.k,
            strides,
        };
        let left = lines(a, of.m, of.left);
        let right = lines(b, of.n, [of.right[1], of.right[0]]);
        Sides {
            factors: [left, right].map(gemm::Factor::Strided),
            result,
            lines: of.result.map(Spread::Even),
        }
    }

    /// The transposed product and true, if rows of the result are stored as columns. Windows that are read in place stay
    /// on the left: gathering them takes longer than storing sums apart.
    fn turned<K: Kernel<T>>(self) -> (Self, bool) {
        let ([rows, columns], [a, b]) = (self.lines, self.factors);
        let stays = matches!(a, gemm::Factor::Windows(_)) && K::in_place(&a);
        match (rows.stride(), columns.stride()) {
            (1, across) if across != 1 && !stays => {
                let turned = Sides {
                    factors: [b, a],
                    lines: [columns, rows],
                    ..self
                };
                (turned, true)
            }
            _ => (self, false),
        }
    }

    /// Stores rows and columns of sums from `first` on, run by run.
    ///
    /// # Safety
    /// As for [`Stores::store`].
    unsafe fn store<N, K: Stores<N, O>>(
        &self,
        sums: *const N,
        first: [usize; 2],
        size: [usize; 2],
    ) {
        let mut row = 0;
        while row < size[0] {
            let [down, rows, steps] = self.lines[0].run(first[0] + row, size[0] - row);
            let mut column = 0;
            while column < size[1] {
                let [across, columns, step] =
                    self.lines[1].run(first[1] + column, size[1] - column);
                let to = self.result.wrapping_add(down + across);
                let part = [[row, column], [rows, columns]];
                // SAFETY: the caller's word.
                unsafe { K::store(sums, part, to, [steps, step]) };
                column += columns.max(1);
            }
            row += rows.max(1);
        }
    }

    /// Multiplies with a micro-kernel, and passes the parts that do not fit it to `other`.
    ///
    /// # Safety
    /// All elements are there, and nobody else uses those of the result; `scratch` is as large as that of the product.
    unsafe fn run<K: Kernel<T> + Stores<K::Sum, O>>(
        self,
        kernel: &K,
        room: Room,
        mut other: impl FnMut(Sides<'a, T, O>),
    ) {
        let (sides, turned) = self.turned::<K>();
        // The right factor is the one that is packed.
        let kept = room.kept.filter(|(_, fixed)| fixed[usize::from(!turned)]);
        let room = [
            room.scratch,
            kept.map_or(std::ptr::null_mut(), |kept| kept.0),
        ];
        let store = |first, size, sums| {
            // SAFETY: the caller's word.
            unsafe { sides.store::<_, K>(sums, first, size) };
        };
        let other = |first: [usize; 2], count: [usize; 2]| {
            let [(down, rows), (across, columns)] =
                [0, 1].map(|side| sides.lines[side].from(first[side]));
            other(Sides {
                factors: [0, 1].map(|side| sides.factors[side].lines(first[side], count[side])),
                result: sides.result.wrapping_add(down + across),
                lines: [rows, columns],
            });
        };
        // SAFETY: the caller's word.
        unsafe { gemm::product(kernel, sides.factors, room, store, other) };
    }
}

#[cfg(target_arch = "x86_64")]
impl Matrix<'_> {
    /// Multiplies bf16, in AMX tiles or by pairs if the processor and the factors permit it. Returns false without any
    /// effect if the processor has no micro-kernel.
    ///
    /// # Safety
    /// As for `f32`; `scratch` is as large as that of the product.
    unsafe fn bf16<O: Copy>(
        &self,
        units: Units,
        factors: [*const bf16; 2],
        c: *mut O,
        room: Room,
    ) -> bool
    where
        Amx: Stores<f32, O>,
        Dot: Stores<f32, O>,
        Avx512: Stores<f32, O>,
        Avx2: Stores<f32, O>,
    {
        let narrow = match units {
            Units::Amx => (Amx::detect(), None),
            Units::Avx512 => (None, Dot::detect()),
            _ => (None, None),
        };
        let Some(avx512) = Avx512::detect() else {
            // SAFETY: the caller's word.
            return unsafe { self.own(units, factors, c, room) };
        };
        let sides = Sides::new(self, factors, c);
        let alone = Room { kept: None, ..room };
        // SAFETY: the caller's word; the scratch memory is free again where another kernel begins.
        let other = |part: Sides<'_, bf16, O>| unsafe { part.run(&avx512, alone, |_| ()) };
        // SAFETY: as above.
        unsafe {
            match narrow {
                (Some(amx), _) => amx.with_tiles(|amx| sides.run(amx, room, other)),
                (_, Some(dot)) => sides.run(&dot, room, other),
                _ => return self.own(units, factors, c, room),
            }
        }
        true
    }

    /// Multiplies by fused multiply-adds of f32, as `bf16` otherwise.
    ///
    /// # Safety
    /// As for `bf16`.
    unsafe fn own<T: gemm::Element + gemm::Factored<Number = f32>, O: Copy>(
        &self,
        units: Units,
        factors: [*const T; 2],
        c: *mut O,
        room: Room,
    ) -> bool
    where
        Avx512: Stores<f32, O>,
        Avx2: Stores<f32, O>,
    {
        let (Units::Avx512 | Units::Amx, Some(avx512)) = (units, Avx512::detect()) else {
            // SAFETY: the caller's word.
            return unsafe { self.avx2(units, factors, c, room) };
        };
        // SAFETY: the caller's word.
        unsafe { Sides::new(self, factors, c).run(&avx512, room, |_| ()) };
        true
    }

    /// Multiplies by fused multiply-adds of AVX2, as `bf16` otherwise.
    ///
    /// # Safety
    /// As for `bf16`.
    unsafe fn avx2<T: gemm::Factored, O: Copy>(
        &self,
        units: Units,
        factors: [*const T; 2],
        c: *mut O,
        room: Room,
    ) -> bool
    where
        Avx2: Stores<T::Number, O>,
    {
        let (true, Some(avx2)) = (units != Units::Library, Avx2::detect()) else {
            return false;
        };
        // SAFETY: the caller's word.
        unsafe { Sides::new(self, factors, c).run(&avx2, room, |_| ()) };
        true
    }
}

/// A type in which a library multiplies.
trait Wide: Copy + Default {
    /// `c = beta c + a b` of row-major matrices.
    ///
    /// # Safety
    /// The elements are there.
    unsafe fn multiply(sizes: [usize; 3], a: *const Self, b: *const Self, beta: Self, c: *mut Self);
    const ONE: Self;
}

macro_rules! wide {
    ($($ty:ty, $multiply:ident;)*) => {$(
        impl Wide for $ty {
            const ONE: Self = 1.0;
            // SAFETY: as the trait says.
            unsafe fn multiply([m, k, n]: [usize; 3], a: *const Self, b: *const Self, beta: Self, c: *mut Self) {
                let [across, down] = [k as isize, n as isize];
                // SAFETY: the caller's word.
                unsafe {
                    matrixmultiply::$multiply(m, k, n, 1.0, a, across, 1, b, down, 1, beta, c, down, 1)
                }
            }
        }
    )*};
}
wide!(f32, sgemm; f64, dgemm;);

impl Nest {
    /// The factors of a call, starting at row and column `first`; a factor with a single loop each for lines and terms
    /// is read in place.
    fn factors<T: Copy>(
        &self,
        first: [usize; 2],
        [m, n, k]: [usize; 3],
        factors: [*const T; 2],
    ) -> [gemm::Factor<'_, T>; 2] {
        [0, 1].map(|side| {
            let (view, lines) = (&self.factors[side], [m, n][side]);
            let single = |digits: &[Digit]| match digits {
                [] => Some(0),
                [own] => Some(own.offset),
                _ => None,
            };
            let strides = single(&view.lines).zip(single(&view.terms));
            match strides.filter(|_| view.bounds.is_empty()) {
                Some((down, across)) => gemm::Factor::Strided(Lines {
                    first: factors[side].wrapping_add(first[side] * down),
                    lines,
                    terms: k,
                    strides: [down, across],
                }),
                None => gemm::Factor::Windows(Windows {
                    view,
                    first: factors[side],
                    places: self.first,
                    line: first[side],
                    lines,
                    terms: k,
                }),
            }
        })
    }

    /// Multiplies by the library: the terms are gathered piece by piece in the accumulating type, and the sums are
    /// rounded.
    ///
    /// # Safety
    /// All elements inside the axes are there, and nobody else uses those of the result; `scratch` is as large as that
    /// of the product.
    unsafe fn multiply<T: Copy + Default + Into<W>, W: Wide, O: Copy>(
        &self,
        (first, sizes): ([usize; 2], [usize; 3]),
        factors: [*const T; 2],
        result: *mut O,
        scratch: *mut u8,
        round: impl Fn(W) -> O,
    ) {
        let [m, n, k] = sizes;
        let piece = k.min(TERMS);
        let room = scratch.cast::<T>();
        let left = scratch.cast::<W>().wrapping_add(BLOCK[0] * BLOCK[1]);
        let right = left.wrapping_add(m * piece);
        let sums = right.wrapping_add(piece * n);
        let factors = self.factors(first, sizes, factors);
        for from in (0..k.max(1)).step_by(TERMS) {
            let terms = TERMS.min(k - from);
            for (side, (lines, to)) in [(m, left), (n, right)].into_iter().enumerate() {
                for (line, term) in (0..lines)
                    .step_by(BLOCK[0])
                    .flat_map(|line| (0..terms).step_by(BLOCK[1]).map(move |term| (line, term)))
                {
                    let size = [line, BLOCK[0]];
                    let of = [from + term, BLOCK[1].min(terms - term)];
                    // SAFETY: the caller's word.
                    let block = unsafe { factors[side].block(size, of, room) };
                    for (i, j) in
                        (0..block.lines).flat_map(|i| (0..block.terms).map(move |j| (i, j)))
                    {
                        let at = match side {
                            0 => (line + i) * terms + term + j,
                            _ => (term + j) * n + line + i,
                        };
                        // SAFETY: the block has this element, and there is room for it.
                        unsafe { to.wrapping_add(at).write((*block.at(i, j)).into()) };
                    }
                }
            }
            let beta = if from == 0 { W::default() } else { W::ONE };
            // SAFETY: the parts of the scratch memory do not overlap.
            unsafe { W::multiply([m, terms, n], left, right, beta, sums) };
        }
        let lines = [0, 1].map(|side| Spread::Runs(&self.result[side], first[side]));
        for row in 0..m {
            let [down, ..] = lines[0].run(row, 1);
            for column in 0..n {
                let [across, ..] = lines[1].run(column, 1);
                // SAFETY: the caller's word; the sums are there.
                unsafe {
                    let sum = *sums.wrapping_add(row * n + column);
                    result.wrapping_add(down + across).write(round(sum));
                }
            }
        }
    }
}

impl Matrix<'_> {
    /// # Safety
    /// All elements addressed by the sizes and strides are there, and nobody else uses those of the result.
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

    /// As `f32`, for 16-bit elements, using `scratch`; the result is of type `to`.
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

/// Widens a matrix into a copy that is contiguous along the same axis; returns the strides of the copy.
///
/// # Safety
/// All elements addressed by the sizes and strides are there, and `to` has room for as many.
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
