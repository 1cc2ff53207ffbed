//! The command line of `fuser-run`, read by hand, in order; every mistake is reported.
//!
//! `-x` and `--x` are equivalent; values follow as `--x=v` or `--x v`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use fuser_ir::suggest::nearest;
use fuser_runtime::{Explicit, Generator, InputSpec, RuntimeConfig};

use super::profile;
use crate::compile::{CompileOptions, ProgressSink, Target};
use crate::driver::timing::{Clock, Form};
use crate::session::{Signature, cost};
use crate::tool;
use crate::tool::cache::{self, Disk};
use crate::tool::color;
use crate::tool::explain::Question;
use crate::tool::files::claims::Claim;
use crate::tool::manual::{Manual, Row};
use crate::tool::target::Wanted;
use fuser_passes::executors;

/// The greatest integer generated for a float in a check: sums of ten thousands of products of three such numbers are
/// exact in f32.
const WHOLE: i128 = 4;

/// The device that a program runs on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Device {
    /// The reference interpreter.
    Interp,
    /// Compiled, on this machine's CPU.
    Cpu,
    /// Compiled, on an NVIDIA GPU.
    Cuda,
}

impl Device {
    /// All devices.
    pub const ALL: [Device; 3] = [Device::Interp, Device::Cpu, Device::Cuda];
    /// The spelling.
    pub const fn name(self) -> &'static str {
        match self {
            Device::Interp => "interp",
            Device::Cpu => "cpu",
            Device::Cuda => "cuda",
        }
    }
}

/// The form of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReportForm {
    /// Data: docs/report-schema.md.
    Json,
    /// A page to look at: docs/explorer.md.
    Html,
    /// A graph of Graphviz.
    Dot,
    /// The same as a picture.
    Svg,
    /// A timeline as Perfetto reads it.
    Perfetto,
}

impl ReportForm {
    /// All forms.
    pub const ALL: [ReportForm; 5] = [
        ReportForm::Json,
        ReportForm::Html,
        ReportForm::Dot,
        ReportForm::Svg,
        ReportForm::Perfetto,
    ];
    /// The spelling.
    pub const fn name(self) -> &'static str {
        match self {
            ReportForm::Json => "json",
            ReportForm::Html => "html",
            ReportForm::Dot => "dot",
            ReportForm::Svg => "svg",
            ReportForm::Perfetto => "perfetto",
        }
    }
}

/// The command line.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// The file to run; `-` is stdin.
    pub file: String,
    /// The program to run.
    pub entry: Option<String>,
    /// The device.
    pub device: Device,
    /// Compares the results with the reference.
    pub check: bool,
    /// Extents.
    pub shapes: Explicit,
    /// Executors; empty for all.
    pub executors: String,
    /// True if tensors of a GPU may start at any multiple of their element size.
    pub any_address: bool,
    /// Inputs by name.
    pub inputs: BTreeMap<String, InputSpec>,
    /// The folder or archive of those that are not named.
    pub arrays: Option<PathBuf>,
    /// Seed of the inputs that nothing is said about.
    pub seed: u64,
    /// Folder for the outputs.
    pub output_dir: Option<PathBuf>,
    /// Archive for the outputs.
    pub output: Option<PathBuf>,
    /// The results that are printed.
    pub print: Vec<String>,
    /// Files for the report, each with its form; `-` is stdout.
    pub reports: Vec<(ReportForm, String)>,
    /// The questions about what is decided.
    pub explain: Vec<Question>,
    /// Threads.
    pub threads: Option<usize>,
    /// Devices of the program, as ranks.
    pub ranks: Option<usize>,
    /// The time that a rank waits for another one.
    pub rank_limit: Duration,
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// Element operations at most.
    pub operations: u64,
    /// Timed executions.
    pub repeat: u32,
    /// Executions whose spread is told.
    pub profile: Option<u32>,
    /// Passes instead of the usual ones.
    pub passes: Option<String>,
    /// The target as the command line states it.
    pub wanted: Wanted,
    /// The target.
    pub target: Target,
    /// The cache as the command line states it.
    pub wanted_cache: cache::Wanted,
    /// The cache.
    pub cache: Option<Arc<Disk>>,
    /// The options of the GPU's simulator, where `FUSER_CUDA` asks for it.
    pub simulator: Option<String>,
    /// The number of the GPU.
    pub ordinal: usize,
    /// The form of the report of times, where one is asked for.
    pub timing: Option<Form>,
    /// The clock.
    pub clock: Clock,
    /// Takes the progress of passes and of code generation.
    pub progress: ProgressSink,
    /// The GPU, once it is open.
    #[cfg(all(feature = "codegen", feature = "cuda"))]
    pub gpu: Option<fuser_runtime::cuda::CudaDevice>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            file: String::new(),
            entry: None,
            device: Device::Cpu,
            check: false,
            shapes: Explicit::new(),
            executors: String::new(),
            any_address: false,
            inputs: BTreeMap::new(),
            arrays: None,
            seed: 0,
            output_dir: None,
            output: None,
            print: Vec::new(),
            reports: Vec::new(),
            explain: Vec::new(),
            threads: None,
            ranks: None,
            rank_limit: fuser_runtime::devices::DEFAULT_LIMIT,
            memory: None,
            operations: cost::MOST,
            repeat: 5,
            profile: None,
            passes: None,
            wanted: Wanted::default(),
            target: Target::default(),
            wanted_cache: cache::Wanted::default(),
            cache: None,
            simulator: None,
            ordinal: 0,
            timing: None,
            clock: Clock::default(),
            progress: ProgressSink::default(),
            #[cfg(all(feature = "codegen", feature = "cuda"))]
            gpu: None,
        }
    }
}

