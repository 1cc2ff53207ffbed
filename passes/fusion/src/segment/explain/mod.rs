//! The explanation of a segmentation, in words and numbers.
//!
//! Works on a program with drawn segments, from the search, from a file, or written by hand. The segments are dissolved
//! in a copy. The cost model is then queried about each segment, and about one kernel for each pair with a cut between
//! them. Decisions of the search are included as records.
//!
//! Reading order: this file (from a drawn program to data), `text.rs` (the data in words), `pair.rs` (two values), `what_if.rs` (other
//! groupings).
//!
//! Never edits the program. Runs only on request, since it evaluates each cut.

mod pair;
mod text;
mod what_if;

use std::collections::{BTreeMap, BTreeSet};

use fuser_analysis::axes::value_text;
use fuser_analysis::cost::{Cost, Kind, Model, Refusal, is_call};
use fuser_analysis::targets::TARGET;
use fuser_dialects::fusion::lambda;
use fuser_dialects::fusion::window::is_placed;
use fuser_dialects::task;
use fuser_dialects::task::outline::dissolve;
use fuser_ir::def::OpClass;
use fuser_ir::{Diagnostics, Ir, Op, Traits};
use fuser_pass::PassContext;
use serde::Serialize;
use serde_json::Value as Json;

use super::bottom_up::opaque_cost;
use super::boundaries::words;
use super::graph::{Edge, Graph, Index};
use super::record::Record;
use crate::planner::{CostResult, Planner};

/// The explanation of a program.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct Explanation {
    /// The program's symbol.
    program: String,
    /// The machine.
    target: String,
    /// The assumed lengths of its named extents.
    extents: BTreeMap<String, u64>,
    /// The names among `target` and the extents that no option gives.
    assumed: BTreeSet<String>,
    /// The assumed length of extents without a number.
    nominal: u64,
    /// The segments, in run order.
    segments: Vec<SegmentNote>,
    /// Each pair of segments with values crossing between them.
    cuts: Vec<CutNote>,
    /// All segments together.
    total: CostNote,
    /// The decisions of the search, in order.
    records: Vec<RecordNote>,
    /// The changes of later passes. They report them, and the writer of the file inserts them here
    /// ([`crate::EXPLAIN_LATER_LIST`]).
    later: [(); 0],
}

/// A segment.
#[derive(Clone, PartialEq, Debug, Serialize)]
struct SegmentNote {
    name: String,
    /// The ops that it computes, each by its first result.
    ops: Vec<String>,
    /// `kernel`, `view` or the kind of a call; `None` if the model has no plan.
    kind: Option<&'static str>,
    /// Loop nests over slow memory.
    sweeps: Option<usize>,
    cost: CostNote,
    /// The sentence about a call, if an op is one.
    call: Option<String>,
    /// Better plans that were refused.
    refused: Vec<Reason>,
    /// The reason why the model has no plan.
    no_plan: Option<Reason>,
    /// Bytes moved in addition to each input and each output once.
    #[serde(skip)]
    again: u64,
}

/// A cost.
#[derive(Clone, PartialEq, Debug, Serialize)]
struct CostNote {
    read_bytes: u64,
    write_bytes: u64,
    workspace_bytes: u64,
    /// Recomputation in windows, as bytes that could be moved in its time.
    #[serde(skip_serializing_if = "is_none")]
    again_bytes: u64,
    /// Waits for strips of columns, as bytes that could be moved in their time.
    #[serde(skip_serializing_if = "is_none")]
    wait_bytes: u64,
    kernels: u64,
    launches: u64,
    time_ns: u64,
}

fn is_none(bytes: &u64) -> bool {
    *bytes == 0
}

/// A reason with its numbers.
#[derive(Clone, PartialEq, Debug, Serialize)]
struct Reason {
    /// The name, such as `tile-too-large`.
    name: String,
    /// The numbers by name: `bytes`, `limit`, ...
    numbers: BTreeMap<String, Json>,
    /// The name and the numbers in one line.
    text: String,
    /// The reason as a sentence.
    words: String,
}

