//! Random programs whose products may be a part of sums agree with the reference that allows it.

use fuser::compile::CompileOptions;
use fuser_fuzzing::Source;
use fuser_fuzzing::generate::Tier;
use fuser_fuzzing::generate::case::file;
use fuser_fuzzing::generate::fusion::{self, Config};
use fuser_fuzzing::oracle::compiled::{self, Outcome};
use fuser_fuzzing::oracle::execute;
use fuser_target::{GENERIC, Target};

#[test]
fn contracted_random_programs_agree() {
    #[cfg(target_arch = "x86_64")]
    if !std::arch::is_x86_feature_detected!("fma") {
        println!("unsupported: no fused multiply-adds; nothing is contracted here");
        return;
    }
    let options = CompileOptions {
        target: Target {
            contract: 1,
            ..GENERIC
        },
        ..CompileOptions::default()
    };
    let (mut agree, mut contracted) = (0, 0);
    for seed in 0..150 {
        let tier = [Tier::Exact, Tier::Bounded][(seed % 2) as usize];
        let config = Config::small(tier).seeded(seed);
        let case = fusion::generate(&mut Source::seed(seed), &config);
        let Ok(expected) = execute::expected_of(&case, true) else {
            continue;
        };
        match compiled::check(&case, &expected, "contracted", options.clone()) {
            Outcome::Agrees { .. } => agree += 1,
            Outcome::Refused(_) => continue,
            Outcome::Found(finding) => panic!("seed {seed}: {finding:?}\n{}", file(&case)),
        }
        // Compared with the reference for uncontracted code, some of them are wrong.
        let defined = execute::expected(&case).unwrap();
        let wrong = compiled::check(&case, &defined, "contracted", options.clone());
        contracted += u32::from(matches!(wrong, Outcome::Found(_)));
    }
    println!("count: {agree} contracted random programs, {contracted} of them with other results");
    assert!(agree > 100 && contracted > 0, "{agree} {contracted}");
}
