//! Runs pipelines on text, for the tests of this folder.
#![allow(dead_code)] // Each test file uses some of it.

pub mod programs;

pub use fuser_testing::parsed;

use std::collections::BTreeMap;

use fuser_ir::print::{PrintOptions, print};
use fuser_ir::verify;
use fuser_pass::pipeline::PipelineBuilder;
use fuser_pass::{Catalog, Instrument, Manager, PassOptions, Pipeline};

/// The results of a run.
pub struct Run {
    /// The module after the pipeline.
    pub text: String,
    /// The last file of each kind.
    pub files: BTreeMap<&'static str, String>,
    /// Errors, one per line: `FIR0712: message`.
    pub errors: Vec<String>,
    /// Remarks, one per line.
    pub remarks: Vec<String>,
    /// Statistics by `pass.name`, summed.
    pub statistics: BTreeMap<String, u64>,
}

struct Wants;

impl Instrument for Wants {
    fn wants_file(&self, _: &str) -> bool {
        true
    }
}

/// Parses `source` and runs `passes`, each a name with options: `("segment", "max-ops=3")`.
pub fn run(source: &str, passes: &[(&str, &str)]) -> Run {
    let (mut ir, module) = parsed(source);
    let pipeline = pipeline(passes);
    let mut wants = Wants;
    let mut manager = Manager::new(verify::verify);
    manager.watch(&mut wants);
    let report = manager.run(&mut ir, module, &pipeline);
    let errors = report.diagnostics.items.iter().filter(|d| d.is_error());
    let mut statistics = BTreeMap::new();
    for step in pipeline.passes() {
        let values = &report.statistics[step.index];
        for (def, value) in step.pass.statistics.iter().zip(values) {
            *statistics
                .entry(format!("{}.{}", step.pass.name, def.name))
                .or_default() += value;
        }
    }
    Run {
        text: print(
            &ir,
            module,
            &PrintOptions {
                types: false,
                ..PrintOptions::default()
            },
        ),
        files: report
            .files
            .into_iter()
            .map(|f| (f.kind, f.content))
            .collect(),
        errors: errors
            .map(|d| format!("{}: {}", d.code, d.message))
            .collect(),
        remarks: report.remarks.into_iter().map(|r| r.message).collect(),
        statistics,
    }
}

fn pipeline(passes: &[(&str, &str)]) -> Pipeline {
    let catalog = Catalog {
        passes: fuser_passes::PASSES,
        pipelines: fuser_passes::PIPELINES,
        anchors: &["builtin.module", "task.program", "task.segment"],
    };
    let mut builder = PipelineBuilder::new(catalog);
    for (name, options) in passes {
        if let Some(named) = catalog.pipeline(name) {
            builder.named(named).expect("a pipeline");
            continue;
        }
        let pass = catalog.pass(name).expect("a pass");
        let options = PassOptions::parse(pass, options, 0, 0).expect("options");
        builder.pass(pass, options);
    }
    builder.finish()
}

/// The segment report of a run.
pub fn report(run: &Run) -> serde_json::Value {
    assert_eq!(run.errors, Vec::<String>::new());
    serde_json::from_str(&run.files["segment-report"]).expect("JSON")
}
