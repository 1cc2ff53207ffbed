//! A block of ops as dense indices, with the producer, the users and the bytes of each value.

use fuser_analysis::axes::{Axes, window};
use fuser_analysis::cost::{Bindings, Copies, Refusal, is_call, made_of_nothing};
use fuser_dialects::fusion::maps;
use fuser_dialects::fusion::window::is_placed;
use fuser_ir::def::{OpClass, Placement};
use fuser_ir::{Block, Ir, Op, OpDef, Traits, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::boundaries::around;
use crate::planner::{Answer, Planner};

/// The bytes of the largest element: a value of this size is cheaper to recompute than to store.
const MAX_ELEMENT: u64 = 8;

/// An op, by its position in the block.
pub type Index = u32;

/// The most rounds in which free ops are reconsidered because others are no longer free. After that, no op with axes is
/// free.
const MAX_ROUNDS: usize = 8;

/// A value that ops of the block compute or read.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The value.
    pub value: Value,
    /// The op that computes it; `None` for a value from outside.
    pub producer: Option<Index>,
    /// The ops that read it, ascending, each once.
    pub users: SmallVec<[Index; 2]>,
    /// True if it has a user outside the graph: the program returns it.
    pub escapes: bool,
    /// Stored bytes.
    pub bytes: u64,
}

/// The ops of a block.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The ops in program order, without the terminator.
    pub ops: Vec<Op>,
    /// All values, in order of first appearance.
    pub edges: Vec<Edge>,
    /// The values that each op reads, by index into `edges`.
    pub reads: Vec<SmallVec<[u32; 3]>>,
    /// The values that each op computes.
    pub writes: Vec<SmallVec<[u32; 1]>>,
    /// Ops that belong to no group: they create values from nothing and are copied to their users.
    pub free: Vec<bool>,
    /// The boundaries before and after each op.
    boundaries: Vec<(bool, bool)>,
    index: FxHashMap<Op, Index>,
    of_value: FxHashMap<Value, u32>,
}

impl Graph {
    /// Builds the graph of `block`.
    pub fn build(ir: &Ir, block: Block, bindings: &Bindings) -> Self {
        let ops = ir.block_ops(block);
        let ops = ops.filter(|&op| !ir.has(op, Traits::TERMINATOR));
        let mut graph = Self {
            ops: ops.collect(),
            ..Self::default()
        };
        let boundaries = graph.ops.iter().map(|&op| around(ir, op));
        graph.boundaries = boundaries.collect();
        for position in 0..graph.ops.len() {
            graph.add(ir, position, bindings);
        }
        graph.mark_escapes(ir);
        for position in 0..graph.ops.len() {
            let free = graph.is_free(ir, position);
            graph.free.push(free);
        }
        let bound = (0..MAX_ROUNDS).all(|_| graph.bind(ir));
        if bound {
            for position in 0..graph.ops.len() as Index {
                graph.bind_one(ir, position);
            }
        }
        graph
    }

    /// Makes free ops ordinary ops if they cannot be in the kernel of an op that uses them. A small matrix and its
    /// transpose, for example, cannot be in the kernel of their sum. Returns true if there were any.
    fn bind(&mut self, ir: &Ir) -> bool {
        let mut bound = false;
        for position in (0..self.ops.len() as Index).rev() {
            if self.free[position as usize] {
                continue;
            }
            let with = self.with_free(&[position]);
            let ops = self.ops_at(&with);
            // Elementwise ops on values created from nothing always have a common iteration space.
            let plain = |op: &Op| {
                let def = ir.def(*op);
                def.is_some_and(|d| d.class == OpClass::Creation || d.has_maps(&maps::POINTWISE))
            };
            if ops.len() == 1 || ops.iter().all(plain) || Axes::build(ir, &ops).is_ok() {
                continue;
            }
            for other in with.into_iter().filter(|&p| p != position) {
                bound |= self.bind_one(ir, other);
            }
        }
        // An op that reads a value of an ordinary op is not free either.
        for position in 0..self.ops.len() {
            let is_bound = |e: &u32| {
                let producer = self.edges[*e as usize].producer;
                producer.is_some_and(|m| !self.free[m as usize])
            };
            if self.reads[position].iter().any(is_bound) {
                bound |= std::mem::take(&mut self.free[position]);
            }
        }
        bound
    }
    /// Makes a free op ordinary if its results have axes; a scalar has no axes that could conflict.
    fn bind_one(&mut self, ir: &Ir, position: Index) -> bool {
        let tensor = |v: &Value| ir.value_kind(*v).as_tensor();
        let mut results = ir.results(self.ops[position as usize]).iter();
        let has_axes = results.any(|v| tensor(v).is_some_and(|t| !t.dims.is_empty()));
        has_axes && std::mem::take(&mut self.free[position as usize])
    }

