//! The patterns of `canonicalize` for parts of tensors: those that begin at known indices, and those of what was put together from parts.
//!
//! ```text
//! %a = fusion.dynamic_update_slice %x, %u, 0 dims [0]      // a loop of known length that collects what each turn gives,
//! %b = fusion.dynamic_update_slice %a, %v, 1 dims [0]      // %x: tensor<2x5xf32>
//!   =>
//! %b = fusion.cat %u, %v dim 0
//! ```
//!
//! Extents must be numbers, and no axis stored once. Never takes a part of what was put together that ends inside of one of its parts.

use fuser_analysis::axes::window::MAX_PIECES;
use fuser_dialects::fusion::{CAT, DYNAMIC_UPDATE_SLICE, SLICE};
use fuser_ir::build::Builder;
use fuser_ir::rewrite::{Pattern, Rewriter};
use fuser_ir::types::{Dim, Extent};
use fuser_ir::{Ir, Op, Value};

pub static KNOWN_START: Pattern = Pattern {
    name: "known-start",
    summary: "a dynamic_slice that begins at constants is a slice, a dynamic_update_slice a cat",
    roots: &["fusion.dynamic_slice", "fusion.dynamic_update_slice"],
    benefit: 1,
    rewrite: known_start,
};
pub static SLICE_OF_CAT: Pattern = Pattern {
    name: "slice-of-cat",
    summary: "a slice of whole parts of a cat is these parts",
    roots: &["fusion.slice"],
    benefit: 1,
    rewrite: slice_of_cat,
};
pub static CAT_OF_CAT: Pattern = Pattern {
    name: "cat-of-cat",
    summary: "cat(cat(x, y), z) => cat(x, y, z), along one axis",
    roots: &["fusion.cat"],
    benefit: 1,
    rewrite: cat_of_cat,
};

pub static WIDE_CAT: Pattern = Pattern {
    name: "wide-cat",
    summary: "a cat of more parts than one kernel tells apart is a cat of cats",
    roots: &["fusion.cat"],
    benefit: 2,
    rewrite: wide_cat,
};

fn known_start(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = rw.ir();
    let updates = ir.is(op, &DYNAMIC_UPDATE_SLICE);
    let (input, result) = (ir.operand(op, 0), ir.result(op, 0));
    let part = if updates { ir.operand(op, 1) } else { result };
    let (Some(whole), Some(taken)) = (lengths(ir, input), lengths(ir, part)) else {
        return false;
    };
    let numbers = ir.operands(op).skip(1 + usize::from(updates));
    let numbers: Option<Vec<i64>> = numbers.map(|v| number(ir, v)).collect();
    let Some(numbers) = numbers else { return false };
    let mut starts = vec![0; whole.len()];
    let axes = ir.i64s_of(op, "dims").unwrap_or_default();
    for (&axis, number) in axes.iter().zip(numbers) {
        let axis = usize::try_from(axis).unwrap_or(usize::MAX);
        let (Some(&all), Some(&own)) = (whole.get(axis), taken.get(axis)) else {
            return false;
        };
        starts[axis] = number.clamp(0, (all - own).max(0));
    }
    if !updates {
        let mut b = Builder::before(rw.ir_mut(), op);
        let (starts, shape) = (b.ints("starts", &starts), b.shape("shape", &fixed(&taken)));
        let attrs = [starts, shape].map(|(name, attr)| (b.ir.sym(name), attr));
        rw.replace_with_op(op, &SLICE, &[input], &attrs);
        return true;
    }
    let mut axes = (0..whole.len()).filter(|&axis| taken[axis] != whole[axis]);
    let (Some(axis), None) = (axes.next(), axes.next()) else {
        return false;
    };
    let ty = ir.value_type(result);
    let mut b = Builder::before(rw.ir_mut(), op);
    let mut parts = Vec::new();
    let end = starts[axis] + taken[axis];
    for (from, to) in [(0, starts[axis]), (end, whole[axis])] {
        if from < to {
            let (mut first, mut shape) = (vec![0; whole.len()], whole.clone());
            (first[axis], shape[axis]) = (from, to - from);
            let clauses = [b.ints("starts", &first), b.shape("shape", &fixed(&shape))];
            let Ok(kept) = b.value(&SLICE, &[input], &clauses) else {
                return false;
            };
            parts.push(kept);
        }
        if from == 0 && to == starts[axis] {
            parts.push(part);
        }
    }
    let clause = [b.int("dim", axis as i64)];
    let Ok(made) = b.typed(&CAT, &parts, &clause, ty) else {
        return false;
    };
    rw.replace(op, &[made]);
    true
}

