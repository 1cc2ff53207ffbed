//! Products by cuBLASLt, which the simulator has where its options say so: results, what is called, and what the kernel computes instead.

use serde_json::Value;

use super::products::{BATCHES, LENGTHS, TYPES, all_products, batches, named, product};
use super::programs::Program;
use super::{MACHINES, failures, run, text};

/// All machines, with the library.
fn machines() -> Vec<String> {
    let with = |machine: &&str| format!("{machine},cublaslt");
    MACHINES.iter().map(with).collect()
}

/// The failures of programs, each on the next of all machines.
fn failures_in_turn(programs: &[Program]) -> Vec<String> {
    let machines = machines();
    let machines = machines.iter().map(String::as_str).cycle();
    let runs: Vec<_> = programs.iter().zip(machines).collect();
    failures(&runs)
}

/// The report of a run.
fn report(program: &Program, machine: &str, more: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.json");
    let report = format!("--report=json:{}", file.display());
    let output = run(program, "cuda", machine, &[more, &[&report]].concat());
    assert!(
        output.status.success(),
        "{}: {}",
        program.name,
        text(&output)
    );
    serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap()
}

/// The word of the report on the one launch of a program.
fn who(program: &Program, machine: &str, more: &[&str]) -> Value {
    let report = report(program, machine, more);
    let launches = report["launches"].as_array().unwrap();
    assert_eq!(launches.len(), 1, "{}", program.name);
    launches[0]["cublaslt"].clone()
}

#[test]
fn products_by_the_library_agree_with_the_reference() {
    let programs: Vec<Program> = all_products().step_by(3).collect();
    assert!(programs.len() > 80);
    assert_eq!(failures_in_turn(&programs), Vec::<String>::new());
}

/// A product of three terms, whose call takes no workspace, behind a temporary of 34 bytes: the library refuses an address for a workspace that is no multiple of 256, also of none.
#[test]
fn a_call_without_a_workspace_has_no_address_for_one() {
    let text = "task.program @f(%x: tensor<17x5xbf16>, %a: tensor<17x[K]xbf16>, %b: tensor<[K]x19xbf16>) -> (tensor<17x19xbf16>, tensor<17x5xbf16>) {
  %s = fusion.sum %x dims [1]
  %t = fusion.segment_set %s
  %y = fusion.matmul %a, %b
  %w = fusion.broadcast %t dims [0] shape [17, 5]
  %z = fusion.sub %x, %w
  task.return %y, %z
}";
    let program = Program::new("f", text, "f");
    assert_eq!(failures_in_turn(&[program]), Vec::<String>::new());
}

/// Lengths of none and one among them.
#[test]
fn products_of_named_lengths_by_the_library_agree_with_the_reference() {
    let programs = named();
    assert_eq!(programs.len(), TYPES.len() * LENGTHS.len());
    assert_eq!(failures_in_turn(&programs), Vec::<String>::new());
}

#[test]
fn batches_by_the_library_agree_with_the_reference() {
    assert_eq!(failures_in_turn(&batches()), Vec::<String>::new());
}

/// The library starts once and chooses once for each product; each run calls it once, and launches nothing; nothing waits but the runs for their ends.
#[test]
fn a_product_is_one_call() {
    for dtype in TYPES {
        let program = product(dtype, [129, 131, 17], [true, false, true]);
        let report = report(&program, "sm_90,cublaslt", &[]);
        let calls = |name: &str| report["simulator"]["calls"][name].as_u64();
        assert_eq!(calls("cublasLtCreate"), Some(1));
        assert_eq!(calls("cublasLtMatmulAlgoGetHeuristic"), Some(1));
        // Once to warm up, and once for the report.
        assert_eq!(calls("cublasLtMatmul"), Some(2));
        assert_eq!(calls("cuLaunchKernel"), None);
        let launch = &report["launches"][0];
        assert_eq!(launch["cublaslt"], "called");
        assert_eq!(launch["blocks"], 0);
        assert_eq!(launch["tensor_cores"], matches!(dtype, "bf16" | "f16"));
    }
}

