//! The oracle that after every pass the program verifies, and executes to the same results.
//!
//! Exact cases must stay equal bit for bit. Bounded ones are executed exactly as their ops are defined after each pass,
//! and must lie within the bounds that the interpreter derived for the program as it was generated. A program that a
//! pass did not change is not executed again. Loops take long to interpret, so there is fuel; an execution that runs
//! out of it is counted, and is no finding.

use fuser::compile::{OTHER_PLAN, PLACE_BARRIERS, name_extents};
use fuser_interp::ErrorKind;
use fuser_ir::print::{PrintOptions, print};
use fuser_ir::{Diagnostic, Ir, Op};
use fuser_pass::{Failure, Instrument, Manager, PassRun, Pipeline};

use super::execute::{Expected, exact};
use super::{Finding, summary};
use crate::Stats;
use crate::generate::{Case, Input};

/// The outcome of a pipeline.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// Broken promises, at most one for each pass; a refusal is one.
    pub findings: Vec<Finding>,
    /// The reasons that segments got another plan than the cost model's.
    pub other_plans: Vec<String>,
}

/// Runs `pipeline` on a copy of the case; each execution may take `fuel` element operations.
pub fn check(
    case: &Case,
    expected: &Expected,
    pipeline: &Pipeline,
    fuel: u64,
    stats: &mut Stats,
) -> Outcome {
    let mut ir = case.ir.clone();
    // As compiling does.
    name_extents(&mut ir, case.program);
    let mut watcher = Watcher {
        program: case.program,
        inputs: &case.inputs,
        expected,
        stats,
        fuel,
        text: print(&ir, case.module, &PrintOptions::default()),
        placed: false,
        findings: Vec::new(),
    };
    let mut manager = Manager::new(fuser_ir::verify);
    manager.watch(&mut watcher);
    let report = manager.run(&mut ir, case.module, pipeline);
    let mut findings = watcher.findings;
    match &report.failure {
        None => {}
        Some(Failure::Diagnostics { pass }) => {
            let what = format!("refused: {}", summary(&report.diagnostics));
            findings.push(Finding::new(format!("passes: {pass}"), what));
        }
        Some(Failure::Internal { pass, message, .. }) => {
            findings.push(Finding::new(format!("passes: {pass}"), message.clone()));
        }
    }
    let remarks = report.remarks.into_iter();
    let other_plans = remarks.filter(|remark| remark.name == OTHER_PLAN);
    Outcome {
        findings,
        other_plans: other_plans
            .map(|remark| remark.reason.unwrap_or(remark.message))
            .collect(),
    }
}

struct Watcher<'a> {
    program: Op,
    inputs: &'a [Input],
    expected: &'a Expected,
    stats: &'a mut Stats,
    fuel: u64,
    /// The module after the last pass.
    text: String,
    /// True if barriers have been placed in its kernels.
    placed: bool,
    findings: Vec<Finding>,
}

impl Instrument for Watcher<'_> {
    fn after_pass(&mut self, ir: &Ir, run: PassRun<'_>) -> Vec<Diagnostic> {
        let pass = run.step.pass.name;
        self.stats.count("pass run", pass);
        let text = print(ir, run.root, &PrintOptions::default());
        let placed = pass == PLACE_BARRIERS.name;
        self.placed |= placed;
        if text == self.text && !placed {
            return Vec::new();
        }
        self.text = text;
        self.stats.count("pass changed", pass);
        // A broken program stays broken: only the pass that broke it is at fault.
        if self.findings.is_empty()
            && let Some(what) = self.fault(ir)
        {
            self.findings
                .push(Finding::new(format!("passes: {pass}"), what));
        }
        Vec::new()
    }
}

impl Watcher<'_> {
    fn fault(&mut self, ir: &Ir) -> Option<String> {
        match exact(ir, self.program, self.inputs, self.fuel, self.placed) {
            Ok(results) => {
                self.stats.count("execution", "compared");
                self.expected.fault(&results)
            }
            Err(error) if matches!(error.kind, ErrorKind::OutOfFuel(_)) => {
                self.stats.count("execution", "out of fuel");
                None
            }
            Err(error) => {
                let op = error.op.map_or("", |op| ir.name(op));
                Some(format!("the interpreter fails at `{op}`: {:?}", error.kind))
            }
        }
    }
}
