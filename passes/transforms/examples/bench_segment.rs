//! How the time and the work of segmentation grow with the program.
//!
//! ```text
//! cargo run --release -p fuser-passes --example bench_segment -- [OPS] [FAMILY]
//! ```
//!
//! For chains, trees, layers of a transformer and steps that cannot share a kernel: programs of 100 ops and ten times as
//! many, up to OPS (100,000), each through the pass `segment` with its defaults, once. Time is processor time of the pass
//! with the verifier behind it; the other columns are its own counters, per op. Single-threaded.

#[path = "../tests/common/programs.rs"]
mod programs;

use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser_ir::{Ir, parse, verify};
use fuser_pass::pipeline::PipelineBuilder;
use fuser_pass::{Catalog, Manager, PassOptions, Pipeline};

const DEFAULT_OPS: usize = 100_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let most = arguments.iter().find_map(|a| a.parse().ok());
    let most: usize = most.unwrap_or(DEFAULT_OPS);
    let wanted = arguments.iter().find(|a| a.parse::<usize>().is_err());
    println!(
        "family       ops  segments   seconds  us/op  plans  questions/op  planned/op  refined/op"
    );
    for (name, family) in programs::FAMILIES {
        if wanted.is_some_and(|w| w != name) {
            continue;
        }
        let mut ops = 100;
        while ops <= most {
            if !measure(name, ops, &family(ops)) {
                return ExitCode::FAILURE;
            }
            ops *= 10;
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
    let Some(pipeline) = pipeline() else {
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
    let counter = |wanted: &str| {
        let steps = pipeline.passes();
        let values = steps.into_iter().flat_map(|step| {
            let names = step.pass.statistics.iter().map(|s| s.name);
            names.zip(&report.statistics[step.index])
        });
        values
            .filter(|(n, _)| *n == wanted)
            .map(|(_, v)| *v)
            .sum::<u64>()
    };
    let per_op = |wanted: &str| counter(wanted) as f64 / ops as f64;
    println!(
        "{name:<8} {ops:>7} {:>9} {seconds:>9.3} {:>6.1} {:>6} {:>13.2} {:>11.2} {:>11.2}",
        counter("segments"),
        seconds * 1e6 / ops as f64,
        counter("plans"),
        per_op("questions"),
        per_op("planned-ops"),
        per_op("refined-ops"),
    );
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

fn pipeline() -> Option<Pipeline> {
    let catalog = Catalog {
        passes: fuser_passes::PASSES,
        pipelines: fuser_passes::PIPELINES,
        anchors: &["builtin.module", "task.program", "task.segment"],
    };
    let mut builder = PipelineBuilder::new(catalog);
    let pass = catalog.pass("segment")?;
    builder.pass(pass, PassOptions::parse(pass, "", 0, 0).ok()?);
    Some(builder.finish())
}
