//! `fuser-opt`: the driver around parser, passes and printer.
//!
//! Reading order: `flags` (the flags), `args` (a command line to a `config`), `pipeline`, `chunk` (one program from
//! text to text), then the features around it: `machine` (diagnostics for programs), `expect`, `print_ir`, `timing`,
//! `statistics`, `remarks`, `reproducer`, `roundtrip`, `validate`, `help`.
//!
//! IR goes to stdout, everything else to stderr. Output is complete or absent. Exit codes: [`Exit`].

pub mod args;
pub mod chunk;
pub mod codes;
pub mod compare;
pub mod config;
pub mod expect;
pub mod flags;
pub mod help;
pub mod limits;
pub mod machine;
pub mod pipeline;
pub mod print_ir;
pub mod remarks;
pub mod reproducer;
pub mod roundtrip;
pub mod source;
pub mod split;
pub mod statistics;
pub mod text;
pub mod timing;
pub mod validate;
pub mod watch;

use std::sync::{Arc, Mutex};

use fuser_ir::def::Registry;
use fuser_ir::render::{RenderOptions, render_one};
use fuser_ir::{Diagnostic, Severity};
use fuser_pass::Catalog;
use fuser_pass::context::EmittedFile;

use chunk::{Compiler, Input, Outcome};
use compare::Comparison;
use config::{Action, Config, DiagnosticsFormat, Format, RemarkFormat, STDERR};
use source::{Functions, Sources};

use crate::explorer;
use crate::tool::color;
use crate::tool::explain;
use crate::tool::files::{self, Limit, Stream, claims};
use crate::tool::load::{self, Reader};
use crate::tool::{self, Exit};

/// The location of the last panic, for the message; the command's panic hook stores it.
pub type PanicPlace = Arc<Mutex<Option<String>>>;

/// Runs `fuser-opt` with these arguments (without the program's name).
pub fn run(args: &[String]) -> Exit {
    let place = keep_panics();
    let registry = fuser_dialects::registry();
    let anchors = anchors(&registry);
    let catalog = Catalog {
        passes: fuser_passes::PASSES,
        pipelines: fuser_passes::PIPELINES,
        anchors: &anchors,
    };
    let parsed = args::parse(args, &catalog);
    if let Ok(config) = &parsed {
        color::choose(config.color);
    }
    match parsed {
        Err(errors) => usage(&errors),
        Ok(config) => match &config.action {
            Some(Action::PrintTarget) => print_target(&config, &registry),
            Some(action) => act(action, &catalog, &registry),
            None => compile(args, config, &catalog, &registry, &place),
        },
    }
}

/// Keeps the standard message of panics from stderr: they become diagnostics.
fn keep_panics() -> PanicPlace {
    let place = PanicPlace::default();
    let kept = place.clone();
    std::panic::set_hook(Box::new(move |info| {
        if let (Ok(mut kept), Some(at)) = (kept.lock(), info.location()) {
            *kept = Some(format!("{}:{}", at.file(), at.line()));
        }
    }));
    place
}

/// Names of the ops that may hold a pipeline.
fn anchors(registry: &Registry) -> Vec<&'static str> {
    let holds = |op: &&'static fuser_ir::OpDef| !op.regions.is_empty();
    registry.ops().filter(holds).map(|op| op.name).collect()
}

/// The name in messages.
const NAME: &str = "fuser-opt";

fn usage(errors: &[String]) -> Exit {
    tool::usage(NAME, errors)
}

fn act(action: &Action, catalog: &Catalog<'_>, registry: &Registry) -> Exit {
    let text = match action {
        Action::Help(all) => Ok(help::help(catalog, *all)),
        Action::HelpPass(name) => help::about(name, catalog, registry),
        Action::Explain(code) => help::explain(code),
        Action::Version => Ok(help::version()),
        Action::ListPasses(format) => Ok(help::passes(catalog, *format)),
        Action::ShowDialects(format) => Ok(help::dialects(registry, *format)),
        Action::DebugTags => Ok(help::debug_tags(catalog)),
        Action::PrintTarget => Ok(String::new()),
    };
    match text.map(|text| files::write("-", &text)) {
        Ok(Ok(())) => Exit::Ok,
        Ok(Err(error)) => tool::complain(NAME, &error),
        Err(error) => usage(&[error]),
    }
}

