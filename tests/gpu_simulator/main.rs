//! Programs on the simulated GPU: results, mistakes of kernels, barriers that are left out, and budgets of counts.
//!
//! The quick tests run small copies of the examples; with `--ignored` all lit programs run that run on the CPU, in three orders on three
//! GPUs, and every barrier of every small example is left out once.

mod barriers;
mod library;
mod products;
mod programs;
mod rows;
mod scans;
mod texts;
mod variances;

use std::collections::BTreeMap;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use programs::{Program, examples, largest, lit_programs};
use serde_json::Value;

/// Each order on each GPU.
const MACHINES: [&str; 9] = [
    "sm_80",
    "sm_90,order=reverse",
    "sm_100,order=random,seed=3",
    "sm_80,order=random,seed=1",
    "sm_90",
    "sm_100,order=reverse",
    "sm_80,order=reverse",
    "sm_90,order=random,seed=2",
    "sm_100",
];

/// The machine's own GPU, as a name beside those of simulated ones.
const REAL: &str = "real";

/// No GPU.
const CPU: &str = "cpu";

/// Before a GPU: tensors begin at multiples of their elements' size, and no more.
const ANYWHERE: &str = "anywhere on ";

/// The GPUs that programs run on: all of [`MACHINES`], or the one of `FUSER_TEST_GPU`, which may be [`ANYWHERE`] on one.
fn machines() -> Vec<String> {
    match std::env::var("FUSER_TEST_GPU") {
        Ok(machine) => vec![machine],
        Err(_) => MACHINES.map(String::from).to_vec(),
    }
}

/// Runs a program with `fuser-run --device=DEVICE`.
fn run(program: &Program, device: &str, machine: &str, more: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f.fir");
    std::fs::write(&file, &program.text).unwrap();
    let mut tool = Command::new(env!("CARGO_BIN_EXE_fuser-run"));
    match machine {
        REAL | CPU => tool.env_remove("FUSER_CUDA"),
        machine => tool.env("FUSER_CUDA", format!("sim:{machine}")),
    };
    tool.arg(file)
        .args([&format!("--device={device}"), "--repeat=1"])
        .args(program.arguments())
        .args(more)
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Runs a program with `--check`; the text of a failure.
fn failure(program: &Program, machine: &str) -> Option<String> {
    let device = if machine == CPU { "cpu" } else { "cuda" };
    let (on, more) = match machine.strip_prefix(ANYWHERE) {
        Some(on) => (on, ["--check", "--any-address"].as_slice()),
        None => (machine, ["--check"].as_slice()),
    };
    let output = run(program, device, on, more);
    let name = &program.name;
    (!output.status.success()).then(|| format!("{name} on {machine}: {}", text(&output)))
}

/// The failures of programs, each on a machine; on all cores, as one run may take as long as all others.
fn failures(runs: &[(&Program, &str)]) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let own = numbers.map_while(|number| runs.get(number));
        let failures = own.filter_map(|(program, machine)| failure(program, machine));
        failures.collect::<Vec<_>>()
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(worker)).collect();
        let failures = workers.into_iter().map(|worker| worker.join().unwrap());
        failures.flatten().collect()
    })
}

/// The programs that agree with the reference on the CPU.
fn that_agree_on_the_cpu(mut programs: Vec<Program>) -> Vec<Program> {
    let on_cpu: Vec<_> = programs.iter().map(|program| (program, CPU)).collect();
    let refused = failures(&on_cpu);
    programs.retain(|program| {
        let head = format!("{} on {CPU}: ", program.name);
        !refused.iter().any(|failure| failure.starts_with(&head))
    });
    programs
}

#[test]
fn examples_agree_with_the_reference() {
    let (examples, machines) = (examples(), machines());
    let machines = machines.iter().map(String::as_str).cycle();
    let runs: Vec<_> = examples.iter().zip(machines).collect();
    assert_eq!(failures(&runs), Vec::<String>::new());
}

/// A part of all programs, on tensors that begin an element behind a multiple of 256: products by our kernels and by the library.
#[test]
fn tensors_that_begin_anywhere_agree_with_the_reference() {
    let products = products::all_products().step_by(19);
    let lit = lit_programs().into_iter();
    let lit = lit.filter(|program| program.name.contains("/run/"));
    let lit = that_agree_on_the_cpu(lit.step_by(7).collect());
    let programs: Vec<Program> = examples().into_iter().chain(lit).chain(products).collect();
    let machines = ["sm_80", "sm_90,cublaslt,order=reverse", "sm_100"];
    let machines = machines.map(|machine| format!("{ANYWHERE}{machine}"));
    let machines = machines.iter().map(String::as_str).cycle();
    let runs: Vec<_> = programs.iter().zip(machines).collect();
    println!("count: {} runs of programs at any address", runs.len());
    assert!(runs.len() > 70);
    assert_eq!(failures(&runs), Vec::<String>::new());
}

