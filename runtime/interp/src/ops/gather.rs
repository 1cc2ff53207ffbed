//! Ops with indices as data: `take` and `take_along` read an axis at indices; `dynamic_slice` and
//! `dynamic_update_slice` access a part that starts at an index.

use super::elementwise::chunks;
use super::window::unravel;
use super::with_lane;
use crate::error::{InterpError, Result};
use crate::machine::Machine;
use crate::number::Number;
use crate::tensor::{Axis, Lane, Tensor};

/// The axis of the result for each axis of an operand; none for the axis that is indexed.
type Places = Vec<Option<usize>>;

/// The index along each axis at which a part of a tensor begins.
struct Starts {
    at: Vec<usize>,
    /// True if one of them is a number that rounding may change, and may be another one.
    unsure: bool,
}

impl Starts {
    /// Those that `starts` hold along `dims`, and 0 along other axes.
    fn of(x: &Tensor, starts: &[Tensor], dims: &[usize], extents: &[usize]) -> Result<Self> {
        let own = x.axes();
        let rooms = own.iter().zip(extents);
        let rooms = rooms.map(|(axis, &size)| axis.extent.checked_sub(size));
        let rooms: Option<Vec<usize>> = rooms.collect();
        let rooms = rooms.filter(|r| r.len() == own.len() && extents.len() == own.len());
        let rooms = rooms.ok_or_else(|| InterpError::invalid("the part leaves its tensor"))?;
        if starts.len() != dims.len() || dims.iter().any(|&dim| dim >= own.len()) {
            return Err(InterpError::invalid("there are other starts than `dims`"));
        }
        let (mut at, mut unsure) = (vec![0; own.len()], false);
        for (start, &dim) in starts.iter().zip(dims) {
            let held = start.int(0);
            let held = held.ok_or_else(|| InterpError::invalid("a start is no integer"))?;
            at[dim] = usize::try_from(held.v.max(0))
                .unwrap_or(usize::MAX)
                .min(rooms[dim]);
            unsure |= held.unsure && rooms[dim] > 0;
        }
        Ok(Self { at, unsure })
    }
}

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

    /// The part of `x` with these extents that starts at `starts` along `dims`; starts are clamped so that it lies
    /// inside.
    pub(crate) fn dynamic_slice(
        &mut self,
        x: &Tensor,
        starts: &[Tensor],
        dims: &[usize],
        extents: &[usize],
    ) -> Result<Tensor> {
        let first = Starts::of(x, starts, dims, extents)?;
        let axis = |(own, &extent): (&Axis, &usize)| Axis { extent, ..*own };
        let axes: Vec<Axis> = x.axes().iter().zip(extents).map(axis).collect();
        let strides = x.strides();
        let draft = self.draft(x.dtype(), axes.clone())?;
        with_lane!(self.kind(x.dtype()), L => self.fill(draft, |part| {
            let mut index = vec![0; axes.len()];
            chunks::<L>(part, |begin, row| {
                for (i, lane) in row.iter_mut().enumerate() {
                    unravel(&axes, begin + i, &mut index);
                    let places = index.iter().zip(&first.at).zip(&strides);
                    let from = places.map(|((i, first), stride)| (i + first) * stride).sum();
                    L::load(x, from, 1, std::slice::from_mut(lane));
                    if first.unsure {
                        *lane = lane.undecided();
                    }
                }
            });
        }))
    }

    /// `x` with `updates` written from `starts` on along `dims`; starts are clamped so that the update lies inside.
    pub(crate) fn dynamic_update_slice(
        &mut self,
        x: &Tensor,
        updates: &Tensor,
        starts: &[Tensor],
        dims: &[usize],
    ) -> Result<Tensor> {
        let extents: Vec<usize> = updates.axes().iter().map(|a| a.extent).collect();
        let first = Starts::of(x, starts, dims, &extents)?;
        let axis = |(k, (own, part)): (usize, (&Axis, &Axis))| Axis {
            broadcast: own.broadcast && part.broadcast && !dims.contains(&k),
            ..*own
        };
        let both = x.axes().iter().zip(updates.axes());
        let axes: Vec<Axis> = both.enumerate().map(axis).collect();
        let (strides, steps) = (x.strides(), updates.strides());
        let draft = self.draft(x.dtype(), axes.clone())?;
        with_lane!(self.kind(x.dtype()), L => self.fill(draft, |part| {
            let mut index = vec![0; axes.len()];
            chunks::<L>(part, |begin, row| {
                for (i, lane) in row.iter_mut().enumerate() {
                    unravel(&axes, begin + i, &mut index);
                    let inside = (0..index.len()).try_fold(0, |at, k| {
                        let own = index[k].checked_sub(first.at[k]);
                        let own = own.filter(|&own| own < extents[k])?;
                        Some(at + own * steps[k])
                    });
                    match inside {
                        Some(at) => L::load(updates, at, 1, std::slice::from_mut(lane)),
                        None => {
                            let at = index.iter().zip(&strides).map(|(i, s)| i * s).sum();
                            L::load(x, at, 1, std::slice::from_mut(lane));
                        }
                    }
                    if first.unsure {
                        *lane = lane.undecided();
                    }
                }
            });
        }))
    }

    /// The elements of `x` at `indices` along the axis without a place, clamped to the axis; 0 if that axis is empty.
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
