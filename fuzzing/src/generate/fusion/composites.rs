//! Composite ops of a tensor and an axis: rolls, and lines that are 1 at an index.

use fuser_dialects::fusion;
use fuser_ir::DType;
use fuser_ir::def::OpDef;
use fuser_ir::types::Extent;

use super::maker::Maker;
use super::ops::tensor;
use super::shapes;

/// Appends a roll to the program, if it can.
pub fn roll(maker: &mut Maker<'_>, def: &'static OpDef) -> Option<usize> {
    let slot = tensor(maker, def, true)?;
    let source = maker.slots[slot].clone();
    let dim = (!source.axes.is_empty()).then(|| maker.source.index(source.axes.len()))?;
    if source.axes[dim].dim.extent == Extent::Unknown {
        return None;
    }
    let shift = maker.source.range(-9, 9);
    let clauses = [
        ("dim", maker.ir.int_attr(dim as i64)),
        ("shift", maker.ir.int_attr(shift)),
    ];
    maker.emit(def, &[slot], &clauses, Some(source.axes), source.fact)
}

/// Appends a `one_hot` to the program, if it can.
pub fn one_hot(maker: &mut Maker<'_>) -> Option<usize> {
    let slot = tensor(maker, &fusion::ONE_HOT, true)?;
    let mut axes = maker.slots[slot].axes.clone();
    let room = maker.config.elements / shapes::elements(&axes).max(1);
    let own = shapes::axis(maker.source, &mut maker.ir, &mut maker.names, room.max(1));
    let dim = maker.source.index(axes.len() + 1);
    axes.insert(dim, own);
    let of = maker
        .source
        .one(&[DType::F32, DType::BF16, DType::I64, DType::I1]);
    let clauses = [
        ("dim", maker.ir.int_attr(dim as i64)),
        maker.plain_clause("shape", &[own]),
        maker.dtype_clause("of", of),
    ];
    maker.emit(&fusion::ONE_HOT, &[slot], &clauses, Some(axes), Some(1))
}
