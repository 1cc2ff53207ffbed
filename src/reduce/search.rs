//! The search: rounds over the strategies until none finds anything more to take away.
//!
//! For each strategy it lists the sites once and tries to change them in chunks: all at once, then halves, quarters,
//! down to single ones (the chunks of delta debugging). A chunk that leaves the program interesting stays changed for
//! good. If `k` of `n` sites matter, that takes about `2 k log n` tests, and never more than `2 n` in a round. The
//! first round stops at coarse chunks: sites that one strategy can do nothing about, another may remove as a whole.
//!
//! ```text
//! sites  0 1 2 3 4 5 6 7      needed: 5
//! tests  [0 1 2 3 4 5 6 7]-  [0 1 2 3]+  [4 5 6 7]-  [4 5]-  [6 7]+  [4]+  [5]-
//! ```
//!
//! Guarantees: the result is interesting, parses, and verifies; it and the number of steps are a function of the program,
//! the predicate and the strategies, whatever the number of threads; no text is tested twice; the search ends.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use super::predicate::{Predicate, TestResult};
use super::program::{Program, Rules, rebuilt};
use super::speculate::until_hit;
use super::strategy::{Site, Strategy};

/// Rounds over all strategies. Two or three settle it; a strategy that undid another's work would go on for ever.
pub const MAX_ROUNDS: u32 = 32;

/// The least part of all sites that the first round tries to change at once.
const FIRST_ROUND_PARTS: usize = 32;
/// Candidates that are looked at in one go, and more than enough for all threads. A longer list would be set up anew after
/// each success.
const WINDOW: usize = 1024;

/// Options of a search.
#[derive(Clone, Copy, Debug)]
pub struct Config<'a> {
    /// Strategies in the order of a round.
    pub strategies: &'a [&'static Strategy],
    /// The requirements on a candidate.
    pub rules: Rules,
    /// Tests that run at the same time.
    pub jobs: usize,
    /// Tests at most.
    pub max_steps: u64,
}

/// The reason that a search ended early.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The limit of steps was reached.
    Steps,
    /// Strategies still found something in the last of [`MAX_ROUNDS`].
    Rounds,
    /// Somebody asked for it.
    Interrupted,
    /// The test cannot be run.
    Test(String),
}

/// Counts of a search.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Tests that had a say in the result.
    pub steps: u64,
    /// Of these, those that ran out of time.
    pub timeouts: u64,
    /// Candidates that were no valid programs, and so not tested.
    pub invalid: u64,
    /// Candidates that had been tested before.
    pub repeated: u64,
    /// Rounds over the strategies.
    pub rounds: u32,
    /// Strategies that panicked: bugs of ours.
    pub panics: Vec<&'static str>,
}

/// The smallest program found, and how.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The program.
    pub program: Program,
    /// Counts.
    pub statistics: Statistics,
    /// The reason that the search ended early.
    pub stop: Option<Stop>,
}

/// Makes `program`, which must be interesting, as small as the strategies can. `interrupt` ends the search with the
/// best program so far.
pub fn search(
    program: Program,
    predicate: &dyn Predicate,
    config: &Config<'_>,
    interrupt: &AtomicBool,
    log: &mut dyn FnMut(&str),
) -> Outcome {
    let tested = HashSet::from([fingerprint(&program.text)]);
    let mut search = Search {
        predicate,
        config,
        interrupt,
        log,
        tested,
        best: program,
        statistics: Statistics::default(),
        stop: None,
    };
    search.rounds();
    Outcome {
        program: search.best,
        statistics: search.statistics,
        stop: search.stop,
    }
}

struct Search<'a> {
    predicate: &'a dyn Predicate,
    config: &'a Config<'a>,
    interrupt: &'a AtomicBool,
    log: &'a mut dyn FnMut(&str),
    /// Fingerprints of all texts that need no test: boring ones, and the best one.
    tested: HashSet<u64>,
    best: Program,
    statistics: Statistics,
    stop: Option<Stop>,
}

/// The outcome for one candidate.
enum Attempt {
    /// Not a program that may be tested.
    Invalid,
    /// A text that needs no test.
    Repeated,
    /// The strategy panicked.
    Panicked,
    /// Tested.
    Tested(Result<TestResult, String>, Box<Program>),
}

impl Attempt {
    fn ends_scan(&self) -> bool {
        matches!(
            self,
            Attempt::Tested(Ok(TestResult::Interesting) | Err(_), _)
        )
    }
}

/// The state of one strategy. Sites refer to `base`, which stays fixed while more and more sites change.
struct Job<'a> {
    base: &'a Program,
    strategy: &'static Strategy,
    sites: &'a [Site],
    /// Indices of the sites that are changed for good.
    changed: Vec<usize>,
}

impl Job<'_> {
    /// The base with `chunk` changed as well.
    fn candidate(&self, chunk: &[usize], rules: Rules) -> Option<Program> {
        let mut indices = [self.changed.as_slice(), chunk].concat();
        indices.sort_unstable();
        let sites: Vec<Site> = indices.iter().map(|&i| self.sites[i]).collect();
        let mut ir = self.base.ir.clone();
        (self.strategy.apply)(&mut ir, self.base.module, &sites);
        rebuilt(ir, self.base.module, rules)
    }
}

