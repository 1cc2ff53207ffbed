//! Packing: lines of a factor become panels, in the order in which a micro-kernel reads them.
//!
//! The unit is a square of 16 lines by 16 words of 32 bits: a word is a number, or a pair of terms of 16 bits. A square is read line by line
//! or word by word, whichever way its elements are neighbours in memory, and stored the one way or the other; where both differ it is
//! transposed in registers. What lies behind the last line or term is 0.

use std::arch::x86_64::*;

use half::{bf16, f16};

/// Lines and words of a square.
pub const SIDE: usize = 16;
/// Terms of 16 bits in a line of a square.
pub const PAIRS: usize = 2 * SIDE;

/// A factor as it lies in memory: rows of the left one or columns of the right one, and the terms of each.
#[derive(Clone, Copy, Debug)]
pub struct Lines<T> {
    pub first: *const T,
    pub lines: usize,
    pub terms: usize,
    /// The steps from line to line and from term to term, in elements.
    pub strides: [usize; 2],
}

impl<T: Copy> Lines<T> {
    /// The lines from `first` on, at most `most` of them.
    pub fn lines(self, first: usize, most: usize) -> Lines<T> {
        Lines {
            first: self.first.wrapping_add(first * self.strides[0]),
            lines: self.lines.saturating_sub(first).min(most),
            ..self
        }
    }

    /// The terms from `first` on, at most `most` of them.
    pub fn terms(self, first: usize, most: usize) -> Lines<T> {
        Lines {
            first: self.first.wrapping_add(first * self.strides[1]),
            terms: self.terms.saturating_sub(first).min(most),
            ..self
        }
    }

    fn at(&self, line: usize, term: usize) -> *const T {
        self.first
            .wrapping_add(line * self.strides[0] + term * self.strides[1])
    }
}

/// An element that is packed as f32.
pub trait Element: Copy {
    /// The first elements of 16 neighbours, those in the mask; the others are 0.
    ///
    /// # Safety
    /// The elements of the mask are there; the processor has the instructions.
    unsafe fn load(from: *const Self, mask: u16) -> __m512;
    /// The element as f32.
    fn number(self) -> f32;
}

impl Element for f32 {
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
#[derive(Clone, Copy, Debug)]
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

/// Packs at most 16 lines as f32: element `line` of row `term` of `to`, whose rows are `step` apart and are written 16 wide.
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
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// For each lane the bits of the least magnitude less one, so that zeros are the greatest number.
    least: __m512i,
    greatest: __m512i,
}

impl Range {
    #[target_feature(enable = "avx512f,avx512bw")]
    pub fn new() -> Range {
        Range {
            least: _mm512_set1_epi16(-1),
            greatest: _mm512_setzero_si512(),
        }
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    fn add(&mut self, pairs: __m512i) {
        let magnitude = _mm512_and_si512(pairs, _mm512_set1_epi16(0x7fff));
        self.greatest = _mm512_max_epu16(self.greatest, magnitude);
        let less = _mm512_sub_epi16(magnitude, _mm512_set1_epi16(1));
        self.least = _mm512_min_epu16(self.least, less);
    }

    /// The biased exponents of the least and of the greatest element that is not 0; `None` where all are. A subnormal number has 0, what is no
    /// finite number 255.
    #[target_feature(enable = "avx512f,avx512bw")]
    pub fn exponents(&self) -> Option<[u32; 2]> {
        let lanes = |vector: __m512i| {
            let mut lanes = [0u16; PAIRS];
            // SAFETY: the array has the vector's size.
            unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), vector) };
            lanes
        };
        let least = lanes(self.least).into_iter().min().unwrap_or(u16::MAX);
        let greatest = lanes(self.greatest).into_iter().max().unwrap_or(0);
        let exponent = |bits: u16| u32::from(bits >> 7);
        (greatest != 0).then(|| [exponent(least + 1), exponent(greatest)])
    }
}

/// The way in which a square of pairs is stored: 16 lines of 32 terms, or 16 pairs of terms of 16 lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Lines,
    Pairs,
}

/// Packs at most 16 lines of bf16 as squares of pairs, which are `step` words apart, and adds their magnitudes to the range.
///
/// # Safety
/// The elements are there, `to` has room for the squares; the processor has the instructions.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub unsafe fn pairs(from: Lines<bf16>, to: *mut u32, step: usize, order: Order, range: &mut Range) {
    for (number, begin) in (0..from.terms).step_by(PAIRS).enumerate() {
        let own = from.terms(begin, PAIRS);
        // SAFETY: the caller's word.
        let (square, found) = unsafe { square(own) };
        square.iter().for_each(|&row| range.add(row));
        let square = if found == order {
            square
        } else {
            transpose(square)
        };
        for (row, words) in square.into_iter().enumerate() {
            let to = to.wrapping_add(number * step + row * SIDE);
            // SAFETY: the caller's word.
            unsafe { _mm512_storeu_si512(to.cast(), words) };
        }
    }
}

/// A square of at most 16 lines and 32 terms, in the order in which it lies in memory.
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
