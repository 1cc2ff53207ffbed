//! The top-down groups: sets of ops that share values with no boundary between them.
//!
//! Boundaries come only from op tables and hints: the `BARRIER` trait, the hints `barrier` and `apart`,
//! `Placement::Memory` on an operand or a result, ops that are calls, and views of values that are in memory anyway.
//! Crossing a boundary raises an op's *level*; a group is a connected set of ops of one level. Levels never fall along
//! an edge, so groups are acyclic by construction.

use std::collections::BTreeMap;

use fuser_analysis::cost::{Refusal, is_call, keeps_memory};
use fuser_ir::def::{OpClass, Placement};
use fuser_ir::{Ir, Op, Traits};
use petgraph::unionfind::UnionFind;

use super::graph::{Edge, Graph, Index};

/// The hint of an op.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Hint {
    /// One group with all ops that have the hint of this name.
    Together(String),
    /// A group of its own.
    Apart,
    /// No user of its results shares its group.
    Barrier,
}

impl Hint {
    /// Sets this hint on `op`.
    pub fn set(&self, ir: &mut Ir, op: Op) {
        let text = match self {
            Self::Together(name) => format!("together:{name}"),
            Self::Apart => "apart".to_owned(),
            Self::Barrier => "barrier".to_owned(),
        };
        let attr = ir.string_attr(&text);
        ir.set_attr(op, "fusion.hint", attr);
    }
    /// The hint `fusion.hint` of `op`: `together:NAME`, `apart` or `barrier`. An unknown hint is returned as text.
    pub fn of(ir: &Ir, op: Op) -> Option<Result<Hint, String>> {
        let text = ir.str_of(op, "fusion.hint")?;
        Some(match text {
            "apart" => Ok(Hint::Apart),
            "barrier" => Ok(Hint::Barrier),
            _ => match text.strip_prefix("together:") {
                Some(name) if !name.is_empty() => Ok(Hint::Together(name.into())),
                _ => Err(text.into()),
            },
        })
    }
}

/// The boundaries of an op.
#[derive(Clone, Copy, Default, Debug)]
struct Boundary {
    /// The op shares a group with no other op.
    alone: bool,
    /// No producer of its operands may be in its group.
    before: bool,
    /// No user of its results may be in its group.
    after: bool,
    /// The op is a view of a value that is in memory anyway: it shares a group only with such views.
    view: bool,
}

/// The groups of the top-down phase, each ascending, in the order of their first ops.
pub(super) fn components(ir: &Ir, graph: &Graph) -> Vec<Vec<Index>> {
    let mut renames = vec![false; graph.len()];
    for position in (0..graph.len()).rev() {
        renames[position] = only_renames(ir, graph, position as Index, &renames);
    }
    let mut boundaries = boundaries(ir, graph, &renames);
    let mut levels = levels(graph, &boundaries);
    if add_crossing_names(graph, &renames, &mut boundaries, &levels) {
        levels = self::levels(graph, &boundaries);
    }
    delay(graph, &boundaries, &mut levels);
    let mut sets = UnionFind::<usize>::new(graph.len());
    let class = |op: Index| (levels[op as usize], boundaries[op as usize].view);
    for edge in &graph.edges {
        let producer = edge.producer.filter(|&m| !graph.free[m as usize]);
        // A common operand without bytes (a scalar, an empty tensor) is no reason to share a kernel. If an op computes
        // it, producer and users are connected all the same: a group without one of them could come both before and
        // after it.
        let mut last = BTreeMap::new();
        let shared = edge.bytes > 0 || producer.is_some();
        let users = edge.users.iter().filter(|_| shared);
        for op in producer.into_iter().chain(users.copied()) {
            let joins = !boundaries[op as usize].alone;
            if let Some(other) = joins.then(|| last.insert(class(op), op)).flatten() {
                sets.union(other as usize, op as usize);
            }
        }
    }
    let mut lists = BTreeMap::<usize, Vec<Index>>::new();
    for op in (0..graph.len()).filter(|&op| !graph.free[op]) {
        lists.entry(sets.find(op)).or_default().push(op as Index);
    }
    let mut lists: Vec<Vec<Index>> = lists.into_values().collect();
    lists.sort_unstable();
    lists
}

/// Two flags: a boundary lies between the op and its operands; a boundary lies between the op and its users.
pub(super) fn around(ir: &Ir, op: Op) -> (bool, bool) {
    (before(ir, op), after(ir, op))
}

/// The kind of the boundary between the producer of a value and a user, in words; for a call a sentence saying so.
pub(super) fn words(ir: &Ir, producer: Op, user: Op) -> String {
    let ends = [producer, user];
    if let Some(op) = ends.into_iter().find(|&op| is_call(ir, op)) {
        return Refusal::CallAlone { op }.words(ir);
    }
    let hinted = |op| matches!(Hint::of(ir, op), Some(Ok(Hint::Apart | Hint::Barrier)));
    match ir.has(producer, Traits::BARRIER) {
        true => "a boundary of the program".into(),
        false if ends.into_iter().any(hinted) => "a boundary that a hint draws".into(),
        false => "a placement in memory that an op demands".into(),
    }
}

