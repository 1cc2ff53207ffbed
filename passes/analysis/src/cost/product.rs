//! Products: their extents, derived from indexing maps. Their cost follows from these.

use fuser_dialects::fusion::convolution;
use fuser_ir::{DType, Ir, Op};

use super::sizes::Bindings;

/// The extents of a product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Product {
    /// The element type of the factors.
    pub dtype: DType,
    /// Number of independent products.
    pub batch: u64,
    /// Rows of the left operand and of the result.
    pub rows: u64,
    /// Columns of the right operand and of the result.
    pub columns: u64,
    /// Terms of each sum.
    pub terms: u64,
}

impl Product {
    /// The extents of `op`, with named extents bound by `bindings`; `None` if `op` has no maps of a product.
    pub fn of(ir: &Ir, op: Op, bindings: &Bindings) -> Option<Self> {
        let maps = ir.maps(op)?;
        let [left, right] = [maps.operands.first()?, maps.operands.get(1)?];
        let mut product = Self {
            dtype: ir.value_kind(ir.operand(op, 0)).dtype()?,
            batch: 1,
            rows: 1,
            columns: 1,
            terms: 1,
        };
        for iter in 0..maps.iterators.len() {
            let places = (left.axis_of(iter), right.axis_of(iter));
            let (operand, axis) = match places {
                (Some(axis), _) => (0, axis),
                (None, Some(axis)) => (1, axis),
                (None, None) => continue,
            };
            let tensor = ir.value_kind(ir.operand(op, operand)).as_tensor()?;
            let extent = bindings.extent(ir, tensor.dims.get(axis)?.extent);
            let kind = match places {
                (Some(_), Some(_)) if maps.results[0].axis_of(iter).is_none() => &mut product.terms,
                (Some(_), Some(_)) => &mut product.batch,
                (Some(_), None) => &mut product.rows,
                (None, _) => &mut product.columns,
            };
            *kind = kind.saturating_mul(extent);
        }
        Some(product)
    }
    /// The extents of a convolution as a product: the batch is the groups, the rows are the positions, the columns are
    /// the filters.
    pub fn of_windows(ir: &Ir, op: Op, bindings: &Bindings) -> Option<Self> {
        let extents = |value| -> Option<Vec<u64>> {
            let dims = &ir.value_kind(value).as_tensor()?.dims;
            Some(
                dims.iter()
                    .map(|dim| bindings.extent(ir, dim.extent))
                    .collect(),
            )
        };
        let front = convolution::front(ir, op);
        let (result, kernel) = (extents(ir.result(op, 0))?, extents(ir.operand(op, 1))?);
        let all = |list: &[u64]| list.iter().fold(1u64, |all, n| all.saturating_mul(*n));
        Some(Self {
            dtype: ir.value_kind(ir.operand(op, 0)).dtype()?,
            batch: all(result.get(1..front - 1)?),
            rows: result.first()?.saturating_mul(all(result.get(front..)?)),
            columns: *result.get(front - 1)?,
            terms: all(kernel.get(front - 1..)?),
        })
    }
    /// Floating-point operations.
    pub fn flops(&self) -> u64 {
        let sizes = [self.batch, self.rows, self.columns, self.terms];
        sizes.into_iter().fold(2, u64::saturating_mul)
    }
}