/// The values that cross between two segments, and the reason why the segments are not one.
#[derive(Clone, PartialEq, Debug, Serialize)]
struct CutNote {
    from: String,
    to: String,
    values: Vec<ValueNote>,
    /// Bytes written and read for the cut; 0 for a view.
    bytes: u64,
    /// True if the earlier segment is a view: the later one reads the original value.
    view: bool,
    /// True if the later segment is a placed cat: the values are written where they lie in its result.
    placed: bool,
    why: Why,
}

/// A value with its stored bytes.
#[derive(Clone, PartialEq, Debug, Serialize)]
struct ValueNote {
    name: String,
    bytes: u64,
}

/// The boundaries, and the segments on paths, that the reason of a cut names.
const MOST_NAMED: usize = 8;

/// The reason why segments are separate: the cost of merging them, or the rule that forbids it.
#[derive(Clone, PartialEq, Debug, Serialize)]
struct Why {
    /// `boundary`, `refused` or `price`.
    kind: &'static str,
    /// Boundaries between the segments: at most [`MOST_NAMED`], and one at a call.
    boundaries: Vec<BoundaryNote>,
    /// The number of further boundaries.
    more_boundaries: usize,
    /// Other segments that one kernel would have to include, since paths lead through them: at most [`MOST_NAMED`].
    through: Vec<String>,
    /// The number of further segments on such paths.
    more_through: usize,
    /// The reason why no such kernel is possible. If only a user boundary forbids it, `together` states the cost
    /// without that boundary.
    refused: Option<Reason>,
    /// The cost of one kernel for all of it, ignoring user boundaries.
    together: Option<CostNote>,
    /// Its loop nests over slow memory.
    sweeps: Option<usize>,
    /// The cost of the segments as they are.
    apart: CostNote,
    /// Their loop nests, if the model has a plan for all.
    sweeps_apart: Option<usize>,
    /// True if nothing forbids one kernel, and it costs less by the objective.
    #[serde(skip)]
    is_cheaper: bool,
    /// All facts as sentences.
    words: Vec<String>,
}

/// A boundary that a user or an op requires.
#[derive(Clone, PartialEq, Debug, Serialize)]
struct BoundaryNote {
    /// The value that crosses it.
    value: String,
    /// The op that computes it, with its hint if it has one.
    producer: String,
    /// The op that reads it.
    user: String,
    /// The reason, as a sentence.
    words: String,
    /// True if one of the two is a call, which is reported with its segment.
    #[serde(skip)]
    call: bool,
}

/// A decision.
#[derive(Clone, PartialEq, Debug, Serialize)]
struct RecordNote {
    action: &'static str,
    /// A value that names each part.
    parts: Vec<String>,
    ops: usize,
    outcome: &'static str,
    reason: Option<Reason>,
    before: Option<CostNote>,
    after: Option<CostNote>,
    /// All fields in one line, as in the remark.
    text: String,
}

