//! CPUs: architectures, a file for each, and what code for all of them has in common.

pub mod aarch64;
mod one_lane;
pub mod x86;

use inkwell::module::Module;

use crate::error::CodegenError;

/// The LLVM passes for CPU kernels. They replace `default<O3>`, which takes at least five times as long for code that
/// is no faster. Kernels have no calls and no stack variables. Except for partial results, they never load stored
/// values. Lowering already gives loops and addresses the form that other passes would (`lower/func/counted.rs`,
/// `address.rs`). The purpose of each pass:
///
/// ```text
/// licm         hoists loop-invariant computations, addresses above all
/// early-cse    shares an index among all its accesses
/// licm         keeps partial results of an unrolled loop in registers: their loads and stores leave the loop around it
/// ```
///
/// Figures of each pass, and of passes left out: docs/performance.md.
pub const PASSES: &str = "function(loop-mssa(licm),early-cse<memssa>,loop-mssa(licm))";

/// Rewrites instructions of an optimized module for which LLVM has wrong code.
pub fn repair(module: &Module<'_>) -> Result<(), CodegenError> {
    one_lane::unmask(module)
}

/// A processor in LLVM's terms: a name, features beyond that name, and the processor to tune for.
pub type Processor<'a> = (&'a str, String, &'a str);

/// LLVM's feature string with these features.
pub fn turned_on<'a>(features: impl IntoIterator<Item = &'a &'a str>) -> String {
    let features = features.into_iter().map(|feature| format!("+{feature}"));
    features.collect::<Vec<_>>().join(",")
}

/// The first part of a triple.
pub fn architecture(triple: &str) -> &str {
    triple.split('-').next().unwrap_or_default()
}

/// True if an LLVM feature string turns `feature` on.
pub fn has(features: &str, feature: &str) -> bool {
    features
        .split(',')
        .any(|item| item.strip_prefix('+') == Some(feature))
}
