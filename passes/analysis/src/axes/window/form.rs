//! Forms: indices as affine sums over axes of the iteration space.
//!
//! A form is `offset + c0 * v0 + c1 * v1 + ...`. Each variable occurs once. No factor is 0; factors are products of
//! lengths and so never negative; the offset may be. A variable is the index along an axis of the iteration space, or
//! an element of an operand that holds indices. It may be mirrored, that is length - 1 - index, so that an axis read
//! from its end also has a factor above 0. A guard states where an index lies within a length.
//!
//! Guarantees: pure; an overflow gives `None`.

use fuser_ir::types::ExtentExpr;
use smallvec::{SmallVec, smallvec};

use super::super::{Axes, AxisId};

/// An index from 0 up to a length.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Source {
    /// The index along an axis of the walk.
    Axis(AxisId),
    /// The element that a node of the window holds, clamped to the bounds.
    Element {
        /// The number of the node.
        node: usize,
        /// The length.
        length: Box<ExtentExpr>,
    },
}

/// An index, counted from either end.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Variable {
    /// The index.
    pub of: Source,
    /// True for length - 1 - index; false for the index.
    pub mirrored: bool,
}

impl Variable {
    /// The index itself.
    pub(super) const fn new(of: Source) -> Self {
        let mirrored = false;
        Self { of, mirrored }
    }
    /// The axis; `None` for an element.
    pub const fn axis(&self) -> Option<AxisId> {
        match &self.of {
            Source::Axis(axis) => Some(*axis),
            Source::Element { .. } => None,
        }
    }
    /// The number of values of the variable; `None` for `?`.
    pub(super) fn length<'a>(&'a self, axes: &'a Axes) -> Option<&'a ExtentExpr> {
        match &self.of {
            Source::Axis(axis) => axes.extent(*axis),
            Source::Element { length, .. } => Some(length),
        }
    }
    /// The variable counted from the other end.
    fn mirror(&self) -> Self {
        Self {
            of: self.of.clone(),
            mirrored: !self.mirrored,
        }
    }
}

/// A sum of indices, each times a factor, and an offset.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Form {
    /// The constant part.
    pub offset: ExtentExpr,
    /// Variables, ascending, and their factors.
    pub terms: SmallVec<[(Variable, ExtentExpr); 2]>,
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

/// True if no coefficient is negative: the expression is then at least 0 for all lengths of named extents.
pub(super) fn is_natural(expr: &ExtentExpr) -> bool {
    expr.terms.iter().all(|(_, c)| *c >= 0)
}

/// True if `a` is at least `b` for all lengths of named extents.
pub fn at_least(a: &ExtentExpr, b: &ExtentExpr) -> bool {
    minus(a, b).is_some_and(|room| is_natural(&room))
}

/// The difference.
pub fn minus(a: &ExtentExpr, b: &ExtentExpr) -> Option<ExtentExpr> {
    a.add(&b.mul(&ExtentExpr::constant(-1))?)
}

