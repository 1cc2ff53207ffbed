//! Boundary refinement: moves or copies ops across a cut if that lowers the total cost.
//!
//! Merging joins whole groups, so a cut can lie on the wide side of a cheap op: after a cast to f32, after a broadcast,
//! before a narrowing cast. For each value that crosses a cut, this tries the producer (with up to a few ops before it)
//! and the users (with a few ops after them) on the other side: moved, or copied if both sides need them. The groups
//! keep their order, and no edge leads backwards in it, so no change can close a cycle.
//!
//! ```text
//! s0: %h = fusion.exp %x            s0: %h = fusion.exp %x
//!     %w = fusion.cast %h to f32 =>     (bf16 crosses)
//! s1: %y = ... %w                   s1: %w = fusion.cast %h to f32 ; %y = ... %w
//! ```
//!
//! Guarantees: each change strictly lowers the cost, so refinement terminates. Ops with a hint are not moved, no user
//! boundary ends up inside a group, and only pure ops that are no reductions are copied. A change that cannot save
//! bytes at the boundaries is not evaluated. The ops in the groups evaluated are counted and bounded, linear in the
//! program. Considers only the groups at one cut at a time.

use std::collections::VecDeque;

use fuser_analysis::cost::{Copies, Cost, Kind, Objective, Refusal, is_pinned};
use fuser_ir::Ir;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::boundaries::is_alone;
use super::graph::{Graph, Index};
use super::record::{Action, Record, name_of};
use super::search::{Group, Search};
use crate::planner::{CostResult, Planner};

/// The most ops moved or copied together.
const MAX_ROW: usize = 6;
/// The most steps by which a set of ops grows from the cut.
const MAX_STEPS: usize = 3;
/// The most groups that may get a copy at once.
const MAX_COPIES: usize = 4;

/// A group, by its position in the run order.
type Position = u32;

/// Ops that are moved or copied to other groups.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Change {
    ops: SmallVec<[Index; MAX_ROW]>,
    from: Position,
    /// True if they are removed from `from`.
    leave: bool,
    into: SmallVec<[Position; MAX_COPIES]>,
}

impl Change {
    fn action(&self) -> Action {
        match self.leave && self.into.len() == 1 {
            true => Action::Move,
            false => Action::Copy,
        }
    }
}

struct Refine<'a> {
    ir: &'a Ir,
    graph: &'a Graph,
    planner: &'a mut Planner,
    records: &'a mut Vec<Record>,
    groups: Vec<Group>,
    /// The ops that each group computes, ascending.
    content: Vec<Vec<Index>>,
    /// The groups that compute each op, ascending: the first writes its results, the others keep them internal.
    homes: Vec<SmallVec<[Position; 1]>>,
    /// The number of ops in each group that read each value, by value and group.
    reads: FxHashMap<(u32, Position), u32>,
    /// Groups that may not change: views, groups that the model refuses, groups with an op that a hint or a call keeps
    /// alone.
    fixed: Vec<bool>,
}

/// Improves `groups`, given in run order; returns them in the same order, without groups that became empty.
pub(super) fn refine(search: &mut Search<'_>, groups: Vec<Group>) -> Vec<Group> {
    let mut refine = Refine::new(search, groups);
    refine.run();
    refine.finish()
}

impl<'a> Refine<'a> {
    fn new(search: &'a mut Search<'_>, groups: Vec<Group>) -> Self {
        let (ir, graph) = (search.ir, search.graph);
        let fixed = groups.iter().map(|group| {
            let alone = |&m: &Index| is_alone(ir, graph.ops[m as usize]);
            let kernel = group
                .cost_result
                .as_ref()
                .is_some_and(|v| v.kind == Kind::Kernel);
            !kernel || group.members.iter().any(alone)
        });
        let mut refine = Self {
            ir,
            graph,
            planner: search.planner,
            records: &mut search.records,
            content: vec![Vec::new(); groups.len()],
            homes: vec![SmallVec::new(); graph.len()],
            reads: FxHashMap::default(),
            fixed: fixed.collect(),
            groups,
        };
        for position in 0..refine.groups.len() {
            let group = &refine.groups[position];
            let ops: Vec<Index> = group.members.iter().chain(&group.copies).copied().collect();
            for op in ops {
                refine.enter(op, position as Position);
            }
        }
        refine
    }

