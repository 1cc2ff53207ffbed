//! Loops over the rows of a block: the memory that they accumulate into, and whether rows depend on each other.

use std::collections::BTreeMap;

use fuser_dialects::kernel::sum::{Product, Sum};
use fuser_dialects::kernel::{self, rounds, rounds::literal};
use fuser_ir::clone::Mapping;
use fuser_ir::def::Computes;
use fuser_ir::types::{MemSpace, TypeKind};
use fuser_ir::{DType, Ir, Op, Traits, Value};

use crate::lower::build::{Idx, KernelBuilder};
use crate::lower::combine::Combine;

/// The most elements of a row: with them, sums of indices are in range.
const MOST: i64 = 1 << 40;

/// A loop over rows that are independent except for the values that they combine.
pub(super) struct Rows {
    pub(super) op: Op,
    /// Its induction variable.
    pub(super) row: Value,
    /// Its iterations.
    pub(super) count: i64,
    /// Rows of an iteration: those of the loops inside.
    pub(super) each: i64,
    /// The thread loop inside.
    pub(super) spread: Op,
    /// Elements of a row, at most.
    pub(super) columns: i64,
    /// Elements of its vectors, at most.
    pub(super) whole: i64,
    /// Elements of a thread's vector.
    pub(super) step: i64,
    /// The sums of columns and their like.
    pub(super) kept: Vec<Kept>,
    /// For each memory with one value per column that the loop only reads, its loads.
    pub(super) read: BTreeMap<Value, Vec<Op>>,
    /// The earlier loops that fill memory in which each row has separate elements.
    pub(super) fills: Vec<Fill>,
}

/// A thread loop that fills memory with a constant. The memory holds the rows one after the other, each as long as a
/// row of the loop over rows.
pub(super) struct Fill {
    pub(super) op: Op,
    pub(super) memory: Value,
    /// The constant, which is no vector.
    pub(super) constant: Op,
}

/// Memory in which rows are put together, column by column.
pub(super) struct Kept {
    pub(super) memory: Value,
    pub(super) dtype: DType,
    pub(super) combine: Combine,
    pub(super) load: Op,
    pub(super) store: Op,
}

/// The index of an access: the factors of the enclosing induction variables, and the rest.
#[derive(PartialEq, Eq)]
struct Place {
    factors: Vec<i64>,
    rest: Sum,
}

