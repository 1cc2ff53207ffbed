//! Groups from a file: `{"segments": [{"name": "g0", "ops": ["%a", "%b"]}, ...]}`.
//!
//! An op is named by its first result, as in reports, with or without `%`; an unnamed one by its position, `#7`. An op may
//! stand in several segments: it stays in the first and is copied into the others. Every op that is not made from nothing
//! must stand somewhere, unless nothing reads what it makes, or a listed one computes the same: such an op goes. A segment report has this form, so it can be edited and fed back in. Of several reports in a list the one
//! of the program counts.
//!
//! Guarantees: an illegal grouping is refused as a whole, with the op or the path of segments at fault.

use fuser_analysis::axes::value_text;
use fuser_ir::suggest::nearest;
use fuser_ir::{Block, Ir, Op, Traits, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value as Json;

use super::graph::{Graph, Index};
use super::order::{needs, run_order};

/// The reason that a grouping is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GroupingError {
    /// Not JSON, or not of the form above.
    Form(String),
    /// A name that an op had which is no more.
    Removed {
        /// The name.
        name: String,
        /// The segment that lists it.
        segment: String,
    },
    /// A name that no op has.
    UnknownOp {
        /// The name.
        name: String,
        /// The segment that lists it.
        segment: String,
        /// A name that is near.
        near: Option<String>,
    },
    /// An op in no segment, and whether there is one at all.
    Missing(Op, bool),
    /// Segments that need each other.
    Cycle {
        /// Names of the segments along the path.
        path: Vec<String>,
        /// An op of the first of them.
        at: Option<Op>,
        /// For each step a value, the op that reads it, and the names of the two segments.
        steps: Vec<Step>,
    },
}

/// A segment reads what another one makes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    value: Value,
    user: Op,
    from: String,
    to: String,
}

impl GroupingError {
    /// One line.
    pub fn message(&self, ir: &Ir) -> String {
        match self {
            Self::Form(text) => format!("the grouping is not understood: {text}"),
            Self::UnknownOp { name, segment, .. } => {
                format!("segment '{segment}' lists '{name}', which no op of the program makes")
            }
            Self::Removed { name, segment } => {
                format!("segment '{segment}' lists '{name}', which a pass before this one removed")
            }
            Self::Missing(op, _) => {
                let made = ir.results(*op).first();
                let made = made.map_or(String::new(), |&v| {
                    format!(", which makes {},", value_text(ir, v))
                });
                format!("'{}'{made} is in no segment of the grouping", ir.name(*op))
            }
            Self::Cycle { path, .. } => {
                format!(
                    "the segments need each other in a cycle: {}",
                    path.join(" -> ")
                )
            }
        }
    }
    /// The reasons that the segments of a cycle need each other: for each step the op that reads, and a sentence.
    pub fn steps(&self, ir: &Ir) -> Vec<(Op, String)> {
        let Self::Cycle { steps, .. } = self else {
            return Vec::new();
        };
        let steps = steps.iter().map(|step| {
            let value = value_text(ir, step.value);
            let text = format!("'{}' reads {value} of '{}' here", step.to, step.from);
            (step.user, text)
        });
        steps.collect()
    }
    /// The advice on what to do, if there is any.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::UnknownOp {
                near: Some(near), ..
            } => Some(format!("did you mean '%{near}'?")),
            Self::Removed { .. } => Some(
                "write the grouping for the program as it is before --segment, or leave the passes before it out"
                    .into(),
            ),
            Self::Missing(_, false) => Some(
                "the grouping has no segments; '--segment --segment-report=FILE' writes one that has"
                    .into(),
            ),
            Self::Cycle { .. } => Some(
                "merge the segments of the cycle, or let one of them compute a value again".into(),
            ),
            _ => None,
        }
    }
    /// The op at fault.
    pub fn op(&self) -> Option<Op> {
        match self {
            Self::Missing(op, _) => Some(*op),
            Self::Cycle { at, .. } => *at,
            _ => None,
        }
    }
}

/// A segment of the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExplicitSegment {
    /// Its name.
    pub name: String,
    /// Its ops by position, ascending.
    pub members: Vec<Index>,
}

/// A grouping as the file has it: names of segments, and of the ops of each.
pub struct Grouping(Vec<(String, Vec<String>)>);

