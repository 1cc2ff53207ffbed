//! Attention on panels of 32 queries, with the micro-kernels of `gemm`.
//!
//! ```text
//! scores of a panel:   weights:              sums of a panel:
//! keys x 32 queries    the same, in place    columns x 32 queries
//! = keys by queries    or as pairs of bf16   += values, turned, by weights
//! ```
//!
//! All matrices are transposed: a row of a panel is a key, or a column of the values, and adjacent elements belong to
//! different queries. Keys and values are therefore left factors, packed once for all panels of a call. A softmax runs
//! down the rows without operations across lanes, and the weights are already laid out as a right factor.
//!
//! Weights are powers of two of `score * c - reference`, rounded once. `c` is `log2 e`, times the scale of the scores
//! if no other operation applies to them. If that product is large, its rounding would affect more than the weights.
//! Scores are then first replaced by their exact differences from the greatest score. In AMX tiles a weight is split
//! into two bf16: its value to 8 bits and the rest to 8 bits. Both are multiplied by 2^80, so that neither part, nor a
//! product with a value of sufficient size, is subnormal.

use std::arch::x86_64::*;

use fuser_artifact::DType;

use super::{Attention, BIAS, Block, K as KEY, KEYS, OUT, Q, QUERIES, V};
use crate::gemm::{self, Element, Kernel, Lines, PAIRS, SIDE, Stored, Sums, Truth, WIDE};

/// The minimum number of keys for which split weights are within the error bound: see docs/products.md.
pub const SPLIT_KEYS: usize = 160;
/// The exponent by which weights that are parts are greater.
const LIFT: u32 = 80;
/// The power of two below which a weight is 0: about e^-87.
const LEAST: f32 = -125.5;
/// The magnitude of a reference from which on scores are replaced by differences. Below it, the rounding of a reference
/// changes weights by less than 2^(1/8).
const FAR: f32 = (1 << 20) as f32;
/// The least biased exponent of a value that may be multiplied by split weights. Weights are multiples of
/// 2^(80-126-23), values of 2^(e-127-7).
const LEAST_VALUE: u32 = 127 + 7 - 126 + (126 + 23 - 80);

/// The sizes in bytes of a worker's scratch areas: packed queries, keys and values, scores, split weights, sums, row
/// states of the queries, the bias, and the result row by row.
fn parts<T: Copy, K: Kernel<T>>(of: &Attention) -> [usize; 9] {
    let queries = of.queries.extent.min(QUERIES).div_ceil(WIDE);
    let keys = of.keys.extent.min(KEYS);
    let columns = of.columns.extent;
    let numbers = |count: usize| count.saturating_mul(size_of::<f32>());
    let [left, right] = K::panel_bytes(of.terms.extent);
    let [value, weight] = K::panel_bytes(keys);
    let tall = |lines: usize| lines.div_ceil(K::TALL);
    [
        queries.saturating_mul(right),
        tall(keys).saturating_mul(left),
        tall(columns).saturating_mul(value),
        numbers(tall(keys) * K::TALL * WIDE),
        2 * weight,
        numbers((queries * WIDE).saturating_mul(tall(columns) * K::TALL)),
        numbers(queries * size_of::<Rows>() / size_of::<f32>()),
        numbers(keys * WIDE),
        numbers(columns.next_multiple_of(WIDE).saturating_mul(WIDE)),
    ]
}

/// Bytes of scratch memory of a worker.
pub fn scratch_bytes<T: Copy, K: Kernel<T>>(of: &Attention) -> usize {
    parts::<T, K>(of).into_iter().fold(0, usize::saturating_add)
}

/// The state of a panel's queries: the greatest score so far, the reference of their weights, and the sum of the
/// weights.
#[derive(Clone, Copy)]
#[repr(C)]
struct Rows {
    greatest: [__m512; 2],
    reference: [__m512; 2],
    sums: [__m512; 2],
}

