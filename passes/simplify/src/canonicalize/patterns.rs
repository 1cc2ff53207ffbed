//! The patterns of `canonicalize`: identities, chains of shape ops, a canonical position for constants.

use fuser_dialects::fusion::build::int_attr;
use fuser_dialects::fusion::{self, maps};
use fuser_ir::build::Builder;
use fuser_ir::def::{Computes, Traits};
use fuser_ir::layout;
use fuser_ir::maps::MapsDef;
use fuser_ir::rewrite::{Pattern, Rewriter};
use fuser_ir::types::Dim;
use fuser_ir::{Extent, Ir, Op, Value};

use super::{constant, known_indices, lambdas, parts, updates};

/// All of them.
pub static PATTERNS: &[&Pattern] = &[
    &CONSTANT_RIGHT,
    &IDEMPOTENT,
    &INVOLUTION,
    &SAME_TYPE,
    &PERMUTE_IDENTITY,
    &PERMUTE_OF_PERMUTE,
    &RESHAPE_OF_RESHAPE,
    &RESHAPE_OF_PERMUTE,
    &WHERE_SAME,
    &updates::WHERE_UPDATE,
    &GATHER_OF_ONE,
    &STEP_OF_ONE,
    &lambdas::UNREAD_ACCUMULATOR,
    &parts::KNOWN_START,
    &parts::WHOLE_AXES,
    &parts::SLICE_OF_CAT,
    &parts::CAT_OF_CAT,
    &known_indices::KNOWN_INDICES,
];

static CONSTANT_RIGHT: Pattern = Pattern {
    name: "constant-right",
    summary: "add c, x => add x, c, for every commutative op",
    roots: &[],
    benefit: 1,
    rewrite: constant_right,
};
static IDEMPOTENT: Pattern = Pattern {
    name: "idempotent",
    summary: "f(f(x)) => f(x), for ops that say so",
    roots: &[],
    benefit: 1,
    rewrite: idempotent,
};
static INVOLUTION: Pattern = Pattern {
    name: "involution",
    summary: "neg(neg(x)) => x, not(not(x)) => x",
    roots: &["fusion.neg", "fusion.not"],
    benefit: 1,
    rewrite: involution,
};
static SAME_TYPE: Pattern = Pattern {
    name: "same-type",
    summary: "a cast, reshape or expand to the type that its operand has vanishes",
    roots: &["fusion.cast", "fusion.reshape", "fusion.expand"],
    benefit: 2,
    rewrite: same_type,
};
static PERMUTE_IDENTITY: Pattern = Pattern {
    name: "permute-identity",
    summary: "permute x dims [0, 1, ...] => x",
    roots: &["fusion.permute"],
    benefit: 2,
    rewrite: permute_identity,
};
static PERMUTE_OF_PERMUTE: Pattern = Pattern {
    name: "permute-of-permute",
    summary: "permute(permute(x)) => permute(x)",
    roots: &["fusion.permute"],
    benefit: 1,
    rewrite: permute_of_permute,
};
static RESHAPE_OF_RESHAPE: Pattern = Pattern {
    name: "reshape-of-reshape",
    summary: "reshape(reshape(x)) => reshape(x), where no axis is stored once",
    roots: &["fusion.reshape"],
    benefit: 1,
    rewrite: reshape_of_reshape,
};
static RESHAPE_OF_PERMUTE: Pattern = Pattern {
    name: "reshape-of-permute",
    summary: "reshape(permute(x)) => permute(reshape(x)), where only axes of extent 1 are added or removed",
    roots: &["fusion.reshape"],
    benefit: 1,
    rewrite: reshape_of_permute,
};
static WHERE_SAME: Pattern = Pattern {
    name: "where-same",
    summary: "where(c, x, x) => x",
    roots: &["fusion.where"],
    benefit: 1,
    rewrite: where_same,
};

static GATHER_OF_ONE: Pattern = Pattern {
    name: "gather-of-one",
    summary: "indices into an axis that has or stores one element are 0",
    roots: &["fusion.take", "fusion.take_along"],
    benefit: 1,
    rewrite: gather_of_one,
};

static STEP_OF_ONE: Pattern = Pattern {
    name: "step-of-one",
    summary: "a slice that takes one element of an axis has the stride 1 there",
    roots: &["fusion.slice"],
    benefit: 1,
    rewrite: step_of_one,
};

