//! `fuser-run`: compiles and runs a program, or a folder of its segments, and checks it.
//!
//! Reading order: `args` (the command line), this file (the sequence of actions), `table` (output for people), `json`
//! (output for programs), `elements` (of results), `inputs` and `outputs` (files), `profile` (times of many runs).
//!
//! Results go to stdout, everything else to stderr. Files are written after all other work has succeeded, each
//! completely or not at all.

pub mod args;
pub mod elements;
mod inputs;
pub mod json;
pub mod outputs;
pub mod profile;
mod ranks;
mod runner;
pub mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use fuser_interp::compare::Status;
use fuser_ir::source::SourceMap;
use fuser_ir::{Diagnostic, Ir};
use fuser_runtime::{CopyTime, Inputs, copy_bandwidth};
use fuser_target::Kind;
use serde_json::Value;

use crate::explorer::{self, Recorder};
use crate::session::{
    Check, Execution, Loaded, Session, SessionError, Signature, Source, Yardstick,
};
use crate::split::{Parts, Text};
use crate::tool::files::{self, Limit, claims};
use crate::tool::{self, Exit, Progress, color, explain, load};
use args::{Config, Device, Parsed, ReportForm};
use ranks::Ranks;
use runner::{Given, Runner};

/// The maximum number of sizes for each of which a copy is timed. Each timing takes about ten copies. Beyond it, copies
/// of powers of two are timed.
const TIMED_SIZES: usize = 16;

/// The step that a line of progress names first.
const STARTING: &str = "compiling and running";

/// Everything that a run found out.
pub struct Findings<'a> {
    /// The command line.
    pub config: &'a Config,
    /// The program's symbol.
    pub program: &'a str,
    /// Its extents, inputs and outputs.
    pub signature: &'a Signature,
    /// Inputs and extents.
    pub inputs: &'a Inputs,
    /// Outputs and times.
    pub execution: &'a Execution,
    /// The check, where one was asked for.
    pub check: Option<Check>,
    /// A check on small integers, whose sums are exact in any order; present if inputs are generated.
    pub whole: Option<Check>,
    /// Segments and bytes, where a report was asked for.
    pub report: Option<fuser_passes::report::Report>,
    /// The time of copying as many bytes as all segments move.
    pub copy: Option<CopyTime>,
    /// The same for each segment.
    pub segment_copies: Vec<Option<CopyTime>>,
    /// Worker threads.
    pub threads: usize,
    /// The parts, where a folder of segments was run.
    pub parts: Option<&'a Parts>,
    /// The positions of the results that are printed.
    pub printed: Vec<usize>,
    /// The program's text and the record of its passes, if a page is requested.
    pub record: Option<(&'a Source, Value)>,
}

impl Findings<'_> {
    /// The explorer page, with the report of the run instead of the report computed from shapes.
    fn page(&self, report: Value) -> String {
        let Some((source, module)) = &self.record else {
            return String::new();
        };
        let mut module = module.clone();
        explorer::take_report(&mut module, self.program, report);
        let origin = explorer::Origin {
            tool: "fuser-run",
            file: source.name(),
            text: source.text(),
        };
        explorer::page(&explorer::data(&origin, vec![module]))
    }
    /// The status of the check, if one was requested. The check on integers can only turn it into a failure.
    pub fn status(&self) -> Option<Status> {
        let check = self.check.as_ref()?;
        match self.whole.as_ref().is_some_and(Check::failed) {
            true => Some(Status::Failed),
            false => Some(check.status),
        }
    }
}

/// Runs `fuser-run` with these arguments, without the program's name.
pub fn run(args: &[String]) -> Exit {
    match args::parse(args) {
        Ok(Parsed::Run(config)) => tool::guarded(|| with_target(*config)),
        Ok(Parsed::Tell(text)) => match files::write("-", &text) {
            Ok(()) => Exit::Ok,
            Err(error) => file_error(&error),
        },
        Err(errors) => usage(&errors),
    }
}