/// Emits the requested files: the whole explanation, as text or data, and the answer about the two values of option
/// `explain`.
pub(super) fn emit(
    ctx: &mut PassContext<'_>,
    model: &Model,
    records: &[Record],
) -> Result<(), Diagnostics> {
    let pair = ctx.options.list("explain");
    let wanted = |kind: &str| ctx.wants_file(kind);
    let what_if = wanted(crate::WHAT_IF);
    if pair.is_empty() && !what_if && !wanted("explain") && !wanted("explain-json") {
        return Ok(());
    }
    let mut drawn = Drawn::new(ctx.ir, ctx.op, model);
    if what_if {
        // Serializing plain strings and numbers cannot fail.
        let json = serde_json::to_string(&drawn.what_if()).unwrap_or_default();
        ctx.emit_file(crate::WHAT_IF, json);
    }
    let premise = Premise::of(ctx, model);
    if !pair.is_empty()
        && let Some(answer) = pair::answer(ctx, &mut drawn, &pair, records)?
    {
        ctx.emit_file("explain-pair", text::premise(&premise) + &answer);
    }
    if !ctx.wants_file("explain") && !ctx.wants_file("explain-json") {
        return Ok(());
    }
    let all = drawn.explanation(premise, records);
    ctx.emit_file("explain", text::render(&all));
    let entries = serde_json::to_string(&text::entries(&all)).unwrap_or_default();
    ctx.emit_file(crate::EXPLAIN_ENTRIES, entries);
    // Serializing plain strings and numbers cannot fail.
    let json = serde_json::to_string_pretty(&all).unwrap_or_default();
    ctx.emit_file("explain-json", json + "\n");
    Ok(())
}

/// The facts on which decisions are based.
pub(super) struct Premise {
    target: String,
    extents: BTreeMap<String, u64>,
    assumed: BTreeSet<String>,
}

impl Premise {
    fn of(ctx: &PassContext<'_>, model: &Model) -> Self {
        let ir: &Ir = ctx.ir;
        let mut extents = BTreeMap::new();
        let mut assumed = BTreeSet::new();
        if ctx.options.text(TARGET.name).is_empty() {
            assumed.insert(TARGET.name.to_owned());
        }
        let args = ir.body(ctx.op, 0).map_or(&[][..], |block| ir.args(block));
        let made = ir.walk(ctx.op).into_iter();
        let made = made.flat_map(|op| ir.results(op));
        for &value in args.iter().chain(made) {
            let dims = ir
                .value_kind(value)
                .as_tensor()
                .map_or(&[][..], |t| &t.dims);
            let lengths = dims.iter().filter_map(|dim| ir.extent_as_expr(dim.extent));
            let names = lengths.flat_map(|length| length.terms.into_iter().flat_map(|term| term.0));
            for name in names {
                let text = ir.str(name).to_owned();
                if !model.bindings.named.contains_key(&name) {
                    assumed.insert(text.clone());
                }
                extents.insert(text, model.bindings.get(name));
            }
        }
        Self {
            target: model.target.name.to_string(),
            extents,
            assumed,
        }
    }
}

/// A drawn program with its segments dissolved, and the segment of each op.
pub(super) struct Drawn {
    ir: Ir,
    program: Op,
    graph: Graph,
    planner: Planner,
    groups: Vec<Drawing>,
    /// The group of each op.
    home: Vec<Option<usize>>,
    /// The program without user boundaries, built on first use.
    open: Option<Box<(Ir, Graph)>>,
}

/// A segment of a drawn program.
struct Drawing {
    name: String,
    members: Vec<Index>,
    cost_result: Result<CostResult, Refusal>,
    /// The groups that use its results.
    users: BTreeSet<usize>,
}

