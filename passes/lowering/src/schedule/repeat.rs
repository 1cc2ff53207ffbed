//! Segments of equal form: the first one is scheduled, the others get copies of its sweeps.
//!
//! The layers of a network contain the same segment many times, and a plan depends on its segment alone. The single
//! exception is whether a permuted value is an argument (`is_permute` of `axes`); there the first segment of a form
//! decides for all. Each copied op keeps the names, the location and the position of the op that it replaces.

use fuser_dialects::task;
use fuser_dialects::task::{labels, positions};
use fuser_ir::clone::Mapping;
use fuser_ir::{Ir, Op, Value};
use rustc_hash::FxHashMap;

use super::apart::ops_of;
use super::arrange::Arranged;
use crate::form::{Form, ORIGINS, form_and_inputs};

/// A segment before it is scheduled.
pub struct Before {
    form: Form,
    inputs: Vec<Value>,
    /// The positions of its ops, in order.
    positions: Vec<Option<i64>>,
}

impl Before {
    /// That of `segment`.
    pub fn of(ir: &Ir, segment: Op) -> Self {
        let (form, inputs) = form_and_inputs(ir, segment, &ORIGINS);
        let ops = ops_of(ir, segment).into_iter();
        Self {
            form,
            inputs,
            positions: ops.map(|op| ir.int_of(op, positions::POSITION)).collect(),
        }
    }
}

/// A segment that was scheduled.
struct First {
    segment: Op,
    inputs: Vec<Value>,
    /// The number of the op of each position.
    numbers: FxHashMap<i64, usize>,
    arranged: Arranged,
}

/// The first segment of each form.
#[derive(Default)]
pub struct Repeats(FxHashMap<Form, First>);

impl Repeats {
    /// Remembers that `segment` was scheduled.
    pub fn learn(&mut self, before: Before, segment: Op, arranged: &Arranged) {
        let positions = before.positions.iter().enumerate();
        let numbers: FxHashMap<i64, usize> =
            positions.filter_map(|(n, &p)| Some((p?, n))).collect();
        // Copies of one op in one segment would not be told apart.
        if numbers.len() == before.positions.len() {
            let first = First {
                segment,
                inputs: before.inputs,
                numbers,
                arranged: arranged.clone(),
            };
            self.0.insert(before.form, first);
        }
    }

    /// Schedules `segment` as the first segment of its form was, and returns the arrangement; `None` if it is the first
    /// one.
    pub fn repeat(&self, ir: &mut Ir, segment: Op, before: &Before) -> Option<Arranged> {
        let first = self.0.get(&before.form)?;
        let body = ir.body(segment, 0)?;
        let mut map = Mapping::default();
        let pairs = first.inputs.iter().zip(&before.inputs);
        pairs.for_each(|(&from, &to)| map.insert(from, to));
        let (origins, old) = (ops_of(ir, segment), ir.children(segment));
        let copies: Vec<Op> = ir.children(first.segment);
        let copies: Vec<Op> = copies
            .into_iter()
            .map(|op| ir.clone_op(op, &mut map))
            .collect();
        for op in copies
            .iter()
            .flat_map(|&copy| ir.walk(copy))
            .rev()
            .collect::<Vec<_>>()
        {
            let position = ir.int_of(op, positions::POSITION);
            let number = position.and_then(|position| first.numbers.get(&position));
            match number.map(|&number| origins[number]) {
                Some(origin) => take_origin(ir, op, origin),
                None => take_origin_of_content(ir, op),
            }
        }
        old.into_iter().rev().for_each(|op| ir.erase(op));
        copies.into_iter().for_each(|op| ir.append_op(body, op));
        Some(first.arranged.clone())
    }
}

/// Gives a copy what says where `origin` came from.
fn take_origin(ir: &mut Ir, copy: Op, origin: Op) {
    for name in [positions::POSITION, labels::LABEL] {
        match ir.get_attr(origin, name) {
            Some(value) => ir.set_attr(copy, name, value),
            None => ir.remove_attr(copy, name),
        }
    }
    let loc = ir.op_loc(origin);
    ir.set_loc(copy, loc);
    ir.spans.share(origin, copy);
    for index in 0..ir.results(copy).len() {
        let name = ir.value_name_sym(ir.result(origin, index));
        ir.set_value_name(ir.result(copy, index), name);
    }
}

/// Gives a copied boundary the location of its last op, and its results the names of the yielded values.
fn take_origin_of_content(ir: &mut Ir, boundary: Op) {
    let end = ir.body(boundary, 0).and_then(|body| ir.terminator(body));
    let Some(end) = end.filter(|&end| ir.is(end, &task::YIELD)) else {
        return;
    };
    if let Some(last) = ir.prev_op(end) {
        let loc = ir.op_loc(last);
        ir.set_loc(boundary, loc);
        ir.set_loc(end, loc);
    }
    for index in 0..ir.results(boundary).len().min(ir.operand_count(end)) {
        let name = ir.value_name_sym(ir.operand(end, index));
        ir.set_value_name(ir.result(boundary, index), name);
    }
}
