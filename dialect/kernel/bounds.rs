//! Bounds of indices, derived from the ops that compute them: a division of a non-negative index is a shift, and a loop
//! with no more iterations than threads runs once.
//!
//! ```text
//! kernel.for 0, %blocks, 1 map "grid" (%i)                   %blocks = (%N + 1023) / 1024
//!   %rest = fusion.sub %N, (fusion.mul %i, 1024)             at least 1: no iteration begins behind the end
//!   %length = fusion.minimum 1024, %rest                     between 1 and 1024
//! ```

use fuser_ir::def::Computes;
use fuser_ir::{DType, Def, Ir, Op, TypeKind, Value};
use rustc_hash::FxHashMap;

use super::ops::{FOR, FUNC};
use super::rounds::literal;

/// The most ops between an index and the op that bounds it.
const REACH: usize = 8;

/// True for an index that is known not to be negative.
pub fn is_nonnegative(ir: &Ir, value: Value) -> bool {
    nonnegative(ir, value, REACH)
}

/// True for a loop that is known not to end before it begins.
pub fn is_range(ir: &Ir, op: Op) -> bool {
    let [lower, upper] = [0, 1].map(|n| ir.operand(op, n));
    // Up to what a remainder leaves, or from there on.
    let whole = || {
        let made =
            pair(ir, lower).filter(|&(computes, of, _)| computes == Computes::Sub && of == upper);
        made.is_some_and(|(_, of, rest)| is_whole(ir, of, rest))
    };
    is_nonnegative(ir, upper) && (literal(ir, lower) == Some(0) || whole())
}

/// The greatest value that an index may have, if it is positive.
pub fn at_most(ir: &Ir, value: Value) -> Option<i64> {
    most(ir, value, REACH)
}

/// The least value of an index of the form `n - i t`, where `i` counts tiles of size `t` in `n` elements. Derived from
/// constants or from the ops; `None` for an index of another form.
pub fn least_rest(ir: &Ir, value: Value) -> Option<i64> {
    let (_, n, before) = pair(ir, value).filter(|pair| pair.0 == Computes::Sub)?;
    if let Some(all) = literal(ir, n) {
        let (_, tiles, tile) = pair(ir, before).filter(|pair| pair.0 == Computes::Mul)?;
        let last = literal(ir, tile).zip(last(ir, tiles, REACH));
        let (tile, last) = last.filter(|(tile, _)| *tile > 0)?;
        return all
            .checked_sub(last.checked_mul(tile)?)
            .filter(|&rest| rest > 0);
    }
    let (.., tile) = pair(ir, before).filter(|_| is_rest(ir, n, before, REACH))?;
    let low = |value| literal(ir, value).map_or(1, |known| 1 << known.trailing_zeros().min(62));
    let masked = pair(ir, n).filter(|pair| pair.0 == Computes::And);
    Some(masked.map_or(1, |(.., mask)| low(mask)).min(low(tile)))
}

/// A power of two that divides an index, or a number near 2^62 for zero; `given` has known divisors of some values.
pub fn multiple(ir: &Ir, value: Value, given: &FxHashMap<Value, i64>) -> i64 {
    multiple_within(ir, value, given, REACH)
}

fn multiple_within(ir: &Ir, value: Value, given: &FxHashMap<Value, i64>, reach: usize) -> i64 {
    if let Some(known) = literal(ir, value) {
        return 1 << known.trailing_zeros().min(62);
    }
    if let Some(&of) = given.get(&value) {
        return of;
    }
    let made = reach.checked_sub(1).zip(pair(ir, value));
    made.map_or(1, |(reach, (computes, a, b))| {
        let [a, b] = [a, b].map(|value| multiple_within(ir, value, given, reach));
        multiple_of(computes, a, b)
    })
}

/// The power of two that divides the result of an op, whose operands are multiples of `a` and `b`.
pub fn multiple_of(computes: Computes, a: i64, b: i64) -> i64 {
    match computes {
        Computes::Add | Computes::Sub | Computes::Min | Computes::Max => a.min(b),
        Computes::Mul => a.saturating_mul(b).min(1 << 32),
        _ => 1,
    }
}

fn nonnegative(ir: &Ir, value: Value, reach: usize) -> bool {
    if let Some(known) = literal(ir, value) {
        return known >= 0;
    }
    let Some(reach) = reach.checked_sub(1) else {
        return false;
    };
    let own = |value| nonnegative(ir, value, reach);
    if let Some(op) = counted(ir, value) {
        let forward = literal(ir, ir.operand(op, 2)).is_some_and(|step| step > 0);
        return forward && own(ir.operand(op, 0));
    }
    let Some((computes, a, b)) = pair(ir, value) else {
        return is_extent(ir, value);
    };
    let positive = || literal(ir, b).is_some_and(|by| by > 0);
    match computes {
        Computes::Add | Computes::Mul | Computes::Min => own(a) && own(b),
        Computes::Max | Computes::And => own(a) || own(b),
        Computes::Div | Computes::Rem => positive() && own(a),
        Computes::Sub => is_rest(ir, a, b, reach) || is_whole(ir, a, b) && own(a),
        _ => false,
    }
}

