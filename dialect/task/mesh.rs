//! Meshes of devices: `task.mesh`, shardings, and the ops that say how values lie.
//!
//! ```text
//! task.mesh axes ["data", "model"] sizes [2, 4]     eight devices; rank 5 has the index 1 along "data" and 1 along "model"
//! [["data"], []]                                    a sharding: axis 0 is cut into two parts, axis 1 is whole
//! [["data", "model"], []]                           axis 0 is cut into two parts, and each of these into four
//! ```
//!
//! A module has one mesh. Parts are equal: the extent of an axis is a multiple of the number of its parts. Devices that
//! differ only along mesh axes not used by any tensor axis hold copies.

use fuser_ir::attr::{AttrId, AttrKind};
use fuser_ir::def::{At, DTypes, OpError};
use fuser_ir::types::{Extent, TypeId};
use fuser_ir::{Ir, Op, describe, suggest};

use super::ops::{DEVICES, MESH, PROGRAM, SHARD};
use super::verify::{signature, strings};
use super::{CALLEE, DEVICE_PROGRAM, MESH_FORM, SHARDING, calls, marks};

/// The most devices.
pub const MOST: i64 = 1 << 20;

/// The attribute of a program that runs on each device of the mesh; its values are parts.
pub const DEVICE: &str = "task.device";

/// The key of the sharding of an argument or a result, in its attributes.
pub const MARK: &str = "shard";

/// The axes of a mesh and their lengths.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Mesh {
    /// Name and length of each axis; ranks are consecutive along the last one.
    pub axes: Vec<(String, i64)>,
}

impl Mesh {
    /// The mesh of the module around `op`.
    pub fn of(ir: &Ir, op: Op) -> Option<Self> {
        let module = std::iter::successors(Some(op), |&op| ir.parent_op(op)).last()?;
        let mut children = ir.children(module).into_iter();
        Self::read(ir, children.find(|&child| ir.is(child, &MESH))?)
    }
    /// The mesh that a `task.mesh` says.
    pub fn read(ir: &Ir, op: Op) -> Option<Self> {
        let (names, sizes) = (strings(ir, op, "axes"), ir.i64s_of(op, "sizes")?);
        let axes = names
            .into_iter()
            .map(String::from)
            .zip(sizes.iter().copied());
        let axes: Vec<_> = axes.collect();
        (axes.len() == sizes.len()).then_some(Self { axes })
    }
    /// The number of an axis.
    pub fn axis(&self, name: &str) -> Option<usize> {
        self.axes.iter().position(|(own, _)| own == name)
    }
    /// The number of devices.
    pub fn devices(&self) -> i64 {
        self.axes.iter().map(|(_, size)| size).product()
    }
    /// The number of devices along `axes`.
    pub fn parts(&self, axes: &[usize]) -> i64 {
        axes.iter().map(|&axis| self.axes[axis].1).product()
    }
    /// The place of device `rank` along each axis.
    pub fn place(&self, rank: i64) -> Vec<i64> {
        let mut rest = rank;
        let mut place: Vec<i64> = self
            .axes
            .iter()
            .rev()
            .map(|(_, size)| {
                let index = rest % size;
                rest /= size;
                index
            })
            .collect();
        place.reverse();
        place
    }
    /// The names of axes.
    pub fn names(&self, axes: &[usize]) -> Vec<&str> {
        axes.iter().map(|&axis| &*self.axes[axis].0).collect()
    }
}

/// The mesh axes that split each axis of a tensor, major first.
#[derive(Clone, PartialEq, Eq, Debug, Default, Hash, PartialOrd, Ord)]
pub struct Sharding {
    /// For each tensor axis the numbers of mesh axes.
    pub dims: Vec<Vec<usize>>,
}

