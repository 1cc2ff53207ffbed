//! The recorder: an instrument that keeps the text around each pass that changed the IR, the graph of each program
//! before lowering, the prices of other groupings of its segments, and the files that passes offer.
//!
//! The prices come from `segment` on the program with its segments drawn, so `--explain` of that program has the same
//! numbers.
//!
//! Texts are lists of lines, and each distinct line is stored once, without indentation: a pass that wraps a hundred
//! lines in a region adds two. A text is a list of runs `[first line, lines, indentation]`.

use std::collections::BTreeMap;

use fuser_dialects::task;
use fuser_ir::print::{PrintOptions, print};
use fuser_ir::{Diagnostic, Ir, Op};
use fuser_pass::context::EmittedFile;
use fuser_pass::{Instrument, Manager, PassOptions, PassRun, PassStep, Pipeline, Step};
use fuser_passes::WHAT_IF;
use fuser_passes::segment::SEGMENT;
use rustc_hash::FxHashMap;
use serde_json::{Value as Json, json};

use super::graph;
use crate::compile::Watch;
use crate::tool::explain::{self, Files};

/// The kinds of files that the page shows.
pub const KINDS: [&str; 2] = [REPORT, EXPLAIN];
const REPORT: &str = "segment-report";
const EXPLAIN: &str = "explain-json";

/// The passes that begin to take segments, sweeps and phases away again.
const LOWERING: [&str; 2] = ["protect-updates", "lower-to-kernel"];
/// The pass behind which ops of a segment stand in sweeps, some of them several times.
const SCHEDULE: &str = "schedule";

/// The maximum number of characters over all recorded lines; later text is omitted.
const MOST_CHARACTERS: usize = 24 << 20;
/// Elements of a constant that are printed.
const MOST_ELEMENTS: usize = 16;

/// A run of lines that follow each other in the list of lines.
type Run = (usize, usize, usize);

/// The work of a pass on an op.
struct Stage {
    pass: &'static str,
    /// The symbol of the program it ran on; none for the module.
    about: Option<String>,
    /// Texts; none where it changed nothing.
    texts: Option<[usize; 2]>,
}

/// The instrument.
#[derive(Default)]
pub struct Recorder {
    stages: Vec<Stage>,
    texts: Vec<Vec<Run>>,
    lines: Vec<String>,
    known: FxHashMap<String, usize>,
    characters: usize,
    /// For each op, its last text and the number of IR edits at that time.
    last: BTreeMap<Op, (u64, usize)>,
    /// The text before the pass that runs, and the edits up to it.
    before: Option<(u64, usize)>,
    graphs: BTreeMap<Op, Json>,
    /// The options that segments of a program were chosen with.
    options: BTreeMap<Op, PassOptions>,
    /// The prices of other groupings of each program.
    what_if: BTreeMap<Op, Json>,
    files: Vec<EmittedFile>,
}

impl Recorder {
    /// The files that passes offered.
    pub fn files(&self) -> &[EmittedFile] {
        &self.files
    }

    /// The module as data, once all passes have run; `files` are those that passes offered.
    pub fn module(&mut self, ir: &Ir, root: Op, files: &[EmittedFile]) -> Json {
        self.keep_graphs(ir, root);
        for program in self.options.keys().copied().collect::<Vec<_>>() {
            self.keep_prices(ir, program);
        }
        let graphs = std::mem::take(&mut self.graphs).into_iter();
        let programs: Vec<Json> = graphs
            .map(|(op, graph)| program(graph, self.what_if.remove(&op), files))
            .collect();
        let stages = self
            .stages
            .iter()
            .map(|stage| json!({ "pass": stage.pass, "about": stage.about, "texts": stage.texts }));
        json!({
            "programs": programs,
            "stages": stages.collect::<Vec<_>>(),
            "texts": self.texts,
            "lines": self.lines,
        })
    }

    /// Records the current graphs of `root` and of the programs in it, unless a graph is already recorded.
    fn keep_graphs(&mut self, ir: &Ir, root: Op) {
        let inside = ir.children(root).into_iter();
        for op in std::iter::once(root).chain(inside) {
            if ir.is(op, &task::PROGRAM) {
                let made = || graph::graph(ir, op);
                self.graphs.entry(op).or_insert_with(made);
            }
        }
    }

    /// Records the prices of other groupings of `program`, unless they are already recorded or it has no segments.
    fn keep_prices(&mut self, ir: &Ir, program: Op) {
        let Some(options) = self.options.get(&program) else {
            return;
        };
        let mut inside = ir.children(program).into_iter();
        if inside.any(|op| ir.is(op, &task::SEGMENT)) && !self.what_if.contains_key(&program) {
            let told = what_if(ir, program, options);
            self.what_if.insert(program, told.unwrap_or_default());
        }
    }

