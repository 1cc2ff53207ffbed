//! Permuted axes: inputs with another layout, whole programs with every tensor permuted.

use fuser_dialects::task::packed;
use fuser_dialects::{fusion, task};
use fuser_ir::types::{Dim, TensorType};
use fuser_ir::{AttrKind, Builder, Op, TypeKind, Value, layout};

use super::identities::inverse;
use super::rewire::{body, ops, tensor, terminator};
use crate::Source;
use crate::generate::case::{aliases, set_aliases};
use crate::generate::{Case, Input};

/// Some inputs are stored in another order of their axes and permuted back.
pub fn transpose_inputs(case: &mut Case, source: &mut Source) -> bool {
    let Some(body) = body(case) else {
        return false;
    };
    let overwritten = aliases(&case.ir, case.program, results(case).len());
    let fits = |i: &usize| {
        let rank = tensor(&case.ir, case.ir.args(body)[*i]).map_or(0, |t| t.dims.len());
        rank >= 2 && !overwritten.contains(&Some(*i)) && !shares_bytes(&case.inputs[*i])
    };
    let all: Vec<usize> = (0..case.inputs.len()).filter(fits).collect();
    let chosen: Vec<usize> = all
        .iter()
        .copied()
        .filter(|_| source.chance(1, 2))
        .collect();
    for &index in &chosen {
        let value = case.ir.args(body)[index];
        let Some(of) = tensor(&case.ir, value) else {
            continue;
        };
        let mut order: Vec<i64> = (0..of.dims.len() as i64).collect();
        source.shuffle(&mut order);
        permute_input(case, index, value, &of, &order);
        if !put_back(case, value, &order) {
            return false;
        }
    }
    sign(case);
    !chosen.is_empty()
}

/// True if two elements share a byte along the innermost axis; another axis may have an odd length.
fn shares_bytes(input: &Input) -> bool {
    input.dtype == packed::DTYPE
}

fn results(case: &Case) -> Vec<Value> {
    terminator(case).map_or(Vec::new(), |op| case.ir.operands(op).collect())
}

/// Type and data of an input with the axes in `order`.
fn permute_input(case: &mut Case, index: usize, value: Value, of: &TensorType, order: &[i64]) {
    let ty = permuted(case, of, order);
    case.ir.set_value_type(value, ty);
    case.inputs[index] = transposed(&case.inputs[index], order);
}

fn permuted(case: &mut Case, of: &TensorType, order: &[i64]) -> fuser_ir::TypeId {
    let dims: Vec<Dim> = order.iter().map(|i| of.dims[*i as usize]).collect();
    case.ir.tensor(dims, of.dtype)
}

/// Permutes `value` back for its uses.
fn put_back(case: &mut Case, value: Value, order: &[i64]) -> bool {
    let Some(first) = ops(case).first().copied().or_else(|| terminator(case)) else {
        return false;
    };
    let mut builder = Builder::before(&mut case.ir, first);
    let dims = builder.ints("dims", &inverse(order));
    let Ok(back) = builder.value(&fusion::PERMUTE, &[value], &[dims]) else {
        return false;
    };
    let own = case.ir.def_op(back);
    case.ir
        .replace_uses_if(value, back, |ir, slot| Some(ir.use_owner(slot).0) != own);
    true
}

/// The data with the axes in `order`; axes that are stored once have no part in it.
fn transposed(input: &Input, order: &[i64]) -> Input {
    let axes: Vec<(u64, bool)> = order.iter().map(|i| input.axes[*i as usize]).collect();
    let size = input.dtype.bytes() as usize;
    let length = |(extent, broadcast): &(u64, bool)| if *broadcast { 1 } else { *extent };
    let mut strides = vec![0u64; input.axes.len()];
    let mut stride = 1;
    for (i, axis) in input.axes.iter().enumerate().rev() {
        strides[i] = stride;
        stride *= length(axis);
    }
    let lengths: Vec<u64> = axes.iter().map(length).collect();
    let steps: Vec<u64> = order.iter().map(|i| strides[*i as usize]).collect();
    let mut bytes = Vec::with_capacity(input.bytes.len());
    for linear in 0..lengths.iter().product::<u64>() {
        let (mut rest, mut at) = (linear, 0);
        for (length, step) in lengths.iter().zip(&steps).rev() {
            at += rest % length * step;
            rest /= length;
        }
        let at = at as usize * size;
        bytes.extend(&input.bytes[at..at + size]);
    }
    Input {
        dtype: input.dtype,
        axes,
        bytes,
    }
}

/// Every tensor of the program in another order of its axes.
pub fn permute_all(case: &mut Case, source: &mut Source) -> bool {
    let Some(rank) = common_rank(case).filter(|rank| *rank >= 2) else {
        return false;
    };
    if case.inputs.iter().any(shares_bytes) {
        return false;
    }
    let mut order: Vec<i64> = (0..rank as i64).collect();
    source.shuffle(&mut order);
    let overwritten = vec![None; results(case).len()];
    set_aliases(&mut case.ir, case.program, &overwritten);
    permute_values(case, rank, &order);
    for op in ops(case) {
        permute_clauses(case, op, &order);
    }
    let done = permute_results(case, rank, &order);
    sign(case);
    done
}

/// The only rank of tensors other than 0, if every op works element by element.
fn common_rank(case: &Case) -> Option<usize> {
    let moves = |op: &Op| match case.ir.def(*op) {
        Some(def) => def.has_maps(&fusion::maps::POINTWISE) || is_created(case, *op),
        None => false,
    };
    if !ops(case).iter().all(moves) {
        return None;
    }
    let mut ranks: Vec<usize> = values(case)
        .into_iter()
        .filter_map(|v| tensor(&case.ir, v))
        .map(|t| t.dims.len())
        .filter(|rank| *rank > 0)
        .collect();
    ranks.dedup();
    match ranks.as_slice() {
        [rank] => Some(*rank),
        _ => None,
    }
}

