//! Every example that `fuser-opt explain` shows as a command gives the diagnostic that it explains.
//!
//! An example whose first line is `$ COMMAND` is run in a folder of its own; the lines below it are the file `x.fir`. Examples
//! without a command are programs that the parser or the verifier refuses: the tests of the dialects give those to it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Codes of tools and passes for which there is nothing to type, and why.
const NO_COMMAND: &[(&str, &str)] = &[
    (
        "FIR0655",
        "a panic of parser, verifier or printer: no text is known that makes one, and one that is found is mended",
    ),
    (
        "FIR0813",
        "all that it checks the verifier has checked (FIR0501 parameters, FIR0221 blocks), and it comes first in each tool; \
         kernels that were built without it, as in tests of code generation, meet it",
    ),
    (
        "FIR0817",
        "LLVM refuses what code generation made of a kernel that it had checked: no such kernel is known",
    ),
    (
        "FIR0818",
        "LLVM is not installed: then every program that is compiled meets it, and here it is",
    ),
];

/// Codes below this are given by texts alone, as are those of limits.
const FIRST_OF_TOOLS: &str = "FIR0600";
const LIMITS: std::ops::Range<&str> = "FIR0900".."FIR0950";

fn bin(name: &str) -> PathBuf {
    let path = match name {
        "fuser-opt" => env!("CARGO_BIN_EXE_fuser-opt"),
        _ => env!("CARGO_BIN_EXE_fuser-run"),
    };
    PathBuf::from(path)
}

fn run(folder: &Path, command: &str) -> Output {
    let tools = bin("fuser-opt");
    let tools = tools.parent().unwrap_or(Path::new(".")).display();
    Command::new("sh")
        .args(["-c", &format!("PATH='{tools}':$PATH; {command}")])
        .current_dir(folder)
        .env("TMPDIR", folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn explain(code: &str) -> String {
    let output = Command::new(bin("fuser-opt"))
        .args(["explain", code])
        .output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}

/// All codes, from the list that `explain` prints.
fn codes() -> Vec<String> {
    let output = Command::new(bin("fuser-opt")).arg("explain").output();
    let list = String::from_utf8(output.unwrap().stdout).unwrap();
    let code = |line: &str| line.split_whitespace().next().map(str::to_owned);
    list.lines().filter_map(code).collect()
}

/// The example that `explain` shows.
fn example(code: &str) -> Option<String> {
    let text = explain(code);
    let (_, example) = text.split_once("Example:\n\n")?;
    let lines = example.lines().map(|l| l.strip_prefix("    ").unwrap_or(l));
    Some(lines.collect::<Vec<_>>().join("\n") + "\n")
}

#[test]
fn each_command_gives_the_code_that_it_explains() {
    let root = tempfile::tempdir().unwrap();
    let mut wrong = String::new();
    let mut ran = 0;
    for code in codes() {
        if code.as_str() < FIRST_OF_TOOLS || LIMITS.contains(&code.as_str()) {
            continue;
        }
        let exempt = NO_COMMAND.iter().any(|(c, _)| *c == code);
        let command = example(&code).filter(|e| e.starts_with("$ "));
        let Some(command) = command else {
            if !exempt {
                wrong += &format!("{code} has no example that can be typed\n");
            }
            continue;
        };
        if exempt {
            wrong += &format!("{code} is listed without a command and has one\n");
        }
        let (command, file) = command.split_once('\n').unwrap();
        let folder = root.path().join(&code);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("x.fir"), file).unwrap();
        let output = run(&folder, &command[2..]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if !said.contains(&format!("[{code}]")) {
            wrong += &format!("{code}: {command}\n{file}\nsays:\n{said}\n");
        }
        ran += 1;
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(ran > 20, "{ran} examples ran");
}

/// The page of all codes: a table, and what `explain` prints of each.
fn page() -> String {
    let mut page = String::from(
        "# Error codes\n\n\
         <!-- Written from the tables of codes; `FUSER_UPDATE_DOCS=1 cargo test -p fuser --test main codes` writes it anew. -->\n\n\
         Each diagnostic has a code. `fuser-opt explain CODE` prints what stands here, and `fuser-opt explain` the list.\n\n\
         | code | |\n|---|---|\n",
    );
    let mut sections = String::new();
    for code in codes() {
        let text = explain(&code);
        let (title, rest) = text.split_once("\n\n").unwrap();
        let title = title.trim_start_matches(&code).trim_start_matches(": ");
        let shown = title.replace('|', "\\|").replace('<', "\\<");
        page += &format!("| [{code}](#{}) | {shown} |\n", code.to_lowercase());
        let (explanation, example) = rest.split_once("\nExample:\n\n").unwrap_or((rest, ""));
        sections += &format!("\n## {code}\n\n**{shown}.** {}\n", explanation.trim_end());
        if !example.is_empty() {
            let lines = example.lines().map(|l| l.strip_prefix("    ").unwrap_or(l));
            let example = lines.collect::<Vec<_>>().join("\n");
            sections += &format!("\n```text\n{}\n```\n", example.trim_end());
        }
    }
    page + &sections
}

/// The codes of code generation are part of the page: a build without it has no page to compare.
#[test]
#[cfg(feature = "codegen")]
fn the_page_is_what_explain_prints() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/codes.md");
    let page = page();
    if std::env::var_os("FUSER_UPDATE_DOCS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let same = fs::read_to_string(&path).is_ok_and(|kept| kept == page);
    assert!(same, "{}: run with FUSER_UPDATE_DOCS=1", path.display());
}
