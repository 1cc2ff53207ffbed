//! Stored sizes: bytes of a value in memory, as a polynomial and as a number for bound named extents.
//!
//! A broadcast axis counts once, and a scalar counts nothing since it is a kernel argument. Numbers saturate: a program
//! larger than any memory still compares correctly and never wraps.

use std::collections::{BTreeMap, BTreeSet};

use fuser_ir::types::{Extent, ExtentExpr, Names, TensorType};
use fuser_ir::{Ir, Sym, Value};

/// Lengths of named extents, for decisions that need numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bindings {
    /// The lengths that the user gave.
    pub named: BTreeMap<Sym, u64>,
    /// The names in `named` whose length is an upper bound.
    pub longest: BTreeSet<Sym>,
    /// The length assumed for all other names, and for `?`.
    pub nominal: u64,
}

impl Default for Bindings {
    fn default() -> Self {
        Self {
            named: BTreeMap::new(),
            longest: BTreeSet::new(),
            nominal: 1024,
        }
    }
}

impl Bindings {
    /// The length bound to `name`.
    pub fn get(&self, name: Sym) -> u64 {
        self.named.get(&name).copied().unwrap_or(self.nominal)
    }
    /// The value of a polynomial; a negative value counts as 0.
    pub fn eval(&self, expr: &ExtentExpr) -> u64 {
        let terms = expr.terms.iter();
        let sum = terms.fold(0i128, |sum, (names, coefficient)| {
            let start = i128::from(*coefficient);
            let term = names.iter().fold(start, |product, &name| {
                product.saturating_mul(i128::from(self.get(name)))
            });
            sum.saturating_add(term)
        });
        u64::try_from(sum.max(0)).unwrap_or(u64::MAX)
    }
    /// The largest value of a polynomial, if all its names have upper bounds.
    pub fn most(&self, expr: &ExtentExpr) -> Option<u64> {
        let known = |(names, coefficient): &(Names, i64)| {
            *coefficient > 0 && names.iter().all(|name| self.longest.contains(name))
        };
        expr.terms.iter().all(known).then(|| self.eval(expr))
    }
    /// The length of an axis.
    pub fn extent(&self, ir: &Ir, extent: Extent) -> u64 {
        match extent {
            Extent::Static(n) => n,
            Extent::Symbolic(id) => self.eval(ir.extent_expr(id)),
            Extent::Unknown => self.nominal,
        }
    }
    /// Stored bytes of `value`.
    pub fn bytes(&self, ir: &Ir, value: Value) -> u64 {
        let Some(tensor) = ir.value_kind(value).as_tensor() else {
            return 0;
        };
        stored_extents(tensor).fold(tensor.dtype.bytes(), |bytes, extent| {
            bytes.saturating_mul(self.extent(ir, extent))
        })
    }
    /// True if the bytes of `value` follow from its type and bound names, without the nominal length.
    pub fn is_exact(&self, ir: &Ir, value: Value) -> bool {
        let known = |extent: Extent| match extent {
            Extent::Static(_) => true,
            Extent::Symbolic(id) => {
                let names = ir.extent_expr(id).terms.iter().flat_map(|(n, _)| n);
                names.into_iter().all(|n| self.named.contains_key(n))
            }
            Extent::Unknown => false,
        };
        let tensor = ir.value_kind(value).as_tensor();
        tensor.is_none_or(|t| stored_extents(t).all(known))
    }
}

/// Stored bytes of `value` as a polynomial; `None` if an extent is `?` or the number is out of range.
pub fn stored_bytes_expr(ir: &Ir, value: Value) -> Option<ExtentExpr> {
    let Some(tensor) = ir.value_kind(value).as_tensor() else {
        return Some(ExtentExpr::default());
    };
    let element = i64::try_from(tensor.dtype.bytes()).ok()?;
    stored_extents(tensor).try_fold(ExtentExpr::constant(element), |bytes, extent| {
        bytes.mul(&ir.extent_as_expr(extent)?)
    })
}

fn stored_extents(tensor: &TensorType) -> impl Iterator<Item = Extent> + '_ {
    let stored = tensor.dims.iter().filter(|d| !d.broadcast);
    stored.map(|d| d.extent)
}
