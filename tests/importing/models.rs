//! The programs of `examples/models`: each runs as the interpreter does, in a fraction of the kernels and bytes of its single ops.

use fuser::compile::CompileOptions;
use fuser::session::{Loaded, Session};
use fuser_passes::report::Report;

use super::{session, texts};

/// The passes of `fuse` before scheduling, with a kernel for each op.
const SINGLE: &str = "canonicalize,cse,decompose,preseg,segment{max-ops=1}";

fn report(session: &Session, loaded: &Loaded, passes: Option<&str>) -> Report {
    let options = CompileOptions {
        passes: passes.map(str::to_owned),
        ..CompileOptions::default()
    };
    session.segments(loaded, &options).unwrap()
}

#[test]
fn models_run_in_few_kernels_and_bytes() {
    let session = session();
    let mut table = String::new();
    for (name, text) in texts("examples/models") {
        if !name.ends_with(".fir") {
            continue;
        }
        let (ir, module, _) = session.parse(0, &name, &text).unwrap();
        let loaded = session.load(ir, module, None).unwrap();
        let inputs = session
            .resolve(&loaded, &Default::default(), &Default::default())
            .unwrap();
        let run = session.run_cpu(&loaded, &inputs, &CompileOptions::default(), 1);
        let outputs = run.unwrap().outputs;
        let check = session.check(&loaded, &inputs, &outputs).unwrap();
        assert!(check.ok(), "{name}: {check:?}");
        let fused = report(&session, &loaded, None);
        let single = report(&session, &loaded, Some(SINGLE));
        let counts = [&fused, &single].map(|report| {
            let bytes: u64 = report.total_bytes.text().parse().unwrap();
            (report.segments.len(), bytes)
        });
        let [(kernels, bytes), (ops, moved)] = counts;
        table += &format!("| `{name}` | {kernels} | {ops} | {bytes} | {moved} |\n");
        assert!(
            3 * kernels <= ops,
            "{name}: {kernels} kernels for {ops} ops"
        );
        assert!(
            2 * bytes <= moved,
            "{name}: {bytes} bytes, {moved} op by op"
        );
    }
    assert!(table.lines().count() >= 14);
    println!("{table}");
    println!("count: {} models", table.lines().count());
}
