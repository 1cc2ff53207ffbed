//! Collectives: devices of a mesh hand parts of tensors to each other.
//!
//! Collectives occur in programs that run on each device (`{task.device}`). The devices of a group differ only along
//! the mesh axes of `over`. Each has a number in its group, row-major, in the order in which `over` lists the axes.

use fuser_ir::Ir;
use fuser_ir::Op;
use fuser_ir::def::{
    At, ClauseDef, ClauseKind, DTypes, OpClass, OpDef, OpError, OpParts, OperandDef, Placement,
    ResultDef, ResultTypes, Shape, Traits, TypeConstraint, clause, result,
};
use fuser_ir::types::{DType, Dim, Extent};

use super::shape;
use crate::task::DEVICE_PROGRAM;
use crate::task::mesh::{self, Mesh};

const MOVED: TypeConstraint = TypeConstraint::new(Shape::Tensor, DTypes::KERNEL);
const COMBINED: TypeConstraint = TypeConstraint::new(Shape::Tensor, DTypes::COMPUTED);

const fn taken(ty: TypeConstraint, doc: &'static str) -> OperandDef {
    OperandDef {
        name: "input",
        ty,
        variadic: false,
        placement: Placement::Memory,
        doc,
    }
}

const fn made(ty: TypeConstraint, doc: &'static str) -> ResultDef {
    ResultDef {
        placement: Placement::Memory,
        ..result("output", ty, doc)
    }
}

const OVER: ClauseDef = clause(
    "over",
    ClauseKind::StringArray,
    "the axes of the mesh along which the devices of a group differ",
);

/// The ways in which the elements of a group become one.
const REDUCED_BY: &[&str] = &["sum", "prod", "max", "min"];

const COMBINE: ClauseDef = clause(
    "combine",
    ClauseKind::Keyword(REDUCED_BY),
    "how the elements of all devices become one",
);

const SHAPE: ClauseDef = clause("shape", ClauseKind::Extents, "the extents of the result");

const fn place(name: &'static str, doc: &'static str) -> ClauseDef {
    clause(name, ClauseKind::Int, doc)
}

const COLLECTIVE: OpDef = OpDef {
    class: OpClass::Collective,
    operands: &[taken(MOVED, "the part of this device")],
    results: &[made(MOVED, "what this device has then")],
    traits: Traits::PURE,
    verify: Some(verify),
    ..OpDef::EMPTY
};

/// The ops of this table, in the order of the manual.
pub const COLLECTIVE_OPS: &[&OpDef] = &[
    &AXIS_INDEX,
    &ALL_REDUCE,
    &ALL_GATHER,
    &REDUCE_SCATTER,
    &ALL_TO_ALL,
    &COLLECTIVE_PERMUTE,
    &COLLECTIVE_BROADCAST,
];

/// `fusion.axis_index`
pub static AXIS_INDEX: OpDef = OpDef {
    name: "fusion.axis_index",
    summary: "the number of this device in its group",
    doc: "Row-major over the axes of `over`, in their order; 0 where there are none. It is `jax.lax.axis_index`; over all axes of the mesh it is StableHLO's `partition_id`.",
    example: "// device\n%0 = fusion.axis_index over [\"x\"] : tensor<i32>",
    operands: &[],
    clauses: &[OVER],
    results: &[made(
        TypeConstraint::new(Shape::Tensor, DTypes::of(&[DType::I32])),
        "the number",
    )],
    infer: Some(infer_index),
    ..COLLECTIVE
};

/// `fusion.all_reduce`
pub static ALL_REDUCE: OpDef = OpDef {
    name: "fusion.all_reduce",
    summary: "element by element, what the group's devices have together",
    doc: "Each element is combined over the devices of the group, in ascending order from the first one's on, and all have the same bits. Floats of 16 bits are combined in f32 and \
          rounded once at the end; integers wrap. `max` and `min` are those of `fusion.maximum` and `fusion.minimum`: a NaN of any device gives NaN, and `-0 < +0`. \
          On `i1` `sum` and `max` are or, `prod` and `min` are and. The result has no `b` axes.",
    example: "// device, %x: tensor<4x8xf32>\n%0 = fusion.all_reduce %x over [\"x\"] combine sum : tensor<4x8xf32>",
    operands: &[taken(COMBINED, "the part of this device")],
    results: &[made(COMBINED, "what the devices have together")],
    clauses: &[OVER, COMBINE],
    infer: Some(infer_same),
    ..COLLECTIVE
};

