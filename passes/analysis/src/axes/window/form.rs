//! Forms: indices as sums over axes of the walk.
//!
//! `offset + c0 * a0 + c1 * a1 + ...`: each axis once, no factor is 0, factors are products of lengths and so never
//! negative; the offset may be. A guard says where such an index lies within a length.
//!
//! Guarantees: pure; what overflows is `None`.

use fuser_ir::types::ExtentExpr;
use smallvec::SmallVec;

use super::super::{Axes, AxisId};

/// A sum of axes of the walk, each times a factor, and an offset.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Form {
    /// The part that no axis changes.
    pub offset: ExtentExpr,
    /// Axes, ascending, and their factors.
    pub terms: SmallVec<[(AxisId, ExtentExpr); 3]>,
}

/// `0 <= at < extent`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Guard {
    /// The index.
    pub at: Form,
    /// The bound.
    pub extent: ExtentExpr,
}

/// The value of a guard over all points of the walk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Holds {
    Always,
    Never,
    Sometimes,
}

/// True if no coefficient is negative: the expression is at least 0 for all lengths of named extents.
pub(super) fn is_natural(expr: &ExtentExpr) -> bool {
    expr.terms.iter().all(|(_, c)| *c >= 0)
}

/// The difference.
pub(super) fn minus(a: &ExtentExpr, b: &ExtentExpr) -> Option<ExtentExpr> {
    a.add(&b.mul(&ExtentExpr::constant(-1))?)
}

impl Form {
    /// An index that no axis changes.
    pub fn constant(offset: ExtentExpr) -> Self {
        Self {
            offset,
            ..Self::default()
        }
    }
    /// The index along the product of `axes`, outermost first; `None` where a length is `?`.
    pub fn of_axes(axes: &Axes, list: &[AxisId]) -> Option<Self> {
        let mut form = Self::default();
        let mut step = ExtentExpr::constant(1);
        for &axis in list.iter().rev() {
            form.push(axis, step.clone());
            step = step.mul(axes.extent(axis)?)?;
        }
        Some(form)
    }
    fn push(&mut self, axis: AxisId, factor: ExtentExpr) {
        if factor.as_constant() != Some(0) {
            let place = self.terms.partition_point(|t| t.0 < axis);
            self.terms.insert(place, (axis, factor));
        }
    }
    /// The factor of `axis`; 0 where it does not occur.
    pub fn along(&self, axis: AxisId) -> ExtentExpr {
        let term = self.terms.iter().find(|t| t.0 == axis);
        term.map_or_else(ExtentExpr::default, |t| t.1.clone())
    }
    /// The sum.
    pub fn plus(&self, other: &Self) -> Option<Self> {
        let mut sum = Self::constant(self.offset.add(&other.offset)?);
        let axes = self.terms.iter().chain(&other.terms).map(|t| t.0);
        for axis in axes {
            if !sum.terms.iter().any(|t| t.0 == axis) {
                sum.push(axis, self.along(axis).add(&other.along(axis))?);
            }
        }
        Some(sum)
    }
    /// The product.
    pub fn times(&self, factor: &ExtentExpr) -> Option<Self> {
        let mut product = Self::constant(self.offset.mul(factor)?);
        for (axis, own) in &self.terms {
            product.push(*axis, own.mul(factor)?);
        }
        Some(product)
    }
    /// The largest value, one axis or more given, where no axis is empty; the smallest is the offset.
    pub(super) fn largest(&self, axes: &Axes) -> Option<ExtentExpr> {
        let mut sum = self.offset.clone();
        for (axis, factor) in &self.terms {
            let last = axes.extent(*axis)?.add(&ExtentExpr::constant(-1))?;
            sum = sum.add(&factor.mul(&last)?)?;
        }
        Some(sum)
    }
    /// The sum of those multiples of `unit` that are terms, divided by it, and the rest.
    pub(super) fn divided(&self, unit: &ExtentExpr) -> Option<(Self, Self)> {
        let (mut quotient, mut rest) = (Self::default(), Self::default());
        for (axis, factor) in &self.terms {
            match factor.div_exact(unit) {
                Some(times) => quotient.push(*axis, times),
                None => rest.push(*axis, factor.clone()),
            }
        }
        for (names, c) in &self.offset.terms {
            let term = ExtentExpr {
                terms: vec![(names.clone(), *c)],
            };
            match (term.div_exact(unit), term.as_constant(), unit.as_constant()) {
                (Some(times), ..) => quotient.offset = quotient.offset.add(&times)?,
                (None, Some(c), Some(u)) if u > 0 => {
                    let times = ExtentExpr::constant(c.div_euclid(u));
                    quotient.offset = quotient.offset.add(&times)?;
                    rest.offset = rest.offset.add(&ExtentExpr::constant(c.rem_euclid(u)))?;
                }
                _ => rest.offset = rest.offset.add(&term)?,
            }
        }
        Some((quotient, rest))
    }
}

impl Guard {
    /// The same on fewer axes: a bound that is a multiple of a factor is not about what is less than that.
    pub(super) fn reduced(self, axes: &Axes) -> Self {
        let mut units: Vec<&ExtentExpr> = self.at.terms.iter().map(|t| &t.1).collect();
        units.sort_by_key(|u| {
            (
                u.as_constant().is_some(),
                std::cmp::Reverse(u.as_constant()),
            )
        });
        for unit in units {
            let Some((at, rest)) = self.at.divided(unit) else {
                continue;
            };
            let within = Guard {
                at: rest,
                extent: unit.clone(),
            };
            if within.holds(axes) == Some(Holds::Always)
                && let Some(extent) = self.extent.div_exact(unit)
            {
                return Guard { at, extent };
            }
        }
        self
    }
    /// The value of the guard over all points of the walk; `None` where that cannot be computed.
    pub(super) fn holds(&self, axes: &Axes) -> Option<Holds> {
        let largest = self.at.largest(axes)?;
        let room = minus(&minus(&self.extent, &largest)?, &ExtentExpr::constant(1))?;
        let beyond = minus(&self.at.offset, &self.extent)?;
        let before = largest.as_constant().is_some_and(|c| c < 0);
        Some(match () {
            () if is_natural(&self.at.offset) && is_natural(&room) => Holds::Always,
            () if before || is_natural(&beyond) => Holds::Never,
            () => Holds::Sometimes,
        })
    }
}
