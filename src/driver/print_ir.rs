//! The `--print-ir-*` family: IR around passes, whole or as a diff, on stderr or as files in a tree of folders.
//!
//! "Changed" means that the printed generic form with locations differs. `--print-ir-after-change` and
//! `--print-ir-diff` alone mean all passes. A failure to write is reported once.

use std::path::{Path, PathBuf};

use fuser_ir::{Diagnostic, Ir, Op};
use fuser_pass::{Failure, Instrument, PassRun, Pipeline};
use similar::TextDiff;

use super::config::{PrintIr, Printing, Selection};
use super::text;
use crate::tool::files;

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// The instrument.
pub struct IrPrinter {
    config: PrintIr,
    printing: Printing,
    /// Text before the running pass: exact for "changed?", as printed for diffs.
    before: Option<(String, String)>,
    files: u64,
    writer: files::Writer,
    failed_write: bool,
}

impl IrPrinter {
    /// A printer, if a flag asks for one.
    pub fn new(config: &PrintIr, printing: &Printing) -> Option<Self> {
        let mut config = config.clone();
        let alone = config.after == Selection::Nothing && config.before == Selection::Nothing;
        let implied = config.after_change || config.diff || config.tree_dir.is_some();
        if alone && implied {
            config.after = Selection::All;
        }
        let wanted = config.before != Selection::Nothing
            || config.after != Selection::Nothing
            || config.after_failure;
        wanted.then(|| Self {
            config,
            printing: printing.clone(),
            before: None,
            files: 0,
            writer: files::Writer::default(),
            failed_write: false,
        })
    }
    fn scope(&self, run: PassRun<'_>) -> Op {
        if self.config.module_scope {
            run.root
        } else {
            run.op
        }
    }
    fn snapshot(&self, ir: &Ir, run: PassRun<'_>) -> (String, String) {
        let scope = self.scope(run);
        (
            text::exact(ir, scope),
            text::print(ir, scope, &self.printing),
        )
    }
    fn emit(&mut self, ir: &Ir, run: PassRun<'_>, when: &str, body: &str) {
        let name = run.step.pass.name;
        if let Some(dir) = self.config.tree_dir.clone() {
            return self.write(&dir, ir, run, when, body);
        }
        let header = format!(
            "// -----// IR Dump {when} {} ({name}){} //----- //",
            camel(name),
            about(ir, run)
        );
        files::say(&format!("{header}\n{body}\n\n"));
    }
    fn write(&mut self, dir: &Path, ir: &Ir, run: PassRun<'_>, when: &str, body: &str) {
        let mut path = folder(dir, ir, run.op);
        let suffix = match when {
            "After" => String::new(),
            other => format!("-{}", other.to_lowercase().replace(' ', "-")),
        };
        let extension = if self.config.diff { "diff" } else { "fir" };
        let file = format!("{}_{}{suffix}.{extension}", self.files, run.step.pass.name);
        self.files += 1;
        let made = std::fs::create_dir_all(&path).map_err(|e| e.to_string());
        path.push(file);
        let done = made.and_then(|()| self.writer.write(&path.to_string_lossy(), body));
        if let (Err(message), false) = (done, self.failed_write) {
            self.failed_write = true;
            files::say(&format!("warning: --print-ir-tree-dir: {message}\n"));
        }
    }
    fn after(&mut self, ir: &Ir, run: PassRun<'_>, when: &str) {
        let (exact, shown) = self.snapshot(ir, run);
        let before = self.before.take();
        let changed = before.as_ref().is_none_or(|b| b.0 != exact);
        if self.config.after_change && !changed {
            return;
        }
        match (self.config.diff, before) {
            (true, Some((_, old))) => {
                let body = match changed {
                    true => unified(&old, &shown, "before", "after"),
                    false => "// no change".into(),
                };
                self.emit(ir, run, when, &body);
            }
            _ => self.emit(ir, run, when, &shown),
        }
    }
}

/// A unified diff.
pub fn unified(old: &str, new: &str, old_name: &str, new_name: &str) -> String {
    let diff = TextDiff::from_lines(old, new);
    let mut unified = diff.unified_diff();
    let unified = unified.context_radius(CONTEXT).header(old_name, new_name);
    unified.to_string().trim_end().to_owned()
}

/// `inline-tasks` as `InlineTasks`.
fn camel(name: &str) -> String {
    let upper = |word: &str| {
        let mut letters = word.chars();
        let first = letters.next().map(|c| c.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    };
    name.split('-').map(upper).collect()
}

/// ` ('task.program' operation: @f)`; nothing for the module.
fn about(ir: &Ir, run: PassRun<'_>) -> String {
    if run.op == run.root {
        return String::new();
    }
    let symbol = ir.symbol_name(run.op);
    let symbol = symbol.map_or(String::new(), |s| format!(": @{s}"));
    format!(" ('{}' operation{symbol})", ir.name(run.op))
}

/// `DIR/builtin_module/task_program_f`
fn folder(dir: &Path, ir: &Ir, op: Op) -> PathBuf {
    let mut parts: Vec<String> = std::iter::successors(Some(op), |&o| ir.parent_op(o))
        .map(|op| {
            let name = ir.name(op).replace('.', "_");
            let safe = |c: char| {
                if c.is_alphanumeric() || c == '_' {
                    c
                } else {
                    '-'
                }
            };
            match ir.symbol_name(op) {
                Some(symbol) => format!("{name}_{}", symbol.replace(|c| safe(c) != c, "-")),
                None => name,
            }
        })
        .collect();
    parts.reverse();
    parts
        .iter()
        .fold(dir.to_owned(), |path, part| path.join(part))
}

impl Instrument for IrPrinter {
    fn before_pipeline(&mut self, _: &Ir, _: Op, _: &Pipeline) {
        self.before = None;
    }
    fn before_pass(&mut self, ir: &Ir, run: PassRun<'_>) {
        let name = run.step.pass.name;
        let compares = self.config.after_change || self.config.diff;
        let (printed, compared) = (self.config.before.has(name), self.config.after.has(name));
        if printed || (compares && compared) {
            let snapshot = self.snapshot(ir, run);
            if printed {
                self.emit(ir, run, "Before", &snapshot.1);
            }
            self.before = Some(snapshot);
        }
    }
    fn after_pass(&mut self, ir: &Ir, run: PassRun<'_>) -> Vec<Diagnostic> {
        if self.config.after.has(run.step.pass.name) && !self.config.after_failure {
            self.after(ir, run, "After");
        }
        Vec::new()
    }
    fn pass_failed(&mut self, ir: &Ir, run: PassRun<'_>, _: &Failure) {
        let chosen = self.config.after.has(run.step.pass.name);
        if self.config.after_failure || chosen {
            self.before = None;
            let shown = text::print(ir, self.scope(run), &self.printing);
            self.emit(ir, run, "After Failed", &shown);
        }
    }
}