/// Ops without operands whose clauses can follow: one value everywhere, or an index along an axis.
fn is_created(case: &Case, op: Op) -> bool {
    let splat = match case.ir.attr_of(op, "value") {
        Some(AttrKind::Dense { splat, .. }) => *splat,
        _ => true,
    };
    let ir = &case.ir;
    splat
        && [&fusion::CONSTANT, &fusion::FULL, &fusion::IOTA]
            .into_iter()
            .any(|def| ir.is(op, def))
}

fn values(case: &Case) -> Vec<Value> {
    let mut values = body(case).map_or(Vec::new(), |body| case.ir.args(body).to_vec());
    for op in ops(case) {
        values.extend(case.ir.results(op));
    }
    values
}

fn permute_values(case: &mut Case, rank: usize, order: &[i64]) {
    let inputs = case.inputs.len();
    for (index, value) in values(case).into_iter().enumerate() {
        let Some(of) = tensor(&case.ir, value).filter(|t| t.dims.len() == rank) else {
            continue;
        };
        match index < inputs {
            true => permute_input(case, index, value, &of, order),
            false => {
                let ty = permuted(case, &of, order);
                case.ir.set_value_type(value, ty);
            }
        }
    }
}

fn permute_clauses(case: &mut Case, op: Op, order: &[i64]) {
    if let Some(dim) = case.ir.int_of(op, "dim") {
        let moved = order.iter().position(|i| *i == dim).unwrap_or(0);
        let moved = case.ir.int_attr(moved as i64);
        case.ir.set_attr(op, "dim", moved);
    }
    if let Some(AttrKind::Extents(dims)) = case.ir.attr_of(op, "shape")
        && dims.len() == order.len()
    {
        let dims = order.iter().map(|i| dims[*i as usize]).collect();
        let shape = case.ir.attr(AttrKind::Extents(dims));
        case.ir.set_attr(op, "shape", shape);
    }
    if let Some(AttrKind::Dense {
        ty,
        dtype,
        splat,
        bytes,
    }) = case.ir.attr_of(op, "value").cloned()
        && let TypeKind::Tensor(of) = case.ir.ty(ty).clone()
        && of.dims.len() == order.len()
    {
        let ty = permuted(case, &of, order);
        let value = case.ir.attr(AttrKind::Dense {
            ty,
            dtype,
            splat,
            bytes,
        });
        case.ir.set_attr(op, "value", value);
    }
}

/// The program gives its results in the old order.
fn permute_results(case: &mut Case, rank: usize, order: &[i64]) -> bool {
    let Some(end) = terminator(case).filter(|op| case.ir.is(*op, &task::RETURN)) else {
        return false;
    };
    for (index, value) in results(case).into_iter().enumerate() {
        if tensor(&case.ir, value).is_none_or(|t| t.dims.len() != rank) {
            continue;
        }
        let mut builder = Builder::before(&mut case.ir, end);
        let dims = builder.ints("dims", &inverse(order));
        let Ok(back) = builder.value(&fusion::PERMUTE, &[value], &[dims]) else {
            return false;
        };
        case.ir.set_operand(end, index, back);
    }
    true
}

/// The signature as the block and the terminator have it.
fn sign(case: &mut Case) {
    let Some(body) = body(case) else { return };
    let arguments = case.ir.args(body).to_vec();
    let types = |list: &[Value]| list.iter().map(|v| case.ir.value_type(*v)).collect();
    let (inputs, outputs) = (types(&arguments), types(&results(case)));
    let signature = case.ir.function_type(inputs, outputs);
    let signature = case.ir.attr(AttrKind::Type(signature));
    case.ir.set_attr(case.program, "function_type", signature);
}

/// Gives some values that ops make, results excluded, another layout.
pub fn lay_out(case: &mut Case, source: &mut Source) -> bool {
    let kept = results(case);
    let producers = ops(case)
        .into_iter()
        .filter(|op| !case.ir.is(*op, &fusion::CONSTANT));
    let made = producers.flat_map(|op| case.ir.results(op).to_vec());
    let fits = |v: &Value| {
        let rank = tensor(&case.ir, *v).map_or(0, |t| t.dims.len());
        rank >= 2 && !kept.contains(v)
    };
    let mut chosen: Vec<Value> = made.filter(fits).collect();
    source.shuffle(&mut chosen);
    chosen.truncate(1 + source.index(4));
    for &value in &chosen {
        let rank = tensor(&case.ir, value).map_or(0, |t| t.dims.len());
        let mut order: Vec<usize> = (0..rank).collect();
        source.shuffle(&mut order);
        let ty = case.ir.value_type(value);
        let ty = layout::with(&mut case.ir, ty, &order);
        case.ir.set_value_type(value, ty);
    }
    !chosen.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fuser_ir::DType;

    #[test]
    fn data_follows_its_axes() {
        let input = Input {
            dtype: DType::I8,
            axes: vec![(2, false), (5, true), (3, false)],
            bytes: vec![0, 1, 2, 10, 11, 12],
        };
        let other = transposed(&input, &[2, 0, 1]);
        assert_eq!(other.axes, [(3, false), (2, false), (5, true)]);
        assert_eq!(other.bytes, [0, 10, 1, 11, 2, 12]);
        assert_eq!(transposed(&other, &inverse(&[2, 0, 1])), input);
        assert_eq!(inverse(&[2, 0, 1]), [1, 2, 0]);
    }
}
