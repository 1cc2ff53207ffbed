//! Loops that stay loops: the regions of a `while` as separate programs.
//!
//! ```text
//! %r:2 = stablehlo.while(%i = %zero, %a = %x)          %r, %a, %k = task.loop %zero, %x, %w turns 1000 body @loop_0
//!   cond { compare LT, %i, 1000 }                 =>   task.program @loop_0(%i, %a, %w) { ... task.return %j, %b, %w }
//!   do { ... %w ... }
//! ```
//!
//! Outer values that a region uses are carried, and the body returns them unchanged; values computed from constants are
//! recomputed inside. A complex number is carried as two parts. A condition that compares a counter with a constant
//! becomes a number of turns.

use std::collections::{HashMap, HashSet};

use fuser_dialects::{fusion, task};
use fuser_ir::clone::Mapping;
use fuser_ir::{DType, Extent, Ir, Op, Value, describe};

use super::ast::{self, Block, Item, Param};
use super::control::Results;
use super::{Frame, Importer, op};
use crate::program::{Fault, Inner, Made};

/// The most operations of a loop, over all turns, for which it is unrolled.
const MAX_UNROLLED: u64 = 512;

/// The most ops by which a value is made again in a loop.
const MAX_REMADE: usize = 8;

/// A loop whose programs were read.
pub(super) struct Looped {
    condition: Op,
    body: Op,
    /// The values of the first turn: those in the text, followed by outer ones.
    operands: Vec<Value>,
    /// The number of turns, where it follows from constants.
    pub turns: Option<u64>,
}

impl Looped {
    /// True if writing out all turns makes few operations.
    pub fn is_short(&self, ir: &Ir) -> bool {
        let ops = ir.walk(self.body).len() as u64;
        self.turns
            .is_some_and(|turns| turns.saturating_mul(ops) <= MAX_UNROLLED)
    }
}

/// The role of a region of a loop or a branch.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Region {
    /// Yields a truth value.
    Condition,
    /// Yields values of the types that the loop carries.
    Body,
    /// Yields the results of a branch, and does not name the values that it takes.
    Side,
}

/// The values that a loop carries: those of the text, and outer values that its regions use. A branch has outer ones,
/// and as its own at most the index of a side.
pub(super) struct Carried<'s> {
    /// The names of the text.
    names: Vec<&'s str>,
    /// All values, and how many of them are the text's.
    values: Vec<Value>,
    own: usize,
    /// The parts by which each is carried.
    pub parts: Vec<Vec<Value>>,
    /// Outer names, each with the values that it stands for.
    outside: Vec<(&'s str, Vec<Option<Value>>)>,
}