/// True if the op stays in its own group, by a hint or as a call.
pub(super) fn is_alone(ir: &Ir, op: Op) -> bool {
    matches!(Hint::of(ir, op), Some(Ok(Hint::Apart))) || is_call(ir, op)
}

fn boundaries(ir: &Ir, graph: &Graph, renames: &[bool]) -> Vec<Boundary> {
    let views = final_views(ir, graph, renames);
    let boundary = |(&op, view)| Boundary {
        alone: is_alone(ir, op),
        before: before(ir, op),
        after: after(ir, op),
        view,
    };
    graph.ops.iter().zip(views).map(boundary).collect()
}

fn before(ir: &Ir, op: Op) -> bool {
    let operands = ir.def(op).map_or(&[][..], |d| d.operands);
    is_alone(ir, op) || operands.iter().any(|o| o.placement == Placement::Memory)
}

fn after(ir: &Ir, op: Op) -> bool {
    let hinted = matches!(Hint::of(ir, op), Some(Ok(Hint::Apart | Hint::Barrier)));
    let results = ir.def(op).map_or(&[][..], |d| d.results);
    hinted
        || ir.has(op, Traits::BARRIER)
        || results.iter().any(|r| r.placement == Placement::Memory)
}

/// The ops that only rename memory of a value that is in memory anyway, and whose users are the program's results or
/// are after a boundary.
fn final_views(ir: &Ir, graph: &Graph, renames: &[bool]) -> Vec<bool> {
    let mut views = renames.to_vec();
    for position in 0..graph.len() {
        let source = graph.reads[position]
            .first()
            .map(|&e| &graph.edges[e as usize]);
        let in_memory = |source: &Edge| match source.producer {
            None => true,
            Some(producer) => {
                // If a value has several names, it is stored: the value itself is in memory, and all names are views.
                let names = source.users.iter().filter(|&&r| renames[r as usize]);
                source.escapes
                    || views[producer as usize]
                    || after(ir, graph.ops[producer as usize])
                    || names.count() > 1
            }
        };
        views[position] = renames[position] && source.is_some_and(in_memory);
    }
    views
}

/// Makes ops views if they rename a value that a user after a boundary reads as well. Returns true if there were any.
fn add_crossing_names(
    graph: &Graph,
    renames: &[bool],
    boundaries: &mut [Boundary],
    levels: &[u32],
) -> bool {
    let mut found = false;
    for position in 0..graph.len() {
        let source = graph.reads[position]
            .first()
            .map(|&e| &graph.edges[e as usize]);
        let crosses = source.is_some_and(|source| {
            let level = source.producer.map_or(0, |m| levels[m as usize]);
            let mut others = source.users.iter().filter(|&&r| r as usize != position);
            others.any(|&r| levels[r as usize] > level)
        });
        if renames[position] && crosses && !boundaries[position].view {
            boundaries[position].view = true;
            found = true;
        }
    }
    found
}

/// True if the op keeps memory unchanged, and no op in its kernel uses its results.
fn only_renames(ir: &Ir, graph: &Graph, position: Index, later: &[bool]) -> bool {
    let op = graph.ops[position as usize];
    if ir.def(op).is_none_or(|d| d.class != OpClass::Shape) {
        return false;
    }
    let mut written = graph.writes[position as usize].iter();
    let escapes = written.any(|&e| graph.edges[e as usize].escapes);
    let mut users = graph.users(position).map(|(r, _)| r).peekable();
    let used = escapes || users.peek().is_some();
    let leaves = after(ir, op) || users.all(|r| later[r as usize]);
    used && leaves && keeps_memory(ir, op)
}

fn levels(graph: &Graph, boundaries: &[Boundary]) -> Vec<u32> {
    let mut levels = vec![0u32; graph.len()];
    for position in 0..graph.len() {
        let own = &boundaries[position];
        let through = graph.producers(position as Index).map(|(producer, _)| {
            let other = &boundaries[producer as usize];
            let crosses = own.before || other.after || own.view != other.view;
            levels[producer as usize] + u32::from(crosses)
        });
        levels[position] = through.max().unwrap_or(0);
    }
    levels
}

/// Raises ops to the level of their users, if all users are after a boundary and no more bytes cross it then: a weight
/// is broadcast, or a constant widened, where it is used.
fn delay(graph: &Graph, boundaries: &[Boundary], levels: &mut [u32]) {
    for position in (0..graph.len()).rev() {
        let (own, op) = (&boundaries[position], position as Index);
        // Free ops are copied to each of their users, so levels do not matter for them.
        if graph.free[position] || own.alone || own.after || own.view {
            continue;
        }
        let bytes = |edges: &[u32]| {
            let bytes = edges.iter().map(|&e| graph.edges[e as usize].bytes);
            bytes.fold(0, u64::saturating_add)
        };
        let (reads, writes) = (&graph.reads[position], &graph.writes[position]);
        let escapes = writes.iter().any(|&e| graph.edges[e as usize].escapes);
        let users = graph.users(op).map(|(user, _)| {
            let other = &boundaries[user as usize];
            levels[user as usize] - u32::from(other.before || other.view)
        });
        let latest = users.min().unwrap_or(levels[position]);
        if !escapes && bytes(reads) <= bytes(writes) {
            levels[position] = levels[position].max(latest);
        }
    }
}
