//! The pass `shard`: annotates each op with its split over the devices.
//!
//! ```text
//! %y = fusion.matmul %x, %w      =>      %y = fusion.matmul %x, %w {task.cut = [["data"], ["model"], []]}
//! ```
//!
//! The attribute lists, for each factor of the op (an axis of its iteration space), the mesh axes that split it. It has
//! no influence on the op's meaning. `partition` follows it, and so does this pass if it is already present. With
//! `forget`, the pass removes all such attributes.

use fuser_analysis::targets;
use fuser_dialects::task::mesh::{self, Mesh};
use fuser_ir::attr::{AttrId, AttrKind};
use fuser_ir::{Diagnostics, Ir};
use fuser_pass::{OptionDef, OptionKind, PassContext, PassDef, Remark, RemarkKind, StatDef};

use crate::decide::{CUT, SUMMANDS, decide};

/// `shard`
pub static SHARD: PassDef = PassDef {
    name: "shard",
    summary: "decide how each op is cut over the devices of the mesh",
    doc: "Writes the decision at ops as attributes, `task.cut` and `task.summands`. Decisions follow from what the user says (`{shard = ...}` at arguments and results, \
          `task.shard`), and from the time that ops and communications take by the figures of the target. Programs of one device stay as they are.",
    anchor: &["task.program"],
    options: &[
        targets::TARGET,
        OptionDef {
            name: "forget",
            kind: OptionKind::Bool,
            default: "false",
            doc: "take the decisions away instead",
        },
    ],
    statistics: &[
        StatDef {
            name: "cut",
            doc: "ops that devices share",
        },
        StatDef {
            name: "time-ns",
            doc: "nanoseconds on each device by the figures of the target",
        },
        StatDef {
            name: "link-ns",
            doc: "those of them on links",
        },
    ],
    run,
    ..PassDef::EMPTY
};

fn run(ctx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
    let program = ctx.op;
    if ctx.options.bool("forget") {
        for op in ctx.ir.walk(program) {
            ctx.ir.remove_attr(op, CUT);
            ctx.ir.remove_attr(op, SUMMANDS);
        }
        return Ok(());
    }
    let Some(mesh) = Mesh::of(ctx.ir, program).filter(|_| mesh::is_divided(ctx.ir, program)) else {
        return Ok(());
    };
    let Some(body) = ctx.ir.body(program, 0) else {
        return Ok(());
    };
    let target = targets::of(ctx);
    let plan = decide(ctx.ir, &mesh, &target, program, body);
    let mut shared = 0;
    for (op, decision) in plan.ops {
        for (name, lists) in [(CUT, &decision.cut), (SUMMANDS, &decision.summands)] {
            if lists.iter().any(|axes| !axes.is_empty()) {
                let attr = lists_attr(ctx.ir, &mesh, lists);
                ctx.ir.set_attr(op, name, attr);
                shared += u64::from(name == CUT);
            }
        }
    }
    let (time, links) = (plan.price.all() / 1_000_000, plan.price.links / 1_000_000);
    let text = format!("takes {time} ns on each device, {links} of them on links");
    let remark = Remark::new(RemarkKind::Analysis, "Devices", ctx.place(program), text);
    ctx.remark(remark);
    ctx.count("cut", shared);
    ctx.count("time-ns", time);
    ctx.count("link-ns", links);
    Ok(())
}

fn lists_attr(ir: &mut Ir, mesh: &Mesh, lists: &[Vec<usize>]) -> AttrId {
    let lists: Vec<AttrId> = lists
        .iter()
        .map(|axes| mesh::strings_attr(ir, &mesh.names(axes)))
        .collect();
    ir.attr(AttrKind::Array(lists))
}
