//! What bottom-up search leaves undone in small components: it takes the best merge first, and that is not always right.
//!
//! A component of few ops gets the optimum over its ops. A larger one is grown under each order of equal gains; what those
//! agree on stays whole, and the optimum over these parts is taken. Then a window slides over the groups in run order: the
//! ops of neighbours, where they are few, are taken apart and put together in the best way; once more over the whole program
//! when all components are done, so that a program of few ops gets the optimum in all.
//!
//! ```text
//! grown early: {a b} {c d e}     grown late: {a} {b c} {d e}     parts: a, b, c, {d e}     optimum: {a b c} {d e}
//! ```
//!
//! Guarantees: never costs more than what was grown; questions are counted against a budget that is linear in the program,
//! so the search as a whole stays near linear, and what comes first in the program is served first. Neighbours in run order
//! can be regrouped freely: nothing between them depends on either. Ops with a hint stay where they are, and so does what the
//! top-down phase kept, where it stands beside its like.

use std::collections::BTreeMap;

use fuser_ir::Ir;

use super::exact;
use super::graph::{Graph, Index};
use super::search::{Group, total};
use super::verdict::Planner;

/// The most parts whose optimum is taken: at most 2^n questions.
const MAX_PARTS: usize = 10;
/// Questions that a program may spend, whatever its size.
const BASE: u64 = 16_384;
/// Questions more for each op.
const PER_OP: u64 = 2;

/// Questions that are left for all of this.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Effort(u64);

impl Effort {
    /// For a program of so many ops.
    pub fn new(ops: usize) -> Self {
        Self(BASE.saturating_add(PER_OP.saturating_mul(ops as u64)))
    }
    /// None.
    pub const NONE: Self = Self(0);

    /// Whether anything is left.
    pub const fn is_left(self) -> bool {
        self.0 > 0
    }
    /// Runs `work` and counts the questions that it asks.
    pub fn spend<T>(
        &mut self,
        planner: &mut Planner,
        work: impl FnOnce(&mut Planner, u64) -> T,
    ) -> T {
        let before = planner.questions;
        let result = work(planner, self.0);
        self.0 = self.0.saturating_sub(planner.questions - before);
        result
    }
}

/// The better of `grown[0]` and what can be made of all of `grown`, groupings of one component in run order.
pub(super) fn polish(
    ir: &Ir,
    graph: &Graph,
    planner: &mut Planner,
    component: &[Index],
    grown: &[Vec<Group>],
    effort: &mut Effort,
) -> Option<Vec<Group>> {
    let best = grown.first()?;
    let mut found = best.clone();
    let parts = match component.len() {
        0..=MAX_PARTS => component.iter().map(|&op| vec![op]).collect(),
        _ => agreement(component, grown),
    };
    let few = parts.len() <= MAX_PARTS;
    let optimum = few.then(|| {
        effort.spend(planner, |planner, budget| {
            exact::optimum(ir, graph, planner, &parts, budget)
        })
    });
    if let Some(groups) = optimum.flatten()
        && is_better(graph, planner, &groups, &found)
    {
        found = groups;
    }
    if component.len() > MAX_PARTS {
        found = slide(ir, graph, planner, found, effort);
    }
    is_better(graph, planner, &found, best).then_some(found)
}

/// The ops that share a group in each of several groupings.
fn agreement(component: &[Index], grown: &[Vec<Group>]) -> Vec<Vec<Index>> {
    let mut keys: BTreeMap<Index, Vec<usize>> = BTreeMap::new();
    for groups in grown {
        for (number, group) in groups.iter().enumerate() {
            for &op in &group.members {
                keys.entry(op).or_default().push(number);
            }
        }
    }
    let mut parts = BTreeMap::<&[usize], Vec<Index>>::new();
    for op in component {
        let key = keys.get(op).map_or(&[][..], Vec::as_slice);
        parts.entry(key).or_default().push(*op);
    }
    parts.into_values().collect()
}

/// Regroups the ops of neighbours in run order, while that helps.
pub(super) fn slide(
    ir: &Ir,
    graph: &Graph,
    planner: &mut Planner,
    mut groups: Vec<Group>,
    effort: &mut Effort,
) -> Vec<Group> {
    let mut first = 0;
    while first + 1 < groups.len() && effort.is_left() {
        let mut ops = 0;
        let fits = groups[first..].iter().take_while(|group| {
            ops += group.members.len();
            ops <= MAX_PARTS
        });
        let last = first + fits.count();
        if last < first + 2 {
            first += 1;
            continue;
        }
        let window = &groups[first..last];
        let hinted = |&op: &Index| ir.get_attr(graph.ops[op as usize], "fusion.hint").is_some();
        let mut ops = window.iter().flat_map(|g| &g.members);
        if ops.any(hinted) || window.iter().all(|g| g.settled) {
            first += 1;
            continue;
        }
        let mut members: Vec<Index> = window.iter().flat_map(|g| g.members.clone()).collect();
        members.sort_unstable();
        let parts: Vec<Vec<Index>> = members.into_iter().map(|op| vec![op]).collect();
        let optimum = effort.spend(planner, |planner, budget| {
            exact::optimum(ir, graph, planner, &parts, budget)
        });
        match optimum.filter(|new| is_better(graph, planner, new, window)) {
            Some(new) => {
                groups.splice(first..last, new);
                // What changed may go further with what stands before it.
                first = first.saturating_sub(MAX_PARTS);
            }
            None => first += 1,
        }
    }
    groups
}

fn is_better(graph: &Graph, planner: &Planner, new: &[Group], old: &[Group]) -> bool {
    let key = |groups: &[Group]| total(graph, groups, planner).key(planner.model.objective);
    key(new) < key(old)
}
