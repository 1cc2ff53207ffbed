//! The AVX-512 micro-kernel for bf16: 8 rows by 32 columns of sums in registers, two terms for each instruction.
//!
//! `VDPBF16PS` adds the product of the odd terms to each sum by a fused multiply-add, then that of the even ones; each
//! rounds to nearest. Zen 4 computed 4,000,000 random sums in this order. The instruction treats subnormal operands as
//! 0 and flushes subnormal results to 0, so the kernel only fits factors for which neither occurs, as that of AMX does.
//!
//! Rows of neighbours are copied, which finds their least magnitudes, and read as pairs. Other rows are packed.
//!
//! On Zen 4 a core computes 234 Gflop/s with it, and 118 with fused multiply-adds of f32. On Granite Rapids it takes
//! 1.7 times as long as those. So only AMD's processors use the kernel.

use std::arch::x86_64::*;
use std::sync::OnceLock;

use half::bf16;

use super::avx512::{Avx512, add};
use super::lines::{Factor, Lines, Piece, Pieces, Start};
use super::pack::{self, PAIRS, Range, SIDE};
use super::product::{Kernel, Panel, Stores, Sums, WIDE};
use super::store::{Stored, store};

/// Rows of sums in registers. `GRAIN` is a multiple of them, so the rows of a panel share one range.
const ROWS: usize = 8;
const _: () = assert!(super::GRAIN.is_multiple_of(ROWS));

/// Products of pairs of bf16, for factors that [`Kernel::fits`].
#[derive(Clone, Copy, Debug)]
pub struct Dot(());

impl Dot {
    /// The kernel, where the processor has the instructions and is fast with them.
    pub fn detect() -> Option<Dot> {
        static FOUND: OnceLock<bool> = OnceLock::new();
        let found = *FOUND.get_or_init(|| {
            let maker = __cpuid(0);
            let maker = [maker.ebx, maker.edx, maker.ecx].map(u32::to_le_bytes);
            let is_fast = maker.as_flattened() == b"AuthenticAMD";
            is_fast && Avx512::detect().is_some() && is_x86_feature_detected!("avx512bf16")
        });
        found.then_some(Dot(()))
    }
}

impl Kernel<bf16> for Dot {
    type Sum = f32;
    const TALL: usize = ROWS;
    const WIDE: usize = WIDE;
    const PANELS: usize = 1;
    const TERMS: usize = 512;
    type Seen = Range;

    fn panel_bytes(terms: usize) -> [usize; 2] {
        [SIDE, WIDE].map(|lines| terms.next_multiple_of(PAIRS) * lines * size_of::<bf16>())
    }

    // SAFETY: as the trait says.
    unsafe fn pack(&self, which: usize, from: Lines<bf16>, to: *mut u8, seen: &mut Range) {
        // SAFETY: the caller's word; there is a kernel only where the processor has the instructions.
        unsafe {
            match which {
                0 => pack::rows_of_pairs::<1>(from, to.cast(), seen),
                _ => pack::rows_of_pairs::<2>(from, to.cast(), seen),
            }
        }
    }

    fn exponents(seen: &Range) -> Option<[u32; 2]> {
        seen.exponents()
    }

    fn fits(exponents: [Option<[u32; 2]>; 2]) -> bool {
        pack::stay_normal(exponents)
    }

    fn is_finite(seen: &Range) -> bool {
        seen.exponents().is_none_or(|[_, most]| most < 255)
    }

    fn in_place(left: &Factor<'_, bf16>) -> bool {
        left.in_place(false)
    }

    fn copies(_: &Factor<'_, bf16>, _: &[Start<bf16>]) -> bool {
        true
    }

    // SAFETY: as the trait says.
    unsafe fn bring(
        &self,
        pieces: &mut Pieces<bf16>,
        rows: usize,
        to: *mut u8,
        pitch: usize,
        seen: &mut Range,
    ) {
        let (to, pitch) = (to.cast::<bf16>(), 2 * pitch);
        // SAFETY: the caller's word; there is a kernel only where the processor has the instructions.
        unsafe {
            // Terms of a piece that are no pairs need their neighbours, zeros where there are none.
            let all = pieces.all();
            let odd = (all.iter()).any(|piece| piece.first % 2 + piece.terms % 2 > 0);
            let end = all.last().map_or(0, |piece| piece.first + piece.terms);
            let end = end.next_multiple_of(2);
            for row in (0..rows).filter(|_| odd) {
                std::ptr::write_bytes(to.wrapping_add(row * pitch), 0, end);
            }
            pieces.bring(rows, to, pitch, |from, to, count| {
                pack::ranged(from, to, count, seen);
            });
            if odd {
                pieces.join(rows, to, pitch, end);
            }
        }
    }