impl Block<'_> {
    /// Computes the block with a micro-kernel, with split weights if `SPLIT` is set. Returns false without storing
    /// anything if the kernel does not support the data.
    ///
    /// # Safety
    /// All elements addressed by the sizes and strides are there and of type `T`; nobody else uses those of the result.
    /// The scratch memory is as large as [`scratch_bytes`] says, and the processor has the instructions.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
    pub unsafe fn panels<T: Element + Stored, K: Kernel<T, Sum = f32>, const SPLIT: bool>(
        &self,
        kernel: &K,
        scratch: *mut u8,
    ) -> bool {
        let of = self.of;
        let (terms, columns) = (of.terms, of.columns);
        let mut begin = 0;
        let [q, k, v, scores, weights, sums, rows, bias, turned] = parts::<T, K>(of).map(|bytes| {
            let part = scratch.wrapping_add(begin);
            begin += bytes;
            part
        });
        let (scores, sums, rows) = (
            scores.cast::<f32>(),
            sums.cast::<f32>(),
            rows.cast::<Rows>(),
        );
        let [mut queries_seen, mut keys_seen, mut values_seen] =
            [(); 3].map(|()| K::Seen::default());
        let [_, query_panel] = K::panel_bytes(terms.extent);
        let tall = columns.extent.div_ceil(K::TALL);
        let panel_sums = tall * K::TALL * WIDE;
        let lines = |which: usize, at: usize, lines: usize, steps: [usize; 2]| Lines {
            first: self.places[which].cast_const().cast::<T>().wrapping_add(at),
            lines,
            terms: terms.extent,
            strides: steps,
        };
        let own = lines(Q, 0, self.count, [of.queries.strides[Q], terms.strides[Q]]);
        let panels = self.count.div_ceil(WIDE);
        for panel in 0..panels {
            let to = q.wrapping_add(panel * query_panel);
            let empty = Rows {
                greatest: [_mm512_set1_ps(f32::NEG_INFINITY); 2],
                reference: [_mm512_set1_ps(f32::NEG_INFINITY); 2],
                sums: [_mm512_setzero_ps(); 2],
            };
            // SAFETY: the caller's word; the parts have room for all panels.
            unsafe {
                kernel.pack(1, own.lines(panel * WIDE, WIDE), to, &mut queries_seen);
                rows.wrapping_add(panel).write_unaligned(empty);
                std::slice::from_raw_parts_mut(sums.wrapping_add(panel * panel_sums), panel_sums)
                    .fill(0.0);
            }
        }
        let (scale, direct) = of.factor();
        // Behind the last query no key takes part.
        let end = match of.causal {
            true => of.keys.extent.min(self.first + self.count),
            false => of.keys.extent,
        };
        for begin in (0..end).step_by(KEYS) {
            let count = KEYS.min(end - begin);
            let [left, _] = K::panel_bytes(terms.extent);
            let [value, _] = K::panel_bytes(count);
            let keys = lines(
                KEY,
                begin * of.keys.strides[KEY],
                count,
                [of.keys.strides[KEY], terms.strides[KEY]],
            );
            let values = Lines {
                terms: count,
                ..lines(
                    V,
                    begin * of.keys.strides[V],
                    columns.extent,
                    [columns.strides[V], of.keys.strides[V]],
                )
            };
            for (i, line) in (0..count).step_by(K::TALL).enumerate() {
                let to = k.wrapping_add(i * left);
                // SAFETY: as above.
                unsafe { kernel.pack(0, keys.lines(line, K::TALL), to, &mut keys_seen) };
            }
            for (i, line) in (0..columns.extent).step_by(K::TALL).enumerate() {
                let to = v.wrapping_add(i * value);
                // SAFETY: as above.
                unsafe { kernel.pack(0, values.lines(line, K::TALL), to, &mut values_seen) };
            }
            let exponents = [&keys_seen, &queries_seen].map(K::exponents);
            if !K::fits(exponents) || SPLIT && !fits(K::exponents(&values_seen), of.keys.extent) {
                return false;
            }
            for panel in 0..panels {
                let first = self.first + panel * WIDE;
                let queries = WIDE.min(self.count - panel * WIDE);
                let count = match of.causal {
                    true => (first + queries).saturating_sub(begin).min(count),
                    false => count,
                };
                if count == 0 {
                    continue;
                }
                for (i, line) in (0..count).step_by(K::TALL).enumerate() {
                    let (a, b) = (
                        k.wrapping_add(i * left),
                        q.wrapping_add(panel * query_panel).cast_const(),
                    );
                    let size = [K::TALL.min(count - line), WIDE, terms.extent];
                    let to = Sums {
                        first: scores.wrapping_add(line * WIDE),
                        add: false,
                    };
                    // SAFETY: both were packed, and there is room for panels of all keys.
                    unsafe { kernel.multiply(size, a, &[b], to) };
                }
                let own = sums.wrapping_add(panel * panel_sums);
                // SAFETY: the scores have whole steps of rows where weights are parts, and the others are there.
                unsafe {
                    if !direct {
                        self.prepare_panel::<T>(panel, begin, count, scores, bias.cast());
                    }
                    let whole = if SPLIT {
                        count.next_multiple_of(PAIRS)
                    } else {
                        count
                    };
                    let out = _mm512_set1_ps(f32::NEG_INFINITY);
                    if of.causal {
                        leave_out_behind(scores, first, begin, count);
                    }
                    for at in (count * WIDE..whole * WIDE).step_by(SIDE) {
                        _mm512_storeu_ps(scores.wrapping_add(at), out);
                    }
                    let rows = rows.wrapping_add(panel);
                    let mut state = rows.read_unaligned();
                    let apart = K::panel_bytes(whole)[1] / size_of::<u32>();
                    let factors =
                        weigh::<SPLIT>(scores, whole, scale, &mut state, weights.cast(), apart);
                    rows.write_unaligned(state);
                    correct(own, tall * K::TALL, factors);
                }
                let low = weights.wrapping_add(K::panel_bytes(count)[1]);
                let parts = [weights.cast_const(), low.cast_const()];
                let whole = [scores.cast_const().cast::<u8>()];
                let right: &[*const u8] = if SPLIT { &parts } else { &whole };
                for (i, line) in (0..columns.extent).step_by(K::TALL).enumerate() {
                    let size = [K::TALL.min(columns.extent - line), WIDE, count];
                    let a = v.wrapping_add(i * value);
                    let to = Sums {
                        first: own.wrapping_add(line * WIDE),
                        add: true,
                    };
                    // SAFETY: values were packed, weights are panels, and the sums are there.
                    unsafe { kernel.multiply(size, a, right, to) };
                }
            }
        }
        for panel in 0..panels {
            let queries = WIDE.min(self.count - panel * WIDE);
            let at = panel * WIDE * of.queries.strides[OUT];
            let to = self.places[OUT].cast::<T>().wrapping_add(at);
            let strides = [of.queries.strides[OUT], columns.strides[OUT]];
            // SAFETY: the sums are there, and there is room for the result of a panel.
            unsafe {
                let own = sums.wrapping_add(panel * panel_sums);
                let state = rows.wrapping_add(panel).read_unaligned();
                divide(own, columns.extent, &state);
                if of.log_sums {
                    let logs = log_sums::<SPLIT>(&state, scale);
                    for (query, &log) in logs.iter().take(queries).enumerate() {
                        self.store_sum(panel * WIDE + query, log);
                    }
                }
                let turned = turned.cast::<f32>();
                for column in (0..columns.extent).step_by(SIDE) {
                    let from = Lines {
                        first: own.cast_const().wrapping_add(column * WIDE),
                        lines: SIDE.min(columns.extent - column),
                        terms: WIDE,
                        strides: [WIDE, 1],
                    };
                    let at = column / WIDE * WIDE * WIDE + column % WIDE;
                    gemm::numbers(from, turned.wrapping_add(at), WIDE);
                }
                gemm::store(
                    turned,
                    WIDE,
                    [[0, 0], [queries, columns.extent]],
                    to,
                    strides,
                );
            }
        }
        true
    }

    /// Turns products into scores: applies the scale and the bias, and sets masked keys to `-inf`.
    ///
    /// # Safety
    /// As for `panels`; the scores of this many keys are there, and room for as many of the bias.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
    unsafe fn prepare_panel<T: Element>(
        &self,
        panel: usize,
        begin: usize,
        count: usize,
        scores: *mut f32,
        bias: *mut f32,
    ) {
        let of = self.of;
        let [down, across] = [of.queries.strides[BIAS], of.keys.strides[BIAS]];
        let at = panel * WIDE * down + begin * across;
        let queries = WIDE.min(self.count - panel * WIDE);
        let scale = _mm512_set1_ps(f32::from_bits(of.scale));
        // SAFETY: the caller's word.
        unsafe {
            match of.bias {
                None => {}
                Some(DType::I1) => {
                    let first = self.places[BIAS].cast_const().cast::<Truth>();
                    side_by_side(first.wrapping_add(at), queries, count, [down, across], bias);
                }
                Some(_) => {
                    let first = self.places[BIAS].cast_const().cast::<T>();
                    side_by_side(first.wrapping_add(at), queries, count, [down, across], bias);
                }
            }
            for at in (0..count * WIDE).step_by(SIDE) {
                let (x, own) = (scores.wrapping_add(at), bias.wrapping_add(at));
                let score = _mm512_mul_ps(_mm512_loadu_ps(x), scale);
                let score = match of.bias {
                    None => score,
                    Some(DType::I1) => {
                        let out = _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(
                            _mm512_loadu_ps(own),
                            _mm512_setzero_ps(),
                        );
                        _mm512_mask_mov_ps(score, out, _mm512_set1_ps(f32::NEG_INFINITY))
                    }
                    Some(_) => _mm512_add_ps(score, _mm512_loadu_ps(own)),
                };
                _mm512_storeu_ps(x, score);
            }
        }
    }
}