impl Rows {
    /// The loop `op` of a kernel, if it is one over rows.
    pub(super) fn of(ir: &Ir, op: Op) -> Option<Rows> {
        // The induction variables with the numbers of their values, the innermost last.
        let mut variables: Vec<(Value, i64)> = Vec::new();
        let mut at = op;
        let (spread, columns, whole, step) = loop {
            let (lower, step) = (
                literal(ir, ir.operand(at, 0))?,
                literal(ir, ir.operand(at, 2))?,
            );
            let body = ir.body(at, 0)?;
            let &[variable] = ir.args(body) else {
                return None;
            };
            let inner: Vec<Op> = ir
                .block_ops(body)
                .filter(|&op| !ir.op_regions(op).is_empty())
                .collect();
            match (kernel::verify::mapping(ir, at), &inner[..]) {
                ("seq", &[inner]) if (lower, step) == (0, 1) && ir.is(inner, &kernel::FOR) => {
                    let count = literal(ir, ir.operand(at, 1)).filter(|&count| count > 0)?;
                    variables.push((variable, count));
                    at = inner;
                }
                ("thread", []) if lower == 0 && step > 0 => {
                    // A thread has the same elements of a row wherever it ends, if it has some.
                    let (least, most) = rounds::range(ir, ir.operand(at, 1));
                    let known = least > 0 && most <= MOST && step <= MOST;
                    let whole = known.then(|| (most + step - 1) / step * step)?;
                    variables.push((variable, whole));
                    break (at, most, whole, step);
                }
                _ => return None,
            }
        };
        let (&(row, count), inside) = variables.split_first()?;
        let inside = inside.split_last()?.1.iter();
        let each = inside.map(|inner| inner.1);
        let mut rows = Rows {
            op,
            row,
            count,
            each: each.fold(1, i64::saturating_mul),
            spread,
            columns,
            whole,
            step,
            kept: Vec::new(),
            read: BTreeMap::new(),
            fills: Vec::new(),
        };
        rows.end_is_outside(ir).then_some(())?;
        rows.note(ir, &variables)?;
        Some(rows)
    }
    /// Threads that a row has work for, a power of two.
    pub(super) fn width(&self) -> i64 {
        (self.whole / self.step).unsigned_abs().next_power_of_two() as i64
    }
    /// Lanes of the vectors of a row, if it has some.
    pub(super) fn lanes(&self) -> Option<u64> {
        (self.step > 1).then_some(self.step.unsigned_abs())
    }
    /// Records the memory that the loop accumulates into; `None` if rows may depend on each other in another way.
    fn note(&mut self, ir: &Ir, variables: &[(Value, i64)]) -> Option<()> {
        let ops = ir.walk(self.op);
        let is = |op: Op, def| ir.is(op, def);
        let plain = |&op: &Op| {
            let memory = is(op, &kernel::LOAD) || is(op, &kernel::STORE);
            let control = is(op, &kernel::FOR) || is(op, &kernel::YIELD);
            memory || control || ir.has(op, Traits::PURE)
        };
        ops.iter().all(plain).then_some(())?;
        let loads: Vec<Op> = ops
            .iter()
            .copied()
            .filter(|&op| is(op, &kernel::LOAD))
            .collect();
        let (column, _) = *variables.last()?;
        let mut stored: Vec<(Value, Place)> = Vec::new();
        for &store in ops.iter().filter(|&&op| is(op, &kernel::STORE)) {
            let memory = ir.operand(store, 1);
            let own = loads.iter().filter(|&&load| ir.operand(load, 0) == memory);
            let own: Vec<Op> = own.copied().collect();
            if ir.operand(store, 2) == column {
                let &[load] = &own[..] else {
                    return None;
                };
                // Another store to this memory would use the load as well, and is refused.
                self.kept.push(kept(ir, load, store, self.step)?);
                continue;
            }
            let place = self.place(ir, ir.operand(store, 2), variables)?;
            let before = stored.iter().find(|(other, _)| *other == memory);
            if before.is_some_and(|(_, other)| *other != place) {
                return None;
            }
            let apart = place.tells_apart(variables) && ir.int_of(store, "stride").is_none();
            let alike = |&load: &Op| {
                let plain = ir.int_of(load, "stride").is_none();
                plain && self.place(ir, ir.operand(load, 1), variables).as_ref() == Some(&place)
            };
            // Other loops may read global memory that this one writes only behind it.
            let inside = is_tile(ir, memory) || only_stored(ir, memory);
            (apart && inside && own.iter().all(alike)).then_some(())?;
            if before.is_none() && !own.is_empty() && place.is_row_by_row(self.whole) {
                self.fills.extend(self.filled(ir, memory));
            }
            stored.push((memory, place));
        }
        let alone = |load: Op| {
            let memory = ir.operand(load, 0);
            let written = |&op: &Op| is(op, &kernel::STORE) && ir.operand(op, 1) == memory;
            let whole = lanes(ir, ir.result(load, 0)) == self.step;
            let plain = whole && ir.int_of(load, "stride").is_none();
            plain && is_tile(ir, memory) && !ops.iter().any(written)
        };
        for load in loads {
            if ir.operand(load, 1) == column && alone(load) {
                self.read.entry(ir.operand(load, 0)).or_default().push(load);
            }
        }
        Some(())
    }
    /// The loop that fills `memory`, if it precedes this loop and has no other effect.
    fn filled(&self, ir: &Ir, memory: Value) -> Option<Fill> {
        let mut outside = ir.users(memory).filter(|&user| !self.holds(ir, user));
        let before = outside.find_map(|user| {
            let around = rounds::around(ir, user)?;
            let beside = ir.parent_block(around) == ir.parent_block(self.op);
            (beside && ir.is(user, &kernel::STORE)).then_some((around, user))
        });
        let (op, store) = before?;
        let [lower, upper, step] = [0, 1, 2].map(|n| literal(ir, ir.operand(op, n)));
        let all = self.count.checked_mul(self.whole);
        let body = ir.body(op, 0)?;
        let whole = (lower, upper) == (Some(0), all) && step == Some(self.step);
        let spread = whole && kernel::verify::mapping(ir, op) == "thread";
        let value = ir.operand(store, 0);
        let splat = ir.def_op(value).filter(|&by| ir.is(by, &kernel::SPLAT));
        let scalar = splat.map_or(value, |by| ir.operand(by, 0));
        let constant = ir.made_as(scalar, Computes::Constant)?;
        let plain = |inner: Op| {
            inner == store || ir.has(inner, Traits::PURE) || ir.is(inner, &kernel::YIELD)
        };
        let alone = ir.args(body).len() == 1 && ir.block_ops(body).all(plain);
        let each = ir.operand(store, 2) == ir.args(body)[0] && ir.operand_count(store) == 3;
        let vector = lanes(ir, value) == self.step && ir.int_of(store, "stride").is_none();
        (spread && alone && each && vector && self.is_next_for(ir, op, memory)).then_some(Fill {
            op,
            memory,
            constant,
        })
    }
    /// True if `op` stands before this loop, and nothing between them touches `memory`.
    fn is_next_for(&self, ir: &Ir, op: Op, memory: Value) -> bool {
        let touches = |op: Op| {
            let mut inner = ir.walk(op).into_iter();
            inner.any(|op| ir.operands(op).any(|value| value == memory))
        };
        let mut before = std::iter::successors(ir.prev_op(self.op), |&op| ir.prev_op(op));
        before.find(|&before| before == op || touches(before)) == Some(op)
    }
    /// True if an op stands in the loop.
    fn holds(&self, ir: &Ir, op: Op) -> bool {
        std::iter::successors(Some(op), |&op| ir.parent_op(op)).any(|op| op == self.op)
    }
    /// The place of an access in the loop; `None` if it depends on values computed in the loop other than induction
    /// variables.
    fn place(&self, ir: &Ir, index: Value, variables: &[(Value, i64)]) -> Option<Place> {
        let mut place = Place {
            factors: vec![0; variables.len()],
            rest: Sum::of(ir, index, &mut |value| value)?,
        };
        for (number, &(variable, _)) in variables.iter().enumerate() {
            let own = |product: &Product| product.len() == 1 && product[0].value == variable;
            let factor = place.rest.0.iter().find(|term| own(term.0));
            if let Some((product, &factor)) = factor.map(|term| (term.0.clone(), term.1)) {
                place.factors[number] = factor;
                place.rest.0.remove(&product);
            }
        }
        let unknown = place.rest.0.keys().flatten();
        let inside = unknown
            .into_iter()
            .any(|unknown| self.is_inside(ir, unknown.value));
        (!inside).then_some(place)
    }
    /// True if the loop makes a value.
    fn is_inside(&self, ir: &Ir, value: Value) -> bool {
        let block = ir.def_block(value);
        let mut around = std::iter::successors(block, |&block| {
            let op = ir.block_parent_op(block).filter(|&op| op != self.op)?;
            ir.parent_block(op)
        });
        around.any(|block| ir.block_parent_op(block) == Some(self.op))
    }
    /// True if the end of a row depends only on values computed before the loop.
    fn end_is_outside(&self, ir: &Ir) -> bool {
        let mut pending = vec![ir.operand(self.spread, 1)];
        while let Some(value) = pending.pop() {
            if self.is_inside(ir, value) {
                let by = ir.def_op(value).filter(|&op| ir.has(op, Traits::PURE));
                let Some(by) = by else {
                    return false;
                };
                pending.extend(ir.operands(by));
            }
        }
        true
    }
    /// Makes the end of a row, at the end of the builder's block.
    pub(super) fn end(&self, k: &mut KernelBuilder<'_>) -> Idx {
        let end = k.ir.operand(self.spread, 1);
        if let Some(known) = literal(k.ir, end) {
            return Idx::Const(known);
        }
        let mut map = Mapping::default();
        let inside = k.ir.walk(self.op).into_iter();
        let mut needed = vec![end];
        let mut ops = Vec::new();
        while let Some(value) = needed.pop() {
            let by = k.ir.def_op(value).filter(|_| self.is_inside(k.ir, value));
            ops.extend(by);
            needed.extend(by.into_iter().flat_map(|by| k.ir.operands(by)));
        }
        for op in inside.filter(|op| ops.contains(op)).collect::<Vec<_>>() {
            let copy = k.ir.clone_op(op, &mut map);
            k.ir.append_op(k.block, copy);
        }
        Idx::Value(map.get(end))
    }
}

