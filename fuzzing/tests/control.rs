//! Random programs, parts of which become programs of branches and loops, nested and one after the other: the results
//! stay, interpreted and compiled.

use fuser_fuzzing::campaign::{QUICK, USUAL};
use fuser_fuzzing::generate::Tier;
use fuser_fuzzing::generate::fusion::{Config, generate};
use fuser_fuzzing::oracle::{execute, partner};
use fuser_fuzzing::{Source, Stats, mutate};

/// Cases of each tier.
const CASES: u64 = 150;

fn check(tier: Tier) -> Stats {
    let mut stats = Stats::default();
    let controls = mutate::controls();
    for seed in 0..CASES {
        let source = &mut Source::seed(seed);
        let case = generate(source, &Config::small(tier).seeded(seed));
        let expected = execute::expected(&case).unwrap_or_else(|e| panic!("seed {seed}: {e:?}"));
        let first = controls[(seed % controls.len() as u64) as usize];
        let Some(made) = partner::make(&case, first, &controls, source, &mut stats) else {
            continue;
        };
        stats.count("partner", "made");
        let options = USUAL.options(QUICK.compile_options(None));
        let name = format!("seed {seed}");
        let found = partner::check(&case, &made, &expected, &name, options, &mut stats);
        let text = || mutate::printed(&made.case);
        assert!(found.is_empty(), "{found:?}\n{}", text());
    }
    stats
}

#[test]
fn parts_become_programs_of_branches_and_loops() {
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
    println!("count: {made} random programs, parts of which are programs of branches and loops");
    for name in ["branch", "loop"] {
        assert!(stats.of("mutator", name) >= CASES / 3, "{stats}");
    }
    assert_eq!(stats.percent("partner compiled", "agrees"), 100, "{stats}");
}
