//! Runs a pipeline on a program.
//!
//! For each pass: instruments are asked and told, the pass runs with panics caught, values that it made get names, the IR is
//! verified, unless nothing was edited since it was verified last. A failure ends the pipeline on that op; its siblings under the same nested pipeline still run, so that one run
//! shows what is wrong with each of them, and nothing runs after that.
//!
//! A mistake in the user's program is a [`Failure::Diagnostics`]; a bug of ours (a panic, invalid IR) is a
//! [`Failure::Internal`], with the number of the execution at which it happened: pipelines are deterministic, so
//! running the same input with [`Manager::stop_before`] gives the IR before it. No snapshots are taken while all goes
//! well.

use std::panic::{AssertUnwindSafe, catch_unwind};

use fuser_ir::diag::CodeDef;
use fuser_ir::print::name_values;
use fuser_ir::{Diagnostic, Diagnostics, Ir, Op, Traits};

use crate::codes;
use crate::context::{EmittedFile, Host, Kept, Limits, PassContext};
use crate::instrument::{Instrument, PassRun};
use crate::options::PassOptions;
use crate::pipeline::{ANY, PassStep, Pipeline, Step};
use crate::place::place_of;
use crate::progress::ProgressSink;
use crate::remark::Remark;

/// Checks the op and all inside.
pub type VerifyFn = fn(&mut Ir, Op) -> Diagnostics;

/// The reason that a pipeline stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// A pass reported errors about the program.
    Diagnostics {
        /// The pass.
        pass: &'static str,
    },
    /// A bug: the pass panicked or left invalid IR.
    Internal {
        /// The pass.
        pass: &'static str,
        /// The panic's message, or the verifier's.
        message: String,
        /// Executions of passes before this one.
        ordinal: u64,
        /// The step, [`PassStep::index`].
        step: usize,
        /// True if it panicked (else the IR is invalid).
        panicked: bool,
    },
}

/// The outcome of a run.
#[derive(Debug, Default)]
pub struct Report {
    /// Diagnostics in order.
    pub diagnostics: Diagnostics,
    /// Remarks in order.
    pub remarks: Vec<Remark>,
    /// Files offered by passes, in order.
    pub files: Vec<EmittedFile>,
    /// For each step of the pipeline, by [`PassStep::index`], its statistics in the order of the pass's table.
    pub statistics: Vec<Vec<u64>>,
    /// The first failure.
    pub failure: Option<Failure>,
    /// All internal failures, one for each op on which one happened.
    pub internal: Vec<Failure>,
    /// Executions of passes.
    pub executed: u64,
}

impl Report {
    /// True if the run did not fail.
    pub fn ok(&self) -> bool {
        self.failure.is_none()
    }
}

/// Runs pipelines.
#[derive(Default)]
pub struct Manager<'i> {
    /// Runs after each pass that edits something; `None` leaves verification out.
    pub verify: Option<VerifyFn>,
    /// Limits handed to passes.
    pub limits: Limits,
    /// True if nobody reads remarks: passes may leave out those that take work to write.
    pub without_remarks: bool,
    /// Takes the progress of passes.
    pub progress: ProgressSink,
    /// Stops before this execution, with the IR as it is then.
    pub stop_before: Option<u64>,
    /// Watchers.
    pub instruments: Vec<&'i mut dyn Instrument>,
}

impl<'i> Manager<'i> {
    /// A manager that verifies with `verify`.
    pub fn new(verify: VerifyFn) -> Self {
        Self {
            verify: Some(verify),
            ..Self::default()
        }
    }
    /// Adds a watcher.
    pub fn watch(&mut self, instrument: &'i mut dyn Instrument) -> &mut Self {
        self.instruments.push(instrument);
        self
    }
    /// Runs `pipeline` on `root`.
    pub fn run(&mut self, ir: &mut Ir, root: Op, pipeline: &Pipeline) -> Report {
        let passes = pipeline.passes();
        // A pipeline that was cut out of another keeps its steps' numbers.
        let count = passes.iter().map(|p| p.index + 1).max().unwrap_or(0);
        let mut statistics = vec![Vec::new(); count];
        for step in &passes {
            statistics[step.index] = vec![0; step.pass.statistics.len()];
        }
        let report = Report {
            statistics,
            ..Report::default()
        };
        let mut run = Run {
            manager: self,
            report,
            root,
            verified: None,
            kept: Kept::default(),
        };
        name_values(ir, root);
        run.each(|i| i.before_pipeline(ir, root, pipeline));
        run.steps(ir, root, &pipeline.steps);
        let failure = run.report.failure.clone();
        run.each_back(|i| i.after_pipeline(ir, root, failure.as_ref()));
        run.report
    }
}

