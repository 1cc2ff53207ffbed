//! Execution on the devices of a mesh. Each device is an engine. All engines stop at each collective, which takes their
//! values and returns each device its share.
//!
//! ```text
//! device 0   ops ... all_reduce | ops ...      runs until it comes to a collective
//! device 1   ops ... all_reduce | ops ...      then the next device does; when all have come, each goes on with its result
//! ```

use fuser_ir::attr::{AttrId, AttrKind};
use fuser_ir::{Block, DType, Ir, Op};

use crate::engine::Engine;
use crate::error::{ErrorKind, InterpError, Result};
use crate::machine::Machine;
use crate::ops::code::{Code, code};
use crate::tensor::{Axis, Data, Tensor, product};

/// The names and lengths of the axes of a mesh.
struct Mesh {
    axes: Vec<(String, usize)>,
}

impl Mesh {
    /// The mesh of the module around `op`.
    fn of(ir: &Ir, op: Op) -> Result<Self> {
        let missing = || InterpError::invalid("there is no mesh");
        let module = std::iter::successors(Some(op), |o| ir.parent_op(*o)).last();
        let children = ir.children(module.ok_or_else(missing)?);
        let mut meshes = children.into_iter().filter(|o| ir.name(*o) == "task.mesh");
        let mesh = meshes.next().ok_or_else(missing)?;
        let sizes = ir.i64s_of(mesh, "sizes").unwrap_or(&[]);
        let names = texts(ir, ir.attr_of(mesh, "axes").ok_or_else(missing)?)?;
        let sizes = sizes.iter().map(|size| crate::machine::extent(*size));
        let sizes = sizes.collect::<Result<Vec<_>>>()?;
        let axes = names.into_iter().map(String::from).zip(sizes).collect();
        Ok(Self { axes })
    }
    fn devices(&self) -> Result<usize> {
        let devices = product(self.axes.iter().map(|(_, size)| *size));
        let devices = devices.filter(|&devices| devices > 0 && devices <= MOST);
        devices.ok_or_else(|| InterpError::invalid("the mesh has no devices, or too many"))
    }
    fn axis(&self, name: &str) -> Result<usize> {
        let found = self.axes.iter().position(|(own, _)| own == name);
        found.ok_or_else(|| InterpError::invalid(format!("the mesh has no axis `{name}`")))
    }
    /// The index of a device along an axis.
    fn index(&self, device: usize, axis: usize) -> usize {
        let behind = product(self.axes[axis + 1..].iter().map(|(_, size)| *size));
        device / behind.unwrap_or(1).max(1) % self.axes[axis].1.max(1)
    }
    /// The number of a device along several axes, the last one fastest.
    fn number(&self, device: usize, over: &[usize]) -> usize {
        over.iter().fold(0, |number, &axis| {
            number * self.axes[axis].1 + self.index(device, axis)
        })
    }
    /// The devices that differ from one along `over` only, in order.
    fn group(&self, device: usize, over: &[usize]) -> Result<Vec<usize>> {
        let others: Vec<usize> = (0..self.axes.len()).filter(|a| !over.contains(a)).collect();
        let own = self.number(device, &others);
        let mut group: Vec<usize> = (0..self.devices()?)
            .filter(|&other| self.number(other, &others) == own)
            .collect();
        group.sort_by_key(|&other| self.number(other, over));
        Ok(group)
    }
}

/// The most devices that are executed.
const MOST: usize = 4096;

fn texts<'a>(ir: &'a Ir, attr: &AttrKind) -> Result<Vec<&'a str>> {
    let form = || InterpError::invalid("a list of names is none");
    let AttrKind::Array(items) = attr else {
        return Err(form());
    };
    let text = |item: &AttrId| ir.attr_kind(*item).as_string().map(|sym| ir.str(sym));
    items
        .iter()
        .map(text)
        .collect::<Option<_>>()
        .ok_or_else(form)
}

/// The numbers of mesh axes that cut each axis of a tensor.
type Cuts = Vec<Vec<usize>>;

