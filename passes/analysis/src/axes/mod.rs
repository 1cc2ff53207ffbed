//! Axis analysis: classes of tensor dimensions that share one loop.
//!
//! Inside a set of ops every dimension of every tensor is an ordered list of *axes*. Elementwise ops, casts and
//! permutes keep axes. `broadcast` introduces axes, a reduction ends axes, a scan iterates one in order, and a reshape
//! splits axes into factors: after `reshape x : [24] -> [6, 4]` the one dimension of `x` is the list `[a6, a4]`. Two
//! factorings of one dimension meet in their common refinement: `[6, 4]` and `[3, 8]` of 24 become `[3, 2, 4]`. Without
//! a common refinement (`[6, 4]` and `[4, 6]`) the set has no single iteration space, and the analysis reports both
//! factorings. A single reshape then has the iteration space of its result. Extents are polynomials, so `[B*S]` splits
//! into `[B]` and `[S]`. A dimension of extent 1 is the empty list of axes. Slice, flip, pad, cat and gathers introduce
//! an axis for each dimension along which an index moves, and compute the elements that they read at that index
//! (`window/`). A permutation of an argument that meets that argument does the same. A value read only by such windows
//! brings no axes of its own. An axis of the iteration space is split, or joined with another, where a window needs it.
//! A dimension's position in memory is its type's layout.
//!
//! ```text
//! %s = fusion.sum %x dims [1]                 // %x: [0, 1]   %s: [0]      %s reduces [1]
//! %b = fusion.broadcast %s dims [0] ...       // %b: [0, b2]
//! %y = fusion.div %x, %b                      // 2 and 1 are one axis: %b: [0, b1]   %y: [0, 1]
//! ```
//!
//! Reading order: `refusal.rs` (errors), `union.rs` (classes of axes and their factors, with undo), `rules.rs` (the
//! relations between axes that each op implies), this file (the frozen result), `islands.rs` (parts that share no
//! computed value), `groups.rs` (groups that merge), `render.rs` (as text).
//!
//! Guarantees: the result depends on the ops and their order alone; cost is near linear in the number of ops; nothing
//! recurses. Never looks at an op's name: only at its indexing maps.

mod groups;
mod islands;
mod refusal;
mod render;
mod rules;
#[cfg(test)]
mod tests;
mod twins;
mod union;
pub mod window;

use fuser_ir::def::OpClass;
use fuser_ir::layout::Order;
use fuser_ir::maps::IteratorKind;
use fuser_ir::types::ExtentExpr;
use fuser_ir::{Ir, Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

pub use groups::{AxisGroups, Common, Open};
pub use refusal::AxisRefusal;
pub use render::{expr_text, value_text};
pub use union::{AxisUnion, Mark};

use union::Node;
pub use window::{Kept, Window, WindowRefusal};

fuser_ir::entities! {
    /// An axis of an iteration space: a class of dimensions, or of factors of dimensions, that one loop iterates.
    AxisId,
}

/// A short list of axes.
pub type AxisList = SmallVec<[AxisId; 2]>;

/// One dimension of a value: the product of its axes, outermost first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DimAxes {
    /// The axes; empty for a dimension of extent 1.
    pub axes: SmallVec<[AxisId; 1]>,
    /// True if the dimension is stored once (`b` in the type).
    pub broadcast: bool,
}

/// An axis of a stored value and the distance, in elements, between neighbours along it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredAxis {
    /// The axis.
    pub axis: AxisId,
    /// Elements from one index to the next; `None` where an extent further in is `?`.
    pub stride: Option<ExtentExpr>,
}

/// The axes of a set of ops.
#[derive(Clone, Debug, Default)]
pub struct Axes {
    extents: Vec<Option<ExtentExpr>>,
    walked: Vec<bool>,
    order: Vec<Value>,
    values: FxHashMap<Value, Vec<DimAxes>>,
    /// Orders of dimensions in memory, outermost first, where types state one.
    layouts: FxHashMap<Value, Order>,
    reduced: FxHashMap<Op, AxisList>,
    scanned: FxHashMap<Op, AxisId>,
    windows: FxHashMap<Op, Window>,
    unwalked: FxHashSet<Value>,
}

/// The ops that are duplicated around a kernel not yet outlined. The IR does not show these copies: ops of the kernel,
/// or users of the kernel, are copied into other kernels.
#[derive(Clone, Debug, Default)]
pub struct Copies {
    /// Values that the kernel does not write although an op outside reads them: each such op has its own copy, or is in
    /// a kernel that has one.
    pub hidden: FxHashSet<Value>,
    /// Values that the kernel writes although only ops inside read them: a copy of such an op is in another kernel.
    pub shown: FxHashSet<Value>,
}

