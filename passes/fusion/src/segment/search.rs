//! The whole search, from components to refined groups. `mod.rs` lists its steps.

use std::collections::BTreeMap;

use fuser_analysis::cost::{Cost, Refusal};
use fuser_ir::{Block, Ir};

use super::borders::{self, Hint};
use super::bottom_up::{BottomUp, Ties, opaque_cost};
use super::exact::{self, Bounds, Found};
use super::graph::{Graph, Index};
use super::labels;
use super::record::{Action, Record, name_of};
use super::refine::refine;
use super::regroup::{self, regroup};
use super::stretches::packs;
use super::verdict::{Planner, Verdict};

/// The bounds on the search and its steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Questions to the cost model, per op and doubling of the number of ops.
    pub evaluations: u64,
    /// Begin with whole components; without it, the search is bottom-up from single ops.
    pub top_down: bool,
    /// Find the optimum of components of few ops.
    pub exact: bool,
    /// Move and copy ops across the cuts that merging leaves.
    pub refine: bool,
    /// Spend a bounded number of further questions: on other orders of equal gains in small components, and on the optimum over
    /// few neighbours.
    pub restarts: bool,
    /// Begin with what a frontend labelled as well, and take that where it costs no more.
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
            labels: true,
        }
    }
}

/// Ops that share a kernel.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Group {
    /// The ops, by place in the graph, ascending.
    pub members: Vec<Index>,
    /// Ops of earlier groups that this one computes again, ascending.
    pub copies: Vec<Index>,
    /// The cost model's result; `None` for an op that it does not understand.
    pub verdict: Option<Verdict>,
    /// Kept by the top-down phase.
    pub settled: bool,
}

/// The groups of a program, and how they came about.
#[derive(Clone, Debug, Default)]
pub struct Segmentation {
    /// In run order.
    pub groups: Vec<Group>,
    /// Every decision, in order.
    pub records: Vec<Record>,
    /// Hints that could not be kept: the op's place and the reason.
    pub broken_hints: Vec<(Index, Refusal)>,
    /// The groups found without labels, if labels gave the groups.
    pub unlabelled: Option<Vec<Group>>,
}

impl Group {
    /// All that it computes, ascending: its ops and copies of others.
    pub fn computed(&self) -> Vec<Index> {
        let mut all = [self.members.as_slice(), &self.copies].concat();
        all.sort_unstable();
        all
    }
}

impl Segmentation {
    /// The price of all groups.
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
    let mut result = Segmentation::default();
    let mut groups = Vec::new();
    let components = borders::components(ir, &graph);
    let several = components.len() > 1;
    let proposals = match options.labels && !options.exact {
        true => labels::proposals(ir, block, &graph, &components),
        false => Vec::new(),
    };
    let mut labelled: Vec<Group> = Vec::new();
    let mut differ = false;
    for (number, component) in components.iter().enumerate() {
        let found = component_groups(ir, &graph, planner, options, component, &mut result);
        if let Some(parts) = proposals.get(number) {
            let records = &mut result.records;
            let better = labels::grow(
                ir, &graph, planner, options, component, parts, &found, records,
            );
            differ |= better.is_some();
            labelled.extend(better.unwrap_or_else(|| found.clone()));
        }
        groups.extend(found);
    }
    let mut end = |groups: Vec<Group>, records: &mut Vec<Record>| {
        let mut groups = in_run_order(&graph, groups);
        if several {
            let budget = budget(options, groups.len());
            groups = BottomUp::new(ir, &graph, planner, records, groups).run(budget);
        }
        if options.exact {
            return groups;
        }
        if options.restarts {
            groups = regroup(ir, &graph, planner, records, groups);
        }
        if options.refine {
            let ops = options.evaluations.saturating_mul(graph.len() as u64);
            groups = refine(ir, &graph, planner, records, groups, ops);
        }
        horizontal(ir, &graph, planner, records, groups)
    };
    groups = end(groups, &mut result.records);
    if differ {
        let mut records = Vec::new();
        let labelled = end(labelled, &mut records);
        let (record, kept) = labels::decide(&graph, planner, &groups, &labelled);
        if kept {
            result.records.extend(records);
            result.unlabelled = Some(std::mem::replace(&mut groups, labelled));
        }
        result.records.push(record);
    }
    result.groups = groups;
    check_hints(ir, &graph, planner, &mut result);
    (graph, result)
}

