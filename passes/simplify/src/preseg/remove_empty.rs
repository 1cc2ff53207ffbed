//! Replaces a value without elements, or a reduction of no elements, by a constant.
//!
//! ```text
//! %s = fusion.sum %x dims [1]     // %x: tensor<4x0xf32>     =>     %s = fusion.constant value 0.0 : tensor<4xf32>
//! ```
//!
//! A result with an axis of extent 0 becomes a constant of its type, so its inputs become dead. A reduction over an
//! axis of extent 0 becomes its neutral element: 0 for `sum`, 1 for `prod`. So does a reduction of a constant that is
//! the neutral element throughout. `cat` loses empty operands; a single remaining operand becomes the result. A `pad`
//! around an empty tensor consists of padding only. Only extents that are constant 0 count: a named extent may be 0 at
//! run time, and kernels handle that.
//!
//! Never touches `max`, `min` and `var_mean` of no elements, whose results kernels define.

use fuser_dialects::fusion;
use fuser_dialects::fusion::build::FusionBuilder;
use fuser_ir::attr::AttrKind;
use fuser_ir::build::Builder;
use fuser_ir::def::{Computes, OpClass};
use fuser_ir::rewrite::{Pattern, Rewriter};
use fuser_ir::types::{Dim, Extent};
use fuser_ir::{Ir, Op, Traits, TypeId, Value};
use fuser_pass::{PassDef, StatDef};

use super::{is_free, made_as, make, run_patterns};

/// `remove-empty`
pub static REMOVE_EMPTY: PassDef = PassDef {
    name: "remove-empty",
    summary: "replaces what has no elements by a constant",
    doc: "A pure op whose result has an axis of extent 0, and a `sum` or `prod` over one, becomes a constant; `cat` loses empty \
          operands; a `pad` around nothing becomes a `full`.",
    statistics: &[StatDef {
        name: "rewrites",
        doc: "ops replaced or shortened",
    }],
    run: |ctx| {
        run_patterns(
            ctx,
            &[
                &EMPTY_RESULT,
                &EMPTY_SUM,
                &EMPTY_PAD,
                &LONE_PART,
                &EMPTY_PART,
            ],
        )
    },
    ..PassDef::EMPTY
};

static EMPTY_RESULT: Pattern = Pattern {
    name: "empty-result",
    summary: "an op without result elements => constant",
    roots: &[],
    benefit: 3,
    rewrite: empty_result,
};
static EMPTY_SUM: Pattern = Pattern {
    name: "empty-reduction",
    summary: "sum or prod over nothing => constant",
    roots: &["fusion.sum", "fusion.prod"],
    benefit: 2,
    rewrite: empty_reduction,
};
static EMPTY_PAD: Pattern = Pattern {
    name: "empty-pad",
    summary: "pad(nothing, v) => full(v)",
    roots: &["fusion.pad"],
    benefit: 2,
    rewrite: empty_pad,
};
static LONE_PART: Pattern = Pattern {
    name: "lone-part",
    summary: "cat(x) => x",
    roots: &["fusion.cat"],
    benefit: 2,
    rewrite: lone_part,
};
static EMPTY_PART: Pattern = Pattern {
    name: "empty-part",
    summary: "cat(x, nothing) => cat(x)",
    roots: &["fusion.cat"],
    benefit: 1,
    rewrite: empty_part,
};

fn is_empty(ir: &Ir, value: Value) -> bool {
    let tensor = ir.value_kind(value).as_tensor();
    tensor.is_some_and(|t| t.dims.iter().any(|d| d.extent == Extent::Static(0)))
}

fn empty_result(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = rw.ir();
    let creates = ir.def(op).is_none_or(|d| d.class == OpClass::Creation);
    let [result] = ir.results(op) else {
        return false;
    };
    let result = *result;
    let pure = ir.has(op, Traits::PURE) && is_free(ir, op) && !creates;
    pure && is_empty(ir, result) && constant(rw, op, 0, ir_type(rw, result))
}