/// `--print-target`
fn print_target(config: &Config, registry: &Arc<Registry>) -> Exit {
    let mut sources = Sources::default();
    match pipeline::target(config, &mut sources) {
        Ok(target) => {
            let text = fuser_target::text::print(&target.unwrap_or_default());
            match files::write("-", &text) {
                Ok(()) => Exit::Ok,
                Err(error) => tool::complain(NAME, &error),
            }
        }
        Err(errors) => {
            Teller::new(config, registry).all(&sources, &errors);
            Exit::Usage
        }
    }
}

fn compile(
    args: &[String],
    config: Config,
    catalog: &Catalog<'_>,
    registry: &Arc<Registry>,
    place: &PanicPlace,
) -> Exit {
    let name = config.input.clone().unwrap_or_else(|| "-".into());
    let limit = Limit {
        bytes: config.source_limits.source_bytes,
        raised_by: Some("--limit-input-bytes"),
    };
    let text = match files::read(&name, limit) {
        Ok(text) => Arc::new(text),
        Err(error) => return tool::complain(NAME, &error),
    };
    let name = load::display_name(&name);
    let config = match replayed(args, config, catalog, registry, &text) {
        Ok(config) => config,
        Err(exit) => return exit,
    };
    if let Err(error) = claims::check(&config.claims()) {
        return usage(&[error]);
    }
    let mut sources = Sources::default();
    let target = match pipeline::target(&config, &mut sources) {
        Ok(target) => target,
        Err(errors) => {
            Teller::new(&config, registry).all(&sources, &errors);
            return Exit::Usage;
        }
    };
    let config = Config { target, ..config };
    let built = match pipeline::build(&config, catalog, &mut sources) {
        Ok(built) => built,
        Err(errors) => {
            Teller::new(&config, registry).all(&sources, &errors);
            return Exit::Usage;
        }
    };
    let pipeline::Built {
        pipeline,
        warnings,
        lengths,
    } = built;
    let comparison = match pipeline::comparison(&config, &pipeline) {
        Ok(comparison) => comparison,
        Err(errors) => {
            Teller::new(&config, registry).all(&sources, &errors);
            return Exit::Diagnostics;
        }
    };
    if config.dump_pipeline {
        files::say(&format!("{pipeline}\n"));
    }
    let reader = Reader {
        registry: registry.clone(),
        allow_unregistered: config.allow_unregistered,
        limits: config.source_limits,
    };
    let chunks = split::split(&text, config.split.as_deref());
    let mut compiler = Compiler::new(&config, reader, pipeline);
    if !config.run_reproducer {
        compiler.expect_extents(lengths, chunks.len());
    }
    if config.expect.is_none() && comparison.is_none() {
        compiler.stream = Stream::to(&config.output, chunks.len() == 1);
    }
    let mut session = Session {
        config: &config,
        compiler,
        comparison,
        teller: Teller::new(&config, registry),
        sources,
        text: text.clone(),
        outputs: Vec::new(),
        remarks: String::new(),
        files: Vec::new(),
        exit: Exit::Ok,
        place: place.clone(),
    };
    session.teller.some(&session.sources, &warnings);
    for part in chunks {
        session.chunk(name, &text, part);
    }
    session.finish()
}

/// The configuration with what a reproducer states, where one is replayed.
fn replayed(
    args: &[String],
    config: Config,
    catalog: &Catalog<'_>,
    registry: &Arc<Registry>,
    text: &str,
) -> Result<Config, Exit> {
    if !config.run_reproducer {
        return Ok(config);
    }
    let stated = reproducer::parse(text).map_err(|error| {
        Teller::new(&config, registry).all(&Sources::default(), &[*error]);
        Exit::Diagnostics
    })?;
    let mut all = stated.options;
    let own = config.pipeline.is_some() || !config.requested.is_empty();
    if !own {
        all.push(format!("--pass-pipeline={}", stated.pipeline));
    }
    all.extend(args.iter().cloned());
    args::parse(&all, catalog).map_err(|errors| usage(&errors))
}

/// Writes diagnostics as the flags say.
struct Teller<'a> {
    config: &'a Config,
    options: RenderOptions,
    shown: usize,
    hidden: usize,
    kept: Vec<Diagnostic>,
    functions: Functions,
}