fn usage(errors: &[String]) -> Exit {
    tool::usage("fuser-run", errors)
}

/// Tells that a file cannot be used.
fn file_error(message: &str) -> Exit {
    let error = Diagnostic::error(
        &crate::session::error::FILE,
        fuser_ir::Place::Unknown,
        message,
    );
    tool::tell(&SourceMap::default(), vec![error])
}

/// Finds out what is compiled for, and does the rest.
fn with_target(mut config: Config) -> Exit {
    let mut sources = SourceMap::default();
    if let Some(exit) = tool::wrong_passes(config.passes.as_deref()) {
        return exit;
    }
    let mut add = |name: &str, text: &str| sources.add(name, text);
    config.target = match config.wanted.target(tool::target::host, &mut add) {
        Ok(target) => target,
        Err(errors) => return tool::tell(&sources, errors),
    };
    config.cache = config.wanted_cache.open();
    config.simulator = match (config.device, tool::gpu::simulator()) {
        (Device::Cuda, Ok(simulator)) => simulator,
        (Device::Cuda, Err(error)) => return usage(&[error]),
        (Device::Cpu | Device::Interp, _) => None,
    };
    let name = config.target.name;
    match (config.device, config.target.kind) {
        (Device::Cpu | Device::Cuda, Kind::Hip) => usage(&[format!(
            "no device runs code for the target '{name}': fuser-translate writes it"
        )]),
        (Device::Cpu, Kind::Cuda) => {
            usage(&[format!("the target '{name}' is a GPU: give --device=cuda")])
        }
        (Device::Cuda, Kind::Cpu) if config.wanted.is_said() => usage(&[format!(
            "the target '{name}' is no GPU, --device=cuda is one"
        )]),
        (Device::Cpu | Device::Interp, _) if config.any_address => {
            usage(&["'--any-address' is for tensors of a GPU: give --device=cuda".into()])
        }
        _ => match claims::check(&config.claims()) {
            Ok(()) => on_ranks(&config),
            Err(message) => usage(&[message]),
        },
    }
}

/// Does the rest as one of several processes, where this is one.
fn on_ranks(config: &Config) -> Exit {
    if config.ranks.is_some() && config.device != Device::Cpu {
        let device = config.device.name();
        return usage(&[format!("'--ranks' is for --device=cpu, not for '{device}'")]);
    }
    match Ranks::join(config) {
        Ok(mut ranks) => {
            let exit = all(config, &mut ranks);
            ranks.leave(exit)
        }
        Err(message) => usage(&[message]),
    }
}

fn all(config: &Config, ranks: &mut Ranks) -> Exit {
    if std::path::Path::new(&config.file).is_dir() {
        return folder(config, ranks);
    }
    let text = match files::read(&config.file, Limit::default()) {
        Ok(text) => text,
        Err(message) => return file_error(&message),
    };
    let name = load::display_name(&config.file);
    let mut sources = SourceMap::default();
    let file = sources.add(name, text.as_str());
    let nothing = Ir::new(fuser_dialects::registry());
    let told = |error: SessionError| tool::tell(&sources, error.diagnostics(&nothing));
    let session = match Session::new(config.runtime()) {
        Ok(session) if config.wants(ReportForm::Perfetto) => session.recording(),
        Ok(session) => session,
        Err(error) => return told(error),
    };
    let options = config.source_options();
    let read = Source::read((file, name), text, config.entry.as_deref(), &options);
    let (source, warnings) = match read {
        Ok((source, warnings)) => (Arc::new(source), warnings),
        Err(error) => return told(error),
    };
    tool::tell(&sources, warnings.items);
    let done = work(&session, config, ranks, Subject::Program(&source));
    let ir = source.parsed().map_or(&nothing, |loaded| &loaded.ir);
    end(&sources, ir, done)
}

