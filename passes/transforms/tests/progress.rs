//! Passes that take long tell how far they are: each step begins with no part done, and never has more done than there are.

use std::sync::{Arc, Mutex};

use fuser_ir::verify;
use fuser_pass::{Manager, ProgressSink};

use crate::common::parsed;
use crate::layers::network;

#[test]
fn long_passes_tell_their_steps() {
    let (mut ir, module) = parsed(&network(6, [true, false, false, false]));
    let told = Arc::new(Mutex::new(Vec::new()));
    let mut manager = Manager::new(verify::verify);
    let list = Arc::clone(&told);
    manager.progress = ProgressSink::new(move |step, done, all| {
        list.lock().unwrap().push((step, done, all));
    });
    let text = format!(
        "builtin.module(task.program({},schedule))",
        fuser_passes::FRONT
    );
    let pipeline = fuser_pass::pipeline::parse(&text, 0, &fuser_passes::catalog());
    let report = manager.run(&mut ir, module, &pipeline.expect("a pipeline").pipeline);
    assert!(report.ok(), "{:?}", report.diagnostics);
    let told = told.lock().unwrap();
    for step in [
        "segment: single ops",
        "segment: merges",
        "remat: values",
        "schedule: segments",
    ] {
        let own: Vec<_> = told.iter().filter(|(name, ..)| *name == step).collect();
        assert_eq!(own.first().map(|(_, done, _)| *done), Some(0), "{step}");
        assert!(
            own.iter().all(|(_, done, all)| done < all),
            "{step}: {own:?}"
        );
    }
    println!("count: {} parts told", told.len());
}
