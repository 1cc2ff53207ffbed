//! Folds: simpler forms found without making ops. No fold changes a bit of a result (the bits of a NaN apart, which
//! arithmetic does not specify).
//!
//! ```text
//! mul %x, 1.0         => %x          cast %x to (its type)       => %x
//! sub %x, +0.0        => %x          permute (permute %x) back   => %x
//! add 2, 3 : i32      => 5           where true, %x, %y          => %x
//! compare %i, %i eq   => true        squeeze (broadcast %x) back => %x
//! ```
//!
//! Forms that are kept, as folding them would change bits: `add %x, +0.0` (`-0 + +0 = +0`), `mul %x, 0.0` (NaN,
//! infinities, `-0`), `sub %x, %x`, `compare %x, %x eq` on floats. Integers have no such values, and all of these fold
//! there.

pub mod constants;
pub mod scalar;

use fuser_ir::def::Folded;
use fuser_ir::types::{DType, Extent, TensorType};
use fuser_ir::{AttrId, Ir, Op, Value};
use smallvec::smallvec;

use self::constants::{attribute, number, uniform};
use self::scalar::Scalar;
use super::{BITCAST, BROADCAST, CAST, COMPARE, FLIP, NEG, NOT, PERMUTE, RESHAPE};

/// Folds to a value, if it has exactly the result's type.
fn value(ir: &Ir, op: Op, value: Value) -> Option<Folded> {
    let same = ir.value_type(ir.result(op, 0)) == ir.value_type(value);
    same.then(|| Folded::Values(smallvec![value]))
}

/// A constant with the value `scalar` everywhere as the result. `None` for types that a constant cannot have: an extent
/// `?` (it comes from an operand), a layout, or complex elements.
fn constant(ir: &mut Ir, op: Op, scalar: Scalar) -> Option<Folded> {
    let ty = ir.value_type(ir.result(op, 0));
    let tensor = ir.ty(ty).as_tensor();
    let odd =
        |t: &TensorType| t.encoding.is_some() || t.dims.iter().any(|d| d.extent == Extent::Unknown);
    if tensor.is_some_and(odd) || ir.ty(ty).dtype().is_some_and(DType::is_complex) {
        return None;
    }
    let attr: AttrId = attribute(ir, scalar, ty);
    Some(Folded::Constant(attr))
}

/// The op's name without its dialect.
fn short(ir: &Ir, op: Op) -> &'static str {
    let name = ir.def(op).map_or("", |def| def.name);
    name.rsplit('.').next().unwrap_or(name)
}

fn is_int(ir: &Ir, value: Value) -> bool {
    ir.value_kind(value).dtype().is_some_and(DType::is_int)
}

/// Unary ops: of a constant; `neg` of `neg`, `not` of `not`.
pub fn unary(ir: &mut Ir, op: Op) -> Option<Folded> {
    let x = ir.operand(op, 0);
    if let Some(known) = uniform(ir, x) {
        let result = scalar::unary(short(ir, op), known)?;
        return constant(ir, op, result);
    }
    let inner = ir.def_op(x)?;
    let undone = ir.name_id(inner) == ir.name_id(op) && (ir.is(op, &NEG) || ir.is(op, &NOT));
    undone.then(|| value(ir, op, ir.operand(inner, 0)))?
}

/// Binary ops: of two constants; with a neutral or absorbing constant; of a value with itself.
pub fn binary(ir: &mut Ir, op: Op) -> Option<Folded> {
    let (x, y) = (ir.operand(op, 0), ir.operand(op, 1));
    let name = short(ir, op);
    match (uniform(ir, x), uniform(ir, y)) {
        (Some(a), Some(b)) => {
            let result = scalar::binary(name, a, b)?;
            constant(ir, op, result)
        }
        (None, Some(b)) => with_right(ir, op, name, x, b),
        (Some(a), None) => with_left(ir, op, name, a, y),
        (None, None) if x == y => with_itself(ir, op, name, x),
        (None, None) => None,
    }
}

/// `x op b` with `b` constant.
fn with_right(ir: &mut Ir, op: Op, name: &str, x: Value, b: Scalar) -> Option<Folded> {
    let neutral = match name {
        "add" => b.is(0, -0.0),
        "sub" => b.is(0, 0.0),
        "mul" | "div" => b.is(1, 1.0),
        "or" | "xor" => b.as_int() == Some(0),
        "and" => b.as_int() == Some(scalar::wrap(-1, b.dtype)),
        "shl" | "shr" => b.as_int() == Some(0),
        _ => false,
    };
    if neutral {
        return value(ir, op, x);
    }
    let absorbed = match (name, b.as_int()?) {
        ("mul" | "and" | "div", 0) => Scalar::int(0, b.dtype),
        ("rem", 1) => Scalar::int(0, b.dtype),
        ("or", all) if all == scalar::wrap(-1, b.dtype) => b,
        _ => return None,
    };
    constant(ir, op, absorbed)
}