/// The groups, given in run order, with unrelated ones of equal shape merged.
pub(super) fn horizontal(
    ir: &Ir,
    graph: &Graph,
    planner: &mut Planner,
    records: &mut Vec<Record>,
    groups: Vec<Group>,
) -> Vec<Group> {
    if groups.len() < 2 {
        return groups;
    }
    let mut search = BottomUp::new(ir, graph, planner, records, groups);
    search.merge_unrelated();
    search.finish()
}

/// One component: as a whole where that moves nothing twice, else the better of the whole and of what single ops grow to.
fn component_groups(
    ir: &Ir,
    graph: &Graph,
    planner: &mut Planner,
    options: &Options,
    component: &[Index],
    result: &mut Segmentation,
) -> Vec<Group> {
    if options.exact && component.len() <= exact::MAX_PARTS {
        let parts: Vec<Vec<Index>> = component.iter().map(|&op| vec![op]).collect();
        if let Found::Best(mut groups) = exact::optimum(ir, graph, planner, &parts, &Bounds::NONE) {
            for group in &mut groups {
                group.settled = true;
            }
            return groups;
        }
    }
    // Few ops are worth the search from single ones even where no kernel can hold them.
    let fits = graph.with_free(component).len() <= planner.model.limits.ops.max(MAX_AGAIN);
    let whole = options.top_down.then(|| planner.ask(ir, graph, component));
    if let Some(verdict) = &whole {
        result
            .records
            .push(asked_whole(ir, graph, component, verdict));
    }
    let whole = whole.and_then(Result::ok);
    let settled = |verdict: Verdict| Group {
        members: component.to_vec(),
        verdict: Some(verdict),
        settled: true,
        ..Group::default()
    };
    // Partial results lie beside inputs and outputs: without them several kernels may move less.
    let least = |v: &Verdict| v.cost.bytes() == v.least_bytes || component.len() > MAX_AGAIN;
    if let Some(verdict) = whole.clone().filter(|v| v.tight && least(v)) {
        return vec![settled(verdict)];
    }
    let grown = match fits {
        true => grow(ir, graph, planner, options, component, &mut result.records),
        false => grow_long(ir, graph, planner, options, component, result),
    };
    match whole {
        Some(verdict) if !is_better(graph, planner, &grown, &verdict.cost) => {
            vec![settled(verdict)]
        }
        _ => grown,
    }
}

fn asked_whole(
    ir: &Ir,
    graph: &Graph,
    ops: &[Index],
    verdict: &Result<Verdict, Refusal>,
) -> Record {
    let last = ops.last().and_then(|&l| name_of(ir, graph, l));
    Record {
        action: Action::Whole,
        parts: last.into_iter().collect(),
        ops: ops.len(),
        refusal: verdict.as_ref().err().cloned(),
        before: None,
        after: verdict.as_ref().ok().map(|v| v.cost),
    }
}

fn is_better(graph: &Graph, planner: &Planner, groups: &[Group], whole: &Cost) -> bool {
    let objective = planner.model.objective;
    total(graph, groups, planner).key(objective) < whole.key(objective)
}

/// The most ops of a component that is grown several times: ties are many where tensors have one size, and the first way to
/// break them is not always the best.
const MAX_AGAIN: usize = 64;
/// After so many questions no component is grown several times.
const AGAIN: u64 = 8_192;