fn constant_right(rw: &mut Rewriter<'_>, op: Op) -> bool {
    if !rw.ir().has(op, Traits::COMMUTATIVE) || rw.ir().operand_count(op) < 2 {
        return false;
    }
    let (a, b) = (rw.ir().operand(op, 0), rw.ir().operand(op, 1));
    let is_constant = |v| rw.ir().made_as(v, Computes::Constant).is_some();
    if !is_constant(a) || is_constant(b) {
        return false;
    }
    rw.set_operand(op, 0, b);
    rw.set_operand(op, 1, a);
    true
}

fn idempotent(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = rw.ir();
    if !ir.has(op, Traits::IDEMPOTENT | Traits::PURE) || ir.operand_count(op) != 1 {
        return false;
    }
    let value = ir.operand(op, 0);
    let Some(inner) = ir.def_op(value) else {
        return false;
    };
    let same =
        ir.name_id(inner) == ir.name_id(op) && ir.inherent_attrs(inner).eq(ir.inherent_attrs(op));
    same && replace_by(rw, op, value)
}

fn involution(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = rw.ir();
    let inner = ir.def_op(ir.operand(op, 0));
    match inner.filter(|&i| ir.name_id(i) == ir.name_id(op)) {
        Some(inner) => {
            let value = ir.operand(inner, 0);
            replace_by(rw, op, value)
        }
        None => false,
    }
}

fn same_type(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let value = rw.ir().operand(op, 0);
    replace_by(rw, op, value)
}

fn permute_identity(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let dims = rw.ir().i64s_of(op, "dims").unwrap_or_default();
    let identity = dims.iter().enumerate().all(|(i, &d)| i as i64 == d);
    let value = rw.ir().operand(op, 0);
    identity && replace_by(rw, op, value)
}

fn permute_of_permute(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let value = rw.ir().operand(op, 0);
    let Some(inner) = made_by(rw.ir(), value, &maps::PERMUTE) else {
        return false;
    };
    let outer = rw.ir().i64s_of(op, "dims").unwrap_or_default();
    let first = rw.ir().i64s_of(inner, "dims").unwrap_or_default();
    let at = |&d: &i64| usize::try_from(d).ok().and_then(|d| first.get(d).copied());
    let Some(dims) = outer.iter().map(at).collect::<Option<Vec<i64>>>() else {
        return false;
    };
    let dims = rw.ir_mut().i64_array_attr(&dims);
    let source = rw.ir().operand(inner, 0);
    rw.set_attr(op, "dims", dims);
    rw.set_operand(op, 0, source);
    true
}

fn reshape_of_reshape(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let middle = rw.ir().operand(op, 0);
    let Some(inner) = made_by(rw.ir(), middle, &maps::RESHAPE) else {
        return false;
    };
    let source = rw.ir().operand(inner, 0);
    let result = rw.ir().result(op, 0);
    if [source, middle, result]
        .iter()
        .any(|&v| !all_plain(rw.ir(), v))
    {
        return false;
    }
    rw.set_operand(op, 0, source);
    true
}

/// The reshape of a row-major tensor is a view, and so is a permute; a reshape of permuted axes is a copy.
fn reshape_of_permute(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = rw.ir();
    let (middle, result) = (ir.operand(op, 0), ir.result(op, 0));
    let Some(inner) = made_by(ir, middle, &maps::PERMUTE).filter(|_| ir.has_one_use(middle)) else {
        return false;
    };
    let source = ir.operand(inner, 0);
    let tensor = |value| ir.value_kind(value).as_tensor();
    let plain = [source, middle, result].iter().all(|&v| all_plain(ir, v));
    let (true, Some(from), Some(to)) = (plain, tensor(source), tensor(result)) else {
        return false;
    };
    let is_one = |dim: &Dim| dim.extent == Extent::Static(1);
    let order = ir.i64s_of(inner, "dims").unwrap_or_default();
    // The axes of the source that stay, in the order of the result.
    let at = order.iter().filter_map(|&axis| usize::try_from(axis).ok());
    let stay: Vec<usize> = at.filter(|&axis| !is_one(&from.dims[axis])).collect();
    let kept = stay.iter().map(|&axis| from.dims[axis]);
    if !kept.eq(to.dims.iter().copied().filter(|dim| !is_one(dim))) {
        return false;
    }
    if stay.is_sorted() {
        rw.set_operand(op, 0, source);
        return true;
    }
    let mut lying = stay.clone();
    lying.sort_unstable();
    let mut shape: Vec<Dim> = lying.iter().map(|&axis| from.dims[axis]).collect();
    let (mut stay, mut dims) = (stay.into_iter(), Vec::new());
    for dim in &to.dims {
        let place = match is_one(dim) {
            true => {
                shape.push(*dim);
                shape.len() - 1
            }
            false => {
                let axis = stay.next().unwrap_or_default();
                lying.partition_point(|&other| other < axis)
            }
        };
        dims.push(place as i64);
    }
    let (reshapes, ty) = (shape != from.dims, ir.value_type(result));
    let mut b = Builder::before(rw.ir_mut(), op);
    let clause = [b.shape("shape", &shape)];
    let shaped = match reshapes {
        true => b.value(&fusion::RESHAPE, &[source], &clause),
        false => Ok(source),
    };
    let clause = [b.ints("dims", &dims)];
    let made = shaped.and_then(|x| b.typed(&fusion::PERMUTE, &[x], &clause, ty));
    if let Ok(made) = made {
        rw.replace(op, &[made]);
    }
    true
}

