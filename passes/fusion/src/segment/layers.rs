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
#[derive(Clone)]
struct Segment {
    kind: &'static str,
    /// The positions of its ops in the whole program, ascending.
    ops: Vec<usize>,
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

    /// The segments to draw for those that `program` has in `shortened`, if they are as they have to be. `graph` is that of the whole program.
    pub fn extend(&self, graph: &Graph, shortened: &Ir, program: Op) -> Option<Vec<Draw>> {
        let drawn = segments(shortened, program)?;
        let of = |layer: usize| drawn.iter().filter(move |s| self.layer(s) == layer);
        let (middle, next): (Vec<_>, Vec<_>) = (of(MIDDLE).collect(), of(MIDDLE + 1).collect());
        let alike = |(a, b): (&&Segment, &&Segment)| {
            let inside = a.ops.iter().all(|&op| op < self.end_of_kept());
            inside && a.kind == b.kind && self.later(a, 1).ops == b.ops
        };
        if middle.len() != next.len() || !middle.iter().zip(&next).all(alike) {
            return None;
        }
        let own = |segment| match self.layer(segment) > MIDDLE {
            true => self.later(segment, self.unseen()),
            false => segment.clone(),
        };
        let unseen =
            (1..=self.unseen()).flat_map(|by| middle.iter().map(move |s| self.later(s, by)));
        in_run_order(graph, drawn.iter().map(own).chain(unseen).collect())
    }
    /// A segment so many layers later. What is in no layer stays.
    fn later(&self, segment: &Segment, layers: usize) -> Segment {
        let (kept, by) = (self.start..self.end_of_kept(), layers * self.length);
        let later = |&op: &usize| if kept.contains(&op) { op + by } else { op };
        let mut ops: Vec<usize> = segment.ops.iter().map(later).collect();
        ops.sort_unstable();
        Segment { ops, ..*segment }
    }
    /// The layer of the first op of a segment that stands in one; of what has none the first, or one behind all.
    fn layer(&self, segment: &Segment) -> usize {
        let first = segment.ops.iter().find(|&&op| op >= self.start);
        first.map_or(0, |&op| (op - self.start) / self.length)
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
        let position = |op| usize::try_from(ir.int_of(op, POSITION)?).ok();
        let mut ops: Vec<usize> = ops.map(position).collect::<Option<_>>()?;
        ops.sort_unstable();
        ops.dedup();
        Some(Segment { kind, ops })
    };
    drawn.map(segment).collect()
}

/// The segments in an order in which they can run, if there is one and each op is in a segment.
fn in_run_order(graph: &Graph, all: Vec<Segment>) -> Option<Vec<Draw>> {
    let own = |segment: &Segment| {
        let ops = segment.ops.iter().map(|&op| op as Index);
        ops.filter(|&op| !graph.free[op as usize]).collect()
    };
    let lists: Vec<Vec<Index>> = all.iter().map(own).collect();
    let lists: Vec<&[Index]> = lists.iter().map(Vec::as_slice).collect();
    let covered: FxHashSet<Index> = lists.iter().copied().flatten().copied().collect();
    let order = run_order(&needs(graph, &lists), |n| lists[n].first().copied());
    let bound = graph.free.iter().filter(|free| !**free).count();
    let draw = |(number, at): (usize, usize)| Draw {
        name: format!("s{number}"),
        kind: all[at].kind,
        ops: graph.ops_at(&graph.with_free(lists[at])),
    };
    let whole = covered.len() == bound && order.len() == all.len();
    whole.then(|| order.into_iter().enumerate().map(draw).collect())
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
