//! Bottom-up merging: takes the best merge first, until none lowers the cost.
//!
//! Candidates are pairs of groups with a value between them or a common input. Each is queued under an optimistic gain,
//! the bytes of the values they share. The cost model is queried only when a candidate comes to the front, and the
//! candidate is queued again under its true gain. The pairs of a grown group are queued under the known gains of its
//! parts: otherwise a group with a hundred neighbours would be evaluated with each of them after each merge. If one
//! group is much smaller than the other, their axes are tested first, at the cost of the smaller; a pair without a
//! common iteration space is refused. Among equal gains the smaller pair comes first, so groups grow evenly and the
//! work stays near n log n. A large group absorbs several neighbours with one query (`at_once.rs`). If there are many
//! groups, views are merged into their users before all other merges, since they would separate groups of equal size
//! (`views.rs`).

use std::collections::BinaryHeap;

use fuser_analysis::axes::{AxisGroups, AxisRefusal, Common};
use fuser_analysis::cost::{Cost, Kind, Refusal};
use fuser_ir::{Ir, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::at_once::Pace;
use super::boundaries::is_alone;
use super::candidates::{Candidate, Gain, Ties, Vain, gain};
use super::graph::{Graph, Index};
use super::order::{Conflict, GroupId, Order};
use super::record::{Action, Record};
use super::search::{Group, MAX_AGAIN, Search};
use crate::planner::{CostResult, Planner};

/// The least ratio of the sizes of two groups for which their axes are tested first.
const LOPSIDED: usize = 8;

pub(super) struct State {
    pub(super) group: Group,
    pub(super) version: u32,
    pub(super) alive: bool,
    pub(super) alone: bool,
    /// The reason why no kernel can hold the group with any other; found when a merge is first tried.
    hopeless: Option<Option<Refusal>>,
    /// Groups that share no kernel with it because a window would be too large, with the reason. This persists, as
    /// windows grow with groups.
    pub(super) apart: FxHashMap<GroupId, Refusal>,
    pub(super) pace: Pace,
}

/// The state of the search over one set of groups.
pub(super) struct BottomUp<'a> {
    pub(super) ir: &'a Ir,
    pub(super) graph: &'a Graph,
    pub(super) planner: &'a mut Planner,
    pub(super) states: Vec<State>,
    /// The group of each op of the graph; `None` for ops outside the search.
    pub(super) of_op: Vec<Option<GroupId>>,
    pub(super) order: Order,
    /// The axes of each group; the test for a common iteration space costs as much as the smaller group.
    axes: AxisGroups,
    pub(super) queue: BinaryHeap<Candidate>,
    /// The gain of each pair that was last measured or is expected; `None` if the cost model was not queried or found
    /// no gain.
    pub(super) expected: FxHashMap<(GroupId, GroupId), Option<Gain>>,
    /// Pairs without a gain. Otherwise a group with a hundred views would be evaluated with each of them after each
    /// merge.
    pub(super) vain: FxHashMap<(GroupId, GroupId), Vain>,
    pub(super) ties: Ties,
    pub(super) records: &'a mut Vec<Record>,
    /// True if views that repeat values are merged first, which is done for many groups.
    pub(super) views: bool,
}

impl<'a> BottomUp<'a> {
    /// Starts from `groups`, given in a valid run order.
    pub fn new(search: &'a mut Search<'_>, groups: Vec<Group>) -> Self {
        let (ir, graph) = (search.ir, search.graph);
        let mut of_op = vec![None; graph.len()];
        for (group, number) in groups.iter().zip(0..) {
            for &op in &group.members {
                of_op[op as usize] = Some(number);
            }
        }
        let order = Order::new(groups.len());
        let views = search.options.views && groups.len() > MAX_AGAIN;
        let mut axes = AxisGroups::default();
        for group in &groups {
            axes.push(ir, graph.ops_at(&graph.with_free(&group.members)));
        }
        let state = |group: Group| State {
            alone: group
                .members
                .iter()
                .any(|&m| is_alone(ir, graph.ops[m as usize])),
            group,
            version: 0,
            alive: true,
            hopeless: None,
            apart: FxHashMap::default(),
            pace: Pace::default(),
        };
        Self {
            ir,
            graph,
            planner: search.planner,
            states: groups.into_iter().map(state).collect(),
            of_op,
            order,
            axes,
            queue: BinaryHeap::new(),
            expected: FxHashMap::default(),
            vain: FxHashMap::default(),
            ties: Ties::default(),
            records: &mut search.records,
            views,
        }
    }

