//! The segment report: the kernels of a program and the values that cross memory, from shapes alone.
//!
//! ```json
//! { "program": "f",
//!   "segments": [ { "name": "s0", "kind": "kernel", "ops": ["%xf", "%y"], "sweeps": 1,
//!                   "read_bytes": 4096, "write_bytes": 2048,
//!                   "values": [ { "name": "%x", "access": "read", "bytes": 4096 }, ... ] } ],
//!   "crossing": [ { "value": "%h", "from": "s0", "to": "s1", "bytes": 2048 } ],
//!   "returned": [ "%y" ],
//!   "read_bytes": 4096, "write_bytes": 2048, "total_bytes": 6144, "crossing_bytes": 0 }
//! ```
//!
//! A number of bytes is a JSON number if extents are static or bound. Otherwise it is a string with a polynomial over
//! their names, such as `"2048*B"`, or `"?"` if an extent is `?`. If only slices, pads and cats read a value, only the
//! bytes that they touch count. A value that several sweeps of a segment read counts once per sweep. Crossing values
//! count once, though they are written and read. A view moves nothing: the values that it makes, and those that it is
//! made of, count at their other readers.
//! Operations are those of the cost model, at the lengths that it decides by.
//!
//! Never needs data, never edits the IR.

mod label;
mod quantity;
mod segment_report;

use std::collections::BTreeSet;

use fuser_analysis::axes::{Axes, AxisId, value_text};
use fuser_analysis::cost::{Bindings, Kind, Model, Sweep, boundary, operations, plan_ops};
use fuser_dialects::fusion::lambda;
use fuser_dialects::task;
use fuser_dialects::task::outline::dissolve;
use fuser_ir::loc::LocKind;
use fuser_ir::types::ExtentExpr;
use fuser_ir::{AttrKind, Extent, Ir, LocId, Op, Sym, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

pub use label::label;
pub use quantity::Quantity;
pub use segment_report::{SEGMENT_REPORT, emit};

/// The report of a program.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// The program's symbol.
    pub program: String,
    /// The segments, in run order.
    pub segments: Vec<SegmentReport>,
    /// Values that one segment makes and another reads.
    pub crossing: Vec<Crossing>,
    /// The results of the program, by name.
    pub returned: Vec<String>,
    /// Sum over segments of the bytes read.
    pub read_bytes: Quantity,
    /// Sum over segments of the bytes written.
    pub write_bytes: Quantity,
    /// Sum of the bytes read and written.
    pub total_bytes: Quantity,
    /// Sum of the bytes of crossing values, each counted once.
    pub crossing_bytes: Quantity,
    /// The rates of the target; none where no target is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roofs: Option<Roofs>,
}

/// The rates of a target that bound every kernel.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Roofs {
    /// Its name.
    pub target: String,
    /// Bytes that slow memory moves in a second.
    pub bytes_per_s: u64,
    /// Simple operations in a second.
    pub operations_per_s: u64,
}

impl Roofs {
    /// The rates of the model's target.
    pub fn of(model: &Model) -> Self {
        let target = &model.target;
        Self {
            target: target.name.to_string(),
            bytes_per_s: target.bytes_per_us.saturating_mul(1_000_000),
            operations_per_s: target.flops_per_us.saturating_mul(1_000_000),
        }
    }
}

/// One segment.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SegmentReport {
    /// Its symbol.
    pub name: String,
    /// Its label: its most characteristic ops, and its number.
    pub label: String,
    /// `kernel`, `view`, ...
    pub kind: String,
    /// Its ops, each by the name of its first result.
    pub ops: Vec<String>,
    /// Loop nests over slow memory.
    pub sweeps: usize,
    /// Launches in its plan; `None` if its sweeps are already drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launches: Option<u64>,
    /// Bytes that it reads.
    pub read_bytes: Quantity,
    /// Bytes that it writes.
    pub write_bytes: Quantity,
    /// Operations by the cost model, those of values that are computed again included; none where it has no count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operations: Option<u64>,
    /// Nanoseconds by the cost model, where its plan says them: not for sweeps that are drawn already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_ns: Option<u64>,
    /// The values that it reads and writes.
    pub values: Vec<ValueReport>,
    /// The source lines of its ops, `model.py:14`, the line of the most ops first; at most [`MOST_LINES`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
}

/// The most source lines of a segment in a report.
const MOST_LINES: usize = 16;

