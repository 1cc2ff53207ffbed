//! The `kernel` dialect's verifiers, beyond the checks of its tables.

use fuser_ir::check::fits;
use fuser_ir::def::{At, DTypes, OpError, Shape, TypeConstraint};
use fuser_ir::types::{Extent, MemSpace};
use fuser_ir::{Block, Ir, Op, TypeId, TypeKind, Value, describe};

use super::ops::{COMBINERS, FOR, FUNC, MAPS, STORE, is_flat, lanes};
use super::scan::{SCANNED, scan_of};
use super::{ACCESS, ALLOCATION, CARRIED, LANES, MAPPING, SIGNATURE, WARP};
use crate::fusion::CONSTANT;
use crate::task::verify::{signature, strings};

/// Most blocks of a cluster on every GPU that has them.
const MOST_BLOCKS: i64 = 8;

/// `kernel.func`: buffers, then extents; no results; one grid loop at most.
pub fn func(ir: &Ir, op: Op, errors: &mut Vec<OpError>) {
    let Some((inputs, results)) = signature(ir, op) else {
        errors.push(OpError::new("has no signature").code(&SIGNATURE));
        return;
    };
    if !results.is_empty() {
        errors.push(OpError::new("returns nothing; results are stored").code(&SIGNATURE));
    }
    let mut extents = false;
    for (index, &ty) in inputs.iter().enumerate() {
        let index_like = fits(ir, ty, TypeConstraint::new(Shape::Scalar, DTypes::INDEX));
        if !index_like && (extents || !is_buffer(ir, ty)) {
            let ty = describe::ty(ir, ty);
            let text = format!(
                "parameter {index} is a `{ty}`: flat global memrefs come first, then `index` values"
            );
            errors.push(OpError::new(text).code(&SIGNATURE));
        }
        extents |= index_like;
    }
    if ir.int_of(op, "threads").is_some_and(|n| n < 1) {
        let error = OpError::at(At::Clause("threads"), "must be at least 1");
        errors.push(error.code(&MAPPING));
    }
    let cluster = ir.int_of(op, "cluster").unwrap_or(1);
    let threads = ir.int_of(op, "threads").unwrap_or(1);
    if !(1..=MOST_BLOCKS).contains(&cluster) || !cluster.unsigned_abs().is_power_of_two() {
        let error = OpError::at(At::Clause("cluster"), "must be 1, 2, 4 or 8");
        errors.push(error.code(&MAPPING));
    } else if cluster > 1 && threads % (cluster * WARP) != 0 {
        let text = format!("cuts {threads} threads into {cluster} blocks, not of whole warps");
        errors.push(OpError::at(At::Clause("cluster"), text).code(&MAPPING));
    }
    let is_grid = |o: &Op| ir.is(*o, &FOR) && mapping(ir, *o) == "grid";
    let ops = ir.body(op, 0).into_iter().flat_map(|b| ir.block_ops(b));
    let loops = ops.filter(is_grid).count();
    if loops > 1 {
        let text = format!("has {loops} grid loops; one launch walks one grid");
        errors.push(OpError::new(text).code(&MAPPING));
    }
}

fn is_buffer(ir: &Ir, ty: TypeId) -> bool {
    let global = matches!(
        ir.ty(ty),
        TypeKind::MemRef {
            space: MemSpace::Global,
            ..
        }
    );
    global && is_flat(ir, ty)
}

/// The mapping of a loop's iterations to workers.
pub fn mapping(ir: &Ir, op: Op) -> &str {
    ir.str_of(op, "map").unwrap_or("seq")
}

/// `kernel.for`: a known mapping that the loop can have, carried values of one type.
pub fn for_loop(ir: &Ir, op: Op, errors: &mut Vec<OpError>) {
    mapped(ir, op, errors);
    let types: Vec<TypeId> = ir.operands(op).skip(3).map(|v| ir.value_type(v)).collect();
    let Some(block) = ir.body(op, 0) else { return };
    let args = ir.args(block);
    let index = |v: &Value| matches!(ir.value_kind(*v), TypeKind::Scalar(fuser_ir::DType::Index));
    let right = args.split_first().is_some_and(|(first, rest)| {
        index(first)
            && rest
                .iter()
                .map(|v| ir.value_type(*v))
                .eq(types.iter().copied())
    });
    if !right {
        let text = format!(
            "its block must have an `index` and the {} iteration arguments",
            types.len()
        );
        errors.push(OpError::at(At::Region(0), text).code(&CARRIED));
    }
    yields(ir, block, &types, 0, errors);
}

