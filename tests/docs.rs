//! The documentation's examples, run: every snippet and every command of `README.md` and `docs/`.
//!
//! | fence | what happens |
//! |---|---|
//! | `fir` | `fuser-opt` parses and verifies it |
//! | `fir,error` | `fuser-opt` refuses it, with exit status 1 |
//! | `fir,file=NAME` | as `fir`, and commands further down find it as `NAME` |
//! | `toml,file=NAME` | commands further down find it as `NAME` |
//! | `console` | each `$ command` runs and succeeds; output that is shown must be its output |
//! | `console,error` | as `console`, and each command fails |
//! | `text`, `rust`, `json`, `toml`, `python` | shown only |
//!
//! Any other fence is a failure, so that nothing is passed over in silence. In shown output `...` stands for anything: within a line
//! for any text, as a line of its own for any lines. A command that is not one of the binaries under test must be in [`NOT_RUN`] or
//! be a script of the repository, which must then exist; those are too big to run here, and `scripts/test.sh` runs some of them.
//!
//! The commands of one file run in order in one folder of their own, which has the repository's `examples`, `lit-tests` and `tests`.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};

use libtest_mimic::{Arguments, Failed, Trial};
use regex::Regex;

/// Plain tools that commands of the documentation may begin with, beside ours: they look at what ours wrote and change it.
const PLAIN: &[&str] = &["cat", "cp", "grep", "ls", "sed"];

const SHOWN_ONLY: [&str; 5] = ["text", "rust", "json", "toml", "python"];
const NOT_RUN: [&str; 8] = [
    "cargo ", "lit-22 ", "git ", "cd ", "apt-get ", "dpkg ", "docker ", "tar ",
];

/// Seconds for one command, in a debug build on two cores.
const TIME_LIMIT: &str = "300";

/// The exit status of a refused input.
const REFUSED: i32 = 1;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut trials: Vec<Trial> = documents(root).into_iter().map(document_trial).collect();
    trials.push(Trial::test("self-test", self_test));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// `README.md` and every `.md` under `docs/`, relative to `root`, sorted.
fn documents(root: &Path) -> Vec<String> {
    let mut documents = vec!["README.md".to_owned()];
    let mut pending = vec![root.join("docs")];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let relative = path.strip_prefix(root).unwrap_or(&path);
                documents.push(relative.display().to_string());
            }
        }
    }
    documents.sort();
    documents
}

fn document_trial(document: String) -> Trial {
    Trial::test(document.clone(), move || {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let text = fs::read_to_string(root.join(&document))?;
        let folder = Folder::make(root, &document)?;
        report(&document, &folder.check(&text))
    })
}

fn report(document: &str, problems: &[Problem]) -> Result<(), Failed> {
    if problems.is_empty() {
        return Ok(());
    }
    let lines = problems
        .iter()
        .map(|p| format!("{document}:{}: {}", p.line, p.what));
    Err(lines.collect::<Vec<_>>().join("\n\n").into())
}

// --- Markdown -----------------------------------------------------------------------------------------------------------------------

/// A fenced block: its first line is `line`, its fence says `info`.
struct Block {
    line: usize,
    info: String,
    text: String,
}

struct Problem {
    line: usize,
    what: String,
}

impl Problem {
    fn new(line: usize, what: impl Into<String>) -> Self {
        let what = what.into();
        Self { line, what }
    }
}