impl Attention {
    /// The factors applied to a score, and true if they include the attention's own scale. The scores are then left
    /// unscaled.
    fn factor(&self) -> (Scale, bool) {
        let rest = f32::from_bits(self.scale);
        let power = (f64::from(rest) * std::f64::consts::LOG2_E) as f32;
        match self.bias.is_none() && rest > 0.0 && power.is_normal() {
            true => (Scale { power, rest }, true),
            false => (Scale::PLAIN, false),
        }
    }
}

/// True if the products of values with these exponents and split weights are free of subnormal numbers, and sums over
/// `keys` keys do not overflow while scaled by 2^80.
fn fits(exponents: Option<[u32; 2]>, keys: usize) -> bool {
    let Some([least, greatest]) = exponents else {
        return true;
    };
    // Weights are at most 2^80, and values less than 2^(e-126).
    let octaves = keys.next_power_of_two().ilog2() + LIFT;
    least >= LEAST_VALUE && greatest + octaves < 126 + 127
}

/// Packs the bias of up to 32 queries as panel columns, one row for each key.
///
/// # Safety
/// As for [`gemm::numbers`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn side_by_side<T: Element>(
    first: *const T,
    queries: usize,
    keys: usize,
    strides: [usize; 2],
    to: *mut f32,
) {
    let all = Lines {
        first,
        lines: queries,
        terms: keys,
        strides,
    };
    for half in [0, SIDE] {
        // SAFETY: the caller's word.
        unsafe { gemm::numbers(all.lines(half, SIDE), to.wrapping_add(half), WIDE) };
    }
}

