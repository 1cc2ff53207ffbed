//! Loop-invariant values: computed once before a loop and kept for all its steps.
//!
//! A row-wise walk uses the same weights in every row. Values computed from them alone (a rounding to bf16 and back,
//! `1 + w`, an exponential) are the same in every row too. If that work costs more than reading its result, the ops
//! become a separate phase before the loops along which it does not vary. A CPU may read the result instead of a weight
//! without other users. Any work pays then, such as widening a 16-bit weight:
//!
//! ```text
//! task.phase before ["a1"] { %w1 = fusion.cast %w0 to bf16 ... task.yield %w1 }
//! task.phase { ... fusion.mul %w1, %x ... }
//! ```
//!
//! Decides and records; [`super::arrange`] creates the boundaries. Never moves a reduction, nor a value with other
//! users outside of the sweep, which each worker would store. Never moves a value without resident axes, because it is
//! computed once in each step anyway.

use fuser_analysis::axes::Axes;
use fuser_analysis::cost::Bindings;
use fuser_ir::def::OpClass;
use fuser_ir::{Ir, Op, Value};
use fuser_target::Target;
use rustc_hash::{FxHashMap, FxHashSet};

use super::loops::Loops;
use crate::spec::{LoopAxis, Role};

/// The minimum number of steps for hoisting: with fewer, a kept value is read too rarely to repay its store.
const FEW_STEPS: u64 = 4;

/// A phase that runs before loops that do not change its values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hoisted {
    /// The loops that it precedes, as indices into the loops of the sweep, outermost first.
    pub before: Vec<usize>,
    /// Its ops, in program order.
    pub ops: Vec<Op>,
    /// The values that later phases read.
    pub kept: Vec<Kept>,
}

/// One value that is kept through loops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kept {
    /// The value.
    pub value: Value,
    /// Operations saved per element and step, against one load.
    pub work: u32,
    /// Fast memory that it takes.
    pub bytes: u64,
}

/// A walk whose loops are chosen.
pub struct Candidates<'a> {
    /// The program.
    pub ir: &'a Ir,
    /// Axes of the walk's ops.
    pub axes: &'a Axes,
    /// Lengths of extents.
    pub bindings: &'a Bindings,
    /// Its loops.
    pub loops: &'a Loops,
    /// Its ops, in program order.
    pub ops: &'a [Op],
    /// Figures of the target.
    pub target: &'a Target,
    /// Fast memory that kept values may take.
    pub room: u64,
}

/// An op that the innermost loops do not change.
#[derive(Clone, Copy)]
struct Invariant {
    /// The outermost position at which the op can stand. The loops from there inward do not change it.
    place: usize,
    /// The operations per element of its result, counted from values in memory. Shared operands count once for each
    /// use.
    work: u32,
    /// True if it is the only use of a value in memory, so that keeping it replaces that load.
    instead: bool,
}

/// The phases of `walk` that pay, outermost first.
pub fn hoist(walk: &Candidates<'_>) -> Vec<Hoisted> {
    let order = walk.outer();
    let places = walk.places(&order);
    if places.is_empty() {
        return Vec::new();
    }
    let inside: FxHashSet<Op> = walk.ops.iter().copied().collect();
    let mut found: FxHashMap<Op, Invariant> = FxHashMap::default();
    for &op in walk.ops {
        if let Some(invariant) = walk.invariant(op, &order, &places, &inside, &found) {
            found.insert(op, invariant);
        }
    }
    let kept = walk.kept(&found, &inside);
    walk.phases(&order, &places, &found, &kept)
}

