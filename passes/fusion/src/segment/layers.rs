//! Equal layers: a repetitive program is grouped with fewer of its layers, and the groups of one layer are applied to
//! all others.
//!
//! A chunk of a block repeats if each op of a layer corresponds to the op at its position in the layer before. It reads
//! the same values, or results of corresponding ops one layer later, or other arguments of the same types. The search
//! sees [`KEPT`] of such layers. The groups that it finds for the two layers in the middle must be equal, shifted by a
//! layer; each unseen layer gets these groups too.
//!
//! ```text
//! layers 0 1 2 3 4 5 6 7 8 9 ... 127      the search sees   0 1 2 3 4 5 6 7
//!                                         layer 4 equals 3: so 4 to 123 are drawn like 3, and 124 to 127 like 4 to 7
//! ```
//!
//! Rematerialization solves the shortened program. The final ops of its segments are extended to the whole program in
//! the same way, and passed on to the pass (`remat/solutions.rs`).
//!
//! Guarantees: every op is in a segment, and the segments have a valid run order. Otherwise there is no result, and the
//! whole program is searched. The search costs as much as for [`KEPT`] layers.

use std::collections::BTreeMap;

use fuser_dialects::task;
use fuser_dialects::task::positions::POSITION;
use fuser_ir::{Block, Ir, Op, Traits, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::apply::Draw;
use super::graph::{Graph, Index};
use super::order::{needs, run_order};
use super::record::{Action, Record, name_of};
use super::rounds::Contents;
use crate::planner::Planner;

/// The layers that the search sees: the first and the last layers have their own groups.
const KEPT: usize = 8;

/// The layer whose groups the unseen layers get, and which the next layer must equal.
const MIDDLE: usize = KEPT / 2 - 1;

/// The fewest layers for which shortening pays.
const FEWEST: usize = 2 * KEPT;

/// The number of most frequent distances between equal ops that are tried as the length of a layer.
const TRIED: usize = 8;

/// A chunk of a block that repeats, by positions in the block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Layers {
    start: usize,
    length: usize,
    count: usize,
}

/// A drawn segment.
struct Segment {
    name: String,
    kind: &'static str,
    /// The positions of its ops in the whole program, ascending.
    ops: Vec<usize>,
}

/// The segments of a whole program, derived from those of the shortened one.
pub(super) struct Extended {
    layers: Layers,
    /// The segments of the shortened program.
    drawn: Vec<Segment>,
    /// The segments of the whole program in run order: an index into `drawn`, and a shift in layers.
    all: Vec<(usize, usize)>,
}

impl Layers {
    /// The longest chunk of `block` that repeats, if a search with fewer layers pays.
    pub fn find(ir: &Ir, block: Block, planner: &mut Planner) -> Option<Self> {
        let ops = Ops::of(ir, block, planner)?;
        let mut distances = BTreeMap::<usize, usize>::new();
        let mut last = FxHashMap::default();
        for (&sort, at) in ops.sorts.iter().zip(0..) {
            if let Some(before) = last.insert(sort, at) {
                *distances.entry(at - before).or_default() += 1;
            }
        }
        let mut distances: Vec<(usize, usize)> = distances.into_iter().collect();
        distances.sort_by_key(|&(length, times)| (std::cmp::Reverse(times), length));
        let tried = distances.into_iter().take(TRIED);
        let found = tried.map(|(length, _)| ops.stretch(ir, length));
        let found = found.filter(|layers| layers.count >= FEWEST && ops.leave_alike(ir, layers));
        found.max_by_key(|layers| (layers.count - KEPT) * layers.length)
    }

    /// The record of the decision to group all layers like the middle one, named by the first value of that layer.
    pub fn record(&self, ir: &Ir, graph: &Graph) -> Record {
        let middle = (self.start + MIDDLE * self.length) as Index;
        Record {
            action: Action::Layers,
            parts: name_of(ir, graph, middle).into_iter().collect(),
            ops: self.count * self.length,
            refusal: None,
            before: None,
            after: None,
        }
    }
    /// The number of layers that the search does not see.
    fn unseen(&self) -> usize {
        self.count - KEPT
    }
    /// The position after the layers that are kept.
    fn end_of_kept(&self) -> usize {
        self.start + KEPT * self.length
    }
    /// The positions of the layers that are removed.
    fn taken(&self) -> std::ops::Range<usize> {
        self.end_of_kept()..self.start + self.count * self.length
    }

    /// Removes the layers that the search does not see from `block`: their users read the results of the last kept
    /// layer instead.
    pub fn shorten(&self, ir: &mut Ir, block: Block) {
        let ops: Vec<Op> = ir.block_ops(block).collect();
        for at in self.taken().rev() {
            let kept = self.end_of_kept() - self.length + (at - self.start) % self.length;
            for index in 0..ir.results(ops[at]).len() {
                let (gone, kept) = (ir.result(ops[at], index), ir.result(ops[kept], index));
                ir.replace_all_uses(gone, kept);
            }
            ir.erase(ops[at]);
        }
    }

