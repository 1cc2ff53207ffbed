//! Windows: elements of a slice, flip, pad, cat or gather, computed from memory at the indices of the iteration space.
//!
//! A window op introduces axes of its own. Other ops read their operands at the current point of the iteration space; a
//! window op reads at an index computed from that point: `start + step * i` for a slice, `n - 1 - i` for a flip, `i -
//! low` for a pad if that lies inside, one operand or the other for a cat. From there the maps of the producers give
//! the index at which each value is wanted. A pointwise value is computed at that index; if it is wanted at several
//! indices, it is computed for each. The result is a list of *nodes*: loads at an affine address, ops on earlier nodes,
//! and choices between two nodes by *guards*.
//!
//! ```text
//! %s = fusion.sin %x                                     // %x: tensor<8xf32>
//! %a = fusion.slice %s starts [2] shape [6]              0: load %x[i + 1]   where 0 <= i - 1 < 6
//! %y = fusion.pad %a, %v low [1] high [1]                1: fusion.sin 0
//!                                                        2: 1 where 0 <= i - 1 < 6, else %v
//! ```
//!
//! A gather reads at an index that is data. The element of its index operand is a node of the window like others, and
//! the index depends on that node ([`Source::Element`]).
//!
//! An index is a sum of axes of the iteration space, counted from either end, each times a factor, plus an offset
//! ([`Form`]). If a reshape splits one axis into several, the terms that are multiples of the inner length form the
//! outer index, and the rest the inner index. If the terms do not separate, the axis of the iteration space is split in
//! the same way ([`Need::Split`]), or guards distinguish the few parts in which the index may lie.
//!
//! The result of a reduction or a scan is computed at the current point alone ([`Node::Here`]). If that requires
//! joining axes, the window reports it ([`Need::Join`]). Wanted at another index, the result is kept as a whole along
//! the axes on which the index differs ([`Node::Resident`]): in fast memory, or in memory between two loop nests.
//!
//! A lone reshape whose axes have no common refinement with its operand's is read like a window, too: each element is
//! found by its row-major number ([`Node::Numbered`]).
//!
//! Reading order: this file (windows and queries about them), `form.rs` (indices), `resolve.rs` (from op to window;
//! `resolve/reshape.rs`: through a reshape), `region.rs` (the memory touched).
//!
//! Guarantees: pure; no recursion; at most [`MAX_NODES`] nodes and [`MAX_PIECES`] pieces to choose from, so the work
//! per op is bounded. Never looks at an op's name.

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

/// The most pieces that one window chooses from. Each piece is computed in the innermost loop.
pub const MAX_PIECES: usize = 16;
/// The most nodes of one window.
pub const MAX_NODES: usize = 256;

/// An element of some value. The nodes of a window are listed in an order in which they can be computed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Node {
    /// An element loaded from memory.
    Load {
        /// The value that is loaded.
        value: Value,
        /// Elements from its beginning.
        at: Form,
        /// Conditions under which the load is valid. Elsewhere the address may be out of bounds, and the element is
        /// arbitrary.
        guards: Vec<Guard>,
    },
    /// An element loaded from memory of another shape with no axis in common: both count elements in row-major order.
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
    /// The value at the current point: a scalar, or a value that the loop nest computes there anyway.
    Here(Value),
    /// A value that the loop nest computed before, at an index other than the current one.
    Resident {
        /// The value.
        value: Value,
        /// The axes of the value along which the index is not the current one, each with the index.
        at: Vec<(AxisId, Form)>,
        /// Conditions under which the element exists. Elsewhere it is arbitrary.
        guards: Vec<Guard>,
    },
    /// The element of a creation op at an index.
    Made {
        /// The op.
        op: Op,
        /// The index along the axis that the op counts; `None` if it counts none.
        index: Option<Form>,
    },
    /// An op applied to earlier nodes.
    Compute {
        /// The op.
        op: Op,
        /// Numbers of the operand nodes, one for each operand.
        operands: Vec<usize>,
    },
    /// One of two elements.
    Select {
        /// The result is `inside` where all of these hold.
        guards: Vec<Guard>,
        /// The number of the node chosen where the guards hold.
        inside: usize,
        /// The number of the node chosen elsewhere.
        outside: usize,
    },
}

/// A slice, flip, pad, cat or gather.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Window {
    /// The computation of the window's elements. The last node is the element of the result.
    pub nodes: Vec<Node>,
    /// The ops whose results are computed for the window, in no order.
    pub through: Vec<Op>,
}