    /// Uses another order of equal gains.
    pub fn with_ties(mut self, ties: Ties) -> Self {
        self.ties = ties;
        self
    }

    /// Merges until nothing gains or the budget is spent; returns the groups in run order.
    pub fn run(mut self) -> Vec<Group> {
        if self.views {
            self.take_in_repeats();
        }
        for group in 0..self.states.len() as GroupId {
            self.push_neighbours(group, &[]);
        }
        self.drain();
        self.finish()
    }
    /// Merges kernels that have nothing in common; returns the groups in run order.
    pub fn run_unrelated(mut self) -> Vec<Group> {
        self.push_unrelated();
        while self.drain() {
            self.push_unrelated();
        }
        self.finish()
    }
    /// Processes candidates while there are any; returns true if groups merged.
    fn drain(&mut self) -> bool {
        let (mut merged, mut examined) = (false, 0);
        while let Some(candidate) = self.queue.pop() {
            let all = examined + 1 + self.queue.len();
            self.planner.progress.tell("segment: merges", examined, all);
            examined += 1;
            if self.is_stale(&candidate) {
                continue;
            }
            if candidate.cost_result.is_some() {
                merged |= self.merge(candidate);
            } else if !self.planner.budget.is_spent() && !self.take_in_alike(&candidate) {
                self.judge(candidate);
            }
        }
        merged
    }

    /// Merges the groups of two ops at any cost, as a hint or a file demands.
    pub fn force(&mut self, a: Index, b: Index) -> Result<(), Refusal> {
        let (Some(a), Some(b)) = (self.of_op[a as usize], self.of_op[b as usize]) else {
            return Err(Refusal::Unrelated);
        };
        if a == b {
            return Ok(());
        }
        let between = self.between(a, b).map_err(|c| self.conflict(c))?;
        self.join(&[a, b], &between);
        Ok(())
    }

    /// Evaluates the groups that were merged by force.
    pub fn evaluate_forced(&mut self) {
        for state in self.states.iter_mut().filter(|s| s.alive && s.version > 0) {
            let answer = self
                .planner
                .evaluate(self.ir, self.graph, &state.group.members);
            state.group.cost_result = answer.ok();
        }
    }

    /// The groups in run order.
    pub fn finish(mut self) -> Vec<Group> {
        let order: Vec<GroupId> = self.order.groups().collect();
        let mut groups = Vec::with_capacity(order.len());
        for id in order {
            let state = &mut self.states[id as usize];
            if state.alive {
                groups.push(std::mem::take(&mut state.group));
            }
        }
        groups
    }

    pub(super) fn is_stale(&self, candidate: &Candidate) -> bool {
        let (a, b) = candidate.pair;
        let (a, b) = (&self.states[a as usize], &self.states[b as usize]);
        !a.alive || !b.alive || (a.version, b.version) != candidate.versions
    }

    /// Evaluates a candidate and queues it again under its true gain.
    fn judge(&mut self, mut candidate: Candidate) {
        let (a, b) = candidate.pair;
        let before = self.cost(a).plus(&self.cost(b));
        let known = self.hopeless(a).or_else(|| self.hopeless(b));
        let known = known.or_else(|| self.states[a as usize].apart.get(&b).cloned());
        let cost_result = match known {
            Some(refusal) => Err(refusal),
            None => match self.between(a, b) {
                Err(conflict) if self.take_in_between(&conflict) => return,
                Err(conflict) => Err(self.conflict(conflict)),
                Ok(_) => self.evaluate(a, b),
            },
        };
        let cost_result = match candidate.action {
            Action::Horizontal => cost_result.and_then(|answer| self.in_one_walk(a, b, answer)),
            _ => cost_result,
        };
        let objective = self.planner.model.objective;
        match cost_result {
            Err(refusal) => {
                if matches!(&refusal, Refusal::Axes(AxisRefusal::Window(_))) {
                    self.states[a as usize].apart.insert(b, refusal.clone());
                    self.states[b as usize].apart.insert(a, refusal.clone());
                }
                self.refuse(&candidate, refusal, None);
            }
            Ok(cost_result) => {
                let after = cost_result.cost;
                let hope = candidate.gain;
                candidate.gain = gain(&before, &after, objective);
                if candidate.gain > [0; 4] {
                    self.note_gain(&candidate, hope);
                    self.expected.insert(candidate.pair, Some(candidate.gain));
                    candidate.cost_result = Some(Box::new(cost_result));
                    self.queue.push(candidate);
                } else {
                    let vain = Vain {
                        ops: self.size(a) + self.size(b),
                        saved: candidate.saved,
                    };
                    self.vain.insert(candidate.pair, vain);
                    let (before, key) = (before.key(objective).0, after.key(objective).0);
                    let refusal = Refusal::NoGain { before, after: key };
                    self.refuse(&candidate, refusal, Some(after));
                }
            }
        }
    }