    fn add(&mut self, ir: &Ir, position: usize, bindings: &Bindings) {
        let op = self.ops[position];
        self.index.insert(op, position as Index);
        let mut reads = SmallVec::new();
        for value in ir.operands(op) {
            let edge = self.edge(ir, value, bindings);
            if !reads.contains(&edge) {
                reads.push(edge);
                self.edges[edge as usize].users.push(position as Index);
            }
        }
        self.reads.push(reads);
        let mut writes = SmallVec::new();
        for &value in ir.results(op) {
            let edge = self.edge(ir, value, bindings);
            self.edges[edge as usize].producer = Some(position as Index);
            writes.push(edge);
        }
        self.writes.push(writes);
    }
    fn edge(&mut self, ir: &Ir, value: Value, bindings: &Bindings) -> u32 {
        let edges = &mut self.edges;
        *self.of_value.entry(value).or_insert_with(|| {
            edges.push(Edge {
                value,
                producer: None,
                users: SmallVec::new(),
                escapes: false,
                bytes: bindings.bytes(ir, value),
            });
            (edges.len() - 1) as u32
        })
    }
    fn mark_escapes(&mut self, ir: &Ir) {
        let index = &self.index;
        for edge in &mut self.edges {
            edge.escapes = ir.users(edge.value).any(|user| !index.contains_key(&user));
        }
    }
    /// True if a boundary lies between the producer of a value and a user.
    pub fn separated(&self, producer: Index, user: Index) -> bool {
        self.boundaries[producer as usize].1 || self.boundaries[user as usize].0
    }
    /// True if reading the value loads bytes: it has bytes, and is not recomputed in each group.
    pub fn is_loaded(&self, edge: u32) -> bool {
        let edge = &self.edges[edge as usize];
        edge.bytes > 0
            && edge
                .producer
                .is_none_or(|producer| !self.free[producer as usize])
    }
    /// True if an op creates values from nothing or from scalars outside, or computes a scalar from such values.
    fn is_free(&self, ir: &Ir, position: usize) -> bool {
        let op = self.ops[position];
        let Some(def) = ir.def(op) else { return false };
        let edge = |e: &u32| &self.edges[*e as usize];
        let escapes = self.writes[position].iter().any(|e| edge(e).escapes);
        if escapes || !def.traits.contains(Traits::PURE) || def.traits.contains(Traits::BARRIER) {
            return false;
        }
        // A value read through a window must be in memory, unless index arithmetic leads through it.
        let users = |e: &u32| self.edges[*e as usize].users.clone().into_iter();
        let mut users = self.writes[position].iter().flat_map(users);
        let windowed = users.any(|r| window::is_window(ir, self.ops[r as usize]));
        if windowed && !window::is_link(ir, op) {
            return false;
        }
        // A value that a call reads must be in memory, too.
        let called = |r: Index| {
            let user = self.ops[r as usize];
            let in_memory = |d: &OpDef| d.operands.iter().any(|o| o.placement == Placement::Memory);
            is_placed(ir, user) || ir.def(user).is_some_and(in_memory)
        };
        let users = |e: &u32| self.edges[*e as usize].users.clone().into_iter();
        let mut users = self.writes[position].iter().flat_map(users);
        if users.any(called) {
            return false;
        }
        let given = |e: &Edge| match e.producer {
            Some(producer) => self.free[producer as usize],
            None => e.bytes <= MAX_ELEMENT,
        };
        let single = !matches!(def.class, OpClass::Reduction | OpClass::Scan)
            && !is_call(ir, op)
            && ir.get_attr(op, "fusion.hint").is_none()
            && self.writes[position]
                .iter()
                .all(|e| edge(e).bytes <= MAX_ELEMENT);
        let all_given = self.reads[position].iter().all(|e| given(edge(e)));
        made_of_nothing(ir, op) || (single && all_given)
    }