    /// The segments of the whole program, with `graph` as its graph, from those of `program` in `shortened`; `None` if
    /// the middle layers differ.
    pub fn extend(&self, graph: &Graph, shortened: &Ir, program: Op) -> Option<Extended> {
        let drawn = segments(shortened, program)?;
        let all: Vec<Option<&Segment>> = drawn.iter().map(Some).collect();
        if !self.are_alike(&drawn, &all) {
            return None;
        }
        let own = (0..drawn.len()).map(|n| match self.layer(&drawn[n]) > MIDDLE {
            true => (n, self.unseen()),
            false => (n, 0),
        });
        let middle = self.of(&drawn, MIDDLE);
        let unseen = (1..=self.unseen()).flat_map(|by| middle.iter().map(move |&n| (n, by)));
        let all: Vec<(usize, usize)> = own.chain(unseen).collect();
        let lists = all.iter().map(|&(n, by)| self.later(&drawn[n].ops, by));
        let order = in_run_order(graph, lists)?;
        Some(Extended {
            layers: *self,
            all: order.into_iter().map(|n| all[n]).collect(),
            drawn,
        })
    }
    /// True if the segments of the two middle layers are equal, shifted by a layer. `now` has the current form of each
    /// of `drawn`; `None` if it is removed.
    fn are_alike(&self, drawn: &[Segment], now: &[Option<&Segment>]) -> bool {
        let (middle, next) = (self.of(drawn, MIDDLE), self.of(drawn, MIDDLE + 1));
        let alike = |(&a, &b): (&usize, &usize)| match (now[a], now[b]) {
            (Some(a), Some(b)) => {
                let inside = a.ops.iter().all(|&op| op < self.end_of_kept());
                inside && a.kind == b.kind && self.later(&a.ops, 1) == b.ops
            }
            (a, b) => a.is_none() && b.is_none(),
        };
        middle.len() == next.len() && middle.iter().zip(&next).all(alike)
    }
    /// The numbers of the segments of a layer.
    fn of(&self, drawn: &[Segment], layer: usize) -> Vec<usize> {
        let all = 0..drawn.len();
        all.filter(|&n| self.layer(&drawn[n]) == layer).collect()
    }
    /// The corresponding ops `layers` layers later. Ops outside the layers are unchanged.
    fn later(&self, ops: &[usize], layers: usize) -> Vec<usize> {
        let (kept, by) = (self.start..self.end_of_kept(), layers * self.length);
        let later = |&op: &usize| if kept.contains(&op) { op + by } else { op };
        let mut ops: Vec<usize> = ops.iter().map(later).collect();
        ops.sort_unstable();
        ops
    }
    /// The layer of the first op of a segment that is in a layer or after all; 0 if there is none.
    fn layer(&self, segment: &Segment) -> usize {
        let first = segment.ops.iter().find(|&&op| op >= self.start);
        first.map_or(0, |&op| (op - self.start) / self.length)
    }
}

impl Extended {
    /// The segments to draw.
    pub fn draws(&self, graph: &Graph) -> Vec<Draw> {
        let draw = |(number, &(n, by)): (usize, &(usize, usize))| {
            let ops = self.layers.later(&self.drawn[n].ops, by);
            Draw {
                name: format!("s{number}"),
                kind: self.drawn[n].kind,
                ops: graph.ops_at(&graph.with_free(&own(graph, &ops))),
            }
        };
        self.all.iter().enumerate().map(draw).collect()
    }
    /// The ops that each segment of `program` computes once it is rematerialized like `shortened`; `None` if the two
    /// middle layers differ afterwards.
    pub fn rematerialized(&self, ir: &Ir, program: Op, shortened: &Ir) -> Option<Contents> {
        let left = segments(shortened, program)?;
        let left: FxHashMap<&str, &Segment> = left.iter().map(|s| (s.name.as_str(), s)).collect();
        let now = |segment: &Segment| left.get(segment.name.as_str()).copied();
        let now: Vec<Option<&Segment>> = self.drawn.iter().map(now).collect();
        if !self.layers.are_alike(&self.drawn, &now) {
            return None;
        }
        let ops = ir.walk(program).into_iter();
        let at: FxHashMap<usize, Op> = ops.filter_map(|op| Some((position(ir, op)?, op))).collect();
        let computes = |&(n, by): &(usize, usize)| match now[n] {
            Some(segment) => {
                let ops = self.layers.later(&segment.ops, by).into_iter();
                ops.map(|op| at.get(&op).copied())
                    .collect::<Option<_>>()
                    .map(Some)
            }
            None => Some(None),
        };
        self.all.iter().map(computes).collect()
    }
}

