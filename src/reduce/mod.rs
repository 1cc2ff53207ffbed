//! `fuser-reduce`: makes a program smaller as long as a test finds it interesting.
//!
//! | file | what |
//! |---|---|
//! | `args.rs` | the command line |
//! | `search.rs`, `speculate.rs` | which changes to try, and several at a time |
//! | `strategy.rs`, `strategies/` | the table of changes, and what each does |
//! | `edit.rs`, `retype.rs` | what changes are made of: signatures and results, extents and types |
//! | `predicate.rs`, `commands.rs`, `shell.rs` | tests, those that run a command, and how it is run |
//! | `program.rs` | a candidate: IR and the text that stands for it |
//!
//! Guarantees: what is written parses, verifies, and passed the test, also where the work was cut short; the result does not
//! depend on the number of jobs. Never writes half a file.

pub mod args;
pub mod commands;
pub mod edit;
pub mod predicate;
pub mod program;
pub mod retype;
pub mod search;
pub mod shell;
pub mod speculate;
pub mod strategies;
pub mod strategy;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fuser_ir::render::RenderOptions;
use fuser_ir::source::SourceMap;
use fuser_ir::{Diagnostic, Diagnostics};

use args::{Arguments, Print, Test};
use commands::{Crashes, Miscompiles, Succeeds};
use predicate::{Predicate, TestResult};
use program::{Program, Rules};
use search::{Config, Outcome, Statistics, Stop};

use crate::tool::files::claims::{self, Claim};
use crate::tool::files::{self, Limit};
use crate::tool::{self, Exit, Progress};

/// Runs the tool.
pub fn run(args: &[String]) -> Exit {
    let arguments = match args::parse(args) {
        Ok(arguments) => arguments,
        Err(mistakes) => return usage(&mistakes),
    };
    let text = match arguments.print {
        Some(Print::Help) => args::help(),
        Some(Print::Version) => format!("fuser-reduce {}\n", env!("CARGO_PKG_VERSION")),
        Some(Print::Strategies) => args::list_strategies(),
        None => return reduce(&arguments).unwrap_or_else(refused),
    };
    files::write("-", &text).map_or_else(refused, |()| Exit::Ok)
}

fn usage(mistakes: &[String]) -> Exit {
    for mistake in mistakes {
        say(mistake);
    }
    say("'fuser-reduce --help' lists the flags");
    Exit::Usage
}

fn refused(message: String) -> Exit {
    say(&message);
    Exit::Diagnostics
}

fn say(message: &str) {
    files::say(&format!("fuser-reduce: {message}\n"));
}

/// Reads, searches, writes.
fn reduce(arguments: &Arguments) -> Result<Exit, String> {
    claims::check(&[
        Claim::read("the program", &arguments.input),
        Claim::written("-o", &arguments.output),
    ])?;
    let interrupt = interrupt_flag()?;
    shell::sweep();
    let text = files::read(&arguments.input, Limit::default())?;
    let rules = Rules {
        allow_invalid: arguments.allow_invalid,
        locations: arguments.locations,
    };
    let program = match Program::read(&arguments.input, &text, rules) {
        Ok(program) => program,
        Err(found) => return Err(told(&arguments.input, &text, found)),
    };
    let predicate = predicate(arguments);
    let progress = match arguments.quiet || arguments.verbose {
        true => Progress::silent(),
        false => Progress::start("fuser-reduce", "testing the input"),
    };
    let condition = arguments.tests.first().map(Test::condition);
    let condition = condition.unwrap_or_default();
    let tests = must_be_interesting(predicate.as_ref(), &condition, &text, &program, &interrupt)?;
    let before = program.ops();
    let config = Config {
        strategies: &arguments.strategies,
        rules,
        jobs: arguments.jobs,
        max_steps: arguments.max_steps.saturating_sub(tests),
    };
    let mut log: Box<dyn FnMut(&str)> = match arguments.verbose {
        true => Box::new(say),
        false => Box::new(move |line| progress.step(line)),
    };
    let mut outcome = search::search(program, predicate.as_ref(), &config, &interrupt, &mut log);
    drop(log);
    outcome.statistics.steps += tests;
    files::write(&arguments.output, &outcome.program.text)?;
    if !arguments.quiet {
        say(&summary(before, &outcome));
    }
    Ok(status(&outcome))
}

