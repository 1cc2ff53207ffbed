//! The context of a pass: the IR, the op it runs on, its options, and the places for its diagnostics, remarks and
//! files.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;

use fuser_ir::diag::CodeDef;
use fuser_ir::rewrite::{self, Overflow};
use fuser_ir::{Diagnostic, Ir, Op, Place};

use crate::codes::REWRITE_LIMIT;
use crate::def::PassDef;
use crate::options::PassOptions;
use crate::place::place_of;
use crate::progress::ProgressSink;
use crate::remark::Remark;

/// Limits that passes must respect; each has a flag `--limit-NAME=N`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Rounds of a greedy rewrite.
    pub rewrite_iterations: u32,
    /// Rewrites per op of a greedy rewrite.
    pub rewrites_per_op: u64,
    /// Candidates that segmentation may evaluate, per op and doubling of the number of ops.
    pub segment_evaluations: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rewrite_iterations: rewrite::MAX_ITERATIONS,
            rewrites_per_op: rewrite::REWRITES_PER_OP,
            // n log n candidates with a generous factor; beyond it the segmenter falls back to its greedy form.
            segment_evaluations: 64,
        }
    }
}

/// A file that a pass offers: a report, a picture. The driver decides by flags whether and where it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EmittedFile {
    /// Kind of the file, by which flags ask for it: `segment-report`, `explain`.
    pub kind: &'static str,
    /// The program it is about, if it is about one.
    pub function: Option<String>,
    /// The content, mostly JSON.
    pub content: String,
}

/// Results that a pass leaves to later ones of the same run of a pipeline, one of each type. They save work and change nothing: a
/// pass that finds none computes them.
#[derive(Default)]
pub struct Kept(BTreeMap<TypeId, Box<dyn Any>>);

impl Kept {
    /// Leaves `results`, in the place of others of their type.
    pub fn leave<T: Any>(&mut self, results: T) {
        self.0.insert(TypeId::of::<T>(), Box::new(results));
    }
    /// Takes the results of this type away.
    pub fn take<T: Any>(&mut self) -> Option<T> {
        let results = self.0.remove(&TypeId::of::<T>())?;
        results.downcast().ok().map(|results| *results)
    }
}

/// Takes what passes leave behind; made by the manager.
pub(crate) trait Host {
    fn diagnostic(&mut self, diagnostic: Diagnostic);
    fn remark(&mut self, remark: Remark);
    fn wants_remarks(&self) -> bool;
    fn file(&mut self, file: EmittedFile);
    fn debug_enabled(&self, tag: &str) -> bool;
    fn debug(&mut self, tag: &str, text: &str);
    fn wanted(&self, kind: &str) -> bool;
}

/// Handed to a pass's function.
pub struct PassContext<'a> {
    /// The whole program. A pass edits only what lies inside [`PassContext::op`].
    pub ir: &'a mut Ir,
    /// The op to run on.
    pub op: Op,
    /// The options, complete.
    pub options: &'a PassOptions,
    /// Limits.
    pub limits: Limits,
    /// Results of earlier passes.
    pub kept: &'a mut Kept,
    /// Takes the progress of the pass.
    pub progress: ProgressSink,
    pub(crate) pass: &'static PassDef,
    pub(crate) counters: &'a mut [u64],
    pub(crate) host: &'a mut dyn Host,
    pub(crate) failed: bool,
}

impl PassContext<'_> {
    /// Adds to a statistic of the pass's table.
    ///
    /// Invariant: only declared statistics; anything else is a bug, and an internal error.
    pub fn count(&mut self, statistic: &str, by: u64) {
        match self.pass.statistic(statistic) {
            Some(index) => self.counters[index] += by,
            None => panic!(
                "pass '{}' counts an undeclared statistic '{statistic}'",
                self.pass.name
            ),
        }
    }
    /// Reports a diagnostic. An error makes the pass fail once it returns.
    pub fn report(&mut self, mut diagnostic: Diagnostic) {
        diagnostic.pass.get_or_insert_with(|| self.pass.name.into());
        self.failed |= diagnostic.is_error();
        self.host.diagnostic(diagnostic);
    }
    /// An error at `op`.
    pub fn error_at(
        &self,
        op: Op,
        code: &'static CodeDef,
        message: impl Into<String>,
    ) -> Diagnostic {
        let name = self.ir.name(op);
        Diagnostic::error(code, self.place(op), message).with_op(name)
    }
    /// The error of rewriting that does not settle.
    pub fn overflow_error(&self, overflow: &Overflow) -> Diagnostic {
        let at = overflow.at.unwrap_or(self.op);
        let flag = match overflow.rounds {
            true => "--limit-rewrite-iterations=N",
            false => "--limit-rewrites-per-op=N",
        };
        let error = self.error_at(at, &REWRITE_LIMIT, overflow.to_string());
        error.help(format!(
            "leave one out with 'disable-patterns=NAME', or raise the limit with {flag}"
        ))
    }
    /// Leaves a remark.
    pub fn remark(&mut self, mut remark: Remark) {
        remark.pass = self.pass.name;
        if remark.function.is_none() {
            remark.function = self.function();
        }
        self.host.remark(remark);
    }
    /// True if somebody reads remarks: else the work of writing one can be saved.
    pub fn wants_remarks(&self) -> bool {
        self.host.wants_remarks()
    }
    /// Offers a file of the kind that a flag asks for, `--segment-report=FILE` say.
    pub fn emit_file(&mut self, kind: &'static str, content: String) {
        let function = self.function();
        self.host.file(EmittedFile {
            kind,
            function,
            content,
        });
    }
    /// True if a flag asked for files of this kind: else the work of making one can be saved.
    pub fn wants_file(&self, kind: &str) -> bool {
        self.host.wanted(kind)
    }
    /// Prints a line for `--debug-only=tag`; `text` is made only where it is wanted.
    pub fn debug(&mut self, tag: &str, text: impl FnOnce(&Ir) -> String) {
        if self.host.debug_enabled(tag) {
            self.host.debug(tag, &text(self.ir));
        }
    }
    /// The place of `op`.
    pub fn place(&self, op: Op) -> Place {
        place_of(self.ir, op)
    }
    /// The symbol of the op that the pass runs on.
    pub fn function(&self) -> Option<String> {
        self.ir.symbol_name(self.op).map(str::to_owned)
    }
}
