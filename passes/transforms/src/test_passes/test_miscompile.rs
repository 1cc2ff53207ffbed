//! Changes results, so that tests see it found by `--validate`.

use fuser_dialects::fusion;
use fuser_ir::Diagnostics;
use fuser_pass::{PassContext, PassDef};

/// `test-miscompile`
pub static TEST_MISCOMPILE: PassDef = PassDef {
    name: "test-miscompile",
    summary: "swap the operands of subtractions (for tests)",
    doc: "Turns `sub %a, %b` into `sub %b, %a`.",
    hidden: true,
    run: miscompile,
    ..PassDef::EMPTY
};

fn miscompile(ctx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
    for op in ctx.ir.walk(ctx.op) {
        if ctx.ir.is(op, &fusion::SUB) {
            let (a, b) = (ctx.ir.operand(op, 0), ctx.ir.operand(op, 1));
            ctx.ir.set_operand(op, 0, b);
            ctx.ir.set_operand(op, 1, a);
        }
    }
    Ok(())
}
