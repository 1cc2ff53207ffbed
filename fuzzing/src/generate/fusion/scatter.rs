//! Scatters: parts or elements of a tensor put into another at indices that are values, within the axis or beyond it.

use fuser_dialects::fusion;
use fuser_ir::DType;
use fuser_ir::def::OpDef;

use super::gather::beside;
use super::maker::Maker;
use super::operands::plain;
use super::ops::tensor;
use super::products::{WORK, like};
use super::shapes;

/// Appends an op of the table to the program; `None` if that is not possible.
pub fn draw(maker: &mut Maker<'_>, def: &'static OpDef) -> Option<usize> {
    let whole = std::ptr::eq(def, &fusion::INDEX_PUT);
    let dest = tensor(maker, def, true)?;
    let source = maker.slots[dest].clone();
    if source.axes.is_empty() {
        return None;
    }
    let dim = maker.source.index(source.axes.len());
    let length = source.axes[dim].length.max(1);
    let count = shapes::elements(&source.axes);
    let work = maker.config.elements.saturating_mul(WORK);
    let room = (maker.config.elements / (count / length).max(1)).min(work / count.max(1));
    let walked = shapes::axis(maker.source, &mut maker.ir, &mut maker.names, room.max(1));
    let axes: Vec<_> = source.axes.iter().copied().map(plain).collect();
    let mut own = axes.clone();
    own[dim] = plain(walked);
    let updates = like(maker, &own, source.dtype);
    let indices = match whole {
        true => beside(maker, &[plain(walked)]),
        false => beside(maker, &own),
    };
    let words: &[_] = match source.dtype {
        DType::I1 => &["set", "max", "min"],
        dtype if dtype.is_complex() => &["set", "add"],
        _ => fusion::COMBINES,
    };
    let word = maker.source.one(words);
    let reduce = match word {
        "add" => &fusion::SUM,
        "mul" => &fusion::PROD,
        _ => &fusion::MAX,
    };
    let each = source.fact.zip(maker.slots[updates].fact);
    let each = each.map(|(a, b)| a.max(b));
    let terms = walked.length.saturating_add(1);
    let fact = match word {
        "set" => each,
        _ => maker.reduced(reduce, source.dtype, each, terms)?,
    };
    let clauses = [
        ("dim", maker.ir.int_attr(dim as i64)),
        ("combine", maker.ir.string_attr(word)),
    ];
    maker.emit(def, &[dest, indices, updates], &clauses, Some(axes), fact)
}