/// The shardings that a clause lists.
fn shardings(ir: &Ir, mesh: &Mesh, op: Op, clause: &str) -> Result<Vec<Cuts>> {
    let form = || InterpError::invalid("a sharding is no list of lists of names");
    let Some(AttrKind::Array(items)) = ir.attr_of(op, clause) else {
        return Err(form());
    };
    let one = |item: &AttrId| {
        let AttrKind::Array(dims) = ir.attr_kind(*item) else {
            return Err(form());
        };
        let dim = |dim: &AttrId| {
            let names = texts(ir, ir.attr_kind(*dim))?;
            names.into_iter().map(|name| mesh.axis(name)).collect()
        };
        dims.iter().map(dim).collect()
    };
    items.iter().map(one).collect()
}

impl Engine<'_> {
    /// `task.shard`: the operand.
    pub(crate) fn pass_on(&mut self, op: Op) -> Result<()> {
        let values = self.ir.operands(op).map(|value| self.take(value));
        let values = values.collect::<Result<Vec<_>>>()?;
        self.bind_results(op, values)
    }
    /// `task.devices`: cuts the operands, runs all devices, joins the results.
    pub(crate) fn run_devices(&mut self, op: Op) -> Result<()> {
        let ir = self.ir;
        let mesh = Mesh::of(ir, op)?;
        let (cuts, joints) = (
            shardings(ir, &mesh, op, "in")?,
            shardings(ir, &mesh, op, "out")?,
        );
        let values = ir.operands(op).map(|value| self.take(value));
        let values = values.collect::<Result<Vec<_>>>()?;
        let body = self.program(op, "body")?;
        let count = mesh.devices()?;
        let mut parts = Vec::with_capacity(count);
        for device in 0..count {
            let part = values.iter().zip(&cuts);
            let part = part.map(|(value, cuts)| cut(&mut self.machine, &mesh, device, value, cuts));
            parts.push(part.collect::<Result<Vec<_>>>()?);
        }
        drop(values);
        let made = self.on_devices(&mesh, body, parts)?;
        let mut results = Vec::with_capacity(joints.len());
        for (index, cuts) in joints.iter().enumerate() {
            let parts: Option<Vec<&Tensor>> = made.iter().map(|own| own.get(index)).collect();
            let parts = parts.ok_or_else(|| InterpError::invalid("a device has fewer results"))?;
            let tensor = ir.value_kind(ir.result(op, index)).as_tensor();
            let dims = tensor.map_or(&[][..], |tensor| &tensor.dims);
            let repeats: Vec<bool> = dims.iter().map(|dim| dim.broadcast).collect();
            results.push(join(&mut self.machine, &mesh, &parts, cuts, &repeats)?);
        }
        self.bind_results(op, results)
    }
    /// The results of a program on each device.
    fn on_devices(
        &mut self,
        mesh: &Mesh,
        body: Block,
        parts: Vec<Vec<Tensor>>,
    ) -> Result<Vec<Vec<Tensor>>> {
        let parameters = self.ir.args(body);
        let mut devices = Vec::with_capacity(parts.len());
        for inputs in parts {
            let mut device = Engine::new(self.ir, self.machine.options);
            device.bind_inputs(parameters, &inputs)?;
            device.enter(None, body, None);
            devices.push(device);
        }
        loop {
            let mut waiting = Vec::with_capacity(devices.len());
            for device in &mut devices {
                // The limits are those of the whole run.
                std::mem::swap(&mut self.machine, &mut device.machine);
                let stopped = device.go_on();
                std::mem::swap(&mut self.machine, &mut device.machine);
                waiting.push(stopped?);
            }
            let first = waiting.first().copied().flatten();
            if waiting.iter().any(|own| *own != first) {
                return Err(InterpError::invalid(
                    "devices wait at different collectives",
                ));
            }
            let Some(op) = first else {
                return Ok(devices.iter_mut().map(Engine::take_returned).collect());
            };
            let mut held = Vec::with_capacity(devices.len());
            for device in &mut devices {
                let values = self.ir.operands(op).map(|value| device.take(value));
                held.push(values.collect::<Result<Vec<_>>>()?);
            }
            let results =
                collective(&mut self.machine, self.ir, mesh, op, &held).map_err(|e| e.at(op))?;
            for (device, result) in devices.iter_mut().zip(results) {
                device
                    .bind_results(op, vec![result])
                    .map_err(|e| e.at(op))?;
            }
        }
    }
    /// A collective outside of `task.devices`, which is defined only on a mesh of one device.
    pub(crate) fn alone(&mut self, op: Op) -> Result<()> {
        let mesh = Mesh::of(self.ir, op)?;
        if mesh.devices()? != 1 {
            let text = "a program of one of several devices: `task.devices` runs it";
            return Err(InterpError::new(ErrorKind::NotExecutable(text.into())));
        }
        let values = self.ir.operands(op).map(|value| self.take(value));
        let held = vec![values.collect::<Result<Vec<_>>>()?];
        let results = collective(&mut self.machine, self.ir, &mesh, op, &held)?;
        self.bind_results(op, results)
    }
}

