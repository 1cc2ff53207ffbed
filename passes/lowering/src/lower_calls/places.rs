//! Addresses of the elements of a tensor whose lines along one axis are numbered.

use fuser_ir::types::ExtentExpr;
use fuser_ir::{Extent, Ir, Sym, Value, layout};

use crate::lower::build::{Idx, KernelBuilder};

/// A run of lines: their number, and the elements from one to the next.
#[derive(Clone, Debug)]
struct Run {
    count: ExtentExpr,
    stride: ExtentExpr,
}

/// The lines of a tensor along an axis, in the order of its other axes.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    /// The other axes, outermost first.
    runs: Vec<Run>,
    /// The elements from one element of a line to the next.
    step: ExtentExpr,
}

impl Lines {
    /// The lines of `value` along axis `dim`, as the axes of `like` count them; `None` if they are no tensors of equal
    /// rank and known extents. Along an axis that `value` stores once, its lines are one.
    pub(super) fn of(ir: &Ir, value: Value, like: Value, dim: usize) -> Option<Self> {
        let tensor = ir.value_kind(value).as_tensor()?;
        let counted = ir.value_kind(like).as_tensor()?;
        let mut strides = vec![ExtentExpr::constant(0); tensor.dims.len()];
        let mut stride = ExtentExpr::constant(1);
        for axis in layout::stored(ir, tensor).into_iter().rev() {
            strides[axis] = stride.clone();
            stride = stride.mul(&ir.extent_as_expr(tensor.dims[axis].extent)?)?;
        }
        let mut runs = Vec::new();
        for (axis, extent) in counted.dims.iter().enumerate() {
            if axis != dim && !extent.broadcast && extent.extent != Extent::Static(1) {
                runs.push(Run {
                    count: ir.extent_as_expr(extent.extent)?,
                    stride: strides.get(axis)?.clone(),
                });
            }
        }
        Some(Self {
            runs,
            step: strides.get(dim)?.clone(),
        })
    }
    /// The lines of a tensor in which each line lies behind the one before.
    pub(super) fn flat(lines: &ExtentExpr, length: &ExtentExpr) -> Self {
        Self {
            runs: vec![Run {
                count: lines.clone(),
                stride: length.clone(),
            }],
            step: ExtentExpr::constant(1),
        }
    }
    /// True if neighbours in a line are neighbours in memory.
    pub(super) fn is_along(&self) -> bool {
        self.step.as_constant() == Some(1)
    }
    /// The number of lines.
    pub(super) fn count(&self) -> Option<ExtentExpr> {
        let mut counts = self.runs.iter().map(|run| &run.count);
        counts.try_fold(ExtentExpr::constant(1), |all, count| all.mul(count))
    }
    /// Two tensors of equal lines: neighbouring axes that are one run in both become one; `None` on overflow.
    pub(super) fn join(&mut self, other: &mut Self) -> Option<()> {
        let mut at = 1;
        while at < self.runs.len().min(other.runs.len()) {
            let whole = |lines: &Self| {
                let (outer, inner) = (&lines.runs[at - 1], &lines.runs[at]);
                inner.stride.mul(&inner.count).as_ref() == Some(&outer.stride)
            };
            if !(whole(self) && whole(other)) {
                at += 1;
                continue;
            }
            for lines in [&mut *self, &mut *other] {
                let inner = lines.runs.remove(at);
                let outer = &mut lines.runs[at - 1];
                let count = outer.count.mul(&inner.count);
                *outer = Run {
                    count: count?,
                    stride: inner.stride,
                };
            }
        }
        Some(())
    }
    /// The element before the first one of line number `line`.
    pub(super) fn start(&self, k: &mut KernelBuilder<'_>, line: Idx) -> Option<Idx> {
        let mut rest = line;
        let mut sum = Idx::ZERO;
        for (number, run) in self.runs.iter().enumerate().rev() {
            let count = k.extent(&run.count)?;
            let own = if number == 0 {
                rest
            } else {
                k.rem(rest, count)
            };
            if number > 0 {
                rest = k.div(rest, count);
            }
            let stride = k.extent(&run.stride)?;
            let part = k.mul(own, stride);
            sum = k.add(sum, part);
        }
        Some(sum)
    }
    /// The address of element `i` of the line that begins at `start`.
    pub(super) fn at(&self, k: &mut KernelBuilder<'_>, start: Idx, i: Idx) -> Option<Idx> {
        let step = k.extent(&self.step)?;
        let part = k.mul(i, step);
        Some(k.add(start, part))
    }
    /// The names of extents in the addresses.
    pub(super) fn names(&self, names: &mut Vec<Sym>) {
        let runs = self.runs.iter().flat_map(|run| [&run.count, &run.stride]);
        for expr in runs.chain([&self.step]) {
            names.extend(expr.terms.iter().flat_map(|(own, _)| own.iter().copied()));
        }
    }
}
