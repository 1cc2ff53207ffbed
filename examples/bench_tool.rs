//! A benchmark of the tool's speed, beside `mlir-opt` if that is found.
//!
//! ```text
//! cargo run --release --no-default-features --example bench_tool -- [OPS...] [--mlir-opt=PATH] [--emit=fusion|arith|custom]
//! ```
//!
//! Makes modules of functions of 100 ops: additions, multiplications and negations of tensors, of which 5 multiply by one
//! and fold away, 10 compute what another one does, and 5 are dead. The same module is written three times: with the ops of
//! `func` and `arith` in generic form, which MLIR's tools read as well (here they are unregistered ops, kept and printed);
//! with those of `task` and `fusion` in generic form, the same text but for the names; and with those in custom form.
//!
//! The first table takes the steps of the tool apart: time and memory per op for each size, each size in a process of its own.
//! Spans below [`SHORT`] are real time, longer ones processor time; the least of several runs counts. Printing hands its text on
//! in blocks, as the tool does with a file, and nothing keeps them. A small module is read and made again in memory that the
//! process holds already; a large one pays for memory that the system hands out for the first time. The second runs whole
//! processes by turns, `fuser-opt` and `mlir-opt`, single-threaded, and compares their processor time, start included.
//! `--emit` writes a module instead. Reads `/proc`, so it needs Linux.

use std::fmt::Write;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fuser_ir::parse::{ParseOptions, parse};
use fuser_ir::print::{PrintOptions, print_to};
use fuser_ir::verify::verify;
use fuser_ir::{Ir, Op, Registry};
use fuser_pass::PassDef;

const OPS_PER_FUNCTION: usize = 100;
const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
/// Sizes of whole processes: the start counts for little.
const COMPARED: [usize; 2] = [100_000, 1_000_000];
/// Processor time is told in steps of a few milliseconds.
const SHORT: Duration = Duration::from_millis(20);
/// Granularity of a process's times as the system reports them, in seconds.
const TICK: f64 = 0.01;
const LEAST_RUNS: usize = 5;
/// Small modules run more often: as many ops as this in all.
const OPS_IN_ALL: usize = 500_000;
const PLACES: [&str; 3] = ["mlir-opt-22", "/usr/lib/llvm-22/bin/mlir-opt", "mlir-opt"];

/// Names of ops in one of the texts.
struct Names {
    function: &'static str,
    end: &'static str,
    constant: &'static str,
    add: &'static str,
    mul: &'static str,
    neg: &'static str,
}

const ARITH: Names = Names {
    function: "func.func",
    end: "func.return",
    constant: "arith.constant",
    add: "arith.addf",
    mul: "arith.mulf",
    neg: "arith.negf",
};
const FUSION: Names = Names {
    function: "task.program",
    end: "task.return",
    constant: "fusion.constant",
    add: "fusion.add",
    mul: "fusion.mul",
    neg: "fusion.neg",
};
const TYPE: &str = "tensor<64xf32>";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let flag = |name: &str| arguments.iter().find_map(|a| a.strip_prefix(name));
    if arguments.first().is_some_and(|a| a == "--as-fuser-opt") {
        let exit = fuser::driver::run(&arguments[1..]);
        return ExitCode::from(exit as u8);
    }
    let sizes: Vec<usize> = arguments.iter().filter_map(|a| a.parse().ok()).collect();
    if let Some(path) = flag("--steps=") {
        return steps(path);
    }
    if let Some(form) = flag("--emit=") {
        print!(
            "{}",
            text_of(form, sizes.first().copied().unwrap_or(SIZES[0]))
        );
        return ExitCode::SUCCESS;
    }
    match bench(&sizes, flag("--mlir-opt=")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench_tool: {error}");
            ExitCode::FAILURE
        }
    }
}

// --- modules

fn text_of(form: &str, ops: usize) -> String {
    match form {
        "arith" => generic(ops, &ARITH),
        "fusion" => generic(ops, &FUSION),
        _ => custom(ops),
    }
}

/// One op of a function: its kind and the indices of its operands among the results (from 0; none for arguments).
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Add(usize, usize),
    Mul(usize, usize),
    Neg(usize),
    /// Times the constant one.
    One(usize),
}

