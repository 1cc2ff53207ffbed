//! Groups from a file: `{"segments": [{"name": "g0", "ops": ["%a", "%b"]}, ...]}`.
//!
//! An op is named by its first result, as in reports, with or without `%`; an unnamed one by its position, `#7`. An op may
//! stand in several segments: it stays in the first and is copied into the others. Every op that is not made from nothing
//! must stand somewhere. A segment report has this form, so it can be edited and fed back in. Of several reports in a list the one
//! of the program counts.
//!
//! Guarantees: an illegal grouping is refused as a whole, with the op or the path of segments at fault.

use fuser_analysis::axes::value_text;
use fuser_ir::suggest::nearest;
use fuser_ir::{Ir, Op, Value};
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
    /// An op in no segment.
    Missing(Op),
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
            Self::Missing(op) => {
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
            Self::Cycle { .. } => Some(
                "merge the segments of the cycle, or let one of them compute a value again".into(),
            ),
            _ => None,
        }
    }
    /// The op at fault.
    pub fn op(&self) -> Option<Op> {
        match self {
            Self::Missing(op) => Some(*op),
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

/// Reads a grouping of `graph`; gives the segments in run order and the ops that are copied.
pub fn read(
    ir: &Ir,
    graph: &Graph,
    program: &str,
    text: &str,
) -> Result<Vec<ExplicitSegment>, GroupingError> {
    let json: Json = serde_json::from_str(text).map_err(|e| GroupingError::Form(e.to_string()))?;
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
    let names = op_names(ir, graph);
    let mut segments = Vec::with_capacity(list.len());
    for item in list {
        let name = item.get("name").and_then(Json::as_str);
        let name = name
            .ok_or_else(|| form("a segment has no 'name'"))?
            .to_owned();
        let ops = item.get("ops").and_then(Json::as_array);
        let ops = ops.ok_or_else(|| form("a segment has no list 'ops'"))?;
        let mut members = Vec::with_capacity(ops.len());
        for op in ops {
            let text = op.as_str().ok_or_else(|| form("an op is not a string"))?;
            let position = names.get(text.trim_start_matches('%'));
            let unknown = || match ir.was_removed(text.trim_start_matches('%')) {
                true => GroupingError::Removed {
                    name: text.to_owned(),
                    segment: name.clone(),
                },
                false => GroupingError::UnknownOp {
                    name: text.to_owned(),
                    segment: name.clone(),
                    near: nearest_name(&names, text),
                },
            };
            members.push(*position.ok_or_else(unknown)?);
        }
        members.sort_unstable();
        members.dedup();
        members.retain(|&m| !graph.free[m as usize]);
        segments.push(ExplicitSegment { name, members });
    }
    check_complete(graph, &segments)?;
    in_run_order(graph, segments)
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

fn check_complete(graph: &Graph, segments: &[ExplicitSegment]) -> Result<(), GroupingError> {
    let all = segments.iter().flat_map(|s| s.members.iter().copied());
    let listed: FxHashSet<Index> = all.collect();
    let mut needed = (0..graph.len() as Index).filter(|&i| !graph.free[i as usize]);
    match needed.find(|i| !listed.contains(i)) {
        Some(missing) => Err(GroupingError::Missing(graph.ops[missing as usize])),
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
