//! The command line as data. `flags` fills it, the rest of the driver reads it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fuser_ir::limits::Limits as SourceLimits;
use fuser_pass::{Limits, PipelineDef};

use crate::compile::Target;
pub use crate::tool::color::Color;
pub use crate::tool::explain::STDERR;
use crate::tool::files::claims::Claim;
use crate::tool::target::Wanted;

/// One thing to run, in the order of the command line.
#[derive(Clone, Debug)]
pub enum Requested {
    /// `--segment=objective=bytes`: pass name and options text.
    Pass(String, String),
    /// `--fuse`
    Named(&'static PipelineDef),
}

/// Text or JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// The format of diagnostics.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DiagnosticsFormat {
    /// `file:line:column: error: ...` with the source line.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
    /// One SARIF document.
    Sarif,
}

/// The format of remarks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RemarkFormat {
    /// As diagnostics.
    #[default]
    Text,
    /// YAML documents as LLVM writes them.
    Yaml,
    /// One JSON object per line.
    Json,
}

/// `--verify-diagnostics`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expect {
    /// Every diagnostic must be expected.
    All,
    /// Unexpected ones are fine.
    OnlyExpected,
}

/// The passes that a `--print-ir-*` flag selects.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Selection {
    /// None.
    #[default]
    Nothing,
    /// These.
    Names(Vec<String>),
    /// All.
    All,
}

impl Selection {
    /// True if the pass called `name` is selected.
    pub fn has(&self, name: &str) -> bool {
        match self {
            Selection::Nothing => false,
            Selection::Names(names) => names.iter().any(|n| n == name),
            Selection::All => true,
        }
    }
}

/// The `--print-ir-*` family.
#[derive(Clone, Debug, Default)]
pub struct PrintIr {
    /// Before which passes.
    pub before: Selection,
    /// After which.
    pub after: Selection,
    /// Only where the IR changed.
    pub after_change: bool,
    /// Only where the pass failed.
    pub after_failure: bool,
    /// The whole module instead of the op that the pass ran on.
    pub module_scope: bool,
    /// A diff to the last IR printed.
    pub diff: bool,
    /// Files in a tree of folders instead of stderr.
    pub tree_dir: Option<PathBuf>,
}

/// `--remark*`
#[derive(Clone, Debug, Default)]
pub struct Remarks {
    /// Format; remarks are off without a format, a filter or a file.
    pub format: Option<RemarkFormat>,
    /// The last remark about each thing only.
    pub only_final: bool,
    /// A regex for all kinds.
    pub filter: Option<regex::Regex>,
    /// A regex for each kind, in the order of `RemarkKind::ALL`.
    pub filters: [Option<regex::Regex>; 4],
    /// The file to write to; stderr if not given.
    pub file: Option<PathBuf>,
}

/// Options of printed IR.
#[derive(Clone, Debug)]
pub struct Printing {
    /// `"dialect.op"(...)`
    pub generic: bool,
    /// `loc(...)`
    pub debuginfo: bool,
    /// Result types.
    pub types: bool,
    /// `%0`, `%1` instead of names.
    pub anonymous: bool,
    /// Longer dense attributes are not written out.
    pub elide_larger: Option<usize>,
}

impl Default for Printing {
    fn default() -> Self {
        Self {
            generic: false,
            debuginfo: false,
            types: true,
            anonymous: false,
            elide_larger: None,
        }
    }
}

/// Timing and statistics.
#[derive(Clone, Debug, Default)]
pub struct Measuring {
    /// `--timing`
    pub timing: bool,
    /// The tree of the pipeline instead of a list.
    pub tree: bool,
    /// Text or JSON.
    pub timing_format: Format,
    /// A Chrome trace.
    pub trace: Option<PathBuf>,
    /// `--pass-statistics`
    pub statistics: bool,
    /// In pipeline order instead of a merged list.
    pub statistics_pipeline: bool,
    /// Text or JSON.
    pub statistics_format: Format,
}

