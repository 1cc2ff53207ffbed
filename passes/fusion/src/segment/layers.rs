//! Equal layers: a program that repeats is grouped with fewer of its layers, and the groups of one are those of all others.
//!
//! A stretch of a block repeats if each op of a layer is the op that stands at its place in the layer before: it reads the same values, or those
//! of the ops as far before it, or other arguments of the same types. Of such layers the search sees [`KEPT`]. What it then draws for the two in the
//! middle has to be one thing, a layer apart; each layer that the search did not see gets the same.
//!
//! ```text
//! layers 0 1 2 3 4 5 6 7 8 9 ... 127      the search sees   0 1 2 3 4 5 6 7
//!                                         it drew for 4 what it drew for 3: so 4 to 123 are drawn as 3, and 124 to 127 as 4 to 7
//! ```
//!
//! Rematerialization solves the shortened program: the ops that a segment computes in the end are extended to the whole one the same way, and left
//! to the pass (`remat/solutions.rs`).
//!
//! Guarantees: every op is in a segment, and segments have an order in which they run; where that does not follow, there is no result, and the
//! whole program is searched. The search costs what it does for so few layers.

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

/// The layers that the search sees: the groups of the first and of the last ones are their own.
const KEPT: usize = 8;

/// The layer whose groups the others get, and which the next one has to be like.
const MIDDLE: usize = KEPT / 2 - 1;

/// The fewest layers that it is worth for.
const FEWEST: usize = 2 * KEPT;

/// The distances between ops of one sort that are tried as the length of a layer.
const TRIED: usize = 8;

/// A stretch of a block that repeats, by positions in the block.
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

/// The segments of a whole program, by those of the shortened one.
pub(super) struct Extended {
    layers: Layers,
    /// Those of the shortened one.
    drawn: Vec<Segment>,
    /// In run order: the number of one of these, and how many layers later it stands.
    all: Vec<(usize, usize)>,
}

impl Layers {
    /// The longest stretch of `block` that repeats, if a search with fewer layers would be worth it.
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

    /// The decision that all are drawn as the one in the middle, named by the first value of that.
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
    /// The position behind the layers that are kept.
    fn end_of_kept(&self) -> usize {
        self.start + KEPT * self.length
    }
    /// The ops of the layers that are taken out.
    fn taken(&self) -> std::ops::Range<usize> {
        self.end_of_kept()..self.start + self.count * self.length
    }

    /// Takes the layers that the search does not see out of `block`: who read the results of any reads those of the last that is kept.
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

    /// The segments of the whole program, of which `graph` is, by those that `program` has in `shortened`, if they are as they have to be.
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
    /// True if the segments of the two layers in the middle are one thing, a layer apart. Of each of `drawn`, `now` says what it is or has become.
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
    /// The ops so many layers later. What is in no layer stays.
    fn later(&self, ops: &[usize], layers: usize) -> Vec<usize> {
        let (kept, by) = (self.start..self.end_of_kept(), layers * self.length);
        let later = |&op: &usize| if kept.contains(&op) { op + by } else { op };
        let mut ops: Vec<usize> = ops.iter().map(later).collect();
        ops.sort_unstable();
        ops
    }
    /// The layer of the first op of a segment that stands in one; of what has none the first, or one behind all.
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
    /// The ops that each segment of `program` computes once it is rematerialized as `shortened` was; `None` where the two layers in the
    /// middle became different things.
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

/// The segments of `program` by the positions of their ops; `None` if an op has no position or is in no segment.
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

/// The position that was noted of an op.
fn position(ir: &Ir, op: Op) -> Option<usize> {
    usize::try_from(ir.int_of(op, POSITION)?).ok()
}

/// The ops at these positions but for those that belong to no segment.
fn own(graph: &Graph, ops: &[usize]) -> Vec<Index> {
    let ops = ops.iter().map(|&op| op as Index);
    ops.filter(|&op| !graph.free[op as usize]).collect()
}

/// An order in which segments of these ops can run, by number, if there is one and each op is in a segment.
fn in_run_order(graph: &Graph, all: impl Iterator<Item = Vec<usize>>) -> Option<Vec<usize>> {
    let lists: Vec<Vec<Index>> = all.map(|ops| own(graph, &ops)).collect();
    let lists: Vec<&[Index]> = lists.iter().map(Vec::as_slice).collect();
    let covered: FxHashSet<Index> = lists.iter().copied().flatten().copied().collect();
    let order = run_order(&needs(graph, &lists), |n| lists[n].first().copied());
    let bound = graph.free.iter().filter(|free| !**free).count();
    let whole = covered.len() == bound && order.len() == lists.len();
    whole.then_some(order)
}

/// The ops of a block, and their sorts.
struct Ops {
    ops: Vec<Op>,
    sorts: Vec<u32>,
    position: FxHashMap<Op, usize>,
}

impl Ops {
    /// Those of `block`; `None` where a user says what is to be grouped, or positions are other than in the text.
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

    /// The longest stretch whose layers have this many ops.
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
    /// True if the op at `at` does what the one a layer before it does, a layer later.
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
    /// True if what one layer gives to somebody behind the layers, all give but the last.
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