impl Config {
    /// The files that the command line names, without those of the outputs.
    pub fn claims(&self) -> Vec<Claim> {
        let mut claims = vec![Claim::read("the program", &self.file)];
        claims.extend(
            self.wanted
                .file
                .iter()
                .map(|file| Claim::read("--target-file", file)),
        );
        for (name, spec) in &self.inputs {
            if let Some(path) = spec.file() {
                claims.push(Claim::read(format!("input `{name}`"), path));
            }
        }
        claims.extend(
            self.reports
                .iter()
                .map(|(_, file)| Claim::report("--report", file)),
        );
        claims
    }
    /// True if a report of this form is asked for.
    pub fn wants(&self, form: ReportForm) -> bool {
        self.reports.iter().any(|(wanted, _)| *wanted == form)
    }
    /// The number of element operations that the run may need.
    pub fn most_operations(&self) -> u64 {
        match self.check || self.device == Device::Interp {
            true => self.operations / cost::INTERPRETED,
            false => self.operations,
        }
    }
    /// Threads and memory.
    pub fn runtime(&self) -> RuntimeConfig {
        RuntimeConfig {
            threads: self.threads,
            memory_limit: self.memory,
        }
    }
    /// The options of the compilation.
    pub fn compile_options(&self) -> CompileOptions {
        CompileOptions {
            target: self.target,
            program: self.entry.clone(),
            passes: self.passes.clone(),
            executors: self.executors.clone(),
            any_address: self.any_address,
            #[cfg(feature = "codegen")]
            cache: self.cache.clone().map(|cache| cache as _),
            watch: (self.timing.is_some() || self.wants(ReportForm::Perfetto))
                .then(|| self.clock.watch()),
            progress: self.progress.clone(),
            ..CompileOptions::default()
        }
    }
    /// The compile options for reading a program; without the cache for the interpreter, which needs the whole program.
    pub fn source_options(&self) -> CompileOptions {
        let options = self.compile_options();
        #[cfg(feature = "codegen")]
        let options = CompileOptions {
            cache: options.cache.filter(|_| self.device != Device::Interp),
            ..options
        };
        options
    }
    /// Tells the clock that a stage begins; it ends with what is returned.
    pub fn stage(&self, name: &str) -> crate::compile::Stage {
        self.compile_options().stage(name)
    }
    /// Writes the report of times, where one is asked for.
    pub fn tell_timing(&self) -> Result<(), String> {
        match self.timing {
            Some(form) => tool::files::report(&self.clock.text(form)),
            None => Ok(()),
        }
    }
    /// True if compiled code runs whose products may be a part of sums.
    pub fn contracts(&self) -> bool {
        self.device != Device::Interp && self.target.contract != 0
    }
    /// A rule for every input: what was said, else small whole numbers.
    pub fn whole_specs(&self, signature: &Signature) -> BTreeMap<String, InputSpec> {
        let made = signature.inputs.iter().map(|input| {
            let least = match input.dtype {
                fuser_artifact::DType::F8E8M0FNU => 1,
                _ => -WHOLE,
            };
            let range = input.dtype.part().is_float().then_some((least, WHOLE));
            let seed = self.seed;
            let spec = InputSpec::Generate(Generator::Ints { seed, range });
            (input.name.clone(), spec)
        });
        let mut specs: BTreeMap<String, InputSpec> = made.collect();
        specs.extend(self.inputs.clone());
        specs
    }
    /// The source of every input: the specified one, else random numbers from the seed.
    pub fn specs(&self, signature: &Signature) -> BTreeMap<String, InputSpec> {
        let random = InputSpec::Generate(Generator::Random { seed: self.seed });
        let names = signature.inputs.iter().map(|i| i.name.clone());
        let mut specs: BTreeMap<String, InputSpec> = names.map(|n| (n, random.clone())).collect();
        specs.extend(self.inputs.clone());
        specs
    }
}