/// Values that a step keeps for reads at another index are whole before, and are read before the next step; what a step stores is apart from
/// what the next one does.
#[test]
fn what_is_read_at_another_index_agrees_with_the_reference() {
    let mut programs = lit_programs();
    let wanted = ["kept-at-another-index", "run/flips", "sums-with-stores"];
    programs.retain(|p| wanted.iter().any(|name| p.name.contains(name)));
    assert!(programs.len() > 15);
    let runs: Vec<_> = programs.iter().zip(MACHINES.into_iter().cycle()).collect();
    assert_eq!(failures(&runs), Vec::<String>::new());
}

/// Every lit program and example that agrees with the reference on the CPU agrees on the simulated GPU.
#[test]
#[ignore = "half an hour"]
fn lit_programs_agree_with_the_reference() {
    let machines = machines();
    let all = that_agree_on_the_cpu(lit_programs().into_iter().chain(examples()).collect());
    let on = |machine| all.iter().map(move |program| (program, machine));
    let runs: Vec<_> = machines.iter().flat_map(|m| on(m.as_str())).collect();
    println!("count: {} runs of lit programs", runs.len());
    assert!(runs.len() > 150 * machines.len());
    assert_eq!(failures(&runs), Vec::<String>::new());
}

/// The whole way of a mistake: a kernel that stores behind the end of its output.
#[test]
fn a_mistake_of_a_kernel_is_told_with_its_place() {
    let text_of = |rows: u32| {
        format!(
            "task.program @f(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {{
  %y = kernel.launch %x callee @k : tensor<8x4xf32>
  task.return %y
}}
kernel.func @k(%x: memref<?xf32, global>, %y: memref<?xf32, global>) {{
  %zero = fusion.constant value 0 : index
  %step = fusion.constant value 1 : index
  %rows = fusion.constant value {rows} : index
  %width = fusion.constant value 4 : index
  kernel.for %zero, %rows, %step map \"grid\" {{
  ^bb0(%i: index):
    %at = fusion.mul %i, %width
    %v = kernel.load %x, %at : vector<4xf32>
    kernel.store %v, %y, %at
  }}
}}"
        )
    };
    let program = |rows| Program::new("by hand", &text_of(rows), "f");
    let passes = ["--passes=canonicalize"];
    let right = run(&program(8), "cuda", "sm_90", &passes);
    assert!(right.status.success(), "{}", text(&right));
    assert!(
        text(&right).contains("@f on Fuser's simulator of sm_90 (h100)"),
        "{}",
        text(&right)
    );
    let wrong = run(&program(9), "cuda", "sm_90", &passes);
    assert_eq!(wrong.status.code(), Some(1));
    for part in [
        "step 1 of 1, kernel `k` with 9 blocks of ",
        "CUDA_ERROR_ILLEGAL_ADDRESS: 16 bytes at ",
        "are out of bounds in global memory (kernel 'fuser_k', line ",
        "block (8, 0, 0), thread 0): ld.global",
    ] {
        assert!(text(&wrong).contains(part), "{}", text(&wrong));
    }
}

/// Threads share the innermost loop, and no two of them add to one element: here it would be an axis that a sum in memory reduces.
#[test]
fn threads_share_an_axis_that_a_reduction_keeps() {
    let sums = "task.program @f(%x: tensor<2x2x2xf16, [0, 2, 1]>) -> tensor<2xbf16> {
  %0 = fusion.cast %x to f32
  %1 = fusion.sum %0 dims [2]
  %2 = fusion.broadcast %1 dims [0, 1] shape [2, 2, 2]
  %3 = fusion.constant value 0.0 : tensor<2x2x2xf32>
  %4 = fusion.sub %3, %2
  %5 = fusion.sum %4 dims [0, 1]
  %6 = fusion.cast %5 to bf16
  task.return %6
}";
    for machine in MACHINES {
        assert_eq!(failure(&Program::new("sums", sums, "f"), machine), None);
    }
}

/// Sums over three sets of axes, and what is computed from them, are one launch that has a block for each multiprocessor.
#[test]
fn sums_over_other_axes_share_a_launch() {
    let text = "task.program @f(%x: tensor<6x96x128xbf16>) -> (tensor<6x128xbf16>, tensor<128xbf16>, tensor<6x96x128xbf16>) {
  %w = fusion.cast %x to f32
  %a = fusion.sum %w dims [1]
  %b = fusion.cast %a to bf16
  %q = fusion.mul %w, %w
  %c = fusion.sum %q dims [0, 1]
  %d = fusion.sqrt %c
  %e = fusion.cast %d to bf16
  %r = fusion.sum %q dims [2]
  %s = fusion.broadcast %r dims [0, 1] shape [6, 96, 128]
  %y = fusion.add %s, %w
  %z = fusion.cast %y to bf16
  task.return %b, %e, %z
}";
    let program = Program::new("sums", text, "f");
    let kernels = kernels(&program);
    assert!(
        matches!(kernels[..], [(1, 132.., _)]),
        "launches, blocks, barriers: {kernels:?}"
    );
    for machine in MACHINES {
        assert_eq!(failure(&program, machine), None);
    }
}