    /// The number of ops.
    pub fn len(&self) -> usize {
        self.ops.len()
    }
    /// True if there are no ops.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }
    /// The position of an op of the block.
    pub fn position(&self, op: Op) -> Option<Index> {
        self.index.get(&op).copied()
    }
    /// The edge of a value.
    pub fn edge_of(&self, value: Value) -> Option<&Edge> {
        self.of_value.get(&value).map(|&e| &self.edges[e as usize])
    }
    /// The producers of the operands of `op`, without free ops, each with the edge.
    pub fn producers(&self, op: Index) -> impl Iterator<Item = (Index, &Edge)> {
        let reads = self.reads[op as usize].iter();
        reads.filter_map(|&e| {
            let edge = &self.edges[e as usize];
            let producer = edge.producer.filter(|&m| !self.free[m as usize])?;
            Some((producer, edge))
        })
    }
    /// The users of the results of `op`, each with the edge.
    pub fn users(&self, op: Index) -> impl Iterator<Item = (Index, &Edge)> {
        let writes = self.writes[op as usize].iter();
        writes.flat_map(|&e| {
            let edge = &self.edges[e as usize];
            edge.users.iter().map(move |&r| (r, edge))
        })
    }
    /// `members` and the free ops that they use, in program order.
    pub fn with_free(&self, members: &[Index]) -> Vec<Index> {
        let mut all: Vec<Index> = members.to_vec();
        let mut seen = rustc_hash::FxHashSet::default();
        let mut at = 0;
        while at < all.len() {
            for &e in &self.reads[all[at] as usize] {
                let producer = self.edges[e as usize].producer;
                if let Some(producer) =
                    producer.filter(|&m| self.free[m as usize] && seen.insert(m))
                {
                    all.push(producer);
                }
            }
            at += 1;
        }
        all.sort_unstable();
        all
    }
    /// The ops that belong to no group.
    pub fn free_ops(&self) -> Vec<Op> {
        let all = self.ops.iter().zip(&self.free);
        all.filter(|(_, free)| **free).map(|(&op, _)| op).collect()
    }
    /// The IR ops at the given positions.
    pub fn ops_at(&self, positions: &[Index]) -> Vec<Op> {
        positions.iter().map(|&p| self.ops[p as usize]).collect()
    }
}

impl Planner {
    /// The cost model's answer about the ops at `members` as one group, with the free ops that they use.
    pub fn evaluate(&mut self, ir: &Ir, graph: &Graph, members: &[Index]) -> Answer {
        self.evaluate_with(ir, graph, members, &Copies::default())
    }
    /// Like [`Self::evaluate`], where `copies` are duplicated.
    pub fn evaluate_with(
        &mut self,
        ir: &Ir,
        graph: &Graph,
        members: &[Index],
        copies: &Copies,
    ) -> Answer {
        self.questions += 1;
        self.budget.spend(1);
        let limit = self.model.limits.ops;
        let fits = |ops: usize| match ops > limit {
            true => Err(Refusal::TooManyOps { ops, limit }),
            false => Ok(()),
        };
        fits(members.len())?;
        let positions = graph.with_free(members);
        fits(positions.len())?;
        self.asked_ops += positions.len() as u64;
        self.answer(ir, &graph.ops_at(&positions), copies)
    }
}
