//! One chunk from text to text: parse, verify, run the pipeline, print. A panic is caught within the chunk.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use fuser_dialects::task;
use fuser_ir::span::Span;
use fuser_ir::suggest::{nearest, nearest_name};
use fuser_ir::{Diagnostic, Ir, Op, Place};
use fuser_pass::context::EmittedFile;
use fuser_pass::pipeline::PipelineBuilder;
use fuser_pass::{
    Catalog, Failure, Instrument, Manager, PassOptions, PassRun, Pipeline, Remark, Report,
};

use super::config::Config;
use super::print_ir::IrPrinter;
use super::statistics::Statistics;
use super::text;
use super::timing::Timing;
use super::validate::Validator;
use super::watch::{Bisect, Debug};
use super::{codes, limits, reproducer, roundtrip};
use crate::explorer::{self, Recorder};
use crate::tool::Progress;
use crate::tool::explain::Files;
use crate::tool::files::{self, Stream};
use crate::tool::load::Reader;

/// The outcome of one chunk.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The printed program, if all went well.
    pub text: Option<String>,
    /// Diagnostics in order.
    pub diagnostics: Vec<Diagnostic>,
    /// Remarks in order.
    pub remarks: Vec<Remark>,
    /// Files offered by passes.
    pub files: Vec<EmittedFile>,
    /// True if an internal error occurred.
    pub internal: bool,
}

/// A source to compile.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// Index among the sources.
    pub file: u32,
    /// File name.
    pub name: &'a str,
    /// Line of the file at which it begins.
    pub first_line: u32,
    /// The text.
    pub text: &'a str,
}

/// The state that lasts over chunks.
pub struct Compiler<'a> {
    /// Flags.
    pub config: &'a Config,
    /// Parser.
    pub reader: Reader,
    /// The passes to run.
    pub pipeline: Pipeline,
    /// The clock.
    pub timing: Timing,
    /// Counters.
    pub statistics: Statistics,
    /// The stream to which finished programs are printed; without it, the outcome contains their text.
    pub stream: Option<Stream>,
    printer: Option<IrPrinter>,
    bisect: Option<Bisect>,
    debug: Debug,
    files: Files,
    extents: Extents,
}

/// Named extents that are given lengths, and what is known of them.
#[derive(Default)]
struct Extents {
    /// Names that no program had so far.
    missing: Vec<String>,
    /// Names of all programs so far.
    known: BTreeSet<String>,
    /// Chunks that are still to come.
    chunks: usize,
    /// True if the file is a single chunk: an unknown extent name is then an error of that chunk.
    alone: bool,
}

