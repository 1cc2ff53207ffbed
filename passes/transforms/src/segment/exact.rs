//! The optimum, by dynamic programming over sets of ops that are done: the yardstick of the search, for small components.
//!
//! A segmentation that can run is a chain of such sets, each closed under what its ops read; the next group is what the
//! next set adds. Every subset of ops is planned at most once.

use fuser_ir::Ir;

use super::graph::{Graph, Index};
use super::search::Group;
use super::verdict::{Planner, Verdict};
use crate::cost::Cost;

/// The most ops: there are 3^n pairs of a set and what to add.
pub(super) const MAX_OPS: usize = 14;

/// A set of ops of the component.
type Set = usize;

/// The cheapest groups of `component`, in run order; `None` where it is too large.
pub(super) fn optimum(
    ir: &Ir,
    graph: &Graph,
    planner: &mut Planner,
    component: &[Index],
) -> Option<Vec<Group>> {
    if component.len() > MAX_OPS {
        return None;
    }
    let reads = reads(graph, component);
    let count: Set = 1 << component.len();
    let verdicts: Vec<Option<Verdict>> = (0..count)
        .map(|set| planner.ask(ir, graph, &members(component, set)).ok())
        .collect();
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
            let closed = is_closed(&reads, next);
            if let Some(verdict) = verdicts[group].as_ref().filter(|_| closed) {
                let total = cost.plus(&verdict.cost);
                let better = |(known, _): (Cost, Set)| total.key(objective) < known.key(objective);
                if best[next].is_none_or(better) {
                    best[next] = Some((total, group));
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
            members: members(component, group),
            verdict: verdicts[group].clone(),
            settled: true,
            ..Group::default()
        });
        at &= !group;
    }
    groups.reverse();
    Some(groups)
}

/// For each op the ops of the component that it reads from.
fn reads(graph: &Graph, component: &[Index]) -> Vec<Set> {
    let bit = |op: Index| {
        component
            .iter()
            .position(|&c| c == op)
            .map_or(0, |b| 1 << b)
    };
    let makers = |&op: &Index| graph.producers(op).fold(0, |set, (m, _)| set | bit(m));
    component.iter().map(makers).collect()
}

fn is_closed(reads: &[Set], set: Set) -> bool {
    let inside = |i: &usize| set >> i & 1 == 1;
    (0..reads.len())
        .filter(inside)
        .all(|i| reads[i] & !set == 0)
}

fn members(component: &[Index], set: Set) -> Vec<Index> {
    let chosen = component
        .iter()
        .enumerate()
        .filter(|(i, _)| set >> i & 1 == 1);
    chosen.map(|(_, &op)| op).collect()
}
