//! Fuser as a library: the parts of the programs in `bin/`.
//!
//! - `driver`: the program `fuser-opt`.
//! - `compile`: turns a module into an artifact and loads its code.
//! - `program`: the compact interface of the library.
//! - `session`: the layer below, which loads, runs and checks programs.
//! - `run`: the program `fuser-run`.
//! - `tool`: code shared by the tools.
//! - `split`: splits a program into its segments and runs them as the whole.
//!
//! Files, arguments and the environment are read in this crate only.
#![forbid(unsafe_code)]

pub mod compile;
pub mod driver;
pub mod explorer;
pub mod program;
pub mod reduce;
pub mod run;
pub mod session;
pub mod split;
pub mod tool;
pub mod translate;

#[cfg(feature = "codegen")]
pub use program::{Bound, Compiled, OutputType};
pub use program::{Element, Error, Options, Program, Tensor};

pub use fuser_compile::INTERNAL;
pub use fuser_passes::catalog;
