//! A group of ops as a dense graph: operands are indices, iteration spaces bit sets, and sizes numbers.

use fuser_dialects::fusion::lambda;
use fuser_ir::def::{Computes, OpClass, Placement};
use fuser_ir::entity::Entity;
use fuser_ir::types::ExtentExpr;
use fuser_ir::{DType, Ir, Op, Traits, Value};
use fuser_target::Target;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::plan::{Limits, Model};
use super::refusal::Refusal;
use super::sizes::Bindings;
use crate::axes::window::{self, Kept, Region, united};
use crate::axes::{Axes, AxisId, Copies, is_permute};

/// A set of axes.
pub(super) type Mask = u128;
/// The most axes that a [`Mask`] holds.
pub(super) const MAX_AXES: usize = Mask::BITS as usize;

/// The origin of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Source {
    /// Outside the group: an input, by index.
    Input(u32),
    /// An op of the group, by index.
    Node(u32),
}

impl Source {
    /// The index of the input; `None` for an op.
    pub fn input(&self) -> Option<usize> {
        match *self {
            Source::Input(input) => Some(input as usize),
            Source::Node(_) => None,
        }
    }
    /// The index of the op in the group; `None` for an input.
    pub fn node(&self) -> Option<u32> {
        match *self {
            Source::Input(_) => None,
            Source::Node(node) => Some(node),
        }
    }
}

/// An op of the group.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub op: Op,
    pub sources: SmallVec<[Source; 3]>,
    /// Axes iterated to compute the op: axes of its stored results, and axes that it reduces.
    pub space: Mask,
    /// Axes along which its stored results vary.
    pub stored: Mask,
    /// Its results in memory.
    pub results: SmallVec<[Stored; 1]>,
    /// Axes that it reduces; 0 if it is no reduction.
    pub reduced: Mask,
    /// The axis that it scans in order; 0 if it is no scan.
    pub scanned: Mask,
    /// True if it takes the elements along the scanned axis one by one: a scan with a lambda.
    pub one_by_one: bool,
    /// Bytes of all its results.
    pub bytes: u64,
    /// Bytes of one stored element of all its results.
    pub element: u64,
    /// Bytes of the results that are used outside.
    pub output_bytes: u64,
    /// True if an op outside uses a result.
    pub is_output: bool,
    /// Axes of its results, stored or not, outermost first.
    pub logical: SmallVec<[usize; 4]>,
    pub class: OpClass,
    /// Bytes of one element of all its results while they accumulate.
    pub accumulating: u64,
    /// Bytes of one element of all its results that a scan on a CPU carries.
    pub carrying: u64,
    /// The type in which its first result accumulates.
    pub accumulator: Option<DType>,
    /// Bytes of the widest type of its results.
    pub lane: u64,
    /// Bytes of the widest type in which its results are computed.
    pub computes: u64,
    /// Arithmetic per element of its iteration space.
    pub flops: u64,
    /// The repeated part of `flops`: ops that windows compute at several indices, without the first time.
    pub again: u64,
    /// Axes that it distinguishes from others: axes whose indices it counts, or all axes if it reads memory of other
    /// axes.
    pub apart: Mask,
    /// Pairs of neighbouring axes that the indices of a slice, flip, pad or cat distinguish.
    pub splits: Vec<Split>,
    /// True if it is a boundary on a value of the same type that has no other user. A boundary on a reduction is an
    /// alias of that reduction, and no loop nest of its own writes it.
    pub renames: bool,
    /// True if it is a slice, pad or cat that reads contiguous elements along its last axis.
    pub contiguous: bool,
    /// True if it is a slice, pad or cat that is one load.
    pub plain: bool,
    /// True if it is a permutation that reads through a window. One kernel has few of these.
    pub permutes: bool,
    /// Pairs of axes of a slice, pad or cat: along the first axis it reads with a stride, and memory is contiguous
    /// along the second.
    pub crossed: Vec<(usize, usize)>,
    /// For a slice, pad or cat: the regions of inputs that it reads through its window. Empty for an op computed only
    /// for windows: such an op is part of the window, has no iteration space, and is never materialized.
    pub touches: Option<Vec<Region>>,
    /// Ops whose results a slice, pad or cat reads at another index than the current point, each with the axes on which
    /// the index differs.
    pub elsewhere: Vec<(u32, Mask)>,
}