impl Grouping {
    /// Reads the text; of a list of reports that of `program`.
    pub fn parse(program: &str, text: &str) -> Result<Self, GroupingError> {
        let json: Json =
            serde_json::from_str(text).map_err(|e| GroupingError::Form(e.to_string()))?;
        let form = |what: &str| GroupingError::Form(what.to_owned());
        let own = |item: &&Json| item.get("program").and_then(Json::as_str) == Some(program);
        let json = match &json {
            Json::Array(list) => {
                let missing = || form(&format!("it is a list without a report of '@{program}'"));
                list.iter().find(own).ok_or_else(missing)?
            }
            one => one,
        };
        let list = json.get("segments").and_then(Json::as_array);
        let list = list.ok_or_else(|| form("there is no list 'segments'"))?;
        let segment = |item: &Json| {
            let name = item.get("name").and_then(Json::as_str);
            let name = name.ok_or_else(|| form("a segment has no 'name'"))?;
            let ops = item.get("ops").and_then(Json::as_array);
            let ops = ops.ok_or_else(|| form("a segment has no list 'ops'"))?;
            let text = |op: &Json| op.as_str().map(String::from);
            let texts = ops
                .iter()
                .map(|op| text(op).ok_or_else(|| form("an op is not a string")));
            Ok((name.to_owned(), texts.collect::<Result<_, _>>()?))
        };
        Ok(Self(list.iter().map(segment).collect::<Result<_, _>>()?))
    }

    /// Puts a listed op in the place of each op that is not listed and computes the same: a report lists what became one once.
    pub fn merge_equal(&self, ir: &mut Ir, block: Block) {
        let listed = self.0.iter().flat_map(|(_, ops)| ops);
        let listed: FxHashSet<&str> = listed.map(|op| op.trim_start_matches('%')).collect();
        let is_listed = |ir: &Ir, op: Op| {
            let names = ir.results(op).iter().map(|&v| value_text(ir, v));
            let mut names = names.map(|name| listed.contains(name.trim_start_matches('%')));
            names.any(|known| known)
        };
        let mut known: FxHashMap<(String, Vec<Value>), Vec<Op>> = FxHashMap::default();
        for op in ir.block_ops(block).collect::<Vec<_>>() {
            let plain = ir.has(op, Traits::PURE) && !ir.has(op, Traits::BARRIER);
            if !plain || !ir.op_regions(op).is_empty() {
                continue;
            }
            let alike = known
                .entry((ir.name(op).to_owned(), ir.operands(op).collect()))
                .or_default();
            let listed = is_listed(ir, op);
            let other = alike
                .iter()
                .position(|&other| ir.is_alike(op, other) && is_listed(ir, other) != listed);
            match other {
                Some(at) if listed => {
                    let other = std::mem::replace(&mut alike[at], op);
                    ir.move_before(op, other);
                    replace(ir, other, op);
                }
                Some(at) => replace(ir, op, alike[at]),
                None => alike.push(op),
            }
        }
    }

    /// The ops of `graph` that it names; gives the segments in run order.
    pub fn read(&self, ir: &Ir, graph: &Graph) -> Result<Vec<ExplicitSegment>, GroupingError> {
        let names = op_names(ir, graph);
        let mut segments = Vec::with_capacity(self.0.len());
        for (segment, ops) in &self.0 {
            let mut members = Vec::with_capacity(ops.len());
            for text in ops {
                let position = names.get(text.trim_start_matches('%'));
                let (name, segment) = (text.clone(), segment.clone());
                let unknown = || match ir.was_removed(text.trim_start_matches('%')) {
                    true => GroupingError::Removed { name, segment },
                    false => GroupingError::UnknownOp {
                        name,
                        segment,
                        near: nearest_name(&names, text),
                    },
                };
                members.push(*position.ok_or_else(unknown)?);
            }
            members.sort_unstable();
            members.dedup();
            members.retain(|&m| !graph.free[m as usize]);
            let name = segment.clone();
            segments.push(ExplicitSegment { name, members });
        }
        check_complete(ir, graph, &segments)?;
        in_run_order(graph, segments)
    }
}

/// Puts the results of `with` in the place of those of `op`.
fn replace(ir: &mut Ir, op: Op, with: Op) {
    for (from, to) in ir
        .results(op)
        .to_vec()
        .into_iter()
        .zip(ir.results(with).to_vec())
    {
        ir.replace_uses_if(from, to, |_, _| true);
    }
    ir.erase(op);
}

/// The ops that no segment lists and nothing needs, users before producers.
pub fn unlisted(ir: &Ir, graph: &Graph, segments: &[ExplicitSegment]) -> Vec<Op> {
    let all = segments.iter().flat_map(|s| s.members.iter().copied());
    let mut needed: FxHashSet<Index> = all.collect();
    let mut gone = Vec::new();
    for position in (0..graph.len() as Index).rev() {
        let op = graph.ops[position as usize];
        let mut written = graph.writes[position as usize].iter();
        let escapes = written.any(|&e| graph.edges[e as usize].escapes);
        let read = graph
            .users(position)
            .any(|(user, _)| needed.contains(&user));
        if graph.free[position as usize] || needed.contains(&position) {
            continue;
        }
        match escapes || read || !ir.has(op, Traits::PURE) {
            true => drop(needed.insert(position)),
            false => gone.push(op),
        }
    }
    gone
}