/// Rows of fewer vectors than a warp has threads share a block, and need no barrier; the last block may have fewer rows than others.
#[test]
fn short_rows_share_a_block() {
    for (rows, columns) in [(33001, 16), (40001, 3), (9001, 64)] {
        let text = format!(
            "task.program @f(%x: tensor<{rows}x{columns}xf32>) -> tensor<{rows}x{columns}xf32> {{
  %s = fusion.max %x dims [1]
  %b = fusion.broadcast %s dims [0] shape [{rows}, {columns}]
  %y = fusion.sub %x, %b
  task.return %y
}}"
        );
        let program = Program::new("rows", &text, "f");
        let kernels = kernels(&program);
        let [(launches, blocks, barriers)] = kernels[..] else {
            panic!("{kernels:?}");
        };
        assert_eq!((launches, barriers), (1, 0));
        assert!((132..=rows / 4).contains(&blocks), "{blocks} blocks");
        assert_eq!(failure(&program, "sm_80,order=random,seed=1"), None);
    }
}

/// Extremes that ignore NaN are one instruction of a warp, on integers: of infinities, zeros of both signs, which their reciprocals tell, and NaN; in
/// rows of fewer threads than a warp, of one and of several.
#[test]
fn extremes_of_all_numbers_agree_with_the_reference() {
    for columns in [2, 5, 33, 128, 1021] {
        let text = format!(
            "task.program @f(%a: tensor<65x{columns}xf32>, %b: tensor<65x{columns}xf32>) -> (tensor<65xf32>, tensor<65xf32>) {{
  %q = fusion.div %a, %b
  %m = fusion.max_num %q dims [1]
  %n = fusion.min_num %q dims [1]
  %one = fusion.constant value 1.0 : tensor<65xf32>
  %r = fusion.div %one, %m
  %s = fusion.div %one, %n
  task.return %r, %s
}}"
        );
        let program = Program::new("extremes", &text, "f");
        for (machine, ints) in MACHINES.into_iter().zip([
            "-1..1", "0..1", "-1..0", "-1..1", "0..0", "0..1", "-1..0", "-3..3", "-2..1",
        ]) {
            let inputs = ["a", "b"].map(|name| format!("--input={name}=ints:{ints}"));
            let more = ["--check", &inputs[0], &inputs[1]];
            let output = run(&program, "cuda", machine, &more);
            assert!(output.status.success(), "{}", self::text(&output));
        }
    }
}

/// Rows of a named length: a length that is a multiple of 16 is loaded and stored in vectors, each sector once in each of the two walks; any other is
/// right as well.
#[test]
fn rows_of_named_lengths_are_vectors_where_they_can_be() {
    let text = "task.program @f(%x: tensor<[B]x[N]xbf16>) -> tensor<[B]x[N]xbf16> {
  %w = fusion.cast %x to f32
  %m = fusion.max %w dims [1]
  %b = fusion.broadcast %m dims [0] shape [[B], [N]]
  %d = fusion.sub %w, %b
  %e = fusion.exp %d
  %y = fusion.cast %e to bf16
  task.return %y
}";
    for (rows, columns) in [(5, 0), (3, 16), (5, 272), (7, 17), (2, 257)] {
        let mut program = Program::new("named rows", text, "f");
        program.extents = vec![("B".to_owned(), rows), ("N".to_owned(), columns)];
        for machine in ["sm_90,order=reverse", "sm_80,order=random,seed=1"] {
            assert_eq!(failure(&program, machine), None);
        }
        if columns == 272 {
            let counts = counts(&program);
            let sectors = (rows * columns) as u64 * 2 / 32;
            assert_eq!(counts["loads.sectors"], 2 * sectors);
            assert_eq!(counts["stores.sectors"], sectors);
        }
    }
}

/// Rows of named lengths near those that a kernel is made for stay in registers, whatever the last round has of them: each sector is loaded
/// once. So do the sums of columns, for which there is a block for each multiprocessor.
#[test]
fn rows_of_named_lengths_stay_in_registers() {
    let text =
        "task.program @f(%x: tensor<[B]x[N]xf32>) -> (tensor<[B]x[N]xf32>, tensor<[N]xf32>) {
  %m = fusion.max %x dims [1]
  %b = fusion.broadcast %m dims [0] shape [[B], [N]]
  %d = fusion.sub %x, %b
  %e = fusion.exp %d
  %s = fusion.sum %x dims [0]
  task.return %e, %s
}";
    for (rows, columns) in [
        (3, 16),
        (5, 64),
        (700, 464),
        (4, 912),
        (300, 1024),
        (2, 3072),
    ] {
        let mut program = Program::new("named rows", text, "f");
        program.extents = vec![("B".to_owned(), rows), ("N".to_owned(), columns)];
        for machine in ["sm_90,order=reverse", "sm_80,order=random,seed=1"] {
            assert_eq!(failure(&program, machine), None);
        }
    }
    let text = "task.program @f(%x: tensor<[B]x[N]xf32>) -> tensor<[N]xf32> {
  %s = fusion.sum %x dims [0]
  task.return %s
}";
    let mut sums = Program::new("named columns", text, "f");
    sums.extents = vec![("B".to_owned(), 600), ("N".to_owned(), 1008)];
    let kernels = kernels(&sums);
    assert!(matches!(kernels[..], [(1, 132.., _)]), "{kernels:?}");
}

