//! The complete search, from components to refined groups. `mod.rs` lists its steps.

use std::collections::BTreeMap;

use fuser_analysis::cost::{Cost, Refusal};
use fuser_ir::{Block, Ir, Op, Value};
use fuser_pass::ProgressSink;

use super::bottom_up::{BottomUp, opaque_cost};
use super::boundaries::{self, Hint};
use super::candidates::Ties;
use super::chunks::chunks;
use super::exact::{self, Bounds, Found};
use super::graph::{Graph, Index};
use super::labels;
use super::order::{needs, run_order};
use super::record::{Action, Record, name_of};
use super::refine::refine;
use super::regroup::{self, regroup};
use crate::budget::Budget;
use crate::planner::{CostResult, Planner};

/// The bounds on the search and its steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Work of the cost model, per op and per doubling of the number of ops. A unit is an op in a plan, or a query.
    pub evaluations: u64,
    /// Starts from whole components; if false, the search is bottom-up from single ops.
    pub top_down: bool,
    /// Finds the optimum for components of few ops.
    pub exact: bool,
    /// Moves and copies ops across the cuts that merging leaves.
    pub refine: bool,
    /// Spends a bounded amount of further work: on other orders of equal gains in small components, and on the optimum
    /// over few neighbours.
    pub restarts: bool,
    /// Merges views with their users before all else, if there are many ops.
    pub views: bool,
    /// Merges unrelated kernels of equal shape.
    pub horizontal: bool,
    /// Also starts from labels of the frontend, and takes the result if it costs no more.
    pub labels: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            evaluations: 64,
            top_down: true,
            exact: false,
            refine: true,
            restarts: true,
            views: true,
            horizontal: true,
            labels: true,
        }
    }
}

/// Ops that share a kernel.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Group {
    /// The ops, by position in the graph, ascending.
    pub members: Vec<Index>,
    /// Ops of earlier groups that this group recomputes, ascending.
    pub copies: Vec<Index>,
    /// The cost model's result; `None` if the model refuses the group.
    pub cost_result: Option<CostResult>,
    /// True if the top-down phase accepted it as a whole component.
    pub settled: bool,
}

/// The groups of a program, and the decisions that led to them.
#[derive(Clone, Debug, Default)]
pub struct Segmentation {
    /// The groups, in run order.
    pub groups: Vec<Group>,
    /// Every decision, in order.
    pub records: Vec<Record>,
    /// Hints that could not be fulfilled: the op and the reason.
    pub broken_hints: Vec<(Op, Refusal)>,
    /// True if labels led to groups that differ from those found without them.
    pub is_labelled: bool,
}

impl Group {
    /// All ops that it computes, ascending: its own ops and copies of others.
    pub fn computed(&self) -> Vec<Index> {
        let mut all = [self.members.as_slice(), &self.copies].concat();
        all.sort_unstable();
        all
    }
}

impl Segmentation {
    /// The cost of all groups.
    pub fn cost(&self, graph: &Graph, planner: &Planner) -> Cost {
        total(graph, &self.groups, planner)
    }
}

/// Finds the groups of `block`.
pub fn segment(
    ir: &Ir,
    block: Block,
    planner: &mut Planner,
    options: &Options,
) -> (Graph, Segmentation) {
    let graph = Graph::build(ir, block, &planner.model.bindings);
    planner.budget = Budget::pot(options.evaluations, graph.len());
    planner.restarts = Budget::share(graph.len());
    planner.refining = Budget::share(graph.len());
    let result = Search::new(ir, &graph, planner, options).run(block);
    (graph, result)
}

/// All steps of the search on one program: each takes groups and returns cheaper ones.
pub(super) struct Search<'a> {
    pub ir: &'a Ir,
    pub graph: &'a Graph,
    pub planner: &'a mut Planner,
    pub options: &'a Options,
    /// Every decision so far.
    pub records: Vec<Record>,
}

/// The most ops of a component that is grown several times. Ties are frequent if all tensors have one size, and the
/// first way to break them is not always the best.
pub(super) const MAX_AGAIN: usize = 128;

/// The most components that report their progress one by one.
const MANY: usize = 8;