/// `fusion.all_gather`
pub static ALL_GATHER: OpDef = OpDef {
    name: "fusion.all_gather",
    summary: "the group's parts, one behind the other",
    doc: "Along `dim`, in the order of the group. `shape` has along `dim` as many times the operand's extent as the group has devices. The result has no `b` axes.",
    example: "// device, %x: tensor<4x8xf32>\n%0 = fusion.all_gather %x over [\"x\"] dim 0 shape [8, 8] : tensor<8x8xf32>",
    clauses: &[
        OVER,
        place("dim", "the axis along which parts lie behind each other"),
        SHAPE,
    ],
    infer: Some(infer_shape),
    ..COLLECTIVE
};

/// `fusion.reduce_scatter`
pub static REDUCE_SCATTER: OpDef = OpDef {
    name: "fusion.reduce_scatter",
    summary: "a part of what the group's devices have together",
    doc: "`fusion.all_reduce`, and of its result the part along `dim` that has the number of this device. `shape` has along `dim` the operand's extent, divided by the number of devices of \
          the group.",
    example: "// device, %x: tensor<4x8xf32>\n%0 = fusion.reduce_scatter %x over [\"x\"] combine sum dim 1 shape [4, 4] : tensor<4x4xf32>",
    operands: &[taken(COMBINED, "the part of this device")],
    results: &[made(COMBINED, "a part of what the devices have together")],
    clauses: &[
        OVER,
        COMBINE,
        place("dim", "the axis along which parts lie behind each other"),
        SHAPE,
    ],
    infer: Some(infer_shape),
    ..COLLECTIVE
};

/// `fusion.all_to_all`
pub static ALL_TO_ALL: OpDef = OpDef {
    name: "fusion.all_to_all",
    summary: "each device of the group has a part for each",
    doc: "The operand is cut along `split` into as many equal parts as the group has devices, and part `j` goes to device `j`. What arrives lies one behind the other \
          along `concat`, in the order of the senders. The result has no `b` axes.",
    example: "// device, %x: tensor<4x8xf32>\n%0 = fusion.all_to_all %x over [\"x\"] split 1 concat 0 shape [8, 4] : tensor<8x4xf32>",
    clauses: &[
        OVER,
        place("split", "the axis that is cut"),
        place("concat", "the axis along which parts lie behind each other"),
        SHAPE,
    ],
    infer: Some(infer_shape),
    ..COLLECTIVE
};

/// `fusion.collective_permute`
pub static COLLECTIVE_PERMUTE: OpDef = OpDef {
    name: "fusion.collective_permute",
    summary: "parts go from one device of the group to another",
    doc: "`pairs` lists sources and targets, `[source, target, source, target]`, numbers in the group: the target has the part of the source. A device is the source of one pair at most, \
          and the target of one; one that is the target of none has zeros. It is `jax.lax.ppermute`. The result has no `b` axes.",
    example: "// device, %x: tensor<4xf32>\n%0 = fusion.collective_permute %x over [\"x\"] pairs [0, 1, 1, 0] : tensor<4xf32>",
    clauses: &[
        OVER,
        clause(
            "pairs",
            ClauseKind::I64Array,
            "source and target of each pair",
        ),
    ],
    infer: Some(infer_same),
    ..COLLECTIVE
};

/// `fusion.collective_broadcast`
pub static COLLECTIVE_BROADCAST: OpDef = OpDef {
    name: "fusion.collective_broadcast",
    summary: "one device's part for the whole group",
    doc: "All devices of the group have what number `root` has. The result has no `b` axes.",
    example: "// device, %x: tensor<4xf32>\n%0 = fusion.collective_broadcast %x over [\"x\"] root 1 : tensor<4xf32>",
    clauses: &[OVER, place("root", "the number of the device in its group")],
    infer: Some(infer_same),
    ..COLLECTIVE
};

fn infer_index(ir: &mut Ir, _: OpParts<'_>) -> Result<ResultTypes, OpError> {
    shape::one(ir.tensor(Vec::new(), DType::I32))
}

fn infer_same(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let (dims, dtype) = shape::tensor(ir, parts, 0)?;
    let dims = dims.iter().map(|dim| Dim::new(dim.extent)).collect();
    shape::one(ir.tensor(dims, dtype))
}

fn infer_shape(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let (_, dtype) = shape::tensor(ir, parts, 0)?;
    let dims = shape::shape_clause(ir, parts, "shape");
    let dims = dims.iter().map(|dim| Dim::new(dim.extent)).collect();
    shape::one(ir.tensor(dims, dtype))
}

