//! The greatest common divisor, by Euclid's algorithm.
//!
//! Emitted once per width, as a scalar function that each lane calls: 64 bits take at most 93 steps.

use crate::error::CodegenError;
use crate::expr::{Emit, Val};
use crate::lower::remainder::by_lanes;

/// Of two integers, as magnitudes without a sign.
pub fn gcd<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    by_lanes("gcd", a, b, body)
}

fn body<'e, 'ctx>(
    emit: &'e Emit<'ctx>,
    a: Val<'e, 'ctx>,
    b: Val<'e, 'ctx>,
) -> Result<Val<'e, 'ctx>, CodegenError> {
    let missing = || CodegenError::Internal("no block to loop in".into());
    let before = emit.builder.get_insert_block().ok_or_else(missing)?;
    let [head, step, done] = ["head", "step", "done"].map(|name| emit.block(name));
    let (head, step, done) = (
        head.ok_or_else(missing)?,
        step.ok_or_else(missing)?,
        done.ok_or_else(missing)?,
    );
    emit.builder.build_unconditional_branch(head)?;
    emit.begin(head);
    let word = emit.scalar_type(a.elem());
    let (greater, less) = (emit.phi(word)?, emit.phi(word)?);
    let (greater_now, less_now) = (
        emit.val(greater.as_basic_value()),
        emit.val(less.as_basic_value()),
    );
    let more = less_now.ne(0).raw().into_int_value();
    emit.builder.build_conditional_branch(more, step, done)?;
    emit.begin(step);
    let rest = greater_now.urem(less_now);
    emit.builder.build_unconditional_branch(head)?;
    greater.add_incoming(&[(&a.raw(), before), (&less_now.raw(), step)]);
    less.add_incoming(&[(&b.raw(), before), (&rest.raw(), step)]);
    emit.begin(done);
    Ok(greater_now)
}
