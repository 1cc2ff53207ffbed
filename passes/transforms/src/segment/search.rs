//! The whole search: top-down, bottom-up where that fails, the optimum of what is small, a look across the borders of
//! components, and then at each cut.

use fuser_ir::{Block, Ir};

use super::borders::{self, Hint};
use super::bottom_up::{BottomUp, Ties, opaque_cost};
use super::exact::{self, Bounds, Found};
use super::graph::{Graph, Index};
use super::labels;
use super::polish::{self, Effort, better, polish, slide};
use super::record::{Action, Record, name_of};
use super::refine::refine;
use super::stretches::packs;
use super::verdict::{Planner, Verdict};
use crate::cost::{Cost, Objective, Refusal};

/// What bounds the search.
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
    /// Spend a bounded number of further questions on small components: other orders of equal gains, and the optimum over few
    /// parts.
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
    /// What the model says; `None` for an op that it does not understand.
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
    /// Where labels gave the groups: those that were found without.
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
    let mut effort = match options.restarts {
        true => Effort::new(graph.len()),
        false => Effort::NONE,
    };
    for (number, component) in components.iter().enumerate() {
        let found = component_groups(
            ir,
            &graph,
            planner,
            options,
            component,
            &mut effort,
            &mut result,
        );
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
        let groups = match several {
            true => across(ir, &graph, planner, options, groups, &mut effort, records),
            false => groups,
        };
        if !options.refine || options.exact {
            return groups;
        }
        let ops = options.evaluations.saturating_mul(graph.len() as u64);
        refine(ir, &graph, planner, records, groups, ops)
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

/// Merges across the borders of components: a cast whose only reader stands behind a border may still go there.
fn across(
    ir: &Ir,
    graph: &Graph,
    planner: &mut Planner,
    options: &Options,
    groups: Vec<Group>,
    effort: &mut Effort,
    records: &mut Vec<Record>,
) -> Vec<Group> {
    let groups = in_run_order(graph, groups);
    let budget = budget(options, groups.len());
    let groups = BottomUp::new(ir, graph, planner, records, groups).run(budget);
    if options.exact {
        return groups;
    }
    let before = total(graph, &groups, planner);
    let regrouped = slide(ir, graph, planner, groups, effort);
    let after = total(graph, &regrouped, planner);
    if before != after {
        records.push(regroup(None, graph.len(), before, after));
    }
    regrouped
}

/// One component: as a whole where that moves nothing twice, else the better of the whole and of what single ops grow to.
fn component_groups(
    ir: &Ir,
    graph: &Graph,
    planner: &mut Planner,
    options: &Options,
    component: &[Index],
    effort: &mut Effort,
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
    let fits = component.len() <= planner.model.limits.ops.max(MAX_AGAIN);
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
    if let Some(verdict) = whole.clone().filter(|v| v.tight) {
        match doubt(ir, graph, planner, component, &verdict.cost, effort) {
            Found::Nothing => return vec![settled(verdict)],
            Found::Best(groups) => {
                let last = component.last().and_then(|&l| name_of(ir, graph, l));
                let after = total(graph, &groups, planner);
                let record = regroup(last, component.len(), verdict.cost, after);
                result.records.push(record);
                return groups;
            }
            Found::Unknown => {}
        }
    }
    let known = whole.as_ref().map(|v| v.cost);
    let grown = match fits {
        true => grow(
            ir, graph, planner, options, component, known, effort, result,
        ),
        false => grow_long(ir, graph, planner, options, component, result),
    };
    match whole {
        Some(verdict) if !is_better(graph, planner, &grown, &verdict.cost) => {
            vec![settled(verdict)]
        }
        _ => grown,
    }
}

/// Whether a component that moves nothing twice may cost less in several groups: partial results lie beside inputs and
/// outputs, and a copy that is an output may be a view of what is written anyway.
fn doubt(
    ir: &Ir,
    graph: &Graph,
    planner: &mut Planner,
    component: &[Index],
    whole: &Cost,
    effort: &mut Effort,
) -> Found {
    let bytes = planner.model.objective == Objective::Bytes;
    if !bytes || !together(ir, graph, component).is_empty() {
        return Found::Nothing;
    }
    let parts = polish::parts(ir, graph, planner, component, whole);
    if parts.len() == 1 {
        return Found::Nothing;
    }
    match polish::best_of(ir, graph, planner, &parts, whole, effort) {
        Found::Unknown if component.len() > MAX_AGAIN => Found::Nothing,
        found => found,
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

fn regroup(last: Option<fuser_ir::Value>, ops: usize, before: Cost, after: Cost) -> Record {
    Record {
        action: Action::Regroup,
        parts: last.into_iter().collect(),
        ops,
        refusal: None,
        before: Some(before),
        after: Some(after),
    }
}

fn is_better(graph: &Graph, planner: &Planner, groups: &[Group], whole: &Cost) -> bool {
    let objective = planner.model.objective;
    total(graph, groups, planner).key(objective) < whole.key(objective)
}

/// The most ops of a component that is grown several times: ties are many where tensors have one size, and the first way to
/// break them is not always the best.
const MAX_AGAIN: usize = 64;

/// Bottom-up from single ops, hints first. Then the optimum, where few parts may be better than that and than what is `known`;
/// else small components under each order of equal gains, and then polished: the best counts.
#[allow(clippy::too_many_arguments)] // What all of the search hands on, and what is known.
fn grow(
    ir: &Ir,
    graph: &Graph,
    planner: &mut Planner,
    options: &Options,
    component: &[Index],
    known: Option<Cost>,
    effort: &mut Effort,
    result: &mut Segmentation,
) -> Vec<Group> {
    let objective = planner.model.objective;
    let last = component.last().and_then(|&l| name_of(ir, graph, l));
    let mut records = Vec::new();
    let first = grow_once(
        ir,
        graph,
        planner,
        options,
        component,
        Ties::default(),
        &mut records,
    );
    let cost = total(graph, &first, planner);
    let free = component.len() > 1 && together(ir, graph, component).is_empty();
    if free && effort.is_left() {
        let least = known.filter(|k| k.key(objective) < cost.key(objective));
        let least = least.unwrap_or(cost);
        match better(ir, graph, planner, component, &least, effort) {
            Found::Best(groups) => {
                result.records.extend(records);
                let after = total(graph, &groups, planner);
                let record = regroup(last, component.len(), cost, after);
                result.records.push(record);
                return groups;
            }
            Found::Nothing => {
                result.records.extend(records);
                return first;
            }
            Found::Unknown => {}
        }
    }
    let mut best = (cost, first.clone(), records);
    let mut all = vec![first];
    let small = free && component.len() <= MAX_AGAIN;
    for &ties in Ties::ALL[1..].iter().filter(|_| small) {
        if !effort.is_left() {
            break;
        }
        let mut records = Vec::new();
        let found = effort.spend(planner, |planner, _| {
            grow_once(ir, graph, planner, options, component, ties, &mut records)
        });
        let cost = total(graph, &found, planner);
        all.push(found.clone());
        if cost.key(objective) < best.0.key(objective) {
            best = (cost, found, records);
        }
    }
    let (cost, groups, records) = best;
    result.records.extend(records);
    if !small || !effort.is_left() {
        return groups;
    }
    // The best first.
    all.insert(0, groups.clone());
    match polish(ir, graph, planner, component, &all, effort) {
        Some(polished) => {
            let after = total(graph, &polished, planner);
            let record = regroup(last, component.len(), cost, after);
            result.records.push(record);
            polished
        }
        None => groups,
    }
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
        let (ties, records) = (Ties::default(), &mut result.records);
        return grow_once(ir, graph, planner, options, component, ties, records);
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
    let mut names = std::collections::BTreeMap::<String, Vec<Index>>::new();
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
