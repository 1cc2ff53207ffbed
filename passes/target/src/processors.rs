//! The processors for which code is made, by kind of machine: the compiling machine's own, the levels of x86-64, and
//! AArch64; AMD's GPUs. NVIDIA's GPUs have numbers, the figure `capability`.

use crate::Kind;

/// The processor of the compiling machine.
pub const NATIVE: &str = "native";

/// The levels of x86-64, lowest first, each with the features that it adds to the level before, by LLVM's names (from
/// the x86-64 psABI).
pub const X86_LEVELS: [(&str, &[&str]); 4] = [
    ("x86-64", &["sse2"]),
    (
        "x86-64-v2",
        &[
            "cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3",
        ],
    ),
    (
        "x86-64-v3",
        &[
            "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave",
        ],
    ),
    (
        "x86-64-v4",
        &["avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"],
    ),
];

/// Any 64-bit Arm processor, with the features of Armv8.0-A that code uses: vectors of 16 bytes with fused multiply-add,
/// rounding and conversions of f16.
pub const AARCH64: (&str, &[&str]) = ("aarch64", &["neon"]);

/// The GPUs of AMD for which code is made, by LLVM's names: CDNA 3 (MI300).
pub const AMD: [&str; 1] = ["gfx942"];

/// The processors of a kind of machine, the default first. NVIDIA's GPUs have none.
pub fn of(kind: Kind) -> Vec<&'static str> {
    match kind {
        Kind::Cpu => {
            let levels = X86_LEVELS.iter().map(|(name, _)| *name);
            let own = std::iter::once(NATIVE);
            own.chain(levels).chain([AARCH64.0]).collect()
        }
        Kind::Cuda => Vec::new(),
        Kind::Hip => AMD.to_vec(),
    }
}

/// The table's own copy of `name`; `None` if `kind` has no processor of that name.
pub fn known(kind: Kind, name: &str) -> Option<&'static str> {
    of(kind).into_iter().find(|known| *known == name)
}
