//! Picking a value, putting ops after it, giving them its uses.

use fuser_dialects::task;
use fuser_ir::types::TensorType;
use fuser_ir::{Block, Builder, Ir, Op, TypeKind, Value};

use super::identities::Make;
use crate::Source;
use crate::generate::Case;

/// The program's block.
pub fn body(case: &Case) -> Option<Block> {
    case.ir.body(case.program, 0)
}

/// The program's ops but the terminator.
pub fn ops(case: &Case) -> Vec<Op> {
    let Some(body) = body(case) else {
        return Vec::new();
    };
    let ops = case.ir.block_ops(body);
    ops.filter(|op| !case.ir.is(*op, &task::RETURN)).collect()
}

/// The terminator.
pub fn terminator(case: &Case) -> Option<Op> {
    case.ir.last_op(body(case)?)
}

/// The type of a value that is a tensor.
pub fn tensor(ir: &Ir, value: Value) -> Option<TensorType> {
    match ir.value_kind(value) {
        TypeKind::Tensor(tensor) => Some(tensor.clone()),
        _ => None,
    }
}

/// All tensors of the program that something uses.
fn used_tensors(case: &Case) -> Vec<Value> {
    let mut values = body(case).map_or(Vec::new(), |body| case.ir.args(body).to_vec());
    for op in ops(case) {
        values.extend(case.ir.results(op));
    }
    values.retain(|v| !case.ir.is_unused(*v) && tensor(&case.ir, *v).is_some());
    values
}

/// Makes an equal value of some value, and gives it all of the other's uses, or one. A value that `make` refuses, or
/// that has another type in the end, leaves no trace.
pub fn replace(case: &mut Case, source: &mut Source, make: Make) -> bool {
    let Some(&value) = source.pick(&used_tensors(case)) else {
        return false;
    };
    let Some(of) = tensor(&case.ir, value) else {
        return false;
    };
    let before = ops(case);
    let first = before.first().copied().or_else(|| terminator(case));
    let builder = match (case.ir.def_op(value), first) {
        (Some(op), _) => Builder::after(&mut case.ir, op),
        (None, Some(first)) => Builder::before(&mut case.ir, first),
        (None, None) => return false,
    };
    let made = make(&mut Site { builder, source }, value, &of);
    let new: Vec<Op> = ops(case)
        .into_iter()
        .filter(|op| !before.contains(op))
        .collect();
    let fits = |made: &Value| case.ir.value_type(*made) == case.ir.value_type(value);
    let Some(made) = made.filter(fits) else {
        erase(&mut case.ir, &new);
        return false;
    };
    let users = case.ir.users(value).filter(|op| !new.contains(op)).count();
    let only = source.chance(1, 2).then(|| source.index(users));
    let mut at = 0;
    case.ir.replace_uses_if(value, made, |ir, slot| {
        if new.contains(&ir.use_owner(slot).0) {
            return false;
        }
        at += 1;
        only.is_none_or(|only| at - 1 == only)
    });
    true
}

/// Erases ops that use each other only.
pub fn erase(ir: &mut Ir, ops: &[Op]) {
    for op in ops.iter().rev() {
        ir.erase(*op);
    }
}

/// The insertion point of new ops, and the source of choices.
pub struct Site<'a, 's> {
    /// After the value that is replaced.
    pub builder: Builder<'a>,
    /// Choices.
    pub source: &'s mut Source,
}