/// An action that takes the place of compiling.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// `--help`; `true`: with the hidden flags.
    Help(bool),
    /// `help PASS`
    HelpPass(String),
    /// `explain CODE`
    Explain(String),
    /// `--version`
    Version,
    /// `--list-passes`
    ListPasses(Format),
    /// `--show-dialects`
    ShowDialects(Format),
    /// `--debug-only=help`
    DebugTags,
    /// `--print-target`
    PrintTarget,
}

/// Everything.
#[derive(Clone, Debug)]
pub struct Config {
    /// Input file, `-` for stdin.
    pub input: Option<String>,
    /// Output file, `-` for stdout.
    pub output: String,
    /// Something else than compiling.
    pub action: Option<Action>,
    /// Passes in order.
    pub requested: Vec<Requested>,
    /// `--pass-pipeline`
    pub pipeline: Option<String>,
    /// `--pipeline-to`
    pub pipeline_to: Option<String>,
    /// `--dump-pass-pipeline`
    pub dump_pipeline: bool,
    /// `--split-input-file`: the marker.
    pub split: Option<String>,
    /// `--output-split-marker`
    pub output_marker: String,
    /// `--allow-unregistered-dialect`
    pub allow_unregistered: bool,
    /// `--no-implicit-module`
    pub no_implicit_module: bool,
    /// `--verify-each`
    pub verify_each: bool,
    /// `--verify-roundtrip`
    pub verify_roundtrip: bool,
    /// `--test-lossy-printing`: the roundtrip prints without names, so that it must fail.
    pub lossy: bool,
    /// `--verify-diagnostics`
    pub expect: Option<Expect>,
    /// `--validate`: how many inputs.
    pub validate: Option<u32>,
    /// `--opt-bisect-limit`
    pub bisect_limit: Option<i64>,
    /// `--debug-only`: tags; `*` for all.
    pub debug: Vec<String>,
    /// Printer.
    pub printing: Printing,
    /// IR around passes.
    pub print_ir: PrintIr,
    /// Timing, statistics.
    pub measuring: Measuring,
    /// Remarks.
    pub remarks: Remarks,
    /// Format of diagnostics.
    pub diagnostics: DiagnosticsFormat,
    /// Color.
    pub color: Color,
    /// Diagnostics printed at most; 0: all.
    pub max_errors: usize,
    /// Warnings are printed.
    pub warnings: bool,
    /// Notes are printed.
    pub notes: bool,
    /// The file for a reproducer of an internal error.
    pub crash_reproducer: Option<PathBuf>,
    /// Writes a reproducer without an error.
    pub generate_reproducer: Option<PathBuf>,
    /// Reads the pipeline from a reproducer.
    pub run_reproducer: bool,
    /// `--target`, `--target-file`: what passes decide for.
    pub wanted: Wanted,
    /// The target that they mean.
    pub target: Option<Target>,
    /// `--shape`: lengths of named extents that passes decide for.
    pub shapes: BTreeMap<String, u64>,
    /// `--executors`: who may run ops as a whole; empty for all.
    pub executors: String,
    /// `--segments-from`: the file of a grouping.
    pub segments_from: Option<String>,
    /// `--explain=%a,%b`: the names.
    pub explain_pair: Option<String>,
    /// `--compare-segmentations`: two files, and whether JSON is wanted.
    pub compare: Option<([String; 2], bool)>,
    /// Files offered by passes: kind and path (`-`: stdout).
    pub reports: Vec<(&'static str, String)>,
    /// Limits of passes.
    pub limits: Limits,
    /// Limits of the parser.
    pub source_limits: SourceLimits,
}

impl PrintIr {
    /// True if a flag asks for IR around passes.
    pub fn is_wanted(&self) -> bool {
        let implied = self.after_change || self.after_failure || self.diff;
        let chosen = self.before != Selection::Nothing || self.after != Selection::Nothing;
        implied || chosen || self.tree_dir.is_some()
    }
}

impl Config {
    /// Messages on flags that have no effect without others that are not given.
    pub fn idle(&self) -> impl Iterator<Item = &'static str> + use<> {
        let measuring = &self.measuring;
        let remarks = self.remarks.only_final && !self.remarks.wanted();
        let marker = self.output_marker != SPLIT_MARKER && self.split.is_none();
        let faults = [
            (
                self.print_ir.module_scope && !self.print_ir.is_wanted(),
                "--print-ir-module-scope says how IR around passes is printed, and no flag asks for that: give --print-ir-after-all or another",
            ),
            (
                marker,
                "--output-split-marker is of use with --split-input-file only",
            ),
            (
                remarks,
                "--remark-policy is of use with remarks only: give --remark-format=text",
            ),
            (
                (measuring.tree || measuring.timing_format == Format::Json)
                    && !measuring.timing
                    && measuring.trace.is_none(),
                "the form of the timing report is of use with --timing only",
            ),
            (
                (measuring.statistics_pipeline || measuring.statistics_format == Format::Json)
                    && !measuring.statistics,
                "the form of the statistics is of use with --pass-statistics only",
            ),
            (
                self.validate == Some(0),
                "--validate=0 compares nothing: give 1 or more inputs",
            ),
        ];
        faults
            .into_iter()
            .filter_map(|(idle, text)| idle.then_some(text))
    }
    /// The files that the command line names. The output may replace the program.
    pub fn claims(&self) -> Vec<Claim> {
        let input = self.input.as_deref().unwrap_or("-");
        let mut claims = vec![Claim::read("the program", input)];
        let reads = [
            ("--target-file", &self.wanted.file),
            ("--segments-from", &self.segments_from),
        ];
        for (flag, file) in reads {
            claims.extend(file.iter().map(|file| Claim::read(flag, file)));
        }
        let compared = self.compare.iter().flat_map(|(files, _)| files);
        claims.extend(compared.map(|file| Claim::read("--compare-segmentations", file)));
        claims.push(Claim::rewritten("-o", &self.output));
        let writes = [
            ("--timing-trace", &self.measuring.trace),
            ("--remarks-output-file", &self.remarks.file),
            ("--crash-reproducer", &self.crash_reproducer),
            ("--generate-reproducer", &self.generate_reproducer),
        ];
        for (flag, file) in writes {
            claims.extend(file.iter().map(|file| Claim::written(flag, file)));
        }
        for (kind, file) in &self.reports {
            let flag = match *kind {
                crate::explorer::KIND | crate::explorer::DOT | crate::explorer::SVG => "report",
                kind if kind.starts_with("explain") => "explain",
                kind => kind,
            };
            claims.push(Claim::report(format!("--{flag}"), file));
        }
        claims
    }
}