/// Runs a folder of segments.
fn folder(config: &Config, ranks: &mut Ranks) -> Exit {
    for (given, flag) in [
        (!config.explain.is_empty(), "--explain"),
        (config.wants(ReportForm::Html), "--report=html"),
    ] {
        if given {
            return usage(&[format!(
                "'{flag}' is about a program, not about a folder of its segments"
            )]);
        }
    }
    let mut sources = SourceMap::default();
    let nothing = Ir::new(fuser_dialects::registry());
    let session = match Session::new(config.runtime()) {
        Ok(session) => session,
        Err(error) => return tool::tell(&sources, error.diagnostics(&nothing)),
    };
    let read = &mut |file: &str| {
        let folder = std::path::Path::new(&config.file);
        let text = files::read_in(folder, file, Limit::default())?;
        let name = folder.join(file);
        Ok(Text::new(&mut sources, &name.to_string_lossy(), text))
    };
    let parts = match Parts::read(&session, read) {
        Ok(parts) => parts,
        Err(errors) => return tool::tell(&sources, errors.items),
    };
    if let Some(entry) = config.entry.as_ref().filter(|e| **e != parts.map.program) {
        let message = format!(
            "the folder holds the program '@{}', not '@{entry}'",
            parts.map.program
        );
        return usage(&[message]);
    }
    tool::tell(&sources, parts.warnings.items.clone());
    let done = work(&session, config, ranks, Subject::Parts(&parts));
    end(&sources, &parts.original.ir, done)
}

fn end(sources: &SourceMap, ir: &Ir, done: Result<Exit, Failure>) -> Exit {
    match done {
        Ok(exit) => exit,
        Err(Failure::Session(error)) => tool::tell(sources, error.diagnostics(ir)),
        Err(Failure::File(message)) => file_error(&message),
    }
}

/// The program, or the parts of one, to be run.
#[derive(Clone, Copy)]
enum Subject<'a> {
    Program(&'a Arc<Source>),
    Parts(&'a Parts),
}

impl<'a> Subject<'a> {
    /// The program, parsed.
    fn loaded(self) -> Result<&'a Loaded, SessionError> {
        match self {
            Self::Program(source) => source.loaded(),
            Self::Parts(parts) => Ok(&parts.original),
        }
    }
    fn signature(self) -> &'a Signature {
        match self {
            Self::Program(source) => source.signature(),
            Self::Parts(parts) => &parts.original.signature,
        }
    }
    fn symbol(self) -> &'a str {
        match self {
            Self::Program(source) => source.symbol(),
            Self::Parts(parts) => &parts.map.program,
        }
    }
    /// Runs the program and returns the inputs, without their tensors if they were not to be kept.
    fn execute(
        self,
        session: &Session,
        runner: &mut Runner<'_>,
        inputs: Inputs,
        (keep, repeats): (bool, u32),
    ) -> Result<(Execution, Inputs), SessionError> {
        match self {
            Self::Program(source) => {
                let done = runner.run(Given::Source(source), &inputs, repeats)?;
                Ok((done, inputs))
            }
            Self::Parts(parts) => {
                let how = &mut |loaded: &Loaded, inputs: &Inputs| {
                    runner.run(Given::Part(loaded), inputs, repeats)
                };
                let done = parts.run(session, inputs, keep, how)?;
                Ok((done.execution, done.inputs))
            }
        }
    }
    fn report(
        self,
        runner: &mut Runner<'_>,
        inputs: &Inputs,
    ) -> Result<fuser_passes::report::Report, SessionError> {
        match self {
            Self::Program(source) => runner.report(Given::Source(source), inputs),
            Self::Parts(parts) => parts.report(inputs, &mut |loaded: &Loaded, inputs: &Inputs| {
                runner.report(Given::Part(loaded), inputs)
            }),
        }
    }
}

enum Failure {
    Session(SessionError),
    File(String),
}

impl<E: Into<SessionError>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Session(error.into())
    }
}

