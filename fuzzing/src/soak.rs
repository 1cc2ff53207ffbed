//! The soak: generators and oracles for a given time, on several threads.
//!
//! Case number `n` of a soak with seed `s` is a function of `s + n` alone, so a failure is repeated by its seed, whatever
//! the number of threads.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::campaign::{self, Effort, QUICK, THOROUGH};
use crate::generate::fusion::Config;
use crate::generate::{Case, Tier};
use crate::oracle::Finding;
use crate::{Source, Stats};

/// What `soak` takes.
pub const USAGE: &str = "usage: soak [options]
  --seconds N    how long to run (10)
  --cases N      how many cases to run at most
  --jobs N       threads (2)
  --seed N       the first seed (0)
  --tier T       exact, bounded or both (both)
  --small        small cases, as tests run them
  --ops A,B      only these ops: fusion.add,fusion.sum
  --no-templates single ops only
  --out DIR      where failures are written (fuzz-failures)
  --find TEXT    a refusal whose diagnostic, without numbers and names, contains TEXT counts as a failure too
  --reduce       make each failure small before it is written
  --verbose      print every seed before it runs, and every panic as it happens";

/// How often a thread says how far the soak is.
const TOLD_EVERY: Duration = Duration::from_secs(300);

/// How to soak.
#[derive(Clone, Debug)]
pub struct Options {
    seconds: u64,
    cases: u64,
    jobs: u64,
    seed: u64,
    tiers: Vec<Tier>,
    ops: Vec<&'static str>,
    templates: bool,
    small: bool,
    find: Option<String>,
    out: PathBuf,
    reduce: bool,
    verbose: bool,
}

impl Options {
    /// Reads arguments.
    pub fn read(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self {
            seconds: 10,
            cases: u64::MAX,
            jobs: 2,
            seed: 0,
            tiers: vec![Tier::Exact, Tier::Bounded],
            ops: Vec::new(),
            templates: true,
            small: false,
            find: None,
            out: "fuzz-failures".into(),
            reduce: false,
            verbose: false,
        };
        let mut rest = arguments.iter();
        while let Some(name) = rest.next() {
            match name.as_str() {
                "--no-templates" => options.templates = false,
                "--small" => options.small = true,
                "--reduce" => options.reduce = true,
                "--verbose" => options.verbose = true,
                _ => {
                    let value = rest
                        .next()
                        .ok_or_else(|| format!("`{name}` takes a value"))?;
                    options.set(name, value)?;
                }
            }
        }
        Ok(options)
    }
    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let number = || {
            value
                .parse::<u64>()
                .map_err(|_| format!("`{name}` takes a number, not `{value}`"))
        };
        match name {
            "--seconds" => self.seconds = number()?,
            "--cases" => self.cases = number()?,
            "--jobs" => self.jobs = number()?.max(1),
            "--seed" => self.seed = number()?,
            "--find" => self.find = Some(value.into()),
            "--out" => self.out = value.into(),
            "--tier" => {
                self.tiers = match value {
                    "exact" => vec![Tier::Exact],
                    "bounded" => vec![Tier::Bounded],
                    "both" => vec![Tier::Exact, Tier::Bounded],
                    _ => return Err(format!("`{value}` is no tier: exact, bounded or both")),
                }
            }
            "--ops" => {
                for op in value.split(',') {
                    let known = fuser_dialects::fusion::DIALECT
                        .ops
                        .iter()
                        .find(|def| def.name == op);
                    let known =
                        known.ok_or_else(|| format!("`{op}` is no op of the fusion dialect"))?;
                    self.ops.push(known.name);
                }
            }
            _ => return Err(format!("unknown option `{name}`")),
        }
        Ok(())
    }
    /// Refusals that are looked for.
    fn refusals(&self, stats: &Stats) -> Vec<Finding> {
        let Some(text) = &self.find else {
            return Vec::new();
        };
        let refusals = stats.entries("refusal").filter(|r| r.contains(text));
        refusals.map(|r| Finding::new("refused", r)).collect()
    }
    fn effort(&self) -> Effort {
        match self.small {
            true => QUICK,
            false => THOROUGH,
        }
    }
    fn config(&self, seed: u64) -> Config {
        let tier = self.tiers[seed as usize % self.tiers.len()];
        Config {
            allowed: self.ops.clone(),
            templates: self.templates,
            ..match self.small {
                true => Config::small(tier),
                false => Config::new(tier),
            }
        }
    }
}

