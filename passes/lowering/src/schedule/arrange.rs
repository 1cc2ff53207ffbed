//! Writes a plan as sweeps and phases: orders the ops as planned, copies recomputed ops, and creates the boundaries.

use fuser_analysis::axes::{Axes, AxisId};
use fuser_analysis::cost::{Epilogue, LoopNest, Model, Plan};
use fuser_dialects::task;
use fuser_dialects::task::outline::outline;
use fuser_ir::clone::Mapping;
use fuser_ir::{AttrKind, Dim, Ir, Op, OpDef, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::hoist::{Candidates, Hoisted, Kept, hoist};
use super::loops::Loops;
use crate::spec::{LoopAxis, Role};

/// A future sweep: its ops by phase, and its loops over the segment's axes.
struct Walk<'a> {
    phases: Vec<Vec<Op>>,
    nest: &'a LoopNest,
    /// Fast memory that its plan fills.
    tile_bytes: u64,
    /// The number of phases inside its steps. Later phases run in the last block of a GPU, on complete sums.
    inside: usize,
    /// True if it comes after the loops of a sweep.
    epilogue: bool,
    /// The ops whose results it writes. Other sweeps that need these ops as intermediates have copies.
    writes: FxHashSet<Op>,
}

/// The sweeps that were drawn, and the decisions on the way.
#[derive(Clone, Debug, Default)]
pub struct Arranged {
    /// The number of sweeps.
    pub sweeps: usize,
    /// The values computed before loops, each with the names of those loops.
    pub hoisted: Vec<(Kept, String)>,
}

/// Writes the sweeps and phases of `plan` inside `segment`, or returns the reason why a sweep has no loops.
pub fn arrange(
    ir: &mut Ir,
    segment: Op,
    plan: &Plan,
    axes: &Axes,
    model: &Model,
) -> Result<Arranged, String> {
    let mut walks = walks(ir, plan);
    walks.retain(|w| w.phases.iter().any(|p| !p.is_empty()));
    let original = place(ir, segment, &mut walks);
    drop_dead(ir, segment, &walks);
    // All loops first: what a drawn sweep gives to later ones is no value of `axes` any more.
    let mut chosen = Vec::new();
    for walk in walks {
        let (local, mut loops, hoisted) = choose(ir, segment, &walk, (axes, &original), model)?;
        let phases = bring_forward(ir, &walk, &hoisted);
        let last = walk.phases[walk.inside..].to_vec();
        let summed = summed(&local, &walk, &loops);
        if !hoisted.is_empty() {
            let early = hoisted.iter().map(|h| &h.ops);
            let ops = early.chain(&phases).chain(&last);
            let ops: Vec<Op> = ops.flatten().copied().collect();
            renumber(ir, &local, &ops, &mut loops)?;
        }
        chosen.push((loops, hoisted, phases, last, summed));
    }
    let mut arranged = Arranged::default();
    for (loops, hoisted, phases, last, summed) in chosen {
        let mut members = Vec::new();
        for phase in hoisted {
            let member = enclose(ir, &phase.ops, &task::PHASE)?;
            let before: Vec<String> = phase
                .before
                .iter()
                .map(|&l| loops.loops[l].name())
                .collect();
            write_strings(ir, member, "before", &before);
            let kept = phase.kept.into_iter().map(|k| (k, before.join(", ")));
            arranged.hoisted.extend(kept);
            members.push(member);
        }
        for phase in phases {
            members.push(enclose(ir, &phase, &task::PHASE)?);
        }
        let after: Vec<String> = summed.iter().map(|&l| loops.loops[l].name()).collect();
        for phase in last {
            let member = enclose(ir, &phase, &task::PHASE)?;
            write_strings(ir, member, "after", &after);
            members.push(member);
        }
        let sweep = enclose(ir, &members, &task::SWEEP)?;
        write_clauses(ir, sweep, &loops);
        arranged.sweeps += 1;
    }
    Ok(arranged)
}

/// The loops of the grid along which sums of a walk go.
fn summed(axes: &Axes, walk: &Walk<'_>, loops: &Loops) -> Vec<usize> {
    let ops = walk.phases[..walk.inside].iter().flatten();
    let reduced: FxHashSet<AxisId> = ops.flat_map(|&op| axes.reduced(op)).copied().collect();
    let loops = loops.loops.iter().enumerate();
    let summed =
        loops.filter(|(_, l)| l.role == Role::Grid && l.axes.iter().any(|a| reduced.contains(a)));
    summed.map(|(n, _)| n).collect()
}

/// Moves hoisted ops before the other ops of their walk and returns the remaining phases.
fn bring_forward(ir: &mut Ir, walk: &Walk<'_>, hoisted: &[Hoisted]) -> Vec<Vec<Op>> {
    let early: FxHashSet<Op> = hoisted.iter().flat_map(|h| h.ops.iter().copied()).collect();
    let mut phases = walk.phases[..walk.inside].to_vec();
    phases
        .iter_mut()
        .for_each(|p| p.retain(|op| !early.contains(op)));
    phases.retain(|p| !p.is_empty());
    if let Some(&first) = phases.first().and_then(|p| p.first()) {
        for &op in hoisted.iter().flat_map(|h| &h.ops) {
            ir.move_before(op, first);
        }
    }
    phases
}

