//! Programs whose arguments and results are marked `pairs`: callers see complex tensors, the program sees the same
//! memory as reals.
//!
//! Inputs and results are complex outside and have an additional axis of the two parts inside. Without marks nothing
//! changes.

use fuser_ir::attr::AttrKind;
use fuser_ir::{Ir, Op};

use crate::error::{InterpError, Result};
use crate::machine::Machine;
use crate::ops::shape;
use crate::tensor::{Axis, Tensor};

/// The value of the key `name` of the entry at `index` of a list of attributes.
pub(crate) fn mark<'a>(
    ir: &'a Ir,
    op: Op,
    list: &str,
    index: usize,
    name: &str,
) -> Option<&'a AttrKind> {
    let AttrKind::Array(items) = ir.attr_of(op, list)? else {
        return None;
    };
    let AttrKind::Dict(keys) = ir.attr_kind(*items.get(index)?) else {
        return None;
    };
    let (_, value) = keys.iter().find(|(key, _)| ir.str(*key) == name)?;
    Some(ir.attr_kind(*value))
}

fn is_marked(ir: &Ir, op: Op, list: &str, index: usize) -> bool {
    mark(ir, op, list, index, "pairs").is_some()
}

/// Inputs as the program takes them.
pub(crate) fn inside(ir: &Ir, op: Op, inputs: &[Tensor]) -> Vec<Tensor> {
    let each = inputs.iter().enumerate().map(|(index, input)| {
        let marked = is_marked(ir, op, "arg_attrs", index) && input.dtype().is_complex();
        let mut axes = input.axes().to_vec();
        axes.push(Axis::plain(2));
        let pairs =
            marked.then(|| Tensor::from_bytes(input.dtype().part(), axes, &input.to_bytes()));
        pairs.flatten().unwrap_or_else(|| input.clone())
    });
    each.collect()
}

/// Results as callers see them.
pub(crate) fn outside(
    machine: &mut Machine<'_>,
    op: Op,
    ir: &Ir,
    values: Vec<Tensor>,
) -> Result<Vec<Tensor>> {
    let each = values.into_iter().enumerate().map(|(index, value)| {
        match is_marked(ir, op, "res_attrs", index) {
            true => complex(machine, &value),
            false => Ok(value),
        }
    });
    each.collect()
}

fn complex(machine: &mut Machine<'_>, value: &Tensor) -> Result<Tensor> {
    let invalid = || InterpError::invalid("a result is marked as pairs and holds none");
    let mut extents = value.shape();
    let last = extents.len().checked_sub(1).ok_or_else(invalid)?;
    extents[last] = 1;
    let mut starts = vec![0; last + 1];
    let mut part = |which: usize| {
        starts[last] = which;
        let part = machine.slice(value, &starts, &extents, &vec![1; last + 1])?;
        shape::squeeze(&part, &[last])
    };
    Tensor::of_parts(part(0)?, part(1)?).ok_or_else(invalid)
}