impl Drawn {
    fn new(ir: &Ir, program: Op, model: &Model) -> Self {
        let mut ir = ir.clone();
        let segments = ir.children(program).into_iter();
        let segments: Vec<Op> = segments.filter(|&op| ir.is(op, &task::SEGMENT)).collect();
        let named = segments.iter().enumerate().map(|(number, &segment)| {
            let name = ir.symbol_name(segment).map(String::from);
            (
                name.unwrap_or_else(|| format!("s{number}")),
                leaves(&ir, segment),
            )
        });
        let named: Vec<(String, Vec<Op>)> = named.collect();
        for op in ir.walk_post(program) {
            if op != program && task::outline::is_boundary(&ir, op) {
                dissolve(&mut ir, op);
            }
        }
        let graph = match ir.body(program, 0) {
            Some(block) => Graph::build(&ir, block, &model.bindings),
            None => Graph::default(),
        };
        let mut drawn = Self {
            home: vec![None; graph.len()],
            open: None,
            ir,
            program,
            graph,
            planner: Planner::new(model.clone()),
            groups: Vec::with_capacity(named.len()),
        };
        for (name, ops) in named {
            drawn.add(name, &ops);
        }
        drawn.connect();
        drawn
    }
    fn add(&mut self, name: String, ops: &[Op]) {
        let positions = ops.iter().filter_map(|&op| self.graph.position(op));
        for position in positions.clone() {
            self.home[position as usize] = Some(self.groups.len());
        }
        let mut members: Vec<Index> = positions
            .filter(|&p| !self.graph.free[p as usize])
            .collect();
        members.sort_unstable();
        let cost_result = self.planner.evaluate(&self.ir, &self.graph, &members);
        self.groups.push(Drawing {
            name,
            members,
            cost_result,
            users: BTreeSet::new(),
        });
    }
    fn connect(&mut self) {
        for edge in &self.graph.edges {
            let Some(from) = edge.producer.and_then(|m| self.home[m as usize]) else {
                continue;
            };
            let users = edge.users.iter().filter_map(|&r| self.home[r as usize]);
            self.groups[from].users.extend(users.filter(|&r| r != from));
        }
    }

