//! Decomposes byte swaps of vectors.
//!
//! LLVM's optimizer combines shifts and masks that reverse the bytes of `i32`, or of a vector of them, into
//! `llvm.bswap`. For GPUs of compute capability 10 and later, where pairs of `i32` are a legal type, LLVM 22 cannot
//! select it and ends the process.
//!
//! ```text
//! %y = call <2 x i32> @llvm.bswap.v2i32(<2 x i32> %x)   =>   %a = call i32 @llvm.bswap.i32(i32 %x0)
//!                                                            %b = call i32 @llvm.bswap.i32(i32 %x1)
//! ```
//!
//! Changes no bit: each element is swapped alone.

use inkwell::intrinsics::Intrinsic;
use inkwell::module::Module;
use inkwell::values::{AnyValueEnum, BasicValue, FunctionValue, InstructionValue, VectorValue};

use crate::error::CodegenError;

/// Takes every swap of a vector of `i32` apart.
pub fn split(module: &Module<'_>) -> Result<(), CodegenError> {
    let is_swap = |function: &FunctionValue<'_>| {
        let name = function.get_name().to_string_lossy();
        name.starts_with("llvm.bswap.v") && name.ends_with("i32")
    };
    let swaps: Vec<FunctionValue<'_>> = module.get_functions().filter(is_swap).collect();
    for swap in swaps {
        while let Some(used) = swap.as_global_value().as_pointer_value().get_first_use() {
            let AnyValueEnum::VectorValue(swapped) = used.get_user() else {
                return Err(odd());
            };
            split_one(module, swapped)?;
        }
    }
    Ok(())
}

fn odd() -> CodegenError {
    CodegenError::Internal("a swap of bytes is no call".into())
}

/// Puts the swaps of its elements in the place of a call.
fn split_one<'ctx>(module: &Module<'ctx>, swapped: VectorValue<'ctx>) -> Result<(), CodegenError> {
    let call: InstructionValue<'ctx> = swapped.as_instruction().ok_or_else(odd)?;
    let operand = call.get_operand(0).and_then(|operand| operand.value());
    let vector = operand.ok_or_else(odd)?.into_vector_value();
    let context = module.get_context();
    let (word, index) = (context.i32_type(), context.i32_type());
    let intrinsic = Intrinsic::find("llvm.bswap");
    let one = intrinsic.and_then(|found| found.get_declaration(module, &[word.into()]));
    let one = one.ok_or_else(odd)?;
    let builder = context.create_builder();
    builder.position_before(&call);
    let mut result = vector.get_type().get_poison();
    for lane in 0..vector.get_type().get_size() {
        let at = index.const_int(lane.into(), false);
        let element = builder.build_extract_element(vector, at, "")?;
        let element = builder.build_call(one, &[element.into()], "")?;
        let element = element.try_as_basic_value().basic().ok_or_else(odd)?;
        result = builder.build_insert_element(result, element, at, "")?;
    }
    swapped.replace_all_uses_with(result);
    call.erase_from_basic_block();
    Ok(())
}