    /// Tries each cut, and again the cuts near a change.
    fn run(&mut self) {
        let all = 0..self.graph.edges.len() as u32;
        let mut queue: VecDeque<u32> = all.collect();
        let mut waits = vec![true; self.graph.edges.len()];
        let mut tried = 0;
        while let Some(edge) = queue.pop_front() {
            let all = tried + 1 + queue.len();
            self.planner
                .progress
                .tell("segment: moves and copies", tried, all);
            tried += 1;
            waits[edge as usize] = false;
            for op in self.improve(edge) {
                let reads = self.graph.reads[op as usize].iter();
                for &near in reads.chain(&self.graph.writes[op as usize]) {
                    if !std::mem::replace(&mut waits[near as usize], true) {
                        queue.push_back(near);
                    }
                }
            }
        }
    }

    fn finish(mut self) -> Vec<Group> {
        for (position, content) in self.content.iter().enumerate() {
            let own = |op: &&Index| self.homes[**op as usize][0] == position as Position;
            let group = &mut self.groups[position];
            group.members = content.iter().filter(own).copied().collect();
            group.copies = content.iter().filter(|op| !own(op)).copied().collect();
        }
        self.groups.retain(|g| !g.members.is_empty());
        self.groups
    }

    /// Makes the first change at a cut that lowers the cost; returns the ops of the change.
    fn improve(&mut self, edge: u32) -> SmallVec<[Index; MAX_ROW]> {
        for change in self.candidates(edge) {
            if self.planner.refining.is_spent() {
                break;
            }
            self.planner.refinements += 1;
            if self.is_legal(&change) && self.attempt(&change) {
                return change.ops;
            }
        }
        SmallVec::new()
    }

    // --- what could change -------------------------------------------------------------------------------------------

    fn candidates(&self, number: u32) -> Vec<Change> {
        let edge = &self.graph.edges[number as usize];
        let producer = edge.producer.filter(|&m| !self.graph.free[m as usize]);
        let Some(producer) = producer.filter(|&m| self.homes[m as usize].len() == 1) else {
            return Vec::new();
        };
        let from = self.homes[producer as usize][0];
        let targets = self.outside(number);
        if targets.is_empty() || self.fixed[from as usize] {
            return Vec::new();
        }
        let mut changes = Vec::new();
        for ops in self.rows(&[producer], from, false) {
            let mut push = |leave: bool, into: &[Position]| {
                changes.push(Change {
                    ops: ops.clone(),
                    from,
                    leave,
                    into: into.iter().copied().collect(),
                });
            };
            for &target in targets.iter().take(MAX_COPIES) {
                push(true, &[target]);
                push(false, &[target]);
            }
            if (2..=MAX_COPIES).contains(&targets.len()) {
                push(true, &targets);
                push(false, &targets);
            }
        }
        for &target in targets.iter().take(MAX_COPIES) {
            let users = edge.users.iter().copied();
            let inside = |r: &Index| self.homes[*r as usize].as_slice() == [target];
            let users: Vec<Index> = users.filter(inside).take(MAX_ROW).collect();
            for ops in self.rows(&users, target, true) {
                changes.push(Change {
                    ops,
                    from: target,
                    leave: true,
                    into: [from].into_iter().collect(),
                });
            }
        }
        changes
    }

    /// The groups that load a value from memory, ascending.
    fn outside(&self, number: u32) -> Vec<Position> {
        let edge = &self.graph.edges[number as usize];
        let made = edge
            .producer
            .map_or(&[][..], |m| self.homes[m as usize].as_slice());
        let users = edge.users.iter();
        let groups = users.flat_map(|&r| self.homes[r as usize].iter().copied());
        let mut groups: Vec<Position> = groups.filter(|g| !made.contains(g)).collect();
        groups.sort_unstable();
        groups.dedup();
        groups
    }

