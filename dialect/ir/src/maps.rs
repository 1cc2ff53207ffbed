//! Indexing maps: the relation between the iteration space of an op and its operands and results.
//!
//! An op is described by *iterators* and one map per operand and result. A point of the iteration space is one index
//! for each iterator; a map says which element of the operand is read there, or which element of the result is written.
//!
//! ```text
//! %s = fusion.sum %x dims [1]                       // (i, r):  %x[i, r] -> %s[i]        r is a reduction iterator
//! %b = fusion.broadcast %s dims [0] shape [4, 8]    // (i, j):  %s[i]    -> %b[i, j]
//! %t = fusion.slice %b starts [0, 2] shape [4, 6]   // (i, j):  %b[i, 2 + j] -> %t[i, j]
//! %r = fusion.cumsum %x dim 1                   // (i, s):  %x[i, s] -> %r[i, s]     s is a scan iterator
//! %l = fusion.last %x dim 1 otherwise 0.0        // (i, s):  %x[i, s] -> %l[i]        s is a scan iterator
//! %c = fusion.cat %t, %u dim 1                      // (i, j):  the first of %t[i, j], %u[i, j - 6] that has an element there
//! %p = fusion.matmul %x, %y                         // (i, j, k):  %x[i, k], %y[k, j] -> %p[i, j]
//! %g = fusion.take %x, %n dim 0                     // (i, j):  %n[i], %x[%n[i], j] -> %g[i, j]
//! %d = fusion.dynamic_slice %x, %s dims [0] shape [4, 8]          // (i, j):  %x[%s + i, j] -> %d[i, j]
//! ```
//!
//! The maps of an op follow from its clauses and types; a row of the op table names the function that computes them
//! ([`MapsDef`]). Analyses and passes get relations between indices of operands and results from the maps, never from
//! an op's name. An op whose clauses are out of range, which the verifier refuses, has no maps.

use smallvec::SmallVec;

use crate::def::OpDef;
use crate::ir::{Ir, Op, Value};
use crate::types::ExtentExpr;

/// The part that an iterator plays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IteratorKind {
    /// Each index corresponds to different elements of the results.
    Parallel,
    /// Its indices are combined into one element.
    Reduction,
    /// Its indices are combined in order. Results indexed by it have the intermediate result of each step; other
    /// results have the final result.
    Scan,
}

/// The index along one axis of an operand or result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Index {
    /// 0: the axis has extent 1, or is one that the op keeps with extent 1.
    Zero,
    /// The index of an iterator.
    Iter(usize),
    /// `start + step * i`, `i` the index of an iterator.
    Affine {
        /// The iterator.
        iter: usize,
        /// The index at `i = 0`.
        start: Box<ExtentExpr>,
        /// From one index to the next; not 0. Below 0 the axis is read from its end.
        step: i64,
    },
    /// The element of this operand at its own map, an integer. It is clamped to the axis: below 0 to the first index,
    /// beyond the end to the last. Along an axis without indices the element read is 0.
    Element(usize),
    /// `s + i` with the index `i` of an iterator and `s` the integer element of a scalar operand, clamped to 0 from
    /// below and to `room` from above.
    From {
        /// The iterator.
        iter: usize,
        /// The operand.
        operand: usize,
        /// The last start.
        room: Box<ExtentExpr>,
        /// True for `i - s`.
        back: bool,
    },
}

/// The element of an operand that is read, or of a result that is written, at a point of the iteration space.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Map {
    /// One index along each axis; none for a scalar.
    Axes(SmallVec<[Index; 4]>),
    /// The element at the same row-major position: axes are split and merged, all iterators taken in order.
    RowMajor,
}

/// The operands that make an element of the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reads {
    /// All of them.
    All,
    /// The first one that has an element at its index.
    First,
    /// The last operand that holds no indices and has an element at its index.
    Last,
}

/// The maps of one op.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IndexingMaps {
    /// The iterators, outermost first. Iterators of results are in the order of the results' axes.
    pub iterators: SmallVec<[IteratorKind; 4]>,
    /// One map per operand.
    pub operands: SmallVec<[Map; 3]>,
    /// One map per result.
    pub results: SmallVec<[Map; 1]>,
    /// The choice of the element that each operand gives.
    pub reads: Reads,
}

