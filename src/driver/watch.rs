//! Small instruments: bisection, debug output, selection of files.

use std::collections::BTreeSet;

use fuser_ir::Ir;
use fuser_pass::{Instrument, PassRun};

use crate::tool::files;

/// `--opt-bisect-limit=N`: only the first N pass executions over all chunks run; each is reported.
pub struct Bisect {
    limit: i64,
    done: i64,
    quiet: bool,
}

impl Bisect {
    /// A limit; -1 runs and tells all.
    pub fn new(limit: i64) -> Self {
        Self {
            limit,
            done: 0,
            quiet: false,
        }
    }
    /// The same, silent.
    pub fn quiet(limit: i64) -> Self {
        Self {
            quiet: true,
            ..Self::new(limit)
        }
    }
}

impl Instrument for Bisect {
    fn allows(&mut self, ir: &Ir, run: PassRun<'_>) -> bool {
        self.done += 1;
        let runs = self.limit < 0 || self.done <= self.limit;
        if self.quiet {
            return runs;
        }
        let verb = if runs { "running" } else { "NOT running" };
        let symbol = ir
            .symbol_name(run.op)
            .map_or(String::new(), |s| format!(" @{s}"));
        let (name, op) = (run.step.pass.name, ir.name(run.op));
        files::say(&format!(
            "BISECT: {verb} pass ({}) {name} on {op}{symbol}\n",
            self.done
        ));
        runs
    }
}

/// `--debug-only`: lines of wanted tags go to stderr.
pub struct Debug {
    /// Tags; `*` for all.
    pub tags: Vec<String>,
    pass: &'static str,
    heard: BTreeSet<String>,
}

impl Debug {
    /// Listens to `tags`.
    pub fn new(tags: &[String]) -> Self {
        Self {
            tags: tags.to_vec(),
            pass: "",
            heard: BTreeSet::new(),
        }
    }
    /// Wanted tags under which nothing was said.
    pub fn unheard(&self) -> impl Iterator<Item = &str> {
        let tags = self
            .tags
            .iter()
            .filter(|t| *t != "*" && !self.heard.contains(*t));
        tags.map(String::as_str)
    }
}

impl Instrument for Debug {
    fn before_pass(&mut self, _: &Ir, run: PassRun<'_>) {
        self.pass = run.step.pass.name;
    }
    fn debug_enabled(&self, tag: &str) -> bool {
        self.tags
            .iter()
            .any(|t| t == "*" || t == tag || t == self.pass)
    }
    fn debug(&mut self, tag: &str, text: &str) {
        self.heard.insert(tag.to_owned());
        text.lines()
            .for_each(|line| files::say(&format!("[{tag}] {line}\n")));
    }
}
