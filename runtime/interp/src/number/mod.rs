//! Numbers: the stored elements, and the lanes in which ops compute.
//!
//! A lane is the form of an element while an op works on it: `f32` for f32 and narrower floats; `f64` for f64; [`Int`]
//! for all integers; [`Bounded`] for every float in reference mode.

pub mod bounded;
pub mod int;
pub mod lanes;
pub mod math;
pub(crate) mod reduce;
pub mod round;
pub mod rules;
pub mod sampling;
pub mod small;

pub use bounded::Bounded;
pub use int::Int;
pub use lanes::{Env, Number};
pub use rules::{MathUlps, Rules};
pub use sampling::Sample;
pub use small::{F4E2M1FN, F8E4M3FN, F8E5M2, F8E8M0FNU};
