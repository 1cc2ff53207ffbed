//! Discrete Fourier transforms of lines.

use std::sync::Arc;

use rustfft::num_complex::Complex;
use rustfft::{Fft, FftPlanner};

use crate::Real;

/// A transform of lines of one length. Planned once, used by any number of threads.
#[derive(Clone)]
pub struct Lines<T: Real> {
    plan: Arc<dyn Fft<T>>,
    inverse: bool,
}

impl<T: Real> std::fmt::Debug for Lines<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Lines({}, {})", self.plan.len(), self.inverse)
    }
}

impl<T: Real> PartialEq for Lines<T> {
    fn eq(&self, other: &Self) -> bool {
        self.plan.len() == other.plan.len() && self.inverse == other.inverse
    }
}

impl<T: Real> Eq for Lines<T> {}

impl<T: Real> Lines<T> {
    /// The transform of lines of this length, or its inverse.
    pub fn new(length: usize, inverse: bool) -> Self {
        let mut planner = FftPlanner::new();
        let plan = match inverse {
            true => planner.plan_fft_inverse(length),
            false => planner.plan_fft_forward(length),
        };
        Self { plan, inverse }
    }
}

/// Transforms a line of so many elements in place, real and imaginary parts; the inverse is divided by their number.
pub fn fourier<T: Real>(lines: &Lines<T>, real: &mut [T], imaginary: &mut [T]) {
    let length = lines.plan.len();
    if real.len() != length || imaginary.len() != length || length == 0 {
        return;
    }
    if !real.iter().chain(&*imaginary).all(|x| x.finite()) {
        real.fill(T::NAN);
        imaginary.fill(T::NAN);
        return;
    }
    let pairs = real.iter().zip(&*imaginary);
    let mut line: Vec<Complex<T>> = pairs.map(|(re, im)| Complex::new(*re, *im)).collect();
    lines.plan.process(&mut line);
    let count = T::of(length);
    let places = real.iter_mut().zip(imaginary);
    for ((re, im), found) in places.zip(line) {
        (*re, *im) = match lines.inverse {
            true => (found.re / count, found.im / count),
            false => (found.re, found.im),
        };
    }
}
