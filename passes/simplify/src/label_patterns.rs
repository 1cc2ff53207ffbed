//! Turns the patterns of a frontend into labels of their ops.
//!
//! ```text
//!                                                      task.program @f(...) {task.labels = ["silu/2/-"]}
//! %y = task.pattern @silu {
//!   %s = fusion.sigmoid %x                             %s = fusion.sigmoid %x {task.label = 0 : i64}
//!   %y = fusion.mul %x, %s                       =>    %y = fusion.mul %x, %s {task.label = 0 : i64}
//!   task.yield %y
//! }
//! ```
//!
//! The module [`fuser_dialects::task::labels`] defines labels and the way back to patterns. Never changes the meaning
//! of a program.

use fuser_dialects::task::labels;
use fuser_pass::{PassDef, StatDef};

/// `label-patterns`
pub static LABEL_PATTERNS: PassDef = PassDef {
    name: "label-patterns",
    summary: "turns patterns into labels of their ops",
    doc: "Moves the ops of each `task.pattern` to where it stands; each op remembers its pattern as `task.label`, a number in the \
          program's list `task.labels`. So no pass stops at the boundary of a pattern, and `segment` still knows what the frontend \
          took for one thing. `inline-tasks` draws those patterns again that are still complete. A program without patterns \
          stays as it is.",
    anchor: &["task.program"],
    statistics: &[StatDef {
        name: "patterns",
        doc: "patterns dissolved",
    }],
    run: |ctx| {
        let patterns = labels::note(ctx.ir, ctx.op);
        ctx.count("patterns", patterns);
        Ok(())
    },
    ..PassDef::EMPTY
};