impl<'a> Teller<'a> {
    fn new(config: &'a Config, registry: &Arc<Registry>) -> Self {
        Self {
            config,
            options: RenderOptions {
                color: color::on_stderr(),
                ..RenderOptions::default()
            },
            shown: 0,
            hidden: 0,
            kept: Vec::new(),
            functions: Functions::new(registry.clone()),
        }
    }
    fn some(&mut self, sources: &Sources, diagnostics: &[Diagnostic]) {
        for diagnostic in diagnostics {
            if diagnostic.severity != Severity::Error && !self.config.warnings {
                continue;
            }
            let full = self.config.max_errors != 0 && self.shown >= self.config.max_errors;
            if full {
                self.hidden += 1;
                continue;
            }
            self.shown += 1;
            match self.config.diagnostics {
                DiagnosticsFormat::Text => {
                    files::say(&self.text(sources, diagnostic));
                }
                DiagnosticsFormat::Json => {
                    let function = self.functions.around(sources, &diagnostic.place);
                    files::say(&machine::json_line(sources, diagnostic, function));
                }
                DiagnosticsFormat::Sarif => self.kept.push(diagnostic.clone()),
            }
        }
    }
    fn text(&self, sources: &Sources, diagnostic: &Diagnostic) -> String {
        let mut shown = diagnostic.clone();
        if !self.config.notes {
            shown.notes.clear();
        }
        if let Some(pass) = &diagnostic.pass
            && says_pass(diagnostic, pass)
        {
            shown.message += &format!(" (in pass '{pass}')");
        }
        render_one(&shown, &sources.map, self.options)
    }
    fn end(&mut self, sources: &Sources) {
        if self.hidden > 0 && self.config.diagnostics == DiagnosticsFormat::Text {
            let hidden = self.hidden;
            let code = codes::TOO_MANY.code;
            files::say(&format!(
                "[{code}] {hidden} more not shown; --max-errors=0 shows all\n"
            ));
        }
        if self.config.diagnostics == DiagnosticsFormat::Sarif {
            files::say(&machine::sarif(sources, &self.kept, &codes::all()));
        }
    }
    fn all(&mut self, sources: &Sources, diagnostics: &[Diagnostic]) {
        self.some(sources, diagnostics);
        self.end(sources);
    }
}

/// Errors name the pass, unless their message does.
fn says_pass(diagnostic: &Diagnostic, pass: &str) -> bool {
    diagnostic.is_error() && !diagnostic.message.contains(&format!("'{pass}'"))
}

/// One run over all chunks.
struct Session<'a> {
    config: &'a Config,
    compiler: Compiler<'a>,
    comparison: Option<Comparison>,
    teller: Teller<'a>,
    sources: Sources,
    /// The text of the file.
    text: Arc<String>,
    outputs: Vec<String>,
    remarks: String,
    files: Vec<EmittedFile>,
    exit: Exit,
    place: PanicPlace,
}