/// A value that a segment reads or writes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ValueReport {
    /// Its name.
    pub name: String,
    /// `read` or `write`.
    pub access: &'static str,
    /// Stored bytes.
    pub bytes: Quantity,
}

/// A value between two segments.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Crossing {
    /// Its name.
    pub value: String,
    /// The segment that makes it.
    pub from: String,
    /// The segment that reads it.
    pub to: String,
    /// Stored bytes; 0 of a view's result, which is no memory of its own.
    pub bytes: Quantity,
}

/// The traffic of `program`, segment by segment.
pub fn report(ir: &Ir, program: Op, model: &Model) -> Report {
    let has_phases = ir.walk(program).iter().any(|&op| ir.is(op, &task::PHASE));
    let flat = has_phases.then(|| without_phases(ir, program));
    let ir = flat.as_ref().unwrap_or(ir);
    let segments = ir.children(program).into_iter();
    let segments: Vec<Op> = segments.filter(|&op| ir.is(op, &task::SEGMENT)).collect();
    let reports: Vec<SegmentReport> = segments
        .iter()
        .map(|&s| segment_report(ir, s, model))
        .collect();
    let crossing = crossing(ir, &segments, &model.bindings);
    let read_bytes: Quantity = reports.iter().map(|s| s.read_bytes.clone()).sum();
    let write_bytes: Quantity = reports.iter().map(|s| s.write_bytes.clone()).sum();
    let crossing_bytes = crossing_values(ir, &segments, &model.bindings).sum();
    let total_bytes = [read_bytes.clone(), write_bytes.clone()].into_iter().sum();
    Report {
        program: symbol(ir, program),
        segments: reports,
        crossing,
        returned: returned(ir, program),
        read_bytes,
        write_bytes,
        total_bytes,
        crossing_bytes,
        roofs: Some(Roofs::of(model)),
    }
}

fn returned(ir: &Ir, program: Op) -> Vec<String> {
    let end = ir.body(program, 0).and_then(|body| ir.terminator(body));
    let values = end.into_iter().flat_map(|end| ir.operands(end));
    values.map(|value| value_text(ir, value)).collect()
}

fn symbol(ir: &Ir, op: Op) -> String {
    ir.symbol_name(op).unwrap_or_default().to_owned()
}

fn segment_report(ir: &Ir, segment: Op, model: &Model) -> SegmentReport {
    let Walks {
        reads: walks,
        operations,
        launches,
        model_ns,
    } = walks(ir, segment, model);
    let sweeps = if moves(ir, segment) { walks.len() } else { 0 };
    let bytes = |v: &Value| Quantity::bytes(ir, *v, &model.bindings);
    let kind = ir.str_of(segment, "kind").unwrap_or("kernel").to_owned();
    let moves = moves(ir, segment);
    let reads: Vec<Read> = walks.into_iter().flatten().filter(|_| moves).collect();
    let writes: Vec<Value> = ir
        .results(segment)
        .iter()
        .copied()
        .filter(|_| moves)
        .collect();
    let value = |access: &'static str, v: Value, bytes: Quantity| ValueReport {
        name: value_text(ir, v),
        access,
        bytes,
    };
    let mut once = reads.clone();
    let mut seen = FxHashSet::default();
    once.retain(|(v, _)| seen.insert(*v));
    let values = once.into_iter().map(|(v, bytes)| value("read", v, bytes));
    let viewed = boundary_of_view(ir, segment).into_iter();
    let values = values.chain(viewed.map(|v| value("read", v, Quantity::zero())));
    let written = writes.iter().map(|v| value("write", *v, bytes(v)));
    SegmentReport {
        name: symbol(ir, segment),
        label: label(ir, segment),
        kind,
        ops: leaf_names(ir, segment),
        sweeps,
        launches: launches.filter(|_| moves),
        read_bytes: reads.into_iter().map(|(_, bytes)| bytes).sum(),
        write_bytes: writes.iter().map(bytes).sum(),
        operations,
        model_ns,
        values: values.chain(written).collect(),
        lines: source_lines(ir, segment),
    }
}