impl Sharding {
    /// Whole on each device.
    pub fn replicated(rank: usize) -> Self {
        Self {
            dims: vec![Vec::new(); rank],
        }
    }
    /// Parses the sharding of an attribute; the error names its mistake.
    pub fn read(ir: &Ir, mesh: &Mesh, attr: &AttrKind) -> Result<Self, String> {
        let form = || String::from("is no list of lists of mesh axes, as `[[\"data\"], []]`");
        let AttrKind::Array(dims) = attr else {
            return Err(form());
        };
        let mut used = vec![false; mesh.axes.len()];
        let mut dim = |&dim: &AttrId| {
            let AttrKind::Array(names) = ir.attr_kind(dim) else {
                return Err(form());
            };
            let axis = |&name: &AttrId| {
                let name = ir.attr_kind(name).as_string().ok_or_else(form)?;
                let name = ir.str(name);
                let axis = mesh.axis(name).ok_or_else(|| unknown_axis(mesh, name))?;
                match std::mem::replace(&mut used[axis], true) {
                    true => Err(format!("has the mesh axis \"{name}\" twice")),
                    false => Ok(axis),
                }
            };
            names.iter().map(axis).collect()
        };
        let dims = dims.iter().map(&mut dim).collect::<Result<_, _>>()?;
        Ok(Self { dims })
    }
    /// The attribute.
    pub fn attr(&self, ir: &mut Ir, mesh: &Mesh) -> AttrId {
        let dims = self
            .dims
            .iter()
            .map(|axes| strings_attr(ir, &mesh.names(axes)));
        let dims = dims.collect();
        ir.attr(AttrKind::Array(dims))
    }
    /// True if nothing is cut.
    pub fn is_replicated(&self) -> bool {
        self.dims.iter().all(Vec::is_empty)
    }
    /// `["data"], []`
    pub fn text(&self, mesh: &Mesh) -> String {
        let dims = self
            .dims
            .iter()
            .map(|axes| format!("{:?}", mesh.names(axes)));
        format!("[{}]", dims.collect::<Vec<_>>().join(", "))
    }
    /// Checks that a tensor of type `ty` can be sharded like this; the error is the reason that it cannot.
    pub fn fits(&self, ir: &Ir, mesh: &Mesh, ty: TypeId) -> Result<(), String> {
        let empty = Vec::new();
        let dims = ir.ty(ty).as_tensor().map_or(&empty, |tensor| &tensor.dims);
        if dims.len() != self.dims.len() {
            let (has, wanted) = (self.dims.len(), describe::ty(ir, ty));
            return Err(format!("has {has} entries for a `{wanted}`"));
        }
        for (axis, (dim, cut)) in dims.iter().zip(&self.dims).enumerate() {
            let parts = mesh.parts(cut);
            match dim.extent {
                _ if cut.is_empty() => {}
                Extent::Static(extent) if extent % (parts.max(1) as u64) == 0 => {}
                Extent::Static(extent) => {
                    return Err(format!(
                        "cuts axis {axis}, of extent {extent}, into {parts} parts, which are not equal"
                    ));
                }
                _ => return Err(format!("cuts axis {axis}, whose extent is not known")),
            }
        }
        Ok(())
    }
}

/// An array of strings.
pub fn strings_attr(ir: &mut Ir, names: &[&str]) -> AttrId {
    let names: Vec<AttrId> = names
        .iter()
        .map(|name| {
            let name = ir.sym(name);
            ir.attr(AttrKind::String(name))
        })
        .collect();
    ir.attr(AttrKind::Array(names))
}

fn unknown_axis(mesh: &Mesh, name: &str) -> String {
    let names = mesh.axes.iter().map(|(name, _)| &**name);
    match suggest::nearest(name, names) {
        Some(near) => {
            format!("has \"{name}\", which is no axis of the mesh: did you mean \"{near}\"?")
        }
        None => format!("has \"{name}\", which is no axis of the mesh"),
    }
}

/// The mesh axes that a clause of `op` lists, each once.
pub fn listed(ir: &Ir, mesh: &Mesh, op: Op, clause: &'static str) -> Result<Vec<usize>, OpError> {
    let mut axes = Vec::new();
    for name in strings(ir, op, clause) {
        let axis = mesh.axis(name).ok_or_else(|| {
            OpError::at(At::Clause(clause), unknown_axis(mesh, name)).code(&SHARDING)
        })?;
        if axes.contains(&axis) {
            let text = format!("has the mesh axis \"{name}\" twice");
            return Err(OpError::at(At::Clause(clause), text).code(&SHARDING));
        }
        axes.push(axis);
    }
    Ok(axes)
}

/// True if a program runs on each device.
pub fn is_device_program(ir: &Ir, program: Op) -> bool {
    ir.attr_of(program, DEVICE).is_some()
}

/// The program around `op`.
pub fn program_around(ir: &Ir, op: Op) -> Option<Op> {
    std::iter::successors(ir.parent_op(op), |&op| ir.parent_op(op)).find(|&op| ir.is(op, &PROGRAM))
}

