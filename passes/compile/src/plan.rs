//! The launch plan of a lowered program: buffers, steps, lifetimes.
//!
//! Reads a `task.program` whose segments contain `kernel.launch` ops and views, and writes all parts of an artifact
//! except machine code. A view (an op that keeps the stored elements) shares the buffer of its operand, even if both
//! are returned, or if the operand is an input. A result that is a view therefore needs neither a step nor memory.
//!
//! A result that overwrites an input lives in that input's buffer. If it is marked `in_place` (see `protect-updates`),
//! its kernel writes there. Otherwise the last steps copy it there, after saving all returned values of the old
//! contents.
//!
//! Guarantees: steps are in program order, buffers in the order of first use. Reads from a kernel only the sizes that
//! its entry block computes.

use fuser_artifact::{
    Artifact, BufferKind, BufferSpec, Combine, Direction, Factor, GpuProduct, SegmentInfo,
    SegmentKind, SegmentValue, SizeExpr, Step, Target, TensorSpec, Window,
};
use fuser_dialects::fusion::window::is_placed;
use fuser_dialects::fusion::{attention, convolution};
use fuser_dialects::kernel::product::Product;
use fuser_dialects::task::{packed, pairs, updates};
use fuser_dialects::{kernel, task};
use fuser_ir::def::OpClass;
use fuser_ir::maps::{Index, Map};
use fuser_ir::print::clean;
use fuser_ir::types::ExtentExpr;
use fuser_ir::{AttrKind, DType, Ir, Op, TypeId, TypeKind, Value, layout};
use fuser_passes::cost::{Bindings, is_call, keeps_memory};
use fuser_passes::executors::{self, Adds};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;

mod control;
mod parts;

use super::segments::Described;
use super::size::{ExtentTable, kernel_sizes};
use super::{CompileOptions, mesh, product, routines};

/// The maximum number of steps of a program with loops. Loops that name one program twice can double the number at each
/// nesting level.
const MAX_STEPS: usize = 1 << 16;

/// The reason that no plan can be made: an op and a sentence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlanError {
    /// The op at fault.
    pub op: Op,
    /// The message.
    pub message: String,
    /// Advice on the correction.
    pub help: String,
}

/// Creates the plan of `program`. Kernels are identified by symbol, in the order of `kernels`, followed by the products
/// that are GPU kernels. Their code is added later.
pub fn plan_program(
    ir: &Ir,
    program: Op,
    kernels: &[Op],
    segments: Described,
    target: Target,
    options: &CompileOptions,
) -> Result<(Artifact, Vec<Product>), PlanError> {
    let name = ir.symbol_name(program).unwrap_or("main").to_string();
    let (program, mesh) = match mesh::part(ir, program)? {
        Some((part, mesh)) => (part, Some(mesh)),
        None => (program, None),
    };
    let mut planner = Planner {
        ir,
        kernels,
        kernel_of: kernels_by_name(ir, kernels),
        extents: extent_table(ir, program),
        artifact: Artifact::new(name, target),
        buffer_of: FxHashMap::default(),
        placed: FxHashMap::default(),
        parts: FxHashMap::default(),
        wholes: FxHashMap::default(),
        buffer_names: FxHashSet::default(),
        segment: 0,
        described: segments,
        base: 0,
        arguments: Vec::new(),
        times: 1,
        loops: Vec::new(),
        products: Vec::new(),
        options,
    };
    planner.artifact.extents = planner.extents.names();
    planner.artifact.mesh = mesh;
    planner.rows(program, "");
    planner.inputs(program)?;
    let homes = planner.in_place(program);
    planner.place(program, homes);
    let end = planner.body(program)?;
    planner.outputs(program, end)?;
    planner.lifetimes();
    Ok((planner.artifact, planner.products))
}

fn kernels_by_name<'a>(ir: &'a Ir, kernels: &[Op]) -> FxHashMap<&'a str, usize> {
    let named = kernels.iter().enumerate().rev();
    let named = named.filter_map(|(at, &kernel)| Some((ir.symbol_name(kernel)?, at)));
    named.collect()
}

/// The attribute of a program that lists extents which occur in no input. The caller gives their values.
pub const GIVEN_EXTENTS: &str = "task.extents";

/// The named extents of a program: those that its callers give, and those of its inputs' types.
pub fn extent_names(ir: &Ir, program: Op) -> Vec<String> {
    let args = ir
        .body(program, 0)
        .map(|b| ir.args(b).to_vec())
        .unwrap_or_default();
    let mut names = given_extents(ir, program);
    for arg in args {
        let TypeKind::Tensor(tensor) = ir.value_kind(arg) else {
            continue;
        };
        for dim in &tensor.dims {
            let Some(expr) = ir.extent_as_expr(dim.extent) else {
                continue;
            };
            names.extend(
                expr.terms
                    .iter()
                    .flat_map(|(n, _)| n)
                    .map(|&n| ir.str(n).to_string()),
            );
        }
    }
    // Callers give the whole.
    let halves = halves(ir, program);
    let whole = |name: String| {
        let half = halves.iter().find(|(half, _)| *half == name);
        half.map_or(name, |(_, whole)| whole.clone())
    };
    names.into_iter().map(whole).collect()
}