fn nearest_name(names: &FxHashMap<String, Index>, text: &str) -> Option<String> {
    // Positions are no misspelt names.
    let known = names.keys().map(String::as_str);
    let mut known: Vec<&str> = known.filter(|name| !name.starts_with('#')).collect();
    known.sort_unstable();
    nearest(text.trim_start_matches('%'), known.into_iter()).map(String::from)
}

/// The op of each name that groupings and reports use, without `%`.
fn op_names(ir: &Ir, graph: &Graph) -> FxHashMap<String, Index> {
    let mut names = FxHashMap::default();
    for (&op, position) in graph.ops.iter().zip(0..) {
        names.insert(format!("#{position}"), position);
        for &result in ir.results(op) {
            let name = value_text(ir, result);
            let name = name.trim_start_matches('%').to_owned();
            names.entry(name).or_insert(position);
        }
    }
    names
}

fn check_complete(
    ir: &Ir,
    graph: &Graph,
    segments: &[ExplicitSegment],
) -> Result<(), GroupingError> {
    let all = segments.iter().flat_map(|s| s.members.iter().copied());
    let listed: FxHashSet<Index> = all.collect();
    let gone: FxHashSet<Op> = unlisted(ir, graph, segments).into_iter().collect();
    let mut needed = (0..graph.len() as Index).filter(|&i| !graph.free[i as usize]);
    let missing = needed.find(|i| !listed.contains(i) && !gone.contains(&graph.ops[*i as usize]));
    match missing {
        Some(missing) => {
            let op = graph.ops[missing as usize];
            Err(GroupingError::Missing(op, !segments.is_empty()))
        }
        None => Ok(()),
    }
}

fn in_run_order(
    graph: &Graph,
    segments: Vec<ExplicitSegment>,
) -> Result<Vec<ExplicitSegment>, GroupingError> {
    let lists: Vec<&[Index]> = segments.iter().map(|s| s.members.as_slice()).collect();
    let needs = needs(graph, &lists);
    let order = run_order(&needs, |number| number);
    if order.len() < segments.len() {
        return Err(cycle(
            graph,
            &segments,
            &needs,
            &order.into_iter().collect(),
        ));
    }
    let mut slots: Vec<Option<ExplicitSegment>> = segments.into_iter().map(Some).collect();
    Ok(order.into_iter().filter_map(|n| slots[n].take()).collect())
}

/// Follows what waits for what until it comes back.
fn cycle(
    graph: &Graph,
    segments: &[ExplicitSegment],
    needs: &[Vec<usize>],
    done: &FxHashSet<usize>,
) -> GroupingError {
    let mut path: Vec<usize> = Vec::new();
    let mut at = (0..segments.len()).find(|s| !done.contains(s));
    while let Some(segment) = at.filter(|s| !path.contains(s)) {
        path.push(segment);
        at = needs[segment].iter().copied().find(|n| !done.contains(n));
    }
    let from = at
        .and_then(|a| path.iter().position(|&p| p == a))
        .unwrap_or(0);
    let mut names: Vec<String> = path[from..]
        .iter()
        .map(|&s| segments[s].name.clone())
        .collect();
    names.extend(names.first().cloned());
    names.reverse();
    let around = path[from..].iter().zip(path[from..].iter().cycle().skip(1));
    // Each waits for the next of the path.
    let steps = around.filter_map(|(&to, &from)| step(graph, segments, from, to));
    let steps: Vec<Step> = steps.collect();
    let first = path.get(from).and_then(|&s| segments[s].members.first());
    GroupingError::Cycle {
        path: names,
        at: first.map(|&m| graph.ops[m as usize]),
        steps: steps.into_iter().rev().collect(),
    }
}

/// The first value that segment `to` reads of segment `from`.
fn step(graph: &Graph, segments: &[ExplicitSegment], from: usize, to: usize) -> Option<Step> {
    let inside: FxHashSet<Index> = segments[to].members.iter().copied().collect();
    let made: FxHashSet<Index> = segments[from].members.iter().copied().collect();
    let mut reads = segments[to].members.iter().flat_map(|&m| {
        graph
            .producers(m)
            .map(move |(producer, edge)| (m, producer, edge))
    });
    let (user, _, edge) =
        reads.find(|(_, producer, _)| made.contains(producer) && !inside.contains(producer))?;
    Some(Step {
        value: edge.value,
        user: graph.ops[user as usize],
        from: segments[from].name.clone(),
        to: segments[to].name.clone(),
    })
}
