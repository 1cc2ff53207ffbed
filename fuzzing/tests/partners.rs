//! Fixed seeds of random programs and their partners: changed without changing the meaning, they give the same results,
//! interpreted and compiled.
//!
//! A failure is repeated by the command that the message shows. The test fails too where a mutator is never applied.

use fuser_fuzzing::campaign::{self, QUICK};
use fuser_fuzzing::generate::Tier;
use fuser_fuzzing::generate::fusion::Config;
use fuser_fuzzing::mutate::MUTATORS;
use fuser_fuzzing::{Source, Stats};

/// Cases of each tier.
const CASES: u64 = 180;
/// Times that each mutator has to be applied.
const APPLIED: u64 = 3;

fn check(tier: Tier) -> Stats {
    let mut stats = Stats::default();
    let mut faults = Vec::new();
    let name = campaign::tier_name(tier);
    for seed in 0..CASES {
        let config = Config::small(tier).seeded(seed);
        let (_, found) =
            campaign::partners(&mut Source::seed(seed), seed, &config, QUICK, &mut stats);
        let repeat = format!("soak --only partners --small --tier {name} --cases 1 --seed {seed}");
        faults.extend(found.iter().map(|f| format!("`{repeat}`: {f}")));
    }
    assert_eq!(faults, Vec::<String>::new());
    stats
}

#[test]
fn partners_give_the_same_results() {
    let mut stats = Stats::default();
    std::thread::scope(|scope| {
        let exact = scope.spawn(|| check(Tier::Exact));
        stats.merge(&check(Tier::Bounded));
        match exact.join() {
            Ok(exact) => stats.merge(&exact),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    });
    println!("{stats}");
    let made = stats.of("partner", "made");
    println!("count: {made} random programs and their partners");
    let rare = MUTATORS
        .iter()
        .map(|m| m.name)
        .filter(|name| stats.of("mutator", name) < APPLIED);
    assert_eq!(rare.collect::<Vec<_>>(), Vec::<&str>::new(), "{stats}");
    assert_eq!(stats.percent("partner compiled", "agrees"), 100, "{stats}");
    assert!(stats.of("partner bytes", "compared") > 0, "{stats}");
}
