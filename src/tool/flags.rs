//! Flags that a tool does not have: the intended flag, and the tools that have it.

use fuser_ir::suggest::nearest;

/// A flag that people try, the tools to which the advice is for (all, where the list is empty), and the advice.
type Row = (
    &'static [&'static str],
    &'static [&'static str],
    &'static str,
);

const OPT: &str = "fuser-opt";
const RUN: &str = "fuser-run";
const TRANSLATE: &str = "fuser-translate";

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
        &["j", "jobs", "num-threads", "nthreads", "workers"],
        &[RUN],
        "'--threads=N' says how many work",
    ),
    (
        &["shapes", "sizes", "dims", "extents"],
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
        &["verify", "compare", "validate", "test"],
        &[RUN],
        "'--check' compares with the interpreter",
    ),
    (
        &["from", "input-format"],
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
        ("fuser-reduce", crate::reduce::args::has),
    ];
    let mut others = tools
        .iter()
        .filter(|(other, has)| *other != tool && has(name));
    let (other, _) = others.next()?;
    Some(format!("it is one of {other}"))
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
            told(OPT, "check"),
            "unknown flag '--check'; it is one of fuser-run"
        );
        assert!(told(RUN, "segment").contains("it is a pass"));
        assert_eq!(
            told(RUN, "chek"),
            "unknown flag '--chek'; did you mean '--check'?"
        );
        assert_eq!(told(RUN, "zzzzzz"), "unknown flag '--zzzzzz'");
    }

    #[test]
    fn advice_is_about_flags_that_the_tools_lack() {
        for (names, tools, _) in MEANT {
            for name in names.iter() {
                for tool in tools.iter() {
                    let has = match *tool {
                        OPT => crate::driver::flags::find(name).is_some(),
                        RUN => crate::run::args::has(name),
                        _ => crate::translate::has(name),
                    };
                    assert!(!has, "{tool} {name}");
                }
            }
        }
    }
}
