//! The reducer as a whole, on predicates that are functions of the text.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::predicate::OnText;
use super::program::{Program, Rules};
use super::search::{Config, Outcome, Stop, search};
use super::strategy::{self, STRATEGIES, Site, Strategy};

fn program(text: &str) -> Program {
    let program = Program::read("test.fir", text, Rules::default());
    program.unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"))
}

fn config(strategies: &'static [&'static Strategy]) -> Config<'static> {
    Config {
        strategies,
        rules: Rules::default(),
        jobs: 1,
        max_steps: u64::MAX,
    }
}

fn run(text: &str, config: &Config<'_>, test: impl Fn(&str) -> bool + Sync) -> Outcome {
    let program = program(text);
    assert!(test(&program.text), "{}", program.text);
    let never = AtomicBool::new(false);
    search(program, &OnText(test), config, &never, &mut |_| {})
}

fn reduced(text: &str, test: impl Fn(&str) -> bool + Sync) -> Outcome {
    run(text, &config(STRATEGIES), test)
}

/// A chain of `count` additions and multiplications that feed on each other, with `planted` in the middle.
fn long_program(count: usize, planted: &str) -> String {
    let mut text = String::from(
        "task.program @f(%x: tensor<[B]x1024xf32>, %s: f32) -> (tensor<[B]x1024xf32>, tensor<[B]x1024xf32>) {\n  \
         %v0 = fusion.neg %x\n  %v1 = fusion.abs %x\n",
    );
    for i in 2..count {
        let (a, b) = (i - 1, i / 2);
        let line = match i {
            _ if i == count / 2 => format!("  %v{i} = {planted} %v{a}\n"),
            _ if i % 3 == 0 => format!("  %v{i} = fusion.mul %v{a}, %s\n"),
            _ => format!("  %v{i} = fusion.add %v{a}, %v{b}\n"),
        };
        text.push_str(&line);
    }
    let (a, b) = (count - 1, count / 3);
    text.push_str(&format!("  task.return %v{a}, %v{b}\n}}\n"));
    text
}

#[test]
fn one_op_in_five_hundred_is_found_with_few_tests() {
    let found = reduced(&long_program(500, "fusion.exp"), |text| {
        text.contains("fusion.exp")
    });
    assert!(found.program.ops() <= 3, "{}", found.program.text);
    // Two tests for each halving of 500, one for each strategy.
    let bound = 2 * 9 + STRATEGIES.len() as u64;
    assert!(found.statistics.steps <= bound, "{:?}", found.statistics);
    assert_eq!(found.statistics.panics, [""; 0]);
    assert_eq!(found.stop, None);
}

#[test]
fn tests_grow_with_the_logarithm() {
    let steps = |count: usize| {
        let found = reduced(&long_program(count, "fusion.exp"), |t| {
            t.contains("fusion.exp")
        });
        found.statistics.steps
    };
    let (small, large) = (steps(64), steps(1024));
    // Four doublings, two tests for each in each of the strategies that look at ops.
    assert!(large <= small + 4 * 2 * 5, "{small} {large}");
}

#[test]
fn a_chain_that_matters_stays_connected() {
    let text = long_program(100, "fusion.exp");
    let chained = |text: &str| {
        let Some(line) = text.lines().find(|l| l.contains("fusion.exp")) else {
            return false;
        };
        let name = line.trim().split(' ').next().unwrap_or("").to_owned();
        let uses = |l: &str| l.contains("fusion.mul") && l.contains(&format!("{name},"));
        text.lines().any(uses)
    };
    assert!(chained(&text), "{text}");
    let found = reduced(&text, chained);
    // The program, the two ops, the return.
    assert_eq!(found.program.ops(), 4, "{}", found.program.text);
}

#[test]
fn types_that_change_along_a_chain_do_not_keep_it() {
    let mut text = String::from("task.program @f(%x: f32) -> f32 {\n  %v0 = fusion.exp %x\n");
    for i in 1..=40 {
        let to = ["f32", "f64", "bf16"][i % 3];
        text.push_str(&format!("  %v{i} = fusion.cast %v{} to {to}\n", i - 1));
    }
    text.push_str("  %y = fusion.cast %v40 to f32\n  task.return %y\n}\n");
    let returned = |text: &str| text.contains("fusion.exp") && !text.contains("f(%x: f32) {");
    let found = reduced(&text, returned);
    assert_eq!(found.program.ops(), 3, "{}", found.program.text);
    assert!(found.statistics.rounds <= 4, "{:?}", found.statistics);
}

