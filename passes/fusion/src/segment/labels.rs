//! Groups proposed by a frontend: the ops of one label (`label-patterns`) are evaluated as one kernel.
//!
//! If a component is not best as one kernel, merging runs a second time, starting from patterns instead of single ops.
//! Patterns are tried from the outermost: a pattern that has a kernel which moves no byte twice is a group. If it has
//! none, the patterns inside are tried, and finally its ops are single groups, as without labels. The result is taken
//! if it costs no more than the groups found without labels; this is tested here, and once more when the whole program
//! is drawn.
//!
//! ```text
//! @attention { @softmax { ... } ... }    @attention has no kernel; @softmax has: one group; the other ops: one each
//! ```
//!
//! A pattern whose ops were moved by other passes consists of the ops that are left in it. Patterns that depend on each
//! other in a cycle are taken apart. A program without labels is skipped. Never splits a component, and never joins
//! two: boundaries and hints come first.

use fuser_analysis::cost::{Cost, Refusal};
use fuser_dialects::task::labels;
use fuser_ir::{Block, Ir, Sym};
use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::{Graph, Index};
use super::record::{Action, Record};
use super::search::{Group, Search, in_run_order_by, near_first, together};
use crate::planner::{CostResult, Planner};

/// The part of a pattern that lies in a component.
pub(super) struct Proposal {
    name: Sym,
    /// Numbers of the pattern parts directly inside it.
    inner: Vec<usize>,
    /// True if it is inside another part.
    is_inner: bool,
    /// Its ops, ascending.
    members: Vec<Index>,
}

/// The proposals of labels for each component; an empty list if the program has no labels. A part comes before the
/// parts inside it.
pub(super) fn proposals(
    ir: &Ir,
    block: Block,
    graph: &Graph,
    components: &[Vec<Index>],
) -> Vec<Vec<Proposal>> {
    let program = ir.block_parent_op(block);
    let sets = program.map_or_else(Vec::new, |p| labels::sets(ir, p));
    if sets.is_empty() {
        return Vec::new();
    }
    let mut home: FxHashMap<Index, usize> = FxHashMap::default();
    for (number, component) in components.iter().enumerate() {
        home.extend(component.iter().map(|&op| (op, number)));
    }
    let mut parts: Vec<Vec<Proposal>> = components.iter().map(|_| Vec::new()).collect();
    // The part of each set in each component.
    let mut known: FxHashMap<(usize, usize), usize> = FxHashMap::default();
    for (number, set) in sets.iter().enumerate() {
        let Some(name) = ir.strings.lookup(&set.name) else {
            continue;
        };
        for &op in &set.ops {
            let position = graph.position(op).and_then(|p| Some((p, *home.get(&p)?)));
            let Some((position, component)) = position else {
                continue;
            };
            let list = &mut parts[component];
            let around = set.parent.and_then(|p| known.get(&(p, component)).copied());
            let part = *known.entry((number, component)).or_insert_with(|| {
                let part = list.len();
                list.push(Proposal {
                    name,
                    inner: Vec::new(),
                    is_inner: around.is_some(),
                    members: Vec::new(),
                });
                if let Some(around) = around {
                    list[around].inner.push(part);
                }
                part
            });
            list[part].members.push(position);
        }
    }
    parts
}

/// Groups of a component grown from the `parts` of patterns, if they differ from the groups `found` without labels and
/// cost no more.
pub(super) fn grow(
    search: &mut Search<'_>,
    component: &[Index],
    parts: &[Proposal],
    found: &[Group],
) -> Option<Vec<Group>> {
    // One kernel has everything already, and hints override labels.
    let hinted = || !together(search.ir, search.graph, component).is_empty();
    if parts.is_empty() || found.len() == 1 || hinted() {
        return None;
    }
    let asked = evaluate(search, parts);
    if asked.is_empty() {
        return None;
    }
    let groups = starts(search, component, asked);
    let (groups, merges) = search.apart(|search| search.merge(groups));
    if same(&groups, found) {
        return None;
    }
    let (before, after) = (search.total(found), search.total(&groups));
    let mut record = decision(search.planner, component.len(), before, after);
    record.parts = search.name_of(component.last());
    let kept = record.refusal.is_none();
    if kept {
        search.records.extend(merges);
    }
    search.records.push(record);
    kept.then_some(groups)
}