fn mapped(ir: &Ir, op: Op, errors: &mut Vec<OpError>) {
    let mut fault =
        |clause, text: String| errors.push(OpError::at(At::Clause(clause), text).code(&MAPPING));
    let map = mapping(ir, op);
    let carried = ir.operand_count(op).saturating_sub(3);
    let combine = strings(ir, op, "combine");
    if !MAPS.contains(&map) {
        fault(
            "map",
            format!("`{map}` is no mapping ({})", MAPS.join(", ")),
        );
    }
    if map == "grid" && carried > 0 {
        fault("map", "a grid loop has no iteration arguments".into());
    }
    if map == "grid" && !ir.parent_op(op).is_some_and(|p| ir.is(p, &FUNC)) {
        fault("map", "a grid loop stands directly in the function".into());
    }
    if map == "group" && carried > 0 {
        fault("map", "a group loop has no iteration arguments".into());
    }
    let groups = ir.int_of(op, "groups");
    if (map == "group") != groups.is_some_and(|groups| groups > 0) {
        let text = "a group loop says how many groups there are, and no other loop does";
        fault("groups", text.into());
    }
    let blocks = ir.int_of(op, "blocks");
    if blocks.is_some_and(|blocks| map != "grid" || blocks < 1) {
        let text = "a grid loop may have a number of blocks, at least 1, and no other loop does";
        fault("blocks", text.into());
    }
    if map == "thread" && combine.len() != carried {
        let text = format!(
            "a thread loop with {carried} iteration arguments needs as many entries in `combine`"
        );
        fault("map", text);
    }
    if map != "thread" && !combine.is_empty() {
        fault(
            "combine",
            "only a thread loop has partial results to combine".into(),
        );
    }
    let stored = |dtype: &fuser_ir::DType| dtype.is_storage();
    let types = ir.operands(op).skip(3).map(|v| ir.value_kind(v).dtype());
    if let (false, Some(dtype)) = (combine.is_empty(), types.flatten().find(stored)) {
        let text = format!("{} has no arithmetic: carry f32", dtype.name());
        fault("combine", text);
    }
    let known = |word: &&&str| COMBINERS.contains(word) || **word == SCANNED;
    if let Some(bad) = combine.iter().find(|word| !known(word)) {
        let all = COMBINERS.join(", ");
        fault(
            "combine",
            format!("`{bad}` is no way to combine ({all}, {SCANNED})"),
        );
    }
    let mut scans = combine
        .iter()
        .enumerate()
        .filter(|(_, word)| **word == SCANNED);
    if let Some((number, _)) = scans.find(|&(number, _)| scan_of(ir, op, number).is_none()) {
        let text = format!(
            "iteration argument {number} is read by one `kernel.scan` of the body, and its last lane is yielded for it, or it is no scan"
        );
        fault("combine", text);
    }
}

fn yields(ir: &Ir, block: Block, types: &[TypeId], region: usize, errors: &mut Vec<OpError>) {
    let Some(last) = ir.last_op(block) else {
        return;
    };
    let is: Vec<TypeId> = ir.operands(last).map(|v| ir.value_type(v)).collect();
    if is != types {
        let text = |list: &[TypeId]| -> String {
            let list: Vec<String> = list.iter().map(|t| describe::ty(ir, *t)).collect();
            list.join(", ")
        };
        let text = format!("yields ({}), should yield ({})", text(&is), text(types));
        errors.push(OpError::at(At::Region(region), text).code(&CARRIED));
    }
}

