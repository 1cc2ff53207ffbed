//! Disjointness of the elements that two thread loops in a row touch, like a vector loop and its scalar remainder.
//!
//! ```text
//! kernel.for 0, %whole, 8 map "thread"  { ... kernel.store %v, %y, (%base + %i) : vector<8xf32> }   // %whole = %n - %n % 8
//! kernel.for %whole, %n, 1 map "thread" { ... kernel.store %w, %y, (%base + %i) : f32 }
//! ```
//!
//! They are disjoint if the second begins at the end of the first, the first's range is a multiple of its step, and
//! every access to a buffer that both touch is at one base plus the induction variable and no wider than the step. "No"
//! is always a safe answer.

use fuser_dialects::kernel;
use fuser_ir::def::Computes;
use fuser_ir::{Def, Ir, Op, Value};

use crate::lower::arith;
use crate::lower::types::shape;

/// Pairs of values that the comparison of two index expressions looks at before it gives up.
const MAX_PAIRS: usize = 64;

/// True if the accesses of `first` and `second` to the buffers for which `shared` holds are disjoint.
pub fn continues(ir: &Ir, first: Op, second: Op, shared: impl Fn(Value) -> bool) -> bool {
    let (Some(one), Some(two)) = (Range::of(ir, first), Range::of(ir, second)) else {
        return false;
    };
    if one.upper != two.lower || !one.is_whole(ir) {
        return false;
    }
    let (Some(accesses), Some(others)) = (accesses(ir, &one, &shared), accesses(ir, &two, &shared))
    else {
        return false;
    };
    let Some(&(base, _)) = accesses.first() else {
        return true;
    };
    let mut bases = accesses.iter().chain(&others).map(|(base, _)| *base);
    bases.all(|other| same_base(ir, base, other))
}

/// A thread loop's bounds and induction variable.
struct Range {
    op: Op,
    lower: Value,
    upper: Value,
    step: i64,
    index: Value,
}

impl Range {
    fn of(ir: &Ir, op: Op) -> Option<Self> {
        let mut operands = ir.operands(op);
        let (lower, upper, step) = (operands.next()?, operands.next()?, operands.next()?);
        let index = *ir.args(ir.body(op, 0)?).first()?;
        let step = constant(ir, step).filter(|&step| step > 0)?;
        Some(Range {
            op,
            lower,
            upper,
            step,
            index,
        })
    }

    /// True if the step divides the range, as far as its bounds tell.
    fn is_whole(&self, ir: &Ir) -> bool {
        if self.step == 1 {
            return true;
        }
        let lower = constant(ir, self.lower);
        if let (Some(lower), Some(upper)) = (lower, constant(ir, self.upper)) {
            return upper
                .checked_sub(lower)
                .is_some_and(|length| length % self.step == 0);
        }
        self.is_rounded_down(ir).unwrap_or(false)
    }

    /// True if the end is `n - (n - lower) % step`.
    fn is_rounded_down(&self, ir: &Ir) -> Option<bool> {
        let [n, rest] = operands_of(ir, self.upper, Computes::Sub)?;
        let [length, by] = operands_of(ir, rest, Computes::Rem)?;
        let from_zero = length == n && constant(ir, self.lower) == Some(0);
        let from_lower = operands_of(ir, length, Computes::Sub) == Some([n, self.lower]);
        Some((from_zero || from_lower) && constant(ir, by) == Some(self.step))
    }
}

/// The base and width of every access to a shared buffer; `None` where one is not at a base plus the induction variable.
fn accesses(
    ir: &Ir,
    range: &Range,
    shared: &impl Fn(Value) -> bool,
) -> Option<Vec<(Option<Value>, i64)>> {
    let mut found = Vec::new();
    for op in ir.walk(range.op) {
        let (memory, value) = if ir.is(op, &kernel::LOAD) {
            (ir.operands(op).next()?, *ir.results(op).first()?)
        } else if ir.is(op, &kernel::LOAD_WITHIN) {
            // Its last operand is no address.
            match shared(ir.operands(op).next()?) {
                true => return None,
                false => continue,
            }
        } else if ir.is(op, &kernel::STORE) {
            (ir.operands(op).nth(1)?, ir.operands(op).next()?)
        } else {
            continue;
        };
        if shared(memory) {
            let width = i64::from(shape(ir, value)?.lanes.unwrap_or(1));
            let base =
                base(ir, ir.operands(op).last()?, range.index).filter(|_| width <= range.step)?;
            found.push((base, width));
        }
    }
    Some(found)
}

/// The value added to the induction variable: none (`Some(None)`) or one.
fn base(ir: &Ir, index: Value, induction: Value) -> Option<Option<Value>> {
    if index == induction {
        return Some(None);
    }
    match operands_of(ir, index, Computes::Add)? {
        [base, i] | [i, base] if i == induction && base != induction => Some(Some(base)),
        _ => None,
    }
}

/// True if two bases are computed alike. Values that differ between two places, as induction variables do, are not.
fn same_base(ir: &Ir, a: Option<Value>, b: Option<Value>) -> bool {
    let (Some(a), Some(b)) = (a, b) else {
        return a == b;
    };
    let mut pending = vec![(a, b)];
    for _ in 0..MAX_PAIRS {
        let Some((a, b)) = pending.pop() else {
            return true;
        };
        if a == b {
            continue;
        }
        let (Def::Result(x, 0), Def::Result(y, 0)) = (ir.value_def(a), ir.value_def(b)) else {
            return false;
        };
        let alike = ir.name_id(x) == ir.name_id(y) && ir.attrs(x) == ir.attrs(y);
        if !alike || arith::rule(ir, x).is_none() || ir.operand_count(x) != ir.operand_count(y) {
            return false;
        }
        pending.extend(ir.operands(x).zip(ir.operands(y)));
    }
    false
}

fn operands_of(ir: &Ir, value: Value, what: Computes) -> Option<[Value; 2]> {
    let op = ir.made_as(value, what)?;
    let operands: Vec<Value> = ir.operands(op).collect();
    operands.try_into().ok()
}

fn constant(ir: &Ir, value: Value) -> Option<i64> {
    let op = ir.made_as(value, Computes::Constant)?;
    ir.int_of(op, "value")
}