    // SAFETY: as the trait says.
    unsafe fn multiply(
        &self,
        [rows, columns, terms]: [usize; 3],
        left: Panel,
        right: &[Panel],
        sums: Sums,
    ) {
        let left = left.cast::<bf16>();
        let places: [_; ROWS] = std::array::from_fn(|row| left.wrapping_add(2 * row));
        let piece = Piece {
            rows: places.as_ptr(),
            first: 0,
            terms,
        };
        for (number, right) in right.iter().enumerate() {
            let add = sums.add || number > 0;
            let sums = Sums { add, ..sums };
            // SAFETY: the caller's word; there is a kernel only where the processor has the instructions.
            unsafe { by_rows::<SIDE>([rows, columns], &[piece], right.cast(), sums) };
        }
    }

    // SAFETY: as the trait says.
    unsafe fn multiply_in_place(
        &self,
        [rows, columns, _]: [usize; 3],
        left: &[Piece<bf16>],
        right: Panel,
        sums: Sums,
    ) {
        // SAFETY: the caller's word; there is a kernel only where the processor has the instructions.
        unsafe { by_rows::<1>([rows, columns], left, right.cast(), sums) };
    }
}

impl<O: Stored> Stores<f32, O> for Dot {
    // SAFETY: as the trait says.
    unsafe fn store(sums: *const f32, part: [[usize; 2]; 2], to: *mut O, steps: [usize; 2]) {
        // SAFETY: the caller's word; there is a kernel only where the processor has the instructions.
        unsafe { store(sums, ROWS, part, to, steps) };
    }
}

/// Multiplies as many rows and columns as there are. Pairs of a row are `STEP` words apart.
///
/// # Safety
/// As for [`multiply`].
unsafe fn by_rows<const STEP: usize>(
    [rows, columns]: [usize; 2],
    left: &[Piece<bf16>],
    right: *const u32,
    sums: Sums,
) {
    macro_rules! vectors {
        ($($rows:literal)*; $columns:literal) => {
            match rows {
                $($rows => multiply::<$rows, $columns, STEP>(left, right, sums),)*
                _ => multiply::<ROWS, $columns, STEP>(left, right, sums),
            }
        };
    }
    // SAFETY: the caller's word.
    unsafe {
        match columns <= SIDE {
            true => vectors!(1 2 3 4 5 6 7; 1),
            false => vectors!(1 2 3 4 5 6 7; 2),
        }
    }
}

/// `R` rows of `C` vectors of sums.
///
/// # Safety
/// The pairs of the pieces, as many of a panel, and the sums are there; the processor has the instructions.
#[target_feature(enable = "avx512f,avx512bf16")]
unsafe fn multiply<const R: usize, const C: usize, const STEP: usize>(
    left: &[Piece<bf16>],
    right: *const u32,
    sums: Sums,
) {
    // SAFETY: a pair is 32 bits, whatever their type.
    let load = |from: *const u32| unsafe {
        std::mem::transmute::<__m512i, __m512bh>(_mm512_loadu_si512(from.cast()))
    };
    let mut own = [[_mm512_setzero_ps(); C]; R];
    for piece in left {
        // SAFETY: the caller's word.
        let rows = unsafe { piece.rows.cast::<[*const u32; R]>().read() };
        let mut right = right.wrapping_add(piece.first / 2 * WIDE);
        let mut at = 0;
        for _ in 0..piece.terms.div_ceil(2) {
            let b: [__m512bh; C] =
                std::array::from_fn(|part| load(right.wrapping_add(part * SIDE)));
            for (own, row) in own.iter_mut().zip(rows) {
                // SAFETY: the caller's word.
                let a = unsafe { row.wrapping_add(at).read_unaligned() };
                // SAFETY: as above.
                let a = unsafe {
                    std::mem::transmute::<__m512i, __m512bh>(_mm512_set1_epi32(a as i32))
                };
                for (own, b) in own.iter_mut().zip(b) {
                    *own = _mm512_dpbf16_ps(*own, a, b);
                }
            }
            (at, right) = (at + STEP, right.wrapping_add(WIDE));
        }
    }
    // SAFETY: the caller's word.
    unsafe { add(&own, sums) };
}
