//! The command line of `fuser-translate`. One table serves parsing, help and suggestions.

use std::collections::BTreeMap;

use fuser_frontends::nvfuser::Number;
use fuser_frontends::{FORMATS, Format};
use fuser_ir::suggest::nearest;

use crate::compile::Target;
use crate::tool;
use crate::tool::cache;
use crate::tool::color;
use crate::tool::files::claims::Claim;
use crate::tool::manual::{Manual, Row};
use crate::tool::target::Wanted;
use fuser_passes::executors;

/// The form of the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Emit {
    /// The program as it was read.
    Program,
    /// The program as text of another system.
    Export(Format),
    /// The kernel dialect.
    Kernel,
    /// LLVM IR, optimized.
    LlvmIr,
    /// The target's assembly.
    Asm,
    /// PTX.
    Ptx,
    /// The whole artifact as JSON.
    Artifact,
}

const EMITS: &[(&str, Emit)] = &[
    ("fir", Emit::Program),
    ("kernel", Emit::Kernel),
    ("llvm-ir", Emit::LlvmIr),
    ("asm", Emit::Asm),
    ("ptx", Emit::Ptx),
    ("artifact", Emit::Artifact),
];

/// The command line.
#[derive(Clone, Debug)]
pub struct Config {
    /// Program text, `-` for stdin.
    pub file: String,
    /// The file for the result, `-` for stdout.
    pub output: String,
    /// The format of the text, where it is not `.fir`.
    pub import: Option<Format>,
    /// The lengths of extents and the values of scalar inputs that the text leaves open, by name.
    pub lengths: BTreeMap<String, Number>,
    /// The form of the output.
    pub emit: Emit,
    /// For which machine, as the command line says it.
    pub wanted: Wanted,
    /// For which machine.
    pub target: Target,
    /// The program to translate.
    pub entry: Option<String>,
    /// Passes instead of the usual ones, up to `schedule`.
    pub passes: Option<String>,
    /// Executors; empty for all.
    pub executors: String,
    /// True if tensors of a GPU may start at any multiple of their element size.
    pub any_address: bool,
    /// True if text of the IR says where each op comes from.
    pub places: bool,
    /// The folder for the segments, each as a program.
    pub split: Option<String>,
    /// The cache as the command line states it.
    pub cache: cache::Wanted,
}

impl Config {
    /// The files that the command line names. A program inside the output folder is one of the replaced files.
    pub fn claims(&self) -> Vec<Claim> {
        let mut claims = vec![Claim::read("the program", &self.file)];
        claims.extend(
            self.wanted
                .file
                .iter()
                .map(|file| Claim::read("--target-file", file)),
        );
        match &self.split {
            Some(_) => {}
            None => claims.push(Claim::written("-o", &self.output)),
        }
        claims
    }
}

/// A command line, read.
pub enum Parsed {
    /// Work to do.
    Translate(Box<Config>),
    /// A text to print.
    Tell(String),
}