    /// The set `start`, and larger sets, each with one more step of neighbours inside `group`, away from the cut.
    fn rows(
        &self,
        start: &[Index],
        group: Position,
        down: bool,
    ) -> Vec<SmallVec<[Index; MAX_ROW]>> {
        let mut row: SmallVec<[Index; MAX_ROW]> = start.iter().copied().collect();
        let mut rows = Vec::new();
        let mut fresh = 0..row.len();
        while !fresh.is_empty() && row.len() <= MAX_ROW && rows.len() <= MAX_STEPS {
            let mut sorted = row.clone();
            sorted.sort_unstable();
            rows.push(sorted);
            let mut next: SmallVec<[Index; MAX_ROW]> = SmallVec::new();
            for &op in &row[fresh.clone()] {
                let inside =
                    |o: &Index| self.homes[*o as usize].as_slice() == [group] && !row.contains(o);
                match down {
                    true => next.extend(self.graph.users(op).map(|(o, _)| o).filter(inside)),
                    false => next.extend(self.graph.producers(op).map(|(o, _)| o).filter(inside)),
                }
                if next.len() > MAX_ROW {
                    return rows;
                }
            }
            next.sort_unstable();
            next.dedup();
            fresh = row.len()..row.len() + next.len();
            row.extend(next);
        }
        rows
    }

    /// True if the groups keep their order, hints are respected, and no boundary ends up inside a group.
    fn is_legal(&self, change: &Change) -> bool {
        let fixed = |g: &Position| self.fixed[*g as usize];
        if change.into.iter().any(fixed) || fixed(&change.from) {
            return false;
        }
        let copied = change.action() == Action::Copy;
        let homes = |op: Index| -> SmallVec<[Position; 4]> {
            match change.ops.contains(&op) {
                true => self.homes_after(op, change),
                false => self.homes[op as usize].iter().copied().collect(),
            }
        };
        change.ops.iter().all(|&op| {
            let node = self.graph.ops[op as usize];
            let hinted = self.ir.get_attr(node, "fusion.hint").is_some();
            if hinted || (copied && is_pinned(self.ir, node)) {
                return false;
            }
            let own = homes(op);
            let reads = self.graph.producers(op).all(|(producer, _)| {
                let boundary = self.graph.separated(producer, op);
                flows(&homes(producer), &own, boundary)
            });
            reads
                && self.graph.users(op).all(|(user, _)| {
                    let boundary = self.graph.separated(op, user);
                    flows(&own, &homes(user), boundary)
                })
        })
    }
    fn homes_after(&self, op: Index, change: &Change) -> SmallVec<[Position; 4]> {
        let old = self.homes[op as usize].iter().copied();
        let kept = old.filter(|&g| !change.leave || g != change.from);
        let mut homes: SmallVec<[Position; 4]> = kept.chain(change.into.iter().copied()).collect();
        homes.sort_unstable();
        homes.dedup();
        homes
    }

    // --- what it would cost ------------------------------------------------------------------------------------------

    /// Applies a change; reverts it unless the cost falls.
    fn attempt(&mut self, change: &Change) -> bool {
        let mut near: Vec<u32> = Vec::new();
        for &op in &change.ops {
            near.extend(&self.graph.reads[op as usize]);
            near.extend(&self.graph.writes[op as usize]);
        }
        near.sort_unstable();
        near.dedup();
        let mut touched: Vec<Position> = change.into.iter().copied().collect();
        touched.push(change.from);
        touched.sort_unstable();
        touched.dedup();
        let written: Vec<bool> = near.iter().map(|&e| self.is_written(e)).collect();
        let before = self.traffic(&near, &touched);
        self.apply(change, true);
        let after = self.traffic(&near, &touched);
        // Writers of values that must now be written, or no longer, are affected as well.
        for (&edge, before) in near.iter().zip(written) {
            if self.is_written(edge) != before {
                touched.extend(self.writer(edge));
            }
        }
        touched.sort_unstable();
        touched.dedup();
        let fixed = touched.iter().any(|&g| self.fixed[g as usize]);
        let slack = touched.iter().map(|&g| self.slack(g));
        let slack = slack.fold(0u64, u64::saturating_add);
        let hopeless = after >= before.saturating_add(slack);
        if fixed || hopeless || !self.judge(change, &touched) {
            self.apply(change, false);
            return false;
        }
        true
    }