/// One call for a batch that lies in memory as one run of matrices, and one for each index of an axis beside it.
#[test]
fn axes_beside_a_batch_are_calls() {
    let calls = |text: &str, extents: &[(&str, i64)]| {
        let text = text.replace("xT", "xbf16");
        let mut program = Program::new(&text, &text, "f");
        let extents = extents.iter().map(|(name, n)| ((*name).to_owned(), *n));
        program.extents = extents.collect();
        let report = report(&program, "sm_80,cublaslt", &[]);
        report["simulator"]["calls"]["cublasLtMatmul"]
            .as_u64()
            .unwrap_or(0)
            / 2
    };
    assert_eq!(calls(BATCHES[0], &[]), 1);
    // Heads that share a factor: two batches of four.
    assert_eq!(calls(BATCHES[2], &[]), 2);
    assert_eq!(calls(BATCHES[3], &[]), 1);
    assert_eq!(calls(BATCHES[6], &[("M", 33)]), 1);
}

/// Reasons for which the kernel computes a product, and that it is right then.
#[test]
fn what_the_library_does_not_take_the_kernel_computes() {
    let ordinary = product("f32", [33, 40, 24], [false; 3]);
    assert_eq!(who(&ordinary, "sm_90,cublaslt", &["--check"]), "called");
    assert_eq!(who(&ordinary, "sm_90", &["--check"]), "not-found");
    let ours = ["--check", "--executors=mma"];
    assert_eq!(who(&ordinary, "sm_90,cublaslt", &ours), Value::Null);
    // The batch is the innermost axis: no matrix has neighbours.
    let text = BATCHES[1].replace("xT", "xf32");
    let mut innermost = Program::new("innermost", &text, "f");
    innermost.extents = vec![("M".to_owned(), 9), ("N".to_owned(), 17)];
    assert_eq!(who(&innermost, "sm_90,cublaslt", &["--check"]), "layout");
    // A bias is along the axis along which results are neighbours, has an element for each, and their type; none is documented of f64.
    for (text, dtype, wide, expected) in [
        (BATCHES[4], "bf16", "f32", "called"),
        (BATCHES[4], "f64", "f64", "no-algorithm"),
        (BATCHES[8], "f32", "f32", "layout"),
        (BATCHES[9], "f16", "f32", "layout"),
        (BATCHES[10], "f16", "f32", "types"),
        (BATCHES[10], "f32", "f32", "called"),
    ] {
        let text = text.replace("xT", &format!("x{dtype}"));
        let text = text.replace("xW", &format!("x{wide}"));
        let text = text.replace("to W", &format!("to {wide}"));
        let mut biased = Program::new(&text, &text, "f");
        biased.extents.iter_mut().for_each(|(_, n)| *n = 9);
        let found = who(&biased, "sm_90,cublaslt", &["--check"]);
        assert_eq!(found, expected, "{dtype}: {text}");
    }
}

/// The table of a run names who computed a product.
#[test]
fn the_table_names_the_library() {
    let program = product("bf16", [64, 32, 16], [false; 3]);
    let output = text(&run(&program, "cuda", "sm_90,cublaslt", &[]));
    assert!(output.contains("f_s0_0, by cuBLASLt"), "{output}");
    let output = text(&run(&program, "cuda", "sm_90", &[]));
    assert!(!output.contains("cuBLASLt"), "{output}");
}

/// Sums of many terms of 16 bits, whose halves would be rounded to the type of the result if the library were free to: within the bound of one rounding.
#[test]
fn split_sums_are_kept_in_the_type_that_accumulates() {
    let text = "task.program @f(%a: tensor<16x1024xbf16>, %b: tensor<1024x16xbf16>) -> tensor<16x16xbf16> {
  %y = fusion.matmul %a, %b
  task.return %y
}";
    let program = Program::new("split", text, "f");
    let report = report(&program, "sm_90,cublaslt", &["--check"]);
    assert_eq!(report["launches"][0]["cublaslt"], "called");
    assert_eq!(report["check"]["ok"], true);
}