/// Rows of an odd length, static or named, are read and written by threads that lie beside each other as their elements do: each sector about
/// once in each walk, where vectors that come apart would touch it once for each lane.
#[test]
fn rows_of_odd_lengths_are_read_in_order() {
    let text = |rows: &str, columns: &str| {
        format!(
            "task.program @f(%x: tensor<{rows}x{columns}xbf16>) -> tensor<{rows}x{columns}xbf16> {{
  %w = fusion.cast %x to f32
  %m = fusion.max %w dims [1]
  %b = fusion.broadcast %m dims [0] shape [{rows}, {columns}]
  %d = fusion.sub %w, %b
  %y = fusion.cast %d to bf16
  task.return %y
}}"
        )
    };
    let mut named = Program::new("odd rows", &text("[B]", "[N]"), "f");
    named.extents = vec![("B".to_owned(), 7), ("N".to_owned(), 1001)];
    let fixed = Program::new("odd rows", &text("7", "1001"), "f");
    for (program, walks) in [(named, 2), (fixed, 1)] {
        let counts = counts(&program);
        // A warp's 64 bytes lie in three sectors, where they begin in the middle of one.
        let most = (7 * 1001 * 2 / 32) * 3 / 2 + 64;
        assert!(counts["loads.sectors"] <= walks * most, "{counts:?}");
        assert!(counts["stores.sectors"] <= most, "{counts:?}");
        for machine in ["sm_80,order=reverse", "sm_90,order=random,seed=1"] {
            assert_eq!(failure(&program, machine), None);
        }
    }
}

/// Threads put the sum of a share together once, however many tiles it has.
#[test]
fn a_full_sum_of_a_named_length_is_put_together_once() {
    let text = "task.program @f(%x: tensor<[N]xf32>) -> tensor<f32> {
  %s = fusion.sum %x dims [0]
  task.return %s
}";
    for length in [0, 5, 8191, 8192, 300_001, 3_000_000] {
        let mut program = Program::new("sum", text, "f");
        program.extents = vec![("N".to_owned(), length)];
        let counts = counts(&program);
        assert!(counts["barriers"] <= 5 * counts["blocks"], "{counts:?}");
        assert_eq!(failure(&program, "sm_90,order=random,seed=1"), None);
    }
}

/// Neither side of a transposition in long tiles has conflicts of banks, for elements of four bytes and of two.
#[test]
fn transpositions_have_no_conflicts() {
    for (from, to, bytes) in [
        ("f32", "f32", [4, 4]),
        ("bf16", "bf16", [2, 2]),
        ("f16", "f32", [2, 4]),
    ] {
        let text = format!(
            "task.program @f(%x: tensor<768x1024x{from}>) -> tensor<1024x768x{to}> {{
  %t = fusion.permute %x dims [1, 0]
  %y = fusion.cast %t to {to}
  %z = fusion.copy %y
  task.return %z
}}"
        );
        let program = Program::new("turned", &text, "f");
        let counts = counts(&program);
        assert_eq!(counts["blocks"], 768 * 1024 / (64 * 64), "{from} {to}");
        assert_eq!(
            counts["wavefronts"], counts["ideal_wavefronts"],
            "{from} {to}"
        );
        let sectors = bytes.map(|bytes| bytes * 768 * 1024 / 32);
        assert_eq!(counts["loads.sectors"], sectors[0], "{from} {to}");
        assert_eq!(counts["stores.sectors"], sectors[1], "{from} {to}");
        for machine in ["sm_80,order=random,seed=1", "sm_90,order=reverse"] {
            assert_eq!(failure(&program, machine), None, "{from} {to}");
        }
    }
}