/// `a op y` with `a` constant.
fn with_left(ir: &mut Ir, op: Op, name: &str, a: Scalar, y: Value) -> Option<Folded> {
    match name {
        "add" | "mul" | "and" | "or" | "xor" => with_right(ir, op, name, y, a),
        "div" | "rem" | "shl" | "shr" if a.as_int() == Some(0) => constant(ir, op, a),
        _ => None,
    }
}

/// `x op x`.
fn with_itself(ir: &mut Ir, op: Op, name: &str, x: Value) -> Option<Folded> {
    match name {
        "maximum" | "minimum" | "fmax" | "fmin" | "and" | "or" => value(ir, op, x),
        "sub" | "xor" if is_int(ir, x) => {
            let dtype = ir.value_kind(x).dtype()?;
            constant(ir, op, Scalar::int(0, dtype))
        }
        _ => None,
    }
}

/// `fusion.compare` of constants, or of an integer with itself.
pub fn compare(ir: &mut Ir, op: Op) -> Option<Folded> {
    let (x, y) = (ir.operand(op, 0), ir.operand(op, 1));
    let predicate = ir.str_of(op, "predicate")?;
    let result = match (uniform(ir, x), uniform(ir, y)) {
        (Some(a), Some(b)) => scalar::compare(predicate, a, b)?,
        _ if x == y && is_int(ir, x) => Scalar::truth(matches!(predicate, "eq" | "le" | "ge")),
        _ => return None,
    };
    debug_assert!(ir.is(op, &COMPARE));
    constant(ir, op, result)
}

/// `fusion.where` with a constant condition, or with one value on both sides.
pub fn choice(ir: &mut Ir, op: Op) -> Option<Folded> {
    let (then, otherwise) = (ir.operand(op, 1), ir.operand(op, 2));
    if then == otherwise {
        return value(ir, op, then);
    }
    let condition = uniform(ir, ir.operand(op, 0))?.as_int()?;
    value(ir, op, if condition != 0 { then } else { otherwise })
}

/// `fusion.clamp` of constants.
pub fn clamp(ir: &mut Ir, op: Op) -> Option<Folded> {
    let [x, low, high] = [0, 1, 2].map(|i| uniform(ir, ir.operand(op, i)));
    let raised = scalar::binary("maximum", x?, low?)?;
    let result = scalar::binary("minimum", raised, high?)?;
    constant(ir, op, result)
}

/// `fusion.cast` to the same type, or of a constant.
pub fn cast(ir: &mut Ir, op: Op) -> Option<Folded> {
    let x = ir.operand(op, 0);
    if let Some(same) = value(ir, op, x) {
        return Some(same);
    }
    debug_assert!(ir.is(op, &CAST));
    let to = ir.value_kind(ir.result(op, 0)).dtype()?;
    if to.is_complex() {
        return None;
    }
    let result = scalar::cast(uniform(ir, x)?, to)?;
    constant(ir, op, result)
}

/// `fusion.bitcast` to the same type, or of a bit cast back.
pub fn bitcast(ir: &mut Ir, op: Op) -> Option<Folded> {
    let x = ir.operand(op, 0);
    let back = || value(ir, op, inner_operand(ir, x, &BITCAST)?);
    value(ir, op, x).or_else(back)
}

/// `fusion.full` of a constant.
pub fn full(ir: &mut Ir, op: Op) -> Option<Folded> {
    let known = uniform(ir, ir.operand(op, 0))?;
    constant(ir, op, known)
}

/// `fusion.iota` along an axis of one element.
pub fn iota(ir: &mut Ir, op: Op) -> Option<Folded> {
    let dim = usize::try_from(ir.int_of(op, "dim")?).ok()?;
    let tensor = ir.value_kind(ir.result(op, 0)).as_tensor()?;
    let (dtype, dim) = (tensor.dtype, tensor.dims.get(dim)?);
    let zero = match dtype.is_float() {
        true => Scalar::float(0.0, dtype),
        false => Scalar::int(0, dtype),
    };
    (dim.extent == Extent::Static(1)).then(|| constant(ir, op, zero))?
}

/// The operand of `x`'s op, if that is a `def`.
fn inner_operand(ir: &Ir, x: Value, def: &'static fuser_ir::OpDef) -> Option<Value> {
    let op = ir.def_op(x).filter(|op| ir.is(*op, def))?;
    Some(ir.operand(op, 0))
}