/// A pair of neighbouring axes that the indices of a window distinguish.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split {
    pub axes: (usize, usize),
    /// True if they do so even where the values that the window reads elsewhere are in memory.
    pub in_memory: bool,
}

/// The memory of a result.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    /// The axes along which it varies, outermost first.
    pub order: SmallVec<[usize; 4]>,
    pub bytes: u64,
    /// Bytes of one stored element.
    pub element: u64,
    /// True if ops of the group read it.
    pub inside: bool,
    /// True if an op outside uses it.
    pub is_output: bool,
}

impl Node {
    /// Bytes of one stored element of the results that ops of the group read.
    pub fn inside(&self) -> u64 {
        let read = self.results.iter().filter(|r| r.inside);
        read.map(|r| r.element).sum()
    }
    /// Axes along which its first result varies, outermost first.
    pub fn order(&self) -> &[usize] {
        self.results.first().map_or(&[], |first| &first.order)
    }
    /// True if it is computed only for windows, and never at the current point.
    pub fn is_unwalked(&self) -> bool {
        self.touches.is_some() && self.element == 0 && self.space == 0
    }
}

/// A value defined outside the group.
#[derive(Clone, Debug)]
pub(super) struct Input {
    pub value: Value,
    pub bytes: u64,
    pub element: u64,
    pub stored: Mask,
    pub order: SmallVec<[usize; 4]>,
    /// Its axes, stored or not, outermost first.
    pub logical: SmallVec<[usize; 4]>,
    /// Bytes of its element type.
    pub lane: u64,
    /// Bytes of the type in which ops compute with it; 0 for a scalar.
    pub computes: u64,
}

/// The group as a graph.
#[derive(Clone, Debug, Default)]
pub(super) struct Body {
    pub nodes: Vec<Node>,
    pub inputs: Vec<Input>,
    pub outputs: Vec<Value>,
    /// Length of each axis.
    pub extents: Vec<u64>,
    /// Axes that may be empty: axes whose extent is not a constant above 0.
    pub may_be_empty: Mask,
    /// Axes whose extent is not constant.
    pub named: Mask,
    /// The first axis of equal extent, of each axis.
    pub alike: Vec<usize>,
    /// The axes of `named` that are never longer than `extents` says.
    pub longest: Mask,
    /// True if roots whose windows compute what they read share no loop nest.
    pub windows_apart: bool,
    /// The lengths of named extents, if windows touch parts of inputs.
    bindings: Option<Bindings>,
}

impl Body {
    /// Builds the graph of `ops`, given in program order.
    pub fn build(
        ir: &Ir,
        ops: &[Op],
        axes: &Axes,
        bindings: &Bindings,
        limits: &Limits,
        copies: &Copies,
    ) -> Result<Self, Refusal> {
        check_limits(ops.len(), axes.len(), limits)?;
        let constant = |a: AxisId| axes.extent(a).and_then(ExtentExpr::as_constant);
        let all =
            |wanted: fn(Option<i64>) -> bool| mask(axes.ids().filter(|&a| wanted(constant(a))));
        let may_be_empty = all(|length| length.is_none_or(|n| n < 1));
        let named = all(|length| length.is_none());
        let most = |&a: &AxisId| axes.extent(a).and_then(|e| bindings.most(e)).is_some();
        let longest = mask(axes.ids().filter(most)) & named;
        let first = |a| axes.ids().position(|b| axes.extent(a) == axes.extent(b));
        let alike = axes.ids().map(|a| first(a).unwrap_or_default());
        let extents = axes.ids().map(|a| axes.extent(a));
        let extents = extents.map(|e| e.map_or(bindings.nominal, |e| bindings.eval(e)));
        let mut body = Self {
            extents: extents.collect(),
            alike: alike.collect(),
            may_be_empty,
            named,
            longest,
            ..Self::default()
        };
        let (inputs, outputs) = boundary_with(ir, ops, copies);
        body.inputs = inputs
            .iter()
            .map(|&value| Input {
                value,
                bytes: bindings.bytes(ir, value),
                element: element_bytes(ir, value),
                stored: mask(axes.stored(value)),
                order: order(axes, value),
                logical: logical(axes, value).collect(),
                lane: lane(ir, value),
                computes: computing(ir, value),
            })
            .collect();
        body.outputs = outputs;
        body.add_nodes(ir, ops, axes, bindings)?;
        Ok(body)
    }