#[test]
fn depth_does_not_matter() {
    let depth = 600;
    let mut text = String::from("task.program @f(%x: f32) -> f32 {\n");
    for i in 0..depth {
        text.push_str(&format!("%v{i} = task.pattern @p {{\n"));
    }
    text.push_str("%e = fusion.exp %x\n task.yield %e\n}\n");
    for i in (1..depth).rev() {
        text.push_str(&format!("task.yield %v{i}\n}}\n"));
    }
    text.push_str("task.return %v0\n}\n");
    let inside = |text: &str| text.contains("fusion.exp") && text.contains("task.pattern");
    let found = reduced(&text, inside);
    assert_eq!(found.statistics.panics, [""; 0]);
    // The program, one pattern, its op and its end, and the end of the program.
    assert_eq!(found.program.ops(), 5, "{}", found.program.text);
}

#[test]
fn the_number_of_jobs_does_not_show() {
    let text = long_program(120, "fusion.exp");
    let results = [1, 2, 7].map(|jobs| {
        let config = Config {
            jobs,
            ..config(STRATEGIES)
        };
        let found = run(&text, &config, |t| {
            t.contains("fusion.exp") && t.contains("1024")
        });
        (found.program.text, found.statistics)
    });
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
}

#[test]
fn nothing_is_left_where_everything_is_interesting() {
    for text in SAMPLES {
        let found = reduced(text, |_| true);
        assert_eq!(found.program.ops(), 0, "{}", found.program.text);
        assert_eq!(found.stop, None);
    }
}

#[test]
fn a_limit_of_steps_leaves_the_best_so_far() {
    let text = long_program(200, "fusion.exp");
    let mut last = usize::MAX;
    for max_steps in [0, 1, 5, 20] {
        let config = Config {
            max_steps,
            jobs: 3,
            ..config(STRATEGIES)
        };
        let found = run(&text, &config, |t| t.contains("fusion.exp"));
        assert_eq!(found.statistics.steps, max_steps);
        assert_eq!(found.stop, Some(Stop::Steps));
        assert!(found.program.text.contains("fusion.exp"));
        assert!(found.program.ops() <= last);
        last = found.program.ops();
    }
}

#[test]
fn an_interrupt_leaves_the_best_so_far() {
    let program = program(&long_program(200, "fusion.exp"));
    let (calls, interrupt) = (AtomicU64::new(0), AtomicBool::new(false));
    let test = |text: &str| {
        interrupt.store(calls.fetch_add(1, Ordering::SeqCst) == 10, Ordering::SeqCst);
        text.contains("fusion.exp")
    };
    let config = config(STRATEGIES);
    let found = search(program, &OnText(test), &config, &interrupt, &mut |_| {});
    assert_eq!(found.stop, Some(Stop::Interrupted));
    assert!(found.program.text.contains("fusion.exp"));
    assert!(found.program.ops() < 200);
}

#[test]
fn a_panic_of_a_strategy_is_told_and_nothing_is_lost() {
    static BROKEN: Strategy = Strategy {
        name: "broken",
        doc: "panics",
        sites: |_, module| vec![Site::Op(module)],
        apply: |_, _, _| panic!("a test of panics"),
        again: true,
    };
    static LIST: [&Strategy; 2] = [&BROKEN, &super::strategies::ops::TO_OPERANDS];
    let found = run(&long_program(20, "fusion.exp"), &config(&LIST), |_| true);
    assert_eq!(found.statistics.panics, ["broken"]);
    assert_eq!(found.program.ops(), 2, "{}", found.program.text);
}

// --- strategy by strategy ----------------------------------------------------------------------------------------------

/// The result of one strategy alone on a program while `kept` stands in its text.
fn alone(name: &str, text: &str, kept: &[&str]) -> String {
    let strategy = strategy::find(name).unwrap_or_else(|| panic!("{name}"));
    let config = Config {
        strategies: &[strategy],
        ..config(&[])
    };
    let found = run(text, &config, |t| kept.iter().all(|k| t.contains(k)));
    assert_eq!(found.statistics.panics, [""; 0]);
    found.program.text
}

