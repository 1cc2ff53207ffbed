//! A reshape within a window: finds the element of the operand with the same row-major number.
//!
//! Dimensions fall into the smallest groups of equal size. Within each group, the number of an element is divided by
//! the lengths from the innermost one out. If quotient and remainder do not separate, the axis of the iteration space
//! must be split, or each possible quotient is a case of its own under a guard.

use fuser_ir::Op;
use fuser_ir::types::ExtentExpr;

use super::{Failure, Need, Point, Resolver, Step, Way, extents};
use crate::axes::window::form::{Form, Guard, Holds, is_natural};
use crate::axes::window::{MAX_PIECES, WindowRefusal};

/// A quotient and a remainder, and the guard under which they hold.
type Division = (Option<Guard>, Form, Form);

impl Resolver<'_> {
    /// The step for a reshape: dimensions fall into groups of equal size, and elements keep their order within each.
    pub(super) fn reshape(&mut self, op: Op, point: &Point) -> Result<Step, Failure> {
        let operand = self.ir.operand(op, 0);
        let (Some(from), Some(to)) = (extents(self.ir, operand), extents(self.ir, point.value))
        else {
            return Err(self.unknown());
        };
        if to.len() != point.index.len() {
            return Err(self.unknown());
        }
        let start = Point {
            value: operand,
            index: vec![Form::default(); from.len()],
            guards: point.guards.clone(),
        };
        let mut pieces = vec![(Vec::new(), start)];
        for (ours, theirs) in groups(&from, &to) {
            let mut number = Form::default();
            for axis in theirs {
                let digit = number.times(&to[axis]);
                let digit = digit.and_then(|n| n.plus(&point.index[axis]));
                number = digit.ok_or(self.unknown())?;
            }
            let long = |&axis: &usize| from[axis].as_constant() != Some(1);
            let ours: Vec<usize> = ours.filter(long).collect();
            let mut next = Vec::new();
            for (guards, to) in pieces {
                for (more, index) in self.digits(&number, &ours, &from)? {
                    let mut to = to.clone();
                    for (&axis, form) in ours.iter().zip(index) {
                        to.index[axis] = form;
                    }
                    let more: Vec<Guard> = more
                        .into_iter()
                        .filter(|g| !to.guards.contains(g))
                        .collect();
                    to.guards.extend(more.iter().cloned());
                    next.push(([guards.clone(), more].concat(), to));
                }
            }
            pieces = next;
            if pieces.len() > MAX_PIECES {
                break;
            }
        }
        self.divide(pieces)
    }

    /// The indices along `axes`, outermost first, of the element with number `number`; with guards if there are several
    /// cases.
    pub(super) fn digits(
        &self,
        number: &Form,
        axes: &[usize],
        lengths: &[ExtentExpr],
    ) -> Result<Vec<Way>, Failure> {
        // From the innermost axis: the number left to divide, and the digits known so far.
        let mut ways = vec![(Vec::new(), number.clone(), Vec::new())];
        for (place, &axis) in axes.iter().enumerate().rev() {
            let mut next = Vec::new();
            for (guards, left, digits) in ways {
                let outermost = place == 0;
                let parts = match outermost {
                    true => vec![(None, Form::default(), left)],
                    false => {
                        let mut outer = axes[..place].iter().map(|&a| lengths[a].as_constant());
                        let room = outer.try_fold(1i64, |n, e| n.checked_mul(e?));
                        self.part(&left, &lengths[axis], room)?
                    }
                };
                for (guard, quotient, rest) in parts {
                    let mut guards: Vec<Guard> = guards.clone();
                    guards.extend(guard);
                    let mut digits: Vec<Form> = digits.clone();
                    digits.insert(0, rest);
                    next.push((guards, quotient, digits));
                }
            }
            ways = next;
            if ways.len() > MAX_PIECES {
                let (op, limit) = (self.op, MAX_PIECES);
                return Err(Failure::Refused(WindowRefusal::TooManyPieces { op, limit }));
            }
        }
        Ok(ways.into_iter().map(|(g, _, d)| (g, d)).collect())
    }

    /// Quotient and remainder of `number` by `length`: one pair, or several pairs under guards. The quotient is less
    /// than `room`.
    fn part(
        &self,
        number: &Form,
        length: &ExtentExpr,
        room: Option<i64>,
    ) -> Result<Vec<Division>, Failure> {
        let (quotient, rest) = number.divided(length).ok_or(self.unknown())?;
        let guard = Guard {
            at: rest.clone(),
            extent: length.clone(),
        };
        if guard.holds(self.axes).ok_or(self.unknown())? == Holds::Always {
            return Ok(vec![(None, quotient, rest)]);
        }
        // Rows longer than the length by a few elements: a row begins further on in the operand's than the one before.
        if let Some((more, rest)) = rest.folded(length) {
            let guard = Guard {
                at: rest.clone(),
                extent: length.clone(),
            };
            if guard.holds(self.axes).ok_or(self.unknown())? == Holds::Always {
                let quotient = quotient.plus(&more).ok_or(self.unknown())?;
                return Ok(vec![(None, quotient, rest)]);
            }
        }
        if let Some(need) = self.split(&rest, length) {
            return Err(Failure::Needs(need));
        }
        let largest = rest.largest(self.axes).ok_or(self.unknown())?;
        let bounds = (
            rest.offset.as_constant(),
            largest.as_constant(),
            length.as_constant(),
        );
        let (first, last) = match (bounds, room, quotient.offset.as_constant()) {
            ((Some(low), Some(high), Some(length)), ..) if length > 0 => {
                (low.div_euclid(length), high.div_euclid(length))
            }
            // The quotient is a constant: one of the few values below `room`.
            (_, Some(room), Some(offset)) if quotient.terms.is_empty() => (
                0i64.saturating_sub(offset),
                room.saturating_sub(1).saturating_sub(offset),
            ),
            _ => {
                let (op, value) = (self.op, self.ir.result(self.op, 0));
                return Err(Failure::Refused(WindowRefusal::Computed { op, value }));
            }
        };
        if last.saturating_sub(first) >= MAX_PIECES as i64 {
            let (op, limit) = (self.op, MAX_PIECES);
            return Err(Failure::Refused(WindowRefusal::TooManyPieces { op, limit }));
        }
        let mut parts = Vec::new();
        for times in first..=last {
            let times = Form::constant(ExtentExpr::constant(times));
            let minus = times
                .times(length)
                .and_then(|t| t.times(&ExtentExpr::constant(-1)));
            let at = minus.and_then(|m| rest.plus(&m)).ok_or(self.unknown())?;
            let quotient = quotient.plus(&times).ok_or(self.unknown())?;
            if let (Some(room), Some(own)) = (room, quotient.offset.as_constant())
                && quotient.terms.is_empty()
                && !(0..room).contains(&own)
            {
                continue;
            }
            let guard = Guard {
                at: at.clone(),
                extent: length.clone(),
            };
            let guard = guard.reduced(self.axes);
            match guard.holds(self.axes).ok_or(self.unknown())? {
                Holds::Never => {}
                Holds::Always => return Ok(vec![(None, quotient, at)]),
                Holds::Sometimes => parts.push((Some(guard), quotient, at)),
            }
        }
        // If no index reaches any case, any case may stand for the others.
        if parts.is_empty() {
            parts.push((None, quotient, Form::default()));
        }
        Ok(parts)
    }
    /// The axis to split so that the remainder stays below `length`.
    fn split(&self, rest: &Form, length: &ExtentExpr) -> Option<Need> {
        for (variable, factor) in rest.terms.iter().rev() {
            let Some(inner) = length.div_exact(factor) else {
                continue;
            };
            let outer = variable.length(self.axes)?.div_exact(&inner);
            let real = |e: &ExtentExpr| e.as_constant().is_none_or(|c| c > 1);
            if !real(&inner) || !outer.is_some_and(|o| real(&o)) {
                continue;
            }
            // The other terms must fit below the factor.
            let mut below = rest.clone();
            below.terms.retain(|t| t.0 != *variable);
            let room = below.largest(self.axes)?.mul(&ExtentExpr::constant(-1))?;
            let room = room.add(factor)?.add(&ExtentExpr::constant(-1))?;
            if is_natural(&below.offset) && is_natural(&room) {
                let axis = variable.axis()?;
                return Some(Need::Split { axis, inner });
            }
        }
        None
    }
}

