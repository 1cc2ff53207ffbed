//! Loops and branches that hand on values.

use crate::error::CodegenError;
use crate::expr::{Emit, Val};
use inkwell::basic_block::BasicBlock;

/// Values that are handed on.
type Values<'a, 'ctx> = Vec<Val<'a, 'ctx>>;

/// Runs `body` for `0..count`, each time on the values that it returned before, first on `start`; returns the last
/// values.
pub fn repeat<'a, 'ctx>(
    emit: &'a Emit<'ctx>,
    count: Val<'a, 'ctx>,
    start: Values<'a, 'ctx>,
    body: impl FnOnce(Val<'a, 'ctx>, &[Val<'a, 'ctx>]) -> Result<Values<'a, 'ctx>, CodegenError>,
) -> Result<Values<'a, 'ctx>, CodegenError> {
    let before = here(emit)?;
    let [head, inside, done] = blocks(emit, ["head", "step", "done"])?;
    emit.builder.build_unconditional_branch(head)?;
    emit.begin(head);
    let step = emit.phi(count.raw().get_type())?;
    let zero = count.int(0).raw();
    step.add_incoming(&[(&zero, before)]);
    let mut phis = Vec::with_capacity(start.len());
    for value in &start {
        let phi = emit.phi(value.raw().get_type())?;
        phi.add_incoming(&[(&value.raw(), before)]);
        phis.push(phi);
    }
    let number = emit.val(step.as_basic_value());
    let goes_on = number.lt(count).raw().into_int_value();
    emit.builder
        .build_conditional_branch(goes_on, inside, done)?;
    emit.begin(inside);
    let carried: Values = phis
        .iter()
        .map(|phi| emit.val(phi.as_basic_value()))
        .collect();
    let next = body(number, &carried)?;
    let end = here(emit)?;
    step.add_incoming(&[(&(number + 1).raw(), end)]);
    for (phi, value) in phis.iter().zip(&next) {
        phi.add_incoming(&[(&value.raw(), end)]);
    }
    emit.builder.build_unconditional_branch(head)?;
    emit.begin(done);
    Ok(carried)
}

/// The values of `then` if the condition holds, else those of `otherwise`. Both have the same number of values and the
/// same types.
pub fn choose<'a, 'ctx>(
    emit: &'a Emit<'ctx>,
    condition: Val<'a, 'ctx>,
    then: impl FnOnce() -> Result<Values<'a, 'ctx>, CodegenError>,
    otherwise: impl FnOnce() -> Result<Values<'a, 'ctx>, CodegenError>,
) -> Result<Values<'a, 'ctx>, CodegenError> {
    let [yes, no, done] = blocks(emit, ["then", "else", "merge"])?;
    let condition = condition.raw().into_int_value();
    emit.builder.build_conditional_branch(condition, yes, no)?;
    emit.begin(yes);
    let a = then()?;
    let from_a = here(emit)?;
    emit.builder.build_unconditional_branch(done)?;
    emit.begin(no);
    let b = otherwise()?;
    let from_b = here(emit)?;
    emit.builder.build_unconditional_branch(done)?;
    emit.begin(done);
    let mut values = Vec::with_capacity(a.len());
    for (a, b) in a.iter().zip(&b) {
        let phi = emit.phi(a.raw().get_type())?;
        phi.add_incoming(&[(&a.raw(), from_a), (&b.raw(), from_b)]);
        values.push(emit.val(phi.as_basic_value()));
    }
    Ok(values)
}

/// Runs `body` where a condition holds.
pub fn when<'a, 'ctx>(
    emit: &'a Emit<'ctx>,
    condition: Val<'a, 'ctx>,
    body: impl FnOnce() -> Result<(), CodegenError>,
) -> Result<(), CodegenError> {
    let nothing = || Ok(Values::new());
    choose(emit, condition, || body().map(|()| Values::new()), nothing).map(|_| ())
}

fn blocks<'ctx, const N: usize>(
    emit: &Emit<'ctx>,
    names: [&str; N],
) -> Result<[BasicBlock<'ctx>; N], CodegenError> {
    let blocks = names.iter().map(|name| emit.block(name));
    let blocks: Option<Vec<_>> = blocks.collect();
    let blocks = blocks.and_then(|blocks| blocks.try_into().ok());
    blocks.ok_or_else(|| CodegenError::Internal("no function to branch in".into()))
}

fn here<'ctx>(emit: &Emit<'ctx>) -> Result<BasicBlock<'ctx>, CodegenError> {
    let block = emit.builder.get_insert_block();
    block.ok_or_else(|| CodegenError::Internal("no block to branch from".into()))
}
