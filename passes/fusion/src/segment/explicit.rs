//! Groups from a file: `{"segments": [{"name": "g0", "ops": ["%a", "%b"]}, ...]}`.
//!
//! An op is named by its first result, as in reports, with or without `%`; an unnamed op by its position, `#7`. An op
//! may be in several segments: it stays in the first and is copied into the others. Every op must be listed, unless it
//! is created from nothing, its results are unused, or a listed op computes the same. Unlisted ops are removed. A
//! segment report has this form, so it can be edited and read back. In a list of several reports, the one of the
//! program counts.
//!
//! Guarantees: an illegal grouping is refused as a whole, with the op or the path of segments at fault.

use fuser_analysis::axes::value_text;
use fuser_ir::suggest::nearest;
use fuser_ir::{Block, Ir, Op, Traits, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value as Json;

use super::graph::{Graph, Index};
use super::order::{needs, run_order};

/// The reason why a grouping is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GroupingError {
    /// Not JSON, or not of the form above.
    Form(String),
    /// A name of an op that a pass removed.
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
        /// A similar name.
        near: Option<String>,
    },
    /// An op in no segment, and true if there are segments at all.
    Missing(Op, bool),
    /// Segments that depend on each other.
    Cycle {
        /// Names of the segments along the path.
        path: Vec<String>,
        /// An op of the first of them.
        at: Option<Op>,
        /// For each step a value, the op that reads it, and the names of the two segments.
        steps: Vec<Step>,
    },
}

/// A segment that reads a value of another one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    value: Value,
    user: Op,
    from: String,
    to: String,
}

impl GroupingError {
    /// Advice for a text that is no grouping.
    pub const FORM: &str = "a grouping is JSON, as '--segment --segment-report=FILE' writes it";

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
    /// The reasons for a cycle of segments: for each step the op that reads, and a sentence.
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
    /// Advice on what to do, if there is any.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::UnknownOp {
                near: Some(near), ..
            } => Some(format!("did you mean '%{near}'?")),
            Self::Form(_) => Some(Self::FORM.into()),
            Self::Removed { .. } => Some(
                "write the grouping for the program as it is before --segment, or leave the passes before it out"
                    .into(),
            ),
            Self::Missing(_, false) => Some(
                "the grouping has no segments; '--segment --segment-report=FILE' writes one that has"
                    .into(),
            ),
            Self::Missing(_, true) => Some(
                "names are those that '--segment --segment-report=FILE' writes: composite ops of the text are several there"
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
    /// Its ops in the order of the file, including ops created from nothing.
    order: Vec<Index>,
    /// The ops whose results it reads according to the file.
    reads: FxHashSet<Index>,
}

impl ExplicitSegment {
    /// Ops listed after one of their users.
    fn early<'a>(&self, ir: &'a Ir, ops: &'a [Op]) -> impl Iterator<Item = Op> + 'a {
        let mut waiting: FxHashSet<Op> = ops.iter().copied().collect();
        ops.iter().flat_map(move |&op| {
            waiting.remove(&op);
            let reads = ir.operands(op).filter_map(|value| ir.def_op(value));
            let early: Vec<Op> = reads.filter(|made| waiting.contains(made)).collect();
            early
        })
    }
    /// Its ops, and the ops created from nothing that they use. They are in the order of the file if it lists all of
    /// them, each after its operands. A value that the segment reads from an earlier segment, according to the file,
    /// may be listed anywhere; `made` has the ops of earlier segments.
    pub fn ops(&self, ir: &Ir, graph: &Graph, made: &FxHashSet<Op>) -> Vec<Op> {
        let all = graph.with_free(&self.members);
        let needed: FxHashSet<Index> = all.iter().copied().collect();
        let mut order = self.order.clone();
        order.retain(|at| needed.contains(at));
        let listed: FxHashSet<Index> = order.iter().copied().collect();
        let ops = graph.ops_at(&order);
        let is_read = |op: Op| {
            let position = graph.position(op);
            made.contains(&op) && position.is_some_and(|at| self.reads.contains(&at))
        };
        let stands = self.early(ir, &ops).all(is_read);
        match listed.len() == all.len() && stands {
            true => ops,
            false => graph.ops_at(&all),
        }
    }
}

/// A grouping as listed in the file.
pub struct Grouping(Vec<Listed>);

