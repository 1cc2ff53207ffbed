//! Global-memory traffic of each segment of a scheduled program, as expressions of the extents: the report part of an
//! artifact.
//!
//! Counted from the sweeps, launches or calls, as they stand: one reads each value that it uses from outside the segment
//! once, and of one that only slices, pads and cats use, the elements that they touch, and nothing where an extent is 0 so that no
//! result has an element that depends on it; a segment writes its results. Values that
//! sweeps of one segment hand to each other are workspace and not counted here, like everywhere in reports.

use fuser_artifact::{Direction, SegmentInfo, SegmentKind, SegmentValue, SizeExpr};
use fuser_dialects::fusion::lambda;
use fuser_dialects::{kernel, task};
use fuser_ir::{Ir, Op, Value};
use fuser_passes::{cost, report};

use super::plan::extent_table;
use super::size::ExtentTable;

/// Describes the segments of `program`, in order.
pub fn describe(ir: &Ir, program: Op) -> Vec<SegmentInfo> {
    let extents = extent_table(ir, program);
    let ir = &report::without_phases(ir, program);
    let segments = ir
        .children(program)
        .into_iter()
        .filter(|&op| ir.is(op, &task::SEGMENT));
    segments
        .map(|segment| describe_segment(ir, segment, &extents))
        .collect()
}

fn describe_segment(ir: &Ir, segment: Op, extents: &ExtentTable) -> SegmentInfo {
    let walks =
        |op: &Op| ir.is(*op, &task::SWEEP) || ir.is(*op, &kernel::LAUNCH) || cost::is_call(ir, *op);
    let sweeps: Vec<Op> = ir.children(segment).into_iter().filter(walks).collect();
    let kind = match ir.str_of(segment, "kind") {
        Some("view") => SegmentKind::View,
        Some("library") => SegmentKind::Library,
        _ => SegmentKind::Kernel,
    };
    let mut values = Vec::new();
    let mut read = Vec::new();
    let mut seen = Vec::new();
    for &sweep in &sweeps {
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
            if !seen.contains(&value) {
                seen.push(value);
                values.push(crossing(ir, value, Direction::Read, bytes));
            }
        }
    }
    let results = if kind == SegmentKind::View {
        &[]
    } else {
        ir.results(segment)
    };
    let written: Vec<SizeExpr> = results
        .iter()
        .map(|&v| stored_bytes(ir, v, extents))
        .collect();
    for (&value, bytes) in results.iter().zip(&written) {
        values.push(crossing(ir, value, Direction::Write, bytes.clone()));
    }
    SegmentInfo {
        name: ir.symbol_name(segment).unwrap_or("segment").to_string(),
        kind,
        ops: count_ops(ir, segment),
        sweeps: sweeps.len() as u32,
        read_bytes: SizeExpr::sum(read),
        write_bytes: SizeExpr::sum(written),
        values,
    }
}

fn crossing(ir: &Ir, value: Value, direction: Direction, bytes: SizeExpr) -> SegmentValue {
    SegmentValue {
        name: ir.value_name(value).unwrap_or("value").to_string(),
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
    ir.walk(segment).iter().filter(counts).count() as u32
}