const FLAGS: &[(&str, &str, &str)] = &[
    (
        "emit",
        "fir|kernel|llvm-ir|asm|ptx|artifact",
        "what to write (kernel; fir, which is the program itself, with --import)",
    ),
    (
        "import",
        "stablehlo|nvfuser-python",
        "read a program of another system; see docs/importing.md",
    ),
    (
        "export",
        "stablehlo|nvfuser-python",
        "write the program for another system instead of what --emit says",
    ),
    (
        "shape",
        "T0_1=64,S1=128,S2=0.5,S3=true",
        "what extents and scalar inputs are that a definition of nvFuser leaves open, integers, floats or truth values: numbers in the program; may be given several times",
    ),
    (
        "target",
        "cpu|generic|h100|cuda:sm_90|...",
        "for which machine (cpu, which is this one; generic for text that depends on no machine; --emit=ptx alone means cuda:sm_80)",
    ),
    (
        "target-file",
        "FILE",
        "the same from a file as fuser-opt --print-target writes it",
    ),
    (
        "cpu",
        "native|x86-64|x86-64-v2|x86-64-v3|x86-64-v4|aarch64",
        "for which processor, with a target that is no GPU (native)",
    ),
    (
        "any-address",
        "",
        "code of a GPU for tensors at any multiple of their elements' size: --emit=artifact has it beside the other, of which each run takes one",
    ),
    (
        "executors",
        executors::PLACEHOLDER,
        "who may run products, scatters and sorts as a whole (all)",
    ),
    (
        "output",
        "FILE",
        "where to write it, '-' for stdout; also -o",
    ),
    (
        "entry",
        "NAME",
        "the program to translate, where the module has several; also -e",
    ),
    (
        "passes",
        "PIPELINE",
        "elements of a task.program(...) pipeline to run before 'schedule' instead of the usual ones",
    ),
    (
        "print-debuginfo",
        "",
        "write where each op comes from, with --emit=fir or kernel: of an import the lines of the model, where the text has them",
    ),
    ("no-cache", "", "compile every kernel, and keep none"),
    (
        "cache-dir",
        "DIR",
        "keep compiled kernels in DIR ($FUSER_CACHE_DIR; the folder 'fuser' of the user's caches)",
    ),
    (
        "split-segments",
        "DIR",
        "write each segment as a program of its own into DIR, with map.json, instead of anything else (docs/segmentation.md)",
    ),
    ("color", color::VALUE, color::DOC),
    ("help", "", "this text; also -h"),
    ("version", "", "the version"),
];

/// Reads a command line: the work, or one line for each mistake.
pub fn parse(args: &[String]) -> Result<Parsed, Vec<String>> {
    let mut errors = Vec::new();
    let mut values: Vec<(&'static str, String)> = Vec::new();
    let mut files = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if arg.len() > 1 && arg.starts_with('-') {
            match flag(arg, &mut rest) {
                Ok(pair) => values.push(pair),
                Err(message) => errors.push(message),
            }
        } else {
            files.push(arg.clone());
        }
    }
    let helps = files.first().is_some_and(|file| file == "help");
    if helps || values.iter().any(|(name, _)| *name == "help") {
        return Ok(Parsed::Tell(help()));
    }
    if values.iter().any(|(name, _)| *name == "version") {
        return Ok(Parsed::Tell(format!(
            "fuser-translate {}\n",
            env!("CARGO_PKG_VERSION")
        )));
    }
    let config = config(values, files, &mut errors);
    if errors.is_empty() {
        Ok(Parsed::Translate(Box::new(config)))
    } else {
        Err(errors)
    }
}

fn flag(
    arg: &str,
    rest: &mut std::slice::Iter<'_, String>,
) -> Result<(&'static str, String), String> {
    let body = arg
        .strip_prefix("--")
        .or_else(|| arg.strip_prefix('-'))
        .unwrap_or(arg);
    let (name, value) = match body.split_once('=') {
        Some((name, value)) => (name, Some(value.to_string())),
        None => (body, None),
    };
    let name = full(name);
    let Some((known, takes, _)) = FLAGS.iter().find(|(n, ..)| *n == name) else {
        let names = FLAGS.iter().map(|f| f.0);
        return Err(tool::flags::unknown("fuser-translate", arg, name, names));
    };
    if takes.is_empty() {
        return match value.as_deref().map(tool::flags::switch) {
            Some(None) => Err(format!("--{known} takes no value")),
            // As if it were not there.
            Some(Some(false)) => Ok(("", String::new())),
            _ => Ok((known, String::new())),
        };
    }
    let value = match value {
        Some(value) => value,
        None => {
            let is_flag = |name: &str| FLAGS.iter().any(|f| f.0 == full(name));
            tool::value_behind(&format!("--{known}"), takes, rest, is_flag)?.to_owned()
        }
    };
    Ok((known, value))
}

