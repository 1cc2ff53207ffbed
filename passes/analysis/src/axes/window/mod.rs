//! Windows: the element of a slice, flip, pad, cat or gather as a computation from memory at the indices of the walk.
//!
//! A window op opens axes of its own. It does not read its operand at the point of the walk, as other ops do, but at an
//! index computed from it: `start + step * i` for a slice, `n - 1 - i` for a flip, `i - low` where that lies inside for a pad, one operand or
//! the other for a cat. From there the maps of the ops on the way say at which index each value is wanted, and a
//! pointwise value is computed there: a value may be wanted at several indices, and is computed for each. The result is
//! a list of *nodes*: loads at an affine address, ops on earlier nodes, and choices between two of them by *guards*.
//!
//! ```text
//! %s = fusion.sin %x                                     // %x: tensor<8xf32>
//! %a = fusion.slice %s starts [2] shape [6]              0: load %x[i + 1]   where 0 <= i - 1 < 6
//! %y = fusion.pad %a, %v low [1] high [1]                1: fusion.sin 0
//!                                                        2: 1 where 0 <= i - 1 < 6, else %v
//! ```
//!
//! A gather reads at an index that is data: the element of its operand of indices is a node of the window like others, and the index
//! is made of it ([`Source::Element`]).
//!
//! An index is a sum of axes of the walk, from either end, each times a factor, and an offset ([`Form`]). If a reshape cuts one axis
//! into several, the terms that are multiples of the inner length go out and the rest stays in. If they do not come
//! apart, the axis of the walk is cut in the same way ([`Need::Split`]), or the few parts that the index may lie in are
//! told apart by guards.
//!
//! The result of a reduction or a scan is computed at the walk's own index alone ([`Node::Here`]); an axis that must be another one
//! for that is told ([`Need::Join`]). Wanted elsewhere, it is read where it is kept as a whole along the axes of which another index
//! is wanted ([`Node::Resident`]): in fast memory, or in memory between two walks.
//!
//! A reshape that stands alone and whose axes have no common refinement with its operand's is read like a window, too: element by
//! element, each found by its number ([`Node::Numbered`]).
//!
//! Reading order: this file (what a window is, and questions about it), `form.rs` (indices), `resolve.rs` (from op to
//! window; `resolve/reshape.rs`: through a reshape), `region.rs` (what is touched of memory).
//!
//! Guarantees: pure; no recursion; at most [`MAX_NODES`] nodes and [`MAX_PIECES`] pieces to choose from, so the work per op is
//! bounded. Never looks at an op's name.

mod form;
mod region;
mod resolve;

use fuser_ir::types::ExtentExpr;
use fuser_ir::{DType, Ir, Op, Value};

use super::{Axes, AxisId};
pub use form::{Form, Guard, Source, Variable, at_least, minus};
pub use region::{Region, united};
pub(super) use resolve::Failure;
pub use resolve::{Need, is_link};

/// The most pieces that one window chooses from: each is computed in the innermost loop.
pub const MAX_PIECES: usize = 16;
/// The most nodes of one window.
pub const MAX_NODES: usize = 256;

/// An element of some value; those of a window are in an order in which they can be computed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Node {
    /// It lies in memory.
    Load {
        /// The value that is loaded.
        value: Value,
        /// Elements from its beginning.
        at: Form,
        /// Conditions under which the load is valid: elsewhere the address may be outside of memory, and the element is
        /// any.
        guards: Vec<Guard>,
    },
    /// It lies in memory, in another shape with no axis in common: elements count through in row-major order.
    Numbered {
        /// The value that is loaded.
        value: Value,
        /// The index along each axis of the window's result, with its length.
        index: Vec<(Form, ExtentExpr)>,
        /// The lengths of the axes of `value`, each with the elements from one index to the next.
        axes: Vec<(ExtentExpr, ExtentExpr)>,
    },
    /// 0.
    Zero(DType),
    /// The value at the point of the walk: a scalar, or what the walk computes there anyway.
    Here(Value),
    /// A value that the walk computes, at another index than its own: it is complete before.
    Resident {
        /// The value.
        value: Value,
        /// The axes of the value along which the index is not the walk's own, and that index.
        at: Vec<(AxisId, Form)>,
        /// Conditions under which there is such an element: elsewhere it is any.
        guards: Vec<Guard>,
    },
    /// The element that an op makes at an index.
    Made {
        /// The op.
        op: Op,
        /// The index along the axis that it counts, if it counts one.
        index: Option<Form>,
    },
    /// The op of some elements.
    Compute {
        /// The op.
        op: Op,
        /// Numbers of nodes, one for each operand.
        operands: Vec<usize>,
    },
    /// One of two elements.
    Select {
        /// All hold where it is the first.
        guards: Vec<Guard>,
        /// The number of the first.
        inside: usize,
        /// The number of the other.
        outside: usize,
    },
}

