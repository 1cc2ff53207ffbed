//! Values kept in fast memory from one phase of a step to a later one.
//!
//! A value that a later phase uses is kept or recomputed. It is recomputed from kept values, from inputs (which are
//! read again), and from results of reductions. These results are always kept, and so are values that a later phase
//! reads at another index.
//!
//! ```text
//! x: bf16 -> f: f32 -> e = exp(f - max) -> sum e         wide: e, 4 bytes an element (f takes one operation)
//!                                       -> e / sum       narrow: x, 2 bytes an element, and e is computed twice
//! ```
//!
//! *Wide* keeps all values that take more than a few operations and loads to recompute. *Narrow* keeps the fewest bytes
//! from which the other values follow: a minimum cut between the inputs of the step and the values that later phases
//! need.
//!
//! Decides nothing about axes, sweeps or phases, and does not choose between the two forms: `units.rs` takes the wide
//! form if it fits.

use fuser_ir::def::OpClass;
use fuser_target::Target;
use petgraph::algo::ford_fulkerson;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use rustc_hash::{FxHashMap, FxHashSet};

use super::body::{Body, Mask, Node, Source};
use super::tiles::Tiles;
use super::units::Draft;
use super::{plan, roles};

/// The most operations and loads to recompute a value instead of keeping it.
const CHEAP_FLOPS: u64 = 3;
const CHEAP_LOADS: usize = 2;

/// Capacity of uncuttable edges; no value has as many bytes.
const MOST: u64 = 1 << 56;

/// The shape of memory in a step: the length of each axis, with the first axis of its extent if that is named, and the
/// bytes of an element.
type Shape = (Vec<(u64, Option<usize>)>, u64);

/// The rule that selects the values to keep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// All values that are not cheap.
    Wide,
    /// The fewest bytes.
    Narrow,
}

/// The cost of keeping values: the ops that run again, and the bytes kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Residents {
    /// Ops that a phase recomputes, as phase and op, ascending.
    pub again: Vec<(u32, u32)>,
    /// The most bytes passed from one phase to the next, inputs included.
    pub crossing: u64,
    /// Bytes of kept values and results of reductions; values with disjoint lifetimes share memory.
    pub allocated: u64,
}

impl Residents {
    /// Bytes of fast memory that they take.
    pub fn bytes(&self) -> u64 {
        self.crossing.max(self.allocated)
    }
}

/// A sweep with known phases.
pub(super) struct Step<'a> {
    body: &'a Body,
    draft: &'a Draft,
    tiles: Tiles,
    /// The axes in loop order, outermost first.
    order: Vec<usize>,
    /// The phase of each op.
    phases: FxHashMap<u32, u32>,
    /// The ops whose results are read at another index: they cannot be recomputed there.
    held: FxHashSet<u32>,
    last: u32,
}

impl<'a> Step<'a> {
    pub fn new(body: &'a Body, draft: &'a Draft, tiles: Tiles, target: &Target) -> Self {
        let tiles = tiles.spread(body, draft, target);
        let (mut order, _) = roles::assign(body, draft, target);
        order.sort_by_key(|(axis, _)| tiles.runs_along(*axis));
        let phases = draft.body.iter().copied().zip(draft.phases.iter().copied());
        let nodes = draft.body.iter().map(|&n| &body.nodes[n as usize]);
        Self {
            body,
            draft,
            tiles,
            order: order.into_iter().map(|(axis, _)| axis).collect(),
            phases: phases.collect(),
            held: nodes.flat_map(|n| &n.elsewhere).map(|e| e.0).collect(),
            last: draft.phases.iter().copied().max().unwrap_or(0),
        }
    }
    /// The kept values in this form.
    pub fn residents(&self, form: Form) -> Residents {
        match form {
            Form::Wide => self.with(&|node| !self.is_cheap(node)),
            Form::Narrow => {
                let cut = self.cut();
                self.with(&|node| cut.contains(&node))
            }
        }
    }
    /// A lower bound of the bytes passed between phases, for any choice: a byte for each index of the resident axes.
    pub fn least(&self) -> u64 {
        let later = self.draft.body.iter().filter(|n| self.phases[n] > 0);
        let reads = later.flat_map(|&n| self.reads(n));
        let elements = reads.filter_map(|source| match source {
            Source::Node(p) if self.phases.get(&p) == Some(&0) && !self.is_there(p) => Some(
                self.body
                    .elements(self.body.nodes[p as usize].stored & !self.draft.outer),
            ),
            _ => None,
        });
        elements.max().unwrap_or(0)
    }

