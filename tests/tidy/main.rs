//! The house rules, kept by a test.
//!
//! Each rule reads the sources as text, and names the file and the line where it is broken. The top of its file states
//! the rule, `ARCHITECTURE.md` the reason. Each rule is itself tested on a text that breaks it, so that none of them is
//! blind.
//!
//! Reads only; needs nothing but the checkout and `cargo metadata` without the network.

mod comments;
mod crates;
mod files;
mod flags;
mod hosts;
mod lanes;
mod merges;
mod modules;
mod ops;
mod passes;
mod rust;
mod source;
mod tables;
mod targets;

use std::fmt;

/// One place where a rule is broken. Line 0 is the file as a whole.
struct Violation {
    file: String,
    line: usize,
    what: String,
}

impl Violation {
    fn new(file: &str, line: usize, what: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            line,
            what: what.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.what)
    }
}

/// Fails with all of `violations`, one to a line.
fn assert_none(violations: &[Violation]) {
    let lines: Vec<String> = violations.iter().map(Violation::to_string).collect();
    assert!(lines.is_empty(), "\n{}\n", lines.join("\n"));
}