/// The named extents of a program, and their halves.
pub fn extent_table(ir: &Ir, program: Op) -> ExtentTable {
    ExtentTable::new(extent_names(ir, program), halves(ir, program))
}

/// The names of extents that are halves of others, each with the other.
fn halves(ir: &Ir, program: Op) -> Vec<(String, String)> {
    let pairs = packed::halves(ir, program).into_iter();
    let text = |name| ir.str(name).to_string();
    pairs
        .map(|(half, whole)| (text(half), text(whole)))
        .collect()
}

fn given_extents(ir: &Ir, program: Op) -> Vec<String> {
    let Some(AttrKind::Array(items)) = ir.attr_of(program, GIVEN_EXTENTS) else {
        return Vec::new();
    };
    let names = items
        .iter()
        .filter_map(|&item| ir.attr_kind(item).as_string());
    names.map(|name| ir.str(name).to_string()).collect()
}

/// The name of output `index`, also used for files. A value that is only numbered gets the name `out` with its index.
pub fn output_name(ir: &Ir, value: Value, index: usize) -> String {
    let name = ir.value_name(value).filter(|_| !ir.is_numbered(value));
    name.map_or_else(|| format!("out{index}"), clean)
}

/// The axes of a tensor in storage order, outermost first; empty for row-major.
pub fn memory_order(ir: &Ir, value: Value) -> Vec<u32> {
    match ir.value_kind(value).as_tensor() {
        Some(tensor) if !layout::is_row_major(ir, tensor) => {
            let order = layout::order(ir, tensor).into_iter();
            order.map(|axis| axis as u32).collect()
        }
        _ => Vec::new(),
    }
}

struct Planner<'a> {
    ir: &'a Ir,
    kernels: &'a [Op],
    /// The first position of each name in `kernels`.
    kernel_of: FxHashMap<&'a str, usize>,
    extents: ExtentTable,
    artifact: Artifact,
    buffer_of: FxHashMap<Value, u32>,
    /// The buffers of values that launches write over an input.
    placed: FxHashMap<Value, u32>,
    /// The values that are written where they lie in the result of a placed cat: the cat, and the first element.
    parts: FxHashMap<Value, (Op, u64)>,
    /// The buffers of placed cats, some parts of which may be there.
    wholes: FxHashMap<Op, u32>,
    /// The names of all buffers so far.
    buffer_names: FxHashSet<String>,
    segment: u32,
    described: Described,
    /// The first segment of the program at hand.
    base: u32,
    /// The buffers of its arguments.
    arguments: Vec<u32>,
    /// The turns of all loops around it whose number is known.
    times: i64,
    /// The steps of each loop: the first one, and the one after the last.
    loops: Vec<(u32, u32)>,
    /// The products that are kernels.
    products: Vec<Product>,
    options: &'a CompileOptions,
}

