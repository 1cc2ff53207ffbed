//! Integer tensors whose elements are known: affine in the digits of their position.
//!
//! ```text
//! %i = fusion.iota dim 0 shape [4] of i64
//! %r = fusion.broadcast %i dims [0] shape [4, 6]       // start 0, axes [(4, 1)], [(6, 0)]
//! %s = fusion.mul %r, 8                                // start 0, axes [(4, 8)], [(6, 0)]
//! %t = fusion.add %s, %columns                         // start 0, axes [(4, 8)], [(6, 1)]
//! %u = fusion.reshape %t shape [24]                    // start 0, axes [(4, 8), (6, 1)]
//! ```
//!
//! Follows index arithmetic as frontends write it: comparisons and choices are decided by the ranges of their operands. A result that may
//! leave its type is not known. Looks at a bounded number of ops, and changes nothing.

use fuser_dialects::fusion::{self, maps};
use fuser_ir::def::Computes;
use fuser_ir::{Ir, Op, Value};

use super::super::parts::sizes;

/// Ops that are looked at for one tensor, and how deep.
const MOST_OPS: usize = 512;
const MOST_DEPTH: usize = 64;

/// A digit of the position along an axis: its length, and how far the element moves with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Digit {
    pub count: i128,
    pub step: i128,
}

/// The elements of a tensor: `start`, and for each digit of each axis its step times its index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Affine {
    pub start: i128,
    /// The digits of each axis, the slowest one first; digits of length 1 are omitted.
    pub axes: Vec<Vec<Digit>>,
}

impl Affine {
    /// The elements of `value`; `None` if they are unknown, or if there are none.
    pub fn of(ir: &Ir, value: Value) -> Option<Self> {
        let whole: Vec<Span> = sizes(ir, value)?.into_iter().map(Span::whole).collect();
        let mut reader = Reader { ir, left: MOST_OPS };
        reader.read(value, &whole, 0)
    }
    /// The least and the greatest element.
    pub fn range(&self) -> (i128, i128) {
        let digits = self.axes.iter().flatten();
        digits.fold((self.start, self.start), |(low, high), digit| {
            let far = (digit.count - 1) * digit.step;
            (low + far.min(0), high + far.max(0))
        })
    }
    /// The element that all are.
    fn constant(&self) -> Option<i128> {
        let (low, high) = self.range();
        (low == high).then_some(low)
    }
    fn splat(value: i128, window: &[Span]) -> Self {
        let axes = window.iter().map(|span| vec![span.digit(0)]);
        Self::tidy(value, axes.collect())
    }
    fn tidy(start: i128, mut axes: Vec<Vec<Digit>>) -> Self {
        axes.iter_mut().for_each(join);
        Self { start, axes }
    }
    fn scaled(mut self, factor: i128) -> Option<Self> {
        self.start = self.start.checked_mul(factor)?;
        for digit in self.axes.iter_mut().flatten() {
            digit.step = digit.step.checked_mul(factor)?;
        }
        Some(Self::tidy(self.start, self.axes))
    }
    fn plus(self, other: Self) -> Option<Self> {
        let start = self.start.checked_add(other.start)?;
        let pairs = self.axes.into_iter().zip(other.axes);
        let axes: Option<Vec<Vec<Digit>>> = pairs.map(|(a, b)| summed(a, b)).collect();
        Some(Self::tidy(start, axes?))
    }
    fn minus(self, other: Self) -> Option<Self> {
        self.plus(other.scaled(-1)?)
    }
}

/// Drops digits of length 1 and joins those that are one run.
fn join(digits: &mut Vec<Digit>) {
    let mut runs: Vec<Digit> = Vec::new();
    for digit in digits.drain(..).filter(|digit| digit.count != 1) {
        match runs.last_mut() {
            Some(outer) if outer.step == digit.step * digit.count => {
                *outer = Digit {
                    count: outer.count * digit.count,
                    step: digit.step,
                };
            }
            _ => runs.push(digit),
        }
    }
    *digits = runs;
}

