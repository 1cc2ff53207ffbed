//! Simplification of a program before ops are grouped. Each pass is a file; `preseg` runs them in the order of
//! [`PIPELINE`].
//!
//! No pass here changes a bit of a result (the payload of a NaN apart, which no op specifies), and none moves an op
//! across a user's boundary. nvFuser's pass of the same purpose does change bits in one case (it narrows
//! `f64 -> f32 -> f16` to one rounding); ours keeps the ops.
//!
//! Steps that nvFuser takes here and we take elsewhere, or not at all: views are found by segmentation and cost nothing
//! there; in-place updates are protected after scheduling, by `protect-updates`; extents need no merging, as two that
//! meet in an op have one name or the verifier says so; a product over an axis of extent 1 and the motion of gathers
//! wait for these ops.

mod cancel_slice_cat;
mod compose_broadcasts;
mod detach_views;
mod drop_copies;
mod fold_casts;
mod ignore_nan;
mod infer_layouts;
mod move_repeats;
mod remove_empty;
mod repeat_to_expand;
mod sink_windows;
mod swap_casts;
#[cfg(test)]
mod tests;

pub use cancel_slice_cat::CANCEL_SLICE_CAT;
pub use compose_broadcasts::COMPOSE_BROADCASTS;
pub use detach_views::DETACH_VIEWS;
pub use drop_copies::DROP_COPIES;
pub use fold_casts::FOLD_CASTS;
pub use ignore_nan::IGNORE_NAN;
pub use infer_layouts::INFER_LAYOUTS;
pub use move_repeats::MOVE_REPEATS;
pub use remove_empty::REMOVE_EMPTY;
pub use repeat_to_expand::REPEAT_TO_EXPAND;
pub use sink_windows::{MAX_COPIES, SINK_WINDOWS};
pub use swap_casts::SWAP_CASTS;

use fuser_ir::attr::AttrId;
use fuser_ir::check;
use fuser_ir::def::{Computes, OpDef, OpParts};
use fuser_ir::maps::MapsDef;
use fuser_ir::rewrite::{Config, Pattern, Rewriter, rewrite_greedily};
use fuser_ir::{Block, Diagnostics, Ir, NewOp, Op, Sym, Traits, TypeId, Value};
use fuser_pass::{PassContext, PipelineDef};

/// `preseg`
pub static PIPELINE: PipelineDef = PipelineDef {
    name: "preseg",
    summary: "what simplifies before ops are grouped",
    anchor: "task.program",
    // Empty tensors first: what feeds them dies and confuses no later pass. Slices that are put together again vanish before a
    // `cat` that is left is looked at for repeats, and what maps a repeat maps what is repeated; all of it, and copies, before casts
    // look for neighbours. Casts move to where fewer
    // bytes are, which brings shape ops side by side; then those compose, and casts that met fold. Windows sink last: they copy
    // what stands above them, which is as small as it gets by then. What is equal now merges, what nothing needs goes. Maxima
    // are weakened after that: equal ones are one by then, and no dead op keeps one from it. Layouts come late, when nothing
    // takes another's place any more; they say what is a view, and results that are views part from what is read.
    text: "remove-empty,cancel-slice-cat,repeat-to-expand,move-repeats,drop-copies,fold-casts,swap-casts,compose-broadcasts,fold-casts,sink-windows,canonicalize,cse,dce,ignore-nan,infer-layouts,detach-views",
};

/// The block of a program, and the op that ends it and returns its results.
fn body_and_end(ir: &Ir, program: Op) -> Option<(Block, Op)> {
    let body = ir.body(program, 0)?;
    Some((body, ir.terminator(body)?))
}

/// Runs `patterns` over the op of the pass, and counts their applications under the statistic `rewrites`.
fn run_patterns(
    ctx: &mut PassContext<'_>,
    patterns: &[&'static Pattern],
) -> Result<(), Diagnostics> {
    let config = Config {
        max_iterations: ctx.limits.rewrite_iterations,
        rewrites_per_op: ctx.limits.rewrites_per_op,
        fold: false,
        ..Config::default()
    };
    match rewrite_greedily(ctx.ir, ctx.op, patterns, &config) {
        Ok(outcome) => {
            let counts = patterns.iter().map(|p| outcome.count(p.name));
            ctx.count("rewrites", counts.sum());
        }
        Err(overflow) => {
            let error = ctx.overflow_error(&overflow);
            ctx.report(error);
        }
    }
    Ok(())
}

/// Makes an op before `anchor` with inferred types; `None`, and no op, where inference says no or something else than
/// `wanted`.
fn make(
    rw: &mut Rewriter<'_>,
    anchor: Op,
    def: &'static OpDef,
    operands: &[Value],
    clauses: &[(&str, AttrId)],
    wanted: Option<TypeId>,
) -> Option<Value> {
    let ir = rw.ir_mut();
    let attrs: Vec<(Sym, AttrId)> = clauses.iter().map(|(n, a)| (ir.sym(n), *a)).collect();
    let parts = OpParts {
        operands,
        attrs: &attrs,
        regions: &[],
        stated: None,
    };
    let types = check::result_types(ir, def, parts).ok()?;
    if wanted.is_some_and(|w| types.first() != Some(&w)) {
        return None;
    }
    let new = NewOp {
        operands: operands.iter().copied().collect(),
        results: types.into_iter().map(|ty| (ty, None)).collect(),
        attrs: attrs.into_iter().collect(),
        ..NewOp::default()
    };
    let op = rw.insert_before(anchor, def, new);
    rw.ir().results(op).first().copied()
}

/// The attributes of an op by name.
fn clauses(ir: &Ir, op: Op) -> Vec<(String, AttrId)> {
    let attrs = ir.attrs(op).iter();
    attrs.map(|(k, a)| (ir.str(*k).to_owned(), *a)).collect()
}

/// The same, as [`make`] takes them.
fn borrowed(clauses: &[(String, AttrId)]) -> Vec<(&str, AttrId)> {
    clauses.iter().map(|(k, a)| (k.as_str(), *a)).collect()
}

/// The op that computes `value`, if it has no hint and is in the block of `user`.
fn made_near(ir: &Ir, value: Value, user: Op) -> Option<Op> {
    let near = |op: &Op| ir.parent_block(*op) == ir.parent_block(user) && is_free(ir, *op);
    ir.def_op(value).filter(near)
}

/// The same, of an op whose maps are of this family.
fn made_by(ir: &Ir, value: Value, family: &'static MapsDef, user: Op) -> Option<Op> {
    made_near(ir, value, user).filter(|&op| has_family(ir, op, family))
}

/// The same, of an op that computes this.
fn made_as(ir: &Ir, value: Value, what: Computes, user: Op) -> Option<Op> {
    made_near(ir, value, user).filter(|&op| ir.computes(op) == Some(what))
}

/// True if the maps of `op` are of this family.
fn has_family(ir: &Ir, op: Op, family: &'static MapsDef) -> bool {
    ir.def(op).is_some_and(|def| def.has_maps(family))
}

/// True if nothing of the user hangs on the op: no hint, no boundary.
fn is_free(ir: &Ir, op: Op) -> bool {
    let hinted = ir
        .inherent_attrs(op)
        .any(|(key, _)| ir.str(key).contains('.'));
    !hinted && !ir.has(op, Traits::BARRIER)
}

/// True if exactly one op, and not the end of the block, uses `value`.
fn is_single(ir: &Ir, value: Value) -> bool {
    let ends = ir.users(value).any(|u| ir.has(u, Traits::TERMINATOR));
    ir.has_one_use(value) && !ends
}
