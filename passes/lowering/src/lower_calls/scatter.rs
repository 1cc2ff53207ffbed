//! A scatter as a sort of its indices, and a walk over the updates of each element.
//!
//! ```text
//! keys, order = the indices of each line, sorted, those out of range last
//! first[place] = the first key that is not below place               a bisection of the keys
//! result[place] = dest[place], combined with updates[order[first[place] .. first[place + 1]]]
//! ```
//!
//! The sort keeps the order of equal indices, so the updates of an element are combined in ascending order, whatever the
//! order of threads. Where elements are few and have many updates, the threads of a block share the updates of one, and
//! combine what each has in a fixed order.

use fuser_dialects::fusion;
use fuser_ir::types::ExtentExpr;
use fuser_ir::{DType, Dim, Ir, Op, Value};

use super::key::Key;
use super::places::Lines;
use super::sort::{Sort, axis, names_of};
use super::{Kernels, signature, walk};
use crate::lower::build::{Idx, KernelBuilder, Map};
use crate::lower::combine::Combine;

/// Threads of a block.
const THREADS: i64 = 128;
/// Updates of an element, on average, from which the threads of a block share them.
const SHARED: u64 = 4 * THREADS.unsigned_abs();
/// Halvings that leave one element of a line of unknown length.
const HALVINGS: u32 = 62;

/// The words of `combine`; `None` if the last update stays.
static COMBINES: &[(&str, Option<Combine>)] = &[
    ("set", None),
    ("add", Some(Combine::Add)),
    ("mul", Some(Combine::Mul)),
    ("max", Some(Combine::Max)),
    ("min", Some(Combine::Min)),
];

/// A scatter, as kernels see it.
pub(super) struct Scatter {
    op: Op,
    /// `None` if the last update stays.
    combine: Option<Combine>,
    /// The type of an element.
    dtype: DType,
    /// The places of a line, and its updates.
    places: ExtentExpr,
    updates: ExtentExpr,
    /// Lines of indices: one for all lines of the result, or one for each.
    lines: ExtentExpr,
    /// Lines of the result for each line of indices.
    columns: ExtentExpr,
    indices: Lines,
    /// The destination, the updates and the result.
    tensors: [Lines; 3],
    /// The axis of the indices.
    along: usize,
}