/// The sum of two axes of one length, digit by digit; `None` where their digits have no common refinement.
fn summed(mut a: Vec<Digit>, mut b: Vec<Digit>) -> Option<Vec<Digit>> {
    let mut sum = Vec::new();
    // Digits of length 1 are left out, so the two end together.
    while let (Some(x), Some(y)) = (a.pop(), b.pop()) {
        let count = x.count.min(y.count);
        for (digit, rest) in [(x, &mut a), (y, &mut b)] {
            if digit.count % count != 0 {
                return None;
            }
            if digit.count != count {
                rest.push(Digit {
                    count: digit.count / count,
                    step: digit.step.checked_mul(count)?,
                });
            }
        }
        let step = x.step.checked_add(y.step)?;
        sum.push(Digit { count, step });
    }
    sum.reverse();
    Some(sum)
}

/// The part of an axis that is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Span {
    from: i64,
    count: i64,
}

impl Span {
    const fn whole(count: i64) -> Self {
        Self { from: 0, count }
    }
    fn digit(self, step: i128) -> Digit {
        let count = self.count.into();
        Digit { count, step }
    }
}

struct Reader<'a> {
    ir: &'a Ir,
    /// Ops that may still be looked at.
    left: usize,
}

impl Reader<'_> {
    /// The elements of `value` within a window.
    fn read(&mut self, value: Value, window: &[Span], depth: usize) -> Option<Affine> {
        self.left = self.left.checked_sub(1)?;
        let dtype = self.ir.value_kind(value).dtype()?;
        let op = self.ir.def_op(value).filter(|_| depth < MOST_DEPTH)?;
        if !dtype.is_int() && dtype.bits() != 1 || window.iter().any(|span| span.count < 1) {
            return None;
        }
        let read = match self.ir.computes(op) {
            Some(Computes::Constant) => {
                return Some(Affine::splat(self.ir.constant_int(value)?, window));
            }
            Some(_) => self.computed(op, window, depth + 1),
            None => self
                .compared(op, window, depth + 1)
                .or_else(|| self.shaped(op, window, depth + 1)),
        }?;
        let (low, high) = read.range();
        let (least, most) = match dtype.bits() {
            1 => (0, 1),
            _ => dtype.int_range(),
        };
        (least <= low && high <= most).then_some(read)
    }
    /// Operand `index` of an elementwise op.
    fn operand(&mut self, op: Op, index: usize, window: &[Span], depth: usize) -> Option<Affine> {
        let value = self.ir.operands(op).nth(index)?;
        if self.ir.rank(value) != 0 {
            return self.read(value, window, depth);
        }
        let scalar = self.read(value, &[], depth)?;
        Some(Affine::splat(scalar.start, window))
    }
    /// The results of arithmetic and choices.
    fn computed(&mut self, op: Op, window: &[Span], depth: usize) -> Option<Affine> {
        let what = self.ir.computes(op)?;
        match what {
            Computes::Full => self.operand(op, 0, window, depth),
            Computes::Cast => self.operand(op, 0, window, depth),
            Computes::Index => {
                let dim = usize::try_from(self.ir.int_of(op, "dim")?).ok()?;
                let mut index = Affine::splat(0, window);
                let span = window.get(dim)?;
                index.start = span.from.into();
                index.axes[dim] = vec![span.digit(1)];
                Some(Affine::tidy(index.start, index.axes))
            }
            Computes::Choice => {
                let holds = self.operand(op, 0, window, depth)?.constant()?;
                self.operand(op, if holds == 0 { 2 } else { 1 }, window, depth)
            }
            Computes::And => self.both(op, window, depth, 0),
            Computes::Add | Computes::Sub | Computes::Mul | Computes::Max | Computes::Min => {
                let a = self.operand(op, 0, window, depth)?;
                let b = self.operand(op, 1, window, depth)?;
                match what {
                    Computes::Add => a.plus(b),
                    Computes::Sub => a.minus(b),
                    Computes::Mul => match (a.constant(), b.constant()) {
                        (_, Some(factor)) => a.scaled(factor),
                        (Some(factor), _) => b.scaled(factor),
                        _ => None,
                    },
                    _ => {
                        let (low, high) = a.clone().minus(b.clone())?.range();
                        let first = (what == Computes::Max && low >= 0)
                            || (what == Computes::Min && high <= 0);
                        let second = (what == Computes::Max && high <= 0)
                            || (what == Computes::Min && low >= 0);
                        match (first, second) {
                            (true, _) => Some(a),
                            (_, true) => Some(b),
                            _ => None,
                        }
                    }
                }
            }
            _ => None,
        }
    }
    /// Two truth values of which one that is `decides` decides.
    fn both(&mut self, op: Op, window: &[Span], depth: usize, decides: i128) -> Option<Affine> {
        let a = self.operand(op, 0, window, depth)?.constant()?;
        let b = self.operand(op, 1, window, depth)?.constant()?;
        let is_truth = |value| matches!(value, 0 | 1);
        let value = if a == decides { a } else { b };
        (is_truth(a) && is_truth(b)).then(|| Affine::splat(value, window))
    }
    /// Comparisons decided by the ranges of their operands, and logical ops on such comparisons.
    fn compared(&mut self, op: Op, window: &[Span], depth: usize) -> Option<Affine> {
        if self.ir.is(op, &fusion::OR) {
            return self.both(op, window, depth, 1);
        }
        if self.ir.is(op, &fusion::NOT) {
            let value = self.operand(op, 0, window, depth)?.constant()?;
            return matches!(value, 0 | 1).then(|| Affine::splat(1 - value, window));
        }
        if !self.ir.is(op, &fusion::COMPARE) {
            return None;
        }
        let a = self.operand(op, 0, window, depth)?;
        let b = self.operand(op, 1, window, depth)?;
        let (low, high) = a.minus(b)?.range();
        let never = low > 0 || high < 0;
        let always = low == 0 && high == 0;
        let (holds, fails) = match self.ir.str_of(op, "predicate")? {
            "eq" => (always, never),
            "ne" => (never, always),
            "lt" => (high < 0, low >= 0),
            "le" => (high <= 0, low > 0),
            "gt" => (low > 0, high <= 0),
            "ge" => (low >= 0, high < 0),
            _ => return None,
        };
        (holds || fails).then(|| Affine::splat(holds.into(), window))
    }
    /// Ops that move elements.
    fn shaped(&mut self, op: Op, window: &[Span], depth: usize) -> Option<Affine> {
        let ir = self.ir;
        let family = |family| ir.def(op).is_some_and(|def| def.has_maps(family));
        let input = ir.operands(op).next()?;
        let axes = |name: &str| -> Option<Vec<usize>> {
            let axes = ir.i64s_of(op, name)?.iter();
            axes.map(|&axis| usize::try_from(axis).ok()).collect()
        };
        if ir.is(op, &fusion::COPY) {
            return self.read(input, window, depth);
        }
        if family(&maps::BROADCAST) || family(&maps::PERMUTE) {
            let dims = axes("dims")?;
            let (mut own, mut spread) = (Vec::new(), Affine::splat(0, window));
            if family(&maps::PERMUTE) {
                let mut back = vec![Span::whole(0); dims.len()];
                for (&axis, &span) in dims.iter().zip(window) {
                    *back.get_mut(axis)? = span;
                }
                let read = self.read(input, &back, depth)?;
                let axes = dims.iter().map(|&axis| read.axes[axis].clone());
                return Some(Affine::tidy(read.start, axes.collect()));
            }
            for &axis in &dims {
                own.push(*window.get(axis)?);
            }
            let read = self.read(input, &own, depth)?;
            for (&axis, digits) in dims.iter().zip(read.axes) {
                spread.axes[axis] = digits;
            }
            return Some(Affine::tidy(read.start, spread.axes));
        }
        let own = sizes(ir, input)?;
        if family(&maps::EXPAND) {
            let repeated = |axis: usize| own[axis] == 1;
            let inner = window.iter().enumerate();
            let inner = inner.map(|(axis, &span)| match repeated(axis) {
                true => Span::whole(1),
                false => span,
            });
            let mut read = self.read(input, &inner.collect::<Vec<Span>>(), depth)?;
            for (axis, &span) in window.iter().enumerate().filter(|(a, _)| repeated(*a)) {
                read.axes[axis] = vec![span.digit(0)];
            }
            return Some(Affine::tidy(read.start, read.axes));
        }
        if family(&maps::FLIP) {
            let dims = axes("dims")?;
            let mut inner = window.to_vec();
            for &axis in &dims {
                let span = inner.get_mut(axis)?;
                span.from = own[axis] - span.from - span.count;
            }
            let mut read = self.read(input, &inner, depth)?;
            for digit in dims.iter().flat_map(|&axis| axis..=axis) {
                for digit in &mut read.axes[digit] {
                    read.start += (digit.count - 1) * digit.step;
                    digit.step = -digit.step;
                }
            }
            return Some(read);
        }
        if family(&maps::SLICE) {
            let starts = ir.i64s_of(op, "starts")?;
            let plain = ir.get_attr(op, "strides").is_none();
            let moved = window.iter().zip(starts).map(|(span, start)| Span {
                from: span.from + start,
                ..*span
            });
            let moved: Vec<Span> = moved.collect();
            return self.read(input, &moved, depth).filter(|_| plain);
        }
        if family(&maps::CAT) {
            return self.part(op, window, depth);
        }
        let whole = |&(span, &length): &(&Span, &i64)| *span == Span::whole(length);
        let result = sizes(ir, *ir.results(op).first()?)?;
        let is_whole = window.iter().zip(&result).all(|pair| whole(&pair));
        if !(family(&maps::RESHAPE) || family(&maps::SQUEEZE)) || !is_whole {
            return None;
        }
        let own: Vec<Span> = own.into_iter().map(Span::whole).collect();
        let read = self.read(input, &own, depth)?;
        Some(Affine::tidy(read.start, regrouped(read.axes, &result)?))
    }
    /// A cat, where one part has the window.
    fn part(&mut self, cat: Op, window: &[Span], depth: usize) -> Option<Affine> {
        let dim = usize::try_from(self.ir.int_of(cat, "dim")?).ok()?;
        let mut inner = window.to_vec();
        for part in self.ir.operands(cat) {
            let length = *sizes(self.ir, part)?.get(dim)?;
            let span = inner.get_mut(dim)?;
            if span.from + span.count <= length {
                return self.read(part, &inner, depth);
            }
            span.from -= length;
            if span.from < 0 {
                return None;
            }
        }
        None
    }
}

/// Digits regrouped for axes of other lengths.
fn regrouped(axes: Vec<Vec<Digit>>, lengths: &[i64]) -> Option<Vec<Vec<Digit>>> {
    let mut digits: Vec<Digit> = axes.into_iter().flatten().collect();
    let mut made = Vec::new();
    for &length in lengths.iter().rev() {
        let (mut left, mut own) = (i128::from(length), Vec::new());
        while left > 1 {
            let digit = digits.pop()?;
            let count = digit.count.min(left);
            if digit.count % count != 0 || left % count != 0 {
                return None;
            }
            if digit.count != count {
                digits.push(Digit {
                    count: digit.count / count,
                    step: digit.step.checked_mul(count)?,
                });
            }
            left /= count;
            own.push(Digit { count, ..digit });
        }
        own.reverse();
        made.push(own);
    }
    made.reverse();
    Some(made)
}