    fn add_nodes(
        &mut self,
        ir: &Ir,
        ops: &[Op],
        axes: &Axes,
        bindings: &Bindings,
    ) -> Result<(), Refusal> {
        let inputs = self.inputs.iter().zip(0u32..);
        let mut sources: FxHashMap<Value, Source> =
            inputs.map(|(i, n)| (i.value, Source::Input(n))).collect();
        let outputs: FxHashSet<Value> = self.outputs.iter().copied().collect();
        let sum_bytes = |values: &mut dyn Iterator<Item = Value>| {
            let bytes = values.map(|v| bindings.bytes(ir, v));
            bytes.fold(0, u64::saturating_add)
        };
        // Ops recomputed inside windows are nodes of their own, apart from the nodes of the loop nest.
        let windows = ops.iter().filter_map(|&op| axes.window(op));
        let through: FxHashSet<Op> = windows.flat_map(|w| w.through.iter().copied()).collect();
        let mut beside: FxHashMap<Value, Source> = FxHashMap::default();
        if ops.iter().any(|&op| axes.window(op).is_some()) {
            self.bindings = Some(bindings.clone());
        }
        let mut computed: FxHashSet<Op> = FxHashSet::default();
        let read: FxHashSet<Value> = ops.iter().flat_map(|&op| ir.operands(op)).collect();
        let as_stored = |&result: &Value| Stored {
            order: order(axes, result),
            bytes: bindings.bytes(ir, result),
            element: element_bytes(ir, result),
            inside: read.contains(&result),
            is_output: outputs.contains(&result),
        };
        for &op in ops {
            let results = ir.results(op);
            let stored = results.iter().fold(0, |m, &r| m | mask(axes.stored(r)));
            let unwalked = results.iter().any(|&r| axes.is_unwalked(r));
            let reduced = mask(axes.reduced(op).iter().copied());
            let window = axes.window(op);
            let operands: SmallVec<[Value; 3]> = ir.operands(op).collect();
            let own = |v: &Value| sources.get(v).copied();
            let from = |v: &Value| beside.get(v).or(sources.get(v)).copied();
            let around: SmallVec<[Source; 3]> = operands.iter().filter_map(from).collect();
            let def = ir.def(op);
            if unwalked || through.contains(&op) {
                let node = Node {
                    op,
                    sources: around.clone(),
                    space: 0,
                    stored: 0,
                    results: SmallVec::new(),
                    reduced: 0,
                    scanned: 0,
                    one_by_one: false,
                    bytes: 0,
                    element: 0,
                    accumulating: 0,
                    carrying: 0,
                    accumulator: None,
                    lane: 0,
                    computes: computes(ir, results),
                    apart: apart(ir, axes, op),
                    splits: Vec::new(),
                    output_bytes: 0,
                    is_output: false,
                    logical: SmallVec::new(),
                    class: def.map_or(OpClass::Structure, |d| d.class),
                    flops: 0,
                    again: 0,
                    renames: false,
                    contiguous: false,
                    plain: false,
                    permutes: false,
                    crossed: Vec::new(),
                    touches: Some(Vec::new()),
                    elsewhere: Vec::new(),
                };
                check_placement(ir, op, &node)?;
                let source = Source::Node(self.nodes.len() as u32);
                beside.extend(results.iter().map(|&r| (r, source)));
                self.nodes.push(node);
            }
            if unwalked {
                continue;
            }
            computed.insert(op);
            let elsewhere = elsewhere(window, &sources);
            let own_sources: SmallVec<[Source; 3]> = match window {
                Some(window) => {
                    let around = around.into_iter();
                    let kept = elsewhere.iter().map(|&(node, _)| Source::Node(node));
                    around
                        .chain(window.here().filter_map(|v| own(&v)))
                        .chain(kept)
                        .collect()
                }
                None => operands.iter().filter_map(own).collect(),
            };
            let node = Node {
                op,
                sources: own_sources,
                space: stored | reduced,
                stored,
                results: results.iter().map(as_stored).collect(),
                reduced,
                scanned: mask(axes.scanned(op).into_iter()),
                one_by_one: lambda::has_lambda(ir, op),
                bytes: sum_bytes(&mut results.iter().copied()),
                output_bytes: sum_bytes(
                    &mut results.iter().copied().filter(|r| outputs.contains(r)),
                ),
                element: results.iter().map(|&r| element_bytes(ir, r)).sum(),
                accumulating: results.iter().map(|&r| accumulating_bytes(ir, op, r)).sum(),
                carrying: results.iter().map(|&r| carrying_bytes(ir, op, r)).sum(),
                accumulator: results.first().and_then(|&r| accumulator(ir, op, r)),
                lane: results.iter().map(|&r| lane(ir, r)).max().unwrap_or(0),
                computes: computes(ir, results),
                apart: apart(ir, axes, op),
                splits: splits(axes, op, results),
                is_output: results.iter().any(|r| outputs.contains(r)),
                logical: results.iter().flat_map(|&r| logical(axes, r)).collect(),
                class: def.map_or(OpClass::Structure, |d| d.class),
                flops: flops(ir, axes, op),
                again: window.map_or(0, |window| again(ir, window, &mut computed)),
                renames: renames(ir, op),
                contiguous: window.is_some_and(|w| {
                    let last = results.first().and_then(|&r| axes.stored(r).last());
                    last.is_some_and(|axis| w.is_contiguous(axes, axis))
                }),
                plain: window.is_some_and(|w| w.is_plain()),
                permutes: window.is_some() && is_permute(ir, op),
                crossed: window.map_or_else(Vec::new, |w| crossed(axes, w, results)),
                touches: touches(op, axes, &sources),
                elsewhere,
            };
            check_placement(ir, op, &node)?;
            let source = Source::Node(self.nodes.len() as u32);
            sources.extend(results.iter().map(|&r| (r, source)));
            self.nodes.push(node);
        }
        self.check_boundaries(ir)
    }

