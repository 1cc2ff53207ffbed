//! The pass `partition`: creates the program that each device runs.
//!
//! ```text
//! task.program @f(%x: tensor<8x4xf32> {shard = [["x"], []]}) -> tensor<4xf32> {
//!   %y = fusion.sum %x dims [0]
//!   task.return %y
//! }
//! =>
//! task.program @f(%x: tensor<8x4xf32>) -> tensor<4xf32> {
//!   %y = task.devices %x body @f_device in [[["x"], []]] out [[[]]]
//!   task.return %y
//! }
//! task.program @f_device(%x: tensor<4x4xf32>) -> tensor<4xf32> attributes {task.device} {
//!   %0 = fusion.sum %x dims [0]
//!   %y = fusion.all_reduce %0 over ["x"] combine sum
//!   task.return %y
//! }
//! ```
//!
//! Each op becomes the same op on parts, split as its attributes or [`decide`] say. If a value's layout differs from
//! the one that an op needs, collectives convert it ([`moves`]), once for all ops with that need. Programs of other
//! `task.devices` ops stay unchanged.

use fuser_analysis::targets;
use fuser_dialects::fusion::{self, build::FusionBuilder};
use fuser_dialects::task::mesh::{self, Mesh};
use fuser_dialects::task::{self, SHARDING, calls, marks};
use fuser_ir::attr::{AttrId, AttrKind};
use fuser_ir::build::{Builder, Clause};
use fuser_ir::clone::Mapping;
use fuser_ir::def::{OpClass, OpDef, OpError};
use fuser_ir::types::{DType, Dim, Extent, ExtentExpr};
use fuser_ir::{Diagnostic, Diagnostics, Ir, Op, TypeId, Value, layout};
use fuser_pass::{PassContext, PassDef, Remark, RemarkKind, StatDef, place_of};
use rustc_hash::FxHashMap;

use crate::decide::{CUT, Decision, SUMMANDS, decide};
use crate::layout::{Layout, Move, held, moves, sent};
use crate::local;
use crate::rule::{Combine, Halo, Kind, is_pending};
use crate::table;

/// `partition`
pub static PARTITION: PassDef = PassDef {
    name: "partition",
    summary: "make the program that each device of the mesh runs",
    doc: "A program that says how something lies on the mesh becomes a `task.devices` of one that has parts of all values, with collectives between ops. How ops are cut \
          is said by `shard`, which need not have run. Programs that say nothing stay as they are.",
    anchor: &["builtin.module"],
    options: &[targets::TARGET],
    statistics: &[
        StatDef {
            name: "collectives",
            doc: "collectives that move values",
        },
        StatDef {
            name: "bytes",
            doc: "bytes of their results on one device",
        },
    ],
    run,
    ..PassDef::EMPTY
};

fn run(ctx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
    let module = ctx.op;
    let programs = ctx.ir.children(module);
    let programs: Vec<Op> = programs
        .into_iter()
        .filter(|&op| ctx.ir.is(op, &task::PROGRAM))
        .collect();
    let Some(mesh) = Mesh::of(ctx.ir, module) else {
        return Ok(());
    };
    let target = targets::of(ctx);
    let mut replaced = Vec::new();
    for program in programs {
        if !mesh::is_divided(ctx.ir, program) || is_whole(ctx.ir, program) {
            continue;
        }
        let run = ctx.ir.children(program).into_iter();
        let run = run.filter(|&op| ctx.ir.is(op, &task::DEVICES));
        replaced.extend(run.filter_map(|op| calls::callee(ctx.ir, op, "body")));
        let told = match divide(ctx.ir, &mesh, &target, program) {
            Ok(told) => told,
            Err((op, error)) => {
                let text = format!("`{}` cannot be divided: {}", ctx.ir.name(op), error.message);
                let error = Diagnostic::error(&SHARDING, place_of(ctx.ir, op), text);
                return Err(Diagnostics { items: vec![error] });
            }
        };
        for Told {
            op,
            name,
            bytes,
            text,
        } in told
        {
            ctx.count("collectives", 1);
            ctx.count("bytes", bytes);
            let line = format!("{name} of {text}: {bytes} bytes");
            let remark = Remark::new(RemarkKind::Analysis, "Collective", ctx.place(op), line);
            ctx.remark(remark);
        }
    }
    forget_unused(ctx.ir, module, &replaced);
    Ok(())
}

/// True if a program does nothing but run another on devices.
fn is_whole(ir: &Ir, program: Op) -> bool {
    let Some(body) = ir.body(program, 0) else {
        return false;
    };
    let ops: Vec<Op> = ir.block_ops(body).collect();
    let [run, end] = ops[..] else {
        return false;
    };
    let same = ir.operands(run).eq(ir.args(body).iter().copied());
    ir.is(run, &task::DEVICES) && same && ir.operands(end).eq(ir.results(run).iter().copied())
}