/// `task.mesh`: one of a module, with different names and lengths of at least 1.
pub fn verify_mesh(ir: &Ir, op: Op, errors: &mut Vec<OpError>) {
    let mut error = |at: At, text: String| errors.push(OpError::at(at, text).code(&MESH_FORM));
    let names = strings(ir, op, "axes");
    let sizes = ir.i64s_of(op, "sizes").unwrap_or(&[]);
    if names.len() != sizes.len() {
        let text = format!(
            "has {} entries where `axes` has {}",
            sizes.len(),
            names.len()
        );
        error(At::Clause("sizes"), text);
    }
    if let Some(twice) = names
        .iter()
        .enumerate()
        .find(|(at, name)| names[..*at].contains(name))
    {
        error(At::Clause("axes"), format!("has \"{}\" twice", twice.1));
    }
    let mut devices = 1i64;
    for &size in sizes {
        devices = devices.saturating_mul(size.max(1));
        if size < 1 {
            error(At::Clause("sizes"), String::from("must be at least 1"));
            return;
        }
    }
    if devices > MOST {
        let text = format!("are {devices} devices, more than {MOST}");
        error(At::Clause("sizes"), text);
    }
    let others = ir.parent_op(op).map(|module| ir.children(module));
    let first = others
        .into_iter()
        .flatten()
        .find(|&other| ir.is(other, &MESH));
    if first != Some(op) {
        error(
            At::Op,
            String::from("is the second mesh of the module, which has one"),
        );
    }
}

/// True if a program states shardings and is not the program of a single device.
pub fn is_divided(ir: &Ir, program: Op) -> bool {
    if is_device_program(ir, program) {
        return false;
    }
    let says = |op: Op| ir.is(op, &SHARD) || ir.is(op, &DEVICES);
    let marked = |list: &&str| {
        let Some(AttrKind::Array(items)) = ir.attr_of(program, list) else {
            return false;
        };
        (0..items.len()).any(|index| marks::has(ir, program, list, index, MARK))
    };
    marks::LISTS.iter().any(marked) || ir.children(program).into_iter().any(says)
}

/// The marks of shardings of a program fit its types.
pub fn verify_marks(ir: &Ir, program: Op, errors: &mut Vec<OpError>) {
    let Some((inputs, results)) = signature(ir, program) else {
        return;
    };
    let divided = is_divided(ir, program);
    for (list, what, types) in [
        (marks::LISTS[0], "argument", inputs),
        (marks::LISTS[1], "result", results),
    ] {
        for (index, &ty) in types.iter().enumerate() {
            let dtype = ir.ty(ty).dtype();
            if divided && dtype.is_some_and(|dtype| !DTypes::KERNEL.contains(dtype)) {
                let text = format!(
                    "{what} {index} is a `{}`, of which devices have no parts",
                    describe::ty(ir, ty)
                );
                let help = "give complex numbers as `fusion.real` and `fusion.imag`, floats of 4 bits as wider ones";
                errors.push(OpError::new(text).code(&SHARDING).help(help));
            }
            let Some(attr) = marks::value(ir, program, list, index, MARK) else {
                continue;
            };
            let fault = match Mesh::of(ir, program) {
                None => Err(String::from("there is no mesh")),
                Some(_) if is_device_program(ir, program) => {
                    Err(String::from("the program has parts already"))
                }
                Some(mesh) => {
                    Sharding::read(ir, &mesh, attr).and_then(|own| own.fits(ir, &mesh, ty))
                }
            };
            if let Err(text) = fault {
                let error = OpError::new(format!("the sharding of {what} {index}: {text}"));
                errors.push(error.code(&SHARDING));
            }
        }
    }
}

/// `task.shard`: a sharding that the value can have.
pub fn verify_shard(ir: &Ir, op: Op, errors: &mut Vec<OpError>) {
    let mut error = |text: String| errors.push(OpError::at(At::Clause("to"), text).code(&SHARDING));
    let (Some(mesh), Some(attr)) = (Mesh::of(ir, op), ir.attr_of(op, "to")) else {
        error(String::from(
            "names axes of a mesh, and the module has none",
        ));
        return;
    };
    let Some(value) = ir.operands(op).next() else {
        return;
    };
    let sharding = match Sharding::read(ir, &mesh, attr) {
        Ok(sharding) => sharding,
        Err(text) => return error(text),
    };
    if let Err(text) = sharding.fits(ir, &mesh, ir.value_type(value)) {
        return error(text);
    }
    match listed(ir, &mesh, op, "partial") {
        Err(fault) => errors.push(fault),
        Ok(partial) => {
            if let Some(&axis) = partial
                .iter()
                .find(|axis| sharding.dims.iter().flatten().any(|a| a == *axis))
            {
                let name = &mesh.axes[axis].0;
                error(format!(
                    "cuts along \"{name}\", along which the value is partial"
                ));
            }
        }
    }
}

