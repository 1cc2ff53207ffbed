//! Every example that `fuser-opt explain` shows as a command gives the diagnostic that it explains.
//!
//! An example whose first line is `$ COMMAND` is run in a folder of its own; the lines below it are the file `x.fir`. Examples
//! without a command are programs that the parser or the verifier refuses: the tests of the dialects give those to it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Codes of tools and passes for which there is nothing to type, and why.
const NO_COMMAND: &[(&str, &str)] = &[
    ("FIR0655", "a bug outside of passes"),
    ("FIR0699", "a bug"),
    (
        "FIR0812",
        "what nothing uses is left out; tests of code generation build it",
    ),
    (
        "FIR0813",
        "the verifier finds it first; tests of code generation build it",
    ),
    (
        "FIR0814",
        "the verifier finds it first; tests of code generation build it",
    ),
    ("FIR0817", "a bug of code generation"),
    ("FIR1004", "whether there is a GPU depends on the machine"),
    ("FIR1006", "no verified program does it"),
    ("FIR1007", "no artifact that we make does it"),
    (
        "FIR1011",
        "takes a folder that was edited; tests of split programs do",
    ),
    (
        "FIR1012",
        "takes a folder that was edited; tests of split programs do",
    ),
    (
        "FIR1013",
        "takes a folder that was edited; tests of split programs do",
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