/// Checks that a collective is in a device program, names axes of its mesh, and has extents that fit the number of
/// devices.
fn verify(ir: &Ir, op: Op, errors: &mut Vec<OpError>) {
    let mut error = |at: At, text: String| errors.push(OpError::at(at, text).code(&DEVICE_PROGRAM));
    let program = mesh::program_around(ir, op);
    if !program.is_some_and(|program| mesh::is_device_program(ir, program)) {
        let text =
            "stands in a program that does not run on each device (`attributes {task.device}`)";
        return error(At::Op, text.into());
    }
    let Some(mesh) = Mesh::of(ir, op) else {
        return error(At::Op, "needs a `task.mesh` in the module".into());
    };
    let over = match mesh::listed(ir, &mesh, op, "over") {
        Ok(over) => over,
        Err(fault) => return errors.push(fault),
    };
    let devices = mesh.parts(&over);
    if let Some(pairs) = ir.i64s_of(op, "pairs")
        && let Some(text) = fault_of_pairs(pairs, devices)
    {
        error(At::Clause("pairs"), text);
    }
    if let Some(root) = ir.int_of(op, "root")
        && !(0..devices).contains(&root)
    {
        let text = format!("is {root}, the group has {devices} devices");
        error(At::Clause("root"), text);
    }
    let (Some(operand), Some(&result)) = (ir.operands(op).next(), ir.results(op).first()) else {
        return;
    };
    let tensors = (
        ir.value_kind(operand).as_tensor(),
        ir.value_kind(result).as_tensor(),
    );
    let (Some(from), Some(to)) = tensors else {
        return;
    };
    let mut wanted: Vec<Option<u64>> = Vec::new();
    for dim in &from.dims {
        wanted.push(match dim.extent {
            Extent::Static(extent) => Some(extent),
            _ => None,
        });
    }
    // Parts along an axis become more, or fewer.
    let (more, fewer) = match ir.name(op) {
        "fusion.all_gather" => (Some("dim"), None),
        "fusion.reduce_scatter" => (None, Some("dim")),
        "fusion.all_to_all" => (Some("concat"), Some("split")),
        _ => (None, None),
    };
    for (clause, grows) in [(fewer, false), (more, true)] {
        let Some(clause) = clause else { continue };
        let axis = ir
            .int_of(op, clause)
            .and_then(|axis| usize::try_from(axis).ok());
        let Some(axis) = axis.filter(|&axis| axis < wanted.len()) else {
            let text = format!("is no axis of a tensor of rank {}", from.dims.len());
            return error(At::Clause(clause), text);
        };
        let devices = devices as u64;
        wanted[axis] = match wanted[axis] {
            Some(extent) if grows => extent.checked_mul(devices),
            Some(extent) if extent % devices == 0 => Some(extent / devices),
            Some(extent) => {
                let text = format!(
                    "has the extent {extent}, which is no multiple of the {devices} devices"
                );
                return error(At::Clause(clause), text);
            }
            None if devices == 1 => None,
            None => {
                return error(
                    At::Clause(clause),
                    "is an axis whose extent is not known".into(),
                );
            }
        };
    }
    let fits = |(at, dim): (usize, &Dim)| match wanted.get(at) {
        Some(Some(extent)) => dim.extent == Extent::Static(*extent),
        Some(None) => shape::agree(dim.extent, from.dims[at].extent),
        None => false,
    };
    if to.dims.len() != wanted.len() || !to.dims.iter().enumerate().all(fits) {
        let list = wanted
            .iter()
            .zip(&from.dims)
            .map(|(extent, dim)| match extent {
                Some(extent) => extent.to_string(),
                None => fuser_ir::describe::extent(ir, dim.extent),
            });
        let list = list.collect::<Vec<_>>().join(", ");
        error(
            At::Result(0),
            format!("must have the shape [{list}]: the group has {devices} devices"),
        );
    }
}

/// A mistake in pairs of sources and targets.
fn fault_of_pairs(pairs: &[i64], devices: i64) -> Option<String> {
    if !pairs.len().is_multiple_of(2) {
        return Some("has a source without a target".into());
    }
    for (side, what) in ["source", "target"].iter().enumerate() {
        let own = pairs.iter().skip(side).step_by(2);
        let mut seen = std::collections::BTreeSet::new();
        for &index in own {
            if !(0..devices).contains(&index) {
                return Some(format!("has {index}, the group has {devices} devices"));
            }
            if !seen.insert(index) {
                return Some(format!("has {index} as a {what} twice"));
            }
        }
    }
    None
}
