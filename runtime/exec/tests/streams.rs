//! A stream that was closed when the process began is known, though Rust's start-up opened something in its place.

use std::process::Command;

use fuser_runtime::streams::{Standard, was_closed};

/// The variable that gives the expected streams to the process that runs this test again.
const EXPECTED: &str = "FUSER_TEST_CLOSED";

#[test]
fn a_stream_that_was_closed_is_known() {
    if let Ok(expected) = std::env::var(EXPECTED) {
        let seen = [Standard::Input, Standard::Output, Standard::Error].map(was_closed);
        let seen: String = seen.map(|c| if c { 'c' } else { 'o' }).iter().collect();
        std::process::exit(i32::from(seen != expected));
    }
    let own = std::env::current_exe().unwrap();
    let test = "a_stream_that_was_closed_is_known";
    let cases = [("", "ooo"), ("<&-", "coo"), (">&-", "oco"), ("2>&-", "ooc")];
    for (streams, expected) in cases {
        let line = format!("exec '{}' --exact {test} {streams}", own.display());
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).env(EXPECTED, expected);
        let done = shell.output().unwrap();
        assert!(done.status.success(), "{streams}: {done:?}");
    }
}