impl<'a> Search<'a> {
    /// A search without decisions so far.
    pub fn new(
        ir: &'a Ir,
        graph: &'a Graph,
        planner: &'a mut Planner,
        options: &'a Options,
    ) -> Self {
        Self {
            ir,
            graph,
            options,
            records: Vec::new(),
            planner,
        }
    }
    /// The cost result of `members` as one group.
    pub fn evaluate(&mut self, members: &[Index]) -> Result<CostResult, Refusal> {
        self.planner.evaluate(self.ir, self.graph, members)
    }
    /// The cost of `groups`.
    pub fn total(&self, groups: &[Group]) -> Cost {
        total(self.graph, groups, self.planner)
    }
    fn key(&self, cost: &Cost) -> (u64, u64, u64, u64) {
        cost.key(self.planner.model.objective)
    }
    /// The value that names a set of ops with the last op `last`; empty without a last op.
    pub fn name_of(&self, last: Option<&Index>) -> Vec<Value> {
        let name = last.and_then(|&l| name_of(self.ir, self.graph, l));
        name.into_iter().collect()
    }
    /// The result of `steps`, with the records of these steps alone.
    pub fn apart<T>(&mut self, steps: impl FnOnce(&mut Self) -> T) -> (T, Vec<Record>) {
        let before = std::mem::take(&mut self.records);
        let found = steps(self);
        (found, std::mem::replace(&mut self.records, before))
    }
    /// Merges `groups`, given in run order, the best merge first.
    pub fn merge(&mut self, groups: Vec<Group>) -> Vec<Group> {
        BottomUp::new(self, groups).run()
    }
    fn run(mut self, block: Block) -> Segmentation {
        let components = boundaries::components(self.ir, self.graph);
        let proposals = match self.options.labels && !self.options.exact {
            true => labels::proposals(self.ir, block, self.graph, &components),
            false => Vec::new(),
        };
        let (mut groups, mut is_labelled) = (Vec::new(), false);
        // Many components report as one step.
        let many = components.len() > MANY;
        let silent = ProgressSink::default();
        let progress = match many {
            true => std::mem::replace(&mut self.planner.progress, silent),
            false => silent,
        };
        for (number, component) in components.iter().enumerate() {
            progress.tell("segment: components", number, components.len());
            let mut found = self.component(component);
            if let Some(parts) = proposals.get(number) {
                let labelled = labels::grow(&mut self, component, parts, &found);
                is_labelled |= labelled.is_some();
                found = labelled.unwrap_or(found);
            }
            groups.extend(found);
        }
        if many {
            self.planner.progress = progress;
        }
        let groups = self.across(groups, components.len() > 1);
        let broken_hints = self.broken_hints(&groups);
        Segmentation {
            groups,
            records: self.records,
            broken_hints,
            is_labelled,
        }
    }

    /// The steps on the groups of all components together.
    fn across(&mut self, groups: Vec<Group>, several: bool) -> Vec<Group> {
        let mut groups = in_run_order(self.graph, groups);
        if several {
            groups = self.merge(groups);
        }
        if self.options.exact {
            return groups;
        }
        self.settle(groups)
    }
    /// The final steps for groups of any origin: the optimum over few neighbours, then moves and copies, then merges of
    /// unrelated groups.
    pub fn settle(&mut self, mut groups: Vec<Group>) -> Vec<Group> {
        if self.options.restarts {
            groups = regroup(self, groups);
        }
        if groups.len() < 2 {
            return groups;
        }
        if self.options.refine {
            groups = refine(self, groups);
        }
        match self.options.horizontal {
            true => BottomUp::new(self, groups).run_unrelated(),
            false => groups,
        }
    }

    /// The groups of one component: the whole component if that moves nothing twice, otherwise the cheaper of the whole
    /// and of the groups grown from single ops.
    fn component(&mut self, component: &[Index]) -> Vec<Group> {
        if self.options.exact {
            let (ir, graph) = (self.ir, self.graph);
            let parts: Vec<Vec<Index>> = component.iter().map(|&op| vec![op]).collect();
            let found = exact::optimum(ir, graph, self.planner, &parts, &Bounds::NONE);
            if let Found::Best(mut groups) = found {
                groups.iter_mut().for_each(|group| group.settled = true);
                return groups;
            }
        }
        // Small components are grown from single ops even if no kernel can hold them.
        let limit = self.planner.model.limits.ops.max(MAX_AGAIN);
        let fits = self.graph.with_free(component).len() <= limit;
        let whole = self
            .options
            .top_down
            .then(|| self.evaluate_component(component));
        let whole = whole.and_then(Result::ok);
        let settled = |cost_result: CostResult| Group {
            members: component.to_vec(),
            cost_result: Some(cost_result),
            settled: true,
            ..Group::default()
        };
        // If partial results add to inputs and outputs, several kernels may move less.
        let least = |v: &CostResult| v.cost.price() == v.least_bytes || component.len() > MAX_AGAIN;
        if let Some(cost_result) = whole.clone().filter(|v| v.tight && least(v)) {
            return vec![settled(cost_result)];
        }
        let grown = match fits {
            true => self.grow(component),
            false => self.grow_long(component),
        };
        match whole {
            Some(cost_result) if self.key(&self.total(&grown)) >= self.key(&cost_result.cost) => {
                vec![settled(cost_result)]
            }
            _ => grown,
        }
    }