/// The segments of `program`, by the positions of their ops; `None` if an op has no position or is in no segment.
fn segments(ir: &Ir, program: Op) -> Option<Vec<Segment>> {
    let children = ir.children(program).into_iter();
    let drawn = children.filter(|&op| !ir.has(op, Traits::TERMINATOR));
    let segment = |segment: Op| {
        let kind = ir
            .is(segment, &task::SEGMENT)
            .then(|| ir.str_of(segment, "kind"))??;
        let kind = task::ops::SEGMENT_KINDS
            .iter()
            .copied()
            .find(|&known| known == kind)?;
        let ops = ir.children(segment).into_iter();
        let ops = ops.filter(|&op| !ir.is(op, &task::YIELD));
        let mut ops: Vec<usize> = ops.map(|op| position(ir, op)).collect::<Option<_>>()?;
        ops.sort_unstable();
        ops.dedup();
        let name = ir.symbol_name(segment)?.to_owned();
        Some(Segment { name, kind, ops })
    };
    drawn.map(segment).collect()
}

/// The recorded position of an op.
fn position(ir: &Ir, op: Op) -> Option<usize> {
    usize::try_from(ir.int_of(op, POSITION)?).ok()
}

/// The ops at these positions, without free ops.
fn own(graph: &Graph, ops: &[usize]) -> Vec<Index> {
    let ops = ops.iter().map(|&op| op as Index);
    ops.filter(|&op| !graph.free[op as usize]).collect()
}

/// A valid run order of segments with these ops, by number; `None` if there is none or an op is in no segment.
fn in_run_order(graph: &Graph, all: impl Iterator<Item = Vec<usize>>) -> Option<Vec<usize>> {
    let lists: Vec<Vec<Index>> = all.map(|ops| own(graph, &ops)).collect();
    let lists: Vec<&[Index]> = lists.iter().map(Vec::as_slice).collect();
    let covered: FxHashSet<Index> = lists.iter().copied().flatten().copied().collect();
    let order = run_order(&needs(graph, &lists), |n| lists[n].first().copied());
    let bound = graph.free.iter().filter(|free| !**free).count();
    let whole = covered.len() == bound && order.len() == lists.len();
    whole.then_some(order)
}

/// The ops of a block, and their identities without operands.
struct Ops {
    ops: Vec<Op>,
    sorts: Vec<u32>,
    position: FxHashMap<Op, usize>,
}

impl Ops {
    /// The ops of `block`; `None` if an op has a hint, or positions that differ from the text.
    fn of(ir: &Ir, block: Block, planner: &mut Planner) -> Option<Self> {
        let ops = ir.block_ops(block);
        let ops: Vec<Op> = ops.filter(|&op| !ir.has(op, Traits::TERMINATOR)).collect();
        let known = |op: &Op| {
            let attr = |name| ir.get_attr(*op, name);
            attr("fusion.hint").is_some() || attr(POSITION).is_some()
        };
        if ops.len() < FEWEST || ops.iter().any(known) {
            return None;
        }
        Some(Self {
            sorts: ops.iter().map(|&op| planner.sort(ir, op)).collect(),
            position: ops.iter().copied().zip(0..).collect(),
            ops,
        })
    }

    /// The longest chunk whose layers have `length` ops.
    fn stretch(&self, ir: &Ir, length: usize) -> Layers {
        let (mut best, mut from) = (length..length, length);
        for at in length..self.ops.len() {
            if !self.repeats(ir, at, length) {
                from = at + 1;
            } else if at + 1 - from > best.len() {
                best = from..at + 1;
            }
        }
        let start = best.start - length;
        let count = (best.end - start) / length;
        Layers {
            start,
            length,
            count,
        }
    }
    /// True if the op at `at` corresponds to the op one layer before it, shifted by a layer.
    fn repeats(&self, ir: &Ir, at: usize, length: usize) -> bool {
        let (op, before) = (self.ops[at], self.ops[at - length]);
        let position = |value: Value| ir.def_op(value).and_then(|op| self.position.get(&op));
        let pair = |(a, b): (Value, Value)| match (position(a), position(b)) {
            _ if a == b => true,
            (Some(a), Some(b)) => *a == b + length,
            (None, None) => ir.value_type(a) == ir.value_type(b),
            _ => false,
        };
        let same_result = |(a, b): (Value, Value)| match (ir.def_op(a), ir.def_op(b)) {
            (Some(one), Some(other)) => {
                let number = |op: Op, v| ir.results(op).iter().position(|&r| r == v);
                number(one, a) == number(other, b)
            }
            _ => true,
        };
        let pairs = || ir.operands(op).zip(ir.operands(before));
        self.sorts[at] == self.sorts[at - length] && pairs().all(pair) && pairs().all(same_result)
    }
    /// True if all layers but the last have the same results with users after the layers.
    fn leave_alike(&self, ir: &Ir, layers: &Layers) -> bool {
        let end = layers.start + layers.count * layers.length;
        let leaves = |at: usize, index: usize| {
            let mut users = ir.users(ir.result(self.ops[at], index));
            users.any(|user| self.position.get(&user).is_none_or(|&user| user >= end))
        };
        (layers.start + layers.length..end - layers.length).all(|at| {
            let mut results = 0..ir.results(self.ops[at]).len();
            results.all(|index| leaves(at, index) == leaves(at - layers.length, index))
        })
    }
}