/// The result of parsing the command line.
#[derive(Clone, PartialEq, Debug)]
pub enum Parsed {
    /// Run.
    Run(Box<Config>),
    /// Print this text.
    Tell(String),
}

/// One flag.
struct Flag {
    names: &'static [&'static str],
    /// The name of its value in the help text, in brackets if the value is optional; `None` for a switch.
    value: Option<&'static str>,
    doc: &'static str,
    set: fn(&mut Config, &str) -> Result<(), String>,
}

static FLAGS: &[Flag] = &[
    Flag {
        names: &["check"],
        value: None,
        doc: "compare every output with the reference interpreter, element by element, within derived bounds",
        set: |config, value| switch(value).map(|on| config.check = on),
    },
    Flag {
        names: &["device"],
        value: Some("cpu|interp|cuda|cuda:N"),
        doc: "where to run (cpu); GPUs are counted from 0",
        set: |config, value| {
            (config.device, config.ordinal) = device(value)?;
            Ok(())
        },
    },
    Flag {
        names: &["cpu"],
        value: Some("native|x86-64|x86-64-v2|x86-64-v3|x86-64-v4|aarch64"),
        doc: "for which processor to compile, with --device=cpu (native)",
        set: |config, value| config.wanted.processor(value),
    },
    Flag {
        names: &["target"],
        value: Some("cpu|generic|h100|cuda:sm_90|..."),
        doc: "the machine to compile for (cpu, which is this one)",
        set: |config, value| {
            config.wanted.name = Some(value.into());
            Ok(())
        },
    },
    Flag {
        names: &["target-file"],
        value: Some("FILE"),
        doc: "the same from a file as fuser-opt --print-target writes it",
        set: |config, value| {
            config.wanted.file = Some(value.into());
            Ok(())
        },
    },
    Flag {
        names: &["shape"],
        value: Some("B=64,S=128"),
        doc: "lengths of named extents; may be given several times",
        set: |config, value| tool::lengths(&mut config.shapes, value, "LENGTH"),
    },
    Flag {
        names: &["any-address"],
        value: None,
        doc: "with --device=cuda, compile for tensors at any multiple of their elements' size, and run on such",
        set: |config, value| switch(value).map(|any| config.any_address = any),
    },
    Flag {
        names: &["executors"],
        value: Some(executors::PLACEHOLDER),
        doc: "who may run products, scatters and sorts as a whole (all)",
        set: |config, value| {
            executors::check(value)?;
            config.executors = value.into();
            Ok(())
        },
    },
    Flag {
        names: &["input"],
        value: Some("NAME=SPEC|@FILE.npz|@DIR"),
        doc: "an input: @file.npy, random:seed=7, uniform:lo=0,hi=2, normal, ints:-8..8, zeros, ones, full:2.5, iota; or all that are not so named, from an archive or from a folder of NAME.npy",
        set: input,
    },
    Flag {
        names: &["seed"],
        value: Some("N"),
        doc: "seed of the inputs that --input does not name (0)",
        set: |config, value| number(value).map(|n| config.seed = n),
    },
    Flag {
        names: &["e", "entry"],
        value: Some("NAME"),
        doc: "the program to run, where the module has several",
        set: |config, value| {
            config.entry = Some(value.trim_start_matches('@').to_string());
            Ok(())
        },
    },
    Flag {
        names: &["output-dir"],
        value: Some("DIR"),
        doc: "write each output to DIR/NAME.npy",
        set: |config, value| {
            config.output_dir = Some(value.into());
            Ok(())
        },
    },
    Flag {
        names: &["o", "output"],
        value: Some("FILE.npz"),
        doc: "write all outputs to an archive, as numpy.savez does",
        set: |config, value| {
            config.output = Some(value.into());
            Ok(())
        },
    },
    Flag {
        names: &["print"],
        value: Some("%a,%b"),
        doc: "print these results: type and elements, the ends of large ones; may be given several times",
        set: |config, value| {
            let names = value.split(',').map(|n| n.trim().trim_start_matches('%'));
            let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
            if names.is_empty() {
                return Err("needs the name of a result".into());
            }
            config.print.extend(names.into_iter().map(str::to_owned));
            Ok(())
        },
    },
    Flag {
        names: &["report"],
        value: Some("json:FILE|html:FILE|dot:FILE|svg:FILE|perfetto:FILE"),
        doc: "write bytes, times and the check as JSON (docs/report-schema.md); the same with the graph, the decisions and all passes as one page to look at (docs/explorer.md); the segments as a graph of Graphviz; a timeline for Perfetto",
        set: report,
    },
    Flag {
        names: &["explain"],
        value: Some("[all|FILE|json:FILE|%a|%a,%b]"),
        doc: tool::explain::DOC,
        set: |config, value| {
            config.explain.push(Question::parse(value)?);
            Ok(())
        },
    },
    Flag {
        names: &["color"],
        value: Some("[auto|always|never]"),
        doc: color::DOC,
        set: |_, value| color::parse(value).map(color::choose),
    },
    Flag {
        names: &["timing"],
        value: Some("[tree|list|json]"),
        doc: "how long each stage and each pass took, to stderr",
        set: |config, value| {
            let form = if value.is_empty() { "list" } else { value };
            config.timing = Form::parse(form)?;
            Ok(())
        },
    },
    Flag {
        names: &["threads"],
        value: Some("N"),
        doc: "worker threads (as many as the machine runs at a time)",
        set: |config, value| positive(value).map(|n| config.threads = Some(n)),
    },
    Flag {
        names: &["ranks"],
        value: Some("N"),
        doc: "devices of a program for several, each a rank (as many as its mesh has)",
        set: |config, value| positive(value).map(|n| config.ranks = Some(n)),
    },
    Flag {
        names: &["rank-timeout"],
        value: Some("SECONDS"),
        doc: "the time after which a rank that waits for another one gives up (600)",
        set: |config, value| {
            config.rank_limit = seconds(value)?;
            Ok(())
        },
    },
    Flag {
        names: &["memory"],
        value: Some("BYTES"),
        doc: "memory that may be used (what is free); also 512MiB, 2GiB",
        set: |config, value| bytes(value).map(|n| config.memory = Some(n)),
    },
    Flag {
        names: &["limit-operations"],
        value: Some("N"),
        doc: "element operations that the program may need, told from its shapes before it runs (281474976710656)",
        set: |config, value| number(value).map(|n| config.operations = n),
    },
    Flag {
        names: &["repeat"],
        value: Some("N"),
        doc: "timed executions; the median counts (5)",
        set: |config, value| {
            let repeat = positive(value)?;
            config.repeat = u32::try_from(repeat).map_err(|_| "is too large".to_string())?;
            Ok(())
        },
    },
    Flag {
        names: &["profile"],
        value: Some("[N]"),
        doc: "instead of --repeat: N timed executions (100, less where they take over 10 s), and of each kernel the shortest time, the median, the 90th and the 99th percentile, and how many times a copy of its bytes that is",
        set: |config, value| {
            let runs = match value {
                "" => profile::RUNS,
                value => u32::try_from(positive(value)?).map_err(|_| "is too large".to_string())?,
            };
            config.profile = Some(runs);
            Ok(())
        },
    },
    Flag {
        names: &["passes"],
        value: Some("TEXT"),
        doc: "passes that run instead of the usual ones before scheduling: canonicalize,segment{...}",
        set: |config, value| {
            config.passes = Some(value.to_string());
            Ok(())
        },
    },
    Flag {
        names: &["no-cache"],
        value: None,
        doc: "compile everything, and keep nothing",
        set: |config, value| switch(value).map(|off| config.wanted_cache.off = off),
    },
    Flag {
        names: &["cache-dir"],
        value: Some("DIR"),
        doc: "keep what is compiled in DIR ($FUSER_CACHE_DIR; the folder 'fuser' of the user's caches)",
        set: |config, value| {
            config.wanted_cache.folder = Some(value.into());
            Ok(())
        },
    },
];

