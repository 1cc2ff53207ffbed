//! Sums that are stored as elements of the result, rounded to nearest.

use std::arch::x86_64::*;

use half::{bf16, f16};

use super::WIDE;

/// An element of a result.
pub trait Stored: Copy {
    /// Stores the numbers of the mask as neighbours.
    ///
    /// # Safety
    /// The elements are there; the processor has the instructions.
    unsafe fn round(from: __m512, mask: u16, to: *mut Self);
}

impl Stored for f32 {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    // SAFETY: as the trait says.
    unsafe fn round(from: __m512, mask: u16, to: *mut f32) {
        // SAFETY: the caller's word.
        unsafe { _mm512_mask_storeu_ps(to, mask, from) }
    }
}

impl Stored for bf16 {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    // SAFETY: as the trait says.
    unsafe fn round(from: __m512, mask: u16, to: *mut bf16) {
        let bits = _mm512_castps_si512(from);
        let odd = _mm512_and_si512(_mm512_srli_epi32::<16>(bits), _mm512_set1_epi32(1));
        let half = _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff));
        // A NaN keeps its sign and stays one.
        let nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(from, from);
        let quiet = _mm512_set1_epi32(0x0040_0000);
        let rounded = _mm512_mask_or_epi32(_mm512_add_epi32(bits, half), nan, bits, quiet);
        let narrow = _mm512_cvtepi32_epi16(_mm512_srli_epi32::<16>(rounded));
        // SAFETY: the caller's word.
        unsafe { _mm256_mask_storeu_epi16(to.cast(), mask, narrow) }
    }
}

impl Stored for f16 {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    // SAFETY: as the trait says.
    unsafe fn round(from: __m512, mask: u16, to: *mut f16) {
        let narrow = _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(from);
        // SAFETY: the caller's word.
        unsafe { _mm256_mask_storeu_epi16(to.cast(), mask, narrow) }
    }
}

/// Stores rows and columns of sums, whose panels have `tall` rows.
///
/// # Safety
/// Sums and elements are there; the processor has the instructions.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub unsafe fn store<O: Stored>(
    sums: *const f32,
    tall: usize,
    [rows, columns]: [usize; 2],
    to: *mut O,
    [down, across]: [usize; 2],
) {
    const SIDE: usize = 16;
    for row in 0..rows {
        let to = to.wrapping_add(row * down);
        for column in (0..columns).step_by(SIDE) {
            let at = column / WIDE * WIDE * tall + row * WIDE + column % WIDE;
            let count = SIDE.min(columns - column);
            let mask = ((1u32 << count) - 1) as u16;
            let to = to.wrapping_add(column * across);
            // SAFETY: the caller's word: panels are stored whole.
            let from = unsafe { _mm512_loadu_ps(sums.wrapping_add(at)) };
            if across == 1 {
                // SAFETY: the caller's word.
                unsafe { O::round(from, mask, to) };
                continue;
            }
            for lane in 0..count {
                let lane_first = _mm512_maskz_compress_ps(1 << lane, from);
                // SAFETY: the caller's word.
                unsafe { O::round(lane_first, 1, to.wrapping_add(lane * across)) };
            }
        }
    }
}