fn work(
    session: &Session,
    config: &Config,
    ranks: &mut Ranks,
    subject: Subject<'_>,
) -> Result<Exit, Failure> {
    let signature = subject.signature();
    let config = &inputs::with_arrays(config, signature)?;
    let printed = printed(config, subject)?;
    outputs::check_folder(config).map_err(Failure::File)?;
    claims::check(&outputs::claims(config, signature)).map_err(Failure::File)?;
    let specs = config.specs(signature);
    let stage = config.stage("Inputs");
    let inputs = session.resolve_for(signature, &specs, &config.shapes)?;
    drop(stage);
    match subject {
        Subject::Program(source) => source.affordable(&inputs, config.most_operations())?,
        Subject::Parts(parts) => {
            session.affordable(&parts.original, &inputs, config.most_operations())?;
        }
    }
    let mut config = with_gpu(config)?;
    let progress = Progress::start("fuser-run", STARTING);
    config.progress = progress.sink();
    let config = &config;
    let mut runner = Runner::new(session, config, ranks);
    let answers = match subject {
        Subject::Program(source) if !config.explain.is_empty() && runner.is_first() => {
            let options = config.compile_options();
            session.explain(source.loaded()?, &inputs, &options, &config.explain)?
        }
        _ => Vec::new(),
    };
    let mut inputs = inputs;
    let mut repeats = config.repeat;
    if let Some(runs) = config.profile {
        // One run tells how many there is time for; the ranks of a program would not all tell the same.
        let (once, back) = subject.execute(session, &mut runner, inputs, (true, 1))?;
        progress.step("running");
        inputs = back;
        repeats = match once.run.is_some_and(|run| run.ranks > 1) {
            true => runs,
            false => profile::affordable(runs, once.time_ms),
        };
        progress.takes(Duration::from_secs_f64(
            once.time_ms * f64::from(repeats) / 1e3,
        ));
    }
    let how = (config.check, repeats);
    let (execution, inputs) = subject.execute(session, &mut runner, inputs, how)?;
    let checks_whole = config.check && config.inputs.len() < specs.len();
    if !runner.is_first() {
        if checks_whole {
            run_whole(session, &mut runner, config, subject, &inputs)?;
        }
        return Ok(Exit::Ok);
    }
    progress.step("checking with the interpreter");
    let stage = config.stage("Check");
    let check = match config.check {
        true => {
            let loaded = subject.loaded()?;
            let contracted = config.contracts();
            let tell = |drawn, all| progress.of(u64::from(drawn), u64::from(all));
            let sharp = Yardstick::Sharp(&tell);
            Some(session.check_execution(loaded, &inputs, &execution, contracted, sharp)?)
        }
        false => None,
    };
    progress.step("checking with small whole numbers");
    let whole = match checks_whole {
        true => Some(check_whole(session, &mut runner, config, subject, &inputs)?),
        false => None,
    };
    drop(stage);
    progress.step("counting bytes");
    let stage = config.stage("Report");
    let report = match config.reports.is_empty() {
        false => Some(subject.report(&mut runner, &inputs)?),
        true => None,
    };
    progress.step("recording passes and prices");
    let record = match subject {
        Subject::Program(source) if config.wants(ReportForm::Html) => {
            Some((&**source, recorded(config, source, &inputs)?))
        }
        _ => None,
    };
    drop(stage);
    progress.step("timing copies");
    let stage = config.stage("Copies");
    let (copy, segment_copies) = copies(session, config, &execution, &progress);
    drop(stage);
    drop(progress);
    let findings = Findings {
        config,
        program: subject.symbol(),
        signature,
        inputs: &inputs,
        execution: &execution,
        check,
        whole,
        report,
        copy,
        segment_copies,
        threads: session.runtime().workers().count(),
        parts: match subject {
            Subject::Program(_) => None,
            Subject::Parts(parts) => Some(parts),
        },
        printed,
        record,
    };
    let stage = config.stage("Output");
    for (question, answer) in config.explain.iter().zip(&answers) {
        explain::write(&question.path, answer).map_err(Failure::File)?;
    }
    outputs::write(&findings).map_err(Failure::File)?;
    let table = table::render(&findings);
    let table = match color::on_stdout() {
        true => color::painted(&table),
        false => table,
    };
    files::write("-", &table).map_err(Failure::File)?;
    drop(stage);
    config.tell_timing().map_err(Failure::File)?;
    Ok(match findings.status() {
        Some(Status::Failed) => Exit::Diagnostics,
        Some(Status::NotChecked) => Exit::NotChecked,
        Some(Status::Ok) | None => Exit::Ok,
    })
}

