//! Code generation: the math library, conversions, elementwise ops, whole kernels, targets.

mod convert;
mod documentation;
mod elementwise;
#[path = "kernels/main.rs"]
mod kernels;
mod math_exhaustive;
mod math_f32;
mod math_f64;
mod processors;
mod quotients;
mod support;
mod targets;
