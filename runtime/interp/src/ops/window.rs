//! Slice, flip, pad, cat: indices shift within an axis.

use super::elementwise::{chunks, join};
use super::with_lane;
use crate::error::{InterpError, Result};
use crate::machine::Machine;
use crate::number::Number;
use crate::tensor::{Axis, Lane, Tensor};
use crate::view::View;
use fuser_ir::DType;

/// The placement of one operand of `cat` or `pad` in the result.
struct Piece<'a> {
    x: &'a Tensor,
    strides: Vec<usize>,
    /// First result index along each axis.
    low: Vec<usize>,
}

impl Piece<'_> {
    /// The stored element at a result index, if the piece is there.
    fn find(&self, index: &[usize]) -> Option<usize> {
        let mut position = 0;
        for (i, axis) in self.x.axes().iter().enumerate() {
            let inside = index[i]
                .checked_sub(self.low[i])
                .filter(|k| *k < axis.extent)?;
            position += inside * self.strides[i];
        }
        Some(position)
    }
}

/// The index of element `linear` of a shape.
pub(super) fn unravel(axes: &[Axis], mut linear: usize, index: &mut [usize]) {
    for (slot, axis) in index.iter_mut().zip(axes).rev() {
        let extent = axis.stored().max(1);
        *slot = linear % extent;
        linear /= extent;
    }
}

