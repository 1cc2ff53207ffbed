//! Attention: a tensor as queries, and keys, values and a bias that fit it.

use fuser_dialects::fusion::build::float_attr;
use fuser_ir::DType;
use fuser_ir::def::OpDef;

use super::maker::{Clause, Maker};
use super::operands::plain;
use super::ops::tensor;
use super::products::{WORK, like};
use super::shapes::{self, Axis};

/// The most queries, and the most terms of a score, of a new operand.
const SMALL: u64 = 9;

/// Appends an op of the table to the program; `None` if that is not possible.
pub fn draw(maker: &mut Maker<'_>, def: &'static OpDef) -> Option<usize> {
    let mut q = tensor(maker, def, true)?;
    if maker.slots[q].axes.len() < 2 {
        let dtype = maker.slots[q].dtype;
        let mut axis = || shapes::axis(maker.source, &mut maker.ir, &mut maker.names, SMALL);
        let axes = [axis(), axis()];
        q = like(maker, &axes, dtype);
    }
    let source = maker.slots[q].clone();
    let axes: Vec<Axis> = source.axes.iter().map(|axis| plain(*axis)).collect();
    let (batch, [queries, terms]) = axes.split_last_chunk()?;
    let work = maker.config.elements.saturating_mul(WORK);
    let rows = shapes::elements(batch).saturating_mul(queries.length.max(1));
    let room = work / rows.saturating_mul(terms.length.max(1)).max(1);
    let most = maker.config.elements / shapes::elements(batch).max(1);
    if room == 0 || most == 0 {
        return None;
    }
    let mut axis = |most: u64| shapes::axis(maker.source, &mut maker.ir, &mut maker.names, most);
    let keys = axis(room.min(most / terms.length.max(1)).max(1));
    let wide = rows.max(shapes::elements(batch).saturating_mul(keys.length.max(1)));
    let columns = axis((maker.config.elements / wide.max(1)).max(1));
    let of = |last: [Axis; 2]| [batch, &last[..]].concat();
    let mut operands = vec![q];
    for last in [[keys, *terms], [keys, columns]] {
        operands.push(like(maker, &of(last), source.dtype));
    }
    if maker.source.chance(1, 2) {
        let dtype = match maker.source.chance(1, 2) {
            true => DType::I1,
            false => source.dtype,
        };
        let scores = [*queries, keys];
        let own = match maker.source.chance(1, 2) {
            true => of(scores),
            false => scores.to_vec(),
        };
        operands.push(like(maker, &own, dtype));
    }
    let mut clauses: Vec<Clause> = Vec::new();
    if maker.source.chance(1, 2) {
        let scale = maker.source.one(&[0.125, 0.5, -0.25, 0.0]);
        let ty = maker.ir.scalar(source.dtype);
        clauses.push(("scale", float_attr(&mut maker.ir, scale, ty)));
    }
    if maker.source.chance(1, 2) {
        clauses.push(maker.flag_clause("causal"));
    }
    if maker.source.chance(1, 3) {
        clauses.push(maker.flag_clause("logsumexp"));
    }
    maker.emit(
        def,
        &operands,
        &clauses,
        Some(of([*queries, columns])),
        None,
    )
}