impl<'a> Compiler<'a> {
    /// Ready to compile.
    pub fn new(config: &'a Config, reader: Reader, pipeline: Pipeline) -> Self {
        Self {
            config,
            reader,
            pipeline,
            timing: Timing::default(),
            statistics: Statistics::default(),
            stream: None,
            printer: IrPrinter::new(&config.print_ir, &config.printing),
            bisect: config.bisect_limit.map(Bisect::new),
            debug: Debug::new(&config.debug),
            files: Files {
                kinds: kinds(config),
            },
            extents: Extents::default(),
        }
    }
    /// Records the extent names that have lengths. A name that no program in any of the `chunks` chunks uses is an
    /// error.
    pub fn expect_extents(&mut self, names: Vec<String>, chunks: usize) {
        self.extents = Extents {
            missing: names,
            known: BTreeSet::new(),
            chunks,
            alone: chunks == 1,
        };
    }
    /// Warns of debug tags that are not pass names and received no message: most of them are misspelled.
    pub fn unheard_tags(&self) {
        let names = || fuser_passes::PASSES.iter().map(|p| p.name);
        for tag in self.debug.unheard().filter(|t| !names().any(|n| n == *t)) {
            let near =
                nearest(tag, names()).map_or(String::new(), |n| format!("; did you mean '{n}'?"));
            files::say(&format!(
                "fuser-opt: warning: nothing was said under the tag '{tag}'{near}\n"
            ));
        }
    }
    /// Compiles one chunk.
    pub fn compile(&mut self, input: Input<'_>) -> Outcome {
        let caught = catch_unwind(AssertUnwindSafe(|| self.compile_here(input)));
        caught.unwrap_or_else(|payload| {
            let message = format!(
                "internal error: {}",
                fuser_pass::manager::panic_text(payload.as_ref())
            );
            Outcome {
                diagnostics: vec![Diagnostic::error(&codes::INTERNAL, Place::Unknown, message)],
                internal: true,
                ..Outcome::default()
            }
        })
    }
    fn compile_here(&mut self, input: Input<'_>) -> Outcome {
        let mut outcome = Outcome::default();
        self.extents.chunks = self.extents.chunks.saturating_sub(1);
        let Some((mut ir, root)) = self.read(input, &mut outcome) else {
            // Its extents are not known.
            self.extents.missing.clear();
            return outcome;
        };
        outcome.diagnostics.extend(self.unknown_extents(&ir, root));
        if self.extents.alone {
            let idle = nothing_to_do(&ir, root, &self.pipeline);
            outcome.diagnostics.extend(idle);
        }
        if outcome.diagnostics.iter().any(Diagnostic::is_error) {
            return outcome;
        }
        self.generate_reproducer(&ir, root, &mut outcome);
        let mut recorder = self.recorder();
        let report = self.run(&mut ir, root, recorder.as_mut());
        self.statistics.add(&self.pipeline, &report);
        let report = self.crash(input, report, &mut outcome);
        let report = self.offer_missing(&mut ir, root, report);
        outcome.diagnostics.extend(report.diagnostics.items);
        outcome.remarks = report.remarks;
        outcome.files = report.files;
        if let Some(recorder) = &mut recorder {
            let module = recorder.module(&ir, root, &outcome.files);
            outcome.files.push(EmittedFile {
                kind: explorer::KIND,
                function: None,
                content: module.to_string(),
            });
        }
        if report.failure.is_none() && !outcome.diagnostics.iter().any(Diagnostic::is_error) {
            self.timing.begin("Output");
            outcome.text = Some(self.print(&ir, root));
            self.timing.end();
        }
        outcome
    }
    /// The errors of lengths for extents that no program has, reported after the last chunk.
    fn unknown_extents(&mut self, ir: &Ir, root: Op) -> Vec<Diagnostic> {
        let extents = &mut self.extents;
        if extents.missing.is_empty() {
            return Vec::new();
        }
        let programs = ir.children(root).into_iter();
        for program in programs.filter(|op| ir.is(*op, &task::PROGRAM)) {
            extents
                .known
                .extend(crate::compile::plan::extent_table(ir, program).names());
        }
        let (missing, known) = (&mut extents.missing, &extents.known);
        missing.retain(|name| !known.contains(name));
        if extents.chunks > 0 {
            return Vec::new();
        }
        let error = |name: &String| {
            let message = format!("no program has an extent `{name}`, to which a length is given");
            let error = Diagnostic::error(&crate::compile::NO_EXTENT, Place::Unknown, message);
            let near = nearest_name(name, known.iter().map(String::as_str));
            match near {
                _ if known.is_empty() => error.help("all extents are numbers"),
                // Of short names all are near.
                Some(near) if name.len() > 2 => error.help(format!("did you mean `{near}`?")),
                _ => {
                    let known: Vec<&str> = known.iter().map(String::as_str).collect();
                    error.help(format!("extents are {}", known.join(", ")))
                }
            }
        };
        missing.iter().map(error).collect()
    }
    /// The text, or an empty string if the text is streamed to a file. The session discards a file that fails half-way.
    fn print(&mut self, ir: &Ir, root: Op) -> String {
        let printing = &self.config.printing;
        let Some(file) = &mut self.stream else {
            return text::print(ir, root, printing);
        };
        if file.begin(&self.config.output_marker).is_ok() {
            // The file keeps its error.
            let _ = text::print_to(file, ir, root, printing);
        }
        String::new()
    }
    /// Parses and verifies; nothing if there is an error.
    fn read(&mut self, input: Input<'_>, outcome: &mut Outcome) -> Option<(Ir, Op)> {
        self.timing.begin("Parser");
        let Input {
            file,
            name,
            first_line,
            text,
        } = input;
        let (mut ir, module, found) = self.reader.parse(file, name, first_line, text);
        self.timing.end();
        let found = found.into_iter().map(limits::with_flag);
        outcome.diagnostics.extend(found);
        if self.config.no_implicit_module && module.is_some_and(|m| ir.spans.get(m).is_none()) {
            let message = "the file does not write its module out";
            let place = Place::Span {
                file,
                span: Span::default(),
            };
            let error = Diagnostic::error(&codes::NO_MODULE, place, message);
            outcome
                .diagnostics
                .push(error.help("write 'module { ... }' around the ops"));
        }
        let failed = outcome.diagnostics.iter().any(Diagnostic::is_error);
        let root = module.filter(|_| !failed)?;
        self.timing.begin("(V) verifier");
        let found = fuser_ir::verify::verify(&mut ir, root);
        self.timing.end();
        let valid = !found.has_errors();
        outcome.diagnostics.extend(found.items);
        if valid && self.config.verify_roundtrip {
            outcome.diagnostics.extend(roundtrip::check(
                &ir,
                root,
                &self.reader,
                self.config.lossy,
            ));
        }
        let failed = outcome.diagnostics.iter().any(Diagnostic::is_error);
        (!failed).then_some((ir, root))
    }
    /// An instrument that keeps texts and graphs, where a page is asked for.
    fn recorder(&self) -> Option<Recorder> {
        let mut kinds = self.config.reports.iter().map(|r| r.0);
        kinds
            .any(|kind| kind == explorer::KIND)
            .then(Recorder::default)
    }
    fn run(&mut self, ir: &mut Ir, root: Op, mut recorder: Option<&mut Recorder>) -> Report {
        let mut validator = self.config.validate.map(Validator::new);
        // An instrument that watches passes reports their progress already.
        let watched = self.bisect.is_some() || self.printer.is_some() || validator.is_some();
        let mut progress = (!watched && self.config.debug.is_empty())
            .then(|| AtPass(Progress::start("fuser-opt", "passes")));
        let mut manager = self.config.manager();
        if let Some(AtPass(progress)) = &progress {
            manager.progress = progress.sink();
        }
        // The clock comes last, so that what others do around a pass is not counted as the pass.
        let others: [Option<&mut dyn Instrument>; 7] = [
            self.bisect.as_mut().map(|i| i as &mut dyn Instrument),
            self.printer.as_mut().map(|i| i as &mut dyn Instrument),
            validator.as_mut().map(|i| i as &mut dyn Instrument),
            Some(&mut self.debug),
            Some(&mut self.files),
            recorder.as_mut().map(|i| *i as &mut dyn Instrument),
            progress.as_mut().map(|i| i as &mut dyn Instrument),
        ];
        for instrument in others.into_iter().flatten() {
            manager.watch(instrument);
        }
        manager.watch(&mut self.timing);
        manager.run(ir, root, &self.pipeline)
    }
    /// Requested files that no pass of the pipeline offered, produced by running the pass of that name.
    fn offer_missing(&mut self, ir: &mut Ir, root: Op, mut report: Report) -> Report {
        for &kind in &self.files.kinds {
            let offered = report.files.iter().any(|f| f.kind == kind);
            let pass = fuser_passes::PASSES.iter().find(|p| p.name == kind);
            let (Some(pass), None, false) = (pass, &report.failure, offered) else {
                continue;
            };
            let catalog = Catalog {
                passes: fuser_passes::PASSES,
                pipelines: &[],
                anchors: &[],
            };
            let mut builder = PipelineBuilder::new(catalog);
            builder.pass(pass, PassOptions::defaults(pass));
            let mut manager = self.config.manager();
            let mut files = Files { kinds: vec![kind] };
            manager.watch(&mut files);
            let mut pipeline = builder.finish();
            if let Some(target) = &self.config.target {
                crate::compile::for_target(&mut pipeline, target);
            }
            let own = manager.run(ir, root, &pipeline);
            report.files.extend(own.files);
            report.diagnostics.items.extend(own.diagnostics.items);
            report.failure = own.failure;
        }
        report
    }
    fn generate_reproducer(&self, ir: &Ir, root: Op, outcome: &mut Outcome) {
        let Some(path) = &self.config.generate_reproducer else {
            return;
        };
        let ir = reproducer_ir(ir, root);
        let text = reproducer::text(&self.pipeline, self.config, "none", &ir);
        if let Err(message) = files::write(&path.to_string_lossy(), &text) {
            let error = Diagnostic::error(&codes::REPRODUCER, Place::Unknown, message);
            outcome.diagnostics.push(error);
        }
    }
    /// Writes a reproducer of the first internal failure; the diagnostic gives its path.
    fn crash(&self, input: Input<'_>, mut report: Report, outcome: &mut Outcome) -> Report {
        let Some(failure) = report.internal.first() else {
            return report;
        };
        outcome.internal = true;
        if self.config.expect.is_some() && self.config.crash_reproducer.is_none() {
            return report;
        }
        let helps = match self.reproduce(input, failure) {
            Some(Ok(path)) => told(&path),
            Some(Err(message)) => vec![format!("no reproducer: {message}")],
            None => Vec::new(),
        };
        let mut found = report.diagnostics.items.iter_mut();
        if let Some(diagnostic) = found.find(|d| d.message.starts_with("internal error")) {
            diagnostic.helps.extend(helps);
        }
        report
    }
    fn reproduce(&self, input: Input<'_>, failure: &Failure) -> Option<Result<PathBuf, String>> {
        let Failure::Internal {
            pass,
            message,
            ordinal,
            step,
            ..
        } = failure
        else {
            return None;
        };
        let error = format!("pass '{pass}': {message}");
        let (pipeline, ir) = match self.ir_before(input, *ordinal) {
            Some(ir) => (self.pipeline.only(*step), ir),
            None => (self.pipeline.clone(), input.text.to_owned()),
        };
        let text = reproducer::text(&pipeline, self.config, &error, &ir);
        Some(reproducer::write(self.config, &text))
    }
    /// The IR before an execution: the same input run again, up to it.
    fn ir_before(&self, input: Input<'_>, ordinal: u64) -> Option<String> {
        let (name, line) = (input.name, input.first_line);
        let (mut ir, root, _) = self.reader.parse(input.file, name, line, input.text);
        let root = root?;
        let mut manager = self.config.manager();
        manager.stop_before = Some(ordinal);
        let mut bisect = self.config.bisect_limit.map(Bisect::quiet);
        if let Some(bisect) = &mut bisect {
            manager.watch(bisect);
        }
        let report = manager.run(&mut ir, root, &self.pipeline);
        (report.executed == ordinal).then(|| reproducer_ir(&ir, root))
    }
}