impl Machine<'_> {
    /// Element `i` is the operand's element `starts + i * strides`.
    pub(crate) fn slice(
        &mut self,
        x: &Tensor,
        starts: &[usize],
        shape: &[usize],
        steps: &[usize],
    ) -> Result<Tensor> {
        let rank = x.axes().len();
        if [starts.len(), shape.len(), steps.len()] != [rank; 3] {
            return Err(InterpError::invalid(
                "a clause has another rank than the operand",
            ));
        }
        let (mut axes, mut strides, mut offset) = (x.axes().to_vec(), x.strides(), 0usize);
        for i in 0..rank {
            if !inside(axes[i].extent, starts[i], shape[i], steps[i]) {
                return Err(InterpError::invalid(format!("the slice leaves axis {i}")));
            }
            axes[i].extent = shape[i];
            if shape[i] > 0 {
                offset += starts[i] * strides[i];
            }
            strides[i] = strides[i].saturating_mul(steps[i]);
        }
        let extents: Vec<usize> = axes.iter().map(|a| a.stored()).collect();
        self.gather(x, axes, View::new(extents, &strides, offset))
    }

    /// Element `i` is the operand's element `n - 1 - i` along each of `dims`, `n` the axis's length.
    pub(crate) fn flip(&mut self, x: &Tensor, dims: &[usize]) -> Result<Tensor> {
        let axes = x.axes().to_vec();
        let strides = x.strides();
        let draft = self.draft(x.dtype(), axes.clone())?;
        with_lane!(self.kind(x.dtype()), L => self.fill(draft, |part| {
            let mut index = vec![0; axes.len()];
            chunks::<L>(part, |at, row| {
                for (i, lane) in row.iter_mut().enumerate() {
                    unravel(&axes, at + i, &mut index);
                    for &dim in dims {
                        index[dim] = axes[dim].stored() - 1 - index[dim];
                    }
                    let from = index.iter().zip(&strides).map(|(i, s)| i * s).sum();
                    L::load(x, from, 1, std::slice::from_mut(lane));
                }
            });
        }))
    }

    /// Element `i` along `dim` is the operand's element `i - shift`, wrapping around the ends of the axis.
    pub(crate) fn roll(&mut self, x: &Tensor, dim: usize, shift: i64) -> Result<Tensor> {
        let axes = x.axes().to_vec();
        let Some(length) = axes.get(dim).map(|axis| axis.stored()) else {
            return Err(InterpError::invalid("`dim` is no axis"));
        };
        let strides = x.strides();
        let draft = self.draft(x.dtype(), axes.clone())?;
        with_lane!(self.kind(x.dtype()), L => self.fill(draft, |part| {
            let mut index = vec![0; axes.len()];
            chunks::<L>(part, |at, row| {
                for (i, lane) in row.iter_mut().enumerate() {
                    unravel(&axes, at + i, &mut index);
                    let moved = index[dim] as i128 - i128::from(shift);
                    index[dim] = moved.rem_euclid(length as i128) as usize;
                    let from = index.iter().zip(&strides).map(|(i, s)| i * s).sum();
                    L::load(x, from, 1, std::slice::from_mut(lane));
                }
            });
        }))
    }

    /// 1 if the index along the new axis `dim` equals the one in `indices`, else 0.
    pub(crate) fn one_hot(
        &mut self,
        indices: &Tensor,
        dim: usize,
        own: Axis,
        of: DType,
    ) -> Result<Tensor> {
        let mut axes = indices.axes().to_vec();
        if dim > axes.len() {
            return Err(InterpError::invalid("`dim` is no axis"));
        }
        axes.insert(dim, own);
        let strides = indices.strides();
        let draft = self.draft(of, axes.clone())?;
        with_lane!(self.kind(of), L => self.fill(draft, |part| {
            let mut index = vec![0; axes.len()];
            chunks::<L>(part, |at, row| {
                for (i, lane) in row.iter_mut().enumerate() {
                    unravel(&axes, at + i, &mut index);
                    let others = (0..index.len()).filter(|&axis| axis != dim);
                    let from = others.zip(&strides).map(|(axis, s)| index[axis] * s).sum();
                    let Some(held) = indices.int(from) else {
                        continue;
                    };
                    let here = usize::try_from(held.v) == Ok(index[dim]);
                    *lane = <L as Number>::constant(f64::from(u8::from(here)), here.into());
                    if held.unsure {
                        *lane = <L as Number>::undecided(*lane);
                    }
                }
            });
        }))
    }

    /// The operand padded with `value`. The result is stored once along the axes that `repeats` marks; a named amount
    /// may be 0 along others.
    pub(crate) fn pad(
        &mut self,
        x: &Tensor,
        value: &Tensor,
        [low, high]: &[Vec<usize>; 2],
        repeats: &[bool],
    ) -> Result<Tensor> {
        let rank = x.axes().len();
        if low.len() != rank
            || high.len() != rank
            || repeats.len() != rank
            || value.stored_len() != 1
            || value.dtype() != x.dtype()
        {
            return Err(InterpError::invalid(
                "`low`, `high` or the value do not fit the operand",
            ));
        }
        let mut axes = x.axes().to_vec();
        let amounts = low.iter().zip(high).zip(repeats);
        for (axis, ((low, high), repeats)) in axes.iter_mut().zip(amounts) {
            let grown = low
                .checked_add(*high)
                .and_then(|n| n.checked_add(axis.extent));
            let grown = grown.ok_or_else(|| InterpError::invalid("a padded extent overflows"))?;
            if !repeats || grown != axis.extent {
                *axis = Axis::plain(grown);
            }
        }
        let piece = Piece {
            x,
            strides: x.strides(),
            low: low.clone(),
        };
        self.assemble(axes, &[piece], Some(value))
    }

    /// The operands one after another along `dim`.
    pub(crate) fn cat(&mut self, operands: &[&Tensor], dim: usize) -> Result<Tensor> {
        let mut others = Vec::with_capacity(operands.len());
        for x in operands {
            let mut axes = x.axes().to_vec();
            let axis = axes
                .get_mut(dim)
                .ok_or_else(|| InterpError::invalid("`dim` is no axis"))?;
            *axis = Axis::plain(0);
            let strip = x.with_axes_unchecked(axes);
            others.push(strip);
        }
        let mut axes = join(&others.iter().collect::<Vec<_>>())?;
        let mut pieces = Vec::with_capacity(operands.len());
        let mut total = 0usize;
        for &x in operands {
            let mut low = vec![0; axes.len()];
            low[dim] = total;
            pieces.push(Piece {
                x,
                strides: x.strides(),
                low,
            });
            let sum = total.checked_add(x.axes()[dim].extent);
            total = sum.ok_or_else(|| InterpError::invalid("the extents overflow"))?;
        }
        let axis = axes.get_mut(dim);
        *axis.ok_or_else(|| InterpError::invalid("there are no operands"))? = Axis::plain(total);
        self.assemble(axes, &pieces, None)
    }

    /// Each element from the piece that covers it, else `border`.
    fn assemble(
        &mut self,
        axes: Vec<Axis>,
        pieces: &[Piece<'_>],
        border: Option<&Tensor>,
    ) -> Result<Tensor> {
        let Some(dtype) = pieces.first().map(|p| p.x.dtype()) else {
            return Err(InterpError::invalid("there are no operands"));
        };
        if pieces.iter().any(|p| p.x.dtype() != dtype) {
            return Err(InterpError::invalid("operand element types differ"));
        }
        let draft = self.draft(dtype, axes.clone())?;
        with_lane!(self.kind(dtype), L => self.fill(draft, |part| {
            let mut index = vec![0; axes.len()];
            chunks::<L>(part, |at, row| {
                for (i, lane) in row.iter_mut().enumerate() {
                    unravel(&axes, at + i, &mut index);
                    let found = pieces.iter().find_map(|p| Some((p.x, p.find(&index)?)));
                    if let Some((x, from)) = found.or(border.map(|b| (b, 0))) {
                        L::load(x, from, 1, std::slice::from_mut(lane));
                    }
                }
            });
        }))
    }
}

/// True if `size` elements from `start` by `step` lie in an axis.
fn inside(extent: usize, start: usize, size: usize, step: usize) -> bool {
    let Some(last) = size.checked_sub(1) else {
        return true;
    };
    let end = last.checked_mul(step).and_then(|n| n.checked_add(start));
    step > 0 && end.is_some_and(|end| end < extent)
}
