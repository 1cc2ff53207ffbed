//! Generators must see: every op, every element type, every kind of extent, and nearly only valid programs.

use fuser_fuzzing::generate::fusion::{self, Config};
use fuser_fuzzing::generate::{Case, Tier};
use fuser_fuzzing::{Source, Stats};
use fuser_ir::DType;
use fuser_ir::def::{OpDef, OperandDef};

const CASES: u64 = 400;

fn fusions(tier: Tier) -> (Stats, Vec<String>) {
    let mut stats = Stats::default();
    let mut faults = Vec::new();
    for seed in 0..CASES {
        let mut case = fusion::generate(&mut Source::seed(seed), &Config::new(tier).seeded(seed));
        stats.program(&case.ir, case.program);
        match fault(&mut case) {
            None => stats.count("outcome", "valid"),
            Some(fault) => {
                stats.count("outcome", "invalid");
                faults.push(format!("seed {seed}: {fault}"));
            }
        }
    }
    println!("{stats}");
    println!("count: {CASES} random fusions generated and verified");
    (stats, faults)
}

fn fault(case: &mut Case) -> Option<String> {
    let found = fuser_ir::verify(&mut case.ir, case.module);
    found
        .items
        .first()
        .map(|d| format!("{} {}", d.code, d.message))
}

fn names(tier: Tier) -> Vec<&'static str> {
    fusion::drawable(&Config::new(tier).seeded(0))
        .iter()
        .map(|def| def.name)
        .collect()
}

fn check(tier: Tier) {
    let (stats, faults) = fusions(tier);
    assert_eq!(faults, Vec::<String>::new());
    assert_eq!(stats.missing("op", names(tier)), Vec::<&str>::new());
    assert_eq!(stats.missing_dtypes(), Vec::<&str>::new());
    let ranks = ["0", "1", "2", "3", "4", "5"];
    assert_eq!(stats.missing("rank", ranks), Vec::<&str>::new());
    let extents = [
        "0",
        "1",
        "2",
        "5-8",
        "17-32",
        "33-64",
        "65-128",
        "129-256",
        "1025-2048",
        "b",
        "?",
        "named",
    ];
    assert_eq!(stats.missing("extent", extents), Vec::<&str>::new());
}

#[test]
fn exact_fusions_cover_the_tables() {
    check(Tier::Exact);
}

#[test]
fn bounded_fusions_cover_the_tables() {
    check(Tier::Bounded);
}

#[test]
fn complex_numbers_meet_every_op_that_takes_them() {
    let mut stats = Stats::default();
    for seed in 0..3 * CASES {
        let tier = [Tier::Exact, Tier::Bounded][(seed % 2) as usize];
        let config = Config {
            complex: true,
            ..Config::new(tier)
        };
        let case = fusion::generate(&mut Source::seed(seed), &config);
        stats.program(&case.ir, case.program);
    }
    println!("{stats}");
    let complex = |operand: &OperandDef| operand.ty.dtypes.contains(DType::C64);
    let takes = |def: &&'static OpDef| def.operands.iter().any(complex);
    // A bit cast refuses them, and lambdas compute with reals.
    let refuses = |name: &&str| !["fusion.bitcast", "fusion.yield"].contains(name);
    let takers = fusion::ops(true).filter(takes).map(|def| def.name);
    let takers = takers.filter(refuses);
    let missing = stats.missing("op on complex numbers", takers);
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn a_blind_generator_is_seen() {
    let mut config = Config::new(Tier::Bounded);
    config.allowed = vec!["fusion.add"];
    config.templates = false;
    let mut stats = Stats::default();
    for seed in 0..20 {
        let case = fusion::generate(&mut Source::seed(seed), &config);
        stats.program(&case.ir, case.program);
    }
    assert!(
        stats
            .missing("op", names(Tier::Bounded))
            .contains(&"fusion.erf")
    );
}

#[test]
fn a_seed_is_a_case() {
    let make = || {
        let case = fusion::generate(&mut Source::seed(7), &Config::new(Tier::Exact));
        let names: Vec<String> = case
            .ir
            .walk(case.module)
            .into_iter()
            .map(|op| case.ir.name(op).to_owned())
            .collect();
        (names, case.inputs, case.extents)
    };
    assert_eq!(make(), make());
}

#[test]
fn bytes_are_a_case_whatever_they_are() {
    for length in 0..300u64 {
        let mut source = Source::seed(length);
        let bytes: Vec<u8> = (0..length).map(|_| source.word() as u8).collect();
        let mut case = fusion::generate(&mut Source::bytes(&bytes), &Config::new(Tier::Exact));
        assert_eq!(fault(&mut case), None, "{length} bytes");
    }
}