fn most(ir: &Ir, value: Value, reach: usize) -> Option<i64> {
    if let Some(known) = literal(ir, value) {
        return Some(known);
    }
    let reach = reach.checked_sub(1)?;
    let own = |value| most(ir, value, reach);
    let (computes, a, b) = pair(ir, value)?;
    match computes {
        Computes::Min => own(a).into_iter().chain(own(b)).min(),
        Computes::Rem => literal(ir, b).filter(|&by| by > 0).map(|by| by - 1),
        // The remainder of a negative number is negative, but not less than the number.
        Computes::Sub if is_whole(ir, a, b) => own(a),
        _ => None,
    }
}

/// True for `a - a rem n`, `n` positive.
fn is_whole(ir: &Ir, a: Value, b: Value) -> bool {
    let rem = pair(ir, b).filter(|&(computes, of, _)| computes == Computes::Rem && of == a);
    rem.is_some_and(|(.., by)| literal(ir, by).is_some_and(|by| by > 0))
}

/// True for `n - i t`, where `i` counts the `n / t` tiles, rounded up, of size `t` in `n` elements.
fn is_rest(ir: &Ir, n: Value, before: Value, reach: usize) -> bool {
    let product = pair(ir, before).filter(|&(computes, ..)| computes == Computes::Mul);
    let Some((_, i, t)) = product else {
        return false;
    };
    let tile = literal(ir, t).filter(|&tile| tile > 0);
    let tiles = below(ir, i, reach).and_then(|end| pair(ir, end));
    let (Some(tile), Some((Computes::Div, sum, by))) = (tile, tiles) else {
        return false;
    };
    let rounded_up = pair(ir, sum).is_some_and(|(computes, of, more)| {
        computes == Computes::Add && of == n && literal(ir, more) == Some(tile - 1)
    });
    rounded_up && literal(ir, by) == Some(tile)
}

/// The greatest value of an index that counts from 0: of a loop, or of a remainder or quotient of such an index.
fn last(ir: &Ir, value: Value, reach: usize) -> Option<i64> {
    if let Some(op) = counted(ir, value) {
        return literal(ir, ir.operand(op, 1)).map(|end| end.saturating_sub(1).max(0));
    }
    let reach = reach.checked_sub(1)?;
    let (computes, of, by) = pair(ir, value)?;
    let by = literal(ir, by).filter(|&by| by > 0)?;
    match computes {
        Computes::Rem => nonnegative(ir, of, reach).then_some(by - 1),
        Computes::Div => last(ir, of, reach).map(|of| of / by),
        _ => None,
    }
}

/// An exclusive bound of an index: the end of its loop, or the bound of a remainder or quotient of such an index.
fn below(ir: &Ir, value: Value, reach: usize) -> Option<Value> {
    if let Some(op) = counted(ir, value) {
        return Some(ir.operand(op, 1));
    }
    let reach = reach.checked_sub(1)?;
    let (computes, of, by) = pair(ir, value)?;
    let (product, a, b) = pair(ir, below(ir, of, reach)?)?;
    let factors = (product == Computes::Mul).then_some([(a, b), (b, a)])?;
    let (other, own) = factors
        .into_iter()
        .find(|&(_, factor)| alike(ir, factor, by, reach))?;
    match computes {
        Computes::Rem => nonnegative(ir, of, reach).then_some(own),
        Computes::Div => Some(other),
        _ => None,
    }
}

/// True for indices that are made alike, of the same values.
pub fn are_alike(ir: &Ir, a: Value, b: Value) -> bool {
    alike(ir, a, b, REACH)
}

fn alike(ir: &Ir, a: Value, b: Value, reach: usize) -> bool {
    let number = literal(ir, a);
    if a == b || number.is_some() && number == literal(ir, b) {
        return true;
    }
    let made = reach.checked_sub(1).zip(pair(ir, a)).zip(pair(ir, b));
    made.is_some_and(|((reach, a), b)| {
        a.0 == b.0 && alike(ir, a.1, b.1, reach) && alike(ir, a.2, b.2, reach)
    })
}

/// The op of two operands that makes an index.
fn pair(ir: &Ir, value: Value) -> Option<(Computes, Value, Value)> {
    let op = ir.def_op(value).filter(|&op| ir.operand_count(op) == 2)?;
    Some((ir.computes(op)?, ir.operand(op, 0), ir.operand(op, 1)))
}

/// The op whose block has an index among its arguments.
fn holder(ir: &Ir, value: Value) -> Option<(Op, usize)> {
    match ir.value_def(value) {
        Def::Arg(block, number) => Some((ir.block_parent_op(block)?, number as usize)),
        Def::Result(..) => None,
    }
}

/// The loop whose counter a value is.
pub fn counted(ir: &Ir, value: Value) -> Option<Op> {
    let (op, number) = holder(ir, value)?;
    (number == 0 && ir.is(op, &FOR)).then_some(op)
}

/// True for a parameter of a kernel, which is an extent.
fn is_extent(ir: &Ir, value: Value) -> bool {
    let of_kernel = holder(ir, value).is_some_and(|(op, _)| ir.is(op, &FUNC));
    of_kernel && ir.value_kind(value) == &TypeKind::Scalar(DType::Index)
}
