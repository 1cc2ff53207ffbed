//! How the work of segmentation and of rematerialization grows, by their own counters: never by the clock.

mod common;
#[path = "common/programs.rs"]
mod programs;

use common::{Run, run};

/// All that the pass counts as work.
fn work(run: &Run) -> u64 {
    assert_eq!(run.errors, Vec::<String>::new());
    let counters = [
        "questions",
        "planned-ops",
        "refinements",
        "refined-ops",
        "axis-steps",
    ];
    let counted = counters.map(|c| run.statistics[&format!("segment.{c}")]);
    counted.iter().sum()
}

/// All that rematerialization counts as work.
fn work_of_remat(run: &Run) -> u64 {
    let counters = ["work", "steps", "planned-ops"];
    let counted = counters.map(|c| run.statistics[&format!("remat.{c}")]);
    counted.iter().sum()
}

fn segmented(text: &str) -> Run {
    run(text, &[("segment", "")])
}

/// From 100 ops to 102,400. Each doubling may cost 2.2 times what any smaller program did: work falls where stretches of a
/// program begin to be equal. One doubling is above that: up to 1,600 ops a tree is one or two whole questions, at 3,200 what
/// stretches leave over is merged, which asks a dozen questions about nearly as many ops as a kernel may have.
#[test]
fn twice_the_program_is_little_more_than_twice_the_work() {
    for (name, family) in programs::FAMILIES {
        let sizes: Vec<usize> = (0..=10).map(|doublings| 100 << doublings).collect();
        let counts: Vec<u64> = sizes
            .iter()
            .map(|&n| work(&segmented(&family(n))))
            .collect();
        println!("{name} from 100 ops: {counts:?}");
        for next in 1..counts.len() {
            let most = counts[..next].iter().max().copied().unwrap_or(0);
            let (bound, per_op) = (most * 22, counts[next] / sizes[next] as u64);
            let first_merges = name == "tree" && sizes[next] == 3200 && per_op < 5;
            assert!(
                counts[next] * 10 <= bound || first_merges,
                "{name}: {counts:?}"
            );
        }
    }
}

#[test]
fn twice_the_program_is_little_more_than_twice_the_work_of_remat() {
    for (name, family) in programs::FAMILIES {
        // Of a chain the borders are what costs, and only later are there little more than twice as many in one twice as long.
        let first = match name {
            "tree" | "chain" => 8000,
            _ => 4000,
        };
        let counts = (0..3).map(|doublings| {
            let text = family(first << doublings);
            work_of_remat(&run(&text, &[("segment", ""), ("remat", "")]))
        });
        let counts: Vec<u64> = counts.collect();
        println!("remat of {name} from {first} ops: {counts:?}");
        for pair in counts.windows(2) {
            assert!(
                pair[1] * 10 <= pair[0] * 22,
                "remat of {name} from {first} ops: {counts:?}"
            );
        }
    }
}

/// Turns with rematerialization look at no more than a budget; what is beyond it is told.
#[test]
fn a_program_beyond_the_budget_of_turns_gets_none_and_says_so() {
    let told = |ops: usize| {
        let run = segmented(&programs::chain(ops));
        let mut remarks = run.remarks.into_iter();
        remarks.any(|r| r.contains("round refused too-many-ops { ops: "))
    };
    assert!(!told(4000) && told(20_000));
}

/// nvFuser took 0.3 s for 20 layers and 300 s for 30.
#[test]
fn there_is_no_cliff_between_20_and_30_layers() {
    let counts: Vec<u64> = [10, 20, 30, 40]
        .map(|count| work(&segmented(&programs::layers(count))))
        .into();
    let per_layer = |index: usize| counts[index] as f64 / (10 * (index + 1)) as f64;
    for index in 1..counts.len() {
        let (before, after) = (per_layer(index - 1), per_layer(index));
        assert!(after <= before * 1.1, "{counts:?}");
    }
}

#[test]
fn a_hundred_equal_layers_pay_for_one() {
    let plans = |count: usize| segmented(&programs::layers(count)).statistics["segment.plans"];
    let (few, many) = (plans(5), plans(100));
    assert_eq!(few, many, "plans for 5 layers and for 100");
}
