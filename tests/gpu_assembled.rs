//! PTX of all versions of the examples and the models, through NVIDIA's assembler for two of four architectures in turn, where it is
//! found: no kernel has registers that lie in slow memory.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use regex::Regex;
use serde_json::Value;

/// One file has the first row, the next one the second.
const ARCHITECTURES: [[&str; 2]; 2] = [["sm_80", "sm_90"], ["sm_89", "sm_100"]];

/// The examples and the models, sorted.
fn examples() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let entries = [root.clone(), root.join("models")].map(std::fs::read_dir);
    let files = entries.into_iter().flat_map(Result::unwrap);
    let files = files.map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files
        .filter(|file| file.extension().is_some_and(|extension| extension == "fir"))
        .collect();
    files.sort();
    files
}

fn said(output: &Output) -> String {
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The kernels of all versions of a program: symbols and PTX.
fn kernels(file: &Path, folder: &Path, sm: &str) -> Vec<(String, String)> {
    let artifact = folder.join("artifact.json");
    let translated = Command::new(env!("CARGO_BIN_EXE_fuser-translate"))
        .arg(file)
        .args(["--emit=artifact", &format!("--target=cuda:{sm}"), "-o"])
        .arg(&artifact)
        .output()
        .unwrap();
    said(&translated);
    let artifact: Value = serde_json::from_slice(&std::fs::read(artifact).unwrap()).unwrap();
    let versions = std::iter::successors(Some(&artifact), |version| {
        version.get("otherwise").filter(|next| !next.is_null())
    });
    let kernels = versions.flat_map(|version| version["kernels"].as_array().unwrap());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let kernels = kernels.map(|kernel| (text(&kernel["symbol"]), text(&kernel["code"]["ptx"])));
    kernels.collect()
}

/// The bytes that a thread of a kernel stores because it has too few registers, or that it has on its stack for another reason.
fn spilled(tool: &OsString, folder: &Path, ptx: &str, sm: &str) -> u64 {
    let file = folder.join("kernel.ptx");
    std::fs::write(&file, ptx).unwrap();
    let assembled = Command::new(tool)
        .args(["-v", "-arch", sm, "-o"])
        .arg(folder.join("kernel.cubin"))
        .arg(&file)
        .output()
        .unwrap();
    let said = said(&assembled);
    let of = |what: &str| {
        let bytes = Regex::new(&format!(r"(\d+) bytes {what}")).unwrap();
        let found = bytes.captures_iter(&said).map(|c| c[1].parse::<u64>());
        found.map(Result::unwrap).collect::<Vec<_>>()
    };
    let (spills, stacks) = (of("spill stores"), of("stack frame"));
    assert!(!spills.is_empty() && !stacks.is_empty(), "{said}");
    spills.into_iter().chain(stacks).max().unwrap_or(0)
}

#[test]
fn examples_are_assembled_without_spills() {
    let Some(tool) = fuser_testing::ptxas(std::env::var_os("PTXAS")) else {
        eprintln!("skipped: ptxas not found; PTX of the examples is not assembled");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (mut assembled, mut wrong) = (0, Vec::new());
    for (file, architectures) in examples().into_iter().zip(ARCHITECTURES.iter().cycle()) {
        for sm in architectures {
            for (symbol, ptx) in kernels(&file, folder.path(), sm) {
                let bytes = spilled(&tool, folder.path(), &ptx, sm);
                if bytes > 0 {
                    wrong.push(format!("{symbol} for {sm}: {bytes} bytes"));
                }
                assembled += 1;
            }
        }
    }
    println!("count: {assembled} kernels assembled");
    assert!(
        assembled >= 200 && wrong.is_empty(),
        "{assembled}: {wrong:#?}"
    );
}

/// Products of every type in every layout of the factors: whole tiles, and lengths by which loads are vectors of one, two and four elements; small tiles;
/// named lengths.
#[test]
fn products_are_assembled_without_spills() {
    let Some(tool) = fuser_testing::ptxas(std::env::var_os("PTXAS")) else {
        eprintln!("skipped: ptxas not found; PTX of products is not assembled");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (mut assembled, mut wrong) = (0, Vec::new());
    let lengths = ["4096", "4097", "4098", "4100", "129", "132", "[N]"];
    for (dtype, length) in ["bf16", "f16", "f32", "f64"]
        .into_iter()
        .flat_map(|dtype| lengths.map(|length| (dtype, length)))
    {
        for (number, [a, b]) in [
            ["", ""],
            [", [1, 0]", ""],
            ["", ", [1, 0]"],
            [", [1, 0]"; 2],
        ]
        .into_iter()
        .enumerate()
        {
            let matrix = format!("{length}x{length}x{dtype}");
            let text = format!(
                "task.program @f(%a: tensor<{matrix}{a}>, %b: tensor<{matrix}{b}>) -> tensor<{matrix}> {{
  %y = fusion.matmul %a, %b
  task.return %y
}}"
            );
            let file = folder.path().join("f.fir");
            std::fs::write(&file, text).unwrap();
            let sm = ["sm_80", "sm_90"][(number + assembled) % 2];
            for (symbol, ptx) in kernels(&file, folder.path(), sm) {
                assert_eq!(symbol, "fuser_f_s0_0");
                let bytes = spilled(&tool, folder.path(), &ptx, sm);
                if bytes > 0 {
                    wrong.push(format!("{matrix}, {a}, {b} for {sm}: {bytes} bytes"));
                }
                assembled += 1;
            }
        }
    }
    println!("count: {assembled} kernels of products assembled");
    assert!(assembled >= 100 && wrong.is_empty(), "{wrong:#?}");
}

/// Scans of every type whose accumulators differ, of rows of parts of a warp, of rounds, of turns and of a cluster, and lines in parts.
#[test]
fn scans_are_assembled_without_spills() {
    let Some(tool) = fuser_testing::ptxas(std::env::var_os("PTXAS")) else {
        eprintln!("skipped: ptxas not found; PTX of scans is not assembled");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (mut assembled, mut wrong) = (0, Vec::new());
    let rows = [
        "5000x48",
        "512x4096",
        "512x32768",
        "2x65536",
        "[B]x[N]",
        "3x600000",
    ];
    let scans = ["cumsum", "cummax"].into_iter().flat_map(|op| {
        let dtypes = ["bf16", "f32", "i32", "i64", "f64"].into_iter();
        dtypes.flat_map(move |dtype| rows.map(|shape| (op, format!("{shape}x{dtype}"))))
    });
    for (number, (op, row)) in scans.enumerate() {
        let text = format!(
            "task.program @f(%x: tensor<{row}>) -> tensor<{row}> {{
  %y = fusion.{op} %x dim 1
  task.return %y
}}"
        );
        let file = folder.path().join("f.fir");
        std::fs::write(&file, text).unwrap();
        let sm = ["sm_80", "sm_90"][number / rows.len() % 2];
        for (symbol, ptx) in kernels(&file, folder.path(), sm) {
            let bytes = spilled(&tool, folder.path(), &ptx, sm);
            if bytes > 0 {
                wrong.push(format!("{op} {row}, {symbol} for {sm}: {bytes} bytes"));
            }
            assembled += 1;
        }
    }
    println!("count: {assembled} kernels of scans assembled");
    assert!(
        assembled >= 90 && wrong.is_empty(),
        "{assembled}: {wrong:#?}"
    );
}