fn slice_of_cat(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = rw.ir();
    let cat = ir.def_op(ir.operand(op, 0)).filter(|&cat| ir.is(cat, &CAT));
    let result = ir.result(op, 0);
    let (Some(cat), Some(taken), None) = (cat, lengths(ir, result), ir.get_attr(op, "strides"))
    else {
        return false;
    };
    let (Some(whole), Some(starts)) = (lengths(ir, ir.operand(op, 0)), ir.i64s_of(op, "starts"))
    else {
        return false;
    };
    let axis = ir
        .int_of(cat, "dim")
        .and_then(|dim| usize::try_from(dim).ok());
    let Some(axis) = axis.filter(|&axis| axis < whole.len()) else {
        return false;
    };
    if (0..whole.len()).any(|other| other != axis && taken[other] != whole[other]) {
        return false;
    }
    let (from, to) = (starts[axis], starts[axis] + taken[axis]);
    let (mut at, mut parts, mut length) = (0, Vec::new(), 0);
    for part in ir.operands(cat) {
        let Some(own) = lengths(ir, part) else {
            return false;
        };
        if at >= from && at + own[axis] <= to {
            parts.push(part);
            length += own[axis];
        }
        at += own[axis];
    }
    if length != taken[axis] || parts.is_empty() {
        return false;
    }
    let ty = ir.value_type(result);
    match parts.as_slice() {
        &[part] if ir.value_type(part) == ty => rw.replace(op, &[part]),
        [_] => return false,
        parts => {
            let mut b = Builder::before(rw.ir_mut(), op);
            let clause = [b.int("dim", axis as i64)];
            let Ok(made) = b.typed(&CAT, parts, &clause, ty) else {
                return false;
            };
            rw.replace(op, &[made]);
        }
    }
    true
}

fn cat_of_cat(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = rw.ir();
    let dim = ir.int_of(op, "dim");
    let inner = |value: Value| {
        let inner = ir.def_op(value).filter(|&inner| ir.is(inner, &CAT))?;
        let lies = lengths(ir, value).is_some() && ir.has_one_use(value);
        (lies && ir.int_of(inner, "dim") == dim).then_some(inner)
    };
    let mut parts: Vec<Value> = Vec::new();
    for value in ir.operands(op) {
        match inner(value) {
            Some(inner) => parts.extend(ir.operands(inner)),
            None => parts.push(value),
        }
    }
    if parts.len() == ir.operand_count(op) || parts.len() > MAX_PIECES {
        return false;
    }
    rw.ir_mut().set_operands(op, &parts);
    rw.touch(op);
    true
}

fn wide_cat(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = rw.ir();
    let operands: Vec<Value> = ir.operands(op).collect();
    let Some(dim) = ir.int_of(op, "dim").filter(|_| operands.len() > MAX_PIECES) else {
        return false;
    };
    let groups = operands.len().div_ceil(MAX_PIECES);
    let each = operands.len().div_ceil(groups);
    let mut b = Builder::before(rw.ir_mut(), op);
    let clause = [b.int("dim", dim)];
    let parts: Result<Vec<Value>, _> = operands
        .chunks(each)
        .map(|group| b.value(&CAT, group, &clause))
        .collect();
    let Ok(parts) = parts else { return false };
    rw.ir_mut().set_operands(op, &parts);
    rw.touch(op);
    true
}

/// The lengths of the axes of a value, if all are numbers and none is stored once.
fn lengths(ir: &Ir, value: Value) -> Option<Vec<i64>> {
    let tensor = ir.value_kind(value).as_tensor()?;
    let length = |dim: &Dim| match dim.extent {
        Extent::Static(length) if !dim.broadcast => i64::try_from(length).ok(),
        _ => None,
    };
    tensor.dims.iter().map(length).collect()
}

fn fixed(lengths: &[i64]) -> Vec<Dim> {
    lengths
        .iter()
        .map(|&length| Dim::fixed(length as u64))
        .collect()
}

/// The integer that a constant is.
fn number(ir: &Ir, value: Value) -> Option<i64> {
    let op = ir.def_op(value)?;
    let number = ir.attr_of(op, "value")?.as_int()?;
    let constant = ir.made_as(value, fuser_ir::def::Computes::Constant);
    constant.and(i64::try_from(number).ok())
}
