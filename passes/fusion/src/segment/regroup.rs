//! Optimal grouping of neighbouring groups, which greedy merging may miss.
//!
//! A window slides over the groups in run order. The ops of its groups are split into parts that no better grouping
//! separates (`lower_bound.rs`). If there are few parts, their optimal grouping is found (`exact.rs`). A window starts
//! at its maximal width and shrinks until there are few enough parts; it may be a single group. Among equal windows,
//! such as those of equal layers, only one is tried.
//!
//! ```text
//! merged: {a b} {c d e}     parts: a, b, c, {d e}     optimum: {a b c} {d e}
//! ```
//!
//! Guarantees: each change lowers the cost. Work is counted against a budget linear in the program, spent in program
//! order. Neighbours in run order can be regrouped freely: nothing between them depends on either. Ops with a hint are
//! not moved.

use fuser_analysis::cost::{Copies, Cost, Objective};
use fuser_ir::{Ir, Traits};
use rustc_hash::{FxHashMap, FxHashSet};

use super::exact::{self, Bounds, Found};
use super::graph::{Graph, Index};
use super::lower_bound;
use super::record::{Action, Record};
use super::search::{Group, Search};
use crate::budget::Budget;

/// The most ops of a window of several groups.
const WINDOW: usize = 24;
/// The most ops of a window of one group.
const MAX_OPS: usize = 1024;
/// Improves `groups`, given in run order, window by window; returns them in run order.
pub(super) fn regroup(search: &mut Search<'_>, mut groups: Vec<Group>) -> Vec<Group> {
    let mut first = 0;
    // Keys of windows without a better grouping.
    let mut best = FxHashSet::default();
    while first < groups.len() && !search.planner.restarts.is_spent() {
        let progress = &search.planner.progress;
        progress.tell("segment: optimum of neighbours", first, groups.len());
        let before = search.planner.work();
        let window = &groups[first..first + widest(&groups[first..])];
        let look = look(search, window);
        if best.contains(&look) {
            search.planner.restarts.spend(1);
            first += 1;
            continue;
        }
        let found = best_window(search, window);
        let work = search.planner.work() - before;
        search.planner.restarts.spend(work + 1);
        match found {
            Some((count, found)) => {
                let window = &groups[first..first + count];
                let record = record(search, window, &found);
                search.records.push(record);
                groups.splice(first..first + count, found);
                // A changed window may combine with groups before it.
                first = first.saturating_sub(WINDOW);
            }
            None => {
                best.insert(look);
                first += 1;
            }
        }
    }
    groups
}

/// The number of groups in the widest window at the front of `groups`.
fn widest(groups: &[Group]) -> usize {
    let mut ops = 0;
    let fits = groups.iter().take_while(|group| {
        ops += group.members.len();
        ops <= WINDOW
    });
    fits.count().max(1)
}

/// A key with everything that the best grouping of a window depends on: its ops, their groups and the costs of these.
fn look(search: &mut Search<'_>, window: &[Group]) -> Vec<u32> {
    let (ir, graph) = (search.ir, search.graph);
    let numbered = window.iter().zip(0u32..);
    let groups =
        numbered.flat_map(|(group, number)| group.members.iter().map(move |&m| (m, number)));
    let groups: FxHashMap<Index, u32> = groups.collect();
    let members: Vec<Index> = window.iter().flat_map(|g| g.members.clone()).collect();
    let all = graph.with_free(&members);
    let ops = graph.ops_at(&all);
    let mut look = search.planner.key(ir, &ops, &Copies::default());
    for (&op, &node) in all.iter().zip(&ops) {
        let hinted = ir.get_attr(node, "fusion.hint").is_some();
        look.push(groups.get(&op).map_or(0, |number| number + 1));
        look.push(hinted.into());
        let reads = graph.reads[op as usize].iter();
        look.extend(reads.map(|&e| u32::from(graph.edges[e as usize].producer.is_some())));
    }
    for group in window {
        look.push(group.settled.into());
        let cost = group.cost_result.as_ref().map_or(0, |v| v.cost.price());
        look.extend([cost as u32, (cost >> 32) as u32]);
    }
    look
}

