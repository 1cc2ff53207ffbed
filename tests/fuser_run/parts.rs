//! A program in parts, as a user meets it: the map follows its schema, memory is freed when it may be, outputs are the same.

use std::process::Command;

use serde_json::Value;

use super::{folder, run, schema};

/// Five segments in a row; each value is needed by the next one only.
const CHAIN: &str = "task.program @chain(%x: tensor<[N]x64xf32>) -> tensor<[N]x64xf32> {
  %a = fusion.exp %x
  %s0 = fusion.segment_set %a
  %b = fusion.neg %s0
  %s1 = fusion.segment_set %b
  %c = fusion.exp %s1
  %s2 = fusion.segment_set %c
  %d = fusion.neg %s2
  %s3 = fusion.segment_set %d
  %y = fusion.exp %s3
  task.return %y
}
";

fn split(folder: &tempfile::TempDir, text: &str) -> Value {
    std::fs::write(folder.path().join("p.fir"), text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fuser-translate"));
    command.current_dir(folder.path());
    let done = command
        .args(["p.fir", "--split-segments=parts"])
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    let map = std::fs::read_to_string(folder.path().join("parts/map.json")).unwrap();
    serde_json::from_str(&map).unwrap()
}

#[test]
fn the_map_follows_its_schema() {
    let mut map = split(&folder(), CHAIN);
    assert_eq!(schema::against("map", &map), [] as [String; 0]);
    map["segments"][0]["frees"][0] = serde_json::json!("%x");
    map["values"][0].as_object_mut().unwrap().remove("is");
    assert_eq!(schema::against("map", &map).len(), 2);
}

#[cfg(feature = "codegen")]
#[test]
fn values_are_freed_behind_their_last_user() {
    let folder = folder();
    let map = split(&folder, CHAIN);
    assert_eq!(map["segments"].as_array().unwrap().len(), 5);
    let report = |args: &str| {
        let output = run(
            &folder,
            &format!("{args} --shape N=1000 --threads=1 --report=json:r.json"),
        );
        assert!(output.status.success(), "{output:?}");
        let text = std::fs::read_to_string(folder.path().join("r.json")).unwrap();
        let report: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(schema::check(&report), [] as [String; 0]);
        report
    };
    let one = 1000 * 64 * 4;
    let free = report("parts");
    // One input and one output of a segment, and nothing else.
    assert_eq!(free["peak_bytes"], 2 * one);
    assert_eq!(free["crossing_bytes"], 4 * one);
    assert_eq!(free["total_bytes"], 10 * one);
    // With --check the inputs stay for the reference; freed behind s0 is the input, behind s1 what s0 gave.
    let kept = report("parts --check");
    assert_eq!(kept["peak_bytes"], 3 * one);
    assert_eq!(kept["segments"][1]["frees"], serde_json::json!(["%s0"]));
    assert_eq!(kept["check"]["ok"], true);
    let whole = report("p.fir");
    for field in ["total_bytes", "crossing_bytes", "read_bytes"] {
        assert_eq!(whole[field], free[field], "{field}");
    }
}

#[test]
fn outputs_are_those_of_the_whole_program() {
    let folder = folder();
    split(&folder, CHAIN);
    for device in super::devices() {
        for (what, dir) in [("p.fir", "whole"), ("parts", "parts-out")] {
            let args = format!("{what} --device={device} --shape N=17 --seed 3 --output-dir {dir}");
            assert!(run(&folder, &args).status.success());
        }
        let read = |dir: &str| std::fs::read(folder.path().join(dir).join("y.npy")).unwrap();
        assert_eq!(read("whole"), read("parts-out"), "{device}");
    }
}

#[test]
fn another_entry_is_refused() {
    let folder = folder();
    split(&folder, CHAIN);
    let output = run(&folder, "parts -e other");
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.contains("holds the program '@chain', not '@other'"),
        "{text}"
    );
}

/// Runs `fuser-opt` on the chain; its output.
fn opt(folder: &tempfile::TempDir, args: &str) -> String {
    std::fs::write(folder.path().join("p.fir"), CHAIN).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fuser-opt"));
    let command = command.current_dir(folder.path()).arg("p.fir");
    let done = command.args(args.split_whitespace()).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn explanations_and_comparisons_follow_their_schemas() {
    let folder = folder();
    opt(
        &folder,
        "--segment=search=exact --explain=json:e.json -o /dev/null",
    );
    let text = std::fs::read_to_string(folder.path().join("e.json")).unwrap();
    let explained: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(schema::against("explain", &explained), [] as [String; 0]);
    assert_eq!(explained["cuts"].as_array().unwrap().len(), 4);
    opt(&folder, "--segment --segment-report=r.json -o /dev/null");
    let compared = opt(&folder, "--compare-segmentations=json:r.json,-");
    let compared: Value = serde_json::from_str(&compared).unwrap();
    assert_eq!(schema::against("comparison", &compared), [] as [String; 0]);
    assert_eq!(compared["same"], true);
}