/// Tells which pass runs.
struct AtPass(Progress);

impl Instrument for AtPass {
    fn before_pass(&mut self, _: &Ir, run: PassRun<'_>) {
        self.0.step(&format!("pass '{}'", run.step.pass.name));
    }
}

/// The kinds of files that passes are to leave.
fn kinds(config: &Config) -> Vec<&'static str> {
    let compared = config.compare.iter().map(|_| "segment-report");
    let asked = config.reports.iter().map(|r| r.0);
    let pictured = asked.clone().flat_map(|kind| match kind {
        explorer::KIND => &explorer::record::KINDS[..],
        explorer::DOT | explorer::SVG => &explorer::record::KINDS[..1],
        _ => &[],
    });
    asked.chain(compared).chain(pictured.copied()).collect()
}

impl Config {
    fn manager<'i>(&self) -> Manager<'i> {
        Manager {
            verify: self.verify_each.then_some(fuser_ir::verify::verify),
            limits: self.limits,
            ..Manager::default()
        }
    }
}

/// Custom form with locations: readable, and complete.
fn reproducer_ir(ir: &Ir, root: Op) -> String {
    let printing = super::config::Printing {
        debuginfo: true,
        ..Default::default()
    };
    text::print(ir, root, &printing)
}

fn told(path: &Path) -> Vec<String> {
    let path = path.display();
    vec![
        format!("a reproducer was written to {path}; please attach it to a report"),
        format!("'fuser-opt --run-reproducer {path}' replays it"),
    ]
}
/// The errors of passes whose ops do not occur in the input and are created by no earlier pass.
fn nothing_to_do(ir: &Ir, root: Op, pipeline: &Pipeline) -> Vec<Diagnostic> {
    let programs = || {
        ir.children(root)
            .into_iter()
            .filter(|op| ir.is(*op, &task::PROGRAM))
    };
    let ops = |program: &Op| ir.children(*program).len();
    // A program that returns its inputs is done.
    let Some(program) = programs().find(|program| ops(program) > 1) else {
        return Vec::new();
    };
    let mut made: Vec<&str> = Vec::new();
    for step in pipeline.passes() {
        let (pass, subject) = (step.pass, step.pass.works_on);
        let there = subject.is_empty() || made.contains(&subject) || holds(ir, root, subject);
        if !there {
            let message = format!("there is no '{subject}' for '{}' to work on", pass.name);
            let error = Diagnostic::error(
                &fuser_pass::codes::NOTHING_TO_DO,
                fuser_pass::place_of(ir, program),
                message,
            );
            let maker = fuser_passes::PASSES
                .iter()
                .find(|other| other.makes == subject);
            let help = maker.map_or(String::new(), |maker| {
                format!(
                    "'{}' makes them: run it before, or all that comes before with '--pipeline-to={}'",
                    maker.name, pass.name
                )
            });
            return vec![error.help(help)];
        }
        made.extend(Some(pass.makes).filter(|makes| !makes.is_empty()));
    }
    Vec::new()
}

/// True if an op called `name` stands in `root`.
fn holds(ir: &Ir, root: Op, name: &str) -> bool {
    ir.walk(root).into_iter().any(|op| ir.name(op) == name)
}
