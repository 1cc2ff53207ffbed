//! Finds LLVM's shared library at build time: its path is compiled in, and is where LLVM is looked for first when it is needed.
//!
//! Asks the same `llvm-config` as `llvm-sys`. A machine without one builds too; then only the loader's own search is left.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable of `llvm-sys` that names the folder of LLVM.
const PREFIX: &str = "LLVM_SYS_221_PREFIX";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed={PREFIX}");
    println!("cargo:rerun-if-env-changed=PATH");
    if let Some(path) = library() {
        println!("cargo:rustc-env=FUSER_LLVM={}", path.display());
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