/// Bottom-up from single ops, hints first. Of few ops in few parts the optimum is taken; else few ops are grown under the other
/// orders of equal gains too, and what all agree on is put together in the best way: the cheapest groups count.
fn grow(
    ir: &Ir,
    graph: &Graph,
    planner: &mut Planner,
    options: &Options,
    component: &[Index],
    records: &mut Vec<Record>,
) -> Vec<Group> {
    let grow = |planner: &mut Planner, ties: Ties| {
        let mut records = Vec::new();
        let groups = grow_once(ir, graph, planner, options, component, ties, &mut records);
        (groups, records)
    };
    let first = grow(planner, Ties::default());
    let again = options.restarts && component.len() <= MAX_AGAIN && planner.questions < AGAIN;
    if !again || !together(ir, graph, component).is_empty() {
        records.extend(first.1);
        return first.0;
    }
    let mut found = regroup::best(ir, graph, planner, &first.0);
    let mut grown = vec![first];
    let mut cheapest = 0;
    if matches!(found, Found::Unknown) {
        grown.extend(Ties::OTHERS.map(|ties| grow(planner, ties)));
        let cost = |n: &usize| total(graph, &grown[*n].0, planner).key(planner.model.objective);
        cheapest = (0..grown.len()).min_by_key(cost).unwrap_or(0);
        let parts = agreement(component, &grown);
        found = regroup::best_of(ir, graph, planner, &parts, &grown[cheapest].0);
    }
    let (groups, made) = grown.swap_remove(cheapest);
    records.extend(made);
    match found {
        Found::Best(better) => {
            records.push(regroup::record(ir, graph, planner, &groups, &better));
            better
        }
        Found::Nothing | Found::Unknown => groups,
    }
}

/// The ops that share a group in each of several groupings.
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

fn grow_once(
    ir: &Ir,
    graph: &Graph,
    planner: &mut Planner,
    options: &Options,
    component: &[Index],
    ties: Ties,
    records: &mut Vec<Record>,
) -> Vec<Group> {
    let singles = singles(ir, graph, planner, &near_first(graph, component));
    let budget = budget(options, component.len());
    let search = BottomUp::new(ir, graph, planner, records, singles);
    let mut search = search.with_ties(ties);
    for (first, others) in together(ir, graph, component) {
        for other in others {
            // What fails here is found and told by `check_hints`.
            let _ = search.force(first, other);
        }
    }
    search.ask_forced();
    search.run(budget)
}

pub(super) fn singles(ir: &Ir, graph: &Graph, planner: &mut Planner, ops: &[Index]) -> Vec<Group> {
    let single = |&op: &Index| Group {
        members: vec![op],
        verdict: planner.ask(ir, graph, &[op]).ok(),
        ..Group::default()
    };
    ops.iter().map(single).collect()
}

/// A component of more ops than a kernel may have: bottom-up from packs of stretches that a kernel can hold, each whole where
/// that moves nothing twice; where not, from its parts, and where one of these does, from single ops.
fn grow_long(
    ir: &Ir,
    graph: &Graph,
    planner: &mut Planner,
    options: &Options,
    component: &[Index],
    result: &mut Segmentation,
) -> Vec<Group> {
    if !options.top_down || !together(ir, graph, component).is_empty() {
        return grow(ir, graph, planner, options, component, &mut result.records);
    }
    let order = near_first(graph, component);
    let limit = planner.model.limits.ops;
    let place: rustc_hash::FxHashMap<Index, usize> = order.iter().copied().zip(0..).collect();
    let mut groups = Vec::new();
    let mut tight = |planner: &mut Planner, members: &[Index]| {
        let answer = planner.ask(ir, graph, members);
        let record = asked_whole(ir, graph, members, &answer);
        result.records.push(record);
        let verdict = answer.ok().filter(|v| v.tight);
        verdict.map(|verdict| Group {
            members: members.to_vec(),
            verdict: Some(verdict),
            ..Group::default()
        })
    };
    for pack in packs(graph, &order, limit) {
        if pack.len() > 1 {
            let mut all = pack.concat();
            all.sort_unstable();
            if let Some(group) = tight(planner, &all) {
                groups.push(group);
                continue;
            }
        }
        for mut part in pack {
            if let Some(group) = tight(planner, &part) {
                groups.push(group);
                continue;
            }
            part.sort_by_key(|op| place.get(op));
            groups.extend(singles(ir, graph, planner, &part));
        }
    }
    let budget = budget(options, component.len());
    let search = BottomUp::new(ir, graph, planner, &mut result.records, groups);
    search.run(budget)
}

