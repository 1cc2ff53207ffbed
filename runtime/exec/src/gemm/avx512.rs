//! The AVX-512 micro-kernel for f32: 14 rows by 32 columns of sums in registers, one fused multiply-add for each term.

use std::arch::x86_64::*;

use super::lines::{Factor, Lines, Piece, Start};
use super::pack::{self, Element, SIDE};
use super::product::{Kernel, Panel, Stores, Sums, WIDE};
use super::store::{Stored, store};

/// Rows of sums in registers.
const ROWS: usize = 14;

/// Fused multiply-adds of f32; 16-bit elements are widened as they are packed or copied.
#[derive(Clone, Copy, Debug)]
pub struct Avx512(());

impl Avx512 {
    /// The kernel, where the processor has the instructions.
    pub fn detect() -> Option<Avx512> {
        let has = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512dq");
        has.then_some(Avx512(()))
    }
}

impl<T: Element> Kernel<T> for Avx512 {
    type Sum = f32;
    const TALL: usize = ROWS;
    const WIDE: usize = WIDE;
    const PANELS: usize = 1;
    const TERMS: usize = 256;
    // 49 rows of 512 terms by 2048 columns take 1.12 ms, with 32 terms 1.29 (Zen 4).
    const RUN: usize = 8;
    type Seen = NotFinite;

    fn panel_bytes(terms: usize) -> [usize; 2] {
        [SIDE, WIDE].map(|lines| terms * lines * size_of::<f32>())
    }

    // SAFETY: as the trait says.
    unsafe fn pack(&self, which: usize, from: Lines<T>, to: *mut u8, seen: &mut NotFinite) {
        let to = to.cast::<f32>();
        // SAFETY: the caller's word; there is a kernel only where the processor has the instructions.
        unsafe {
            match which {
                0 => pack::numbers(from, to, SIDE),
                _ => {
                    pack::numbers(from.lines(0, SIDE), to, WIDE);
                    pack::numbers(from.lines(SIDE, SIDE), to.wrapping_add(SIDE), WIDE);
                    seen.0 |= !are_finite(to, from.terms * WIDE);
                }
            }
        }
    }

    fn is_finite(seen: &NotFinite) -> bool {
        !seen.0
    }

    fn in_place(left: &Factor<'_, T>) -> bool {
        left.in_place(T::NUMBER)
    }

    fn copies(left: &Factor<'_, T>, starts: &[Start<T>]) -> bool {
        !T::NUMBER || left.collides(starts)
    }

    // SAFETY: as the trait says.
    unsafe fn copy(&self, from: *const T, to: *mut f32, count: usize) {
        // SAFETY: the caller's word; there is a kernel only where the processor has the instructions.
        unsafe { pack::line(from, to, count) };
    }

    // SAFETY: as the trait says.
    unsafe fn multiply(
        &self,
        [rows, columns, terms]: [usize; 3],
        left: Panel,
        right: &[Panel],
        sums: Sums,
    ) {
        for (number, right) in right.iter().enumerate() {
            let add = sums.add || number > 0;
            let sums = Sums { add, ..sums };
            // SAFETY: the caller's word; there is a kernel only where the processor has the instructions.
            unsafe {
                by_rows(
                    [rows, columns, SIDE],
                    Left::Panel(left.cast(), terms),
                    right.cast(),
                    sums,
                )
            };
        }
    }

    // SAFETY: as the trait says.
    unsafe fn multiply_in_place(
        &self,
        size: [usize; 3],
        left: &[Piece<T>],
        right: Panel,
        sums: Sums,
    ) {
        let left: *const [Piece<T>] = left;
        // SAFETY: an element is an f32, or was copied as one; the caller's word; there is a kernel only where the
        // processor has the instructions.
        unsafe {
            let left = &*(left as *const [Piece<f32>]);
            by_rows(size, Left::Pieces(left), right.cast(), sums);
        }
    }
}

impl<O: Stored> Stores<f32, O> for Avx512 {
    // SAFETY: as the trait says.
    unsafe fn store(sums: *const f32, part: [[usize; 2]; 2], to: *mut O, steps: [usize; 2]) {
        // SAFETY: the caller's word; there is a kernel only where the processor has the instructions.
        unsafe { store(sums, ROWS, part, to, steps) };
    }
}

/// True if an infinity or a NaN was packed.
#[derive(Clone, Copy, Debug, Default)]
pub struct NotFinite(bool);

/// True if so many packed numbers, a multiple of 16, are neither infinite nor NaN.
///
/// # Safety
/// The numbers are there; the processor has the instructions.
#[target_feature(enable = "avx512f,avx512dq")]
unsafe fn are_finite(from: *const f32, count: usize) -> bool {
    let mut found = 0;
    for at in (0..count).step_by(SIDE) {
        // SAFETY: the caller's word. The classes are both NaNs and both infinities.
        found |= _mm512_fpclass_ps_mask::<0x99>(unsafe { _mm512_loadu_ps(from.wrapping_add(at)) });
    }
    found == 0
}

