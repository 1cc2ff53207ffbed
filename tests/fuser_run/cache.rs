//! The cache of compiled kernels, between processes.

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
    // A kernel at least, and the processor.
    assert!(hits_and_misses(&first).1 >= 2 && entries(&folder).len() >= 2);
    let (output, second, result) = run(&folder, "cache");
    assert_eq!(hits_and_misses(&second), (hits_and_misses(&first).1, 0));
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
