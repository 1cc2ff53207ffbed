//! Classes of axes: a union-find with undo, in which each class is an axis or an ordered list of factors.
//!
//! There is no path compression: union by rank keeps chains short, and every change is one entry of a trail. A group of
//! ops can therefore be added on trial and rolled back at the cost of the addition. To unify two nodes of which at
//! least one is a product, the innermost factors are compared, and the longer factor is split by exact polynomial
//! division.
//!
//! A *tracked* union also records which axes occur together in some value. It therefore detects at once that two
//! dimensions of one value become one axis. An axis has few such neighbours, in any number of values. The axes examined
//! are counted.

use std::cell::Cell;
use std::rc::Rc;

use fuser_ir::entity::Entity;
use fuser_ir::layout::{self, Order};
use fuser_ir::maps::IteratorKind;
use fuser_ir::types::{Dim, Extent, ExtentExpr};
use fuser_ir::{Ir, Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::AxisId;
use super::refusal::AxisRefusal;
use super::window::Need;

/// A node of the union-find: an axis, a factor of one, or a dimension.
pub(super) type Node = u32;
/// A dimension of a value: its node, and whether the dimension is stored once.
pub(super) type DimNode = (Node, bool);
type Nodes = SmallVec<[Node; 4]>;

#[derive(Clone, Debug)]
enum State {
    /// An alias of another node.
    Link(Node),
    /// An axis of this length.
    Leaf {
        extent: Option<ExtentExpr>,
        rank: u32,
    },
    /// A product, outermost factor first; the empty product has extent 1.
    Product { factors: Nodes, rank: u32 },
}

#[derive(Clone, Debug)]
enum Change {
    Set(Node, State),
    Dims(Value),
    Value(Value),
    Combined,
    Beside(Node),
}

/// Facts of a tracked union about an axis.
#[derive(Clone, Debug, Default)]
struct Sides {
    /// A value that has the axis.
    owner: Option<Value>,
    /// Axes that occur together with it in some value, each with that value.
    near: Near,
}

type Near = SmallVec<[(Node, Value); 2]>;

/// A point to roll back to.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    nodes: usize,
    trail: usize,
}

/// Axis classes of the ops added so far.
#[derive(Clone, Debug, Default)]
pub struct AxisUnion {
    nodes: Vec<State>,
    dims: FxHashMap<Value, SmallVec<[DimNode; 4]>>,
    /// Layouts that types state: functions of the type, so a rollback keeps them.
    layouts: FxHashMap<Value, Order>,
    order: Vec<Value>,
    /// The values of `order`.
    walked: FxHashSet<Value>,
    /// Values that only windows read: they are computed at no point of the iteration space and bring no axes.
    unwalked: FxHashSet<Value>,
    /// An op with an operand that is read through its window alone: that operand has no axis in common with the result.
    apart: Option<Op>,
    /// The dimensions that ops reduce or scan.
    combined: Vec<(Op, IteratorKind, Nodes)>,
    trail: Vec<Change>,
    /// Aliases of values: each key stands for its value.
    names: Rc<FxHashMap<Value, Value>>,
    /// Facts about each node; `None` if the union is not tracked.
    sides: Option<Vec<Sides>>,
    /// Values that the current op introduced.
    fresh: Vec<Value>,
    /// A value with two dimensions that the current op made one axis.
    clash: Option<Value>,
    /// Work done: nodes followed, neighbours examined and ops added.
    steps: Cell<u64>,
}

impl AxisUnion {
    /// A union that refuses an op by which two dimensions of a value become one axis. Other unions detect this when
    /// they are frozen.
    pub fn tracked() -> Self {
        Self {
            sides: Some(Vec::new()),
            ..Self::default()
        }
    }
    /// Replaces each key of `names` by its value.
    pub fn with_names(mut self, names: Rc<FxHashMap<Value, Value>>) -> Self {
        self.names = names;
        self
    }
    /// The work done so far, including work that was rolled back.
    pub fn steps(&self) -> u64 {
        self.steps.get()
    }