/// A segment as listed in the file.
struct Listed {
    name: String,
    ops: Vec<String>,
    /// The values that it reads; `None` if the file does not list them. A report does.
    reads: Option<Vec<String>>,
}

impl Listed {
    /// The ops whose results it reads; `None` if the file does not list them.
    fn read_ops(&self, names: &FxHashMap<String, Index>) -> Option<FxHashSet<Index>> {
        let reads = self.reads.as_ref()?.iter();
        let ops = reads.filter_map(|name| names.get(name.trim_start_matches('%')).copied());
        Some(ops.collect())
    }
}

impl Grouping {
    /// The ops whose results each segment reads; `None` if the file does not list them.
    pub fn reads(&self, ir: &Ir, graph: &Graph) -> Vec<Option<FxHashSet<Index>>> {
        let names = op_names(ir, graph);
        let listed = self.0.iter();
        listed.map(|listed| listed.read_ops(&names)).collect()
    }
    /// Reads the text; from a list of reports the report of `program`.
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
            let values = item.get("values").and_then(Json::as_array);
            let read = |value: &&Json| value.get("access").and_then(Json::as_str) == Some("read");
            let reads = values.map(|values| {
                let names = values
                    .iter()
                    .filter(read)
                    .filter_map(|value| value.get("name"));
                names.filter_map(text).collect()
            });
            Ok(Listed {
                name: name.to_owned(),
                ops: texts.collect::<Result<_, _>>()?,
                reads,
            })
        };
        Ok(Self(list.iter().map(segment).collect::<Result<_, _>>()?))
    }

    /// The ops of `graph` that each segment lists, in the order of the file.
    pub fn members(&self, ir: &Ir, graph: &Graph) -> Result<Vec<Vec<Index>>, GroupingError> {
        let names = op_names(ir, graph);
        let position = |text: &String, segment: &String| {
            let unknown = || match ir.was_removed(text.trim_start_matches('%')) {
                true => GroupingError::Removed {
                    name: text.clone(),
                    segment: segment.clone(),
                },
                false => GroupingError::UnknownOp {
                    name: text.clone(),
                    segment: segment.clone(),
                    near: nearest_name(&names, text),
                },
            };
            let position = names.get(text.trim_start_matches('%'));
            position.copied().ok_or_else(unknown)
        };
        let members = self.0.iter().map(|listed| {
            let ops = listed.ops.iter();
            ops.map(|text| position(text, &listed.name)).collect()
        });
        members.collect()
    }
    /// The segments of `graph` in run order.
    pub fn read(&self, ir: &Ir, graph: &Graph) -> Result<Vec<ExplicitSegment>, GroupingError> {
        let names = op_names(ir, graph);
        let segments = self.0.iter().zip(self.members(ir, graph)?);
        let segments = segments.map(|(listed, order)| {
            let mut members = order.clone();
            members.sort_unstable();
            members.dedup();
            members.retain(|&m| !graph.free[m as usize]);
            let reads = listed.read_ops(&names).unwrap_or_default();
            ExplicitSegment {
                name: listed.name.clone(),
                members,
                order,
                reads,
            }
        });
        let segments: Vec<ExplicitSegment> = segments.collect();
        check_complete(ir, graph, &segments)?;
        in_run_order(graph, segments)
    }
}