/// The ops of one function between its constant and its end. Result 0 and 1 are the arguments.
fn body() -> Vec<Kind> {
    let mut ops = Vec::new();
    let mut live = vec![0, 1];
    while ops.len() < OPS_PER_FUNCTION - 3 {
        let at = ops.len();
        let (a, b) = (live[live.len() - 1], live[live.len() - 2]);
        let kind = match at % 20 {
            7 => Kind::One(a),
            // The same as the one before, its result used in its place.
            11 | 15 => ops[at - 1],
            // Nothing uses this one.
            18 => Kind::Neg(b),
            n if n % 3 == 0 => Kind::Mul(a, b),
            n if n % 3 == 1 => Kind::Add(a, b),
            _ => Kind::Neg(a),
        };
        ops.push(kind);
        if at % 20 != 18 {
            live.push(at + 2);
        }
    }
    ops
}

fn value(index: usize) -> String {
    match index {
        0 | 1 => format!("%arg{index}"),
        _ => format!("%{}", index - 1),
    }
}

/// Writes one op: name and operands, and how many of them.
type WriteOp<'a> = &'a dyn Fn(&mut String, &str, &[usize], usize);

fn functions(
    text: &mut String,
    ops: usize,
    names: &Names,
    head: &dyn Fn(&mut String, usize),
    op: WriteOp<'_>,
    tail: &dyn Fn(&mut String, usize, usize),
) {
    let body = body();
    for function in 0..ops / OPS_PER_FUNCTION {
        head(text, function);
        for (at, kind) in body.iter().enumerate() {
            // The constant one is `%0`.
            match *kind {
                Kind::Add(a, b) => op(text, names.add, &[a, b], at),
                Kind::Mul(a, b) => op(text, names.mul, &[a, b], at),
                Kind::Neg(a) => op(text, names.neg, &[a], at),
                Kind::One(a) => op(text, names.mul, &[a, usize::MAX], at),
            }
        }
        tail(text, function, body.len() + 1);
    }
}

fn operands(list: &[usize]) -> String {
    let name = |&index: &usize| match index {
        usize::MAX => "%0".to_owned(),
        index => value(index),
    };
    list.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn generic(ops: usize, names: &Names) -> String {
    let mut text = String::from("module {\n");
    functions(
        &mut text,
        ops,
        names,
        &|text, _| {
            let _ = writeln!(
                text,
                "  \"{}\"() ({{\n  ^bb0(%arg0: {TYPE}, %arg1: {TYPE}):\n    %0 = \"{}\"() {{value = dense<1.0> : {TYPE}}} : () -> {TYPE}",
                names.function, names.constant
            );
        },
        &|text, name, list, at| {
            let types = vec![TYPE; list.len()].join(", ");
            let _ = writeln!(
                text,
                "    %{} = \"{name}\"({}) : ({types}) -> {TYPE}",
                at + 1,
                operands(list)
            );
        },
        &|text, function, last| {
            let _ = writeln!(
                text,
                "    \"{}\"({}) : ({TYPE}) -> ()\n  }}) {{function_type = ({TYPE}, {TYPE}) -> {TYPE}, sym_name = \"f{function}\"}} : () -> ()",
                names.end,
                value(last)
            );
        },
    );
    text + "}\n"
}

fn custom(ops: usize) -> String {
    let mut text = String::from("module {\n");
    functions(
        &mut text,
        ops,
        &FUSION,
        &|text, function| {
            let _ = writeln!(
                text,
                "  task.program @f{function}(%arg0: {TYPE}, %arg1: {TYPE}) -> {TYPE} {{\n    %0 = fusion.constant value 1.0 : {TYPE}"
            );
        },
        &|text, name, list, at| {
            let _ = writeln!(text, "    %{} = {name} {} : {TYPE}", at + 1, operands(list));
        },
        &|text, _, last| {
            let _ = writeln!(text, "    task.return {}\n  }}", value(last));
        },
    );
    text + "}\n"
}

// --- clocks and memory

/// A span of time: real where it is short, processor time where it is long.
struct Clock {
    real: Instant,
    processor: Option<Duration>,
}

impl Clock {
    fn start() -> Self {
        Self {
            processor: processor_time(),
            real: Instant::now(),
        }
    }
    fn seconds(&self) -> f64 {
        let real = self.real.elapsed();
        let processor = self.processor.zip(processor_time());
        let long = processor.filter(|_| real > SHORT);
        long.map_or(real, |(from, to)| to - from).as_secs_f64()
    }
}

fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    let nanoseconds = text.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds)).filter(|t| !t.is_zero())
}

