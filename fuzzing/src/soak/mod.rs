//! The soak: generators and oracles for a given time, on several threads.
//!
//! Case number `n` of a soak with seed `s` is a function of `s + n` alone, so a failure is reproduced by its seed, with
//! any number of threads. Each case draws one of each of the [`KINDS`].
//!
//! A line every minute shows the progress; at the end, also after signals, come the statistics and the findings.

mod files;
mod options;
mod progress;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::generate::case::file;
use crate::generate::{Case, text};
use crate::models::check;
use crate::oracle::{Finding, parse};
use crate::{Source, Stats, campaign, modules};
pub use options::{Options, USAGE};
use progress::Progress;

/// The interval of progress lines.
const TOLD_EVERY: Duration = Duration::from_secs(60);
/// The interval at which the clock is read.
const GLANCE: Duration = Duration::from_millis(100);
/// Texts of each sort for one program.
const TEXTS: usize = 4;

/// A kind of case.
#[derive(Clone, Copy)]
pub struct Kind {
    /// As `--only` takes it.
    pub name: &'static str,
    /// One case of so many has it.
    every: u64,
    run: fn(&Options, u64, &mut Stats) -> Found,
}

/// The outcome of a case.
#[derive(Default)]
struct Found {
    /// The program, if it is one, and how it is looked at again.
    case: Option<(Case, Again)>,
    /// The text that was read, if it was one.
    text: String,
    findings: Vec<Finding>,
}

/// The oracles and the printer of a kind of case; the seed chooses their variants.
#[derive(Clone, Copy)]
struct Again {
    findings: fn(&Options, &Case, u64) -> Vec<Finding>,
    shown: fn(&Case, u64) -> String,
}

/// All kinds.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "programs",
        every: 1,
        run: programs,
    },
    Kind {
        name: "partners",
        every: 1,
        run: partners,
    },
    Kind {
        name: "tasks",
        every: 4,
        run: tasks,
    },
    Kind {
        name: "kernels",
        every: 2,
        run: kernels,
    },
    Kind {
        name: "ptx",
        every: 8,
        run: ptx,
    },
    Kind {
        name: "texts",
        every: 1,
        run: texts,
    },
    Kind {
        name: "models",
        every: 1,
        run: models,
    },
];

#[derive(Default)]
struct Shared {
    next: AtomicU64,
    working: AtomicU64,
    done: AtomicU64,
    stats: Mutex<Stats>,
    /// Findings by their message without numbers: their count, and the first seed.
    findings: Mutex<BTreeMap<String, (u64, u64, String)>>,
}

/// Soaks; the exit status is 1 if anything was found.
pub fn run(options: &Options) -> ExitCode {
    // Panics are findings: they are reported with their seed, not as they happen.
    if !options.verbose {
        std::panic::set_hook(Box::new(|_| {}));
    }
    let progress = Progress::start(options.seconds);
    if let Err(error) = progress.watch_signals() {
        eprintln!("signals end the soak at once: {error}");
    }
    let evaluated = options.write.is_none() && options.kinds.contains(&"models");
    if let (true, Some(why)) = (evaluated, options.missing()) {
        eprintln!("skipped: {why}; models are compiled and run, and not evaluated");
    }
    let shared = Shared::default();
    shared.working.store(options.jobs, Ordering::Relaxed);
    std::thread::scope(|scope| {
        for _ in 0..options.jobs {
            scope.spawn(|| {
                work(options, &shared, &progress);
                shared.working.fetch_sub(1, Ordering::Relaxed);
            });
        }
        tell(&shared, &progress);
    });
    summary(&shared, &progress)
}

/// A line now and then, until the last thread is done.
fn tell(shared: &Shared, progress: &Progress) {
    let mut told = Instant::now();
    while shared.working.load(Ordering::Relaxed) > 0 {
        std::thread::sleep(GLANCE);
        if told.elapsed() >= TOLD_EVERY {
            told = Instant::now();
            eprintln!("{}", line(shared, progress));
        }
    }
}

