//! From a plan to sweeps and phases: puts ops in the plan's order, copies what is recomputed, draws the borders.

use fuser_dialects::task;
use fuser_dialects::task::outline::outline;
use fuser_ir::clone::Mapping;
use fuser_ir::{AttrKind, Dim, Ir, Op, OpDef, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::loops::{Draft, Loops, Tuning};
use crate::axes::{Axes, AxisId};
use crate::cost::{self, Plan};
use crate::lower::spec::{Role, axis_name};

/// One sweep to be: ops by phase, and roles by axis of the segment.
struct Walk {
    phases: Vec<Vec<Op>>,
    roles: Vec<(AxisId, Role)>,
}

/// Draws the sweeps and phases of `plan` inside `segment`. Returns how many sweeps there are, or why a sweep has no loops.
pub fn arrange(
    ir: &mut Ir,
    segment: Op,
    plan: &Plan,
    axes: &Axes,
    tuning: &Tuning,
) -> Result<usize, String> {
    let mut walks = walks(ir, plan, axes);
    walks.retain(|w| w.phases.iter().any(|p| !p.is_empty()));
    place(ir, segment, &mut walks);
    drop_dead(ir, segment, &walks);
    let count = walks.len();
    for walk in walks {
        let loops = choose(ir, segment, &walk, axes, tuning)?;
        let mut members = Vec::new();
        for phase in walk.phases.iter().filter(|p| !p.is_empty()) {
            members.push(enclose(ir, phase, &task::PHASE)?);
        }
        let sweep = enclose(ir, &members, &task::SWEEP)?;
        write_clauses(ir, sweep, &loops);
    }
    Ok(count)
}

/// The sweeps of a plan, each epilogue a walk of its own over its small space.
fn walks(ir: &Ir, plan: &Plan, axes: &Axes) -> Vec<Walk> {
    let mut walks = Vec::new();
    for sweep in &plan.sweeps {
        let roles = sweep
            .axes
            .iter()
            .map(|&(axis, role)| (axis, convert(role)))
            .collect();
        walks.push(Walk {
            phases: sweep.phases.clone(),
            roles,
        });
        walks.extend(epilogues(ir, &sweep.epilogue, axes));
    }
    walks
}

/// A walk of an epilogue before its roles are known: its space and its ops.
type Group = (Vec<AxisId>, Vec<Op>);

/// Ops on accumulated results, grouped by the space that they walk. A group stands after those whose results it uses.
fn epilogues(ir: &Ir, ops: &[Op], axes: &Axes) -> Vec<Walk> {
    let mut groups: Vec<Group> = Vec::new();
    let mut group_of: FxHashMap<Op, usize> = FxHashMap::default();
    for &op in ops {
        let sources = ir.operands(op).filter_map(|v| ir.def_op(v));
        let first = sources.filter_map(|d| group_of.get(&d)).max();
        let number = join_group(
            &mut groups,
            first.copied().unwrap_or(0),
            space(ir, op, axes),
        );
        groups[number].1.push(op);
        group_of.insert(op, number);
    }
    let walk = |(space, ops): Group| Walk {
        roles: space.into_iter().map(|a| (a, Role::Grid)).collect(),
        phases: vec![ops],
    };
    groups.into_iter().map(walk).collect()
}

/// The first group from `first` on that walks `space`, or a new one.
fn join_group(groups: &mut Vec<Group>, first: usize, space: Vec<AxisId>) -> usize {
    let mut later = groups.iter().enumerate().skip(first);
    if let Some((number, _)) = later.find(|(_, (own, _))| *own == space) {
        return number;
    }
    groups.push((space, Vec::new()));
    groups.len() - 1
}

/// The axes that the results of an op are stored on.
fn space(ir: &Ir, op: Op, axes: &Axes) -> Vec<AxisId> {
    let results = ir.results(op).iter();
    let mut space: Vec<AxisId> = results.flat_map(|&v| axes.stored(v)).collect();
    space.sort();
    space.dedup();
    space
}

fn convert(role: cost::Role) -> Role {
    match role {
        cost::Role::Grid => Role::Grid,
        cost::Role::Stream => Role::Stream,
        cost::Role::Tile => Role::Tile,
    }
}

/// Puts the ops of all walks in order before the segment's terminator; an op of an earlier walk is copied.
fn place(ir: &mut Ir, segment: Op, walks: &mut [Walk]) {
    let Some(end) = ir.body(segment, 0).and_then(|b| ir.terminator(b)) else {
        return;
    };
    let mut placed: FxHashSet<Op> = FxHashSet::default();
    for walk in walks {
        let mut mapping = Mapping::default();
        let mut copied: FxHashMap<Value, Value> = FxHashMap::default();
        for slot in walk.phases.iter_mut().flatten() {
            if placed.insert(*slot) {
                ir.move_before(*slot, end);
                redirect(ir, *slot, &copied);
                continue;
            }
            let copy = ir.clone_op(*slot, &mut mapping);
            ir.insert_before(end, copy);
            let results = ir.results(*slot).to_vec().into_iter();
            copied.extend(results.zip(ir.results(copy).to_vec()));
            redirect(ir, copy, &copied);
            *slot = copy;
        }
    }
}

/// Removes ops that no walk has: nothing that leaves the segment depends on them, and they may stand before what they use.
fn drop_dead(ir: &mut Ir, segment: Op, walks: &[Walk]) {
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

/// Points operands at the copies made in the same walk.
fn redirect(ir: &mut Ir, op: Op, copied: &FxHashMap<Value, Value>) {
    for index in 0..ir.operand_count(op) {
        if let Some(&copy) = copied.get(&ir.operand(op, index)) {
            ir.set_operand(op, index, copy);
        }
    }
}

/// Chooses the loops of a walk whose ops stand in place.
fn choose(
    ir: &Ir,
    segment: Op,
    walk: &Walk,
    whole: &Axes,
    tuning: &Tuning,
) -> Result<Loops, String> {
    let ops: Vec<Op> = walk.phases.iter().flatten().copied().collect();
    let axes = Axes::build(ir, &ops).map_err(|r| r.render(ir))?;
    let (inputs, outputs) = cost::boundary(ir, &ops);
    let draft = Draft {
        ir,
        axes: &axes,
        roles: local_roles(&axes, whole, walk),
        ops: &ops,
        memory: inputs.into_iter().chain(outputs).collect(),
    };
    let unknown = || {
        format!(
            "an extent of segment '{}' is not known",
            ir.symbol_name(segment).unwrap_or("?")
        )
    };
    draft.choose(tuning).ok_or_else(unknown)
}

/// Roles of the walk's own axes, in the order of the plan. The walk alone may have fewer factors than the segment: its axis
/// is resident if one of the segment's factors is.
fn local_roles(axes: &Axes, whole: &Axes, walk: &Walk) -> Vec<(AxisId, Role)> {
    let position = |a: AxisId| walk.roles.iter().position(|(axis, _)| *axis == a);
    let mut list: Vec<(usize, AxisId, Role)> = Vec::new();
    for axis in axes.ids() {
        let known: Vec<usize> = counterparts(axes, whole, axis)
            .into_iter()
            .filter_map(position)
            .collect();
        let role = known
            .iter()
            .map(|&p| walk.roles[p].1)
            .max_by_key(|r| *r as u8)
            .unwrap_or(Role::Grid);
        list.push((
            known.iter().copied().min().unwrap_or(usize::MAX),
            axis,
            role,
        ));
    }
    list.sort_by_key(|(position, axis, role)| (*role as u8, *position, *axis));
    list.into_iter()
        .map(|(_, axis, role)| (axis, role))
        .collect()
}

/// The segment's axes that make up an axis of the walk.
fn counterparts(axes: &Axes, whole: &Axes, axis: AxisId) -> Vec<AxisId> {
    for &value in axes.values() {
        for (local, global) in axes.value(value).iter().zip(whole.value(value)) {
            let Some(at) = local.axes.iter().position(|&a| a == axis) else {
                continue;
            };
            if local.axes.len() == global.axes.len() {
                return vec![global.axes[at]];
            }
            return global.axes.to_vec();
        }
    }
    Vec::new()
}

fn enclose(ir: &mut Ir, ops: &[Op], kind: &'static OpDef) -> Result<Op, String> {
    outline(ir, ops, kind, None).map_err(|r| r.to_string())
}

fn write_clauses(ir: &mut Ir, sweep: Op, loops: &Loops) {
    let names: Vec<String> = loops
        .loops
        .iter()
        .map(|l| {
            l.axes
                .iter()
                .map(|&a| axis_name(a))
                .collect::<Vec<_>>()
                .join("*")
        })
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let roles: Vec<&str> = loops.loops.iter().map(|l| l.role.name()).collect();
    let tiles: Vec<i64> = loops.loops.iter().map(|l| l.tile).collect();
    let extents: Option<Vec<Dim>> = loops
        .loops
        .iter()
        .map(|l| ir.extent(l.extent.clone()).map(Dim::new))
        .collect();
    let names = ir.string_array_attr(&names);
    let roles = ir.string_array_attr(&roles);
    let tiles = ir.i64_array_attr(&tiles);
    ir.set_attr(sweep, "axes", names);
    if let Some(extents) = extents {
        let extents = ir.attr(AttrKind::Extents(extents));
        ir.set_attr(sweep, "extents", extents);
    }
    ir.set_attr(sweep, "roles", roles);
    ir.set_attr(sweep, "tile", tiles);
    for (name, value) in [
        ("vector", loops.vector as i64),
        ("cells", loops.cells),
        ("threads", loops.threads),
    ] {
        if value > 1 {
            let attr = ir.int_attr(value);
            ir.set_attr(sweep, name, attr);
        }
    }
}
