//! The predicates that run commands: the user's own test, and the built-in ones for crashes and wrong results.
//!
//! A built-in predicate learns the exact failure from the original program, and accepts only programs with the same
//! failure: reduction must not slip from one bug to another.

use std::process::ExitStatus;
use std::sync::OnceLock;
use std::time::Duration;

use super::predicate::{Predicate, TestResult};
use super::shell::{Ended, ShellCommand};

/// Exit status of our tools after an internal error.
const INTERNAL_ERROR: i32 = 3;
/// Exit status of our tools where the command line is wrong.
const WRONG_USAGE: i32 = 2;
/// The shell's exit statuses for a command that it cannot find or may not run.
const NOT_RUN: [i32; 2] = [126, 127];
/// The code under which `fuser-opt --validate` reports a changed result.
const CHANGED_RESULT: &str = "[FIR0651]";

/// `--test`: the command exits with 0.
#[derive(Debug)]
pub struct Succeeds(pub ShellCommand);

/// `--crash`: the command exits with 3 or dies of a signal, with the same message each time.
#[derive(Debug)]
pub struct Crashes(Alike);

/// `--miscompile`: passes change what the program computes, the same pass each time.
#[derive(Debug)]
pub struct Miscompiles(Alike);

impl Succeeds {
    /// The command, as the user wrote it.
    pub fn new(command: &str, timeout: Duration) -> Self {
        Self(ShellCommand::new(command, timeout))
    }
}

impl Crashes {
    /// The command, as the user wrote it.
    pub fn new(command: &str, timeout: Duration) -> Self {
        Self(Alike::new(command, timeout))
    }
}

impl Miscompiles {
    /// The passes, as flags of `fuser-opt`.
    pub fn new(passes: &str, timeout: Duration) -> Self {
        let command = format!("fuser-opt {passes} --validate");
        Self(Alike::new(&command, timeout))
    }
}