    /// Adds the relations between axes that `op` implies. A refused op leaves the state unchanged.
    pub fn add(&mut self, ir: &Ir, op: Op) -> Result<(), AxisRefusal> {
        let mark = self.mark();
        self.step();
        let mut result = super::rules::apply(self, ir, op);
        let fresh = std::mem::take(&mut self.fresh);
        for value in fresh {
            self.stand_together(value);
        }
        if let Some(value) = self.clash.take() {
            result = result.and(Err(AxisRefusal::SelfMapped { value }));
        }
        if result.is_err() {
            self.rollback(mark);
        }
        result
    }

    /// A mark of the current state for `rollback`.
    pub fn mark(&self) -> Mark {
        Mark {
            nodes: self.nodes.len(),
            trail: self.trail.len(),
        }
    }

    /// Undoes everything since `mark`.
    pub fn rollback(&mut self, mark: Mark) {
        while self.trail.len() > mark.trail {
            match self.trail.pop() {
                Some(Change::Set(node, state)) => self.nodes[node as usize] = state,
                Some(Change::Dims(value)) => {
                    self.dims.remove(&value);
                }
                Some(Change::Value(value)) => {
                    self.walked.remove(&value);
                    self.order.pop();
                }
                Some(Change::Combined) => {
                    self.combined.pop();
                }
                Some(Change::Beside(node)) => {
                    if let Some(sides) = &mut self.sides {
                        sides[node as usize].near.pop();
                    }
                }
                None => return,
            }
        }
        self.nodes.truncate(mark.nodes);
        if let Some(sides) = &mut self.sides {
            sides.truncate(mark.nodes);
        }
    }

    // --- what the frozen result reads --------------------------------------------------------------------------------

    pub(super) fn values(&self) -> &[Value] {
        &self.order
    }
    pub(super) fn dims(&self, value: Value) -> &[DimNode] {
        self.dims.get(&value).map_or(&[], |d| d.as_slice())
    }
    /// The order of the dimensions in memory; `None` if the type states none.
    pub(super) fn layout(&self, value: Value) -> Option<&Order> {
        self.layouts.get(&value)
    }
    pub(super) fn combined(&self) -> impl Iterator<Item = (Op, IteratorKind, &[Node])> {
        let combined = self.combined.iter();
        combined.map(|(op, kind, n)| (*op, *kind, n.as_slice()))
    }
    /// The axes that `node` is the product of, outermost first.
    pub(super) fn leaves(&self, node: Node) -> SmallVec<[Node; 2]> {
        let mut leaves = SmallVec::new();
        let mut stack: Nodes = SmallVec::from_slice(&[node]);
        while let Some(node) = stack.pop() {
            let root = self.find(node);
            match &self.nodes[root as usize] {
                State::Product { factors, .. } => stack.extend(factors.iter().rev().copied()),
                _ => leaves.push(root),
            }
        }
        leaves
    }
    pub(super) fn leaf_extent(&self, node: Node) -> Option<&ExtentExpr> {
        match &self.nodes[self.find(node) as usize] {
            State::Leaf { extent, .. } => extent.as_ref(),
            _ => None,
        }
    }

    // --- what the rules of the ops write -----------------------------------------------------------------------------

