//! The best grouping of neighbours, which merging misses because it takes the best merge first.
//!
//! A window slides over the groups in run order. The ops of the groups inside are taken apart into parts that no better
//! grouping parts (`lower_bound.rs`), and where these are few, put together in the best way there is (`exact.rs`). A window begins
//! as wide as it may be and becomes narrower until its parts are few enough; it may be a single group. Of windows that look the same, as
//! those of equal layers do, one is looked at.
//!
//! ```text
//! merged: {a b} {c d e}     parts: a, b, c, {d e}     optimum: {a b c} {d e}
//! ```
//!
//! Guarantees: each change lowers the cost; work is counted against a budget that is linear in the program, and what
//! comes first in the program is served first. Neighbours in run order can be regrouped freely: nothing between them depends
//! on either. Ops with a hint stay where they are.

use fuser_analysis::cost::{Copies, Cost, Objective};
use fuser_ir::{Ir, Traits};
use rustc_hash::{FxHashMap, FxHashSet};

use super::exact::{self, Bounds, Found};
use super::graph::{Graph, Index};
use super::lower_bound;
use super::record::{Action, Record};
use super::search::{Group, Search};
use crate::budget::Budget;

/// The most ops of several neighbours that are looked at together.
const WINDOW: usize = 24;
/// The most ops of one group that is looked at.
const MAX_OPS: usize = 1024;
/// Improves `groups`, given in run order, window by window; gives them in run order.
pub(super) fn regroup(search: &mut Search<'_>, mut groups: Vec<Group>) -> Vec<Group> {
    let mut first = 0;
    // What windows look like in which there is nothing better.
    let mut best = FxHashSet::default();
    while first < groups.len() && !search.planner.restarts.is_spent() {
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
                // What changed may go further with what stands before it.
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

/// All that the best groups of a window depend on, as numbers: its ops, their groups and the costs of these.
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

/// The widest window at the front of `groups` that can be looked at, and its groups where others cost less.
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

/// The ops of neighbours put together in the best way, if that costs less.
pub(super) fn best(search: &mut Search<'_>, window: &[Group]) -> Found {
    let (ir, graph) = (search.ir, search.graph);
    let hinted = |&op: &Index| ir.get_attr(graph.ops[op as usize], "fusion.hint").is_some();
    let mut all: Vec<Index> = window.iter().flat_map(|g| g.members.clone()).collect();
    if all.iter().any(hinted) || all.len() > MAX_OPS {
        return Found::Unknown;
    }
    // Components that are one group each end at boundaries: only what two of them touch beside those could be saved.
    if window.len() > 1 && window.iter().all(|g| g.settled) && !share(ir, graph, window) {
        return Found::Unknown;
    }
    all.sort_unstable();
    let parts = parts(search, &all, &search.total(window));
    // One group that nothing better parts.
    if window.len() == 1 && parts.len() == 1 {
        return Found::Nothing;
    }
    best_of(search, &parts, window)
}

/// True if two of the groups load one value, or one loads what another makes and no boundary is.
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

/// The optimum over `parts`, if that costs less than the groups that are `known`.
pub(super) fn best_of(search: &mut Search<'_>, parts: &[Vec<Index>], known: &[Group]) -> Found {
    let bounds = Bounds {
        work: Budget::OPTIMUM.min(search.planner.restarts.left()),
        pairs: Budget::PAIRS,
        below: Some(search.total(known)),
    };
    exact::optimum(search.ir, search.graph, search.planner, parts, &bounds)
}

/// The ops `all`, ascending, in parts that no grouping parts which costs no more than what is `known`.
fn parts(search: &Search<'_>, all: &[Index], known: &Cost) -> Vec<Vec<Index>> {
    match search.planner.model.objective {
        Objective::Bytes => lower_bound::inseparable(search.ir, search.graph, all, known.price()),
        _ => all.iter().map(|&op| vec![op]).collect(),
    }
}

/// That `before` became `after`.
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
