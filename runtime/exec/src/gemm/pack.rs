//! Packing: lines of a factor become panels, in the order in which a micro-kernel reads them.
//!
//! The unit is a square block of 16 lines by 16 words of 32 bits. A word is a number, or a pair of terms of 16 bits. A
//! block is read along whichever direction is contiguous in memory, by lines or by words. The panel's order decides how
//! it is stored; if the two differ, the block is transposed in registers. Padding after the last line or term is 0.

use std::arch::x86_64::*;

use half::{bf16, f16};

use super::lines::Lines;

/// Lines and words of a square.
pub const SIDE: usize = 16;
/// Terms of 16 bits in a line of a square.
pub const PAIRS: usize = 2 * SIDE;

/// An element that is packed as f32.
pub trait Element: Copy + Default {
    /// True where an element is an f32 already.
    const NUMBER: bool = false;

    /// Loads up to 16 contiguous elements, those selected by the mask; the other lanes are 0.
    ///
    /// # Safety
    /// The elements of the mask are there; the processor has the instructions.
    unsafe fn load(from: *const Self, mask: u16) -> __m512;
    /// The element as f32.
    fn number(self) -> f32;
}

impl Element for f32 {
    const NUMBER: bool = true;

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    // SAFETY: as the trait says.
    unsafe fn load(from: *const f32, mask: u16) -> __m512 {
        // SAFETY: the caller's word.
        unsafe { _mm512_maskz_loadu_ps(mask, from) }
    }
    fn number(self) -> f32 {
        self
    }
}

impl Element for bf16 {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    // SAFETY: as the trait says.
    unsafe fn load(from: *const bf16, mask: u16) -> __m512 {
        // SAFETY: the caller's word.
        let narrow = unsafe { _mm256_maskz_loadu_epi16(mask, from.cast()) };
        _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(narrow)))
    }
    fn number(self) -> f32 {
        self.to_f32()
    }
}

impl Element for f16 {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    // SAFETY: as the trait says.
    unsafe fn load(from: *const f16, mask: u16) -> __m512 {
        // SAFETY: the caller's word.
        _mm512_cvtph_ps(unsafe { _mm256_maskz_loadu_epi16(mask, from.cast()) })
    }
    fn number(self) -> f32 {
        self.to_f32()
    }
}

/// A truth value in a byte, as 0 or 1.
#[derive(Clone, Copy, Debug, Default)]
#[repr(transparent)]
pub struct Truth(u8);

impl Element for Truth {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    // SAFETY: as the trait says.
    unsafe fn load(from: *const Truth, mask: u16) -> __m512 {
        // SAFETY: the caller's word.
        let bytes = unsafe { _mm_maskz_loadu_epi8(mask, from.cast()) };
        let one = _mm_min_epu8(bytes, _mm_set1_epi8(1));
        _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(one))
    }
    fn number(self) -> f32 {
        f32::from(self.0.min(1))
    }
}

/// A mask of the first so many of 16.
fn first(count: usize) -> u16 {
    ((1u32 << count.min(SIDE)) - 1) as u16
}

/// Copies elements that are neighbours as f32.
///
/// # Safety
/// The elements and the room are there; the processor has the instructions.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub unsafe fn line<T: Element>(from: *const T, to: *mut f32, count: usize) {
    for at in (0..count).step_by(SIDE) {
        let mask = first(count - at);
        // SAFETY: the caller's word.
        unsafe {
            let numbers = T::load(from.wrapping_add(at), mask);
            _mm512_mask_storeu_ps(to.wrapping_add(at), mask, numbers);
        }
    }
}