impl Predicate for Succeeds {
    fn test(
        &self,
        text: &str,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<TestResult, String> {
        match run(&self.0, text, cancelled)? {
            Ended::Done { status, .. } => Ok(interesting(status.success())),
            ended => Ok(unfinished(&ended)),
        }
    }
}

impl Predicate for Crashes {
    fn test(
        &self,
        text: &str,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<TestResult, String> {
        self.0.test(text, cancelled, crash)
    }
}

impl Predicate for Miscompiles {
    fn test(
        &self,
        text: &str,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<TestResult, String> {
        self.0.test(text, cancelled, changed_result)
    }
}

/// A command whose symptom must stay the one that the first program showed.
#[derive(Debug)]
struct Alike {
    command: ShellCommand,
    first: OnceLock<String>,
}

impl Alike {
    fn new(command: &str, timeout: Duration) -> Self {
        Self {
            command: ShellCommand::new(command, timeout).beside_this_program(),
            first: OnceLock::new(),
        }
    }
    fn test(
        &self,
        text: &str,
        cancelled: &(dyn Fn() -> bool + Sync),
        symptom: fn(ExitStatus, &str) -> Result<Option<String>, String>,
    ) -> Result<TestResult, String> {
        match run(&self.command, text, cancelled)? {
            Ended::Done { status, stderr } => {
                let found = symptom(status, &stderr)?;
                let same = found.is_some_and(|f| *self.first.get_or_init(|| f.clone()) == f);
                Ok(interesting(same))
            }
            ended => Ok(unfinished(&ended)),
        }
    }
}

fn run(
    command: &ShellCommand,
    text: &str,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Result<Ended, String> {
    let ended = command.run(text, cancelled).map_err(|e| e.to_string())?;
    match &ended {
        Ended::Done { status, stderr } if NOT_RUN.iter().any(|c| status.code() == Some(*c)) => {
            Err(first_line(stderr, "no such command"))
        }
        _ => Ok(ended),
    }
}

fn interesting(yes: bool) -> TestResult {
    if yes {
        TestResult::Interesting
    } else {
        TestResult::Boring
    }
}

fn unfinished(ended: &Ended) -> TestResult {
    match ended {
        Ended::TimedOut => TestResult::TimedOut,
        _ => TestResult::Cancelled,
    }
}

fn first_line(text: &str, otherwise: &str) -> String {
    text.lines().next().unwrap_or(otherwise).to_owned()
}

/// The kind of a crash: the signal or 3, and the head of the message.
fn crash(status: ExitStatus, stderr: &str) -> Result<Option<String>, String> {
    let kind = match (status.code(), signal(status)) {
        (Some(INTERNAL_ERROR), _) => "internal error".to_owned(),
        (_, Some(signal)) => format!("signal {signal}"),
        _ => return Ok(None),
    };
    let words = ["internal error", "panicked", "error"];
    let line = |word: &&str| stderr.lines().find(|l| l.contains(*word));
    let line = words.iter().find_map(line).or(stderr.lines().next());
    let head = head(line.unwrap_or_default());
    Ok(Some(format!("{kind}: {head}")))
}

/// The pass that changed the result. The rest of the message changes as the program shrinks. Flags that the tool does not have are an
/// error.
fn changed_result(status: ExitStatus, stderr: &str) -> Result<Option<String>, String> {
    if status.code() == Some(WRONG_USAGE) {
        return Err(first_line(stderr, "wrong flags"));
    }
    let line = stderr.lines().find(|l| l.contains(CHANGED_RESULT));
    Ok(line.map(|line| head(line.split_once("' changed").map_or(line, |(pass, _)| pass))))
}

/// A message without the parts that change as the program shrinks: the preceding location, symbols, and all numbers.
fn head(line: &str) -> String {
    let from = line.find("error").unwrap_or(0);
    let mut words = Vec::new();
    for word in line[from..]
        .split_whitespace()
        .filter(|w| !w.starts_with('@'))
    {
        words.push(word.replace(|c: char| c.is_ascii_digit(), ""));
    }
    words.join(" ")
}

/// The signal that killed a command. A shell reports a signal of its last command as 128 plus its number.
fn signal(status: ExitStatus) -> Option<i32> {
    #[cfg(unix)]
    let own = std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    let own: Option<i32> = None;
    let told = status.code().filter(|c| (129..160).contains(c));
    own.or(told.map(|c| c - 128))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test_result(predicate: &dyn Predicate, text: &str) -> Result<TestResult, String> {
        predicate.test(text, &|| false)
    }
    const TIMEOUT: Duration = Duration::from_secs(60);

    #[test]
    fn zero_is_interesting() {
        let test = Succeeds::new("grep -q needle", TIMEOUT);
        assert_eq!(test_result(&test, "needle"), Ok(TestResult::Interesting));
        assert_eq!(test_result(&test, "hay"), Ok(TestResult::Boring));
    }
    #[test]
    fn a_command_that_is_not_there_is_an_error() {
        let test = Succeeds::new("fuser-no-such-tool", TIMEOUT);
        assert!(
            test_result(&test, "x")
                .unwrap_err()
                .contains("fuser-no-such-tool")
        );
    }
    #[test]
    fn a_crash_stays_the_same_crash() {
        let script = "f() { cat \"$1\" >&2; exit 3; }; f";
        let test = Crashes::new(script, TIMEOUT);
        let first = "x.fir:1:2: error: [FIR0606] internal error: pass 'p' on @f: index 7 of 5";
        let same = "x.fir:9:9: error: [FIR0606] internal error: pass 'p' on @g: index 1 of 0";
        let other = "x.fir:1:2: error: [FIR0606] internal error: pass 'q' on @f: index 7 of 5";
        assert_eq!(test_result(&test, first), Ok(TestResult::Interesting));
        assert_eq!(test_result(&test, same), Ok(TestResult::Interesting));
        assert_eq!(test_result(&test, other), Ok(TestResult::Boring));
    }
    #[test]
    fn a_diagnostic_is_no_crash_and_a_signal_is() {
        let refused = Crashes::new("exit 1; true", TIMEOUT);
        assert_eq!(test_result(&refused, ""), Ok(TestResult::Boring));
        let killed = Crashes::new("kill -s SEGV $$; true", TIMEOUT);
        assert_eq!(test_result(&killed, ""), Ok(TestResult::Interesting));
        let by_shell = Crashes::new("sh -c 'kill -s ABRT $$'", TIMEOUT);
        assert_eq!(test_result(&by_shell, ""), Ok(TestResult::Interesting));
    }
    #[test]
    fn time_runs_out() {
        let test = Succeeds::new("sleep 60; true", Duration::from_millis(50));
        assert_eq!(test_result(&test, ""), Ok(TestResult::TimedOut));
    }
}
