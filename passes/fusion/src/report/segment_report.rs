//! The `segment-report` pass, and the report that `segment` and `remat` emit.

use fuser_analysis::cost::Model;
use fuser_analysis::targets::{self, SHAPE, TARGET};
use fuser_ir::Diagnostics;
use fuser_pass::{PassContext, PassDef};

use super::report;

/// `segment-report`
pub static SEGMENT_REPORT: PassDef = PassDef {
    name: "segment-report",
    summary: "says what became which kernel and what crosses memory",
    doc: "Leaves a JSON report of the program's segments: their ops, sweeps, and the bytes that they read and write, from \
          shapes alone; bytes that depend on extents without a length are polynomials. `--segment-report=FILE` says where it \
          goes. Passes that draw segments leave one as well; the last one counts.",
    anchor: &["task.program"],
    options: &[TARGET, SHAPE],
    run,
    ..PassDef::EMPTY
};

fn run(ctx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
    let model = targets::model(ctx)?;
    emit(ctx, &model);
    Ok(())
}

/// Emits the report of the program that the pass runs on, if it is requested.
pub fn emit(ctx: &mut PassContext<'_>, model: &Model) {
    if !ctx.wants_file("segment-report") {
        return;
    }
    let report = report(ctx.ir, ctx.op, model);
    // Serializing plain strings and numbers cannot fail.
    let text = serde_json::to_string_pretty(&report).unwrap_or_default();
    ctx.emit_file("segment-report", text + "\n");
}