/// A family of ops with one way to their maps.
#[derive(Debug)]
pub struct MapsDef {
    /// A word for it.
    pub name: &'static str,
    /// Its effect on axes, for the manual: "some end here".
    pub doc: &'static str,
    /// True where operands may be read at an index that is not an iterator's own ([`Index::Affine`],
    /// [`Index::Element`], [`Index::From`]).
    pub shifts: bool,
    /// Computes the maps; `None` if the verifier would refuse the clauses or types.
    pub maps: fn(&Ir, Op) -> Option<IndexingMaps>,
}

impl Map {
    /// The indices along the axes; `None` for other maps.
    pub fn axes(&self) -> Option<&[Index]> {
        match self {
            Map::Axes(axes) => Some(axes),
            Map::RowMajor => None,
        }
    }
    /// The axis with the index of iterator `iter`.
    pub fn axis_of(&self, iter: usize) -> Option<usize> {
        let own = |index: &Index| *index == Index::Iter(iter);
        self.axes()?.iter().position(own)
    }
    /// Iterators `0..rank`, each the index of its own axis.
    pub fn identity(rank: usize) -> Self {
        Map::Axes((0..rank).map(Index::Iter).collect())
    }
}

impl IndexingMaps {
    /// The operands whose elements are indices into others, in ascending order.
    pub fn index_operands(&self) -> SmallVec<[usize; 4]> {
        let indices = self.operands.iter().filter_map(Map::axes).flatten();
        let mut operands: SmallVec<[usize; 4]> = indices
            .filter_map(|index| match *index {
                Index::Element(operand) | Index::From { operand, .. } => Some(operand),
                Index::Zero | Index::Iter(_) | Index::Affine { .. } => None,
            })
            .collect();
        operands.sort_unstable();
        operands.dedup();
        operands
    }
    /// True if the indices of iterator `iter` are combined into one element: results have no axis for it.
    pub fn ends(&self, iter: usize) -> bool {
        let kept = || {
            let mut results = self.results.iter();
            results.any(|map| map.axis_of(iter).is_some())
        };
        match self.iterators[iter] {
            IteratorKind::Parallel => false,
            IteratorKind::Reduction => true,
            IteratorKind::Scan => !kept(),
        }
    }
    /// The iterator of this index, if it selects the same elements of operands and results: `None` for a scan.
    fn parallel(&self, index: &Index) -> Option<usize> {
        match *index {
            Index::Iter(iter) => (self.iterators[iter] != IteratorKind::Scan).then_some(iter),
            Index::Zero | Index::Affine { .. } | Index::Element(_) | Index::From { .. } => None,
        }
    }
    /// For each axis of operand `operand`: the axis of the first result that has the same index, if there is one.
    /// Elements of the result at an index then depend only on elements of the operand at that index. `None` if the
    /// operand is not read with one index for each axis.
    pub fn operand_axes(&self, operand: usize) -> Option<SmallVec<[Option<usize>; 4]>> {
        let result = self.results.first()?;
        let place = |index: &Index| result.axis_of(self.parallel(index)?);
        let axes = self.operands.get(operand)?.axes()?;
        Some(axes.iter().map(place).collect())
    }
    /// For each axis of the first result, the axis of operand `operand` with the same index, if there is one.
    pub fn result_axes(&self, operand: usize) -> Option<SmallVec<[Option<usize>; 4]>> {
        let map = self.operands.get(operand)?;
        map.axes()?;
        let place = |index: &Index| map.axis_of(self.parallel(index)?);
        let axes = self.results.first()?.axes()?;
        Some(axes.iter().map(place).collect())
    }
}

impl Ir {
    /// The indexing maps of `op`; `None` for ops that are no tensor computation.
    pub fn maps(&self, op: Op) -> Option<IndexingMaps> {
        (self.def(op)?.maps?.maps)(self, op)
    }
    /// The number of axes of `value`; 0 if it is no tensor.
    pub fn rank(&self, value: Value) -> usize {
        let tensor = self.value_kind(value).as_tensor();
        tensor.map_or(0, |t| t.dims.len())
    }
}

impl OpDef {
    /// True if the op's maps are of `family`.
    pub fn has_maps(&self, family: &'static MapsDef) -> bool {
        self.maps.is_some_and(|own| std::ptr::eq(own, family))
    }
    /// True if the op may read operands at an index other than the result element's.
    pub fn shifts(&self) -> bool {
        self.maps.is_some_and(|family| family.shifts)
    }
}
