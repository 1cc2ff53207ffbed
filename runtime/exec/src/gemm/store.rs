//! Sums that are stored as elements of the result, rounded to nearest.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use half::{bf16, f16};

use super::pack::SIDE;
use super::product::WIDE;

/// An element of a result.
pub trait Stored: Copy {
    /// Stores 16 numbers contiguously.
    ///
    /// # Safety
    /// The elements are there; the processor has the instructions.
    unsafe fn round(from: __m512, to: *mut Self);
}

impl Stored for f32 {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    // SAFETY: as the trait says.
    unsafe fn round(from: __m512, to: *mut f32) {
        // SAFETY: the caller's word.
        unsafe { _mm512_storeu_ps(to, from) }
    }
}

impl Stored for bf16 {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    // SAFETY: as the trait says.
    unsafe fn round(from: __m512, to: *mut bf16) {
        let bits = _mm512_castps_si512(from);
        let odd = _mm512_and_si512(_mm512_srli_epi32::<16>(bits), _mm512_set1_epi32(1));
        let half = _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff));
        // A NaN keeps its sign and stays one.
        let nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(from, from);
        let quiet = _mm512_set1_epi32(0x0040_0000);
        let rounded = _mm512_mask_or_epi32(_mm512_add_epi32(bits, half), nan, bits, quiet);
        let narrow = _mm512_cvtepi32_epi16(_mm512_srli_epi32::<16>(rounded));
        // SAFETY: the caller's word.
        unsafe { _mm256_storeu_si256(to.cast(), narrow) }
    }
}

impl Stored for f16 {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    // SAFETY: as the trait says.
    unsafe fn round(from: __m512, to: *mut f16) {
        let narrow = _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(from);
        // SAFETY: the caller's word.
        unsafe { _mm256_storeu_si256(to.cast(), narrow) }
    }
}

/// Stores `size` rows and columns of sums, starting at row and column `first`; panels of sums have `tall` rows.
///
/// # Safety
/// Sums and elements are there; the processor has the instructions.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub unsafe fn store<O: Stored>(
    sums: *const f32,
    tall: usize,
    [[first, begin], [rows, columns]]: [[usize; 2]; 2],
    to: *mut O,
    [down, across]: [usize; 2],
) {
    for row in 0..rows {
        let to = to.wrapping_add(row * down);
        let end = begin + columns;
        let mut column = begin;
        while column < end {
            let at = column / WIDE * WIDE * tall + (first + row) * WIDE + column % WIDE;
            let count = (SIDE - column % SIDE).min(end - column);
            let to = to.wrapping_add((column - begin) * across);
            // SAFETY: the caller's word: panels have room for whole vectors; lanes that nobody computed are not stored.
            let from = unsafe { _mm512_loadu_ps(sums.wrapping_add(at)) };
            if count == SIDE && across == 1 {
                // SAFETY: the caller's word.
                unsafe { O::round(from, to) };
                column += count;
                continue;
            }
            // Not by a mask of lanes: where it is a constant, LLVM 22 stores two elements of 16 bits for one.
            let mut all = MaybeUninit::<[O; SIDE]>::uninit();
            // SAFETY: the array has these elements.
            let all = unsafe {
                O::round(from, all.as_mut_ptr().cast());
                all.assume_init()
            };
            for (lane, x) in all.into_iter().take(count).enumerate() {
                // SAFETY: the caller's word.
                unsafe { to.wrapping_add(lane * across).write(x) };
            }
            column += count;
        }
    }
}
