//! Runs every lit test of `lit-tests/` under `cargo test`.
//!
//! A test is a `.fir` or `.test` file that tells in its comments how it is run and checked: `RUN:` lines for bash, FileCheck of
//! LLVM for the output, `REQUIRES:`, `UNSUPPORTED:` and `XFAIL:` for what the machine must or must not have. The stock `lit` of LLVM
//! runs the same files by `lit-tests/lit.cfg.py`; this runner understands the part of its language that both share, and refuses
//! what only one of them has, so that a test never means two things. `docs/testing.md` is the manual.
//!
//! Guarantees: no test is passed over in silence (one that cannot run is reported as ignored, with the reason), a failing test
//! shows its commands, output and errors, and a run without a single test fails.
//!
//! Never links the compiler: tests see the binaries only.

mod condition;
mod features;
mod run;
mod script;
mod self_test;
mod tools;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Completion, Failed, Trial};

use features::Features;
use run::{Outcome, Runner};
use tools::Tools;

/// The mode in which the IR is executed before and after every pass: `FUSER_LIT_VALIDATE=1`.
const VALIDATE_VARIABLE: &str = "FUSER_LIT_VALIDATE";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let validate = std::env::var_os(VALIDATE_VARIABLE).is_some_and(|value| value == "1");
    let runner = match prepare(validate) {
        Ok(runner) => Arc::new(runner),
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::FAILURE;
        }
    };
    let trials = match trials(&runner) {
        Ok(trials) => trials,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::FAILURE;
        }
    };
    if !arguments.list {
        println!("\nlit features: {}", runner.features);
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn prepare(validate: bool) -> Result<Runner, String> {
    let mode = if validate { "lit-validate" } else { "lit" };
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join(mode);
    let tools = Tools::install(&scratch.join("bin"), validate)?;
    let features = Features::of_this_machine(&tools, validate);
    Ok(Runner {
        features,
        tools: tools.directory,
        scratch,
    })
}

fn trials(runner: &Arc<Runner>) -> Result<Vec<Trial>, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = discover(&root.join("lit-tests"))?;
    if files.is_empty() {
        return Err("no test under lit-tests/".to_owned());
    }
    let mut trials: Vec<Trial> = files
        .into_iter()
        .map(|file| lit_trial(root, file, Arc::clone(runner)))
        .collect();
    trials.extend(self_test::trials(root, runner)?);
    Ok(trials)
}

fn lit_trial(root: &Path, file: PathBuf, runner: Arc<Runner>) -> Trial {
    let name = relative_name(root, &file);
    let test = name.clone();
    Trial::ignorable_test(name, move || completion(runner.run(&file, &test)))
}

/// The outcome in the form of the test harness.
fn completion(outcome: Outcome) -> Result<Completion, Failed> {
    match outcome {
        Outcome::Pass | Outcome::ExpectedFailure => Ok(Completion::Completed),
        Outcome::Unsupported(reason) => Ok(Completion::ignored_with(reason)),
        Outcome::Fail(report) | Outcome::UnexpectedPass(report) | Outcome::Unresolved(report) => {
            Err(report.into())
        }
    }
}

/// Every test file under `directory`, sorted. Folders named `Inputs` hold what tests read and are not searched.
fn discover(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let mut pending = vec![directory.to_path_buf()];
    let mut files = Vec::new();
    while let Some(directory) = pending.pop() {
        let entries = std::fs::read_dir(&directory)
            .map_err(|error| format!("cannot read {}: {error}", directory.display()))?;
        for entry in entries {
            let path = entry.map_err(|error| error.to_string())?.path();
            if path.is_dir() {
                if path.file_name().is_none_or(|name| name != "Inputs") {
                    pending.push(path);
                }
            } else if is_test(&path) {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn is_test(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "fir" || extension == "test")
}

fn relative_name(root: &Path, file: &Path) -> String {
    let relative = file.strip_prefix(root).unwrap_or(file);
    relative.display().to_string()
}
