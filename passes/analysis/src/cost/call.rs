//! Calls: the ops that no kernel computes as they are. One runs as a whole, or is taken apart.

use fuser_ir::def::OpClass;
use fuser_ir::{Ir, Op};

use super::attention::Attention;
use super::product::Product;
use super::sizes::Bindings;
use crate::axes::value_text;

/// The extents of an op that may be a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    /// A product.
    Product(Product),
    /// Attention.
    Attention(Attention),
    /// A scatter.
    Scatter {
        /// Elements that are put somewhere.
        updates: u64,
        /// Elements of the result.
        elements: u64,
    },
    /// A sort.
    Sort {
        /// Lines that are sorted.
        lines: u64,
        /// Elements of each.
        length: u64,
        /// Elements of each that are kept.
        kept: u64,
    },
}

impl Call {
    /// The extents of `op`, named ones with the lengths of `bindings`; `None` where it is no such op.
    pub fn of(ir: &Ir, op: Op, bindings: &Bindings) -> Option<Self> {
        let elements = |value| {
            let dims = &ir.value_kind(value).as_tensor()?.dims;
            let lengths = dims.iter().map(|dim| bindings.extent(ir, dim.extent));
            Some(lengths.fold(1, u64::saturating_mul))
        };
        match ir.def(op)?.class {
            OpClass::Contraction => Product::of(ir, op, bindings).map(Self::Product),
            OpClass::Attention => Attention::of(ir, op, bindings).map(Self::Attention),
            OpClass::Scatter => Some(Self::Scatter {
                updates: elements(ir.operands(op).nth(2)?)?,
                elements: elements(*ir.results(op).first()?)?,
            }),
            OpClass::Sort => {
                let dim = usize::try_from(ir.int_of(op, "dim")?).ok()?;
                let length = |value| {
                    let tensor = ir.value_kind(value).as_tensor()?;
                    Some(bindings.extent(ir, tensor.dims.get(dim)?.extent))
                };
                let (input, result) = (ir.operands(op).next()?, *ir.results(op).first()?);
                let (length, kept) = (length(input)?, length(result)?);
                let lines = elements(input)?.checked_div(length).unwrap_or(0);
                Some(Self::Sort {
                    lines,
                    length,
                    kept,
                })
            }
            OpClass::Elementwise
            | OpClass::Reduction
            | OpClass::Scan
            | OpClass::Composite
            | OpClass::Shape
            | OpClass::Creation
            | OpClass::Structure
            | OpClass::Memory => None,
        }
    }
    /// Its arithmetic.
    pub fn flops(&self) -> u64 {
        match self {
            Self::Product(product) => product.flops(),
            Self::Attention(attention) => attention.flops(),
            Self::Scatter { updates, .. } => *updates,
            // Each step compares and moves.
            Self::Sort { lines, length, .. } => {
                let steps = 2 * u64::from(u64::BITS - length.leading_zeros());
                lines.saturating_mul(*length).saturating_mul(steps)
            }
        }
    }
    /// `product %y (1 times 64x32 of 16 terms)`
    pub fn render(&self, ir: &Ir, op: Op) -> String {
        let name = value_text(ir, ir.result(op, 0));
        match self {
            Self::Product(Product {
                batch,
                rows,
                columns,
                terms,
                ..
            }) => format!("product {name} ({batch} times {rows}x{columns} of {terms} terms)"),
            Self::Attention(attention) => format!("attention {name} ({})", attention.render()),
            Self::Scatter { updates, elements } => {
                format!("scatter {name} ({updates} elements into {elements})")
            }
            Self::Sort {
                lines,
                length,
                kept,
            } => format!("sort {name} ({lines} lines of {length}, {kept} kept)"),
        }
    }
}

/// True if the op is one that may run as a whole, in a segment of its own.
pub fn is_call(ir: &Ir, op: Op) -> bool {
    let class = ir.def(op).map(|d| d.class);
    matches!(
        class,
        Some(OpClass::Contraction | OpClass::Attention | OpClass::Scatter | OpClass::Sort)
    )
}
