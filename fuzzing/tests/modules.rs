//! Fixed seeds of modules of all dialects: tasks around random fusions, programs of launches with random kernels, and
//! code for GPUs that an assembler accepts.
//!
//! A failure is repeated by the command that the message shows. A test fails too where an op of any dialect never
//! occurs.

use std::path::PathBuf;

use fuser_fuzzing::campaign::QUICK;
use fuser_fuzzing::generate::fusion::{self, Config};
use fuser_fuzzing::generate::{Tier, kernels, tasks};
use fuser_fuzzing::oracle::{Finding, ptx};
use fuser_fuzzing::{Source, Stats, modules};

/// Modules of tasks.
const TASKS: u64 = 100;
/// Modules of kernels.
const KERNELS: u64 = 150;
/// Programs for GPUs.
const ASSEMBLED: u64 = 24;
/// Modules that are only made and counted.
const MADE: u64 = 300;

fn told(kind: &str, seed: u64, found: &[Finding]) -> Vec<String> {
    let repeat = format!("soak --only {kind} --small --tier bounded --cases 1 --seed {seed}");
    found.iter().map(|f| format!("`{repeat}`: {f}")).collect()
}

#[test]
fn tasks_mean_what_their_ops_mean() {
    let (mut stats, mut faults) = (Stats::default(), Vec::new());
    let config = Config::small(Tier::Bounded);
    for seed in 0..TASKS {
        let source = &mut Source::seed(seed);
        let config = config.clone().seeded(seed);
        let (_, found) = modules::tasks(source, &config, QUICK, &mut stats);
        faults.extend(told("tasks", seed, &found));
    }
    println!("{stats}\ncount: {TASKS} modules of tasks");
    assert_eq!(faults, Vec::<String>::new());
    assert!(
        stats.of("pass changed", "inline-tasks") > TASKS / 2,
        "{stats}"
    );
}

#[test]
fn kernels_mean_the_same_interpreted_simplified_and_compiled() {
    let (mut stats, mut faults) = (Stats::default(), Vec::new());
    for seed in 0..KERNELS {
        let (_, found) = modules::kernels(&mut Source::seed(seed), QUICK, &mut stats);
        faults.extend(told("kernels", seed, &found));
    }
    println!("{stats}\ncount: {KERNELS} modules of kernels");
    assert_eq!(faults, Vec::<String>::new());
    assert_eq!(stats.percent("kernels compiled", "agrees"), 100, "{stats}");
    for pass in ["canonicalize", "cse", "dce"] {
        assert!(stats.of("pass changed", pass) > 0, "{pass}: {stats}");
    }
}

#[test]
fn every_op_of_every_dialect_is_generated() {
    let mut stats = Stats::default();
    for seed in 0..MADE {
        let source = &mut Source::seed(seed);
        let tier = [Tier::Exact, Tier::Bounded][(seed % 2) as usize];
        let mut case = fusion::generate(source, &Config::new(tier).seeded(seed));
        tasks::draw(&mut case, source);
        stats.program(&case.ir, case.module);
        let case = kernels::generate(source);
        stats.program(&case.ir, case.module);
    }
    let registry = fuser_dialects::registry();
    let ops = registry.dialects().iter().flat_map(|dialect| dialect.ops);
    // Ops that these seeds do not generate. Random programs for GPUs have `kernel.last`. Loops and branches are made of
    // parts of random programs (control.rs). Programs of routines are written by hand (lit-tests/run/routines.fir;
    // src/generate/fusion/mod.rs states the reason). Convolutions and meshes have tests of their own (convolutions.rs,
    // devices.rs).
    let listed = [
        fuser_dialects::fusion::ROUTINE_OPS,
        fuser_dialects::fusion::COLLECTIVE_OPS,
    ];
    let elsewhere = [
        "kernel.last",
        "task.loop",
        "task.if",
        "task.mesh",
        "task.shard",
        "task.devices",
        "fusion.convolution",
    ];
    let ops = ops.filter(|def| !elsewhere.contains(&def.name));
    let listed = |name: &str| listed.into_iter().flatten().any(|def| def.name == name);
    let ops = ops.filter(|def| !listed(def.name));
    let missing = stats.missing("op", ops.map(|def| def.name));
    assert_eq!(missing, Vec::<&str>::new(), "{stats}");
}

/// `$PTXAS`, what the set-up fetched, or one on the path.
fn assembler() -> Option<PathBuf> {
    let named = std::env::var_os("PTXAS").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&path).map(|folder| folder.join("ptxas"));
    named
        .filter(|path| path.is_file())
        .or_else(ptx::fetched)
        .or_else(|| found.find(|path| path.is_file()))
}

#[test]
fn code_for_gpus_is_assembled() {
    let Some(assembler) = assembler() else {
        eprintln!("skipped: ptxas not found; PTX of random programs is not assembled");
        return;
    };
    let (mut stats, mut faults) = (Stats::default(), Vec::new());
    let config = Config::small(Tier::Bounded);
    for seed in 0..ASSEMBLED {
        let source = &mut Source::seed(seed);
        let config = config.clone().seeded(seed);
        let (_, found) = modules::assembled(source, &config, &assembler, &mut stats);
        faults.extend(told("ptx", seed, &found));
    }
    println!("{stats}\ncount: {ASSEMBLED} programs for two GPUs each");
    assert_eq!(faults, Vec::<String>::new());
    // Some generated kernels need more resources than a GPU has.
    assert!(stats.percent("ptx", "assembled") >= 90, "{stats}");
}