/// The widest window at the front of `groups` that is small enough, with its new groups; `None` if there is no cheaper
/// grouping.
fn best_window(search: &mut Search<'_>, groups: &[Group]) -> Option<(usize, Vec<Group>)> {
    let mut count = groups.len();
    loop {
        match best(search, &groups[..count]) {
            Found::Best(found) => return Some((count, found)),
            Found::Unknown if count > 1 => count -= 1,
            Found::Nothing | Found::Unknown => return None,
        }
    }
}

/// The optimal grouping of the ops of neighbouring groups, if it costs less.
pub(super) fn best(search: &mut Search<'_>, window: &[Group]) -> Found {
    let (ir, graph) = (search.ir, search.graph);
    let hinted = |&op: &Index| ir.get_attr(graph.ops[op as usize], "fusion.hint").is_some();
    let mut all: Vec<Index> = window.iter().flat_map(|g| g.members.clone()).collect();
    if all.iter().any(hinted) || all.len() > MAX_OPS {
        return Found::Unknown;
    }
    // Components that are one group each end at boundaries: only values that two of them share otherwise could save
    // bytes.
    if window.len() > 1 && window.iter().all(|g| g.settled) && !share(ir, graph, window) {
        return Found::Unknown;
    }
    all.sort_unstable();
    let parts = parts(search, &all, &search.total(window));
    // A single group that no better grouping separates is optimal.
    if window.len() == 1 && parts.len() == 1 {
        return Found::Nothing;
    }
    best_of(search, &parts, window)
}

/// True if two of the groups load a common value, or if one loads a value of another that is not the result of a
/// boundary.
fn share(ir: &Ir, graph: &Graph, window: &[Group]) -> bool {
    let mut touched = FxHashMap::<u32, usize>::default();
    window.iter().zip(0..).any(|(group, number)| {
        let edges = group.members.iter().flat_map(|&op| {
            let boundary = ir.has(graph.ops[op as usize], Traits::BARRIER);
            let made = graph.writes[op as usize].iter().filter(move |_| !boundary);
            made.chain(&graph.reads[op as usize])
        });
        let mut loaded = edges.filter(|&&edge| graph.is_loaded(edge));
        loaded.any(|&edge| *touched.entry(edge).or_insert(number) != number)
    })
}

/// The optimum over `parts`, if it costs less than the `known` groups.
pub(super) fn best_of(search: &mut Search<'_>, parts: &[Vec<Index>], known: &[Group]) -> Found {
    let bounds = Bounds {
        work: Budget::OPTIMUM.min(search.planner.restarts.left()),
        pairs: Budget::PAIRS,
        below: Some(search.total(known)),
    };
    exact::optimum(search.ir, search.graph, search.planner, parts, &bounds)
}

/// The ops of `all`, ascending, as parts that no grouping separates that costs no more than `known`.
fn parts(search: &Search<'_>, all: &[Index], known: &Cost) -> Vec<Vec<Index>> {
    match search.planner.model.objective {
        Objective::Bytes => lower_bound::inseparable(search.ir, search.graph, all, known.price()),
        _ => all.iter().map(|&op| vec![op]).collect(),
    }
}

/// The record of regrouping `before` into `after`.
pub(super) fn record(search: &Search<'_>, before: &[Group], after: &[Group]) -> Record {
    let last = before.iter().flat_map(|g| g.members.last()).max();
    Record {
        action: Action::Regroup,
        parts: search.name_of(last),
        ops: before.iter().map(|g| g.members.len()).sum(),
        refusal: None,
        before: Some(search.total(before)),
        after: Some(search.total(after)),
    }
}
