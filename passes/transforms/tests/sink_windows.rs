//! Limits and prices of sinking slices; that no bit changes is tested on random programs elsewhere.

use crate::common::run;

/// The number of windows of a program that sink, and of ops that are computed again for them.
fn sunk(text: &str) -> (u64, u64) {
    let run = run(text, &[("sink-windows", "")]);
    assert_eq!(run.errors, Vec::<String>::new(), "{text}");
    let count = |name: &str| run.statistics[&format!("sink-windows.{name}")];
    (count("sunk"), count("copies"))
}

/// A sum, a chain of ops, `length` together, and a slice of what that gives.
fn chain(length: usize) -> String {
    let lines: Vec<String> = (1..length)
        .map(|i| format!("  %v{} = fusion.exp %v{i}", i + 1))
        .collect();
    format!(
        "task.program @f(%v0: tensor<8x4xf32>) -> tensor<3xf32> {{\n  \
         %v1 = fusion.sum %v0 dims [1]\n{}\n  \
         %s = fusion.slice %v{length} starts [2] shape [3]\n  task.return %s\n}}",
        lines.join("\n")
    )
}

#[test]
fn a_chain_is_computed_again_up_to_the_limit() {
    assert_eq!(sunk(&chain(1)), (1, 1));
    assert_eq!(sunk(&chain(100)), (1, 100));
    let limit = fuser_passes::preseg::MAX_COPIES;
    assert_eq!(sunk(&chain(limit)), (1, limit as u64));
    assert_eq!(sunk(&chain(limit + 1)), (0, 0));
}

#[test]
fn without_a_reduction_in_the_way_a_slice_stays() {
    let program = "task.program @f(%x: tensor<8xf32>, %z: tensor<8xf32>) -> tensor<3xf32> {\n  \
                   %a = fusion.add %x, %z\n  %s = fusion.slice %a starts [2] shape [3]\n  \
                   task.return %s\n}";
    assert_eq!(sunk(program), (0, 0));
}

#[test]
fn a_reduction_moves_along_kept_axes_and_for_one_user() {
    let program = |dims: &str, slice: &str, more: &str| {
        format!(
            "task.program @f(%x: tensor<4x8xf32>) -> tensor<3xf32> {{\n  \
             %a = fusion.sum %x dims [{dims}]\n  %s = fusion.slice %a {slice}\n  {more}\n}}"
        )
    };
    let end = "task.return %s";
    let other = "%t = fusion.slice %a starts [0] shape [3]\n  %u = fusion.exp %a\n  \
                 %v = fusion.slice %u starts [0] shape [3]\n  %w = fusion.add %t, %v\n  \
                 %y = fusion.add %w, %s\n  task.return %y";
    assert_eq!(sunk(&program("0", "starts [2] shape [3]", end)).0, 1);
    assert_eq!(sunk(&program("1", "starts [1] shape [3]", end)).0, 1);
    assert_eq!(sunk(&program("0", "starts [2] shape [3]", other)).0, 0);
    // A border around a sum would add to it.
    let padded = "task.program @f(%x: tensor<4x8xf32>, %c: f32) -> tensor<9xf32> {\n  \
                  %a = fusion.sum %x dims [0]\n  %p = fusion.pad %a, %c low [1] high [0]\n  \
                  task.return %p\n}";
    assert_eq!(sunk(padded).0, 0);
}

#[test]
fn boundaries_and_hints_stay() {
    let program = |op: &str, hint: &str| {
        format!(
            "task.program @f(%x: tensor<8x4xf32>) -> tensor<3xf32> {{\n  %a = fusion.{op}\n  \
             %e = fusion.sum %a dims [1]{hint}\n  %s = fusion.slice %e starts [2] shape [3]\n  \
             task.return %s\n}}"
        )
    };
    assert_eq!(sunk(&program("exp %x", "")), (1, 2));
    // From the boundary on the value is in memory.
    assert_eq!(sunk(&program("segment_set %x", "")), (1, 1));
    let hint = " {fusion.hint = \"apart\"}";
    assert_eq!(sunk(&program("exp %x", hint)), (0, 0));
}
