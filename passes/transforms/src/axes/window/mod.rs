//! Windows: what an element of a slice, pad or cat is, as index arithmetic down to memory.
//!
//! A window op opens axes of its own. It does not read its operand at the point of the walk, as other ops do, but at an
//! index computed from it: `start + step * i` for a slice, `i - low` where that lies inside for a pad, one operand or the
//! other for a cat. Followed down through further windows and changes of shape this ends at memory or at a constant, and
//! what results is a list of *pieces*, each a region (one [`Guard`] per bounded axis) and where its elements lie (an affine
//! address). The first piece whose guards hold gives the element.
//!
//! ```text
//! %a = fusion.slice %x starts [2] shape [6]        // %x: tensor<8xf32>
//! %y = fusion.pad %a, %v low [1] high [1]          // %y[i]: x[i + 1] where 0 <= i - 1 < 6, else v
//! ```
//!
//! What the walk would have to compute at another index than its own is refused ([`WindowRefusal::Computed`]): the set is
//! taken apart there, or `sink-windows` moves the window before the computation.
//!
//! A reshape that stands alone and whose axes have no common refinement with its operand's is read like a window, too: element by
//! element, each found by its number ([`Source::Reshaped`]).
//!
//! This file says what a window is and answers questions about it; `resolve.rs` finds it.
//!
//! Guarantees: pure; no recursion; at most [`MAX_PIECES`] pieces, each a chain of at most [`MAX_DEPTH`] ops, so the work per
//! op is bounded.

mod resolve;

use fuser_ir::types::ExtentExpr;
use fuser_ir::{Ir, Op, Value};

pub use resolve::is_link;

/// The most pieces of one window: each is a load of its own in the innermost loop.
pub const MAX_PIECES: usize = 16;
/// The most ops between a window's result and memory.
pub const MAX_DEPTH: usize = 16;

/// `0 <= scale * i + offset < extent` for index `i` along axis `dim` of the window's result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Guard {
    /// The axis of the result.
    pub dim: usize,
    /// Step.
    pub scale: i64,
    /// Start.
    pub offset: ExtentExpr,
    /// Bound.
    pub extent: ExtentExpr,
}

/// Where the elements of a piece lie.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// In memory, at `offset` plus the sum of index times stride.
    Memory {
        /// What is read.
        value: Value,
        /// Elements from its beginning.
        offset: ExtentExpr,
        /// Elements from one index to the next, for each axis of the window's result.
        strides: Vec<ExtentExpr>,
    },
    /// In memory, in another shape with no axis in common: the elements count through in row-major order.
    Reshaped {
        /// What is read.
        value: Value,
        /// The lengths of its axes.
        extents: Vec<ExtentExpr>,
        /// Elements from one index to the next, for each of them.
        strides: Vec<ExtentExpr>,
    },
    /// One element everywhere.
    Fill(Value),
}

/// A region of a window and where its elements lie.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Which indices it has: all guards hold.
    pub guards: Vec<Guard>,
    /// Where the elements lie.
    pub source: Source,
}

/// A slice, pad or cat: the first piece whose guards hold gives the element.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Window {
    /// Lengths of the result's axes.
    pub extents: Vec<ExtentExpr>,
    /// The pieces, in order.
    pub pieces: Vec<Piece>,
}

/// Why the elements of a window cannot be found by index arithmetic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WindowRefusal {
    /// A value would have to be computed at another index than that of the walk.
    Computed {
        /// The window op.
        op: Op,
        /// The value.
        value: Value,
    },
    /// More pieces than [`MAX_PIECES`].
    TooManyPieces {
        /// The window op.
        op: Op,
        /// The limit.
        limit: usize,
    },
    /// More ops between result and memory than [`MAX_DEPTH`].
    TooDeep {
        /// The window op.
        op: Op,
        /// The limit.
        limit: usize,
    },
    /// An extent on the way is `?`, or a number is out of range.
    Unknown {
        /// The window op.
        op: Op,
    },
}

impl WindowRefusal {
    /// The window op.
    pub fn op(&self) -> Op {
        match *self {
            Self::Computed { op, .. }
            | Self::TooManyPieces { op, .. }
            | Self::TooDeep { op, .. }
            | Self::Unknown { op } => op,
        }
    }
}