/// Erases the original programs that have been replaced, unless another program still calls them.
fn forget_unused(ir: &mut Ir, module: Op, replaced: &[Op]) {
    for program in calls::roots(ir, module) {
        if replaced.contains(&program) {
            ir.erase(program);
        }
    }
}

/// A collective, for remarks.
struct Told {
    op: Op,
    name: &'static str,
    bytes: u64,
    text: String,
}

/// A value of a device.
#[derive(Clone)]
struct Copy {
    layout: Layout,
    value: Value,
    /// The steps that are left when nothing is open any more.
    finish: Option<Finish>,
}

/// The steps from a combined value to the value that an op makes.
#[derive(Clone)]
struct Finish {
    dtype: DType,
    divide: Option<u64>,
}

type Fault = (Op, OpError);

/// Divides a program: it runs a new one on devices.
fn divide(
    ir: &mut Ir,
    mesh: &Mesh,
    target: &fuser_target::Target,
    program: Op,
) -> Result<Vec<Told>, Fault> {
    let missing = |op: Op| (op, OpError::new("it has no body"));
    let local = ir.clone_op(program, &mut Mapping::default());
    ir.insert_after(program, local);
    let name = fresh(ir, program);
    let symbol = ir.sym(&name);
    let named = ir.attr(AttrKind::String(symbol));
    ir.set_attr(local, "sym_name", named);
    let body = ir.body(local, 0).ok_or_else(|| missing(program))?;
    let plan = decide(ir, mesh, target, local, body);
    let args = ir.args(body).to_vec();
    let whole: Vec<TypeId> = args.iter().map(|&arg| ir.value_type(arg)).collect();
    let mut divider = Divider {
        ir,
        mesh,
        copies: FxHashMap::default(),
        told: Vec::new(),
    };
    for ((&arg, layout), &ty) in args.iter().zip(&plan.args).zip(&whole) {
        let part = part_type(divider.ir, mesh, ty, layout);
        divider.ir.set_value_type(arg, part);
        divider.keep(arg, layout.clone(), arg, None);
    }
    let mut outputs = Vec::new();
    for (op, decision) in &plan.ops {
        if divider.ir.is(*op, &task::RETURN) {
            outputs.clone_from(&decision.needs);
        }
        divider.op(*op, decision).map_err(|error| (*op, error))?;
    }
    for (op, _) in plan.ops.iter().rev() {
        if !divider.ir.is(*op, &task::RETURN) {
            divider.ir.erase(*op);
        }
    }
    let told = divider.told;
    // Signatures and marks.
    let Some((_, results)) = task::verify::signature(ir, program) else {
        return Err(missing(program));
    };
    let results = results.to_vec();
    let parts: Vec<TypeId> = results
        .iter()
        .zip(&outputs)
        .map(|(&ty, layout)| part_type(ir, mesh, ty, layout))
        .collect();
    let inputs: Vec<TypeId> = args.iter().map(|&arg| ir.value_type(arg)).collect();
    let function = ir.function_type(inputs, parts);
    let function = ir.attr(AttrKind::Type(function));
    ir.set_attr(local, "function_type", function);
    for list in marks::LISTS {
        marks::remove(ir, local, list, mesh::MARK);
        marks::remove(ir, program, list, mesh::MARK);
    }
    run_by_devices_alone(ir, program, local)?;
    let unit = ir.attr(AttrKind::Unit);
    for own in calls::reached(ir, ir.parent_op(local).unwrap_or(local), local) {
        ir.set_attr(own, mesh::DEVICE, unit);
    }
    run_on_devices(ir, mesh, program, symbol, &plan.args, &outputs, &results)?;
    Ok(told)
}

/// Checks that no single-device program runs the loop programs of `local`, since these become programs of several
/// devices.
fn run_by_devices_alone(ir: &Ir, program: Op, local: Op) -> Result<(), Fault> {
    let module = ir.parent_op(local).unwrap_or(local);
    let own = calls::reached(ir, module, local);
    for other in calls::roots(ir, module) {
        let divided =
            other == program || mesh::is_divided(ir, other) || mesh::is_device_program(ir, other);
        if divided || other == local {
            continue;
        }
        let shared = calls::reached(ir, module, other)
            .into_iter()
            .find(|op| own.contains(op));
        if let Some(shared) = shared {
            let name = ir.symbol_name(shared).unwrap_or_default();
            let text = format!("a program of one device runs `@{name}` as well");
            return Err((program, OpError::new(text)));
        }
    }
    Ok(())
}

