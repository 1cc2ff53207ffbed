//! Segments of one form are scheduled and lowered once: the program is the same as if each were by itself.

use fuser_ir::print::{PrintOptions, print};
use fuser_ir::verify;
use fuser_pass::Manager;

use crate::common::{parsed, programs};
use crate::layers::network;

/// An attribute that makes segments differ, and nothing else.
const MARK: &str = "test.mark";

/// The kernels of `text`, and how many sweeps launch those of others; `apart` marks the segments, so that no two have one form.
fn compiled(text: &str, target: &str, apart: bool) -> (String, u64) {
    let (mut ir, module) = parsed(text);
    let mut manager = Manager::new(verify::verify);
    // Remarks name each segment: with them none is a copy.
    manager.without_remarks = true;
    let mut run = |ir: &mut _, text: &str| {
        let parsed = fuser_pass::pipeline::parse(text, 0, &fuser_passes::catalog());
        let mut pipeline = parsed.expect("a pipeline").pipeline;
        pipeline.fill_option("target", target);
        let report = manager.run(ir, module, &pipeline);
        assert!(report.ok(), "{:?}", report.diagnostics);
        (pipeline, report)
    };
    let (front, back) = (fuser_passes::FRONT, fuser_passes::BACK);
    run(&mut ir, &format!("builtin.module(task.program({front}))"));
    let program = ir.children(module)[0];
    let segments = ir.children(program).into_iter().zip(0..);
    for (segment, number) in segments.filter(|_| apart) {
        let mark = ir.int_attr(number);
        for op in ir.children(segment) {
            ir.set_attr(op, MARK, mark);
        }
    }
    let text = format!("builtin.module(task.program(schedule,protect-updates),{back})");
    let (pipeline, report) = run(&mut ir, &text);
    for op in ir.walk(module) {
        ir.remove_attr(op, MARK);
    }
    let mut lower = pipeline.passes().into_iter();
    let lower = lower.find(|step| step.pass.name == "lower-to-kernel");
    let repeated = lower.map(|step| {
        let statistic = step.pass.statistic("repeated").expect("a statistic");
        report.statistics[step.index][statistic]
    });
    let text = print(&ir, module, &PrintOptions::canonical());
    (text, repeated.expect("the pass"))
}

#[test]
fn segments_of_one_form_are_what_each_is_by_itself() {
    for (text, repeats) in [
        (programs::layers(1), false),
        (programs::layers(5), true),
        (programs::layers(17), true),
        (programs::sums(5), false),
        (network(5, [false, true, false, false]), true),
        (network(17, [true, true, true, true]), true),
    ] {
        for target in ["generic", "h100"] {
            let (together, repeated) = compiled(&text, target, false);
            assert_eq!(repeated > 0, repeats, "{target}: {text}");
            let (apart, repeated) = compiled(&text, target, true);
            assert_eq!(repeated, 0);
            let lines = || together.lines().zip(apart.lines());
            let other = lines().find(|(one, other)| one != other);
            assert!(together == apart, "{target}: {other:#?}: {text}");
        }
    }
}
