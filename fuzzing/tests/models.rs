//! Fixed seeds of programs as people write them: none is refused, none disagrees with NumPy, and written differently
//! each gives the same bits and moves the same bytes.
//!
//! A failure is repeated by the command that the message shows. The test fails too where the generator goes blind: an
//! op of docs/dialects/fusion.md, an element type or a sentence that never occurs, too much that is left open.

use std::path::Path;

use fuser_dialects::fusion;
use fuser_fuzzing::Stats;
use fuser_fuzzing::models::check::{self, Bench, Level};
use fuser_fuzzing::models::evaluator::Evaluators;
use fuser_fuzzing::models::rewrite::REWRITES;
use fuser_fuzzing::models::sentences::SENTENCES;
use fuser_ir::DType;

/// Programs that are compiled, on each level.
const CASES: u64 = 160;
/// Programs that are only drawn and read.
const DRAWN: u64 = 3000;
/// Per cent of the elements that a comparison of close numbers may leave open.
const OPEN: u64 = 5;

fn faults(seeds: std::ops::Range<u64>, bench: Bench) -> (Stats, Vec<String>) {
    let mut stats = Stats::default();
    let mut faults = Vec::new();
    for seed in seeds {
        let (_, _, found) = check::model(seed, bench, &mut stats);
        let repeat = format!("soak --only models --cases 1 --seed {seed}");
        faults.extend(found.iter().map(|f| format!("`{repeat}`: {f}")));
    }
    (stats, faults)
}

#[test]
fn no_model_is_refused_or_wrong() {
    let evaluators = Evaluators::default();
    let missing = evaluators.missing();
    if let Some(why) = &missing {
        println!("skipped: {why}; models are compiled and run, and not evaluated");
    }
    let mut levels = vec![Level::host()];
    // The oldest processor stands for the levels between.
    if cfg!(target_arch = "x86_64") {
        levels.push(Level::new("x86-64").expect("every x86-64 is one"));
    }
    let bench = Bench {
        levels: &levels,
        evaluators: missing.is_none().then_some(&evaluators),
    };
    let mut stats = Stats::default();
    let mut all = Vec::new();
    std::thread::scope(|scope| {
        let half = scope.spawn(|| faults(0..CASES / 2, bench));
        let (mine, found) = faults(CASES / 2..CASES, bench);
        stats.merge(&mine);
        all.extend(found);
        match half.join() {
            Ok((theirs, found)) => {
                stats.merge(&theirs);
                all.extend(found);
            }
            Err(panic) => std::panic::resume_unwind(panic),
        }
    });
    println!("{stats}");
    println!("count: {CASES} programs as people write them, compiled and run");
    assert_eq!(all, Vec::<String>::new());
    let rewrites = REWRITES.iter().map(|r| r.name);
    assert_eq!(stats.missing("rewritten", rewrites), Vec::<&str>::new());
    if missing.is_none() {
        let elements = stats.of("elements", "compared or open");
        let open = stats.of("elements", "open");
        println!("count: {} elements that NumPy confirms", elements - open);
        assert!(elements > 0 && 100 * open <= OPEN * elements, "{stats}");
    }
}

/// The ops that the documentation has: its headings.
fn documented() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/dialects/fusion.md");
    let text = std::fs::read_to_string(&path).expect("the documentation of the ops is there");
    let headings = text.lines().filter_map(|line| line.strip_prefix("## `"));
    headings
        .map(|name| name.trim_end_matches('`').to_owned())
        .collect()
}

#[test]
fn every_op_type_and_sentence_occurs() {
    let nothing = Bench {
        levels: &[],
        evaluators: None,
    };
    let (stats, faults) = faults(0..DRAWN, nothing);
    println!("{stats}");
    println!("count: {DRAWN} programs as people write them, drawn and read");
    assert_eq!(faults, Vec::<String>::new());
    let ops = documented();
    assert!(ops.len() > 50, "{ops:?}");
    // Texts of JAX have them, with JAX's results (tests/importing); those of devices have tests of their own
    // (tests/devices.rs).
    let others = [
        fusion::ROUTINE_OPS,
        fusion::CONVOLUTION_OPS,
        fusion::COLLECTIVE_OPS,
    ];
    let other = |name: &str| others.into_iter().flatten().any(|def| def.name == name);
    let ops = ops.iter().map(String::as_str).filter(|name| !other(name));
    assert_eq!(stats.missing("op", ops), Vec::<&str>::new());
    let dtypes = DType::ALL.into_iter().map(DType::name);
    assert_eq!(stats.missing("dtype", dtypes), Vec::<&str>::new());
    let extents = [
        "0", "1", "2", "3-4", "5-8", "33-64", "129-256", "b", "named", "?",
    ];
    assert_eq!(stats.missing("extent", extents), Vec::<&str>::new());
    let bound = ["0", "1", "2", "3", "7", "33", "129"];
    assert_eq!(stats.missing("named extent", bound), Vec::<&str>::new());
    let sentences = SENTENCES.iter().copied().flatten().map(|s| s.name);
    assert_eq!(stats.missing("sentence", sentences), Vec::<&str>::new());
    assert!(stats.of("layout", "written") > 0 && stats.of("result", "overwrites") > 0);
}
