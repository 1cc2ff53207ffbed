//! Scans on the simulated GPU: the threads of a block share a row, in every order of warps, at every length and in every element type.

use super::barriers::mutate;
use super::programs::Program;
use super::{MACHINES, counts, failures, kernels, run};

/// Lengths around nothing, a vector, a warp, a block and a tile.
const LENGTHS: [i64; 11] = [0, 1, 2, 31, 32, 33, 127, 1023, 1024, 1025, 4099];

/// Scans, and the element type of each.
const SCANS: [(&str, &str); 7] = [
    ("cumsum", "f32"),
    ("cumsum", "bf16"),
    ("cummax", "bf16"),
    ("cumsum", "i32"),
    ("cumprod", "i64"),
    ("cumsum", "f64"),
    ("cummin", "i8"),
];

/// A program of one scan of a tensor of this shape.
fn scan(op: &str, shape: &str, dim: usize) -> String {
    format!(
        "task.program @f(%x: tensor<{shape}>) -> tensor<{shape}> {{
  %y = fusion.{op} %x dim {dim}
  task.return %y
}}"
    )
}

fn program(text: &str, length: i64) -> Program {
    let mut program = Program::new(&format!("{text}\n{length}"), text, "f");
    program.extents = match text.contains("[N]") {
        true => vec![("N".to_owned(), length)],
        false => Vec::new(),
    };
    program
}

/// The last axis and one in the middle, of a named length and of a constant one.
#[test]
fn scans_agree_with_the_reference() {
    let mut programs = Vec::new();
    for (number, (op, dtype)) in SCANS.into_iter().enumerate() {
        for (at, length) in LENGTHS.into_iter().enumerate() {
            let (name, constant) = ("[N]".to_owned(), length.to_string());
            let extent = [&name, &constant][(number + at) % 2];
            let other = [&constant, &name][(number + at) % 2];
            programs.push(program(
                &scan(op, &format!("3x{extent}x{dtype}"), 1),
                length,
            ));
            // A row for each length and type, a middle axis for half of them.
            if at % 2 == number % 2 {
                programs.push(program(
                    &scan(op, &format!("2x{other}x5x{dtype}"), 1),
                    length,
                ));
            }
        }
    }
    let machines = MACHINES.into_iter().cycle();
    let runs: Vec<_> = programs.iter().zip(machines).collect();
    assert_eq!(failures(&runs), Vec::<String>::new());
}

/// Rows of several turns of all threads, of whole vectors and not, in three orders of warps: what a turn has together goes on to the next one. Few long
/// rows of a known length have a cluster each, where there are clusters.
#[test]
fn long_rows_are_scanned_turn_by_turn() {
    let shapes = [
        "2x[N]xf32",
        "2x[N]xi32",
        "2x20000xbf16",
        "3x9001xf64",
        "2x65536xi64",
    ];
    let texts = shapes.map(|shape| scan("cumsum", shape, 1));
    let programs = texts.iter().flat_map(|text| {
        let lengths = if text.contains("[N]") {
            &[20_003, 16_384][..]
        } else {
            &[0]
        };
        lengths.iter().map(|&length| program(text, length))
    });
    let programs: Vec<Program> = programs.collect();
    let orders = ["sm_90", "sm_80,order=reverse", "sm_90,order=random,seed=5"];
    let runs = programs
        .iter()
        .flat_map(|program| orders.map(|order| (program, order)));
    assert_eq!(failures(&runs.collect::<Vec<_>>()), Vec::<String>::new());
}

/// A single kernel has what is computed before and behind a scan, a second scan and a sum of the same row.
#[test]
fn a_row_is_read_once_for_scans_and_sums() {
    let text = "task.program @f(%x: tensor<9x[N]xbf16>) -> (tensor<9x[N]xbf16>, tensor<9x[N]xf32>, tensor<9xf32>) {
  %w = fusion.cast %x to f32
  %e = fusion.exp %w
  %c = fusion.cumsum %e dim 1
  %l = fusion.log %c
  %y = fusion.cast %l to bf16
  %m = fusion.cummax %w dim 1
  %s = fusion.sum %c dims [1]
  task.return %y, %m, %s
}";
    for (length, machine) in [1, 33, 1040, 8200, 9001].into_iter().zip(MACHINES) {
        let program = program(text, length);
        assert_eq!(kernels(&program).len(), 1);
        assert_eq!(failures(&[(&program, machine)]), Vec::<String>::new());
    }
}