/// Packs at most 16 lines as f32: element `line` of row `term` of `to`. Rows are `step` apart, and all 16 columns are
/// written.
///
/// # Safety
/// The elements are there, `to` has room for the rows; the processor has the instructions.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub unsafe fn numbers<T: Element>(from: Lines<T>, to: *mut f32, step: usize) {
    let mask = first(from.lines);
    let store = |term: usize, row: __m512| {
        // SAFETY: the caller's word.
        unsafe { _mm512_storeu_ps(to.wrapping_add(term * step), row) }
    };
    match from.strides {
        [1, _] => {
            for term in 0..from.terms {
                // SAFETY: the caller's word.
                store(term, unsafe { T::load(from.at(0, term), mask) });
            }
        }
        [_, 1] => {
            for begin in (0..from.terms).step_by(SIDE) {
                let count = SIDE.min(from.terms - begin);
                let mut square = [_mm512_setzero_si512(); SIDE];
                for (line, row) in square.iter_mut().enumerate().take(from.lines) {
                    // SAFETY: the caller's word.
                    *row =
                        _mm512_castps_si512(unsafe { T::load(from.at(line, begin), first(count)) });
                }
                let turned = transpose(square);
                for (term, row) in turned.into_iter().enumerate().take(count) {
                    store(begin + term, _mm512_castsi512_ps(row));
                }
            }
        }
        _ => {
            for term in 0..from.terms {
                let mut row = [0f32; SIDE];
                for (line, slot) in row.iter_mut().enumerate().take(from.lines) {
                    // SAFETY: the caller's word.
                    *slot = unsafe { *from.at(line, term) }.number();
                }
                // SAFETY: the array is there.
                store(term, unsafe { _mm512_loadu_ps(row.as_ptr()) });
            }
        }
    }
}

/// The least and the greatest magnitude of what was packed, zeros aside.
#[derive(Clone, Debug, Default)]
pub struct Range {
    /// For each lane, the bits of the greatest magnitude, and the maximum of the negated bits, which yields the least
    /// magnitude.
    lanes: [[u16; PAIRS]; 2],
}

impl Range {
    /// The biased exponents of the least and the greatest nonzero magnitude; `None` if all elements are 0. Subnormal
    /// numbers have exponent 0, infinities and NaN 255.
    pub fn exponents(&self) -> Option<[u32; 2]> {
        let [greatest, negative] = (self.lanes).map(|lanes| lanes.into_iter().max().unwrap_or(0));
        let exponents = [negative.wrapping_neg(), greatest].map(|bits| u32::from(bits >> 7));
        (greatest != 0).then_some(exponents)
    }
}

/// The storage order of a square block of pairs: 16 lines of 32 terms, or 16 pairs of terms of 16 lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Lines,
    Pairs,
}

/// Packs at most 32 lines of bf16, 32 terms at a time: a square block of pairs for the first 16 lines, and one for the
/// others. Adds their magnitudes to the range.
///
/// # Safety
/// The elements are there, `to` has room for the blocks; the processor has the instructions.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub unsafe fn pairs(from: Lines<bf16>, to: *mut u32, order: Order, range: &mut Range) {
    let place = |block: usize, half: usize, row: usize| (2 * block * SIDE + half + row) * SIDE;
    // SAFETY: the caller's word.
    unsafe { packed::<2>(from, to, order, place, range) };
}

/// Packs at most `16 * H` lines of bf16: word `line` of row `pair` of `to` has two terms. Writes whole vectors and rows
/// for 32 terms, and adds magnitudes to the range.
///
/// # Safety
/// As for [`pairs`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub unsafe fn rows_of_pairs<const H: usize>(from: Lines<bf16>, to: *mut u32, range: &mut Range) {
    let place = |block: usize, half: usize, row: usize| (block * SIDE + row) * H * SIDE + half;
    // SAFETY: the caller's word.
    unsafe { packed::<H>(from, to, Order::Pairs, place, range) };
}

