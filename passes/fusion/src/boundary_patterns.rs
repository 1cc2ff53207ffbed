//! Puts boundaries after patterns: a `fusion.segment_set` at each result that ops outside the pattern use.
//!
//! The kind of the ops sometimes decides where a kernel ends, for instance after a layer norm, regardless of the cost
//! model. This pass draws such boundaries after patterns of given names: patterns drawn by the frontend, or labels of
//! ops (`label-patterns`). Segmentation then starts from the groups that such boundaries leave.
//!
//! ```text
//! // names=norm
//! %n = task.pattern @norm { ... }                    %n = ...  {task.label = 0 : i64}
//! %y = fusion.exp %n                          =>     %0 = fusion.segment_set %n
//!                                                    %y = fusion.exp %0
//! ```
//!
//! Not in the default pipeline: a boundary is kept at any cost. Uses of the results inside the pattern, and results of
//! the program, are unchanged: no boundary is needed there. A name that no pattern has is a warning. Idempotent. Never
//! changes the results of a program. Linear.

use std::collections::BTreeSet;

use fuser_dialects::fusion;
use fuser_dialects::task::interface::{Task, outputs};
use fuser_dialects::task::labels;
use fuser_ir::build::Builder;
use fuser_ir::diag::CodeDef;
use fuser_ir::suggest::nearest;
use fuser_ir::{Diagnostic, Ir, Op, Traits, Value};
use fuser_pass::{OptionDef, OptionKind, PassContext, PassDef, StatDef};
use rustc_hash::FxHashSet;

/// The codes of this pass.
pub static CODES: &[CodeDef] = &[NO_SUCH_PATTERN];

/// A name that no pattern has.
pub const NO_SUCH_PATTERN: CodeDef = CodeDef {
    code: "FIR0715",
    title: "no pattern is called so",
    explanation: "`boundary-patterns` puts boundaries behind patterns of given names. The program has patterns, but none of this \
                  name: it may be misspelt, or a pass before has taken the pattern apart.",
    example: "$ fuser-opt x.fir --boundary-patterns=names=softmx\n\
              task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
                %y = task.pattern @softmax {\n    \
                  %y = fusion.exp %x\n    \
                  task.yield %y\n  \
                }\n  \
                task.return %y\n\
              }",
};

/// `boundary-patterns`
pub static BOUNDARY_PATTERNS: PassDef = PassDef {
    name: "boundary-patterns",
    summary: "puts boundaries behind patterns of given names",
    doc: "Puts a `fusion.segment_set` at each value that leaves a pattern called by one of `names` and that ops outside read, so \
          that the kernel of the pattern ends there. Patterns become labels, as by `label-patterns`. For what a frontend knows \
          better than the cost model; not in any pipeline.",
    anchor: &["task.program"],
    options: &[OptionDef {
        name: "names",
        kind: OptionKind::List,
        default: "",
        doc: "of patterns: layer_norm,softmax; none: all patterns",
    }],
    statistics: &[StatDef {
        name: "boundaries",
        doc: "boundaries put in",
    }],
    run: |ctx| {
        run(ctx);
        Ok(())
    },
    ..PassDef::EMPTY
};

fn run(ctx: &mut PassContext<'_>) {
    let names = ctx.options.list("names");
    labels::note(ctx.ir, ctx.op);
    let mut boundaries = 0;
    let sets = labels::sets(ctx.ir, ctx.op);
    let known: BTreeSet<String> = sets.iter().map(|set| set.name.clone()).collect();
    for name in names.iter().filter(|name| !known.contains(*name)) {
        warn(ctx, name, &known);
    }
    for set in sets {
        if names.is_empty() || names.contains(&set.name) {
            boundaries += end(ctx.ir, &set.ops);
        }
    }
    ctx.count("boundaries", boundaries);
}

/// Warns that no pattern is called `name`, if the program has patterns at all.
fn warn(ctx: &mut PassContext<'_>, name: &str, known: &BTreeSet<String>) {
    if known.is_empty() {
        return;
    }
    let message = format!("no pattern here is called '{name}'");
    let warning = Diagnostic::warning(&NO_SUCH_PATTERN, ctx.place(ctx.op), message);
    let near = nearest(name, known.iter().map(String::as_str));
    ctx.report(match near {
        Some(near) => warning.help(format!("did you mean '{near}'?")),
        None => warning,
    });
}

/// Puts a boundary at each value of `ops`, in program order, that other ops use; returns their number.
fn end(ir: &mut Ir, ops: &[Op]) -> u64 {
    let inside: FxHashSet<Op> = ops.iter().copied().collect();
    let mut boundaries = 0;
    for value in outputs(ir, Task::Ops(ops)) {
        boundaries += u64::from(boundary(ir, value, &inside, ops));
    }
    boundaries
}

fn boundary(ir: &mut Ir, value: Value, inside: &FxHashSet<Op>, ops: &[Op]) -> bool {
    // Terminators and boundaries need no boundary before them.
    let crosses = |ir: &Ir, user: Op| {
        !inside.contains(&user)
            && !ir.has(user, Traits::TERMINATOR)
            && !ir.has(user, Traits::BARRIER)
    };
    let (Some(producer), Some(&last)) = (ir.def_op(value), ops.last()) else {
        return false;
    };
    let users: Vec<Op> = ir.users(value).filter(|&u| crosses(ir, u)).collect();
    if users.is_empty() {
        return false;
    }
    // The boundary goes after the whole pattern, unless an earlier op uses the value.
    let early = users.iter().any(|&user| ir.is_before(user, last));
    let Some(anchor) = ir.next_op(if early { producer } else { last }) else {
        return false;
    };
    let mut builder = Builder::before(ir, anchor);
    let Ok(copy) = builder.value(&fusion::SEGMENT_SET, &[value], &[]) else {
        return false;
    };
    ir.replace_uses_if(value, copy, |ir, slot| crosses(ir, ir.use_owner(slot).0));
    true
}