fn where_same(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let values: Vec<Value> = rw.ir().operands(op).collect();
    match values.as_slice() {
        [_, a, b] if a == b => {
            let value = *a;
            replace_by(rw, op, value)
        }
        _ => false,
    }
}

fn gather_of_one(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = rw.ir();
    let (source, indices) = (ir.operand(op, 0), ir.operand(op, 1));
    let ty = ir.value_type(indices);
    let one = usize::try_from(ir.int_of(op, "dim").unwrap_or(-1)).ok();
    let one = one.and_then(|dim| ir.value_kind(source).as_tensor()?.dims.get(dim));
    // A constant is row-major and has the extents of its type.
    let can_be_one = ir.ty(ty).as_tensor().is_none_or(|tensor| {
        let known = tensor.dims.iter().all(|d| d.extent != Extent::Unknown);
        known && layout::is_row_major(ir, tensor)
    });
    let is_constant = ir.made_as(indices, Computes::Constant).is_some();
    if is_constant || !can_be_one || one.is_none_or(layout::matters) {
        return false;
    }
    let value = int_attr(rw.ir_mut(), 0, ty);
    let Some((def, mut new)) = constant(rw.ir_mut(), value, ty) else {
        return false;
    };
    new.results.push((ty, None));
    let zero = rw.insert_before(op, def, new);
    let zero = rw.ir().result(zero, 0);
    rw.set_operand(op, 1, zero);
    true
}

fn step_of_one(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = rw.ir();
    let (Some(strides), Some(tensor)) = (
        ir.i64s_of(op, "strides"),
        ir.value_kind(ir.result(op, 0)).as_tensor(),
    ) else {
        return false;
    };
    let steps = strides.iter().zip(&tensor.dims);
    let steps = steps.map(|(&stride, dim)| match dim.extent {
        Extent::Static(0 | 1) => 1,
        _ => stride,
    });
    let steps: Vec<i64> = steps.collect();
    let (plain, same) = (steps.iter().all(|&step| step == 1), steps == strides);
    if plain {
        rw.ir_mut().remove_attr(op, "strides");
        rw.touch(op);
    } else if !same {
        let steps = rw.ir_mut().i64_array_attr(&steps);
        rw.set_attr(op, "strides", steps);
    }
    plain || !same
}

/// Replaces `op` by `value` if that has the very type of the result.
fn replace_by(rw: &mut Rewriter<'_>, op: Op, value: Value) -> bool {
    let ir = rw.ir();
    let [result] = ir.results(op) else {
        return false;
    };
    if ir.value_type(*result) != ir.value_type(value) {
        return false;
    }
    rw.replace(op, &[value]);
    true
}

/// The op that makes `value`, if its maps are of this family.
fn made_by(ir: &Ir, value: Value, family: &'static MapsDef) -> Option<Op> {
    let own = |&op: &Op| ir.def(op).is_some_and(|def| def.has_maps(family));
    ir.def_op(value).filter(own)
}

fn all_plain(ir: &Ir, value: Value) -> bool {
    let tensor = ir.value_kind(value).as_tensor();
    tensor.is_some_and(|t| t.encoding.is_none() && t.dims.iter().all(|d| !d.broadcast))
}
