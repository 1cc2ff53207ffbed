//! Fixed seeds of random programs through every oracle: text and back, the verifier and the interpreter after each
//! pass, compiled code on several threads against the interpreter.
//!
//! Exact programs are compared bit for bit, bounded ones within the bound that the interpreter derives. A failure is
//! repeated by the command that the message shows. The tests fail too where the campaign goes blind: a pass of the
//! pipeline that never changes a program, a program that is not compiled.

use fuser_fuzzing::campaign::{self, QUICK, USUAL};
use fuser_fuzzing::generate::Tier;
use fuser_fuzzing::generate::fusion::Config;
use fuser_fuzzing::{Source, Stats};
use fuser_target::{A100, GENERIC};

/// Cases of each test.
const CASES: u64 = 200;

/// The plans of the cost model that cannot be lowered, so that others are taken. In one, a sweep iterates axes of
/// unrelated parts, along which a sum may be empty. In the other, a sum is read in the phase or sweep that computes it,
/// because a gather also reads its operand.
const GIVEN_UP: [&str; 3] = [
    "'': it does not vary along '', which may be empty: it would never be computed",
    "'': its result is needed in the phase that computes it",
    "'': its result is needed in the sweep that computes it, and an axis that it reduces has the role `stream` or `grid`",
];
/// The most of them among the cases of a test.
const MOST_GIVEN_UP: u64 = 3;

fn campaign(tier: Tier) -> (Stats, Vec<String>) {
    let mut stats = Stats::default();
    let mut faults = Vec::new();
    for seed in 0..CASES {
        let config = Config::small(tier).seeded(seed);
        let (_, found) =
            campaign::fusion(&mut Source::seed(seed), seed, &config, QUICK, &mut stats);
        let name = campaign::tier_name(tier);
        let repeat = format!("soak --small --tier {name} --cases 1 --seed {seed}");
        faults.extend(found.iter().map(|f| format!("`{repeat}`: {f}")));
    }
    (stats, faults)
}

fn check(tier: Tier) -> Stats {
    let (stats, faults) = campaign(tier);
    let name = campaign::tier_name(tier);
    println!("{stats}");
    println!("count: {CASES} random programs through all oracles, {name}");
    let agrees = stats.of("compiled", "agrees");
    println!("count: {agrees} compiled programs that agree with the interpreter, {name}");
    assert_eq!(faults, Vec::<String>::new());
    // Each plan that the cost model chose can be lowered but for the known ones, and each program is compiled.
    let given_up = stats.entries("other plan").map(|reason| {
        let times = stats.of("other plan", reason);
        (reason, times)
    });
    let known =
        |(reason, times): &(&str, u64)| GIVEN_UP.contains(reason) && *times <= MOST_GIVEN_UP;
    let unknown: Vec<(&str, u64)> = given_up.filter(|plan| !known(plan)).collect();
    assert_eq!(unknown, Vec::<(&str, u64)>::new());
    assert_eq!(stats.percent("compiled", "agrees"), 100, "{stats}");
    assert_eq!(stats.missing_dtypes(), Vec::<&str>::new());
    let extents = ["0", "1", "3-4", "17-32", "33-64", "1025-2048", "b", "named"];
    assert_eq!(stats.missing("extent", extents), Vec::<&str>::new());
    stats
}

/// The passes that a sample need not show at work: `sink-windows` applies to few programs, to slices of reductions'
/// results, `use-multiples` does nothing where nothing is known of named extents, as here, `peel-rows` nothing to rows
/// of which a thread has few elements, `form-clusters` nothing to rows of less than 4,096 vectors, `stride-grids`
/// nothing to fewer iterations than a launch has blocks. `move-repeats` applies to few programs once dead ops are gone.
/// `update-in-place` does nothing without loops and overwritten arguments, `hoist` nothing without loops, `shard` and
/// `partition` nothing without a mesh, `tile-products` nothing to products that a cache holds. All have tests of their
/// own.
const RARE: [&str; 11] = [
    "tile-products",
    "shard",
    "partition",
    "hoist",
    "update-in-place",
    "move-repeats",
    "sink-windows",
    "use-multiples",
    "peel-rows",
    "form-clusters",
    "stride-grids",
];

/// The passes of the pipelines.
fn passes() -> Vec<&'static str> {
    let targets = [GENERIC, A100];
    let pipelines = targets.iter().map(|target| USUAL.pipeline(target));
    let pipelines = pipelines.map(|p| p.expect("the usual pipeline parses"));
    pipelines
        .flat_map(|p| {
            p.passes()
                .iter()
                .map(|step| step.pass.name)
                .filter(|name| !RARE.contains(name))
                .collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn random_programs_agree_whatever_is_done_to_them() {
    let mut stats = Stats::default();
    std::thread::scope(|scope| {
        let exact = scope.spawn(|| check(Tier::Exact));
        stats.merge(&check(Tier::Bounded));
        match exact.join() {
            Ok(exact) => stats.merge(&exact),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    });
    assert_eq!(stats.missing("pass changed", passes()), Vec::<&str>::new());
}
