//! Computes the digest of the sources that determine a program's artifact, which is part of the key of cached
//! artifacts.

#[path = "../digest.rs"]
mod digest;

/// The crates and the releases of dependencies that artifacts depend on, from here.
const SOURCES: [&str; 5] = [
    "..",
    "../../dialect",
    "../../runtime/artifact/src",
    "../../src/session",
    "../../Cargo.lock",
];

fn main() {
    let release = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let digest = digest::digest(&SOURCES);
    println!("cargo:rustc-env=FUSER_PASSES={release}-{digest:016x}");
}