/// True if there is a flag of this name.
pub fn has(name: &str) -> bool {
    FLAGS.iter().any(|f| f.0 == full(name))
}

/// Flags, and the values of `--emit` with which they have an effect.
const EFFECTS: &[(&str, &[Emit])] = &[
    ("target", CODE),
    ("target-file", CODE),
    ("cpu", CODE),
    ("any-address", CODE),
    ("executors", CODE),
    ("passes", CODE),
    ("print-debuginfo", &[Emit::Program, Emit::Kernel]),
    ("no-cache", &[Emit::Artifact]),
    ("cache-dir", &[Emit::Artifact]),
];
const CODE: &[Emit] = &[
    Emit::Kernel,
    Emit::LlvmIr,
    Emit::Asm,
    Emit::Ptx,
    Emit::Artifact,
];

/// Messages on flags that have no effect on what is written.
fn idle(config: &Config, given: &[&'static str]) -> Vec<String> {
    if config.split.is_some() {
        return Vec::new();
    }
    let idle =
        |row: &&(&'static str, &[Emit])| given.contains(&row.0) && !row.1.contains(&config.emit);
    let what = |emits: &[Emit]| match emits {
        [Emit::Artifact] => "--emit=artifact",
        [Emit::Program, ..] => "--emit=fir or kernel",
        _ => "--emit=kernel, llvm-ir, asm, ptx or artifact",
    };
    let told = EFFECTS.iter().filter(idle);
    told.map(|(name, emits)| format!("--{name} has an effect with {} only", what(emits)))
        .collect()
}

/// The name that a letter stands for.
fn full(name: &str) -> &str {
    match name {
        "o" => "output",
        "e" => "entry",
        "h" => "help",
        name => name,
    }
}

fn config(
    values: Vec<(&'static str, String)>,
    files: Vec<String>,
    errors: &mut Vec<String>,
) -> Config {
    let mut config = Config {
        file: files.first().cloned().unwrap_or_else(|| "-".into()),
        output: "-".into(),
        import: None,
        lengths: BTreeMap::new(),
        emit: match values.iter().any(|(n, _)| *n == "import") {
            true => Emit::Program,
            false => Emit::Kernel,
        },
        wanted: Wanted::default(),
        target: Target::default(),
        entry: None,
        passes: None,
        executors: String::new(),
        any_address: false,
        places: false,
        split: None,
        cache: cache::Wanted::default(),
    };
    if files.len() > 1 && errors.is_empty() {
        errors.push(format!(
            "one program at a time: '{}' and '{}' were given",
            files[0], files[1]
        ));
    }
    let both = |name: &str| values.iter().any(|(n, _)| *n == name);
    if both("emit") && both("export") {
        errors.push("'--export' writes text of its own; '--emit' does not go with it".into());
    }
    let other = values
        .iter()
        .find(|(n, _)| matches!(*n, "emit" | "export" | "output"));
    if let Some((other, _)) = other.filter(|_| values.iter().any(|(n, _)| *n == "split-segments")) {
        errors.push(format!(
            "'--split-segments' writes programs into its folder; '--{other}' does not go with it"
        ));
    }
    let given: Vec<&'static str> = values.iter().map(|(name, _)| *name).collect();
    for (name, value) in values {
        match name {
            "emit" => match EMITS.iter().find(|(n, _)| *n == value) {
                Some((_, emit)) => config.emit = *emit,
                None => {
                    let names: Vec<&str> = EMITS.iter().map(|e| e.0).collect();
                    let lower = value.to_ascii_lowercase();
                    let near = match (lower.as_str(), FORMATS.iter().any(|(n, _)| *n == lower)) {
                        (_, true) => format!("; that is '--export={lower}'"),
                        ("llvm" | "ll" | "llvmir", _) => "; did you mean 'llvm-ir'?".into(),
                        ("assembly" | "s", _) => "; did you mean 'asm'?".into(),
                        _ => near(&lower, &names),
                    };
                    errors.push(format!(
                        "'--emit={value}': there are {}{near}",
                        names.join(", ")
                    ));
                }
            },
            "import" | "export" => match FORMATS.iter().find(|(n, _)| *n == value) {
                Some((_, format)) if name == "import" => config.import = Some(*format),
                Some((_, format)) => config.emit = Emit::Export(*format),
                None => {
                    let names: Vec<&str> = FORMATS.iter().map(|f| f.0).collect();
                    let advice = tool::foreign::of_format(&value).filter(|_| name == "import");
                    let advice = match advice {
                        Some(advice) => format!("; {advice}"),
                        None => near(&value.to_ascii_lowercase(), &names),
                    };
                    let names = names.join(" and ");
                    errors.push(format!("'--{name}={value}': there are {names}{advice}"));
                }
            },
            "shape" => {
                let told = tool::lengths(&mut config.lengths, &value, "NUMBER").err();
                errors.extend(told.map(|message| format!("--shape: {message}")));
            }
            "target" => config.wanted.name = Some(value),
            "target-file" => config.wanted.file = Some(value),
            "cpu" => {
                let told = config.wanted.processor(&value).err();
                errors.extend(told.map(|message| format!("--cpu: {message}")));
            }
            "executors" => {
                let told = executors::check(&value).err();
                errors.extend(told.map(|message| format!("--executors: {message}")));
                config.executors = value;
            }
            "any-address" => config.any_address = true,
            "print-debuginfo" => config.places = true,
            "output" => config.output = value,
            "entry" => config.entry = Some(value),
            "passes" => config.passes = Some(value),
            "split-segments" => config.split = Some(value),
            "color" => match color::parse(&value) {
                Ok(color) => color::choose(color),
                Err(message) => errors.push(format!("--color: {message}")),
            },
            "no-cache" => config.cache.off = true,
            "cache-dir" => config.cache.folder = Some(value.into()),
            _ => {}
        }
    }
    if !config.lengths.is_empty() && config.import != Some(Format::NvFuser) {
        errors.push("'--shape' goes with '--import=nvfuser-python'; extents of other programs are numbers, or named".into());
    }
    errors.extend(config.wanted.conflict().map(str::to_owned));
    if config.cache.off && config.cache.folder.is_some() {
        errors.push("--no-cache keeps nothing, --cache-dir says where: give one".into());
    }
    if errors.is_empty() {
        errors.extend(idle(&config, &given));
    }
    config
}

/// The name of `names` that is near `value`, in words.
fn near(value: &str, names: &[&str]) -> String {
    let near = nearest(value, names.iter().copied());
    near.map_or(String::new(), |n| format!("; did you mean '{n}'?"))
}

/// The tool for shells and for `man`.
pub fn manual() -> Manual {
    let letters = ["o", "e", "h"];
    let row = |(name, takes, doc): &(&'static str, &'static str, &'static str)| {
        let letter = letters.into_iter().filter(|letter| full(letter) == *name);
        let names: Vec<&str> = letter.chain([*name]).collect();
        Row::new(&names, takes, doc)
    };
    Manual {
        tool: "fuser-translate",
        usage: "[flags] FILE.fir",
        summary: "print what a tensor program becomes",
        about: "Writes a program as something else: kernels, LLVM IR, assembly, PTX, an artifact, the text of another system, or its segments as programs of their own.",
        flags: FLAGS.iter().map(row).collect(),
        passes: Vec::new(),
        exit: "0 done, 1 diagnostics or a file that cannot be read or written, 2 wrong usage, 3 an internal error.",
    }
}

fn help() -> String {
    let mut text = String::from(
        "usage: fuser-translate FILE.fir [flags]\n\nWrites a program as something else.\n\n",
    );
    for (name, takes, doc) in FLAGS {
        let value = if takes.is_empty() {
            String::new()
        } else {
            format!("={takes}")
        };
        text += &format!("  --{name}{value}\n      {doc}\n");
    }
    text
}