/// The sweeps of a plan, and behind each the walks of its epilogue.
fn walks<'a>(ir: &Ir, plan: &'a Plan) -> Vec<Walk<'a>> {
    let mut walks = Vec::new();
    for sweep in &plan.sweeps {
        let written = sweep.stores.iter().chain(&sweep.keeps);
        let (last, behind) = sweep.epilogues.split_at(sweep.in_last_block);
        let last: Vec<Vec<Op>> = last.iter().map(|walk| walk.ops.clone()).collect();
        walks.push(Walk {
            phases: [&sweep.phases[..], &last].concat(),
            nest: &sweep.nest,
            tile_bytes: sweep.tile_bytes,
            inside: sweep.phases.len(),
            epilogue: false,
            writes: written.filter_map(|&v| ir.def_op(v)).collect(),
        });
        walks.extend(behind.iter().map(epilogue));
    }
    walks
}

/// The walk of an epilogue after a sweep. Its intermediate values are not among its writes.
fn epilogue(Epilogue { ops, writes, nest }: &Epilogue) -> Walk<'_> {
    Walk {
        nest,
        writes: writes.iter().copied().collect(),
        phases: vec![ops.clone()],
        inside: 1,
        tile_bytes: 0,
        epilogue: true,
    }
}

/// Puts the ops of all walks in order before the segment's terminator. An op of several walks stays in the walk that
/// writes its result, or in the first one, and is copied into the others. An op that a later phase of its walk
/// recomputes is copied too.
///
/// An op reads values computed in its own phase, then those of its walk, then those of an epilogue whose walk is no
/// larger than the value, then the original. The returned map gives the original of each copied result.
fn place(ir: &mut Ir, segment: Op, walks: &mut [Walk<'_>]) -> FxHashMap<Value, Value> {
    let mut original: FxHashMap<Value, Value> = FxHashMap::default();
    let Some(end) = ir.body(segment, 0).and_then(|b| ir.terminator(b)) else {
        return original;
    };
    let mut owner: FxHashMap<Op, usize> = FxHashMap::default();
    for (number, walk) in walks.iter().enumerate() {
        for &op in walk.phases.iter().flatten() {
            let first = owner.entry(op).or_insert(number);
            if walk.writes.contains(&op) && !walks[*first].writes.contains(&op) {
                *first = number;
            }
        }
    }
    let mut apart: FxHashMap<Value, Value> = FxHashMap::default();
    for (number, walk) in walks.iter_mut().enumerate() {
        let mut mapping = Mapping::default();
        let mut copied: FxHashMap<Value, Value> = FxHashMap::default();
        let mut done: FxHashSet<Op> = FxHashSet::default();
        for phase in &mut walk.phases {
            // What a phase computes again is for that phase.
            let mut again: FxHashMap<Value, Value> = FxHashMap::default();
            for slot in phase {
                let first = done.insert(*slot);
                if first && owner.get(slot) == Some(&number) {
                    ir.move_before(*slot, end);
                    redirect(ir, *slot, [&again, &copied, &apart], &original);
                    continue;
                }
                let copy = ir.clone_op(*slot, &mut mapping);
                ir.insert_before(end, copy);
                let copies = if first { &mut copied } else { &mut again };
                for (&from, &to) in ir.results(*slot).iter().zip(ir.results(copy)) {
                    copies.insert(from, to);
                    original.insert(to, from);
                }
                redirect(ir, copy, [&again, &copied, &apart], &original);
                *slot = copy;
            }
        }
        if walk.epilogue {
            apart.extend(copied);
        }
    }
    original
}

/// Removes ops that belong to no walk. No output of the segment depends on them, and they may precede their operands.
fn drop_dead(ir: &mut Ir, segment: Op, walks: &[Walk<'_>]) {
    let placed = walks.iter().flat_map(|w| w.phases.iter().flatten());
    let placed: FxHashSet<Op> = placed.copied().collect();
    let mut left = ir.children(segment);
    left.retain(|op| !placed.contains(op) && !ir.is(*op, &task::YIELD));
    // From the last on: what only dead ops use is dead in its turn.
    for op in left.into_iter().rev() {
        if ir.results(op).iter().all(|v| ir.is_unused(*v)) {
            ir.erase(op);
        }
    }
}

/// Redirects operands to copies, taken from the first map that has one, or to the originals.
fn redirect(
    ir: &mut Ir,
    op: Op,
    copies: [&FxHashMap<Value, Value>; 3],
    original: &FxHashMap<Value, Value>,
) {
    for index in 0..ir.operand_count(op) {
        let operand = ir.operand(op, index);
        let first = original.get(&operand).copied().unwrap_or(operand);
        let copy = copies.iter().find_map(|map| map.get(&first).copied());
        let here = copy.unwrap_or(first);
        if here != operand {
            ir.set_operand(op, index, here);
        }
    }
}

/// Renumbers the axes of `loops` to match `ops`. Axes are numbered in the order in which ops first use them.
fn renumber(ir: &Ir, before: &Axes, ops: &[Op], loops: &mut Loops) -> Result<(), String> {
    let after = Axes::build(ir, ops).map_err(|r| r.render(ir))?;
    let mut number: FxHashMap<AxisId, AxisId> = FxHashMap::default();
    for &value in before.values() {
        number.extend(before.logical(value).zip(after.logical(value)));
    }
    for axis in loops.loops.iter_mut().flat_map(|l| &mut l.axes) {
        *axis = number.get(axis).copied().unwrap_or(*axis);
    }
    Ok(())
}

/// The axes of a segment, and the map from copied values, which those axes lack, to their originals.
type Whole<'a> = (&'a Axes, &'a FxHashMap<Value, Value>);

/// The loops of a walk whose ops are in place, and the values to hoist before them.
fn choose(
    ir: &Ir,
    segment: Op,
    walk: &Walk<'_>,
    whole: Whole,
    model: &Model,
) -> Result<(Axes, Loops, Vec<Hoisted>), String> {
    let inside = walk.phases[..walk.inside].iter();
    let ops: Vec<Op> = inside.flatten().copied().collect();
    // What the last block computes may cut an axis in two.
    let all: Vec<Op> = walk.phases.iter().flatten().copied().collect();
    let axes = Axes::build(ir, &all).map_err(|r| r.render(ir))?;
    let unknown = || {
        format!(
            "an extent of segment '{}' is not known",
            ir.symbol_name(segment).unwrap_or("?")
        )
    };
    // Of an axis that is not walked too: results have it.
    if axes.ids().any(|axis| axes.extent(axis).is_none()) {
        return Err(unknown());
    }
    let factors = |axis| counterparts(&axes, whole, axis);
    let reduced: FxHashSet<AxisId> = ops
        .iter()
        .flat_map(|&op| axes.reduced(op))
        .copied()
        .collect();
    let reduced = |axis| reduced.contains(&axis);
    let loops = Loops::of(walk.nest, &axes, factors, reduced);
    let loops = loops.ok_or_else(unknown)?;
    let hoisted = hoist(&Candidates {
        ir,
        axes: &axes,
        bindings: &model.bindings,
        loops: &loops,
        ops: &ops,
        target: &model.target,
        room: model.target.tile_bytes.saturating_sub(walk.tile_bytes),
    });
    Ok((axes, loops, hoisted))
}

/// The segment's axes that make up an axis of the walk: one, where a value has as many factors in both.
fn counterparts(axes: &Axes, (whole, original): Whole, axis: AxisId) -> Vec<AxisId> {
    let mut several = Vec::new();
    for &value in axes.values() {
        let copied = original.get(&value).unwrap_or(&value);
        for (local, global) in axes.value(value).iter().zip(whole.value(*copied)) {
            let Some(at) = local.axes.iter().position(|&a| a == axis) else {
                continue;
            };
            if local.axes.len() == global.axes.len() {
                return vec![global.axes[at]];
            }
            if several.is_empty() {
                several = global.axes.to_vec();
            }
        }
    }
    several
}

fn enclose(ir: &mut Ir, ops: &[Op], kind: &'static OpDef) -> Result<Op, String> {
    outline(ir, ops, kind, None).map_err(|r| r.to_string())
}

fn write_strings(ir: &mut Ir, op: Op, clause: &str, texts: &[String]) {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let attr = ir.string_array_attr(&texts);
    ir.set_attr(op, clause, attr);
}

fn write_clauses(ir: &mut Ir, sweep: Op, loops: &Loops) {
    let names: Vec<String> = loops.loops.iter().map(LoopAxis::name).collect();
    let roles: Vec<&str> = loops.loops.iter().map(|l| l.role.name()).collect();
    let tiles: Vec<i64> = loops.loops.iter().map(|l| l.tile).collect();
    let extents: Option<Vec<Dim>> = loops
        .loops
        .iter()
        .map(|l| ir.extent(l.extent.clone()).map(Dim::new))
        .collect();
    write_strings(ir, sweep, "axes", &names);
    let roles = ir.string_array_attr(&roles);
    let tiles = ir.i64_array_attr(&tiles);
    if let Some(extents) = extents {
        let extents = ir.attr(AttrKind::Extents(extents));
        ir.set_attr(sweep, "extents", extents);
    }
    ir.set_attr(sweep, "roles", roles);
    ir.set_attr(sweep, "tile", tiles);
    for (name, value) in [
        ("vector", loops.vector as i64),
        ("partials", loops.partials),
        ("threads", loops.threads),
        ("groups", loops.groups),
    ] {
        if value > 1 {
            let attr = ir.int_attr(value);
            ir.set_attr(sweep, name, attr);
        }
    }
}
