//! The oracle that NVIDIA's assembler accepts the PTX of a case compiled for a GPU.
//!
//! Nothing runs: this machine may have no GPU. The assembler finds registers that do not exist, types that clash,
//! alignments that cannot be, and instructions that the architecture lacks.

use std::path::{Path, PathBuf};
use std::process::Command;

use fuser::compile::{CompileOptions, Target, compile};
use fuser_artifact::Code;

use super::refusal::{self, Written};
use super::{Finding, guard};
use crate::generate::Case;

/// Architectures: the oldest that is supported, and a newer one.
pub const ARCHITECTURES: [&str; 2] = ["sm_80", "sm_90"];

/// The outcome of a case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// All kernels were assembled.
    Assembled {
        /// The number of kernels.
        kernels: usize,
    },
    /// A limit that is stated.
    Refused(String),
    /// A broken promise.
    Found(Finding),
}

/// The assembler that the test set-up fetches, if it did.
pub fn fetched() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.cache/ptxas/ptxas");
    path.is_file().then_some(path)
}

/// Compiles a copy of the case for `architecture` and assembles its kernels. `passes` as for `compiled`.
/// `written` says who wrote the kernels.
pub fn check(
    case: &Case,
    architecture: &str,
    passes: Option<String>,
    written: Written,
    assembler: &Path,
) -> Outcome {
    let stage = format!("ptx {architecture}");
    let options = CompileOptions {
        target: Target::by_name(&format!("cuda:{architecture}")).unwrap_or_default(),
        passes,
        program: None,
        ..CompileOptions::default()
    };
    let compiled = match guard::run(&stage, || compile(&case.ir, case.module, &options)) {
        Err(finding) => return Outcome::Found(finding),
        Ok(Err(diagnostics)) => {
            return refusal::judge(stage, &diagnostics, written)
                .map_or_else(Outcome::Found, Outcome::Refused);
        }
        Ok(Ok(compiled)) => compiled,
    };
    // The code of several kernels may be one text.
    let mut texts: Vec<&str> = Vec::new();
    for kernel in compiled.artifact.versions().flat_map(|v| &v.kernels) {
        match &kernel.code {
            Code::Ptx(text) if !texts.contains(&text.as_str()) => texts.push(text),
            Code::Ptx(_) => {}
            Code::Object(_) => {
                return Outcome::Found(Finding::new(stage, "a kernel is no PTX"));
            }
        }
    }
    match texts
        .iter()
        .find_map(|text| assemble(text, architecture, assembler))
    {
        Some(what) => Outcome::Found(Finding::new(stage, what)),
        None => Outcome::Assembled {
            kernels: compiled.artifact.kernels.len(),
        },
    }
}

/// The assembler's message against a text, if it rejects it.
fn assemble(text: &str, architecture: &str, assembler: &Path) -> Option<String> {
    let thread = format!("{:?}", std::thread::current().id());
    let thread: String = thread.chars().filter(char::is_ascii_digit).collect();
    let name = format!("fuser-fuzzing-{}-{thread}.ptx", std::process::id());
    let path = std::env::temp_dir().join(name);
    if let Err(error) = std::fs::write(&path, text) {
        return Some(format!("cannot write {}: {error}", path.display()));
    }
    let output = Command::new(assembler)
        .args(["-arch", architecture, "-o", "/dev/null"])
        .arg(&path)
        .output();
    // A leftover file does no harm.
    let _ = std::fs::remove_file(&path);
    match output {
        Ok(output) if output.status.success() => None,
        Ok(output) => {
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            let told = told.replace(&path.display().to_string(), "ptx");
            Some(format!("is not assembled: {}", told.trim()))
        }
        Err(error) => Some(format!("{} does not run: {error}", assembler.display())),
    }
}