/// Runs a pipeline with the verifier and without watchers.
pub fn run_pipeline(ir: &mut Ir, root: Op, pipeline: &Pipeline, verify: VerifyFn) -> Report {
    Manager::new(verify).run(ir, root, pipeline)
}

struct Run<'m, 'i> {
    manager: &'m mut Manager<'i>,
    report: Report,
    root: Op,
    /// The op that was verified last, and the edits before that.
    verified: Option<(Op, u64)>,
    /// Results that passes left to later ones.
    kept: Kept,
}

impl<'i> Run<'_, 'i> {
    fn each(&mut self, mut tell: impl FnMut(&mut (dyn Instrument + 'i))) {
        for instrument in &mut self.manager.instruments {
            tell(*instrument);
        }
    }
    fn each_back(&mut self, mut tell: impl FnMut(&mut (dyn Instrument + 'i))) {
        for instrument in self.manager.instruments.iter_mut().rev() {
            tell(*instrument);
        }
    }
    /// Runs the steps on `op`; says whether to go on. Depth is bounded by `MAX_NESTING` of pipeline text.
    fn steps(&mut self, ir: &mut Ir, op: Op, steps: &[Step]) -> bool {
        steps.iter().all(|step| match step {
            Step::Pass(pass) => self.pass(ir, op, pass),
            Step::Nest(inner) => self.nest(ir, op, inner),
        })
    }
    fn nest(&mut self, ir: &mut Ir, op: Op, inner: &Pipeline) -> bool {
        let fits = |ir: &Ir, child: Op| match inner.anchor.as_str() {
            ANY => ir.has(child, Traits::ISOLATED),
            anchor => ir.name(child) == anchor,
        };
        let mut ok = true;
        for child in ir.children(op) {
            if ir.is_erased(child) || !fits(ir, child) {
                continue;
            }
            self.each(|i| i.enter(ir, child, &inner.anchor));
            ok &= self.steps(ir, child, &inner.steps);
            self.each_back(|i| i.leave(ir, child, &inner.anchor));
        }
        ok
    }
    fn pass(&mut self, ir: &mut Ir, op: Op, step: &PassStep) -> bool {
        let ordinal = self.report.executed;
        if self.manager.stop_before.is_some_and(|stop| ordinal >= stop) {
            return false;
        }
        let run = PassRun {
            step,
            op,
            ordinal,
            root: self.root,
        };
        let mut allowed = true;
        self.each(|i| allowed &= i.allows(ir, run));
        self.report.executed += 1;
        if !allowed {
            return true;
        }
        self.each(|i| i.before_pass(ir, run));
        let edits = ir.edits();
        let failure = self.execute(ir, run);
        let failure = failure.or_else(|| self.verify(ir, run));
        if failure.is_none() && ir.edits() != edits {
            name_values(ir, run.op);
        }
        let failure = failure.or_else(|| self.after(ir, run));
        match failure {
            None => true,
            Some(failure) => {
                self.each_back(|i| i.pass_failed(ir, run, &failure));
                self.fail(failure);
                false
            }
        }
    }
    fn fail(&mut self, failure: Failure) {
        if let Failure::Internal { .. } = failure {
            self.report.internal.push(failure.clone());
        }
        self.report.failure.get_or_insert(failure);
    }
    fn execute(&mut self, ir: &mut Ir, run: PassRun<'_>) -> Option<Failure> {
        let pass = run.step.pass;
        let mut collector = Collector {
            instruments: &mut self.manager.instruments,
            report: &mut self.report,
            without_remarks: self.manager.without_remarks,
        };
        let mut counters = vec![0; pass.statistics.len()];
        let mut context = PassContext {
            ir,
            op: run.op,
            options: &run.step.options,
            limits: self.manager.limits,
            kept: &mut self.kept,
            progress: self.manager.progress.clone(),
            pass,
            counters: &mut counters,
            host: &mut collector,
            failed: false,
        };
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let result = (pass.run)(&mut context);
            if let Err(diagnostics) = result {
                // A pass that returns an error has failed, with or without words.
                diagnostics
                    .items
                    .into_iter()
                    .for_each(|d| context.report(d));
                context.failed = true;
            }
            context.failed
        }));
        for (total, count) in self.report.statistics[run.step.index]
            .iter_mut()
            .zip(counters)
        {
            *total += count;
        }
        match caught {
            Ok(false) => None,
            Ok(true) => Some(Failure::Diagnostics { pass: pass.name }),
            Err(payload) => {
                let message = panic_text(payload.as_ref());
                Some(self.internal(ir, run, &codes::PANIC, message, true))
            }
        }
    }
    fn verify(&mut self, ir: &mut Ir, run: PassRun<'_>) -> Option<Failure> {
        let verify = self.manager.verify?;
        if self.is_verified(ir, run.op) {
            return None;
        }
        self.each(|i| i.before_verify());
        let found = catch_unwind(AssertUnwindSafe(|| verify(ir, run.op)));
        self.each_back(|i| i.after_verify());
        let found = match found {
            Ok(found) => found,
            Err(payload) => {
                let message = format!("the verifier panicked: {}", panic_text(payload.as_ref()));
                return Some(self.internal(ir, run, &codes::INVALID_AFTER_PASS, message, false));
            }
        };
        if !found.has_errors() {
            self.verified = Some((run.op, ir.edits()));
            return None;
        }
        let first = found.items.iter().find(|d| d.is_error());
        let message = first.map(|d| d.message.clone()).unwrap_or_default();
        for mut diagnostic in found.items {
            diagnostic.pass = Some(run.step.pass.name.into());
            self.report.diagnostics.push(diagnostic);
        }
        Some(self.internal(ir, run, &codes::INVALID_AFTER_PASS, message, false))
    }
    /// True if `op`, or an op around it, was found valid and nothing was edited since.
    fn is_verified(&self, ir: &Ir, op: Op) -> bool {
        let Some((verified, edits)) = self.verified else {
            return false;
        };
        let mut around = std::iter::successors(Some(op), |&op| ir.parent_op(op));
        edits == ir.edits() && around.any(|op| op == verified)
    }
    fn after(&mut self, ir: &Ir, run: PassRun<'_>) -> Option<Failure> {
        let mut found = Vec::new();
        self.each_back(|i| found.extend(i.after_pass(ir, run)));
        let failed = found.iter().any(Diagnostic::is_error);
        self.report.diagnostics.items.extend(found);
        failed.then_some(Failure::Diagnostics {
            pass: run.step.pass.name,
        })
    }
    fn internal(
        &mut self,
        ir: &Ir,
        run: PassRun<'_>,
        code: &'static CodeDef,
        message: String,
        panicked: bool,
    ) -> Failure {
        let pass = run.step.pass.name;
        let what = match panicked {
            true => "panicked",
            false => "left invalid IR",
        };
        let name = ir.name(run.op);
        let on = match ir.symbol_name(run.op) {
            Some(symbol) => format!("'{name}' @{symbol}"),
            None => format!("'{name}'"),
        };
        let text = format!("internal error: pass '{pass}' {what} on {on}: {message}");
        let mut diagnostic = Diagnostic::error(code, place_of(ir, run.op), text);
        diagnostic.pass = Some(pass.into());
        self.report.diagnostics.push(diagnostic);
        Failure::Internal {
            pass,
            message,
            ordinal: run.ordinal,
            step: run.step.index,
            panicked,
        }
    }
}

