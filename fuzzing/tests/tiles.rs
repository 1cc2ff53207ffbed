//! Random programs of products whose results exceed the caches of a small machine: after `tile-products`, the
//! interpreter gives the results of the program as it was drawn, and so does the compiled loop.

use fuser::compile::CompileOptions;
use fuser_fuzzing::generate::Tier;
use fuser_fuzzing::generate::case::file;
use fuser_fuzzing::generate::fusion::{self, Config};
use fuser_fuzzing::oracle::compiled::{self, Outcome};
use fuser_fuzzing::oracle::{execute, passes};
use fuser_fuzzing::{Source, Stats};
use fuser_target::TINY;

/// Cases of each tier.
const CASES: u64 = 1200;
const FUEL: u64 = 1 << 28;
const PASS: &str = "tile-products";
const TEXT: &str = "tile-products{target=tiny}";

/// Products, and ops along and across the axes of their results.
const OPS: [&str; 16] = [
    "fusion.matmul",
    "fusion.matmul",
    "fusion.linear",
    "fusion.iota",
    "fusion.permute",
    "fusion.add",
    "fusion.relu",
    "fusion.neg",
    "fusion.sum",
    "fusion.max",
    "fusion.where",
    "fusion.compare",
    "fusion.cast",
    "fusion.slice",
    "fusion.reshape",
    "fusion.cumsum",
];

/// Lengths of which no tile is a divisor, and others.
const LENGTHS: [u64; 6] = [37, 64, 1, 33, 2, 129];

#[test]
fn tiles_agree_with_whole_products() {
    let parsed = fuser_pass::pipeline::parse(TEXT, 0, &fuser::catalog());
    let pipeline = parsed
        .unwrap_or_else(|_| panic!("{PASS} is a pass"))
        .pipeline;
    let (mut stats, mut tiled, mut ran) = (Stats::default(), 0, 0);
    for tier in [Tier::Exact, Tier::Bounded] {
        for seed in 0..CASES {
            let config = Config {
                allowed: OPS.to_vec(),
                templates: false,
                lengths: &LENGTHS,
                elements: 1 << 13,
                work: 1 << 17,
                ..Config::small(tier)
            };
            let case = fusion::generate(&mut Source::seed(seed), &config);
            let Ok(expected) = execute::expected(&case) else {
                continue;
            };
            let before = stats.of("pass changed", PASS);
            let outcome = passes::check(&case, &expected, &pipeline, FUEL, &mut stats);
            assert_eq!(
                outcome.findings,
                Vec::new(),
                "seed {seed}:\n{}",
                file(&case)
            );
            if stats.of("pass changed", PASS) == before {
                continue;
            }
            tiled += 1;
            let options = CompileOptions {
                target: TINY.for_processor("native").expect("a known processor"),
                ..CompileOptions::default()
            };
            match compiled::check(&case, &expected, "in tiles", options) {
                Outcome::Agrees { .. } => ran += 1,
                Outcome::Refused(_) => {}
                Outcome::Found(finding) => panic!("seed {seed}: {finding:?}\n{}", file(&case)),
            }
        }
    }
    println!("{stats}");
    println!("count: {tiled} random programs in tiles, {ran} of them compiled");
    assert!(tiled > 30 && ran == tiled, "{tiled} {ran}");
}
