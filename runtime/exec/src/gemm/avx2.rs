//! The AVX2 micro-kernels for f32 and f64: 6 rows by two vectors of sums in registers, one fused multiply-add for each
//! term.
//!
//! Left factors are read in place where terms are neighbours in memory: rows of a matrix, or windows of a tensor.
//! Windows may also have terms that are equally far apart in long runs. Other factors are packed.

use std::arch::x86_64::*;

use half::{bf16, f16};

use super::lines::{Factor, Lines, Piece, Start};
use super::product::{Kernel, Panel, Stores, Sums};

/// Rows of sums in registers.
const TALL: usize = 6;
/// Lines of a packed panel of the left factor, and lines that are transposed at a time.
const SIDE: usize = 8;

/// Fused multiply-adds of f32 and of f64. Elements of 16 bits are widened during packing.
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

impl Avx2 {
    /// The kernel, where the processor has the instructions.
    pub fn detect() -> Option<Avx2> {
        let has = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c");
        has.then_some(Avx2(()))
    }
}

/// A type that products accumulate in, and its vectors of 32 bytes.
pub trait Number: Copy + Default {
    type Vector: Copy;
    /// Elements of a vector.
    const LANES: usize;

    /// # Safety
    /// The processor has the instructions.
    unsafe fn zero() -> Self::Vector;
    /// # Safety
    /// The elements of a vector are there; the processor has the instructions.
    unsafe fn load(from: *const Self) -> Self::Vector;
    /// One element in all lanes.
    ///
    /// # Safety
    /// The element is there; the processor has the instructions.
    unsafe fn splat(from: *const Self) -> Self::Vector;
    /// # Safety
    /// There is room for a vector; the processor has the instructions.
    unsafe fn store(to: *mut Self, vector: Self::Vector);
    /// # Safety
    /// The processor has the instructions.
    unsafe fn add(a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a * b + c`, rounded once.
    ///
    /// # Safety
    /// The processor has the instructions.
    unsafe fn multiply_add(a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
    /// True if all of so many neighbours, a multiple of a vector's, are finite.
    ///
    /// # Safety
    /// The elements are there; the processor has the instructions.
    unsafe fn are_finite(from: *const Self, count: usize) -> bool;
    /// Transposes 8 lines of a vector each: element `line` of row `term`. Rows are `step` apart.
    ///
    /// # Safety
    /// The lines are there, and there is room for the rows; the processor has the instructions.
    unsafe fn transpose(lines: [*const Self; SIDE], to: *mut Self, step: usize);
}

macro_rules! number {
    ($ty:ty, $vector:ty, $lanes:literal, $zero:ident $load:ident $splat:ident $store:ident $add:ident $fma:ident, $transpose:ident) => {
        impl Number for $ty {
            type Vector = $vector;
            const LANES: usize = $lanes;

            #[inline]
            #[target_feature(enable = "avx2,fma")]
            // SAFETY: as the trait says.
            unsafe fn zero() -> $vector {
                $zero()
            }
            #[inline]
            #[target_feature(enable = "avx2,fma")]
            // SAFETY: as the trait says.
            unsafe fn load(from: *const $ty) -> $vector {
                // SAFETY: the caller's word.
                unsafe { $load(from) }
            }
            #[inline]
            #[target_feature(enable = "avx2,fma")]
            // SAFETY: as the trait says.
            unsafe fn splat(from: *const $ty) -> $vector {
                // SAFETY: the caller's word.
                $splat(unsafe { *from })
            }
            #[inline]
            #[target_feature(enable = "avx2,fma")]
            // SAFETY: as the trait says.
            unsafe fn store(to: *mut $ty, vector: $vector) {
                // SAFETY: the caller's word.
                unsafe { $store(to, vector) }
            }
            #[inline]
            #[target_feature(enable = "avx2,fma")]
            // SAFETY: as the trait says.
            unsafe fn add(a: $vector, b: $vector) -> $vector {
                $add(a, b)
            }
            #[inline]
            #[target_feature(enable = "avx2,fma")]
            // SAFETY: as the trait says.
            unsafe fn multiply_add(a: $vector, b: $vector, c: $vector) -> $vector {
                $fma(a, b, c)
            }
            #[target_feature(enable = "avx2,fma")]
            // SAFETY: as the trait says.
            unsafe fn are_finite(from: *const $ty, count: usize) -> bool {
                let mut sum = $zero();
                for at in (0..count).step_by($lanes) {
                    // 0 times an infinity is a NaN.
                    // SAFETY: the caller's word.
                    sum = $fma($zero(), unsafe { $load(from.wrapping_add(at)) }, sum);
                }
                let mut lanes: [$ty; $lanes] = [0.0; $lanes];
                // SAFETY: the array has a vector's size.
                unsafe { $store(lanes.as_mut_ptr(), sum) };
                lanes.iter().all(|&lane| lane == 0.0)
            }
            #[inline]
            #[target_feature(enable = "avx2,fma")]
            // SAFETY: as the trait says.
            unsafe fn transpose(lines: [*const $ty; SIDE], to: *mut $ty, step: usize) {
                // SAFETY: the caller's word.
                unsafe { $transpose(lines, to, step) }
            }
        }
    };
}
number!(f32, __m256, 8, _mm256_setzero_ps _mm256_loadu_ps _mm256_set1_ps _mm256_storeu_ps _mm256_add_ps _mm256_fmadd_ps, transpose_f32);
number!(f64, __m256d, 4, _mm256_setzero_pd _mm256_loadu_pd _mm256_set1_pd _mm256_storeu_pd _mm256_add_pd _mm256_fmadd_pd, transpose_f64);

/// As [`Number::transpose`].
///
/// # Safety
/// As there.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn transpose_f32(lines: [*const f32; SIDE], to: *mut f32, step: usize) {
    // SAFETY: the caller's word.
    let rows = lines.map(|line| unsafe { _mm256_loadu_ps(line) });
    // Squares of 2, then of 4, within each half of the vectors; then the halves.
    let mut twos = rows;
    for i in (0..SIDE).step_by(2) {
        twos[i] = _mm256_unpacklo_ps(rows[i], rows[i + 1]);
        twos[i + 1] = _mm256_unpackhi_ps(rows[i], rows[i + 1]);
    }
    let mut fours = twos;
    for i in (0..SIDE).step_by(4) {
        for half in 0..2 {
            let (a, b) = (twos[i + half], twos[i + half + 2]);
            fours[i + 2 * half] = _mm256_shuffle_ps::<0x44>(a, b);
            fours[i + 2 * half + 1] = _mm256_shuffle_ps::<0xee>(a, b);
        }
    }
    for term in 0..4 {
        let (a, b) = (fours[term], fours[term + 4]);
        // SAFETY: the caller's word.
        unsafe {
            _mm256_storeu_ps(
                to.wrapping_add(term * step),
                _mm256_permute2f128_ps::<0x20>(a, b),
            );
            _mm256_storeu_ps(
                to.wrapping_add((term + 4) * step),
                _mm256_permute2f128_ps::<0x31>(a, b),
            );
        }
    }
}

/// As [`Number::transpose`].
///
/// # Safety
/// As there.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn transpose_f64(lines: [*const f64; SIDE], to: *mut f64, step: usize) {
    for half in 0..2 {
        // SAFETY: the caller's word.
        let row = |line: usize| unsafe { _mm256_loadu_pd(lines[4 * half + line]) };
        let rows = [0, 1, 2, 3].map(row);
        let pairs = [
            _mm256_unpacklo_pd(rows[0], rows[1]),
            _mm256_unpackhi_pd(rows[0], rows[1]),
            _mm256_unpacklo_pd(rows[2], rows[3]),
            _mm256_unpackhi_pd(rows[2], rows[3]),
        ];
        for odd in 0..2 {
            let (a, b) = (pairs[odd], pairs[odd + 2]);
            let to = to.wrapping_add(odd * step + 4 * half);
            // SAFETY: the caller's word.
            unsafe {
                _mm256_storeu_pd(to, _mm256_permute2f128_pd::<0x20>(a, b));
                _mm256_storeu_pd(
                    to.wrapping_add(2 * step),
                    _mm256_permute2f128_pd::<0x31>(a, b),
                );
            }
        }
    }
}

/// An element, and the type that its products accumulate in.
pub trait Factored: Copy + Default {
    type Number: Number;
    /// True where an element is one of those numbers already.
    const NUMBER: bool = false;

    /// Widens 8 elements that are neighbours.
    ///
    /// # Safety
    /// The elements are there; the processor has the instructions.
    unsafe fn widen(from: *const Self, to: &mut [Self::Number; SIDE]);
}

macro_rules! numbers {
    ($($ty:ty)*) => {$(
        impl Factored for $ty {
            type Number = $ty;
            const NUMBER: bool = true;

            #[inline]
            #[target_feature(enable = "avx2,fma,f16c")]
            // SAFETY: as the trait says.
            unsafe fn widen(from: *const $ty, to: &mut [$ty; SIDE]) {
                // SAFETY: the caller's word.
                *to = unsafe { from.cast::<[$ty; SIDE]>().read_unaligned() };
            }
        }
    )*};
}
numbers!(f32 f64);

impl Factored for bf16 {
    type Number = f32;

    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    // SAFETY: as the trait says.
    unsafe fn widen(from: *const bf16, to: &mut [f32; SIDE]) {
        // SAFETY: the caller's word; the array has a vector's size.
        unsafe {
            let narrow = _mm256_cvtepu16_epi32(_mm_loadu_si128(from.cast()));
            _mm256_storeu_si256(to.as_mut_ptr().cast(), _mm256_slli_epi32::<16>(narrow));
        }
    }
}

impl Factored for f16 {
    type Number = f32;

    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    // SAFETY: as the trait says.
    unsafe fn widen(from: *const f16, to: &mut [f32; SIDE]) {
        // SAFETY: the caller's word; the array has a vector's size.
        unsafe {
            let narrow = _mm_loadu_si128(from.cast());
            _mm256_storeu_ps(to.as_mut_ptr(), _mm256_cvtph_ps(narrow));
        }
    }
}

/// Widens at most 8 neighbours; the other numbers are 0.
///
/// # Safety
/// The elements are there; the processor has the instructions.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn widen<T: Factored>(from: *const T, count: usize, to: &mut [T::Number; SIDE]) {
    let mut few = [T::default(); SIDE];
    let mut whole = from;
    if count < SIDE {
        for (at, slot) in few.iter_mut().enumerate().take(count) {
            // SAFETY: the caller's word.
            *slot = unsafe { *from.wrapping_add(at) };
        }
        whole = few.as_ptr();
    }
    // SAFETY: the caller's word, or the array.
    unsafe { T::widen(whole, to) };
}

/// Copies elements that are neighbours as numbers.
///
/// # Safety
/// The elements and the room are there; the processor has the instructions.
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn line<T: Factored>(from: *const T, to: *mut T::Number, count: usize) {
    for at in (0..count).step_by(SIDE) {
        let few = SIDE.min(count - at);
        let mut numbers = [T::Number::default(); SIDE];
        // SAFETY: the caller's word.
        unsafe {
            widen(from.wrapping_add(at), few, &mut numbers);
            std::ptr::copy_nonoverlapping(numbers.as_ptr(), to.wrapping_add(at), few);
        }
    }
}

/// True if an infinity or a NaN was packed.
#[derive(Clone, Copy, Debug, Default)]
pub struct NotFinite(bool);

/// Packs at most 8 lines: element `line` of row `term` of `to`. Rows are `step` apart, and all 8 columns are written.
///
/// # Safety
/// The elements are there, and there is room for the rows; the processor has the instructions.
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn pack<T: Factored>(from: Lines<T>, to: *mut T::Number, step: usize) {
    let zeros = [T::Number::default(); SIDE];
    let row = |term: usize| to.wrapping_add(term * step).cast::<[T::Number; SIDE]>();
    match from.strides {
        [1, _] if from.lines == SIDE => {
            for term in 0..from.terms {
                let mut numbers = zeros;
                // SAFETY: the caller's word.
                unsafe {
                    T::widen(from.at(0, term), &mut numbers);
                    row(term).write_unaligned(numbers);
                }
            }
        }
        [1, _] => {
            for term in 0..from.terms {
                // SAFETY: the caller's word.
                unsafe {
                    let mut numbers = zeros;
                    widen(from.at(0, term), from.lines, &mut numbers);
                    row(term).write_unaligned(numbers);
                }
            }
        }
        [_, 1] => {
            let lanes = T::Number::LANES;
            for begin in (0..from.terms).step_by(SIDE) {
                let count = SIDE.min(from.terms - begin);
                let mut square = [zeros; SIDE];
                let mut turned = [zeros; SIDE];
                let mut lines = square.each_ref().map(|line| line.as_ptr());
                for line in 0..from.lines {
                    let at = from.at(line, begin);
                    if T::NUMBER && count == SIDE {
                        lines[line] = at.cast();
                    } else {
                        // SAFETY: the caller's word.
                        unsafe { widen(at, count, &mut square[line]) };
                        lines[line] = square[line].as_ptr();
                    }
                }
                let (to, step) = match count {
                    SIDE => (row(begin).cast(), step),
                    _ => (turned.as_mut_ptr().cast::<T::Number>(), SIDE),
                };
                for part in (0..SIDE).step_by(lanes) {
                    let lines = lines.map(|line| line.wrapping_add(part));
                    // SAFETY: the caller's word, and the arrays.
                    unsafe { T::Number::transpose(lines, to.wrapping_add(part * step), step) };
                }
                if count < SIDE {
                    for (term, numbers) in turned.into_iter().enumerate().take(count) {
                        // SAFETY: the caller's word.
                        unsafe { row(begin + term).write_unaligned(numbers) };
                    }
                }
            }
        }
        _ => {
            for term in 0..from.terms {
                let mut few = [T::default(); SIDE];
                for (line, slot) in few.iter_mut().enumerate().take(from.lines) {
                    // SAFETY: the caller's word.
                    *slot = unsafe { *from.at(line, term) };
                }
                let mut numbers = zeros;
                // SAFETY: the arrays are there, and the caller's word.
                unsafe {
                    T::widen(few.as_ptr(), &mut numbers);
                    row(term).write_unaligned(numbers);
                }
            }
        }
    }
}

impl<T: Factored> Kernel<T> for Avx2 {
    type Sum = T::Number;
    const TALL: usize = TALL;
    const WIDE: usize = 2 * T::Number::LANES;
    const TERMS: usize = 256;
    const PANELS: usize = 8;
    type Seen = NotFinite;

    fn panel_bytes(terms: usize) -> [usize; 2] {
        [SIDE, 2 * T::Number::LANES].map(|lines| terms * lines * size_of::<T::Number>())
    }

    // SAFETY: as the trait says.
    unsafe fn pack(&self, which: usize, from: Lines<T>, to: *mut u8, seen: &mut NotFinite) {
        let to = to.cast::<T::Number>();
        let wide = [SIDE, 2 * T::Number::LANES][which];
        for first in (0..wide).step_by(SIDE) {
            // SAFETY: the caller's word; there is a kernel only where the processor has the instructions.
            unsafe { pack(from.lines(first, SIDE), to.wrapping_add(first), wide) };
        }
        // SAFETY: as above; the panel was written.
        seen.0 |= which == 1 && !unsafe { T::Number::are_finite(to, from.terms * wide) };
    }

    fn is_finite(seen: &NotFinite) -> bool {
        !seen.0
    }

    fn in_place(left: &Factor<'_, T>) -> bool {
        left.in_place(T::NUMBER)
    }

    fn copies(_: &Factor<'_, T>, _: &[Start<T>]) -> bool {
        !T::NUMBER
    }

    // SAFETY: as the trait says.
    unsafe fn copy(&self, from: *const T, to: *mut T::Number, count: usize) {
        // SAFETY: the caller's word; there is a kernel only where the processor has the instructions.
        unsafe { line(from, to, count) };
    }

    // SAFETY: as the trait says.
    unsafe fn multiply(
        &self,
        [rows, _, terms]: [usize; 3],
        left: Panel,
        right: &[Panel],
        sums: Sums<T::Number>,
    ) {
        let left = left.cast::<T::Number>();
        let places = [0, 1, 2, 3, 4, 5].map(|row| left.wrapping_add(row));
        let piece = Piece {
            rows: places.as_ptr(),
            first: 0,
            terms,
        };
        for (number, right) in right.iter().enumerate() {
            let add = sums.add || number > 0;
            // SAFETY: the caller's word; there is a kernel only where the processor has the instructions.
            unsafe {
                by_rows::<_, SIDE>([rows, SIDE], &[piece], right.cast(), Sums { add, ..sums })
            };
        }
    }

    // SAFETY: as the trait says.
    unsafe fn multiply_in_place(
        &self,
        [rows, _, step]: [usize; 3],
        left: &[Piece<T>],
        right: Panel,
        sums: Sums<T::Number>,
    ) {
        let left: *const [Piece<T>] = left;
        // SAFETY: an element is a number, or was copied as one; the caller's word; there is a kernel only where the processor has the instructions.
        unsafe {
            let left = &*(left as *const [Piece<T::Number>]);
            match step {
                1 => by_rows::<_, 1>([rows, 1], left, right.cast(), sums),
                _ => by_rows::<_, 0>([rows, step], left, right.cast(), sums),
            }
        };
    }
}

/// An element of a result, from sums of a type.
pub trait Rounded<N>: Copy + Default {
    /// Rounds 8 sums.
    ///
    /// # Safety
    /// The sums are there; the processor has the instructions.
    unsafe fn rounded(from: *const N) -> [Self; SIDE];
}

macro_rules! itself {
    ($($ty:ty)*) => {$(
        impl Rounded<$ty> for $ty {
            #[inline]
            #[target_feature(enable = "avx2,fma,f16c")]
            // SAFETY: as the trait says.
            unsafe fn rounded(from: *const $ty) -> [$ty; SIDE] {
                // SAFETY: the caller's word.
                unsafe { from.cast::<[$ty; SIDE]>().read_unaligned() }
            }
        }
    )*};
}
itself!(f32 f64);

impl Rounded<f32> for bf16 {
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    // SAFETY: as the trait says.
    unsafe fn rounded(from: *const f32) -> [bf16; SIDE] {
        // SAFETY: the caller's word.
        let sums = unsafe { _mm256_loadu_ps(from) };
        let bits = _mm256_castps_si256(sums);
        let odd = _mm256_and_si256(_mm256_srli_epi32::<16>(bits), _mm256_set1_epi32(1));
        let half = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff));
        // A NaN keeps its sign and stays one.
        let nan = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_UNORD_Q>(sums, sums));
        let quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x0040_0000));
        let rounded = _mm256_blendv_epi8(_mm256_add_epi32(bits, half), quiet, nan);
        let high = _mm256_srli_epi32::<16>(rounded);
        // Four numbers of each half of the vector, twice.
        let narrow = _mm256_permute4x64_epi64::<0x08>(_mm256_packus_epi32(high, high));
        let mut all = [bf16::ZERO; SIDE];
        // SAFETY: the array has this size.
        unsafe { _mm_storeu_si128(all.as_mut_ptr().cast(), _mm256_castsi256_si128(narrow)) };
        all
    }
}

impl Rounded<f32> for f16 {
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    // SAFETY: as the trait says.
    unsafe fn rounded(from: *const f32) -> [f16; SIDE] {
        let mut all = [f16::ZERO; SIDE];
        // SAFETY: the caller's word; the array has this size.
        unsafe {
            let narrow = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_loadu_ps(from));
            _mm_storeu_si128(all.as_mut_ptr().cast(), narrow);
        }
        all
    }
}

impl<N: Number, O: Rounded<N>> Stores<N, O> for Avx2 {
    // SAFETY: as the trait says.
    unsafe fn store(sums: *const N, part: [[usize; 2]; 2], to: *mut O, steps: [usize; 2]) {
        // SAFETY: the caller's word; there is a kernel only where the processor has the instructions.
        unsafe { store(sums, part, to, steps) };
    }
}

/// As [`Stores::store`].
///
/// # Safety
/// As there; the processor has the instructions.
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn store<N: Number, O: Rounded<N>>(
    sums: *const N,
    [[first, begin], [rows, columns]]: [[usize; 2]; 2],
    to: *mut O,
    [down, across]: [usize; 2],
) {
    let wide = 2 * N::LANES;
    for row in 0..rows {
        let to = to.wrapping_add(row * down);
        let end = begin + columns;
        let mut column = begin;
        while column < end {
            let inner = column % SIDE;
            let at = column / wide * wide * TALL + (first + row) * wide + column % wide - inner;
            let count = (SIDE - inner).min(end - column);
            let to = to.wrapping_add((column - begin) * across);
            // SAFETY: the caller's word: panels are stored whole.
            let all = unsafe { O::rounded(sums.wrapping_add(at)) };
            if count == SIDE && across == 1 {
                // SAFETY: the caller's word.
                unsafe { to.cast::<[O; SIDE]>().write_unaligned(all) };
            } else {
                for (lane, x) in all.into_iter().skip(inner).take(count).enumerate() {
                    // SAFETY: the caller's word.
                    unsafe { to.wrapping_add(lane * across).write(x) };
                }
            }
            column += count;
        }
    }
}

/// Multiplies as many rows as there are. Terms of a row are `STEP` elements apart, or `step` where that is 0.
///
/// # Safety
/// As for [`multiply`].
unsafe fn by_rows<N: Number, const STEP: usize>(
    [rows, step]: [usize; 2],
    left: &[Piece<N>],
    right: *const N,
    sums: Sums<N>,
) {
    // SAFETY: the caller's word.
    unsafe {
        match rows {
            1 => multiply::<N, 1, STEP>(step, left, right, sums),
            2 => multiply::<N, 2, STEP>(step, left, right, sums),
            3 => multiply::<N, 3, STEP>(step, left, right, sums),
            4 => multiply::<N, 4, STEP>(step, left, right, sums),
            5 => multiply::<N, 5, STEP>(step, left, right, sums),
            _ => multiply::<N, 6, STEP>(step, left, right, sums),
        }
    }
}

/// `R` rows of sums.
///
/// # Safety
/// The elements of the pieces, as many terms of a panel, and the sums are there; the processor has the instructions.
#[target_feature(enable = "avx2,fma")]
unsafe fn multiply<N: Number, const R: usize, const STEP: usize>(
    step: usize,
    left: &[Piece<N>],
    right: *const N,
    sums: Sums<N>,
) {
    let step = if STEP > 0 { STEP } else { step };
    // SAFETY: the caller's word.
    unsafe {
        let mut own = [[N::zero(); 2]; R];
        for piece in left {
            let rows = piece.rows.cast::<[*const N; R]>().read();
            let mut right = right.wrapping_add(piece.first * 2 * N::LANES);
            for term in 0..piece.terms {
                let b = [N::load(right), N::load(right.wrapping_add(N::LANES))];
                for (own, row) in own.iter_mut().zip(rows) {
                    let a = N::splat(row.wrapping_add(term * step));
                    own[0] = N::multiply_add(a, b[0], own[0]);
                    own[1] = N::multiply_add(a, b[1], own[1]);
                }
                right = right.wrapping_add(2 * N::LANES);
            }
        }
        for (r, own) in own.into_iter().enumerate() {
            for (half, x) in own.into_iter().enumerate() {
                let to = sums.first.wrapping_add((2 * r + half) * N::LANES);
                // A sum that underflowed to -0 is 0, as where zeros follow it.
                let x = N::add(x, N::zero());
                let x = if sums.add { N::add(N::load(to), x) } else { x };
                N::store(to, x);
            }
        }
    }
}
