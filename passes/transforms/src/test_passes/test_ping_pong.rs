//! Rewrites without end, so that tests see the limit.

use fuser_dialects::fusion;
use fuser_ir::rewrite::{Config, Pattern, Rewriter, rewrite_greedily};
use fuser_ir::{Diagnostics, Op, OpDef};
use fuser_pass::{PassContext, PassDef};

/// `test-ping-pong`
pub static TEST_PING_PONG: PassDef = PassDef {
    name: "test-ping-pong",
    summary: "rewrite without end (for tests)",
    doc: "Two patterns that undo each other, on `add` and `mul`.",
    hidden: true,
    run: ping_pong,
    ..PassDef::EMPTY
};

static PING: Pattern = Pattern {
    name: "ping",
    summary: "add => mul",
    roots: &["fusion.add"],
    benefit: 1,
    rewrite: |rw, op| swap_op(rw, op, &fusion::MUL),
};
static PONG: Pattern = Pattern {
    name: "pong",
    summary: "mul => add",
    roots: &["fusion.mul"],
    benefit: 1,
    rewrite: |rw, op| swap_op(rw, op, &fusion::ADD),
};

fn swap_op(rw: &mut Rewriter<'_>, op: Op, def: &'static OpDef) -> bool {
    let operands: Vec<_> = rw.ir().operands(op).collect();
    rw.replace_with_op(op, def, &operands, &[]);
    true
}

fn ping_pong(ctx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
    let config = Config {
        max_iterations: ctx.limits.rewrite_iterations,
        rewrites_per_op: ctx.limits.rewrites_per_op,
        ..Config::default()
    };
    if let Err(overflow) = rewrite_greedily(ctx.ir, ctx.op, &[&PING, &PONG], &config) {
        ctx.report(ctx.overflow_error(&overflow));
    }
    Ok(())
}