    /// Sets the values that later ops make only for windows to read.
    pub(super) fn set_unwalked(&mut self, values: FxHashSet<Value>) {
        self.unwalked = values;
    }
    /// Sets the op with an operand that is read through its window alone.
    pub(super) fn set_apart(&mut self, op: Option<Op>) {
        self.apart = op;
    }
    pub(super) fn is_apart(&self, op: Op) -> bool {
        self.apart == Some(op)
    }
    pub(super) fn is_unwalked(&self, value: Value) -> bool {
        self.unwalked.contains(&value)
    }
    /// The nodes of a tensor's dimensions, made on first sight; `None` for a value that is no tensor. The iteration
    /// space gets its axes.
    pub(super) fn tensor(&mut self, ir: &Ir, value: Value) -> Option<SmallVec<[DimNode; 4]>> {
        let value = self.names.get(&value).copied().unwrap_or(value);
        let dims = self.aside(ir, value)?;
        if !self.is_unwalked(value) && self.walked.insert(value) {
            self.order.push(value);
            self.trail.push(Change::Value(value));
        }
        Some(dims)
    }
    /// Like [`Self::tensor`], for a tensor read through a window: the iteration space gets its axes only if another op
    /// relates them.
    pub(super) fn aside(&mut self, ir: &Ir, value: Value) -> Option<SmallVec<[DimNode; 4]>> {
        let value = self.names.get(&value).copied().unwrap_or(value);
        if let Some(dims) = self.dims.get(&value) {
            return Some(dims.clone());
        }
        let tensor = ir.value_kind(value).as_tensor()?;
        let dims: SmallVec<[DimNode; 4]> = tensor
            .dims
            .iter()
            .map(|&dim| self.dimension(ir, dim))
            .collect();
        if let Some(order) = layout::stated(ir, tensor) {
            self.layouts.insert(value, order);
        }
        if let Some(sides) = &mut self.sides {
            for &(node, _) in &dims {
                sides[node as usize].owner = Some(value);
            }
            self.fresh.push(value);
        }
        self.dims.insert(value, dims.clone());
        self.trail.push(Change::Dims(value));
        Some(dims)
    }
    fn dimension(&mut self, ir: &Ir, dim: Dim) -> DimNode {
        let state = match dim.extent {
            Extent::Static(1) => State::Product {
                factors: Nodes::new(),
                rank: 0,
            },
            known => State::Leaf {
                extent: ir.extent_as_expr(known),
                rank: 0,
            },
        };
        (self.push(state), dim.broadcast)
    }
    /// Records that `op` reduces or scans the given dimensions.
    pub(super) fn combine(&mut self, op: Op, kind: IteratorKind, nodes: Nodes) {
        self.combined.push((op, kind, nodes));
        self.trail.push(Change::Combined);
    }
    /// Unifies two dimensions.
    pub(super) fn unify(&mut self, at: Op, a: Node, b: Node) -> Result<(), AxisRefusal> {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return Ok(());
        }
        match (&self.nodes[a as usize], &self.nodes[b as usize]) {
            (State::Leaf { .. }, State::Leaf { .. }) => self.join_leaves(at, a, b),
            (State::Leaf { .. }, _) if self.same_length(a, b) => self.link_to(a, b),
            (_, State::Leaf { .. }) if self.same_length(b, a) => self.link_to(b, a),
            _ => {
                self.align(at, &[a], &[b])?;
                self.join_products(a, b)
            }
        }
    }
    /// Unifies the dimensions of two values of one type, if both have dimensions here.
    pub(super) fn unify_values(&mut self, at: Op, a: Value, b: Value) -> Result<(), AxisRefusal> {
        let dims = [a, b].map(|v| self.dims.get(&v).cloned().unwrap_or_default());
        let [a, b] = dims.map(|d| d.into_iter().map(|d| d.0));
        a.zip(b).try_for_each(|(a, b)| self.unify(at, a, b))
    }
    /// Aligns two lists of dimensions, outermost first, as one sequence of elements: both become their common
    /// refinement.
    pub(super) fn align(&mut self, at: Op, a: &[Node], b: &[Node]) -> Result<(), AxisRefusal> {
        let refusal = AxisRefusal::IncompatibleFactoring {
            at,
            known: self.factors(a),
            wanted: self.factors(b),
        };
        let mut left: Nodes = a.iter().flat_map(|&n| self.leaves(n)).collect();
        let mut right: Nodes = b.iter().flat_map(|&n| self.leaves(n)).collect();
        loop {
            match (self.pop_leaf(&mut left), self.pop_leaf(&mut right)) {
                (None, None) => return Ok(()),
                (Some(x), Some(y)) if x == y => {}
                (Some(x), Some(y)) => self
                    .match_inner(x, y, &mut left, &mut right)
                    .ok_or_else(|| refusal.clone())?,
                _ => return Err(refusal),
            }
        }
    }

    /// Changes the axes as the window `at` needs; `leaves` has the node of each axis. Returns the value whose dimension
    /// is joined with others, as an error if it cannot be joined.
    pub(super) fn settle(
        &mut self,
        at: Op,
        need: &Need,
        leaves: &[Node],
    ) -> Result<Option<Value>, Value> {
        let node = |axis: &AxisId| leaves[Entity::index(*axis)];
        match need {
            Need::Split { axis, inner } => {
                let (axis, extent) = (self.find(node(axis)), Some(inner.clone()));
                let whole = self.leaf_extent(axis);
                // The axis may have been split for another window already; the next round finds out.
                if let Some(outer) = whole.and_then(|whole| whole.div_exact(inner)) {
                    let inner = self.push(State::Leaf { extent, rank: 0 });
                    self.split(axis, outer, inner);
                }
                Ok(None)
            }
            Need::Join { value, dim, axes } => {
                let mark = self.mark();
                let dims = self.dims(*value).get(*dim).map(|d| d.0);
                let axes: Nodes = axes.iter().map(node).collect();
                let joined = dims.map(|dim| self.align(at, &[dim], &axes));
                if joined.is_none_or(|j| j.is_err()) {
                    self.rollback(mark);
                    return Err(*value);
                }
                Ok(Some(*value))
            }
        }
    }

    // --- inside ------------------------------------------------------------------------------------------------------

    fn match_inner(&mut self, x: Node, y: Node, left: &mut Nodes, right: &mut Nodes) -> Option<()> {
        let ex = self.leaf_extent(x)?.clone();
        let ey = self.leaf_extent(y)?.clone();
        if ex == ey {
            self.link_leaves(x, y);
        } else if let Some(outer) = ey.div_exact(&ex).filter(is_factor) {
            right.push(self.split(y, outer, x));
        } else {
            let outer = ex.div_exact(&ey).filter(is_factor)?;
            left.push(self.split(x, outer, y));
        }
        Some(())
    }
    /// Makes the axis `node` the product of a new axis of length `outer` and of `inner`; returns the new axis.
    fn split(&mut self, node: Node, outer: ExtentExpr, inner: Node) -> Node {
        let extent = Some(outer);
        let outer = self.push(State::Leaf { extent, rank: 0 });
        let factors = Nodes::from_slice(&[outer, inner]);
        let rank = self.rank(node);
        self.meet(node, inner);
        self.inherit(node, outer);
        self.set(node, State::Product { factors, rank });
        if let Some(sides) = &mut self.sides
            && let Some(value) = sides[node as usize].owner
        {
            sides[outer as usize].owner = Some(value);
            self.note(outer, inner, value);
            self.note(inner, outer, value);
        }
        outer
    }
    /// Takes the innermost axis of a list, looking into nodes that became products since they were listed.
    fn pop_leaf(&self, list: &mut Nodes) -> Option<Node> {
        loop {
            let root = self.find(list.pop()?);
            match &self.nodes[root as usize] {
                State::Product { factors, .. } => list.extend(factors.iter().copied()),
                _ => return Some(root),
            }
        }
    }
    fn join_leaves(&mut self, at: Op, a: Node, b: Node) -> Result<(), AxisRefusal> {
        if let (Some(left), Some(right)) = (self.leaf_extent(a), self.leaf_extent(b))
            && left != right
        {
            let (left, right) = (left.clone(), right.clone());
            return Err(AxisRefusal::ExtentMismatch { at, left, right });
        }
        self.link_leaves(a, b);
        Ok(())
    }
    fn link_leaves(&mut self, a: Node, b: Node) {
        let (ra, rb) = (self.rank(a), self.rank(b));
        let (root, other) = if ra >= rb { (a, b) } else { (b, a) };
        let known = self.leaf_extent(root).or(self.leaf_extent(other)).cloned();
        let rank = if ra == rb { ra + 1 } else { ra.max(rb) };
        self.meet(other, root);
        self.set(
            root,
            State::Leaf {
                extent: known,
                rank,
            },
        );
        self.set(other, State::Link(root));
    }
    /// True if the axis `leaf` is known to be as long as the product of all factors of `product`.
    fn same_length(&self, leaf: Node, product: Node) -> bool {
        let mut factors = self.factors(&[product]).into_iter();
        let length = factors.try_fold(ExtentExpr::constant(1), |all, f| all.mul(&f?));
        length.is_some() && length.as_ref() == self.leaf_extent(leaf)
    }
    fn link_to(&mut self, node: Node, root: Node) -> Result<(), AxisRefusal> {
        if self.sides.is_some() && matches!(self.nodes[node as usize], State::Leaf { .. }) {
            for leaf in self.leaves(root) {
                self.meet(node, leaf);
            }
        }
        let rank = self.rank(root).max(self.rank(node) + 1);
        self.set_rank(root, rank);
        self.set(node, State::Link(root));
        Ok(())
    }
    /// After an alignment both nodes are the same sequence of axes; one becomes an alias of the other.
    fn join_products(&mut self, a: Node, b: Node) -> Result<(), AxisRefusal> {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return Ok(());
        }
        match self.rank(a) >= self.rank(b) {
            true => self.link_to(b, a),
            false => self.link_to(a, b),
        }
    }
    fn rank(&self, node: Node) -> u32 {
        match &self.nodes[node as usize] {
            State::Leaf { rank, .. } | State::Product { rank, .. } => *rank,
            State::Link(_) => 0,
        }
    }
    fn set_rank(&mut self, node: Node, new: u32) {
        let mut state = self.nodes[node as usize].clone();
        if let State::Leaf { rank, .. } | State::Product { rank, .. } = &mut state
            && *rank != new
        {
            *rank = new;
            self.set(node, state);
        }
    }
    fn factors(&self, nodes: &[Node]) -> Vec<Option<ExtentExpr>> {
        let leaves = nodes.iter().flat_map(|&n| self.leaves(n));
        leaves.map(|leaf| self.leaf_extent(leaf).cloned()).collect()
    }
    fn find(&self, mut node: Node) -> Node {
        while let State::Link(next) = self.nodes[node as usize] {
            self.step();
            node = next;
        }
        node
    }
    fn step(&self) {
        self.steps.set(self.steps.get() + 1);
    }
    fn push(&mut self, state: State) -> Node {
        if let Some(sides) = &mut self.sides {
            sides.push(Sides::default());
        }
        self.nodes.push(state);
        (self.nodes.len() - 1) as Node
    }
    fn set(&mut self, node: Node, state: State) {
        let old = std::mem::replace(&mut self.nodes[node as usize], state);
        self.trail.push(Change::Set(node, old));
    }
}

