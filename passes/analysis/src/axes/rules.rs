//! Rules by which each op relates axes, derived from its indexing maps.
//!
//! Axes of operands and results that one iterator indexes are one axis. A reduction ends the axes of its reduction
//! iterators. A scan iterates its scan axis in order, and ends it if the result has no such axis. A reshape aligns its
//! operand's axes with its result's. If an index moves, operand and result have their own axes, and the operand is read
//! by index arithmetic (`window/`).
//!
//! Never looks at an op's name. Never trusts a clause: an op without maps is `Unsupported`, not a panic.

use fuser_ir::maps::{Index, IteratorKind, Map};
use fuser_ir::{Ir, Op};
use smallvec::{SmallVec, smallvec};

use super::refusal::AxisRefusal;
use super::union::{AxisUnion, Node};

/// Adds the relations between axes that `op` implies.
pub(super) fn apply(union: &mut AxisUnion, ir: &Ir, op: Op) -> Result<(), AxisRefusal> {
    let refusal = || AxisRefusal::Unsupported { op };
    let apart = union.is_apart(op);
    let is_window = ir.def(op).is_some_and(|def| def.shifts());
    let shifts = apart || is_window;
    let result = ir.results(op).first();
    if result.is_some_and(|&v| union.is_unwalked(v)) {
        return Ok(());
    }
    let maps = ir.maps(op).ok_or_else(refusal)?;
    let mut iterators: SmallVec<[Option<Node>; 4]> = smallvec![None; maps.iterators.len()];
    let mut row_major: SmallVec<[Node; 4]> = SmallVec::new();
    let operands = ir.operands(op).zip(&maps.operands);
    let results = ir.results(op).iter().copied().zip(&maps.results);
    for (at, (value, map)) in operands.chain(results).enumerate() {
        // A value read only by windows brings no axes to the iteration space.
        let aside = shifts && at < maps.operands.len();
        let dims = match aside {
            true => union.aside(ir, value),
            false => union.tensor(ir, value),
        };
        let nodes: SmallVec<[Node; 4]> = dims.unwrap_or_default().iter().map(|d| d.0).collect();
        let Map::Axes(indices) = map else {
            row_major.extend(nodes);
            continue;
        };
        if indices.len() != nodes.len() {
            return Err(refusal());
        }
        let indexed = || {
            indices
                .iter()
                .any(|i| matches!(i, Index::Element(_) | Index::From { .. }))
        };
        if aside && apart && (!is_window || indexed()) {
            continue;
        }
        for (index, node) in indices.iter().zip(nodes) {
            let Index::Iter(iter) = index else { continue };
            match iterators[*iter] {
                Some(first) => union.unify(op, first, node)?,
                None => iterators[*iter] = Some(node),
            }
        }
    }
    if maps.operands.contains(&Map::RowMajor) {
        let to: SmallVec<[Node; 4]> = iterators.iter().flatten().copied().collect();
        union.align(op, &row_major, &to)?;
    }
    for kind in [IteratorKind::Reduction, IteratorKind::Scan] {
        let own = iterators.iter().zip(&maps.iterators).enumerate();
        let own = own.filter(|(iter, (_, k))| match kind {
            IteratorKind::Reduction => maps.ends(*iter),
            _ => **k == kind,
        });
        let nodes: SmallVec<[Node; 4]> = own.filter_map(|(_, (node, _))| *node).collect();
        if !nodes.is_empty() {
            union.combine(op, kind, nodes);
        }
    }
    Ok(())
}