/// Whether `op` reads its first operands through a window.
pub fn is_window(ir: &Ir, op: Op) -> bool {
    ir.def(op).is_some_and(|def| def.shifts())
}

impl Window {
    /// The values in memory that it reads, with the number of elements touched: those that the guards admit, and for a
    /// short step the ones between as well, since they lie in the same cache lines.
    pub fn touched(&self) -> Vec<(Value, ExtentExpr)> {
        let touched = |piece: &Piece| match &piece.source {
            Source::Memory { value, strides, .. } => Some((*value, self.count(piece, strides)?)),
            Source::Reshaped {
                value,
                extents,
                strides,
            } => {
                let stored = strides.iter().zip(extents);
                let stored = stored.filter(|(stride, _)| stride.as_constant() != Some(0));
                let one = Some(ExtentExpr::constant(1));
                let all = stored.fold(one, |all, (_, extent)| all?.mul(extent));
                Some((*value, all?))
            }
            Source::Fill(_) => None,
        };
        self.pieces.iter().filter_map(touched).collect()
    }
    fn count(&self, piece: &Piece, strides: &[ExtentExpr]) -> Option<ExtentExpr> {
        /// Beyond this many elements a step leaves the cache line.
        const LINE: i64 = 16;
        let mut count = ExtentExpr::constant(1);
        let unit = strides.iter().any(|s| s.as_constant() == Some(1));
        for (dim, stride) in strides.iter().enumerate() {
            let known = stride.as_constant();
            if known == Some(0) {
                continue;
            }
            let step = known
                .filter(|s| (2..LINE).contains(s) && !unit)
                .unwrap_or(1);
            let length = self.length(piece, dim);
            count = count.mul(&length)?.mul(&ExtentExpr::constant(step))?;
        }
        Some(count)
    }
    /// How many indices along `dim` a piece has at most.
    fn length(&self, piece: &Piece, dim: usize) -> ExtentExpr {
        let mut length = self.extents[dim].clone();
        for guard in piece.guards.iter().filter(|g| g.dim == dim) {
            let shorter = match (guard.extent.as_constant(), length.as_constant()) {
                (Some(e), Some(n)) => {
                    e / guard.scale.max(1) + i64::from(e % guard.scale.max(1) > 0) < n
                }
                _ => guard.scale == 1,
            };
            if shorter && guard.scale == 1 {
                length = guard.extent.clone();
            } else if shorter && let Some(e) = guard.extent.as_constant() {
                length = ExtentExpr::constant(e / guard.scale + i64::from(e % guard.scale > 0));
            }
        }
        length
    }
    /// Whether lanes along a walk on which the index along `dim` goes up by `step` can be read as vectors.
    pub fn is_contiguous(&self, dim: usize, step: &ExtentExpr) -> bool {
        let one = ExtentExpr::constant(1);
        self.pieces.iter().all(|piece| {
            let mut along = piece.guards.iter().filter(|g| g.dim == dim).peekable();
            let guarded = along.peek().is_some();
            let unit = along.all(|g| g.scale == 1) && (!guarded || *step == one);
            unit && match &piece.source {
                Source::Fill(_) => true,
                Source::Reshaped { .. } => false,
                Source::Memory { strides, .. } => {
                    let distance = strides[dim].mul(step);
                    distance == Some(one.clone())
                        || (distance == Some(ExtentExpr::constant(0)) && piece.guards.is_empty())
                }
            }
        })
    }
    /// Whether the walk may take the neighbouring axes `outer` and `inner` of the result as one: no guard looks at either,
    /// and in all memory they lie as in the result.
    pub fn joins(&self, outer: usize, inner: usize) -> bool {
        self.pieces.iter().all(|piece| {
            let free = piece
                .guards
                .iter()
                .all(|g| g.dim != outer && g.dim != inner);
            free && match &piece.source {
                Source::Fill(_) => true,
                Source::Reshaped { .. } => false,
                Source::Memory { strides, .. } => {
                    strides[inner].mul(&self.extents[inner]).as_ref() == Some(&strides[outer])
                }
            }
        })
    }
    /// The values that fill regions.
    pub fn fills(&self) -> impl Iterator<Item = Value> + '_ {
        self.pieces.iter().filter_map(|p| match p.source {
            Source::Fill(value) => Some(value),
            Source::Memory { .. } | Source::Reshaped { .. } => None,
        })
    }
}