/// The smallest runs of dimensions with the same number of elements, innermost first.
fn groups(
    from: &[ExtentExpr],
    to: &[ExtentExpr],
) -> Vec<(std::ops::Range<usize>, std::ops::Range<usize>)> {
    let mut list = Vec::new();
    let (mut i, mut j) = (from.len(), to.len());
    while i > 0 || j > 0 {
        let (last_i, last_j) = (i, j);
        let one = || Some(ExtentExpr::constant(1));
        let (mut ours, mut theirs) = (one(), one());
        loop {
            let begun = i < last_i || j < last_j;
            if begun && ours.is_some() && ours == theirs {
                break;
            }
            let divides = |a: &Option<ExtentExpr>, b: &Option<ExtentExpr>| {
                a.as_ref()
                    .zip(b.as_ref())
                    .is_some_and(|(a, b)| b.div_exact(a).is_some())
            };
            let (less, more) = (divides(&ours, &theirs), divides(&theirs, &ours));
            let take_ours = i > 0 && (less || !more || j == 0);
            let take_theirs = j > 0 && (!less || i == 0 || !begun);
            if take_ours {
                i -= 1;
                ours = ours.and_then(|n| n.mul(&from[i]));
            }
            if take_theirs {
                j -= 1;
                theirs = theirs.and_then(|n| n.mul(&to[j]));
            }
            if !take_ours && !take_theirs {
                break;
            }
        }
        list.push((i..last_i, j..last_j));
    }
    list
}
