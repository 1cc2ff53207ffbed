//! `fuser-run` as a user meets it: exit codes, messages, files, the report.

mod cache;
mod explorer;
mod files;
mod parts;
mod processors;
mod results;
mod schema;

use std::path::Path;
use std::process::{Command, Output};

use fuser_runtime::{Axis, Heap, HostTensor, npy};
use tempfile::TempDir;

const PROGRAM: &str = "task.program @scale(%x: tensor<[B]x3xf32>, %n: tensor<[B]xi32>, %s: f32) -> (tensor<[B]x3xbf16>, tensor<[B]xi32>) {
  %t = fusion.mul %x, %s
  %y = fusion.cast %t to bf16
  %m = fusion.add %n, %n
  task.return %y, %m
}
";

/// A folder with the program in it.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("x.fir"), PROGRAM).unwrap();
    folder
}

fn run(folder: &TempDir, args: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fuser-run"));
    command.current_dir(folder.path()).env("NO_COLOR", "1");
    command.args(args.split_whitespace()).output().unwrap()
}

/// Exit code and stderr.
fn refused(folder: &TempDir, args: &str) -> (i32, String) {
    let output = run(folder, args);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.stdout.is_empty(), "{args}");
    (output.status.code().unwrap(), text)
}

fn write(
    folder: &TempDir,
    name: &str,
    dtype: fuser_artifact::DType,
    shape: &[usize],
    values: &[f64],
) {
    let axes: Vec<Axis> = shape.iter().map(|&extent| Axis::stored(extent)).collect();
    let tensor = HostTensor::from_f64(&Heap::with_limit(1 << 20), dtype, &axes, values).unwrap();
    let mut file = std::fs::File::create(folder.path().join(name)).unwrap();
    npy::write(&mut file, &tensor).unwrap();
}

fn read(path: &Path, dtype: fuser_artifact::DType) -> Vec<f64> {
    npy::read(path, dtype, &Heap::with_limit(1 << 20))
        .unwrap()
        .values()
        .collect()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn devices() -> &'static [&'static str] {
    if cfg!(feature = "codegen") {
        &["interp", "cpu"]
    } else {
        &["interp"]
    }
}

/// Two threads, where they have an effect.
fn threads(device: &str) -> &'static str {
    match device {
        "interp" => "",
        _ => " --threads 2",
    }
}

#[test]
fn outputs_are_files_and_agree_with_the_reference() {
    use fuser_artifact::DType::{Bf16, F32, I32};
    for device in devices() {
        let folder = folder();
        write(
            &folder,
            "x.npy",
            F32,
            &[2, 3],
            &[1.0, 2.0, 3.0, -4.0, 0.5, 257.0],
        );
        write(&folder, "n.npy", I32, &[2], &[7.0, 2_147_483_647.0]);
        let args = format!(
            "x.fir --device={device} --check --input x=@x.npy --input n=@n.npy --input s=full:1 --output-dir out/deep"
        );
        let output = run(&folder, &args);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let out = folder.path().join("out/deep");
        assert_eq!(names(&out), ["m.npy", "y.npy"]);
        assert_eq!(
            read(&out.join("y.npy"), Bf16),
            [1.0, 2.0, 3.0, -4.0, 0.5, 256.0]
        );
        assert_eq!(read(&out.join("m.npy"), I32), [14.0, -2.0]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(
            text.starts_with(&format!("@scale with B=2 on {device}")),
            "{text}"
        );
        assert!(
            text.contains("all outputs agree with the reference"),
            "{text}"
        );
    }
}

/// A difference that is nothing but rounding is not checked, which is no failure and no success.
#[test]
fn what_cannot_be_checked_has_a_status_of_its_own() {
    let text = "task.program @noise(%x: tensor<64x4xf32>) -> (tensor<64xf32>, tensor<64x4xf32>) {
  %e = fusion.exp %x
  %big = fusion.constant value 1.0e8 : f32
  %a = fusion.add %e, %big
  %b = fusion.sub %a, %big
  %s = fusion.sum %b dims [1]
  %t = fusion.sum %e dims [1]
  %y = fusion.sub %s, %t
  task.return %y, %e
}
";
    for device in devices() {
        let folder = folder();
        std::fs::write(folder.path().join("noise.fir"), text).unwrap();
        let args = format!("noise.fir --device={device} --check --report=json:r.json");
        let output = run(&folder, &args);
        assert_eq!(output.status.code(), Some(4));
        let told = String::from_utf8(output.stdout).unwrap();
        for part in [
            "not checked",
            "output 'y' is not checked: 0 of 64 elements could be compared; 64 are ill-conditioned",
            "NOT CHECKED: of an output less than half could be compared",
        ] {
            assert!(told.contains(part), "{told}");
        }
        assert!(
            !told.contains("agree") && !told.contains("all exact"),
            "{told}"
        );
        let text = std::fs::read_to_string(folder.path().join("r.json")).unwrap();
        let report: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(schema::check(&report), [] as [String; 0]);
        let check = &report["check"];
        assert_eq!(
            (&check["status"], &check["ok"]),
            (&"not checked".into(), &false.into())
        );
        let statuses = [0, 1].map(|i| check["outputs"][i]["status"].clone());
        assert_eq!(statuses, ["not checked", "ok"]);
        assert_eq!(check["outputs"][0]["ill_conditioned"], 64);
    }
}

