//! A benchmark of the time and the work of segmentation as programs grow.
//!
//! ```text
//! cargo run --release -p fuser-passes --example bench_segment -- [OPS] [FAMILY] [--all] [--double]
//! ```
//!
//! For chains, trees, layers of a transformer and steps that cannot share a kernel: programs of 100 ops and ten times as
//! many (`--double`: twice as many), up to OPS (100,000), each through the pass `segment` with its defaults, once. FAMILY is
//! one of these, or one of `parts`, `pads` and `turns`, which are wide or knotty and else left out. Time is processor time of the pass
//! with the verifier behind it; the other columns are its own counters, per op. Single-threaded. `--all` tells the seconds of
//! each pass from `preseg` to `schedule` instead, each with the verifier behind it, and the counters of `remat`.

#[path = "../tests/common/programs.rs"]
mod programs;

use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser_ir::{Ir, parse, verify};
use fuser_pass::pipeline::PipelineBuilder;
use fuser_pass::{Catalog, Manager, PassOptions, Pipeline, Report};

const DEFAULT_OPS: usize = 100_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let most = arguments.iter().find_map(|a| a.parse().ok());
    let most: usize = most.unwrap_or(DEFAULT_OPS);
    let all = arguments.iter().any(|a| a == "--all");
    let factor = match arguments.iter().any(|a| a == "--double") {
        true => 2,
        false => 10,
    };
    let mut names = arguments.iter().filter(|a| !a.starts_with("--"));
    let wanted = names.find(|a| a.parse::<usize>().is_err());
    match all {
        true => println!(
            "family       ops   {}  remat: steps/op  work/op  planned/op",
            PASSES.join("   ")
        ),
        false => println!(
            "family       ops  segments   seconds  us/op  plans  questions/op  asked/op  planned/op  refined/op  axis-steps/op"
        ),
    }
    let usual = programs::FAMILIES.map(|family| (family, true));
    let knots = programs::KNOTS.map(|family| (family, false));
    for ((name, family), usual) in usual.into_iter().chain(knots) {
        if !wanted.map_or(usual, |w| w == name) {
            continue;
        }
        let mut ops = 100;
        while ops <= most {
            let measure = if all { measure_all } else { measure };
            if !measure(name, ops, &family(ops)) {
                return ExitCode::FAILURE;
            }
            ops *= factor;
        }
    }
    ExitCode::SUCCESS
}

fn measure(name: &str, ops: usize, text: &str) -> bool {
    let mut ir = Ir::new(fuser_dialects::registry());
    let parsed = parse::parse_str(&mut ir, text);
    let Some(module) = parsed.module else {
        eprintln!("{name}: the program does not parse");
        return false;
    };
    let Some(pipeline) = pipeline("segment") else {
        eprintln!("there is no pass 'segment'");
        return false;
    };
    let start = now();
    let report = Manager::new(verify::verify).run(&mut ir, module, &pipeline);
    let seconds = (now() - start).as_secs_f64();
    if report.diagnostics.has_errors() {
        eprintln!("{name}: the pass failed");
        return false;
    }
    let counter = |wanted: &str| counter(&pipeline, &report, wanted);
    let per_op = |wanted: &str| counter(wanted) as f64 / ops as f64;
    println!(
        "{name:<8} {ops:>7} {:>9} {seconds:>9.3} {:>6.1} {:>6} {:>13.2} {:>9.2} {:>11.2} {:>11.2} {:>14.2}",
        counter("segments"),
        seconds * 1e6 / ops as f64,
        counter("plans"),
        per_op("questions"),
        per_op("asked-ops"),
        per_op("planned-ops"),
        per_op("refined-ops"),
        per_op("axis-steps"),
    );
    true
}

/// A statistic of the passes that ran, summed.
fn counter(pipeline: &Pipeline, report: &Report, wanted: &str) -> u64 {
    let values = pipeline.passes().into_iter().flat_map(|step| {
        let names = step.pass.statistics.iter().map(|s| s.name);
        names.zip(&report.statistics[step.index])
    });
    let wanted = values.filter(|(n, _)| *n == wanted);
    wanted.map(|(_, v)| *v).sum()
}

/// The passes that `--all` measures, one after the other.
const PASSES: [&str; 4] = ["preseg", "segment", "remat", "schedule"];

fn measure_all(name: &str, ops: usize, text: &str) -> bool {
    let mut ir = Ir::new(fuser_dialects::registry());
    let Some(module) = parse::parse_str(&mut ir, text).module else {
        eprintln!("{name}: the program does not parse");
        return false;
    };
    print!("{name:<8} {ops:>7}");
    let mut counters = String::new();
    for pass in PASSES {
        let Some(pipeline) = pipeline(pass) else {
            eprintln!("there is no pass '{pass}'");
            return false;
        };
        let start = now();
        let report = Manager::new(verify::verify).run(&mut ir, module, &pipeline);
        if report.diagnostics.has_errors() {
            eprintln!("{name}: the pass '{pass}' failed");
            return false;
        }
        print!(" {:>9.3}", (now() - start).as_secs_f64());
        if pass == "remat" {
            let per_op = |wanted| counter(&pipeline, &report, wanted) as f64 / ops as f64;
            let (steps, work, planned) = (per_op("steps"), per_op("work"), per_op("planned-ops"));
            counters = format!(" {steps:>16.2} {work:>8.1} {planned:>11.2}");
        }
    }
    println!("{counters}");
    true
}

/// Processor time of this thread where the system tells it, else the time of day.
fn now() -> Duration {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok();
    let spent = text.and_then(|t| t.split_whitespace().next()?.parse().ok());
    spent.map_or_else(
        || {
            SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default()
        },
        Duration::from_nanos,
    )
}

fn pipeline(name: &str) -> Option<Pipeline> {
    let catalog = Catalog {
        passes: fuser_passes::PASSES,
        pipelines: fuser_passes::PIPELINES,
        anchors: &["builtin.module", "task.program", "task.segment"],
    };
    let mut builder = PipelineBuilder::new(catalog);
    if let Some(named) = catalog.pipeline(name) {
        builder.named(named).ok()?;
        return Some(builder.finish());
    }
    let pass = catalog.pass(name)?;
    builder.pass(pass, PassOptions::parse(pass, "", 0, 0).ok()?);
    Some(builder.finish())
}
