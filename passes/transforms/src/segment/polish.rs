//! What bottom-up search leaves undone in small components: it takes the best merge first, and that is not always right.
//!
//! What a grouping is better than another by bounds which values it may cut (`floor.rs`): the others hold ops together as
//! parts. Where these are few, the optimum over them is that over the ops. A component of more is grown under each order of
//! equal gains; what those agree on stays whole, and the optimum over these parts is taken. Then a window slides over the
//! groups in run order: the ops of neighbours are taken apart and put together in the best way, where their parts are few;
//! once more over the whole program when all components are done, so that a program of few ops gets the optimum in all.
//!
//! ```text
//! grown early: {a b} {c d e}     grown late: {a} {b c} {d e}     parts: a, b, c, {d e}     optimum: {a b c} {d e}
//! ```
//!
//! Guarantees: never costs more than what was grown; questions are counted against a budget that is linear in the program,
//! so the search as a whole stays near linear, and what comes first in the program is served first. Neighbours in run order
//! can be regrouped freely: nothing between them depends on either. Ops with a hint stay where they are, and so does what the
//! top-down phase kept, where nothing else is near and no two of them read the same.

use std::collections::BTreeMap;

use fuser_ir::Ir;
use rustc_hash::FxHashMap;

use super::exact::{self, Bounds, Found};
use super::floor;
use super::graph::{Graph, Index};
use super::search::{Group, total};
use super::verdict::Planner;
use crate::cost::{Cost, Objective};

/// The most ops of neighbours that are looked at together.
const WINDOW: usize = 24;
/// The most ops of which parts are made: making them is linear, and larger kernels are rare.
const MAX_OPS: usize = 1024;
/// Questions of one search for an optimum.
const ATTEMPT: u64 = 4096;
/// Pairs of sets that it may look at.
const STEPS: u64 = 1 << 20;
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

    /// Counts work worth one question.
    pub fn charge(&mut self) {
        self.0 = self.0.saturating_sub(1);
    }
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

/// The ops `all`, ascending, in parts that no grouping parts which costs no more than what is `known`.
pub(super) fn parts(
    ir: &Ir,
    graph: &Graph,
    planner: &Planner,
    all: &[Index],
    known: &Cost,
) -> Vec<Vec<Index>> {
    match planner.model.objective {
        Objective::Bytes if all.len() <= MAX_OPS => {
            floor::inseparable(ir, graph, all, known.bytes())
        }
        _ => all.iter().map(|&op| vec![op]).collect(),
    }
}

/// The optimum over the ops `all`, ascending, if that is less than what is `known`.
pub(super) fn better(
    ir: &Ir,
    graph: &Graph,
    planner: &mut Planner,
    all: &[Index],
    known: &Cost,
    effort: &mut Effort,
) -> Found {
    if !effort.is_left() {
        return Found::Unknown;
    }
    effort.charge();
    let parts = parts(ir, graph, planner, all, known);
    best_of(ir, graph, planner, &parts, known, effort)
}

/// The optimum over `parts`, if that is less than what is `known`.
pub(super) fn best_of(
    ir: &Ir,
    graph: &Graph,
    planner: &mut Planner,
    parts: &[Vec<Index>],
    known: &Cost,
    effort: &mut Effort,
) -> Found {
    effort.spend(planner, |planner, left| {
        let bounds = Bounds {
            questions: left.min(ATTEMPT),
            steps: STEPS,
            below: Some(*known),
        };
        exact::optimum(ir, graph, planner, parts, &bounds)
    })
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
    let known = total(graph, best, planner);
    let mut found = best.clone();
    let parts = agreement(component, grown);
    if let Found::Best(groups) = best_of(ir, graph, planner, &parts, &known, effort) {
        found = groups;
    }
    found = slide(ir, graph, planner, found, effort);
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
            ops <= WINDOW
        });
        let mut last = first + fits.count();
        let mut new = None;
        while last >= first + 2 {
            let window = &groups[first..last];
            match regrouped(ir, graph, planner, window, effort) {
                Found::Best(found) => new = Some(found),
                Found::Nothing => {}
                // Fewer groups may have few enough parts.
                Found::Unknown => {
                    last -= 1;
                    continue;
                }
            }
            break;
        }
        match new {
            Some(new) => {
                groups.splice(first..last, new);
                // What changed may go further with what stands before it.
                first = first.saturating_sub(WINDOW);
            }
            None => first += 1,
        }
    }
    groups
}

/// The ops of neighbours put together in the best way, if that costs less.
fn regrouped(
    ir: &Ir,
    graph: &Graph,
    planner: &mut Planner,
    window: &[Group],
    effort: &mut Effort,
) -> Found {
    let hinted = |&op: &Index| ir.get_attr(graph.ops[op as usize], "fusion.hint").is_some();
    let mut ops = window.iter().flat_map(|g| &g.members);
    // Fewer groups may be without hints. Groups that were accepted whole end at borders: another grouping of them can only gain
    // where two read the same.
    let settled = window.iter().all(|g| g.settled);
    if ops.any(hinted) || (settled && !read_in_common(graph, window)) {
        return Found::Unknown;
    }
    let known = total(graph, window, planner);
    let mut members: Vec<Index> = window.iter().flat_map(|g| g.members.clone()).collect();
    members.sort_unstable();
    better(ir, graph, planner, &members, &known, effort)
}

/// Whether two of the groups load one value.
fn read_in_common(graph: &Graph, window: &[Group]) -> bool {
    let mut reader: FxHashMap<u32, usize> = FxHashMap::default();
    window.iter().enumerate().any(|(number, group)| {
        let reads = group.members.iter();
        let reads = reads.flat_map(|&op| &graph.reads[op as usize]);
        let mut loads = reads.filter(|&&edge| graph.is_loaded(edge));
        loads.any(|&edge| *reader.entry(edge).or_insert(number) != number)
    })
}

fn is_better(graph: &Graph, planner: &Planner, new: &[Group], old: &[Group]) -> bool {
    let key = |groups: &[Group]| total(graph, groups, planner).key(planner.model.objective);
    key(new) < key(old)
}