impl Planner<'_> {
    fn error<T>(&self, op: Op, message: impl Into<String>, help: &str) -> Result<T, PlanError> {
        Err(PlanError {
            op,
            message: message.into(),
            help: help.to_string(),
        })
    }
    fn inputs(&mut self, program: Op) -> Result<(), PlanError> {
        let args = self
            .ir
            .body(program, 0)
            .map(|b| self.ir.args(b).to_vec())
            .unwrap_or_default();
        for (index, arg) in args.into_iter().enumerate() {
            let name = self.name_of(arg, &format!("arg{index}"));
            let buffer = self.new_buffer(program, arg, &name, BufferKind::Input(index as u32))?;
            let spec = self.tensor_spec(program, arg, name, buffer)?;
            let ty = self.ir.value_type(arg);
            let spec = self.outside(program, pairs::LISTS[0], index, ty, spec);
            self.artifact.inputs.push(spec);
            self.arguments.push(buffer);
        }
        Ok(())
    }
    /// Results that are written in place, each as the value that a kernel makes and the buffer of the input that it
    /// overwrites.
    fn in_place(&self, program: Op) -> Vec<(Value, u32)> {
        let end = self.ir.body(program, 0).and_then(|b| self.ir.terminator(b));
        let returned = end.into_iter().flat_map(|end| self.ir.operands(end));
        let home = |(index, value): (usize, Value)| {
            let buffer = self.overwritten(program, index)?;
            let marked = updates::is_in_place(self.ir, program, index);
            let made = self.source(value);
            let written = self.ir.def_op(made).is_some_and(|op| {
                let class = self.ir.def(op).map(|d| d.class);
                let updates = matches!(class, Some(OpClass::Scatter | OpClass::Contraction));
                self.ir.is(op, &kernel::LAUNCH) || updates
            });
            (marked && written).then_some((made, buffer))
        };
        returned.enumerate().filter_map(home).collect()
    }
    /// Assigns values of a program to the buffers that they are written to; of several for one value the first. A
    /// program that runs in several places is planned several times, each time on other buffers.
    fn place(&mut self, program: Op, homes: Vec<(Value, u32)>) {
        for op in self.ir.walk(program) {
            for result in self.ir.results(op) {
                self.placed.remove(result);
            }
        }
        for (made, buffer) in homes {
            if let Entry::Vacant(home) = self.placed.entry(made) {
                home.insert(buffer);
                self.updates(buffer);
            }
        }
    }
    /// The value whose memory `value` is, looking through segments and views.
    fn source(&self, mut value: Value) -> Value {
        while let Some(op) = self.ir.def_op(value) {
            let through = if self.ir.is(op, &task::SEGMENT) {
                let index = self.ir.results(op).iter().position(|&r| r == value);
                let end = self.ir.body(op, 0).and_then(|b| self.ir.terminator(b));
                index
                    .zip(end)
                    .and_then(|(i, end)| self.ir.operands(end).nth(i))
            } else if keeps_memory(self.ir, op) {
                Some(self.ir.operand(op, 0))
            } else {
                None
            };
            match through {
                Some(next) => value = next,
                None => break,
            }
        }
        value
    }
    fn name_of(&self, value: Value, fallback: &str) -> String {
        self.ir.value_name(value).unwrap_or(fallback).to_string()
    }
    fn tensor_spec(
        &self,
        op: Op,
        value: Value,
        name: String,
        buffer: u32,
    ) -> Result<TensorSpec, PlanError> {
        let dtype = dtype(self.ir, value);
        let dims = match self.ir.value_kind(value) {
            TypeKind::Tensor(tensor) => self.extents.dims(self.ir, &tensor.dims),
            _ => Some(Vec::new()),
        };
        match dims {
            Some(dims) => Ok(TensorSpec {
                name,
                dtype,
                dims,
                order: memory_order(self.ir, value),
                buffer,
            }),
            None => {
                let value = match self.ir.value_name(value) {
                    Some(name) => format!("'%{name}'"),
                    None => format!("'{name}', which has no name in the program,"),
                };
                self.error(
                    op,
                    format!("an extent of {value} is not a function of the program's inputs"),
                    "let it occur in the type of an input, or in the program's 'task.extents'",
                )
            }
        }
    }
    /// An input or output from the caller's point of view: pairs of reals are complex numbers, and bytes with two
    /// elements each are unpacked.
    fn outside(
        &self,
        program: Op,
        list: &str,
        index: usize,
        ty: TypeId,
        spec: TensorSpec,
    ) -> TensorSpec {
        if let Some(axis) = packed::marked_axis(self.ir, program, list, index) {
            return self.unpacked(ty, axis, spec);
        }
        if !pairs::is_marked(self.ir, program, list, index) {
            return spec;
        }
        let last = spec.dims.len().saturating_sub(1);
        TensorSpec {
            dtype: spec.dtype.complex().unwrap_or(spec.dtype),
            dims: spec.dims[..last].to_vec(),
            order: spec
                .order
                .into_iter()
                .filter(|&axis| axis as usize != last)
                .collect(),
            ..spec
        }
    }
    fn unpacked(&self, ty: TypeId, axis: usize, mut spec: TensorSpec) -> TensorSpec {
        let Some((bytes, order)) = packed::outside(self.ir, ty, axis) else {
            return spec;
        };
        let bytes = self.ir.extent_as_expr(bytes);
        let elements = bytes.and_then(|expr| expr.mul(&ExtentExpr::constant(2)));
        let elements = elements.and_then(|expr| self.extents.polynomial(self.ir, &expr));
        if let Some((dim, extent)) = spec.dims.get_mut(axis).zip(elements) {
            dim.extent = extent;
        }
        spec.dtype = convert(packed::DTYPE);
        spec.order.clear();
        if !order.is_sorted() {
            spec.order = order.into_iter().map(|axis| axis as u32).collect();
        }
        spec
    }
    fn new_buffer(
        &mut self,
        op: Op,
        value: Value,
        name: &str,
        kind: BufferKind,
    ) -> Result<u32, PlanError> {
        let spec = self.tensor_spec(op, value, name.to_string(), 0)?;
        let buffer = self.artifact.buffers.len() as u32;
        let name = self.unique_name(name, buffer);
        self.buffer_names.insert(name.clone());
        self.artifact.buffers.push(BufferSpec {
            name,
            dtype: spec.dtype,
            elements: spec.stored_elements(),
            kind,
        });
        self.buffer_of.insert(value, buffer);
        Ok(buffer)
    }
    fn unique_name(&self, name: &str, number: u32) -> String {
        if self.buffer_names.contains(name) {
            format!("{name}.{number}")
        } else {
            name.to_string()
        }
    }
    /// Notes that a buffer is written, where it is that of an input.
    fn updates(&mut self, buffer: u32) {
        if let BufferKind::Input(input) = self.artifact.buffers[buffer as usize].kind {
            self.artifact.updates.push(input);
        }
    }
    /// Adds the rows of a program's segments to the report, with `prefix` before their names and the bytes of all
    /// turns.
    fn rows(&mut self, program: Op, prefix: &str) {
        self.base = self.artifact.segments.len() as u32;
        let rows = self.described.get(&program).into_iter().flatten();
        let row = |row: &SegmentInfo| {
            let mut row = row.clone();
            row.name = format!("{prefix}{}", row.name);
            if self.times != 1 {
                let all = |bytes: &SizeExpr| bytes.clone() * SizeExpr::constant(self.times);
                row.read_bytes = all(&row.read_bytes);
                row.write_bytes = all(&row.write_bytes);
                row.values
                    .iter_mut()
                    .for_each(|value| value.bytes = all(&value.bytes));
            }
            row
        };
        self.artifact
            .segments
            .extend(rows.map(row).collect::<Vec<_>>());
    }
    /// The steps of a program; its terminator.
    fn body(&mut self, program: Op) -> Result<Op, PlanError> {
        let mut next_segment = self.base;
        self.place_parts(program);
        for op in self.ir.children(program) {
            if self.artifact.steps.len() > MAX_STEPS {
                return self.error(
                    op,
                    format!("the loops and branches of the program make more than {MAX_STEPS} steps"),
                    "let fewer of them name one program: its steps are written out for each of them",
                );
            }
            if self.ir.is(op, &task::SEGMENT) {
                self.segment = next_segment;
                next_segment += 1;
                self.segment(op)?;
            } else if self.ir.is(op, &task::RETURN) {
                return Ok(op);
            } else if self.ir.is(op, &kernel::LAUNCH) {
                self.own_launch(op)?;
            } else {
                self.step(op)?;
            }
        }
        self.error(program, "a program has no end", "end it in `task.return`")
    }
    /// Plans a launch outside of any segment, which occurs in hand-written programs. Reports show it as a segment of
    /// its own.
    fn own_launch(&mut self, op: Op) -> Result<(), PlanError> {
        self.segment = self.artifact.segments.len() as u32;
        self.step(op)?;
        let crossing = |direction, values: Vec<Value>| {
            let value = |value| {
                let buffer = self.buffer(op, value)?;
                Ok(SegmentValue {
                    name: self.name_of(value, "value"),
                    direction,
                    bytes: self.artifact.buffers[buffer as usize].bytes(),
                })
            };
            values.into_iter().map(value).collect::<Result<Vec<_>, _>>()
        };
        let read = crossing(Direction::Read, self.ir.operands(op).collect())?;
        let written = crossing(Direction::Write, self.ir.results(op).to_vec())?;
        let bytes = |list: &[SegmentValue]| SizeExpr::sum(list.iter().map(|v| v.bytes.clone()));
        self.artifact.segments.push(SegmentInfo {
            name: format!("launch_{}", self.segment),
            label: String::new(),
            kind: SegmentKind::Kernel,
            ops: 1,
            sweeps: 1,
            read_bytes: bytes(&read),
            write_bytes: bytes(&written),
            values: read.into_iter().chain(written).collect(),
        });
        Ok(())
    }
    fn segment(&mut self, segment: Op) -> Result<(), PlanError> {
        for op in self.ir.children(segment) {
            if self.ir.is(op, &task::YIELD) {
                let values: Vec<Value> = self.ir.operands(op).collect();
                for (&result, value) in self.ir.results(segment).iter().zip(values) {
                    let buffer = self.buffer(op, value)?;
                    self.buffer_of.insert(result, buffer);
                }
            } else {
                self.step(op)?;
            }
        }
        Ok(())
    }
    fn buffer(&self, op: Op, value: Value) -> Result<u32, PlanError> {
        match self.buffer_of.get(&value) {
            Some(&buffer) => Ok(buffer),
            None => self.error(
                op,
                "a value has no memory",
                "put the op that makes it into a segment: with '--passes' the list must have 'segment'",
            ),
        }
    }
    fn step(&mut self, op: Op) -> Result<(), PlanError> {
        if self.ir.is(op, &kernel::LAUNCH) {
            return self.launch(op);
        }
        if keeps_memory(self.ir, op) {
            let buffer = self.buffer(op, self.ir.operand(op, 0))?;
            self.buffer_of.insert(self.ir.result(op, 0), buffer);
            return Ok(());
        }
        if self.ir.is(op, &task::LOOP) {
            return self.turns(op);
        }
        if self.ir.is(op, &task::IF) {
            return self.branch(op);
        }
        if is_call(self.ir, op) {
            return self.call(op);
        }
        let name = self.ir.name(op).to_string();
        self.error(
            op,
            format!("'{name}' is not part of any kernel"),
            "put it into a segment: with '--passes' the list must have 'segment', as in '--passes=canonicalize,segment'",
        )
    }
    fn launch(&mut self, op: Op) -> Result<(), PlanError> {
        let callee = match self.ir.attr_of(op, "callee") {
            Some(AttrKind::SymbolRef(path)) => path
                .last()
                .map(|&s| self.ir.str(s).to_string())
                .unwrap_or_default(),
            _ => String::new(),
        };
        let Some(&position) = self.kernel_of.get(callee.as_str()) else {
            return self.error(
                op,
                format!("there is no kernel '@{callee}'"),
                "declare it in the same module",
            );
        };
        let mut buffers = Vec::new();
        for operand in self.ir.operands(op) {
            buffers.push(self.buffer(op, operand)?);
        }
        for (i, &result) in self.ir.results(op).iter().enumerate() {
            buffers.push(self.result_buffer(op, result, &format!("{callee}.{i}"))?);
        }
        let extents = self.launch_extents(op)?;
        let func = self.kernels[position];
        let gpu = !self.artifact.target.is_cpu();
        let Some(sizes) = kernel_sizes(self.ir, func, &extents, gpu) else {
            return self.error(
                func,
                "its grid or scratch size is not a function of its extents",
                "compute both in the entry block",
            );
        };
        if let Some(elements) = sizes.counts {
            let number = self.artifact.buffers.len() as u32;
            let name = self.unique_name(&format!("{callee}.counts"), number);
            self.buffer_names.insert(name.clone());
            self.artifact.buffers.push(BufferSpec {
                name,
                dtype: fuser_artifact::DType::I32,
                elements,
                kind: BufferKind::Counts,
            });
            buffers.push(number);
        }
        let cluster = self.ir.int_of(func, "cluster").unwrap_or(1).max(1);
        let threads = self.ir.int_of(func, "threads").unwrap_or(1);
        let block = (threads / cluster).clamp(1, 1024) as u32;
        self.artifact.steps.push(Step::Launch {
            kernel: position as u32,
            segment: self.segment,
            buffers,
            extents,
            grid: match gpu && cluster > 1 {
                true => sizes.grid * SizeExpr::constant(cluster),
                false => sizes.grid,
            },
            scratch_bytes: sizes.scratch,
            block,
            product: None,
        });
        Ok(())
    }
    /// The buffer of a result of the next step: the buffer of the argument that it overwrites in place, or a new one.
    fn result_buffer(&mut self, op: Op, result: Value, fallback: &str) -> Result<u32, PlanError> {
        if let Some(&buffer) = self.placed.get(&result) {
            self.buffer_of.insert(result, buffer);
            return Ok(buffer);
        }
        let name = self.name_of(result, fallback);
        let kind = match self.parts.get(&result) {
            Some(&(cat, at)) => BufferKind::Part {
                of: self.whole(cat)?,
                at,
            },
            None => {
                let here = self.artifact.steps.len() as u32;
                BufferKind::Temp {
                    first: here,
                    last: here,
                }
            }
        };
        self.new_buffer(op, result, &name, kind)
    }
    /// An op that stands as it is: a call.
    fn call(&mut self, op: Op) -> Result<(), PlanError> {
        let apart = "run 'decompose' before 'segment', as '--passes=decompose,preseg,segment' does: it takes the op apart";
        let gpu = !self.artifact.target.is_cpu();
        let class = self.ir.def(op).map(|d| d.class);
        if gpu && class != Some(OpClass::Contraction) {
            let message = format!("no library runs '{}' on a GPU", self.ir.name(op));
            let help = match class {
                Some(OpClass::Routine | OpClass::Collective) => {
                    "compile for the CPU, '--target=cpu', or compute it outside of the program"
                }
                _ => apart,
            };
            return self.error(op, message, help);
        }
        if is_placed(self.ir, op) {
            return self.placed_cat(op);
        }
        let results = self.ir.results(op);
        for &result in results {
            self.result_buffer(op, result, "call")?;
        }
        if class == Some(OpClass::Collective) {
            let step = self.collective(op)?;
            self.artifact.steps.push(step);
            return Ok(());
        }
        if class == Some(OpClass::Routine) {
            let step = self.routine(op)?;
            self.artifact.steps.push(step);
            return Ok(());
        }
        let Some(maps) = self.ir.maps(op) else {
            return self.error(op, "the op has no maps", "state a shape that verifies");
        };
        let values = self.ir.operands(op).chain(results.iter().copied());
        let maps = maps.operands.iter().chain(&maps.results);
        let tensors = values
            .zip(maps)
            .map(|(value, map)| self.factor(op, value, map));
        let mut tensors = tensors.collect::<Result<Vec<_>, _>>()?;
        let windows = match class {
            Some(OpClass::Convolution) => self.windows(op, &mut tensors),
            _ => Vec::new(),
        };
        let segment = self.segment;
        let step = match class {
            Some(OpClass::Contraction) if gpu => {
                let mut tensors = tensors;
                let bias = (tensors.len() == 4).then(|| tensors.remove(2));
                let factors: Option<[Factor; 3]> = tensors.try_into().ok();
                let factors = factors.filter(|_| Adds::Bias.takes(self.ir, op));
                let tensors = factors.map(|factors| GpuProduct { factors, bias });
                tensors.and_then(|tensors| self.product(op, &tensors))
            }
            Some(OpClass::Scatter) => {
                self.combine(op)
                    .zip(tensors.try_into().ok())
                    .map(|(combine, tensors)| Step::Scatter {
                        segment,
                        combine,
                        tensors: Box::new(tensors),
                    })
            }
            Some(OpClass::Sort) => tensors.try_into().ok().map(|tensors| Step::Sort {
                segment,
                descending: self.ir.get_attr(op, "descending").is_some(),
                values: self.ir.get_attr(op, "of").is_none(),
                tensors: Box::new(tensors),
            }),
            Some(OpClass::Attention) => {
                let (mut tensors, mut sums) = (tensors, None);
                if results.len() == 2 {
                    sums = tensors.pop().map(Box::new);
                }
                Some(Step::Attention {
                    segment,
                    scale: attention::scale_of(self.ir, op).map(|scale| (scale as f32).to_bits()),
                    causal: self.ir.get_attr(op, "causal").is_some(),
                    tensors,
                    sums,
                })
            }
            _ => {
                let takes = tensors.len() == 4 && Adds::Tensor.takes(self.ir, op);
                let added = takes.then(|| Box::new(tensors.remove(2)));
                tensors.try_into().ok().map(|tensors| Step::Product {
                    segment,
                    tensors: Box::new(tensors),
                    added,
                    windows,
                })
            }
        };
        let Some(step) = step else {
            let message = format!("no library runs '{}' as it is", self.ir.name(op));
            return self.error(op, message, apart);
        };
        if let Step::Scatter {
            combine, tensors, ..
        } = &step
        {
            let [dest, indices, updates, result] = tensors.each_ref().map(|f| f.tensor.buffer);
            if dest == result {
                self.writes_parts(*combine, [indices, updates]);
            }
        }
        self.artifact.steps.push(step);
        Ok(())
    }
    /// The windows of a convolution: each spatial axis of the operand is indexed by a loop of the result and a reduced
    /// loop of the kernel.
    fn windows(&self, op: Op, tensors: &mut [Factor]) -> Vec<Window> {
        let front = convolution::front(self.ir, op);
        let rank = self.ir.rank(self.ir.result(op, 0));
        let windows = convolution::windows(self.ir, op).unwrap_or_default();
        let own = windows.iter().enumerate().map(|(dim, window)| {
            let (axis, place) = ((front + dim) as u32, (rank + 1 + dim) as u32);
            for (tensor, number) in tensors.iter_mut().zip([axis, place]) {
                if let Some(slot) = tensor.loops.get_mut(front + dim) {
                    *slot = number;
                }
            }
            Window {
                axis,
                place,
                stride: window.stride,
                low: window.low,
                dilation: window.dilation,
                base_dilation: window.base_dilation,
            }
        });
        own.collect()
    }
    /// A communication of devices.
    fn collective(&self, op: Op) -> Result<Step, PlanError> {
        let tensor = |value| {
            let name = self.name_of(value, "part");
            self.tensor_spec(op, value, name, self.buffer(op, value)?)
        };
        let from = self.ir.operands(op).next().map(tensor).transpose()?;
        let Some((what, over)) = mesh::collective(self.ir, op) else {
            return self.error(op, "a collective is none", "state clauses that verify");
        };
        Ok(Step::Collective {
            segment: self.segment,
            op: what,
            over,
            from: from.map(Box::new),
            to: Box::new(tensor(self.ir.result(op, 0))?),
        })
    }
    /// A function of whole matrices or lines.
    fn routine(&self, op: Op) -> Result<Step, PlanError> {
        let Some(routine) = routines::of(self.ir, op) else {
            let message = format!("no library runs '{}'", self.ir.name(op));
            return self.error(op, message, "compute it outside of the program");
        };
        let lines = self.ir.int_of(op, "dim");
        let dim = lines.and_then(|dim| usize::try_from(dim).ok());
        let values = self
            .ir
            .operands(op)
            .chain(self.ir.results(op).iter().copied());
        let tensor = |value| {
            let name = self.name_of(value, "factor");
            let tensor = self.tensor_spec(op, value, name, self.buffer(op, value)?)?;
            let rank = tensor.dims.len();
            // The axis of lines is the last loop.
            let place = |axis: usize| match dim {
                Some(dim) if axis == dim => rank - 1,
                Some(dim) if axis > dim => axis - 1,
                _ => axis,
            };
            let loops = (0..rank).map(|axis| place(axis) as u32).collect();
            Ok(Factor { tensor, loops })
        };
        Ok(Step::Routine {
            segment: self.segment,
            routine,
            tensors: values.map(tensor).collect::<Result<_, PlanError>>()?,
        })
    }
    /// The report of an in-place scatter: only the elements that it writes count.
    fn writes_parts(&mut self, combine: Combine, [indices, updates]: [u32; 2]) {
        let times = SizeExpr::constant(self.times);
        let bytes = |buffer: u32| self.artifact.buffers[buffer as usize].bytes() * times.clone();
        let (indices, updates) = (bytes(indices), bytes(updates));
        let old = match combine {
            Combine::Set => SizeExpr::constant(0),
            _ => updates.clone(),
        };
        if let Some(info) = self.artifact.segments.get_mut(self.segment as usize) {
            info.read_bytes = SizeExpr::sum([indices, updates.clone(), old]);
            info.write_bytes = updates;
        }
    }
    /// The launch of a product on a GPU.
    fn product(&mut self, op: Op, tensors: &GpuProduct) -> Option<Step> {
        let info = self.artifact.segments.get_mut(self.segment as usize)?;
        info.kind = SegmentKind::Kernel;
        let name = format!("{}_{}_0", self.artifact.program, info.name);
        let dtype = |value| self.ir.value_kind(value).dtype();
        let dtypes = [
            dtype(self.ir.operand(op, 0))?,
            dtype(self.ir.result(op, 0))?,
        ];
        let names = &self.artifact.extents;
        let nominal = self.options.nominal.unwrap_or(Bindings::default().nominal);
        let length = |name: &String| {
            let length = *self.options.shapes.get(name).unwrap_or(&nominal);
            i64::try_from(length).unwrap_or(i64::MAX)
        };
        let multiple = |name: &String| self.options.multiples.get(name).map_or(1, |&of| of.into());
        let facts = product::Facts {
            workers: self.options.target.workers,
            lengths: names.iter().map(length).collect(),
            multiples: names.iter().map(multiple).collect(),
        };
        let launch = product::plan(name, dtypes, tensors, &facts)?;
        let kernel = (self.kernels.len() + self.products.len()) as u32;
        let block = launch.product.tile.threads();
        self.products.push(launch.product);
        Some(Step::Launch {
            kernel,
            segment: self.segment,
            buffers: launch.buffers,
            extents: launch.extents,
            grid: launch.grid,
            // The code has its own.
            scratch_bytes: SizeExpr::constant(0),
            block,
            product: executors::is_named(executors::CUBLASLT, &self.options.executors)
                .then(|| Box::new(tensors.clone())),
        })
    }
    /// A tensor of a call, and the loops that its axes are.
    fn factor(&self, op: Op, value: Value, map: &Map) -> Result<Factor, PlanError> {
        let name = self.name_of(value, "factor");
        let tensor = self.tensor_spec(op, value, name, self.buffer(op, value)?)?;
        let indices = map.axes().unwrap_or(&[]).iter();
        let loops = indices.filter_map(|index| match index {
            Index::Iter(iter) => Some(*iter as u32),
            Index::Zero | Index::Affine { .. } | Index::Element(_) | Index::From { .. } => None,
        });
        let loops = loops.collect();
        Ok(Factor { tensor, loops })
    }
    /// The function by which a scatter combines elements. It is never a 16-bit float operation, since `decompose`
    /// widens these.
    fn combine(&self, op: Op) -> Option<Combine> {
        let narrow = |value: Value| {
            let dtype = self.ir.value_kind(value).dtype();
            dtype.is_none_or(|dtype| dtype.compute() != dtype)
        };
        let sums = !narrow(self.ir.result(op, 0));
        match self.ir.str_of(op, "combine")? {
            "set" => Some(Combine::Set),
            "add" => sums.then_some(Combine::Add),
            "mul" => sums.then_some(Combine::Mul),
            "max" => Some(Combine::Max),
            "min" => Some(Combine::Min),
            _ => None,
        }
    }
    fn launch_extents(&self, op: Op) -> Result<Vec<SizeExpr>, PlanError> {
        let dims = match self.ir.attr_of(op, "extents") {
            Some(AttrKind::Extents(dims)) => dims.clone(),
            _ => Vec::new(),
        };
        let extent = |d: &fuser_ir::Dim| {
            self.extents
                .polynomial(self.ir, &self.ir.extent_as_expr(d.extent)?)
        };
        match dims.iter().map(extent).collect() {
            Some(list) => Ok(list),
            None => self.error(
                op,
                "an extent is not known",
                "let it occur in the type of an input, or in the program's 'task.extents'",
            ),
        }
    }
    fn outputs(&mut self, program: Op, ret: Op) -> Result<(), PlanError> {
        let operands: Vec<Value> = self.ir.operands(ret).collect();
        let targets: Vec<Option<u32>> = (0..operands.len())
            .map(|index| self.overwritten(program, index))
            .collect();
        let late = self.late(ret, &operands, &targets)?;
        for (index, (&value, target)) in operands.iter().zip(&targets).enumerate() {
            let name = output_name(self.ir, value, index);
            let from = self.buffer(ret, value)?;
            let buffer = match target {
                Some(to) => *to,
                None => self.home(ret, value, &name, from, index, &late)?,
            };
            let spec = self.tensor_spec(ret, value, name, buffer)?;
            let ty = self.ir.value_type(value);
            let spec = self.outside(program, pairs::LISTS[1], index, ty, spec);
            self.artifact.outputs.push(spec);
        }
        self.overwrite(ret, &operands, &targets, &late)
    }
    /// The buffers of arguments whose old contents are needed until the copies at the end.
    fn late(
        &self,
        ret: Op,
        operands: &[Value],
        targets: &[Option<u32>],
    ) -> Result<Vec<u32>, PlanError> {
        let mut late = Vec::new();
        for (&value, target) in operands.iter().zip(targets) {
            let from = self.buffer(ret, value)?;
            late.extend(target.filter(|&to| to != from));
        }
        Ok(late)
    }
    /// The buffer of the argument that a result overwrites.
    fn overwritten(&self, program: Op, index: usize) -> Option<u32> {
        let argument = updates::argument(self.ir, program, index)?;
        self.arguments.get(argument).copied()
    }
    /// The buffer of a result without an alias: that of its value, or a copy if the value is about to be overwritten.
    fn home(
        &mut self,
        ret: Op,
        value: Value,
        name: &str,
        from: u32,
        index: usize,
        late: &[u32],
    ) -> Result<u32, PlanError> {
        let kind = BufferKind::Output(index as u32);
        match self.artifact.buffers[from as usize].kind {
            BufferKind::Temp { .. } => self.artifact.buffers[from as usize].kind = kind,
            BufferKind::Input(_) if late.contains(&from) => {
                return self.copy_out(ret, value, name, from, kind);
            }
            _ => {}
        }
        Ok(from)
    }
    /// Copies results over the inputs that they overwrite; values that these copies would destroy are saved first.
    fn overwrite(
        &mut self,
        ret: Op,
        operands: &[Value],
        targets: &[Option<u32>],
        late: &[u32],
    ) -> Result<(), PlanError> {
        let mut copies = Vec::new();
        for (&value, target) in operands.iter().zip(targets) {
            let mut from = self.buffer(ret, value)?;
            let Some(to) = target.filter(|&to| to != from) else {
                continue;
            };
            let name = self.name_of(value, "update");
            if late.contains(&from) {
                let here = self.artifact.steps.len() as u32;
                let kind = BufferKind::Temp {
                    first: here,
                    last: here,
                };
                from = self.copy_out(ret, value, &name, from, kind)?;
            }
            copies.push((name, from, to));
        }
        for (name, from, to) in copies {
            self.copy(&name, from, to);
            self.updates(to);
        }
        self.artifact.updates.sort_unstable();
        self.artifact.updates.dedup();
        Ok(())
    }
    fn copy_out(
        &mut self,
        ret: Op,
        value: Value,
        name: &str,
        from: u32,
        kind: BufferKind,
    ) -> Result<u32, PlanError> {
        let buffer = self.new_buffer(ret, value, name, kind)?;
        self.buffer_of.insert(value, from);
        self.copy(name, from, buffer);
        Ok(buffer)
    }
    fn copy(&mut self, name: &str, from: u32, to: u32) {
        let elements = self.artifact.buffers[to as usize].elements.clone();
        let segment = self.copy_segment(name, to);
        self.artifact.steps.push(Step::Copy {
            segment,
            from,
            to,
            elements,
        });
    }
    /// Adds a segment to the report for a copy that the plan, not the program, introduced.
    fn copy_segment(&mut self, name: &str, buffer: u32) -> u32 {
        let bytes = self.artifact.buffers[buffer as usize].bytes();
        let value = |direction| SegmentValue {
            name: name.to_string(),
            direction,
            bytes: bytes.clone(),
        };
        self.artifact.segments.push(SegmentInfo {
            name: format!("copy_{name}"),
            label: String::new(),
            kind: SegmentKind::Copy,
            ops: 0,
            sweeps: 0,
            read_bytes: bytes.clone(),
            write_bytes: bytes.clone(),
            values: vec![value(Direction::Read), value(Direction::Write)],
        });
        self.artifact.segments.len() as u32 - 1
    }
    /// The lifetimes of temporaries: from the step that writes one to its last reader. A value from before a loop that
    /// the loop uses lives to the loop's end.
    fn lifetimes(&mut self) {
        for (at, step) in self.artifact.steps.iter().enumerate() {
            for buffer in step.buffers() {
                let buffer = self.artifact.buffers[buffer as usize]
                    .part()
                    .map_or(buffer, |(of, _)| of);
                if let BufferKind::Temp { last, .. } =
                    &mut self.artifact.buffers[buffer as usize].kind
                {
                    *last = at as u32;
                }
            }
        }
        // Inner loops stand before the loops around them.
        for &(begin, end) in &self.loops {
            for buffer in &mut self.artifact.buffers {
                match &mut buffer.kind {
                    BufferKind::Temp { first, last } if *first < begin && *last >= begin => {
                        *last = (*last).max(end - 1);
                    }
                    _ => {}
                }
            }
        }
        let names = std::mem::take(&mut self.artifact.outputs);
        let mut seen = std::collections::BTreeMap::<String, usize>::new();
        self.artifact.outputs = names
            .into_iter()
            .map(|mut spec| {
                let count = seen.entry(spec.name.clone()).or_default();
                *count += 1;
                if *count > 1 {
                    spec.name = format!("{}.{}", spec.name, *count - 1);
                }
                spec
            })
            .collect();
    }
}

fn dtype(ir: &Ir, value: Value) -> fuser_artifact::DType {
    convert(ir.value_kind(value).dtype().unwrap_or(DType::F32))
}

/// The artifact's name of an element type.
pub fn convert(dtype: DType) -> fuser_artifact::DType {
    use fuser_artifact::DType as A;
    match dtype {
        DType::F64 => A::F64,
        DType::F32 => A::F32,
        DType::F16 => A::F16,
        DType::BF16 => A::Bf16,
        DType::F8E4M3FN => A::F8E4M3FN,
        DType::F8E5M2 => A::F8E5M2,
        DType::F8E8M0FNU => A::F8E8M0FNU,
        DType::F4E2M1FN => A::F4E2M1FN,
        DType::I64 => A::I64,
        DType::I32 => A::I32,
        DType::I16 => A::I16,
        DType::I8 => A::I8,
        DType::U64 => A::U64,
        DType::U32 => A::U32,
        DType::U16 => A::U16,
        DType::U8 => A::U8,
        DType::I1 => A::I1,
        DType::Index => A::Index,
        DType::C64 => A::C64,
        DType::C128 => A::C128,
    }
}