/// The shardings of the operands (`in`) or results (`out`) of a `task.devices`.
pub fn shardings(ir: &Ir, mesh: &Mesh, op: Op, clause: &str) -> Result<Vec<Sharding>, String> {
    let form = || String::from("is no list of shardings, as `[[[\"data\"], []], [[]]]`");
    match ir.attr_of(op, clause) {
        Some(AttrKind::Array(items)) => {
            let one = |&item: &AttrId| Sharding::read(ir, mesh, ir.attr_kind(item));
            items.iter().map(one).collect()
        }
        _ => Err(form()),
    }
}

/// `task.devices`: runs a device program whose values are the parts of operands and results.
pub fn verify_devices(ir: &Ir, op: Op, errors: &mut Vec<OpError>) {
    let Some(mesh) = Mesh::of(ir, op) else {
        errors.push(OpError::new("needs a `task.mesh` in the module").code(&MESH_FORM));
        return;
    };
    if program_around(ir, op).is_some_and(|program| is_device_program(ir, program)) {
        let text = "stands in a program that runs on each device already";
        errors.push(OpError::new(text).code(&DEVICE_PROGRAM));
    }
    let Some(body) = calls::callee(ir, op, "body") else {
        let text = "names no program of the module";
        errors.push(OpError::at(At::Clause("body"), text).code(&CALLEE));
        return;
    };
    if !is_device_program(ir, body) {
        let text = "is a program without `{task.device}`";
        let help = "write `task.program @f(...) attributes {task.device}` for a program that runs on each device";
        errors.push(
            OpError::at(At::Clause("body"), text)
                .code(&DEVICE_PROGRAM)
                .help(help),
        );
    }
    let Some((inputs, results)) = signature(ir, body) else {
        return;
    };
    let operands: Vec<TypeId> = ir.operands(op).map(|value| ir.value_type(value)).collect();
    let own: Vec<TypeId> = ir
        .results(op)
        .iter()
        .map(|&value| ir.value_type(value))
        .collect();
    for (clause, what, whole, parts) in [
        ("in", "operand", &operands, inputs),
        ("out", "result", &own, results),
    ] {
        let mut error =
            |text: String| errors.push(OpError::at(At::Clause(clause), text).code(&SHARDING));
        let shardings = match shardings(ir, &mesh, op, clause) {
            Ok(shardings) => shardings,
            Err(text) => {
                error(text);
                continue;
            }
        };
        if shardings.len() != whole.len() || parts.len() != whole.len() {
            let (count, body) = (shardings.len(), parts.len());
            let text = format!(
                "has {count} shardings for {} {what}s; the program has {body}",
                whole.len()
            );
            error(text);
            continue;
        }
        for (index, sharding) in shardings.iter().enumerate() {
            let (ty, part) = (whole[index], parts[index]);
            let fault = sharding.fits(ir, &mesh, ty).and_then(|()| {
                match is_part(ir, &mesh, sharding, ty, part) {
                    true => Ok(()),
                    false => {
                        let (ty, part) = (describe::ty(ir, ty), describe::ty(ir, part));
                        Err(format!("makes no `{part}` of a `{ty}`"))
                    }
                }
            });
            if let Err(text) = fault {
                error(format!("{what} {index} {text}"));
            }
        }
    }
}

/// True if `part` is the type of the parts of `whole`.
fn is_part(ir: &Ir, mesh: &Mesh, sharding: &Sharding, whole: TypeId, part: TypeId) -> bool {
    let (Some(whole), Some(part)) = (ir.ty(whole).as_tensor(), ir.ty(part).as_tensor()) else {
        return whole == part;
    };
    let same = whole.dims.len() == part.dims.len() && whole.dtype == part.dtype;
    let axes = whole.dims.iter().zip(&part.dims).zip(&sharding.dims);
    same && axes
        .into_iter()
        .all(|((whole, part), cut)| match whole.extent {
            Extent::Static(extent) => {
                part.extent == Extent::Static(extent / mesh.parts(cut).max(1) as u64)
            }
            other => part.extent == other,
        })
}