#[test]
fn the_report_follows_its_schema() {
    for device in devices() {
        let folder = folder();
        let args = format!(
            "x.fir --device={device} --check --shape B=5 --report=json:r.json{}",
            threads(device)
        );
        assert_eq!(run(&folder, &args).status.code(), Some(0));
        let text = std::fs::read_to_string(folder.path().join("r.json")).unwrap();
        let report: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(schema::check(&report), [] as [String; 0]);
        assert_eq!(
            (&report["check"]["ok"], &report["check"]["whole"]["ok"]),
            (&true.into(), &true.into())
        );
        assert_eq!(report["extents"], serde_json::json!({ "B": 5 }));
        assert!(report["time_ms"].as_f64().unwrap() > 0.0);
        if *device == "cpu" {
            assert_eq!(report["total_bytes"], 5 * (3 * 4 + 4 + 3 * 2 + 4));
            assert!(report["segments"][0]["time_ms"].is_number());
            assert!(report["compile_ms"].as_f64().unwrap() > 0.0);
        }
    }
}

/// Runs with `--report` on simulated GPUs.
#[cfg(all(feature = "codegen", feature = "cuda"))]
fn gpu_report(folder: &TempDir, args: &str) -> serde_json::Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fuser-run"));
    command
        .current_dir(folder.path())
        .args(args.split_whitespace());
    command.args(["--report=json:r.json", "--repeat=1", "--check"]);
    let output = command.env("FUSER_CUDA", "sim:sm_90,devices=2").output();
    let output = output.unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{told}");
    let text = std::fs::read_to_string(folder.path().join("r.json")).unwrap();
    let report = serde_json::from_str(&text).unwrap();
    assert_eq!(schema::check(&report), [] as [String; 0]);
    report
}

/// A report of a GPU has its launches, of a program and of its parts.
#[cfg(all(feature = "codegen", feature = "cuda"))]
#[test]
fn the_report_of_a_gpu_has_its_launches() {
    let folder = folder();
    let whole = gpu_report(&folder, "x.fir --device=cuda:1 --shape B=5");
    let mut split = Command::new(env!("CARGO_BIN_EXE_fuser-translate"));
    split.current_dir(folder.path());
    let split = split.args(["x.fir", "--split-segments", "parts"]).status();
    assert!(split.unwrap().success());
    let parts = gpu_report(&folder, "parts --device=cuda --shape B=5");
    for report in [whole, parts] {
        let launches = report["launches"].as_array().unwrap();
        let segments = report["segments"].as_array().unwrap();
        let counted = report["simulator"]["calls"]["cuLaunchKernel"].as_u64();
        // To warm up, and for the report, which is made before the check runs it again.
        assert_eq!(counted, Some(2 * launches.len() as u64));
        assert!(!launches.is_empty());
        for launch in launches {
            let names = segments.iter().map(|segment| &segment["name"]);
            assert!(
                names.clone().any(|name| *name == launch["segment"]),
                "{launch}"
            );
            assert!(launch["time_ms"].as_f64() > Some(0.0), "{launch}");
            assert_eq!(launch["registers"], serde_json::Value::Null);
            // A multiprocessor has 64 warps, and 32 blocks at most; no shared memory bounds these.
            let warps = launch["threads"].as_u64().unwrap().div_ceil(32);
            let blocks = (64 / warps).min(32);
            assert_eq!(launch["blocks_per_multiprocessor"], blocks);
            assert_eq!(launch["occupancy"], (blocks * warps) as f64 / 64.0);
        }
        assert!(
            segments
                .iter()
                .all(|segment| segment["gb_per_s"].is_number())
        );
    }
}

