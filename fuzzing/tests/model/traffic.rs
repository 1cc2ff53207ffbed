//! The bytes that each segment of a lowered program moves when its launches and copies execute, and its launches, for
//! comparison with those that the model counts.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use fuser::compile::{self, CompileOptions, Lowered};
use fuser_artifact::{Artifact, BufferKind, Factor, SizeExpr, Step};
use fuser_dialects::task::calls;
use fuser_dialects::{kernel, task};
use fuser_ir::def::Computes;
use fuser_ir::types::Extent;
use fuser_ir::{Ir, Op, TypeKind, Value};
use fuser_pass::{Remark, RemarkValue};
use fuser_passes::cost::{Bindings, Copies, Kind, Model, Objective, plan_ops};
use fuser_passes::{FRONT, report};

use super::touched::touched;

/// Bytes that lowering adds to an allocation that is a multiple of a page.
const STAGGER: u64 = 192;

/// Bytes and launches of one segment.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Bytes {
    pub read: u64,
    /// The bytes read, including elements between touched ones in the same lines.
    pub lines: u64,
    pub written: u64,
    pub workspace: u64,
    /// The bytes of workspace read, including elements between touched ones in the same lines.
    pub workspace_lines: u64,
    /// Bytes of elements kept in fast memory: of the most demanding sweep, or kernel.
    pub resident: u64,
    pub launches: u64,
    /// Indices that innermost loops run through; no plan counts them.
    pub steps: u64,
}

impl Bytes {
    /// True if these counts agree with `moved`: bytes read are between the touched elements and their lines, all else
    /// is equal.
    pub fn counts(&self, moved: &Bytes) -> bool {
        let exact = |bytes: &Bytes| (bytes.written, bytes.launches);
        exact(self) == exact(moved)
            && (moved.read..=moved.lines).contains(&self.read)
            && (moved.workspace..=moved.workspace_lines).contains(&self.workspace)
    }
    /// Like [`Bytes::counts`], for the report of a run, which does not give the workspace.
    pub fn tells(&self, moved: &Bytes) -> bool {
        let told = Bytes {
            workspace: moved.workspace,
            launches: moved.launches,
            ..*self
        };
        told.counts(moved)
    }
}

/// The bytes of each segment, by name.
pub type Segments = BTreeMap<String, Bytes>;

/// The bytes that the report counts of each segment that is a kernel, and its plan of the workspace.
pub fn counted(ir: &Ir, program: Op, model: &Model) -> Segments {
    let report = report::report(ir, program, model);
    let kernels = report.segments.iter().filter(|s| s.kind != "view");
    let mut list = Segments::new();
    for segment in kernels {
        let bytes = Bytes {
            read: segment.read_bytes.number().unwrap_or(u64::MAX),
            written: segment.write_bytes.number().unwrap_or(u64::MAX),
            ..Bytes::default()
        };
        list.insert(segment.name.clone(), bytes);
    }
    for segment in ir.children(program) {
        let Some(bytes) = ir.symbol_name(segment).and_then(|name| list.get_mut(name)) else {
            continue;
        };
        let mut ops = ir.children(segment);
        ops.retain(|&op| !ir.is(op, &task::YIELD));
        if let Ok(plan) = plan_ops(ir, &ops, model, &Copies::default()) {
            bytes.workspace = plan.cost.workspace_bytes;
            bytes.launches = plan.cost.launches;
            let allocated = plan.sweeps.iter().map(|s| s.allocated);
            bytes.resident = allocated.max().unwrap_or(0);
        }
    }
    list
}

/// The bytes that the report of a run gives for each segment.
fn told(artifact: &Artifact, extents: &[i64]) -> Segments {
    let mut list = Segments::new();
    for info in &artifact.segments {
        let bytes = list.entry(info.name.clone()).or_default();
        let number = |bytes: &SizeExpr| bytes.evaluate_size(extents).unwrap() as u64;
        bytes.read += number(&info.read_bytes);
        bytes.written += number(&info.write_bytes);
    }
    list
}

