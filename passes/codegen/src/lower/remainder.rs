//! The exact floating-point remainder (C's `fmod`).
//!
//! LLVM's `frem` is a library call on CPUs and inexact on NVPTX. This is long division on the significands: the remainder
//! is shifted up as many bits at a time as 64 bits allow and reduced by an integer remainder, so f32 takes at most 7
//! steps and f64 at most 191. Emitted once per format, as a scalar function that each lane calls.

use inkwell::module::Linkage;
use inkwell::types::BasicType;
use inkwell::values::FunctionValue;

use crate::error::CodegenError;
use crate::expr::{Elem, Emit, Val};
use crate::math::exp::scale;

/// `x - trunc(x / y) * y`, exactly, with the sign of `x`.
pub fn remainder<'e, 'ctx>(x: Val<'e, 'ctx>, y: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    by_lanes("fmod", x, y, body)
}

/// The code of a scalar binary function whose operands and result have one type.
type Body = for<'e, 'ctx> fn(
    &'e Emit<'ctx>,
    Val<'e, 'ctx>,
    Val<'e, 'ctx>,
) -> Result<Val<'e, 'ctx>, CodegenError>;

/// A scalar function of each pair of lanes.
pub fn by_lanes<'e, 'ctx>(
    name: &str,
    x: Val<'e, 'ctx>,
    y: Val<'e, 'ctx>,
    body: Body,
) -> Val<'e, 'ctx> {
    let emit = x.emit();
    match function(emit, name, x.elem(), body) {
        Ok(function) => x.zip_lanes(y, |a, b| {
            emit.call(function, &[a, b]).map_or(a, |raw| emit.val(raw))
        }),
        Err(error) => {
            emit.fail(error);
            x
        }
    }
}

/// The scalar function, emitted at its first use.
fn function<'ctx>(
    emit: &Emit<'ctx>,
    name: &str,
    elem: Elem,
    body: Body,
) -> Result<FunctionValue<'ctx>, CodegenError> {
    let kind = if elem.is_float() { 'f' } else { 'i' };
    let name = emit.own_name(&format!("{name}.{kind}{}", elem.bits()));
    if let Some(function) = emit.module.get_function(&name) {
        return Ok(function);
    }
    let ty = emit.scalar_type(elem);
    let function = emit.module.add_function(
        &name,
        ty.fn_type(&[ty.into(), ty.into()], false),
        Some(Linkage::Internal),
    );
    let caller = emit.builder.get_insert_block();
    let entry = emit.context.append_basic_block(function, "entry");
    emit.builder.position_at_end(entry);
    if let [x, y] = function.get_params()[..] {
        let result = body(emit, emit.val(x), emit.val(y))?;
        emit.builder.build_return(Some(&result.raw()))?;
    }
    if let Some(caller) = caller {
        emit.builder.position_at_end(caller);
    }
    Ok(function)
}

/// Significand (without normalizing) and biased exponent (at least 1) of a magnitude, as 64-bit integers.
fn split<'e, 'ctx>(a: Val<'e, 'ctx>) -> (Val<'e, 'ctx>, Val<'e, 'ctx>) {
    let mantissa = if a.is_f64() { 52 } else { 23 };
    let bits = a.to_bits().zext_or_trunc(64);
    let exponent = bits.lshr(mantissa);
    let fraction = bits.and((1i64 << mantissa) - 1);
    let implicit = fraction
        .or(1i64 << mantissa)
        .except(exponent.eq(0), fraction);
    (implicit, exponent.smax(1))
}

fn body<'e, 'ctx>(
    emit: &'e Emit<'ctx>,
    x: Val<'e, 'ctx>,
    y: Val<'e, 'ctx>,
) -> Result<Val<'e, 'ctx>, CodegenError> {
    let (a, b) = (x.abs(), y.abs());
    let (m, e) = split(a);
    let (divisor, least) = split(b);
    // A zero divisor gives NaN below; here it only must not divide.
    let divisor = divisor.except(divisor.eq(0), 1);
    let left = reduce(emit, m.urem(divisor), divisor, e - least)?;
    let (mantissa, bias) = if x.is_f64() { (52, 1023) } else { (23, 127) };
    let exponent = (least - (bias + mantissa)).zext_or_trunc(x.elem().bits());
    // Exact: what is left has no more bits than a significand, and the remainder is a number of the format.
    let result = scale(left.unsigned_to_float(x.elem()), exponent).copysign(x);
    let undefined = x
        .is_nan()
        .or(y.is_nan())
        .or(y.eq(0.0))
        .or(a.eq(f64::INFINITY));
    Ok(result.except(a.lt(b), x).except(undefined, f64::NAN))
}

/// `start 2^count mod divisor`, for a negative count `start`.
fn reduce<'e, 'ctx>(
    emit: &'e Emit<'ctx>,
    start: Val<'e, 'ctx>,
    divisor: Val<'e, 'ctx>,
    count: Val<'e, 'ctx>,
) -> Result<Val<'e, 'ctx>, CodegenError> {
    let missing = || CodegenError::Internal("no block to loop in".into());
    let before = emit.builder.get_insert_block().ok_or_else(missing)?;
    let [head, step, done] = [emit.block("head"), emit.block("step"), emit.block("done")];
    let (head, step, done) = (
        head.ok_or_else(missing)?,
        step.ok_or_else(missing)?,
        done.ok_or_else(missing)?,
    );
    emit.builder.build_unconditional_branch(head)?;
    emit.begin(head);
    let word = emit.scalar_type(Elem::Int(64));
    let (left, bits) = (emit.phi(word)?, emit.phi(word)?);
    let (left_now, bits_now) = (
        emit.val(left.as_basic_value()),
        emit.val(bits.as_basic_value()),
    );
    emit.builder
        .build_conditional_branch(bits_now.gt(0).raw().into_int_value(), step, done)?;
    emit.begin(step);
    // The divisor has at most 53 bits, so what is left can go up by its leading zeros, at least 11.
    let shift = bits_now.smin(divisor.leading_zeros());
    let next = left_now.shift_left(shift).urem(divisor);
    let rest = bits_now - shift;
    emit.builder.build_unconditional_branch(head)?;
    left.add_incoming(&[(&start.raw(), before), (&next.raw(), step)]);
    bits.add_incoming(&[(&count.raw(), before), (&rest.raw(), step)]);
    emit.begin(done);
    Ok(left_now)
}
