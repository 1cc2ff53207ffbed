//! Operations per second of the parser and the printer, on one core.
//!
//! ```text
//! cargo run --release -p fuser-ir --example bench_parse -- [OPS] [--emit]
//! ```
//!
//! Makes functions of 50 ops in generic form (`func`, `arith`: what MLIR's tools read too) and in custom form, parses each
//! text seven times and prints the best, in processor time where the system tells it (`/proc/self/schedstat`), so that other
//! processes disturb less. `--emit` writes the generic text instead, to be given to another parser.

use std::fmt::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fuser_ir::check;
use fuser_ir::def::{
    DTypes, DialectDef, Shape, Syntax, TypeConstraint, operand, operands, region, result,
};
use fuser_ir::def::{OpError, OpParts, ResultTypes};
use fuser_ir::parse::{ParseOptions, parse};
use fuser_ir::print::{PrintOptions, print};
use fuser_ir::{Ir, OpDef, Registry, Traits};

const OPS_PER_FUNCTION: usize = 50;
const RUNS: usize = 7;
const DEFAULT_OPS: usize = 300_000;

const FLOAT: TypeConstraint = TypeConstraint::new(Shape::Elementwise, DTypes::FLOAT);

static ADD: OpDef = OpDef {
    name: "bench.add",
    operands: &[operand("a", FLOAT, ""), operand("b", FLOAT, "")],
    results: &[result("sum", FLOAT, "")],
    traits: Traits::PURE,
    infer: Some(infer_add),
    ..OpDef::EMPTY
};
static FUNC: OpDef = OpDef {
    name: "bench.func",
    regions: &[region("body", "")],
    syntax: Syntax {
        symbol: true,
        signature: true,
        terminator: Some("bench.return"),
    },
    traits: Traits::SYMBOL.union(Traits::ISOLATED),
    ..OpDef::EMPTY
};
static RETURN: OpDef = OpDef {
    name: "bench.return",
    operands: &[operands("values", TypeConstraint::ANY, "")],
    traits: Traits::TERMINATOR,
    ..OpDef::EMPTY
};
static DIALECT: DialectDef = DialectDef {
    name: "bench",
    doc: "",
    ops: &[&ADD, &FUNC, &RETURN],
};

fn infer_add(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let ty = ir.value_type(parts.operands[0]);
    match check::same_but_layout(ir, ty, ir.value_type(parts.operands[1])) {
        true => Ok(ResultTypes::from_slice(&[ty])),
        false => Err(OpError::new("types differ")),
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let ops = arguments.iter().find_map(|a| a.parse().ok());
    let ops = ops.unwrap_or(DEFAULT_OPS);
    if arguments.iter().any(|a| a == "--emit") {
        print!("{}", generic(ops));
        return ExitCode::SUCCESS;
    }
    println!("form      ops      MB   parse Mop/s   MB/s   print Mop/s");
    for (form, text) in [("generic", generic(ops)), ("custom", custom(ops))] {
        if !measure(form, &text) {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// MLIR's own ops, in generic form.
fn generic(ops: usize) -> String {
    let mut text = String::from("module {\n");
    for function in 0..ops / OPS_PER_FUNCTION {
        let _ = writeln!(
            text,
            "  \"func.func\"() ({{\n  ^bb0(%arg0: f32, %arg1: f32):"
        );
        for op in 0..OPS_PER_FUNCTION - 2 {
            let (a, b) = operand_names(op);
            let _ = writeln!(
                text,
                "    %{op} = \"arith.addf\"({a}, {b}) : (f32, f32) -> f32"
            );
        }
        let last = OPS_PER_FUNCTION - 3;
        let _ = writeln!(text, "    \"func.return\"(%{last}) : (f32) -> ()");
        let _ = writeln!(
            text,
            "  }}) {{function_type = (f32, f32) -> f32, sym_name = \"f{function}\"}} : () -> ()"
        );
    }
    text + "}\n"
}

fn custom(ops: usize) -> String {
    let ty = "tensor<[B]x1024xf32>";
    let mut text = String::from("module {\n");
    for function in 0..ops / OPS_PER_FUNCTION {
        let _ = writeln!(
            text,
            "  bench.func @f{function}(%arg0: {ty}, %arg1: {ty}) -> {ty} {{"
        );
        for op in 0..OPS_PER_FUNCTION - 2 {
            let (a, b) = operand_names(op);
            let _ = writeln!(text, "    %{op} = bench.add {a}, {b} : {ty}");
        }
        let last = OPS_PER_FUNCTION - 3;
        let _ = writeln!(text, "    bench.return %{last}\n  }}");
    }
    text + "}\n"
}

fn operand_names(op: usize) -> (String, String) {
    match op {
        0 => ("%arg0".into(), "%arg1".into()),
        1 => ("%0".into(), "%arg1".into()),
        _ => (format!("%{}", op - 1), format!("%{}", op - 2)),
    }
}

/// Prints a row; `false` if the text does not parse.
fn measure(form: &str, text: &str) -> bool {
    let options = ParseOptions {
        allow_unregistered: true,
        ..ParseOptions::default()
    };
    let registry = Arc::new(Registry::new(&[&DIALECT]));
    let (mut parsing, mut printing) = (Vec::new(), Vec::new());
    let mut ops = 0;
    for _ in 0..RUNS {
        let start = Clock::now();
        let mut ir = Ir::new(registry.clone());
        let result = parse(&mut ir, 0, text, &options);
        parsing.push(start.seconds());
        let Some(module) = result.module else {
            eprintln!("{form}: {:?}", result.diagnostics.items.first());
            return false;
        };
        ops = ir.walk(module).len();
        let start = Clock::now();
        let printed = print(&ir, module, &PrintOptions::default());
        printing.push(start.seconds());
        // Numbers go on from function to function where nothing says that a function is isolated.
        if printed.lines().count() != text.lines().count() {
            eprintln!("{form}: the printed text is not the one that was parsed");
            return false;
        }
    }
    let (parsing, printing) = (best(parsing), best(printing));
    let (megabytes, millions) = (text.len() as f64 / 1e6, ops as f64 / 1e6);
    println!(
        "{form:8} {ops:8} {megabytes:6.1} {:12.2} {:7.1} {:12.2}",
        millions / parsing,
        megabytes / parsing,
        millions / printing
    );
    true
}

/// The least disturbed run.
fn best(seconds: Vec<f64>) -> f64 {
    seconds.into_iter().fold(f64::INFINITY, f64::min)
}

/// A point in processor time, or in real time where there is none to be had.
struct Clock {
    processor: Option<Duration>,
    real: Instant,
}

impl Clock {
    fn now() -> Self {
        Self {
            processor: processor_time(),
            real: Instant::now(),
        }
    }
    fn seconds(&self) -> f64 {
        let processor = self.processor.zip(processor_time());
        let elapsed = processor.map_or_else(|| self.real.elapsed(), |(start, now)| now - start);
        elapsed.as_secs_f64()
    }
}

fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    let nanoseconds = text.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds)).filter(|t| !t.is_zero())
}