/// The end of a named length costs a thread that has one vector few instructions: 36 in all, 12 of which load, add and store.
#[test]
fn ends_of_named_lengths_are_cheap() {
    let text = "task.program @f(%x: tensor<[N]xbf16>, %y: tensor<[N]xbf16>) -> tensor<[N]xbf16> {
  %s = fusion.add %x, %y
  %r = fusion.relu %s
  task.return %r
}";
    let sum = |length| {
        let mut program = Program::new("sum", text, "f");
        program.extents = vec![("N".to_owned(), length)];
        program
    };
    let counts = counts(&sum(1 << 16));
    let instructions = 32 * counts["warp_instructions"] / counts["threads"];
    assert!(instructions <= 36, "{counts:?}");
    for length in [0, 1, 7, 8, 9, 1016, 1017, 1023, 1024, 1025, 10_007] {
        for machine in ["sm_80,order=reverse", "sm_90,order=random,seed=1"] {
            assert_eq!(failure(&sum(length), machine), None, "{length}");
        }
    }
}

/// The warps of a block put their sums of columns together in shared memory: each block writes one partial result of a column, and the last
/// one of a place reads these.
#[test]
fn blocks_write_one_partial_result() {
    let text = "task.program @f(%x: tensor<8192x256xf32>) -> tensor<256xf32> {
  %s = fusion.sum %x dims [0]
  task.return %s
}";
    let program = Program::new("columns", text, "f");
    let counts = counts(&program);
    // A block has 128 columns.
    let partial = counts["blocks"] * 128 * 4 / 32;
    let (columns, all) = (256 * 4 / 32, 8192 * 256 * 4 / 32);
    assert_eq!(counts["stores.sectors"], partial + columns, "{counts:?}");
    assert!(counts["loads.sectors"] <= all + partial, "{counts:?}");
    for machine in ["sm_80,order=reverse", "sm_90,order=random,seed=1"] {
        assert_eq!(failure(&program, machine), None);
    }
}

/// Sums of columns of few rows, all of which a block reads at once: nothing is handed on in memory, and each sector is touched once. So where what
/// depends on the sums is computed behind them, and where the elements are results too.
#[test]
fn few_rows_are_summed_by_one_block() {
    let sums = |rows: u64, columns: u64, more: &str, result: &str| {
        let text = format!(
            "task.program @f(%x: tensor<{rows}x{columns}xf32>) -> {result} {{
  %s = fusion.sum %x dims [0]
  {more}
}}"
        );
        Program::new("columns", &text, "f")
    };
    let plain = |rows, columns| {
        let result = format!("tensor<{columns}xf32>");
        sums(rows, columns, "task.return %s", &result)
    };
    let behind = |rows, columns| {
        let more = "%t = fusion.exp %s\n  %u = fusion.cast %t to bf16\n  task.return %u";
        sums(rows, columns, more, &format!("tensor<{columns}xbf16>"))
    };
    let stored = |rows, columns| {
        let more = "%y = fusion.neg %x\n  task.return %s, %y";
        let result = format!("(tensor<{columns}xf32>, tensor<{rows}x{columns}xf32>)");
        sums(rows, columns, more, &result)
    };
    for (program, stores) in [
        (plain(128, 4096), 4096 * 4),
        (plain(97, 4096), 4096 * 4),
        (plain(16, 4416), 4416 * 4),
        (behind(128, 4096), 4096 * 2),
        (stored(65, 4096), 66 * 4096 * 4),
    ] {
        let counts = counts(&program);
        assert_eq!(counts["launches"], 1);
        assert_eq!(
            counts["loads.sectors"],
            largest(&program.text) * 4 / 32,
            "{}",
            program.text
        );
        assert_eq!(counts["stores.sectors"], stores / 32, "{}", program.text);
        assert!(counts["barriers"] <= counts["blocks"], "{counts:?}");
        for machine in ["sm_80", "sm_80,order=reverse", "sm_90,order=random,seed=1"] {
            assert_eq!(failure(&program, machine), None);
        }
    }
}

/// A walk that stores what it sums has all threads of a block at work: groups of them store apart, and wait for none.
#[test]
fn stores_beside_sums_of_columns_keep_all_threads() {
    let walk = |rows: u64, stores: bool| {
        let (result, values) = match stores {
            true => (
                format!("(tensor<256xf32>, tensor<{rows}x256xf32>)"),
                "%s, %y",
            ),
            false => ("tensor<256xf32>".to_owned(), "%s"),
        };
        let text = format!(
            "task.program @f(%x: tensor<{rows}x256xf32>) -> {result} {{
  %y = fusion.exp %x
  %s = fusion.sum %y dims [0]
  task.return {values}
}}"
        );
        Program::new("walk", &text, "f")
    };
    let [sums, both] = [false, true].map(|stores| counts(&walk(4096, stores)));
    let extra = 4096 * 256 * 4 / 32;
    assert_eq!(both["threads"], sums["threads"]);
    assert_eq!(both["stores.sectors"], sums["stores.sectors"] + extra);
    assert_eq!(both["loads.sectors"], sums["loads.sectors"]);
    // A store and an address for each vector of a thread.
    let vectors = 4096 * 256 / 4 / 32;
    let most = sums["warp_instructions"] + 4 * vectors;
    assert!(both["warp_instructions"] <= most, "{both:?} {sums:?}");
    for rows in [4096, 4099, 1031] {
        for machine in ["sm_80,order=reverse", "sm_90", "sm_90,order=random,seed=1"] {
            assert_eq!(failure(&walk(rows, true), machine), None);
        }
    }
}