/// The bytes that each segment moves, or the reason why they cannot be determined.
pub fn moved(ir: &Ir, program: Op, lowered: &Lowered, extents: &[i64]) -> Result<Segments, String> {
    let artifact = &lowered.artifact;
    let launches = ir.walk(program).into_iter();
    let mut launches = launches.filter(|&op| ir.is(op, &kernel::LAUNCH));
    let callee = |op| Some(ir.str(calls::symbol(ir, op, "callee")?));
    let called: BTreeSet<Option<&str>> = launches.clone().map(callee).collect();
    let mut list = Segments::new();
    for step in &artifact.steps {
        let name = artifact.segments[step.segment() as usize].name.clone();
        let bytes = list.entry(name).or_default();
        match step {
            // A product that is a kernel: it reads its factors once, and writes its result.
            Step::Launch {
                kernel, buffers, ..
            } if lowered.launched.funcs.len() <= *kernel as usize => {
                bytes.launches += 1;
                let size = |b: &u32| artifact.buffers[*b as usize].bytes();
                let number = |b: &u32| size(b).evaluate_size(extents).unwrap() as u64;
                let [factors @ .., result] = &buffers[..] else {
                    return Err("a product without buffers".into());
                };
                // Both may be one tensor.
                let factors: BTreeSet<&u32> = factors.iter().collect();
                let read: u64 = factors.into_iter().map(number).sum();
                bytes.read += read;
                bytes.lines += read;
                bytes.written += number(result);
            }
            Step::Launch {
                kernel,
                buffers,
                extents: own,
                ..
            } => {
                bytes.launches += 1;
                let func = lowered.launched.funcs[*kernel as usize];
                if !called.contains(&ir.symbol_name(func)) {
                    return Err("a loop in a kernel".into());
                }
                let launch = launches.next().ok_or("a step has no launch")?;
                let own: Vec<i64> = own.iter().map(|e| e.evaluate(extents).unwrap()).collect();
                // A word for each place is no traffic.
                let counts = |b: &&u32| artifact.buffers[**b as usize].kind == BufferKind::Counts;
                let buffers: Vec<u32> = buffers.iter().filter(|b| !counts(b)).copied().collect();
                let length = |&b: &u32| elements(artifact, b, extents);
                let lengths: Vec<u64> = buffers.iter().map(length).collect();
                let tiles = tiles(ir, func, &own).ok_or("an allocation of unknown size")?;
                bytes.resident = bytes.resident.max(tiles);
                let touched = touched(ir, func, &lengths, &own)
                    .map_err(|told| format!("{}: {told}", ir.symbol_name(func).unwrap_or("?")))?;
                bytes.steps += touched.steps;
                let inputs = ir.operand_count(launch);
                for (number, buffer) in buffers.into_iter().enumerate() {
                    let value = match number.checked_sub(inputs) {
                        None => ir.operand(launch, number),
                        Some(result) => ir.result(launch, result),
                    };
                    // A scalar travels as a kernel argument.
                    if ir.value_kind(value).as_tensor().is_none() {
                        continue;
                    }
                    let element = artifact.buffers[buffer as usize].dtype.bytes() as u64;
                    let read = &touched.loaded[number];
                    let loaded = read.count() * element;
                    let stored = touched.stored[number].count() * element;
                    let lines = match read.is_plain() {
                        true => loaded,
                        false => read.in_lines().max(touched.gathered(number)) * element,
                    };
                    match is_workspace(artifact, buffer) {
                        true => {
                            bytes.workspace += loaded + stored;
                            bytes.workspace_lines += lines + stored;
                        }
                        false => {
                            bytes.read += loaded;
                            bytes.lines += lines;
                            bytes.written += stored;
                        }
                    }
                }
            }
            Step::Copy { from, elements, .. } => {
                let element = artifact.buffers[*from as usize].dtype.bytes() as u64;
                let copied = elements.evaluate(extents).unwrap() as u64 * element;
                bytes.read += copied;
                bytes.lines += copied;
                bytes.written += copied;
            }
            Step::Fill { .. } => return Err("a fill".into()),
            Step::Turn { .. } | Step::Jump { .. } => return Err("a loop".into()),
            Step::Product { tensors, added, .. } => {
                bytes.launches += 1;
                let size =
                    |factor: &Factor| artifact.buffers[factor.tensor.buffer as usize].bytes();
                let number = |bytes: SizeExpr| bytes.evaluate_size(extents).unwrap() as u64;
                let [left, right, result] = &**tensors;
                let twice = left.tensor.buffer == right.tensor.buffer;
                let twice = if twice { 0 } else { number(size(right)) };
                let third = added.as_deref().map_or(0, |added| number(size(added)));
                let read = number(size(left)) + twice + third;
                bytes.read += read;
                bytes.lines += read;
                bytes.written += number(size(result));
            }
            Step::Routine {
                routine, tensors, ..
            } => {
                bytes.launches += 1;
                let (taken, made) = tensors.split_at(routine.axes().0.len());
                let mut buffers: Vec<u32> = taken.iter().map(|f| f.tensor.buffer).collect();
                buffers.sort_unstable();
                buffers.dedup();
                let size = |buffer: u32| {
                    let bytes = artifact.buffers[buffer as usize].bytes();
                    bytes.evaluate_size(extents).unwrap() as u64
                };
                let read: u64 = buffers.into_iter().map(size).sum();
                bytes.read += read;
                bytes.lines += read;
                bytes.written += made.iter().map(|f| size(f.tensor.buffer)).sum::<u64>();
            }
            Step::Collective { from, to, .. } => {
                bytes.launches += 1;
                let size = |buffer: u32| {
                    let bytes = artifact.buffers[buffer as usize].bytes();
                    bytes.evaluate_size(extents).unwrap() as u64
                };
                let read = from.as_ref().map_or(0, |from| size(from.buffer));
                bytes.read += read;
                bytes.lines += read;
                bytes.written += size(to.buffer);
            }
            Step::Sort { tensors, .. } => {
                bytes.launches += 1;
                let [from, to] = tensors.each_ref().map(|factor| {
                    let bytes = artifact.buffers[factor.tensor.buffer as usize].bytes();
                    bytes.evaluate_size(extents).unwrap() as u64
                });
                bytes.read += from;
                bytes.lines += from;
                bytes.written += to;
            }
            Step::Scatter { .. } | Step::Attention { .. } => {
                let tensors: &[Factor] = match step {
                    Step::Scatter { tensors, .. } => &**tensors,
                    Step::Attention { tensors, .. } => tensors,
                    _ => &[],
                };
                bytes.launches += 1;
                let size =
                    |factor: &Factor| artifact.buffers[factor.tensor.buffer as usize].bytes();
                let number = |bytes: SizeExpr| bytes.evaluate_size(extents).unwrap() as u64;
                let [operands @ .., result] = tensors else {
                    continue;
                };
                let read: BTreeMap<u32, u64> = operands
                    .iter()
                    .map(|factor| (factor.tensor.buffer, number(size(factor))))
                    .collect();
                let read: u64 = read.values().sum();
                bytes.read += read;
                bytes.lines += read;
                bytes.written += number(size(result));
            }
        }
    }
    Ok(list)
}

