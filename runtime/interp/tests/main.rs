//! The interpreter: ops, control flow, and the bounds of the reference mode.

mod common;
mod complex;
mod control;
mod devices;
mod maps;
mod numpy;
mod races;
mod random;
mod reference;
mod sampled;
mod shapes;
