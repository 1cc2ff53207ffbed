//! AArch64: code is LLVM IR alone, for vectors of 16 bytes. Its minimum and maximum keep NaN as our ops do.

use fuser_target::processors::AARCH64;

use super::{Processor, turned_on};
use crate::target::Target;

/// The first part of its triples.
pub const NAME: &str = "aarch64";

/// LLVM's name for any processor.
const ANY: &str = "generic";

/// Any AArch64 processor.
pub fn any() -> Target {
    Target::Cpu {
        triple: "aarch64-unknown-linux-gnu".into(),
        cpu: AARCH64.0.into(),
        features: turned_on(AARCH64.1),
    }
}

/// The processor `cpu` in LLVM's terms.
pub fn processor<'a>(cpu: &'a str, features: &str) -> Processor<'a> {
    let name = if cpu == AARCH64.0 { ANY } else { cpu };
    (name, features.to_owned(), name)
}