/// The ops in an order in which they can run and in which each stands near what it reads: after a walk from the last ones
/// back, depth first. Searches for cycles look only between two groups, so this keeps them short.
pub(super) fn near_first(graph: &Graph, component: &[Index]) -> Vec<Index> {
    let inside: rustc_hash::FxHashSet<Index> = component.iter().copied().collect();
    let mut done = rustc_hash::FxHashSet::default();
    let mut order = Vec::with_capacity(component.len());
    let read_inside = |op: Index| graph.consumers(op).any(|(r, _)| inside.contains(&r));
    let ends = component.iter().copied().filter(|&op| !read_inside(op));
    for end in ends {
        let mut stack = vec![(end, false)];
        while let Some((op, entered)) = stack.pop() {
            if entered {
                order.push(op);
            } else if done.insert(op) {
                stack.push((op, true));
                let makers = graph.producers(op).map(|(m, _)| m);
                let makers: Vec<Index> = makers.filter(|m| inside.contains(m)).collect();
                stack.extend(makers.into_iter().rev().map(|m| (m, false)));
            }
        }
    }
    order
}

/// The ops of each `together:NAME` hint: the first, and the others.
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

/// Notes the ops whose `together` hint was not kept, and why: the reason against one kernel for all from one to the other.
fn check_hints(ir: &Ir, graph: &Graph, planner: &mut Planner, result: &mut Segmentation) {
    let all: Vec<Index> = (0..graph.len() as Index).collect();
    let mut group_of = vec![usize::MAX; graph.len()];
    for (number, group) in result.groups.iter().enumerate() {
        for &op in &group.members {
            group_of[op as usize] = number;
        }
    }
    for (first, others) in together(ir, graph, &all) {
        let apart = |&&o: &&Index| group_of[o as usize] != group_of[first as usize];
        if let Some(&other) = others.iter().find(apart) {
            let between = (first..=other).filter(|&o| !graph.free[o as usize]);
            let between: Vec<Index> = between.collect();
            let why = planner.ask(ir, graph, &between).err();
            let why = why.unwrap_or(Refusal::Unrelated);
            result.broken_hints.push((other, why));
        }
    }
}

pub(super) fn budget(options: &Options, ops: usize) -> u64 {
    let doublings = u64::from(ops.max(2).ilog2());
    options
        .evaluations
        .saturating_mul(ops as u64)
        .saturating_mul(doublings)
}

pub(super) fn total(graph: &Graph, groups: &[Group], planner: &Planner) -> Cost {
    groups.iter().fold(Cost::default(), |sum, group| {
        sum.plus(&match &group.verdict {
            Some(verdict) => verdict.cost,
            None => opaque_cost(graph, &group.members, planner),
        })
    })
}

/// Groups in an order in which they can run, earlier ones by their first op.
pub(super) fn in_run_order(graph: &Graph, groups: Vec<Group>) -> Vec<Group> {
    in_run_order_by(graph, groups, |op| op)
}

/// Groups in an order in which they can run, those first whose first op comes first by `place`. Those that wait for
/// themselves by way of others are left out, and so is what waits for them.
pub(super) fn in_run_order_by(
    graph: &Graph,
    groups: Vec<Group>,
    place: impl Fn(Index) -> Index,
) -> Vec<Group> {
    let mut of_op = vec![usize::MAX; graph.len()];
    for (number, group) in groups.iter().enumerate() {
        for &op in &group.members {
            of_op[op as usize] = number;
        }
    }
    let readers = |number: usize| {
        let members = groups[number].members.iter();
        let readers = members.flat_map(|&m| graph.consumers(m).map(|(r, _)| of_op[r as usize]));
        let others = readers.filter(move |&r| r != number && r != usize::MAX);
        others.collect::<std::collections::BTreeSet<usize>>()
    };
    let mut waiting = vec![0usize; groups.len()];
    for number in 0..groups.len() {
        for reader in readers(number) {
            waiting[reader] += 1;
        }
    }
    let first = |n: &usize| (groups[*n].members.iter().map(|&m| place(m)).min(), *n);
    let ready = (0..groups.len()).filter(|&n| waiting[n] == 0);
    let mut ready: std::collections::BTreeSet<_> = ready.map(|n| first(&n)).collect();
    let mut order = Vec::with_capacity(groups.len());
    while let Some((_, number)) = ready.pop_first() {
        order.push(number);
        for reader in readers(number) {
            waiting[reader] -= 1;
            if waiting[reader] == 0 {
                ready.insert(first(&reader));
            }
        }
    }
    let mut slots: Vec<Option<Group>> = groups.into_iter().map(Some).collect();
    let sorted = order.into_iter().filter_map(|n| slots[n].take());
    sorted.collect()
}
