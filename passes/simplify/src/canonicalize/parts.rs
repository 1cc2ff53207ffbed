//! The patterns of `canonicalize` for parts of tensors: parts at known indices, and tensors assembled from parts.
//!
//! ```text
//! %a = fusion.dynamic_update_slice %x, %u, 0 dims [0]      // a loop of known length that collects what each turn gives,
//! %b = fusion.dynamic_update_slice %a, %v, 1 dims [0]      // %x: tensor<2x5xf32>
//!   =>
//! %b = fusion.cat %u, %v dim 0
//! ```
//!
//! Extents must be numbers. No axis may be broadcast, except in a tensor that an update overwrites. Never combines the
//! end of one part with the start of another.

use fuser_analysis::axes::window::MAX_PIECES;
use fuser_analysis::cost::Bindings;
use fuser_dialects::fusion::window::{PLACED, is_placed, refuse_placed};
use fuser_dialects::fusion::{CAT, DYNAMIC_UPDATE_SLICE, SLICE};
use fuser_ir::build::Builder;
use fuser_ir::def::OpError;
use fuser_ir::rewrite::{Pattern, Rewriter};
use fuser_ir::types::{Dim, Extent};
use fuser_ir::{AttrKind, Ir, Op, Value};
use fuser_target::Target;

pub static KNOWN_START: Pattern = Pattern {
    name: "known-start",
    summary: "a dynamic_slice that begins at constants is a slice, a dynamic_update_slice a cat",
    roots: &["fusion.dynamic_slice", "fusion.dynamic_update_slice"],
    benefit: 1,
    rewrite: known_start,
};
pub static WHOLE_AXES: Pattern = Pattern {
    name: "whole-axes",
    summary: "no start along an axis that is taken or written whole; an update of all axes is its result",
    roots: &["fusion.dynamic_slice", "fusion.dynamic_update_slice"],
    benefit: 2,
    rewrite: whole_axes,
};
pub static SLICE_OF_CAT: Pattern = Pattern {
    name: "slice-of-cat",
    summary: "a slice within one part of a cat is a slice of that part, one of whole parts is these parts",
    roots: &["fusion.slice"],
    benefit: 1,
    rewrite: slice_of_cat,
};
pub static CAT_OF_CAT: Pattern = Pattern {
    name: "cat-of-cat",
    summary: "cat(cat(x, y), z) => cat(x, y, z), along one axis; of more parts than one kernel tells apart a tree of the least depth",
    roots: &["fusion.cat"],
    benefit: 1,
    rewrite: cat_of_cat,
};

/// The most parts that a slice is looked for in.
const MOST_PARTS: usize = 1 << 12;

