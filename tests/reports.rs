//! A segment report is a grouping: fed back, it draws the segments that it is of, in every example, model and imported program.

use fuser::session::{Loaded, Session};
use fuser::tool::explain::{Files, content};
use fuser_frontends::Format;
use fuser_ir::Ir;
use fuser_ir::print::{PrintOptions, print};
use fuser_pass::Manager;

use crate::importing::{load, session, texts};

/// The passes up to `segment`, and those up to `remat`.
const PIPELINES: [&str; 3] = ["segment", "preseg,segment", fuser_passes::FRONT];

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

fn check(name: &str, loaded: &Loaded) {
    for passes in PIPELINES {
        let (once, report) = drawn(loaded, passes, "");
        let (twice, again) = drawn(loaded, passes, &report);
        assert!(once == twice, "{name}, {passes}:\n{once}\n{twice}");
        assert_eq!(report, again, "{name}, {passes}");
    }
}

fn read(session: &Session, name: &str, text: &str) -> Loaded {
    let parsed = session.parse(0, name, text);
    let (ir, module, _) = parsed.unwrap_or_else(|found| panic!("{name}: {found:?}"));
    session
        .load(ir, module, None)
        .unwrap_or_else(|_| panic!("{name}: no program"))
}

#[test]
fn reports_of_examples_are_groupings() {
    let session = session();
    let mut count = 0;
    for folder in ["examples", "examples/models"] {
        let folder = format!("{}/{folder}", env!("CARGO_MANIFEST_DIR"));
        let entries = std::fs::read_dir(folder).expect("a folder");
        let mut paths: Vec<_> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
        paths.retain(|path| path.extension().is_some_and(|e| e == "fir"));
        paths.sort();
        for path in paths {
            let text = std::fs::read_to_string(&path).expect("a text");
            let name = path.display().to_string();
            check(&name, &read(&session, &name, &text));
            count += 1;
        }
    }
    println!("count: {count} examples whose reports were fed back");
    assert!(count > 20);
}

#[test]
fn reports_of_imported_programs_are_groupings() {
    let session = session();
    let mut count = 0;
    let formats = [
        ("tests/importing/stablehlo", Format::StableHlo),
        ("tests/importing/nvfuser", Format::NvFuser),
    ];
    for (folder, format) in formats {
        for (name, text) in texts(folder) {
            let loaded = load(&session, format, &name, &text);
            let loaded = loaded.unwrap_or_else(|error| panic!("{error}"));
            check(&name, &loaded);
            // Read from the text that it prints as, it is the same program, names included.
            let printed = print(&loaded.ir, loaded.module, &PrintOptions::default());
            let read = read(&session, &name, &printed);
            let of = |loaded| drawn(loaded, PIPELINES[2], "");
            assert_eq!(of(&read), of(&loaded), "{name}");
            count += 1;
        }
    }
    println!("count: {count} imported programs whose reports were fed back");
    assert!(count > 50);
}
