//! Softmax of rows of scores in vectors of the host processor: the maximum, the exponentials of the differences from
//! it, and their sum.
//!
//! ```text
//! scores:  1.0  3.0  -inf        greatest so far 3.0, that of the blocks before 2.0
//! weights: e^-2 1.0   0.0        sum 1.135; what was summed before is multiplied by e^-1
//! ```
//!
//! `exp` is a power of two times a polynomial of degree 7 on half an octave around 1. It is accurate to [`EXP_ULPS`]
//! units in the last place down to [`LEAST`], below which it is 0. `-inf` gives 0 and NaN gives NaN. The order of a sum
//! depends on the length of the row alone.

/// The number of scores in one step of the loops below. Rows are padded to whole steps.
pub const LANES: usize = 16;
/// The least argument whose exponential is not 0: it is a normal number.
pub const LEAST: f32 = -87.0;
/// The error bound of an exponential, in units in the last place.
#[cfg(test)]
pub const EXP_ULPS: f64 = 1.5;

/// A row so far: the greatest score, and the sum of the weights relative to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    pub greatest: f32,
    pub sum: f32,
}

impl Row {
    /// A row without scores.
    pub const EMPTY: Row = Row {
        greatest: f32::NEG_INFINITY,
        sum: 0.0,
    };
}

/// The instructions that rows are computed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vectors {
    /// Those that every processor of the target has.
    Plain,
    /// Vectors of 8, and products that are added before they are rounded.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Vectors of 16 besides.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Vectors {
    /// The widest ones of this processor.
    pub fn detect() -> Vectors {
        #[cfg(target_arch = "x86_64")]
        {
            let fused = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            if fused && is_x86_feature_detected!("avx512f") {
                return Vectors::Avx512;
            }
            if fused {
                return Vectors::Avx2;
            }
        }
        Vectors::Plain
    }

    /// Turns scores, a multiple of the step in number, into weights. Returns the row after them, and the correction
    /// factor for the earlier sums.
    pub fn weigh(self, scores: &mut [f32], row: Row) -> (Row, f32) {
        match self {
            Vectors::Plain => weigh::<{ cfg!(target_arch = "aarch64") }>(scores, row),
            // SAFETY: only `detect` gives these, on a processor that has the instructions.
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx2 => unsafe { weigh_avx2(scores, row) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx512 => unsafe { weigh_avx512(scores, row) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn weigh_avx2(scores: &mut [f32], row: Row) -> (Row, f32) {
    weigh::<true>(scores, row)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma")]
fn weigh_avx512(scores: &mut [f32], row: Row) -> (Row, f32) {
    weigh::<true>(scores, row)
}

#[inline(always)]
fn weigh<const FUSED: bool>(scores: &mut [f32], row: Row) -> (Row, f32) {
    let mut greatest = [row.greatest; LANES];
    let (steps, _) = scores.as_chunks_mut::<LANES>();
    for step in steps.iter() {
        for (most, &x) in greatest.iter_mut().zip(step) {
            *most = if x > *most { x } else { *most };
        }
    }
    let greatest = greatest
        .iter()
        .fold(row.greatest, |a, &b| if b > a { b } else { a });
    // Where all is -inf every weight is 0.
    let base = if greatest == f32::NEG_INFINITY {
        0.0
    } else {
        greatest
    };
    let mut sums = [0.0; LANES];
    for step in steps.iter_mut() {
        for (sum, x) in sums.iter_mut().zip(step) {
            *x = exp::<FUSED>(*x - base);
            *sum += *x;
        }
    }
    let factor = exp::<FUSED>(row.greatest - base);
    let sum = row.sum * factor + pairwise(&sums);
    (Row { greatest, sum }, factor)
}

#[inline(always)]
fn pairwise(sums: &[f32; LANES]) -> f32 {
    let mut sums = *sums;
    let mut half = LANES / 2;
    while half > 0 {
        for i in 0..half {
            sums[i] += sums[i + half];
        }
        half /= 2;
    }
    sums[0]
}

/// `a * b + c`, rounded once or twice.
#[inline(always)]
fn fma<const FUSED: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// The exponential of a number that is not much greater than 0.
#[inline(always)]
fn exp<const FUSED: bool>(x: f32) -> f32 {
    // Added to a number below 2^22 it leaves the nearest whole one in the low bits.
    const WHOLE: f32 = 12_582_912.0;
    // ln 2 in two parts, the first with zeros at its end.
    const LN2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    // 1/2!, 1/3!, ..., moved so that the error is spread over the interval (Cephes, expf).
    const TERMS: [f32; 6] = [
        0.5,
        0.166_666_65,
        0.041_665_796,
        8.333_452e-3,
        1.398_199_9e-3,
        1.987_569_1e-4,
    ];
    let shifted = fma::<FUSED>(x, std::f32::consts::LOG2_E, WHOLE);
    let whole = shifted - WHOLE;
    let r = fma::<FUSED>(whole, -LN2[0], x);
    let r = fma::<FUSED>(whole, -LN2[1], r);
    let [c2, c3, c4, c5, c6, c7] = TERMS;
    let p = fma::<FUSED>(c7, r, c6);
    let p = fma::<FUSED>(p, r, c5);
    let p = fma::<FUSED>(p, r, c4);
    let p = fma::<FUSED>(p, r, c3);
    let p = fma::<FUSED>(p, r, c2);
    let p = fma::<FUSED>(p * r, r, r) + 1.0;
    // The whole number becomes an exponent.
    let power = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    let result = p * power;
    if x < LEAST { 0.0 } else { result }
}

#[cfg(test)]
#[path = "softmax_tests.rs"]
mod tests;