    /// No op inside may use a value that must be in memory: a barrier's result, or a result that its op table places in
    /// memory.
    fn check_boundaries(&self, ir: &Ir) -> Result<(), Refusal> {
        for node in &self.nodes {
            for source in &node.sources {
                let Source::Node(producer) = *source else {
                    continue;
                };
                let op = self.nodes[producer as usize].op;
                let value = ir.results(op).first().copied();
                if let Some(value) = value.filter(|_| ir.has(op, Traits::BARRIER)) {
                    return Err(Refusal::Barrier { value });
                }
                let results = ir.def(op).map_or(&[][..], |d| d.results);
                let in_memory = results.iter().any(|r| r.placement == Placement::Memory);
                if let Some(value) = value.filter(|_| in_memory) {
                    return Err(Refusal::MustBeInMemory { value, op });
                }
            }
        }
        Ok(())
    }

    /// The number of elements of an iteration space.
    pub fn elements(&self, space: Mask) -> u64 {
        bits(space).fold(1u64, |n, axis| n.saturating_mul(self.extents[axis]))
    }
    /// True for a window that computes what it reads.
    pub fn computes_in_window(&self, index: u32) -> bool {
        let node = &self.nodes[index as usize];
        let mut sources = node.sources.iter().filter_map(Source::node);
        node.touches.is_some() && sources.any(|p| self.nodes[p as usize].is_unwalked())
    }
    /// The bytes of `input` that loads of these regions touch; each byte counts once.
    pub fn touched(&self, mut regions: Vec<Region>, input: &Input) -> u64 {
        let Some(bindings) = &self.bindings else {
            return 0;
        };
        let known = |length: &ExtentExpr| Some(bindings.eval(length));
        regions.retain(|r| r.beside.iter().all(|length| known(length) > Some(0)));
        let elements = united(regions).into_iter();
        let elements = elements.map(|r| r.elements(known).and_then(|n| known(&n)));
        let elements = elements.map(|n| n.unwrap_or(u64::MAX));
        let elements = elements.fold(0, u64::saturating_add);
        elements.saturating_mul(input.element)
    }
    /// Arithmetic of one execution of a node.
    pub fn flops(&self, node: &Node) -> u64 {
        node.flops.saturating_mul(self.elements(node.space))
    }
    /// The repeated part of that arithmetic.
    pub fn again(&self, node: &Node) -> u64 {
        node.again.saturating_mul(self.elements(node.space))
    }
    /// The lengths of the axes in a set.
    pub fn lengths(&self, space: Mask) -> Vec<u64> {
        bits(space).map(|axis| self.extents[axis]).collect()
    }
}