impl<'s> Importer<'s> {
    /// Reads the regions of a `while` as programs; `None` if they have mistakes, which are reported.
    pub(super) fn looped(
        &mut self,
        op: &'s ast::Op,
        [condition, body]: [&'s Block; 2],
        first: &[Value],
        frame: &Frame<'s>,
    ) -> Made<Option<Looped>> {
        let names = self.carried_names(op);
        let carried = self.carried(names, first.to_vec(), &[condition, body], frame)?;
        let symbol = self.draft.symbol("loop");
        let asked = self.region(condition, &carried, frame, Region::Condition)?;
        let turn = self.region(body, &carried, frame, Region::Body)?;
        let (Some(asked), Some(turn)) = (asked, turn) else {
            return Ok(None);
        };
        let condition =
            self.draft
                .add(asked.inner, &format!("{symbol}_condition"), &asked.results)?;
        let body = self.draft.add(turn.inner, &symbol, &turn.results)?;
        let operands = carried.parts.concat();
        let turns = turns(&self.draft.ir, [condition, body], &operands);
        Ok(Some(Looped {
            condition,
            body,
            operands,
            turns,
        }))
    }
    /// The values that programs of a loop or a branch take: these, and outer ones that its regions use.
    pub(super) fn carried(
        &mut self,
        names: Vec<&'s str>,
        values: Vec<Value>,
        regions: &[&'s Block],
        frame: &Frame<'s>,
    ) -> Made<Carried<'s>> {
        let mut carried = Carried {
            names,
            own: values.len(),
            values,
            parts: Vec::new(),
            outside: self.outside(regions, frame),
        };
        let mut seen = HashSet::new();
        for &value in carried.outside.iter().flat_map(|(_, list)| list).flatten() {
            if remade(&self.draft.ir, value).is_none() && seen.insert(value) {
                carried.values.push(value);
            }
        }
        for &value in &carried.values {
            carried.parts.push(self.parts(value)?);
        }
        Ok(carried)
    }
    /// The loop as an op; its results are the values of the text.
    pub(super) fn emit_loop(&mut self, looped: &Looped, first: &[Value]) -> Made<Results> {
        let programs = [looped.condition, looped.body];
        let [condition, body] = programs.map(|program| self.draft.reference(program));
        let ir = &mut self.draft.ir;
        let ending = match looped.turns.and_then(|turns| i64::try_from(turns).ok()) {
            Some(turns) => ("turns", ir.int_attr(turns)),
            None => ("condition", condition),
        };
        let clauses = [ending, ("body", body)];
        let mut builder = self.draft.builder();
        let made = builder.op(&task::LOOP, &looped.operands, &clauses)?;
        let mut results = self.draft.ir.results(made).to_vec().into_iter();
        let whole = |&value: &Value| Ok(Some(self.joined(self.draft.dtype(value), &mut results)?));
        first.iter().map(whole).collect()
    }

    /// The parts in which a loop carries a value: two for a complex number.
    pub(super) fn parts(&mut self, value: Value) -> Made<Vec<Value>> {
        if !self.draft.dtype(value).is_complex() {
            return Ok(vec![self.draft.stored(value)?]);
        }
        let parts = [&fusion::REAL, &fusion::IMAG].map(|part| {
            let part = self.draft.make(part, &[value])?;
            self.draft.stored(part)
        });
        parts.into_iter().collect()
    }
    /// The value with elements of `dtype` assembled from the next parts.
    pub(super) fn joined(&mut self, dtype: DType, parts: &mut impl Iterator<Item = Value>) -> Made {
        let mut part = || {
            parts
                .next()
                .ok_or_else(|| Fault::form("has too few values"))
        };
        let first = part()?;
        match dtype.is_complex() {
            true => {
                let second = part()?;
                self.draft.make(&fusion::COMPLEX, &[first, second])
            }
            false => Ok(first),
        }
    }
    /// Reads a region as the open block of a program; `None` if it has mistakes.
    pub(super) fn region(
        &mut self,
        block: &'s Block,
        carried: &Carried<'s>,
        frame: &Frame<'s>,
        role: Region,
    ) -> Made<Option<Open>> {
        let outer = self.draft.begin();
        let results = self.region_results(block, carried, frame, role);
        let inner = self.draft.leave(outer);
        let Some(results) = results? else {
            return Ok(None);
        };
        Ok(Some(Open { inner, results }))
    }
    fn region_results(
        &mut self,
        block: &'s Block,
        carried: &Carried<'s>,
        frame: &Frame<'s>,
        role: Region,
    ) -> Made<Option<Vec<Value>>> {
        let mut arguments = Vec::new();
        for (at, parts) in carried.parts.iter().enumerate() {
            let name = carried
                .names
                .get(at)
                .map(|name| name.trim_start_matches('%'));
            let own = parts.iter().map(|&part| {
                let ty = self.draft.ir.value_type(part);
                let name = name.map(str::to_owned);
                let name = name.or_else(|| self.draft.ir.value_name(part).map(str::to_owned));
                self.draft.argument(ty, &name.unwrap_or_default())
            });
            arguments.push(own.collect::<Vec<Value>>());
        }
        let mut inside = HashMap::new();
        let mut own: Results = Vec::new();
        for (at, &value) in carried.values.iter().enumerate() {
            let dtype = self.draft.dtype(value);
            let whole = self.joined(dtype, &mut arguments[at].iter().copied())?;
            match at < carried.own {
                true => own.push(Some(whole)),
                false => drop(inside.insert(value, whole)),
            }
        }
        let mut inner = Frame {
            call: frame.call,
            depth: frame.depth,
            ..Frame::default()
        };
        for (name, list) in &carried.outside {
            let mut values = Vec::new();
            for value in list {
                values.push(value.map(|value| self.inside(value, &mut inside)));
            }
            inner.values.insert(name, values);
        }
        self.bind(block, &carried.names, &own, &mut inner);
        let errors = self.draft.found.items.len();
        let given: Option<Vec<Value>> = self.block(block, &mut inner).into_iter().collect();
        let Some(given) = given.filter(|_| self.draft.found.items.len() == errors) else {
            return Ok(None);
        };
        match role {
            Region::Condition => return Ok(Some(given)),
            Region::Side => {
                let parts = given.into_iter().map(|value| self.parts(value));
                return Ok(Some(parts.collect::<Made<Vec<_>>>()?.concat()));
            }
            Region::Body => {}
        }
        if given.len() != carried.own {
            let text = format!(
                "carries {} values, its body gives {}",
                carried.own,
                given.len()
            );
            return Err(Fault::form(text));
        }
        let mut results = Vec::new();
        for (at, value) in given.into_iter().enumerate() {
            results.extend(self.parts(value)?);
            let both = [carried.values[at], value];
            let [own, other] = both.map(|value| {
                let dims = self.draft.dims(value).into_iter();
                let extents: Vec<Extent> = dims.map(|dim| dim.extent).collect();
                (extents, self.draft.dtype(value))
            });
            if own != other {
                let ir = &self.draft.ir;
                let [takes, gives] = both.map(|value| describe::ty(ir, ir.value_type(value)));
                let text = format!("carries a `{takes}` as value {at}, its body gives a `{gives}`");
                return Err(Fault::form(text));
            }
        }
        results.extend(arguments[carried.own..].iter().flatten());
        Ok(Some(results))
    }
    /// An outer value inside a region: an argument, or a recomputed value.
    fn inside(&mut self, value: Value, known: &mut HashMap<Value, Value>) -> Value {
        if let Some(&inside) = known.get(&value) {
            return inside;
        }
        let mut map = Mapping::default();
        for op in remade(&self.draft.ir, value).unwrap_or_default() {
            let copy = self.draft.ir.clone_op(op, &mut map);
            self.draft.append(copy);
            let pairs = self
                .draft
                .ir
                .results(op)
                .iter()
                .zip(self.draft.ir.results(copy));
            known.extend(pairs.map(|(&old, &new)| (old, new)));
        }
        known.get(&value).copied().unwrap_or(value)
    }
    /// The names from outside that regions use, in the order of the text.
    fn outside(
        &self,
        regions: &[&'s Block],
        frame: &Frame<'s>,
    ) -> Vec<(&'s str, Vec<Option<Value>>)> {
        let (mut used, mut defined) = (Vec::new(), HashSet::new());
        let mut waiting: Vec<&'s Block> = regions.iter().rev().copied().collect();
        let base = |name: &'s str| name.split_once('#').map_or(name, |(base, _)| base);
        while let Some(block) = waiting.pop() {
            defined.extend(block.args.iter().map(|(name, ..)| self.text(*name)));
            for op in &block.ops {
                used.extend(
                    op::operands(op)
                        .into_iter()
                        .map(|span| base(self.text(span))),
                );
                defined.extend(op.results.iter().map(|(name, _)| self.text(*name)));
                let lists = op.items.iter().filter_map(|item| match item {
                    Item::Parens(list) => Some(list),
                    _ => None,
                });
                defined.extend(lists.flatten().filter_map(|param| match param {
                    Param::Bound(name, _) | Param::Typed(name, ..) => Some(self.text(*name)),
                    _ => None,
                }));
                waiting.extend(op::blocks(op));
            }
        }
        let mut seen = HashSet::new();
        used.retain(|&name| !defined.contains(name) && seen.insert(name));
        let found = used.into_iter();
        let found = found.filter_map(|name| Some((name, frame.values.get(name)?.clone())));
        found.collect()
    }
}

/// The block of a program that was read, with the values that it yields.
pub(super) struct Open {
    pub inner: Inner,
    pub results: Vec<Value>,
}

/// The chain of unary ops that computes a value from a constant, if it is short.
fn remade(ir: &Ir, value: Value) -> Option<Vec<Op>> {
    let mut ops = vec![ir.def_op(value)?];
    loop {
        let last = *ops.last()?;
        let mut operands = ir.operands(last);
        match (operands.next(), operands.next()) {
            _ if !ir.op_regions(last).is_empty() || ops.len() > MAX_REMADE => return None,
            (None, _) => break,
            (Some(operand), None) => ops.push(ir.def_op(operand)?),
            _ => return None,
        }
    }
    ops.reverse();
    Some(ops)
}

/// The turns of a loop whose condition compares a counter with a constant.
fn turns(ir: &Ir, [condition, body]: [Op; 2], operands: &[Value]) -> Option<u64> {
    let given = |program: Op, at: usize| {
        let end = ir.terminator(ir.body(program, 0)?)?;
        ir.operands(end).nth(at)
    };
    let argument = |program: Op, value: Value| {
        let args = ir.args(ir.body(program, 0)?);
        args.iter().position(|&arg| arg == value)
    };
    // A constant of a program, or a constant that the loop carries unchanged.
    let constant = |program: Op, value: Value| match argument(program, value) {
        Some(at) if task::calls::is_invariant(ir, body, at) => ir.constant_int(*operands.get(at)?),
        Some(_) => None,
        None => ir.constant_int(value),
    };
    let asked = ir.def_op(given(condition, 0)?)?;
    if !ir.is(asked, &fusion::COMPARE) {
        return None;
    }
    let [left, right] = [0, 1].map(|at| ir.operand(asked, at));
    let at = argument(condition, left)?;
    let bound = constant(condition, right)?;
    let next = ir.def_op(given(body, at)?)?;
    if !ir.is(next, &fusion::ADD) {
        return None;
    }
    let [a, b] = [0, 1].map(|at| ir.operand(next, at));
    let step = match (argument(body, a) == Some(at), argument(body, b) == Some(at)) {
        (true, false) => constant(body, b)?,
        (false, true) => constant(body, a)?,
        _ => return None,
    };
    let first = ir.constant_int(*operands.get(at)?)?;
    let last = match ir.str_of(asked, "predicate")? {
        "lt" if step > 0 => bound - 1,
        "le" if step > 0 => bound,
        _ => return None,
    };
    let turns = match first > last {
        true => 0,
        false => (last - first) / step + 1,
    };
    // The counter does not wrap on the way.
    let (_, most) = ir.value_kind(left).dtype()?.int_range();
    let end = turns.checked_mul(step)?.checked_add(first)?;
    (end <= most).then(|| u64::try_from(turns).ok()).flatten()
}
