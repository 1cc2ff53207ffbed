//! Labels of frontends: the groups that they propose, and that they never cost anything.

use fuser_analysis::cost::Objective;
use fuser_dialects::task::labels;
use fuser_dialects::task::outline::outline;
use fuser_dialects::task::{PATTERN, PROGRAM};
use fuser_ir::{NewOp, Op};

use super::*;

/// Puts the block into a program, so that it can have labels.
fn program(b: &mut Builder) -> Op {
    let new = NewOp {
        regions: b.ir.block_region(b.block).into_iter().collect(),
        ..NewOp::default()
    };
    b.ir.create_op(&PROGRAM, new)
}

/// Draws patterns around ranges of ops, outer ones first, and turns them into labels.
fn label(b: &mut Builder, ranges: &[(&str, std::ops::Range<usize>)]) {
    let program = program(b);
    for (name, range) in ranges.iter().rev() {
        let mut ops: Vec<Op> = b.ops[range.clone()].to_vec();
        // An op inside an inner pattern is represented by that pattern.
        for op in &mut ops {
            while let Some(parent) = b.ir.parent_op(*op).filter(|&p| p != program) {
                *op = parent;
            }
        }
        ops.dedup();
        outline(&mut b.ir, &ops, &PATTERN, Some(name)).expect("a range is a task");
    }
    assert_eq!(labels::note(&mut b.ir, program), ranges.len() as u64);
}

fn records(b: &Builder, result: &Segmentation) -> Vec<String> {
    let labels = result.records.iter().map(|r| r.render(&b.ir));
    labels.filter(|text| text.starts_with("label")).collect()
}

/// A square, its transpose, and what adds both: `e p | q y`, or `e | p q y`, among others.
fn cut(b: &mut Builder) -> Value {
    let x = b.input("x", "512x512xf32");
    let e = b.pw("e", &[x], "512x512xf32");
    let p = b.op(&PERMUTE, "p", &[e], &[1, 0], "512x512xf32");
    let q = b.pw("q", &[p], "512x512xf32");
    b.pw("y", &[e, q], "512x512xf32")
}

#[test]
fn a_label_is_asked_about_as_a_group() {
    let mut b = Builder::default();
    let y = cut(&mut b);
    b.ret(&[y]);
    let (without, _, _) = with_model(&b, Model::default(), Options::default());
    let mut b = Builder::default();
    let y = cut(&mut b);
    b.ret(&[y]);
    label(&mut b, &[("tail", 2..4)]);
    let (with, result, _) = with_model(&b, Model::default(), Options::default());
    let told = records(&b, &result);
    assert_eq!(told[0], "label @tail %y accepted bytes 3145728 launches 1");
    // Both move the same; one keeps the pattern.
    assert_eq!(
        (without.as_str(), with.as_str()),
        ("e p q | y", "e p | q y")
    );
    let ignored = Options {
        labels: false,
        ..Options::default()
    };
    let (_, result, _) = with_model(&b, Model::default(), ignored);
    assert_eq!(records(&b, &result), Vec::<String>::new());
}

#[test]
fn what_is_inside_is_asked_about_where_the_whole_has_no_kernel() {
    let mut b = Builder::default();
    let y = cut(&mut b);
    b.ret(&[y]);
    label(&mut b, &[("all", 0..4), ("inner", 1..3)]);
    let (_, result, _) = with_model(&b, Model::default(), Options::default());
    let told = records(&b, &result);
    assert!(told[0].starts_with("label @all %y refused"), "{told:?}");
    assert!(told[1].starts_with("label @inner %q accepted"), "{told:?}");
}

/// Two patterns that need each other: neither is a group.
#[test]
fn labels_in_a_cycle_are_taken_apart() {
    let mut b = Builder::default();
    let x = b.input("x", "512x512xf32");
    let mut ends = Vec::new();
    for _ in 0..2 {
        let e = b.pw("e", &[x], "512x512xf32");
        let p = b.op(&PERMUTE, "p", &[e], &[1, 0], "512x512xf32");
        ends.push(b.pw("y", &[p, e], "512x512xf32"));
    }
    b.ret(&ends);
    let program = program(&mut b);
    let list = b.ir.string_array_attr(&["a/3/-", "b/3/-"]);
    b.ir.set_attr(program, labels::LABELS, list);
    // The first half of one program with the second half of the other.
    for (op, label) in b.ops.clone().into_iter().zip([0, 1, 1, 1, 0, 0]) {
        let label = b.ir.int_attr(label);
        b.ir.set_attr(op, labels::LABEL, label);
    }
    let (text, result, _) = with_model(&b, Model::default(), Options::default());
    let members = result.groups.iter().map(|g| g.members.len());
    assert_eq!(members.sum::<usize>(), 6, "{text}");
}

/// With labels around random ranges, some inside of others, some programs are grouped otherwise, and some cost less.
#[test]
fn labels_help_some() {
    let (mut better, mut differ, mut seen) = (0, 0, 0);
    for (ops, programs) in [(14, 150), (30, 100), (90, 40)] {
        for seed in 0..programs {
            let found = |labelled: bool| {
                let mut b = random(seed, ops);
                if labelled {
                    label_some(&mut b, seed);
                }
                let mut planner = Planner::new(Model::default());
                let options = Options::default();
                let (graph, result) = segment(&b.ir, b.block, &mut planner, &options);
                let cost = result.cost(&graph, &planner);
                (cost.key(Objective::Bytes), result.is_labelled)
            };
            let ((without, _), (with, differs)) = (found(false), found(true));
            assert!(differs || with == without, "{ops} ops, seed {seed}");
            better += usize::from(with.0 < without.0);
            differ += usize::from(differs);
            seen += 1;
        }
    }
    println!(
        "count: {seen} random programs with labels; {differ} grouped otherwise, {better} move less"
    );
    assert!(differ > 0 && better > 0, "{differ} differ, {better} better");
}

fn label_some(b: &mut Builder, seed: u64) {
    let mut random = Random(seed ^ 0x5eed);
    let mut ranges = Vec::new();
    let mut at = 0;
    while at + 1 < b.ops.len() {
        let length = (2 + random.below(12)).min(b.ops.len() - at);
        if random.below(4) > 0 {
            ranges.push(("layer", at..at + length));
            if length > 4 {
                ranges.push(("part", at + 1..at + 1 + length / 2));
            }
        }
        at += length;
    }
    label(b, &ranges);
}
