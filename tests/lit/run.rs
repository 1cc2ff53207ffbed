//! Runs one test: its commands in bash, under `pipefail`, each only if the one before it succeeded, all within a time limit.
//!
//! Each test has a folder of its own, emptied first: nothing of an earlier run, and nothing of another test, can make it pass.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::features::Features;
use crate::script::{Script, Substitutions};

/// Seconds for all commands of one test. The slowest takes a few in a debug build on two cores; a test that reaches this hangs.
const TIME_LIMIT: u32 = 120;

/// Seconds between asking a test that ran out of time to stop and killing it.
const GRACE: u32 = 5;

/// Exit status of `timeout` when the time is over.
const TIMED_OUT: i32 = 124;

/// Bytes of each stream that a report shows; the end is kept, since errors stand there.
const SHOWN_OUTPUT: usize = 16 * 1024;

/// The outcome of a test. The names are stock lit's.
pub enum Outcome {
    Pass,
    ExpectedFailure,
    Unsupported(String),
    Fail(String),
    UnexpectedPass(String),
    /// The file is not a test that this runner can run.
    Unresolved(String),
}

/// The state that all tests of a run share.
pub struct Runner {
    pub features: Features,
    pub tools: PathBuf,
    pub scratch: PathBuf,
}

impl Runner {
    /// Runs the test in `file`; `name` is unique among the tests of this runner.
    pub fn run(&self, file: &Path, name: &str) -> Outcome {
        self.run_within(file, name, TIME_LIMIT)
    }

    /// Like [`Runner::run`], with a time limit in seconds.
    pub fn run_within(&self, file: &Path, name: &str, limit: u32) -> Outcome {
        self.try_run(file, name, limit)
            .unwrap_or_else(Outcome::Unresolved)
    }

    fn try_run(&self, file: &Path, name: &str, limit: u32) -> Result<Outcome, String> {
        let text = fs::read_to_string(file).map_err(|error| error.to_string())?;
        let script = Script::parse(&text)?;
        if let Some(reason) = script.unsupported_reason(&self.features)? {
            return Ok(Outcome::Unsupported(reason));
        }
        let directory = self.empty_directory(name)?;
        let program = bash_program(&script, file, &directory)?;
        let output = self.execute(&program, &directory, limit)?;
        let report = || report(&program, &output, limit);
        Ok(
            match (
                output.status.success(),
                script.expects_failure(&self.features)?,
            ) {
                (true, false) => Outcome::Pass,
                (false, false) => Outcome::Fail(report()),
                (false, true) => Outcome::ExpectedFailure,
                (true, true) => {
                    Outcome::UnexpectedPass(format!("passes, and is marked XFAIL\n{}", report()))
                }
            },
        )
    }

    fn empty_directory(&self, name: &str) -> Result<PathBuf, String> {
        let directory = self.scratch.join("out").join(name);
        let context = |error| format!("cannot prepare {}: {error}", directory.display());
        if directory.exists() {
            fs::remove_dir_all(&directory).map_err(context)?;
        }
        fs::create_dir_all(&directory).map_err(context)?;
        Ok(directory)
    }

    fn execute(&self, program: &str, directory: &Path, limit: u32) -> Result<Output, String> {
        Command::new("timeout")
            .arg(format!("--kill-after={GRACE}"))
            .args([&limit.to_string(), "bash", "-c", program])
            .current_dir(directory)
            .env("PATH", self.search_path()?)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("cannot run `timeout` and `bash`: {error}"))
    }

    fn search_path(&self) -> Result<OsString, String> {
        let inherited = env::var_os("PATH").unwrap_or_default();
        let directories = std::iter::once(self.tools.clone()).chain(env::split_paths(&inherited));
        env::join_paths(directories).map_err(|error| error.to_string())
    }
}

/// One bash program for all commands. Before each it says on stderr which it is, so that a report shows how far the test came.
fn bash_program(script: &Script, file: &Path, directory: &Path) -> Result<String, String> {
    let base = file.file_name().unwrap_or_default().to_string_lossy();
    let substitutions = Substitutions {
        source: file,
        directory: file.parent().unwrap_or(Path::new(".")),
        temporary: &directory.join(format!("{base}.tmp")),
    };
    let mut program = "set -o pipefail\ntrue".to_owned();
    for command in &script.commands {
        let text = substitutions.apply(&command.text)?;
        program.push_str(&format!(
            " &&\necho '-- RUN, line {}' >&2 && {{ {text}\n}}",
            command.line
        ));
    }
    program.push('\n');
    Ok(program)
}

fn report(program: &str, output: &Output, limit: u32) -> String {
    let ending = match output.status.code() {
        Some(TIMED_OUT) => format!("no end within {limit} s"),
        _ => output.status.to_string(),
    };
    format!(
        "{ending}\n==== commands\n{program}==== stdout\n{}==== stderr\n{}====",
        shown(&output.stdout),
        shown(&output.stderr)
    )
}

fn shown(stream: &[u8]) -> String {
    let hidden = stream.len().saturating_sub(SHOWN_OUTPUT);
    let text = String::from_utf8_lossy(stream.get(hidden..).unwrap_or_default());
    let note = match hidden {
        0 => String::new(),
        _ => format!("(the first {hidden} bytes are not shown)\n"),
    };
    let end = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    format!("{note}{text}{end}")
}