fn empty_reduction(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = rw.ir();
    let neutral = i64::from(ir.computes(op) == Some(Computes::Mul));
    let operand = ir.operand(op, 0);
    let changes_nothing = is_empty(ir, operand) || is_all(ir, operand, neutral, op);
    if !changes_nothing || !is_free(ir, op) {
        return false;
    }
    let ty = ir_type(rw, rw.ir().result(op, 0));
    constant(rw, op, neutral, ty)
}

/// True if `value` is a constant of this one number, `+0` for 0.
fn is_all(ir: &Ir, value: Value, number: i64, user: Op) -> bool {
    let constant = made_as(ir, value, Computes::Constant, user);
    match constant.and_then(|op| ir.attr_of(op, "value")) {
        Some(AttrKind::Float { bits, .. }) => *bits == (number as f64).to_bits(),
        Some(kind) => kind.as_int() == Some(number.into()),
        None => false,
    }
}

fn empty_pad(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = rw.ir();
    let wanted = ir.value_type(ir.result(op, 0));
    let Some(tensor) = ir.ty(wanted).as_tensor() else {
        return false;
    };
    let plain = tensor.encoding.is_none() && tensor.dims.iter().all(is_plain);
    if !is_empty(ir, ir.operand(op, 0)) || !is_free(ir, op) || !plain {
        return false;
    }
    let (value, dims) = (ir.operand(op, 1), tensor.dims.clone());
    let shape = rw.ir_mut().attr(AttrKind::Extents(dims));
    let clauses = [("shape", shape)];
    match make(rw, op, &fusion::FULL, &[value], &clauses, Some(wanted)) {
        Some(made) => {
            rw.replace(op, &[made]);
            true
        }
        None => false,
    }
}

fn is_plain(dim: &Dim) -> bool {
    !dim.broadcast && dim.extent != Extent::Unknown
}

fn lone_part(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = rw.ir();
    let (part, result) = (ir.operand(op, 0), ir.result(op, 0));
    let alone = ir.operand_count(op) == 1 && ir.value_type(part) == ir.value_type(result);
    if !alone || !is_free(ir, op) {
        return false;
    }
    rw.replace(op, &[part]);
    true
}

fn empty_part(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = rw.ir();
    let kept: Vec<Value> = ir.operands(op).filter(|&v| !is_empty(ir, v)).collect();
    if kept.is_empty() || kept.len() == ir.operand_count(op) || !is_free(ir, op) {
        return false;
    }
    // An axis that the result stores because an empty operand does would no longer be stored.
    let stored = |value: Value| {
        let tensor = ir.value_kind(value).as_tensor();
        let dims = tensor.map_or(&[][..], |tensor| &tensor.dims);
        dims.iter().map(|dim| !dim.broadcast).collect::<Vec<bool>>()
    };
    let along = ir
        .int_of(op, "dim")
        .and_then(|dim| usize::try_from(dim).ok());
    let left: Vec<Vec<bool>> = kept.iter().map(|&value| stored(value)).collect();
    let all = stored(ir.result(op, 0)).into_iter().enumerate();
    let lost = all.filter(|(axis, stored)| {
        *stored && Some(*axis) != along && !left.iter().any(|own| own.get(*axis) == Some(&true))
    });
    if lost.count() > 0 {
        return false;
    }
    rw.ir_mut().set_operands(op, &kept);
    rw.touch(op);
    true
}

fn ir_type(rw: &Rewriter<'_>, value: Value) -> TypeId {
    rw.ir().value_type(value)
}

fn constant(rw: &mut Rewriter<'_>, op: Op, value: i64, ty: TypeId) -> bool {
    let tensor = rw.ir().ty(ty).as_tensor();
    let stays = |t: &fuser_ir::TensorType| {
        t.encoding.is_none() && t.dims.iter().all(|d| matches!(d.extent, Extent::Static(_)))
    };
    let Some(float) = tensor.filter(|t| stays(t)).map(|t| t.dtype.is_float()) else {
        return false;
    };
    let mut builder = Builder::before(rw.ir_mut(), op);
    let made = match float {
        true => builder.constant_float(value as f64, ty),
        false => builder.constant_int(value, ty),
    };
    match made {
        Ok(made) => {
            rw.replace(op, &[made]);
            true
        }
        Err(_) => false,
    }
}