/// `kernel.if`: with results, two branches that yield them.
pub fn if_else(ir: &Ir, op: Op, errors: &mut Vec<OpError>) {
    let types: Vec<TypeId> = ir.results(op).iter().map(|v| ir.value_type(*v)).collect();
    match ir.body(op, 1) {
        Some(block) => yields(ir, block, &types, 1, errors),
        None if types.is_empty() => {}
        None => errors.push(OpError::new("has results and no `else`").code(&CARRIED)),
    }
}

/// `kernel.alloc`: one axis, fast memory, a size that is known.
pub fn alloc(ir: &Ir, op: Op, errors: &mut Vec<OpError>) {
    let Some(TypeKind::MemRef { dims, space, .. }) =
        ir.results(op).first().map(|v| ir.value_kind(*v))
    else {
        return;
    };
    let wanted = match dims.as_slice() {
        [Extent::Static(_)] => 0,
        [_] => 1,
        _ => {
            let text = format!("makes a memref of {} axes, must have one", dims.len());
            errors.push(OpError::at(At::Result(0), text).code(&ALLOCATION));
            return;
        }
    };
    if *space == MemSpace::Global {
        errors.push(
            OpError::at(At::Result(0), "must be in tile, local or register memory")
                .code(&ALLOCATION),
        );
    }
    if ir.operand_count(op) != wanted {
        let text = format!(
            "needs {wanted} size operands for this type, has {}",
            ir.operand_count(op)
        );
        errors.push(OpError::new(text).code(&ALLOCATION));
    }
}

/// `kernel.table`: has all elements of a constant, and is never stored to.
pub fn table(ir: &Ir, op: Op, errors: &mut Vec<OpError>) {
    let (source, Some(&result)) = (ir.operand(op, 0), ir.results(op).first()) else {
        return;
    };
    if !ir.def_op(source).is_some_and(|d| ir.is(d, &CONSTANT)) {
        let text = "must be a `fusion.constant`";
        errors.push(OpError::at(At::Operand(0), text).code(&ALLOCATION));
    }
    let (from, to) = (ir.value_type(source), ir.value_type(result));
    let elements = elements(ir, from);
    let fits = match ir.ty(to) {
        TypeKind::MemRef { dims, dtype, space } => {
            *space == MemSpace::Global
                && Some(*dtype) == ir.ty(from).dtype()
                && elements.is_some_and(|n| dims[..] == [Extent::Static(n)])
        }
        _ => false,
    };
    if !fits {
        let (from, to) = (describe::ty(ir, from), describe::ty(ir, to));
        let text = format!("is a `{to}`, which does not hold the elements of a `{from}`");
        errors.push(OpError::at(At::Result(0), text).code(&ALLOCATION));
    }
    let stores = |user: &Op| ir.is(*user, &STORE) && ir.operands(*user).nth(1) == Some(result);
    if ir.users(result).any(|user| stores(&user)) {
        let text = "is stored to, but is a constant";
        errors.push(OpError::at(At::Result(0), text).code(&ALLOCATION));
    }
}

/// Stored elements of a tensor of static extents.
fn elements(ir: &Ir, ty: TypeId) -> Option<u64> {
    let dims = &ir.ty(ty).as_tensor()?.dims;
    let stored = dims.iter().filter(|d| !d.broadcast);
    stored
        .map(|d| d.extent)
        .try_fold(1u64, |n, extent| match extent {
            Extent::Static(size) => n.checked_mul(size),
            _ => None,
        })
}

/// `kernel.load`
pub fn load(ir: &Ir, op: Op, errors: &mut Vec<OpError>) {
    if let Some(&result) = ir.results(op).first() {
        access(ir, op, 0, ir.value_type(result), At::Result(0), errors);
    }
}

/// `kernel.prefetch`
pub fn prefetch(ir: &Ir, op: Op, errors: &mut Vec<OpError>) {
    flat(ir, op, 0, errors);
}

/// `kernel.store`
pub fn store(ir: &Ir, op: Op, errors: &mut Vec<OpError>) {
    let value = ir.value_type(ir.operand(op, 0));
    access(ir, op, 1, value, At::Operand(0), errors);
    if ir.operand_count(op) <= 3 {
        return;
    }
    let vector = matches!(ir.ty(value), TypeKind::Vector { .. });
    if ir.operand_count(op) > 4 || !vector || ir.get_attr(op, "stride").is_some() {
        let text = "is the one number of lanes of a vector without a stride";
        errors.push(OpError::at(At::Operand(3), text).code(&ACCESS));
    }
}

