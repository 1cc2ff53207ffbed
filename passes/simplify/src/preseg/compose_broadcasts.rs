//! Composes and cancels `broadcast`, `expand` and `squeeze`.
//!
//! ```text
//! squeeze(broadcast(x))    =>  x, or the broadcast without the axes of extent 1 that were added and removed
//! broadcast(broadcast(x))  =>  one broadcast
//! expand(broadcast(x))     =>  one broadcast, where only axes that the broadcast added grow
//! squeeze(squeeze(x))      =>  one squeeze
//! ```
//!
//! The inner op stays if it has other users. Never removes an axis that x has; never touches ops with a hint.

use fuser_dialects::fusion::{self, maps};
use fuser_ir::attr::AttrKind;
use fuser_ir::maps::MapsDef;
use fuser_ir::rewrite::{Pattern, Rewriter};
use fuser_ir::types::{Dim, Extent};
use fuser_ir::{AttrId, Ir, Op, OpDef, Value};
use fuser_pass::{PassDef, StatDef};

use super::{is_free, made_by, make, run_patterns};

/// `compose-broadcasts`
pub static COMPOSE_BROADCASTS: PassDef = PassDef {
    name: "compose-broadcasts",
    summary: "composes and cancels broadcast, expand and squeeze",
    doc: "A squeeze that removes what a broadcast added cancels with it; chains of broadcasts, of squeezes, and an expand of \
          what a broadcast added become one op. Frontends emit such chains for every weight and every mean.",
    statistics: &[StatDef {
        name: "rewrites",
        doc: "pairs composed or cancelled",
    }],
    run: |ctx| {
        run_patterns(
            ctx,
            &[
                &SQUEEZE_OF_BROADCAST,
                &BROADCAST_OF_BROADCAST,
                &EXPAND_OF_BROADCAST,
                &SQUEEZE_OF_SQUEEZE,
            ],
        )
    },
    ..PassDef::EMPTY
};

static SQUEEZE_OF_BROADCAST: Pattern = Pattern {
    name: "squeeze-of-broadcast",
    summary: "squeeze(broadcast(x)) => x or a smaller broadcast",
    roots: &["fusion.squeeze"],
    benefit: 2,
    rewrite: squeeze_of_broadcast,
};
static BROADCAST_OF_BROADCAST: Pattern = Pattern {
    name: "broadcast-of-broadcast",
    summary: "broadcast(broadcast(x)) => broadcast(x)",
    roots: &["fusion.broadcast"],
    benefit: 1,
    rewrite: broadcast_of_broadcast,
};
static EXPAND_OF_BROADCAST: Pattern = Pattern {
    name: "expand-of-broadcast",
    summary: "expand(broadcast(x)) => broadcast(x)",
    roots: &["fusion.expand"],
    benefit: 1,
    rewrite: expand_of_broadcast,
};
static SQUEEZE_OF_SQUEEZE: Pattern = Pattern {
    name: "squeeze-of-squeeze",
    summary: "squeeze(squeeze(x)) => squeeze(x)",
    roots: &["fusion.squeeze"],
    benefit: 1,
    rewrite: squeeze_of_squeeze,
};

/// The inner op of table `def`, with the outer op's clause `dims`.
fn pair(ir: &Ir, outer: Op, family: &'static MapsDef) -> Option<Op> {
    let inner = made_by(ir, ir.operand(outer, 0), family, outer)?;
    is_free(ir, outer).then_some(inner)
}

fn dims(ir: &Ir, op: Op) -> Vec<usize> {
    let dims = ir.i64s_of(op, "dims").unwrap_or_default().iter();
    dims.filter_map(|&d| usize::try_from(d).ok()).collect()
}

fn shape(ir: &Ir, value: Value) -> Vec<Dim> {
    let tensor = ir.value_kind(value).as_tensor();
    tensor.map_or_else(Vec::new, |t| t.dims.clone())
}