/// The source lines of the ops in `segment`, the line of the most ops first.
fn source_lines(ir: &Ir, segment: Op) -> Vec<String> {
    let lines = leaves(ir, segment).into_iter();
    let lines = lines.filter_map(|op| source_line(ir, ir.op_loc(op)));
    let mut counts: Vec<(String, usize)> = Vec::new();
    let mut known = FxHashMap::default();
    for line in lines {
        let at = *known.entry(line.clone()).or_insert(counts.len());
        if at == counts.len() {
            counts.push((line, 0));
        }
        counts[at].1 += 1;
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
        .into_iter()
        .take(MOST_LINES)
        .map(|(line, _)| line)
        .collect()
}

/// The file and the line of a location; the innermost of calls in one another.
fn source_line(ir: &Ir, loc: LocId) -> Option<String> {
    let mut rest = vec![loc];
    while let Some(loc) = rest.pop() {
        match ir.loc_kind(loc) {
            LocKind::Unknown => {}
            LocKind::File { file, line, .. } => return Some(format!("{}:{line}", ir.str(*file))),
            LocKind::Name { child, .. } => rest.extend(child),
            LocKind::CallSite { callee, caller } => rest.extend([caller, callee]),
            LocKind::Fused(fused) => rest.extend(fused.parts.iter().rev()),
        }
    }
    None
}

/// True if a segment runs a kernel, and so moves bytes.
fn moves(ir: &Ir, segment: Op) -> bool {
    ir.str_of(segment, "kind") != Some("view")
}

/// The values that a view is made of; none for another segment.
fn boundary_of_view(ir: &Ir, segment: Op) -> Vec<Value> {
    match moves(ir, segment) {
        true => Vec::new(),
        false => boundary(ir, &leaves(ir, segment)).0,
    }
}

/// A value that a loop nest reads, and the bytes that it reads of it.
type Read = (Value, Quantity);

/// Bytes of `value` that the loop nest of `ops` touches; `None` if it also reads `value` other than through windows.
/// `known` evaluates lengths.
fn touched(
    ir: &Ir,
    ops: &[Op],
    axes: &Axes,
    value: Value,
    known: impl Fn(&ExtentExpr) -> Option<u64>,
) -> Option<ExtentExpr> {
    let element = ir.value_kind(value).dtype().map_or(0, |d| d.bytes() as i64);
    let touched = axes.touched(ir, ops, value, known)?;
    touched.mul(&ExtentExpr::constant(element))
}

/// A copy of the program in which sweeps have no phases: values passed between phases become values of the sweep.
pub fn without_phases(ir: &Ir, program: Op) -> Ir {
    let mut ir = ir.clone();
    for op in ir.walk(program) {
        if ir.is(op, &task::PHASE) {
            dissolve(&mut ir, op);
        }
    }
    ir
}

/// Upper bounds on the bytes of `value` that the loop nest of `ops` reads, for all extents, each less than the whole
/// value.
fn parts_read(ir: &Ir, ops: &[Op], axes: &Axes, value: Value) -> Vec<ExtentExpr> {
    let free = Bindings::default();
    let whole = Quantity::bytes(ir, value, &free);
    let less = |part: &ExtentExpr| !whole.is_at_most(&Quantity::of(ir, part, &free));
    // Which of two lengths is less may differ for short and for long named extents, so both cases are evaluated.
    let constant = |length: &ExtentExpr| length.as_constant()?.try_into().ok();
    let long = |length: &ExtentExpr| constant(length).or(Some(u64::MAX));
    let short = |length: &ExtentExpr| constant(length).or(Some(1));
    let short = touched(ir, ops, axes, value, short);
    let mut parts = Vec::from_iter(short.filter(less));
    let long = touched(ir, ops, axes, value, long);
    parts.extend(long.filter(|part| less(part) && !parts.contains(part)));
    parts
}

/// The ops of a task, without terminators.
fn leaves(ir: &Ir, sweep: Op) -> Vec<Op> {
    let leaf = |&op: &Op| {
        let whole = ir.op_regions(op).is_empty() || lambda::has_lambda(ir, op);
        whole && !ir.is(op, &task::YIELD) && !lambda::is_inside(ir, op)
    };
    ir.walk(sweep).into_iter().filter(leaf).collect()
}

/// The bytes of `value` that the loop nest of `ops` reads: the whole value, or the bytes touched if only slices, pads
/// and cats read it and that is less.
fn read(ir: &Ir, ops: &[Op], axes: Option<&Axes>, value: Value, bindings: &Bindings) -> Read {
    let whole = Quantity::bytes(ir, value, bindings);
    let touched = axes.and_then(|axes| touched(ir, ops, axes, value, |n| Some(bindings.eval(n))));
    let part = touched.map(|e| Quantity::of(ir, &e, bindings));
    let less = |part: &Quantity| !whole.is_at_most(part);
    (value, part.filter(less).unwrap_or(whole))
}

/// The loop nests of a segment: those of its sweeps if it has some, and otherwise those of its plan.
struct Walks {
    /// The values that each loop nest reads from outside or from earlier loop nests.
    reads: Vec<Vec<Read>>,
    /// The operations of all loop nests.
    operations: Option<u64>,
    /// The launches of the plan.
    launches: Option<u64>,
    /// The predicted time of the plan.
    model_ns: Option<u64>,
}

fn walks(ir: &Ir, segment: Op, model: &Model) -> Walks {
    let children = ir.children(segment);
    let sweeps = children.iter().filter(|&&op| ir.is(op, &task::SWEEP));
    let sweeps: Vec<Op> = sweeps.copied().collect();
    let bindings = &model.bindings;
    if !sweeps.is_empty() {
        let reads = sweeps.iter();
        let reads = reads.map(|&s| sweep_reads(ir, s, segment, bindings));
        let counts = sweeps
            .iter()
            .map(|&s| operations(ir, &leaves(ir, s), model));
        let all = counts.collect::<Option<Vec<u64>>>();
        return Walks {
            reads: reads.collect(),
            operations: all.map(|all| all.into_iter().fold(0, u64::saturating_add)),
            launches: None,
            model_ns: None,
        };
    }
    let ops: Vec<Op> = children
        .into_iter()
        .filter(|&op| !ir.is(op, &task::YIELD))
        .collect();
    let axes = Axes::build(ir, &ops).ok();
    let plan = plan_ops(ir, &ops, model, &Default::default()).ok();
    // The programs of a loop or a branch have the arithmetic, and reports of their own.
    let counted = plan.as_ref().filter(|plan| plan.kind != Kind::Control);
    let operations = counted.map(|plan| plan.cost.flops);
    let model_ns = counted.map(|plan| plan.cost.time_ns);
    let Some(plan) = plan.as_ref().filter(|plan| !plan.kind.is_call()) else {
        let inputs = boundary(ir, &ops).0.into_iter();
        let reads = inputs.map(|v| read(ir, &ops, None, v, bindings)).collect();
        return Walks {
            reads: vec![reads],
            operations,
            launches: None,
            model_ns,
        };
    };
    let outputs: FxHashSet<Value> = plan.outputs.iter().copied().collect();
    let sweeps = plan.sweeps.iter();
    let reads = sweeps.map(|sweep| {
        let ops = walked(ir, axes.as_ref(), sweep);
        let counts = |v: &&Value| outputs.contains(*v) || plan.inputs.contains(*v);
        let walked = sweep.loads.iter().chain(&sweep.fetches).filter(counts);
        let late = sweep.epilogue_loads.iter().filter(counts);
        let own = walked.map(|&v| read(ir, &ops, axes.as_ref(), v, bindings));
        let behind = sweep
            .epilogues
            .iter()
            .flat_map(|walk| walk.ops.iter().copied());
        let behind: Vec<Op> = behind.collect();
        let used: FxHashSet<Value> = behind.iter().flat_map(|&op| ir.operands(op)).collect();
        let made = behind.iter().flat_map(|&op| ir.results(op).to_vec());
        let ends = made.filter(|v| outputs.contains(v) || !used.contains(v));
        let behind = at_points(ir, axes.as_ref(), behind.clone(), ends.collect());
        let late = late.map(|&v| read(ir, &behind, axes.as_ref(), v, bindings));
        own.chain(late).collect()
    });
    Walks {
        reads: reads.collect(),
        operations,
        launches: Some(plan.cost.launches),
        model_ns,
    }
}

/// The ops of a planned sweep that are computed at points of its iteration space, and not only for windows.
fn walked(ir: &Ir, axes: Option<&Axes>, sweep: &Sweep) -> Vec<Op> {
    let ops: Vec<Op> = sweep.phases.iter().flatten().copied().collect();
    let results = |op: &Op| ir.results(*op).to_vec();
    let late = sweep.epilogues.iter().flat_map(|walk| &walk.ops);
    let late = late.flat_map(|&op| ir.operands(op));
    let mut wanted: FxHashSet<Value> = late.collect();
    wanted.extend(sweep.stores.iter().chain(&sweep.keeps));
    wanted.extend(sweep.accumulators.iter().flat_map(results));
    at_points(ir, axes, ops, wanted)
}

/// The ops of `ops` that are computed at points of the iteration space to obtain `wanted`, and not only for windows.
fn at_points(
    ir: &Ir,
    axes: Option<&Axes>,
    mut ops: Vec<Op>,
    mut wanted: FxHashSet<Value>,
) -> Vec<Op> {
    let Some(axes) = axes else { return ops };
    ops.reverse();
    ops.retain(|&op| {
        let walked = ir.results(op).iter().any(|v| wanted.contains(v));
        wanted.extend(axes.reads(ir, op).into_iter().filter(|_| walked));
        walked
    });
    ops.reverse();
    ops
}

/// The reads of a drawn sweep from outside of its segment.
fn sweep_reads(ir: &Ir, sweep: Op, segment: Op, bindings: &Bindings) -> Vec<Read> {
    let ops = leaves(ir, sweep);
    let axes = Axes::build(ir, &ops).ok();
    let values = live(ir, sweep, segment, (&ops, axes.as_ref()), Some(bindings)).into_iter();
    let reads = values.map(|v| read(ir, &ops, axes.as_ref(), v, bindings));
    reads.collect()
}

/// A value that is read.
pub struct LiveRead {
    /// The value.
    pub value: Value,
    /// Named extents none of which may be 0 for the value to be read.
    pub needs: Vec<Sym>,
    /// Upper bounds on the bytes read of it, for all extents, in addition to the bytes of the whole value.
    pub parts: Vec<ExtentExpr>,
}

/// The values from outside of `segment` that a sweep without phases, a launch or a call reads. For a sweep these are
/// the values on which an element of a result depends. `needs` omits names that divide the size of the value itself.
pub fn live_reads(ir: &Ir, root: Op, segment: Op) -> Vec<LiveRead> {
    let ops = leaves(ir, root);
    let axes = Axes::build(ir, &ops).ok();
    let parts = |value| match &axes {
        Some(axes) => parts_read(ir, &ops, axes, value),
        None => Vec::new(),
    };
    let whole = |(value, needs)| LiveRead {
        value,
        needs,
        parts: parts(value),
    };
    if !ir.is(root, &task::SWEEP) {
        let reads = outside_reads(ir, root, segment).into_iter();
        return reads.map(|value| whole((value, Vec::new()))).collect();
    }
    let read =
        |bindings: Option<&Bindings>| live(ir, root, segment, (&ops, axes.as_ref()), bindings);
    let lengths = walked_lengths(ir, root).into_iter();
    let names = lengths.flat_map(|(length, _)| length.terms.into_iter().flat_map(|term| term.0));
    let names: BTreeSet<Sym> = names.collect();
    let without = names.into_iter().map(|name| {
        let bindings = Bindings {
            named: [(name, 0)].into(),
            nominal: 1,
            ..Bindings::default()
        };
        let rest: FxHashSet<Value> = read(Some(&bindings)).into_iter().collect();
        (name, bindings, rest)
    });
    let without: Vec<_> = without.collect();
    let needed = |value: Value| {
        let all = without.iter();
        let all = all.filter(|(_, b, rest)| !rest.contains(&value) && b.bytes(ir, value) > 0);
        (value, all.map(|(name, ..)| *name).collect())
    };
    read(None).into_iter().map(needed).map(whole).collect()
}

/// The lengths of the axes of a drawn sweep, each with true if the axis is inside a step.
fn walked_lengths(ir: &Ir, sweep: Op) -> Vec<(ExtentExpr, bool)> {
    let clause = |name| ir.attr_of(sweep, name);
    let (Some(AttrKind::Extents(dims)), Some(AttrKind::Array(roles))) =
        (clause("extents"), clause("roles"))
    else {
        return Vec::new();
    };
    let lengths = dims.iter().zip(roles).filter_map(|(dim, &role)| {
        let role = ir.attr_kind(role).as_string()?;
        Some((ir.extent_as_expr(dim.extent)?, ir.str(role) == "tile"))
    });
    lengths.collect()
}

/// The values that a sweep with these ops and axes reads for these bindings. Nothing depends on the operands of a
/// reduction over an axis of length 0, but each step computes its reductions. Without bindings only static lengths are
/// known.
fn live(
    ir: &Ir,
    sweep: Op,
    segment: Op,
    (ops, axes): (&[Op], Option<&Axes>),
    bindings: Option<&Bindings>,
) -> Vec<Value> {
    let outside = outside_reads(ir, sweep, segment);
    let is_empty = |v: &Value| {
        let dims = ir.value_kind(*v).as_tensor().map_or(&[][..], |t| &t.dims);
        // A value stored once still has an element if its other axes are not empty.
        let mut dims = dims.iter().filter(|d| !d.broadcast);
        dims.any(|d| match (d.extent, bindings) {
            (Extent::Static(n), _) => n == 0,
            (extent, Some(bindings)) => bindings.extent(ir, extent) == 0,
            (_, None) => false,
        })
    };
    let is_zero = |length: &ExtentExpr| match bindings {
        Some(bindings) => bindings.eval(length) == 0,
        None => length.as_constant() == Some(0),
    };
    let lengths = walked_lengths(ir, sweep);
    let steps = !lengths.iter().any(|(n, inside)| !inside && is_zero(n));
    let reduced = |op: Op| axes.map_or(&[][..], |axes| axes.reduced(op));
    let extent = |axis: &AxisId| axes.and_then(|axes| axes.extent(*axis));
    let end = ir.body(sweep, 0).and_then(|body| ir.terminator(body));
    let mut live: FxHashSet<Value> = end.iter().flat_map(|&end| ir.operands(end)).collect();
    for &op in ops.iter().rev() {
        let made = steps && !reduced(op).is_empty();
        let mut results = ir.results(op).iter();
        let wanted = results.any(|v| (made || live.contains(v)) && !is_empty(v));
        if wanted && !reduced(op).iter().filter_map(extent).any(is_zero) {
            live.extend(ir.operands(op));
        }
    }
    outside.into_iter().filter(|v| live.contains(v)).collect()
}

/// The values that ops under `root` read from outside of `segment`, or from other sweeps of it that also write them for
/// others; each once.
fn outside_reads(ir: &Ir, root: Op, segment: Op) -> Vec<Value> {
    let mut seen = FxHashSet::default();
    let end = ir.body(segment, 0).and_then(|b| ir.terminator(b));
    let yielded: Vec<Value> = end.map_or_else(Vec::new, |end| ir.operands(end).collect());
    let outside = |v: Value| match ir.def_op(v) {
        Some(d) if ir.is_inside(d, segment) => !ir.is_inside(d, root) && yielded.contains(&v),
        _ => true,
    };
    let ops = ir.walk(root).into_iter();
    let reads = ops
        .filter(|&op| !lambda::is_inside(ir, op))
        .flat_map(|op| ir.operands(op).collect::<Vec<_>>());
    reads.filter(|&v| outside(v) && seen.insert(v)).collect()
}

fn leaf_names(ir: &Ir, segment: Op) -> Vec<String> {
    let leaves = leaves(ir, segment).into_iter();
    let named = leaves.filter_map(|op| ir.results(op).first().copied());
    named.map(|v| value_text(ir, v)).collect()
}

/// Bytes of each value that another segment reads, each value once.
fn crossing_values<'a>(
    ir: &'a Ir,
    segments: &'a [Op],
    bindings: &'a Bindings,
) -> impl Iterator<Item = Quantity> + 'a {
    let writers = segments.iter().filter(|&&s| moves(ir, s));
    let results = writers.flat_map(|&s| ir.results(s).iter().copied());
    let crosses = |v: &Value| {
        let mut holders = ir
            .users(*v)
            .filter_map(|u| ir.ancestor_beside(u, segments[0]));
        holders.any(|h| ir.is(h, &task::SEGMENT))
    };
    let crossing = results.filter(crosses);
    crossing.map(move |v| Quantity::bytes(ir, v, bindings))
}

fn crossing(ir: &Ir, segments: &[Op], bindings: &Bindings) -> Vec<Crossing> {
    let number: FxHashMap<Op, usize> = segments.iter().copied().zip(0..).collect();
    let mut list = Vec::new();
    for &from in segments {
        for &value in ir.results(from) {
            let users = ir.users(value).filter_map(|user| {
                let holder = ir.ancestor_beside(user, from)?;
                number.get(&holder).copied()
            });
            let users: BTreeSet<usize> = users.collect();
            list.extend(users.into_iter().map(|to| Crossing {
                value: value_text(ir, value),
                from: symbol(ir, from),
                to: symbol(ir, segments[to]),
                bytes: match moves(ir, from) {
                    true => Quantity::bytes(ir, value, bindings),
                    false => Quantity::zero(),
                },
            }));
        }
    }
    list
}