    /// Evaluates ops as one group, and records it.
    fn evaluate_component(&mut self, ops: &[Index]) -> Result<CostResult, Refusal> {
        let cost_result = self.evaluate(ops);
        let record = Record {
            action: Action::Component,
            parts: self.name_of(ops.last()),
            ops: ops.len(),
            refusal: cost_result.as_ref().err().cloned(),
            before: None,
            after: cost_result.as_ref().ok().map(|v| v.cost),
        };
        self.records.push(record);
        cost_result
    }

    /// Grows a component bottom-up from single ops; hints come first. If it has few parts, their optimum is taken.
    /// Otherwise a small component is also grown under the other orders of equal gains, and the optimum over the parts
    /// on which all agree is found. The cheapest groups are returned.
    fn grow(&mut self, component: &[Index]) -> Vec<Group> {
        let first = self.apart(|search| search.grow_once(component, Ties::default()));
        let few = component.len() <= MAX_AGAIN && !self.planner.restarts.is_spent();
        let hinted = !together(self.ir, self.graph, component).is_empty();
        if !self.options.restarts || !few || hinted {
            self.records.extend(first.1);
            return first.0;
        }
        let before = self.planner.work();
        let groups = self.grow_again(component, first);
        let work = self.planner.work() - before;
        self.planner.restarts.spend(work);
        groups
    }
    fn grow_again(&mut self, component: &[Index], first: (Vec<Group>, Vec<Record>)) -> Vec<Group> {
        let mut found = regroup::best(self, &first.0);
        let mut grown = vec![first];
        let mut cheapest = 0;
        // No program is known in which another order improves on a single group.
        if matches!(found, Found::Unknown) && grown[0].0.len() > 1 {
            let others = Ties::OTHERS;
            grown.extend(others.map(|ties| self.apart(|s| s.grow_once(component, ties))));
            let cost = |n: &usize| self.key(&self.total(&grown[*n].0));
            cheapest = (0..grown.len()).min_by_key(cost).unwrap_or(0);
            let parts = agreement(component, &grown);
            found = regroup::best_of(self, &parts, &grown[cheapest].0);
        }
        let (groups, made) = grown.swap_remove(cheapest);
        self.records.extend(made);
        match found {
            Found::Best(better) => {
                let record = regroup::record(self, &groups, &better);
                self.records.push(record);
                better
            }
            Found::Nothing | Found::Unknown => groups,
        }
    }
    fn grow_once(&mut self, component: &[Index], ties: Ties) -> Vec<Group> {
        let singles = self.singles(&near_first(self.graph, component));
        let hinted = together(self.ir, self.graph, component);
        let mut search = BottomUp::new(self, singles).with_ties(ties);
        for (first, others) in hinted {
            for other in others {
                // Failures are found and reported by `broken_hints`.
                let _ = search.force(first, other);
            }
        }
        search.evaluate_forced();
        search.run()
    }
    /// A group for each op of `ops`.
    pub fn singles(&mut self, ops: &[Index]) -> Vec<Group> {
        let single = |search: &mut Self, &op: &Index| Group {
            members: vec![op],
            cost_result: search.evaluate(&[op]).ok(),
            ..Group::default()
        };
        let numbered = ops.iter().enumerate();
        let counted = numbered.map(|(done, op)| {
            let progress = &self.planner.progress;
            progress.tell("segment: single ops", done, ops.len());
            single(self, op)
        });
        counted.collect()
    }

    /// Grows a component of more ops than a kernel may have, bottom-up from chunks that a kernel can hold. A chunk
    /// starts whole if that moves nothing twice. Otherwise its parts do, and a part that moves something twice starts
    /// as single ops.
    fn grow_long(&mut self, component: &[Index]) -> Vec<Group> {
        let hinted = !together(self.ir, self.graph, component).is_empty();
        if !self.options.top_down || hinted {
            return self.grow(component);
        }
        let order = near_first(self.graph, component);
        let limit = self.planner.model.limits.ops;
        let position: rustc_hash::FxHashMap<Index, usize> =
            order.iter().copied().zip(0..).collect();
        let mut groups = Vec::new();
        for chunk in chunks(self.graph, &order, limit) {
            let mut all = chunk.concat();
            all.sort_unstable();
            let whole = (chunk.len() > 1).then(|| self.tight(&all)).flatten();
            if let Some(group) = whole {
                groups.push(group);
                continue;
            }
            for mut part in chunk {
                if let Some(group) = self.tight(&part) {
                    groups.push(group);
                    continue;
                }
                part.sort_by_key(|op| position.get(op));
                groups.extend(self.singles(&part));
            }
        }
        self.merge(groups)
    }
    /// The ops as one group; `None` if that moves something twice.
    fn tight(&mut self, members: &[Index]) -> Option<Group> {
        let cost_result = self.evaluate_component(members).ok().filter(|v| v.tight)?;
        Some(Group {
            members: members.to_vec(),
            cost_result: Some(cost_result),
            ..Group::default()
        })
    }

