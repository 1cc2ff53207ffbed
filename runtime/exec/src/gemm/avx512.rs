//! The AVX-512 micro-kernel for f32: 14 rows by 32 columns of sums in registers, one fused multiply-add for each term.

use std::arch::x86_64::*;

use super::lines::Lines;
use super::pack::{self, Element, SIDE};
use super::product::{Kernel, Panel, Stores, Sums, WIDE};
use super::store::{Stored, store};

/// Rows of sums in registers.
const ROWS: usize = 14;

/// Fused multiply-adds of f32; 16-bit elements are widened during packing.
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
    type Seen = ();

    fn panel_bytes(terms: usize) -> [usize; 2] {
        [SIDE, WIDE].map(|lines| terms * lines * size_of::<f32>())
    }

    // SAFETY: as the trait says.
    unsafe fn pack(&self, which: usize, from: Lines<T>, to: *mut u8, (): &mut ()) {
        let to = to.cast::<f32>();
        // SAFETY: the caller's word; there is a kernel only where the processor has the instructions.
        unsafe {
            match which {
                0 => pack::numbers(from, to, SIDE),
                _ => {
                    pack::numbers(from.lines(0, SIDE), to, WIDE);
                    pack::numbers(from.lines(SIDE, SIDE), to.wrapping_add(SIDE), WIDE);
                }
            }
        }
    }

    // SAFETY: as the trait says.
    unsafe fn multiply(&self, [rows, terms]: [usize; 2], left: Panel, right: &[Panel], sums: Sums) {
        macro_rules! by_rows {
            ($($rows:literal)*) => {
                for (number, right) in right.iter().enumerate() {
                    let (left, right) = (left.cast(), right.cast());
                    let sums = Sums { add: sums.add || number > 0, ..sums };
                    // SAFETY: the caller's word; there is a kernel only where the processor has the instructions.
                    unsafe {
                        match rows {
                            $($rows => multiply::<$rows>(terms, left, right, sums),)*
                            _ => multiply::<14>(terms, left, right, sums),
                        }
                    }
                }
            };
        }
        by_rows!(1 2 3 4 5 6 7 8 9 10 11 12 13);
    }
}

impl<O: Stored> Stores<f32, O> for Avx512 {
    // SAFETY: as the trait says.
    unsafe fn store(sums: *const f32, part: [[usize; 2]; 2], to: *mut O, steps: [usize; 2]) {
        // SAFETY: the caller's word; there is a kernel only where the processor has the instructions.
        unsafe { store(sums, ROWS, part, to, steps) };
    }
}

/// `R` rows of sums.
///
/// # Safety
/// As for [`Kernel::multiply`]; the processor has the instructions.
#[target_feature(enable = "avx512f")]
unsafe fn multiply<const R: usize>(
    terms: usize,
    mut left: *const f32,
    mut right: *const f32,
    sums: Sums,
) {
    let mut own = [[_mm512_setzero_ps(); 2]; R];
    for _ in 0..terms {
        // SAFETY: the panels have these terms.
        let b = unsafe {
            [
                _mm512_loadu_ps(right),
                _mm512_loadu_ps(right.wrapping_add(SIDE)),
            ]
        };
        for (r, own) in own.iter_mut().enumerate() {
            // SAFETY: as above.
            let a = _mm512_set1_ps(unsafe { *left.wrapping_add(r) });
            own[0] = _mm512_fmadd_ps(a, b[0], own[0]);
            own[1] = _mm512_fmadd_ps(a, b[1], own[1]);
        }
        (left, right) = (left.wrapping_add(SIDE), right.wrapping_add(WIDE));
    }
    for (r, own) in own.iter().enumerate() {
        for (half, &x) in own.iter().enumerate() {
            let to = sums.first.wrapping_add(r * WIDE + half * SIDE);
            // SAFETY: the sums are there.
            unsafe {
                let x = if sums.add {
                    _mm512_add_ps(_mm512_loadu_ps(to), x)
                } else {
                    x
                };
                _mm512_storeu_ps(to, x);
            }
        }
    }
}