/// Folds ops that are the identity if the result has the operand's type: `broadcast`, `expand`, `squeeze`, `slice`,
/// `pad`, `cat` of one operand, reductions of no axes.
pub fn same_type(ir: &mut Ir, op: Op) -> Option<Folded> {
    value(ir, op, ir.operand(op, 0))
}

/// Like [`same_type`], for ops that reduce the axes `dims`: only if there are none. An axis of `keepdim` may have
/// extent 1 in the operand too, and reducing one bf16 element is the identity, but a NaN need not keep its bits.
pub fn reduction(ir: &mut Ir, op: Op) -> Option<Folded> {
    let none = ir.i64s_of(op, "dims").is_some_and(<[i64]>::is_empty);
    none.then(|| same_type(ir, op))?
}

/// Scans along an axis of extent 1.
pub fn scan(ir: &mut Ir, op: Op) -> Option<Folded> {
    let dim = usize::try_from(ir.int_of(op, "dim")?).ok()?;
    let tensor = ir.value_kind(ir.result(op, 0)).as_tensor()?;
    let single = tensor.dims.get(dim)?.extent == Extent::Static(1);
    single.then(|| same_type(ir, op))?
}

/// `fusion.last`: of nothing, of equal elements.
pub fn last(ir: &mut Ir, op: Op) -> Option<Folded> {
    let x = ir.operand(op, 0);
    let dim = usize::try_from(ir.int_of(op, "dim")?).ok()?;
    let tensor = ir.value_kind(x).as_tensor()?;
    let (extent, dtype) = (tensor.dims.get(dim)?.extent, tensor.dtype);
    let known = match extent {
        Extent::Static(0) => number(ir.attr_of(op, "otherwise")?, dtype)?,
        Extent::Static(_) => uniform(ir, x)?,
        _ => return None,
    };
    constant(ir, op, known)
}

/// `fusion.permute`: an identity permutation, or one that undoes the permutation before it.
pub fn permute(ir: &mut Ir, op: Op) -> Option<Folded> {
    let x = ir.operand(op, 0);
    let outer = ir.i64s_of(op, "dims")?;
    if outer.iter().copied().eq(0..outer.len() as i64) {
        return value(ir, op, x);
    }
    let inner = ir.def_op(x).filter(|i| ir.is(*i, &PERMUTE))?;
    let first = ir.i64s_of(inner, "dims")?;
    let through = |d: &i64| usize::try_from(*d).ok().and_then(|d| first.get(d)).copied();
    let identity = outer
        .iter()
        .map(through)
        .eq((0..outer.len() as i64).map(Some));
    identity.then(|| value(ir, op, ir.operand(inner, 0)))?
}

/// `fusion.flip`: of axes with at most one stored element, or one that undoes the flip before it.
pub fn flip(ir: &mut Ir, op: Op) -> Option<Folded> {
    let x = ir.operand(op, 0);
    let dims = ir.i64s_of(op, "dims")?;
    let axes = &ir.value_kind(x).as_tensor()?.dims;
    let one = |d: &i64| {
        let axis = usize::try_from(*d).ok().and_then(|d| axes.get(d));
        axis.is_some_and(|a| a.broadcast || matches!(a.extent, Extent::Static(0 | 1)))
    };
    if dims.iter().all(one) {
        return value(ir, op, x);
    }
    let inner = ir.def_op(x).filter(|i| ir.is(*i, &FLIP))?;
    let back = ir.i64s_of(inner, "dims")? == dims;
    back.then(|| value(ir, op, ir.operand(inner, 0)))?
}

/// `fusion.reshape`: to the same shape, or back to the shape that a reshape came from.
pub fn reshape(ir: &mut Ir, op: Op) -> Option<Folded> {
    let x = ir.operand(op, 0);
    let back = || value(ir, op, inner_operand(ir, x, &RESHAPE)?);
    value(ir, op, x).or_else(back)
}

/// `fusion.squeeze`: of no axis, or of exactly the axes that a broadcast added.
pub fn squeeze(ir: &mut Ir, op: Op) -> Option<Folded> {
    let x = ir.operand(op, 0);
    let gone = ir.i64s_of(op, "dims")?;
    if gone.is_empty() {
        return value(ir, op, x);
    }
    let inner = ir.def_op(x).filter(|i| ir.is(*i, &BROADCAST))?;
    let kept = ir.i64s_of(inner, "dims")?;
    let added = gone.iter().all(|axis| !kept.contains(axis));
    added.then(|| value(ir, op, ir.operand(inner, 0)))?
}