    /// Axes of a value that vary within the step.
    fn inner(&self, node: u32) -> Mask {
        self.tiles
            .inner(self.body, self.body.nodes[node as usize].stored)
    }
    fn bytes(&self, source: Source) -> u64 {
        let (element, stored) = match source {
            Source::Input(i) => {
                let input = &self.body.inputs[i as usize];
                (input.element, input.stored)
            }
            Source::Node(n) => {
                let node = &self.body.nodes[n as usize];
                (node.inside(), node.stored)
            }
        };
        element.saturating_mul(self.tiles.elements(self.body, stored))
    }
    /// The sources that an op reads at the current point, or where the step keeps them. Excluded are memory that a
    /// window reads, which is not resident for it, and values recomputed inside the window, which are not stored.
    fn reads(&self, node: u32) -> impl Iterator<Item = Source> + '_ {
        let own = &self.body.nodes[node as usize];
        let in_memory = |p: u32| self.held.contains(&p) && !self.phases.contains_key(&p);
        let stays = move |source: &Source| match *source {
            Source::Input(_) => own.touches.is_none(),
            Source::Node(p) => !self.body.nodes[p as usize].is_unwalked() && !in_memory(p),
        };
        own.sources.iter().copied().filter(stays)
    }
    /// True if the step has the value in any case: a result of a reduction, a value read at another index, a value
    /// computed ahead of the phases that read it, or a value without axes inside the step.
    fn is_there(&self, node: u32) -> bool {
        let reduces = self.body.nodes[node as usize].reduced != 0;
        let ahead = self.draft.ahead.binary_search(&node).is_ok();
        reduces || ahead || self.held.contains(&node) || self.inner(node) == 0
    }
    fn is_shape(&self, node: u32) -> bool {
        let node = &self.body.nodes[node as usize];
        node.class == OpClass::Shape && node.touches.is_none()
    }

    /// True if recomputing the value takes at most `CHEAP_FLOPS` operations and `CHEAP_LOADS` loads. Never true for a
    /// permutation that reads through a window, for a scan, or for a value recomputed from a scan.
    fn is_cheap(&self, node: u32) -> bool {
        if self.body.nodes[node as usize].permutes {
            return false;
        }
        let (mut flops, mut loads) = (0u64, FxHashSet::default());
        let mut stack = vec![Source::Node(node)];
        let mut seen = FxHashSet::default();
        while let Some(source) = stack.pop() {
            let own = match source {
                Source::Node(n) if self.phases.contains_key(&n) => n,
                other => {
                    loads.insert(other);
                    continue;
                }
            };
            if self.is_there(own) || !seen.insert(own) {
                continue;
            }
            let op = &self.body.nodes[own as usize];
            if op.scanned != 0 {
                return false;
            }
            flops = flops.saturating_add(op.flops);
            let touched = op.touches.iter().flatten();
            let index = |value| self.body.inputs.iter().position(|i| i.value == value);
            let touched = touched.filter_map(|r| index(r.value));
            loads.extend(touched.map(|i| Source::Input(i as u32)));
            if flops > CHEAP_FLOPS || loads.len() > CHEAP_LOADS {
                return false;
            }
            stack.extend(self.reads(own));
        }
        loads.len() <= CHEAP_LOADS
    }

    /// The residents if the values for which `keeps` holds are kept.
    fn with(&self, keeps: &dyn Fn(u32) -> bool) -> Residents {
        let mut residents = Residents::default();
        let mut spans: FxHashMap<Source, (u32, u32)> = FxHashMap::default();
        let mut across: FxHashSet<(u32, Source)> = FxHashSet::default();
        let mut kept: FxHashMap<u32, bool> = FxHashMap::default();
        let mut windows: FxHashMap<Source, (u32, u32, u64)> = FxHashMap::default();
        // Each phase is traversed twice: once for its own ops, once for folds over rows in SIMD lanes.
        let walks = (0..=self.last).flat_map(|phase| [(phase, false), (phase, true)]);
        for (phase, folds) in walks {
            let own = self.draft.body.iter().copied();
            let own = own.filter(|n| self.phases[n] == phase);
            let mut stack: Vec<u32> = own.filter(|&n| !folds || self.goes_across(n)).collect();
            let mut seen = FxHashSet::default();
            while let Some(node) = stack.pop() {
                for (source, bytes) in self.looks_through(node).filter(|_| !folds) {
                    let looked = windows.entry(source).or_insert((phase, phase, 0));
                    (looked.1, looked.2) = (phase, looked.2.max(bytes));
                }
                for source in self.reads(node) {
                    let first = match source {
                        Source::Node(p) => self.phases.get(&p).copied(),
                        Source::Input(_) => None,
                    };
                    let made = match (source, first) {
                        (Source::Node(p), Some(first)) if first < phase => Some(p),
                        (Source::Node(p), Some(_)) => {
                            if folds && seen.insert(p) {
                                stack.push(p);
                            }
                            continue;
                        }
                        _ => None,
                    };
                    let mut stays = |p: u32| {
                        let keeps = || !self.is_shape(p) && keeps(p);
                        self.is_there(p) || *kept.entry(p).or_insert_with(keeps)
                    };
                    match made.filter(|&p| !stays(p)) {
                        Some(p) if seen.insert(p) => {
                            if !folds && !self.is_seen_through(p, &mut stays) {
                                residents.again.push((phase, p));
                            }
                            stack.push(p);
                        }
                        Some(_) => {}
                        None if folds => {
                            across.insert((phase, source));
                        }
                        None => {
                            let first = first.unwrap_or(phase);
                            spans.entry(source).or_insert((first, first)).1 = phase;
                        }
                    }
                }
            }
        }
        residents.again.sort_unstable();
        residents.crossing = self.crossing(&spans, &windows);
        residents.allocated = self.allocated(&spans, &across);
        residents
    }
    /// True for a fold along the lanes that processes rows in SIMD lanes.
    fn goes_across(&self, node: u32) -> bool {
        self.tiles.side().is_some() && self.body.nodes[node as usize].one_by_one
    }
    /// The square tile for a value that is contiguous along the lanes but read across them, if rows are processed in
    /// SIMD lanes.
    fn square(&self, source: Source) -> Option<Shape> {
        let (element, order) = match source {
            Source::Input(i) => {
                let input = &self.body.inputs[i as usize];
                (input.element, &input.order[..])
            }
            Source::Node(n) => {
                let node = &self.body.nodes[n as usize];
                (node.element, node.order())
            }
        };
        let side = self.tiles.side()?;
        let along = *order.last()?;
        let crosses = order.contains(&side) && self.tiles.runs_along(along);
        let length = match self.body.named >> along & 1 == 1 {
            true => self.tiles.narrow,
            false => self.body.extents[along].min(self.tiles.narrow),
        };
        crosses.then(|| (vec![(length, None), (self.tiles.narrow, None)], element))
    }
    /// True if an op only reshapes a value that is kept or read again: a later phase reads that value directly.
    fn is_seen_through(&self, mut node: u32, stays: &mut dyn FnMut(u32) -> bool) -> bool {
        while self.is_shape(node) {
            let source = self.body.nodes[node as usize].sources.first();
            node = match source {
                Some(&Source::Node(p)) if self.phases.contains_key(&p) => p,
                _ => return true,
            };
            if stays(node) {
                return true;
            }
        }
        false
    }
    /// The memory that a window reads, each with the bytes that a step takes of it: about as many as the window
    /// produces.
    fn looks_through(&self, node: u32) -> impl Iterator<Item = (Source, u64)> + '_ {
        let op = &self.body.nodes[node as usize];
        let is_window = op.touches.is_some() && !op.is_unwalked();
        let in_memory = |source: &Source| match source {
            Source::Input(_) => true,
            Source::Node(p) => !self.phases.contains_key(p),
        };
        let bytes = op
            .element
            .saturating_mul(self.tiles.elements(self.body, op.stored));
        let sources = op.sources.iter().copied();
        let sources = sources.filter(move |source| is_window && in_memory(source));
        sources.map(move |source| (source, bytes))
    }
    /// The most bytes passed from one phase to later ones, including memory that several phases read through windows.
    fn crossing(
        &self,
        spans: &FxHashMap<Source, (u32, u32)>,
        windows: &FxHashMap<Source, (u32, u32, u64)>,
    ) -> u64 {
        let mut boundaries = vec![0u64; self.last as usize];
        let spans = spans
            .iter()
            .map(|(&source, &(first, end))| (first, end, self.bytes(source)));
        // The sums do not depend on the iteration order of the maps.
        for (first, end, bytes) in spans.chain(windows.values().copied()) {
            for boundary in &mut boundaries[first as usize..end as usize] {
                *boundary = boundary.saturating_add(bytes);
            }
        }
        boundaries.into_iter().max().unwrap_or(0)
    }
    /// Bytes of an element of a reduction that finishes in the step. If a loop that it keeps lies inside one that it
    /// reduces, it accumulates in memory and is as wide as its accumulator.
    fn reduced_element(&self, node: &Node) -> u64 {
        let inner = self.tiles.inner(self.body, node.space);
        let loops = self.order.iter().filter(|&&axis| inner >> axis & 1 == 1);
        let reduced = loops.map(|&axis| node.reduced >> axis & 1 == 1);
        match reduced.is_sorted() {
            true => node.element,
            false => node.accumulating,
        }
    }
    /// The axis of the lanes of the loop nest that reads `source` in a phase: the innermost axis.
    fn lanes(&self, source: Source, phase: u32) -> Option<usize> {
        let body = self.draft.body.iter().zip(&self.draft.phases);
        let nodes = body
            .filter(|(_, own)| **own == phase)
            .map(|(&n, _)| &self.body.nodes[n as usize]);
        let users = nodes.filter(|node| node.sources.contains(&source));
        let space = users.fold(0, |space, node| space | node.space);
        let inner = self.tiles.inner(self.body, space);
        self.order
            .iter()
            .copied()
            .rev()
            .find(|axis| inner >> axis & 1 == 1)
    }
    /// True if the step of a CPU stores the result of an op along another axis than the lanes: the result is kept until
    /// then.
    fn is_stored_across(&self, node: u32) -> bool {
        let op = &self.body.nodes[node as usize];
        let is_stored = self.draft.stores.contains(&node) || self.draft.keeps.contains(&node);
        let inner = self.inner(node);
        let lanes = self.order.iter().copied().rev();
        let lanes = lanes.into_iter().find(|axis| inner >> axis & 1 == 1);
        let plain = self.tiles.is_near() && op.reduced == 0 && !op.one_by_one && is_stored;
        plain && self.tiles.stages(self.body, op.order(), op.element, lanes)
    }
    /// The bytes that lowering allocates. Memory of equal shape is reused by a later phase, and nothing is staged for a
    /// loop nest that is known to be empty.
    fn allocated(
        &self,
        spans: &FxHashMap<Source, (u32, u32)>,
        across: &FxHashSet<(u32, Source)>,
    ) -> u64 {
        let mut asked: Vec<(u32, u32, Shape)> = Vec::new();
        let mut ask = |first: u32, end: u32, stored: Mask, element: u64, staged: bool| {
            let mut sizes = self.sizes(stored);
            if let Some(row) = sizes.last_mut().filter(|_| staged) {
                row.0 += self.tiles.padding(row.0, element);
            }
            asked.push((first, end, (sizes, element)));
        };
        let known = !(self.body.named | self.draft.outer);
        let empty = self.body.elements(self.draft.space & known) == 0;
        let running = empty.then(|| plan::running(self.body, self.draft, known));
        let runs = |node| running.as_ref().is_none_or(|all| all.contains(&node));
        let sources = |node: u32| &self.body.nodes[node as usize].sources;
        let own = || self.draft.body.iter().copied();
        let is_read = |source| own().any(|n| runs(n) && sources(n).contains(&source));
        for (&node, &phase) in self.draft.body.iter().zip(&self.draft.phases) {
            let (inner, op) = (self.inner(node), &self.body.nodes[node as usize]);
            let span = spans.get(&Source::Node(node));
            let reduces = op.reduced != 0 && !self.draft.accumulators.contains(&node);
            let staged = runs(node) && self.tiles.stages_window(self.body, node);
            let across = runs(node) && self.is_stored_across(node);
            if inner != 0 && (reduces || span.is_some() || staged || across) {
                let element = match (reduces, staged || across) {
                    (true, _) => self.reduced_element(op),
                    (false, true) => op.element,
                    (false, false) => op.inside(),
                };
                ask(
                    phase,
                    span.map_or(phase, |s| s.1),
                    op.stored,
                    element,
                    staged,
                );
            }
        }
        for (&source, &(first, end)) in spans {
            let (order, stored, element) = match source {
                Source::Input(i) => {
                    let input = &self.body.inputs[i as usize];
                    (&input.order[..], input.stored, input.element)
                }
                Source::Node(n) if !self.phases.contains_key(&n) => {
                    let node = &self.body.nodes[n as usize];
                    (node.order(), node.stored, node.element)
                }
                Source::Node(_) => continue,
            };
            let lanes = self.lanes(source, first);
            if self.tiles.stages(self.body, order, element, lanes) && (!empty || is_read(source)) {
                ask(first, end, stored, element, true);
            }
        }
        for &(phase, source) in across {
            asked.extend(self.square(source).map(|shape| (phase, phase, shape)));
        }
        // First fit, in the order of first phases: a slot is free once its last phase is over.
        asked.sort_unstable();
        let mut slots: Vec<(Shape, u32)> = Vec::new();
        for (phase, end, shape) in asked {
            match slots.iter_mut().find(|s| s.0 == shape && s.1 < phase) {
                Some(slot) => slot.1 = end,
                None => slots.push((shape, end)),
            }
        }
        let bytes = |((sizes, element), _): &(Shape, u32)| {
            let sizes = sizes.iter().map(|size| size.0);
            sizes.fold(*element, u64::saturating_mul)
        };
        slots.iter().map(bytes).fold(0, u64::saturating_add)
    }
    /// The loops inside the step of a value with these axes, in loop order: the length of each, and the axis if its
    /// extent is named.
    fn sizes(&self, stored: Mask) -> Vec<(u64, Option<usize>)> {
        let inner = self.tiles.inner(self.body, stored);
        let loops = self.order.iter().filter(|&&axis| inner >> axis & 1 == 1);
        let named = self.body.named & !self.draft.outer;
        let size = |&axis: &usize| {
            let name = (named >> axis & 1 == 1).then(|| self.body.alike[axis]);
            (self.tiles.size(self.body, axis), name)
        };
        loops.map(size).collect()
    }

    // --- the narrowest form ------------------------------------------------------------------------------------------

    /// The ops whose results are kept in the narrow form.
    fn cut(&self) -> FxHashSet<u32> {
        let mut network = Network::default();
        let mut first: FxHashMap<Source, u32> = FxHashMap::default();
        // Inputs that several phases read are reloaded at no cost.
        let mut free: FxHashSet<Source> = FxHashSet::default();
        let phases = self.draft.body.iter().zip(&self.draft.phases);
        for (&node, &phase) in phases.clone() {
            for source in self.reads(node) {
                if *first.entry(source).or_insert(phase) != phase {
                    free.insert(source);
                }
            }
        }
        for (&node, &phase) in phases {
            let op = &self.body.nodes[node as usize];
            for source in self.reads(node) {
                let made = match source {
                    Source::Node(p) => self.phases.get(&p).map(|&first| (p, first)),
                    Source::Input(_) => None,
                };
                match made {
                    Some((p, _)) if self.is_there(p) => continue,
                    Some((_, first)) if first < phase => network.need(self, source),
                    Some(_) => {}
                    None if free.contains(&source) => continue,
                    None => network.start(self, source),
                }
                if !self.is_there(node) {
                    network.follow(self, source, Source::Node(node));
                }
            }
            // The result of a window is not recomputed, since the memory that it reads is not resident.
            if op.touches.is_some() && !op.is_unwalked() && !self.is_there(node) {
                network.start(self, Source::Node(node));
            }
        }
        network.cut()
    }
}