impl Scatter {
    /// The scatter that `op` is; `None` if it has unknown extents.
    pub(super) fn of(ir: &Ir, op: Op) -> Option<Self> {
        let dim = usize::try_from(ir.int_of(op, "dim")?).ok()?;
        let [dest, indices, updates] = [0, 1, 2].map(|n| ir.operand(op, n));
        let result = ir.result(op, 0);
        let combine = ir.str_of(op, "combine")?;
        let (_, combine) = COMBINES.iter().find(|(word, _)| *word == combine)?;
        let dtype = ir.value_kind(result).dtype()?;
        let one = ExtentExpr::constant(1);
        let whole = ir.rank(indices) != ir.rank(dest);
        let lines_of = |value| Lines::of(ir, value, result, dim);
        let tensors = [lines_of(dest)?, lines_of(updates)?, lines_of(result)?];
        let all = tensors[2].count()?;
        let (along, own) = match whole {
            true => (0, Lines::of(ir, indices, indices, 0)?),
            false => (dim, lines_of(indices)?),
        };
        Some(Self {
            op,
            combine: *combine,
            dtype,
            places: axis(ir, result, dim)?,
            updates: axis(ir, updates, dim)?,
            lines: if whole { one.clone() } else { all.clone() },
            columns: if whole { all } else { one },
            indices: own,
            tensors,
            along,
        })
    }
    /// Inserts the launches before the op; the value that replaces its result.
    pub(super) fn lower(&self, ir: &mut Ir, kernels: &mut Kernels<'_>) -> Option<Value> {
        let input = (ir.operand(self.op, 1), self.along);
        let sort = Sort::of_places(ir, self.op, input, self.indices.clone(), &self.places)?;
        let sorted = sort.lower(ir, kernels)?;
        let first = self.bisect(ir, kernels, &sort.key, sorted[0])?;
        self.combine(ir, kernels, sorted[1], first)
    }
    /// The launch that finds the first key of each place, and behind the last one the number of keys of places.
    fn bisect(
        &self,
        ir: &mut Ir,
        kernels: &mut Kernels<'_>,
        key: &Key,
        keys: Value,
    ) -> Option<Value> {
        let bounds = self.places.add(&ExtentExpr::constant(1))?;
        let all = self.lines.mul(&bounds)?;
        let extent = Dim::new(ir.extent(all.clone())?);
        let ty = ir.tensor(vec![extent], DType::I64);
        let none = key.greatest();
        let func = kernels.open(
            ir,
            signature("first", 0, self.names(), THREADS),
            &[keys],
            &[ty],
        );
        let [keys, first] = func.memory[..] else {
            return None;
        };
        let k = &mut func.k(ir, self.op);
        let (all, n) = (k.extent(&all)?, k.extent(&self.updates)?);
        let bounds = k.extent(&bounds)?;
        let halvings = self
            .updates
            .as_constant()
            .and_then(|n| u64::try_from(n).ok());
        let halvings = halvings.map_or(HALVINGS, |n| u64::BITS - n.leading_zeros());
        each(k, all, |k, i| {
            let (line, place) = (k.div(i, bounds), k.rem(i, bounds));
            let start = k.mul(line, n);
            let place = k.index(place);
            let place = k.cast(place, DType::U64);
            let none = k.int_constant(none, DType::U64);
            let place = k.binary(&fusion::MINIMUM, place, none);
            let limits = [k.index(Idx::ZERO), k.index(n)];
            let steps = [Idx::ZERO, Idx::Const(halvings.into()), Idx::Const(1)];
            let open = k.open_loop(steps, &limits);
            let [low, high] = open.args[..] else {
                return None;
            };
            let open_range = k.compare("lt", low, high);
            let sum = k.binary(&fusion::ADD, low, high);
            let two = k.int_constant(2, DType::Index);
            let middle = k.binary(&fusion::DIV, sum, two);
            // Between equal limits there is no key to be read.
            let at = k.add(start, Idx::Value(middle));
            let some = Idx::Value(k.cast(open_range, DType::Index));
            let fill = k.int_constant(0, key.stored());
            let found = k.load_within(keys, at, fill, [Idx::ZERO, some]);
            let found = k.cast(found, DType::U64);
            let less = k.compare("lt", found, place);
            let right = k.binary(&fusion::AND, open_range, less);
            let behind = k.add(Idx::Value(middle), Idx::Const(1));
            let behind = k.index(behind);
            let low = k.select(right, behind, low);
            let shut = k.select(open_range, middle, high);
            let high = k.select(right, high, shut);
            let found = k.close_loop(open, &[low, high], Map::Seq, &[]);
            let found = k.cast(found[0], DType::I64);
            k.store(found, first, i);
            Some(())
        })?;
        let launch = func.launch(ir, self.op, &[]);
        Some(ir.result(launch, 0))
    }
    /// The launch that combines the updates of each element.
    fn combine(
        &self,
        ir: &mut Ir,
        kernels: &mut Kernels<'_>,
        order: Value,
        first: Value,
    ) -> Option<Value> {
        let [dest, updates] = [0, 2].map(|n| ir.operand(self.op, n));
        let result = ir.value_type(ir.result(self.op, 0));
        let operands = [dest, updates, order, first];
        let shared = self.shares(kernels);
        let func = kernels.open(
            ir,
            signature("combine", 0, self.names(), THREADS),
            &operands,
            &[result],
        );
        let [dest, updates, order, first, result] = func.memory[..] else {
            return None;
        };
        let memory = Memory {
            dest,
            updates,
            order,
            first,
            result,
        };
        let k = &mut func.k(ir, self.op);
        let all = self.lines.mul(&self.columns)?.mul(&self.places)?;
        let all = k.extent(&all)?;
        match shared {
            true => walk(k, [Idx::ZERO, all], Map::Grid, |k, i| {
                self.element(k, &memory, i, Map::Thread)
            })?,
            false => each(k, all, |k, i| self.element(k, &memory, i, Map::Seq))?,
        }
        let launch = func.launch(ir, self.op, &[]);
        Some(ir.result(launch, 0))
    }
    /// True if the threads of a block share the updates of an element: there are many, and they are combined.
    fn shares(&self, kernels: &Kernels<'_>) -> bool {
        let extent = |expr: &ExtentExpr| kernels.bindings.eval(expr).max(1);
        self.combine.is_some() && extent(&self.updates) / extent(&self.places) >= SHARED
    }
    /// Element number `i` of the result, whose updates are walked by `map`.
    fn element(&self, k: &mut KernelBuilder<'_>, memory: &Memory, i: Idx, map: Map) -> Option<()> {
        let (places, n) = (k.extent(&self.places)?, k.extent(&self.updates)?);
        // Neighbouring threads have neighbouring elements.
        let (line, place) = match self.tensors[2].is_along() {
            true => (k.div(i, places), k.rem(i, places)),
            false => {
                let lines = self.lines.mul(&self.columns)?;
                let lines = k.extent(&lines)?;
                (k.rem(i, lines), k.div(i, lines))
            }
        };
        // A line of the result has its own line of indices, or all have one.
        let own = match self.lines.as_constant() {
            Some(1) => Idx::ZERO,
            _ => line,
        };
        let one = k.add(places, Idx::Const(1));
        let at = k.mul(own, one);
        let at = k.add(at, place);
        let from = k.load(memory.first, at, None);
        let next = k.add(at, Idx::Const(1));
        let to = k.load(memory.first, next, None);
        let [from, to] = [from, to].map(|v| Idx::Value(k.cast(v, DType::Index)));
        let order = k.mul(own, n);
        let [dest, updates, result] = [0, 1, 2].map(|n| self.tensors[n].start(k, line));
        let (dest, updates, result) = (dest?, updates?, result?);
        let at = self.tensors[0].at(k, dest, place)?;
        let old = k.load(memory.dest, at, None);
        let update = |k: &mut KernelBuilder<'_>, number: Idx| {
            let at = k.add(order, number);
            let index = k.load(memory.order, at, None);
            let index = Idx::Value(k.cast(index, DType::Index));
            let at = self.tensors[1].at(k, updates, index)?;
            Some(k.load(memory.updates, at, None))
        };
        let [low, high] = [from, to].map(|idx| k.index(idx));
        let some = k.compare("lt", low, high);
        let at = self.tensors[2].at(k, result, place)?;
        let Some(function) = self.combine else {
            k.store(old, memory.result, at);
            let open = k.open_if();
            let last = k.sub(to, Idx::Const(1));
            let value = update(k, last)?;
            k.store(value, memory.result, at);
            k.close_if(open, some);
            return Some(());
        };
        let wide = function.accumulator(self.dtype);
        let first = function.identity(k, self.dtype);
        let words: &[&str] = match map {
            Map::Thread => &[function.name()],
            _ => &[],
        };
        let open = k.open_loop([from, to, Idx::Const(1)], &[first]);
        let value = update(k, Idx::Value(open.iv))?;
        let value = k.cast(value, wide);
        let next = function.apply(k, open.args[0], value);
        let all = k.close_loop(open, &[next], map, words)[0];
        let before = k.cast(old, wide);
        let all = function.apply(k, all, before);
        let all = k.cast(all, self.dtype);
        // An element without updates keeps its bits.
        let value = k.select(some, all, old);
        k.store(value, memory.result, at);
        Some(())
    }
    /// The names of extents that kernels compute with.
    fn names(&self) -> Vec<fuser_ir::Sym> {
        let all = [&self.places, &self.updates, &self.lines, &self.columns];
        let mut names: Vec<_> = all.into_iter().flat_map(names_of).collect();
        for lines in &self.tensors {
            lines.names(&mut names);
        }
        names
    }
}

/// The buffers of a kernel that combines.
struct Memory {
    dest: Value,
    updates: Value,
    order: Value,
    first: Value,
    result: Value,
}

/// Walks `n` indices, one for each thread.
fn each(
    k: &mut KernelBuilder<'_>,
    n: Idx,
    body: impl FnOnce(&mut KernelBuilder<'_>, Idx) -> Option<()>,
) -> Option<()> {
    let blocks = k.ceil_div(n, Idx::Const(THREADS));
    walk(k, [Idx::ZERO, blocks], Map::Grid, |k, block| {
        let first = k.mul(block, Idx::Const(THREADS));
        let rest = k.sub(n, first);
        let count = k.min(rest, Idx::Const(THREADS));
        walk(k, [Idx::ZERO, count], Map::Thread, |k, thread| {
            let i = k.add(first, thread);
            body(k, i)
        })
    })
}
