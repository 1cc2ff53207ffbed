//! No table function panics, whatever it is given: random operands, attributes, regions and result types for every op.
//!
//! The verifier decides; what it accepts is folded, printed in messages and asked for its bytes as well.

use crate::support::*;
use fuser_dialects::task::interface::{Task, bytes, inputs, is_pure, outputs};
use fuser_dialects::{docs, fusion, kernel};
use fuser_ir::attr::AttrKind;
use fuser_ir::def::Folded;
use fuser_ir::types::{MemSpace, TensorType};
use fuser_ir::{AttrId, DType, Dim, Extent, Ir, Op, OpDef, TypeId, TypeKind, Value, describe};
use fuser_testing::Random;

const EXTENTS: [u64; 6] = [0, 1, 4, 5, i64::MAX as u64, u64::MAX];
const INTS: [i64; 9] = [0, 1, 2, 3, 4, -1, 64, i64::MAX, i64::MIN];

fn extent(ir: &mut Ir, random: &mut Random) -> Extent {
    match random.below(10) {
        0 => Extent::Unknown,
        1 | 2 => ir.named_extent("N"),
        3 => ir.named_extent("M"),
        _ => Extent::Static(if random.below(4) == 0 {
            random.one(&EXTENTS)
        } else {
            4
        }),
    }
}

fn dim(ir: &mut Ir, random: &mut Random) -> Dim {
    Dim {
        extent: extent(ir, random),
        broadcast: random.below(5) == 0,
    }
}

fn dims(ir: &mut Ir, random: &mut Random) -> Vec<Dim> {
    (0..random.one(&[0, 1, 1, 2, 2, 3]))
        .map(|_| dim(ir, random))
        .collect()
}

fn ty(ir: &mut Ir, random: &mut Random) -> TypeId {
    let dtype = match random.below(3) {
        0 => random.one(&DType::ALL),
        1 => DType::Index,
        _ => DType::F32,
    };
    let kind = match random.below(16) {
        0..6 => TypeKind::Tensor(TensorType {
            dims: dims(ir, random),
            dtype,
            encoding: None,
        }),
        6..10 => TypeKind::Scalar(dtype),
        10 | 11 => TypeKind::Vector {
            shape: (0..random.one(&[0, 1, 1, 2]))
                .map(|_| random.one(&EXTENTS))
                .collect(),
            dtype,
        },
        12 | 13 => TypeKind::MemRef {
            dims: (0..random.one(&[0, 1, 1, 2]))
                .map(|_| extent(ir, random))
                .collect(),
            dtype,
            space: random.one(&MemSpace::ALL),
        },
        14 => TypeKind::UnrankedTensor(dtype),
        _ => TypeKind::None,
    };
    ir.type_id(kind)
}

fn attr(ir: &mut Ir, random: &mut Random) -> AttrId {
    let ty = ty(ir, random);
    let ints: Vec<i64> = (0..random.below(4)).map(|_| random.one(&INTS)).collect();
    let kind = match random.below(12) {
        0 => AttrKind::Unit,
        1 => AttrKind::Bool(true),
        2 => AttrKind::Int {
            value: random.one(&INTS).into(),
            ty,
        },
        3 => AttrKind::Float {
            bits: random.one(&[0, u64::MAX, 1 << 63, 0x3ff0 << 48]),
            ty,
        },
        4 => AttrKind::String(ir.sym(["add", "lt", "grid", ""][random.below(4)])),
        5 => AttrKind::Array(vec![ir.string_attr("tile"); random.below(3)]),
        6 => AttrKind::Type(ty),
        7 => AttrKind::SymbolRef(vec![ir.sym("f"); random.below(2)]),
        8 | 9 => AttrKind::I64Array(ints),
        10 => AttrKind::Dense {
            ty,
            dtype: DType::F32,
            splat: random.below(2) == 0,
            bytes: vec![0; random.below(9)],
        },
        _ => AttrKind::Extents(dims(ir, random)),
    };
    ir.attr(kind)
}

/// An attribute that the clause takes, most of the time.
fn clause(ir: &mut Ir, random: &mut Random, kind: fuser_ir::def::ClauseKind) -> AttrId {
    let tries = (0..20).map(|_| attr(ir, random)).collect::<Vec<_>>();
    let fitting = tries
        .iter()
        .find(|a| fuser_ir::check::clause_fits(ir, kind, **a).is_ok());
    *fitting.unwrap_or(&tries[0])
}