fn switch(value: &str) -> Result<bool, String> {
    let on = tool::flags::switch(if value.is_empty() { "true" } else { value });
    on.ok_or_else(|| format!("is 'true' or 'false', not '{value}'"))
}

/// A device, and the number of the GPU.
fn device(value: &str) -> Result<(Device, usize), String> {
    if let Some(number) = value.strip_prefix("cuda:") {
        let number = number.parse().ok();
        let told = || format!("'{value}' is no GPU (expected cuda:0, cuda:1, ...)");
        return Ok((Device::Cuda, number.ok_or_else(told)?));
    }
    let found = Device::ALL.into_iter().find(|d| d.name() == value);
    found.map(|device| (device, 0)).ok_or_else(|| {
        let lower = value.to_ascii_lowercase();
        let gpu = ["gpu", "nvidia", "cuda", "sm_"]
            .iter()
            .any(|name| lower.starts_with(name));
        let near = match gpu {
            true => Some("cuda"),
            false => nearest(&lower, Device::ALL.iter().map(|d| d.name())),
        };
        let near = near.map_or(String::new(), |n| format!("; did you mean '{n}'?"));
        format!("unknown device '{value}' (expected cpu, interp or cuda){near}")
    })
}

fn number(value: &str) -> Result<u64, String> {
    value.parse().map_err(|_| format!("'{value}' is no number"))
}

