//! Updates of a tensor that a condition chooses or leaves out.
//!
//! ```text
//! where(c, scatter(x, i, u), x)                => scatter(x, where(c, i, -1), u)
//! where(c, dynamic_update_slice(x, r, s), x)   => dynamic_update_slice(x, where(c, r, dynamic_slice(x, s)), s)
//! ```
//!
//! The condition is one truth value. The work is that of the update, and the update may happen in the tensor's memory,
//! as in a loop that writes a row of a buffer in some turns.

use fuser_dialects::fusion::build::FusionBuilder;
use fuser_dialects::fusion::{
    BROADCAST, DYNAMIC_SLICE, DYNAMIC_UPDATE_SLICE, INDEX_PUT, SCATTER, WHERE,
};
use fuser_ir::clone::Mapping;
use fuser_ir::rewrite::{Pattern, Rewriter};
use fuser_ir::{Builder, Dim, Ir, Op, Value};

/// The most updates one after the other.
const MOST: usize = 64;

pub static WHERE_UPDATE: Pattern = Pattern {
    name: "where-update",
    summary: "where(c, update(x), x) => update(x) of nothing else where the one truth value c is false",
    roots: &["fusion.where"],
    benefit: 1,
    rewrite: where_update,
};

fn where_update(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = rw.ir();
    let [condition, yes, no] = [0, 1, 2].map(|index| ir.operand(op, index));
    let Some(truth) = one_truth(ir, condition) else {
        return false;
    };
    let sides = [(yes, no, true), (no, yes, false)];
    let found = sides.into_iter().find_map(|(updated, other, wanted)| {
        let update = update(ir, updated)?;
        let same = ir.value_type(updated) == ir.value_type(ir.result(op, 0));
        (same && updates(ir, update, other)).then_some((update, other, wanted))
    });
    let Some((update, other, wanted)) = found else {
        return false;
    };
    let mut operands: Vec<Value> = ir.operands(update).collect();
    let is_slice = ir.is(update, &DYNAMIC_UPDATE_SLICE);
    // The part that is written, or the indices where it is.
    let at = 1;
    let mut b = Builder::before(rw.ir_mut(), op);
    if operands[0] != other {
        let ty = b.ir.value_type(other);
        let [yes, no] = ordered(wanted, operands[0], other);
        let Ok(dest) = b.typed(&WHERE, &[condition, yes, no], &[], ty) else {
            return false;
        };
        operands[0] = dest;
    }
    let own = operands[at];
    let nothing = match is_slice {
        true => window(&mut b, update, other, own),
        false => nowhere(&mut b, own),
    };
    let Some(nothing) = nothing else {
        return false;
    };
    let dims = dims(b.ir, own);
    let [yes, no] = ordered(wanted, own, nothing);
    let Ok(truths) = b.broadcast(truth, &[], &dims) else {
        return false;
    };
    let Ok(chosen) = b.choose(truths, yes, no) else {
        return false;
    };
    operands[at] = chosen;
    let ir = rw.ir_mut();
    let copy = ir.clone_op(update, &mut Mapping::default());
    ir.insert_before(op, copy);
    ir.set_operands(copy, &operands);
    let made = ir.result(copy, 0);
    // The update of old is another value.
    ir.set_value_name(made, None);
    rw.replace(op, &[made]);
    true
}

fn ordered(wanted: bool, own: Value, other: Value) -> [Value; 2] {
    match wanted {
        true => [own, other],
        false => [other, own],
    }
}

/// The truth value that a tensor repeats everywhere.
fn one_truth(ir: &Ir, condition: Value) -> Option<Value> {
    let op = ir.def_op(condition).filter(|&op| ir.is(op, &BROADCAST))?;
    let value = ir.operand(op, 0);
    ir.value_kind(value)
        .as_tensor()?
        .dims
        .is_empty()
        .then_some(value)
}

/// The update that makes a value for one user.
fn update(ir: &Ir, value: Value) -> Option<Op> {
    let op = ir.def_op(value).filter(|_| ir.has_one_use(value))?;
    let updates = [&DYNAMIC_UPDATE_SLICE, &SCATTER, &INDEX_PUT];
    updates.into_iter().any(|def| ir.is(op, def)).then_some(op)
}

/// True if updates, `last` at the end, make its result of `first`.
fn updates(ir: &Ir, last: Op, first: Value) -> bool {
    let before = |&op: &Op| update(ir, ir.operand(op, 0));
    let chain = std::iter::successors(Some(last), before).take(MOST);
    let mut dests = chain.map(|op| ir.operand(op, 0));
    dests.any(|dest| dest == first)
}

/// The part of `other` that a `dynamic_update_slice` overwrites.
fn window(b: &mut Builder<'_>, update: Op, other: Value, part: Value) -> Option<Value> {
    let starts: Vec<Value> = b.ir.operands(update).skip(2).collect();
    let axes = b.ir.i64s_of(update, "dims")?.to_vec();
    let operands: Vec<Value> = [other].iter().chain(&starts).copied().collect();
    let shape = dims(b.ir, part);
    let clauses = [b.ints("dims", &axes), b.shape("shape", &shape)];
    b.value(&DYNAMIC_SLICE, &operands, &clauses).ok()
}

/// Indices that put nothing anywhere, as many as `indices`.
fn nowhere(b: &mut Builder<'_>, indices: Value) -> Option<Value> {
    let ty = b.ir.value_type(indices);
    b.constant_int(-1, ty).ok()
}

fn dims(ir: &Ir, value: Value) -> Vec<Dim> {
    let tensor = ir.value_kind(value).as_tensor();
    tensor.map_or(Vec::new(), |tensor| tensor.dims.clone())
}