    fn explanation(&mut self, premise: Premise, records: &[Record]) -> Explanation {
        let segments: Vec<SegmentNote> = (0..self.groups.len()).map(|g| self.segment(g)).collect();
        let cuts = self
            .pairs()
            .into_iter()
            .map(|(from, to)| self.cut(from, to))
            .collect();
        let all: Vec<usize> = (0..self.groups.len()).collect();
        Explanation {
            program: self
                .ir
                .symbol_name(self.program)
                .unwrap_or_default()
                .to_owned(),
            target: premise.target,
            extents: premise.extents,
            assumed: premise.assumed,
            nominal: self.planner.model.bindings.nominal,
            segments,
            cuts,
            total: note(&self.cost(&all)),
            records: records.iter().map(|r| self.record(r)).collect(),
            later: [],
        }
    }
    /// Each pair of segments with values crossing between them.
    fn pairs(&self) -> Vec<(usize, usize)> {
        let groups = self.groups.iter().enumerate();
        let pairs = groups.flat_map(|(from, group)| group.users.iter().map(move |&to| (from, to)));
        pairs.collect()
    }
    fn segment(&self, group: usize) -> SegmentNote {
        let own = &self.groups[group];
        let cost_result = own.cost_result.as_ref();
        let rejected = cost_result.map_or(&[][..], |v| &v.rejected);
        let computed = self.graph.with_free(&own.members);
        SegmentNote {
            name: own.name.clone(),
            ops: computed.iter().map(|&m| self.op_name(m)).collect(),
            kind: cost_result.ok().map(|v| v.kind.name()),
            sweeps: cost_result.ok().map(|v| v.sweeps),
            cost: note(&self.cost(&[group])),
            call: self.call(group),
            refused: rejected.iter().map(|r| self.reason(r)).collect(),
            no_plan: cost_result.err().map(|r| self.reason(r)),
            again: cost_result.map_or(0, |v| moved(&v.cost).saturating_sub(self.least(group))),
        }
    }
    /// The bytes of a group's inputs and outputs, each once.
    fn least(&self, group: usize) -> u64 {
        let home = |op: Index| self.home[op as usize] == Some(group);
        let crosses = |edge: &&Edge| {
            let (inside, outside) = (edge.users.iter().any(|&u| home(u)), edge.escapes);
            match edge.producer.is_some_and(home) {
                true => outside || edge.users.iter().any(|&u| !home(u)),
                false => inside,
            }
        };
        let edges = self.graph.edges.iter().filter(crosses);
        edges.fold(0, |sum, edge| sum.saturating_add(edge.bytes))
    }
    /// The sentence about the call in a segment, if it has one.
    fn call(&self, group: usize) -> Option<String> {
        let members = self.groups[group].members.iter();
        let mut ops = members.map(|&m| self.graph.ops[m as usize]);
        let op = ops.find(|&op| is_call(&self.ir, op))?;
        Some(Refusal::CallAlone { op }.words(&self.ir))
    }
    /// The placed cat that a segment is.
    fn placed_cat(&self, group: usize) -> Option<Op> {
        let members = self.groups[group].members.iter();
        let mut ops = members.map(|&m| self.graph.ops[m as usize]);
        ops.find(|&op| is_placed(&self.ir, op))
    }
    fn is_view(&self, group: usize) -> bool {
        let own = self.groups[group].cost_result.as_ref();
        own.is_ok_and(|own| own.kind == Kind::View)
    }
    /// The name of an op: its first result, or else the op's own name.
    fn op_name(&self, op: Index) -> String {
        let op = self.graph.ops[op as usize];
        match self.ir.results(op).first() {
            Some(&value) => value_text(&self.ir, value),
            None => self.ir.name(op).to_owned(),
        }
    }
    fn cost(&self, groups: &[usize]) -> Cost {
        groups.iter().fold(Cost::default(), |sum, &group| {
            let own = &self.groups[group];
            sum.plus(&match &own.cost_result {
                Ok(cost_result) => cost_result.cost,
                Err(_) => opaque_cost(&self.graph, &own.members, &self.planner),
            })
        })
    }
    fn cut(&mut self, from: usize, to: usize) -> CutNote {
        let values = self.crossing(from, to);
        let view = self.is_view(from);
        // What is written where it lies in a cat is read by nobody for it.
        let placed = self.placed_cat(to).is_some() && self.is_view(to);
        let bytes = values.iter().filter(|_| !view && !placed);
        let bytes = bytes.fold(0u64, |sum, v| sum.saturating_add(v.bytes));
        CutNote {
            placed,
            from: self.groups[from].name.clone(),
            to: self.groups[to].name.clone(),
            values,
            bytes,
            view,
            why: self.why(from, to),
        }
    }
    /// The values that `from` computes and `to` reads.
    fn crossing(&self, from: usize, to: usize) -> Vec<ValueNote> {
        let made =
            |producer: Option<Index>| producer.and_then(|m| self.home[m as usize]) == Some(from);
        let mut values = Vec::new();
        let mut seen = BTreeSet::new();
        for &user in &self.groups[to].members {
            for &edge in &self.graph.reads[user as usize] {
                let own = &self.graph.edges[edge as usize];
                if made(own.producer) && seen.insert(edge) {
                    values.push(ValueNote {
                        name: value_text(&self.ir, own.value),
                        bytes: own.bytes,
                    });
                }
            }
        }
        values
    }
    /// The reasons why two segments, the earlier first, are not one.
    fn why(&mut self, from: usize, to: usize) -> Why {
        let through = self.between(from, to);
        let mut all = vec![from, to];
        all.extend(&through);
        all.sort_unstable();
        let mut members: Vec<Index> = all
            .iter()
            .flat_map(|&g| self.groups[g].members.iter().copied())
            .collect();
        members.sort_unstable();
        let (boundaries, more_boundaries) = self.boundaries(&all, &members);
        let asked = self.planner.evaluate(&self.ir, &self.graph, &members);
        let refused = asked.as_ref().err().cloned();
        let (together, refused) = match refused {
            Some(Refusal::Barrier { value }) => match self.evaluate_open(&members) {
                Ok(cost_result) => (Ok(cost_result), Some(Refusal::Barrier { value })),
                Err(deeper) => (Err(deeper.clone()), Some(deeper)),
            },
            refused => (asked, refused),
        };
        let sweeps = all
            .iter()
            .map(|&g| Some(self.groups[g].cost_result.as_ref().ok()?.sweeps));
        let apart = self.cost(&all);
        let key = |cost: &Cost| cost.key(self.planner.model.objective);
        let is_free = boundaries.is_empty() && refused.is_none();
        let is_cheaper = is_free && together.as_ref().is_ok_and(|v| key(&v.cost) < key(&apart));
        let mut why = Why {
            is_cheaper,
            kind: match (&together, boundaries.is_empty()) {
                (_, false) => "boundary",
                (Err(_), true) => "refused",
                (Ok(_), true) => "price",
            },
            boundaries,
            more_boundaries,
            through: through
                .iter()
                .take(MOST_NAMED)
                .map(|&g| self.groups[g].name.clone())
                .collect(),
            more_through: through.len().saturating_sub(MOST_NAMED),
            refused: refused.map(|r| self.reason(&r)),
            sweeps: together.as_ref().ok().map(|v| v.sweeps),
            together: together.ok().map(|v| note(&v.cost)),
            apart: note(&apart),
            sweeps_apart: sweeps.sum(),
            words: Vec::new(),
        };
        why.words = text::why(&why);
        why
    }
    /// The cost result of one kernel for `members` without the user boundaries: each `segment_set` is replaced by its
    /// operand.
    fn evaluate_open(&mut self, members: &[Index]) -> Result<CostResult, Refusal> {
        let open = self.open.take().unwrap_or_else(|| Box::new(self.opened()));
        let (ir, graph) = &*open;
        let ops = members.iter().map(|&m| self.graph.ops[m as usize]);
        let positions = ops.filter_map(|op| graph.position(op));
        let members: Vec<Index> = positions.filter(|&p| !graph.free[p as usize]).collect();
        let answer = self.planner.evaluate(ir, graph, &members);
        self.open = Some(open);
        answer
    }
    fn opened(&self) -> (Ir, Graph) {
        let mut ir = self.ir.clone();
        for &op in &self.graph.ops {
            if !ir.has(op, Traits::BARRIER) || ir.operand_count(op) != 1 {
                continue;
            }
            let (inner, outer) = (ir.operand(op, 0), ir.result(op, 0));
            if ir.value_type(inner) == ir.value_type(outer) {
                ir.replace_all_uses(outer, inner);
                ir.erase(op);
            }
        }
        let block = ir.body(self.program, 0);
        let bindings = &self.planner.model.bindings;
        let graph = block.map_or_else(Graph::default, |b| Graph::build(&ir, b, bindings));
        (ir, graph)
    }
    /// The groups on paths between two groups, which run after the first and before the second.
    fn between(&self, from: usize, to: usize) -> Vec<usize> {
        let mut after = BTreeSet::from([from]);
        for group in from..to {
            if after.contains(&group) {
                after.extend(self.groups[group].users.iter().filter(|&&r| r <= to));
            }
        }
        let mut before = BTreeSet::from([to]);
        for &group in after.iter().rev() {
            if self.groups[group].users.iter().any(|r| before.contains(r)) {
                before.insert(group);
            }
        }
        let both = after.intersection(&before).copied();
        both.filter(|&g| g != from && g != to).collect()
    }
    /// Boundaries on values passed from one of `groups` to another, and the number of those that are not named.
    fn boundaries(&self, groups: &[usize], members: &[Index]) -> (Vec<BoundaryNote>, usize) {
        let mut boundaries: Vec<BoundaryNote> = Vec::new();
        let mut more = 0;
        for &user in members {
            let own = self.graph.ops[user as usize];
            for (producer, edge) in self.graph.producers(user) {
                let home = self.home[producer as usize];
                let inside =
                    home.is_some_and(|h| groups.contains(&h)) && home != self.home[user as usize];
                let made = self.graph.ops[producer as usize];
                if !inside || !self.graph.separated(producer, user) {
                    continue;
                }
                let call = is_call(&self.ir, made) || is_call(&self.ir, own);
                let alike = boundaries.iter().filter(|b| b.call == call).count();
                if alike >= if call { 1 } else { MOST_NAMED } {
                    more += 1;
                    continue;
                }
                boundaries.push(BoundaryNote {
                    value: value_text(&self.ir, edge.value),
                    producer: self.hinted(made),
                    user: self.hinted(own),
                    words: words(&self.ir, made, own),
                    call,
                });
            }
        }
        (boundaries, more)
    }
    /// An op's name, with its hint.
    fn hinted(&self, op: Op) -> String {
        match self.ir.str_of(op, "fusion.hint") {
            Some(hint) => format!("{} (hint '{hint}')", self.ir.name(op)),
            None => self.ir.name(op).to_owned(),
        }
    }
    fn record(&self, record: &Record) -> RecordNote {
        RecordNote {
            action: record.action.name(),
            parts: record
                .parts
                .iter()
                .map(|&v| value_text(&self.ir, v))
                .collect(),
            ops: record.ops,
            outcome: if record.refusal.is_none() {
                "accepted"
            } else {
                "refused"
            },
            reason: record.refusal.as_ref().map(|r| self.reason(r)),
            before: record.before.as_ref().map(note),
            after: record.after.as_ref().map(note),
            text: record.render(&self.ir),
        }
    }
    fn reason(&self, refusal: &Refusal) -> Reason {
        let text = refusal.render(&self.ir);
        Reason {
            name: refusal.name().to_owned(),
            numbers: numbers(&text),
            words: refusal.words(&self.ir),
            text,
        }
    }
}

