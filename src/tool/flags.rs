//! Flags that a tool does not have: the intended flag, and the tools that have it.

use fuser_ir::suggest::nearest;

/// A mistaken flag, the tools that the advice concerns (all, if the list is empty), and the advice.
type Row = (
    &'static [&'static str],
    &'static [&'static str],
    &'static str,
);

const OPT: &str = "fuser-opt";
const RUN: &str = "fuser-run";
const TRANSLATE: &str = "fuser-translate";
const REDUCE: &str = "fuser-reduce";

static MEANT: &[Row] = &[
    (
        &["gpu", "cuda", "nvidia"],
        &[RUN],
        "'--device=cuda' runs on a GPU",
    ),
    (
        &["gpu", "cuda", "nvidia"],
        &[OPT, TRANSLATE],
        "'--target=cuda' is a GPU, '--target=h100' one by its name",
    ),
    (
        &["device"],
        &[OPT, TRANSLATE],
        "it is one of fuser-run; the machine that is decided for is '--target=cuda'",
    ),
    (
        &[
            "arch", "sm", "march", "gpu-arch", "gpu-name", "mcpu", "mtriple", "mattr", "cc",
        ],
        &[],
        "a machine is '--target=cuda:sm_90' or, for processors, '--cpu=x86-64-v3'",
    ),
    (
        &["O", "O0", "O1", "O2", "O3", "Os", "opt-level"],
        &[OPT],
        "there are no levels; '--fuse' is the whole pipeline",
    ),
    (
        &["O", "O0", "O1", "O2", "O3", "Os", "opt-level"],
        &[],
        "there are no levels: everything is on",
    ),
    (
        &["passes", "pipeline", "pass-list"],
        &[OPT],
        "a pipeline in text is '--pass-pipeline=canonicalize,cse', and each pass is a flag by its name: '--cse'",
    ),
    (
        &["pass", "run-pass"],
        &[OPT],
        "each pass is a flag by its name: '--cse'",
    ),
    (
        &["pass-pipeline", "p", "pipeline", "pass"],
        &[RUN, TRANSLATE],
        "passes before scheduling are '--passes=canonicalize,segment'",
    ),
    (
        &["outputs", "save"],
        &[RUN],
        "'--output=FILE.npz' and '--output-dir=DIR' write the outputs, '--report=json:FILE' a report",
    ),
    (
        &[
            "print-ir",
            "dump-ir",
            "dump",
            "print-ir-all",
            "print-after-all",
            "mlir-print-ir",
        ],
        &[OPT],
        "'--print-ir-after-all' prints the IR after each pass",
    ),
    (
        &["verbose"],
        &[OPT],
        "'--debug' prints what passes say, '--remark-format=text' what they decided",
    ),
    (
        &["why", "cost", "print-cost", "explain-json"],
        &[OPT, RUN],
        "'--explain' says why segments are what they are, '--explain=%a,%b' why two values are apart",
    ),
    (
        &[
            "html",
            "graph",
            "dot",
            "svg",
            "view",
            "view-op-graph",
            "view-cfg",
        ],
        &[OPT, RUN],
        "'--report=html:FILE' writes a page to look at, '--report=svg:FILE' a picture, '--report=dot:FILE' a graph of Graphviz",
    ),
    (
        &["json", "log"],
        &[RUN],
        "'--report=json:FILE' writes bytes, times and the check as data",
    ),
    (
        &["json"],
        &[OPT],
        "'--report=json:FILE' writes segments as data, '--explain=json:FILE' the decisions",
    ),
    (
        &["trace", "timeline"],
        &[RUN],
        "'--report=perfetto:FILE' writes a timeline",
    ),
    (
        &[
            "emit-llvm",
            "llvm",
            "llvm-ir",
            "asm",
            "S",
            "ptx",
            "mlir-to-llvmir",
            "codegen",
        ],
        &[TRANSLATE],
        "'--emit=llvm-ir', '--emit=asm' and '--emit=ptx' say what is written",
    ),
    (
        &[
            "emit-llvm",
            "llvm",
            "llvm-ir",
            "asm",
            "S",
            "ptx",
            "mlir-to-llvmir",
            "codegen",
            "convert-to-llvm",
        ],
        &[OPT, RUN],
        "'fuser-translate --emit=llvm-ir' writes it; there are asm and ptx as well",
    ),
    (
        &["lower"],
        &[OPT],
        "'--lower-to-kernel' makes kernels of sweeps, '--fuse' is the whole pipeline",
    ),
    (
        &["run", "jit", "execute", "entry-point"],
        &[OPT],
        "'fuser-run' runs programs",
    ),
    (
        &["no-fuse", "no-fusion", "disable-fusion", "unfused", "eager"],
        &[RUN],
        "'--passes=canonicalize,cse,decompose,preseg,segment{max-ops=1}' makes each op a kernel",
    ),
    (
        &["no-fuse", "no-fusion", "disable-fusion", "unfused", "eager"],
        &[OPT],
        "'--segment=max-ops=1' makes each op a segment",
    ),
    (
        &["segments", "grouping", "cuts"],
        &[OPT],
        "'--segments-from=FILE' draws the grouping of a file",
    ),
    (
        &["segments-from", "segments", "grouping", "cuts"],
        &[RUN],
        "'fuser-opt --segments-from=FILE' draws the grouping into a program, which fuser-run then runs",
    ),
    (
        &["what-if", "apart", "together", "cut", "cut-at", "boundary"],
        &[OPT],
        "'--compare-segmentations=-,FILE' says what another grouping costs; `fusion.segment_set` is a boundary in the program",
    ),
    (
        &[
            "cut",
            "cut-at",
            "cut-after",
            "split-after",
            "boundary",
            "what-if",
        ],
        &[RUN],
        "`fusion.segment_set` is a boundary in the program; 'fuser-opt --compare-segmentations=-,FILE' says what another grouping costs",
    ),
    (
        &["split-after", "cut-after", "split-at"],
        &[OPT],
        "`fusion.segment_set` is a boundary in the program",
    ),
    (
        &["segment-report"],
        &[RUN],
        "'--report=json:FILE' writes the segments, with times",
    ),
    (
        &[
            "tile",
            "tiles",
            "tile-size",
            "tile-sizes",
            "vector",
            "vector-width",
            "vectorize",
            "unroll",
            "block-size",
            "threads-per-block",
            "num-warps",
            "num-threads-per-block",
        ],
        &[],
        "a schedule is clauses of `task.sweep` in the text: 'fuser-opt FILE --pipeline-to=schedule' writes them, fuser-run takes the edited text",
    ),
    (
        &["batch", "batch-size", "dynamic"],
        &[OPT, RUN, TRANSLATE],
        "lengths of extents are '--shape=B=64', and extents without one may have any",
    ),
    (
        &["warmup", "warm-up"],
        &[RUN],
        "a run that is not timed comes first; '--repeat=N' says how often it is timed",
    ),
    (
        &[
            "dump-kernels",
            "print-kernels",
            "kernels",
            "emit-kernel",
            "emit-ptx",
            "emit-asm",
        ],
        &[OPT, RUN],
        "'fuser-translate --emit=kernel' writes kernels; there are asm and ptx as well",
    ),
    (
        &[
            "to-stablehlo",
            "emit-stablehlo",
            "export-stablehlo",
            "export",
        ],
        &[OPT, RUN],
        "'fuser-translate --export=stablehlo' writes it",
    ),
    (
        &["stablehlo-to-fir", "stablehlo-legalize-to-fusion"],
        &[OPT, RUN],
        "'fuser-translate --import=stablehlo' reads it",
    ),
    (
        &["inline"],
        &[OPT],
        "'--inline-tasks' takes the borders of segments away",
    ),
    (
        &["symbol-dce", "remove-dead-values"],
        &[OPT],
        "'--dce' removes what no result needs",
    ),
    (
        &["print-fusion-decisions", "print-decisions", "explain-why"],
        &[OPT, RUN],
        "'--explain' says why segments are what they are, '--explain=%a,%b' why two values are apart",
    ),
    (
        &["list-targets", "targets"],
        &[OPT],
        "'--print-target' prints the one of '--target=NAME'; docs/targets.md lists names",
    ),
    (
        &["list-ops", "ops", "dialects", "list-dialects"],
        &[OPT],
        "'--show-dialects' prints all ops",
    ),
    (
        &["show-passes", "print-passes"],
        &[OPT],
        "'--list-passes' prints all passes",
    ),
    (
        &["stats", "print-op-stats", "mlir-print-op-stats"],
        &[OPT],
        "'--pass-statistics' prints what each pass counted",
    ),
    (
        &["time", "time-passes"],
        &[OPT],
        "'--timing' says how long each pass took",
    ),
    (
        &["backend", "interp", "interpret", "interpreter", "reference"],
        &[RUN],
        "'--device=cpu', '--device=cuda' and '--device=interp' say where it runs",
    ),
    (
        &["rtol", "atol", "tol", "tolerance"],
        &[RUN],
        "'--check' derives from the ops how far each element may be off",
    ),
    (
        &["arg", "args", "inputs", "data", "feed", "input-dir"],
        &[RUN],
        "'--input=NAME=@x.npy' gives one input, '--input=@DIR' all of a folder",
    ),
    (
        &[
            "entry-point",
            "entry-point-result",
            "entry-function",
            "function",
            "func",
            "f",
            "main",
        ],
        &[RUN],
        "'--entry=NAME' says which program of the module runs",
    ),
    (
        &["print-output", "print-outputs", "show"],
        &[RUN],
        "'--print=%y' prints a result",
    ),
    (
        &[
            "print-ir",
            "dump-ir",
            "dump",
            "print-ir-after-all",
            "print-after-all",
        ],
        &[RUN],
        "'fuser-opt --fuse --print-ir-after-all' prints the IR after each pass",
    ),
    (
        &["v", "verbose", "debug"],
        &[RUN],
        "'--explain' says what is decided, '--timing' how long each stage took",
    ),
    (
        &["sort", "top", "perf", "slowest"],
        &[RUN],
        "'--profile' shows how times spread, and the page of '--report=html:FILE' sorts kernels by time",
    ),
    (
        &["cache"],
        &[RUN],
        "'--cache-dir=DIR' says where compiled code is kept",
    ),
    (
        &["reduction-tree"],
        &[REDUCE],
        "'--test=CMD' is the test: exit status 0 means interesting; '--list-strategies' prints the changes that are tried",
    ),
    (
        &["opt-reduction-pass", "delta-passes", "ir-passes", "passes"],
        &[REDUCE],
        "'--strategies=LIST' says which changes are tried, '--list-strategies' prints them",
    ),
    (
        &[
            "interestingness",
            "interestingness-test",
            "test-script",
            "script",
            "command",
            "cmd",
        ],
        &[REDUCE],
        "'--test=CMD' is the test: exit status 0 means interesting",
    ),
    (
        &["test-arg", "test-args"],
        &[REDUCE],
        "arguments stand in the command, '--test=CMD ARGUMENT %s'",
    ),
    (
        &["j", "jobs", "num-threads", "nthreads", "workers"],
        &[RUN],
        "'--threads=N' says how many work",
    ),
    (
        &["shapes", "sizes", "dims", "dim", "D", "extents"],
        &[OPT, RUN],
        "lengths of extents are '--shape=B=64,S=128'",
    ),
    (
        &[
            "iterations",
            "iters",
            "runs",
            "benchmark",
            "bench",
            "time",
            "n",
        ],
        &[RUN],
        "'--repeat=N' says how often it is timed, '--profile' shows how times spread",
    ),
    (
        &[
            "verify", "compare", "validate", "test", "expect", "expected",
        ],
        &[RUN],
        "'--check' compares with the interpreter",
    ),
    (
        &[
            "from",
            "input-format",
            "import-stablehlo",
            "stablehlo",
            "import-stablehlo-text",
        ],
        &[TRANSLATE],
        "'--import=stablehlo' says what is read",
    ),
    (
        &["to", "format", "output-format"],
        &[TRANSLATE],
        "'--emit=ptx' says what is written, '--export=stablehlo' in the text of another system",
    ),
];

