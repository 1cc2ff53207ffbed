//! Functions of one matrix or one line, called by the runtime for ops that no kernel computes. Based on `faer` and
//! `rustfft`.
//!
//! A matrix is a slice in column-major order. Results are those defined by the ops (docs/dialects/fusion.md), signs and
//! pivots included; results of crates with other conventions are converted here. It is a crate of its own because the
//! code of these crates is large: it is compiled once, and not with each change of the runtime.
//!
//! Knows neither artifacts nor threads, and never panics: if lengths disagree, results are not written.

#![forbid(unsafe_code)]

mod factor;
mod fourier;
mod orthogonal;
mod spectrum;
#[cfg(test)]
mod tests;

pub use factor::{cholesky, lu, substitute, triangular_solve};
pub use fourier::{Lines, fourier};
pub use orthogonal::{householder_product, qr};
pub use spectrum::{eigh, svd};

/// Elements of matrices and lines.
pub trait Real: faer::traits::RealField + rustfft::FftNum + Copy {
    /// No number.
    const NAN: Self;
    /// The distance from one to the next number.
    const EPSILON: Self;
    /// True for numbers that are not infinite.
    fn finite(self) -> bool;
    /// True if the sign is set, that of a zero too.
    fn negative(self) -> bool;
    /// The square root.
    fn root(self) -> Self;
    /// The magnitude.
    fn magnitude(self) -> Self;
    /// `n`, rounded.
    fn of(n: usize) -> Self;
    /// The number in double precision.
    fn wide(self) -> f64;
    /// The number in this precision, rounded.
    fn narrow(wide: f64) -> Self;
}

macro_rules! real {
    ($($ty:ty)*) => {$(
        impl Real for $ty {
            const NAN: Self = Self::NAN;
            const EPSILON: Self = Self::EPSILON;
            fn finite(self) -> bool {
                self.is_finite()
            }
            fn negative(self) -> bool {
                self.is_sign_negative()
            }
            fn root(self) -> Self {
                self.sqrt()
            }
            fn magnitude(self) -> Self {
                self.abs()
            }
            fn of(n: usize) -> Self {
                n as Self
            }
            fn wide(self) -> f64 {
                self.into()
            }
            fn narrow(wide: f64) -> Self {
                wide as Self
            }
        }
    )*};
}
real!(f32 f64);

/// True for `-0`.
fn negative_zero<T: Real>(x: T) -> bool {
    x == T::zero() && x.negative()
}

/// `x - term`, where a zero leaves `x` as it is: the sum of zeros that is subtracted is `+0`.
fn subtracted<T: Real>(x: T, term: T) -> T {
    match term == T::zero() {
        true => x,
        false => x - term,
    }
}

/// True if a matrix of so many rows and columns has these elements.
fn fits<T>(elements: &[T], [rows, columns]: [usize; 2]) -> bool {
    rows.checked_mul(columns) == Some(elements.len())
}
