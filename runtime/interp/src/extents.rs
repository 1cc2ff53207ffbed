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
}

impl Extents {
    /// Binds what the axes of `tensor` say about `dims`, its type; `input` names it in errors.
    pub fn bind(&mut self, ir: &Ir, dims: &[Dim], tensor: &Tensor, input: &str) -> Result<()> {
        for (dim, axis) in dims.iter().zip(tensor.axes()) {
            let Extent::Symbolic(id) = dim.extent else {
                continue;
            };
            if let Some(name) = ir.extent_expr(id).as_name() {
                self.bind_name(ir, name, axis.extent as i64, input)?;
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
