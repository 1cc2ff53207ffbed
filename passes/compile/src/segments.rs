//! The global-memory traffic of each segment of a scheduled program, as expressions of the extents: the report part of
//! an artifact.
//!
//! The traffic is counted from the given sweeps, launches or calls. Each reads every value from outside the segment
//! once. Of a value used only by slices, pads and cats, the accessed elements count. Nothing counts if an extent is 0,
//! so that no result element depends on the value.
//!
//! A segment writes its results. Values exchanged between sweeps of one segment are workspace and never counted, as in
//! all reports. One of several segments with equal form is described; the others differ only in the names of values.

use fuser_artifact::{Direction, SegmentInfo, SegmentKind, SegmentValue, SizeExpr};
use fuser_dialects::fusion::lambda;
use fuser_dialects::fusion::window::is_placed;
use fuser_dialects::task::calls;
use fuser_dialects::{kernel, task};
use fuser_ir::def::OpClass;
use fuser_ir::{Ir, Op, Value};
use fuser_passes::axes::value_text;
use fuser_passes::form::{Form, ORIGINS, form_and_inputs};
use fuser_passes::{cost, report};
use rustc_hash::{FxHashMap, FxHashSet};

use super::plan::extent_table;
use super::size::ExtentTable;

/// The segments of programs.
pub type Described = FxHashMap<Op, Vec<SegmentInfo>>;

/// Describes the segments of `program` and of those that it runs.
pub fn describe_all(ir: &Ir, program: Op) -> Described {
    let extents = extent_table(ir, program);
    let module = ir.parent_op(program).unwrap_or(program);
    let programs = calls::reached(ir, module, program).into_iter();
    programs
        .map(|program| (program, describe(ir, program, &extents)))
        .collect()
}

/// Describes the segments of `program`, in order.
pub fn describe(ir: &Ir, program: Op, extents: &ExtentTable) -> Vec<SegmentInfo> {
    let ir = &report::without_phases(ir, program);
    let segments = ir
        .children(program)
        .into_iter()
        .filter(|&op| ir.is(op, &task::SEGMENT));
    // With the numbers of the values that each names, among those that it could.
    let mut known = FxHashMap::<Form, (SegmentInfo, Vec<usize>)>::default();
    let describe = |segment| {
        let (form, inputs) = form_and_inputs(ir, segment, &ORIGINS);
        let values = named_values(ir, segment, inputs);
        if let Some((first, numbers)) = known.get(&form) {
            return renamed(ir, segment, first, numbers.iter().map(|&n| values[n]));
        }
        let (info, crossing) = describe_segment(ir, segment, extents);
        let number = |value| values.iter().position(|&v| v == value);
        if let Some(numbers) = crossing.into_iter().map(number).collect() {
            known.insert(form, (info.clone(), numbers));
        }
        info
    };
    segments.map(describe).collect()
}

/// The values that a segment's description may name, in the order of its form: outside values, yielded values, results.
fn named_values(ir: &Ir, segment: Op, inputs: Vec<Value>) -> Vec<Value> {
    let end = ir.body(segment, 0).and_then(|body| ir.terminator(body));
    let yielded = end.into_iter().flat_map(|end| ir.operands(end));
    let results = ir.results(segment).iter().copied();
    inputs.into_iter().chain(yielded).chain(results).collect()
}

/// The description of a segment, adapted from a described segment of equal form to its own values.
fn renamed(
    ir: &Ir,
    segment: Op,
    first: &SegmentInfo,
    values: impl Iterator<Item = Value>,
) -> SegmentInfo {
    let mut info = first.clone();
    info.name = segment_name(ir, segment);
    info.label = report::label(ir, segment);
    for (crossing, value) in info.values.iter_mut().zip(values) {
        crossing.name = value_name(ir, value);
    }
    info
}

fn segment_name(ir: &Ir, segment: Op) -> String {
    ir.symbol_name(segment).unwrap_or("segment").to_string()
}

fn value_name(ir: &Ir, value: Value) -> String {
    ir.value_name(value).unwrap_or("value").to_string()
}

