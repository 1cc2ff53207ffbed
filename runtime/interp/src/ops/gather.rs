//! Take and take_along: an axis is read at indices that are data.

use super::elementwise::chunks;
use super::window::unravel;
use super::with_lane;
use crate::error::{InterpError, Result};
use crate::machine::Machine;
use crate::number::Number;
use crate::tensor::{Axis, Lane, Tensor};

/// The axis of the result for each axis of an operand; none for the axis that is indexed.
type Places = Vec<Option<usize>>;

impl Machine<'_> {
    /// `x` at each of `indices` along axis `dim`; the axes of `indices` stand in its place.
    pub(crate) fn take(&mut self, x: &Tensor, indices: &Tensor, dim: usize) -> Result<Tensor> {
        let (from, own) = (x.axes(), indices.axes());
        if dim >= from.len() {
            return Err(InterpError::invalid("`dim` is no axis"));
        }
        let axes = [&from[..dim], own, &from[dim + 1..]].concat();
        let place = |axis: usize| match axis < dim {
            true => Some(axis),
            false => (axis > dim).then(|| axis + own.len() - 1),
        };
        let places = (0..from.len()).map(place).collect();
        let own = (dim..dim + own.len()).map(Some).collect();
        self.gather_at(x, indices, axes, [places, own])
    }

    /// `x` with the index along axis `dim` that `indices` has for each element.
    pub(crate) fn take_along(
        &mut self,
        x: &Tensor,
        indices: &Tensor,
        dim: usize,
    ) -> Result<Tensor> {
        let (from, own) = (x.axes(), indices.axes());
        let agrees = |k: usize| k == dim || from[k].extent == own[k].extent;
        if dim >= from.len() || from.len() != own.len() || !(0..own.len()).all(agrees) {
            return Err(InterpError::invalid("the operands do not agree"));
        }
        let axis = |k: usize| Axis {
            broadcast: own[k].broadcast && (k == dim || from[k].broadcast),
            ..own[k]
        };
        let axes: Vec<Axis> = (0..own.len()).map(axis).collect();
        let place = |k: usize| (k != dim).then_some(k);
        let places = (0..own.len()).map(place).collect();
        let own = (0..own.len()).map(Some).collect();
        self.gather_at(x, indices, axes, [places, own])
    }

    /// The element of `x` whose index along the axis that has no place is that of `indices`, brought into the axis; 0 where it has no
    /// elements.
    fn gather_at(
        &mut self,
        x: &Tensor,
        indices: &Tensor,
        axes: Vec<Axis>,
        [places, own]: [Places; 2],
    ) -> Result<Tensor> {
        let indexed = places.iter().position(Option::is_none);
        let length = indexed.map_or(0, |axis| x.axes()[axis].extent);
        let (strides, steps) = (x.strides(), indices.strides());
        let stride = indexed.map_or(0, |axis| strides[axis]);
        let at = |places: &Places, strides: &[usize], index: &[usize]| -> usize {
            let terms = places.iter().zip(strides);
            terms
                .map(|(place, s)| place.map_or(0, |p| index[p] * s))
                .sum()
        };
        let draft = self.draft(x.dtype(), axes.clone())?;
        with_lane!(self.kind(x.dtype()), L => self.fill(draft, |part| {
            let mut index = vec![0; axes.len()];
            chunks::<L>(part, |begin, row| {
                for (i, lane) in row.iter_mut().enumerate() {
                    unravel(&axes, begin + i, &mut index);
                    let Some(last) = length.checked_sub(1) else {
                        *lane = L::constant(0.0, 0);
                        continue;
                    };
                    let Some(held) = indices.int(at(&own, &steps, &index)) else {
                        continue;
                    };
                    let held_at = usize::try_from(held.v).unwrap_or(0).min(last);
                    let from = at(&places, &strides, &index) + held_at * stride;
                    L::load(x, from, 1, std::slice::from_mut(lane));
                    if held.unsure && last > 0 {
                        *lane = lane.undecided();
                    }
                }
            });
        }))
    }
}