/// Processor time of all children that have ended.
fn children_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let after_name = text.rsplit(')').next()?;
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some((ticks(13)? + ticks(14)?) * TICK)
}

/// A field of `/proc/self/status`, in bytes.
fn status(field: &str) -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|l| l.strip_prefix(field));
    let number = line.and_then(|l| l.trim_start_matches(':').split_whitespace().next());
    number.and_then(|n| n.parse::<f64>().ok()).unwrap_or(0.0) * 1024.0
}

// --- steps

const STEPS: [&str; 5] = ["parse", "verify", "print", "canonicalize", "cse"];

/// Runs the steps of the tool on a file, and prints the least nanoseconds per op of each, and bytes per op.
fn steps(path: &str) -> ExitCode {
    let Ok(text) = std::fs::read_to_string(path) else {
        return ExitCode::FAILURE;
    };
    let registry = fuser_dialects::registry();
    let before = status("VmRSS");
    let mut best = [f64::INFINITY; STEPS.len()];
    let (mut ops, mut bytes) = (1, 0.0);
    let mut runs = 0;
    while runs < LEAST_RUNS.max(OPS_IN_ALL / ops.max(1)).min(200) {
        let Some((found, times, held)) = round(&registry, &text) else {
            eprintln!("bench_tool: the module does not parse, verify, or end as it should");
            return ExitCode::FAILURE;
        };
        if runs == 0 {
            (ops, bytes) = (found, held - before);
        }
        for (best, time) in best.iter_mut().zip(times) {
            *best = best.min(time);
        }
        runs += 1;
    }
    let ops = ops as f64;
    print!("{ops}");
    best.iter().for_each(|b| print!(" {}", b * 1e9 / ops));
    println!(" {} {}", bytes / ops, status("VmHWM") / ops);
    ExitCode::SUCCESS
}

/// One round: number of ops, seconds of each step, and memory after parsing.
fn round(registry: &Arc<Registry>, text: &str) -> Option<(usize, [f64; STEPS.len()], f64)> {
    let mut times = [0.0; STEPS.len()];
    let mut ir = Ir::new(registry.clone());
    let options = ParseOptions::default();
    let clock = Clock::start();
    let module = parse(&mut ir, 0, text, &options).module?;
    times[0] = clock.seconds();
    let held = status("VmRSS");
    let ops = ir.walk(module).len();
    let clock = Clock::start();
    let found = verify(&mut ir, module);
    times[1] = clock.seconds();
    let mut printed = Passed::default();
    let clock = Clock::start();
    print_to(&mut printed, &ir, module, &PrintOptions::default()).ok()?;
    times[2] = clock.seconds();
    times[3] = pass(&mut ir, module, "canonicalize")?;
    times[4] = pass(&mut ir, module, "cse")?;
    // 5 products with one, as many dead ops, and the constant go, and 9 or 10 copies.
    let functions = (ops - 1) / (OPS_PER_FUNCTION - 1);
    let left = (ir.walk(module).len() - 1) / functions;
    let sound = !found.has_errors() && printed.bytes > ops && left < OPS_PER_FUNCTION - 15;
    sound.then_some((ops, times, held))
}

/// A sink for printed text that counts its bytes and drops them.
#[derive(Default)]
struct Passed {
    bytes: usize,
}

impl Write for Passed {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.bytes += std::hint::black_box(text).len();
        Ok(())
    }
}

/// Runs a pass without the verifier; its seconds.
fn pass(ir: &mut Ir, module: Op, name: &str) -> Option<f64> {
    let pass: &'static PassDef = fuser_passes::PASSES.iter().find(|p| p.name == name)?;
    let clock = Clock::start();
    let report = fuser_pass::manager::run_pass(ir, module, pass, |_, _| Default::default());
    let seconds = clock.seconds();
    report.ok().then_some(seconds)
}

// --- tables

