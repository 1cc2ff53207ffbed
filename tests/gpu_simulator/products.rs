//! Products of matrices as kernels of their own: results in every layout and type at sizes around tiles, what they touch, and how their sums are cut off.
//!
//! `--check` compares with the bound of the type, and once more on small whole numbers, where every sum is exact: there the bits must agree.

use serde_json::Value;

use super::barriers::leave_out_of;
use super::programs::Program;
use super::{MACHINES, counts, failures, run};

pub const TYPES: [&str; 4] = ["bf16", "f16", "f32", "f64"];

/// Rows, columns and terms: the least that such a kernel has, primes, one more than a power of two, a tile and less, whole tiles, several steps.
const SIZES: [[u32; 3]; 8] = [
    [8, 8, 8],
    [65, 67, 33],
    [64, 64, 64],
    [129, 131, 17],
    [13, 40, 104],
    [128, 64, 96],
    [200, 9, 257],
    [31, 33, 127],
];

/// The two factors and the result: true for one whose first axis is the innermost in memory.
const LAYOUTS: [[bool; 3]; 8] = [
    [false, false, false],
    [true, false, false],
    [false, true, false],
    [true, true, false],
    [false, false, true],
    [true, false, true],
    [false, true, true],
    [true, true, true],
];

pub fn product(dtype: &str, [rows, columns, terms]: [u32; 3], layout: [bool; 3]) -> Program {
    let [a, b, y] = layout.map(|turned| if turned { ", [1, 0]" } else { "" });
    let result = format!("tensor<{rows}x{columns}x{dtype}{y}>");
    let text = format!(
        "task.program @f(%a: tensor<{rows}x{terms}x{dtype}{a}>, %b: tensor<{terms}x{columns}x{dtype}{b}>) -> {result} {{
  %y = fusion.matmul %a, %b : {result}
  task.return %y
}}"
    );
    Program::new(
        &format!("{rows}x{columns} of {terms} {dtype} {layout:?}"),
        &text,
        "f",
    )
}

/// The failures of programs, each on the next of all machines.
fn failures_in_turn(programs: &[Program]) -> Vec<String> {
    let runs: Vec<_> = programs.iter().zip(MACHINES.into_iter().cycle()).collect();
    failures(&runs)
}

pub fn all_products() -> impl Iterator<Item = Program> {
    TYPES.into_iter().flat_map(|dtype| {
        let sizes = SIZES.into_iter();
        sizes.flat_map(move |size| LAYOUTS.map(|layout| product(dtype, size, layout)))
    })
}

/// Each type at each size, in turn in each layout.
#[test]
fn products_agree_with_the_reference() {
    let programs: Vec<Program> = all_products().step_by(5).collect();
    assert!(programs.len() > 50);
    assert_eq!(failures_in_turn(&programs), Vec::<String>::new());
}

#[test]
#[ignore = "a minute"]
fn products_in_all_layouts_agree_with_the_reference() {
    let programs: Vec<Program> = all_products().collect();
    assert_eq!(failures_in_turn(&programs), Vec::<String>::new());
}

/// Rows, columns and terms that have names.
pub const LENGTHS: [[i64; 3]; 8] = [
    [0, 5, 7],
    [5, 7, 0],
    [1, 1, 1],
    [16, 32, 48],
    [33, 65, 1],
    [144, 80, 272],
    [67, 31, 129],
    [3, 128, 64],
];

/// Products of these lengths in all types.
pub fn named() -> Vec<Program> {
    let text = |dtype: &str| {
        format!(
            "task.program @f(%a: tensor<[M]x[K]x{dtype}>, %b: tensor<[K]x[N]x{dtype}>) -> tensor<[M]x[N]x{dtype}> {{
  %y = fusion.matmul %a, %b
  task.return %y
}}"
        )
    };
    let mut programs = Vec::new();
    for dtype in TYPES {
        for [rows, columns, terms] in LENGTHS {
            let name = format!("{rows}x{columns} of {terms} {dtype}");
            let mut program = Program::new(&name, &text(dtype), "f");
            let extents = [("K", terms), ("M", rows), ("N", columns)];
            program.extents = extents.map(|(name, n)| (name.to_owned(), n)).to_vec();
            programs.push(program);
        }
    }
    programs
}

