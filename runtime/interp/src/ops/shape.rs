//! Ops that only change shape or layout. All but `permute` and `copy dense` share the operand's elements.

use super::elementwise::{chunks, view_of};
use super::with_lane;
use crate::error::{InterpError, Result};
use crate::machine::Machine;
use crate::tensor::{Axis, Tensor, product};
use crate::view::View;

fn reshaped(x: &Tensor, axes: Vec<Axis>) -> Result<Tensor> {
    let text = format!("{} does not have the elements of the result", x.describe());
    x.with_axes(axes).ok_or_else(|| InterpError::invalid(text))
}

/// Result axis `dims[k]` is operand axis `k`; the others repeat.
pub(crate) fn broadcast(x: &Tensor, dims: &[usize], shape: &[usize]) -> Result<Tensor> {
    let mut axes: Vec<Axis> = shape
        .iter()
        .map(|&extent| Axis::new(extent, true))
        .collect();
    let ascending = dims.windows(2).all(|w| w[0] < w[1]);
    if dims.len() != x.axes().len() || !ascending {
        return Err(InterpError::invalid(
            "`dims` does not list each operand axis once, ascending",
        ));
    }
    for (axis, &at) in x.axes().iter().zip(dims) {
        match axes.get_mut(at) {
            Some(slot) if slot.extent == axis.extent => *slot = *axis,
            _ => {
                return Err(InterpError::invalid(format!(
                    "result axis {at} is not the operand's"
                )));
            }
        }
    }
    reshaped(x, axes)
}

/// Axes where `stretched` says so, of extent 1 so far, repeat.
pub(crate) fn expand(x: &Tensor, shape: &[usize], stretched: &[bool]) -> Result<Tensor> {
    let mut axes = x.axes().to_vec();
    if shape.len() != axes.len() || stretched.len() != axes.len() {
        return Err(InterpError::invalid(
            "`shape` has another rank than the operand",
        ));
    }
    for (axis, (&extent, &stretch)) in axes.iter_mut().zip(shape.iter().zip(stretched)) {
        if stretch && axis.extent == 1 {
            *axis = Axis::new(extent, true);
        }
        if axis.extent != extent {
            let text = format!("an axis of extent {} cannot become {extent}", axis.extent);
            return Err(InterpError::invalid(text));
        }
    }
    reshaped(x, axes)
}

/// Axes `dims`, of extent 1, vanish.
pub(crate) fn squeeze(x: &Tensor, dims: &[usize]) -> Result<Tensor> {
    let removed = |i: &usize| dims.contains(i);
    let axes = x.axes();
    if dims
        .iter()
        .any(|&i| axes.get(i).is_none_or(|a| a.extent != 1))
    {
        return Err(InterpError::invalid("only axes of extent 1 vanish"));
    }
    let rest = axes.iter().enumerate().filter(|(i, _)| !removed(i));
    reshaped(x, rest.map(|(_, axis)| *axis).collect())
}

/// The elements in row-major order under other axes. Broadcast axes are kept, with the same number of elements between
/// them.
pub(crate) fn reshape(x: &Tensor, axes: Vec<Axis>) -> Result<Tensor> {
    let runs = |axes: &[Axis]| -> Vec<Option<usize>> {
        let runs = axes.split(|a| a.broadcast);
        runs.map(|run| product(run.iter().map(|a| a.extent)))
            .collect()
    };
    let repeated = |axes: &[Axis]| -> Vec<usize> {
        let repeated = axes.iter().filter(|a| a.broadcast);
        repeated.map(|a| a.extent).collect()
    };
    let same = runs(x.axes()) == runs(&axes) && repeated(x.axes()) == repeated(&axes);
    match same {
        true => reshaped(x, axes),
        false => Err(InterpError::invalid(
            "the new shape does not have the same elements",
        )),
    }
}

impl Machine<'_> {
    /// Result axis `i` is operand axis `dims[i]`.
    pub(crate) fn permute(&mut self, x: &Tensor, dims: &[usize]) -> Result<Tensor> {
        let (from, strides) = (x.axes(), x.strides());
        let mut sorted = dims.to_vec();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..from.len()) {
            return Err(InterpError::invalid(
                "`dims` is no permutation of the operand's axes",
            ));
        }
        let axes: Vec<Axis> = dims.iter().map(|&i| from[i]).collect();
        let extents: Vec<usize> = axes.iter().map(|a| a.stored()).collect();
        let strides: Vec<usize> = dims.iter().map(|&i| strides[i]).collect();
        self.gather(x, axes, View::new(extents, &strides, 0))
    }
    /// Every axis stored.
    pub(crate) fn densify(&mut self, x: &Tensor) -> Result<Tensor> {
        let axes: Vec<Axis> = x.axes().iter().map(|a| Axis::plain(a.extent)).collect();
        if axes == x.axes() {
            return Ok(x.clone());
        }
        let view = view_of(x, &axes);
        self.gather(x, axes, view)
    }
    /// The elements that `view` finds in `x`.
    pub(crate) fn gather(&mut self, x: &Tensor, axes: Vec<Axis>, view: View) -> Result<Tensor> {
        let draft = self.draft(x.dtype(), axes)?;
        with_lane!(self.kind(x.dtype()), L => self.fill(draft, |part| {
            chunks::<L>(part, |at, row| view.gather(x, at, row));
        }))
    }
}
