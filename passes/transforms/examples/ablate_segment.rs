//! Ablation of the segmenter: programs segmented with all steps, and without one of them at a time.
//!
//! ```text
//! cargo run --release -p fuser-passes --example ablate_segment
//! ```
//!
//! A row is a set of options of the pass `segment`. `mean` is the geometric mean of the bytes that the program moves after
//! `remat`, over those with all steps; then in how many programs it is more and less, and the worst; kernels, questions to the
//! cost model and ops planned are sums. Programs are random ones of so many ops (see `SQUARES`), trees, layers, cuts and knots
//! of 40 and 200 ops, and issue 2473.

#[path = "../tests/common/mod.rs"]
mod common;

use common::programs::{FAMILIES, KNOTS, SQUARES};
use common::{report, run};
use fuser_testing::Random;

const ISSUE: &str = include_str!("../../../examples/issue_2473.fir");

/// Sets of options, all steps first.
const STEPS: [(&str, &str); 10] = [
    ("all steps", ""),
    ("no components", "top-down=false"),
    ("no orders, no windows", "restarts=false"),
    ("no moves and copies", "refine=false"),
    ("no views first", "views=false"),
    ("no equal layers", "layers=false"),
    ("no horizontal merges", "horizontal=false"),
    ("no rounds", "rounds=0"),
    (
        "merging alone",
        "top-down=false restarts=false refine=false rounds=0",
    ),
    ("tiny target", "target=tiny"),
];

fn main() {
    let random = |ops: usize, count: u64| -> Vec<String> {
        let seeds = 0..count;
        seeds
            .map(|seed| SQUARES.text(&mut Random(seed), ops))
            .collect()
    };
    let families = FAMILIES.into_iter().chain(KNOTS);
    // What has named extents has no bytes to compare.
    let families = families.filter(|(name, _)| *name != "chain");
    let mut known: Vec<String> = families
        .flat_map(|(_, family)| [family(40), family(200)])
        .collect();
    known.push(ISSUE.to_owned());
    let sets = [
        ("known", known),
        ("random, 8 ops", random(8, 300)),
        ("random, 14 ops", random(14, 300)),
        ("random, 40 ops", random(40, 100)),
        ("random, 120 ops", random(120, 20)),
    ];
    for (name, programs) in sets {
        println!("{name}: {} programs", programs.len());
        let mut all = Vec::new();
        for (step, options) in STEPS {
            let (mut bytes, mut sums) = (Vec::new(), [0; 3]);
            for text in &programs {
                let run = run(text, &[("preseg", ""), ("segment", options), ("remat", "")]);
                bytes.push(report(&run)["total_bytes"].as_u64().expect("bytes") as f64);
                let names = [
                    "segment.kernels",
                    "segment.questions",
                    "segment.planned-ops",
                ];
                for (sum, name) in sums.iter_mut().zip(names) {
                    *sum += run.statistics[name];
                }
            }
            if all.is_empty() {
                all.clone_from(&bytes);
            }
            let ratios = bytes.iter().zip(&all).map(|(a, b)| match *b == 0.0 {
                true => 1.0,
                false => a / b,
            });
            let ratios: Vec<f64> = ratios.collect();
            let mean = ratios.iter().map(|r| r.ln()).sum::<f64>() / ratios.len() as f64;
            let worst = ratios.iter().copied().fold(0.0, f64::max);
            println!(
                "  {step:<22} mean {:.5} more {:>3} less {:>3} worst {worst:>6.3} kernels {:>5} questions {:>7} planned {:>8}",
                mean.exp(),
                ratios.iter().filter(|r| **r > 1.0).count(),
                ratios.iter().filter(|r| **r < 1.0).count(),
                sums[0],
                sums[1],
                sums[2],
            );
        }
    }
}
