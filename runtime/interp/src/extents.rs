//! Named extents: bound by the shapes of inputs, then looked up wherever a shape names them.

use std::collections::BTreeMap;

use fuser_ir::types::{Dim, Extent, ExtentExpr};
use fuser_ir::{Ir, Sym};

use crate::error::{ErrorKind, InterpError, Result};
use crate::tensor::Tensor;

/// The value of each name, and the input that gave it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extents {
    names: BTreeMap<Sym, (i64, String)>,
    /// Names that are halves of others, each with the other.
    pub halves: Vec<(Sym, Sym)>,
}

impl Extents {
    /// Binds what the axes of `tensor` say about `dims`, its type; `input` names it in errors.
    pub fn bind(&mut self, ir: &Ir, dims: &[Dim], tensor: &Tensor, input: &str) -> Result<()> {
        for (dim, axis) in dims.iter().zip(tensor.axes()) {
            let Extent::Symbolic(id) = dim.extent else {
                continue;
            };
            let expr = ir.extent_expr(id);
            if let Some(name) = expr.as_name() {
                self.bind_name(ir, name, axis.extent as i64, input)?;
            } else if let Some(whole) = self.whole(expr) {
                self.bind_name(ir, whole, axis.extent as i64, input)?;
                self.bind_halves(ir)?;
            }
        }
        Ok(())
    }
    /// The name of which an expression is twice the half.
    fn whole(&self, expr: &ExtentExpr) -> Option<Sym> {
        let [(names, 2)] = expr.terms.as_slice() else {
            return None;
        };
        let twice = |(half, _): &&(Sym, Sym)| names.as_slice() == [*half];
        self.halves.iter().find(twice).map(|(_, whole)| *whole)
    }
    /// Binds half extents whose whole is bound, and whole extents whose half is bound.
    pub fn bind_halves(&mut self, ir: &Ir) -> Result<()> {
        for (half, whole) in self.halves.clone() {
            if let Some((value, input)) = self.names.get(&whole).cloned() {
                if value % 2 != 0 {
                    let what = format!("extent `{}`", ir.str(whole));
                    let odd = usize::try_from(value).unwrap_or_default();
                    return Err(InterpError::new(ErrorKind::HalfByte(what, odd)));
                }
                self.bind_name(ir, half, value / 2, &input)?;
            } else if let Some((value, input)) = self.names.get(&half).cloned() {
                self.bind_name(ir, whole, value.saturating_mul(2), &input)?;
            }
        }
        Ok(())
    }
    /// Binds one name.
    pub fn bind_name(&mut self, ir: &Ir, name: Sym, value: i64, input: &str) -> Result<()> {
        let first = self
            .names
            .entry(name)
            .or_insert_with(|| (value, input.into()));
        if first.0 == value {
            return Ok(());
        }
        Err(InterpError::new(ErrorKind::ExtentConflict {
            extent: ir.str(name).into(),
            first: first.clone(),
            second: (value, input.into()),
        }))
    }
    /// The value of an expression.
    pub fn evaluate(&self, ir: &Ir, expr: &ExtentExpr) -> Result<i64> {
        let overflow = || InterpError::invalid("an extent overflows");
        let mut sum = 0i64;
        for (names, coefficient) in &expr.terms {
            let mut term = *coefficient;
            for name in names {
                let unbound = || InterpError::new(ErrorKind::UnboundExtent(ir.str(*name).into()));
                let (value, _) = self.names.get(name).ok_or_else(unbound)?;
                term = term.checked_mul(*value).ok_or_else(overflow)?;
            }
            sum = sum.checked_add(term).ok_or_else(overflow)?;
        }
        Ok(sum)
    }
    /// The number of elements that an extent is; `None` for `?`.
    pub fn length(&self, ir: &Ir, extent: Extent) -> Result<Option<usize>> {
        let value = match extent {
            Extent::Static(v) => i64::try_from(v).unwrap_or(i64::MAX),
            Extent::Symbolic(id) => self.evaluate(ir, ir.extent_expr(id))?,
            Extent::Unknown => return Ok(None),
        };
        crate::machine::extent(value).map(Some)
    }
    /// All names with their values, by name.
    pub fn all(&self, ir: &Ir) -> BTreeMap<String, i64> {
        let names = self.names.iter();
        names
            .map(|(name, (v, _))| (ir.str(*name).to_string(), *v))
            .collect()
    }
}
