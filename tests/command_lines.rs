//! Random command lines: a tool does as told or reports a mistake, and ends.
//!
//! Flags are those of each tool's help, with values that fit none, one or many of them. A line may end with 0, 1 or 2; an
//! internal error, a signal, silence at a mistake and a run without end fail the test, which names the line.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fuser_testing::Random;

const TOOLS: [&str; 4] = [
    env!("CARGO_BIN_EXE_fuser-opt"),
    env!("CARGO_BIN_EXE_fuser-run"),
    env!("CARGO_BIN_EXE_fuser-translate"),
    env!("CARGO_BIN_EXE_fuser-reduce"),
];
/// Lines for each tool.
const LINES: u64 = 100;
/// None takes a second.
const LONGEST: Duration = Duration::from_secs(120);

const VALUES: [&str; 33] = [
    "",
    "0",
    "1",
    "-1",
    "99999999999999999999",
    "true",
    "off",
    "json",
    "json:-",
    "-",
    "/dev/null",
    "none/x",
    "%a,%b",
    "%d",
    "B=3",
    "B=",
    "=",
    "a=b c=d",
    "{",
    "{}",
    "builtin.module(",
    "builtin.module(cse)",
    "segment{",
    "segment{max-sweeps=0}",
    "é",
    "%",
    "[",
    "(",
    "yaml",
    "text",
    "sm_80",
    "cpu",
    "NaN",
];
const FILES: [&str; 5] = ["good.fir", "bad.fir", "-", "none.fir", "."];

const GOOD: &str = "\
task.program @f(%x: tensor<8x16xf32>, %y: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8xf32>) {
  %a = fusion.add %x, %y
  %b = fusion.add %x, %y
  %c = fusion.exp %a
  %d = fusion.mul %c, %b
  %s = fusion.sum %d dims [1]
  task.return %d, %s
}
task.program @g(%x: tensor<[B]xf32>) -> tensor<[B]xf32> {
  %y = fusion.neg %x
  task.return %y
}
";
const BAD: &str = "task.program @f(%x: tensor<4xf32>) { %y = fusion.exp %z ";

/// The words of `text` that look like flags, and the passes that it lists.
fn flags(tool: &str) -> Vec<String> {
    let told = |flag: &str| {
        let output = Command::new(tool).arg(flag).output().expect("a tool");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let mut text = told("--help");
    let mut flags: Vec<String> = Vec::new();
    if tool.ends_with("fuser-opt") {
        text = told("--help-hidden");
        let passes = told("--list-passes");
        let names = passes.lines().filter_map(|l| l.split_whitespace().next());
        let named = |name: &&str| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
        // Those for tests misbehave on request.
        let ours = names.filter(named).filter(|n| !n.starts_with("test-"));
        flags.extend(ours.map(|name| format!("--{name}")));
    }
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    let words = words.filter(|w| w.starts_with('-') && w.len() > 1 && !w.contains("test-"));
    flags.extend(words.map(str::to_owned));
    flags.sort();
    flags.dedup();
    flags
}

fn line(random: &mut Random, flags: &[String]) -> Vec<String> {
    let mut line = Vec::new();
    for _ in 0..random.below(5) {
        let flag = flags[random.below(flags.len())].clone();
        match random.below(5) {
            0 | 1 => line.push(format!("{flag}={}", random.one(&VALUES))),
            2 => line.extend([flag, random.one(&VALUES).to_owned()]),
            _ => line.push(flag),
        }
    }
    for _ in 0..random.one(&[0, 1, 1, 1, 1, 2]) {
        let place = random.below(line.len() + 1);
        line.insert(place, random.one(&FILES).to_owned());
    }
    line
}

/// The tool's exit code, or what is wrong with how it took the line.
fn taken(tool: &str, line: &[String], folder: &Path) -> Result<usize, String> {
    let file = |name: &str| File::create(folder.join(name)).expect("a file");
    let mut child = Command::new(tool)
        .args(line)
        .current_dir(folder)
        .env("TMPDIR", folder)
        .stdin(Stdio::null())
        .stdout(file("stdout"))
        .stderr(file("stderr"))
        .spawn()
        .expect("a tool");
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if start.elapsed() > LONGEST {
            child.kill().expect("a child");
            return Err("does not end".into());
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let read = |name: &str| std::fs::read(folder.join(name)).expect("a file");
    let (out, said) = (read("stdout"), read("stderr"));
    let said = String::from_utf8_lossy(&said);
    let silent = said.is_empty();
    match status.code() {
        _ if said.contains("internal error") => Err(said.into()),
        Some(0) => Ok(0),
        Some(1) if !(out.is_empty() && silent) => Ok(1),
        Some(2) if !silent => Ok(2),
        _ => Err(format!("{status}: {said}")),
    }
}

#[test]
fn any_command_line_ends_in_order() {
    std::thread::scope(|scope| {
        for (tool, number) in TOOLS.iter().zip(1..) {
            scope.spawn(move || {
                let folder = tempfile::tempdir().expect("a folder");
                let flags = flags(tool);
                assert!(flags.len() > 5, "{flags:?}");
                // Numbers with which each tool ends in each way.
                let mut random = Random(number + 10);
                let mut ends = [0; 3];
                for _ in 0..LINES {
                    for (name, text) in [("good.fir", GOOD), ("bad.fir", BAD)] {
                        std::fs::write(folder.path().join(name), text).expect("a file");
                    }
                    let line = line(&mut random, &flags);
                    match taken(tool, &line, folder.path()) {
                        Ok(code) => ends[code] += 1,
                        Err(fault) => panic!("{tool} {line:?}: {fault}"),
                    }
                }
                assert!(ends.iter().all(|&count| count > 0), "{tool}: {ends:?}");
                println!("count: {LINES} random command lines");
            });
        }
    });
}
