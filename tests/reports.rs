//! A segment report is a grouping: fed back, it draws the segments that it is of, in every example, model and imported program.

use fuser::session::{Loaded, Session};
use fuser::tool::explain::{Files, content};
use fuser_frontends::Format;
use fuser_ir::Ir;
use fuser_ir::print::{PrintOptions, print};
use fuser_pass::Manager;
use serde_json::Value as Json;

use crate::importing::{load, session, texts};

/// The passes up to `segment`, and those up to `remat`.
const PIPELINES: [&str; 3] = ["segment", "preseg,segment", fuser_passes::FRONT];

/// Texts of examples, or of imported programs, that may differ in the order of ops and in which of equal values they read.
const MOST_OTHER: usize = 10;

/// An imported program whose report is refused as a grouping (FIR0712, self-mapped): one of its kernels computes rows
/// along both axes of a square of comparisons. The search finds that form of the kernel, reading a grouping does not.
const UNREAD: &str = "searched.mlir";

/// The program after `passes`, and its report.
fn drawn(loaded: &Loaded, passes: &str, grouping: &str) -> (String, String) {
    let mut ir: Ir = loaded.ir.clone();
    let text = format!("builtin.module(task.program({passes}))");
    let parsed = fuser_pass::pipeline::parse(&text, 0, &fuser_passes::catalog());
    let mut pipeline = parsed.expect("a pipeline").pipeline;
    let set = pipeline.set_option("segment", "from", grouping);
    assert_eq!(set, Ok(true));
    let mut wanted = Files {
        kinds: vec!["segment-report"],
    };
    let mut manager = Manager::new(fuser_ir::verify::verify);
    manager.watch(&mut wanted);
    let report = manager.run(&mut ir, loaded.module, &pipeline);
    let found = &report.diagnostics;
    assert!(report.ok(), "{passes} of {grouping:.60}: {found:?}");
    let text = print(&ir, loaded.module, &PrintOptions::default());
    (text, content(&report.files, "segment-report"))
}

/// The names and kinds of the segments of a report.
fn segments(report: &str) -> Vec<[String; 2]> {
    let json: Json = serde_json::from_str(report).expect("JSON");
    let segments = json["segments"].as_array().expect("segments").iter();
    let named = segments.map(|segment| ["name", "kind"].map(|key| segment[key].to_string()));
    named.collect()
}

/// Checks a program; says how often the very same text came out.
fn check(name: &str, loaded: &Loaded) -> usize {
    let same = PIPELINES.iter().filter(|passes| {
        let (once, report) = drawn(loaded, passes, "");
        let (twice, again) = drawn(loaded, passes, &report);
        assert_eq!(segments(&report), segments(&again), "{name}, {passes}");
        once == twice
    });
    same.count()
}

fn read(session: &Session, name: &str, text: &str) -> Loaded {
    let parsed = session.parse(0, name, text);
    let (ir, module, _) = parsed.unwrap_or_else(|found| panic!("{name}: {found:?}"));
    session
        .load(ir, module, None)
        .unwrap_or_else(|_| panic!("{name}: no program"))
}

/// The examples, with their names.
fn examples(session: &Session) -> Vec<(String, Loaded)> {
    let mut found = Vec::new();
    for folder in ["examples", "examples/models"] {
        let folder = format!("{}/{folder}", env!("CARGO_MANIFEST_DIR"));
        let entries = std::fs::read_dir(folder).expect("a folder");
        let mut paths: Vec<_> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
        paths.retain(|path| path.extension().is_some_and(|e| e == "fir"));
        paths.sort();
        for path in paths {
            let text = std::fs::read_to_string(&path).expect("a text");
            let name = path.display().to_string();
            let loaded = read(session, &name, &text);
            found.push((name, loaded));
        }
    }
    found
}

#[test]
fn reports_of_examples_are_groupings() {
    let session = session();
    let examples = examples(&session);
    let count = examples.len();
    let same: usize = examples.iter().map(|(name, own)| check(name, own)).sum();
    println!("count: {count} examples whose reports were fed back");
    // Of equal values a report does not say which one each op of a segment reads.
    assert!(
        count > 20 && same + MOST_OTHER >= count * PIPELINES.len(),
        "{same}"
    );
}

/// The names and operations of the segments of a report.
fn operations(report: &str) -> Vec<[String; 2]> {
    let json: Json = serde_json::from_str(report).expect("JSON");
    let segments = json["segments"].as_array().expect("segments").iter();
    let named = segments.map(|segment| ["name", "operations"].map(|key| segment[key].to_string()));
    named.collect()
}

/// A plan and the sweeps that are drawn by it have the same operations.
#[test]
fn operations_are_the_same_before_and_after_scheduling() {
    let session = session();
    let front = fuser_passes::FRONT;
    let scheduled = format!("{front},schedule,segment-report");
    let mut count = 0;
    for (name, loaded) in examples(&session) {
        let planned = operations(&drawn(&loaded, front, "").1);
        assert_eq!(
            planned,
            operations(&drawn(&loaded, &scheduled, "").1),
            "{name}"
        );
        let known = planned.iter().filter(|[_, n]| n != "null" && n != "0");
        count += known.count();
    }
    println!("count: {count} segments with operations");
    assert!(count > 100, "{count}");
}

#[test]
fn reports_of_imported_programs_are_groupings() {
    let session = session();
    let (mut count, mut same) = (0, 0);
    let formats = [
        ("tests/importing/stablehlo", Format::StableHlo),
        ("tests/importing/nvfuser", Format::NvFuser),
    ];
    for (folder, format) in formats {
        for (name, text) in texts(folder) {
            // Some texts are there to be refused.
            let Ok(loaded) = load(&session, format, &name, &text) else {
                continue;
            };
            // A grouping is about one program.
            if loaded.ir.children(loaded.module).len() > 1 {
                continue;
            }
            match name == UNREAD {
                true => same += PIPELINES.len(),
                false => same += check(&name, &loaded),
            }
            // Read from the text that it prints as, it is the same program, names included.
            let printed = print(&loaded.ir, loaded.module, &PrintOptions::default());
            let read = read(&session, &name, &printed);
            let of = |loaded| {
                let (text, report) = drawn(loaded, PIPELINES[2], "");
                let mut report: Json = serde_json::from_str(&report).expect("JSON");
                // Lines are those of the text that was read.
                let segments = report["segments"].as_array_mut().expect("segments");
                for segment in segments {
                    segment.as_object_mut().expect("a segment").remove("lines");
                }
                (text, report)
            };
            assert_eq!(of(&read), of(&loaded), "{name}");
            count += 1;
        }
    }
    println!("count: {count} imported programs whose reports were fed back");
    assert!(
        count > 50 && same + MOST_OTHER >= count * PIPELINES.len(),
        "{same}"
    );
}