/// Values that only windows of `ops` read, directly or through ops computed for them: no point of the iteration space
/// has them.
pub fn unwalked(ir: &Ir, ops: &[Op], copies: &Copies) -> FxHashSet<Value> {
    unwalked_by(ir, ops, copies, |op| window::is_window(ir, op))
}

/// Like [`unwalked`], for the window ops that `is_window` selects.
fn unwalked_by(
    ir: &Ir,
    ops: &[Op],
    copies: &Copies,
    is_window: impl Fn(Op) -> bool,
) -> FxHashSet<Value> {
    let mut found = FxHashSet::default();
    if !ops.iter().any(|&op| is_window(op)) {
        return found;
    }
    let inside: FxHashSet<Op> = ops.iter().copied().collect();
    for &op in ops.iter().rev().filter(|&&op| window::is_link(ir, op)) {
        let passed = |user: Op| ir.results(user).iter().all(|v| found.contains(v));
        let through = |user: Op| is_window(user) || (window::is_link(ir, user) && passed(user));
        // A scalar is computed where it is needed.
        let single = |v: Value| {
            let tensor = ir.value_kind(v).as_tensor();
            tensor.is_none_or(|t| t.dims.is_empty())
        };
        let read = |&v: &Value| {
            let users = || ir.users(v).filter(|user| inside.contains(user));
            !single(v)
                && !copies.leaves(ir, op, v, &inside)
                && users().next().is_some()
                && users().all(through)
        };
        if ir.results(op).iter().all(read) {
            found.extend(ir.results(op).iter().copied());
        }
    }
    found
}

/// Reads at indices other than the current point of the iteration space, in a set of ops.
struct Reads {
    /// The ops whose elements are read through windows.
    windows: Vec<Op>,
    /// All ops of the set; empty if there are no windows.
    inside: FxHashSet<Op>,
    /// Values that only windows read.
    unwalked: FxHashSet<Value>,
}

/// The most rounds of splitting or joining axes for the windows of one set of ops.
const MAX_ROUNDS: usize = 24;

/// The most ops for which an operand is tentatively read through a window alone.
const MAX_APART: usize = 4;

/// True if `op` only permutes the axes of an argument, which lies in memory for every choice of kernel boundaries.
pub fn is_permute(ir: &Ir, op: Op) -> bool {
    let given = |op: &Op| ir.operands(*op).all(|v| ir.def_op(v).is_none());
    let places = ir
        .def(op)
        .filter(|d| d.class == OpClass::Shape && !d.shifts());
    let places = places.filter(|_| given(&op));
    let places = places.and_then(|_| ir.maps(op)?.operand_axes(0));
    let moved = |places: &SmallVec<[Option<usize>; 4]>| {
        let known = places.iter().all(Option::is_some);
        known && !places.iter().flatten().is_sorted()
    };
    places.as_ref().is_some_and(moved)
}

/// True if `op` reads an operand at indices that are data.
fn gathers(ir: &Ir, op: Op) -> bool {
    let maps = ir.maps(op).filter(|_| window::is_window(ir, op));
    maps.is_some_and(|maps| !maps.index_operands().is_empty())
}

impl Axes {
    /// Analyses `ops`, given in program order.
    pub fn build(ir: &Ir, ops: &[Op]) -> Result<Self, AxisRefusal> {
        Self::build_with(ir, ops, &Copies::default())
    }

    /// Analyses `ops`, given in program order, where `copies` are duplicated.
    pub fn build_with(ir: &Ir, ops: &[Op], copies: &Copies) -> Result<Self, AxisRefusal> {
        let refusal = match Self::build_apart(ir, ops, copies, None) {
            Err(refusal @ AxisRefusal::SelfMapped { .. }) => refusal,
            built => return built,
        };
        // An argument that meets its own transpose, or is its own index, is read through a window.
        let ops_apart = ops.iter().copied();
        let mut built = ops_apart
            .filter(|&op| is_permute(ir, op) || gathers(ir, op))
            .take(MAX_APART)
            .map(|op| Self::build_apart(ir, ops, copies, Some(op)));
        built.find_map(Result::ok).ok_or(refusal)
    }