/// Arithmetic of an element of `window` without the ops that are computed for the first time, which it adds to
/// `computed`.
fn again(ir: &Ir, window: &window::Window, computed: &mut FxHashSet<Op>) -> u64 {
    let own = |op: Op| ir.def(op).map_or(0, |d| u64::from(d.flops));
    let first = window.computed().filter(|&op| computed.insert(op));
    let first = first.map(own).fold(0, u64::saturating_add);
    window.arithmetic(own).saturating_sub(first)
}

/// Arithmetic of an element of `op`, including the ops that its window recomputes.
pub fn flops(ir: &Ir, axes: &Axes, op: Op) -> u64 {
    let own = |op: Op| ir.def(op).map_or(0, |d| u64::from(d.flops));
    let again = axes.window(op).into_iter().flat_map(|w| w.computed());
    again.fold(own(op), |sum, op| sum.saturating_add(own(op)))
}

/// The arithmetic of one walk over `ops`, given in program order: for each op, its [`flops`] per element times the
/// elements of its iteration space. `None` if the ops have no common iteration space.
pub fn operations(ir: &Ir, ops: &[Op], model: &Model) -> Option<u64> {
    let axes = Axes::build(ir, ops).ok()?;
    let (bindings, limits) = (&model.bindings, &model.limits);
    let body = Body::build(ir, ops, &axes, bindings, limits, &Copies::default()).ok()?;
    let each = body.nodes.iter().map(|node| body.flops(node));
    Some(each.fold(0, u64::saturating_add))
}

/// The values that `ops` read from outside, and the results of `ops` that are used outside, each in order of first
/// appearance.
pub fn boundary(ir: &Ir, ops: &[Op]) -> (Vec<Value>, Vec<Value>) {
    boundary_with(ir, ops, &Copies::default())
}

impl Copies {
    /// True if an op outside the kernel `inside` loads `value`, a result of `op`. The copies decide; for values they do
    /// not mention, the IR does.
    pub fn leaves(&self, ir: &Ir, op: Op, value: Value, inside: &FxHashSet<Op>) -> bool {
        let shown = self.shown.contains(&value);
        shown || (!self.hidden.contains(&value) && leaves(ir, op, value, inside))
    }
}

/// Like [`boundary`], where `copies` are duplicated.
pub(super) fn boundary_with(ir: &Ir, ops: &[Op], copies: &Copies) -> (Vec<Value>, Vec<Value>) {
    let inside: FxHashSet<Op> = ops.iter().copied().collect();
    let mut seen = FxHashSet::default();
    let mut inputs = Vec::new();
    let mut outputs = Vec::new();
    for &op in ops {
        for value in ir.operands(op) {
            let outside = ir.def_op(value).is_none_or(|def| !inside.contains(&def));
            if outside && seen.insert(value) {
                inputs.push(value);
            }
        }
        let leaves = |&&v: &&Value| copies.leaves(ir, op, v, &inside);
        outputs.extend(ir.results(op).iter().filter(leaves));
    }
    (inputs, outputs)
}

/// True if an op outside of `inside` loads `value`, a result of `op`. Each user recomputes a value created from
/// nothing, except a terminator, and a window that cannot recompute it.
fn leaves(ir: &Ir, op: Op, value: Value, inside: &FxHashSet<Op>) -> bool {
    let outside = |user: &Op| !inside.contains(user);
    let mut users = ir.users(value).filter(outside);
    if !made_of_nothing(ir, op) {
        return users.next().is_some();
    }
    // A constant may have a user in each of a hundred layers.
    let link = window::is_link(ir, op);
    users.any(|user| ir.has(user, Traits::TERMINATOR) || !link && window::is_window(ir, user))
}