// --- which axes stand beside each other ------------------------------------------------------------------------------

impl AxisUnion {
    /// Prepares replacing `node` by `leaf`: no value may have both, and `leaf` inherits all neighbours of `node`.
    fn meet(&mut self, node: Node, leaf: Node) {
        let Some(sides) = &self.sides else { return };
        let (own, other) = (&sides[leaf as usize].near, &sides[node as usize].near);
        let (few, wanted) = match own.len() <= other.len() {
            true => (own, node),
            false => (other, leaf),
        };
        let mut both = few
            .iter()
            .filter(|(n, _)| self.leaves(*n).contains(&wanted));
        if let Some(&(_, value)) = both.next() {
            self.clash.get_or_insert(value);
        }
        self.inherit(node, leaf);
    }
    /// Gives `heir` all neighbours of `node`.
    fn inherit(&mut self, node: Node, heir: Node) {
        let sides = self.sides.as_ref();
        let near: Near = sides.map_or_else(Near::new, |s| s[node as usize].near.clone());
        for (other, value) in near {
            for leaf in self.leaves(other) {
                self.note(heir, leaf, value);
            }
        }
    }
    /// Records once that `value` has `other` beside `node`.
    fn note(&mut self, node: Node, other: Node, value: Value) {
        let Some(sides) = &self.sides else { return };
        let known = |&(near, _): &(Node, Value)| {
            self.step();
            self.find(near) == other
        };
        if node == other || sides[node as usize].near.iter().any(known) {
            return;
        }
        if let Some(sides) = &mut self.sides {
            sides[node as usize].near.push((other, value));
            self.trail.push(Change::Beside(node));
        }
    }
    /// Records the pairs of axes that `value` has.
    fn stand_together(&mut self, value: Value) {
        let leaves = self.dims(value).iter().flat_map(|d| self.leaves(d.0));
        let leaves: Nodes = leaves.collect();
        for (at, &leaf) in leaves.iter().enumerate() {
            for &other in &leaves[..at] {
                self.step();
                if leaf == other {
                    self.clash.get_or_insert(value);
                }
                self.note(leaf, other, value);
                self.note(other, leaf, value);
            }
        }
    }
}

/// True if a quotient may be an axis: 0 would let a node contain itself, 1 is no axis, and a negative quotient is no
/// length.
pub(super) fn is_factor(quotient: &ExtentExpr) -> bool {
    quotient.as_constant().is_none_or(|c| c > 1)
}