fn blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (line, number) in document.lines().zip(1..) {
        let fence = line.trim_start().strip_prefix("```");
        match (&mut open, fence) {
            (None, Some(info)) => {
                open = Some(Block {
                    line: number + 1,
                    info: info.trim().to_owned(),
                    text: String::new(),
                });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    blocks.extend(open);
    blocks
}

/// A command of a `console` block and the output that is shown for it.
struct Shown {
    line: usize,
    command: String,
    output: String,
}

fn shown_commands(block: &Block) -> Result<Vec<Shown>, Problem> {
    let mut shown: Vec<Shown> = Vec::new();
    for (line, number) in block.text.lines().zip(block.line..) {
        if let Some(command) = line.strip_prefix("$ ") {
            shown.push(Shown {
                line: number,
                command: command.to_owned(),
                output: String::new(),
            });
            continue;
        }
        let last = shown.last_mut();
        let last =
            last.ok_or_else(|| Problem::new(number, "output before the first `$ command`"))?;
        if last.output.is_empty() && last.command.ends_with('\\') {
            last.command.push('\n');
            last.command.push_str(line);
        } else {
            last.output.push_str(line);
            last.output.push('\n');
        }
    }
    Ok(shown)
}

/// True if `actual` matches the text `shown`. White space at the ends of lines does not count.
fn matches(shown: &str, actual: &str) -> bool {
    let pattern: String = shown.trim_end().lines().map(line_pattern).collect();
    let actual: String = actual
        .trim_end()
        .lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect();
    let pattern = Regex::new(&format!("\\A{pattern}\\z"));
    pattern.is_ok_and(|pattern| pattern.is_match(&actual))
}

fn line_pattern(line: &str) -> String {
    match line.trim() {
        "..." => "(?:.*\n)*".to_owned(),
        _ => regex::escape(line.trim_end()).replace(r"\.\.\.", ".*") + "\n",
    }
}

// --- running ------------------------------------------------------------------------------------------------------------------------

/// The folder in which the commands of one document run.
struct Folder {
    root: PathBuf,
    path: PathBuf,
}

impl Folder {
    fn make(root: &Path, document: &str) -> Result<Self, Failed> {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join("docs")
            .join(document);
        if path.exists() {
            fs::remove_dir_all(&path)?;
        }
        fs::create_dir_all(&path)?;
        for shared in ["examples", "lit-tests", "tests"] {
            symlink(root.join(shared), path.join(shared))?;
        }
        let root = root.to_path_buf();
        Ok(Self { root, path })
    }

    fn check(&self, document: &str) -> Vec<Problem> {
        let blocks = blocks(document);
        blocks
            .iter()
            .flat_map(|block| self.check_block(block))
            .collect()
    }

    fn check_block(&self, block: &Block) -> Vec<Problem> {
        let (kind, option) = block.info.split_once(',').unwrap_or((&block.info, ""));
        match (kind, option.strip_prefix("file="), option) {
            ("fir", None, "") => self.check_snippet(block, 0),
            ("fir", None, "error") => self.check_snippet(block, REFUSED),
            ("fir", Some(name), _) => {
                let mut problems = self.keep(block, name);
                problems.extend(self.check_snippet(block, 0));
                problems
            }
            ("toml", Some(name), _) => self.keep(block, name),
            ("console", None, "" | "error") => self.check_commands(block, option == "error"),
            _ if SHOWN_ONLY.contains(&block.info.as_str()) => vec![],
            _ => vec![Problem::new(
                block.line,
                format!("the fence `{}` is not known to tests/docs.rs", block.info),
            )],
        }
    }

    fn keep(&self, block: &Block, name: &str) -> Vec<Problem> {
        match fs::write(self.path.join(name), &block.text) {
            Ok(()) => vec![],
            Err(error) => vec![Problem::new(block.line, format!("{name}: {error}"))],
        }
    }

    fn check_snippet(&self, block: &Block, expected: i32) -> Vec<Problem> {
        let output = self.bash("fuser-opt - -o /dev/null", &block.text);
        match output.status.code() {
            Some(code) if code == expected => vec![],
            _ => vec![Problem::new(
                block.line,
                format!(
                    "fuser-opt: {}, expected {expected}\n{}",
                    output.status,
                    text(&output)
                ),
            )],
        }
    }

    fn check_commands(&self, block: &Block, fails: bool) -> Vec<Problem> {
        match shown_commands(block) {
            Ok(commands) => commands
                .iter()
                .filter_map(|shown| self.check_command(shown, fails).err())
                .collect(),
            Err(problem) => vec![problem],
        }
    }

    fn check_command(&self, shown: &Shown, fails: bool) -> Result<(), Problem> {
        let problem = |what: String| Err(Problem::new(shown.line, what));
        if let Some(script) = shown.command.strip_prefix("./") {
            let script = script.split_whitespace().next().unwrap_or_default();
            return match is_executable(&self.root.join(script)) {
                true => Ok(()),
                false => problem(format!("there is no script {script}")),
            };
        }
        if NOT_RUN
            .iter()
            .any(|prefix| shown.command.starts_with(prefix))
        {
            return Ok(());
        }
        let first = shown.command.split_whitespace().next().unwrap_or_default();
        if !first.starts_with("fuser-") && !PLAIN.contains(&first) {
            return problem(format!(
                "`{}` is not a command that tests/docs.rs knows",
                shown.command
            ));
        }
        let output = self.bash(&shown.command, "");
        if output.status.success() == fails {
            return problem(format!(
                "`{}`: {}\n{}",
                shown.command,
                output.status,
                text(&output)
            ));
        }
        match shown.output.is_empty() || matches(&shown.output, &text(&output)) {
            true => Ok(()),
            false => problem(format!("`{}` prints\n{}", shown.command, text(&output))),
        }
    }

    /// Runs `command` with the binaries under test on `PATH`, both streams in one.
    fn bash(&self, command: &str, input: &str) -> Output {
        let binaries = Path::new(env!("CARGO_BIN_EXE_fuser-opt")).parent().unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        let mut child = Command::new("timeout")
            .args([
                TIME_LIMIT,
                "bash",
                "-c",
                &format!("exec 2>&1; set -o pipefail; {command}"),
            ])
            .current_dir(&self.path)
            .env("PATH", format!("{}:{path}", binaries.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("bash and timeout");
        // A command that does not read its input may be gone before all of it is written.
        let _ = child
            .stdin
            .take()
            .map(|mut stdin| stdin.write_all(input.as_bytes()));
        child.wait_with_output().expect("the command's output")
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

// --- the test's own test ------------------------------------------------------------------------------------------------------------

/// A document with every kind of mistake; the lines of the mistakes are found, and no others.
fn self_test() -> Result<(), Failed> {
    let document = "\
```
bare
```
```mlir
unknown
```
```text
fine
```
```console
output first
```
```console
$ no-such-command
$ ./scripts/test.sh
$ ./scripts/no-such-script.sh
$ fuser-no-such-tool
```
```console,error
$ fuser-no-such-tool
...no-such-tool: ... not found
$ fuser-no-such-tool
something else
```
";
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let problems = Folder::make(root, "self-test")?.check(document);
    let lines: Vec<usize> = problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [2, 5, 11, 14, 16, 17, 22]);
    assert!(matches("a\n...\nz...z\n", "a \nb\nc\nz 1 z\n"));
    assert!(!matches("a\nz\n", "a\nb\nz\n"));
    Ok(())
}