/// An op of table `def` with random parts, inserted first in the program.
fn random_op(p: &mut Program, random: &mut Random, def: &'static OpDef) -> Op {
    let count = match random.below(8) {
        0 => random.below(5),
        _ => def.operands.len(),
    };
    let values: Vec<Value> = p.ir.args(p.body).to_vec();
    let operands: Vec<Value> = (0..count).map(|_| random.one(&values)).collect();
    let results = match random.below(6) {
        0 => random.below(3),
        _ => def.results.len(),
    };
    let types: Vec<TypeId> = (0..results).map(|_| ty(&mut p.ir, random)).collect();
    let op = raw(&mut p.ir, def.name, &operands, &types);
    for c in def.clauses {
        if c.required || random.below(2) == 0 {
            let value = clause(&mut p.ir, random, c.kind);
            p.ir.set_attr(op, c.name, value);
        }
    }
    for name in ["sym_name", "function_type", "res_attrs", "stray"] {
        if random.below(12) == 0 {
            let value = attr(&mut p.ir, random);
            p.ir.set_attr(op, name, value);
        }
    }
    for _ in 0..def.regions.len() {
        add_region(p, random, op, &values);
    }
    let first = p.ir.first_op(p.body);
    match first {
        Some(first) => p.ir.insert_before(first, op),
        None => p.ir.append_op(p.body, op),
    }
    op
}

fn add_region(p: &mut Program, random: &mut Random, op: Op, values: &[Value]) {
    let region = p.ir.new_region();
    p.ir.push_region(op, region);
    for _ in 0..random.one(&[0, 1, 1, 1, 2]) {
        let block = p.ir.append_block(region);
        for _ in 0..random.below(3) {
            let ty = ty(&mut p.ir, random);
            p.ir.append_arg(block, ty, None);
        }
        let end = random.one(&["task.yield", "kernel.yield", "task.return", "other.end"]);
        let operands: Vec<Value> = (0..random.below(3)).map(|_| random.one(values)).collect();
        let end = raw(&mut p.ir, end, &operands, &[]);
        p.ir.append_op(block, end);
    }
}

/// Sets the result types to the inferred ones, so that more ops are accepted.
fn infer_types(ir: &mut Ir, op: Op) {
    let Some(def) = ir.def(op) else { return };
    let operands: Vec<Value> = ir.operands(op).collect();
    let (attrs, regions) = (ir.attrs(op).to_vec(), ir.op_regions(op).to_vec());
    let parts = fuser_ir::def::OpParts {
        operands: &operands,
        attrs: &attrs,
        regions: &regions,
        stated: None,
    };
    if let Ok(types) = fuser_ir::check::result_types(ir, def, parts) {
        let results = ir.results(op).to_vec();
        for (value, ty) in results.into_iter().zip(types) {
            ir.set_value_type(value, ty);
        }
    }
}

/// Runs on a valid op the queries that passes make: its fold, inputs, outputs and bytes.
fn exercise(ir: &mut Ir, op: Op) {
    let fold = ir.def(op).and_then(|d| d.fold);
    if let Some(Folded::Values(values)) = fold.and_then(|fold| fold(ir, op)) {
        for (value, result) in values.iter().zip(ir.results(op)) {
            assert_eq!(ir.value_type(*value), ir.value_type(*result));
        }
    }
    let task = Task::Op(op);
    for value in inputs(ir, task).into_iter().chain(outputs(ir, task)) {
        bytes(ir, value);
        describe::ty(ir, ir.value_type(value));
    }
    is_pure(ir, task);
}

#[test]
fn random_ops_are_judged_without_a_panic() {
    let mut accepted = std::collections::BTreeMap::<&str, u32>::new();
    for def in fuser_dialects::DIALECTS.iter().flat_map(|d| d.ops) {
        let mut random = Random(def.name.bytes().map(u64::from).sum());
        for _ in 0..1000 {
            let mut p = Program::new(&[]);
            for _ in 0..1 + random.below(3) {
                let ty = ty(&mut p.ir, &mut random);
                p.ir.append_arg(p.body, ty, None);
            }
            p.ret(&[]);
            let op = random_op(&mut p, &mut random, def);
            infer_types(&mut p.ir, op);
            if !fuser_ir::verify(&mut p.ir, p.module).has_errors() {
                *accepted.entry(def.name).or_default() += 1;
                exercise(&mut p.ir, op);
            }
        }
        docs::render_op(def);
    }
    // The generator is of use only if it also makes valid ops.
    let elementwise = [
        &fusion::ADD,
        &fusion::EXP,
        &fusion::CAST,
        &fusion::BROADCAST,
        &fusion::SUM,
    ];
    for def in elementwise
        .into_iter()
        .chain([&kernel::SPLAT, &kernel::EXTRACT])
    {
        let count = accepted.get(def.name).copied().unwrap_or(0);
        assert!(count >= 2, "{} was valid {count} times", def.name);
    }
    assert!(
        accepted.len() > 60,
        "only {} kinds of op were ever valid",
        accepted.len()
    );
}