/// In the versions for vectors and for odd rows.
#[test]
fn products_of_named_lengths_agree_with_the_reference() {
    assert_eq!(failures_in_turn(&named()), Vec::<String>::new());
}

/// Axes of a batch: beside each other, innermost in memory, stored once for heads that share a factor, in one factor alone; rows over several axes; one
/// tensor as both factors; a result in the type that accumulates; biases of columns, of rows that lie beside each other, of one element, and beside such a result.
pub const BATCHES: [&str; 11] = [
    "task.program @f(%a: tensor<3x33x40xT>, %b: tensor<3x40x17xT>) -> tensor<3x33x17xT> {
  %y = fusion.matmul %a, %b
  task.return %y
}",
    "task.program @f(%a: tensor<5x[M]x24xT, [1, 2, 0]>, %b: tensor<5x24x[N]xT, [2, 0, 1]>) -> tensor<5x[M]x[N]xT, [1, 2, 0]> {
  %y = fusion.matmul %a, %b : tensor<5x[M]x[N]xT, [1, 2, 0]>
  task.return %y
}",
    "task.program @f(%a: tensor<2x4x19x16xT>, %k: tensor<2x16x33xT>) -> tensor<2x4x19x33xT> {
  %b = fusion.broadcast %k dims [0, 2, 3] shape [2, 4, 16, 33]
  %y = fusion.matmul %a, %b
  task.return %y
}",
    "task.program @f(%a: tensor<3x5x11x48xT>, %b: tensor<48x40xT>) -> tensor<3x5x11x40xT> {
  %y = fusion.matmul %a, %b
  task.return %y
}",
    "task.program @f(%x: tensor<[B]x[S]x32xT>, %w: tensor<40x32xT>, %c: tensor<40xT>) -> tensor<[B]x[S]x40xT> {
  %y = fusion.linear %x, %w, %c
  task.return %y
}",
    "task.program @f(%a: tensor<35x35xT>) -> tensor<35x35xT> {
  %y = fusion.matmul %a, %a
  task.return %y
}",
    "task.program @f(%a: tensor<2x[M]x24xT, [1, 0, 2]>, %b: tensor<24x32xT>) -> tensor<2x[M]x32xT, [1, 0, 2]> {
  %y = fusion.matmul %a, %b : tensor<2x[M]x32xT, [1, 0, 2]>
  task.return %y
}",
    "task.program @f(%a: tensor<[B]x20x24xT>, %b: tensor<[B]x24x36xT>) -> tensor<[B]x20x36xW> {
  %y = fusion.matmul %a, %b to W
  task.return %y
}",
    "task.program @f(%x: tensor<[B]x24xT>, %w: tensor<40x24xT>, %c: tensor<40xT>) -> tensor<[B]x40xT, [1, 0]> {
  %y = fusion.linear %x, %w, %c : tensor<[B]x40xT, [1, 0]>
  task.return %y
}",
    "task.program @f(%x: tensor<33x24xT>, %w: tensor<67x24xT>, %c: tensor<b67xT>) -> tensor<33x67xT> {
  %y = fusion.linear %x, %w, %c : tensor<33x67xT>
  task.return %y
}",
    "task.program @f(%x: tensor<65x24xT>, %w: tensor<40x24xT>, %c: tensor<40xT>) -> tensor<65x40xW> {
  %y = fusion.linear %x, %w, %c to W
  task.return %y
}",
];

/// The batches in all types.
pub fn batches() -> Vec<Program> {
    let mut programs = Vec::new();
    for dtype in TYPES {
        let wide = if dtype == "f64" { "f64" } else { "f32" };
        for text in BATCHES {
            let text = text.replace("xT", &format!("x{dtype}"));
            let text = text.replace("xW>", &format!("x{wide}>"));
            let text = text.replace("to W", &format!("to {wide}"));
            programs.push(Program::new(&format!("{dtype} {text}"), &text, "f"));
        }
    }
    programs
}

#[test]
fn batches_agree_with_the_reference() {
    assert_eq!(failures_in_turn(&batches()), Vec::<String>::new());
}