    /// Like [`Self::build_with`], but the operand of permutation `apart`, or the indexed operand of gather `apart`,
    /// shares no axis with the result.
    fn build_apart(
        ir: &Ir,
        ops: &[Op],
        copies: &Copies,
        apart: Option<Op>,
    ) -> Result<Self, AxisRefusal> {
        let mut union = AxisUnion::default();
        let is_window = |op: Op| apart == Some(op) || window::is_window(ir, op);
        let unwalked = unwalked_by(ir, ops, copies, is_window);
        union.set_unwalked(unwalked.clone());
        union.set_apart(apart);
        for &op in ops {
            match union.add(ir, op) {
                Err(AxisRefusal::IncompatibleFactoring { .. }) if ops.len() == 1 => {
                    return Self::reshaped(ir, op);
                }
                added => added?,
            }
        }
        let is_read = |op: Op| ir.results(op).iter().all(|v| unwalked.contains(v));
        let windows = ops.iter().copied();
        let windows: Vec<Op> = windows
            .filter(|&op| is_window(op) && !is_read(op))
            .collect();
        let inside = match windows.is_empty() {
            true => FxHashSet::default(),
            false => ops.iter().copied().collect(),
        };
        let reads = Reads {
            windows,
            inside,
            unwalked,
        };
        let mark = union.mark();
        let twins = twins::unify(ir, ops, &mut union);
        let mut settled = Self::settled(ir, &mut union, &reads);
        if twins && settled.is_err() {
            union.rollback(mark);
            settled = Self::settled(ir, &mut union, &reads);
        }
        let (axes, leaves) = settled?;
        if !axes.join_islands(ir, ops, &mut union, &leaves) {
            return Ok(axes);
        }
        let joined = Self::settled(ir, &mut union, &reads);
        Ok(joined.map_or(axes, |(joined, _)| joined))
    }

    /// The axes after all windows are resolved, split and joined as the windows need, and the node of each axis.
    fn settled(
        ir: &Ir,
        union: &mut AxisUnion,
        reads: &Reads,
    ) -> Result<(Self, Vec<Node>), AxisRefusal> {
        let mut unjoined = FxHashSet::default();
        let mut before = union.mark();
        let mut joined: Vec<Value> = Vec::new();
        for _ in 0..MAX_ROUNDS {
            let (mut axes, leaves) = match Self::frozen(union) {
                // Joining would make two axes of a value one, or split a scanned axis: the value is kept in memory
                // instead.
                Err(_) if !joined.is_empty() => {
                    union.rollback(before);
                    unjoined.extend(joined.drain(..));
                    continue;
                }
                frozen => frozen?,
            };
            axes.unwalked.clone_from(&reads.unwalked);
            let needs = axes.resolve_windows(ir, reads, &unjoined)?;
            if needs.is_empty() {
                return Ok((axes, leaves));
            }
            before = union.mark();
            joined.clear();
            for (op, need) in needs {
                match union.settle(op, &need, &leaves) {
                    Ok(value) => joined.extend(value),
                    Err(value) => _ = unjoined.insert(value),
                }
            }
        }
        let op = reads.windows[0];
        Err(AxisRefusal::Window(WindowRefusal::Unknown { op }))
    }

    /// The axes of a reshape alone: its result has its own axes.
    fn reshaped(ir: &Ir, op: Op) -> Result<Self, AxisRefusal> {
        let mut union = AxisUnion::default();
        for &result in ir.results(op) {
            union.tensor(ir, result);
        }
        let mut axes = Self::freeze(&union)?;
        let window = Window::of_reshape(ir, &axes, op).ok_or(AxisRefusal::Unsupported { op })?;
        axes.windows.insert(op, window);
        Ok(axes)
    }

    /// Resolves the windows. Returns the changes of axes that windows need first, each with its window.
    fn resolve_windows(
        &mut self,
        ir: &Ir,
        reads: &Reads,
        unjoined: &FxHashSet<Value>,
    ) -> Result<Vec<(Op, window::Need)>, AxisRefusal> {
        let mut needs: Vec<(Op, window::Need)> = Vec::new();
        for &op in &reads.windows {
            match Window::resolve(ir, self, op, &reads.inside, unjoined) {
                Ok(window) => {
                    self.windows.insert(op, window);
                }
                Err(window::Failure::Refused(refusal)) => return Err(AxisRefusal::Window(refusal)),
                // One split of an axis may serve several windows.
                Err(window::Failure::Needs(need)) => {
                    if !needs.iter().any(|(_, n)| n.is_alike(&need)) {
                        needs.push((op, need));
                    }
                }
            }
        }
        Ok(needs)
    }

    /// The result of an incremental analysis.
    pub fn freeze(union: &AxisUnion) -> Result<Self, AxisRefusal> {
        Ok(Self::frozen(union)?.0)
    }

