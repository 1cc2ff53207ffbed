//! The processors for which CPU code is made: the compiling machine's own, and the levels of x86-64.

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

/// The names, [`NATIVE`] first.
pub fn names() -> impl Iterator<Item = &'static str> {
    std::iter::once(NATIVE).chain(X86_LEVELS.iter().map(|(name, _)| *name))
}

/// The table's own copy of `name`; `None` if it is unknown.
pub fn known(name: &str) -> Option<&'static str> {
    names().find(|known| *known == name)
}