/// Short rows of a walk that sums nothing share a block too: no thread idles but for what a row lacks to a power of two.
#[test]
fn short_rows_that_are_moved_share_a_block() {
    let text = "task.program @f(%x: tensor<4x128x16x64xf32>) -> tensor<4x16x128x64xf32> {
  %t = fusion.permute %x dims [0, 2, 1, 3]
  %y = fusion.copy %t
  task.return %y
}";
    let program = Program::new("rows", text, "f");
    let counts = counts(&program);
    let elements = 4 * 128 * 16 * 64;
    assert_eq!(counts["threads"], elements / 4);
    assert_eq!(counts["loads.sectors"], elements * 4 / 32);
    assert_eq!(failure(&program, "sm_90,order=reverse"), None);
}

/// Bytes that are added and subtracted four at a time: all pairs of them, and no conversion for each of many.
#[test]
fn bytes_are_added_by_words() {
    let text = "task.program @f() -> (tensor<65536xi8>, tensor<65536xi8>, tensor<65536xi8>) {
  %i = fusion.iota dim 0 shape [65536] of i32
  %n = fusion.constant value 256 : i32
  %high = fusion.div %i, %n
  %low = fusion.remainder %i, %n
  %a = fusion.cast %high to i8
  %b = fusion.cast %low to i8
  %sum = fusion.add %a, %b
  %difference = fusion.sub %a, %b
  %opposite = fusion.neg %a
  task.return %sum, %difference, %opposite
}";
    let pairs = Program::new("pairs", text, "f");
    let text = "task.program @f(%x: tensor<65536xi8>) -> tensor<65536xi8> {
  %y = fusion.neg %x
  task.return %y
}";
    let opposites = Program::new("opposites", text, "f");
    for program in [&pairs, &opposites] {
        for machine in ["sm_80", "sm_90"] {
            assert_eq!(failure(program, machine), None);
        }
    }
    let counts = counts(&opposites);
    assert!(counts["warp_instructions"] * 32 < 3 * 65_536, "{counts:?}");
}

/// Grids of more iterations than a launch has blocks, of which a block takes several: of named lengths around the limit, of static ones, of rows
/// that groups of threads share, of sums that the last block puts together.
#[test]
fn long_grids_are_walked_in_strides() {
    const BLOCKS: u64 = 7;
    let target = format!("--target=base=\"h100\"; name=\"few\"; grid-blocks={BLOCKS}");
    let plain = "task.program @f(%x: tensor<DIMxf32>) -> tensor<DIMxf32> {
  %y = fusion.exp %x
  task.return %y
}";
    let rows = "task.program @f(%x: tensor<RxCxf32>) -> tensor<RxCxf32> {
  %s = fusion.sum %x dims [1]
  %sb = fusion.broadcast %s dims [0] shape [R, C]
  %y = fusion.sub %x, %sb
  task.return %y
}";
    let sums = "task.program @f(%x: tensor<RxCxf32>) -> (tensor<Cxf32>, tensor<Rxf32>) {
  %e = fusion.exp %x
  %s = fusion.sum %e dims [0]
  %t = fusion.sum %e dims [1]
  task.return %s, %t
}";
    let fixed = |text: &str, [r, c]: [i64; 2]| {
        let text = text
            .replace("DIM", &r.to_string())
            .replace("R", &r.to_string());
        let text = text.replace("C", &c.to_string());
        Program::new("static", &text, "f")
    };
    let named = |text: &str, [r, c]: [i64; 2]| {
        let text = text.replace("DIM", "[R]").replace("RxC", "[R]x[C]");
        let text = text.replace("[R, C]", "[[R], [C]]").replace("<Cx", "<[C]x");
        let text = text.replace("<Rx", "<[R]x");
        let extents = [("R", r), ("C", c)].map(|(name, n)| (name.to_owned(), n));
        let used = extents
            .into_iter()
            .filter(|(name, _)| text.contains(&format!("[{name}]")));
        Program {
            extents: used.collect(),
            ..Program::new("named", &text, "f")
        }
    };
    // A block has 1,024 elements, or a row.
    let lengths = [6, 7, 8, 15].map(|blocks| blocks * 1024);
    let mut programs = Vec::new();
    for length in lengths.into_iter().chain([7 * 1024 + 1, 1, 0]) {
        programs.extend([named(plain, [length, 0]), fixed(plain, [length, 0])]);
    }
    for count in [6, 7, 8, 15] {
        for length in [5, 64, 1000, 20_000] {
            programs.extend([named(rows, [count, length]), fixed(rows, [count, length])]);
        }
    }
    programs.extend([fixed(rows, [1000, 8]), fixed(rows, [1001, 3])]);
    for shape in [[1, 700], [40, 100], [40, 4000], [333, 65]] {
        programs.extend([named(sums, shape), fixed(sums, shape)]);
    }
    let orders = ["sm_90", "sm_90,order=reverse", "sm_90,order=random,seed=4"];
    let mut full = 0;
    for (program, machine) in programs.iter().zip(orders.into_iter().cycle()) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("report.json");
        let report = format!("--report=json:{}", file.display());
        let output = run(program, "cuda", machine, &["--check", &target, &report]);
        assert!(
            output.status.success(),
            "{machine} {}: {}",
            program.text,
            text(&output)
        );
        let report: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        for kernel in report["simulator"]["kernels"].as_object().unwrap().values() {
            let blocks = kernel["blocks"].as_u64().unwrap() / kernel["launches"].as_u64().unwrap();
            assert!(blocks <= BLOCKS, "{blocks} blocks: {}", program.text);
            full += u64::from(blocks == BLOCKS);
        }
    }
    assert!(full > 30, "{full} launches of {BLOCKS} blocks");
}