/// A sum of a row is complete before the scan that is divided by it; the row lies in registers.
#[test]
fn a_scan_may_follow_a_sum_of_its_row() {
    let text = "task.program @f(%x: tensor<5x4096xf32>) -> tensor<5x4096xf32> {
  %s = fusion.sum %x dims [1]
  %b = fusion.broadcast %s dims [0] shape [5, 4096]
  %d = fusion.div %x, %b
  %y = fusion.cumsum %d dim 1
  task.return %y
}";
    let program = program(text, 0);
    let sectors = 5 * 4096 * 4 / 32;
    let counts = counts(&program);
    assert_eq!(
        (counts["loads.sectors"], counts["stores.sectors"]),
        (sectors, sectors)
    );
    let runs: Vec<_> = MACHINES
        .iter()
        .map(|&machine| (&program, machine))
        .collect();
    assert_eq!(failures(&runs), Vec::<String>::new());
}

/// Few lines of 2^18 elements or more are taken in parts, which two launches of a block for each multiprocessor read; a length without parts has one block, or
/// a cluster. Of nothing but `-0` all steps are `-0`, which reciprocals tell.
#[test]
fn few_very_long_lines_are_scanned_in_parts() {
    let lines = [
        ("cumsum", "262144xf32", 0, 3),
        ("cumprod", "2x300000xi64", 1, 3),
        ("cummin", "3x262400xbf16", 1, 3),
        ("cumsum", "262147xi32", 0, 1),
    ];
    for ((op, shape, dim, launches), machine) in lines.into_iter().zip(MACHINES) {
        let program = program(&scan(op, shape, dim), 0);
        let kernels = kernels(&program);
        assert_eq!(kernels.len(), launches, "{shape}: {kernels:?}");
        if launches == 3 {
            let wide = kernels.iter().filter(|kernel| kernel.1 >= 132);
            assert_eq!(wide.count(), 2, "{shape}: {kernels:?}");
        }
        assert_eq!(failures(&[(&program, machine)]), Vec::<String>::new());
    }
    let text = "task.program @f(%x: tensor<262144xf32>) -> tensor<262144xf32> {
  %c = fusion.cumsum %x dim 0
  %y = fusion.reciprocal %c
  task.return %y
}";
    let zeros = program(text, 0);
    for number in ["-0.0", "0.0"] {
        let input = format!("--input=x=full:{number}");
        let output = run(&zeros, "cuda", "sm_90", &["--check", &input]);
        assert!(output.status.success(), "{}", super::text(&output));
    }
}

/// A scan, or a fold, of a row and of a column by a lambda that rounds nothing: the greatest element so far and its index. Its operands are computed, and so is
/// what follows it.
fn greatest(op: &str, shape: &str, result: &str, dim: usize) -> String {
    let length: String = shape.split('x').nth(dim).unwrap().into();
    let result = |dtype| format!("tensor<{result}{dtype}>");
    let [most, at] = ["f32", "i32"].map(result);
    let list = shape.replace('x', ", ");
    format!(
        "task.program @f(%x: tensor<{shape}xbf16>) -> ({most}, {at}) {{
  %w = fusion.cast %x to f32
  %n = fusion.neg %w
  %i = fusion.iota dim {dim} shape [{list}] of i32
  %m, %k = fusion.{op} %n, %i dim {dim} init [0xFF800000 : f32, {length}] associative {{
  ^bb0(%a: f32, %ai: i32, %e: f32, %ei: i32):
    %g = fusion.compare %e, %a predicate gt
    %s = fusion.where %g, %e, %a
    %si = fusion.where %g, %ei, %ai
    fusion.yield %s, %si
  }}
  %y = fusion.mul %m, %m
  task.return %y, %k
}}"
    )
}