/// The line of progress.
fn line(shared: &Shared, progress: &Progress) -> String {
    let done = shared.done.load(Ordering::Relaxed);
    let found = shared.findings.lock().map_or(0, |all| all.len());
    let mut line = format!("{}: {done} cases, {found} found", progress.cost());
    if let Ok(stats) = shared.stats.lock() {
        for group in [
            "case",
            "compiled",
            "partner compiled",
            "execution",
            "parsed",
        ] {
            let entries: Vec<String> = stats
                .entries(group)
                .map(|entry| format!("{entry} {}", stats.of(group, entry)))
                .collect();
            line += &format!("; {group}: {}", entries.join(", "));
        }
    }
    line
}

fn summary(shared: &Shared, progress: &Progress) -> ExitCode {
    if let Ok(stats) = shared.stats.lock() {
        println!("{stats}");
    }
    println!("{}", line(shared, progress));
    let Ok(findings) = shared.findings.lock() else {
        return ExitCode::FAILURE;
    };
    for (shape, (times, seed, text)) in findings.iter() {
        println!("FOUND {times} times, first with seed {seed}: {shape}\n      {text}");
    }
    match findings.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn work(options: &Options, shared: &Shared, progress: &Progress) {
    while !progress.is_over() {
        let number = shared.next.fetch_add(1, Ordering::Relaxed);
        if number >= options.cases {
            return;
        }
        let seed = options.seed.wrapping_add(number);
        if options.verbose {
            eprintln!("seed {seed}");
        }
        let wanted = |kind: &&Kind| {
            let often = options.kinds.len() == 1 || number.is_multiple_of(kind.every);
            often && options.kinds.contains(&kind.name)
        };
        for kind in KINDS.iter().filter(wanted) {
            case(options, shared, progress, kind, seed);
        }
        shared.done.fetch_add(1, Ordering::Relaxed);
    }
}

fn case(options: &Options, shared: &Shared, progress: &Progress, kind: &Kind, seed: u64) {
    let mut stats = Stats::default();
    if let Some(folder) = &options.write {
        match files::write(options, kind.name, seed, folder) {
            Ok(written) => files::count(&written, &mut stats),
            Err(error) => eprintln!("cannot write to {}: {error}", folder.display()),
        }
        if let Ok(mut all) = shared.stats.lock() {
            all.merge(&stats);
        }
        return;
    }
    let found = (kind.run)(options, seed, &mut stats);
    if let Ok(mut all) = shared.stats.lock() {
        all.merge(&stats);
    }
    for finding in &found.findings {
        let Ok(mut all) = shared.findings.lock() else {
            return;
        };
        let shape = campaign::shape_of(&finding.to_string());
        let entry = all
            .entry(shape)
            .or_insert_with(|| (0, seed, finding.to_string()));
        entry.0 += 1;
        let (first, number) = (entry.0 == 1, all.len());
        drop(all);
        if first {
            eprintln!("FOUND with seed {seed}: {finding}");
            write(
                options,
                number,
                seed,
                finding,
                &text_of(options, progress, &found, seed, finding),
            );
        }
    }
}

/// A fusion through everything that executes.
fn programs(options: &Options, seed: u64, stats: &mut Stats) -> Found {
    let again = Again {
        findings: |options, case, seed| {
            let mut stats = Stats::default();
            let mut source = campaign::source_of_oracles(seed);
            let mut found = campaign::executed(case, &mut source, options.effort(), &mut stats);
            found.extend(options.refusals(&stats));
            found
        },
        shown: |case, _| file(case),
    };
    let (source, config) = (&mut Source::seed(seed), options.config(seed));
    let (case, mut findings) = campaign::fusion(source, seed, &config, options.effort(), stats);
    findings.extend(options.refusals(stats));
    Found {
        case: case.map(|case| (case, again)),
        findings,
        ..Found::default()
    }
}

/// A fusion and a partner that must give the same results.
fn partners(options: &Options, seed: u64, stats: &mut Stats) -> Found {
    let again = Again {
        findings: |options, case, seed| {
            campaign::partnered(case, seed, options.effort(), &mut Stats::default())
        },
        shown: |case, seed| {
            let partner = campaign::partner_of(case, seed, &mut Stats::default());
            let partner = partner.ok().flatten();
            let partner = partner.map_or(String::new(), |partner| file(&partner.case));
            format!("{}\n// -----\n\n{partner}", file(case))
        },
    };
    let (source, config) = (&mut Source::seed(seed), options.config(seed));
    let (case, findings) = campaign::partners(source, seed, &config, options.effort(), stats);
    Found {
        case: case.map(|case| (case, again)),
        findings,
        ..Found::default()
    }
}

/// A fusion with boundaries drawn into it.
fn tasks(options: &Options, seed: u64, stats: &mut Stats) -> Found {
    let (source, config) = (&mut Source::seed(seed), options.config(seed));
    let (case, findings) = modules::tasks(source, &config, options.effort(), stats);
    shown(case, findings)
}

/// A program of launches.
fn kernels(options: &Options, seed: u64, stats: &mut Stats) -> Found {
    let again = Again {
        findings: |options, case, _| {
            modules::launched(&mut case.clone(), options.effort(), &mut Stats::default())
        },
        shown: |case, _| file(case),
    };
    let (case, findings) = modules::kernels(&mut Source::seed(seed), options.effort(), stats);
    Found {
        case: case.map(|case| (case, again)),
        findings,
        ..Found::default()
    }
}

/// A program for GPUs, where there is an assembler.
fn ptx(options: &Options, seed: u64, stats: &mut Stats) -> Found {
    let Some(assembler) = crate::oracle::ptx::fetched() else {
        stats.count("ptx", "no assembler");
        return Found::default();
    };
    let (source, config) = (&mut Source::seed(seed), options.config(seed));
    let (case, findings) = modules::assembled(source, &config, &assembler, stats);
    shown(case, findings)
}

/// A case that is shown as it is.
fn shown(case: Option<Case>, findings: Vec<Finding>) -> Found {
    Found {
        case: None,
        text: case.as_ref().map_or(String::new(), file),
        findings,
    }
}

/// A program as people write them, compared with NumPy's results.
fn models(options: &Options, seed: u64, stats: &mut Stats) -> Found {
    let again = Again {
        findings: |options, case, _| check::again(case, options.bench(), &mut Stats::default()),
        shown: |case, _| file(case),
    };
    let (case, text, findings) = check::model(seed, options.bench(), stats);
    Found {
        case: case.filter(|_| options.reduce).map(|case| (case, again)),
        text,
        findings,
    }
}

/// Texts through the parser.
fn texts(options: &Options, seed: u64, stats: &mut Stats) -> Found {
    let source = &mut Source::seed(seed);
    let words = text::words();
    let config = options.config(seed);
    for _ in 0..TEXTS {
        let program = crate::generate::fusion::generate(source, &config);
        let sorts = [
            text::bytes(source),
            text::soup(source, &words),
            text::changed(&program, source, &words),
        ];
        for text in sorts {
            let findings = parse::check(&text, stats);
            if !findings.is_empty() {
                return Found {
                    case: None,
                    text,
                    findings,
                };
            }
        }
    }
    Found::default()
}

/// The text of a failing case, reduced if that is wanted.
fn text_of(
    options: &Options,
    progress: &Progress,
    found: &Found,
    seed: u64,
    finding: &Finding,
) -> String {
    match &found.case {
        Some((case, again)) if options.reduce => {
            let case = reduced(options, progress, (case, *again), seed, finding);
            (again.shown)(&case, seed)
        }
        Some((case, again)) => (again.shown)(case, seed),
        None => found.text.clone(),
    }
}

/// A smaller case that fails in the same way; after the soak's time, the smallest so far.
fn reduced(
    options: &Options,
    progress: &Progress,
    (case, again): (&Case, Again),
    seed: u64,
    finding: &Finding,
) -> Case {
    let shape = campaign::shape_of(&finding.to_string());
    let same = |case: &Case| {
        if progress.is_over() {
            return false;
        }
        let found = (again.findings)(options, case, seed);
        found
            .iter()
            .any(|f| campaign::shape_of(&f.to_string()) == shape)
    };
    crate::reduce::reduce(case, same)
}

fn write(options: &Options, number: usize, seed: u64, finding: &Finding, text: &str) {
    let text = format!("// seed {seed}\n// {finding}\n{text}");
    let path = options.out.join(format!("{number}-seed-{seed}.fir"));
    let written = std::fs::create_dir_all(&options.out).and_then(|()| std::fs::write(&path, text));
    if let Err(error) = written {
        eprintln!("cannot write {}: {error}", path.display());
    }
}