/// Packs squares of pairs; `place` gives the word at which a row of a square begins, by the number of 32 terms, the
/// first line and the row.
///
/// # Safety
/// As for [`pairs`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn packed<const H: usize>(
    from: Lines<bf16>,
    to: *mut u32,
    order: Order,
    place: impl Fn(usize, usize, usize) -> usize,
    range: &mut Range,
) {
    // SAFETY: the arrays have a vector's size.
    let mut found =
        (range.lanes.each_ref()).map(|lanes| unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) });
    for (block, begin) in (0..from.terms).step_by(PAIRS).enumerate() {
        let own = from.terms(begin, PAIRS);
        let mut store = |half: usize, row: usize, words: __m512i| {
            found = widened(found, words);
            // SAFETY: the caller's word.
            unsafe { _mm512_storeu_si512(to.wrapping_add(place(block, half, row)).cast(), words) };
        };
        if from.strides[0] == 1 && order == Order::Pairs && H == 2 {
            // A line of the cache at a time: where the next term is a power of two away, few of them stay in the first
            // cache.
            for pair in 0..SIDE {
                // SAFETY: the caller's word.
                let [low, high] = unsafe { interleaved(own.terms(2 * pair, 2)) };
                store(0, pair, low);
                store(SIDE, pair, high);
            }
            continue;
        }
        for half in (0..H * SIDE).step_by(SIDE) {
            // SAFETY: the caller's word.
            let (square, found) = unsafe { square(own.lines(half, SIDE)) };
            let square = match found == order {
                true => square,
                false => transpose(square),
            };
            let rows = square.into_iter().enumerate();
            rows.for_each(|(row, words)| store(half, row, words));
        }
    }
    for (lanes, found) in range.lanes.iter_mut().zip(found) {
        // SAFETY: as above.
        unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), found) };
    }
}

/// The range with the magnitudes of 32 more numbers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn widened(range: [__m512i; 2], numbers: __m512i) -> [__m512i; 2] {
    let magnitude = _mm512_and_si512(numbers, _mm512_set1_epi16(0x7fff));
    let negative = _mm512_sub_epi16(_mm512_setzero_si512(), magnitude);
    [
        _mm512_max_epu16(range[0], magnitude),
        _mm512_max_epu16(range[1], negative),
    ]
}

/// Copies bf16 that are neighbours, and adds their magnitudes to the range.
///
/// # Safety
/// The elements and the room are there; the processor has the instructions.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub unsafe fn ranged(from: *const bf16, to: *mut bf16, count: usize, range: &mut Range) {
    // SAFETY: the arrays have a vector's size.
    let mut found =
        (range.lanes.each_ref()).map(|lanes| unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) });
    for at in (0..count).step_by(PAIRS) {
        let mask = ((1u64 << (count - at).min(PAIRS)) - 1) as u32;
        // SAFETY: the caller's word.
        unsafe {
            let numbers = _mm512_maskz_loadu_epi16(mask, from.wrapping_add(at).cast());
            found = widened(found, numbers);
            _mm512_mask_storeu_epi16(to.wrapping_add(at).cast(), mask, numbers);
        }
    }
    for (lanes, found) in range.lanes.iter_mut().zip(found) {
        // SAFETY: as above.
        unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), found) };
    }
}

/// True where every product and every sum of factors with these biased exponents is 0 or normal: neither factor is
/// subnormal, and their unit, 2^(e+f-14), is a normal number.
pub fn stay_normal(exponents: [Option<[u32; 2]>; 2]) -> bool {
    match exponents {
        // The least exponents e and f, biased by 127: e + f - 14 >= -126.
        [Some([a, _]), Some([b, _])] => a > 0 && b > 0 && a + b >= 2 * 127 + 14 - 126,
        [Some([a, _]), None] | [None, Some([a, _])] => a > 0,
        [None, None] => true,
    }
}

/// The pairs of at most two terms of at most 32 contiguous lines: those of the first 16 lines, and those of the others.
///
/// # Safety
/// The elements are there; the processor has the instructions.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn interleaved(from: Lines<bf16>) -> [__m512i; 2] {
    let mask = ((1u64 << from.lines.min(PAIRS)) - 1) as u32;
    let [even, odd] = [0, 1].map(|term| {
        let mask = if term < from.terms { mask } else { 0 };
        // SAFETY: the caller's word; behind the last term nothing is read.
        unsafe { _mm512_maskz_loadu_epi16(mask, from.at(0, term).cast()) }
    });
    // Of each quarter its first four pairs, and its last four; then quarters in order.
    let (low, high) = (
        _mm512_unpacklo_epi16(even, odd),
        _mm512_unpackhi_epi16(even, odd),
    );
    [
        _mm512_permutex2var_epi64(low, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), high),
        _mm512_permutex2var_epi64(low, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), high),
    ]
}