fn squeeze_of_broadcast(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = rw.ir();
    let Some(inner) = pair(ir, op, &maps::BROADCAST) else {
        return false;
    };
    let (kept, gone) = (dims(ir, inner), dims(ir, op));
    if gone.iter().any(|g| kept.contains(g)) {
        return false;
    }
    // Where the axes of x stand once the others are gone.
    let rest: Vec<usize> = (0..shape(ir, ir.result(inner, 0)).len())
        .filter(|i| !gone.contains(i))
        .collect();
    let places: Option<Vec<usize>> = kept
        .iter()
        .map(|k| rest.iter().position(|r| r == k))
        .collect();
    let Some(places) = places else { return false };
    let source = ir.operand(inner, 0);
    if ir.value_type(source) == ir.value_type(ir.result(op, 0)) {
        rw.replace(op, &[source]);
        return true;
    }
    let wanted = shape(ir, ir.result(op, 0));
    broadcast(rw, op, source, &places, wanted)
}

fn broadcast_of_broadcast(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = rw.ir();
    let Some(inner) = pair(ir, op, &maps::BROADCAST) else {
        return false;
    };
    let (first, second) = (dims(ir, inner), dims(ir, op));
    let places: Option<Vec<usize>> = first.iter().map(|&f| second.get(f).copied()).collect();
    let Some(places) = places else { return false };
    let (source, wanted) = (ir.operand(inner, 0), shape(ir, ir.result(op, 0)));
    broadcast(rw, op, source, &places, wanted)
}

fn expand_of_broadcast(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = rw.ir();
    let Some(inner) = pair(ir, op, &maps::BROADCAST) else {
        return false;
    };
    let (from, to) = (shape(ir, ir.result(inner, 0)), shape(ir, ir.result(op, 0)));
    let kept = dims(ir, inner);
    let grows = |i: &usize| from.get(*i).map(|d| d.extent) != to.get(*i).map(|d| d.extent);
    if from.len() != to.len() || kept.iter().any(grows) {
        return false;
    }
    let source = ir.operand(inner, 0);
    broadcast(rw, op, source, &kept, to)
}

fn squeeze_of_squeeze(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = rw.ir();
    let Some(inner) = pair(ir, op, &maps::SQUEEZE) else {
        return false;
    };
    let (first, second) = (dims(ir, inner), dims(ir, op));
    let source = ir.operand(inner, 0);
    let rest = (0..shape(ir, source).len()).filter(|i| !first.contains(i));
    let later: Vec<usize> = rest
        .enumerate()
        .filter(|(n, _)| second.contains(n))
        .map(|(_, i)| i)
        .collect();
    let mut all: Vec<i64> = first.iter().chain(&later).map(|&i| i as i64).collect();
    all.sort_unstable();
    let clause = rw.ir_mut().i64_array_attr(&all);
    compose(rw, op, &fusion::SQUEEZE, source, &[("dims", clause)])
}

/// Replaces `op` by a broadcast of `source` with axes at `places`.
fn broadcast(
    rw: &mut Rewriter<'_>,
    op: Op,
    source: Value,
    places: &[usize],
    wanted: Vec<Dim>,
) -> bool {
    let places: Vec<i64> = places.iter().map(|&p| p as i64).collect();
    let places = rw.ir_mut().i64_array_attr(&places);
    let plain = wanted.iter().map(|d| Dim::new(d.extent)).collect();
    let shape = rw.ir_mut().attr(AttrKind::Extents(plain));
    let clauses = [("dims", places), ("shape", shape)];
    if wanted.iter().any(|d| d.extent == Extent::Unknown) {
        return false;
    }
    compose(rw, op, &fusion::BROADCAST, source, &clauses)
}

/// Replaces `op` by an op of table `def` on `source`, if that has exactly the same type.
fn compose(
    rw: &mut Rewriter<'_>,
    op: Op,
    def: &'static OpDef,
    source: Value,
    clauses: &[(&str, AttrId)],
) -> bool {
    let wanted = rw.ir().value_type(rw.ir().result(op, 0));
    match make(rw, op, def, &[source], clauses, Some(wanted)) {
        Some(new) => {
            rw.replace(op, &[new]);
            true
        }
        None => false,
    }
}