fn elements(artifact: &Artifact, buffer: u32, extents: &[i64]) -> u64 {
    let elements = &artifact.buffers[buffer as usize].elements;
    elements.evaluate_size(extents).unwrap() as u64
}

/// True if only the steps of one segment know a buffer, or a part of it.
fn is_workspace(artifact: &Artifact, buffer: u32) -> bool {
    let whole = |buffer: u32| match artifact.buffers[buffer as usize].kind {
        BufferKind::Part { of, .. } => of,
        _ => buffer,
    };
    let buffer = whole(buffer);
    let uses = |step: &&Step| step.buffers().into_iter().any(|b| whole(b) == buffer);
    let users = artifact.steps.iter().filter(uses);
    let mut segments: Vec<u32> = users.map(Step::segment).collect();
    segments.dedup();
    let kind = artifact.buffers[buffer as usize].kind;
    matches!(kind, BufferKind::Temp { .. }) && segments.len() == 1
}

/// The options of a compile for the target of `model`, for the extents that it binds.
pub fn options(ir: &Ir, program: Op, model: &Model) -> CompileOptions {
    let names = model.bindings.named.iter();
    let few = FRONT.replace(",segment,", ",segment{objective=kernels},");
    CompileOptions {
        passes: (model.objective == Objective::Kernels).then_some(few),
        target: model.target,
        program: ir.symbol_name(program).map(str::to_owned),
        shapes: names
            .map(|(&name, &n)| (ir.str(name).to_owned(), n))
            .collect(),
        ..CompileOptions::default()
    }
}