/// The choice between groups found with labels, which cost `after`, and groups found without, which cost `before`.
pub(super) fn decision(planner: &Planner, ops: usize, before: Cost, after: Cost) -> Record {
    let key = |cost: &Cost| cost.key(planner.model.objective);
    Record {
        action: Action::Labels,
        parts: Vec::new(),
        ops,
        refusal: (key(&after) > key(&before)).then(|| Refusal::NoGain {
            before: key(&before).0,
            after: key(&after).0,
        }),
        before: Some(before),
        after: Some(after),
    }
}

/// The outermost parts that are accepted as kernels, with their cost results.
fn evaluate(search: &mut Search<'_>, parts: &[Proposal]) -> Vec<Group> {
    let outer = (0..parts.len()).rev().filter(|&p| !parts[p].is_inner);
    let mut waiting: Vec<usize> = outer.collect();
    let mut groups = Vec::new();
    while let Some(number) = waiting.pop() {
        let part = &parts[number];
        // A single op is a group anyway.
        if part.members.len() > 1 {
            let answer = search.evaluate(&part.members).and_then(tight);
            search.records.push(Record {
                action: Action::Label(part.name),
                parts: search.name_of(part.members.last()),
                ops: part.members.len(),
                refusal: answer.as_ref().err().cloned(),
                before: None,
                after: answer.as_ref().ok().map(|v| v.cost),
            });
            if let Ok(cost_result) = answer {
                groups.push(Group {
                    members: part.members.clone(),
                    cost_result: Some(cost_result),
                    ..Group::default()
                });
                continue;
            }
        }
        waiting.extend(part.inner.iter().rev());
    }
    groups
}

/// Refuses a kernel that moves a byte twice: merging may find it, but it is no good start.
fn tight(cost_result: CostResult) -> Result<CostResult, Refusal> {
    match cost_result.tight {
        true => Ok(cost_result),
        false => Err(Refusal::NoGain {
            before: cost_result.least_bytes,
            after: cost_result.cost.bytes(),
        }),
    }
}

/// `asked` and the other ops of the component as single groups, in a valid run order.
fn starts(search: &mut Search<'_>, component: &[Index], asked: Vec<Group>) -> Vec<Group> {
    let graph = search.graph;
    let order = near_first(graph, component);
    let position: FxHashMap<Index, Index> = order.iter().copied().zip(0..).collect();
    let position = |op: Index| position.get(&op).copied().unwrap_or(op);
    let mut whole = asked;
    loop {
        let inside = |groups: &[Group]| -> FxHashSet<Index> {
            groups
                .iter()
                .flat_map(|g| g.members.iter().copied())
                .collect()
        };
        let taken = inside(&whole);
        let rest: Vec<Index> = order
            .iter()
            .copied()
            .filter(|op| !taken.contains(op))
            .collect();
        let mut groups = whole.clone();
        groups.extend(search.singles(&rest));
        let count = groups.len();
        let sorted = in_run_order_by(graph, groups, position);
        if sorted.len() == count {
            return sorted;
        }
        // Groups in a cycle, and groups that depend on a cycle, are split into single ops, which have no cycles.
        let done = inside(&sorted);
        whole.retain(|g| g.members.iter().all(|op| done.contains(op)));
    }
}

/// True if both contain the same groups, in any order.
fn same(a: &[Group], b: &[Group]) -> bool {
    let lists = |groups: &[Group]| {
        let computed = groups.iter().map(Group::computed);
        computed.collect::<std::collections::BTreeSet<_>>()
    };
    lists(a) == lists(b)
}
