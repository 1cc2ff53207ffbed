//! An op as the interpreter reads it: its clauses, with extents put in.

use fuser_ir::attr::AttrKind;
use fuser_ir::types::{Dim, TypeKind};
use fuser_ir::{DType, Ir, Op, TypeId};

use crate::error::{ErrorKind, InterpError, Result};
use crate::extents::Extents;
use crate::tensor::{Axis, Tensor};

/// An op and where it stands.
#[derive(Clone, Copy)]
pub(crate) struct Site<'a> {
    pub ir: &'a Ir,
    pub op: Op,
    pub extents: &'a Extents,
}

impl<'a> Site<'a> {
    fn missing(&self, clause: &str) -> InterpError {
        InterpError::invalid(format!(
            "`{}` has no clause `{clause}`",
            self.ir.name(self.op)
        ))
    }
    /// A list of nonnegative axes or counts; empty if the clause is missing.
    pub fn counts(&self, clause: &str) -> Result<Vec<usize>> {
        let list = self.ir.i64s_of(self.op, clause).unwrap_or(&[]);
        list.iter().map(|v| crate::machine::extent(*v)).collect()
    }
    /// A list of amounts, which may be named.
    pub fn amounts(&self, clause: &str) -> Result<Vec<usize>> {
        let missing = || self.missing(clause);
        let list = self.ir.attr_of(self.op, clause).ok_or_else(missing)?;
        let list = self.ir.amounts(list).ok_or_else(missing)?;
        let length = |amount| crate::machine::extent(self.extents.evaluate(self.ir, amount)?);
        list.iter().map(length).collect()
    }
    /// An integer.
    pub fn int(&self, clause: &str) -> Result<i64> {
        self.ir
            .int_of(self.op, clause)
            .ok_or_else(|| self.missing(clause))
    }
    /// A number for each of `dims` dimensions, `default` if the clause is missing.
    pub fn numbers(&self, clause: &str, default: i64, dims: usize) -> Result<Vec<i128>> {
        let list = match self.ir.i64s_of(self.op, clause) {
            Some(list) => list.to_vec(),
            None => vec![default; dims],
        };
        match list.len() == dims {
            true => Ok(list.into_iter().map(i128::from).collect()),
            false => Err(self.missing(clause)),
        }
    }
    /// A float; none where the clause is missing.
    pub fn float(&self, clause: &str) -> Option<f64> {
        match self.ir.attr_of(self.op, clause) {
            Some(AttrKind::Float { bits, .. }) => Some(f64::from_bits(*bits)),
            _ => None,
        }
    }
    /// True if the unit clause is present.
    pub fn flag(&self, clause: &str) -> bool {
        self.ir.get_attr(self.op, clause).is_some()
    }
    /// A word.
    pub fn word(&self, clause: &str) -> Result<&'a str> {
        self.ir
            .str_of(self.op, clause)
            .ok_or_else(|| self.missing(clause))
    }
    /// An element type.
    pub fn dtype(&self, clause: &str) -> Result<DType> {
        let ty = self.ir.attr_of(self.op, clause).and_then(|a| a.as_type());
        match ty.map(|t| self.ir.ty(t)) {
            Some(TypeKind::Scalar(dtype)) => Ok(*dtype),
            _ => Err(self.missing(clause)),
        }
    }
    /// The dims of a shape as written.
    pub fn dims(&self, clause: &str) -> Result<&'a [Dim]> {
        let dims = self.ir.attr_of(self.op, clause).and_then(|a| a.as_dims());
        dims.ok_or_else(|| self.missing(clause))
    }
    /// The extents of a shape; where it says `?`, `other` gives them.
    pub fn shape(
        &self,
        clause: &str,
        other: impl Fn(usize) -> Option<usize>,
    ) -> Result<Vec<usize>> {
        let dims = self.dims(clause)?.iter().enumerate();
        dims.map(|(i, dim)| {
            let known = self.extents.length(self.ir, dim.extent)?;
            let unknown = || InterpError::new(ErrorKind::UnboundExtent("?".into()));
            known.or_else(|| other(i)).ok_or_else(unknown)
        })
        .collect()
    }
    /// A shape with its broadcast axes.
    pub fn axes(&self, clause: &str) -> Result<Vec<Axis>> {
        let extents = self.shape(clause, |_| None)?;
        let pairs = extents.into_iter().zip(self.dims(clause)?);
        Ok(pairs
            .map(|(extent, dim)| Axis::new(extent, dim.broadcast))
            .collect())
    }
    /// For each axis of result `index`, true if its type states that the axis is stored once.
    pub fn repeats(&self, index: usize) -> Result<Vec<bool>> {
        let value = self.ir.results(self.op).get(index).copied();
        let value = value.ok_or_else(|| InterpError::invalid("a result is missing"))?;
        let wanted = Wanted::of(self.ir, self.extents, self.ir.value_type(value))?;
        Ok(wanted
            .axes
            .iter()
            .map(|&(_, broadcast)| broadcast)
            .collect())
    }
    /// Element type and axes of result `index`, all of them known.
    pub fn result(&self, index: usize) -> Result<(DType, Vec<Axis>)> {
        let value = self.ir.results(self.op).get(index).copied();
        let value = value.ok_or_else(|| InterpError::invalid("a result is missing"))?;
        let wanted = Wanted::of(self.ir, self.extents, self.ir.value_type(value))?;
        let known = wanted.axes.iter().map(|&(extent, broadcast)| {
            let extent =
                extent.ok_or_else(|| InterpError::new(ErrorKind::UnboundExtent("?".into())))?;
            Ok(Axis::new(extent, broadcast))
        });
        Ok((wanted.dtype, known.collect::<Result<_>>()?))
    }
}