/// True if `op` creates its value from nothing, from a scalar argument or from a constant, rather than from a value
/// that another op computes.
pub fn made_of_nothing(ir: &Ir, op: Op) -> bool {
    let creates = |op: Op| ir.def(op).is_some_and(|d| d.class == OpClass::Creation);
    let constant = |producer: Op| creates(producer) && ir.operand_count(producer) == 0;
    creates(op) && ir.operands(op).all(|v| ir.def_op(v).is_none_or(constant))
}

fn check_limits(ops: usize, axes: usize, limits: &Limits) -> Result<(), Refusal> {
    if ops > limits.ops {
        let limit = limits.ops;
        return Err(Refusal::TooManyOps { ops, limit });
    }
    if axes > MAX_AXES {
        let limit = MAX_AXES;
        return Err(Refusal::TooManyAxes { axes, limit });
    }
    Ok(())
}

/// Pairs of axes of a window with these results: along the first it reads with a stride, and memory is contiguous along
/// the second.
fn crossed(axes: &Axes, window: &window::Window, results: &[Value]) -> Vec<(usize, usize)> {
    let along = results.iter().flat_map(|&r| axes.stored(r));
    let pairs = along.flat_map(|lanes| {
        let near = window.crossed(lanes).into_iter();
        near.map(move |axis| (lanes.index(), axis.index()))
    });
    pairs.collect()
}

/// True if `op` is a boundary on a value of the same type that has no other user.
fn renames(ir: &Ir, op: Op) -> bool {
    let boundary = ir.has(op, Traits::BARRIER | Traits::PURE) && ir.operand_count(op) == 1;
    boundary && {
        let (value, result) = (ir.operand(op, 0), ir.result(op, 0));
        ir.value_type(value) == ir.value_type(result) && ir.has_one_use(value)
    }
}

/// The regions of the inputs that a slice, pad or cat touches; `None` for an op without a window.
fn touches(op: Op, axes: &Axes, sources: &FxHashMap<Value, Source>) -> Option<Vec<Region>> {
    let mut regions = axes.window(op)?.regions(axes, op);
    regions.retain(|r| matches!(sources.get(&r.value), Some(Source::Input(_))));
    Some(regions)
}

/// The ops of the group whose results a window reads at another index than the current point, each with the axes on
/// which the index differs.
fn elsewhere(
    window: Option<&window::Window>,
    sources: &FxHashMap<Value, Source>,
) -> Vec<(u32, Mask)> {
    let mut list: Vec<(u32, Mask)> = Vec::new();
    for (value, at) in window.into_iter().flat_map(window::Window::elsewhere) {
        let Some(&Source::Node(node)) = sources.get(&value) else {
            continue;
        };
        let along = mask(at.iter().map(|(axis, _)| *axis));
        match list.iter_mut().find(|(known, _)| *known == node) {
            Some((_, all)) => *all |= along,
            None => list.push((node, along)),
        }
    }
    list
}

/// Checks that no operand that must be in memory comes from inside the group.
fn check_placement(ir: &Ir, op: Op, node: &Node) -> Result<(), Refusal> {
    let Some(def) = ir.def(op) else { return Ok(()) };
    if def.operands.iter().all(|o| o.placement == Placement::Any) {
        return Ok(());
    }
    for (index, value) in ir.operands(op).enumerate() {
        let bound = def
            .operand(index)
            .is_some_and(|o| o.placement == Placement::Memory);
        let inside = matches!(node.sources.get(index), Some(Source::Node(_)));
        if bound && inside {
            return Err(Refusal::MustBeInMemory { value, op });
        }
    }
    Ok(())
}

fn logical(axes: &Axes, value: Value) -> impl Iterator<Item = usize> + '_ {
    axes.logical(value).map(AxisId::index)
}

fn order(axes: &Axes, value: Value) -> SmallVec<[usize; 4]> {
    axes.stored(value).map(AxisId::index).collect()
}