/// The message about `arg`, an unknown flag called `name`; `names` are the flags of `tool`.
pub fn unknown<'a>(
    tool: &str,
    arg: &str,
    name: &str,
    names: impl Iterator<Item = &'a str>,
) -> String {
    let meant = MEANT.iter().find(|(flags, tools, _)| {
        flags.contains(&name) && (tools.is_empty() || tools.contains(&tool))
    });
    // A single letter is near to every other one.
    let names = names.filter(|known| known.len() > 1);
    let near = || nearest(name, names).map(|near| format!("did you mean '--{near}'?"));
    let advice = match meant {
        Some((_, _, advice)) => Some((*advice).to_owned()),
        None => elsewhere(tool, name).or_else(near),
    };
    match advice {
        Some(advice) => format!("unknown flag '{arg}'; {advice}"),
        None => format!("unknown flag '{arg}'"),
    }
}

/// Tells if a tool has a flag of a name.
type HasFlag = fn(&str) -> bool;

/// The tool that has a flag called `name`, if it is not `tool`.
fn elsewhere(tool: &str, name: &str) -> Option<String> {
    let pass = fuser_passes::PASSES
        .iter()
        .any(|pass| pass.name == name && !pass.hidden);
    if pass && matches!(tool, RUN | TRANSLATE) {
        return Some(format!(
            "it is a pass: 'fuser-opt --{name}' runs it, '--passes' lists passes that run instead of the usual ones"
        ));
    }
    let tools: [(&str, HasFlag); 4] = [
        (OPT, |name| crate::driver::flags::find(name).is_some()),
        (RUN, crate::run::args::has),
        (TRANSLATE, crate::translate::has),
        (REDUCE, crate::reduce::args::has),
    ];
    let mut others = tools
        .iter()
        .filter(|(other, has)| *other != tool && has(name));
    let (other, _) = others.next()?;
    Some(match tool {
        REDUCE => format!("it is one of {other}: a test runs it, --test='{other} --{name} %s'"),
        _ => format!("it is one of {other}"),
    })
}