    /// The frozen axes, with the node of each axis.
    fn frozen(union: &AxisUnion) -> Result<(Self, Vec<Node>), AxisRefusal> {
        let mut axes = Self::default();
        let mut ids = FxHashMap::default();
        for &value in union.values() {
            let dims = union.dims(value).iter();
            let dims: Vec<DimAxes> = dims
                .map(|&(node, broadcast)| DimAxes {
                    axes: axes.number(union, node, &mut ids).collect(),
                    broadcast,
                })
                .collect();
            axes.check_distinct(value, &dims)?;
            if let Some(order) = union.layout(value) {
                axes.layouts.insert(value, order.clone());
            }
            axes.order.push(value);
            axes.values.insert(value, dims);
        }
        for (op, kind, nodes) in union.combined() {
            let list = nodes
                .iter()
                .flat_map(|&n| axes.number(union, n, &mut ids).collect::<AxisList>());
            let list: AxisList = list.collect();
            match (kind, &list[..]) {
                (IteratorKind::Parallel, _) | (IteratorKind::Scan, []) => {}
                (IteratorKind::Reduction, _) => _ = axes.reduced.insert(op, list),
                (IteratorKind::Scan, &[axis]) => _ = axes.scanned.insert(op, axis),
                (IteratorKind::Scan, _) => return Err(AxisRefusal::SplitScan { at: op }),
            }
        }
        axes.mark_walked();
        let mut leaves = vec![0; axes.len()];
        for (node, id) in ids {
            leaves[fuser_ir::entity::Entity::index(id)] = node;
        }
        Ok((axes, leaves))
    }

    fn mark_walked(&mut self) {
        self.walked = vec![false; self.extents.len()];
        let dims = self.values.values().flatten().filter(|d| !d.broadcast);
        let stored = dims.flat_map(|d| &d.axes);
        for &axis in stored.chain(self.reduced.values().flatten()) {
            self.walked[fuser_ir::entity::Entity::index(axis)] = true;
        }
    }

