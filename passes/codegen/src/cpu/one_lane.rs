//! Rewrites masked stores of one lane of a vector to scalar stores.
//!
//! LLVM 22.1 stores too many bytes if AVX-512 stores one lane of a vector that was narrowed before. It stores the lane
//! of the wide vector and overwrites memory after the narrow one (`findings/llvm-one-lane-of-a-narrowed-vector.sh`).
//!
//! ```text
//! %y = trunc <8 x i64> %x to <8 x i32>              =>   %a = extractelement <8 x i32> %y, i32 0
//! call @llvm.masked.store(%y, ptr %p, <8 x i1> 1)        store i32 %a, ptr %p
//! ```
//!
//! Runs after the optimizer, which makes masks constant. Changes no other store.

use inkwell::builder::Builder;
use inkwell::module::Module;
use inkwell::values::{
    AnyValueEnum, BasicValue, BasicValueEnum, FunctionValue, InstructionValue, VectorValue,
};

use crate::error::CodegenError;
use crate::memory;

/// Takes the mask from every store of one lane.
pub fn unmask(module: &Module<'_>) -> Result<(), CodegenError> {
    let is_store = |function: &FunctionValue<'_>| {
        let name = function.get_name().to_string_lossy();
        name.starts_with("llvm.masked.store.")
    };
    let functions: Vec<FunctionValue<'_>> = module.get_functions().filter(is_store).collect();
    for function in functions {
        let mut calls = Vec::new();
        let mut used = function
            .as_global_value()
            .as_pointer_value()
            .get_first_use();
        while let Some(at) = used {
            if let AnyValueEnum::InstructionValue(call) = at.get_user() {
                calls.push(call);
            }
            used = at.get_next_use();
        }
        let builder = module.get_context().create_builder();
        calls
            .into_iter()
            .try_for_each(|call| unmask_one(&builder, call))?;
    }
    Ok(())
}

/// Replaces a call that stores one lane by a scalar store.
fn unmask_one<'ctx>(
    builder: &Builder<'ctx>,
    call: InstructionValue<'ctx>,
) -> Result<(), CodegenError> {
    let operand = |index| call.get_operand(index).and_then(|operand| operand.value());
    let (
        Some(BasicValueEnum::VectorValue(value)),
        Some(BasicValueEnum::PointerValue(to)),
        Some(BasicValueEnum::VectorValue(mask)),
    ) = (operand(0), operand(1), operand(2))
    else {
        return Err(CodegenError::Internal(
            "a masked store has other operands".into(),
        ));
    };
    let Some(lane) = only_lane(mask) else {
        return Ok(());
    };
    let element = value.get_type().get_element_type();
    let index = value.get_type().get_context().i32_type();
    let lane = index.const_int(lane.into(), false);
    builder.position_before(&call);
    let to = memory::address(builder, element, to, lane)?;
    let stored = builder.build_store(to, builder.build_extract_element(value, lane, "")?)?;
    stored.set_alignment(1).map_err(CodegenError::internal)?;
    call.erase_from_basic_block();
    Ok(())
}

/// The only lane that a constant mask has.
fn only_lane(mask: VectorValue<'_>) -> Option<u32> {
    if !mask.is_const() {
        return None;
    }
    let index = mask.get_type().get_context().i32_type();
    let lanes = 0..mask.get_type().get_size();
    let is_true = |&lane: &u32| {
        let lane = mask.const_extract_element(index.const_int(lane.into(), false));
        lane.into_int_value().get_zero_extended_constant() == Some(1)
    };
    let mut stored = lanes.filter(is_true);
    let only = stored.next()?;
    stored.next().is_none().then_some(only)
}
