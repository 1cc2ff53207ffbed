//! The AMX micro-kernel for bf16: 32 rows by 32 columns of sums in four tiles, 32 terms for each instruction.
//!
//! `TDPBF16PS` computes, for each sum, the products of 16 even terms and of 16 odd terms by fused multiply-adds
//! starting from 0. It adds both results, and then adds that to the running sum; each addition rounds to nearest. It
//! treats subnormal operands as 0 and flushes subnormal results to 0, whatever the control register says.
//!
//! The kernel therefore only fits factors for which neither occurs. A bf16 with exponent e is a multiple of 2^(e-7),
//! and a product of two such numbers a multiple of 2^(e+f-14). The same holds for all sums, rounded or not. If that
//! unit is a normal number, so is every nonzero sum.
//!
//! The instructions are written as assembly, as Rust has stable names for neither them nor the tiles.

use std::arch::asm;
use std::sync::OnceLock;

use half::bf16;

use super::lines::Lines;
use super::pack::{self, Order, PAIRS, Range, SIDE};
use super::product::{Kernel, Panel, Stores, Sums, WIDE};
use super::store::{Stored, store};

/// Bytes of a row of a tile.
const ROW: usize = 64;

/// Products of bf16 in tiles, for factors that [`Kernel::fits`].
#[derive(Clone, Copy, Debug)]
pub struct Amx(());

impl Amx {
    /// The kernel, where processor and system have it.
    pub fn detect() -> Option<Amx> {
        static FOUND: OnceLock<bool> = OnceLock::new();
        let found = *FOUND.get_or_init(|| super::avx512::Avx512::detect().is_some() && permitted());
        found.then_some(Amx(()))
    }

    /// Does something with configured tiles, which are empty when it is over.
    pub fn with_tiles<R>(&self, then: impl FnOnce(&Amx) -> R) -> R {
        /// Releases the tiles when dropped, also after a failed assertion in between.
        struct Release;
        impl Drop for Release {
            fn drop(&mut self) {
                // SAFETY: there is a kernel only where processor and system have tiles.
                unsafe { asm!("tilerelease", options(nostack, nomem)) };
            }
        }
        // Palette 1; all eight tiles have 16 rows of 64 bytes.
        let mut config = [0u8; 64];
        config[0] = 1;
        for tile in 0..8 {
            config[16 + 2 * tile] = ROW as u8;
            config[48 + tile] = SIDE as u8;
        }
        // SAFETY: as above; the configuration is there.
        unsafe { asm!("ldtilecfg [{}]", in(reg) config.as_ptr(), options(nostack, readonly)) };
        let _release = Release;
        then(self)
    }
}

/// Asks processor and system for tiles.
fn permitted() -> bool {
    #[cfg(target_os = "linux")]
    {
        use std::arch::x86_64::__cpuid_count;
        /// The number of `arch_prctl`, its request for permission to use a processor state, and the state of tile data.
        const CALL: [isize; 3] = [158, 0x1023, 18];
        // Leaf 7: tiles are bit 24 of EDX, their products of bf16 bit 22.
        let leaf = __cpuid_count(7, 0).edx;
        if leaf >> 24 & 1 == 0 || leaf >> 22 & 1 == 0 {
            return false;
        }
        let mut result = CALL[0];
        // SAFETY: a request to the system that touches no memory; before Linux 5.16 it is an error.
        unsafe {
            asm!("syscall", inout("rax") result, in("rdi") CALL[1], in("rsi") CALL[2], out("rcx") _, out("r11") _, options(nostack));
        }
        result == 0
    }
    #[cfg(not(target_os = "linux"))]
    false
}

impl Kernel<bf16> for Amx {
    type Sum = f32;
    const TALL: usize = 2 * SIDE;
    const WIDE: usize = WIDE;
    const PANELS: usize = 1;
    const TERMS: usize = 512;
    type Seen = Range;

