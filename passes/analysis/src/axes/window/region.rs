//! Regions: the elements of memory that a load of a window touches, and the number of distinct elements that several
//! loads touch together.
//!
//! A region is a run of elements, repeated along digits. For example, `%x: tensor<[S]x192xf32>` read at `192 * s + 64 +
//! d` with `d` below 64 is the run from 64 to 128 with the digit (192, `[S]` times). Runs of regions that repeat alike
//! are merged. Then single elements at short steps count as contiguous: the elements between them lie in the same cache
//! lines. This does not hold for a gather, whose elements may lie anywhere.
//!
//! A gather reads as many elements as there are indices, and no more than the axis has. Two gathers are counted
//! separately, since their elements are unknown.
//!
//! Never less than what is touched. If it is unknown which of two lengths is less, a guard admits no more than its
//! length.

use fuser_ir::types::ExtentExpr;
use fuser_ir::{Op, Value};

use super::super::{Axes, AxisId};
use super::form::{Form, Guard, Source, Variable, is_natural, minus};

/// The longest step, in elements, that stays within a cache line.
const SHORT: i64 = 15;

/// The elements that one load touches.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Region {
    /// The value that is read.
    pub value: Value,
    /// The start of the run, and its repetition.
    pub origin: Origin,
    /// The first element of the run, and the end (exclusive).
    pub run: (i64, i64),
    /// Lengths that are not known to be above 0. If one of them is 0, the region is empty.
    pub beside: Vec<ExtentExpr>,
}

/// The start of a run and its repetition.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Origin {
    /// The part of the address that depends on named extents.
    start: ExtentExpr,
    /// Steps, each with its count.
    digits: Vec<(ExtentExpr, ExtentExpr)>,
    /// The window and its node that holds the indices of a gather.
    gathered: Option<(Op, usize)>,
    /// Two counts of a gather's steps, of which the lesser applies; named extents decide which.
    lesser: Option<(ExtentExpr, ExtentExpr)>,
}

impl Origin {
    /// Removes a digit that extends the run or another digit. A run of one element also extends over steps of at most
    /// `most` elements. Returns the new end of the run, or `Some(None)` if no digit can be removed. `None` on overflow.
    fn joined(&mut self, run: (i64, i64), most: i64) -> Option<Option<i64>> {
        let reach = match run.1.saturating_sub(run.0) {
            1 if self.gathered.is_none() => most,
            long => long,
        };
        for at in 0..self.digits.len() {
            let (step, count) = &self.digits[at];
            let count_known = count.as_constant();
            if count_known == Some(1) {
                self.digits.remove(at);
                return Some(Some(run.1));
            }
            let close = step.as_constant().is_some_and(|s| s <= reach);
            if let (true, Some(step), Some(count @ 1..)) = (close, step.as_constant(), count_known)
            {
                self.digits.remove(at);
                return Some(Some(run.1.checked_add(step.checked_mul(count - 1)?)?));
            }
            let behind = step.mul(count)?;
            if let Some(next) = self.digits.iter().position(|d| d.0 == behind)
                && next != at
            {
                let times = self.digits[next].1.clone();
                self.digits[at].1 = self.digits[at].1.mul(&times)?;
                self.digits.remove(next);
                return Some(Some(run.1));
            }
        }
        Some(None)
    }
}

/// The values of a variable that guards admit.
struct Range {
    first: ExtentExpr,
    /// `None`: all values from `first` on.
    count: Option<ExtentExpr>,
}

