//! Hostile texts: whatever a file holds, each tool ends in order, soon, and in little memory.
//!
//! A table of generators ([`texts`]) makes texts of any size. Each goes through the tools as they are used; a run may end with 0, 1 or 2,
//! may take [`LONGEST`] of processor time and [`BASE`] bytes and [`PER_BYTE`] more for each byte of the text, and twice the text may take
//! [`GROWTH`] times the time, so that what is quadratic shows at sizes that are quick.
//!
//! `cargo test --release --test hostile -- --ignored --nocapture` measures large texts and prints the most that any took.

mod measure;
mod memory;
mod texts;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use measure::{Used, measure};
use texts::{Kind, kinds};

const OPT: &str = env!("CARGO_BIN_EXE_fuser-opt");
const RUN: &str = env!("CARGO_BIN_EXE_fuser-run");
const TRANSLATE: &str = env!("CARGO_BIN_EXE_fuser-translate");
const REDUCE: &str = env!("CARGO_BIN_EXE_fuser-reduce");

/// A command line for running a tool on a text; the file comes first.
struct Run {
    name: &'static str,
    tool: &'static str,
    args: &'static [&'static str],
}

const fn run(name: &'static str, tool: &'static str, args: &'static [&'static str]) -> Run {
    Run { name, tool, args }
}

const UNKNOWN: &str = "--allow-unregistered-dialect";
/// Interesting is everything, for a few steps: the text is read, printed and read again.
const FEW: [&str; 3] = ["--test=true", "--max-steps=3", "--jobs=1"];
const RUNS: [Run; 8] = [
    run("opt", OPT, &[UNKNOWN]),
    run(
        "generic",
        OPT,
        &[UNKNOWN, "--print-op-generic", "--print-debuginfo"],
    ),
    run("roundtrip", OPT, &[UNKNOWN, "--verify-roundtrip"]),
    run("expect", OPT, &["--verify-diagnostics"]),
    run("split", OPT, &["--split-input-file"]),
    run("run", RUN, &[]),
    run("translate", TRANSLATE, &[]),
    run("reduce", REDUCE, &FEW),
];

/// Processor time of one run.
const LONGEST: Duration = Duration::from_secs(10);
/// Memory of one run, whatever the text.
const BASE: u64 = 200_000_000;
/// Memory of one run for each byte of the text.
const PER_BYTE: u64 = 1_000;
/// Time for twice the text, against that for the text: a little more than linear.
const GROWTH: f64 = 2.5;
/// Time that does not count as growth: times are in steps of 10 ms, and a loaded machine adds to them.
const NOISE: Duration = Duration::from_millis(60);

/// One text through one tool.
struct Row {
    kind: &'static str,
    run: &'static str,
    bytes: usize,
    used: Used,
}

impl Row {
    fn fault(&self) -> Option<String> {
        let memory = BASE + PER_BYTE * self.bytes as u64;
        match self.used.status {
            None => Some("does not end".into()),
            Some(status) if !matches!(status.code(), Some(0..=2)) => Some(status.to_string()),
            _ if self.used.time > LONGEST => Some("takes too long".into()),
            _ if self.used.memory > memory => Some("takes too much memory".into()),
            _ => None,
        }
    }
    fn text(&self) -> String {
        let Row {
            kind, run, bytes, ..
        } = self;
        let (time, memory) = (self.used.time.as_secs_f64(), self.used.memory >> 20);
        let code = self.used.status.and_then(|s| s.code()).unwrap_or(-1);
        format!("{time:7.2} s {memory:6} MiB  {bytes:9} bytes  exit {code}  {run} {kind}")
    }
}

fn row(kind: &Kind, run: &Run, bytes: usize, folder: &Path) -> Row {
    let text = (kind.make)(bytes);
    let file = format!("{}-{}-{bytes}.fir", kind.name, run.name);
    std::fs::write(folder.join(&file), &text).expect("a file");
    let mut args = vec![file.clone()];
    args.extend(run.args.iter().map(|a| a.to_string()));
    let used = measure(run.tool, &args, folder, LONGEST);
    let _ = std::fs::remove_file(folder.join(&file));
    Row {
        kind: kind.name,
        run: run.name,
        bytes: text.len(),
        used,
    }
}