impl Search<'_> {
    fn rounds(&mut self) {
        while self.statistics.rounds < MAX_ROUNDS {
            self.statistics.rounds += 1;
            let before = fingerprint(&self.best.text);
            for strategy in self.config.strategies {
                while self.run(strategy) && strategy.again && self.stop.is_none() {}
                if self.stop.is_some() {
                    return;
                }
            }
            let first = self.statistics.rounds == 1;
            if fingerprint(&self.best.text) == before && !first {
                return;
            }
        }
        self.stop = Some(Stop::Rounds);
    }

    /// All sites, halves, quarters, ... down to the finest chunks; says whether any could be changed.
    fn run(&mut self, strategy: &'static Strategy) -> bool {
        let base = self.best.clone();
        let sites = (strategy.sites)(&base.ir, base.module);
        let mut left: Vec<usize> = (0..sites.len()).collect();
        let mut job = Job {
            base: &base,
            strategy,
            sites: &sites,
            changed: Vec::new(),
        };
        let finest = match self.statistics.rounds {
            1 => sites.len().div_ceil(FIRST_ROUND_PARTS),
            _ => 1,
        };
        let mut size = left.len();
        while size > 0 && self.stop.is_none() {
            left = self.pass(&mut job, &left, size);
            let smaller = if size <= finest { 0 } else { size.div_ceil(2) };
            size = smaller.min(left.len());
        }
        !job.changed.is_empty()
    }

    /// Tries each chunk of `size` sites once; returns the sites that had to stay.
    fn pass(&mut self, job: &mut Job<'_>, left: &[usize], size: usize) -> Vec<usize> {
        let chunks: Vec<&[usize]> = left.chunks(size).collect();
        let mut stay = Vec::new();
        let mut at = 0;
        while at < chunks.len() && self.stop.is_none() {
            let (boring, hit) = self.scan(job, &chunks[at..]);
            stay.extend(chunks[at..at + boring].iter().copied().flatten());
            at += boring;
            if let Some(program) = hit {
                job.changed.extend_from_slice(chunks[at]);
                at += 1;
                self.accept(job.strategy, program);
            }
        }
        stay
    }

    /// Tests chunks in order up to the first interesting one: how many were not, and the one that was.
    fn scan(&mut self, job: &Job<'_>, chunks: &[&[usize]]) -> (usize, Option<Program>) {
        // A candidate takes one test at most, so this many may be looked at.
        let remaining = self.config.max_steps - self.statistics.steps;
        let count = usize::try_from(remaining).unwrap_or(usize::MAX);
        let count = count.min(chunks.len()).min(WINDOW);
        let attempts = {
            let (this, jobs) = (&*self, self.config.jobs);
            let (tested, predicate, rules) = (&this.tested, this.predicate, this.config.rules);
            let attempt = |index: usize, cancelled: &(dyn Fn() -> bool + Sync)| {
                let make = AssertUnwindSafe(|| job.candidate(chunks[index], rules));
                match catch_unwind(make) {
                    Err(_) => Attempt::Panicked,
                    Ok(None) => Attempt::Invalid,
                    Ok(Some(p)) if tested.contains(&fingerprint(&p.text)) => Attempt::Repeated,
                    Ok(Some(p)) => Attempt::Tested(predicate.test(&p.text, cancelled), p.into()),
                }
            };
            until_hit(count, jobs, this.interrupt, attempt, Attempt::ends_scan)
        };
        let mut boring = 0;
        for attempt in attempts {
            match self.account(job.strategy, attempt) {
                Some(program) => return (boring, Some(program)),
                None => boring += 1,
            }
        }
        if self.interrupt.load(Ordering::Relaxed) {
            self.stop.get_or_insert(Stop::Interrupted);
        } else if self.statistics.steps >= self.config.max_steps {
            self.stop.get_or_insert(Stop::Steps);
        }
        (boring, None)
    }

    /// Counts an attempt; gives its program if that is interesting.
    fn account(&mut self, strategy: &'static Strategy, attempt: Attempt) -> Option<Program> {
        let statistics = &mut self.statistics;
        match attempt {
            Attempt::Invalid => statistics.invalid += 1,
            Attempt::Repeated => statistics.repeated += 1,
            Attempt::Panicked if statistics.panics.contains(&strategy.name) => {}
            Attempt::Panicked => statistics.panics.push(strategy.name),
            Attempt::Tested(Ok(TestResult::Cancelled), _) => {}
            Attempt::Tested(Err(message), _) => self.stop = Some(Stop::Test(message)),
            Attempt::Tested(Ok(test_result), program) => {
                statistics.steps += 1;
                statistics.timeouts += u64::from(test_result == TestResult::TimedOut);
                self.tested.insert(fingerprint(&program.text));
                return (test_result == TestResult::Interesting).then_some(*program);
            }
        }
        None
    }

    fn accept(&mut self, strategy: &Strategy, program: Program) {
        let (name, steps) = (strategy.name, self.statistics.steps);
        let (before, after) = (self.best.ops(), program.ops());
        let bytes = program.text.len();
        let line = format!("step {steps}: {name}: {before} -> {after} ops, {bytes} bytes");
        (self.log)(&line);
        self.best = program;
    }
}

/// A hash that identifies a text. Among a million texts, two collide with a probability of 1 in 37 million; a candidate
/// would then be missed.
fn fingerprint(text: &str) -> u64 {
    // The keys of `DefaultHasher::new` are fixed.
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
