//! Attention: the extents that its operands determine.

use fuser_ir::{DType, Ir, Op};

use super::sizes::Bindings;

/// The extents of an attention.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attention {
    /// Number of independent attentions.
    pub batch: u64,
    /// Queries of each attention.
    pub queries: u64,
    /// Keys of each attention.
    pub keys: u64,
    /// Length of a query or key, and length of a value.
    pub terms: [u64; 2],
    /// The element type.
    pub dtype: DType,
}

impl Attention {
    /// The extents of `op`, with named extents bound by `bindings`; `None` if the operands are no matrices.
    pub fn of(ir: &Ir, op: Op, bindings: &Bindings) -> Option<Self> {
        let lengths = |operand: usize| {
            let tensor = ir.value_kind(ir.operands(op).nth(operand)?).as_tensor()?;
            let lengths = tensor
                .dims
                .iter()
                .map(|dim| bindings.extent(ir, dim.extent));
            Some(lengths.collect::<Vec<u64>>())
        };
        let (q, v) = (lengths(0)?, lengths(2)?);
        let ([batch @ .., queries, terms], [.., keys, columns]) = (&q[..], &v[..]) else {
            return None;
        };
        Some(Self {
            batch: batch.iter().copied().fold(1, u64::saturating_mul),
            queries: *queries,
            keys: *keys,
            terms: [*terms, *columns],
            dtype: ir.value_kind(ir.operand(op, 0)).dtype()?,
        })
    }
    /// Floating-point operations of its two products.
    pub fn flops(&self) -> u64 {
        let [terms, columns] = self.terms;
        let sizes = [
            self.batch,
            self.queries,
            self.keys,
            terms.saturating_add(columns),
        ];
        sizes.into_iter().fold(2, u64::saturating_mul)
    }
    /// `8 times 128 queries and 128 keys of 64, values of 64`
    pub fn render(&self) -> String {
        let (batch, [terms, columns]) = (self.batch, self.terms);
        let (queries, keys) = (self.queries, self.keys);
        format!("{batch} times {queries} queries and {keys} keys of {terms}, values of {columns}")
    }
}