/// The text that a panic carries.
pub fn panic_text(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|s| (*s).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "no message".into())
}

/// The host of passes during a run: it collects their output in the report and asks the instruments.
struct Collector<'m, 'i> {
    instruments: &'m mut Vec<&'i mut dyn Instrument>,
    report: &'m mut Report,
    without_remarks: bool,
}

impl Host for Collector<'_, '_> {
    fn diagnostic(&mut self, diagnostic: Diagnostic) {
        self.report.diagnostics.push(diagnostic);
    }
    fn remark(&mut self, remark: Remark) {
        self.instruments.iter_mut().for_each(|i| i.remark(&remark));
        self.report.remarks.push(remark);
    }
    fn wants_remarks(&self) -> bool {
        !self.without_remarks
    }
    fn file(&mut self, file: EmittedFile) {
        self.instruments.iter_mut().for_each(|i| i.file(&file));
        self.report.files.push(file);
    }
    fn wanted(&self, kind: &str) -> bool {
        self.instruments.iter().any(|i| i.wants_file(kind))
    }
    fn debug_enabled(&self, tag: &str) -> bool {
        self.instruments.iter().any(|i| i.debug_enabled(tag))
    }
    fn debug(&mut self, tag: &str, text: &str) {
        self.instruments.iter_mut().for_each(|i| i.debug(tag, text));
    }
}

/// Runs one pass on `op` with its default options; for tests of passes.
pub fn run_pass(
    ir: &mut Ir,
    op: Op,
    pass: &'static crate::def::PassDef,
    verify: VerifyFn,
) -> Report {
    let step = PassStep {
        pass,
        options: PassOptions::defaults(pass),
        index: 0,
    };
    let pipeline = Pipeline {
        anchor: ir.name(op).to_owned(),
        steps: vec![Step::Pass(step)],
    };
    run_pipeline(ir, op, &pipeline, verify)
}
