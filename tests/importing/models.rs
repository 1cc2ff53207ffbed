//! The programs of `examples/models`: each runs as the interpreter does, in a fraction of the kernels and bytes of its single ops.

use fuser::compile::CompileOptions;
use fuser::session::{Loaded, Session};
use fuser_interp::Expected;
use fuser_passes::report::Report;
use fuser_runtime::{HostTensor, Inputs};

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

/// Each output that is not zero is missed where it is.
fn zeros_are_found(
    session: &Session,
    (loaded, inputs): (&Loaded, &Inputs),
    expected: &mut Expected,
    mut wrong: Vec<HostTensor>,
) {
    let changed: Vec<bool> = wrong
        .iter_mut()
        .map(|output| {
            let changed = output.bytes().iter().any(|byte| *byte != 0);
            output.bytes_mut().fill(0);
            changed
        })
        .collect();
    let check = session.check_with(loaded, inputs, expected, &wrong);
    let check = check.unwrap();
    for (output, changed) in check.outputs.iter().zip(changed) {
        assert_eq!(
            output.report.failed(),
            changed,
            "{}: {:?}",
            output.name,
            output.report
        );
    }
}

/// One op of a gradient is another: what comes of it is not within what rounding explains.
#[test]
fn a_wrong_op_in_a_gradient_is_found() {
    let session = session();
    let list = texts("examples/models");
    let (name, text) = list
        .iter()
        .find(|(name, _)| name == "gpt2_block_backward.fir")
        .unwrap();
    let load = |text: &str| {
        let (ir, module, _) = session.parse(0, name, text).unwrap();
        session.load(ir, module, None).unwrap()
    };
    let right = load(text);
    let inputs = session
        .resolve(&right, &Default::default(), &Default::default())
        .unwrap();
    let lines: Vec<&str> = text.lines().collect();
    // What is taken from a number of terms is 0.
    let is_one = |i: &usize| lines[*i].contains("= fusion.sub ") && !lines[*i].ends_with("<f32>");
    let subtractions = (0..lines.len()).filter(is_one);
    let subtractions: Vec<usize> = subtractions.collect();
    let mut expected = session.expected(&right, &inputs).unwrap();
    let mut found = 0;
    for &at in subtractions.iter().rev().step_by(3) {
        let mut changed = lines.clone();
        let line = lines[at].replace("fusion.sub", "fusion.add");
        changed[at] = &line;
        let wrong = load(&changed.join("\n"));
        let run = session.run_cpu(&wrong, &inputs, &CompileOptions::default(), 1);
        let outputs = run.unwrap().outputs;
        let check = session.check_with(&right, &inputs, &mut expected, &outputs);
        let check = check.unwrap();
        assert!(check.failed(), "{line}: {check:?}");
        found += 1;
    }
    assert!(found > 1);
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
        let mut expected = session.expected(&loaded, &inputs).unwrap();
        let check = session.check_with(&loaded, &inputs, &mut expected, &outputs);
        let check = check.unwrap();
        assert!(check.ok(), "{name}: {check:?}");
        zeros_are_found(&session, (&loaded, &inputs), &mut expected, outputs);
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