/// The ops inside a segment, in order, without ops of class `Structure`.
fn leaves(ir: &Ir, segment: Op) -> Vec<Op> {
    let structure = |op: Op| ir.def(op).is_some_and(|d| d.class == OpClass::Structure);
    let ops = ir.walk(segment).into_iter();
    ops.filter(|&op| !structure(op) && !lambda::is_inside(ir, op))
        .collect()
}

/// The bytes of a cost.
fn moved(cost: &Cost) -> u64 {
    let outer = cost.read_bytes.saturating_add(cost.write_bytes);
    outer.saturating_add(cost.workspace_bytes)
}

fn note(cost: &Cost) -> CostNote {
    CostNote {
        read_bytes: cost.read_bytes,
        write_bytes: cost.write_bytes,
        workspace_bytes: cost.workspace_bytes,
        again_bytes: cost.again_bytes,
        wait_bytes: cost.wait_bytes,
        kernels: cost.kernels,
        launches: cost.launches,
        time_ns: cost.time_ns,
    }
}

/// The fields of a rendered reason, as in `name { bytes: 33554432, axes: [8388608] }`.
fn numbers(text: &str) -> BTreeMap<String, Json> {
    let inner = text
        .split_once(" { ")
        .and_then(|(_, rest)| rest.strip_suffix(" }"));
    let mut fields = BTreeMap::new();
    let (mut depth, mut start) = (0usize, 0usize);
    let inner = inner.unwrap_or("");
    let mut parts = Vec::new();
    for (at, c) in inner.char_indices() {
        match c {
            '[' | '(' | '{' => depth += 1,
            ']' | ')' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inner[start..]);
    for part in parts {
        if let Some((key, value)) = part.split_once(':') {
            let value = value.trim();
            let json =
                serde_json::from_str(value).unwrap_or_else(|_| Json::String(value.to_owned()));
            fields.insert(key.trim().to_owned(), json);
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_reasons_are_read_back() {
        let fields = numbers("tile-too-large { bytes: 12, limit: 10, axes: [3, 4] }");
        let text = serde_json::to_string(&fields).unwrap();
        assert_eq!(text, r#"{"axes":[3,4],"bytes":12,"limit":10}"#);
        let fields = numbers("self-mapped { value: %t }");
        assert_eq!(fields["value"], "%t");
        assert!(numbers("unrelated").is_empty());
    }
}