/// Makes the body of a program a `task.devices`.
fn run_on_devices(
    ir: &mut Ir,
    mesh: &Mesh,
    program: Op,
    symbol: fuser_ir::Sym,
    inputs: &[Layout],
    outputs: &[Layout],
    results: &[TypeId],
) -> Result<(), Fault> {
    let missing = || (program, OpError::new("it has no body"));
    let body = ir.body(program, 0).ok_or_else(missing)?;
    let ops: Vec<Op> = ir.block_ops(body).collect();
    let Some((&end, before)) = ops.split_last() else {
        return Err(missing());
    };
    let names: Vec<_> = ir
        .operands(end)
        .map(|value| ir.value_name_sym(value))
        .collect();
    let callee = ir.attr(AttrKind::SymbolRef(vec![symbol]));
    let (taken, given) = (shardings(ir, mesh, inputs), shardings(ir, mesh, outputs));
    let values = ir.args(body).to_vec();
    let clauses = [("body", callee), ("in", taken), ("out", given)];
    let made =
        Builder::before(ir, end).build(&task::DEVICES, &values, &clauses, &[], Some(results));
    let made = made.map_err(|error| (program, error))?;
    let made = ir.results(made).to_vec();
    ir.set_operands(end, &made);
    for op in before.iter().rev() {
        ir.erase(*op);
    }
    // Results that are arguments have names already.
    for (value, name) in made.into_iter().zip(names) {
        ir.set_value_name(value, name);
    }
    Ok(())
}

fn shardings(ir: &mut Ir, mesh: &Mesh, layouts: &[Layout]) -> AttrId {
    let all: Vec<AttrId> = layouts
        .iter()
        .map(|own| own.sharding().attr(ir, mesh))
        .collect();
    ir.attr(AttrKind::Array(all))
}

/// A symbol that the module does not use yet: the program's symbol with `_device` appended, and a number if necessary.
fn fresh(ir: &Ir, program: Op) -> String {
    let base = format!("{}_device", ir.symbol_name(program).unwrap_or("main"));
    let module = ir.parent_op(program).unwrap_or(program);
    let symbols: Vec<String> = ir
        .children(module)
        .into_iter()
        .filter_map(|op| ir.symbol_name(op).map(String::from))
        .collect();
    let mut name = base.clone();
    let mut number = 0;
    while symbols.contains(&name) {
        number += 1;
        name = format!("{base}_{number}");
    }
    name
}

/// The type of a device's part of a value.
fn part_type(ir: &mut Ir, mesh: &Mesh, ty: TypeId, layout: &Layout) -> TypeId {
    local::part_type(ir, ty, |dims| parts(mesh, dims, layout))
}

/// The axes of a device's part.
fn parts(mesh: &Mesh, dims: &[Dim], layout: &Layout) -> Vec<Dim> {
    let cuts = dims.iter().zip(&layout.dims);
    cuts.map(|(dim, cut)| part(mesh, *dim, cut)).collect()
}

fn part(mesh: &Mesh, dim: Dim, cut: &[usize]) -> Dim {
    match dim.extent {
        Extent::Static(extent) => Dim {
            extent: Extent::Static(extent / mesh.parts(cut).max(1) as u64),
            ..dim
        },
        _ => dim,
    }
}

struct Divider<'a> {
    ir: &'a mut Ir,
    mesh: &'a Mesh,
    /// For each value of the whole program the values of a device.
    copies: FxHashMap<Value, Vec<Copy>>,
    told: Vec<Told>,
}