/// The positions of the results that `--print` names.
fn printed(config: &Config, subject: Subject<'_>) -> Result<Vec<usize>, SessionError> {
    let names = &subject.signature().output_names;
    let find = |wanted: &String| {
        let found = names.iter().position(|name| name == wanted);
        let found = found.or_else(|| returned(wanted, subject));
        found.map_or_else(|| Err(no_result(wanted, subject)), Ok)
    };
    config.print.iter().map(find).collect()
}

/// The position of the result that the text returns under the name `wanted`, as in `task.return %112`.
fn returned(wanted: &str, subject: Subject<'_>) -> Option<usize> {
    let loaded = subject.loaded().ok()?;
    let ir = &loaded.ir;
    let end = ir.terminator(ir.body(loaded.program, 0)?)?;
    let mut results = ir.operands(end);
    results.position(|value| ir.value_name(value) == Some(wanted))
}

fn no_result(wanted: &str, subject: Subject<'_>) -> SessionError {
    let names = &subject.signature().output_names;
    let message = format!("no result is called '%{wanted}'");
    let error = Diagnostic::error(
        &crate::session::error::RESULT,
        fuser_ir::Place::Unknown,
        message,
    );
    let near = fuser_ir::suggest::nearest(wanted, names.iter().map(String::as_str));
    let inside = subject.loaded().is_ok_and(|loaded| {
        let ops = loaded.ir.walk(loaded.program).into_iter();
        let mut values = ops.flat_map(|op| loaded.ir.results(op));
        values.any(|&value| loaded.ir.value_name(value) == Some(wanted))
    });
    let all = || {
        names
            .iter()
            .map(|name| format!("%{name}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    crate::session::error::one(match near {
        _ if inside => error.help(format!(
            "'%{wanted}' is a value inside of the program, and results alone are kept ({}): return it to print it",
            all()
        )),
        Some(near) => error.help(format!("did you mean '%{near}'?")),
        None => error.help(format!("the results are {}", all())),
    })
}

/// The program with a record of each pass; without passes if it is interpreted.
fn recorded(config: &Config, source: &Source, inputs: &Inputs) -> Result<Value, SessionError> {
    let loaded = source.loaded()?;
    match config.device {
        Device::Interp => Ok(Recorder::default().module(&loaded.ir, loaded.module, &[])),
        Device::Cpu | Device::Cuda => {
            Ok(Session::record(loaded, inputs, &config.compile_options())?)
        }
    }
}

/// Runs again with small integers for the generated inputs, and checks the results. On reals, the error bound of a long
/// sum is wide enough to hide an element; here most sums are exact, and nothing hides.
fn check_whole(
    session: &Session,
    runner: &mut Runner<'_>,
    config: &Config,
    subject: Subject<'_>,
    inputs: &Inputs,
) -> Result<Check, SessionError> {
    let (execution, inputs) = run_whole(session, runner, config, subject, inputs)?;
    let contracted = config.contracts();
    let loaded = subject.loaded()?;
    session.check_execution(loaded, &inputs, &execution, contracted, Yardstick::Bounds)
}

/// The run of that.
fn run_whole(
    session: &Session,
    runner: &mut Runner<'_>,
    config: &Config,
    subject: Subject<'_>,
    inputs: &Inputs,
) -> Result<(Execution, Inputs), SessionError> {
    let signature = subject.signature();
    let extents = signature.extents.iter().cloned();
    let shapes = extents.zip(inputs.extents.iter().copied()).collect();
    let specs = config.whole_specs(signature);
    let inputs = session.resolve_for(signature, &specs, &shapes)?;
    subject.execute(session, runner, inputs, (true, 1))
}

/// The command line with the GPU opened, real or simulated; the GPU is the target unless another is named.
fn with_gpu(config: &Config) -> Result<Config, SessionError> {
    #[allow(unused_mut)]
    let mut config = config.clone();
    #[cfg(all(feature = "codegen", feature = "cuda"))]
    if config.device == Device::Cuda {
        let device = tool::gpu::open(config.simulator.clone(), config.ordinal)?;
        config.target = crate::session::for_device(&config.target, device.sm())?;
        config.gpu = Some(device);
    }
    Ok(config)
}

/// A device that this build does not have.
fn unsupported(device: Device) -> SessionError {
    let message = format!("unsupported: this build has no device '{}'", device.name());
    let error = Diagnostic::error(
        &crate::session::error::DEVICE,
        fuser_ir::Place::Unknown,
        message,
    );
    crate::session::error::one(error.help("build it with default features, or use --device=interp"))
}

/// The times to copy as many bytes as the run moved, in total and for each segment.
fn copies(
    session: &Session,
    config: &Config,
    execution: &Execution,
    progress: &Progress,
) -> (Option<CopyTime>, Vec<Option<CopyTime>>) {
    let Some(run) = &execution.run else {
        return (None, Vec::new());
    };
    let moved = run
        .segments
        .iter()
        .map(|s| (s.read_bytes + s.write_bytes).max(0) as u64);
    let moved: Vec<u64> = moved.collect();
    let all = moved.iter().sum();
    let sizes: BTreeSet<u64> = moved.iter().copied().filter(|&bytes| bytes > 0).collect();
    let each_size = config.profile.is_some() || sizes.len() <= TIMED_SIZES;
    let mut wanted = match each_size {
        true => sizes,
        false => sizes.into_iter().flat_map(powers).collect(),
    };
    wanted.insert(all);
    let count = wanted.len() as u64;
    let timed = (1..).zip(wanted).map(|(number, bytes)| {
        let time = copy_time(session, config, bytes);
        progress.of(number, count);
        (bytes, time)
    });
    let timed: BTreeMap<u64, Option<CopyTime>> = timed.collect();
    let time = |bytes: u64| timed.get(&bytes).copied().flatten();
    let each = moved.iter().map(|&bytes| match bytes {
        0 => None,
        _ if each_size => time(bytes),
        _ => between(bytes, time),
    });
    (time(all), each.collect())
}

/// The powers of two on both sides of a number above 0.
fn powers(bytes: u64) -> [u64; 2] {
    let least = 1 << bytes.max(1).ilog2();
    [least, least.saturating_mul(2)]
}

/// The time to copy `bytes` bytes, interpolated between the powers of two on both sides of that number.
fn between(bytes: u64, time: impl Fn(u64) -> Option<CopyTime>) -> Option<CopyTime> {
    let [least, most] = powers(bytes);
    let (low, high) = (time(least)?, time(most)?);
    let share = (bytes - least) as f64 / least as f64;
    let time_ms = low.time_ms + (high.time_ms - low.time_ms) * share;
    Some(CopyTime { bytes, time_ms })
}

/// The time to copy `bytes` bytes on the program's device; `None` if there is too little memory.
fn copy_time(session: &Session, config: &Config, bytes: u64) -> Option<CopyTime> {
    #[cfg(all(feature = "codegen", feature = "cuda"))]
    if let Some(device) = &config.gpu {
        return device.copy_time(bytes).ok();
    }
    let _ = config;
    copy_bandwidth(session.runtime(), bytes).ok()
}