fn known_start(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = rw.ir();
    let updates = ir.is(op, &DYNAMIC_UPDATE_SLICE);
    let (input, result) = (ir.operand(op, 0), ir.result(op, 0));
    let part = if updates { ir.operand(op, 1) } else { result };
    let whole = if updates {
        sizes(ir, input)
    } else {
        lengths(ir, input)
    };
    let (Some(whole), Some(taken)) = (whole, lengths(ir, part)) else {
        return false;
    };
    let numbers = ir.operands(op).skip(1 + usize::from(updates));
    let numbers: Option<Vec<i64>> = numbers
        .map(|v| i64::try_from(ir.constant_int(v)?).ok())
        .collect();
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

/// Starts lie within bounds, so the start along an axis as long as the part is 0.
fn whole_axes(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = rw.ir();
    let updates = ir.is(op, &DYNAMIC_UPDATE_SLICE);
    let result = ir.result(op, 0);
    let part = if updates { ir.operand(op, 1) } else { result };
    let dims = |value| ir.value_kind(value).as_tensor().map(|t| &t.dims);
    let (Some(whole), Some(taken)) = (dims(ir.operand(op, 0)), dims(part)) else {
        return false;
    };
    let is_whole = |axis: usize| whole[axis].extent == taken[axis].extent;
    if updates && (0..whole.len()).all(is_whole) && ir.value_type(part) == ir.value_type(result) {
        rw.replace(op, &[part]);
        return true;
    }
    // An update along an axis keeps it from being broadcast.
    let is_broadcast = |axis: usize| whole[axis].broadcast && taken[axis].broadcast;
    let stays = |&axis: &i64| {
        let axis = axis as usize;
        !is_whole(axis) || updates && is_broadcast(axis)
    };
    let axes = ir.i64s_of(op, "dims").unwrap_or_default();
    let first = ir.operand_count(op) - axes.len();
    let kept = (0..axes.len()).filter(|&index| stays(&axes[index]));
    let kept: Vec<usize> = kept.collect();
    if kept.len() == axes.len() {
        return false;
    }
    let operands = (0..first).chain(kept.iter().map(|&index| first + index));
    let operands: Vec<Value> = operands.map(|index| ir.operand(op, index)).collect();
    let axes: Vec<i64> = kept.into_iter().map(|index| axes[index]).collect();
    let axes = rw.ir_mut().i64_array_attr(&axes);
    rw.set_attr(op, "dims", axes);
    rw.ir_mut().set_operands(op, &operands);
    rw.touch(op);
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
    let axis = ir.int_of(cat, "dim").map(usize::try_from);
    let (Some(Ok(axis)), Some(starts)) = (axis, ir.i64s_of(op, "starts")) else {
        return false;
    };
    let (from, to) = (starts[axis], starts[axis] + taken[axis]);
    let Some((all, _)) = leaves(ir, cat, MOST_PARTS, |_| true) else {
        return false;
    };
    let (mut at, mut parts, mut starts) = (0, Vec::new(), starts.to_vec());
    for part in all {
        let Some(own) = sizes(rw.ir(), part) else {
            return false;
        };
        let end = at + own[axis];
        if at <= from && to <= end && from < to {
            if lengths(rw.ir(), part).is_none() {
                return false;
            }
            starts[axis] -= at;
            let starts = rw.ir_mut().i64_array_attr(&starts);
            rw.set_attr(op, "starts", starts);
            rw.set_operand(op, 0, part);
            return true;
        }
        if from <= at && end <= to {
            parts.push((part, own));
        }
        at = end;
    }
    let is_whole = |own: &[i64]| (0..own.len()).all(|i| i == axis || own[i] == taken[i]);
    let length: i64 = parts.iter().map(|(_, own)| own[axis]).sum();
    if length != taken[axis] || parts.is_empty() || !parts.iter().all(|(_, own)| is_whole(own)) {
        return false;
    }
    let ty = rw.ir().value_type(result);
    let parts: Vec<Value> = parts.into_iter().map(|(part, _)| part).collect();
    let mut b = Builder::before(rw.ir_mut(), op);
    let clause = [b.int("dim", axis as i64)];
    let Ok(made) = b.typed(&CAT, &parts, &clause, ty) else {
        return false;
    };
    rw.replace(op, &[made]);
    true
}

fn cat_of_cat(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = rw.ir();
    if is_placed(ir, op) {
        return false;
    }
    let (dim, result) = (ir.int_of(op, "dim"), ir.result(op, 0));
    let is_part = |user: Op| ir.is(user, &CAT) && ir.int_of(user, "dim") == dim;
    if ir.has_one_use(result) && ir.users(result).all(is_part) && lengths(ir, result).is_some() {
        return false; // A part of the tree of its user.
    }
    let (Some((parts, cats)), Some(dim)) = (leaves(ir, op, usize::MAX, |v| ir.has_one_use(v)), dim)
    else {
        return false;
    };
    let (mut depth, mut room) = (1, MAX_PIECES);
    while room < parts.len() {
        (depth, room) = (depth + 1, room.saturating_mul(MAX_PIECES));
    }
    let is_wide = |&(cat, _): &Level| ir.operand_count(cat) > MAX_PIECES;
    let is_deep = |&(_, level): &Level| level > depth;
    if !cats.iter().any(|cat| is_wide(cat) || is_deep(cat)) {
        return false;
    }
    let Ok(parts) = grouped(rw.ir_mut(), op, dim, parts) else {
        return false;
    };
    rw.ir_mut().set_operands(op, &parts);
    rw.touch(op);
    true
}

/// At most [`MAX_PIECES`] cats of `parts` along `dim`, a tree of the least depth, inserted before `op`.
fn grouped(ir: &mut Ir, op: Op, dim: i64, mut parts: Vec<Value>) -> Result<Vec<Value>, OpError> {
    let mut b = Builder::before(ir, op);
    let clause = [b.int("dim", dim)];
    while parts.len() > MAX_PIECES {
        let each = parts.len().div_ceil(parts.len().div_ceil(MAX_PIECES));
        let groups = parts.chunks(each).map(|group| match group {
            &[one] => Ok(one),
            group => b.value(&CAT, group, &clause),
        });
        parts = groups.collect::<Result<_, _>>()?;
    }
    Ok(parts)
}

/// Makes the root of a tree of cats a placed cat, where the tree has more parts than one kernel tells apart and they lie
/// one behind the other. Adjacent parts that move in less time than a kernel starts in stay together in a cat of their own.
/// False where nothing changed: a whole that moves so fast is no reason to keep its users out of its kernel.
pub fn place(ir: &mut Ir, op: Op, target: &Target) -> bool {
    if !ir.is(op, &CAT) || is_placed(ir, op) || refuse_placed(ir, op).is_some() {
        return false;
    }
    let is_part = |user: Op| ir.is(user, &CAT) && ir.int_of(user, "dim") == ir.int_of(op, "dim");
    let result = ir.result(op, 0);
    if ir.has_one_use(result) && ir.users(result).all(is_part) {
        return false; // A part of the tree of its user.
    }
    let Some((parts, _)) = leaves(ir, op, usize::MAX, |v| ir.has_one_use(v)) else {
        return false;
    };
    let bindings = Bindings::default();
    let is_short = |value| target.time_ns(bindings.bytes(ir, value), 0) < target.launch_ns;
    if parts.len() <= MAX_PIECES || is_short(result) {
        return false;
    }
    let short: Vec<bool> = parts.iter().map(|&part| is_short(part)).collect();
    let mut groups: Vec<Vec<Value>> = Vec::new();
    for (at, &part) in parts.iter().enumerate() {
        match groups.last_mut() {
            Some(group) if short[at] && short[at - 1] && group.len() < MAX_PIECES => {
                group.push(part)
            }
            _ => groups.push(vec![part]),
        }
    }
    let dim = ir.int_of(op, "dim").unwrap_or_default();
    let mut b = Builder::before(ir, op);
    let clause = [b.int("dim", dim)];
    let groups = groups.iter().map(|group| match group[..] {
        [one] => Ok(one),
        _ => b.value(&CAT, group, &clause),
    });
    let Ok(groups) = groups.collect::<Result<Vec<Value>, _>>() else {
        return false;
    };
    ir.set_operands(op, &groups);
    let unit = ir.attr(AttrKind::Unit);
    ir.set_attr(op, PLACED, unit);
    true
}

/// The parts of a placed cat as the tree of cats that kernels tell apart: the value in its place, inserted before it.
pub fn in_kernels(ir: &mut Ir, op: Op) -> Result<Vec<Value>, OpError> {
    let dim = ir.int_of(op, "dim").unwrap_or_default();
    let parts = grouped(ir, op, dim, ir.operands(op).collect())?;
    let mut b = Builder::before(ir, op);
    let clause = [b.int("dim", dim)];
    Ok(vec![b.value(&CAT, &parts, &clause)?])
}

/// A cat of a tree, with its depth: the root has 1.
type Level = (Op, usize);

/// The operands of a tree of cats along one axis, in order, and the cats. Besides the root, the tree contains only cats
/// with `inner` results of known lengths. `None` for more than `most` parts, since a cat with several users doubles
/// them.
fn leaves(
    ir: &Ir,
    root: Op,
    most: usize,
    inner: impl Fn(Value) -> bool,
) -> Option<(Vec<Value>, Vec<Level>)> {
    let dim = ir.int_of(root, "dim");
    let of_tree = |value: Value| {
        let is_inner = |&cat: &Op| ir.is(cat, &CAT) && !is_placed(ir, cat);
        let cat = ir.def_op(value).filter(is_inner)?;
        let belongs = inner(value) && lengths(ir, value).is_some();
        (belongs && ir.int_of(cat, "dim") == dim).then_some(cat)
    };
    let (mut parts, mut cats) = (Vec::new(), vec![(root, 1)]);
    let mut left: Vec<(Value, usize)> = ir.operands(root).map(|part| (part, 1)).collect();
    left.reverse();
    while let Some((value, level)) = left.pop() {
        match of_tree(value) {
            Some(cat) => {
                cats.push((cat, level + 1));
                let from = left.len();
                left.extend(ir.operands(cat).map(|part| (part, level + 1)));
                left[from..].reverse();
            }
            None => parts.push(value),
        }
        if parts.len() + left.len() > most {
            return None;
        }
    }
    Some((parts, cats))
}

/// The lengths of the axes of a value, if all are constant and none is broadcast.
fn lengths(ir: &Ir, value: Value) -> Option<Vec<i64>> {
    let tensor = ir.value_kind(value).as_tensor()?;
    let dense = tensor.dims.iter().all(|dim| !dim.broadcast);
    sizes(ir, value).filter(|_| dense)
}

/// The lengths of the axes of a value, if all are numbers.
pub(super) fn sizes(ir: &Ir, value: Value) -> Option<Vec<i64>> {
    let tensor = ir.value_kind(value).as_tensor()?;
    let length = |dim: &Dim| match dim.extent {
        Extent::Static(length) => i64::try_from(length).ok(),
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