impl Divider<'_> {
    fn keep(&mut self, whole: Value, layout: Layout, value: Value, finish: Option<Finish>) {
        self.copies.entry(whole).or_default().push(Copy {
            layout,
            value,
            finish,
        });
    }
    fn axes<'n>(&mut self, axes: &[usize]) -> Clause<'n> {
        ("over", mesh::strings_attr(self.ir, &self.mesh.names(axes)))
    }
    /// Puts the parts of an op before it.
    fn op(&mut self, op: Op, decision: &Decision) -> Result<(), OpError> {
        let whole: Vec<Value> = self.ir.operands(op).collect();
        let mut operands = Vec::with_capacity(whole.len());
        for (&value, layout) in whole.iter().zip(&decision.needs) {
            operands.push(self.need(op, value, layout)?);
        }
        if self.ir.is(op, &task::RETURN) {
            for (value, &whole) in operands.iter_mut().zip(&whole) {
                *value = self.repeated_as(op, *value, whole)?;
                // Results lie in memory as the whole does.
                let (own, stated) = (self.ir.value_type(*value), self.ir.value_type(whole));
                let ty = local::laid_out(self.ir, own, stated);
                if !layout::agree(self.ir, own, ty) {
                    let made = Builder::before(self.ir, op).build(
                        &fusion::COPY,
                        &[*value],
                        &[],
                        &[],
                        Some(&[ty]),
                    )?;
                    *value = self.ir.result(made, 0);
                }
            }
            self.ir.set_operands(op, &operands);
            return Ok(());
        }
        if self.ir.is(op, &task::DEVICES) || calls::runs_programs(self.ir, op) {
            for (value, &whole) in operands.iter_mut().zip(&whole) {
                *value = self.repeated_as(op, *value, whole)?;
            }
        }
        let results = self.ir.results(op).to_vec();
        let mut finish = None;
        let made = if self.ir.is(op, &task::SHARD) {
            operands
        } else if self.ir.is(op, &task::DEVICES) {
            self.inlined(op, &operands)?
        } else if let Some(axes) = cut_along(decision, Kind::Lookup) {
            vec![self.lookup(op, &operands, &axes)?]
        } else {
            // Rounding changes no order.
            let summed =
                |own: &Layout| matches!(own.partial, Some((_, Combine::Sum | Combine::Prod)));
            let reduces = decision.rule.factors.iter().zip(&decision.cut);
            let reduces = reduces
                .into_iter()
                .any(|(own, cut)| matches!(own.kind, Kind::Partial(_)) && !cut.is_empty());
            let pending = reduces && is_pending(self.ir, op) && decision.makes.iter().any(summed);
            if let Some(axes) = cut_along(decision, Kind::Placed) {
                operands[1] = self.shifted(op, operands[0], operands[1], &axes)?;
            }
            let halos = halos(decision);
            for (dim, halo, axes) in &halos {
                operands[0] = self.widened(op, whole[0], operands[0], *dim, *halo, axes)?;
            }
            if let (true, [(dim, halo, _)]) = (table::is_rolled(self.ir, op), halos.as_slice()) {
                vec![self.line(op, operands[0], *dim, halo.behind, halo.elements())?]
            } else if pending {
                let (made, own) = self.pending(op, &operands, decision)?;
                finish = Some(own);
                made
            } else {
                self.copied(op, None, &operands, decision, None)?
            }
        };
        for ((&result, layout), value) in results.iter().zip(&decision.makes).zip(made) {
            if finish.is_none() && self.ir.value_name(value).is_none() {
                let name = self.ir.value_name_sym(result);
                self.ir.set_value_name(value, name);
            }
            self.keep(result, layout.clone(), value, finish.clone());
        }
        Ok(())
    }
    /// The op applied to parts, with another definition or type if given.
    fn copied(
        &mut self,
        op: Op,
        other: Option<&'static OpDef>,
        operands: &[Value],
        decision: &Decision,
        to: Option<DType>,
    ) -> Result<Vec<Value>, OpError> {
        let whole: Vec<Value> = self.ir.operands(op).collect();
        let mut map = Mapping::default();
        for (&from, &to) in whole.iter().zip(operands) {
            map.insert(from, to);
        }
        let new = match other {
            None => {
                let new = self.ir.clone_op(op, &mut map);
                self.ir.insert_before(op, new);
                // One value may lie in two ways.
                self.ir.set_operands(new, operands);
                new
            }
            Some(def) => {
                let clauses: Vec<(String, AttrId)> = self
                    .ir
                    .attrs(op)
                    .iter()
                    .map(|(key, attr)| (self.ir.str(*key).to_owned(), *attr))
                    .collect();
                let clauses: Vec<Clause<'_>> = clauses
                    .iter()
                    .map(|(key, attr)| (key.as_str(), *attr))
                    .collect();
                Builder::before(self.ir, op).op(def, operands, &clauses)?
            }
        };
        self.ir.remove_attr(new, CUT);
        self.ir.remove_attr(new, SUMMANDS);
        if let Some(dtype) = to {
            let ty = self.ir.scalar(dtype);
            let attr = self.ir.attr(AttrKind::Type(ty));
            self.ir.set_attr(new, "to", attr);
        }
        self.take_borders(new, decision);
        let mesh = self.mesh;
        let cut = |index: usize, dims: &[Dim]| parts(mesh, dims, &decision.makes[index]);
        local::shrink(self.ir, new, &cut)?;
        Ok(self.ir.results(new).to_vec())
    }
    /// A value with elements of its neighbours at both ends of an axis.
    fn widened(
        &mut self,
        op: Op,
        whole: Value,
        value: Value,
        dim: usize,
        halo: Halo,
        axes: &[usize],
    ) -> Result<Value, OpError> {
        let length = crate::rule::extent(self.ir, value, dim).unwrap_or(0);
        let count = self.mesh.parts(axes);
        let pairs = |up: bool| {
            let firsts = 0..count - i64::from(!halo.wraps);
            let pairs = firsts.map(|own| [own, (own + 1) % count]);
            let turned = pairs.map(|[own, next]| if up { [own, next] } else { [next, own] });
            turned.flatten().collect::<Vec<i64>>()
        };
        let mut parts = vec![value];
        for (up, wanted) in [(true, halo.before), (false, halo.behind)] {
            if wanted == 0 {
                continue;
            }
            let start = if up { length - wanted } else { 0 };
            let own = self.line(op, value, dim, start, length - wanted)?;
            let pass = Move::Pass(axes.to_vec(), pairs(up));
            let got = self.step(op, whole, own, &pass, Combine::Sum)?;
            parts.insert(if up { 0 } else { parts.len() }, got);
        }
        if parts.len() == 1 {
            return Ok(value);
        }
        let mut b = Builder::before(self.ir, op);
        let clause = b.int("dim", dim as i64);
        b.value(&fusion::CAT, &parts, &[clause])
    }
    /// The elements of a value along an axis, `count` of them from `start` on.
    fn line(
        &mut self,
        op: Op,
        value: Value,
        dim: usize,
        start: u64,
        fewer: u64,
    ) -> Result<Value, OpError> {
        let mut dims = self.dims(value);
        if let Extent::Static(extent) = &mut dims[dim].extent {
            *extent = extent.saturating_sub(fewer);
        }
        let mut starts = vec![ExtentExpr::constant(0); dims.len()];
        starts[dim] = ExtentExpr::constant(start as i64);
        let mut b = Builder::before(self.ir, op);
        let starts = b.amounts("starts", &starts);
        let starts = starts.ok_or_else(|| OpError::new("a start is none"))?;
        let clauses = [starts, b.shape("shape", &dims)];
        b.value(&fusion::SLICE, &[value], &clauses)
    }
    /// The borders of a convolution: what neighbours sent stands in their place.
    fn take_borders(&mut self, op: Op, decision: &Decision) {
        let front = fusion::convolution::front(self.ir, op);
        for (dim, ..) in halos(decision) {
            for border in ["low", "high"] {
                if let Some(list) = self.ir.i64s_of(op, border) {
                    let mut list = list.to_vec();
                    list[dim - front] = 0;
                    let attr = self.ir.attr(AttrKind::I64Array(list));
                    self.ir.set_attr(op, border, attr);
                }
            }
        }
    }
    /// An op whose partial results are combined afterwards: computed in f32 if its type is narrower, as a sum if it is
    /// a mean.
    fn pending(
        &mut self,
        op: Op,
        operands: &[Value],
        decision: &Decision,
    ) -> Result<(Vec<Value>, Finish), OpError> {
        let result = self.ir.result(op, 0);
        let dtype = self.ir.value_kind(result).dtype().unwrap_or(DType::F32);
        let wide = dtype.accumulate();
        let finish = Finish {
            dtype,
            divide: decision.rule.mean,
        };
        let class = self.ir.def(op).map(|def| def.class);
        let made = match class {
            Some(OpClass::Contraction | OpClass::Convolution) => {
                self.copied(op, None, operands, decision, Some(wide))?
            }
            _ => {
                let input = Builder::before(self.ir, op).cast(operands[0], wide)?;
                let def = table::reduction(self.ir, op).map(|(_, def)| def);
                self.copied(op, def, &[input], decision, None)?
            }
        };
        Ok((made, finish))
    }
    /// The elements found in the device's own part of a table, and -0 for those of other parts, which changes no sum.
    fn lookup(&mut self, op: Op, operands: &[Value], axes: &[usize]) -> Result<Value, OpError> {
        let dim = usize::try_from(self.ir.int_of(op, "dim").unwrap_or(0)).unwrap_or(0);
        let def = table::lookup(self.ir, op).ok_or_else(|| OpError::new("it looks nothing up"))?;
        let along = table::looks_along(def);
        let (rows, index) = (operands[0], operands[1]);
        let extent = |ir: &Ir| crate::rule::extent(ir, rows, dim).unwrap_or(1) as i64;
        let own = extent(self.ir);
        let length = own.saturating_mul(self.mesh.parts(axes));
        let over = self.axes(axes);
        let mut b = Builder::before(self.ir, op);
        let ty = b.ir.tensor(Vec::new(), DType::I64);
        let number = b.value(&fusion::AXIS_INDEX, &[], &[over])?;
        let number = b.cast(number, DType::I64)?;
        let (zero, most, last, size) = (
            b.constant_int(0, ty)?,
            b.constant_int(length - 1, ty)?,
            b.constant_int(own - 1, ty)?,
            b.constant_int(own, ty)?,
        );
        let index = b.cast(index, DType::I64)?;
        let index = b.maximum(index, zero)?;
        let index = b.minimum(index, most)?;
        let start = b.mul(number, size)?;
        let place = b.sub(index, start)?;
        let (low, high) = (b.compare("ge", place, zero)?, b.compare("le", place, last)?);
        let inside = b.binary(&fusion::AND, low, high)?;
        let place = b.maximum(place, zero)?;
        let place = b.minimum(place, last)?;
        let clause = b.int("dim", dim as i64);
        let made = b.value(def, &[rows, place], &[clause])?;
        let inside = match along {
            true => inside,
            false => {
                let shape =
                    b.ir.value_kind(made)
                        .as_tensor()
                        .map_or(Vec::new(), |t| t.dims.clone());
                let rank = b.ir.rank(place);
                let dims: Vec<i64> = (dim..dim + rank).map(|axis| axis as i64).collect();
                b.broadcast(inside, &dims, &shape)?
            }
        };
        let dtype = b.ir.value_kind(made).dtype().unwrap_or(DType::F32);
        let scalar = b.ir.tensor(Vec::new(), dtype);
        let nothing = match dtype.is_float() {
            true => b.constant_float(-0.0, scalar)?,
            false => b.constant_int(0, scalar)?,
        };
        b.choose(inside, made, nothing)
    }
    /// Indices into the whole tensor, converted to indices into a device's part. Indices of other parts are out of
    /// range.
    fn shifted(
        &mut self,
        op: Op,
        part: Value,
        indices: Value,
        axes: &[usize],
    ) -> Result<Value, OpError> {
        let dim = usize::try_from(self.ir.int_of(op, "dim").unwrap_or(0)).unwrap_or(0);
        let own = crate::rule::extent(self.ir, part, dim).unwrap_or(0) as i64;
        let over = self.axes(axes);
        let mut b = Builder::before(self.ir, op);
        let ty = b.ir.tensor(Vec::new(), DType::I64);
        let number = b.value(&fusion::AXIS_INDEX, &[], &[over])?;
        let number = b.cast(number, DType::I64)?;
        let own = b.constant_int(own, ty)?;
        let start = b.mul(number, own)?;
        let indices = b.cast(indices, DType::I64)?;
        b.sub(indices, start)
    }
    /// The ops of the program that a `task.devices` runs.
    fn inlined(&mut self, op: Op, operands: &[Value]) -> Result<Vec<Value>, OpError> {
        let missing = || OpError::new("it runs no program");
        let callee = calls::callee(self.ir, op, "body").ok_or_else(missing)?;
        let body = self.ir.body(callee, 0).ok_or_else(missing)?;
        let mut map = Mapping::default();
        for (&arg, &value) in self.ir.args(body).iter().zip(operands) {
            map.insert(arg, value);
        }
        let ops: Vec<Op> = self.ir.block_ops(body).collect();
        let mut results = Vec::new();
        for own in ops {
            if self.ir.is(own, &task::RETURN) {
                results = self.ir.operands(own).map(|value| map.get(value)).collect();
                continue;
            }
            let copy = self.ir.clone_op(own, &mut map);
            self.ir.insert_before(op, copy);
        }
        Ok(results)
    }
    /// The value of a device that lies as an op needs it.
    fn need(&mut self, op: Op, whole: Value, layout: &Layout) -> Result<Value, OpError> {
        let copies = self.copies.get(&whole).map_or(&[][..], |copies| copies);
        let there = copies
            .iter()
            .find(|own| own.layout == *layout && own.finish.is_none());
        if let Some(there) = there {
            return Ok(there.value);
        }
        let price = |own: &Copy| {
            let mut bytes = self.bytes(own.value);
            let mut all = 0u64;
            for step in moves(&own.layout, layout) {
                all = all.saturating_add(sent(self.mesh, &step, bytes));
                bytes = held(self.mesh, &step, bytes);
            }
            all
        };
        let missing = || OpError::new("a value is used before it is defined");
        let source = copies
            .iter()
            .min_by_key(|own| price(own))
            .cloned()
            .ok_or_else(missing)?;
        let combine = source
            .layout
            .partial
            .as_ref()
            .map_or(Combine::Sum, |(_, combine)| *combine);
        let mut value = source.value;
        for step in moves(&source.layout, layout) {
            value = self.step(op, whole, value, &step, combine)?;
        }
        if let Some(Finish { dtype, divide }) = source.finish {
            let mut b = Builder::before(self.ir, op);
            if let Some(length) = divide {
                let wide = b.ir.value_kind(value).dtype().unwrap_or(DType::F32);
                let scalar = b.ir.tensor(Vec::new(), wide);
                let length = b.constant_float(length as f64, scalar)?;
                value = b.div(value, length)?;
            }
            value = b.cast(value, dtype)?;
        }
        self.keep(whole, layout.clone(), value, None);
        Ok(value)
    }
    fn bytes(&self, value: Value) -> u64 {
        let size = self
            .ir
            .value_kind(value)
            .dtype()
            .map_or(1, |dtype| dtype.bytes());
        let dims = self
            .ir
            .value_kind(value)
            .as_tensor()
            .map_or(&[][..], |t| &t.dims);
        let extents = dims.iter().map(|dim| match dim.extent {
            Extent::Static(extent) => extent,
            _ => 1024,
        });
        extents.fold(size, u64::saturating_mul)
    }
    /// The value with `b` axes where the whole has some.
    fn repeated_as(&mut self, op: Op, value: Value, whole: Value) -> Result<Value, OpError> {
        let (own, whole) = (self.dims(value), self.dims(whole));
        let pairs = own.iter().zip(&whole).enumerate();
        let lost = pairs.filter(|(_, (own, whole))| {
            whole.broadcast && !own.broadcast && own.extent != Extent::Static(1)
        });
        let lost: Vec<usize> = lost.map(|(axis, _)| axis).collect();
        if lost.is_empty() {
            return Ok(value);
        }
        let once = self.once(op, value, &lost)?;
        self.repeated(op, once, &own)
    }
    /// The first element along each of `axes`, along which nothing changes.
    fn once(&mut self, op: Op, value: Value, axes: &[usize]) -> Result<Value, OpError> {
        let mut dims = self.dims(value);
        let mut value = value;
        for &axis in axes {
            let known = matches!(dims[axis].extent, Extent::Static(extent) if extent > 0);
            dims[axis] = Dim::fixed(1);
            if !known {
                // An axis that may be empty has no first element: a lookup gives 0 there.
                let mut b = Builder::before(self.ir, op);
                let ty = b.ir.tensor(vec![Dim::fixed(1)], DType::I64);
                let first = b.constant_int(0, ty)?;
                let clause = b.int("dim", axis as i64);
                value = b.value(&fusion::TAKE, &[value, first], &[clause])?;
            }
        }
        let starts = vec![ExtentExpr::constant(0); dims.len()];
        let mut b = Builder::before(self.ir, op);
        let starts = b.amounts("starts", &starts);
        let starts = starts.ok_or_else(|| OpError::new("a start is none"))?;
        let clauses = [starts, b.shape("shape", &dims)];
        b.value(&fusion::SLICE, &[value], &clauses)
    }
    /// The axes of a tensor.
    fn dims(&self, value: Value) -> Vec<Dim> {
        let tensor = self.ir.value_kind(value).as_tensor();
        tensor.map_or(Vec::new(), |tensor| tensor.dims.clone())
    }
    /// Axes of extent 1 repeated to the extents of `dims`.
    fn repeated(&mut self, op: Op, value: Value, dims: &[Dim]) -> Result<Value, OpError> {
        let mut b = Builder::before(self.ir, op);
        let clause = b.shape("shape", dims);
        b.value(&fusion::EXPAND, &[value], &[clause])
    }
    /// Emits one move of a value. A broadcast axis is stored once on each device, and is sent once.
    fn step(
        &mut self,
        op: Op,
        whole: Value,
        value: Value,
        step: &Move,
        combine: Combine,
    ) -> Result<Value, OpError> {
        let mut dims = self.dims(value);
        let repeats = |dim: usize| dims[dim].broadcast;
        let all: Vec<usize> = (0..dims.len()).filter(|&dim| repeats(dim)).collect();
        match step {
            Move::Gather(dim, axes) | Move::Slice(dim, axes) if repeats(*dim) => {
                let grows = matches!(step, Move::Gather(..));
                let parts = self.mesh.parts(axes).max(1) as u64;
                if let Extent::Static(extent) = &mut dims[*dim].extent {
                    *extent = if grows {
                        *extent * parts
                    } else {
                        *extent / parts
                    };
                }
                let once = self.once(op, value, &[*dim])?;
                return self.repeated(op, once, &dims);
            }
            Move::Scatter(dim, axis) if repeats(*dim) => {
                let sum = self.step(op, whole, value, &Move::Reduce(vec![*axis]), combine)?;
                return self.step(op, whole, sum, &Move::Slice(*dim, vec![*axis]), combine);
            }
            Move::Exchange(from, to, axis) if repeats(*from) || repeats(*to) => {
                let all =
                    self.step(op, whole, value, &Move::Gather(*from, vec![*axis]), combine)?;
                return self.step(op, whole, all, &Move::Slice(*to, vec![*axis]), combine);
            }
            // Devices have the same of what is there once.
            Move::Reorder(dim, ..) if repeats(*dim) => return Ok(value),
            Move::Slice(..) => return self.moved(op, whole, value, step, combine),
            _ if all.is_empty() => return self.moved(op, whole, value, step, combine),
            _ => {}
        }
        let once = self.once(op, value, &all)?;
        let made = self.moved(op, whole, once, step, combine)?;
        let mut own = self.dims(made);
        for dim in all {
            own[dim] = dims[dim];
        }
        self.repeated(op, made, &own)
    }
    /// One move of a value without `b` axes that take part.
    fn moved(
        &mut self,
        op: Op,
        whole: Value,
        value: Value,
        step: &Move,
        combine: Combine,
    ) -> Result<Value, OpError> {
        // Devices send what kernels know: parts of complex numbers, and floats of 4 bits as wider ones.
        let dtype = self.ir.value_kind(value).dtype();
        if dtype.is_some_and(DType::is_complex) && !matches!(step, Move::Slice(..)) {
            let real = Builder::before(self.ir, op).unary(&fusion::REAL, value)?;
            let real = self.moved(op, whole, real, step, combine)?;
            let imaginary = Builder::before(self.ir, op).unary(&fusion::IMAG, value)?;
            let imaginary = self.moved(op, whole, imaginary, step, combine)?;
            return Builder::before(self.ir, op).binary(&fusion::COMPLEX, real, imaginary);
        }
        if dtype == Some(DType::F4E2M1FN) {
            let wide = Builder::before(self.ir, op).cast(value, DType::F16)?;
            let made = self.moved(op, whole, wide, step, combine)?;
            return Builder::before(self.ir, op).cast(made, DType::F4E2M1FN);
        }
        let dims = self.dims(value);
        let resized = |dim: usize, more: i64, fewer: i64| {
            let mut dims = dims.clone();
            if let Some(Dim {
                extent: Extent::Static(extent),
                ..
            }) = dims.get_mut(dim)
            {
                *extent = extent.saturating_mul(more.max(1) as u64) / fewer.max(1) as u64;
            }
            dims
        };
        let axes = match step {
            Move::Reduce(axes)
            | Move::Gather(_, axes)
            | Move::Slice(_, axes)
            | Move::Pass(axes, _)
            | Move::Reorder(_, axes, _) => axes.clone(),
            Move::Scatter(_, axis) | Move::Exchange(_, _, axis) => vec![*axis],
        };
        let parts = self.mesh.parts(&axes);
        let over = self.axes(&axes);
        let pairs = match step {
            Move::Reorder(_, before, after) => reordered(self.mesh, before, after),
            Move::Pass(_, pairs) => pairs.clone(),
            _ => Vec::new(),
        };
        let mut b = Builder::before(self.ir, op);
        let combine = b.word("combine", combine.word());
        let made = match *step {
            Move::Reduce(_) => b.value(&fusion::ALL_REDUCE, &[value], &[over, combine])?,
            Move::Scatter(dim, _) => {
                let clauses = [
                    over,
                    combine,
                    b.int("dim", dim as i64),
                    b.shape("shape", &resized(dim, 1, parts)),
                ];
                b.value(&fusion::REDUCE_SCATTER, &[value], &clauses)?
            }
            Move::Gather(dim, _) => {
                let clauses = [
                    over,
                    b.int("dim", dim as i64),
                    b.shape("shape", &resized(dim, parts, 1)),
                ];
                b.value(&fusion::ALL_GATHER, &[value], &clauses)?
            }
            Move::Exchange(from, to, _) => {
                let mut shape = resized(from, parts, 1);
                shape[to] = resized(to, 1, parts)[to];
                let clauses = [
                    over,
                    b.int("split", to as i64),
                    b.int("concat", from as i64),
                    b.shape("shape", &shape),
                ];
                b.value(&fusion::ALL_TO_ALL, &[value], &clauses)?
            }
            Move::Reorder(..) | Move::Pass(..) => {
                let pairs = b.ints("pairs", &pairs);
                b.value(&fusion::COLLECTIVE_PERMUTE, &[value], &[over, pairs])?
            }
            Move::Slice(dim, _) => {
                let number = b.value(&fusion::AXIS_INDEX, &[], &[over])?;
                let number = b.cast(number, DType::I64)?;
                let shape = resized(dim, 1, parts);
                let length = match shape[dim].extent {
                    Extent::Static(extent) => extent as i64,
                    _ => 0,
                };
                let scalar = b.ir.tensor(Vec::new(), DType::I64);
                let length = b.constant_int(length, scalar)?;
                let start = b.mul(number, length)?;
                let clauses = [b.ints("dims", &[dim as i64]), b.shape("shape", &shape)];
                return b.value(&fusion::DYNAMIC_SLICE, &[value, start], &clauses);
            }
        };
        let def = self.ir.def_op(made).unwrap_or(op);
        let name = self.ir.def(def).map_or("", |def| def.name);
        let over: Vec<&str> = self.mesh.names(&axes);
        let text = format!(
            "{} over {over:?}",
            fuser_analysis::axes::value_text(self.ir, whole)
        );
        let bytes = self.bytes(made);
        self.told.push(Told {
            op: def,
            name: name.strip_prefix("fusion.").unwrap_or(name),
            bytes,
            text,
        });
        Ok(made)
    }
}