/// A segment: the counts of the plan, those of the report of a run, and the bytes moved.
pub struct Row {
    pub name: String,
    /// None where no plan has it: a copy, or a part of a segment that was cut.
    pub planned: Option<Bytes>,
    pub told: Bytes,
    pub moved: Bytes,
    /// Elements of operands and results, summed over the ops of all phases of its sweeps.
    pub elements: u64,
    /// Bytes that its sweeps keep through loops besides.
    pub hoisted: u64,
    /// The reason that it was scheduled by another plan.
    pub given_up: Option<String>,
}

/// The comparison of a program, segment by segment.
pub enum Compared {
    Segments(Vec<Row>),
    /// The reason that there is nothing to compare.
    Not(String),
}

pub fn compare(ir: &Ir, module: Op, program: Op, model: &Model) -> Compared {
    let options = options(ir, program, model);
    let run = |until: &str| {
        let mut copy = ir.clone();
        compile::keep_only(&mut copy, module, program);
        let pipeline = compile::pipeline(&options).unwrap();
        let pipeline = pipeline.up_to(until).unwrap();
        let verify = fuser_ir::verify::verify;
        let report = fuser_pass::manager::run_pipeline(&mut copy, module, &pipeline, verify);
        (copy, report)
    };
    let (drawn, report) = run("remat");
    if !report.ok() {
        return Compared::Not("no segments".into());
    }
    let planned = counted(&drawn, program, model);
    let (scheduled, scheduling) = run("schedule");
    let remarks = scheduling.remarks;
    let of_ops = of_ops(&scheduled, program, model);
    let mut back = ir.clone();
    let Ok(lowered) = compile::lower(&mut back, module, &options) else {
        return Compared::Not("no kernels".into());
    };
    let given = |name: &String| options.shapes.get(name).map(|&n| n as i64);
    let extents: Option<Vec<i64>> = lowered.artifact.extents.iter().map(given).collect();
    let Some(extents) = extents else {
        return Compared::Not("an extent is not given".into());
    };
    let told = told(&lowered.artifact, &extents);
    let moved = match moved(&back, program, &lowered, &extents) {
        Ok(moved) => moved,
        Err(why) => return Compared::Not(why),
    };
    let mut names: Vec<&String> = planned.keys().chain(moved.keys()).collect();
    names.sort();
    names.dedup();
    // A call is no plan of loops, also where it became kernels of its own (`lower-calls`).
    let calls = calls(&drawn, program);
    names.retain(|name| !calls.contains(*name));
    let of = |list: &Segments, name: &String| list.get(name).copied().unwrap_or_default();
    let other = |name: &String| {
        let own = |r: &&Remark| {
            let mut words = r.message.split([' ', ',']);
            words.any(|word| word == format!("@{name}"))
        };
        let told = lowered.other_plans.iter().find(own);
        told.map(|r| format!("{}: {}", r.message, r.reason.as_deref().unwrap_or_default()))
    };
    let row = |name: &String| Row {
        name: name.clone(),
        planned: planned.get(name).copied(),
        told: of(&told, name),
        moved: of(&moved, name),
        elements: of_ops.get(name).copied().unwrap_or_default(),
        hoisted: kept_through_loops(&remarks, name),
        given_up: other(name),
    };
    Compared::Segments(names.into_iter().map(row).collect())
}

/// The names of segments that are calls.
fn calls(ir: &Ir, program: Op) -> Vec<String> {
    let segments = ir.children(program).into_iter();
    let calls = segments.filter(|&op| ir.str_of(op, "kind") == Some(Kind::Library.name()));
    let names = calls.filter_map(|op| ir.symbol_name(op).map(str::to_owned));
    names.collect()
}

/// The elements of operands and results of the ops of each segment, counted once per sweep that has them, and results
/// once per worker with partial results; and a tile for each sweep.
fn of_ops(ir: &Ir, program: Op, model: &Model) -> BTreeMap<String, u64> {
    let elements = |value: Value| {
        let dims = ir.value_kind(value).as_tensor().into_iter();
        let lengths = dims.flat_map(|t| &t.dims);
        let lengths = lengths.map(|d| model.bindings.extent(ir, d.extent));
        lengths.product::<u64>()
    };
    let mut list = BTreeMap::new();
    for segment in ir.children(program) {
        let name = ir.symbol_name(segment).unwrap_or_default().to_owned();
        let sum: &mut u64 = list.entry(name).or_default();
        for sweep in ir.children(segment) {
            let partials = ir.int_of(sweep, "partials").unwrap_or(1).max(1) as u64;
            // The value that a scan carries from tile to tile starts as a whole tile.
            *sum += model.target.tile;
            for op in ir.walk(sweep) {
                // Sweeps and phases pass on results of ops.
                if !ir.name(op).starts_with("task.") {
                    *sum += ir.operands(op).map(elements).sum::<u64>();
                    let results = ir.results(op).iter();
                    *sum += partials * results.map(|&v| elements(v)).sum::<u64>();
                }
            }
        }
    }
    list
}