    /// Evaluates the groups in their current state; stores their new cost results if they cost less.
    fn judge(&mut self, change: &Change, touched: &[Position]) -> bool {
        let costs = touched.iter().map(|&g| self.cost(g));
        let before = costs.fold(Cost::default(), |sum, c| sum.plus(&c));
        let mut after = Cost::default();
        let mut cost_results: Vec<Option<CostResult>> = Vec::with_capacity(touched.len());
        for &group in touched {
            let content = &self.content[group as usize];
            if content.is_empty() {
                cost_results.push(None);
                continue;
            }
            self.planner.refining.spend(content.len() as u64);
            self.planner.refined_ops += content.len() as u64;
            let copies = self.copies(group);
            let answer = self
                .planner
                .evaluate_with(self.ir, self.graph, content, &copies);
            match answer {
                Ok(cost_result) => {
                    after = after.plus(&cost_result.cost);
                    cost_results.push(Some(cost_result));
                }
                Err(refusal) => {
                    self.record(change, Some(refusal), before, None);
                    return false;
                }
            }
        }
        let objective = self.planner.model.objective;
        let (old, new) = (before.key(objective), after.key(objective));
        if new >= old || !self.pays(change, &before, &after) {
            let (before_key, after_key) = (old.0, new.0);
            let refusal = Refusal::NoGain {
                before: before_key,
                after: after_key,
            };
            self.record(change, Some(refusal), before, Some(after));
            return false;
        }
        self.record(change, None, before, Some(after));
        for (&group, cost_result) in touched.iter().zip(cost_results) {
            self.groups[group as usize].cost_result = cost_result;
            self.groups[group as usize].settled = false;
        }
        true
    }

    /// True if a copy saves more bytes than could be moved during its recomputation. Always true for a move, and if
    /// time is the objective.
    fn pays(&self, change: &Change, before: &Cost, after: &Cost) -> bool {
        if change.action() == Action::Move || self.planner.model.objective == Objective::Time {
            return true;
        }
        let target = &self.planner.model.target;
        let price = |c: &Cost| c.bytes().saturating_add(target.flops_as_bytes(c.flops));
        price(after) < price(before)
    }

    fn record(
        &mut self,
        change: &Change,
        refusal: Option<Refusal>,
        before: Cost,
        after: Option<Cost>,
    ) {
        let last = change.ops.last().copied();
        let target = |&g: &Position| self.groups[g as usize].members.last().copied();
        let targets = change.into.iter().filter_map(target);
        let parts = last.into_iter().chain(targets);
        self.records.push(Record {
            action: change.action(),
            parts: parts
                .filter_map(|op| name_of(self.ir, self.graph, op))
                .collect(),
            ops: change.ops.len(),
            refusal,
            before: Some(before),
            after,
        });
    }

