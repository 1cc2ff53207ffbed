//! Sorts along some axis, and the first elements of them.

use fuser_dialects::fusion;
use fuser_ir::DType;
use fuser_ir::def::OpDef;
use fuser_ir::types::{Dim, Extent};

use super::facts;
use super::maker::{Clause, Maker};
use super::operands::plain;
use super::ops::tensor;
use super::products::WORK;
use super::shapes::{self, Axis};

/// Appends an op of the table to the program; `None` if that is not possible.
pub fn draw(maker: &mut Maker<'_>, def: &'static OpDef) -> Option<usize> {
    let slot = tensor(maker, def, false)?;
    let source = maker.slots[slot].clone();
    let dim = (!source.axes.is_empty()).then(|| maker.source.index(source.axes.len()))?;
    let length = source.axes[dim].length;
    let pairs = shapes::elements(&source.axes).saturating_mul(length.max(1));
    if pairs > maker.config.elements.saturating_mul(WORK) {
        return None;
    }
    let mut axes = source.axes;
    axes[dim] = plain(axes[dim]);
    let mut clauses: Vec<Clause> = vec![("dim", maker.ir.int_attr(dim as i64))];
    let top = std::ptr::eq(def, &fusion::TOPK);
    let fixed = matches!(axes[dim].dim.extent, Extent::Static(_));
    if top && !fixed {
        return None;
    }
    if top || (fixed && maker.source.chance(1, 4)) {
        let first = maker.source.below(length + 1);
        clauses.push(("first", maker.ir.int_attr(first as i64)));
        let dim_of = Dim::fixed(first);
        axes[dim] = Axis {
            dim: dim_of,
            length: first,
        };
    }
    let of = maker.source.one(&[DType::I64, DType::I32]);
    let indices = def.clause("of").is_some();
    if indices {
        clauses.push(maker.dtype_clause("of", of));
    }
    for flag in ["descending", "smallest"] {
        if def.clause(flag).is_some() && maker.source.chance(1, 2) {
            clauses.push(maker.flag_clause(flag));
        }
    }
    let fact = match indices && !top {
        true => Some(length.min(facts::full_range(of))),
        // Elements, and behind them indices.
        false => source
            .fact
            .map(|most| if top { most.max(length) } else { most }),
    };
    maker.emit(def, &[slot], &clauses, Some(axes), fact)
}
