//! Finds LLVM's shared library at build time: its path is compiled in, and is where LLVM is looked for first when it is needed.
//!
//! Asks the same `llvm-config` as `llvm-sys`. A machine without one builds too; then only the loader's own search is left. Also makes the digest
//! of the sources that decide what code a kernel becomes, by which compiled kernels are kept.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable of `llvm-sys` that names the folder of LLVM.
const PREFIX: &str = "LLVM_SYS_221_PREFIX";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed={PREFIX}");
    println!("cargo:rerun-if-env-changed=PATH");
    for source in SOURCES.iter().filter(|source| Path::new(source).exists()) {
        println!("cargo:rerun-if-changed={source}");
    }
    println!("cargo:rustc-env=FUSER_SOURCES={:016x}", digest());
    if let Some(path) = library() {
        println!("cargo:rustc-env=FUSER_LLVM={}", path.display());
    }
}

/// The crates and the releases of dependencies that code depends on, from here.
const SOURCES: [&str; 6] = [
    "src",
    "../../dialect/src",
    "../../dialect/ir/src",
    "../target/src",
    "../../runtime/artifact/src",
    "../../Cargo.lock",
];

/// 64 bits of FNV-1a over paths and contents, in the order of the paths.
fn digest() -> u64 {
    let mut files = Vec::new();
    SOURCES
        .iter()
        .for_each(|source| list(Path::new(source), &mut files));
    files.sort();
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    files.iter().fold(0xcbf2_9ce4_8422_2325, |hash, file| {
        let hash = file.as_os_str().as_encoded_bytes().iter().fold(hash, mix);
        fs::read(file).unwrap_or_default().iter().fold(hash, mix)
    })
}

fn list(path: &Path, files: &mut Vec<PathBuf>) {
    match fs::read_dir(path) {
        Ok(entries) => entries
            .flatten()
            .for_each(|entry| list(&entry.path(), files)),
        Err(_) => files.push(path.to_owned()),
    }
}

fn library() -> Option<PathBuf> {
    let folder = env::var_os(PREFIX).map(|prefix| Path::new(&prefix).join("bin"));
    let names = ["llvm-config-22", "llvm-config22", "llvm-config"];
    let config = names.map(|name| folder.clone().unwrap_or_default().join(name));
    let is_22 =
        |config: &&PathBuf| answer(config, &["--version"]).is_some_and(|v| v.starts_with("22.1"));
    let config = config.iter().find(is_22)?;
    let library = answer(config, &["--link-shared", "--libnames"])?;
    Some(Path::new(&answer(config, &["--libdir"])?).join(library))
}

fn answer(config: &Path, question: &[&str]) -> Option<String> {
    let output = Command::new(config).args(question).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_string())
}