    fn cost(&self, group: Position) -> Cost {
        let cost_result = self.groups[group as usize].cost_result.as_ref();
        cost_result.map_or(Cost::default(), |v| v.cost)
    }
    /// Bytes that a group moves beyond each input and each output once: an upper bound on the savings of another plan.
    fn slack(&self, group: Position) -> u64 {
        let cost_result = self.groups[group as usize].cost_result.as_ref();
        cost_result.map_or(0, |v| v.cost.price().saturating_sub(v.least_bytes))
    }
    /// Bytes of `edges` that the groups `touched` load, and that any group writes.
    fn traffic(&self, edges: &[u32], touched: &[Position]) -> u64 {
        let mut bytes = 0u64;
        for &number in edges {
            let edge = &self.graph.edges[number as usize];
            let makes = |g: &Position| {
                let producer = edge.producer.map(|m| self.homes[m as usize].contains(g));
                producer.unwrap_or(false)
            };
            let reads = |g: &&Position| self.reads.contains_key(&(number, **g)) && !makes(g);
            let loads = touched.iter().filter(reads).count() as u64;
            let moved = loads + u64::from(self.is_written(number));
            bytes = bytes.saturating_add(edge.bytes.saturating_mul(moved));
        }
        bytes
    }
    /// True if a value is needed outside of the groups that compute it.
    fn is_written(&self, number: u32) -> bool {
        let edge = &self.graph.edges[number as usize];
        let Some(producer) = edge.producer.filter(|&m| !self.graph.free[m as usize]) else {
            return false;
        };
        let made = &self.homes[producer as usize];
        let outside = |r: &Index| self.homes[*r as usize].iter().any(|g| !made.contains(g));
        edge.escapes || edge.users.iter().any(outside)
    }
    fn writer(&self, number: u32) -> Option<Position> {
        let producer = self.graph.edges[number as usize].producer?;
        self.homes[producer as usize].first().copied()
    }
    /// Values that a group keeps internal although an op outside reads them, and values that it writes for copies of
    /// its own ops.
    fn copies(&self, group: Position) -> Copies {
        let mut copies = Copies::default();
        let content = &self.content[group as usize];
        for &op in content {
            let homes = &self.homes[op as usize];
            for &number in &self.graph.writes[op as usize] {
                let edge = &self.graph.edges[number as usize];
                let writes = homes.first() == Some(&group) && self.is_written(number);
                let inside = |r: &Index| self.homes[*r as usize].contains(&group);
                if homes.len() > 1 && !writes {
                    copies.hidden.insert(edge.value);
                } else if writes && !edge.escapes && edge.users.iter().all(inside) {
                    copies.shown.insert(edge.value);
                }
            }
        }
        copies
    }

    // --- making and unmaking a change --------------------------------------------------------------------------------

    /// Applies a change, or reverts it.
    fn apply(&mut self, change: &Change, forth: bool) {
        for &op in &change.ops {
            if change.leave && !forth {
                self.enter(op, change.from);
            }
            for &group in &change.into {
                match forth {
                    true => self.enter(op, group),
                    false => self.leave(op, group),
                }
            }
            if change.leave && forth {
                self.leave(op, change.from);
            }
        }
    }
    fn enter(&mut self, op: Index, group: Position) {
        insert(&mut self.content[group as usize], op);
        let homes = &mut self.homes[op as usize];
        let at = homes.partition_point(|&g| g < group);
        homes.insert(at, group);
        for &edge in &self.graph.reads[op as usize] {
            *self.reads.entry((edge, group)).or_default() += 1;
        }
    }
    fn leave(&mut self, op: Index, group: Position) {
        self.content[group as usize].retain(|&o| o != op);
        self.homes[op as usize].retain(|g| *g != group);
        for &edge in &self.graph.reads[op as usize] {
            if let Some(count) = self.reads.get_mut(&(edge, group)) {
                *count -= 1;
                if *count == 0 {
                    self.reads.remove(&(edge, group));
                }
            }
        }
    }
}

fn insert(list: &mut Vec<Index>, op: Index) {
    let at = list.partition_point(|&o| o < op);
    list.insert(at, op);
}

/// True if every user's group has the value: it computes it itself, with no boundary between, or an earlier group
/// writes it.
fn flows(producers: &[Position], users: &[Position], boundary: bool) -> bool {
    let Some(&writer) = producers.first() else {
        return false;
    };
    users.iter().all(|user| match producers.contains(user) {
        true => !boundary,
        false => writer < *user,
    })
}