impl Place {
    /// True if rows of `length` elements lie one after the other from the start of the memory.
    fn is_row_by_row(&self, length: i64) -> bool {
        let [row, others @ .., column] = &self.factors[..] else {
            return false;
        };
        let alone = others.iter().all(|factor| *factor == 0) && self.rest.0.is_empty();
        (*row, *column) == (length, 1) && alone
    }
    /// True if different rows, and different columns, never share a place. Loops between them may return to a place, in
    /// the same thread.
    fn tells_apart(&self, variables: &[(Value, i64)]) -> bool {
        let ends = [self.factors.first(), self.factors.last()];
        let terms = self.factors.iter().zip(variables);
        let terms = terms.filter(|(factor, (_, count))| **factor != 0 && *count > 1);
        let mut terms: Vec<(i64, i64)> = terms
            .map(|(&factor, &(_, count))| (factor, count))
            .collect();
        terms.sort_unstable();
        let mut reach = 0i64;
        let moves = ends
            .iter()
            .all(|factor| factor.is_some_and(|&factor| factor > 0));
        moves
            && terms.into_iter().all(|(factor, count)| {
                let beyond = factor > reach;
                reach = reach.saturating_add(factor.saturating_mul(count - 1));
                beyond
            })
    }
}

/// The memory of a load and a store at one column of each row, if a single op combines an element into it.
fn kept(ir: &Ir, load: Op, store: Op, step: i64) -> Option<Kept> {
    let (memory, value) = (ir.operand(store, 1), ir.operand(store, 0));
    let by = ir.def_op(value)?;
    let combine = Combine::of_elementwise(ir, by)?;
    let before = ir.result(load, 0);
    let one = ir.operands(by).filter(|&operand| operand == before).count() == 1;
    let once = ir.users(value).count() == 1 && ir.users(before).count() == 1;
    let same = ir.operand(load, 1) == ir.operand(store, 2);
    let plain = [load, store]
        .iter()
        .all(|&op| ir.int_of(op, "stride").is_none());
    let all = ir.operand_count(store) == 3;
    let whole = lanes(ir, value) == step;
    let dtype = ir.value_kind(memory).dtype()?;
    let typed = combine.accumulator(dtype) == dtype;
    let right = one && once && same && plain && all && whole && typed;
    (right && is_tile(ir, memory)).then_some(Kept {
        memory,
        dtype,
        combine,
        load,
        store,
    })
}

/// True if a kernel does nothing with this memory but store there.
fn only_stored(ir: &Ir, memory: Value) -> bool {
    let mut users = ir.users(memory);
    users.all(|op| ir.is(op, &kernel::STORE))
}

/// Lanes of a value, of which a scalar has one.
fn lanes(ir: &Ir, value: Value) -> i64 {
    kernel::ops::lanes(ir, ir.value_type(value)).max(1) as i64
}

fn is_tile(ir: &Ir, memory: Value) -> bool {
    let tile = |kind: &TypeKind| {
        matches!(
            kind,
            TypeKind::MemRef {
                space: MemSpace::Tile,
                ..
            }
        )
    };
    ir.def_op(memory).is_some() && tile(ir.value_kind(memory))
}