/// Redirects uses of an op to a listed op that computes the same, if the user's segment does not list the operand's op:
/// after CSE, a report lists equal ops once. A use takes the op of its own segment. If that has none, and no segment
/// lists the operand's op, it takes the first. A use is unchanged if the segment reads the value according to the file,
/// or if the file is silent and another segment lists the op. Returns true if anything changed.
pub fn merge_equal(
    ir: &mut Ir,
    block: Block,
    graph: &Graph,
    segments: &[Vec<Index>],
    reads: &[Option<FxHashSet<Index>>],
) -> bool {
    let sets = segments.iter().map(|s| s.iter().copied().collect());
    let sets: Vec<FxHashSet<Index>> = sets.collect();
    let mut homes: FxHashMap<Index, usize> = FxHashMap::default();
    for (number, members) in segments.iter().enumerate() {
        for &member in members {
            homes.entry(member).or_insert(number);
        }
    }
    let classes = classes(ir, graph);
    let mut known: FxHashMap<u32, Vec<Index>> = FxHashMap::default();
    for position in (0..graph.len() as Index).filter(|at| homes.contains_key(at)) {
        let equal = known.entry(classes[position as usize]);
        equal.or_default().push(position);
    }
    let mut changed = false;
    for position in 0..graph.len() as Index {
        let Some(equal) = known.get(&classes[position as usize]) else {
            continue;
        };
        let is_free = graph.free[position as usize];
        let is_listed = homes.contains_key(&position);
        let is_read = |home: usize| {
            let said = reads[home].as_ref();
            !is_free && is_listed && said.is_none_or(|said| said.contains(&position))
        };
        let op = graph.ops[position as usize];
        for index in 0..ir.results(op).len() {
            for slot in ir.uses(ir.result(op, index)).collect::<Vec<_>>() {
                let user = graph.position(ir.use_owner(slot).0);
                let home = user.and_then(|user| homes.get(&user).copied());
                if home.is_some_and(|home| sets[home].contains(&position) || is_read(home)) {
                    continue;
                }
                let is_near = |at: &&Index| home.is_some_and(|home| sets[home].contains(at));
                let any = equal.first().filter(|_| !is_free && !is_listed);
                if let Some(&with) = equal.iter().find(is_near).or(any) {
                    ir.set_use(slot, ir.result(graph.ops[with as usize], index));
                    changed = true;
                }
            }
        }
    }
    if changed {
        sort(ir, block);
    }
    changed
}

/// The name of an op, and for each operand the class and result number of its producer.
type Computed = (String, Vec<(u32, usize)>);

/// A class number for each op; equal for two ops that compute the same.
fn classes(ir: &Ir, graph: &Graph) -> Vec<u32> {
    let mut of_value: FxHashMap<Value, (u32, usize)> = FxHashMap::default();
    let mut known: FxHashMap<Computed, Vec<(u32, Op)>> = FxHashMap::default();
    let mut classes = Vec::with_capacity(graph.len());
    let mut next = 0;
    for &op in &graph.ops {
        let operands = ir
            .operands(op)
            .collect::<Vec<_>>()
            .into_iter()
            .map(|value| {
                let fresh = (next, usize::MAX);
                next += u32::from(!of_value.contains_key(&value));
                *of_value.entry(value).or_insert(fresh)
            });
        let key = (ir.name(op).to_owned(), operands.collect::<Vec<_>>());
        let plain = ir.has(op, Traits::PURE)
            && !ir.has(op, Traits::BARRIER)
            && ir.op_regions(op).is_empty();
        let alike = known.entry(key).or_default();
        let found = alike
            .iter()
            .find(|(_, other)| plain && ir.is_alike(op, *other));
        let class = found.map_or(next, |(class, _)| *class);
        if found.is_none() {
            alike.push((class, op));
            next += 1;
        }
        let results = ir.results(op).iter().enumerate();
        of_value.extend(results.map(|(index, &value)| (value, (class, index))));
        classes.push(class);
    }
    classes
}

/// Sorts the ops of a block topologically, keeping their order as far as possible.
fn sort(ir: &mut Ir, block: Block) {
    let Some(end) = ir.terminator(block) else {
        return;
    };
    let ops: Vec<Op> = ir.block_ops(block).filter(|&op| op != end).collect();
    let (mut entered, mut done) = (FxHashSet::default(), FxHashSet::default());
    for op in ops {
        let mut waiting = vec![op];
        while let Some(&op) = waiting.last() {
            if entered.insert(op) {
                let inner = ir.walk(op).into_iter();
                let reads = inner.flat_map(|inner| ir.operands(inner).collect::<Vec<_>>());
                let made = reads.filter_map(|value| ir.def_op(value));
                let beside = made.filter(|&made| ir.parent_block(made) == Some(block));
                waiting.extend(beside.filter(|made| !entered.contains(made)));
            } else {
                waiting.pop();
                if done.insert(op) {
                    ir.move_before(op, end);
                }
            }
        }
    }
}

/// The ops that no segment lists and no op needs, users before producers.
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
    // Positions such as `#7` are no misspelt names.
    let known = names.keys().map(String::as_str);
    let mut known: Vec<&str> = known.filter(|name| !name.starts_with('#')).collect();
    known.sort_unstable();
    nearest(text.trim_start_matches('%'), known.into_iter()).map(String::from)
}

/// The op of each name used by groupings and reports, without `%`.
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

/// Follows the dependences of unfinished segments until a segment repeats.
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
    // Each segment depends on the next one of the path.
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
