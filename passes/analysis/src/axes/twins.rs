//! Twins: ops of a set that compute the same values. Their results have the same axes.
//!
//! A sweep recomputes an op in each phase that needs it again. Relations between axes that one op implies hold for its
//! twins too: the loop nest planned for one op is the loop nest of the sweep.
//!
//! Twins have one name, the same inherent attributes and result types, and the same operands or operands that are
//! twins.

use fuser_ir::{Ir, Op, Traits, Value};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

use super::union::AxisUnion;

/// Unifies the axes of twins where no op of the set keeps them apart; returns true if there are twins.
pub(super) fn unify(ir: &Ir, ops: &[Op], union: &mut AxisUnion) -> bool {
    let mut known: FxHashMap<u64, Op> = FxHashMap::default();
    let mut first: FxHashMap<Value, Value> = FxHashMap::default();
    for &op in ops {
        let pure = ir.def(op).is_some_and(|d| d.traits.contains(Traits::PURE));
        if !pure {
            continue;
        }
        let Some(twin) = known.insert(hash(ir, op, &first), op) else {
            continue;
        };
        if !same(ir, op, twin, &first) {
            continue;
        }
        for (&value, &other) in ir.results(op).iter().zip(ir.results(twin)) {
            first.insert(value, first.get(&other).copied().unwrap_or(other));
            let mark = union.mark();
            if union.unify_values(op, value, other).is_err() {
                union.rollback(mark);
            }
        }
    }
    !first.is_empty()
}

/// The operands of an op, each replaced by the first of its twins.
fn operands<'a>(
    ir: &'a Ir,
    op: Op,
    first: &'a FxHashMap<Value, Value>,
) -> impl Iterator<Item = Value> + 'a {
    let first = |value| first.get(&value).copied().unwrap_or(value);
    ir.operands(op).map(first)
}

fn hash(ir: &Ir, op: Op, first: &FxHashMap<Value, Value>) -> u64 {
    let mut hasher = FxHasher::default();
    ir.name_id(op).hash(&mut hasher);
    operands(ir, op, first).for_each(|v| v.hash(&mut hasher));
    hasher.finish()
}

fn same(ir: &Ir, a: Op, b: Op, first: &FxHashMap<Value, Value>) -> bool {
    ir.is_alike(a, b) && operands(ir, a, first).eq(operands(ir, b, first))
}