/// Strategy, program, what must stay, what comes out.
const CASES: &[(&str, &str, &[&str], &str)] = &[
    (
        "programs",
        "task.program @f() {\n}\ntask.program @g() {\n}\ntask.program @h() {\n}",
        &["@g"],
        "task.program @g() {\n}",
    ),
    (
        "results",
        "task.program @f(%x: f32) -> (f32, f32 {alias = 0 : i64}, f32) {\n  %a = fusion.exp %x\n  %b = fusion.neg %x\n  task.return %b, %x, %a\n}",
        &["%x, %a"],
        "task.program @f(%x: f32) -> (f32 {alias = 0 : i64}, f32) {\n  %a = fusion.exp %x\n  %b = fusion.neg %x\n  task.return %x, %a\n}",
    ),
    (
        "results",
        "task.program @f(%x: f32) -> f32 {\n  %p, %q = task.segment @s {\n    %a = fusion.exp %x\n    %b = fusion.neg %x\n    task.yield %a, %b\n  }\n  %r = fusion.add %p, %q\n  task.return %r\n}",
        &["%b\n", "return %r"],
        "task.program @f(%x: f32) -> f32 {\n  %q = task.segment @s {\n    %a = fusion.exp %x\n    %b = fusion.neg %x\n    task.yield %b\n  }\n  %r = fusion.add %x, %q\n  task.return %r\n}",
    ),
    (
        "results",
        "kernel.func @k(%x: memref<?xf32>, %n: index) {\n  %z = fusion.constant value 0 : f32\n  %p, %q = kernel.for %n, %n, %n, %z, %z map \"thread\" combine [\"add\", \"max\"] {\n  ^bb0(%i: index, %a: f32, %b: f32):\n    %c = fusion.add %a, %b\n    kernel.yield %a, %c\n  }\n  kernel.store %q, %x, %n\n}",
        &["max"],
        "kernel.func @k(%x: memref<?xf32>, %n: index) {\n  %z = fusion.constant value 0 : f32\n  %q = kernel.for %n, %n, %n, %z map \"thread\" combine [\"max\"] {\n  ^bb0(%i: index, %b: f32):\n    %c = fusion.add %z, %b\n    kernel.yield %c\n  }\n  kernel.store %q, %x, %n\n}",
    ),
    (
        "ops-to-operands",
        "task.program @f(%x: f32, %y: f32) -> f32 {\n  %a = fusion.exp %y\n  %b = fusion.neg %a\n  %c = fusion.abs %b\n  task.return %c\n}",
        &["fusion.neg"],
        "task.program @f(%x: f32, %y: f32) -> f32 {\n  %b = fusion.neg %y\n  task.return %b\n}",
    ),
    (
        "ops-to-arguments",
        "task.program @f(%x: f32, %y: f32) -> i1 {\n  %a = fusion.exp %y\n  %b = fusion.compare %a, %x predicate lt\n  task.return %b\n}",
        &["fusion.exp"],
        "task.program @f(%x: f32, %y: f32, %b: i1) -> i1 {\n  %a = fusion.exp %y\n  task.return %b\n}",
    ),
    (
        "ops-to-fresh-arguments",
        "task.program @f(%x: f32) -> f32 {\n  %a = fusion.exp %x\n  %b = fusion.neg %x\n  %c = fusion.sub %a, %b\n  task.return %c\n}",
        &["sub %a, %b"],
        "task.program @f(%x: f32, %b: f32, %a: f32) -> f32 {\n  %c = fusion.sub %a, %b\n  task.return %c\n}",
    ),
    (
        "ops-to-constants",
        "task.program @f(%x: tensor<[B]x2xf32>) -> tensor<[B]xf32> {\n  %a = fusion.exp %x\n  %b = fusion.sum %a dims [1]\n  task.return %b\n}",
        &["fusion.sum"],
        "task.program @f(%x: tensor<[B]x2xf32>) -> tensor<[B]xf32> {\n  %a = fusion.constant value 0.0 : tensor<[B]x2xf32>\n  %b = fusion.sum %a dims [1] : tensor<[B]xf32>\n  task.return %b\n}",
    ),
    (
        "operands",
        "task.program @f(%x: tensor<2xf32>, %y: tensor<3xf32>, %z: tensor<5xf32>) -> tensor<10xf32> {\n  %a = fusion.cat %x, %y, %z dim 0\n  %b = fusion.exp %a\n  task.return %b\n}",
        &["%z dim"],
        "task.program @f(%x: tensor<2xf32>, %y: tensor<3xf32>, %z: tensor<5xf32>) -> tensor<7xf32> {\n  %a = fusion.cat %x, %z dim 0 : tensor<7xf32>\n  %b = fusion.exp %a : tensor<7xf32>\n  task.return %b\n}",
    ),
    (
        "arguments",
        "task.program @f(%w: i1, %x: f32, %y: f32) -> (f32 {alias = 1 : i64}, f32) {\n  %a = fusion.add %x, %y\n  task.return %a, %a\n}",
        &["alias"],
        "task.program @f(%x: f32) -> (f32 {alias = 0}, f32) {\n  %a = fusion.add %x, %x : f32\n  task.return %a, %a\n}",
    ),
    (
        "return-first-operand",
        "task.program @f(%x: tensor<[B]x2xf32>, %y: f32) -> (tensor<[B]xf32>, f32) {\n  %a = fusion.exp %x\n  %b = fusion.sum %a dims [1]\n  task.return %b, %y\n}",
        &["%a", "fusion.exp"],
        "task.program @f(%x: tensor<[B]x2xf32>, %y: f32) -> (tensor<[B]x2xf32>, f32) {\n  %a = fusion.exp %x\n  %b = fusion.sum %a dims [1]\n  task.return %x, %y\n}",
    ),
    (
        "return-last-operand",
        "task.program @f(%x: tensor<2xf32>, %y: f32) -> tensor<2xf32> {\n  %a = fusion.add %x, %y\n  task.return %a\n}",
        &[],
        "task.program @f(%x: tensor<2xf32>, %y: f32) -> f32 {\n  %a = fusion.add %x, %y\n  task.return %y\n}",
    ),
    (
        "plain-arguments",
        "task.program @f(%x: tensor<b2x3xf32>, %y: tensor<b2xf32>) -> tensor<b2x3xf32> {\n  %a = fusion.exp %x\n  task.return %a\n}",
        &["%y: tensor<b2xf32>"],
        "task.program @f(%x: tensor<2x3xf32>, %y: tensor<b2xf32>) -> tensor<2x3xf32> {\n  %a = fusion.exp %x\n  task.return %a\n}",
    ),
    (
        "inline-tasks",
        "task.program @f(%x: f32) -> f32 {\n  %y = task.segment @s {\n    %y = task.sweep vector 4 {\n      %y = task.phase {\n        %a = fusion.exp %x\n        task.yield %a\n      }\n      task.yield %y\n    }\n    task.yield %y\n  }\n  task.return %y\n}",
        &["fusion.exp"],
        "task.program @f(%x: f32) -> f32 {\n  %a = fusion.exp %x : f32\n  task.return %a\n}",
    ),
    (
        "unnest",
        "kernel.func @k(%x: memref<?xf32>, %n: index) {\n  %z = fusion.constant value 0.0 : f32\n  %q = kernel.for %n, %n, %n, %z {\n  ^bb0(%i: index, %b: f32):\n    %c = fusion.add %b, %b\n    kernel.yield %c\n  }\n  kernel.store %q, %x, %n\n}",
        &["kernel.store"],
        "kernel.func @k(%x: memref<?xf32>, %n: index) {\n  %z = fusion.constant value 0.0 : f32\n  %c = fusion.add %z, %z : f32\n  kernel.store %c, %x, %n\n}",
    ),
    (
        "attributes",
        "task.program @f(%x: f32 {fusion.note = 1}) -> f32 {\n  %y = task.segment @s kind \"kernel\" {fusion.hint = \"apart\", fusion.why = 7} {\n    task.yield %x\n  }\n  task.return %y\n}",
        &["fusion.why"],
        "task.program @f(%x: f32) -> f32 {\n  %y = task.segment @s {fusion.why = 7} {\n    task.yield %x\n  }\n  task.return %y\n}",
    ),
    (
        "layouts",
        "task.program @f(%x: tensor<2x3xf32, [1, 0]>, %y: tensor<3xf32, [0]>) -> tensor<2x3xf32, [1, 0]> {\n  task.return %x\n}",
        &["[0]"],
        "task.program @f(%x: tensor<2x3xf32>, %y: tensor<3xf32, [0]>) -> tensor<2x3xf32> {\n  task.return %x\n}",
    ),
    (
        "names-to-2",
        "task.program @f(%x: tensor<[B]x[S]xf32>) -> tensor<[B*S+1]xf32> {\n  %z = fusion.constant value 0.0 : f32\n  %a = fusion.reshape %x shape [[B*S]]\n  %b = fusion.pad %a, %z low [1] high [0]\n  task.return %b\n}",
        &["[S]"],
        "task.program @f(%x: tensor<2x[S]xf32>) -> tensor<[2*S+1]xf32> {\n  %z = fusion.constant value 0.0 : f32\n  %a = fusion.reshape %x shape [[2*S]] : tensor<[2*S]xf32>\n  %b = fusion.pad %a, %z low [1] high [0] : tensor<[2*S+1]xf32>\n  task.return %b\n}",
    ),
    (
        "extents-to-1",
        "task.program @f(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {\n  %s = fusion.sum %x dims [1] keepdim\n  %e = fusion.expand %s shape [8, 16]\n  %d = fusion.sub %x, %e\n  task.return %d\n}",
        &["16"],
        "task.program @f(%x: tensor<1x16xf32>) -> tensor<1x16xf32> {\n  %s = fusion.sum %x dims [1] keepdim : tensor<1x1xf32>\n  %e = fusion.expand %s shape [1, 16] : tensor<1xb16xf32>\n  %d = fusion.sub %x, %e : tensor<1x16xf32>\n  task.return %d\n}",
    ),
    (
        "halve-extents",
        "task.program @f(%x: tensor<9x1000xf32>) -> tensor<9x1000xf32> {\n  task.return %x\n}",
        &[],
        "task.program @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {\n  task.return %x\n}",
    ),
    (
        "divide-extents",
        "task.program @f(%x: tensor<24xf32>) -> tensor<6x4xf32> {\n  %y = fusion.reshape %x shape [6, 4]\n  task.return %y\n}",
        &["x4xf32"],
        "task.program @f(%x: tensor<4xf32>) -> tensor<1x4xf32> {\n  %y = fusion.reshape %x shape [1, 4] : tensor<1x4xf32>\n  task.return %y\n}",
    ),
    (
        "constants-to-0",
        "task.program @f() -> (f32, i1, tensor<2xi32>) {\n  %a = fusion.constant value 0.3 : f32\n  %b = fusion.constant value true : i1\n  %c = fusion.constant value dense<[5, 6]> : tensor<2xi32>\n  task.return %a, %b, %c\n}",
        &["true"],
        "task.program @f() -> (f32, i1, tensor<2xi32>) {\n  %a = fusion.constant value 0.0 : f32\n  %b = fusion.constant value true : i1\n  %c = fusion.constant value 0 : tensor<2xi32>\n  task.return %a, %b, %c\n}",
    ),
    (
        "constants-to-1",
        "task.program @f() -> (f32, f32) {\n  %a = fusion.constant value 0.3 : f32\n  %b = fusion.constant value 0.0 : f32\n  task.return %a, %b\n}",
        &["task.return"],
        "task.program @f() -> (f32, f32) {\n  %a = fusion.constant value 1.0 : f32\n  %b = fusion.constant value 0.0 : f32\n  task.return %a, %b\n}",
    ),
];