impl Region {
    /// The region that a load at `at` in the window of `op` touches where the guards hold; `None` if a length is `?` or
    /// a number is out of range. `spreads` has the axes along which each node of the window varies.
    pub(super) fn of(
        axes: &Axes,
        value: Value,
        at: &Form,
        guards: &[Guard],
        op: Op,
        spreads: &[Vec<AxisId>],
    ) -> Option<Self> {
        let guards: Vec<Guard> = guards.iter().map(|g| g.facing(axes, at)).collect();
        let guards = guards.as_slice();
        let mut start = at.offset.clone();
        let mut digits: Vec<(ExtentExpr, ExtentExpr)> = Vec::new();
        let mut least = None;
        // Each gather reads an element for each index along the axes that are not the load's own.
        let mut own: Vec<AxisId> = at.axes().collect();
        for (variable, step) in &at.terms {
            if let Source::Element { node, length } = &variable.of {
                let mut count = ExtentExpr::constant(1);
                for &axis in spreads[*node].iter().filter(|axis| !own.contains(axis)) {
                    let along = Variable::new(Source::Axis(axis));
                    let range = range(axes, &along, guards).count;
                    count = count.mul(&range.or_else(|| axes.extent(axis).cloned())?)?;
                }
                own.extend(&spreads[*node]);
                let alone = at.elements().count() == 1;
                match lesser(&count, length).filter(|_| alone) {
                    Some(count) => digits.push((step.clone(), count)),
                    None if alone => least = Some((count, (**length).clone())),
                    None => digits.push((step.clone(), count)),
                }
                continue;
            }
            let mut range = range(axes, variable, guards);
            range.count = moved(variable, guards, spreads).or(range.count);
            let before = step.mul(&range.first)?;
            start = start.add(&before)?;
            let count = range.count.or_else(|| variable.length(axes).cloned())?;
            digits.push((step.clone(), count));
        }
        let fixed = start.terms.iter().find(|(names, _)| names.is_empty());
        let first = fixed.map_or(0, |t| t.1);
        start.terms.retain(|(names, _)| !names.is_empty());
        digits.sort_by(|a, b| {
            (a.0.as_constant().is_none(), &a.0).cmp(&(b.0.as_constant().is_none(), &b.0))
        });
        let mut run = (first, first.checked_add(1)?);
        let next = |d: &(ExtentExpr, ExtentExpr)| match d.0.as_constant()? {
            1 => d.1.as_constant(),
            _ => None,
        };
        if let Some(count) = digits.first().and_then(next) {
            digits.remove(0);
            run.1 = first.checked_add(count)?;
        }
        // Nothing is read if guards admit no index of another axis, or if an axis that is stored once is empty.
        let others = guards.iter().flat_map(|guard| &guard.at.terms);
        let others = others.filter(|(v, _)| at.terms.iter().all(|(own, _)| own != v));
        let counts = others.filter_map(|(variable, _)| range(axes, variable, guards).count);
        let fixed = guards.iter().filter(|guard| guard.at.terms.is_empty());
        let fixed = fixed.filter_map(|guard| minus(&guard.extent, &guard.at.offset));
        let one = ExtentExpr::constant(1);
        let mut beside: Vec<ExtentExpr> = counts
            .chain(fixed)
            .filter(|count| !minus(count, &one).is_some_and(|n| is_natural(&n)))
            .collect();
        beside.sort_unstable();
        beside.dedup();
        let gathered = at.elements().next().map(|node| (op, node));
        let origin = Origin {
            start,
            digits,
            gathered,
            lesser: least,
        };
        Some(Self {
            value,
            origin,
            run,
            beside,
        })
    }
    /// All of a value with these axes, as lengths and steps. An axis of step 0 is stored once.
    pub(super) fn whole(value: Value, axes: &[(ExtentExpr, ExtentExpr)]) -> Option<Self> {
        let stored = axes
            .iter()
            .filter(|(_, step)| step.as_constant() != Some(0));
        let origin = Origin {
            start: ExtentExpr::default(),
            digits: stored
                .map(|(length, step)| (step.clone(), length.clone()))
                .collect(),
            gathered: None,
            lesser: None,
        };
        let (run, beside) = ((0, 1), Vec::new());
        Some(Self {
            value,
            origin,
            run,
            beside,
        })
    }
    /// The number of elements; `None` on overflow. `known` evaluates expressions whose names are all bound.
    pub fn elements(&self, known: impl Fn(&ExtentExpr) -> Option<u64>) -> Option<ExtentExpr> {
        let length = ExtentExpr::constant(self.run.1.checked_sub(self.run.0)?);
        let lesser = self.origin.lesser.as_ref();
        let lesser = lesser.map(|(count, length)| match (known(count), known(length)) {
            (Some(count), Some(most)) if most < count => length,
            _ => count,
        });
        let counts = self.origin.digits.iter().map(|(_, count)| count);
        counts
            .chain(lesser)
            .try_fold(length, |n, count| n.mul(count))
    }
    /// Merges digits that continue the run into it; a single element also takes steps of up to `most` elements. Returns
    /// true if a digit was merged.
    fn lengthen(&mut self, most: i64) -> bool {
        let before = self.origin.digits.len();
        while let Some(Some(end)) = self.origin.joined(self.run, most) {
            self.run.1 = end;
        }
        self.origin.digits.len() < before
    }
}