/// A square block of at most 16 lines and 32 terms, in the order in which it lies in memory.
///
/// # Safety
/// The elements are there; the processor has the instructions.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn square(from: Lines<bf16>) -> ([__m512i; SIDE], Order) {
    let mut square = [_mm512_setzero_si512(); SIDE];
    match from.strides {
        [1, _] => {
            let mask = first(from.lines);
            let half = |term: usize| {
                let mask = if term < from.terms { mask } else { 0 };
                // SAFETY: the caller's word; behind the last term nothing is read.
                let narrow = unsafe { _mm256_maskz_loadu_epi16(mask, from.at(0, term).cast()) };
                _mm512_cvtepu16_epi32(narrow)
            };
            for (pair, row) in square.iter_mut().enumerate().take(from.terms.div_ceil(2)) {
                let [even, odd] = [half(2 * pair), half(2 * pair + 1)];
                *row = _mm512_or_si512(even, _mm512_slli_epi32::<16>(odd));
            }
            (square, Order::Pairs)
        }
        [_, 1] => {
            let mask = ((1u64 << from.terms.min(PAIRS)) - 1) as u32;
            for (line, row) in square.iter_mut().enumerate().take(from.lines) {
                // SAFETY: the caller's word.
                *row = unsafe { _mm512_maskz_loadu_epi16(mask, from.at(line, 0).cast()) };
            }
            (square, Order::Lines)
        }
        _ => {
            for (line, row) in square.iter_mut().enumerate().take(from.lines) {
                let mut terms = [bf16::ZERO; PAIRS];
                for (term, slot) in terms.iter_mut().enumerate().take(from.terms) {
                    // SAFETY: the caller's word.
                    *slot = unsafe { *from.at(line, term) };
                }
                // SAFETY: the array is there.
                *row = unsafe { _mm512_loadu_si512(terms.as_ptr().cast()) };
            }
            (square, Order::Lines)
        }
    }
}

/// The transposed square of words.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose(rows: [__m512i; SIDE]) -> [__m512i; SIDE] {
    // Squares of 2, then of 4, within each quarter of the vectors.
    let mut twos = rows;
    for i in (0..SIDE).step_by(2) {
        twos[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
        twos[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
    }
    let mut fours = twos;
    for i in (0..SIDE).step_by(4) {
        fours[i] = _mm512_unpacklo_epi64(twos[i], twos[i + 2]);
        fours[i + 1] = _mm512_unpackhi_epi64(twos[i], twos[i + 2]);
        fours[i + 2] = _mm512_unpacklo_epi64(twos[i + 1], twos[i + 3]);
        fours[i + 3] = _mm512_unpackhi_epi64(twos[i + 1], twos[i + 3]);
    }
    // Then the quarters: first those of rows that are four apart, then of rows that are eight apart.
    let mut eights = fours;
    for i in 0..4 {
        eights[i] = _mm512_shuffle_i32x4::<0x88>(fours[i], fours[i + 4]);
        eights[i + 4] = _mm512_shuffle_i32x4::<0xdd>(fours[i], fours[i + 4]);
        eights[i + 8] = _mm512_shuffle_i32x4::<0x88>(fours[i + 8], fours[i + 12]);
        eights[i + 12] = _mm512_shuffle_i32x4::<0xdd>(fours[i + 8], fours[i + 12]);
    }
    let mut turned = eights;
    for i in 0..4 {
        turned[i] = _mm512_shuffle_i32x4::<0x88>(eights[i], eights[i + 8]);
        turned[i + 4] = _mm512_shuffle_i32x4::<0x88>(eights[i + 4], eights[i + 12]);
        turned[i + 8] = _mm512_shuffle_i32x4::<0xdd>(eights[i], eights[i + 8]);
        turned[i + 12] = _mm512_shuffle_i32x4::<0xdd>(eights[i + 4], eights[i + 12]);
    }
    turned
}
