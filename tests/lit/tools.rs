//! The tools that tests may call, gathered in one folder that is put first on `PATH`: the binaries under test and, of LLVM, FileCheck,
//! `llc`, `not` and `split-file`; `ptxas` where there is one.
//!
//! In validating mode `fuser-opt` is a wrapper that adds `--validate` to whatever a test passes, so that no test's text changes.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// The tools of LLVM that tests use.
const LLVM_TOOLS: [&str; 4] = ["FileCheck", "llc", "not", "split-file"];

/// The LLVM whose tools the tests are written for. Distributions install several beside each other.
const LLVM_MAJOR: &str = "22";

/// The first argument of `fuser-opt` where it names a command instead of running passes.
const COMMANDS_WITHOUT_PASSES: &str = "help|explain";

/// The filled folder.
pub struct Tools {
    pub directory: PathBuf,
    pub ptxas: bool,
}

impl Tools {
    /// Makes `directory` anew and fills it.
    pub fn install(directory: &Path, validate: bool) -> Result<Self, String> {
        let context = |error: io::Error| format!("cannot prepare {}: {error}", directory.display());
        if directory.exists() {
            fs::remove_dir_all(directory).map_err(context)?;
        }
        fs::create_dir_all(directory).map_err(context)?;
        for (name, path) in binaries() {
            install_binary(&directory.join(name), path, validate).map_err(context)?;
        }
        for name in LLVM_TOOLS {
            let found = find_llvm_tool(name).ok_or_else(|| missing(name))?;
            symlink(found, directory.join(name)).map_err(context)?;
        }
        let ptxas = find_ptxas();
        if let Some(path) = &ptxas {
            symlink(path, directory.join("ptxas")).map_err(context)?;
        }
        Ok(Self {
            directory: directory.to_path_buf(),
            ptxas: ptxas.is_some(),
        })
    }
}

/// The binaries of this workspace that exist.
fn binaries() -> impl Iterator<Item = (&'static str, &'static str)> {
    let all = [
        ("fuser-opt", option_env!("CARGO_BIN_EXE_fuser-opt")),
        ("fuser-run", option_env!("CARGO_BIN_EXE_fuser-run")),
        (
            "fuser-translate",
            option_env!("CARGO_BIN_EXE_fuser-translate"),
        ),
        ("fuser-reduce", option_env!("CARGO_BIN_EXE_fuser-reduce")),
    ];
    all.into_iter()
        .filter_map(|(name, path)| Some((name, path?)))
}

fn install_binary(at: &Path, binary: &str, validate: bool) -> io::Result<()> {
    if !validate || !at.ends_with("fuser-opt") {
        return symlink(binary, at);
    }
    let wrapper = format!(
        "#!/bin/sh\ncase \"$1\" in {COMMANDS_WITHOUT_PASSES}) exec '{binary}' \"$@\" ;; esac\nexec '{binary}' \"$@\" --validate\n"
    );
    fs::write(at, wrapper)?;
    fs::set_permissions(at, fs::Permissions::from_mode(0o755))
}

fn missing(tool: &str) -> String {
    format!(
        "`{tool}` of LLVM {LLVM_MAJOR} was not found (looked for {tool} in /usr/lib/llvm-{LLVM_MAJOR}/bin, then for {tool}-{LLVM_MAJOR} \
         and {tool} on PATH); ./scripts/setup.sh installs it"
    )
}

fn find_llvm_tool(name: &str) -> Option<PathBuf> {
    let packaged = PathBuf::from(format!("/usr/lib/llvm-{LLVM_MAJOR}/bin/{name}"));
    existing(packaged)
        .or_else(|| find_on_path(format!("{name}-{LLVM_MAJOR}")))
        .or_else(|| find_on_path(name))
}

/// `$PTXAS`, then what `scripts/test.sh` fetched, then `PATH`.
fn find_ptxas() -> Option<PathBuf> {
    let fetched = Path::new(env!("CARGO_MANIFEST_DIR")).join(".cache/ptxas/ptxas");
    env::var_os("PTXAS")
        .map(PathBuf::from)
        .and_then(existing)
        .or_else(|| existing(fetched))
        .or_else(|| find_on_path("ptxas"))
}

fn find_on_path(name: impl AsRef<OsStr>) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|directory| directory.join(name.as_ref()))
        .find_map(existing)
}

fn existing(path: PathBuf) -> Option<PathBuf> {
    path.is_file().then_some(path)
}