impl Form {
    /// An index that does not depend on any axis.
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
            form.push(Variable::new(Source::Axis(axis)), step.clone());
            step = step.mul(axes.extent(axis)?)?;
        }
        Some(form)
    }
    /// The index that a node holds.
    pub(super) fn of_element(node: usize, length: ExtentExpr) -> Self {
        let mut form = Self::default();
        let length = Box::new(length);
        let variable = Variable::new(Source::Element { node, length });
        form.push(variable, ExtentExpr::constant(1));
        form
    }
    fn push(&mut self, variable: Variable, factor: ExtentExpr) {
        if factor.as_constant() != Some(0) {
            let place = self.terms.partition_point(|t| t.0 < variable);
            self.terms.insert(place, (variable, factor));
        }
    }
    fn factor(&self, variable: &Variable) -> ExtentExpr {
        let term = self.terms.iter().find(|t| t.0 == *variable);
        term.map_or_else(ExtentExpr::default, |t| t.1.clone())
    }
    /// The axes that the form depends on directly, not through elements.
    pub fn axes(&self) -> impl Iterator<Item = AxisId> + '_ {
        self.terms.iter().filter_map(|t| t.0.axis())
    }
    /// The nodes whose elements the form depends on.
    pub fn elements(&self) -> impl Iterator<Item = usize> + '_ {
        self.terms.iter().filter_map(|t| match t.0.of {
            Source::Element { node, .. } => Some(node),
            Source::Axis(_) => None,
        })
    }
    /// True if the form depends on `axis` directly.
    pub fn varies(&self, axis: AxisId) -> bool {
        self.axes().any(|own| own == axis)
    }
    /// The difference from one index of `axis` to the next, with fixed elements; `None` on overflow.
    pub fn along(&self, axis: AxisId) -> Option<ExtentExpr> {
        let ahead = Variable::new(Source::Axis(axis));
        minus(&self.factor(&ahead), &self.factor(&ahead.mirror()))
    }
    /// `last` minus the form: the same index along an axis with last index `last`, counted from its end.
    pub fn mirrored(&self, axes: &Axes, last: &ExtentExpr) -> Option<Self> {
        let mut form = Self::constant(minus(last, &self.largest(axes)?)?);
        for (variable, factor) in &self.terms {
            form.push(variable.mirror(), factor.clone());
        }
        Some(form)
    }
    /// The sum.
    pub fn plus(&self, other: &Self) -> Option<Self> {
        let mut sum = Self::constant(self.offset.add(&other.offset)?);
        for (variable, _) in self.terms.iter().chain(&other.terms) {
            if !sum.terms.iter().any(|t| t.0 == *variable) {
                let factor = self.factor(variable).add(&other.factor(variable))?;
                sum.push(variable.clone(), factor);
            }
        }
        Some(sum)
    }
    /// The product.
    pub fn times(&self, factor: &ExtentExpr) -> Option<Self> {
        let mut product = Self::constant(self.offset.mul(factor)?);
        for (variable, own) in &self.terms {
            product.push(variable.clone(), own.mul(factor)?);
        }
        Some(product)
    }
    /// The largest value over all non-empty axes. The smallest is the offset.
    pub(super) fn largest(&self, axes: &Axes) -> Option<ExtentExpr> {
        let mut sum = self.offset.clone();
        for (variable, factor) in &self.terms {
            let last = variable.length(axes)?.add(&ExtentExpr::constant(-1))?;
            sum = sum.add(&factor.mul(&last)?)?;
        }
        Some(sum)
    }
    /// The quotient by `unit` of all terms that are multiples of `unit`, and the remaining terms.
    pub(super) fn divided(&self, unit: &ExtentExpr) -> Option<(Self, Self)> {
        let (mut quotient, mut rest) = (Self::default(), Self::default());
        for (variable, factor) in &self.terms {
            match factor.div_exact(unit) {
                Some(times) => quotient.push(variable.clone(), times),
                None => rest.push(variable.clone(), factor.clone()),
            }
        }
        for (names, c) in &self.offset.terms {
            let term = ExtentExpr {
                terms: smallvec![(names.clone(), *c)],
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
    /// The quotient by `unit` of all factors that are numbers of at least `unit`, and the rest; `None` without any.
    pub(super) fn folded(&self, unit: &ExtentExpr) -> Option<(Self, Self)> {
        let unit = unit.as_constant().filter(|&unit| unit > 0)?;
        let (mut quotient, mut rest) = (Self::default(), Self::constant(self.offset.clone()));
        for (variable, factor) in &self.terms {
            let own = factor.as_constant().filter(|&own| own >= unit);
            let left = match own {
                Some(own) => {
                    quotient.push(variable.clone(), ExtentExpr::constant(own / unit));
                    ExtentExpr::constant(own % unit)
                }
                None => factor.clone(),
            };
            rest.push(variable.clone(), left);
        }
        (!quotient.terms.is_empty()).then_some((quotient, rest))
    }
}

impl Guard {
    /// An equivalent guard over fewer axes: if the bound is a multiple of a factor, terms that stay below the factor do
    /// not matter.
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
    /// An equivalent guard over the variables of `at`, if `at` counts a variable of this guard from the other end.
    pub(super) fn facing(&self, axes: &Axes, at: &Form) -> Self {
        let has = |variable: &Variable| at.terms.iter().any(|t| t.0 == *variable);
        let turned = self.at.terms.iter().any(|t| has(&t.0.mirror()));
        let last = minus(&self.extent, &ExtentExpr::constant(1)).filter(|_| turned);
        let mirrored = last.and_then(|last| self.at.mirrored(axes, &last));
        mirrored.map_or_else(
            || self.clone(),
            |at| Guard {
                at,
                extent: self.extent.clone(),
            },
        )
    }
    /// The value of the guard over all points of the iteration space; `None` if it cannot be computed.
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
