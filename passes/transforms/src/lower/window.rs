//! Slices, pads and cats inside a nest: loads at an index computed from the point of the walk.
//!
//! A window is a list of pieces (see `axes::window`). They are taken from the last to the first: each loads the lanes that
//! its guards admit and takes the others from what came before. A guard along the lanes becomes the range of lanes that are
//! read; the others make that range empty where they do not hold. So no element outside of memory is ever touched.
//!
//! ```text
//! %y = fusion.cat %a, %b dim 0         %0 = kernel.load_within %b, %i - 3, 0.0, 3 - %i, 5 - (%i - 3)
//!                                =>    %y = kernel.load_within %a, %i, %0, 0 - %i, 3 - %i
//! ```
//!
//! Never computes an operand at another index: `axes::window` has refused what would need that.

use fuser_dialects::{fusion, kernel};
use fuser_ir::types::ExtentExpr;
use fuser_ir::{DType, Op, Value};
use rustc_hash::FxHashMap;

use super::build::Idx;
use super::nest::Scopes;
use super::sweep::{SweepLowering, Unsupported};
use crate::axes::window::{Guard, Piece, Source, Window};

/// A point of the walk as indices of one value.
struct Point {
    /// Along each axis.
    index: Vec<Idx>,
    /// The axis along which lanes run.
    lanes: Option<usize>,
}

