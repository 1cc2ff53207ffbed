//! A pass that panics, leaves invalid IR or reports an error, so that tests see the tool's answer.

use fuser_dialects::fusion;
use fuser_ir::diag::CodeDef;
use fuser_ir::{Diagnostics, Ir, Op};
use fuser_pass::{OptionDef, OptionKind, PassContext, PassDef};

/// The codes of this file.
pub static CODES: &[CodeDef] = &[TEST_ERROR];

/// `test-crash`
pub static TEST_CRASH: PassDef = PassDef {
    name: "test-crash",
    summary: "misbehave (for tests)",
    doc: "Panics, leaves invalid IR, or reports an error, where there is a `fusion.exp` inside, or on the op named by `on`.",
    options: &[
        OptionDef {
            name: "mode",
            kind: OptionKind::Choice(&["panic", "invalid", "error"]),
            default: "panic",
            doc: "how to misbehave",
        },
        ON,
    ],
    hidden: true,
    run: crash,
    ..PassDef::EMPTY
};

/// FIR0799
const TEST_ERROR: CodeDef = CodeDef {
    code: "FIR0799",
    title: "error on request",
    explanation: "Reported by `test-crash=mode=error` only.",
    example: "$ fuser-opt x.fir --test-crash=mode=error\n\
              task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
              %y = fusion.exp %x\n  \
              task.return %y\n\
              }",
};

const ON: OptionDef = OptionDef {
    name: "on",
    kind: OptionKind::Text,
    default: "",
    doc: "symbol of the op to misbehave on; empty: the first op called 'fusion.exp', anywhere",
};

fn crash(ctx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
    let on = ctx.options.text("on").to_owned();
    let found = match on.is_empty() {
        true => first(ctx.ir, ctx.op, &fusion::EXP),
        false => Some(ctx.op).filter(|_| ctx.function().as_deref() == Some(&on)),
    };
    let Some(op) = found else {
        return Ok(());
    };
    match ctx.options.text("mode") {
        "panic" => panic!("test-crash was asked to panic"),
        "invalid" => drop_operand(ctx.ir, op),
        _ => ctx.report(ctx.error_at(op, &TEST_ERROR, "test-crash was asked to report an error")),
    }
    Ok(())
}

fn drop_operand(ir: &mut Ir, op: Op) {
    ir.set_operands(op, &[]);
}

fn first(ir: &Ir, root: Op, def: &'static fuser_ir::OpDef) -> Option<Op> {
    ir.walk(root).into_iter().find(|&op| ir.is(op, def))
}