/// The bytes that remarks say are kept through loops of a segment.
fn kept_through_loops(remarks: &[Remark], segment: &str) -> u64 {
    let arg = |remark: &Remark, name: &str| {
        let mut args = remark.args.iter();
        args.find(|(key, _)| *key == name).map(|a| a.1.clone())
    };
    let bytes = remarks.iter().map(|remark| {
        let own = arg(remark, "Segment") == Some(RemarkValue::Text(segment.into()));
        match arg(remark, "TileBytes").filter(|_| own) {
            Some(RemarkValue::Int(bytes)) => bytes as u64,
            _ => 0,
        }
    });
    bytes.sum()
}

/// The memory of groups that share the rows of a block (`share-rows`), and of the totals of sums in blocks, which the end
/// of a block alone touches.
const APART: [&str; 3] = ["own", "parts", "totals"];

/// The bytes of all elements that a kernel keeps, in any memory, in a launch with these extents: its allocations,
/// without padding, without memory for exchanges between groups of threads, as warps need none, and without totals.
fn tiles(ir: &Ir, func: Op, extents: &[i64]) -> Option<u64> {
    let body = ir.body(func, 0)?;
    let scalar = |v: &&Value| matches!(ir.value_kind(**v), TypeKind::Scalar(_));
    let parameters = ir.args(body).iter().filter(scalar).copied();
    let mut known: HashMap<Value, i64> = parameters.zip(extents.iter().copied()).collect();
    let mut sum = 0;
    for op in ir.block_ops(body) {
        if ir.is(op, &kernel::ALLOC) {
            let name = ir.value_name(ir.result(op, 0));
            if name.is_some_and(|name| APART.contains(&name)) {
                continue;
            }
            let TypeKind::MemRef { dims, dtype, .. } = ir.value_kind(ir.result(op, 0)) else {
                return None;
            };
            let elements = match dims[..] {
                [Extent::Static(n)] => n,
                _ => known.get(&ir.operand(op, 0)).copied()?.max(0) as u64,
            };
            let bytes = elements * dtype.bytes();
            let staggered = bytes > STAGGER && (bytes - STAGGER).is_multiple_of(4096);
            sum += bytes - if staggered { STAGGER } else { 0 };
        } else if let Some(value) = index(ir, op, &known) {
            known.insert(ir.result(op, 0), value);
        }
    }
    Some(sum)
}

/// The index that an op of an entry block computes.
fn index(ir: &Ir, op: Op, known: &HashMap<Value, i64>) -> Option<i64> {
    let computes = ir.computes(op)?;
    if computes == Computes::Constant {
        return ir.int_of(op, "value");
    }
    let of: Option<Vec<i64>> = ir.operands(op).map(|v| known.get(&v).copied()).collect();
    let [a, b] = of?[..] else { return None };
    match computes {
        Computes::Add => a.checked_add(b),
        Computes::Sub => a.checked_sub(b),
        Computes::Mul => a.checked_mul(b),
        Computes::Div => a.checked_div(b),
        Computes::Rem => a.checked_rem(b),
        Computes::Min => Some(a.min(b)),
        Computes::Max => Some(a.max(b)),
        _ => None,
    }
}

/// The lengths that the named extents of a program get.
pub fn bindings(ir: &mut Ir, program: Op, known: &BTreeMap<String, u64>, other: u64) -> Bindings {
    let names = compile::plan::extent_names(ir, program);
    let named = names.iter().map(|name| {
        let length = known.get(name).copied().unwrap_or(other);
        (ir.sym(name), length)
    });
    Bindings {
        named: named.collect(),
        nominal: other,
        ..Bindings::default()
    }
}
