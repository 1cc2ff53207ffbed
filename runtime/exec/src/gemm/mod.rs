//! Products by our own micro-kernels: factors are packed into panels, and each panel of rows is multiplied by each
//! panel of columns.
//!
//! ```text
//!                  right: panels of WIDE columns, a block of terms
//! left: panels     sums of WIDE columns each, row by row:
//! of TALL rows     a micro-kernel computes TALL rows of them
//! ```
//!
//! Blocks of terms follow each other, and the sums of a block are added to the earlier ones. A micro-kernel adds the
//! terms of a block in a fixed order, independent of a sum's position in the panel and of the number of sums.
//!
//! A kernel may read rows of the left factor in place, in runs of equally distant terms (`lines`).

#[cfg(target_arch = "x86_64")]
mod amx;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod dot;
mod lines;
#[cfg(target_arch = "x86_64")]
mod pack;
#[cfg(target_arch = "x86_64")]
mod product;
#[cfg(target_arch = "x86_64")]
mod store;

pub use self::lines::{BLOCK, Bound, DIGITS, DIMS, Digit, Factor, Lines, View, Windows};
#[cfg(target_arch = "x86_64")]
pub use self::{
    amx::Amx,
    avx2::{Avx2, Factored},
    avx512::Avx512,
    dot::Dot,
    pack::{Element, PAIRS, SIDE, Truth, numbers},
    product::{Kernel, Stores, Sums, WIDE, kept_bytes, product, scratch_bytes},
    store::{Stored, store},
};

/// Granularity of kernel selection: the micro-kernel for a block of this many rows and columns depends only on their
/// data. Tilings whose cuts are multiples of it therefore give the same bits.
pub const GRAIN: usize = 64;
/// Rows and columns that are multiplied at a time at most.
pub const MOST: [usize; 2] = [2048, 1024];

/// The arithmetic units that compute products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Units {
    /// The library, everywhere.
    Library,
    /// Fused multiply-adds of AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Fused multiply-adds of AVX-512, of AVX2 for windows of f64, and of pairs of bf16 on AMD's processors.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// As `Avx512`, and tiles of AMX for bf16.
    #[cfg(target_arch = "x86_64")]
    Amx,
}

impl Units {
    /// The best that the processor has.
    pub fn detect() -> Units {
        #[cfg(target_arch = "x86_64")]
        {
            if Amx::detect().is_some() {
                return Units::Amx;
            }
            if Avx512::detect().is_some() {
                return Units::Avx512;
            }
            if Avx2::detect().is_some() {
                return Units::Avx2;
            }
        }
        Units::Library
    }
}