#[test]
fn each_strategy_does_its_one_thing() {
    for (name, text, kept, expected) in CASES {
        assert_eq!(alone(name, text, kept), program(expected).text, "{name}");
    }
}

#[test]
fn every_strategy_is_tested_and_told_apart() {
    let tested: BTreeSet<&str> = CASES.iter().map(|c| c.0).collect();
    let alike = |name: &str| {
        name.rsplit_once('-')
            .map_or(name.to_owned(), |(n, _)| n.to_owned())
    };
    let tested_alike: BTreeSet<String> = tested.iter().map(|n| alike(n)).collect();
    let mut names = BTreeSet::new();
    for strategy in STRATEGIES {
        assert!(names.insert(strategy.name), "{}", strategy.name);
        assert!(
            !strategy.doc.is_empty() && !strategy.doc.ends_with('.'),
            "{}",
            strategy.name
        );
        let known = tested.contains(strategy.name) || tested_alike.contains(&alike(strategy.name));
        assert!(
            known || strategy.name == "layouts",
            "{} has no case",
            strategy.name
        );
    }
}

// --- random test results ---------------------------------------------------------------------------------------------------

/// Programs of all kinds.
const SAMPLES: &[&str] = &[
    include_str!("../../examples/layer_norm.fir"),
    include_str!("../../examples/layer_norm_backward.fir"),
    include_str!("../../examples/softmax.fir"),
    include_str!("../../examples/transpose_add.fir"),
    CASES[3].1,
    CASES[13].1,
    CASES[15].1,
];

/// For any predicate the search ends, nothing panics, and the result is a program that the predicate accepted.
#[test]
fn any_predicate_will_do() {
    let mut cases = 0;
    for text in SAMPLES {
        for seed in 0..12_u64 {
            let original = program(text).text;
            let said_yes = std::sync::Mutex::new(BTreeSet::from([original.clone()]));
            let test = |candidate: &str| {
                let hash = candidate.bytes().fold(seed, |h, b| {
                    (h ^ u64::from(b))
                        .wrapping_mul(0x100_0000_01b3)
                        .rotate_left(23)
                });
                let yes = candidate == original || hash % 4 == 0;
                if yes {
                    said_yes.lock().unwrap().insert(candidate.to_owned());
                }
                yes
            };
            let found = reduced(text, test);
            assert_eq!(found.statistics.panics, [""; 0]);
            assert_eq!(found.stop, None);
            assert!(said_yes.lock().unwrap().contains(&found.program.text));
            cases += 1;
        }
    }
    println!("count: {cases} reductions with random test results");
}