/// A slice, flip, pad, cat or gather.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Window {
    /// The computation of its elements; the last node is the element of the result.
    pub nodes: Vec<Node>,
    /// The ops whose results are computed for it, in no order.
    pub through: Vec<Op>,
}

/// The reason that the elements of a window cannot be computed at the indices where they are wanted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WindowRefusal {
    /// A value would have to be known at another index than that of the walk.
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
    /// More nodes than [`MAX_NODES`].
    TooManyNodes {
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
            | Self::TooManyNodes { op, .. }
            | Self::Unknown { op } => op,
        }
    }
}

/// True if `op` reads its first operands through a window.
pub fn is_window(ir: &Ir, op: Op) -> bool {
    ir.def(op).is_some_and(|def| def.shifts())
}

impl Node {
    /// The numbers of the nodes that it is computed from.
    fn earlier(&self) -> impl Iterator<Item = usize> {
        let (operands, sides) = match self {
            Node::Compute { operands, .. } => (&operands[..], [None; 2]),
            Node::Select {
                inside, outside, ..
            } => (&[][..], [Some(*inside), Some(*outside)]),
            _ => (&[][..], [None; 2]),
        };
        operands.iter().copied().chain(sides.into_iter().flatten())
    }
    fn earlier_mut(&mut self) -> impl Iterator<Item = &mut usize> {
        let (operands, sides) = match self {
            Node::Compute { operands, .. } => (&mut operands[..], [None, None]),
            Node::Select {
                inside, outside, ..
            } => (&mut [][..], [Some(inside), Some(outside)]),
            _ => (&mut [][..], [None, None]),
        };
        operands.iter_mut().chain(sides.into_iter().flatten())
    }
    /// The forms that it is made of, with their guards.
    pub fn forms(&self) -> impl Iterator<Item = &Form> {
        let (at, index, kept, guards) = match self {
            Node::Load { at, guards, .. } => (Some(at), &[][..], &[][..], &guards[..]),
            Node::Resident { at, guards, .. } => (None, &[][..], &at[..], &guards[..]),
            Node::Made { index, .. } => (None, index.as_slice(), &[][..], &[][..]),
            Node::Select { guards, .. } => (None, &[][..], &[][..], &guards[..]),
            Node::Zero(_) | Node::Numbered { .. } | Node::Here(_) | Node::Compute { .. } => {
                (None, &[][..], &[][..], &[][..])
            }
        };
        let kept = kept.iter().map(|(_, form)| form);
        let guards = guards.iter().map(|g| &g.at);
        at.into_iter().chain(index).chain(kept).chain(guards)
    }
}

