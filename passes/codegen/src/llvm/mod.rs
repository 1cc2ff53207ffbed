//! LLVM's shared library, loaded when code is first compiled.
//!
//! Loading it takes milliseconds, for relocations and for the constructors of its options; a tool that only parses and
//! prints never needs it. Nothing links against it. Each function that `inkwell` names has a stub of that name here,
//! which jumps to the address in its slot; [`load`] opens the library and fills all slots. A stub called before that
//! ends the process.
//!
//! On systems other than Linux on x86-64 and AArch64, LLVM is linked as usual and [`load`] does nothing.
//!
//! There are four places, searched in this order: the library that this crate's build linked from LLVM's archives,
//! which loads in a quarter of the time; the path that `llvm-config` gave at build time; the former library where it
//! was installed with the program; the names that the system's loader searches.

use crate::error::CodegenError;

/// The release of LLVM that `inkwell` is for.
pub const RELEASE: (u32, u32) = (22, 1);

pub mod errors;
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod functions;
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod lazy;

/// Loads LLVM, once in a process, from whichever thread comes first. Code that uses `inkwell` must call it first.
pub fn load() -> Result<(), CodegenError> {
    #[cfg(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    lazy::load()?;
    Ok(())
}

/// The release of LLVM that generates the code; loads it.
pub fn version() -> Result<String, CodegenError> {
    load()?;
    let (major, minor, patch) = inkwell::support::get_llvm_version();
    Ok(format!("{major}.{minor}.{patch}"))
}

/// A text that identifies the library that [`load`] would load, without loading it. `None` if only the loader knows
/// that library.
pub fn stamp() -> Option<String> {
    #[cfg(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    return lazy::stamp();
    #[cfg(not(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    )))]
    return version().ok();
}