/// A flow network in which each value is an edge with its bytes as capacity.
struct Network {
    graph: DiGraph<(), u64>,
    from: NodeIndex,
    to: NodeIndex,
    values: FxHashMap<Source, (NodeIndex, NodeIndex)>,
}

impl Default for Network {
    fn default() -> Self {
        let mut graph = DiGraph::new();
        let (from, to) = (graph.add_node(()), graph.add_node(()));
        Self {
            graph,
            from,
            to,
            values: FxHashMap::default(),
        }
    }
}

impl Network {
    fn value(&mut self, step: &Step<'_>, source: Source) -> (NodeIndex, NodeIndex) {
        let graph = &mut self.graph;
        *self.values.entry(source).or_insert_with(|| {
            let ends = (graph.add_node(()), graph.add_node(()));
            // A reshaped value is never kept; the original value is.
            let shape = matches!(source, Source::Node(n) if step.is_shape(n));
            let bytes = if shape {
                MOST
            } else {
                step.bytes(source).min(MOST >> 16)
            };
            graph.add_edge(ends.0, ends.1, bytes);
            ends
        })
    }
    fn start(&mut self, step: &Step<'_>, source: Source) {
        let (start, _) = self.value(step, source);
        self.graph.update_edge(self.from, start, MOST);
    }
    fn need(&mut self, step: &Step<'_>, source: Source) {
        let (_, end) = self.value(step, source);
        self.graph.update_edge(end, self.to, MOST);
    }
    fn follow(&mut self, step: &Step<'_>, source: Source, user: Source) {
        let ((_, end), (start, _)) = (self.value(step, source), self.value(step, user));
        self.graph.update_edge(end, start, MOST);
    }
    /// The ops on the minimum cut nearest to the source.
    fn cut(&self) -> FxHashSet<u32> {
        let (_, flows) = ford_fulkerson(&self.graph, self.from, self.to);
        let mut reached = FxHashSet::from_iter([self.from]);
        let mut stack = vec![self.from];
        while let Some(at) = stack.pop() {
            let ahead = self.graph.edges(at);
            let ahead = ahead.filter(|e| flows[e.id().index()] < *e.weight());
            let back = self.graph.edges_directed(at, petgraph::Incoming);
            let back = back.filter(|e| flows[e.id().index()] > 0);
            let next = ahead.map(|e| e.target()).chain(back.map(|e| e.source()));
            stack.extend(next.filter(|&n| reached.insert(n)));
        }
        let cut = self
            .values
            .iter()
            .filter_map(|(source, (start, end))| match source {
                Source::Node(n) if reached.contains(start) && !reached.contains(end) => Some(*n),
                _ => None,
            });
        cut.collect()
    }
}
