//! Properties that hold for any program, tested on random ones: with patterns that a frontend drew, and between plan
//! and drawing.

use crate::common::programs::SQUARES;
use crate::common::{parsed, report, run};
use fuser_dialects::task::outline::outline;
use fuser_dialects::task::{PATTERN, SEGMENT, SWEEP, YIELD};
use fuser_ir::print::{PrintOptions, print};
use fuser_ir::{Op, Traits};
use fuser_passes::cost::{Kind, Model, plan_ops};
use fuser_testing::Random;

/// The same with patterns around ranges of ops, some inside of others.
fn labelled(text: &str, random: &mut Random) -> String {
    let (mut ir, module) = parsed(text);
    let program = ir.children(module)[0];
    let all = ir.children(program);
    let ops: Vec<Op> = all
        .into_iter()
        .filter(|&op| !ir.has(op, Traits::TERMINATOR))
        .collect();
    let mut rest = ops.as_slice();
    while !rest.is_empty() {
        let (range, later) = rest.split_at((1 + random.below(9)).min(rest.len()));
        rest = later;
        let mut ops = range.to_vec();
        if ops.len() > 3 && random.below(2) == 0 {
            let inner = outline(&mut ir, &ops[1..3], &PATTERN, Some("part")).expect("a range");
            ops.splice(1..3, [inner]);
        }
        if random.below(4) > 0 {
            outline(&mut ir, &ops, &PATTERN, Some("layer")).expect("a range");
        }
    }
    print(&ir, module, &PrintOptions::default())
}

fn total(text: &str, passes: &[(&str, &str)]) -> i64 {
    report(&run(text, passes))["total_bytes"]
        .as_i64()
        .expect("bytes")
}

#[test]
fn labels_cost_nothing_in_the_end() {
    let without_patterns = ("inline-tasks", "kinds=pattern");
    let mut better = 0;
    for (ops, programs) in [(12, 60), (40, 25), (90, 10)] {
        for seed in 0..programs {
            let mut random = Random(seed);
            let plain = SQUARES.text(&mut random, ops);
            let text = labelled(&plain, &mut random);
            for passes in [&[("segment", "")][..], &[("segment", ""), ("remat", "")]] {
                let all = [&[without_patterns], passes].concat();
                let (with, without) = (total(&text, passes), total(&text, &all));
                assert!(
                    with <= without,
                    "seed {seed}, {ops} ops: {without} -> {with}\n{text}"
                );
                better += usize::from(with < without);
            }
        }
    }
    println!(
        "count: 190 labelled random programs segmented, {better} move less than without labels"
    );
}

#[test]
fn simplification_sees_through_labels() {
    let simplify = [
        ("canonicalize", ""),
        ("cse", ""),
        ("decompose", ""),
        ("preseg", ""),
    ];
    let inline = [("inline-tasks", "kinds=pattern")];
    for seed in 0..60 {
        let mut random = Random(seed);
        let plain = SQUARES.text(&mut random, 30);
        let text = labelled(&plain, &mut random);
        let with = run(
            &text,
            &[&[("label-patterns", "")], &simplify[..], &inline].concat(),
        );
        let without = run(&plain, &simplify);
        assert_eq!(with.text, without.text, "seed {seed}");
    }
}

#[test]
fn patterns_come_back() {
    for seed in 0..60 {
        let mut random = Random(seed);
        // Rematerialization merges what is equal.
        let plain = run(&SQUARES.text(&mut random, 20), &[("cse", "")]);
        let text = labelled(&plain.text, &mut random);
        let before = run(&text, &[]);
        let passes = [
            ("segment", ""),
            ("remat", ""),
            ("schedule", ""),
            ("inline-tasks", ""),
        ];
        let back = run(&text, &passes);
        assert_eq!(back.errors, Vec::<String>::new());
        assert_eq!(back.text, before.text, "seed {seed}");
        let opened = run(&text, &[("label-patterns", ""), ("inline-tasks", "")]);
        assert_eq!(opened.text, before.text, "seed {seed}");
    }
}

/// The sweeps drawn are as many as were planned; where results of sums are worked on after a sweep, there is at most
/// one more for each op that does so, over their small space. And all of it moves the bytes that were planned.
#[test]
fn as_many_sweeps_are_drawn_as_planned() {
    let (mut segments, mut after) = (0, 0);
    for seed in 0..300 {
        let text = SQUARES.text(&mut Random(seed), 6 + seed as usize % 20);
        let drawn = run(&text, &[("segment", "")]);
        let scheduled = run(&drawn.text, &[("schedule", ""), ("segment-report", "")]);
        assert_eq!(scheduled.errors, Vec::<String>::new(), "seed {seed}");
        let (planned_bytes, bytes) = (report(&drawn), report(&scheduled));
        assert_eq!(
            planned_bytes["total_bytes"], bytes["total_bytes"],
            "seed {seed}\n{}",
            scheduled.text
        );
        let (before, module) = parsed(&drawn.text);
        let (behind, scheduled) = parsed(&scheduled.text);
        let kernels = |ir: &fuser_ir::Ir, module: Op| {
            let program = ir.children(module)[0];
            let all = ir.children(program);
            all.into_iter()
                .filter(|&op| ir.is(op, &SEGMENT))
                .collect::<Vec<Op>>()
        };
        for (plain, swept) in kernels(&before, module)
            .into_iter()
            .zip(kernels(&behind, scheduled))
        {
            let ops = before.children(plain).into_iter();
            let ops: Vec<Op> = ops.filter(|&op| !before.is(op, &YIELD)).collect();
            let plan =
                plan_ops(&before, &ops, &Model::default(), &Default::default()).expect("a plan");
            if plan.kind != Kind::Kernel {
                continue;
            }
            let sweeps = behind.children(swept).into_iter();
            let sweeps = sweeps.filter(|&op| behind.is(op, &SWEEP)).count();
            let behind = plan.sweeps.iter().map(|s| s.epilogues.len());
            let behind = behind.sum::<usize>();
            let planned = plan.sweeps.len();
            assert_eq!(
                sweeps,
                planned + behind,
                "seed {seed}: {planned} planned, {behind} behind them\n{}",
                drawn.text
            );
            segments += 1;
            after += usize::from(sweeps > planned);
        }
    }
    println!(
        "count: {segments} segments of 300 random programs; {after} have a sweep more for what is done to sums"
    );
}
