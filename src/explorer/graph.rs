//! A program as data: its segments, sweeps, phases and ops, and the values passed between the ops.
//!
//! A value yielded by a phase, sweep or segment is identified with the value of the op inside. `results` lists its
//! outer names.

use fuser_dialects::task::{self, calls};
use fuser_ir::loc::LocKind;
use fuser_ir::print::{print_attr, print_type};
use fuser_ir::{Ir, LocId, Op, OpDef, Value};
use fuser_passes::axes::value_text;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value as Json, json};

/// Characters of an attribute that are shown.
const LONGEST_ATTRIBUTE: usize = 120;
/// The maximum number of locations kept for one op; an op merged by rewrites has the locations of all its sources.
const MOST_PLACES: usize = 8;

/// The ops that hold others, from the outside.
static LEVELS: [&OpDef; 3] = [&task::SEGMENT, &task::SWEEP, &task::PHASE];

/// The graph of `program`.
///
/// `nodes` are in program order, each after its parent (`up`). `values` are arguments of the program (`node` -1) and
/// results of ops. Nodes and values are identified by their positions in these lists.
pub fn graph(ir: &Ir, program: Op) -> Json {
    let mut build = Build::default();
    let arguments = ir.body(program, 0).map_or(&[][..], |body| ir.args(body));
    for &value in arguments {
        build.value(ir, value, -1);
    }
    let mut held: Vec<(Op, usize)> = Vec::new();
    let mut rest: Vec<(Op, i64)> = children(ir, program, -1);
    while let Some((op, up)) = rest.pop() {
        let at = build.nodes.len();
        build.node(ir, op, up);
        if is_level(ir, op) {
            held.push((op, at));
            rest.extend(children(ir, op, at as i64));
        } else {
            for &value in ir.results(op) {
                build.value(ir, value, at as i64);
            }
        }
    }
    // What is inside comes first: what it hands out may be handed on.
    for &(op, at) in held.iter().rev() {
        build.results(ir, op, at);
    }
    for at in 0..build.nodes.len() {
        build.operands(ir, at);
    }
    let outputs = terminator(ir, program).map_or(Vec::new(), |op| build.named(ir, op));
    json!({
        "symbol": ir.symbol_name(program).unwrap_or_default(),
        "inputs": (0..arguments.len()).collect::<Vec<_>>(),
        "outputs": outputs,
        "nodes": build.nodes.into_iter().map(|(_, node)| Json::Object(node)).collect::<Vec<_>>(),
        "values": build.values,
    })
}

fn is_level(ir: &Ir, op: Op) -> bool {
    LEVELS.iter().any(|level| ir.is(op, level))
}

/// The op that ends the body of `op`.
fn terminator(ir: &Ir, op: Op) -> Option<Op> {
    ir.body(op, 0).and_then(|body| ir.terminator(body))
}

/// The ops inside of `op` but for its terminator, the first one last.
fn children(ir: &Ir, op: Op, at: i64) -> Vec<(Op, i64)> {
    let end = terminator(ir, op);
    let inside = ir.children(op).into_iter().rev();
    inside
        .filter(|&child| Some(child) != end)
        .map(|child| (child, at))
        .collect()
}

#[derive(Default)]
struct Build {
    nodes: Vec<(Op, Map<String, Json>)>,
    values: Vec<Json>,
    positions: FxHashMap<Value, usize>,
}

impl Build {
    fn value(&mut self, ir: &Ir, value: Value, node: i64) {
        self.positions.insert(value, self.values.len());
        self.values.push(json!({
            "name": value_text(ir, value),
            "type": print_type(ir, ir.value_type(value)),
            "node": node,
        }));
    }
    fn node(&mut self, ir: &Ir, op: Op, up: i64) {
        let mut node = Map::new();
        node.insert("op".into(), json!(ir.name(op)));
        node.insert("up".into(), json!(up));
        if let Some(symbol) = ir.symbol_name(op) {
            node.insert("symbol".into(), json!(symbol));
        }
        let shown = ir
            .inherent_attrs(op)
            .filter(|(name, _)| ir.str(*name) != "sym_name");
        let shown: Vec<String> = shown
            .map(|(name, value)| format!("{} {}", ir.str(name), short(&print_attr(ir, value))))
            .collect();
        if !shown.is_empty() {
            node.insert("attributes".into(), json!(shown.join(" ")));
        }
        let runs = calls::CALLEES.map(|clause| calls::symbol(ir, op, clause));
        let runs: Vec<&str> = runs.iter().flatten().map(|&name| ir.str(name)).collect();
        if calls::runs_programs(ir, op) {
            node.insert("runs".into(), json!(runs));
        }
        let places = places(ir, ir.op_loc(op));
        if !places.is_empty() {
            node.insert("places".into(), json!(places));
        }
        self.nodes.push((op, node));
    }
    /// Maps the results of a nested level to the inner values that it yields.
    fn results(&mut self, ir: &Ir, op: Op, at: usize) {
        let Some(end) = terminator(ir, op) else {
            return;
        };
        let mut named = Vec::new();
        for (&result, inner) in ir.results(op).iter().zip(ir.operands(end)) {
            if let Some(&position) = self.positions.get(&inner) {
                self.positions.insert(result, position);
                named.push(json!([value_text(ir, result), position]));
            }
        }
        self.nodes[at].1.insert("results".into(), named.into());
    }
    fn operands(&mut self, ir: &Ir, at: usize) {
        let op = self.nodes[at].0;
        if is_level(ir, op) {
            return;
        }
        let known = |value: &Value| self.positions.get(value).copied();
        let operands = ir.operands(op);
        let operands: Vec<usize> = operands.filter_map(|value| known(&value)).collect();
        let results: Vec<usize> = ir.results(op).iter().filter_map(known).collect();
        let node = &mut self.nodes[at].1;
        node.insert("in".into(), operands.into());
        node.insert("out".into(), results.into());
    }
    /// The operands of `op`, each by its name and its position.
    fn named(&self, ir: &Ir, op: Op) -> Vec<Json> {
        let operands = ir.operands(op);
        let named = operands.filter_map(|value| {
            let position = self.positions.get(&value)?;
            Some(json!([value_text(ir, value), position]))
        });
        named.collect()
    }
}

/// An attribute as clauses write it, cut where it is long.
fn short(attribute: &str) -> String {
    let lists = ["array<i64: ", "extents<"].iter();
    let list = lists.filter_map(|start| attribute.strip_prefix(start)?.strip_suffix('>'));
    let mut text = list
        .map(|list| format!("[{list}]"))
        .next()
        .unwrap_or_else(|| attribute.to_owned());
    if let Some((end, _)) = text.char_indices().nth(LONGEST_ATTRIBUTE) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// The source positions of a location as `[file, line]`, and names as `[name]`.
fn places(ir: &Ir, loc: LocId) -> Vec<Json> {
    let mut found: Vec<Json> = Vec::new();
    let mut rest = vec![loc];
    while let Some(loc) = rest.pop().filter(|_| found.len() < MOST_PLACES) {
        let place = match ir.loc_kind(loc) {
            LocKind::Unknown => continue,
            LocKind::File { file, line, .. } => json!([ir.str(*file), line]),
            LocKind::Name { name, child } => {
                rest.extend(child);
                json!([ir.str(*name)])
            }
            LocKind::CallSite { callee, caller } => {
                rest.extend([caller, callee]);
                continue;
            }
            LocKind::Fused(fused) => {
                rest.extend(fused.parts.iter().rev());
                continue;
            }
        };
        if !found.contains(&place) {
            found.push(place);
        }
    }
    found
}