impl SweepLowering<'_> {
    /// The operands of `op` that the walk has to compute or load at its own point.
    pub(super) fn computed_operands(&self, op: Op) -> Vec<Value> {
        match self.axes.window(op) {
            Some(window) => window.fills().collect(),
            None => self.ir().operands(op).collect(),
        }
    }
    /// Whether lanes along loop `last` can be read as vectors; so they can by an op that is no window.
    pub(super) fn is_contiguous_window(&self, op: Op, last: usize) -> bool {
        let Some(window) = self.axes.window(op) else {
            return true;
        };
        match self.lane_axis(self.ir().result(op, 0), last) {
            Some((dim, step)) => step.is_some_and(|s| window.is_contiguous(dim, &s)),
            None => true,
        }
    }
    /// The axis of `value` that moves along loop `last`, and by how much; the step is `None` where it is not known.
    fn lane_axis(&self, value: Value, last: usize) -> Option<(usize, Option<ExtentExpr>)> {
        let inner = *self.spec.loops[last].axes.last()?;
        let dims = self.axes.value(value);
        let dim = dims
            .iter()
            .position(|d| !d.broadcast && d.axes.contains(&inner))?;
        let after = dims[dim].axes.iter().skip_while(|a| **a != inner).skip(1);
        let start = Some(ExtentExpr::constant(1));
        let step = after.fold(start, |all, &a| all?.mul(self.axes.extent(a)?));
        Some((dim, step))
    }

    pub(super) fn emit_window(
        &mut self,
        op: Op,
        scopes: &Scopes,
        ivs: &FxHashMap<usize, Idx>,
        lanes: Option<u64>,
    ) -> Result<Value, Unsupported> {
        let axes = self.axes;
        let Some(window) = axes.window(op) else {
            return self.refuse(
                op,
                "its elements are not found by index arithmetic",
                "let other ops of the sweep read it through windows only",
            );
        };
        let point = self.point(op, ivs, lanes)?;
        let mut below = None;
        for piece in window.pieces.iter().rev() {
            let value = match &piece.source {
                Source::Fill(fill) => self.fill(*fill, piece, below, &point, scopes, ivs, lanes)?,
                Source::Memory { .. } => self.load_piece(piece, below, &point, lanes)?,
                Source::Reshaped { .. } => self.load_reshaped(window, piece, &point)?,
            };
            below = Some(value);
        }
        match below {
            Some(value) => Ok(value),
            None => self.refuse(op, "it has no elements", "run --remove-empty"),
        }
    }
    fn load_piece(
        &mut self,
        piece: &Piece,
        below: Option<Value>,
        point: &Point,
        lanes: Option<u64>,
    ) -> Result<Value, Unsupported> {
        let Source::Memory {
            value,
            offset,
            strides,
        } = &piece.source
        else {
            return self.refuse_sweep("a piece of a window is no memory");
        };
        let Some(&memory) = self.global.get(value) else {
            return self.refuse_sweep("a value that is read through a window is not in memory");
        };
        let mut at = self.eval(offset)?;
        for (&index, stride) in point.index.iter().zip(strides) {
            let stride = self.eval(stride)?;
            let term = self.k.mul(index, stride);
            at = self.k.add(at, term);
        }
        let moves = |dim: usize| strides[dim] != ExtentExpr::constant(0);
        let lanes = lanes.filter(|_| point.lanes.is_some_and(moves));
        if piece.guards.is_empty() {
            return Ok(self.k.load(memory, at, lanes));
        }
        let dtype = self.k.ir.value_kind(memory).dtype().unwrap_or(DType::F32);
        let fill = match below {
            Some(value) => value,
            None => self.k.zero(dtype),
        };
        let fill = self.k.splat(fill, lanes);
        let range = self.lane_range(&piece.guards, point, lanes)?;
        Ok(self.k.load_within(memory, at, fill, range))
    }
    /// The element of the same number: row-major through the window's result, and again through what is read.
    fn load_reshaped(
        &mut self,
        window: &Window,
        piece: &Piece,
        point: &Point,
    ) -> Result<Value, Unsupported> {
        let Source::Reshaped {
            value,
            extents,
            strides,
        } = &piece.source
        else {
            return self.refuse_sweep("a piece of a window is no reshape");
        };
        let Some(&memory) = self.global.get(value) else {
            return self.refuse_sweep("a value that is read through a window is not in memory");
        };
        let mut number = Idx::ZERO;
        for (&index, extent) in point.index.iter().zip(&window.extents) {
            let extent = self.eval(extent)?;
            number = self.k.mul(number, extent);
            number = self.k.add(number, index);
        }
        let mut at = Idx::ZERO;
        for (axis, (extent, stride)) in extents.iter().zip(strides).enumerate().rev() {
            let extent = self.eval(extent)?;
            let stride = self.eval(stride)?;
            let mut index = number;
            if axis > 0 {
                index = self.k.rem(number, extent);
                number = self.k.div(number, extent);
            }
            let term = self.k.mul(index, stride);
            at = self.k.add(at, term);
        }
        Ok(self.k.load(memory, at, None))
    }
    #[allow(clippy::too_many_arguments)]
    fn fill(
        &mut self,
        fill: Value,
        piece: &Piece,
        below: Option<Value>,
        point: &Point,
        scopes: &Scopes,
        ivs: &FxHashMap<usize, Idx>,
        lanes: Option<u64>,
    ) -> Result<Value, Unsupported> {
        let value = self.get(fill, scopes, ivs, lanes)?;
        let Some(below) = below.filter(|_| !piece.guards.is_empty()) else {
            return Ok(value);
        };
        let guarded = |dim: usize| piece.guards.iter().any(|g| g.dim == dim);
        let lanes = lanes.filter(|_| point.lanes.is_some_and(guarded));
        let [first, end] = self.lane_range(&piece.guards, point, lanes)?;
        let (first, end) = (self.k.index(first), self.k.index(end));
        let lane = match lanes {
            Some(n) => {
                let ty = self.k.ir.vector(n, DType::Index);
                self.k.value(&kernel::IOTA, &[], &[], ty)
            }
            None => self.k.index(Idx::ZERO),
        };
        let from = self.k.compare("ge", lane, first);
        let to = self.k.compare("lt", lane, end);
        let inside = self.k.binary(&fusion::AND, from, to);
        Ok(self.k.select(inside, value, below))
    }

    /// The lanes that all guards admit: those from the first number up to the second.
    fn lane_range(
        &mut self,
        guards: &[Guard],
        point: &Point,
        lanes: Option<u64>,
    ) -> Result<[Idx; 2], Unsupported> {
        let along = point.lanes.filter(|_| lanes.is_some());
        let (mut first, mut end) = (Idx::ZERO, Idx::Const(lanes.unwrap_or(1) as i64));
        let mut holds: Option<Value> = None;
        for guard in guards {
            let scaled = self.k.mul(point.index[guard.dim], Idx::Const(guard.scale));
            let offset = self.eval(&guard.offset)?;
            let at = self.k.add(scaled, offset);
            let extent = self.eval(&guard.extent)?;
            if along == Some(guard.dim) {
                let from = self.k.sub(Idx::ZERO, at);
                let to = self.k.sub(extent, at);
                first = self.k.max(first, from);
                end = self.k.min(end, to);
                continue;
            }
            let (at, extent) = (self.k.index(at), self.k.index(extent));
            let mut both = self.k.compare("lt", at, extent);
            if guard.offset.as_constant().is_none_or(|c| c < 0) {
                let zero = self.k.index(Idx::ZERO);
                let from = self.k.compare("ge", at, zero);
                both = self.k.binary(&fusion::AND, from, both);
            }
            holds = Some(match holds {
                Some(others) => self.k.binary(&fusion::AND, others, both),
                None => both,
            });
        }
        if let Some(holds) = holds {
            let (yes, no) = (self.k.index(end), self.k.index(Idx::ZERO));
            end = Idx::Value(self.k.select(holds, yes, no));
        }
        Ok([first, end])
    }

    /// The current point as indices of the result of `op`.
    fn point(
        &mut self,
        op: Op,
        ivs: &FxHashMap<usize, Idx>,
        lanes: Option<u64>,
    ) -> Result<Point, Unsupported> {
        let result = self.ir().result(op, 0);
        let dims = self.axes.value(result).to_vec();
        let mut index = Vec::with_capacity(dims.len());
        for dim in &dims {
            let mut sum = Idx::ZERO;
            for &axis in dim.axes.iter().filter(|_| !dim.broadcast) {
                let extent = self.axes.extent(axis).cloned().unwrap_or_default();
                let extent = self.eval(&extent)?;
                sum = self.k.mul(sum, extent);
                let Some(at) = self.spec.loop_of(axis) else {
                    return self.refuse(op, "one of its axes is not walked", "run --schedule");
                };
                self.check_joined(op, at)?;
                // Axes that are walked as one count along the innermost of them.
                if self.spec.loops[at].axes.last() == Some(&axis) {
                    let inner = ivs.get(&at).copied().unwrap_or(Idx::ZERO);
                    let here = self.k.add(self.base[at], inner);
                    sum = self.k.add(sum, here);
                }
            }
            index.push(sum);
        }
        let last = ivs.keys().max().copied().filter(|_| lanes.is_some());
        let lanes = last.and_then(|last| self.lane_axis(result, last));
        let lanes = lanes.map(|(dim, _)| dim);
        Ok(Point { index, lanes })
    }
    fn check_joined(&self, op: Op, at: usize) -> Result<(), Unsupported> {
        let axes = &self.spec.loops[at].axes;
        let apart =
            |pair: &[crate::axes::AxisId]| !self.axes.window_joins(self.ir(), op, pair[0], pair[1]);
        match axes.windows(2).any(apart) {
            true => self.refuse(
                op,
                "its index along one of two axes that are walked as one is needed alone",
                "walk them apart",
            ),
            false => Ok(()),
        }
    }
}
