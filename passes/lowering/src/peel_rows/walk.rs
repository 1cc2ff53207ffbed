//! The loops that can have vectors: what each of their ops becomes.

use fuser_dialects::kernel::bounds::multiple;
use fuser_dialects::kernel::ops::COMBINERS;
use fuser_dialects::kernel::sum::Sum;
use fuser_dialects::kernel::{self, rounds, rounds::literal};
use fuser_ir::def::{Computes, DTypes, OpClass};
use fuser_ir::types::{Extent, MemSpace, TypeKind};
use fuser_ir::{AttrKind, Block, DType, Ir, Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Row;
use crate::spec::strings;

/// The most elements of a row: with them, the indices of both of its loops are in range.
const MOST: i64 = 1 << 60;

/// A long loop that does what vectors can do.
pub(super) struct Walk {
    pub(super) op: Op,
    /// Elements, at least and at most.
    lengths: (i64, i64),
    pub(super) step: i64,
    /// The most bytes of an element of global memory.
    pub(super) bytes: u64,
    /// The values that differ between elements: they become vectors, or longer vectors.
    pub(super) wide: FxHashSet<Value>,
    /// The index of each access to global memory, but for the induction variable.
    places: Vec<Sum>,
    /// The allocations that it touches.
    pub(super) tiles: FxHashSet<Value>,
}

impl Walk {
    /// Reads the loop `op`; `None` unless it is long and its body has a vector form.
    pub(super) fn of(ir: &Ir, op: Op, threads: i64) -> Option<Walk> {
        let spread = ir.is(op, &kernel::FOR) && kernel::verify::mapping(ir, op) == "thread";
        let constants = spread.then(|| [0, 2].map(|n| literal(ir, ir.operand(op, n))));
        let Some([Some(0), Some(step @ 1..)]) = constants else {
            return None;
        };
        let lengths = rounds::range(ir, ir.operand(op, 1));
        let few = lengths.1 / step / threads < rounds::MOST_ROUNDS;
        let long = lengths.0 > 0 && !few && lengths.1 <= MOST;
        let kinds = strings(ir, op, "combine");
        let plain = kinds.iter().all(|kind| COMBINERS.contains(&kind.as_str()));
        let body = ir.body(op, 0).filter(|_| long && plain)?;
        (ir.args(body).len() == kinds.len() + 1).then_some(())?;
        let mut walk = Walk {
            op,
            lengths,
            step,
            bytes: 1,
            wide: FxHashSet::default(),
            places: Vec::new(),
            tiles: FxHashSet::default(),
        };
        let all = ir
            .block_ops(body)
            .all(|op| walk.note(ir, body, op).is_some());
        (all && !walk.places.is_empty()).then_some(walk)
    }
    /// The row that it iterates over; `None` unless all accesses have one offset within vectors that are longer than a
    /// step.
    pub(super) fn row(&self, ir: &Ir, lanes: i64) -> Option<Row> {
        let longer = lanes.count_ones() == 1 && lanes > self.step;
        let (first, others) = self.places.split_first().filter(|_| longer)?;
        let place = modulo(first, lanes);
        let whole = modulo(&place, self.step).0.is_empty();
        let alike = |other: &Sum| modulo(other, lanes) == place;
        let ((least, most), length) = (self.lengths, ir.operand(self.op, 1));
        let steps = multiple(ir, length, &FxHashMap::default()) % self.step == 0;
        (whole && steps && others.iter().all(alike)).then(|| Row {
            least,
            most,
            length: (least != most).then_some(length),
            step: self.step,
            lanes,
            place: place.clone(),
        })
    }
    /// Marks the stores to results that the kernel accesses nowhere else. After the split, each of the two loops stores
    /// its own elements.
    pub(super) fn mark_once(&self, ir: &mut Ir) {
        let stores: Vec<Op> = ir
            .walk(self.op)
            .into_iter()
            .filter(|&op| ir.is(op, &kernel::STORE))
            .collect();
        for store in stores {
            let memory = ir.operand(store, 1);
            if ir.users(memory).count() == 1 && !self.tiles.contains(&memory) {
                let once = ir.attr(AttrKind::Unit);
                ir.set_attr(store, kernel::ONCE, once);
            }
        }
    }
    /// Records the vector form of an op of the body; `None` if it has none.
    fn note(&mut self, ir: &Ir, body: Block, op: Op) -> Option<()> {
        let (&iv, carried) = ir.args(body).split_first()?;
        if ir.is(op, &kernel::YIELD) {
            let mut values = ir.operands(op).zip(carried);
            let combined =
                values.all(|(next, &own)| self.combines(ir, (body, next), own) == Some(true));
            return combined.then_some(());
        }
        if ir.operands(op).any(|value| carried.contains(&value)) {
            // That it puts together what is carried is asked where that is yielded.
            return Some(());
        }
        let reduced = |value| {
            ir.def_op(value)
                .is_some_and(|by| ir.is(by, &kernel::REDUCE))
        };
        let short = |value| is_vector(ir, value) && !self.wide.contains(&value);
        if ir.operands(op).any(|value| reduced(value) || short(value)) {
            return None;
        }
        let wide = self.becomes_wide(ir, iv, op)?;
        if ir.is(op, &kernel::REDUCE) {
            return Some(());
        }
        let mut results = ir.results(op).iter();
        let alike = results.all(|&value| is_vector(ir, value) == (wide && self.step > 1));
        if wide {
            self.wide.extend(ir.results(op));
        }
        alike.then_some(())
    }
    /// True if the result, stored value or combined value of `op` differs between elements; `None` if `op` has no
    /// vector form.
    fn becomes_wide(&mut self, ir: &Ir, iv: Value, op: Op) -> Option<bool> {
        let any_wide = ir.operands(op).any(|value| self.wide.contains(&value));
        if ir.is(op, &kernel::LOAD) {
            return self.touches(ir, iv, op, 0);
        }
        if ir.is(op, &kernel::STORE) {
            return self.touches(ir, iv, op, 1).filter(|&wide| wide);
        }
        if ir.is(op, &kernel::REDUCE) {
            return any_wide.then_some(true);
        }
        if ir.is(op, &kernel::SPLAT) {
            return (!any_wide && !moves(ir, iv, ir.operand(op, 0))?).then_some(true);
        }
        let &[result] = ir.results(op) else {
            return None;
        };
        if ir.made_as(result, Computes::Constant).is_some() {
            return Some(false);
        }
        if ir.def(op)?.class != OpClass::Elementwise {
            return None;
        }
        if is_index(ir, result) {
            return (!any_wide).then_some(false);
        }
        let indices = ir.operands(op).filter(|&value| is_index(ir, value));
        let moving = indices.map(|value| moves(ir, iv, value));
        let moving = moving.collect::<Option<Vec<bool>>>()?;
        Some(any_wide || moving.contains(&true))
    }
    /// Notes an access; true if it moves with the loop.
    fn touches(&mut self, ir: &Ir, iv: Value, op: Op, memory: usize) -> Option<bool> {
        let (of, index) = (ir.operand(op, memory), ir.operand(op, memory + 1));
        let plain = ir.int_of(op, "stride").is_none() && ir.operand_count(op) == memory + 2;
        let TypeKind::MemRef { dims, dtype, space } = ir.value_kind(of) else {
            return None;
        };
        if !plain || !moves(ir, iv, index)? {
            return plain.then_some(false);
        }
        match space {
            MemSpace::Tile => {
                let (least, most) = self.lengths;
                let row = [Extent::Static(most.unsigned_abs())];
                (index == iv && least == most && dims[..] == row).then_some(())?;
                self.tiles.insert(of);
            }
            MemSpace::Global if ir.def_op(of).is_none() => {
                self.places.push(sum(ir, index)?.plus(&sum(ir, iv)?, -1)?);
                self.bytes = self.bytes.max(dtype.bytes());
            }
            _ => return None,
        }
        Some(true)
    }
    /// True if `next` combines the carried value `own` with a value of the iteration by a binary op, and neither has
    /// another use.
    fn combines(&self, ir: &Ir, (body, next): (Block, Value), own: Value) -> Option<bool> {
        let by = ir.def_op(next)?;
        let inside = ir.parent_block(by) == Some(body) && ir.operand_count(by) == 2;
        let mut operands = ir.operands(by).filter(|&value| value != own);
        let given = operands
            .next()
            .filter(|_| inside && operands.next().is_none())?;
        let once = |value| ir.users(value).count() == 1;
        let reduced = ir.def_op(given).filter(|&by| ir.is(by, &kernel::REDUCE));
        let summed = match self.step {
            1 => self.wide.contains(&given),
            _ => reduced.is_some() && once(given),
        };
        let scalar = ir.value_kind(next).dtype().filter(|_| !is_vector(ir, next));
        let lanes = scalar.is_some_and(|dtype| DTypes::COMPUTED.contains(dtype));
        let plain = lanes && ir.def(by)?.class == OpClass::Elementwise;
        Some(summed && plain && once(own) && once(next))
    }
}

/// True if an index grows by one with the induction variable, false if it is constant; `None` otherwise.
pub(super) fn moves(ir: &Ir, iv: Value, index: Value) -> Option<bool> {
    if !is_index(ir, index) {
        return Some(false);
    }
    let mut factor = 0;
    for (product, &times) in &sum(ir, index)?.0 {
        let inside = |value| ir.def_block(value) == ir.def_block(iv);
        if product.iter().any(|unknown| inside(unknown.value)) {
            // Of the others in the loop nothing is known.
            let alone = product.len() == 1 && product[0].value == iv;
            factor = Some(times).filter(|_| alone)?;
        }
    }
    match factor {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

/// An index as a sum.
fn sum(ir: &Ir, index: Value) -> Option<Sum> {
    Sum::of(ir, index, &mut |value| value)
}

/// The terms that count modulo a number, with factors below it.
fn modulo(sum: &Sum, of: i64) -> Sum {
    let terms = sum
        .0
        .iter()
        .map(|(product, factor)| (product.clone(), factor.rem_euclid(of)));
    Sum(terms.filter(|term| term.1 != 0).collect())
}

fn is_index(ir: &Ir, value: Value) -> bool {
    matches!(ir.value_kind(value), TypeKind::Scalar(DType::Index))
}

fn is_vector(ir: &Ir, value: Value) -> bool {
    matches!(ir.value_kind(value), TypeKind::Vector { .. })
}