    fn number<'a>(
        &'a mut self,
        union: &'a AxisUnion,
        node: Node,
        ids: &'a mut FxHashMap<Node, AxisId>,
    ) -> impl Iterator<Item = AxisId> + 'a {
        union.leaves(node).into_iter().map(|leaf| {
            *ids.entry(leaf).or_insert_with(|| {
                self.extents.push(union.leaf_extent(leaf).cloned());
                fuser_ir::entity::Entity::from_index(self.extents.len() - 1)
            })
        })
    }

    fn check_distinct(&self, value: Value, dims: &[DimAxes]) -> Result<(), AxisRefusal> {
        let mut seen = AxisList::new();
        for axis in dims.iter().flat_map(|d| d.axes.iter().copied()) {
            if seen.contains(&axis) {
                return Err(AxisRefusal::SelfMapped { value });
            }
            seen.push(axis);
        }
        Ok(())
    }

    /// The window that computes the elements of a slice, pad or cat; `None` for other ops, and for ops that only other
    /// windows read.
    pub fn window(&self, op: Op) -> Option<&Window> {
        self.windows.get(&op)
    }
    /// The elements of `value` that windows among `ops` touch; `None` if the loop nest itself reads `value`. `known`
    /// evaluates expressions whose names are all bound.
    pub fn touched(
        &self,
        ir: &Ir,
        ops: &[Op],
        value: Value,
        known: impl Fn(&ExtentExpr) -> Option<u64>,
    ) -> Option<ExtentExpr> {
        let is_zero = |length: &ExtentExpr| known(length) == Some(0);
        let mut regions = Vec::new();
        for &op in ops {
            if self.reads(ir, op).contains(&value) {
                return None;
            }
            let mut axes = ir.results(op).iter().flat_map(|&v| self.logical(v));
            let empty = axes.any(|axis| self.extent(axis).is_some_and(&is_zero));
            let windows = self.window(op).filter(|_| !empty).into_iter();
            let all = windows.flat_map(|w| w.regions(self, op));
            let some = |r: &window::Region| !r.beside.iter().any(&is_zero);
            regions.extend(all.filter(|r| r.value == value && some(r)));
        }
        let all = window::united(regions).into_iter();
        let mut all = all.map(|region| region.elements(&known));
        all.try_fold(ExtentExpr::constant(0), |sum, n| sum.add(&n?))
    }
    /// The values that `op` needs from the loop nest. For a window: the values read at the current point or kept by the
    /// loop nest; for other ops: the operands; nothing if only windows read the result.
    pub fn reads(&self, ir: &Ir, op: Op) -> SmallVec<[Value; 3]> {
        match self.window(op) {
            Some(window) => window.walked().collect(),
            None if ir.results(op).iter().any(|&v| self.is_unwalked(v)) => SmallVec::new(),
            None => ir.operands(op).collect(),
        }
    }
    /// True if `op` allows one loop over the neighbouring axes `outer` and `inner`: it has no window, or its window
    /// does not distinguish them.
    pub fn window_joins(&self, op: Op, outer: AxisId, inner: AxisId, kept: Kept) -> bool {
        let (Some(window), Some(length)) = (self.window(op), self.extent(inner)) else {
            return self.window(op).is_none();
        };
        window.joins(outer, inner, length, kept)
    }
    /// True if only windows read `value`: no point of the iteration space has it.
    pub fn is_unwalked(&self, value: Value) -> bool {
        self.unwalked.contains(&value)
    }
    /// All axes, in order of first appearance.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = AxisId> + use<> {
        (0..self.extents.len()).map(fuser_ir::entity::Entity::from_index)
    }
    /// The number of axes.
    pub fn len(&self) -> usize {
        self.extents.len()
    }
    /// True if there are no axes: every value is a scalar.
    pub fn is_empty(&self) -> bool {
        self.extents.is_empty()
    }
    /// The length of `axis`; `None` for `?`.
    pub fn extent(&self, axis: AxisId) -> Option<&ExtentExpr> {
        self.extents[fuser_ir::entity::Entity::index(axis)].as_ref()
    }
    /// The tensors that the ops read or make, in order of first appearance.
    pub fn values(&self) -> &[Value] {
        &self.order
    }
    /// The dimensions of `value`; empty for scalars and for values that the ops do not touch.
    pub fn value(&self, value: Value) -> &[DimAxes] {
        self.values.get(&value).map_or(&[], Vec::as_slice)
    }
    /// True if the ops read or make `value` as a tensor.
    pub fn contains(&self, value: Value) -> bool {
        self.values.contains_key(&value)
    }
    /// The axes that `op` reduces, outermost first; none if it is no reduction.
    pub fn reduced(&self, op: Op) -> &[AxisId] {
        self.reduced.get(&op).map_or(&[], |list| list.as_slice())
    }
    /// The axis that `op` scans; `None` if `op` is no scan, or its axis has extent 1.
    pub fn scanned(&self, op: Op) -> Option<AxisId> {
        self.scanned.get(&op).copied()
    }
    /// The axes on which `value` is indexed, broadcast ones included, outermost first.
    pub fn logical(&self, value: Value) -> impl Iterator<Item = AxisId> + '_ {
        let dims = self.value(value).iter();
        dims.flat_map(|d| d.axes.iter().copied())
    }
    /// The axes on which the stored elements of `value` differ, outermost in memory first.
    pub fn stored(&self, value: Value) -> impl Iterator<Item = AxisId> + '_ {
        let dims = self.value(value);
        let order = self.layouts.get(&value);
        let place = move |i: usize| order.map_or(i, |o| o[i]);
        let dims = (0..dims.len()).filter_map(move |i| dims.get(place(i)));
        let dims = dims.filter(|d| !d.broadcast);
        dims.flat_map(|d| d.axes.iter().copied())
    }
    /// True if a loop must iterate `axis`: a value varies along it, or an op reduces it. Axes that only broadcasts have
    /// need no loop.
    pub fn is_walked(&self, axis: AxisId) -> bool {
        self.walked[fuser_ir::entity::Entity::index(axis)]
    }
    /// The stored axes of `value`, outermost first, with their strides in its memory.
    pub fn strides(&self, value: Value) -> Vec<StoredAxis> {
        let mut inner = Some(ExtentExpr::constant(1));
        let axes: AxisList = self.stored(value).collect();
        let mut list: Vec<StoredAxis> = axes
            .into_iter()
            .rev()
            .map(|axis| {
                let stride = inner.clone();
                inner = inner.as_ref().and_then(|i| i.mul(self.extent(axis)?));
                StoredAxis { axis, stride }
            })
            .collect();
        list.reverse();
        list
    }
    /// The stride of `value` along `axis`: 0 if it does not vary along `axis`, `None` if the stride is unknown.
    pub fn stride(&self, value: Value, axis: AxisId) -> Option<ExtentExpr> {
        let strides = self.strides(value);
        match strides.into_iter().find(|s| s.axis == axis) {
            Some(stored) => stored.stride,
            None => Some(ExtentExpr::constant(0)),
        }
    }
}