    /// The text of `op`, printed unless nothing was edited since.
    fn text(&mut self, ir: &Ir, op: Op) -> usize {
        let edits = ir.edits();
        if let Some(&(known, text)) = self.last.get(&op)
            && known == edits
        {
            return text;
        }
        let options = PrintOptions {
            elide: Some(MOST_ELEMENTS),
            ..PrintOptions::default()
        };
        let runs = match self.characters < MOST_CHARACTERS {
            true => self.runs(&print(ir, op, &options)),
            false => Vec::new(),
        };
        let text = match self.last.get(&op) {
            Some(&(_, text)) if self.texts[text] == runs => text,
            _ => {
                self.texts.push(runs);
                self.texts.len() - 1
            }
        };
        self.last.insert(op, (edits, text));
        text
    }

    fn runs(&mut self, text: &str) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for line in text.trim_end().lines() {
            let bare = line.trim_start();
            let indentation = line.len() - bare.len();
            let number = self.line(bare);
            match runs.last_mut() {
                Some((first, count, same)) if *first + *count == number && *same == indentation => {
                    *count += 1;
                }
                _ => runs.push((number, 1, indentation)),
            }
        }
        runs
    }

    fn line(&mut self, line: &str) -> usize {
        if let Some(&number) = self.known.get(line) {
            return number;
        }
        let number = self.lines.len();
        self.characters += line.len();
        self.known.insert(line.to_owned(), number);
        self.lines.push(line.to_owned());
        number
    }
}

/// The prices of other groupings of `program`, whose segments are drawn.
fn what_if(ir: &Ir, program: Op, options: &PassOptions) -> Option<Json> {
    let mut options = options.clone();
    for chosen in ["from", "explain"] {
        options.set_value(chosen, "").ok()?;
    }
    let step = PassStep {
        pass: &SEGMENT,
        options,
        index: 0,
    };
    let pipeline = Pipeline {
        anchor: task::PROGRAM.name.to_owned(),
        steps: vec![Step::Pass(step)],
    };
    let kinds = vec![WHAT_IF];
    let mut files = Files { kinds };
    let mut manager = Manager::default();
    manager.watch(&mut files);
    let told = manager.run(&mut ir.clone(), program, &pipeline).files;
    let own = told.iter().find(|file| file.kind == WHAT_IF)?;
    serde_json::from_str(&own.content).ok()
}

/// A program's graph with the report, the explanation and the prices for it, if they exist.
fn program(graph: Json, what_if: Option<Json>, files: &[EmittedFile]) -> Json {
    let own = |file: &&EmittedFile| file.function.as_deref() == graph["symbol"].as_str();
    let own: Vec<EmittedFile> = files.iter().filter(own).cloned().collect();
    let read = |kind| serde_json::from_str::<Json>(&explain::content(&own, kind)).ok();
    json!({ "report": read(REPORT), "explain": read(EXPLAIN), "what_if": what_if, "graph": graph })
}

impl Instrument for Recorder {
    fn wants_file(&self, kind: &str) -> bool {
        KINDS.contains(&kind)
    }
    fn file(&mut self, file: &EmittedFile) {
        self.files.push(file.clone());
    }
    fn before_pass(&mut self, ir: &Ir, run: PassRun<'_>) {
        let pass = run.step.pass.name;
        if pass == SCHEDULE || LOWERING.contains(&pass) {
            self.keep_prices(ir, run.op);
        }
        if LOWERING.contains(&pass) {
            self.keep_graphs(ir, run.op);
        }
        self.before = Some((ir.edits(), self.text(ir, run.op)));
    }
    fn after_pass(&mut self, ir: &Ir, run: PassRun<'_>) -> Vec<Diagnostic> {
        let Some((edits, before)) = self.before.take() else {
            return Vec::new();
        };
        if run.step.pass.name == SEGMENT.name {
            self.options.insert(run.op, run.step.options.clone());
        }
        let after = match ir.edits() == edits {
            true => before,
            false => self.text(ir, run.op),
        };
        let about = ir.symbol_name(run.op).map(str::to_owned);
        self.stages.push(Stage {
            pass: run.step.pass.name,
            about,
            texts: (before != after).then_some([before, after]),
        });
        Vec::new()
    }
}

impl Watch for Recorder {
    fn begin_stage(&mut self, _: &str) {}
    fn end_stage(&mut self) {}
}
