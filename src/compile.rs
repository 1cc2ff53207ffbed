//! Compilation by `fuser-compile`, and the loading of its result for the runtime, which does not depend on the
//! compiler.

#[cfg(feature = "codegen")]
mod load;

pub use fuser_compile::*;
#[cfg(feature = "codegen")]
pub use load::Loader;