/// Neither stores to shared memory nor loads from there conflict, in any layout, in vectors and element by element; 16-bit floats are multiplied on tensor
/// cores, 4,096 products in an instruction of half that many of each factor's, others in as many fused multiply-adds.
#[test]
fn products_have_no_conflicts() {
    for dtype in TYPES {
        for (size, layout) in [([64, 128, 96], [1, 2, 4, 7]), ([65, 67, 33], [0, 3, 5, 6])] {
            for layout in layout.map(|number| LAYOUTS[number]) {
                let program = product(dtype, size, layout);
                let counts = counts(&program);
                assert_eq!(
                    counts["wavefronts"], counts["ideal_wavefronts"],
                    "{}",
                    program.name
                );
                let products = counts["matrix"] * 16 * 8 * 16;
                let padded = |n: u32, to: u32| u64::from(n.next_multiple_of(to));
                let all = padded(size[0], 64) * padded(size[1], 64) * padded(size[2], 32);
                let on_tensor_cores = matches!(dtype, "bf16" | "f16");
                assert_eq!(
                    products,
                    if on_tensor_cores { all } else { 0 },
                    "{}",
                    program.name
                );
            }
        }
    }
}

/// Whole tiles: each element of a factor is loaded once for each tile across, in vectors of whole sectors.
#[test]
fn whole_tiles_load_whole_sectors() {
    // 4 by 4 tiles of 64, on 132 multiprocessors; f64 has tiles of 32.
    for (dtype, bytes, across) in [("bf16", 2, 4), ("f32", 4, 4), ("f64", 8, 8)] {
        let counts = counts(&product(dtype, [256, 256, 128], LAYOUTS[0]));
        assert_eq!(counts["blocks"], across * across, "{dtype}");
        assert_eq!(
            counts["loads.sectors"],
            2 * across * 256 * 128 * bytes / 32,
            "{dtype}"
        );
        assert_eq!(
            counts["threads"] / counts["blocks"],
            if dtype == "bf16" { 128 } else { 64 }
        );
        // A barrier for each step of terms.
        let terms = if dtype == "bf16" { 32 } else { 8 };
        assert_eq!(
            counts["barriers"],
            counts["blocks"] * 128 / terms,
            "{dtype}"
        );
    }
}

/// Tensor cores cut off what rounding to nearest would round up: here all terms but the first. The error is within the bound of sums that are cut off, and
/// beyond that of rounded ones, half of it: the reference must know which it compares with, and does.
#[test]
fn sums_are_within_the_bound_of_tensor_cores() {
    let text = "task.program @f(%a: tensor<64x1xf16>, %c: tensor<64x1023xf16>, %b: tensor<1x64xf16>, %d: tensor<1023x64xf16>) -> tensor<64x64xf32> {
  %l = fusion.cat %a, %c dim 1
  %r = fusion.cat %b, %d dim 0
  %y = fusion.matmul %l, %r to f32
  task.return %y
}";
    let program = Program::new("cut off", text, "f");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.json");
    let report = format!("--report=json:{}", file.display());
    // 1, and 1,023 times 1.44 times half the last place of 1.
    let small = [
        "--input=c=full:0.00029296875",
        "--input=d=full:0.00029296875",
    ];
    let inputs = ["--input=a=ones", "--input=b=ones", "--check", &report];
    let arguments = [&small[..], &inputs].concat();
    let of_errors = |more: &[&str]| {
        let arguments = [&arguments[..], more].concat();
        let output = run(&program, "cuda", "sm_80", &arguments);
        assert!(output.status.success(), "{}", super::text(&output));
        let report: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let output = &report["check"]["outputs"][0];
        let number = |field: &str| output[field].as_f64().unwrap();
        (number("error"), number("bound"))
    };
    // A comparison allows four times the bound.
    let (cut, allowed) = of_errors(&[]);
    let bound = allowed / 4.0;
    assert!(0.5 * bound < cut && cut <= bound, "{cut} of {bound}");
    // An ordinary kernel rounds, and is held to the lower bound.
    let (rounded, allowed) = of_errors(&["--executors=none"]);
    let lower = allowed / 4.0;
    assert!(rounded <= lower && lower < cut, "{rounded} of {lower}");
}

/// The one barrier of a product is needed on every target, in every kind of kernel: with one step before what is stored is read, with several also before
/// what was read is written over.
#[test]
fn every_barrier_of_a_product_is_found_missing() {
    let programs = TYPES.map(|dtype| product(dtype, [65, 40, 97], LAYOUTS[0]));
    for program in &programs {
        let found = leave_out_of(program);
        assert!(found > 0, "{}", program.name);
    }
}