/// Units of bytes, as powers of 1024; the short forms are those that most tools accept.
const UNITS: [(&str, u32); 8] = [
    ("KiB", 10),
    ("MiB", 20),
    ("GiB", 30),
    ("TiB", 40),
    ("K", 10),
    ("M", 20),
    ("G", 30),
    ("T", 40),
];

fn bytes(value: &str) -> Result<u64, String> {
    let unit = UNITS.iter().find(|(unit, _)| value.ends_with(unit));
    let (unit, power) = unit.copied().unwrap_or(("", 0));
    let count = value.strip_suffix(unit).map(str::parse::<u64>);
    let count = count.and_then(Result::ok);
    let size = count.and_then(|count| count.checked_mul(1 << power));
    size.ok_or_else(|| format!("'{value}' is no number of bytes (1000000, 512MiB, 2GiB)"))
}

/// A time above 0.
fn seconds(value: &str) -> Result<Duration, String> {
    let seconds = value.parse::<f64>().ok().filter(|seconds| *seconds > 0.0);
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or_else(|| format!("'{value}' is no number of seconds above 0"))
}

fn positive(value: &str) -> Result<usize, String> {
    let number = value.parse::<usize>().ok().filter(|n| *n > 0);
    number.ok_or_else(|| format!("'{value}' is no number above 0"))
}

fn input(config: &mut Config, value: &str) -> Result<(), String> {
    if let Some(path) = value.strip_prefix('@').filter(|path| !path.is_empty()) {
        return match config.arrays.replace(path.into()) {
            Some(_) => Err("one archive or folder at a time".into()),
            None => Ok(()),
        };
    }
    let (name, spec) = value
        .split_once('=')
        .ok_or_else(|| format!("'{value}' is not of the form NAME=SPEC, @FILE.npz or @DIR"))?;
    let name = name.trim().trim_start_matches('%');
    let spec = spec.parse().map_err(|e| format!("input `{name}`: {e}"))?;
    match config.inputs.insert(name.to_string(), spec) {
        Some(_) => Err(format!("input `{name}` is given twice")),
        None => Ok(()),
    }
}