/// Merges regions without changing their elements: first merges runs that repeat alike and meet or overlap, then single
/// elements at short steps.
pub fn united(mut regions: Vec<Region>) -> Vec<Region> {
    let mut most = 1;
    loop {
        regions.sort_unstable();
        regions.dedup_by(|next, last| {
            let alike = next.value == last.value && next.origin == last.origin;
            let meets = alike && next.run.0 <= last.run.1;
            if meets {
                last.run.1 = last.run.1.max(next.run.1);
            }
            meets
        });
        // A merged run may be as long as a digit's step.
        let mut longer = false;
        for region in &mut regions {
            longer |= region.lengthen(most);
        }
        match (longer, most) {
            (true, _) => {}
            (false, SHORT) => return regions,
            _ => most = SHORT,
        }
    }
}

/// The number of values of `variable` in a guard whose other terms are elements that no axis changes: the range moves
/// but keeps its length.
fn moved(variable: &Variable, guards: &[Guard], spreads: &[Vec<AxisId>]) -> Option<ExtentExpr> {
    let one = |factor: &ExtentExpr| factor.as_constant() == Some(1);
    let still =
        |of: &Source| matches!(of, Source::Element { node, .. } if spreads[*node].is_empty());
    let moves = |guard: &&Guard| {
        let (own, others): (Vec<_>, Vec<_>) =
            (guard.at.terms.iter()).partition(|t| t.0 == *variable);
        let all = others.iter().all(|t| still(&t.0.of));
        all && !others.is_empty() && own.first().is_some_and(|t| one(&t.1))
    };
    guards.iter().find(moves).map(|guard| guard.extent.clone())
}

/// The values of `variable` at which no guard certainly fails.
fn range(axes: &Axes, variable: &Variable, guards: &[Guard]) -> Range {
    let none = ExtentExpr::default();
    let (mut first, mut end) = (none.clone(), variable.length(axes).cloned());
    let mut bound = None;
    for guard in guards {
        let Some((low, high)) = admitted(axes, variable, guard) else {
            continue;
        };
        let later = greater(&first, &low);
        let sooner = end
            .as_ref()
            .map_or(Some(high.clone()), |end| lesser(end, &high));
        match (later, sooner) {
            (Some(later), Some(sooner)) => (first, end) = (later, Some(sooner)),
            // It is unknown which bound is tighter, but the guard admits no more than these values.
            (later, _) => {
                let count = minus(&high, later.as_ref().unwrap_or(&low));
                let first = later.unwrap_or_else(|| first.clone());
                bound = Some(Range { first, count });
            }
        }
    }
    bound.unwrap_or_else(|| {
        let count = end.as_ref().and_then(|end| minus(end, &first));
        let count = count.map(|n| greater(&n, &none).unwrap_or(n));
        let end = end.and_then(|end| greater(&end, &none));
        let least = end.and_then(|end| lesser(&first, &end));
        let first = least.unwrap_or(first);
        Range { first, count }
    })
}

/// The first value of `variable` that a guard may admit for the best values of the other variables, and the end
/// (exclusive); `None` if it depends on lengths and on other axes.
fn admitted(axes: &Axes, variable: &Variable, guard: &Guard) -> Option<(ExtentExpr, ExtentExpr)> {
    let (_, factor) = guard.at.terms.iter().find(|t| t.0 == *variable)?;
    let mut rest = guard.at.clone();
    rest.terms.retain(|t| t.0 != *variable);
    let low = minus(&ExtentExpr::default(), &rest.largest(axes)?)?;
    let high = minus(&guard.extent, &rest.offset)?;
    let factor = factor.as_constant()?;
    if factor == 1 && rest.terms.is_empty() {
        return Some((low, high));
    }
    let ceil = |n: i64| n.div_euclid(factor) + i64::from(n.rem_euclid(factor) > 0);
    let ceil = |n: ExtentExpr| Some(ExtentExpr::constant(ceil(n.as_constant()?)));
    Some((ceil(low)?, ceil(high)?))
}

/// The expression that is at least the other for all lengths of named extents.
fn greater(a: &ExtentExpr, b: &ExtentExpr) -> Option<ExtentExpr> {
    let at_least = |a: &ExtentExpr, b| Some(is_natural(&minus(a, b)?));
    match (at_least(a, b)?, at_least(b, a)?) {
        (true, _) => Some(a.clone()),
        (_, true) => Some(b.clone()),
        _ => None,
    }
}

/// The expression that is at most the other for all lengths of named extents.
fn lesser(a: &ExtentExpr, b: &ExtentExpr) -> Option<ExtentExpr> {
    let greater = greater(a, b)?;
    Some(if greater == *a { b.clone() } else { a.clone() })
}
