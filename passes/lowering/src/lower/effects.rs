//! The effects of a phase, assigned to nests of loops, and the ops that each nest needs.
//!
//! An *effect* is a reduction, a store of a sweep output, or keeping a value in tile memory for a later phase. Effects
//! with equal loops share a nest. Pure ops belong to no nest: each nest computes the values that its effects need, from
//! global memory and from resident values. A value that a later phase reads is kept, unless the plan recomputes it
//! there.
//!
//! Decides and emits nothing.

use fuser_ir::def::OpClass;
use fuser_ir::{Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::combine::Combine;
use super::scan::Scan;
use super::sweep::{Resident, SweepLowering, Unsupported};
use crate::spec::Role;

/// Loop axes of a nest, outermost first, and what it is for.
pub(super) type Group = (Vec<usize>, Vec<Effect>);

/// The purpose of a nest.
#[derive(Clone, Debug)]
pub(super) enum Effect {
    /// A sweep output is written to global memory.
    Store(Value),
    /// A value is kept for later phases.
    Keep(Value),
    /// A reduction.
    Reduce(Reduction),
}

#[derive(Clone, Debug)]
pub(super) struct Reduction {
    pub(super) op: Op,
    pub(super) input: Value,
    pub(super) combine: Combine,
    /// Loop axes with tile loops that it reduces.
    pub(super) inner: Vec<usize>,
    /// The outermost loop from which inward all loops are reduced; results are carried from there. `None` if the
    /// reduction accumulates in memory, element by element.
    pub(super) carried_from: Option<usize>,
    /// Index into the accumulators where it also reduces outer loops.
    pub(super) accumulator: Option<usize>,
}

pub(super) struct Nest {
    /// Loop axes, outermost first.
    pub(super) loops: Vec<usize>,
    pub(super) effects: Vec<Effect>,
    /// Pure ops to compute, in program order.
    pub(super) ops: Vec<Op>,
    /// Values to load from global memory, in order of first use.
    pub(super) loads: Vec<Value>,
    /// The scans among the ops.
    pub(super) scans: Vec<Scan>,
}

impl SweepLowering<'_> {
    pub(super) fn group_effects(&mut self, phase: usize) -> Result<Vec<Group>, Unsupported> {
        let outputs = self.output_set();
        let mut groups: Vec<Group> = Vec::new();
        let mut add = |loops: Vec<usize>, effect| match groups.iter_mut().find(|g| g.0 == loops) {
            Some(group) => group.1.push(effect),
            None => groups.push((loops, vec![effect])),
        };
        for op in self.phase_ops(phase) {
            if let Some(combine) = self.combine_of(op) {
                let reduction = self.reduction(op, combine)?;
                let mut loops = self.varies(reduction.input);
                loops.extend(&reduction.inner);
                add(self.inner_loops(&loops), Effect::Reduce(reduction));
                continue;
            }
            for &value in self.ir().results(op) {
                let loops = self.inner_loops(&self.varies(value));
                if outputs.contains(&value) {
                    add(loops.clone(), Effect::Store(value));
                }
                let made = !loops.is_empty() && !self.is_table(op) && !self.is_shape(op);
                if made && self.needed_after(value, phase) {
                    add(loops, Effect::Keep(value));
                }
            }
        }
        Ok(groups)
    }
    pub(super) fn phase_ops(&self, phase: usize) -> Vec<Op> {
        self.flat
            .ops
            .iter()
            .filter(|(_, p)| *p == phase)
            .map(|(op, _)| *op)
            .collect()
    }
    pub(super) fn reduction(&self, op: Op, combine: Combine) -> Result<Reduction, Unsupported> {
        let reduced = self.reduced(op)?;
        let inner = reduced
            .into_iter()
            .filter(|&l| self.spec.loops[l].has_inner())
            .collect();
        let accumulator = self.accumulators.iter().position(|a| a.op == op);
        let input = self.ir().operand(op, 0);
        Ok(Reduction {
            op,
            input,
            combine,
            inner,
            carried_from: None,
            accumulator,
        })
    }
    /// Those of `loops` that have a tile loop, in nesting order, without repeats.
    pub(super) fn inner_loops(&self, loops: &[usize]) -> Vec<usize> {
        (0..self.spec.loops.len())
            .filter(|l| loops.contains(l) && self.spec.loops[*l].has_inner())
            .collect()
    }
    /// True if an op of a later phase reads `value` at the point of the walk.
    pub(super) fn needed_after(&self, value: Value, phase: usize) -> bool {
        self.last_read(value).is_some_and(|last| last > phase)
    }
    /// The last phase that reads `value` at the point of the walk, directly or through shape ops.
    pub(super) fn last_read(&self, value: Value) -> Option<usize> {
        let (mut last, mut stack) = (None, vec![value]);
        let mut seen = FxHashSet::default();
        while let Some(value) = stack.pop() {
            for &user in self.users.get(&value).into_iter().flatten() {
                last = last.max(Some(self.flat.ops[self.order[&user]].1));
                if self.is_shape(user) && seen.insert(user) {
                    stack.extend(self.ir().results(user));
                }
            }
        }
        last
    }
    /// True if `op` gives its operand another shape at the point of the walk.
    fn is_shape(&self, op: Op) -> bool {
        let shape = self.ir().def(op).is_some_and(|d| d.class == OpClass::Shape);
        shape && self.axes.window(op).is_none()
    }
    /// The ops that read each value at the point of the walk.
    pub(super) fn users(&self) -> FxHashMap<Value, Vec<Op>> {
        let mut users: FxHashMap<Value, Vec<Op>> = FxHashMap::default();
        for &(op, _) in &self.flat.ops {
            for value in self.computed_operands(op) {
                users.entry(value).or_default().push(op);
            }
        }
        users
    }
    pub(super) fn plan_nest(
        &self,
        loops: Vec<usize>,
        effects: Vec<Effect>,
    ) -> Result<Nest, Unsupported> {
        let mut stack: Vec<Value> = effects.iter().rev().map(Effect::needs).collect();
        let (mut ops, mut loads, mut seen) = (Vec::new(), Vec::new(), FxHashSet::default());
        while let Some(value) = stack.pop() {
            if !seen.insert(value)
                || self.scalars.contains_key(&value)
                || self.resident.contains_key(&value)
            {
                continue;
            }
            let Some(op) = self
                .ir()
                .def_op(value)
                .filter(|op| self.order.contains_key(op))
            else {
                loads.push(value);
                continue;
            };
            if self.is_table(op) {
                loads.push(value);
                continue;
            }
            if self.combine_of(op).is_some() {
                let (why, help) = self.unfinished(op);
                return self.refuse(op, why, help);
            }
            ops.push(op);
            stack.extend(self.computed_operands(op));
        }
        ops.sort_by_key(|op| self.order[op]);
        ops.dedup();
        loads.sort();
        Ok(Nest {
            loops,
            effects,
            ops,
            loads,
            scans: Vec::new(),
        })
    }
    /// The reason that the result of the reduction `op` is not there yet where it is read, and the advice.
    fn unfinished(&self, op: Op) -> (&'static str, &'static str) {
        let is_walked = |&l: &usize| self.spec.loops[l].role != Role::Tile;
        if self
            .reduced(op)
            .is_ok_and(|loops| loops.iter().any(is_walked))
        {
            (
                "its result is needed in the sweep that computes it, and an axis that it reduces has the role `stream` or `grid`",
                "give that axis the role `tile`, or move its users to a later sweep",
            )
        } else {
            (
                "its result is needed in the phase that computes it",
                "move its users to a later phase",
            )
        }
    }
    /// Number of loops that must be open before `value` can be computed.
    pub(super) fn depth(&self, nest: &Nest, value: Value) -> usize {
        let varies = self.varies(value);
        nest.loops
            .iter()
            .rposition(|l| varies.contains(l))
            .map_or(0, |p| p + 1)
    }
    /// The lanes of the innermost loop; one if an access along it has distant elements.
    pub(super) fn nest_lanes(&self, nest: &Nest) -> Option<u64> {
        let &last = nest.loops.last()?;
        let global = nest
            .loads
            .iter()
            .copied()
            .chain(nest.effects.iter().filter_map(|e| match e {
                Effect::Store(v) => Some(*v),
                _ => None,
            }));
        let near =
            |v: Value| !self.varies(v).contains(&last) || self.lane_stride(v, last).is_some();
        let windows_ok = nest
            .ops
            .iter()
            .all(|&op| self.is_contiguous_window(op, last));
        let memory = |r: &Resident| {
            r.dims.iter().all(|d| d.0 != last) || r.dims.last().is_some_and(|d| d.0 == last)
        };
        let needed = nest
            .ops
            .iter()
            .flat_map(|&op| self.computed_operands(op))
            .chain(nest.effects.iter().map(Effect::needs));
        let resident_ok = needed.filter_map(|v| self.resident.get(&v)).all(memory);
        let accumulators_ok = nest.effects.iter().all(|e| match e {
            Effect::Reduce(r) if r.carried_from.is_none() => match r.accumulator {
                Some(a) => self.accumulators[a]
                    .dims
                    .iter()
                    .rposition(|d| d.axis == last)
                    .is_none_or(|p| p + 1 == self.accumulators[a].dims.len()),
                None => self
                    .resident
                    .get(&self.ir().result(r.op, 0))
                    .is_none_or(memory),
            },
            _ => true,
        });
        let one_by_one = nest.ops.iter().any(|&op| self.is_one_by_one(op, last))
            || nest
                .reductions()
                .any(|r| r.combine.is_ordered() && r.inner.contains(&last));
        self.lanes()
            .filter(|_| !one_by_one)
            .filter(|_| global.into_iter().all(near) && windows_ok)
            .filter(|_| resident_ok && accumulators_ok)
    }
}

impl Effect {
    /// The value that the effect consumes.
    pub(super) fn needs(&self) -> Value {
        match self {
            Effect::Store(v) | Effect::Keep(v) => *v,
            Effect::Reduce(r) => r.input,
        }
    }
}

impl Nest {
    /// The reductions among the effects.
    pub(super) fn reductions(&self) -> impl Iterator<Item = &Reduction> {
        self.effects.iter().filter_map(|e| match e {
            Effect::Reduce(r) => Some(r),
            _ => None,
        })
    }
    /// The reductions carried through the loop at `depth - 1`, in the order of the effects.
    pub(super) fn carried_before(&self, depth: usize) -> impl Iterator<Item = &Reduction> {
        let carried = move |r: &&Reduction| r.carried_from.is_some_and(|from| from < depth);
        self.reductions().filter(carried)
    }
}

/// The depth of the first reduced loop of a nest, if all loops from there inward are reduced.
pub(super) fn carried_from(loops: &[usize], reduced: &[usize]) -> Option<usize> {
    if reduced.is_empty() {
        return None;
    }
    let from = loops.iter().position(|l| reduced.contains(l))?;
    loops[from..]
        .iter()
        .all(|l| reduced.contains(l))
        .then_some(from)
}
