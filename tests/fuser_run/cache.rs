//! The cache of compiled kernels and artifacts, between processes.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use super::folder;

const COMMAND: &str =
    "x.fir --shape B=5 --input n=iota --repeat 1 --output-dir out --report json:r.json --cache-dir";

/// A run with the cache in `cache`: its output, the part that the cache had, and the bytes of the first result.
fn run(folder: &TempDir, cache: &str) -> (Output, Value, Vec<u8>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fuser-run"));
    command.current_dir(folder.path()).env("LD_DEBUG", "files");
    let output = command
        .args(COMMAND.split_whitespace())
        .arg(cache)
        .output()
        .unwrap();
    assert!(output.status.success());
    let report = fs::read(folder.path().join("r.json")).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    let result = fs::read(folder.path().join("out/y.npy")).unwrap();
    (output, report["cache"].clone(), result)
}

/// A run of `x.fir` with these arguments besides, and a cache.
fn timed(folder: &TempDir, args: &str) -> Output {
    timed_run_of("x.fir", folder, args)
}

fn timed_run_of(file: &str, folder: &TempDir, args: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fuser-run"));
    let args = format!("{file} --input n=iota --repeat 1 --cache-dir cache --timing {args}");
    command.current_dir(folder.path());
    command.args(args.split_whitespace()).output().unwrap()
}

/// True if a run parsed, ran a pass or made code, as its times say.
fn compiled(output: &Output) -> bool {
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && text.contains("  Run\n"),
        "{text}"
    );
    let stages = ["  Parser\n", "  segment\n", "  schedule\n", "  Codegen\n"];
    let found = stages.map(|stage| text.contains(stage));
    assert!(found[1..].iter().all(|&one| one == found[1]), "{text}");
    found[1]
}

fn hits_and_misses(cache: &Value) -> (u64, u64) {
    (
        cache["hits"].as_u64().unwrap(),
        cache["misses"].as_u64().unwrap(),
    )
}

/// The entries, in the order of their names.
fn entries(folder: &TempDir) -> Vec<PathBuf> {
    let files = fs::read_dir(folder.path().join("cache")).unwrap();
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn a_second_process_compiles_nothing_and_loads_no_compiler() {
    let folder = folder();
    let (_, first, expected) = run(&folder, "cache");
    assert_eq!(first["hits"], 0);
    // A kernel at least, and all that the second process finds.
    assert!(hits_and_misses(&first).1 >= 5 && entries(&folder).len() >= 7);
    let (output, second, result) = run(&folder, "cache");
    // The signature, the operations, the processor, the classes of extents, the artifact, and the segments for the report.
    assert_eq!(hits_and_misses(&second), (6, 0));
    assert!(result == expected);
    if cfg!(all(target_env = "gnu", target_arch = "x86_64")) {
        let loaded = String::from_utf8(output.stderr).unwrap();
        assert!(loaded.contains("libc.so") && !loaded.contains("libLLVM"));
    }
}

#[test]
fn damaged_entries_are_compiled_again() {
    let folder = folder();
    let (_, first, expected) = run(&folder, "cache");
    let whole: Vec<Vec<u8>> = entries(&folder)
        .iter()
        .map(|path| fs::read(path).unwrap())
        .collect();
    let damages: [fn(&mut Vec<u8>); 3] = [
        |bytes| bytes.truncate(bytes.len() / 2),
        |bytes| bytes.clear(),
        |bytes| *bytes.last_mut().unwrap() ^= 1,
    ];
    for damage in damages {
        for path in entries(&folder) {
            let mut bytes = fs::read(&path).unwrap();
            damage(&mut bytes);
            fs::write(path, bytes).unwrap();
        }
        let (_, cache, result) = run(&folder, "cache");
        assert_eq!(hits_and_misses(&cache), (0, hits_and_misses(&first).1));
        assert!(result == expected);
        let again: Vec<Vec<u8>> = entries(&folder)
            .iter()
            .map(|path| fs::read(path).unwrap())
            .collect();
        assert!(again == whole, "the same kernels, the same bytes");
    }
}

#[test]
fn a_cache_that_cannot_be_is_told_in_the_report_only() {
    let folder = folder();
    let (_, _, expected) = run(&folder, "cache");
    let (output, cache, result) = run(&folder, "x.fir/cache");
    assert!(cache["error"].is_string() && cache["hits"] == 0);
    assert!(result == expected);
    assert!(!String::from_utf8(output.stderr).unwrap().contains("error:"));
}

#[test]
fn processes_share_it_at_the_same_time() {
    let folder = folder();
    let (_, _, expected) = run(&folder, "alone");
    let spawn = |number: u32| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fuser-run"));
        let args = format!(
            "x.fir --shape B=5 --input n=iota --repeat 1 --cache-dir cache --output-dir out{number}"
        );
        command
            .current_dir(folder.path())
            .args(args.split_whitespace());
        command.stdout(std::process::Stdio::null()).spawn().unwrap()
    };
    let processes: Vec<_> = (0..6).map(spawn).collect();
    for (number, mut process) in processes.into_iter().enumerate() {
        assert!(process.wait().unwrap().success());
        let result = fs::read(folder.path().join(format!("out{number}/y.npy"))).unwrap();
        assert!(result == expected);
    }
}