/// The reason why the elements of a window cannot be computed at the indices where they are wanted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WindowRefusal {
    /// A value would be needed at an index other than the current point.
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
    /// An extent of a value involved is `?`, or a number is out of range.
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
    /// The numbers of the nodes from which this node is computed.
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
    /// The forms of the node and of its guards.
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
    /// The axes of the iteration space along which each node varies, ascending.
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
    /// The regions of memory that the loads touch, without regions that cannot be computed. `op` is the op of the
    /// window.
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
    /// The values in memory that the window reads at computed indices.
    pub fn loads(&self) -> impl Iterator<Item = Value> + '_ {
        self.nodes.iter().filter_map(|node| match node {
            Node::Load { value, .. } | Node::Numbered { value, .. } => Some(*value),
            _ => None,
        })
    }
    /// The values that the window reads at the current point.
    pub fn here(&self) -> impl Iterator<Item = Value> + '_ {
        self.nodes.iter().filter_map(|node| match node {
            Node::Here(value) => Some(*value),
            _ => None,
        })
    }
    /// The values that the window reads where the loop nest keeps them, each with the axes on which the index differs.
    pub fn elsewhere(&self) -> impl Iterator<Item = (Value, &[(AxisId, Form)])> {
        self.nodes.iter().filter_map(|node| match node {
            Node::Resident { value, at, .. } => Some((*value, &at[..])),
            _ => None,
        })
    }
    /// The values that the window needs from the loop nest: those of the current point, and kept values.
    pub fn walked(&self) -> impl Iterator<Item = Value> + '_ {
        self.here().chain(self.elsewhere().map(|(value, _)| value))
    }
    /// The ops computed for one element, with one entry for each time.
    pub fn computed(&self) -> impl Iterator<Item = Op> + '_ {
        self.nodes.iter().filter_map(|node| match node {
            Node::Compute { op, .. } => Some(*op),
            _ => None,
        })
    }
    /// The arithmetic of one element; a choice costs its dearer side. `own` gives the arithmetic of one op.
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
        // A node with several users is computed once.
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
    /// The guards of loads, kept values and choices, in order, with repeats.
    pub fn guards(&self) -> impl Iterator<Item = &Guard> {
        self.nodes.iter().flat_map(|node| match node {
            Node::Load { guards, .. }
            | Node::Resident { guards, .. }
            | Node::Select { guards, .. } => &guards[..],
            _ => &[],
        })
    }
    /// The window at points where some guards are known to hold or to fail. Known guards are removed, and so are sides
    /// that are never chosen. A window whose indices are elements of its nodes stays unchanged.
    pub fn where_known(&self, known: impl Fn(&Guard) -> Option<bool>) -> Window {
        let mut forms = self.nodes.iter().flat_map(Node::forms);
        if forms.any(|form| form.elements().next().is_some()) {
            return self.clone();
        }
        let open = |guards: &[Guard]| -> Vec<Guard> {
            let open = guards.iter().filter(|g| known(g) != Some(true));
            open.cloned().collect()
        };
        // The node that replaces each node: itself, or the side that is certainly chosen.
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
    /// True if the window is one load without guards.
    pub fn is_plain(&self) -> bool {
        matches!(&self.nodes[..], [Node::Load { guards, .. }] if guards.is_empty())
    }
    /// True if the window reads memory of another shape with no axis in common.
    pub fn is_numbered(&self) -> bool {
        let numbered = |node: &Node| matches!(node, Node::Numbered { .. });
        self.nodes.iter().any(numbered)
    }
    /// The axes along which the window reads consecutive elements of memory where along `lanes` it reads elements
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
    /// True if one loop may iterate the neighbouring axes `outer` and `inner`, of length `length`: no index
    /// distinguishes them. `kept` says where kept values are.
    pub fn joins(&self, outer: AxisId, inner: AxisId, length: &ExtentExpr, kept: Kept) -> bool {
        let as_one = |form: &Form| {
            let ahead = form.along(inner).and_then(|step| step.mul(length));
            ahead.is_some() && ahead == form.along(outer)
        };
        self.nodes.iter().all(|node| match node {
            Node::Numbered { .. } => false,
            Node::Resident { at, guards, .. } => {
                let here = |(axis, _): &&(AxisId, Form)| ![outer, inner].contains(axis);
                let others = at.iter().filter(here);
                let as_one = others.clone().all(|(_, form)| as_one(form))
                    && guards.iter().all(|guard| as_one(&guard.at));
                // In fast memory, a value with its own index along one of the axes needs that axis.
                let own = at.len() - others.count();
                as_one
                    && (own == 0
                        || own == 2 && kept == Kept::InMemory && is_one_index(at, outer, inner))
            }
            _ => node.forms().all(as_one),
        })
    }
    /// The axes of which its computed indices are made, without the axes of values read at the current point.
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

/// True if the indices `at` along two neighbouring axes of a value are one index along both: each follows its own axis,
/// and both go in steps of one length.
fn is_one_index(at: &[(AxisId, Form)], outer: AxisId, inner: AxisId) -> bool {
    let along = |axis: AxisId, other: AxisId| {
        let form = at
            .iter()
            .find(|(own, _)| *own == axis)
            .map(|(_, form)| form);
        let alone = form.filter(|f| !f.varies(other) && f.elements().next().is_none());
        alone.and_then(|form| form.along(axis))
    };
    let step = along(outer, inner);
    step.is_some() && step == along(inner, outer)
}

/// The place of the values that a window reads at another index than the current point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kept {
    /// In fast memory: the same loop nest computes them.
    InTile,
    /// In memory: an earlier loop nest computed them.
    InMemory,
}

/// The nodes that the last node needs, itself included.
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