fn report(config: &mut Config, value: &str) -> Result<(), String> {
    let (form, path) = value.split_once(':').unwrap_or((value, ""));
    let form = ReportForm::ALL.into_iter().find(|f| f.name() == form);
    match form.filter(|_| !path.is_empty()) {
        Some(form) => {
            tool::flags::one_file(path, ReportForm::ALL.iter().map(|form| form.name()))?;
            config.reports.push((form, path.to_string()));
            Ok(())
        }
        None => Err(format!(
            "'{value}' is not of the form json:FILE, html:FILE, dot:FILE, svg:FILE or perfetto:FILE{}",
            tool::flags::meant_form(value, ReportForm::ALL.iter().map(|form| form.name()))
        )),
    }
}

/// Reads arguments: what to do, or one line for each mistake.
pub fn parse(args: &[String]) -> Result<Parsed, Vec<String>> {
    let mut config = Config::default();
    let (mut errors, mut files) = (Vec::new(), Vec::new());
    let mut given = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let body = arg.strip_prefix("--").or_else(|| arg.strip_prefix('-'));
        match body {
            Some("") if arg == "--" => files.extend(rest.by_ref().cloned()),
            None if arg == "help" && files.is_empty() => return Ok(Parsed::Tell(help())),
            Some("help" | "h") => return Ok(Parsed::Tell(help())),
            Some("version") => return Ok(Parsed::Tell(version())),
            Some(body) if !body.is_empty() => match flag(&mut config, arg, body, &mut rest) {
                Ok(name) => given.push(name),
                Err(error) => errors.push(error),
            },
            _ => files.push(arg.clone()),
        }
    }
    match files.as_slice() {
        [file] => config.file.clone_from(file),
        [] if errors.is_empty() => errors.push("which program? give a .fir file".into()),
        [] => {}
        // An argument behind an unknown flag is mostly its value.
        _ if !errors.is_empty() => {}
        _ => {
            let value = files.iter().find(|file| file.starts_with('%'));
            let hint = value.map(|value| format!("; values stand behind '=': --explain={value}"));
            let hint = hint.unwrap_or_default();
            errors.push(format!(
                "one program at a time, not {}{hint}",
                files.join(", ")
            ));
        }
    }
    if errors.is_empty() {
        errors.extend(idle(&config, &given));
    }
    errors.extend(config.wanted.conflict().map(str::to_owned));
    if config.wanted.processor.is_some() && config.device != Device::Cpu {
        let device = config.device.name();
        errors.push(format!("--cpu does not go with --device={device}"));
    }
    if config.device == Device::Interp {
        config.threads = Some(1);
    }
    if !config.explain.is_empty() && config.device == Device::Interp {
        errors.push(
            "--explain is about what is compiled, and --device=interp compiles nothing".into(),
        );
    }
    match errors.is_empty() {
        true => Ok(Parsed::Run(Box::new(config))),
        false => Err(errors),
    }
}

fn flag(
    config: &mut Config,
    arg: &str,
    body: &str,
    rest: &mut std::slice::Iter<'_, String>,
) -> Result<&'static str, String> {
    let (name, value) = match body.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (body, None),
    };
    let flag = FLAGS.iter().find(|f| f.names.contains(&name));
    let flag = flag.ok_or_else(|| unknown(arg, name))?;
    let value = match (flag.value, value) {
        (_, Some(value)) => value,
        (None, None) => "",
        (Some(what), None) if what.starts_with('[') => "",
        (Some(what), None) => tool::value_behind(&spelled(name), what, rest, |name| {
            FLAGS.iter().any(|f| f.names.contains(&name))
        })?,
    };
    let set = (flag.set)(config, value);
    set.map_err(|message| format!("--{name}: {message}"))?;
    Ok(flag.names[0])
}

/// Flags about compiled code, which the interpreter has none of.
const COMPILED: &[&str] = &[
    "target",
    "target-file",
    "executors",
    "threads",
    "repeat",
    "profile",
    "passes",
    "no-cache",
    "cache-dir",
];

