//! Products: a tensor by a matrix, by as many matrices as it is, or by a vector.

use fuser_dialects::fusion;
use fuser_ir::DType;
use fuser_ir::def::OpDef;

use super::maker::{Maker, Slot};
use super::operands::plain;
use super::ops::tensor;
use super::shapes::{self, Axis};

/// The most axes of a left operand.
const MAX_AXES: usize = 4;
/// Multiplications of a product at most, for each element that a tensor may have.
pub const WORK: u64 = 64;

/// Appends an op of the table to the program; `None` if that is not possible.
pub fn draw(maker: &mut Maker<'_>, def: &'static OpDef) -> Option<usize> {
    let left = tensor(maker, def, true)?;
    let source = maker.slots[left].clone();
    let (&terms, before) = source.axes.split_last()?;
    let rows = shapes::elements(before);
    let work = maker.config.elements.saturating_mul(WORK);
    let most = work / rows.saturating_mul(terms.length.max(1)).max(1);
    if before.len() >= MAX_AXES || most == 0 {
        return None;
    }
    let wide = maker.source.chance(1, 4);
    let room = (maker.config.elements / rows.max(1)).clamp(1, most);
    let new = shapes::axis(maker.source, &mut maker.ir, &mut maker.names, room);
    let terms = plain(terms);
    let linear = std::ptr::eq(def, &fusion::LINEAR);
    let batched = !linear && before.len() > 1 && maker.source.chance(1, 2);
    let mut axes = before.to_vec();
    let own = match (linear, batched) {
        (true, _) => vec![new, terms],
        (false, false) if maker.source.chance(1, 4) => vec![terms],
        (false, false) => vec![terms, new],
        (false, true) => {
            let batch = axes.len() - 1;
            axes[..batch]
                .iter_mut()
                .for_each(|axis| *axis = plain(*axis));
            [&axes[..batch], &[terms, new]].concat()
        }
    };
    if own.len() > 1 {
        axes.push(new);
    }
    let mut operands = vec![left, like(maker, &own, source.dtype)];
    let added = match (linear, maker.source.chance(1, 4)) {
        (_, true) => Some(axes.clone()),
        (true, _) if maker.source.chance(1, 2) => Some(vec![new]),
        _ => None,
    };
    if let Some(added) = added {
        operands.push(like(maker, &added, source.dtype));
    }
    let facts = operands.iter().map(|&slot| maker.slots[slot].fact);
    let facts: Option<Vec<u64>> = facts.collect();
    // A bias is one term more, of no greater magnitude than one factor or a product.
    let count = terms.length.saturating_add(1);
    let term = facts.map(|f| {
        f[0].saturating_mul(f[1])
            .max(f.get(2).copied().unwrap_or(0))
    });
    let to = match wide {
        true => source.dtype.accumulate(),
        false => source.dtype,
    };
    let fact = maker.reduced(&fusion::SUM, to, term, count)?;
    let mut clauses = Vec::new();
    if wide {
        clauses.push(maker.dtype_clause("to", to));
    }
    maker.emit(def, &operands, &clauses, Some(axes), fact)
}

/// A tensor with these axes: a value that is there, or a new input.
pub fn like(maker: &mut Maker<'_>, axes: &[Axis], dtype: DType) -> usize {
    let dims = shapes::dims(axes);
    let fits = |s: &Slot| s.dtype == dtype && !s.scalar && shapes::dims(&s.axes) == dims;
    match maker.slot_where(fits) {
        Some(slot) => slot,
        None => maker.input(axes.to_vec(), dtype, false),
    }
}