/// The part of `value` that a device holds.
fn cut(
    machine: &mut Machine<'_>,
    mesh: &Mesh,
    device: usize,
    value: &Tensor,
    cuts: &Cuts,
) -> Result<Tensor> {
    let mut shape = value.shape();
    let mut starts = vec![0; shape.len()];
    if cuts.len() != shape.len() {
        return Err(InterpError::invalid("a sharding has another rank"));
    }
    for ((extent, start), cut) in shape.iter_mut().zip(&mut starts).zip(cuts) {
        let parts = product(cut.iter().map(|&axis| mesh.axes[axis].1)).unwrap_or(0);
        if parts == 0 || *extent % parts != 0 {
            return Err(InterpError::invalid("the parts of an axis are not equal"));
        }
        *extent /= parts;
        *start = mesh.number(device, cut) * *extent;
    }
    if cuts.iter().all(Vec::is_empty) {
        return Ok(value.clone());
    }
    let steps = vec![1; shape.len()];
    machine.slice(value, &starts, &shape, &steps)
}

/// The tensor of which all devices hold parts.
fn join(
    machine: &mut Machine<'_>,
    mesh: &Mesh,
    parts: &[&Tensor],
    cuts: &Cuts,
    repeats: &[bool],
) -> Result<Tensor> {
    // Of copies the first device's counts.
    let cutting: Vec<usize> = cuts.iter().flatten().copied().collect();
    let free: Vec<usize> = (0..mesh.axes.len())
        .filter(|a| !cutting.contains(a))
        .collect();
    let mut pieces: Vec<(Vec<usize>, Tensor)> = Vec::new();
    for (device, part) in parts.iter().enumerate() {
        if mesh.number(device, &free) == 0 {
            let place = cuts.iter().map(|cut| mesh.number(device, cut)).collect();
            pieces.push((place, Tensor::clone(part)));
        }
    }
    // The last axis first: pieces that differ along it only become one.
    for axis in (0..cuts.len()).rev() {
        pieces.sort_by(|a, b| a.0.cmp(&b.0));
        let mut joined: Vec<(Vec<usize>, Tensor)> = Vec::new();
        for run in pieces.chunk_by(|a, b| a.0[..axis] == b.0[..axis]) {
            let tensors: Vec<&Tensor> = run.iter().map(|(_, tensor)| tensor).collect();
            let tensor = match tensors[..] {
                [one] => one.clone(),
                // Nothing changes along an axis that is stored once.
                [first, ..] if repeats.get(axis) == Some(&true) => {
                    let mut axes = first.axes().to_vec();
                    let extent = axes[axis].extent.saturating_mul(tensors.len());
                    axes[axis] = Axis::new(extent, true);
                    let longer = first.with_axes(axes);
                    longer.ok_or_else(|| InterpError::invalid("parts do not fit each other"))?
                }
                _ => machine.cat(&tensors, axis)?,
            };
            joined.push((run[0].0[..axis].to_vec(), tensor));
        }
        pieces = joined;
    }
    let last = pieces.pop().map(|(_, tensor)| tensor);
    last.ok_or_else(|| InterpError::invalid("there are no devices"))
}

