//! Growth of the work of segmentation and of rematerialization, by their own counters: never by the clock.
//!
//! Each counts what is done one by one: `asked-ops` the ops of groups that are asked about, each of which is looked at to know
//! whether an equal group was; `planned-ops` those of groups that were new; `questions`, `refinements` and `axis-steps` what
//! they say. All are summed as they are. Ops in groups that refinement asks about are `asked-ops` as well.

use crate::common::{Run, programs, run};

/// The counters of the pass that are its work.
const COUNTERS: [&str; 5] = [
    "questions",
    "asked-ops",
    "planned-ops",
    "refinements",
    "axis-steps",
];

/// All of it.
fn work(run: &Run) -> u64 {
    assert_eq!(run.errors, Vec::<String>::new());
    let counted = COUNTERS.map(|c| run.statistics[&format!("segment.{c}")]);
    counted.iter().sum()
}

/// All that rematerialization counts as work.
fn work_of_remat(run: &Run) -> u64 {
    assert_eq!(run.errors, Vec::<String>::new());
    let counters = ["work", "steps", "planned-ops"];
    let counted = counters.map(|c| run.statistics[&format!("remat.{c}")]);
    counted.iter().sum()
}

fn segmented(text: &str) -> Run {
    run(text, &[("segment", "")])
}

/// Fails where one count is more than 2.2 times the one before.
fn assert_grows_as_the_program(what: &str, first: usize, counts: &[u64]) {
    println!("{what} from {first} ops: {counts:?}");
    for pair in counts.windows(2) {
        let grows = pair[1] * 10 <= pair[0] * 22;
        assert!(grows, "{what} from {first} ops: {counts:?}");
    }
}

/// From 100 ops to 102,400: twice the program is no more than 2.2 times the work.
#[test]
fn twice_the_program_is_little_more_than_twice_the_work() {
    for (name, family) in programs::FAMILIES {
        let counts = (0..=10).map(|doublings| work(&segmented(&family(100 << doublings))));
        let counts: Vec<u64> = counts.collect();
        assert_grows_as_the_program(name, 100, &counts);
    }
}

/// The same for what is wide or knotty: an op of many operands, chains of windows and of axes that change places. An op of fewer
/// operands than 100 is worth more questions for each than one of more.
#[test]
fn twice_the_width_is_little_more_than_twice_the_work() {
    for (name, family) in programs::KNOTS {
        let counts = (0..=4).map(|doublings| work(&segmented(&family(200 << doublings))));
        let counts: Vec<u64> = counts.collect();
        assert_grows_as_the_program(name, 200, &counts);
    }
}

/// The same for thousands of parts of one cat, and thousands of results of one tensor: of segmentation and rematerialization.
#[test]
fn thousands_of_values_at_once_are_little_more_than_twice_the_work_of_half_as_many() {
    for (name, family) in programs::WIDE {
        let runs = (0..=3).map(|doublings| {
            let text = family(2000 << doublings);
            run(&text, &[("segment", ""), ("remat", "")])
        });
        let runs: Vec<Run> = runs.collect();
        let counts: Vec<u64> = runs.iter().map(work).collect();
        assert_grows_as_the_program(name, 2000, &counts);
        let counts: Vec<u64> = runs.iter().map(work_of_remat).collect();
        assert_grows_as_the_program(&format!("remat of {name}"), 2000, &counts);
    }
}

/// The same for rematerialization. Chains and trees of few kernels have few values between them, and these are what costs: of
/// one kernel more than twice as many there are three times as many. Beyond 50,000 ops trees read inputs twice.
#[test]
fn twice_the_program_is_little_more_than_twice_the_work_of_remat() {
    let sizes = [
        (4000, 64_000),
        (4000, 32_000),
        (1000, 64_000),
        (1000, 32_000),
    ];
    for ((name, family), (first, last)) in programs::FAMILIES.into_iter().zip(sizes) {
        let sizes = std::iter::successors(Some(first), |&n| Some(2 * n));
        let counts = sizes.take_while(|&n| n <= last).map(|n| {
            let run = run(&family(n), &[("segment", ""), ("remat", "")]);
            work_of_remat(&run)
        });
        let counts: Vec<u64> = counts.collect();
        assert_grows_as_the_program(&format!("remat of {name}"), first, &counts);
    }
}

