//! The atomic counter of a GPU's blocks, and the work of the last block.

use fuser_dialects::kernel::counting;
use fuser_ir::Op;
use inkwell::AddressSpace;
use inkwell::module::Linkage;
use inkwell::values::PointerValue;

use super::control::{FrameKind, OpenIf};
use super::{Lowering, malformed};
use crate::error::CodegenError;
use crate::expr::{Elem, Val};
use crate::gpu::SHARED_SPACE;
use crate::lower::reduce;
use crate::memory;

impl<'ctx> Lowering<'_, 'ctx> {
    /// Counts the block and opens what the last one does.
    pub(super) fn open_last(&mut self, op: Op) -> Result<(), CodegenError> {
        let emit = self.emit;
        let counts = self.launch.counts;
        let counts = counts.ok_or_else(|| malformed("there are no counts"))?;
        // The counts of this op lie behind those of the ops before it.
        let mut at = self.operand_value(op, 0)?;
        let before = counting(self.ir, self.func).into_iter();
        for other in before.take_while(|&other| other != op) {
            at = at + self.operand_value(other, 1)?;
        }
        let last = (self.operand_value(op, 2)? + -1).zext_or_trunc(32);
        let flag = self.flag();
        reduce::when(emit, self.thread().eq(0), || {
            let place = memory::element(emit, counts, Elem::Int(32), at);
            match self.count_up(place, last) {
                Ok(before) => memory::store(emit, before, flag, 4),
                Err(error) => emit.fail(error),
            }
        })?;
        reduce::barrier(emit);
        let is_last = memory::load(emit, flag, Elem::Int(32), None, 4).eq(last);
        let (then, other, merge) = (
            self.block("last")?,
            self.block("others")?,
            self.block("merge")?,
        );
        let condition = is_last.raw().into_int_value();
        emit.builder
            .build_conditional_branch(condition, then, other)?;
        emit.begin(then);
        let block = self.ir.body(op, 0);
        let block = block.ok_or_else(|| malformed("a count has no body"))?;
        self.enter(block, FrameKind::Then(OpenIf::new(op, other, merge)));
        Ok(())
    }

    fn count_up(
        &self,
        place: PointerValue<'ctx>,
        last: Val<'_, 'ctx>,
    ) -> Result<Val<'_, 'ctx>, CodegenError> {
        let gpu = self
            .emit
            .gpu
            .ok_or_else(|| malformed("a CPU counts no blocks"))?;
        gpu.count(place, self.emit.val(last.raw()))
    }

    /// A word of shared memory.
    fn flag(&self) -> PointerValue<'ctx> {
        let module = &self.emit.module;
        let name = format!("fuser.last.{}", module.get_globals().count());
        let ty = self.emit.context.i32_type();
        let global = module.add_global(ty, Some(AddressSpace::from(SHARED_SPACE)), &name);
        global.set_linkage(Linkage::Internal);
        global.set_initializer(&ty.get_poison());
        global.as_pointer_value()
    }
}