    /// Ops whose `together` hint was not fulfilled, with the refusal of one kernel for all ops between the two.
    fn broken_hints(&mut self, groups: &[Group]) -> Vec<(Op, Refusal)> {
        let graph = self.graph;
        let all: Vec<Index> = (0..graph.len() as Index).collect();
        let mut group_of = vec![usize::MAX; graph.len()];
        for (number, group) in groups.iter().enumerate() {
            for &op in &group.members {
                group_of[op as usize] = number;
            }
        }
        let mut broken = Vec::new();
        for (first, others) in together(self.ir, graph, &all) {
            let apart = |&&o: &&Index| group_of[o as usize] != group_of[first as usize];
            if let Some(&other) = others.iter().find(apart) {
                let between = (first..=other).filter(|&o| !graph.free[o as usize]);
                let between: Vec<Index> = between.collect();
                let why = self.evaluate(&between).err();
                broken.push((graph.ops[other as usize], why.unwrap_or(Refusal::Unrelated)));
            }
        }
        broken
    }
}

/// The sets of ops that share a group in every grouping.
fn agreement(component: &[Index], grown: &[(Vec<Group>, Vec<Record>)]) -> Vec<Vec<Index>> {
    let mut homes: BTreeMap<Index, Vec<usize>> = BTreeMap::new();
    for (groups, _) in grown {
        for (number, group) in groups.iter().enumerate() {
            for &op in &group.members {
                homes.entry(op).or_default().push(number);
            }
        }
    }
    let mut parts = BTreeMap::<&[usize], Vec<Index>>::new();
    for op in component {
        let home = homes.get(op).map_or(&[][..], Vec::as_slice);
        parts.entry(home).or_default().push(*op);
    }
    parts.into_values().collect()
}

/// The ops in a run order in which each is near its operands: a depth-first post-order from the last ones. Searches for
/// cycles visit only groups between two groups, so this keeps them short.
pub(super) fn near_first(graph: &Graph, component: &[Index]) -> Vec<Index> {
    let inside: rustc_hash::FxHashSet<Index> = component.iter().copied().collect();
    let mut done = rustc_hash::FxHashSet::default();
    let mut order = Vec::with_capacity(component.len());
    let read_inside = |op: Index| graph.users(op).any(|(r, _)| inside.contains(&r));
    let ends = component.iter().copied().filter(|&op| !read_inside(op));
    for end in ends {
        let mut stack = vec![(end, false)];
        while let Some((op, entered)) = stack.pop() {
            if entered {
                order.push(op);
            } else if done.insert(op) {
                stack.push((op, true));
                let producers = graph.producers(op).map(|(m, _)| m);
                let producers: Vec<Index> = producers.filter(|m| inside.contains(m)).collect();
                stack.extend(producers.into_iter().rev().map(|m| (m, false)));
            }
        }
    }
    order
}

/// The ops of each `together:NAME` hint: the first op, and the others.
pub(super) fn together(ir: &Ir, graph: &Graph, component: &[Index]) -> Vec<(Index, Vec<Index>)> {
    let mut names = BTreeMap::<String, Vec<Index>>::new();
    for &op in component {
        if let Some(Ok(Hint::Together(name))) = Hint::of(ir, graph.ops[op as usize]) {
            names.entry(name).or_default().push(op);
        }
    }
    let split = |ops: Vec<Index>| Some((*ops.first()?, ops[1..].to_vec()));
    names.into_values().filter_map(split).collect()
}

pub(super) fn total(graph: &Graph, groups: &[Group], planner: &Planner) -> Cost {
    groups.iter().fold(Cost::default(), |sum, group| {
        sum.plus(&match &group.cost_result {
            Some(cost_result) => cost_result.cost,
            None => opaque_cost(graph, &group.members, planner),
        })
    })
}

/// Groups in a valid run order; among ready groups, the one with the earliest op comes first.
pub(super) fn in_run_order(graph: &Graph, groups: Vec<Group>) -> Vec<Group> {
    in_run_order_by(graph, groups, |op| op)
}

/// Groups in a valid run order; among ready groups, the one with the first op by `position` comes first. Groups on a
/// cycle are omitted, and so are groups that depend on one.
pub(super) fn in_run_order_by(
    graph: &Graph,
    groups: Vec<Group>,
    position: impl Fn(Index) -> Index,
) -> Vec<Group> {
    let lists: Vec<&[Index]> = groups.iter().map(|g| g.members.as_slice()).collect();
    let first = |n: usize| groups[n].members.iter().map(|&m| position(m)).min();
    let order = run_order(&needs(graph, &lists), first);
    let mut slots: Vec<Option<Group>> = groups.into_iter().map(Some).collect();
    let sorted = order.into_iter().filter_map(|n| slots[n].take());
    sorted.collect()
}