/// Lines that threads walk, along the first axis, one in the middle and, with a lambda, the last one: long ones are walked in parts by as many threads as lengths allow, in
/// three launches, a fold in two. Primes have no parts.
#[test]
fn lines_that_threads_walk_are_taken_in_parts() {
    let lengths = [0i64, 1, 2, 31, 33, 1001, 1009, 4097];
    for (number, (&length, machine)) in lengths.iter().zip(MACHINES.into_iter().cycle()).enumerate()
    {
        let (op, dtype) = SCANS[number % SCANS.len()];
        let parted = matches!(length, 1001 | 4097);
        let shapes = [
            (format!("{length}x35"), 0, "35"),
            (format!("3x{length}x9"), 1, "3x9"),
            (format!("5x{length}"), 1, "5"),
        ];
        for (shape, dim, rest) in &shapes {
            let mut programs = vec![
                (greatest("scan", shape, &format!("{shape}x"), *dim), 3),
                (greatest("fold", shape, &format!("{rest}x"), *dim), 2),
            ];
            // The threads of a block share a row of a named scan.
            if *rest != "5" {
                programs.push((scan(op, &format!("{shape}x{dtype}"), *dim), 3));
            }
            for (text, launches) in programs {
                let program = program(&text, 0);
                // Of one element nothing is computed.
                if length > 1 {
                    let kernels = kernels(&program);
                    let wanted = if parted { launches } else { 1 };
                    assert_eq!(kernels.len(), wanted, "{text}: {kernels:?}");
                }
                assert_eq!(failures(&[(&program, machine)]), Vec::<String>::new());
            }
        }
    }
    // A sum of floats shows its order: nothing regroups it.
    let text = "task.program @f(%x: tensor<4096x3xf32>) -> tensor<4096x3xf32> {
  %y = fusion.scan %x dim 0 init [-0.0] associative {
  ^bb0(%a: f32, %e: f32):
    %s = fusion.add %a, %e
    fusion.yield %s
  }
  task.return %y
}";
    assert_eq!(kernels(&program(text, 0)).len(), 1);
}

/// Each thread of a warp folds a row of its own: a word of shared memory for each thread at once, written and read.
#[test]
fn all_threads_of_a_warp_fold_rows() {
    let text = "task.program @f(%x: tensor<4096x64xi32>) -> tensor<4096xi32> {
  %y = fusion.fold %x dim 1 init [0] {
  ^bb0(%a: i32, %e: i32):
    %s = fusion.sub %e, %a
    fusion.yield %s
  }
  task.return %y
}";
    let program = program(text, 0);
    assert_eq!(counts(&program)["wavefronts"], 2 * 4096 * 64 / 32);
    let orders = ["sm_90", "sm_80,order=reverse", "sm_90,order=random,seed=6"];
    let runs = orders.map(|order| (&program, order));
    assert_eq!(failures(&runs), Vec::<String>::new());
}

/// Of nothing but `-0` all steps along a column are `-0`, which reciprocals tell.
#[test]
fn a_column_of_negative_zeros_stays_one() {
    let text = "task.program @f(%x: tensor<1024x3xf32>) -> tensor<1024x3xf32> {
  %c = fusion.cumsum %x dim 0
  %y = fusion.reciprocal %c
  task.return %y
}";
    let zeros = program(text, 0);
    assert_eq!(kernels(&zeros).len(), 3);
    let output = run(&zeros, "cuda", "sm_90", &["--check", "--input=x=full:-0.0"]);
    assert!(output.status.success(), "{}", super::text(&output));
}

/// A kernel by hand: three warps, which are no power of two; a loop that may have no turn, runs again, reads what other threads wrote before it and
/// leaves what others read behind it.
#[test]
fn threads_of_three_warps_scan_together() {
    let text = "task.program @f(%x: tensor<[N]xi32>) -> (tensor<[N]xi32>, tensor<3xi32>, tensor<3xi32>) {
  %y, %s, %m = kernel.launch %x callee @k extents [[N]] : tensor<[N]xi32>, tensor<3xi32>, tensor<3xi32>
  task.return %y, %s, %m
}
kernel.func @k(%x: memref<?xi32, global>, %y: memref<?xi32, global>, %s: memref<?xi32, global>, %m: memref<?xi32, global>, %n: index) threads 96 {
  %zero = fusion.constant value 0 : index
  %one = fusion.constant value 1 : index
  %three = fusion.constant value 3 : index
  %t = kernel.alloc : memref<400xi32, tile>
  %u = kernel.alloc : memref<400xi32, tile>
  kernel.for %zero, %one, %one map \"grid\" {
  ^bb0(%block: index):
    kernel.for %zero, %three, %one map \"seq\" {
    ^bb0(%again: index):
      %first = fusion.constant value 5 : i32
      %none = fusion.constant value 0 : i32
      kernel.for %zero, %n, %one map \"thread\" {
      ^bb0(%i: index):
        %v = kernel.load %x, %i
        kernel.store %v, %t, %i
      }
      %end = fusion.sub %n, %one
      kernel.barrier
      %last, %total = kernel.for %zero, %n, %one, %first, %none map \"thread\" combine [\"scan\", \"add\"] {
      ^bb0(%i: index, %before: i32, %sum: i32):
        %at = fusion.sub %end, %i
        %v = kernel.load %t, %at
        %steps = kernel.scan %v, %before combine add
        kernel.store %steps, %u, %i
        %more = fusion.add %sum, %steps
        kernel.yield %steps, %more
      }
      kernel.for %zero, %n, %one map \"thread\" {
      ^bb0(%i: index):
        %at = fusion.sub %end, %i
        %v = kernel.load %u, %at
        kernel.store %v, %y, %i
      }
      kernel.store %last, %s, %again
      kernel.store %total, %m, %again
    }
  }
}";
    let passes = ["--passes=canonicalize", "--check"];
    for length in [0, 1, 31, 95, 96, 97, 300] {
        let program = program(text, length);
        for machine in MACHINES {
            let output = run(&program, "cuda", machine, &passes);
            assert!(output.status.success(), "{}", super::text(&output));
        }
    }
}

