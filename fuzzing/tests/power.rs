//! The power of the check on a few examples, and the measurement itself: kinds of changes, noise, effects.
//!
//! All classes are measured by the command of docs/fuzzing.md.

use std::collections::BTreeSet;

use fuser_fuzzing::Source;
use fuser_fuzzing::oracle::verify;
use fuser_fuzzing::power::changes::{CHANGES, draw};
use fuser_fuzzing::power::effect::{ALTERS, Noise};
use fuser_fuzzing::power::judge::CompiledCase;
use fuser_fuzzing::power::measure_all;
use fuser_fuzzing::power::programs::{Program, files};
use fuser_fuzzing::power::table::{Row, details};

/// The least share of altering changes that is found, in per cent.
const LEAST: f64 = 99.0;
/// Examples of each sort: elementwise, rows, rows and columns, products, windows.
const NAMES: [&str; 6] = [
    "gelu.fir",
    "softmax.fir",
    "layer_norm_backward.fir",
    "attention_backward.fir",
    "rope.fir",
    "dropout.fir",
];

fn examples(names: &[&str]) -> Vec<Program> {
    let mut all = files("examples").unwrap();
    all.retain(|program| names.contains(&program.name.as_str()));
    assert_eq!(all.len(), names.len());
    all
}

#[test]
fn changes_of_examples_are_found() {
    let measured = measure_all(&examples(&NAMES), 20, 0, 2);
    let row = Row::of("examples", &measured);
    let told = details(&measured, false);
    println!(
        "count: {} changed examples that alter a result",
        row.altering
    );
    assert_eq!(
        (row.false_alarms, row.not_checked, row.skipped),
        (0, 0, 0),
        "{told}"
    );
    assert!(row.altering > 60, "{row:?}");
    assert!(row.percent() >= LEAST, "{told}");
}

#[test]
fn every_kind_of_change_is_drawn_and_verifies() {
    let programs = [
        files("examples").unwrap(),
        files("examples/models").unwrap(),
    ]
    .concat();
    let mut kinds = BTreeSet::new();
    let mut source = Source::seed(1);
    for program in &programs {
        for _ in 0..20 {
            let mut changed = draw(&program.case, &mut source).unwrap();
            let (ir, module) = (&mut changed.case.ir, changed.case.module);
            assert_eq!(verify::check(ir, module, ""), None, "{}", changed.what);
            kinds.insert(changed.kind);
        }
    }
    let all: BTreeSet<&str> = CHANGES.iter().map(|change| change.name).collect();
    assert_eq!(kinds, all);
}

/// Another order of sums and other functions are noise; a wrong element in one place is not.
#[test]
fn the_program_itself_is_within_its_noise() {
    for program in files("examples").unwrap() {
        let noise = Noise::of(&program.case, 7).unwrap();
        let run = CompiledCase::of(&program.case)
            .unwrap()
            .run(&program.case)
            .unwrap();
        let effect = noise.effect(&run);
        assert!(effect.times < ALTERS / 2.0, "{}: {effect:?}", program.name);
    }
}