/// Rounds with rematerialization look at no more than a budget; what is beyond it is told.
#[test]
fn a_program_beyond_the_budget_of_rounds_gets_none_and_says_so() {
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

/// A kernel that grows by one layer after the other is planned as a whole for each: without views first 70 ops are planned for each op of the program.
#[test]
fn layers_in_one_kernel_grow_evenly() {
    const LAYERS: u64 = 48;
    const OPS: u64 = 14;
    let planned = segmented(&programs::sums(LAYERS as usize)).statistics["segment.planned-ops"];
    assert!(planned < 25 * LAYERS * OPS, "{planned}");
}

/// Steps of a recurrence, one behind the other: each reads its row of the input and the state of the step before it.
fn recurrence(steps: usize) -> String {
    let (mut body, mut state) = (String::new(), "%h".to_owned());
    for step in 0..steps {
        body += &format!(
            "  %s{step} = fusion.slice %x starts [{step}, 0, 0] shape [1, 4, 16]
  %r{step} = fusion.reshape %s{step} shape [4, 16]
  %a{step} = fusion.broadcast {state} dims [0, 1] shape [4, 16, 16]
  %b{step} = fusion.broadcast %w dims [1, 2] shape [4, 16, 16]
  %p{step} = fusion.mul %a{step}, %b{step}
  %g{step} = fusion.sum %p{step} dims [1]
  %n{step} = fusion.add %g{step}, %r{step}
  %h{step} = fusion.tanh %n{step}
"
        );
        state = format!("%h{step}");
    }
    format!(
        "task.program @recurrence(%x: tensor<{steps}x4x16xf32>, %w: tensor<16x16xf32>, %h: tensor<4x16xf32>) -> tensor<4x16xf32> {{\n{body}  task.return {state}\n}}\n"
    )
}

#[test]
fn twice_the_steps_of_a_recurrence_are_little_more_than_twice_the_work() {
    let counts = (0..=3).map(|doublings| work(&segmented(&recurrence(50 << doublings))));
    let counts: Vec<u64> = counts.collect();
    assert_grows_as_the_program("recurrence", 400, &counts);
}

/// Rows of one tensor, with an op on each: neighbours share the tensor and no byte.
fn rows(count: usize) -> String {
    let (mut body, mut results) = (String::new(), Vec::new());
    for row in 0..count {
        body += &format!(
            "  %s{row} = fusion.slice %x starts [{row}, 0] shape [1, 24] : tensor<1x24xf32>\n"
        );
        body += &format!("  %y{row} = fusion.exp %s{row} : tensor<1x24xf32>\n");
        results.push(format!("%y{row}"));
    }
    let types = vec!["tensor<1x24xf32>"; count].join(", ");
    let results = results.join(", ");
    format!(
        "task.program @rows(%x: tensor<{count}x24xf32>) -> ({types}) {{\n{body}  task.return {results}\n}}\n"
    )
}

/// A kernel of rows is asked about with each of its neighbours after each merge, unless it waits under what its parts would have gained:
/// 730 ops are planned then for each op of the program, 70 else.
#[test]
fn rows_of_one_tensor_grow_evenly() {
    const ROWS: u64 = 48;
    let run = run(&rows(ROWS as usize), &[("segment", "top-down=false")]);
    let planned = run.statistics["segment.planned-ops"];
    assert!(planned < 100 * 2 * ROWS, "{planned}");
}

#[test]
fn a_hundred_equal_layers_pay_for_one() {
    let plans = |count: usize| segmented(&programs::layers(count)).statistics["segment.plans"];
    let (few, many) = (plans(5), plans(100));
    assert_eq!(few, many, "plans for 5 layers and for 100");
}

/// Rematerialization looks a few layers far: what is behind looks like what was before.
#[test]
fn a_hundred_equal_layers_are_solved_once() {
    let solved = |count: usize, rounds: &str| {
        let text = programs::layers(count);
        let run = run(&text, &[("segment", rounds), ("remat", "")]);
        assert_eq!(run.errors, Vec::<String>::new());
        run.statistics["remat.solved"]
    };
    let (few, many) = (
        solved(20, "rounds=0 layers=false"),
        solved(100, "rounds=0 layers=false"),
    );
    println!("kernels solved of 20 layers and of 100: {few}, {many}");
    assert!(few > 0 && many <= few, "{few}, {many}");
    // Rounds of segmentation looked at them before, and of equal layers at some.
    assert_eq!(solved(20, "layers=false"), 0);
    assert_eq!(solved(20, ""), 0);
}

/// Layers of attention with a mask, each on the result of the one before: the greatest pattern of all.
fn attention(layers: usize) -> String {
    let (square, ty) = ("tensor<64x64xf32>", "tensor<64x64xf32>");
    let mut text = format!(
        "task.program @attention(%x0: {ty}, %mask: tensor<64x64xi1>) -> {ty} {{\n  %low = fusion.constant value -1.0e9 : f32\n"
    );
    for layer in 0..layers {
        let next = layer + 1;
        text += &format!(
            "  %t{layer} = fusion.permute %x{layer} dims [1, 0] : {ty}\n  \
               %s{layer} = fusion.matmul %x{layer}, %t{layer} : {square}\n  \
               %c{layer} = fusion.where %mask, %s{layer}, %low : {square}\n  \
               %m{layer} = fusion.max %c{layer} dims [1] keepdim\n  \
               %b{layer} = fusion.expand %m{layer} shape [64, 64]\n  \
               %d{layer} = fusion.sub %c{layer}, %b{layer}\n  \
               %e{layer} = fusion.exp %d{layer}\n  \
               %l{layer} = fusion.sum %e{layer} dims [1] keepdim\n  \
               %a{layer} = fusion.expand %l{layer} shape [64, 64]\n  \
               %p{layer} = fusion.div %e{layer}, %a{layer}\n  \
               %x{next} = fusion.matmul %p{layer}, %x{layer} : {ty}\n"
        );
    }
    text + &format!("  task.return %x{layers}\n}}\n")
}

/// Sums behind one op, two, three and so on that only move: no pattern looks past all of them from each.
fn turned(ops: usize) -> String {
    let ty = "tensor<64x64xf32>";
    let mut text = format!("task.program @turned(%x0: {ty}) -> {ty} {{\n");
    for op in 0..ops / 2 {
        let next = op + 1;
        text += &format!(
            "  %x{next} = fusion.permute %x{op} dims [1, 0]\n  %y{op} = fusion.sum %x{next} dims [1]\n"
        );
    }
    text + &format!("  task.return %x{}\n}}\n", ops / 2)
}

/// The same for what `recognize-patterns` holds against ops.
#[test]
fn twice_the_program_is_little_more_than_twice_the_work_of_recognition() {
    let own: [programs::Family; 2] = [("attention", |ops| attention(ops / 11)), ("turned", turned)];
    for (name, family) in programs::FAMILIES.into_iter().chain(own) {
        let counts = (0..=6).map(|doublings| {
            let run = run(&family(400 << doublings), &[("recognize-patterns", "")]);
            assert_eq!(run.errors, Vec::<String>::new());
            if name == "attention" {
                let layers = (400 << doublings) / 11;
                assert_eq!(run.statistics["recognize-patterns.recognized"], layers);
            }
            run.statistics["recognize-patterns.looked-at"]
        });
        let counts: Vec<u64> = counts.collect();
        assert_grows_as_the_program(&format!("recognition in {name}"), 400, &counts);
    }
}