/// The flag set by Ctrl-C and by a termination request, on systems with signals; a second one ends the process at once.
fn interrupt_flag() -> Result<Arc<AtomicBool>, String> {
    let interrupt = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // In this order: at the first signal the flag is not set yet, and nothing ends.
        let registered = [
            signal_hook::flag::register_conditional_shutdown(
                signal,
                128 + signal,
                interrupt.clone(),
            ),
            signal_hook::flag::register(signal, interrupt.clone()),
        ];
        for result in registered {
            result.map_err(|e| format!("cannot watch for signals: {e}"))?;
        }
    }
    Ok(interrupt)
}

fn predicate(arguments: &Arguments) -> Box<dyn Predicate> {
    let timeout = arguments.timeout;
    match arguments.tests.first() {
        Some(Test::Crash(command)) => Box::new(Crashes::new(command, timeout)),
        Some(Test::Miscompile(passes)) => Box::new(Miscompiles::new(passes, timeout)),
        Some(Test::Command(command)) => Box::new(Succeeds::new(command, timeout)),
        None => Box::new(predicate::OnText(|_: &str| false)),
    }
}

/// Tests the file as given, then as printed; returns the number of tests.
fn must_be_interesting(
    predicate: &dyn Predicate,
    condition: &str,
    text: &str,
    program: &Program,
    interrupt: &AtomicBool,
) -> Result<u64, String> {
    let cancelled = || interrupt.load(std::sync::atomic::Ordering::Relaxed);
    let test_result = |text: &str| {
        let test_result = predicate.test(text, &cancelled);
        test_result.map_err(|why| format!("the test cannot be run: {why}"))
    };
    match test_result(text)? {
        TestResult::Interesting => {}
        TestResult::Boring => {
            return Err(format!(
                "the input is not interesting, and nothing can be reduced: {condition}"
            ));
        }
        TestResult::TimedOut => {
            return Err(
                "the test of the input took too long; --timeout=SECONDS gives it more".into(),
            );
        }
        TestResult::Cancelled => return Err("interrupted before anything was found".into()),
    }
    if program.text == text {
        return Ok(1);
    }
    match test_result(&program.text)? {
        TestResult::Interesting => Ok(2),
        _ => Err("the input is interesting as it is, but not any more when it is parsed and printed: the test looks at comments, \
                  spelling or locations (--print-debuginfo keeps those)".into()),
    }
}

/// Diagnostics of an input that is no program.
fn told(file: &str, text: &str, found: Vec<Diagnostic>) -> String {
    let mut sources = SourceMap::default();
    sources.add(file, text);
    let found = Diagnostics { items: found };
    let text = tool::shown(&found, &sources, RenderOptions::default());
    format!("the input is no valid program\n{}", text.trim_end())
}

fn summary(before: usize, outcome: &Outcome) -> String {
    let Statistics {
        steps,
        timeouts,
        invalid,
        repeated,
        rounds,
        ..
    } = outcome.statistics;
    let after = outcome.program.ops();
    let end = match &outcome.stop {
        None => String::new(),
        Some(Stop::Steps) => "; stopped at --max-steps".into(),
        Some(Stop::Rounds) => "; stopped, as rounds did not end".into(),
        Some(Stop::Interrupted) => "; interrupted, this is the best so far".into(),
        Some(Stop::Test(why)) => format!("; stopped, as the test cannot be run: {why}"),
    };
    format!(
        "{before} -> {after} ops in {steps} tests and {rounds} rounds ({timeouts} timed out, {invalid} invalid and \
         {repeated} repeated candidates not tested){end}"
    )
}

fn status(outcome: &Outcome) -> Exit {
    for strategy in &outcome.statistics.panics {
        say(&format!(
            "internal error: strategy '{strategy}' panicked; the result is sound, but may not be the smallest"
        ));
    }
    match (&outcome.stop, outcome.statistics.panics.is_empty()) {
        (_, false) => Exit::Internal,
        (Some(Stop::Test(_)), _) => Exit::Diagnostics,
        _ => Exit::Ok,
    }
}