impl Session<'_> {
    fn worsen(&mut self, exit: Exit) {
        self.exit = self.exit.max(exit);
    }
    fn chunk(&mut self, name: &str, text: &Arc<String>, part: split::Chunk<'_>) {
        let file = self.sources.add_chunk(name, text, part);
        let input = Input {
            file,
            name,
            first_line: part.lines_before as u32 + 1,
            text: part.text,
        };
        let mut outcome = match &self.comparison {
            Some(comparison) => compare::compile(&mut self.compiler, input, comparison),
            None => self.compiler.compile(input),
        };
        if outcome.internal {
            self.panic_place(&mut outcome);
        }
        self.remarks(&mut outcome);
        self.judge(file, &outcome);
        self.outputs.push(outcome.text.unwrap_or_default());
        self.files.extend(outcome.files);
    }
    /// Says where in our sources the panic was.
    fn panic_place(&self, outcome: &mut Outcome) {
        let place = self.place.lock().ok().and_then(|mut p| p.take());
        let internal = outcome.diagnostics.iter_mut().rev();
        let mut internal = internal.filter(|d| d.message.starts_with("internal error"));
        if let (Some(place), Some(diagnostic)) = (place, internal.next()) {
            diagnostic.helps.push(format!("the panic was at {place}"));
        }
    }
    fn remarks(&mut self, outcome: &mut Outcome) {
        let wanted = &self.config.remarks;
        if !wanted.wanted() {
            return;
        }
        let format = wanted.chosen_format();
        for remark in wanted.select(&outcome.remarks) {
            if format == RemarkFormat::Text && wanted.file.is_none() {
                let text = remarks::message(remark);
                let diagnostic = Diagnostic::remark(remark.place.clone(), text);
                outcome.diagnostics.push(diagnostic);
            } else {
                self.remarks += &remarks::render(&self.sources, remark, format);
            }
        }
    }
    fn judge(&mut self, file: u32, outcome: &Outcome) {
        if let Some(mode) = self.config.expect {
            let problems = expect::verify(&self.sources, file, &outcome.diagnostics, mode);
            self.teller.some(&self.sources, &problems);
            if !problems.is_empty() {
                self.worsen(Exit::Diagnostics);
            }
            return;
        }
        self.teller.some(&self.sources, &outcome.diagnostics);
        if outcome.internal {
            self.worsen(Exit::Internal);
        } else if outcome.diagnostics.iter().any(Diagnostic::is_error) {
            self.worsen(Exit::Diagnostics);
        }
    }
    fn finish(mut self) -> Exit {
        self.compiler.unheard_tags();
        self.teller.end(&self.sources);
        let mut writes = vec![self.output(), self.write_remarks()];
        writes.extend(self.write_files());
        for message in writes.into_iter().filter_map(Result::err) {
            self.worsen(tool::complain(NAME, &message));
        }
        if let Err(message) = self.measurements() {
            self.worsen(tool::complain(NAME, &message));
        }
        self.exit
    }
    /// Chunks that failed print nothing; a file is written only if none failed.
    fn output(&mut self) -> Result<(), String> {
        if self.config.output != "-" && self.exit != Exit::Ok {
            return Ok(());
        }
        if let Some(file) = self.compiler.stream.take() {
            return file.finish();
        }
        let mut outputs = std::mem::take(&mut self.outputs).into_iter();
        // The first, mostly the only one, is not copied.
        let mut text = outputs.next().unwrap_or_default();
        if !text.is_empty() {
            text += "\n";
        }
        for chunk in outputs {
            text += &format!("{}\n", self.config.output_marker);
            text += &chunk;
            if !chunk.is_empty() {
                text += "\n";
            }
        }
        files::write(&self.config.output, &text)
    }
    fn write_remarks(&self) -> Result<(), String> {
        match &self.config.remarks.file {
            Some(path) => files::write(&path.to_string_lossy(), &self.remarks),
            None => files::report(&self.remarks),
        }
    }
    fn write_files(&self) -> Vec<Result<(), String>> {
        // Output to a stream is written in any case; a file only if nothing failed.
        let write = |(kind, path): &(&str, String)| match (path.as_str(), self.exit) {
            ("-" | STDERR, _) | (_, Exit::Ok) => {
                let content = match *kind {
                    explorer::KIND => self.page(),
                    explorer::DOT => explorer::dot::dot(&self.report()),
                    explorer::SVG => explorer::svg::svg(&self.report()),
                    kind => explain::content(&self.files, kind),
                };
                explain::write(path, &content)
            }
            _ => Ok(()),
        };
        self.config.reports.iter().map(write).collect()
    }
    /// The segments of all programs.
    fn report(&self) -> serde_json::Value {
        let report = explain::content(&self.files, "segment-report");
        serde_json::from_str(&report).unwrap_or_default()
    }
    /// The page of all modules.
    fn page(&self) -> String {
        let own = self.files.iter().filter(|file| file.kind == explorer::KIND);
        let modules = own.filter_map(|file| serde_json::from_str(&file.content).ok());
        let origin = explorer::Origin {
            tool: NAME,
            file: load::display_name(self.config.input.as_deref().unwrap_or("-")),
            text: &self.text,
        };
        explorer::page(&explorer::data(&origin, modules.collect()))
    }
    fn measurements(&self) -> Result<(), String> {
        let measuring = &self.config.measuring;
        if measuring.statistics {
            let by_step = measuring.statistics_pipeline;
            files::report(&match measuring.statistics_format {
                Format::Text => self.compiler.statistics.text(by_step),
                Format::Json => self.compiler.statistics.json(by_step),
            })?;
        }
        if measuring.timing {
            files::report(&match measuring.timing_format {
                Format::Text => self.compiler.timing.text(measuring.tree),
                Format::Json => self.compiler.timing.json(measuring.tree),
            })?;
        }
        match &measuring.trace {
            Some(path) => files::write(&path.to_string_lossy(), &self.compiler.timing.trace()),
            None => Ok(()),
        }
    }
}
