//! The power of the check: the share of wrong programs that it detects.
//!
//! A program is changed at random ([`changes`]), as a miscompile might change it; the changed program is compiled and
//! run, and its results are checked against the reference of the program as it was. A change counts where it alters a
//! result beyond the noise of the program's own roundings, which [`effect`] measures without the check. Of these
//!
//! ```text
//! power = found / altering
//! ```
//!
//! The unchanged program is checked in the same way, and must pass.
//!
//! | module | what |
//! |---|---|
//! | `programs` | the classes of programs |
//! | `changes` | one change of a program |
//! | `effect` | its effect, in times the noise |
//! | `judge` | the check |
//! | `table` | the figures of each class |
//! | `options` | the command line |
//!
//! Deterministic: a seed gives the same changes and the same table, whatever the number of threads.

pub mod changes;
pub mod effect;
pub mod judge;
mod options;
pub mod programs;
pub mod table;

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use fuser_random::SplitMix;

use crate::Source;
use crate::generate::Case;
use crate::oracle::guard;
use changes::{Changed, draw};
use effect::{ALTERS, Effect, Noise};
use judge::{CompiledCase, Judge, Verdict};
pub use options::{Options, USAGE};
use programs::{Class, Program};
use table::Row;

/// Draws per change, in search of one that was not tried before.
const DRAWS: usize = 8;

/// A change and its outcome.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The name of its kind.
    pub kind: &'static str,
    /// The op and its change.
    pub what: String,
    /// The element that it alters most.
    pub effect: Effect,
    /// The answer of the check.
    pub verdict: Verdict,
}

impl Trial {
    /// True if a result is altered.
    pub fn alters(&self) -> bool {
        self.effect.times >= ALTERS
    }
    /// True if a result is altered and the check did not find it.
    pub fn is_missed(&self) -> bool {
        self.alters() && !self.verdict.found
    }
}

/// A program and its changes.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// The name of the program.
    pub name: String,
    /// The answer of the check to the unchanged program; `None` if it could not be run.
    pub unchanged: Option<Verdict>,
    /// Its changes.
    pub trials: Vec<Trial>,
    /// Changed programs that were not run, each with the reason; or the reason that no change was tried.
    pub skipped: Vec<String>,
}

/// The changes of a program; `seed` draws them.
pub fn measure(program: &Program, changes: u64, seed: u64) -> Measured {
    let word = |word: u64, byte: u8| SplitMix(word ^ u64::from(byte)).word();
    let seed = program.name.bytes().fold(seed, word);
    let mut measured = Measured {
        name: program.name.clone(),
        ..Measured::default()
    };
    let done = guard::run("power", || {
        fill(&mut measured, &program.case, changes, seed)
    });
    if let Err(why) = done.unwrap_or_else(|finding| Err(finding.what)) {
        measured.skipped.push(why);
    }
    measured
}

fn fill(measured: &mut Measured, case: &Case, changes: u64, seed: u64) -> Result<(), String> {
    let run = |case: &Case| CompiledCase::of(case)?.run(case);
    let mut judge = Judge::of(case)?;
    let noise = Noise::of(case, seed).map_err(|error| format!("{:?}", error.kind))?;
    measured.unchanged = Some(judge.verdict(&run(case)?));
    let mut source = Source::seed(seed);
    let mut tried = BTreeSet::new();
    for _ in 0..changes {
        let new = |changed: &Changed| tried.insert(changed.what.clone());
        let mut drawn = (0..DRAWS).filter_map(|_| draw(case, &mut source));
        // A small program has few changes.
        let Some(Changed { case, kind, what }) = drawn.find(new) else {
            break;
        };
        let results = match guard::run("power", || run(&case)) {
            Ok(Ok(results)) => results,
            Ok(Err(why)) => {
                measured.skipped.push(format!("{what}: {why}"));
                continue;
            }
            Err(finding) => {
                measured.skipped.push(format!("{what}: {}", finding.what));
                continue;
            }
        };
        measured.trials.push(Trial {
            effect: noise.effect(&results),
            verdict: judge.verdict(&results),
            kind,
            what,
        });
    }
    Ok(())
}

/// The changes of many programs, by several threads, in the order of the programs.
pub fn measure_all(programs: &[Program], changes: u64, seed: u64, jobs: usize) -> Vec<Measured> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(vec![Measured::default(); programs.len()]);
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some((at, program)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    programs.get(at).map(|program| (at, program))
                } {
                    let measured = measure(program, changes, seed);
                    if let Ok(mut done) = done.lock() {
                        done[at] = measured;
                    }
                }
            });
        }
    });
    done.into_inner().unwrap_or_default()
}

/// Measures the classes and prints the table; the exit status is 1 if the power of one is less than wanted, or if an
/// unchanged program is found wrong.
pub fn run(options: &Options) -> ExitCode {
    // Panics are reasons that a change is skipped.
    if !options.all {
        std::panic::set_hook(Box::new(|_| {}));
    }
    let mut rows = Vec::new();
    for class in &options.classes {
        let measured = match measured(class, options) {
            Ok(measured) => measured,
            Err(why) => {
                eprintln!("{why}");
                return ExitCode::FAILURE;
            }
        };
        print!("{}", table::details(&measured, options.all));
        rows.push(Row::of(class.name, &measured));
    }
    print!("{}", table::text(&rows));
    let weak = |row: &Row| row.false_alarms > 0 || row.percent() < options.least;
    match rows.iter().any(weak) {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}

fn measured(class: &Class, options: &Options) -> Result<Vec<Measured>, String> {
    let mut programs = (class.programs)(options.programs, options.seed)?;
    if let Some(only) = &options.only {
        programs.retain(|program| program.name.contains(only));
    }
    let changes = options.changes.unwrap_or(class.changes);
    Ok(measure_all(&programs, changes, options.seed, options.jobs))
}