/// Bytes of one element of a reduction or scan while it accumulates; a sum or product is wider than its operands.
fn accumulating_bytes(ir: &Ir, op: Op, value: Value) -> u64 {
    accumulator(ir, op, value).map_or(0, DType::bytes)
}

fn carrying_bytes(ir: &Ir, op: Op, value: Value) -> u64 {
    let own = accumulator(ir, op, value);
    own.map_or(0, |own| carried_type(own, ir.computes(op), false).bytes())
}

/// The type in which a scan carries its running result from index to index, if it accumulates in `own`. A CPU adds all
/// elements in sequence, so it carries sums and products of f32 in f64. A GPU's threads add neighbors first.
pub fn carried_type(own: DType, computes: Option<Computes>, gpu: bool) -> DType {
    match (own, computes) {
        (DType::F32, Some(Computes::Add | Computes::Mul)) if !gpu => DType::F64,
        _ => own,
    }
}

/// The type in which a result accumulates; `None` for a result without an element type.
fn accumulator(ir: &Ir, op: Op, value: Value) -> Option<DType> {
    let dtype = ir.value_kind(value).dtype()?;
    Some(match ir.computes(op) {
        Some(Computes::Add | Computes::Mul) => dtype.accumulate(),
        Some(Computes::Last) => dtype,
        _ => dtype.compute(),
    })
}

/// Bytes of the element type of a value, scalar or tensor.
fn lane(ir: &Ir, value: Value) -> u64 {
    ir.value_kind(value).dtype().map_or(0, DType::bytes)
}

/// Bytes of the type in which ops compute with a tensor; 0 for scalars.
fn computing(ir: &Ir, value: Value) -> u64 {
    let tensor = ir.value_kind(value).as_tensor();
    tensor.map_or(0, |t| t.dtype.compute().bytes())
}

/// The most of [`computing`] over `results`.
fn computes(ir: &Ir, results: &[Value]) -> u64 {
    let bytes = results.iter().map(|&r| computing(ir, r));
    bytes.max().unwrap_or(0)
}

/// Lanes of a vector for a type of `bytes` bytes, by default 4.
pub(super) fn lanes(bytes: Option<u64>, target: &Target) -> u64 {
    (target.vector_bytes / bytes.unwrap_or(4).max(1)).clamp(1, 32)
}

/// The axes that `op` distinguishes from others.
fn apart(ir: &Ir, axes: &Axes, op: Op) -> Mask {
    if axes.window(op).is_some_and(window::Window::is_numbered) {
        return Mask::MAX;
    }
    let counts = ir.computes(op) == Some(Computes::Index);
    let results = ir.results(op).iter().filter(|_| counts);
    mask(results.flat_map(|&value| axes.stored(value)))
}

/// Pairs of neighbouring axes of the results of a window that its indices distinguish.
fn splits(axes: &Axes, op: Op, results: &[Value]) -> Vec<Split> {
    let Some(&result) = results.first().filter(|_| axes.window(op).is_some()) else {
        return Vec::new();
    };
    let order: Vec<AxisId> = axes.stored(result).collect();
    let joins = |w: &[AxisId], kept| axes.window_joins(op, w[0], w[1], kept);
    let pairs = order.windows(2).filter(|w| !joins(w, Kept::InTile));
    let splits = pairs.map(|w| Split {
        axes: (w[0].index(), w[1].index()),
        in_memory: !joins(w, Kept::InMemory),
    });
    splits.collect()
}

/// Bytes of one element; 0 for scalars, which are kernel arguments.
fn element_bytes(ir: &Ir, value: Value) -> u64 {
    let tensor = ir.value_kind(value).as_tensor();
    tensor.map_or(0, |t| t.dtype.bytes())
}

/// The set of the given axes. Callers check [`MAX_AXES`] first.
pub(super) fn mask(axes: impl Iterator<Item = AxisId>) -> Mask {
    axes.fold(0, |m, axis| m | (1 << axis.index()))
}

/// The indices of the axes of a set, ascending.
pub(super) fn bits(mut mask: Mask) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let index = (mask != 0).then(|| mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(index)
    })
}