/// Masks the keys after each query (causal attention), for 32 queries from `first` on and for keys from `begin` on.
///
/// # Safety
/// The scores are there; the processor has the instructions.
#[target_feature(enable = "avx512f")]
unsafe fn leave_out_behind(scores: *mut f32, first: usize, begin: usize, count: usize) {
    let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for key in (first + 1).saturating_sub(begin)..count {
        // Of the panel's queries, the first `behind` are before the key.
        let behind = (begin + key - first).min(WIDE) as i32;
        for half in [0, SIDE] {
            let out = _mm512_cmplt_epi32_mask(lanes, _mm512_set1_epi32(behind - half as i32));
            let to = scores.wrapping_add(key * WIDE + half);
            // SAFETY: the caller's word.
            unsafe { _mm512_mask_storeu_ps(to, out, _mm512_set1_ps(f32::NEG_INFINITY)) };
        }
    }
}

/// Two to the power of `x`, within 1.5 units in the last place; 0 below the least power. With `SPLIT`, the result is
/// multiplied by 2^80.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn power<const SPLIT: bool>(x: __m512) -> __m512 {
    // (2^f - 1) / f for f from 0 to 1, the greatest error of the whole as small as it can be (by reweighted least squares).
    const TERMS: [f32; 6] = [
        0.693_147_06,
        0.240_229_31,
        0.055_485_282,
        0.009_675_452,
        0.001_246_784_6,
        0.000_216_129_15,
    ];
    let size = if SPLIT { (1u128 << LIFT) as f32 } else { 1.0 };
    // x less the whole number below it.
    let f = _mm512_reduce_ps::<0x01>(x);
    let mut p = _mm512_set1_ps(TERMS[5] * size);
    for term in TERMS[..5].iter().rev() {
        p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(*term * size));
    }
    let p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(size));
    // Times two to the power of that whole number. A NaN is not below the least power.
    let kept = _mm512_cmp_ps_mask::<_CMP_NLT_UQ>(x, _mm512_set1_ps(LEAST));
    _mm512_maskz_scalef_ps(kept, p, x)
}

/// The factor of a score in the exponent of its weight, and the factor still to be applied to the score itself.
#[derive(Clone, Copy)]
struct Scale {
    power: f32,
    rest: f32,
}

impl Scale {
    /// That of a score that is what it should be.
    const PLAIN: Scale = Scale {
        power: std::f32::consts::LOG2_E,
        rest: 1.0,
    };
}

