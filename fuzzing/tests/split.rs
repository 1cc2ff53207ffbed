//! Random programs as their segments: a written folder reads back, even if passes changed names and results.

use fuser::compile::CompileOptions;
use fuser::session::Session;
use fuser_fuzzing::Source;
use fuser_fuzzing::generate::Tier;
use fuser_fuzzing::generate::fusion::{Config, generate};
use fuser_ir::print::{PrintOptions, print};

const CASES: u64 = 300;

/// The usual passes, and passes that make each op a segment.
const PASSES: [Option<&str>; 2] = [None, Some("canonicalize,cse,segment{max-ops=1}")];

#[test]
fn a_split_program_is_read_back() {
    let session = Session::new(Default::default()).unwrap();
    let (mut split_up, mut segments) = (0, 0);
    for (seed, tier) in (0..CASES).zip([Tier::Exact, Tier::Bounded].into_iter().cycle()) {
        let case = generate(&mut Source::seed(seed), &Config::small(tier).seeded(seed));
        let text = print(&case.ir, case.module, &PrintOptions::default());
        let (ir, module, _) = session.parse(0, "case.fir", &text).unwrap();
        let Ok(loaded) = session.load(ir, module, None) else {
            continue;
        };
        for passes in PASSES {
            let options = CompileOptions {
                passes: passes.map(String::from),
                ..CompileOptions::default()
            };
            let Ok(split) = session.split(&loaded, &options) else {
                continue;
            };
            if let Err(found) = session.parts(&split) {
                let map = split.map.to_json();
                panic!("seed {seed}, {passes:?}: {found:?}\n{text}\n{map}");
            }
            split_up += 1;
            segments += split.map.segments.len();
        }
    }
    println!("count: {split_up} random programs split and read back, {segments} segments");
    assert!(
        split_up as u64 > CASES && segments > 2 * split_up,
        "{split_up} {segments}"
    );
}
