//! Files that are no files, that are one, or that cannot be written: nothing hangs, nothing is lost, nothing is left behind.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Seconds after which a command hangs.
const SECONDS: &str = "60";

const PROGRAM: &str = "task.program @f(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %y = fusion.exp %x
  task.return %y
}
";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.fir"), PROGRAM).unwrap();
    folder
}

/// Runs a line of the shell, in which `OPT`, `RUN`, `TRANSLATE` and `REDUCE` are the tools.
fn shell(folder: &TempDir, line: &str) -> Output {
    let tools = [
        ("OPT", env!("CARGO_BIN_EXE_fuser-opt")),
        ("RUN", env!("CARGO_BIN_EXE_fuser-run")),
        ("TRANSLATE", env!("CARGO_BIN_EXE_fuser-translate")),
        ("REDUCE", env!("CARGO_BIN_EXE_fuser-reduce")),
    ];
    let line = tools.iter().fold(line.to_owned(), |line, (word, tool)| {
        line.replace(word, tool)
    });
    let mut command = Command::new("timeout");
    command
        .args([SECONDS, "bash", "-c", &line])
        .env("NO_COLOR", "1");
    command
        .env("FUSER_CACHE_DIR", "")
        .current_dir(folder.path());
    command.output().unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut names: Vec<String> = entries
        .map(|e| e.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn results_do_not_take_each_other_s_place() {
    let lines = [
        (
            "OPT x.fir --segment -o a --segment-report=a",
            "-o and --segment-report would be written to one file",
        ),
        (
            "OPT x.fir --segment -o a --segment-report=d/../a",
            "-o and --segment-report would be written to one file",
        ),
        (
            "OPT x.fir --segment -o hard --segment-report=old",
            "-o and --segment-report would be written to one file",
        ),
        (
            "OPT x.fir --segment -o soft --explain=json:old",
            "-o and --explain would be written to one file",
        ),
        (
            "OPT x.fir --segment -o a --timing-trace=a",
            "-o and --timing-trace would be written to one file",
        ),
        (
            "OPT x.fir --segment -o a --remarks-output-file=./a",
            "-o and --remarks-output-file would be written to one file",
        ),
        (
            "OPT x.fir --segment --segment-report=x.fir",
            "--segment-report would overwrite the program, which is read",
        ),
        (
            "OPT --segment --segment-report x.fir",
            "--segment-report would overwrite 'x.fir', which is a program by its name",
        ),
        (
            "OPT x.fir --segments-from=old -o old",
            "-o would overwrite --segments-from, which is read",
        ),
        (
            "RUN x.fir --report=json:x.fir",
            "--report would overwrite the program, which is read",
        ),
        (
            "RUN x.fir --output-dir d --report=json:d/y.npy",
            "--report and output `y` would be written to one file",
        ),
        (
            "RUN x.fir --output-dir d --input x=@d/y.npy",
            "output `y` would overwrite input `x`, which is read",
        ),
        (
            "TRANSLATE x.fir -o x.fir",
            "-o would overwrite the program, which is read",
        ),
        (
            "REDUCE x.fir -o x.fir --test true",
            "-o would overwrite the program, which is read",
        ),
    ];
    for (line, told) in lines {
        let folder = folder();
        let at = folder.path();
        fs::create_dir(at.join("d")).unwrap();
        fs::write(at.join("old"), "old").unwrap();
        fs::hard_link(at.join("old"), at.join("hard")).unwrap();
        std::os::unix::fs::symlink("old", at.join("soft")).unwrap();
        if line.contains("=@") {
            let done = shell(&folder, "RUN x.fir --output-dir d --repeat 1");
            assert!(done.status.success(), "{done:?}");
        }
        let before = names(at);
        let done = shell(&folder, line);
        let text = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(
            !done.status.success() && text.contains(told),
            "{line}: {text}"
        );
        assert_eq!(names(at), before, "{line}");
        assert_eq!(
            fs::read_to_string(at.join("x.fir")).unwrap(),
            PROGRAM,
            "{line}"
        );
        assert_eq!(fs::read_to_string(at.join("old")).unwrap(), "old", "{line}");
    }
}

#[test]
fn a_program_may_be_written_in_its_own_place() {
    let folder = folder();
    let done = shell(
        &folder,
        "OPT x.fir --cse -o x.fir && OPT x.fir --segment --segment-report=/dev/null -o /dev/null",
    );
    assert!(done.status.success(), "{done:?}");
    assert!(
        fs::read_to_string(folder.path().join("x.fir"))
            .unwrap()
            .starts_with("module {")
    );
}

#[test]
fn a_file_that_grows_too_large_is_an_error_and_leaves_nothing() {
    let lines = [
        "ulimit -f 4; RUN x.fir --output-dir out --repeat 1",
        "ulimit -f 1; TRANSLATE x.fir --emit=artifact -o a.json",
        "ulimit -f 0; OPT x.fir -o y.fir",
    ];
    for line in lines {
        let folder = folder();
        let done = shell(&folder, line);
        let text = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(1), "{line}: {text}");
        assert!(
            text.contains("cannot write '") && text.contains("os error 27"),
            "{line}: {text}"
        );
        let left = names(folder.path());
        assert!(
            left == ["x.fir"] || left == ["out", "x.fir"],
            "{line}: {left:?}"
        );
        if left.len() == 2 {
            assert!(names(&folder.path().join("out")).is_empty(), "{line}");
        }
    }
}

#[test]
fn folders_of_others_stay() {
    let folder = folder();
    let at = folder.path();
    fs::create_dir(at.join(".fuser-abcdef.tmp")).unwrap();
    fs::write(at.join(".fuser-abcdef.tmp/thesis.tex"), "\\end").unwrap();
    fs::write(at.join(".fuser-ghijkl.tmp"), "notes").unwrap();
    let done = shell(
        &folder,
        "OPT x.fir -o y.fir && RUN x.fir --output-dir . --repeat 1",
    );
    assert!(done.status.success(), "{done:?}");
    let all = [
        ".fuser-abcdef.tmp",
        ".fuser-ghijkl.tmp",
        "x.fir",
        "y.fir",
        "y.npy",
    ];
    assert_eq!(names(at), all);
    assert_eq!(names(&at.join(".fuser-abcdef.tmp")), ["thesis.tex"]);
}

#[test]
fn what_never_ends_is_told_before_it_runs() {
    let huge = "task.program @f(%x: f32) -> tensor<f32> {
  %b = fusion.broadcast %x dims [] shape [4611686018427387904]
  %s = fusion.sum %b dims [0]
  task.return %s
}
";
    let named = huge
        .replace("%x: f32", "%n: tensor<[N]xf32>, %x: f32")
        .replace("4611686018427387904", "[N], 4294967296, 1048576")
        .replace("dims [0]", "dims [0, 1, 2]");
    let folder = folder();
    fs::write(folder.path().join("huge.fir"), huge).unwrap();
    fs::write(folder.path().join("named.fir"), named).unwrap();
    for line in [
        "RUN huge.fir",
        "RUN huge.fir --device=interp",
        "RUN huge.fir --check",
        "RUN named.fir --shape N=3",
        "RUN x.fir --limit-operations=4095",
    ] {
        let done = shell(&folder, line);
        let text = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(1), "{line}: {text}");
        let parts = [
            "[FIR1009] the program needs ",
            " element operations, the limit is ",
            "`--limit-operations=N` of fuser-run sets the limit",
        ];
        assert!(
            parts.iter().all(|part| text.contains(part)),
            "{line}: {text}"
        );
    }
    let done = shell(
        &folder,
        "RUN named.fir --shape N=0 --repeat 1 && RUN x.fir --limit-operations=4096 --repeat 1",
    );
    assert!(done.status.success(), "{done:?}");
}

#[test]
fn a_pipe_in_the_cache_is_no_entry() {
    let folder = folder();
    let line = "RUN x.fir --cache-dir c --repeat 1 && for f in c/*.kernel; do rm $f; mkfifo $f; done \
                && RUN x.fir --cache-dir c --repeat 1 && for f in c/*.kernel; do ln -sf /dev/zero $f; done \
                && RUN x.fir --cache-dir c --repeat 1";
    let done = shell(&folder, line);
    assert!(done.status.success(), "{done:?}");
}