/// Turns `count` rows of scores into weights. Weights stay in place, or go to `to` split into two bf16 parts, as
/// complete square blocks of pairs. The second part starts `apart` words after the first. Returns the correction
/// factors for the earlier sums.
///
/// # Safety
/// The scores are there, and room for the parts; the processor has the instructions.
#[target_feature(enable = "avx512f,avx512dq")]
unsafe fn weigh<const SPLIT: bool>(
    scores: *mut f32,
    count: usize,
    scale: Scale,
    rows: &mut Rows,
    to: *mut u32,
    apart: usize,
) -> [__m512; 2] {
    let at = |row: usize, half: usize| scores.wrapping_add(row * WIDE + half * SIDE);
    // Four rows at a time, so that no comparison waits for another; the last one more than once.
    let mut most = [rows.greatest; 4];
    for first in (0..count).step_by(4) {
        for (row, most) in (first..).zip(most.iter_mut()) {
            for (half, most) in most.iter_mut().enumerate() {
                // SAFETY: the caller's word.
                let x = unsafe { _mm512_loadu_ps(at(row.min(count - 1), half)) };
                // The second where one is a NaN.
                *most = _mm512_max_ps(x, *most);
            }
        }
    }
    let (c, own) = (_mm512_set1_ps(scale.power), _mm512_set1_ps(scale.rest));
    let mut factors = [_mm512_setzero_ps(); 2];
    let mut bases = [_mm512_setzero_ps(); 2];
    for half in 0..2 {
        let [a, b, c2, d] = most.map(|row| row[half]);
        let greatest = _mm512_max_ps(_mm512_max_ps(a, b), _mm512_max_ps(c2, d));
        let beyond = |x: __m512, limit: f32| {
            _mm512_cmp_ps_mask::<_CMP_GT_OQ>(_mm512_abs_ps(x), _mm512_set1_ps(limit))
        };
        // A score that overflows is infinite.
        let score = _mm512_mul_ps(greatest, own);
        let greatest = _mm512_mask_mov_ps(greatest, beyond(score, f32::MAX), score);
        // Rounded up: no weight is above 1, so that no sum overflows for its rounding.
        let product =
            _mm512_mul_round_ps::<{ _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC }>(greatest, c);
        let far = beyond(product, FAR);
        let apart = far & !beyond(greatest, f32::MAX);
        if apart != 0 {
            for row in 0..count {
                // SAFETY: the caller's word.
                unsafe {
                    let x = _mm512_loadu_ps(at(row, half));
                    _mm512_storeu_ps(at(row, half), _mm512_mask_sub_ps(x, apart, x, greatest));
                }
            }
        }
        let (last, before) = (rows.greatest[half], rows.reference[half]);
        // Of two references the difference; where one is far away, of the greatest scores, with what the other is
        // rounded by.
        let was_far = beyond(before, FAR);
        let rounded_by = |greatest: __m512, reference: __m512, far: __mmask16| {
            _mm512_maskz_mov_ps(!far, _mm512_fnmadd_ps(greatest, c, reference))
        };
        let rounding = _mm512_sub_ps(
            rounded_by(last, before, was_far),
            rounded_by(greatest, product, far),
        );
        let exact = _mm512_fmadd_ps(_mm512_sub_ps(last, greatest), c, rounding);
        let near = _mm512_sub_ps(before, product);
        let factor = power::<false>(_mm512_mask_mov_ps(near, far | was_far, exact));
        let is = |x: f32| _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(greatest, _mm512_set1_ps(x));
        let factor = _mm512_mask_mov_ps(factor, is(f32::INFINITY), _mm512_set1_ps(f32::NAN));
        // Where all is -inf every weight is 0, and so is what was summed before.
        let none = is(f32::NEG_INFINITY);
        factors[half] = _mm512_mask_mov_ps(factor, none, _mm512_set1_ps(1.0));
        bases[half] = _mm512_mask_mov_ps(product, apart | none, _mm512_setzero_ps());
        (rows.greatest[half], rows.reference[half]) = (greatest, product);
    }
    let mut sums = [_mm512_setzero_ps(); 2];
    let weight = |row: usize, half: usize, sum: &mut __m512| {
        // SAFETY: the caller's word.
        let x = unsafe { _mm512_loadu_ps(at(row, half)) };
        let p = power::<SPLIT>(_mm512_fmsub_ps(x, c, bases[half]));
        *sum = _mm512_add_ps(*sum, p);
        p
    };
    if SPLIT {
        let top = _mm512_set1_epi32(0xffff_0000u32 as i32);
        let round = |x: __m512| {
            let up = _mm512_add_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x8000));
            _mm512_and_si512(up, top)
        };
        let pair =
            |even: __m512i, odd: __m512i| _mm512_or_si512(_mm512_srli_epi32::<16>(even), odd);
        for row in (0..count).step_by(2) {
            for (half, sum) in sums.iter_mut().enumerate() {
                let [even, odd] = [weight(row, half, sum), weight(row + 1, half, sum)];
                let [e, o] = [round(even), round(odd)];
                let rest =
                    |x: __m512, high: __m512i| round(_mm512_sub_ps(x, _mm512_castsi512_ps(high)));
                let place =
                    row / PAIRS * PAIRS * SIDE + half * SIDE * SIDE + row % PAIRS / 2 * SIDE;
                let to = to.wrapping_add(place);
                // SAFETY: the caller's word.
                unsafe {
                    _mm512_storeu_si512(to.cast(), pair(e, o));
                    _mm512_storeu_si512(
                        to.wrapping_add(apart).cast(),
                        pair(rest(even, e), rest(odd, o)),
                    );
                }
            }
        }
    } else {
        for row in 0..count {
            for (half, sum) in sums.iter_mut().enumerate() {
                let p = weight(row, half, sum);
                // SAFETY: the caller's word.
                unsafe { _mm512_storeu_ps(at(row, half), p) };
            }
        }
    }
    for half in 0..2 {
        rows.sums[half] = _mm512_fmadd_ps(rows.sums[half], factors[half], sums[half]);
    }
    factors
}