/// The source and target device of each part if mesh axes split an axis in another order, as device numbers of the
/// first order.
fn reordered(mesh: &Mesh, before: &[usize], after: &[usize]) -> Vec<i64> {
    let own = Mesh {
        axes: before.iter().map(|&axis| mesh.axes[axis].clone()).collect(),
    };
    let mut pairs = Vec::new();
    for target in 0..own.devices() {
        let place = own.place(target);
        // The part that the device has then is that of the device which has this number now.
        let part = after.iter().fold(0, |part, &axis| {
            let at = before.iter().position(|&own| own == axis);
            part * mesh.axes[axis].1 + at.map_or(0, |at| place[at])
        });
        pairs.extend([part, target]);
    }
    pairs
}

/// The axes of the first operand with a halo exchanged between neighbors, and the mesh axes that split them.
fn halos(decision: &Decision) -> Vec<(usize, Halo, Vec<usize>)> {
    let all = decision.rule.factors.iter().zip(&decision.cut).enumerate();
    let cut = all.filter(|(_, (_, cut))| !cut.is_empty());
    let halos = cut.filter_map(|(number, (own, cut))| match own.kind {
        Kind::Halo(halo) => {
            let axes = decision.rule.operands.first()?;
            let dim = axes.iter().position(|own| *own == Some(number))?;
            Some((dim, halo, cut.clone()))
        }
        _ => None,
    });
    halos.collect()
}

/// The mesh axes that cut the factor of a kind.
fn cut_along(decision: &Decision, kind: Kind) -> Option<Vec<usize>> {
    let all = decision.rule.factors.iter().zip(&decision.cut);
    let mut cut = all.filter(|(own, cut)| own.kind == kind && !cut.is_empty());
    cut.next().map(|(_, cut)| cut.clone())
}
