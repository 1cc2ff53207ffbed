//! A pass that leaves remarks of all kinds, a debug line and a file, so that tests see their destinations.

use fuser_ir::Diagnostics;
use fuser_pass::{PassContext, PassDef, Remark, RemarkKind};

/// `test-remark`
pub static TEST_REMARK: PassDef = PassDef {
    name: "test-remark",
    summary: "leave a remark of each kind (for tests)",
    doc: "One remark of each kind about the first op inside, a line under the debug tag `test`, a file `explain`.",
    hidden: true,
    run: remark,
    ..PassDef::EMPTY
};

fn remark(ctx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
    let op = ctx.op;
    let children = ctx.ir.children(op);
    let place = children
        .first()
        .map(|&op| ctx.place(op))
        .unwrap_or_default();
    for kind in RemarkKind::ALL {
        let text = format!("a remark of kind {}", kind.name());
        let remark = Remark::new(kind, "Test", place.clone(), text)
            .reason("it was asked for")
            .suggestion("ask for nothing")
            .int("bytes", 4096)
            .float("ratio", 0.5);
        ctx.remark(remark);
    }
    ctx.debug("test", |ir| format!("{} ops", ir.walk(op).len()));
    ctx.emit_file("explain", "{\"test\": true}\n".into());
    Ok(())
}