fn flat(ir: &Ir, op: Op, memory: usize, errors: &mut Vec<OpError>) {
    if !is_flat(ir, ir.value_type(ir.operand(op, memory))) {
        let text = "must have one axis";
        errors.push(OpError::at(At::Operand(memory), text).code(&ACCESS));
    }
}

fn access(ir: &Ir, op: Op, memory: usize, value: TypeId, at: At, errors: &mut Vec<OpError>) {
    let buffer = ir.value_type(ir.operand(op, memory));
    flat(ir, op, memory, errors);
    if ir.ty(value).dtype() != ir.ty(buffer).dtype() {
        let (v, b) = (describe::ty(ir, value), describe::ty(ir, buffer));
        let text = format!("moves a `{v}`, the buffer is a `{b}`");
        errors.push(OpError::at(at, text).code(&ACCESS));
    }
    if matches!(ir.ty(value), TypeKind::Vector { .. }) && lanes(ir, value) == 0 {
        let text = "moves a vector that has no lanes or more than one axis";
        errors.push(OpError::at(at, text).code(&LANES));
    }
    let align = ir.int_of(op, "align");
    if align.is_some_and(|a| a < 1 || a & (a - 1) != 0) {
        let text = "must be a power of two";
        errors.push(OpError::at(At::Clause("align"), text).code(&ACCESS));
    }
    let Some(stride) = ir.int_of(op, "stride") else {
        return;
    };
    let text = match ir.ty(value) {
        TypeKind::Vector { .. } if i32::try_from(stride).is_ok_and(|s| s >= 1) => return,
        TypeKind::Vector { .. } => "must be at least 1, and less than 2^31",
        _ => "is for vectors: one element has no distance",
    };
    errors.push(OpError::at(At::Clause("stride"), text).code(&ACCESS));
}

/// `kernel.splat`, `kernel.iota`: a vector with one axis and at least one lane.
pub fn makes_vector(ir: &Ir, op: Op, errors: &mut Vec<OpError>) {
    if let Some(&result) = ir.results(op).first() {
        has_lanes(ir, result, At::Result(0), errors);
    }
}

/// `kernel.reduce`: its operand has lanes.
pub fn takes_vector(ir: &Ir, op: Op, errors: &mut Vec<OpError>) {
    has_lanes(ir, ir.operand(op, 0), At::Operand(0), errors);
}

/// `kernel.transpose_lanes`: a square of vectors of one type.
pub fn transpose(ir: &Ir, op: Op, errors: &mut Vec<OpError>) {
    let count = ir.operand_count(op);
    let first = ir.operands(op).next().map(|v| ir.value_type(v));
    let alike = ir.operands(op).all(|v| Some(ir.value_type(v)) == first);
    let square = first.is_some_and(|ty| lanes(ir, ty) == count as u64);
    if !alike || !square || !count.is_power_of_two() {
        let text = "takes vectors of one type, as many as each has lanes, a power of two";
        errors.push(OpError::new(text).code(&LANES));
    }
}

/// `kernel.scan`: its operand is a scalar or has lanes, of the type of the initial value.
pub fn scan(ir: &Ir, op: Op, errors: &mut Vec<OpError>) {
    if matches!(ir.value_kind(ir.operand(op, 0)), TypeKind::Vector { .. }) {
        takes_vector(ir, op, errors);
    }
    let dtype = |index: usize| ir.value_kind(ir.operand(op, index)).dtype();
    if dtype(0) != dtype(1) {
        let text = "must have the type of the lanes";
        errors.push(OpError::at(At::Operand(1), text).code(&LANES));
    }
}

fn has_lanes(ir: &Ir, value: Value, at: At, errors: &mut Vec<OpError>) {
    if lanes(ir, ir.value_type(value)) == 0 {
        let text = "must be a vector with one axis and at least one lane";
        errors.push(OpError::at(at, text).code(&LANES));
    }
}