/// A row of a scan: shape and type; threads of a block at least, and tenths of instructions of a thread for each element at most.
type Budget = (&'static str, u64, u64);

/// The counts that they have, with a tenth more instructions for another choice of the assembler's input.
const BUDGETS: [Budget; 5] = [
    ("256x4096xf32", 256, 115),
    ("256x4096xbf16", 128, 86),
    ("256x4096xi32", 256, 115),
    ("5000x48xbf16", 128, 145),
    ("3x65536xf32", 512, 270),
];

/// Each element is read once and written once, in whole sectors, by threads that all have work; rows of few vectors need no barrier.
#[test]
fn scans_keep_their_budgets() {
    for (shape, threads, instructions) in BUDGETS {
        let program = program(&scan("cumsum", shape, 1), 0);
        let counts = counts(&program);
        let mut parts = shape.split('x');
        let mut next = || parts.next().unwrap();
        let elements = next().parse::<u64>().unwrap() * next().parse::<u64>().unwrap();
        let bytes = if next() == "bf16" { 2 } else { 4 };
        let sectors = elements * bytes / 32;
        assert_eq!(counts["stores.sectors"], sectors, "{shape}");
        assert!(
            counts["loads.sectors"] <= sectors + sectors / 20,
            "{shape}: {counts:?}"
        );
        assert!(
            counts["threads"] >= threads * counts["blocks"],
            "{shape}: {counts:?}"
        );
        let taken = 320 * counts["warp_instructions"] / elements;
        assert!(
            taken <= instructions,
            "{shape}: {taken} tenths of instructions"
        );
        assert_eq!(counts["wavefronts"], counts["ideal_wavefronts"], "{shape}");
        if shape.starts_with("5000") {
            assert_eq!(counts["barriers"], 0);
        }
    }
}

/// Columns are read twice and written once, in whole sectors, by many more threads than there are columns.
#[test]
fn columns_in_parts_keep_their_budgets() {
    let program = program(&scan("cumsum", "8x1024x128xf32", 1), 0);
    let (counts, kernels) = (counts(&program), kernels(&program));
    let elements = 8 * 1024 * 128;
    let sectors = elements * 4 / 32;
    assert!(counts["loads.sectors"] <= 2 * sectors + sectors / 10);
    assert!(counts["stores.sectors"] <= sectors + sectors / 10);
    assert!(320 * counts["warp_instructions"] / elements <= 48);
    assert_eq!(kernels.iter().filter(|kernel| kernel.1 >= 132).count(), 2);
}

/// Tiles that turn rows for a lambda are complete before they are walked, and read before they are written again. No barrier is missing unnoticed; some stand where
/// one warp has the rows of a tile.
#[test]
fn a_barrier_of_a_lambda_is_found_missing() {
    let program = program(&greatest("fold", "8x1001", "8x", 1), 0);
    assert!(mutate(&program, "sm_90").0 > 0);
}

/// Warps wait for each other's totals, and before these are written again.
#[test]
fn a_barrier_of_a_scan_is_found_missing() {
    for shape in ["2x8192xf32", "2x65536xf32", "2x[N]xf32"] {
        let program = program(&scan("cumsum", shape, 1), 37);
        let (found, redundant) = mutate(&program, "sm_90");
        assert!(found > 0);
        assert_eq!(redundant, Vec::<String>::new(), "{shape}");
    }
}