/// Axes that are permuted in no memory are walked as one.
#[test]
fn what_lies_as_it_lay_is_one_row() {
    let text = "task.program @f(%x: tensor<8x12x20x15xf32>) -> tensor<20x8x15x12xf32> {
  %t = fusion.permute %x dims [2, 0, 3, 1]
  %y = fusion.neg %t
  task.return %y
}";
    let program = Program::new("view", text, "f");
    let counts = counts(&program);
    assert_eq!(counts["loads.sectors"], 8 * 12 * 20 * 15 * 4 / 32);
    assert_eq!(failure(&program, "sm_90,order=reverse"), None);
}

/// Loads of rounds under conditions are waited for together: once before the barrier of a transposition of named lengths, once behind it.
#[test]
fn loads_under_conditions_are_waited_for_together() {
    let text =
        "task.program @f(%x: tensor<[M]x[N]xf32>, %y: tensor<[N]x[M]xf32>) -> tensor<[N]x[M]xf32> {
  %t = fusion.permute %x dims [1, 0]
  %z = fusion.add %t, %y
  task.return %z
}";
    for (rows, columns) in [(200, 72), (201, 67), (1, 5)] {
        let mut program = Program::new("turned", text, "f");
        program.extents = vec![("M".to_owned(), rows), ("N".to_owned(), columns)];
        let counts = counts(&program);
        assert!(
            counts["batches"] * 32 <= 2 * counts["threads"],
            "{counts:?}"
        );
        for machine in ["sm_90,order=reverse", "sm_80,order=random,seed=1"] {
            assert_eq!(failure(&program, machine), None);
        }
    }
}

/// A block that has its multiprocessor alone has more threads: no other one computes while it waits.
#[test]
fn few_long_rows_have_many_threads() {
    for (rows, threads) in [(3, 512), (200, 256)] {
        let text = format!(
            "task.program @f(%x: tensor<{rows}x8192xbf16>) -> tensor<{rows}x8192xbf16> {{
  %w = fusion.cast %x to f32
  %m = fusion.max %w dims [1]
  %b = fusion.broadcast %m dims [0] shape [{rows}, 8192]
  %d = fusion.sub %w, %b
  %y = fusion.cast %d to bf16
  task.return %y
}}"
        );
        let program = Program::new("rows", &text, "f");
        let counts = counts(&program);
        assert_eq!(counts["threads"], threads * counts["blocks"]);
        assert_eq!(failure(&program, "sm_80,order=random,seed=1"), None);
    }
}

/// Tiles of a transposition: whole, cut off along one axis or both, and longer than the axes are.
#[test]
fn transpositions_keep_within_their_axes() {
    let shapes = [(7, 10), (1, 33), (64, 32), (65, 31), (2, 129)];
    for ((rows, columns), machine) in shapes.into_iter().zip(MACHINES) {
        let text = format!(
            "task.program @f(%x: tensor<{rows}x{columns}xf32>) -> tensor<{columns}x{rows}xf32> {{
  %t = fusion.permute %x dims [1, 0]
  %y = fusion.exp %t
  task.return %y
}}"
        );
        assert_eq!(failure(&Program::new("turned", &text, "f"), machine), None);
    }
}

#[test]
fn the_simulator_is_never_chosen_by_accident() {
    let program = &examples()[0];
    let output = run(program, "cpu", "nonsense", &[]);
    assert!(output.status.success(), "{}", text(&output));
    for (machine, part) in [
        ("sm_70", "'sm_70' is no option of the simulator"),
        ("sm_80,order=up", "'order=up' is no option of the simulator"),
    ] {
        let output = run(program, "cuda", machine, &[]);
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output).contains(part), "{}", text(&output));
    }
}