/// The marker between the chunks of a file.
pub const SPLIT_MARKER: &str = "// -----";
/// More diagnostics than these help nobody; a summary follows.
pub const MAX_ERRORS: usize = 100;

impl Default for Config {
    fn default() -> Self {
        Self {
            input: None,
            output: "-".into(),
            action: None,
            requested: Vec::new(),
            pipeline: None,
            pipeline_to: None,
            dump_pipeline: false,
            split: None,
            output_marker: SPLIT_MARKER.into(),
            allow_unregistered: false,
            no_implicit_module: false,
            verify_each: true,
            verify_roundtrip: false,
            lossy: false,
            expect: None,
            validate: None,
            bisect_limit: None,
            debug: Vec::new(),
            printing: Printing::default(),
            print_ir: PrintIr::default(),
            measuring: Measuring::default(),
            remarks: Remarks::default(),
            diagnostics: DiagnosticsFormat::Text,
            color: Color::Auto,
            max_errors: MAX_ERRORS,
            warnings: true,
            notes: true,
            crash_reproducer: None,
            generate_reproducer: None,
            run_reproducer: false,
            wanted: Wanted::default(),
            target: None,
            shapes: BTreeMap::new(),
            executors: String::new(),
            segments_from: None,
            explain_pair: None,
            compare: None,
            reports: Vec::new(),
            limits: Limits::default(),
            source_limits: SourceLimits::default(),
        }
    }
}