impl Candidates<'_> {
    /// The loops around the steps, as lowering nests them: grid, then stream.
    fn outer(&self) -> Vec<usize> {
        let with = |role| {
            let loops = self.loops.loops.iter().enumerate();
            loops.filter(move |(_, l)| l.role == role).map(|(i, _)| i)
        };
        with(Role::Grid).chain(with(Role::Stream)).collect()
    }
    /// The positions between the outer loops where a phase can run, outermost first: before the grid, and before each
    /// stream loop. A position pays only before several steps. GPU workers without partial sums have a single grid step
    /// each.
    fn places(&self, order: &[usize]) -> Vec<usize> {
        let grid = self.loops.loops.iter().filter(|l| l.role == Role::Grid);
        let grid = grid.count();
        let several = self.loops.partials > 0 || self.target.threads == 1;
        let first = (grid == 0 || several).then_some(0);
        let steps = |place: usize| {
            let counts = order[place..].iter().map(|&l| self.steps(l));
            counts.fold(1u64, u64::saturating_mul)
        };
        // Workers share the grid: each must still have several steps.
        let workers = |place: usize| match place < grid {
            true => self.target.partials.max(1),
            false => 1,
        };
        let places = first.into_iter().chain(grid.max(1)..order.len());
        places
            .filter(|&p| steps(p) >= FEW_STEPS.saturating_mul(workers(p)))
            .collect()
    }
    fn steps(&self, index: usize) -> u64 {
        let axis = &self.loops.loops[index];
        let extent = self.bindings.eval(&axis.extent);
        extent.div_ceil(axis.tile.max(1) as u64)
    }
    /// The outermost position of `op` and the work up to it; `None` if it can stand only inside all loops.
    fn invariant(
        &self,
        op: Op,
        order: &[usize],
        places: &[usize],
        inside: &FxHashSet<Op>,
        found: &FxHashMap<Op, Invariant>,
    ) -> Option<Invariant> {
        let class = self.ir.def(op)?.class;
        let pure = matches!(
            class,
            OpClass::Elementwise | OpClass::Shape | OpClass::Creation
        );
        if !pure || !self.axes.reduced(op).is_empty() || self.ir.results(op).len() != 1 {
            return None;
        }
        let mut users = self.ir.users(self.ir.result(op, 0));
        if users.any(|user| !inside.contains(&user)) {
            return None;
        }
        let (mut lowest, mut work) = (0, self.operations(op, class));
        let sources = self.ir.operands(op).filter_map(|v| self.ir.def_op(v));
        for source in sources.filter(|d| inside.contains(d)) {
            let source = found.get(&source)?;
            lowest = lowest.max(source.place);
            work = work.saturating_add(source.work);
        }
        let varies = self.varies(self.ir.results(op));
        let unchanged = |&&p: &&usize| order[p..].iter().all(|l| !varies.contains(l));
        let place = *places.iter().filter(|p| **p >= lowest).find(unchanged)?;
        let alone = |v: &Value| self.ir.users(*v).all(|u| u == op || !inside.contains(&u));
        let read = |v: Value| match self.ir.def_op(v).filter(|d| inside.contains(d)) {
            Some(source) => found.get(&source).is_some_and(|source| source.instead),
            None => self.bytes(v).is_some(),
        };
        let instead = self.ir.operands(op).filter(alone).any(read);
        Some(Invariant {
            place,
            work,
            instead,
        })
    }
    /// The operations of `op` itself for each element. An op without resident axes is computed once in each step and
    /// counts as none.
    fn operations(&self, op: Op, class: OpClass) -> u32 {
        if class != OpClass::Elementwise || self.bytes(self.ir.result(op, 0)).is_none() {
            return 0;
        }
        let narrow = |v: &Value| {
            let dtype = self.ir.value_kind(*v).dtype();
            dtype.is_some_and(|d| d.is_float() && d.bytes() < 4)
        };
        let flops = self.ir.def(op).map_or(0, |d| d.flops);
        match self.ir.results(op).iter().any(narrow) {
            true => flops.saturating_add(self.target.narrowing as u32),
            false => flops,
        }
    }
    /// Loops along which some values vary.
    fn varies(&self, values: &[Value]) -> Vec<usize> {
        let stored = values.iter().flat_map(|&v| self.axes.stored(v));
        let stored: FxHashSet<_> = stored.collect();
        let loops = self.loops.loops.iter().enumerate();
        loops
            .filter(|(_, l)| l.axes.iter().any(|a| stored.contains(a)))
            .map(|(i, _)| i)
            .collect()
    }
    /// Bytes that keeping `value` takes; `None` where it has no resident axes.
    fn bytes(&self, value: Value) -> Option<u64> {
        let dtype = self.ir.value_kind(value).dtype()?;
        let inner = self.varies(&[value]).into_iter();
        let inner = inner.map(|i| &self.loops.loops[i]);
        let mut inner = inner.filter(|l| l.has_inner()).peekable();
        inner.peek()?;
        let size = |l: &LoopAxis| match l.has_outer() {
            true => l.tile.max(1) as u64,
            false => self.bindings.eval(&l.extent),
        };
        Some(inner.fold(dtype.bytes(), |n, l| n.saturating_mul(size(l))))
    }
    /// The values worth keeping, the most expensive first, as many as fit. A value qualifies if an op inside all loops
    /// reads it and it costs more than a load. On a CPU a value also qualifies if loading it replaces another load.
    fn kept(&self, found: &FxHashMap<Op, Invariant>, inside: &FxHashSet<Op>) -> Vec<Kept> {
        let mut list = Vec::new();
        for op in self.ops {
            let Some(&Invariant { work, instead, .. }) = found.get(op) else {
                continue;
            };
            let value = self.ir.result(*op, 0);
            let least = match instead && !self.target.abilities().block_threads {
                true => 0,
                false => self.target.hoist_above,
            };
            if let Some(bytes) = self.bytes(value)
                && u64::from(work) > least
                && !self.is_shape(*op)
                && self.is_read_inside(value, found, inside)
            {
                list.push(Kept { value, work, bytes });
            }
        }
        list.sort_by_key(|k| std::cmp::Reverse(k.work));
        let mut room = self.room;
        list.retain(|k| match room.checked_sub(k.bytes) {
            Some(left) => {
                room = left;
                true
            }
            None => false,
        });
        list
    }
    fn is_shape(&self, op: Op) -> bool {
        self.ir.def(op).is_some_and(|d| d.class == OpClass::Shape)
    }
    /// True if an op inside all loops reads `value`, directly or through shape ops.
    fn is_read_inside(
        &self,
        value: Value,
        found: &FxHashMap<Op, Invariant>,
        inside: &FxHashSet<Op>,
    ) -> bool {
        let mut stack = vec![value];
        while let Some(value) = stack.pop() {
            for user in self.ir.users(value).filter(|u| inside.contains(u)) {
                if !found.contains_key(&user) {
                    return true;
                }
                if self.is_shape(user) {
                    stack.extend(self.ir.results(user));
                }
            }
        }
        false
    }
    /// The kept values and their dependences, each op at the outermost position that needs it.
    fn phases(
        &self,
        order: &[usize],
        places: &[usize],
        found: &FxHashMap<Op, Invariant>,
        kept: &[Kept],
    ) -> Vec<Hoisted> {
        let place_of = |k: &Kept| Some(found.get(&self.ir.def_op(k.value)?)?.place);
        let mut taken: FxHashSet<Op> = FxHashSet::default();
        let mut phases = Vec::new();
        for &place in places {
            let here = kept.iter().filter(|k| place_of(k) == Some(place));
            let here: Vec<Kept> = here.copied().collect();
            let mut wanted: FxHashSet<Op> = FxHashSet::default();
            let mut stack: Vec<Op> = here
                .iter()
                .filter_map(|k| self.ir.def_op(k.value))
                .collect();
            while let Some(op) = stack.pop() {
                if found.contains_key(&op) && taken.insert(op) {
                    wanted.insert(op);
                    stack.extend(self.ir.operands(op).filter_map(|v| self.ir.def_op(v)));
                }
            }
            let ops = self.ops.iter().copied();
            let ops: Vec<Op> = ops.filter(|op| wanted.contains(op)).collect();
            if !ops.is_empty() {
                phases.push(Hoisted {
                    before: order[place..].to_vec(),
                    ops,
                    kept: here,
                });
            }
        }
        phases
    }
}
