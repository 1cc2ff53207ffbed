//! Compiling, as `fuser-compile` does it, and loading the result for the runtime, which knows nothing of the compiler.

#[cfg(feature = "codegen")]
mod load;

pub use fuser_compile::*;
#[cfg(feature = "codegen")]
pub use load::Loader;