/// The counts of a program's kernels, by the field's path, summed and divided by the executions.
fn counts(program: &Program) -> BTreeMap<String, u64> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.json");
    let report = format!("--report=json:{}", file.display());
    let output = run(program, "cuda", "sm_90", &[&report]);
    assert!(output.status.success(), "{}", text(&output));
    let report: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let mut sums = BTreeMap::new();
    let kernels = report["simulator"]["kernels"].as_object().unwrap();
    for kernel in kernels.values() {
        let fields = [
            "launches",
            "blocks",
            "threads",
            "warp_instructions",
            "barriers",
            "batches",
            "wavefronts",
            "ideal_wavefronts",
        ];
        let fields = fields.map(|field| (field.to_owned(), &kernel[field]));
        let sectors =
            ["loads", "stores"].map(|way| (format!("{way}.sectors"), &kernel[way]["sectors"]));
        let matrix = [("matrix".to_owned(), &kernel["classes"]["matrix"])];
        for (field, value) in fields.into_iter().chain(sectors).chain(matrix) {
            // Once to warm up, once for the report; a class that no instruction has is left out.
            *sums.entry(field).or_default() += value.as_u64().unwrap_or(0) / 2;
        }
    }
    sums
}

/// A row of budgets: the example, launches, barriers, instructions of warps, sectors of loads and of stores, wavefronts, waits of warps for loads.
type Budget = (&'static str, [u64; 7]);

/// The most that the small copies of examples may take: what they take, with a tenth more instructions for another choice of the assembler's
/// input. A softmax of 5 rows of 1,024 bf16 writes 10,240 bytes, which are 320 sectors: no kernel writes fewer. A quotient of an element by its row's sum counts as
/// a dozen instructions; `div.rn` counts as one, of which the assembler makes ten with two branches. Of the 1,550 barriers of `layer_norm_backward` 512 are before counts, by which
/// groups of blocks put sums together.
const BUDGETS: [Budget; 5] = [
    ("softmax", [1, 10, 6_530, 320, 320, 200, 20]),
    ("layer_norm", [1, 6, 2_010, 972, 192, 120, 24]),
    (
        "layer_norm_backward",
        [1, 1_550, 353_000, 122_296, 86_720, 13_080, 3_100],
    ),
    ("transpose_add", [1, 9, 9_110, 1_394, 697, 390, 54]),
    ("column_sum", [1, 128, 9_300, 9_600, 1_152, 128, 208]),
];

#[test]
fn kernels_keep_their_budgets() {
    let fields = [
        "launches",
        "barriers",
        "warp_instructions",
        "loads.sectors",
        "stores.sectors",
        "wavefronts",
        "batches",
    ];
    let programs = examples();
    let mut told = String::new();
    for (name, budget) in BUDGETS {
        let program = programs
            .iter()
            .find(|program| program.name == name)
            .unwrap();
        let counts = counts(program);
        for (field, most) in fields.into_iter().zip(budget) {
            if counts[field] > most {
                told += &format!("{name}: {} {field}, {most} at most\n", counts[field]);
            }
        }
    }
    assert!(told.is_empty(), "\n{told}");
}

/// The kernels of a program, by name: launches, blocks of each, and barriers of a block.
fn kernels(program: &Program) -> Vec<(u64, u64, u64)> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.json");
    let report = format!("--report=json:{}", file.display());
    let output = run(program, "cuda", "sm_90", &[&report, "--check"]);
    assert!(output.status.success(), "{}", text(&output));
    let report: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let kernels = report["simulator"]["kernels"].as_object().unwrap();
    let count = |kernel: &Value| {
        let of = |field: &str| kernel[field].as_u64().unwrap();
        let (launches, blocks) = (of("launches"), of("blocks"));
        // Once to warm up, once for the report.
        (launches / 2, blocks / launches, of("barriers") / blocks)
    };
    kernels.values().map(count).collect()
}

/// Sums are spread over the multiprocessors of the device, 132, whatever shape they have: a long one, a few long ones, sums of wide
/// columns, and of tall ones. Each element is loaded once into registers; only partial results need barriers.
#[test]
fn sums_have_a_block_for_each_multiprocessor() {
    let sum = |shape: &str, dim: u32, result: &str| {
        let text = format!(
            "task.program @f(%x: tensor<{shape}xf32>) -> tensor<{result}f32> {{
  %s = fusion.sum %x dims [{dim}]
  task.return %s
}}"
        );
        kernels(&Program::new(shape, &text, "f"))
    };
    let shapes = [
        ("1048576", 0, ""),
        ("3x300001", 1, "3x"),
        ("5x65536", 0, "65536x"),
        ("1111x129", 0, "129x"),
    ];
    for (shape, dim, result) in shapes {
        let kernels = sum(shape, dim, result);
        assert!(kernels[0].1 >= 132, "{shape}: {kernels:?}");
        let barriers = kernels.iter().map(|kernel| kernel.2).max();
        assert!(barriers <= Some(6), "{shape}: {kernels:?}");
    }
}
