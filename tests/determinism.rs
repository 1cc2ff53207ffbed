//! The same bytes come out of every run: twenty processes, each with hash seeds and addresses of its own and another number
//! of threads, and twenty runs in one process, several at a time.

use std::process::Command;

use fuser_ir::print::{PrintOptions, print};
use fuser_ir::{Ir, parse, verify};
use fuser_pass::pipeline::PipelineBuilder;
use fuser_pass::{Catalog, Manager, PassOptions};

const RUNS: usize = 20;
const PASSES: [&str; 4] = ["segment", "remat", "schedule", "segment-report"];

/// Programs with many cuts, ties and siblings.
fn programs() -> Vec<(String, String)> {
    let root = env!("CARGO_MANIFEST_DIR");
    let read = |file: &str| {
        let path = format!("{root}/{file}");
        let text = std::fs::read_to_string(&path);
        (path, text.unwrap_or_else(|e| panic!("{file}: {e}")))
    };
    ["lit-tests/segment/cards.fir", "examples/issue_2473.fir"]
        .map(read)
        .into()
}

#[test]
fn twenty_processes_write_the_same_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    for (path, _) in programs() {
        let mut first: Option<Vec<Vec<u8>>> = None;
        for run in 0..RUNS {
            let file = |name: &str| folder.path().join(format!("{run}-{name}"));
            let (report, remarks) = (file("report.json"), file("remarks.yaml"));
            let output = Command::new(env!("CARGO_BIN_EXE_fuser-opt"))
                .args([&*path, "--split-input-file", "--preseg"])
                .args(["--segment", "--remat", "--schedule"])
                .arg(format!("--segment-report={}", report.display()))
                .arg("--remarks-filter=.*")
                .arg(format!("--remarks-output-file={}", remarks.display()))
                .env("RAYON_NUM_THREADS", (1 + run % 5).to_string())
                .env("RUST_MIN_STACK", (1 << (20 + run % 4)).to_string())
                .output()
                .expect("fuser-opt");
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{error}");
            let mut bytes = vec![output.stdout, output.stderr];
            for written in [&report, &remarks] {
                bytes.push(std::fs::read(written).expect("a file that was asked for"));
            }
            match &first {
                None => first = Some(bytes),
                Some(first) => assert!(*first == bytes, "run {run} of {path} differs"),
            }
        }
    }
}

#[test]
fn twenty_runs_in_one_process_write_the_same_bytes() {
    for (path, text) in programs() {
        let chunks: Vec<&str> = text.split("// -----\n").collect();
        for threads in [1, 2, 5] {
            let expected = run_all(&chunks);
            std::thread::scope(|scope| {
                let runs = (0..RUNS / threads / 2).flat_map(|_| 0..threads);
                let handles: Vec<_> = runs.map(|_| scope.spawn(|| run_all(&chunks))).collect();
                for handle in handles {
                    let actual = handle.join().expect("no panic");
                    assert!(actual == expected, "{path} differs with {threads} threads");
                }
            });
        }
    }
}

/// The text after the passes, the files that they leave and their remarks, of every chunk.
fn run_all(chunks: &[&str]) -> Vec<String> {
    chunks.iter().flat_map(|chunk| run(chunk)).collect()
}

fn run(text: &str) -> Vec<String> {
    let mut ir = Ir::new(fuser_dialects::registry());
    let module = parse::parse_str(&mut ir, text).module.expect("it parses");
    let catalog = Catalog {
        passes: fuser_passes::PASSES,
        pipelines: fuser_passes::PIPELINES,
        anchors: &["builtin.module", "task.program", "task.segment"],
    };
    let mut builder = PipelineBuilder::new(catalog);
    let preseg = catalog.pipeline("preseg").expect("a pipeline");
    builder.named(preseg).expect("a pipeline");
    for name in PASSES {
        let pass = catalog.pass(name).expect("a pass");
        builder.pass(pass, PassOptions::parse(pass, "", 0, 0).expect("options"));
    }
    let report = Manager::new(verify::verify).run(&mut ir, module, &builder.finish());
    let mut all = vec![print(&ir, module, &PrintOptions::default())];
    all.extend(report.files.into_iter().map(|f| f.content));
    all.extend(report.remarks.into_iter().map(|r| r.message));
    all
}
