//! The runner's own tests: files of `tests/lit/cases/` whose name begins with the outcome that they must have.
//!
//! `fail-pipe.test` must be reported as a failure, `xpass-star.test` as an unexpected pass, and so on. They stand outside `lit-tests/`,
//! since stock lit would report them as the failures that they are meant to be.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};

use crate::run::{Outcome, Runner};
use crate::{discover, relative_name};

/// Seconds; `timeout-*.test` sleep for longer.
const SHORT_LIMIT: u32 = 2;

/// One trial for each case.
pub fn trials(root: &Path, runner: &Arc<Runner>) -> Result<Vec<Trial>, String> {
    let files = discover(&root.join("tests/lit/cases"))?;
    let trial = |file: PathBuf| {
        let name = relative_name(root, &file);
        let runner = Arc::clone(runner);
        Trial::test(name.clone(), move || check(&runner, &file, &name))
    };
    Ok(files.into_iter().map(trial).collect())
}

fn check(runner: &Runner, file: &Path, name: &str) -> Result<(), Failed> {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let expected = stem.split('-').next().unwrap_or_default();
    let limit = if expected == "timeout" {
        SHORT_LIMIT
    } else {
        60
    };
    let (actual, report) = describe(runner.run_within(file, name, limit));
    match actual == expected {
        true => Ok(()),
        false => Err(format!("expected {expected}, got {actual}: {report}").into()),
    }
}

fn describe(outcome: Outcome) -> (&'static str, String) {
    match outcome {
        Outcome::Pass => ("pass", String::new()),
        Outcome::ExpectedFailure => ("xfail", String::new()),
        Outcome::Unsupported(reason) => ("unsupported", reason),
        Outcome::Fail(report) if report.starts_with("no end within") => ("timeout", report),
        Outcome::Fail(report) => ("fail", report),
        Outcome::UnexpectedPass(report) => ("xpass", report),
        Outcome::Unresolved(report) => ("unresolved", report),
    }
}