/// The end of a message on `value`, which is not of the form `FORM:FILE`: the form that the file's name ends in.
pub fn meant_form<'a>(value: &str, mut forms: impl Iterator<Item = &'a str>) -> String {
    let ending = value.rsplit_once('.').map(|(_, ending)| ending);
    let form = ending.filter(|ending| forms.any(|form| form == *ending));
    form.map_or(String::new(), |form| {
        format!("; did you mean '{form}:{value}'?")
    })
}

/// A mistake in the file of a report, `FORM:FILE`: more files of these forms behind it.
pub fn one_file<'a>(path: &str, mut forms: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let more = |form: &str| path.split_once(&format!(",{form}:")).is_some();
    match forms.any(more) {
        true => Err(
            "each file has a flag of its own: '--report=html:a.html --report=json:b.json'".into(),
        ),
        false => Ok(()),
    }
}

/// The state that a switch is set to.
pub fn switch(value: &str) -> Option<bool> {
    match value {
        "true" | "1" | "on" | "yes" | "True" => Some(true),
        "false" | "0" | "off" | "no" | "False" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_others_and_from_elsewhere() {
        let told = |tool, name: &str| {
            unknown(
                tool,
                &format!("--{name}"),
                name,
                ["cpu", "check"].into_iter(),
            )
        };
        assert_eq!(
            told(RUN, "gpu"),
            "unknown flag '--gpu'; '--device=cuda' runs on a GPU"
        );
        assert_eq!(
            told(RUN, "emit"),
            "unknown flag '--emit'; it is one of fuser-translate"
        );
        assert_eq!(
            told(REDUCE, "check"),
            "unknown flag '--check'; it is one of fuser-run: a test runs it, --test='fuser-run --check %s'"
        );
        assert_eq!(
            told(OPT, "check"),
            "unknown flag '--check'; it is one of fuser-run"
        );
        assert!(told(RUN, "segment").contains("it is a pass"));
        assert_eq!(
            told(RUN, "chek"),
            "unknown flag '--chek'; did you mean '--check'?"
        );
        assert_eq!(told(RUN, "zzzzzz"), "unknown flag '--zzzzzz'");
        let letters = unknown(RUN, "--B=4", "B", ["e", "o"].into_iter());
        assert_eq!(letters, "unknown flag '--B=4'");
    }

    /// True if `tool` has a flag called `name`, a pass included.
    fn has(tool: &str, name: &str) -> bool {
        let passes = || fuser_passes::PASSES.iter().map(|pass| pass.name);
        let pipelines = || fuser_passes::PIPELINES.iter().map(|all| all.name);
        match tool {
            OPT => {
                let runs = passes().chain(pipelines()).any(|known| known == name);
                runs || crate::driver::flags::find(name).is_some()
            }
            RUN => crate::run::args::has(name),
            TRANSLATE => crate::translate::has(name),
            _ => crate::reduce::args::has(name),
        }
    }

    #[test]
    fn advice_is_about_flags_that_the_tools_lack() {
        for (names, tools, _) in MEANT {
            for (name, tool) in names.iter().flat_map(|n| tools.iter().map(move |t| (n, t))) {
                assert!(!has(tool, name), "{tool} {name}");
            }
        }
    }

    #[test]
    fn advice_names_flags_that_there_are() {
        let mut named = 0;
        for (_, tools, advice) in MEANT {
            for quoted in advice.split('\'').skip(1).step_by(2) {
                let mut words = quoted.split_whitespace().peekable();
                let other = words.next_if(|word| word.starts_with("fuser-"));
                let flags = words.filter_map(|word| word.strip_prefix("--"));
                for flag in flags.filter_map(|flag| flag.split('=').next()) {
                    named += 1;
                    let of = if other.is_some() {
                        other.as_slice()
                    } else {
                        tools
                    };
                    assert!(
                        of.iter().all(|tool| has(tool, flag)),
                        "'{quoted}' in: {advice}"
                    );
                }
            }
        }
        assert!(named > 40, "{named} flags were looked up");
    }
}