    fn panel_bytes(terms: usize) -> [usize; 2] {
        [terms.next_multiple_of(PAIRS) * WIDE * size_of::<bf16>(); 2]
    }

    // SAFETY: as the trait says.
    unsafe fn pack(&self, which: usize, from: Lines<bf16>, to: *mut u8, seen: &mut Range) {
        let order = [Order::Lines, Order::Pairs][which];
        // SAFETY: the caller's word; there is a kernel only where the processor has the instructions.
        unsafe { pack::pairs(from, to.cast(), order, seen) };
    }

    fn exponents(seen: &Range) -> Option<[u32; 2]> {
        seen.exponents()
    }

    fn fits(exponents: [Option<[u32; 2]>; 2]) -> bool {
        pack::stay_normal(exponents)
    }

    // SAFETY: as the trait says.
    unsafe fn multiply(&self, [.., terms]: [usize; 3], left: Panel, right: &[Panel], sums: Sums) {
        let Sums { first: sums, add } = sums;
        let places = [
            sums,
            sums.wrapping_add(SIDE),
            sums.wrapping_add(SIDE * WIDE),
            sums.wrapping_add(SIDE * WIDE + SIDE),
        ];
        let [a, b, c, d] = places;
        let wide = WIDE * size_of::<f32>();
        // SAFETY: there is a kernel only where processor and system have tiles, and the caller has configured them; panels and sums are there.
        // The compiler uses no tiles.
        unsafe {
            if add {
                asm!(
                    "tileloadd tmm0, [{a} + {wide}]",
                    "tileloadd tmm1, [{b} + {wide}]",
                    "tileloadd tmm2, [{c} + {wide}]",
                    "tileloadd tmm3, [{d} + {wide}]",
                    a = in(reg) a, b = in(reg) b, c = in(reg) c, d = in(reg) d, wide = in(reg) wide,
                    options(nostack, readonly),
                );
            } else {
                asm!(
                    "tilezero tmm0",
                    "tilezero tmm1",
                    "tilezero tmm2",
                    "tilezero tmm3",
                    options(nostack, nomem)
                );
            }
            for right in right.iter().filter(|_| terms > 0) {
                asm!(
                    "2:",
                    "tileloadd tmm4, [{left} + {row}]",
                    "tileloaddt1 tmm6, [{right} + {row}]",
                    "tdpbf16ps tmm0, tmm4, tmm6",
                    "tileloaddt1 tmm7, [{right} + {row} + 1024]",
                    "tdpbf16ps tmm1, tmm4, tmm7",
                    "tileloadd tmm5, [{left} + {row} + 1024]",
                    "tdpbf16ps tmm2, tmm5, tmm6",
                    "tdpbf16ps tmm3, tmm5, tmm7",
                    "add {left}, 2048",
                    "add {right}, 2048",
                    "dec {steps}",
                    "jnz 2b",
                    left = inout(reg) left => _, right = inout(reg) *right => _, row = in(reg) ROW,
                    steps = inout(reg) terms.div_ceil(PAIRS) => _,
                    options(nostack, readonly),
                );
            }
            asm!(
                "tilestored [{a} + {wide}], tmm0",
                "tilestored [{b} + {wide}], tmm1",
                "tilestored [{c} + {wide}], tmm2",
                "tilestored [{d} + {wide}], tmm3",
                a = in(reg) a, b = in(reg) b, c = in(reg) c, d = in(reg) d, wide = in(reg) wide,
                options(nostack),
            );
        }
    }
}

impl<O: Stored> Stores<f32, O> for Amx {
    // SAFETY: as the trait says.
    unsafe fn store(sums: *const f32, part: [[usize; 2]; 2], to: *mut O, steps: [usize; 2]) {
        // SAFETY: the caller's word; there is a kernel only where the processor has the instructions.
        unsafe { store(sums, 2 * SIDE, part, to, steps) };
    }
}
