//! Finds LLVM at build time, and links a shared library of those parts of it that compiling takes. The paths of that library and of LLVM's own
//! are compiled in, and are where LLVM is looked for first when it is needed.
//!
//! LLVM's own library exports each of its symbols, so that loading it resolves 15,600 of them by name; one that exports nothing but the
//! functions of `src/llvm/functions.rs` is loaded in a quarter of the time. It is made where `llvm-config` gives static archives and a C++
//! compiler links them; elsewhere LLVM's own library does.
//!
//! Asks the same `llvm-config` as `llvm-sys`. A machine without one builds too; then only the loader's own search is left. Also makes the digest
//! of the sources that decide what code a kernel becomes, by which compiled kernels are kept.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "../digest.rs"]
mod digest;

use digest::{digest, list};

/// The variable of `llvm-sys` that names the folder of LLVM.
const PREFIX: &str = "LLVM_SYS_221_PREFIX";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed={PREFIX}");
    println!("cargo:rerun-if-env-changed=PATH");
    println!("cargo:rerun-if-env-changed=CXX");
    println!("cargo:rustc-env=FUSER_SOURCES={:016x}", digest(&SOURCES));
    let Some(config) = config() else { return };
    if let Some(path) = library(&config) {
        println!("cargo:rustc-env=FUSER_LLVM={}", path.display());
    }
    if let Some(path) = own_library(&config) {
        println!("cargo:rustc-env=FUSER_OWN_LLVM={}", path.display());
    }
}

/// The crates and the releases of dependencies that code depends on, from here.
const SOURCES: [&str; 7] = [
    "src",
    "../../dialect/fusion",
    "../../dialect/kernel",
    "../../dialect/ir/src",
    "../target/src",
    "../../runtime/artifact/src",
    "../../Cargo.lock",
];

fn config() -> Option<PathBuf> {
    let folder = env::var_os(PREFIX).map(|prefix| Path::new(&prefix).join("bin"));
    let names = ["llvm-config-22", "llvm-config22", "llvm-config"];
    let config = names.map(|name| folder.clone().unwrap_or_default().join(name));
    let is_22 =
        |config: &PathBuf| answer(config, &["--version"]).is_some_and(|v| v.starts_with("22.1"));
    config.into_iter().find(is_22)
}

fn library(config: &Path) -> Option<PathBuf> {
    let library = answer(config, &["--link-shared", "--libnames"])?;
    Some(Path::new(&answer(config, &["--libdir"])?).join(library))
}

/// Links the archives of LLVM into a library, unless an up-to-date one exists. `None` if there are no archives, or if
/// they do not link.
fn own_library(config: &Path) -> Option<PathBuf> {
    const FUNCTIONS: &str = "src/llvm/functions.rs";
    if env::var_os("TARGET") != env::var_os("HOST")
        || env::var("CARGO_CFG_TARGET_OS").ok()? != "linux"
    {
        return None;
    }
    let mut archives = Vec::new();
    list(Path::new(&answer(config, &["--libdir"])?), &mut archives);
    archives.retain(|path| {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or("");
        name.starts_with("libLLVM") && name.ends_with(".a")
    });
    archives.sort();
    archives.first()?;
    let out = PathBuf::from(env::var_os("OUT_DIR")?);
    let made = out.join("libfuser-llvm.so");
    let changed = |path: &Path| fs::metadata(path).and_then(|file| file.modified()).ok();
    let newest = archives
        .iter()
        .map(PathBuf::as_path)
        .chain([Path::new(FUNCTIONS), Path::new("build.rs")])
        .map(changed)
        .max()?;
    if changed(&made) > newest {
        return Some(made);
    }
    let functions = fs::read_to_string(FUNCTIONS).ok()?;
    let words = functions.split_whitespace();
    let is_name = |word: &&str| {
        word.starts_with("LLVM")
            && word
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let names: Vec<&str> = words.filter(is_name).collect();
    let (exports, linked) = (out.join("exports"), out.join("linked"));
    fs::write(
        &exports,
        format!("{{ global: {}; local: *; }};", names.join("; ")),
    )
    .ok()?;
    let compiler = env::var_os("CXX").unwrap_or("c++".into());
    // Other libraries are part of it where they come as archives, so that it runs on machines without them. Else they are those that LLVM's own
    // needs, and so are where it is; by the names of files, because links to them come with headers.
    let others = [
        ("libz.a", "libz.so.1"),
        ("libzstd.a", "libzstd.so.1"),
        ("libffi.a", "libffi.so.8"),
    ];
    let found = |archive: &str| {
        let path = answer(
            Path::new(&compiler),
            &[&format!("-print-file-name={archive}")],
        );
        path.is_some_and(|path| Path::new(&path).is_absolute())
    };
    let link = |archived: bool| {
        let others = others.map(|(archive, shared)| match archived && found(archive) {
            true => format!("-l:{archive}"),
            false => format!("-l:{shared}"),
        });
        let mut command = Command::new(&compiler);
        command
            .args(["-shared", "-static-libstdc++", "-static-libgcc", "-o"])
            .arg(&linked)
            .arg(format!("-Wl,--version-script={}", exports.display()))
            .arg("-Wl,-Bsymbolic,--gc-sections,--as-needed,-s,-z,defs,-z,now,-z,pack-relative-relocs")
            .args(names.iter().map(|name| format!("-Wl,-u,{name}")))
            .arg("-Wl,--start-group")
            .args(&archives)
            .args(["-Wl,--end-group", "-lm", "-ldl", "-lpthread"])
            .args(others);
        command.output().is_ok_and(|output| output.status.success())
    };
    let done = link(true) || link(false);
    (done && fs::rename(&linked, &made).is_ok()).then_some(made)
}

fn answer(config: &Path, question: &[&str]) -> Option<String> {
    let output = Command::new(config).args(question).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_string())
}