/// The description of a segment, and the values that it names.
fn describe_segment(ir: &Ir, segment: Op, extents: &ExtentTable) -> (SegmentInfo, Vec<Value>) {
    let walks =
        |op: &Op| ir.is(*op, &task::SWEEP) || ir.is(*op, &kernel::LAUNCH) || cost::is_call(ir, *op);
    let ops = ir.children(segment);
    let cat = ops.iter().copied().find(|&op| is_placed(ir, op));
    let sweeps: Vec<Op> = ops.into_iter().filter(walks).collect();
    let is_collective = |op: &Op| ir.def(*op).is_some_and(|d| d.class == OpClass::Collective);
    let kind = match ir.str_of(segment, "kind") {
        Some("view") => SegmentKind::View,
        Some("library") if sweeps.iter().any(is_collective) => SegmentKind::Collective,
        Some("library") => SegmentKind::Library,
        Some("control") => SegmentKind::Control,
        _ => SegmentKind::Kernel,
    };
    let mut values = Vec::new();
    let mut read = Vec::new();
    let mut crossing = Vec::new();
    if let Some(cat) = cat {
        // Of a placed cat only copies of operands move bytes.
        let operands = ir.operands(cat).zip(cost::placed(ir, cat));
        for (value, _) in operands.filter(|(_, placed)| !placed) {
            let bytes = stored_bytes(ir, value, extents);
            read.push(bytes.clone());
            crossing.push(value);
            values.push(segment_value(ir, value, Direction::Read, bytes));
        }
    }
    for &sweep in sweeps.iter().filter(|&&op| Some(op) != cat) {
        for report::LiveRead {
            value,
            needs,
            parts,
        } in report::live_reads(ir, sweep, segment)
        {
            let whole = stored_bytes(ir, value, extents);
            let parts = parts.into_iter();
            let parts = parts.filter_map(|part| extents.polynomial(ir, &part));
            let bytes = parts.fold(whole, |least, part| part.minimum(least));
            let needs = needs.into_iter().filter_map(|name| extents.name(ir, name));
            let one = SizeExpr::constant(1);
            let bytes = needs.fold(bytes, |bytes, name| bytes * name.minimum(one.clone()));
            read.push(bytes.clone());
            if !crossing.contains(&value) {
                crossing.push(value);
                values.push(segment_value(ir, value, Direction::Read, bytes));
            }
        }
    }
    let results = if kind == SegmentKind::View {
        &[]
    } else {
        ir.results(segment)
    };
    let written = results.iter().map(|&v| match cat {
        Some(_) => SizeExpr::sum(read.clone()),
        None => stored_bytes(ir, v, extents),
    });
    let written: Vec<SizeExpr> = written.collect();
    for (&value, bytes) in results.iter().zip(&written) {
        crossing.push(value);
        values.push(segment_value(ir, value, Direction::Write, bytes.clone()));
    }
    let info = SegmentInfo {
        name: segment_name(ir, segment),
        label: report::label(ir, segment),
        kind,
        ops: count_ops(ir, segment),
        sweeps: sweeps.len() as u32,
        read_bytes: SizeExpr::sum(read),
        write_bytes: SizeExpr::sum(written),
        values,
    };
    (info, crossing)
}

fn segment_value(ir: &Ir, value: Value, direction: Direction, bytes: SizeExpr) -> SegmentValue {
    SegmentValue {
        name: value_name(ir, value),
        direction,
        bytes,
    }
}

fn stored_bytes(ir: &Ir, value: Value, extents: &ExtentTable) -> SizeExpr {
    let Some(tensor) = ir.value_kind(value).as_tensor() else {
        return SizeExpr::constant(0);
    };
    let dims = extents.dims(ir, &tensor.dims).unwrap_or_default();
    let stored = dims.into_iter().filter(|d| !d.broadcast).map(|d| d.extent);
    SizeExpr::product(stored) * SizeExpr::constant(tensor.dtype.bytes() as i64)
}

fn count_ops(ir: &Ir, segment: Op) -> u32 {
    let structure = |op: &Op| {
        ir.def(*op)
            .is_some_and(|d| d.class == fuser_ir::def::OpClass::Structure)
    };
    let counts = |op: &&Op| !structure(op) && !lambda::is_inside(ir, **op);
    let ops = ir.walk(segment);
    let results = ops
        .iter()
        .filter(counts)
        .filter_map(|&op| ir.results(op).first());
    // Phases may compute a value again under the same name.
    let names = results.map(|&value| value_text(ir, value));
    names.collect::<FxHashSet<_>>().len() as u32
}