/// Multiplies the sums of a panel by the correction factors of its queries, unless all are 1.
///
/// # Safety
/// This many rows of sums are there; the processor has the instructions.
#[target_feature(enable = "avx512f")]
unsafe fn correct(sums: *mut f32, rows: usize, factors: [__m512; 2]) {
    let one = _mm512_set1_ps(1.0);
    let [low, high] = factors.map(|factor| _mm512_cmp_ps_mask::<_CMP_NEQ_UQ>(factor, one));
    if low | high == 0 {
        return;
    }
    for row in 0..rows {
        for (half, factor) in factors.into_iter().enumerate() {
            let at = sums.wrapping_add(row * WIDE + half * SIDE);
            // SAFETY: the caller's word.
            unsafe { _mm512_storeu_ps(at, _mm512_mul_ps(_mm512_loadu_ps(at), factor)) };
        }
    }
}

/// The logarithms of the sums of the exponentials of a panel's scores.
fn log_sums<const SPLIT: bool>(rows: &Rows, scale: Scale) -> [f32; WIDE] {
    let numbers = |all: [__m512; 2]| -> [f32; WIDE] {
        // SAFETY: both are 32 numbers.
        unsafe { std::mem::transmute(all) }
    };
    let [greatest, reference, sums] = [rows.greatest, rows.reference, rows.sums].map(numbers);
    let size = if SPLIT { (1u128 << LIFT) as f32 } else { 1.0 };
    std::array::from_fn(|query| {
        let (most, reference, sum) = (greatest[query], reference[query], sums[query]);
        if sum == 0.0 {
            return f32::NEG_INFINITY;
        }
        // Weights are relative to the reference, or to the greatest score where that is far.
        let beyond = match reference.abs() > FAR {
            true => 0.0,
            false => -most.mul_add(scale.power, -reference) * std::f32::consts::LN_2,
        };
        most * scale.rest + ((sum / size).ln() + beyond)
    })
}

/// Divides the sums of a panel by the sums of the weights; queries without keys get 0.
///
/// # Safety
/// As for `correct`.
#[target_feature(enable = "avx512f")]
unsafe fn divide(sums: *mut f32, rows: usize, state: &Rows) {
    for row in 0..rows {
        for (half, &total) in state.sums.iter().enumerate() {
            let at = sums.wrapping_add(row * WIDE + half * SIDE);
            let some = _mm512_cmp_ps_mask::<_CMP_NEQ_UQ>(total, _mm512_setzero_ps());
            // SAFETY: the caller's word.
            unsafe {
                let x = _mm512_loadu_ps(at);
                _mm512_storeu_ps(at, _mm512_maskz_div_ps(some, x, total));
            }
        }
    }
}

#[cfg(test)]
#[path = "panels_tests.rs"]
mod tests;