/// The requirements of a type on a value.
pub(crate) struct Wanted {
    dtype: DType,
    /// Extent, if it has a name or number, and whether it is stored once.
    axes: Vec<(Option<usize>, bool)>,
}

impl Wanted {
    /// The requirements of a tensor, vector or scalar type.
    pub fn of(ir: &Ir, extents: &Extents, ty: TypeId) -> Result<Self> {
        let (dtype, axes) = match ir.ty(ty) {
            TypeKind::Scalar(dtype) => (*dtype, Vec::new()),
            TypeKind::Tensor(t) => {
                let axes = t
                    .dims
                    .iter()
                    .map(|d| Ok((extents.length(ir, d.extent)?, d.broadcast)));
                (t.dtype, axes.collect::<Result<_>>()?)
            }
            TypeKind::Vector { shape, dtype } => {
                let axes = shape.iter().map(|n| (usize::try_from(*n).ok(), false));
                (*dtype, axes.collect())
            }
            _ => {
                return Err(InterpError::invalid(
                    "the type is no tensor, vector or scalar",
                ));
            }
        };
        Ok(Self { dtype, axes })
    }
    /// `4xb?xf32`
    pub fn describe(&self) -> String {
        let mut text = String::new();
        for (extent, broadcast) in &self.axes {
            let mark = if *broadcast { "b" } else { "" };
            let extent = extent.map_or("?".to_string(), |e| e.to_string());
            text.push_str(&format!("{mark}{extent}x"));
        }
        text + self.dtype.name()
    }
    /// True if `tensor` matches: element type, rank, extents, and the axes that are stored once.
    pub fn accepts(&self, tensor: &Tensor) -> bool {
        let same = |(axis, (extent, broadcast)): (&Axis, &(Option<usize>, bool))| {
            *axis == Axis::new(axis.extent, *broadcast) && extent.is_none_or(|e| e == axis.extent)
        };
        tensor.dtype() == self.dtype
            && tensor.axes().len() == self.axes.len()
            && tensor.axes().iter().zip(&self.axes).all(same)
    }
}