/// Messages on flags that have no effect with the others; `given` holds the names of all flags.
fn idle(config: &Config, given: &[&'static str]) -> Vec<String> {
    let mut told = Vec::new();
    if config.device == Device::Interp {
        let idle = COMPILED.iter().filter(|name| given.contains(name));
        told.extend(idle.map(|name| {
            format!("--{name} does not go with --device=interp, which runs the text as it is, once, on one thread")
        }));
    }
    if config.profile.is_some() && given.contains(&"repeat") {
        told.push("--profile=N and --repeat=N both say how often it is timed: give one".into());
    }
    if config.wanted_cache.off && config.wanted_cache.folder.is_some() {
        told.push("--no-cache keeps nothing, --cache-dir says where: give one".into());
    }
    told
}

fn unknown(arg: &str, name: &str) -> String {
    let names = FLAGS.iter().flat_map(|f| f.names).copied();
    tool::flags::unknown("fuser-run", arg, name, names.chain(["help", "version"]))
}

/// True if there is a flag of this name.
pub fn has(name: &str) -> bool {
    FLAGS.iter().any(|f| f.names.contains(&name))
}

/// The tool for shells and for `man`.
pub fn manual() -> Manual {
    let rows = FLAGS
        .iter()
        .map(|f| Row::new(f.names, f.value.unwrap_or(""), f.doc));
    let last = [
        Row::new(&["h", "help"], "", "print all flags"),
        Row::new(&["version"], "", "print the version"),
    ];
    Manual {
        tool: "fuser-run",
        usage: "[flags] FILE.fir|DIR",
        summary: "compile and run a tensor program",
        about: ABOUT,
        flags: rows.chain(last).collect(),
        passes: Vec::new(),
        exit: EXIT,
    }
}

/// The tool's purpose.
const ABOUT: &str = "Compiles a program, or the folder that fuser-translate --split-segments wrote, and runs it, on inputs from files or made up, and prints what each kernel moved and took.";
/// The meaning of its exit statuses.
const EXIT: &str = "0 done; 1 the program or an input is wrong, or a check failed; 2 the command line is wrong; 3 a bug in Fuser; 4 nothing failed, and an output is not checked.";

fn help() -> String {
    let mut text = format!("usage: fuser-run FILE.fir|DIR [flags]\n\n{ABOUT}\n\n");
    for flag in FLAGS {
        let names: Vec<String> = flag.names.iter().map(|n| spelled(n)).collect();
        let value = flag.value.map_or(String::new(), |v| format!("={v}"));
        text += &format!("  {}{value}\n      {}\n", names.join(", "), flag.doc);
    }
    text + &format!("  --help, --version\n\nExit codes: {EXIT}\n")
}

fn spelled(name: &str) -> String {
    if name.len() == 1 {
        format!("-{name}")
    } else {
        format!("--{name}")
    }
}

fn version() -> String {
    format!("fuser-run {}\n", env!("CARGO_PKG_VERSION"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(text: &str) -> Result<Parsed, Vec<String>> {
        let list: Vec<String> = text.split_whitespace().map(str::to_string).collect();
        parse(&list)
    }
    fn config(text: &str) -> Config {
        match args(text) {
            Ok(Parsed::Run(config)) => *config,
            other => panic!("{other:?}"),
        }
    }
    fn errors(text: &str) -> String {
        args(text).unwrap_err().join("\n")
    }

    #[test]
    fn the_command_lines_of_the_manual() {
        let c = config("x.fir --check");
        assert_eq!(
            (c.file.as_str(), c.check, c.device),
            ("x.fir", true, Device::Cpu)
        );
        let c = config(
            "x.fir --shape B=64 --input x=@x.npy --input w=random:seed=7 --output-dir out --threads 2 --report=json:r.json",
        );
        assert_eq!(c.shapes.get("B"), Some(&64));
        assert_eq!(c.inputs.get("x"), Some(&InputSpec::File("x.npy".into())));
        assert_eq!(
            c.inputs.get("w"),
            Some(&InputSpec::Generate(Generator::Random { seed: 7 }))
        );
        assert_eq!(c.threads, Some(2));
        assert_eq!(c.reports, [(ReportForm::Json, "r.json".to_string())]);
        assert_eq!(c.output_dir, Some("out".into()));
        let c = config("x.fir --report=html:r.html --report json:-");
        assert!(c.wants(ReportForm::Html) && c.wants(ReportForm::Json));
        let c = config("-device=interp -e @f --shape=B=1,S=0 -- -odd-name.fir");
        assert_eq!(
            (c.device, c.entry.as_deref(), c.file.as_str()),
            (Device::Interp, Some("f"), "-odd-name.fir")
        );
        assert_eq!(c.shapes.len(), 2);
        assert_eq!(config("-").file, "-");
        let c = config("x.fir --device=cuda:3");
        assert_eq!((c.device, c.ordinal), (Device::Cuda, 3));
    }

    #[test]
    fn memory_has_units() {
        let memory = |text: &str| config(&format!("x.fir --memory {text}")).memory;
        assert_eq!(memory("1000"), Some(1000));
        assert_eq!(memory("512MiB"), Some(512 << 20));
        assert_eq!(memory("2G"), Some(2 << 30));
        for bad in ["", "MiB", "-1", "1.5GiB", "2GB", "99999999TiB"] {
            let told = errors(&format!("x.fir --memory={bad}"));
            assert!(told.starts_with("--memory: "), "{told}");
        }
    }

    #[test]
    fn every_mistake_is_told() {
        assert_eq!(errors(""), "which program? give a .fir file");
        assert_eq!(errors("a b"), "one program at a time, not a, b");
        assert_eq!(
            errors("a --chek"),
            "unknown flag '--chek'; did you mean '--check'?"
        );
        assert_eq!(
            errors("a --device=cpi"),
            "--device: unknown device 'cpi' (expected cpu, interp or cuda); did you mean 'cpu'?"
        );
        assert_eq!(
            errors("a --device=GPU"),
            "--device: unknown device 'GPU' (expected cpu, interp or cuda); did you mean 'cuda'?"
        );
        assert_eq!(
            errors("a --gpu b"),
            "unknown flag '--gpu'; '--device=cuda' runs on a GPU"
        );
        assert_eq!(
            errors("a --device=interp --repeat=3 --passes=cse")
                .lines()
                .count(),
            2
        );
        assert!(config("a --check=1").check && !config("a --check=off").check);
        assert_eq!(
            errors("a --device=cuda:x"),
            "--device: 'cuda:x' is no GPU (expected cuda:0, cuda:1, ...)"
        );
        assert_eq!(
            errors("a --shape"),
            "--shape needs a value: --shape B=64,S=128"
        );
        assert_eq!(
            errors("a --shape B"),
            "--shape: 'B' is not of the form NAME=LENGTH"
        );
        assert_eq!(
            errors("a --shape B=1 --shape B=2"),
            "--shape: 'B' is given as 1 and as 2"
        );
        assert_eq!(
            errors("a --input x"),
            "--input: 'x' is not of the form NAME=SPEC, @FILE.npz or @DIR"
        );
        assert_eq!(
            errors("a --input x=ones --input x=zeros"),
            "--input: input `x` is given twice"
        );
        assert!(
            errors("a --input x=rndom")
                .starts_with("--input: input `x`: `rndom` describes no input")
        );
        assert_eq!(
            errors("a --threads 0 --repeat x"),
            "--threads: '0' is no number above 0\n--repeat: 'x' is no number above 0"
        );
        assert_eq!(
            errors("a --report r.json"),
            "--report: 'r.json' is not of the form json:FILE, html:FILE, dot:FILE, svg:FILE or perfetto:FILE; did you mean 'json:r.json'?"
        );
        assert!(errors("a --report r.txt").ends_with("or perfetto:FILE"));
        assert!(errors("a --report=html:a.html,json:b.json").contains("a flag of its own"));
        assert!(matches!(
            &config("a --input x=x.npy").inputs["x"],
            InputSpec::File(path) if path.as_os_str() == "x.npy"
        ));
        assert_eq!(
            errors("a --cpu=x86-64-v5"),
            "--cpu: unknown processor 'x86-64-v5' (expected native, x86-64, x86-64-v2, x86-64-v3, x86-64-v4, aarch64); did you mean 'x86-64-v2'?"
        );
        assert_eq!(
            errors("a --cpu=native --device=interp"),
            "--cpu does not go with --device=interp"
        );
        assert_eq!(
            errors("a --check=maybe"),
            "--check: is 'true' or 'false', not 'maybe'"
        );
    }

    #[test]
    fn help_names_every_flag() {
        let Ok(Parsed::Tell(help)) = args("--help") else {
            panic!()
        };
        for flag in FLAGS {
            assert!(flag.names.iter().all(|n| help.contains(&spelled(n))));
        }
    }
}