/// The results of a collective on each device, of what each held.
fn collective(
    machine: &mut Machine<'_>,
    ir: &Ir,
    mesh: &Mesh,
    op: Op,
    held: &[Vec<Tensor>],
) -> Result<Vec<Tensor>> {
    let missing = |clause: &str| InterpError::invalid(format!("a collective has no `{clause}`"));
    let over = ir.attr_of(op, "over").ok_or_else(|| missing("over"))?;
    let over = texts(ir, over)?.into_iter().map(|name| mesh.axis(name));
    let over = over.collect::<Result<Vec<_>>>()?;
    let axis = |clause: &str| {
        let axis = ir.int_of(op, clause).ok_or_else(|| missing(clause))?;
        crate::machine::extent(axis)
    };
    let mut results = Vec::with_capacity(held.len());
    for device in 0..held.len() {
        let number = mesh.number(device, &over);
        let group = mesh.group(device, &over)?;
        let operand = |device: &usize| held.get(*device).and_then(|own| own.first());
        let parts: Vec<&Tensor> = group.iter().filter_map(operand).collect();
        // Results have no axis that is stored once.
        let parts = parts.into_iter().map(|part| machine.densify(part));
        let parts = parts.collect::<Result<Vec<_>>>()?;
        let own = |number: usize| {
            parts
                .get(number)
                .ok_or_else(|| InterpError::invalid("there is no such device"))
        };
        let pairs = || {
            let list = ir.i64s_of(op, "pairs").unwrap_or(&[]);
            list.as_chunks::<2>().0.iter()
        };
        results.push(match ir.name(op) {
            "fusion.axis_index" => {
                let number = i32::try_from(number).unwrap_or(i32::MAX);
                let tensor = Tensor::new(DType::I32, Vec::new(), Data::I32(vec![number]));
                tensor.ok_or_else(|| InterpError::invalid("a number is none"))?
            }
            "fusion.all_reduce" => combined(machine, ir, op, &parts)?,
            "fusion.all_gather" => machine.cat(&parts.iter().collect::<Vec<_>>(), axis("dim")?)?,
            "fusion.reduce_scatter" => {
                let whole = combined(machine, ir, op, &parts)?;
                share(machine, &whole, axis("dim")?, number, group.len())?
            }
            "fusion.all_to_all" => {
                let (split, concat) = (axis("split")?, axis("concat")?);
                let mut shares = Vec::with_capacity(parts.len());
                for part in &parts {
                    shares.push(share(machine, part, split, number, group.len())?);
                }
                machine.cat(&shares.iter().collect::<Vec<_>>(), concat)?
            }
            "fusion.collective_permute" => {
                let source = pairs().find(|[_, target]| *target == number as i64);
                match source {
                    Some(&[source, _]) => own(crate::machine::extent(source)?)?.clone(),
                    None => {
                        let (dtype, axes) = (own(number)?.dtype(), own(number)?.axes().to_vec());
                        let draft = machine.draft(dtype, axes)?;
                        machine.finish(draft)?
                    }
                }
            }
            "fusion.collective_broadcast" => own(axis("root")?)?.clone(),
            name => return Err(InterpError::new(ErrorKind::UnknownOp(name.into()))),
        });
    }
    Ok(results)
}

/// Part `number` of so many along an axis.
fn share(
    machine: &mut Machine<'_>,
    x: &Tensor,
    axis: usize,
    number: usize,
    parts: usize,
) -> Result<Tensor> {
    let (mut shape, mut starts) = (x.shape(), vec![0; x.axes().len()]);
    let (Some(extent), Some(start)) = (shape.get_mut(axis), starts.get_mut(axis)) else {
        return Err(InterpError::invalid("a collective goes along no axis"));
    };
    if parts == 0 || *extent % parts != 0 {
        return Err(InterpError::invalid("the parts of an axis are not equal"));
    }
    *extent /= parts;
    *start = number * *extent;
    let steps = vec![1; shape.len()];
    machine.slice(x, &starts, &shape, &steps)
}

/// Combines the parts elementwise, in order. Floats are combined in the accumulating type and rounded once.
fn combined(machine: &mut Machine<'_>, ir: &Ir, op: Op, parts: &[Tensor]) -> Result<Tensor> {
    let unknown = || InterpError::invalid("unknown way to combine");
    let first = parts.first().ok_or_else(unknown)?;
    let dtype = first.dtype();
    let name = match (ir.str_of(op, "combine").unwrap_or(""), dtype) {
        ("sum", DType::I1) => "or",
        ("prod", DType::I1) => "and",
        ("sum", _) => "add",
        ("prod", _) => "mul",
        ("max", _) => "maximum",
        ("min", _) => "minimum",
        _ => return Err(unknown()),
    };
    let Some(Code::Binary(combine)) = code(name) else {
        return Err(unknown());
    };
    let wide = match dtype.is_float() {
        true => dtype.accumulate(),
        false => dtype,
    };
    let mut all = machine.cast(first, wide)?;
    for part in &parts[1..] {
        let part = machine.cast(part, wide)?;
        all = machine.binary(combine, name, &all, &part)?;
    }
    machine.cast(&all, dtype)
}