fn bench(sizes: &[usize], mlir: Option<&str>) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let own = std::env::current_exe().map_err(|e| e.to_string())?;
    let own = own.to_string_lossy().into_owned();
    let file = |form: &str, ops: usize| {
        let path = folder.path().join(format!("{form}{ops}.fir"));
        let written = std::fs::write(&path, text_of(form, ops));
        let path = path.to_string_lossy().into_owned();
        written.map(|()| path).map_err(|e| e.to_string())
    };
    let own_sizes = if sizes.is_empty() { &SIZES } else { sizes };
    println!("ns per op (least of several runs)                                     bytes per op");
    println!("form        ops    parse   verify    print  canonic.      cse     held     peak");
    for form in ["fusion", "custom"] {
        for &ops in own_sizes {
            row(&own, form, &file(form, ops)?)?;
        }
    }
    let Some(mlir) = mlir.map(str::to_owned).or_else(find_mlir) else {
        println!("no mlir-opt found: nothing to compare with");
        return Ok(());
    };
    println!();
    println!("seconds of processor time of a whole process (least of {LEAST_RUNS}, by turns)");
    println!("task                    ops  fuser-opt   mlir-opt   ratio");
    let compared = if sizes.is_empty() {
        &COMPARED[..]
    } else {
        sizes
    };
    for &ops in compared {
        compare(
            &own,
            &mlir,
            ops,
            &file("arith", ops)?,
            &file("fusion", ops)?,
        )?;
    }
    Ok(())
}

fn row(own: &str, form: &str, path: &str) -> Result<(), String> {
    let run = Command::new(own).arg(format!("--steps={path}")).output();
    let run = run.map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    let numbers: Vec<f64> = text
        .split_whitespace()
        .filter_map(|n| n.parse().ok())
        .collect();
    let [ops, times @ .., held, peak] = numbers.as_slice() else {
        return Err(format!(
            "no result for {path}: {}",
            String::from_utf8_lossy(&run.stderr)
        ));
    };
    print!("{form:7} {ops:7}");
    times.iter().for_each(|t| print!(" {t:8.0}"));
    println!(" {held:8.0} {peak:8.0}");
    Ok(())
}

fn find_mlir() -> Option<String> {
    let works = |path: &&&str| {
        let mut command = Command::new(path);
        command
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.status().is_ok_and(|s| s.success())
    };
    PLACES.iter().find(works).map(|p| (*p).to_owned())
}

/// Whole processes: reading and printing the same text, then the passes on the same program in each tool's own ops.
fn compare(own: &str, mlir: &str, ops: usize, arith: &str, fusion: &str) -> Result<(), String> {
    let ours = |file: &str, more: &[&str]| {
        let mut command = Command::new(own);
        command.args([
            "--as-fuser-opt",
            "--allow-unregistered-dialect",
            "-o",
            "/dev/null",
        ]);
        command.args(more).arg(file);
        command
    };
    let theirs = |more: &[&str]| {
        let mut command = Command::new(mlir);
        command.args(["--mlir-disable-threading", "-o", "/dev/null"]);
        command.args(more).arg(arith);
        command
    };
    let passes = ["--canonicalize", "--cse"];
    let both = [
        ("parse, print (arith)", ours(arith, &[]), theirs(&[])),
        ("parse, print (own ops)", ours(fusion, &[]), theirs(&[])),
        (
            "and canonicalize, cse",
            ours(fusion, &passes),
            theirs(&passes),
        ),
    ];
    let mut rows = Vec::new();
    for (task, mut ours, mut theirs) in both {
        let (mut a, mut b) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..LEAST_RUNS {
            a = a.min(seconds(&mut ours)?);
            b = b.min(seconds(&mut theirs)?);
        }
        rows.push((task, a, b));
    }
    let (last, before) = (rows[2], rows[1]);
    rows.push(("the two passes alone", last.1 - before.1, last.2 - before.2));
    for (task, a, b) in rows {
        println!("{task:22} {ops:8} {a:9.2}  {b:9.2} {:7.2}", b / a);
    }
    Ok(())
}

fn seconds(command: &mut Command) -> Result<f64, String> {
    let before = children_seconds().ok_or("no processor time in /proc")?;
    let run = command
        .stdin(Stdio::null())
        .output()
        .map_err(|e| e.to_string())?;
    if !run.status.success() {
        let said = String::from_utf8_lossy(&run.stderr);
        return Err(format!(
            "{command:?}: {}",
            said.lines().next().unwrap_or("")
        ));
    }
    let after = children_seconds().ok_or("no processor time in /proc")?;
    Ok(after - before)
}