/// Rows of a left factor.
#[derive(Clone, Copy)]
enum Left<'a> {
    /// A panel of so many terms.
    Panel(*const f32, usize),
    Pieces(&'a [Piece<f32>]),
}

/// Multiplies as many rows and columns as there are. `size` ends with the distance of terms.
///
/// # Safety
/// As for [`panel`] and [`pieces`].
unsafe fn by_rows([rows, columns, step]: [usize; 3], left: Left, right: *const f32, sums: Sums) {
    macro_rules! vectors {
        ($($rows:literal)*; $columns:literal) => {
            match (left, rows) {
                $((Left::Panel(left, terms), $rows) => panel::<$rows, $columns>(terms, left, right, sums),
                (Left::Pieces(left), $rows) if step == 1 => pieces::<$rows, $columns, 1>(1, left, right, sums),
                (Left::Pieces(left), $rows) => pieces::<$rows, $columns, 0>(step, left, right, sums),)*
                _ => {}
            }
        };
    }
    // SAFETY: the caller's word.
    unsafe {
        match columns <= SIDE {
            true => vectors!(1 2 3 4 5 6 7 8 9 10 11 12 13 14; 1),
            false => vectors!(1 2 3 4 5 6 7 8 9 10 11 12 13 14; 2),
        }
    }
}

/// `R` rows of `C` vectors of sums, of a packed panel of rows.
///
/// # Safety
/// As for [`Kernel::multiply`]; the processor has the instructions.
#[target_feature(enable = "avx512f")]
unsafe fn panel<const R: usize, const C: usize>(
    terms: usize,
    mut left: *const f32,
    mut right: *const f32,
    sums: Sums,
) {
    let mut own = [[_mm512_setzero_ps(); C]; R];
    for _ in 0..terms {
        // SAFETY: the panels have these terms.
        unsafe { multiply_add(&mut own, |r| *left.wrapping_add(r), right) };
        (left, right) = (left.wrapping_add(SIDE), right.wrapping_add(WIDE));
    }
    // SAFETY: the caller's word.
    unsafe { add(&own, sums) };
}

/// `R` rows of `C` vectors of sums, of rows that are read in place. Terms of a row are `STEP` elements apart, or `step`
/// where that is 0.
///
/// # Safety
/// The elements of the pieces, as many terms of a panel, and the sums are there; the processor has the instructions.
#[target_feature(enable = "avx512f")]
unsafe fn pieces<const R: usize, const C: usize, const STEP: usize>(
    step: usize,
    left: &[Piece<f32>],
    right: *const f32,
    sums: Sums,
) {
    let step = if STEP > 0 { STEP } else { step };
    let mut own = [[_mm512_setzero_ps(); C]; R];
    for piece in left {
        // SAFETY: the caller's word.
        let rows = unsafe { piece.rows.cast::<[*const f32; R]>().read() };
        let mut right = right.wrapping_add(piece.first * WIDE);
        let mut at = 0;
        for _ in 0..piece.terms {
            // SAFETY: the caller's word.
            unsafe { multiply_add(&mut own, |r| *rows[r].wrapping_add(at), right) };
            (at, right) = (at + step, right.wrapping_add(WIDE));
        }
    }
    // SAFETY: the caller's word.
    unsafe { add(&own, sums) };
}

/// Adds the products of a term: the numbers of rows by the columns of a panel.
///
/// # Safety
/// The panel has the term; the processor has the instructions.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn multiply_add<const R: usize, const C: usize>(
    own: &mut [[__m512; C]; R],
    left: impl Fn(usize) -> f32,
    right: *const f32,
) {
    let mut b = [_mm512_setzero_ps(); C];
    for (part, b) in b.iter_mut().enumerate() {
        // SAFETY: the caller's word.
        *b = unsafe { _mm512_loadu_ps(right.wrapping_add(part * SIDE)) };
    }
    for (r, own) in own.iter_mut().enumerate() {
        let a = _mm512_set1_ps(left(r));
        for (own, b) in own.iter_mut().zip(b) {
            *own = _mm512_fmadd_ps(a, b, *own);
        }
    }
}

/// Adds to the sums in memory, or writes them.
///
/// # Safety
/// The sums are there; the processor has the instructions.
#[inline]
#[target_feature(enable = "avx512f")]
pub unsafe fn add<const R: usize, const C: usize>(own: &[[__m512; C]; R], sums: Sums) {
    for (r, own) in own.iter().enumerate() {
        for (part, &x) in own.iter().enumerate() {
            let to = sums.first.wrapping_add(r * WIDE + part * SIDE);
            // A sum that underflowed to -0 is 0, as where zeros follow it.
            let x = _mm512_add_ps(x, _mm512_setzero_ps());
            // SAFETY: the caller's word.
            unsafe {
                let x = match sums.add {
                    true => _mm512_add_ps(_mm512_loadu_ps(to), x),
                    false => x,
                };
                _mm512_storeu_ps(to, x);
            }
        }
    }
}