#[test]
fn a_second_run_starts_no_pass_and_reports_the_same() {
    let folder = folder();
    let report = || {
        let report = fs::read(folder.path().join("r.json")).unwrap();
        let mut report: Value = serde_json::from_slice(&report).unwrap();
        let fields = report.as_object_mut().unwrap();
        fields.retain(|name, _| !name.ends_with("_ms") && name != "cache");
        for segment in fields["segments"].as_array_mut().unwrap() {
            let fields = segment.as_object_mut().unwrap();
            fields.retain(|name, _| !name.ends_with("_ms") && name != "gbps");
        }
        report
    };
    let args = "--shape B=5 --report json:r.json";
    assert!(compiled(&timed(&folder, args)));
    let first = report();
    let again = timed(&folder, args);
    assert!(!compiled(&again));
    assert!(!String::from_utf8_lossy(&again.stderr).contains("  Parser\n"));
    assert_eq!(report(), first);
    // The reference is the program, which is parsed for it; the code is that of before.
    let checked = timed(&folder, &format!("{args} --check"));
    assert!(!compiled(&checked));
    assert_eq!(report()["check"]["ok"], true);
}

#[test]
fn a_text_under_another_name_reports_its_own_lines() {
    let folder = folder();
    let lines = |file: &str| {
        let out = timed_run_of(file, &folder, "--shape B=5 --report json:r.json");
        let report = fs::read(folder.path().join("r.json")).unwrap();
        let report: Value = serde_json::from_slice(&report).unwrap();
        (compiled(&out), report["segments"][0]["lines"].clone())
    };
    assert_eq!(
        lines("x.fir"),
        (true, serde_json::json!(["x.fir:2", "x.fir:3"]))
    );
    fs::copy(folder.path().join("x.fir"), folder.path().join("y.fir")).unwrap();
    assert_eq!(
        lines("y.fir"),
        (false, serde_json::json!(["y.fir:2", "y.fir:3"]))
    );
}

#[test]
fn another_flag_is_another_artifact() {
    let folder = folder();
    let flags = [
        "--shape B=5",
        "--shape B=64",
        "--shape B=5 --target=generic",
        "--shape B=5 --passes=canonicalize,segment{max-ops=1}",
        "--shape B=5 --executors=none",
        "--shape B=5 --cpu=x86-64",
    ];
    for flag in flags {
        assert!(compiled(&timed(&folder, flag)), "{flag}");
    }
    for flag in flags {
        assert!(!compiled(&timed(&folder, flag)), "{flag}");
    }
    // Flags that decide nothing about code.
    for flag in ["--threads 1", "--seed 3", "--memory 1GiB"] {
        assert!(
            !compiled(&timed(&folder, &format!("--shape B=5 {flag}"))),
            "{flag}"
        );
    }
    let text = fs::read_to_string(folder.path().join("x.fir")).unwrap();
    fs::write(folder.path().join("x.fir"), format!("{text}// the same\n")).unwrap();
    assert!(compiled(&timed(&folder, "--shape B=5")));
}

#[test]
fn mistakes_and_warnings_are_told_each_time() {
    let folder = folder();
    assert!(compiled(&timed(&folder, "--shape B=5")));
    for _ in 0..2 {
        let refused = timed(&folder, "--shape B=5 --limit-operations=1");
        assert_eq!(refused.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&refused.stderr).contains("FIR1009"));
        let refused = timed(&folder, "--shape B=5 -e g");
        assert!(String::from_utf8_lossy(&refused.stderr).contains("FIR0852"));
        let refused = timed(&folder, "");
        assert!(String::from_utf8_lossy(&refused.stderr).contains("FIR1002"));
    }
}