    /// The lasting reason why no kernel can hold the group, if there is one. Otherwise an op unknown to the model or a
    /// cat of many parts would be evaluated with every op that shares a value with it.
    fn hopeless(&mut self, group: GroupId) -> Option<Refusal> {
        let state = &self.states[group as usize];
        if state.group.cost_result.is_some() {
            return None;
        }
        let &[op] = state.group.members.as_slice() else {
            return None;
        };
        if state.hopeless.is_none() {
            let refusal = self.planner.evaluate(self.ir, self.graph, &[op]).err();
            let node = self.graph.ops[op as usize];
            let lasts = |r: &Refusal| matches!(r, Refusal::Axes(r) if r.lasts(self.ir, node));
            self.states[group as usize].hopeless = Some(refusal.filter(lasts));
        }
        self.states[group as usize].hopeless.clone().flatten()
    }

    /// The cost result of one kernel for both groups. If one is much smaller than the other, the test for a common
    /// iteration space comes first. It costs as much as the smaller group, while a plan, and even the cache look-up,
    /// costs as much as both.
    fn evaluate(&mut self, a: GroupId, b: GroupId) -> Result<CostResult, Refusal> {
        let (ops, limit) = (self.size(a) + self.size(b), self.planner.model.limits.ops);
        if ops > limit {
            return Err(Refusal::TooManyOps { ops, limit });
        }
        let (small, large) = (
            self.size(a).min(self.size(b)),
            self.size(a).max(self.size(b)),
        );
        let lopsided = small.saturating_mul(LOPSIDED) <= large;
        if lopsided && !(self.is_view(a) && self.is_view(b)) {
            let (before, answer) = (
                self.axes.steps(),
                self.axes.common(self.ir, a as usize, b as usize),
            );
            self.planner.axis_questions += 1;
            self.planner.axis_steps += self.axes.steps() - before;
            if let Common::None(refusal) = answer {
                return Err(Refusal::Axes(refusal));
            }
        }
        let members = self.union(&[a, b]);
        self.planner.evaluate(self.ir, self.graph, &members)
    }

    /// Merges the groups of a candidate, and records it, unless a third group has come between.
    fn merge(&mut self, candidate: Candidate) -> bool {
        let (a, b) = candidate.pair;
        let between = match self.between(a, b) {
            Ok(between) => between,
            Err(conflict) => {
                let refusal = self.conflict(conflict);
                self.refuse(&candidate, refusal, None);
                return false;
            }
        };
        let cost_result = candidate.cost_result.map(|v| *v);
        self.records.push(Record {
            action: candidate.action,
            parts: self.names(&[a, b]),
            ops: self.size(a) + self.size(b),
            refusal: None,
            before: Some(self.cost(a).plus(&self.cost(b))),
            after: cost_result.as_ref().map(|v| v.cost),
        });
        let merged = self.join(&[a, b], &between);
        self.states[merged as usize].group.cost_result = cost_result;
        if candidate.action == Action::Merge {
            let other = if merged == a { b } else { a };
            self.push_neighbours(merged, &[other]);
        }
        true
    }

    /// Merges `groups` into the largest and returns it; the groups `after` depend on some of them.
    pub(super) fn join(&mut self, groups: &[GroupId], after: &FxHashSet<GroupId>) -> GroupId {
        let largest = |a: GroupId, b: GroupId| if self.size(a) >= self.size(b) { a } else { b };
        let into = groups.iter().copied().reduce(largest).unwrap_or_default();
        let members = self.union(groups);
        self.order.merge(into, groups, after);
        let before = self.axes.steps();
        for &from in groups.iter().filter(|&&group| group != into) {
            for &op in &self.states[from as usize].group.members {
                self.of_op[op as usize] = Some(into);
            }
            self.axes.merge(self.ir, into as usize, from as usize);
            let other = &mut self.states[from as usize];
            other.alive = false;
            other.group = Group::default();
            for (third, refusal) in std::mem::take(&mut other.apart) {
                let third_apart = &mut self.states[third as usize].apart;
                third_apart.insert(into, refusal.clone());
                self.states[into as usize].apart.insert(third, refusal);
            }
        }
        self.planner.axis_steps += self.axes.steps() - before;
        let state = &mut self.states[into as usize];
        state.group = Group {
            members,
            ..Group::default()
        };
        state.version += 1;
        state.hopeless = None;
        into
    }

