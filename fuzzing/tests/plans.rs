//! Any op can be compiled alone, and so can any program: the last resort of scheduling rests on it.
//!
//! Each tensor op by itself, in shapes with extents 0 and 1, names, `?`, axes that are stored once, and other layouts,
//! for the CPU and for a GPU. And whole programs as one segment each, which mostly has no schedule: it is cut until it
//! has, and computes the same.

use fuser::compile::{CompileOptions, compile};
use fuser_dialects::task::{self, outline};
use fuser_fuzzing::generate::fusion::{self, Config};
use fuser_fuzzing::generate::{Case, Tier};
use fuser_fuzzing::mutate::MUTATORS;
use fuser_fuzzing::oracle::compiled::{self, Outcome};
use fuser_fuzzing::{Source, Stats, campaign};
use fuser_ir::Op;
use fuser_target::H100;

/// Cases of each op.
const CASES: u64 = 4;
/// Programs that become one segment.
const WHOLE: u64 = 60;

/// For the host, with these passes before scheduling.
fn with_passes(passes: Option<String>) -> CompileOptions {
    CompileOptions {
        passes,
        ..CompileOptions::default()
    }
}

/// One op, with the ops that make its operands fit.
fn alone(op: &'static str, seed: u64) -> Case {
    let tier = [Tier::Exact, Tier::Bounded][(seed % 2) as usize];
    let config = Config {
        ops: 1,
        allowed: vec![op],
        templates: false,
        ..Config::small(tier)
    }
    .seeded(seed);
    let mut source = Source::seed(seed);
    let mut case = fusion::generate(&mut source, &config);
    for name in ["lay-out", "transpose-inputs"] {
        let mut mutators = MUTATORS.iter().filter(|m| m.name == name);
        if let Some(mutator) = mutators.next().filter(|_| source.chance(1, 2)) {
            let mut changed = case.clone();
            if mutator.apply(&mut changed, &mut source) {
                case = changed;
            }
        }
    }
    case
}

fn compiled_alone(op: &'static str, seed: u64, stats: &mut Stats) -> Vec<String> {
    let case = alone(op, seed);
    stats.program(&case.ir, case.program);
    let expected = match campaign::expected(&case) {
        Ok(expected) => expected,
        Err(finding) => return vec![format!("{op}, seed {seed}: {finding}")],
    };
    let mut faults = Vec::new();
    let apart = "unpack-floats,split-complex,decompose,segment{max-ops=1}".to_owned();
    for (name, passes) in [("usual", None), ("alone", Some(apart))] {
        match compiled::check(&case, &expected, name, with_passes(passes)) {
            Outcome::Agrees { other_plans, .. } => {
                stats.count("compiled", name);
                faults.extend(other_plans);
            }
            Outcome::Refused(text) => faults.push(text),
            Outcome::Found(finding) => faults.push(finding.to_string()),
        }
    }
    let options = CompileOptions {
        target: H100,
        ..CompileOptions::default()
    };
    if let Err(told) = compile(&case.ir, case.module, &options) {
        faults.push(format!(
            "for a GPU: {told:?} {}",
            fuser_ir::print::print(&case.ir, case.module, &Default::default())
        ));
    }
    let told = |fault| format!("{op}, seed {seed}: {fault}");
    faults.into_iter().map(told).collect()
}

#[test]
fn every_op_alone_is_compiled() {
    let ops: Vec<&'static str> = fusion::ops(true).map(|op| op.name).collect();
    let (mut stats, mut faults) = (Stats::default(), Vec::new());
    for (number, &op) in (0u64..).zip(&ops) {
        for seed in 0..CASES {
            faults.extend(compiled_alone(op, 1000 * number + seed, &mut stats));
        }
    }
    println!(
        "{stats}\ncount: {} programs of one op",
        CASES * ops.len() as u64
    );
    assert_eq!(faults, Vec::<String>::new());
    assert_eq!(stats.missing("op", ops), Vec::<&str>::new());
    let extents = ["0", "1", "3-4", "17-32", "b", "named", "?"];
    assert_eq!(stats.missing("extent", extents), Vec::<&str>::new());
}

/// Makes codes of the program's floats of 4 bits, and pairs of reals of its complex numbers.
fn known_to_kernels(case: &mut Case) {
    // As compiling does.
    fuser::compile::name_extents(&mut case.ir, case.program);
    let text = "task.program(unpack-floats,split-complex)";
    let parsed = fuser_pass::pipeline::parse(text, 0, &fuser::catalog());
    let pipeline = parsed.expect("the text names a pass").pipeline;
    let mut manager = fuser_pass::Manager::new(fuser_ir::verify);
    let report = manager.run(&mut case.ir, case.module, &pipeline);
    assert!(report.failure.is_none(), "{:?}", report.diagnostics);
}

/// Encloses all ops of the program in one segment, which no text contains.
fn enclose(case: &mut Case) -> bool {
    let ir = &mut case.ir;
    let ops = ir.children(case.program).into_iter();
    let ops: Vec<Op> = ops.filter(|&op| !ir.is(op, &task::RETURN)).collect();
    outline::outline(ir, &ops, &task::SEGMENT, Some("all")).is_ok()
}

#[test]
fn a_segment_without_a_schedule_is_cut_until_it_has_one() {
    let (mut faults, mut cut) = (Vec::new(), 0);
    for seed in 0..WHOLE {
        let tier = [Tier::Exact, Tier::Bounded][(seed % 2) as usize];
        let mut case = fusion::generate(&mut Source::seed(seed), &Config::small(tier).seeded(seed));
        let expected = match campaign::expected(&case) {
            Ok(expected) => expected,
            Err(finding) => {
                faults.push(format!("seed {seed}: {finding}"));
                continue;
            }
        };
        // Complex values cannot cross the boundary of a segment.
        known_to_kernels(&mut case);
        if !enclose(&mut case) {
            continue;
        }
        let options = with_passes(Some("decompose{executors=none}".into()));
        match compiled::check(&case, &expected, "whole", options) {
            Outcome::Agrees { other_plans, .. } => cut += u64::from(!other_plans.is_empty()),
            Outcome::Refused(text) => faults.push(format!("seed {seed}: {text}")),
            Outcome::Found(finding) => faults.push(format!("seed {seed}: {finding}")),
        }
    }
    println!("count: {cut} of {WHOLE} programs cut because one kernel for all has no schedule");
    assert_eq!(faults, Vec::<String>::new());
    assert!(cut > 0, "{cut}");
}
