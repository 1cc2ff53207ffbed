//! Hooks around pipelines and passes. Printing, timing, statistics, bisection and validation are all instruments.

use fuser_ir::{Diagnostic, Ir, Op};

use crate::context::EmittedFile;
use crate::manager::Failure;
use crate::pipeline::{PassStep, Pipeline};
use crate::remark::Remark;

/// One execution of one pass on one op.
#[derive(Clone, Copy)]
pub struct PassRun<'a> {
    /// The pass and its options.
    pub step: &'a PassStep,
    /// The op.
    pub op: Op,
    /// Executions before this one in the run of the pipeline.
    pub ordinal: u64,
    /// The root of the pipeline.
    pub root: Op,
}

/// Watches a run. All methods do nothing by default; instruments are called in the order in which they were added, and in
/// the reverse order after a pass.
#[allow(unused_variables)]
pub trait Instrument {
    /// Before everything.
    fn before_pipeline(&mut self, ir: &Ir, root: Op, pipeline: &Pipeline) {}
    /// After everything, failed or not.
    fn after_pipeline(&mut self, ir: &Ir, root: Op, failure: Option<&Failure>) {}
    /// Before the nested pipeline of `anchor` runs on `op`.
    fn enter(&mut self, ir: &Ir, op: Op, anchor: &str) {}
    /// After it.
    fn leave(&mut self, ir: &Ir, op: Op, anchor: &str) {}
    /// True if the pass may run; `false` skips it.
    fn allows(&mut self, ir: &Ir, run: PassRun<'_>) -> bool {
        true
    }
    /// Before a pass.
    fn before_pass(&mut self, ir: &Ir, run: PassRun<'_>) {}
    /// After a pass that succeeded. Diagnostics returned here fail the pass, as if it had reported them itself.
    fn after_pass(&mut self, ir: &Ir, run: PassRun<'_>) -> Vec<Diagnostic> {
        Vec::new()
    }
    /// After a pass that failed. After a panic the IR may be in any state.
    fn pass_failed(&mut self, ir: &Ir, run: PassRun<'_>, failure: &Failure) {}
    /// Around the verifier after a pass.
    fn before_verify(&mut self) {}
    /// Around the verifier after a pass.
    fn after_verify(&mut self) {}
    /// A remark was made.
    fn remark(&mut self, remark: &Remark) {}
    /// A file was offered.
    fn file(&mut self, file: &EmittedFile) {}
    /// True if files of this kind are wanted.
    fn wants_file(&self, kind: &str) -> bool {
        false
    }
    /// True if debug output of this tag is wanted.
    fn debug_enabled(&self, tag: &str) -> bool {
        false
    }
    /// A debug line of a wanted tag.
    fn debug(&mut self, tag: &str, text: &str) {}
}