#[derive(Default)]
struct Shared {
    next: AtomicU64,
    stats: Mutex<Stats>,
    /// By what went wrong, without numbers: how often, and the first seed.
    findings: Mutex<BTreeMap<String, (u64, u64, String)>>,
}

/// Soaks; the exit status is 1 if anything was found.
pub fn run(options: &Options) -> ExitCode {
    // Panics are findings: they are reported with their seed, not as they happen.
    if !options.verbose {
        std::panic::set_hook(Box::new(|_| {}));
    }
    let end = Instant::now() + Duration::from_secs(options.seconds);
    let shared = Shared::default();
    std::thread::scope(|scope| {
        for _ in 0..options.jobs {
            scope.spawn(|| work(options, &shared, end));
        }
    });
    let cases = shared.next.load(Ordering::Relaxed).min(options.cases);
    if let Ok(stats) = shared.stats.lock() {
        println!("{stats}");
    }
    println!("count: {cases} random programs");
    let Ok(findings) = shared.findings.lock() else {
        return ExitCode::FAILURE;
    };
    for (shape, (times, seed, text)) in findings.iter() {
        println!("FOUND {times} times, first with seed {seed}: {shape}\n      {text}");
    }
    if findings.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn work(options: &Options, shared: &Shared, end: Instant) {
    let mut told = Instant::now();
    while Instant::now() < end {
        let number = shared.next.fetch_add(1, Ordering::Relaxed);
        if number >= options.cases {
            return;
        }
        if told.elapsed() > TOLD_EVERY {
            told = Instant::now();
            let found = shared.findings.lock().map_or(0, |all| all.len());
            println!("{number} cases, {found} found");
        }
        let seed = options.seed.wrapping_add(number);
        if options.verbose {
            eprintln!("seed {seed}");
        }
        case(options, shared, seed);
    }
}

fn case(options: &Options, shared: &Shared, seed: u64) {
    let mut stats = Stats::default();
    let (case, mut found) = campaign::fusion(
        &mut Source::seed(seed),
        seed,
        &options.config(seed),
        options.effort(),
        &mut stats,
    );
    found.extend(options.refusals(&stats));
    if let Ok(mut all) = shared.stats.lock() {
        all.merge(&stats);
    }
    for finding in &found {
        let Ok(mut all) = shared.findings.lock() else {
            return;
        };
        let shape = campaign::shape_of(&finding.to_string());
        let entry = all
            .entry(shape)
            .or_insert_with(|| (0, seed, finding.to_string()));
        entry.0 += 1;
        let first = entry.0 == 1;
        drop(all);
        if first && let Some(case) = &case {
            match options.reduce {
                true => write(
                    options,
                    seed,
                    finding,
                    &reduced(options, case, seed, finding),
                ),
                false => write(options, seed, finding, case),
            }
        }
    }
}

/// A smaller case that goes wrong in the same way.
fn reduced(options: &Options, case: &Case, seed: u64, finding: &Finding) -> Case {
    let shape = campaign::shape_of(&finding.to_string());
    let same = |case: &Case| {
        let mut source = campaign::source_of_oracles(seed);
        let mut stats = Stats::default();
        let found = campaign::executed(case, &mut source, options.effort(), &mut stats);
        let mut found = found.into_iter().chain(options.refusals(&stats));
        found.any(|f| campaign::shape_of(&f.to_string()) == shape)
    };
    crate::reduce::reduce(case, same)
}

fn write(
    options: &Options,
    seed: u64,
    finding: &crate::oracle::Finding,
    case: &crate::generate::Case,
) {
    let text = format!(
        "// seed {seed}\n// {finding}\n{}",
        crate::generate::case::file(case)
    );
    let path = options.out.join(format!("seed-{seed}.fir"));
    let written = std::fs::create_dir_all(&options.out).and_then(|()| std::fs::write(&path, text));
    if let Err(error) = written {
        eprintln!("cannot write {}: {error}", path.display());
    }
}
