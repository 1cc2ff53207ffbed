//! Random programs of convolutions and ops around them, through all oracles, with fixed seeds.

use fuser_fuzzing::campaign::{self, QUICK};
use fuser_fuzzing::generate::Tier;
use fuser_fuzzing::generate::fusion::Config;
use fuser_fuzzing::{Source, Stats};

/// Cases of each tier.
const CASES: u64 = 60;

/// Convolutions, and ops that move, add and choose.
const OPS: [&str; 4] = [
    "fusion.convolution",
    "fusion.permute",
    "fusion.add",
    "fusion.relu",
];

#[test]
fn convolutions_agree_whatever_is_done_to_them() {
    for tier in [Tier::Exact, Tier::Bounded] {
        let mut stats = Stats::default();
        for seed in 0..CASES {
            let config = Config {
                allowed: OPS.to_vec(),
                templates: false,
                ..Config::small(tier).seeded(seed)
            };
            let source = &mut Source::seed(seed);
            let (_, found) = campaign::fusion(source, seed, &config, QUICK, &mut stats);
            assert_eq!(found.len(), 0, "seed {seed}: {found:?}");
        }
        println!("{stats}");
        println!(
            "count: {CASES} random programs of convolutions, {}",
            campaign::tier_name(tier)
        );
        assert!(stats.of("op", "fusion.convolution") >= CASES, "{stats}");
        assert_eq!(stats.percent("compiled", "agrees"), 100, "{stats}");
    }
}