#[test]
fn the_seed_decides_what_is_made_up() {
    let folder = folder();
    let result = |args: &str, out: &str| {
        let args = format!("x.fir --device=interp --shape B=9 {args} --output-dir {out}");
        assert_eq!(run(&folder, &args).status.code(), Some(0));
        std::fs::read(folder.path().join(out).join("y.npy")).unwrap()
    };
    assert_eq!(result("--seed 3", "a"), result("--seed=3", "b"));
    assert_ne!(result("--seed 3", "a"), result("--seed 4", "b"));
}

#[test]
fn bad_inputs_are_named_with_what_was_expected_and_given() {
    use fuser_artifact::DType::{F32, F64};
    let folder = folder();
    write(&folder, "wide.npy", F32, &[2, 4], &[0.0; 8]);
    write(&folder, "double.npy", F64, &[2, 3], &[0.0; 6]);
    write(&folder, "x.npy", F32, &[2, 3], &[0.0; 6]);
    let cases = [
        (
            "--input x=@wide.npy",
            &["input `x` (wide.npy)", "3", "4"][..],
        ),
        (
            "--input x=@double.npy",
            &["input `x`", "double.npy", "f32", "f8"],
        ),
        ("--input x=@missing.npy", &["input `x`", "missing.npy"]),
        (
            "--input x=@x.npy --shape B=5",
            &["extent `B` is 5 by `--shape B=5` but 2 by axis 0 of input `x` (x.npy)"],
        ),
        ("", &["extent `B` has no value"]),
        (
            "--shape B=1 --shape Q=2",
            &["the program has no extent `Q` (it has B)"],
        ),
        (
            "--shape B=1 --input q=ones",
            &["the program has no input `q` (it has x, n, s)"],
        ),
        (
            "--shape B=1 --input n=normal",
            &["input `n`: `normal` is for real numbers, the element type is i32"],
        ),
        (
            "--shape B=1000000000 --memory 1000000",
            &["input `x`: too little memory: needs 12000000000 bytes, limit 1000000"],
        ),
        (
            "--shape B=1 -e nobody",
            &["there is no program '@nobody'", "scale"],
        ),
    ];
    for (args, parts) in cases {
        let (code, text) = refused(
            &folder,
            &format!("x.fir --device=interp --output-dir out --report=json:r.json {args}"),
        );
        assert_eq!(code, 1, "{args}: {text}");
        assert!(
            parts.iter().all(|part| text.contains(part)),
            "{args}: {text}"
        );
        assert!(text.contains("[FIR"), "{args}: {text}");
    }
    assert_eq!(
        names(folder.path()),
        ["double.npy", "wide.npy", "x.fir", "x.npy"],
        "nothing is written"
    );
}

#[test]
fn wrong_programs_are_shown_with_their_place() {
    let folder = folder();
    std::fs::write(
        folder.path().join("bad.fir"),
        PROGRAM.replace("%n, %n", "%n, %x"),
    )
    .unwrap();
    let (code, text) = refused(&folder, "bad.fir --shape B=1");
    assert_eq!(code, 1);
    assert!(text.contains("bad.fir:4:") && text.contains('^'), "{text}");
    let (code, text) = refused(&folder, "missing.fir");
    assert_eq!(code, 1);
    assert!(text.contains("cannot read 'missing.fir'"), "{text}");
}

#[test]
fn wrong_command_lines_exit_with_2() {
    let folder = folder();
    let (code, text) = refused(&folder, "x.fir --chek --device=gpu");
    assert_eq!(code, 2);
    assert!(
        text.contains("unknown flag '--chek'; did you mean '--check'?"),
        "{text}"
    );
    assert!(
        text.contains("unknown device 'gpu' (expected cpu, interp or cuda)"),
        "{text}"
    );
}

#[test]
fn an_output_folder_that_is_a_file_is_refused_before_work_begins() {
    let folder = folder();
    let (code, text) = refused(
        &folder,
        "x.fir --device=interp --shape B=1 --output-dir x.fir",
    );
    assert_eq!(code, 1);
    assert!(
        text.contains("cannot write to 'x.fir': it is no folder"),
        "{text}"
    );
}

/// A program runs on a machine with a GPU; elsewhere the tool reports that there is none.
#[cfg(all(feature = "codegen", feature = "cuda"))]
#[test]
fn a_missing_gpu_is_told() {
    let folder = folder();
    let output = run(&folder, "x.fir --device=cuda --shape B=1");
    let text = String::from_utf8(output.stderr).unwrap();
    match output.status.code() {
        Some(0) => {}
        code => assert!(
            code == Some(1) && text.contains("unsupported: no device"),
            "{code:?}: {text}"
        ),
    }
}
