//! The optimum over all ways to put few parts together, by dynamic programming over sets of parts that are done.
//!
//! Parts are single ops, or groups that stay whole. A grouping that can run is a chain of sets, each closed under what its
//! parts read; the next group is what the next set adds. Only sets that such a chain can add are asked about, each once, and
//! only those that values hold together: what shares nothing stays apart, here as everywhere.
//!
//! Guarantees: of equal groupings always the same; groups come in run order. Where parts are single ops this is the yardstick
//! of the search, and on few ops its answer. Never looks at values that are computed twice: that is left to refinement.

use fuser_ir::Ir;

use super::graph::{Graph, Index};
use super::search::Group;
use super::verdict::{Planner, Verdict};
use crate::cost::Cost;

/// The most parts: there are 3^n pairs of a set and what to add.
pub(super) const MAX_PARTS: usize = 14;

/// A set of parts.
type Set = usize;

/// The cheapest groups of `parts`, in run order; `None` where there are too many, or more than `budget` questions to ask.
pub(super) fn optimum(
    ir: &Ir,
    graph: &Graph,
    planner: &mut Planner,
    parts: &[Vec<Index>],
    budget: u64,
) -> Option<Vec<Group>> {
    if parts.len() > MAX_PARTS {
        return None;
    }
    let last = planner.questions.saturating_add(budget);
    let reads = reads(graph, parts);
    let count: Set = 1 << parts.len();
    let closed: Vec<bool> = (0..count).map(|set| is_closed(&reads, set)).collect();
    let beside = beside(graph, parts);
    let mut verdicts: Vec<Option<Option<Verdict>>> = vec![None; count];
    let objective = planner.model.objective;
    let mut best: Vec<Option<(Cost, Set)>> = vec![None; count];
    best[0] = Some((Cost::default(), 0));
    for done in 0..count {
        let Some((cost, _)) = best[done] else {
            continue;
        };
        let left = count - 1 - done;
        let mut group = left;
        // All non-empty subsets of what is left.
        while group != 0 {
            let next = done | group;
            if closed[next] {
                let slot = &mut verdicts[group];
                if slot.is_none() && !is_connected(&beside, group) {
                    *slot = Some(None);
                }
                if slot.is_none() {
                    if planner.questions >= last {
                        return None;
                    }
                    *slot = Some(planner.ask(ir, graph, &members(parts, group)).ok());
                }
                if let Some(Some(verdict)) = slot {
                    let total = cost.plus(&verdict.cost);
                    let better =
                        |(known, _): (Cost, Set)| total.key(objective) < known.key(objective);
                    if best[next].is_none_or(better) {
                        best[next] = Some((total, group));
                    }
                }
            }
            group = (group - 1) & left;
        }
    }
    let mut groups = Vec::new();
    let mut at = count - 1;
    while at != 0 {
        let (_, group) = best[at]?;
        groups.push(Group {
            members: members(parts, group),
            verdict: verdicts[group].take().flatten(),
            ..Group::default()
        });
        at &= !group;
    }
    groups.reverse();
    Some(groups)
}

/// Of each part the parts that it reads from.
fn reads(graph: &Graph, parts: &[Vec<Index>]) -> Vec<Set> {
    let mut home = rustc_hash::FxHashMap::<Index, usize>::default();
    for (number, part) in parts.iter().enumerate() {
        home.extend(part.iter().map(|&op| (op, number)));
    }
    let makers = |(number, part): (usize, &Vec<Index>)| {
        let makers = part.iter().flat_map(|&op| graph.producers(op));
        let homes = makers.filter_map(|(maker, _)| home.get(&maker));
        homes
            .filter(|&&h| h != number)
            .fold(0, |set, &h| set | 1 << h)
    };
    parts.iter().enumerate().map(makers).collect()
}

/// Of each part the parts that make or read a value which it makes or reads.
fn beside(graph: &Graph, parts: &[Vec<Index>]) -> Vec<Set> {
    let mut users = std::collections::BTreeMap::<u32, Set>::new();
    let edges = |op: Index| {
        let (reads, writes) = (&graph.reads[op as usize], &graph.writes[op as usize]);
        let made = |e: &u32| graph.edges[*e as usize].maker.is_some();
        let holds = move |e: &&u32| graph.edges[**e as usize].bytes > 0 || made(e);
        reads.iter().chain(writes).filter(holds)
    };
    for (number, part) in parts.iter().enumerate() {
        for &edge in part.iter().flat_map(|&op| edges(op)) {
            *users.entry(edge).or_default() |= 1 << number;
        }
    }
    let near = |part: &Vec<Index>| {
        let edges = part.iter().flat_map(|&op| edges(op));
        edges.fold(0, |set, edge| set | users[edge])
    };
    parts.iter().map(near).collect()
}

/// Whether a set hangs together.
fn is_connected(beside: &[Set], set: Set) -> bool {
    let mut reached: Set = set & set.wrapping_neg();
    loop {
        let members = (0..beside.len()).filter(|i| reached >> i & 1 == 1);
        let more = members.fold(reached, |all, i| all | beside[i]) & set;
        if more == reached {
            return reached == set;
        }
        reached = more;
    }
}

fn is_closed(reads: &[Set], set: Set) -> bool {
    let inside = |i: &usize| set >> i & 1 == 1;
    (0..reads.len())
        .filter(inside)
        .all(|i| reads[i] & !set == 0)
}

fn members(parts: &[Vec<Index>], set: Set) -> Vec<Index> {
    let chosen = parts.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1);
    let mut all: Vec<Index> = chosen.flat_map(|(_, part)| part.iter().copied()).collect();
    all.sort_unstable();
    all
}