    fn refuse(&mut self, candidate: &Candidate, why: Refusal, after: Option<Cost>) {
        if why == Refusal::TooFar {
            // This is a bound of the search, and no reason to report.
            return;
        }
        let (a, b) = candidate.pair;
        self.records.push(Record {
            action: candidate.action,
            parts: self.names(&[a, b]),
            ops: self.size(a) + self.size(b),
            refusal: Some(why),
            before: Some(self.cost(a).plus(&self.cost(b))),
            after,
        });
    }

    /// True if a group is a view, or has no plan: it needs no iteration space.
    pub(super) fn is_view(&self, group: GroupId) -> bool {
        let cost_result = self.states[group as usize].group.cost_result.as_ref();
        cost_result.is_none_or(|v| v.kind == Kind::View)
    }

    // --- small things ------------------------------------------------------------------------------------------------

    /// The groups in run order.
    pub(super) fn in_order(&self) -> Vec<GroupId> {
        let alive = |g: &GroupId| self.states[*g as usize].alive;
        self.order.groups().filter(alive).collect()
    }
    pub(super) fn between(&self, a: GroupId, b: GroupId) -> Result<FxHashSet<GroupId>, Conflict> {
        self.order
            .between(a, b, &mut |group| self.successors(group))
    }
    /// The groups that use results of a group.
    pub(super) fn successors(&self, group: GroupId) -> Vec<GroupId> {
        let members = self.states[group as usize].group.members.iter();
        let users = members.flat_map(|&m| self.graph.users(m));
        let groups = users.filter_map(|(r, _)| self.of_op[r as usize]);
        groups.filter(|&g| g != group).collect()
    }
    fn conflict(&self, conflict: Conflict) -> Refusal {
        match conflict {
            Conflict::TooFar => Refusal::TooFar,
            Conflict::Cycle(path) => Refusal::Cycle {
                path: self.names(&path),
            },
        }
    }
    pub(super) fn cost(&self, group: GroupId) -> Cost {
        let group = &self.states[group as usize].group;
        match &group.cost_result {
            Some(cost_result) => cost_result.cost,
            None => opaque_cost(self.graph, &group.members, self.planner),
        }
    }
    pub(super) fn size(&self, group: GroupId) -> usize {
        self.states[group as usize].group.members.len()
    }
    /// The ops of `groups`, ascending.
    pub(super) fn union(&self, groups: &[GroupId]) -> Vec<Index> {
        let members = |&g: &GroupId| self.states[g as usize].group.members.iter().copied();
        let mut all: Vec<Index> = groups.iter().flat_map(members).collect();
        all.sort_unstable();
        all
    }
    pub(super) fn names(&self, groups: &[GroupId]) -> Vec<Value> {
        let names = groups.iter().filter_map(|&g| {
            let last = self.states[g as usize].group.members.last()?;
            super::record::name_of(self.ir, self.graph, *last)
        });
        names.collect()
    }
}

/// The cost of a group that the model refuses: everything is read and written once.
pub(super) fn opaque_cost(graph: &Graph, members: &[Index], planner: &Planner) -> Cost {
    let inside: FxHashSet<Index> = members.iter().copied().collect();
    let mut reads = FxHashSet::default();
    let mut cost = Cost {
        kernels: 1,
        launches: 1,
        ..Cost::default()
    };
    for &op in members {
        for &e in &graph.reads[op as usize] {
            let edge = &graph.edges[e as usize];
            let outside = edge.producer.is_none_or(|m| !inside.contains(&m));
            if outside && reads.insert(e) {
                cost.read_bytes = cost.read_bytes.saturating_add(edge.bytes);
            }
        }
        for &e in &graph.writes[op as usize] {
            let edge = &graph.edges[e as usize];
            if edge.escapes || edge.users.iter().any(|r| !inside.contains(r)) {
                cost.write_bytes = cost.write_bytes.saturating_add(edge.bytes);
            }
        }
    }
    let target = &planner.model.target;
    cost.time_ns = target
        .time_ns(cost.bytes(), 0)
        .saturating_add(target.launch_ns);
    cost
}