/// Twice the text at most [`GROWTH`] times the time. A pair that seems to take longer is measured again, both texts, as
/// something else may have run beside one of them.
fn growth(kind: &Kind, run: &Run, bytes: usize, folder: &Path) -> (Vec<Row>, Option<String>) {
    const PAIRS: usize = 4;
    let mut fault = None;
    let mut rows = Vec::new();
    for _ in 0..PAIRS {
        rows = [bytes, 2 * bytes]
            .map(|bytes| row(kind, run, bytes, folder))
            .into();
        let (once, twice) = (&rows[0], &rows[1]);
        let allowed = once.used.time.mul_f64(GROWTH) + NOISE;
        let grown = twice.used.time > allowed && twice.bytes < 5 * once.bytes / 2;
        fault = grown.then(|| format!("grows from {:?}", once.used.time));
        if fault.is_none() || twice.used.time > LONGEST / 2 {
            break;
        }
    }
    (rows, fault)
}

/// Does `case` for all pairs of kinds and runs on as many threads as there are processors; all rows, and the faults.
fn all(
    runs: impl Fn(usize, usize) -> bool + Sync,
    case: impl Fn(&Kind, &Run, &Path) -> (Vec<Row>, Option<String>) + Sync,
) -> (Vec<Row>, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    let kinds: Vec<&Kind> = kinds().collect();
    let pairs = (0..kinds.len()).flat_map(|k| (0..RUNS.len()).map(move |r| (k, r)));
    let pairs: Vec<(usize, usize)> = pairs.filter(|(k, r)| runs(*k, *r)).collect();
    let (next, found) = (AtomicUsize::new(0), Mutex::new((Vec::new(), Vec::new())));
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(&(k, r)) = pairs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (rows, grown) = case(kinds[k], &RUNS[r], folder.path());
                    let mut found = found.lock().expect("no thread failed");
                    let worst = rows.last().map(Row::text).unwrap_or_default();
                    let faults = rows.iter().filter_map(|r| Some((r.fault()?, r.text())));
                    let faults = faults.chain(grown.map(|fault| (fault, worst)));
                    let faults = faults.map(|(fault, text)| format!("{text}: {fault}"));
                    let faults: Vec<String> = faults.collect();
                    faults.iter().for_each(|fault| eprintln!("{fault}"));
                    found.1.extend(faults);
                    found.0.extend(rows);
                }
            });
        }
    });
    found.into_inner().expect("no thread failed")
}

#[test]
fn small_texts_take_time_in_proportion() {
    const BYTES: usize = 16 << 10;
    // Each kind through the first run, and through one of the others.
    let others = RUNS.len() - 1;
    let (rows, faults) = all(
        |kind, run| run == 0 || run == 1 + kind % others,
        |kind, run, folder| growth(kind, run, BYTES, folder),
    );
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    println!("count: {} hostile texts", rows.len());
}

#[test]
#[ignore = "minutes; of a release build"]
fn large_texts_take_little() {
    let sizes = [512, 400 << 10, 1 << 20];
    let (mut rows, faults) = all(
        |_, _| true,
        |kind, run, folder| {
            let rows = sizes.map(|bytes| row(kind, run, bytes, folder));
            (rows.into(), None)
        },
    );
    println!("count: {} hostile texts", rows.len());
    rows.sort_by_key(|r| std::cmp::Reverse(r.used.time));
    println!("most time:");
    rows.iter().take(25).for_each(|r| println!("{}", r.text()));
    rows.sort_by_key(|r| std::cmp::Reverse(r.used.memory));
    println!("most memory:");
    rows.iter().take(25).for_each(|r| println!("{}", r.text()));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
