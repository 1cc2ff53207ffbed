//! The optimal grouping of few parts, by dynamic programming over the sets of completed parts.
//!
//! Parts are single ops, or sets of ops that stay together. A grouping that can run is a chain of sets, each closed
//! under the operands of its parts; a group is the difference of consecutive sets. Only sets that such a chain can add
//! are evaluated, each once, and only sets connected by values: ops that share nothing are never grouped, here as
//! elsewhere.
//!
//! With a known grouping, sets are not evaluated and chains not followed if the lower bound on their bytes
//! (`lower_bound.rs`) shows that they lead to nothing better.
//!
//! Guarantees: the choice among equal groupings is deterministic; groups come in run order. With single ops as parts
//! and no known grouping it is the reference for the search. Never considers values that are computed twice: that is
//! left to refinement.

use fuser_analysis::cost::{Cost, Objective, is_call};
use fuser_ir::Ir;

use super::graph::{Graph, Index};
use super::lower_bound::{LowerBound, Set};
use super::search::Group;
use crate::budget::Budget;
use crate::planner::{CostResult, Planner};

/// The most parts: there are 3^n pairs of a completed set and a next group.
pub(super) const MAX_PARTS: usize = 14;

/// The bounds on the search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Work of the planner.
    pub work: u64,
    /// Pairs of a completed set and a next group.
    pub pairs: u64,
    /// The cost of a known grouping: only cheaper groupings are sought.
    pub below: Option<Cost>,
}

impl Bounds {
    /// No bounds: the optimum at any cost.
    pub const NONE: Self = Self {
        work: u64::MAX,
        pairs: u64::MAX,
        below: None,
    };
}

/// The result of a search.
#[derive(Clone, Debug)]
pub(super) enum Found {
    /// The cheapest groups, in run order.
    Best(Vec<Group>),
    /// There is no grouping, or none cheaper than the known one.
    Nothing,
    /// There are too many parts, or a bound was reached.
    Unknown,
}

/// The cheapest grouping of `parts`.
pub(super) fn optimum(
    ir: &Ir,
    graph: &Graph,
    planner: &mut Planner,
    parts: &[Vec<Index>],
    bounds: &Bounds,
) -> Found {
    if parts.len() > MAX_PARTS {
        return Found::Unknown;
    }
    let last = planner.work().saturating_add(bounds.work);
    let mut pairs = Budget::new(bounds.pairs);
    let reads = reads(graph, parts);
    let count: Set = 1 << parts.len();
    let closed: Vec<bool> = (0..count).map(|set| is_closed(&reads, set)).collect();
    let beside = beside(graph, parts);
    let calls = calls(ir, graph, parts);
    let mut cost_results: Vec<Option<Option<CostResult>>> = vec![None; count];
    let objective = planner.model.objective;
    let mut limit = Limit::new(ir, graph, parts, bounds, objective);
    let mut best: Vec<Option<(Cost, Set)>> = vec![None; count];
    best[0] = Some((Cost::default(), 0));
    for done in 0..count {
        let Some((cost, _)) = best[done] else {
            continue;
        };
        let left = count - 1 - done;
        if !limit.admits(&cost, &[left]) {
            continue;
        }
        let mut group = left;
        // All non-empty subsets of the parts left.
        while group != 0 {
            if pairs.is_spent() {
                return Found::Unknown;
            }
            pairs.spend(1);
            let next = done | group;
            if closed[next] {
                let slot = &mut cost_results[group];
                let shared = group & calls != 0 && group.count_ones() > 1;
                if slot.is_none() && (shared || !is_connected(&beside, group)) {
                    *slot = Some(None);
                }
                if slot.is_none() && limit.admits(&cost, &[group, left & !group]) {
                    if planner.work() >= last {
                        return Found::Unknown;
                    }
                    *slot = Some(planner.evaluate(ir, graph, &members(parts, group)).ok());
                }
                if let Some(Some(cost_result)) = slot {
                    let total = cost.plus(&cost_result.cost);
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
    let known = |(total, _): &(Cost, Set)| {
        let below = bounds.below.as_ref();
        below.is_none_or(|b| total.key(objective) < b.key(objective))
    };
    if best[count - 1].as_ref().is_none_or(|found| !known(found)) {
        return Found::Nothing;
    }
    let mut groups = Vec::new();
    let mut at = count - 1;
    while at != 0 {
        let Some((_, group)) = best[at] else {
            return Found::Nothing;
        };
        groups.push(Group {
            members: members(parts, group),
            cost_result: cost_results[group].take().flatten(),
            ..Group::default()
        });
        at &= !group;
    }
    groups.reverse();
    Found::Best(groups)
}

/// A test for partial groupings that cannot be cheaper than the known one.
struct Limit {
    known: Option<(LowerBound, Cost)>,
    objective: Objective,
}

impl Limit {
    fn new(
        ir: &Ir,
        graph: &Graph,
        parts: &[Vec<Index>],
        bounds: &Bounds,
        objective: Objective,
    ) -> Self {
        let known = bounds.below;
        Self {
            known: known.map(|cost| (LowerBound::new(ir, graph, parts), cost)),
            objective,
        }
    }
    /// True if groups that cost `cost`, and one more for each of `sets`, may cost less than the known grouping in the
    /// first two components of the key, for example bytes and launches.
    fn admits(&mut self, cost: &Cost, sets: &[Set]) -> bool {
        let Some((lower_bound, known)) = &mut self.known else {
            return true;
        };
        let sets = sets.iter().filter(|s| **s != 0);
        let least = sets.fold(*cost, |sum, &set| sum.plus(&lower_bound.least(set)));
        let key = |cost: &Cost| {
            let (first, second, ..) = cost.key(self.objective);
            (first, second)
        };
        key(&least) < key(known)
    }
}

/// For each part, the parts that it reads from.
fn reads(graph: &Graph, parts: &[Vec<Index>]) -> Vec<Set> {
    let mut home = rustc_hash::FxHashMap::<Index, usize>::default();
    for (number, part) in parts.iter().enumerate() {
        home.extend(part.iter().map(|&op| (op, number)));
    }
    let producers = |(number, part): (usize, &Vec<Index>)| {
        let producers = part.iter().flat_map(|&op| graph.producers(op));
        let homes = producers.filter_map(|(producer, _)| home.get(&producer));
        homes
            .filter(|&&h| h != number)
            .fold(0, |set, &h| set | 1 << h)
    };
    parts.iter().enumerate().map(producers).collect()
}

/// For each part, the parts that compute or use a value that it computes or uses.
fn beside(graph: &Graph, parts: &[Vec<Index>]) -> Vec<Set> {
    let mut users = std::collections::BTreeMap::<u32, Set>::new();
    let edges = |op: Index| {
        let (reads, writes) = (&graph.reads[op as usize], &graph.writes[op as usize]);
        let made = |e: &u32| graph.edges[*e as usize].producer.is_some();
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

/// The parts with an op that is a call, which shares a group with no other op.
fn calls(ir: &Ir, graph: &Graph, parts: &[Vec<Index>]) -> Set {
    let called = |part: &Vec<Index>| part.iter().any(|&op| is_call(ir, graph.ops[op as usize]));
    let numbered = parts.iter().enumerate();
    let called = numbered.filter(|(_, part)| called(part));
    called.fold(0, |set, (number, _)| set | 1 << number)
}

/// True if a set is connected.
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
