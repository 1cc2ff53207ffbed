//! Duplicates a result that is only a view if other ops use the view.
//!
//! ```text
//! %r = fusion.reshape %x shape [24]                    %r = fusion.reshape %x shape [24]      // %x's memory: no kernel, no bytes
//! %y = fusion.exp %r                           =>      %0 = fusion.reshape %x shape [24]
//! task.return %r, %y                                   %y = fusion.exp %0
//!                                                      task.return %r, %y
//! ```
//!
//! A kernel that reads `%r` would contain its op and store data that memory already holds. After duplication, the op
//! that leads only to results becomes a view (`segment`), and the other becomes index arithmetic in the kernel. A chain
//! of views is processed from its end to its start.
//!
//! Always legal: both ops compute the same value. Applied if it saves a store: the chain starts at an argument, at a
//! result, or at a value stored by a boundary, or has two result names. Ops with a hint, boundaries, and results that
//! overwrite an argument (which are always written) stay. Idempotent. One walk over the ops in each direction.
//!
//! `cse` would merge the two ops again, so it precedes this pass.

use fuser_analysis::cost::keeps_memory;
use fuser_dialects::task::updates;
use fuser_ir::clone::Mapping;
use fuser_ir::{Block, Diagnostics, Ir, Op, Traits, Value};
use fuser_pass::{PassContext, PassDef, StatDef};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{body_and_end, is_free};

/// `detach-views`
pub static DETACH_VIEWS: PassDef = PassDef {
    name: "detach-views",
    summary: "separates results that are views from views that are read",
    doc: "A shape op that keeps memory as it is, and whose result is both returned and read, becomes two: one that the program \
          returns, which costs nothing, and one for the users.",
    anchor: &["task.program"],
    statistics: &[StatDef {
        name: "views",
        doc: "ops copied for users",
    }],
    run,
    ..PassDef::EMPTY
};

fn run(ctx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
    let program = ctx.op;
    let Some((body, end)) = body_and_end(ctx.ir, program) else {
        return Ok(());
    };
    let names = Names::find(ctx.ir, program, body, end);
    let mut count = 0;
    let mut pure: FxHashSet<Op> = FxHashSet::default();
    for &op in names.ops.iter().rev() {
        let result = ctx.ir.result(op, 0);
        let named = |user: Op| user == end || pure.contains(&user);
        if !ctx.ir.users(result).any(named) || !names.in_memory.contains(&result) {
            continue;
        }
        if !ctx.ir.users(result).all(named) {
            if !is_free(ctx.ir, op) {
                continue;
            }
            give_copy(ctx.ir, op, named);
            count += 1;
        }
        pure.insert(op);
    }
    ctx.count("views", count);
    Ok(())
}

/// Inserts a copy of `op` after it; all users except those selected by `named` use the copy.
fn give_copy(ir: &mut Ir, op: Op, named: impl Fn(Op) -> bool) {
    let result = ir.result(op, 0);
    let copy = ir.clone_op(op, &mut Mapping::default());
    ir.insert_after(op, copy);
    let twin = ir.result(copy, 0);
    ir.replace_uses_if(result, twin, |ir, slot| !named(ir.use_owner(slot).0));
}

/// The ops of a program that give memory another name.
struct Names {
    /// In program order.
    ops: Vec<Op>,
    /// The results of those whose memory is there whether a kernel stores the result or not.
    in_memory: FxHashSet<Value>,
}

impl Names {
    fn find(ir: &Ir, program: Op, body: Block, end: Op) -> Self {
        let ops = ir.block_ops(body).filter(|&op| keeps_memory(ir, op));
        let ops: Vec<Op> = ops.collect();
        let written = |i: usize| updates::argument(ir, program, i).is_some();
        let returned: FxHashSet<Value> = ir.operands(end).collect();
        let overwriting = ir.operands(end).enumerate().filter(|(i, _)| written(*i));
        let overwriting: FxHashSet<Value> = overwriting.map(|(_, value)| value).collect();
        // How many results each value has as other names, itself excluded: two are enough for it to be stored as itself.
        let mut others: FxHashMap<Value, usize> = FxHashMap::default();
        for &op in ops.iter().rev() {
            let result = ir.result(op, 0);
            let own = usize::from(returned.contains(&result));
            let through = others.get(&result).copied().unwrap_or(0);
            *others.entry(ir.operand(op, 0)).or_default() += (own + through).min(2);
        }
        let mut in_memory = FxHashSet::default();
        for &op in &ops {
            let source = ir.operand(op, 0);
            let stored = match ir.def_op(source) {
                None => true,
                Some(producer) => {
                    returned.contains(&source)
                        || in_memory.contains(&source)
                        || ir.has(producer, Traits::BARRIER)
                        || others.get(&source).is_some_and(|&n| n > 1)
                }
            };
            if stored && !overwriting.contains(&ir.result(op, 0)) {
                in_memory.insert(ir.result(op, 0));
            }
        }
        Self { ops, in_memory }
    }
}