impl Window {
    /// The axes of the walk along which each node differs, ascending.
    fn spreads(&self, axes: &Axes) -> Vec<Vec<AxisId>> {
        let mut spreads: Vec<Vec<AxisId>> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let mut own: Vec<AxisId> = match node {
                Node::Here(value) => axes.stored(*value).collect(),
                Node::Resident { value, at, .. } => {
                    let here = |a: &AxisId| at.iter().all(|(axis, _)| axis != a);
                    axes.stored(*value).filter(here).collect()
                }
                Node::Numbered { index, .. } => index.iter().flat_map(|(f, _)| f.axes()).collect(),
                Node::Load { .. } | Node::Zero(_) | Node::Made { .. } => Vec::new(),
                Node::Compute { operands, .. } => {
                    let operands = operands.iter();
                    operands.flat_map(|&n| spreads[n].iter().copied()).collect()
                }
                Node::Select {
                    inside, outside, ..
                } => [&spreads[*inside][..], &spreads[*outside]].concat(),
            };
            for form in node.forms() {
                own.extend(form.axes());
                let indices = form.elements().flat_map(|n| spreads[n].iter().copied());
                own.extend(indices);
            }
            own.sort_unstable();
            own.dedup();
            spreads.push(own);
        }
        spreads
    }
    /// The regions of memory that its loads touch, without those that cannot be computed; it is the window of `op`.
    pub fn regions(&self, axes: &Axes, op: Op) -> Vec<Region> {
        let spreads = self.spreads(axes);
        let region = |node: &Node| match node {
            Node::Load { value, at, guards } => Region::of(axes, *value, at, guards, op, &spreads),
            Node::Numbered {
                value, axes: all, ..
            } => Region::whole(*value, all),
            _ => None,
        };
        self.nodes.iter().filter_map(region).collect()
    }
    /// The values in memory that it reads at indices of its own.
    pub fn loads(&self) -> impl Iterator<Item = Value> + '_ {
        self.nodes.iter().filter_map(|node| match node {
            Node::Load { value, .. } | Node::Numbered { value, .. } => Some(*value),
            _ => None,
        })
    }
    /// The values that it reads at the point of the walk.
    pub fn here(&self) -> impl Iterator<Item = Value> + '_ {
        self.nodes.iter().filter_map(|node| match node {
            Node::Here(value) => Some(*value),
            _ => None,
        })
    }
    /// The values that it reads where the walk has kept them, each with the axes along which that is at another index.
    pub fn elsewhere(&self) -> impl Iterator<Item = (Value, &[(AxisId, Form)])> {
        self.nodes.iter().filter_map(|node| match node {
            Node::Resident { value, at, .. } => Some((*value, &at[..])),
            _ => None,
        })
    }
    /// The values that it needs of the walk: those of its point, and what is kept.
    pub fn walked(&self) -> impl Iterator<Item = Value> + '_ {
        self.here().chain(self.elsewhere().map(|(value, _)| value))
    }
    /// The ops that are computed for one element, one entry for each time.
    pub fn computed(&self) -> impl Iterator<Item = Op> + '_ {
        self.nodes.iter().filter_map(|node| match node {
            Node::Compute { op, .. } => Some(*op),
            _ => None,
        })
    }
    /// The arithmetic of one element, of two that it chooses from the dearer one's; `own` is that of an op.
    pub fn arithmetic(&self, own: impl Fn(Op) -> u64) -> u64 {
        let mut all: Vec<u64> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let made = match node {
                Node::Compute { op, operands } => {
                    let operands = operands.iter().map(|&n| all[n]);
                    operands.fold(own(*op), u64::saturating_add)
                }
                Node::Select {
                    inside, outside, ..
                } => all[*inside].max(all[*outside]),
                _ => 0,
            };
            all.push(made);
        }
        // A node that several read is computed once.
        let mut needed = vec![false; self.nodes.len()];
        needed.last_mut().into_iter().for_each(|last| *last = true);
        let mut sum: u64 = 0;
        for (number, node) in self.nodes.iter().enumerate().rev() {
            match node {
                _ if !needed[number] => {}
                Node::Select {
                    inside, outside, ..
                } => needed[*[outside, inside][usize::from(all[*inside] > all[*outside])]] = true,
                _ => node.earlier().for_each(|n| needed[n] = true),
            }
            if let (true, Node::Compute { op, .. }) = (needed[number], node) {
                sum = sum.saturating_add(own(*op));
            }
        }
        sum
    }
    /// The guards of what it reads and chooses, in order, with repeats.
    pub fn guards(&self) -> impl Iterator<Item = &Guard> {
        self.nodes.iter().flat_map(|node| match node {
            Node::Load { guards, .. }
            | Node::Resident { guards, .. }
            | Node::Select { guards, .. } => &guards[..],
            _ => &[],
        })
    }
    /// The window at points of the walk where some guards are known to hold, or not to: those are gone, and with them the sides
    /// that nobody chooses. One whose indices are elements of its nodes stays as it is.
    pub fn where_known(&self, known: impl Fn(&Guard) -> Option<bool>) -> Window {
        let mut forms = self.nodes.iter().flat_map(Node::forms);
        if forms.any(|form| form.elements().next().is_some()) {
            return self.clone();
        }
        let open = |guards: &[Guard]| -> Vec<Guard> {
            let open = guards.iter().filter(|g| known(g) != Some(true));
            open.cloned().collect()
        };
        // What each node is: itself, or the side that is chosen for sure.
        let mut same: Vec<usize> = Vec::with_capacity(self.nodes.len());
        let mut nodes = self.nodes.clone();
        for (number, node) in nodes.iter_mut().enumerate() {
            same.push(number);
            match node {
                Node::Load { guards, .. } | Node::Resident { guards, .. } => *guards = open(guards),
                Node::Compute { operands, .. } => operands.iter_mut().for_each(|n| *n = same[*n]),
                Node::Select {
                    guards,
                    inside,
                    outside,
                } => {
                    (*inside, *outside) = (same[*inside], same[*outside]);
                    if guards.iter().any(|g| known(g) == Some(false)) {
                        same[number] = *outside;
                    }
                    *guards = open(guards);
                    if guards.is_empty() {
                        same[number] = *inside;
                    }
                }
                Node::Numbered { .. } | Node::Zero(_) | Node::Here(_) | Node::Made { .. } => {}
            }
        }
        nodes.truncate(same.last().map_or(0, |last| last + 1));
        Window {
            nodes: needed(nodes),
            through: self.through.clone(),
        }
    }
    /// True if lanes along `axis` can be read as vectors.
    pub fn is_contiguous(&self, axes: &Axes, axis: AxisId) -> bool {
        let spreads = self.spreads(axes);
        let still = |form: &Form| form.elements().all(|n| !spreads[n].contains(&axis));
        let step = |form: &Form| form.along(axis).and_then(|step| step.as_constant());
        let even = |form: &Form| still(form) && matches!(step(form), Some(0 | 1));
        let all_even = |guards: &[Guard]| guards.iter().all(|g| even(&g.at));
        self.nodes.iter().all(|node| match node {
            Node::Load { at, guards, .. } => even(at) && all_even(guards),
            Node::Resident { at, guards, .. } => {
                at.iter().all(|(_, form)| even(form)) && all_even(guards)
            }
            Node::Numbered { .. } => false,
            Node::Select { guards, .. } => all_even(guards),
            Node::Made { index, .. } => index.iter().all(still),
            Node::Zero(_) | Node::Here(_) | Node::Compute { .. } => true,
        })
    }
    /// True if it is one load, of elements that are all there.
    pub fn is_plain(&self) -> bool {
        matches!(&self.nodes[..], [Node::Load { guards, .. }] if guards.is_empty())
    }
    /// True if it reads memory in another shape with no axis in common.
    pub fn is_numbered(&self) -> bool {
        let numbered = |node: &Node| matches!(node, Node::Numbered { .. });
        self.nodes.iter().any(numbered)
    }
    /// The axes along which it reads neighbours in memory one after the other, where along `lanes` it reads elements that lie
    /// further apart.
    pub fn crossed(&self, lanes: AxisId) -> Vec<AxisId> {
        let mut list = Vec::new();
        for node in &self.nodes {
            let Node::Load { at, .. } = node else {
                continue;
            };
            let step = at.along(lanes).and_then(|step| step.as_constant());
            if !matches!(step, Some(0 | 1)) {
                let near = at.terms.iter().filter(|t| t.1.as_constant() == Some(1));
                list.extend(
                    near.filter_map(|t| t.0.axis())
                        .filter(|&axis| axis != lanes),
                );
            }
        }
        list
    }
    /// True if the walk may take the neighbouring axes `outer` and `inner`, of length `length`, as one: no index tells
    /// them apart.
    pub fn joins(&self, outer: AxisId, inner: AxisId, length: &ExtentExpr) -> bool {
        self.nodes.iter().all(|node| {
            let as_one = |form: &Form| {
                let ahead = form.along(inner).and_then(|step| step.mul(length));
                ahead.is_some() && ahead == form.along(outer)
            };
            let apart = match node {
                Node::Numbered { .. } => true,
                // What is read elsewhere along one of them is found along that one.
                Node::Resident { at, .. } => at.iter().any(|(a, _)| [outer, inner].contains(a)),
                _ => false,
            };
            !apart && node.forms().all(as_one)
        })
    }
    /// The axes that its indices are made of, other than those of what is there at the point of the walk.
    pub fn axes(&self) -> Vec<AxisId> {
        let numbered = self.nodes.iter().flat_map(|node| match node {
            Node::Numbered { index, .. } => &index[..],
            _ => &[],
        });
        let forms = self.nodes.iter().flat_map(Node::forms);
        let forms = forms.chain(numbered.map(|(form, _)| form));
        let mut axes: Vec<AxisId> = forms.flat_map(Form::axes).collect();
        axes.sort();
        axes.dedup();
        axes
    }
}

/// Those of `nodes` that the last one needs, itself included.
fn needed(nodes: Vec<Node>) -> Vec<Node> {
    let mut needed = vec![false; nodes.len()];
    needed.last_mut().into_iter().for_each(|last| *last = true);
    for (number, node) in nodes.iter().enumerate().rev() {
        if needed[number] {
            node.earlier().for_each(|n| needed[n] = true);
        }
    }
    let mut numbers = Vec::with_capacity(nodes.len());
    let mut kept: Vec<Node> = Vec::new();
    for (mut node, needed) in nodes.into_iter().zip(needed) {
        numbers.push(kept.len());
        if needed {
            node.earlier_mut().for_each(|n| *n = numbers[*n]);
            kept.push(node);
        }
    }
    kept
}
