//! Brings ops into their simplest form.
//!
//! Applies the folds of the op tables and the patterns of `patterns.rs` from a worklist until nothing changes. Every
//! rule preserves every bit of every result (except the payload of a NaN, which no op specifies).
//!
//! ```text
//! %a = fusion.permute %x dims [1, 0]
//! %b = fusion.permute %a dims [1, 0]     =>     task.return %x
//! task.return %b
//! ```
//!
//! Never reassociates, and never moves an op across the boundary of a task. The number of rewrites is bounded; the
//! error on overflow names the most frequent patterns.

mod known_indices;
mod lambdas;
pub mod parts;
mod patterns;
mod updates;

pub use patterns::PATTERNS;

use fuser_dialects::fusion;
use fuser_ir::ir::NewOp;
use fuser_ir::rewrite::{self, Config, FOLD, Outcome};
use fuser_ir::types::TypeId;
use fuser_ir::{AttrId, Diagnostics, Ir, OpDef};
use fuser_pass::{OptionDef, OptionKind, PassContext, PassDef, StatDef};

/// The attribute by which users control fusion; ops with it stay unchanged.
const HINT: &str = "fusion.hint";

/// `canonicalize`
pub static CANONICALIZE: PassDef = PassDef {
    name: "canonicalize",
    summary: "fold and simplify ops, one by one",
    doc: "Applies the folds of the op tables, removes dead pure ops, and rewrites by patterns until nothing changes: \
          identities vanish (a cast to the same type, a permutation back), chains of shape ops become one, constants go to \
          the right of commutative ops. No rule changes a bit of a result. `--debug-only=canonicalize` shows how often each \
          pattern applied.",
    options: &[
        OptionDef {
            name: "max-iterations",
            kind: OptionKind::COUNT,
            default: "0",
            doc: "rounds at most; 0: the limit of the session",
        },
        OptionDef {
            name: "disable-patterns",
            kind: OptionKind::List,
            default: "",
            doc: "patterns left out",
        },
        OptionDef {
            name: "enable-patterns",
            kind: OptionKind::List,
            default: "",
            doc: "the only patterns used, if any are named",
        },
    ],
    statistics: &[
        StatDef {
            name: "rewrites",
            doc: "patterns and folds applied, dead ops erased",
        },
        StatDef {
            name: "folds",
            doc: "folds among them",
        },
        StatDef {
            name: "visits",
            doc: "ops looked at",
        },
    ],
    run,
    ..PassDef::EMPTY
};

fn run(ctx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
    let disabled = ctx.options.list("disable-patterns");
    let enabled = ctx.options.list("enable-patterns");
    let max_iterations = match ctx.options.count("max-iterations") {
        0 => ctx.limits.rewrite_iterations,
        n => u32::try_from(n).unwrap_or(u32::MAX),
    };
    let config = Config {
        max_iterations,
        rewrites_per_op: ctx.limits.rewrites_per_op,
        materialize: Some(constant),
        keep: Some(|ir, op| ir.get_attr(op, HINT).is_some()),
        disabled: &disabled,
        enabled: &enabled,
        ..Config::default()
    };
    match rewrite::rewrite_greedily(ctx.ir, ctx.op, PATTERNS, &config) {
        Ok(outcome) => {
            count(ctx, &outcome);
            Ok(())
        }
        Err(overflow) => {
            ctx.report(ctx.overflow_error(&overflow));
            Ok(())
        }
    }
}

fn count(ctx: &mut PassContext<'_>, outcome: &Outcome) {
    ctx.count("rewrites", outcome.rewrites);
    ctx.count("folds", outcome.count(FOLD));
    ctx.count("visits", outcome.visits);
    for (name, times) in &outcome.counts {
        ctx.debug("canonicalize", |_| format!("{name}: {times}"));
    }
}

/// A `fusion.constant` for a folded value.
fn constant(ir: &mut Ir, value: AttrId, _: TypeId) -> Option<(&'static OpDef, NewOp)> {
    let new = NewOp {
        attrs: [(ir.sym("value"), value)].into_iter().collect(),
        ..NewOp::default()
    };
    Some((&fusion::CONSTANT, new))
}
